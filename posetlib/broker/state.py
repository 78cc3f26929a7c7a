"""The state file: what clients with a name hold, kept in SQLite over a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from posetlib.errors import StateFileError

__all__ = ["Row", "State", "StayRow"]

# Says in the head of the file whose it is: "pslb" in ASCII.
_APPLICATION: Final = 0x70736C62
_VERSION: Final = 1
_TABLE: Final = """
CREATE TABLE held (
    client TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('subscribe', 'advertise')),
    filter TEXT NOT NULL,
    ends REAL,
    PRIMARY KEY (client, kind, filter)
) WITHOUT ROWID
"""


# Beside the first table, so that older files are read, and older brokers read this one.
_STAYS: Final = """
CREATE TABLE IF NOT EXISTS stays (
    key TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    source TEXT,
    settled INTEGER NOT NULL
) WITHOUT ROWID
"""


class StayRow(NamedTuple):
    """One stay of a client that moves; ``key`` is the client of its rows."""

    key: str
    name: str
    epoch: int
    #: The broker that it came from, None if it started here.
    source: str | None
    #: Whether that broker has handed over.
    settled: bool


class Row(NamedTuple):
    """One subscription or advertisement of one client."""

    client: str
    #: "subscribe" or "advertise".
    kind: str
    filter: str
    #: When it ends by itself, as seconds since 1970, None if it does not.
    ends: float | None = None


class State:
    """The rows of one state file; what a call has written survives the end of the process.

    StateFileError, which names the file, for one that cannot be used; it is left as it was. One
    that another broker has open is waited for, with some ``patience``.
    """

    def __init__(self, path: Path, *, patience: float = 5.0) -> None:
        self._path = path
        existed = path.exists() and path.stat().st_size > 0
        with self._explained():
            self._rows = sqlite3.connect(path, isolation_level=None, timeout=patience)
        try:
            with self._explained():
                if existed:
                    self._check()
                self._rows.execute("PRAGMA journal_mode = WAL")
                self._rows.execute("PRAGMA synchronous = NORMAL")
                # One broker to a file: a second one could not even read it.
                self._rows.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._rows.execute("BEGIN IMMEDIATE")
                if not existed:
                    self._rows.execute(_TABLE)
                    self._rows.execute(f"PRAGMA application_id = {_APPLICATION}")
                    self._rows.execute(f"PRAGMA user_version = {_VERSION}")
                self._rows.execute(_STAYS)
                self._rows.execute("COMMIT")
        except BaseException:
            self._rows.close()
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StateFileError(
                f"the state file {self._path} cannot be used: {error}; move it away, or give "
                "another one with --state"
            ) from error

    def _check(self) -> None:
        (application,) = self._rows.execute("PRAGMA application_id").fetchone()
        if application != _APPLICATION:
            raise StateFileError(
                f"{self._path} is a database of something else: give another file with --state"
            )
        (version,) = self._rows.execute("PRAGMA user_version").fetchone()
        if version != _VERSION:
            raise StateFileError(
                f"the state file {self._path} has version {version}; this broker reads {_VERSION}"
            )
        (found,) = self._rows.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise StateFileError(
                f"the state file {self._path} is damaged: {found}; restore it from a copy, or "
                "move it away to start without"
            )

    def rows(self) -> list[Row]:
        """Return all rows, in the order of their clients."""
        with self._explained():
            found = self._rows.execute("SELECT client, kind, filter, ends FROM held").fetchall()
        return [Row(*each) for each in found]

    def change(self, removed: Iterable[Row] = (), added: Iterable[Row] = ()) -> None:
        """Take rows out and put rows in, all of it or nothing."""
        with self._explained():
            self._rows.execute("BEGIN IMMEDIATE")
            try:
                self._rows.executemany(
                    "DELETE FROM held WHERE client = ? AND kind = ? AND filter = ?",
                    [row[:3] for row in removed],
                )
                self._rows.executemany("INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?)", added)
                self._rows.execute("COMMIT")
            except BaseException:
                if self._rows.in_transaction:
                    self._rows.execute("ROLLBACK")
                raise

    def forget(self, client: str) -> None:
        """Take all rows of a client out."""
        with self._explained():
            self._rows.execute("DELETE FROM held WHERE client = ?", (client,))

    def stays(self) -> list[StayRow]:
        """Return the stays of clients that move, of each client in their order."""
        with self._explained():
            found = self._rows.execute(
                "SELECT key, name, epoch, source, settled FROM stays ORDER BY name, epoch"
            ).fetchall()
        return [
            StayRow(key, name, epoch, source, bool(settled))
            for key, name, epoch, source, settled in found
        ]

    def write_stay(self, stay: StayRow) -> None:
        """Put a stay in, or change what is known of it."""
        with self._explained():
            self._rows.execute("INSERT OR REPLACE INTO stays VALUES (?, ?, ?, ?, ?)", stay)

    def end_stay(self, key: str) -> None:
        """Take a stay out, with all its rows."""
        with self._explained():
            self._rows.execute("DELETE FROM stays WHERE key = ?", (key,))
        self.forget(key)

    def close(self) -> None:
        """Let go of the file."""
        self._rows.close()

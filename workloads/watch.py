"""Watching a folder: each snapshot that appears in it is validated once, and a history is kept.

The history is `validations/history.jsonl` in that folder, a line for each validation, and beside it
lie the reports. A snapshot is known by its name and by when one of its files was written last: one
that is replaced or changed is validated again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from workloads.errors import InputError

__all__ = ["History", "watch", "words_for"]

#: The folder of the reports, and the file that tells of all of them.
FOLDER: Final = "validations"
FILE: Final = "history.jsonl"


class History:
    """What was validated in a folder, and how it went."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FOLDER / FILE
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.touch()
        except OSError as error:
            raise InputError(
                f"no history can be kept in {self.file.parent}: {error.strerror}"
            ) from None
        self._known = {self._key(each) for each in self.entries()}

    @staticmethod
    def _key(entry: dict[str, Any]) -> tuple[object, object]:
        return entry.get("name"), entry.get("written")

    def entries(self) -> list[dict[str, Any]]:
        """Return the validations so far; a line that was cut off by a kill is passed over."""
        found = []
        for line in self.file.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                found.append(entry)
        return found

    def new(self) -> list[tuple[str, int]]:
        """Return the snapshots that were not validated yet: name, and when it was written."""
        found = []
        for each in sorted(self.folder.iterdir()):
            header = each / "snapshot.json"
            # What a job has not finished has a name that begins with a dot.
            if each.name.startswith(".") or not header.is_file():
                continue
            written = _last_written(each)
            if (each.name, written) not in self._known:
                found.append((each.name, written))
        return found

    def report_for(self, name: str) -> Path:
        """Return where the next report on a snapshot goes."""
        count = sum(entry.get("name") == name for entry in self.entries())
        return self.file.parent / f"{name}-{count + 1}.json"

    def add(self, entry: dict[str, Any]) -> None:
        """Add a validation: one line, written at once."""
        with self.file.open("rb+") as file:
            # A line that a kill cut off must not swallow this one.
            file.seek(0, os.SEEK_END)
            cut = b""
            if file.tell():
                file.seek(-1, os.SEEK_END)
                cut = b"" if file.read(1) == b"\n" else b"\n"
            file.write(cut + json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._known.add(self._key(entry))


def _last_written(folder: Path) -> int:
    """Return when a file of a folder was written last, in nanoseconds since 1970."""
    times = [0]
    for each in folder.rglob("*"):
        # A file that somebody is just replacing is there at the next look.
        with suppress(OSError):
            times.append(each.stat().st_mtime_ns)
    return max(times)


def words_for(words: Sequence[str], snapshot: Path) -> list[str]:
    """Return the command that validates one snapshot, from the one that watches its folder.

    >>> words_for(["validate", "--watch", "d", "--once", "--skip", "same-roots"], Path("d/e"))
    ['validate', '--snapshot', 'd/e', '--skip', 'same-roots']
    """
    made: list[str] = []
    left = iter(words)
    for word in left:
        option, sign, _ = word.partition("=")
        if option in ("--watch", "--interval") and not sign:
            next(left, None)
        if option == "--watch":
            made += ["--snapshot", str(snapshot)]
        elif option not in ("--interval", "--once"):
            made.append(word)
    return made


def watch(
    history: History,
    validate: Callable[[Path, Path], tuple[int, dict[str, Any]]],
    *,
    once: bool,
    interval: float,
) -> int:
    """Validate what is new in a folder, now and then again; return the worst status.

    ``validate`` is given a snapshot and where its report goes, and returns a status and what the
    history tells of it. With ``once`` it ends when nothing is new.
    """
    worst = 0
    while True:
        for name, written in history.new():
            report = history.report_for(name)
            status, told = validate(history.folder / name, report)
            history.add({"name": name, "written": written, "report": report.name, **told})
            worst = max(worst, status)
        if once and not history.new():
            return worst
        if not once:
            time.sleep(interval)

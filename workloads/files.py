"""Output that is there when it is complete and not before, on a local disk or any Hadoop one."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "Place",
    "is_local",
    "new_output",
    "place_of",
    "read_json",
    "require_new",
    "write_json",
]

_FILE: Final = "file://"
#: What the jobs leave in a folder of their own: nothing else is ever overwritten.
_MARKS: Final = ("workload.json", "snapshot.json", "_cover.json", "_match.json")


class Place:
    """A folder on this machine's disk."""

    def __init__(self, path: str) -> None:
        self.path = path.removeprefix(_FILE)
        self._local = Path(self.path)

    def child(self, name: str) -> Place:
        """Return what has a name in this folder."""
        return type(self)(str(self._local / name))

    def sibling(self, name: str) -> Place:
        """Return what has a name beside this folder."""
        return type(self)(str(self._local.resolve().parent / name))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._local.resolve().name

    @property
    def absolute(self) -> str:
        """The path for somebody who is elsewhere."""
        return str(self._local.resolve())

    def exists(self) -> bool:
        """Return whether there is anything."""
        return os.path.lexists(self.path)

    def is_empty(self) -> bool:
        """Return whether it is a folder without anything in it."""
        return self._local.is_dir() and not any(self._local.iterdir())

    def size(self) -> int:
        """Return the bytes of a file, or of all files in the folder."""
        files = [self._local] if self._local.is_file() else self._local.rglob("*")
        return sum(each.stat().st_size for each in files if each.is_file())

    def make(self) -> None:
        """Make the folder, and those that it is in."""
        self._local.mkdir(parents=True)

    def rename(self, other: Place) -> None:
        """Give it another name on the same disk: all of it or nothing."""
        self._local.rename(other.path)

    def delete(self) -> None:
        """Delete it with all that it holds."""
        if self._local.is_dir():
            shutil.rmtree(self._local)
        elif self.exists():
            self._local.unlink()

    def read_text(self) -> str:
        """Return the text of a file."""
        return self._local.read_text(encoding="utf-8")

    def write_text(self, text: str) -> None:
        """Write a file."""
        self._local.write_text(text, encoding="utf-8")


class _HadoopPlace(Place):
    """A folder on whatever file system Hadoop knows by the scheme of its address."""

    def __init__(self, path: str, session: SparkSession) -> None:
        super().__init__(path)
        self._session = session
        jvm: Any = session.sparkContext._jvm
        self._jvm = jvm
        self._hadoop = jvm.org.apache.hadoop.fs.Path(path)
        self._files = self._hadoop.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())

    def child(self, name: str) -> Place:
        return _HadoopPlace(f"{self.path.rstrip('/')}/{name}", self._session)

    def sibling(self, name: str) -> Place:
        return _HadoopPlace(str(self._hadoop.getParent().toString()) + "/" + name, self._session)

    @property
    def name(self) -> str:
        return str(self._hadoop.getName())

    @property
    def absolute(self) -> str:
        return self.path

    def exists(self) -> bool:
        return bool(self._files.exists(self._hadoop))

    def is_empty(self) -> bool:
        return self.exists() and not len(self._files.listStatus(self._hadoop))

    def size(self) -> int:
        return int(self._files.getContentSummary(self._hadoop).getLength())

    def make(self) -> None:
        self._files.mkdirs(self._hadoop)

    def rename(self, other: Place) -> None:
        assert isinstance(other, _HadoopPlace)
        if not self._files.rename(self._hadoop, other._hadoop):
            raise OSError(f"{self.path} could not be renamed to {other.path}")

    def delete(self) -> None:
        self._files.delete(self._hadoop, True)

    def read_text(self) -> str:
        stream = self._files.open(self._hadoop)
        try:
            return bytes(stream.readAllBytes()).decode("utf-8")
        finally:
            stream.close()

    def write_text(self, text: str) -> None:
        stream = self._files.create(self._hadoop, True)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()


def place_of(path: str, session: SparkSession) -> Place:
    """Return a place by its path, or by an address with a scheme such as hdfs."""
    if not path:
        raise InputError("a path is needed, not an empty text")
    return Place(path) if is_local(path) else _HadoopPlace(path, session)


def is_local(path: str) -> bool:
    """Return whether a path is on this machine's disk.

    >>> is_local("runs/demo"), is_local("file:///runs/demo"), is_local("hdfs://host/demo")
    (True, True, False)
    """
    return "://" not in path or path.startswith(_FILE)


def require_new(place: Place, *, overwrite: bool) -> None:
    """Refuse an output that exists: unless it may be overwritten, and is that of a job."""
    if place.exists() and not place.is_empty():
        if not overwrite:
            raise InputError(f"{place.path} exists; --overwrite replaces it")
        if not any(place.child(mark).exists() for mark in _MARKS):
            raise InputError(f"{place.path} exists and is not the output of a job: it stays")


@contextmanager
def new_output(place: Place, *, overwrite: bool) -> Iterator[Place]:
    """Give a place beside the output to write to; what is written there becomes the output at last.

    An output that exists is refused unless it may be overwritten, and then still if it is not that
    of a job. What a failure leaves behind is removed; a name that begins with a dot is no output.
    """
    require_new(place, overwrite=overwrite)
    token = uuid.uuid4().hex[:12]
    partial = place.sibling(f".{place.name}.partial-{token}")
    try:
        partial.make()
    except OSError as error:
        raise InputError(f"nothing can be written at {place.path}: {error.strerror}") from error
    try:
        yield partial
        if place.exists():
            old = place.sibling(f".{place.name}.old-{token}")
            place.rename(old)
            partial.rename(place)
            old.delete()
        else:
            partial.rename(place)
    except BaseException:
        if partial.exists():
            partial.delete()
        raise


def write_json(place: Place, data: Mapping[str, Any]) -> None:
    """Write a JSON file for people to read as well."""
    place.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def read_json(place: Place, what: str) -> dict[str, Any]:
    """Read a JSON object; InputError says what is wrong."""
    try:
        data = json.loads(place.read_text())
    except FileNotFoundError:
        raise InputError(f"{what}: there is no {place.path}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{what}: {place.path} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{what}: {place.path} is no JSON object")
    return data

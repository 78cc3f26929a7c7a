"""Output that is there when it is complete and not before, on a local disk or any Hadoop one.

A job writes to a hidden folder beside its output, which becomes the output by renaming. Whatever
appears at that place while the job runs is left alone, and the job is refused.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import InputError, cause_of
from workloads.session import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "Place",
    "hidden_beside",
    "is_local",
    "new_output",
    "place_of",
    "read_json",
    "require_apart",
    "require_new",
    "write_json",
]

_FILE: Final = "file:"
#: An address begins with the name of a file system and a colon.
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
#: What Hadoop can write as a part of a path and cannot read again.
_UNREADABLE: Final = re.compile(r"[\\:\x00-\x1f\x7f]")
#: Names of what a process has open, which may be a file: it is the caller's, and not to replace.
_OPENED: Final = re.compile(r"/dev/(stdout|stderr|fd/)|/proc/[^/]+/fd/")
#: What the jobs leave in a folder of their own: nothing else is ever overwritten.
_MARKS: Final = (
    "workload.json", "snapshot.json", "_cover.json", "_match.json", "_violations.json",
    "experiment.json",
)  # fmt: skip
#: A hidden folder of another machine's job is given up after so many seconds: a week.
_ABANDONED: Final = 7 * 24 * 3600.0


class Place:
    """A folder on this machine's disk."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._local = Path(_local_path(path))
        _refuse_unreadable(str(self._local), path)

    def child(self, name: str) -> Place:
        """Return what has a name in this folder."""
        return type(self)(f"{self.path.rstrip('/')}/{name}")

    def sibling(self, name: str) -> Place:
        """Return what has a name beside this folder."""
        return type(self)(str(self._whole.parent.resolve() / name))

    @property
    def _whole(self) -> Path:
        """The path from the root on; its last part is a name, and a link is not followed."""
        return self._local.resolve() if ".." in self._local.parts else self._local.absolute()

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self._whole.name

    @property
    def absolute(self) -> str:
        """The path for somebody who is elsewhere."""
        return str(self._local.resolve())

    @property
    def address(self) -> str:
        """The address for Spark, whatever file system it takes for its own."""
        return f"{_FILE}//{self.absolute}"

    @property
    def parts(self) -> tuple[str, ...]:
        """The file system and the folders on the way, to compare places."""
        return (_FILE, *self._local.resolve().parts)

    def exists(self) -> bool:
        """Return whether there is anything."""
        return os.path.lexists(self._local)

    def is_link(self) -> bool:
        """Return whether it is a name for something that lies elsewhere."""
        return self._local.is_symlink()

    def is_folder(self) -> bool:
        """Return whether it is a folder."""
        return self._local.is_dir()

    def make_parent(self) -> None:
        """Make the folders that it is in."""
        self._local.absolute().parent.mkdir(parents=True, exist_ok=True)

    def is_stream(self) -> bool:
        """Return whether it is there and neither a file nor a folder: a device, a pipe, stdout."""
        if _OPENED.match(str(self._local)):
            return True
        return self._local.exists() and not (self._local.is_file() or self._local.is_dir())

    def target(self) -> Place:
        """Return what it is a name for, if it is a link to a file; else itself."""
        if not self.is_link() or self.is_stream():
            return self
        return type(self)(str(self._local.resolve()))

    def replace(self, other: Place) -> None:
        """Give a file the name of another one, which is gone then."""
        self._local.replace(other._local)

    def is_empty(self) -> bool:
        """Return whether it is a folder without anything in it."""
        try:
            return self._local.is_dir() and not any(self._local.iterdir())
        except FileNotFoundError:
            # Another job has just moved it away.
            return True

    def size(self) -> int:
        """Return the bytes of a file, or of all files in the folder."""
        files = [self._local] if self._local.is_file() else self._local.rglob("*")
        return sum(each.stat().st_size for each in files if each.is_file())

    def make(self) -> None:
        """Make the folder, and those that it is in."""
        self._local.mkdir(parents=True)

    def rename(self, other: Place) -> None:
        """Give it another name on the same disk: all of it or nothing.

        OSError if there is something of the other name already, unless it is an empty folder.
        """
        self._local.rename(other._whole)

    def delete(self) -> None:
        """Delete it with all that it holds."""
        if self._local.is_dir() and not self._local.is_symlink():
            shutil.rmtree(self._local)
        elif self.exists():
            self._local.unlink()

    def beside(self, prefix: str) -> list[Place]:
        """Return what is beside this folder and has a name that begins so."""
        parent = self._whole.parent
        if not parent.is_dir():
            return []
        found = sorted(each.name for each in parent.iterdir() if each.name.startswith(prefix))
        return [self.sibling(name) for name in found]

    def changed(self) -> float:
        """Return when it was changed last, in seconds since 1970."""
        return self._local.stat().st_mtime

    def read_text(self) -> str:
        """Return the text of a file."""
        return self._local.read_text(encoding="utf-8")

    def write_text(self, text: str) -> None:
        """Write a file; to a stream, after what was written there before."""
        with self._local.open("a" if self.is_stream() else "w", encoding="utf-8") as file:
            file.write(text)


class _HadoopPlace(Place):
    """A folder on whatever file system Hadoop knows by the scheme of its address."""

    def __init__(self, path: str, session: SparkSession) -> None:
        self.path = path
        self._session = session
        jvm: Any = session.sparkContext._jvm
        self._jvm = jvm
        rest = path[path.index(":") + 1 :]
        _refuse_unreadable(re.sub(r"^//[^/]*", "", rest), path)
        try:
            self._hadoop = jvm.org.apache.hadoop.fs.Path(path)
            self._conf = session.sparkContext._jsc.hadoopConfiguration()
            self._files = self._hadoop.getFileSystem(self._conf)
            self._qualified = str(self._hadoop.makeQualified(self._files).toString())
        except Exception as error:
            raise InputError(f"{path} cannot be reached: {cause_of(error)}") from error

    def child(self, name: str) -> Place:
        return _HadoopPlace(f"{self.path.rstrip('/')}/{name}", self._session)

    def sibling(self, name: str) -> Place:
        parent = self._hadoop.getParent()
        if parent is None:
            raise InputError(f"{self.path} is the root of a file system: a folder in it is needed")
        return _HadoopPlace(f"{str(parent.toString()).rstrip('/')}/{name}", self._session)

    @property
    def name(self) -> str:
        return str(self._hadoop.getName())

    @property
    def absolute(self) -> str:
        return self.path

    @property
    def address(self) -> str:
        return self.path

    @property
    def parts(self) -> tuple[str, ...]:
        scheme, rest = self._qualified.split(":", 1)
        host, folders = "", rest
        if rest.startswith("//"):
            host, _, folders = rest[2:].partition("/")
        return (f"{scheme}:", *([host] if host else []), "/", *filter(None, folders.split("/")))

    def exists(self) -> bool:
        return bool(self._files.exists(self._hadoop))

    def is_link(self) -> bool:
        return False

    def is_stream(self) -> bool:
        return False

    def is_folder(self) -> bool:
        return self.exists() and bool(self._files.getFileStatus(self._hadoop).isDirectory())

    def make_parent(self) -> None:
        self._files.mkdirs(self._hadoop.getParent())

    def replace(self, other: Place) -> None:
        assert isinstance(other, _HadoopPlace)
        other._files.delete(other._hadoop, False)
        if not self._files.rename(self._hadoop, other._hadoop):
            raise OSError(f"{self.path} could not be renamed to {other.path}")

    def is_empty(self) -> bool:
        return self.exists() and not len(self._files.listStatus(self._hadoop))

    def size(self) -> int:
        return int(self._files.getContentSummary(self._hadoop).getLength())

    def make(self) -> None:
        self._files.mkdirs(self._hadoop)

    def rename(self, other: Place) -> None:
        assert isinstance(other, _HadoopPlace)
        if other.exists() and other.is_empty():
            other._files.delete(other._hadoop, False)
        # A plain rename moves a folder *into* one that is there. This one refuses, in one step
        # where the file system can.
        options = self._jvm.org.apache.hadoop.fs.Options.Rename
        gateway: Any = self._session.sparkContext._gateway
        none = gateway.new_array(options, 0)
        try:
            context = self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(
                self._files.getUri(), self._conf
            )
            context.rename(self._hadoop, other._hadoop, none)
        except Exception as error:
            if "UnsupportedFileSystem" not in str(error):
                raise FileExistsError(cause_of(error)) from error
            if other.exists() or not self._files.rename(self._hadoop, other._hadoop):
                raise FileExistsError(f"{self.path} cannot become {other.path}") from error

    def delete(self) -> None:
        self._files.delete(self._hadoop, True)

    def beside(self, prefix: str) -> list[Place]:
        parent = self._hadoop.getParent()
        if parent is None or not self._files.exists(parent):
            return []
        names = (str(each.getPath().getName()) for each in self._files.listStatus(parent))
        return [self.sibling(name) for name in sorted(names) if name.startswith(prefix)]

    def changed(self) -> float:
        return float(self._files.getFileStatus(self._hadoop).getModificationTime()) / 1000

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


def _local_path(path: str) -> str:
    """Return the path of an address of this machine's disk; a path is one already.

    >>> _local_path("file:///runs/demo"), _local_path("file:/runs/demo"), _local_path("demo")
    ('/runs/demo', '/runs/demo', 'demo')
    """
    if not path.lower().startswith(_FILE):
        return path
    rest = path[len(_FILE) :]
    if rest.startswith("//"):
        host, slash, inner = rest[2:].partition("/")
        if host not in ("", "localhost"):
            raise InputError(f"{path} is on the machine {host}: only this machine has no name here")
        rest = slash + inner
    if not rest.startswith("/"):
        raise InputError(f"{path} is no address: after file: comes a path that begins with /")
    return rest


def _refuse_unreadable(path: str, shown: str) -> None:
    found = _UNREADABLE.search(path)
    if found is not None:
        raise InputError(
            f"{shown!r} has {found.group()!r} in a name, which Hadoop does not read: "
            "another name is needed"
        )


def place_of(path: str, session: SparkSession) -> Place:
    """Return a place by its path, or by an address with a scheme such as hdfs."""
    if not path:
        raise InputError("a path is needed, not an empty text")
    if is_local(path):
        return Place(path)
    if is_remote(session):
        raise InputError(f"{path}: over Spark Connect only paths on a shared disk can be used")
    return _HadoopPlace(path, session)


def is_local(path: str) -> bool:
    """Return whether a path is on this machine's disk.

    >>> is_local("runs/demo"), is_local("file:///runs/demo"), is_local("hdfs://host/demo")
    (True, True, False)
    >>> is_local("dbfs:/demo"), is_local("./runs:demo")
    (False, True)
    """
    found = _SCHEME.match(path)
    return found is None or found.group(1).lower() == "file"


def require_apart(out: Place, inputs: Iterable[Place]) -> None:
    """Refuse an output that is an input, contains one, or lies in one."""
    mine = out.parts
    for each in inputs:
        theirs = each.parts
        shared = min(len(mine), len(theirs))
        if mine[:shared] == theirs[:shared]:
            how = "contains" if len(mine) < len(theirs) else "lies in"
            how = "is" if len(mine) == len(theirs) else how
            raise InputError(f"the output {out.path} {how} the input {each.path}")


def require_new(place: Place, *, overwrite: bool) -> None:
    """Refuse an output that exists: unless it may be overwritten, and is that of a job."""
    if place.is_link():
        raise InputError(f"{place.path} is a symbolic link: name the folder that it leads to")
    if place.exists() and not place.is_empty():
        if not overwrite:
            raise InputError(f"{place.path} exists; --overwrite replaces it")
        if not _is_ours(place):
            raise InputError(f"{place.path} exists and is not the output of a job: it stays")


def _is_ours(place: Place) -> bool:
    return place.is_empty() or any(place.child(mark).exists() for mark in _MARKS)


@contextmanager
def new_output(place: Place, *, overwrite: bool) -> Iterator[Place]:
    """Give a place beside the output to write to; what is written there becomes the output at last.

    An output that exists is refused unless it may be overwritten, and then still if it is not that
    of a job; and once more at the end. What a failure leaves behind is removed, and so is what jobs
    left that were killed; a name that begins with a dot is no output.
    """
    # What a killed job had moved away is put back before anybody looks what is there.
    partial = hidden_beside(place, "partial")
    require_new(place, overwrite=overwrite)
    try:
        partial.make()
    except OSError as error:
        raise InputError(f"nothing can be written at {place.path}: {error.strerror}") from error
    try:
        yield type(partial)(partial.address) if type(partial) is Place else partial
        _commit(partial, place, overwrite=overwrite)
    except BaseException:
        _delete_surely(partial)
        raise


def hidden_beside(place: Place, kind: str) -> Place:
    """Return a hidden name beside an output for this job alone, and sweep those of killed jobs."""
    _sweep(place)
    return place.sibling(f".{place.name}.{kind}-{_token()}")


def _commit(partial: Place, place: Place, *, overwrite: bool) -> None:
    """Make a finished folder the output, and let nothing go that a job was not given."""
    require_new(place, overwrite=overwrite)
    token = _token()
    old = place.sibling(f".{place.name}.old-{token}")
    try:
        # Without leave to overwrite nothing is moved, not even what appeared since the last look:
        # then the renaming below fails.
        if overwrite and place.exists() and not place.is_empty():
            with suppress(FileNotFoundError):
                place.rename(old)
            # It may have been another one by the time it was moved. Nobody else touches it now.
            if old.exists() and not _is_ours(old):
                raise InputError(f"{place.path} appeared and is not the output of a job: it stays")
        try:
            partial.rename(place)
        except OSError as error:
            if not place.exists():
                raise
            if old.exists():
                # It was to be replaced, and now it is, if by another job.
                old.delete()
            raise InputError(
                f"{place.path} appeared while the job ran: it stays, and this output is given up"
            ) from error
    finally:
        # Also if somebody ends the job just here.
        if old.exists():
            _settle(old, place, place.sibling(f"{place.name}.kept-{token}"))


def _settle(old: Place, place: Place, spare: Place) -> None:
    """Let the old output go if there is a new one, or else put it back."""
    if not place.exists():
        old.rename(place)
    elif _is_ours(old):
        old.delete()
    else:
        old.rename(spare)


def _delete_surely(place: Place) -> None:
    """Delete a folder although tasks that are being stopped may still write into it."""
    for wait in (0.0, 0.1, 0.5, 2.0):
        time.sleep(wait)
        with suppress(Exception):
            if not place.exists():
                return
            place.delete()


# -- what killed jobs left -------------------------------------------------------------------------


def _host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _token() -> str:
    """Return what a job marks its hidden folders with: the machine, the process, and a number."""
    return f"{_host()}-{os.getpid()}-{uuid.uuid4().hex[:12]}"


def _is_dead(place: Place, token: str) -> bool:
    """Return whether the job that made a hidden folder is gone for sure."""
    host, _, rest = token.partition("-")
    pid = rest.partition("-")[0]
    if host == _host() and pid.isdigit():
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False
    return time.time() - place.changed() > _ABANDONED


def _sweep(place: Place) -> None:
    """Remove the hidden folders of jobs that were killed; an output that one moved comes back."""
    for kind in ("old", "partial"):
        prefix = f".{place.name}.{kind}-"
        for each in place.beside(prefix):
            with suppress(OSError):
                if not _is_dead(each, each.name.removeprefix(prefix)):
                    continue
                if kind == "old" and not place.exists():
                    each.rename(place)
                else:
                    each.delete()


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

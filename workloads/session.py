"""The one place that makes a Spark session, and shows how far a job is."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

from workloads.errors import InputError, StartError, cause_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "BROADCAST_LIMIT",
    "Progress",
    "is_remote",
    "kill_started",
    "open_session",
    "package_archive",
    "require_startable",
    "settings_for",
]

#: The columns of a snapshot's filters are sent to every worker up to this size; beyond it, blocks
#: are joined with blocks.
BROADCAST_LIMIT: Final = 256 * 1024 * 1024
#: What Spark's own joins may send to every worker at most.
_MOST_SENT: Final = 1 << 25
#: The Java processes of the sessions that were started here.
_started: list[Any] = []
_SHUFFLE: Final = "spark.sql.shuffle.partitions"
#: So many seconds after one worker of a cluster another one may come.
_NEXT_WORKER: Final = 1.0
_PACKAGES: Final = ("posetlib", "workloads")
#: The first version of Java that Spark runs on.
_JAVA: Final = 17
#: Masters that Spark knows, as far as their beginning tells.
_MASTER: Final = re.compile(r"local($|\[(?!0)|-cluster\[)|spark://|k8s://|yarn$")
#: Options of spark-submit that stand for a setting.
_OPTIONS: Final = {
    "--master": "spark.master",
    "--driver-memory": "spark.driver.memory",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}


@contextmanager
def open_session(
    name: str,
    master: str | None = None,
    partitions: int | None = None,
    broadcast_limit: int = BROADCAST_LIMIT,
    *,
    brief: bool = False,
    conf: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """Start Spark, or join the session that runs, and stop what was started.

    Under spark-submit the master is the one given there; else ``local[*]`` by default. What was
    said there, in Spark's own file of defaults or in ``conf`` counts, and only what nobody said is
    set here. Of ``conf``, what can change in a session that runs is left to ``settings_for``, so
    that it is one command's own. Workers that are processes of their own are sent the packages.
    ``brief`` says that there is little to do, so that Spark's code is compiled quickly rather than
    well.
    """
    from pyspark.sql import SparkSession  # noqa: PLC0415 - a second that --help need not wait for

    running = SparkSession.getActiveSession()
    if running is not None:
        with settings_for(running, partitions, broadcast_limit):
            yield running
        return
    given = _given()
    if master is None and "spark.master" not in given:
        master = "local[*]"
    require_startable(master)
    builder = SparkSession.builder.appName(f"workloads {name}")
    wanted = _settings(broadcast_limit, brief=brief)
    if master is not None and master.startswith("local"):
        # Nothing outside this machine has anything to say here, whatever the machine is called.
        wanted |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    for key, value in {key: each for key, each in wanted.items() if key not in given}.items():
        builder = builder.config(key, value)
    for key, value in (conf or {}).items():
        builder = builder.config(key, value)
    if master is not None:
        builder = builder.master(master)
    _fill_environment()
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise _start_error(master, error) from error
    java = _java_of(session)
    if java is not None:
        _started.append(java)
    try:
        said = wanted | given
        if partitions is not None:
            said[_SHUFFLE] = str(partitions)
        elif _SHUFFLE not in given:
            # Twice as many parts as there are cores, wherever these are.
            said[_SHUFFLE] = str(2 * _cores(session))
        _take_back(session, {*(conf or {}), _SHUFFLE}, said)
        with tempfile.TemporaryDirectory(prefix="workloads-") as folder:
            if not str(session.sparkContext.master).startswith("local["):
                archive = Path(folder) / "posetlib-workloads.zip"
                if package_archive(archive):
                    session.sparkContext.addPyFile(str(archive))
            yield session
    except BaseException:
        # A call that was interrupted may have left its answer behind, for the next one to read.
        with suppress(Exception):
            session.stop()
        raise
    else:
        session.stop()
    finally:
        if java is not None:
            _started.remove(java)


def _fill_environment() -> None:
    """Say to the processes of a session what nobody has said in the environment."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # As Hadoop does: glibc keeps a heap for each few threads otherwise, and Java has many threads.
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")


def _java_of(session: SparkSession) -> Any:
    """Return the process that was started for a session, if one was."""
    gateway: Any = session.sparkContext._gateway
    return getattr(gateway, "proc", None)


def _take_back(session: SparkSession, keys: Iterable[str], said: Mapping[str, str]) -> None:
    """Let some settings be what was said of them before, as far as they can change."""
    for key in filter(session.conf.isModifiable, keys):
        session.conf.set(key, said[key]) if key in said else session.conf.unset(key)


def _cores(session: SparkSession) -> int:
    """Return how many tasks a cluster runs at a time, once its workers have come.

    They come one after the other: the first is there when a job is done, and others are waited for
    as long as more of them come.
    """
    context = session.sparkContext
    if str(context.master).startswith("local["):
        return context.defaultParallelism
    session.range(1).count()
    found = 0
    while found < context.defaultParallelism:
        found = context.defaultParallelism
        time.sleep(_NEXT_WORKER)
    return found


def is_remote(session: SparkSession) -> bool:
    """Return whether a session is a client of Spark Connect: it has DataFrames only."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def kill_started() -> None:
    """End the Java processes that were started here: nothing of theirs is written after this."""
    for java in _started:
        java.kill()
        java.wait()


@contextmanager
def settings_for(
    session: SparkSession,
    partitions: int | None = None,
    broadcast_limit: int | None = None,
    *,
    conf: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Let one command have its own settings in a session, and put back what was there."""
    wanted = dict(conf or {})
    if partitions is not None:
        # What is shuffled, what is read, and what is divided into as many tasks as can run at once.
        names = (
            _SHUFFLE,
            "spark.sql.files.minPartitionNum",
            "spark.sql.leafNodeDefaultParallelism",
        )
        wanted |= dict.fromkeys(names, str(partitions))
    if broadcast_limit is not None and broadcast_limit < _MOST_SENT:
        wanted["spark.sql.autoBroadcastJoinThreshold"] = str(broadcast_limit)
    before = {key: session.conf.get(key, None) for key in wanted}
    try:
        for key, value in wanted.items():
            if before[key] == value:
                continue
            try:
                session.conf.set(key, value)
            except Exception as error:
                raise InputError(
                    f"{key} cannot be set in a session that runs ({cause_of(error)}); "
                    "the first command has to set it"
                ) from error
        yield
    finally:
        for key, old in before.items():
            with suppress(Exception):
                session.conf.unset(key) if old is None else session.conf.set(key, old)


def _given() -> dict[str, str]:
    """Return the settings that somebody made: spark-submit, its arguments, Spark's defaults."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415

        SparkContext._ensure_initialized()
        return dict(SparkConf().getAll())
    found: dict[str, str] = {}
    folder = os.environ.get("SPARK_CONF_DIR") or (
        f"{os.environ['SPARK_HOME']}/conf" if "SPARK_HOME" in os.environ else None
    )
    if folder is not None and (Path(folder) / "spark-defaults.conf").is_file():
        for line in (Path(folder) / "spark-defaults.conf").read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                key, *rest = re.split(r"[\s=]+", line.strip(), maxsplit=1)
                found[key] = "".join(rest)
    words = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    for option, value in pairwise(words):
        if option in ("--conf", "-c"):
            key, _, said = value.partition("=")
            found[key] = said
        elif option in _OPTIONS:
            found[_OPTIONS[option]] = value
    return found


def require_startable(master: str | None) -> None:
    """Say what is missing before Spark is started and fails for the lack of it."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    if _java() is None:
        home = os.environ.get("JAVA_HOME")
        where = f"in {home}/bin, where JAVA_HOME says" if home else "on the PATH"
        raise StartError(f"Spark needs Java {_JAVA} or later, and there is no java {where}")
    if master is not None and _MASTER.match(master) is None:
        raise _unknown_master(master)
    if master == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & set(os.environ):
        raise StartError(
            "--master yarn needs HADOOP_CONF_DIR or YARN_CONF_DIR, the folder of the cluster's "
            "settings, in the environment"
        )
    if master is None or not master.startswith("spark://"):
        return
    reasons = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise InputError(f"--master {master} is no address: it is spark://host:port")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        except OSError as error:
            reasons.append(f"{address}: {error.strerror or error}")
        else:
            return
    raise StartError(f"no Spark master answers at {'; '.join(reasons)}")


def _java() -> str | None:
    """Return the path of the java that Spark would take."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")


def _unknown_master(master: str | None) -> InputError:
    return InputError(
        f"Spark knows no master {master!r}: it is local[*], spark://host:port, yarn or k8s://…"
    )


def _start_error(master: str | None, error: Exception) -> Exception:
    cause = cause_of(error)
    if "Could not parse Master URL" in str(error) or "Could not parse Master URL" in cause:
        return _unknown_master(master)
    if "JAVA_GATEWAY_EXITED" in str(error):
        java = _java()
        told = subprocess.run([str(java), "-version"], capture_output=True, text=True, check=False)
        found = re.search(r'version "(?:1\.)?(\d+)', told.stderr)
        if found is not None and int(found.group(1)) < _JAVA:
            return StartError(f"Spark needs Java {_JAVA} or later, and {java} is {found.group(1)}")
        return StartError(f"Java ended before Spark ran; what {java} said is above")
    return StartError(f"Spark does not start with master {master!r}: {cause}")


def _settings(broadcast_limit: int, *, brief: bool) -> dict[str, str]:
    log = resources.files("workloads") / "log4j2.properties"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        # Blocks are rows, too: of these, few are enough to be on their way to Python at a time.
        "spark.sql.execution.arrow.maxBytesPerBatch": "8m",
        # What Spark itself sends to all is a table of hashes in the driver, several times as large.
        "spark.sql.autoBroadcastJoinThreshold": str(min(broadcast_limit, _MOST_SENT)),
        # Blocks are small to send and slow to compare: few bytes are no reason for few tasks.
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.files.maxPartitionBytes": "64m",
        # What the caller says in the environment counts, as for any other program of Spark's.
        "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "1g"),
    }
    java = ["-XX:+IgnoreUnrecognizedVMOptions", "--sun-misc-unsafe-memory-access=allow"]
    if log.is_file():
        java.append(f"-Dlog4j2.configurationFile={Path(str(log)).as_uri()}")
    if brief:
        # Half of what Spark does in its first seconds is to optimise itself.
        java.append("-XX:TieredStopAtLevel=1")
    return settings | {"spark.driver.extraJavaOptions": " ".join(java)}


def package_archive(archive: Path) -> bool:
    """Write the packages into an archive for workers; False if they come from one already."""
    root = Path(__file__).resolve().parent.parent
    if not root.is_dir():
        return False
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for package in _PACKAGES:
            for file in sorted((root / package).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    made.write(file, file.relative_to(root))
    return True


# -- progress --------------------------------------------------------------------------------------


class Progress:
    """What a command is at, shown on a terminal in one line, and elsewhere in a line now and then.

    ``what`` is the part of the command that runs, such as the name of an invariant.
    """

    def __init__(
        self,
        session: SparkSession,
        name: str,
        stream: TextIO | None = None,
        after: float = 3.0,
        every: float = 30.0,
    ) -> None:
        self.what = ""
        self._session = session
        self._name = name
        self._stream = sys.stderr if stream is None else stream
        self._after = after
        self._every = every
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()
        self.clear()

    def clear(self) -> None:
        """Take the line off the terminal, before something else is written there."""
        if self._stream.isatty():
            with self._lock:
                self._stream.write("\r\033[K")
                self._stream.flush()

    def _show(self) -> None:
        start = time.monotonic()
        terminal = self._stream.isatty()
        due = self._after if terminal else self._every
        while not self._done.wait(min(0.5, self._every)):
            seconds = time.monotonic() - start
            if seconds < due:
                continue
            due = seconds if terminal else seconds + self._every
            parts = [f"{self._name}, {seconds:.0f} s", self.what, self._stages() or "working"]
            text = ": ".join(part for part in parts if part)
            with self._lock, suppress(OSError, ValueError):
                self._stream.write(f"\r\033[K{text[:100]}" if terminal else f"{text}\n")
                self._stream.flush()

    def _stages(self) -> str:
        with suppress(Exception):
            tracker = self._session.sparkContext.statusTracker()
            infos = [(each, tracker.getStageInfo(each)) for each in tracker.getActiveStageIds()]
            return "; ".join(
                f"stage {stage}: {info.numCompletedTasks} of {info.numTasks} tasks"
                for stage, info in infos
                if info is not None
            )
        return ""

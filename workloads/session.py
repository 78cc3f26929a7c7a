"""The one place that makes a Spark session, and shows how far a job is."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from workloads.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["BROADCAST_LIMIT", "open_session", "package_archive", "progress"]

#: The columns of a snapshot's filters are sent to every worker up to this size; beyond it, blocks
#: are joined with blocks.
BROADCAST_LIMIT: Final = 256 * 1024 * 1024
_PACKAGES: Final = ("posetlib", "workloads")


@contextmanager
def open_session(
    name: str,
    master: str | None = None,
    partitions: int | None = None,
    broadcast_limit: int = BROADCAST_LIMIT,
    *,
    brief: bool = False,
) -> Iterator[SparkSession]:
    """Start Spark, or join the session that runs, and stop what was started.

    Under spark-submit the master is the one given there; else ``local[*]`` by default. Workers that
    are processes of their own are sent the packages. ``brief`` says that there is little to do, so
    that Spark's code is compiled quickly rather than well.
    """
    from pyspark.sql import SparkSession  # noqa: PLC0415 - a second that --help need not wait for

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if master is None and not submitted:
        master = "local[*]"
    builder = SparkSession.builder.appName(f"workloads {name}")
    for key, value in _settings(partitions, broadcast_limit, brief=brief).items():
        builder = builder.config(key, value)
    if master is not None:
        builder = builder.master(master)
    if master is not None and master.startswith("local"):
        # Nothing outside this machine has anything to say here, whatever the machine is called.
        builder = builder.config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise InputError(f"Spark does not start with master {master!r}: {_brief(error)}") from error
    try:
        with tempfile.TemporaryDirectory(prefix="workloads-") as folder:
            if not str(session.sparkContext.master).startswith("local["):
                archive = Path(folder) / "posetlib-workloads.zip"
                if package_archive(archive):
                    session.sparkContext.addPyFile(str(archive))
            yield session
    finally:
        session.stop()


def _settings(partitions: int | None, broadcast_limit: int, *, brief: bool) -> dict[str, str]:
    log = resources.files("workloads") / "log4j2.properties"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        # What Spark itself sends to all is a table of hashes in the driver, several times as large.
        "spark.sql.autoBroadcastJoinThreshold": str(min(broadcast_limit, 1 << 25)),
        # Blocks are small to send and slow to compare: few bytes are no reason for few tasks.
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.files.maxPartitionBytes": "64m",
        "spark.sql.shuffle.partitions": str(partitions or 2 * (os.cpu_count() or 1)),
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


def _brief(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


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


@contextmanager
def progress(
    session: SparkSession, name: str, stream: TextIO | None = None, after: float = 3.0
) -> Iterator[None]:
    """Say on a terminal which part of a job runs, once it has taken a few seconds."""
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(session, name, stream, after, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        stream.write("\r\033[K")
        stream.flush()


def _show(
    session: SparkSession, name: str, stream: TextIO, after: float, done: threading.Event
) -> None:
    tracker = session.sparkContext.statusTracker()
    start = time.monotonic()
    while not done.wait(0.5):
        seconds = time.monotonic() - start
        if seconds < after:
            continue
        parts = []
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None:
                parts.append(f"stage {stage}: {info.numCompletedTasks} of {info.numTasks} tasks")
        text = f"{name}, {seconds:.0f} s: {'; '.join(parts) or 'working'}"
        stream.write(f"\r\033[K{text[:100]}")
        stream.flush()

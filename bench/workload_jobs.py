"""Jobs in a process of their own: `python -m bench.workload_jobs FOLDER MASTER CPUS JOBS HOW`.

Prints one line of JSON for each job: its name, the seconds that it took after Spark had started,
those of processors, what there was to count, and the most memory that the driver took, Python and
Java together.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posetlib.generating import Parameters
from workloads.build import build
from workloads.cover import cover
from workloads.files import Place
from workloads.generate import generate
from workloads.match import match
from workloads.session import BROADCAST_LIMIT, open_session
from workloads.validate import validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main(folder: str, master: str, cpus: int, jobs: list[dict[str, Any]], *, brief: bool) -> None:
    """Run jobs in one session, on the first CPUs that there are."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cpus])
    with open_session("bench", master, brief=brief) as session:
        if not brief:
            _warm_up(session)
        processors = _Spent(session)
        processors.start()
        for job in jobs:
            _forget_peaks(session)
            start, spent = time.perf_counter(), processors.look()
            found = _run(session, Path(folder), job)
            line = {
                "name": job["name"],
                "seconds": time.perf_counter() - start,
                "processor seconds": processors.look() - spent,
                "found": found,
            }
            peaks = {"bytes": _peak(session), "all bytes": _peak(session, workers=True)}
            print(json.dumps(line | peaks), flush=True)


def results(output: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Return what was printed for each job; Java may write warnings between the lines."""
    return (json.loads(line) for line in output if line.startswith("{"))


def _run(session: SparkSession, folder: Path, job: dict[str, Any]) -> Any:
    def place(name: str) -> Place:
        return Place(str(folder / job[name]))

    if job["job"] == "generate":
        return generate(session, Parameters(**job["parameters"]), place("out"))
    if job["job"] == "build":
        return build(session, place("from"), job["structure"], place("out"), overwrite=True)
    if job["job"] == "antichain":
        return _antichain(session, job["filters"], Path(folder) / job["out"])
    if job["job"] == "validate":
        limit = job.get("broadcast_limit", BROADCAST_LIMIT)
        report = validate(session, place("snapshot"), place("from"), broadcast_limit=limit)
        assert report["ok"], report
        return {each["name"]: each["checked"] for each in report["invariants"]}
    command = {"cover": cover, "match": match}[job["job"]]
    return command(session, place("from"), place("out"), overwrite=True)


def _antichain(session: SparkSession, count: int, out: Path) -> int:
    """Write a workload of squares of one size, none of which covers another."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    def place_of(seed: int) -> Any:
        return f.pmod(f.xxhash64("id", f.lit(seed)), f.lit(10**8)) / 10**6

    rows = session.range(count)
    for name, seed in (("x", 1), ("y", 2)):
        low = f.round(place_of(seed), 6)
        rows = rows.withColumns({f"lo_{name}": low, f"hi_{name}": f.round(low + 5, 6)})
    ends = [f.col(f"{side}_{name}").cast("string") for name in "xy" for side in ("lo", "hi")]
    text = f.format_string("x in [%s, %s] and y in [%s, %s]", *ends)
    rows = rows.withColumns({"filter": text, "interface": f.lit("I1")})
    rows.withColumn("typed_for", f.xxhash64("filter")).write.parquet(str(out / "filters"))
    return count


def _warm_up(session: SparkSession) -> None:
    """Pay for what starting costs: the JVM, the Python workers, their imports."""
    with tempfile.TemporaryDirectory() as small:
        warm = Place(str(Path(small) / "w"))
        generate(session, Parameters(filters=1000, notifications=10), warm)
        cover(session, warm, Place(str(Path(small) / "c")))
        match(session, warm, Place(str(Path(small) / "m")))


# -- processes -------------------------------------------------------------------------------------


class _Spent(threading.Thread):
    """Looks again and again at the processor time of all processes of a session.

    Workers that were idle for a minute end, and their time would be lost: Spark's daemon does not
    wait for them, so that the system adds it to nobody's.
    """

    def __init__(self, session: SparkSession) -> None:
        super().__init__(daemon=True)
        self._session = session
        self._lock = threading.Lock()
        #: The ticks of each process when it was last seen, by its number and when it began.
        self._ticks: dict[tuple[str, str], int] = {}

    def run(self) -> None:
        while True:
            self.look()
            time.sleep(_BETWEEN_LOOKS)

    def look(self) -> float:
        """Return the seconds of processors that all processes, also those that ended, took."""
        with self._lock:
            for each in _processes(self._session):
                with contextlib.suppress(OSError):
                    fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
                    self._ticks[each, fields[19]] = sum(map(int, fields[11:13]))
            return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")


#: Seconds.
_BETWEEN_LOOKS = 0.5


def _processes(session: SparkSession, *, workers: bool = True) -> list[str]:
    """The driver's Python, and its Java, which in a local session runs the tasks as well.

    With ``workers`` those of Python, too, which are children of the Java.
    """
    java: Any = session.sparkContext._gateway
    found = [str(os.getpid()), str(java.proc.pid)]
    if workers:
        parents = {}
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parents[status.parent.name] = status.read_text().rpartition(")")[2].split()[1]
        for _ in range(2):
            found += [each for each, above in parents.items() if above in found[1:]]
            found = list(dict.fromkeys(found))
    return found


def _forget_peaks(session: SparkSession) -> None:
    for each in _processes(session):
        with contextlib.suppress(OSError):
            Path(f"/proc/{each}/clear_refs").write_text("5")


def _peak(session: SparkSession, *, workers: bool = False) -> int:
    """Return the most bytes that processes had in memory since peaks were forgotten."""
    total = 0
    for each in _processes(session, workers=workers):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{each}/status").read_text().splitlines()
            total += next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
    return total * 1024


if __name__ == "__main__":
    main(
        sys.argv[1],
        sys.argv[2],
        int(sys.argv[3]),
        json.loads(sys.argv[4]),
        brief=sys.argv[5] == "brief",
    )

"""Jobs in a process of their own: `python -m bench.workload_jobs FOLDER MASTER CPUS JOBS HOW`.

Prints one line of JSON for each job: its name, the seconds that it took after Spark had started,
what there was to count, and the most memory that the driver took, Python and Java together.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posetlib.generating import Parameters
from workloads.build import build
from workloads.cover import cover
from workloads.files import Place
from workloads.generate import generate
from workloads.match import match
from workloads.session import open_session
from workloads.validate import validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main(folder: str, master: str, cpus: int, jobs: list[dict[str, Any]], *, brief: bool) -> None:
    """Run jobs in one session, on the first CPUs that there are."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cpus])
    with open_session("bench", master, brief=brief) as session:
        if not brief:
            _warm_up(session)
        for job in jobs:
            _forget_peaks(session)
            start = time.perf_counter()
            found = _run(session, Path(folder), job)
            seconds = time.perf_counter() - start
            line = {"name": job["name"], "seconds": seconds, "found": found}
            print(json.dumps(line | {"bytes": _peak(session)}), flush=True)


def _run(session: SparkSession, folder: Path, job: dict[str, Any]) -> Any:
    def place(name: str) -> Place:
        return Place(str(folder / job[name]))

    if job["job"] == "generate":
        return generate(session, Parameters(**job["parameters"]), place("out"))
    if job["job"] == "build":
        return build(session, place("from"), job["structure"], place("out"))
    if job["job"] == "validate":
        report = validate(session, place("snapshot"), place("from"))
        assert report["ok"], report
        return {each["name"]: each["checked"] for each in report["invariants"]}
    command = {"cover": cover, "match": match}[job["job"]]
    return command(session, place("from"), place("out"), overwrite=True)


def _warm_up(session: SparkSession) -> None:
    """Pay for what starting costs: the JVM, the Python workers, their imports."""
    with tempfile.TemporaryDirectory() as small:
        warm = Place(str(Path(small) / "w"))
        generate(session, Parameters(filters=1000, notifications=10), warm)
        cover(session, warm, Place(str(Path(small) / "c")))
        match(session, warm, Place(str(Path(small) / "m")))


# -- memory ----------------------------------------------------------------------------------------


def _processes(session: SparkSession) -> list[str]:
    """The driver's Python, and its Java, which in a local session runs the tasks as well."""
    java: Any = session.sparkContext._gateway
    return ["self", str(java.proc.pid)]


def _forget_peaks(session: SparkSession) -> None:
    for each in _processes(session):
        Path(f"/proc/{each}/clear_refs").write_text("5")


def _peak(session: SparkSession) -> int:
    """Return the most bytes that the driver had in memory since peaks were forgotten."""
    total = 0
    for each in _processes(session):
        lines = Path(f"/proc/{each}/status").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return total * 1024


if __name__ == "__main__":
    main(
        sys.argv[1],
        sys.argv[2],
        int(sys.argv[3]),
        json.loads(sys.argv[4]),
        brief=sys.argv[5] == "brief",
    )

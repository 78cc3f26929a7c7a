"""Jobs in a process of their own, on so many CPUs: `python -m bench.workload_jobs FOLDER CPUS …`.

Prints one line of JSON for each job: its name, the seconds that it took after Spark had started,
and what there was to count.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from posetlib.generating import Parameters
from workloads.build import build
from workloads.cover import cover
from workloads.files import Place
from workloads.generate import generate
from workloads.match import match
from workloads.session import open_session
from workloads.validate import validate


def main(folder: str, cpus: int, jobs: list[dict[str, Any]]) -> None:
    """Run jobs on the first CPUs that there are, in a session with two threads."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cpus])
    with open_session("bench", "local[2]") as session:

        def place(name: str) -> Place:
            return Place(str(Path(folder) / name))

        def run(job: dict[str, Any]) -> Any:
            if job["job"] == "generate":
                return generate(
                    session, Parameters(**job["parameters"]), place(job["out"]), overwrite=True
                )
            if job["job"] == "build":
                out = place(job["out"])
                return build(session, place(job["from"]), job["structure"], out, overwrite=True)
            if job["job"] == "validate":
                source = place(job["from"]) if "from" in job else None
                report = validate(session, place(job["snapshot"]), source)
                assert report["ok"], report
                return report["nodes"]
            command = {"cover": cover, "match": match}[job["job"]]
            return command(session, place(job["from"]), place(job["out"]), overwrite=True)

        with tempfile.TemporaryDirectory() as small:
            # What starting costs is paid here: the JVM, the Python workers, their imports.
            warm = Place(str(Path(small) / "w"))
            generate(session, Parameters(filters=1000, notifications=10), warm)
            cover(session, warm, Place(str(Path(small) / "c")))
            match(session, warm, Place(str(Path(small) / "m")))
        for job in jobs:
            start = time.perf_counter()
            found = run(job)
            seconds = time.perf_counter() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            line = {"name": job["name"], "seconds": seconds, "found": found, "kilobytes": peak}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))

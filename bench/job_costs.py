"""What jobs cost by size: `python -m bench.job_costs --sizes 100000,1000000 --data F --plot P`.

Each job of each size runs in a session of its own on two CPUs, after Spark has started. The data
file keeps, for each, the seconds by the clock, and those of processors, of Python and Java
together, which depend less on what else the machine does. What the file has already is not run
again, so that the sizes may be measured one after the other. ``--plot`` draws all of the file.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.harness import Table

ROOT = Path(__file__).resolve().parent.parent
#: What is drawn in one panel: its title, and the jobs as their lines.
PANELS = {
    "cover": ("uniform", "antichain"),
    "build": ("PF", "NRF", "FP"),
    "validate": ("PF", "PF, spread out"),
}
#: No edges are many for a filters poset of more filters: 88 for a node at 100,000.
MOST_OF_A_POSET = 100_000


def jobs_of(panel: str, line: str, count: int) -> list[dict[str, Any]] | None:
    """Return what has to be made first, and at last the job that is measured; None for none."""
    ranges = {"filters": count, "seed": 3, "decimals": 6}
    if panel == "cover":
        make: dict[str, Any] = {"job": "generate", "parameters": ranges}
        if line == "antichain":
            make = {"job": "antichain", "filters": count}
        return [make | {"out": "d"}, {"job": "cover", "from": "d", "out": "c"}]
    structure = line.partition(",")[0].lower()
    if structure == "fp" and count > MOST_OF_A_POSET:
        return None
    # With an interface each, all filters stay; a thousand for the index of a forest.
    interfaces = count if structure == "pf" else 1000
    build = {"job": "build", "structure": structure, "from": "d", "out": "e"}
    made = [
        {"job": "generate", "parameters": ranges | {"interfaces": interfaces}, "out": "d"},
        build,
    ]
    if panel == "build":
        return made
    limit = {"broadcast_limit": 0} if line.endswith("out") else {}
    return [*made, {"job": "validate", "snapshot": "e", "from": "d", **limit}]


def measured(jobs: list[dict[str, Any]]) -> dict[str, float]:
    """Run jobs in a process of their own, and return what the last one took."""
    with tempfile.TemporaryDirectory(prefix="bench-costs-") as folder:
        named = [{**job, "name": str(at)} for at, job in enumerate(jobs)]
        options = [folder, "local[2]", "2", json.dumps(named), "well"]
        done = subprocess.run(
            [sys.executable, "-m", "bench.workload_jobs", *options],
            capture_output=True, text=True, check=False, cwd=ROOT,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"the jobs failed:\n{done.stderr[-2000:]}")
        last = json.loads(done.stdout.splitlines()[-1])
    return {
        "seconds": round(last["seconds"], 1),
        "processor seconds": round(last["processor seconds"], 1),
        "megabytes of the driver": round(last["bytes"] / 1e6),
    }


def wanted(sizes: list[int], panels: list[str], data: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield panel, line and size of what the data do not have."""
    for count in sizes:
        for panel in panels:
            for line in PANELS[panel]:
                if str(count) not in data.get(panel, {}).get(line, {}):
                    yield panel, line, str(count)


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the processor seconds of each panel as a table: sizes, and a column for each line."""
    found = {}
    for panel, lines in PANELS.items():
        known = data.get(panel, {})
        sizes = sorted({int(size) for line in lines for size in known.get(line, {})})
        rows = [
            (size, *(known.get(line, {}).get(str(size), {}).get("processor seconds")
                     for line in lines))
            for size in sizes
        ]  # fmt: skip
        found[panel] = Table(panel, ("filters", *lines), rows)
    return found


def main() -> None:
    """Measure what is asked for, and draw what is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="", help="numbers of filters, with commas between them")
    parser.add_argument("--jobs", default=",".join(PANELS), help="cover, build, validate")
    parser.add_argument("--data", type=Path, default=ROOT / "docs" / "job-costs.json")
    parser.add_argument("--plot", type=Path, help="an SVG file")
    options = parser.parse_args()
    # Told to end, the process ends its job as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    data = json.loads(options.data.read_text()) if options.data.exists() else {}
    sizes = [int(each) for each in options.sizes.split(",") if each]
    for panel, line, size in wanted(sizes, options.jobs.split(","), data):
        jobs = jobs_of(panel, line, int(size))
        if jobs is None:
            continue
        found = measured(jobs)
        print(panel, line, size, found, flush=True)
        # Read again: somebody else may measure other jobs at the same time.
        data = json.loads(options.data.read_text()) if options.data.exists() else {}
        data.setdefault(panel, {}).setdefault(line, {})[size] = found
        options.data.write_text(json.dumps(data, indent=1) + "\n")
    if options.plot is not None:
        from bench.plots import log_log  # noqa: PLC0415

        log_log(options.plot, "Seconds of processors by size", tables(data), unit="seconds")


if __name__ == "__main__":
    if shutil.which("java") is None:
        sys.exit("there is no Java")
    main()

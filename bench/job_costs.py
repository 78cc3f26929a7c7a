"""What jobs cost by size: `python -m bench.job_costs --sizes 100000,1000000 --data F --plot P`.

The jobs of a size run on two CPUs, after Spark has started; those that need the same rows run in
one session, one after the other. The data file keeps, for each, the seconds by the clock, and those
of processors, of Python and Java together, which depend less on what else the machine does. What
the file has already is not measured again, so that the sizes may be measured one after the other.
``--plot`` draws all of the file.
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
from bench.workload_jobs import results

ROOT = Path(__file__).resolve().parent.parent
#: What is drawn in one panel: its title, and the jobs as their lines.
PANELS = {
    "cover": ("uniform", "antichain"),
    "build": ("PF", "NRF", "FP"),
    "validate": ("PF", "PF, spread out"),
}
#: No edges are many for a filters poset of more filters: 88 for a node at 100,000.
MOST_OF_A_POSET = 100_000
#: Of a larger table the columns are not sent to every worker.
MOST_SENT = 3_000_000


def chains(count: int, lines: set[tuple[str, str]]) -> Iterator[list[dict[str, Any]]]:
    """Yield jobs that run in one session each, for lines of panels, by what they are named."""

    def chain(*jobs: tuple[str, str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the jobs up to the last one that is asked for."""
        asked = [at for at, (panel, line, _) in enumerate(jobs) if (panel, line) in lines]
        some = jobs[: max(asked, default=-1) + 1]
        return [{**job, "name": f"{panel}/{line}"} for panel, line, job in some]

    ranges = {"filters": count, "seed": 3, "decimals": 6}
    cover = {"job": "cover", "from": "d", "out": "c"}
    rows = {"job": "generate", "parameters": ranges, "out": "d"}
    yield chain(("make", "", rows), ("cover", "uniform", cover))
    rows = {"job": "antichain", "filters": count, "out": "d"}
    yield chain(("make", "", rows), ("cover", "antichain", cover))
    for line in PANELS["build"]:
        if line == "FP" and count > MOST_OF_A_POSET:
            continue
        # With an interface each, all filters stay; a thousand for the index of a forest.
        interfaces = count if line == "PF" else 1000
        rows = {"job": "generate", "parameters": ranges | {"interfaces": interfaces}, "out": "d"}
        build = {"job": "build", "structure": line.lower(), "from": "d", "out": "e"}
        check = {"job": "validate", "snapshot": "e", "from": "d"}
        spread = check | {"broadcast_limit": 0}
        jobs = [("make", "", rows), ("build", line, build)]
        if count <= MOST_SENT:
            jobs.append(("validate", line, check))
        yield chain(*jobs, ("validate", f"{line}, spread out", spread))


def measured(jobs: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, float]]]:
    """Run jobs in a process of their own, and yield what each took when it is done."""
    with tempfile.TemporaryDirectory(prefix="bench-costs-") as folder:
        options = [folder, "local[2]", "2", json.dumps(jobs), "well"]
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.workload_jobs", *options], cwd=ROOT,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        for line in results(process.stdout):
            yield (
                line["name"],
                {
                    "seconds": round(line["seconds"], 1),
                    "processor seconds": round(line["processor seconds"], 1),
                    "megabytes of the driver": round(line["bytes"] / 1e6),
                    "megabytes of all": round(line["all bytes"] / 1e6),
                },
            )
        _, told = process.communicate()
        if process.returncode:
            raise RuntimeError(f"the jobs failed:\n{told[-2000:]}")


def wanted(count: int, panels: list[str], data: dict[str, Any]) -> set[tuple[str, str]]:
    """Return panels and lines that the data do not have of a size."""
    return {
        (panel, line)
        for panel in panels
        for line in PANELS[panel]
        if str(count) not in data.get(panel, {}).get(line, {})
    }


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
    for count in sizes:
        lines = wanted(count, options.jobs.split(","), data)
        for jobs in filter(None, chains(count, lines)):
            for name, found in measured(jobs):
                panel, _, line = name.partition("/")
                if (panel, line) not in lines:
                    continue
                print(panel, line, count, found, flush=True)
                # Read again: somebody else may measure other jobs at the same time.
                data = json.loads(options.data.read_text()) if options.data.exists() else {}
                data.setdefault(panel, {}).setdefault(line, {})[str(count)] = found
                options.data.write_text(json.dumps(data, indent=1) + "\n")
    if options.plot is not None:
        from bench.plots import log_log  # noqa: PLC0415

        log_log(options.plot, "Seconds of processors by size", tables(data), unit="seconds")


if __name__ == "__main__":
    if shutil.which("java") is None:
        sys.exit("there is no Java")
    main()

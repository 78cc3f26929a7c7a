"""`python -m bench`, which is `make bench`: run every ``bench/bench_*.py`` and show the figures."""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import importlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import posetlib
from bench.documents import environment, with_lines, with_promises
from bench.harness import Bench

PREFIX = "bench_"


def subjects() -> list[str]:
    """Return the names of the benchmarks that there are: one for each ``bench_<name>.py``."""
    folder = Path(__file__).parent
    return sorted(path.stem.removeprefix(PREFIX) for path in folder.glob(f"{PREFIX}*.py"))


def run(subject: str, *, quick: bool) -> Bench:
    """Run one benchmark, showing its tables as they come."""
    module = importlib.import_module(f"bench.{PREFIX}{subject}")
    purpose = (module.__doc__ or "").strip().partition("\n")[0]
    print(f"== {subject}: {purpose}\n", flush=True)
    bench = Bench(quick=quick, show=lambda text: print(text, flush=True))
    module.run(bench)
    return bench


def report(results: dict[str, Bench], *, quick: bool) -> dict[str, Any]:
    """Return all figures as one JSON-able value, with what they depend on."""
    return {
        "format": "posetlib-bench",
        "version": 1,
        "quick": quick,
        "environment": {
            "posetlib": posetlib.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "machine": platform.machine(),
            "cores": os.cpu_count(),
        },
        "benchmarks": [
            {
                "subject": subject,
                "tables": [dataclasses.asdict(table) for table in bench.tables],
                "promises": [
                    {**dataclasses.asdict(promise), "kept": promise.kept}
                    for promise in bench.promises
                ],
            }
            for subject, bench in results.items()
        ],
    }


def draw(results: dict[str, Bench], folder: Path) -> None:
    """Draw the figures of the benchmarks that have any."""
    for subject, bench in results.items():
        plot = getattr(importlib.import_module(f"bench.{PREFIX}{subject}"), "plot", None)
        if plot is not None:
            for path in plot(bench.tables, folder):
                print(path)


def document(results: dict[str, Bench], path: Path) -> None:
    """Put what was promised and found into a document that has a place for it.

    A benchmark may have lines of its own for that, ``lines_for_document``.
    """
    for subject, bench in results.items():
        page = path.read_text(encoding="utf-8")
        own = getattr(
            importlib.import_module(f"bench.{PREFIX}{subject}"), "lines_for_document", None
        )
        if own is None:
            text = with_promises(page, subject, bench.promises, environment())
        else:
            text = with_lines(page, subject, [environment(), "", *own(bench)])
        path.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 if ``--strict`` and a promise was broken, 2 if there is none."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("only", nargs="*", help="subjects to run, as names or patterns (all)")
    parser.add_argument("--list", action="store_true", help="name the benchmarks, and stop")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw those that have plots")
    parser.add_argument("--document", type=Path, metavar="FILE", help="put the promises there, too")
    parser.add_argument("--quick", action="store_true", help="see that they run, no more")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a promise is broken")
    options = parser.parse_args(arguments)
    patterns = options.only or ["*"]
    chosen = [name for name in subjects() if any(fnmatch.fnmatchcase(name, p) for p in patterns)]
    if options.list:
        print("\n".join(chosen))
        return 0
    if options.only and not chosen:
        print(f"bench: no benchmark is called {' or '.join(options.only)}", file=sys.stderr)
        return 2

    results = {subject: run(subject, quick=options.quick) for subject in chosen}
    promises = [promise for bench in results.values() for promise in bench.promises]
    for promise in promises:
        print(promise)
    kept = sum(promise.kept for promise in promises)
    print(f"{len(results)} benchmarks, {kept} of {len(promises)} promises kept")
    if options.json:
        text = json.dumps(report(results, quick=options.quick), indent=2, ensure_ascii=False)
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.plots:
        draw(results, options.plots)
    if options.document:
        document(results, options.document)
    return 1 if options.strict and kept < len(promises) else 0


if __name__ == "__main__":
    sys.exit(main())

"""The shapes that people subscribe with: adding with an index, and without one.

The last tenth of 10,000 different filters, one interface for each, in turns with a table that has
no index. A table of the figures goes into the documents (see ``bench.documents``).

All shapes take many minutes. ``python -m bench.bench_shapes FILE`` keeps the figures of each shape
in a file as soon as they are measured, and leaves out what the file has already; with
``--document PAGE`` it also writes the table.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import posetlib as pl
from bench.documents import environment, with_lines
from bench.harness import Bench, text_of
from bench.index_parts import micros
from bench.shapes import SHAPES, SHARP, filters_of
from bench.turns import Step, steps, take_turns

FILTERS = 10_000
STRUCTURES = {"fp": "FP", "nrf": "NRF"}
NEVER_SLOWER = 1.05
FIVE_TIMES = 0.2
A_TENTH = 0.1
AGAINST_RANGES = 2
AGAINST_IDS = 1.5


class Figures(NamedTuple):
    """What adding filters of one shape to one structure takes: for each add, at the end."""

    #: Microseconds of the processor, with an index and without.
    indexed: float
    walking: float
    #: Covering tests, with an index and without.
    indexed_tests: float
    walking_tests: float


def run(bench: Bench) -> None:
    """Hold each shape against a walk, and two of them against plainer shapes."""
    size = bench.size(FILTERS, 60)
    report(bench, size, {shape: measure(shape, size) for shape in SHAPES})


def measure(shape: str, size: int) -> dict[str, Figures]:
    """Return the figures of one shape, for each structure."""
    filters = filters_of(shape, size)
    return {short: _last_tenth(short, filters) for short in STRUCTURES}


def measure_into(path: Path, size: int, minutes: float) -> dict[str, dict[str, Figures]]:
    """Return the figures of all shapes, measuring those that a file does not have yet.

    None is begun after so many minutes: then there are figures of some shapes only.
    """
    stop = time.monotonic() + 60 * minutes
    kept: dict[str, dict[str, list[float]]] = (
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    )
    for shape in SHAPES:
        if shape not in kept and time.monotonic() < stop:
            kept[shape] = {short: list(each) for short, each in measure(shape, size).items()}
            path.write_text(json.dumps(kept, indent=1), encoding="utf-8")
            print(shape, kept[shape], file=sys.stderr, flush=True)
    return {
        shape: {short: Figures(*kept[shape][short]) for short in STRUCTURES}
        for shape in SHAPES
        if shape in kept
    }


def report(bench: Bench, size: int, measured: dict[str, dict[str, Figures]]) -> None:
    """Show the figures of all shapes, and hold them against what is promised."""
    rows = []
    for shape, figures in measured.items():
        row: list[float | str] = [shape]
        for short, name in STRUCTURES.items():
            each = figures[short]
            _promise(bench, shape, name, each)
            row += [
                each.indexed,
                each.walking / each.indexed,
                each.indexed_tests,
                each.walking_tests,
            ]
        rows.append(row)
    columns = [
        f"{name} {what}"
        for name in STRUCTURES.values()
        for what in ("µs/add", "times as fast", "tests/add", "tests/add, walk")
    ]
    title = f"add, the last {size // 10:,} of {size:,}, by shape"
    bench.table(title, ("shape", *columns), rows, "Times as fast as the same table without index.")
    for short, name in STRUCTURES.items():
        if short == "fp" and {"stock-like", _RANGES} <= measured.keys():
            ratio = measured["stock-like"][short].indexed / measured[_RANGES][short].indexed
            what = f"{name} add, {size:,} stock-like: times closed ranges of two attributes"
            bench.promise(what, ratio, at_most=AGAINST_RANGES)
        if {_NAMES, "numeric ids"} <= measured.keys():
            ratio = measured[_NAMES][short].indexed / measured["numeric ids"][short].indexed
            what = f"{name} add, {size:,} names with a common prefix: times numeric ids"
            bench.promise(what, ratio, at_most=AGAINST_IDS)


def lines_for_document(bench: Bench) -> list[str]:
    """Return the table of a run in Markdown, and after it the promises that were not kept."""
    (table,) = bench.tables
    lines = [f"| {' | '.join(table.columns)} |", "| --- |" + " ---: |" * (len(table.columns) - 1)]
    lines += [f"| {' | '.join(map(text_of, row))} |" for row in table.rows]
    broken = [promise for promise in bench.promises if not promise.kept]
    lines += ["", f"{len(bench.promises) - len(broken)} of {len(bench.promises)} promises kept."]
    if broken:
        lines += ["Not kept:", ""]
        lines += [f"- {one.what}: {text_of(one.measured)}, {one.bounds}" for one in broken]
    return lines


_RANGES = "closed ranges of two attributes"
_NAMES = "names with a common prefix"


def _promise(bench: Bench, shape: str, name: str, figures: Figures) -> None:
    ratio = figures.indexed / figures.walking
    what = f"{name} add, {shape}: time with an index to time without"
    bench.promise(what, ratio, at_most=FIVE_TIMES if shape in SHARP else NEVER_SLOWER)
    if shape in SHARP:
        what = f"{name} add, {shape}: tests with an index to tests without"
        share = figures.indexed_tests / figures.walking_tests if figures.walking_tests else 0.0
        bench.promise(what, share, at_most=A_TENTH)


def _last_tenth(structure: str, filters: list[pl.Filter]) -> Figures:
    """Return the figures of the last tenth of some adds."""
    last = len(filters) // 10
    pairs = list(zip(filters, range(len(filters)), strict=True))
    made = pl.make_table(structure)
    for pair in pairs[:-last]:
        made.add(*pair)
    # To add all of them without an index would take many minutes: it goes on from a snapshot.
    tables = {"index": made, "walk": made.snapshot().restore(index=False)}

    def entrant(table: pl.Table) -> list[Step]:
        table.counters.reset()
        return steps(table.add, pairs[-last:], max(1, last // 20))

    taken = take_turns({name: partial(entrant, table) for name, table in tables.items()}, rounds=1)
    tests = [tables[name].counters.covering_tests / last for name in ("index", "walk")]
    return Figures(micros(taken["index"], last), micros(taken["walk"], last), *tests)


def main() -> None:
    """Measure what a file does not have yet, then show everything."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_shapes", description=__doc__)
    parser.add_argument("file", type=Path, help="where the figures of each shape are kept, as JSON")
    parser.add_argument("--document", type=Path, metavar="PAGE", help="write the table there, too")
    parser.add_argument("--size", type=int, default=FILTERS, help="filters of each shape")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="begin no shape after so many"
    )
    options = parser.parse_args()
    bench = Bench()
    report(bench, options.size, measure_into(options.file, options.size, options.minutes))
    for promise in bench.promises:
        print(promise)
    if options.document:
        page = options.document.read_text(encoding="utf-8")
        lines = [environment(), "", *lines_for_document(bench)]
        options.document.write_text(with_lines(page, "shapes", lines), encoding="utf-8")


if __name__ == "__main__":
    main()

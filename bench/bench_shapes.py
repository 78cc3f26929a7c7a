"""The shapes that people subscribe with: adding with an index, and without one.

The last tenth of 10,000 different filters, one interface for each, in turns with a table that has
no index. A table of the figures goes into the documents (see ``bench.documents``).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import posetlib as pl
from bench.harness import Bench
from bench.index_parts import micros
from bench.shapes import SHAPES, SHARP, filters_of
from bench.turns import Step, steps, take_turns

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
    size = bench.size(10_000, 60)
    report(bench, size, {shape: measure(shape, size) for shape in SHAPES})


def measure(shape: str, size: int) -> dict[str, Figures]:
    """Return the figures of one shape, for each structure."""
    filters = filters_of(shape, size)
    return {short: _last_tenth(short, filters) for short in STRUCTURES}


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
        if short == "fp":
            ratio = measured["stock-like"][short].indexed / measured[_RANGES][short].indexed
            what = f"{name} add, {size:,} stock-like: times closed ranges of two attributes"
            bench.promise(what, ratio, at_most=AGAINST_RANGES)
        ratio = measured[_NAMES][short].indexed / measured["numeric ids"][short].indexed
        what = f"{name} add, {size:,} names with a common prefix: times numeric ids"
        bench.promise(what, ratio, at_most=AGAINST_IDS)


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
    snapshot = made.snapshot()
    tables: dict[str, pl.Table] = {}

    def entrant(name: str, index: bool) -> list[Step]:
        table = tables[name] = snapshot.restore(index=index)
        # What is made when a table is first asked is no part of an add.
        for pair in pairs[-5:]:
            table.add(*pair)
        for pair in pairs[-5:]:
            table.remove(*pair)
        table.counters.reset()
        return steps(table.add, pairs[-last:], max(1, last // 20))

    taken = take_turns(
        {"index": partial(entrant, "index", True), "walk": partial(entrant, "walk", False)},
        rounds=1,
    )
    tests = [tables[name].counters.covering_tests / last for name in ("index", "walk")]
    return Figures(micros(taken["index"], last), micros(taken["walk"], last), *tests)

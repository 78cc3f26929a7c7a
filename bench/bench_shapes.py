"""The shapes that people subscribe with: adding with an index, and without one.

The last tenth of 10,000 different filters, one interface for each, in turns with a table that has
no index. A table of the figures goes into the documents (see ``bench.documents``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

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


def run(bench: Bench) -> None:
    """Hold each shape against a walk, and two of them against plainer shapes."""
    size = bench.size(10_000, 60)
    with_index: dict[tuple[str, str], float] = {}
    rows = []
    for shape in SHAPES:
        filters = filters_of(shape, size)
        row: list[float | str] = [shape]
        for short, name in STRUCTURES.items():
            taken, tests = _last_tenth(short, filters)
            with_index[shape, short] = taken["index"]
            ratio = taken["index"] / taken["walk"]
            _promise(bench, shape, name, ratio, tests)
            row += [taken["index"], taken["walk"] / taken["index"], *tests]
        rows.append(row)
    columns = [
        f"{name} {what}"
        for name in STRUCTURES.values()
        for what in ("µs/add", "times as fast", "tests/add", "tests/add, walk")
    ]
    title = f"add, the last {size // 10:,} of {size:,}, by shape"
    bench.table(title, ("shape", *columns), rows, "Times as fast as the same table without index.")
    for short, name in STRUCTURES.items():
        stock, ranges = with_index["stock-like", short], with_index[_RANGES, short]
        if short == "fp":
            what = f"{name} add, {size:,} stock-like: times closed ranges of two attributes"
            bench.promise(what, stock / ranges, at_most=AGAINST_RANGES)
        names, ids = with_index[_NAMES, short], with_index["numeric ids", short]
        what = f"{name} add, {size:,} names with a common prefix: times numeric ids"
        bench.promise(what, names / ids, at_most=AGAINST_IDS)


_RANGES = "closed ranges of two attributes"
_NAMES = "names with a common prefix"


def _promise(bench: Bench, shape: str, name: str, ratio: float, tests: Sequence[float]) -> None:
    what = f"{name} add, {shape}: time with an index to time without"
    bench.promise(what, ratio, at_most=FIVE_TIMES if shape in SHARP else NEVER_SLOWER)
    if shape in SHARP:
        what = f"{name} add, {shape}: tests with an index to tests without"
        bench.promise(what, tests[0] / tests[1] if tests[1] else 0.0, at_most=A_TENTH)


def _last_tenth(structure: str, filters: list[pl.Filter]) -> tuple[dict[str, float], list[float]]:
    """Return the microseconds of an add, with an index and without, and the tests of each."""
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
    return {name: micros(seconds, last) for name, seconds in taken.items()}, tests

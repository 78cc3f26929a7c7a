"""Cost against the number of filters, for every structure and baseline: what the plots show.

``make bench ARGS="scaling --plots docs/images"`` draws them, log–log, one figure for each operation
with both loads side by side. What would take minutes is left out, so that lines end at different
sizes. Adding and asking for the order is with one interface per filter, matching with 10.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import posetlib as pl
from bench.baselines import CoverScan, boxes_of, rtree_index, tree_covers
from bench.bench_matching import Scan, events, tree_matcher
from bench.harness import Bench, Table
from bench.index_parts import LOADS, NAMES, Load
from bench.turns import each_row, steps

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
QUICK_SIZES = (20, 40)
# A structure grows no further when the adds up to the next size would take longer than this.
PATIENCE = 20.0
WALKING_LIMIT = 10_000
# A tree of geometries is asked for the order one shape at a time, and looks at each.
TREE_LIMIT = 10_000

#: Operation -> its title; each has a table, and a figure, for every load.
OPERATIONS = {
    "add": "add",
    "order": "covering + covered",
    "match": "match, one notification",
    "match-many": "match_many, per notification",
}

#: In the order in which they are shown: with an index, without, and what they are held against.
SERIES = (
    *NAMES.values(),
    *(f"{name}, walking" for name in NAMES.values()),
    "linear",
    "numpy scan",
    "rtree",
    "STRtree",
)

#: Operation -> series -> n -> microseconds.
Figures = dict[str, dict[str, dict[int, float]]]


def run(bench: Bench) -> None:
    """Fill every structure with each load, and ask it at each size."""
    sizes = QUICK_SIZES if bench.quick else SIZES
    for kind in LOADS:
        figures: Figures = {name: defaultdict(dict) for name in OPERATIONS}
        some = Load.make(kind, sizes[-1] + 200, seed=1)
        _measure_order(figures, some, sizes)
        _measure_matching(figures, some, sizes)
        for operation, title in OPERATIONS.items():
            found = figures[operation]
            series = {name: found[name] for name in SERIES if name in found}
            rows = [(n, *(each.get(n) for each in series.values())) for n in sizes]
            bench.table(f"{title}: {kind}, µs", ("n", *series), rows)


def plot(tables: Sequence[Table], folder: Path) -> list[Path]:
    """Draw the tables of a run, and return the files that were written."""
    from bench.plots import log_log  # noqa: PLC0415 - only the benchmarks' extra brings matplotlib

    by_title = {table.title: table for table in tables}
    return [
        log_log(
            folder / f"performance-{operation}.svg",
            f"{title}: cost against the number of filters",
            {kind: by_title[f"{title}: {kind}, µs"] for kind in LOADS},
        )
        for operation, title in OPERATIONS.items()
    ]


def _micros(call: Callable[[], object], operations: int, rounds: int = 1) -> float:
    """Return the time of one operation, in the round that was disturbed least."""
    gc.disable()
    try:
        least = min(_seconds(call) for _ in range(rounds))
    finally:
        gc.enable()
    return least / operations * 1e6


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _middle(add: Callable[..., object], rows: Sequence[Sequence[Any]]) -> float:
    """Return the time of one add, in the middle one of ten parts: none can be done again."""
    part = len(rows) // 10
    return median(_micros(step, part) for step in steps(add, rows, part))


def _grow(
    add: Callable[..., object],
    rows: Sequence[Sequence[Any]],
    sizes: Sequence[int],
    at: Callable[[int, float], None],
) -> None:
    """Add rows up to each size, and say there what one of the last adds took."""
    done, micros = 0, 0.0
    for n in sizes:
        if micros * (n - done) > PATIENCE * 1e6:
            return
        late = n - max(min(200, (n - done) // 20 * 10), 10)
        each_row(add, rows[done:late])
        micros = _middle(add, rows[late:n])
        at(n, micros)
        done = n


# -- updates and the order -------------------------------------------------------------------------


def _measure_order(figures: Figures, some: Load, sizes: Sequence[int]) -> None:
    pairs = some.pairs()
    boxes = boxes_of(some.columns)
    asked = Load.make(some.kind, 50, seed=2)
    asked_boxes = boxes_of(asked.columns)
    adds, order = figures["add"], figures["order"]

    def ask(table: pl.Table, filters: Sequence[pl.Filter]) -> float:
        def both() -> None:
            for filter in filters:
                table.covering(filter)
                table.covered(filter)

        return _micros(both, len(filters), rounds=5)

    for short, name in NAMES.items():
        table = pl.make_table(short)

        def at(n: int, micros: float, name: str = name, table: pl.Table = table) -> None:
            adds[name][n] = micros
            order[name][n] = ask(table, asked.filters)
            if n <= WALKING_LIMIT:
                walking = table.snapshot(index=False).restore(index=False)
                order[f"{name}, walking"][n] = ask(walking, asked.filters[:5])
                new = [(filter, f"new {i}") for i, filter in enumerate(asked.filters[:20])]
                adds[f"{name}, walking"][n] = _middle(walking.add, new)

        _grow(table.add, pairs, sizes, at)

    linear = pl.LinearTable(index=False)

    def linear_at(n: int, micros: float) -> None:
        adds["linear"][n] = micros
        order["linear"][n] = ask(linear, asked.filters[:5])

    _grow(linear.add, pairs, sizes, linear_at)
    _grow(
        rtree_index().insert,
        list(enumerate(boxes)),
        sizes,
        adds["rtree"].__setitem__,
    )
    import shapely  # noqa: PLC0415 - only the benchmarks' extra brings it

    shapes = [shapely.box(*box) for box in asked_boxes[:10]]
    for n in sizes:
        first = {
            name: (low[:n].copy(), high[:n].copy()) for name, (low, high) in some.columns.items()
        }
        scan = CoverScan(first)
        order["numpy scan"][n] = _micros(
            lambda scan=scan: [scan.both(box) for box in asked_boxes], len(asked_boxes), rounds=5
        )
        if n <= TREE_LIMIT:
            both = tree_covers(first)
            order["STRtree"][n] = _micros(
                lambda both=both: [both(shape) for shape in shapes], len(shapes), rounds=5
            )


# -- matching --------------------------------------------------------------------------------------


def _measure_matching(figures: Figures, some: Load, sizes: Sequence[int]) -> None:
    codes, pairs = some.distributed()
    batch = events(1_000, seed=3)
    one, many = figures["match"], figures["match-many"]

    def ask(series: str, n: int, matcher: Any, few: int, several: int) -> None:
        matcher.match_many(batch[:several])
        one[series][n] = _micros(
            lambda: [matcher.match(event) for event in batch[:few]], few, rounds=5
        )
        many[series][n] = _micros(lambda: matcher.match_many(batch[:several]), several, rounds=5)

    for short, name in NAMES.items():
        table = pl.make_table(short)

        def at(n: int, _: float, name: str = name, table: pl.Table = table) -> None:
            ask(name, n, table, 100, len(batch))
            if n <= WALKING_LIMIT:
                walking = table.snapshot(index=False).restore(index=False)
                ask(f"{name}, walking", n, walking, 10, 10)

        _grow(table.add, pairs, sizes, at)

    linear = pl.LinearTable(index=False)
    _grow(linear.add, pairs, sizes, lambda n, _: ask("linear", n, linear, 10, 10))
    index = rtree_index()

    def rtree_at(n: int, _: float) -> None:
        one["rtree"][n] = _micros(
            lambda: [
                {codes[i] for i in index.intersection((e["x"], e["y"], e["x"], e["y"]))}
                for e in batch[:20]
            ],
            20,
            rounds=5,
        )

    _grow(index.insert, list(enumerate(boxes_of(some.columns))), sizes, rtree_at)
    for n in sizes:
        first = {name: (low[:n], high[:n]) for name, (low, high) in some.columns.items()}
        ask("numpy scan", n, Scan(first, codes[:n]), 100, 100)
        tree = tree_matcher(first, codes[:n])
        many["STRtree"][n] = _micros(lambda tree=tree: tree(batch), len(batch), rounds=5)

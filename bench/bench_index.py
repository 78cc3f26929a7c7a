"""The index under the tables: updates, the order, matching, growth, memory, mixed constraints.

The loads are those of the matching benchmark: *uniform*, with many coverings, and *narrow*, where
most filters are incomparable. One interface per filter, except where notifications are matched,
which is with 10 of them. Every figure is taken next to its baseline.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import posetlib as pl
from bench.baselines import (
    CoverScan,
    as_pairs,
    boxes_of,
    covering_pairs,
    edges_by_networkx,
    edges_by_packed_bits,
    edges_of,
    rtree_index,
    tree_covers,
)
from bench.bench_matching import (
    INTERFACES,
    Columns,
    Event,
    Scan,
    events,
    load,
    mixed_events,
    mixed_filter,
    tree_matcher,
)
from bench.harness import Bench
from bench.turns import Step, each_row, steps, take_turns

LOADS = ("uniform", "narrow")
NAMES = {"fp": "FP", "pf": "PF", "bf": "BF", "nrf": "NRF"}

Pairs = list[tuple[pl.Filter, Hashable]]
Seconds = NDArray[np.float64]


@dataclass(frozen=True)
class Load:
    """Filters of one of the loads, in the forms that the competitors want."""

    kind: str
    columns: Columns
    filters: list[pl.Filter]

    @classmethod
    def make(cls, kind: str, size: int, seed: int) -> Load:
        """Return so many filters."""
        columns = load(kind, size, seed)
        return cls(kind, columns, pl.filters_from_columns(columns))

    def pairs(self) -> Pairs:
        """Return the filters, each with an interface of its own."""
        return [(filter, number) for number, filter in enumerate(self.filters)]


def run(bench: Bench) -> None:
    """Hold the tables against everything that does part of their job."""
    for kind in LOADS:
        _run_forest_updates(bench, kind)
    for size in (2_000, 10_000):
        _run_poset_updates(bench, size)
    _run_build(bench)
    for kind in LOADS:
        _run_order(bench, kind)
        _run_matching(bench, kind)
        _run_growth(bench, kind)
    _run_memory(bench)
    _run_mixed(bench)


def _micros(seconds: Seconds, operations: int) -> float:
    return float(seconds.sum()) / operations * 1e6


def _warm(table: pl.Table, few: Pairs) -> pl.Table:
    """Return a table that has what it makes when it is first asked: no part of an update's cost."""
    each_row(table.add, few)
    each_row(table.remove, few)
    return table


# -- updates ---------------------------------------------------------------------------------------

INSERT_BAR = {"uniform": 1.3, "narrow": 1.0}


def _run_forest_updates(bench: Bench, kind: str) -> None:
    """Add all, then remove half, in turns with rtree."""
    size = bench.size(10_000, 300)
    last, chunk = size // 10, size // 100
    some = Load.make(kind, size, seed=1)
    boxes = list(enumerate(boxes_of(some.columns)))
    half = np.random.default_rng(2).permutation(size)[: size // 2].tolist()

    def tree() -> list[Step]:
        index = rtree_index()
        gone = [boxes[i] for i in half]
        return steps(index.insert, boxes, chunk) + steps(index.delete, gone, chunk)

    def table(structure: str) -> list[Step]:
        made = pl.make_table(structure)
        pairs = some.pairs()
        gone = [pairs[i] for i in half]
        return steps(made.add, pairs, chunk) + steps(made.remove, gone, chunk)

    forests = ("pf", "bf", "nrf")
    taken = take_turns(
        {"rtree": tree, **{NAMES[each]: partial(table, each) for each in forests}},
        rounds=bench.size(5, 1),
    )
    rows = []
    adding = size // chunk
    bases: tuple[float, float] | None = None
    for name, seconds in taken.items():
        late = _micros(seconds[adding - last // chunk : adding], last)
        whole = _micros(seconds[:adding], size)
        # What is removed was added, half of it in the second half: the same sizes, back again.
        own = _micros(seconds[adding // 2 : adding], size - size // 2)
        removing = _micros(seconds[adding:], len(half))
        bases = bases or (late, whole)
        rows.append(
            (name, late, late / bases[0], whole, whole / bases[1], removing, removing / own)
        )
        if name in ("PF", "NRF"):
            what = f"{name} add, n = {size:,}, {kind}: time of rtree's insert"
            bench.promise(what, late / bases[0], at_most=INSERT_BAR[kind])
            what = f"{name} remove, half of {size:,}, {kind}: times its own add"
            bench.promise(what, removing / own, at_most=2)
    bench.table(
        f"add, and remove half: {kind}, n = {size:,}, one interface per filter",
        (
            "structure",
            f"µs/add, last {last:,}",
            "to rtree",
            "µs/add, all",
            "to rtree",
            "µs/remove",
            "to own add",
        ),
        rows,
    )


POSET_BAR = {2_000: 3, 10_000: 10}


def _run_poset_updates(bench: Bench, full: int) -> None:
    """Add the last few hundred of a poset and remove as many, in turns with one that walks."""
    size, last = bench.size(full, full // 50), bench.size(200, 20)
    chunk = last // 20
    some = Load.make("uniform", size, seed=1)
    pairs = some.pairs()
    ready, late = pairs[:-last], pairs[-last:]
    snapshot = pl.FiltersPoset.build(ready).snapshot()
    gone = [pairs[i] for i in np.random.default_rng(2).permutation(size)[:last].tolist()]

    def poset(index: bool) -> list[Step]:
        table = _warm(snapshot.restore(index=index), late[:5])
        return steps(table.add, late, chunk) + steps(table.remove, gone, chunk)

    taken = take_turns(
        {"FP, walking": partial(poset, False), "FP": partial(poset, True)},
        rounds=bench.size(3 if full < 5_000 else 2, 1),
    )
    adding = last // chunk
    figures = {
        name: (_micros(seconds[:adding], last), _micros(seconds[adding:], last))
        for name, seconds in taken.items()
    }
    walking, indexed = figures["FP, walking"], figures["FP"]
    bench.table(
        f"FP, the last {last} adds and as many removals: uniform, n = {size:,}",
        ("structure", "µs/add", "times as fast", "µs/remove", "to own add"),
        [
            (name, add, walking[0] / add, remove, remove / add)
            for name, (add, remove) in figures.items()
        ],
    )
    bench.promise(
        f"FP add, n = {size:,}, uniform: times as fast as walking",
        walking[0] / indexed[0],
        at_least=POSET_BAR[full],
    )
    bench.promise(
        f"FP remove, n = {size:,}, uniform: times its own add", indexed[1] / indexed[0], at_most=5
    )


# -- bulk loading ----------------------------------------------------------------------------------


def _run_build(bench: Bench) -> None:
    size = bench.size(5_000, 100)
    some = Load.make("uniform", size, seed=1)
    pairs = some.pairs()
    edges = as_pairs(edges_by_packed_bits(some.columns).tolist())
    assert edges == edges_of(pl.FiltersPoset.build(pairs), some.filters)
    title = f"build: uniform, n = {size:,}, {len(edges):,} edges"
    with bench.comparison(title, "From columns to edges, and from filters to a table.") as timed:
        timed.case("numpy, packed bits", lambda: edges_by_packed_bits(some.columns))
        timed.case("FP.build", lambda: pl.FiltersPoset.build(pairs))
        timed.case("NRF.build", lambda: pl.NonRedundantForest.build(pairs))
        timed.case("PF.build", lambda: pl.PosetForest.build(pairs))
    bench.promise(
        f"FP.build, {size:,} uniform: time of numpy and packed bits",
        timed.cases[1].best / timed.cases[0].best,
        at_most=1.5,
    )

    size = bench.size(1_000, 50)
    few = Load.make("uniform", size, seed=1)
    pairs = few.pairs()
    known = covering_pairs(few.columns)
    assert as_pairs(edges_by_networkx(known).edges) == edges_of(
        pl.FiltersPoset.build(pairs), few.filters
    )
    with bench.comparison(
        f"build against networkx: uniform, n = {size:,}",
        f"networkx is given the {len(known):,} pairs that cover one another.",
    ) as timed:
        timed.case("networkx, transitive reduction", lambda: edges_by_networkx(known))
        timed.case("numpy, packed bits", lambda: edges_by_packed_bits(few.columns))
        timed.case("FP.build", lambda: pl.FiltersPoset.build(pairs))


# -- the order -------------------------------------------------------------------------------------


def _run_order(bench: Bench, kind: str) -> None:
    """Ask for all that covers a filter, and for all that it covers."""
    size = bench.size(10_000, 100)
    some = Load.make(kind, size, seed=1)
    pairs = some.pairs()
    asked = Load.make(kind, bench.size(200, 5), seed=2)
    boxes = boxes_of(asked.columns)
    scan = CoverScan(some.columns)
    tables = {name: _class(short).build(pairs) for short, name in NAMES.items()}
    walking = tables["NRF"].snapshot(index=False).restore(index=False)
    for filter, box in zip(asked.filters[:20], boxes, strict=False):
        above, below = (tuple(some.filters[i] for i in found) for found in scan.both(box))
        for table in (*tables.values(), walking):
            assert (table.covering(filter), table.covered(filter)) == (above, below)

    def ask(table: pl.Table, filters: Sequence[pl.Filter]) -> None:
        for filter in filters:
            table.covering(filter)
            table.covered(filter)

    items = np.array(some.filters, dtype=object)
    with bench.comparison(f"covering and covered: {kind}, n = {size:,}") as timed:
        timed.case(
            "numpy scan, numbers", lambda: [scan.both(box) for box in boxes], operations=len(boxes)
        )
        for name, table in tables.items():
            timed.case(name, partial(ask, table, asked.filters), operations=len(boxes))
        timed.case(
            "numpy scan, filters",
            lambda: [[tuple(items[found]) for found in scan.both(box)] for box in boxes],
            operations=len(boxes),
        )
        _tree_case(timed, some, asked, bench.size(20, 2))
        few = asked.filters[: bench.size(10, 2)]
        timed.case("NRF, walking", partial(ask, walking, few), operations=len(few))
    for case in timed.cases[1 : 1 + len(tables)]:
        bench.promise(
            f"{case.name} covering + covered, n = {size:,}, {kind}: time of the numpy scan",
            case.best / timed.cases[0].best,
            at_most=2,
        )


def _tree_case(timed: Any, some: Load, asked: Load, count: int) -> None:
    import shapely  # noqa: PLC0415 - only the benchmarks' extra brings it

    both = tree_covers(some.columns)
    shapes = [shapely.box(*box) for box in boxes_of(asked.columns)[:count]]
    timed.case("STRtree, numbers", lambda: [both(shape) for shape in shapes], operations=count)


def _class(short: str) -> type[pl.Table]:
    return type(pl.make_table(short))


# -- matching --------------------------------------------------------------------------------------

ONE_BAR = {"uniform": 3, "narrow": 1}
MANY_BAR = {"uniform": 15, "narrow": 5}
TREE_BAR = {"narrow": 1.2}
UPDATES_BAR = 3


def _run_matching(bench: Bench, kind: str) -> None:
    """Match in tables of 10 interfaces; the local one holds every pair, the others eliminate."""
    size = bench.size(10_000, 100)
    some = Load.make(kind, size, seed=1)
    codes = np.random.default_rng(2).integers(0, INTERFACES, size)
    pairs: Pairs = [(f, f"I{code}") for f, code in zip(some.filters, codes, strict=True)]
    batch = events(bench.size(2_000, 20), seed=3)
    several, few = batch[: bench.size(200, 20)], batch[: bench.size(20, 2)]

    scan, tree = Scan(some.columns, codes), tree_matcher(some.columns, codes)
    tables = {
        "PF, local": pl.PosetForest.build(pairs, local=True),
        **{name: _class(short).build(pairs) for short, name in NAMES.items()},
    }
    walking = tables["NRF"].snapshot(index=False).restore(index=False)
    answers = scan.match_many(batch)
    assert tree(batch) == answers
    for table in tables.values():
        assert table.match_many(batch) == answers
        assert [table.match(event) for event in several] == answers[: len(several)]
    assert walking.match_many(few) == answers[: len(few)]
    held = ", ".join(f"{name} {len(table):,}" for name, table in tables.items())
    title = f"{kind}, n = {size:,}, {INTERFACES} interfaces"
    note = f"Filters held: {held}."

    def each(match: Callable[[Event], object], some: Sequence[Event]) -> Callable[[], object]:
        return lambda: [match(event) for event in some]

    with bench.comparison(f"match: {title}", note) as timed:
        timed.case("numpy scan", each(scan.match, several), operations=len(several))
        for name, table in tables.items():
            timed.case(name, each(table.match, several), operations=len(several))
        timed.case("NRF, walking", each(walking.match, few), operations=len(few))
    for case in timed.cases[1 : 1 + len(tables)]:
        bench.promise(
            f"{case.name} match, n = {size:,}, {kind}: times as fast as the numpy scan",
            timed.cases[0].best / case.best,
            at_least=ONE_BAR[kind],
        )

    with bench.comparison(f"match_many: {title}", note) as timed:
        timed.case("numpy scan", lambda: scan.match_many(several), operations=len(several))
        timed.case("STRtree, bulk", lambda: tree(batch), operations=len(batch))
        for name, table in tables.items():
            timed.case(name, partial(table.match_many, batch), operations=len(batch))
        timed.case("NRF, walking", lambda: walking.match_many(few), operations=len(few))
    for case in timed.cases[2 : 2 + len(tables)]:
        what = f"{case.name} match_many, n = {size:,}, {kind}: times as fast as"
        bench.promise(
            f"{what} the numpy scan", timed.cases[0].best / case.best, at_least=MANY_BAR[kind]
        )
        if kind in TREE_BAR:
            bench.promise(
                f"{what} STRtree", timed.cases[1].best / case.best, at_least=TREE_BAR[kind]
            )
    _run_matching_between_updates(bench, some, codes, pairs, batch, title)


def _run_matching_between_updates(
    bench: Bench,
    some: Load,
    codes: NDArray[np.intp],
    pairs: Pairs,
    batch: list[Event],
    title: str,
) -> None:
    """Replace 10 filters before each 100 notifications, for as long as it takes."""
    fresh = Load.make(some.kind, 4 * len(pairs), seed=4)
    hundreds = [batch[i : i + 100] for i in range(0, len(batch), 100)]
    rounds = bench.size(10, 2)

    def scanning() -> Callable[[], None]:
        scan = Scan(some.columns, codes)
        batches, rows = cycle(hundreds), cycle(range(len(pairs)))
        sources = cycle(range(len(fresh.filters)))

        def go() -> None:
            for hundred in islice(batches, rounds):
                for row in islice(rows, 10):
                    scan.replace(row, fresh.columns, next(sources))
                scan.match_many(hundred)

        return go

    def table(made: Any) -> Callable[[], None]:
        batches, rows = cycle(hundreds), cycle(range(len(pairs)))
        held, new = list(pairs), cycle(fresh.filters)
        made.match_many(hundreds[0])

        def go() -> None:
            for hundred in islice(batches, rounds):
                for row in islice(rows, 10):
                    # A pair that was eliminated is not there to be removed.
                    made.discard(*held[row])
                    held[row] = (next(new), held[row][1])
                    made.add(*held[row])
                made.match_many(hundred)

        return go

    operations = rounds * len(hundreds[0])
    with bench.comparison(
        f"match_many with 10 adds and 10 removals before each 100: {title}",
        "Microseconds for each notification, updates included.",
    ) as timed:
        timed.case("numpy scan", scanning(), operations=operations)
        timed.case("BitmapMatcher", table(pl.BitmapMatcher(pairs)), operations=operations)
        local = pl.PosetForest.build(pairs, local=True)
        timed.case("PF, local", table(local), operations=operations)
        nrf = pl.NonRedundantForest.build(pairs)
        timed.case("NRF", table(nrf), operations=operations)
    for case in timed.cases[1:]:
        bench.promise(
            f"{case.name} match_many between updates, n = {len(pairs):,}, {some.kind}: "
            "times as fast as the numpy scan",
            timed.cases[0].best / case.best,
            at_least=UPDATES_BAR,
        )


# -- growth and memory -----------------------------------------------------------------------------


def _run_growth(bench: Bench, kind: str) -> None:
    """Add the last of 10,000 in turns with the last of ten times as many."""
    small, last = bench.size(10_000, 100), bench.size(2_000, 20)
    large = 10 * small
    some = Load.make(kind, large, seed=1)
    pairs = some.pairs()

    boxes = list(enumerate(boxes_of(some.columns)))

    def grown(add: Callable[..., object], rows: Sequence[Sequence[Any]]) -> list[Step]:
        each_row(add, rows[:-last])
        return steps(add, rows[-last:], last // 20)

    taken = take_turns(
        {
            f"{name} {size}": partial(grown, make(), rows[:size])
            for name, make, rows in (
                ("NRF", lambda: pl.make_table("nrf").add, pairs),
                ("rtree", lambda: rtree_index().insert, boxes),
            )
            for size in (small, large)
        },
        rounds=1,
    )
    # Each step once: so the middle one of the twenty, which no disturbance has moved.
    each = {name: float(np.median(seconds)) * 20 / last * 1e6 for name, seconds in taken.items()}
    rows = [(name, each[f"{name} {small}"], each[f"{name} {large}"]) for name in ("NRF", "rtree")]
    bench.table(
        f"add, the last {last:,}: {kind}",
        ("structure", f"µs at {small:,}", f"µs at {large:,}", "growth"),
        [(*row, row[2] / row[1]) for row in rows],
    )
    bench.promise(
        f"NRF add, {small:,} to {large:,}, {kind}: growth of its cost",
        rows[0][2] / rows[0][1],
        at_most=3,
    )


_MEMORY = """
import gc
import sys

import numpy as np

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6

bare = resident()
import posetlib as pl
from bench.bench_matching import load
imported = resident()
table = pl.NonRedundantForest()
for number, filter in enumerate(pl.filters_from_columns(load(sys.argv[1], int(sys.argv[2]), 1))):
    table.add(filter, f"I{number}")
del filter
print(imported - bare, resident() - bare)
"""


def _run_memory(bench: Bench) -> None:
    """Fill a forest in an interpreter of its own, and see what it has grown by."""
    size = bench.size(100_000, 100)
    if not sys.platform.startswith("linux"):
        return
    rows = []
    for kind in LOADS:
        done = subprocess.run(
            [sys.executable, "-c", _MEMORY, kind, str(size)],
            check=True,
            cwd=Path(__file__).parents[1],
            capture_output=True,
            text=True,
        )
        imported, grown = map(float, done.stdout.split())
        rows.append((kind, imported, grown - imported, grown))
        bench.promise(
            f"NRF memory, {size:,} filters, {kind}: MB over an interpreter with numpy",
            grown,
            at_most=150,
        )
    bench.table(
        f"memory of an NRF, {size:,} filters, as many interfaces, matcher not built: MB",
        ("load", "imports", "filters and table", "over an interpreter with numpy"),
        rows,
    )


# -- constraints of every kind ---------------------------------------------------------------------

MIXED_ADD_BAR = 5
MIXED_MATCH_BAR = 10


def _run_mixed(bench: Bench) -> None:
    """Hold tables with an index against tables that walk, on selective constraints of all kinds."""
    size, last = bench.size(10_000, 120), bench.size(200, 20)
    random = np.random.default_rng(5)
    made: dict[pl.Filter, None] = {}
    while len(made) < size:
        made[mixed_filter(random)] = None
    pairs: Pairs = [(filter, number) for number, filter in enumerate(made)]
    ready, late = pairs[:-last], pairs[-last:]
    # As many as are asked for: an answer of a thousand interfaces should be made, not remembered.
    batches = [mixed_events(bench.size(200, 10), random) for _ in range(bench.size(40, 2))]
    batch = batches[0]
    few = batch[: bench.size(5, 1)]
    title = f"1 to 3 of 10 attributes, mixed kinds, n = {len(pairs):,}, as many interfaces"

    tables = {short: _class(short).build(ready) for short in NAMES}
    snapshots = {short: table.snapshot(index=False) for short, table in tables.items()}

    def adding(short: str, index: bool) -> list[Step]:
        table = _warm(snapshots[short].restore(index=index), late[:5])
        return steps(table.add, late, last // 10)

    rows = []
    for short, name in NAMES.items():
        taken = take_turns(
            {"walking": partial(adding, short, False), "index": partial(adding, short, True)},
            rounds=bench.size(2, 1),
        )
        walking, indexed = (_micros(taken[each], last) for each in ("walking", "index"))
        rows.append((name, walking, indexed, walking / indexed))
        bench.promise(
            f"{name} add, mixed constraints, n = {len(pairs):,}: times as fast as walking",
            walking / indexed,
            at_least=MIXED_ADD_BAR,
        )
    bench.table(
        f"add, the last {last}: {title}",
        ("structure", "µs/add, walking", "µs/add", "times as fast"),
        rows,
    )

    walkers = {short: snapshot.restore(index=False) for short, snapshot in snapshots.items()}
    answers = tables["pf"].match_many(batch)
    matched = sum(map(len, answers)) / len(batch)
    for short, name in NAMES.items():
        table, walker = tables[short], walkers[short]
        assert table.match_many(batch) == answers
        assert walker.match_many(few) == answers[: len(few)]
        with bench.comparison(
            f"match_many, {name}: {title}", f"{matched:,.0f} interfaces in an answer."
        ) as timed:
            timed.case(f"{name}, walking", partial(walker.match_many, few), operations=len(few))
            waiting = cycle(batches)
            timed.case(
                name,
                lambda match=table.match_many, waiting=waiting: match(next(waiting)),
                operations=len(batch),
            )
        bench.promise(
            f"{name} match_many, mixed constraints, n = {len(pairs):,}: times as fast as walking",
            timed.cases[0].best / timed.cases[1].best,
            at_least=MIXED_MATCH_BAR,
        )

"""Updates of tables with an index, next to rtree and to tables that walk; growth, and memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import posetlib as pl
from bench.baselines import boxes_of, rtree_index
from bench.bench_matching import INTERFACES
from bench.harness import Bench
from bench.index_parts import LOADS, NAMES, Load, micros, warm
from bench.turns import Step, each_row, steps, take_turns

__all__ = [
    "run_few_interfaces",
    "run_forest_updates",
    "run_growth",
    "run_memory",
    "run_poset_updates",
]

INSERT_BAR = {"uniform": 1.3, "narrow": 1.0}
# The seeds of the draws; sizes of lists and cells were chosen on the first.
DRAWS = (1, 11, 12, 13, 14)


def run_forest_updates(bench: Bench, kind: str) -> None:
    """Add all, then remove half, in turns with rtree; the median of several draws of the load.

    One draw will not do: whether the last adds of it meet a sieve that is laid out anew is chance.
    """
    size = bench.size(10_000, 300)
    last = size // 10
    draws = [
        _updates_of_a_draw(bench, kind, size, last, seed) for seed in DRAWS[: bench.size(5, 1)]
    ]
    rows: list[tuple[Any, ...]] = []
    for name in draws[0]:
        figures = np.median([draw[name] for draw in draws], axis=0).tolist()
        rows.append((name, *figures))
        late, removing = figures[1], figures[5]
        if name in ("PF", "NRF"):
            what = f"{name} add, n = {size:,}, {kind}: time of rtree's insert"
            bench.promise(what, late, at_most=INSERT_BAR[kind])
            what = f"{name} remove, half of {size:,}, {kind}: times its own add"
            bench.promise(what, removing, at_most=2)
    bench.table(
        f"add, and remove half: {kind}, n = {size:,}, one interface per filter, {len(draws)} draws",
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


def _updates_of_a_draw(
    bench: Bench, kind: str, size: int, last: int, seed: int
) -> dict[str, tuple[float, ...]]:
    """Return the microseconds and ratios of each competitor."""
    # Turns of several hundred: in shorter ones all work from caches that the others have filled.
    chunk = size // 20
    some = Load.make(kind, size, seed)
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
        rounds=bench.size(2, 1),
    )
    found: dict[str, tuple[float, ...]] = {}
    adding = size // chunk
    bases: tuple[float, float] | None = None
    for name, seconds in taken.items():
        late = micros(seconds[adding - last // chunk : adding], last)
        whole = micros(seconds[:adding], size)
        # What is removed was added, half of it in the second half: the same sizes, back again.
        own = micros(seconds[adding // 2 : adding], size - size // 2)
        removing = micros(seconds[adding:], len(half))
        bases = bases or (late, whole)
        found[name] = (late, late / bases[0], whole, whole / bases[1], removing, removing / own)
    return found


def run_few_interfaces(bench: Bench, kind: str) -> None:
    """Add all for a few interfaces, which hold many each and lose what says no more."""
    size = bench.size(10_000, 300)
    last, chunk = size // 10, size // 100
    some = Load.make(kind, size, seed=1)
    _, pairs = some.distributed()
    tables: dict[str, pl.Table] = {}

    def entrant(short: str) -> list[Step]:
        tables[short] = pl.make_table(short)
        return steps(tables[short].add, pairs, chunk)

    taken = take_turns({short: partial(entrant, short) for short in NAMES}, rounds=1)
    bench.table(
        f"add: {kind}, n = {size:,}, {INTERFACES} interfaces",
        ("structure", "filters left", f"µs/add, last {last:,}", "µs/add, all"),
        [
            (
                NAMES[short],
                len(tables[short]),
                micros(seconds[-(last // chunk) :], last),
                micros(seconds, size),
            )
            for short, seconds in taken.items()
        ],
    )


POSET_BAR = {2_000: 3, 10_000: 10}


def run_poset_updates(bench: Bench, full: int) -> None:
    """Add the last few hundred of a poset and remove as many, in turns with one that walks."""
    size, last = bench.size(full, full // 50), bench.size(200, 20)
    chunk = last // 20
    some = Load.make("uniform", size, seed=1)
    pairs = some.pairs()
    ready, late = pairs[:-last], pairs[-last:]
    snapshot = pl.FiltersPoset.build(ready).snapshot()
    gone = [pairs[i] for i in np.random.default_rng(2).permutation(size)[:last].tolist()]

    def poset(index: bool) -> list[Step]:
        table = warm(snapshot.restore(index=index), late[:5])
        return steps(table.add, late, chunk) + steps(table.remove, gone, chunk)

    taken = take_turns(
        {"FP, walking": partial(poset, False), "FP": partial(poset, True)},
        rounds=bench.size(3 if full < 5_000 else 2, 1),
    )
    adding = last // chunk
    figures = {
        name: (micros(seconds[:adding], last), micros(seconds[adding:], last))
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


# -- growth and memory -----------------------------------------------------------------------------


def run_growth(bench: Bench, kind: str) -> None:
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


def run_memory(bench: Bench) -> None:
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

"""The index under the tables: updates, the order, matching, growth, memory, mixed constraints.

The loads are those of the matching benchmark: *uniform*, with many coverings, and *narrow*, where
most filters are incomparable. One interface per filter, except where notifications are matched,
which is with 10 of them. Every figure is taken next to its baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

import posetlib as pl
from bench.baselines import (
    CoverScan,
    as_pairs,
    boxes_of,
    covering_pairs,
    edges_by_networkx,
    edges_by_packed_bits,
    edges_of,
    tree_covers,
)
from bench.harness import Bench, Comparison
from bench.index_matching import run_matching, run_mixed
from bench.index_parts import LOADS, NAMES, Load, class_of
from bench.index_updates import (
    run_few_interfaces,
    run_forest_updates,
    run_growth,
    run_memory,
    run_poset_updates,
)


def run(bench: Bench) -> None:
    """Hold the tables against everything that does part of their job."""
    for kind in LOADS:
        run_forest_updates(bench, kind)
        run_few_interfaces(bench, kind)
    for size in (2_000, 10_000):
        run_poset_updates(bench, size)
    _run_build(bench)
    for kind in LOADS:
        _run_order(bench, kind)
        run_matching(bench, kind)
        run_growth(bench, kind)
    run_memory(bench)
    run_mixed(bench)


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
    tables = {name: class_of(short).build(pairs) for short, name in NAMES.items()}
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


def _tree_case(timed: Comparison, some: Load, asked: Load, count: int) -> None:
    import shapely  # noqa: PLC0415 - only the benchmarks' extra brings it

    both = tree_covers(some.columns)
    shapes = [shapely.box(*box) for box in boxes_of(asked.columns)[:count]]
    timed.case("STRtree, numbers", lambda: [both(shape) for shape in shapes], operations=count)

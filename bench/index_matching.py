"""Matching in tables with an index, next to a scan, a tree and tables that walk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle

import numpy as np

import posetlib as pl
from bench.bench_matching import (
    INTERFACES,
    Churn,
    Event,
    Pairs,
    Scan,
    events,
    mixed_events,
    mixed_filter,
    tree_matcher,
)
from bench.harness import Bench
from bench.index_parts import NAMES, Load, Numbers, class_of, micros, warm
from bench.turns import Step, steps, take_turns

__all__ = ["run_matching", "run_mixed"]

ONE_BAR = {"uniform": 3, "narrow": 1}
MANY_BAR = {"uniform": 15, "narrow": 5}
TREE_BAR = {"narrow": 1.2}
UPDATES_BAR = 3


def run_matching(bench: Bench, kind: str) -> None:
    """Match in tables of 10 interfaces; the local one holds every pair, the others eliminate."""
    size = bench.size(10_000, 100)
    some = Load.make(kind, size, seed=1)
    codes, pairs = some.distributed()
    batch = events(bench.size(2_000, 20), seed=3)
    several, few = batch[: bench.size(200, 20)], batch[: bench.size(20, 2)]

    scan, tree = Scan(some.columns, codes), tree_matcher(some.columns, codes)
    tables = {
        "PF, local": pl.PosetForest.build(pairs, local=True),
        **{name: class_of(short).build(pairs) for short, name in NAMES.items()},
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
    bench: Bench, some: Load, codes: Numbers, pairs: Pairs, batch: list[Event], title: str
) -> None:
    churn = Churn(some.kind, some.columns, codes, pairs, batch)
    with bench.comparison(
        f"match_many with 10 adds and 10 removals before each 100: {title}",
        "Microseconds for each notification, updates included.",
    ) as timed:
        timed.case("numpy scan", churn.scanning(), operations=churn.operations)
        for name, matcher in {
            "BitmapMatcher": pl.BitmapMatcher(pairs),
            "PF, local": pl.PosetForest.build(pairs, local=True),
            "NRF": pl.NonRedundantForest.build(pairs),
            "FP": pl.FiltersPoset.build(pairs),
        }.items():
            timed.case(name, churn.matching(matcher), operations=churn.operations)
    for case in timed.cases[1:]:
        bench.promise(
            f"{case.name} match_many between updates, n = {len(pairs):,}, {some.kind}: "
            "times as fast as the numpy scan",
            timed.cases[0].best / case.best,
            at_least=UPDATES_BAR,
        )


# -- constraints of every kind ---------------------------------------------------------------------

MIXED_ADD_BAR = 5
MIXED_MATCH_BAR = 10


def run_mixed(bench: Bench) -> None:
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

    tables = {short: class_of(short).build(ready) for short in NAMES}
    snapshots = {short: table.snapshot(index=False) for short, table in tables.items()}

    def adding(short: str, index: bool, few: Pairs) -> list[Step]:
        table = warm(snapshots[short].restore(index=index), few)
        return steps(table.add, late, last // 10)

    rows = []
    # A table that was restored has yet to make sieves that one has which was filled by adding.
    for state, before in (("at work", late), ("just restored", late[:5])):
        for short, name in NAMES.items():
            taken = take_turns(
                {
                    "walking": partial(adding, short, False, before),
                    "index": partial(adding, short, True, before),
                },
                rounds=bench.size(2, 1),
            )
            walking, indexed = (micros(taken[each], last) for each in ("walking", "index"))
            rows.append((f"{name}, {state}", walking, indexed, walking / indexed))
            bench.promise(
                f"{name} add, mixed constraints, n = {len(pairs):,}, {state}: "
                "times as fast as walking",
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

"""Merging: root sets with and without it, as in chapter 8 of the thesis, and what it costs.

The tables of the figures have a number in each column, so that they can be drawn from the JSON.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import posetlib as pl
from bench.experiments import show_experiment
from bench.harness import Bench
from bench.merging_loads import boxes, ranges
from posetlib.generating import Parameters, generated_filters
from posetlib.generating.thesis_loads import PREDICATE_SCHEMAS, predicate_filters
from posetlib.merging.counting import ConstraintCounts
from workloads.experiments import dynamic_merging, one_shot_merging

#: How often a random load of the figures is drawn anew; the thesis has 60 and 20.
REPLICATIONS = 5
DOMAINS = {"x": (0, 100), "y": (0, 100)}


def run(bench: Bench) -> None:
    """Hold the costs against their baselines, then draw up the figures."""
    one_shot(bench)
    following(bench)
    union(bench)
    choice(bench)
    subsumption(bench)
    lazy(bench)
    candidates(bench)
    figures(bench)


def load(kind: str, count: int, decimals: int = 3) -> list[pl.Filter]:
    """Return distinct filters of a generated load."""
    wanted: dict[pl.Filter, None] = {}
    rows = 2 * count
    made = Parameters(filters=rows, kind=kind, seed=1, decimals=decimals)
    for text in generated_filters(made, range(rows)).texts():
        wanted[pl.parse_filter(text)] = None
    return list(wanted)[:count]


def pairs(filters: list[pl.Filter]) -> list[tuple[pl.Filter, int]]:
    """Return filters with an interface for each."""
    return list(zip(filters, range(len(filters)), strict=True))


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a call took, and what it returned."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


# -- what it costs ---------------------------------------------------------------------------------


def one_shot(bench: Bench) -> None:
    """Merge many filters in one go, against building a poset of them."""
    count = bench.size(10_000, 200)
    for kind in ("narrow", "uniform"):
        filters = load(kind, count)
        rows = pairs(filters)
        with bench.comparison(f"One-shot merging of {count:,} {kind} filters, 2-D") as case:
            case.case("FiltersPoset.build", partial(pl.FiltersPoset.build, rows))
            case.case("merge_all, perfect", partial(pl.merge_all, filters), at_most=20)
            case.case("merge_all, perfect, subsume", partial(pl.merge_all, filters, subsume=True))


def following(bench: Bench) -> None:
    """Replace filters of a table with a merger that follows it, and without."""
    count, updates = bench.size(10_000, 200), bench.size(1_000, 20)
    options: dict[str, dict[str, Any] | None] = {
        "bare table": None,
        "perfect": {},
        "perfect, lazy": {"lazy": 10},
        "perfect, subsume": {"subsume": True},
        "imperfect, loss at most 0.1": {"perfect": False, "domains": DOMAINS, "max_loss": 0.1},
    }
    for kind in ("uniform", "narrow"):
        filters = load(kind, count + updates)

        def ready(chosen: dict[str, Any] | None, filters: list[pl.Filter] = filters) -> Any:
            table = pl.NonRedundantForest.build(pairs(filters[:count]))
            return table, None if chosen is None else pl.RootMerger(table, **chosen)

        def replace(subject: Any, filters: list[pl.Filter] = filters) -> None:
            table = subject[0]
            for i in range(updates):
                table.remove(filters[i], i)
                table.add(filters[count + i], count + i)

        with bench.comparison(f"An update of an NRF of {count:,} {kind} filters") as case:
            for name, chosen in options.items():
                case.case(
                    name,
                    replace,
                    operations=2 * updates,
                    setup=partial(ready, chosen),
                    at_most=5 if name == "perfect" else None,
                )


def union(bench: Bench) -> None:
    """Ask whether 10,000 roots together cover a filter, against one scan of their columns."""
    count = bench.size(10_000, 200)
    roots = list(pl.FiltersPoset.build((one, 0) for one in ranges(4 * count, 1, 1)).roots())
    roots = roots[:count]
    table = pl.NonRedundantForest.build(pairs(roots))
    low = [np.array([float(one.terms[axis].low) for one in roots]) for axis in (0, 1)]
    high = [np.array([float(one.terms[axis].high) for one in roots]) for axis in (0, 1)]

    def scan(filters: list[pl.Filter]) -> None:
        for one in filters:
            x, y = one.terms
            np.flatnonzero(
                (low[0] <= x.high) & (high[0] >= x.low) & (low[1] <= y.high) & (high[1] >= y.low)
            )

    def ask(filters: Any, some: list[pl.Filter]) -> None:
        for one in some:
            pl.union_covers(filters, one)

    def ask_anew(lists: list[list[pl.Filter]], some: list[pl.Filter]) -> None:
        for i, one in enumerate(some):
            pl.union_covers(lists[i % 2], one)

    for name, width in (("small", 0.3), ("middling", 1.0), ("large", 4.0)):
        asked = ranges(bench.size(100, 3), width, 7)
        found = [pl.union_covers(table, one) for one in asked]
        with bench.comparison(
            f"Do {len(roots):,} roots together cover a {name} filter?",
            f"{sum(map(bool, found))} of {len(asked)} are covered, "
            f"{sum(len(each.coverers) == 1 for each in found)} of them by one root.",
        ) as case:
            case.case("one numpy scan", partial(scan, asked), operations=len(asked))
            case.case(
                "union_covers, a table", partial(ask, table, asked), operations=len(asked),
                at_most=50,
            )  # fmt: skip
            case.case(
                "union_covers, a list", partial(ask, roots, asked), operations=len(asked),
                at_most=50,
            )  # fmt: skip
            case.case(
                "union_covers, another list each time",
                partial(ask_anew, [roots, roots[::-1]], asked),
                operations=len(asked),
            )


def choice(bench: Bench) -> None:
    """Count merged root sets by the choice of partner [T A.5].

    In small boxes between few integers many filters have partners in both attributes.
    """
    replications = bench.size(REPLICATIONS, 1)
    loads: dict[str, Callable[[int, int], list[pl.Filter]]] = {
        schema: partial(predicate_filters, schema) for schema in PREDICATE_SCHEMAS
    }
    loads["boxes in 0–9"] = partial(boxes, 9)
    loads["boxes in 0–19"] = partial(boxes, 19)
    rows = []
    for name, make in loads.items():
        for count in (bench.size(200, 20), bench.size(500, 40)):
            found = []
            for seed in range(replications):
                filters = make(count, seed)
                roots = pl.FiltersPoset.build((one, 0) for one in filters).roots()
                first, best = (pl.merge_all(filters, choice=how) for how in ("first", "best"))
                texts = (sum(len(str(one)) for one in some) for some in (first, best))
                found.append([len(roots), len(first), len(best), *texts])
            rows.append((name, count, *(float(mean) for mean in np.mean(found, axis=0))))
    bench.table(
        "The choice of partner: merged roots, and the length of their text",
        ("load", "filters", "roots", "first", "best", "text, first", "text, best"),
        rows,
    )


def subsumption(bench: Bench) -> None:
    """Count the roots that others cover together, which no covering of pairs can see."""
    rows = []
    for kind in ("uniform", "narrow"):
        for count in (bench.size(1_000, 30), bench.size(10_000, 60)):
            filters = load(kind, count)
            table = pl.NonRedundantForest.build(pairs(filters))
            roots = len(table.roots())
            taken, merger = seconds(partial(pl.RootMerger, table, subsume=True))
            perfect = len(pl.merge_all(filters))
            rows.append((kind, count, roots, perfect, len(merger.merged()), taken))
    for schema in PREDICATE_SCHEMAS:
        filters = predicate_filters(schema, bench.size(500, 40), 0)
        table = pl.NonRedundantForest.build(pairs(filters))
        taken, merger = seconds(partial(pl.RootMerger, table, subsume=True))
        merged = len(pl.merge_all(filters))
        rows.append((schema, len(filters), len(table.roots()), merged, len(merger.merged()), taken))
    bench.table(
        "Roots that others cover together",
        ("load", "filters", "roots", "merged", "merged, subsumed", "seconds"),
        rows,
    )


def lazy(bench: Bench) -> None:
    """Count what neighbours are sent when half of the filters go, with lazy deletion and without.

    After each removal 10 notifications come in.
    """
    # Narrow ranges between integers: many merge, and what they leave open is seen.
    filters = load("narrow", bench.size(600, 40), decimals=0)
    rows = []
    for threshold in (None, 1, 10, 100):
        table = pl.NonRedundantForest.build(pairs(filters))
        merger = pl.RootMerger(table, lazy=threshold)
        sent = [0, 0]

        def count(added: list[pl.Filter], gone: list[pl.Filter], sent: list[int] = sent) -> None:
            sent[0] += len(added)
            sent[1] += len(gone)

        merger.listen(count)
        rng = random.Random(5)
        order = list(range(len(filters)))
        rng.shuffle(order)
        false_positives = notifications = 0
        start = time.perf_counter()
        for i in order[: len(order) // 2]:
            table.discard(filters[i], i)
            for _ in range(10):
                notification = {name: rng.randint(0, 100) for name in "xy"}
                notifications += 1
                false_positives += merger.note(notification)
        rows.append(
            ("never" if threshold is None else str(threshold), *sent, false_positives,
             notifications, time.perf_counter() - start)
        )  # fmt: skip
    bench.table(
        f"Lazy deletion: half of {len(filters)} filters go",
        ("after so many", "sent", "taken back", "false positives", "notifications", "seconds"),
        rows,
        "'never' is without laziness: a merger is dissolved as soon as a component goes.",
    )


def candidates(bench: Bench) -> None:
    """Find what covers, is covered by, and merges with a filter: by counting, and by index."""
    count = bench.size(2_000, 60)
    for name, filters in (
        ("7 integer predicates on 2 attributes", predicate_filters("2 attributes", count, 1)),
        ("narrow ranges", load("narrow", count)),
    ):
        counts = ConstraintCounts()
        for one in filters:
            counts.add(one)
        table = pl.NonRedundantForest.build(pairs(filters))
        asked = filters[:: max(1, count // 50)]

        def by_pairs(filters: list[pl.Filter] = filters, asked: list[pl.Filter] = asked) -> None:
            for one in asked:
                _ = [other for other in filters if other.covers(one)]

        def ask(call: Callable[[pl.Filter], Any], asked: list[pl.Filter] = asked) -> None:
            for one in asked:
                call(one)

        with bench.comparison(f"Candidates among {count:,} filters: {name}") as case:
            case.case("covering, all pairs", by_pairs, operations=len(asked))
            case.case("covering, counting", partial(ask, counts.covering), operations=len(asked))
            case.case("covering, index", partial(ask, table.covering), operations=len(asked))
            case.case("covered, counting", partial(ask, counts.covered), operations=len(asked))
            case.case("covered, index", partial(ask, table.covered), operations=len(asked))
            case.case("merging, counting", partial(ask, counts.merging), operations=len(asked))


# -- the figures -----------------------------------------------------------------------------------


def figures(bench: Bench) -> None:
    """Draw figures 8.4, 8.5 and 8.7 to 8.9: the same measurements as the experiments'."""
    for experiment in (one_shot_merging.EXPERIMENT, dynamic_merging.EXPERIMENT):
        show_experiment(bench, experiment)

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
from bench.harness import Bench
from bench.merging_loads import SCHEMAS, predicates, ranges
from posetlib.generating import Parameters, generated_filters
from posetlib.merging.counting import ConstraintCounts

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
    figure_8_4(bench)
    figure_8_5(bench)
    figures_8_7_to_8_9(bench)


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
            case.case("union_covers, a list", partial(ask, roots, asked), operations=len(asked))


def choice(bench: Bench) -> None:
    """Count merged root sets by the choice of partner [T A.5]."""
    rows = []
    for schema in SCHEMAS:
        for count in (bench.size(200, 20), bench.size(500, 40)):
            sizes = {"first": 0, "best": 0}
            pieces = {"first": 0, "best": 0}
            roots = 0
            for seed in range(bench.size(REPLICATIONS, 1)):
                filters = predicates(schema, count, seed)
                roots += len(pl.FiltersPoset.build((one, 0) for one in filters).roots())
                for name in sizes:
                    merged = pl.merge_all(filters, choice=name)
                    sizes[name] += len(merged)
                    pieces[name] += sum(len(str(one)) for one in merged)
            n = bench.size(REPLICATIONS, 1)
            rows.append(
                (schema, count, roots / n, sizes["first"] / n, sizes["best"] / n,
                 pieces["first"] / n, pieces["best"] / n)
            )  # fmt: skip
    bench.table(
        "The choice of partner: merged roots, and the length of their text",
        ("schema", "filters", "roots", "first", "best", "text, first", "text, best"),
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
    for schema in SCHEMAS:
        filters = predicates(schema, bench.size(500, 40), 0)
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
    filters = predicates("2 attributes", bench.size(300, 20), 3)
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
                notification = {name: rng.randint(0, 100) for name in "xyz"}
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
        ("7 integer predicates on 2 attributes", predicates("2 attributes", count, 1)),
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


def by_interface(filters: list[pl.Filter], interfaces: int) -> dict[str, list[pl.Filter]]:
    """Return filters that are given to interfaces in turns."""
    found: dict[str, list[pl.Filter]] = {}
    for i, one in enumerate(filters):
        found.setdefault(f"I{i % interfaces}", []).append(one)
    return found


def filled(structure: str, sets: dict[str, list[pl.Filter]]) -> pl.Table[pl.Filter]:
    """Return a table to which the filters of each interface were added."""
    table: pl.Table[pl.Filter] = pl.make_table(structure)
    for interface, some in sets.items():
        for one in some:
            table.add(one, interface)
    return table


#: The columns of figures 8.4 and 8.5 after the first one; times are means.
ONE_SHOT = (
    "roots",
    "merged roots",
    "ms to merge",
    "ms to add, nrf",
    "ms to add, nrf, merged",
    "ms to add, fp",
    "ms to add, fp, merged",
    "µs to match",
    "µs to match, merged",
    "µs to match, naive",
)


def one_shot_row(bench: Bench, count: int, interfaces: int) -> list[float]:
    """Return the mean of each figure in ``ONE_SHOT`` over some random loads."""
    rows = []
    for seed in range(bench.size(REPLICATIONS, 1)):
        filters = predicates("1–3 attributes", count, seed, typed=True)
        # What neighbours send: the minimal cover of each interface, or that merged.
        covers = {
            interface: list(pl.FiltersPoset.build((one, 0) for one in some).roots())
            for interface, some in by_interface(filters, interfaces).items()
        }
        merging, merged = seconds(partial(merged_sets, covers))
        figures: dict[str, float] = {"ms to merge": merging * 1e3}
        rng = random.Random(seed)
        notifications = [
            {"type": "T", **{name: rng.randint(0, 100) for name in "xyz"}}
            for _ in range(bench.size(200, 5))
        ]
        for name, sets in (("", covers), (", merged", merged)):
            for structure in ("nrf", "fp"):
                taken, table = seconds(partial(filled, structure, sets))
                figures[f"ms to add, {structure}{name}"] = taken * 1e3
                if structure == "nrf":
                    figures["merged roots" if name else "roots"] = len(table.roots())
                    taken, _ = seconds(partial(walk_all, table, notifications))
                    figures[f"µs to match{name}"] = taken / len(notifications) * 1e6
        taken, _ = seconds(partial(match_naively, filters, notifications))
        figures["µs to match, naive"] = taken / len(notifications) * 1e6
        rows.append([figures[column] for column in ONE_SHOT])
    return [float(mean) for mean in np.mean(rows, axis=0)]


def merged_sets(covers: dict[str, list[pl.Filter]]) -> dict[str, list[pl.Filter]]:
    """Merge the filters of each interface."""
    return {interface: list(pl.merge_all(some)) for interface, some in covers.items()}


def walk_all(table: pl.Table[pl.Filter], notifications: list[dict[str, Any]]) -> None:
    """Match by walks, as the thesis does, and not by a matcher."""
    for each in notifications:
        table.match_account(each)


def match_naively(filters: list[pl.Filter], notifications: list[dict[str, Any]]) -> None:
    """Test each notification against each filter."""
    for each in notifications:
        for one in filters:
            one.matches(each)


def figure_8_4(bench: Bench) -> None:
    """Root set sizes and times against the number of filters, with 3 interfaces."""
    counts = (100, 200, 300, 400, 500) if not bench.quick else (20,)
    bench.table(
        "Figure 8.4: one-shot merging, 3 interfaces",
        ("filters", *ONE_SHOT),
        [(count, *one_shot_row(bench, count, 3)) for count in counts],
        "Type and 1–3 attributes, one of 7 integer predicates each; minimal covers of interfaces.",
    )


def figure_8_5(bench: Bench) -> None:
    """Root set sizes and times against the number of interfaces, with 500 filters."""
    counts = (1, 3, 6, 9, 15, 25) if not bench.quick else (2,)
    bench.table(
        "Figure 8.5: one-shot merging, 500 filters",
        ("interfaces", *ONE_SHOT),
        [(count, *one_shot_row(bench, bench.size(500, 20), count)) for count in counts],
    )


def dynamic_row(bench: Bench, schema: str, count: int) -> list[float]:
    """Return root set sizes, and the time of adds, and of a removal with an add in its stead."""
    rows = []
    changed = bench.size(100, 5)
    for seed in range(bench.size(REPLICATIONS, 1)):
        filters = predicates(schema, count + changed, seed)
        row: list[float] = []
        for merging in (False, True):
            table = pl.PosetForest()
            merger = pl.RootMerger(table) if merging else None
            taken, _ = seconds(partial(add_all, table, filters[:count]))
            again, _ = seconds(partial(replace_some, table, filters, count))
            size = len(table.roots() if merger is None else merger.merged())
            row += [size, taken / count * 1e6, again / changed * 1e6]
        rows.append(row)
    return [float(mean) for mean in np.mean(rows, axis=0)]


def add_all(table: pl.Table[pl.Filter], filters: list[pl.Filter]) -> None:
    """Add filters, each for an interface of its own."""
    for i, one in enumerate(filters):
        table.add(one, i)


def replace_some(table: pl.Table[pl.Filter], filters: list[pl.Filter], count: int) -> None:
    """Let the first filters go, and add those beyond the count in their stead."""
    for i, one in enumerate(filters[count:]):
        table.remove(filters[i], i)
        table.add(one, count + i)


def figures_8_7_to_8_9(bench: Bench) -> None:
    """Root set sizes and times of a merger that follows a forest, against the number of filters."""
    counts = (100, 200, 300, 400, 500) if not bench.quick else (20,)
    for number, schema in enumerate(SCHEMAS, 7):
        bench.table(
            f"Figure 8.{number}: dynamic merging, {schema}",
            ("filters", "roots", "µs/add", "µs/replace",
             "merged roots", "µs/add, merged", "µs/replace, merged"),
            [(count, *dynamic_row(bench, schema, count)) for count in counts],
        )  # fmt: skip

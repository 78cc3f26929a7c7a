"""DoubleForest as in chapters 6 and 7 of the thesis; rate limits; two options of the forests.

Profiles and queries are ranges of two attributes with both ends uniform in [0, 100], five sets of
each; a figure has the mean of the five, and for tests their standard deviation. The tests of a
DoubleForest are those of its two forests and those between them. All tables have a first column to
plot against, and a column for each line of the plot.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bench.double_sets import NumpySets, TestedSets
from bench.forest_options import WAYS, eliminating_in, size_ordered
from bench.harness import Bench
from bench.table_loads import SCHEMAS, distributed, filters, scenario
from posetlib.filters import Filter, parse_filter
from posetlib.profiles import DoubleForest
from posetlib.routing import RateControl
from posetlib.tables import make_table

REPLICATIONS = 5
SEMANTICS = ("cover", "overlap")
#: Name -> what makes it.
VARIANTS: dict[str, Callable[[str], Any]] = {
    "set-based": TestedSets,
    "unoptimised": lambda semantics: DoubleForest(semantics, lower=False, upper=False, index=False),
    "optimised": lambda semantics: DoubleForest(semantics, index=False),
    "optimised, index": DoubleForest,
    "set-based, numpy": NumpySets,
}
#: Those that test filters one by one, and count it.
COUNTED = ("set-based", "unoptimised", "optimised", "optimised, index")
LEVELS = (0, 25, 50, 75, 100)

#: A filter, and whether it is a profile.
Addition = tuple[Filter, bool]
#: Tests and milliseconds so far, after each part of the additions.
Costs = list[tuple[int, float]]


@dataclass(frozen=True)
class Load:
    """What one replication adds: profiles, queries, and as many others of each."""

    profiles: list[Filter]
    queries: list[Filter]
    other_profiles: list[Filter]
    other_queries: list[Filter]

    def mixed(self) -> list[Addition]:
        """Return profiles and queries in random order."""
        some = [*((item, True) for item in self.profiles), *((q, False) for q in self.queries)]
        random.Random(len(some)).shuffle(some)
        return some


@cache
def load(count: int, seed: int) -> Load:
    """Return the filters of a replication."""
    made = list(filters("2-D", 4 * count, random.Random(f"double-{count}-{seed}")))
    return Load(*(made[i * count : (i + 1) * count] for i in range(4)))


def tests_of(structure: Any) -> int:
    """Return the tests that were counted so far."""
    if isinstance(structure, NumpySets):
        return 0
    return (
        structure.tests if isinstance(structure, TestedSets) else structure.counters.covering_tests
    )


def fill(structure: Any, additions: Sequence[Addition], parts: int = 1) -> Costs:
    """Add filters, part by part; return what it cost up to the end of each part."""
    first, seconds = tests_of(structure), 0.0
    costs: Costs = []
    for part in range(parts):
        some = additions[len(additions) * part // parts : len(additions) * (part + 1) // parts]
        start = time.perf_counter()
        for item, is_profile in some:
            (structure.add_profile if is_profile else structure.add_query)(item, "i")
        seconds += time.perf_counter() - start
        costs.append((tests_of(structure) - first, seconds * 1e3))
    return costs


def show(
    bench: Bench, title: str, axis: str, points: Sequence[int], costs: dict[str, list[Costs]]
) -> None:
    """Show tests and time against an axis: for each variant the means of its replications."""
    counted = [name for name in costs if name in COUNTED]
    columns = [axis, *(text for name in counted for text in (name, f"± {name}"))]
    rows = []
    for i, point in enumerate(points):
        row: list[float] = [point]
        for name in counted:
            tests = [each[i][0] for each in costs[name]]
            row += [round(statistics.mean(tests)), round(statistics.pstdev(tests))]
        rows.append(row)
    bench.table(f"{title}: covering tests", columns, rows)
    bench.table(
        f"{title}: milliseconds",
        [axis, *costs],
        [
            [point, *(statistics.mean(each[i][1] for each in costs[name]) for name in costs)]
            for i, point in enumerate(points)
        ],
    )


def run(bench: Bench) -> None:
    """Draw the figures of both chapters, then what belongs beside them."""
    count = bench.size(1_000, 16)
    replications = bench.size(REPLICATIONS, 1)
    most: list[float] = []
    for figure, semantics in (("6.6", "cover"), ("6.7", "overlap")):
        for variable in ("profiles", "queries"):
            costs = _one_side(semantics, variable, count, replications)
            title = f"Figure {figure}: {semantics}, {count:,} of the others, variable {variable}"
            show(bench, title, variable, [count * i // 5 for i in range(1, 6)], costs)
            most += _against_unoptimised(costs)
    for semantics in SEMANTICS:
        costs = _both_sides(semantics, count, replications)
        title = f"Figure 6.8: {semantics}, variable profiles and queries"
        show(bench, title, "profiles and queries", [2 * count * i // 5 for i in range(1, 6)], costs)
        most += _against_unoptimised(costs)
        if not bench.quick and semantics == "cover":
            _promise_tests(bench, costs)
    for figure, preloads_others in (("7.2", False), ("7.3", True)):
        for semantics in SEMANTICS:
            costs = _preloaded(semantics, count, replications, preloads_others=preloads_others)
            which = "other filters" if preloads_others else "a share of the filters"
            title = f"Figure {figure}: {semantics}, {which} preloaded"
            show(bench, title, "% preloaded", LEVELS, costs)
            most += _against_unoptimised(costs)
            if not preloads_others and not bench.quick:
                tests = max(
                    costs[name][i][-1][0]
                    for name in costs
                    if name != "set-based"
                    for i in range(replications)
                )
                bench.promise(f"{semantics}, all preloaded: covering tests", tests, at_most=0)
    if not bench.quick:
        bench.promise("every load: covering tests, optimised to unoptimised", max(most), at_most=1)
    _run_times(bench, count)
    _run_rates(bench)
    _run_forest_options(bench)


def _one_side(
    semantics: str, variable: str, count: int, replications: int
) -> dict[str, list[Costs]]:
    costs: dict[str, list[Costs]] = {name: [] for name in VARIANTS}
    for seed in range(replications):
        one = load(count, seed)
        profiles = [(item, True) for item in one.profiles]
        queries = [(item, False) for item in one.queries]
        first, then = (queries, profiles) if variable == "profiles" else (profiles, queries)
        for name, make in VARIANTS.items():
            structure = make(semantics)
            fill(structure, first)
            costs[name].append(fill(structure, then, 5))
    return costs


def _both_sides(semantics: str, count: int, replications: int) -> dict[str, list[Costs]]:
    costs: dict[str, list[Costs]] = {name: [] for name in VARIANTS}
    for seed in range(replications):
        for name, make in VARIANTS.items():
            costs[name].append(fill(make(semantics), load(count, seed).mixed(), 5))
    return costs


def _preloaded(
    semantics: str, count: int, replications: int, *, preloads_others: bool
) -> dict[str, list[Costs]]:
    """Return the cost of adding all filters, for each level of preloading."""
    names = ("set-based", "unoptimised", "optimised", "optimised, index")
    costs: dict[str, list[Costs]] = {name: [] for name in names}
    for seed in range(replications):
        one = load(count, seed)
        profiles = one.other_profiles if preloads_others else one.profiles
        queries = one.other_queries if preloads_others else one.queries
        rng = random.Random(seed)
        for name in names:
            # The set-based case is not preloaded [T 7.2]: one measurement serves all levels.
            levels = LEVELS if name != "set-based" else (0,)
            found = []
            for level in levels:
                structure = VARIANTS[name](semantics)
                if level:
                    share = count * level // 100
                    structure.preload(rng.sample(profiles, share), rng.sample(queries, share))
                found.append(fill(structure, one.mixed())[0])
            costs[name].append(found * (len(LEVELS) // len(found)))
    return costs


def _against_unoptimised(costs: dict[str, list[Costs]]) -> list[float]:
    """Return the tests of the optimised forest as shares of the unoptimised one's."""
    return [
        mine[0] / max(its[0], 1)
        for ours, theirs in zip(costs["optimised"], costs["unoptimised"], strict=True)
        for mine, its in zip(ours, theirs, strict=True)
    ]


def _promise_tests(bench: Bench, costs: dict[str, list[Costs]]) -> None:
    total = {name: sum(each[-1][0] for each in costs[name]) for name in COUNTED}
    for name, bar in (("optimised, index", 1 / 3), ("optimised", 0.4)):
        bench.promise(
            f"cover, 1,000 + 1,000: covering tests, {name} to set-based",
            total[name] / total["set-based"],
            at_most=bar,
        )


def _run_times(bench: Bench, count: int) -> None:
    """Compare the time of all adds in turns."""
    for semantics in SEMANTICS:
        additions = load(count, 0).mixed()
        with bench.comparison(
            f"Adding {count:,} profiles and {count:,} queries, {semantics}: per add"
        ) as comparison:
            for name in ("set-based, numpy", "optimised, index", "optimised", "set-based"):
                comparison.case(
                    name,
                    lambda structure, additions=additions: fill(structure, additions),
                    operations=len(additions),
                    setup=lambda name=name, semantics=semantics: VARIANTS[name](semantics),
                )

            def preloaded(semantics: str = semantics) -> DoubleForest[Filter]:
                structure: DoubleForest[Filter] = DoubleForest(semantics)
                structure.preload(load(count, 0).profiles, load(count, 0).queries)
                return structure

            comparison.case(
                "optimised, index, all preloaded",
                lambda structure, additions=additions: fill(structure, additions),
                operations=len(additions),
                setup=preloaded,
            )


def _run_rates(bench: Bench) -> None:
    """Compare a matching walk with limits and one without, on tables of the same shape."""
    count = bench.size(1_000, 30)
    rng = random.Random(5)
    notifications = [
        {"x": rng.uniform(0, 100), "y": rng.uniform(0, 100)} for _ in range(bench.size(100, 5))
    ]
    for interfaces, at_most in ((None, 1.5), (10, None)):
        some = scenario("2-D", count, interfaces).added
        plain, limited = (make_table("pf", local=True, index=False) for _ in range(2))
        for item, interface in some:
            plain.add(item, interface)
            limited.add(parse_filter(f"{item} and rate <= 5"), interface)
        control = RateControl(limited, window=0.001)
        unlimited = RateControl(plain)
        held = "one interface each" if interfaces is None else f"{interfaces} interfaces"
        with bench.comparison(
            f"Matching by a walk, {count:,} filters of 2-D ranges, {held}"
        ) as comparison:
            for name, match, bar in (
                ("without limits", plain.match, None),
                ("every filter limited", control.match, at_most),
                ("under control, none limited", unlimited.match, at_most),
            ):
                comparison.case(
                    name,
                    lambda match=match: [match(each) for each in notifications],
                    operations=len(notifications),
                    at_most=bar,
                )


def _run_forest_options(bench: Bench) -> None:
    """Count tests with siblings in another order, and with elimination inside the removal."""
    count = bench.size(1_000, 20)
    for schema in SCHEMAS:
        load_ = scenario(schema, count, None)
        rows = []
        for name, table in size_ordered().items():
            for item, interface in load_.added:
                table.add(item, interface)
            tests = table.counters.covering_tests
            for old, interface, new in load_.replaced:
                table.remove(old, interface)
                table.add(new, interface)
            after = table.counters.covering_tests - tests
            rows.append((name, tests / count, after / count))
        bench.table(
            f"Order of siblings: {schema}, {count:,} filters",
            ("siblings", "tests/add", "tests/replace"),
            rows,
        )
    for schema in ("2-D", "3-D"):
        for interfaces in (3, 9, 15):
            some = distributed(scenario(schema, count, interfaces))
            bench.table(
                f"Elimination: {schema}, {interfaces} interfaces, {len(some.added)} adds, "
                f"{len(some.replaced)} replacements",
                ("where", "tests/add", "tests/replace", "most filters"),
                [(way, *eliminating_in(way, some)) for way in WAYS],
            )

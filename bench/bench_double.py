"""DoubleForest as in chapters 6 and 7 of the thesis; rate limits; two options of the forests.

Profiles and queries are ranges of two attributes with both ends uniform in [0, 100], five sets of
each; a figure has the mean of the five. The tests of a DoubleForest are those of its two forests
and those between them. All tables have a first column to plot against, and a column for each line
of the plot.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bench.double_sets import NumpySets
from bench.experiments import show_experiment
from bench.forest_options import WAYS, eliminating_in, size_ordered
from bench.harness import Bench
from posetlib.filters import Filter, parse_filter
from posetlib.generating.thesis_loads import RANGE_SCHEMAS, distributed, scenario
from posetlib.profiles import DoubleForest
from posetlib.routing import RateControl
from posetlib.tables import make_table
from workloads.experiments import double_forest, preloading
from workloads.experiments.double_forest import VARIANTS, Addition, load
from workloads.experiments.experiment import Lines

SEMANTICS = ("cover", "overlap")
_MADE: dict[str, Callable[[str], Any]] = {**VARIANTS, "set-based, numpy": NumpySets}
# The bar for the time of an add, as a multiple of the set-based one with numpy.
_AT_MOST = {("cover", "optimised, index"): 1.0}


def run(bench: Bench) -> None:
    """Draw the figures of both chapters, then what belongs beside them."""
    lines = show_experiment(bench, double_forest.EXPERIMENT)
    loaded = show_experiment(bench, preloading.EXPERIMENT)
    if not bench.quick:
        _promise_tests(bench, lines, loaded)
    _run_times(bench, bench.size(1_000, 16))
    _run_rates(bench)
    _run_forest_options(bench)


def _promise_tests(bench: Bench, lines: dict[str, Lines], loaded: dict[str, Lines]) -> None:
    both = {name: line[-1].y for name, line in lines["6.8-cover-tests"].items()}
    for name in ("optimised", "optimised, index"):
        bench.promise(
            f"cover, 1,000 + 1,000: covering tests, {name} to set-based",
            both[name] / both["set-based"],
            at_most=1 / 3,
        )
    for semantics in SEMANTICS:
        found = loaded[f"7.2-{semantics}-tests"]
        left = max(line[-1].y for name, line in found.items() if name != "set-based")
        bench.promise(f"{semantics}, all preloaded: covering tests", left, at_most=0)
    shares = [
        mine.y / max(its.y, 1)
        for key, found in (lines | loaded).items()
        if key.endswith("tests")
        for mine, its in zip(found["optimised"], found["unoptimised"], strict=True)
    ]
    bench.promise("every load: covering tests, optimised to unoptimised", max(shares), at_most=1)


def add_all(structure: Any, additions: Sequence[Addition]) -> None:
    """Add profiles and queries."""
    for item, is_profile in additions:
        (structure.add_profile if is_profile else structure.add_query)(item, "i")


def _on(run_: Callable[[Any, Any], Any], additions: Sequence[Addition], structure: Any) -> None:
    run_(structure, additions)


def _fill_and_look(structure: Any, additions: Sequence[Addition]) -> None:
    """Add filters; a look at each mapping makes sure that both are complete."""
    add_all(structure, additions)
    structure.queries_of(next(item for item, is_profile in additions if is_profile))
    structure.profiles_of(next(item for item, is_profile in additions if not is_profile))


def _fill_and_place(structure: Any, additions: Sequence[Addition]) -> None:
    add_all(structure, additions)
    structure.settle()


def _run_times(bench: Bench, count: int) -> None:
    """Compare the time of all adds in turns."""
    for semantics in SEMANTICS:
        additions = load(count, "0-0").mixed()
        with bench.comparison(
            f"Adding {count:,} profiles and {count:,} queries, {semantics}: per add"
        ) as comparison:
            for name in ("set-based, numpy", "optimised, index", "optimised", "set-based"):
                run_ = _fill_and_look if "numpy" in name or "index" in name else add_all
                comparison.case(
                    name,
                    partial(_on, run_, additions),
                    operations=len(additions),
                    setup=partial(_MADE[name], semantics),
                    at_most=_AT_MOST.get((semantics, name)),
                )
            comparison.case(
                "optimised, index, both forests placed",
                partial(_on, _fill_and_place, additions),
                operations=len(additions),
                setup=partial(DoubleForest, semantics),
            )

            def preloaded(semantics: str = semantics) -> DoubleForest[Filter]:
                structure: DoubleForest[Filter] = DoubleForest(semantics)
                structure.preload(load(count, "0-0").profiles, load(count, "0-0").queries)
                return structure

            comparison.case(
                "optimised, index, all preloaded",
                partial(_on, add_all, additions),
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
    for interfaces in (None, 10):
        some = scenario("2-D", count, interfaces).added
        plain, limited = (make_table("pf", local=True, index=False) for _ in range(2))
        for item, interface in some:
            plain.add(item, interface)
            limited.add(parse_filter(f"{item} and rate <= 5"), interface)
        control = RateControl(limited, window=0.001)
        unlimited = RateControl(plain)
        walking = RateControl(limited, window=0.001)
        walking._has_matcher = False
        indexed = make_table("pf", local=True)
        for item, interface in some:
            indexed.add(item, interface)
        held = "one interface each" if interfaces is None else f"{interfaces} interfaces"
        with bench.comparison(
            f"Matching by a walk, {count:,} filters of 2-D ranges, {held}"
        ) as comparison:
            for name, match, bar in (
                ("without limits", plain.match, None),
                ("every filter limited", control.match, 1.5),
                ("under control, none limited", unlimited.match, 1.5),
                ("every filter limited, by walks alone", walking.match, None),
                ("without limits, by the table's matcher", indexed.match, None),
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
    for schema in RANGE_SCHEMAS:
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

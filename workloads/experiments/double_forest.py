"""Section 6.8: a DoubleForest against tests of every pair, for cover and for overlap."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from posetlib.filters import Filter
from posetlib.generating.thesis_loads import range_filters
from posetlib.profiles import DoubleForest
from workloads.experiments.experiment import (
    Experiment,
    Figure,
    Lines,
    Point,
    Row,
    Verdict,
    random_of,
    stopped,
)
from workloads.experiments.set_based import TestedSets

__all__ = ["EXPERIMENT", "VARIANTS", "Addition", "Load", "fill", "load"]

#: Name -> what makes it for some semantics. All but the last are tests alone, as in the thesis.
VARIANTS: Final[dict[str, Callable[[str], Any]]] = {
    "set-based": TestedSets,
    "unoptimised": lambda semantics: DoubleForest(
        semantics, lower=False, upper=False, results=False, index=False
    ),
    "bounds alone": lambda semantics: DoubleForest(semantics, results=False, index=False),
    "optimised": lambda semantics: DoubleForest(semantics, index=False),
    "optimised, index": DoubleForest,
}
_PARTS: Final = 5

#: A filter, and whether it is a profile.
Addition = tuple[Filter, bool]


class Load(NamedTuple):
    """What is added: profiles, queries, and as many others of each."""

    profiles: list[Filter]
    queries: list[Filter]
    other_profiles: list[Filter]
    other_queries: list[Filter]

    def mixed(self) -> list[Addition]:
        """Return profiles and queries in random order."""
        some = [*((item, True) for item in self.profiles), *((q, False) for q in self.queries)]
        random.Random(len(some)).shuffle(some)
        return some


@lru_cache(maxsize=4)
def load(count: int, seed: object) -> Load:
    """Return filters of two ranges with both ends uniform in [0, 100]."""
    made = list(range_filters("2-D", 4 * count, random_of("double", count, seed)))
    return Load(*(made[i * count : (i + 1) * count] for i in range(4)))


def fill(
    structure: Any, additions: Sequence[Addition], parts: int = 1
) -> Iterator[tuple[int, float]]:
    """Add filters part by part; yield the tests and the seconds up to the end of each part."""
    counters = getattr(structure, "counters", structure)
    first, seconds = counters.covering_tests, 0.0
    for part in range(parts):
        some = additions[len(additions) * part // parts : len(additions) * (part + 1) // parts]
        with stopped() as watch:
            for item, is_profile in some:
                (structure.add_profile if is_profile else structure.add_query)(item, "i")
        seconds += watch.seconds
        yield counters.covering_tests - first, seconds


def points(scale: float) -> list[Point]:
    """Return a point for each semantics, variant, and what varies."""
    count = max(round(1_000 * scale), 10)
    return [
        {"semantics": semantics, "variant": variant, "variable": variable, "count": count}
        for semantics in ("cover", "overlap")
        for variable in ("profiles", "queries", "both")
        for variant in VARIANTS
    ]


def measure(point: Point, seed: str) -> Iterator[Row]:
    """Add one side to the other, or both in random order."""
    one = load(point["count"], seed)
    profiles = [(item, True) for item in one.profiles]
    queries = [(item, False) for item in one.queries]
    first, then = {
        "profiles": (queries, profiles),
        "queries": (profiles, queries),
        "both": ([], one.mixed()),
    }[point["variable"]]
    structure = VARIANTS[point["variant"]](point["semantics"])
    for _ in fill(structure, first):
        pass
    key = _key(point["semantics"], point["variable"])
    for part, (tests, seconds) in enumerate(fill(structure, then, _PARTS), 1):
        added = len(then) * part // _PARTS
        yield Row(f"{key}-tests", point["variant"], added, tests)
        yield Row(f"{key}-time", point["variant"], added, seconds * 1e3)


def _key(semantics: str, variable: str) -> str:
    if variable == "both":
        return f"6.8-{semantics}"
    return f"{'6.6' if semantics == 'cover' else '6.7'}-{variable}"


def best_of_all(lines: Lines) -> Verdict:
    """Judge that the optimised forest is the lowest of the thesis' three lines."""
    ends = {name: lines[name][-1].y for name in ("set-based", "unoptimised", "optimised")}
    lowest = min(ends, key=lambda name: ends[name])
    says = ", ".join(f"{name} {end:,.0f}" for name, end in ends.items())
    return Verdict(lowest == "optimised", f"at the end {says}")


def _better_and_not_much(lines: Lines) -> Verdict:
    """Judge that the optimised forest is below the set-based line, but not far."""
    ratio = lines["optimised"][-1].y / max(lines["set-based"][-1].y, 1e-9)
    return Verdict(0.4 < ratio < 1, f"at the end the optimised forest has {ratio:.2f} of set-based")


def _figures() -> Iterator[Figure]:
    best = "the optimised DoubleForest is the best, in tests and in time"
    small = "the optimised DoubleForest is better than set-based, but the difference is small"
    for semantics, statement, judge in (
        ("cover", best, best_of_all),
        ("overlap", small, _better_and_not_much),
    ):
        for variable in ("profiles", "queries", "both"):
            key = _key(semantics, variable)
            what = "profiles and queries" if variable == "both" else variable
            for part, y in (("tests", "covering tests"), ("time", "ms, processor time")):
                yield Figure(
                    f"{key}-{part}", f"Figure {key[:3]}: {semantics}, {what} added", what, y,
                    statement, judge, is_time=part == "time",
                )  # fmt: skip


EXPERIMENT: Final = Experiment(
    "double-forest",
    "Section 6.8: DoubleForest, 2-D ranges, cover and overlap",
    points,
    measure,
    tuple(_figures()),
)

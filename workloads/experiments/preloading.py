"""Section 7.2: adding profiles and queries of which some were preloaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workloads.experiments.double_forest import VARIANTS, fill, load
from workloads.experiments.experiment import (
    Experiment,
    Figure,
    Lines,
    Point,
    Row,
    Verdict,
    growth,
    random_of,
)

__all__ = ["EXPERIMENT", "LEVELS"]

#: Percent of the filters that are preloaded.
LEVELS: Final = (0, 25, 50, 75, 100)
_FIGURES: Final = {"7.2": "a share of the filters", "7.3": "other filters"}


def points(scale: float) -> list[Point]:
    """Return a point for each figure, semantics, variant and level.

    The set-based case is not preloaded: one measurement serves all levels.
    """
    count = max(round(1_000 * scale), 10)
    return [
        {
            "figure": figure,
            "semantics": semantics,
            "variant": variant,
            "level": level,
            "count": count,
        }
        for figure in _FIGURES
        for semantics in ("cover", "overlap")
        for variant in VARIANTS
        for level in (LEVELS if variant != "set-based" else (0,))
    ]


def measure(point: Point, seed: str) -> Iterator[Row]:
    """Preload a share, then add all filters."""
    one, level = load(point["count"], seed), point["level"]
    structure = VARIANTS[point["variant"]](point["semantics"])
    if level:
        others = point["figure"] == "7.3"
        profiles = one.other_profiles if others else one.profiles
        queries = one.other_queries if others else one.queries
        rng, share = random_of("preload", level, seed), point["count"] * level // 100
        structure.preload(rng.sample(profiles, share), rng.sample(queries, share))
    (cost,) = fill(structure, one.mixed())
    key = f"{point['figure']}-{point['semantics']}"
    for each in LEVELS if point["variant"] == "set-based" else (level,):
        yield Row(f"{key}-tests", point["variant"], each, cost[0])
        yield Row(f"{key}-time", point["variant"], each, cost[1] * 1e3)


def _none_are_left(lines: Lines) -> Verdict:
    end = max(line[-1].y for name, line in lines.items() if name != "set-based")
    return Verdict(end == 0, f"with all preloaded {end:,.0f} tests are left")


def _falls(lines: Lines) -> Verdict:
    share = growth(lines["optimised"])
    return Verdict(share < 0.5, f"with all preloaded it takes {share:.2f} of the time without")


def _no_great_overhead(lines: Lines) -> Verdict:
    ratio = lines["optimised"][-1].y / max(lines["set-based"][-1].y, 1e-9)
    return Verdict(ratio < 1.5, f"with as many others preloaded, {ratio:.2f} of set-based")


def _great_overhead(lines: Lines) -> Verdict:
    ratio = lines["optimised"][-1].y / max(lines["set-based"][-1].y, 1e-9)
    return Verdict(ratio > 1.5, f"with as many others preloaded, {ratio:.2f} of set-based")


def _figures() -> Iterator[Figure]:
    for figure, which in _FIGURES.items():
        for semantics in ("cover", "overlap"):
            for part, y in (("tests", "covering tests"), ("time", "ms, processor time")):
                if figure == "7.2":
                    statement = "preloading is effective, and with all preloaded no test is left"
                    judge = _none_are_left if part == "tests" else _falls
                elif semantics == "cover":
                    statement = "no significant overhead against the set-based case"
                    judge = _no_great_overhead
                else:
                    statement = "significant overhead for overlap"
                    judge = _great_overhead
                yield Figure(
                    f"{figure}-{semantics}-{part}",
                    f"Figure {figure}: {semantics}, {which} preloaded",
                    "percent preloaded", y, statement, judge, is_time=part == "time",
                )  # fmt: skip


EXPERIMENT: Final = Experiment(
    "preloading",
    "Section 7.2: DoubleForest, with filters preloaded",
    points,
    measure,
    tuple(_figures()),
)

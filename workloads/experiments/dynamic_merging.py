"""Section 8.7: a merged root set that follows a forest through adds and removals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import posetlib as pl
from posetlib.generating.thesis_loads import PREDICATE_SCHEMAS, predicate_filters
from workloads.experiments.experiment import (
    Experiment,
    Figure,
    Lines,
    Point,
    Row,
    Verdict,
    growth,
    stopped,
)

__all__ = ["EXPERIMENT"]

_COUNTS: Final = (100, 200, 300, 400, 500)
_CHANGED: Final = 100
_FIGURES: Final = dict(zip(PREDICATE_SCHEMAS, ("8.7", "8.8", "8.9"), strict=True))


def points(scale: float) -> list[Point]:
    """Return a point for each schema and number of filters."""
    return [
        {
            "schema": schema,
            "filters": max(round(count * scale), 6),
            "changed": max(round(_CHANGED * scale), 2),
        }
        for schema in _FIGURES
        for count in _COUNTS
    ]


def measure(point: Point, seed: str) -> Iterator[Row]:
    """Add all filters, then replace some, with a merged root set beside the table and without."""
    count, changed = point["filters"], point["changed"]
    filters = predicate_filters(point["schema"], count + changed, seed)
    key = _FIGURES[point["schema"]]
    for merging in (False, True):
        table: pl.Table[pl.Filter] = pl.PosetForest()
        merger = pl.RootMerger(table) if merging else None
        with stopped() as adding:
            for i, one in enumerate(filters[:count]):
                table.add(one, i)
        with stopped() as replacing:
            for i, one in enumerate(filters[count:]):
                table.remove(filters[i], i)
                table.add(one, count + i)
        size = len(table.roots() if merger is None else merger.merged())
        series = "merged" if merging else "roots"
        yield Row(f"{key}-roots", series, count, size)
        name = "with merging" if merging else "without"
        yield Row(f"{key}-add", name, count, adding.seconds / count * 1e6)
        yield Row(f"{key}-replace", name, count, replacing.seconds / changed * 1e6)


def _flat(lines: Lines) -> Verdict:
    """Judge that the merged set is nearly constant while roots grow as filters do."""
    merged, roots = lines["merged"], lines["roots"]
    says = (
        f"merged from {merged[0].y:.1f} to {merged[-1].y:.1f}, "
        f"unmerged from {roots[0].y:.1f} to {roots[-1].y:.1f}"
    )
    return Verdict(growth(merged) < 2 and merged[-1].y < roots[-1].y / 2, says)


def _little_gain(lines: Lines) -> Verdict:
    share = lines["merged"][-1].y / max(lines["roots"][-1].y, 1e-9)
    return Verdict(share > 0.8, f"at the end the merged set is {share:.2f} of the roots")


def _small_overhead(lines: Lines) -> Verdict:
    ratio = lines["with merging"][-1].y / max(lines["without"][-1].y, 1e-9)
    return Verdict(ratio < 3, f"with merging it takes {ratio:.1f} times as long at the end")


def _large_overhead(lines: Lines) -> Verdict:
    ratio = lines["with merging"][-1].y / max(lines["without"][-1].y, 1e-9)
    return Verdict(ratio >= 3, f"with merging it takes {ratio:.1f} times as long at the end")


def _figures() -> Iterator[Figure]:
    about: dict[str, tuple[str, Callable[[Lines], Verdict], str, Callable[[Lines], Verdict]]] = {
        "8.7": (
            "a constant or near constant root set, where the unmerged one is linear", _flat,
            "no significant overhead", _small_overhead,
        ),
        "8.8": (
            "the merged set has a near constant size, too", _flat,
            "more overhead than with a variable number of attributes", _large_overhead,
        ),
        "8.9": (
            "the root set is not reduced", _little_gain,
            "the overhead is substantial", _large_overhead,
        ),
    }  # fmt: skip
    for schema, key in _FIGURES.items():
        size, judge, cost, judge_cost = about[key]
        title = f"Figure {key}: {schema}"
        yield Figure(f"{key}-roots", f"{title}; root set", "filters", "roots", size, judge)
        for part, what in (("add", "an add"), ("replace", "a removal and an add")):
            yield Figure(
                f"{key}-{part}", f"{title}; {what}", "filters", "µs, processor time", cost,
                judge_cost, is_time=True,
            )  # fmt: skip


EXPERIMENT: Final = Experiment(
    "dynamic-merging",
    "Section 8.7: a merged root set that follows a forest",
    points,
    measure,
    tuple(_figures()),
)

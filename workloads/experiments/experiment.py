"""What an experiment is: points to measure, what is measured at each, and what the thesis says.

An experiment is data and two functions. ``points`` names what is to be measured, as plain data;
``measure`` does one of them with one seed, in whatever process, and returns rows. All rows of a
figure with one seed are of one random load, so that its lines compare.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

__all__ = [
    "Experiment",
    "Figure",
    "Lines",
    "Mean",
    "Point",
    "Row",
    "Stopwatch",
    "Verdict",
    "growth",
    "lines_of",
    "random_of",
    "rows_of",
    "stopped",
]

#: What is measured at once: plain data, that a worker is sent.
Point: TypeAlias = Mapping[str, Any]


class Row(NamedTuple):
    """One measurement: a point of a line in a figure."""

    figure: str
    series: str
    x: float
    y: float


class Mean(NamedTuple):
    """The mean of the replications at one point of a line, and their standard deviation."""

    x: float
    y: float
    spread: float


#: Of one figure: series -> its points, by x.
Lines: TypeAlias = dict[str, list[Mean]]


class Verdict(NamedTuple):
    """Whether the shape of a figure is that of the thesis, and in which numbers one sees it."""

    agrees: bool
    says: str


@dataclass(frozen=True)
class Figure:
    """One figure: its axes, what the thesis says of it, and how that is judged."""

    key: str
    title: str
    x: str
    y: str
    statement: str
    judge: Callable[[Lines], Verdict]
    #: Whether times were measured: these differ from run to run, and all else does not.
    is_time: bool = False


@dataclass(frozen=True)
class Experiment:
    """A sweep: what is measured for each of its points, and the figures that come of it."""

    name: str
    title: str
    #: Takes a factor for sizes, 1 for those of the thesis.
    points: Callable[[float], Sequence[Point]]
    #: Takes a point and a seed.
    measure: Callable[[Point, str], Iterable[Row]]
    figures: tuple[Figure, ...]
    replications: int = 5


def rows_of(experiment: Experiment, seed: int, replications: int, scale: float) -> list[Row]:
    """Return all rows of an experiment, measured in this process, one after the other."""
    return [
        row
        for replication in range(replications)
        for point in experiment.points(scale)
        for row in experiment.measure(point, f"{seed}-{replication}")
    ]


def lines_of(rows: Iterable[Row]) -> dict[str, Lines]:
    """Return the lines of each figure: the means of rows that differ in their seed alone.

    >>> lines_of([Row("6.6", "set-based", 10, 4), Row("6.6", "set-based", 10, 6)])
    {'6.6': {'set-based': [Mean(x=10, y=5, spread=1.0)]}}
    """
    found: dict[str, dict[str, dict[float, list[float]]]] = {}
    for figure, series, x, y in rows:
        found.setdefault(figure, {}).setdefault(series, {}).setdefault(x, []).append(y)
    return {
        figure: {
            series: [
                Mean(x, statistics.mean(some), statistics.pstdev(some))
                for x, some in sorted(points.items())
            ]
            for series, points in lines.items()
        }
        for figure, lines in found.items()
    }


def growth(line: Sequence[Mean]) -> float:
    """Return how many times as high the end of a line is as its beginning.

    >>> growth([Mean(1, 2.0, 0), Mean(2, 6.0, 0)])
    3.0
    """
    return line[-1].y / max(line[0].y, 1e-9)


def random_of(*parts: object) -> random.Random:
    """Return a source of random numbers that depends on all parts."""
    return random.Random("-".join(map(str, parts)))


@dataclass
class Stopwatch:
    """How much processor time a piece of work took."""

    seconds: float = 0.0


@contextmanager
def stopped() -> Iterator[Stopwatch]:
    """Measure the processor time of what is done inside; others on the machine do not count."""
    watch = Stopwatch()
    start = time.process_time()
    try:
        yield watch
    finally:
        watch.seconds = time.process_time() - start

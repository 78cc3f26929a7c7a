"""Which filters of one set may cover some of another, found for many that are alike at once.

Filters that may be covered are divided into groups whose ends lie close together. A filter can
cover one of a group only if it reaches below the greatest low end of the group and above the least
high end, on every axis. So most filters are excluded for a whole group, and those that are left for
a group are all that its parts have to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posetlib.array_types import IntArray
from posetlib.arrays.ranges import Ranges, no_constraint

__all__ = ["meetings", "stacked"]


def stacked(ranges: Ranges, axes: list[Any], *, loosened: bool = False) -> Any:
    """Return the ends on some axes as rows, with one column for each item.

    High ends are turned round, so that an item covers another one, as far as these axes tell,
    exactly if it is greater in no row. ``loosened`` ends are those to be compared as covered ones.
    """
    rows = []
    for axis in axes:
        own = ranges.lows[axis], ranges.highs[axis]
        low, high = ranges.loosened(axis) if loosened else own
        # The complement turns whole numbers round without an overflow at the least of them.
        rows += [low, -high if high.dtype.kind == "f" else ~high]
    return np.array(rows) if rows else np.zeros((0, len(ranges)))


def meetings(
    covered: Ranges, coverers: Ranges, size: int, *, most: int | None = None, least: int = 64
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield groups of rows that may be covered, each with the rows that may cover one of them.

    A row of ``covered`` is in one group at most, with all that cover it, and in none if nothing
    may. A group has at most ``size`` rows, and its coverers are in ascending order. Groups with
    more than ``most`` coverers are divided further, down to ``least`` rows.

    >>> from posetlib.arrays import Vocabulary, encode_filters
    >>> from posetlib.filters import parse_filter
    >>> texts = "x in [0, 3]", "x in [1, 2]", "x in [5, 9]", "x = 7"
    >>> rows = encode_filters([parse_filter(text) for text in texts], Vocabulary())
    >>> sorted((some.tolist(), them.tolist()) for some, them in meetings(rows, rows, 2))
    [([0, 1], [0, 1]), ([2, 3], [2, 3])]
    """
    axes = [axis for axis in coverers.lows if axis in covered.lows]
    candidates = np.arange(len(coverers))
    for axis, lows in coverers.lows.items():
        if axis not in covered.lows:
            # What asks for something on this axis covers none that does not.
            candidates = candidates[lows[candidates] == no_constraint(lows)]
    below = stacked(covered, axes, loosened=True)
    above = stacked(coverers, axes)
    # By the ranks of ends it is seen how far apart rows lie.
    ranks = [np.unique(ends, return_inverse=True)[1] for ends in below]
    waiting = [(np.arange(len(covered)), candidates)] if len(covered) else []
    while waiting:
        rows, some = waiting.pop()
        for own, theirs in zip(below, above, strict=True):
            some = some[theirs[some] <= own[rows].max()]
        if not len(some):
            continue
        few = most is None or len(some) <= most
        if len(rows) <= (size if few else least):
            yield rows, some
        else:
            near, far = _halves(rows, ranks)
            waiting += [(near, some), (far, some)]


def _halves(rows: IntArray, ranks: list[IntArray]) -> tuple[IntArray, IntArray]:
    """Return the rows in two halves, apart on those ends on which they lie widest."""
    middle = len(rows) // 2
    widest: IntArray | None = None
    spread = 0
    for rank in ranks:
        own = rank[rows]
        found = int(own.max()) - int(own.min())
        if found > spread:
            widest, spread = own, found
    if widest is None:
        return rows[:middle], rows[middle:]
    order = np.argpartition(widest, middle)
    return rows[order[:middle]], rows[order[middle:]]

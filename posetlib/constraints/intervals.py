r"""Set operations on finite unions of intervals, over any totally ordered values.

A set is a tuple of pairs of cuts (low, high). Each pair is the half-open interval [low, high). The
pairs are sorted, do not overlap and do not touch, so equal sets are equal tuples.

The caller chooses what a cut is:

- an integer, for runs of integers;
- a string, for lexical order: the next string after "a" is "a\0", so each end can be written
  half-open;
- a pair (number, 0) or (number, 1), just before or just after the number, for the real line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import total_ordering
from typing import Any, Final, TypeAlias

__all__ = [
    "TOP",
    "Cut",
    "Pairs",
    "common",
    "complement",
    "contains",
    "covers",
    "intersection",
    "normal",
    "overlaps",
]

#: A point between two values of an order; all cuts of one set must be comparable.
Cut: TypeAlias = Any
#: A set in canonical form: sorted, separate intervals [low, high).
Pairs: TypeAlias = tuple[tuple[Cut, Cut], ...]


@total_ordering
class _Top:
    """The type of TOP."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Top)

    def __hash__(self) -> int:
        return hash(_Top)

    def __repr__(self) -> str:
        return "TOP"

    def __reduce__(self) -> str:
        return "TOP"


#: The cut after all strings; greater than every other cut.
TOP: Final = _Top()


def normal(pairs: Iterable[tuple[Cut, Cut]]) -> Pairs:
    """Return the union of intervals in canonical form: O(n log n).

    The intervals may overlap or be empty, and may come in any order.

    >>> normal([(4, 6), (1, 3), (3, 4), (9, 9)])
    ((1, 6),)
    """
    result: list[tuple[Cut, Cut]] = []
    for low, high in sorted(pair for pair in pairs if pair[0] < pair[1]):
        if result and low <= result[-1][1]:
            if high > result[-1][1]:
                result[-1] = (result[-1][0], high)
        else:
            result.append((low, high))
    return tuple(result)


def intersection(a: Pairs, b: Pairs) -> Pairs:
    """Return the intersection of two sets: O(n + m).

    >>> intersection(((0, 5), (7, 9)), ((4, 8),))
    ((4, 5), (7, 8))
    """
    result = []
    i = j = 0
    while i < len(a) and j < len(b):
        low = max(a[i][0], b[j][0])
        high = min(a[i][1], b[j][1])
        if low < high:
            result.append((low, high))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return tuple(result)


def common(sets: Iterable[Pairs], lowest: Cut, highest: Cut) -> Pairs:
    """Return the intersection of many sets within [lowest, highest): O(n log n) for n pairs in all.

    >>> common([((0, 5),), ((2, 9),), ((1, 4),)], 0, 10)
    ((2, 4),)
    """
    # By De Morgan: the complement of the union of the complements.
    outside = (pair for pairs in sets for pair in complement(pairs, lowest, highest))
    return complement(normal(outside), lowest, highest)


def complement(a: Pairs, lowest: Cut, highest: Cut) -> Pairs:
    """Return the part of [lowest, highest) that is not in the set: O(n).

    >>> complement(((0, 2), (5, 9)), 0, 10)
    ((2, 5), (9, 10))
    """
    result = []
    start = lowest
    for low, high in a:
        if start < low:
            result.append((start, low))
        start = high
    if start < highest:
        result.append((start, highest))
    return tuple(result)


def _interval_at(a: Pairs, cut: Cut) -> tuple[Cut, Cut] | None:
    """Return the last interval that begins at or before the cut, None if there is none."""
    index = bisect_right(a, cut, key=_low) - 1
    return a[index] if index >= 0 else None


def _low(pair: tuple[Cut, Cut]) -> Cut:
    return pair[0]


def contains(a: Pairs, cut: Cut) -> bool:
    """Return whether the set contains the point just after the cut: O(log n).

    >>> contains(((0, 5), (7, 9)), 7), contains(((0, 5), (7, 9)), 5)
    (True, False)
    """
    interval = _interval_at(a, cut)
    return interval is not None and cut < interval[1]


def covers(a: Pairs, b: Iterable[tuple[Cut, Cut]]) -> bool:
    """Return whether every interval of b lies in one interval of a: O(m log n).

    >>> covers(((0, 5), (7, 9)), ((1, 2), (7, 9))), covers(((0, 5), (7, 9)), ((4, 8),))
    (True, False)
    """
    for low, high in b:
        interval = _interval_at(a, low)
        if interval is None or interval[1] < high:
            return False
    return True


def overlaps(a: Pairs, b: Pairs) -> bool:
    """Return whether the sets share a point: O(m log n), where m is the length of the shorter set.

    >>> overlaps(((0, 5), (7, 9)), ((5, 7),)), overlaps(((0, 5),), ((4, 8),))
    (False, True)
    """
    if len(a) < len(b):
        a, b = b, a
    for low, high in b:
        index = bisect_left(a, high, key=_low) - 1
        if index >= 0 and a[index][1] > low:
            return True
    return False

r"""Sets on a line: finite unions of half-open pieces [low, high) between cuts of any total order.

A set is a tuple of pairs of cuts, sorted, disjoint and not touching, so that equal sets are equal
tuples. What a cut is, the caller decides: integers for runs of integers, strings for lexical
order (the string after "a" is "a\0", so every bound can be written half-open), and
``(number, 0 or 1)``, just before or just after a number, for the real line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any, TypeAlias

__all__ = [
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

Cut: TypeAlias = Any  # anything totally ordered
Pairs: TypeAlias = tuple[tuple[Cut, Cut], ...]


def normal(pairs: Iterable[tuple[Cut, Cut]]) -> Pairs:
    """Return the union of the pieces in canonical form: O(n log n).

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
    """Return what is in both sets: O(n + m).

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
    """Return what is in every one of many sets within [lowest, highest): O(n log n) in all.

    >>> common([((0, 5),), ((2, 9),), ((1, 4),)], 0, 10)
    ((2, 4),)
    """
    outside = (pair for each in sets for pair in complement(each, lowest, highest))
    return complement(normal(outside), lowest, highest)


def complement(a: Pairs, lowest: Cut, highest: Cut) -> Pairs:
    """Return what of [lowest, highest) is not in the set: O(n).

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


def _piece_at(a: Pairs, cut: Cut) -> tuple[Cut, Cut] | None:
    """Return the last piece that begins at or before the cut."""
    index = bisect_right(a, cut, key=_low) - 1
    return a[index] if index >= 0 else None


def _low(pair: tuple[Cut, Cut]) -> Cut:
    return pair[0]


def contains(a: Pairs, cut: Cut) -> bool:
    """Return whether the point just after the cut is in the set: O(log n)."""
    piece = _piece_at(a, cut)
    return piece is not None and cut < piece[1]


def covers(a: Pairs, b: Iterable[tuple[Cut, Cut]]) -> bool:
    """Return whether every piece of b lies in one piece of a: O(m log n).

    >>> covers(((0, 5), (7, 9)), ((1, 2), (7, 9))), covers(((0, 5), (7, 9)), ((4, 8),))
    (True, False)
    """
    for low, high in b:
        piece = _piece_at(a, low)
        if piece is None or piece[1] < high:
            return False
    return True


def overlaps(a: Pairs, b: Pairs) -> bool:
    """Return whether the sets share a point: O(m log n) with b the shorter one."""
    if len(a) < len(b):
        a, b = b, a
    for low, high in b:
        index = bisect_left(a, high, key=_low) - 1
        if index >= 0 and a[index][1] > low:
            return True
    return False

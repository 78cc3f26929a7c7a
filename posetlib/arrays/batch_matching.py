"""Which filters match which of many notifications, as sets of notifications in bits.

For each attribute, the notifications are sorted by their value. Row r of a table is the set of the
first r notifications in this order, 64 to a word. The notifications whose value lies in a range are
one row of the table without another row.
"""

from __future__ import annotations

import numpy as np

from posetlib.array_types import IntArray, Words
from posetlib.arrays.positions import Points
from posetlib.arrays.ranges import FilterRanges
from posetlib.bits import WORD, bit_in_word, bit_pairs, full_sets

__all__ = ["Audience", "interfaces_of"]


class Audience:
    """Up to some thousand notifications, to be matched by any number of filters.

    Memory: count² / 8 bytes for each attribute, where count is the number of notifications.

    >>> from posetlib.arrays import Vocabulary, encode_filters, encode_notifications
    >>> from posetlib.filters import parse_filter
    >>> notifications = [{"x": 1}, {"x": 4}]
    >>> audience = Audience(encode_notifications(notifications, ["x"], words := Vocabulary()))
    >>> filters = encode_filters([parse_filter("x > 3"), parse_filter("x in [0, 9]")], words)
    >>> audience.matched(filters).tolist()
    [[2], [3]]
    """

    def __init__(self, points: Points) -> None:
        self.points = points
        self.count = points.count
        self.words = -(-self.count // WORD)
        self._tables = {name: self._below(at) for name, at in points.at.items()}

    def _below(self, at: IntArray) -> tuple[IntArray, Words]:
        """Return the positions in ascending order, and the table of first notifications."""
        order = np.argsort(at, kind="stable")
        table = np.zeros((self.count + 1, self.words), np.uint64)
        table[np.arange(1, self.count + 1), order // WORD] = bit_in_word(order)
        np.bitwise_or.accumulate(table, axis=0, out=table)
        return at[order], table

    def matched(self, filters: FilterRanges) -> Words:
        """Return, for each filter, the notifications that it matches, as bits.

        Every attribute of the filters must be an attribute of the points. O(filters × words) for
        each attribute; a filter that is not plain is tested with each notification that is left.
        """
        found = full_sets(len(filters), self.count)
        for name, lows in filters.lows.items():
            at, table = self._tables[name]
            # The notifications up to the high end, without those before the low end: the second set
            # is part of the first, so that XOR removes it.
            between = table[np.searchsorted(at, lows, side="left")]
            between ^= table[np.searchsorted(at, filters.highs[name], side="right")]
            found &= between
        if not filters.all_plain:
            rows = np.flatnonzero(~filters.plain)
            for row, which in zip(*(each.tolist() for each in bit_pairs(found[rows])), strict=True):
                one = filters.filter(int(rows[row]))
                if not one.matches(self.points.objects[which]):
                    found[rows[row], which >> 6] &= ~(np.uint64(1) << np.uint64(which & 63))
        return found


def interfaces_of(
    audience: Audience, filters: FilterRanges, interfaces: IntArray, size: int = 8192
) -> tuple[IntArray, IntArray]:
    """Return the (notification, interface) pairs in which the interface has a matching filter.

    Pairs are in ascending order. ``interfaces`` has the interface of each filter. The filters are
    matched in portions of ``size``, in order of their interfaces, so that the memory does not grow
    with them: only the pairs are kept.
    """
    order = np.argsort(interfaces, kind="stable")
    told: list[IntArray] = []
    wanted: list[IntArray] = []
    last: Words | None = None
    for begin in range(0, len(order), size):
        rows = order[begin : begin + size]
        own = interfaces[rows]
        bits = audience.matched(filters.take(rows))
        # The OR over the filters of each interface; its first filters may be in the portion before.
        starts = np.concatenate([[0], np.flatnonzero(np.diff(own)) + 1])
        parts = np.bitwise_or.reduceat(bits, starts, axis=0)
        if last is not None:
            parts[0] |= last
        after = begin + len(rows)
        goes_on = after < len(order) and interfaces[order[after]] == own[-1]
        last = parts[-1] if goes_on else None
        which, notification = bit_pairs(parts[:-1] if goes_on else parts)
        told.append(notification)
        wanted.append(own[starts[which]])
    nothing = [np.zeros(0, np.int64)]
    one, other = np.concatenate(told or nothing), np.concatenate(wanted or nothing)
    # By interface they are in order already.
    order = np.argsort(one, kind="stable")
    return one[order], other[order]

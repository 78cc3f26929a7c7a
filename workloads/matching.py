"""Which filters match many notifications, 64 notifications to a word.

For each attribute, the notifications are sorted by their value, and a table has for every rank the
notifications below it. A range picks two rows, and what lies between them satisfies it.
"""

from __future__ import annotations

import numpy as np

from workloads.columns import Columns, Integers, Points
from workloads.covering import Words, bit_pairs

__all__ = ["Audience", "interfaces_of"]


class Audience:
    """Up to some thousand notifications, to be matched by any number of filters."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.count = points.count
        self.words = (self.count + 63) // 64
        self._tables = {name: self._below(at) for name, at in points.at.items()}

    def _below(self, at: Integers) -> tuple[Integers, Words]:
        order = np.argsort(at, kind="stable")
        table = np.zeros((self.count + 1, self.words), np.uint64)
        bits = np.uint64(1) << (order & 63).astype(np.uint64)
        table[np.arange(1, self.count + 1), order >> 6] = bits
        np.bitwise_or.accumulate(table, axis=0, out=table)
        return at[order], table

    def matched(self, filters: Columns) -> Words:
        """Return, for each filter, the notifications that it matches, as bits.

        Every attribute of the filters must be one of the points'.
        """
        found = np.full((len(filters), self.words), ~np.uint64(0))
        if self.count & 63:
            found[:, -1] = (np.uint64(1) << np.uint64(self.count & 63)) - np.uint64(1)
        for name, lows in filters.lows.items():
            at, table = self._tables[name]
            begin = table[np.searchsorted(at, lows, side="left")]
            begin ^= table[np.searchsorted(at, filters.highs[name], side="right")]
            found &= begin
        if not filters.all_plain:
            rows = np.flatnonzero(~filters.plain)
            for row, which in zip(*(each.tolist() for each in bit_pairs(found[rows])), strict=True):
                one = filters.filter(int(rows[row]))
                if not one.matches(self.points.objects[which]):
                    found[rows[row], which >> 6] &= ~(np.uint64(1) << np.uint64(which & 63))
        return found


def interfaces_of(
    audience: Audience, filters: Columns, interfaces: Integers, size: int = 8192
) -> tuple[Integers, Integers]:
    """Return (notification, interface) pairs in order: who is to be told of what.

    The filters are taken in portions, in order of their interfaces.
    """
    order = np.argsort(interfaces, kind="stable")
    held, start = np.unique(interfaces[order], return_index=True)
    told = np.zeros((len(held), audience.words), np.uint64)
    for begin in range(0, len(order), size):
        rows = order[begin : begin + size]
        bits = audience.matched(filters.take(rows))
        first = int(np.searchsorted(start, begin, side="right")) - 1
        cuts = np.flatnonzero(np.diff(interfaces[rows])) + 1
        parts = np.bitwise_or.reduceat(bits, np.concatenate([[0], cuts]), axis=0)
        told[first : first + len(parts)] |= parts
    which, notification = bit_pairs(told)
    order = np.lexsort((which, notification))
    return notification[order], held[which[order]]

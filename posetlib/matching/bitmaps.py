"""The bitmaps of one attribute: for each row of its cells, who refuses it and who is in doubt.

A bit stands for a (filter, interface) pair, and says *no*: in the first bitmap of a row, that no
value of the row satisfies the filter's constraint, in the second that not all do. So an attribute
that a filter does not constrain costs it nothing, and a notification is matched by the bits that
the OR of its rows leaves at zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from posetlib.constraints.base import Constraint
from posetlib.constraints.numbers import Numbers
from posetlib.intervals import intersection
from posetlib.matching.cells import (
    Cells,
    Floats,
    Intervals,
    Ranges,
    Reach,
    as_floats,
    float_after,
)
from posetlib.matching.footprints import NUMBER_LINE

__all__ = ["DOUBTED", "REFUSED", "WORD", "AttributeBitmaps", "Words"]

#: Bits in a word.
WORD: Final = 64
#: The two bitmaps of row r are lines 2 r + REFUSED and 2 r + DOUBTED of the table, side by side so
#: that a pair is written to both at once.
REFUSED: Final = 0
DOUBTED: Final = 1
Words = NDArray[np.uint64]

# Cuts at every end of a range where these are not too many, otherwise at quantiles: with more cells
# the bitmaps leave the processor's caches, with fewer more is left to be checked one by one.
CELLS: Final = 1024
QUANTILES: Final = 512
_BITS: Final = np.left_shift(np.uint64(1), np.arange(WORD, dtype=np.uint64))
# Fewer intervals than this are not worth the columns.
_MANY: Final = 64


class AttributeBitmaps:
    """Two bitmaps of rows × pairs, and the ranges themselves where cells are coarser than they are.

    Memory: two bits for each row and pair, and 16 bytes for each pair where there are columns.
    """

    def __init__(
        self,
        words: int,
        constrained: Iterable[tuple[int, Constraint]] = (),
        *,
        cells: int = CELLS,
        quantiles: int = QUANTILES,
    ) -> None:
        listed = list(constrained)
        constraints = [constraint for _, constraint in listed]
        self.cells = Cells(constraints, limit=cells, quantiles=min(cells, quantiles))
        #: The smallest and the largest float64 of each pair's range; all where it has none.
        self.columns: tuple[Floats, Floats] | None = None
        if self.cells.many_numbers:
            size = words * WORD
            self.columns = (np.full(size, -np.inf), np.full(size, np.inf))
        #: How many pairs were written since whose doubts come from cells too coarse for them.
        self.strays = 0
        #: The pairs, of those given, whose doubts only the filter itself can settle.
        self.odd: list[int] = []
        self.table = self._filled(words, listed)

    # -- all at once -------------------------------------------------------------------------------

    def _filled(self, words: int, constrained: list[tuple[int, Constraint]]) -> Words:
        """Return the table of all pairs: a bit at each end of each gap, and parities down it."""
        size = self.cells.size
        table: tuple[Words, ...] = tuple(np.zeros((size, words), np.uint64) for _ in range(2))
        for slot, constraint in self._fill_intervals(table, constrained):
            reach = self.cells.reach(constraint)
            for bitmap, ranges in zip(table, (reach.possible, reach.sure), strict=True):
                for start, stop in _gaps(ranges, size):
                    bitmap[start, slot // WORD] ^= _BITS[slot % WORD]
                    if stop < size:
                        bitmap[stop, slot // WORD] ^= _BITS[slot % WORD]
            if not self._settles(slot, constraint, reach):
                self.odd.append(slot)
        result = np.empty((2 * size, words), dtype=np.uint64)
        for which, bitmap in enumerate(table):
            np.bitwise_xor.accumulate(bitmap, axis=0, out=result[which::2])
        return result

    def _fill_intervals(
        self, table: tuple[Words, ...], constrained: list[tuple[int, Constraint]]
    ) -> list[tuple[int, Constraint]]:
        """Fill in the closed intervals, and return what is left to be filled in one by one."""
        plain: list[int] = []
        ends: tuple[list[Any], list[Any]] = ([], [])
        rest = []
        for slot, constraint in constrained:
            if type(constraint) is Numbers and constraint.is_closed_interval:
                plain.append(slot)
                ends[0].append(constraint.low)
                ends[1].append(constraint.high)
            else:
                rest.append((slot, constraint))
        if len(plain) < _MANY:
            return constrained
        lows, highs = (as_floats(each, set(map(type, each))) for each in ends)
        if lows is None or highs is None:
            return constrained
        rows = self.cells.reach_intervals(lows, highs)
        if rows is None:
            return constrained
        slots = np.array(plain, dtype=np.intp)
        _toggle(table, slots, rows)
        exact = (rows.first == rows.inner_first) & (rows.inner_last == rows.last)
        if self.columns is not None:
            self.columns[0][slots], self.columns[1][slots] = lows, highs
        else:
            self.odd += slots[~exact].tolist()
        return rest

    # -- one by one --------------------------------------------------------------------------------

    def write(self, slot: int, constraint: Constraint) -> bool:
        """Write the bits of one pair over zeros; False if its doubts are the filter's to settle.

        O(rows): one word of each.
        """
        reach = self.cells.reach(constraint)
        bit = _BITS[slot % WORD]
        column = self.table[:, slot // WORD]
        # Both bitmaps of the rows that it does not reach; the second one of those not filled.
        for start, stop in _gaps(reach.possible, self.cells.size):
            column[2 * start : 2 * stop] |= bit
        doubted = tuple(_gaps(reach.sure, self.cells.size))
        for start, stop in intersection(tuple(reach.possible), doubted):
            if stop == start + 1:
                column[2 * start + DOUBTED] |= bit
            else:
                column[2 * start + DOUBTED : 2 * stop : 2] |= bit
        settled = self._settles(slot, constraint, reach)
        if not settled and not self.cells.many_numbers and not self.cells.many_strings:
            self.strays += 1
        return settled

    def erase(self, slot: int) -> None:
        """Write zeros over the bits of one pair: O(rows)."""
        column = self.table[:, slot // WORD]
        column &= ~_BITS[slot % WORD]
        if self.columns is not None:
            self.columns[0][slot], self.columns[1][slot] = -np.inf, np.inf

    def _settles(self, slot: int, constraint: Constraint, reach: Reach) -> bool:
        """Return whether rows and columns say all about the floats; fills the columns."""
        if reach.exact:
            return True
        if self.columns is None or not isinstance(constraint, Numbers):
            return False
        pieces = constraint.intervals
        if len(pieces) != 1 or constraint.runs:
            return False
        low, high = pieces[0]
        lows, highs = self.columns
        if low != NUMBER_LINE.lowest:
            lows[slot] = float_after(low)
        if high != NUMBER_LINE.highest:
            highs[slot] = np.nextafter(float_after(high), -np.inf)
        return True


def _gaps(ranges: Ranges, size: int) -> Iterator[tuple[int, int]]:
    """Yield the rows that are in none of the ranges."""
    start = 0
    for low, high in ranges:
        if start < low:
            yield start, low
        start = high
    if start < size:
        yield start, size


def _toggle(table: tuple[Words, ...], slots: NDArray[np.intp], rows: Intervals) -> None:
    """Change the bits of intervals at the ends of the gaps around them."""
    size, words = table[0].shape
    word, bit = slots // WORD, _BITS[slots % WORD]
    empty = rows.inner_first >= rows.inner_last
    # Where nothing is sure, all rows are doubted, and the two ends cancel each other.
    first = np.where(empty, rows.first, rows.inner_first)
    last = np.where(empty, rows.first, rows.inner_last)
    for bitmap, starts, stops in ((table[0], rows.first, rows.last), (table[1], first, last)):
        flat = bitmap.reshape(-1)
        np.bitwise_xor.at(flat, starts * words + word, bit)
        inside = stops < size
        np.bitwise_xor.at(flat, (stops * words + word)[inside], bit[inside])
        # The first row is that of values not read: in doubt, and not refused.
        np.bitwise_xor.at(bitmap[0 if bitmap is table[1] else 1], word, bit)

"""The bitmaps of one attribute: for each row of its cells, who refuses it and who is in doubt.

A bit stands for a (filter, interface) pair, and says *no*: in the first bitmap of a row, that no
value of the row satisfies the filter's constraint, in the second that not all do. So an attribute
that a filter does not constrain costs it nothing, and a notification is matched by the bits that
the OR of its rows leaves at zero.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posetlib.constraints.base import Constraint
from posetlib.constraints.numbers import Numbers
from posetlib.matching.cells import (
    Cells,
    Floats,
    Intervals,
    Ranges,
    Reach,
    as_floats,
    float_after,
)
from posetlib.matching.footprints import NUMBER_LINE, footprint

__all__ = ["CELLS", "DOUBTED", "REFUSED", "WORD", "AttributeBitmaps", "Words"]

#: Bits in a word.
WORD: Final = 64
#: The two bitmaps of row r are lines 2 r + REFUSED and 2 r + DOUBTED of the table, side by side so
#: that a pair is written to both at once.
REFUSED: Final = 0
DOUBTED: Final = 1
Words = NDArray[np.uint64]

#: Cells of an attribute, more or less: with more of them the bitmaps leave the processor's caches,
#: with fewer of them more is left to be checked one by one.
CELLS: Final = 1024
_BITS: Final = np.left_shift(np.uint64(1), np.arange(WORD, dtype=np.uint64))
# Each bit, and all others: numpy works faster with arrays of no dimension than with scalars.
_BIT: Final = [each.reshape(()) for each in np.split(_BITS, WORD)]
_OTHERS: Final = [each.reshape(()) for each in np.split(~_BITS, WORD)]
# Fewer intervals than this are not worth columns.
_SEVERAL: Final = 16

# The first line that a constraint may refuse: what is not read is doubted, and not refused.
_READ: Final = 1

_Constrained = tuple[int, Constraint]


class _Plain(NamedTuple):
    """Closed intervals whose ends float64 holds, and the rows that they reach."""

    slots: NDArray[np.intp]
    lows: Floats
    highs: Floats
    rows: Intervals


class AttributeBitmaps:
    """Two bitmaps of rows × pairs, and the ranges themselves where cells are coarser than they are.

    A place without a pair looks like the pairs that are usual: where most constrain the attribute,
    as if it refused every value, so that a new range is written where it lies and nowhere else.

    Memory: two bits for each row and pair, and 16 bytes for each pair where there are columns.
    """

    def __init__(
        self,
        words: int,
        constrained: Iterable[_Constrained] = (),
        pairs: int = 0,
        cells: int = CELLS,
    ) -> None:
        listed = list(constrained)
        constraints = [constraint for _, constraint in listed]
        #: Whether most of the pairs constrain the attribute.
        self.usual = 2 * len(listed) > pairs
        self.cells = Cells(constraints, limit=cells)
        #: The smallest and the largest float64 of each pair's range; all where it has none.
        self.columns: tuple[Floats, Floats] | None = None
        if self.cells.many_numbers:
            size = words * WORD
            self.columns = (np.full(size, -np.inf), np.full(size, np.inf))
        #: How many pairs were written since whose doubts come from cells too coarse for them.
        self.strays = 0
        #: The pairs, of those given, whose doubts only the filter itself can settle.
        self.odd: list[int] = []
        # For each place the lines to be written when it is free again, if it is usual to write few.
        places = words * WORD if self.usual else 0
        self._starts = array("i", [_READ]) * places
        self._stops = array("i", [2 * self.cells.size]) * places
        self.table = self._filled(words, listed)

    def free(self, places: Words) -> None:
        """Let these places, bits of words, look as places without a pair do: O(rows × words)."""
        if self.usual:
            self.table[_READ:] |= places

    # -- all at once -------------------------------------------------------------------------------

    def _filled(self, words: int, constrained: list[_Constrained]) -> Words:
        """Return the table of all pairs: a bit at each end of each gap, and parities down it."""
        size = self.cells.size
        table: tuple[Words, ...] = tuple(np.zeros((size, words), np.uint64) for _ in range(2))
        plain, rest = self._plain(constrained)
        if plain is not None:
            _toggle(table, plain)
            self.odd = self._settle_plain(plain)
            if self.usual:
                np.frombuffer(self._starts, dtype=np.intc)[plain.slots] = 2 * plain.rows.first
                np.frombuffer(self._stops, dtype=np.intc)[plain.slots] = 2 * plain.rows.last
        for slot, constraint in rest:
            reach = self.cells.reach(constraint)
            for bitmap, ranges in zip(table, (reach.possible, reach.sure), strict=True):
                for start, stop in _gaps(ranges, size):
                    bitmap[start, slot // WORD] ^= _BITS[slot % WORD]
                    if stop < size:
                        bitmap[stop, slot // WORD] ^= _BITS[slot % WORD]
            self._span(slot, reach)
            if not self._settles(slot, constraint, reach):
                self.odd.append(slot)
        result = np.empty((2 * size, words), dtype=np.uint64)
        for which, bitmap in enumerate(table):
            np.bitwise_xor.accumulate(bitmap, axis=0, out=result[which::2])
        return result

    def _plain(self, constrained: list[_Constrained]) -> tuple[_Plain | None, list[_Constrained]]:
        """Return the closed intervals by columns, and what is left to be done one by one."""
        slots: list[int] = []
        lows: list[Any] = []
        highs: list[Any] = []
        rest = []
        for slot, constraint in constrained:
            if type(constraint) is Numbers and constraint.is_closed_interval:
                slots.append(slot)
                lows.append(constraint.low)
                highs.append(constraint.high)
            else:
                rest.append((slot, constraint))
        if len(slots) < _SEVERAL:
            return None, constrained
        low, high = (as_floats(ends, set(map(type, ends))) for ends in (lows, highs))
        rows = None if low is None or high is None else self.cells.reach_intervals(low, high)
        if low is None or high is None or rows is None:
            return None, constrained
        return _Plain(np.array(slots, dtype=np.intp), low, high, rows), rest

    def _settle_plain(self, plain: _Plain) -> list[int]:
        """Fill the columns, or return the slots whose doubts are the filters' to settle."""
        if self.columns is not None:
            self.columns[0][plain.slots], self.columns[1][plain.slots] = plain.lows, plain.highs
            return []
        rows = plain.rows
        doubted = (rows.first < rows.inner_first) | (rows.inner_last < rows.last)
        odd: list[int] = plain.slots[doubted].tolist()
        return odd

    # -- a few -------------------------------------------------------------------------------------

    def write(self, pairs: Iterable[tuple[int, Constraint | None]]) -> list[int]:
        """Write the bits of pairs to free places; without a constraint a pair minds no value.

        O(rows) for each: one word of the rows that a usual range reaches, or of those that an
        unusual one does not. Returns the slots whose doubts only the filter itself can settle.
        """
        quick = self.usual and self.columns is not None
        odd = []
        for slot, constraint in pairs:
            written = quick and self._write_interval(slot, constraint)
            if not written and not self._write_any(slot, constraint):
                odd.append(slot)
        return odd

    def _write_interval(self, slot: int, constraint: Constraint | None) -> bool:
        """Write a closed range where these are usual, by far the most common case, if it is one."""
        if type(constraint) is not Numbers or not constraint.is_closed_interval:
            return False
        rows = self.cells.reach_interval(constraint.low, constraint.high)
        if rows is None:
            return False
        first, inner_first, inner_last, last = rows
        bit = slot % WORD
        column = self.table[2 * first : 2 * last, slot // WORD]
        np.bitwise_and(column, _OTHERS[bit], column)
        if first < inner_first:
            column[DOUBTED] |= _BITS[bit]
        if inner_last < last:
            column[-1] |= _BITS[bit]
        self._starts[slot], self._stops[slot] = 2 * first, 2 * last
        assert self.columns is not None
        self.columns[0][slot], self.columns[1][slot] = constraint.low, constraint.high
        return True

    def _write_any(self, slot: int, constraint: Constraint | None) -> bool:
        """Write a pair, and return whether no doubt is left for the filter itself to settle."""
        bit = _BITS[slot % WORD]
        column = self.table[:, slot // WORD]
        if self.usual:
            self._starts[slot], self._stops[slot] = _READ, len(self.table)
        if self.columns is not None:
            self.columns[0][slot], self.columns[1][slot] = -np.inf, np.inf
        if constraint is None:
            if self.usual:
                column[_READ:] &= ~bit
            return True
        reach = self.cells.reach(constraint)
        lines = [(2 * start, 2 * stop) for start, stop in reach.possible[1:]]
        if self.usual:
            for start, stop in lines:
                column[start:stop] &= ~bit
            self._span(slot, reach)
        else:
            last = _READ
            for start, stop in lines:
                column[last:start] |= bit
                last = stop
            column[last:] |= bit
        for start, stop in reach.doubted():
            column[2 * start + DOUBTED : 2 * stop : 2] |= bit
        settled = self._settles(slot, constraint, reach)
        if not settled and not self.cells.many_numbers and not self.cells.many_strings:
            self.strays += 1
        return settled

    def erase(self, slots: Iterable[int]) -> None:
        """Let the bits at the places of pairs be those of free places; O(rows) for each."""
        table = self.table
        for slot in slots:
            word, bit = slot // WORD, slot % WORD
            if self.usual:
                column = table[self._starts[slot] : self._stops[slot], word]
                np.bitwise_or(column, _BIT[bit], column)
            # The pair constrains the attribute, or would have no doubt of what is not read.
            elif table[DOUBTED, word] & _BITS[bit]:
                column = table[:, word]
                np.bitwise_and(column, _OTHERS[bit], column)

    def _span(self, slot: int, reach: Reach) -> None:
        """Note the lines that a constraint reaches, from the first to the last."""
        rows = reach.possible[1:]
        if self.usual and rows:
            self._starts[slot], self._stops[slot] = 2 * rows[0][0], 2 * rows[-1][1]

    def _settles(self, slot: int, constraint: Constraint, reach: Reach) -> bool:
        """Return whether rows and columns say all about the floats; fills the columns."""
        if reach.exact:
            return True
        if self.columns is None or not isinstance(constraint, Numbers):
            return False
        pieces = footprint(constraint).numbers
        if len(pieces) != 1 or not pieces[0].sure:
            return False
        low, high, _ = pieces[0]
        lows, highs = self.columns
        if low != NUMBER_LINE.lowest:
            lows[slot] = float_after(low)
        if high != NUMBER_LINE.highest:
            highs[slot] = math.nextafter(float_after(high), -math.inf)
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


def _toggle(table: tuple[Words, ...], plain: _Plain) -> None:
    """Change the bits of intervals at the ends of the gaps around them."""
    slots, _, _, rows = plain
    size, words = table[0].shape
    word, bit = slots // WORD, _BITS[slots % WORD]
    # Where nothing is sure, all rows are doubted, and the two ends cancel each other.
    empty = rows.inner_first >= rows.inner_last
    first = np.where(empty, rows.first, rows.inner_first)
    last = np.where(empty, rows.first, rows.inner_last)
    refused, doubted = table
    for bitmap, starts, stops in ((refused, rows.first, rows.last), (doubted, first, last)):
        flat = bitmap.reshape(-1)
        np.bitwise_xor.at(flat, starts * words + word, bit)
        inside = stops < size
        np.bitwise_xor.at(flat, (stops * words + word)[inside], bit[inside])
    # Values that are not read are doubted, and not refused.
    np.bitwise_xor.at(refused[1], word, bit)
    np.bitwise_xor.at(doubted[0], word, bit)

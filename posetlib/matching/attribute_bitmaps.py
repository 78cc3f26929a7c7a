"""The bitmaps of one attribute: which (filter, interface) pairs its values exclude.

The values of the attribute fall into *rows* (see ``matching.cells``). Each row has two bitmaps with
one bit for each pair; ``AttributeBitmaps`` defines them. A set bit says *no*. So a pair whose
filter does not constrain the attribute needs no bit set, and the pairs that match a notification
are the bits that are zero in the OR over its attributes.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import FloatArray, Words
from posetlib.bits import WORD
from posetlib.constraints.base import Constraint
from posetlib.constraints.extents import NUMBER_LINE
from posetlib.matching.cells import (
    Cells,
    Intervals,
    Reach,
    RowRanges,
    as_floats,
    float_after,
)
from posetlib.matching.kind_indexes import IndexedSlots

__all__ = ["CELLS", "DOUBTED", "REFUSED", "WORD", "AttributeBitmaps"]

#: The two bitmaps of row r are lines 2 r + REFUSED and 2 r + DOUBTED of the table. They are
#: neighbours, so that one slice of the table writes both.
REFUSED: Final = 0
DOUBTED: Final = 1

#: About how many cells an attribute has. With more cells the bitmaps no longer fit into the
#: processor's caches; with fewer cells more pairs are in doubt and are tested one by one.
CELLS: Final = 1024
# The 64 bits of a word, as one array.
_BITS: Final = np.left_shift(np.uint64(1), np.arange(WORD, dtype=np.uint64))
# For each bit of a word: the bit, and all other bits. They are arrays without a dimension, with
# which numpy is faster than with scalars.
_BIT: Final = [each.reshape(()) for each in np.split(_BITS, WORD)]
_OTHER_BITS: Final = [each.reshape(()) for each in np.split(~_BITS, WORD)]
# Fewer intervals than this are written one by one, because the numpy calls would take longer.
_MIN_BATCH: Final = 16

# The first line in which a bit may be set. Line 0 is the REFUSED bitmap of the row UNKNOWN: values
# of that row are doubted by every constraint and refused by none.
_FIRST_LINE: Final = 1

# The slot of a pair, and the constraint that its filter has on the attribute.
_Constrained = tuple[int, Constraint]


class _FloatIntervals(NamedTuple):
    """Many closed intervals with ends that float64 holds, and the rows that they reach."""

    slots: NDArray[np.intp]
    lows: FloatArray
    highs: FloatArray
    rows: Intervals


class AttributeBitmaps:
    """The table of one attribute: two bitmaps for each row, one column of bits for each slot.

    The words that are used here and in ``BitmapMatcher``:

    slot
        The number of a bit in each bitmap (see ``matching.slots``). A slot has one pair or is free.
    refused
        A pair *refuses* a row if no value of the row satisfies its constraint.
    doubted
        A pair *doubts* a row if not every value of the row satisfies its constraint. So a refused
        row is doubted as well. A pair is *in doubt* about a row that it doubts and does not refuse.
    settle
        To find out whether a pair in doubt accepts a value: by the ends of its range
        (``float_ends``), or else by a test of the filter itself.
    odd
        A slot is odd if its doubts can be settled only by a test of the filter.
    usual
        The attribute is usual if most pairs constrain it.
    free
        A slot without a pair. Its bits are those of the commonest pair: in a usual attribute all
        are set, as if it refused every value; otherwise none is set. So a new pair with a range
        changes only the rows of its range in a usual attribute, and a new pair without a constraint
        changes nothing in another attribute.
    stray
        An odd pair that came after the cells were cut at every end of the pairs before it. With its
        own ends cut as well it would often not be odd, so many strays are a reason to build anew.
    indexed
        The constraint of the slot is of a kind that brings an index, which settles it for any
        value (see ``matching.kind_indexes``).

    Memory: two bits for each row and slot, and 16 bytes for each slot where there are float ends.
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
        #: By slot, the smallest and the largest float64 in the pair's range; infinite for a pair
        #: without a range. None if cells are cut at all ends of number ranges, so that rows settle.
        self.float_ends: tuple[FloatArray, FloatArray] | None = None
        if self.cells.many_numbers:
            size = words * WORD
            self.float_ends = (np.full(size, -np.inf), np.full(size, np.inf))
        #: The indexed slots.
        self.indexed = IndexedSlots(words)
        #: The number of strays.
        self.strays = 0
        #: The odd slots among those given.
        self.odd: list[int] = []
        # By slot, in a usual attribute: the first line that may have a zero bit, and the line after
        # the last one. Only these lines are written when the slot becomes free.
        slots = words * WORD if self.usual else 0
        self._starts = array("i", [_FIRST_LINE]) * slots
        self._stops = array("i", [2 * self.cells.size]) * slots
        self.table = self._filled(words, listed)

    def free(self, slots: Words) -> None:
        """Give these slots, a bitmap, the bits of free slots: O(rows × words)."""
        if self.usual:
            self.table[_FIRST_LINE:] |= slots

    def settled(self, row: int, value: Any) -> Words:
        """Return the two lines of a row for a value: indexed slots are not in doubt."""
        lines = self.table[2 * row : 2 * row + 2].copy()
        self.indexed.settle(lines, value)
        return lines

    # -- all at once -------------------------------------------------------------------------------

    def _filled(self, words: int, constrained: list[_Constrained]) -> Words:
        """Return the table of all pairs; sets ``odd`` and the float ends.

        The rows between the ranges of a pair are *gaps*: its bit is set in all rows of a gap. Only
        the first row of a gap, and the row after it, get a one at first. Then an accumulated XOR
        down the rows sets the bits between the two.
        """
        size = self.cells.size
        table: tuple[Words, ...] = tuple(np.zeros((size, words), np.uint64) for _ in range(2))
        intervals, rest = self._float_intervals(constrained)
        if intervals is not None:
            _toggle(table, intervals)
            self.odd = self._keep_intervals(intervals)
            if self.usual:
                np.frombuffer(self._starts, dtype=np.intc)[intervals.slots] = (
                    2 * intervals.rows.first
                )
                np.frombuffer(self._stops, dtype=np.intc)[intervals.slots] = 2 * intervals.rows.last
        for slot, constraint in rest:
            self.indexed.write(slot, constraint)
            reach = self.cells.reach(constraint)
            for bitmap, ranges in zip(table, (reach.possible, reach.sure), strict=True):
                for start, stop in _gaps(ranges, size):
                    bitmap[start, slot // WORD] ^= _BITS[slot % WORD]
                    if stop < size:
                        bitmap[stop, slot // WORD] ^= _BITS[slot % WORD]
            self._note_lines(slot, reach)
            if not self._settles(slot, constraint, reach):
                self.odd.append(slot)
        result = np.empty((2 * size, words), dtype=np.uint64)
        for which, bitmap in enumerate(table):
            np.bitwise_xor.accumulate(bitmap, axis=0, out=result[which::2])
        return result

    def _float_intervals(
        self, constrained: list[_Constrained]
    ) -> tuple[_FloatIntervals | None, list[_Constrained]]:
        """Return the closed intervals as arrays, and the constraints to be written one by one."""
        slots: list[int] = []
        lows: list[Any] = []
        highs: list[Any] = []
        rest = []
        for slot, constraint in constrained:
            if constraint.is_number_range:
                slots.append(slot)
                lows.append(constraint.low)
                highs.append(constraint.high)
            else:
                rest.append((slot, constraint))
        if len(slots) < _MIN_BATCH:
            return None, constrained
        low, high = (as_floats(ends, set(map(type, ends))) for ends in (lows, highs))
        rows = None if low is None or high is None else self.cells.reach_intervals(low, high)
        if low is None or high is None or rows is None:
            return None, constrained
        return _FloatIntervals(np.array(slots, dtype=np.intp), low, high, rows), rest

    def _keep_intervals(self, intervals: _FloatIntervals) -> list[int]:
        """Keep the ends of intervals, and return the odd slots: none where ends are kept."""
        if self.float_ends is not None:
            self.float_ends[0][intervals.slots], self.float_ends[1][intervals.slots] = (
                intervals.lows,
                intervals.highs,
            )
            return []
        rows = intervals.rows
        doubted = (rows.first < rows.inner_first) | (rows.inner_last < rows.last)
        odd: list[int] = intervals.slots[doubted].tolist()
        return odd

    # -- a few -------------------------------------------------------------------------------------

    def write(self, pairs: Iterable[tuple[int, Constraint | None]]) -> list[int]:
        """Write the bits of new pairs to free slots, and return the odd slots among these.

        A pair without a constraint accepts every value. O(rows) for each pair: one word in each row
        that its range reaches if the attribute is usual, otherwise in each row that it does not
        reach.
        """
        quick = self.usual and self.float_ends is not None
        odd = []
        for slot, constraint in pairs:
            written = quick and self._write_interval(slot, constraint)
            if not written and not self._write_any(slot, constraint):
                odd.append(slot)
        return odd

    def _write_interval(self, slot: int, constraint: Constraint | None) -> bool:
        """Write a closed interval in a usual attribute, the commonest case; False if it is none."""
        if constraint is None or not constraint.is_number_range:
            return False
        rows = self.cells.reach_interval(constraint.low, constraint.high)
        if rows is None:
            return False
        first, inner_first, inner_last, last = rows
        bit = slot % WORD
        column = self.table[2 * first : 2 * last, slot // WORD]
        np.bitwise_and(column, _OTHER_BITS[bit], column)
        if first < inner_first:
            column[DOUBTED] |= _BITS[bit]
        if inner_last < last:
            column[-1] |= _BITS[bit]
        self._starts[slot], self._stops[slot] = 2 * first, 2 * last
        assert self.float_ends is not None
        self.float_ends[0][slot], self.float_ends[1][slot] = constraint.low, constraint.high
        return True

    def _write_any(self, slot: int, constraint: Constraint | None) -> bool:
        """Write a pair of any kind, and return whether its slot is not odd."""
        bit = _BITS[slot % WORD]
        column = self.table[:, slot // WORD]
        if self.usual:
            self._starts[slot], self._stops[slot] = _FIRST_LINE, len(self.table)
        if self.float_ends is not None:
            self.float_ends[0][slot], self.float_ends[1][slot] = -np.inf, np.inf
        if constraint is None:
            if self.usual:
                column[_FIRST_LINE:] &= ~bit
            return True
        self.indexed.write(slot, constraint)
        reach = self.cells.reach(constraint)
        lines = [(2 * start, 2 * stop) for start, stop in reach.possible[1:]]
        if self.usual:
            for start, stop in lines:
                column[start:stop] &= ~bit
            self._note_lines(slot, reach)
        else:
            last = _FIRST_LINE
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
        """Give the slots of pairs the bits of free slots; O(rows) for each."""
        table = self.table
        for slot in slots:
            self.indexed.erase(slot)
            word, bit = slot // WORD, slot % WORD
            if self.usual:
                column = table[self._starts[slot] : self._stops[slot], word]
                np.bitwise_or(column, _BIT[bit], column)
            # A pair has a bit here exactly if it constrains the attribute: such a pair doubts the
            # row UNKNOWN. Other pairs have no bit to be cleared.
            elif table[DOUBTED, word] & _BITS[bit]:
                column = table[:, word]
                np.bitwise_and(column, _OTHER_BITS[bit], column)

    def _note_lines(self, slot: int, reach: Reach) -> None:
        """Note the first and last line that a constraint reaches, for ``erase``."""
        rows = reach.possible[1:]
        if self.usual and rows:
            self._starts[slot], self._stops[slot] = 2 * rows[0][0], 2 * rows[-1][1]

    def _settles(self, slot: int, constraint: Constraint, reach: Reach) -> bool:
        """Return whether no doubt about a float is left for a test; keeps the ends of a range."""
        if reach.exact or slot in self.indexed:
            return True
        if self.float_ends is None:
            return False
        extent = constraint.extent()
        pieces = extent.numbers
        if extent.domain != "number" or len(pieces) != 1 or not pieces[0].sure:
            return False
        low, high, _ = pieces[0]
        lows, highs = self.float_ends
        if low != NUMBER_LINE.lowest:
            lows[slot] = float_after(low)
        if high != NUMBER_LINE.highest:
            highs[slot] = math.nextafter(float_after(high), -math.inf)
        return True


def _gaps(ranges: RowRanges, size: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of rows between the given ones: from one row to before another."""
    start = 0
    for low, high in ranges:
        if start < low:
            yield start, low
        start = high
    if start < size:
        yield start, size


def _toggle(table: tuple[Words, ...], intervals: _FloatIntervals) -> None:
    """Change the bits of intervals in the first row of each gap, and in the row after the gap."""
    slots, _, _, rows = intervals
    size, words = table[0].shape
    word, bit = slots // WORD, _BITS[slots % WORD]
    # An interval that fills no row doubts all rows: both changes are made in the same row, where
    # they cancel each other.
    empty = rows.inner_first >= rows.inner_last
    first = np.where(empty, rows.first, rows.inner_first)
    last = np.where(empty, rows.first, rows.inner_last)
    refused, doubted = table
    for bitmap, starts, stops in ((refused, rows.first, rows.last), (doubted, first, last)):
        flat = bitmap.reshape(-1)
        np.bitwise_xor.at(flat, starts * words + word, bit)
        inside = stops < size
        np.bitwise_xor.at(flat, (stops * words + word)[inside], bit[inside])
    # The row UNKNOWN is doubted and not refused.
    np.bitwise_xor.at(refused[1], word, bit)
    np.bitwise_xor.at(doubted[0], word, bit)

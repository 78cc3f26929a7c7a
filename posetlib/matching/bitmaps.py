"""The bitmaps of one attribute: for each row of its cells, who refuses it and who is in doubt.

A bit stands for a (filter, interface) pair, and says *no*: in ``refused`` that no value of the row
satisfies the filter's constraint, in ``doubted`` that not all do. So an attribute that a filter
does not constrain costs it nothing, and a notification is matched by the bits that the OR of its
rows leaves at zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from posetlib.constraints.base import Constraint
from posetlib.constraints.numbers import Numbers
from posetlib.matching.cells import Cells, Ranges, Reach, float_after
from posetlib.matching.footprints import NUMBER_LINE

__all__ = ["WORD", "AttributeBitmaps", "Words"]

#: Bits in a word.
WORD: Final = 64
Words = NDArray[np.uint64]

# Some thousand cells: with more the bitmaps leave the processor's caches, with fewer more is left
# to be checked one by one.
CELLS: Final = 1024
_BITS: Final = np.left_shift(np.uint64(1), np.arange(WORD, dtype=np.uint64))


class AttributeBitmaps:
    """Two bitmaps of rows × pairs, and the ranges themselves where cells are coarser than they are.

    Memory: two bits for each row and pair, and 16 bytes for each pair where there are columns.
    """

    def __init__(
        self, words: int, constrained: Iterable[tuple[int, Constraint]] = (), *, cells: int = CELLS
    ) -> None:
        listed = list(constrained)
        self.cells = Cells((constraint for _, constraint in listed), limit=cells)
        self.refused: Words
        self.doubted: Words
        #: The smallest and the largest float64 of each pair's range; all where it has none.
        self.columns: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        if self.cells.many_numbers:
            size = words * WORD
            self.columns = (np.full(size, -np.inf), np.full(size, np.inf))
        #: How many pairs were written since whose doubts come from cells too coarse for them.
        self.strays = 0
        #: The pairs, of those given, whose doubts only the filter itself can settle.
        self.odd = self._fill(words, listed)

    def _fill(self, words: int, constrained: list[tuple[int, Constraint]]) -> list[int]:
        """Write all pairs at once: a bit at each end of each gap, and the parity of those above."""
        # (slot, row) after (slot, row).
        refused: list[int] = []
        doubted: list[int] = []
        odd = []
        size = self.cells.size
        for slot, constraint in constrained:
            reach = self.cells.reach(constraint)
            for start, stop in _gaps(reach.possible, size):
                refused += (slot, start, slot, stop)
            for start, stop in _gaps(reach.sure, size):
                doubted += (slot, start, slot, stop)
            if not self._settles(slot, constraint, reach):
                odd.append(slot)
        self.refused = _parities(refused, size, words)
        self.doubted = _parities(doubted, size, words)
        return odd

    def write(self, slot: int, constraint: Constraint) -> bool:
        """Write the bits of one pair over zeros; False if its doubts are the filter's to settle.

        O(rows): one word of each.
        """
        reach = self.cells.reach(constraint)
        word, bit = slot // WORD, _BITS[slot % WORD]
        for table, ranges in ((self.refused, reach.possible), (self.doubted, reach.sure)):
            column = table[:, word]
            for start, stop in _gaps(ranges, self.cells.size):
                column[start:stop] |= bit
        settled = self._settles(slot, constraint, reach)
        if not settled and not self.cells.many_numbers and not self.cells.many_strings:
            self.strays += 1
        return settled

    def erase(self, slot: int) -> None:
        """Write zeros over the bits of one pair: O(rows)."""
        word, rest = slot // WORD, ~_BITS[slot % WORD]
        for table in (self.refused, self.doubted):
            column = table[:, word]
            column &= rest
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


def _parities(changes: list[int], size: int, words: int) -> Words:
    """Return bitmaps in which a slot's bit changes at each of its rows."""
    table = np.zeros((size + 1, words), dtype=np.uint64)
    slots, rows = np.array(changes, dtype=np.intp).reshape(-1, 2).T
    np.bitwise_xor.at(table.reshape(-1), rows * words + slots // WORD, _BITS[slots % WORD])
    np.bitwise_xor.accumulate(table, axis=0, out=table)
    return table[:size]

"""`WindowCounts`: how often many things happened, window by window.

A row of an array for the current window and for each of the last ones, a column for each counter.
All counters turn at once: the row of a new window is one that nobody remembers any more, cleared.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from posetlib.array_types import IntArray

__all__ = ["WindowCounts"]

# Counters for which there is room at first.
_ROOM: Final = 64


class WindowCounts:
    """Counters with numbers, all in the same window, with a history of some windows.

    >>> counts = WindowCounts(window=7, history=2)
    >>> first, second = counts.new(), counts.new()
    >>> counts.add(np.array([first, second]), np.array([1, 1]))
    array([1, 1])
    >>> counts.add_one(second)
    2
    >>> counts.turn(9)  # nothing happened in window 8
    >>> counts.read(second)
    (0, (2, 0))
    """

    __slots__ = ("_begun", "_counts", "_free", "window")

    def __init__(self, window: int, history: int) -> None:
        #: The current window.
        self.window = window
        self._counts: IntArray = np.zeros((history + 1, _ROOM), dtype=np.int64)
        #: By number, the window in which a counter began.
        self._begun = [window] * _ROOM
        # The numbers that nobody has, the lowest last.
        self._free = list(range(_ROOM))[::-1]

    def __len__(self) -> int:
        """How many numbers there are, in use or not."""
        return len(self._begun)

    def new(self) -> int:
        """Return the number of a new counter, at zero; O(1), amortised."""
        if not self._free:
            size = len(self._begun)
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)], axis=1)
            self._begun += [0] * size
            self._free = list(range(size, 2 * size))[::-1]
        number = self._free.pop()
        self._counts[:, number] = 0
        self._begun[number] = self.window
        return number

    def release(self, number: int) -> None:
        """Let a number be free for another counter."""
        self._free.append(number)

    def turn(self, window: int) -> None:
        """Go on to a later window; those in between were empty. An earlier one changes nothing."""
        if window > self.window:
            rows = len(self._counts)
            for each in range(max(self.window + 1, window - rows + 1), window + 1):
                self._counts[each % rows] = 0
            self.window = window

    def add(self, numbers: IntArray, amounts: IntArray) -> IntArray:
        """Add to some counters, each named once; return what they have now in this window."""
        row = self._counts[self.window % len(self._counts)]
        found: IntArray = row[numbers] + amounts
        row[numbers] = found
        return found

    def add_one(self, number: int) -> int:
        """Add 1 to a counter; return what it has now in this window."""
        row = self._counts[self.window % len(self._counts)]
        found = int(row[number]) + 1
        row[number] = found
        return found

    def read(self, number: int) -> tuple[int, tuple[int, ...]]:
        """Return what a counter has in this window, and in the last ones since it began."""
        rows = len(self._counts)
        first = max(self._begun[number], self.window - rows + 1)
        column: list[int] = self._counts[:, number].tolist()
        past = tuple(column[each % rows] for each in range(first, self.window))
        return column[self.window % rows], past

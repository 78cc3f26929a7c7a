"""Slots: which bit of a bitmap belongs to which (filter, interface) pair.

An interface with many filters has a *group*: some words of the bitmap that no other interface uses.
Whether a filter of the interface matches is then read from whole words. The other slots are
*loose*: they lie behind the groups and are read bit by bit. Pairs of interfaces with few filters
have loose slots, and so have pairs that came when their group was full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from posetlib.bits import WORD
from posetlib.filters.filter import Filter

__all__ = ["Slots"]

# Filters that an interface must hold to get a group: half a word of them. With fewer filters more
# than half of the bits would stay unused.
_MIN_GROUP: Final = WORD // 2
# One free slot is kept for every 16 pairs, so that new pairs find slots before all are assigned
# anew.
_PAIRS_PER_FREE_SLOT: Final = 16


class Slots:
    """The slots of pairs. A slot is the number of a bit; one without a pair is *free*.

    The numbers of the slots of word w run from 64 w to 64 w + 63.

    >>> slots = Slots(["I1"] * 100 + ["I2"])
    >>> slots.groups, slots.reserve("I1"), slots.reserve("I2") // 64 >= slots.grouped
    (['I1'], 0, True)
    """

    def __init__(self, interfaces: Iterable[Hashable]) -> None:
        counts = Counter(interfaces)
        #: The interfaces that have a group, and the first word of each.
        self.groups = [each for each, count in counts.items() if count >= _MIN_GROUP]
        widths = [_words(counts[each]) for each in self.groups]
        self.starts: NDArray[np.intp] = np.cumsum([0, *widths])[:-1].astype(np.intp)
        #: The number of words in groups, which come first, and the number of all words.
        self.grouped = sum(widths)
        total = sum(counts.values())
        few = total - sum(counts[each] for each in self.groups)
        self.words = self.grouped + _words(few + total // _PAIRS_PER_FREE_SLOT)
        #: For each word the number of its group; for a word of loose slots the number of groups.
        self.group_of_word: NDArray[np.intp] = np.repeat(
            np.arange(len(widths) + 1), [*widths, self.words - self.grouped]
        )
        #: By slot, the filter and the interface of its pair; None for a free slot.
        self.filters: list[Filter | None] = [None] * (self.words * WORD)
        self.interfaces: NDArray[np.object_] = np.empty(self.words * WORD, dtype=object)
        #: How many pairs have a loose slot.
        self.loose = 0
        # The free loose slots, and the free slots of each group by interface. The lowest number is
        # last, where ``pop`` takes it.
        self._free_loose = _descending(self.grouped, self.words)
        self._free_in_group = {
            each: _descending(start, start + width)
            for each, start, width in zip(self.groups, self.starts.tolist(), widths, strict=True)
        }

    def reserve(self, interface: Hashable) -> int | None:
        """Assign a free slot to a pair of an interface, and return it, None if none is left; O(1).

        The slot lies in the group of the interface if there is one that is not full.
        """
        free = self._free_in_group.get(interface)
        if not free:
            free = self._free_loose
            if not free:
                return None
            self.loose += 1
        slot = free.pop()
        self.interfaces[slot] = interface
        return slot

    def free(self, slot: int) -> None:
        """Let a slot be free; O(1)."""
        if slot < self.grouped * WORD:
            self._free_in_group[self.interfaces[slot]].append(slot)
        else:
            self._free_loose.append(slot)
            self.loose -= 1
        self.filters[slot] = self.interfaces[slot] = None


def _words(count: int) -> int:
    """Return how many words hold this many pairs, and some free slots, at least one."""
    return -(-(count + count // _PAIRS_PER_FREE_SLOT + 1) // WORD)


def _descending(start: int, stop: int) -> list[int]:
    """Return the slots of the words from ``start`` to before ``stop``, the highest first."""
    return list(range(start * WORD, stop * WORD))[::-1]

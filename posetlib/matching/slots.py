"""Where the bits of (filter, interface) pairs lie: whole words to an interface that fills some.

An interface with many filters has a *group* of words to itself, so that whether it is found is one
look at a range of words. The filters of interfaces that hold few, and those that find no room in
their group, lie *loose* behind the groups, and are read bit by bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from posetlib.filters import Filter
from posetlib.matching.bitmaps import WORD

__all__ = ["Slots"]

# Half a word: below that, bits of others had better share it.
_GROUP: Final = WORD // 2
# Room for so many more, before everything is laid out anew.
_ROOM: Final = 16


class Slots:
    """The places of pairs, some of them free.

    >>> slots = Slots(["I1"] * 100 + ["I2"])
    >>> slots.groups, slots.take("I1"), slots.take("I2") // 64 >= slots.grouped
    (['I1'], 0, True)
    """

    def __init__(self, interfaces: Iterable[Hashable]) -> None:
        counts = Counter(interfaces)
        #: The interfaces that have a group, and the first word of each.
        self.groups = [each for each, count in counts.items() if count >= _GROUP]
        widths = [_words(counts[each]) for each in self.groups]
        self.starts: NDArray[np.intp] = np.cumsum([0, *widths])[:-1].astype(np.intp)
        #: The number of words in groups, and of all words.
        self.grouped = sum(widths)
        total = sum(counts.values())
        few = total - sum(counts[each] for each in self.groups)
        self.words = self.grouped + _words(few + total // _ROOM)
        #: For each word the number of its group, beyond all groups if it has none.
        self.group_of_word: NDArray[np.intp] = np.repeat(
            np.arange(len(widths) + 1), [*widths, self.words - self.grouped]
        )
        self.filters: list[Filter | None] = [None] * (self.words * WORD)
        self.interfaces: NDArray[np.object_] = np.empty(self.words * WORD, dtype=object)
        #: How many pairs lie loose.
        self.loose = 0
        # Free places, the first one last; those of groups by interface.
        self._loose = _free(self.grouped, self.words)
        self._free = {
            each: _free(start, start + width)
            for each, start, width in zip(self.groups, self.starts.tolist(), widths, strict=True)
        }

    def take(self, interface: Hashable) -> int | None:
        """Return a free place for a filter of an interface, or None if there is none; O(1)."""
        free = self._free.get(interface)
        if not free:
            free = self._loose
            if not free:
                return None
            self.loose += 1
        slot = free.pop()
        self.interfaces[slot] = interface
        return slot

    def give_back(self, slot: int) -> None:
        """Let a place be taken again; O(1)."""
        if slot < self.grouped * WORD:
            self._free[self.interfaces[slot]].append(slot)
        else:
            self._loose.append(slot)
            self.loose -= 1
        self.filters[slot] = self.interfaces[slot] = None


def _words(count: int) -> int:
    return -(-(count + count // _ROOM + 1) // WORD)


def _free(start: int, stop: int) -> list[int]:
    return list(range(start * WORD, stop * WORD))[::-1]

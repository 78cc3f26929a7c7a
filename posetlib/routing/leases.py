"""Leases: entries that end by themselves unless their owner renews them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

from posetlib.graph.change import Item

__all__ = ["Entry", "Leases"]

#: What a lease is about: "subscribe" or "advertise", the filter, and its source.
Entry: TypeAlias = tuple[str, Item, Hashable]

# The heap is made anew when more than half of it, and more than this, are renewed or given up.
_STALE: Final = 64


class Leases:
    """When each leased entry ends, by a clock that is passed in.

    >>> now = 0.0
    >>> leases = Leases(lambda: now)
    >>> leases.grant(("subscribe", "f", "alice"), 10)
    >>> now = 10.0
    >>> leases.expired()
    [('subscribe', 'f', 'alice')]
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        #: When each entry ends, and the number of the grant.
        self._ends: dict[Entry, tuple[float, int]] = {}
        #: Source -> its entries: a client that goes must not cost a look at those of all others.
        self._of_source: dict[Hashable, dict[Entry, None]] = {}
        # (end, number, entry); an entry that was renewed or given up stays here until it is seen.
        self._queue: list[tuple[float, int, Entry]] = []
        self._granted = 0

    def __len__(self) -> int:
        return len(self._ends)

    def grant(self, entry: Entry, ttl: float | None) -> None:
        """Let an entry end after some seconds, whatever was said before; None: it does not end."""
        if ttl is None:
            self.forget(entry)
            return
        self._granted += 1
        self._of_source.setdefault(entry[2], {})[entry] = None
        end = self._ends[entry] = (self._clock() + ttl, self._granted)
        heappush(self._queue, (*end, entry))
        if len(self._queue) > 2 * len(self._ends) + _STALE:
            self._queue = [each for each in self._queue if self._stands(each)]
            heapify(self._queue)

    def _stands(self, queued: tuple[float, int, Entry]) -> bool:
        """Return whether a place in the queue is that of the entry's last grant."""
        end, number, entry = queued
        return self._ends.get(entry) == (end, number)

    def forget(self, entry: Entry) -> None:
        """Be told that an entry went."""
        if self._ends.pop(entry, None) is not None:
            others = self._of_source[entry[2]]
            del others[entry]
            if not others:
                del self._of_source[entry[2]]

    def forget_source(self, source: Hashable) -> None:
        """Be told that all entries of a source went."""
        for entry in self._of_source.pop(source, ()):
            del self._ends[entry]

    def expired(self) -> list[Entry]:
        """Return the entries that have ended by now, and forget them; the earliest first."""
        now = self._clock()
        ended = []
        while self._queue and self._queue[0][0] <= now:
            first = heappop(self._queue)
            if self._stands(first):
                self.forget(first[2])
                ended.append(first[2])
        return ended

    def next_end(self) -> float | None:
        """Return the seconds until the next entry ends, None if none does."""
        queue = self._queue
        while queue and not self._stands(queue[0]):
            heappop(queue)
        return max(0.0, queue[0][0] - self._clock()) if queue else None

    def remaining(self) -> dict[Entry, float]:
        """Return the seconds that each leased entry has left."""
        now = self._clock()
        return {entry: max(0.0, end - now) for entry, (end, _) in self._ends.items()}

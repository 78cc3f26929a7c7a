"""Which neighbour leads to which broker: the addresses in the tree, by which handovers find it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

__all__ = ["Addresses"]


class Addresses:
    """The brokers behind each neighbour, as the neighbours tell.

    In a tree each broker is behind one neighbour. If two brokers have one name, the one that was
    heard of first is meant.

    >>> addresses = Addresses("a")
    >>> addresses.learn("I1", ["b", "c"], []), addresses.next_hop("c")
    ((['b', 'c'], []), 'I1')
    """

    def __init__(self, own: str) -> None:
        self.own: Final = own
        self._via: dict[str, Hashable] = {}
        #: All that were ever heard of; those that are not reached now may come back.
        self.known: Final[set[str]] = set()

    def next_hop(self, broker: Hashable) -> Hashable | None:
        """Return the neighbour that leads to a broker, None while none does."""
        return self._via.get(broker) if isinstance(broker, str) else None

    def learn(
        self, neighbour: Hashable, added: Iterable[str], removed: Iterable[str]
    ) -> tuple[list[str], list[str]]:
        """Take what a neighbour tells; returns what the other neighbours are to be told."""
        gone = [each for each in removed if self._via.get(each) == neighbour]
        for each in gone:
            del self._via[each]
        new = [each for each in added if each not in self._via and each != self.own]
        self._via.update(dict.fromkeys(new, neighbour))
        self.known.update(new)
        return new, gone

    def drop(self, neighbour: Hashable) -> list[str]:
        """Forget what a neighbour told; returns what the others are to be told of as removed."""
        return self.learn(neighbour, (), self.behind(neighbour))[1]

    def behind(self, neighbour: Hashable) -> list[str]:
        """Return the brokers that a neighbour leads to."""
        return [name for name, via in self._via.items() if via == neighbour]

    def beside(self, neighbour: Hashable) -> list[str]:
        """Return the brokers that a neighbour is to be told of: this one, and all behind others."""
        return [self.own, *(name for name, via in self._via.items() if via != neighbour)]

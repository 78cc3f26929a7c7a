"""FIFO links between brokers, and the choice of the one that delivers next."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Hashable

from posetlib.routing import Update
from posetlib.simulation.events import Message

__all__ = ["Link", "Links"]


class Link:
    """One direction of the link between two brokers: messages arrive in the order of sending."""

    __slots__ = ("place", "queue", "source", "target")

    def __init__(self, source: Hashable, target: Hashable) -> None:
        self.source = source
        self.target = target
        self.queue: deque[Message] = deque()
        #: Where it stands in the list of links that are not empty; -1 if it is empty.
        self.place = -1

    def updates(self) -> list[Update]:
        """Return the updates under way, in order."""
        return [each for each in self.queue if isinstance(each, Update)]


class Links:
    """All links that are whole, in both directions. Sending and taking are O(1)."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._by_ends: dict[tuple[Hashable, Hashable], Link] = {}
        self._busy: list[Link] = []
        self.updates_under_way = 0

    def __contains__(self, ends: tuple[Hashable, Hashable]) -> bool:
        return ends in self._by_ends

    def __getitem__(self, ends: tuple[Hashable, Hashable]) -> Link:
        return self._by_ends[ends]

    @property
    def are_empty(self) -> bool:
        """Whether nothing is under way."""
        return not self._busy

    def busy(self) -> list[Link]:
        """Return the links with something under way."""
        return list(self._busy)

    def add(self, one: Hashable, other: Hashable) -> None:
        """Join two brokers, in both directions."""
        for source, target in ((one, other), (other, one)):
            self._by_ends[source, target] = Link(source, target)

    def remove(self, one: Hashable, other: Hashable) -> list[Message]:
        """Part two brokers; returns what was under way between them."""
        lost: list[Message] = []
        for ends in ((one, other), (other, one)):
            link = self._by_ends.pop(ends)
            lost += link.queue
            self.updates_under_way -= len(link.updates())
            if link.place >= 0:
                self._set_idle(link)
        return lost

    def send(self, source: Hashable, target: Hashable, message: Message) -> None:
        """Put a message behind all that was sent there before."""
        link = self._by_ends[source, target]
        link.queue.append(message)
        if link.place < 0:
            link.place = len(self._busy)
            self._busy.append(link)
        if isinstance(message, Update):
            self.updates_under_way += 1

    def choose(self) -> Link:
        """Return one of the links with something under way, by the seed."""
        return self._busy[int(self._random.random() * len(self._busy))]

    def take(self, link: Link) -> Message:
        """Take the first message from a link that is not empty."""
        message = link.queue.popleft()
        if not link.queue:
            self._set_idle(link)
        if isinstance(message, Update):
            self.updates_under_way -= 1
        return message

    def _set_idle(self, link: Link) -> None:
        last = self._busy.pop()
        if last is not link:
            self._busy[link.place] = last
            last.place = link.place
        link.place = -1

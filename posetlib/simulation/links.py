"""What is under way between brokers: FIFO links, direct messages, and which of them is next."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Hashable, Mapping
from typing import TypeAlias

from posetlib.routing import Update
from posetlib.routing.mobility import DirectMessage
from posetlib.simulation.events import Message, Publication

__all__ = ["Clock", "DirectPost", "Link", "Links"]

Ends: TypeAlias = tuple[Hashable, Hashable]


class Link:
    """One direction of the link between two brokers: messages arrive in the order of sending."""

    __slots__ = ("due", "numbers", "place", "queue", "source", "target")

    def __init__(self, source: Hashable, target: Hashable) -> None:
        self.source = source
        self.target = target
        self.queue: deque[Message] = deque()
        #: Where it stands in the list of links that are not empty; -1 if it is empty.
        self.place = -1
        #: With a clock: when its last message arrives, and the number of each message.
        self.due = 0.0
        self.numbers: deque[int] = deque()

    def updates(self) -> list[Update]:
        """Return the updates under way, in order, also those that come with another message."""
        found = []
        for each in self.queue:
            if isinstance(each, Update):
                found.append(each)
            elif not isinstance(each, Publication) and each.update is not None:
                found.append(each.update)
        return found


class DirectPost:
    """A message that passes beside the tree; each is on its own."""

    __slots__ = ("message", "source", "target")

    def __init__(self, source: Hashable, target: Hashable, message: DirectMessage) -> None:
        self.source = source
        self.target = target
        self.message = message


class Clock:
    """Simulated time: every message has a moment at which it arrives.

    ``delays`` has the seconds of each edge, in both directions; a broker takes ``processing``
    seconds for a message before it acts on it. A direct message takes the way through the tree
    without being processed in between.
    """

    def __init__(self, delays: Mapping[Ends, float], processing: float) -> None:
        self.delays = delays
        self.processing = processing
        self.now = 0.0
        self._number = 0
        self._moments: list[tuple[float, int, Link | DirectPost | tuple[Hashable, Hashable, int]]]
        self._moments = []

    def __len__(self) -> int:
        return len(self._moments)

    def sent(self, link: Link) -> None:
        """Note when a message that was put on a link will arrive: not before the one ahead."""
        delay = self.delays[link.source, link.target] + self.processing
        link.due = max(link.due, self.now + delay)
        link.numbers.append(self.note(link.due, link))

    def note(self, moment: float, what: Link | DirectPost | tuple[Hashable, Hashable, int]) -> int:
        """Note what happens at a moment; things of the same moment happen in order of noting."""
        self._number += 1
        heapq.heappush(self._moments, (moment, self._number, what))
        return self._number

    def next_moment(self) -> float | None:
        """Return when the next thing happens; a message taken earlier by hand may be the one."""
        return self._moments[0][0] if self._moments else None

    def pop(self) -> tuple[float, int, Link | DirectPost | tuple[Hashable, Hashable, int]]:
        """Return the next moment, its number and what happens, if it still does.

        Time goes on when the caller sets it.
        """
        return heapq.heappop(self._moments)


class Links:
    """All links that are whole, in both directions, and the messages beside them.

    Sending and taking are O(1), with a clock O(log messages).
    """

    def __init__(self, seed: int, clock: Clock | None = None) -> None:
        self._random = random.Random(seed)
        self._by_ends: dict[Ends, Link] = {}
        self._busy: list[Link] = []
        self._clock = clock
        self._direct: dict[DirectPost, None] = {}
        #: How many messages other than notifications are under way, direct ones included.
        self.signalling_under_way = 0

    def __contains__(self, ends: Ends) -> bool:
        return ends in self._by_ends

    def __getitem__(self, ends: Ends) -> Link:
        return self._by_ends[ends]

    @property
    def are_empty(self) -> bool:
        """Whether nothing is under way."""
        return not self._busy and not self._direct

    def busy(self) -> list[Link]:
        """Return the links with something under way."""
        return list(self._busy)

    def direct(self) -> list[DirectPost]:
        """Return the direct messages under way, in the order of sending."""
        return list(self._direct)

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
            if link.place >= 0:
                self._set_idle(link)
            link.queue.clear()
            link.numbers.clear()
        self.signalling_under_way -= sum(not isinstance(each, Publication) for each in lost)
        return lost

    def send(self, source: Hashable, target: Hashable, message: Message) -> None:
        """Put a message behind all that was sent there before."""
        link = self._by_ends[source, target]
        link.queue.append(message)
        if link.place < 0:
            link.place = len(self._busy)
            self._busy.append(link)
        if not isinstance(message, Publication):
            self.signalling_under_way += 1
        if self._clock is not None:
            self._clock.sent(link)

    def send_direct(self, post: DirectPost, delay: float = 0.0) -> None:
        """Send a message beside the tree; with a clock it arrives after a delay."""
        self._direct[post] = None
        self.signalling_under_way += 1
        if self._clock is not None:
            self._clock.note(self._clock.now + delay, post)

    def choose(self) -> Link | DirectPost:
        """Return a link with something under way, or a direct message, by the seed."""
        number = int(self._random.random() * (len(self._busy) + len(self._direct)))
        if number < len(self._busy):
            return self._busy[number]
        return list(self._direct)[number - len(self._busy)]

    def is_next(self, number: int, what: Link | DirectPost) -> bool:
        """Return whether a moment of the clock still stands: nobody took its message by hand."""
        if isinstance(what, DirectPost):
            return what in self._direct
        return bool(what.numbers) and what.numbers[0] == number

    def take(self, link: Link) -> Message:
        """Take the first message from a link that is not empty."""
        message = link.queue.popleft()
        if not link.queue:
            self._set_idle(link)
        if not isinstance(message, Publication):
            self.signalling_under_way -= 1
        if self._clock is not None:
            link.numbers.popleft()
        return message

    def take_direct(self, post: DirectPost) -> DirectMessage:
        """Take a direct message."""
        del self._direct[post]
        self.signalling_under_way -= 1
        return post.message

    def _set_idle(self, link: Link) -> None:
        last = self._busy.pop()
        if last is not link:
            self._busy[link.place] = last
            last.place = link.place
        link.place = -1

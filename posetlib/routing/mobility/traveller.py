"""The client's side of a handover: where it was, which stay this is, and what it has seen."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from posetlib.filters.filter import Filter
from posetlib.routing.mobility.messages import Journey

__all__ = ["Traveller"]


class Traveller:
    """A client that moves: it carries its epoch, its last broker, an outbox and what it has seen.

    >>> bob = Traveller("bob", "B1")
    >>> bob.leave()
    >>> bob.journey("B7").epoch
    1
    >>> bob.accept("id 5"), bob.accept("id 5")
    (True, False)
    """

    def __init__(self, name: Hashable, broker: Hashable, epoch: int = 0) -> None:
        self.name = name
        #: The broker of its newest session.
        self.broker = broker
        self.epoch = epoch
        #: Whether it is connected to that broker; False while it is on its way.
        self.connected = True
        #: Whether its newest session was announced, and it has not been there yet; and the broker
        #: of the session before that.
        self.is_announced = False
        self.announced_by: Hashable = None
        #: The protocol that its broker was told of when it left, None if there was none.
        self.expected: str | None = None
        #: What it published while it may not, in order.
        self.outbox: list[Any] = []
        self._seen: set[Hashable] = set()

    def accept(self, number: Hashable) -> bool:
        """Return whether a notification is new to it.

        No broker can tell: the one before may have delivered what has now come again.
        """
        if number in self._seen:
            return False
        self._seen.add(number)
        return True

    def leave(self, expected: str | None = None) -> None:
        """Disconnect; ``expected`` is the protocol that the broker was told of."""
        self.connected = False
        self.expected = expected

    def announce(self, broker: Hashable) -> None:
        """Be announced at a broker: the newest session will be there."""
        self.announced_by = self.broker
        self.broker = broker
        self.epoch += 1
        self.is_announced = True

    def journey(
        self,
        broker: Hashable,
        subscriptions: tuple[Filter, ...] = (),
        advertisements: tuple[Filter, ...] = (),
    ) -> Journey:
        """Connect to a broker that has no session of it; returns what to tell it.

        A broker at which it was announced, and which has not heard of that, takes the session of
        the announcement for its own.
        """
        here = self.is_announced and broker == self.broker
        if not here:
            self.epoch += 1
        found = Journey(
            self.name,
            self.epoch,
            self.announced_by if here else self.broker,
            subscriptions,
            advertisements,
            self.is_announced and not here,
            self.expected is not None,
        )
        self.stay(broker)
        return found

    def stay(self, broker: Hashable) -> None:
        """Connect to the broker that has its newest session already."""
        self.broker = broker
        self.connected = True
        self.is_announced = False
        self.expected = None

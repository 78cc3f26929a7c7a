"""Whether a subscription has *settled*: a notification that is published now is sure to come.

It has, for a session of a client and one of a publisher, when on every edge of the way the broker
nearer the publisher has an entry that matches, now and after each update that is under way there;
and with advertisements the other broker likewise knows that it will come. That lasts until the
client unsubscribes or the publisher withdraws, wherever they move. So what had settled when a
session was closed is kept, as *standing* claims, until everything is at rest.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from posetlib.filters.filter import Filter
from posetlib.routing import Router
from posetlib.simulation.clients import Client
from posetlib.simulation.links import Links

__all__ = ["End", "Standing", "Way", "way_between"]

_Change = tuple[tuple[Filter, ...], tuple[Filter, ...]]


class _Held(NamedTuple):
    """What a broker holds from another one, with the changes that are under way, in order."""

    held: tuple[Filter, ...]
    changes: tuple[_Change, ...]
    #: What it counts as holding whatever changes: the event types of rendezvous points.
    always: tuple[Filter, ...] = ()

    def carries(self, notification: Mapping[str, Any]) -> bool:
        return any(each.matches(notification) for each in self.always) or _stays(
            notification, self.held, self.changes
        )


class Way:
    """The state of a way between a client and a publisher at one moment."""

    __slots__ = ("_held", "path")

    def __init__(self, path: tuple[Hashable, ...], held: list[_Held]) -> None:
        self.path = path
        self._held = held

    def carries(self, notification: Mapping[str, Any]) -> bool:
        """Return whether a notification is sure to travel it."""
        return all(each.carries(notification) for each in self._held)


def way_between(
    path: tuple[Hashable, ...], routers: Mapping[Hashable, Router], links: Links
) -> Way | None:
    """Return the way along a path, given from the client's end; None if a link is broken."""
    held = []
    for near, far in pairwise(path):
        if (far, near) not in links:
            return None
        if near not in routers[far].always():
            changes = ((each.unsubscribe, each.subscribe) for each in links[near, far].updates())
            held.append(_Held(routers[far].subscriptions(near), tuple(changes)))
        options = routers[near].options
        if options["advertisements"]:
            changes = ((each.unadvertise, each.advertise) for each in links[far, near].updates())
            types = options["rendezvous"].get(far, ())
            held.append(_Held(routers[near].advertisements(far), tuple(changes), types))
    return Way(path, held)


def _stays(
    notification: Mapping[str, Any],
    held: Iterable[Filter],
    changes: Iterable[_Change],
) -> bool:
    """Return whether a held filter matches, now and after each change in turn.

    Only filters that match are followed: whatever covers one of them matches, too. Identity and
    simple routing keep covered filters, and simple routing a filter several times, which this
    leaves out: there it is False a little too often, never True.
    """
    matching = [each for each in held if each.matches(notification)]
    for removed, added in changes:
        if not matching:
            return False
        for gone in removed:
            matching = [each for each in matching if not _same(each, gone)]
        for new in added:
            if new.matches(notification) and not any(each.covers(new) for each in matching):
                matching = [each for each in matching if not new.covers(each)]
                matching.append(new)
    return bool(matching)


def _same(one: Filter, other: Filter) -> bool:
    return one == other or (one.covers(other) and other.covers(one))


# -- ends of a way, and claims that outlast them ---------------------------------------------------


class End(NamedTuple):
    """A session at one end of a way: whose it is, which, and what it asks for or announces."""

    client: Client
    epoch: int
    broker: Hashable
    #: None for a publisher that need not announce anything.
    filters: tuple[Filter, ...] | None

    def matches(self, notification: Mapping[str, Any]) -> bool:
        """Return whether the session itself would take a notification, or may publish it."""
        return self.filters is None or any(each.matches(notification) for each in self.filters)


class _Claim(NamedTuple):
    """A way that had settled when a session at one of its ends was closed."""

    publisher: End
    client: End
    way: Way
    #: How many withdrawals there were before.
    number: int


class _Withdrawal(NamedTuple):
    """A filter that a client withdrew in a stay, and what was left: what only it matched is out."""

    number: int
    epoch: int
    filter: Filter
    left: tuple[Filter, ...]

    def concerns(self, notification: Mapping[str, Any]) -> bool:
        return self.filter.matches(notification) and not any(
            each.matches(notification) for each in self.left
        )


class Standing:
    """What had settled for sessions that are closed, from then until all is at rest.

    A client that withdraws a filter in a new stay, and perhaps asks for it again, has no claim from
    an old one, though the session of that one still has the filter.
    """

    def __init__(self) -> None:
        self._claims: dict[tuple[Client, Client], list[_Claim]] = {}
        self._unsubscribed: dict[Client, list[_Withdrawal]] = {}
        self._unadvertised: dict[Client, list[_Withdrawal]] = {}
        self._withdrawals = 0

    def add(self, publisher: End, client: End, way: Way) -> None:
        """Keep what a way carries now."""
        pair = (publisher.client, client.client)
        self._claims.setdefault(pair, []).append(_Claim(publisher, client, way, self._withdrawals))

    def hold(self, publisher: Client, client: Client, notification: Mapping[str, Any]) -> bool:
        """Return whether a notification had settled once, for sessions that are closed."""
        return any(
            self.are_open(each.publisher, each.client, notification, each.number)
            and each.way.carries(notification)
            for each in self._claims.get((publisher, client), ())
        )

    def are_open(
        self,
        publisher: End,
        client: End,
        notification: Mapping[str, Any],
        number: int | None = None,
    ) -> bool:
        """Return whether two sessions would publish and take it, and did not withdraw since.

        ``number``: withdrawals from this one on count, whatever the stay.
        """
        return (
            publisher.matches(notification)
            and client.matches(notification)
            and not _is_withdrawn(self._unadvertised, publisher, notification, number)
            and not _is_withdrawn(self._unsubscribed, client, notification, number)
        )

    def unsubscribed(self, client: Client, filter: Filter) -> None:
        """Note that a client withdrew a subscription."""
        self._note(self._unsubscribed, client, filter, client.subscriptions)

    def unadvertised(self, client: Client, filter: Filter) -> None:
        """Note that a client withdrew an advertisement."""
        self._note(self._unadvertised, client, filter, client.advertisements)

    def _note(
        self,
        withdrawals: dict[Client, list[_Withdrawal]],
        client: Client,
        filter: Filter,
        left: Iterable[Filter],
    ) -> None:
        made = _Withdrawal(self._withdrawals, client.epoch, filter, tuple(left))
        self._withdrawals += 1
        withdrawals.setdefault(client, []).append(made)

    def broke(self, link: tuple[Hashable, Hashable]) -> None:
        """Take back what had to take a link that broke."""
        for claims in self._claims.values():
            claims[:] = [
                each
                for each in claims
                if not {link, link[::-1]}.intersection(pairwise(each.way.path))
            ]

    def forget(self, client: Client) -> None:
        """Forget a client that is gone for good."""
        for pair in [each for each in self._claims if client in each]:
            del self._claims[pair]
        self._unsubscribed.pop(client, None)
        self._unadvertised.pop(client, None)

    def clear(self) -> None:
        """Forget all: at rest everything has settled anyhow."""
        self._claims.clear()
        self._unsubscribed.clear()
        self._unadvertised.clear()


def _is_withdrawn(
    withdrawals: Mapping[Client, list[_Withdrawal]],
    end: End,
    notification: Mapping[str, Any],
    number: int | None,
) -> bool:
    return any(
        (each.epoch > end.epoch or (number is not None and each.number >= number))
        and each.concerns(notification)
        for each in withdrawals.get(end.client, ())
    )

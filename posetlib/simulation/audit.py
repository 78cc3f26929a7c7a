"""What is due to clients, and what came of it: faults of a run, with witnesses.

A publication is *due* to a client that subscribes to it when, as it is published, either no update
is under way anywhere, or the subscription has *settled*: on every edge of the way the broker nearer
the publisher has an entry for it, now and after each update that is under way there; and with
advertisements the other broker likewise knows that it will come. That lasts as long as the client
subscribes to it. What a client no longer wants, or what a broken link took, is not due any more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from posetlib.filters.filter import Filter
from posetlib.routing import Router
from posetlib.simulation.events import Publication
from posetlib.simulation.links import Links
from posetlib.simulation.sessions import Session
from posetlib.simulation.topology import Tree

__all__ = ["Audit", "Ledger", "is_settled"]

#: The most faults that are described; all are counted.
_MOST_WITNESSES: Final = 100


@dataclass(frozen=True, slots=True)
class Audit:
    """Counts over all publications and clients up to now, and a sentence for each fault.

    ``due``: pairs of a publication and a client that it must reach. ``delivered``: notifications
    that clients got. ``missed``: due, not delivered, and no longer under way. ``unwanted``:
    delivered to a client that did not subscribe to it, or published outside the advertisements of
    its publisher. ``duplicates``: delivered again in the same session. ``out_of_order``: delivered
    after a later one of the same publisher. ``excused``: pairs that were due until the client
    stopped subscribing, or until a link broke that they had still to take.
    """

    due: int = 0
    delivered: int = 0
    missed: int = 0
    unwanted: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    excused: int = 0
    witnesses: tuple[str, ...] = ()

    @property
    def faults(self) -> int:
        """How many faults there are in all; 0 in every run of a right network."""
        return self.missed + self.unwanted + self.duplicates + self.out_of_order

    def __str__(self) -> str:
        counts = (
            f"{name.replace('_', ' ')} {getattr(self, name)}"
            for name in ("due", "delivered", "missed", "unwanted", "duplicates", "out_of_order")
        )
        return "\n".join((", ".join(counts), *self.witnesses))


# -- settled ---------------------------------------------------------------------------------------


def is_settled(
    notification: Mapping[str, Any],
    path: Iterable[Hashable],
    routers: Mapping[Hashable, Router],
    links: Links,
) -> bool:
    """Return whether a notification is sure to travel a path, given from the client's end."""
    for near, far in pairwise(path):
        if (far, near) not in links:
            return False
        if near not in routers[far].always() and not _stays(
            notification,
            routers[far].subscriptions(near),
            ((each.unsubscribe, each.subscribe) for each in links[near, far].updates()),
        ):
            return False
        options = routers[near].options
        if options["advertisements"]:
            types = options["rendezvous"].get(far, ())
            if not any(each.matches(notification) for each in types) and not _stays(
                notification,
                routers[near].advertisements(far),
                ((each.unadvertise, each.advertise) for each in links[far, near].updates()),
            ):
                return False
    return True


def _stays(
    notification: Mapping[str, Any],
    held: Iterable[Filter],
    changes: Iterable[tuple[tuple[Filter, ...], tuple[Filter, ...]]],
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


# -- the ledger ------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Account:
    """A publication that is under way: whom it is due to, and whom it has reached."""

    publication: Publication
    publisher: Session
    #: Whether the publisher had advertised it, or need not.
    announced: bool
    due: dict[Session, None]
    reached: set[Session] = field(default_factory=set)
    visited: set[Hashable] = field(default_factory=set)
    #: How many copies are on links or at a broker.
    copies: int = 1


class Ledger:
    """Keeps account of the publications under way, and counts the faults of all others."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._open: dict[int, _Account] = {}
        #: Session of a client -> session of a publisher -> the last number delivered.
        self._last: dict[Session, dict[Session, int]] = {}
        self._counts = dict.fromkeys(
            ("due", "delivered", "missed", "unwanted", "duplicates", "out_of_order", "excused"), 0
        )
        self._witnesses: list[str] = []

    def audit(self) -> Audit:
        """Return all counts up to now."""
        return Audit(**self._counts, witnesses=tuple(self._witnesses))

    def _accuse(self, fault: str, witness: str) -> None:
        self._counts[fault] += 1
        if len(self._witnesses) < _MOST_WITNESSES:
            self._witnesses.append(witness)

    # -- the way of a publication ------------------------------------------------------------------

    def published(
        self, publication: Publication, publisher: Session, announced: bool, due: Iterable[Session]
    ) -> None:
        """Open the account of a publication; its first copy is at its broker."""
        account = _Account(publication, publisher, announced, dict.fromkeys(due))
        self._counts["due"] += len(account.due)
        self._open[publication.number] = account

    def sent(self, publication: Publication) -> None:
        """Be told of a copy that was put on a link."""
        self._open[publication.number].copies += 1

    def handled(self, publication: Publication, broker: Hashable) -> None:
        """Be told of a copy that a broker has dealt with; the last one closes the account."""
        account = self._open[publication.number]
        account.visited.add(broker)
        self._end_copy(account)

    def _end_copy(self, account: _Account) -> None:
        account.copies -= 1
        if account.copies:
            return
        publication = account.publication
        for session in account.due:
            if session not in account.reached:
                self._accuse(
                    "missed",
                    f"{session} missed {publication}, due since it was published at "
                    f"{publication.broker} after step {publication.step}",
                )
        del self._open[publication.number]

    def delivered(self, publication: Publication, session: Session) -> None:
        """Be told of a client that was notified."""
        self._counts["delivered"] += 1
        account = self._open[publication.number]
        if not session.subscriptions.match(publication.notification):
            self._accuse(
                "unwanted", f"{session} got {publication}, and no subscription of it matches"
            )
        elif not account.announced:
            self._accuse(
                "unwanted",
                f"{session} got {publication}, which lies outside the advertisements of "
                f"{publication.publisher}",
            )
        if session in account.reached:
            self._accuse("duplicates", f"{session} got {publication} again")
            return
        account.reached.add(session)
        last = self._last.setdefault(session, {})
        before = last.get(account.publisher, 0)
        if before > publication.number:
            self._accuse(
                "out_of_order", f"{session} got {publication} after number {before} of the same"
            )
        else:
            last[account.publisher] = publication.number

    def strayed(self, publication: Publication, broker: Hashable, to: Hashable) -> None:
        """Be told of a destination that is neither a neighbour nor a client of the broker."""
        self._accuse("unwanted", f"{broker} sent {publication} to {to!r}, which is not there")

    # -- excuses -----------------------------------------------------------------------------------

    def stopped(self, session: Session) -> None:
        """Excuse what is under way to a client that has stopped subscribing to it."""

        def is_wanted(account: _Account, each: Session) -> bool:
            return each is not session or each.subscriptions.match(account.publication.notification)

        self._keep(is_wanted)

    def left(self, session: Session) -> None:
        """Forget a session that is over, and excuse what is under way to it."""
        self._last.pop(session, None)
        self._keep(lambda _, each: each is not session)

    def broke(self, link: tuple[Hashable, Hashable], lost: Iterable[Publication]) -> None:
        """Excuse what had still to take a link that broke, and end the copies lost on it."""

        def is_past(account: _Account, each: Session) -> bool:
            crossing = self._tree.crosses(account.publication.broker, each.broker, link)
            return crossing is None or crossing[1] in account.visited

        self._keep(is_past)
        for publication in lost:
            self._end_copy(self._open[publication.number])

    def _keep(self, is_due: Callable[[_Account, Session], bool]) -> None:
        for account in self._open.values():
            for session in list(account.due):
                if session not in account.reached and not is_due(account, session):
                    del account.due[session]
                    self._counts["due"] -= 1
                    self._counts["excused"] += 1

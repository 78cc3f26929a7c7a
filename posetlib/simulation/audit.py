"""What is due to clients, and what came of it: faults of a run, with witnesses.

A publication is *due* to a client that subscribes to it when, as it is published, either only
notifications are under way, or the subscription has *settled* (see ``settling``). That lasts as
long as the client subscribes to it, wherever client and publisher move. What a client no longer
wants, or what a broken link took, is not due any more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final

from posetlib.simulation.clients import Client
from posetlib.simulation.events import Publication
from posetlib.simulation.topology import Tree

__all__ = ["Audit", "Ledger"]

#: The most faults that are described; all are counted.
_MOST_WITNESSES: Final = 100
#: How many accounts may wait to be closed: looking through all queues costs as much as these.
_MOST_ENDING: Final = 512


@dataclass(frozen=True, slots=True)
class Audit:
    """Counts over all publications and clients up to now, and a sentence for each fault.

    ``due``: pairs of a publication and a client that it must reach. ``delivered``: notifications
    that clients got. ``missed``: due, not delivered, and neither under way nor in a queue.
    ``unwanted``: delivered to a client that did not subscribe to it, or published outside the
    advertisements of its publisher. ``duplicates``: delivered again, after the client has dropped
    what it knew to be double. ``out_of_order``: delivered after a later one of the same publisher.
    ``excused``: pairs that were due until the client stopped subscribing, or until a link broke
    that they had still to take. ``unfinished``: handovers that are not over; at rest, they are
    stuck.
    """

    due: int = 0
    delivered: int = 0
    missed: int = 0
    unwanted: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    excused: int = 0
    unfinished: int = 0
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
        text = ", ".join(counts)
        if self.unfinished:
            text += f", unfinished {self.unfinished}"
        return "\n".join((text, *self.witnesses))


# -- the ledger ------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Account:
    """A publication that is under way: whom it is due to, and whom it has reached."""

    publication: Publication
    publisher: Client
    #: Whether the publisher had advertised it, or need not.
    announced: bool
    due: dict[Client, None]
    reached: set[Client] = field(default_factory=set)
    visited: set[Hashable] = field(default_factory=set)
    #: How many copies are on links or at a broker.
    copies: int = 1


class Ledger:
    """Keeps account of the publications under way, and counts the faults of all others."""

    def __init__(self, tree: Tree, waiting: Callable[[], set[int]]) -> None:
        self._tree = tree
        #: Returns the numbers of the publications that wait in queues, or travel with them.
        self._waiting = waiting
        #: Whether a client ever left its broker: before, nothing can wait.
        self.has_queues = False
        self._open: dict[int, _Account] = {}
        #: Those of which no copy is on a link: over, unless one waits in a queue.
        self._ending: dict[int, _Account] = {}
        #: Client -> publisher -> the last number delivered.
        self._last: dict[Client, dict[Client, int]] = {}
        self._counts = dict.fromkeys(
            ("due", "delivered", "missed", "unwanted", "duplicates", "out_of_order", "excused"), 0
        )
        self._witnesses: list[str] = []

    def audit(self, unfinished: Iterable[str] = ()) -> Audit:
        """Return all counts up to now, with the handovers that are not over."""
        self._close()
        left = tuple(unfinished)
        return Audit(**self._counts, unfinished=len(left), witnesses=(*self._witnesses, *left))

    def _accuse(self, fault: str, witness: str) -> None:
        self._counts[fault] += 1
        if len(self._witnesses) < _MOST_WITNESSES:
            self._witnesses.append(witness)

    # -- the way of a publication ------------------------------------------------------------------

    def published(
        self, publication: Publication, publisher: Client, announced: bool, due: Iterable[Client]
    ) -> None:
        """Open the account of a publication; its first copy is at its broker."""
        account = _Account(publication, publisher, announced, dict.fromkeys(due))
        self._counts["due"] += len(account.due)
        self._open[publication.number] = account

    def released(self, publication: Publication) -> None:
        """Be told of a publication that waited in its publisher's outbox, and where it goes out."""
        self._open[publication.number].publication = publication

    def withdrew(self, publisher: Client) -> None:
        """Excuse what waits in an outbox, and lies outside what is left of the advertisements."""
        left = {each.number for each in publisher.outbox}
        if not left:
            return

        def is_due(account: _Account, _: Client) -> bool:
            publication = account.publication
            return publication.number not in left or publisher.advertisements.match(
                publication.notification
            )

        self._keep(is_due)

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
        if not account.copies:
            self._ending[account.publication.number] = account
            if not self.has_queues or len(self._ending) >= _MOST_ENDING:
                self._close()

    def _close(self) -> None:
        """Close the accounts of which nothing is left, on links or in queues."""
        if not self._ending:
            return
        waiting = self._waiting() if self.has_queues else set()
        for number in [each for each in self._ending if each not in waiting]:
            account = self._ending.pop(number)
            del self._open[number]
            publication = account.publication
            for client in account.due:
                if client not in account.reached:
                    self._accuse(
                        "missed",
                        f"{client} missed {publication}, due since it was published at "
                        f"{publication.broker} after step {publication.step}",
                    )

    def delivered(self, publication: Publication, client: Client) -> None:
        """Be told of a client that was notified."""
        self._counts["delivered"] += 1
        account = self._open[publication.number]
        if not client.subscriptions.match(publication.notification):
            self._accuse(
                "unwanted", f"{client} got {publication}, and no subscription of it matches"
            )
        elif not account.announced:
            self._accuse(
                "unwanted",
                f"{client} got {publication}, which lies outside the advertisements of "
                f"{publication.publisher}",
            )
        if client in account.reached:
            self._accuse("duplicates", f"{client} got {publication} again")
            return
        account.reached.add(client)
        last = self._last.setdefault(client, {})
        before = last.get(account.publisher, 0)
        if before > publication.number:
            self._accuse(
                "out_of_order", f"{client} got {publication} after number {before} of the same"
            )
        else:
            last[account.publisher] = publication.number

    def strayed(self, publication: Publication, broker: Hashable, to: Hashable) -> None:
        """Be told of a destination that is neither a neighbour nor a client of the broker."""
        self._accuse("unwanted", f"{broker} sent {publication} to {to!r}, which is not there")

    # -- excuses -----------------------------------------------------------------------------------

    def stopped(self, client: Client) -> None:
        """Excuse what is under way to a client that has stopped subscribing to it."""

        def is_wanted(account: _Account, each: Client) -> bool:
            return each is not client or each.subscriptions.match(account.publication.notification)

        self._keep(is_wanted)

    def left(self, client: Client) -> None:
        """Forget a client that is over, and excuse what is under way to it."""
        self._last.pop(client, None)
        self._keep(lambda _, each: each is not client)

    def disturbed(self, client: Client) -> None:
        """Excuse what is under way to a client, or waits in its outbox: its handover is cut."""
        left = {each.number for each in client.outbox}
        self._keep(
            lambda account, each: each is not client and account.publication.number not in left
        )

    def broke(self, link: tuple[Hashable, Hashable], lost: Iterable[Publication]) -> None:
        """Excuse what had still to take a link that broke, and end the copies lost on it."""

        def is_past(account: _Account, each: Client) -> bool:
            crossings = (
                self._tree.crosses(account.publication.broker, place, link) for place in each.places
            )
            return all(each is None or each[1] in account.visited for each in crossings)

        self._keep(is_past)
        for publication in lost:
            self._end_copy(self._open[publication.number])

    def _keep(self, is_due: Callable[[_Account, Client], bool]) -> None:
        """Excuse what is under way; what is not, and has not come, was lost before."""
        self._close()
        for account in self._open.values():
            for client in list(account.due):
                if client not in account.reached and not is_due(account, client):
                    del account.due[client]
                    self._counts["due"] -= 1
                    self._counts["excused"] += 1

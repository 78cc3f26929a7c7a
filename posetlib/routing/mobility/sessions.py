"""A session: what a broker keeps for one stay of a client, also after the client has gone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from posetlib.routing.mobility.messages import Note, Relocate, Request

__all__ = ["Session", "Stay"]


class Stay(NamedTuple):
    """The name of a session whose broker still has an older one of the same client."""

    client: Hashable
    epoch: int

    def __str__(self) -> str:
        return f"{self.client} (stay {self.epoch})"


class Session:
    """One stay of a client at a broker: (client, epoch), its queue, and how far its handover is.

    ``name`` is the name under which the router knows it. A session is *ready* once it has the queue
    of the one before it, *released* once what the client publishes may go out from here, and
    *finished* when both is so and nothing late is to come any more. Only then it is handed on.
    """

    __slots__ = (
        "asked",
        "client",
        "connected",
        "epoch",
        "forward_to",
        "is_pinged",
        "late_got",
        "late_sent",
        "late_to_come",
        "legs_open",
        "name",
        "queue",
        "ready",
        "released",
        "relocates",
        "request",
        "source",
    )

    def __init__(self, client: Hashable, epoch: int, name: Hashable, source: Hashable) -> None:
        self.client = client
        self.epoch = epoch
        self.name = name
        #: The broker that the client came from.
        self.source = source
        self.connected = False
        self.ready = False
        self.released = False
        self.queue: dict[Hashable, Note] = {}
        #: How many Done are still to come; one for each Relocate that was sent.
        self.legs_open = 0
        self.late_to_come = 0
        self.late_got = 0
        #: Who wants the session: the messages that have come, by leg, and a request.
        self.relocates: dict[int, Relocate] = {}
        self.request: Request | None = None
        #: Where late notifications go, once the queue was sent.
        self.forward_to: Hashable = None
        self.late_sent = 0
        #: The Relocate messages that this session sent, for another try.
        self.asked: list[Relocate] = []
        self.is_pinged = False

    @property
    def is_finished(self) -> bool:
        """Whether its own handover is over, so that it may be handed on."""
        return self.ready and self.released and self.has_all_late()

    def has_all_late(self) -> bool:
        """Return whether no late notification is to come."""
        return self.late_got >= self.late_to_come

    def take_over(self, notes: Iterable[Note]) -> None:
        """Put the queue of the session before in front of its own; each id once."""
        self.queue = {each.id: each for each in notes} | self.queue

    def __repr__(self) -> str:
        states = [each for each in ("connected", "ready", "released") if getattr(self, each)]
        return (
            f"<Session: {self.client} (stay {self.epoch}), {len(self.queue)} queued, "
            f"{', '.join(states) or 'away'}>"
        )

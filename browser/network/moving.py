"""Clients that move, as the page shows them: their sessions, what waits for them, in words."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import posetlib as pl
from browser.network.player import Link, Message
from browser.network.script import Script
from posetlib.merging.union_covering import union_covers
from posetlib.routing import Update
from posetlib.routing.mobility import DirectMessage
from posetlib.routing.mobility.messages import (
    Close,
    Done,
    Expect,
    Forget,
    Late,
    PathUpdate,
    Prepare,
    Ready,
    Relocate,
    Request,
    Signal,
    Transfer,
)

__all__ = [
    "Stay",
    "active_links",
    "advertised_links",
    "message_text",
    "queued",
    "sent_on",
    "stays",
    "subscriptions_in",
    "told",
    "why_carried",
]

#: What a message of a handover is for; the words in braces are fields of the message.
_MEANINGS: Final = {
    Relocate: "It asks {source} to hand over the session of {client}. Each broker on the way sends "
    "it on together with its own update.",
    Done: "{source} has closed the old session of {client}; what was pinned for it is let go.",
    PathUpdate: "It makes the way to {target} for {client}, before the client goes.",
    Signal: "Only brokers read it: it follows the subscriptions of {client}.",
    Transfer: "What waited for {client} at the old broker, which comes before all that waits here.",
    Late: "It came to the old session of {client} after its queue had been sent.",
    Request: "{target} wants the queue of {client}.",
    Prepare: "{source} announces {client}, which is to come.",
    Expect: "The old session of {client} is to wait for a ping.",
    Close: "Nobody wants the queue of {client}: the old session is closed.",
    Forget: "{client} is gone for good.",
    Ready: "What {client} publishes may go out.",
}
_SIGNS: Final = {
    "unsubscribe": "−",
    "subscribe": "+",
    "unadvertise": "− adv.",
    "advertise": "+ adv.",
}


class Stay(NamedTuple):
    """What a broker has of a client at a moment: its session, or what is left of an older one."""

    client: str
    broker: str
    epoch: int
    #: Whether it is the last one; the others are ghosts.
    is_last: bool
    #: "connected", "away" or "waiting" (for the queue of the one before); "closed" for a ghost
    #: whose session is over while its handover is not.
    state: str
    queued: int

    def __str__(self) -> str:
        words = {
            "connected": "is connected",
            "away": "is not connected, and queues",
            "waiting": "waits for the queue of the one before",
            "closed": "is closed; the handover is not over",
        }[self.state]
        kind = "session" if self.is_last else "old session"
        where = f"{kind} of {self.client} (stay {self.epoch}) at {self.broker}"
        return f"{where}: {words}; queued {self.queued:,}"


def stays(network: pl.Network, movers: Collection[str]) -> tuple[Stay, ...]:
    """Return all sessions of clients that move, and the old ones whose handover is not over."""
    sessions = [
        (broker, each)
        for broker, station in network.stations.items()
        for each in station.sessions.values()
        if each.client in movers
    ]
    clients = network.clients
    last: dict[Hashable, int] = {}
    for _, each in sessions:
        last[each.client] = max(each.epoch, last.get(each.client, -1))
    found = {}
    for broker, each in sessions:
        state = "away" if not each.connected else "connected" if each.ready else "waiting"
        is_last = each.epoch == last[each.client] and clients.get(each.client) == broker
        found[each.client, broker, each.epoch] = Stay(
            str(each.client), str(broker), each.epoch, is_last, state, len(each.queue)
        )
    for move in network.handovers:
        key = (move.client, move.source, move.epoch - 1)
        if not move.is_over and key not in found:
            found[key] = Stay(
                str(move.client), str(move.source), move.epoch - 1, False, "closed", 0
            )
    return tuple(found.values())


def queued(network: pl.Network) -> int:
    """Return how many notifications wait in the queues of sessions, or travel with one."""
    waiting = sum(
        len(session.queue)
        for station in network.stations.values()
        for session in station.sessions.values()
    )
    for message in chain.from_iterable(network.in_flight.values()):
        if isinstance(message, Transfer):
            waiting += len(message.notes)
        elif isinstance(message, Late):
            waiting += 1
    return waiting


# -- edges -----------------------------------------------------------------------------------------


def subscriptions_in(script: Script) -> dict[int, tuple[str, pl.Filter]]:
    """Return the subscriptions of a script by their lines: the client and the filter."""
    return {
        each.line: (each.arguments[0], each.arguments[-1])
        for each in script.actions
        if each.name in ("subscribe", "replace")
    }


def active_links(network: pl.Network, wanted: pl.Filter) -> frozenset[Link]:
    """Return where all that a filter matches goes on: from a broker to a neighbour.

    The broker has entries of the neighbour that together cover the filter, or sends it everything.
    """
    return frozenset(
        (str(far), str(near))
        for one, other in network.links
        for near, far in ((one, other), (other, one))
        if near in network.routers[far].always()
        or union_covers(network.routers[far].subscriptions(near), wanted)
    )


def advertised_links(network: pl.Network, wanted: pl.Filter) -> frozenset[Link]:
    """Return from where to where something was advertised that overlaps a filter."""
    if not network.options["advertisements"]:
        return frozenset()
    return frozenset(
        (str(far), str(near))
        for one, other in network.links
        for near, far in ((one, other), (other, one))
        if any(each.overlaps(wanted) for each in network.routers[near].advertisements(far))
    )


# -- words -----------------------------------------------------------------------------------------


def message_text(message: Message) -> str:
    """Return a message in few words: signs for what an update adds and takes away.

    >>> message_text(Update("B2", subscribe=(pl.parse_filter("x > 3"),)))
    '+ x > 3'
    """
    if isinstance(message, pl.Publication):
        return f"✉ {message.text}"
    if isinstance(message, DirectMessage):
        return str(message)
    if not isinstance(message, Update):
        name = message.name if isinstance(message, Signal) else message.kind
        words = f"{name} {message.client}"
        return words if message.update is None else f"{words}, {message_text(message.update)}"
    return ", ".join(
        f"{sign} {item}" for part, sign in _SIGNS.items() for item in getattr(message, part)
    )


def told(message: Message) -> str:
    """Return a message as a sentence about its delivery has it."""
    if isinstance(message, Update):
        return str(message).partition(": ")[2]
    if isinstance(message, pl.Publication):
        return f"notify {message.text}"
    if isinstance(message, DirectMessage):
        return f"directly, {message}"
    return str(message) if message.update is None else f"{message}, with {told(message.update)}"


def why_carried(message: Any, sent: Sequence[tuple[Link, Message]]) -> list[str]:
    """Return what a message of a handover is for, and what its receiver sends on."""
    fields = {name: getattr(message, name, "") for name in ("client", "source", "target")}
    return [_MEANINGS[type(message)].format(**fields), *sent_on(sent)]


def sent_on(sent: Iterable[tuple[Link, Message]]) -> list[str]:
    """Return messages that were sent, a line each."""
    return [f"To {link[1]}: {told(message)}." for link, message in sent]

"""Unsafe variants of ``update``, for study: each leaves out one thing, and fails for it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from posetlib.routing.messages import Update
from posetlib.routing.mobility.cover import Cover
from posetlib.routing.mobility.flood import Flood
from posetlib.routing.mobility.messages import DirectMessage, Journey, Ready, Relocate, Request
from posetlib.routing.mobility.messages import Transfer as _Transfer
from posetlib.routing.mobility.protocol import register
from posetlib.routing.mobility.rendezvous import Rendezvous
from posetlib.routing.mobility.sessions import Session
from posetlib.routing.mobility.update import UpdateProtocol

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["CoverFlood", "Junction", "NoEpochs", "NoPins", "ReadyDirect", "RendezvousDirect"]


class _Unsafe(UpdateProtocol):
    is_safe = False
    keeps_order = False


@register
class NoPins(_Unsafe):
    """Filters go only where an advertisement came from."""

    name = "update-without-pins"
    summary = "Where an advertisement has not come yet, the filters stay behind the message."

    def pin(self, station: Station, message: Relocate, hop: Hashable) -> None:
        """Pin nothing."""


@register
class NoEpochs(_Unsafe):
    """A broker takes any session of a client for the one that is asked for."""

    name = "update-without-epochs"
    summary = "A client that comes back meets its own message, which closes its new session."

    def wanted(self, station: Station, message: Relocate) -> Session | None:
        """Return the newest session of the client."""
        sessions = station.of_client(message.client)
        return max(sessions, key=lambda each: each.epoch) if sessions else None

    def serve(self, station: Station, session: Session) -> None:
        """Hand over the session, and end all others of the client."""
        if session.is_finished or session.epoch >= min(
            (each.epoch for each in session.relocates.values()), default=session.epoch + 1
        ):
            session.ready = session.released = True
            session.late_to_come = session.late_got
            others = [each for each in station.of_client(session.client) if each is not session]
            for each in others:
                session.take_over(each.queue.values())
                station.send(station.close(each))
            super().serve(station, session)

    def transfer(self, station: Station, session: Session, target: Hashable) -> None:
        """Send the queue to the session that was meant."""
        notes = tuple(session.queue.values())
        session.queue = {}
        (message, *_) = session.relocates.values()
        station.direct(target, _Transfer(self.name, session.client, message.epoch, notes))


@register
class ReadyDirect(_Unsafe):
    """What waits to be published is released by a direct message."""

    name = "update-ready-direct"
    summary = "The direct answer overtakes the subscriptions that the publisher needs."

    def send_done(
        self, station: Station, message: Relocate, late: int, updates: list[Update]
    ) -> None:
        """Also tell the new broker directly."""
        super().send_done(station, message, late, updates)
        station.direct(message.target, Ready(self.name, message.client, message.epoch))

    def direct_came(self, station: Station, message: DirectMessage) -> None:
        """Release the client at once."""
        session = station.find(message.client, message.epoch)
        if isinstance(message, Ready):
            if session is not None and not session.released:
                station.release(session)
                self.hand_on(station, session)
        else:
            super().direct_came(station, message)


@register
class Junction(_Unsafe):
    """The broker where the flow forks to a and b tells a directly."""

    name = "junction"
    summary = "The broker at the fork tells the old one directly: the way between is not flushed."

    def relocate_came(self, station: Station, message: Relocate, source: Hashable) -> None:
        """Stop where the filters are covered from the direction of a already."""
        if station.broker == message.source or not self.is_junction(station, message):
            super().relocate_came(station, message, source)
            return
        with station.router.together() as updates:
            if message.update is not None:
                station.router.receive(message.update, source)
        station.direct(
            message.source, Request("transfer", message.client, message.epoch, message.target)
        )
        self.send_done(station, message, 0, updates)

    def is_junction(self, station: Station, message: Relocate) -> bool:
        """Return whether a's subscriptions have come here."""
        held = station.router.subscriptions(station.next_hop(message.source))
        return all(any(one.covers(each) for one in held) for each in message.subscriptions)


@register
class RendezvousDirect(Junction, Rendezvous):
    """The rendezvous point tells a directly [T, Fig. 5.8]."""

    name = "rendezvous-direct"
    summary = "The rendezvous point tells the old broker directly: the way there is not flushed."

    def is_junction(self, station: Station, message: Relocate) -> bool:
        """Return whether this is the rendezvous point."""
        return message.via == (station.broker,)

    def routes(self, station: Station, journey: Journey) -> list[tuple[Hashable, ...]]:
        """Return the way by the first rendezvous point."""
        return Rendezvous.routes(self, station, journey)[:1]


@register
class CoverFlood(Cover, Flood):
    """``cover``, and where b is not covered ``flood``: the complete variant without addresses."""

    name = "cover-flood"
    summary = "As cover; a broker that has not subscribed already finds the old one by flooding."

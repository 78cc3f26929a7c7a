"""``path-update``, unsafe, for study: make-before-break as the thesis has it [T, Alg. 7 and 8].

a sends a message along the way to b that makes entries towards b at every broker; b then asks a for
the queue directly. What was sent towards a before the entries were made is still on its way when a
closes. With an answer hop by hop (``path-update-answered``) that is mended; entries made against
the direction of subscriptions still cross withdrawals that are under way.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from posetlib.routing.messages import Update
from posetlib.routing.mobility.messages import Journey, PathUpdate, Relocate, Request
from posetlib.routing.mobility.protocol import register
from posetlib.routing.mobility.sessions import Session
from posetlib.routing.mobility.update import UpdateProtocol

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["PathUpdateAnswered", "PathUpdateProtocol"]


@register
class PathUpdateProtocol(UpdateProtocol):
    """Entries made from a towards b, and a direct request."""

    name = "path-update"
    is_safe = False
    announces = needs_target = True
    keeps_order = False
    summary = "Entries are made towards the new broker: nothing flushes the way to the old one."

    def leaving(self, station: Station, session: Session, target: Hashable) -> None:
        """Make the way to where the client goes."""
        message = PathUpdate(
            self.name,
            session.client,
            session.epoch + 1,
            station.broker,
            target,
            station.subscriptions(session),
            station.advertisements(session),
        )
        self._go_to_target(station, message, None)

    def _go_to_target(self, station: Station, message: PathUpdate, source: Hashable) -> None:
        """Make an entry as if the next hop had subscribed already, and send the message there."""
        hop = station.next_hop(message.target)
        with station.router.together() as updates:
            if message.update is not None:
                station.router.receive(message.update, source)
            if hop in station.router.neighbours:
                station.router.receive(
                    Update(None, subscribe=message.subscriptions, advertise=message.advertisements),
                    hop,
                )
        station.send(updates, message, hop)

    def arriving(self, station: Station, journey: Journey) -> None:
        """Wait for the message, where the client was announced; elsewhere do as ``update`` does."""
        if journey.expected and not journey.announced:
            self.opened(station, journey)
        else:
            super().arriving(station, journey)

    def path_update_came(self, station: Station, message: PathUpdate, source: Hashable) -> None:
        """Send it on; at b, open the session and ask a."""
        if message.target != station.broker:
            self._go_to_target(station, message, source)
            return
        opened = station.find(message.client, message.epoch)
        if opened is None and station.has_seen(message.client, message.epoch):
            self._take_back(station, message, source)
            return
        session = opened or station.open(message.client, message.epoch, message.source)
        with station.router.together() as updates:
            if message.update is not None:
                station.router.receive(message.update, source)
            station.enter(session, message)
        station.send(updates)
        station.release(session)
        self.ask_source(station, session, message)

    def _take_back(self, station: Station, message: PathUpdate, source: Hashable) -> None:
        """Let the neighbour forget entries that it made for a client who does not come."""
        with station.router.together() as updates:
            if message.update is not None:
                station.router.receive(message.update, source)
        station.send(updates)
        sent = station.router.sent(source)
        unsubscribe = tuple(each for each in message.subscriptions if each not in sent.subscribe)
        unadvertise = tuple(each for each in message.advertisements if each not in sent.advertise)
        station.send([Update(source, (), unsubscribe, (), unadvertise)])

    def ask_source(self, station: Station, session: Session, message: PathUpdate) -> None:
        """Ask for the queue."""
        station.direct(
            message.source, Request(self.name, message.client, message.epoch, station.broker)
        )


@register
class PathUpdateAnswered(PathUpdateProtocol):
    """``path-update`` whose answer goes back along the way."""

    name = "path-update-answered"
    summary = "As path-update, answered hop by hop: entries still cross a withdrawal."

    def ask_source(self, station: Station, session: Session, message: PathUpdate) -> None:
        """Ask along the way."""
        relocate = Relocate(
            self.name, message.client, message.epoch, message.source, station.broker
        )
        session.asked, session.legs_open = [relocate], 1
        self.ask_again(station, session, relocate)

"""``update``: a message from the new broker to the old one, behind the filters it brings along.

1. The client leaves a; its session there (client, e) queues.
2. It comes to b, which opens (client, e + 1), not ready, and sends Relocate to a, as one message
   with the filters of the client.
3. Each broker on the way applies the filters and sends Relocate on, as one message with its own
   update, whether or not the filters would go further. It *pins* them for the next hop, so that
   they do go there, though no advertisement may have come from there yet.
4. a sends its queue to b directly, closes the session, and sends Done back along the way. If the
   session is not finished itself, all of that waits.
5. b puts the queue before its own, drops double ids, and delivers; until then it holds back.
6. The client drops what it has seen.

Why nothing is lost: when Relocate leaves a broker x, x has an entry towards b, so what comes to x
from then on goes to b; all that x sent towards a before arrives there before Relocate does.

A publisher moves in the same way. b advertises with Relocate; what is published waits in the
client's outbox. Done comes back behind every subscription that a knew, and the outbox goes out.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

from posetlib.routing.messages import Update
from posetlib.routing.mobility.messages import Done, Journey, Relocate, Transfer
from posetlib.routing.mobility.protocol import Protocol, register
from posetlib.routing.mobility.sessions import Session

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["UpdateProtocol", "pin_key"]


def pin_key(message: Relocate | Done) -> Hashable:
    """Return the key of the pins of one message on its way."""
    return (message.client, message.epoch, message.leg)


@register
class UpdateProtocol(Protocol):
    """Subscribe at the new broker, and follow that with a message to the old one."""

    name = "update"
    is_safe = True
    keeps_order = True
    summary = "A message follows the subscription to the old broker, which then hands over."

    def arriving(self, station: Station, journey: Journey) -> None:
        """Open a session and ask the old broker for the one before."""
        self.ask(station, self.opened(station, journey), journey)

    def routes(self, station: Station, journey: Journey) -> list[tuple[Hashable, ...]]:
        """Return for each Relocate the brokers that it visits on its way to the source."""
        return [()]

    def ask(self, station: Station, session: Session, journey: Journey) -> None:
        """Let the router have the filters, and send Relocate with what that means."""
        routes = self.routes(station, journey)
        session.asked = [
            Relocate(
                self.name,
                journey.client,
                journey.epoch,
                journey.source,
                station.broker,
                journey.subscriptions,
                journey.advertisements,
                journey.announced,
                route,
                route,
                leg,
                len(routes),
            )
            for leg, route in enumerate(routes)
        ]
        session.legs_open = len(routes)
        first, *others = session.asked
        with station.router.together() as updates:
            station.enter(session, journey)
            way = self.next_on_the_way(station, first)
        self.go_on(station, way, updates)
        for message in others:
            self.ask_again(station, session, message)

    def ask_again(self, station: Station, session: Session, message: Relocate) -> None:
        """Send a Relocate again, or another leg."""
        with station.router.together() as updates:
            way = self.next_on_the_way(station, message)
        self.go_on(station, way, updates)

    def next_on_the_way(
        self, station: Station, message: Relocate
    ) -> tuple[Relocate, Hashable] | None:
        """Pin the filters for the next hop; returns that, None if the message has arrived."""
        via = message.via
        while via and via[0] == station.broker:
            via = via[1:]
        goal = via[0] if via else message.source
        if goal == station.broker:
            return None
        hop = station.next_hop(goal)
        self.pin(station, message, hop)
        return replace(message, via=via), hop

    def pin(self, station: Station, message: Relocate, hop: Hashable) -> None:
        """Open the way for the filters to the next hop."""
        station.pin(message.subscriptions, hop, pin_key(message))

    def go_on(
        self, station: Station, way: tuple[Relocate, Hashable] | None, updates: list[Update]
    ) -> None:
        """Send the updates, and Relocate as one with that for the next hop."""
        if way is None:
            station.send(updates)
        else:
            station.send(updates, *way)

    def relocate_came(self, station: Station, message: Relocate, source: Hashable) -> None:
        """Apply what Relocate brings along; send it on, or serve it."""
        with station.router.together() as updates:
            if message.update is not None:
                station.router.receive(message.update, source)
            way = self.next_on_the_way(station, message)
        self.go_on(station, way, updates)
        if way is None:
            self.arrived(station, message)

    def arrived(self, station: Station, message: Relocate) -> None:
        """A Relocate is where it was sent to: serve it when the session is finished."""
        session = self.wanted(station, message)
        if session is not None:
            session.relocates[message.leg] = message
            self.serve(station, session)
        elif message.announced and not station.has_seen(message.client, message.epoch - 1):
            station.remember(message)
        else:
            if not station.has_seen(message.client, message.epoch - 1):
                # A broker that lost its state: nobody else will say that there is no queue.
                station.direct(message.target, Transfer(self.name, message.client, message.epoch))
            # Otherwise its queue was sent before, or there is no client any more.
            self.send_done(station, message, 0, [])

    def wanted(self, station: Station, message: Relocate) -> Session | None:
        """Return the session that a Relocate asks for."""
        return station.find(message.client, message.epoch - 1)

    def serve(self, station: Station, session: Session) -> None:
        """Hand a session over once it is finished and every Relocate for it has come."""
        if not session.relocates:
            Protocol.serve(self, station, session)
            return
        messages = list(session.relocates.values())
        if not session.is_finished or len(messages) < messages[0].legs:
            return
        if session.forward_to is None:
            self.transfer(station, session, messages[0].target)
        updates = station.close(session)
        for message in messages:
            self.send_done(station, message, session.late_sent, updates)
            updates = []

    def send_done(
        self, station: Station, message: Relocate, late: int, updates: list[Update]
    ) -> None:
        """Send Done back along the way that a Relocate came."""
        done = Done(
            self.name,
            message.client,
            message.epoch,
            message.source,
            message.target,
            late,
            bool(message.advertisements) or not message.subscriptions,
            message.route[::-1],
            message.leg,
        )
        via = done.via
        while via and via[0] == station.broker:
            via = via[1:]
        goal = via[0] if via else done.target
        if goal == station.broker:
            station.send(updates)
            self.done_arrived(station, done)
        else:
            station.send(updates, replace(done, via=via), station.next_hop(goal))

    def done_came(self, station: Station, message: Done, source: Hashable) -> None:
        """Clear pins; send Done on, or let the session be released."""
        via = message.via
        while via and via[0] == station.broker:
            via = via[1:]
        goal = via[0] if via else message.target
        with station.router.together() as updates:
            if message.update is not None:
                station.router.receive(message.update, source)
            station.router.unpin(pin_key(message))
        if goal == station.broker:
            station.send(updates)
            self.done_arrived(station, message)
        else:
            station.send(updates, replace(message, via=via), station.next_hop(goal))

    def done_arrived(self, station: Station, message: Done) -> None:
        """The old session is closed, and its subscriptions are known here."""
        session = station.find(message.client, message.epoch)
        if session is None:
            return  # the client is gone for good
        legs = [each for each in session.asked if each.leg != message.leg]
        if len(legs) < len(session.asked):
            session.asked = legs
            session.legs_open = len(legs)
            session.late_to_come = max(session.late_to_come, message.late)
        if not session.legs_open and not session.released:
            station.release(session)
        self.hand_on(station, session)

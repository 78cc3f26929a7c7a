"""``prepared``: ``update`` begun early, by the old broker, as its client says where it goes.

a announces the client at b, and b acts as if the client had come, but for the connection. A client
that comes to another broker than the announced one is handed over from the announced one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from posetlib.routing.mobility.messages import DirectMessage, Journey, Prepare
from posetlib.routing.mobility.protocol import register
from posetlib.routing.mobility.sessions import Session
from posetlib.routing.mobility.update import UpdateProtocol

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["Prepared"]


@register
class Prepared(UpdateProtocol):
    """``update`` before the client is there."""

    name = "prepared"
    announces = True
    summary = "The old broker announces the client, and the new one begins the update early."

    def leaving(self, station: Station, session: Session, target: Hashable) -> None:
        """Announce the client where it goes."""
        if target is not None:
            station.direct(
                target,
                Prepare(
                    self.name,
                    session.client,
                    session.epoch + 1,
                    station.broker,
                    station.subscriptions(session),
                    station.advertisements(session),
                ),
            )

    def direct_came(self, station: Station, message: DirectMessage) -> None:
        """Begin the handover of a client that is announced, unless it is out of date."""
        if not isinstance(message, Prepare):
            super().direct_came(station, message)
        elif not station.has_seen(message.client, message.epoch):
            journey = Journey(
                message.client,
                message.epoch,
                message.source,
                message.subscriptions,
                message.advertisements,
            )
            self.ask(station, self.opened(station, journey, connected=False), journey)

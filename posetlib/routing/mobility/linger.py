"""``linger``: the old broker sends its queue at once, and what comes late after it.

b asks a for the queue directly, so that it is ready after one round trip beside the tree. a stays
subscribed and sends late notifications to b, directly, until the Relocate of ``update`` comes along
the way: from then on nothing can come to a that does not come to b. Done says how many were sent
late: a session whose client has gone on waits for all of them before it is handed on in full.
Notifications overtake one another, so order is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posetlib.routing.mobility.messages import Journey, Request
from posetlib.routing.mobility.protocol import register
from posetlib.routing.mobility.sessions import Session
from posetlib.routing.mobility.update import UpdateProtocol

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["Linger"]


@register
class Linger(UpdateProtocol):
    """``update``, with the queue asked for directly and late notifications sent after it."""

    name = "linger"
    keeps_order = False
    summary = "The queue comes at once, late notifications after it until a message has come by."

    def ask(self, station: Station, session: Session, journey: Journey) -> None:
        """Ask along the way, and directly."""
        super().ask(station, session, journey)
        station.direct(
            journey.source, Request(self.name, journey.client, journey.epoch, station.broker)
        )

    def serve(self, station: Station, session: Session) -> None:
        """Send the queue as soon as it is complete; close when Relocate has come, too."""
        if session.request is not None and session.ready and session.forward_to is None:
            self.transfer(station, session, session.request.target)
            session.forward_to = session.request.target
        if session.relocates:
            UpdateProtocol.serve(self, station, session)

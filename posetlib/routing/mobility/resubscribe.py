"""``resubscribe``, unsafe, for study: end everything at the old broker, begin anew at the other."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from posetlib.routing.mobility.messages import Close, Journey
from posetlib.routing.mobility.protocol import Protocol, register
from posetlib.routing.mobility.sessions import Session

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["Resubscribe"]


@register
class Resubscribe(Protocol):
    """No handover at all: what there is without any."""

    name = "resubscribe"
    summary = "Unsubscribe, then subscribe: what is published in between is lost, and the queue."

    def leaving(self, station: Station, session: Session, target: Hashable) -> None:
        """End the session."""
        station.give_up(session)

    def arriving(self, station: Station, journey: Journey) -> None:
        """Open a session that hands over nothing."""
        session = self.opened(station, journey)
        with station.router.together() as updates:
            station.enter(session, journey)
        station.send(updates)
        session.ready = True
        station.release(session)
        if not journey.expected:
            station.direct(journey.source, Close(self.name, journey.client, journey.epoch - 1))

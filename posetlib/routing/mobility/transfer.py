"""``transfer``, unsafe, for study: the state transfer in four phases [T 5.3].

The filters go to b, b subscribes, a sends its queue and unsubscribes: all by direct messages, which
do not wait for the subscription to take effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posetlib.routing.mobility.messages import Journey, Request
from posetlib.routing.mobility.protocol import Protocol, register

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["FourPhases"]


@register
class FourPhases(Protocol):
    """Subscribe, and ask for the queue at once."""

    name = "transfer"
    summary = "The old broker closes on a direct request, while the subscription is under way."

    def arriving(self, station: Station, journey: Journey) -> None:
        """Subscribe and advertise, publish at once, ask directly."""
        session = self.opened(station, journey)
        with station.router.together() as updates:
            station.enter(session, journey)
        station.send(updates)
        station.release(session)
        station.direct(
            journey.source, Request(self.name, journey.client, journey.epoch, station.broker)
        )

"""``cover``, unsafe, for study: the covering optimisation [T 5.5].

If b has subscribed to all that the client wants already, for others, it asks a directly for the
queue. The thesis takes that to be safe when the subscriptions are complete. It is not: what passed
b before the client came is still on its way to a when a closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posetlib.routing.mobility.messages import Journey
from posetlib.routing.mobility.protocol import protocol_named, register
from posetlib.routing.mobility.update import UpdateProtocol

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["Cover"]


@register
class Cover(UpdateProtocol):
    """``update``, or where b is covered ``transfer``."""

    name = "cover"
    is_safe = False
    keeps_order = False
    summary = "A broker that has subscribed already asks directly: what passed it before is lost."

    def arriving(self, station: Station, journey: Journey) -> None:
        """Take the short cut if it is open."""
        if self._is_covered(station, journey):
            protocol_named("transfer").arriving(station, journey)
        else:
            super().arriving(station, journey)

    def _is_covered(self, station: Station, journey: Journey) -> bool:
        """Return whether b has subscribed to it all, or passes it on to a, and announced it all."""
        router, back = station.router, station.next_hop(journey.source)
        passing = router.subscriptions(back)
        for neighbour in router.neighbours:
            for each in journey.subscriptions:
                is_passing = neighbour == back and any(one.covers(each) for one in passing)
                if not is_passing and router.would_send(each, neighbour):
                    return False
            if any(
                router.would_send(each, neighbour, "advertise") for each in journey.advertisements
            ):
                return False
        return True

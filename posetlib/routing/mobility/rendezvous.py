"""``rendezvous``: ``update`` by way of the rendezvous points of what the client asks for.

Relocate goes to each rendezvous point whose event types overlap a filter of the client, and from
there to the old broker, hop by hop; that one waits for all of them. Each way contains the way from
b to a, so it is as safe as ``update``, and longer. Filters without a rendezvous point go straight.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from posetlib.routing.mobility.messages import Journey
from posetlib.routing.mobility.protocol import register
from posetlib.routing.mobility.update import UpdateProtocol

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["Rendezvous"]


@register
class Rendezvous(UpdateProtocol):
    """``update`` with a Relocate for each rendezvous point."""

    name = "rendezvous"
    summary = "As update, and the message goes by way of each rendezvous point."

    def routes(self, station: Station, journey: Journey) -> list[tuple[Hashable, ...]]:
        """Return a way for each rendezvous point that the filters concern."""
        filters = (*journey.subscriptions, *journey.advertisements)
        points = [
            (point,)
            for point, types in station.points.items()
            if any(each.overlaps(one) for each in types for one in filters)
        ]
        return list(points) or [()]

"""``flood``, unsafe, for study: the old broker found by content, without addresses [T 5.5.2].

Relocate goes wherever a subscription came from that covers the filters, or an advertisement that
overlaps them. Where nothing does it goes nowhere, and the handover never ends; and as no pins go
along, filters are missing where an advertisement had not come yet.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from posetlib.filters.filter import Filter
from posetlib.routing.messages import Update
from posetlib.routing.mobility.messages import Journey, Relocate
from posetlib.routing.mobility.protocol import register
from posetlib.routing.mobility.sessions import Session
from posetlib.routing.mobility.update import UpdateProtocol

if TYPE_CHECKING:
    from posetlib.routing.mobility.station import Station

__all__ = ["Flood"]


@register
class Flood(UpdateProtocol):
    """``update`` without addresses."""

    name = "flood"
    is_safe = False
    keeps_order = False
    summary = "Without addresses and pins: some handovers never end, some lose notifications."

    def ask(self, station: Station, session: Session, journey: Journey) -> None:
        """Send Relocate wherever the old broker may be."""
        message = Relocate(
            self.name,
            journey.client,
            journey.epoch,
            journey.source,
            station.broker,
            journey.subscriptions,
            journey.advertisements,
        )
        session.asked, session.legs_open = [message], 1
        with station.router.together() as updates:
            station.enter(session, journey)
        self._spread(station, message, updates, None)

    def ask_again(self, station: Station, session: Session, message: Relocate) -> None:
        """Flood again."""
        self._spread(station, message, [], None)

    def relocate_came(self, station: Station, message: Relocate, source: Hashable) -> None:
        """Apply what it brings along; serve it here, or send it on."""
        with station.router.together() as updates:
            if message.update is not None:
                station.router.receive(message.update, source)
        if self.wanted(station, message) is not None:
            station.send(updates)
            self.arrived(station, message)
        else:
            self._spread(station, message, updates, source)

    def _spread(
        self, station: Station, message: Relocate, updates: list[Update], source: Hashable
    ) -> None:
        left = {each.to: each for each in updates}
        for neighbour in station.router.neighbours:
            if neighbour != source and self._may_be(station, message, neighbour):
                mine = left.pop(neighbour, None)
                station.send([] if mine is None else [mine], message, neighbour)
        station.send(left.values())

    def _may_be(self, station: Station, message: Relocate, neighbour: Hashable) -> bool:
        """Return whether the old broker may lie behind a neighbour, by what came from there."""
        router = station.router
        subscribed = router.subscriptions(neighbour)
        advertised: tuple[Filter, ...] = ()
        if router.options["advertisements"]:
            advertised = router.advertisements(neighbour)
        return any(one.covers(each) for one in subscribed for each in message.subscriptions) or any(
            one.overlaps(each)
            for one in advertised
            for each in (*message.subscriptions, *message.advertisements)
        )

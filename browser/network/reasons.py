"""Why a broker sent what it sent, and why it did not, in words; read from its router."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import posetlib as pl
from browser.network.script import Action
from posetlib.routing import Update
from posetlib.routing.messages import PARTS

__all__ = ["listed", "notified", "tables_of", "why_notified", "why_updated"]

#: What is said of a filter, by the part of an update in which it stands.
_ADDED: Final = {"subscribe": "asked for it", "advertise": "advertised it"}
_REMOVED: Final = {"unsubscribe": "asks for it", "unadvertise": "advertises it"}
_MOST_NAMED: Final = 6


def listed(names: Iterable[object]) -> str:
    """Return names as a sentence has them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    words = [str(each) for each in names]
    if len(words) > _MOST_NAMED:
        words = [*words[:_MOST_NAMED], f"{len(words) - _MOST_NAMED} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def why_notified(network: pl.Network, hop: pl.Hop, publication: pl.Publication) -> list[str]:
    """Return where a notification went from a broker, and who had asked for it."""
    clients = network.clients
    router = network.routers[hop.broker]
    sessions = network.stations[hop.broker].sessions
    told = []
    for to, filters in hop.reasons.items():
        if to in sessions and not _is_reached(network, hop, to):
            told.append(f"It waits for {to}, which subscribes to {listed(filters)}.")
        elif filters:
            verb = "subscribes to" if to in clients else "asked for"
            told.append(f"To {to}, which {verb} {listed(filters)}.")
        elif network.options["algorithm"] == "flooding":
            told.append(f"To {to}: flooding sends every notification everywhere.")
        else:
            told.append(f"To {to}, the master, which gets every notification.")
    announced = hop.source not in clients or _is_announced(network, publication)
    if not announced:
        return [f"It goes nowhere: {hop.source} has not advertised it."]
    left = [each for each in router.neighbours if each not in hop.reasons and each != hop.source]
    if left:
        told.append(f"Not to {listed(left)}: nothing asked for from there matches.")
    if not hop.reasons:
        told.append("It ends here: nobody else asked for it.")
    return told


def notified(network: pl.Network, hop: pl.Hop) -> tuple[str, ...]:
    """Return the clients that have a notification at once from a broker."""
    clients = network.clients
    return tuple(
        str(to) for to in hop.destinations if to in clients and _is_reached(network, hop, to)
    )


def _is_reached(network: pl.Network, hop: pl.Hop, name: Hashable) -> bool:
    """Return whether a session hands notifications to its client, or lets them wait."""
    session = network.stations[hop.broker].sessions.get(name)
    return session is None or (session.connected and session.ready)


def _is_announced(network: pl.Network, publication: pl.Publication) -> bool:
    if not network.options["advertisements"]:
        return True
    held = network.routers[publication.broker].advertisements(publication.publisher)
    return any(each.matches(publication.notification) for each in held)


def why_updated(
    network: pl.Network,
    broker: Hashable,
    source: Hashable,
    asked: Update | Action,
    sent: Sequence[Update],
) -> list[str]:
    """Return why a broker tells its neighbours what it tells them, and of other ones why not.

    The update that came, or the operation of a client, has been applied already.
    """
    writer = _Writer(network, broker)
    told = [
        writer.why_sent(update.to, part, item)
        for update in sent
        for part in PARTS
        for item in getattr(update, part)
    ]
    told += writer.why_not(source, _changes(asked), sent)
    if told:
        return told
    others = [each for each in network.routers[broker].neighbours if each != source]
    return ["Nobody else need be told." if others else f"{broker} has no other neighbour to tell."]


def _changes(asked: Update | Action) -> list[tuple[str, pl.Filter]]:
    """Return what came, by the parts of an update."""
    if isinstance(asked, Update):
        return [(part, item) for part in PARTS for item in getattr(asked, part)]
    filters = [each for each in asked.arguments if isinstance(each, pl.Filter)]
    parts = ("unsubscribe", "subscribe") if asked.name == "replace" else (asked.name,)
    return list(zip(parts, filters, strict=False))


class _Writer:
    """Words about one broker, as its router is now."""

    def __init__(self, network: pl.Network, broker: Hashable) -> None:
        self._router = network.routers[broker]
        self._options = network.options
        #: The neighbour above in a hierarchy.
        self._master = self._router.options["master"]

    def why_sent(self, to: Hashable, part: str, item: pl.Filter) -> str:
        """Return why a neighbour is told of a filter."""
        holders = self._holders(part, item, to)
        if part.startswith("un"):
            return f"To {to}: {part} {item}: {self._why_removed(to, part, item, holders)}."
        return f"To {to}: {part} {item}: {self._why_added(to, part, item, holders)}."

    def _why_added(self, to: Hashable, part: str, item: pl.Filter, holders: list[str]) -> str:
        clauses = []
        if holders:
            clauses.append(f"{listed(holders)} {_ADDED[part]}")
        else:
            parts = [each for each in tables_of(self._router, part)[0] if item.covers(each)]
            clauses.append(f"it stands for {listed(parts)}" if parts else "it was asked for")
        if part == "subscribe" and self._options["advertisements"]:
            met = [each for each in self._router.advertisements(to) if each.overlaps(item)]
            if met:
                clauses.append(f"{to} advertised {listed(met)}")
        algorithm = self._options["algorithm"]
        if part == "subscribe" and to == self._master:
            clauses.append("the master gets every subscription")
        elif algorithm == "simple":
            clauses.append("simple routing passes on all")
        elif algorithm == "identity":
            clauses.append("nothing equal to it was sent there for anybody else")
        else:
            clauses.append("nothing else that is sent there covers it")
        return "; ".join(clauses)

    def _why_removed(self, to: Hashable, part: str, item: pl.Filter, holders: list[str]) -> str:
        covering = [each for each in self._sent(to, part) if each.covers(item)]
        if covering:
            return f"{covering[0]} takes its place"
        if not holders:
            table = tables_of(self._router, part)[0]
            own = item in table and to in table.interfaces(item)
            whole = "all of it" if self._router.options["merging"] else "it"
            who = f"nobody but {to}" if own else "nobody"
            return f"{who} {_REMOVED[part].removesuffix('it')}{whole} any more"
        if part == "unsubscribe" and self._options["advertisements"]:
            return f"{to} advertises nothing any more that overlaps it"
        return "it goes there no more"

    def why_not(
        self, source: Hashable, changes: list[tuple[str, pl.Filter]], sent: Sequence[Update]
    ) -> list[str]:
        """Return why neighbours are not told of changes that came from a source."""
        if self._options["algorithm"] == "flooding" and changes:
            return ["Nobody is told: with flooding every notification goes everywhere."]
        to = {update.to: update for update in sent}
        told: dict[str, list[Hashable]] = {}
        for part, item in changes:
            for neighbour in self._router.neighbours:
                if neighbour == source or item in getattr(to.get(neighbour), part, ()):
                    continue
                reason = self._why_not(neighbour, part, item)
                if reason:
                    told.setdefault(f"{item}: {reason}", []).append(neighbour)
        return [f"Not to {listed(them)}: {reason}." for reason, them in told.items()]

    def _why_not(self, neighbour: Hashable, part: str, item: pl.Filter) -> str:
        above = [each for each in self._sent(neighbour, part) if self._covers(each, item)]
        if part.startswith("un"):
            return self._why_kept(neighbour, part, item, above)
        if part == "subscribe" and self._master is not None and neighbour != self._master:
            return "subscriptions go up to the master only"
        if part == "subscribe" and self._options["advertisements"]:
            held = self._router.advertisements(neighbour)
            if not any(each.overlaps(item) for each in held):
                return "nothing that was advertised from there overlaps it"
        others = [each for each in above if each != item]
        if others:
            return f"{others[0]}, which is sent there, covers it"
        if above:
            return "it was sent there before"
        return ""

    def _why_kept(
        self, neighbour: Hashable, part: str, item: pl.Filter, above: list[pl.Filter]
    ) -> str:
        if item in above:
            return f"{listed(self._holders(part, item, neighbour))} {_REMOVED[part]} still"
        if above:
            return f"{above[0]}, which is sent there, covers it"
        return ""

    def _covers(self, one: pl.Filter, other: pl.Filter) -> bool:
        if self._options["algorithm"] in ("simple", "identity"):
            return one == other
        return one.covers(other)

    def _sent(self, to: Hashable, part: str) -> tuple[pl.Filter, ...]:
        told: tuple[pl.Filter, ...] = getattr(self._router.sent(to), part.removeprefix("un"))
        return told

    def _holders(self, part: str, item: pl.Filter, apart_from: Hashable) -> list[str]:
        """Return who holds a filter: neighbours, and clients by name."""
        router = self._router
        found: list[str] = []
        table, local = tables_of(router, part)
        if item in table:
            near = table.interfaces(item) - {apart_from}
            found += [str(each) for each in router.neighbours if each in near]
        if item in local:
            holders = local.interfaces(item)
            found += [str(each) for each in router.clients if each in holders]
        return found


def tables_of(router: pl.Router, part: str) -> tuple[pl.Table[pl.Filter], pl.Table[pl.Filter]]:
    """Return the external and the local table that a part of an update is about."""
    if part.endswith("subscribe"):
        return router.table, router.local_table
    return router.advertisement_table, router.local_advertisement_table

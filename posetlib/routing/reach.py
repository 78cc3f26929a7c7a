"""Reach: the neighbours that a filter may be sent to at all, before any covering.

More general filters always have at least the neighbours of those that they cover. Forwards sets
rely on it: then nothing below the second level of a table is sent anywhere [T, Theorem 3.4].
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Protocol

from posetlib.filters.filter import Filter
from posetlib.graph.links import LinksObserver
from posetlib.graph.nodes import Node
from posetlib.tables.table import Table

__all__ = ["Advertised", "Everywhere", "Pins", "Reach", "Rendezvous", "TowardsRendezvous"]

Interfaces = frozenset[Hashable]
#: The filters of the event types that meet at a rendezvous point, by the neighbour in whose
#: direction it lies; None for this router itself.
Rendezvous = Mapping[Hashable, tuple[Filter, ...]]


class Reach(Protocol):
    """Which neighbours filters of one kind may be sent to."""

    @property
    def of_all(self) -> Interfaces | None:
        """The neighbours of all filters alike, None if they depend on the filter."""

    def of(self, item: Filter) -> Interfaces:
        """Return the neighbours that a filter may be sent to."""

    def reaches(self, item: Filter, neighbour: Hashable) -> bool:
        """Return whether a filter may be sent to a neighbour."""


class Everywhere:
    """Every filter may go to every one of some neighbours."""

    def __init__(self, neighbours: Iterable[Hashable]) -> None:
        self._neighbours = frozenset(neighbours)

    @property
    def of_all(self) -> Interfaces | None:
        """These neighbours."""
        return self._neighbours

    def of(self, item: Filter) -> Interfaces:
        """Return these neighbours."""
        return self._neighbours

    def reaches(self, item: Filter, neighbour: Hashable) -> bool:
        """Return whether it is one of these neighbours."""
        return neighbour in self._neighbours


class Pins:
    """Filters that go to a neighbour whatever it advertises, each as long as a key holds it.

    A pin stands for all filters that cover it, too: merging and covering replace a filter by a
    wider one, which has to take its way.
    """

    def __init__(self) -> None:
        #: Neighbour -> filter -> the keys that hold it there.
        self._by_neighbour: dict[Hashable, dict[Filter, dict[Hashable, None]]] = {}

    def __len__(self) -> int:
        """The number of (filter, neighbour, key) that are held."""
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[tuple[Filter, Hashable, Hashable]]:
        for neighbour, pinned in self._by_neighbour.items():
            for item, keys in pinned.items():
                yield from ((item, neighbour, key) for key in keys)

    def add(self, item: Filter, neighbour: Hashable, key: Hashable) -> bool:
        """Let a key hold a filter at a neighbour; returns whether it is the first to do so."""
        keys = self._by_neighbour.setdefault(neighbour, {}).setdefault(item, {})
        keys[key] = None
        return len(keys) == 1

    def remove(self, key: Hashable) -> list[tuple[Filter, Hashable]]:
        """Let a key release all that it holds; returns what no key holds any more."""
        gone = []
        for neighbour, pinned in list(self._by_neighbour.items()):
            for item, keys in list(pinned.items()):
                if key in keys:
                    del keys[key]
                    if not keys:
                        del pinned[item]
                        gone.append((item, neighbour))
            if not pinned:
                del self._by_neighbour[neighbour]
        return gone

    def drop(self, neighbour: Hashable) -> None:
        """Forget what is held at a neighbour that is gone."""
        self._by_neighbour.pop(neighbour, None)

    def of(self, neighbour: Hashable) -> Iterable[Filter]:
        """Return the filters that are held at a neighbour."""
        return self._by_neighbour.get(neighbour, ())


class Advertised(LinksObserver):
    """Subscriptions go where an overlapping advertisement came from [T, Eq. 3.3], or to a pin.

    A rendezvous point counts as if it advertised all of its event types. A filter that covers one
    pinned for a neighbour goes there as well. The changes of the advertisements are collected, for
    the subscriptions that they overlap to be looked at again.
    """

    def __init__(
        self,
        neighbours: Iterable[Hashable],
        advertisements: Table[Filter],
        rendezvous: Rendezvous,
        pins: Pins,
        covers: Callable[[Filter, Filter], bool],
    ) -> None:
        self._neighbours = frozenset(neighbours)
        self._table = advertisements
        self._rendezvous = rendezvous
        self._pins = pins
        self._covers = covers
        self._changed: dict[tuple[Filter, Hashable], None] = {}
        advertisements._links.attach(self)

    @property
    def of_all(self) -> Interfaces | None:
        """None: it depends on the filter."""
        return None

    def set_neighbours(self, neighbours: Iterable[Hashable]) -> None:
        """Be told who the neighbours are."""
        self._neighbours = frozenset(neighbours)

    def held(self, node: Node, interface: Hashable) -> None:
        """Note a new advertisement of a neighbour."""
        if interface in self._neighbours:
            self._changed[node.item, interface] = None

    released = held

    def changes(self) -> list[tuple[Filter, Hashable]]:
        """Return the advertisements that came or went since the last call, with their neighbour."""
        changed = list(self._changed)
        self._changed.clear()
        return changed

    def of(self, item: Filter) -> Interfaces:
        """Return the neighbours that a filter goes to, for an advertisement or for a pin."""
        return frozenset(each for each in self._neighbours if self.reaches(item, each))

    def reaches(self, item: Filter, neighbour: Hashable) -> bool:
        """Return whether a filter overlaps an advertisement of a neighbour, or covers its pin."""
        if neighbour not in self._neighbours:
            return False
        if any(item.overlaps(each) for each in self._rendezvous.get(neighbour, ())):
            return True
        if any(self._covers(item, each) for each in self._pins.of(neighbour)):
            return True
        table = self._table
        if neighbour not in table._links.holders:
            return False
        candidates = table._search.held_meeting(table._probe(item), neighbour)
        return any(item.overlaps(node.item) for node in candidates)

    def because_of(self, item: Filter, neighbour: Hashable) -> Iterator[Filter]:
        """Yield the advertisements of a neighbour that overlap a filter, virtual ones first."""
        yield from (each for each in self._rendezvous.get(neighbour, ()) if item.overlaps(each))
        for node in self._table._links.holding(neighbour):
            if item.overlaps(node.item):
                yield node.item


class TowardsRendezvous:
    """Advertisements of an event type with a rendezvous point go towards it alone [T 4.8].

    An advertisement that no event type covers goes to all neighbours: some of what it announces
    has no rendezvous point.
    """

    def __init__(self, neighbours: Iterable[Hashable], rendezvous: Rendezvous) -> None:
        self._neighbours = frozenset(neighbours)
        self._rendezvous = rendezvous

    @property
    def of_all(self) -> Interfaces | None:
        """None: it depends on the filter."""
        return None

    def of(self, item: Filter) -> Interfaces:
        """Return the neighbours towards the points whose types overlap an advertisement."""
        types = [(each, to) for to, some in self._rendezvous.items() for each in some]
        if not any(each.covers(item) for each, _ in types):
            return self._neighbours
        return self._neighbours & {to for each, to in types if each.overlaps(item)}

    def reaches(self, item: Filter, neighbour: Hashable) -> bool:
        """Return whether an advertisement may be sent to a neighbour."""
        return neighbour in self.of(item)

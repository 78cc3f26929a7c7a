"""The router by its definition: lists, loops and nothing kept between updates but what was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from posetlib import Filter, Update

#: (filter, source) pairs in order.
Pairs = list[tuple[Filter, Any]]
LOCAL = object()


def minimal(filters: Iterable[Filter]) -> list[Filter]:
    """The filters that no other one covers."""
    some = list(dict.fromkeys(filters))
    return [f for f in some if not any(g != f and g.covers(f) for g in some)]


class PlainKind:
    """Filters of one kind: what clients and neighbours hold."""

    def __init__(self) -> None:
        self.clients: Pairs = []
        self.neighbours: Pairs = []

    def change(self, source: Any, removed: Iterable[Filter], added: Iterable[Filter], local: bool):
        mine = self.clients if local else self.neighbours
        for f in removed:
            if (f, source) in mine:
                mine.remove((f, source))
        for f in added:
            if local:
                if (f, source) not in mine:
                    mine.append((f, source))
            elif not any(s == source and g.covers(f) for g, s in mine):
                mine[:] = [(g, s) for g, s in mine if s != source or not f.covers(g)]
                mine.append((f, source))

    def drop(self, source: Any) -> None:
        for mine in (self.clients, self.neighbours):
            mine[:] = [(f, s) for f, s in mine if s != source]

    def entries(self) -> Pairs:
        return self.neighbours + [(f, LOCAL) for f in minimal(f for f, _ in self.clients)]

    def wanted_at(self, n: Any, reaches: Callable[[Filter, Any], bool]) -> list[Filter]:
        return minimal(f for f, s in self.entries() if s != n and reaches(f, n))


class PlainRouter:
    """Covering routing, with subscription or advertisement semantics; S_n is computed anew."""

    def __init__(self, neighbours: Iterable[Any], advertisements: bool, master: Any = None) -> None:
        self.neighbours = list(neighbours)
        self.master = master
        self.with_advertisements = advertisements
        self.subscriptions, self.advertisements = PlainKind(), PlainKind()
        #: (filter, neighbour, key) of each pin.
        self.pins: set[tuple[Filter, Any, Any]] = set()
        self.sent: dict[Any, tuple[set[Filter], set[Filter]]] = {
            n: (set(), set()) for n in self.neighbours
        }

    def apply(self, update: Update, source: Any) -> dict[Any, dict[str, Counter[Filter]]]:
        """Apply an update; return for each neighbour what it is sent, by part."""
        local = source not in self.neighbours
        self.subscriptions.change(source, update.unsubscribe, update.subscribe, local)
        self.advertisements.change(source, update.unadvertise, update.advertise, local)
        return self.messages()

    def pin(self, f: Filter, n: Any, key: Any) -> dict[Any, dict[str, Counter[Filter]]]:
        self.pins.add((f, n, key))
        return self.messages()

    def unpin(self, key: Any) -> dict[Any, dict[str, Counter[Filter]]]:
        self.pins = {pin for pin in self.pins if pin[2] != key}
        return self.messages()

    def add_neighbour(self, n: Any) -> dict[Any, dict[str, Counter[Filter]]]:
        self.neighbours.append(n)
        self.sent[n] = (set(), set())
        return self.messages()

    def drop(self, source: Any) -> dict[Any, dict[str, Counter[Filter]]]:
        self.subscriptions.drop(source)
        self.advertisements.drop(source)
        if source in self.neighbours:
            self.neighbours.remove(source)
            self.pins = {pin for pin in self.pins if pin[1] != source}
            del self.sent[source]
        return self.messages()

    def messages(self) -> dict[Any, dict[str, Counter[Filter]]]:
        found = {}
        for n in self.neighbours:
            old = self.sent[n]
            new = self.due(n)
            self.sent[n] = new
            parts = {}
            for before, after, plus, minus in (
                (old[0], new[0], "subscribe", "unsubscribe"),
                (old[1], new[1], "advertise", "unadvertise"),
            ):
                gone = {f for f in before - after if not any(g.covers(f) for g in after)}
                parts[plus], parts[minus] = Counter(after - before), Counter(gone)
            if any(parts.values()):
                found[n] = parts
        return found

    def due(self, n: Any) -> tuple[set[Filter], set[Filter]]:
        def everywhere(_f: Filter, _n: Any) -> bool:
            return True

        def to_the_master(_f: Filter, n: Any) -> bool:
            return n == self.master

        def advertised(f: Filter, n: Any) -> bool:
            return any(s == n and a.overlaps(f) for a, s in self.advertisements.neighbours) or any(
                to == n and f.covers(pinned) for pinned, to, _ in self.pins
            )

        reaches = everywhere if self.master is None else to_the_master
        if not self.with_advertisements:
            return set(self.subscriptions.wanted_at(n, reaches)), set()
        return (
            set(self.subscriptions.wanted_at(n, advertised)),
            set(self.advertisements.wanted_at(n, everywhere)),
        )

    def route(self, notification: dict[str, Any], source: Any) -> set[Any]:
        if (
            self.with_advertisements
            and source not in self.neighbours
            and not any(
                s == source and a.matches(notification) for a, s in self.advertisements.clients
            )
        ):
            return set()
        found = {s for f, s in self.subscriptions.neighbours if f.matches(notification)}
        if self.master is not None:
            found.add(self.master)
        found.discard(source)
        return found | {s for f, s in self.subscriptions.clients if f.matches(notification)}


def by_part(updates: Iterable[Update]) -> dict[Any, dict[str, Counter[Filter]]]:
    """The router's updates in the form of the plain router's."""
    found = {}
    for update in updates:
        assert update, "an update that says nothing"
        assert update.to not in found, f"two updates for {update.to}"
        found[update.to] = {
            part: Counter(getattr(update, part))
            for part in ("subscribe", "unsubscribe", "advertise", "unadvertise")
        }
    return found

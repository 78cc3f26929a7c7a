"""A matcher for items that are found by a part of the notification, such as its beginning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any

from posetlib.graph.change import Item, Pair
from posetlib.graph.counters import Counters

__all__ = ["LookupMatcher"]


class LookupMatcher(ABC):
    """Items in groups: of each group a notification matches the one item that has its key, if any.

    A match is one look for each group that is not empty, however many items there are. A subclass
    says which group and key an item has, and which key a notification asks a group for.
    """

    __slots__ = ("_groups", "counters")

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        #: Counts the items that matched; no other item is looked at.
        self.counters = Counters()
        # Group -> key -> the interfaces that hold the item.
        self._groups: dict[Hashable, dict[Hashable, dict[Hashable, None]]] = {}
        for item, interface in pairs:
            self.add(item, interface)

    @abstractmethod
    def _place(self, item: Item) -> tuple[Hashable, Hashable]:
        """Return the group of an item, and its key there, which is not None."""

    @abstractmethod
    def _key(self, notification: Any, group: Any) -> Hashable:
        """Return the key of the item of a group that matches a notification, None if none can."""

    def add(self, item: Item, interface: Hashable) -> None:
        """Let an interface hold an item."""
        group, key = self._place(item)
        self._groups.setdefault(group, {}).setdefault(key, {})[interface] = None

    def discard(self, item: Item, interface: Hashable) -> None:
        """Let an interface release an item, if it holds it."""
        group, key = self._place(item)
        held = self._groups.get(group, {}).get(key, {})
        held.pop(interface, None)
        if not held and group in self._groups:
            self._groups[group].pop(key, None)
            if not self._groups[group]:
                del self._groups[group]

    def match(self, notification: Any) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching item; O(groups)."""
        found: set[Hashable] = set()
        for group, items in self._groups.items():
            key = self._key(notification, group)
            held = None if key is None else items.get(key)
            if held is not None:
                self.counters.match_tests += 1
                found.update(held)
        return frozenset(found)

    def match_many(self, notifications: Iterable[Any]) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each notification."""
        return [self.match(notification) for notification in notifications]

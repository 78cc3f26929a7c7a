"""What a table knows of its items: who covers whom, what matches, and what can be told apart early.

Tables take the relation as an argument and know nothing else about the language. Two hints may
come with it; they save tests and never change an answer:

* ``canonical(item)``: the item is one of those of which no two are equivalent and not equal. As
  long as a table holds only such, a look in its hash table finds an item or there is none;
* ``partition``: items of two different kinds are incomparable, and no notification of one kind is
  matched by an item of another. An item of kind None may be comparable with everything.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from posetlib.change import Item
from posetlib.counters import Counters
from posetlib.nodes import Node

__all__ = ["NO_KIND", "Partition", "Probe", "Relation"]

#: The kind of a notification that only items of kind None can match.
NO_KIND: Final = ("no kind", object)


class Partition(Protocol):
    """Sorts items, and notifications, into kinds that have nothing to do with one another."""

    def of(self, item: Item) -> Hashable:
        """Return the kind of an item, None when it may be comparable with items of any kind."""

    def of_notification(self, notification: Any) -> Hashable:
        """Return the kind of the items that may match, ``NO_KIND`` when only kind None may."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The order that a table keeps, with its hints; a table has one for life.

    Functions must be at module level for a table to be pickled.
    """

    covers: Callable[[Item, Item], bool]
    matches: Callable[[Item, Any], bool] | None = None
    canonical: Callable[[Item], bool] | bool = False
    partition: Partition | None = None
    #: What the table calls its items when it refuses one; None accepts every hashable item.
    expects: str | None = None

    def is_canonical(self, item: Item) -> bool:
        """Return whether the item is equal to every canonical item that is equivalent to it."""
        return self.canonical if isinstance(self.canonical, bool) else self.canonical(item)

    def kind(self, item: Item) -> Hashable:
        """Return the kind of an item."""
        return None if self.partition is None else self.partition.of(item)

    def kind_of_notification(self, notification: Any) -> Hashable:
        """Return the kind of the items that may match; None when any may."""
        return None if self.partition is None else self.partition.of_notification(notification)


class Probe:
    """One item held against the nodes of a table: each question is put to the relation once.

    ``above(node)``: does the node cover the item? ``below(node)``: does the item cover the node?
    Every call of the relation is counted, and none is made for items of two kinds.
    """

    __slots__ = ("_above", "_below", "_counters", "_covers", "item", "kind")

    def __init__(self, relation: Relation, counters: Counters, item: Item, kind: Hashable) -> None:
        self.item = item
        self.kind = kind
        self._covers = relation.covers
        self._counters = counters
        self._above: dict[Node, bool] = {}
        self._below: dict[Node, bool] = {}

    def above(self, node: Node) -> bool:
        """Return whether the node covers the item."""
        known = self._above.get(node)
        if known is None:
            if self.kind is not None and node.kind is not None and node.kind != self.kind:
                return False
            self._counters.covering_tests += 1
            known = self._above[node] = bool(self._covers(node.item, self.item))
        return known

    def below(self, node: Node) -> bool:
        """Return whether the item covers the node."""
        known = self._below.get(node)
        if known is None:
            if self.kind is not None and node.kind is not None and node.kind != self.kind:
                return False
            self._counters.covering_tests += 1
            known = self._below[node] = bool(self._covers(self.item, node.item))
        return known

"""What a table knows of its items: who covers whom, what matches, and what can be told apart early.

Tables take the relation as an argument and know nothing else about the language. Some hints may
come with it; they save tests and never change an answer:

* ``canonical(item)``: the item is one of those of which no two are equivalent and not equal. As
  long as a table holds only such, a look in its hash table finds an item or there is none;
* ``partition``: items of two different kinds are incomparable, and no notification of one kind is
  matched by an item of another. An item of kind None may be comparable with everything;
* ``boxes``: makes what reads items as boxes (see ``posetlib.boxes``), for an index;
* ``follow``: makes a matcher of a table (see ``posetlib.matching.following``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from posetlib.boxes import Box, BoxReader, ends
from posetlib.change import Item, Pair
from posetlib.counters import Counters
from posetlib.nodes import Node, Traits

__all__ = ["NO_KIND", "Followed", "Follower", "Partition", "Probe", "Relation"]

#: The kind of a notification that only items of kind None can match.
NO_KIND: Final = ("no kind", object)


class Partition(Protocol):
    """Sorts items, and notifications, into kinds that have nothing to do with one another."""

    def of(self, item: Item) -> Hashable:
        """Return the kind of an item, None when it may be comparable with items of any kind."""

    def of_notification(self, notification: Any) -> Hashable:
        """Return the kind of the items that may match, ``NO_KIND`` when only kind None may."""


class Follower(Protocol):
    """Matches for a table, and is told of every pair that comes or goes."""

    def give(self, item: Item, interface: Hashable) -> None:
        """Be told that an interface holds an item now."""

    def take(self, item: Item, interface: Hashable) -> None:
        """Be told that an interface does not hold an item any more."""

    def match(self, notification: Any) -> frozenset[Hashable] | None:
        """Return the interfaces of a notification, None if the table had better walk."""

    def match_many(self, notifications: Collection[Any]) -> list[frozenset[Hashable]] | None:
        """Return the interfaces of each notification, None if the table had better walk."""


class Followed(Protocol):
    """What a table has that a follower reads."""

    counters: Counters

    def entries(self) -> tuple[Pair, ...]:
        """Return all pairs."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Relation:
    """The order that a table keeps, with its hints; a table has one for life.

    Functions must be at module level for a table to be pickled.
    """

    covers: Callable[[Item, Item], bool]
    matches: Callable[[Item, Any], bool] | None = None
    canonical: Callable[[Item], bool] | bool = False
    partition: Partition | None = None
    boxes: Callable[[], BoxReader] | None = None
    follow: Callable[[Followed], Follower] | None = None
    #: What the table calls its items when it refuses one; None accepts every hashable item.
    expects: str | None = None

    def is_canonical(self, item: Item) -> bool:
        """Return whether the item is equal to every canonical item that is equivalent to it."""
        return self.canonical if isinstance(self.canonical, bool) else self.canonical(item)

    def traits(self, item: Item, box: Box | None) -> Traits:
        """Return what is known of an item by itself, its box included."""
        kind = None if self.partition is None else self.partition.of(item)
        # Two closed ranges with the same ends are equal.
        canonical = (box is not None and box[5].exact) or self.is_canonical(item)
        return kind, canonical, box

    def kind_of_notification(self, notification: Any) -> Hashable:
        """Return the kind of the items that may match; None when any may."""
        return None if self.partition is None else self.partition.of_notification(notification)


class Probe:
    """One item held against the nodes of a table: each question is put to the relation once.

    ``above(node)``: does the node cover the item? ``below(node)``: does the item cover the node?
    Every call of the relation is counted, and none is made for items of two kinds.
    """

    __slots__ = (
        "_above", "_below", "_column", "_counters", "_covers", "box", "canonical", "item", "kind",
        "traits",
    )  # fmt: skip

    def __init__(self, relation: Relation, counters: Counters, item: Item, traits: Traits) -> None:
        self.item = item
        self.traits = traits
        self.kind, self.canonical, self.box = traits
        self._column: NDArray[np.float64] | None = None
        self._covers = relation.covers
        self._counters = counters
        self._above: dict[Node, bool] = {}
        self._below: dict[Node, bool] = {}

    @property
    def column(self) -> NDArray[np.float64]:
        """The ends of the box, as a column to be held against others."""
        if self._column is None:
            self._column = np.array(ends(self.box))[:, None]
        return self._column

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

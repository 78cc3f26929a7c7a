"""The matcher inside a table: built once walks have cost enough, then kept up to date.

A table matches a few notifications by walking through its nodes. For many notifications it is
faster to build a matcher from the entries of the table. From then on the matcher is told of every
pair that is added or removed.

How many notifications will come is not known. So the matcher is built when the walks so far have
taken a part of the time that building takes: what is lost is that part, however many come after.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any, Final, Protocol

from posetlib.graph.change import Pair
from posetlib.graph.counters import Counters
from posetlib.graph.links import LinksObserver
from posetlib.graph.nodes import Node
from posetlib.search.relation import Matcher

__all__ = ["TableMatcher"]

# The matcher is built once walks have visited 1 node for each filter. Building takes about 10 µs
# for a filter and a visit 1 to 3 µs: the walks have taken up to a third of the time to build.
_VISITS_PER_FILTER: Final = 1
# For a batch it is built at once if notifications × 32 >= filters: more are likely to follow.
_FILTERS_PER_MATCH: Final = 32
# In a table with fewer filters than this, a walk for a single notification is as fast.
_FEW_FILTERS: Final = 64


class MatchedTable(Protocol):
    """The part of a table that its matcher reads."""

    counters: Counters

    def entries(self) -> tuple[Pair, ...]:
        """Return all pairs."""

    def __len__(self) -> int: ...


class TableMatcher(LinksObserver):
    """The matcher of one table; ``match`` and ``match_many`` return None where a walk is better.

    A walk is better if the table is small, if its walks were short so far, or if it holds an item
    that the matcher cannot index (see ``matching.matcher.readable``).
    """

    __slots__ = ("_make", "_matcher", "_table", "_unreadable", "_visits")

    def __init__(self, table: MatchedTable, make: Callable[[Iterable[Pair]], Matcher]) -> None:
        self._table = table
        self._make = make
        #: None until it is built.
        self._matcher: Matcher | None = None
        #: How many nodes walks have visited before the matcher was built.
        self._visits = 0
        #: Whether the table was seen to hold an item that the matcher cannot index.
        self._unreadable = False

    # -- following the table -----------------------------------------------------------------------

    def held(self, node: Node, interface: Hashable) -> None:
        """Tell the matcher of a new pair; it is dropped for good if it cannot index the item."""
        if self._matcher is not None:
            try:
                self._matcher.add(node.item, interface)
            except TypeError:
                self._unreadable = True
                self._matcher = None

    def released(self, node: Node, interface: Hashable) -> None:
        """Tell the matcher of a pair that was removed."""
        if self._matcher is not None:
            self._matcher.discard(node.item, interface)

    # -- matching ----------------------------------------------------------------------------------

    def walked(self, visits: int) -> None:
        """Be told how many nodes a walk visited, after ``match`` returned None."""
        self._visits += visits

    def match_many(self, notifications: Collection[Any]) -> list[frozenset[Hashable]] | None:
        """Return the interfaces of each notification, or None if a walk is better.

        O(pairs) when the matcher is first built.
        """
        if len(notifications) * _FILTERS_PER_MATCH >= len(self._table) or self._walked_enough():
            matcher = self._built()
        else:
            matcher = self._matcher
        return None if matcher is None else matcher.match_many(notifications)

    def match(self, notification: Any) -> frozenset[Hashable] | None:
        """Return the interfaces of a notification, or None if a walk is better."""
        if len(self._table) < _FEW_FILTERS:
            return None
        matcher = self._matcher
        if matcher is None and self._walked_enough():
            matcher = self._built()
        return None if matcher is None else matcher.match(notification)

    def _walked_enough(self) -> bool:
        return self._visits >= len(self._table) * _VISITS_PER_FILTER

    def _built(self) -> Matcher | None:
        """Return the matcher, building it if need be; None if it cannot be built."""
        if self._matcher is None and not self._unreadable:
            self._build()
        return self._matcher

    def _build(self) -> None:
        """Build the matcher; it counts with the counters of the table."""
        try:
            matcher = self._make(self._table.entries())
        except TypeError:
            self._unreadable = True
            return
        matcher.counters = self._table.counters  # type: ignore[attr-defined]
        self._matcher = matcher

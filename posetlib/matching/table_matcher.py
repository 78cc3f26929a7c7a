"""The matcher inside a table: built after enough notifications, then kept up to date.

A table matches a few notifications by walking through its nodes. For many notifications it is
faster to build a matcher from the entries of the table. From then on the matcher is told of every
pair that is added or removed.
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

# The matcher is built once notifications × 32 >= filters: building takes some microseconds for each
# pair, and a walk takes some microseconds for each filter that it tests.
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

    A walk is better if the table is small, if it has matched few notifications, or if it holds an
    item that the matcher cannot index (see ``matching.matcher.readable``).
    """

    __slots__ = ("_asked", "_make", "_matcher", "_table", "_unreadable")

    def __init__(self, table: MatchedTable, make: Callable[[Iterable[Pair]], Matcher]) -> None:
        self._table = table
        self._make = make
        #: None until it is built.
        self._matcher: Matcher | None = None
        #: How many notifications came before the matcher was built.
        self._asked = 0
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

    def match_many(self, notifications: Collection[Any]) -> list[frozenset[Hashable]] | None:
        """Return the interfaces of each notification, or None if a walk is better.

        O(pairs) when the matcher is first built.
        """
        matcher = self._built(len(notifications))
        return None if matcher is None else matcher.match_many(notifications)

    def match(self, notification: Any) -> frozenset[Hashable] | None:
        """Return the interfaces of a notification, or None if a walk is better."""
        matcher = self._built(1)
        if matcher is None or len(self._table) < _FEW_FILTERS:
            return None
        return matcher.match(notification)

    def _built(self, notifications: int) -> Matcher | None:
        """Return the matcher, building it once enough notifications came; None before that."""
        if self._matcher is None and not self._unreadable:
            self._asked += notifications
            if self._asked * _FILTERS_PER_MATCH >= len(self._table):
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

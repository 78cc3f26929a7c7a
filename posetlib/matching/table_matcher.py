"""The matcher inside a table: built once walks have cost enough, then kept up to date.

A table matches a few notifications by walking through its nodes. For many notifications it is
faster to build a matcher from the entries of the table. From then on the matcher is told of every
pair that is added or removed.

How many notifications will come is not known. So the matcher is built when the walks so far have
taken a part of the time that building takes: what is lost is that part, however many come after.

Before that, as long as the table has not changed, it may answer from ``RangeColumns``: they are
made when walks have taken a part of the shorter time that *these* take, or at once if the table has
so many roots that already the first walk will be long.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from itertools import chain
from typing import Any, Final, Protocol

from posetlib.graph.change import Pair
from posetlib.graph.counters import Counters
from posetlib.graph.links import Links, LinksObserver
from posetlib.graph.nodes import Node
from posetlib.matching.columns import RangeColumns
from posetlib.search.relation import Matcher

__all__ = ["TableMatcher"]

# The matcher is built once walks have visited 1 node for each filter. Building takes about 10 µs
# for a filter and a visit 1 to 3 µs: the walks have taken up to a third of the time to build.
_VISITS_PER_FILTER: Final = 1
# Columns are made once walks have visited a node for every 4 filters, or before the first walk if
# one filter in 16 is a root: to make them takes about half a microsecond for a filter.
_FILTERS_PER_VISIT: Final = 4
_FILTERS_PER_ROOT: Final = 16
# A notification that columns answer counts as a visit to 1 node, and to one more for every so many
# filters: then the matcher is built when columns have taken about half the time that this takes.
_COLUMN_VISITS: Final = 1
_FILTERS_PER_COLUMN_VISIT: Final = 2048
# For a batch it is built at once if notifications × 32 >= filters: more are likely to follow.
_FILTERS_PER_MATCH: Final = 32
# In a table with fewer filters than this, a walk for a single notification is as fast.
_FEW_FILTERS: Final = 64


class MatchedTable(Protocol):
    """The part of a table that its matcher reads."""

    counters: Counters

    def entries(self) -> tuple[Pair, ...]:
        """Return all pairs."""


class TableMatcher(LinksObserver):
    """The matcher of one table; ``match`` and ``match_many`` return None where a walk is better.

    A walk is better if the table is small, if its walks were short so far, or if it holds an item
    that the matcher cannot index (see ``matching.matcher.readable``).
    """

    __slots__ = (
        "_changed", "_columns", "_enough", "_links", "_make", "_matcher", "_table", "_tried",
        "_unreadable", "_visits", "_visits_per_scan",
    )  # fmt: skip

    def __init__(
        self, table: MatchedTable, links: Links, make: Callable[[Iterable[Pair]], Matcher]
    ) -> None:
        self._table = table
        self._links = links
        self._make = make
        #: None until it is built.
        self._matcher: Matcher | None = None
        #: None until they are made, and for good once the table has changed.
        self._columns: RangeColumns | None = None
        #: Whether the table has changed, and whether it was tried to make columns: both at most
        #: once, so that updates between matches do not make them again and again.
        self._changed = False
        self._tried = False
        #: The visits after which columns are no longer used, and those that one scan counts as.
        self._enough = self._visits_per_scan = 0
        #: How many nodes walks have visited before the matcher was built.
        self._visits = 0
        #: Whether the table was seen to hold an item that the matcher cannot index.
        self._unreadable = False

    # -- following the table -----------------------------------------------------------------------

    def held(self, node: Node, interface: Hashable) -> None:
        """Tell the matcher of a new pair; it is dropped for good if it cannot index the item."""
        self._change()
        if self._matcher is not None:
            try:
                self._matcher.add(node.item, interface)
            except TypeError:
                self._unreadable = True
                self._matcher = None

    def released(self, node: Node, interface: Hashable) -> None:
        """Tell the matcher of a pair that was removed."""
        self._change()
        if self._matcher is not None:
            self._matcher.discard(node.item, interface)

    def _change(self) -> None:
        if not self._changed:
            self._changed = True
            self._columns = None

    # -- matching ----------------------------------------------------------------------------------

    def walked(self, visits: int) -> None:
        """Be told how many nodes a walk visited, after ``match`` returned None."""
        self._visits += visits

    def match_many(self, notifications: Collection[Any]) -> list[frozenset[Hashable]] | None:
        """Return the interfaces of each notification, or None if a walk is better.

        O(pairs) when the matcher is first built.
        """
        size = len(self._links.nodes)
        if len(notifications) * _FILTERS_PER_MATCH >= size or self._walked_enough():
            matcher = self._built()
        else:
            matcher = self._matcher
        return None if matcher is None else matcher.match_many(notifications)

    def match(self, notification: Any) -> frozenset[Hashable] | None:
        """Return the interfaces of a notification, or None if a walk is better."""
        columns = self._columns
        if columns is not None and self._visits < self._enough:
            self._visits += self._visits_per_scan
            return columns.match(notification)
        if len(self._links.nodes) < _FEW_FILTERS:
            return None
        matcher = self._matcher
        if matcher is None and self._walked_enough():
            matcher = self._built()
            self._columns = None
        if matcher is not None:
            return matcher.match(notification)
        columns = self._made_columns()
        return None if columns is None else columns.match(notification)

    def _made_columns(self) -> RangeColumns | None:
        """Return new columns, None if it is too early for them, or too late."""
        if self._tried or self._changed:
            return None
        size = len(self._links.nodes)
        if (
            self._visits * _FILTERS_PER_VISIT < size
            and len(self._links.top.children) * _FILTERS_PER_ROOT < size
        ):
            return None
        self._tried = True
        self._enough = size * _VISITS_PER_FILTER
        self._visits_per_scan = _COLUMN_VISITS + size // _FILTERS_PER_COLUMN_VISIT
        # Items and interfaces apart: tuples of both would take a fourth of the time.
        nodes = self._links.nodes.values()
        interfaces = list(chain.from_iterable([node.interfaces for node in nodes]))
        if len(interfaces) == len(nodes):  # one for each
            items = list(self._links.nodes)
        else:
            items = [node.item for node in nodes for _ in node.interfaces]
        self._columns = columns = RangeColumns.made(items, interfaces)
        return columns

    def _walked_enough(self) -> bool:
        return self._visits >= len(self._links.nodes) * _VISITS_PER_FILTER

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

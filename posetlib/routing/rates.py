"""`RateControl`: how many notifications a filter lets through in a window of time [T 3.8].

A rate limit is one more constraint of a filter, on an attribute that no notification has: `price >
3 and rate <= 20`. So limits are ordered as all constraints are, a greater one covers a smaller one,
and no limit covers all; they are parsed, written, indexed and merged like the rest of the filter.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic

import numpy as np

from posetlib.array_types import IntArray, ObjectArray
from posetlib.constraints.numbers import Numbers
from posetlib.errors import FilterError, UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.graph.change import Change
from posetlib.graph.nodes import Node
from posetlib.routing.window_counts import WindowCounts
from posetlib.tables.item_type import ItemT
from posetlib.tables.table import Table

__all__ = ["Rate", "RateControl", "split_limit"]

#: Which filters are measured, beside those that have a limit.
_MEASURES: Final = ("limited", "roots", "all")
# A matcher is made when walks have visited this many times the filters of the table: about as long
# as it takes to make one.
_VISITS_PER_FILTER: Final = 8
# More than is ever counted.
_NO_LIMIT: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate of one filter: notifications that it matched, window by window."""

    #: How many may pass in a window; None if there is no limit.
    limit: int | None
    #: How many it matched in the current window, those that were held back included.
    count: int
    #: The counts of the last complete windows, the oldest first.
    history: tuple[int, ...]

    @property
    def held_back(self) -> int:
        """How many were over the limit in the current window."""
        return 0 if self.limit is None else max(0, self.count - self.limit)

    @property
    def average(self) -> float:
        """The mean of the history: a moving average over complete windows; 0 before the first."""
        return sum(self.history) / len(self.history) if self.history else 0.0


class _Meter:
    """What is known of one node: its limit, and the number of its counter."""

    __slots__ = ("changes", "item", "limit", "node", "number")

    def __init__(self, node: Node, item: Any, limit: int | None, number: int) -> None:
        self.node = node
        #: What the node's item asks of a notification: the item without its limit.
        self.item = item
        self.limit = limit
        self.number = number
        #: Whether the node may answer otherwise than it does in the table.
        self.changes = limit is not None or item is not node.item


def split_limit(item: Filter, attribute: str = "rate") -> tuple[Filter, int | None]:
    """Return a filter without its rate limit, and the limit; None if it has none.

    FilterError for a constraint on the attribute that is no limit.

    >>> from posetlib import parse_filter
    >>> split_limit(parse_filter("price > 3 and rate <= 20"))
    (Filter('price > 3'), 20)
    """
    constraint = item.get(attribute)
    if constraint is None:
        return item, None
    limit = _limit(constraint)
    if limit is None:
        raise FilterError(
            f"a rate limit is written as {attribute} <= 20, with a number that is not negative; "
            f"this is no limit: {item}"
        )
    others = {name: each for name, each in item.constraints.items() if name != attribute}
    return Filter(others), limit


def _limit(constraint: Any) -> int | None:
    """Return the greatest count that a constraint admits, if it admits all smaller ones."""
    if not isinstance(constraint, Numbers) or constraint.is_whole_domain():
        return None
    pieces = constraint.extent().numbers
    if len(pieces) != 1 or constraint.is_integral() or constraint.matches(-math.inf) is False:
        return None
    end, closed = pieces[0].high
    greatest = math.floor(end) if closed else math.ceil(end) - 1
    return greatest if greatest >= 0 else None


class RateControl(Generic[ItemT]):
    """Matches notifications against a table, and holds back what is over a filter's rate limit.

    A filter counts every notification that it matches, in windows of ``window`` seconds from the
    clock's zero on. Over its limit it yields no interface until the next window; filters below it
    have their own counters, and go on. The filters and interfaces are those of the table, which is
    followed through every change; ``table.match`` itself knows no rates.

    ``measure`` says which filters are counted that have no limit: none ("limited"), the roots
    ("roots") or "all". ``history`` is how many complete windows are remembered. ``clock`` returns
    seconds; one that goes back stays in its window. For items of another language ``split``
    returns an item without its limit, and the limit or None.

    >>> from posetlib import NonRedundantForest, parse_filter
    >>> now = [0.0]
    >>> table = NonRedundantForest()
    >>> control = RateControl(table, clock=lambda: now[0])
    >>> _ = table.add(parse_filter("price > 3 and rate <= 2"), "I1")
    >>> [sorted(control.match({"price": 5})) for _ in range(3)]
    [['I1'], ['I1'], []]
    >>> now[0] = 1.0
    >>> control.match({"price": 5})
    frozenset({'I1'})
    >>> control.rate(parse_filter("price > 3 and rate <= 2"))
    Rate(limit=2, count=1, history=(3,))
    """

    def __init__(
        self,
        table: Table[ItemT],
        *,
        attribute: str = "rate",
        window: float = 1.0,
        history: int = 8,
        measure: str = "limited",
        clock: Callable[[], float] = time.monotonic,
        split: Callable[[ItemT], tuple[ItemT, int | None]] | None = None,
    ) -> None:
        if not window > 0:
            raise ValueError(f"a window lasts some seconds, not {window}")
        if history < 1:
            raise ValueError(f"the history is at least one window, not {history}")
        if measure not in _MEASURES:
            raise ValueError(f"measure is one of {', '.join(_MEASURES)}, not {measure!r}")
        if table._relation.matches is None:
            raise TypeError("the table was given covers= without matches=, so it cannot match")
        self.table = table
        self.window = window
        self._measure = measure
        self._clock = clock
        self._split: Callable[[Any], tuple[Any, int | None]] = split or (
            lambda item: split_limit(item, attribute)
        )
        self._matches: Callable[[Any, Any], bool] = table._relation.matches
        self._nodes: dict[Any, Node] = {}
        self._meters: dict[Node, _Meter] = {}
        self._counts = WindowCounts(int(clock() // window), history)
        # By the number of a counter: its limit, how much a match counts (0 if its filter is not
        # measured), and the interfaces of its node.
        self._limits: IntArray = np.full(len(self._counts), _NO_LIMIT, dtype=np.int64)
        self._weights: IntArray = np.zeros(len(self._counts), dtype=np.int64)
        self._holders: ObjectArray = np.empty(len(self._counts), dtype=object)
        # The version of the table whose roots are weighed.
        self._weighed_at = -1
        # Finds the numbers of all filters that match; None until walks have cost as much, and for
        # good if the table's language has none, or has items that it does not take.
        self._matcher: Any = None
        self._has_matcher = table._relation.matcher is not None
        self._visits = 0
        # How many filters have a limit, or do not match as they stand in the table.
        self._changed = 0
        # Meters of filters that the last change took out: they return if it is undone.
        self._gone: dict[Node, _Meter] = {}
        # The nodes with a measured node below them, or measured themselves, at a table's version.
        self._leading: set[Node] = set()
        self._leading_at = -1
        self._enter(table)
        self._stop = table.listen(self._follow)

    def close(self) -> None:
        """Follow the table no longer."""
        self._stop()

    # -- following the table -----------------------------------------------------------------------

    def _follow(self, change: Change[Any]) -> None:
        gone = {}
        self._enter(change.added)
        for item in change.removed:
            node = self._nodes.pop(item)
            gone[node] = meter = self._meters.pop(node)
            self._changed -= meter.changes
            if self._matcher is not None:
                self._matcher.discard(meter.item, meter.number)
        for node, meter in self._gone.items():
            if node not in self._meters:
                self._counts.release(meter.number)
        self._gone = gone

    def _enter(self, items: Iterable[Any]) -> None:
        self._turn()
        made = []
        for item in items:
            node = self.table._links.find(item)
            if node is None:  # pragma: no cover - the table has just said that it is there
                raise UnknownEntryError(f"{item} is not in the table")
            made.append((node, self._gone.get(node) or self._split(item)))
        for node, known in made:
            if isinstance(known, _Meter):
                meter = known
            else:
                meter = _Meter(node, *known, self._counts.new())
                self._prepare(meter)
            self._nodes[node.item] = node
            self._meters[node] = meter
            self._changed += meter.changes
            if self._matcher is not None:
                try:
                    self._matcher.add(meter.item, meter.number)
                except TypeError:
                    self._matcher, self._has_matcher = None, False

    def _prepare(self, meter: _Meter) -> None:
        """Write down what there is to know of a new counter."""
        more = len(self._counts) - len(self._limits)
        if more:
            self._limits = np.concatenate([self._limits, np.full(more, _NO_LIMIT)])
            self._weights = np.concatenate([self._weights, np.zeros(more, dtype=np.int64)])
            self._holders = np.concatenate([self._holders, np.empty(more, dtype=object)])
        number, limit = meter.number, meter.limit
        self._limits[number] = _NO_LIMIT if limit is None else min(limit, _NO_LIMIT - 1)
        self._weights[number] = limit is not None or self._measure == "all"
        self._holders[number] = meter.node.interfaces

    def _turn(self) -> None:
        """Go on to the window of the clock; one that goes back stays in its window."""
        self._counts.turn(int(self._clock() // self.window))

    # -- matching ----------------------------------------------------------------------------------

    def match(self, notification: Any) -> frozenset[Hashable]:
        """Return the interfaces of matching filters that are within their limits.

        A walk as that of ``table.match``, except that every matching filter is visited that is
        measured, whoever is in the answer already. After some walks a matcher finds all that match,
        if the table's language has one. Where no filter has a limit and none is measured, it is
        ``table.match``.
        """
        if not self._changed and self._measure == "limited":
            return self.table.match(notification)
        if self._matcher is not None:
            # A matcher of somebody's own has what tables ask of it, and that is ``match``.
            find = getattr(self._matcher, "match_pairs", self._matcher.match)
            return self._admitted(find(notification))
        answer = self._walk(notification)
        if self._has_matcher and self._visits > _VISITS_PER_FILTER * len(self._meters):
            make: Any = self.table._relation.matcher
            try:
                self._matcher = make(
                    [(meter.item, meter.number) for meter in self._meters.values()]
                )
            except TypeError:
                self._has_matcher = False
        return answer

    def _admitted(self, matching: Collection[int]) -> frozenset[Hashable]:
        """Count for these filters; return the interfaces of those that are within their limits."""
        if not matching:
            return frozenset()
        self._turn()
        if self._measure == "roots":
            self._weigh_roots()
        numbers = np.fromiter(matching, dtype=np.int64, count=len(matching))
        good = self._counts.add(numbers, self._weights[numbers]) <= self._limits[numbers]
        return frozenset().union(*self._holders[numbers[good]].tolist())

    def _weigh_roots(self) -> None:
        """Let the roots count, and those with a limit, and nobody else; O(roots) after a change."""
        version = self.table._version
        if self._weighed_at != version:
            self._weights = (self._limits < _NO_LIMIT).astype(np.int64)
            roots = self.table._links.top.children
            self._weights[[self._meters[node].number for node in roots]] = 1
            self._weighed_at = version

    def _walk(self, notification: Any) -> frozenset[Hashable]:
        table = self.table
        links, search, index = table._links, table._search, table._interface_index
        meters, leading, matches = self._meters, self._leading_nodes(), self._matches
        part = table._relation.part_of_notification(notification)
        by_all, roots_too = self._measure == "all", self._measure == "roots"
        self._turn()
        add_one = self._counts.add_one
        everyone = len(links.holders)
        top = links.top
        answer: set[Hashable] = set()
        bits = tests = 0
        queue = deque(search.below(top, part))
        waiting: dict[Node, int] = {}
        while queue:
            node = queue.popleft()
            self._visits += 1
            meter = meters[node]
            measured = meter.limit is not None or by_all or (roots_too and node.parents[0] is top)
            if not measured and node.interfaces.keys() <= answer:
                if node not in leading and (
                    len(answer) == everyone
                    or (index is not None and index.adds_nothing(node, bits))
                ):
                    continue
            else:
                tests += 1
                if not matches(meter.item, notification):
                    continue
                limit = meter.limit
                count = add_one(meter.number) if measured else 0
                if limit is None or count <= limit:
                    answer.update(node.interfaces)
                    if index is not None:
                        bits |= index.bits(node.interfaces)
            for child in search.below(node, part):
                parents = len(child.parents)
                if parents > 1:
                    waiting[child] = left = waiting.get(child, parents) - 1
                    if left:
                        continue
                queue.append(child)
        table.counters.match_tests += tests
        return frozenset(answer)

    def match_many(self, notifications: Iterable[Any]) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each of many, one after the other."""
        return [self.match(each) for each in notifications]

    def _leading_nodes(self) -> set[Node]:
        """Return the nodes below which a measured one may be; O(nodes) after a change."""
        version = self.table._version
        if self._leading_at != version:
            self._leading = leading = set()
            stack = [
                node
                for node, meter in self._meters.items()
                if meter.limit is not None or self._measure == "all"
            ]
            while stack:
                node = stack.pop()
                if node not in leading:
                    leading.add(node)
                    stack.extend(node.parents)
            self._leading_at = version
        return self._leading

    # -- reading -----------------------------------------------------------------------------------

    def rate(self, item: ItemT) -> Rate:
        """Return the rate of a filter; UnknownEntryError if it is not in the table."""
        meter = self._meters[self.table._node(item)]
        self._turn()
        return self._rate(meter)

    def rates(self) -> dict[ItemT, Rate]:
        """Return the rates of all filters, in order of insertion."""
        self._turn()
        return {
            node.item: self._rate(self._meters[node]) for node in self.table._links.nodes.values()
        }

    def _rate(self, meter: _Meter) -> Rate:
        return Rate(meter.limit, *self._counts.read(meter.number))

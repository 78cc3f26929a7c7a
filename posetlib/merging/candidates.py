"""Which filters may merge with another one: from an index, never from all of them.

Two filters merge perfectly if they differ in one attribute. [G] finds such filters by counting the
constraints that they share (see ``counting``); here the constraints but one are a key, so that the
filters to merge with are found by one look-up for each attribute.

Two filters merge imperfectly with a small loss if they lie near each other. Each is entered with
its ranges widened, and the filters to merge with are those whose widened ranges meet.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from posetlib.constraints import Numbers
from posetlib.filters.filter import Filter
from posetlib.graph.nodes import Node
from posetlib.search.sieve import Sieve
from posetlib.tables.filter_boxes import FilterBoxes

__all__ = [
    "ByAttributes",
    "ByEqualConstraints",
    "ByNearness",
    "Candidates",
    "OverlapIndex",
    "as_float",
    "candidates_for",
]

#: The low and the high end of a filter on each of its attributes.
_Ranges: TypeAlias = list[tuple[float, float]]
# With fewer filters than this, all of them are returned: that is faster than a sieve.
_FEW: Final = 40


class Candidates(Protocol):
    """An index of filters that finds those with which another filter may merge."""

    @property
    def is_ranked(self) -> bool:
        """Whether ``of`` returns the best first."""

    def add(self, f: Filter) -> None:
        """Add a filter that is not in the index."""

    def remove(self, f: Filter) -> None:
        """Remove a filter."""

    def of(self, f: Filter) -> Iterable[Filter]:
        """Return all filters but f itself that merge with f, and few others; each may come twice.

        If ``is_ranked``, those with the least loss come first, as far as ranges tell. Otherwise
        they come in the order in which they were added, or attribute by attribute in that order.
        """


def candidates_for(
    *, perfect: bool, domains: Mapping[str, Any] | None, max_loss: float | None
) -> Candidates:
    """Return an empty index for one way of merging."""
    if perfect:
        return ByEqualConstraints()
    if max_loss is None or max_loss >= 1:
        return ByAttributes()
    return ByNearness(max_loss, domains or {})


class ByEqualConstraints:
    """Finds the filters that have the same attributes, and all constraints but one in common.

    To add, remove or look up a filter takes O(attributes) steps.

    >>> from posetlib.filters import parse_filter
    >>> index = ByEqualConstraints()
    >>> index.add(parse_filter("x > 3 and y = 1"))
    >>> index.add(parse_filter("x > 5 and y = 2"))
    >>> list(index.of(parse_filter("x > 5 and y = 1")))
    [Filter('x > 3 and y = 1'), Filter('x > 5 and y = 2')]
    """

    __slots__ = ("_filters",)
    is_ranked: ClassVar[bool] = False

    def __init__(self) -> None:
        #: Attributes, the place of one of them, and the constraints on the others -> filters.
        self._filters: dict[Hashable, dict[Filter, None]] = {}

    def add(self, f: Filter) -> None:
        """Add a filter."""
        for key in _keys(f):
            self._filters.setdefault(key, {})[f] = None

    def remove(self, f: Filter) -> None:
        """Remove a filter."""
        for key in _keys(f):
            found = self._filters[key]
            del found[f]
            if not found:
                del self._filters[key]

    def of(self, f: Filter) -> Iterator[Filter]:
        """Yield the filters, attribute by attribute."""
        for key in _keys(f):
            for one in self._filters.get(key, ()):
                if one != f:
                    yield one


def _keys(f: Filter) -> Iterator[Hashable]:
    """Yield a key for each attribute: what f asks of all the others."""
    terms = tuple(term.key() for term in f.terms)
    for i in range(len(terms)):
        yield f.attributes, i, terms[:i] + terms[i + 1 :]


class ByAttributes:
    """Finds the filters that constrain the same attributes: without a bound, all of them merge."""

    __slots__ = ("_filters",)
    is_ranked: ClassVar[bool] = False

    def __init__(self) -> None:
        self._filters: dict[tuple[str, ...], dict[Filter, None]] = {}

    def add(self, f: Filter) -> None:
        """Add a filter."""
        self._filters.setdefault(f.attributes, {})[f] = None

    def remove(self, f: Filter) -> None:
        """Remove a filter."""
        found = self._filters[f.attributes]
        del found[f]
        if not found:
            del self._filters[f.attributes]

    def of(self, f: Filter) -> Iterator[Filter]:
        """Return the filters, in the order of adding."""
        return (one for one in self._filters.get(f.attributes, ()) if one != f)


class OverlapIndex:
    """Filters, each entered with a filter that stands for it, found by whom these may overlap."""

    __slots__ = ("_boxes", "_nodes", "_serials", "_sieve")

    def __init__(self) -> None:
        self._boxes = FilterBoxes()
        self._nodes: dict[Filter, Node] = {}
        self._sieve: Sieve | None = None
        self._serials = count()

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, f: Filter, shown_as: Filter) -> None:
        """Add a filter that is not in the index: O(attributes) operations on sets."""
        box = self._boxes.read(shown_as)
        node = self._nodes[f] = Node(f, next(self._serials), (None, False, box))
        if self._sieve is not None:
            self._sieve.add(node)

    def remove(self, f: Filter) -> None:
        """Remove a filter."""
        node = self._nodes.pop(f)
        if self._sieve is not None:
            self._sieve.remove(node)

    def meeting(self, shown_as: Filter) -> list[Filter]:
        """Return the filters whose stand-ins may overlap this one, in the order of adding."""
        box = self._boxes.read(shown_as)
        if box is None or len(self._nodes) < _FEW:
            return list(self._nodes)
        if self._sieve is None:
            self._sieve = Sieve(self._nodes.values())
        return [node.item for node in self._sieve.meeting(box)]


class ByNearness:
    """Finds the filters that merge imperfectly with a loss of at most ``max_loss``.

    If the loss of a hull is at most L, it fills at most (|f| + |g|) / (1 - L) of the space. It is
    at least as long as f and as g on all attributes, so on none is it longer than the sum of their
    ranges divided by 1 - L. So if each range is widened on both sides by its own length times
    L / (1 - L), the ranges of f and g meet. Integers are counted, not measured: n of them are n - 1
    long, so their ranges are taken one longer, and widened by 1/2 more.
    """

    __slots__ = ("_by_attributes", "_domains", "_max_loss", "_ranges", "_widening")
    is_ranked: ClassVar[bool] = True

    def __init__(self, max_loss: float, domains: Mapping[str, Any]) -> None:
        self._max_loss = max_loss
        self._widening = max_loss / (1 - max_loss)
        self._domains = domains
        self._by_attributes: dict[tuple[str, ...], OverlapIndex] = {}
        self._ranges: dict[Filter, _Ranges | None] = {}

    def add(self, f: Filter) -> None:
        """Add a filter."""
        self._by_attributes.setdefault(f.attributes, OverlapIndex()).add(f, self._widened(f))
        self._ranges[f] = self._ranges_of(f)

    def remove(self, f: Filter) -> None:
        """Remove a filter."""
        found = self._by_attributes[f.attributes]
        found.remove(f)
        if not len(found):
            del self._by_attributes[f.attributes]
        del self._ranges[f]

    def of(self, f: Filter) -> list[Filter]:
        """Return the filters, those with the least loss first."""
        index = self._by_attributes.get(f.attributes)
        if index is None:
            return []
        mine = self._ranges_of(f)
        ranked: list[tuple[float, int, Filter]] = []
        for one in index.meeting(self._widened(f)):
            theirs = self._ranges[one]
            # A loss that ranges do not tell may be anything: the filter is tried early.
            loss = 0.0 if mine is None or theirs is None else _estimated_loss(mine, theirs)
            if loss <= self._max_loss + 1e-6 and one != f:
                ranked.append((loss, len(ranked), one))
        ranked.sort()
        return [one for _, _, one in ranked]

    def _ranges_of(self, f: Filter) -> _Ranges | None:
        """Return the ranges of a filter that consists of ranges in known domains, else None."""
        found = []
        for name, term in zip(f.attributes, f.terms, strict=True):
            domain = self._domains.get(name)
            if not term.is_number_range or not isinstance(domain, tuple) or len(domain) != 2:
                return None
            low = max(as_float(term.low), as_float(domain[0]))
            high = min(as_float(term.high), as_float(domain[1]))
            if not low < high:
                return None
            found.append((low, high))
        return found

    def _widened(self, f: Filter) -> Filter:
        """Return the ranges of numbers, widened; other constraints may lie anywhere."""
        wide = {}
        for name, term in zip(f.attributes, f.terms, strict=True):
            domain = self._domains.get(name, _ANYWHERE)
            # In a collection of values, ranges have no length.
            if isinstance(term, Numbers) and isinstance(domain, tuple) and len(domain) == 2:
                low = max(as_float(term.low), as_float(domain[0]))
                high = min(as_float(term.high), as_float(domain[1]))
                more = (high - low) * self._widening
                if term.is_integral():
                    more += self._widening + 0.5
                more += 1e-9 * (1 + abs(low) + abs(high))  # for what is rounded
                if low <= high and math.isfinite(low - more) and math.isfinite(high + more):
                    wide[name] = Numbers.interval(low - more, high + more)
        return Filter(wide)


def _estimated_loss(mine: _Ranges, theirs: _Ranges) -> float:
    """Return the share of the hull of two boxes that is in neither of them."""
    hull = one = other = both = 1.0
    for (low, high), (low2, high2) in zip(mine, theirs, strict=True):
        one *= high - low
        other *= high2 - low2
        hull *= max(high, high2) - min(low, low2)
        both *= max(0.0, min(high, high2) - max(low, low2))
    return 1 - (one + other - both) / hull


_ANYWHERE: Final = (-math.inf, math.inf)


def as_float(value: Any) -> float:
    """Return a number as the nearest float; infinity if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

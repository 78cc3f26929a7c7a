"""Leave out the filters that others cover together, and bring them back in time.

A filter that is left out has *supporters*: filters that are kept and together cover it. When a
supporter goes, every filter that it supported is looked at again. A supporter that is left out
itself hands its task to its own supporters, so supporters are always kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from posetlib.filters.filter import Filter
from posetlib.merging.candidates import OverlapIndex
from posetlib.merging.union_covering import DEFAULT_LIMIT, union_covers

__all__ = ["Subsumption"]


class Subsumption:
    """Filters that come and go; those that others cover together are left out.

    >>> from posetlib.filters import parse_filter
    >>> low, high = parse_filter("x in [0, 5]"), parse_filter("x in [5, 9]")
    >>> within = parse_filter("x in [3, 7]")
    >>> kept = Subsumption()
    >>> kept.update([low, within, high], [])
    ([Filter('x in [0, 5]'), Filter('x in [5, 9]')], [])
    >>> kept.update([], [high])
    ([Filter('x in [3, 7]')], [Filter('x in [5, 9]')])
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._kept: dict[Filter, None] = {}
        #: What is left out -> its supporters.
        self._supporters: dict[Filter, dict[Filter, None]] = {}
        #: What is kept -> what it supports.
        self._supported: dict[Filter, dict[Filter, None]] = {}
        self._index = OverlapIndex()

    def kept(self) -> tuple[Filter, ...]:
        """Return the filters that are not left out."""
        return tuple(self._kept)

    def left_out(self) -> dict[Filter, tuple[Filter, ...]]:
        """Return the filters that are left out, each with filters that together cover it."""
        return {item: tuple(some) for item, some in self._supporters.items()}

    def update(
        self, joined: Iterable[Filter], left: Iterable[Filter]
    ) -> tuple[list[Filter], list[Filter]]:
        """Let filters go, and others come; return what is kept now, and what is not any more.

        A filter that comes costs a ``union_covers``, and one for each filter that overlaps it.
        """
        before = dict.fromkeys(self._kept)
        again: dict[Filter, None] = {}
        for item in left:
            again.pop(item, None)
            if item in self._kept:
                again.update(self._release(item))
            elif item in self._supporters:
                self._forget(item)
        for item in (*again, *joined):
            if item not in self._kept and item not in self._supporters:
                self._enter(item)
        added = [item for item in self._kept if item not in before]
        return added, [item for item in before if item not in self._kept]

    def _release(self, item: Filter) -> dict[Filter, None]:
        """Take out a filter that is kept; return what it supported, which has no place now."""
        del self._kept[item]
        self._index.remove(item)
        supported = self._supported.pop(item, {})
        for other in dict(supported):
            self._forget(other)
        return supported

    def _forget(self, item: Filter) -> None:
        """Take out a filter that is left out."""
        for supporter in self._supporters.pop(item):
            if supporter in self._supported:
                self._supported[supporter].pop(item, None)

    def _enter(self, item: Filter) -> None:
        """Find out whether a filter is to be kept, and which ones need not be any more."""
        nearby = self._index.meeting(item)
        found = union_covers(nearby, item, limit=self._limit)
        if found:
            self._support(item, found.coverers)
            return
        self._kept[item] = None
        self._index.add(item, item)
        for other in nearby:
            if other.overlaps(item):
                self._leave_out_if_covered(other)

    def _leave_out_if_covered(self, item: Filter) -> None:
        others = [one for one in self._index.meeting(item) if one != item]
        found = union_covers(others, item, limit=self._limit)
        if found:
            dependent = self._supported.pop(item, {})
            del self._kept[item]
            self._index.remove(item)
            self._support(item, found.coverers)
            for other in dependent:
                supporters = self._supporters[other]
                del supporters[item]
                self._support(other, (*supporters, *found.coverers))

    def _support(self, item: Filter, supporters: Iterable[Filter]) -> None:
        self._supporters[item] = dict.fromkeys(supporters)
        for supporter in self._supporters[item]:
            self._supported.setdefault(supporter, {})[item] = None

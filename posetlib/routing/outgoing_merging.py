"""Merging of what a neighbour is sent: the seam behind which the router's merging lies.

The router says which filters joined and left the set of a neighbour; the merger answers which
filters to send and to take back instead. Whatever lies behind this seam keeps one promise: the
merged set covers the set, and if merging is perfect it matches nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from posetlib.filters.filter import Filter

__all__ = ["Merge", "OutgoingMerger"]

#: Returns one filter for two, or None if they do not merge.
Merge = Callable[[Filter, Filter], Filter | None]


class OutgoingMerger:
    """Merges the filters for one neighbour: each new one with the first that it merges with.

    When a filter leaves, the merger that it is part of is dissolved, and its other parts are merged
    again. So what is sent depends on the order of the updates, but it always covers what is there.

    >>> from posetlib import merge, parse_filter
    >>> merger = OutgoingMerger(merge)
    >>> low, high = parse_filter("x in [0, 5]"), parse_filter("x in [5, 9]")
    >>> _ = merger.update([low, high], [])
    >>> merger.merged()
    (Filter('x in [0, 9]'),)
    >>> added, withdrawn = merger.update([], [low])
    >>> added, withdrawn
    ([Filter('x in [5, 9]')], [Filter('x in [0, 9]')])
    """

    def __init__(self, merge: Merge) -> None:
        self._merge = merge
        #: What is sent, with the filters of the set that are in it.
        self._parts: dict[Filter, tuple[Filter, ...]] = {}
        self._merger_of: dict[Filter, Filter] = {}

    def merged(self) -> tuple[Filter, ...]:
        """Return what the neighbour is sent."""
        return tuple(self._parts)

    def parts(self) -> dict[Filter, tuple[Filter, ...]]:
        """Return what the neighbour is sent, with the filters that each stands for."""
        return dict(self._parts)

    def restore(self, parts: Iterable[tuple[Filter, tuple[Filter, ...]]]) -> None:
        """Take over what ``parts`` returned once."""
        self._parts = dict(parts)
        self._merger_of = {each: merger for merger, some in self._parts.items() for each in some}

    def update(
        self, joined: Iterable[Filter], left: Iterable[Filter]
    ) -> tuple[list[Filter], list[Filter]]:
        """Be told how the set changed; return what to send, and what to take back.

        What goes and is covered by what stays is not taken back: the receiver drops it by itself.
        """
        before = dict.fromkeys(self._parts)
        again: dict[Filter, None] = {}
        for each in left:
            if each in self._merger_of:
                for part in self._parts.pop(self._merger_of[each]):
                    del self._merger_of[part]
                    again[part] = None
            again.pop(each, None)
        for each in (*again, *joined):
            self._add(each)
        added = [each for each in self._parts if each not in before]
        gone = [each for each in before if each not in self._parts]
        withdrawn = [one for one in gone if not any(each.covers(one) for each in self._parts)]
        return added, withdrawn

    def _add(self, item: Filter) -> None:
        merged, parts = item, [item]
        while True:
            for other in self._parts:
                found = self._merge(other, merged)
                if found is not None:
                    merged = found
                    parts += self._parts.pop(other)
                    break
            else:
                break
        self._parts[merged] = tuple(parts)
        for part in parts:
            self._merger_of[part] = merged

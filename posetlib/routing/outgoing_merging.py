"""Merging of what a neighbour is sent: where the router meets the merged set.

The router says which filters joined and left the set of a neighbour; the merger answers which
filters to send and to take back instead. The merged set covers the set, and if merging is perfect
it matches nothing more. This is remote merging [T 8.3]: a merger goes to a neighbour only if all of
its components would go there, so it goes to the intersection of their forwards sets, and to other
neighbours they go by themselves, or in other mergers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from posetlib.filters.filter import Filter
from posetlib.merging.merged_set import MergedSet

__all__ = ["MakeMergedSet", "OutgoingMerger", "Row"]

#: Makes the empty merged set of a new neighbour, with the options of the router.
MakeMergedSet: TypeAlias = Callable[[], MergedSet]
#: A group as it is written: what is sent, its components, what it covers besides, its loss.
Row: TypeAlias = tuple[Filter, tuple[Filter, ...], tuple[Filter, ...], float | None]


class OutgoingMerger:
    """Merges the filters for one neighbour.

    What is sent depends on the order of the updates, but it always covers what is there.

    >>> from posetlib import parse_filter
    >>> merger = OutgoingMerger(MergedSet())
    >>> low, high = parse_filter("x in [0, 5]"), parse_filter("x in [5, 9]")
    >>> _ = merger.update([low, high], [])
    >>> merger.merged()
    (Filter('x in [0, 9]'),)
    >>> added, withdrawn = merger.update([], [low])
    >>> added, withdrawn
    ([Filter('x in [5, 9]')], [Filter('x in [0, 9]')])
    """

    def __init__(self, merged_set: MergedSet) -> None:
        self._set = merged_set

    def merged(self) -> tuple[Filter, ...]:
        """Return what the neighbour is sent."""
        return self._set.merged()

    def rows(self) -> list[Row]:
        """Return what the neighbour is sent, with what each stands for."""
        return [
            (group.filter, tuple(group.components), tuple(group.covered), group.loss)
            for group in self._set.groups()
        ]

    def restore(self, rows: Iterable[Row]) -> None:
        """Take over what ``rows`` returned once."""
        self._set.restore(rows)

    def update(
        self, joined: Iterable[Filter], left: Iterable[Filter]
    ) -> tuple[list[Filter], list[Filter]]:
        """Be told how the set changed; return what to send, and what to take back.

        What goes and is covered by what stays is not taken back: the receiver drops it by itself.
        """
        added, gone = self._set.update(joined, left)
        return added, [item for item in gone if not self._set.is_covered(item)]

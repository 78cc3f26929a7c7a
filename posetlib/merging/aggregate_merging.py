"""Aggregate merging: outgoing filters with the same forwards set are merged [T 8.4].

All that is needed of a table are its forwards sets. Mergers are not put into it. What a merger
covers need not be sent where the merger goes: forwards'(f) = forwards(f) less the sets of all
mergers that cover f [T, Eq. 8.1].
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

from posetlib.filters.filter import Filter
from posetlib.merging.merged_set import MergedSet

__all__ = ["AggregateMerger"]

#: Filters, and the neighbours that each is sent to.
Forwards = Mapping[Filter, frozenset[Hashable]]


class AggregateMerger:
    """Merges filters that are sent to the same neighbours; the options are RootMerger's.

    ``update`` is told the forwards sets after a change of the table, and merges what changed.
    ``entries`` are the filters to send, with the neighbours that each goes to.

    >>> from posetlib import FiltersPoset, forwards_sets, parse_filter
    >>> table = FiltersPoset.build([(parse_filter(f"x in [{i}, {i + 1}]"), "I1") for i in range(4)])
    >>> merger = AggregateMerger()
    >>> merger.update(forwards_sets(table, ["I1", "I2", "I3"]))
    >>> [(str(one), sorted(to)) for one, to in merger.entries().items()]
    [('x in [0, 4]', ['I2', 'I3'])]
    """

    def __init__(
        self,
        perfect: bool = True,
        *,
        domains: Mapping[str, Any] | None = None,
        max_loss: float | None = None,
        choice: str = "best",
    ) -> None:
        self._make = partial(
            MergedSet, perfect=perfect, domains=domains, max_loss=max_loss, choice=choice
        )
        self._make()  # bad options are refused here
        self._known: dict[Filter, frozenset[Hashable]] = {}
        self._sets: dict[frozenset[Hashable], MergedSet] = {}

    def update(self, forwards: Forwards) -> None:
        """Take over new forwards sets: O(filters), and merging for those whose set changed."""
        wanted = {item: frozenset(to) for item, to in forwards.items() if to}
        left: dict[frozenset[Hashable], list[Filter]] = {}
        joined: dict[frozenset[Hashable], list[Filter]] = {}
        for item, to in self._known.items():
            if wanted.get(item) != to:
                left.setdefault(to, []).append(item)
        for item, to in wanted.items():
            if self._known.get(item) != to:
                joined.setdefault(to, []).append(item)
        for to in dict.fromkeys((*left, *joined)):
            merged = self._sets.setdefault(to, self._make())
            merged.update(joined.get(to, ()), left.get(to, ()))
            if not len(merged):
                del self._sets[to]
        self._known = wanted

    def entries(self) -> dict[Filter, frozenset[Hashable]]:
        """Return the filters to send, and the neighbours that each goes to.

        A comparison of each filter with each merger of another forwards set.
        """
        sent: dict[Filter, frozenset[Hashable]] = {}
        for to, merged in self._sets.items():
            for item in merged.merged():
                sent[item] = sent.get(item, frozenset()) | to
        mergers = [
            (group.filter, to)
            for to, merged in self._sets.items()
            for group in merged.groups()
            if len(group.components) > 1
        ]
        found = {}
        done: set[Filter] = set()
        for item, wanted in sent.items():
            to = wanted
            for merger, its in mergers:
                # Of two that cover each other and are not equal, the first in order is sent.
                if (
                    not to.isdisjoint(its)
                    and merger != item
                    and merger.covers(item)
                    and (merger in done or not item.covers(merger))
                ):
                    to -= its
            done.add(item)
            if to:
                found[item] = to
        return found

    def components(self, item: Filter) -> dict[frozenset[Hashable], frozenset[Filter]]:
        """Return the filters that a filter is made of, by the forwards set that they have."""
        return {
            to: frozenset(merged.group(item).components)
            for to, merged in self._sets.items()
            if item in merged.merged()
        }

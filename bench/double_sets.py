"""Profiles and queries in two plain sets of columns: what a DoubleForest is held against in time.

It answers as a `DoubleForest` does: identifiers are kept, and an add returns what matches.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from posetlib.filters import Filter

__all__ = ["NumpySets"]


class _Columns:
    """The ends of filters with two ranges, low ends and negated high ends, in a growing array."""

    def __init__(self) -> None:
        self.items: list[Filter] = []
        self.ids: list[set[Hashable]] = []
        self.mapped: list[set[Filter]] = []
        self.numbers: dict[Filter, int] = {}
        self._ends = np.empty((4, 64))

    def ends(self) -> Any:
        return self._ends[:, : len(self.items)]

    def append(self, item: Filter, ends: Any, identifier: Hashable, mapped: set[Filter]) -> None:
        number = len(self.items)
        if number == self._ends.shape[1]:
            self._ends = np.concatenate([self._ends, np.empty_like(self._ends)], axis=1)
        self._ends[:, number] = ends[:, 0]
        self.numbers[item] = number
        self.items.append(item)
        self.ids.append({identifier})
        self.mapped.append(mapped)


class NumpySets:
    """One comparison of arrays for all pairs of a new filter.

    For filters with two closed ranges on the same attributes, and no others.
    """

    def __init__(self, semantics: str) -> None:
        self._profiles = _Columns()
        self._queries = _Columns()
        self._overlap = semantics == "overlap"

    def add_profile(self, item: Filter, identifier: Hashable) -> frozenset[Filter]:
        """Compare a profile with all queries at once."""
        return self._add(self._profiles, self._queries, item, identifier, np.less_equal)

    def add_query(self, item: Filter, identifier: Hashable) -> frozenset[Filter]:
        """Compare a query with all profiles at once."""
        return self._add(self._queries, self._profiles, item, identifier, np.greater_equal)

    def queries_of(self, item: Filter) -> frozenset[Filter]:
        """Return the queries that match a profile."""
        return frozenset(self._profiles.mapped[self._profiles.numbers[item]])

    def profiles_of(self, item: Filter) -> frozenset[Filter]:
        """Return the profiles that match a query."""
        return frozenset(self._queries.mapped[self._queries.numbers[item]])

    def _add(
        self, own: _Columns, others: _Columns, item: Filter, identifier: Hashable, compare: Any
    ) -> frozenset[Filter]:
        number = own.numbers.get(item)
        if number is not None:
            own.ids[number].add(identifier)
            return frozenset(own.mapped[number])
        one, two = item.terms
        ends = np.array([[one.low], [-one.high], [two.low], [-two.high]])
        if self._overlap:
            # low <= -(negated high), for both: the negated highs of the others against the lows.
            good = others.ends() <= -ends[[1, 0, 3, 2]]
        else:
            good = compare(others.ends(), ends)
        items, mapped = others.items, others.mapped
        found = np.flatnonzero(good.all(axis=0)).tolist()
        matched = set()
        for each in found:
            matched.add(items[each])
            mapped[each].add(item)
        own.append(item, ends, identifier, matched)
        return frozenset(matched)

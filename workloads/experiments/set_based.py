"""Profiles and queries in two plain sets, every pair tested: the set-based case of [T 6.6]."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from posetlib.filters import Filter

__all__ = ["TestedSets"]


class TestedSets:
    """One test of two filters for each pair: the set-based case of the thesis' chapter 6."""

    __test__ = False  # no test class, whatever it is called

    def __init__(self, semantics: str) -> None:
        self.covering_tests = 0
        self._profiles: dict[Filter, tuple[set[Hashable], set[Filter]]] = {}
        self._queries: dict[Filter, tuple[set[Hashable], set[Filter]]] = {}
        self._overlap = semantics == "overlap"

    def add_profile(self, item: Filter, identifier: Hashable) -> frozenset[Filter]:
        """Test a profile against every query."""
        if self._overlap:
            return self._add(self._profiles, self._queries, item, identifier, item.overlaps)
        return self._add(
            self._profiles, self._queries, item, identifier, lambda query: query.covers(item)
        )

    def add_query(self, item: Filter, identifier: Hashable) -> frozenset[Filter]:
        """Test a query against every profile."""
        test = item.overlaps if self._overlap else item.covers
        return self._add(self._queries, self._profiles, item, identifier, test)

    def _add(
        self,
        own: dict[Filter, Any],
        others: dict[Filter, Any],
        item: Filter,
        identifier: Hashable,
        test: Callable[[Filter], bool],
    ) -> frozenset[Filter]:
        known = own.get(item)
        if known is None:
            self.covering_tests += len(others)
            found = {other for other in others if test(other)}
            for other in found:
                others[other][1].add(item)
            known = own[item] = (set[Hashable](), found)
        known[0].add(identifier)
        return frozenset(known[1])

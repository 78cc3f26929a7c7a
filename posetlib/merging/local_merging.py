"""Local merging: what one interface holds is merged inside the table [T 8.3.1, Def. 8.1].

A merger is held by one interface, the one that holds all its components. The table is smaller by
it, and so is every walk through it. What the interface really asked for is kept beside the table,
so that a removal finds it, and elimination works as it does without merging.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

from posetlib.errors import InvariantError, UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.graph.change import Change
from posetlib.merging.checking import check_merged
from posetlib.merging.merged_set import MergedSet
from posetlib.tables.structures import make_table
from posetlib.tables.table import Table

__all__ = ["LocalMerger"]


class LocalMerger:
    """A table in which the filters of each interface are merged.

    ``asked`` holds the pairs as they were added, ``table`` the merged ones: both of the given
    structure. If merging is perfect, both match alike. The other options are those of
    ``RootMerger``. Change it by its own calls, not by those of the tables.

    >>> from posetlib import parse_filter
    >>> merger = LocalMerger("nrf")
    >>> for i in range(3):
    ...     merger.add(parse_filter(f"x in [{i}, {i + 1}]"), "I1")
    >>> merger.table.entries()
    ((Filter('x in [0, 3]'), 'I1'),)
    >>> merger.remove(parse_filter("x in [2, 3]"), "I1")
    >>> merger.table.entries()
    ((Filter('x in [0, 2]'), 'I1'),)
    """

    def __init__(
        self,
        structure: str = "nrf",
        perfect: bool = True,
        *,
        domains: Mapping[str, Any] | None = None,
        max_loss: float | None = None,
        choice: str = "best",
    ) -> None:
        self._make = partial(
            MergedSet, perfect=perfect, domains=domains, max_loss=max_loss, choice=choice
        )
        self._make()  # bad options are refused here, and not at the first add
        self._perfect = perfect
        self.asked: Table[Filter] = make_table(structure)
        self.table: Table[Filter] = make_table(structure)
        self._sets: dict[Hashable, MergedSet] = {}

    def add(self, item: Filter, interface: Hashable) -> None:
        """Let an interface hold a filter: an add to each table, and merging in between."""
        self._follow(self.asked.add(item, interface))

    def remove(self, item: Filter, interface: Hashable) -> None:
        """Let an interface release a filter; UnknownEntryError if it does not hold it."""
        self._follow(self.asked.remove(item, interface))

    def discard(self, item: Filter, interface: Hashable) -> None:
        """Let an interface release a filter, if it holds it."""
        self._follow(self.asked.discard(item, interface))

    def drop_interface(self, interface: Hashable) -> None:
        """Let an interface release all that it holds."""
        self._follow(self.asked.drop_interface(interface))

    def components(self, item: Filter, interface: Hashable) -> frozenset[Filter]:
        """Return the filters of an interface that one of its merged filters is made of."""
        if interface not in self._sets:
            raise UnknownEntryError(f"{interface!r} holds nothing")
        return frozenset(self._sets[interface].group(item).components)

    def match(self, notification: Mapping[str, Any]) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching filter, from the merged table."""
        return self.table.match(notification)

    def _follow(self, change: Change[Filter]) -> None:
        joined: dict[Hashable, list[Filter]] = {}
        left: dict[Hashable, list[Filter]] = {}
        for pairs, by_interface in ((change.pairs_added, joined), (change.pairs_removed, left)):
            for item, interface in pairs:
                by_interface.setdefault(interface, []).append(item)
        for interface in dict.fromkeys((*left, *joined)):
            merged = self._sets.setdefault(interface, self._make())
            added, gone = merged.update(joined.get(interface, ()), left.get(interface, ()))
            for item in gone:
                self.table.discard(item, interface)
            for item in added:
                self.table.add(item, interface)
            if not len(merged):
                del self._sets[interface]

    def check(self) -> None:
        """Raise InvariantError if the merged table does not stand for what was asked for."""
        held: dict[Hashable, list[Filter]] = {}
        for item, interface in self.table.entries():
            held.setdefault(interface, []).append(item)
        asked: dict[Hashable, list[Filter]] = {}
        for item, interface in self.asked.entries():
            asked.setdefault(interface, []).append(item)
        if held.keys() != asked.keys():
            raise InvariantError("merge-members", held.keys() ^ asked.keys(), "other interfaces")
        for interface, some in asked.items():
            merged = self._sets[interface]
            if set(merged.members()) != set(some) or set(merged.merged()) != set(held[interface]):
                raise InvariantError("merge-members", interface, "its groups are not its filters")
            check_merged(some, held[interface], perfect=self._perfect)
        self.table.check()

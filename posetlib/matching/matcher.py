"""The base class of matchers: it keeps the (filter, interface) pairs; a subclass indexes them.

The items are filters, or expressions, which match notifications likewise.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any, Self

from posetlib.errors import UnknownEntryError
from posetlib.filters.filter import Filter, check_notification
from posetlib.graph.change import NO_CHANGE, Change, ItemT, Pair
from posetlib.graph.counters import Counters

__all__ = ["Matcher", "Notification", "check_notification", "readable"]

#: Attribute names and values.
Notification = Mapping[str, Any]


def readable(item: object) -> bool:
    """Return whether an item is a filter that matches by its constraints alone.

    Only such an item can be indexed: a subclass with its own ``matches`` may match by other rules.
    """
    return isinstance(item, Filter) and type(item).matches is Filter.matches


class Matcher(Collection[ItemT]):
    """Filters and the interfaces that hold them, without any order among them.

    Every pair that is added stays until it is removed: nothing is eliminated by covering. A filter
    is found by equality. An operation that raises leaves the matcher as it was.
    """

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        #: Counts the tests of one filter against one notification, as ``match_tests``.
        self.counters = Counters()
        # Filter -> interface -> the number that ``_enter`` returned for the pair.
        self._pairs: dict[ItemT, dict[Hashable, int]] = {}
        for filter, interface in pairs:
            self.add(filter, interface)

    # -- changing ----------------------------------------------------------------------------------

    def add(self, filter: ItemT, interface: Hashable) -> Change[ItemT]:
        """Let an interface hold a filter; the change is empty if the interface does already."""
        self._check(filter)
        hash(interface)  # raises TypeError before anything is changed
        holders = self._pairs.setdefault(filter, {})
        if interface in holders:
            return NO_CHANGE
        try:
            holders[interface] = self._enter(filter, interface)
        except BaseException:
            if not holders:
                del self._pairs[filter]
            raise
        is_new = len(holders) == 1
        return Change.late(
            lambda: Change(added=(filter,) if is_new else (), pairs_added=((filter, interface),))
        )

    def remove(self, filter: ItemT, interface: Hashable) -> Change[ItemT]:
        """Let an interface release a filter; UnknownEntryError if it does not hold the filter."""
        change = self.discard(filter, interface)
        if change is NO_CHANGE:
            raise UnknownEntryError(f"{interface!r} does not hold {filter}")
        return change

    def discard(self, filter: ItemT, interface: Hashable) -> Change[ItemT]:
        """Let an interface release a filter; the change is empty if it does not hold the filter."""
        holders = self._pairs.get(filter)
        place = None if holders is None else holders.pop(interface, None)
        if holders is None or place is None:
            return NO_CHANGE
        is_last = not holders
        if is_last:
            del self._pairs[filter]
        self._leave(filter, interface, place)
        return Change.late(
            lambda: Change(
                removed=(filter,) if is_last else (), pairs_removed=((filter, interface),)
            )
        )

    def clear(self) -> None:
        """Release every pair."""
        for filter, interface in self.entries():
            self.discard(filter, interface)

    def _check(self, item: object) -> None:
        """Raise TypeError for an item that the matcher cannot hold."""
        if not readable(item):
            raise TypeError(f"a matcher holds filters, not {type(item).__name__}")

    @abstractmethod
    def _enter(self, filter: ItemT, interface: Hashable) -> int:
        """Add a new pair to the index, and return a number by which ``_leave`` finds it.

        The filter is in ``_pairs`` already, with the interfaces that held it before.
        """

    @abstractmethod
    def _leave(self, filter: ItemT, interface: Hashable, place: int) -> None:
        """Remove a pair from the index; ``place`` is the number that ``_enter`` returned.

        The pair is no longer in ``_pairs``, nor is its filter if this was the last pair of it.
        """

    # -- matching ----------------------------------------------------------------------------------

    @abstractmethod
    def match(self, notification: Notification) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching filter."""

    def match_many(self, notifications: Iterable[Notification]) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each notification."""
        return [self.match(notification) for notification in notifications]

    def match_pairs(self, notification: Notification) -> list[Hashable]:
        """Return the interfaces of ``match`` in any order; each may come for each of its filters.

        A matcher may find them so with less work: for callers that have one filter for each.
        """
        return list(self.match(notification))

    # -- reading -----------------------------------------------------------------------------------

    def interfaces(self, filter: ItemT) -> frozenset[Hashable]:
        """Return the interfaces that hold a filter; UnknownEntryError if none does."""
        holders = self._pairs.get(filter)
        if holders is None:
            raise UnknownEntryError(f"{filter} is not in the matcher")
        return frozenset(holders)

    def entries(self) -> tuple[Pair, ...]:
        """Return all (filter, interface) pairs: filters in order of insertion, then interfaces."""
        return tuple(
            (filter, interface) for filter, holders in self._pairs.items() for interface in holders
        )

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[ItemT]:
        return iter(self._pairs)

    def __contains__(self, filter: object) -> bool:
        return filter in self._pairs

    def copy(self) -> Self:
        """Return a matcher of the same pairs, with counters at zero."""
        return type(self)(self.entries())

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        # Only the pairs are pickled; the index is built again from them.
        return (type(self), (self.entries(),))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._pairs)} filters>"

"""What all matchers have in common: the (filter, interface) pairs, and the calls of a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any, Self

from posetlib.change import NO_CHANGE, Change, Pair
from posetlib.counters import Counters
from posetlib.errors import UnknownEntryError
from posetlib.filters import Filter

__all__ = ["Matcher", "Notification", "check_notification", "readable"]

Notification = Mapping[str, Any]


def readable(item: object) -> bool:
    """Return whether an item matches as its constraints say, so that an index can read it."""
    return isinstance(item, Filter) and type(item).matches is Filter.matches


def check_notification(value: object) -> None:
    """Refuse what is no notification."""
    if not isinstance(value, Mapping):
        raise TypeError(
            f"a notification is a mapping from names to values, not {type(value).__name__}"
        )


class Matcher(Collection[Filter]):
    """Filters and the interfaces that hold them, without any order among them.

    Every pair that is added stays until it is removed: nothing is eliminated by covering. A filter
    is found by equality. An operation that raises leaves the matcher as it was.
    """

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        #: How many filters were held against a notification one by one.
        self.counters = Counters()
        # Filter -> interface -> where the matcher's index has the pair.
        self._pairs: dict[Filter, dict[Hashable, int]] = {}
        for filter, interface in pairs:
            self.add(filter, interface)

    # -- changing ----------------------------------------------------------------------------------

    def add(self, filter: Filter, interface: Hashable) -> Change:
        """Let an interface hold a filter; empty if it does already."""
        if not readable(filter):
            raise TypeError(f"a matcher holds filters, not {type(filter).__name__}")
        holding = self.give(filter, interface)
        if not holding:
            return NO_CHANGE
        return Change.late(
            lambda: Change(
                added=(filter,) if holding == 1 else (), pairs_added=((filter, interface),)
            )
        )

    def remove(self, filter: Filter, interface: Hashable) -> Change:
        """Let go of a pair; UnknownEntryError if it is not there."""
        change = self.discard(filter, interface)
        if not change.pairs_removed:
            raise UnknownEntryError(f"{interface!r} does not hold {filter}")
        return change

    def discard(self, filter: Filter, interface: Hashable) -> Change:
        """Let go of a pair if it is there."""
        holding = self.take(filter, interface)
        if holding is None:
            return NO_CHANGE
        return Change.late(
            lambda: Change(
                removed=() if holding else (filter,), pairs_removed=((filter, interface),)
            )
        )

    def give(self, filter: Filter, interface: Hashable) -> int:
        """Do what ``add`` does, for who knows that it is a filter and does not ask what changed.

        Returns how many interfaces hold the filter now; 0 if this one did already.
        """
        hash(interface)  # before anything is done
        holders = self._pairs.setdefault(filter, {})
        if interface in holders:
            return 0
        holders[interface] = self._enter(filter, interface)
        return len(holders)

    def take(self, filter: Filter, interface: Hashable) -> int | None:
        """Do what ``discard`` does, for who does not ask what changed.

        Returns how many interfaces hold the filter still; None if this one did not.
        """
        holders = self._pairs.get(filter)
        if holders is None:
            return None
        place = holders.pop(interface, None)
        if place is None:
            return None
        if not holders:
            del self._pairs[filter]
        self._leave(filter, interface, place)
        return len(holders)

    def clear(self) -> None:
        """Let go of everything."""
        for filter, interface in self.entries():
            self.discard(filter, interface)

    @abstractmethod
    def _enter(self, filter: Filter, interface: Hashable) -> int:
        """Take a pair into the index, and return where; it may be the first of its filter."""

    @abstractmethod
    def _leave(self, filter: Filter, interface: Hashable, place: int) -> None:
        """Take a pair out of the index, from where it is; it may be the last of its filter."""

    # -- matching ----------------------------------------------------------------------------------

    @abstractmethod
    def match(self, notification: Notification) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching filter."""

    def match_many(self, notifications: Iterable[Notification]) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each of many."""
        return [self.match(notification) for notification in notifications]

    # -- reading -----------------------------------------------------------------------------------

    def interfaces(self, filter: Filter) -> frozenset[Hashable]:
        """Return the interfaces that hold a filter; UnknownEntryError if it is not there."""
        holders = self._pairs.get(filter)
        if holders is None:
            raise UnknownEntryError(f"{filter} is not in the matcher")
        return frozenset(holders)

    def entries(self) -> tuple[Pair, ...]:
        """Return all (filter, interface) pairs, in order of insertion."""
        return tuple(
            (filter, interface) for filter, holders in self._pairs.items() for interface in holders
        )

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[Filter]:
        return iter(self._pairs)

    def __contains__(self, filter: object) -> bool:
        return filter in self._pairs

    def copy(self) -> Self:
        """Return a matcher of the same pairs, with counters at zero."""
        return type(self)(self.entries())

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        # An index is made again where it is needed.
        return (type(self), (self.entries(),))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._pairs)} filters>"

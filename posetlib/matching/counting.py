"""The counting matcher: a filter matches when as many of its constraints hold as it has [G]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import chain
from operator import attrgetter
from typing import Final

from posetlib.change import Pair
from posetlib.filters import Filter
from posetlib.matching.base import Matcher, Notification, check_notification
from posetlib.matching.predicates import Predicates
from posetlib.values import MISSING, lookup

__all__ = ["CountingMatcher"]

_FILTERS: Final = attrgetter("filters")


class CountingMatcher(Matcher):
    """Matches notifications by counting satisfied constraints, each evaluated once for all filters.

    Always up to date: an add or remove costs O(log n) for each end of a range, and nothing is
    built. A match costs a step for each constraint that the notification satisfies and each filter
    that has it, and a step for each range that begins before the value or ends after it, whichever
    are fewer. Memory is proportional to the filters and their constraints.

    >>> from posetlib.parsing import parse_filter
    >>> matcher = CountingMatcher()
    >>> _ = matcher.add(parse_filter('type = "quote" and price in [20, 30]'), "I1")
    >>> _ = matcher.add(parse_filter('type = "quote"'), "I2")
    >>> matcher.match({"type": "quote", "price": 45})
    frozenset({'I2'})
    """

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        self._attributes: dict[str, Predicates] = {}
        # Number of a filter -> who holds it, how many constraints it has.
        self._holders: dict[int, dict[Hashable, int]] = {}
        self._needed: dict[int, int] = {}
        # Filters without a constraint match everything.
        self._always: dict[int, None] = {}
        # Interface -> how many filters it holds.
        self._interfaces: Counter[Hashable] = Counter()
        self._next = 0
        super().__init__(pairs)

    def _enter(self, filter: Filter, interface: Hashable) -> int:
        self._interfaces[interface] += 1
        for number in self._pairs[filter].values():
            return number
        number = self._next
        self._next += 1
        self._holders[number] = self._pairs[filter]
        constraints = filter.constraints
        self._needed[number] = len(constraints)
        if not constraints:
            self._always[number] = None
        for name, constraint in constraints.items():
            predicates = self._attributes.get(name)
            if predicates is None:
                predicates = self._attributes[name] = Predicates()
            predicates.add(constraint, number)
        return number

    def _leave(self, filter: Filter, interface: Hashable, place: int) -> None:
        self._interfaces[interface] -= 1
        if not self._interfaces[interface]:
            del self._interfaces[interface]
        if filter in self._pairs:
            return
        del self._holders[place], self._needed[place]
        self._always.pop(place, None)
        for name, constraint in filter.constraints.items():
            predicates = self._attributes[name]
            predicates.remove(constraint, place)
            if not predicates:
                del self._attributes[name]

    def match(self, notification: Notification) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching filter."""
        check_notification(notification)
        counts: Counter[int] = Counter()
        for name, predicates in self._attributes.items():
            value = lookup(notification, name)
            if value is not MISSING:
                satisfied = predicates.satisfied(value, notification)
                # Some thousand steps for each attribute, and all of them within C.
                counts.update(chain.from_iterable(map(_FILTERS, satisfied)))
        needed, holders = self._needed, self._holders
        answer: set[Hashable] = set()
        for number in self._always:
            answer.update(holders[number])
        for number, count in counts.items():
            if count == needed[number]:
                answer.update(holders[number])
                if len(answer) == len(self._interfaces):
                    break
        return frozenset(answer)

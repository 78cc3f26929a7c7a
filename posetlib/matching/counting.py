"""The counting matcher: counts, for each filter, the constraints that a notification satisfies [G].

A filter matches if the count equals the number of its constraints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import chain
from operator import attrgetter
from typing import Final

from posetlib.filters.filter import Filter
from posetlib.graph.change import Pair
from posetlib.matching.matcher import Matcher, Notification, check_notification
from posetlib.matching.predicates import Predicates
from posetlib.values import lookup

__all__ = ["CountingMatcher"]

# The numbers of the filters that share a predicate; an attrgetter, so that ``map`` stays within C.
_FILTERS: Final = attrgetter("filters")


class CountingMatcher(Matcher[Filter]):
    """Matches notifications by counting satisfied constraints, each evaluated once for all filters.

    The index is always up to date: an add or remove costs O(log n) for each end of a range. A match
    takes a step for each filter with a constraint that the notification satisfies, once for each
    such constraint. It also takes a step for each range that begins before the value, or for each
    that ends after it, whichever ranges are fewer. Memory is proportional to the filters and their
    constraints.

    >>> from posetlib import parse_filter
    >>> matcher = CountingMatcher()
    >>> _ = matcher.add(parse_filter('type = "quote" and price in [20, 30]'), "I1")
    >>> _ = matcher.add(parse_filter('type = "quote"'), "I2")
    >>> matcher.match({"type": "quote", "price": 45})
    frozenset({'I2'})
    """

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        self._attributes: dict[str, Predicates] = {}
        # Number of a filter -> the interfaces that hold it, and the number of its constraints.
        self._holders: dict[int, dict[Hashable, int]] = {}
        self._needed: dict[int, int] = {}
        # The numbers of filters without a constraint, which match every notification.
        self._always: dict[int, None] = {}
        # Interface -> how many filters it holds. Once all interfaces are found, a match may stop.
        self._interfaces: Counter[Hashable] = Counter()
        # The number for the next new filter.
        self._next = 0
        super().__init__(pairs)

    def _enter(self, filter: Filter, interface: Hashable) -> int:
        self._interfaces[interface] += 1
        # A filter that another interface holds has its number already.
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
            satisfied = predicates.satisfied(value, notification)
            # Thousands of steps for each attribute, so they must all run within C.
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

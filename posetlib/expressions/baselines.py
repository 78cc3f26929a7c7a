"""Two plain ways to match expressions: by their disjunctive forms, and one by one.

They are what the matcher of expressions is compared with, in tests and in benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from posetlib.constraints.mixtures import conjunction
from posetlib.errors import EmptyConstraintError
from posetlib.expressions.clauses import conditions_of
from posetlib.expressions.explaining import leaf_holds
from posetlib.expressions.expression import Expression
from posetlib.expressions.tree import Leaf
from posetlib.filters.filter import Filter
from posetlib.graph.change import Pair
from posetlib.matching.counting import CountingMatcher
from posetlib.matching.matcher import Matcher, Notification, check_notification
from posetlib.values import lookup

__all__ = ["BruteForceMatcher", "DisjunctiveMatcher"]


class _OfExpressions(Matcher[Expression]):
    def _check(self, item: object) -> None:
        if not isinstance(item, Expression):
            raise TypeError(f"the matcher holds expressions, not {type(item).__name__}")


class BruteForceMatcher(_OfExpressions):
    """Asks every expression."""

    def _enter(self, filter: Expression, interface: Hashable) -> int:
        return 0

    def _leave(self, filter: Expression, interface: Hashable, place: int) -> None:
        pass

    def match(self, notification: Notification) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching expression."""
        check_notification(notification)
        return frozenset(
            interface
            for expression, holders in self._pairs.items()
            if expression.matches(notification)
            for interface in holders
        )


class DisjunctiveMatcher(_OfExpressions):
    """Makes filters of the disjunctive form, and leaves them to a matcher of filters.

    A clause of negated conditions alone is no filter. So each filter stands for the other
    conditions of a clause, and if it matches, the negated ones are asked.
    """

    def __init__(
        self,
        engine: Callable[[], Matcher[Filter]] = CountingMatcher,
        pairs: Iterable[Pair] = (),
    ) -> None:
        self._engine = engine()
        # Place of a pair -> its clauses; number of a clause -> its interface and negated leaves.
        self._clauses: dict[int, list[tuple[Filter, int]]] = {}
        self._numbered: dict[int, tuple[Hashable, tuple[Leaf, ...]]] = {}
        self._next = 0
        super().__init__(pairs)

    def _enter(self, filter: Expression, interface: Hashable) -> int:
        made = []
        for clause in filter.clauses():
            try:
                positive = Filter(
                    {
                        name: conjunction(held)
                        for name, (held, _) in conditions_of(clause).items()
                        if held
                    }
                )
            except EmptyConstraintError:
                continue
            made.append((positive, tuple(leaf for leaf in clause if leaf.negated)))
        place, self._next = self._next, self._next + 1
        self._clauses[place] = []
        for positive, negated in made:
            number, self._next = self._next, self._next + 1
            self._numbered[number] = (interface, negated)
            self._clauses[place].append((positive, number))
            self._engine.add(positive, number)
        return place

    def _leave(self, filter: Expression, interface: Hashable, place: int) -> None:
        for positive, number in self._clauses.pop(place):
            self._engine.remove(positive, number)
            del self._numbered[number]

    def match(self, notification: Notification) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching expression."""
        return self._answer(notification, self._engine.match(notification))

    def match_many(self, notifications: Iterable[Notification]) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each notification."""
        asked = list(notifications)
        return list(map(self._answer, asked, self._engine.match_many(asked)))

    def _answer(
        self, notification: Notification, clauses: frozenset[Hashable]
    ) -> frozenset[Hashable]:
        found = set()
        for number in clauses:
            interface, negated = self._numbered[number]  # type: ignore[index]
            if interface not in found and all(
                leaf_holds(leaf, lookup(notification, leaf.attribute), notification)
                for leaf in negated
            ):
                found.add(interface)
        return frozenset(found)

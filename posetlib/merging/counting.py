"""Covering and merging candidates by counting constraints, as in [G].

The distinct constraints of each attribute are kept once, with the filters that share them. To find
the filters that cover another one, each of its constraints is held against the distinct constraints
of its attribute, and the filters of those that cover it are counted: a filter covers if as many of
its constraints cover as it has. Filters to merge with are counted by equal constraints.

This stands beside the index of the tables, which answers the same questions from boxes. Counting
depends on no order of the values, so it suits attributes with few distinct constraints: there, one
comparison serves all filters that share a constraint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from posetlib.constraints.base import Constraint
from posetlib.filters.filter import Filter
from posetlib.matching.predicates import Predicates
from posetlib.values import MISSING

__all__ = ["ConstraintCounts"]


class ConstraintCounts:
    """Filters, found by counting constraints.

    >>> from posetlib.filters import parse_filter
    >>> counts = ConstraintCounts()
    >>> for text in ("x > 3", "x > 3 and y = 1", "x > 9 and y = 1"):
    ...     counts.add(parse_filter(text))
    >>> counts.covering(parse_filter("x > 7 and y = 1"))
    [Filter('x > 3'), Filter('x > 3 and y = 1')]
    >>> counts.covered(parse_filter("x > 7"))
    [Filter('x > 9 and y = 1')]
    >>> counts.merging(parse_filter("x > 3 and y = 2"))
    [Filter('x > 3 and y = 1')]
    """

    def __init__(self) -> None:
        self._numbers: dict[Filter, int] = {}
        self._filters: dict[int, Filter] = {}
        self._next = 0
        #: Attribute -> its distinct constraints, found by a value that satisfies them.
        self._attributes: dict[str, Predicates] = {}
        #: Attribute -> its distinct constraints -> the filters that share them.
        self._sharing: dict[str, dict[Constraint, dict[int, None]]] = {}
        #: Filters without any constraint, which cover everything.
        self._unconstrained: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, f: Filter) -> None:
        """Add a filter; a second time changes nothing. O(log n) for each constraint."""
        if f in self._numbers:
            return
        number = self._numbers[f] = self._next
        self._filters[number] = f
        self._next += 1
        for name, term in zip(f.attributes, f.terms, strict=True):
            self._attributes.setdefault(name, Predicates()).add(term, number)
            self._sharing.setdefault(name, {}).setdefault(term, {})[number] = None
        if not f.terms:
            self._unconstrained[number] = None

    def remove(self, f: Filter) -> None:
        """Remove a filter; KeyError if it is not there."""
        number = self._numbers.pop(f)
        del self._filters[number]
        for name, term in zip(f.attributes, f.terms, strict=True):
            self._attributes[name].remove(term, number)
            sharing = self._sharing[name]
            del sharing[term][number]
            if not sharing[term]:
                del sharing[term]
        self._unconstrained.pop(number, None)

    def covering(self, f: Filter) -> list[Filter]:
        """Return the filters that cover f, f itself among them if it is there.

        One comparison for each distinct constraint that a value of f's constraint satisfies.
        """
        counts: Counter[int] = Counter()
        for name, term in zip(f.attributes, f.terms, strict=True):
            for sharing in self._wider(name, term):
                counts.update(iter(sharing))
        found = [number for number, n in counts.items() if n == len(self._filters[number].terms)]
        return self._in_order([*found, *self._unconstrained])

    def covered(self, f: Filter) -> list[Filter]:
        """Return the filters that f covers: one comparison for each distinct constraint."""
        if not f.terms:
            return list(self._numbers)
        counts: Counter[int] = Counter()
        for name, term in zip(f.attributes, f.terms, strict=True):
            for other, sharing in self._sharing.get(name, {}).items():
                if term.covers(other):
                    counts.update(iter(sharing))
        return self._in_order([number for number, n in counts.items() if n == len(f.terms)])

    def merging(self, f: Filter) -> list[Filter]:
        """Return the filters with f's attributes that differ from f in one constraint.

        A look-up for each constraint, and a step for each filter that shares one.
        """
        if len(f.terms) == 1:
            # All constraints but one are no constraint: every filter on this attribute alone.
            sharing = self._sharing.get(f.attributes[0], {}).values()
            near = dict.fromkeys(number for some in sharing for number in some)
        else:
            counts: Counter[int] = Counter()
            for name, term in zip(f.attributes, f.terms, strict=True):
                counts.update(iter(self._sharing.get(name, {}).get(term, ())))
            near = dict.fromkeys(number for number, n in counts.items() if n == len(f.terms) - 1)
        wanted = f.attributes
        return self._in_order(
            [
                number
                for number in near
                if self._filters[number].attributes == wanted and self._filters[number] != f
            ]
        )

    def _wider(self, name: str, term: Constraint) -> Iterator[dict[int, None]]:
        """Yield the filters of each distinct constraint that covers a constraint."""
        predicates = self._attributes.get(name)
        if predicates is None:
            return
        example = MISSING if term.references() else term.example()
        if example is MISSING:
            for other, sharing in self._sharing[name].items():
                if other.covers(term):
                    yield sharing
            return
        for predicate in predicates.satisfied(example, {}):
            if predicate.constraint.covers(term):
                yield predicate.filters
        # A comparison with another attribute has no answer for a value alone.
        for other, sharing in self._sharing[name].items():
            if other.references() and other.covers(term) and not other.matches_in(example, {}):
                yield sharing

    def _in_order(self, numbers: list[int]) -> list[Filter]:
        return [self._filters[number] for number in sorted(numbers)]

"""The distinct constraints of one attribute, indexed by the values that satisfy them.

Constraints on single values are found by hash, and ranges of numbers and of strings by their ends
in sorted lists. A kind of constraint may bring an index of its own. Every other constraint is
tested, once for all filters that share it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final

import numpy as np
from sortedcontainers import SortedKeyList

from posetlib.constraints.base import Constraint
from posetlib.constraints.extents import Answer, Piece
from posetlib.matching.kind_indexes import KindIndexes
from posetlib.values import MISSING, exact

__all__ = ["Predicate", "Predicates"]

# The domains of values. The first two are also the places of their ranges in ``_ranges``.
_STRING: Final = 0
_NUMBER: Final = 1
_BOOLEAN: Final = 2


class Predicate:
    """A constraint of one attribute, and the numbers of the filters that share it."""

    __slots__ = ("constraint", "filters")

    def __init__(self, constraint: Constraint) -> None:
        self.constraint = constraint
        self.filters: dict[int, None] = {}


class Predicates:
    """The constraints of one attribute.

    Adding one, and removing one, is O(log n) for each of its ranges and O(1) for each of its
    values. Memory is proportional to the ranges and values of distinct constraints.
    """

    def __init__(self) -> None:
        self._known: dict[Constraint, Predicate] = {}
        #: (domain, value) -> the predicates that this value satisfies.
        self._points: dict[tuple[int, Hashable], dict[Predicate, None]] = {}
        #: The ranges of strings, and those of numbers.
        self._ranges = (_Ranges(), _Ranges())
        #: The predicates without an index: each of them is tested with every value.
        self._unindexed: dict[Predicate, None] = {}
        #: The predicates of kinds that bring an index.
        self._by_kind = KindIndexes()
        #: The predicates that a notification without the attribute satisfies.
        self._absent: dict[Predicate, None] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, constraint: Constraint, filter: int) -> None:
        """Note that a filter has a constraint."""
        predicate = self._known.get(constraint)
        if predicate is None:
            predicate = self._known[constraint] = Predicate(constraint)
            self._place(predicate, enter=True)
        predicate.filters[filter] = None

    def remove(self, constraint: Constraint, filter: int) -> None:
        """Note that a filter is gone that had a constraint."""
        predicate = self._known[constraint]
        del predicate.filters[filter]
        if not predicate.filters:
            del self._known[constraint]
            self._place(predicate, enter=False)

    def _place(self, predicate: Predicate, *, enter: bool) -> None:
        """Add a predicate to the index (``enter``), or remove it from there."""
        if predicate.constraint.matches_absence():
            if enter:
                self._absent[predicate] = None
            else:
                del self._absent[predicate]
        extent = predicate.constraint.extent()
        if extent.others is not Answer.NO or not extent.is_sure:
            if self._by_kind.takes(predicate.constraint):
                if enter:
                    self._by_kind.add(predicate.constraint)
                else:
                    self._by_kind.remove(predicate.constraint)
            elif enter:
                self._unindexed[predicate] = None
            else:
                del self._unindexed[predicate]
            return
        for domain, pieces in ((_STRING, extent.strings), (_NUMBER, extent.numbers)):
            for piece in pieces:
                if not piece.is_point:
                    self._ranges[domain].place(piece, predicate, enter=enter)
                elif domain == _STRING:
                    self._place_point((_STRING, piece.low), predicate, enter=enter)
                else:
                    self._place_point((_NUMBER, piece.low[0]), predicate, enter=enter)
        for value, answer in enumerate(extent.booleans):
            if answer is Answer.YES:
                self._place_point((_BOOLEAN, value), predicate, enter=enter)

    def _place_point(self, key: tuple[int, Hashable], predicate: Predicate, *, enter: bool) -> None:
        if enter:
            self._points.setdefault(key, {})[predicate] = None
        else:
            predicates = self._points[key]
            del predicates[predicate]
            if not predicates:
                del self._points[key]

    def satisfied(self, value: Any, notification: Mapping[str, Any]) -> list[Predicate]:
        """Return the predicates that a value satisfies, each once; MISSING for no value."""
        if value is MISSING:
            return list(self._absent)
        if isinstance(value, str) and type(value) not in (str, np.str_):
            # A subclass of str may have a comparison of its own: every predicate is tested.
            return _tested(self._known.values(), value, notification)
        found = _tested(self._unindexed, value, notification)
        if self._by_kind:
            found += map(self._known.__getitem__, self._by_kind.satisfied(value))
        if isinstance(value, bool | np.bool_):
            found += self._points.get((_BOOLEAN, int(value)), ())
            return found
        domain, cut = _STRING, value
        if not isinstance(value, str):
            number = exact(value)
            if number is None or number != number:
                return found
            domain, value, cut = _NUMBER, number, (number, 0)
        found += self._points.get((domain, value), ())
        found += self._ranges[domain].around(cut)
        return found


def _tested(
    predicates: Iterable[Predicate], value: Any, notification: Mapping[str, Any]
) -> list[Predicate]:
    """Return those of the predicates that a value satisfies, by a test of each."""
    return [each for each in predicates if each.constraint.matches_in(value, notification)]


class _Ranges:
    """Ranges between two cuts on one line, sorted by both ends (see ``constraints.extents``)."""

    def __init__(self) -> None:
        self._by_low = SortedKeyList(key=lambda entry: entry[0])
        self._by_high = SortedKeyList(key=lambda entry: entry[1])

    def place(self, piece: Piece, predicate: Predicate, *, enter: bool) -> None:
        """Add a range (``enter``), or remove it; O(log n), unless very many share both ends."""
        entry = (piece.low, piece.high, predicate)
        for listed in (self._by_low, self._by_high):
            if enter:
                listed.add(entry)
            else:
                listed.remove(entry)

    def around(self, cut: Any) -> list[Predicate]:
        """Return the predicates of the ranges that contain the value just after a cut.

        Goes through all ranges that begin at the cut or before it, or through all that end after
        it, whichever are fewer.
        """
        begun = self._by_low.bisect_key_right(cut)
        ended = self._by_high.bisect_key_right(cut)
        if begun <= len(self._by_high) - ended:
            return [each for _, high, each in self._by_low.islice(0, begun) if cut < high]
        return [each for low, _, each in self._by_high.islice(ended) if low <= cut]

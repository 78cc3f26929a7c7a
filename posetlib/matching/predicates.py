"""The distinct constraints of one attribute, indexed by the values that satisfy them.

Single values are found by hash, ranges of numbers and of strings by their ends in sorted lists;
what is left is asked, each distinct constraint once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final

import numpy as np
from sortedcontainers import SortedKeyList

from posetlib.constraints.base import Constraint
from posetlib.matching.footprints import Answer, Footprint, Piece, footprint, is_point
from posetlib.values import exact

__all__ = ["Predicate", "Predicates"]

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
        #: (domain, value) -> predicates.
        self._points: dict[tuple[int, Hashable], dict[Predicate, None]] = {}
        self._ranges = (_Ranges(), _Ranges())
        self._asked: dict[Predicate, None] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, constraint: Constraint, filter: int) -> None:
        """Let a filter have a constraint."""
        predicate = self._known.get(constraint)
        if predicate is None:
            predicate = self._known[constraint] = Predicate(constraint)
            self._place(predicate, enter=True)
        predicate.filters[filter] = None

    def remove(self, constraint: Constraint, filter: int) -> None:
        """Take a constraint from a filter that has it."""
        predicate = self._known[constraint]
        del predicate.filters[filter]
        if not predicate.filters:
            del self._known[constraint]
            self._place(predicate, enter=False)

    def _place(self, predicate: Predicate, *, enter: bool) -> None:
        made = footprint(predicate.constraint)
        if not _sure(made):
            if enter:
                self._asked[predicate] = None
            else:
                del self._asked[predicate]
            return
        for domain, pieces in ((_STRING, made.strings), (_NUMBER, made.numbers)):
            for piece in pieces:
                if not is_point(piece):
                    self._ranges[domain].place(piece, predicate, enter=enter)
                elif domain == _STRING:
                    self._place_point((_STRING, piece.low), predicate, enter=enter)
                else:
                    self._place_point((_NUMBER, piece.low[0]), predicate, enter=enter)
        for value, answer in enumerate(made.booleans):
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
        """Return the predicates that a value satisfies, each once."""
        if isinstance(value, str) and type(value) not in (str, np.str_):
            # A subclass may compare as it likes: everybody is asked.
            return _asked(self._known.values(), value, notification)
        found = _asked(self._asked, value, notification)
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


def _asked(
    predicates: Iterable[Predicate], value: Any, notification: Mapping[str, Any]
) -> list[Predicate]:
    return [each for each in predicates if each.constraint.matches_in(value, notification)]


def _sure(made: Footprint) -> bool:
    """Return whether an index can say all about a constraint."""
    return made.others is Answer.NO and all(piece.sure for piece in made.numbers + made.strings)


_Entry = tuple[Any, Any, Predicate]


class _Ranges:
    """Half-open ranges between cuts, by both ends."""

    def __init__(self) -> None:
        self._by_low = SortedKeyList(key=lambda entry: entry[0])
        self._by_high = SortedKeyList(key=lambda entry: entry[1])

    def place(self, piece: Piece, predicate: Predicate, *, enter: bool) -> None:
        """Take a range in, or out; O(log n), unless very many share both ends."""
        entry = (piece.low, piece.high, predicate)
        for listed in (self._by_low, self._by_high):
            if enter:
                listed.add(entry)
            else:
                listed.remove(entry)

    def around(self, cut: Any) -> list[Predicate]:
        """Return the predicates of the ranges that hold what is after a cut.

        Looks through the ranges that begin before it, or through those that end after it, of which
        there are fewer.
        """
        begun = self._by_low.bisect_key_right(cut)
        ended = self._by_high.bisect_key_right(cut)
        if begun <= len(self._by_high) - ended:
            return [each for _, high, each in self._by_low.islice(0, begun) if cut < high]
        return [each for low, _, each in self._by_high.islice(ended) if low <= cut]

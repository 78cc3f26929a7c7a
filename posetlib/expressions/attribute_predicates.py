"""The distinct constraints of one attribute, and which of them many values satisfy, as bits.

Up to 64 notifications make a block, and each is a bit of a word. Each predicate gets the word of
the notifications that satisfy it. Ranges of numbers are columns, looked up among the sorted values
of the block; single values are found by hash; all else is left to the index of other matchers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from posetlib.array_types import FloatArray, IntArray, Words
from posetlib.constraints.base import Constraint
from posetlib.constraints.extents import Extent
from posetlib.matching.predicates import Predicates
from posetlib.values import MISSING, exact

__all__ = ["AttributePredicates"]

# The classes of values that are found by hash as they are. A bool is not among them: True == 1.
_PLAIN: Final = (int, float, str)
_ROWS: Final = 16


class AttributePredicates:
    """The predicates of one attribute: constraints with numbers that the matcher gives them."""

    def __init__(self) -> None:
        # Ranges of numbers between two floats, both included: their ends, and their predicates.
        self._low: FloatArray = np.empty(_ROWS)
        self._high: FloatArray = np.empty(_ROWS)
        self._ranged: IntArray = np.empty(_ROWS, np.int64)
        self._ranges: list[tuple[Constraint, int]] = []
        self._range_row: dict[int, int] = {}
        # (class is str, value) -> the predicates of this single value.
        self._points: dict[tuple[bool, Any], dict[int, None]] = {}
        # All others, but for those that compare with other attributes.
        self._others = Predicates()
        self._contextual: dict[int, Constraint] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def single_values(self) -> int:
        """How many different single values predicates ask for."""
        return len(self._points)

    # -- changing ----------------------------------------------------------------------------------

    def add(self, constraint: Constraint, number: int) -> None:
        """Add a constraint with the number of its predicate."""
        place = _place_of(constraint)
        if place is None:
            self._others.add(constraint, number)
        elif isinstance(place, _Contextual):
            self._contextual[number] = constraint
        elif isinstance(place, tuple):
            self._add_range(constraint, number, place)
        else:
            self._points.setdefault(place.key, {})[number] = None
        self._count += 1

    def remove(self, constraint: Constraint, number: int) -> None:
        """Remove a constraint with its number."""
        place = _place_of(constraint)
        if place is None:
            self._others.remove(constraint, number)
        elif isinstance(place, _Contextual):
            del self._contextual[number]
        elif isinstance(place, tuple):
            self._remove_range(number)
        else:
            numbers = self._points[place.key]
            del numbers[number]
            if not numbers:
                del self._points[place.key]
        self._count -= 1

    def _add_range(self, constraint: Constraint, number: int, ends: tuple[float, float]) -> None:
        row = len(self._ranges)
        if row == len(self._low):
            more = np.empty_like(self._low)
            self._low = np.concatenate((self._low, more))
            self._high = np.concatenate((self._high, more))
            self._ranged = np.concatenate((self._ranged, np.empty_like(self._ranged)))
        self._low[row], self._high[row] = ends
        self._ranged[row] = number
        self._ranges.append((constraint, number))
        self._range_row[number] = row

    def _remove_range(self, number: int) -> None:
        row, last = self._range_row.pop(number), self._ranges.pop()
        if last[1] != number:  # the last one takes its place
            end = len(self._ranges)
            self._ranges[row] = last
            self._range_row[last[1]] = row
            for column in (self._low, self._high, self._ranged):
                column[row] = column[end]

    # -- asking ------------------------------------------------------------------------------------

    def satisfied(
        self, values: Sequence[Any], notifications: Sequence[Mapping[str, Any]], words: Words
    ) -> None:
        """Set the bits of the values in the word of each predicate that they satisfy.

        ``values`` has the value of each notification, MISSING for none.
        """
        bits: dict[tuple[bool, Any], int] = {}
        for at, value in enumerate(values):
            if value is MISSING:
                continue
            kind = value.__class__
            if kind in _PLAIN and value == value:
                key = (kind is str, value)
                bits[key] = bits.get(key, 0) | 1 << at
            else:
                self._satisfied_by(value, notifications[at], 1 << at, words)
            for number, constraint in self._contextual.items():
                if constraint.matches_in(value, notifications[at]):
                    words[number] |= np.uint64(1 << at)
        numbers: list[tuple[float, int]] = []
        for (is_text, value), members in bits.items():
            found = self._points.get((is_text, value))
            if found:
                for number in found:
                    words[number] |= np.uint64(members)
            if self._others:
                self._ask_others(value, {}, members, words)
            if not is_text and self._ranges:
                if value.__class__ is float or float_holds(value):
                    numbers.append((float(value), members))
                else:
                    self._ask_ranges(value, members, words)
        if numbers:
            self._sweep(numbers, words)

    def _sweep(self, numbers: list[tuple[float, int]], words: Words) -> None:
        """Set the bits of different floats in the words of the ranges that hold them."""
        numbers.sort()
        values = np.array([value for value, _ in numbers])
        below = np.zeros(len(numbers) + 1, np.uint64)
        below[1:] = np.bitwise_or.accumulate(np.array([bits for _, bits in numbers], np.uint64))
        count = len(self._ranges)
        first = np.searchsorted(values, self._low[:count], "left")
        end = np.searchsorted(values, self._high[:count], "right")
        words[self._ranged[:count]] |= below[end] & ~below[first]

    def _satisfied_by(
        self, value: Any, notification: Mapping[str, Any], bits: int, words: Words
    ) -> None:
        """Set the bits for a value that is no plain number or string, such as a set or Decimal."""
        if self._others:
            self._ask_others(value, notification, bits, words)
        number = None if isinstance(value, bool | np.bool_) else exact(value)
        text = isinstance(value, str)
        if text or number is not None:
            for (is_text, point), numbers in self._points.items():
                # A subclass of str may compare in a way of its own, so it is not looked up.
                if is_text is text and (point == value if text else point == number):
                    for each in numbers:
                        words[each] |= np.uint64(bits)
        if number is not None:
            self._ask_ranges(number, bits, words)

    def _ask_ranges(self, value: Any, bits: int, words: Words) -> None:
        for constraint, number in self._ranges:
            if constraint.matches(value):
                words[number] |= np.uint64(bits)

    def _ask_others(
        self, value: Any, notification: Mapping[str, Any], bits: int, words: Words
    ) -> None:
        for predicate in self._others.satisfied(value, notification):
            for number in predicate.filters:
                words[number] |= np.uint64(bits)


class _Contextual:
    """Says that a constraint compares with other attributes."""


class _Point:
    """Says that a constraint is satisfied by one number or string alone."""

    __slots__ = ("key",)

    def __init__(self, key: tuple[bool, Any]) -> None:
        self.key = key


_CONTEXTUAL: Final = _Contextual()


def _place_of(constraint: Constraint) -> _Contextual | _Point | tuple[float, float] | None:
    """Return where a constraint belongs: None for the index of everything else."""
    if constraint.__class__.matches_in is not Constraint.matches_in:
        return _CONTEXTUAL
    extent: Extent = constraint.extent()
    if not extent.is_sure or extent.others or any(extent.booleans):
        return None
    pieces = extent.numbers + extent.strings
    if len(pieces) != 1:
        return None
    (piece,) = pieces
    if piece.is_point:
        return _Point((True, piece.low) if extent.strings else (False, piece.low[0]))
    if extent.strings:
        return None
    return float_after(piece.low), -float_after((-piece.high[0], 1 - piece.high[1]))


def float_after(cut: tuple[Any, int]) -> float:
    """Return the first float behind a cut: not less than its number, or greater if its side is 1.

    Every float compares with it as with the cut. The upper end of a range is the same on the line
    turned round.

    >>> float_after((3, 0)), float_after((3, 1)) > 3, float_after((2**53 + 1, 0)) == 2**53 + 2
    (3.0, True, True)
    """
    number, after = cut
    try:
        found = float(number)
    except OverflowError:
        found = math.inf if number > 0 else -math.inf
    while found < number or (after and found == number and found != math.inf):
        found = math.nextafter(found, math.inf)
    return found


def float_holds(value: Any) -> bool:
    """Return whether a float is equal to a number."""
    try:
        return bool(float(value) == value)
    except OverflowError:
        return False

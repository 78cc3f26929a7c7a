"""Positions: numbers and strings as 64-bit integers, so that numpy can compare ranges of them.

A *position* is a 64-bit integer that stands for a value. A range of values contains another one
exactly if its range of positions contains the other's, open ends included. A double (a float64) has
an even position. The odd position between two neighbouring doubles stands for everything between
the two: for an open end, and for any number that no double holds. Strings have positions above
those of numbers; their order is that in which the vocabulary learned them. A constraint is a range
of positions:

========================  ==================================================================
`x in [2, 5)`             from the position of 2 to just before that of 5
`x = "a"`                 the position of "a" in the vocabulary, as both ends
`exists x`                all positions of values
no constraint             all positions: it covers also a filter without the attribute
any other constraint      not known: see ``FilterRanges.loosened``
========================  ==================================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from posetlib.array_types import BoolArray, FloatArray, IntArray
from posetlib.constraints.base import EXISTS, Constraint
from posetlib.constraints.extents import EVERYWHERE, Extent
from posetlib.constraints.numbers import Numbers
from posetlib.constraints.strings import Strings
from posetlib.values import MISSING, exact, lookup

__all__ = [
    "ABSENT",
    "EVERYTHING",
    "Ends",
    "Points",
    "Vocabulary",
    "constraint_between",
    "encode_notifications",
    "encode_ranges",
    "ends_of",
    "is_one_string",
    "positions",
    "value_position",
]

#: The range of a filter without a constraint on the attribute: all 64-bit integers.
EVERYTHING: Final = (-(1 << 63), (1 << 63) - 1)
#: The position of a notification without the attribute. Only EVERYTHING contains it.
ABSENT: Final = (1 << 63) - 1
#: The range of all positions that values have: EVERYTHING without its two ends.
_EXISTS: Final = (-(1 << 63) + 1, (1 << 63) - 2)
#: The position of infinity. Minus infinity has the same with a minus.
_INFINITE: Final = (1 << 62) - 2
#: The position of the first string of a vocabulary; each further string is 2 higher.
_STRINGS: Final = 1 << 62
#: The one position of all strings that no filter names, above those of 2**60 strings.
_OTHER_STRING: Final = _STRINGS + (1 << 61) + 1
#: The one position of all values that are neither numbers nor strings.
_OTHER_VALUE: Final = _EXISTS[1]
#: Only zero, infinity and doubles of a size between these two have positions of their own: a 62-bit
#: integer has no room for the exponents of all doubles.
_SMALLEST: Final = 2.0**-255
_LARGEST: Final = 2.0**255
#: The bits of the smallest double as an integer, less 1: so that it is one step from zero.
_SMALLEST_BITS: Final = int(np.float64(_SMALLEST).view(np.int64)) - 1


def positions(values: FloatArray) -> tuple[IntArray, BoolArray]:
    """Return the positions of doubles, and which of them have one of their own; O(n).

    The bits of positive doubles, read as integers, are in the order of the doubles.

    >>> at, known = positions(np.array([-1.5, 0.0, 1.5, np.inf, 1e300]))
    >>> bool((np.diff(at[:4]) > 0).all()), known.tolist()
    (True, [True, True, True, True, False])
    """
    size = np.abs(values)
    known = ((size >= _SMALLEST) & (size <= _LARGEST)) | (values == 0) | np.isinf(values)
    with np.errstate(invalid="ignore"):
        steps = size.view(np.int64) - _SMALLEST_BITS
    steps = np.where(values == 0, 0, steps) * 2
    steps = np.where(np.isinf(values), _INFINITE, steps)
    return np.where(known, np.where(values < 0, -steps, steps), 0), known


def _double(position: int) -> float:
    """Return the double at an even position."""
    if abs(position) == _INFINITE:
        return math.copysign(math.inf, position)
    if position == 0:
        return 0.0
    size = float(np.int64(abs(position) // 2 + _SMALLEST_BITS).view(np.float64))
    return math.copysign(size, position)


def value_position(value: Any) -> int:
    """Return the position of a number, also of one that no double holds, or of any other value.

    >>> low, high = (int(each) for each in positions(np.array([2.0**53, 2.0**53 + 2]))[0])
    >>> low < value_position(2**53 + 1) < high
    True
    """
    number = exact(value)
    if number is None or number != number:
        return _OTHER_VALUE
    try:
        near = float(number)
    except OverflowError:
        near = math.inf if number > 0 else -math.inf
    if abs(near) != math.inf or near == number:
        if 0 < abs(near) < _SMALLEST or (near == 0 != number):
            # Between zero and the smallest double.
            return 1 if number > 0 else -1
        if abs(near) <= _LARGEST or abs(near) == math.inf:
            at = int(positions(np.array([near]))[0][0])
            return at if near == number else at + (1 if number > near else -1)
    # The odd position between the largest double and infinity, for all numbers between them.
    edge = int(positions(np.array([_LARGEST]))[0][0]) + 1
    return edge if number > 0 else -edge


class Vocabulary:
    """The strings that filters name, each with a position.

    Filters and notifications can be compared only if they were encoded with the same vocabulary.

    >>> words = Vocabulary()
    >>> words.string(words.position("a")), words.find("a") == words.position("a")
    ('a', True)
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._strings: list[str] = []

    def position(self, text: str) -> int:
        """Return the position of a string; a new string gets the next position."""
        code = self._codes.setdefault(text, len(self._codes))
        if code == len(self._strings):
            self._strings.append(text)
        return _STRINGS + 2 * code

    def find(self, text: str) -> int:
        """Return the position of a string; all strings that are not known have the same one."""
        code = self._codes.get(text)
        return _OTHER_STRING if code is None else _STRINGS + 2 * code

    def string(self, position: int) -> str:
        """Return the string at a position."""
        return self._strings[(position - _STRINGS) // 2]


# -- arrays of ranges ------------------------------------------------------------------------------


def encode_ranges(
    lows: FloatArray, highs: FloatArray, open_ends: IntArray
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the low and high positions of ranges, and whether these are exact; O(n).

    Ends are exact if they have positions of their own. A range with NaN at both ends stands for no
    constraint. ``open_ends`` is the sum of 1 for an open low end and 2 for an open high end.
    """
    low, low_known = positions(lows)
    high, high_known = positions(highs)
    absent = np.isnan(lows) & np.isnan(highs)
    low = np.where(absent, EVERYTHING[0], low + (open_ends & 1))
    high = np.where(absent, EVERYTHING[1], high - (open_ends >> 1 & 1))
    return low, high, absent | (low_known & high_known)


# -- constraints -----------------------------------------------------------------------------------


class Ends(NamedTuple):
    """The range of positions in which the values of a constraint lie."""

    low: int
    high: int
    #: Whether the constraint is satisfied by all values in the range.
    is_all: bool
    #: Whether no smaller range contains the values of the constraint; there may be gaps in it.
    is_firm: bool


# The ends of a constraint that positions cannot describe.
_UNKNOWN: Final = Ends(*_EXISTS, False, False)
# The same for a constraint that a notification without the attribute satisfies.
_UNKNOWN_OR_ABSENT: Final = Ends(*EVERYTHING, False, False)


def ends_of(constraint: Constraint, vocabulary: Vocabulary) -> Ends:
    """Return the range of positions of a constraint, from its single value or its extent.

    >>> from posetlib.constraints import Numbers
    >>> ends_of(Numbers.interval(2, 5), Vocabulary())[2:]
    (True, True)
    >>> ends_of(Numbers.points([2, 5]), Vocabulary())[2:]
    (False, True)
    """
    value = constraint.single_value()
    if value is not MISSING:
        at = vocabulary.position(value)
        return Ends(at, at, True, True)
    if constraint.matches_absence():
        return _UNKNOWN_OR_ABSENT
    extent = constraint.extent()
    if extent is EVERYWHERE:
        return Ends(*_EXISTS, True, True)
    if extent.domain == "number" and extent.tight:
        return _number_ends(extent)
    return _UNKNOWN


def _number_ends(extent: Extent) -> Ends:
    """Return the ends of a set of numbers; unknown if one of them has no position of its own."""
    pieces = extent.numbers
    low, open_low = pieces[0].low
    high, closed_high = max(piece.high for piece in pieces)
    for end in (low, high):
        if isinstance(end, Fraction) or _as_double(end) != end:
            return _UNKNOWN
    at, known = positions(np.array([float(low), float(high)]))
    if not known.all():
        return _UNKNOWN
    is_all = extent.comparable and len(pieces) == 1 and pieces[0].sure
    return Ends(int(at[0]) + open_low, int(at[1]) - (1 - closed_high), is_all, True)


def _as_double(number: Any) -> float:
    """Return a number rounded to a double; NaN if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.nan


def constraint_between(low: int, high: int, vocabulary: Vocabulary) -> Constraint:
    """Return the constraint that is satisfied by exactly the values in a range of positions."""
    if (low, high) == _EXISTS:
        return EXISTS
    if low >= _STRINGS:
        return Strings.points((vocabulary.string(low),))
    left, right = _double(low - low % 2), _double(high + high % 2)
    return Numbers.interval(
        None if left == -math.inf else left,
        None if right == math.inf else right,
        low_open=bool(low % 2),
        high_open=bool(high % 2),
    )


def is_one_string(lows: IntArray, highs: IntArray) -> BoolArray:
    """Return which ranges of positions are that of one string of the vocabulary: O(n)."""
    return np.asarray((lows == highs) & (lows >= _STRINGS) & (lows < _OTHER_STRING))


# -- notifications ---------------------------------------------------------------------------------


@dataclass
class Points:
    """Many notifications as positions."""

    #: For each attribute the position of its value in each notification.
    at: dict[str, IntArray]
    #: The number of notifications.
    count: int
    #: The notifications themselves.
    objects: Sequence[Mapping[str, Any]]


def encode_notifications(
    notifications: Sequence[Mapping[str, Any]], names: Sequence[str], vocabulary: Vocabulary
) -> Points:
    """Return the positions of the values that notifications have for some attributes: O(n).

    Where all values of an attribute are floats, numpy works out their positions.

    >>> at = encode_notifications([{"x": 1}, {"y": 2}], ["x"], Vocabulary()).at["x"]
    >>> at.tolist() == [value_position(1), ABSENT]
    True
    """
    at = {}
    for name in names:
        values = [lookup(each, name) for each in notifications]
        if all(type(value) is float for value in values):
            found, known = positions(np.array(values, np.float64))
            if known.all():
                at[name] = found
                continue
        at[name] = np.array([_position(value, vocabulary) for value in values], np.int64)
    return Points(at, len(notifications), notifications)


def _position(value: Any, vocabulary: Vocabulary) -> int:
    """Return the position of the value of a notification, or that of no value."""
    if value is MISSING:
        return ABSENT
    if isinstance(value, str):
        return vocabulary.find(str(value))
    return value_position(value)

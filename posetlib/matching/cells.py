"""The cells that the values of one attribute fall into, and which of them a constraint reaches.

The two ordered domains are cut into cells at the ends of constraints: at every end where there are
few enough, otherwise at quantiles of them. Cells are numbered in one sequence of *rows*: first
those for what lies on no line, then the cells of numbers, then those of strings. Cuts are exact
numbers; for values that float64 holds each is rounded *up* to the first such value after it, which
is why no comparison of floats can err.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posetlib.constraints.base import Constraint
from posetlib.intervals import complement, intersection, normal
from posetlib.matching.footprints import (
    NUMBER_LINE,
    STRING_LINE,
    Answer,
    Footprint,
    Line,
    Piece,
    footprint,
)
from posetlib.values import MISSING, Number, exact

__all__ = [
    "ABSENT",
    "UNKNOWN",
    "Cells",
    "Floats",
    "Intervals",
    "Ranges",
    "Reach",
    "Readings",
    "as_floats",
    "float_after",
]

#: A value that is not read any further: every constraint is asked.
UNKNOWN: Final = 0
#: The attribute is not there.
ABSENT: Final = 1
_OTHERS: Final = 2
_FALSE: Final = 3
_NUMBERS: Final = 5

_EXACT_INTEGERS: Final = 2.0**53
# What numpy turns into float64 without loss; integers of 64 bits are looked at closer.
_SMALL: Final = frozenset(
    (float, np.float64, np.float32, np.float16, np.int8, np.int16, np.int32, np.uint8, np.uint16,
     np.uint32)
)  # fmt: skip
_NUMERIC: Final = _SMALL | {int, np.int64, np.uint64}
_MEMORY: Final = 1 << 14

Floats = NDArray[np.float64]
#: Half-open ranges of rows, disjoint and in order.
Ranges = list[tuple[int, int]]


class Reach(NamedTuple):
    """The rows that a constraint reaches: all values of a row satisfy it, or some may."""

    sure: Ranges
    #: The first one is the row of values that are not read further.
    possible: Ranges

    @property
    def exact(self) -> bool:
        """Whether the row of a value says all, unless it is that of values not read further."""
        return self.sure == self.possible[1:]

    def doubted(self) -> Ranges:
        """Return the rows of values that are read of which some may satisfy it, and not all."""
        if len(self.possible) == 2 and len(self.sure) < 2:  # a range, by far the most common
            ((first, last),) = self.possible[1:]
            if not self.sure:
                return [(first, last)]
            ((inner_first, inner_last),) = self.sure
            ends = ((first, inner_first), (inner_last, last))
            return [(start, stop) for start, stop in ends if start < stop]
        rest = complement(tuple(self.sure), 0, self.possible[-1][1])
        return list(intersection(tuple(self.possible[1:]), rest))


class Intervals(NamedTuple):
    """The rows that many intervals reach: sure from inner first to inner last, possible all."""

    first: NDArray[np.intp]
    inner_first: NDArray[np.intp]
    inner_last: NDArray[np.intp]
    last: NDArray[np.intp]


class Readings(NamedTuple):
    """Where the values of many notifications lie."""

    rows: NDArray[np.intp]
    #: The values as float64, NaN for what is none; None where no value has been read as one.
    floats: Floats | None
    #: Whether each is a number that float64 does not hold, or not read further; None if none is.
    inexact: NDArray[np.bool_] | None


class Cells:
    """The rows of one attribute.

    >>> from posetlib.constraints.numbers import Numbers
    >>> cells = Cells([Numbers.interval(2, 5), Numbers.interval(3, 9)], limit=100)
    >>> cells.row(1), cells.row(2), cells.row(2.5), cells.row(3)
    (5, 6, 6, 7)
    >>> cells.reach(Numbers.interval(2, 5)).sure
    [(6, 8)]
    """

    def __init__(self, constraints: Collection[Constraint] = (), *, limit: int) -> None:
        number_ends: list[Any] = []
        string_ends: list[Any] = []
        for constraint in _sample(constraints, 4 * limit):
            made = footprint(constraint)
            for piece in made.numbers:
                number_ends += piece[:2]
            for piece in made.strings:
                string_ends += piece[:2]
        self._number_cuts, few_numbers = _cuts(number_ends, NUMBER_LINE, limit)
        self._string_cuts, few_strings = _cuts(string_ends, STRING_LINE, limit)
        #: Whether there are too many ends for a cut at each.
        self.many_numbers, self.many_strings = not few_numbers, not few_strings
        # The first float of each row of numbers but the first row. Before them are as many -inf as
        # there are other rows, so that a search yields the number of a row.
        self._thresholds = [-math.inf] * _NUMBERS + list(map(float_after, self._number_cuts))
        self._threshold_array = np.array(self._thresholds, dtype=np.float64)
        self._strings = _NUMBERS + len(self._number_cuts) + 1
        #: The number of rows.
        self.size = self._strings + len(self._string_cuts) + 1
        # Strings come again and again: they are searched once.
        self._rows_of_strings: dict[str, int] = {}

    # -- constraints -------------------------------------------------------------------------------

    def reach(self, constraint: Constraint) -> Reach:
        """Return the rows that a constraint reaches; O(log n) for each of its pieces."""
        made = footprint(constraint)
        sure: Ranges = []
        possible: Ranges = [(UNKNOWN, UNKNOWN + 1)]
        if made.others is not Answer.NO or made.booleans != (Answer.NO, Answer.NO):
            self._reach_few(made, sure, possible)
        for start, cuts, line, pieces in (
            (_NUMBERS, self._number_cuts, NUMBER_LINE, made.numbers),
            (self._strings, self._string_cuts, STRING_LINE, made.strings),
        ):
            for piece in pieces:
                _reach_piece(start, cuts, line, piece, sure, possible)
        if len(possible) > 2:  # parts of a union may touch one cell, and rows that touch are joined
            sure, possible = list(normal(sure)), [possible[0], *normal(possible[1:])]
        return Reach(sure, possible)

    def reach_interval(self, low: Any, high: Any) -> tuple[int, int, int, int] | None:
        """Return the rows that a closed interval reaches, quickly, or None if it cannot be told.

        The first row, the first that it fills, the first beyond those, and the first beyond all.
        """
        if self._fills is None:
            return None
        if (type(low) is not float or type(high) is not float) and not (
            _is_held(low) and _is_held(high)
        ):
            return None
        lowest, highest = self._fills
        first = bisect_right(self._thresholds, low)
        last = bisect_right(self._thresholds, high)
        return first, first + (lowest[first] != low), last + (highest[last] == high), last + 1

    def reach_intervals(self, lows: Floats, highs: Floats) -> Intervals | None:
        """Return the rows that many closed intervals reach, or None if it cannot be told."""
        if self._fills is None:
            return None
        lowest, highest = map(np.array, self._fills)
        first = self._threshold_array.searchsorted(lows, side="right")
        last = self._threshold_array.searchsorted(highs, side="right")
        inner_first = first + (lowest[first] != lows)
        inner_last = last + (highest[last] == highs)
        return Intervals(first, inner_first, inner_last, last + 1)

    @cached_property
    def _fills(self) -> tuple[list[float], list[float]] | None:
        """For each row of numbers, the ends of a closed interval of floats that just fills it.

        NaN where there is none: an end may be as near to a cut as floats can tell without being the
        same cut. None if there are cuts with no float between them.
        """
        thresholds = self._thresholds[_NUMBERS:]
        if any(one == other for one, other in pairwise(thresholds)):
            return None
        no_numbers = [math.nan] * _NUMBERS
        lowest, highest = [*no_numbers, -math.inf], no_numbers
        for (number, after), at in zip(self._number_cuts, thresholds, strict=True):
            lowest.append(at if not after and number == at else math.nan)
            before = math.nextafter(at, -math.inf)
            highest.append(before if after and number == before else math.nan)
        return lowest, [*highest, math.inf]

    @staticmethod
    def _reach_few(made: Footprint, sure: Ranges, possible: Ranges) -> None:
        for row, answer in ((_OTHERS, made.others), *enumerate(made.booleans, _FALSE)):
            if answer is not Answer.NO:
                possible.append((row, row + 1))
            if answer is Answer.YES:
                sure.append((row, row + 1))

    # -- values ------------------------------------------------------------------------------------

    def row(self, value: Any) -> int:
        """Return the row of a value; O(log n)."""
        kind = value.__class__
        if kind is float:
            if value != value:
                return _OTHERS
            return bisect_right(self._thresholds, value)
        if kind is str:
            return self._string_row(value)
        if value is MISSING:
            return ABSENT
        return self._unusual_row(value)

    def _string_row(self, value: str) -> int:
        row = self._rows_of_strings.get(value)
        if row is None:
            row = bisect_right(self._string_cuts, value) + self._strings
            if len(self._rows_of_strings) >= _MEMORY:
                self._rows_of_strings.clear()
            self._rows_of_strings[value] = row
        return row

    def _unusual_row(self, value: Any) -> int:
        if isinstance(value, bool | np.bool_):
            return _FALSE + bool(value)
        if isinstance(value, str):
            # A subclass may compare as it likes.
            return self._string_row(str(value)) if type(value) is np.str_ else UNKNOWN
        number = exact(value)
        if number is None or number != number:
            return _OTHERS
        return bisect_right(self._number_cuts, (number, 0)) + _NUMBERS

    def read(self, values: list[Any]) -> Readings:
        """Return the rows of many values: at the speed of numpy where all are plain numbers."""
        kinds = set(map(type, values))
        floats = as_floats(values, kinds)
        if floats is not None:
            rows = self._threshold_array.searchsorted(floats, side="right")
            nan = np.isnan(floats)
            if np.count_nonzero(nan):
                rows[nan] = _OTHERS
            return Readings(rows, floats, None)
        if kinds == {str}:
            known = self._rows_of_strings
            listed = [known.get(value) or self._string_row(value) for value in values]
            return Readings(np.array(listed, dtype=np.intp), None, None)
        return self._read_mixed(values)

    def _read_mixed(self, values: list[Any]) -> Readings:
        rows = np.array([self.row(value) for value in values], dtype=np.intp)
        floats = np.full(len(values), np.nan)
        inexact = rows == UNKNOWN
        for i in np.flatnonzero((rows >= _NUMBERS) & (rows < self._strings)).tolist():
            number: Any = exact(values[i])
            rounded = _nearest_float(number)
            if rounded == number:
                floats[i] = rounded
            else:
                inexact[i] = True
        return Readings(rows, floats, inexact if inexact.any() else None)


def as_floats(values: list[Any], kinds: set[type]) -> Floats | None:
    """Return numbers of some types as float64, or None if that might lose anything."""
    if not kinds <= _NUMERIC:
        return None
    try:
        floats = np.array(values, dtype=np.float64)
    except OverflowError:
        return None
    # An integer just above 2**53 may be rounded to it, and none is rounded to less.
    if kinds <= _SMALL or bool(((np.abs(floats) < _EXACT_INTEGERS) | np.isinf(floats)).all()):
        return floats
    return None


def _sample(constraints: Collection[Constraint], size: int) -> Collection[Constraint]:
    """Return the distinct constraints, or if those are too many, one of every so many of all."""
    distinct = dict.fromkeys(constraints)
    if len(distinct) <= size:
        return distinct
    return list(constraints)[:: len(constraints) // size]


def _cuts(ends: list[Any], line: Line, limit: int) -> tuple[list[Any], bool]:
    """Return where to cut a line: at every end, and whether so, or at quantiles, half as many."""
    distinct = set(ends)
    distinct -= set(line)
    if len(distinct) < limit:
        return sorted(distinct), True
    ends = sorted(end for end in ends if end not in line)
    # Ends that many constraints share are the likelier to be chosen: all are in the list.
    quantiles = max(1, limit // 2)
    chosen = {ends[len(ends) * i // quantiles] for i in range(quantiles)}
    return sorted(chosen), False


def _reach_piece(
    start: int,
    cuts: Sequence[Any],
    line: Line,
    piece: Piece,
    sure: Ranges,
    possible: Ranges,
) -> None:
    """Add the rows of a piece: those that it fills are sure, those that it touches possible."""
    low, high, filled = piece
    if low == line.lowest:
        first = inner_first = 0
    else:
        first = bisect_left(cuts, low)
        inner_first = first + 1
        if first < len(cuts) and cuts[first] == low:
            first = inner_first
    if high == line.highest:
        last = inner_last = len(cuts) + 1
    else:
        inner_last = bisect_left(cuts, high)
        last = inner_last + 1
        if inner_last < len(cuts) and cuts[inner_last] == high:
            inner_last = last
    possible.append((start + first, start + last))
    if filled and inner_first < inner_last:
        sure.append((start + inner_first, start + inner_last))


def float_after(cut: tuple[Number, int]) -> float:
    """Return the first float64 that lies after a cut: not before the number, or beyond it.

    >>> float_after((2**53 + 1, 0)) == 2**53 + 2, float_after((0.5, 1)) > 0.5
    (True, True)
    """
    number, after = cut
    rounded = _nearest_float(number)
    if rounded < number or (after and rounded == number):
        return math.nextafter(rounded, math.inf)
    return rounded


def _is_held(number: Number) -> bool:
    """Return whether float64 surely holds a number."""
    return type(number) is float or (type(number) is int and abs(number) <= _EXACT_INTEGERS)


def _nearest_float(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf

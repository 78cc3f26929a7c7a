"""Cells: the values of one attribute in numbered rows, and the rows that a constraint reaches.

Numbers and strings are two ordered lines (see ``constraints.extents``). Each line is cut into cells
at the ends of constraints: at every end if these are few enough, otherwise at quantiles of the
ends. All cells are numbered in one sequence of *rows*: first a row each for values that lie on
neither line, then the cells of numbers, then the cells of strings.

A cut between numbers is exact. To find the row of a float, each cut is replaced by its *threshold*,
the first float64 after it. No float lies between the two, so the row is right without any rounding.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import pairwise
from struct import pack
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import FloatArray
from posetlib.constraints.base import Constraint
from posetlib.constraints.extents import (
    NUMBER_LINE,
    STRING_LINE,
    Answer,
    Extent,
    Line,
    Piece,
)
from posetlib.constraints.intervals import complement, intersection, normal
from posetlib.values import MISSING, Number, exact

__all__ = [
    "ABSENT",
    "NUMBERS",
    "OTHERS",
    "UNCUT_ROWS",
    "UNKNOWN",
    "Cells",
    "Intervals",
    "Reach",
    "Readings",
    "RowRanges",
    "as_floats",
    "float_after",
    "is_held",
]

#: The row of values whose place is not known, as of a subclass of str: every constraint is tested.
UNKNOWN: Final = 0
#: The row of notifications without the attribute.
ABSENT: Final = 1
#: The row of values that are no number, string or boolean: sets, None, NaN and unknown objects.
OTHERS: Final = 2
# The row of False; that of True follows it.
_FALSE: Final = 3
#: The first row of numbers.
NUMBERS: Final = 5
#: Rows that there are without any cut: those before numbers, and one each of numbers and strings.
UNCUT_ROWS: Final = NUMBERS + 2

# Float64 holds every integer up to this size.
_EXACT_INTEGERS: Final = 2.0**53
# Types of which float64 holds every value.
_SMALL: Final = frozenset(
    (float, np.float64, np.float32, np.float16, np.int8, np.int16, np.int32, np.uint8, np.uint16,
     np.uint32)
)  # fmt: skip
# Types of numbers that numpy turns into float64. Integers of 64 bits or more may lose digits.
_NUMERIC: Final = _SMALL | {int, np.int64, np.uint64}
# Strings of which the row is remembered. When there are more, all are forgotten.
_MAX_STRINGS: Final = 1 << 14

#: Ranges of rows, each from its first row to before another; disjoint and in ascending order.
RowRanges = list[tuple[int, int]]


class Reach(NamedTuple):
    """The rows that a constraint reaches."""

    #: The rows of which every value satisfies the constraint.
    sure: RowRanges
    #: The rows of which some value may satisfy the constraint. The first range is the row UNKNOWN.
    possible: RowRanges

    @property
    def exact(self) -> bool:
        """Whether the row of a value tells if it satisfies the constraint, except row UNKNOWN."""
        return self.sure == self.possible[1:]

    def doubted(self) -> RowRanges:
        """Return the rows that are possible and not sure, except the row UNKNOWN."""
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
    """The rows that many closed intervals reach.

    Rows from ``first`` to before ``last`` are possible; of these, the rows from ``inner_first`` to
    before ``inner_last`` are sure.
    """

    first: NDArray[np.intp]
    inner_first: NDArray[np.intp]
    inner_last: NDArray[np.intp]
    last: NDArray[np.intp]


class Readings(NamedTuple):
    """The values of one attribute in many notifications."""

    #: The row of each value.
    rows: NDArray[np.intp]
    #: The values as float64, NaN for a value that is none. None if no value was read as a float.
    floats: FloatArray | None
    #: Whether a value is a number that float64 does not hold, or is in the row UNKNOWN, so that
    #: only a test of the filter can settle it. None if there is no such value.
    inexact: NDArray[np.bool_] | None


class Cells:
    """The rows of one attribute. ``limit`` bounds the cells on each line.

    >>> from posetlib.constraints import Numbers
    >>> cells = Cells([Numbers.interval(2, 5), Numbers.interval(3, 9)], limit=100)
    >>> cells.row(1), cells.row(2), cells.row(2.5), cells.row(3)
    (5, 6, 6, 7)
    >>> cells.reach(Numbers.interval(2, 5)).sure
    [(6, 8)]
    """

    def __init__(self, constraints: Collection[Constraint] = (), *, limit: int) -> None:
        number_ends: list[Any] = []
        string_ends: list[Any] = []
        # A sample of a few constraints for each cell is enough to choose the cuts.
        for constraint in _sample(constraints, 4 * limit):
            extent = constraint.extent()
            for piece in extent.numbers:
                number_ends += piece[:2]
            for piece in extent.strings:
                string_ends += piece[:2]
        number_cuts, few_numbers = _cuts(number_ends, NUMBER_LINE, limit)
        string_cuts, few_strings = _cuts(string_ends, STRING_LINE, limit)
        #: Whether there are too many ends for a cut at each of them.
        self.many_numbers, self.many_strings = not few_numbers, not few_strings
        self._cut(number_cuts, string_cuts)

    @classmethod
    def of_floats(cls, ends: FloatArray, *, limit: int) -> Cells:
        """Return cells that are cut just before numbers: before each, or before quantiles of them.

        >>> cells = Cells.of_floats(np.array([2.0, 5.0]), limit=100)
        >>> cells.rows_of_floats(np.array([1.5, 2.0, 7.0])).tolist()
        [5, 6, 7]
        """
        ends = np.sort(ends[np.isfinite(ends)])
        cuts = np.unique(ends)
        if len(cuts) >= limit:
            cuts = np.unique(ends[np.arange(limit) * len(ends) // limit])
        made = cls((), limit=limit)
        made.many_numbers = True
        made._cut([(number, 0) for number in cuts.tolist()], [])
        return made

    def _cut(self, number_cuts: list[Any], string_cuts: list[Any]) -> None:
        """Cut both lines, and number the rows."""
        self._number_cuts, self._string_cuts = number_cuts, string_cuts
        # The threshold of each cut between numbers. As many -inf before them as there are rows
        # before those of numbers, so that a binary search yields the row itself.
        self._thresholds = [-math.inf] * NUMBERS + list(map(float_after, self._number_cuts))
        self._threshold_array = np.array(self._thresholds, dtype=np.float64)
        # The first row of strings.
        self._strings = NUMBERS + len(self._number_cuts) + 1
        #: The number of rows.
        self.size = self._strings + len(self._string_cuts) + 1
        #: The number of rows of numbers.
        self.number_cells = self._strings - NUMBERS
        # Strings that came before -> their rows: most strings come again and again.
        self._rows_of_strings: dict[str, int] = {}

    @property
    def number_thresholds(self) -> FloatArray:
        """By cell of numbers except the first, the first float that is in it."""
        return self._threshold_array[NUMBERS:]

    # -- constraints -------------------------------------------------------------------------------

    def reach(self, constraint: Constraint) -> Reach:
        """Return the rows that a constraint reaches; O(log n) for each of its pieces."""
        extent = constraint.extent()
        sure: RowRanges = []
        possible: RowRanges = [(UNKNOWN, UNKNOWN + 1)]
        if extent.others or extent.absence or any(extent.booleans):
            self._reach_off_lines(extent, sure, possible)
        for start, cuts, line, pieces in (
            (NUMBERS, self._number_cuts, NUMBER_LINE, extent.numbers),
            (self._strings, self._string_cuts, STRING_LINE, extent.strings),
        ):
            for piece in pieces:
                _reach_piece(start, cuts, line, piece, sure, possible)
        if len(possible) > 2:  # several pieces may reach the same row: join ranges that touch
            sure, possible = list(normal(sure)), [possible[0], *normal(possible[1:])]
        return Reach(sure, possible)

    def reach_interval(self, low: Any, high: Any) -> tuple[int, int, int, int] | None:
        """Return first, inner first, inner last and last row of a closed interval; see Intervals.

        A faster ``reach`` for one interval; O(log n). None if an end is not surely a float64, or if
        two cuts have the same threshold.
        """
        if self._fills is None:
            return None
        if (type(low) is not float or type(high) is not float) and not (
            is_held(low) and is_held(high)
        ):
            return None
        lowest, highest = self._fills
        first = bisect_right(self._thresholds, low)
        last = bisect_right(self._thresholds, high)
        return first, first + (lowest[first] != low), last + (highest[last] == high), last + 1

    def reach_intervals(self, lows: FloatArray, highs: FloatArray) -> Intervals | None:
        """Return the rows that many closed intervals reach; None if two cuts share a threshold."""
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
        """For each row, the low and the high end of a closed interval that exactly fills the row.

        NaN, which equals no end, in rows before those of numbers, and where no float is such an
        end: a low end n fills only a row after the cut just before n, a high end n only a row
        before the cut just after n. None if two cuts have the same threshold.
        """
        thresholds = self._thresholds[NUMBERS:]
        if any(one == other for one, other in pairwise(thresholds)):
            return None
        no_numbers = [math.nan] * NUMBERS
        lowest, highest = [*no_numbers, -math.inf], no_numbers
        for (number, after), at in zip(self._number_cuts, thresholds, strict=True):
            lowest.append(at if not after and number == at else math.nan)
            before = math.nextafter(at, -math.inf)
            highest.append(before if after and number == before else math.nan)
        return lowest, [*highest, math.inf]

    @staticmethod
    def _reach_off_lines(extent: Extent, sure: RowRanges, possible: RowRanges) -> None:
        """Add the rows of absence, of booleans, and of values that lie on neither line."""
        for row, answer in (
            (ABSENT, extent.absence),
            (OTHERS, extent.others),
            *enumerate(extent.booleans, _FALSE),
        ):
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
                return OTHERS
            return bisect_right(self._thresholds, value)
        if kind is str:
            return self._string_row(value)
        if value is MISSING:
            return ABSENT
        return self._rare_row(value)

    def _string_row(self, value: str) -> int:
        row = self._rows_of_strings.get(value)
        if row is None:
            row = bisect_right(self._string_cuts, value) + self._strings
            if len(self._rows_of_strings) >= _MAX_STRINGS:
                self._rows_of_strings.clear()
            self._rows_of_strings[value] = row
        return row

    def _rare_row(self, value: Any) -> int:
        """Return the row of a value of any type but float and str."""
        if isinstance(value, bool | np.bool_):
            return _FALSE + bool(value)
        if isinstance(value, str):
            # A subclass of str may have a comparison of its own, so its place is not known.
            return self._string_row(str(value)) if type(value) is np.str_ else UNKNOWN
        number = exact(value)
        if number is None or number != number:
            return OTHERS
        return bisect_right(self._number_cuts, (number, 0)) + NUMBERS

    def read(self, values: list[Any]) -> Readings:
        """Return the rows of many values; by numpy if all of them are floats or small integers."""
        kinds = set(map(type, values))
        floats = as_floats(values, kinds)
        if floats is not None:
            return Readings(self.rows_of_floats(floats), floats, None)
        if kinds == {str}:
            known = self._rows_of_strings
            listed = [known.get(value) or self._string_row(value) for value in values]
            return Readings(np.array(listed, dtype=np.intp), None, None)
        if kinds == {type(MISSING)}:
            # No notification of the batch has the attribute, as is usual for rare ones.
            return Readings(np.full(len(values), ABSENT, dtype=np.intp), None, None)
        return self._read_mixed(values)

    def rows_of_floats(self, floats: FloatArray) -> NDArray[np.intp]:
        """Return the rows of many floats."""
        rows = self._threshold_array.searchsorted(floats, side="right")
        nan = np.isnan(floats)
        if np.count_nonzero(nan):
            rows[nan] = OTHERS
        return rows

    def _read_mixed(self, values: list[Any]) -> Readings:
        """Return the rows of values of several types, one by one."""
        rows = np.array([self.row(value) for value in values], dtype=np.intp)
        floats = np.full(len(values), np.nan)
        inexact = rows == UNKNOWN
        for i in np.flatnonzero((rows >= NUMBERS) & (rows < self._strings)).tolist():
            number: Any = exact(values[i])
            rounded = _nearest_float(number)
            if rounded == number:
                floats[i] = rounded
            else:
                inexact[i] = True
        return Readings(rows, floats, inexact if inexact.any() else None)


def as_floats(values: list[Any], kinds: set[type]) -> FloatArray | None:
    """Return values, of these types, as float64; None if one might not be the same number."""
    if kinds == {float}:
        # In half the time that numpy needs to look at each of them.
        return np.frombuffer(pack(f"{len(values)}d", *values)).copy()
    if not kinds <= _NUMERIC:
        return None
    try:
        floats = np.array(values, dtype=np.float64)
    except OverflowError:
        return None
    # An integer just above 2**53 may be rounded to 2**53, but none to a smaller float. So a float
    # below 2**53 is exact, and infinity can only come from an infinite float.
    if kinds <= _SMALL or bool(((np.abs(floats) < _EXACT_INTEGERS) | np.isinf(floats)).all()):
        return floats
    return None


def _sample(constraints: Collection[Constraint], size: int) -> Collection[Constraint]:
    """Return the distinct constraints; if more than ``size``, every k-th of all constraints.

    There k is chosen so that between ``size`` and 2 ``size`` constraints are returned.
    """
    distinct = dict.fromkeys(constraints)
    if len(distinct) <= size:
        return distinct
    return list(constraints)[:: len(constraints) // size]


def _cuts(ends: list[Any], line: Line, limit: int) -> tuple[list[Any], bool]:
    """Return where to cut a line, and whether there is a cut at every end.

    With ``limit`` or more distinct ends, there are cuts at limit / 2 quantiles of the ends instead.
    """
    distinct = set(ends)
    distinct -= set(line)
    if len(distinct) < limit:
        return sorted(distinct), True
    ends = sorted(end for end in ends if end not in line)
    # The list keeps equal ends, so that an end of many constraints is more likely to be a quantile.
    quantiles = max(1, limit // 2)
    chosen = {ends[len(ends) * i // quantiles] for i in range(quantiles)}
    return sorted(chosen), False


def _reach_piece(
    start: int,
    cuts: Sequence[Any],
    line: Line,
    piece: Piece,
    sure: RowRanges,
    possible: RowRanges,
) -> None:
    """Add the rows of a piece: those that it touches are possible, those that it fills are sure.

    ``start`` is the first row of the line. A piece that is not sure makes no row sure.
    """
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
    """Return the threshold of a cut: the first float64 after it.

    A cut (n, 0) lies just before the number n, a cut (n, 1) just after it.

    >>> float_after((2**53 + 1, 0)) == 2**53 + 2, float_after((0.5, 1)) > 0.5
    (True, True)
    """
    number, after = cut
    rounded = _nearest_float(number)
    if rounded < number or (after and rounded == number):
        return math.nextafter(rounded, math.inf)
    return rounded


def is_held(number: Number) -> bool:
    """Return whether a number is surely a float64: a float, or an integer up to 2**53."""
    return type(number) is float or (type(number) is int and abs(number) <= _EXACT_INTEGERS)


def _nearest_float(number: Number) -> float:
    """Return a number rounded to float64; infinity if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf

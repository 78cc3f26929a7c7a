"""Filters as boxes: an interval of numbers for each attribute, for indexes to sweep.

A box stands for its filter in one direction: where a filter covers another one, its box contains
the other's. The boxes of closed ranges whose ends a float64 holds stand for them in both, and are
*exact*; other constraints on numbers, strings, booleans and sets have the hull of their values,
rounded outwards, and who finds them by the box has to ask the filter itself. A filter with a
constraint of unknown extent, such as a pattern or a kind that others brought, has no box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias, TypeGuard
from zlib import crc32

from posetlib.constraints.base import Constraint
from posetlib.constraints.booleans import Booleans
from posetlib.constraints.multivalues import MultiValues
from posetlib.constraints.numbers import Numbers
from posetlib.constraints.patterns import TOP
from posetlib.constraints.strings import Strings
from posetlib.constraints.types import Isa
from posetlib.filters import Filter
from posetlib.values import Number

__all__ = ["UNBOUND", "Box", "BoxReader", "Line", "Shape", "ends"]

#: (low, -high) of the first attribute, of the second, of all others, the shape, and the gaps; what
#: there is no attribute for is unbound. One box contains another of its shape if it is nowhere
#: greater. Gaps are bits, for buckets of values of a line that a finite set has none of: where a
#: filter covers another one, the other has all its gaps.
Box: TypeAlias = "tuple[float, float, float, float, tuple[float, ...], Shape, int]"
#: An attribute and the domain of its values: where an interval lies.
Line: TypeAlias = tuple[str, str]

_INF: Final = math.inf
#: An end where nothing is asked of an attribute; less than any end where something is.
UNBOUND: Final = -_INF
_LARGEST: Final = math.nextafter(_INF, 0)
# What a float64 holds without a look: integers up to here.
_SAFE: Final = 1 << 53
# So many bytes of a string make a number that a float64 holds.
_BYTES: Final = 6
# Sets of up to so many values have gaps, on the first so many lines, in so many buckets.
_MAX_POINTS: Final = 16
_MAX_LINES: Final = 64
_BUCKETS: Final = 64


class Shape:
    """The lines on which a box has its intervals; one object for equal shapes of a reader."""

    __slots__ = ("_bits", "exact", "lines")

    def __init__(self, lines: tuple[Line, ...], bits: int, exact: bool) -> None:
        self.lines = lines
        #: Whether containing is covering, among boxes that are.
        self.exact = exact
        # A bit for each line.
        self._bits = bits

    def may_lie_in(self, other: Shape) -> bool:
        """Return whether a box of the other shape can contain one of this: it asks for no more."""
        return self._bits | other._bits == self._bits


def ends(box: Box) -> tuple[float, ...]:
    """Return the ends of a box, two for each line.

    >>> reader = BoxReader()
    >>> ends(reader.read(Filter({"x": Numbers.interval(0, 9)})))
    (0.0, -9.0)
    """
    lines = len(box[5].lines)
    return box[:4] + box[4] if lines >= 2 else box[: 2 * lines]  # type: ignore[return-value]


class BoxReader:
    """Makes boxes of filters, and keeps their shapes.

    >>> reader = BoxReader()
    >>> box = reader.read(Filter({"x": Numbers.interval(2, 5), "y": Numbers.interval(0, None)}))
    >>> ends(box), box[5].exact
    ((2.0, -5.0, 0.0, -1.7976931348623157e+308), True)
    >>> reader.read(Filter({"x": Numbers.points([2, 5])}))[5].exact
    False
    """

    __slots__ = ("_lines", "_plain", "_shapes")

    def __init__(self) -> None:
        #: Line -> its number.
        self._lines: dict[Line, int] = {}
        self._shapes: dict[tuple[tuple[Line, ...], bool], Shape] = {}
        # Names -> the shape of exact numbers: by far the most common one, found at once.
        self._plain: dict[tuple[str, ...], Shape] = {}

    def read(self, item: object) -> Box | None:
        """Return the box of a filter, None for what has none: another thing, or another covering.

        O(attributes), and O(parts) of constraints that are not ranges.
        """
        if type(item) is not Filter and not _is_filter(item):
            return None
        row: list[float] = []
        for constraint in item.terms:
            if type(constraint) is not Numbers or not constraint.is_closed_interval:
                return self._hull(item)
            low, high = constraint.low, constraint.high
            if type(low) is not float:
                low = _held(low)
            if type(high) is not float:
                high = _held(high)
            # False for a NaN, for what has no limit, and for a point, which has gaps.
            if not -_LARGEST < low < high < _LARGEST:
                return self._hull(item)
            row += (low, -high)
        names = item.attributes
        shape = self._plain.get(names)
        if shape is None:
            lines = tuple((name, "number") for name in names)
            shape = self._plain[names] = self._shape(lines, exact=True)
        if len(row) == 4:
            return (row[0], row[1], row[2], row[3], (), shape, 0)
        return _box(row, shape, 0)

    def _hull(self, item: Filter) -> Box | None:
        row: list[float] = []
        lines: list[Line] = []
        exact = True
        gaps = 0
        for name, constraint in zip(item.attributes, item.terms, strict=True):
            hull = _hull_of(constraint)
            if hull is None:
                return None
            line = (name, hull.domain)
            lines.append(line)
            number = self._lines.setdefault(line, len(self._lines))
            if hull.points and number < _MAX_LINES:
                gaps |= _gaps(hull.points) << number * _BUCKETS
            # An end without limit is asked for, too, and not unbound.
            row += (max(hull.low, -_LARGEST), max(-hull.high, -_LARGEST))
            exact = exact and hull.exact
        return _box(row, self._shape(tuple(lines), exact=exact), gaps)

    def _shape(self, lines: tuple[Line, ...], *, exact: bool) -> Shape:
        shape = self._shapes.get((lines, exact))
        if shape is None:
            bits = 0
            for line in lines:
                bits |= 1 << self._lines.setdefault(line, len(self._lines))
            shape = self._shapes[lines, exact] = Shape(lines, bits, exact)
        return shape


def _is_filter(item: object) -> TypeGuard[Filter]:
    """Return whether an item covers as its constraints say, if it is of a class of its own."""
    return isinstance(item, Filter) and type(item).covers is Filter.covers


def _box(row: list[float], shape: Shape, gaps: int) -> Box:
    row += [UNBOUND] * (4 - len(row))
    return (row[0], row[1], row[2], row[3], tuple(row[4:]), shape, gaps)


def _gaps(points: Sequence[Number | str]) -> int:
    """Return the buckets that none of some values is in."""
    filled = 0
    for point in points:
        # The hash of a number does not depend on its type, nor on the process as that of strings.
        code = (
            crc32(point.encode("utf-8", "surrogatepass")) if isinstance(point, str) else hash(point)
        )
        filled |= 1 << code % _BUCKETS
    return ~filled & (1 << _BUCKETS) - 1


def _held(value: Number) -> float:
    """Return a number as a float64 that is equal to it, NaN if there is none."""
    if type(value) is int and -_SAFE <= value <= _SAFE:
        return float(value)
    near = _near(value)
    return near if near == value else math.nan


def _near(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST


class _Hull(NamedTuple):
    """The least interval around the values of a constraint, and whether it is all of them."""

    domain: str
    low: float
    high: float
    exact: bool = False
    #: The values, if they are few; otherwise none.
    points: Sequence[Number | str] = ()


def _hull_of(constraint: Constraint) -> _Hull | None:
    """Return the hull of a constraint, None where none is known."""
    if type(constraint) is Numbers:
        low, high = constraint.low, constraint.high
        least, most = _near(low), _near(high)
        exact = constraint.is_closed_interval and least == low and most == high
        # The largest numbers stand for ends without limit, so theirs are not told apart.
        exact = exact and _LARGEST not in (abs(least), abs(most))
        # Rounding may only make the hull larger.
        least = least if least <= low else math.nextafter(least, -_INF)
        most = most if most >= high else math.nextafter(most, _INF)
        return _Hull("number", least, most, exact, _points(constraint))
    if type(constraint) is Strings:
        (term, *more) = constraint.terms
        # Patterns beside the pairs may leave nothing near their ends.
        if more or term.having or term.lacking:
            return None
        last = term.pairs[-1][1]
        most = _INF if last is TOP else _number_of(last)
        return _Hull("string", _number_of(term.pairs[0][0]), most, points=_texts(term.pairs))
    if type(constraint) is Isa:
        names = sorted(constraint.names)
        few = names if len(names) <= _MAX_POINTS else ()
        return _Hull("string", _number_of(names[0]), _number_of(names[-1]), points=few)
    if type(constraint) is Booleans:
        return _Hull("bool", min(constraint.values), max(constraint.values), exact=True)
    return _Hull("set", -_INF, _INF) if type(constraint) is MultiValues else None


def _points(constraint: Numbers) -> Sequence[Number]:
    """Return the numbers of a set that has few, none of any other."""
    found: list[Number] = []
    for low, high in constraint.intervals:
        if low[0] != high[0] or len(found) == _MAX_POINTS:
            return ()
        found.append(low[0])
    for first, end in constraint.runs:
        if end - first > _MAX_POINTS - len(found):
            return ()
        found += range(first, end)
    return found


def _texts(pairs: Sequence[tuple[str, str | object]]) -> Sequence[str]:
    """Return the strings of a set that has few, none of any other.

    Neighbours are in one pair: nothing lies between a string and the same with a NUL behind it.
    """
    found: list[str] = []
    for low, high in pairs:
        count = len(high) - len(low) if isinstance(high, str) else 0
        if not 0 < count <= _MAX_POINTS - len(found) or high != low + "\0" * count:
            return ()
        found += [low + "\0" * i for i in range(count)]
    return found


def _number_of(text: str) -> float:
    """Return a number for a string: the greater string never has the smaller one."""
    start = text[:_BYTES].encode("utf-8", "surrogatepass")[:_BYTES]
    return float(int.from_bytes(start.ljust(_BYTES, b"\0"), "big"))

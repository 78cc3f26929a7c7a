"""Filters as boxes: an interval of numbers for each attribute, for indexes to sweep.

A box stands for its filter in one direction: where a filter covers another one, its box contains
the other's. The boxes of closed ranges whose ends a float64 holds stand for them in both, and are
*exact*; other constraints on numbers, strings, booleans and sets have the hull of their values,
rounded outwards, and who finds them by the box has to ask the filter itself. A filter with a
constraint of unknown extent, such as a pattern or a kind that others brought, has no box.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, TypeAlias, TypeGuard

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

#: (low, -high) of the first attribute, of the second, of all others, and the shape; what there is
#: no attribute for is unbound. One box contains another of its shape if it is nowhere greater.
Box: TypeAlias = "tuple[float, float, float, float, tuple[float, ...], Shape]"
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
# How many other shapes a shape remembers.
_MANY: Final = 4096


class Shape:
    """The lines on which a box has its intervals; one object for equal shapes."""

    __slots__ = ("_above", "exact", "lines")

    def __init__(self, lines: tuple[Line, ...], exact: bool) -> None:
        self.lines = lines
        #: Whether containing is covering, among boxes that are.
        self.exact = exact
        self._above: dict[Shape, bool] = {}

    def may_lie_in(self, other: Shape) -> bool:
        """Return whether a box of the other shape can contain one of this: it asks for no more."""
        known = self._above.get(other)
        if known is None:
            if len(self._above) >= _MANY:
                self._above.clear()
            known = self._above[other] = set(other.lines) <= set(self.lines)
        return known


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

    __slots__ = ("_plain", "_shapes")

    def __init__(self) -> None:
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
            for end in (constraint.low, constraint.high):
                held = end if type(end) is float else _held(end)
                if not -_LARGEST < held < _LARGEST:
                    return self._hull(item)
                row.append(held)
            row[-1] = -row[-1]
        names = item.attributes
        shape = self._plain.get(names)
        if shape is None:
            lines = tuple((name, "number") for name in names)
            shape = self._plain[names] = self._shape(lines, exact=True)
        if len(row) == 4:
            return (row[0], row[1], row[2], row[3], (), shape)
        return _box(row, shape)

    def _hull(self, item: Filter) -> Box | None:
        row: list[float] = []
        lines: list[Line] = []
        exact = True
        for name, constraint in zip(item.attributes, item.terms, strict=True):
            hull = _hull_of(constraint)
            if hull is None:
                return None
            lines.append((name, hull.domain))
            # An end without limit is asked for, too, and not unbound.
            row += (max(hull.low, -_LARGEST), max(-hull.high, -_LARGEST))
            exact = exact and hull.exact
        return _box(row, self._shape(tuple(lines), exact=exact))

    def _shape(self, lines: tuple[Line, ...], *, exact: bool) -> Shape:
        shape = self._shapes.get((lines, exact))
        if shape is None:
            shape = self._shapes[lines, exact] = Shape(lines, exact)
        return shape


def _is_filter(item: object) -> TypeGuard[Filter]:
    """Return whether an item covers as its constraints say, if it is of a class of its own."""
    return isinstance(item, Filter) and type(item).covers is Filter.covers


def _box(row: list[float], shape: Shape) -> Box:
    row += [UNBOUND] * (4 - len(row))
    return (row[0], row[1], row[2], row[3], tuple(row[4:]), shape)


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
        return _Hull("number", least, most, exact)
    if type(constraint) is Strings:
        (term, *more) = constraint.terms
        # Patterns beside the pairs may leave nothing near their ends.
        if more or term.having or term.lacking:
            return None
        last = term.pairs[-1][1]
        most = _INF if last is TOP else _number_of(last)
        return _Hull("string", _number_of(term.pairs[0][0]), most)
    if type(constraint) is Isa:
        return _Hull("string", _number_of(min(constraint.names)), _number_of(max(constraint.names)))
    if type(constraint) is Booleans:
        return _Hull("bool", min(constraint.values), max(constraint.values), exact=True)
    return _Hull("set", -_INF, _INF) if type(constraint) is MultiValues else None


def _number_of(text: str) -> float:
    """Return a number for a string: the greater string never has the smaller one."""
    start = text[:_BYTES].encode("utf-8", "surrogatepass")[:_BYTES]
    return float(int.from_bytes(start.ljust(_BYTES, b"\0"), "big"))

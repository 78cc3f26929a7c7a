"""Filters as boxes: an interval of floating-point numbers for each attribute, for indexes to scan.

A box stands for its filter in one direction: where a filter covers another one, its box contains
the other's. The boxes of closed ranges whose ends a float64 holds stand for them in both, and are
*exact*; any other constraint has the hull of its values, rounded outwards, and who finds it by
its box has to ask the filter itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import le
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard

from posetlib.constraints.base import Constraint
from posetlib.constraints.booleans import Booleans
from posetlib.constraints.multivalues import MultiValues
from posetlib.constraints.numbers import Numbers
from posetlib.constraints.patterns import TOP
from posetlib.constraints.strings import Strings
from posetlib.filters import Filter
from posetlib.values import Number

__all__ = ["Box", "BoxReader", "Overlay", "Shape", "contains", "ends"]

#: (low, -high) of the first attribute, of the second, of all others, and the shape; what there is
#: no attribute for is -inf. So one box contains another of its shape where it is nowhere greater.
Box: TypeAlias = "tuple[float, float, float, float, tuple[float, ...], Shape]"

#: For each attribute the domain on whose line its interval lies; None if it may have any.
Lines: TypeAlias = tuple[str | None, ...]

_INF: Final = math.inf
_LARGEST: Final = math.nextafter(_INF, 0)
# What a float64 holds without a look: integers up to here.
_SAFE: Final = 1 << 53
# So many bytes of a string make a number that a float64 holds.
_BYTES: Final = 6


class Overlay(NamedTuple):
    """Which rows of a box and of another one are to be compared; the same object for all rows."""

    outer: Sequence[int]
    inner: Sequence[int]


class Shape:
    """The attributes of a box, and what its intervals are made of; one object for equal shapes."""

    __slots__ = ("_overlays", "exact", "lines", "names", "positions", "rows")

    def __init__(self, names: tuple[str, ...], lines: Lines, exact: bool) -> None:
        self.names = names
        self.lines = lines
        self.exact = exact
        #: How many rows a column of such a box has.
        self.rows = max(4, 2 * len(names))
        self.positions = {name: i for i, name in enumerate(names)}
        self._overlays: dict[Shape, Overlay | None] = {}

    def over(self, other: Shape) -> Overlay | None:
        """Return how to tell whether boxes of this shape contain others; None if none ever does."""
        try:
            return self._overlays[other]
        except KeyError:
            # Each attribute that is constrained above must be constrained below.
            overlay = (
                self._overlay(other) if self.positions.keys() <= other.positions.keys() else None
            )
            if len(self._overlays) >= _MANY:
                self._overlays.clear()
            self._overlays[other] = overlay
            return overlay

    def _overlay(self, other: Shape) -> Overlay | None:
        if self is other:
            return Overlay(rows := range(self.rows), rows)
        outer: list[int] = []
        inner: list[int] = []
        for i, (name, line) in enumerate(zip(self.names, self.lines, strict=True)):
            j = other.positions[name]
            theirs = other.lines[j]
            if line is None or theirs is None:
                continue
            if line != theirs:
                return None
            outer += (2 * i, 2 * i + 1)
            inner += (2 * j, 2 * j + 1)
        return Overlay(outer, inner)


# How many other shapes a shape remembers.
_MANY: Final = 4096


def ends(box: Box) -> tuple[float, ...]:
    """Return the rows of a box, as they are in columns."""
    return box[:4] + box[4]


def contains(outer: Box, inner: Box) -> bool:
    """Return whether a box contains another one of the same shape.

    >>> reader = BoxReader()
    >>> wide, narrow = (reader.read(Filter({"x": Numbers.interval(0, n)})) for n in (9, 5))
    >>> contains(wide, narrow), contains(narrow, wide)
    (True, False)
    """
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and outer[2] <= inner[2]
        and outer[3] <= inner[3]
        and all(map(le, outer[4], inner[4]))
    )


class BoxReader:
    """Makes boxes of filters, and keeps their shapes.

    >>> reader = BoxReader()
    >>> box = reader.read(Filter({"x": Numbers.interval(2, 5), "y": Numbers.interval(0, None)}))
    >>> box[:5], box[5].exact
    ((2.0, -5.0, 0.0, -inf, ()), True)
    >>> reader.read(Filter({"x": Numbers.points([2, 5])}))[5].exact
    False
    """

    __slots__ = ("_plain", "_shapes")

    def __init__(self) -> None:
        self._shapes: dict[tuple[Any, ...], Shape] = {}
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
                if held is None:
                    return self._hull(item)
                row.append(held)
            row[-1] = -row[-1]
        names = item.attributes
        shape = self._plain.get(names)
        if shape is None:
            shape = self._plain[names] = self._shape(names, ("number",) * len(names), exact=True)
        if len(row) == 4:
            return (row[0], row[1], row[2], row[3], (), shape)
        return _box(row, shape)

    def _hull(self, item: Filter) -> Box:
        row: list[float] = []
        lines: list[str | None] = []
        sure = True
        for constraint in item.terms:
            line, low, high, exact = _interval(constraint)
            lines.append(line)
            row += (low, -high)
            sure = sure and exact
        return _box(row, self._shape(item.attributes, tuple(lines), exact=sure))

    def _shape(
        self, names: tuple[str, ...], lines: tuple[str | None, ...], *, exact: bool
    ) -> Shape:
        key = (names, lines, exact)
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = Shape(*key)
        return shape


def _is_filter(item: object) -> TypeGuard[Filter]:
    """Return whether an item covers as its constraints say, if it is of a class of its own."""
    return isinstance(item, Filter) and type(item).covers is Filter.covers


def _box(row: list[float], shape: Shape) -> Box:
    row += [-_INF] * (4 - len(row))
    return (row[0], row[1], row[2], row[3], tuple(row[4:]), shape)


def _held(value: Number) -> float | None:
    """Return a number as a float64 that is equal to it, None if there is none."""
    if type(value) is int and -_SAFE <= value <= _SAFE:
        return float(value)
    near = _near(value)
    return near if near == value else None


def _near(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST


def _interval(constraint: Constraint) -> tuple[str | None, float, float, bool]:
    """Return the line of a constraint, the ends of its hull, and whether that says all."""
    if type(constraint) is Numbers:
        low, high = constraint.low, constraint.high
        least, most = _near(low), _near(high)
        exact = constraint.is_closed_interval and least == low and most == high
        # Rounding may only make the hull larger.
        least = least if least <= low else math.nextafter(least, -_INF)
        most = most if most >= high else math.nextafter(most, _INF)
        return "number", least, most, exact
    if type(constraint) is Strings and len(constraint.terms) == 1:
        (term,) = constraint.terms
        # Patterns beside the pairs may leave nothing near their ends: no hull is known then.
        if not term.having and not term.lacking:
            first, last = term.pairs[0][0], term.pairs[-1][1]
            return "string", _number_of(first), _INF if last is TOP else _number_of(last), False
    if type(constraint) is Booleans:
        values = sorted(constraint.values)
        return "bool", float(values[0]), float(values[-1]), True
    # Without a line of their own: sets, and all that may be covered by another kind.
    return "set" if type(constraint) is MultiValues else None, -_INF, _INF, False


def _number_of(text: str) -> float:
    """Return a number for a string: the greater string never has the smaller one."""
    start = text[:_BYTES].encode("utf-8", "surrogatepass")[:_BYTES]
    return float(int.from_bytes(start.ljust(_BYTES, b"\0"), "big"))

"""The boxes of filters: where the values of their constraints lie, for the index under a table.

The boxes of intervals of numbers, open or closed, whose ends a float64 holds are exact. So are
those of intervals of strings with short ends, such as `=`, `<` and `prefix`. Other constraints have
the hull of their extent, rounded outwards. A filter has no box if one of its constraints has values
in several domains, or no tight extent: ``exists``, a suffix, a placeholder, a kind of one's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeGuard

from posetlib.constraints.extents import Answer, Extent, Piece
from posetlib.constraints.intervals import TOP
from posetlib.filters.filter import Filter
from posetlib.search.boxes import LARGEST, AxisInterval, Box, Shape, Shapes
from posetlib.values import Number

__all__ = ["FilterBoxes"]

_INF: Final = math.inf
# All integers up to this one are float64 numbers.
_EXACT_INTEGERS: Final = 1 << 53
# The first bytes of a string, as a number that a float64 holds, stand for it on its axis.
_BYTES: Final = 6
# The largest set of values that gets a gap mask.
_MAX_POINTS: Final = 16


class FilterBoxes:
    """Makes the boxes of filters.

    >>> from posetlib.filters import parse_filter
    >>> reader = FilterBoxes()
    >>> box = reader.read(parse_filter("x in [2, 5] and y in [0, 9]"))
    >>> box.ends(), box.shape.exact
    ((2.0, -5.0, 0.0, -9.0), True)
    >>> reader.read(parse_filter("x in {2, 5}")).shape.exact
    False
    """

    __slots__ = ("_range_shapes", "_shapes")

    def __init__(self) -> None:
        self._shapes = Shapes()
        # Attribute names -> the shape of closed ranges: the most common one, found at once.
        self._range_shapes: dict[tuple[str, ...], Shape] = {}

    def read(self, item: object) -> Box | None:
        """Return the box of a filter, None for a filter that has none, or for anything else.

        O(attributes), and O(pieces) of constraints that are not closed ranges.
        """
        if type(item) is not Filter and not _covers_by_constraints(item):
            return None
        ends: list[float] = []
        for constraint in item.terms:
            if not constraint.is_number_range:
                return self._hull(item)
            low, high = constraint.low, constraint.high
            if type(low) is not float:
                low = _as_float(low)
            if type(high) is not float:
                high = _as_float(high)
            # Not so for NaN, for an end without limit, and for a point, which has gaps.
            if not -LARGEST < low < high < LARGEST:
                return self._hull(item)
            ends += (low, -high)
        names = item.attributes
        shape = self._range_shapes.get(names)
        if shape is None:
            axes = tuple((name, "number") for name in names)
            shape = self._range_shapes[names] = self._shapes.shape(axes, exact=True)
        if len(ends) == 4:
            return Box(ends[0], ends[1], ends[2], ends[3], (), shape, 0)
        return self._shapes.box_of_ends(ends, shape)

    def _hull(self, item: Filter) -> Box | None:
        intervals: list[AxisInterval] = []
        exact = True
        for name, constraint in zip(item.attributes, item.terms, strict=True):
            hull = _hull_of(name, constraint.extent())
            if hull is None:
                return None
            interval, is_exact = hull
            intervals.append(interval)
            exact = exact and is_exact
        return self._shapes.box(intervals, exact=exact)


def _covers_by_constraints(item: object) -> TypeGuard[Filter]:
    """Return whether an item of a subclass covers as its constraints say."""
    return isinstance(item, Filter) and type(item).covers is Filter.covers


def _as_float(value: Number) -> float:
    """Return a number as the float64 that is equal to it, NaN if there is none."""
    if type(value) is int and -_EXACT_INTEGERS <= value <= _EXACT_INTEGERS:
        return float(value)
    near = _nearest(value)
    return near if near == value else math.nan


def _nearest(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return LARGEST if value > 0 else -LARGEST


def _hull_of(name: str, extent: Extent) -> tuple[AxisInterval, bool] | None:
    """Return the least interval around an extent, and whether it is exact; None if it has none."""
    domain = extent.domain if extent.tight else None
    if domain is None:
        return None
    axis = (name, domain)
    if domain == "number":
        return _number_hull(axis, extent)
    if domain == "string":
        return _string_hull(axis, extent)
    if domain == "bool":
        values = [i for i, answer in enumerate(extent.booleans) if answer is not Answer.NO]
        return AxisInterval(axis, values[0], values[-1]), extent.comparable
    return AxisInterval(axis, -_INF, _INF), False


def _number_hull(axis: Any, extent: Extent) -> tuple[AxisInterval, bool]:
    pieces = extent.numbers
    low, open_low = pieces[0].low
    high, closed_high = max(piece.high for piece in pieces) if len(pieces) > 1 else pieces[0].high
    least, most = _nearest(low), _nearest(high)
    exact = (
        extent.comparable
        and len(pieces) == 1
        and pieces[0].sure
        and least == low
        and most == high
        # The largest numbers stand for ends without limit, so the two are not told apart.
        and LARGEST not in (abs(least), abs(most))
    )
    # Rounding may only make the hull larger.
    least = least if least <= low else math.nextafter(least, -_INF)
    most = most if most >= high else math.nextafter(most, _INF)
    points = _few_numbers(pieces)
    return AxisInterval(axis, least, most, points, bool(open_low), not closed_high), exact


def _string_hull(axis: Any, extent: Extent) -> tuple[AxisInterval, bool]:
    """Return the interval of the numbers of strings, and whether it tells all of the strings.

    It does if there is one piece, and both its ends are short: a string is short if its number
    tells it from all others. A cut just after a short string is an open low end, or a closed high
    one; every string between is longer, and has a greater number.
    """
    pieces = extent.strings
    low: str = pieces[0].low
    last: Any = pieces[-1].high
    after_low = low.endswith("\0")
    least = low[:-1] if after_low else low
    closed_high = last is TOP or last.endswith("\0")
    most: str | None = None if last is TOP else last[:-1] if closed_high else last
    exact = (
        extent.comparable
        and len(pieces) == 1
        and pieces[0].sure
        and _is_short(least)
        and (most is None or _is_short(most))
    )
    highest = _INF if most is None else _number_of(most)
    points = _few_strings(pieces)
    return AxisInterval(axis, _number_of(least), highest, points, after_low, not closed_high), exact


def _is_short(text: str) -> bool:
    """Return whether no other string without a NUL in it has the number of this one."""
    return "\0" not in text and len(text.encode("utf-8", "surrogatepass")) <= _BYTES


def _few_numbers(pieces: Sequence[Piece]) -> Sequence[Number]:
    """Return the numbers of a finite set that has few, none of any other set."""
    if len(pieces) > _MAX_POINTS or not all(piece.sure and piece.is_point for piece in pieces):
        return ()
    return [piece.low[0] for piece in pieces]


def _few_strings(pieces: Iterable[Piece]) -> Sequence[str]:
    r"""Return the strings of a finite set that has few, none of any other set.

    Strings with nothing between them are in one piece: "a" and "a\0" are neighbours.
    """
    found: list[str] = []
    for low, high, sure in pieces:
        count = len(high) - len(low) if sure and isinstance(high, str) else 0
        if not 0 < count <= _MAX_POINTS - len(found) or high != low + "\0" * count:
            return ()
        found += [low + "\0" * i for i in range(count)]
    return found


def _number_of(text: str) -> float:
    """Return a number for a string such that a greater string never has a smaller number."""
    start = text[:_BYTES].encode("utf-8", "surrogatepass")[:_BYTES]
    return float(int.from_bytes(start.ljust(_BYTES, b"\0"), "big"))

"""The boxes of filters: where the values of their constraints lie, for the index under a table.

The boxes of intervals of numbers, open or closed, whose ends a float64 holds are exact. So are
those of intervals of strings with short ends, such as `=`, `<` and `prefix`, and of `exists`. Other
constraints have the hull of their extent, rounded outwards, and what else tells them apart: their
values, if these are few, the holes in them, their pieces, and their tokens. Of a constraint with
values in several domains, such as a placeholder, only its attribute is known.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeGuard

from posetlib.constraints.base import Constraint, Exists
from posetlib.constraints.extents import Answer, Extent, Piece
from posetlib.constraints.intervals import TOP
from posetlib.filters.filter import Filter
from posetlib.search.boxes import (
    LARGEST,
    AxisInterval,
    Box,
    LateBox,
    PartAxis,
    Pieces,
    Shape,
    Shapes,
    Token,
    Tokens,
)
from posetlib.values import Number

__all__ = ["FilterBoxes"]

_INF: Final = math.inf
# All integers up to this one are float64 numbers.
_EXACT_INTEGERS: Final = 1 << 53
# The first bytes of a string, as a number that a float64 holds, stand for it on its axis.
_BYTES: Final = 6
# The largest set of values, or of holes, that is listed. An extent lists at least as many.
_MAX_POINTS: Final = 32
# The most pieces of a union of intervals that are looked at.
_MAX_PIECES: Final = 8
_NO_TOKENS: Final[frozenset[Token]] = frozenset()


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
                for each in item.terms:
                    if not each.is_interval:
                        return LateBox(partial(self._hull, item))
                return self._hull(item)
            low, high = constraint.low, constraint.high
            if type(low) is not float:
                low = _as_float(low)
            if type(high) is not float:
                high = _as_float(high)
            # Not so for NaN, for an end without limit, and for a point.
            if not -LARGEST < low < high < LARGEST:
                return self._hull(item)
            ends += (low, -high)
        names = item.attributes
        shape = self._range_shapes.get(names)
        if shape is None:
            axes = tuple(PartAxis(name, "number") for name in names)
            shape = self._range_shapes[names] = self._shapes.shape(axes, exact=True)
        if len(ends) == 4:
            return Box(ends[0], ends[1], ends[2], ends[3], (), shape)
        return self._shapes.box_of_ends(ends, shape)

    def _hull(self, item: Filter) -> Box:
        intervals: list[AxisInterval] = []
        exact = decides = True
        for name, constraint in zip(item.attributes, item.terms, strict=True):
            if constraint.matches_absence():
                # It is a condition, but the attribute need not be there: the box asks for nothing.
                exact = decides = False
                continue
            interval, is_exact, keys_are_exact = _hull_of(name, constraint)
            intervals.append(interval)
            exact = exact and is_exact
            decides = decides and keys_are_exact
        return self._shapes.box(intervals, exact=exact, decides=decides)


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


def _hull_of(name: str, constraint: Constraint) -> tuple[AxisInterval, bool, bool]:
    """Return an interval around the values of a constraint.

    Also whether it tells all of them, and whether it does so by its keys.
    """
    if isinstance(constraint, Exists):
        return AxisInterval(name, -_INF, _INF), True, True
    extent = constraint.extent()
    domain = extent.domain
    if domain is None or not (extent.tight or domain == "string"):
        down, up = _tokens_of(name, constraint)
        return AxisInterval(name, -_INF, _INF, unknown=True, down=down, up=up), False, False
    if domain == "string":
        return _string_hull(PartAxis(name, domain, keyed=True), extent, constraint)
    axis = PartAxis(name, domain)
    if domain == "number":
        interval, exact = _number_hull(axis, extent)
        return interval, exact, exact
    if domain == "bool":
        values = [i for i, answer in enumerate(extent.booleans) if answer is not Answer.NO]
        exact = extent.comparable
        return AxisInterval(axis, values[0], values[-1]), exact, exact
    down, up = _tokens_of(axis, constraint)
    return AxisInterval(axis, -_INF, _INF, down=down, up=up), False, False


def _tokens_of(
    axis: Hashable, constraint: Constraint
) -> tuple[tuple[Tokens, ...], tuple[Tokens, ...]]:
    """Return the tokens of a constraint: those for what it covers, and those for what covers it."""
    down: list[Tokens] = []
    up: list[Tokens] = []
    for kind, upward, asked, held in constraint.tokens():
        (up if upward else down).append(Tokens((axis, kind), asked, held))
    return tuple(down), tuple(up)


def _number_hull(axis: PartAxis, extent: Extent) -> tuple[AxisInterval, bool]:
    pieces = extent.numbers
    low, open_low = pieces[0].low
    high, closed_high = max(piece.high for piece in pieces) if len(pieces) > 1 else pieces[0].high
    least, most = _rounded(low, high)
    if len(pieces) == 1 and pieces[0].sure:
        exact = (
            extent.comparable
            and least == low
            and most == high
            # The largest numbers stand for ends without limit, so the two are not told apart.
            and LARGEST not in (abs(least), abs(most))
        )
        # A point that a float64 holds is an interval without length, and is found by that.
        points = frozenset({low}) if low == high and least != most else None
        return AxisInterval(axis, least, most, points, bool(open_low), not closed_high), exact
    # Not all that lies between the ends.
    hull = Pieces(((least, most),), False)
    if extent.is_sure and len(pieces) <= _MAX_POINTS and all(p.is_point for p in pieces):
        points = frozenset(p.low[0] for p in pieces)
        return AxisInterval(axis, least, most, points, pieces=hull), False
    if not extent.comparable and not extent.is_sure:
        # It may have one value or many.
        unknown = Tokens(axis, _NO_TOKENS, None)
        return AxisInterval(axis, least, most, pieces=hull, up=(unknown,)), False
    holes = _holes_between(pieces, extent)
    if holes is not None:
        down = Tokens((axis, "holes"), frozenset(cut[0] for cut in holes), None)
        if low == -_INF and high == _INF:
            down = Tokens((axis, "holes"), down.asked, down.asked)
        return AxisInterval(axis, least, most, down=(down,)), False
    if 1 < len(pieces) <= _MAX_PIECES:
        spans = tuple(_rounded(piece.low[0], piece.high[0]) for piece in pieces)
        hull = Pieces(spans, extent.is_sure)
    return AxisInterval(axis, least, most, pieces=hull), False


def _holes_between(pieces: Sequence[Piece], extent: Extent) -> list[Any] | None:
    """Return the cuts at which single values are missing between pieces, if nothing else is.

    None if more is missing there, or if there are too many.
    """
    if not 1 < len(pieces) <= _MAX_POINTS or not extent.is_sure:
        return None
    holes = []
    for before, after in pairwise(pieces):
        if not Piece(before.high, after.low, True).is_point:
            return None
        holes.append(before.high)
    return holes


def _rounded(low: Number, high: Number) -> tuple[float, float]:
    """Return the ends of an interval as float64; rounding may only make it larger."""
    least, most = _nearest(low), _nearest(high)
    return (
        least if least <= low else math.nextafter(least, -_INF),
        most if most >= high else math.nextafter(most, _INF),
    )


def _string_hull(
    axis: PartAxis, extent: Extent, constraint: Constraint
) -> tuple[AxisInterval, bool, bool]:
    """Return the interval of the numbers of strings, and whether it tells all of the strings.

    Its keys, which are its cuts, do if there is one piece. Its ends do if they are short besides: a
    string is short if its number tells it from all others. A cut just after a short string is an
    open low end, or a closed high one; every string between is longer, and has a greater number.
    """
    pieces = extent.strings
    low: str = pieces[0].low
    last: Any = pieces[-1].high
    after_low = low.endswith("\0")
    least = low[:-1] if after_low else low
    closed_high = last is TOP or last.endswith("\0")
    most: str | None = None if last is TOP else last[:-1] if closed_high else last
    keys_are_exact = extent.comparable and len(pieces) == 1 and pieces[0].sure
    exact = keys_are_exact and _is_short(least) and (most is None or _is_short(most))
    lowest = _number_of(least)
    highest = _INF if most is None else lowest if most == least else _number_of(most)
    points = _few_strings(pieces) or None
    down, up = _tokens_of(axis, constraint)
    if not extent.is_sure:
        # There may be few strings or many.
        up = (*up, Tokens(axis, _NO_TOKENS, None))
    holes = _holes_between(pieces, extent)
    if holes is not None:
        asked = frozenset(holes)
        whole = low == "" and last is TOP
        down = (*down, Tokens((axis, "holes"), asked, asked if whole else None))
    made = AxisInterval(
        axis,
        lowest,
        highest,
        None if points is None else frozenset(points),
        after_low,
        not closed_high,
        keys=(low, last),
        loose=not extent.tight,
        down=down,
        up=up,
    )
    return made, exact, keys_are_exact


def _is_short(text: str) -> bool:
    """Return whether no other string without a NUL in it has the number of this one."""
    return "\0" not in text and len(text.encode("utf-8", "surrogatepass")) <= _BYTES


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

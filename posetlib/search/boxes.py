"""Items as boxes: an interval of numbers on each axis, which an index compares instead of items.

A box stands for its item in one direction: where an item covers another one, its box contains the
other's. Boxes of a shape that is *exact* stand for their items in both directions, so that nothing
is left to ask; for others, an item that is found by its box is asked itself.

An interval may be open at an end, as that of `x > 3`. Which ends are open is part of the shape, so
that boxes of one shape are compared by their ends alone; ``contains`` compares boxes of two shapes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from zlib import crc32

__all__ = [
    "LARGEST",
    "UNBOUND",
    "Axis",
    "AxisInterval",
    "Box",
    "BoxReader",
    "Shape",
    "Shapes",
    "contains",
    "inner_ends",
]

#: What an interval lies on. For filters that is an attribute and a domain of values.
Axis: TypeAlias = Hashable

#: The end of a box on an axis that it does not have; less than any end of a box that has it.
UNBOUND: Final = -math.inf
#: The largest end: an interval without limit still asks for its axis, and is not unbound.
LARGEST: Final = math.nextafter(math.inf, 0)
# Axes that have gap masks, and hash buckets in the mask of each.
_GAP_AXES: Final = 64
_GAP_BUCKETS: Final = 64
# Other shapes for which a shape remembers how they compare. When there are more, all are forgotten.
_MAX_COMPARISONS: Final = 256
_NO_ENDS: Final[frozenset[int]] = frozenset()


class Shape:
    """The axes on which a box has its intervals, and which of their ends are open.

    One object for equal shapes of one ``Shapes``.
    """

    __slots__ = ("_bits", "_comparisons", "axes", "exact", "open_ends")

    def __init__(
        self, axes: tuple[Axis, ...], bits: int, exact: bool, open_ends: frozenset[int]
    ) -> None:
        self.axes = axes
        #: Whether, among boxes of exact shapes, containing is covering, and items with equal boxes
        #: of one shape are equal.
        self.exact = exact
        #: The numbers, in ``Box.ends``, of the ends that do not belong to their intervals.
        self.open_ends = open_ends
        # A bit for each axis.
        self._bits = bits
        # Outer shape -> what to compare for one of its boxes to contain one of this shape.
        self._comparisons: dict[Shape, list[tuple[int, int, bool]]] = {}

    def comparison(self, outer: Shape) -> list[tuple[int, int, bool]] | None:
        """Return what to compare for a box of another shape to contain one of this; remembered.

        For each end of the outer box: its number, the number of this box's end, and whether the
        two must differ, since the outer interval is open there and the inner one is not. None if
        the outer box has an axis that this one has not.
        """
        if not self.may_lie_in(outer):
            return None
        found = self._comparisons.get(outer)
        if found is None:
            found = []
            for i, axis in enumerate(outer.axes):
                j = self.axes.index(axis)
                for end in (0, 1):
                    mine, other = 2 * j + end, 2 * i + end
                    differ = other in outer.open_ends and mine not in self.open_ends
                    found.append((other, mine, differ))
            if len(self._comparisons) >= _MAX_COMPARISONS:
                self._comparisons.clear()
            self._comparisons[outer] = found
        return found

    def may_lie_in(self, other: Shape) -> bool:
        """Return whether a box of the other shape can contain one of this: it has no other axis."""
        return self._bits | other._bits == self._bits


class Box:
    """The ends of an item's intervals; a box contains another of its shape if no end is greater.

    A high end is kept with a minus, so that all ends compare in one direction. The ends on the
    first two axes have slots of their own, for the loops that compare thousands of boxes; on an
    axis that the shape does not have they are ``UNBOUND``.

    ``gaps`` are bits for hash buckets of values. A finite set of values has a gap in each bucket
    that none of its values is in. Where an item covers another one, the other has all its gaps.
    """

    __slots__ = ("gaps", "low", "low2", "minus_high", "minus_high2", "more_ends", "shape")

    def __init__(
        self,
        low: float,
        minus_high: float,
        low2: float,
        minus_high2: float,
        more_ends: tuple[float, ...],
        shape: Shape,
        gaps: int,
    ) -> None:
        self.low = low
        self.minus_high = minus_high
        self.low2 = low2
        self.minus_high2 = minus_high2
        #: The ends on the third axis and those after it.
        self.more_ends = more_ends
        self.shape = shape
        self.gaps = gaps

    def ends(self) -> tuple[float, ...]:
        """Return all ends, two for each axis: low, and high with a minus.

        >>> Shapes().box([AxisInterval("x", 0, 9)], exact=True).ends()
        (0, -9)
        """
        axes = len(self.shape.axes)
        if axes >= 2:
            return (self.low, self.minus_high, self.low2, self.minus_high2, *self.more_ends)
        return (self.low, self.minus_high) if axes else ()

    def __repr__(self) -> str:
        return f"<Box {dict(zip(self.shape.axes, _pairs(self.ends()), strict=True))}>"


def contains(outer: Box, inner: Box) -> bool:
    """Return whether a box contains another one, of any shapes; for exact shapes, if it covers.

    >>> shapes = Shapes()
    >>> above_3 = shapes.box([AxisInterval("x", 3, math.inf, open_low=True)], exact=True)
    >>> from_3 = shapes.box([AxisInterval("x", 3, math.inf)], exact=True)
    >>> contains(from_3, above_3), contains(above_3, from_3)
    (True, False)
    """
    comparison = inner.shape.comparison(outer.shape)
    if comparison is None:
        return False
    outside, inside = outer.ends(), inner.ends()
    for i, j, differ in comparison:
        if outside[i] > inside[j] or (differ and outside[i] == inside[j]):
            return False
    return True


def inner_ends(box: Box) -> tuple[float, ...]:
    """Return the ends of a box, with each open one moved inwards to the next float.

    A box contains another one exactly if neither its ends nor its inner ends are greater. The ends
    alone do not tell an open interval from a closed one that ends there; the inner ends alone do
    not tell an open one from a closed one that ends at the next float.

    >>> inner_ends(Shapes().box([AxisInterval("x", 0, 1, open_low=True)], exact=True))
    (5e-324, -1)
    """
    opened = box.shape.open_ends
    if not opened:
        return box.ends()
    return tuple(
        math.nextafter(end, math.inf) if i in opened else end for i, end in enumerate(box.ends())
    )


def _pairs(ends: Sequence[float]) -> list[tuple[float, float]]:
    return [(low, -minus_high) for low, minus_high in zip(ends[::2], ends[1::2], strict=True)]


class BoxReader(Protocol):
    """Makes the boxes of one table's items; part of a ``Relation``."""

    def read(self, item: Any) -> Box | None:
        """Return the box of an item, None if it has none: then it is compared with every item."""


class AxisInterval(NamedTuple):
    """The interval of an item on one axis; its ends are infinite where there is no limit."""

    axis: Axis
    low: float
    high: float
    #: The values, numbers or strings, if they are a finite set and few; otherwise none.
    points: Iterable[Any] = ()
    #: Whether an end does not belong to the interval.
    open_low: bool = False
    open_high: bool = False


class Shapes:
    """Makes boxes, and keeps one ``Shape`` for all boxes on the same axes.

    A table has one ``Shapes``, within its box reader. The boxes of two tables cannot be compared.

    >>> shapes = Shapes()
    >>> outer = shapes.box([AxisInterval("x", 0, 9)], exact=True)
    >>> inner = shapes.box([AxisInterval("x", 2, 3)], exact=True)
    >>> outer.shape is inner.shape, all(map(float.__le__, map(float, outer.ends()), inner.ends()))
    (True, True)
    """

    __slots__ = ("_numbers", "_shapes")

    def __init__(self) -> None:
        self._numbers: dict[Axis, int] = {}
        self._shapes: dict[tuple[tuple[Axis, ...], bool, frozenset[int]], Shape] = {}

    def shape(
        self, axes: tuple[Axis, ...], *, exact: bool, open_ends: frozenset[int] = _NO_ENDS
    ) -> Shape:
        """Return the shape of boxes on some axes, in this order; see ``Shape.open_ends``."""
        shape = self._shapes.get((axes, exact, open_ends))
        if shape is None:
            bits = 0
            for axis in axes:
                bits |= 1 << self._number(axis)
            shape = self._shapes[axes, exact, open_ends] = Shape(axes, bits, exact, open_ends)
        return shape

    def box(self, intervals: Sequence[AxisInterval], *, exact: bool) -> Box:
        """Return the box of an item that has these intervals; O(axes + points).

        Equal sets of axes must come in the same order. ``exact``: whether items with exact boxes
        cover one another just if their boxes do, and are equal if their boxes are.
        """
        ends: list[float] = []
        opened = []
        gaps = 0
        for axis, low, high, points, open_low, open_high in intervals:
            if open_low:
                opened.append(len(ends))
            if open_high:
                opened.append(len(ends) + 1)
            ends += (max(low, -LARGEST), max(-high, -LARGEST))
            if points:
                number = self._number(axis)
                if number < _GAP_AXES:
                    gaps |= _gap_mask(points) << number * _GAP_BUCKETS
        # Boxes that are not exact are a first sieve: which of their ends are open does not matter.
        open_ends = frozenset(opened) if exact and opened else _NO_ENDS
        axes = tuple(each.axis for each in intervals)
        return self.box_of_ends(ends, self.shape(axes, exact=exact, open_ends=open_ends), gaps)

    def box_of_ends(self, ends: list[float], shape: Shape, gaps: int = 0) -> Box:
        """Return a box from its ends, two for each axis of a shape; the list is used up."""
        ends += [UNBOUND] * (4 - len(ends))
        return Box(ends[0], ends[1], ends[2], ends[3], tuple(ends[4:]), shape, gaps)

    def _number(self, axis: Axis) -> int:
        return self._numbers.setdefault(axis, len(self._numbers))


def _gap_mask(points: Iterable[Any]) -> int:
    """Return the buckets that none of some values is in, as bits."""
    filled = 0
    for point in points:
        # Python's hash of a string differs from process to process, that of a number does not.
        code = (
            crc32(point.encode("utf-8", "surrogatepass")) if isinstance(point, str) else hash(point)
        )
        filled |= 1 << code % _GAP_BUCKETS
    return ~filled & (1 << _GAP_BUCKETS) - 1

"""Items as boxes: an interval of numbers on each axis, which an index compares instead of items.

A box stands for its item in one direction: where an item covers another one, its box contains the
other's. Boxes of a shape that is *exact* stand for their items in both directions, so that nothing
is left to ask; for others, an item that is found by its box is asked itself.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from zlib import crc32

__all__ = ["LARGEST", "UNBOUND", "Axis", "AxisInterval", "Box", "BoxReader", "Shape", "Shapes"]

#: What an interval lies on. For filters that is an attribute and a domain of values.
Axis: TypeAlias = Hashable

#: The end of a box on an axis that it does not have; less than any end of a box that has it.
UNBOUND: Final = -math.inf
#: The largest end: an interval without limit still asks for its axis, and is not unbound.
LARGEST: Final = math.nextafter(math.inf, 0)
# Axes that have gap masks, and hash buckets in the mask of each.
_GAP_AXES: Final = 64
_GAP_BUCKETS: Final = 64


class Shape:
    """The axes on which a box has its intervals; one object for equal shapes of one ``Shapes``."""

    __slots__ = ("_bits", "axes", "exact")

    def __init__(self, axes: tuple[Axis, ...], bits: int, exact: bool) -> None:
        self.axes = axes
        #: Whether, among boxes of exact shapes, containing is covering, and items with equal boxes
        #: are equal.
        self.exact = exact
        # A bit for each axis.
        self._bits = bits

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


def _pairs(ends: Sequence[float]) -> list[tuple[float, float]]:
    return [(low, -minus_high) for low, minus_high in zip(ends[::2], ends[1::2], strict=True)]


class BoxReader(Protocol):
    """Makes the boxes of one table's items; part of a ``Relation``."""

    def read(self, item: Any) -> Box | None:
        """Return the box of an item, None if it has none: then it is compared with every item."""


class AxisInterval(NamedTuple):
    """The interval of an item on one axis, ends included; infinite where there is no limit."""

    axis: Axis
    low: float
    high: float
    #: The values, numbers or strings, if they are a finite set and few; otherwise none.
    points: Iterable[Any] = ()


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
        self._shapes: dict[tuple[tuple[Axis, ...], bool], Shape] = {}

    def shape(self, axes: tuple[Axis, ...], *, exact: bool) -> Shape:
        """Return the shape of boxes on some axes, in this order."""
        shape = self._shapes.get((axes, exact))
        if shape is None:
            bits = 0
            for axis in axes:
                bits |= 1 << self._number(axis)
            shape = self._shapes[axes, exact] = Shape(axes, bits, exact)
        return shape

    def box(self, intervals: Sequence[AxisInterval], *, exact: bool) -> Box:
        """Return the box of an item that has these intervals; O(axes + points).

        Equal sets of axes must come in the same order. ``exact``: whether items with exact boxes
        cover one another just if their boxes do, and are equal if their boxes are.
        """
        ends: list[float] = []
        gaps = 0
        for axis, low, high, points in intervals:
            ends += (max(low, -LARGEST), max(-high, -LARGEST))
            if points:
                number = self._number(axis)
                if number < _GAP_AXES:
                    gaps |= _gap_mask(points) << number * _GAP_BUCKETS
        return self.box_of_ends(
            ends, self.shape(tuple(each.axis for each in intervals), exact=exact), gaps
        )

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

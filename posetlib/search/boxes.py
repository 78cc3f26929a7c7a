"""Items as boxes: an interval of numbers on each axis, which an index compares instead of items.

A box stands for its item in one direction: where an item covers another one, its box contains the
other's. Boxes of a shape that is *exact* stand for their items in both directions, so that nothing
is left to ask; for others, an item that is found by its box is asked itself.

An interval may be open at an end, as that of `x > 3`. Which ends are open is part of the shape, so
that boxes of one shape are compared by their ends alone; ``contains`` compares boxes of two shapes.

What intervals cannot tell, *tokens* may: an item asks some tokens of every item that it covers, and
others of every item that covers it. The one covers the other only if each holds what the other one
asks. So `x != 4` asks for the hole at 4, and a set of two values asks for these to be among others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias

__all__ = [
    "LARGEST",
    "MANY",
    "UNBOUND",
    "Axis",
    "AxisInterval",
    "Box",
    "BoxReader",
    "LateBox",
    "Marks",
    "PartAxis",
    "Pieces",
    "Shape",
    "Shapes",
    "Token",
    "Tokens",
    "contains",
    "inner_ends",
    "tokens_allow",
]

#: What an interval lies on. For filters that is an attribute, or a domain of its values.
Axis: TypeAlias = Hashable


class PartAxis(NamedTuple):
    """A part of an axis, such as the numbers among all values of an attribute.

    An interval on the whole axis, which never has an end, contains every interval on its parts.
    """

    whole: Axis
    part: Hashable
    #: Whether intervals have ``keys``, which tell more than their ends: all on this axis, or none.
    keyed: bool = False


#: What items ask of each other, and hold: anything hashable.
Token: TypeAlias = Hashable
#: The token that stands for more values than any item lists.
MANY: Final[Token] = ("many values", object)

#: The end of a box on an axis that it does not have; less than any end of a box that has it.
UNBOUND: Final = -math.inf
#: The largest end: an interval without limit still asks for its axis, and is not unbound.
LARGEST: Final = math.nextafter(math.inf, 0)
# Other shapes for which a shape remembers how they compare. When there are more, all are forgotten.
_MAX_COMPARISONS: Final = 256
_NO_ENDS: Final[frozenset[int]] = frozenset()
_NO_AXES: Final[frozenset[Axis]] = frozenset()


# An end of the outer box, the same one of the inner box, whether the two must differ, since the
# outer interval is open there and the inner one is not, and whether they are high keys, of which
# the outer one is the greater.
_EndComparison: TypeAlias = tuple[int, int, bool, bool]


class Shape:
    """The axes on which a box has its intervals, and which of their ends are open.

    One object for equal shapes of one ``Shapes``.
    """

    __slots__ = (
        "_bits", "_comparisons", "_reach", "axes", "decides", "exact", "loose", "open_ends",
        "unknown", "wholes",
    )  # fmt: skip

    def __init__(
        self,
        axes: tuple[Axis, ...],
        wholes: frozenset[Axis],
        bits: tuple[int, int],
        exact: bool,
        decides: bool,
        open_ends: frozenset[int],
        loose: frozenset[Axis],
        unknown: frozenset[Axis],
    ) -> None:
        self.axes = axes
        #: The whole axes of the parts on which it has intervals.
        self.wholes = wholes
        #: Whether, among boxes of exact shapes, containing is covering, and items with equal boxes
        #: of one shape are equal.
        self.exact = exact
        #: Whether, among boxes of such shapes, ``contains`` is covering: all exact ones, and those
        #: whose keys tell what their ends do not.
        self.decides = decides
        #: The numbers, in ``Box.ends``, of the ends that do not belong to their intervals.
        self.open_ends = open_ends
        #: The axes on which the item may be smaller than its interval: it may lie in a box with a
        #: smaller one.
        self.loose = loose
        #: The whole axes of which nothing is known but that the item asks for them: it may lie in a
        #: box with an interval on any part.
        self.unknown = unknown
        # A bit for each axis, and the same with its wholes: all that a box around one can have.
        self._bits, self._reach = bits
        # Outer shape -> what to compare for one of its boxes to contain one of this shape.
        self._comparisons: dict[Shape, list[_EndComparison]] = {}

    def comparison(self, outer: Shape) -> list[_EndComparison] | None:
        """Return what to compare for a box of another shape to contain one of this; remembered.

        None if the outer box has an axis that this one has not.
        """
        if not self.may_lie_in(outer):
            return None
        found = self._comparisons.get(outer)
        if found is None:
            found = []
            for i, axis in enumerate(outer.axes):
                if axis not in self.axes:
                    continue  # The whole axis of a part: its interval contains any on the part.
                j = self.axes.index(axis)
                keyed = isinstance(axis, PartAxis) and axis.keyed
                for end in (0, 1):
                    mine, other = 2 * j + end, 2 * i + end
                    differ = other in outer.open_ends and mine not in self.open_ends
                    found.append((other, mine, differ and not keyed, keyed and end == 1))
            if len(self._comparisons) >= _MAX_COMPARISONS:
                self._comparisons.clear()
            self._comparisons[outer] = found
        return found

    def may_lie_in(self, other: Shape) -> bool:
        """Return whether a box of the other shape can contain one of this: it has no other axis."""
        if other._bits | self._reach == self._reach:
            return True
        return bool(self.unknown) and all(map(self.reaches, other.axes))

    def reaches(self, axis: Axis) -> bool:
        """Return whether a box around one of this shape can have an interval on an axis."""
        if axis in self.axes or axis in self.wholes:
            return True
        return isinstance(axis, PartAxis) and axis.whole in self.unknown


class Tokens:
    """What an item asks of others in one family of tokens, and what it holds for others.

    It is in ``Marks.down`` if it asks items that it covers, and in ``Marks.up`` if it asks items
    that cover it. Items that have no tokens of the family, or do not know what they hold, have all.
    """

    __slots__ = ("_held", "asked", "family")

    def __init__(
        self,
        family: Hashable,
        asked: frozenset[Token],
        held: frozenset[Token] | Callable[[], frozenset[Token] | None] | None,
    ) -> None:
        self.family = family
        self.asked = asked
        # A function is called when what is held is first looked at.
        self._held = held

    @property
    def held(self) -> frozenset[Token] | None:
        """The tokens that it holds, None if that is not known."""
        if callable(self._held):
            self._held = self._held()
        return self._held

    def __repr__(self) -> str:
        return f"<Tokens of {self.family}: asks {set(self.asked)}>"


class Pieces(NamedTuple):
    """The intervals of an item within its interval on an axis."""

    intervals: tuple[tuple[float, float], ...]
    #: Whether they have nothing but values of the item: not so for a run of integers.
    sure: bool


class Marks(NamedTuple):
    """What is known of an item beyond its intervals."""

    down: tuple[Tokens, ...] = ()
    up: tuple[Tokens, ...] = ()
    #: All ends for a sieve, where an axis is keyed: the low and the high key instead of the low end
    #: and the high one with a minus.
    ends: tuple[Any, ...] | None = None
    #: Axis -> its pieces, where it has several, or one that is not sure.
    pieces: tuple[tuple[Axis, Pieces], ...] = ()
    #: The axes that are families in ``up``: the values there are listed, or it is not known if
    #: they are many.
    listed: frozenset[Axis] = frozenset()


def tokens_allow(outer: Box, inner: Box) -> bool:
    """Return whether each of two boxes holds the tokens that it is asked for, if one contains one.

    >>> shapes = Shapes()
    >>> def at(*values):
    ...     low, high = min(values), max(values)
    ...     return shapes.box([AxisInterval("x", low, high, frozenset(values))], exact=False)
    >>> tokens_allow(at(1, 2, 3), at(1, 3)), tokens_allow(at(1, 3), at(1, 2, 3))
    (True, False)
    """
    outside, inside = outer.marks, inner.marks
    if outside is None or inside is None:
        return True
    return _are_held(outside.down, inside.down) and _are_held(inside.up, outside.up)


def _are_held(asking: tuple[Tokens, ...], holding: tuple[Tokens, ...]) -> bool:
    """Return whether all is held that is asked for, family by family."""
    for one in asking:
        if one.asked:
            for other in holding:
                if other.family == one.family:
                    held = other.held
                    if held is not None and not one.asked <= held:
                        return False
                    break
    return True


class Box:
    """The ends of an item's intervals; a box contains another of its shape if no end is greater.

    A high end is kept with a minus, so that all ends compare in one direction. The ends on the
    first two axes have slots of their own, for the loops that compare thousands of boxes; on an
    axis that the shape does not have they are ``UNBOUND``.

    ``marks`` are what is known beyond intervals, None for most boxes.
    """

    #: Whether it is still to be made.
    is_late: ClassVar[bool] = False

    __slots__ = (
        "_make", "low", "low2", "marks", "minus_high", "minus_high2", "more_ends", "shape",
    )  # fmt: skip

    def __init__(
        self,
        low: float,
        minus_high: float,
        low2: float,
        minus_high2: float,
        more_ends: tuple[float, ...],
        shape: Shape,
        marks: Marks | None = None,
    ) -> None:
        self.low = low
        self.minus_high = minus_high
        self.low2 = low2
        self.minus_high2 = minus_high2
        #: The ends on the third axis and those after it.
        self.more_ends = more_ends
        self.shape = shape
        self.marks = marks

    def ends(self) -> tuple[float, ...]:
        """Return all ends, two for each axis: low, and high with a minus.

        >>> Shapes().box([AxisInterval("x", 0, 9)], exact=True).ends()
        (0, -9)
        """
        axes = len(self.shape.axes)
        if axes >= 2:
            return (self.low, self.minus_high, self.low2, self.minus_high2, *self.more_ends)
        return (self.low, self.minus_high) if axes else ()

    def sorting_ends(self) -> tuple[Any, ...]:
        """Return the ends by which a sieve sorts: keys instead of ends where there are any.

        Those of two axes at least; on an axis that the shape does not have they are ``UNBOUND``.
        """
        marks = self.marks
        if marks is not None and marks.ends is not None:
            return marks.ends
        ends = (self.low, self.minus_high, self.low2, self.minus_high2)
        return ends + self.more_ends if self.more_ends else ends

    def __repr__(self) -> str:
        return f"<Box {dict(zip(self.shape.axes, _pairs(self.ends()), strict=True))}>"


class LateBox(Box):
    """A box that is made when it is first looked at: in short lists, a test costs less.

    From then on it is a plain ``Box``.

    >>> shapes = Shapes()
    >>> late = LateBox(lambda: shapes.box([AxisInterval("x", 0, 9)], exact=True))
    >>> type(late).__name__, late.low, type(late).__name__
    ('LateBox', 0, 'Box')
    """

    __slots__ = ()
    is_late = True

    def __init__(self, make: Callable[[], Box]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name not in Box.__slots__:
            raise AttributeError(name)
        made = self._make()
        self.low, self.minus_high = made.low, made.minus_high
        self.low2, self.minus_high2 = made.low2, made.minus_high2
        self.more_ends = made.more_ends
        self.shape = made.shape
        self.marks = made.marks
        del self._make
        self.__class__ = Box  # type: ignore[assignment]
        return getattr(self, name)


def contains(outer: Box, inner: Box) -> bool:
    """Return whether a box contains another one, of shapes that decide: whether it covers it.

    >>> shapes = Shapes()
    >>> above_3 = shapes.box([AxisInterval("x", 3, math.inf, open_low=True)], exact=True)
    >>> from_3 = shapes.box([AxisInterval("x", 3, math.inf)], exact=True)
    >>> contains(from_3, above_3), contains(above_3, from_3)
    (True, False)
    """
    comparison = inner.shape.comparison(outer.shape)
    if comparison is None:
        return False
    outside, inside = outer.sorting_ends(), inner.sorting_ends()
    for i, j, differ, is_high_key in comparison:
        one, other = (inside[j], outside[i]) if is_high_key else (outside[i], inside[j])
        if one > other or (differ and one == other):
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
    #: The values, if they are a finite set and few; otherwise None: there are many.
    points: frozenset[Token] | None = None
    #: Whether an end does not belong to the interval.
    open_low: bool = False
    open_high: bool = False
    #: On a keyed axis, the low and the high end as anything that is ordered as the intervals are.
    keys: tuple[Any, Any] | None = None
    #: The pieces, if there are several of them, or one that is not sure.
    pieces: Pieces | None = None
    #: Whether the item may have no value near an end; see ``Shape.loose``.
    loose: bool = False
    #: On a whole axis: whether nothing is known of the item there; see ``Shape.unknown``.
    unknown: bool = False
    #: What it asks of items that it covers, and of items that cover it.
    down: tuple[Tokens, ...] = ()
    up: tuple[Tokens, ...] = ()


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
        self._shapes: dict[tuple[Any, ...], Shape] = {}

    def shape(
        self,
        axes: tuple[Axis, ...],
        *,
        exact: bool,
        decides: bool = False,
        open_ends: frozenset[int] = _NO_ENDS,
        loose: frozenset[Axis] = _NO_AXES,
        unknown: frozenset[Axis] = _NO_AXES,
    ) -> Shape:
        """Return the shape of boxes on some axes, in this order; see its attributes."""
        decides = exact or decides
        key = (axes, exact, decides, open_ends, loose, unknown)
        shape = self._shapes.get(key)
        if shape is None:
            wholes = frozenset(axis.whole for axis in axes if isinstance(axis, PartAxis))
            bits = (self._bits_of(axes), self._bits_of((*axes, *wholes)))
            shape = Shape(axes, wholes, bits, exact, decides, open_ends, loose, unknown)
            self._shapes[key] = shape
        return shape

    def box(self, intervals: Sequence[AxisInterval], *, exact: bool, decides: bool = False) -> Box:
        """Return the box of an item that has these intervals; O(axes + points).

        Equal sets of axes must come in the same order. ``exact``: whether items with exact boxes
        cover one another just if their boxes do, and are equal if their boxes are. ``decides``:
        whether this holds by their keys.
        """
        ends: list[float] = []
        opened = []
        loose = unknown = _NO_AXES
        marked = False
        for each in intervals:
            if each.open_low:
                opened.append(len(ends))
            if each.open_high:
                opened.append(len(ends) + 1)
            ends += (max(each.low, -LARGEST), max(-each.high, -LARGEST))
            if each.loose:
                loose |= {each.axis}
            if each.unknown:
                unknown |= {each.axis}
            if (
                each.points is not None
                or each.keys is not None
                or each.pieces is not None
                or each.down
                or each.up
            ):
                marked = True
        # Boxes that decide nothing are a first sieve: which of their ends are open does not matter.
        decides = exact or decides
        open_ends = frozenset(opened) if decides and opened else _NO_ENDS
        axes = tuple([each[0] for each in intervals])
        shape = self.shape(
            axes, exact=exact, decides=decides, open_ends=open_ends, loose=loose, unknown=unknown
        )
        marks = _marks_of(intervals, ends) if marked else None
        return self.box_of_ends(ends, shape, marks)

    def box_of_ends(self, ends: list[float], shape: Shape, marks: Marks | None = None) -> Box:
        """Return a box from its ends, two for each axis of a shape; the list is used up."""
        ends += [UNBOUND] * (4 - len(ends))
        return Box(ends[0], ends[1], ends[2], ends[3], tuple(ends[4:]), shape, marks)

    def _bits_of(self, axes: Sequence[Axis]) -> int:
        bits = 0
        for axis in axes:
            bits |= 1 << self._numbers.setdefault(axis, len(self._numbers))
        return bits


def _marks_of(intervals: Sequence[AxisInterval], ends: list[float]) -> Marks:
    """Return what the intervals of a box say beyond their ends."""
    down: list[Tokens] = []
    up: list[Tokens] = []
    keyed: list[Any] | None = None
    pieces = []
    listed = []
    for i, each in enumerate(intervals):
        down += each.down
        up += each.up
        listed += [tokens.family for tokens in each.up if tokens.family == each.axis]
        if each.points is not None:
            up.append(Tokens(each.axis, each.points, each.points))
            listed.append(each.axis)
        if each.keys is not None:
            keyed = list(ends) if keyed is None else keyed
            keyed[2 * i : 2 * i + 2] = each.keys
        if each.pieces is not None:
            pieces.append((each.axis, each.pieces))
    return Marks(
        tuple(down),
        tuple(up),
        None if keyed is None else tuple(keyed),
        tuple(pieces),
        frozenset(listed),
    )

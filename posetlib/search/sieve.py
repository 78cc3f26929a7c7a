"""The sieve: finds the few nodes of a long list whose boxes may be comparable with a given box.

Sets of nodes are bits of Python integers (see ``posetlib.bits``). For each end of the box, one set
is looked up; their intersection has all comparable nodes, and few others. The caller compares the
nodes that are left.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import accumulate, chain
from math import isqrt
from operator import attrgetter, or_
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from posetlib.bits import PIECE, mask_of
from posetlib.graph.nodes import Node
from posetlib.search.boxes import MANY, Axis, Box, Marks, PartAxis, Shape, Token, Tokens
from posetlib.search.piece_cells import PieceCells
from posetlib.search.token_sets import TokenSets

__all__ = ["Sieve"]

# On each axis, the low ends of n nodes are sorted into side² cells, and so are the high ends:
# side = min(_SIDE + √n // _SLOPE, _MAX_SIDE). So there are 25 cells for 40 nodes, and 256 cells
# from 3,600 nodes on. More cells leave fewer nodes to compare, but adding a node takes longer.
_SIDE: Final = 4
_SLOPE: Final = 5
_MAX_SIDE: Final = 16
# Axes of a sieve at most. Further axes are ignored, so that more nodes are left to compare; memory
# and the time of an add are bounded.
_MAX_AXES: Final = 64
# Nodes for which a new sieve has places beyond twice its nodes, so that a small one is not laid out
# anew after every few adds.
_ROOM: Final = 16
# How often a sieve is asked before it is judged by what it let through.
_TRIALS: Final = 32
# Shapes of which the plan is remembered. When there are more, all plans are forgotten.
_MAX_PLANS: Final = 4096
# Bits of a set that are handled at a time (see ``posetlib.bits.PIECE``), and as many ones.
_PIECE: Final = PIECE
_PIECE_MASK: Final = (1 << _PIECE) - 1
# From this number of bits on, numpy finds the words of a number that have a bit.
_LONG: Final = 8 * PIECE
# Nodes are yielded in the order of their serial numbers.
_SERIAL: Final = attrgetter("serial")


#: Intervals of nodes on one axis: low ends, high ends with a minus, and the places of the nodes.
_AxisEnds: TypeAlias = tuple[list[Any], list[Any], list[int]]
_NO_ENDS: Final[_AxisEnds] = ([], [], [])
_MANY: Final[frozenset[Token]] = frozenset({MANY})
# Stands for all further axes when there are too many of them.
_ANY_AXIS: Final = ("any axis", object)


class _CoarseOrder:
    """Nodes sorted coarsely by one number each, to find those with a smaller number than another.

    Anything that has an order will do for numbers, such as strings.

    The numbers are divided into *cells* with about as many nodes each, and the cells into *blocks*.
    Each block has the set of the nodes in all blocks before it. Each cell has the set of the nodes
    in the cells before it within its block. So an answer is the union of two sets, and to add a
    node changes only the sets of one block of cells, and those of the blocks.

    Numbers that are greater than all others, or smaller, often follow each other, as times do. If
    many of them come, new cells are made at that end.
    """

    __slots__ = (
        "_blocks", "_bounds", "_cells", "_in_first", "_in_last", "_least", "_most", "_share",
        "_side", "_skipped",
    )  # fmt: skip

    def __init__(
        self, values: Sequence[Any] = (), places: Sequence[int] = (), side: int = 1
    ) -> None:
        count = side * side
        some = sorted(values)
        # Where one cell ends and the next one begins: one bound less than there are cells.
        self._bounds = sorted({some[len(some) * i // count] for i in range(1, count) if some})
        # The number of cells in a block, and at first of blocks.
        self._side = side
        # Cells at the beginning of the first block that are not in use yet.
        self._skipped = 0
        members: list[list[int]] = [[] for _ in range(side * (side + 1))]
        for value, place in zip(values, places, strict=True):
            cell = bisect_right(self._bounds, value)
            members[cell + cell // side + 1].append(place)
        # side + 1 sets for each block: the nodes before each of its cells, then those of the block.
        self._cells: list[int] = []
        # The nodes before each block, then all nodes.
        self._blocks = [0]
        for start in range(0, len(members), side + 1):
            masks = (mask_of(places, _PIECE) for places in members[start : start + side + 1])
            block = list(accumulate(masks, or_))
            self._cells += block
            self._blocks.append(self._blocks[-1] | block[-1])
        # How many nodes may come with a new least or greatest number before a new cell is made, and
        # how many came since the last one was made.
        self._share = len(values) // count + 8
        self._in_first = self._in_last = 0
        self._least: Any = some[0] if some else None
        self._most: Any = some[-1] if some else None

    def everything(self) -> int:
        """Return all nodes."""
        return self._blocks[-1]

    def before(self, value: Any) -> int:
        """Return the nodes in cells before that of a value: all their numbers are smaller."""
        cell = bisect_right(self._bounds, value) + self._skipped
        block = cell // self._side
        return self._blocks[block] | self._cells[cell + block]

    def upto(self, value: Any) -> int:
        """Return the nodes in cells up to that of a value: all others have a greater number."""
        cell = bisect_right(self._bounds, value) + self._skipped
        block = cell // self._side
        return self._blocks[block] | self._cells[cell + block + 1]

    def add(self, value: Any, bit: int) -> None:
        """Add a node, given as its bit, with its number: O(side) changes of a set."""
        if self._least is None:
            self._least = self._most = value
        elif not self._least <= value <= self._most:
            self._extend(value)
        cells, blocks, side = self._cells, self._blocks, self._side
        cell = bisect_right(self._bounds, value) + self._skipped
        block = cell // side
        for i in range(cell + block + 1, (block + 1) * (side + 1)):
            cells[i] |= bit
        for i in range(block + 1, len(blocks)):
            blocks[i] |= bit

    def _extend(self, value: Any) -> None:
        """Note a new least or greatest value, and make a new cell if enough of them have come."""
        empty = [0] * (self._side + 1)
        if value > self._most:
            self._most = value
            self._in_last += 1
            if self._in_last > self._share:
                self._in_last = 1
                self._bounds.append(value)
                if len(self._bounds) + self._skipped == self._side * (len(self._blocks) - 1):
                    self._cells += empty
                    self._blocks.append(self._blocks[-1])
        if value < self._least:
            self._in_first += 1
            if self._in_first > self._share:
                self._in_first = 1
                self._bounds.insert(0, self._least)
                if not self._skipped:
                    self._cells[:0] = empty
                    self._blocks.insert(0, 0)
                    self._skipped = self._side
                self._skipped -= 1
            self._least = value


class _AxisSets:
    """The nodes by both ends of their intervals on one axis, and the nodes without an interval.

    An interval of one point, such as that of `x = 3`, is also found by its value. There may be
    thousands of points, of which many would share a cell.
    """

    __slots__ = ("_all_points", "_low", "_minus_high", "_points", "cells", "lacking", "loose")

    def __init__(self, lacking: int, ends: _AxisEnds = _NO_ENDS, side: int = 1) -> None:
        lows, minus_highs, places = ends
        #: The nodes without an interval on this axis.
        self.lacking = lacking
        #: The nodes that may lie in a smaller interval than their own (see ``Shape.loose``).
        self.loose = 0
        #: The nodes by the pieces of their intervals, if there are any with several.
        self.cells: PieceCells | None = None
        self._low = _CoarseOrder(lows, places, side)
        self._minus_high = _CoarseOrder(minus_highs, places, side)
        #: Value -> the places of the nodes whose interval is this point.
        self._points: dict[float, list[int]] = {}
        for low, minus_high, place in zip(lows, minus_highs, places, strict=True):
            if low == -minus_high:
                self._points.setdefault(low, []).append(place)
        self._all_points = mask_of(list(chain.from_iterable(self._points.values())), _PIECE)

    def add(self, low: float, minus_high: float, place: int) -> None:
        """Add the node of a place, with the low end of its interval, and the high one negated."""
        bit = 1 << place
        self._low.add(low, bit)
        self._minus_high.add(minus_high, bit)
        if low == -minus_high:
            self._points.setdefault(low, []).append(place)
            self._all_points |= bit

    def present(self) -> int:
        """Return the nodes with an interval on this axis."""
        return self._low.everything()

    def other_points(self, marks: Marks, axis: Axis) -> int:
        """Return the nodes of one value that an item does not list that lists its values."""
        for tokens in marks.up if self._all_points and axis in marks.listed else ():
            if tokens.family == axis and tokens.held is not None:
                listed = [self._points[value] for value in tokens.held if value in self._points]
                return self._all_points & ~mask_of(list(chain.from_iterable(listed)), _PIECE)
        return 0

    def values_of(self, low: float, minus_high: float) -> frozenset[Token]:
        """Return the values of an item in an interval that lists none: one, or many."""
        return frozenset({low}) if low == -minus_high else _MANY

    def around(self, low: float, minus_high: float) -> int:
        """Return the nodes whose interval may contain this one, and those without an interval."""
        found = self._low.upto(low) & self._minus_high.upto(minus_high)
        if self._all_points:
            found &= ~self._all_points
            if low == -minus_high:
                found |= mask_of(self._points.get(low, []), _PIECE)
        # To add no bits to a long number is to copy it.
        return found | self.lacking if self.lacking else found

    def meeting(self, low: float, minus_high: float) -> int:
        """Return the nodes whose interval may meet this one, and those without an interval."""
        found = self._low.upto(-minus_high) & self._minus_high.upto(-low)
        if self._all_points and low == -minus_high:
            found = found & ~self._all_points | mask_of(self._points.get(low, []), _PIECE)
        return found | self.lacking

    def inside(self, low: float, minus_high: float) -> int:
        """Return the nodes whose interval may lie in this one."""
        if low == -minus_high:
            return mask_of(self._points.get(low, []), _PIECE)
        return self._low.everything() & ~(
            self._low.before(low) | self._minus_high.before(minus_high)
        )


class _KeyedAxisSets(_AxisSets):
    """The same on a keyed axis: both ends as they are, of any ordered type.

    A single value is found by its token (see ``Marks.listed``).
    """

    __slots__ = ("_high",)

    def __init__(self, lacking: int, ends: _AxisEnds = _NO_ENDS, side: int = 1) -> None:
        super().__init__(lacking)
        lows, highs, places = ends
        self._low = _CoarseOrder(lows, places, side)
        self._high = _CoarseOrder(highs, places, side)

    def add(self, low: Any, high: Any, place: int) -> None:
        """Add the node of a place, with both ends of its interval."""
        self._low.add(low, 1 << place)
        self._high.add(high, 1 << place)

    def values_of(self, low: Any, high: Any) -> frozenset[Token]:
        return _MANY

    def around(self, low: Any, high: Any) -> int:
        return self._low.upto(low) & ~self._high.before(high) | self.lacking

    def meeting(self, low: Any, high: Any) -> int:
        return self._low.upto(high) & ~self._high.before(low) | self.lacking

    def inside(self, low: Any, high: Any) -> int:
        return self._high.upto(high) & ~self._low.before(low)


def _axis_sets(axis: Axis, lacking: int, ends: _AxisEnds = _NO_ENDS, side: int = 1) -> _AxisSets:
    """Return the sets of an axis."""
    keyed = isinstance(axis, PartAxis) and axis.keyed
    return (_KeyedAxisSets if keyed else _AxisSets)(lacking, ends, side)


class _Plan(NamedTuple):
    """Where the ends of boxes of one shape are looked up."""

    #: For each axis of the shape: the axis, its sets, the index of its low end among the ends, and
    #: whether the shape is loose there.
    within: list[tuple[Axis, _AxisSets, int, bool]]
    #: The sets of the axes that the shape does not have.
    lacking: list[_AxisSets]
    #: The sets of those that no box around one of this shape has, either.
    others: list[_AxisSets]
    #: For each axis of the shape, what may lie in an interval there.
    inside: list[_Inside]
    #: Whether the shape has an axis on which no node of the sieve has an interval.
    has_new_axis: bool


class _Inside(NamedTuple):
    """The nodes that may lie in an interval on one axis."""

    #: The sets of the axis, None if no node has an interval there; and the index of the low end.
    sets: _AxisSets | None
    low_end: int
    #: The sets of the parts of the axis: whoever has an interval on a part lies in the whole.
    parts: list[_AxisSets]
    #: The whole axis: nothing may be known of a node there.
    whole: Axis


class Sieve:
    """A set of nodes that finds those that may cover an item, or that the item may cover.

    Each node has a *place*, the number of its bit. On each axis the nodes are sorted coarsely by
    both ends of their intervals, and in each family of tokens by these. ``above`` and ``below``
    return all comparable nodes that have a box, few others, and all nodes without a box; the caller
    compares them.

    A node that is removed keeps its place, in case that it comes back. When the places are used up,
    which are twice as many as there were nodes, the nodes that are left get new places, and the
    cells are chosen anew.
    """

    __slots__ = (
        "_asked",
        "_axes",
        "_boxed",
        "_boxless",
        "_count",
        "_families",
        "_late",
        "_let_through",
        "_newest",
        "_nodes",
        "_places",
        "_plans",
        "_room",
        "_unknown",
        "useless_below",
    )  # fmt: skip

    def __init__(self, nodes: Iterable[Node]) -> None:
        #: How often the sieve was asked, up to so many times, and how many nodes it let through.
        self._asked = 0
        self._let_through = 0
        #: With fewer nodes than this it is useless: it was asked a few times, and let so many
        #: through that they are most of its nodes.
        self.useless_below = 0
        self._lay_out(nodes)

    def __len__(self) -> int:
        return self._count

    @property
    def boxless(self) -> int:
        """The number of nodes without a box, which are always returned."""
        return self._boxless.bit_count()

    # -- changing ----------------------------------------------------------------------------------

    def _lay_out(self, nodes: Iterable[Node]) -> None:
        """Give places to these nodes, and to no others, and choose the cells."""
        #: By place, also the nodes that were removed.
        self._nodes = sorted(nodes, key=_SERIAL)
        self._places = dict(zip(self._nodes, range(len(self._nodes)), strict=True))
        #: How many places there may be before the nodes are laid out anew.
        self._room = 2 * len(self._nodes) + _ROOM
        #: The number of nodes that were not removed.
        self._count = len(self._nodes)
        #: The nodes that came after a node with a greater serial number. They are few: orphans, and
        #: nodes that an undo brings back.
        self._late = 0
        #: The greatest serial number.
        self._newest = self._nodes[-1].serial if self._nodes else -1
        boxless = []
        marked = []
        by_shape: dict[Shape, list[int]] = {}
        for node, place in self._places.items():
            if node.box is None:
                boxless.append(place)
            else:
                by_shape.setdefault(node.box.shape, []).append(place)
                if node.box.marks is not None:
                    marked.append(place)
        found: dict[Axis, _AxisEnds] = {}
        for shape, its in by_shape.items():
            rows = list(zip(*(self._nodes[place].box.sorting_ends() for place in its), strict=True))
            for i, axis in enumerate(shape.axes):
                lows, minus_highs, places = found.setdefault(axis, ([], [], []))
                lows += rows[2 * i]
                minus_highs += rows[2 * i + 1]
                places += its
        everything = (1 << len(self._nodes)) - 1
        side = min(_SIDE + isqrt(len(self._nodes)) // _SLOPE, _MAX_SIDE)
        self._axes = {
            axis: _axis_sets(axis, everything ^ mask_of(ends[2], _PIECE), ends, side)
            for axis, ends in list(found.items())[:_MAX_AXES]
        }
        #: Whole axis -> the nodes of which nothing is known there (see ``Shape.unknown``).
        self._unknown: dict[Axis, int] = {}
        for shape, its in by_shape.items():
            if shape.loose or shape.unknown:
                self._note_shape(shape, mask_of(its, _PIECE))
        #: The nodes without a box, and those with one, that were not removed.
        self._boxless = mask_of(boxless, _PIECE)
        self._boxed = everything ^ self._boxless
        self._plans: dict[Shape, _Plan] = {}
        #: Family of tokens -> the nodes by what they ask, and by what they hold.
        self._families: dict[Hashable, TokenSets] = {}
        for place in marked:
            self._enter_marks(self._nodes[place].box.marks, place)

    def _note_shape(self, shape: Shape, nodes: int) -> None:
        """Note of new nodes, of one shape, on which axes they are loose, or not known."""
        for axis in shape.loose:
            if axis in self._axes:
                self._axes[axis].loose |= nodes
        for whole in shape.unknown:
            is_new = whole not in self._unknown and len(self._unknown) >= _MAX_AXES
            axis = _ANY_AXIS if is_new else whole
            self._unknown[axis] = self._unknown.get(axis, 0) | nodes

    def add(self, node: Node) -> None:
        """Add a node: O(1) if it comes back, otherwise O(axes + tokens), amortised.

        These are operations on sets, each of which has as many bits as there are places.
        """
        place = self._places.get(node)
        if place is None:
            if len(self._nodes) == self._room:
                self._lay_out([*self._present(), node])
                return
            place = self._enter(node)
        self._count += 1
        if node.box is None:
            self._boxless |= 1 << place
        else:
            self._boxed |= 1 << place

    def remove(self, node: Node) -> None:
        """Remove a node; O(1) operations on sets, amortised."""
        bit = 1 << self._places[node]
        self._boxless &= ~bit
        self._boxed &= ~bit
        self._count -= 1
        if len(self._nodes) > 4 * self._count + _ROOM:
            # Three of four nodes were removed: their places are not kept any longer.
            self._lay_out(self._present())

    def _present(self) -> list[Node]:
        """Return the nodes that were not removed."""
        return list(self._at(self._boxed | self._boxless))

    def _enter(self, node: Node) -> int:
        """Give the next place to a new node, add it to the sets of the axes; return the place."""
        place = len(self._nodes)
        self._nodes.append(node)
        self._places[node] = place
        box = node.box
        if box is not None:
            shape, ends = box.shape, box.sorting_ends()
            plan = self._plan(shape)
            if plan.has_new_axis:
                self._add_axes(shape)
                plan = self._plan(shape)
            for _, sets, i, _ in plan.within:
                sets.add(ends[i], ends[i + 1], place)
                if sets.cells is not None:
                    sets.cells.add(box, place)
            bit = 1 << place
            for sets in plan.lacking:
                sets.lacking |= bit
            if shape.loose or shape.unknown:
                self._note_shape(shape, bit)
            if box.marks is not None:
                self._enter_marks(box.marks, place)
        if node.serial < self._newest:
            self._late |= 1 << place
        else:
            self._newest = node.serial
        return place

    def _enter_marks(self, marks: Marks, place: int) -> None:
        """Add a node to the sets of its tokens, and make cells if it is the first with pieces."""
        for tokens in (*marks.down, *marks.up):
            family = self._families.get(tokens.family)
            if family is None:
                family = self._families[tokens.family] = TokenSets(self._room)
            family.add(tokens, place)
        for axis, pieces in marks.pieces:
            if len(pieces.intervals) > 1:
                sets = self._axes.get(axis)
                if sets is not None and sets.cells is None:
                    sets.cells = PieceCells(axis, self._nodes)

    def _add_axes(self, shape: Shape) -> None:
        """Make the sets for new axes of a shape; no other node has an interval there yet."""
        everything = (1 << len(self._nodes) - 1) - 1
        for axis in shape.axes:
            if axis not in self._axes and len(self._axes) < _MAX_AXES:
                self._axes[axis] = _axis_sets(axis, everything)
        self._plans.clear()

    # -- asking ------------------------------------------------------------------------------------

    def above(self, box: Box) -> Iterator[Node]:
        """Return the nodes that may cover the item of a box, in order: O(axes) operations on sets.

        A covering node has no interval on an axis that the box does not have.
        """
        bits = self.bits_above(box)
        if self._asked < _TRIALS:
            self._judge(bits)
        return self._at(bits)

    def below(self, box: Box) -> Iterator[Node]:
        """Return the nodes that the item of a box may cover, in order: O(axes) operations on sets.

        A covered node has an interval on every axis of the box.
        """
        bits = self.bits_below(box)
        if self._asked < _TRIALS:
            self._judge(bits)
        return self._at(bits)

    def around_and_inside(self, box: Box) -> Iterator[Node]:
        """Return the nodes that may both cover the item of a box and be covered by it, in order."""
        above = self.bits_above(box)
        return self._at(above & self.bits_below(box) if above else 0)

    def _judge(self, bits: int) -> None:
        """Note how many nodes are let through; after a few questions, say when that is too many."""
        self._asked += 1
        self._let_through += bits.bit_count()
        if self._asked == _TRIALS:
            self.useless_below = -(-2 * self._let_through // _TRIALS)

    def bits_above(self, box: Box) -> int:
        """Return the nodes of ``above`` as bits."""
        families = self._families
        shape, marks = box.shape, box.marks
        plan = self._plans.get(shape) or self._plan(shape)
        ends = box.sorting_ends()
        left = self._boxed
        for sets in plan.others:
            left &= sets.lacking
        for axis, sets, i, loose in plan.within:
            low, high = ends[i], ends[i + 1]
            if not loose:
                left &= sets.around(low, high)
                if sets.cells is not None and left:
                    left &= ~sets.cells.not_around(box, sets.present())
            if families and axis in families and (marks is None or axis not in marks.listed):
                left &= ~families[axis].not_holding(sets.values_of(low, high))
        if marks is not None:
            left = self._allowed_by_tokens(left, marks.up, marks.down)
        return left | self._boxless if self._boxless else left

    def _allowed_by_tokens(
        self, left: int, asking: tuple[Tokens, ...], holding: tuple[Tokens, ...]
    ) -> int:
        """Return the nodes, of some, that hold what an item asks of them, and do not ask for more.

        The item asks tokens of them, and holds others for them.
        """
        families = self._families
        for tokens in asking:
            if tokens.asked and left:
                family = families.get(tokens.family)
                if family is not None:
                    left &= ~family.not_holding(tokens.asked)
        for tokens in holding:
            family = families.get(tokens.family) if left else None
            if family is not None:
                more = family.asking_more(tokens)
                left = left & ~more if more else left
        return left

    def bits_below(self, box: Box) -> int:
        """Return the nodes of ``below`` as bits."""
        shape, marks = box.shape, box.marks
        plan = self._plans.get(shape) or self._plan(shape)
        ends = box.sorting_ends()
        left = self._boxed
        for sets, i, parts, whole in plan.inside:
            found = 0 if sets is None else sets.inside(ends[i], ends[i + 1]) | sets.loose
            if marks is not None and sets is not None and marks.listed:
                found &= ~sets.other_points(marks, shape.axes[i // 2])
            for part in parts:
                found |= part.present()
            if self._unknown:
                found |= self._unknown.get(whole, 0) | self._unknown.get(_ANY_AXIS, 0)
            left &= found
            if sets is not None and sets.cells is not None and left:
                left &= ~sets.cells.not_inside(box)
        if marks is not None:
            left = self._allowed_by_tokens(left, marks.down, marks.up)
        return left | self._boxless if self._boxless else left

    def meeting(self, box: Box) -> Iterator[Node]:
        """Return the nodes that may overlap the item of a box: O(axes) operations on sets.

        Items overlap unless their intervals on an axis that both have are apart.
        """
        shape = box.shape
        plan = self._plans.get(shape) or self._plan(shape)
        ends = box.sorting_ends()
        left = self._boxed
        for _, sets, i, _ in plan.within:
            left &= sets.meeting(ends[i], ends[i + 1])
        return self._at(left | self._boxless)

    def _at(self, bits: int) -> Iterator[Node]:
        """Return the nodes of some bits, in the order of their serial numbers."""
        late = bits & self._late
        if not late:
            return _nodes_at(self._nodes, bits)
        in_order = _nodes_at(self._nodes, bits ^ late)
        found = sorted(_nodes_at(self._nodes, late), key=_SERIAL)
        return merge(in_order, found, key=_SERIAL)

    def _plan(self, shape: Shape) -> _Plan:
        """Return where the ends of a shape are looked up; it is remembered."""
        plan = self._plans.get(shape)
        if plan is None:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            plan = self._plans[shape] = self._new_plan(shape)
        return plan

    def _new_plan(self, shape: Shape) -> _Plan:
        axes = self._axes
        # With all axes in use, a missing one may be one that is ignored, and is not new.
        all_known = len(axes) < _MAX_AXES
        inside = []
        for i, axis in enumerate(shape.axes):
            if isinstance(axis, PartAxis):
                if all_known or axis in axes:
                    inside.append(_Inside(axes.get(axis), 2 * i, [], axis.whole))
            else:
                parts = [
                    sets
                    for each, sets in axes.items()
                    if isinstance(each, PartAxis) and each.whole == axis
                ]
                # A part of the axis may be ignored.
                if all_known or (axis in axes and not any(map(_is_part, axes))):
                    inside.append(_Inside(axes.get(axis), 2 * i, parts, axis))
        return _Plan(
            [
                (axis, axes[axis], 2 * i, axis in shape.loose)
                for i, axis in enumerate(shape.axes)
                if axis in axes
            ],
            [sets for axis, sets in axes.items() if axis not in shape.axes],
            [sets for axis, sets in axes.items() if not shape.reaches(axis)],
            inside,
            all_known and not all(axis in axes for axis in shape.axes),
        )


def _is_part(axis: Axis) -> bool:
    return isinstance(axis, PartAxis)


def _nodes_at(nodes: list[Node], bits: int) -> Iterator[Node]:
    """Yield the nodes whose places have a bit, in order of the places."""
    for start, part in ((0, bits),) if bits <= _PIECE_MASK else _pieces_of(bits):
        left = part
        while left:
            lowest = left & -left
            left ^= lowest
            yield nodes[start + lowest.bit_length() - 1]


def _pieces_of(bits: int) -> Iterable[tuple[int, int]]:
    """Return the pieces of a number, each with its first place; of a long one, those with a bit."""
    length = bits.bit_length()
    if length <= _LONG:
        return ((start, bits >> start & _PIECE_MASK) for start in range(0, length, _PIECE))
    # Each shift copies what is left of the number: numpy finds the words with a bit in one go.
    words = np.frombuffer(bits.to_bytes((length + 63) // 64 * 8, "little"), dtype="<u8")
    filled = words.nonzero()[0]
    return zip((filled * 64).tolist(), words[filled].tolist(), strict=True)

"""Nodes as bits: a look at each end of a box leaves few nodes of a long list to be asked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import accumulate, chain
from math import inf, isqrt
from operator import attrgetter, or_
from typing import Any, Final, NamedTuple, TypeAlias

from posetlib.boxes import Box, Line, Shape, ends
from posetlib.nodes import Node

__all__ = ["Sieve"]

# The ends of boxes are told apart by cells: the square of so many, and more where nodes are many.
_SIDE: Final = 4
_SLOPE: Final = 5
_MAX_SIDE: Final = 16
# A sieve has no more lines than these: it lets through what others would hold back.
_MAX_LINES: Final = 64
# Room for so many nodes more than there are, at least.
_ROOM: Final = 16
# How many shapes of items are remembered.
_MANY: Final = 4096
# So many bits are written, or looked through, at a time.
_PIECE: Final = 1024
_PIECE_MASK: Final = (1 << _PIECE) - 1
_SERIAL: Final = attrgetter("serial")


#: Low ends, high ends with a minus, and the places of the nodes that have them.
_Columns: TypeAlias = tuple[list[float], list[float], list[int]]
_NOTHING: Final[_Columns] = ([], [], [])


class _Rank:
    """Which nodes have a smaller number: by cells, of about as many nodes each, in blocks.

    A mask for each block holds the nodes in all blocks before it, and one for each cell those in
    the cells before it in its block. So a question takes two masks, and of many cells a node that
    comes changes few. Where numbers come that are greater than all others, or less, as they do in
    order of time, there are more cells at the ends.
    """

    __slots__ = (
        "_blocks", "_bounds", "_cells", "_in_first", "_in_last", "_least", "_most", "_share",
        "_side", "_skipped",
    )  # fmt: skip

    def __init__(
        self, values: Sequence[float] = (), places: Sequence[int] = (), side: int = 1
    ) -> None:
        count = side * side
        some = sorted(values)
        # Where the cells end, all but the last one.
        self._bounds = sorted({some[len(some) * i // count] for i in range(1, count) if some})
        # As many cells in a block as there are blocks at first; how many were not used yet, before
        # the first one.
        self._side = side
        self._skipped = 0
        members: list[list[int]] = [[] for _ in range(side * (side + 1))]
        for value, place in zip(values, places, strict=True):
            cell = bisect_right(self._bounds, value)
            members[cell + cell // side + 1].append(place)
        # In each block: nothing before its first cell, and at its end the whole block.
        self._cells: list[int] = []
        # Behind the last block: everything.
        self._blocks = [0]
        for start in range(0, len(members), side + 1):
            block = list(accumulate(map(_mask, members[start : start + side + 1]), or_))
            self._cells += block
            self._blocks.append(self._blocks[-1] | block[-1])
        # How many nodes should be in a cell, and how many came to the cells at the ends.
        self._share = len(values) // count + 8
        self._in_first = self._in_last = 0
        self._least, self._most = (some[0], some[-1]) if some else (inf, -inf)

    def everything(self) -> int:
        """Return all nodes."""
        return self._blocks[-1]

    def before(self, value: float) -> int:
        """Return the nodes in cells before that of a value: all of these have a smaller one."""
        cell = bisect_right(self._bounds, value) + self._skipped
        block = cell // self._side
        return self._blocks[block] | self._cells[cell + block]

    def upto(self, value: float) -> int:
        """Return the nodes in cells up to that of a value: no other has one that is not greater."""
        cell = bisect_right(self._bounds, value) + self._skipped
        block = cell // self._side
        return self._blocks[block] | self._cells[cell + block + 1]

    def add(self, value: float, bit: int) -> None:
        """Take a node in."""
        if not self._least <= value <= self._most:
            self._extend(value)
        cells, blocks, side = self._cells, self._blocks, self._side
        cell = bisect_right(self._bounds, value) + self._skipped
        block = cell // side
        for i in range(cell + block + 1, (block + 1) * (side + 1)):
            cells[i] |= bit
        for i in range(block + 1, len(blocks)):
            blocks[i] |= bit

    def _extend(self, value: float) -> None:
        """Make a new cell for a value beyond all others, if enough of them have come."""
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


class _Ends:
    """The nodes by both ends of their boxes on a line, and those that have none there.

    What lies in one point, as equalities do, is also found by that: of thousands of points no cells
    would leave few.
    """

    __slots__ = ("_all_points", "_high", "_low", "_points", "lacking")

    def __init__(self, lacking: int, columns: _Columns = _NOTHING, side: int = 1) -> None:
        lows, highs, places = columns
        self.lacking = lacking
        self._low = _Rank(lows, places, side)
        self._high = _Rank(highs, places, side)
        #: Value -> the places of the nodes that ask for it alone.
        self._points: dict[float, list[int]] = {}
        for low, high, place in zip(lows, highs, places, strict=True):
            if low == -high:
                self._points.setdefault(low, []).append(place)
        self._all_points = _mask(list(chain.from_iterable(self._points.values())))

    def add(self, low: float, high: float, place: int) -> None:
        """Take a node in, by the ends of its box: the low one, and the high one with a minus."""
        bit = 1 << place
        self._low.add(low, bit)
        self._high.add(high, bit)
        if low == -high:
            self._points.setdefault(low, []).append(place)
            self._all_points |= bit

    def around(self, low: float, high: float) -> int:
        """Return the nodes that may be around an interval, or have none here."""
        found = self._low.upto(low) & self._high.upto(high)
        if self._all_points:
            found &= ~self._all_points
            if low == -high:
                found |= _mask(self._points.get(low, []))
        return found | self.lacking

    def inside(self, low: float, high: float) -> int:
        """Return the nodes that may be inside an interval."""
        if low == -high:
            return _mask(self._points.get(low, []))
        return self._low.everything() & ~(self._low.before(low) | self._high.before(high))


class _Plan(NamedTuple):
    """Where the ends of a shape are looked up."""

    #: What there is for its lines, and the number of the first end of each.
    within: list[tuple[_Ends, int]]
    #: What there is for other lines.
    others: list[_Ends]
    #: Whether it asks for something that no node asks for.
    is_alone: bool


class Sieve:
    """Nodes of which those that cover an item, or are covered by it, are to be found.

    Each node is a bit. On each line the nodes are sorted, coarsely, by both ends of their boxes:
    only what is in the right cells at every end may be comparable with an item, and whoever asks
    holds the item against that. Nodes that go leave their places to themselves, in case that they
    come back. When there are twice as many places as there were nodes, those that are there close
    up, and the cells are chosen anew.
    """

    __slots__ = (
        "_boxed", "_boxless", "_count", "_late", "_lines", "_newest", "_nodes", "_places",
        "_plans", "_room",
    )  # fmt: skip

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._lay_out(nodes)

    def __len__(self) -> int:
        return self._count

    @property
    def boxless(self) -> int:
        """How many nodes are let through without a look."""
        return self._boxless.bit_count()

    # -- changing ----------------------------------------------------------------------------------

    def _lay_out(self, nodes: Iterable[Node]) -> None:
        #: By place, which is the number of the bit.
        self._nodes = sorted(nodes, key=_SERIAL)
        self._places = dict(zip(self._nodes, range(len(self._nodes)), strict=True))
        self._room = 2 * len(self._nodes) + _ROOM
        self._count = len(self._nodes)
        #: The nodes that came out of order: those are few, orphans and what an undo brings back.
        self._late = 0
        self._newest = self._nodes[-1].serial if self._nodes else -1
        boxless = []
        by_shape: dict[Shape, list[int]] = {}
        for node, place in self._places.items():
            if node.box is None:
                boxless.append(place)
            else:
                by_shape.setdefault(node.box[5], []).append(place)
        found: dict[Line, _Columns] = {}
        for shape, its in by_shape.items():
            rows = list(zip(*(ends(self._nodes[place].box) for place in its), strict=True))
            for i, line in enumerate(shape.lines):
                lows, highs, places = found.setdefault(line, ([], [], []))
                lows += rows[2 * i]
                highs += rows[2 * i + 1]
                places += its
        everything = (1 << len(self._nodes)) - 1
        side = min(_SIDE + isqrt(len(self._nodes)) // _SLOPE, _MAX_SIDE)
        self._lines = {
            line: _Ends(everything ^ _mask(columns[2]), columns, side)
            for line, columns in list(found.items())[:_MAX_LINES]
        }
        #: The nodes with and without a box that are still there.
        self._boxless = _mask(boxless)
        self._boxed = everything ^ self._boxless
        self._plans: dict[Shape, _Plan] = {}

    def add(self, node: Node) -> None:
        """Take a node in; O(1) for one that comes back, otherwise O(lines), amortised.

        As everything here, in operations on numbers of as many bits as there are places.
        """
        place = self._places.get(node)
        if place is None:
            if len(self._nodes) == self._room:
                self._lay_out([*self._here(), node])
                return
            place = self._enter(node)
        self._count += 1
        if node.box is None:
            self._boxless |= 1 << place
        else:
            self._boxed |= 1 << place

    def remove(self, node: Node) -> None:
        """Let a node go; O(1), amortised."""
        bit = 1 << self._places[node]
        self._boxless &= ~bit
        self._boxed &= ~bit
        self._count -= 1
        if len(self._nodes) > 4 * self._count + _ROOM:
            # Those that have gone are not kept for long.
            self._lay_out(self._here())

    def _here(self) -> list[Node]:
        return list(self._at(self._boxed | self._boxless))

    def _enter(self, node: Node) -> int:
        """Make a place for a node."""
        place = len(self._nodes)
        if node.box is not None:
            shape, its = node.box[5], ends(node.box)
            if self._plan(shape).is_alone:
                self._add_lines(shape)
            within, others, _ = self._plan(shape)
            for known, i in within:
                known.add(its[i], its[i + 1], place)
            for known in others:
                known.lacking |= 1 << place
        if node.serial < self._newest:
            self._late |= 1 << place
        else:
            self._newest = node.serial
        self._nodes.append(node)
        self._places[node] = place
        return place

    def _add_lines(self, shape: Shape) -> None:
        everything = (1 << len(self._nodes)) - 1
        for line in shape.lines:
            if line not in self._lines and len(self._lines) < _MAX_LINES:
                self._lines[line] = _Ends(everything)
        self._plans.clear()

    # -- asking ------------------------------------------------------------------------------------

    def above(self, box: Box) -> Iterator[Node]:
        """Return the nodes that may cover an item with a box, in order."""
        shape = box[5]
        within, others, _ = self._plans.get(shape) or self._plan(shape)
        # The ends of the first two lines are where a box begins.
        its: Sequence[Any] = box if len(shape.lines) <= 2 else ends(box)
        left = self._boxed
        for known in others:
            left &= known.lacking
        for known, i in within:
            left &= known.around(its[i], its[i + 1])
        return self._at(left | self._boxless)

    def below(self, box: Box) -> Iterator[Node]:
        """Return the nodes that an item with a box may cover, in order."""
        shape = box[5]
        within, _, is_alone = self._plans.get(shape) or self._plan(shape)
        its: Sequence[Any] = box if len(shape.lines) <= 2 else ends(box)
        left = 0 if is_alone else self._boxed
        for known, i in within:
            left &= known.inside(its[i], its[i + 1])
        return self._at(left | self._boxless)

    def _at(self, bits: int) -> Iterator[Node]:
        """Return the nodes of some bits, in order."""
        late = bits & self._late
        if not late:
            return _picked(self._nodes, bits)
        found = sorted(_picked(self._nodes, late), key=_SERIAL)
        return merge(_picked(self._nodes, bits ^ late), found, key=_SERIAL)

    def _plan(self, shape: Shape) -> _Plan:
        plan = self._plans.get(shape)
        if plan is None:
            if len(self._plans) >= _MANY:
                self._plans.clear()
            lines = self._lines
            within = [(lines[line], 2 * i) for i, line in enumerate(shape.lines) if line in lines]
            others = [known for line, known in lines.items() if line not in shape.lines]
            missing = len(within) < len(shape.lines)
            plan = _Plan(within, others, missing and len(lines) < _MAX_LINES)
            self._plans[shape] = plan
        return plan


def _mask(places: list[int]) -> int:
    """Return places as bits."""
    last = max(places, default=0)
    if last < _PIECE:
        mask = 0
        for place in places:
            mask |= 1 << place
        return mask
    # A long number would be written anew for each of them.
    packed = bytearray(last // 8 + 1)
    for place in places:
        packed[place // 8] |= 1 << place % 8
    return int.from_bytes(packed, "little")


def _picked(nodes: list[Node], bits: int) -> Iterator[Node]:
    # Piece by piece: to take the lowest bit out of a number takes the longer, the longer it is.
    for start in range(0, bits.bit_length(), _PIECE):
        piece = bits >> start & _PIECE_MASK
        while piece:
            lowest = piece & -piece
            piece ^= lowest
            yield nodes[start + lowest.bit_length() - 1]

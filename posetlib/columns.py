"""Nodes as columns of numpy: who contains a box, and what lies in it, among many in one sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from posetlib.boxes import Shape, ends
from posetlib.change import Item
from posetlib.nodes import Node
from posetlib.relation import Probe

__all__ = ["Block", "Columns", "Places"]

Places = NDArray[np.intp]
Column = NDArray[np.float64]
Ends = NDArray[np.float64]
Sweep = Callable[[Any, Any], Any]

# So few nodes are asked one by one, where a sweep over columns would take longer to start.
_FEW: Final = 8
# How many nodes at a time leave out all that they cover, or all that cover them.
_PIVOTS: Final = 8
_SERIAL: Final = attrgetter("serial")
_NOWHERE: Final[Places] = np.empty(0, dtype=np.intp)


class Block:
    """Nodes of one shape, with a column of box ends for each, in the order in which they came.

    A node that goes leaves a hole behind, a column of NaN, which compares with nothing; when there
    are more holes than nodes, the nodes close up.
    """

    __slots__ = ("_ends", "_items", "_nodes", "_ordered", "_places", "_used", "shape")

    _ends: Ends
    _nodes: NDArray[np.object_]
    _items: NDArray[np.object_]
    _places: dict[Node, int]
    #: How many places were ever used.
    _used: int
    #: Whether the nodes came in the order of their serials: they do, unless some came back.
    _ordered: bool

    def __init__(self, shape: Shape, nodes: Sequence[Node]) -> None:
        self.shape = shape
        nodes = sorted(nodes, key=_SERIAL)
        self._lay_out(nodes, np.array([ends(node.box) for node in nodes]).T)

    def __len__(self) -> int:
        return len(self._places)

    # -- changing ----------------------------------------------------------------------------------

    def add(self, node: Node) -> None:
        """Take a node in; O(1) amortised."""
        if self._used == len(self._nodes):
            self._close_up()
        place = self._used
        if self._ordered and self._places:
            self._ordered = next(reversed(self._places)).serial < node.serial
        self._ends[:, place] = ends(node.box)
        self._nodes[place] = node
        self._items[place] = node.item
        self._places[node] = place
        self._used = place + 1

    def remove(self, node: Node) -> None:
        """Let a node go; O(1) amortised."""
        place = self._places.pop(node)
        self._ends[:, place] = np.nan
        self._nodes[place] = self._items[place] = None
        if self._used > 2 * len(self._places) + _FEW:
            self._close_up()

    def _close_up(self) -> None:
        kept = sorted(self._places, key=_SERIAL)
        self._lay_out(kept, self._ends[:, [self._places[node] for node in kept]])

    def _lay_out(self, nodes: list[Node], columns: Ends) -> None:
        used = len(nodes)
        size = 2 * used + _FEW
        self._ends = np.empty((self.shape.rows, size))
        self._ends[:, :used] = columns
        self._nodes = np.empty(size, dtype=object)
        self._nodes[:used] = nodes
        self._items = np.empty(size, dtype=object)
        self._items[:used] = [node.item for node in nodes]
        self._ordered = True
        self._places = dict(zip(nodes, range(used), strict=True))
        self._used = used

    # -- asking ------------------------------------------------------------------------------------

    def outside(self, shape: Shape, column: Column) -> Places:
        """Return the places of the boxes that contain a box."""
        overlay = self.shape.over(shape)
        if overlay is None:
            return _NOWHERE
        return self._sweep(np.less_equal, column, overlay.outer, overlay.inner)

    def inside(self, shape: Shape, column: Column) -> Places:
        """Return the places of the boxes that lie in a box."""
        overlay = shape.over(self.shape)
        if overlay is None:
            return _NOWHERE
        return self._sweep(np.greater_equal, column, overlay.inner, overlay.outer)

    def _sweep(
        self, compare: Sweep, column: Column, mine: Sequence[int], theirs: Sequence[int]
    ) -> Places:
        used = self._used
        if mine is theirs:
            rows = compare(self._ends[:, :used], column)
            return np.logical_and.reduce(rows).nonzero()[0]  # type: ignore[no-any-return]
        if not mine:
            return np.fromiter(self._places.values(), dtype=np.intp, count=len(self._places))
        pairs = zip(mine, theirs, strict=True)
        row, its = next(pairs)
        good = compare(self._ends[row, :used], column[its])
        for row, its in pairs:
            good &= compare(self._ends[row, :used], column[its])
        return good.nonzero()[0]  # type: ignore[no-any-return]

    def nodes_at(self, places: Places) -> list[Node]:
        """Return the nodes at some places."""
        return self._nodes[places].tolist()  # type: ignore[no-any-return]

    def items_outside(self, column: Column, own: Node | None) -> tuple[Item, ...]:
        """Return the items whose boxes contain a box, but that of one node, in order of insertion.

        For boxes of this shape.
        """
        self._put_in_order()
        return self._items_at(self.outside(self.shape, column), own)

    def items_inside(self, column: Column, own: Node | None) -> tuple[Item, ...]:
        """Return the items whose boxes lie in a box, but that of one node, in order of insertion.

        For boxes of this shape.
        """
        self._put_in_order()
        return self._items_at(self.inside(self.shape, column), own)

    def _items_at(self, places: Places, own: Node | None) -> tuple[Item, ...]:
        items: list[Item] = self._items[places].tolist()
        if own is not None:
            del items[places.searchsorted(self._places[own])]
        return tuple(items)

    def _put_in_order(self) -> None:
        if not self._ordered:
            self._close_up()

    def column_of(self, node: Node) -> Column:
        """Return the column of a node."""
        return self._ends[:, self._places[node], None]

    def lowest(self, places: Places) -> Places:
        """Return those of some places whose boxes contain none of the others."""
        columns = self._ends[:, places]
        order = np.argsort(-columns.sum(axis=0))
        return places[np.sort(_extremes(columns, order, np.less_equal))]

    def highest(self, places: Places) -> Places:
        """Return those of some places whose boxes lie in none of the others."""
        columns = self._ends[:, places]
        order = np.argsort(columns.sum(axis=0))
        return places[np.sort(_extremes(columns, order, np.greater_equal))]

    def contains(self, outer: Sequence[Node], inner: Sequence[Node]) -> NDArray[np.bool_]:
        """Return whose boxes contain whose: a row for each outer node, in it each inner one."""
        places = self._places
        above = self._ends[:, [places[node] for node in outer]]
        below = self._ends[:, [places[node] for node in inner]]
        return np.logical_and.reduce(above[:, :, None] <= below[:, None, :])  # type: ignore[no-any-return]


def _extremes(columns: Ends, order: Places, beyond: Sweep) -> Places:
    """Return the places of the columns that have no other one beyond them.

    ``order`` begins with those that have probably none: a few of them leave out most others, and
    what is left out need not be asked.
    """
    found: list[Places] = []
    while len(order):
        pivots, order = order[:_PIVOTS], order[_PIVOTS:]
        found.append(pivots)
        out = _any_beyond(columns[:, order], columns[:, pivots], beyond)
        order = order[~out]
    # Among those that were asked together, or were out of order, some may still be beyond others.
    last = np.concatenate(found) if found else order
    asked = columns[:, last]
    same = np.logical_and.reduce(asked[:, :, None] == asked[:, None, :])
    beyond_others = np.logical_and.reduce(beyond(asked[:, :, None], asked[:, None, :]))
    return last[~np.logical_or.reduce(beyond_others & ~same, axis=1)]  # type: ignore[no-any-return]


def _any_beyond(columns: Ends, pivots: Ends, beyond: Sweep) -> NDArray[np.bool_]:
    """Return for each column whether one of some pivots is beyond it."""
    return np.logical_or.reduce(  # type: ignore[no-any-return]
        np.logical_and.reduce(beyond(columns[:, None, :], pivots[:, :, None]))
    )


class Columns:
    """Nodes of any shapes, in blocks; those without a box are kept aside and asked one by one.

    Answers are nodes, and exact: where a box is a hull, the item is held against the node itself.
    """

    __slots__ = ("_blocks", "_boxless")

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._blocks: dict[Shape, Block] = {}
        self._boxless: dict[Node, None] = {}
        by_shape: dict[Shape, list[Node]] = {}
        for node in nodes:
            if node.box is None:
                self._boxless[node] = None
            else:
                by_shape.setdefault(node.box[5], []).append(node)
        for shape, members in by_shape.items():
            self._blocks[shape] = Block(shape, members)

    def add(self, node: Node) -> None:
        """Take a node in; O(1) amortised."""
        if node.box is None:
            self._boxless[node] = None
            return
        block = self._blocks.get(node.box[5])
        if block is None:
            self._blocks[node.box[5]] = Block(node.box[5], [node])
        else:
            block.add(node)

    def remove(self, node: Node) -> None:
        """Let a node go; O(1) amortised."""
        if node.box is None:
            del self._boxless[node]
            return
        block = self._blocks[node.box[5]]
        block.remove(node)
        if not len(block):
            del self._blocks[node.box[5]]

    def sole(self, shape: Shape) -> Block | None:
        """Return the block of an exact shape if it holds all the nodes there are."""
        if shape.exact and not self._boxless and len(self._blocks) == 1:
            return self._blocks.get(shape)
        return None

    def __len__(self) -> int:
        return sum(map(len, self._blocks.values())) + len(self._boxless)

    def first_above(self, probe: Probe) -> Node | None:
        """Return the node of least serial that covers an item with a box."""
        block = self.sole(probe.box[5])
        if block is None:
            return min(self.above(probe), key=_SERIAL, default=None)
        places = block.outside(block.shape, probe.column)
        if len(places) > 1:
            return min(block.nodes_at(places), key=_SERIAL)
        return block.nodes_at(places)[0] if len(places) else None

    def above(self, probe: Probe) -> list[Node]:
        """Return the nodes that cover an item with a box."""
        found = [node for node in self._boxless if probe.above(node)]
        mine = probe.box[5]
        for shape, block in self._blocks.items():
            places = block.outside(mine, probe.column)
            if len(places):
                nodes = block.nodes_at(places)
                found += nodes if shape.exact and mine.exact else filter(probe.above, nodes)
        return found

    def below(self, probe: Probe) -> list[Node]:
        """Return the nodes that an item with a box covers."""
        found = [node for node in self._boxless if probe.below(node)]
        mine = probe.box[5]
        for shape, block in self._blocks.items():
            places = block.inside(mine, probe.column)
            if len(places):
                nodes = block.nodes_at(places)
                found += nodes if shape.exact and mine.exact else filter(probe.below, nodes)
        return found

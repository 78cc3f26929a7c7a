"""Nodes as columns of numpy: who contains a box, and what lies in it, among many in one sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posetlib.boxes import UNBOUND, Box, Line, Shape, ends
from posetlib.change import Item
from posetlib.nodes import Node
from posetlib.relation import Probe

__all__ = ["Columns", "Ends", "upright"]

Places = NDArray[np.intp]
#: The ends of a box in the rows of some columns, upright.
Column = NDArray[np.float64]
Ends = NDArray[np.float64]
Sweep = Callable[[Any, Any], Any]

# Room for so many nodes more than there are, at least.
_ROOM: Final = 8
# Nodes that would need more lines than these, in all, are not taken in.
_MAX_LINES: Final = 64
# How many nodes at a time leave out all that they cover, or all that cover them.
_PIVOTS: Final = 8
# How many shapes of items are remembered.
_MANY: Final = 4096
_SERIAL: Final = attrgetter("serial")
_NOWHERE: Final[Places] = np.empty(0, dtype=np.intp)


class _View(NamedTuple):
    """How a box is brought into rows: which rows it has, and its ends for these."""

    rows: Places
    ends: Places
    #: Whether there are rows for all ends, and whether the ends are the rows as they are.
    complete: bool
    straight: bool


def upright(boxes: Sequence[Box], rows: Mapping[Line, int]) -> Ends:
    """Return a column for each box, in rows that two by two belong to a line; O(n)."""
    by_shape: dict[Shape, list[int]] = {}
    for i, box in enumerate(boxes):
        by_shape.setdefault(box[5], []).append(i)
    columns = np.full((2 * len(rows), len(boxes)), UNBOUND)
    for shape, members in by_shape.items():
        some = np.array([ends(boxes[i]) for i in members])
        its = [row for line in shape.lines for row in (rows[line], rows[line] + 1)]
        columns[np.array(its, dtype=np.intp)[:, None], members] = some.T
    return columns


class Columns:
    """Nodes, with a column of box ends for each, in the order in which they came.

    There are two rows for each line on which one of the boxes has an interval. Where a box has
    none, its rows are unbound; so a box contains another one exactly if no row of it is greater. A
    node that goes leaves a hole behind, a column of NaN, which compares with nothing; when there
    are more holes than nodes, the nodes close up.

    Only nodes with exact boxes are taken in, so that what is found need not be asked. The others
    are counted: with one of these among the nodes, the columns do not say all.
    """

    __slots__ = (
        "_ends", "_inexact", "_items", "_nodes", "_ordered", "_places", "_rows", "_used", "_views",
    )  # fmt: skip

    _ends: Ends
    _nodes: NDArray[np.object_]
    _items: NDArray[np.object_]
    _places: dict[Node, int]
    #: How many places were ever used.
    _used: int
    #: Whether the nodes came in the order of their serials: they do, unless some came back.
    _ordered: bool

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        #: Line -> the first of its two rows.
        self._rows: dict[Line, int] = {}
        #: Shape -> how to bring its ends into the rows that there are.
        self._views: dict[Shape, _View] = {}
        #: How many nodes were not taken in.
        self._inexact = 0
        self._ends = np.empty((0, 0))
        self._nodes = np.empty(0, dtype=object)
        exact = [node for node in sorted(nodes, key=_SERIAL) if self._finds_rows(node)]
        self._lay_out(exact, upright([node.box for node in exact], self._rows))

    def say_all(self) -> bool:
        """Return whether all nodes are here."""
        return not self._inexact

    # -- changing ----------------------------------------------------------------------------------

    def add(self, node: Node) -> None:
        """Be told that a node came; O(1) amortised."""
        if not self._finds_rows(node):
            return
        if self._used == len(self._nodes):
            self._close_up()
        place = self._used
        if self._ordered and self._places:
            self._ordered = next(reversed(self._places)).serial < node.serial
        view = self._view(node.box[5])
        if view.straight:
            self._ends[:, place] = ends(node.box)
        else:
            self._ends[:, place] = UNBOUND
            self._ends[view.rows, place] = ends(node.box)
        self._nodes[place] = node
        self._items[place] = node.item
        self._places[node] = place
        self._used = place + 1

    def remove(self, node: Node) -> None:
        """Be told that a node went; O(1) amortised."""
        place = self._places.pop(node, None)
        if place is None:
            self._inexact -= 1
            return
        self._ends[:, place] = np.nan
        self._nodes[place] = self._items[place] = None
        if self._used > 2 * len(self._places) + _ROOM:
            self._close_up()

    def _finds_rows(self, node: Node) -> bool:
        """Find the rows for the box of a node; if there are none, it is one of the others."""
        if node.box is not None and node.box[5].exact:
            shape = node.box[5]
            if self._view(shape).complete:
                return True
            new = [line for line in shape.lines if line not in self._rows]
            if len(self._rows) + len(new) <= _MAX_LINES:
                self._add_rows(new)
                return True
        self._inexact += 1
        return False

    def _add_rows(self, lines: list[Line]) -> None:
        for line in lines:
            self._rows[line] = 2 * len(self._rows)
        more = np.full((2 * len(lines), self._ends.shape[1]), UNBOUND)
        more[:, [node is None for node in self._nodes]] = np.nan
        self._ends = np.concatenate([self._ends, more])
        self._views.clear()

    def _close_up(self) -> None:
        kept = sorted(self._places, key=_SERIAL)
        self._lay_out(kept, self._ends[:, [self._places[node] for node in kept]])

    def _lay_out(self, nodes: list[Node], columns: Ends) -> None:
        used = len(nodes)
        size = 2 * used + _ROOM
        self._ends = np.empty((len(columns), size))
        self._ends[:, :used] = columns
        self._nodes = np.empty(size, dtype=object)
        self._nodes[:used] = nodes
        self._items = np.empty(size, dtype=object)
        self._items[:used] = [node.item for node in nodes]
        self._places = dict(zip(nodes, range(used), strict=True))
        self._used = used
        self._ordered = True

    # -- asking ------------------------------------------------------------------------------------

    def above(self, probe: Probe) -> list[Node]:
        """Return the nodes that cover an item."""
        return self._nodes[self._outside(probe)].tolist()  # type: ignore[no-any-return]

    def below(self, probe: Probe) -> list[Node]:
        """Return the nodes that an item covers."""
        return self._nodes[self._inside(probe)].tolist()  # type: ignore[no-any-return]

    def _outside(self, probe: Probe) -> Places:
        """Return the places of the boxes that contain that of an item."""
        return self._sweep(np.less_equal, self._column(probe))

    def _inside(self, probe: Probe) -> Places:
        """Return the places of the boxes that lie in that of an item."""
        view = self._view(probe.box[5])
        if view.straight:
            return self._sweep(np.greater_equal, probe.column)
        if not view.complete:
            # Something is asked that no node here asks for.
            return _NOWHERE
        # What is unbound lies below everything: other rows need no look.
        return self._sweep(np.greater_equal, probe.column, view.rows)

    def _sweep(self, compare: Sweep, column: Column, rows: Places | None = None) -> Places:
        """Return the places of the columns that compare well with one, in some rows or in all."""
        if not len(column):
            return np.array(sorted(self._places.values()), dtype=np.intp)
        some = self._ends[:, : self._used] if rows is None else self._ends[rows, : self._used]
        return np.logical_and.reduce(compare(some, column)).nonzero()[0]  # type: ignore[no-any-return]

    def _column(self, probe: Probe) -> Column:
        """Return the box of an item in the rows that there are, upright."""
        shape = probe.box[5]
        view = self._views.get(shape) or self._view(shape)
        if view.straight:
            return probe.column
        column = np.full((len(self._ends), 1), UNBOUND)
        column[view.rows] = probe.column[view.ends]
        return column

    def _view(self, shape: Shape) -> _View:
        view = self._views.get(shape)
        if view is None:
            rows: list[int] = []
            picked: list[int] = []
            for i, line in enumerate(shape.lines):
                start = self._rows.get(line)
                if start is not None:
                    rows += (start, start + 1)
                    picked += (2 * i, 2 * i + 1)
            if len(self._views) >= _MANY:
                self._views.clear()
            complete = len(rows) == 2 * len(shape.lines)
            view = self._views[shape] = _View(
                np.array(rows, dtype=np.intp),
                np.array(picked, dtype=np.intp),
                complete,
                complete and rows == list(range(2 * len(self._rows))),
            )
        return view

    def covering_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return the items that cover an item, but that of a node, in order of insertion."""
        return self._items_at(self._outside(probe), own)

    def covered_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return the items that an item covers, but that of a node, in order of insertion."""
        return self._items_at(self._inside(probe), own)

    def _items_at(self, places: Places, own: Node | None) -> tuple[Item, ...]:
        if not self._ordered:
            nodes: list[Node] = sorted(self._nodes[places].tolist(), key=_SERIAL)
            return tuple(node.item for node in nodes if node is not own)
        items: list[Item] = self._items[places].tolist()
        if own is not None:
            del items[places.searchsorted(self._places[own])]
        return tuple(items)

    def neighbours(self, probe: Probe) -> tuple[list[Node], list[Node], list[Node]]:
        """Return the nodes next above an item, those next below it, and all above it."""
        above, below = self._outside(probe), self._inside(probe)
        return (
            self._nodes[self._lowest(above)].tolist(),
            self._nodes[self._highest(below)].tolist(),
            self._nodes[above].tolist(),
        )

    def strictly_above(self, node: Node) -> list[Node]:
        """Return the other nodes whose boxes contain that of a node."""
        return self._others(np.less_equal, node)

    def strictly_below(self, node: Node) -> list[Node]:
        """Return the other nodes whose boxes lie in that of a node."""
        return self._others(np.greater_equal, node)

    def _others(self, compare: Sweep, node: Node) -> list[Node]:
        places = self._sweep(compare, self._ends[:, self._places[node], None])
        return [each for each in self._nodes[places].tolist() if each is not node]

    def contains(self, outer: Sequence[Node], inner: Sequence[Node]) -> NDArray[np.bool_]:
        """Return whose boxes contain whose: a row for each outer node, in it each inner one."""
        places = self._places
        above = self._ends[:, [places[node] for node in outer]]
        below = self._ends[:, [places[node] for node in inner]]
        return np.logical_and.reduce(above[:, :, None] <= below[:, None, :])  # type: ignore[no-any-return]

    def _lowest(self, places: Places) -> Places:
        """Return those of some places whose boxes contain none of the others."""
        columns = self._ends[:, places]
        order = np.argsort(-_sizes(columns))
        return places[np.sort(_extremes(columns, order, np.less_equal))]

    def _highest(self, places: Places) -> Places:
        """Return those of some places whose boxes lie in none of the others."""
        columns = self._ends[:, places]
        order = np.argsort(_sizes(columns))
        return places[np.sort(_extremes(columns, order, np.greater_equal))]


def _sizes(columns: Ends) -> Ends:
    """Return a number for each column, never greater than that of one inside it."""
    with np.errstate(over="ignore"):  # ends without limit are large
        return columns.sum(axis=0)  # type: ignore[no-any-return]


def _extremes(columns: Ends, order: Places, beyond: Sweep) -> Places:
    """Return the places of the columns that have no other one beyond them.

    ``order`` begins with those that have probably none: a few of them leave out most others, and
    what is left out need not be asked.
    """
    found: list[Places] = []
    while len(order):
        pivots, order = order[:_PIVOTS], order[_PIVOTS:]
        found.append(pivots)
        out = beyond(columns[:, None, order], columns[:, pivots, None])
        order = order[~np.logical_or.reduce(np.logical_and.reduce(out))]
    # Of those that were asked together, or out of order, some may still be beyond others.
    asked = np.concatenate(found) if found else order
    pairs = beyond(columns[:, asked, None], columns[:, None, asked])
    out = np.logical_and.reduce(pairs)
    np.fill_diagonal(out, val=False)
    return asked[~np.logical_or.reduce(out, axis=1)]  # type: ignore[no-any-return]

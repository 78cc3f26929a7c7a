"""The box matrix: the boxes of many nodes in one numpy array, compared with a box in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from struct import pack
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import ObjectArray, as_objects
from posetlib.graph.change import Item
from posetlib.graph.nodes import Node
from posetlib.search.boxes import LARGEST, UNBOUND, Axis, Box, PartAxis, Shape, inner_ends
from posetlib.search.probe import Probe

__all__ = ["BoxMatrix", "EndMatrix", "upright"]

#: Numbers of columns of the matrix, or of rows.
Places = NDArray[np.intp]
#: The ends of one box as an array of one column.
Column = NDArray[np.float64]
_ShapeT = TypeVar("_ShapeT", Shape, Shape | None)
#: The numbers of the boxes of each shape, in order.
_ByShape = dict[_ShapeT, Sequence[int]]
#: The ends of boxes, a column for each.
EndMatrix = NDArray[np.float64]
#: ``np.less_equal`` or ``np.greater_equal``.
Comparison = Callable[[Any, Any], Any]

# Free columns of a new matrix beyond twice its nodes, so that a small one is not made anew after
# every few adds.
_ROOM: Final = 8
# Axes of a matrix at most, to bound its memory. A node with a further axis is not taken in.
_MAX_AXES: Final = 64
# A matrix of more axes than this, and of more ends altogether, is wide: sweeps take long.
_NARROW: Final = 4
_LONG_SWEEP: Final = 2_000
# Boxes that are read together: slot after slot, they and their ends are in the processor's caches.
_BLOCK: Final = 512
# The ends of a box that have slots of their own.
_SLOTS: Final = 4
# Boxes with which all others are compared at a time, to exclude many of them (see ``_extremes``).
_PIVOTS: Final = 8
# Shapes of which the view is remembered. When there are more, all views are forgotten.
_MAX_VIEWS: Final = 4096
_SERIAL: Final = attrgetter("serial")
_NO_PLACES: Final[Places] = np.empty(0, dtype=np.intp)


class _View(NamedTuple):
    """How the ends of boxes of one shape are written into the rows of the matrix."""

    #: The rows of the shape's axes, as far as the matrix has them.
    rows: Places
    #: For each of these rows the index of its end in ``Box.ends``, or beyond these in
    #: ``inner_ends``.
    ends: Places
    #: The same for a box that is to contain others. Where no node has an open end, there are no
    #: rows for inner ends, and the nodes' ends are not less than the inner ends of the box.
    outer_ends: Places
    #: Whether the matrix has rows for all axes of the shape.
    complete: bool
    #: Whether the ends of the box are all rows of the matrix, in the same order.
    straight: bool


def upright(boxes: Sequence[Box], rows: Mapping[Axis, int]) -> EndMatrix:
    """Return a matrix with a column for each box; O(n).

    ``rows`` has the first of the two rows of each axis: for the low end, and for the negated high
    end. Where a box has no interval on an axis, both are ``UNBOUND``. An ``_Inner`` axis has the
    inner ends on its axis.
    """
    return _upright(boxes, _by_shape([box.shape for box in boxes]), rows)


def _upright(
    boxes: Sequence[Box], by_shape: _ByShape[Shape], rows: Mapping[Axis, int]
) -> EndMatrix:
    """Return the same for boxes of which it is known which of them have which shape."""
    size = 2 * len(rows)
    columns: EndMatrix | None = None
    for shape, members in by_shape.items():
        its, ends, _ = _rows_of(shape, rows)
        are_all = len(members) == len(boxes)
        some = _end_rows(boxes if are_all else [boxes[i] for i in members], shape)
        if max(ends, default=0) >= len(some):
            some = _with_inner_ends(some, shape)
        elif are_all and its == ends == list(range(size)):
            return some
        if columns is None:
            columns = np.full((size, len(boxes)), UNBOUND)
        columns[np.array(its, dtype=np.intp)[:, None], members] = some[ends]
    return np.full((size, len(boxes)), UNBOUND) if columns is None else columns


def _by_shape(shapes: Sequence[_ShapeT]) -> _ByShape[_ShapeT]:
    """Return the numbers of the boxes of each shape."""
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return {shapes[0]: range(len(shapes))}
    members: dict[_ShapeT, list[int]] = {}
    for i, shape in enumerate(shapes):
        members.setdefault(shape, []).append(i)
    return dict(members)


class _Inner(NamedTuple):
    """The axis for the inner ends on another axis, where a box has an open end."""

    axis: Axis


def _all_ends(box: Box) -> tuple[float, ...]:
    """Return the ends of a box, then its inner ends, and last the ends on the wholes of its axes.

    There it has no limit.
    """
    return (*box.ends(), *inner_ends(box), -LARGEST)


def _end_rows(boxes: Sequence[Box], shape: Shape) -> EndMatrix:
    """Return the ends of boxes of one shape, a column for each."""
    size = 2 * len(shape.axes)
    made = np.empty((size, len(boxes)))
    for start in range(0, len(boxes), _BLOCK):
        some = boxes[start : start + _BLOCK]
        # Slot by slot: that takes half the time of an array of the tuples of ends.
        slots = (
            [box.low for box in some],
            [box.minus_high for box in some],
            [box.low2 for box in some],
            [box.minus_high2 for box in some],
        )
        for row, ends in zip(made, slots, strict=False):
            # In half the time that numpy needs to look at each of them.
            row[start : start + _BLOCK] = np.frombuffer(pack(f"{len(some)}d", *ends))
    if size > _SLOTS:
        made[_SLOTS:] = np.array([box.more_ends for box in boxes]).T
    return made


def _with_inner_ends(ends: EndMatrix, shape: Shape) -> EndMatrix:
    """Return ``_all_ends`` of boxes of one shape, given their ends."""
    inner = ends.copy()
    for end in shape.open_ends:
        np.nextafter(ends[end], np.inf, out=inner[end])
    return np.concatenate([ends, inner, np.full((1, ends.shape[1]), -LARGEST)])


def _rows_of(shape: Shape, rows: Mapping[Axis, int]) -> tuple[list[int], list[int], list[int]]:
    """Return the rows for boxes of a shape, as far as there are any.

    For each row also the number of its end in ``_all_ends``: of a box that is to lie in others, and
    of one that is to contain others.
    """
    places: list[int] = []
    ends: list[int] = []
    outer_ends: list[int] = []
    first_inner = 2 * len(shape.axes)
    for i, axis in enumerate(shape.axes):
        end, inner_end = 2 * i, first_inner + 2 * i
        start, inner = rows.get(axis), rows.get(_Inner(axis))
        if start is not None:
            places += (start, start + 1)
            ends += (end, end + 1)
            outer = inner_end if inner is None else end
            outer_ends += (outer, outer + 1)
        if inner is not None:
            places += (inner, inner + 1)
            ends += (inner_end, inner_end + 1)
            outer_ends += (inner_end, inner_end + 1)
    for axis in shape.wholes:
        start = rows.get(axis)
        if start is not None and axis not in shape.axes:
            places += (start, start + 1)
            ends += (2 * first_inner, 2 * first_inner)
            outer_ends += (2 * first_inner, 2 * first_inner)
    return places, ends, outer_ends


def _axes_of(shape: Shape) -> list[Axis]:
    """Return the axes on which a shape has ends, and inner ends that differ from these."""
    opened = {end // 2 for end in shape.open_ends}
    return [*shape.axes, *(_Inner(shape.axes[i]) for i in sorted(opened))]


class BoxMatrix:
    """Nodes, with a column of box ends for each, in the order in which they came.

    There are two rows for each axis on which one of the boxes has an interval: its low end, and its
    high end with a minus. On an axis on which a box has no interval, both are ``UNBOUND``. If a box
    has an open end on an axis, there are two more rows for the inner ends of all boxes there. So a
    box contains another one exactly if it is greater in no row. The *place* of a node is the number
    of its column. The column of a node that was removed is filled with NaN, which is neither less
    nor greater than any end. When there are more such columns than nodes, they are dropped.

    Only nodes with exact boxes are taken in, so that no items need be compared. The other nodes are
    counted: as long as there are any, the answers are not complete (see ``all_exact``).
    """

    __slots__ = (
        "_ends", "_inexact", "_items", "_nodes", "_ordered", "_places_made", "_rows", "_used",
        "_views",
    )  # fmt: skip

    #: The matrix, with columns to spare.
    _ends: EndMatrix
    #: By place, the node and its item; None for a node that was removed.
    _nodes: ObjectArray
    _items: ObjectArray
    #: See ``_places``; None until it is made. Until then no node was added or removed.
    _places_made: dict[Node, int] | None
    #: How many columns are used, those of removed nodes included.
    _used: int
    #: Whether places are in the order of serial numbers. They are, unless a node came back.
    _ordered: bool

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        #: Axis -> the first of its two rows.
        self._rows: dict[Axis, int] = {}
        #: Shape -> how its ends are written into rows.
        self._views: dict[Shape, _View] = {}
        #: How many nodes were not taken in.
        self._inexact = 0
        self._ends = np.empty((0, 0))
        self._nodes = np.empty(0, dtype=object)
        listed = list(nodes)
        boxes = [node.box for node in listed]
        by_shape = _by_shape([box and box.shape for box in boxes])
        refused = [shape for shape in by_shape if not self._finds_rows(shape)]
        if refused:
            out = {i for shape in refused for i in by_shape[shape]}
            self._inexact = len(out)
            listed = [node for i, node in enumerate(listed) if i not in out]
            boxes = [node.box for node in listed]
            by_shape = _by_shape([box.shape for box in boxes])
        self._lay_out(listed, _upright(boxes, by_shape, self._rows))

    @property
    def _places(self) -> dict[Node, int]:
        """The place of each node, made when it is first asked for: most questions do not."""
        places = self._places_made
        if places is None:
            nodes: list[Node] = self._nodes[: self._used].tolist()
            places = self._places_made = dict(zip(nodes, range(self._used), strict=True))
        return places

    @property
    def all_exact(self) -> bool:
        """Whether all nodes were taken in, so that the answers are complete."""
        return not self._inexact

    @property
    def is_wide(self) -> bool:
        """Whether there are many rows, so that a sweep takes long."""
        return len(self._rows) > _NARROW and self._used * len(self._rows) > _LONG_SWEEP

    @property
    def number_of_ends(self) -> int:
        """How many ends a sweep compares."""
        return 2 * self._used * len(self._rows)

    # -- changing ----------------------------------------------------------------------------------

    def add(self, node: Node) -> None:
        """Add a node, or count it if it cannot be taken in; O(axes), amortised."""
        if not self._finds_rows(node.box and node.box.shape):
            self._inexact += 1
            return
        if self._used == len(self._nodes):
            self._drop_removed()
        place = self._used
        if self._ordered and self._places:
            self._ordered = next(reversed(self._places)).serial < node.serial
        view = self._view(node.box.shape)
        if view.straight:
            self._ends[:, place] = node.box.ends()
        else:
            self._ends[:, place] = UNBOUND
            self._ends[view.rows, place] = np.array(_all_ends(node.box))[view.ends]
        self._nodes[place] = node
        self._items[place] = node.item
        self._places[node] = place
        self._used = place + 1

    def remove(self, node: Node) -> None:
        """Remove a node that was added; O(axes), amortised."""
        place = self._places.pop(node, None)
        if place is None:
            self._inexact -= 1
            return
        self._ends[:, place] = np.nan
        self._nodes[place] = self._items[place] = None
        if self._used > 2 * len(self._places) + _ROOM:
            self._drop_removed()

    def _finds_rows(self, shape: Shape | None) -> bool:
        """Return whether boxes of a shape can be taken in, making rows for new axes."""
        if shape is None or not shape.exact:
            return False
        if self._view(shape).complete and not shape.open_ends:
            return True
        new = [axis for axis in _axes_of(shape) if axis not in self._rows]
        if len(self._rows) + len(new) > _MAX_AXES:
            return False
        if new:
            self._add_rows(new)
        return True

    def _add_rows(self, axes: list[Axis]) -> None:
        """Add two rows for each of some axes.

        No node has an interval there yet, but on a part, or an inner end that differs from its end.
        """
        for axis in axes:
            more = np.full((2, self._ends.shape[1]), UNBOUND)
            parts = [node is not None and axis in node.box.shape.wholes for node in self._nodes]
            more[:, parts] = -LARGEST
            if isinstance(axis, _Inner):
                start = self._rows[axis.axis]
                more[:] = self._ends[start : start + 2]
            more[:, [node is None for node in self._nodes]] = np.nan
            self._rows[axis] = 2 * len(self._rows)
            self._ends = np.concatenate([self._ends, more])
        self._views.clear()

    def _drop_removed(self) -> None:
        """Drop the columns of removed nodes, and make room for as many nodes again."""
        kept = sorted(self._places, key=_SERIAL)
        # Not by an index, which would lay out the columns one after the other: sweeps go by rows.
        places = np.array([self._places[node] for node in kept], dtype=np.intp)
        columns = self._ends.take(places, axis=1)
        spare = len(kept) + _ROOM
        self._lay_out(kept, np.pad(columns, ((0, 0), (0, spare))), spare)

    def _lay_out(self, nodes: list[Node], ends: EndMatrix, spare: int = 0) -> None:
        """Set up the matrix with these nodes and their columns, and with columns to spare."""
        self._ends = ends
        self._nodes = as_objects(nodes, spare)
        self._items = as_objects([node.item for node in nodes], spare)
        self._places_made = None
        self._used = len(nodes)
        self._ordered = True

    # -- asking ------------------------------------------------------------------------------------

    def above(self, probe: Probe) -> list[Node]:
        """Return the nodes that cover an item: O(nodes × axes), by numpy."""
        return self._nodes[self._outside(probe)].tolist()  # type: ignore[no-any-return]

    def below(self, probe: Probe) -> list[Node]:
        """Return the nodes that an item covers: O(nodes × axes), by numpy."""
        return self._nodes[self._inside(probe)].tolist()  # type: ignore[no-any-return]

    def meeting(self, probe: Probe) -> list[Node] | None:
        """Return the nodes that overlap an item, None if boxes do not tell: O(nodes × axes).

        They tell where all intervals are closed, and on the axes of the item: where none of two
        intervals ends before the other one begins, the greater of the low ends is in both.
        """
        shape = probe.box.shape
        if shape.open_ends or not self._view(shape).straight:
            return None
        # Low ends against high ones, and high ones with a minus against low ones with a minus.
        column = -probe.column.reshape(-1, 2)[:, ::-1].reshape(-1, 1)
        return self._nodes[self._sweep(np.less_equal, column)].tolist()  # type: ignore[no-any-return]

    def _outside(self, probe: Probe) -> Places:
        """Return the places of the boxes that contain the box of an item."""
        return self._sweep(np.less_equal, self._column(probe))

    def _inside(self, probe: Probe) -> Places:
        """Return the places of the boxes that lie in the box of an item."""
        view = self._view(probe.box.shape)
        if view.straight:
            return self._sweep(np.greater_equal, probe.column)
        # On other axes the box is unbound, and contains everything: these rows are not compared.
        column = np.array(_all_ends(probe.box))[view.outer_ends][:, None]
        if view.complete:
            return self._sweep(np.greater_equal, column, view.rows)
        # The box has an interval on an axis on which no node has one; only on parts of it, perhaps.
        found = self._ends_on_parts(probe.box.shape)
        if found is None:
            return _NO_PLACES
        inside = self._sweep(np.greater_equal, column, view.rows)
        return inside[found[inside]]

    def _ends_on_parts(self, shape: Shape) -> NDArray[np.bool_] | None:
        """Return which nodes have intervals on parts of all axes that the matrix does not have.

        None if no node has.
        """
        found = np.ones(self._used, dtype=bool)
        for axis in shape.axes:
            if axis not in self._rows:
                rows = [
                    row
                    for part, row in self._rows.items()
                    if isinstance(part, PartAxis) and part.whole == axis
                ]
                if not rows:
                    return None
                found &= np.logical_or.reduce(self._ends[rows, : self._used] > UNBOUND)
        return found

    def _sweep(self, compare: Comparison, column: Column, rows: Places | None = None) -> Places:
        """Return the places whose ends compare as wanted with a column, in all rows or in some."""
        if not len(column):  # no row excludes anything, so removed nodes must be left out here
            return np.array(sorted(self._places.values()), dtype=np.intp)
        some = self._ends[:, : self._used] if rows is None else self._ends[rows, : self._used]
        return np.logical_and.reduce(compare(some, column)).nonzero()[0]  # type: ignore[no-any-return]

    def _column(self, probe: Probe) -> Column:
        """Return the box of an item as a column with all rows of the matrix."""
        shape = probe.box.shape
        view = self._views.get(shape) or self._view(shape)
        if view.straight:
            return probe.column
        column = np.full((len(self._ends), 1), UNBOUND)
        column[view.rows, 0] = np.array(_all_ends(probe.box))[view.ends]
        return column

    def _view(self, shape: Shape) -> _View:
        """Return how the ends of a shape are written into rows; it is remembered."""
        view = self._views.get(shape)
        if view is None:
            rows, ends, outer_ends = _rows_of(shape, self._rows)
            if len(self._views) >= _MAX_VIEWS:
                self._views.clear()
            complete = all(axis in self._rows for axis in shape.axes)
            # Rows for inner ends are written from more than the ends of a box.
            in_order = rows == list(range(2 * len(shape.axes))) == ends
            in_order = in_order and len(shape.axes) == len(self._rows)
            view = self._views[shape] = _View(
                np.array(rows, dtype=np.intp),
                np.array(ends, dtype=np.intp),
                np.array(outer_ends, dtype=np.intp),
                complete,
                complete and in_order and not shape.open_ends,
            )
        return view

    def covering_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return the items that cover an item, except that of node ``own``, in insertion order."""
        return self._items_at(self._outside(probe), own)

    def covered_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return the items that an item covers, except that of node ``own``, in insertion order."""
        return self._items_at(self._inside(probe), own)

    def _items_at(self, places: Places, own: Node | None) -> tuple[Item, ...]:
        """Return the items at some places, in order of insertion, except that of a node."""
        if not self._ordered:
            nodes: list[Node] = sorted(self._nodes[places].tolist(), key=_SERIAL)
            return tuple(node.item for node in nodes if node is not own)
        items: list[Item] = self._items[places].tolist()
        if own is not None:
            del items[places.searchsorted(self._places[own])]
        return tuple(items)

    def neighbours(self, probe: Probe) -> tuple[list[Node], list[Node], list[Node]]:
        """Return the nodes next above an item, those next below it, and all above it.

        O(nodes × axes) by numpy, and then the nodes found are compared with each other.
        """
        above, below = self._outside(probe), self._inside(probe)
        return (
            self._nodes[self._lowest(above)].tolist(),
            self._nodes[self._highest(below)].tolist(),
            self._nodes[above].tolist(),
        )

    def chain_above(self, probe: Probe) -> tuple[list[Node], int]:
        """Return the lowest nodes that cover an item, and the number of all that cover it."""
        above = self._outside(probe)
        return self._nodes[self._lowest(above)].tolist(), len(above)

    def strictly_above(self, node: Node) -> list[Node]:
        """Return the other nodes whose boxes contain the box of a node."""
        return self._others(np.less_equal, node)

    def strictly_below(self, node: Node) -> list[Node]:
        """Return the other nodes whose boxes lie in the box of a node."""
        return self._others(np.greater_equal, node)

    def _others(self, compare: Comparison, node: Node) -> list[Node]:
        places = self._sweep(compare, self._ends[:, self._places[node], None])
        return [each for each in self._nodes[places].tolist() if each is not node]

    def contains(self, outer: Sequence[Node], inner: Sequence[Node]) -> NDArray[np.bool_]:
        """Return which outer nodes' boxes contain which inner ones': a row for each outer node."""
        places = self._places
        above = self._ends[:, [places[node] for node in outer]]
        below = self._ends[:, [places[node] for node in inner]]
        return np.logical_and.reduce(above[:, :, None] <= below[:, None, :])  # type: ignore[no-any-return]

    def _lowest(self, places: Places) -> Places:
        """Return those of some places whose boxes contain no other of these boxes."""
        columns = self._ends[:, places]
        return places[np.sort(_extremes(columns, -_sizes(columns), np.less_equal))]

    def _highest(self, places: Places) -> Places:
        """Return those of some places whose boxes lie in no other of these boxes."""
        columns = self._ends[:, places]
        return places[np.sort(_extremes(columns, _sizes(columns), np.greater_equal))]


def _sizes(columns: EndMatrix) -> EndMatrix:
    """Return a number for each column, seldom greater than that of a box inside it.

    It is the sum of its ends. Beside an end without limit all others would be lost, so there is a
    large step for each of these.
    """
    unlimited = columns <= -LARGEST
    if not unlimited.any():
        return columns.sum(axis=0)  # type: ignore[no-any-return]
    sums = np.where(unlimited, 0.0, columns).sum(axis=0)
    return sums - np.count_nonzero(unlimited, axis=0) * (np.ptp(sums) + 1)  # type: ignore[no-any-return]


def _extremes(columns: EndMatrix, sizes: EndMatrix, beyond: Comparison) -> Places:
    """Return which columns are extreme: for which no other column is beyond them.

    For the lowest boxes, a column is beyond another one if it is inside it; for the highest, if it
    is outside. Columns of small ``sizes`` are probably extreme. All others are compared with these
    *pivots*, and a column that has a pivot beyond it is excluded. A few pivots exclude most
    columns; in a chain, the first one excludes all others.
    """
    if not len(sizes):
        return _NO_PLACES
    first = int(sizes.argmin())
    out = np.logical_and.reduce(beyond(columns, columns[:, first, None]))
    order = (~out).nonzero()[0]
    order = order[sizes[order].argsort()]
    candidates: list[Places] = [np.array([first])]
    while len(order):
        pivots, order = order[:_PIVOTS], order[_PIVOTS:]
        candidates.append(pivots)
        out = beyond(columns[:, None, order], columns[:, pivots, None])
        order = order[~np.logical_or.reduce(np.logical_and.reduce(out))]
    # A pivot may still have another pivot beyond it, of the same step or of a later one.
    left = np.concatenate(candidates)
    pairs = beyond(columns[:, left, None], columns[:, None, left])
    out = np.logical_and.reduce(pairs)
    np.fill_diagonal(out, val=False)
    return left[~np.logical_or.reduce(out, axis=1)]  # type: ignore[no-any-return]

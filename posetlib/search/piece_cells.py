"""Nodes by the cells of an axis that their pieces touch, for unions of intervals.

The ends of a union say nothing about what is missing between them. So the axis is divided into
cells, and each cell has the set of the nodes with a piece that touches it. Who covers an item
touches each cell that the item touches.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from posetlib.graph.nodes import Node
from posetlib.search.boxes import LARGEST, Axis, Box, Pieces

__all__ = ["PieceCells"]

# The cells of an axis. More cells leave fewer nodes to compare, but adding a node takes longer.
_CELLS: Final = 32


class PieceCells:
    """The nodes of a sieve on one axis, by the cells that they touch.

    A node touches the cells in which its pieces lie, ends included.
    """

    __slots__ = ("_axis", "_bounds", "_touching", "_unsure")

    def __init__(self, axis: Axis, nodes: Sequence[Node]) -> None:
        self._axis = axis
        ends: list[float] = []
        for node in nodes:
            if node.box is not None:
                for interval in _pieces_of(node.box, axis).intervals:
                    ends += interval
        ends.sort()
        #: Where one cell ends and the next one begins.
        self._bounds = sorted({ends[len(ends) * i // _CELLS] for i in range(1, _CELLS) if ends})
        #: For each cell, the nodes that touch it.
        self._touching = [0] * (len(self._bounds) + 1)
        #: The nodes whose pieces have other values than theirs: they may lie in fewer cells.
        self._unsure = 0
        for place, node in enumerate(nodes):
            if node.box is not None:
                self.add(node.box, place)

    def add(self, box: Box, place: int) -> None:
        """Add a node; O(cells)."""
        pieces = _pieces_of(box, self._axis)
        bit = 1 << place
        for cell in self._cells_of(pieces):
            self._touching[cell] |= bit
        if not pieces.sure or self._axis in box.shape.loose:
            self._unsure |= bit

    def _cells_of(self, pieces: Pieces) -> set[int]:
        bounds = self._bounds
        # An end without limit is the largest float in a box, and may be infinite in a piece.
        return {
            cell
            for low, high in pieces.intervals
            for cell in range(
                bisect_right(bounds, max(low, -LARGEST)),
                bisect_right(bounds, min(high, LARGEST)) + 1,
            )
        }

    def not_around(self, box: Box, present: int) -> int:
        """Return nodes that do not cover an item, of those that are present on the axis."""
        pieces = _pieces_of(box, self._axis)
        if not pieces.sure:
            return 0
        around = present
        for cell in self._cells_of(pieces):
            around &= self._touching[cell]
        return present & ~around

    def not_inside(self, box: Box) -> int:
        """Return nodes that an item does not cover."""
        pieces = _pieces_of(box, self._axis)
        if len(pieces.intervals) == 1:
            return 0  # The ends of the interval tell the same.
        outside = 0
        touched = self._cells_of(pieces)
        for cell, nodes in enumerate(self._touching):
            if cell not in touched:
                outside |= nodes
        return outside & ~self._unsure


def _pieces_of(box: Box, axis: Axis) -> Pieces:
    """Return the pieces of a box on an axis, none if it has no interval there."""
    if box.marks is not None:
        for each, pieces in box.marks.pieces:
            if each == axis:
                return pieces
    if axis not in box.shape.axes:
        return Pieces((), False)
    i = 2 * box.shape.axes.index(axis)
    low, minus_high = box.ends()[i : i + 2]
    return Pieces(((low, -minus_high),), True)

"""What tables are held against when they are asked for the order: scans, trees, and a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import posetlib as pl
from bench.bench_matching import Columns

__all__ = [
    "Boxes",
    "CoverScan",
    "as_pairs",
    "boxes_of",
    "covering_pairs",
    "edges_by_networkx",
    "edges_by_packed_bits",
    "edges_of",
    "rtree_index",
    "tree_covers",
]

#: The ends of the boxes as a spatial index wants them: x and y of one corner, then of the other.
Boxes = list[tuple[float, float, float, float]]
Numbers = NDArray[np.intp]


def boxes_of(columns: Columns) -> Boxes:
    """Return filters of x and y as boxes."""
    (x_low, x_high), (y_low, y_high) = columns["x"], columns["y"]
    return list(zip(x_low.tolist(), y_low.tolist(), x_high.tolist(), y_high.tolist(), strict=True))


def rtree_index() -> Any:
    """Return an empty index of rtree, as it comes."""
    from rtree import index  # noqa: PLC0415 - only the benchmarks' extra brings it

    return index.Index()


class CoverScan:
    """Columns of numpy: one comparison for each end of all filters, and the numbers of the rest."""

    def __init__(self, columns: Columns) -> None:
        (self.x_low, self.x_high), (self.y_low, self.y_high) = columns["x"], columns["y"]

    def both(self, box: tuple[float, float, float, float]) -> tuple[Numbers, Numbers]:
        """Return the numbers of the filters that cover a box, and of those that it covers."""
        x_low, y_low, x_high, y_high = box
        above = (
            (self.x_low <= x_low)
            & (self.x_high >= x_high)
            & (self.y_low <= y_low)
            & (self.y_high >= y_high)
        )
        below = (
            (self.x_low >= x_low)
            & (self.x_high <= x_high)
            & (self.y_low >= y_low)
            & (self.y_high <= y_high)
        )
        return np.flatnonzero(above), np.flatnonzero(below)


def tree_covers(columns: Columns) -> Callable[[Any], tuple[Numbers, Numbers]]:
    """Return shapely's tree: the numbers of what covers a shape, and of what it covers."""
    import shapely  # noqa: PLC0415 - only the benchmarks' extra brings it

    (x_low, x_high), (y_low, y_high) = columns["x"], columns["y"]
    shapes = shapely.box(x_low, y_low, x_high, y_high)
    shapely.prepare(shapes)
    tree = shapely.STRtree(shapes)
    return lambda shape: (tree.query(shape, "covered_by"), tree.query(shape, "covers"))


# -- the whole order at once -----------------------------------------------------------------------


def _cover_matrix(columns: Columns) -> NDArray[np.bool_]:
    """Return who strictly covers whom, among boxes of which no two are equal."""
    (x_low, x_high), (y_low, y_high) = columns["x"], columns["y"]
    covers = x_low[:, None] <= x_low
    covers &= x_high[:, None] >= x_high
    covers &= y_low[:, None] <= y_low
    covers &= y_high[:, None] >= y_high
    np.fill_diagonal(covers, val=False)
    return covers


def edges_by_packed_bits(columns: Columns) -> NDArray[np.intp]:
    """Return the edges of the Hasse diagram: the bare pipeline of numpy and packed bits.

    What a filter covers is a row of bits. What is covered by something that it covers, the OR of
    the rows of these, is implied; the rest of its row are its children.
    """
    covers = _cover_matrix(columns)
    size = len(covers)
    words = -(-size // 64)
    packed = np.zeros((size, 8 * words), dtype=np.uint8)
    packed[:, : -(-size // 8)] = np.packbits(covers, axis=1, bitorder="little")
    rows = packed.view(np.uint64)
    implied = np.zeros_like(rows)
    for number in range(size):
        below = np.flatnonzero(covers[number])
        if len(below):
            np.bitwise_or.reduce(rows[below], axis=0, out=implied[number])
    children = np.unpackbits(
        (rows & ~implied).view(np.uint8), axis=1, count=size, bitorder="little"
    )
    return np.argwhere(children)


def edges_by_networkx(pairs: NDArray[np.intp]) -> nx.DiGraph[int]:
    """Return the transitive reduction of who covers whom."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_edges_from(pairs.tolist())
    return nx.transitive_reduction(graph)


def covering_pairs(columns: Columns) -> NDArray[np.intp]:
    """Return all pairs of which the first covers the second."""
    return np.argwhere(_cover_matrix(columns))


def edges_of(table: pl.Table, filters: Sequence[pl.Filter]) -> set[tuple[int, int]]:
    """Return the edges of a table, by the numbers of the filters."""
    number = {filter: i for i, filter in enumerate(filters)}
    return {(number[one], number[child]) for one in table for child in table.children(one)}


def as_pairs(edges: Iterable[Iterable[int]]) -> set[tuple[int, int]]:
    """Return edges as a set of pairs."""
    return {(one, other) for one, other in edges}

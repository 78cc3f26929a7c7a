"""Where to draw the nodes: the general above the special, in layers, computed once on the server.

A forest is drawn as trees, each parent above the middle of its children, with many leaves of one
parent in several rows. Any other graph gets layers by the longest path from above, an order
within them that avoids crossings (means of neighbours, in sweeps), and places as near to
the neighbours as the order allows. What is not connected is set side by side and wrapped like
words in a paragraph, so that the whole is about as wide as the screen.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["layers", "positions"]

Points = NDArray[np.float64]
Edges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Grid:
    """Distances between centres, across and down."""

    across: float
    #: From one layer to the next, and from one row to the next within a layer.
    layer: float
    row: float
    #: The width aimed at is this many times the height.
    ratio: float


def positions(
    count: int,
    edges: Edges,
    *,
    width: float = 180,
    height: float = 64,
    ratio: float = 1.5,
    sideways: bool = False,
) -> Points:
    """Return one row (x, y) for each of ``count`` nodes of a size; O(passes × (nodes + edges)).

    Edges are (parent, child). Cycles are drawn, too, as far as layers can be. ``sideways`` puts the
    general to the left.

    >>> positions(3, [(0, 1), (0, 2)], width=80, height=40).tolist()
    [[50.0, 0.0], [0.0, 90.0], [100.0, 90.0]]
    """
    if sideways:
        grid = _Grid(height + 16, width + 70, width + 24, 1 / ratio)
    else:
        grid = _Grid(width + 20, height + 50, height + 18, ratio)
    placed = _placed(count, edges, grid)
    return placed[:, ::-1].copy() if sideways else placed


def _placed(count: int, edges: Edges, grid: _Grid) -> Points:
    if not count:
        return np.zeros((0, 2))
    children: list[list[int]] = [[] for _ in range(count)]
    parents: list[list[int]] = [[] for _ in range(count)]
    for parent, child in edges:
        if parent != child:
            children[parent].append(child)
            parents[child].append(parent)
    layer = layers(children, parents)
    points = np.zeros((count, 2))
    blocks: list[_Block] = []
    alone: list[int] = []
    for members in _components(children, parents):
        if len(members) == 1:
            alone.append(members[0])
        elif all(len(parents[each]) < 2 and layer[each] >= 0 for each in members) and any(
            not parents[each] for each in members
        ):
            # A tree of many twigs is a thin line on any screen: then rather many rows to a layer.
            trees = [_tree(members, children, parents, layer, grid, each) for each in _BESIDE]
            other = _dag(members, parents, layer, grid)
            blocks.append(_best([*trees, other], (1.0, 1.1, 1.5), grid))
        else:
            blocks.append(_dag(members, parents, layer, grid))
    _pack(blocks, alone, points, grid)
    return points


def layers(children: list[list[int]], parents: list[list[int]]) -> list[int]:
    """Return the longest path from above to each node; a cycle is cut where it is met first.

    >>> layers([[1, 2], [2], []], [[], [0], [0, 1]])
    [0, 1, 2]
    """
    waiting = [len(each) for each in parents]
    layer = [0] * len(parents)
    done = [False] * len(parents)
    queue = deque(node for node, left in enumerate(waiting) if not left)
    rest = iter(range(len(parents)))
    while True:
        while queue:
            node = queue.popleft()
            if done[node]:
                continue
            done[node] = True
            for child in children[node]:
                if not done[child]:
                    layer[child] = max(layer[child], layer[node] + 1)
                    waiting[child] -= 1
                    if not waiting[child]:
                        queue.append(child)
        cut = next((node for node in rest if not done[node]), None)
        if cut is None:
            return layer
        queue.append(cut)


def _components(children: list[list[int]], parents: list[list[int]]) -> list[list[int]]:
    seen = [False] * len(parents)
    found = []
    for start in range(len(parents)):
        if seen[start]:
            continue
        seen[start] = True
        members = [start]
        for node in members:
            for near in (*children[node], *parents[node]):
                if not seen[near]:
                    seen[near] = True
                    members.append(near)
        found.append(sorted(members))
    return found


@dataclass(slots=True)
class _Block:
    """Nodes that are drawn together, with their layers and rows still to be turned into heights."""

    members: list[int]
    x: Points
    layer: NDArray[np.int64]
    row: NDArray[np.int64]
    width: float


# -- trees -----------------------------------------------------------------------------------------


#: How many leaves of one parent are drawn in one row: what is tried, the best looking first.
_BESIDE = (4, 2)


def _leaf_rows(leaves: int, beside: int) -> int:
    """Return in how many rows the leaves of one parent are drawn."""
    if leaves <= beside:
        return 1
    return min(8, max(math.ceil(math.sqrt(leaves / 2.5)), math.ceil(leaves / (2 * beside - 1))))


def _stagger(rows: int) -> float:
    """Return by how many columns every other row is shifted, so that no edge hides behind a box."""
    return 0.5 if rows > 1 else 0.0


def _best(blocks: list[_Block], handicaps: Sequence[float], grid: _Grid) -> _Block:
    """Return the block that can be seen largest; a handicap says how much larger it must be."""
    sizes = [_size(each, grid) * by for each, by in zip(blocks, handicaps, strict=True)]
    return blocks[sizes.index(min(sizes))]


def _tree(
    members: list[int],
    children: list[list[int]],
    parents: list[list[int]],
    layer: list[int],
    grid: _Grid,
    beside: int,
) -> _Block:
    (root,) = (each for each in members if not parents[each])
    order = [root]
    for node in order:
        order.extend(children[node])
    columns = dict.fromkeys(order, 1.0)
    for node in reversed(order):
        inner = [each for each in children[node] if children[each]]
        count = len(children[node]) - len(inner)
        needed = sum(columns[each] for each in inner)
        if count:
            rows = _leaf_rows(count, beside)
            needed += math.ceil(count / rows) + _stagger(rows)
        columns[node] = max(1, needed)
    left = {root: 0.0}
    x: dict[int, float] = {}
    row = dict.fromkeys(order, 0)
    for node in order:
        x[node] = left[node] + (columns[node] - 1) / 2
        at = left[node]
        leaves = []
        for child in children[node]:
            if children[child]:
                left[child] = at
                at += columns[child]
            else:
                leaves.append(child)
        rows = _leaf_rows(len(leaves), beside)
        across = math.ceil(len(leaves) / rows)
        for i, child in enumerate(leaves):
            row[child], column = divmod(i, across)
            left[child] = at + column + _stagger(rows) * (row[child] % 2)
    for node in reversed(order):
        if children[node]:
            spread = [x[child] for child in children[node]]
            x[node] = (min(spread) + max(spread)) / 2
    return _Block(
        members,
        np.array([x[each] for each in members]) * grid.across,
        np.array([layer[each] for each in members]),
        np.array([row[each] for each in members]),
        columns[root] * grid.across,
    )


# -- other graphs ----------------------------------------------------------------------------------


def _dag(members: list[int], parents: list[list[int]], layer: list[int], grid: _Grid) -> _Block:
    number = {node: i for i, node in enumerate(members)}
    depth = np.array([layer[each] for each in members])
    pairs = [(number[parent], number[node]) for node in members for parent in parents[node]]
    ends = np.array(pairs, dtype=np.int64)
    levels = [np.flatnonzero(depth == each) for each in range(int(depth.max()) + 1)]
    above = [ends[depth[ends[:, 1]] == i] for i in range(len(levels))]
    below = [ends[depth[ends[:, 0]] == i] for i in range(len(levels))]
    rows = _rows_of([len(level) for level in levels], grid)

    rank = np.zeros(len(members))
    for level in levels:
        rank[level] = np.arange(len(level)) - (len(level) - 1) / 2
    sweeps = 10 if len(levels) <= 60 else 3
    for sweep in range(sweeps):
        down = sweep % 2 == 0
        for i in range(len(levels)) if down else range(len(levels) - 1, -1, -1):
            wish = _means(rank, levels[i], above[i] if down else below[i], toward_child=down)
            levels[i] = level = levels[i][np.argsort(wish, kind="stable")]
            rank[level] = np.arange(len(level)) - (len(level) - 1) / 2

    x = np.zeros(len(members))
    for level, wrapped in zip(levels, rows, strict=True):
        x[level] = rank[level] * grid.across / wrapped
    for sweep in range(4 if len(levels) <= 60 else 1):
        for i, level in enumerate(levels):
            near = np.concatenate([above[i], below[i][:, ::-1]]) if sweep else above[i]
            wish = _means(x, level, near, toward_child=True)
            x[level] = _apart(wish, grid.across / rows[i])
    row = np.zeros(len(members), dtype=np.int64)
    for level, wrapped in zip(levels, rows, strict=True):
        row[level] = np.arange(len(level)) % wrapped
    x -= x.min()
    return _Block(members, x, depth, row, float(x.max()) + grid.across)


def _rows_of(counts: list[int], grid: _Grid) -> list[int]:
    """Return in how many rows to draw each layer, so that all of it is seen largest."""
    best: tuple[float, list[int]] | None = None
    for rows_of_widest in range(1, 13):
        widest = max(4, math.ceil(max(counts) / rows_of_widest))
        rows = [math.ceil(count / widest) for count in counts]
        across = max(math.ceil(n / r) for n, r in zip(counts, rows, strict=True)) * grid.across
        down = len(counts) * grid.layer + sum(r - 1 for r in rows) * grid.row
        size = max(across / grid.ratio, down)
        if best is None or size < 0.85 * best[0]:
            best = size, rows
    assert best is not None
    return best[1]


def _size(block: _Block, grid: _Grid) -> float:
    """Return how high a screen must be to show a block, at the ratio of the grid."""
    return max(block.width / grid.ratio, _heights(block, grid)[1] + grid.layer)


def _means(
    values: Points, level: NDArray[np.int64], ends: NDArray[np.int64], *, toward_child: bool
) -> Points:
    """Return for each node of a level the mean over its neighbours, its own value without any."""
    node, near = (ends[:, 1], ends[:, 0]) if toward_child else (ends[:, 0], ends[:, 1])
    total = np.bincount(node, weights=values[near], minlength=len(values))[level]
    count = np.bincount(node, minlength=len(values))[level]
    return np.where(count > 0, total / np.maximum(count, 1), values[level])


def _apart(wish: Points, distance: float) -> Points:
    """Return places in the given order, as near to the wishes as a distance apart allows."""
    step = np.arange(len(wish)) * distance
    right = np.maximum.accumulate(wish - step) + step
    left = np.minimum.accumulate((wish - step)[::-1])[::-1] + step
    # Both keep the distance, so their mean does; and it favours neither side.
    mean: Points = (left + right) / 2
    return mean


# -- side by side ----------------------------------------------------------------------------------


def _pack(blocks: list[_Block], alone: list[int], points: Points, grid: _Grid) -> None:
    """Set blocks side by side on shelves, their tops in line, and what has no edge in rows below.

    The shelves are as wide as lets everything be seen largest.
    """
    gap = grid.across * 0.4
    heights = [_heights(block, grid) for block in blocks]
    sizes = [(b.width, high + grid.layer) for b, (_, high) in zip(blocks, heights, strict=True)]
    area = sum((width + gap) * high for width, high in sizes)
    area += len(alone) * grid.across * grid.row
    least = max((width for width, _ in sizes), default=grid.across)

    def size(limit: float) -> float:
        _, width, height = _shelves(sizes, limit, gap)
        if alone:
            width = max(width, min(len(alone), _across(limit, grid)) * grid.across)
            height += math.ceil(len(alone) / _across(limit, grid)) * grid.row
        return max(width / grid.ratio, height)

    wide = math.sqrt(area * grid.ratio)
    limit = min((max(least, wide * each) for each in _WIDTHS), key=size)
    places, _, bottom = _shelves(sizes, limit, gap)
    for block, (starts, _), (left, top) in zip(blocks, heights, places, strict=True):
        points[block.members, 0] = block.x + left
        points[block.members, 1] = top + starts[block.layer] + block.row * grid.row
    row, column = np.divmod(np.arange(len(alone)), _across(limit, grid))
    points[alone, 0] = column * grid.across
    points[alone, 1] = bottom + row * grid.row


#: Widths of the shelves that are tried, in terms of the one at which nothing would be left empty.
_WIDTHS = tuple(0.7 + 0.1 * i for i in range(15))


def _across(limit: float, grid: _Grid) -> int:
    return max(1, round(limit / grid.across))


def _shelves(
    sizes: list[tuple[float, float]], limit: float, gap: float
) -> tuple[list[tuple[float, float]], float, float]:
    """Return left and top of each block, and the width and height of all of them."""
    places = []
    left = top = high = widest = 0.0
    for width, height in sizes:
        if left and left + width > limit + 1e-6:
            left, top, high = 0.0, top + high, 0.0
        places.append((left, top))
        left += width + gap
        high = max(high, height)
        widest = max(widest, left - gap)
    return places, widest, top + high


def _heights(block: _Block, grid: _Grid) -> tuple[Any, float]:
    """Return where each layer of a block begins, and how high all of them are."""
    rows = np.zeros(int(block.layer.max()) + 1, dtype=np.int64)
    np.maximum.at(rows, block.layer, block.row)
    before = np.concatenate([[0], np.cumsum(rows)[:-1]])
    heights = np.arange(len(rows)) * grid.layer + before * grid.row
    return heights, float(heights[-1] + rows[-1] * grid.row)

"""Where to draw a hierarchy of brokers: a tree, each parent above the middle of its children.

Many leaves of one parent are in several rows, since a tree of many twigs is a thin line on any
screen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["tree_places"]

Points = NDArray[np.float64]

#: How many leaves of one parent are drawn in one row: what is tried, the best looking first.
_BESIDE: Final = (4, 2)
#: How much smaller a drawing must be to be preferred to the one before.
_GAIN: Final = 1.1


def tree_places(
    children: Sequence[Sequence[int]],
    root: int,
    *,
    width: float,
    height: float,
    ratio: float = 1.5,
) -> Points:
    """Return one row (x, y) for each node of a tree, as boxes of a size; O(nodes).

    >>> tree_places([[1, 2], [], []], 0, width=80, height=40).tolist()
    [[50.0, 0.0], [0.0, 90.0], [100.0, 90.0]]
    """
    best: tuple[float, Points] | None = None
    for beside in _BESIDE:
        points = _tree(children, root, (width + 20, height + 50, height + 18), beside)
        across, down = np.ptp(points, axis=0)
        size = max((across + width) / ratio, down + height)
        if best is None or size * _GAIN < best[0]:
            best = size, points
    assert best is not None
    return best[1]


def _leaf_rows(leaves: int, beside: int) -> int:
    """Return in how many rows the leaves of one parent are drawn."""
    if leaves <= beside:
        return 1
    return min(8, max(math.ceil(math.sqrt(leaves / 2.5)), math.ceil(leaves / (2 * beside - 1))))


def _stagger(rows: int) -> float:
    """Return by how many columns every other row is shifted, so that no edge hides behind a box."""
    return 0.5 if rows > 1 else 0.0


def _tree(
    children: Sequence[Sequence[int]],
    root: int,
    distances: tuple[float, float, float],
    beside: int,
) -> Points:
    """Return places for distances across, from level to level, and from row to row of leaves."""
    order, level = [root], {root: 0}
    for node in order:
        order.extend(children[node])
        level.update((child, level[node] + 1) for child in children[node])
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
    deepest = [0] * (max(level.values()) + 1)
    for node in order:
        deepest[level[node]] = max(deepest[level[node]], row[node])
    wide, high, low = distances
    tops = [sum(deepest[:i]) * low + i * high for i in range(len(deepest))]
    points = np.zeros((len(children), 2))
    for node in order:
        points[node] = x[node] * wide, tops[level[node]] + row[node] * low
    return points

"""A whole poset at once: who is left of many pairs, and the edges between them, from columns.

For boxes that say all, so that a box contains another one exactly if its filter covers the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from posetlib.boxes import Box, Line
from posetlib.columns import Ends, upright

__all__ = ["MOST", "edges_of", "ends_of", "survivors"]

#: The order of so many filters, a bit for each pair, takes an eighth of a gigabyte.
MOST: Final = 32_768
# Boxes on more lines than these are not put into columns.
_MAX_LINES: Final = 64
# So many rows of the order are worked out at a time.
_CHUNK: Final = 64

Edges = list[tuple[int, int]]


def ends_of(boxes: Sequence[Box]) -> Ends | None:
    """Return the columns of boxes, with two rows for each line on which one of them lies.

    None if there are so many lines that most of the rows would say nothing.
    """
    lines: dict[Line, None] = {}
    for shape in {box[5]: None for box in boxes}:
        lines.update(dict.fromkeys(shape.lines))
        if len(lines) > _MAX_LINES:
            return None
    return upright(boxes, {line: 2 * i for i, line in enumerate(lines)})


def survivors(
    ends: Ends, pairs: Sequence[tuple[int, Hashable]]
) -> list[tuple[int, list[Hashable]]]:
    """Return the boxes that are held when all pairs were added in turn, and by which interfaces.

    In the order in which they came to stay. An interface keeps the boxes that none of its others
    contains; one that came before is let go, and one that comes after is not taken. ``ends`` are
    those of the numbered boxes, all different; O(k²) for an interface with k of them.
    """
    moments: dict[Hashable, dict[int, int]] = {}
    for moment, (number, interface) in enumerate(pairs):
        moments.setdefault(interface, {}).setdefault(number, moment)
    # For each box, when it was held and until when, and by whom.
    spells: dict[int, list[tuple[int, float, Hashable]]] = {}
    for interface, came in moments.items():
        endings = _endings(ends, came) if len(came) > 1 else [np.inf]
        for (number, start), end in zip(came.items(), endings, strict=True):
            if end > start:
                spells.setdefault(number, []).append((start, end, interface))
    held: list[tuple[int, int, list[Hashable]]] = []
    for number, some in spells.items():
        some.sort(key=lambda spell: spell[0])
        start, until, _ = some[0]
        for begin, end, _ in some[1:]:
            if begin >= until:
                # It had gone, and came again.
                start = begin
            until = max(until, end)
        if until == np.inf:
            kept = [interface for _, end, interface in some if end == np.inf]
            held.append((start, number, kept))
    held.sort(key=lambda each: each[0])
    return [(number, kept) for _, number, kept in held]


def _endings(ends: Ends, came: dict[int, int]) -> list[float]:
    """Return when boxes are let go that came at some moments: when one outside comes, or never."""
    boxes = ends[:, list(came)]
    when = np.array(list(came.values()), dtype=np.float64)
    until: list[float] = []
    for start in range(0, len(when), _CHUNK):
        outside = np.logical_and.reduce(boxes[:, None, :] <= boxes[:, start : start + _CHUNK, None])
        places = np.arange(len(outside))
        outside[places, start + places] = False
        until += np.where(outside, when, np.inf).min(axis=1).tolist()
    return until


def edges_of(ends: Ends) -> Edges:
    """Return the edges of the order of different boxes, as pairs of a parent and a child.

    Every pair is compared once; then each box takes for a child the first of those inside it that
    is in no other child. In lexical order of the columns a box comes before what it contains, so
    that *first* is the lowest bit: O(n²) comparisons, O(edges) words of n bits.
    """
    count = ends.shape[1]
    order = np.lexsort(ends[::-1]) if len(ends) else np.arange(count)
    inside = _inside(ends[:, order])
    kept_out = [~(bits | 1 << place) for place, bits in enumerate(inside)]
    number = order.tolist()
    edges: Edges = []
    for parent, bits in zip(number, inside, strict=True):
        left = bits
        while left:
            child = (left & -left).bit_length() - 1
            edges.append((parent, number[child]))
            left &= kept_out[child]
    return edges


def _inside(ends: Ends) -> list[int]:
    """Return for each column, as bits, those behind it that lie in it."""
    if not len(ends):
        return [0] * ends.shape[1]
    rows: list[int] = []
    for start in range(0, ends.shape[1], _CHUNK):
        some, behind = ends[:, start : start + _CHUNK, None], ends[:, None, start:]
        good = some[0] <= behind[0]
        for one, other in zip(some[1:], behind[1:], strict=True):
            good &= one <= other
        # A box lies in itself, and that does not count.
        np.fill_diagonal(good, val=False)
        packed = np.packbits(good, axis=1, bitorder="little")
        rows += [int.from_bytes(each, "little") << start for each in packed]
    return rows

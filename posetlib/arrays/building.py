"""Whole tables from arrays: the pairs that are held at the end, and the links between the filters.

The jobs build whole tables where the result does not depend on the order of the adds:

- the filters poset and the linear table are determined by their pairs;
- the pairs of the non-redundant forest do not depend on the order;
- nor do those of any forest in which no interface holds two filters, or nothing is eliminated.

In a forest built here, the parent of a filter is the weakest filter that covers it (see
``covering.strength``). No filter lies between the two, so no sibling covers another.
``FiltersPoset.build`` uses ``surviving_pairs`` and ``whole_order``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from posetlib.array_types import IntArray, Words
from posetlib.arrays.covering import BLOCK, Block, minimal_by_group, strength
from posetlib.arrays.ranges import FilterRanges, Ranges
from posetlib.bits import WORD, bit_in_word, unpacked

__all__ = [
    "BuiltTable",
    "build_forest",
    "build_order",
    "is_small_enough",
    "surviving_pairs",
    "whole_forest",
    "whole_order",
]

# Filters of which the full order is built at most. It takes one bit for each pair of filters: a
# quarter of a gigabyte for this many.
_MAX_IN_ORDER: Final = 45_000
# Filters that are compared with a block at a time, as coverers of its filters.
_COVERERS: Final = 1024
# Items of an interface that are compared with all its items at a time, to bound the memory.
_ITEMS: Final = 64


@dataclass
class BuiltTable:
    """The nodes, pairs and edges of a table."""

    #: For each node the row of its filter in the ranges, in ascending order.
    rows: IntArray
    #: For each pair the number of its node, an index to ``rows``, and its interface.
    pair_nodes: IntArray
    pair_interfaces: IntArray
    #: For each edge the numbers of its two nodes.
    parents: IntArray
    children: IntArray


def is_small_enough(ranges: Ranges) -> bool:
    """Return whether the full order of these filters fits into memory."""
    return len(ranges) <= _MAX_IN_ORDER


def build_order(ranges: FilterRanges, interfaces: IntArray, *, local: bool = False) -> BuiltTable:
    """Return the table of filters that interfaces hold, with all links of the full order.

    Each row is a pair of a filter, which must be plain, and its interface. With ``local`` every
    pair stays; otherwise an interface keeps only the filters that none of its others covers. O(n²)
    pairs of filters are compared, 64 at a time.
    """
    made, filters = _pairs_of(ranges, interfaces, local)
    made.parents, made.children = whole_order(filters)
    return made


def build_forest(ranges: FilterRanges, interfaces: IntArray, *, local: bool = False) -> BuiltTable:
    """Return the table of filters that interfaces hold, as a forest.

    Arguments are those of ``build_order``. Each filter is compared with stronger ones until one
    covers it.

    >>> from posetlib.arrays import Vocabulary, encode_filters
    >>> from posetlib.filters import parse_filter
    >>> texts = "x in [0, 9]", "x = 3", "x in [0, 5]"
    >>> rows = encode_filters([parse_filter(text) for text in texts], Vocabulary())
    >>> made = build_forest(rows, np.array([0, 1, 2]))
    >>> made.parents.tolist(), made.children.tolist()
    ([2, 0], [1, 2])
    """
    made, filters = _pairs_of(ranges, interfaces, local)
    made.parents, made.children = whole_forest(filters)
    return made


def _pairs_of(
    ranges: FilterRanges, interfaces: IntArray, local: bool
) -> tuple[BuiltTable, FilterRanges]:
    """Return a table without links, and the filters of its nodes."""
    first, node = _distinct(ranges)
    kept = np.arange(len(ranges)) if local else minimal_by_group(ranges, interfaces)
    # Only filters that an interface still holds become nodes.
    used, nodes = np.unique(node[kept], return_inverse=True)
    nothing = np.zeros(0, np.int64)
    made = BuiltTable(first[used], *_pairs(nodes, interfaces[kept]), nothing, nothing)
    return made, ranges.take(first[used])


def _distinct(ranges: FilterRanges) -> tuple[IntArray, IntArray]:
    """Return the first row of each distinct filter, and for each row the number of its filter."""
    keys = [each for side in (ranges.lows, ranges.highs) for each in side.values()]
    rows = np.arange(len(ranges))
    order = np.lexsort((rows, *keys))
    differs = np.zeros(len(order), np.bool_)
    differs[:1] = True
    for key in keys:
        differs[1:] |= key[order][1:] != key[order][:-1]
    first = order[differs]
    which = np.empty(len(order), np.int64)
    which[order] = np.cumsum(differs) - 1
    # Number the filters in the order of their first rows.
    number = np.empty(len(first), np.int64)
    by_row = np.argsort(first)
    number[by_row] = np.arange(len(first))
    return first[by_row], number[which]


def _pairs(nodes: IntArray, interfaces: IntArray) -> tuple[IntArray, IntArray]:
    """Return each pair once, in order of the nodes, then in the order given."""
    rows = np.arange(len(nodes))
    order = np.lexsort((rows, interfaces, nodes))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(nodes[order]) != 0) | (np.diff(interfaces[order]) != 0)
    chosen = np.sort(order[new])
    chosen = chosen[np.argsort(nodes[chosen], kind="stable")]
    return nodes[chosen], interfaces[chosen]


def whole_forest(filters: Ranges) -> tuple[IntArray, IntArray]:
    """Return the edges of a forest, as parents and children: the weakest coverer of each filter."""
    power = strength(filters)
    order = np.argsort(power, kind="stable")
    parent = np.full(len(filters), -1)
    for start in range(0, len(order), BLOCK):
        left = order[start : start + BLOCK]
        block = Block(filters.take(left))
        # A filter that covers another one is stronger, so it comes later in this order.
        at = start
        while at < len(order) and len(left):
            chunk = order[at : at + _COVERERS]
            at += len(chunk)
            bits = block.covered(filters, chunk)
            _clear_self(bits, chunk, left)
            found = np.flatnonzero(unpacked(np.bitwise_or.reduce(bits, axis=0), block.count))
            if not len(found):
                continue
            # The first coverer in the chunk is the weakest: the first 1 in a column of bits.
            is_covered = bits[:, found // WORD] & bit_in_word(found) != 0
            weakest = is_covered.argmax(axis=0)
            open_ = parent[left[found]] < 0
            parent[left[found[open_]]] = chunk[weakest[open_]]
            # A new block of the filters without a parent, when these are less than half.
            if 2 * len(found) > len(left):
                left = left[parent[left] < 0]
                block = Block(filters.take(left))
    children = np.flatnonzero(parent >= 0)
    return parent[children], children


def _clear_self(bits: Words, chunk: IntArray, left: IntArray) -> None:
    """Clear the bits that say that a filter covers itself."""
    _, mine, theirs = np.intersect1d(chunk, left, return_indices=True)
    bits[mine, theirs // WORD] &= ~bit_in_word(theirs)


def whole_order(filters: Ranges) -> tuple[IntArray, IntArray]:
    """Return the edges of the full order, as parents and children; all filters are distinct.

    Of the filters that a filter covers, the strongest is its child, and no filter that this child
    covers is. The strongest filter of the rest is the next child, and so on. The sets of filters
    are bits of Python integers, the strongest filter first. Memory: n² / 8 bytes.
    """
    order = np.argsort(-strength(filters), kind="stable")
    ranked = filters.take(order)
    below = [0] * len(order)
    for start in range(0, len(order), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(order)))
        block = Block(ranked.take(rows))
        for chunk in range(0, rows[-1] + 1, _COVERERS):
            some = np.arange(chunk, min(chunk + _COVERERS, rows[-1] + 1))
            for row, bits in zip(some.tolist(), block.covered(ranked, some), strict=True):
                below[row] |= int.from_bytes(bits.tobytes(), "little") << start
    parents: list[int] = []
    children: list[int] = []
    for row, covered in enumerate(below):
        left = covered & ~(1 << row)
        while left:
            child = (left & -left).bit_length() - 1
            parents.append(row)
            children.append(child)
            left &= ~below[child]
    return order[np.array(parents, np.int64)], order[np.array(children, np.int64)]


# -- in order of the adds --------------------------------------------------------------------------


def surviving_pairs(
    ranges: Ranges, pairs: Sequence[tuple[int, Hashable]]
) -> list[tuple[int, list[Hashable]]]:
    """Return the items that are held after all pairs were added in turn, with their interfaces.

    ``pairs`` are (item, interface); an item is the number of a row of the ranges, and no two rows
    are equal. The result is in the order in which the items came to stay. An interface keeps only
    items that none of its other items covers: an item is released when an item comes that covers
    it, and is not added after such an item. O(k²) for an interface with k items.
    """
    ends = _stacked(ranges)
    moments: dict[Hashable, dict[int, int]] = {}
    for moment, (number, interface) in enumerate(pairs):
        moments.setdefault(interface, {}).setdefault(number, moment)
    # For each item its spells: from which moment to which an interface held it, and the interface.
    spells: dict[int, list[tuple[int, float, Hashable]]] = {}
    for interface, came in moments.items():
        endings = _released(ends, came) if len(came) > 1 else [np.inf]
        for (number, start), end in zip(came.items(), endings, strict=True):
            if end > start:
                spells.setdefault(number, []).append((start, end, interface))
    held: list[tuple[int, int, list[Hashable]]] = []
    for number, some in spells.items():
        some.sort(key=lambda spell: spell[0])
        start, until, _ = some[0]
        for begin, end, _ in some[1:]:
            if begin >= until:
                # No interface held the item for a while: it was removed, and came again.
                start = begin
            until = max(until, end)
        if until == np.inf:
            kept = [interface for _, end, interface in some if end == np.inf]
            held.append((start, number, kept))
    held.sort(key=lambda each: each[0])
    return [(number, kept) for _, number, kept in held]


def _released(ends: Any, came: dict[int, int]) -> list[float]:
    """Return the moment at which each item of an interface is released, infinity if never.

    That is the moment at which the first item comes that covers it. It may lie before the item's
    own moment: then the item is not added at all.
    """
    boxes = ends[:, list(came)]
    when = np.array(list(came.values()), dtype=np.float64)
    until: list[float] = []
    for start in range(0, len(when), _ITEMS):
        some = boxes[:, start : start + _ITEMS, None]
        covered_by = np.logical_and.reduce(boxes[:, None, :] <= some)
        rows = np.arange(len(covered_by))
        covered_by[rows, start + rows] = False  # every item covers itself
        until += np.where(covered_by, when, np.inf).min(axis=1).tolist()
    return until


def _stacked(ranges: Ranges) -> Any:
    """Return the low ends, and the high ends with a minus, as rows with one column for each item.

    So an item covers another one exactly if it is greater in no row.
    """
    rows = [*ranges.lows.values(), *(-high for high in ranges.highs.values())]
    return np.array(rows) if rows else np.zeros((0, len(ranges)))

"""Whole tables from arrays: the pairs that are held at the end, and the links between the filters.

- The filters poset and the linear table are determined by their pairs, and their pairs do not
  depend on the order of the adds.
- Nor do the pairs of the non-redundant forest, of any forest in which no interface holds two
  filters, or in which nothing is eliminated.
- In a forest that eliminates along branches they do. Here it is settled by the links alone, so that
  the order of the adds does not matter (``settle_forest``).

In a forest built here, the parent of a filter is the weakest filter that covers it (see
``covering.weakest_first``). No filter lies between the two, so no sibling covers another.
``FiltersPoset.build`` uses ``surviving_pairs`` and ``whole_order``.

The links of some rows are found without those of others: so whoever divides the rows among many
workers gets the links that one would find.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.covering import (
    BLOCK,
    Block,
    distinct_rows,
    minimal_by_group,
    strength,
    weakest_first,
)
from posetlib.arrays.edges import Outline
from posetlib.arrays.meeting import meetings, stacked
from posetlib.arrays.nesting import held_above
from posetlib.arrays.ranges import FilterRanges, Ranges
from posetlib.bits import WORD, bit_in_word, unpacked

__all__ = [
    "BuiltTable",
    "build_forest",
    "build_order",
    "forest_parents",
    "interfaces_below",
    "node_pairs",
    "order_parents",
    "replayed",
    "settle_forest",
    "surviving_pairs",
    "whole_forest",
    "whole_order",
]

# Filters that may cover one of a group at most, to be compared by bits: an eighth of a gigabyte for
# this many.
_MAX_IN_ORDER: Final = 45_000
# Filters that are compared with a block at a time, as coverers of its filters.
_COVERERS: Final = 1024
# Children that look for their parents together, and how many filters they look at first; then twice
# as many, and so on.
_CHILDREN: Final = 1024
_FIRST_COVERERS: Final = 256
# Interfaces of nodes that are collected at a time.
_ENTRIES: Final = 1 << 22
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


def build_order(ranges: FilterRanges, interfaces: IntArray, *, local: bool = False) -> BuiltTable:
    """Return the table of filters that interfaces hold, with all links of the full order.

    Each row is a pair of a filter, which must be plain, and its interface. With ``local`` every
    pair stays; otherwise an interface keeps only the filters that none of its others covers.
    """
    made, filters = _pairs_of(ranges, interfaces, local)
    made.parents, made.children = whole_order(filters)
    return made


def build_forest(
    ranges: FilterRanges, interfaces: IntArray, *, local: bool = False, along_paths: bool = False
) -> BuiltTable:
    """Return the table of filters that interfaces hold, as a forest.

    Arguments are those of ``build_order``. With ``along_paths``, an interface keeps the filters
    that none of its others covers along their branch (see ``settle_forest``).

    >>> from posetlib.arrays import Vocabulary, encode_filters
    >>> from posetlib.filters import parse_filter
    >>> texts = "x in [0, 9]", "x = 3", "x in [0, 5]"
    >>> rows = encode_filters([parse_filter(text) for text in texts], Vocabulary())
    >>> made = build_forest(rows, np.array([0, 1, 2]))
    >>> made.parents.tolist(), made.children.tolist()
    ([2, 0], [1, 2])
    """
    made, filters = _pairs_of(ranges, interfaces, local or along_paths)
    made.parents, made.children = whole_forest(filters)
    return settle_forest(made, filters) if along_paths else made


def _pairs_of(
    ranges: FilterRanges, interfaces: IntArray, every: bool
) -> tuple[BuiltTable, FilterRanges]:
    """Return a table without links, and the filters of its nodes."""
    if every:
        return node_pairs(ranges, interfaces)[:2]
    # Only filters that an interface still holds become nodes.
    kept = minimal_by_group(ranges, interfaces)
    made, filters, _ = node_pairs(ranges.take(kept), interfaces[kept])
    made.rows = kept[made.rows]
    return made, filters


def node_pairs(
    ranges: FilterRanges, interfaces: IntArray
) -> tuple[BuiltTable, FilterRanges, IntArray]:
    """Return a table of pairs without links, the filters of its nodes, and the row of each pair.

    Nodes are in the order of their first rows. A pair that comes twice is held once.
    """
    first, nodes = distinct_rows(ranges)
    order = np.lexsort((np.arange(len(nodes)), interfaces, nodes))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(nodes[order]) != 0) | (np.diff(interfaces[order]) != 0)
    # In order of the nodes, then in the order given.
    rows = np.sort(order[new])
    rows = rows[np.argsort(nodes[rows], kind="stable")]
    nothing = np.zeros(0, np.int64)
    made = BuiltTable(first, nodes[rows], interfaces[rows], nothing, nothing)
    return made, ranges.take(first), rows


# -- links -----------------------------------------------------------------------------------------


def whole_forest(filters: Ranges) -> tuple[IntArray, IntArray]:
    """Return the edges of a forest, as parents and children: the weakest coverer of each filter."""
    parent = forest_parents(filters, np.arange(len(filters)))
    children = np.flatnonzero(parent >= 0)
    return parent[children], children


def whole_order(filters: Ranges) -> tuple[IntArray, IntArray]:
    """Return the edges of the full order, as parents and children; all filters are distinct."""
    return order_parents(filters, np.arange(len(filters)))


def forest_parents(filters: Ranges, rows: IntArray) -> IntArray:
    """Return the parent of each of some rows in the forest of all filters, -1 for a root.

    The parent is the weakest filter that covers it (see ``covering.weakest_first``). All filters
    are distinct, and plain.

    >>> from posetlib.arrays import Vocabulary, encode_filters
    >>> from posetlib.filters import parse_filter
    >>> texts = "x in [0, 9]", "x = 3", "x in [0, 5]"
    >>> filters = encode_filters([parse_filter(text) for text in texts], Vocabulary())
    >>> forest_parents(filters, np.array([0, 1])).tolist()
    [-1, 2]
    """
    order = weakest_first(filters)
    ranked, own = filters.take(order), filters.take(rows)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    place = place[rows]
    parent = np.full(len(rows), -1)
    for some, coverers in meetings(own, ranked, _CHILDREN):
        # What covers a filter comes after it.
        at = int(np.searchsorted(coverers, place[some].min(), side="right"))
        left, step = some, _FIRST_COVERERS
        block = Block(own.take(left))
        while at < len(coverers) and len(left):
            chunk = coverers[at : at + step]
            at, step = at + len(chunk), min(2 * step, BLOCK)
            bits = block.covered(ranked, chunk)
            _clear_self(bits, chunk, place[left])
            found = np.flatnonzero(unpacked(np.bitwise_or.reduce(bits, axis=0), block.count))
            found = found[parent[left[found]] < 0]
            if not len(found):
                continue
            # The first coverer in the chunk is the weakest: the first 1 in a column of bits.
            is_covered = bits[:, found // WORD] & bit_in_word(found) != 0
            parent[left[found]] = order[chunk[is_covered.argmax(axis=0)]]
            # A new block of the filters without a parent, when these are less than half.
            still = left[parent[left] < 0]
            if 2 * len(still) < block.count:
                left = still
                block = Block(own.take(left))
    return parent


def _clear_self(bits: Words, chunk: IntArray, places: IntArray) -> None:
    """Clear the bits that say that a filter covers itself."""
    _, mine, theirs = np.intersect1d(chunk, places, return_indices=True)
    bits[mine, theirs // WORD] &= ~bit_in_word(theirs)


def order_parents(filters: Ranges, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the edges that lead to some rows in the full order of all filters.

    That is parents and children, both as rows of the filters; all filters are distinct, and plain.
    Of the filters that cover a filter, the weakest is its parent, and no filter that covers this
    parent is. The weakest filter of the rest is the next parent, and so on. Memory: a bit for each
    pair of filters that may cover one of a group of rows.
    """
    order = np.argsort(strength(filters), kind="stable")
    ranked, own = filters.take(order), filters.take(rows)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    parents: list[IntArray] = []
    children: list[IntArray] = []
    for some, coverers in meetings(own, ranked, BLOCK, most=_MAX_IN_ORDER):
        chosen = np.searchsorted(coverers, place[rows[some]])
        find = _parents_by_bits if len(coverers) <= _MAX_IN_ORDER else _parents_one_by_one
        found, counts = find(ranked.take(coverers), chosen)
        parents.append(order[coverers[found]])
        children.append(np.repeat(rows[some], counts))
    nothing = [np.zeros(0, np.int64)]
    return np.concatenate(parents or nothing), np.concatenate(children or nothing)


def _parents_by_bits(ranked: Ranges, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the parents of some rows, one row after the other, and how many each has.

    The weakest filters come first. The sets of the filters that cover a filter are bits of Python
    integers: n² / 16 bytes.
    """
    # With low and high ends exchanged, an item covers those that it is covered by.
    turned = Ranges(ranked.highs, ranked.lows, len(ranked))
    above = [0] * len(ranked)
    for start in range(0, len(ranked), BLOCK):
        stop = min(start + BLOCK, len(ranked))
        block = Block(turned.take(np.arange(start, stop)))
        for chunk in range(0, stop, _COVERERS):
            some = np.arange(chunk, min(chunk + _COVERERS, stop))
            for row, bits in zip(some.tolist(), block.covered(turned, some), strict=True):
                above[row] |= int.from_bytes(bits.tobytes(), "little") << start
    found: list[int] = []
    counts: list[int] = []
    for row in rows.tolist():
        left = above[row] & ~(1 << row)
        before = len(found)
        while left:
            parent = (left & -left).bit_length() - 1
            found.append(parent)
            left &= ~above[parent]
        counts.append(len(found) - before)
    return np.array(found, np.int64), np.array(counts, np.int64)


def _parents_one_by_one(ranked: Ranges, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return what ``_parents_by_bits`` returns, in O(n) memory."""
    ends = stacked(ranked, list(ranked.lows))
    found: list[int] = []
    counts: list[int] = []
    for row in rows.tolist():
        own = ends[:, row : row + 1]
        left = np.flatnonzero((ends <= own).all(axis=0) & (ends < own).any(axis=0))
        theirs = ends[:, left]
        before = len(found)
        while len(left):
            found.append(int(left[0]))
            rest = (theirs > theirs[:, :1]).any(axis=0)
            left, theirs = left[rest], theirs[:, rest]
        counts.append(len(found) - before)
    return np.array(found, np.int64), np.array(counts, np.int64)


# -- interfaces along the branches of a forest -----------------------------------------------------


def settle_forest(made: BuiltTable, filters: Ranges) -> BuiltTable:
    """Return a forest in which no interface holds two filters along one branch.

    An interface that holds a filter releases all below it. Filters that no interface holds any more
    go, and their children find the weakest coverer of those that are left; and so on, until nothing
    changes. ``filters`` are those of the nodes.
    """
    while True:
        count = len(made.rows)
        outline = Outline(np.arange(count), made.parents, made.children)
        left = ~held_above(*outline.intervals(), made.pair_nodes, made.pair_interfaces)
        if left.all():
            return made
        nodes, interfaces = made.pair_nodes[left], made.pair_interfaces[left]
        used, numbers = np.unique(nodes, return_inverse=True)
        filters = filters.take(used)
        new = np.full(count, -1)
        new[used] = np.arange(len(used))
        above = np.full(count, -1)
        above[made.children] = made.parents
        parent = np.where(above[used] >= 0, new[above[used]], -1)
        orphans = np.flatnonzero((above[used] >= 0) & (parent < 0))
        parent[orphans] = forest_parents(filters, orphans)
        children = np.flatnonzero(parent >= 0)
        made = BuiltTable(made.rows[used], numbers, interfaces, parent[children], children)


def interfaces_below(made: BuiltTable, nodes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the interfaces that hold something below some nodes of a forest.

    The first array has, for each interface, which of ``nodes`` it is found below, as an index; both
    are in ascending order. O(pairs below the nodes), in portions.
    """
    enter, leave = Outline(np.arange(len(made.rows)), made.parents, made.children).intervals()
    order = np.argsort(enter[made.pair_nodes], kind="stable")
    when, interfaces = enter[made.pair_nodes][order], made.pair_interfaces[order]
    start = np.searchsorted(when, enter[nodes], side="right")
    length = np.searchsorted(when, leave[nodes]) - start
    portion = np.cumsum(length) // _ENTRIES
    at: list[IntArray] = []
    found: list[IntArray] = []
    span = int(interfaces.max(initial=0)) + 1
    cuts = np.flatnonzero(np.diff(portion)) + 1
    for some in np.split(np.arange(len(nodes)), cuts):
        lengths = length[some]
        offsets = np.repeat(start[some] - np.cumsum(lengths) + lengths, lengths)
        held = interfaces[offsets + np.arange(len(offsets))]
        both = np.unique(np.repeat(some, lengths) * span + held)
        at.append(both // span)
        found.append(both % span)
    return np.concatenate(at), np.concatenate(found)


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
    ends = stacked(ranges, list(ranges.lows))
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


def replayed(ranges: FilterRanges, adds: BoolArray, *, eliminates: bool) -> tuple[IntArray, bool]:
    """Return what one interface holds after adds and removals in turn, and whether all stayed.

    Row by row a plain filter is added or removed. The result has the row of the add for each filter
    that is held. If the interface ``eliminates``, it holds no filter that another of its own
    covers. The second value is whether no add met a filter that covers it or that it covers: then
    it does not matter where in a table the interface eliminates. O(k) for each row, where k filters
    are held.
    """
    ends = stacked(ranges, list(ranges.lows))
    _, number = distinct_rows(ranges)
    held: dict[int, int] = {}
    rows = np.zeros(0, np.int64)
    clean = True
    for row, (which, is_add) in enumerate(zip(number.tolist(), adds.tolist(), strict=True)):
        if not is_add:
            gone = held.pop(which, None)
            if gone is not None:
                rows = rows[rows != gone]
        elif which not in held:
            own, theirs = ends[:, row : row + 1], ends[:, rows]
            if eliminates:
                if (theirs <= own).all(axis=0).any():
                    clean = False
                    continue
                covered = (theirs >= own).all(axis=0)
                if covered.any():
                    clean = False
                    for each in number[rows[covered]].tolist():
                        del held[each]
                    rows = rows[~covered]
            held[which] = row
            rows = np.append(rows, row)
    return np.sort(rows), clean

"""Whole tables from columns, where the outcome does not depend on the order of the adds.

That is so for the filters poset and the linear table, which are determined by their pairs; for the
non-redundant forest, whose pairs are; and for any forest in which no interface holds two filters or
nothing is eliminated. A forest then takes for each filter the weakest one that covers it: nothing
lies between the two, so no sibling covers another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from workloads.columns import GROUP, Columns, Integers
from workloads.covering import BLOCK, Block, Words, minimal_by_group, strength

__all__ = ["Bulk", "bulk_table", "is_bulk"]

#: The full order takes a bit for each pair: a quarter of a gigabyte for so many filters.
_MOST_IN_ORDER: Final = 45_000
_CHUNK: Final = 1024


@dataclass
class Bulk:
    """Nodes as rows of the columns, in order; pairs and edges as places among the nodes."""

    rows: Integers
    pair_nodes: Integers
    pair_interfaces: Integers
    parents: Integers
    children: Integers


def is_bulk(structure: str, columns: Columns, interfaces: Integers, *, local: bool) -> bool:
    """Return whether the table is determined by the pairs, and these by columns."""
    if not columns.all_plain:
        return False
    if structure in ("fp", "linear"):
        return len(columns) <= _MOST_IN_ORDER
    return structure == "nrf" or local or len(np.unique(interfaces)) == len(interfaces)


def bulk_table(
    structure: str, columns: Columns, interfaces: Integers, *, local: bool = False
) -> Bulk:
    """Return the table of filters that interfaces hold, each row a pair; plain filters only.

    O(n²) pairs of filters at 64 to a word for the full order; for a forest, each filter is compared
    with stronger ones until one covers it.

    >>> from posetlib.parsing import parse_filter
    >>> from workloads.columns import Vocabulary, encode_filters
    >>> texts = "x in [0, 9]", "x = 3", "x in [0, 5]"
    >>> rows = encode_filters([parse_filter(text) for text in texts], Vocabulary())
    >>> made = bulk_table("pf", rows, np.array([0, 1, 2]))
    >>> made.parents.tolist(), made.children.tolist()
    ([2, 0], [1, 2])
    """
    every = np.arange(len(columns))
    first, node = _distinct(columns)
    kept = every if local else minimal_by_group(columns, interfaces, GROUP)
    # Filters that nobody holds any more are no nodes.
    used, nodes = np.unique(node[kept], return_inverse=True)
    filters = columns.take(first[used])
    parents, children = _order(filters) if structure in ("fp", "linear") else _forest(filters)
    return Bulk(first[used], *_pairs(nodes, interfaces[kept]), parents, children)


def _distinct(columns: Columns) -> tuple[Integers, Integers]:
    """Return the first row of each filter, and for each row the place of its filter."""
    keys = [each for side in (columns.lows, columns.highs) for each in side.values()]
    rows = np.arange(len(columns))
    order = np.lexsort((rows, *keys))
    differs = np.zeros(len(order), np.bool_)
    differs[:1] = True
    for key in keys:
        differs[1:] |= key[order][1:] != key[order][:-1]
    first = order[differs]
    which = np.empty(len(order), np.int64)
    which[order] = np.cumsum(differs) - 1
    # In the order of their first rows.
    place = np.empty(len(first), np.int64)
    by_row = np.argsort(first)
    place[by_row] = np.arange(len(first))
    return first[by_row], place[which]


def _pairs(nodes: Integers, interfaces: Integers) -> tuple[Integers, Integers]:
    """Return each pair once, in order of the nodes, then as they came."""
    rows = np.arange(len(nodes))
    order = np.lexsort((rows, interfaces, nodes))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(nodes[order]) != 0) | (np.diff(interfaces[order]) != 0)
    chosen = np.sort(order[new])
    chosen = chosen[np.argsort(nodes[chosen], kind="stable")]
    return nodes[chosen], interfaces[chosen]


def _forest(filters: Columns) -> tuple[Integers, Integers]:
    """Return an edge to each filter from the weakest that covers it."""
    power = strength(filters)
    order = np.argsort(power, kind="stable")
    parent = np.full(len(filters), -1)
    for start in range(0, len(order), BLOCK):
        left = order[start : start + BLOCK]
        block = Block(filters.take(left))
        # Whoever covers is stronger, so that none who does comes before.
        at = start
        while at < len(order) and len(left):
            chunk = order[at : at + _CHUNK]
            at += len(chunk)
            bits = block.covered(filters, chunk)
            _clear_self(bits, chunk, left)
            any_ = np.bitwise_or.reduce(bits, axis=0)
            hit = np.unpackbits(any_.view(np.uint8), bitorder="little", count=block.count)
            found = np.flatnonzero(hit)
            if not len(found):
                continue
            columns = bits[:, found >> 6] >> (found & 63).astype(np.uint64) & np.uint64(1)
            weakest = columns.argmax(axis=0)
            open_ = parent[left[found]] < 0
            parent[left[found[open_]]] = chunk[weakest[open_]]
            if 2 * len(found) > len(left):
                left = left[parent[left] < 0]
                block = Block(filters.take(left))
    children = np.flatnonzero(parent >= 0)
    return parent[children], children


def _clear_self(bits: Words, chunk: Integers, left: Integers) -> None:
    _, mine, theirs = np.intersect1d(chunk, left, return_indices=True)
    bits[mine, theirs >> 6] &= ~(np.uint64(1) << (theirs & 63).astype(np.uint64))


def _order(filters: Columns) -> tuple[Integers, Integers]:
    """Return the edges of the full order: each filter to the strongest that it covers, and so on.

    The strongest filter below another is a child of it; what that one covers is none. The sets are
    the bits of Python's integers, the strongest filter first.
    """
    order = np.argsort(-strength(filters), kind="stable")
    ranked = filters.take(order)
    below = [0] * len(order)
    for start in range(0, len(order), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(order)))
        block = Block(ranked.take(rows))
        for chunk in range(0, rows[-1] + 1, _CHUNK):
            some = np.arange(chunk, min(chunk + _CHUNK, rows[-1] + 1))
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

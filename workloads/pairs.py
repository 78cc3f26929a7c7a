"""What is found in two blocks of filters that meet: functions for the workers, and their outcome.

A comparison takes two ``BlockRows`` and returns arrays. It knows nothing of where the blocks come
from, so that it serves columns that were sent to a worker as well as blocks that were joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.covering import Block, bit_pairs, covering_pairs, covers_rowwise
from posetlib.arrays.ranges import FilterRanges

__all__ = [
    "MANY",
    "BlockRows",
    "Found",
    "clear_bits",
    "covered_pairs",
    "edge_faults",
    "equivalent_pairs",
    "equivalent_rows",
    "first_coverers",
    "found_pairs",
    "held_elsewhere",
    "holders_above",
    "same_labels",
    "strictly_covered",
    "without_self",
]

_SAMPLE: Final = 20
#: The holder of a filter that is wanted everywhere.
MANY: Final = -1


@dataclass
class BlockRows:
    """A block in a worker: numbers, labels, and the filters as columns, group included."""

    numbers: IntArray
    labels: IntArray
    columns: FilterRanges


@dataclass
class Found:
    """How many pairs there are, and the first of them with a label each."""

    total: int
    pairs: list[tuple[int, int, int]]

    @classmethod
    def sum(cls, parts: list[Found], limit: int) -> Found:
        """Return all that was found."""
        pairs = sorted(pair for part in parts for pair in part.pairs)
        return cls(sum(part.total for part in parts), pairs[:limit])


# -- covering --------------------------------------------------------------------------------------


def found_pairs(one: BlockRows, other: BlockRows, shown: int = _SAMPLE) -> Found:
    """Return the pairs of which the first covers the second, but not a node with itself."""
    total = 0
    some: list[tuple[int, int, int]] = []
    for f, g in covering_pairs(one.columns, other.columns, one.numbers, other.numbers):
        total += len(f)
        first = np.lexsort((other.numbers[g], one.numbers[f]))[:shown]
        some += zip(
            one.numbers[f[first]].tolist(),
            other.numbers[g[first]].tolist(),
            one.labels[f[first]].tolist(),
            strict=True,
        )
    return Found(total, sorted(some)[:shown])


def without_self(one: BlockRows, other: BlockRows) -> Words:
    """Return what the filters of a block cover in another; not themselves."""
    bits = Block(other.columns).covered(one.columns, np.arange(len(one.numbers)))
    clear_bits(bits, *same_labels(one.numbers, other.numbers))
    return bits


def clear_bits(bits: Words, rows: IntArray, which: IntArray) -> None:
    """Take out of the sets of some rows one member each."""
    np.bitwise_and.at(bits, (rows, which >> 6), ~(np.uint64(1) << (which & 63).astype(np.uint64)))


def same_labels(ones: IntArray, others: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of rows with the same label."""
    order = np.argsort(others, kind="stable")
    begin = np.searchsorted(others[order], ones, side="left")
    lengths = np.searchsorted(others[order], ones, side="right") - begin
    offsets = np.repeat(begin - np.cumsum(lengths) + lengths, lengths)
    return np.repeat(np.arange(len(ones)), lengths), order[offsets + np.arange(len(offsets))]


def edge_faults(
    parents: FilterRanges, children: FilterRanges, above: IntArray, below: IntArray
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the edges that do not go strictly down: both ends, and whether the parent covers."""
    down = covers_rowwise(parents, children)
    wrong = np.flatnonzero(~down | covers_rowwise(children, parents))
    return above[wrong], below[wrong], down[wrong]


def first_coverers(one: BlockRows, other: BlockRows) -> tuple[IntArray, IntArray]:
    """Return what is covered, and for each the other node with the lowest number that covers it."""
    rows, which = bit_pairs(without_self(one, other))
    order = np.lexsort((one.numbers[rows], which))
    covered, first = np.unique(which[order], return_index=True)
    return other.numbers[covered], one.numbers[rows[order[first]]]


def covered_pairs(one: BlockRows, other: BlockRows) -> tuple[IntArray, IntArray]:
    """Return number and label of what another node of the same group covers."""
    covered = np.bitwise_or.reduce(without_self(one, other), axis=0)
    rows = bit_pairs(covered[None, :])[1]
    return other.numbers[rows], other.labels[rows]


def strictly_covered(one: BlockRows, other: BlockRows) -> IntArray:
    """Return what another filter covers; of equivalent ones all but the first."""
    rows, which = bit_pairs(without_self(one, other))
    # Only with a later equivalent is the first one covered by what it covers itself.
    later = np.flatnonzero(one.numbers[rows] > other.numbers[which])
    back = covers_rowwise(other.columns.take(which[later]), one.columns.take(rows[later]))
    keep = np.ones(len(rows), np.bool_)
    keep[later[back]] = False
    return np.unique(other.numbers[which[keep]])


# -- equivalence -----------------------------------------------------------------------------------


def equivalent_rows(
    one: FilterRanges, other: FilterRanges, ones: IntArray, others: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the numbers of the rows that cover each other."""
    both = np.flatnonzero(covers_rowwise(one, other) & covers_rowwise(other, one))
    return ones[both], others[both]


def equivalent_pairs(one: BlockRows, other: BlockRows) -> tuple[IntArray, IntArray]:
    """Return pairs of equivalent filters, the lower number first."""
    rows, which = bit_pairs(without_self(one, other))
    once = one.numbers[rows] < other.numbers[which]
    rows, which = rows[once], which[once]
    back = covers_rowwise(other.columns.take(which), one.columns.take(rows))
    return one.numbers[rows[back]], other.numbers[which[back]]


# -- holders ---------------------------------------------------------------------------------------


def _by_holder(one: BlockRows, other: BlockRows) -> tuple[IntArray, Words]:
    """Return, by holder, what the filters of a block cover in another."""
    bits = without_self(one, other)
    order = np.argsort(one.labels, kind="stable")
    holders, starts = np.unique(one.labels[order], return_index=True)
    return holders, np.bitwise_or.reduceat(bits[order], starts, axis=0)


def holders_above(one: BlockRows, other: BlockRows) -> tuple[IntArray, IntArray]:
    """Return, for what is covered, the one holder of all that covers it; -1 if there are more."""
    holders, bits = _by_holder(one, other)
    once = np.zeros(bits.shape[1], np.uint64)
    more = np.zeros(bits.shape[1], np.uint64)
    for row, holder in zip(bits, holders.tolist(), strict=True):
        more |= row if holder == MANY else once & row
        once |= row
    which, covered = bit_pairs(bits & ~more)
    several = bit_pairs(more[None, :])[1]
    numbers = np.concatenate([other.numbers[covered], other.numbers[several]])
    return numbers, np.concatenate([holders[which], np.full(len(several), MANY)])


def held_elsewhere(one: BlockRows, other: BlockRows) -> IntArray:
    """Return what is covered by a filter that someone else than the label's interface holds."""
    holders, bits = _by_holder(one, other)
    which, covered = bit_pairs(bits)
    return np.unique(other.numbers[covered[holders[which] != other.labels[covered]]])

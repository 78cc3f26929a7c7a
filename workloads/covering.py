"""Who covers whom among many filters, 64 pairs to a word.

For a block of filters G and each end of each attribute there is a table with one row of bits for
every distinct end: the filters of G that end no further out. A filter f picks one row from each
table, and their intersection is what f covers, as far as the columns say; where they cannot say all
(``Columns.plain``, ``.firm``), the filters themselves are asked about the pairs that are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from workloads.columns import EVERYTHING, Booleans, Columns, Integers

__all__ = [
    "BLOCK",
    "Block",
    "bit_pairs",
    "covered_rows",
    "covering_pairs",
    "covers_rowwise",
    "minimal",
    "minimal_by_group",
    "strength",
]

Words: TypeAlias = npt.NDArray[np.uint64]
#: So many filters make tables that stay in a processor's cache.
BLOCK: Final = 4096


class Block:
    """The tables for up to some thousand filters that may be covered."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.count = len(columns)
        self.words = (self.count + 63) // 64
        self._tables: dict[str, tuple[Integers, Words, Integers, Words]] = {}
        for name in columns.lows:
            low, high = columns.lows[name], columns.highs[name]
            loose = columns.loose.get(name)
            if loose is not None:
                low, high = (
                    np.where(loose, EVERYTHING[1], low),
                    np.where(loose, EVERYTHING[0], high),
                )
            self._tables[name] = (*self._reach(low, up=True), *self._reach(high, up=False))

    def _reach(self, ends: Integers, *, up: bool) -> tuple[Integers, Words]:
        """Return the distinct ends, and by rank the filters at it or beyond (up), or before it."""
        distinct, rank = np.unique(ends, return_inverse=True)
        table = np.zeros((len(distinct) + 1, self.words), np.uint64)
        rows = np.arange(self.count)
        bits = np.uint64(1) << (rows & 63).astype(np.uint64)
        # In the table a filter stands at its own rank (up) or at the one after it.
        np.bitwise_or.at(table, (rank if up else rank + 1, rows >> 6), bits)
        if up:
            np.bitwise_or.accumulate(table[::-1], axis=0, out=table[::-1])
        else:
            np.bitwise_or.accumulate(table, axis=0, out=table)
        return distinct, table

    def covered(self, others: Columns, rows: Integers) -> Words:
        """Return, for rows of other filters, the filters of the block that each covers, as bits.

        About a tenth of a nanosecond for a pair of plain filters of two attributes.
        """
        found = self._allowed(others, rows)
        if not (others.all_plain and self.columns.firm.all()):
            self._ask(others, rows, found)
        return found

    def _allowed(self, others: Columns, rows: Integers) -> Words:
        found = np.full((len(rows), self.words), ~np.uint64(0))
        if self.count & 63:
            found[:, -1] = (np.uint64(1) << np.uint64(self.count & 63)) - np.uint64(1)
        for name, all_lows in others.lows.items():
            lows, highs = all_lows[rows], others.highs[name][rows]
            tables = self._tables.get(name)
            if tables is None:
                # No filter of the block asks for the attribute: only who asks nothing covers any.
                found[lows != EVERYTHING[0]] = 0
                continue
            low_ends, low_table, high_ends, high_table = tables
            found &= low_table[np.searchsorted(low_ends, lows, side="left")]
            found &= high_table[np.searchsorted(high_ends, highs, side="right")]
        return found

    def _ask(self, others: Columns, rows: Integers, found: Words) -> None:
        """Clear the bits of pairs that the filters themselves deny."""
        doubtful = found
        plain = others.plain[rows]
        if plain.any():
            unsure = _as_bits(~self.columns.firm, self.words)
            doubtful = np.where(plain[:, None], found & unsure, found)
        mine: dict[int, object] = {}
        for at, each in _pairs(doubtful):
            one = others.filter(int(rows[at]))
            other = mine.get(each)
            if other is None:
                other = mine[each] = self.columns.filter(each)
            if not one.covers(other):  # type: ignore[arg-type]
                found[at, each >> 6] &= ~(np.uint64(1) << np.uint64(each & 63))


def _as_bits(flags: Booleans, words: int) -> Words:
    packed = np.packbits(flags, bitorder="little")
    padded = np.zeros(words * 8, np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)


def _flags(bits: Words, count: int) -> Booleans:
    """Return a row of bits as booleans."""
    return np.unpackbits(bits.view(np.uint8), bitorder="little", count=count).astype(np.bool_)


def _pairs(bits: Words) -> Iterator[tuple[int, int]]:
    at, each = bit_pairs(bits)
    return zip(at.tolist(), each.tolist(), strict=True)


def bit_pairs(bits: Words) -> tuple[Integers, Integers]:
    """Return the places of all bits that are set, as rows and columns."""
    rows, words = np.nonzero(bits)
    spread = np.unpackbits(
        np.ascontiguousarray(bits[rows, words]).view(np.uint8).reshape(-1, 8),
        axis=1,
        bitorder="little",
    )
    which, places = np.nonzero(spread)
    return rows[which], words[which] * 64 + places


def _blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def covered_rows(coverers: Columns, covered: Columns) -> Booleans:
    """Return which filters are covered by at least one of others.

    >>> from posetlib.parsing import parse_filter
    >>> from workloads.columns import Vocabulary, encode_filters
    >>> wide = encode_filters([parse_filter("x in [0, 9]")], words := Vocabulary())
    >>> covered_rows(wide, encode_filters([parse_filter("x = 3"), parse_filter("x > 3")], words))
    array([ True, False])
    """
    result = np.zeros(len(covered), np.bool_)
    for part in _blocks(len(covered)):
        result[part] = _any_covers(coverers, covered.take(np.arange(part.start, part.stop)))
    return result


def _any_covers(coverers: Columns, some: Columns) -> Booleans:
    """Return which of up to a block of filters are covered; who is covered is compared no more."""
    left = np.arange(len(some))
    covered = np.zeros(len(some), np.bool_)
    block = Block(some)
    for part in _blocks(len(coverers), 1024):
        bits = block.covered(coverers, np.arange(part.start, part.stop))
        hit = _flags(np.bitwise_or.reduce(bits, axis=0), block.count)
        covered[left[hit]] = True
        if 2 * np.count_nonzero(hit) > len(left):
            left = left[~covered[left]]
            if not len(left):
                break
            block = Block(some.take(left))
    return covered


def covering_pairs(
    coverers: Columns, covered: Columns, ids: Integers, other_ids: Integers
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the rows of pairs of which the first covers the second; not one with its own id."""
    for target in _blocks(len(covered)):
        block = Block(covered.take(np.arange(target.start, target.stop)))
        for part in _blocks(len(coverers)):
            one, other = bit_pairs(block.covered(coverers, np.arange(part.start, part.stop)))
            one, other = one + part.start, other + target.start
            apart = ids[one] != other_ids[other]
            if apart.any():
                yield one[apart], other[apart]


def covers_rowwise(coverers: Columns, covered: Columns) -> Booleans:
    """Return whether each filter covers the one in the same row: O(n).

    >>> from posetlib.parsing import parse_filter
    >>> from workloads.columns import Vocabulary, encode_filters
    >>> one = encode_filters([parse_filter(text) for text in ("x > 3", "x = 3")], w := Vocabulary())
    >>> other = encode_filters([parse_filter(text) for text in ("x = 4", "x > 3")], w)
    >>> covers_rowwise(one, other)
    array([ True, False])
    """
    result = np.ones(len(covered), np.bool_)
    for name, lows in coverers.lows.items():
        if name not in covered.lows:
            result &= lows == EVERYTHING[0]
            continue
        held = (lows <= covered.lows[name]) & (coverers.highs[name] >= covered.highs[name])
        loose = covered.loose.get(name)
        result &= held if loose is None else held | loose
    for row in np.flatnonzero(result & ~(coverers.plain & covered.firm)).tolist():
        result[row] = coverers.filter(row).covers(covered.filter(row))
    return result


# -- the minimal cover -----------------------------------------------------------------------------


def strength(columns: Columns) -> Integers:
    """Return a number that is larger for whoever covers, as far as the columns say: O(n log n)."""
    total = np.zeros(len(columns), np.int64)
    for name, low in columns.lows.items():
        total -= np.unique(low, return_inverse=True)[1]
        total += np.unique(columns.highs[name], return_inverse=True)[1]
    return total


def minimal(columns: Columns, ids: Integers) -> Integers:
    """Return the rows that no other filter covers, of equivalent ones the one with the lowest id.

    The strongest come first, so that each filter is held against the cover so far and no more:
    O(n c) pairs for a cover of c filters.

    >>> from posetlib.parsing import parse_filter
    >>> from workloads.columns import Vocabulary, encode_filters
    >>> texts = "x = 3", "x in [0, 9]", "x > 3", "x in [0, 9]"
    >>> rows = encode_filters([parse_filter(text) for text in texts], Vocabulary())
    >>> minimal(rows, np.array([4, 3, 2, 1]))
    array([2, 3])
    """
    rows = _distinct(columns, ids)
    order = rows[np.lexsort((ids[rows], ~columns.plain[rows], -strength(columns.take(rows))))]
    kept = np.zeros(0, np.int64)
    size = 256
    start = 0
    while start < len(order):
        some = order[start : start + size]
        start += size
        size = min(2 * size, BLOCK)
        if len(kept):
            some = some[~_any_covers(columns.take(kept), columns.take(some))]
        kept = np.concatenate([kept, _without_covered(columns, some, ids)])
    if not columns.plain[kept].all():
        # Among filters that are more than their ends, equal strength says nothing of the order.
        kept = _without_covered(columns, kept, ids)
    return np.sort(kept)


def minimal_by_group(columns: Columns, groups: Integers, name: str) -> Integers:
    """Return the rows that no other row of their group covers; of equal ones the first.

    Small groups are taken together, as many as make a block, so that many groups cost no more than
    few: O(n) pairs for each filter of a block or of a group, whichever is more.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(groups[order])) + 1, [len(order)]])
    kept = []
    begin = 0
    while begin < len(order):
        # The last group that still ends within a block, but at least one.
        end = starts[np.searchsorted(starts, begin + BLOCK, side="right") - 1]
        if end <= begin:
            end = starts[np.searchsorted(starts, begin, side="right")]
        rows = order[begin:end]
        some = columns.take(rows).with_group(name, groups[rows])
        kept.append(rows[minimal(some, rows)])
        begin = int(end)
    return np.sort(np.concatenate(kept)) if kept else order


def _distinct(columns: Columns, ids: Integers) -> Integers:
    """Return one row for each filter: that with the lowest id. Only plain ones are told apart."""
    plain = np.flatnonzero(columns.plain)
    keys = [each[plain] for side in (columns.lows, columns.highs) for each in side.values()]
    order = np.lexsort((ids[plain], *keys))
    differs = np.zeros(len(order), np.bool_)
    differs[:1] = True
    for key in keys:
        ordered = key[order]
        differs[1:] |= ordered[1:] != ordered[:-1]
    return np.concatenate([plain[order[differs]], np.flatnonzero(~columns.plain)])


def _without_covered(columns: Columns, rows: Integers, ids: Integers) -> Integers:
    """Return the rows that no other of them covers; of two equivalent ones the lower id stays."""
    some = columns.take(rows)
    own = ids[rows]
    covered = np.zeros(len(rows), np.bool_)
    for one, other in covering_pairs(some, some, own, own):
        for f, g in zip(one.tolist(), other.tolist(), strict=True) if not some.all_plain else ():
            if own[f] < own[g] or not some.filter(g).covers(some.filter(f)):
                covered[g] = True
        if some.all_plain:
            # No two of them are equivalent: those that were have been reduced to one.
            covered[other] = True
    return rows[~covered]

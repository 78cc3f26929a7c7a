"""Which of many filters cover which others, for 64 pairs of filters at a time.

Filters that may be covered are put into a ``Block``. For each axis, a block has one table for low
ends and one for high ends. A table has a row for every distinct end: the set, in bits, of the
block's filters that reach no further out than this end. Another filter chooses one row from each
table by its own ends; the filters in all these rows are those that it covers, as far as ends tell.
If the ends do not tell everything (``FilterRanges.plain`` and ``.firm``), the pairs that are left
are compared as filter objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.meeting import meetings
from posetlib.arrays.ranges import FilterRanges, Ranges, joined, no_constraint
from posetlib.bits import WORD, bit_in_word, bit_pairs, full_sets, packed, unpacked

__all__ = [
    "BLOCK",
    "Block",
    "beaten_rows",
    "bit_pairs",
    "covered_rows",
    "covering_pairs",
    "covers_rowwise",
    "distinct_rows",
    "minimal",
    "minimal_by_group",
    "strength",
    "weakest_first",
]

#: Filters in a block at most. A table of this many filters has up to 4096 rows of 512 bytes, that
#: is 2 MB, which stay in a processor's cache.
BLOCK: Final = 4096
# Filters that are compared with a block at a time, as coverers of its filters.
_COVERERS: Final = 1024
# Filters that are close together, and are compared with the same others.
_GROUP: Final = 1024
# Filters in the first block of ``minimal``; each further block is twice as large, up to the last.
_FIRST_BLOCK: Final = 256
_LAST_BLOCK: Final = 1 << 17


class Block:
    """The tables of up to some thousand filters that may be covered.

    Memory: up to count² / 4 bytes for each axis, where count is the number of filters.
    """

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self.count = len(ranges)
        self.words = -(-self.count // WORD)
        # Axis -> distinct low ends, their table, distinct high ends, their table.
        self._tables: dict[Any, tuple[Any, Words, Any, Words]] = {}
        for axis in ranges.lows:
            low, high = ranges.loosened(axis)
            self._tables[axis] = (*self._reach(low, up=True), *self._reach(high, up=False))

    def _reach(self, ends: Any, *, up: bool) -> tuple[Any, Words]:
        """Return the distinct ends in ascending order, and their table.

        Row r of the table has the filters with the r-th end or a greater one (``up``), or else the
        filters with an end before the r-th one.
        """
        distinct, rank = np.unique(ends, return_inverse=True)
        table = np.zeros((len(distinct) + 1, self.words), np.uint64)
        rows = np.arange(self.count)
        # First each filter is only in the row of its own rank (up), or in the row after that.
        np.bitwise_or.at(table, (rank if up else rank + 1, rows // WORD), bit_in_word(rows))
        if up:
            np.bitwise_or.accumulate(table[::-1], axis=0, out=table[::-1])
        else:
            np.bitwise_or.accumulate(table, axis=0, out=table)
        return distinct, table

    def covered(self, others: Ranges, rows: IntArray) -> Words:
        """Return, for some rows of other filters, the filters of the block that each covers.

        The result has one set, as bits, for each of the rows. A pair of plain filters with two
        attributes takes about a tenth of a nanosecond.
        """
        found = self._allowed(others, rows)
        if not (others.all_plain and self.ranges.all_firm):
            assert isinstance(others, FilterRanges)
            assert isinstance(self.ranges, FilterRanges)
            self._compare(others, self.ranges, rows, found)
        return found

    def _allowed(self, others: Ranges, rows: IntArray) -> Words:
        """Return the filters of the block that each row covers as far as ends tell."""
        found = full_sets(len(rows), self.count)
        for name, all_lows in others.lows.items():
            lows, highs = all_lows[rows], others.highs[name][rows]
            tables = self._tables.get(name)
            if tables is None:
                # No filter of the block has a range on this axis, so a filter with one covers none.
                found[lows != no_constraint(lows)] = 0
                continue
            low_ends, low_table, high_ends, high_table = tables
            found &= low_table[np.searchsorted(low_ends, lows, side="left")]
            found &= high_table[np.searchsorted(high_ends, highs, side="right")]
        return found

    def _compare(
        self, others: FilterRanges, own: FilterRanges, rows: IntArray, found: Words
    ) -> None:
        """Compare filter objects where ends do not tell everything, and clear the bits of others.

        Between a plain filter and a firm one, ends tell everything.
        """
        doubtful = found
        plain = others.plain[rows]
        if plain.any():
            unsure = packed(~own.firm)
            doubtful = np.where(plain[:, None], found & unsure, found)
        mine: dict[int, object] = {}
        for at, each in _pairs(doubtful):
            one = others.filter(int(rows[at]))
            other = mine.get(each)
            if other is None:
                other = mine[each] = own.filter(each)
            if not one.covers(other):  # type: ignore[arg-type]
                found[at, each >> 6] &= ~(np.uint64(1) << np.uint64(each & 63))


def _pairs(bits: Words) -> Iterator[tuple[int, int]]:
    """Return what ``bit_pairs`` returns as pairs of Python integers."""
    at, each = bit_pairs(bits)
    return zip(at.tolist(), each.tolist(), strict=True)


def _blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """Return the rows below ``count`` in slices of ``size``."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def covered_rows(coverers: FilterRanges, covered: FilterRanges) -> BoolArray:
    """Return which filters are covered by at least one of the coverers: O(n m) pairs at most.

    >>> from posetlib.filters import parse_filter
    >>> from posetlib.arrays import Vocabulary, encode_filters
    >>> wide = encode_filters([parse_filter("x in [0, 9]")], words := Vocabulary())
    >>> covered_rows(wide, encode_filters([parse_filter("x = 3"), parse_filter("x > 3")], words))
    array([ True, False])
    """
    result = np.zeros(len(covered), np.bool_)
    for rows, some in meetings(covered, coverers, _GROUP):
        result[rows] = _any_covers(coverers, some, covered.take(rows))
    return result


def _any_covers(coverers: FilterRanges, rows: IntArray, some: FilterRanges) -> BoolArray:
    """Return which of a few filters are covered by at least one row of the coverers.

    When more than half of the filters left are found covered, a new block is made of the others.
    """
    left = np.arange(len(some))
    covered = np.zeros(len(some), np.bool_)
    block = Block(some)
    for part in _blocks(len(rows), _COVERERS):
        bits = block.covered(coverers, rows[part])
        hit = unpacked(np.bitwise_or.reduce(bits, axis=0), block.count)
        covered[left[hit]] = True
        if 2 * np.count_nonzero(hit) > len(left):
            left = left[~covered[left]]
            if not len(left):
                break
            block = Block(some.take(left))
    return covered


def beaten_rows(
    some: FilterRanges, ids: IntArray, others: FilterRanges, other_ids: IntArray
) -> BoolArray:
    """Return which filters another one beats: it covers them, and is not equivalent or older.

    Of two equivalent filters, the one with the lower id is older, and filters with the same id are
    one. So what no filter of a set beats is its minimal cover, and each part of the set may be held
    against each other part on its own.

    >>> from posetlib.filters import parse_filter
    >>> from posetlib.arrays import Vocabulary, encode_filters
    >>> texts = "x = 3", "x in [0, 9]", "x in [0, 9]"
    >>> rows = encode_filters([parse_filter(text) for text in texts], Vocabulary())
    >>> beaten_rows(rows, np.array([1, 3, 2]), rows, np.array([1, 3, 2])).tolist()
    [True, True, False]
    """
    if some.all_plain and others.all_plain:
        return _beaten_plain(some, ids, others, other_ids)
    result = np.zeros(len(some), np.bool_)
    for rows, them in meetings(some, others, _GROUP):
        block = Block(some.take(rows))
        for part in _blocks(len(them), _COVERERS):
            found, at = bit_pairs(block.covered(others, them[part]))
            one, other = them[part][found], rows[at]
            newer = other_ids[one] >= ids[other]
            hit = np.ones(len(one), np.bool_)
            # What is older beats what it covers, and so does what covers it strictly.
            hit[newer] = ~covers_rowwise(some.take(other[newer]), others.take(one[newer]))
            result[other[hit]] = True
    return result


def _beaten_plain(
    some: FilterRanges, ids: IntArray, others: FilterRanges, other_ids: IntArray
) -> BoolArray:
    """Return what ``beaten_rows`` returns, for plain filters: equivalent ones are equal."""
    _, number = distinct_rows(joined([others, some]))
    numbers, own = number[: len(others)], number[len(others) :]
    # The oldest of the equal ones represents them.
    order = np.lexsort((other_ids, numbers))
    first = np.ones(len(order), np.bool_)
    first[1:] = np.diff(numbers[order]) != 0
    oldest = order[first]
    equal = np.full(int(number.max(initial=-1)) + 1, -1)
    equal[numbers[oldest]] = np.arange(len(oldest))
    equal = equal[own]
    result = equal >= 0
    result[result] = other_ids[oldest[equal[result]]] < ids[result]
    rest = others.take(oldest)
    for rows, them in meetings(some, rest, _GROUP):
        left = rows[~result[rows]]
        if not len(left):
            continue
        block = Block(some.take(left))
        for part in _blocks(len(them), _COVERERS):
            if not len(left):
                break
            bits = block.covered(rest, them[part])
            at = np.searchsorted(them[part], equal[left])
            mine = np.flatnonzero(them[part].take(at, mode="clip") == equal[left])
            bits[at[mine], mine // WORD] &= ~bit_in_word(mine)
            hit = unpacked(np.bitwise_or.reduce(bits, axis=0), block.count)
            result[left[hit]] = True
            if 2 * np.count_nonzero(hit) > len(left):
                left = left[~result[left]]
                block = Block(some.take(left))
    return result


def distinct_rows(ranges: FilterRanges) -> tuple[IntArray, IntArray]:
    """Return the first row of each distinct filter, and for each row the number of its filter.

    Filters are numbered in the order of their first rows. Only ends are considered.
    """
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
    number = np.empty(len(first), np.int64)
    by_row = np.argsort(first)
    number[by_row] = np.arange(len(first))
    return first[by_row], number[which]


def covering_pairs(
    coverers: FilterRanges, covered: FilterRanges, ids: IntArray, other_ids: IntArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of rows: the filter of the first covers that of the second, and ids differ.

    Each yield has the pairs of two blocks, as one array of rows for each side.
    """
    for target in _blocks(len(covered)):
        block = Block(covered.take(np.arange(target.start, target.stop)))
        for part in _blocks(len(coverers)):
            one, other = bit_pairs(block.covered(coverers, np.arange(part.start, part.stop)))
            one, other = one + part.start, other + target.start
            apart = ids[one] != other_ids[other]
            if apart.any():
                yield one[apart], other[apart]


def covers_rowwise(coverers: FilterRanges, covered: FilterRanges) -> BoolArray:
    """Return whether each filter covers the one in the same row: O(n).

    >>> from posetlib.filters import parse_filter
    >>> from posetlib.arrays import Vocabulary, encode_filters
    >>> one = encode_filters([parse_filter(text) for text in ("x > 3", "x = 3")], w := Vocabulary())
    >>> other = encode_filters([parse_filter(text) for text in ("x = 4", "x > 3")], w)
    >>> covers_rowwise(one, other)
    array([ True, False])
    """
    result = np.ones(len(covered), np.bool_)
    for name, lows in coverers.lows.items():
        if name not in covered.lows:
            result &= lows == no_constraint(lows)
            continue
        held = (lows <= covered.lows[name]) & (coverers.highs[name] >= covered.highs[name])
        loose = covered.loose.get(name)
        result &= held if loose is None else held | loose
    for row in np.flatnonzero(result & ~(coverers.plain & covered.firm)).tolist():
        result[row] = coverers.filter(row).covers(covered.filter(row))
    return result


# -- the minimal cover -----------------------------------------------------------------------------


def strength(ranges: Ranges) -> IntArray:
    """Return a number for each item, such that a coverer has a larger one: O(n log n).

    It is the sum of the ranks of high ends without those of low ends. Items with equal ends have
    the same number, and only ends are considered: for filters that are not plain it is a guess.
    """
    total = np.zeros(len(ranges), np.int64)
    for name, low in ranges.lows.items():
        total -= np.unique(low, return_inverse=True)[1]
        total += np.unique(ranges.highs[name], return_inverse=True)[1]
    return total


def weakest_first(ranges: Ranges) -> IntArray:
    """Return the rows in an order in which every filter comes before those that cover it.

    Of any two filters the order is the same whatever other filters there are: first those that
    constrain more attributes, then those with narrower ranges, and then by the ends themselves.
    O(n log n).
    """
    free = np.zeros(len(ranges), np.int64)
    width = np.zeros(len(ranges), np.float64)
    keys: list[Any] = []
    for axis in sorted(ranges.lows):
        low, high = ranges.lows[axis], ranges.highs[axis]
        is_free = low == no_constraint(low)
        free += is_free
        # Rounded, a wider range is still no narrower. Where it makes no difference, ends decide.
        spread = high.astype(np.float64) - low.astype(np.float64)
        width += np.where(is_free, 0.0, spread)
        keys += [high, -low if low.dtype.kind == "f" else ~low]
    return np.lexsort((*keys, width, free))


def minimal(ranges: FilterRanges, ids: IntArray) -> IntArray:
    """Return the rows that no other filter covers; of equivalent filters that with the lowest id.

    The strongest filters come first, so that each filter is compared only with the rows that are
    kept so far: O(n c) pairs if c rows are kept.

    >>> from posetlib.filters import parse_filter
    >>> from posetlib.arrays import Vocabulary, encode_filters
    >>> texts = "x = 3", "x in [0, 9]", "x > 3", "x in [0, 9]"
    >>> rows = encode_filters([parse_filter(text) for text in texts], Vocabulary())
    >>> minimal(rows, np.array([4, 3, 2, 1]))
    array([2, 3])
    """
    rows = _distinct(ranges, ids)
    order = rows[np.lexsort((ids[rows], ~ranges.plain[rows], -strength(ranges.take(rows))))]
    kept = np.zeros(0, np.int64)
    size = _FIRST_BLOCK
    start = 0
    while start < len(order):
        some = order[start : start + size]
        start += size
        size = min(2 * size, _LAST_BLOCK)
        if len(kept):
            some = some[~covered_rows(ranges.take(kept), ranges.take(some))]
        kept = np.concatenate([kept, _without_covered(ranges, some, ids)])
    if not ranges.plain[kept].all():
        # A filter that is not plain may cover one that came before it, because strength considers
        # only the ends.
        kept = _without_covered(ranges, kept, ids)
    return np.sort(kept)


def minimal_by_group(ranges: FilterRanges, groups: IntArray) -> IntArray:
    """Return the rows that no other row of their group covers; of equivalent rows the first.

    Small groups are put together into one block, so that many small groups cost no more than few
    large ones: each row is compared with at most the rows of its block, or of its group if that is
    larger.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(groups[order])) + 1, [len(order)]])
    kept = []
    begin = 0
    while begin < len(order):
        # All groups that end within the next block, but at least one group.
        end = starts[np.searchsorted(starts, begin + BLOCK, side="right") - 1]
        if end <= begin:
            end = starts[np.searchsorted(starts, begin, side="right")]
        rows = order[begin:end]
        some = ranges.take(rows).with_group(groups[rows])
        kept.append(rows[minimal(some, rows)])
        begin = int(end)
    return np.sort(np.concatenate(kept)) if kept else order


def _distinct(ranges: FilterRanges, ids: IntArray) -> IntArray:
    """Return one row for each distinct plain filter, that with the lowest id, and all others."""
    plain = np.flatnonzero(ranges.plain)
    keys = [each[plain] for side in (ranges.lows, ranges.highs) for each in side.values()]
    order = np.lexsort((ids[plain], *keys))
    differs = np.zeros(len(order), np.bool_)
    differs[:1] = True
    for key in keys:
        ordered = key[order]
        differs[1:] |= ordered[1:] != ordered[:-1]
    return np.concatenate([plain[order[differs]], np.flatnonzero(~ranges.plain)])


def _without_covered(ranges: FilterRanges, rows: IntArray, ids: IntArray) -> IntArray:
    """Return the rows that none of them covers but themselves; of equivalent rows the oldest."""
    some, own = ranges.take(rows), ids[rows]
    return rows[~beaten_rows(some, own, some, own)]

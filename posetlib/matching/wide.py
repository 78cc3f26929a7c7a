"""Wide filters: many ranges of numbers each, of which a notification satisfies few.

A filter with ten ranges rarely matches. So it is enough to know which filters a value surely
excludes: one bit for each cell of values and filter. The few filters that no value excludes, the
*candidates*, are compared with the notification by the ends of their ranges, all at once.

Filters lie in *blocks*, as many to a block as the processor's caches hold bits of. The filters of a
block have ranges in the same zone of one attribute, as far as possible: a notification with another
value there need not look at the block.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Iterator, Sequence
from itertools import chain, compress, pairwise
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import BoolArray, FloatArray, ObjectArray, Words, as_objects
from posetlib.bits import WORD, unpacked
from posetlib.constraints.base import Constraint
from posetlib.filters.filter import Filter, check_notification
from posetlib.graph.change import Pair
from posetlib.graph.counters import Counters
from posetlib.matching.cells import UNCUT_ROWS, UNKNOWN, Cells, as_floats, is_held
from posetlib.matching.grids import Grids
from posetlib.values import MISSING, lookup

__all__ = ["WideFilters", "WideRanges", "are_enough", "is_wide", "worth_reading"]

# Ranges of numbers that a filter must have to be wide.
_MIN_RANGES: Final = 5
# Wide filters that make it worth while to keep them apart from others.
_MIN_FILTERS: Final = 1024
# Attributes with bits and ends, the commonest ones. Constraints on others are tested.
_MAX_ATTRIBUTES: Final = 32
# The largest share of filters that may be left as candidates. With more, blocks are the wrong way.
_MAX_SHARE: Final = 1 / 64

# Bytes of a filter for its bits and the ends of its ranges. The ends take eight bytes for each
# attribute; what is left decides how many cells there are, within these limits.
_FILTER_BYTES: Final = 288
_MIN_CELLS: Final = 8
_MAX_CELLS: Final = 256
# Bytes of the bits of a block: they stay in the second-level cache of a processor. The bitmaps of
# the notifications that are matched together need not, since they are gone through in order.
_BLOCK_BYTES: Final = 1 << 19
_CHUNK_BYTES: Final = 3 << 19
_MAX_CHUNK: Final = 2048
# Up to this many notifications, all rows of bits of a block are gathered in one call.
_FEW_EVENTS: Final = 12
# Words with candidates that are read together.
_MAX_WORDS: Final = 1 << 15
# A block's filters share a zone of one attribute while at least this share of the filters is left.
_MIN_LEFT: Final = 1 / 16
# A block has one free slot, for a new pair, for each of this number of pairs.
_PAIRS_PER_SPARE: Final = 8

_ONES: Final = ~np.uint64(0)
_ONE: Final = np.uint64(1)
# The row after the last one of any attribute: a filter without a constraint reaches all rows.
_ALL_ROWS: Final = np.iinfo(np.uint16).max

_Numbers = NDArray[np.intp]
_Rows = NDArray[np.uint16]
_Ends = NDArray[np.float32]


class _Block(NamedTuple):
    """Some words of filters, and their bits: a set bit says that the filter refuses the row."""

    #: The first slot.
    base: int
    #: One line for each row of each attribute (see ``WideFilters._offsets``).
    table: Words
    #: The attributes that a filter of the block constrains: others refuse nothing.
    axes: _Numbers
    #: The attribute that all filters constrain to rows from ``first`` to before ``last``, if any.
    axis: int | None = None
    first: int = 0
    last: int = 0

    @property
    def words(self) -> int:
        """The number of words."""
        return int(self.table.shape[1])


class _Column(NamedTuple):
    """The ranges that some filters have on one attribute."""

    #: Which filters these are.
    at: _Numbers
    lows: FloatArray
    highs: FloatArray

    def of_some(self, chosen: BoolArray, numbers: _Numbers) -> _Column:
        """Return the ranges of the filters that are chosen, by other numbers of these."""
        good = chosen[self.at]
        if good.all():
            return _Column(numbers[self.at], self.lows, self.highs)
        return _Column(numbers[self.at[good]], self.lows[good], self.highs[good])


_NO_RANGES: Final = _Column(np.zeros(0, np.intp), np.zeros(0), np.zeros(0))


class _Events(NamedTuple):
    """The values of some notifications."""

    #: By attribute and event, the line of the value in the table of a block.
    lines: _Numbers
    #: By event and end (see ``WideFilters._ends``), the value to compare with; NaN for no number.
    values: _Ends
    #: By event and end, whether a value differs from the float32 to compare with. None if none.
    rounded: BoolArray | None
    #: By event, whether only a test of the filter can settle it. None if there is no such event.
    inexact: BoolArray | None


class WideRanges:
    """The ranges of wide filters, found among pairs of any filters."""

    def __init__(self, filters: Sequence[Filter]) -> None:
        columns, terms = _columns_of(filters)
        names = sorted(columns, key=lambda name: (-len(columns[name].at), name))
        #: The attributes, the commonest ones.
        self.names = tuple(sorted(names[:_MAX_ATTRIBUTES]))
        kept = [columns[name] for name in self.names]
        counts = _counted(kept, len(filters))
        #: Whether each of the given filters is wide.
        self.is_wide: BoolArray = counts >= _MIN_RANGES
        numbers = np.cumsum(self.is_wide) - 1
        #: The ranges of the wide filters alone, numbered among themselves, for each attribute.
        self.columns = [column.of_some(self.is_wide, numbers) for column in kept]
        #: Whether a wide filter has constraints other than these ranges.
        self.extra: BoolArray = (terms > counts)[self.is_wide]

    def __len__(self) -> int:
        return len(self.extra)


def is_wide(filter: Filter, names: Container[str]) -> bool:
    """Return whether a filter has enough ranges on attributes with these names."""
    if len(filter.terms) < _MIN_RANGES:
        return False
    named = zip(filter.attributes, filter.terms, strict=True)
    return sum(name in names and _is_range(each) for name, each in named) >= _MIN_RANGES


def worth_reading(filters: Collection[Filter]) -> bool:
    """Return whether enough filters have enough constraints to be wide; a quick first look."""
    if len(filters) < _MIN_FILTERS:
        return False
    return sum(len(filter.terms) >= _MIN_RANGES for filter in filters) >= _MIN_FILTERS


def are_enough(wide: Sequence[object]) -> bool:
    """Return whether this number of pairs of wide filters is worth keeping apart from others."""
    return len(wide) >= _MIN_FILTERS


def _is_range(constraint: Constraint) -> bool:
    """Return whether a constraint is a closed range with ends that float64 holds."""
    return constraint.is_number_range and is_held(constraint.low) and is_held(constraint.high)


def _columns_of(filters: Sequence[Filter]) -> tuple[dict[str, _Column], _Numbers]:
    """Return the ranges of filters by attribute, and how many constraints each filter has.

    Filters with too few constraints to be wide are not looked at.
    """
    lists: dict[str, tuple[list[int], list[Any], list[Any]]] = {}
    # The three calls that add a range of an attribute to its lists.
    adds: dict[str, tuple[Callable[[Any], None], ...]] = {}
    terms = np.zeros(len(filters), dtype=np.intp)
    for number, filter in enumerate(filters):
        constraints = filter.terms
        if len(constraints) < _MIN_RANGES:
            continue
        terms[number] = len(constraints)
        for name, constraint in zip(filter.attributes, constraints, strict=True):
            if constraint.is_number_range:
                if name not in adds:
                    lists[name] = [], [], []
                    adds[name] = tuple(each.append for each in lists[name])
                add_number, add_low, add_high = adds[name]
                add_number(number)
                add_low(constraint.low)
                add_high(constraint.high)
    # Each list goes as soon as there is an array of it: with a million filters these are large.
    adds.clear()
    return {name: _column(*lists.pop(name)) for name in list(lists)}, terms


def _column(at: list[int], lows: list[Any], highs: list[Any]) -> _Column:
    """Return the ranges of one attribute, without those with ends that float64 does not hold."""
    low, high = (as_floats(ends, set(map(type, ends))) for ends in (lows, highs))
    if low is None or high is None:
        held = [is_held(one) and is_held(other) for one, other in zip(lows, highs, strict=True)]
        at, lows, highs = (list(compress(each, held)) for each in (at, lows, highs))
        low, high = np.array(lows, dtype=np.float64), np.array(highs, dtype=np.float64)
    return _Column(np.array(at, dtype=np.intp), low, high)


def _counted(columns: list[_Column], size: int) -> _Numbers:
    """Return how many ranges each filter has."""
    counts = np.zeros(size, dtype=np.intp)
    for column in columns:
        counts[column.at] += 1
    return counts


class WideFilters:
    """Pairs of wide filters and interfaces, each in a numbered *slot*.

    A new pair gets a slot behind all others, and its bits when ``fold`` is called. The slot of a
    pair that goes is not used again: ``is_worn`` says when it is time to make everything anew.
    """

    def __init__(self, pairs: Sequence[Pair], ranges: WideRanges) -> None:
        self.counters = Counters()
        self._names = names = ranges.names
        self._axes = {name: axis for axis, name in enumerate(names)}
        self._read_all = itemgetter(*names)
        filters = [filter for filter, _ in pairs]
        columns = ranges.columns
        limit = 8 * (_FILTER_BYTES - 8 * len(names)) // len(names) - UNCUT_ROWS
        limit = min(max(limit, _MIN_CELLS), _MAX_CELLS)
        # The cells of each attribute, and where the lines of each begin in the table of a block.
        self._cells = [Cells.of_floats(_just_outside(column), limit=limit) for column in columns]
        sizes = [cells.size for cells in self._cells]
        self._offsets: _Numbers = np.cumsum([0, *sizes])[:-1].astype(np.intp)
        self._lines = sum(sizes)
        self._grids = Grids(self._cells, self._offsets.tolist())
        self._block_words = max(1, _BLOCK_BYTES // (8 * self._lines))
        firsts, lasts = self._reach(columns, len(filters))
        #: Whether a notification leaves few candidates. If not, this is the wrong way to match.
        self.selective = self._expected_share(firsts, lasts) <= _MAX_SHARE
        if not self.selective:
            return
        groups = list(self._groups(firsts, lasts))
        #: The slots of the pairs, in their order.
        self.slots: _Numbers = np.zeros(len(filters), dtype=np.intp)
        base = 0
        for _, members in groups:
            self.slots[members] = np.arange(base, base + len(members))
            base += -(-len(members) // WORD) * WORD
        # The slots from here on are for new pairs: those up to ``_used`` have one, and those up to
        # ``_folded`` have their bits.
        self._tail = self._used = self._folded = base
        spare = -(-(len(pairs) // _PAIRS_PER_SPARE + 1) // WORD) * WORD
        self._size = base + spare
        # By slot, the filter and the interface; None for a slot without a pair.
        self._filters: ObjectArray = np.full(self._size, None, dtype=object)
        self._interfaces: ObjectArray = np.full(self._size, None, dtype=object)
        self._filters[self.slots] = as_objects(filters)
        self._interfaces[self.slots] = as_objects([interface for _, interface in pairs])
        # By slot, whether it has a pair.
        self._held: BoolArray = np.zeros(self._size, dtype=np.bool_)
        self._held[self.slots] = True
        # By slot, whether the filter has constraints other than the ranges, to be tested.
        self._extra: BoolArray = np.zeros(self._size, dtype=np.bool_)
        self._extra[self.slots] = ranges.extra
        # By slot, the low ends of all attributes and after them the high ends with the sign turned,
        # each rounded up to float32; -inf where there is no range. A value is outside if the value,
        # or for a high end minus the value, is less than the end.
        self._ends: _Ends = np.full((self._size, 2 * len(names)), -np.inf, dtype=np.float32)
        self._keep_ends(columns, self.slots)
        # With a million filters the ranges are large, and blocks are made from their rows.
        columns.clear()
        self._blocks = [
            self._block(int(self.slots[members[0]]), firsts, lasts, axis, members)
            for axis, members in groups
        ]
        self._gone = 0
        # Arrays for intermediate results, while no call uses them.
        self._workspaces: list[Words] = []

    # -- making ------------------------------------------------------------------------------------

    def _reach(self, columns: list[_Column], size: int) -> tuple[_Rows, _Rows]:
        """Return, by attribute and filter, the first row of its range, and the row after it."""
        firsts = np.zeros((len(columns), size), dtype=np.uint16)
        lasts = np.full((len(columns), size), _ALL_ROWS, dtype=np.uint16)
        for axis, (cells, column) in enumerate(zip(self._cells, columns, strict=True)):
            firsts[axis, column.at] = cells.rows_of_floats(column.lows)
            lasts[axis, column.at] = cells.rows_of_floats(column.highs) + 1
        return firsts, lasts

    def _expected_share(self, firsts: _Rows, lasts: _Rows) -> float:
        """Return the share of filters that are candidates, if all cells are equally likely."""
        step = -(-firsts.shape[1] // 1024)
        share = np.ones(firsts[0, ::step].size)
        for axis, cells in enumerate(self._cells):
            width = lasts[axis, ::step].astype(np.float64) - firsts[axis, ::step]
            share *= np.minimum(width / cells.number_cells, 1.0)
        return float(share.mean())

    def _groups(self, firsts: _Rows, lasts: _Rows) -> Iterator[tuple[int | None, _Numbers]]:
        """Yield the filters of each block, with the attribute that all of them constrain, if any.

        The commonest attribute comes first: the filters with a range there are sorted by it and cut
        into zones. Those without go on to the next attribute.
        """
        left: _Numbers = np.arange(firsts.shape[1])
        limit = self._block_words * WORD
        constrained = (lasts != _ALL_ROWS).sum(axis=1)
        for axis in np.argsort(-constrained, kind="stable").tolist():
            if left.size <= firsts.shape[1] * _MIN_LEFT:
                break
            is_mine = lasts[axis, left] != _ALL_ROWS
            mine, left = left[is_mine], left[~is_mine]
            middle = firsts[axis, mine].astype(np.intp) + lasts[axis, mine]
            mine = mine[np.argsort(middle, kind="stable")]
            for part in _even_parts(mine, limit):
                yield axis, part
        for part in _even_parts(left, limit):
            yield None, part

    def _block(
        self, base: int, firsts: _Rows, lasts: _Rows, axis: int | None, members: _Numbers
    ) -> _Block:
        """Return the block of some filters, with their bits."""
        words = -(-len(members) // WORD)
        table = np.zeros((self._lines, words), dtype=np.uint64)
        self._write_bits(table, firsts[:, members], lasts[:, members])
        (axes,) = (lasts[:, members] != _ALL_ROWS).any(axis=1).nonzero()
        if axis is None:
            return _Block(base, table, axes)
        first, last = firsts[axis, members].min(), lasts[axis, members].max()
        return _Block(base, table, axes, axis, int(first), int(last))

    def _write_bits(self, table: Words, firsts: _Rows, lasts: _Rows) -> None:
        """Write the bits of filters to the words of a block; slots after them refuse every row."""
        count, bits = firsts.shape[1], table.shape[1] * WORD
        refused = np.ones((max(cells.size for cells in self._cells), bits), dtype=np.bool_)
        for axis, (cells, offset) in enumerate(zip(self._cells, self._offsets, strict=True)):
            rows = np.arange(cells.size, dtype=np.uint16)[:, np.newaxis]
            flags = refused[: cells.size]
            np.less(rows, firsts[axis], out=flags[:, :count])
            flags[:, :count] |= rows >= lasts[axis]
            # Values of the row UNKNOWN are refused by no filter.
            flags[UNKNOWN] = False
            table[offset : offset + cells.size] = np.packbits(
                flags, axis=1, bitorder="little"
            ).view("<u8")

    def _keep_ends(self, columns: list[_Column], slots: _Numbers) -> None:
        """Keep the ends of the ranges of the filters in these slots."""
        for axis, column in enumerate(columns):
            where = slots[column.at]
            self._ends[where, axis] = _rounded_up(column.lows)
            self._ends[where, axis + len(columns)] = _rounded_up(-column.highs)

    # -- pairs come and go -------------------------------------------------------------------------

    def takes(self, filter: Filter) -> bool:
        """Return whether a filter is wide, by the attributes that have bits."""
        return is_wide(filter, self._axes)

    def enter(self, filter: Filter, interface: Hashable) -> int | None:
        """Give a pair a slot, and return it; None if none is left."""
        if self._used == self._size:
            return None
        slot = self._used
        self._used += 1
        self._filters[slot] = filter
        self._interfaces[slot] = interface
        self._held[slot] = True
        return slot

    def leave(self, slot: int) -> None:
        """Take a pair out of its slot."""
        self._filters[slot] = self._interfaces[slot] = None
        self._held[slot] = False
        self._gone += 1

    @property
    def is_worn(self) -> bool:
        """Whether enough pairs are gone for everything to be made anew."""
        return self._gone > self._size // 4

    @property
    def has_news(self) -> bool:
        """Whether there are pairs without bits."""
        return self._folded < self._used

    def fold(self) -> None:
        """Write the bits of new pairs: O(lines) for each word of them."""
        while self.has_news:
            base = self._folded // WORD * WORD
            block = self._blocks[-1] if self._blocks else None
            if block is None or base >= block.base + block.words * WORD or block.base < self._tail:
                words = min(self._block_words, (self._size - base) // WORD)
                axes = np.arange(len(self._names))
                block = _Block(base, np.full((self._lines, words), _ONES), axes)
                block.table[self._offsets + UNKNOWN] = 0
                self._blocks.append(block)
            stop = min(self._used, block.base + block.words * WORD)
            slots: _Numbers = base + self._held[base:stop].nonzero()[0]
            named, terms = _columns_of(self._filters[slots].tolist())
            columns = [named.get(name, _NO_RANGES) for name in self._names]
            self._extra[slots] = terms > _counted(columns, len(slots))
            self._keep_ends(columns, slots)
            firsts, lasts = self._reach(columns, len(slots))
            # A slot without a pair refuses every row.
            size = stop - base
            spread = np.full((2, len(self._names), size), _ALL_ROWS, dtype=np.uint16)
            spread[:, :, slots - base] = firsts, lasts
            at = (base - block.base) // WORD
            words = -(-size // WORD)
            table = np.zeros((self._lines, words), dtype=np.uint64)
            self._write_bits(table, spread[0], spread[1])
            block.table[:, at : at + words] = table
            self._folded = stop

    # -- matching ----------------------------------------------------------------------------------

    def match_many(self, notifications: Sequence[Any]) -> list[frozenset[Hashable]]:
        """Return the interfaces with a matching filter, for each notification."""
        size = min(_MAX_CHUNK, max(_FEW_EVENTS, _CHUNK_BYTES // (8 * self._block_words)))
        result: list[frozenset[Hashable]] = []
        workspace = self._take_workspace(min(size, len(notifications)))
        for start in range(0, len(notifications), size):
            result += self._match_chunk(notifications[start : start + size], workspace)
        self._workspaces[:] = [workspace]
        return result

    def _take_workspace(self, events: int) -> Words:
        """Return an array for two bitmaps of each of some events; no two threads share one."""
        size = events * max(block.words for block in self._blocks)
        try:
            workspace = self._workspaces.pop()
        except IndexError:
            workspace = None
        if workspace is None or workspace.shape[1] < size:
            workspace = np.empty((2, size), dtype=np.uint64)
        return workspace

    def _match_chunk(self, chunk: Sequence[Any], workspace: Words) -> list[frozenset[Hashable]]:
        """Return the interfaces of each notification of a chunk; an *event* is its number."""
        events = self._read(chunk)
        found: list[tuple[_Numbers, _Numbers]] = []
        waiting: list[_Left] = []
        count = 0
        for block in self._blocks:
            left = self._left_in(block, events, workspace)
            if left is not None:
                waiting.append(left)
                count += len(left.words)
                if count >= _MAX_WORDS:
                    found += self._settled(chunk, events, waiting)
                    waiting, count = [], 0
        found += self._settled(chunk, events, waiting)
        numbers, slots = _joined(found)
        # Numbers of 16 bits are sorted by counting.
        order = np.argsort(numbers.astype(np.uint16), kind="stable")
        interfaces = self._interfaces.take(slots.take(order)).tolist()
        stops = np.searchsorted(numbers.take(order), np.arange(len(chunk) + 1)).tolist()
        return [frozenset(interfaces[start:stop]) for start, stop in pairwise(stops)]

    def _read(self, chunk: Sequence[Any]) -> _Events:
        """Return the values of some notifications."""
        values: FloatArray | None = None
        if set(map(type, chunk)) == {dict}:
            try:
                listed = list(chain.from_iterable(map(self._read_all, chunk)))
            except KeyError:
                pass
            else:
                values = as_floats(listed, set(map(type, listed)))
        inexact: BoolArray | None = None
        if values is not None:
            values = values.reshape(len(chunk), -1)
            lines = self._grids.lines_of(np.ascontiguousarray(values.T))
        else:
            values = np.full((len(chunk), len(self._names)), np.nan)
            lines = np.empty((len(self._names), len(chunk)), dtype=np.intp)
            for axis, (cells, name) in enumerate(zip(self._cells, self._names, strict=True)):
                read = cells.read(_values_of(chunk, name))
                lines[axis] = read.rows
                if read.floats is not None:
                    values[:, axis] = read.floats
                if read.inexact is not None:
                    inexact = read.inexact if inexact is None else inexact | read.inexact
            lines += self._offsets[:, np.newaxis]
        both = np.concatenate((values, -values), axis=1)
        single = _rounded_up(both)
        rounded = single != both
        return _Events(lines, single, rounded if rounded.any() else None, inexact)

    def _left_in(self, block: _Block, events: _Events, workspace: Words) -> _Left | None:
        """Return the words of a block with filters that no value excludes, None if there is none.

        One row of bits for each attribute and event, and their OR.
        """
        lines = events.lines
        chosen: _Numbers | None = None
        if block.axis is not None:
            offset = self._offsets[block.axis]
            own = lines[block.axis]
            inside = (own >= block.first + offset) & (own < block.last + offset)
            (chosen,) = inside.nonzero()
            if not chosen.size:
                return None
            lines = lines.take(chosen, axis=1)
        if len(block.axes) < len(lines):
            lines = lines.take(block.axes, axis=0)
        count = lines.shape[1]
        if count <= _FEW_EVENTS:
            refused = np.bitwise_or.reduce(block.table.take(lines, axis=0), axis=0)
        else:
            refused, spare = (
                each[: count * block.words].reshape(count, block.words) for each in workspace
            )
            for i, line in enumerate(lines):
                if i:
                    block.table.take(line, axis=0, out=spare, mode="clip")
                    np.bitwise_or(refused, spare, out=refused)
                else:
                    block.table.take(line, axis=0, out=refused, mode="clip")
        flat = refused.reshape(-1)
        (at,) = (flat != _ONES).nonzero()
        if not at.size:
            return None
        numbers = at // block.words
        words = at - numbers * block.words + block.base // WORD
        return _Left(numbers if chosen is None else chosen.take(numbers), words, ~flat.take(at))

    def _settled(
        self, chunk: Sequence[Any], events: _Events, waiting: list[_Left]
    ) -> Iterator[tuple[_Numbers, _Numbers]]:
        """Yield the (event, slot) pairs that match, of those that are left."""
        if not waiting:
            return
        left = _Left(
            np.concatenate([each.events for each in waiting]),
            np.concatenate([each.words for each in waiting]),
            np.concatenate([each.bits for each in waiting]),
        )
        for start in range(0, len(left.words), _MAX_WORDS):
            part = slice(start, start + _MAX_WORDS)
            some = _Left(left.events[part], left.words[part], left.bits[part])
            yield self._settle(chunk, events, *_bits_of(some))

    def _settle(
        self, chunk: Sequence[Any], events: _Events, numbers: _Numbers, slots: _Numbers
    ) -> tuple[_Numbers, _Numbers]:
        """Return those of the candidates that match: by the ends of ranges, or else by a test."""
        self.counters.match_tests += len(numbers)
        values, ends = events.values.take(numbers, axis=0), self._ends.take(slots, axis=0)
        (inside,) = (~_any_in_row(values < ends)).nonzero()
        # Slots without a pair keep their bits and ends.
        matching = self._held.take(slots.take(inside))
        tested = self._extra.take(slots.take(inside))
        if events.rounded is not None:
            # Two equal float32 that were rounded do not tell on which side of the end a value is.
            (equal,) = _any_in_row(values == ends).take(inside).nonzero()
            if equal.size:
                at = inside.take(equal)
                unsure = values.take(at, axis=0) == ends.take(at, axis=0)
                tested[equal] |= _any_in_row(unsure & events.rounded.take(numbers.take(at), axis=0))
        numbers, slots = numbers.take(inside), slots.take(inside)
        if events.inexact is not None:
            tested |= events.inexact.take(numbers)
        for i in (tested & matching).nonzero()[0].tolist():
            matching[i] = self._filters[slots[i]].matches(chunk[numbers[i]])
        (good,) = matching.nonzero()
        return numbers.take(good), slots.take(good)


class _Left(NamedTuple):
    """Words with filters that no value of an event excludes."""

    #: The event of each word.
    events: _Numbers
    #: The number of the word: its first slot is that times 64.
    words: _Numbers
    #: The word itself, with a bit set for each such filter.
    bits: Words


def _just_outside(column: _Column) -> FloatArray:
    """Return the first floats of ranges, and the first floats after them."""
    return np.concatenate((column.lows, np.nextafter(column.highs, np.inf)))


def _even_parts(numbers: _Numbers, limit: int) -> list[_Numbers]:
    """Return numbers in parts of about the same size, and at most ``limit`` in each."""
    count = -(-len(numbers) // limit)
    return np.array_split(numbers, count) if count else []


def _rounded_up(values: FloatArray) -> _Ends:
    """Return the smallest float32 that is not less than each value; NaN stays NaN."""
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    less = rounded < values
    # The next greater float has the next greater bits, or the next smaller ones if it is negative.
    bits = rounded.view(np.int32)
    bits += ((bits >> 31) | 1) * less
    return rounded


def _values_of(chunk: Sequence[Any], name: str) -> list[Any]:
    """Return the values of an attribute, MISSING where there is none."""
    try:
        if "." in name:
            return [lookup(notification, name) for notification in chunk]
        return [notification.get(name, MISSING) for notification in chunk]
    except AttributeError:
        for notification in chunk:
            check_notification(notification)
        raise


def _bits_of(left: _Left) -> tuple[_Numbers, _Numbers]:
    """Return the event and the slot of each bit."""
    numbers, words, bits = left
    slots = words * WORD
    if np.bitwise_count(bits).sum() > 4 * len(bits):
        (places,) = unpacked(bits).nonzero()
        at = places // WORD
        return numbers.take(at), slots.take(at) + places % WORD
    # Mostly a word has one bit or two: the lowest one of all words, then the next of those left.
    found = []
    while len(bits):
        lowest = bits & -bits
        found.append((numbers, slots + np.bitwise_count(lowest - _ONE)))
        bits = bits ^ lowest
        (more,) = bits.nonzero()
        numbers, slots, bits = numbers.take(more), slots.take(more), bits.take(more)
    return _joined(found)


def _any_in_row(flags: BoolArray) -> BoolArray:
    """Return whether any flag of a row is set."""
    count = flags.shape[1]
    if count % 8:
        return np.logical_or.reduce(flags, axis=1)  # type: ignore[no-any-return]
    # Eight flags at a time, because numpy is slow with rows this short.
    words = np.ascontiguousarray(flags).view(np.uint64)
    result: Words = words[:, 0].copy()
    for column in words.T[1:]:
        result |= column
    return np.not_equal(result, 0)


def _joined(parts: list[tuple[_Numbers, _Numbers]]) -> tuple[_Numbers, _Numbers]:
    """Return many pairs of arrays as one pair."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    return np.concatenate([one for one, _ in parts]), np.concatenate([other for _, other in parts])

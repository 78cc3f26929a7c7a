"""The bitmap matcher: finds matching filters by the OR of one row of bits for each attribute.

The work is split by module: ``cells`` finds the row of a value, ``attribute_bitmaps`` keeps the
bitmaps of the rows of an attribute, ``slots`` assigns a bit to each (filter, interface) pair. This
module adds and removes pairs, and turns bits into interfaces. The docstring of ``AttributeBitmaps``
defines the words *slot*, *refused*, *doubted*, *settle*, *odd*, *usual*, *free* and *stray*.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import reduce
from itertools import compress
from operator import or_
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import Words
from posetlib.bits import WORD, bit_in_word, packed, unpacked
from posetlib.constraints.base import Constraint
from posetlib.filters.filter import Filter
from posetlib.graph.change import Pair
from posetlib.matching.attribute_bitmaps import (
    CELLS,
    DOUBTED,
    REFUSED,
    AttributeBitmaps,
)
from posetlib.matching.cells import UNKNOWN, Readings
from posetlib.matching.matcher import Matcher, Notification, check_notification
from posetlib.matching.slots import Slots
from posetlib.matching.wide import WideFilters, WideRanges, are_enough, worth_reading
from posetlib.values import MISSING, lookup

__all__ = ["BitmapMatcher"]

# A word with all bits set.
_ONES: Final = np.uint64(2**64 - 1)
# Bytes in the bitmaps of the notifications that are matched together: half a megabyte stays in the
# processor's caches.
_CHUNK_BYTES: Final = 1 << 19
# Bytes of a pair for its bits in all rows of all attributes together, unless the number of cells is
# given: ten attributes have as many cells as help, twenty share them.
_PAIR_BYTES: Final = 2560
# Cells that an attribute has in any case, as far as there are ends to cut at.
_MIN_CELLS: Final = 32
# Sets of interfaces that are remembered. When there are more, all are forgotten.
_MAX_ANSWERS: Final = 1 << 14

_Flags = NDArray[np.bool_]
# Numbers of events, slots, words or lines.
_Numbers = NDArray[np.intp]


class BitmapMatcher(Matcher[Filter]):
    """Matches notifications by bitmaps: the fast way, above all for many at once.

    Adding or removing a pair costs a few microseconds. The bitmaps are written when the next
    notification comes; when more than a quarter of the pairs is new, all of them are built anew.
    ``match`` and ``match_many`` take O(attributes × pairs / 64) word operations for a notification.
    They also test each pair in doubt, that is, each filter with a range that ends within the cell
    of the value, unless its interface is found already. ``cells`` is about how many cells the
    values of an attribute fall into; memory is two bits for each cell and pair. If it is not given,
    the attributes share a budget of 2.5 kilobytes for each pair.

    Pairs of *wide* filters, with many ranges of numbers each, are kept apart: see
    ``matching.wide``.

    >>> from posetlib import parse_filter
    >>> matcher = BitmapMatcher()
    >>> _ = matcher.add(parse_filter("price in [20, 30]"), "I1")
    >>> _ = matcher.add(parse_filter('name prefix "Fo"'), "I2")
    >>> sorted(matcher.match({"name": "Foo", "price": 25}))
    ['I1', 'I2']
    >>> matcher.match_many([{"price": 25}, {"price": 40}])
    [frozenset({'I1'}), frozenset()]
    """

    def __init__(self, pairs: Iterable[Pair] = (), *, cells: int | None = None) -> None:
        if cells is not None and cells < 1:
            raise ValueError(f"an attribute has at least one cell, not {cells}")
        self._cells = cells
        # None until the next match, which builds everything from the pairs.
        self._slots: Slots | None = None
        self._attributes: dict[str, AttributeBitmaps] = {}
        # The bits of free slots, and the same as a table with one row. A notification reads this
        # table together with those of its attributes. It need not if one of these is usual: there
        # free slots refuse every value.
        self._free_bits: Words = np.zeros(0, dtype=np.uint64)
        self._free_table: Words = _single_row(self._free_bits)
        # By slot, whether it is odd.
        self._odd: _Flags = np.zeros(0, dtype=np.bool_)
        # Changes that the bitmaps do not show yet: slots of pairs that were removed, and the new
        # filter of a slot. A slot in both lost one pair and was given to another.
        self._gone: set[int] = set()
        self._pending: dict[int, Filter] = {}
        # How many pairs there were when the bitmaps were last built.
        self._built = 0
        # How many pairs have a slot, and the pairs that have none: those of wide filters.
        self._in_slots = 0
        self._wide: WideFilters | None = None
        # Held while changes are written to the bitmaps, since several threads may match at once.
        self._writing = Lock()
        # Arrays for intermediate results: one, or none while a call of match_many uses it.
        self._workspaces: list[Words] = []
        # The groups that were found, as packed bits -> their interfaces.
        self._answers: dict[bytes, frozenset[Hashable]] = {}
        super().__init__(pairs)

    def copy(self) -> BitmapMatcher:
        """Return a matcher of the same pairs, with counters at zero."""
        return BitmapMatcher(self.entries(), cells=self._cells)

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        return (_matcher, (self.entries(), self._cells))

    # -- pairs come and go -------------------------------------------------------------------------

    def _enter(self, filter: Filter, interface: Hashable) -> int:
        if self._slots is None:
            return -1
        if self._wide is not None and self._wide.takes(filter):
            place = self._wide.enter(filter, interface)
            if place is None:
                self._forget()
                return -1
            return _wide_place(place)
        slot = self._slots.reserve(interface)
        if slot is None or len(self._pending) > self._built // 4:
            self._forget()
            return -1
        self._pending[slot] = filter
        self._in_slots += 1
        return slot

    def _leave(self, filter: Filter, interface: Hashable, place: int) -> None:
        if self._slots is None:
            return
        if place < 0:
            assert self._wide is not None, "a negative place is one among wide filters"
            self._wide.leave(_wide_place(place))
            if self._wide.is_worn:
                self._forget()
            return
        if self._pending.pop(place, None) is None:
            self._gone.add(place)
        self._slots.free(place)
        self._in_slots -= 1

    def _forget(self) -> None:
        """Drop the bitmaps: the next match builds them anew."""
        self._slots = None
        self._wide = None
        self._attributes = {}
        self._gone = set()
        self._pending = {}

    def _ready(self) -> Slots:
        """Bring the bitmaps up to date, and return the slots."""
        slots = self._slots
        wide = self._wide
        if slots is None or self._gone or self._pending or (wide is not None and wide.has_news):
            with self._writing:
                return self._updated()
        return slots

    def _updated(self) -> Slots:
        """Write the changes to the bitmaps, or build these anew, and return the slots."""
        slots = self._slots
        if slots is not None:
            if self._gone or self._pending:
                self._write(slots)
            if self._wide is not None:
                self._wide.fold()
            strays = sum(bitmaps.strays for bitmaps in self._attributes.values())
            # Strays are tested one by one. With this many, building anew is cheaper.
            if strays > self._built // 8 + 8:
                slots = None
        if slots is None:
            slots = self._build()
        # Last of all, because another thread that still sees changes here waits for the lock.
        self._gone, self._pending = set(), {}
        return slots

    def _write(self, slots: Slots) -> None:
        """Erase the bits of pairs that are gone, and write those of new pairs."""
        gone, pending = self._gone, self._pending
        for filter in pending.values():
            for name in filter.attributes:
                if name not in self._attributes:
                    self._attributes[name] = AttributeBitmaps(
                        slots.words, (), self._built + 1, self._cells or CELLS
                    )
        for slot, filter in pending.items():
            slots.filters[slot] = filter
            self._odd[slot] = False
        for name, bitmaps in self._attributes.items():
            bitmaps.erase(gone)
            new = [(slot, filter.get(name)) for slot, filter in pending.items()]
            for slot in bitmaps.write(new):
                self._odd[slot] = True
        # A slot in both sets had a pair and has another one: it was not free, and is not free now.
        changed = gone ^ pending.keys()
        if changed:
            numbers = np.fromiter(changed, dtype=np.intp, count=len(changed))
            np.bitwise_xor.at(self._free_bits, numbers // WORD, bit_in_word(numbers))

    def _build(self) -> Slots:
        """Give every pair a slot, build all bitmaps, and return the slots."""
        rest = self._build_wide()
        slots = Slots(interface for _, holders in rest for interface in holders)
        constrained: dict[str, list[tuple[int, Constraint]]] = {}
        taken = np.zeros(slots.words * WORD, dtype=np.bool_)
        for filter, holders in rest:
            constraints = list(zip(filter.attributes, filter.terms, strict=True))
            for interface in holders:
                slot = slots.reserve(interface)
                assert slot is not None, "there is a slot for every pair"
                holders[interface] = slot
                slots.filters[slot] = filter
                taken[slot] = True
                for name, constraint in constraints:
                    constrained.setdefault(name, []).append((slot, constraint))
        self._attributes = self._made_attributes(slots, constrained, int(taken.sum()))
        self._free_bits = ~packed(taken)
        self._free_table = _single_row(self._free_bits)
        self._odd = np.zeros(taken.size, dtype=np.bool_)
        for bitmaps in self._attributes.values():
            bitmaps.free(self._free_bits)
            self._odd[bitmaps.odd] = True
        self._built = self._in_slots = int(taken.sum())
        self._answers = {}
        self._slots = slots
        return slots

    def _made_attributes(
        self, slots: Slots, constrained: dict[str, list[tuple[int, Constraint]]], pairs: int
    ) -> dict[str, AttributeBitmaps]:
        """Return the bitmaps of each attribute; what one of them leaves is shared by the next."""
        rows_left = 8 * _PAIR_BYTES // 2
        made = {}
        # Those with few constraints first: they need few rows.
        names = sorted(constrained, key=lambda name: len(constrained[name]))
        for i, name in enumerate(names):
            share = max(rows_left // (len(names) - i), _MIN_CELLS)
            limit = min(share, CELLS) if self._cells is None else self._cells
            made[name] = AttributeBitmaps(slots.words, constrained[name], pairs, limit)
            rows_left -= made[name].cells.size
        return {name: made[name] for name in constrained}

    def _build_wide(self) -> list[tuple[Filter, dict[Hashable, int]]]:
        """Build what wide filters have instead of bitmaps, and return all others with holders."""
        self._wide = None
        if not worth_reading(self._pairs):
            return list(self._pairs.items())
        pairs = self.entries()
        ranges = WideRanges([filter for filter, _ in pairs])
        wide = list(compress(pairs, ranges.is_wide.tolist()))
        if not are_enough(wide):
            return list(self._pairs.items())
        made = WideFilters(wide, ranges)
        if not made.selective:
            return list(self._pairs.items())
        made.counters = self.counters
        for (filter, interface), slot in zip(wide, made.slots.tolist(), strict=True):
            self._pairs[filter][interface] = _wide_place(slot)
        self._wide = made
        if len(wide) == len(pairs):
            return []
        listed = {filter for filter, _ in wide}
        return [each for each in self._pairs.items() if each[0] not in listed]

    # -- one notification --------------------------------------------------------------------------

    def match(self, notification: Notification) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching filter."""
        slots = self._ready()
        wide = self._wide
        if wide is None:
            return self._match_slots(slots, notification)
        (answer,) = wide.match_many([notification])
        return answer | self._match_slots(slots, notification) if self._in_slots else answer

    def _match_slots(self, slots: Slots, notification: Notification) -> frozenset[Hashable]:
        """Return the interfaces of the pairs that have slots and match."""
        rows = self._rows(notification)
        blocked: Words = reduce(or_, [table[2 * row + DOUBTED] for table, row in rows])
        answer = self._answer(np.packbits(_found(slots, blocked)).tobytes())
        if len(answer) == len(slots.groups) and not slots.loose:
            return answer
        refused: Words = reduce(or_, [table[2 * row + REFUSED] for table, row in rows])
        more: set[Hashable] = set()
        if slots.loose:
            sure = np.flatnonzero(unpacked(~blocked[slots.grouped :])) + slots.grouped * WORD
            more.update(slots.interfaces[sure].tolist())
        self._test_doubts(slots, blocked & ~refused, notification, answer, more)
        return answer.union(more) if more else answer

    def match_pairs(self, notification: Notification) -> list[Hashable]:
        """Return the interface of each matching pair; no set is made if none has many filters."""
        slots = self._ready()
        if self._wide is not None or slots.groups:
            return list(self.match(notification))
        rows = self._rows(notification)
        blocked: Words = reduce(or_, [table[2 * row + DOUBTED] for table, row in rows])
        refused: Words = reduce(or_, [table[2 * row + REFUSED] for table, row in rows])
        found: list[Hashable] = slots.interfaces[np.flatnonzero(unpacked(~blocked))].tolist()
        in_doubt = np.flatnonzero(unpacked(blocked & ~refused))
        found += [
            slots.interfaces[slot]
            for slot in in_doubt.tolist()
            if self._matches(slots, slot, notification)
        ]
        return found

    def _rows(self, notification: Notification) -> list[tuple[Words, int]]:
        """Return the table and the row of each attribute, and of the free slots if need be."""
        rows = []
        # Whether a usual attribute excludes the free slots. Its row UNKNOWN does not.
        free_excluded = False
        try:
            for name, bitmaps in self._attributes.items():
                value = notification.get(name, MISSING)
                if value is MISSING and "." in name:
                    value = lookup(notification, name)
                row = bitmaps.cells.row(value)
                if bitmaps.indexed and value is not MISSING:
                    rows.append((bitmaps.settled(row, value), 0))
                else:
                    rows.append((bitmaps.table, row))
                free_excluded |= bitmaps.usual and row != UNKNOWN
        except AttributeError:
            check_notification(notification)
            raise
        if not rows:
            check_notification(notification)
        if not free_excluded:
            rows.append((self._free_table, 0))
        return rows

    def _test_doubts(
        self,
        slots: Slots,
        doubts: Words,
        notification: Notification,
        answer: frozenset[Hashable],
        more: set[Hashable],
    ) -> None:
        """Test the filters in doubt, and add to ``more`` the interfaces of those that match.

        A filter is not tested if its interface is in ``answer`` or ``more`` already.
        """
        for word in doubts.nonzero()[0].tolist():
            bits = int(doubts[word])
            while bits:
                lowest = bits & -bits
                bits ^= lowest
                slot = word * WORD + lowest.bit_length() - 1
                interface = slots.interfaces[slot]
                if interface in answer or interface in more:
                    if word < slots.grouped:
                        break  # all slots of this word belong to the interface
                elif self._matches(slots, slot, notification):
                    more.add(interface)

    def _matches(self, slots: Slots, slot: int, notification: Notification) -> bool:
        self.counters.match_tests += 1
        filter = slots.filters[slot]
        assert filter is not None, "a free slot is never in doubt"
        return filter.matches(notification)

    def _answer(self, key: bytes) -> frozenset[Hashable]:
        """Return the interfaces of the groups that were found."""
        answer = self._answers.get(key)
        if answer is None:
            assert self._slots is not None
            numbers = np.flatnonzero(np.unpackbits(np.frombuffer(key, dtype=np.uint8)))
            answer = frozenset(self._slots.groups[i] for i in numbers.tolist())
            if len(self._answers) >= _MAX_ANSWERS:
                self._answers.clear()
            self._answers[key] = answer
        return answer

    # -- many notifications ------------------------------------------------------------------------

    def match_many(self, notifications: Iterable[Notification]) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each notification; works on some hundred at a time."""
        slots = self._ready()
        everything = list(notifications)
        wide = self._wide
        if wide is None:
            return self._match_many_slots(slots, everything)
        answers = wide.match_many(everything)
        if not self._in_slots:
            return answers
        return list(map(or_, answers, self._match_many_slots(slots, everything)))

    def _match_many_slots(
        self, slots: Slots, everything: list[Notification]
    ) -> list[frozenset[Hashable]]:
        """Return the interfaces of the pairs that have slots and match, for each notification."""
        # A bitmap takes 8 bytes for each word.
        size = min(len(everything), max(16, _CHUNK_BYTES // (slots.words * 8)))
        workspace = self._take_workspace(size, slots.words)
        result: list[frozenset[Hashable]] = []
        for start in range(0, len(everything), size or 1):
            result += self._match_chunk(slots, everything[start : start + size], workspace)
        self._workspaces[:] = [workspace]
        return result

    def _take_workspace(self, size: int, words: int) -> Words:
        """Return an array for three bitmaps of each of some notifications.

        It is kept between calls, because to get the memory from the system takes longer than to
        fill it. While a call uses it, it is not in the list, so that no two threads share it.
        """
        try:
            workspace = self._workspaces.pop()
        except IndexError:
            workspace = None
        if workspace is None or workspace.shape[1] < size or workspace.shape[2] != words:
            workspace = np.empty((3, size, words), dtype=np.uint64)
        return workspace

    def _match_chunk(
        self, slots: Slots, chunk: list[Notification], workspace: Words
    ) -> list[frozenset[Hashable]]:
        """Return the interfaces of each notification of a chunk; an *event* is its number."""
        readings, lines = self._read(chunk)
        doubting, doubts, spare = workspace[:, : len(chunk)]
        if not any(bitmaps.usual and read.inexact is None for bitmaps, read in readings):
            lines.append((self._free_table, np.zeros(len(chunk), dtype=np.intp)))
        blocked = _union([(table, line + DOUBTED) for table, line in lines], doubting, spare)
        found = _found(slots, blocked)
        # The events for which an interface may still be found.
        all_found = np.logical_and.reduce(found, axis=1)
        left = np.arange(len(chunk)) if slots.loose else (~all_found).nonzero()[0]
        if left.size:
            doubts, spare = doubts[: left.size], spare[: left.size]
            _union([(table, line.take(left) + REFUSED) for table, line in lines], doubts, spare)
            # A refused row is doubted as well. So the bits that differ are those of the pairs that
            # doubt the row and do not refuse it: the pairs in doubt.
            doubts ^= blocked.take(left, axis=0, out=spare, mode="clip")
            candidates = _candidates(slots, doubts, left, found)
            if candidates[0].size:
                self._settle(slots, chunk, readings, candidates, found, blocked)
        return self._interfaces(slots, found, blocked)

    def _read(
        self, chunk: list[Notification]
    ) -> tuple[list[tuple[AttributeBitmaps, Readings]], list[tuple[Words, _Numbers]]]:
        """Return, for each attribute, the rows of its values in these notifications.

        The second list has a table for each attribute, and the first line of each value in it.
        """
        readings = []
        lines = []
        try:
            for name, bitmaps in self._attributes.items():
                values = [notification.get(name, MISSING) for notification in chunk]
                if "." in name and any(value is MISSING for value in values):
                    values = [lookup(notification, name) for notification in chunk]
                read = bitmaps.cells.read(values)
                readings.append((bitmaps, read))
                lines.append(_lines_of(bitmaps, read, values))
        except AttributeError:
            for notification in chunk:
                check_notification(notification)
            raise
        if not readings:
            for notification in chunk:
                check_notification(notification)
        return readings, lines

    def _settle(
        self,
        slots: Slots,
        chunk: list[Notification],
        readings: list[tuple[AttributeBitmaps, Readings]],
        candidates: tuple[_Numbers, _Numbers],
        found: _Flags,
        blocked: Words,
    ) -> None:
        """Settle (event, slot) pairs in doubt: by float ends, or else by a test of the filter."""
        events, numbers = candidates
        odd = self._odd.take(numbers)
        outside = np.zeros(odd.size, dtype=np.bool_)
        for bitmaps, read in readings:
            if read.inexact is not None:
                odd |= read.inexact.take(events)
            if bitmaps.float_ends is not None and read.floats is not None:
                lows, highs = bitmaps.float_ends
                values = read.floats.take(events)
                # Non-floats are NaN here, so both comparisons are false; their row already
                # excluded the constraints that they do not meet.
                outside |= values < lows.take(numbers)
                outside |= values > highs.take(numbers)
        good = ~(outside | odd)
        _accept(slots, events[good], numbers[good], found, blocked)
        tested = int(np.count_nonzero(odd))
        self.counters.match_tests += odd.size - tested
        if not tested:
            return
        for event, slot in zip(events[odd].tolist(), numbers[odd].tolist(), strict=True):
            group = slots.group_of_word[slot // WORD]
            if group < len(slots.groups) and found[event, group]:
                continue
            if self._matches(slots, slot, chunk[event]):
                _accept(slots, np.array([event]), np.array([slot]), found, blocked)

    def _interfaces(self, slots: Slots, found: _Flags, blocked: Words) -> list[frozenset[Hashable]]:
        """Return the interfaces of each event: those of its groups and of its loose slots."""
        answers: list[frozenset[Hashable]] = [frozenset()] * len(found)
        if slots.groups:
            # Eight groups to a byte; each row of bytes becomes one ``bytes`` object.
            groups = np.packbits(found, axis=1)
            keys = groups.view(f"V{groups.shape[1]}").reshape(-1).tolist()
            try:
                answers = list(map(self._answers.__getitem__, keys))
            except KeyError:
                answers = list(map(self._answer, keys))
        if not slots.loose:
            return answers
        events, numbers = np.nonzero(unpacked(~blocked[:, slots.grouped :]))
        interfaces = slots.interfaces[numbers + slots.grouped * WORD].tolist()
        ends = np.searchsorted(events, np.arange(len(found) + 1)).tolist()
        return [
            each.union(interfaces[start:stop]) if start < stop else each
            for each, start, stop in zip(answers, ends, ends[1:], strict=False)
        ]


def _wide_place(slot: int) -> int:
    """Return the number of a pair for its slot among wide filters, or the slot for the number.

    Such numbers begin below -1, the number of pairs that have no place yet.
    """
    return -2 - slot


def _matcher(pairs: Iterable[Pair], cells: int | None) -> BitmapMatcher:
    return BitmapMatcher(pairs, cells=cells)


def _lines_of(
    bitmaps: AttributeBitmaps, read: Readings, values: list[Any]
) -> tuple[Words, _Numbers]:
    """Return a table, and the first of the two lines of each value in it.

    The table is that of the attribute, unless values are asked of indexes: then each value has
    lines of its own.
    """
    if not bitmaps.indexed or all(value is MISSING for value in values):
        return bitmaps.table, 2 * read.rows
    pairs = [
        bitmaps.table[2 * row : 2 * row + 2] if value is MISSING else bitmaps.settled(row, value)
        for row, value in zip(read.rows.tolist(), values, strict=True)
    ]
    return np.concatenate(pairs), 2 * np.arange(len(values))


def _found(slots: Slots, blocked: Words) -> _Flags:
    """Return, for each event and group, whether a bit of the group is zero: a pair matches."""
    if not slots.groups:
        return np.zeros((*blocked.shape[:-1], 0), dtype=np.bool_)
    groups: Words = np.bitwise_and.reduceat(blocked[..., : slots.grouped], slots.starts, axis=-1)
    return np.not_equal(groups, _ONES)


def _union(lines: list[tuple[Words, _Numbers]], union: Words, spare: Words) -> Words:
    """Return the OR of the lines of each event, written to ``union``."""
    for i, (table, numbers) in enumerate(lines):
        if not i:
            table.take(numbers, axis=0, out=union, mode="clip")
        # One line for all events, as of an attribute that none of them has, need not be copied.
        elif numbers[0] == numbers[-1] and (numbers == numbers[0]).all():
            union |= table[numbers[0]]
        else:
            union |= table.take(numbers, axis=0, out=spare, mode="clip")
    return union


def _single_row(line: Words) -> Words:
    """Return a table of one row with the same line for REFUSED and DOUBTED, without a copy."""
    return np.broadcast_to(line, (2, line.size))


def _candidates(
    slots: Slots, doubts: Words, left: _Numbers, found: _Flags
) -> tuple[_Numbers, _Numbers]:
    """Return the (event, slot) pairs in doubt, without those of interfaces that are found.

    ``doubts`` has a row for each event in ``left``, ``found`` one for every event.
    """
    # numpy's nonzero is fast for flat arrays of booleans.
    flat = doubts.reshape(-1)
    (doubted,) = (flat != 0).nonzero()
    events, words = np.divmod(doubted, doubts.shape[1])
    if slots.loose:  # loose slots have the group number after the last group: never found yet
        found = np.column_stack((found, np.zeros(len(found), dtype=np.bool_)))
    events = left.take(events)
    (unsettled,) = (~found[events, slots.group_of_word.take(words)]).nonzero()
    (bits,) = unpacked(flat.take(doubted.take(unsettled))).nonzero()
    index = unsettled.take(bits // WORD)
    return events.take(index), words.take(index) * WORD + bits % WORD


def _accept(
    slots: Slots, events: _Numbers, numbers: _Numbers, found: _Flags, blocked: Words
) -> None:
    """Note that the filters of these slots match the events.

    A slot of a group sets the flag of the group in ``found``; a loose slot clears its own bit in
    ``blocked``.
    """
    words = numbers // WORD
    groups = slots.group_of_word.take(words)
    if not slots.loose:
        found[events, groups] = True
        return
    loose = groups == len(slots.groups)
    np.bitwise_and.at(blocked, (events[loose], words[loose]), ~bit_in_word(numbers[loose]))
    found[events[~loose], groups[~loose]] = True

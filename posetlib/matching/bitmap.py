"""The bitmap matcher: a notification is one row of bits per attribute, and the OR of them.

The work is split by module: ``footprints`` reads constraints, ``cells`` puts values into rows,
``bitmaps`` keeps the rows of an attribute, ``slots`` says whose bit is where. Here pairs come and
go, and rows become interfaces.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import reduce
from operator import or_
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from posetlib.change import Pair
from posetlib.constraints.base import Constraint
from posetlib.filters import Filter
from posetlib.matching.base import Matcher, Notification, check_notification
from posetlib.matching.bitmaps import CELLS, DOUBTED, REFUSED, WORD, AttributeBitmaps, Words
from posetlib.matching.cells import UNKNOWN, Readings
from posetlib.matching.slots import Slots
from posetlib.values import MISSING, lookup

__all__ = ["BitmapMatcher"]

_ONES: Final = np.uint64(2**64 - 1)
_ONE: Final = np.uint64(1)
# Bytes of rows that are worked on at a time, so that they stay in the processor's caches.
_CHUNK: Final = 1 << 19
_MEMORY: Final = 1 << 14

_Flags = NDArray[np.bool_]
_Numbers = NDArray[np.intp]


class BitmapMatcher(Matcher):
    """Matches notifications by bitmaps: the fast way, above all for many at once.

    Adding or removing a pair costs a few microseconds; bitmaps are written when the next
    notification comes, and all anew when a quarter has changed. ``match`` and ``match_many`` are
    O(attributes × pairs / 64) word operations each, plus an exact test for each filter whose range
    ends within the cell of the value and whose interface nothing else has found. ``cells`` is about
    how many cells the values of an attribute fall into; memory is two bits for each cell and pair.

    >>> from posetlib.parsing import parse_filter
    >>> matcher = BitmapMatcher()
    >>> _ = matcher.add(parse_filter("price in [20, 30]"), "I1")
    >>> _ = matcher.add(parse_filter('name prefix "Fo"'), "I2")
    >>> sorted(matcher.match({"name": "Foo", "price": 25}))
    ['I1', 'I2']
    >>> matcher.match_many([{"price": 25}, {"price": 40}])
    [frozenset({'I1'}), frozenset()]
    """

    def __init__(self, pairs: Iterable[Pair] = (), *, cells: int = CELLS) -> None:
        if cells < 1:
            raise ValueError(f"an attribute has at least one cell, not {cells}")
        self._cells = cells
        # None until the next match, which builds everything from the pairs.
        self._slots: Slots | None = None
        self._attributes: dict[str, AttributeBitmaps] = {}
        # A bit for each place without a pair, and the same as a table of one row. It is read with
        # the tables of attributes, unless a usual one is among them, where free places refuse all.
        self._dead: Words = np.zeros(0, dtype=np.uint64)
        self._free: Words = _single_row(self._dead)
        # By place, whether only its filter settles its doubts.
        self._odd: _Flags = np.zeros(0, dtype=np.bool_)
        # Places whose bits are those of a pair that is gone, and new pairs by place: if a place is
        # in both, one has followed the other.
        self._gone: set[int] = set()
        self._pending: dict[int, Filter] = {}
        self._built = 0
        # Several may ask at once, and the first of them folds in what has changed.
        self._folding = Lock()
        self._rooms: list[Words] = []
        # Which groups were found, as bytes -> their interfaces.
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
        slot = self._slots.take(interface)
        if slot is None or len(self._pending) > self._built // 4:
            self._forget()
            return -1
        self._pending[slot] = filter
        return slot

    def _leave(self, filter: Filter, interface: Hashable, place: int) -> None:
        if self._slots is None:
            return
        if self._pending.pop(place, None) is None:
            self._gone.add(place)
        self._slots.give_back(place)

    def _forget(self) -> None:
        """Let the next match build everything anew."""
        self._slots = None
        self._attributes = {}
        self._gone = set()
        self._pending = {}

    def _ready(self) -> Slots:
        """Bring the bitmaps up to date, and return the places."""
        slots = self._slots
        if slots is None or self._gone or self._pending:
            with self._folding:
                return self._folded()
        return slots

    def _folded(self) -> Slots:
        """Fold in what has changed, or build everything, and return the places."""
        slots = self._slots
        if slots is not None:
            self._write(slots)
            strays = sum(bitmaps.strays for bitmaps in self._attributes.values())
            if strays > self._built // 8 + 8:
                slots = None
        if slots is None:
            slots = self._build()
        # Last of all: until then, whoever else asks waits for us.
        self._gone, self._pending = set(), {}
        return slots

    def _write(self, slots: Slots) -> None:
        """Erase the bits of pairs that are gone, and write those of new pairs."""
        gone, pending = self._gone, self._pending
        for filter in pending.values():
            for name in filter.attributes:
                if name not in self._attributes:
                    self._attributes[name] = AttributeBitmaps(
                        slots.words, (), self._built + 1, self._cells
                    )
        for slot, filter in pending.items():
            slots.filters[slot] = filter
            self._odd[slot] = False
        for name, bitmaps in self._attributes.items():
            bitmaps.erase(gone)
            new = [(slot, filter.get(name)) for slot, filter in pending.items()]
            for slot in bitmaps.write(new):
                self._odd[slot] = True
        # Where one pair has followed another, a place is as little free as it was.
        changed = gone ^ pending.keys()
        if changed:
            places = np.fromiter(changed, dtype=np.intp, count=len(changed))
            np.bitwise_xor.at(self._dead, places // WORD, _bit(places))

    def _build(self) -> Slots:
        slots = Slots(interface for holders in self._pairs.values() for interface in holders)
        constrained: dict[str, list[tuple[int, Constraint]]] = {}
        alive = np.zeros(slots.words * WORD, dtype=np.bool_)
        for filter, holders in self._pairs.items():
            constraints = list(zip(filter.attributes, filter.terms, strict=True))
            for interface in holders:
                slot = slots.take(interface)
                assert slot is not None, "there is room for all"
                holders[interface] = slot
                slots.filters[slot] = filter
                alive[slot] = True
                for name, constraint in constraints:
                    constrained.setdefault(name, []).append((slot, constraint))
        self._attributes = {
            name: AttributeBitmaps(slots.words, listed, int(alive.sum()), self._cells)
            for name, listed in constrained.items()
        }
        self._dead = ~_packed(alive)
        self._free = _single_row(self._dead)
        self._odd = np.zeros(alive.size, dtype=np.bool_)
        for bitmaps in self._attributes.values():
            bitmaps.free(self._dead)
            self._odd[bitmaps.odd] = True
        self._built = int(alive.sum())
        self._answers = {}
        self._slots = slots
        return slots

    # -- one notification --------------------------------------------------------------------------

    def match(self, notification: Notification) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching filter."""
        slots = self._ready()
        rows = self._rows(notification)
        blocked: Words = reduce(or_, [table[2 * row + DOUBTED] for table, row in rows])
        answer = self._answer(np.packbits(_found(slots, blocked)).tobytes())
        if len(answer) == len(slots.groups) and not slots.loose:
            return answer
        refused: Words = reduce(or_, [table[2 * row + REFUSED] for table, row in rows])
        more: set[Hashable] = set()
        if slots.loose:
            sure = np.flatnonzero(_bits(~blocked[slots.grouped :])) + slots.grouped * WORD
            more.update(slots.interfaces[sure].tolist())
        self._ask(slots, blocked & ~refused, notification, answer, more)
        return answer.union(more) if more else answer

    def _rows(self, notification: Notification) -> list[tuple[Words, int]]:
        """Return the table and the row of each attribute, and of free places if need be."""
        rows = []
        closed = False
        try:
            for name, bitmaps in self._attributes.items():
                value = notification.get(name, MISSING)
                if value is MISSING and "." in name:
                    value = lookup(notification, name)
                row = bitmaps.cells.row(value)
                rows.append((bitmaps.table, row))
                closed |= bitmaps.usual and row != UNKNOWN
        except AttributeError:
            check_notification(notification)
            raise
        if not rows:
            check_notification(notification)
        if not closed:
            rows.append((self._free, 0))
        return rows

    def _ask(
        self,
        slots: Slots,
        doubts: Words,
        notification: Notification,
        answer: frozenset[Hashable],
        more: set[Hashable],
    ) -> None:
        """Ask the filters in doubt, as long as their interface is not found."""
        for word in doubts.nonzero()[0].tolist():
            bits = int(doubts[word])
            while bits:
                lowest = bits & -bits
                bits ^= lowest
                slot = word * WORD + lowest.bit_length() - 1
                interface = slots.interfaces[slot]
                if interface in answer or interface in more:
                    if word < slots.grouped:
                        break  # all of the word is this interface's
                elif self._matches(slots, slot, notification):
                    more.add(interface)

    def _matches(self, slots: Slots, slot: int, notification: Notification) -> bool:
        self.counters.match_tests += 1
        filter = slots.filters[slot]
        assert filter is not None, "only the bit of a pair is in doubt"
        return filter.matches(notification)

    def _answer(self, key: bytes) -> frozenset[Hashable]:
        """Return the interfaces of the groups that were found."""
        answer = self._answers.get(key)
        if answer is None:
            assert self._slots is not None
            numbers = np.flatnonzero(np.unpackbits(np.frombuffer(key, dtype=np.uint8)))
            answer = frozenset(self._slots.groups[i] for i in numbers.tolist())
            if len(self._answers) >= _MEMORY:
                self._answers.clear()
            self._answers[key] = answer
        return answer

    # -- many notifications ------------------------------------------------------------------------

    def match_many(self, notifications: Iterable[Notification]) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each of many; some hundred at a time."""
        slots = self._ready()
        everything = list(notifications)
        size = min(len(everything), max(16, _CHUNK // (slots.words * 8)))
        room = self._take_room(size, slots.words)
        result: list[frozenset[Hashable]] = []
        for start in range(0, len(everything), size or 1):
            result += self._match_chunk(slots, everything[start : start + size], room)
        self._rooms[:] = [room]
        return result

    def _take_room(self, size: int, words: int) -> Words:
        """Return room to work in: to get it from the system takes longer than to fill it.

        Taken out for as long as it is used, so that two threads do not meet in it.
        """
        try:
            room = self._rooms.pop()
        except IndexError:
            room = None
        if room is None or room.shape[1] < size or room.shape[2] != words:
            room = np.empty((3, size, words), dtype=np.uint64)
        return room

    def _match_chunk(
        self, slots: Slots, chunk: list[Notification], room: Words
    ) -> list[frozenset[Hashable]]:
        readings = self._read(chunk)
        lines = [(bitmaps.table, 2 * read.rows) for bitmaps, read in readings]
        doubting, doubts, spare = room[:, : len(chunk)]
        if not any(bitmaps.usual and read.inexact is None for bitmaps, read in readings):
            lines.append((self._free, np.zeros(len(chunk), dtype=np.intp)))
        blocked = _union([(table, line + DOUBTED) for table, line in lines], doubting, spare)
        found = _found(slots, blocked)
        # Events for which there is more to find.
        all_found = np.logical_and.reduce(found, axis=1)
        left = np.arange(len(chunk)) if slots.loose else (~all_found).nonzero()[0]
        if left.size:
            doubts, spare = doubts[: left.size], spare[: left.size]
            _union([(table, line.take(left) + REFUSED) for table, line in lines], doubts, spare)
            # Who refuses is also in doubt: what differs is in doubt, and does not refuse.
            doubts ^= blocked.take(left, axis=0, out=spare, mode="clip")
            candidates = _candidates(slots, doubts, left, found)
            if candidates[0].size:
                self._settle(slots, chunk, readings, candidates, found, blocked)
        return self._interfaces(slots, found, blocked)

    def _read(self, chunk: list[Notification]) -> list[tuple[AttributeBitmaps, Readings]]:
        """Return where the values of each attribute lie."""
        readings = []
        try:
            for name, bitmaps in self._attributes.items():
                if "." in name:
                    values = [lookup(notification, name) for notification in chunk]
                else:
                    values = [notification.get(name, MISSING) for notification in chunk]
                readings.append((bitmaps, bitmaps.cells.read(values)))
        except AttributeError:
            for notification in chunk:
                check_notification(notification)
            raise
        if not readings:
            for notification in chunk:
                check_notification(notification)
        return readings

    def _settle(
        self,
        slots: Slots,
        chunk: list[Notification],
        readings: list[tuple[AttributeBitmaps, Readings]],
        candidates: tuple[_Numbers, _Numbers],
        found: _Flags,
        blocked: Words,
    ) -> None:
        """Settle the doubts about (event, place) pairs: by columns, or else by the filters."""
        events, places = candidates
        odd = self._odd.take(places)
        outside = np.zeros(odd.size, dtype=np.bool_)
        for bitmaps, read in readings:
            if read.inexact is not None:
                odd |= read.inexact.take(events)
            if bitmaps.columns is not None and read.floats is not None:
                lows, highs = bitmaps.columns
                values = read.floats.take(events)
                # What is no float lies outside of nothing: its row has refused who minds.
                outside |= values < lows.take(places)
                outside |= values > highs.take(places)
        good = ~(outside | odd)
        _accept(slots, events[good], places[good], found, blocked)
        asked = int(np.count_nonzero(odd))
        self.counters.match_tests += odd.size - asked
        if not asked:
            return
        for event, place in zip(events[odd].tolist(), places[odd].tolist(), strict=True):
            group = slots.group_of_word[place // WORD]
            if group < len(slots.groups) and found[event, group]:
                continue
            if self._matches(slots, place, chunk[event]):
                _accept(slots, np.array([event]), np.array([place]), found, blocked)

    def _interfaces(self, slots: Slots, found: _Flags, blocked: Words) -> list[frozenset[Hashable]]:
        """Return the interfaces of each event: of its groups, and of its loose places."""
        answers: list[frozenset[Hashable]] = [frozenset()] * len(found)
        if slots.groups:
            packed = np.packbits(found, axis=1)
            keys = packed.view(f"V{packed.shape[1]}").reshape(-1).tolist()
            try:
                answers = list(map(self._answers.__getitem__, keys))
            except KeyError:
                answers = list(map(self._answer, keys))
        if not slots.loose:
            return answers
        events, numbers = np.nonzero(_bits(~blocked[:, slots.grouped :]))
        interfaces = slots.interfaces[numbers + slots.grouped * WORD].tolist()
        ends = np.searchsorted(events, np.arange(len(found) + 1)).tolist()
        return [
            each.union(interfaces[start:stop]) if start < stop else each
            for each, start, stop in zip(answers, ends, ends[1:], strict=False)
        ]


def _matcher(pairs: Iterable[Pair], cells: int) -> BitmapMatcher:
    return BitmapMatcher(pairs, cells=cells)


def _found(slots: Slots, blocked: Words) -> _Flags:
    """Return for which groups a bit is left at zero."""
    if not slots.groups:
        return np.zeros((*blocked.shape[:-1], 0), dtype=np.bool_)
    groups: Words = np.bitwise_and.reduceat(blocked[..., : slots.grouped], slots.starts, axis=-1)
    return np.not_equal(groups, _ONES)


def _union(lines: list[tuple[Words, _Numbers]], union: Words, spare: Words) -> Words:
    """Return the OR of the lines of each event."""
    for i, (table, numbers) in enumerate(lines):
        if not i:
            table.take(numbers, axis=0, out=union, mode="clip")
        elif numbers[0] == numbers[-1] and (numbers == numbers[0]).all():
            union |= table[numbers[0]]
        else:
            union |= table.take(numbers, axis=0, out=spare, mode="clip")
    return union


def _single_row(line: Words) -> Words:
    """Return a view of a line as a row of a table: who is refused is also in doubt."""
    return np.broadcast_to(line, (2, line.size))


def _bits(words: Words) -> _Flags:
    """Return words as their bits, the lowest first."""
    listed = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    return np.unpackbits(listed, axis=-1, bitorder="little").view(np.bool_)


def _packed(bits: _Flags) -> Words:
    """Return bits as words, the lowest first."""
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def _candidates(
    slots: Slots, doubts: Words, left: _Numbers, found: _Flags
) -> tuple[_Numbers, _Numbers]:
    """Return the (event, place) pairs in doubt whose interface is not found without them."""
    # In numpy, nonzero is quick for what is flat and boolean.
    flat = doubts.reshape(-1)
    (doubted,) = (flat != 0).nonzero()
    events, words = np.divmod(doubted, doubts.shape[1])
    if slots.loose:  # behind the groups, where nothing is found before it is asked
        found = np.column_stack((found, np.zeros(len(found), dtype=np.bool_)))
    events = left.take(events)
    (unsettled,) = (~found[events, slots.group_of_word.take(words)]).nonzero()
    (bits,) = _bits(flat.take(doubted.take(unsettled))).nonzero()
    index = unsettled.take(bits // WORD)
    return events.take(index), words.take(index) * WORD + bits % WORD


def _accept(
    slots: Slots, events: _Numbers, places: _Numbers, found: _Flags, blocked: Words
) -> None:
    """Write down that the filters at the places match the events."""
    words = places // WORD
    groups = slots.group_of_word.take(words)
    if not slots.loose:
        found[events, groups] = True
        return
    loose = groups == len(slots.groups)
    np.bitwise_and.at(blocked, (events[loose], words[loose]), ~_bit(places[loose]))
    found[events[~loose], groups[~loose]] = True


def _bit(places: _Numbers) -> Words:
    """Return the bit of each place in its word."""
    return np.left_shift(_ONE, (places % WORD).astype(np.uint64))

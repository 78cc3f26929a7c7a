"""Ranges as plain columns: made in a moment, scanned for one notification at a time.

A matcher takes some eight microseconds for each filter to build, a walk through a table that was
just built up to two milliseconds. Between the two lie columns of the ends of ranges: they take a
twentieth of the time of a matcher to make, and one notification is compared with all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import FloatArray, ObjectArray, as_objects
from posetlib.constraints.base import Constraint
from posetlib.constraints.numbers import closed_ends
from posetlib.filters.filter import Filter, contents_of
from posetlib.graph.change import Pair
from posetlib.matching.cells import as_floats, is_held
from posetlib.matching.matcher import Notification, readable
from posetlib.values import MISSING, lookup

__all__ = ["RangeColumns"]

# Sets of attributes that filters may have: each is scanned on its own.
_MAX_GROUPS: Final = 16
# One pair in this number may have a filter that is not of ranges alone: it is tested by itself.
_PAIRS_PER_OTHER: Final = 64
# If more pairs than this match, and the table has no more interfaces than that, the interfaces of
# the pairs are counted by their numbers: this is faster than a set of all of them.
_FEW_HITS: Final = 64
_FEW_INTERFACES: Final = 1024
# The largest integer that float64 holds together with all smaller ones.
_EXACT_INTEGERS: Final = 2**53

_Numbers = NDArray[np.intp]
_Terms = tuple[Constraint, ...]


class _Group(NamedTuple):
    """The filters that constrain the same attributes, by their low ends on the first of these."""

    names: tuple[str, ...]
    #: Their low ends on the first attribute, and the greatest high ends there so far.
    lows: FloatArray
    highest: FloatArray
    #: A row for each other end: high ones with a minus, so that all compare in one direction.
    others: FloatArray
    #: The numbers of their pairs.
    numbers: _Numbers


class _Numbered(NamedTuple):
    """Interfaces by numbers."""

    #: By pair, the number of its interface.
    numbers: _Numbers
    #: By number, the interface.
    distinct: ObjectArray

    @classmethod
    def of(cls, interfaces: list[Hashable]) -> _Numbered:
        """Return the interfaces of pairs by numbers."""
        known = {each: i for i, each in enumerate(dict.fromkeys(interfaces))}
        numbers = np.array([known[each] for each in interfaces], dtype=np.intp)
        return cls(numbers, as_objects(list(known)))


class RangeColumns:
    """Pairs as they were when the columns were made.

    >>> from posetlib import parse_filter
    >>> made = RangeColumns.made([parse_filter("x in [1, 3] and y in [0, 9]")], ["I1"])
    >>> made.match({"x": 2, "y": 2.5}), made.match({"x": 2})
    (frozenset({'I1'}), frozenset())
    """

    def __init__(
        self, groups: list[_Group], others: list[Pair], interfaces: Sequence[Hashable]
    ) -> None:
        self._groups = groups
        self._others = others
        #: The interface of each pair.
        self._interfaces = as_objects(interfaces)
        #: The same by the numbers of distinct interfaces; None until many pairs match.
        self._numbered: _Numbered | None = None

    @classmethod
    def made(cls, filters: Sequence[Any], interfaces: Sequence[Hashable]) -> RangeColumns | None:
        """Return the columns of pairs, None if too many filters are not of ranges alone.

        The pairs come as their filters and, in the same order, their interfaces.
        """
        if not _are_readable(filters):
            return None
        names_of_each, terms = contents_of(filters)
        by_names = _by_names(names_of_each)
        if len(by_names) > _MAX_GROUPS:
            return None
        groups: list[_Group] = []
        others: list[int] = []
        for names, numbers in by_names.items():
            some = terms if len(by_names) == 1 else [terms[number] for number in numbers]
            ends = _ends(some) if names else None
            if ends is None:
                # Most may still be of ranges alone.
                good = [number for number in numbers if names and _are_ranges(terms[number])]
                others += set(numbers).difference(good)
                numbers = good  # noqa: PLW2901 - those that are left
                ends = _ends([terms[number] for number in good])
                if ends is None:  # an end is an integer at the very limit of what floats hold
                    others += good
            if ends:
                groups.append(_sorted_group(names, ends, numbers))
        if not groups or len(others) * _PAIRS_PER_OTHER > len(filters):
            return None
        return cls(groups, [(filters[i], interfaces[i]) for i in others], interfaces)

    def match(self, notification: Notification) -> frozenset[Hashable] | None:
        """Return the interfaces with a matching filter; None if a value is no plain number."""
        found: list[_Numbers] = []
        try:
            for group in self._groups:
                values = _values(notification, group.names)
                if values is None:
                    return None
                if values:
                    found.append(_matching(group, values))
        except AttributeError:  # no notification: who walks says so
            return None
        hits = found[0] if len(found) == 1 else np.concatenate([*found, np.zeros(0, np.intp)])
        answer = self._interfaces_of(hits)
        if self._others:
            answer |= {i for filter, i in self._others if filter.matches(notification)}
        return answer

    def _interfaces_of(self, hits: _Numbers) -> frozenset[Hashable]:
        """Return the interfaces of some pairs."""
        if len(hits) > _FEW_HITS:
            numbered = self._numbered
            if numbered is None:
                numbered = self._numbered = _Numbered.of(self._interfaces.tolist())
            if len(numbered.distinct) <= _FEW_INTERFACES:
                numbers = np.bincount(numbered.numbers.take(hits)).nonzero()[0]
                return frozenset(numbered.distinct.take(numbers).tolist())
        return frozenset(self._interfaces.take(hits).tolist())


def _are_readable(items: Sequence[object]) -> bool:
    """Return whether all items are filters that match by their constraints alone."""
    if set(map(type, items)) == {Filter}:
        return True
    return all(map(readable, items))


def _by_names(names: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], Sequence[int]]:
    """Return the numbers of the filters that constrain the same attributes."""
    if names and names.count(names[0]) == len(names):
        return {names[0]: range(len(names))}
    numbers: dict[tuple[str, ...], list[int]] = {each: [] for each in dict.fromkeys(names)}
    for number, each in enumerate(names):
        numbers[each].append(number)
    return dict(numbers)


def _ends(terms: Sequence[_Terms]) -> list[tuple[FloatArray, FloatArray]] | None:
    """Return the ends of filters with the same attributes, None if one is not of ranges alone."""
    if not terms:
        return []
    # All at once: the constraints of a filter lie together in memory.
    listed = closed_ends(list(chain.from_iterable(terms)))
    if listed is None:
        return None
    low, high = (as_floats(each, set(map(type, each))) for each in listed)
    if low is None or high is None:
        return None
    width = len(terms[0])
    return [(low[axis::width], high[axis::width]) for axis in range(width)]


def _are_ranges(terms: _Terms) -> bool:
    """Return whether all constraints are closed ranges with ends that float64 holds."""
    return all(each.is_number_range and is_held(each.low) and is_held(each.high) for each in terms)


def _values(notification: Notification, names: tuple[str, ...]) -> list[float] | None:
    """Return values as floats; an empty list if one is missing, None if one is no plain number."""
    values = []
    for name in names:
        value: Any = notification.get(name, MISSING)
        if value is MISSING:
            value = lookup(notification, name)
            if value is MISSING:
                return []
        kind = value.__class__
        if kind is not float and (kind is not int or abs(value) > _EXACT_INTEGERS):
            return None
        values.append(value)
    return values


def _sorted_group(
    names: tuple[str, ...], ends: list[tuple[FloatArray, FloatArray]], numbers: Sequence[int]
) -> _Group:
    """Return a group of filters, given in any order."""
    order = ends[0][0].argsort()
    rows = [row.take(order) for low, high in ends for row in (low, -high)]
    highest = np.maximum.accumulate(-rows[1])
    # A range of all numbers, as most tables have it, is not listed.
    sorted_numbers = order if isinstance(numbers, range) else np.array(numbers).take(order)
    return _Group(names, rows[0], highest, np.stack(rows[1:]), sorted_numbers)


def _matching(group: _Group, values: list[float]) -> _Numbers:
    """Return the numbers of the pairs whose ranges contain the values."""
    first = values[0]
    # All filters before these end, and all after them begin, on the wrong side of the value.
    start, stop = group.highest.searchsorted(first), group.lows.searchsorted(first, "right")
    signed = [end for value in values for end in (value, -value)]
    column = np.array(signed[1:]).reshape(-1, 1)
    inside = np.logical_and.reduce(group.others[:, start:stop] <= column)
    hits: _Numbers = group.numbers[start:stop].take(inside.nonzero()[0])
    return hits

"""Ranges as plain columns: made in a moment, scanned for one notification at a time.

A matcher takes some eight microseconds for each filter to build, a walk through a table that was
just built up to two milliseconds. Between the two lie columns of the ends of ranges: they take a
twentieth of the time of a matcher to make, and one notification is compared with all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import FloatArray
from posetlib.filters.filter import Filter
from posetlib.graph.change import Pair
from posetlib.matching.cells import as_floats, is_held
from posetlib.matching.matcher import Notification, readable
from posetlib.values import MISSING, lookup

__all__ = ["RangeColumns"]

# Sets of attributes that filters may have: each is scanned on its own.
_MAX_GROUPS: Final = 16
# One pair in this number may have a filter that is not of ranges alone: it is tested by itself.
_PAIRS_PER_OTHER: Final = 64
# Up to this many interfaces, those of the filters that match are counted by their numbers.
_FEW_INTERFACES: Final = 1024
# The largest integer that float64 holds together with all smaller ones.
_EXACT_INTEGERS: Final = 2**53

_IS_RANGE: Final = attrgetter("is_number_range")
_LOW: Final = attrgetter("low")
_HIGH: Final = attrgetter("high")
_TERMS: Final = attrgetter("terms")
_ATTRIBUTES: Final = attrgetter("attributes")

_Numbers = NDArray[np.intp]


class _Group(NamedTuple):
    """The filters that constrain the same attributes."""

    names: tuple[str, ...]
    #: Their low and high ends on each attribute.
    ends: list[tuple[FloatArray, FloatArray]]
    #: The numbers of their pairs; None for all pairs in their order.
    numbers: _Numbers | None


class RangeColumns:
    """Pairs as they were when the columns were made.

    >>> from posetlib import parse_filter
    >>> made = RangeColumns.made([(parse_filter("x in [1, 3] and y in [0, 9]"), "I1")])
    >>> made.match({"x": 2, "y": 2.5}), made.match({"x": 2})
    (frozenset({'I1'}), frozenset())
    """

    def __init__(self, groups: list[_Group], others: list[Pair], pairs: Sequence[Pair]) -> None:
        self._groups = groups
        self._others = others
        # By pair, the number of its interface; and the interfaces by their numbers.
        listed = [interface for _, interface in pairs]
        known: dict[Hashable, int] = {each: i for i, each in enumerate(dict.fromkeys(listed))}
        self._codes: _Numbers = np.array(list(map(known.__getitem__, listed)), dtype=np.intp)
        self._interfaces = np.empty(len(known), dtype=object)
        self._interfaces[:] = list(known)

    @classmethod
    def made(cls, pairs: Sequence[Pair]) -> RangeColumns | None:
        """Return the columns of pairs, None if too many filters are not of ranges alone."""
        filters = [item for item, _ in pairs]
        if not all(map(readable, dict(zip(map(type, filters), filters, strict=True)).values())):
            return None
        by_names = _by_names(filters)
        if len(by_names) > _MAX_GROUPS:
            return None
        groups: list[_Group] = []
        others: list[int] = []
        for names, numbers in by_names.items():
            some = filters if len(by_names) == 1 else [filters[number] for number in numbers]
            ends = _ends(some) if names else None
            if ends is None:
                # Most may still be of ranges alone.
                good = [
                    number for number in numbers if names and _has_ranges_alone(filters[number])
                ]
                others += set(numbers).difference(good)
                numbers = good  # noqa: PLW2901 - those that are left
                ends = _ends([filters[number] for number in good])
                if ends is None:  # an end is an integer at the very limit of what floats hold
                    others += good
            if ends:
                is_all = len(numbers) == len(filters)
                chosen = None if is_all else np.array(numbers, dtype=np.intp)
                groups.append(_Group(names, ends, chosen))
        if not groups or len(others) * _PAIRS_PER_OTHER > len(pairs):
            return None
        return cls(groups, [pairs[number] for number in others], pairs)

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
        codes = self._codes.take(hits)
        if len(self._interfaces) <= _FEW_INTERFACES:
            codes = np.bincount(codes, minlength=1).nonzero()[0]
        answer = frozenset(self._interfaces.take(codes).tolist())
        if self._others:
            answer |= {i for filter, i in self._others if filter.matches(notification)}
        return answer


def _by_names(filters: Sequence[Filter]) -> dict[tuple[str, ...], Sequence[int]]:
    """Return the numbers of the filters that constrain the same attributes."""
    names = list(map(_ATTRIBUTES, filters))
    distinct = set(names)
    if len(distinct) == 1:
        return {names[0]: range(len(filters))}
    numbers: dict[tuple[str, ...], list[int]] = {each: [] for each in dict.fromkeys(names)}
    for number, each in enumerate(names):
        numbers[each].append(number)
    return dict(numbers)


def _ends(filters: Sequence[Filter]) -> list[tuple[FloatArray, FloatArray]] | None:
    """Return the ends of filters with the same attributes, None if one is not of ranges alone."""
    ends = []
    for constraints in zip(*map(_TERMS, filters), strict=True):
        if not all(map(_IS_RANGE, constraints)):
            return None
        low, high = (
            as_floats(listed, set(map(type, listed)))
            for listed in (list(map(_LOW, constraints)), list(map(_HIGH, constraints)))
        )
        if low is None or high is None:
            return None
        ends.append((low, high))
    return ends


def _has_ranges_alone(filter: Filter) -> bool:
    """Return whether all constraints are closed ranges with ends that float64 holds."""
    return all(
        each.is_number_range and is_held(each.low) and is_held(each.high) for each in filter.terms
    )


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


def _matching(group: _Group, values: list[float]) -> _Numbers:
    """Return the numbers of the pairs whose ranges contain the values."""
    inside = None
    for (low, high), value in zip(group.ends, values, strict=True):
        if inside is None:
            inside = low <= value
        else:
            inside &= low <= value
        inside &= high >= value
    assert inside is not None, "a group has attributes"
    (hits,) = inside.nonzero()
    return hits if group.numbers is None else group.numbers.take(hits)

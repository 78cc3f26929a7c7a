"""Which filters may help to cover another one: they overlap it, and ask for nothing more.

A filter on an attribute that the other one does not have is no help: the other one also matches
notifications without it. A table answers from its index. A long list is mostly asked about many
filters, so when it is asked again, the ends of its numbers are read into columns once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from posetlib.array_types import FloatArray, IntArray
from posetlib.constraints import Numbers
from posetlib.filters.filter import Filter
from posetlib.tables.table import Table

__all__ = ["meeting"]

# A list of at least this many filters is remembered, and has columns when it is asked again.
_LONG: Final = 256


def meeting(filters: Iterable[Filter], f: Filter) -> list[Filter]:
    """Return the filters that may help to cover f; of a table, its roots that may.

    The roots match whatever the other filters of the table match. TypeError for other items.
    """
    if isinstance(filters, Table):
        roots = filters._search.meeting(filters._probe(f), filters._links.top)
        return [node.item for node in roots if _may_help(node.item, f)]
    listed = filters if isinstance(filters, list | tuple) else list(filters)
    try:
        some = _last_list.near(listed, f) if len(listed) >= _LONG else _first_meets(listed, f)
        return [one for one in some if _may_help(one, f)]
    except AttributeError:
        for one in listed:
            if not isinstance(one, Filter):
                raise TypeError(
                    f"a filter is covered by filters, not {type(one).__name__}"
                ) from None
        raise


def _may_help(one: Filter, f: Filter) -> bool:
    if one._schema is not f._schema and any(f.get(name) is None for name in one.attributes):
        return False
    return one.overlaps(f)


def _first_meets(filters: Iterable[Filter], f: Filter) -> Iterable[Filter]:
    """Return the filters that may help, as far as the first constraint of each tells."""
    own = f.terms[0] if f.terms else None
    if not isinstance(own, Numbers):
        return filters
    schema, low, high = f._schema, own.low, own.high
    return [
        one
        for one in filters
        if one._schema is not schema
        or (first := one._constraints[0]).__class__ is not Numbers
        or (first.low <= high and first.high >= low)
    ]


class _Group(NamedTuple):
    """The filters on the same attributes."""

    names: tuple[str, ...]
    #: Their numbers in the list.
    numbers: IntArray
    #: For each attribute their low and high ends, as floats.
    ends: list[tuple[FloatArray, FloatArray]]


class _LastList:
    """The long list that was asked last: when it is asked again, its columns are made.

    It is the same list as long as it has equal filters, which never change. One list is kept
    alive by this, and no more.
    """

    def __init__(self) -> None:
        self._known: tuple[Sequence[Filter], list[_Group] | None] = ((), None)

    def near(self, filters: Sequence[Filter], f: Filter) -> Iterable[Filter]:
        """Return the filters of a list that may help, as far as ends of numbers tell."""
        kept, groups = self._known
        if not _is_same(kept, filters):
            self._known = (filters[:], None)
            return _first_meets(filters, f)
        if groups is None:
            groups = _grouped(filters)
            self._known = (kept, groups)
        found: list[int] = []
        for group in groups:
            found += _meeting_in(group, f)
        found.sort()
        return [filters[i] for i in found]


_last_list: Final = _LastList()


def _is_same(kept: Sequence[Filter], filters: Sequence[Filter]) -> bool:
    """Return whether a list has the filters that it had: a few nanoseconds for each.

    Python compares sequences object by object, and asks only objects that are not the same one.
    """
    return kept == filters


def _grouped(filters: Iterable[Filter]) -> list[_Group]:
    members: dict[tuple[str, ...], list[tuple[int, Filter]]] = {}
    for i, one in enumerate(filters):
        members.setdefault(one.attributes, []).append((i, one))
    groups = []
    for names, some in members.items():
        columns = zip(*(one.terms for _, one in some), strict=True)
        ends = [
            (np.array([_low(each) for each in column]), np.array([_high(each) for each in column]))
            for column in columns
        ]
        groups.append(_Group(names, np.array([i for i, _ in some], dtype=np.intp), ends))
    return groups


def _meeting_in(group: _Group, f: Filter) -> list[int]:
    """Return the numbers of the filters of a group that may help."""
    good = np.ones(len(group.numbers), dtype=bool)
    for name, (lows, highs) in zip(group.names, group.ends, strict=True):
        own = f.get(name)
        if own is None:
            return []
        low, high = _low(own), _high(own)
        if low > -math.inf:
            good &= highs >= low
        if high < math.inf:
            good &= lows <= high
    return group.numbers[good].tolist()  # type: ignore[no-any-return]


def _low(constraint: Any) -> float:
    """Return the low end of a constraint on numbers; without limit for any other one."""
    return _as_float(constraint.low) if constraint.__class__ is Numbers else -math.inf


def _high(constraint: Any) -> float:
    """Return the high end of a constraint on numbers; without limit for any other one."""
    return _as_float(constraint.high) if constraint.__class__ is Numbers else math.inf


def _as_float(number: Any) -> float:
    """Return the nearest float: numbers in order are floats in order, or equal ones."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf

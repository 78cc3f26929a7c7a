"""Many filters as arrays: for each attribute, an array of low ends and an array of high ends."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from posetlib.array_types import BoolArray, IntArray
from posetlib.arrays.positions import (
    EVERYTHING,
    Vocabulary,
    constraint_between,
    ends_of,
    is_one_string,
)
from posetlib.filters.filter import Filter

__all__ = ["GROUP", "FilterRanges", "Ranges", "encode_filters", "joined", "no_constraint"]

#: The low ends, or the high ends, of many items on one axis, of any type that numpy can sort.
EndArray = npt.NDArray[Any]
#: The axis for the group of a filter (see ``with_group``). It is a control character, with which no
#: name of an attribute begins.
GROUP: Final = "\0"


def no_constraint(ends: EndArray) -> Any:
    """Return the low end of an item without a range on the axis: the least value of the type."""
    return -np.inf if ends.dtype.kind == "f" else EVERYTHING[0]


class Ranges:
    """Items as ranges: on each axis an array of low ends and one of high ends, a row for each item.

    An item covers another one exactly if on every axis its range contains the other's. An item
    without a range on an axis has the least value of the type as low end, and the greatest as high
    end.
    """

    def __init__(
        self, lows: Mapping[Any, EndArray], highs: Mapping[Any, EndArray], count: int
    ) -> None:
        self.lows = dict(lows)
        self.highs = dict(highs)
        self.count = count

    def __len__(self) -> int:
        return self.count

    @property
    def all_plain(self) -> bool:
        """Whether ends alone tell which firm items each of these items covers."""
        return True

    @property
    def all_firm(self) -> bool:
        """Whether ends alone tell which plain items cover each of these items."""
        return True

    def loosened(self, axis: Hashable) -> tuple[EndArray, EndArray]:
        """Return the ends on an axis to compare these items as covered ones."""
        return self.lows[axis], self.highs[axis]

    def take(self, rows: IntArray | Sequence[int]) -> Self:
        """Return some of the rows, in that order."""
        return type(self)(
            {axis: each[rows] for axis, each in self.lows.items()},
            {axis: each[rows] for axis, each in self.highs.items()},
            len(rows),
        )


class FilterRanges(Ranges):
    """Filters as ranges of positions (see ``arrays.positions``); an axis is an attribute.

    plain
        A filter is plain if it matches exactly the values within its ranges.
    firm
        A filter is firm if its ranges are the smallest that contain its values. Then a plain filter
        covers it exactly if its ranges contain those of the firm filter. A plain filter is firm.
    loose
        A filter is loose on an attribute if the positions of its constraint are not known.

    ``filters`` has the objects of the filters that are not plain, by row. They are compared where
    ranges do not exclude that one covers the other.

    >>> from posetlib.filters import parse_filter
    >>> ranges = encode_filters([parse_filter("x = 3"), parse_filter("x != 3")], Vocabulary())
    >>> len(ranges), ranges.all_plain, ranges.all_firm
    (2, False, True)
    """

    def __init__(
        self,
        lows: Mapping[str, IntArray],
        highs: Mapping[str, IntArray],
        plain: BoolArray,
        firm: BoolArray,
        vocabulary: Vocabulary,
        filters: Mapping[int, Filter] | None = None,
        loose: Mapping[str, BoolArray] | None = None,
    ) -> None:
        super().__init__(lows, highs, len(plain))
        self.plain = plain
        self.firm = firm
        self.vocabulary = vocabulary
        self.filters = dict(filters or {})
        self.loose = dict(loose or {})

    @property
    def all_plain(self) -> bool:
        """Whether all filters are plain."""
        return bool(self.plain.all())

    @property
    def all_firm(self) -> bool:
        """Whether all filters are firm."""
        return bool(self.firm.all())

    def loosened(self, axis: Hashable) -> tuple[EndArray, EndArray]:
        """Return the ends on an axis to compare these filters as covered ones.

        A loose filter gets an empty range, which every range contains: so no filter is excluded as
        its coverer before the objects are compared.
        """
        low, high = super().loosened(axis)
        loose = self.loose.get(axis)  # type: ignore[call-overload]
        if loose is None:
            return low, high
        return np.where(loose, EVERYTHING[1], low), np.where(loose, EVERYTHING[0], high)

    def take(self, rows: IntArray | Sequence[int]) -> FilterRanges:
        """Return some of the rows, in that order."""
        chosen: dict[int, Filter] = {}
        if self.filters:
            for at, row in enumerate(np.asarray(rows).tolist()):
                if row in self.filters:
                    chosen[at] = self.filters[row]
        return FilterRanges(
            {name: each[rows] for name, each in self.lows.items()},
            {name: each[rows] for name, each in self.highs.items()},
            self.plain[rows],
            self.firm[rows],
            self.vocabulary,
            chosen,
            {name: each[rows] for name, each in self.loose.items()},
        )

    def with_group(self, groups: IntArray) -> FilterRanges:
        """Return the same filters with one more axis, so that none covers one of another group."""
        return FilterRanges(
            self.lows | {GROUP: groups},
            self.highs | {GROUP: groups},
            self.plain,
            self.firm,
            self.vocabulary,
            self.filters,
            self.loose,
        )

    def strings(self, name: str) -> list[str | None]:
        """Return the string to which each filter constrains an attribute, None if to no single one.

        >>> from posetlib.filters import parse_filter
        >>> some = [parse_filter('x = "a"'), parse_filter("x > 3")]
        >>> encode_filters(some, Vocabulary()).strings("x")
        ['a', None]
        """
        if name not in self.lows:
            return [None] * len(self)
        low, high = self.lows[name], self.highs[name]
        single = is_one_string(low, high)
        known = {int(at): self.vocabulary.string(int(at)) for at in np.unique(low[single])}
        return [known[at] if one else None for at, one in zip(low.tolist(), single, strict=True)]

    def filter(self, row: int) -> Filter:
        """Return the filter of a row: the object that was encoded, or one made from positions."""
        known = self.filters.get(row)
        if known is not None:
            return known
        return Filter(
            {
                name: constraint_between(
                    int(self.lows[name][row]), int(self.highs[name][row]), self.vocabulary
                )
                for name in self.lows
                if name != GROUP and int(self.lows[name][row]) != EVERYTHING[0]
            }
        )


def joined(parts: Sequence[FilterRanges]) -> FilterRanges:
    """Return the rows of all parts, one part after the other; they must share a vocabulary."""
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(name for part in parts for name in part.lows)
    loose_names = dict.fromkeys(name for part in parts for name in part.loose)
    filters: dict[int, Filter] = {}
    start = 0
    for part in parts:
        filters.update({row + start: each for row, each in part.filters.items()})
        start += len(part)

    def concatenated(of: str, name: str, otherwise: int) -> IntArray:
        pieces = []
        for part in parts:
            found = getattr(part, of).get(name)
            pieces.append(np.full(len(part), otherwise) if found is None else found)
        return np.concatenate(pieces)

    return FilterRanges(
        {name: concatenated("lows", name, EVERYTHING[0]) for name in names},
        {name: concatenated("highs", name, EVERYTHING[1]) for name in names},
        np.concatenate([part.plain for part in parts]),
        np.concatenate([part.firm for part in parts]),
        parts[0].vocabulary,
        filters,
        {name: concatenated("loose", name, 0).astype(np.bool_) for name in loose_names},
    )


def encode_filters(filters: Sequence[Filter], vocabulary: Vocabulary) -> FilterRanges:
    """Return filters as arrays: O(constraints) steps of Python, and O(filters) for each attribute.

    >>> from posetlib.filters import parse_filter
    >>> found = encode_filters([parse_filter("x in [2, 5)"), parse_filter("x != 3")], Vocabulary())
    >>> found.plain.tolist(), found.firm.tolist()
    ([True, False], [True, True])
    """
    count = len(filters)
    lows: dict[str, IntArray] = {}
    highs: dict[str, IntArray] = {}
    loose: dict[str, BoolArray] = {}
    plain = np.ones(count, np.bool_)
    firm = np.ones(count, np.bool_)
    kept: dict[int, Filter] = {}
    for row, one in enumerate(filters):
        for name, constraint in zip(one.attributes, one.terms, strict=True):
            ends = ends_of(constraint, vocabulary)
            if name not in lows:
                lows[name] = np.full(count, EVERYTHING[0])
                highs[name] = np.full(count, EVERYTHING[1])
            lows[name][row], highs[name][row] = ends.low, ends.high
            if not ends.is_firm:
                loose.setdefault(name, np.zeros(count, np.bool_))[row] = True
            plain[row] &= ends.is_all
            firm[row] &= ends.is_firm
        if not plain[row]:
            kept[row] = one
    return FilterRanges(lows, highs, plain, firm, vocabulary, kept, loose)

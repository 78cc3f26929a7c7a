"""Filters and notifications in columns, by the kind of load."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np

from posetlib.generating.draws import Booleans, Draw, Floats, Grid, Integers
from posetlib.generating.parameters import Parameters

__all__ = [
    "FilterColumns",
    "NotificationColumns",
    "Ranges",
    "filter_columns",
    "interface_names",
    "interfaces_of",
    "notification_columns",
    "operation_slots",
]

Rows: TypeAlias = Sequence[int] | Integers

#: How many places a Zipf-skewed load gathers around.
_PLACES: Final = 1_000
#: The first words of the subjects; a subject is three words with dots between them.
_WORDS: Final = tuple(
    "alarm bonds city delay energy fuel gold harbour index job kitchen label metro news orders "
    "price quote rain sport trade".split()
)

_SYLLABLES: Final = tuple("ba co di fo ga he ki lu mo ne pa ri so tu wa zo".split())

#: What is drawn for a row; with the number of an attribute, the name of an independent stream.
_INTERFACE, _SCHEMA, _ONE, _OTHER, _CHOICE, _COUNT, _VALUE, _SLOT, _PLACE = range(1, 10)


# -- filters ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranges:
    """What the filters ask of one attribute; NaN at both ends where they ask nothing."""

    low: Floats
    high: Floats
    low_open: Booleans
    high_open: Booleans


@dataclass(frozen=True)
class FilterColumns:
    """Filters in columns; ``texts()`` writes them.

    ``plain`` says which filters are no more than their ranges and their type.
    """

    rows: Integers
    #: The interface of each filter, from 0.
    interfaces: Integers
    #: The event type of each filter, from 0; None where there is one only.
    types: Integers | None
    ranges: dict[str, Ranges]
    plain: Booleans
    clauses: Mapping[str, _Clauses]

    def texts(self) -> list[str]:
        """Return the filters in canonical text."""
        parts = [each.texts() for _, each in sorted(self.clauses.items())]
        if self.types is not None:
            # In order of the names, "subject" and "name" come before "type", numbers after it.
            where = sum(name < "type" for name in self.clauses)
            parts.insert(where, [f'type = "T{each}"' for each in self.types.tolist()])
        if any("" in part for part in parts):
            return [" and ".join(filter(None, row)) for row in zip(*parts, strict=True)]
        return [" and ".join(row) for row in zip(*parts, strict=True)]


class _Clauses(ABC):
    """What the filters ask of one attribute, to be written when asked for."""

    @abstractmethod
    def texts(self) -> list[str]:
        """Return the clause of each filter, empty where it asks nothing."""


_RANGE, _LESS, _MORE, _AT_MOST, _AT_LEAST, _EQUAL, _UNEQUAL, _NOTHING = range(8)
_SIGNS: Final = {
    _LESS: "<",
    _MORE: ">",
    _AT_MOST: "<=",
    _AT_LEAST: ">=",
    _EQUAL: "=",
    _UNEQUAL: "!=",
}


@dataclass(frozen=True)
class _Numbers(_Clauses):
    """Ranges and comparisons over the grid: for comparisons both ends are the operand."""

    name: str
    grid: Grid
    low: Integers
    high: Integers
    operators: Integers | None = None

    def texts(self) -> list[str]:
        lows, highs = self.grid.texts(self.low), self.grid.texts(self.high)
        form = f"{self.name} in [%s, %s]"
        made = [form % pair for pair in zip(lows, highs, strict=True)]
        for at in np.flatnonzero(self.low == self.high).tolist():
            made[at] = f"{self.name} = {lows[at]}"
        if self.operators is not None:
            for at in np.flatnonzero(self.operators != _RANGE).tolist():
                operator = int(self.operators[at])
                made[at] = (
                    "" if operator == _NOTHING else f"{self.name} {_SIGNS[operator]} {lows[at]}"
                )
        return made

    def ranges(self) -> tuple[Ranges, Booleans]:
        """Return the ends, and where they are all that is asked."""
        low, high = self.grid.values(self.low), self.grid.values(self.high)
        nowhere = np.zeros(len(low), np.bool_)
        if self.operators is None:
            return Ranges(low, high, nowhere, nowhere), ~nowhere
        operators = self.operators
        nothing = (operators == _NOTHING) | (operators == _UNEQUAL)
        low = np.where((operators == _LESS) | (operators == _AT_MOST), -np.inf, low)
        high = np.where((operators == _MORE) | (operators == _AT_LEAST), np.inf, high)
        low, high = np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)
        made = Ranges(low, high, operators == _MORE, operators == _LESS)
        return made, operators != _UNEQUAL


@dataclass(frozen=True)
class _Subjects(_Clauses):
    """A subject such as "gold.fuel.news", a prefix of one, or a part of one."""

    words: tuple[Integers, Integers, Integers]
    forms: Integers

    def texts(self) -> list[str]:
        made = []
        for form, *words in zip(
            self.forms.tolist(), *(w.tolist() for w in self.words), strict=True
        ):
            one, two, three = (_WORDS[each] for each in words)
            if form == 0:
                made.append(f'subject = "{one}.{two}.{three}"')
            elif form == 1:
                made.append(f'subject prefix "{one}.{two}."')
            elif form == 2:
                made.append(f'subject prefix "{one}."')
            elif form == 3:
                made.append(f'subject suffix ".{three}"')
            else:
                made.append(f'subject contains ".{two}."')
        return made


@dataclass(frozen=True)
class _Labels(_Clauses):
    """A name of two syllables, its beginning, a part of it, or a bound on it."""

    syllables: tuple[Integers, Integers]
    forms: Integers

    def texts(self) -> list[str]:
        made = []
        first, second = (each.tolist() for each in self.syllables)
        for form, one, two in zip(self.forms.tolist(), first, second, strict=True):
            operator, operand = (
                ("=", _label(one, two)),
                ("!=", _label(one, two)),
                ("prefix", _label(one)),
                ("contains", _SYLLABLES[two]),
                (">=", _label(one)),
                ("<", _label(one, two)),
            )[form]
            made.append(f'name {operator} "{operand}"')
        return made


def _label(one: int, *two: int) -> str:
    return "".join(_SYLLABLES[each] for each in (one, *two)).capitalize()


def filter_columns(p: Parameters, rows: Rows) -> FilterColumns:
    """Return the filters of the given rows; a row from ``p.filters`` on is that of an operation."""
    numbers = np.asarray(rows, np.int64)
    draw = Draw(p.seed, numbers)
    grid = Grid.between(p.low, p.high, p.decimals)
    ranges: dict[str, Ranges] = {}
    plain = np.full(len(numbers), p.kind != "strings")
    clauses: dict[str, _Clauses] = {}
    if p.kind == "strings":
        clauses["subject"] = _subjects(p, draw)
        if p.dims > 1:
            clauses["name"] = _labels(p, draw)
    operators = _operators(p, draw)
    for part, name in enumerate(p.attributes):
        ends = _ends(p, draw, grid, part, None if operators is None else operators[part])
        one = _Numbers(name, grid, *ends, None if operators is None else operators[part])
        clauses[name] = one
        ranges[name], alone = one.ranges()
        plain &= alone
    types = draw.below(p.schemas, _SCHEMA) if p.schemas > 1 else None
    return FilterColumns(numbers, interfaces_of(p, numbers), types, ranges, plain, clauses)


def _ends(
    p: Parameters, draw: Draw, grid: Grid, part: int, operators: Integers | None
) -> tuple[Integers, Integers]:
    """Return both ends of the ranges on one attribute, as places on the grid."""
    if p.kind in ("narrow", "zipf"):
        if p.kind == "narrow":
            centre = p.low + draw.unit(_ONE, part) * (p.high - p.low)
        else:
            centre = _gathered(p, draw, _ONE, part)
        half = -np.log1p(-draw.unit(_OTHER, part)) * (p.width / 2)
        return grid.nearest(centre - half), grid.nearest(centre + half)
    one, other = draw.below(grid.size, _ONE, part), draw.below(grid.size, _OTHER, part)
    low, high = np.minimum(one, other), np.maximum(one, other)
    if operators is None:
        return low, high
    # A comparison has one operand, and the smaller of two draws would be too small.
    alone = (operators != _RANGE) & (operators != _NOTHING)
    return np.where(alone, one, low), np.where(alone, one, high)


def _gathered(p: Parameters, draw: Draw, purpose: int, part: int) -> Floats:
    """Return numbers around places, the first of which are far more popular than the last."""
    ranks = draw.ranked(_PLACES, p.skew, _CHOICE << 4 | purpose, part)
    # Where a place is depends on the seed and not on the row.
    places = Draw(p.seed, np.arange(_PLACES)).unit(_PLACE, part)
    spread = (draw.unit(purpose, part) - 0.5) / _PLACES
    return np.asarray(p.low + (places[ranks] + spread) * (p.high - p.low))


def _operators(p: Parameters, draw: Draw) -> list[Integers] | None:
    """Return the operator for each attribute, None where all are ranges."""
    count = len(p.attributes)
    if p.kind == "mixed":
        return [draw.below(_NOTHING, _CHOICE, part) for part in range(count)]
    if p.kind != "variable":
        return None
    # One to three of the attributes: those with the smallest keys.
    wanted = 1 + draw.below(3, _COUNT)
    keys = np.stack([draw.unit(_CHOICE, part) for part in range(count)])
    ranks = keys.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return [np.where(rank < wanted, _RANGE, _NOTHING) for rank in ranks]


def _subjects(p: Parameters, draw: Draw) -> _Subjects:
    words = [draw.ranked(len(_WORDS), p.skew, _ONE, part) for part in range(3)]
    return _Subjects((words[0], words[1], words[2]), draw.below(5, _CHOICE))


def _labels(p: Parameters, draw: Draw) -> _Labels:
    one, two = (draw.ranked(len(_SYLLABLES), p.skew, _OTHER, part) for part in range(2))
    return _Labels((one, two), draw.below(6, _COUNT))


def interfaces_of(p: Parameters, rows: Integers) -> Integers:
    """Return the interface of each row; that of an operation is the one whose filter it takes."""
    slots = rows
    if len(rows) and rows.max() >= p.filters > 0:
        slots = np.where(rows < p.filters, rows, operation_slots(p, rows - p.filters))
    if not p.interface_skew:
        return slots % p.interfaces
    return Draw(p.seed, slots).ranked(p.interfaces, p.interface_skew, _INTERFACE)


def operation_slots(p: Parameters, operations: Integers) -> Integers:
    """Return whose place each operation takes: the row of a filter that was there first."""
    return Draw(p.seed, operations).below(p.filters, _SLOT)


def interface_names(numbers: Integers) -> list[str]:
    """Return the names of interfaces.

    >>> interface_names(np.array([0, 9]))
    ['I1', 'I10']
    """
    return [f"I{each}" for each in (numbers + 1).tolist()]


# -- notifications ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class NotificationColumns:
    """Notifications in columns; ``texts()`` writes them as JSON."""

    rows: Integers
    types: Integers | None
    values: dict[str, Floats]
    strings: dict[str, list[str]]

    @cached_property
    def mappings(self) -> list[dict[str, Any]]:
        """The notifications themselves."""
        columns: dict[str, list[Any]] = dict(self.strings)
        if self.types is not None:
            columns["type"] = [f"T{each}" for each in self.types.tolist()]
        for name, values in self.values.items():
            columns[name] = values.tolist()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def texts(self) -> list[str]:
        """Return the notifications as JSON."""
        return [json.dumps(each) for each in self.mappings]


def notification_columns(p: Parameters, rows: Rows) -> NotificationColumns:
    """Return the notifications of the given rows: a value for every attribute.

    >>> notification_columns(Parameters(seed=7), [0]).texts()
    ['{"x": 39.921, "y": 42.95}']
    """
    numbers = np.asarray(rows, np.int64)
    draw = Draw(p.seed, numbers)
    grid = Grid.between(p.low, p.high, p.decimals)
    values = {}
    for part, name in enumerate(p.attributes):
        if p.kind == "zipf":
            at = grid.nearest(_gathered(p, draw, _VALUE, part))
        else:
            at = draw.below(grid.size, _VALUE, part)
        values[name] = grid.values(at)
    strings = {}
    if p.kind == "strings":
        words = [draw.ranked(len(_WORDS), p.skew, _VALUE, part).tolist() for part in range(3)]
        strings["subject"] = [
            ".".join(_WORDS[each] for each in row) for row in zip(*words, strict=True)
        ]
        parts = [draw.ranked(len(_SYLLABLES), p.skew, _PLACE, part).tolist() for part in range(2)]
        strings["name"] = [_label(*pair) for pair in zip(*parts, strict=True)]
    types = draw.below(p.schemas, _COUNT) if p.schemas > 1 else None
    return NotificationColumns(numbers, types, values, strings)

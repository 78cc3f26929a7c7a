"""Generated filters and notifications as columns, for each kind of load."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np

from posetlib.array_types import BoolArray, FloatArray, IntArray
from posetlib.generating import model_loads
from posetlib.generating.draws import Draw, Grid
from posetlib.generating.parameters import Parameters
from posetlib.models import read_documents, tuple_record

__all__ = [
    "GeneratedFilters",
    "GeneratedNotifications",
    "GeneratedRanges",
    "generated_filters",
    "generated_notifications",
    "interface_names",
    "interfaces_of",
    "operation_slots",
]

#: The numbers of rows.
Rows: TypeAlias = Sequence[int] | IntArray

#: In a Zipf-skewed load, values lie near this many centres on each attribute.
_CENTRES: Final = 1_000
#: The words of subjects. A subject is three of these words with dots between them.
_WORDS: Final = tuple(
    "alarm bonds city delay energy fuel gold harbour index job kitchen label metro news orders "
    "price quote rain sport trade".split()
)

#: The syllables of names. A name is two of them, the first one with a capital letter.
_SYLLABLES: Final = tuple("ba co di fo ga he ki lu mo ne pa ri so tu wa zo".split())

#: The purposes for which a number is drawn. A purpose and the number of an attribute choose a
#: stream of draws (see ``Draw``). Other numbers would change every generated workload.
_INTERFACE, _SCHEMA, _ONE, _OTHER, _CHOICE, _COUNT, _VALUE, _SLOT, _PLACE = range(1, 10)


# -- filters ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GeneratedRanges:
    """The ranges of filters on one attribute; NaN at both ends of a filter without a range."""

    low: FloatArray
    high: FloatArray
    low_open: BoolArray
    high_open: BoolArray


@dataclass(frozen=True)
class GeneratedFilters:
    """Generated filters as columns, one row for each filter."""

    #: The row numbers from which the filters were made.
    rows: IntArray
    #: The interface of each filter, from 0.
    interfaces: IntArray
    #: The event type of each filter, from 0; None if there is only one type.
    types: IntArray | None
    #: Attribute -> the ranges of the filters.
    ranges: dict[str, GeneratedRanges]
    #: Whether a filter is fully described by its ranges and its type.
    plain: BoolArray
    #: Attribute -> the constraints of the filters, from which texts are made.
    clauses: Mapping[str, _Clauses]

    def texts(self) -> list[str]:
        """Return the filters in canonical text."""
        parts = [each.texts() for _, each in sorted(self.clauses.items())]
        if self.types is not None:
            # Canonical text has attributes in order of their names: "name" and "subject" come
            # before "type", and "x", "y", "z" after it.
            where = sum(name < "type" for name in self.clauses)
            parts.insert(where, [f'type = "T{each}"' for each in self.types.tolist()])
        if any("" in part for part in parts):
            return [" and ".join(filter(None, row)) for row in zip(*parts, strict=True)]
        return [" and ".join(row) for row in zip(*parts, strict=True)]


class _Clauses(ABC):
    """The constraints of filters on one attribute. Their texts are made when they are needed."""

    @abstractmethod
    def texts(self) -> list[str]:
        """Return the text of each filter's constraint; empty for a filter without one."""


@dataclass(frozen=True)
class _Texts(_Clauses):
    """Constraints that were made as text."""

    made: list[str]

    def texts(self) -> list[str]:
        return self.made


#: Operators of constraints on numbers. _NOTHING stands for no constraint.
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
    """Ranges of numbers, and comparisons with a number."""

    name: str
    grid: Grid
    #: The ends, as places on the grid. Both ends of a comparison are its operand.
    low: IntArray
    high: IntArray
    #: None if all are ranges.
    operators: IntArray | None = None

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

    def ranges(self) -> tuple[GeneratedRanges, BoolArray]:
        """Return the ranges, and whether a range says the same as the constraint: not for !=."""
        low, high = self.grid.values(self.low), self.grid.values(self.high)
        no = np.zeros(len(low), np.bool_)
        if self.operators is None:
            return GeneratedRanges(low, high, no, no), ~no
        operators = self.operators
        nothing = (operators == _NOTHING) | (operators == _UNEQUAL)
        low = np.where((operators == _LESS) | (operators == _AT_MOST), -np.inf, low)
        high = np.where((operators == _MORE) | (operators == _AT_LEAST), np.inf, high)
        low, high = np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)
        made = GeneratedRanges(low, high, operators == _MORE, operators == _LESS)
        return made, operators != _UNEQUAL


@dataclass(frozen=True)
class _Subjects(_Clauses):
    """Constraints on a subject such as "gold.fuel.news": equality, prefix, suffix or part."""

    #: Numbers of the three words.
    words: tuple[IntArray, IntArray, IntArray]
    #: The form of each constraint, from 0 to 4, in the order of the branches in ``texts``.
    forms: IntArray

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
    """Constraints on a name of two syllables: comparison, prefix or part."""

    #: Numbers of the two syllables.
    syllables: tuple[IntArray, IntArray]
    #: The form of each constraint, from 0 to 5, in the order of the list in ``texts``.
    forms: IntArray

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
    """Return a name of one or two syllables."""
    return "".join(_SYLLABLES[each] for each in (one, *two)).capitalize()


def generated_filters(p: Parameters, rows: Rows) -> GeneratedFilters:
    """Return the filters of the given rows: O(rows), by numpy.

    The filters of operations follow those of the workload: operation k adds the filter of row
    ``p.filters`` + k.
    """
    numbers = np.asarray(rows, np.int64)
    draw = Draw(p.seed, numbers)
    grid = Grid.between(p.low, p.high, p.decimals)
    ranges: dict[str, GeneratedRanges] = {}
    plain = np.full(len(numbers), p.kind not in ("strings", "tuples", "documents"))
    clauses: dict[str, _Clauses] = {}
    types = draw.below(p.schemas, _SCHEMA) if p.schemas > 1 else None
    if p.kind == "tuples":
        fields = model_loads.template_clauses(draw, grid, p.dims, p.skew, types)
        types = None  # a field of the template
        clauses |= {name: _Texts(texts) for name, texts in fields.items()}
    if p.kind == "documents":
        paths = model_loads.path_clauses(draw, grid, p.inner_attributes, p.skew)
        clauses |= {name: _Texts(texts) for name, texts in paths.items()}
    if p.kind == "strings":
        clauses["subject"] = _subjects(p, draw)
        if p.dims > 1:
            clauses["name"] = _labels(p, draw)
    operators = _operators(p, draw)
    for part, name in enumerate(p.attributes):
        ends = _ends(p, draw, grid, part, None if operators is None else operators[part])
        one = _Numbers(name, grid, *ends, None if operators is None else operators[part])
        clauses[name] = one
        ranges[name], is_range = one.ranges()
        plain &= is_range
    return GeneratedFilters(numbers, interfaces_of(p, numbers), types, ranges, plain, clauses)


def _ends(
    p: Parameters, draw: Draw, grid: Grid, part: int, operators: IntArray | None
) -> tuple[IntArray, IntArray]:
    """Return both ends of the ranges on one attribute, as places on the grid.

    Ranges of narrow and Zipf-skewed loads have a centre and an exponential width; those of others
    lie between two uniform draws.
    """
    if p.kind in ("narrow", "zipf"):
        if p.kind == "narrow":
            centre = p.low + draw.unit(_ONE, part) * (p.high - p.low)
        else:
            centre = _near_centres(p, draw, _ONE, part)
        half = -np.log1p(-draw.unit(_OTHER, part)) * (p.width / 2)
        return grid.nearest(centre - half), grid.nearest(centre + half)
    one, other = draw.below(grid.size, _ONE, part), draw.below(grid.size, _OTHER, part)
    low, high = np.minimum(one, other), np.maximum(one, other)
    if operators is None:
        return low, high
    # The operand of a comparison is one uniform draw; the smaller of two would not be uniform.
    compares = (operators != _RANGE) & (operators != _NOTHING)
    return np.where(compares, one, low), np.where(compares, one, high)


def _near_centres(p: Parameters, draw: Draw, purpose: int, part: int) -> FloatArray:
    """Return numbers near centres; the centres are chosen by Zipf's law."""
    ranks = draw.ranked(_CENTRES, p.skew, _CHOICE << 4 | purpose, part)
    # The centres depend on the seed and not on the row.
    centres = Draw(p.seed, np.arange(_CENTRES)).unit(_PLACE, part)
    spread = (draw.unit(purpose, part) - 0.5) / _CENTRES
    return np.asarray(p.low + (centres[ranks] + spread) * (p.high - p.low))


def _operators(p: Parameters, draw: Draw) -> list[IntArray] | None:
    """Return the operators on each attribute; None if all constraints are ranges."""
    count = len(p.attributes)
    if p.kind == "mixed":
        return [draw.below(_NOTHING, _CHOICE, part) for part in range(count)]
    if p.kind != "variable":
        return None
    # Each filter constrains one to three attributes: those with the smallest random keys.
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


def interfaces_of(p: Parameters, rows: IntArray) -> IntArray:
    """Return the interface of each row: O(rows).

    The filter that an operation adds has the interface of the filter that it replaces.
    """
    slots = rows
    if len(rows) and rows.max() >= p.filters > 0:
        slots = np.where(rows < p.filters, rows, operation_slots(p, rows - p.filters))
    if not p.interface_skew:
        return slots % p.interfaces
    return Draw(p.seed, slots).ranked(p.interfaces, p.interface_skew, _INTERFACE)


def operation_slots(p: Parameters, operations: IntArray) -> IntArray:
    """Return the slot of each operation: the row of one of the first filters.

    An operation replaces the filter that is in its slot at that moment.
    """
    return Draw(p.seed, operations).below(p.filters, _SLOT)


def interface_names(numbers: IntArray) -> list[str]:
    """Return the names of interfaces.

    >>> interface_names(np.array([0, 9]))
    ['I1', 'I10']
    """
    return [f"I{each}" for each in (numbers + 1).tolist()]


# -- notifications ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class GeneratedNotifications:
    """Generated notifications as columns, one row for each."""

    #: The row numbers from which the notifications were made.
    rows: IntArray
    #: The event type of each notification, from 0; None if there is only one type.
    types: IntArray | None
    #: Attribute -> values, for attributes with numbers and for those with strings.
    values: dict[str, FloatArray]
    strings: dict[str, list[str]]
    #: Documents as JSON has them, or tuples; None if notifications are records.
    documents: list[dict[str, Any]] | None = None
    tuples: list[list[Any]] | None = None

    @cached_property
    def mappings(self) -> list[dict[str, Any]]:
        """The notifications as dictionaries, their documents read."""
        if self.documents is not None:
            return [read_documents(each) for each in self._records]
        return self._records

    @cached_property
    def _records(self) -> list[dict[str, Any]]:
        """The notifications as JSON has them."""
        if self.tuples is not None:
            return [tuple_record(each) for each in self.tuples]
        columns: dict[str, list[Any]] = dict(self.strings)
        if self.documents is not None:
            columns["doc"] = self.documents
        if self.types is not None:
            columns["type"] = [f"T{each}" for each in self.types.tolist()]
        for name, values in self.values.items():
            columns[name] = values.tolist()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def texts(self) -> list[str]:
        """Return the notifications as JSON."""
        return [json.dumps(each) for each in self.tuples or self._records]


def generated_notifications(p: Parameters, rows: Rows) -> GeneratedNotifications:
    """Return the notifications of the given rows: a value for every attribute.

    >>> generated_notifications(Parameters(seed=7), [0]).texts()
    ['{"x": 39.921, "y": 42.95}']
    """
    numbers = np.asarray(rows, np.int64)
    draw = Draw(p.seed, numbers)
    grid = Grid.between(p.low, p.high, p.decimals)
    values = {}
    for part, name in enumerate(p.attributes):
        if p.kind == "zipf":
            at = grid.nearest(_near_centres(p, draw, _VALUE, part))
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
    documents = tuples = None
    if p.kind == "documents":
        documents = model_loads.documents(draw, grid, p.inner_attributes, p.skew)
    if p.kind == "tuples":
        tuples = model_loads.tuples(draw, grid, p.dims, p.skew, types)
    return GeneratedNotifications(numbers, types, values, strings, documents, tuples)

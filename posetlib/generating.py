"""Random filters, notifications and operations as columns, each row from its own number alone.

Counter-based: a value is a hash of (seed, what it is for, row), so that any rows can be made
anywhere, in any order and in any portions, and are always the same. The loads follow the generator
of [T 4.1]: schemas (event types), ranges over a number of attributes in [0, 100], other predicates,
interfaces in turns; and add the *narrow* and the Zipf-skewed load, strings and subjects.

>>> made = filter_columns(Parameters(filters=2, seed=7), [0, 1])
>>> for text in made.texts():
...     print(text)
x in [20.569, 49.687] and y in [8.503, 57.129]
x in [44.507, 99.493] and y in [23.78, 93.607]
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "KINDS",
    "SCENARIOS",
    "FilterColumns",
    "NotificationColumns",
    "Parameters",
    "Ranges",
    "filter_columns",
    "interface_names",
    "interfaces_of",
    "notification_columns",
    "operation_slots",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = Sequence[int] | Integers

KINDS: Final = ("uniform", "narrow", "zipf", "variable", "mixed", "strings")
SCENARIOS: Final = ("add-remove", "distributed")
#: Names sort as they stand, so that a text made in this order is canonical.
_NAMES: Final = ("x", "y", "z", "z1", "z2", "z3", "z4", "z5")
#: How many places a Zipf-skewed load gathers around.
_PLACES: Final = 1_000
#: Up to so many numbers, their texts are made once and looked up.
_TABLE: Final = 1_000_000
#: The first words of the subjects; a subject is three words with dots between them.
_WORDS: Final = tuple(
    "alarm bonds city delay energy fuel gold harbour index job kitchen label metro news orders "
    "price quote rain sport trade".split()
)

_SYLLABLES: Final = tuple("ba co di fo ga he ki lu mo ne pa ri so tu wa zo".split())

#: What is drawn for a row; with the number of an attribute, the name of an independent stream.
_INTERFACE, _SCHEMA, _ONE, _OTHER, _CHOICE, _COUNT, _VALUE, _SLOT, _PLACE = range(1, 10)


# -- parameters ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameters:
    """What a workload is made of; the same parameters and seed are the same workload.

    >>> Parameters(kind="cubic")
    Traceback (most recent call last):
    ValueError: kind is one of uniform, narrow, zipf, variable, mixed, strings, not 'cubic'
    """

    filters: int = 0
    kind: str = "uniform"
    #: Attributes of a filter, its dimensions; those to choose from where their number varies.
    dims: int = 2
    interfaces: int = 10
    notifications: int = 0
    seed: int = 0
    #: Event types; with more than one, each filter asks for one: `type = "T3"`.
    schemas: int = 1
    #: 0 for interfaces in turns; else the exponent of a Zipf law over them.
    interface_skew: float = 0.0
    #: The exponent of the Zipf law over places and subjects.
    skew: float = 1.0
    low: int = 0
    high: int = 100
    #: Numbers are drawn from the multiples of 10 ** -decimals.
    decimals: int = 3
    #: The mean width of a range in the narrow and the Zipf-skewed load.
    width: float = 5.0
    #: Removals, each followed by an add for the same interface [T 4.2].
    operations: int = 0
    scenario: str = "add-remove"

    def __post_init__(self) -> None:
        for name, least, most in (
            ("filters", 0, 1 << 40),
            ("dims", 1, len(_NAMES)),
            ("interfaces", 1, 1 << 31),
            ("notifications", 0, 1 << 40),
            ("seed", -(1 << 63), (1 << 63) - 1),
            ("schemas", 1, 1 << 31),
            ("decimals", 0, 9),
            ("operations", 0, 1 << 40),
            ("low", -(10**9), 10**9),
            ("high", -(10**9), 10**9),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError(f"{name} is a whole number, not {value!r}")
            if not least <= value <= most:
                raise ValueError(f"{name} is between {least:,} and {most:,}, not {value:,}")
        for name in ("interface_skew", "skew", "width"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= 1e6:
                raise ValueError(f"{name} is between 0 and 1,000,000, not {value!r}")
        if self.kind not in KINDS:
            raise ValueError(f"kind is one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.scenario not in SCENARIOS:
            raise ValueError(f"scenario is one of {', '.join(SCENARIOS)}, not {self.scenario!r}")
        if self.low >= self.high:
            raise ValueError(f"low is less than high, not {self.low} and {self.high}")
        if self.operations and not self.filters:
            raise ValueError("operations need filters to begin with")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes with numbers."""
        if self.kind == "strings":
            return ()
        return _NAMES[: max(3, self.dims) if self.kind == "variable" else self.dims]

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as they stand in a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Parameters:
        """Read what ``to_dict`` wrote; names that this version does not know are left out."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})


# -- numbers that depend on (seed, stream, row) alone ---------------------------------------------


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scatter 64 bits over 64 bits: the finalizer of SplitMix64, a bijection."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _bits(seed: int, stream: int, rows: Integers) -> npt.NDArray[np.uint64]:
    """Return 64 random bits for each row."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    start = np.array([seed & (1 << 64) - 1], np.uint64)
    key = _mixed(_mixed(start + golden) ^ np.array([stream], np.uint64))
    return _mixed((rows.astype(np.uint64) + np.uint64(1)) * golden ^ key)


class _Draw:
    """Draws for given rows; ``purpose`` and ``part`` name an independent stream."""

    def __init__(self, seed: int, rows: Integers) -> None:
        self.seed = seed
        self.rows = rows

    def bits(self, purpose: int, part: int = 0) -> npt.NDArray[np.uint64]:
        return _bits(self.seed, purpose << 16 | part, self.rows)

    def unit(self, purpose: int, part: int = 0) -> Floats:
        """Return numbers in [0, 1)."""
        drawn = self.bits(purpose, part) >> np.uint64(11)
        return np.asarray(drawn.astype(np.float64) * 2.0**-53)

    def below(self, limit: int, purpose: int, part: int = 0) -> Integers:
        """Return whole numbers from 0 to limit - 1."""
        return np.minimum((self.unit(purpose, part) * limit).astype(np.int64), limit - 1)

    def ranked(self, limit: int, exponent: float, purpose: int, part: int = 0) -> Integers:
        """Return ranks from 0 to limit - 1 by the law of Zipf."""
        found = np.searchsorted(
            _zipf(limit, exponent), self.unit(purpose, part), side="right"
        ).astype(np.int64)
        return np.minimum(found, limit - 1)


@lru_cache(maxsize=8)
def _zipf(limit: int, exponent: float) -> Floats:
    """Return the cumulative shares of ranks 1 to limit."""
    shares = np.cumsum(np.arange(1, limit + 1, dtype=np.float64) ** -exponent)
    return np.asarray(shares / shares[-1])


# -- the grid of numbers ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Grid:
    """The numbers (first + i) / scale for i from 0 to size - 1."""

    first: int
    size: int
    scale: int

    @classmethod
    def of(cls, p: Parameters) -> _Grid:
        scale = 10**p.decimals
        return cls(p.low * scale, (p.high - p.low) * scale + 1, scale)

    def values(self, at: Integers) -> Floats:
        """Return the numbers; a quotient of two exact numbers is the nearest to the decimal."""
        return np.asarray((at + self.first) / self.scale)

    def texts(self, at: Integers) -> list[str]:
        """Return the numbers as filters write them."""
        if self.size <= _TABLE:
            found: list[str] = _table(self)[at].tolist()
            return found
        return _number_texts(self.values(at))

    def nearest(self, values: Floats) -> Integers:
        """Return the places of the nearest numbers, within the bounds."""
        at = np.rint(values * self.scale).astype(np.int64) - self.first
        return np.clip(at, 0, self.size - 1)


@lru_cache(maxsize=4)
def _table(grid: _Grid) -> npt.NDArray[np.object_]:
    return np.array(_number_texts(grid.values(np.arange(grid.size))), dtype=object)


def _number_texts(values: Floats) -> list[str]:
    return [str(int(v)) if v.is_integer() else repr(v) for v in values.tolist()]


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


class _Clauses:
    """What the filters ask of one attribute, to be written when asked for."""

    def texts(self) -> list[str]:
        raise NotImplementedError


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
    grid: _Grid
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
    draw = _Draw(p.seed, numbers)
    grid = _Grid.of(p)
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
    p: Parameters, draw: _Draw, grid: _Grid, part: int, operators: Integers | None
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


def _gathered(p: Parameters, draw: _Draw, purpose: int, part: int) -> Floats:
    """Return numbers around places, the first of which are far more popular than the last."""
    ranks = draw.ranked(_PLACES, p.skew, _CHOICE << 4 | purpose, part)
    # Where a place is depends on the seed and not on the row.
    places = _Draw(p.seed, np.arange(_PLACES)).unit(_PLACE, part)
    spread = (draw.unit(purpose, part) - 0.5) / _PLACES
    return np.asarray(p.low + (places[ranks] + spread) * (p.high - p.low))


def _operators(p: Parameters, draw: _Draw) -> list[Integers] | None:
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


def _subjects(p: Parameters, draw: _Draw) -> _Subjects:
    words = [draw.ranked(len(_WORDS), p.skew, _ONE, part) for part in range(3)]
    return _Subjects((words[0], words[1], words[2]), draw.below(5, _CHOICE))


def _labels(p: Parameters, draw: _Draw) -> _Labels:
    one, two = (draw.ranked(len(_SYLLABLES), p.skew, _OTHER, part) for part in range(2))
    return _Labels((one, two), draw.below(6, _COUNT))


def interfaces_of(p: Parameters, rows: Integers) -> Integers:
    """Return the interface of each row; that of an operation is the one whose filter it takes."""
    slots = rows
    if len(rows) and rows.max() >= p.filters > 0:
        slots = np.where(rows < p.filters, rows, operation_slots(p, rows - p.filters))
    if not p.interface_skew:
        return slots % p.interfaces
    return _Draw(p.seed, slots).ranked(p.interfaces, p.interface_skew, _INTERFACE)


def operation_slots(p: Parameters, operations: Integers) -> Integers:
    """Return whose place each operation takes: the row of a filter that was there first."""
    return _Draw(p.seed, operations).below(p.filters, _SLOT)


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
    draw = _Draw(p.seed, numbers)
    grid = _Grid.of(p)
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

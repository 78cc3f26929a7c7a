"""Filters of every kind, notifications with every sort of value, and the scan that is right."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any, Final, Protocol

import numpy as np

import posetlib as pl
from posetlib.matching import BitmapMatcher, CountingMatcher, Matcher

Entry = tuple[pl.Filter, Hashable]


class Make(Protocol):
    def __call__(self, pairs: Iterable[Entry] = ()) -> Matcher: ...


def coarse(cells: int) -> Make:
    """Bitmaps with so few cells that nearly everything is in doubt."""
    return lambda pairs=(): BitmapMatcher(pairs, cells=cells)


#: Every matcher, and the bitmap matcher with cells that blur.
MATCHERS: Final[dict[str, Make]] = {
    "bitmap": BitmapMatcher,
    "bitmap-1": coarse(1),
    "bitmap-5": coarse(5),
    "counting": CountingMatcher,
}


class Even(pl.Constraint):
    """A kind that nobody has heard of: numbers, and strings, of even size."""

    domain = None

    def matches(self, value: Any) -> bool:
        if isinstance(value, str):
            return len(value) % 2 == 0
        return isinstance(value, int) and value % 2 == 0

    def clauses(self, name: str) -> tuple[str, ...]:
        return (f"{name} even",)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Even)

    def __hash__(self) -> int:
        return hash(Even)


class Backwards(str):
    """A string that compares with others as it likes."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str(self) > str(other)

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 1


TYPES: Final = pl.TypeHierarchy({"ab": ["a"], "b": ["a"], "a": []})
_NUMBERS: Final = (
    0, 1, 2, 3.5, 100, 0.1, "1/3", 2**53, 2**53 + 1, -(2**60) - 1, 10**400, 1e300, 5e-324,
)  # fmt: skip
_STRINGS: Final = ("", "a", "ab", "b", "z")
_FORMS: Final = (
    "x = {n}", "x != {n}", "x < {n}", "x <= {n}", "x > {n}", "x >= {n}", "x in [{n}, {m}]",
    "x in ({n}, {m})", "x in [{n}, {m})", "x not in [{n}, {m}]", "x in {{{n}, {m}}}",
    "x not in {{{n}, {m}}}", "x:int > {n}", "x:int in [0, 200]", "x:int in [{n}, {m}]",
    "x < {n} or x > {m}", "x is number", 'x = "{s}"', 'x != "{s}"', 'x < "{s}"', 'x >= "{s}"',
    'x prefix "{s}"', 'x suffix "{s}"', 'x contains "{s}"', 'x not contains "{s}"',
    'x in {{"{s}", "b"}}', 'x prefix "{s}" or x suffix "b"', "x is string", "x = true",
    "x is bool", "exists x", "x is set", "x has {n}", 'x lacks "{s}"', "x subset {{1, 2}}",
    "x overlaps {{1, true}}", "x isa a", "x isa ab", "x < $y", "x = $pos.x", "x < $y or x = {n}",
    "absent x", "not (x > {n})", 'not (x prefix "{s}")', "not (x isa a)", "not (x < $y)",
    "absent x or x = {n}", "x is null", 'x like "{s}*b"', 'x like "{s}?" ignoring case',
    'x not like "?{s}"', 'x in "10.0.0.0/8"', 'x not in "10.0.0.0/9"', "x some > {n}",
    'x some prefix "{s}"', "not (x some > {n})", "not (x is set)",
)  # fmt: skip
NAMES: Final = ("x", "y", "pos.x")

VALUES: Final[tuple[Any, ...]] = (
    0, 1, 2, 3.5, 100, -0.0, 0.0, 0.1, 1 / 3, 5e-324, 1e300, math.nan, math.inf, -math.inf,
    2**53 - 1, 2**53, 2**53 + 1, float(2**53), -(2**60) - 1, -float(2**60), 10**400, -(10**400),
    Fraction(1, 3), Decimal("0.1"), Decimal("NaN"), Decimal("-Infinity"), True, False,
    np.bool_(True), np.float64(2), np.float32(0.1), np.int64(3), np.uint64(2**53 + 1),
    np.longdouble(1) / 3, np.str_("ab"), "", "a", "ab", "abc", "b", "z", "zz", Backwards("a"),
    None, b"a", [1], {1, 2}, frozenset({"a"}), (), (True,), {"x": 1}, "AB", "a-b", "10.200.1.1",
    "10.1.1.1", "::1", [3.5, "z"],
)  # fmt: skip
FLOATS: Final = tuple(value for value in VALUES if type(value) is float)
PLAIN: Final = (0, 1, 2, 3, 0.5, 100, 101.5, 2**53, 2**53 + 1)
TEXTS: Final = ("", "a", "ab", "abc", "b", "zz")

_known: dict[str, pl.Filter | None] = {}


def random_filter(random: Random) -> pl.Filter:
    """A filter of up to three constraints, of any kind."""
    while True:
        names = random.sample(NAMES, random.choice((0, 1, 1, 1, 2, 2, 3)))
        if names and random.random() < 0.03:
            return pl.Filter(dict.fromkeys(names, Even()))
        text = " and ".join(f"({_clause(random, name)})" for name in names) or "true"
        made = _parsed(text)
        if made is not None:
            return made


def _clause(random: Random, name: str) -> str:
    low, high = sorted(random.sample(_NUMBERS, 2), key=Fraction)
    form = random.choice(_FORMS).format(n=low, m=high, s=random.choice(_STRINGS))
    return re.sub(r"(?<![$\w])x\b", name, form)


def _parsed(text: str) -> pl.Filter | None:
    """The filter, or None for one that matches nothing; parsed once."""
    if text not in _known:
        try:
            _known[text] = pl.parse_filter(text, types=TYPES)
        except pl.EmptyConstraintError:
            _known[text] = None
    return _known[text]


def random_notification(random: Random, values: Sequence[Any] = VALUES) -> dict[str, Any]:
    """A notification with some of the names; the nested one in either form."""
    made = {name: random.choice(values) for name in ("x", "y") if random.random() < 0.9}
    form = random.random()
    if form < 0.4:
        made["pos"] = {"x": random.choice(values)}
    elif form < 0.8:
        made["pos.x"] = random.choice(values)
    return made


def scan(
    entries: Iterable[Entry], notifications: Iterable[Mapping[str, Any]]
) -> list[frozenset[Hashable]]:
    """What matching means: every filter is asked."""
    kept = list(entries)
    return [
        frozenset(interface for filter, interface in kept if filter.matches(notification))
        for notification in notifications
    ]


def ranges(seed: int, size: int, kind: str = "uniform") -> list[pl.Filter]:
    """Two-dimensional ranges as in the benchmarks."""
    generator = np.random.default_rng(seed)
    columns = {}
    for name in "xy":
        if kind == "uniform":
            low, high = np.sort(generator.uniform(0, 100, (2, size)), axis=0)
        else:
            centre = generator.uniform(0, 100, size)
            width = generator.exponential(5, size)
            low, high = np.clip((centre - width / 2, centre + width / 2), 0, 100)
        columns[name] = (low, high)
    return pl.filters_from_columns(columns)


def points(seed: int, size: int) -> list[dict[str, float]]:
    """Notifications for ``ranges``."""
    pairs = np.random.default_rng(seed).uniform(0, 100, (size, 2)).tolist()
    return [{"x": x, "y": y} for x, y in pairs]

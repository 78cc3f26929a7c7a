"""Filters in the shapes that people subscribe with: half-lines, lists, names, sets, and mixtures.

Each shape is a function from a number of filters and a seed to as many different filters.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import posetlib as pl

__all__ = ["SHAPES", "SHARP", "TYPES", "filters_of"]

_SYLLABLES: Final = ("ba", "co", "di", "el", "fu", "ga", "hi", "ju", "ka", "lo", "mi", "no", "po")
_FIELDS: Final = ("price", "volume", "date")


def _types() -> pl.TypeHierarchy:
    """Return a tree of 1,111 types, in which each has ten subtypes, three levels deep."""
    above: dict[str, list[str]] = {"T": []}
    for level in range(3):
        for i in range(10 ** (level + 1)):
            name = f"{i:0{level + 1}d}"
            above[f"T{name}"] = [f"T{name[:-1]}"]
    return pl.TypeHierarchy(above)


TYPES: Final = _types()


def _value(random: Random) -> float:
    return round(random.uniform(0, 1000), 3)


def _pair(random: Random) -> tuple[float, float]:
    low, high = sorted((_value(random), _value(random)))
    return low, high + 0.001


def _near(random: Random) -> tuple[float, float]:
    """Return the ends of a narrow range, as in the load of that name: most are incomparable."""
    low = _value(random)
    return low, round(low + random.expovariate(1 / 50) + 0.001, 3)


def _word(random: Random, syllables: int = 5) -> str:
    return "".join(random.choice(_SYLLABLES) for _ in range(syllables))


def _elements(random: Random, size: int, of: int = 2_000) -> str:
    chosen = sorted({random.randrange(of) for _ in range(size)})
    return "{" + ", ".join(f'"e{i}"' for i in chosen) + "}"


def _union(random: Random) -> str:
    a, b, c, d = sorted(_value(random) for _ in range(4))
    return f"x in [{a}, {b + 0.001}] or x in [{c + 0.002}, {d + 0.003}]"


def _numbers(random: Random, size: int) -> str:
    return "{" + ", ".join(str(random.randrange(5_000)) for _ in range(size)) + "}"


def _symbol(random: Random) -> str:
    return f'symbol = "S{random.randrange(500)}"'


def _stock(random: Random) -> str:
    fields = random.sample(_FIELDS, random.choice((1, 2)))
    limits = [f"{field} {random.choice('<>')} {_value(random)}" for field in fields]
    return " and ".join([_symbol(random), *limits])


def _integers(random: Random) -> str:
    low = random.randrange(100_000)
    return f"x:int in [{low}, {low + random.randrange(20, 20_000)}]"


def _type(random: Random) -> str:
    return f"kind isa T{random.randrange(1000):03d}"[: random.choice((12, 13, 14))]


_DRAWS: Final[dict[str, Callable[[Random], str]]] = {
    "closed ranges": lambda r: "x in [{}, {}]".format(*_pair(r)),
    "closed ranges of two attributes": lambda r: "x in [{}, {}] and y in [{}, {}]".format(
        *_pair(r), *_pair(r)
    ),
    "half-lines": lambda r: f"x > {_value(r) * 7}",
    "two half-lines": lambda r: f"x > {_value(r)} and y < {_value(r)}",
    "open ranges": lambda r: "x in ({}, {}) and y in ({}, {})".format(*_near(r), *_near(r)),
    "half-open ranges": lambda r: "x in [{}, {})".format(*_pair(r)),
    "integer ranges": _integers,
    "not equal": lambda r: f"x != {_value(r) * 7}",
    "outside of a range": lambda r: "x not in [{}, {}]".format(*_pair(r)),
    "two ranges": _union,
    "lists of numbers": lambda r: f"x in {_numbers(r, r.randrange(1, 6))}",
    "numeric ids": lambda r: f"id = {r.randrange(10_000_000)}",
    "names with a common prefix": lambda r: f'name = "user{r.randrange(10_000_000):07d}"',
    "lists of names": lambda r: f"name in {_elements(r, r.randrange(1, 6))}",
    "prefixes": lambda r: f'topic prefix "sensors/{_word(r, r.randrange(2, 6))}/"',
    "order of strings": lambda r: f'name > "user{_word(r)}"',
    "suffixes": lambda r: f'host suffix "{_word(r, r.randrange(2, 6))}.com"',
    "substrings": lambda r: f'text contains "{_word(r, r.randrange(2, 6))}"',
    "booleans and half-lines": lambda r: f"on = {r.choice(('true', 'false'))} and x > {_value(r)}",
    "types": lambda r: f"{_type(r)} and x > {_value(r)}",
    "has": lambda r: f't has "e{r.randrange(10_000_000)}"',
    "superset": lambda r: f"t superset {_elements(r, r.randrange(2, 5))}",
    "overlaps": lambda r: f"t overlaps {_elements(r, r.randrange(2, 6))}",
    "disjoint": lambda r: f"t disjoint {_elements(r, r.randrange(2, 5))}",
    "subset": lambda r: f"t subset {_elements(r, r.randrange(2, 8))}",
    "exists and half-lines": lambda r: f"exists a{r.randrange(40)} and x > {_value(r)}",
    "many attributes": lambda r: f"a{r.randrange(40)} > {_value(r)} and b{r.randrange(40)} = 1",
    "a symbol and a half-line": lambda r: f"{_symbol(r)} and x > {_value(r)}",
    "stock-like": _stock,
}
#: The shapes for which an index is promised to be several times as fast.
SHARP: Final = (
    "half-lines",
    "not equal",
    "a symbol and a half-line",
    "open ranges",
    "has",
    "overlaps",
)


def _mixed(random: Random) -> str:
    return random.choice(list(_DRAWS.values()))(random)


SHAPES: Final[dict[str, Callable[[Random], str]]] = {**_DRAWS, "all of these": _mixed}


def filters_of(shape: str, size: int, seed: int = 1) -> list[pl.Filter]:
    """Return so many filters of a shape, all different."""
    random = Random(f"{shape} {seed}")
    draw = SHAPES[shape]
    found: dict[pl.Filter, None] = {}
    while len(found) < size:
        found[pl.parse_filter(draw(random), types=TYPES)] = None
    return list(found)

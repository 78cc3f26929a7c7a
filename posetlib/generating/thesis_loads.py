"""Filters and operations as in the experiments of the thesis [T 4, 6, 8].

Each is drawn from a seed: the same seed gives the same filters.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from posetlib.filters import Filter, filters_from_columns, parse_filter
from posetlib.tables import LinearTable

__all__ = [
    "PREDICATE_SCHEMAS",
    "RANGE_SCHEMAS",
    "Scenario",
    "distributed",
    "predicate_filters",
    "range_filters",
    "scenario",
]

#: How few and how many attributes a filter of integer predicates has.
PREDICATE_SCHEMAS: Final = {
    "1–3 attributes": (1, 3),
    "2 attributes": (2, 2),
    "3 attributes": (3, 3),
}
_SIGNS: Final = ("<", ">", "<=", ">=", "=", "!=", "range")
#: How few and how many range attributes a filter has.
RANGE_SCHEMAS: Final = {"2-D": (2, 2), "3-D": (3, 3), "1–3 attributes": (1, 3)}
_NAMES: Final = ("x", "y", "z")


@dataclass(frozen=True)
class Scenario:
    """What is added, and then for each of these, what takes its place."""

    added: list[tuple[Filter, str]]
    #: (removed, its interface, added in its stead)
    replaced: list[tuple[Filter, str, Filter]]


def range_filters(schema: str, count: int, rng: random.Random) -> Iterator[Filter]:
    """Yield filters that differ from one another: ranges with both ends uniform in [0, 100]."""
    fewest, most = RANGE_SCHEMAS[schema]
    seen: set[Filter] = set()
    while len(seen) < count:
        lows: dict[str, list[float | None]] = {name: [] for name in _NAMES[:most]}
        highs: dict[str, list[float | None]] = {name: [] for name in _NAMES[:most]}
        for _ in range(count):
            chosen = rng.sample(_NAMES[:most], rng.randint(fewest, most))
            for name in _NAMES[:most]:
                ends = sorted(round(rng.uniform(0, 100), 3) for _ in range(2))
                low, high = ends if name in chosen else (None, None)
                lows[name].append(low)
                highs[name].append(high)
        for each in filters_from_columns({name: (lows[name], highs[name]) for name in lows}):
            if each not in seen and len(seen) < count:
                seen.add(each)
                yield each


def scenario(schema: str, count: int, interfaces: int | None, seed: object = 0) -> Scenario:
    """Return the add and the add/remove scenario; interfaces in turns, None for one per filter."""
    rng = random.Random(f"{schema}-{count}-{seed}")
    made = list(range_filters(schema, 2 * count, rng))
    first, second = made[:count], made[count:]
    names = [f"I{i if interfaces is None else i % interfaces}" for i in range(count)]
    added = list(zip(first, names, strict=True))
    order = list(range(count))
    rng.shuffle(order)
    return Scenario(added, [(first[i], names[i], second[i]) for i in order])


def distributed(load: Scenario) -> Scenario:
    """Drop the adds that a neighbour would not send: covered by what it has sent before [T 4.4].

    A removal is of something that is there; what stands in for it follows the same rule.
    """
    table = LinearTable()
    added = []
    for item, interface in load.added:
        if table.add(item, interface):
            added.append((item, interface))
    replaced = []
    for old, interface, new in load.replaced:
        if table.discard(old, interface) and table.add(new, interface):
            replaced.append((old, interface, new))
    return Scenario(added, replaced)


def predicate_filters(
    schema: str, count: int, seed: object, *, typed: bool = False
) -> list[Filter]:
    """Return distinct filters: on each attribute one integer predicate out of seven.

    Integers lie between 0 and 100. With ``typed`` there is also a type, the same for all.
    """
    rng = random.Random(f"{schema}-{seed}")
    fewest, most = PREDICATE_SCHEMAS[schema]
    found: dict[Filter, None] = {}
    while len(found) < count:
        names = sorted(rng.sample(_NAMES, rng.randint(fewest, most)))
        clauses = ['type = "T"'] if typed else []
        for name in names:
            sign = rng.choice(_SIGNS)
            low, high = sorted((rng.randint(0, 100), rng.randint(0, 100)))
            clauses.append(
                f"{name} in [{low}, {high}]"
                if sign == "range"
                else f"{name} {sign} {rng.randint(0, 100)}"
            )
        found[parse_filter(" and ".join(clauses))] = None
    return list(found)

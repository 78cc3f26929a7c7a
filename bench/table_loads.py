"""Filters and interfaces as in the thesis' experiments [T 4.1–4.4]."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from posetlib.filters import Filter, filters_from_columns
from posetlib.tables import LinearTable

__all__ = ["SCHEMAS", "Scenario", "distributed", "scenario"]

#: The schemas: how few and how many range attributes a filter has.
SCHEMAS = {"2-D": (2, 2), "3-D": (3, 3), "1–3 attributes": (1, 3)}
NAMES = ("x", "y", "z")


@dataclass(frozen=True)
class Scenario:
    """What is added, and then for each of these, what takes its place."""

    added: list[tuple[Filter, str]]
    #: (removed, its interface, added in its stead)
    replaced: list[tuple[Filter, str, Filter]]


def filters(schema: str, count: int, rng: random.Random) -> Iterator[Filter]:
    """Yield filters that differ from one another: ranges with both ends uniform in [0, 100]."""
    fewest, most = SCHEMAS[schema]
    seen: set[Filter] = set()
    while len(seen) < count:
        lows: dict[str, list[float | None]] = {name: [] for name in NAMES[:most]}
        highs: dict[str, list[float | None]] = {name: [] for name in NAMES[:most]}
        for _ in range(count):
            chosen = rng.sample(NAMES[:most], rng.randint(fewest, most))
            for name in NAMES[:most]:
                ends = sorted(round(rng.uniform(0, 100), 3) for _ in range(2))
                low, high = ends if name in chosen else (None, None)
                lows[name].append(low)
                highs[name].append(high)
        for each in filters_from_columns({name: (lows[name], highs[name]) for name in lows}):
            if each not in seen and len(seen) < count:
                seen.add(each)
                yield each


def scenario(schema: str, count: int, interfaces: int | None, seed: int = 0) -> Scenario:
    """Return the add and the add/remove scenario; interfaces in turns, None for one per filter."""
    rng = random.Random(f"{schema}-{count}-{seed}")
    made = list(filters(schema, 2 * count, rng))
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

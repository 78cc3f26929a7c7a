"""Small worlds of items for profiles and queries, and the set-based computation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from posetlib.filters import parse_filter
from posetlib.search.relation import Relation
from tests.tables.kinds import subsets


def sets_overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    return not one.isdisjoint(other)


@dataclass(frozen=True)
class World:
    """Items, and options of a DoubleForest that holds them."""

    name: str
    items: Sequence[Any]
    covers: Callable[[Any, Any], bool]
    overlaps: Callable[[Any, Any], bool]
    options: dict[str, Any]


def _filters(texts: Sequence[str]) -> list[Any]:
    return list(map(parse_filter, texts))


def _covers(one: Any, other: Any) -> bool:
    return bool(one.covers(other))


def _overlaps(one: Any, other: Any) -> bool:
    return bool(one.overlaps(other))


ENDS = [(0, 9), (0, 5), (4, 9), (2, 4), (3, 3), (6, 8), (0, 1), (4, 5)]
RANGES = [f"x in [{a}, {b}] and y in [{c}, {d}]" for (a, b), (c, d) in product(ENDS, ENDS[:4])]
MIXED = [
    "true", "exists x", "x > 2", "x >= 2", "x < 2", "x in (2, 5)", "x in [2, 5)", "x = 2", "x = 5",
    "x in {2, 5, 7}", "x != 5", 'x = "b"', 'x > "a"', 'x prefix "b"', 'x contains "b"',
    'type = "A"', 'type = "A" and x > 2', 'type = "B" and x > 2', 'type = "B" and x = 2',
    "x:int in [2, 5]", "x in {2, 3, 4, 5}", "x in [0, 9] and y in [0, 9]", "y in [3, 4]",
    "x in [2, 5] and y > 3", "t overlaps {1, 2}", "t has 1", "t lacks 1",
]  # fmt: skip
LETTERS = Relation(covers=frozenset.issuperset)

WORLDS = [
    World("ranges", _filters(RANGES), _covers, _overlaps, {}),
    World("ranges-walked", _filters(RANGES), _covers, _overlaps, {"index": False}),
    World("mixed", _filters(MIXED), _covers, _overlaps, {}),
    World("ranges-and-mixed", _filters([*RANGES, *MIXED[:6]]), _covers, _overlaps, {}),
    World(
        "letters",
        subsets("abcd"),
        frozenset.issuperset,
        sets_overlap,
        {"relation": LETTERS, "overlaps": sets_overlap},
    ),
]


class SetBased:
    """Every profile held against every query, whenever somebody asks."""

    def __init__(self, holds: Callable[[Any, Any], bool]) -> None:
        self.holds = holds
        self.profiles: dict[Any, set[Hashable]] = {}
        self.queries: dict[Any, set[Hashable]] = {}

    def queries_of(self, profile: Any) -> frozenset[Any]:
        return frozenset(query for query in self.queries if self.holds(profile, query))

    def profiles_of(self, query: Any) -> frozenset[Any]:
        return frozenset(profile for profile in self.profiles if self.holds(profile, query))


def holds_for(world: World, semantics: str) -> Callable[[Any, Any], bool]:
    """Return whether a profile and a query match."""
    if semantics == "overlap":
        return world.overlaps
    return lambda profile, query: world.covers(query, profile)

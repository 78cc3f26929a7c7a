"""Small filters and all the notifications that can tell them apart, for the tests of merging."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

import posetlib as pl

#: Attributes and their values: integers, booleans and two strings.
VALUES: dict[str, tuple[Any, ...]] = {
    "x": tuple(range(6)),
    "y": tuple(range(6)),
    "b": (False, True),
    "s": ("a", "b", "c"),
}
#: What an imperfect merger may assume of them.
DOMAINS: dict[str, Any] = {name: list(values) for name, values in VALUES.items()}
#: The same for the numbers as a range, so that the index by nearness is used.
RANGES: dict[str, Any] = {"x": (0, 5), "y": (0, 5), "b": [False, True], "s": ["a", "b", "c"]}

#: Every notification with a value, or none, of each attribute.
NOTIFICATIONS: tuple[dict[str, Any], ...] = tuple(
    {name: value for name, value in zip(VALUES, values, strict=True) if value is not None}
    for values in itertools.product(*((*some, None) for some in VALUES.values()))
)


def _clauses(name: str) -> tuple[str, ...]:
    if name == "b":
        return ("b = true", "b = false")
    if name == "s":
        return ('s = "a"', 's = "b"', 's >= "b"', 's != "a"', 's prefix "c"')
    ends = VALUES[name]
    pairs = itertools.combinations_with_replacement(ends, 2)
    return (
        *(f"{name}:int in [{low}, {high}]" for low, high in pairs),
        *(f"{name}:int {sign} {end}" for sign in ("<=", ">=", "!=") for end in ends[1:-1]),
        f"exists {name}",
    )


CLAUSES = {name: _clauses(name) for name in VALUES}


def filters(names: Iterable[str] = ("x", "y", "b", "s")) -> st.SearchStrategy[pl.Filter]:
    """Conjunctions over one, two or three of the attributes; ranges of x and y most often."""
    given = tuple(names)
    chosen = st.lists(st.sampled_from(given), min_size=1, max_size=3, unique=True)
    often = st.just([name for name in ("x", "y") if name in given])
    return (
        st.one_of(often, often, chosen)
        .flatmap(lambda some: st.tuples(*(st.sampled_from(CLAUSES[name]) for name in some)))
        .map(lambda clauses: pl.parse_filter(" and ".join(clauses)))
    )


def matched(some: Iterable[pl.Filter]) -> int:
    """The notifications that one of the filters matches, as bits."""
    found = 0
    for one in some:
        found |= _matched_by(one)
    return found


@lru_cache(maxsize=50_000)
def _matched_by(one: pl.Filter) -> int:
    return sum(1 << i for i, each in enumerate(NOTIFICATIONS) if one.matches(each))

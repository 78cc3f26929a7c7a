"""Filters as in the thesis' experiments with merging [T 8.6–8.7]."""

from __future__ import annotations

import random

import posetlib as pl

__all__ = ["SCHEMAS", "predicates", "ranges"]

#: How few and how many attributes a filter has.
SCHEMAS = {"1–3 attributes": (1, 3), "2 attributes": (2, 2), "3 attributes": (3, 3)}
_SIGNS = ("<", ">", "<=", ">=", "=", "!=", "range")
_NAMES = ("x", "y", "z")


def predicates(schema: str, count: int, seed: int, *, typed: bool = False) -> list[pl.Filter]:
    """Return distinct filters: on each attribute one integer predicate out of seven.

    Integers lie between 0 and 100. With ``typed`` there is also a type, the same for all.
    """
    rng = random.Random(f"{schema}-{seed}")
    fewest, most = SCHEMAS[schema]
    found: dict[pl.Filter, None] = {}
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
        found[pl.parse_filter(" and ".join(clauses))] = None
    return list(found)


def ranges(count: int, width: float, seed: int) -> list[pl.Filter]:
    """Return 2-D ranges in [0, 100], with a uniform centre and an exponential width."""
    rng = random.Random(f"ranges-{width}-{seed}")
    found = []
    for _ in range(count):
        clauses = []
        for name in ("x", "y"):
            centre, half = rng.uniform(0, 100), rng.expovariate(2 / width)
            low, high = max(0.0, centre - half), min(100.0, centre + half)
            clauses.append(f"{name} in [{low:.3f}, {high:.3f}]")
        found.append(pl.parse_filter(" and ".join(clauses)))
    return found

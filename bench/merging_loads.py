"""Ranges of two attributes for the benchmarks of merging."""

from __future__ import annotations

import random

import posetlib as pl

__all__ = ["boxes", "ranges"]


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


def boxes(top: int, count: int, seed: int) -> list[pl.Filter]:
    """Return 2-D ranges between integers up to a greatest one, each 0 to 2 long."""
    rng = random.Random(f"boxes-{top}-{seed}")
    found = []
    for _ in range(count):
        x, y = rng.randint(0, top), rng.randint(0, top)
        high_x, high_y = min(top, x + rng.randint(0, 2)), min(top, y + rng.randint(0, 2))
        found.append(pl.parse_filter(f"x in [{x}, {high_x}] and y in [{y}, {high_y}]"))
    return found

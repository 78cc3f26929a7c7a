"""What the parts of the index benchmark share: its loads, and names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import posetlib as pl
from bench.bench_matching import INTERFACES, Columns, Pairs, load
from bench.turns import each_row

__all__ = ["LOADS", "NAMES", "Load", "Numbers", "class_of", "micros", "warm"]

LOADS = ("uniform", "narrow")
NAMES = {"fp": "FP", "pf": "PF", "bf": "BF", "nrf": "NRF"}

Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Load:
    """Filters of one of the loads, in the forms that the competitors want."""

    kind: str
    columns: Columns
    filters: list[pl.Filter]

    @classmethod
    def make(cls, kind: str, size: int, seed: int) -> Load:
        """Return so many filters."""
        columns = load(kind, size, seed)
        return cls(kind, columns, pl.filters_from_columns(columns))

    def pairs(self) -> Pairs:
        """Return the filters, each with an interface of its own."""
        return [(filter, number) for number, filter in enumerate(self.filters)]

    def distributed(self) -> tuple[Numbers, Pairs]:
        """Return the filters among the few interfaces: their numbers, and the pairs."""
        codes = np.random.default_rng(2).integers(0, INTERFACES, len(self.filters))
        return codes, [(f, f"I{code}") for f, code in zip(self.filters, codes, strict=True)]


def class_of(short: str) -> type[pl.Table]:
    """Return a structure by its short name."""
    return type(pl.make_table(short))


def micros(seconds: NDArray[np.float64], operations: int) -> float:
    """Return what one of many operations took."""
    return float(seconds.sum()) / operations * 1e6


def warm(table: pl.Table, few: Pairs) -> pl.Table:
    """Return a table that has what it makes when it is first asked: no part of an update's cost."""
    each_row(table.add, few)
    each_row(table.remove, few)
    return table

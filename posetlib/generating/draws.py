"""Numbers that depend on a seed, a purpose and a row alone, and the grid they are rounded to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Booleans", "Draw", "Floats", "Grid", "Integers"]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]

#: Up to so many numbers, their texts are made once and looked up.
_TABLE: Final = 1_000_000


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


class Draw:
    """Draws for given rows; ``purpose`` and ``part`` name an independent stream."""

    def __init__(self, seed: int, rows: Integers) -> None:
        self.seed = seed
        self.rows = rows

    def bits(self, purpose: int, part: int = 0) -> npt.NDArray[np.uint64]:
        """Return 64 random bits for each row."""
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


@dataclass(frozen=True)
class Grid:
    """The numbers (first + i) / scale for i from 0 to size - 1."""

    first: int
    size: int
    scale: int

    @classmethod
    def between(cls, low: int, high: int, decimals: int) -> Grid:
        """Return the numbers with so many decimals from one whole number to another."""
        scale = 10**decimals
        return cls(low * scale, (high - low) * scale + 1, scale)

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
def _table(grid: Grid) -> npt.NDArray[np.object_]:
    return np.array(_number_texts(grid.values(np.arange(grid.size))), dtype=object)


def _number_texts(values: Floats) -> list[str]:
    return [str(int(v)) if v.is_integer() else repr(v) for v in values.tolist()]

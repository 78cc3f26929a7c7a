"""Random numbers that depend only on a seed, a purpose and a row; and grids of decimal numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import FloatArray, IntArray, Words

__all__ = ["Draw", "Grid"]

#: The texts of a grid with at most this many numbers are made once and then looked up.
_MAX_TEXTS: Final = 1_000_000


def _mixed(bits: Words) -> Words:
    """Return a hash of 64-bit numbers: the last step of SplitMix64, which is a bijection."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _bits(seed: int, stream: int, rows: IntArray) -> Words:
    """Return 64 random bits for each row."""
    # 2**64 divided by the golden ratio, the step of SplitMix64.
    golden = np.uint64(0x9E3779B97F4A7C15)
    start = np.array([seed & (1 << 64) - 1], np.uint64)
    key = _mixed(_mixed(start + golden) ^ np.array([stream], np.uint64))
    return _mixed((rows.astype(np.uint64) + np.uint64(1)) * golden ^ key)


class Draw:
    """Draws random numbers, one for each of the given rows.

    ``purpose`` and ``part``, below 65,536, choose a *stream*: draws of different streams are
    independent of each other, and those of the same stream are equal.

    >>> draw = Draw(7, np.arange(3))
    >>> draw.below(10, purpose=1).tolist(), Draw(7, np.array([2])).below(10, purpose=1).tolist()
    ([9, 8, 5], [5])
    """

    def __init__(self, seed: int, rows: IntArray) -> None:
        self.seed = seed
        self.rows = rows

    def bits(self, purpose: int, part: int = 0) -> Words:
        """Return 64 random bits for each row."""
        return _bits(self.seed, purpose << 16 | part, self.rows)

    def unit(self, purpose: int, part: int = 0) -> FloatArray:
        """Return numbers in [0, 1)."""
        drawn = self.bits(purpose, part) >> np.uint64(11)
        return np.asarray(drawn.astype(np.float64) * 2.0**-53)

    def below(self, limit: int, purpose: int, part: int = 0) -> IntArray:
        """Return whole numbers from 0 to limit - 1."""
        return np.minimum((self.unit(purpose, part) * limit).astype(np.int64), limit - 1)

    def ranked(self, limit: int, exponent: float, purpose: int, part: int = 0) -> IntArray:
        """Return ranks from 0 to limit - 1 by Zipf's law: rank r weighs (r + 1) ** -exponent."""
        found = np.searchsorted(
            _zipf(limit, exponent), self.unit(purpose, part), side="right"
        ).astype(np.int64)
        return np.minimum(found, limit - 1)


@lru_cache(maxsize=8)
def _zipf(limit: int, exponent: float) -> FloatArray:
    """Return the cumulative probabilities of the ranks from 0 to limit - 1."""
    shares = np.cumsum(np.arange(1, limit + 1, dtype=np.float64) ** -exponent)
    return np.asarray(shares / shares[-1])


@dataclass(frozen=True)
class Grid:
    """The numbers (first + i) / scale, for the places i from 0 to size - 1.

    >>> grid = Grid.between(0, 100, decimals=1)
    >>> grid.size, grid.texts(grid.nearest(np.array([2.04, 2.06, 200])))
    (1001, ['2', '2.1', '100'])
    """

    first: int
    size: int
    scale: int

    @classmethod
    def between(cls, low: int, high: int, decimals: int) -> Grid:
        """Return all numbers with some decimals from one whole number to another, both included."""
        scale = 10**decimals
        return cls(low * scale, (high - low) * scale + 1, scale)

    def values(self, at: IntArray) -> FloatArray:
        """Return the numbers at some places: the doubles nearest to the decimal numbers.

        They are nearest because a division of two exact doubles rounds correctly.
        """
        return np.asarray((at + self.first) / self.scale)

    def texts(self, at: IntArray) -> list[str]:
        """Return the numbers at some places as text, written as in filters."""
        if self.size <= _MAX_TEXTS:
            found: list[str] = _all_texts(self)[at].tolist()
            return found
        return _number_texts(self.values(at))

    def nearest(self, values: FloatArray) -> IntArray:
        """Return the places of the numbers that are nearest to some values."""
        at = np.rint(values * self.scale).astype(np.int64) - self.first
        return np.clip(at, 0, self.size - 1)


@lru_cache(maxsize=4)
def _all_texts(grid: Grid) -> NDArray[np.object_]:
    """Return the texts of all numbers of a grid."""
    return np.array(_number_texts(grid.values(np.arange(grid.size))), dtype=object)


def _number_texts(values: FloatArray) -> list[str]:
    """Return numbers as text; whole numbers without a decimal point."""
    return [str(int(v)) if v.is_integer() else repr(v) for v in values.tolist()]

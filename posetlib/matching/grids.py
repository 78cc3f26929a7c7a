"""Grids: the rows of many floats on several attributes, found without a search for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from posetlib.array_types import FloatArray
from posetlib.matching.cells import NUMBERS, OTHERS, Cells

__all__ = ["Grids"]

# Buckets of an attribute: they divide the line between its first and last threshold evenly.
_BUCKETS: Final = 1024
# The most thresholds in one bucket. With more, a search for each value is faster.
_MAX_STEPS: Final = 4

_Lines = NDArray[np.intp]


class Grids:
    """The lines of values in a table that has the rows of several attributes one after the other.

    The bucket of a value tells the first row that it may have. Whether it has this row or a later
    one, a few comparisons with the next threshold tell: as many as there are thresholds in one
    bucket. That is exact, because a greater value never has a smaller bucket.

    >>> cells = Cells.of_floats(np.array([2.0, 5.0]), limit=100)
    >>> grids = Grids([cells, cells], [0, cells.size])
    >>> grids.lines_of(np.array([[1.5, 2.0, 7.0], [5.0, 4.9, np.nan]])).tolist()
    [[5, 6, 7], [16, 15, 11]]
    """

    def __init__(self, cells: Sequence[Cells], offsets: Sequence[int]) -> None:
        self._cells = cells
        self._offsets = np.array(offsets, dtype=np.intp)[:, np.newaxis]
        # By attribute, where the buckets begin, and how many there are in a unit.
        self._starts = np.zeros((len(cells), 1))
        self._scales = np.ones((len(cells), 1))
        # By bucket of each attribute, the first line of its values.
        self._first_lines: _Lines = np.zeros((len(cells), _BUCKETS), dtype=np.intp)
        # By line, the threshold from which on a value is on the next line; NaN for none.
        self._next: FloatArray = np.full(sum(each.size for each in cells), np.nan)
        self._steps = 0
        for axis, each in enumerate(cells):
            self._lay_out(axis, NUMBERS + int(offsets[axis]), each.number_thresholds)
        #: Whether the grids serve. If not, each value is searched for.
        self.serve = self._steps <= _MAX_STEPS and bool(np.isfinite(self._scales).all())
        # Where the buckets of each attribute begin among all of them.
        self._buckets = np.arange(len(cells))[:, np.newaxis] * _BUCKETS

    def _lay_out(self, axis: int, first: int, thresholds: FloatArray) -> None:
        if not len(thresholds):
            self._first_lines[axis] = first
            return
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            span = thresholds[-1] - thresholds[0]
            self._starts[axis] = thresholds[0]
            self._scales[axis] = _BUCKETS / span if span else 1.0
        if not 0 < self._scales[axis, 0] < np.inf:
            self._scales[axis] = np.inf
            return
        buckets = self._buckets_of(thresholds, axis)
        self._first_lines[axis] = first + buckets.searchsorted(np.arange(_BUCKETS))
        self._next[first : first + len(thresholds)] = thresholds
        self._steps = max(self._steps, int(np.bincount(buckets).max()))

    def _buckets_of(self, values: FloatArray, axis: int | slice) -> _Lines:
        """Return the buckets of values that are not NaN."""
        with np.errstate(over="ignore"):
            places = (values - self._starts[axis]) * self._scales[axis]
        np.clip(places, 0, _BUCKETS - 1, out=places)
        return places.astype(np.intp)

    def lines_of(self, values: FloatArray) -> _Lines:
        """Return the lines of values, which have a row for each attribute."""
        missing = np.isnan(values)
        has_missing = bool(missing.any())
        if not self.serve:
            pairs = zip(self._cells, values, strict=True)
            lines = np.stack([cells.rows_of_floats(row) for cells, row in pairs])
            return lines + self._offsets
        known = np.where(missing, 0.0, values) if has_missing else values
        buckets = self._buckets_of(known, slice(None))
        buckets += self._buckets
        lines = self._first_lines.take(buckets)
        for _ in range(self._steps):
            lines += known >= self._next.take(lines)
        if has_missing:
            np.copyto(lines, self._offsets + OTHERS, where=missing)
        return lines

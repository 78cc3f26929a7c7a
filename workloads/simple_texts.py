"""Many texts of simple filters, read at once by Arrow: ranges of numbers, and single strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posetlib.array_types import BoolArray, FloatArray, IntArray
from posetlib.names import KEYWORDS
from workloads.texts import RANGE_CLAUSE, STRING_CLAUSE

__all__ = ["SimpleTexts"]

_KEYWORDS: Final = pa.array(sorted(KEYWORDS), pa.string())


@dataclass(frozen=True)
class _Clauses:
    """Clauses of one kind, each with the number of its text and its parts by name."""

    rows: IntArray
    parts: pa.StructArray

    @classmethod
    def read(cls, clauses: pa.Array, rows: IntArray, pattern: str) -> tuple[Self, BoolArray]:
        """Return the clauses that a pattern fits, and where it fits."""
        parts = pc.extract_regex(clauses, f"^{pattern}$")
        fits = _as_numpy(parts.is_valid())
        return cls(rows[fits], parts.drop_null()), fits

    def of(self, name: str) -> BoolArray:
        """Return which of the clauses are about an attribute."""
        return _as_numpy(pc.equal(self.parts.field("name"), name))


@dataclass(frozen=True)
class SimpleTexts:
    """What texts say that are conjunctions of ranges and single strings, an attribute each.

    Whether a text is one of them is ``known``; of any other one nothing is said here.
    `simple_ranges` reads the same texts one by one, and comparisons besides.
    """

    known: BoolArray
    #: How many attributes each text names.
    asked: IntArray
    _ranges: _Clauses
    _low: FloatArray
    _high: FloatArray
    _ends: IntArray
    _words: _Clauses

    @classmethod
    def read(cls, texts: pa.StringArray) -> Self:
        """Read texts; a null is not known. O(the length of all texts), without a step of Python."""
        count = len(texts)
        known = _as_numpy(texts.is_valid()).copy()
        split = pc.split_pattern(texts, " and ")
        clauses = split.flatten()
        rows = _as_numpy(pc.list_parent_indices(split)).astype(np.int64)
        ranges, is_range = _Clauses.read(clauses, rows, RANGE_CLAUSE)
        others = np.flatnonzero(~is_range)
        words, is_word = _Clauses.read(clauses.take(pa.array(others)), rows[others], STRING_CLAUSE)
        known[rows[others[~is_word]]] = False
        low, high = (
            _as_numpy(ranges.parts.field(side).cast(pa.float64())) for side in ("low", "high")
        )
        left, right = (
            _as_numpy(pc.equal(ranges.parts.field(side), sign))
            for side, sign in (("left", "("), ("right", ")"))
        )
        ends = left + 2 * right.astype(np.int64)
        # An empty range is no filter, which the parser tells.
        known[ranges.rows[(low > high) | ((ends != 0) & (low == high))]] = False
        asked = np.bincount(rows, minlength=count)
        for each in (ranges, words):
            names = each.parts.field("name")
            is_keyword = pc.is_in(pc.utf8_lower(names), value_set=_KEYWORDS)
            known[each.rows[_as_numpy(is_keyword)]] = False
        known[_named_twice(ranges, words)] = False
        return cls(known, asked, ranges, low, high, ends, words)

    def range_of(self, name: str) -> tuple[BoolArray, FloatArray, FloatArray, IntArray]:
        """Return of each text whether it has a range of an attribute, its ends, which are open."""
        is_range, ends = np.zeros(len(self.known), np.bool_), np.zeros(len(self.known), np.int64)
        low, high = (np.full(len(self.known), np.nan) for _ in range(2))
        some = self._ranges.of(name)
        at = self._ranges.rows[some]
        is_range[at] = True
        low[at], high[at], ends[at] = self._low[some], self._high[some], self._ends[some]
        return is_range, low, high, ends

    def word_of(self, name: str) -> tuple[BoolArray, pa.StringArray]:
        """Return of each text whether it asks for a string of an attribute, and for which."""
        some = self._words.of(name)
        place = np.full(len(self.known), -1)
        place[self._words.rows[some]] = np.flatnonzero(some)
        words = self._words.parts.field("word").take(pa.array(place, mask=place < 0))
        return place >= 0, words


def _named_twice(*kinds: _Clauses) -> IntArray:
    """Return the numbers of texts that have two clauses about one attribute."""
    rows = np.concatenate([each.rows for each in kinds])
    names = pa.chunked_array([each.parts.field("name") for each in kinds]).combine_chunks()
    codes = _as_numpy(names.dictionary_encode().indices).astype(np.int64)
    order = np.lexsort((codes, rows))
    rows, codes = rows[order], codes[order]
    again: IntArray = rows[1:][(np.diff(rows) == 0) & (np.diff(codes) == 0)]
    return again


def _as_numpy(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[Any]]:
    found: np.ndarray[tuple[int], np.dtype[Any]] = column.to_numpy(zero_copy_only=False)
    return found

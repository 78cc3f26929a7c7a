"""Rows of filters as Arrow columns: the layout on disk, and from there to ``FilterRanges``.

Beside the text of a filter stand ``lo_x``, ``hi_x`` (double, null where the filter asks nothing of
x), ``open_x`` (1 for an open low end, 2 for an open high end, 3 for both, null for none), and
``type``, the one string that it asks of the attribute `type`. The text is what counts: typed
columns say all of it where ``typed_for`` is the hash of the text, and are ignored elsewhere, so
that a text which somebody changes takes effect. Within a job the outcome is the column ``plain``.
Rows that were parsed from text carry their ranges in one column ``ranges`` instead, since nobody
knows beforehand which attributes there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posetlib.array_types import BoolArray, FloatArray, IntArray
from posetlib.arrays.positions import EVERYTHING, Vocabulary, encode_ranges
from posetlib.arrays.ranges import FilterRanges, encode_filters, joined
from posetlib.constraints.numbers import Numbers
from posetlib.constraints.strings import Strings
from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import FilterError
from posetlib.filters.filter import Filter
from posetlib.generating import GeneratedFilters, interface_names
from workloads.errors import InputError, UnreadableFilterError
from workloads.simple_texts import SimpleTexts
from workloads.texts import Simple, read_filter, simple_ranges

__all__ = [
    "RANGES",
    "TYPED",
    "by_key",
    "columns_agree_with",
    "columns_of",
    "filter_rows",
    "packed",
    "parse_rows",
    "typed_attributes",
    "unpacked",
]

Rows: TypeAlias = pa.Table | pa.RecordBatch

#: The type of the column ``ranges``, for Arrow and as Spark writes it.
RANGES: Final = pa.map_(
    pa.string(),
    pa.struct(
        [("low", pa.float64()), ("high", pa.float64()), ("open", pa.int8()), ("text", pa.string())]
    ),
)
TYPED: Final = (
    "plain boolean, ranges map<string,struct<low:double,high:double,open:tinyint,text:string>>"
)


# -- to the disk -----------------------------------------------------------------------------------


def filter_rows(made: GeneratedFilters) -> dict[str, pa.Array]:
    """Return generated filters as columns: id, filter, interface, plain, and typed ones."""
    names, codes = np.unique(made.interfaces, return_inverse=True)
    columns: dict[str, pa.Array] = {
        "id": pa.array(made.rows),
        "filter": pa.array(made.texts(), pa.string()),
        "interface": pa.array(interface_names(names), pa.string()).take(pa.array(codes)),
        "plain": pa.array(made.plain),
    }
    for name, each in made.ranges.items():
        ends = made.ranges[name].low_open + 2 * each.high_open.astype(np.int8)
        columns[f"lo_{name}"] = pa.array(each.low, from_pandas=True)
        columns[f"hi_{name}"] = pa.array(each.high, from_pandas=True)
        columns[f"open_{name}"] = pa.array(ends.astype(np.int8), mask=ends == 0)
    if made.types is not None:
        names, codes = np.unique(made.types, return_inverse=True)
        texts = pa.array([f"T{each}" for each in names.tolist()], pa.string())
        columns["type"] = texts.take(pa.array(codes))
    return columns


def typed_attributes(names: Iterable[str]) -> list[str]:
    """Return the attributes that have typed columns.

    >>> typed_attributes(["id", "lo_x", "hi_x", "lo_y"])
    ['x']
    """
    known = set(names)
    return [name[3:] for name in names if name.startswith("lo_") and f"hi_{name[3:]}" in known]


# -- from text -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parsed:
    """Texts that were read: their ranges where these are all, and what is wrong with the others."""

    plain: pa.Array
    ranges: pa.Array
    errors: pa.Array


def parse_rows(texts: Sequence[str | None], types: TypeHierarchy | None) -> Parsed:
    """Read texts once: ranges become columns, anything else is only found to be a filter.

    >>> parse_rows(["x in [1, 2]", "x != 3", "x in"], None).errors.to_pylist()[2]
    'line 1, column 5: the text ends too early; expected (, [, a string or {'
    """
    plain: list[bool] = []
    ranges: list[list[tuple[str, dict[str, Any]]] | None] = []
    errors: list[str | None] = []
    for text in texts:
        found, error = None, None
        try:
            found = _simple(text, types)
        except FilterError as wrong:
            error = " ".join(str(wrong).split())
        plain.append(found is not None)
        errors.append(error)
        ranges.append(
            None if found is None else [(name, _as_struct(each)) for name, each in found.items()]
        )
    return Parsed(
        pa.array(plain, pa.bool_()), pa.array(ranges, RANGES), pa.array(errors, pa.string())
    )


def columns_agree_with(
    rows: Rows, texts: pa.Array, types: TypeHierarchy | None
) -> tuple[pa.Array, pa.Array]:
    """Return of each row whether its typed columns say what its text says; and what is no filter.

    O(n); only a text that is more than ranges and single strings costs a step of Python.
    """
    count = rows.num_rows
    said = SimpleTexts.read(texts)
    agrees = said.known.copy()
    met = np.zeros(count, np.int64)
    typed = {name: _whole(*column) for name, column in _typed(rows).items()}
    for name, (low, high, ends) in typed.items():
        is_range, *wanted = said.range_of(name)
        met += is_range
        same = (low == wanted[0]) & (high == wanted[1]) & (ends == wanted[2])
        agrees &= np.where(is_range, same, np.isnan(low) & np.isnan(high))
    if "type" in rows.schema.names:
        words = rows.column("type")
        is_word, wanted_words = said.word_of("type")
        met += is_word
        same = _flags(pc.equal(words, wanted_words))
        agrees &= np.where(is_word, same, np.asarray(words.is_null()))
    # What no column can tell must not be in the text.
    agrees &= met == said.asked
    errors: list[str | None] = [None] * count
    for row in np.flatnonzero(~said.known).tolist():
        text = texts[row].as_py()
        try:
            agrees[row] = _says(typed, rows, row, _simple(text, types))
        except FilterError as wrong:
            errors[row] = " ".join(str(wrong).split())
    return pa.array(agrees), pa.array(errors, pa.string())


def _simple(text: str | None, types: TypeHierarchy | None) -> dict[str, Simple] | None:
    """Return the ranges and strings that a text consists of, None if it is more than these."""
    found = None if text is None else simple_ranges(text)
    return _ranges_of(_read(text, types)) if found is None else found


def _says(
    typed: Mapping[str, tuple[FloatArray, FloatArray, IntArray]],
    rows: Rows,
    row: int,
    wanted: dict[str, Simple] | None,
) -> bool:
    """Return whether the typed columns of one row say what is wanted, and nothing more."""
    if wanted is None:
        return False
    told: dict[str, Simple] = {
        name: (float(low[row]), float(high[row]), int(ends[row]))
        for name, (low, high, ends) in typed.items()
        if not np.isnan(low[row])
    }
    word = rows.column("type")[row].as_py() if "type" in rows.schema.names else None
    if word is not None:
        if "type" in told:
            return False
        told["type"] = word
    return told == {name: _whole_range(each) for name, each in wanted.items()}


def _whole_range(each: Simple) -> Simple:
    """Return a range in which no infinite end is open."""
    if isinstance(each, str):
        return each
    low, high, ends = each
    return low, high, ends & ~(low == -np.inf) & ~(2 * (high == np.inf))


def _whole(
    low: FloatArray, high: FloatArray, ends: IntArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return ranges in which an end that is not there is infinite, and no infinite end is open."""
    low, high = (
        np.where(np.isnan(low) & ~np.isnan(high), -np.inf, low),
        np.where(np.isnan(high) & ~np.isnan(low), np.inf, high),
    )
    ends = np.where(low == -np.inf, ends & ~1, ends)
    return low, high, np.where(high == np.inf, ends & ~2, ends)


def _as_struct(each: Simple) -> dict[str, Any]:
    if isinstance(each, str):
        return {"low": None, "high": None, "open": None, "text": each}
    low, high, ends = each
    return {"low": low, "high": high, "open": ends, "text": None}


def _ranges_of(one: Filter) -> dict[str, Simple] | None:
    """Return the ranges that a filter consists of, None if it is more, or more exact, than that."""
    found: dict[str, Simple] = {}
    for name, constraint in one.constraints.items():
        value = constraint.single_value()
        if isinstance(value, str):
            found[name] = value
            continue
        if not constraint.is_number_range:
            return None
        low, high = constraint.low, constraint.high
        if float(low) != low or float(high) != high:
            return None
        found[name] = (float(low), float(high), 0)
    return found


# -- to columns ------------------------------------------------------------------------------------


def columns_of(
    rows: Rows, vocabulary: Vocabulary, types: TypeHierarchy | None = None
) -> FilterRanges:
    """Return the filters of some rows, from typed columns where these say all, else from the text.

    O(n) for typed rows; a row of text costs a parse, unless it was read lately.
    """
    count = rows.num_rows
    names = rows.schema.names
    plain = np.zeros(count, np.bool_)
    lows: dict[str, IntArray] = {}
    highs: dict[str, IntArray] = {}
    if "plain" in names:
        plain = _flags(rows.column("plain"))
        for name, (low, high, ends) in _typed(rows).items():
            lows[name], highs[name], known = _encoded(name, low, high, ends, plain)
            plain &= known
        for name, at in _string_points(rows, vocabulary).items():
            nothing = np.full(count, EVERYTHING[0]), np.full(count, EVERYTHING[1])
            lows[name] = np.where(at < 0, lows.get(name, nothing[0]), at)
            highs[name] = np.where(at < 0, highs.get(name, nothing[1]), at)
    if plain.all():
        return FilterRanges(lows, highs, plain, plain.copy(), vocabulary)
    typed, others = np.flatnonzero(plain), np.flatnonzero(~plain)
    objects = encode_filters(_filters(rows, others, types), vocabulary)
    every = np.ones(count, np.bool_)
    parts = joined([FilterRanges(lows, highs, every, every, vocabulary).take(typed), objects])
    places = np.empty(count, np.int64)
    places[np.concatenate([typed, others])] = np.arange(count)
    return parts.take(places)


def _encoded(
    name: str, low: FloatArray, high: FloatArray, ends: IntArray, plain: BoolArray
) -> tuple[IntArray, IntArray, BoolArray]:
    low = np.where(np.isnan(low) & ~np.isnan(high), -np.inf, low)
    high = np.where(np.isnan(high) & ~np.isnan(low), np.inf, high)
    wrong = plain & ((low > high) | ((low == high) & (ends != 0)))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"the typed columns of {name} say a range from {low[at]} to {high[at]}, which is empty"
        )
    return encode_ranges(low, high, ends)


def _typed(rows: Rows) -> dict[str, tuple[FloatArray, FloatArray, IntArray]]:
    """Return low ends, high ends and open ends by attribute."""
    names = rows.schema.names
    if "ranges" in names:
        return _from_maps(rows.column("ranges"))
    found = {}
    for name in typed_attributes(names):
        ends = np.zeros(rows.num_rows, np.int64)
        if f"open_{name}" in names:
            column = rows.column(f"open_{name}")
            if column.null_count < rows.num_rows:
                ends = np.asarray(pc.fill_null(column, 0)).astype(np.int64)
        found[name] = (_floats(rows.column(f"lo_{name}")), _floats(rows.column(f"hi_{name}")), ends)
    return found


def _string_points(rows: Rows, vocabulary: Vocabulary) -> dict[str, IntArray]:
    """Return the positions of the strings that are asked for by attribute, -1 where none is."""
    names = rows.schema.names
    if "ranges" not in names:
        return {"type": _strings(rows.column("type"), vocabulary)} if "type" in names else {}
    keys, items, where = _entries(rows.column("ranges"))
    texts = items.field("text")
    if texts.null_count == len(texts):
        return {}
    at = _strings(texts, vocabulary)
    codes = np.asarray(keys.indices)
    found = {}
    for code, name in enumerate(keys.dictionary.to_pylist()):
        some = (codes == code) & (at >= 0)
        if some.any():
            found[name] = np.full(rows.num_rows, -1)
            found[name][where[some]] = at[some]
    return found


def _entries(column: pa.Array) -> tuple[pa.DictionaryArray, pa.StructArray, IntArray]:
    """Return the keys and items of all maps, and in which row each is."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    offsets = np.asarray(column.offsets)
    lengths = np.where(np.asarray(pc.is_valid(column)), np.diff(offsets), 0)
    keys = column.keys.slice(offsets[0], offsets[-1] - offsets[0]).dictionary_encode()
    items = column.items.slice(offsets[0], offsets[-1] - offsets[0])
    return keys, items, np.repeat(np.arange(len(column)), lengths)


def _from_maps(column: pa.Array) -> dict[str, tuple[FloatArray, FloatArray, IntArray]]:
    """Return what maps say of numbers, one attribute at a time."""
    count = len(column)
    keys, items, rows = _entries(column)
    low, high = (_floats(items.field(each)) for each in ("low", "high"))
    ends = np.asarray(pc.fill_null(items.field("open"), 0)).astype(np.int64)
    codes = np.asarray(keys.indices)
    found = {}
    for code, name in enumerate(keys.dictionary.to_pylist()):
        at = codes == code
        lows, highs = np.full(count, np.nan), np.full(count, np.nan)
        opens = np.zeros(count, np.int64)
        lows[rows[at]], highs[rows[at]], opens[rows[at]] = low[at], high[at], ends[at]
        found[name] = (lows, highs, opens)
    return found


def _floats(column: pa.Array | pa.ChunkedArray) -> FloatArray:
    if not pa.types.is_float64(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array)
                      else column.to_numpy())  # fmt: skip


def _flags(column: pa.Array | pa.ChunkedArray) -> BoolArray:
    filled = pc.fill_null(column, False)
    if isinstance(filled, pa.ChunkedArray):
        return np.asarray(filled.to_numpy(), np.bool_).copy()
    return np.asarray(filled.to_numpy(zero_copy_only=False), np.bool_).copy()


def _strings(column: pa.Array | pa.ChunkedArray, vocabulary: Vocabulary) -> IntArray:
    """Return the positions of strings, -1 for none."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    encoded = column.dictionary_encode()
    known = [vocabulary.position(text) for text in encoded.dictionary.to_pylist()]
    codes = np.asarray(pc.fill_null(encoded.indices, -1)).astype(np.int64)
    return np.array([*known, -1], np.int64)[codes]


def _filters(rows: Rows, which: IntArray, types: TypeHierarchy | None) -> list[Filter]:
    """Return the filters of some rows as objects: from their text, or from what is typed."""
    texts = rows.column("filter").take(pa.array(which)).to_pylist()
    typed = _flags(rows.column("plain"))[which] if "plain" in rows.schema.names else [False]
    made = []
    for row, text, is_typed in zip(
        which.tolist(), texts, np.broadcast_to(typed, len(which)).tolist(), strict=True
    ):
        try:
            made.append(_typed_filter(rows, row) if is_typed else _read(text, types))
        except FilterError as error:
            raise unreadable(text, error) from error
    return made


def _read(text: str | None, types: TypeHierarchy | None) -> Filter:
    if text is None:
        raise FilterError("there is no text")
    return read_filter(text, types)


def unreadable(text: str | None, error: object) -> UnreadableFilterError:
    """Return the error that tells of a text which is no filter, in one line."""
    reason = " ".join(str(error).split())
    return UnreadableFilterError(f"the filter {text!r} cannot be read: {reason}")


def _typed_filter(rows: Rows, row: int) -> Filter:
    constraints: dict[str, Any] = {}
    for name, (lows, highs, ends) in _typed(rows.slice(row, 1)).items():
        low, high, open_ends = float(lows[0]), float(highs[0]), int(ends[0])
        if low == low or high == high:
            constraints[name] = Numbers.interval(
                low if abs(low) < np.inf else None,
                high if abs(high) < np.inf else None,
                low_open=bool(open_ends & 1),
                high_open=bool(open_ends & 2),
            )
    for name, word in _words(rows, row).items():
        constraints[name] = Strings.points((word,))
    return Filter(constraints)


def _words(rows: Rows, row: int) -> dict[str, str]:
    """Return the one string that a typed row asks of an attribute, by attribute."""
    if "ranges" in rows.schema.names:
        items = rows.column("ranges")[row].as_py()
        return {name: each["text"] for name, each in items if each["text"] is not None}
    word = rows.column("type")[row].as_py() if "type" in rows.schema.names else None
    return {} if word is None else {"type": word}


# -- blocks ----------------------------------------------------------------------------------------


def packed(rows: Rows) -> bytes:
    """Return rows as bytes that can be one value in a row of a block join."""
    sink = pa.BufferOutputStream()
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue().to_pybytes())


def unpacked(data: bytes) -> pa.Table:
    """Return the rows that were packed."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def regrouped(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Yield the rows of batches in tables of a size, the last one of what is left."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        while batch.num_rows:
            part = batch.slice(0, size - count)
            batch = batch.slice(part.num_rows)  # noqa: PLW2901 - the rest of it
            waiting.append(part)
            count += part.num_rows
            if count == size:
                yield pa.Table.from_batches(waiting)
                waiting, count = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def by_key(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[pa.Table]:
    """Yield the rows of each key together; rows come in order of their keys.

    >>> rows = pa.RecordBatch.from_pydict({"k": [1, 1, 2]})
    >>> [table.num_rows for table in by_key([rows.slice(0, 1), rows.slice(1, 2)], "k")]
    [2, 1]
    """
    waiting: list[pa.RecordBatch] = []
    last: object = None
    for batch in batches:
        encoded = pc.run_end_encode(batch.column(key))
        start = 0
        for value, end in zip(
            encoded.values.to_pylist(), encoded.run_ends.to_pylist(), strict=True
        ):
            if waiting and value != last:
                yield pa.Table.from_batches(waiting)
                waiting = []
            waiting.append(batch.slice(start, end - start))
            last, start = value, end
    if waiting:
        yield pa.Table.from_batches(waiting)

"""Comparing many filters with many, block by block.

A *selection* names nodes by their number, each with a group: only filters of one group are compared
with one another. Selections are cut into blocks in order of their groups, so that a block meets
only the few whose groups it shares, and every two that meet are one piece of work.

The columns of the filters are sent to every worker up to a size (``--broadcast-limit``). Beyond it
the blocks themselves are joined: thousands of rows travel as one value, and meet as columns.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from posetlib.array_types import IntArray, Words
from posetlib.arrays.covering import Block, covering_pairs
from posetlib.arrays.positions import Vocabulary
from posetlib.arrays.ranges import FilterRanges
from posetlib.constraints.types import TypeHierarchy
from workloads.rows import columns_of, packed, regrouped, unpacked

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "BlockRows",
    "Filters",
    "Found",
    "Here",
    "Selection",
    "Sent",
    "clear_bits",
    "found_pairs",
    "same_labels",
    "typed_names",
    "without_self",
]

_SAMPLE: Final = 20
#: Of a table with no more nodes, what is one piece of work is done by the driver itself: a job
#: takes longer to begin than that takes to do.
_HERE: Final = 1 << 16
#: Shared by all filters that meet in a worker, so that equal strings have one position.
_VOCABULARY: Final = Vocabulary()


def typed_names(rows: DataFrame) -> list[str]:
    """Return the columns that say what a filter is."""
    names = rows.columns
    if "ranges" in names:
        return ["filter", "plain", "ranges"]
    wanted = ("lo_", "hi_", "open_")
    return ["filter"] + [
        name for name in names if name in ("plain", "type") or name.startswith(wanted)
    ]


@dataclass
class Selection:
    """Nodes by number, with their groups; ``labels`` are numbers for a comparison to look at."""

    numbers: IntArray
    groups: IntArray
    labels: IntArray

    @classmethod
    def of(
        cls, numbers: IntArray, groups: IntArray | None = None, labels: IntArray | None = None
    ) -> Selection:
        """Return a selection in order of its groups; one group if none are given."""
        nothing = np.zeros(len(numbers), np.int64)
        groups = nothing if groups is None else groups
        order = np.argsort(groups, kind="stable")
        labels = nothing if labels is None else labels
        return cls(numbers[order], groups[order], labels[order])

    def blocks(self, size: int) -> list[Selection]:
        """Return the selection in pieces of a size."""
        return [
            Selection(self.numbers[part], self.groups[part], self.labels[part])
            for part in (slice(at, at + size) for at in range(0, len(self.numbers), size))
        ]


@dataclass
class BlockRows:
    """A block in a worker: numbers, labels, and the filters as columns, group included."""

    numbers: IntArray
    labels: IntArray
    columns: FilterRanges


Compare = Callable[[BlockRows, BlockRows], Any]
T = TypeVar("T")
#: A value that was sent to a worker, or is there already.
Sent: TypeAlias = "Broadcast[T] | Here[T]"


@dataclass
class Filters:
    """The filters of numbered nodes, sent to every worker or left where they are.

    ``rows`` has the columns number and those of ``typed_names``; ``data`` the same, packed, where
    that is no more than may be sent.
    """

    session: SparkSession
    rows: DataFrame
    count: int
    types: TypeHierarchy | None
    data: bytes | None
    #: Whether the rows were kept for these comparisons, to be let go of with them.
    kept: bool = False
    #: Rows of a block.
    size: ClassVar[int] = 8192

    @property
    def parts(self) -> int:
        """How many pieces work is divided into."""
        return 2 * int(self.session.conf.get("spark.sql.shuffle.partitions") or 2)

    @cached_property
    def _shared(self) -> Broadcast[bytes]:
        assert self.data is not None
        return self.session.sparkContext.broadcast(self.data)

    def close(self) -> None:
        """Let go of what was sent or kept: the next run reads the files anew."""
        if "_shared" in self.__dict__:
            self.__dict__.pop("_shared").destroy()
        if self.kept:
            self.rows.unpersist()

    def compared(self, one: Selection, other: Selection, compare: Compare) -> list[Any]:
        """Return what a function finds in every two blocks that share a group."""
        if not len(one.numbers) or not len(other.numbers):
            return []
        if self.data is None:
            return self._joined(one, other, compare)
        ones = one.blocks(self.size)
        others = ones if other is one else other.blocks(self.size)
        work = partial(_each_pair, compare=compare, types=self.types)
        return self._done(work, _meeting(ones, others), (ones, others))

    def _done(self, work: Callable[..., Iterator[Any]], pieces: list[Any], sides: Any) -> list[Any]:
        assert self.data is not None
        data: Sent[bytes] = Here(self.data) if self.is_here(pieces) else self._shared
        return self.worked(partial(work, shared=data), pieces, sides)

    def is_here(self, pieces: list[Any]) -> bool:
        """Return whether work is so little that the driver does it itself."""
        return len(pieces) == 1 and self.count <= _HERE

    def worked(
        self, work: Callable[..., Iterator[Any]], pieces: list[Any], sides: Any
    ) -> list[Any]:
        """Return what work yields for pieces of it, given what all of them need: ``sides``."""
        if self.is_here(pieces):
            return list(work(iter(pieces), sides=Here(sides)))
        context = self.session.sparkContext
        sent = context.broadcast(sides)
        try:
            rows = context.parallelize(pieces, max(1, min(len(pieces), self.parts)))
            found: list[Any] = rows.mapPartitions(partial(work, sides=sent)).collect()
        finally:
            sent.destroy()
        return found

    def _joined(self, one: Selection, other: Selection, compare: Compare) -> list[Any]:
        """Join blocks with blocks, since the columns are too large to be everywhere."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        # Made once, also where a selection meets itself, and though joins look at them twice.
        blocks = [self._blocks(one).persist()]
        if other is not one:
            blocks.append(self._blocks(other).persist())
        left = blocks[0].toDF("one_first", "one_last", "one")
        right = blocks[-1].toDF("other_first", "other_last", "other")
        shared = (f.col("one_first") <= f.col("other_last")) & (
            f.col("other_first") <= f.col("one_last")
        )
        pairs = left.join(right, shared).select("one", "other").repartition(self.parts)
        rows = pairs.mapInArrow(
            partial(_each_join, compare=compare, types=self.types), "found binary"
        )
        try:
            return [pickle.loads(row["found"]) for row in rows.collect()]
        finally:
            for each in blocks:
                each.unpersist()

    def _blocks(self, selection: Selection) -> DataFrame:
        chosen = self.session.createDataFrame(
            pa.table(
                {
                    "number": selection.numbers,
                    "group": selection.groups,
                    "label": selection.labels,
                }
            )
        )
        rows = chosen.join(self.rows, "number")
        ordered = rows.repartitionByRange(self.parts, "group", "number").sortWithinPartitions(
            "group", "number"
        )
        return ordered.mapInArrow(
            partial(_packed, size=self.size), "first long, last long, rows binary"
        )

    def by_rows(self, numbers: tuple[IntArray, ...], work: Callable[..., Any]) -> list[Any]:
        """Return what a function finds in filters side by side, some thousand rows at a time.

        ``work`` is called with one ``FilterRanges`` for each array of numbers, and the arrays.
        """
        count = len(numbers[0])
        if not count:
            return []
        if self.data is None:
            return self._joined_rows(numbers, work)
        step = max(self.size // 4, min(1 << 16, -(-count // self.parts)))
        ranges = [slice(start, start + step) for start in range(0, count, step)]
        return self._done(partial(_each_range, work=work, types=self.types), ranges, numbers)

    def _joined_rows(self, numbers: tuple[IntArray, ...], work: Callable[..., Any]) -> list[Any]:
        names = [f"n{side}" for side in range(len(numbers))]
        rows = self.session.createDataFrame(pa.table(dict(zip(names, numbers, strict=True))))
        for side, name in enumerate(names):
            renamed = self.rows.toDF(*(f"s{side}_{each}" for each in self.rows.columns))
            rows = rows.join(renamed, rows[name] == renamed[f"s{side}_number"])
        found = rows.mapInArrow(
            partial(_each_joined_row, sides=len(numbers), work=work, types=self.types),
            "found binary",
        )
        return [pickle.loads(row["found"]) for row in found.collect()]


def _meeting(ones: list[Selection], others: list[Selection]) -> list[tuple[int, int]]:
    """Return the pairs of blocks that share a group."""
    one_first, one_last, other_first, other_last = (
        np.array([each.groups[at] for each in side]) for side in (ones, others) for at in (0, -1)
    )
    meet = (one_first[:, None] <= other_last) & (other_first <= one_last[:, None])
    found = np.argwhere(meet)
    # In order of the second: what is made once for it serves all that meet it.
    return [(int(a), int(b)) for a, b in found[np.argsort(found[:, 1], kind="stable")]]


@dataclass
class Here(Generic[T]):
    """What is where it is needed already, to be read like what was sent."""

    value: T


# -- in the workers --------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def _columns(data: bytes, types: TypeHierarchy | None) -> FilterRanges:
    return columns_of(unpacked(data), _VOCABULARY, types)


def _chosen(every: FilterRanges, selection: Selection) -> BlockRows:
    columns = every.take(selection.numbers).with_group(selection.groups)
    return BlockRows(selection.numbers, selection.labels, columns)


def _each_pair(
    pairs: Iterator[tuple[int, int]],
    shared: Sent[bytes],
    sides: Sent[tuple[list[Selection], list[Selection]]],
    compare: Compare,
    types: TypeHierarchy | None,
) -> Iterator[Any]:
    every = _columns(shared.value, types)
    ones, others = sides.value
    last: tuple[int, BlockRows] | None = None
    for a, b in pairs:
        if last is None or last[0] != b:
            last = (b, _chosen(every, others[b]))
        yield compare(_chosen(every, ones[a]), last[1])


def _each_range(
    ranges: Iterator[slice],
    shared: Sent[bytes],
    sides: Sent[tuple[IntArray, ...]],
    work: Callable[..., Any],
    types: TypeHierarchy | None,
) -> Iterator[Any]:
    every = _columns(shared.value, types)
    for part in ranges:
        parts = [numbers[part] for numbers in sides.value]
        yield work(*(every.take(some) for some in parts), *parts)


def _packed(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    for table in regrouped(batches, size):
        groups = np.asarray(table.column("group"))
        yield pa.RecordBatch.from_pydict(
            {"first": [int(groups[0])], "last": [int(groups[-1])], "rows": [packed(table)]}
        )


@lru_cache(maxsize=4)
def _read(data: bytes, types: TypeHierarchy | None) -> BlockRows:
    table = unpacked(data)
    columns = columns_of(table, _VOCABULARY, types)
    return BlockRows(
        np.asarray(table.column("number")),
        np.asarray(table.column("label")),
        columns.with_group(np.asarray(table.column("group"))),
    )


def _each_join(
    batches: Iterator[pa.RecordBatch], compare: Compare, types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for one, other in zip(batch.column("one"), batch.column("other"), strict=True):
            found = compare(_read(one.as_py(), types), _read(other.as_py(), types))
            yield pa.RecordBatch.from_pydict({"found": [pickle.dumps(found)]})


def _each_joined_row(
    batches: Iterator[pa.RecordBatch],
    sides: int,
    work: Callable[..., Any],
    types: TypeHierarchy | None,
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns = []
        for side in range(sides):
            names = [name for name in batch.schema.names if name.startswith(f"s{side}_")]
            rows = pa.table([batch.column(name) for name in names], [name[3:] for name in names])
            columns.append(columns_of(rows, _VOCABULARY, types))
        numbers = [np.asarray(batch.column(f"n{side}")) for side in range(sides)]
        found = work(*columns, *numbers)
        yield pa.RecordBatch.from_pydict({"found": [pickle.dumps(found)]})


# -- pairs -----------------------------------------------------------------------------------------


@dataclass
class Found:
    """How many pairs there are, and the first of them with a label each."""

    total: int
    pairs: list[tuple[int, int, int]]

    @classmethod
    def sum(cls, parts: list[Found], limit: int) -> Found:
        """Return all that was found."""
        pairs = sorted(pair for part in parts for pair in part.pairs)
        return cls(sum(part.total for part in parts), pairs[:limit])


def found_pairs(one: BlockRows, other: BlockRows, shown: int = _SAMPLE) -> Found:
    """Return the pairs of which the first covers the second, but not a node with itself."""
    total = 0
    some: list[tuple[int, int, int]] = []
    for f, g in covering_pairs(one.columns, other.columns, one.numbers, other.numbers):
        total += len(f)
        first = np.lexsort((other.numbers[g], one.numbers[f]))[:shown]
        some += zip(
            one.numbers[f[first]].tolist(),
            other.numbers[g[first]].tolist(),
            one.labels[f[first]].tolist(),
            strict=True,
        )
    return Found(total, sorted(some)[:shown])


def without_self(one: BlockRows, other: BlockRows) -> Words:
    """Return what the filters of a block cover in another; not themselves."""
    bits = Block(other.columns).covered(one.columns, np.arange(len(one.numbers)))
    clear_bits(bits, *same_labels(one.numbers, other.numbers))
    return bits


def clear_bits(bits: Words, rows: IntArray, which: IntArray) -> None:
    """Take out of the sets of some rows one member each."""
    np.bitwise_and.at(bits, (rows, which >> 6), ~(np.uint64(1) << (which & 63).astype(np.uint64)))


def same_labels(ones: IntArray, others: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of rows with the same label."""
    order = np.argsort(others, kind="stable")
    begin = np.searchsorted(others[order], ones, side="left")
    lengths = np.searchsorted(others[order], ones, side="right") - begin
    offsets = np.repeat(begin - np.cumsum(lengths) + lengths, lengths)
    return np.repeat(np.arange(len(ones)), lengths), order[offsets + np.arange(len(offsets))]

"""Comparing many filters with many, block by block, where every worker has the columns of all.

A *selection* names nodes by their number, each with a group: only filters of one group are compared
with one another. Selections are cut into blocks in order of their groups, so that a block meets
only the few whose groups it shares, and every two that meet are one piece of work.

Columns of more bytes than ``--broadcast-limit`` are not sent: see ``spread``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar

import numpy as np

from posetlib.array_types import IntArray
from posetlib.arrays.covering import beaten_rows, minimal, strength
from posetlib.arrays.positions import Vocabulary
from posetlib.arrays.ranges import FilterRanges
from posetlib.constraints.types import TypeHierarchy
from workloads.pairs import BlockRows
from workloads.rows import columns_of, unpacked
from workloads.session import is_remote

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "VOCABULARY",
    "Compare",
    "Filters",
    "Here",
    "Selection",
    "Sent",
    "parts_of",
    "typed_names",
]

#: Of a table with no more nodes, what is one piece of work is done by the driver itself: a job
#: takes longer to begin than that takes to do.
_HERE: Final = 1 << 16
#: So many of the strongest filters of each part are held against all others first.
_STRONGEST: Final = 32
#: Shared by all filters that meet in a worker, so that equal strings have one position.
VOCABULARY: Final = Vocabulary()


def typed_names(rows: DataFrame) -> list[str]:
    """Return the columns that say what a filter is."""
    names = rows.columns
    if "ranges" in names:
        return ["filter", "plain", "ranges"]
    wanted = ("lo_", "hi_", "open_")
    return ["filter"] + [
        name for name in names if name in ("plain", "type") or name.startswith(wanted)
    ]


def parts_of(session: SparkSession) -> int:
    """Return how many pieces work is divided into."""
    return 2 * int(session.conf.get("spark.sql.shuffle.partitions") or 2)


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


Compare = Callable[[BlockRows, BlockRows], Any]
T = TypeVar("T")
#: A value that was sent to a worker, or is there already.
Sent: TypeAlias = "Broadcast[T] | Here[T]"


@dataclass
class Filters:
    """The filters of numbered nodes as columns: packed, in the driver and on every worker."""

    session: SparkSession
    count: int
    types: TypeHierarchy | None
    data: bytes
    #: Rows of a block.
    size: ClassVar[int] = 8192

    @property
    def parts(self) -> int:
        """How many pieces work is divided into."""
        return parts_of(self.session)

    @cached_property
    def _shared(self) -> Broadcast[bytes]:
        return self.session.sparkContext.broadcast(self.data)

    def close(self) -> None:
        """Let go of what was sent."""
        if "_shared" in self.__dict__:
            self.__dict__.pop("_shared").destroy()

    def compared(self, one: Selection, other: Selection, compare: Compare) -> list[Any]:
        """Return what a function finds in every two blocks that share a group."""
        if not len(one.numbers) or not len(other.numbers):
            return []
        ones = one.blocks(self.size)
        others = ones if other is one else other.blocks(self.size)
        work = partial(_each_pair, compare=compare, types=self.types)
        return self._done(work, _meeting(ones, others), (ones, others))

    def by_rows(self, numbers: tuple[IntArray, ...], work: Callable[..., Any]) -> list[Any]:
        """Return what a function finds in filters side by side, some thousand rows at a time.

        ``work`` is called with one ``FilterRanges`` for each array of numbers, and the arrays.
        """
        count = len(numbers[0])
        if not count:
            return []
        return self._done(
            partial(_each_range, work=work, types=self.types), self._ranges(count), numbers
        )

    def unbeaten(self, numbers: IntArray) -> IntArray:
        """Return the minimal cover of some nodes; of equivalent ones the first.

        That of each part, then what no filter of another part beats: O(n c) pairs if c are left,
        and fewer where filters lie apart.
        """
        if not len(numbers):
            return numbers
        # The strongest of each part are held against all parts first: few are left of most tables.
        strong = np.unique(np.concatenate(self.by_rows((numbers,), _strongest)))
        own = partial(_each_part, types=self.types)
        parts = self._done(own, self._ranges(len(numbers)), (numbers, strong))
        some = np.sort(np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64))
        if len(parts) <= 1:
            return some
        work = partial(_each_share, types=self.types)
        found = self._done(work, self._ranges(len(some)), some)
        return np.sort(np.concatenate([np.zeros(0, np.int64), *found]))

    def _ranges(self, count: int) -> list[slice]:
        step = max(self.size // 4, min(1 << 16, -(-count // self.parts)))
        return [slice(start, start + step) for start in range(0, count, step)]

    def _done(self, work: Callable[..., Iterator[Any]], pieces: list[Any], sides: Any) -> list[Any]:
        data: Sent[bytes] = Here(self.data) if self.is_here(pieces) else self._shared
        return self.worked(partial(work, shared=data), pieces, sides)

    def is_here(self, pieces: list[Any]) -> bool:
        """Return whether work is so little that the driver does it itself.

        Nothing can be sent to the workers of a session on another machine but rows.
        """
        return (len(pieces) <= 1 and self.count <= _HERE) or is_remote(self.session)

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
    return columns_of(unpacked(data), VOCABULARY, types)


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


def _strongest(filters: FilterRanges, numbers: IntArray) -> IntArray:
    return numbers[np.argsort(-strength(filters), kind="stable")[:_STRONGEST]]


def _each_part(
    ranges: Iterator[slice],
    shared: Sent[bytes],
    sides: Sent[tuple[IntArray, IntArray]],
    types: TypeHierarchy | None,
) -> Iterator[IntArray]:
    """Yield the cover of each part, without what one of the strongest of all beats."""
    every = _columns(shared.value, types)
    numbers, strong = sides.value
    for part in ranges:
        rows = np.union1d(numbers[part], strong)
        yield np.intersect1d(rows[minimal(every.take(rows), rows)], numbers[part])


def _each_share(
    ranges: Iterator[slice],
    shared: Sent[bytes],
    sides: Sent[IntArray],
    types: TypeHierarchy | None,
) -> Iterator[IntArray]:
    numbers = sides.value
    every = _columns(shared.value, types).take(numbers)
    for part in ranges:
        own = numbers[part]
        beaten = beaten_rows(every.take(np.arange(len(numbers))[part]), own, every, numbers)
        yield own[~beaten]

"""Work on many rows that every task has to see, divided into shares.

Rows are spread over tasks by a key: those of a key with many rows go to several tasks, each of
which has all of them and works on its own share; keys with few rows are put together. Rows travel
as blocks of Arrow, thousands of them as one value.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import pyarrow as pa

from workloads.rows import packed, regrouped, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "BLOCKS",
    "Share",
    "Work",
    "block",
    "parallelism",
    "sent_to_tasks",
    "task_names",
    "worked_apart",
    "worked_in_shares",
]

T = TypeVar("T")
#: Rows of a block, and blocks as rows.
_BLOCK: Final = 1 << 16
BLOCKS: Final = "tasks array<int>, rows binary"


@dataclass(frozen=True)
class Share:
    """Which part of its rows a task works on: every ``of``-th from ``number`` on."""

    number: int
    of: int

    def rows(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the numbers of the rows below ``count`` that are in this share."""
        return np.arange(self.number, count, self.of)


#: From all rows that a task has, and its share, to what it finds.
Work = Callable[[pa.Table, Share], pa.Table]


def parallelism(session: SparkSession) -> int:
    """Return how many tasks work is divided into: as it was said, or as many as run at a time."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    said = session.conf.get("spark.sql.leafNodeDefaultParallelism", None)
    if said is not None:
        return int(said)
    return max(1, session.range(0, 1 << 16).select(f.spark_partition_id()).distinct().count())


def worked_in_shares(
    rows: DataFrame,
    work: Work,
    schema: str,
    parts: int,
    *,
    key: str | None = None,
    counts: Mapping[str, int] | None = None,
    total: int = 0,
) -> DataFrame:
    """Return what work finds: each task has all rows of its keys, and a share of the work.

    ``counts`` are the rows of those keys that have most, and ``total`` is how many rows there are.
    Without a key, all rows belong together. A task has to find the same whatever the order of its
    rows.
    """
    plan = _Plan.of(parts, key, counts or {}, total)
    blocks = rows.mapInArrow(partial(_blocks, plan=plan), BLOCKS)
    work_on = partial(_worked, plan=plan, work=work)
    return sent_to_tasks(blocks, len(plan.shares)).mapInArrow(work_on, schema)


def sent_to_tasks(blocks: DataFrame, count: int) -> DataFrame:
    """Return blocks where their tasks are: each of the tasks, named by ``task_names``, is one."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    others = [name for name in blocks.columns if name != "tasks"]
    return blocks.select(f.explode("tasks").alias("task"), *others).repartition(count, "task")


@dataclass(frozen=True)
class _Plan:
    """Which tasks there are, and which of them the rows of a key go to."""

    key: str | None
    #: For each task, by its name, its share. The names lie in partitions of their own.
    shares: dict[int, Share]
    #: The tasks of the keys with many rows, and those that the others are divided among.
    large: dict[str | None, list[int]]
    small: list[int]

    @classmethod
    def of(cls, parts: int, key: str | None, counts: Mapping[str, int], total: int) -> _Plan:
        large: list[tuple[str | None, int]] = [(None, parts)]
        if key is not None:
            # A key with more than half of what a task should have gets tasks of its own.
            chosen = [name for name in sorted(counts) if 2 * parts * counts[name] > total]
            large = [(name, -(-parts * counts[name] // total)) for name in chosen]
        others = 0 if key is None else parts
        names = iter(task_names(others + sum(shares for _, shares in large)))
        small = [next(names) for _ in range(others)]
        shares = {task: Share(0, 1) for task in small}
        tasks: dict[str | None, list[int]] = {}
        for name, of in large:
            tasks[name] = [next(names) for _ in range(of)]
            shares |= {task: Share(number, of) for number, task in enumerate(tasks[name])}
        return cls(key, shares, tasks, small)

    def tasks(self, value: str | None) -> list[int]:
        """Return the tasks that the rows with a value of the key go to."""
        found = self.large.get(value)
        if found is None:
            found = [self.small[zlib.crc32((value or "").encode()) % len(self.small)]]
        return found


def task_names(count: int) -> list[int]:
    """Return names for tasks that Spark puts into as many partitions, each into its own.

    >>> len(task_names(3))
    3
    """
    found: dict[int, int] = {}
    name = 0
    while len(found) < count:
        found.setdefault(_hash(name) % count, name)
        name += 1
    return [found[each] for each in range(count)]


def _hash(value: int) -> int:
    """Return what Spark's function ``hash`` gives for a whole number of 32 bits.

    >>> _hash(0), _hash(1)
    (933211791, -559580957)
    """
    word = 0xFFFFFFFF

    def turned(number: int, by: int) -> int:
        return (number << by | number >> (32 - by)) & word

    mixed = turned(value * 0xCC9E2D51 & word, 15) * 0x1B873593 & word
    state = (turned(42 ^ mixed, 13) * 5 + 0xE6546B64) & word
    state ^= 4
    state = (state ^ state >> 16) * 0x85EBCA6B & word
    state = (state ^ state >> 13) * 0xC2B2AE35 & word
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def worked_apart(session: SparkSession, pieces: Sequence[Any], work: Callable[[Any], T]) -> list[T]:
    """Return what a function makes of each of some pieces, one task for each piece.

    What the function needs goes along with it, once to every worker.
    """
    rows = pa.table({"piece": [pickle.dumps(each) for each in pieces], "at": range(len(pieces))})
    spread = session.createDataFrame(rows).repartitionByRange(len(pieces), "at")
    found = spread.mapInArrow(partial(_each_piece, work=work), "at long, made binary")
    return [pickle.loads(row["made"]) for row in found.orderBy("at").collect()]


# -- in the workers --------------------------------------------------------------------------------


def _blocks(batches: Iterator[pa.RecordBatch], plan: _Plan) -> Iterator[pa.RecordBatch]:
    """Pack rows for the tasks that they go to."""
    for table in regrouped(batches, _BLOCK):
        rows = table.combine_chunks()
        if plan.key is None:
            yield block(plan.tasks(None), rows)
            continue
        values = rows.column(plan.key).combine_chunks().dictionary_encode()
        where = [tuple(plan.tasks(value)) for value in values.dictionary.to_pylist()]
        distinct = list(dict.fromkeys(where))
        numbers = {tasks: number for number, tasks in enumerate(distinct)}
        of = np.array([numbers[tasks] for tasks in where], np.int64)[np.asarray(values.indices)]
        for number, tasks in enumerate(distinct):
            yield block(list(tasks), rows.take(pa.array(np.flatnonzero(of == number))))


def block(tasks: list[int], rows: pa.Table) -> pa.RecordBatch:
    """Return rows as one block that goes to some tasks."""
    kinds = pa.list_(pa.int32()), pa.binary()
    return pa.RecordBatch.from_arrays(
        [pa.array([tasks], kinds[0]), pa.array([packed(rows)], kinds[1])], ["tasks", "rows"]
    )


def _each_piece(
    batches: Iterator[pa.RecordBatch], work: Callable[[Any], Any]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            made = pickle.dumps(work(pickle.loads(row["piece"])))
            yield pa.RecordBatch.from_pydict({"at": [row["at"]], "made": [made]})


def _worked(batches: Iterator[pa.RecordBatch], plan: _Plan, work: Work) -> Iterator[pa.RecordBatch]:
    found: dict[int, list[pa.Table]] = {}
    for batch in batches:
        for task, data in zip(batch.column("task"), batch.column("rows"), strict=True):
            found.setdefault(task.as_py(), []).append(unpacked(data.as_py()))
    for task in sorted(found):
        rows = pa.concat_tables(found.pop(task)).combine_chunks()
        yield from work(rows, plan.shares[task]).to_batches(max_chunksize=_BLOCK)

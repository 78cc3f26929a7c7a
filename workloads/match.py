"""match: notifications against filters, and for each the interfaces that are to be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posetlib.array_types import IntArray
from posetlib.arrays.batch_matching import Audience, interfaces_of
from posetlib.arrays.covering import minimal_by_group
from posetlib.arrays.positions import Vocabulary, encode_notifications
from posetlib.arrays.ranges import FilterRanges
from posetlib.constraints.types import TypeHierarchy
from posetlib.matching import BitmapMatcher, has_index
from posetlib.models import read_notification
from workloads.errors import InputError
from workloads.expression_rows import expressions_of_task
from workloads.files import Place
from workloads.jobs import Options, job_on
from workloads.rows import by_key, columns_of, packed, regrouped, unpacked
from workloads.shares import BLOCKS, block, parallelism, sent_to_tasks, task_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["match", "matched"]

#: Filters that are dealt out at a time, and those of a block at most: of half a megabyte or more,
#: Java puts each into room of its own, and the heap grows.
_FILTERS: Final = 1 << 16
_OF_A_TASK: Final = 1 << 12
#: Notifications of a block.
_NOTIFICATIONS: Final = 4096
_ANSWER: Final = "id long, interfaces array<string>"
#: Answers are divided by the ids of their notifications into so many blocks at least, so that those
#: of one block are few enough to be in memory at once.
_BUCKETS: Final = 64
#: Characters of a notification that an error shows.
_SHOWN: Final = 200


def match(
    session: SparkSession,
    workload: Place,
    out: Place,
    *,
    expressions: bool | None = None,
    **options: Unpack[Options],
) -> dict[str, Any]:
    """Write the interfaces of each notification: its id, and their names in order.

    Texts are expressions if the workload says so, or if ``expressions`` does.
    """
    with job_on(session, workload, out, expressions=expressions or None, **options) as job:
        notifications = job.read.notifications
        if notifications is None:
            raise InputError(f"the workload at {workload.path} has no notifications to match")
        answers = matched(job.rows, notifications, job.read.types, expressions=job.expressions)
        answers.write.mode("append").parquet(job.place.path)
        return job.done("_match.json", {})


def matched(
    filters: DataFrame,
    notifications: DataFrame,
    types: TypeHierarchy | None,
    *,
    expressions: bool = False,
) -> DataFrame:
    """Return (id, interfaces) for each notification: every task has all of them, and some filters.

    A task holds its filters as columns, and goes through the notifications some thousand at a time.
    Filters with paths are held in a matcher, which asks all paths at once; so are expressions. What
    the tasks find of the same notifications meets in blocks, which are put together one by one.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    tasks = task_names(parallelism(filters.sparkSession))
    names = [name for name in filters.columns if name != "id"]
    blocks = filters.select(names).mapInArrow(partial(_dealt_out, tasks=tasks), BLOCKS)
    told = notifications.select(f.col("id").cast("long"), "notification").mapInArrow(
        partial(_to_everyone, tasks=tasks), BLOCKS
    )
    both = blocks.withColumn("told", f.lit(False)).union(told.withColumn("told", f.lit(True)))
    parts = int(filters.sparkSession.conf.get("spark.sql.shuffle.partitions") or 2)
    match_all = partial(
        _matched, types=types, expressions=expressions, buckets=max(parts, _BUCKETS)
    )
    found = sent_to_tasks(both, len(tasks)).mapInArrow(match_all, "bucket int, rows binary")
    met = found.repartition(parts, "bucket").sortWithinPartitions("bucket")
    return met.mapInArrow(_put_together, _ANSWER)


def _dealt_out(batches: Iterator[pa.RecordBatch], tasks: list[int]) -> Iterator[pa.RecordBatch]:
    """Pack filters, as many for each task."""
    for table in regrouped(batches, min(_FILTERS, _OF_A_TASK * len(tasks))):
        for at, task in enumerate(tasks):
            some = np.arange(at, table.num_rows, len(tasks))
            yield block([task], table.take(pa.array(some)))


def _to_everyone(batches: Iterator[pa.RecordBatch], tasks: list[int]) -> Iterator[pa.RecordBatch]:
    """Pack notifications for all tasks."""
    for table in regrouped(batches, _NOTIFICATIONS):
        yield block(tasks, table)


def read_notifications(texts: Sequence[str | None], ids: Sequence[int]) -> list[dict[str, Any]]:
    """Return notifications from text; InputError names the first that is none."""
    made = []
    for text, id_ in zip(texts, ids, strict=True):
        try:
            made.append(read_notification(text or ""))
        except ValueError as error:
            shown = repr(text if text is None or len(text) <= _SHOWN else text[:_SHOWN] + "…")
            raise InputError(
                f"the notification with id {id_} cannot be read: {error}: {shown}"
            ) from None
    return made


def _matched(
    batches: Iterator[pa.RecordBatch],
    types: TypeHierarchy | None,
    *,
    expressions: bool,
    buckets: int,
) -> Iterator[pa.RecordBatch]:
    """Match the filters of a task with all notifications."""
    blocks: list[pa.Table] = []
    told: list[pa.Table] = []
    for batch in batches:
        for is_told, data in zip(batch.column("told"), batch.column("rows"), strict=True):
            (told if is_told.as_py() else blocks).append(unpacked(data.as_py()))
    mine = None
    if blocks:
        mine = expressions_of_task(blocks, types) if expressions else _read_filters(blocks, types)
    for rows in told:
        ids = np.asarray(rows.column("id"))
        offsets, wanted = np.zeros(len(ids) + 1, np.int32), pa.array([], pa.string())
        if mine is not None:
            texts = rows.column("notification").to_pylist()
            which, interfaces = mine.wanted(read_notifications(texts, ids.tolist()))
            offsets = np.searchsorted(which, np.arange(len(ids) + 1)).astype(np.int32)
            wanted = mine.names.take(pa.array(interfaces))
        lists = pa.ListArray.from_arrays(pa.array(offsets), wanted)
        yield from _in_buckets(pa.table({"id": ids, "interfaces": lists}), buckets)


def _in_buckets(answers: pa.Table, buckets: int) -> Iterator[pa.RecordBatch]:
    """Pack answers by what their ids leave when divided: those of one id meet in one bucket."""
    left = np.asarray(answers.column("id")) % buckets
    order = np.argsort(left, kind="stable")
    answers, left = answers.take(pa.array(order)), left[order]
    starts = np.flatnonzero(np.diff(left, prepend=-1))
    made = [
        packed(answers.slice(start, stop - start))
        for start, stop in pairwise([*starts.tolist(), len(left)])
    ]
    yield pa.RecordBatch.from_arrays(
        [pa.array(left[starts], pa.int32()), pa.array(made, pa.binary())], ["bucket", "rows"]
    )


def _put_together(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return one row for each notification of each bucket: names in order, each of them once."""
    for blocks in by_key(batches, "bucket"):
        rows = pa.concat_tables([unpacked(data.as_py()) for data in blocks.column("rows")])
        ids, at = np.unique(np.asarray(rows.column("id")), return_inverse=True)
        lists = rows.column("interfaces").combine_chunks()
        names = lists.flatten().dictionary_encode()
        order = np.asarray(pc.sort_indices(names.dictionary)).astype(np.int64)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        lengths = np.asarray(lists.value_lengths())
        span = max(1, len(order))
        both = np.unique(np.repeat(at, lengths) * span + rank[np.asarray(names.indices)])
        offsets = np.searchsorted(both // span, np.arange(len(ids) + 1)).astype(np.int32)
        told = names.dictionary.take(pa.array(order[both % span]))
        yield pa.RecordBatch.from_arrays(
            [pa.array(ids), pa.ListArray.from_arrays(pa.array(offsets), told)],
            ["id", "interfaces"],
        )


@dataclass(frozen=True)
class _Filters:
    """The filters of a task: as arrays, and those that are matched through an index of a kind."""

    ranges: FilterRanges
    #: The number of the interface of each filter, in ascending order.
    codes: IntArray
    #: Filters with a constraint whose kind brings an index, such as paths; by interface.
    matcher: BitmapMatcher
    #: The names of interfaces by number.
    names: pa.StringArray

    def wanted(self, notifications: list[dict[str, Any]]) -> tuple[IntArray, IntArray]:
        """Return the numbers of notifications and of interfaces that want them, in order."""
        points = encode_notifications(notifications, list(self.ranges.lows), self.ranges.vocabulary)
        which, interfaces = interfaces_of(Audience(points), self.ranges, self.codes)
        if not len(self.matcher):
            return which, interfaces
        pairs = [
            (at, interface)
            for at, found in enumerate(self.matcher.match_many(notifications))
            for interface in found
        ]
        asked = np.array(pairs, np.int64).reshape(-1, 2)
        both = np.unique(np.concatenate([np.stack([which, interfaces], axis=1), asked]), axis=0)
        return both[:, 0], both[:, 1]


def _read_filters(blocks: list[pa.Table], types: TypeHierarchy | None) -> _Filters:
    """Return filters in order of their interfaces, without those that these do not need."""
    rows = pa.concat_tables(blocks).combine_chunks()
    blocks.clear()
    names = rows.column("interface").combine_chunks().dictionary_encode()
    codes = np.asarray(names.indices).astype(np.int64)
    columns = columns_of(rows, Vocabulary(), types)
    indexed = [row for row, each in columns.filters.items() if has_index(each)]
    matcher = BitmapMatcher((columns.filters[row], int(codes[row])) for row in indexed)
    if indexed:
        others = np.setdiff1d(np.arange(len(codes)), indexed)
        columns, codes = columns.take(others), codes[others]
    kept = minimal_by_group(columns, codes)
    kept = kept[np.argsort(codes[kept], kind="stable")]
    return _Filters(columns.take(kept), codes[kept], matcher, names.dictionary)

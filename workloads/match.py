"""match: notifications against filters, and for each the interfaces that are to be told."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pyarrow as pa

from posetlib.array_types import IntArray
from posetlib.arrays.batch_matching import Audience, interfaces_of
from posetlib.arrays.covering import minimal_by_group
from posetlib.arrays.positions import Vocabulary, encode_notifications
from posetlib.arrays.ranges import FilterRanges
from posetlib.constraints.types import TypeHierarchy
from workloads.errors import InputError
from workloads.files import Place
from workloads.jobs import Options, job_on
from workloads.rows import columns_of, packed, regrouped, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["match", "matched"]

#: Rows of a block of filters, and of notifications.
_FILTERS: Final = 1 << 16
_NOTIFICATIONS: Final = 4096
_ANSWER: Final = "id long, interfaces array<string>"


def match(
    session: SparkSession, workload: Place, out: Place, **options: Unpack[Options]
) -> dict[str, Any]:
    """Write the interfaces of each notification: its id, and their names in order."""
    with job_on(session, workload, out, **options) as job:
        notifications = job.read.notifications
        if notifications is None:
            raise InputError(f"the workload at {workload.path} has no notifications to match")
        answers = matched(job.rows, notifications, job.read.types)
        answers.write.mode("append").parquet(job.place.path)
        return job.done("_match.json", {})


def matched(filters: DataFrame, notifications: DataFrame, types: TypeHierarchy | None) -> DataFrame:
    """Return (id, interfaces) for each notification, by joining blocks with blocks."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    names = [name for name in filters.columns if name != "id"]
    blocks = filters.select("id", *names).mapInArrow(
        partial(_filter_blocks, types=types), "block long, filters binary"
    )
    points = notifications.select("id", "notification").mapInArrow(
        _notification_blocks, "points binary"
    )
    pairs = points.crossJoin(blocks)
    found = pairs.mapInArrow(partial(_matched, types=types), _ANSWER)
    # One empty answer for each, so that what nobody wants is there as well.
    nothing = f.array().cast("array<string>").alias("interfaces")
    found = found.union(notifications.select(f.col("id").cast("long"), nothing))
    lists = f.flatten(f.collect_list("interfaces"))
    return found.groupBy("id").agg(f.array_sort(f.array_distinct(lists)).alias("interfaces"))


def _filter_blocks(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    """Pack filters, without those that their own interface does not need."""
    for table in regrouped(batches, _FILTERS):
        rows = table.combine_chunks()
        vocabulary = Vocabulary()
        columns = columns_of(rows, vocabulary, types)
        codes = np.asarray(rows.column("interface").combine_chunks().dictionary_encode().indices)
        kept = minimal_by_group(columns, codes.astype(np.int64))
        rows = rows.take(pa.array(kept))
        first = rows.column("id")[0].as_py()
        yield pa.RecordBatch.from_pydict({"block": [first], "filters": [packed(rows)]})


def _notification_blocks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for table in regrouped(batches, _NOTIFICATIONS):
        yield pa.RecordBatch.from_pydict({"points": [packed(table)]})


def read_notifications(texts: Sequence[str | None], ids: Sequence[int]) -> list[dict[str, Any]]:
    """Return notifications from JSON; InputError names the first that is none."""
    made = []
    for text, id_ in zip(texts, ids, strict=True):
        try:
            one = json.loads(text or "")
        except ValueError:
            one = None
        if not isinstance(one, dict):
            raise InputError(f"the notification with id {id_} is no JSON object: {text!r}")
        made.append(one)
    return made


@lru_cache(maxsize=4)
def _read_points(data: bytes) -> tuple[IntArray, list[dict[str, Any]]]:
    rows = unpacked(data)
    ids = np.asarray(rows.column("id"))
    return ids, read_notifications(rows.column("notification").to_pylist(), ids.tolist())


@lru_cache(maxsize=4)
def _read_filters(
    data: bytes, types: TypeHierarchy | None
) -> tuple[FilterRanges, IntArray, list[str]]:
    rows = unpacked(data)
    names = rows.column("interface").combine_chunks().dictionary_encode()
    codes = np.asarray(names.indices).astype(np.int64)
    return columns_of(rows, Vocabulary(), types), codes, names.dictionary.to_pylist()


def _matched(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for points, data in zip(batch.column("points"), batch.column("filters"), strict=True):
            ids, notifications = _read_points(points.as_py())
            filters, codes, names = _read_filters(data.as_py(), types)
            found = encode_notifications(notifications, list(filters.lows), filters.vocabulary)
            which, interfaces = interfaces_of(Audience(found), filters, codes)
            offsets = np.searchsorted(which, np.arange(len(ids) + 1)).astype(np.int32)
            told = pa.array(names, pa.string()).take(pa.array(interfaces))
            yield pa.RecordBatch.from_arrays(
                [pa.array(ids), pa.ListArray.from_arrays(pa.array(offsets), told)],
                ["id", "interfaces"],
            )

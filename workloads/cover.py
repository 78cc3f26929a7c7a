"""cover: the minimal cover of a whole workload; of parts, and then of all."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pyarrow as pa

from posetlib.array_types import BoolArray, IntArray
from posetlib.arrays.covering import Block, beaten_rows, minimal, strength
from posetlib.arrays.positions import Vocabulary
from posetlib.arrays.ranges import FilterRanges
from posetlib.constraints.types import TypeHierarchy
from workloads.datasets import ddl
from workloads.files import Place
from workloads.jobs import Options, job_on, require_own_ids
from workloads.rows import columns_of
from workloads.shares import Share, parallelism, worked_in_shares

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["cover", "local_cover", "minimal_cover"]

#: How many of the strongest filters every other one is held against first, and in what steps.
_CHAMPIONS: Final = (4, 12, 48)
#: Champions are chosen from this many filters of the cover, the strongest, by a sample of as many
#: rows.
_SAMPLE: Final = 4096
#: A champion covers at least one in 512 rows of the sample beyond what those before it do:
#: among filters that cover little, the search for champions takes longer than all they save.
_LEAST_SHARE: Final = 512
#: Rows that wait until they are reduced to their cover.
_PENDING: Final = 1 << 15
#: The largest cover that is one file, and whose ids are sent to everyone.
_FEW: Final = 1 << 20


def cover(
    session: SparkSession, workload: Place, out: Place, **options: Unpack[Options]
) -> dict[str, Any]:
    """Write the minimal cover of a workload: of equivalent filters the one with the lowest id."""
    with job_on(session, workload, out, **options) as job:
        found = minimal_cover(job.rows, job.read.types).select("id")
        chosen = job.read.filters.select("id", "filter", "interface")
        count = _write_chosen(session, chosen, found, job.place)
        return job.done("_cover.json", {"filters": count})


def _write_chosen(session: SparkSession, rows: DataFrame, ids: DataFrame, place: Place) -> int:
    """Write the rows with some ids, in their order, and return how many there are."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    ids = ids.persist()
    try:
        count, first, last = ids.agg(f.count_distinct("id"), f.min("id"), f.max("id")).collect()[0]
        if count:
            # The bounds let whole groups of rows be skipped; a join finds the rows among the rest.
            rows = rows.where(f.col("id").between(first, last))
        chosen = rows.join(f.broadcast(ids) if count <= _FEW else ids, "id", "left_semi")
        if count <= _FEW:
            chosen = chosen.repartition(1).sortWithinPartitions("id")
        else:
            chosen = chosen.sort("id")
        chosen.write.mode("append").parquet(place.path)
    finally:
        ids.unpersist()
    require_own_ids(session, place, count)
    return int(count)


def minimal_cover(rows: DataFrame, types: TypeHierarchy | None) -> DataFrame:
    """Return the rows of the minimal cover: that of each part, then what no other part beats.

    Every task has the covers of all parts, and holds a share of them against all.
    """
    names = [name for name in rows.columns if name not in ("interface", "interfaces", "index")]
    rows = rows.select(names)
    parts = rows.mapInArrow(partial(local_cover, types=types), rows.schema)
    work = partial(_unbeaten_of_share, types=types)
    return worked_in_shares(parts, work, ddl(rows), parallelism(rows.sparkSession))


def _unbeaten_of_share(rows: pa.Table, share: Share, types: TypeHierarchy | None) -> pa.Table:
    """Return those of a share that no row beats, of all."""
    rows = rows.sort_by("id").combine_chunks()
    ids = np.asarray(rows.column("id"))
    columns = columns_of(rows, Vocabulary(), types)
    some = share.rows(len(ids))
    # What is beaten within the share need not be held against all.
    some = some[minimal(columns.take(some), ids[some])]
    beaten = beaten_rows(columns.take(some), ids[some], columns, ids)
    return rows.take(pa.array(some[~beaten]))


def local_cover(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part that no other row of it covers.

    The cover so far has some champions that cover most of what comes; what they leave waits to be
    reduced together with it, until there is as much of it as of the cover.
    """
    kept: pa.Table | None = None
    champions: FilterRanges | None = None
    waiting: list[pa.RecordBatch] = []
    count = 0
    vocabulary = Vocabulary()
    for batch in batches:
        if not batch.num_rows:
            continue
        columns = columns_of(batch, vocabulary, types)
        left = np.arange(batch.num_rows) if champions is None else _unbeaten(champions, columns)
        if not len(left):
            continue
        waiting.append(batch.take(pa.array(left)))
        count += len(left)
        if count >= max(_PENDING, 0 if kept is None else kept.num_rows) or champions is None:
            kept, champions = _reduced(kept, waiting, vocabulary, types)
            waiting, count = [], 0
    if waiting:
        kept, _ = _reduced(kept, waiting, vocabulary, types)
    if kept is not None:
        yield from kept.to_batches()


def _reduced(
    kept: pa.Table | None,
    waiting: list[pa.RecordBatch],
    vocabulary: Vocabulary,
    types: TypeHierarchy | None,
) -> tuple[pa.Table, FilterRanges]:
    table = pa.Table.from_batches(waiting)
    if kept is not None:
        table = pa.concat_tables([kept, table])
    table = table.combine_chunks()
    columns = columns_of(table, vocabulary, types)
    rows = minimal(columns, np.asarray(table.column("id")))
    return table.take(pa.array(rows)), _champions(columns, columns.take(rows))


def _champions(columns: FilterRanges, best: FilterRanges) -> FilterRanges:
    """Return the plain filters of a cover that cover most of a sample, in order of what they add.

    Greedy: each is the one that covers most of what those before it leave.
    """
    plain = np.flatnonzero(best.plain)
    if len(plain) > _SAMPLE:
        plain = plain[np.argsort(-strength(best)[plain], kind="stable")[:_SAMPLE]]
    step = max(1, len(columns) // _SAMPLE)
    sample = np.arange(0, len(columns), step)[:_SAMPLE]
    bits = Block(columns.take(sample)).covered(best, plain)
    chosen: list[int] = []
    while len(chosen) < sum(_CHAMPIONS):
        gain = np.bitwise_count(bits).sum(axis=1)
        if not len(gain) or gain.max() * _LEAST_SHARE < len(sample):
            break
        at = int(gain.argmax())
        chosen.append(at)
        bits &= ~bits[at]
    return best.take(plain[np.array(chosen, np.int64)])


def _equal(
    champions: FilterRanges, one: int, columns: FilterRanges, left: IntArray, covered: BoolArray
) -> BoolArray:
    """Return which of the covered filters are the champion itself, or say the same."""
    rows = np.flatnonzero(covered)
    for name in columns.lows:
        for ends, mine in ((columns.lows, champions.lows), (columns.highs, champions.highs)):
            if name in mine:
                rows = rows[ends[name][left[rows]] == mine[name][one]]
    same = np.zeros(len(left), np.bool_)
    same[rows] = True
    return same


def _unbeaten(champions: FilterRanges, columns: FilterRanges) -> IntArray:
    """Return the rows that no champion covers: a few are tried on all, more on what is left."""
    left = np.flatnonzero(columns.firm)
    others = np.flatnonzero(~columns.firm)
    start = 0
    for size in _CHAMPIONS:
        for one in range(start, min(start + size, len(champions))):
            covered = np.ones(len(left), np.bool_)
            for name, lows in champions.lows.items():
                low, high = lows[one], champions.highs[name][one]
                if name not in columns.lows:
                    covered &= bool(low == np.iinfo(np.int64).min)
                    continue
                covered &= columns.lows[name][left] >= low
                covered &= columns.highs[name][left] <= high
            left = left[~covered | _equal(champions, one, columns, left, covered)]
        start += size
    return np.sort(np.concatenate([left, others])) if len(others) else left

"""build: a table of a workload's filters, in parallel, as Parquet nodes and edges."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posetlib.arrays.positions import Vocabulary
from posetlib.arrays.ranges import FilterRanges
from posetlib.constraints.types import TypeHierarchy
from posetlib.filters.filter import Filter
from posetlib.tables import Table, structure_named, structure_names
from posetlib.tables.filter_relation import ByAttribute
from workloads.build_shares import NODES, InShares, Made, built_in_shares
from workloads.datasets import SNAPSHOT_FORMAT, ddl
from workloads.errors import InputError
from workloads.files import Place
from workloads.jobs import Job, Options, job_on, require_own_ids
from workloads.merged_roots import write_merged
from workloads.rows import by_key, columns_of
from workloads.shares import parallelism

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["build", "nodes_and_edges", "tables"]

#: The kind of filters that may be comparable with those of any type.
_ANY: Final = ""
_ROWS_OF_A_FILE: Final = 200_000


def build(
    session: SparkSession,
    workload: Place,
    structure: str,
    out: Place,
    *,
    local: bool = False,
    operations: bool = False,
    merging: str | None = None,
    **options: Unpack[Options],
) -> dict[str, Any]:
    """Write the table of a workload's filters, or of what its operations leave.

    Types that no filter spans are tables of their own, built side by side, and a large one by many
    tasks (see ``build_shares``). A node has the id of the first filter that it stands for. With
    ``merging``, "perfect" or "imperfect", the merged root set is written beside it.
    """
    kind = structure_named(structure)
    if local and not kind.promises.may_be_local:
        fitting = [each for each in structure_names() if _may_be_local(each)]
        raise InputError(f"--local is for {' and '.join(fitting)}, not for {structure}")
    with job_on(session, workload, out, operations=operations, **options) as job:
        types = job.read.types
        made = tables(session, job.rows, kind, local, types)
        try:
            count = _write_table(session, job, made.nodes, operations)
        finally:
            made.release()
        if merging is not None:
            write_merged(session, job.place, types, perfect=merging == "perfect")
        header: dict[str, Any] = {
            "format": SNAPSHOT_FORMAT,
            "version": 1,
            "structure": structure,
            **({"local": True} if local else {}),
            **({"types": types.to_dict()} if types is not None else {}),
            **({"operations": True} if operations else {}),
        }
        return job.done("snapshot.json", header) | {"nodes": count}


def _may_be_local(structure: str) -> bool:
    return structure_named(structure).promises.may_be_local


def _write_table(session: SparkSession, job: Job, made: DataFrame, operations: bool) -> int:
    """Write nodes and edges in order of their ids, and return how many nodes there are."""
    made = made.persist()
    try:
        count = made.count()
        files = -(-count // _ROWS_OF_A_FILE) or 1
        origin = job.source.dropDuplicates(["id"]) if operations else job.source
        nodes, edges = nodes_and_edges(made, origin)
        _in_order(nodes, files, "id").write.parquet(job.place.child("nodes").path)
        _in_order(edges, files, "child", "parent").write.parquet(job.place.child("edges").path)
    finally:
        made.unpersist()
    require_own_ids(session, job.place.child("nodes"), count)
    return count


def nodes_and_edges(made: DataFrame, origin: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return the nodes with the texts and typed columns of their filters, and the edges."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    kept = [name for name in origin.columns if name not in _NOT_OF_NODES]
    nodes = made.drop("parents").join(origin.select("id", *kept), "id")
    first = ["id", "filter", "interfaces", "index"]
    nodes = nodes.select(*first, *(name for name in kept if name != "filter"))
    edges = made.select(f.explode("parents").alias("parent"), f.col("id").alias("child"))
    return nodes, edges


def _in_order(rows: DataFrame, files: int, *keys: str) -> DataFrame:
    """Return rows in order of their keys; a few as one file, for which nothing is sampled."""
    if files == 1:
        return rows.repartition(1).sortWithinPartitions(*keys)
    return rows.repartitionByRange(files, *keys).sortWithinPartitions(*keys)


_NOT_OF_NODES: Final = frozenset(
    {"id", "interface", "sequence", "operation", "interfaces", "index"}
)


def tables(
    session: SparkSession,
    rows: DataFrame,
    structure: type[Table[Any]],
    local: bool,
    types: TypeHierarchy | None,
) -> Made:
    """Return the nodes of the tables of all types, each with the ids of its parents.

    From columns and in shares, where these settle it; else by adding, one task for a type.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    promises = structure.promises
    found = rows.mapInArrow(partial(_kinds_in, types=types), "kind string, rows long, other long")
    kinds = found.groupBy("kind").agg(f.sum("rows").alias("rows"), f.sum("other").alias("other"))
    counted = {each["kind"]: each for each in kinds.collect()}
    # Without typed columns for a type, there is none that a filter of any kind does not span.
    typed = "ranges" in rows.columns or "type" in rows.columns
    together = not typed or _ANY in counted
    if not any(each["other"] for each in counted.values()):
        parts = parallelism(session)
        of_kinds = {kind: int(each["rows"]) for kind, each in counted.items()}
        shares = InShares(parts, sum(of_kinds.values()), None if together else of_kinds)
        if not together:
            rows = rows.mapInArrow(partial(_with_kinds, types=types), f"{ddl(rows)}, kind string")
        made = built_in_shares(rows, promises, shares, local=local, types=types)
        if made is not None:
            return made
        rows = rows.drop("kind")
    make = partial(_each_kind, structure=structure, local=local, types=types)
    if together:
        # A filter of no single type may cover, or be covered by, filters of any.
        return Made(rows.withColumn("kind", f.lit(_ANY)).repartition(1).mapInArrow(make, NODES))
    # A task for each type, as far as their hashes keep them apart; one for all if need be.
    ordered = rows.mapInArrow(partial(_with_kinds, types=types), f"{ddl(rows)}, kind string")
    ordered = ordered.repartition("kind").sortWithinPartitions("kind")
    return Made(ordered.mapInArrow(make, NODES))


def _kinds_in(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    """Count the filters of each type, and those that columns do not say all of."""
    for batch in batches:
        if not batch.num_rows:
            continue
        columns = columns_of(batch, Vocabulary(), types)
        counts = pc.value_counts(_kinds(columns))
        other = dict.fromkeys(counts.field("values").to_pylist(), 0)
        other[next(iter(other))] = int(np.count_nonzero(~columns.plain))
        yield pa.RecordBatch.from_arrays(
            [counts.field("values"), counts.field("counts"), pa.array(other.values(), pa.int64())],
            ["kind", "rows", "other"],
        )


def _kinds(columns: FilterRanges) -> pa.Array:
    """Return the one type that each filter asks for, or that it asks for none."""
    sort = ByAttribute()
    kinds = columns.strings("type")
    for row, one in columns.filters.items():
        kind = sort.of(one)
        kinds[row] = kind if isinstance(kind, str) else None
    return pa.array([kind or _ANY for kind in kinds], pa.string())


def _with_kinds(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    """Add the type of each filter."""
    for batch in batches:
        made = _kinds(columns_of(batch, Vocabulary(), types))
        yield pa.RecordBatch.from_arrays([*batch.columns, made], [*batch.schema.names, "kind"])


def _each_kind(
    batches: Iterator[pa.RecordBatch],
    structure: type[Table[Any]],
    local: bool,
    types: TypeHierarchy | None,
) -> Iterator[pa.RecordBatch]:
    for rows in by_key(batches, "kind"):
        yield from _table_rows(rows, structure, local, types).to_batches()


def _table_rows(
    rows: pa.Table, structure: type[Table[Any]], local: bool, types: TypeHierarchy | None
) -> pa.Table:
    """Return the nodes of one table, by adding filter after filter."""
    order = "sequence" if "sequence" in rows.schema.names else "id"
    rows = rows.sort_by(order).combine_chunks()
    columns = columns_of(rows, Vocabulary(), types)
    ids = np.asarray(rows.column("id"))
    filters = [columns.filter(row) for row in range(rows.num_rows)]
    interfaces = rows.column("interface").to_pylist()
    options: dict[str, Any] = {"local": True} if local else {}
    if order == "id":
        table = structure.build(zip(filters, interfaces, strict=True), **options)
    else:
        # By its class: what the driver has registered, a worker need not have.
        table = structure(**options)
        for what, one, interface in zip(
            rows.column("operation").to_pylist(), filters, interfaces, strict=True
        ):
            table.add(one, interface) if what == "add" else table.discard(one, interface)
    return _snapshot_rows(table, filters, ids.tolist())


def _snapshot_rows(table: Table[Any], filters: list[Filter], ids: list[int]) -> pa.Table:
    first: dict[Filter, int] = {}
    for one, id_ in zip(filters, ids, strict=True):
        first.setdefault(one, id_)
    snapshot = table.snapshot()
    names = {node.id: first[node.item] for node in snapshot.nodes}
    parents: dict[int, list[int]] = {node.id: [] for node in snapshot.nodes}
    for parent, child in snapshot.edges:
        parents[child].append(names[parent])
    return pa.table(
        {
            "id": pa.array([names[node.id] for node in snapshot.nodes], pa.int64()),
            "interfaces": pa.array(
                [list(node.interfaces) for node in snapshot.nodes], pa.list_(pa.string())
            ),
            "index": pa.array(
                [None if node.index is None else sorted(map(str, node.index))
                 for node in snapshot.nodes], pa.list_(pa.string())
            ),
            "parents": pa.array([parents[node.id] for node in snapshot.nodes],
                                pa.list_(pa.int64())),
        }
    )  # fmt: skip

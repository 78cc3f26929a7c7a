"""build: a table of a workload's filters, in parallel by event type, as Parquet nodes and edges."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pyarrow as pa

from posetlib.array_types import IntArray
from posetlib.arrays.building import BuiltTable, build_forest, build_order, is_small_enough
from posetlib.arrays.edges import Outline
from posetlib.arrays.positions import Vocabulary
from posetlib.arrays.ranges import FilterRanges
from posetlib.constraints.types import TypeHierarchy
from posetlib.filters.filter import Filter
from posetlib.tables import Shape, Table, structure_named, structure_names
from posetlib.tables.filter_relation import ByAttribute
from posetlib.tables.promises import Elimination, Promises
from workloads.datasets import SNAPSHOT_FORMAT, ddl
from workloads.errors import InputError
from workloads.files import Place
from workloads.jobs import Job, Options, job_on, require_own_ids
from workloads.merged_roots import write_merged
from workloads.rows import by_key, columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["build", "built_table", "is_determined"]

#: The kind of filters that may be comparable with those of any type.
_ANY: Final = ""
_ROWS_OF_A_FILE: Final = 200_000
_MADE: Final = "id long, interfaces array<string>, index array<string>, parents array<long>"


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

    Types that no filter spans are tables of their own, built side by side. A node has the id of the
    first filter that it stands for. With ``merging``, "perfect" or "imperfect", the merged root set
    is written beside it.
    """
    kind = structure_named(structure)
    if local and not kind.promises.may_be_local:
        fitting = [each for each in structure_names() if _may_be_local(each)]
        raise InputError(f"--local is for {' and '.join(fitting)}, not for {structure}")
    with job_on(session, workload, out, operations=operations, **options) as job:
        types = job.read.types
        made = _tables(job.rows, kind, local, types)
        count = _write_table(session, job, made, operations)
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
    from pyspark.sql import functions as f  # noqa: PLC0415

    made = made.persist()
    try:
        count = made.count()
        files = -(-count // _ROWS_OF_A_FILE) or 1
        # The texts and typed columns of the filters go along as they are.
        origin = job.source.dropDuplicates(["id"]) if operations else job.source
        kept = [name for name in origin.columns if name not in _NOT_OF_NODES]
        nodes = made.drop("parents").join(origin.select("id", *kept), "id")
        first = ["id", "filter", "interfaces", "index"]
        nodes = nodes.select(*first, *(name for name in kept if name != "filter"))
        _in_order(nodes, files, "id").write.parquet(job.place.child("nodes").path)
        edges = made.select(f.explode("parents").alias("parent"), f.col("id").alias("child"))
        _in_order(edges, files, "child", "parent").write.parquet(job.place.child("edges").path)
    finally:
        made.unpersist()
    require_own_ids(session, job.place.child("nodes"), count)
    return count


def _in_order(rows: DataFrame, files: int, *keys: str) -> DataFrame:
    """Return rows in order of their keys; a few as one file, for which nothing is sampled."""
    if files == 1:
        return rows.repartition(1).sortWithinPartitions(*keys)
    return rows.repartitionByRange(files, *keys).sortWithinPartitions(*keys)


_NOT_OF_NODES: Final = frozenset(
    {"id", "interface", "sequence", "operation", "interfaces", "index"}
)


def _tables(
    rows: DataFrame, structure: type[Table[Any]], local: bool, types: TypeHierarchy | None
) -> DataFrame:
    """Return the nodes of the tables of all types, each with the ids of its parents."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    make = partial(_each_kind, structure=structure, local=local, types=types)
    kinds = rows.mapInArrow(partial(_with_kinds, types=types), f"{ddl(rows)}, kind string")
    # Without typed columns for a type, there is none that a filter of any kind does not span.
    typed = "ranges" in rows.columns or "type" in rows.columns
    if not typed or not kinds.where(f.col("kind") == _ANY).isEmpty():
        # A filter of no single type may cover, or be covered by, filters of any.
        return rows.withColumn("kind", f.lit(_ANY)).repartition(1).mapInArrow(make, _MADE)
    # A task for each type, as far as their hashes keep them apart; one for all if need be.
    ordered = kinds.repartition("kind").sortWithinPartitions("kind")
    return ordered.mapInArrow(make, _MADE)


def _with_kinds(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    """Add the one type that each filter asks for, or that it asks for none."""
    sort = ByAttribute()
    for batch in batches:
        columns = columns_of(batch, Vocabulary(), types)
        kinds = columns.strings("type")
        for row, one in columns.filters.items():
            kind = sort.of(one)
            kinds[row] = kind if isinstance(kind, str) else None
        made = pa.array([kind or _ANY for kind in kinds], pa.string())
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
    """Return the nodes of one table: from columns where these settle it, else by adding."""
    order = "sequence" if "sequence" in rows.schema.names else "id"
    rows = rows.sort_by(order).combine_chunks()
    columns = columns_of(rows, Vocabulary(), types)
    ids = np.asarray(rows.column("id"))
    names = rows.column("interface").combine_chunks().dictionary_encode()
    codes = np.asarray(names.indices).astype(np.int64)
    promises = structure.promises
    if order == "id" and is_determined(promises, columns, codes, local=local):
        made = built_table(promises, columns, codes, local=local)
        return _built_rows(made, ids, names.dictionary, indexed=promises.interface_index)
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


def is_determined(
    promises: Promises, columns: FilterRanges, interfaces: IntArray, *, local: bool
) -> bool:
    """Return whether the table is determined by its pairs, and these by arrays."""
    if not columns.all_plain:
        return False
    if promises.shape is not Shape.FOREST:
        return is_small_enough(columns)
    return (
        promises.elimination is Elimination.EVERYWHERE
        or local
        or len(np.unique(interfaces)) == len(interfaces)
    )


def built_table(
    promises: Promises, columns: FilterRanges, interfaces: IntArray, *, local: bool
) -> BuiltTable:
    """Return a table that is determined by its pairs, from arrays."""
    make = build_forest if promises.shape is Shape.FOREST else build_order
    return make(columns, interfaces, local=local)


def _built_rows(made: BuiltTable, ids: IntArray, names: pa.Array, *, indexed: bool) -> pa.Table:
    """Return the nodes of a table that was made from columns."""
    count = len(made.rows)
    held = pa.ListArray.from_arrays(
        pa.array(np.searchsorted(made.pair_nodes, np.arange(count + 1)).astype(np.int32)),
        names.take(pa.array(made.pair_interfaces)),
    )
    order = np.argsort(made.children, kind="stable")
    offsets = np.searchsorted(made.children[order], np.arange(count + 1)).astype(np.int32)
    parents = pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(ids[made.rows[made.parents[order]]])
    )
    kind = pa.list_(pa.string())
    index = pa.array(_index(made, held.to_pylist()), kind) if indexed else pa.nulls(count, kind)
    return pa.table(
        {"id": pa.array(ids[made.rows]), "interfaces": held, "index": index, "parents": parents}
    )


def _index(made: BuiltTable, held: list[list[str]]) -> list[list[str]]:
    """Return the interfaces below each node of a forest, children before parents."""
    below: list[set[str]] = [set() for _ in held]
    outline = Outline.of(np.arange(len(held)), made.parents, made.children)
    above = dict(zip(made.children.tolist(), made.parents.tolist(), strict=True))
    enter, _ = outline.intervals()
    # A walk enters children after their parents: so it is gone through backwards.
    for node in np.argsort(-enter).tolist():
        parent = above.get(node)
        if parent is not None:
            below[parent].update(below[node], held[node])
    return [sorted(each) for each in below]


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

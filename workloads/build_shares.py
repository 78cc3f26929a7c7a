"""Tables from columns, in shares: the pairs that are held, then the links of each share of nodes.

1. The pairs: those of each interface that no other of its own covers, where a table eliminates
   everywhere; what adds and removals leave of each interface; otherwise all.
2. The links: every task has the filters of all nodes, and finds the parents of its share of them.
3. In forests that eliminate along branches, or list the interfaces below each node, the links of
   all nodes are put together once more: what falls away along the branches is worked out by each
   task, and the lists by each for its share of nodes.

Tables that depend on the order of what was done are not built here: forests that eliminate along
branches, after removals by interfaces that held filters which cover one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posetlib.array_types import IntArray
from posetlib.arrays.building import (
    BuiltTable,
    forest_parents,
    interfaces_below,
    node_pairs,
    order_parents,
    replayed,
    settle_forest,
)
from posetlib.arrays.covering import beaten_rows, minimal_by_group
from posetlib.arrays.positions import Vocabulary
from posetlib.arrays.ranges import FilterRanges
from posetlib.constraints.types import TypeHierarchy
from posetlib.tables.promises import Elimination, Promises, Shape
from workloads.datasets import ddl
from workloads.rows import by_key, columns_of
from workloads.shares import Share, worked_in_shares

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["NODES", "InShares", "Made", "built_in_shares"]

#: The nodes of a table as a job makes them.
NODES: Final = "id long, interfaces array<string>, index array<string>, parents array<long>"
_LIST: Final = pa.list_(pa.string())


@dataclass(frozen=True)
class InShares:
    """How rows are divided: into so many parts, by the kinds of filters, with the rows of each."""

    parts: int
    rows: int
    kinds: Mapping[str, int] | None = None

    def of_kinds(self, rows: DataFrame, work: Any, schema: str) -> DataFrame:
        """Return what tasks find that have all rows of a kind."""
        key = None if self.kinds is None else "kind"
        return worked_in_shares(
            rows, work, schema, self.parts, key=key, counts=self.kinds, total=self.rows
        )


@dataclass
class Made:
    """The nodes of a table, and what was kept for them until they are written."""

    nodes: DataFrame
    kept: list[DataFrame] = field(default_factory=list)

    def release(self) -> None:
        """Let go of what was kept."""
        for each in self.kept:
            each.unpersist()


def built_in_shares(
    rows: DataFrame,
    promises: Promises,
    shares: InShares,
    *,
    local: bool,
    types: TypeHierarchy | None,
) -> Made | None:
    """Return the nodes of a table of plain filters; None if it depends on the order of operations.

    With columns ``sequence`` and ``operation`` the rows are adds and removals.
    """
    forest = promises.shape is Shape.FOREST
    along = forest and not local and promises.elimination is Elimination.ALONG_PATHS
    kept: list[DataFrame] = []
    if "sequence" in rows.columns:
        rows = _after_operations(rows, eliminates=not local, types=types).persist()
        kept.append(rows)
        if along and not rows.where("not clean").isEmpty():
            rows.unpersist()
            return None
        rows = rows.where("id is not null").drop("clean")
    elif not local and not along:
        rows = _of_interfaces(rows, shares, types)
    settles = along or promises.interface_index
    link = partial(_linked, forest=forest, settles=settles, types=types)
    if not settles:
        return Made(shares.of_kinds(rows, link, NODES), kept)
    linked = shares.of_kinds(rows, link, f"{ddl(rows)}, node long, parent long")
    settle = partial(_settled, along=along, indexed=promises.interface_index, types=types)
    return Made(shares.of_kinds(linked, settle, NODES), kept)


# -- pairs -----------------------------------------------------------------------------------------


def _of_interfaces(rows: DataFrame, shares: InShares, types: TypeHierarchy | None) -> DataFrame:
    """Return the pairs that no other of their interface covers."""
    counted = rows.groupBy("interface").count().orderBy("count", ascending=False)
    # No others have more than half of what a task should have.
    most = counted.limit(2 * shares.parts).collect()
    less = rows.mapInArrow(partial(_thinned, types=types), rows.schema)
    return worked_in_shares(
        less,
        partial(_unbeaten, types=types),
        ddl(rows),
        shares.parts,
        key="interface",
        counts={each["interface"]: each["count"] for each in most},
        total=shares.rows,
    )


def _thinned(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    """Leave out pairs that another one of their batch makes redundant."""
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        yield from _minimal_pairs(rows, types).to_batches()


def _minimal_pairs(rows: pa.Table, types: TypeHierarchy | None) -> pa.Table:
    rows = rows.sort_by("id").combine_chunks()
    columns, codes, _ = _read(rows, types)
    return rows.take(pa.array(minimal_by_group(columns, codes)))


def _unbeaten(rows: pa.Table, share: Share, types: TypeHierarchy | None) -> pa.Table:
    if share.of == 1:
        return _minimal_pairs(rows, types)
    rows = rows.sort_by("id").combine_chunks()
    columns, codes, _ = _read(rows, types)
    columns = columns.with_group(codes)
    some = share.rows(rows.num_rows)
    ids = np.arange(rows.num_rows)
    beaten = beaten_rows(columns.take(some), ids[some], columns, ids)
    return rows.take(pa.array(some[~beaten]))


def _after_operations(
    rows: DataFrame, *, eliminates: bool, types: TypeHierarchy | None
) -> DataFrame:
    """Return the pairs that are held after all operations.

    Each interface is replayed by itself. Rows that are not ``clean`` tell of interfaces that held
    filters which cover one another.
    """
    names = [name for name in rows.columns if name not in ("sequence", "operation")]
    ordered = rows.repartition("interface").sortWithinPartitions("interface", "sequence")
    work = partial(_replayed, eliminates=eliminates, names=names, types=types)
    return ordered.mapInArrow(work, f"{ddl(rows.select(names))}, clean boolean")


def _replayed(
    batches: Iterator[pa.RecordBatch],
    eliminates: bool,
    names: list[str],
    types: TypeHierarchy | None,
) -> Iterator[pa.RecordBatch]:
    for rows in by_key(batches, "interface"):
        adds = np.asarray(pc.equal(rows.column("operation"), "add").to_numpy())
        columns = columns_of(rows.combine_chunks(), Vocabulary(), types)
        held, clean = replayed(columns, adds.astype(np.bool_), eliminates=eliminates)
        found = rows.select(names).take(pa.array(held))
        found = found.append_column("clean", pa.array(np.full(len(held), clean)))
        if not clean and not len(held):
            # Nothing is left to tell it by.
            nothing = {name: pa.nulls(1, found.schema.field(name).type) for name in names}
            found = pa.table({**nothing, "clean": pa.array([False])})
        yield from found.to_batches()


# -- links -----------------------------------------------------------------------------------------


def _read(
    rows: pa.Table, types: TypeHierarchy | None
) -> tuple[FilterRanges, IntArray, pa.StringArray]:
    """Return the filters of rows, the codes of their interfaces, and the names of these."""
    names = rows.column("interface").combine_chunks().dictionary_encode()
    codes = np.asarray(names.indices).astype(np.int64)
    return columns_of(rows, Vocabulary(), types), codes, names.dictionary


def _linked(
    rows: pa.Table, share: Share, forest: bool, settles: bool, types: TypeHierarchy | None
) -> pa.Table:
    """Return the nodes of a share with their parents; or their rows, if more is to be done."""
    rows = rows.sort_by("id").combine_chunks()
    columns, codes, names = _read(rows, types)
    made, filters, pair_rows = node_pairs(columns, codes)
    some = share.rows(len(made.rows))
    ids = np.asarray(rows.column("id"))[made.rows]
    if forest:
        parents = forest_parents(filters, some)
        children = some[parents >= 0]
        made.parents, made.children = parents[parents >= 0], children
    else:
        made.parents, made.children = order_parents(filters, some)
    if not settles:
        return _node_rows(made, some, ids, names)
    parent = np.full(len(ids), -1)
    parent[made.children] = made.parents
    own = np.isin(made.pair_nodes, some)
    nodes = made.pair_nodes[own]
    found = rows.take(pa.array(pair_rows[own]))
    above = pa.array(ids[parent[nodes]], mask=parent[nodes] < 0)
    return found.append_column("node", pa.array(ids[nodes])).append_column("parent", above)


def _settled(
    rows: pa.Table, share: Share, along: bool, indexed: bool, types: TypeHierarchy | None
) -> pa.Table:
    """Return the nodes of a share of a forest, all of whose links are known."""
    rows = rows.sort_by("id").combine_chunks()
    columns, codes, names = _read(rows, types)
    ids, first, nodes = np.unique(
        np.asarray(rows.column("node")), return_index=True, return_inverse=True
    )
    above = rows.column("parent").take(pa.array(first)).combine_chunks()
    children = np.flatnonzero(np.asarray(pc.is_valid(above)))
    parents = np.searchsorted(ids, np.asarray(pc.fill_null(above, 0))[children])
    order = np.argsort(nodes, kind="stable")
    made = BuiltTable(np.arange(len(ids)), nodes[order], codes[order], parents, children)
    if along:
        made = settle_forest(made, columns.take(first))
        ids = ids[made.rows]
    some = share.rows(len(ids))
    return _node_rows(made, some, ids, names, indexed=indexed)


def _node_rows(
    made: BuiltTable, some: IntArray, ids: IntArray, names: pa.StringArray, *, indexed: bool = False
) -> pa.Table:
    """Return some nodes as rows of a table."""
    inner = np.isin(made.children, some)
    where = np.searchsorted(some, made.children[inner])
    parents = _lists(where, pa.array(ids[made.parents[inner]]), len(some))
    own = np.isin(made.pair_nodes, some)
    where = np.searchsorted(some, made.pair_nodes[own])
    held = _lists(where, names.take(pa.array(made.pair_interfaces[own])), len(some))
    index = pa.nulls(len(some), _LIST)
    if indexed:
        # In order of their names, as everywhere.
        order = np.asarray(pc.sort_indices(names)).astype(np.int64)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        made.pair_interfaces = rank[made.pair_interfaces]
        at, interfaces = interfaces_below(made, some)
        index = _lists(at, names.take(pa.array(order)).take(pa.array(interfaces)), len(some))
    return pa.table(
        {"id": pa.array(ids[some]), "interfaces": held, "index": index, "parents": parents}
    )


def _lists(where: IntArray, values: pa.Array, count: int) -> pa.ListArray:
    """Return lists of values, each of which says in which list it is."""
    order = np.argsort(where, kind="stable")
    offsets = np.searchsorted(where[order], np.arange(count + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values.take(pa.array(order)))

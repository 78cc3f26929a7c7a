"""What all checks of a snapshot share: its filters, its links, who holds what, and texts to show.

The driver keeps the links: 8 bytes for a node, 16 for an edge, 16 for an interface of a node or of
its index. The filters stay with the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posetlib.array_types import BoolArray, IntArray
from posetlib.arrays.edges import Outline
from posetlib.constraints.types import TypeHierarchy
from posetlib.tables import Promises, structure_named
from workloads.blocks import Filters, typed_names
from workloads.datasets import BadRows, SnapshotFiles, Workload, is_typed, typed
from workloads.errors import InputError
from workloads.reports import WITNESSES
from workloads.rows import packed

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Context", "Holdings", "open_context", "texts_by_id"]

#: The texts of a table of no more bytes are all collected at once.
_FEW_BYTES: Final = 1 << 20


@dataclass
class Holdings:
    """Pairs of a node's number and an interface's, in order of the nodes."""

    nodes: IntArray
    interfaces: IntArray


@dataclass
class Context:
    """A snapshot that can be checked: every id is there once, and every edge has two ends."""

    session: SparkSession
    files: SnapshotFiles
    filters: Filters
    outline: Outline
    #: The names of the interfaces, and who holds them; those in the index apart.
    names: list[str]
    held: Holdings
    listed: Holdings
    #: Which nodes say what is below them: a node without an index says nothing.
    says: BoolArray
    #: At which nodes the typed columns say what the text says.
    agrees: BoolArray
    bad: BadRows
    workload: Workload | None
    other: SnapshotFiles | None
    neighbours: list[str] | None
    notifications: int
    skip_bad: bool
    #: The nodes with typed columns, where they are.
    nodes: DataFrame
    #: What may be collected or sent to all workers, in bytes.
    limit: int
    #: How many violations of an invariant are shown with what they are.
    shown: int = WITNESSES
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def structure(self) -> str:
        """The short name of the structure."""
        return self.files.structure

    @property
    def promises(self) -> Promises:
        """What the structure promises."""
        return structure_named(self.structure).promises

    @cached_property
    def kept(self) -> frozenset[str]:
        """The names of the invariants that the table should keep."""
        return self.promises.invariants(local=self.files.local)

    @property
    def types(self) -> TypeHierarchy | None:
        """The hierarchy of the snapshot's filters."""
        return self.files.types

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return self.outline.count

    @property
    def edge_count(self) -> int:
        """The number of edges."""
        return len(self.outline.parents)

    @cached_property
    def shared_outline(self) -> Broadcast[Outline]:
        """The links, on every worker."""
        return self.session.sparkContext.broadcast(self.outline)

    def close(self) -> None:
        """Let go of what was sent to the workers or kept there."""
        self.filters.close()
        if "shared_outline" in self.__dict__:
            self.__dict__.pop("shared_outline").destroy()

    @contextmanager
    def workload_filters(self) -> Iterator[DataFrame]:
        """Give the workload's filters with typed columns, where these are what the texts say."""
        workload = self.workload
        assert workload is not None
        doubtful = is_typed(workload.filters) and self.workload_columns[1] > 0
        with typed(
            workload.filters,
            workload.types,
            "the workload's filters",
            skip_bad=self.skip_bad,
            verify=doubtful,
        ) as (rows, _):
            yield rows

    @cached_property
    def workload_columns(self) -> tuple[int, int, list[tuple[int, str]]]:
        """The number of the workload's rows, of those whose columns are wrong, and the first."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        workload = self.workload
        assert workload is not None
        with typed(
            workload.filters,
            workload.types,
            "the workload's filters",
            skip_bad=self.skip_bad,
            verify=True,
        ) as (rows, _):
            differs = f.sum(f.when(f.col("agrees"), 0).otherwise(1))
            count, wrong = rows.agg(f.count("id"), differs).collect()[0]
            some = []
            if wrong:
                bad = rows.where(~f.col("agrees")).orderBy("id").limit(WITNESSES)
                some = [(row["id"], row["filter"]) for row in bad.collect()]
            return count, wrong or 0, some

    @cached_property
    def roots(self) -> IntArray:
        """The numbers of the nodes without a parent."""
        return np.flatnonzero(self.outline.is_root())

    @cached_property
    def _all_texts(self) -> dict[int, str]:
        """The texts of a small table: one job for all witnesses."""
        rows = self.files.nodes.select("id", "filter").collect()
        return {row["id"]: row["filter"] for row in rows}

    def require_known_neighbours(self) -> None:
        """Refuse a neighbour that no node knows: it is more likely misspelt than idle."""
        unknown = sorted(set(self.neighbours or ()) - set(self.names))
        if unknown:
            some = ", ".join(sorted(self.names)[:10])
            more = ", …" if len(self.names) > 10 else ""
            raise InputError(
                f"--neighbours: no node has the interface {', '.join(unknown)}; "
                f"there are {some or 'none'}{more}"
            )

    def ids(self, numbers: Iterable[int]) -> list[int]:
        """Return the ids of nodes by their numbers."""
        return [int(self.outline.ids[each]) for each in numbers]

    def texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the texts of some filters, by number."""
        wanted = sorted(set(numbers))
        if wanted and self.files.size <= _FEW_BYTES:
            found = self._all_texts
        else:
            found = texts_by_id(self.files.nodes, self.ids(wanted))
        return {each: found[int(self.outline.ids[each])] for each in wanted}


def texts_by_id(rows: DataFrame, ids: list[int]) -> dict[int, str]:
    """Return the texts of a few rows."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    if not ids:
        return {}
    found = rows.where(f.col("id").isin(ids)).select("id", "filter").collect()
    return {row["id"]: row["filter"] for row in found}


@contextmanager
def open_context(
    session: SparkSession,
    files: SnapshotFiles,
    workload: Workload | None,
    other: SnapshotFiles | None,
    *,
    neighbours: list[str] | None,
    notifications: int,
    skip_bad: bool,
    limit: int,
    shown: int = WITNESSES,
) -> Iterator[Context]:
    """Give a snapshot ready to be checked; InputError if it is not well formed."""
    with typed(
        files.nodes, files.types, "the snapshot's nodes", skip_bad=skip_bad, verify=True
    ) as (nodes, bad):
        table, with_filters = _collected(nodes, files, limit)
        ids = _ids(table.column("id"))
        _check_lists(table)
        edges = files.edges.select("parent", "child").toArrow()
        outline = _outline(ids, edges, skip_lost=bad.count > 0)
        texts, held, listed = _holdings(table)
        filters = _filters(session, nodes, ids, table if with_filters else None, files.types, limit)
        context = Context(
            session,
            files,
            filters,
            outline,
            texts,
            held,
            listed,
            _flags(table, "index", lambda column: column.is_valid(), otherwise=False),
            _flags(table, "agrees", lambda column: column, otherwise=True),
            bad,
            workload,
            other,
            neighbours,
            notifications,
            skip_bad,
            nodes,
            limit,
            shown,
        )
        try:
            yield context
        finally:
            context.close()


def _flags(
    table: pa.Table, name: str, flags: Callable[[pa.ChunkedArray], Any], *, otherwise: bool
) -> BoolArray:
    """Return what a column says of each node; if it is not there, the same of all."""
    if name not in table.schema.names:
        return np.full(table.num_rows, otherwise)
    return np.asarray(flags(table.column(name)).to_numpy(), np.bool_)


def _collected(nodes: DataFrame, files: SnapshotFiles, limit: int) -> tuple[pa.Table, bool]:
    """Return the nodes in order of their ids: who holds them, and if they are few the filters."""
    columns = ["id", "interfaces", *(set(nodes.columns) & {"index", "agrees"})]
    with_filters = 4 * files.size <= limit
    if with_filters:
        columns += typed_names(nodes)
    return nodes.select(columns).toArrow().sort_by("id").combine_chunks(), with_filters


def _filters(
    session: SparkSession,
    nodes: DataFrame,
    ids: IntArray,
    table: pa.Table | None,
    types: TypeHierarchy | None,
    limit: int,
) -> Filters:
    """Return the filters by the numbers of the nodes, collected up to a size in bytes."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    names = typed_names(nodes)
    numbers = np.arange(len(ids))
    rows = nodes.select(f.col("id").cast("long").alias("number"), *names)
    if not np.array_equal(ids, numbers):
        by_id = session.createDataFrame(pa.table({"id": ids, "number": numbers}))
        rows = nodes.select("id", *names).join(by_id, "id").select("number", *names)
    if table is None and len(ids) * 8 * (len(names) + 2) <= limit:
        table = rows.toArrow().sort_by("number")
    data = None
    if table is not None:
        data = packed(table.select(names).append_column("number", pa.array(numbers)))
    if data is None or len(data) > limit:
        return Filters(session, rows.persist(), len(ids), types, None, kept=True)
    return Filters(session, rows, len(ids), types, data)


def _ids(column: pa.ChunkedArray) -> IntArray:
    if column.null_count:
        raise InputError("a node has no id")
    ids = np.asarray(column).astype(np.int64)
    values, counts = np.unique(ids, return_counts=True)
    several = np.flatnonzero(counts > 1)
    if len(several):
        first = counts[several[0]]
        nodes = "two" if first == 2 else f"{first:,}"
        others = len(several) - 1
        more = f", and {others:,} more ids are there more than once" if others else ""
        raise InputError(f"{nodes} nodes have the id {values[several[0]]}{more}")
    return ids


def _check_lists(table: pa.Table) -> None:
    """Refuse lists with a name that is none, or is there twice; no list is an empty one."""
    for name in ("interfaces", "index"):
        if name not in table.schema.names:
            continue
        column = table.column(name).combine_chunks()
        wrong = np.zeros(len(column), np.bool_)
        parents = np.asarray(pc.list_parent_indices(column)).astype(np.int64)
        values = pc.list_flatten(column)
        wrong[parents[np.asarray(pc.is_null(values))]] = True
        codes = np.asarray(pc.fill_null(values.dictionary_encode().indices, -1)).astype(np.int64)
        order = np.lexsort((codes, parents))
        same = (np.diff(parents[order]) == 0) & (np.diff(codes[order]) == 0)
        wrong[parents[order][1:][same]] = True
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"node {table.column('id')[at].as_py()}: {name} is {column[at].as_py()}, "
                "not a list of names, each once"
            )


def _outline(ids: IntArray, edges: pa.Table, *, skip_lost: bool) -> Outline:
    ends = []
    for name in ("parent", "child"):
        if edges.column(name).null_count:
            raise InputError(f"an edge has no {name}")
        ends.append(np.asarray(edges.column(name)).astype(np.int64))
    parents, children = ends
    known = np.ones(len(parents), np.bool_)
    for end in ends:
        at = np.minimum(np.searchsorted(ids, end), max(0, len(ids) - 1))
        there = ids[at] == end if len(ids) else np.zeros(len(end), np.bool_)
        if not skip_lost and not there.all():
            row = int(np.flatnonzero(~there)[0])
            raise InputError(
                f"edge [{parents[row]}, {children[row]}] refers to node {end[row]}, "
                "which is not there"
            )
        known &= there
    parents, children = parents[known], children[known]
    order = np.lexsort((children, parents))
    parents, children = parents[order], children[order]
    twice = np.flatnonzero((parents[1:] == parents[:-1]) & (children[1:] == children[:-1]))
    if len(twice):
        raise InputError(f"edge [{parents[twice[0]]}, {children[twice[0]]}] is there twice")
    return Outline.of(ids, parents, children)


def _holdings(table: pa.Table) -> tuple[list[str], Holdings, Holdings]:
    columns = [
        table.column(name).combine_chunks() if name in table.schema.names else None
        for name in ("interfaces", "index")
    ]
    nothing = pa.array([], pa.string())
    values = [nothing if each is None else pc.list_flatten(each) for each in columns]
    encoded = pa.chunked_array([each.cast(pa.string()) for each in values]).combine_chunks()
    coded = encoded.dictionary_encode()
    texts: list[str] = coded.dictionary.to_pylist()
    codes = np.asarray(coded.indices).astype(np.int64)
    held: list[Holdings] = []
    start = 0
    for column, flat in zip(columns, values, strict=True):
        parents = (
            np.zeros(0, np.int64)
            if column is None
            else np.asarray(pc.list_parent_indices(column)).astype(np.int64)
        )
        held.append(Holdings(parents, codes[start : start + len(flat)]))
        start += len(flat)
    return texts, held[0], held[1]

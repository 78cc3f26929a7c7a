"""What all checks of a snapshot share: its filters, its links, who holds what, and texts to show.

The driver keeps the links: 8 bytes for a node, 16 for an edge, 16 for an interface of a node or of
its index. The filters stay with the workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posetlib.constraints.types import TypeHierarchy
from workloads.blocks import Filters, typed_names
from workloads.columns import Integers
from workloads.datasets import BadRows, SnapshotFiles, Workload, typed
from workloads.errors import InputError
from workloads.outline import Outline

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import SparkSession

__all__ = ["Context", "Holdings", "open_context"]


@dataclass
class Holdings:
    """Pairs of a node's number and an interface's, in order of the nodes."""

    nodes: Integers
    interfaces: Integers


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
    #: Whether any node says what is below it.
    indexed: bool
    bad: BadRows
    workload: Workload | None
    other: SnapshotFiles | None
    neighbours: list[str] | None
    notifications: int
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def structure(self) -> str:
        """The short name of the structure."""
        return self.files.structure

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

    @cached_property
    def roots(self) -> Integers:
        """The numbers of the nodes without a parent."""
        return np.flatnonzero(self.outline.is_root())

    def ids(self, numbers: Iterable[int]) -> list[int]:
        """Return the ids of nodes by their numbers."""
        return [int(self.outline.ids[each]) for each in numbers]

    def texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the texts of some filters, by number."""
        wanted = sorted(set(numbers))
        if not wanted:
            return {}
        from pyspark.sql import functions as f  # noqa: PLC0415

        rows = self.files.nodes.where(f.col("id").isin(self.ids(wanted)))
        found = {row["id"]: row["filter"] for row in rows.select("id", "filter").collect()}
        return {each: found[int(self.outline.ids[each])] for each in wanted}


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
) -> Context:
    """Return a snapshot ready to be checked; InputError if it is not well formed."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    nodes, bad = typed(files.nodes, files.types, "the snapshot's nodes", skip_bad=skip_bad)
    names = typed_names(nodes)
    indexed = "index" in nodes.columns
    table = nodes.select("id", "interfaces", *(["index"] if indexed else [])).toArrow()
    table = table.sort_by("id").combine_chunks()
    ids = _ids(table.column("id"))
    _check_lists(table)
    edges = files.edges.select("parent", "child").toArrow()
    outline = _outline(ids, edges, skip_lost=bad.count > 0)
    rows = nodes.select(f.col("id").cast("long").alias("number"), *names)
    if not np.array_equal(ids, np.arange(len(ids))):
        numbers = session.createDataFrame(pa.table({"id": ids, "number": np.arange(len(ids))}))
        rows = nodes.select("id", *names).join(numbers, "id").drop("id")
        rows = rows.select("number", *names)
    filters = Filters.of(session, rows, len(ids), files.types, limit)
    if filters.shared is None:
        filters.rows = rows.persist()
    texts, held, listed = _holdings(table)
    return Context(
        session,
        files,
        filters,
        outline,
        texts,
        held,
        listed,
        indexed and (not len(ids) or table.column("index").null_count < len(ids)),
        bad,
        workload,
        other,
        neighbours,
        notifications,
    )


def _ids(column: pa.ChunkedArray) -> Integers:
    if column.null_count:
        raise InputError("a node has no id")
    ids = np.asarray(column).astype(np.int64)
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if len(twice):
        raise InputError(f"two nodes have the id {ids[twice[0]]}")
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


def _outline(ids: Integers, edges: pa.Table, *, skip_lost: bool) -> Outline:
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

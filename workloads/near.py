"""A table whose links and columns are small enough for the driver and for every worker.

The driver keeps the links: 8 bytes for a node, 16 for an edge, 16 for an interface of a node or of
its index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posetlib.array_types import BoolArray, IntArray
from posetlib.arrays.edges import Outline
from workloads.blocks import Filters, typed_names
from workloads.context import Context, twice_told
from workloads.errors import InputError
from workloads.rows import packed

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

    from workloads.context import Asked
    from workloads.datasets import BadRows, SnapshotFiles

__all__ = ["Holdings", "NearContext", "open_near"]


@dataclass
class Holdings:
    """Pairs of a node's number and an interface's, in order of the nodes."""

    nodes: IntArray
    interfaces: IntArray


@dataclass
class NearContext(Context):
    """A table of which the driver has all links, and every worker all columns."""

    filters: Filters = field(kw_only=True)
    outline: Outline = field(kw_only=True)
    #: The names of the interfaces in order, and who holds them; those in the index apart.
    names: list[str] = field(kw_only=True)
    held: Holdings = field(kw_only=True)
    listed: Holdings = field(kw_only=True)
    #: Which nodes say what is below them: a node without an index says nothing.
    says: BoolArray = field(kw_only=True)
    #: At which nodes the typed columns say what the text says.
    agrees: BoolArray = field(kw_only=True)

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
    def roots(self) -> IntArray:
        """The numbers of the nodes without a parent."""
        return np.flatnonzero(self.outline.is_root())

    def close(self) -> None:
        """Let go of what was sent to the workers or kept there."""
        self.filters.close()
        if "shared_outline" in self.__dict__:
            self.__dict__.pop("shared_outline").destroy()

    def ids(self, numbers: Iterable[int]) -> list[int]:
        """Return the ids of nodes by their numbers."""
        return [int(self.outline.ids[each]) for each in numbers]

    def interface_names(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the names of some interfaces by their numbers."""
        return {each: self.names[each] for each in numbers}

    def unknown_names(self, names: Iterable[str], some: int) -> tuple[list[str], list[str]]:
        """Return those of some names that no interface has, and the first names there are."""
        return sorted(set(names) - set(self.names)), self.names[:some]


def open_near(
    session: SparkSession, files: SnapshotFiles, asked: Asked, nodes: DataFrame, bad: BadRows
) -> NearContext | None:
    """Collect a table; None if that is more than may be sent, InputError if it is not well formed.

    At most a few times the limit is in the driver before this is known.
    """
    names = typed_names(nodes)
    beside = set(nodes.columns) & {"index", "agrees"}
    table = nodes.select("id", "interfaces", *beside, *names).toArrow()
    table = table.sort_by("id").combine_chunks()
    numbers = pa.array(np.arange(table.num_rows))
    data = packed(table.select(names).append_column("number", numbers))
    if len(data) > asked.limit:
        return None
    ids = _ids(table.column("id"))
    _check_lists(table)
    edges = files.edges.select("parent", "child").toArrow()
    outline = _outline(ids, edges, skip_lost=bad.count > 0)
    texts, held, listed = _holdings(table)
    return NearContext(
        session,
        files,
        asked,
        bad,
        nodes,
        filters=Filters(session, len(ids), files.types, data),
        outline=outline,
        names=texts,
        held=held,
        listed=listed,
        says=_flags(table, "index", lambda column: column.is_valid(), otherwise=False),
        agrees=_flags(table, "agrees", lambda column: column, otherwise=True),
    )


def _flags(
    table: pa.Table, name: str, flags: Callable[[pa.ChunkedArray], Any], *, otherwise: bool
) -> BoolArray:
    """Return what a column says of each node; if it is not there, the same of all."""
    if name not in table.schema.names:
        return np.full(table.num_rows, otherwise)
    return np.asarray(flags(table.column(name)).to_numpy(), np.bool_)


def _ids(column: pa.ChunkedArray) -> IntArray:
    if column.null_count:
        raise InputError("a node has no id")
    ids = np.asarray(column).astype(np.int64)
    values, counts = np.unique(ids, return_counts=True)
    several = np.flatnonzero(counts > 1)
    if len(several):
        first = several[0]
        raise InputError(twice_told(int(values[first]), int(counts[first]), len(several) - 1))
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
    names: list[str] = coded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    texts = [names[each] for each in order]
    rank = np.zeros(len(names), np.int64)
    rank[order] = np.arange(len(names))
    codes = rank[np.asarray(coded.indices).astype(np.int64)]
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

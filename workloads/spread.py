"""A table that stays with the workers: nodes, links and interfaces as DataFrames, of any size.

Nothing that grows with the nodes comes to the driver: counts do, what is shown of violations, and
of interfaces the names that are shown. Filters meet in two ways. *Blocks* of thousands of rows that
share a group are joined and compared as columns. *Tasks* have rows sent to them: what follows the
links needs all of them, 16 bytes for an edge, and is divided by interfaces or notifications.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from posetlib.array_types import IntArray
from posetlib.arrays.edges import Outline
from posetlib.constraints.types import TypeHierarchy
from workloads.blocks import VOCABULARY, Compare, Filters, parts_of, typed_names
from workloads.context import Context, twice_told
from workloads.errors import InputError
from workloads.pairs import BlockRows, Found
from workloads.rows import columns_of, packed, regrouped, unpacked
from workloads.session import is_remote
from workloads.shares import BLOCKS, block, sent_to_tasks, task_names

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from workloads.context import Asked
    from workloads.datasets import BadRows, SnapshotFiles

__all__ = [
    "LINKS",
    "Arrived",
    "SpreadContext",
    "found_rows",
    "in_tasks",
    "kept_rows",
    "open_spread",
    "outline_of",
    "selection",
]

#: Ids beyond these are replaced by numbers, so that there is one below and one above all of them.
_FAR: Final = 1 << 62
#: Edges and other rows of a block that goes to a task.
_ROWS: Final = 1 << 16
#: The rows of a task by what they are.
Arrived: TypeAlias = dict[str, pa.Table]
#: The name of the edges among them.
LINKS: Final = "links"
_FOUND: Final = "total long, one long, other long, label long"


def selection(
    rows: DataFrame, number: str, group: Column | None = None, label: Column | None = None
) -> DataFrame:
    """Return nodes to be compared: only those of one group are, and a comparison sees labels."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    zero = f.lit(0).cast("long")
    columns = {"number": f.col(number), "group": group, "label": label}
    return rows.select(
        *((zero if each is None else each).alias(name) for name, each in columns.items())
    )


@dataclass
class SpreadContext(Context):
    """A table of which the driver has counts alone."""

    #: number, interfaces, index, agrees, and the columns that say what a filter is.
    rows: DataFrame = field(kw_only=True)
    #: parent, child: numbers.
    edges: DataFrame = field(kw_only=True)
    counted: tuple[int, int] = field(kw_only=True)
    #: number and id, where a number is not the id itself.
    numbered: DataFrame | None = field(kw_only=True, default=None)
    _kept: list[DataFrame] = field(kw_only=True, default_factory=list)

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return self.counted[0]

    @property
    def edge_count(self) -> int:
        """The number of edges."""
        return self.counted[1]

    @property
    def parts(self) -> int:
        """How many pieces work is divided into."""
        return parts_of(self.session)

    @property
    def pairs(self) -> DataFrame:
        """The ids of the nodes with an interface each, and the columns of their filters."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        rows = self.rows if self.numbered is None else self.rows.join(self.numbered, "number")
        id_ = f.col("number" if self.numbered is None else "id").alias("id")
        return rows.select(id_, f.explode("interfaces").alias("interface"), *typed_names(rows))

    @property
    def filters(self) -> DataFrame:
        """The numbers of the nodes, and the columns that say what their filters are."""
        return self.rows.select("number", *typed_names(self.rows))

    def keep(self, rows: DataFrame) -> DataFrame:
        """Return rows that are computed once, and kept until the table is closed."""
        self._kept.append(_kept(rows))
        return self._kept[-1]

    def close(self) -> None:
        """Let go of what was sent to the workers or kept there."""
        # What was made of other rows that are kept goes before these: Spark would make it anew.
        for each in (*reversed(self._kept), self.edges, self.rows, self.numbered):
            if each is not None:
                _let_go(each)

    def ids(self, numbers: Iterable[int]) -> list[int]:
        """Return the ids of nodes by their numbers."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        wanted = list(map(int, numbers))
        if self.numbered is None or not wanted:
            return wanted
        rows = self.numbered.where(f.col("number").isin(sorted(set(wanted)))).collect()
        known = {row["number"]: row["id"] for row in rows}
        return [known[each] for each in wanted]

    @cached_property
    def roots(self) -> DataFrame:
        """The numbers of the nodes without a parent."""
        children = self.edges.selectExpr("child as number")
        return self.keep(self.rows.select("number").join(children, "number", "left_anti"))

    @cached_property
    def root_count(self) -> int:
        """How many roots there are."""
        return self.roots.count()

    # -- interfaces --------------------------------------------------------------------------------

    @cached_property
    def names(self) -> DataFrame:
        """The interfaces: name and lane, which is their number."""
        from pyspark.sql import Window  # noqa: PLC0415
        from pyspark.sql import functions as f  # noqa: PLC0415

        lists = [name for name in ("interfaces", "index") if name in self.rows.columns]
        every = self.rows.select(f.explode(lists[0]).alias("interface"))
        for name in lists[1:]:
            every = every.union(self.rows.select(f.explode(name)))
        rank = f.row_number().over(Window.orderBy("interface")) - 1
        return self.keep(every.distinct().withColumn("lane", rank.cast("long")))

    @cached_property
    def name_count(self) -> int:
        """How many interfaces there are."""
        return self.names.count()

    @cached_property
    def held(self) -> DataFrame:
        """Pairs of a node's number and the lane of an interface that it has."""
        return self.keep(self._pairs("interfaces"))

    def listed(self) -> DataFrame:
        """Return the pairs of a node's number and a lane that its index lists."""
        return self._pairs("index")

    def _pairs(self, name: str) -> DataFrame:
        from pyspark.sql import functions as f  # noqa: PLC0415

        pairs = self.rows.select("number", f.explode(name).alias("interface"))
        return pairs.join(self.names, "interface").select("number", "lane")

    def interface_names(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the names of some interfaces by their numbers."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        wanted = sorted(set(numbers))
        if not wanted:
            return {}
        rows = self.names.where(f.col("lane").isin(wanted)).collect()
        return {row["lane"]: row["interface"] for row in rows}

    def unknown_names(self, names: Iterable[str], some: int) -> tuple[list[str], list[str]]:
        """Return those of some names that no interface has, and the first names there are."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        wanted = sorted(set(names))
        rows = self.names.where(f.col("interface").isin(wanted)).collect()
        unknown = sorted(set(wanted) - {row["interface"] for row in rows})
        first = self.names.orderBy("lane").limit(some).collect() if unknown else []
        return unknown, [row["interface"] for row in first]

    # -- blocks against blocks ---------------------------------------------------------------------

    def compared(
        self, one: DataFrame, other: DataFrame, compare: Compare, schema: str
    ) -> DataFrame:
        """Return the rows that a function finds in every two blocks that share a group.

        ``one`` and ``other`` are selections; ``compare`` returns an array for each column of the
        schema.
        """
        from pyspark.sql import functions as f  # noqa: PLC0415

        # Made once, also where a selection meets itself, and though joins look at them twice.
        blocks = [self.keep(self._blocks(one))]
        if other is not one:
            blocks.append(self.keep(self._blocks(other)))
        left = blocks[0].toDF("one_first", "one_last", "one")
        right = blocks[-1].toDF("other_first", "other_last", "other")
        shared = (f.col("one_first") <= f.col("other_last")) & (
            f.col("other_first") <= f.col("one_last")
        )
        pairs = left.join(right, shared).select("one", "other").repartition(self.parts)
        work = partial(_each_join, compare=compare, types=self.types, names=_names(schema))
        return pairs.mapInArrow(work, schema)

    def _blocks(self, chosen: DataFrame) -> DataFrame:
        rows = chosen.join(self.filters, "number")
        ordered = rows.repartitionByRange(self.parts, "group", "number").sortWithinPartitions(
            "group", "number"
        )
        return ordered.mapInArrow(
            partial(_packed, size=Filters.size), "first long, last long, rows binary"
        )

    def found(self, one: DataFrame, other: DataFrame, compare: Callable[..., Found]) -> Found:
        """Return what a function finds in blocks, in all and the first of it."""
        return self.sum_of(self.compared(one, other, partial(_as_rows, compare=compare), _FOUND))

    def sum_of(self, parts: DataFrame) -> Found:
        """Return what parts found: rows with a total, and rows of which each is a pair."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        with kept_rows(parts) as rows:
            total = rows.agg(f.sum("total")).collect()[0][0] or 0
            if not total:
                return Found(0, [])
            order = ["one", "other", "label"]
            some = rows.where(f.col("total").isNull()).orderBy(*order).limit(self.shown)
            return Found(total, [tuple(row) for row in some.select(*order).collect()])

    # -- side by side ------------------------------------------------------------------------------

    @cached_property
    def linked(self) -> DataFrame:
        """The edges with the filters of both ends beside each other."""
        return self.keep(self._beside(self.edges, ("parent", "child")))

    def by_edges(self, work: Callable[..., Any], schema: str) -> DataFrame:
        """Return what a function finds in the filters of parents and children side by side."""
        return self._each_beside(self.linked, ("parent", "child"), work, schema)

    def by_rows(self, work: Callable[..., Any], schema: str) -> DataFrame:
        """Return what a function finds in the filters of all nodes, some thousand at a time."""
        rows = self.filters
        named = rows.toDF("n0", *(f"s0_{name}" for name in rows.columns[1:]))
        return self._each_beside(named, ("n0",), work, schema)

    def _beside(self, rows: DataFrame, keys: tuple[str, ...]) -> DataFrame:
        for side, key in reversed(list(enumerate(keys))):
            own = self.filters
            own = own.toDF(key, *(f"s{side}_{name}" for name in own.columns[1:]))
            rows = rows.join(own, key)
        return rows

    def _each_beside(
        self, rows: DataFrame, keys: tuple[str, ...], work: Callable[..., Any], schema: str
    ) -> DataFrame:
        each = partial(_each_side, keys=keys, work=work, types=self.types, names=_names(schema))
        return rows.mapInArrow(each, schema)

    # -- tasks that have all links -----------------------------------------------------------------

    def in_tasks(
        self,
        work: Callable[[Arrived, int], pa.Table],
        schema: str,
        count: int,
        *,
        shared: dict[str, DataFrame] | None = None,
        divided: dict[str, tuple[DataFrame, str]] | None = None,
    ) -> DataFrame:
        """Return what tasks find that have all links, and other rows as ``in_tasks`` says."""
        return in_tasks(
            work, schema, count, shared={LINKS: self.edges, **(shared or {})}, divided=divided
        )


def in_tasks(
    work: Callable[[Arrived, int], pa.Table],
    schema: str,
    count: int,
    *,
    shared: dict[str, DataFrame] | None = None,
    divided: dict[str, tuple[DataFrame, str]] | None = None,
) -> DataFrame:
    """Return what tasks find, each of which has all ``shared`` rows.

    Of ``divided`` rows, a task has those whose key, a number, it is given: every ``count``-th.
    ``work`` is called with the rows that arrived, and the number of the task.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    tasks = task_names(count)
    sides: list[tuple[str, DataFrame, str | None]]
    sides = [(name, rows, None) for name, rows in (shared or {}).items()]
    sides += [(name, rows, key) for name, (rows, key) in (divided or {}).items()]
    every: DataFrame | None = None
    for name, rows, key in sides:
        sent = rows.mapInArrow(partial(_sent, tasks=tasks, key=key), BLOCKS)
        sent = sent.withColumn("what", f.lit(name))
        every = sent if every is None else every.union(sent)
    assert every is not None
    run = partial(_each_task, work=work, numbers={task: at for at, task in enumerate(tasks)})
    return sent_to_tasks(every, count).mapInArrow(run, schema)


@contextmanager
def kept_rows(rows: DataFrame) -> Iterator[DataFrame]:
    """Give rows that are computed once, though they are looked at several times."""
    rows = _kept(rows)
    try:
        yield rows
    finally:
        _let_go(rows)


def _kept(rows: DataFrame) -> DataFrame:
    """Return rows that are computed once.

    A client of Spark Connect sends all that rows are made of with every question, and what is made
    of many such rows outgrows the server: there they are put down, and what they were made of is
    forgotten.
    """
    return rows.localCheckpoint() if is_remote(rows.sparkSession) else rows.persist()


def _let_go(rows: DataFrame) -> None:
    if not is_remote(rows.sparkSession):
        rows.unpersist()


def _names(schema: str) -> list[str]:
    return [each.split()[0] for each in schema.split(",")]


# -- opening ---------------------------------------------------------------------------------------


def open_spread(
    session: SparkSession, files: SnapshotFiles, asked: Asked, nodes: DataFrame, bad: BadRows
) -> SpreadContext:
    """Return a table that stays where it is; InputError if it is not well formed."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    beside = [name for name in ("interfaces", "index", "agrees") if name in nodes.columns]
    names = [*beside, *typed_names(nodes)]
    parts = int(session.conf.get("spark.sql.shuffle.partitions") or 2)
    edges = files.edges.select("parent", "child")
    first, last = nodes.agg(f.min("id"), f.max("id")).collect()[0]
    numbered = None
    rows = nodes.select(f.col("id").cast("long").alias("number"), *names)
    if first is not None and (first <= -_FAR or last >= _FAR):
        numbered = _kept(_numbered(nodes))
        rows = nodes.select("id", *names).join(numbered, "id").select("number", *names)
    rows = _kept(rows.repartition(parts, "number"))
    _check_nodes(rows, nodes, numbered)
    edges = _known_edges(edges, numbered, nodes, skip_lost=bad.count > 0)
    edges = _kept(edges.repartition(parts, "child"))
    context = SpreadContext(
        session,
        files,
        asked,
        bad,
        nodes,
        nobody=-1 if first is None or numbered is not None else min(first, 0) - 1,
        rows=rows,
        edges=edges,
        counted=(rows.count(), edges.count()),
        numbered=numbered,
    )
    try:
        _check_edges(context)
    except BaseException:
        context.close()
        raise
    return context


def _numbered(nodes: DataFrame) -> DataFrame:
    """Return numbers for ids that are too far out; one task sorts them."""
    from pyspark.sql import Window  # noqa: PLC0415
    from pyspark.sql import functions as f  # noqa: PLC0415

    rank = f.row_number().over(Window.orderBy("id")) - 1
    return nodes.select("id").distinct().withColumn("number", rank.cast("long"))


def _check_nodes(rows: DataFrame, nodes: DataFrame, numbered: DataFrame | None) -> None:
    """Refuse ids that are there twice, and lists with a name that is none or is there twice."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    by_id = rows if numbered is None else nodes.withColumnRenamed("id", "number")
    several = by_id.groupBy("number").count().where(f.col("count") > 1)
    ids, first = several.agg(f.count("number"), f.min("number")).collect()[0]
    if ids:
        count = several.where(f.col("number") == first).collect()[0]["count"]
        raise InputError(twice_told(first, count, ids - 1))
    for name in ("interfaces", "index"):
        if name not in rows.columns:
            continue
        column = f.col(name)
        wrong = f.exists(column, lambda each: each.isNull()) | (
            f.size(f.array_distinct(column)) < f.size(column)
        )
        found = by_id.where(column.isNotNull() & wrong).orderBy("number").limit(1).collect()
        if found:
            raise InputError(
                f"node {found[0]['number']}: {name} is {found[0][name]}, "
                "not a list of names, each once"
            )


def _known_edges(
    edges: DataFrame, numbered: DataFrame | None, nodes: DataFrame, *, skip_lost: bool
) -> DataFrame:
    """Return the edges as numbers; those of nodes that were left out are left out as well."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    for name in ("parent", "child"):
        if not edges.where(f.col(name).isNull()).isEmpty():
            raise InputError(f"an edge has no {name}")
        ids = nodes.select(f.col("id").alias(name))
        if numbered is None and not skip_lost:
            continue
        if not skip_lost:
            lost = edges.join(ids, name, "left_anti").orderBy("parent", "child").limit(1).collect()
            if lost:
                raise InputError(_lost_told(lost[0], name))
        edges = edges.join(ids, name, "left_semi")
    if numbered is None:
        return edges
    for name in ("parent", "child"):
        known = numbered.toDF(name, "at")
        edges = edges.join(known, name).drop(name).withColumnRenamed("at", name)
    return edges.select("parent", "child")


def _lost_told(row: Any, name: str) -> str:
    return f"edge [{row['parent']}, {row['child']}] refers to node {row[name]}, which is not there"


def _check_edges(context: SpreadContext) -> None:
    """Refuse an edge without a node at an end, and one that is there twice."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    edges = context.edges
    if context.linked.count() != context.edge_count:
        for name in ("parent", "child"):
            known = context.rows.select(f.col("number").alias(name))
            lost = edges.join(known, name, "left_anti").orderBy("parent", "child").limit(1)
            for row in lost.collect():
                raise InputError(_lost_told(row, name))
    several = edges.groupBy("child", "parent").count().where(f.col("count") > 1)
    for row in several.orderBy("parent", "child").limit(1).collect():
        parent, child = context.ids([row["parent"], row["child"]])
        raise InputError(f"edge [{parent}, {child}] is there twice")


# -- in the workers --------------------------------------------------------------------------------


def _packed(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    for table in regrouped(batches, size):
        groups = np.asarray(table.column("group"))
        yield pa.RecordBatch.from_pydict(
            {"first": [int(groups[0])], "last": [int(groups[-1])], "rows": [packed(table)]}
        )


@lru_cache(maxsize=4)
def _read(data: bytes, types: TypeHierarchy | None) -> BlockRows:
    table = unpacked(data)
    columns = columns_of(table, VOCABULARY, types)
    return BlockRows(
        np.asarray(table.column("number")),
        np.asarray(table.column("label")),
        columns.with_group(np.asarray(table.column("group"))),
    )


def _each_join(
    batches: Iterator[pa.RecordBatch],
    compare: Compare,
    types: TypeHierarchy | None,
    names: list[str],
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for one, other in zip(batch.column("one"), batch.column("other"), strict=True):
            yield _made(compare(_read(one.as_py(), types), _read(other.as_py(), types)), names)


def _made(found: Any, names: Sequence[str]) -> pa.RecordBatch:
    """Return the arrays that a comparison found as rows."""
    arrays = found if isinstance(found, tuple) else (found,)
    return pa.RecordBatch.from_arrays([pa.array(each) for each in arrays], list(names))


def _as_rows(one: BlockRows, other: BlockRows, compare: Callable[..., Found]) -> tuple[Any, ...]:
    return found_rows(compare(one, other))


def found_rows(found: Found) -> tuple[Any, ...]:
    """Return what was found as rows: one with the total, and one for each pair."""
    pairs = [(None, *pair) for pair in found.pairs]
    columns = list(zip(*[(found.total, None, None, None), *pairs], strict=True))
    return tuple(pa.array(each, pa.int64()) for each in columns)


def _each_side(
    batches: Iterator[pa.RecordBatch],
    keys: tuple[str, ...],
    work: Callable[..., Any],
    types: TypeHierarchy | None,
    names: list[str],
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns = []
        for side in range(len(keys)):
            own = [name for name in batch.schema.names if name.startswith(f"s{side}_")]
            rows = pa.table([batch.column(name) for name in own], [name[3:] for name in own])
            columns.append(columns_of(rows, VOCABULARY, types))
        numbers = [np.asarray(batch.column(key)) for key in keys]
        yield _made(work(*columns, *numbers), names)


def _sent(
    batches: Iterator[pa.RecordBatch], tasks: list[int], key: str | None
) -> Iterator[pa.RecordBatch]:
    """Pack rows for all tasks, or each for the one that its key names."""
    for table in regrouped(batches, _ROWS):
        if key is None:
            yield block(tasks, table)
            continue
        own = np.asarray(table.column(key)).astype(np.int64) % len(tasks)
        for at in np.unique(own).tolist():
            yield block([tasks[at]], table.take(pa.array(np.flatnonzero(own == at))))


def _each_task(
    batches: Iterator[pa.RecordBatch],
    work: Callable[[Arrived, int], pa.Table],
    numbers: dict[int, int],
) -> Iterator[pa.RecordBatch]:
    arrived: dict[str, list[pa.Table]] = {}
    task = -1
    for batch in batches:
        for name, at, data in zip(*(batch.column(each) for each in ("what", "task", "rows")),
                                  strict=True):  # fmt: skip
            task = numbers[at.as_py()]
            arrived.setdefault(name.as_py(), []).append(unpacked(data.as_py()))
    if arrived:
        rows = {name: pa.concat_tables(each).combine_chunks() for name, each in arrived.items()}
        yield from work(rows, task).to_batches(max_chunksize=_ROWS)


def outline_of(arrived: Arrived, *others: IntArray) -> Outline:
    """Return the links that arrived at a task, with the nodes of these and of other arrays."""
    ends = [np.zeros(0, np.int64), np.zeros(0, np.int64)]
    if LINKS in arrived:
        ends = [np.asarray(arrived[LINKS].column(name)) for name in ("parent", "child")]
    order = np.lexsort((ends[1], ends[0]))
    return Outline.of(np.unique(np.concatenate([*ends, *others])), ends[0][order], ends[1][order])

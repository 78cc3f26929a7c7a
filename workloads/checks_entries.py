"""entries-served and entries-asked: the pairs of a table against those of the workload.

Equal pairs are found by keys (see ``checks_sameness``); what is left of the workload must be
covered by a pair of the same interface. Little is compared in the driver. More is cut into blocks
in order of the interfaces, and blocks that share one are joined.

With operations, what counts is what they leave. Where elimination reaches the whole table, that is
worked out for each interface by itself. Along paths it depends on the forest which pairs were
eliminated by one that was removed later: such pairs may be there, and need not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from posetlib.array_types import BoolArray
from posetlib.arrays.covering import covered_rows, covering_pairs, covers_rowwise, strength
from posetlib.arrays.positions import Vocabulary
from posetlib.constraints.types import TypeHierarchy
from posetlib.filters.filter import Filter
from posetlib.tables import make_table
from posetlib.tables.promises import Elimination
from workloads.blocks import Selection, parts_of, typed_names
from workloads.checks_sameness import equal_pairs
from workloads.context import texts_by_id
from workloads.datasets import ddl, is_typed, typed
from workloads.errors import InputError
from workloads.near import NearContext
from workloads.opening import Opened, by_place
from workloads.pairs import Found, covered_pairs, found_pairs
from workloads.reports import Outcome, not_applicable
from workloads.rows import by_key, columns_of, packed, regrouped, unpacked
from workloads.spread import SpreadContext, kept_rows, selection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["entries_asked", "entries_served", "redundant_pairs", "require_related"]

#: A workload of no more bytes is compared in the driver.
_LITTLE: Final = 1 << 24
#: Rows of a block.
_ROWS: Final = 1 << 15
_UNSERVED: Final = "unserved"
_UNASKED: Final = "unasked"
_EXTRA: Final = "extra"
_KINDS: Final = (_UNSERVED, _UNASKED, _EXTRA)
_LEFT: Final = "kind string, id long, interface string"
_NO_WORKLOAD: Final = "there is no workload"


@dataclass
class Entries:
    """How many pairs there are, how many are wrong, and the first: id and interface, by kind."""

    due: int
    held: int
    counts: dict[str, int]
    first: dict[str, list[tuple[int, str]]]


def entries_served(context: Opened) -> Outcome:
    """Every pair of the workload is in the table or covered there; in fp and nrf, no pair more."""
    if context.workload is None:
        return not_applicable(_NO_WORKLOAD)
    found = entries_of(context)
    texts = _workload_texts(context, found.first[_UNSERVED])
    why = (
        "the workload has it, and the table does not"
        if context.files.local
        else "the workload has it, and the table neither has nor covers it for this interface"
    )
    witnesses: list[dict[str, Any]] = [
        {"filter": texts[pair], "interface": pair[1], "why": why, "row": pair[0]}
        for pair in found.first[_UNSERVED]
    ]
    extra, first = _not_left(context, found)
    own = texts_by_id(context.files.nodes, [id_ for id_, _ in first])
    witnesses += [
        {
            "filter": own[id_],
            "interface": interface,
            "why": "elimination does not leave it",
            "ids": [id_],
        }
        for id_, interface in first
    ]
    return Outcome(found.due, found.counts[_UNSERVED] + extra, witnesses)


def entries_asked(context: Opened) -> Outcome:
    """Every pair of the table is a pair of the workload."""
    if context.workload is None:
        return not_applicable(_NO_WORKLOAD)
    found = entries_of(context)
    first = found.first[_UNASKED]
    texts = texts_by_id(context.files.nodes, [id_ for id_, _ in first])
    witnesses = [
        {
            "filter": texts[id_],
            "interface": interface,
            "why": "the workload does not have it",
            "ids": [id_],
        }
        for id_, interface in first
    ]
    return Outcome(found.held, found.counts[_UNASKED], witnesses)


def require_related(context: Opened, *, entries: bool) -> None:
    """Refuse a workload that has nothing to do with the table; ``entries``: they are compared."""
    workload = context.workload
    if workload is None or not context.node_count:
        return
    if not entries and _share_a_text(context):
        return
    # The same filters may be written in other words.
    found = entries_of(context)
    if found.counts[_UNASKED] < found.held or not found.held or _share_a_text(context):
        return
    raise InputError(
        f"{workload.told} has none of the table's filters: the table was not made from it"
    )


def _share_a_text(context: Opened) -> bool:
    """Return whether table and workload have a filter in common, letter by letter."""
    workload = context.workload
    assert workload is not None
    mine = context.files.nodes.select("filter")
    theirs = [workload.filters, *([workload.operations] if workload.has_operations else [])]
    return any(
        not mine.join(rows.select("filter"), "filter", "left_semi").isEmpty() for rows in theirs
    )


def _workload_texts(context: Opened, pairs: list[tuple[int, str]]) -> dict[tuple[int, str], str]:
    from pyspark.sql import functions as f  # noqa: PLC0415

    if not pairs or context.workload is None:
        return {}
    rows = _source(context).where(f.col("id").isin([id_ for id_, _ in pairs]))
    some = rows.select("id", "interface", "filter").distinct().orderBy("filter").collect()
    return {(row["id"], row["interface"]): row["filter"] for row in some}


def _source(context: Opened) -> DataFrame:
    assert context.workload is not None
    if context.files.after_operations:
        return context.workload.operations
    return context.workload.filters


# -- pairs that elimination should have taken ------------------------------------------------------


def redundant_pairs(context: Opened) -> Found:
    """Return the pairs of filters that an interface holds of which one covers the other."""
    if "redundant" not in context.facts:
        find = partial(found_pairs, shown=context.shown)
        if isinstance(context, NearContext):
            rows = _near_held(context)
            parts = context.filters.compared(rows, rows, find)
            context.facts["redundant"] = Found.sum(parts, context.shown)
        else:
            held = _spread_held(context)
            context.facts["redundant"] = context.found(held, held, find)
    found: Found = context.facts["redundant"]
    return found


def _near_held(context: NearContext) -> Selection:
    held = context.held
    return Selection.of(held.nodes, held.interfaces, held.interfaces)


def _spread_held(context: SpreadContext) -> DataFrame:
    from pyspark.sql import functions as f  # noqa: PLC0415

    return selection(context.held, "number", f.col("lane"), f.col("lane"))


def _not_left(context: Opened, found: Entries) -> tuple[int, list[tuple[int, str]]]:
    """Return the pairs that elimination does not leave, where it reaches the whole table."""
    if context.promises.elimination is not Elimination.EVERYWHERE or context.files.local:
        return 0, []
    if context.files.after_operations:
        return found.counts[_EXTRA], found.first[_EXTRA]
    if not redundant_pairs(context).total:
        return 0, []
    if isinstance(context, NearContext):
        rows = _near_held(context)
        parts = context.filters.compared(rows, rows, covered_pairs)
        every = np.concatenate([np.zeros((0, 2), np.int64), *map(np.column_stack, parts)])
        pairs = np.unique(every, axis=0)
        total, first = len(pairs), pairs[: context.shown].tolist()
    else:
        total, first = _spread_not_left(context)
    ids = context.ids(number for number, _ in first)
    names = context.interface_names(lane for _, lane in first)
    return total, [(id_, names[lane]) for id_, (_, lane) in zip(ids, first, strict=True)]


def _spread_not_left(context: SpreadContext) -> tuple[int, list[list[int]]]:
    held = _spread_held(context)
    pairs = context.compared(held, held, covered_pairs, "number long, lane long").distinct()
    with kept_rows(pairs) as rows:
        first = rows.orderBy("number", "lane").limit(context.shown).collect()
        return rows.count(), [list(row) for row in first]


# -- the comparison --------------------------------------------------------------------------------


def entries_of(context: Opened) -> Entries:
    """Return how the pairs of table and workload compare; worked out once."""
    if "entries" not in context.facts:
        with _wanted(context) as (rows, is_little):
            if is_little and isinstance(context, NearContext):
                found = _compared_here(context, rows.toArrow())
            else:
                found = _compared_by_blocks(context, rows)
        context.facts["entries"] = found
    entries: Entries = context.facts["entries"]
    return entries


@contextmanager
def _wanted(context: Opened) -> Iterator[tuple[DataFrame, bool]]:
    """Give the workload's pairs with the column ``due``, and whether they are few."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    workload = context.workload
    assert workload is not None
    if context.files.after_operations and not workload.has_operations:
        raise InputError(f"the table is what operations left, and {workload.told} has none")
    name = "operations" if context.files.after_operations else "filters"
    is_little = workload.bytes_of(name) <= min(_LITTLE, context.asked.limit)
    with ExitStack() as stack:
        if context.files.after_operations:
            what = "the workload's operations"
            read = typed(workload.operations, workload.types, what, skip_bad=context.asked.skip_bad)
            rows = _after_operations(stack.enter_context(read)[0], context)
        else:
            rows = stack.enter_context(context.workload_filters()).withColumn("due", f.lit(True))
        yield rows.select("id", "interface", "due", *typed_names(rows)), is_little


def _compared_here(context: NearContext, wanted: pa.Table) -> Entries:
    """Compare in the driver, some interfaces at a time."""
    nodes = unpacked(context.filters.data)
    held = context.held
    names = pa.array(context.names, pa.string())
    table = nodes.drop_columns(["number"]).take(pa.array(held.nodes))
    table = table.append_column("id", pa.array(context.outline.ids[held.nodes]))
    table = table.append_column("interface", names.take(pa.array(held.interfaces)))
    wanted, table = (each.sort_by("interface").combine_chunks() for each in (wanted, table))
    ours, theirs = _cut(table), _cut(wanted)
    compare = partial(_compared, exact=context.files.local, types=_types(context))
    seen = {id(each): np.zeros(2 * len(each), np.bool_) for each in ours}
    served = {id(each): np.zeros(len(each), np.bool_) for each in theirs}
    for other in theirs:
        for one in ours:
            if one.first <= other.last and other.first <= one.last:
                for_table, for_workload = compare(one.rows, other.rows)
                seen[id(one)] |= for_table
                served[id(other)] |= for_workload
    left = [_left_of_table(each.rows, seen[id(each)]) for each in ours]
    left += [_left_of_workload(each.rows, served[id(each)]) for each in theirs]
    due = int(np.count_nonzero(np.asarray(wanted.column("due"))))
    return _counted(due, table.num_rows, pa.concat_tables(left) if left else None, context.shown)


def _types(context: Opened) -> tuple[TypeHierarchy | None, TypeHierarchy | None]:
    return context.types, None if context.workload is None else context.workload.types


@dataclass
class _Part:
    """Rows of some interfaces, in order."""

    rows: pa.Table
    first: str
    last: str

    def __len__(self) -> int:
        return int(self.rows.num_rows)


def _cut(rows: pa.Table) -> list[_Part]:
    parts = (rows.slice(at, _ROWS) for at in range(0, rows.num_rows, _ROWS))
    return [
        _Part(each, each.column("interface")[0].as_py(), each.column("interface")[-1].as_py())
        for each in parts
    ]


def _counted(due: int, held: int, left: pa.Table | None, shown: int) -> Entries:
    counts = dict.fromkeys(_KINDS, 0)
    first: dict[str, list[tuple[int, str]]] = {kind: [] for kind in _KINDS}
    if left is not None:
        for kind in _KINDS:
            some = left.filter(pa.compute.equal(left.column("kind"), kind))
            counts[kind] = some.num_rows
            order = some.sort_by([("id", "ascending"), ("interface", "ascending")])
            rows = order.slice(0, shown).to_pylist()
            first[kind] = [(row["id"], row["interface"]) for row in rows]
    return Entries(due, held, counts, first)


def _compared(
    table: pa.Table,
    workload: pa.Table,
    *,
    exact: bool,
    types: tuple[TypeHierarchy | None, TypeHierarchy | None],
) -> tuple[BoolArray, BoolArray]:
    """Compare two blocks of pairs.

    For the table: which of its pairs the workload has, and then which are due; for the workload:
    which of its pairs the table has, or unless ``exact`` covers.
    """
    vocabulary = Vocabulary()
    codes: dict[str, int] = {}
    groups = []
    for side in (table, workload):
        names = side.column("interface").combine_chunks().dictionary_encode()
        known = [codes.setdefault(name, len(codes)) for name in names.dictionary.to_pylist()]
        groups.append(np.array([*known, -1], np.int64)[np.asarray(names.indices)])
    ours, theirs = (
        columns_of(side, vocabulary, hierarchy).with_group(group)
        for side, group, hierarchy in zip((table, workload), groups, types, strict=True)
    )
    one, other = equal_pairs(ours, theirs, *groups)
    due = np.asarray(workload.column("due"))
    asked = np.zeros(len(ours), np.bool_)
    kept = np.zeros(len(ours), np.bool_)
    served = np.zeros(len(theirs), np.bool_)
    asked[one] = True
    kept[one[due[other]]] = True
    served[other] = True
    left = np.flatnonzero(due & ~served)
    if len(left) and not exact:
        strongest = np.argsort(-strength(ours), kind="stable")
        served[left] = covered_rows(ours.take(strongest), theirs.take(left))
    return np.concatenate([asked, kept]), served


def _left_of_table(rows: pa.Table, seen: BoolArray) -> pa.Table:
    """Return the pairs that nobody asked for, and those that elimination should have taken."""
    asked, kept = seen[: rows.num_rows], seen[rows.num_rows :]
    return pa.concat_tables([_left(rows, _UNASKED, ~asked), _left(rows, _EXTRA, asked & ~kept)])


def _left_of_workload(rows: pa.Table, served: BoolArray) -> pa.Table:
    return _left(rows, _UNSERVED, np.asarray(rows.column("due")) & ~served)


def _left(rows: pa.Table, kind: str, which: BoolArray) -> pa.Table:
    some = rows.select(["id", "interface"]).filter(pa.array(which))
    return pa.table(
        {
            "kind": pa.array([kind] * some.num_rows, pa.string()),
            "id": some.column("id"),
            "interface": some.column("interface"),
        }
    )


# -- by blocks -------------------------------------------------------------------------------------


def _compared_by_blocks(context: Opened, wanted: DataFrame) -> Entries:
    """Compare block by block, wherever the blocks are."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    table = by_place(context, _near_pairs, lambda far: far.pairs)
    ours = _blocks(table, parts_of(context.session)).persist()
    theirs = _blocks(wanted, parts_of(context.session)).persist()
    left = None
    try:
        one = ours.toDF("one", "one_first", "one_last", "one_rows", "one_count", "one_due")
        other = theirs.toDF("other", "other_first", "other_last", "other_rows", "n", "m")
        meet = (f.col("one_first") <= f.col("other_last")) & (
            f.col("other_first") <= f.col("one_last")
        )
        pairs = one.join(other, meet).select("one", "one_rows", "other", "other_rows")
        compare = partial(_each_meeting, exact=context.files.local, types=_types(context))
        found = pairs.repartition(parts_of(context.session)).mapInArrow(
            compare, "block string, bits binary"
        )
        united = (
            found.repartition("block")
            .sortWithinPartitions("block")
            .mapInArrow(_united, "block string, bits binary")
        )
        every = ours.withColumn("ours", f.lit(True)).union(theirs.withColumn("ours", f.lit(False)))
        joined = every.join(united, "block", "left").select("rows", "bits", "ours")
        left = joined.mapInArrow(_each_left, _LEFT).persist()
        counts = {row["kind"]: row["count"] for row in left.groupBy("kind").count().collect()}
        held = ours.agg(f.sum("count")).collect()[0][0] or 0
        due = theirs.agg(f.sum("due")).collect()[0][0] or 0
        first: dict[str, list[tuple[int, str]]] = {}
        for kind in _KINDS:
            first[kind] = []
            if kind in counts:
                some = left.where(f.col("kind") == kind).orderBy("id", "interface")
                rows = some.limit(context.shown).collect()
                first[kind] = [(row["id"], row["interface"]) for row in rows]
        return Entries(due, held, {kind: counts.get(kind, 0) for kind in _KINDS}, first)
    finally:
        for each in (ours, theirs, left):
            if each is not None:
                each.unpersist()


def _near_pairs(context: NearContext) -> DataFrame:
    from pyspark.sql import functions as f  # noqa: PLC0415

    nodes = context.nodes
    if is_typed(context.files.nodes) and context.agrees.all() and not context.bad.count:
        # Every text was held against its columns when the table was opened: once is enough.
        with typed(context.files.nodes, context.types, "the nodes", skip_bad=False) as (rows, _):
            nodes = rows
    return nodes.select("id", f.explode("interfaces").alias("interface"), *typed_names(nodes))


def _blocks(rows: DataFrame, parts: int) -> DataFrame:
    # In one order, however often it is made: a block is known by what is in it.
    ordered = rows.repartitionByRange(parts, "interface", "id").sortWithinPartitions(
        "interface", "id"
    )
    return ordered.mapInArrow(
        _packed, "block string, first string, last string, rows binary, count long, due long"
    )


def _packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for table in regrouped(batches, _ROWS):
        data = packed(table)
        names = table.column("interface")
        due = table.column("due").to_pylist() if "due" in table.schema.names else []
        yield pa.RecordBatch.from_pydict(
            {
                # A block that is made anew with other rows has another name, and counts as unmet.
                "block": [hashlib.blake2b(data, digest_size=16).hexdigest()],
                "first": [names[0].as_py()],
                "last": [names[-1].as_py()],
                "rows": [data],
                "count": [table.num_rows],
                "due": [sum(due)],
            }
        )


def _each_meeting(
    batches: Iterator[pa.RecordBatch],
    *,
    exact: bool,
    types: tuple[TypeHierarchy | None, TypeHierarchy | None],
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            found = _compared(
                unpacked(row["one_rows"]), unpacked(row["other_rows"]), exact=exact, types=types
            )
            yield pa.RecordBatch.from_pydict(
                {
                    "block": [row["one"], row["other"]],
                    "bits": [np.packbits(each).tobytes() for each in found],
                }
            )


def _united(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for rows in by_key(batches, "block"):
        bits = [np.frombuffer(each.as_py(), np.uint8) for each in rows.column("bits")]
        yield pa.RecordBatch.from_pydict(
            {
                "block": [rows.column("block")[0].as_py()],
                "bits": [np.bitwise_or.reduce(bits, axis=0).tobytes()],
            }
        )


def _each_left(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            rows = unpacked(row["rows"])
            count = rows.num_rows * (2 if row["ours"] else 1)
            flags = np.zeros(count, np.bool_)
            if row["bits"] is not None:
                bits = np.frombuffer(row["bits"], np.uint8)
                flags = np.unpackbits(bits, count=count).astype(np.bool_)
            left = _left_of_table if row["ours"] else _left_of_workload
            yield from left(rows, flags).combine_chunks().to_batches()


# -- what operations leave -------------------------------------------------------------------------


def _after_operations(rows: DataFrame, context: Opened) -> DataFrame:
    """Return the pairs that operations leave, and whether each is surely in the table."""
    assert context.workload is not None
    everywhere = context.promises.elimination is Elimination.EVERYWHERE
    how = "all" if context.files.local else "exactly" if everywhere else "surely"
    ordered = rows.repartition("interface").sortWithinPartitions("interface", "sequence")
    return ordered.mapInArrow(
        partial(_each_replayed, how=how, types=context.workload.types), f"{ddl(rows)}, due boolean"
    )


def _each_replayed(
    batches: Iterator[pa.RecordBatch], how: str, types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    for rows in by_key(batches, "interface"):
        yield from replayed(rows.combine_chunks(), how, types).to_batches()


def replayed(rows: pa.Table, how: str, types: TypeHierarchy | None) -> pa.Table:
    """Return the rows of one interface's operations that are left, with ``due``.

    ``how`` tells which of them are due: "all"; "exactly" those that elimination by this interface
    leaves; or "surely", those that no filter which was removed later covers.
    """
    columns = columns_of(rows, Vocabulary(), types)
    filters = [columns.filter(row) for row in range(rows.num_rows)]
    adds = [each == "add" for each in rows.column("operation").to_pylist()]
    last: dict[Filter, int] = {one: row for row, one in enumerate(filters)}
    present = np.array(sorted(row for row in last.values() if adds[row]), np.int64)
    removed = np.flatnonzero(~np.array(adds, np.bool_))
    gone = np.zeros(rows.num_rows, np.bool_)
    taken = np.zeros(rows.num_rows, np.bool_)
    if len(present) and len(removed):
        above, below = columns.take(removed), columns.take(present)
        apart = np.full(len(removed), -1), np.full(len(present), -2)
        for f, g in covering_pairs(above, below, *apart):
            later = removed[f] > present[g]
            f, g = f[later], g[later]  # noqa: PLW2901 - only these count
            taken[present[g]] = True
            back = covers_rowwise(below.take(g), above.take(f))
            gone[present[g[back]]] = True
    present = present[~gone[present]]
    due = np.ones(len(present), np.bool_)
    if how == "surely":
        due = ~taken[present]
    elif how == "exactly":
        table = make_table("nrf")
        for one, is_add in zip(filters, adds, strict=True):
            table.add(one, "") if is_add else table.discard(one, "")
        left = set(table)
        due = np.array([filters[row] in left for row in present.tolist()], np.bool_)
    return rows.take(pa.array(present)).append_column("due", pa.array(due))

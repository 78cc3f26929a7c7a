"""The invariants about who covers whom: edges, siblings, roots, and the complete order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.covering import Block, bit_pairs
from posetlib.arrays.edges import Outline
from posetlib.arrays.positions import Vocabulary
from posetlib.constraints.types import TypeHierarchy
from workloads.blocks import Here, Selection, Sent, typed_names
from workloads.checks_sameness import (
    class_rows,
    equivalence_classes,
    equivalent_across,
    matched_by_keys,
)
from workloads.context import texts_by_id
from workloads.cover import minimal_cover
from workloads.datasets import SnapshotFiles, typed
from workloads.near import NearContext
from workloads.opening import Opened, by_place
from workloads.pairs import (
    BlockRows,
    Found,
    clear_bits,
    edge_faults,
    first_coverers,
    found_pairs,
    same_labels,
)
from workloads.reports import Outcome, not_applicable
from workloads.rows import columns_of
from workloads.spread import Arrived, SpreadContext, found_rows, kept_rows, outline_of, selection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "BadEdges",
    "bad_edges",
    "complete_order",
    "edge_covers",
    "roots_minimal_cover",
    "same_roots",
    "sibling_pure",
]

_FOUND: Final = "total long, one long, other long, label long"
#: What is below each node, for the nodes of a block, may take so many bytes of a task.
_REACH: Final = 1 << 28


# -- edge-covers -----------------------------------------------------------------------------------


@dataclass
class BadEdges:
    """The edges that do not go strictly down: how many, and the first; ``rows`` has all of them.

    Each is a parent, its child, and whether the parent covers the child. Of a table that is spread
    out the rows are a DataFrame, and else three arrays.
    """

    total: int
    first: list[tuple[int, int, bool]]
    rows: Any


def edge_covers(context: Opened) -> Outcome:
    """Every parent strictly covers its child."""
    bad = bad_edges(context)
    texts = context.texts(each for parent, child, _ in bad.first for each in (parent, child))
    witnesses = [
        {
            "parent": texts[parent],
            "child": texts[child],
            "why": "the child covers its parent as well"
            if covers
            else "the parent does not cover its child",
            "ids": context.ids([parent, child]),
        }
        for parent, child, covers in bad.first
    ]
    return Outcome(context.edge_count, bad.total, witnesses)


def bad_edges(context: Opened) -> BadEdges:
    """Return the edges that do not go strictly down; worked out once."""
    if "bad edges" not in context.facts:
        context.facts["bad edges"] = by_place(context, _near_bad, _spread_bad)
    edges: BadEdges = context.facts["bad edges"]
    return edges


def _near_bad(context: NearContext) -> BadEdges:
    outline = context.outline
    found = context.filters.by_rows((outline.parents, outline.children), edge_faults)
    above, below, covers = (
        np.concatenate([np.zeros(0, np.int64), *(part[at] for part in found)]) for at in range(3)
    )
    order = np.lexsort((below, above))
    rows = above[order], below[order], covers[order].astype(np.bool_)
    first = zip(*(each[: context.shown].tolist() for each in rows), strict=True)
    return BadEdges(len(above), list(first), rows)


def _spread_bad(context: SpreadContext) -> BadEdges:
    schema = "parent long, child long, covers boolean"
    rows = context.keep(context.by_edges(edge_faults, schema))
    total = rows.count()
    first = rows.orderBy("parent", "child").limit(context.shown).collect() if total else []
    return BadEdges(total, [tuple(each) for each in first], rows)


# -- sibling-pure ----------------------------------------------------------------------------------


def sibling_pure(context: Opened) -> Outcome:
    """No child of a node, or root, covers another one of the same node."""
    checked, found = by_place(context, _near_siblings, _spread_siblings)
    texts = context.texts(each for pair in found.pairs for each in pair if each != context.nobody)
    witnesses = [
        {
            "covers": texts[one],
            "covered": texts[other],
            "parent": texts.get(parent, "(both are roots)"),
            "why": "one child covers another of the same parent",
            "ids": context.ids([one, other]),
        }
        for one, other, parent in found.pairs
    ]
    return Outcome(checked, found.total, witnesses)


def _near_siblings(context: NearContext) -> tuple[int, Found]:
    """Return how many siblings there are, and those that cover one another.

    Roots are siblings, too: the group of those whose parent is nobody. There may be many of them,
    so they are held against those alone that are not in their minimal cover.
    """
    find = partial(found_pairs, shown=context.shown)
    outline, roots = context.outline, context.roots
    children = Selection.of(outline.children, outline.parents, outline.parents)
    covered = roots[_near_covered(context, roots)[roots]]
    ones, others = (
        Selection.of(some, *(np.full(len(some), context.nobody) for _ in range(2)))
        for some in (roots, covered)
    )
    parts = context.filters.compared(children, children, find)
    parts += context.filters.compared(ones, others, find)
    return len(outline.children) + len(roots), Found.sum(parts, context.shown)


def _spread_siblings(context: SpreadContext) -> tuple[int, Found]:
    """Return what ``_near_siblings`` does, of a table that is spread out."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    find = partial(found_pairs, shown=context.shown)
    parent, nobody = f.col("parent"), f.lit(context.nobody).cast("long")
    children = selection(context.edges, "child", parent, parent)
    covered = context.keep(_spread_covered(context, context.roots))
    parts = [context.found(children, children, find)]
    if not covered.isEmpty():
        ones, others = (
            selection(some, "number", nobody, nobody) for some in (context.roots, covered)
        )
        parts.append(context.found(ones, others, find))
    return context.edge_count + context.root_count, Found.sum(parts, context.shown)


# -- roots-minimal-cover ---------------------------------------------------------------------------


@dataclass
class _RootFaults:
    """Roots that something covers, with the first coverer; and others that nothing covers."""

    bad_count: int
    bad: list[tuple[int, int]]
    lonely_count: int
    lonely: list[int]


def roots_minimal_cover(context: Opened) -> Outcome:
    """The roots are exactly the filters that no other filter covers.

    Whatever covers a filter has parents that cover it as well, up to a root, to a *suspect*, which
    is a child that no other node above it covers, or round a cycle of equivalent filters, or to the
    filter itself, whose child is then equivalent to it. So roots and suspects are held against one
    another and against the ends of edges between equivalent filters: they are covered unless they
    are in the minimal cover of all these, and no other one of them is equivalent.
    """
    found = by_place(context, _near_root_faults, _spread_root_faults)
    texts = context.texts([*(each for pair in found.bad for each in pair), *found.lonely])
    witnesses = [
        {
            "root": texts[root],
            "covered by": texts[by],
            "why": "a root is covered by another filter",
            "ids": context.ids([root, by]),
        }
        for root, by in found.bad
    ]
    witnesses += [
        {
            "filter": texts[each],
            "why": "no root, and no other filter covers it",
            "ids": context.ids([each]),
        }
        for each in found.lonely
    ]
    return Outcome(context.node_count, found.bad_count + found.lonely_count, witnesses)


def _near_root_faults(context: NearContext) -> _RootFaults:
    suspects = _uncovered_children(context)
    parents, children, covers = bad_edges(context).rows
    coverers = np.unique(
        np.concatenate([context.roots, suspects, parents[covers], children[covers]])
    )
    is_covered = _near_covered(context, coverers)
    bad_roots = context.roots[is_covered[context.roots]]
    lonely = suspects[~is_covered[suspects]]
    # Only of the roots that are shown is the coverer looked for.
    sample = bad_roots[: context.shown]
    by: dict[int, int] = {}
    for covered, ones in context.filters.compared(
        Selection.of(coverers), Selection.of(sample), first_coverers
    ):
        for root, one in zip(covered.tolist(), ones.tolist(), strict=True):
            by[root] = min(one, by.get(root, one))
    return _RootFaults(
        len(bad_roots),
        [(each, by[each]) for each in sample.tolist()],
        len(lonely),
        lonely[: context.shown].tolist(),
    )


def _near_covered(context: NearContext, numbers: IntArray) -> BoolArray:
    """Return which of some nodes another one of them covers, as a flag for every node.

    Worked out once for the same nodes: in a sound table the roots are asked for twice.
    """
    known: tuple[IntArray, BoolArray] | None = context.facts.get("covered")
    if known is None or not np.array_equal(known[0], numbers):
        classes = equivalence_classes(context)
        is_covered = np.zeros(context.node_count, np.bool_)
        is_covered[numbers] = True
        is_covered[context.filters.unbeaten(numbers)] = False
        # Of equivalent filters the first is unbeaten, and covered by the others.
        has_twin = np.bincount(classes[numbers], minlength=context.node_count) > 1
        is_covered[numbers] |= has_twin[classes[numbers]]
        known = context.facts["covered"] = numbers, is_covered
    return known[1]


def _uncovered_children(context: NearContext) -> IntArray:
    """Return the nodes that have parents, none of which, but for themselves, covers them."""
    parents, children, covers = bad_edges(context).rows
    useless = ~covers | (parents == children)
    wrong = np.bincount(children[useless], minlength=context.node_count)
    every = np.bincount(context.outline.children, minlength=context.node_count)
    return np.flatnonzero((wrong > 0) & (wrong == every))


def _spread_root_faults(context: SpreadContext) -> _RootFaults:
    from pyspark.sql import functions as f  # noqa: PLC0415

    targets = context.roots.withColumn("suspect", f.lit(False))
    coverers = context.roots
    bad = bad_edges(context)
    if bad.total:
        useless = bad.rows.where(~f.col("covers") | (f.col("parent") == f.col("child")))
        wrong = useless.groupBy("child").agg(f.count("parent").alias("wrong"))
        every = context.edges.groupBy("child").agg(f.count("parent").alias("every"))
        suspects = wrong.join(every, "child").where("wrong = every").selectExpr("child as number")
        targets = targets.union(suspects.withColumn("suspect", f.lit(True)))
        equal = bad.rows.where("covers")
        ends = equal.selectExpr("parent as number").union(equal.selectExpr("child as number"))
        coverers = context.keep(targets.select("number").union(ends).distinct())
    covered = _spread_covered(context, coverers)
    covered = covered.withColumn("covered", f.lit(True))
    known = targets.join(covered, "number", "left").na.fill({"covered": False})
    with kept_rows(known.where("covered != suspect")) as wrong_rows:
        counts = {row["suspect"]: row["count"] for row in
                  wrong_rows.groupBy("suspect").count().collect()}  # fmt: skip
        sample, lonely = (
            wrong_rows.where(f.col("suspect") == flag)
            .orderBy("number")
            .limit(context.shown)
            .select("number")
            for flag in (False, True)
        )
        pairs: list[tuple[int, int]] = []
        if counts.get(False):
            schema = "number long, by long"
            found = context.compared(
                selection(coverers, "number"), selection(sample, "number"), first_coverers, schema
            )
            first = found.groupBy("number").agg(f.min("by").alias("by")).orderBy("number")
            pairs = [tuple(row) for row in first.collect()]
        alone = [row["number"] for row in lonely.collect()] if counts.get(True) else []
    return _RootFaults(counts.get(False, 0), pairs, counts.get(True, 0), alone)


def _spread_covered(context: SpreadContext, nodes: DataFrame) -> DataFrame:
    """Return the numbers of those of some nodes that another one of them covers."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    rows = nodes.join(context.filters, "number").withColumnRenamed("number", "id")
    top = minimal_cover(rows, context.types).select(f.col("id").alias("number"))
    covered = nodes.join(top, "number", "left_anti")
    twins = class_rows(context)
    if twins is None:
        return covered
    # Of those that are no first ones, and of the first ones themselves.
    classes = nodes.join(twins, "number", "left")
    classes = classes.select("number", f.coalesce("first", "number").alias("first"))
    several = classes.groupBy("first").count().where("count > 1").select("first")
    return covered.union(classes.join(several, "first").select("number")).distinct()


# -- complete-order --------------------------------------------------------------------------------


def complete_order(context: Opened) -> Outcome:
    """One filter strictly covers another exactly if a path leads from it to the other."""
    if "complete-order" not in context.kept:
        return not_applicable("only the filters poset keeps the complete order")
    if isinstance(context, NearContext):
        rows = Selection.of(np.arange(context.node_count), None, equivalence_classes(context))
        one_block = context.node_count <= context.filters.size
        here = one_block or context.filters.is_here([])
        links: Sent[Outline] = Here(context.outline) if here else context.shared_outline
        compare = partial(_order_faults, links=links, shown=context.shown)
        found = Found.sum(context.filters.compared(rows, rows, compare), context.shown)
    else:
        found = _spread_order_faults(context)
    texts = context.texts(each for one, other, _ in found.pairs for each in (one, other))
    reasons = (
        "covered without a path",
        "a path without covering",
        "a path leads back to it",
        "a path between two that match the same",
    )
    witnesses = [
        {
            "one": texts[one],
            "other": texts[other],
            "why": reasons[reason],
            "ids": context.ids([one, other]),
        }
        for one, other, reason in found.pairs
    ]
    return Outcome(context.node_count * max(0, context.node_count - 1), found.total, witnesses)


def _spread_order_faults(context: SpreadContext) -> Found:
    """Return what is wrong: every task has all links and all filters, and a share of these."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    rows = context.filters
    twins = class_rows(context)
    label = f.col("number")
    if twins is not None:
        rows = rows.join(twins, "number", "left")
        label = f.coalesce("first", "number")
    every = rows.withColumn("label", label).drop("first")
    work = partial(_order_of_share, count=context.parts, types=context.types, shown=context.shown)
    return context.sum_of(context.in_tasks(work, _FOUND, context.parts, shared={"all": every}))


def _order_of_share(
    arrived: Arrived, task: int, count: int, types: TypeHierarchy | None, shown: int
) -> pa.Table:
    table = arrived["all"].sort_by("number").combine_chunks()
    numbers, labels = (np.asarray(table.column(name)) for name in ("number", "label"))
    outline = outline_of(arrived, numbers)
    columns = columns_of(table, Vocabulary(), types)
    places = np.arange(len(numbers))
    one = BlockRows(places, labels, columns)
    own = places[task::count]
    size = 64 * max(1, _REACH // (8 * len(numbers)))
    parts = []
    for start in range(0, len(own), size):
        some = own[start : start + size]
        other = BlockRows(some, labels[some], columns.take(some))
        for begin in range(0, len(places), 8192):
            ones = places[begin : begin + 8192]
            part = BlockRows(ones, labels[ones], one.columns.take(ones))
            parts.append(_order_faults(part, other, Here(outline), shown))
    found = Found.sum(parts, shown)
    found.pairs = [(int(numbers[a]), int(numbers[b]), why) for a, b, why in found.pairs]
    return pa.table(found_rows(found), ["total", "one", "other", "label"])


#: The links, the nodes and what is below each, of the block that was compared last in this process.
_last_reach: list[tuple[Outline, IntArray, Words]] = []


def _order_faults(one: BlockRows, other: BlockRows, links: Sent[Outline], shown: int) -> Found:
    """Return pairs of a block with another that are covered and not joined, or joined only."""
    outline = links.value
    block = Block(other.columns)
    joined = _reach(outline, other.numbers, block.words)[one.numbers]
    covered = block.covered(one.columns, np.arange(len(one.numbers)))
    # A filter covers itself and its equivalents, and none of them strictly.
    clear_bits(covered, *same_labels(one.labels, other.labels))
    rows, which = bit_pairs(covered ^ joined)
    same = np.where(one.numbers[rows] == other.numbers[which], 2, 3)
    equivalent = one.labels[rows] == other.labels[which]
    reasons = np.where(equivalent, same, _bits_at(joined, rows, which).astype(np.int64))
    first = np.lexsort((other.numbers[which], one.numbers[rows]))[:shown]
    pairs = zip(
        one.numbers[rows[first]].tolist(),
        other.numbers[which[first]].tolist(),
        reasons[first].tolist(),
        strict=True,
    )
    return Found(len(rows), list(pairs))


def _bits_at(bits: Words, rows: IntArray, which: IntArray) -> BoolArray:
    found = bits[rows, which >> 6] >> (which & 63).astype(np.uint64)
    return np.asarray((found & np.uint64(1)).astype(np.bool_))


def _reach(outline: Outline, numbers: IntArray, words: int) -> Words:
    """Return which of some nodes are below each node."""
    if _last_reach:
        links, nodes, found = _last_reach[0]
        if links is outline and np.array_equal(nodes, numbers):
            return found
    own = np.zeros((outline.count, words), np.uint64)
    places = np.arange(len(numbers))
    own[numbers, places >> 6] = np.uint64(1) << (places & 63).astype(np.uint64)
    below = outline.gathered_below(own)
    _last_reach[:] = [(outline, numbers, below)]
    return below


# -- same-roots ------------------------------------------------------------------------------------


def same_roots(context: Opened) -> Outcome:
    """The roots are those of another table of the same pairs, or of the workload itself."""
    if context.asked.other is not None:
        return _held_against_table(context, context.asked.other)
    if context.files.after_operations:
        return not_applicable("the table is what operations left")
    if context.workload is None:
        return not_applicable("there is no workload and no other table")
    workload = context.workload
    with context.workload_filters() as rows:
        expected = minimal_cover(rows, workload.types)
        theirs = _Expected(expected, workload.filters, workload.types, "the workload")
        return _compared_roots(context, theirs)


def _held_against_table(context: Opened, other: SnapshotFiles) -> Outcome:
    with typed(
        other.nodes,
        other.types,
        "the other snapshot's nodes",
        skip_bad=context.asked.skip_bad,
        verify=True,
    ) as (rows, _):
        below = other.edges.selectExpr("child as id").distinct()
        roots = rows.join(below, "id", "left_anti")
        return _compared_roots(
            context, _Expected(roots, other.nodes, other.types, "the other table")
        )


@dataclass
class _Expected:
    """Roots that a table should have: as rows with typed columns, and where their texts are."""

    rows: DataFrame
    source: DataFrame
    types: TypeHierarchy | None
    whose: str


def _compared_roots(context: Opened, theirs: _Expected) -> Outcome:
    count, extra, missing = by_place(
        context, partial(_near_roots, theirs=theirs), partial(_spread_roots, theirs=theirs)
    )
    texts = context.texts(extra.first)
    witnesses: list[dict[str, Any]] = [
        {"root": texts[each], "why": f"no root of {theirs.whose}", "ids": context.ids([each])}
        for each in extra.first
    ]
    lost = texts_by_id(theirs.source, missing.first)
    witnesses += [
        {"root": lost[each], "why": f"a root of {theirs.whose}, and not of this table"}
        for each in missing.first
    ]
    return Outcome(count, extra.total + missing.total, witnesses)


@dataclass
class _Some:
    """How many there are of something, and the first."""

    total: int
    first: list[int]


def _near_roots(context: NearContext, theirs: _Expected) -> tuple[int, _Some, _Some]:
    """Return how many roots there are on both sides, and those that only one side has."""
    expected = theirs.rows.select("id", *typed_names(theirs.rows)).toArrow()
    ids = np.asarray(expected.column("id")).astype(np.int64)
    matched = context.filters.by_rows(
        (context.roots,), partial(equivalent_across, expected=expected, types=theirs.types)
    )
    own, others = (
        np.concatenate([np.zeros(0, np.int64), *(part[side] for part in matched)])
        for side in (0, 1)
    )
    extra, missing = np.setdiff1d(context.roots, own), np.setdiff1d(ids, others)
    return (
        len(context.roots) + len(ids),
        _Some(len(extra), extra[: context.shown].tolist()),
        _Some(len(missing), missing[: context.shown].tolist()),
    )


def _spread_roots(context: SpreadContext, theirs: _Expected) -> tuple[int, _Some, _Some]:
    """Return what ``_near_roots`` does: roots of both sides meet in tasks, by their keys."""
    expected = context.keep(theirs.rows.select("id", *typed_names(theirs.rows)))
    roots = context.roots.join(context.filters, "number").withColumnRenamed("number", "id")
    same = context.keep(matched_by_keys(roots, expected, context.types, theirs.types))
    extra = context.roots.join(same.selectExpr("one as number"), "number", "left_anti")
    missing = expected.select("id").join(same.selectExpr("other as id"), "id", "left_anti")
    count = context.root_count + expected.count()
    return count, _some(extra, context.shown), _some(missing, context.shown)


def _some(rows: DataFrame, shown: int) -> _Some:
    (name,) = rows.columns
    with kept_rows(rows) as kept:
        total = kept.count()
        first = kept.orderBy(name).limit(shown).collect() if total else []
    return _Some(total, [row[name] for row in first])

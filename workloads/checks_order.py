"""The invariants about who covers whom: edges, siblings, roots, and the complete order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.covering import Block, bit_pairs, covering_pairs, covers_rowwise
from posetlib.arrays.edges import Outline
from posetlib.arrays.ranges import FilterRanges
from workloads.blocks import BlockRows, Found, Here, Selection, Sent, found_pairs, typed_names
from workloads.context import Context, texts_by_id
from workloads.cover import minimal_cover
from workloads.datasets import SnapshotFiles, Workload, typed
from workloads.reports import WITNESSES, Outcome, not_applicable
from workloads.rows import columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "bad_edges",
    "complete_order",
    "edge_covers",
    "roots_minimal_cover",
    "same_roots",
    "sibling_pure",
]


# -- edge-covers -----------------------------------------------------------------------------------


def edge_covers(context: Context) -> Outcome:
    """Every parent strictly covers its child."""
    parents, children, covers = bad_edges(context)
    first = range(min(WITNESSES, len(parents)))
    texts = context.texts([*parents[: len(first)].tolist(), *children[: len(first)].tolist()])
    witnesses = [
        {
            "parent": texts[int(parents[at])],
            "child": texts[int(children[at])],
            "why": "the child covers its parent as well"
            if covers[at]
            else "the parent does not cover its child",
            "ids": context.ids([parents[at], children[at]]),
        }
        for at in first
    ]
    return Outcome(context.edge_count, len(parents), witnesses)


def bad_edges(context: Context) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the edges that do not go strictly down: parents, children, and whether they cover."""
    if "bad edges" not in context.facts:
        outline = context.outline
        found = context.filters.by_rows((outline.parents, outline.children), _edge_faults)
        context.facts["bad edges"] = tuple(
            np.concatenate([np.zeros(0, kind), *(part[at] for part in found)]).astype(kind)
            for at, kind in enumerate((np.int64, np.int64, np.bool_))
        )
    edges: tuple[IntArray, IntArray, BoolArray] = context.facts["bad edges"]
    return edges


def _edge_faults(
    parents: FilterRanges, children: FilterRanges, above: IntArray, below: IntArray
) -> tuple[IntArray, IntArray, BoolArray]:
    down = covers_rowwise(parents, children)
    wrong = np.flatnonzero(~down | covers_rowwise(children, parents))
    return above[wrong], below[wrong], down[wrong]


# -- sibling-pure ----------------------------------------------------------------------------------


def sibling_pure(context: Context) -> Outcome:
    """No child of a node, or root, covers another one of the same node."""
    outline, roots = context.outline, context.roots
    # Roots are siblings: the group of those whose parent is nobody.
    groups = np.concatenate([outline.parents, np.full(len(roots), -1)])
    rows = Selection.of(np.concatenate([outline.children, roots]), groups, groups)
    found = Found.sum(context.filters.compared(rows, rows, found_pairs), WITNESSES)
    texts = context.texts(each for pair in found.pairs for each in pair if each >= 0)
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
    return Outcome(len(rows.numbers), found.total, witnesses)


# -- roots-minimal-cover ---------------------------------------------------------------------------


def roots_minimal_cover(context: Context) -> Outcome:
    """The roots are exactly the filters that no other filter covers.

    Whatever its parent covers has a filter above it, up to a root or to a child that no parent
    covers: so it is enough to compare these with one another.
    """
    suspects = _uncovered_children(context)
    numbers = np.concatenate([context.roots, suspects])
    is_root = np.concatenate([np.ones(len(context.roots)), np.zeros(len(suspects))])
    rows = Selection.of(numbers, None, is_root.astype(np.int64))
    found = context.filters.compared(rows, rows, _covered_candidates)
    covered = {each for _, others in found for each in others}
    lonely = [each for each in suspects.tolist() if each not in covered]
    bad_roots: dict[int, int] = {}
    for pairs, _ in found:
        for root, by in pairs.items():
            bad_roots[root] = min(by, bad_roots.get(root, by))
    sample = sorted(bad_roots.items())[:WITNESSES]
    texts = context.texts([each for pair in sample for each in pair] + lonely[:WITNESSES])
    witnesses = [
        {
            "root": texts[root],
            "covered by": texts[by],
            "why": "a root is covered by another filter",
            "ids": context.ids([root, by]),
        }
        for root, by in sample
    ]
    witnesses += [
        {
            "filter": texts[each],
            "why": "no root, and no other filter covers it",
            "ids": context.ids([each]),
        }
        for each in lonely[:WITNESSES]
    ]
    return Outcome(context.node_count, len(bad_roots) + len(lonely), witnesses)


def _uncovered_children(context: Context) -> IntArray:
    """Return the nodes that have parents, none of which covers them."""
    _, children, covers = bad_edges(context)
    outline = context.outline
    wrong = np.bincount(children[~covers], minlength=context.node_count)
    every = np.bincount(outline.children, minlength=context.node_count)
    return np.flatnonzero((wrong > 0) & (wrong == every))


def _covered_candidates(one: BlockRows, other: BlockRows) -> tuple[dict[int, int], set[int]]:
    """Return the roots that are covered, each with one that covers it, and the others that are."""
    roots: dict[int, int] = {}
    others: set[int] = set()
    for f, g in covering_pairs(one.columns, other.columns, one.numbers, other.numbers):
        is_root = other.labels[g] == 1
        others.update(other.numbers[g[~is_root]].tolist())
        for by, root in zip(
            one.numbers[f[is_root]].tolist(), other.numbers[g[is_root]].tolist(), strict=True
        ):
            roots[root] = min(by, roots.get(root, by))
    return roots, others


# -- complete-order --------------------------------------------------------------------------------


def complete_order(context: Context) -> Outcome:
    """One filter strictly covers another exactly if a path leads from it to the other."""
    if "complete-order" not in context.kept:
        return not_applicable("only the filters poset keeps the complete order")
    rows = Selection.of(np.arange(context.node_count))
    one_block = context.node_count <= context.filters.size
    links: Sent[Outline] = Here(context.outline) if one_block else context.shared_outline
    compare = partial(_order_faults, links=links)
    found = Found.sum(context.filters.compared(rows, rows, compare), WITNESSES)
    texts = context.texts(each for one, other, _ in found.pairs for each in (one, other))
    reasons = ("covered without a path", "a path without covering", "a path leads back to it")
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


#: The links, the nodes and what is below each, of the block that was compared last in this process.
_last_reach: list[tuple[Outline, IntArray, Words]] = []


def _order_faults(one: BlockRows, other: BlockRows, links: Sent[Outline]) -> Found:
    """Return pairs of a block with another that are covered and not joined, or joined only."""
    outline = links.value
    block = Block(other.columns)
    joined = _reach(outline, other.numbers, block.words)[one.numbers]
    covered = block.covered(one.columns, np.arange(len(one.numbers)))
    rows, which = bit_pairs(covered ^ joined)
    is_joined = _bits_at(joined, rows, which)
    same = one.numbers[rows] == other.numbers[which]
    reasons = np.where(is_joined, np.where(same, 2, 1), 0)
    keep = ~same | is_joined
    doubtful = np.flatnonzero(keep & ~is_joined)
    # Equivalent filters cover each other, and neither does so strictly.
    back = covers_rowwise(other.columns.take(which[doubtful]), one.columns.take(rows[doubtful]))
    keep[doubtful[back]] = False
    # A node covers itself, so on a cycle the two agree, and are wrong.
    pairs = sorted(
        zip(
            one.numbers[rows[keep]].tolist(),
            other.numbers[which[keep]].tolist(),
            reasons[keep].tolist(),
            strict=True,
        )
    )
    loops = _loops(one, other, joined)
    pairs += [(each, each, 2) for each in loops]
    return Found(int(keep.sum()) + len(loops), sorted(pairs)[:20])


def _loops(one: BlockRows, other: BlockRows, joined: Words) -> list[int]:
    """Return the nodes of both blocks that are below themselves."""
    shared, mine, theirs = np.intersect1d(one.numbers, other.numbers, return_indices=True)
    back = _bits_at(joined, mine, theirs)
    return [int(each) for each in shared[back]]


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


def same_roots(context: Context) -> Outcome:
    """The roots are those of another table of the same pairs, or of the workload itself."""
    if context.other is not None:
        return _held_against_table(context, context.other)
    if context.files.after_operations:
        return not_applicable("the table is what operations left")
    if context.workload is None:
        return not_applicable("there is no workload and no other table")
    workload = context.workload
    with typed(
        workload.filters, workload.types, "the workload's filters", skip_bad=context.skip_bad
    ) as (rows, _):
        expected = minimal_cover(rows, workload.types)
        outcome = _compared_roots(context, expected, workload.filters, "the workload")
    if outcome.violations and not _related(context, workload):
        return not_applicable("the workload has none of the table's filters")
    return outcome


def _held_against_table(context: Context, other: SnapshotFiles) -> Outcome:
    with typed(
        other.nodes, other.types, "the other snapshot's nodes", skip_bad=context.skip_bad
    ) as (rows, _):
        below = other.edges.selectExpr("child as id").distinct()
        roots = rows.join(below, "id", "left_anti")
        return _compared_roots(context, roots, other.nodes, "the other table")


def _compared_roots(
    context: Context, expected: DataFrame, source: DataFrame, whose: str
) -> Outcome:
    theirs = expected.select("id", *typed_names(expected)).toArrow()
    matched = context.filters.by_rows(
        (context.roots,), partial(_equivalents, expected=theirs, types=context.types)
    )
    own = {each for part, _ in matched for each in part}
    others = {each for _, part in matched for each in part}
    extra = [each for each in context.roots.tolist() if each not in own]
    missing = sorted(set(theirs.column("id").to_pylist()) - others)
    texts = context.texts(extra[:WITNESSES])
    witnesses: list[dict[str, Any]] = [
        {"root": texts[each], "why": f"no root of {whose}", "ids": context.ids([each])}
        for each in extra[:WITNESSES]
    ]
    lost = texts_by_id(source, missing[:WITNESSES])
    witnesses += [
        {"root": lost[each], "why": f"a root of {whose}, and not of this table"}
        for each in missing[:WITNESSES]
    ]
    count = len(context.roots) + theirs.num_rows
    return Outcome(count, len(extra) + len(missing), witnesses)


def _equivalents(
    roots: FilterRanges, numbers: IntArray, expected: Any, types: Any
) -> tuple[list[int], list[int]]:
    """Return the roots that are equivalent to an expected one, and these."""
    theirs = columns_of(expected, roots.vocabulary, types)
    ids = np.asarray(expected.column("id"))
    own: list[int] = []
    others: list[int] = []
    apart = np.full(len(numbers), -1)
    for f, g in covering_pairs(roots, theirs, apart, np.full(len(ids), -2)):
        back = covers_rowwise(theirs.take(g), roots.take(f))
        own += numbers[f[back]].tolist()
        others += ids[g[back]].tolist()
    return own, others


def _related(context: Context, workload: Workload) -> bool:
    """Return whether the workload has a filter of the table's."""
    if not context.node_count:
        return True
    mine = context.files.nodes.select("filter")
    return not mine.join(workload.filters.select("filter"), "filter", "left_semi").isEmpty()

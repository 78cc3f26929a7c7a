"""The invariants about who covers whom: edges, siblings, roots, and the complete order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.covering import Block, bit_pairs, covering_pairs, covers_rowwise
from posetlib.arrays.edges import Outline
from posetlib.arrays.ranges import FilterRanges
from workloads.blocks import (
    BlockRows,
    Found,
    Here,
    Selection,
    Sent,
    clear_bits,
    found_pairs,
    same_labels,
    typed_names,
    without_self,
)
from workloads.checks_sameness import equivalence_classes
from workloads.context import Context, texts_by_id
from workloads.cover import minimal_cover
from workloads.datasets import SnapshotFiles, typed
from workloads.reports import Outcome, not_applicable
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
    first = range(min(context.shown, len(parents)))
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
        above, below, covers = (
            np.concatenate([np.zeros(0, np.int64), *(part[at] for part in found)])
            for at in range(3)
        )
        # Joined rows come in any order.
        order = np.lexsort((below, above))
        found_edges = above[order], below[order], covers[order].astype(np.bool_)
        context.facts["bad edges"] = found_edges
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
    found = Found.sum(
        context.filters.compared(rows, rows, partial(found_pairs, shown=context.shown)),
        context.shown,
    )
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

    Whatever covers a filter has parents that cover it as well, up to a root, to a *suspect*, which
    is a child that no other node above it covers, or round a cycle of equivalent filters, or to the
    filter itself, whose child is then equivalent to it. So roots and suspects are held against one
    another and against the ends of edges between equivalent filters.
    """
    suspects = _uncovered_children(context)
    targets = np.concatenate([context.roots, suspects])
    parents, children, covers = bad_edges(context)
    equivalent = np.concatenate([parents[covers], children[covers]])
    coverers = Selection.of(np.unique(np.concatenate([targets, equivalent])))
    is_covered = np.zeros(context.node_count, np.bool_)
    for part in context.filters.compared(coverers, Selection.of(targets), _covered_by_others):
        is_covered[part] = True
    bad_roots = context.roots[is_covered[context.roots]]
    lonely = suspects[~is_covered[suspects]]
    # Only of the roots that are shown is the coverer looked for.
    sample = bad_roots[: context.shown]
    by: dict[int, int] = {}
    for part in context.filters.compared(coverers, Selection.of(sample), _first_coverers):
        for root, other in part.items():
            by[root] = min(other, by.get(root, other))
    alone = lonely[: context.shown].tolist()
    texts = context.texts([*by.keys(), *by.values(), *alone])
    witnesses = [
        {
            "root": texts[root],
            "covered by": texts[by[root]],
            "why": "a root is covered by another filter",
            "ids": context.ids([root, by[root]]),
        }
        for root in sample.tolist()
    ]
    witnesses += [
        {
            "filter": texts[each],
            "why": "no root, and no other filter covers it",
            "ids": context.ids([each]),
        }
        for each in alone
    ]
    return Outcome(context.node_count, len(bad_roots) + len(lonely), witnesses)


def _uncovered_children(context: Context) -> IntArray:
    """Return the nodes that have parents, none of which, but for themselves, covers them."""
    parents, children, covers = bad_edges(context)
    outline = context.outline
    useless = ~covers | (parents == children)
    wrong = np.bincount(children[useless], minlength=context.node_count)
    every = np.bincount(outline.children, minlength=context.node_count)
    return np.flatnonzero((wrong > 0) & (wrong == every))


def _covered_by_others(one: BlockRows, other: BlockRows) -> IntArray:
    """Return what is covered by another node: all at once, 64 to a word."""
    bits = without_self(one, other)
    covered = np.bitwise_or.reduce(bits, axis=0)
    return np.unique(other.numbers[bit_pairs(covered[None, :])[1]])


def _first_coverers(one: BlockRows, other: BlockRows) -> dict[int, int]:
    """Return, for what is covered, the other node with the lowest number that covers it."""
    rows, which = bit_pairs(without_self(one, other))
    found: dict[int, int] = {}
    for by, number in zip(one.numbers[rows].tolist(), other.numbers[which].tolist(), strict=True):
        found[number] = min(by, found.get(number, by))
    return found


# -- complete-order --------------------------------------------------------------------------------


def complete_order(context: Context) -> Outcome:
    """One filter strictly covers another exactly if a path leads from it to the other."""
    if "complete-order" not in context.kept:
        return not_applicable("only the filters poset keeps the complete order")
    rows = Selection.of(np.arange(context.node_count), None, equivalence_classes(context))
    one_block = context.node_count <= context.filters.size
    links: Sent[Outline] = Here(context.outline) if one_block else context.shared_outline
    compare = partial(_order_faults, links=links, shown=context.shown)
    found = Found.sum(context.filters.compared(rows, rows, compare), context.shown)
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


def same_roots(context: Context) -> Outcome:
    """The roots are those of another table of the same pairs, or of the workload itself."""
    if context.other is not None:
        return _held_against_table(context, context.other)
    if context.files.after_operations:
        return not_applicable("the table is what operations left")
    if context.workload is None:
        return not_applicable("there is no workload and no other table")
    workload = context.workload
    with context.workload_filters() as rows:
        expected = minimal_cover(rows, workload.types)
        return _compared_roots(context, expected, workload.filters, "the workload")


def _held_against_table(context: Context, other: SnapshotFiles) -> Outcome:
    with typed(
        other.nodes,
        other.types,
        "the other snapshot's nodes",
        skip_bad=context.skip_bad,
        verify=True,
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
    texts = context.texts(extra[: context.shown])
    witnesses: list[dict[str, Any]] = [
        {"root": texts[each], "why": f"no root of {whose}", "ids": context.ids([each])}
        for each in extra[: context.shown]
    ]
    lost = texts_by_id(source, missing[: context.shown])
    witnesses += [
        {"root": lost[each], "why": f"a root of {whose}, and not of this table"}
        for each in missing[: context.shown]
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

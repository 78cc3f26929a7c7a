"""Who holds the same thing above and below: pairs of a node and a label that repeat on a path.

A table has each label at most once on a path. Most graphs that are asked about are forests, or
nearly: a few edges too many, or a cycle that one wrong edge closes. The nodes of a cycle are taken
as one node; along a forest the numbers at which a walk enters and leaves a node tell what is below
what; and only labels that are held above an edge too many and below one travel along the links.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.edges import Outline
from posetlib.bits import bit_pairs

__all__ = ["held_above", "held_bits", "repeated_on_paths"]

#: Labels that travel along the links together, in as many bits.
_LANES: Final = 256


def repeated_on_paths(
    outline: Outline, nodes: IntArray, labels: IntArray, *, harmless: BoolArray | None = None
) -> IntArray:
    """Return which pairs of a node and a label have another node above that has the label, too.

    ``harmless`` are edges of which it is known that paths of these alone repeat no label. Otherwise
    O((nodes + edges) log edges) for a forest, also with cycles; for other graphs so many steps for
    every 256 labels that are held both above and below an edge that no forest has.

    >>> tree = Outline.of(np.arange(3), np.array([0, 1]), np.array([1, 2]))
    >>> repeated_on_paths(tree, np.array([0, 1, 2]), np.array([7, 8, 7])).tolist()
    [2]
    """
    component, inner, on_cycle, harmless = _condensed(outline, harmless)
    several = np.bincount(component, minlength=inner.count) > 1
    places = component[nodes]
    # One row for each label of a component, and how many of its nodes hold it.
    order = np.lexsort((places, labels))
    first = np.ones(len(order), np.bool_)
    same = (np.diff(places[order]) == 0) & (np.diff(labels[order]) == 0)
    first[1:] = ~same
    which = np.empty(len(order), np.int64)
    which[order] = np.cumsum(first) - 1
    spots, names = places[order[first]], labels[order[first]]
    shared = (np.bincount(which, minlength=len(spots)) > 1) & several[spots]
    repeated = _repeated_among(inner, spots, names, on_cycle, harmless)
    return np.flatnonzero((shared | repeated)[which])


def _condensed(
    outline: Outline, harmless: BoolArray | None
) -> tuple[IntArray, Outline, BoolArray, BoolArray | None]:
    """Return the graph with the nodes of each cycle as one node, and each edge there once."""
    component = np.arange(outline.count)
    on_cycle = np.zeros(outline.count, np.bool_)
    inner = outline
    apart = np.ones(len(outline.parents), np.bool_)
    if outline.has_cycle():
        component, inner, members = outline.components()
        on_cycle = np.zeros(inner.count, np.bool_)
        on_cycle[component[members]] = True
        apart = component[outline.parents] != component[outline.children]
    if harmless is not None:
        harmless = harmless[apart]
    order = np.lexsort((inner.parents, inner.children))
    once = np.ones(len(order), np.bool_)
    once[1:] = (np.diff(inner.children[order]) != 0) | (np.diff(inner.parents[order]) != 0)
    kept = order[once]
    if harmless is not None:
        # An edge that stands for several is harmless only if all of them are.
        group = np.cumsum(once) - 1
        bad = np.bincount(group, weights=~harmless[order], minlength=len(kept)) > 0
        harmless = ~bad
    return (
        component,
        Outline(inner.ids, inner.parents[kept], inner.children[kept]),
        on_cycle,
        harmless,
    )


def _repeated_among(
    graph: Outline,
    nodes: IntArray,
    labels: IntArray,
    on_cycle: BoolArray,
    harmless: BoolArray | None,
) -> BoolArray:
    """Return which pairs have their label above as well, in a graph without cycles."""
    if harmless is None:
        # Edges come in order of their children: the first of each child makes a forest.
        extra = np.zeros(len(graph.children), np.bool_)
        extra[1:] = graph.children[1:] == graph.children[:-1]
        forest = Outline(graph.ids, graph.parents[~extra], graph.children[~extra])
        result = held_above(*forest.intervals(), nodes, labels)
        touching = np.zeros(graph.count, np.bool_)
    else:
        extra = ~harmless
        result = np.zeros(len(nodes), np.bool_)
        touching = on_cycle
    above, below = touching.copy(), touching.copy()
    above[graph.parents[extra]] = True
    below[graph.children[extra]] = True
    if not above.any():
        return result
    above = _with_all(graph, above, up=True)
    below = _with_all(graph, below, up=False)
    touched = np.intersect1d(labels[above[nodes]], labels[below[nodes]])
    held_by_several = np.unique(labels, return_counts=True)
    touched = np.intersect1d(touched, held_by_several[0][held_by_several[1] > 1])
    result[np.isin(labels, touched)] = False
    for start in range(0, len(touched), _LANES):
        some = touched[start : start + _LANES]
        own = held_bits(nodes, labels, some, graph.count)
        found, lanes = bit_pairs(own & graph.gathered_above(own))
        result |= _is_among(nodes, labels, found, some[lanes])
    return result


def _with_all(graph: Outline, marked: BoolArray, *, up: bool) -> BoolArray:
    """Return the marked nodes and all above them, or all below."""
    own = marked.astype(np.uint64)[:, None]
    gathered = graph.gathered_below(own) if up else graph.gathered_above(own)
    return np.asarray((own | gathered)[:, 0] > 0)


def held_above(enter: IntArray, leave: IntArray, nodes: IntArray, labels: IntArray) -> BoolArray:
    """Return which pairs have their label at a node above, too: O(n log n).

    ``enter`` and ``leave`` are those of ``Outline.intervals``. Of the nodes that a walk entered
    before, one is above exactly if it is not left yet.
    """
    order = np.lexsort((enter[nodes], labels))
    ends = leave[nodes[order]]
    group = np.cumsum(np.diff(labels[order], prepend=labels[order][:1]) != 0)
    # One running maximum for all groups: each later one lies beyond those before it.
    span = int(leave.max(initial=0)) + 1
    last = np.maximum.accumulate(ends + group * span)
    before = np.concatenate([[0], last[:-1]]) - group * span
    result = np.zeros(len(nodes), np.bool_)
    result[order] = before > enter[nodes[order]]
    return result


def held_bits(nodes: IntArray, labels: IntArray, some: IntArray, count: int) -> Words:
    """Return for each of ``count`` nodes which of some labels, in ascending order, it has."""
    bits = np.zeros((count, -(-len(some) // 64)), np.uint64)
    at = np.searchsorted(some, labels)
    known = np.flatnonzero(some.take(at, mode="clip") == labels) if len(some) else at[:0]
    lanes = at[known]
    np.bitwise_or.at(
        bits, (nodes[known], lanes >> 6), np.uint64(1) << (lanes & 63).astype(np.uint64)
    )
    return bits


def _is_among(nodes: IntArray, labels: IntArray, some: IntArray, names: IntArray) -> BoolArray:
    """Return which pairs are among some others."""
    if not len(some):
        return np.zeros(len(nodes), np.bool_)
    names_known, codes = np.unique(labels, return_inverse=True)
    width = len(names_known) + 1
    wanted = some * width + np.searchsorted(names_known, names)
    return np.isin(nodes * width + codes, wanted)

"""The invariants about interfaces: on nodes, along paths, in the index, and without redundancy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.covering import bit_pairs
from posetlib.arrays.edges import Outline
from posetlib.tables import Shape
from workloads.blocks import Found, Sent
from workloads.checks_entries import redundant_pairs
from workloads.context import Context, Holdings
from workloads.reports import Outcome, not_applicable

__all__ = [
    "interface_index",
    "interfaces_nonempty",
    "minimum_interface",
    "no_redundant_pair",
]

#: Interfaces that travel along the paths together, in as many bits.
_LANES: Final = 256
_MISSING: Final = 0
_EXTRA: Final = 1


def interfaces_nonempty(context: Context) -> Outcome:
    """Every node has an interface."""
    count = np.bincount(context.held.nodes, minlength=context.node_count)
    empty = np.flatnonzero(count == 0)
    texts = context.texts(empty[: context.shown].tolist())
    witnesses = [
        {"filter": text, "why": "no interface", "ids": context.ids([each])}
        for each, text in texts.items()
    ]
    return Outcome(context.node_count, len(empty), witnesses)


def no_redundant_pair(context: Context) -> Outcome:
    """For no pair of a filter and an interface, another of the same interface covers the filter."""
    if "no-redundant-pair" not in context.kept:
        return not_applicable("only fp and nrf eliminate by interface everywhere")
    held = context.held
    found = Found.sum(redundant_pairs(context), context.shown)
    texts = context.texts(each for one, other, _ in found.pairs for each in (one, other))
    witnesses = [
        {
            "covers": texts[one],
            "covered": texts[other],
            "interface": context.names[interface],
            "why": "one interface holds both",
            "ids": context.ids([one, other]),
        }
        for one, other, interface in found.pairs
    ]
    return Outcome(len(held.nodes), found.total, witnesses)


# -- along the paths -------------------------------------------------------------------------------


def minimum_interface(context: Context) -> Outcome:
    """No interface twice on a path."""
    if context.promises.shape is Shape.LIST:
        return not_applicable("a list has no paths of its own")
    if "minimum-interface" not in context.kept:
        return not_applicable("a local table eliminates nothing")
    if context.outline.is_forest():
        found = _nested(context)
    else:
        # What one node alone holds is twice on no path.
        holders = np.bincount(context.held.interfaces, minlength=len(context.names))
        found = _along_paths(context, np.flatnonzero(holders > 1), _repeated)
    witnesses = []
    for number, interface, _ in found.pairs:
        above = _holder_above(context, number, interface)
        texts = context.texts([number, above])
        witnesses.append(
            {
                "above": texts[above],
                "below": texts[number],
                "interface": context.names[interface],
                "why": "an interface twice on a path",
                "ids": context.ids([above, number]),
            }
        )
    return Outcome(context.node_count, found.total, witnesses)


def _nested(context: Context) -> Found:
    """Return, for a forest, the nodes below another one of the same interface: O(n log n).

    Of the nodes that an interface holds, in the order in which a walk enters them, one is below
    another if it is entered before that one, or any before it, is left.
    """
    enter, leave = context.outline.intervals()
    nodes, interfaces = context.held.nodes, context.held.interfaces
    order = np.lexsort((enter[nodes], interfaces))
    nodes, interfaces = nodes[order], interfaces[order]
    # Interfaces one after the other on one line, so that one running maximum serves all.
    shift = interfaces * (context.node_count + 1)
    left = np.maximum.accumulate(shift + leave[nodes])
    inside = np.flatnonzero((shift + enter[nodes])[1:] < left[:-1]) + 1
    pairs = zip(nodes[inside].tolist(), interfaces[inside].tolist(), strict=True)
    return Found(len(inside), sorted((*pair, _MISSING) for pair in pairs)[: context.shown])


def interface_index(context: Context) -> Outcome:
    """The index equals the interfaces of the descendants."""
    if "interface-index" not in context.kept:
        return not_applicable("only bf and nrf have an index")
    if context.node_count and not context.says.any():
        return not_applicable("the snapshot leaves the index out")
    found = _along_paths(context, np.arange(len(context.names)), _index_faults)
    texts = context.texts(number for number, _, _ in found.pairs)
    reasons = {
        _MISSING: "a descendant holds it and the index does not say so",
        _EXTRA: "the index says so and no descendant holds it",
    }
    witnesses = [
        {
            "filter": texts[number],
            "interface": context.names[interface],
            "why": reasons[kind],
            "ids": context.ids([number]),
        }
        for number, interface, kind in found.pairs
    ]
    return Outcome(int(context.says.sum()), found.total, witnesses)


Faults = Callable[[Outline, Words, Words, BoolArray], dict[int, Words]]


def _along_paths(context: Context, interfaces: IntArray, find: Faults) -> Found:
    """Return what a function finds when interfaces travel along all paths, some at a time."""
    size = max(64, min(_LANES, -(-len(interfaces) // context.filters.parts)))
    work = [interfaces[at : at + size] for at in range(0, len(interfaces), size)]
    if not work:
        return Found(0, [])
    held = _by_interface(context.held), _by_interface(context.listed)
    sides = (context.outline, context.says, *held)
    found = context.filters.worked(
        partial(_each_lanes, find=find, shown=context.shown), work, sides
    )
    return Found.sum(found, context.shown)


def _by_interface(holdings: Holdings) -> Holdings:
    order = np.argsort(holdings.interfaces, kind="stable")
    return Holdings(holdings.nodes[order], holdings.interfaces[order])


def _each_lanes(
    work: Iterator[IntArray],
    sides: Sent[tuple[Outline, BoolArray, Holdings, Holdings]],
    find: Faults,
    shown: int,
) -> Iterator[Found]:
    outline, says, *held = sides.value
    for interfaces in work:
        words = -(-len(interfaces) // 64)
        own, listed = (_bits(each, interfaces, outline.count, words) for each in held)
        total = 0
        pairs: list[tuple[int, int, int]] = []
        for kind, bits in find(outline, own, listed, says).items():
            nodes, which = bit_pairs(bits)
            total += len(nodes)
            lanes = interfaces[which[:shown]].tolist()
            pairs += [
                (node, lane, kind) for node, lane in zip(nodes[:shown].tolist(), lanes, strict=True)
            ]
        yield Found(total, sorted(pairs)[:shown])


def _bits(holdings: Holdings, interfaces: IntArray, count: int, words: int) -> Words:
    """Return for each node which of some interfaces it has."""
    bits = np.zeros((count, words), np.uint64)
    begin = np.searchsorted(holdings.interfaces, interfaces, side="left")
    end = np.searchsorted(holdings.interfaces, interfaces, side="right")
    for lane, (first, last) in enumerate(zip(begin.tolist(), end.tolist(), strict=True)):
        nodes = holdings.nodes[first:last]
        bits[nodes, lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
    return bits


def _repeated(outline: Outline, held: Words, _listed: Words, _says: BoolArray) -> dict[int, Words]:
    above = outline.without_self(outline.gathered_above(held), held, above=True)
    return {_MISSING: held & above}


def _index_faults(
    outline: Outline, held: Words, listed: Words, says: BoolArray
) -> dict[int, Words]:
    below = outline.without_self(outline.gathered_below(held), held, above=False)
    # A node without an index says nothing, in a file as in a snapshot of the library's.
    return {
        _MISSING: np.where(says[:, None], below & ~listed, np.uint64(0)),
        _EXTRA: listed & ~below,
    }


def _holder_above(context: Context, number: int, interface: int) -> int:
    holders = set(context.held.nodes[context.held.interfaces == interface].tolist())
    return next(each for each in context.outline.ancestors(number) if each in holders)

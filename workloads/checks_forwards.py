"""forwards-agree: the mechanisms for forwards sets, from the relation alone and from the links.

A filter is *wanted* by every neighbour, except that its only holder, if a neighbour, does not want
it. It goes to the neighbours that want it and that want nothing which strictly covers it [T 3.2.1].
Two filters with different holders, or one with several, are wanted everywhere between them; so a
covered filter goes to h alone, if all that covers it is held by h alone and it is not, and else
nowhere. A set is thus told by two numbers: what kind it is, and one interface.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words
from posetlib.arrays.covering import bit_pairs, covers_rowwise, minimal
from posetlib.arrays.ranges import FilterRanges
from workloads.blocks import BlockRows, Selection, without_self
from workloads.context import Context
from workloads.reports import Outcome, not_applicable

__all__ = ["forwards_agree"]

#: Nobody, all but one interface (-1: all), one interface.
_NOBODY: Final = 0
_ALL_BUT: Final = 1
_ONLY: Final = 2
#: Wanted everywhere; held by nobody known.
_MANY: Final = -1
_UNKNOWN: Final = -2


def forwards_agree(context: Context) -> Outcome:
    """The table's own mechanism and the naive one agree."""
    mechanism = context.promises.forwards
    if mechanism is None:
        return not_applicable("only fp and nrf have a mechanism of their own")
    if not context.node_count:
        return Outcome(0)
    everyone = context.names if context.neighbours is None else context.neighbours
    holders = _sole_holders(context, frozenset(everyone))
    naive = _naive(context, holders)
    own = _own(context, holders)
    differ = np.flatnonzero((naive != own).any(axis=1)).tolist()
    names = context.names
    sets = [
        (each, _as_set(naive[each], names, everyone), _as_set(own[each], names, everyone))
        for each in differ
    ]
    # With few neighbours, one set may be told in two ways.
    wrong = [each for each in sets if each[1] != each[2]]
    texts = context.texts(each for each, _, _ in wrong[: context.shown])
    witnesses = [
        {
            "filter": texts[each],
            "naive": sorted(one),
            mechanism: sorted(other),
            "why": "the mechanisms send it to different neighbours",
            "ids": context.ids([each]),
        }
        for each, one, other in wrong[: context.shown]
    ]
    return Outcome(context.node_count, len(wrong), witnesses)


def _as_set(code: IntArray, names: list[str], everyone: list[str]) -> frozenset[str]:
    kind, interface = code.tolist()
    if kind == _NOBODY:
        return frozenset()
    if kind == _ONLY:
        return frozenset({names[interface]})
    return frozenset(everyone) - ({names[interface]} if interface >= 0 else frozenset())


def _sole_holders(context: Context, everyone: frozenset[str]) -> IntArray:
    """Return the interface that alone holds each node, if it is a neighbour; else -1."""
    count = np.bincount(context.held.nodes, minlength=context.node_count)
    holders = np.full(context.node_count, _MANY)
    holders[context.held.nodes] = context.held.interfaces
    known = np.array([name in everyone for name in context.names] or [False], np.bool_)
    holders[(count != 1) | ~known[holders]] = _MANY
    return holders


def _sets(top: IntArray, holders: IntArray, alone: IntArray, labels: IntArray) -> IntArray:
    result = np.zeros((len(holders), 2), np.int64)
    result[top] = np.stack([np.full(len(top), _ALL_BUT), holders[top]], axis=1)
    result[alone] = np.stack([np.full(len(alone), _ONLY), labels], axis=1)
    return result


# -- from the relation alone -----------------------------------------------------------------------


def _naive(context: Context, holders: IntArray) -> IntArray:
    """Return the sets, from filters and holders.

    What is covered at all is covered by a filter of the minimal cover. If all that covers it there
    is held by h, then whatever else covers it without being held by h alone is in the same case, so
    that only these need to be compared with one another.
    """
    filters = context.filters
    every = np.arange(context.node_count)
    parts = filters.by_rows((every,), _local_minimal)
    # The cover of the parts' covers is that of the whole.
    some = np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)
    inner = filters.compared(Selection.of(some), Selection.of(some), _strictly_covered)
    top = np.setdiff1d(some, np.concatenate([np.zeros(0, np.int64), *inner]))
    one = Selection.of(top, None, holders[top])
    found = filters.compared(one, Selection.of(every), _holders_above)
    above = _merged(found, context.node_count)
    case = np.flatnonzero((above >= 0) & (above != holders))
    case = np.setdiff1d(case, top)
    rows = Selection.of(case, above[case])
    covered = filters.compared(rows, rows, _strictly_covered)
    alone = np.setdiff1d(case, np.concatenate([np.zeros(0, np.int64), *covered]))
    return _sets(top, holders, alone, above[alone])


def _local_minimal(filters: FilterRanges, numbers: IntArray) -> IntArray:
    return numbers[minimal(filters, numbers)]


def _strictly_covered(one: BlockRows, other: BlockRows) -> IntArray:
    """Return what another filter covers; of equivalent ones all but the first."""
    bits = without_self(one, other)
    rows, which = bit_pairs(bits)
    # Only with a later equivalent is the first one covered by what it covers itself.
    later = np.flatnonzero(one.numbers[rows] > other.numbers[which])
    back = _covers_back(one, other, rows[later], which[later])
    keep = np.ones(len(rows), np.bool_)
    keep[later[back]] = False
    return np.unique(other.numbers[which[keep]])


def _covers_back(one: BlockRows, other: BlockRows, rows: IntArray, which: IntArray) -> BoolArray:
    return covers_rowwise(other.columns.take(which), one.columns.take(rows))


def _by_holder(one: BlockRows, other: BlockRows) -> tuple[IntArray, Words]:
    """Return, by holder, what the filters of a block cover in another."""
    bits = without_self(one, other)
    order = np.argsort(one.labels, kind="stable")
    holders, starts = np.unique(one.labels[order], return_index=True)
    return holders, np.bitwise_or.reduceat(bits[order], starts, axis=0)


def _holders_above(one: BlockRows, other: BlockRows) -> tuple[IntArray, IntArray]:
    """Return, for what is covered, the one holder of all that covers it; -1 if there are more."""
    holders, bits = _by_holder(one, other)
    once = np.zeros(bits.shape[1], np.uint64)
    more = np.zeros(bits.shape[1], np.uint64)
    for row, holder in zip(bits, holders.tolist(), strict=True):
        more |= row if holder == _MANY else once & row
        once |= row
    which, covered = bit_pairs(bits & ~more)
    several = bit_pairs(more[None, :])[1]
    numbers = np.concatenate([other.numbers[covered], other.numbers[several]])
    return numbers, np.concatenate([holders[which], np.full(len(several), _MANY)])


def _merged(parts: list[tuple[IntArray, IntArray]], count: int) -> IntArray:
    """Return for each node the holder that all parts name; -1 if they differ, -2 if none does."""
    result = np.full(count, _UNKNOWN)
    for numbers, holders in parts:
        known = result[numbers]
        result[numbers] = np.where(
            known == _UNKNOWN, holders, np.where(known == holders, holders, _MANY)
        )
    return result


# -- from the links --------------------------------------------------------------------------------


def _own(context: Context, holders: IntArray) -> IntArray:
    """Return the sets, from the first two levels of the table."""
    outline, roots = context.outline, context.roots
    is_root = outline.is_root()
    second = ~is_root
    second[outline.children[~is_root[outline.parents]]] = False
    # The holder of all parents, -1 if there are several or one is wanted everywhere.
    least = np.full(context.node_count, np.iinfo(np.int64).max)
    most = np.full(context.node_count, _UNKNOWN)
    np.minimum.at(least, outline.children, holders[outline.parents])
    np.maximum.at(most, outline.children, holders[outline.parents])
    case = np.flatnonzero(second & (least == most) & (least >= 0) & (least != holders))
    if context.promises.forwards == "forest":
        # A forest forgets orders: both levels are searched for what else covers the filter.
        levels = np.flatnonzero(is_root | second)
        covered = context.filters.compared(
            Selection.of(levels, None, holders[levels]),
            Selection.of(case, None, least[case]),
            _held_elsewhere,
        )
        case = np.setdiff1d(case, np.concatenate([np.zeros(0, np.int64), *covered]))
    return _sets(roots, holders, case, least[case])


def _held_elsewhere(one: BlockRows, other: BlockRows) -> IntArray:
    """Return what is covered by a filter that someone else than the label's interface holds."""
    holders, bits = _by_holder(one, other)
    which, covered = bit_pairs(bits)
    return np.unique(other.numbers[covered[holders[which] != other.labels[covered]]])

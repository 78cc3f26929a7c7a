"""match-agrees: walking the links finds the same interfaces as asking every filter."""

from __future__ import annotations

import json
from functools import partial
from operator import itemgetter
from typing import Any, Final

import numpy as np

from posetlib.array_types import IntArray, Words
from posetlib.arrays.batch_matching import Audience
from posetlib.arrays.positions import encode_notifications
from posetlib.arrays.ranges import FilterRanges
from posetlib.generating import Parameters, generated_notifications
from workloads.checks_links import is_acyclic
from workloads.checks_sameness import examples_of
from workloads.context import Context
from workloads.match import read_notifications
from workloads.reports import Outcome

__all__ = ["match_agrees"]

Notification = dict[str, Any]
#: How many notifications are walked through together.
_TOGETHER: Final = 256


def match_agrees(context: Context) -> Outcome:
    """Matching equals the naive scan: no false positive, no false negative.

    A walk that goes into matching nodes alone misses a node only if a notification matches a child
    and not its parent, or if no root leads to it. So each edge is held against all notifications,
    and only those that break one are walked through.
    """
    notifications = _notifications(context)
    if not notifications or not context.node_count:
        return Outcome(0)
    outline = context.outline
    missed = np.zeros(-(-len(notifications) // 64), np.uint64)
    for part in context.filters.by_rows(
        (outline.parents, outline.children), partial(_missed, notifications=notifications)
    ):
        missed |= part
    if is_acyclic(context):
        flags = np.unpackbits(missed.view(np.uint8), bitorder="little", count=len(notifications))
        suspects = np.flatnonzero(flags).tolist()
    else:
        suspects = list(range(len(notifications)))
    outcome = Outcome(len(notifications))
    for start in range(0, len(suspects), _TOGETHER):
        some = suspects[start : start + _TOGETHER]
        _walk_through(context, [notifications[each] for each in some], outcome)
    return outcome


def _missed(
    parents: FilterRanges,
    children: FilterRanges,
    _above: IntArray,
    _below: IntArray,
    notifications: list[Notification],
) -> Words:
    """Return the notifications that match a child and not its parent."""
    missed: Words = np.zeros(-(-len(notifications) // 64), np.uint64)
    audience = _audience(notifications, parents, children)
    for start in range(0, len(parents), 8192):
        some = np.arange(start, min(start + 8192, len(parents)))
        gap = audience.matched(children.take(some)) & ~audience.matched(parents.take(some))
        missed |= np.bitwise_or.reduce(gap, axis=0)
    return missed


def _audience(notifications: list[Notification], *sides: FilterRanges) -> Audience:
    names = list(dict.fromkeys(name for side in sides for name in side.lows))
    return Audience(encode_notifications(notifications, names, sides[0].vocabulary))


def _walk_through(context: Context, suspects: list[Notification], outcome: Outcome) -> None:
    """Compare the walk with the scan, for some notifications."""
    outline = context.outline
    allowed = np.zeros((outline.count, -(-len(suspects) // 64)), np.uint64)
    for numbers, bits in context.filters.by_rows(
        (np.arange(outline.count),), partial(_matching_rows, notifications=suspects)
    ):
        allowed[numbers] = bits
    reached = outline.reached(allowed)
    for at, notification in enumerate(suspects):
        word, bit = at >> 6, np.uint64(at & 63)
        scanned, walked = (
            (each[:, word] >> bit & np.uint64(1)).astype(np.bool_) for each in (allowed, reached)
        )
        lost = _held(context, scanned) - _held(context, walked)
        if lost:
            outcome.violations += 1
            if len(outcome.witnesses) < context.shown:
                outcome.witnesses.append(_witness(context, notification, lost, scanned & ~walked))


def _held(context: Context, nodes: Any) -> set[int]:
    """Return the interfaces that some nodes hold."""
    return set(np.unique(context.held.interfaces[nodes[context.held.nodes]]).tolist())


def _witness(
    context: Context, notification: Notification, lost: set[int], hidden: Any
) -> dict[str, Any]:
    held = context.held
    guilty = held.nodes[hidden[held.nodes] & np.isin(held.interfaces, list(lost))]
    number = int(guilty[0])
    return {
        "notification": json.dumps(notification),
        "missed": sorted(context.names[each] for each in lost),
        "filter": context.texts([number])[number],
        "why": "it matches, and no walk from the roots comes to it",
        "ids": context.ids([number]),
    }


def _matching_rows(
    filters: FilterRanges, numbers: IntArray, notifications: list[Notification]
) -> tuple[IntArray, Words]:
    """Return the nodes that match any of the notifications, and which."""
    bits = _audience(notifications, filters).matched(filters)
    some = np.flatnonzero(bits.any(axis=1))
    return numbers[some], bits[some]


# -- which notifications ---------------------------------------------------------------------------


def _notifications(context: Context) -> list[Notification]:
    """Return the workload's first notifications, or else some that the parameters or nodes give."""
    limit = context.notifications
    if context.workload is not None:
        if context.workload.notifications is not None:
            rows = context.workload.notifications.orderBy("id").limit(limit).collect()
            texts = [row["notification"] for row in rows]
            return read_notifications(texts, [row["id"] for row in rows])
        parameters = context.workload.header.get("parameters")
        if isinstance(parameters, dict):
            try:
                made = Parameters.from_dict(parameters)
            except (TypeError, ValueError):
                return _examples(context, limit)
            return generated_notifications(made, np.arange(limit)).mappings
    return _examples(context, limit)


def _examples(context: Context, limit: int) -> list[Notification]:
    """Return a notification for each of some nodes that it matches, as far as one is known."""
    step = max(1, context.node_count // limit)
    chosen = np.arange(0, context.node_count, step)[:limit]
    made = [each for part in context.filters.by_rows((chosen,), examples_of) for each in part]
    # Joined rows come in any order, and the first notifications are what a report shows.
    return [
        {name: value for name, value in each.items() if isinstance(value, bool | int | float | str)}
        for _, each in sorted(made, key=itemgetter(0))
    ]

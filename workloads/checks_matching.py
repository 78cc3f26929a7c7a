"""match-agrees: walking the links finds the same interfaces as asking every filter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from posetlib.array_types import IntArray, Words
from posetlib.arrays.batch_matching import Audience
from posetlib.arrays.edges import Outline
from posetlib.arrays.positions import Vocabulary, encode_notifications
from posetlib.arrays.ranges import FilterRanges
from posetlib.generating import Parameters, generated_notifications
from posetlib.models import notification_text, read_documents
from workloads.checks_links import is_acyclic
from workloads.checks_sameness import examples_of
from workloads.match import read_notifications
from workloads.near import NearContext
from workloads.opening import Opened, by_place
from workloads.reports import Outcome
from workloads.rows import columns_of
from workloads.spread import Arrived, SpreadContext, outline_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["match_agrees"]

Notification = dict[str, Any]
#: How many notifications are walked through together.
_TOGETHER: Final = 256
#: The types of values that an example may have: those of JSON, and nested objects for documents.
_KINDS: Final = (bool, int, float, str, dict)
_LOST: Final = "at long, missed array<long>, guilty long"


@dataclass
class _Lost:
    """A notification by its place, the interfaces that a walk misses, and a node that it misses."""

    at: int
    missed: list[int]
    guilty: int


def match_agrees(context: Opened) -> Outcome:
    """Matching equals the naive scan: no false positive, no false negative.

    A walk that goes into matching nodes alone misses a node only if a notification matches a child
    and not its parent, or if no root leads to it. So each edge is held against all notifications,
    and only those that break one are walked through.
    """
    notifications = _notifications(context)
    if not notifications or not context.node_count:
        return Outcome(0)
    suspects = list(range(len(notifications)))
    if is_acyclic(context):
        missed = by_place(
            context,
            partial(_near_missed, notifications=notifications),
            partial(_spread_missed, notifications=notifications),
        )
        flags = np.unpackbits(missed.view(np.uint8), bitorder="little", count=len(notifications))
        suspects = np.flatnonzero(flags).tolist()
    lost: list[_Lost] = []
    if suspects:
        some: dict[str, Any] = {"notifications": notifications, "suspects": suspects}
        lost = by_place(context, partial(_near_lost, **some), partial(_spread_lost, **some))
    shown = lost[: context.shown]
    texts = context.texts(each.guilty for each in shown)
    names = context.interface_names(name for each in shown for name in each.missed)
    witnesses = [
        {
            "notification": notification_text(notifications[each.at]),
            "missed": sorted(names[name] for name in each.missed),
            "filter": texts[each.guilty],
            "why": "it matches, and no walk from the roots comes to it",
            "ids": context.ids([each.guilty]),
        }
        for each in shown
    ]
    return Outcome(len(notifications), len(lost), witnesses)


def _near_missed(context: NearContext, notifications: list[Notification]) -> Words:
    """Return the notifications that match a child and not its parent."""
    outline = context.outline
    missed: Words = np.zeros(-(-len(notifications) // 64), np.uint64)
    for part in context.filters.by_rows(
        (outline.parents, outline.children), partial(_missed, notifications=notifications)
    ):
        missed |= part
    return missed


def _spread_missed(context: SpreadContext, notifications: list[Notification]) -> Words:
    """Return what ``_near_missed`` does."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    find = partial(_missed_words, notifications=notifications)
    found = context.by_edges(find, "word long, bits long")
    rows = found.groupBy("word").agg(f.bit_or("bits").alias("bits")).collect()
    missed = np.zeros(-(-len(notifications) // 64), np.int64)
    for row in rows:
        missed[row["word"]] = row["bits"]
    return missed.view(np.uint64)


def _missed_words(
    parents: FilterRanges,
    children: FilterRanges,
    above: IntArray,
    below: IntArray,
    notifications: list[Notification],
) -> tuple[IntArray, IntArray]:
    missed = _missed(parents, children, above, below, notifications)
    words = np.flatnonzero(missed)
    return words, missed.view(np.int64)[words]


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


def _matching_rows(
    filters: FilterRanges, numbers: IntArray, notifications: list[Notification]
) -> tuple[IntArray, Words]:
    """Return the nodes that match any of the notifications, and which."""
    bits = _audience(notifications, filters).matched(filters)
    some = np.flatnonzero(bits.any(axis=1))
    return numbers[some], bits[some]


# -- the walk against the scan ---------------------------------------------------------------------


def _near_lost(
    context: NearContext, notifications: list[Notification], suspects: list[int]
) -> list[_Lost]:
    """Return of some notifications those for which the walk misses an interface."""
    outline, held = context.outline, context.held
    lost: list[_Lost] = []
    for start in range(0, len(suspects), _TOGETHER):
        places = suspects[start : start + _TOGETHER]
        some = [notifications[each] for each in places]
        allowed = np.zeros((outline.count, -(-len(some) // 64)), np.uint64)
        for numbers, bits in context.filters.by_rows(
            (np.arange(outline.count),), partial(_matching_rows, notifications=some)
        ):
            allowed[numbers] = bits
        lost += _walked(outline, allowed, held.nodes, held.interfaces, places)
    return lost


def _walked(
    outline: Outline, allowed: Words, nodes: IntArray, interfaces: IntArray, places: list[int]
) -> list[_Lost]:
    """Compare the walk with the scan: ``allowed`` has the notifications that match each node.

    ``nodes`` and ``interfaces`` are pairs, in order of the nodes.
    """
    reached = outline.reached(allowed)
    found = []
    for at, place in enumerate(places):
        word, bit = at >> 6, np.uint64(at & 63)
        scanned, walked = (
            (each[:, word] >> bit & np.uint64(1)).astype(np.bool_) for each in (allowed, reached)
        )
        lost = np.setdiff1d(interfaces[scanned[nodes]], interfaces[walked[nodes]])
        if len(lost):
            hidden = (scanned & ~walked)[nodes] & np.isin(interfaces, lost)
            found.append(_Lost(place, lost.tolist(), int(nodes[np.flatnonzero(hidden)[0]])))
    return found


def _spread_lost(
    context: SpreadContext, notifications: list[Notification], suspects: list[int]
) -> list[_Lost]:
    """Return what ``_near_lost`` does: tasks have all links, and some notifications each."""
    lost: list[_Lost] = []
    # As many tasks as there are cores: each has the bits of its own notifications alone.
    some = context.parts * _TOGETHER
    for start in range(0, len(suspects), some):
        places = suspects[start : start + some]
        chosen = [notifications[each] for each in places]
        matching = context.by_rows(
            partial(_matching_parts, notifications=chosen), "number long, part long, bits binary"
        )
        divided = {"matching": (matching, "part"), "held": (_held_by(context, matching), "part")}
        count = -(-len(places) // _TOGETHER)
        work = partial(_lost_in_task, places=places)
        rows = context.in_tasks(work, _LOST, count, divided=divided).collect()
        lost += sorted((_Lost(*row) for row in rows), key=attrgetter("at"))
    return lost


def _held_by(context: SpreadContext, matching: DataFrame) -> DataFrame:
    return matching.select("number", "part").join(context.held, "number")


def _matching_parts(
    filters: FilterRanges, numbers: IntArray, notifications: list[Notification]
) -> tuple[Any, ...]:
    """Return the nodes that match, once for each task of notifications that they match."""
    found: list[tuple[int, int, bytes]] = []
    for part, start in enumerate(range(0, len(notifications), _TOGETHER)):
        some = notifications[start : start + _TOGETHER]
        which, bits = _matching_rows(filters, numbers, some)
        found += zip(
            which.tolist(), [part] * len(which), (row.tobytes() for row in bits), strict=True
        )
    columns = list(zip(*found, strict=True)) if found else [(), (), ()]
    kinds = (pa.int64(), pa.int64(), pa.binary())
    return tuple(pa.array(each, kind) for each, kind in zip(columns, kinds, strict=True))


def _lost_in_task(arrived: Arrived, task: int, places: list[int]) -> pa.Table:
    own = places[task * _TOGETHER : (task + 1) * _TOGETHER]
    found: list[_Lost] = []
    outline = None
    if "matching" in arrived and "held" in arrived:
        rows = arrived["matching"]
        numbers = np.asarray(rows.column("number"))
        outline = outline_of(arrived, numbers)
        allowed = np.zeros((outline.count, -(-len(own) // 64)), np.uint64)
        bits = b"".join(each.as_py() for each in rows.column("bits"))
        allowed[np.searchsorted(outline.ids, numbers)] = np.frombuffer(bits, np.uint64).reshape(
            len(numbers), -1
        )
        held = arrived["held"]
        nodes, lanes = (np.asarray(held.column(name)) for name in ("number", "lane"))
        order = np.lexsort((lanes, nodes))
        at = np.searchsorted(outline.ids, nodes[order])
        found = _walked(outline, allowed, at, lanes[order], own)
    ids = [] if outline is None else [int(outline.ids[each.guilty]) for each in found]
    return pa.table(
        {
            "at": pa.array([each.at for each in found], pa.int64()),
            "missed": pa.array([each.missed for each in found], pa.list_(pa.int64())),
            "guilty": pa.array(ids, pa.int64()),
        }
    )


# -- which notifications ---------------------------------------------------------------------------


def _notifications(context: Opened) -> list[Notification]:
    """Return the workload's first notifications, or else some that the parameters or nodes give."""
    limit = context.asked.notifications
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


def _examples(context: Opened, limit: int) -> list[Notification]:
    """Return a notification for each of some nodes that it matches, as far as one is known."""
    step = max(1, context.node_count // limit)
    if isinstance(context, NearContext):
        chosen = np.arange(0, context.node_count, step)[:limit]
        parts = context.filters.by_rows((chosen,), examples_of)
        made = [each for part in parts for each in part]
    else:
        made = _spread_examples(context, step, limit)
    # Rows come in any order, and the first notifications are what a report shows.
    return [
        read_documents({name: value for name, value in each.items() if isinstance(value, _KINDS)})
        for _, each in sorted(made, key=itemgetter(0))
    ]


def _spread_examples(
    context: SpreadContext, step: int, limit: int
) -> list[tuple[int, dict[str, Any]]]:
    """Return examples of every ``step``-th node, in order of their numbers."""
    from pyspark.sql import Window  # noqa: PLC0415
    from pyspark.sql import functions as f  # noqa: PLC0415

    place = f.row_number().over(Window.orderBy("number")) - 1
    numbers = context.rows.select("number").withColumn("place", place)
    chosen = numbers.where(f.col("place") % step == 0).orderBy("place").limit(limit)
    rows = chosen.select("number").join(context.filters, "number").toArrow()
    columns = columns_of(rows, Vocabulary(), context.types)
    return examples_of(columns, np.asarray(rows.column("number")))

"""forwards-agree: the mechanisms for forwards sets, from the relation alone and from the links.

A filter is *wanted* by every neighbour, except that its only holder, if a neighbour, does not want
it. It goes to the neighbours that want it and that want nothing which strictly covers it [T 3.2.1].
Two filters with different holders, or one with several, are wanted everywhere between them; so a
covered filter goes to h alone, if all that covers it is held by h alone and it is not, and else
nowhere. A set is thus told by two numbers: what kind it is, and one interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from posetlib.array_types import IntArray
from workloads.blocks import Selection
from workloads.cover import minimal_cover
from workloads.near import NearContext
from workloads.opening import Opened, by_place
from workloads.pairs import MANY, held_elsewhere, holders_above, strictly_covered
from workloads.reports import Outcome, not_applicable
from workloads.spread import SpreadContext, kept_rows, selection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["forwards_agree"]

#: Nobody, all but one interface (-1: all), one interface.
_NOBODY: Final = 0
_ALL_BUT: Final = 1
_ONLY: Final = 2
#: Held by nobody known.
_UNKNOWN: Final = -2
#: With as many neighbours, no set is told in two ways.
_TOLD_ONCE: Final = 3


@dataclass
class _Differs:
    """How many nodes have sets that differ, and the first: the number, and two codes of sets."""

    total: int
    first: list[tuple[int, tuple[int, int], tuple[int, int]]]


def forwards_agree(context: Opened) -> Outcome:
    """The table's own mechanism and the naive one agree."""
    mechanism = context.promises.forwards
    if mechanism is None:
        return not_applicable("only fp and nrf have a mechanism of their own")
    if not context.node_count:
        return Outcome(0)
    found = by_place(context, _near_differing, _spread_differing)
    texts = context.texts(each for each, _, _ in found.first)
    everyone = _everyone(context) if found.first else []
    names = context.interface_names(
        {code[1] for _, *codes in found.first for code in codes if code[1] >= 0}
    )
    witnesses = [
        {
            "filter": texts[each],
            "naive": sorted(_as_set(one, names, everyone)),
            mechanism: sorted(_as_set(other, names, everyone)),
            "why": "the mechanisms send it to different neighbours",
            "ids": context.ids([each]),
        }
        for each, one, other in found.first
    ]
    return Outcome(context.node_count, found.total, witnesses)


def _everyone(context: Opened) -> list[str]:
    """Return the neighbours: those that were given, or all interfaces."""
    if context.asked.neighbours is not None:
        return context.asked.neighbours
    if isinstance(context, NearContext):
        return context.names
    return [row["interface"] for row in context.names.select("interface").collect()]


def _as_set(
    code: tuple[int, int], names: Mapping[int, str] | list[str], everyone: list[str]
) -> frozenset[str]:
    kind, interface = code
    if kind == _NOBODY:
        return frozenset()
    if kind == _ONLY:
        return frozenset({names[interface]})
    return frozenset(everyone) - ({names[interface]} if interface >= 0 else frozenset())


# -- in the driver ---------------------------------------------------------------------------------


def _near_differing(context: NearContext) -> _Differs:
    everyone = _everyone(context)
    holders = _sole_holders(context, frozenset(everyone))
    naive, own = _naive(context, holders), _own(context, holders)
    differ = np.flatnonzero((naive != own).any(axis=1)).tolist()
    codes = [(each, tuple(naive[each].tolist()), tuple(own[each].tolist())) for each in differ]
    if len(set(everyone)) < _TOLD_ONCE:
        names = context.names
        codes = [
            each
            for each in codes
            if _as_set(each[1], names, everyone) != _as_set(each[2], names, everyone)
        ]
    return _Differs(len(codes), codes[: context.shown])


def _sole_holders(context: NearContext, everyone: frozenset[str]) -> IntArray:
    """Return the interface that alone holds each node, if it is a neighbour; else -1."""
    count = np.bincount(context.held.nodes, minlength=context.node_count)
    holders = np.full(context.node_count, MANY)
    holders[context.held.nodes] = context.held.interfaces
    known = np.array([name in everyone for name in context.names] or [False], np.bool_)
    holders[(count != 1) | ~known[holders]] = MANY
    return holders


def _sets(top: IntArray, holders: IntArray, alone: IntArray, labels: IntArray) -> IntArray:
    result = np.zeros((len(holders), 2), np.int64)
    result[top] = np.stack([np.full(len(top), _ALL_BUT), holders[top]], axis=1)
    result[alone] = np.stack([np.full(len(alone), _ONLY), labels], axis=1)
    return result


def _naive(context: NearContext, holders: IntArray) -> IntArray:
    """Return the sets, from filters and holders.

    What is covered at all is covered by a filter of the minimal cover. If all that covers it there
    is held by h, then whatever else covers it without being held by h alone is in the same case, so
    that only these need to be compared with one another.
    """
    filters = context.filters
    every = np.arange(context.node_count)
    top = filters.unbeaten(every)
    one = Selection.of(top, None, holders[top])
    found = filters.compared(one, Selection.of(every), holders_above)
    above = _merged(found, context.node_count)
    case = np.flatnonzero((above >= 0) & (above != holders))
    case = np.setdiff1d(case, top)
    rows = Selection.of(case, above[case])
    covered = filters.compared(rows, rows, strictly_covered)
    alone = np.setdiff1d(case, np.concatenate([np.zeros(0, np.int64), *covered]))
    return _sets(top, holders, alone, above[alone])


def _merged(parts: list[tuple[IntArray, IntArray]], count: int) -> IntArray:
    """Return for each node the holder that all parts name; -1 if they differ, -2 if none does."""
    result = np.full(count, _UNKNOWN)
    for numbers, holders in parts:
        known = result[numbers]
        result[numbers] = np.where(
            known == _UNKNOWN, holders, np.where(known == holders, holders, MANY)
        )
    return result


def _own(context: NearContext, holders: IntArray) -> IntArray:
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
            held_elsewhere,
        )
        case = np.setdiff1d(case, np.concatenate([np.zeros(0, np.int64), *covered]))
    return _sets(roots, holders, case, least[case])


# -- with the workers ------------------------------------------------------------------------------


def _spread_differing(context: SpreadContext) -> _Differs:

    given = context.asked.neighbours
    holders = context.keep(_spread_holders(context, given))
    naive = _spread_naive(context, holders).toDF("number", "naive_kind", "naive_who")
    own = _spread_own(context, holders).toDF("number", "own_kind", "own_who")
    nothing: dict[str, Any] = {
        f"{side}_{name}": 0 for side in ("naive", "own") for name in ("kind", "who")
    }
    both = naive.join(own, "number", "full").na.fill(nothing)
    differ = both.where("naive_kind != own_kind or naive_who != own_who")
    if (context.name_count if given is None else len(set(given))) < _TOLD_ONCE:
        differ = _without_same_sets(context, differ)
    with kept_rows(differ) as rows:
        total = rows.count()
        first = rows.orderBy("number").limit(context.shown).collect() if total else []
    names = ("naive_kind", "naive_who", "own_kind", "own_who")
    codes = [(row["number"], *(row[name] for name in names)) for row in first]
    return _Differs(total, [(each, (a, b), (c, d)) for each, a, b, c, d in codes])


def _without_same_sets(context: SpreadContext, differ: DataFrame) -> DataFrame:
    """Leave out nodes of which both codes tell of one set: there are few neighbours, and codes."""
    codes = ["naive_kind", "naive_who", "own_kind", "own_who"]
    everyone = _everyone(context)
    for row in differ.select(*codes).distinct().collect():
        names = context.interface_names({who for who in (row[1], row[3]) if who >= 0})
        one, other = (row[0], row[1]), (row[2], row[3])
        if _as_set(one, names, everyone) == _as_set(other, names, everyone):
            told = " and ".join(f"{name} = {row[name]}" for name in codes)
            differ = differ.where(f"not ({told})")
    return differ


def _spread_holders(context: SpreadContext, given: list[str] | None) -> DataFrame:
    """Return number and holder: the interface that alone holds a node, if a neighbour; else -1."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    held = context.held.groupBy("number").agg(
        f.count("lane").alias("count"), f.first("lane").alias("lane")
    )
    if given is None:
        held = held.withColumn("known", f.lit(True))
    else:
        wanted = context.names.where(f.col("interface").isin(given)).select("lane")
        held = held.join(wanted.withColumn("known", f.lit(True)), "lane", "left")
    alone = held.where("count = 1 and known").select("number", f.col("lane").alias("holder"))
    every = context.rows.select("number").join(alone, "number", "left")
    return every.na.fill({"holder": MANY})


def _spread_naive(context: SpreadContext, holders: DataFrame) -> DataFrame:
    """Return number, kind and interface of the sets that are not empty, as ``_naive`` does."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    filters = context.filters.withColumnRenamed("number", "id")
    top = minimal_cover(filters, context.types).select(f.col("id").alias("number"))
    top = context.keep(top.join(holders, "number"))
    found = context.compared(
        selection(top, "number", None, f.col("holder")),
        selection(context.rows, "number"),
        holders_above,
        "number long, holder long",
    )
    above = found.groupBy("number").agg(
        f.min("holder").alias("least"), f.max("holder").alias("above")
    )
    case = above.where("least = above and above >= 0").join(holders, "number")
    case = case.where("above != holder").join(top.select("number"), "number", "left_anti")
    case = context.keep(case.select("number", "above"))
    rows = selection(case, "number", f.col("above"))
    covered = context.compared(rows, rows, strictly_covered, "number long")
    alone = case.join(covered, "number", "left_anti")
    return _codes(top, _ALL_BUT, "holder").union(_codes(alone, _ONLY, "above"))


def _codes(rows: DataFrame, kind: int, who: str) -> DataFrame:
    from pyspark.sql import functions as f  # noqa: PLC0415

    return rows.select("number", f.lit(kind).cast("long"), f.col(who))


def _spread_own(context: SpreadContext, holders: DataFrame) -> DataFrame:
    """Return number, kind and interface of the sets that are not empty, as ``_own`` does."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    roots = context.roots.join(holders, "number")
    above = holders.toDF("parent", "above").join(
        context.roots.select(f.col("number").alias("parent"), f.lit(1).alias("top")),
        "parent",
        "left",
    )
    parents = context.edges.join(above, "parent").groupBy("child")
    second = parents.agg(
        f.min("above").alias("least"),
        f.max("above").alias("above"),
        f.min(f.coalesce("top", f.lit(0))).alias("top"),
    )
    second = second.where("top = 1").withColumnRenamed("child", "number")
    second = context.keep(second.join(holders, "number"))
    case = second.where("least = above and least >= 0 and least != holder")
    if context.promises.forwards == "forest":
        case = context.keep(case)
        levels = roots.union(second.select("number", "holder"))
        covered = context.compared(
            selection(levels, "number", None, f.col("holder")),
            selection(case, "number", None, f.col("least")),
            held_elsewhere,
            "number long",
        )
        case = case.join(covered, "number", "left_anti")
    return _codes(roots, _ALL_BUT, "holder").union(_codes(case, _ONLY, "least"))

"""The invariants about links alone: no cycle, and in a forest no second parent."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from workloads.checks_order import bad_edges
from workloads.near import NearContext
from workloads.opening import Opened, by_place
from workloads.reports import Outcome, not_applicable
from workloads.spread import Arrived, SpreadContext, outline_of

__all__ = ["is_acyclic", "reachable_acyclic", "single_parent"]


def reachable_acyclic(context: Opened) -> Outcome:
    """Every node is reached from a root; no cycle.

    Strict covering goes round in no circle. So if all parents strictly cover their children, which
    is found edge by edge in parallel, then paths up end, and a node where one ends is a root. Only
    if some edge does not hold is the graph itself gone through.
    """
    checked = context.node_count + context.edge_count
    count, cycle = _cyclic(context)
    if not count:
        return Outcome(checked)
    texts = context.texts(cycle[: 2 * context.shown])
    witness = {
        "cycle": [texts[each] for each in cycle[: 2 * context.shown]],
        "why": f"a path of {len(cycle)} filters leads back to where it began",
        "ids": context.ids(cycle),
    }
    return Outcome(checked, count, [witness])


def is_acyclic(context: Opened) -> bool:
    """Return whether no path leads back to where it began."""
    return not _cyclic(context)[0]


def _cyclic(context: Opened) -> tuple[int, list[int]]:
    """Return how many nodes lie on a cycle or below one, and one cycle; worked out once."""
    if not bad_edges(context).total:
        return 0, []
    if "cyclic" not in context.facts:
        context.facts["cyclic"] = by_place(context, _near_cyclic, _spread_cyclic)
    found: tuple[int, list[int]] = context.facts["cyclic"]
    return found


def _near_cyclic(context: NearContext) -> tuple[int, list[int]]:
    return int(context.outline.cyclic().sum()), context.outline.cycle()


def _spread_cyclic(context: SpreadContext) -> tuple[int, list[int]]:
    (row,) = context.in_tasks(_cycle_of_links, "count long, cycle array<long>", 1).collect()
    return row["count"], row["cycle"]


def _cycle_of_links(arrived: Arrived, _task: int) -> pa.Table:
    outline = outline_of(arrived)
    cycle = outline.ids[np.array(outline.cycle(), np.int64)].tolist()
    return pa.table({"count": [int(outline.cyclic().sum())],
                     "cycle": pa.array([cycle], pa.list_(pa.int64()))})  # fmt: skip


def single_parent(context: Opened) -> Outcome:
    """At most one parent."""
    if "single-parent" not in context.kept:
        return not_applicable("only in a forest has a node at most one parent")
    count, some = by_place(context, _near_parents, _spread_parents)
    texts = context.texts(each for child, parents in some for each in (child, *parents))
    witnesses = [
        {
            "child": texts[child],
            "parents": [texts[each] for each in parents],
            "why": "more than one parent",
            "ids": context.ids([child, *parents]),
        }
        for child, parents in some
    ]
    return Outcome(context.node_count, count, witnesses)


def _near_parents(context: NearContext) -> tuple[int, list[tuple[int, list[int]]]]:
    """Return how many nodes have several parents, and some of them with these."""
    outline = context.outline
    several = np.flatnonzero(np.bincount(outline.children, minlength=context.node_count) > 1)
    order = np.lexsort((outline.parents, outline.children))
    parents, children = outline.parents[order], outline.children[order]
    chosen = several[: context.shown]
    first, last = (np.searchsorted(children, chosen, side) for side in ("left", "right"))
    return len(several), [
        (child, parents[begin:end].tolist())
        for child, begin, end in zip(chosen.tolist(), first, last, strict=True)
    ]


def _spread_parents(context: SpreadContext) -> tuple[int, list[tuple[int, list[int]]]]:
    from pyspark.sql import functions as f  # noqa: PLC0415

    counted = context.edges.groupBy("child").agg(f.count("parent").alias("parents"))
    several = counted.where("parents > 1")
    total = several.count()
    if not total:
        return 0, []
    chosen = several.orderBy("child").limit(context.shown).select("child")
    lists = context.edges.join(chosen, "child").groupBy("child")
    rows = lists.agg(f.array_sort(f.collect_list("parent")).alias("parents")).orderBy("child")
    return total, [(row["child"], row["parents"]) for row in rows.collect()]

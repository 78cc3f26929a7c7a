"""The invariants about links alone: no cycle, and in a forest no second parent."""

from __future__ import annotations

import numpy as np

from workloads.checks_order import bad_edges
from workloads.context import Context
from workloads.reports import Outcome, not_applicable

__all__ = ["is_acyclic", "reachable_acyclic", "single_parent"]


def reachable_acyclic(context: Context) -> Outcome:
    """Every node is reached from a root; no cycle.

    Strict covering goes round in no circle. So if all parents strictly cover their children, which
    is found edge by edge in parallel, then paths up end, and a node where one ends is a root. Only
    if some edge does not hold is the graph itself gone through.
    """
    checked = context.node_count + context.edge_count
    if is_acyclic(context):
        return Outcome(checked)
    cycle = context.outline.cycle()
    texts = context.texts(cycle[: 2 * context.shown])
    witness = {
        "cycle": [texts[each] for each in cycle[: 2 * context.shown]],
        "why": f"a path of {len(cycle)} filters leads back to where it began",
        "ids": context.ids(cycle),
    }
    return Outcome(checked, int(context.outline.cyclic().sum()), [witness])


def is_acyclic(context: Context) -> bool:
    """Return whether no path leads back to where it began."""
    parents, _, _ = bad_edges(context)
    return not len(parents) or not bool(context.outline.cyclic().any())


def single_parent(context: Context) -> Outcome:
    """At most one parent."""
    if "single-parent" not in context.kept:
        return not_applicable("only in a forest has a node at most one parent")
    outline = context.outline
    several = np.flatnonzero(np.bincount(outline.children, minlength=context.node_count) > 1)
    witnesses = []
    for child in several[: context.shown].tolist():
        parents = np.sort(outline.parents[outline.children == child]).tolist()
        texts = context.texts([child, *parents])
        witnesses.append(
            {
                "child": texts[child],
                "parents": [texts[each] for each in parents],
                "why": "more than one parent",
                "ids": context.ids([child, *parents]),
            }
        )
    return Outcome(context.node_count, len(several), witnesses)

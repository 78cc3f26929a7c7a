"""validate: every invariant of a snapshot, each computed in parallel from its Parquet files."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from workloads.checks_double_forest import double_forest_agrees
from workloads.checks_forwards import forwards_agree
from workloads.checks_interfaces import (
    interface_index,
    interfaces_nonempty,
    minimum_interface,
    no_redundant_pair,
)
from workloads.checks_links import reachable_acyclic, single_parent
from workloads.checks_matching import match_agrees
from workloads.checks_order import (
    complete_order,
    edge_covers,
    roots_minimal_cover,
    same_roots,
    sibling_pure,
)
from workloads.context import Context, open_context
from workloads.datasets import read_snapshot, read_workload
from workloads.files import Place
from workloads.reports import Outcome
from workloads.session import BROADCAST_LIMIT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["INVARIANTS", "validate"]

#: Every invariant by its name, in the order of the report.
INVARIANTS: Final[dict[str, Callable[[Context], Outcome]]] = {
    "edge-covers": edge_covers,
    "sibling-pure": sibling_pure,
    "roots-minimal-cover": roots_minimal_cover,
    "reachable-acyclic": reachable_acyclic,
    "single-parent": single_parent,
    "complete-order": complete_order,
    "interfaces-nonempty": interfaces_nonempty,
    "minimum-interface": minimum_interface,
    "no-redundant-pair": no_redundant_pair,
    "interface-index": interface_index,
    "forwards-agree": forwards_agree,
    "match-agrees": match_agrees,
    "same-roots": same_roots,
}


def validate(
    session: SparkSession,
    snapshot: Place,
    workload: Place | None = None,
    *,
    against: Place | None = None,
    double_forest: Place | None = None,
    neighbours: list[str] | None = None,
    notifications: int = 1000,
    skip_bad: bool = False,
    broadcast_limit: int = BROADCAST_LIMIT,
) -> dict[str, Any]:
    """Return the report on a snapshot, and on a DoubleForest beside it if there is one."""
    start = time.perf_counter()
    entries = []
    with open_context(
        session,
        read_snapshot(session, snapshot),
        None if workload is None else read_workload(session, workload),
        None if against is None else read_snapshot(session, against),
        neighbours=neighbours,
        notifications=notifications,
        skip_bad=skip_bad,
        limit=broadcast_limit,
    ) as context:
        for name, check in INVARIANTS.items():
            begun = time.perf_counter()
            outcome = check(context)
            entries.append(outcome.to_dict(name, time.perf_counter() - begun))
    if double_forest is not None:
        begun = time.perf_counter()
        outcome = double_forest_agrees(session, double_forest)
        entries.append(outcome.to_dict("double-forest-agrees", time.perf_counter() - begun))
    return {
        "ok": all(each["verdict"] != "violated" for each in entries),
        "snapshot": snapshot.absolute,
        **({} if workload is None else {"workload": workload.absolute}),
        **({} if against is None else {"against": against.absolute}),
        **({} if double_forest is None else {"double_forest": double_forest.absolute}),
        "structure": context.structure,
        "nodes": context.node_count,
        "edges": context.edge_count,
        "seconds": round(time.perf_counter() - start, 3),
        "bad_rows": context.bad.to_dict(),
        "invariants": entries,
    }

"""validate: every invariant of a snapshot, each computed in parallel from its Parquet files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from workloads.checks_columns import columns_agree
from workloads.checks_double_forest import double_forest_agrees
from workloads.checks_entries import entries_asked, entries_served, require_related
from workloads.checks_forwards import forwards_agree
from workloads.checks_interfaces import (
    interface_index,
    interfaces_nonempty,
    minimum_interface,
    no_redundant_pair,
)
from workloads.checks_links import reachable_acyclic, single_parent
from workloads.checks_matching import match_agrees
from workloads.checks_merging import merge_covers, merge_perfect
from workloads.checks_order import (
    complete_order,
    edge_covers,
    roots_minimal_cover,
    same_roots,
    sibling_pure,
)
from workloads.checks_sameness import distinct_filters
from workloads.context import Asked
from workloads.datasets import SnapshotFiles, Workload, read_snapshot, read_workload
from workloads.errors import InputError
from workloads.files import Place, new_output, place_of, require_apart
from workloads.opening import Opened, open_context
from workloads.reports import (
    INVARIANT_NAMES,
    REPORT_FORMAT,
    REPORT_VERSION,
    WITNESSES,
    Outcome,
    not_asked,
    tool_version,
    write_violations,
)
from workloads.session import BROADCAST_LIMIT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["INVARIANTS", "asked_for", "validate"]

#: Every invariant by its name, in the order of the report.
INVARIANTS: Final[dict[str, Callable[[Opened], Outcome]]] = dict(
    zip(
        INVARIANT_NAMES,
        (
            edge_covers,
            sibling_pure,
            roots_minimal_cover,
            reachable_acyclic,
            single_parent,
            complete_order,
            interfaces_nonempty,
            minimum_interface,
            no_redundant_pair,
            interface_index,
            forwards_agree,
            match_agrees,
            same_roots,
            entries_served,
            entries_asked,
            distinct_filters,
            columns_agree,
            merge_covers,
            merge_perfect,
        ),
        strict=True,
    )
)
#: Where all violations are asked for, no more of one invariant are written.
MOST_VIOLATIONS: Final = 1_000_000

#: Called first with "" and what the table is; then with the name of each invariant before it is
#: checked, and with its entry afterwards.
Told = Callable[[str, dict[str, Any] | None], None]


def asked_for(only: Iterable[str] | None, skip: Iterable[str] | None) -> list[str]:
    """Return the names of the invariants to check; InputError for an unknown name, or for none.

    >>> asked_for(["same-roots", "edge-covers"], ["edge-covers"])
    ['same-roots']
    """
    for each in (*(only or ()), *(skip or ())):
        if each not in INVARIANTS:
            raise InputError(f"unknown invariant {each!r}; known are {', '.join(INVARIANTS)}")
    chosen = [
        name
        for name in INVARIANTS
        if (only is None or name in set(only)) and name not in set(skip or ())
    ]
    if not chosen:
        raise InputError("no invariant is left to check")
    return chosen


def validate(
    session: SparkSession,
    snapshot: SnapshotFiles | Place,
    workload: Workload | Place | None = None,
    *,
    against: SnapshotFiles | Place | None = None,
    double_forest: Place | None = None,
    neighbours: list[str] | None = None,
    notifications: int = 1000,
    skip_bad: bool = False,
    broadcast_limit: int = BROADCAST_LIMIT,
    only: Iterable[str] | None = None,
    skip: Iterable[str] | None = None,
    violations: Place | None = None,
    overwrite: bool = False,
    told: Told | None = None,
) -> dict[str, Any]:
    """Return the report on a snapshot, and on a DoubleForest beside it if there is one.

    ``told`` hears of each invariant as it is checked; ``violations`` is where all of them are
    written, as a table of Parquet.
    """
    start = time.perf_counter()
    started = datetime.now(UTC)
    chosen = asked_for(only, skip)
    snapshot, workload, against = _read(session, snapshot, workload, against)
    paths = {
        name: None if each is None else each.path
        for name, each in (("snapshot", snapshot), ("workload", workload), ("against", against))
    }
    if violations is not None:
        inputs = [place_of(path, session) for path in paths.values() if path is not None]
        require_apart(violations, inputs if double_forest is None else [*inputs, double_forest])
    entries = []
    found: dict[str, Outcome] = {}
    asked = Asked(
        workload,
        against,
        neighbours=neighbours,
        notifications=notifications,
        skip_bad=skip_bad,
        limit=broadcast_limit,
        shown=WITNESSES if violations is None else MOST_VIOLATIONS,
    )
    with (
        _reserved(violations, overwrite=overwrite) as table,
        open_context(session, snapshot, asked) as context,
    ):
        context.require_known_neighbours()
        pairs = bool({"entries-served", "entries-asked"} & set(chosen))
        require_related(context, entries=pairs)
        if told is not None:
            size = {"nodes": context.node_count, "edges": context.edge_count}
            told("", {"structure": context.structure, **size})
        for name, check in INVARIANTS.items():
            if told is not None:
                told(name, None)
            begun = time.perf_counter()
            outcome = check(context) if name in chosen else not_asked()
            entries.append(outcome.to_dict(name, time.perf_counter() - begun))
            found[name] = outcome
            if told is not None:
                told(name, entries[-1])
        if double_forest is not None:
            begun = time.perf_counter()
            outcome = double_forest_agrees(session, double_forest, asked.shown)
            entries.append(outcome.to_dict("double-forest-agrees", time.perf_counter() - begun))
            found["double-forest-agrees"] = outcome
            if told is not None:
                told("double-forest-agrees", entries[-1])
        if table is not None:
            write_violations(session, table, found)
    return {
        "format": REPORT_FORMAT,
        "version": REPORT_VERSION,
        "tool": tool_version(),
        "ok": all(each["verdict"] != "violated" for each in entries),
        "complete": len(chosen) == len(INVARIANTS),
        **{name: path for name, path in paths.items() if name == "snapshot" or path is not None},
        **({} if double_forest is None else {"double_forest": double_forest.absolute}),
        "structure": context.structure,
        "nodes": context.node_count,
        "edges": context.edge_count,
        "application": _application(session),
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - start, 3),
        "parameters": {
            "neighbours": neighbours,
            "notifications": notifications,
            "skip_bad": skip_bad,
            "broadcast_limit": broadcast_limit,
            "only": None if only is None else list(only),
            "skip": None if skip is None else list(skip),
        },
        "bad_rows": context.bad.to_dict(),
        "invariants": entries,
    }


def _reserved(place: Place | None, *, overwrite: bool) -> AbstractContextManager[Place | None]:
    """Give a place for all violations, found free and writable before the work begins."""
    return nullcontext() if place is None else new_output(place, overwrite=overwrite)


def _read(
    session: SparkSession,
    snapshot: SnapshotFiles | Place,
    workload: Workload | Place | None,
    against: SnapshotFiles | Place | None,
) -> tuple[SnapshotFiles, Workload | None, SnapshotFiles | None]:
    """Return tables and a workload, read where they are on a disk."""
    return (
        read_snapshot(session, snapshot) if isinstance(snapshot, Place) else snapshot,
        read_workload(session, workload) if isinstance(workload, Place) else workload,
        read_snapshot(session, against) if isinstance(against, Place) else against,
    )


def _application(session: SparkSession) -> str | None:
    """Return the id under which the cluster knows the run."""
    return session.conf.get("spark.app.id", None)

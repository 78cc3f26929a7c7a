"""The jobs as functions, from DataFrames to DataFrames or path to path, in a caller's session.

| rows | columns |
| --- | --- |
| filters | ``id`` long, ``filter`` string, ``interface`` string |
| operations | ``sequence`` long, ``operation`` string (``add``, ``remove``), and those of filters |
| notifications | ``id`` long, ``notification`` string, as ``posetlib.read_notification`` reads it |
| nodes | ``id`` long, ``filter`` string, ``interfaces`` and ``index`` array of strings |
| edges | ``parent`` long, ``child`` long |
| cover | ``id`` long, ``filter`` string, ``interface`` string |
| matches | ``id`` long, ``interfaces`` array of strings, in order of their names |

Filters and nodes may have other columns; typed ones, as ``generate`` makes them, save the parsing
of texts. Nothing is set in the session. But for ``validate``, nothing is computed before the result
is used, except counts by which work is divided. A text that is no filter fails whoever comes to it.

The command line calls these functions with paths. Without ``session`` they use the active one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from posetlib.constraints.types import TypeHierarchy
from posetlib.generating import Parameters
from posetlib.generating.auction import AuctionParameters
from posetlib.tables import structure_named
from workloads.auction import (
    advertisements_of,
    events_of,
    generate_auction,
    subscriptions_of,
)
from workloads.build import build as build_job
from workloads.build import nodes_and_edges, tables
from workloads.cover import cover as cover_job
from workloads.cover import minimal_cover
from workloads.datasets import (
    SnapshotFiles,
    Workload,
    given_snapshot,
    given_workload,
    read_snapshot,
    read_workload,
    typed,
)
from workloads.files import Place, place_of
from workloads.generate import filters_of, notifications_of, operations_rows
from workloads.generate import generate as generate_job
from workloads.match import match as match_job
from workloads.match import matched
from workloads.validate import validate as validate_job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "BuiltRows",
    "GeneratedRows",
    "WorkloadRows",
    "build",
    "cover",
    "generate",
    "match",
    "validate",
]

AnyParameters = Parameters | AuctionParameters


@dataclass
class WorkloadRows:
    """The rows of a workload: filters, and what else there is."""

    filters: DataFrame
    notifications: DataFrame | None = None
    operations: DataFrame | None = None
    types: TypeHierarchy | None = None


@dataclass
class GeneratedRows(WorkloadRows):
    """The rows of a generated workload, which has notifications, if only none."""

    notifications: DataFrame
    #: Of the auction workload alone.
    advertisements: DataFrame | None = None


@dataclass
class BuiltRows:
    """The rows of a table, and what its file would say of it."""

    nodes: DataFrame
    edges: DataFrame
    structure: str
    local: bool = False
    types: TypeHierarchy | None = None
    #: Whether it is what operations left.
    operations: bool = False


@overload
def generate(session: SparkSession, parameters: AnyParameters, **options: Any) -> GeneratedRows: ...
@overload
def generate(
    session: SparkSession, parameters: AnyParameters, out: str, **options: Any
) -> dict[str, Any]: ...
def generate(
    session: SparkSession, parameters: AnyParameters, out: str | None = None, **options: Any
) -> GeneratedRows | dict[str, Any]:
    """Return the rows of a workload; or write them, and return the header.

    ``options`` are those of the job: ``partitions``, ``overwrite``.
    """
    parts = options.get("partitions")
    if isinstance(parameters, AuctionParameters):
        if out is not None:
            return generate_auction(session, parameters, place_of(out, session), **options)
        return GeneratedRows(
            subscriptions_of(session, parameters, parts),
            events_of(session, parameters, parts),
            advertisements=advertisements_of(session, parameters, parts),
        )
    if out is not None:
        return generate_job(session, parameters, place_of(out, session), **options)
    return GeneratedRows(
        filters_of(session, parameters, parts),
        notifications_of(session, parameters, parts),
        operations_rows(session, parameters, parts) if parameters.operations else None,
    )


@overload
def build(rows: DataFrame, structure: str, **options: Any) -> BuiltRows: ...
@overload
def build(rows: str, structure: str, out: str, **options: Any) -> dict[str, Any]: ...
def build(
    rows: DataFrame | str,
    structure: str,
    out: str | None = None,
    *,
    session: SparkSession | None = None,
    types: TypeHierarchy | None = None,
    local: bool = False,
    **options: Any,
) -> BuiltRows | dict[str, Any]:
    """Return the nodes and edges of the table of filters, or of what operations leave.

    With paths write them instead; ``options`` are those of the job: ``operations``, ``merging``,
    ``skip_bad``, ``overwrite``.
    """
    if isinstance(rows, str):
        run, *places = _places(session, rows, out)
        return build_job(run, places[0], structure, places[1], local=local, **options)
    operations = "sequence" in rows.columns and "operation" in rows.columns
    with typed(rows, types, "the filters", skip_bad=False) as (read, _):
        made = tables(rows.sparkSession, read, structure_named(structure), local, types)
    # Nobody could tell when the rows are done with: they are made anew when they are used.
    made.release()
    origin = rows.dropDuplicates(["id"]) if operations else rows
    nodes, edges = nodes_and_edges(made.nodes, origin)
    return BuiltRows(nodes, edges, structure, local, types, operations)


@overload
def cover(filters: DataFrame, **options: Any) -> DataFrame: ...
@overload
def cover(filters: str, out: str, **options: Any) -> dict[str, Any]: ...
def cover(
    filters: DataFrame | str,
    out: str | None = None,
    *,
    session: SparkSession | None = None,
    types: TypeHierarchy | None = None,
    **options: Any,
) -> DataFrame | dict[str, Any]:
    """Return the filters that no other one covers, of equivalent ones that with the lowest id.

    ``options`` for paths are those of the job: ``skip_bad``, ``overwrite``.
    """
    if isinstance(filters, str):
        return cover_job(*_places(session, filters, out), **options)
    with typed(filters, types, "the filters", skip_bad=False) as (rows, _):
        found = minimal_cover(rows, types).select("id")
    return filters.select("id", "filter", "interface").join(found, "id", "left_semi")


@overload
def match(filters: DataFrame, notifications: DataFrame, **options: Any) -> DataFrame: ...
@overload
def match(filters: str, *, out: str, **options: Any) -> dict[str, Any]: ...
def match(
    filters: DataFrame | str,
    notifications: DataFrame | None = None,
    out: str | None = None,
    *,
    session: SparkSession | None = None,
    types: TypeHierarchy | None = None,
    expressions: bool = False,
    **options: Any,
) -> DataFrame | dict[str, Any]:
    """Return the interfaces of each notification that hold a filter which matches it.

    With ``expressions`` the texts are expressions; a workload at a path may say so itself.
    ``options`` for paths are those of the job: ``skip_bad``, ``overwrite``.
    """
    if isinstance(filters, str):
        return match_job(*_places(session, filters, out), expressions=expressions, **options)
    if notifications is None:
        raise TypeError("match needs notifications beside filters that are a DataFrame")
    if expressions:
        rows = filters.select("filter", "interface")
        return matched(rows, notifications, types, expressions=True)
    with typed(filters, types, "the filters", skip_bad=False) as (rows, _):
        return matched(rows, notifications, types)


def validate(
    table: BuiltRows | str,
    workload: WorkloadRows | DataFrame | str | None = None,
    *,
    session: SparkSession | None = None,
    against: BuiltRows | str | None = None,
    double_forest: str | None = None,
    violations: str | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return the report on a table: rows, or the path of a snapshot.

    ``workload`` is what it was built from: rows, filters alone, or a path. ``options`` are those of
    the job: ``neighbours``, ``notifications``, ``skip_bad``, ``broadcast_limit``, ``only``,
    ``skip``, ``overwrite``, ``told``.
    """
    run = _session(session if isinstance(table, str) else table.nodes.sparkSession)

    def place(path: str | None) -> Place | None:
        return None if path is None else place_of(path, run)

    return validate_job(
        run,
        _snapshot(run, table),
        None if workload is None else _workload(run, workload),
        against=None if against is None else _snapshot(run, against),
        double_forest=place(double_forest),
        violations=place(violations),
        **options,
    )


def _snapshot(session: SparkSession, table: BuiltRows | str) -> SnapshotFiles:
    if isinstance(table, str):
        return read_snapshot(session, place_of(table, session))
    return given_snapshot(
        table.nodes,
        table.edges,
        table.structure,
        local=table.local,
        types=table.types,
        after_operations=table.operations,
    )


def _workload(session: SparkSession, workload: WorkloadRows | DataFrame | str) -> Workload:
    if isinstance(workload, str):
        return read_workload(session, place_of(workload, session))
    if not isinstance(workload, WorkloadRows):
        workload = WorkloadRows(workload)
    return given_workload(
        workload.filters, workload.notifications, workload.operations, workload.types
    )


def _session(session: SparkSession | None) -> SparkSession:
    """Return a session, or else the one that is active."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    return SparkSession.active() if session is None else session


def _places(
    session: SparkSession | None, workload: str, out: str | None
) -> tuple[SparkSession, Place, Place]:
    if out is None:
        raise TypeError("a path needs out=, the path to write to")
    run = _session(session)
    return run, place_of(workload, run), place_of(out, run)

"""The jobs as functions, from DataFrames to DataFrames or path to path, in a caller's session.

| rows | columns |
| --- | --- |
| filters | ``id`` long, ``filter`` string, ``interface`` string |
| notifications | ``id`` long, ``notification`` string, a JSON object |
| nodes | ``id`` long, ``filter`` string, ``interfaces`` and ``index`` array of strings |
| edges | ``parent`` long, ``child`` long |
| matches | ``id`` long, ``interfaces`` array of strings, in order of their names |

Filters may have other columns; typed ones, as ``generate`` writes them, save the parsing of texts.
Nothing is set in the session, and nothing is computed before the result is used, but for counts by
which work is divided. A text that is no filter fails whoever comes to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from posetlib.constraints.types import TypeHierarchy
from posetlib.generating import Parameters
from posetlib.tables import structure_named
from workloads.build import build as build_job
from workloads.build import nodes_and_edges, tables
from workloads.cover import cover as cover_job
from workloads.cover import minimal_cover
from workloads.datasets import typed
from workloads.files import place_of
from workloads.generate import filters_of, notifications_of
from workloads.generate import generate as generate_job
from workloads.match import match as match_job
from workloads.match import matched
from workloads.validate import validate as validate_job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["BuiltRows", "GeneratedRows", "build", "cover", "generate", "match", "validate"]


@dataclass
class GeneratedRows:
    """The rows of a generated workload."""

    filters: DataFrame
    notifications: DataFrame


@dataclass
class BuiltRows:
    """The rows of a table."""

    nodes: DataFrame
    edges: DataFrame


def generate(
    session: SparkSession, parameters: Parameters, out: str | None = None, **options: Any
) -> GeneratedRows | dict[str, Any]:
    """Return the filters and notifications of a workload; or write them, and return the header.

    ``options`` are those of the job: ``partitions``, ``overwrite``.
    """
    if out is not None:
        return generate_job(session, parameters, place_of(out, session), **options)
    parts = options.get("partitions")
    return GeneratedRows(
        filters_of(session, parameters, parts), notifications_of(session, parameters, parts)
    )


def build(
    filters: DataFrame | str,
    structure: str,
    out: str | None = None,
    *,
    session: SparkSession | None = None,
    types: TypeHierarchy | None = None,
    local: bool = False,
    **options: Any,
) -> BuiltRows | dict[str, Any]:
    """Return the nodes and edges of the table of filters; with paths write them instead.

    ``options`` are those of the job: ``operations``, ``skip_bad``, ``overwrite``.
    """
    if isinstance(filters, str):
        run, *places = _places(session, filters, out)
        return build_job(run, places[0], structure, places[1], local=local, **options)
    with typed(filters, types, "the filters", skip_bad=False) as (rows, _):
        made = tables(filters.sparkSession, rows, structure_named(structure), local, types)
    return BuiltRows(*nodes_and_edges(made.nodes, filters))


def cover(
    filters: DataFrame | str,
    out: str | None = None,
    *,
    session: SparkSession | None = None,
    types: TypeHierarchy | None = None,
    **options: Any,
) -> DataFrame | dict[str, Any]:
    """Return the filters that no other one covers, of equivalent ones that with the lowest id."""
    if isinstance(filters, str):
        return cover_job(*_places(session, filters, out), **options)
    with typed(filters, types, "the filters", skip_bad=False) as (rows, _):
        found = minimal_cover(rows, types).select("id")
    return filters.select("id", "filter", "interface").join(found, "id", "left_semi")


def match(
    filters: DataFrame | str,
    notifications: DataFrame | None = None,
    out: str | None = None,
    *,
    session: SparkSession | None = None,
    types: TypeHierarchy | None = None,
    **options: Any,
) -> DataFrame | dict[str, Any]:
    """Return the interfaces of each notification that hold a filter which matches it."""
    if isinstance(filters, str):
        return match_job(*_places(session, filters, out), **options)
    if notifications is None:
        raise TypeError("match needs notifications beside filters that are a DataFrame")
    with typed(filters, types, "the filters", skip_bad=False) as (rows, _):
        return matched(rows, notifications, types)


def validate(
    session: SparkSession, snapshot: str, workload: str | None = None, **options: Any
) -> dict[str, Any]:
    """Return the report on a snapshot on disk; ``options`` are those of the job."""
    asked = None if workload is None else place_of(workload, session)
    return validate_job(session, place_of(snapshot, session), asked, **options)


def _places(session: SparkSession | None, workload: str, out: str | None) -> tuple[Any, Any, Any]:
    if session is None or out is None:
        raise TypeError("a path needs out=, the path to write to, and session=")
    return session, place_of(workload, session), place_of(out, session)

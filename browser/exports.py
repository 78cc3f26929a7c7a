"""Files to take along: a table or its operations, in our formats and in those of others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from dash import Dash
from flask import Response, request

import posetlib as pl
from browser.sources import SourceError
from browser.state import Library, recipe_of, to_query
from browser.story import FILE

__all__ = ["EXPORTS", "FORMATS", "Format", "exported", "register_exports", "save_query"]


#: Where the files are, below the app's own address.
EXPORTS: Final = "export"


class Format(NamedTuple):
    """One format: what it is called, how its files end, and how a table is written in it."""

    title: str
    ending: str
    mimetype: str
    write: Callable[[pl.Snapshot[Any], pl.Trace[Any]], str]


FORMATS: Final = {
    "snapshot": Format("Snapshot (JSON)", "json", "application/json", lambda s, _: s.to_json()),
    "trace": Format("Trace (JSON)", "trace.json", "application/json", lambda _, t: t.to_json()),
    "csv": Format("Pairs (CSV)", "csv", "text/csv", lambda s, _: s.to_csv()),
    "operations": Format("Operations (CSV)", "trace.csv", "text/csv", lambda _, t: t.to_csv()),
    "graphml": Format("GraphML", "graphml", "application/xml", lambda s, _: s.to_graphml()),
    "nodelink": Format(
        "Node-link (JSON)",
        "nodelink.json",
        "application/json",
        lambda s, _: json.dumps(s.to_node_link(), ensure_ascii=False),
    ),
    "dot": Format("DOT (Graphviz)", "dot", "text/vnd.graphviz", lambda s, _: s.to_dot()),
}


def save_query(recipe: Mapping[str, str], structure: str, step: int) -> str:
    """Return the query of the address at which a table's files are.

    >>> save_query({"from": "workload"}, "fp", 3)
    '?from=workload&structure=fp&step=3'
    """
    return to_query({**recipe_of(recipe), "structure": structure, "step": str(step)})


def exported(library: Library, format_: str, query: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the name, the type and the text of a file; SourceError says why there is none."""
    if format_ not in FORMATS:
        raise SourceError(f"there is no format {format_[:40]!r}; known are {', '.join(FORMATS)}")
    story = library.story(recipe_of(query))
    structure = query.get("structure", "")
    if structure not in story.structures:
        raise SourceError(f"there is no structure {structure[:40]!r}")
    text = query.get("step", "")
    step = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else len(story)
    step = min(step, len(story))
    # With the index of interfaces, which a drawing does not need.
    snapshot = story.frame(structure, step).snapshot
    if structure != FILE:
        snapshot = snapshot.restore().snapshot() if _is_indexed(structure) else snapshot
    operations = list(story.trace)[:step]
    made = FORMATS[format_]
    name = f"{structure}-{step}.{made.ending}"
    try:
        return name, made.mimetype, made.write(snapshot, pl.Trace(operations))
    except pl.SnapshotError as error:
        raise SourceError(str(error)) from None


def _is_indexed(structure: str) -> bool:
    return pl.structure_named(structure).promises.interface_index


def register_exports(app: Dash, library: Library) -> None:
    """Serve the files; an address says all that is in one, so that it can be shared."""

    def serve(format_: str) -> Response:
        try:
            name, mimetype, text = exported(library, format_, request.args.to_dict())
        except SourceError as error:
            return Response(f"{error}\n", 404, mimetype="text/plain")
        answer = Response(text, mimetype=mimetype)
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return answer

    server: Any = app.server
    prefix = app.config.routes_pathname_prefix
    server.add_url_rule(f"{prefix}{EXPORTS}/<format_>", "posetlib-export", serve)

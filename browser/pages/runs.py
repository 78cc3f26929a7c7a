"""Runs: the validation reports of the jobs, and the witnesses of what they found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update

import posetlib as pl
from browser import ids
from browser.checking import MEANINGS, why_witness
from browser.config import Limits
from browser.directories import (
    Report,
    experiments,
    history,
    neighbourhood,
    numbers_of,
    read_report,
    renumbered,
    reports,
    snapshot_of,
)
from browser.elements import counted, drawing
from browser.graph import Shown
from browser.pages import parts
from browser.pages.attributes import aria, data
from browser.pages.experiments import experiment_cards
from browser.pages.stepping import register_graphs, register_memory
from browser.sources import SourceError
from browser.state import Library, from_query, to_query
from browser.story import Story

__all__ = ["layout", "register"]

Component = Any
NAME = "runs"
_SIGNS = {"holds": ("✓ holds", "badge holds"), "violated": ("✗ violated", "badge violated")}


def _at(part: str) -> str:
    return ids.at(NAME, part)


def layout(library: Library, recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it."""
    config = library.config
    found = reports(config)
    names = [each.name for each in found]
    chosen = view.get(ids.REPORT, "")
    where = config.runs or (config.workload.parent if config.workload else None)
    if found:
        choice: Component = dcc.RadioItems(
            id=_at(ids.REPORT),
            options=[{"label": _label(each), "value": each.name} for each in found],
            value=chosen if chosen in names else names[0],
        )
    else:
        text = (
            "No directory was given: python -m browser --runs DIRECTORY, or --workload with "
            "reports beside it."
            if where is None
            else f"There is no validation report in {where}: python -m workloads validate … "
            "--report R.json writes one."
        )
        choice = html.Div(
            [
                html.P(text, className="muted"),
                dcc.RadioItems(id=_at(ids.REPORT), options=[], value=None),
            ]
        )
    return html.Div(
        [
            parts.head("Runs", "What the jobs found when they validated a table."),
            html.Div(
                [
                    html.Div(
                        [
                            parts.card("Reports", html.Div(choice, className="choices stacked")),
                            *history_card(history(config)),
                            *experiment_cards(experiments(config)),
                            html.Section(
                                [html.Div(id=_at(ids.REPORTS))],
                                className="card",
                                **aria(label="Report"),
                            ),
                        ]
                    ),
                    html.Div(
                        [
                            html.Div(id=_at(ids.WITNESS_NONE), className="card", role="status"),
                            html.Div(
                                [
                                    parts.graph_panel(
                                        ids.panel(NAME, "witness"), "Witness", fold=False
                                    ),
                                    html.Div(
                                        id=_at(ids.WITNESS_TEXT),
                                        className="card spaced",
                                        role="status",
                                    ),
                                ],
                                id=_at(ids.WITNESS_GRAPH),
                                hidden=True,
                            ),
                        ],
                        className="follows",
                    ),
                ],
                className="sides runs",
            ),
            dcc.Store(id=_at(ids.WITNESS), data=view.get(ids.WITNESS, "")),
            *parts.stores(NAME, recipe, view),
        ]
    )


#: The colour and the name of each outcome of a validation.
_OUTCOMES = {
    True: ("no violation", "#1b7f4d"),
    False: ("violated", "#b3261e"),
    None: ("not validated", "#6b6b6b"),
}


def history_card(entries: Sequence[Mapping[str, Any]]) -> list[Component]:
    """Return the card with the history of a watched folder; nothing if there is none."""
    if not entries:
        return []
    figure = history_figure(entries)
    graph = dcc.Graph(figure=figure, config={"displayModeBar": False}, style={"height": "18rem"})
    last = entries[-1]
    told = f"{counted(len(entries), 'validation')}, the last of {last['name']}: "
    told += _OUTCOMES[last["ok"]][0]
    return [parts.card("History", html.Div([html.P(told), graph], id=_at(ids.HISTORY)))]


def history_figure(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a history for Plotly: violations over time, coloured by how it went."""
    traces = []
    for ok, (name, colour) in _OUTCOMES.items():
        some = [entry for entry in entries if entry["ok"] is ok]
        if some:
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "x": [entry["finished"] for entry in some],
                    "y": [entry.get("violations", 0) for entry in some],
                    "text": [_hover(entry) for entry in some],
                    "hoverinfo": "text",
                    "marker": {"color": colour, "size": 9},
                }
            )
    sizes = [entry for entry in entries if entry.get("nodes") is not None]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "nodes",
            "x": [entry["finished"] for entry in sizes],
            "y": [entry["nodes"] for entry in sizes],
            "yaxis": "y2",
            "line": {"color": "#7a8fb8"},
            "hoverinfo": "skip",
        }
    )
    return {
        "data": traces,
        "layout": {
            "margin": {"l": 45, "r": 45, "t": 10, "b": 35},
            "xaxis": {"type": "date"},
            "yaxis": {"title": {"text": "violations"}, "rangemode": "tozero"},
            "yaxis2": {
                "title": {"text": "nodes"},
                "overlaying": "y",
                "side": "right",
                "rangemode": "tozero",
            },
            "legend": {"orientation": "h", "y": 1.15},
        },
    }


def _hover(entry: Mapping[str, Any]) -> str:
    parts_of_it = [str(entry["name"])[:100], _OUTCOMES[entry["ok"]][0]]
    if entry.get("violated"):
        parts_of_it.append(", ".join(map(str, entry["violated"]))[:300])
    elif entry.get("error"):
        parts_of_it.append(str(entry["error"])[:300])
    return ": ".join(parts_of_it).replace("<", "&lt;")


def _label(report: Report) -> str:
    return f"{'✓' if report.ok else '✗'} {report.name}"


def report_table(report: Report, view: Mapping[str, str]) -> list[Component]:
    """Return a report with a link for each witness, to what is shown now with that one open."""
    content = report.content
    broken = [each["name"] for each in content["invariants"] if each["verdict"] == "violated"]
    verdict = (
        "Every invariant that applies holds." if report.ok else f"Violated: {', '.join(broken)}."
    )
    left = sum(each["verdict"] == "not asked" for each in content["invariants"])
    if left:
        held = "Of those asked for none is violated" if report.ok else verdict.rstrip(".")
        verdict = f"{held}; {left} of {len(content['invariants'])} were not checked."
    facts = [
        counted(content[f"{name}s"], name)
        for name in ("node", "edge")
        if _is_count(content.get(f"{name}s"))
    ]
    structure = content.get("structure")
    if isinstance(structure, str):
        facts.insert(0, structure.upper())
    head = [
        html.Th("Invariant"),
        html.Th("Verdict"),
        html.Th("Checked", className="number"),
        html.Th("Violations", className="number"),
    ]
    body: list[Component] = []
    for each in content["invariants"]:
        sign, name = _SIGNS.get(each["verdict"], (each["verdict"], "badge na"))
        body.append(
            html.Tr(
                [
                    html.Td(
                        [
                            html.Code(each["name"]),
                            html.Div(MEANINGS.get(each["name"], ""), className="muted"),
                        ]
                    ),
                    html.Td(html.Span(sign, className=name)),
                    html.Td(_count(each.get("checked")), className="number"),
                    html.Td(_count(each.get("violations")), className="number"),
                ]
            )
        )
        told = shown_of(each)
        if told:
            body.append(html.Tr(html.Td(told, colSpan=4, className="muted")))
        body += [
            html.Tr(html.Td(_offered(report, view, each["name"], place, witness), colSpan=4))
            for place, witness in enumerate(each.get("witnesses", []))
        ]
    return [
        html.H2(report.name),
        html.P([html.Strong(verdict), f" {' · '.join(facts)}"]),
        html.Div(html.Table([html.Thead(html.Tr(head)), html.Tbody(body)]), className="scroll"),
    ]


def _offered(
    report: Report, view: Mapping[str, str], invariant: str, place: int, witness: object
) -> Component:
    """Return a witness in a line, with the link that opens it.

    The script listens to the link, and no callback does: Dash would call it for every new link, in
    one call with an early click, and which link was clicked could not be told.
    """
    key = witness_key(invariant, place)
    return html.Div(
        [
            html.A(
                "Open",
                href=witness_address(view, report.name, key),
                className="button small",
                title="Open it in the graph",
                **aria(label=f"Open witness {place + 1} of {invariant} in the graph"),
                **data(witness=key),
            ),
            html.Span(witness_text(witness), className="filter"),
        ],
        className="witness",
    )


def shown_of(invariant: Mapping[str, Any]) -> str:
    """Return how many violations are shown of how many there are, where not all are.

    >>> shown_of({"violations": 12, "witnesses": [{}] * 5})
    '5 of 12 violations shown'
    """
    total, shown = invariant.get("violations"), len(invariant.get("witnesses", []))
    if not isinstance(total, int) or not _is_count(total) or total <= shown:
        return ""
    return f"{shown:,} of {total:,} violations shown"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else "–"


def witness_ids(witness: object) -> list[int]:
    """Return the ids of the nodes that a witness is about.

    >>> witness_ids({"parent": "x > 1", "ids": [3, 4]}), witness_ids({"child": 7}), witness_ids("x")
    ([3, 4], [7], [])
    """
    if isinstance(witness, Mapping):
        if isinstance(witness.get("ids"), list):
            return witness_ids(witness["ids"])
        return witness_ids(list(witness.values()))
    if isinstance(witness, Sequence) and not isinstance(witness, str):
        found = [each for each in witness if _is_count(each) and each >= 0]
        return list(dict.fromkeys(found))[:50]
    return [witness] if isinstance(witness, int) and _is_count(witness) else []


def witness_text(witness: object) -> str:
    """Return a witness in one line.

    >>> witness_text({"child": "x = 1", "why": "is covered", "ids": [3]})
    'child: x = 1; why: is covered'
    """
    if isinstance(witness, Mapping):
        parts_ = [f"{name}: {_plain(value)}" for name, value in witness.items() if name != "ids"]
        return "; ".join(parts_)[:2_000]
    return _plain(witness)[:2_000]


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    config = library.config
    register_graphs(app, NAME)
    register_memory(app, NAME, (ids.REPORT, "value"), (ids.WITNESS, "data"))

    # One callback for the list and the witness that is open at first: in an answer of its own, that
    # could come after the list, and replace what was clicked meanwhile. It is the first output, so
    # that it is set before there is a link to click.
    @app.callback(
        Output(_at(ids.WITNESS), "data"),
        Output(_at(ids.REPORTS), "children"),
        Input(_at(ids.REPORT), "value"),
        State(_at(ids.WITNESS), "data"),
        State(_at(ids.HERE), "data"),
        State(ids.VIEW, "data"),
    )
    def show(name: Any, chosen: Any, recipe: Any, view: Any) -> Any:
        if not name:
            return "", html.P("Nothing to show yet.", className="muted")
        report = read_report(config, name)
        there = openable(report)
        key = chosen if chosen in there else next(iter(there), "")
        return key, report_table(report, {**(view or {}), **recipe})

    @app.callback(
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.WITNESS_TEXT), "children"),
        Output(_at(ids.WITNESS_NONE), "children"),
        Output(_at(ids.WITNESS_NONE), "hidden"),
        Output(_at(ids.WITNESS_GRAPH), "hidden"),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        Input(_at(ids.WITNESS), "data"),
        Input(_at(ids.REPORT), "value"),
        State(_at(ids.HERE), "data"),
        prevent_initial_call="initial_duplicate",
    )
    def open_witness(key: Any, name: Any, recipe: Any) -> Any:
        story = library.story(recipe)
        types = story.source.types
        if not name:
            return no_update, [], _nothing(None), False, True, ""
        report = read_report(config, name)
        there = openable(report)
        if key not in there:
            return no_update, [], _nothing(report), False, True, ""
        invariant, witness = there[key]
        try:
            table = snapshot_of(config, report)
            if table is None:
                raise SourceError(
                    "the table that this report is about was not found: give the directory that "
                    "holds both by --runs"
                )
            made = witness_drawing(table, invariant, witness, config.limits, story)
        except SourceError as error:
            return no_update, [], witness_card(invariant, witness, types), False, True, str(error)
        if made is None:
            missing = html.P("None of these filters is in the table.", className="muted")
            told = [*witness_card(invariant, witness, types), missing]
            return no_update, [], told, False, True, ""
        drawings = {ids.panel(NAME, "witness"): made}
        return drawings, witness_card(invariant, witness, types), [], True, False, ""


def witness_key(invariant: str, place: int) -> str:
    """Return the name of a witness, as it stands in the address."""
    return f"{invariant}.{place + 1}"


def witness_address(view: Mapping[str, str], report: str, key: str) -> str:
    """Return the query that opens a witness: with all of a view, unless that makes it too long.

    >>> witness_address({"from": "workload", "witness": "edge-covers.1"}, "R.json", "edge-covers.2")
    '?from=workload&witness=edge-covers.2&report=R.json'
    """
    chosen = {ids.REPORT: report, ids.WITNESS: key}
    query = to_query({**view, **chosen})
    return query if from_query(query) else to_query(chosen)


def openable(report: Report) -> dict[str, tuple[str, object]]:
    """Return the witnesses by key, each with its invariant."""
    return {
        witness_key(each["name"], place): (each["name"], witness)
        for each in report.content["invariants"]
        for place, witness in enumerate(each.get("witnesses", []))
        if isinstance(witness, Mapping)
    }


def _nothing(report: Report | None) -> Component:
    if report is not None and report.ok:
        text = "Every invariant that applies holds: there is no witness to show."
    else:
        text = (
            "Where an invariant is violated, the report has witnesses: the filters that show it, "
            "which open here with all that is directly above and below them."
        )
    return html.Div([html.H2("Witness"), html.P(text, className="muted")])


def witness_card(
    invariant: str, witness: object, types: pl.TypeHierarchy | None = None
) -> list[Component]:
    """Return what a witness says, and why it is one."""
    meaning = html.P(MEANINGS.get(invariant, ""), className="muted")
    if not isinstance(witness, Mapping):
        return [html.H2(invariant), html.P(witness_text(witness), className="filter")]
    told = [(name, value) for name, value in witness.items() if name not in ("ids", "why")]
    rows = [
        each
        for name, value in told
        for each in (html.Dt(name), html.Dd(_plain(value)[:2_000], className="filter"))
    ]
    why = [html.P(_plain(witness["why"])[:2_000])] if "why" in witness else []
    why += [html.P(sentence) for sentence in why_witness(witness, types)]
    return [html.H2(invariant), meaning, *why, html.Dl(rows)]


def witness_drawing(
    table: tuple[str, Path],
    invariant: str,
    witness: object,
    limits: Limits,
    story: Story | None = None,
) -> dict[str, Any] | None:
    """Return the filters of a witness, in the table on disk, with what is next to them.

    Filters that the story has bear its numbers, the same on every page; others their id on disk.
    None if no filter of it is there: some that should be are what a witness is about.
    """
    name, folder = table
    named = witness_ids(witness)
    if not named and isinstance(witness, Mapping):
        named = numbers_of(folder, [each for each in witness.values() if isinstance(each, str)])
    graph, numbers = neighbourhood(folder, named, limits)
    if not numbers:
        return None
    if story is not None:
        graph, numbers = renumbered(graph, numbers, story)
    names = sorted({each for node in graph.nodes.values() for each in node.interfaces})
    between = [edge for edge in graph.edges if edge[0] in numbers and edge[1] in numbers]
    made = drawing(
        graph,
        Shown(tuple(graph.nodes)),
        palette={each: i for i, each in enumerate(names)},
        marks={number: ["witness"] for number in numbers},
        edge_marks=dict.fromkeys(between, "witness"),
        labelled=limits.labelled_nodes,
        ratio=1.1,
    )
    made["title"] = f"{invariant} in {name}"
    made["stats"] = f"{invariant} in {name}: the witness with the parents and children of each"
    made["chips"] = [("witness", f"! witness {len(numbers)}")]
    return made

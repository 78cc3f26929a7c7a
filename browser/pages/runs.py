"""Runs: the validation reports of the jobs, and the witnesses of what they found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from browser import ids
from browser.directories import Report, neighbourhood, read_report, reports, snapshot_of
from browser.elements import drawing
from browser.graph import Shown
from browser.pages import parts
from browser.pages.attributes import aria
from browser.pages.stepping import register_graphs, register_memory
from browser.sources import SourceError
from browser.state import Library

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
                            html.Section(
                                [
                                    html.H2("Reports"),
                                    html.Div(choice, className="choices stacked"),
                                ],
                                className="card",
                            ),
                            html.Section(
                                [html.Div(id=_at(ids.REPORTS), className="scroll tall")],
                                className="card",
                                **aria(label="Report"),
                            ),
                        ]
                    ),
                    html.Div(
                        [
                            parts.graph_panel(ids.panel(NAME, "witness"), "Witness", fold=False),
                            html.Div(
                                html.P(
                                    "Where an invariant is violated, the report has witnesses: "
                                    "open one to see it here.",
                                    className="muted",
                                ),
                                id=_at(ids.WITNESS),
                                className="card spaced",
                                role="status",
                            ),
                        ]
                    ),
                ],
                className="sides runs",
            ),
            *parts.stores(NAME, recipe, view),
        ]
    )


def _label(report: Report) -> str:
    return f"{'✓' if report.ok else '✗'} {report.name}"


def report_table(report: Report) -> list[Component]:
    """Return a report with a button for each witness."""
    content = report.content
    broken = [each["name"] for each in content["invariants"] if each["verdict"] == "violated"]
    verdict = (
        "Every invariant that applies holds." if report.ok else f"Violated: {', '.join(broken)}."
    )
    facts = [
        f"{content[name]:,} {name}" for name in ("nodes", "edges") if _is_count(content.get(name))
    ]
    structure = content.get("structure")
    if isinstance(structure, str):
        facts.insert(0, structure.upper())
    head = [html.Th(each) for each in ("Invariant", "Verdict", "Checked", "Violations")]
    body: list[Component] = []
    for each in content["invariants"]:
        sign, name = _SIGNS.get(each["verdict"], (each["verdict"], "badge na"))
        body.append(
            html.Tr(
                [
                    html.Td(html.Code(each["name"])),
                    html.Td(html.Span(sign, className=name)),
                    html.Td(_count(each.get("checked")), className="number"),
                    html.Td(_count(each.get("violations")), className="number"),
                ]
            )
        )
        for place, witness in enumerate(each.get("witnesses", [])):
            body.append(
                html.Tr(
                    html.Td(
                        [
                            html.Button(
                                "Open in the graph",
                                id=ids.witness(each["name"], place),
                                className="small",
                                disabled=not witness_ids(witness),
                                **aria(label=f"Open witness {place + 1} of {each['name']}"),
                            ),
                            " ",
                            html.Span(witness_text(witness), className="filter"),
                        ],
                        colSpan=4,
                    )
                )
            )
    return [
        html.H2([html.Span(report.name), " "]),
        html.P([html.Strong(verdict), f" {' · '.join(facts)}"]),
        html.Table([html.Thead(html.Tr(head)), html.Tbody(body)]),
    ]


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
    register_memory(app, NAME, (ids.REPORT, "value"))

    @app.callback(
        Output(_at(ids.REPORTS), "children"),
        Input(_at(ids.REPORT), "value"),
        Input(_at(ids.HERE), "data"),
    )
    def show(name: Any, _recipe: Any) -> Any:
        if not name:
            return html.P("Nothing to show yet.", className="muted")
        return report_table(read_report(config, name))

    @app.callback(
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.WITNESS), "children"),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        Input({"type": "witness", "invariant": ALL, "place": ALL}, "n_clicks"),
        State(_at(ids.REPORT), "value"),
        prevent_initial_call=True,
    )
    def open_witness(_clicks: Any, name: Any) -> Any:
        if not ctx.triggered or not ctx.triggered[0]["value"] or ctx.triggered_id is None:
            raise PreventUpdate
        try:
            report = read_report(config, name or "")
            found = next(
                each
                for each in report.content["invariants"]
                if each["name"] == ctx.triggered_id["invariant"]
            )
            witness = found["witnesses"][ctx.triggered_id["place"]]
            table = snapshot_of(config, report)
            if table is None:
                raise SourceError(
                    "the table that this report is about was not found: give the directory that "
                    "holds both by --runs"
                )
            graph, numbers = neighbourhood(table[1], witness_ids(witness), config.limits)
        except SourceError as error:
            return no_update, no_update, str(error)
        names = sorted({each for node in graph.nodes.values() for each in node.interfaces})
        made = drawing(
            graph,
            Shown(tuple(graph.nodes)),
            palette={each: i for i, each in enumerate(names)},
            marks={number: ["witness"] for number in numbers},
            labelled=config.limits.labelled_nodes,
            ratio=1.1,
        )
        made["title"] = f"{found['name']} in {table[0]}"
        made["stats"] = f"{table[0]}: the witness with the parents and children of each"
        made["chips"] = [("witness", f"! witness {len(numbers)}")]
        told = [html.Strong(found["name"]), html.P(witness_text(witness), className="filter")]
        return {ids.panel(NAME, "witness"): made}, told, ""

"""Context: both forests of profiles and queries, their mappings, and collections that change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from browser import ids
from browser.config import Limits
from browser.context.run import SEMANTICS, ContextRun, Moment, Shelf, drawings
from browser.context.script import CONTEXTS, PROFILES, QUERIES, with_line
from browser.elements import counted
from browser.folds import read_folds
from browser.listing import Cell, code, listing, pick
from browser.pages import parts
from browser.pages.stepping import (
    register_graphs,
    register_list,
    register_memory,
    register_transport,
)
from browser.shortening import short
from browser.sources import SourceError
from browser.state import Library

__all__ = ["layout", "register"]

Component = Any
NAME = "context"
_START = f"example:{next(iter(CONTEXTS))}"
_PANELS = {QUERIES: ids.panel(NAME, QUERIES), PROFILES: ids.panel(NAME, PROFILES)}
#: Members of a collection that are named; a large one is counted.
_NAMED = 40
_HELP = (
    ("profile NAME: x = 3", "lets an object have a profile"),
    ("query NAME: x < 5", "lets a collection have a query"),
    ("- profile NAME: x = 3", "takes it away; likewise - query"),
    ("forget NAME", "takes all profiles of an object"),
    ("close NAME", "closes a collection, with its queries"),
)


def _at(part: str) -> str:
    return ids.at(NAME, part)


# -- the page --------------------------------------------------------------------------------------


def layout(library: Library, _recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it; what cannot be read is told, and an example shown."""
    problem = ""
    source = view.get(_at(ids.RUN), _START)
    semantics = view.get(_at(ids.SEMANTICS), next(iter(SEMANTICS)))
    try:
        run = library.context(source, semantics)
    except SourceError as error:
        problem, view = f"What this address asks for cannot be shown: {error}", {}
        source, semantics = _START, next(iter(SEMANTICS))
        run = library.context(source, semantics)
    step = view.get(_at(ids.STEP), "")
    number = int(step) if step.isascii() and step.isdigit() and len(step) < 9 else len(run)
    return html.Div(
        [
            parts.head(
                "Context",
                "Profiles that last, queries that stay, and which match (Tarkoma's thesis, 6.8.3).",
            ),
            html.Div(problem, id=_at(ids.PROBLEM), className="message", role="alert"),
            html.Div(
                parts.one_of(_at(ids.SEMANTICS), SEMANTICS, semantics, "When they match"),
                className="toolbar",
            ),
            html.Div(
                [
                    _the_text(library.context_text(source), library.config.limits),
                    html.Div(
                        [
                            parts.transport(
                                NAME, len(run), run.clamp(number), "How many changes are in"
                            ),
                            html.Div(
                                [
                                    html.Div(
                                        [
                                            parts.graph_panel(_PANELS[QUERIES], "Queries"),
                                            parts.graph_panel(_PANELS[PROFILES], "Profiles"),
                                        ],
                                        className="grid pair",
                                    ),
                                    _beside(),
                                ],
                                className="work tall",
                            ),
                        ],
                        className="run-shown",
                    ),
                ],
                className="with-run",
            ),
            dcc.Store(id=_at(ids.RUN), data=source),
            *parts.stores(
                NAME,
                {"source": source, "semantics": semantics},
                {each: view.get(_at(each), "") for each in (ids.NODE, ids.FOLDS)},
            ),
        ],
        className="own-source",
    )


def _the_text(text: str, limits: Limits) -> Component:
    return parts.script_card(
        NAME,
        text,
        words=("Profiles and queries", "One change a line", "Use this"),
        examples=[(ids.context_example(name), each.title) for name, each in CONTEXTS.items()],
        lines=_HELP,
        limits=f"Up to {limits.operations:,} changes.",
    )


def _beside() -> Component:
    return parts.inspector(
        parts.card("Collections", html.Div(id=_at(ids.COLLECTIONS), role="status")),
        parts.card(
            "Chosen filter",
            html.Div(id=_at(ids.DETAIL)),
            parts.long_list(NAME, ids.ROWS),
            class_name="card list",
        ),
        parts.card("Mappings", html.Div(id=_at(ids.AGREEMENT))),
        parts.card(
            "Add or remove by hand",
            parts.one_of(
                _at(ids.HAND_KIND), {"profile": "Profile", "query": "Query"}, "", "What it is"
            ),
            html.Div(
                [
                    parts.labelled(
                        "Object or collection",
                        dcc.Input(id=_at(ids.HAND_NAME), type="text", placeholder="photo.jpg"),
                    ),
                    parts.labelled(
                        "Filter",
                        dcc.Input(id=_at(ids.HAND_FILTER), type="text", placeholder="x = 3"),
                    ),
                ],
                className="fields",
            ),
            html.Div(
                [
                    html.Button("Add", id=_at(ids.HAND_ADD), className="primary"),
                    html.Button("Remove", id=_at(ids.HAND_REMOVE)),
                ],
                className="row",
            ),
            html.P("Becomes a line of its own, after the current step.", className="muted"),
        ),
        parts.signs(("added", "mapped")),
    )


# -- what is told ----------------------------------------------------------------------------------


def step_text(run: ContextRun, step: int) -> str:
    """Return what the last change was, in one line."""
    if not step:
        return f"Step 0 of {len(run):,}: nothing is there"
    change = run.changes[step - 1]
    return f"Step {step:,} of {len(run):,} (line {change.line}): {short(change.text, 160)}"


def shelf_card(shelf: Shelf) -> Component:
    """Return a collection: what the last change did to it, and what is in it."""
    news: list[Component] = [
        html.Span(f"{sign} {uri}", className=f"chip {look}")
        for sign, look, some in (("+", "added", shelf.added), ("−", "removed", shelf.removed))
        for uri in some[:_NAMED]
    ]
    named = ", ".join(shelf.members[:_NAMED])
    more = len(shelf.members) - _NAMED
    state = "" if shelf.is_open else ", closed"
    return html.Div(
        [
            html.H3(f"{shelf.name}: {counted(len(shelf.members), 'object')}{state}"),
            html.Div(news, className="chips"),
            html.P(f"{named} and {more:,} more" if more > 0 else named or "empty"),
            html.P(f"from {counted(shelf.notes, 'note')}", className="muted"),
        ]
    )


def shelves_card(shelves: Sequence[Shelf]) -> list[Component]:
    """Return all collections."""
    if not shelves:
        return [html.P("A collection comes with its first query.", className="muted")]
    return [shelf_card(each) for each in shelves]


def agreement_card(moment: Moment) -> list[Component]:
    """Return whether the mappings are what comparing all pairs gives, and what they cost."""
    wrong = moment.differences
    sign, look = ("✓ as comparing all pairs", "holds")
    if wrong:
        sign, look = (f"✗ {counted(wrong, 'pair')} wrong", "violated")
    matches = len(moment.expected)
    queries, profiles = (len(moment.graphs[side].nodes) for side in (QUERIES, PROFILES))
    return [
        html.P(html.Span(sign, className=f"badge {look}")),
        html.P("1 match" if matches == 1 else f"{matches:,} matches"),
        html.P(
            f"{moment.covering_tests:,} covering tests so far, {moment.last_tests:,} at this step. "
            f"All pairs now are {queries * profiles:,}.",
            className="muted",
        ),
    ]


def detail_card(run: ContextRun, moment: Moment, chosen: int | None) -> list[Component]:
    """Return what the chosen filter is, and whose."""
    item = None if chosen is None else run.filters.get(chosen)
    if chosen is None or item is None:
        hint = "Click a filter in either forest: what it is mapped to is marked, and listed here."
        return [html.P(hint, className="muted")]
    made: list[Component] = [parts.told_filter(chosen, str(item))]
    side = moment.side_of.get(chosen)
    if side is None:
        return [*made, html.P("It is not there at this step.", className="muted")]
    who = ", ".join(moment.graphs[side].nodes[chosen].interfaces)
    count = len(moment.mapped(chosen))
    if side == QUERIES:
        return [*made, html.P(f"A query of {who}. Profiles that match it: {count:,}")]
    return [*made, html.P(f"A profile of {who}. Queries that match it: {count:,}")]


def mapped_list(moment: Moment, chosen: int | None, limit: int) -> dict[str, Any]:
    """Return what the chosen filter is mapped to; without one, all filters of both forests."""
    side = None if chosen is None else moment.side_of.get(chosen)
    if side is None:
        numbers = [number for graph in moment.graphs.values() for number in graph.nodes]
    else:
        numbers = list(moment.mapped(chosen))
    nodes = {n: each for graph in moment.graphs.values() for n, each in graph.nodes.items()}
    rows: list[list[Cell]] = [
        [pick(NAME, number), code(nodes[number].text), ", ".join(nodes[number].interfaces)]
        for number in sorted(numbers)[:limit]
    ]
    return listing(
        ["No.", "Filter", "Of"],
        rows,
        note=f"The first {limit} of {len(numbers):,}." if len(numbers) > limit else "",
    )


# -- callbacks -------------------------------------------------------------------------------------


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    limits = library.config.limits
    register_transport(app, NAME)
    register_graphs(app, NAME)
    register_list(app, NAME, ids.ROWS)
    register_memory(
        app,
        NAME,
        (ids.RUN, "data"),
        (ids.SEMANTICS, "value"),
        (ids.STEP, "value"),
        apart=True,
    )
    _register_choosing(app, library)

    @app.callback(
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.STEP_TEXT), "children"),
        Output(_at(ids.COLLECTIONS), "children"),
        Output(_at(ids.AGREEMENT), "children"),
        Output(_at(ids.DETAIL), "children"),
        Output(_at(ids.data_of(ids.ROWS)), "data"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.NODE), "data"),
        Input(_at(ids.FOLDS), "data"),
    )
    def show(here: Any, step: Any, chosen: Any, folds: Any) -> Any:
        run = library.context(here["source"], here["semantics"])
        moment = run.at(step or 0)
        made = drawings(run, moment, chosen, limits, read_folds(folds))
        return (
            # The page asks whether what is drawn is what the slider says.
            {_PANELS[side]: {**each, "step": step or 0} for side, each in made.items()},
            step_text(run, moment.step),
            shelves_card(moment.shelves),
            agreement_card(moment),
            detail_card(run, moment, chosen),
            mapped_list(moment, chosen, limits.rows),
        )


def _register_choosing(app: Dash, library: Library) -> None:
    """Let text, examples, changes by hand and the semantics choose what is shown."""

    @app.callback(
        Output(_at(ids.RUN), "data"),
        Output(_at(ids.SCRIPT), "value"),
        Output(_at(ids.HERE), "data"),
        Output(_at(ids.STEP), "max"),
        Output(_at(ids.STEP), "value", allow_duplicate=True),
        Output(_at(ids.PROBLEM), "children"),
        Input(_at(ids.USE_SCRIPT), "n_clicks"),
        Input({"type": "context-example", "name": ALL}, "n_clicks"),
        Input(_at(ids.HAND_ADD), "n_clicks"),
        Input(_at(ids.HAND_REMOVE), "n_clicks"),
        Input(_at(ids.SEMANTICS), "value"),
        State(_at(ids.SCRIPT), "value"),
        State(_at(ids.HERE), "data"),
        State(_at(ids.STEP), "value"),
        State(_at(ids.HAND_KIND), "value"),
        State(_at(ids.HAND_NAME), "value"),
        State(_at(ids.HAND_FILTER), "value"),
        prevent_initial_call=True,
    )
    def choose(*values: Any) -> Any:
        semantics, text, here, step, *hand = values[4:]
        by = ctx.triggered_id
        if not ctx.triggered or not ctx.triggered[0]["value"]:
            raise PreventUpdate
        source = here["source"]
        try:
            if by == _at(ids.SEMANTICS):
                if semantics == here["semantics"]:
                    raise PreventUpdate
                run = library.context(source, semantics)
                text, at = no_update, run.clamp(step or 0)
            elif by in (_at(ids.HAND_ADD), _at(ids.HAND_REMOVE)):
                run = library.context(source, semantics)
                at = run.clamp(step or 0)
                line = _line("-" if by == _at(ids.HAND_REMOVE) else "", *hand)
                after = run.changes[at - 1].line if at else run.changes[0].line - 1
                text, at = with_line(library.context_text(source), after, line), at + 1
                source = library.keep_run(text)
            elif by == _at(ids.USE_SCRIPT):
                source, at = library.keep_run(text or ""), None
                text = no_update
            else:
                source, at = f"example:{by['name']}", None
                text = library.context_text(source)
            run = library.context(source, semantics)
        except SourceError as error:
            return (*[no_update] * 5, str(error))
        made = {"source": source, "semantics": semantics}
        return source, text, made, len(run), len(run) if at is None else at, ""


def _line(sign: str, kind: Any, name: Any, text: Any) -> str:
    """Return a change by hand as a line of the text."""
    name = (name or "").strip()
    if not name or ":" in name or len(name.split()) > 1:
        raise SourceError("an object or a collection has a name, without spaces and colons")
    return f"{sign} {kind} {name}: {' '.join((text or '').split())}".strip()

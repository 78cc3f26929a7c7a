"""Expressions: a tree with p_min and selectivities, its prunings, and what an event satisfies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

import posetlib as pl
from browser import ids
from browser.config import Limits
from browser.elements import counted
from browser.expressions.pruning_run import PruningRun
from browser.expressions.script import (
    EXPRESSION_SETS,
    MOST_CONDITIONS,
    MOST_CONDITIONS_IN_ALL,
    MOST_EVENTS,
    ExpressionSet,
)
from browser.expressions.tree import (
    Cut,
    Part,
    Reach,
    Tree,
    ranked,
    reached,
    share_text,
    tree_drawing,
)
from browser.folds import read_folds
from browser.graph import NO_FOLDS
from browser.listing import Cell, code, listing, pick
from browser.matching import read_notification
from browser.pages import parts, plots
from browser.pages.plots import Figure
from browser.pages.stepping import register_graphs, register_list, register_memory
from browser.sources import SourceError
from browser.state import Library
from posetlib.expressions import RATINGS, Selectivity

__all__ = ["layout", "register"]

Component = Any
NAME = "expressions"
_START = f"example:{next(iter(EXPRESSION_SETS))}"
_TREE = ids.panel(NAME, "tree")
_RATINGS = {each: each.replace("+", " + ").capitalize() for each in RATINGS}
#: The curves: what is measured at each point, and the title of its figure.
_CURVES = {
    "load": "N: share of interfaces that an event is sent to",
    "removed": "M: share of conditions removed",
    "micros": "Processor time to match an event, µs",
}
_HELP = (
    ("I1: x > 3 or not (y = 1)", "an expression of an interface, which may be left out"),
    ('{"x": 3}', "an event: selectivities are learned from all of them"),
    (
        "auction: subscriptions=90 events=300",
        "generates both; also seed, interfaces, books, and law: uniform, zipf …",
    ),
    ("# …", "a comment"),
)


def _at(part: str) -> str:
    return ids.at(NAME, part)


# -- the page --------------------------------------------------------------------------------------


def layout(library: Library, _recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it; what cannot be read is told, and an example shown."""
    problem = ""
    source = view.get(_at(ids.RUN), _START)
    try:
        among = library.expressions(source)
    except SourceError as error:
        problem, view = f"What this address asks for cannot be shown: {error}", {}
        source = _START
        among = library.expressions(source)
    entry = view.get(_at(ids.ENTRY), "")
    number = int(entry) if entry.isascii() and entry.isdigit() and len(entry) < 9 else 1
    return html.Div(
        [
            parts.head(
                "Expressions",
                "Any AND, OR and NOT: the tree, what can be pruned, and who matches an event.",
            ),
            html.Div(problem, id=_at(ids.PROBLEM), className="message", role="alert"),
            _controls(view.get(_at(ids.NOTIFICATION), first_event(among)), view),
            html.Div(
                [
                    _the_text(library.expressions_text(source)),
                    html.Div([_shown(), *_below(view)], className="run-shown"),
                ],
                className="with-run",
            ),
            dcc.Store(id=_at(ids.RUN), data=source),
            dcc.Store(id=_at(ids.ENTRY), data=number),
            *parts.stores(
                NAME,
                {"source": source},
                {each: view.get(_at(each), "") for each in (ids.NODE, ids.FOLDS)},
            ),
        ],
        className="own-source",
    )


def _controls(event: str, view: Mapping[str, str]) -> Component:
    return html.Div(
        [
            parts.labelled(
                "Event (JSON)",
                dcc.Input(id=_at(ids.NOTIFICATION), type="text", value=event, debounce=True),
                "grow code whole",
            ),
            html.Button("Another event", id=_at(ids.RANDOM)),
            parts.one_of(
                _at(ids.RATING), _RATINGS, view.get(_at(ids.RATING), RATINGS[0]), "Rating"
            ),
        ],
        className="toolbar end",
    )


def _the_text(text: str) -> Component:
    return parts.script_card(
        NAME,
        text,
        words=("Expressions and events", "One expression or event a line", "Use this"),
        examples=[
            (ids.expression_example(name), each.title) for name, each in EXPRESSION_SETS.items()
        ],
        lines=_HELP,
        limits=f"Up to {MOST_CONDITIONS} conditions in an expression and "
        f"{MOST_CONDITIONS_IN_ALL:,} in all, and {MOST_EVENTS:,} events.",
    )


def _shown() -> Component:
    return html.Div(
        [
            html.Div(parts.graph_panel(_TREE, "Tree"), className="grid one"),
            parts.inspector(
                parts.card("Event", html.Div(id=_at(ids.EVENT), role="status")),
                parts.card("Chosen part", html.Div(id=_at(ids.DETAIL))),
                parts.signs(("matched", "failed")),
            ),
        ],
        className="work low",
    )


def _below(view: Mapping[str, str]) -> list[Component]:
    return [
        parts.card("Legal prunings, the best first", parts.long_list(NAME, ids.ROWS)),
        parts.card("All expressions", parts.long_list(NAME, ids.REACHED)),
        html.Div(
            [
                html.Div(
                    dcc.Checklist(
                        id=_at(ids.CURVES),
                        options=[
                            {"label": "Prune all expressions to the end", "value": "yes"},
                        ],
                        value=["yes"] if view.get(_at(ids.CURVES)) else [],
                    ),
                    className="choice",
                ),
                html.Span(id=_at(ids.CURVES_TOLD), role="status"),
            ],
            className="toolbar",
        ),
        html.Div(
            [plots.plot(NAME, each, title) for each, title in _CURVES.items()],
            id=_at(ids.GROWTH),
            className="charts",
            hidden=True,
        ),
    ]


def first_event(among: ExpressionSet) -> str:
    """Return the first event of a set as JSON; without one, an event without attributes."""
    return json.dumps(among.events[0]) if among.events else "{}"


# -- what is told ----------------------------------------------------------------------------------


def selectivity_text(found: Selectivity) -> str:
    """Return the three parts of an estimate.

    >>> selectivity_text(Selectivity(0.0, 0.125, 0.5))
    '0 % … 12 % … 50 %'
    """
    return " … ".join(map(share_text, found))


def event_card(tree: Tree, found: list[Reach], satisfied: str) -> list[Component]:
    """Return whether the event matches the chosen expression and why, and whom it reaches."""
    assert tree.event is not None
    why = tree.entry.expression.explain(tree.event)
    sign, look = ("✓ matches", "holds") if why.matches else ("✗ does not match", "violated")
    candidates = sum(each.is_candidate for each in found)
    matches = sum(each.matches for each in found)
    deciding = [html.Li(str(each)) for each in why.deciding]
    return [
        html.P(html.Span(sign, className=f"badge {look}")),
        html.Ul(deciding or [html.Li(str(why))], className="plain"),
        html.P(
            f"{satisfied} Of {counted(len(found), 'expression')}, "
            f"{counted(candidates, 'candidate')}: {matches:,} of them "
            f"{'matches' if matches == 1 else 'match'}.",
            className="muted",
        ),
    ]


def satisfied_text(among: ExpressionSet, event: Mapping[str, Any]) -> str:
    """Return how many of the distinct conditions an event satisfies."""
    counts = among.matcher.account(event)
    return f"{counts.satisfied:,} of {counted(counts.predicates, 'distinct predicate')} hold."


def part_card(tree: Tree, chosen: int | None) -> list[Component]:
    """Return what there is to say about a part of the tree: what it is, and its pruning."""
    part = tree.parts.get(chosen or 0)
    if part is None:
        hint = "Click a part of the tree, or a pruning, for its numbers and what would be left."
        return [html.P(hint, className="muted")]
    made: list[Component] = [parts.told_filter(part.number, str(part.expression))]
    made.append(html.P(f"p_min {part.p_min}. Selectivity {selectivity_text(part.selectivity)}"))
    if part.holds is not None:
        made.append(html.P("It holds for the event." if part.holds else "It fails for the event."))
    if part.cut is None:
        return [*made, html.P(_why_not(part), className="muted")]
    return [*made, html.H3("Without it"), *_effect(tree, part.cut)]


def _effect(tree: Tree, cut: Cut) -> list[Component]:
    before = tree.root
    return [
        html.P(html.Span(str(cut.pruning.expression), className="filter")),
        html.P(f"p_min {before.p_min} → {cut.p_min}, bytes {tree.size} → {cut.size}"),
        html.P(
            f"Selectivity {selectivity_text(before.selectivity)} → "
            f"{selectivity_text(cut.selectivity)}"
        ),
        html.P(f"Of {counted(tree.events, 'event')}, {cut.let_in:,} more would match."),
    ]


def _why_not(part: Part) -> str:
    if part.above is None:
        return "The root is not pruned: nothing would be left."
    return "A child of an OR is not pruned: the expression would match less."


def pruning_list(tree: Tree, rating: str, chosen: int | None) -> dict[str, Any]:
    """Return the legal prunings of a tree in the order of a rating, with all four ratings."""
    found = ranked(tree, rating)
    rows: list[list[Cell]] = []
    for place, (part, allowed) in enumerate(found, 1):
        assert part.cut is not None
        ratings = part.cut.pruning.ratings
        rows.append(
            [
                str(place) if allowed else "–",
                pick(NAME, part.number),
                code(str(part.expression)),
                f"{ratings.accuracy:.4g}",
                str(ratings.efficiency),
                str(ratings.memory),
                f"{ratings.occurrence:.4g}",
                f"{part.cut.let_in:,}",
                code(str(part.cut.pruning.expression)),
            ]
        )
    notes = []
    if not found:
        notes.append("Nothing can be pruned: only a child of an AND can go.")
    if not all(allowed for _, allowed in found):
        notes.append("–: memory prunes what is inside first.")
    return listing(
        [
            *("Rank", "Part", "Removed", "Accuracy", "Efficiency", "Memory"),
            *("Acc. + occ.", "Lets in", "Left"),
        ],
        rows,
        classes=["picked" if part.number == chosen else "" for part, _ in found],
        note=" ".join(notes),
    )


def reached_list(found: list[Reach], chosen: int, limit: int) -> dict[str, Any]:
    """Return all entries of a set: hits of the event, p_min, whether candidate, whether matching.

    Those that match come first, then the other candidates.
    """
    ordered = sorted(found, key=lambda each: (not each.matches, not each.is_candidate))[:limit]
    rows: list[list[Cell]] = [
        [
            pick(ids.ENTRY_PAGE, each.number),
            each.entry.interface,
            code(str(each.entry.expression)),
            str(each.hits),
            str(each.p_min),
            "yes" if each.is_candidate else "no",
            "✓" if each.matches else "✗",
        ]
        for each in ordered
    ]
    return listing(
        ["No.", "Interface", "Expression", "Hits", "p_min", "Candidate", "Match"],
        rows,
        classes=["picked" if each.number == chosen else "" for each in ordered],
        note=f"The first {limit} of {len(found):,}." if len(found) > limit else "",
    )


def curve_figures(run: PruningRun) -> list[Figure]:
    """Return N, M and the time along a run of prunings."""
    return [
        plots.figure(
            title,
            "Prunings",
            [
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": run.rating,
                    "x": [point.prunings for point in run.points],
                    "y": [round(getattr(point, name), 5) for point in run.points],
                }
            ],
        )
        for name, title in _CURVES.items()
    ]


def told_run(run: PruningRun) -> list[Component]:
    """Return whether a run lost an event, and what it came to."""
    first, last = run.points[0], run.points[-1]
    sign, look = ("✓ no event is lost", "holds")
    if run.lost:
        sign, look = (f"✗ {run.lost:,} lost", "violated")
    done = f" {counted(last.prunings, 'pruning')}: M {last.removed:.2f}, "
    return [
        html.Span(sign, className=f"badge {look}"),
        f"{done}N {first.load:.3f} → {last.load:.3f}",
    ]


# -- callbacks -------------------------------------------------------------------------------------


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    limits = library.config.limits
    register_graphs(app, NAME)
    for each in (ids.ROWS, ids.REACHED):
        register_list(app, NAME, each)
    for each in _CURVES:
        plots.register_plot(app, NAME, each)
    register_memory(
        app,
        NAME,
        *((each, "data") for each in (ids.RUN, ids.ENTRY)),
        *((each, "value") for each in (ids.NOTIFICATION, ids.RATING, ids.CURVES)),
        apart=True,
    )
    _register_choosing(app, library)
    _register_curves(app, library)

    @app.callback(
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.EVENT), "children"),
        Output(_at(ids.DETAIL), "children"),
        Output(_at(ids.data_of(ids.ROWS)), "data"),
        Output(_at(ids.data_of(ids.REACHED)), "data"),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.ENTRY), "data"),
        Input(_at(ids.NODE), "data"),
        Input(_at(ids.NOTIFICATION), "value"),
        Input(_at(ids.RATING), "value"),
        Input(_at(ids.FOLDS), "data"),
        prevent_initial_call="initial_duplicate",
    )
    def show(here: Any, entry: Any, chosen: Any, event: Any, rating: Any, folds: Any) -> Any:
        try:
            return (*_told(library, limits, here, entry, chosen, event, rating, folds), "")
        except SourceError as error:
            return (*[no_update] * 5, str(error))


def _told(
    library: Library,
    limits: Limits,
    here: Any,
    entry: Any,
    chosen: Any,
    text: Any,
    rating: Any,
    folds: Any,
) -> tuple[Any, ...]:
    """Return the drawing, both cards and both lists."""
    among = library.expressions(here["source"])
    number = entry if isinstance(entry, int) and 1 <= entry <= len(among.entries) else 1
    event = read_notification(text or "{}")
    try:
        tree = Tree(among.entries[number - 1], among, event)
        found = reached(among, event)
    except (pl.FilterError, TypeError, ValueError) as error:
        raise SourceError(f"the event cannot be matched: {error}") from None
    drawing = tree_drawing(tree, limits, read_folds(folds).get("tree", NO_FOLDS))
    drawing["title"] = f"Tree of #{number}"
    return (
        {_TREE: drawing},
        event_card(tree, found, satisfied_text(among, event)),
        part_card(tree, chosen),
        pruning_list(tree, rating, chosen),
        reached_list(found, number, limits.rows),
    )


def _register_choosing(app: Dash, library: Library) -> None:
    """Let text and examples choose the set, and a button the next event of it."""

    @app.callback(
        Output(_at(ids.RUN), "data"),
        Output(_at(ids.SCRIPT), "value"),
        Output(_at(ids.HERE), "data"),
        Output(_at(ids.ENTRY), "data"),
        Output(_at(ids.NODE), "data", allow_duplicate=True),
        Output(_at(ids.NOTIFICATION), "value"),
        Output(_at(ids.PROBLEM), "children"),
        Input(_at(ids.USE_SCRIPT), "n_clicks"),
        Input({"type": "expression-example", "name": ALL}, "n_clicks"),
        State(_at(ids.SCRIPT), "value"),
        prevent_initial_call=True,
    )
    def choose(_use: Any, _examples: Any, text: Any) -> Any:
        if not ctx.triggered or not ctx.triggered[0]["value"]:
            raise PreventUpdate
        by = ctx.triggered_id
        try:
            if by == _at(ids.USE_SCRIPT):
                source, text = library.keep_run(text or ""), no_update
            else:
                source = f"example:{by['name']}"
                text = library.expressions_text(source)
            among = library.expressions(source)
        except SourceError as error:
            return (*[no_update] * 6, str(error))
        return source, text, {"source": source}, 1, None, first_event(among), ""

    @app.callback(
        Output(_at(ids.NOTIFICATION), "value", allow_duplicate=True),
        Input(_at(ids.RANDOM), "n_clicks"),
        State(_at(ids.HERE), "data"),
        State(_at(ids.NOTIFICATION), "value"),
        prevent_initial_call=True,
    )
    def another(clicks: Any, here: Any, shown: Any) -> Any:
        events = [json.dumps(each) for each in library.expressions(here["source"]).events]
        if not clicks or not events:
            raise PreventUpdate
        return events[(events.index(shown) + 1) % len(events) if shown in events else 0]


def _register_curves(app: Dash, library: Library) -> None:
    """Draw the curves of a run of prunings when they are asked for."""

    @app.callback(
        *(Output(_at(ids.data_of(each)), "data") for each in _CURVES),
        Output(_at(ids.GROWTH), "hidden"),
        Output(_at(ids.CURVES_TOLD), "children"),
        Input(_at(ids.CURVES), "value"),
        Input(_at(ids.RATING), "value"),
        Input(_at(ids.HERE), "data"),
    )
    def curves(wanted: Any, rating: Any, here: Any) -> Any:
        if not wanted:
            return (*[no_update] * len(_CURVES), True, "")
        try:
            run = library.prunings(here["source"], rating)
        except SourceError as error:
            return (*[no_update] * len(_CURVES), True, str(error))
        return (*curve_figures(run), False, told_run(run))

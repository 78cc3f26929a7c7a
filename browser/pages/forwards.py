"""Forwards: who is sent what, by every mechanism, and what an operation would send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.exceptions import PreventUpdate

import posetlib as pl
from browser import ids
from browser.elements import all_but, counted
from browser.exports import save_query
from browser.folds import read_folds
from browser.forwards import (
    MECHANISMS,
    PAIRWISE,
    Compared,
    Message,
    chosen_names,
    mechanisms,
    network,
    sets,
    step_messages,
    structure_for,
    what_if,
)
from browser.listing import Cell, code, listing, pick
from browser.pages import parts
from browser.pages.attributes import aria
from browser.pages.stepping import (
    asked_where,
    ratio_of,
    register_graphs,
    register_list,
    register_memory,
    register_steps,
    register_where,
    where_inputs,
)
from browser.picture import frame_drawing
from browser.sources import SourceError, read_line
from browser.state import Library
from browser.story import Story

__all__ = ["layout", "register"]

Component = Any
NAME = "forwards"
_OFFERED = 40


def _at(part: str) -> str:
    return ids.at(NAME, part)


def layout(library: Library, recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it."""
    story = library.story(recipe)
    full_order = structure_for("poset")
    return html.Div(
        [
            parts.head(
                "Forwards",
                "Who must be sent which filter (Tarkoma's thesis, equation 3.1), and what is sent.",
            ),
            html.Div(
                [
                    html.Span("Neighbours", className="label"),
                    *_neighbours(story, view),
                    parts.where_box(NAME, view),
                ],
                className="toolbar",
            ),
            parts.transport(NAME, len(story), parts.chosen_step(view, story)),
            html.Div(
                [
                    html.Div(
                        [
                            parts.graph_panel(
                                ids.panel(NAME, full_order),
                                f"{parts.title(story, full_order)}, with forwards sets",
                            ),
                            parts.graph_panel(
                                ids.panel(NAME, "step"), "What this step sends", fold=False
                            ),
                        ],
                        className="grid",
                    ),
                    parts.inspector(
                        parts.card(
                            "Messages of this step",
                            html.Div(id=_at(ids.STEP_MESSAGES), role="status"),
                        ),
                        _question(story, view),
                    ),
                ],
                className="work tall noted",
            ),
            parts.card(
                "The mechanisms side by side",
                html.P(id=_at(ids.SUMMARY), role="status"),
                parts.long_list(NAME, ids.MECHANISMS, "scroll tall"),
                class_name="card spaced",
            ),
            *parts.stores(NAME, recipe, view),
        ]
    )


def _neighbours(story: Story, view: Mapping[str, str]) -> list[Component]:
    """Return the boxes to tick for neighbours, or of hundreds a field that names them."""
    many = len(story.interfaces) > _OFFERED
    offered = [] if many else story.interfaces
    named = [each for each in view.get(ids.NEIGHBOURS, "").split(",") if each in offered]
    boxes = html.Div(
        dcc.Checklist(id=_at(ids.NEIGHBOURS), options=offered, value=named or offered, inline=True),
        className="choices grow",
        role="group",
        hidden=many,
        **aria(label="Neighbours; other interfaces are local clients"),
    )
    field = html.Label(
        [
            html.Span("Neighbours by name", className="visually-hidden"),
            dcc.Input(
                id=_at(ids.NAMED),
                type="text",
                value=view.get(ids.NAMED, "") if many else "",
                placeholder="all",
                debounce=True,
                maxLength=2_000,
            ),
        ],
        className="grow",
        hidden=not many,
        title="all; I1, I5; I10 .. I90; not I6",
    )
    told = (
        f"Of {len(story.interfaces):,}: all, or names such as I1, I10 .. I90, not I6. The others "
        "are local clients."
        if many
        else "An interface that is not ticked is a local client."
    )
    wrong = html.Span(id=_at(ids.NAMED_TOLD), className="wrong", role="alert")
    return [boxes, field, html.Span(told, className="muted"), wrong]


def _question(story: Story, view: Mapping[str, str]) -> Component:
    first = story.trace[0]
    source = view.get(ids.SOURCE) or str(first.interface)
    text = view.get(ids.FILTER) or ("" if first.item is None else str(first.item))
    mechanism = view.get(ids.MECHANISM, "")
    return parts.card(
        "What would be sent?",
        parts.one_of(
            _at(ids.OPERATION),
            {"remove": "Unsubscribe", "add": "Subscribe"},
            view.get(ids.OPERATION, ""),
            "Operation",
        ),
        html.Div(
            [
                parts.labelled("From", dcc.Input(id=_at(ids.SOURCE), type="text", value=source)),
                parts.labelled(
                    "Mechanism",
                    dcc.Dropdown(
                        list(MECHANISMS),
                        mechanism if mechanism in MECHANISMS else "poset",
                        id=_at(ids.MECHANISM),
                        clearable=False,
                    ),
                ),
            ],
            className="fields",
        ),
        parts.labelled("Filter", dcc.Input(id=_at(ids.FILTER), type="text", value=text)),
        html.Div(
            html.Button("Show", id=_at(ids.SEND), className="primary"), className="row spaced"
        ),
        html.Div(id=_at(ids.MESSAGES), role="status"),
    )


def told(sent: Sequence[Message], number: Mapping[pl.Filter, int]) -> Component:
    """Return messages as a list, with the texts of the filters."""
    if not sent:
        return html.P("Nothing is sent.", className="muted")
    texts = {each: str(item) for item, each in number.items()}

    def line(sign: str, kind: str, each: int) -> Component:
        return html.Li(
            [
                html.Span(f"{sign} #{each}", className=f"chip {kind}"),
                " ",
                html.Span(texts[each], className="filter"),
            ]
        )

    return html.Div(
        [
            html.Div(
                [
                    html.H3(f"To {message.to}"),
                    html.Ul(
                        [
                            *(line("− unsubscribe", "removed", n) for n in message.unsubscribe),
                            *(line("+ subscribe", "added", n) for n in message.subscribe),
                        ],
                        className="plain",
                    ),
                ]
            )
            for message in sent
        ]
    )


def summary(found: Compared) -> str:
    """Return in a sentence whether the mechanisms agree."""
    if not found.total:
        return "No filter is sent to any neighbour."
    left_out = [each for each in MECHANISMS if each not in found.mechanisms]
    what = "These mechanisms" if left_out else "All mechanisms"
    said = f"{what} agree on {counted(found.total, 'filter')}."
    if found.differing:
        said = (
            f"{found.differing:,} of {found.total:,} filters differ: the approximate mechanism "
            "sends more."
        )
    if left_out:
        said += (
            f" Of more than {PAIRWISE:,} filters not every two are compared: "
            f"{' and '.join(left_out)} are left out."
        )
    return said


def comparison(story: Story, found: Compared, near: Sequence[str] = ()) -> dict[str, Any]:
    """Return the sets of all mechanisms as a list; rows that differ say so, and come first."""
    cells: list[list[Cell]] = [
        [
            pick(NAME, row.number),
            code(str(story.filters[row.number])),
            all_but(row.interfaces, near),
            *(all_but(row.sets[name], near) or "∅" for name in found.mechanisms),
            "≠ differs" if row.differs else "",
        ]
        for row in found.rows
    ]
    count = len(found.rows)
    return listing(
        ["No.", "Filter", "From", *found.mechanisms, ""],
        cells,
        classes=["differs" if row.differs else "" for row in found.rows],
        note=f"The first {count:,} of {found.total:,}." if found.total > count else "",
    )


def _notes(story: Story, found: Mapping[Any, Any], near: Sequence[str]) -> dict[int, str]:
    """Return where each filter is sent to; in a large table, how many neighbours."""
    short = len(found) * len(near) <= _NAMED_PAIRS
    return {
        story.number[item]: "→ "
        + (all_but([n for n in near if n in each], near) if short else f"{len(each):,} neighbours")
        for item, each in found.items()
    }


#: Filters times neighbours up to which the neighbours of each filter are named in the graph.
_NAMED_PAIRS = 2_000_000


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    limits = library.config.limits
    register_steps(app, library, NAME)
    register_graphs(app, NAME)
    register_list(app, NAME, ids.MECHANISMS)
    asked = (ids.OPERATION, ids.SOURCE, ids.FILTER, ids.MECHANISM)
    register_where(app, library, NAME)
    kept = (ids.STEP, ids.NEIGHBOURS, ids.NAMED, ids.WHERE, ids.WHERE_MODE, *asked)
    register_memory(app, NAME, *((each, "value") for each in kept))

    @app.callback(
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.STEP_MESSAGES), "children"),
        Output(_at(ids.SUMMARY), "children"),
        Output(_at(ids.data_of(ids.MECHANISMS)), "data"),
        Output(_at(ids.NAMED_TOLD), "children"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.NEIGHBOURS), "value"),
        Input(_at(ids.NAMED), "value"),
        Input(_at(ids.FOLDS), "data"),
        Input(_at(ids.ROOM), "data"),
        *where_inputs(NAME),
    )
    def show(
        recipe: Any, step: Any, neighbours: Any, named: Any, folds: Any, room: Any, *expression: Any
    ) -> Any:
        story = library.story(recipe)
        step = step or 0
        try:
            near = _ordered(story, neighbours, named)
        except SourceError as error:
            return (*[no_update] * 4, f"Not applied: {error}")
        full_order = structure_for("poset")
        frame = story.frame(full_order, step)
        found = sets(story, step, near, "poset")
        sent = step_messages(story, step, near)
        operation = story.trace[step - 1] if step else None
        drawings = {
            ids.panel(NAME, full_order): {
                **frame_drawing(
                    story,
                    frame,
                    limits,
                    folds=read_folds(folds),
                    notes=_notes(story, found, near),
                    ratio=ratio_of(room),
                    where=asked_where(story, *expression),
                ),
                "step": step,
                "save": save_query(recipe, full_order, step),
            },
            ids.panel(NAME, "step"): {
                **network(operation, sent, near, story.number),
                "step": step,
            },
        }
        # As many rows as can be named in a moment.
        rows = max(limits.rows, min(limits.listed, _NAMED_PAIRS // max(1, len(near))))
        by_all = mechanisms(story, step, near, rows)
        table = comparison(story, by_all, near)
        return drawings, told(sent, story.number), summary(by_all), table, ""

    @app.callback(
        Output(_at(ids.MESSAGES), "children"),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        Input(_at(ids.SEND), "n_clicks"),
        State(_at(ids.HERE), "data"),
        State(_at(ids.STEP), "value"),
        State(_at(ids.NEIGHBOURS), "value"),
        State(_at(ids.NAMED), "value"),
        *(State(_at(each), "value") for each in asked),
        prevent_initial_call=True,
    )
    def ask(
        clicks: Any, recipe: Any, step: Any, neighbours: Any, named: Any, *question: Any
    ) -> Any:
        if not clicks:
            raise PreventUpdate
        name, source, text, mechanism = question
        story = library.story(recipe)
        try:
            source = (source or "").strip()
            if not source or ":" in source or any(each.isspace() for each in source):
                raise SourceError("the source is an interface, a name without spaces and colons")
            operation = read_line(f"{source}: {text or ''}", limits, types=story.source.types)
            operation = operation._replace(name=name)
            near = _ordered(story, neighbours, named)
            sent, number = what_if(story, step or 0, operation, near, mechanism)
        except SourceError as error:
            return no_update, str(error)
        return told(sent, number), ""


def _ordered(story: Story, ticked: Any, named: Any) -> list[str]:
    """Return the neighbours in their order: those that are ticked, of many those that are named."""
    if len(story.interfaces) > _OFFERED:
        return chosen_names(named or "", story.interfaces)
    return [each for each in story.interfaces if each in (ticked or [])]

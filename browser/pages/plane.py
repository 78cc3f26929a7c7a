"""Plane: filters as rectangles over two attributes, beside their graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Dash, Input, Output, dcc, html

from browser import ids
from browser.exports import save_query
from browser.folds import read_folds
from browser.matching import read_notification
from browser.pages import parts
from browser.pages.attributes import aria, clientside
from browser.pages.stepping import (
    asked_where,
    ratio_of,
    register_graphs,
    register_memory,
    register_search,
    register_steps,
    register_where,
    where_inputs,
)
from browser.picture import frame_drawing
from browser.plane import attributes_of, plane, point_of
from browser.sources import SourceError
from browser.state import Library
from browser.story import Story

__all__ = ["layout", "register"]

Component = Any
NAME = "plane"
PANEL = "graph"
CHART = "chart"


def _at(part: str) -> str:
    return ids.at(NAME, part)


def layout(library: Library, recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it."""
    story = library.story(recipe)
    names = attributes_of(story)
    x, y = axes_of(names, view)
    structures = {each: each.upper() if each != "file" else "The file" for each in story.structures}
    return html.Div(
        [
            parts.head(
                "Plane",
                "What each filter allows of two attributes. A rectangle inside another is covered, "
                "as far as these two go. Drag to mark filters in the graph.",
            ),
            html.Div(
                [
                    parts.one_of(
                        _at(ids.STRUCTURE),
                        structures,
                        view.get(_at(ids.STRUCTURE), story.first_shown[0]),
                        "Structure",
                    ),
                    *(
                        parts.labelled(
                            title,
                            dcc.Dropdown(names, value, id=_at(part), clearable=False),
                            "choose",
                        )
                        for title, part, value in (
                            ("Across", ids.AXIS_X, x),
                            ("Up", ids.AXIS_Y, y),
                        )
                    ),
                    html.Div(
                        dcc.Checklist(
                            id=_at(ids.MERGERS),
                            options=[{"label": "Mergers of roots", "value": "yes"}],
                            value=["yes"] if view.get(_at(ids.MERGERS)) else [],
                        ),
                        className="choice",
                    ),
                    parts.labelled(
                        "Notification (JSON)",
                        dcc.Input(
                            id=_at(ids.NOTIFICATION),
                            type="text",
                            value=view.get(_at(ids.NOTIFICATION), ""),
                            placeholder='{"x": 3, "y": 4}',
                            debounce=True,
                        ),
                        "grow code",
                    ),
                    parts.search_box(NAME, view.get(_at(ids.SEARCH), "")),
                    parts.where_box(NAME, view),
                ],
                className="toolbar end",
            ),
            parts.transport(NAME, len(story), parts.chosen_step(view, story)),
            html.Div(
                [
                    parts.graph_panel(ids.panel(NAME, PANEL), "Graph"),
                    html.Section(
                        [
                            html.Header(
                                [
                                    html.H2("Plane"),
                                    parts.save_menu(
                                        ids.panel(NAME, CHART), "Plane", "Save it as a picture"
                                    ),
                                ]
                            ),
                            html.Div(id=_at(ids.PLANE_NOTE), className="note", role="status"),
                            html.Div(id=_at(ids.PLANE), className="plane"),
                        ],
                        className="panel plane-panel",
                        **aria(label="Plane"),
                    ),
                ],
                className="sides work-sides",
            ),
            dcc.Store(id=_at(ids.data_of(ids.PLANE))),
            *parts.stores(NAME, recipe, view),
        ]
    )


def axes_of(names: list[str], view: Mapping[str, str]) -> tuple[str, str]:
    """Return the two attributes that a view names, or the two most common."""
    usual = (names + names[:1] + ["", ""])[:2] if names else ["", ""]
    named = (view.get(_at(ids.AXIS_X), ""), view.get(_at(ids.AXIS_Y), ""))
    x, y = (given if given in names else other for given, other in zip(named, usual, strict=True))
    return x, y


def shown(
    story: Story, structure: str, step: int, axes: tuple[str, str], *, merged: bool, text: str
) -> dict[str, Any]:
    """Return the plane as data, with the neighbours of each filter, and the notification."""
    frame = story.frame(structure, step)
    made = plane(story, frame, *axes, with_mergers=merged)
    graph = frame.graph
    made["near"] = {
        str(number): [*graph.parents[number], *graph.children[number]] for number in graph.nodes
    }
    if text.strip():
        try:
            made["point"] = point_of(read_notification(text), *axes)
            if made["point"] is None:
                made["note"] += f" The notification has no number in {axes[0]} or {axes[1]}."
        except SourceError as error:
            made["note"] += f" {error}."
    return made


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    limits = library.config.limits
    register_steps(app, library, NAME)
    register_search(app, NAME)
    register_graphs(app, NAME)
    register_where(app, library, NAME)
    register_memory(app, NAME, *((each, "value") for each in (ids.STEP, ids.WHERE, ids.WHERE_MODE)))
    own = (ids.STRUCTURE, ids.AXIS_X, ids.AXIS_Y, ids.MERGERS, ids.NOTIFICATION, ids.SEARCH)
    register_memory(app, NAME, *((each, "value") for each in own), apart=True)
    clientside(
        app,
        "plane",
        Output(ids.SINK, "data", allow_duplicate=True),
        Input(_at(ids.data_of(ids.PLANE)), "data"),
        Input(_at(ids.NODE), "data"),
        initial="initial_duplicate",
    )

    @app.callback(
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.data_of(ids.PLANE)), "data"),
        Output(_at(ids.PLANE_NOTE), "children"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.STRUCTURE), "value"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.AXIS_X), "value"),
        Input(_at(ids.AXIS_Y), "value"),
        Input(_at(ids.MERGERS), "value"),
        Input(_at(ids.NOTIFICATION), "value"),
        Input(_at(ids.FOLDS), "data"),
        Input(_at(ids.ROOM), "data"),
        *where_inputs(NAME),
    )
    def draw(
        recipe: Any,
        structure: Any,
        step: Any,
        x: Any,
        y: Any,
        merged: Any,
        text: Any,
        folds: Any,
        room: Any,
        *expression: Any,
    ) -> Any:
        story = library.story(recipe)
        frame = story.frame(structure, step or 0)
        drawing = frame_drawing(
            story,
            frame,
            limits,
            folds=read_folds(folds),
            ratio=ratio_of(room),
            where=asked_where(story, *expression),
        )
        drawing["step"] = step or 0
        drawing["save"] = save_query(recipe, structure, frame.step)
        if not x or not y:
            told = "No filter asks for a number, so there is no plane."
            return {ids.panel(NAME, PANEL): drawing}, None, told
        made = shown(story, structure, step or 0, (x, y), merged=bool(merged), text=text or "")
        return {ids.panel(NAME, PANEL): drawing}, made, made["note"].strip()

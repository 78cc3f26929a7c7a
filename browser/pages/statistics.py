"""Statistics: every structure in numbers, along the steps and at one of them."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, html
from dash.exceptions import PreventUpdate

from browser import ids
from browser.pages import parts, plots
from browser.pages.attributes import clientside
from browser.pages.plots import Figure
from browser.pages.stepping import register_memory, register_steps
from browser.state import Library
from browser.statistics import MEASURES, Growth, Series, growth, histograms
from browser.story import COUNTED, Story

__all__ = ["figures_of", "layout", "register"]

Component = Any
NAME = "statistics"
_HISTOGRAMS = {
    "depth": "Filters by depth (0: roots)",
    "fan-out": "Filters by the number of their children",
    "interface": "Filters that each interface holds",
}
_GROWTH = {"tests": "Covering tests per add, without an index", "edges": "Edges"}


def _at(part: str) -> str:
    return ids.at(NAME, part)


def _plot(part: str, title: str) -> Component:
    return plots.plot(NAME, part, title)


def layout(library: Library, recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it."""
    story = library.story(recipe)
    structures = {each: each.upper() if each != "file" else "The file" for each in story.structures}
    tests = "counted without an index" if len(story) <= COUNTED else "beside an index"
    return html.Div(
        [
            parts.head(
                "Statistics",
                f"All structures on the same operations; covering tests are {tests}. "
                "A click on a curve goes to its step.",
            ),
            parts.transport(NAME, len(story), parts.chosen_step(view, story)),
            html.Div([_plot(each, title) for each, title in MEASURES.items()], className="charts"),
            html.Div(
                [
                    html.Span("At this step", className="label"),
                    parts.one_of(
                        _at(ids.STRUCTURE),
                        structures,
                        view.get(_at(ids.STRUCTURE), story.first_shown[0]),
                        "Structure",
                    ),
                ],
                className="toolbar",
            ),
            html.Div(
                [_plot(each, title) for each, title in _HISTOGRAMS.items()], className="charts"
            ),
            html.Div(
                [
                    html.Button("Growth against n", id=_at(ids.GROW), className="primary"),
                    html.Span(
                        "adds the filters of this source one by one, and counts.", className="muted"
                    ),
                ],
                className="toolbar",
            ),
            html.Div(
                [_plot(f"growth_{each}", title) for each, title in _GROWTH.items()],
                id=_at(ids.GROWTH),
                className="charts",
                hidden=True,
            ),
            *parts.stores(NAME, recipe, view),
        ]
    )


def figures_of(measured: list[Series], step: int) -> list[Figure]:
    """Return a figure for each measure, with a curve for each structure, in the order of both."""
    return [
        plots.figure(
            title,
            "Operations",
            [
                {
                    "type": "scatter",
                    "mode": "lines+markers" if len(each.steps) <= 60 else "lines",
                    "name": each.structure.upper(),
                    "x": list(each.steps),
                    "y": list(each.values[name]),
                }
                for each in measured
            ],
            step=step,
        )
        for name, title in MEASURES.items()
    ]


def histogram_figures(story: Story, structure: str, step: int) -> list[Figure]:
    """Return how the table of a step is made up, as bars."""
    found = histograms(story.frame(structure, step))
    figures = []
    for name, title in _HISTOGRAMS.items():
        bars = {"type": "bar", "x": list(found[name]), "y": list(found[name].values())}
        made = plots.figure(f"{title}, {structure.upper()}", "", [bars])
        made["layout"]["xaxis"]["type"] = "category"
        figures.append(made)
    return figures


def growth_figures(found: list[Growth]) -> list[Figure]:
    """Return what adds cost and make against how many there are."""
    return [
        plots.figure(
            title,
            "Filters added",
            [
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": each.structure.upper(),
                    "x": list(each.sizes),
                    "y": list(getattr(each, name)),
                }
                for each in found
            ],
        )
        for name, title in _GROWTH.items()
    ]


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    register_steps(app, library, NAME)
    register_memory(app, NAME, (ids.STEP, "value"))
    register_memory(app, NAME, (ids.STRUCTURE, "value"), apart=True)
    grown = [f"growth_{each}" for each in _GROWTH]
    for part in (*MEASURES, *_HISTOGRAMS, *grown):
        plots.register_plot(app, NAME, part)
    for part in MEASURES:
        clientside(
            app,
            "to_step",
            Output(_at(ids.STEP), "value", allow_duplicate=True),
            Input(_at(part), "clickData"),
        )

    @app.callback(
        *(Output(_at(ids.data_of(part)), "data") for part in MEASURES),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.STEP), "value"),
    )
    def along(recipe: Any, step: Any) -> Any:
        return figures_of(library.series(recipe), step or 0)

    @app.callback(
        *(Output(_at(ids.data_of(part)), "data") for part in _HISTOGRAMS),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.STRUCTURE), "value"),
    )
    def made_up(recipe: Any, step: Any, structure: Any) -> Any:
        return histogram_figures(library.story(recipe), structure, step or 0)

    @app.callback(
        *(Output(_at(ids.data_of(part)), "data") for part in grown),
        Output(_at(ids.GROWTH), "hidden"),
        Input(_at(ids.GROW), "n_clicks"),
        State(_at(ids.HERE), "data"),
        prevent_initial_call=True,
    )
    def grow(clicks: Any, recipe: Any) -> Any:
        if not clicks:
            raise PreventUpdate
        return (*growth_figures(growth(library.story(recipe))), False)

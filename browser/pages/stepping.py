"""The controls that several pages share: the slider over the steps, the search, the choosing."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State
from dash.exceptions import PreventUpdate

from browser import ids
from browser.elements import short
from browser.pages.attributes import clientside
from browser.state import Library
from browser.story import Story

__all__ = [
    "register_graphs",
    "register_list",
    "register_memory",
    "register_search",
    "register_steps",
    "step_text",
]


def step_text(story: Story, step: int) -> str:
    """Return what the last step did, in one line."""
    if not step:
        return f"Step 0 of {len(story):,}: the table is empty"
    operation = story.trace[step - 1]
    text = {
        "add": f"{operation.interface} adds",
        "remove": f"{operation.interface} removes",
        "discard": f"{operation.interface} removes",
        "remove_covered": f"{operation.interface} removes all that is covered by",
        "drop_interface": f"{operation.interface} is dropped",
    }[operation.name]
    if operation.item is not None:
        text += f" #{story.number[operation.item]}: {short(str(operation.item), 160)}"
    return f"Step {step:,} of {len(story):,}: {text}"


def register_steps(app: Dash, library: Library, page: str) -> None:
    """Let buttons and the clock move the slider, and tell what the step did."""

    def at(part: str) -> str:
        return ids.at(page, part)

    clientside(
        app,
        "transport",
        Output(at(ids.STEP), "value"),
        Output(at(ids.TICK), "disabled"),
        Output(at(ids.PLAY), "children"),
        Input(at(ids.FIRST), "n_clicks"),
        Input(at(ids.BACK), "n_clicks"),
        Input(at(ids.PLAY), "n_clicks"),
        Input(at(ids.FORWARD), "n_clicks"),
        Input(at(ids.LAST), "n_clicks"),
        Input(at(ids.TICK), "n_intervals"),
        State(at(ids.STEP), "value"),
        State(at(ids.STEP), "max"),
        State(at(ids.TICK), "disabled"),
    )

    @app.callback(
        Output(at(ids.STEP_TEXT), "children"),
        Input(at(ids.STEP), "value"),
        Input(at(ids.HERE), "data"),
    )
    def tell_step(step: Any, recipe: Any) -> Any:
        story = library.story(recipe)
        return step_text(story, min(step or 0, len(story)))


def register_search(app: Dash, page: str) -> None:
    """Let the search box mark what it finds, in every graph of the page."""
    clientside(
        app,
        "search",
        Output(ids.at(page, ids.FOUND), "children"),
        Input(ids.at(page, ids.SEARCH), "value"),
        Input(ids.at(page, ids.DRAWINGS), "data"),
    )


def register_graphs(app: Dash, page: str) -> None:
    """Let the script draw, and mark the chosen filter."""
    clientside(
        app,
        "draw",
        Output(ids.SINK, "data", allow_duplicate=True),
        Input(ids.at(page, ids.DRAWINGS), "data"),
        State(ids.at(page, ids.NODE), "data"),
        initial="initial_duplicate",
    )
    clientside(
        app,
        "pick",
        Output(ids.SINK, "data", allow_duplicate=True),
        Input(ids.at(page, ids.NODE), "data"),
        initial="initial_duplicate",
    )

    @app.callback(
        Output(ids.at(page, ids.FOLDS), "data"),
        Input(ids.at(page, ids.FOLD_REQUEST), "data"),
        State(ids.at(page, ids.FOLDS), "data"),
        prevent_initial_call=True,
    )
    def toggle_fold(request: Any, folds: Any) -> Any:
        if not request:
            raise PreventUpdate
        return folded(folds or {}, request)


def folded(folds: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Return what is folded and unfolded by hand, by graph, after one more request.

    >>> folded({}, {"name": "fp", "number": 3, "open": False})
    {'fp': [[3], []]}
    """
    closed, opened = (set(each) for each in folds.get(request["name"], ([], [])))
    number = request["number"]
    if request["open"]:
        opened.add(number)
        closed.discard(number)
    else:
        closed.add(number)
        opened.discard(number)
    return {**folds, request["name"]: [sorted(closed), sorted(opened)]}


def register_list(app: Dash, page: str, part: str) -> None:
    """Let the script make a list of the data in the store beside it."""
    clientside(
        app,
        "list",
        Output(ids.SINK, "data", allow_duplicate=True),
        Input(ids.at(page, ids.data_of(part)), "data"),
        initial="initial_duplicate",
    )


def register_memory(app: Dash, page: str, *parts: tuple[str, str]) -> None:
    """Keep the values of components, given as (part, property), in the view and the address."""
    clientside(
        app,
        "remember",
        Output(ids.VIEW, "data", allow_duplicate=True),
        *(Input(ids.at(page, part), prop) for part, prop in parts),
        Input(ids.at(page, ids.NODE), "data"),
        State(ids.VIEW, "data"),
        initial="initial_duplicate",
    )

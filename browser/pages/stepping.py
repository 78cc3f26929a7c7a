"""The controls that several pages share: the slider over the steps, the search, the choosing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Dash, Input, Output, State, no_update
from dash.exceptions import PreventUpdate

from browser import ids, layout
from browser.finding import FindError, Where, read, where_of
from browser.folds import folded
from browser.pages import parts
from browser.pages.attributes import clientside
from browser.shortening import short
from browser.state import Library
from browser.story import Frame, Story

__all__ = [
    "asked_where",
    "frames_of",
    "grid_outputs",
    "ratio_of",
    "register_graphs",
    "register_list",
    "register_memory",
    "register_search",
    "register_steps",
    "register_structures",
    "register_transport",
    "register_where",
    "renewed_grid",
    "room_of",
    "step_text",
    "where_inputs",
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


def register_transport(app: Dash, page: str) -> None:
    """Let buttons and the clock move the slider."""

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


def register_steps(app: Dash, library: Library, page: str) -> None:
    """Let buttons and the clock move the slider, and tell what the step did."""
    register_transport(app, page)

    @app.callback(
        Output(ids.at(page, ids.STEP_TEXT), "children"),
        Output(ids.at(page, ids.CAPTION), "children"),
        Input(ids.at(page, ids.STEP), "value"),
        Input(ids.at(page, ids.HERE), "data"),
    )
    def tell_step(step: Any, recipe: Any) -> Any:
        story = library.story(recipe)
        at = min(step or 0, len(story))
        return step_text(story, at), story.captions[at] if at < len(story.captions) else ""


def frames_of(story: Story, chosen: Sequence[str] | None, step: int | None) -> dict[str, Frame]:
    """Return the structures that are ticked, in the order of the story, after a step."""
    return {
        each: story.frame(each, step or 0) for each in story.structures if each in (chosen or ())
    }


def room_of(room: Any) -> tuple[float, float]:
    """Return the width and height of the room for a graph, as measured; else the usual.

    >>> room_of([700, 350]), room_of(None), room_of([1, "x"])
    ((700.0, 350.0), (520.0, 420.0), (520.0, 420.0))
    """
    if isinstance(room, list) and len(room) == len(_ROOM):
        sizes = [each for each in room if isinstance(each, int | float) and 50 <= each <= 20_000]
        if len(sizes) == len(_ROOM):
            return float(sizes[0]), float(sizes[1])
    return _ROOM


_ROOM = (520.0, 420.0)


def ratio_of(room: Any) -> float:
    """Return how much wider than high graphs are.

    >>> ratio_of([700, 500]), ratio_of(None)
    (1.4, 1.2)
    """
    return layout.ratio_of(*room_of(room))


def grid_outputs(page: str) -> list[Output]:
    """Return where the frames of the graphs go, with their class, and which they are."""
    return [
        Output(ids.at(page, ids.GRID), "children"),
        Output(ids.at(page, ids.GRID), "className"),
        Output(ids.at(page, ids.MOUNTED), "data"),
    ]


def renewed_grid(page: str, story: Story, shown: Sequence[str], mounted: Any) -> tuple[Any, ...]:
    """Return what goes to ``grid_outputs``: nothing, if these graphs are there already."""
    shown = list(shown)
    if shown == mounted:
        return (no_update, no_update, no_update)
    titles = {each: parts.title(story, each) for each in shown}
    return (parts.grid(page, titles), parts.grid_class(len(shown)), shown)


def register_structures(
    app: Dash, library: Library, page: str, *remembered: tuple[str, str]
) -> None:
    """Add what a page has that shows structures at a step, and searches them."""
    register_steps(app, library, page)
    register_search(app, page)
    register_where(app, library, page)
    register_graphs(app, page)
    register_memory(
        app,
        page,
        (ids.SHOW, "value"),
        (ids.STEP, "value"),
        (ids.SEARCH, "value"),
        (ids.WHERE, "value"),
        (ids.WHERE_MODE, "value"),
        *remembered,
    )


def register_where(app: Dash, library: Library, page: str) -> None:
    """Tell beside the box of an expression what is wrong with it."""

    @app.callback(
        Output(ids.at(page, ids.WHERE_TOLD), "children"),
        Input(ids.at(page, ids.WHERE), "value"),
        Input(ids.at(page, ids.HERE), "data"),
    )
    def tell_where(text: Any, recipe: Any) -> Any:
        if not (text or "").strip():
            return ""
        try:
            read(text, types=library.story(recipe).source.types)
        except FindError as error:
            return f"Not applied: {error}"
        return ""


def where_inputs(page: str) -> list[Input]:
    """Return the box of an expression and what is done with it, for a callback that draws."""
    return [Input(ids.at(page, each), "value") for each in (ids.WHERE, ids.WHERE_MODE)]


def asked_where(story: Story, text: Any, mode: Any) -> Where | None:
    """Return what the two inputs ask for."""
    return where_of(text, mode, story.filters, story.source.types)


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
    """Let the script draw, mark the chosen filter, and measure the room that there is."""
    clientside(
        app,
        "room",
        Output(ids.at(page, ids.ROOM), "data"),
        Input(ids.at(page, ids.HERE), "data"),
        initial=False,
    )
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
        return folded(folds, request)


def register_list(app: Dash, page: str, part: str) -> None:
    """Let the script make a list of the data in the store beside it."""
    clientside(
        app,
        "list",
        Output(ids.SINK, "data", allow_duplicate=True),
        Input(ids.at(page, ids.data_of(part)), "data"),
        initial="initial_duplicate",
    )


def register_memory(app: Dash, page: str, *parts: tuple[str, str], apart: bool = False) -> None:
    """Keep the values of components, given as (part, property), in the view and the address.

    By the names of the parts, which other pages have too; ``apart`` by their ids, for this page
    alone.
    """
    clientside(
        app,
        "remember_apart" if apart else "remember",
        Output(ids.VIEW, "data", allow_duplicate=True),
        *(Input(ids.at(page, part), prop) for part, prop in parts),
        Input(ids.at(page, ids.NODE), "data"),
        Input(ids.at(page, ids.FOLDS), "data"),
        State(ids.VIEW, "data"),
        initial="initial_duplicate",
    )

"""Tables: structures side by side on the same operations, step by step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dash import Dash, Input, Output, Patch, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

import posetlib as pl
from browser import ids
from browser.cache import Cache
from browser.checking import check_file
from browser.config import Limits
from browser.detail import Detail, detail
from browser.elements import all_but
from browser.exports import save_query
from browser.filter_list import Listed, narrowed, numbers_listed, rows_of
from browser.folds import read_folds
from browser.nearby import Around
from browser.pages import parts
from browser.pages.attributes import clientside
from browser.pages.stepping import (
    asked_where,
    frames_of,
    grid_outputs,
    ratio_of,
    register_list,
    register_structures,
    renewed_grid,
    room_of,
    where_inputs,
)
from browser.picture import file_drawing, frame_drawing, index_notes
from browser.sources import SourceError, read_line
from browser.state import Library, to_query
from browser.story import FILE, Frame, Story, first_structure

__all__ = ["layout", "register"]

Component = Any
NAME = "tables"
#: Lists of filters that are kept, so that windows of them are quick.
_LISTS = 8


def _at(part: str) -> str:
    return ids.at(NAME, part)


def layout(library: Library, recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it."""
    story = library.story(recipe)
    sideways = html.Div(
        dcc.Checklist(
            id=_at(ids.SIDEWAYS),
            options=[{"label": "Left to right", "value": "yes"}],
            value=["yes"] if view.get(ids.SIDEWAYS) else [],
        ),
        className="choice",
    )
    index = html.Div(
        dcc.Checklist(
            id=_at(ids.INDEX),
            options=[
                {
                    "label": "Interface index",
                    "value": "yes",
                    "title": "BF and NRF: the interfaces that hold something below each filter",
                }
            ],
            value=["yes"] if view.get(ids.INDEX) else [],
        ),
        className="choice",
    )
    return html.Div(
        [
            parts.head(
                "Tables",
                "The general above the special: an edge leads from a filter to what it covers.",
            ),
            *parts.structures_at_a_step(
                NAME,
                story,
                recipe,
                view,
                _checked(story),
                parts.card("Chosen filter", html.Div(id=_at(ids.DETAIL))),
                _all_filters(),
                _by_hand(story, recipe),
                parts.signs(("added", "removed", "moved", "relinked", "changed")),
                controls=[_look(view), sideways, index],
            ),
            dcc.Store(id=_at(ids.CENTRE)),
        ]
    )


def _look(view: Mapping[str, str]) -> Component:
    """Return the choice between the whole graph and what is near the chosen filter."""
    looks = {
        "": "View by size",
        "whole": "Whole graph",
        "near": "Neighbourhood",
    }
    look = view.get(ids.LOOK, "")
    return html.Div(
        [
            html.Div(
                dcc.Dropdown(
                    id=_at(ids.LOOK),
                    options=[{"label": word, "value": each} for each, word in looks.items()],
                    value=look if look in looks else "",
                    clearable=False,
                    searchable=False,
                ),
                className="look",
                title="All of a table, or some levels above and below the chosen filter, with "
                "text; by size: the neighbourhood of tables with more than 80 filters",
            ),
            parts.labelled(
                "Levels",
                dcc.Input(
                    id=_at(ids.REACH), type="number", min=1, max=9, step=1, value=reach_of(view)
                ),
                "beside",
            ),
        ],
        className="row",
    )


def reach_of(view: Mapping[str, Any]) -> int:
    """Return how many levels above and below the chosen filter are asked for.

    >>> reach_of({"reach": "3"}), reach_of({"reach": "many"}), reach_of({})
    (3, 2, 2)
    """
    text = str(view.get(ids.REACH, ""))
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text[:9]) < 10 else 2


def _checked(story: Story) -> Component:
    verdict = check_file(story)
    shown = [] if verdict is None else [parts.verdict_card(NAME, story, verdict)]
    return html.Div(shown, id=_at(ids.VERDICT), role="status")


def _all_filters() -> Component:
    return parts.card(
        "All filters",
        parts.long_list(NAME, ids.ROWS),
        dcc.Store(id=_at(ids.ROWS_FIRST), data=0),
        class_name="card list",
    )


def _by_hand(story: Story, recipe: Mapping[str, str]) -> Component:
    first = story.interfaces[0] if story.interfaces else "I1"
    return parts.card(
        "Add or remove by hand",
        html.Div(
            [
                parts.labelled(
                    "Interface", dcc.Input(id=_at(ids.HAND_INTERFACE), type="text", value=first)
                ),
                parts.labelled(
                    "Filter",
                    dcc.Input(id=_at(ids.HAND_FILTER), type="text", placeholder="x in [10, 20]"),
                ),
            ],
            className="fields",
        ),
        html.Div(
            [
                html.Button("Add", id=_at(ids.HAND_ADD), className="primary"),
                html.Button("Remove", id=_at(ids.HAND_REMOVE)),
                html.Button(
                    "↶ Undo",
                    id=_at(ids.HAND_UNDO),
                    title="Take back the last edit by hand",
                    disabled=not recipe.get("edits"),
                ),
            ],
            className="row",
        ),
        html.P(
            "Goes in after the current step, as a step of its own. A filter that is chosen is "
            "filled in here.",
            className="muted",
        ),
    )


def detail_card(story: Story, found: Mapping[str, Detail], number: int | None) -> list[Component]:
    """Return what there is to say about the chosen filter in each structure shown."""
    item = story.filters.get(number) if number is not None else None
    if number is None or item is None:
        return [
            html.P(
                "Click a filter in a graph or in the list. Double-click folds or unfolds what is "
                "below it.",
                className="muted",
            )
        ]
    made: list[Component] = [parts.told_filter(number, str(item))]
    for structure, each in found.items():
        made.append(html.H3(parts.title(story, structure)))
        if each.present:
            made.append(
                html.Dl(
                    [
                        html.Dt("Interfaces"),
                        html.Dd(all_but(each.interfaces, story.interfaces)),
                        html.Dt("Parents"),
                        html.Dd(parts.picks(NAME, each.parents)),
                        html.Dt("Children"),
                        html.Dd(parts.picks(NAME, each.children)),
                        html.Dt("Forwards to"),
                        html.Dd(all_but(each.forwards, story.interfaces) or "nobody"),
                    ]
                )
            )
        made.append(html.Ul([html.Li(sentence) for sentence in each.why]))
    return made


def _around(story: Story, recipe: Mapping[str, str], number: int, show: Any) -> list[Component]:
    """Return a link that opens a large table on disk around another of its filters."""
    snapshot = story.source.snapshot
    if not story.source.part or snapshot is None:
        return []
    item = story.filters[number]
    places = [node.id for node in snapshot.nodes if node.item == item]
    if not places:
        return []
    asked = {**recipe, "around": str(places[0]), ids.SHOW: ",".join(show or ())}
    told = f"Open the table around this filter (id {places[0]})"
    return [html.P(html.A(told, href=to_query(asked), id=_at(ids.RECENTRE)))]


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page, and those of the controls that other pages share."""
    _register_drawings(app, library)
    register_list(app, NAME, ids.ROWS)
    _register_undo(app, library)
    _register_list(app, library)
    _register_hit(app, library)

    @app.callback(
        Output(_at(ids.VERDICT), "children"),
        Input(_at(ids.CHECK), "n_clicks"),
        State(_at(ids.HERE), "data"),
        prevent_initial_call=True,
    )
    def check_now(clicks: Any, recipe: Any) -> Any:
        if not clicks:
            raise PreventUpdate
        story = library.story(recipe)
        verdict = check_file(story, asked=True)
        assert verdict is not None  # there is a button only where there is a file
        return parts.verdict_card(NAME, story, verdict)

    @app.callback(
        Output(_at(ids.DETAIL), "children"),
        Input(_at(ids.NODE), "data"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.SHOW), "value"),
        Input(_at(ids.STEP), "value"),
    )
    def tell(number: Any, recipe: Any, show: Any, step: Any) -> Any:
        story = library.story(recipe)
        if number not in story.filters:
            return detail_card(story, {}, None)
        found = {
            each: detail(story, frame, number, story.interfaces)
            for each, frame in frames_of(story, show, step).items()
        }
        return [*detail_card(story, found, number), *_around(story, recipe, number, show)]

    @app.callback(
        Output(_at(ids.HAND_INTERFACE), "value"),
        Output(_at(ids.HAND_FILTER), "value"),
        Input(_at(ids.NODE), "data"),
        State(_at(ids.HERE), "data"),
        State(_at(ids.SHOW), "value"),
        State(_at(ids.STEP), "value"),
        prevent_initial_call=True,
    )
    def fill_in(number: Any, recipe: Any, show: Any, step: Any) -> Any:
        story = library.story(recipe)
        if number not in story.filters:
            raise PreventUpdate
        graphs = [frame.graph for frame in frames_of(story, show, step).values()]
        holders = (each.nodes[number].interfaces[0] for each in graphs if number in each.nodes)
        return next(holders, no_update), str(story.filters[number])

    @app.callback(
        Output(ids.RECIPE, "data", allow_duplicate=True),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        Output(ids.VIEW, "data", allow_duplicate=True),
        Input(_at(ids.HAND_ADD), "n_clicks"),
        Input(_at(ids.HAND_REMOVE), "n_clicks"),
        State(_at(ids.HAND_INTERFACE), "value"),
        State(_at(ids.HAND_FILTER), "value"),
        State(_at(ids.HERE), "data"),
        State(_at(ids.STEP), "value"),
        prevent_initial_call=True,
    )
    def edit(_add: Any, _remove: Any, interface: Any, text: Any, recipe: Any, step: Any) -> Any:
        if not ctx.triggered or not ctx.triggered[0]["value"]:
            raise PreventUpdate
        removing = ctx.triggered_id == _at(ids.HAND_REMOVE)
        try:
            made, number = edited(library, recipe, step or 0, interface, text, removing=removing)
        except SourceError as error:
            return no_update, str(error), no_update
        view = Patch()
        view[ids.STEP] = str((step or 0) + 1)
        view[ids.NODE] = str(number)
        return made, "", view


def _register_list(app: Dash, library: Library) -> None:
    limits = library.config.limits
    lists: Cache[Listed] = Cache(_LISTS)

    @app.callback(
        Output(_at(ids.data_of(ids.ROWS)), "data"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.SHOW), "value"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.SEARCH), "value"),
        Input(_at(ids.NODE), "data"),
        Input(_at(ids.ROWS_FIRST), "data"),
        *where_inputs(NAME),
    )
    def list_rows(
        recipe: Any,
        show: Any,
        step: Any,
        query: Any,
        number: Any,
        first: Any,
        *expression: Any,
    ) -> Any:
        story = library.story(recipe)
        frames = frames_of(story, show, step)
        # Scrolling asks for the same list again and again, a window at a time.
        key = (json.dumps(recipe, sort_keys=True), tuple(frames), step, query, *expression)
        listed = lists.made(
            key,
            lambda: narrowed(
                numbers_listed(story, frames, query or ""), frames, asked_where(story, *expression)
            ),
        )
        changed = {each.rpartition(".")[0] for each in ctx.triggered_prop_ids}
        top = bool(changed & {_at(ids.HERE), _at(ids.SHOW), _at(ids.SEARCH)})
        return rows_of(
            NAME,
            story,
            frames,
            listed,
            first=0 if top or not isinstance(first, int) else first,
            size=limits.rows,
            picked=number,
            top=top,
        )


def _register_drawings(app: Dash, library: Library) -> None:
    limits = library.config.limits
    remembered = (ids.SIDEWAYS, ids.INDEX, ids.LOOK, ids.REACH)
    register_structures(app, library, NAME, *((each, "value") for each in remembered))
    clientside(
        app,
        "centre",
        Output(_at(ids.CENTRE), "data"),
        Input(_at(ids.NODE), "data"),
        initial=False,
    )

    @app.callback(
        *grid_outputs(NAME),
        Output(_at(ids.DRAWINGS), "data"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.SHOW), "value"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.SIDEWAYS), "value"),
        Input(_at(ids.INDEX), "value"),
        Input(_at(ids.FOLDS), "data"),
        Input(_at(ids.ROOM), "data"),
        Input(_at(ids.LOOK), "value"),
        Input(_at(ids.REACH), "value"),
        Input(_at(ids.CENTRE), "data"),
        *where_inputs(NAME),
        State(_at(ids.NODE), "data"),
        State(_at(ids.MOUNTED), "data"),
    )
    def draw(
        recipe: Any,
        show: Any,
        step: Any,
        sideways: Any,
        index: Any,
        folds: Any,
        room: Any,
        look: Any,
        reach: Any,
        _centre: Any,
        *rest: Any,
    ) -> Any:
        *expression, node, mounted = rest
        story = library.story(recipe)
        frames = frames_of(story, show, step)
        centre = node if isinstance(node, int) else None
        around = Around(centre, reach_of({ids.REACH: reach}), room_of(room))
        where = asked_where(story, *expression)
        drawings = {}
        for each, frame in frames.items():
            options: dict[str, Any] = {"sideways": bool(sideways), "ratio": ratio_of(room)}
            options["where"] = where
            if _is_near(look, frame, limits):
                options["around"] = around
            if index:
                options["notes"] = index_notes(story, frame)
            draw_one = file_drawing if each == FILE else frame_drawing
            made = draw_one(story, frame, limits, folds=read_folds(folds), **options)
            made["save"] = save_query(recipe, each, frame.step)
            if "around" not in made and len(frame.graph.nodes) > limits.whole_nodes:
                made["reach"] = around.reach  # all else is dim
            drawings[ids.panel(NAME, each)] = {**made, "step": step or 0}
        return (*renewed_grid(NAME, story, list(frames), mounted), drawings)


def _register_hit(app: Dash, library: Library) -> None:
    """Let the search go to its first hit, where only what is near one filter is drawn."""
    limits = library.config.limits

    @app.callback(
        Output(_at(ids.NODE), "data", allow_duplicate=True),
        Input(_at(ids.SEARCH), "value"),
        State(_at(ids.HERE), "data"),
        State(_at(ids.SHOW), "value"),
        State(_at(ids.STEP), "value"),
        State(_at(ids.LOOK), "value"),
        State(_at(ids.NODE), "data"),
        prevent_initial_call=True,
    )
    def go_to_hit(query: Any, recipe: Any, show: Any, step: Any, look: Any, node: Any) -> Any:
        wanted = (query or "").strip().lower()
        story = library.story(recipe)
        frames = frames_of(story, show, step)
        if not wanted or not any(_is_near(look, frame, limits) for frame in frames.values()):
            raise PreventUpdate
        listed = numbers_listed(story, frames, wanted)
        hits = listed.numbers[: len(listed.numbers) - listed.absent]
        if not hits or node in hits:
            raise PreventUpdate
        return hits[0]


def _is_near(look: Any, frame: Frame, limits: Limits) -> bool:
    """Return whether only what is near one filter is drawn: by choice, or for the table's size."""
    large = len(frame.graph.nodes) > limits.whole_nodes
    return bool(look == "near" or (look != "whole" and large))


def _register_undo(app: Dash, library: Library) -> None:
    @app.callback(
        Output(ids.RECIPE, "data", allow_duplicate=True),
        Output(ids.VIEW, "data", allow_duplicate=True),
        Input(_at(ids.HAND_UNDO), "n_clicks"),
        State(_at(ids.HERE), "data"),
        State(_at(ids.STEP), "value"),
        prevent_initial_call=True,
    )
    def undo(clicks: Any, recipe: Any, step: Any) -> Any:
        if not clicks or not recipe.get("edits"):
            raise PreventUpdate
        made = library.undone(recipe)
        view = Patch()
        view[ids.STEP] = str(min(step or 0, len(library.story(made))))
        return made, view


def edited(
    library: Library,
    recipe: Mapping[str, str],
    step: int,
    interface: str | None,
    text: str | None,
    *,
    removing: bool,
) -> tuple[dict[str, str], int]:
    """Return the recipe with one more operation after a step, and the number of its filter."""
    interface = (interface or "").strip()
    if not interface or any(each.isspace() or each in ':"' for each in interface):
        raise SourceError("the interface is a name without spaces and colons")
    story = library.story(recipe)
    text = " ".join((text or "").split())
    if not text:
        raise SourceError("there is no filter to add or remove")
    line = f"{'- ' if removing else ''}{interface}: {text}"
    operation = read_line(line, library.config.limits, types=story.source.types)
    assert operation.item is not None  # the line has a filter
    if removing:
        pair = (operation.item, interface)
        # A pair that is eliminated in one table may be there in the other.
        along_paths = first_structure(lambda p: p.elimination is pl.Elimination.ALONG_PATHS)
        everywhere = first_structure(lambda p: p.elimination is pl.Elimination.EVERYWHERE)
        tables = [story.frame(each, step).snapshot.entries() for each in (along_paths, everywhere)]
        if not any(pair in entries for entries in tables):
            raise SourceError(f"{interface} does not hold {operation.item} at step {step}")
    made = library.edited(recipe, step, line)
    return made, library.story(made).number[operation.item]

"""Tables: structures side by side on the same operations, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import Dash, Input, Output, Patch, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

import posetlib as pl
from browser import ids
from browser.checking import check_file
from browser.detail import Detail, detail
from browser.elements import all_but
from browser.exports import save_query
from browser.folds import read_folds
from browser.listing import Cell, chip, code, listing, muted, pick
from browser.pages import parts
from browser.pages.stepping import (
    frames_of,
    grid_outputs,
    register_list,
    register_structures,
    renewed_grid,
)
from browser.picture import file_drawing, frame_drawing, index_notes
from browser.shortening import visible
from browser.sources import SourceError, read_line
from browser.state import Library
from browser.story import FILE, Frame, Story, first_structure

__all__ = ["layout", "register"]

Component = Any
NAME = "tables"


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
                controls=[sideways, index],
            ),
        ]
    )


def _checked(story: Story) -> Component:
    verdict = check_file(story)
    shown = [] if verdict is None else [parts.verdict_card(NAME, story, verdict)]
    return html.Div(shown, id=_at(ids.VERDICT), role="status")


def _all_filters() -> Component:
    return parts.card(
        "All filters",
        parts.long_list(NAME, ids.ROWS),
        html.Div(
            [
                html.Button("◀ Previous", id=_at(ids.ROWS_BACK), className="small"),
                html.Button("Next ▶", id=_at(ids.ROWS_FORWARD), className="small"),
                dcc.Store(id=_at(ids.ROWS_PAGE), data=0),
            ],
            className="row pages",
        ),
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


def _ratio(count: int) -> float:
    """Return how much wider than high each of so many graphs is, about."""
    return 1.6 if count == 1 else 0.95 if count == 2 else 1.2


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


def rows_of(
    story: Story,
    frames: Mapping[str, Frame],
    *,
    query: str = "",
    page: int = 0,
    size: int = 100,
    picked: int | None = None,
) -> tuple[dict[str, Any], int]:
    """Return one page of the list of filters, and how many pages.

    First those that are in any of the frames, then those that were added and are in none.
    """
    present = {number for frame in frames.values() for number in frame.graph.nodes}
    step = max((frame.step for frame in frames.values()), default=0)
    asked = {story.number[each.item] for each in list(story.trace)[:step] if each.item is not None}
    numbers = [*sorted(present), *sorted(asked - present)]
    wanted = query.strip().lower()
    if wanted:
        numbers = [each for each in numbers if wanted in _searched(story, frames, each)]
    pages = max(1, -(-len(numbers) // size))
    page = min(max(page, 0), pages - 1)
    if not numbers:
        return listing((), (), note="No filter."), pages
    shown = numbers[page * size : (page + 1) * size]
    rows: list[list[Cell]] = [
        [
            pick(NAME, number),
            [code(visible(str(story.filters[number]))), muted(_places(frames, number))]
            if number in present
            else [
                code(visible(str(story.filters[number]))),
                chip("absent", "absent"),
                muted("pruned, removed or not taken in: choose it to see why"),
            ],
        ]
        for number in shown
    ]
    first = page * size + 1
    absent = sum(number not in present for number in numbers)
    made = listing(
        ["No.", "Filter, interfaces, parents"],
        rows,
        caption=f"{first:,} to {first + len(shown) - 1:,} of {len(numbers):,} filters"
        + (f", {absent:,} of them absent" if absent else ""),
        classes=["picked" if number == picked else "" for number in shown],
    )
    return made, pages


def _searched(story: Story, frames: Mapping[str, Frame], number: int) -> str:
    return f"#{number} {story.filters[number]} {_holders(frames, number)}".lower()


def _holders(frames: Mapping[str, Frame], number: int) -> str:
    names: dict[str, None] = {}
    for frame in frames.values():
        node = frame.graph.nodes.get(number)
        if node is not None:
            names.update(dict.fromkeys(node.interfaces))
    return ", ".join(names)


def _places(frames: Mapping[str, Frame], number: int) -> str:
    parents = (f"{name.upper()}: {_parents(frame, number)}" for name, frame in frames.items())
    return " · ".join((_holders(frames, number), *parents))


def _parents(frame: Frame, number: int) -> str:
    if number not in frame.graph.nodes:
        return "absent"
    parents: Sequence[int] = frame.graph.parents[number]
    if not parents:
        return "root"
    more = f" +{len(parents) - 4}" if len(parents) > 4 else ""
    return ", ".join(f"#{each}" for each in parents[:4]) + more


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page, and those of the controls that other pages share."""
    limits = library.config.limits
    register_structures(app, library, NAME, (ids.SIDEWAYS, "value"), (ids.INDEX, "value"))
    register_list(app, NAME, ids.ROWS)
    _register_undo(app, library)

    @app.callback(
        *grid_outputs(NAME),
        Output(_at(ids.DRAWINGS), "data"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.SHOW), "value"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.SIDEWAYS), "value"),
        Input(_at(ids.INDEX), "value"),
        Input(_at(ids.FOLDS), "data"),
        State(_at(ids.MOUNTED), "data"),
    )
    def draw(
        recipe: Any, show: Any, step: Any, sideways: Any, index: Any, folds: Any, mounted: Any
    ) -> Any:
        story = library.story(recipe)
        frames = frames_of(story, show, step)
        drawings = {}
        for each, frame in frames.items():
            options: dict[str, Any] = {"sideways": bool(sideways), "ratio": _ratio(len(frames))}
            if index:
                options["notes"] = index_notes(story, frame)
            draw_one = file_drawing if each == FILE else frame_drawing
            made = draw_one(story, frame, limits, folds=read_folds(folds), **options)
            made["save"] = save_query(recipe, each, frame.step)
            drawings[ids.panel(NAME, each)] = {**made, "step": step or 0}
        return (*renewed_grid(NAME, story, list(frames), mounted), drawings)

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
        return detail_card(story, found, number)

    @app.callback(
        Output(_at(ids.data_of(ids.ROWS)), "data"),
        Output(_at(ids.ROWS_PAGE), "data"),
        Output(_at(ids.ROWS_BACK), "disabled"),
        Output(_at(ids.ROWS_FORWARD), "disabled"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.SHOW), "value"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.SEARCH), "value"),
        Input(_at(ids.NODE), "data"),
        Input(_at(ids.ROWS_BACK), "n_clicks"),
        Input(_at(ids.ROWS_FORWARD), "n_clicks"),
        State(_at(ids.ROWS_PAGE), "data"),
    )
    def list_rows(
        recipe: Any, show: Any, step: Any, query: Any, number: Any, _b: Any, _f: Any, page: Any
    ) -> Any:
        story = library.story(recipe)
        frames = frames_of(story, show, step)
        turn = {_at(ids.ROWS_BACK): -1, _at(ids.ROWS_FORWARD): 1}.get(str(ctx.triggered_id), 0)
        page = max(0, (page or 0) + turn)
        table, pages = rows_of(
            story, frames, query=query or "", page=page, size=limits.rows, picked=number
        )
        page = min(page, pages - 1)
        return table, page, page == 0, page >= pages - 1

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

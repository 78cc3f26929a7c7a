"""Merging: the root set before and after, the components of a merger, and what it loses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dash import Dash, Input, Output, dcc, html, no_update

from browser import ids
from browser import merging_plane as plane
from browser.cache import Cache
from browser.elements import counted
from browser.folds import read_folds
from browser.graph import NO_FOLDS
from browser.listing import Cell, code, listing, muted, pick
from browser.merging import (
    DEFAULT_LOSS,
    Follower,
    Group,
    Merged,
    Merging,
    before_and_after,
    merging_from,
    percent,
    shown_as,
    unwanted,
)
from browser.merging_plane import plane_of
from browser.pages import parts
from browser.pages.stepping import (
    register_graphs,
    register_list,
    register_memory,
    register_steps,
)
from browser.sources import SourceError
from browser.state import Library, recipe_of, to_query
from browser.story import Story

__all__ = ["layout", "register"]

Component = Any
NAME = "merging"
_KINDS = {"perfect": "Perfect", "imperfect": "Imperfect"}
_BEFORE, _AFTER = ids.panel(NAME, "before"), ids.panel(NAME, "after")


def _at(part: str) -> str:
    return ids.at(NAME, part)


def layout(library: Library, recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it."""
    story = library.story(recipe)
    loss = view.get(ids.LOSS, "")
    return html.Div(
        [
            parts.head(
                "Merging",
                "Fewer filters that stand for the roots of the table, as it changes "
                "(Tarkoma's thesis, 8.5).",
            ),
            html.Div(
                [
                    parts.one_of(_at(ids.MERGING), _KINDS, view.get(ids.MERGING, ""), "Merging"),
                    html.Label(
                        [
                            html.Span("Largest loss, %", className="muted"),
                            dcc.Input(
                                id=_at(ids.LOSS),
                                type="number",
                                min=0,
                                max=100,
                                step="any",
                                value=float(loss) if _is_number(loss) else DEFAULT_LOSS,
                                debounce=True,
                            ),
                        ],
                        className="beside",
                        title="Of imperfect merging: what a merger may match that nobody wants",
                    ),
                    html.Div(
                        dcc.Checklist(
                            id=_at(ids.SUBSUME),
                            options=[
                                {"label": "Leave out what others cover together", "value": "yes"}
                            ],
                            value=["yes"] if view.get(ids.SUBSUME) else [],
                        ),
                        className="choice",
                    ),
                    parts.one_of(
                        _at(ids.DRAWN_AS),
                        {"plane": "Plane", "graph": "Graph"},
                        view.get(ids.DRAWN_AS, ""),
                        "Drawn as",
                    ),
                ],
                className="toolbar",
            ),
            parts.transport(NAME, len(story), parts.chosen_step(view, story)),
            html.Div(
                [
                    html.Div(
                        [
                            parts.graph_panel(_BEFORE, "Roots before", fold=False),
                            parts.graph_panel(_AFTER, "Sent after merging", fold=False),
                        ],
                        className="grid pair",
                    ),
                    parts.inspector(
                        parts.card(
                            "Chosen filter", html.Div(id=_at(ids.DETAIL), className="scroll")
                        ),
                        parts.card("Sizes at this step", parts.long_list(NAME, ids.COUNTS)),
                        parts.card(
                            "Sent after merging",
                            parts.long_list(NAME, ids.ROWS),
                            class_name="card list",
                        ),
                        parts.signs(("merger", "component", "covered", "added", "removed")),
                    ),
                ],
                className="work",
            ),
            *parts.stores(NAME, recipe, view),
        ]
    )


def _is_number(text: str) -> bool:
    try:
        return 0 <= float(text) <= 100
    except ValueError:
        return False


# -- what is told ----------------------------------------------------------------------------------


def detail_card(story: Story, merged: Merged, chosen: int | None, limit: int) -> list[Component]:
    """Return what there is to say about a merger, or about a root and its merger."""
    item = None if chosen is None else merged.filters.get(chosen)
    if chosen is None or item is None:
        hint = "Click a rectangle or a filter, before or after, for what it is made or part of."
        told: list[Component] = [html.P(hint, className="muted")]
        if len(merged.roots) > 1 and not any(group.is_merger for group in merged.groups):
            told.append(_nothing_merges())
        return told
    made: list[Component] = [parts.told_filter(chosen, str(item))]
    group = merged.group_of(chosen)
    if group is None:
        is_there = chosen in story.frame(shown_as(), merged.step).graph.nodes
        words = (
            "It is not a root: another filter covers it." if is_there else "It is not there now."
        )
        return [*made, html.P(words)]
    if group.number != chosen:
        how = "made of it and others" if chosen in group.components else "which covers it"
        made.append(html.P(f"Instead of it a filter is sent {how}:"))
        made.append(
            html.P(
                [
                    parts.pick_button(NAME, group.number),
                    " ",
                    html.Span(str(group.filter), className="filter"),
                ]
            )
        )
    elif not group.is_merger:
        made.append(html.P("A root that is not merged: it is sent as it is."))
    if group.supporters:
        made.append(html.P("Left out: these filters cover it together."))
        made.append(_filters(merged, group.supporters, limit))
    if group.is_merger:
        made += _loss(merged, group)
        made.append(html.H3(counted(len(group.components), "component")))
        made.append(_filters(merged, group.components, limit))
    if group.covered:
        made.append(html.H3(f"Covers besides: {counted(len(group.covered), 'root')}"))
        made.append(_filters(merged, group.covered, limit))
    return made


def _nothing_merges() -> Component:
    """Return what it takes for roots to be merged, and a link to some that are."""
    why = (
        "No two of these roots merge. Perfectly, they must differ in one attribute alone; "
        "imperfectly, the loss must be small enough. "
    )
    address = to_query({"from": "example", "example": "merging"})
    return html.P([why, html.A("An example with mergers", href=address)])


def _loss(merged: Merged, group: Group) -> list[Component]:
    if group.loss == 0:
        return [
            html.P(html.Span("✓ loses nothing", className="chip")),
            html.P("It matches what its components match, and nothing else."),
        ]
    made: list[Component] = [
        html.P([html.Strong("Estimated loss "), html.Span(percent(group.loss))])
    ]
    example = unwanted(merged, group)
    if example is not None:
        values = ", ".join(f"{name} = {value}" for name, value in example.items())
        made.append(html.P(f"Matched, though no root of it asks for that: {values}"))
    return made


def _filters(merged: Merged, numbers: Sequence[int], limit: int) -> Component:
    rows: list[Component] = [
        html.Li(
            [
                parts.pick_button(NAME, number),
                " ",
                html.Span(str(merged.filters[number]), className="filter"),
            ]
        )
        for number in numbers[:limit]
    ]
    if len(numbers) > limit:
        rows.append(html.Li(f"and {len(numbers) - limit:,} more", className="muted"))
    return html.Ul(rows, className="plain")


def sent_list(merged: Merged, chosen: int | None, limit: int) -> dict[str, Any]:
    """Return what is sent, with what it stands for and what it loses; what is left out, last."""
    ordered = sorted(merged.groups, key=lambda group: bool(group.supporters))[:limit]
    rows: list[list[Cell]] = [
        [
            pick(NAME, group.number),
            [code(str(group.filter)), muted("left out")]
            if group.supporters
            else code(str(group.filter)),
            f"{len(group.components) + len(group.covered):,}",
            percent(group.loss),
        ]
        for group in ordered
    ]
    mine = merged.group_of(chosen)
    return listing(
        ["No.", "Filter", "Roots", "Loss"],
        rows,
        classes=["picked" if group is mine else "" for group in ordered],
        note=f"The first {limit} of {len(merged.groups):,}." if merged.groups[limit:] else "",
    )


def size_list(sizes: Mapping[str, Merged]) -> dict[str, Any]:
    """Return how many filters there are before and after, by each kind of merging."""
    first = next(iter(sizes.values()))
    rows: list[list[Cell]] = [["Roots", f"{len(first.roots):,}", ""]]
    rows += [
        [name, f"{len(merged.sent):,}", percent(merged.worst_loss)]
        for name, merged in sizes.items()
    ]
    return listing(["", "Filters", "Largest loss"], rows)


# -- callbacks -------------------------------------------------------------------------------------


def _followers(library: Library) -> Callable[[Any, Merging], Follower]:
    """Return a function that finds the follower of a recipe, which all users share."""
    kept: Cache[Follower] = Cache(2 * library.config.limits.stories)

    def find(recipe: Any, settings: Merging) -> Follower:
        story = library.story(recipe)
        key = (to_query(recipe_of(recipe)), settings)
        found = kept.made(key, lambda: Follower(story, settings))
        if found.story is not story:  # the story was made anew
            found = Follower(story, settings)
            kept.put(key, found)
        return found

    return find


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    limits = library.config.limits
    follower = _followers(library)
    controls = (ids.MERGING, ids.LOSS, ids.SUBSUME)
    register_steps(app, library, NAME)
    register_graphs(app, NAME)
    for each in (ids.ROWS, ids.COUNTS):
        register_list(app, NAME, each)
    register_memory(app, NAME, *((each, "value") for each in (ids.STEP, *controls, ids.DRAWN_AS)))

    @app.callback(
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.DETAIL), "children"),
        Output(_at(ids.data_of(ids.ROWS)), "data"),
        Output(_at(ids.data_of(ids.COUNTS)), "data"),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.NODE), "data"),
        *(Input(_at(each), "value") for each in controls),
        Input(_at(ids.DRAWN_AS), "value"),
        Input(_at(ids.FOLDS), "data"),
        prevent_initial_call="initial_duplicate",
    )
    def show(
        recipe: Any,
        step: Any,
        chosen: Any,
        kind: Any,
        loss: Any,
        subsume: Any,
        drawn_as: Any,
        folds: Any,
    ) -> Any:
        try:
            settings = merging_from(kind, loss, subsume)
            other = merging_from("imperfect" if settings.perfect else "perfect", loss, subsume)
        except SourceError as error:
            return no_update, no_update, no_update, no_update, str(error)
        step = step or 0
        merged = follower(recipe, settings).at(step)
        story = library.story(recipe)
        sizes = {
            _KINDS["perfect" if each.perfect else "imperfect"]: follower(recipe, each).at(step)
            for each in sorted((settings, other), reverse=True)
        }
        shown = plane_of(story.number) if drawn_as != "graph" else None
        drawings = (
            before_and_after(
                story, merged, chosen, limits, read_folds(folds).get("after", NO_FOLDS)
            )
            if shown is None
            else plane.before_and_after(shown, merged, chosen)
        )
        return (
            {_BEFORE: drawings[0], _AFTER: drawings[1]},
            detail_card(story, merged, chosen, limits.rows),
            sent_list(merged, chosen, limits.rows),
            size_list(sizes),
            "",
        )

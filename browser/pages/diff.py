"""Diff: two tables against each other, in one graph or side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from browser import ids
from browser.diffing import Comparison, Listed, compare
from browser.elements import MARKS, counted
from browser.finding import where_of
from browser.folds import read_folds
from browser.graph import NO_FOLDS, Graph
from browser.listing import Cell, chip, code, listing, pick
from browser.pages import parts
from browser.pages.attributes import aria, data
from browser.pages.source_panel import decoded, upload
from browser.pages.stepping import (
    grid_outputs,
    ratio_of,
    register_graphs,
    register_list,
    register_memory,
    register_search,
    register_where,
    where_inputs,
)
from browser.picture import chips, graph_drawing
from browser.sources import SourceError
from browser.state import Library
from browser.story import FILE, QUICK, STRUCTURES, Story, default_pair

__all__ = ["layout", "register"]

Component = Any
NAME = "diff"
_SIDES = ("a", "b")
_LISTED = 2_000
_WORDS = {
    mark: f"{MARKS[mark][0]} {word}"
    for mark, word in {
        "added": "added",
        "removed": "removed",
        "moved": "re-parented",
        "relinked": "other parents",
        "changed": "interfaces changed",
    }.items()
}


def _at(part: str) -> str:
    return ids.at(NAME, part)


def _of(side: str, part: str) -> str:
    return _at(ids.side(side, part))


class Side(NamedTuple):
    """One of the two tables: where it comes from, which structure, after how many operations."""

    story: Story
    structure: str
    step: int
    uploaded: bool

    @property
    def name(self) -> str:
        """What it is called above its graph."""
        origin = f"{self.story.source.title}, " if self.uploaded else ""
        if self.structure == FILE:
            return f"{origin}{self.story.structures[FILE]}"
        if self.story.source.snapshot is not None:
            return f"{origin}{self.structure.upper()}, rebuilt from the file's pairs"
        return f"{origin}{self.structure.upper()} after {self.step:,} operations"


def layout(library: Library, recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it."""
    story = library.story(recipe)
    mode = view.get(ids.MODE, "")
    return html.Div(
        [
            parts.head("Diff", "What B has, and has not, compared with A."),
            html.Div(
                [_side(library, story, side, view) for side in _SIDES],
                className="sides",
            ),
            html.Div(
                [
                    parts.one_of(
                        _at(ids.MODE),
                        {
                            "overlay": "Overlay",
                            "sides": "Side by side",
                            "changes": "Changes only",
                        },
                        mode,
                        "How to show both",
                    ),
                    parts.search_box(NAME, view.get(ids.SEARCH, "")),
                    parts.where_box(NAME, view),
                    html.Button("Export as JSON", id=_at(ids.EXPORT)),
                    dcc.Download(id=_at(ids.DOWNLOAD)),
                ],
                className="toolbar",
            ),
            html.Div(
                [
                    html.Div(id=_at(ids.GRID), className="grid one"),
                    parts.inspector(
                        parts.card(
                            "Changes",
                            html.Div(id=_at(ids.COUNTS), role="status"),
                            parts.long_list(NAME, ids.CHANGES, "scroll tall"),
                            class_name="card list",
                        ),
                        parts.signs(_WORDS),
                    ),
                ],
                className="work",
            ),
            dcc.Store(id=_at(ids.MOUNTED)),
            *parts.stores(NAME, recipe, view),
        ]
    )


def _options(*, file: bool = False) -> list[dict[str, str]]:
    """Return the structures to choose from; ``file``: the uploaded snapshot first."""
    offered = {f"{each.upper()} · {name}": each for each, name in STRUCTURES.items()}
    if file:
        offered = {"The file, as it is": FILE} | offered
    return [{"label": label, "value": value} for label, value in offered.items()]


def _start(story: Story, side: str) -> str:
    """Return the structure that a side shows unasked: a file beside its twin."""
    return story.first_shown[_SIDES.index(side)]


def _side(library: Library, story: Story, side: str, view: Mapping[str, str]) -> Component:
    document = view.get(ids.side(side, "doc"), "")
    structure = view.get(ids.side(side, "structure"), "")
    chosen = structure if structure in {*STRUCTURES, FILE} else _start(story, side)
    text = view.get(ids.side(side, "step"), "")
    step = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None
    options = _options(file=bool(document) or story.source.snapshot is not None)
    return html.Section(
        [
            html.Div(
                [
                    html.H2(side.upper()),
                    parts.labelled(
                        "Structure",
                        dcc.Dropdown(options, chosen, id=_of(side, "structure"), clearable=False),
                        "grow",
                    ),
                    parts.labelled(
                        "After so many operations",
                        dcc.Input(
                            id=_of(side, "step"),
                            type="number",
                            min=0,
                            step=1,
                            value=step,
                            placeholder="all" if len(story) <= QUICK else f"{QUICK:,}",
                            debounce=True,
                        ),
                    ),
                ],
                className="row end",
            ),
            html.Details(
                [
                    html.Summary("From a file", id=_of(side, "origin")),
                    upload(
                        _of(side, "upload"), library.config.limits, what="Snapshot or trace (JSON)"
                    ),
                    html.Button("Use the open filters", id=_of(side, "reset"), className="link"),
                ]
            ),
            dcc.Store(id=_of(side, "doc"), data=document),
        ],
        className="card",
        **aria(label=f"Side {side.upper()}"),
    )


def chosen_side(
    library: Library, recipe: Mapping[str, str], document: str, structure: str, step: int | None
) -> Side:
    """Return the table that the controls of a side name."""
    story = library.story({"from": "document", "doc": document} if document else recipe)
    if structure not in story.structures:
        structure = next(iter(story.structures))
    length = len(story)
    at = min(length, QUICK) if step is None else min(max(step, 0), length)
    return Side(story, structure, at, uploaded=bool(document))


def compared(a: Side, b: Side) -> Comparison:
    """Return both tables compared; numbers are those of the page where both are of one story."""
    known = {} if a.uploaded and b.uploaded else (b if a.uploaded else a).story.number
    before = a.story.frame(a.structure, a.step).snapshot
    after = b.story.frame(b.structure, b.step).snapshot
    return compare(before, after, known)


def changes_of(listed: Sequence[Listed]) -> dict[str, Any]:
    """Return the list of changes, each with a button that leads to its place."""
    rows: list[list[Cell]] = [
        [
            chip(each.kind, _WORDS[each.kind]),
            [pick(NAME, each.number, look=True), code(each.text)],
        ]
        for each in listed[:_LISTED]
    ]
    note = "" if listed else "No filter differs."
    if len(listed) > _LISTED:
        note = f"and {len(listed) - _LISTED:,} more: the export has them all."
    return listing((), rows, note=note, classes=[f"kind-{each.kind}" for each in listed[:_LISTED]])


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    limits = library.config.limits
    register_search(app, NAME)
    register_where(app, library, NAME)
    register_graphs(app, NAME)
    register_list(app, NAME, ids.CHANGES)
    register_memory(
        app,
        NAME,
        (ids.MODE, "value"),
        (ids.SEARCH, "value"),
        (ids.WHERE, "value"),
        (ids.WHERE_MODE, "value"),
        *(
            (ids.side(side, part), prop)
            for side in _SIDES
            for part, prop in (("doc", "data"), ("structure", "value"), ("step", "value"))
        ),
    )
    for side in _SIDES:
        _register_upload(app, library, side)

    controls = [Input(_at(ids.HERE), "data")]
    controls += [
        Input(_of(side, part), prop)
        for side in _SIDES
        for part, prop in (("doc", "data"), ("structure", "value"), ("step", "value"))
    ]

    def sides(recipe: Any, values: tuple[Any, ...]) -> tuple[Side, Side]:
        return (
            chosen_side(library, recipe, *values[:3]),
            chosen_side(library, recipe, *values[3:6]),
        )

    @app.callback(
        *grid_outputs(NAME),
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.COUNTS), "children"),
        Output(_at(ids.data_of(ids.CHANGES)), "data"),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        *controls,
        Input(_at(ids.MODE), "value"),
        Input(_at(ids.FOLDS), "data"),
        *where_inputs(NAME),
        Input(_at(ids.ROOM), "data"),
        State(_at(ids.MOUNTED), "data"),
        prevent_initial_call="initial_duplicate",
    )
    def show(recipe: Any, *rest: Any) -> Any:
        *values, mode, folds, text, marking, room, mounted = rest
        try:
            a, b = sides(recipe, tuple(values))
        except SourceError as error:
            return (*[no_update] * 6, str(error))
        found = compared(a, b)
        palette = {**b.story.palette, **a.story.palette}
        names = [a.name, b.name]
        filters = {number: item for item, number in found.number.items()}
        where = where_of(text, marking, filters, library.story(recipe).source.types)

        def drawn(name: str, graph: Graph, title: str) -> dict[str, Any]:
            made = graph_drawing(
                graph,
                limits,
                read_folds(folds).get(name, NO_FOLDS),
                palette=palette,
                marks=found.marks,
                edge_marks=found.edge_marks,
                ratio=ratio_of(room),
                bands=name != "both",
                where=where,
            )
            here = {each: marks for each, marks in found.marks.items() if each in graph.nodes}
            made["chips"] = chips(here, _WORDS)
            sizes = (counted(len(graph.nodes), "filter"), counted(len(graph.edges), "edge"))
            made["stats"] = " · ".join(each for each in (*sizes, made.get("met")) if each)
            made["title"] = title
            return made

        if mode == "sides":
            titles = {"a": f"A · {names[0]}", "b": f"B · {names[1]}"}
            graphs = {"a": found.before, "b": found.after}
        else:
            titles = {"both": f"A · {names[0]}  and  B · {names[1]}"}
            graphs = {"both": found.changes if mode == "changes" else found.overlay}
        drawings = {
            ids.panel(NAME, name): drawn(name, graph, titles[name])
            for name, graph in graphs.items()
        }
        counts = found.counts
        words = [
            html.Button(
                f"{word} {counts[mark]:,}",
                className=f"chip {mark}",
                title="Show these alone, or all again",
                **aria(pressed="false"),
                **data(chip=mark),
            )
            for mark, word in _WORDS.items()
        ]
        edges = f"{counted(counts['edges added'], 'edge')} added, "
        edges += f"{counts['edges removed']:,} removed"
        told = [html.Div(words, className="row"), html.P(edges, className="muted")]
        panels: tuple[Any, ...] = (no_update, no_update, no_update)
        if titles != mounted:
            panels = (parts.grid(NAME, titles), parts.grid_class(len(titles)), titles)
        return (*panels, drawings, told, changes_of(found.listed()), "")

    @app.callback(
        Output(_at(ids.DOWNLOAD), "data"),
        Input(_at(ids.EXPORT), "n_clicks"),
        *(State(each.component_id, each.component_property) for each in controls),
        prevent_initial_call=True,
    )
    def export(clicks: Any, recipe: Any, *values: Any) -> Any:
        if not clicks:
            raise PreventUpdate
        a, b = sides(recipe, values)
        return {
            "content": compared(a, b).to_json(a.name, b.name),
            "filename": "diff.json",
            "type": "application/json",
        }


def _register_upload(app: Dash, library: Library, side: str) -> None:
    limits = library.config.limits

    @app.callback(
        Output(_of(side, "doc"), "data"),
        Output(_of(side, "origin"), "children"),
        Output(_of(side, "structure"), "options"),
        Output(_of(side, "structure"), "value"),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        Input(_of(side, "upload"), "contents"),
        Input(_of(side, "reset"), "n_clicks"),
        State(_of(side, "upload"), "filename"),
        prevent_initial_call=True,
    )
    def use_file(contents: Any, _reset: Any, name: Any) -> Any:
        if ctx.triggered_id == _of(side, "reset"):
            return "", "From a file", _options(), default_pair()[_SIDES.index(side)], ""
        if not contents:
            raise PreventUpdate
        try:
            key = library.keep([(str(name), decoded(contents, limits))])
            source = library.story({"from": "document", "doc": key}).source
        except SourceError as error:
            return (*[no_update] * 4, str(error))
        has_table = source.snapshot is not None
        structure: Any = FILE if has_table else no_update
        return key, f"From {str(name)[:60]}", _options(file=has_table), structure, ""

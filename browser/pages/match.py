"""Match: how a notification finds its way through each structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import Dash, Input, Output, State, dcc, html
from dash.exceptions import PreventUpdate

from browser import ids
from browser.document_tree import (
    DocumentNode,
    document_attribute,
    document_nodes,
    documents_of,
)
from browser.elements import MARKS
from browser.exports import save_query
from browser.folds import read_folds
from browser.matching import Match, match, random_notification, read_notification, why
from browser.pages import parts
from browser.pages.attributes import data
from browser.pages.stepping import (
    asked_where,
    frames_of,
    grid_outputs,
    ratio_of,
    register_structures,
    renewed_grid,
    where_inputs,
)
from browser.picture import chips, frame_drawing
from browser.sources import SourceError
from browser.state import Library
from browser.story import STRUCTURES, Story

__all__ = ["layout", "register"]

Component = Any
NAME = "match"
_MARKS = ("matched", "failed", "skipped", "pruned", "assumed", "unvisited")


def _at(part: str) -> str:
    return ids.at(NAME, part)


def layout(library: Library, recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it."""
    story = library.story(recipe)
    text = view.get(ids.NOTIFICATION) or random_notification(story, 0)
    bound = view.get(ids.MAX_TESTS, "")
    return html.Div(
        [
            parts.head(
                "Match",
                "From the roots into matching filters only (Tarkoma's thesis, algorithm 6).",
            ),
            html.Div(
                [
                    parts.labelled(
                        "Notification (JSON, XML or a tuple)",
                        dcc.Input(id=_at(ids.NOTIFICATION), type="text", value=text, debounce=True),
                        "grow code whole",
                    ),
                    parts.labelled(
                        "At most so many tests",
                        dcc.Input(
                            id=_at(ids.MAX_TESTS),
                            type="number",
                            min=0,
                            step=1,
                            value=int(bound) if bound.isdigit() and len(bound) < 9 else None,
                            placeholder="no bound",
                            debounce=True,
                        ),
                    ),
                    html.Button("Match", id=_at(ids.MATCH), className="primary"),
                    html.Button("Another notification", id=_at(ids.RANDOM)),
                    html.Button(
                        "▶ Play the walk",
                        title="Show the filters in the order in which the walk comes to them",
                        **data(walk=NAME),
                    ),
                ],
                className="toolbar end",
            ),
            *parts.structures_at_a_step(
                NAME,
                story,
                recipe,
                view,
                parts.card("Answer", html.Div(id=_at(ids.ANSWER), role="status")),
                parts.card("Chosen filter", html.Div(id=_at(ids.DETAIL))),
                parts.card("Document", html.Div(id=_at(ids.DOCUMENT))),
                parts.signs(_MARKS),
                noted=True,
            ),
        ]
    )


def answer(story: Story, found: Mapping[str, Match], sizes: Mapping[str, int]) -> list[Component]:
    """Return what each structure answers, and at what cost."""
    made: list[Component] = []
    answers = {each.interfaces for each in found.values()}
    if len(answers) > 1:
        made.append(
            html.P(
                "The answers differ: a bound on tests may add interfaces, and PF and BF may hold "
                "other pairs after removals.",
                className="note",
            )
        )
    if len(found) > 1:
        made.append(_compared(story, found, sizes))
    for structure, each in found.items():
        names = [
            html.Span([html.Span(className=parts.hue(story.palette.get(name, 0))), name])
            for name in each.interfaces
        ]
        made.append(html.H3(parts.title(story, structure)))
        made.append(html.Div(names or "nobody", className="legend"))
        made.append(
            html.Div(
                f"{each.tested:,} of {sizes[structure]:,} filters tested, {each.visited:,} visited",
                className="muted",
            )
        )
    return made


def _compared(story: Story, found: Mapping[str, Match], sizes: Mapping[str, int]) -> Component:
    """Return what the structures cost, side by side, the cheapest first."""
    ordered = sorted(found, key=lambda each: found[each].tested)
    head = [html.Th("Structure"), *(html.Th(each, className="number") for each in _COSTS)]
    rows = [
        html.Tr(
            [
                html.Td(each.upper() if each in STRUCTURES else story.structures[each]),
                *(
                    html.Td(f"{value:,}", className="number")
                    for value in (found[each].tested, found[each].visited, sizes[each])
                ),
            ]
        )
        for each in ordered
    ]
    return html.Table([html.Thead(html.Tr(head)), html.Tbody(rows)], className="compared")


_COSTS = ("Tested", "Visited", "Filters")


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    limits = library.config.limits
    register_structures(app, library, NAME, (ids.NOTIFICATION, "value"), (ids.MAX_TESTS, "value"))

    @app.callback(
        Output(_at(ids.NOTIFICATION), "value"),
        Input(_at(ids.RANDOM), "n_clicks"),
        State(_at(ids.HERE), "data"),
        prevent_initial_call=True,
    )
    def another(clicks: Any, recipe: Any) -> Any:
        if not clicks:
            raise PreventUpdate
        return random_notification(library.story(recipe), clicks)

    @app.callback(
        *grid_outputs(NAME),
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.ANSWER), "children"),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.SHOW), "value"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.NOTIFICATION), "value"),
        Input(_at(ids.MAX_TESTS), "value"),
        Input(_at(ids.MATCH), "n_clicks"),
        Input(_at(ids.FOLDS), "data"),
        Input(_at(ids.ROOM), "data"),
        *where_inputs(NAME),
        State(_at(ids.MOUNTED), "data"),
        prevent_initial_call="initial_duplicate",
    )
    def show(
        recipe: Any,
        chosen: Any,
        step: Any,
        text: Any,
        bound: Any,
        _m: Any,
        folds: Any,
        room: Any,
        *rest: Any,
    ) -> Any:
        *expression, mounted = rest
        story = library.story(recipe)
        drawn: dict[str, Any] = {"folds": read_folds(folds), "ratio": ratio_of(room)}
        drawn["where"] = asked_where(story, *expression)
        frames = frames_of(story, chosen, step)
        try:
            notification = _read(story, text)
            found = {
                each: match(story, frame, notification, bound) for each, frame in frames.items()
            }
        except SourceError as error:
            # What was true of another notification does not stay.
            plain = {
                ids.panel(NAME, each): {
                    **frame_drawing(story, frame, limits, marks={}, **drawn),
                    "chips": [],
                    "step": step or 0,
                }
                for each, frame in frames.items()
            }
            told = [html.P(f"No answer: {error}.", className="note")]
            return (*renewed_grid(NAME, story, list(frames), mounted), plain, told, str(error))
        drawings = {}
        words = {name: f"{MARKS[name][0]} {name}" for name in _MARKS}
        for each, frame in frames.items():
            marks = found[each].marks
            order = found[each].order
            made = frame_drawing(
                story,
                frame,
                limits,
                marks=marks,
                notes={number: f"visit {place}" for place, number in enumerate(order, 1)},
                **drawn,
            )
            made["walk"] = list(order)
            made["chips"] = chips(marks, words)
            made["save"] = save_query(recipe, each, frame.step)
            drawings[ids.panel(NAME, each)] = {**made, "step": step or 0}
        sizes = {each: len(frame.graph.nodes) for each, frame in frames.items()}
        told = answer(story, found, sizes)
        return (*renewed_grid(NAME, story, list(frames), mounted), drawings, told, "")

    @app.callback(
        Output(_at(ids.DETAIL), "children"),
        Output(_at(ids.DOCUMENT), "children"),
        Input(_at(ids.NODE), "data"),
        Input(_at(ids.ANSWER), "children"),
        State(_at(ids.HERE), "data"),
        State(_at(ids.SHOW), "value"),
        State(_at(ids.STEP), "value"),
        State(_at(ids.NOTIFICATION), "value"),
        State(_at(ids.MAX_TESTS), "value"),
    )
    def tell(
        number: Any, _answer: Any, recipe: Any, chosen: Any, step: Any, text: Any, bound: Any
    ) -> Any:
        story = library.story(recipe)
        try:
            notification = _read(story, text)
            told = reasons(story, chosen or [], step or 0, notification, bound, number)
        except SourceError:
            return [html.P("There is no notification to match.", className="muted")], _NO_DOCUMENT
        return told, drawn_documents(story, notification, number)


def _read(story: Story, text: str | None) -> dict[str, Any]:
    return read_notification(text or "", document=document_attribute(story))


_NO_DOCUMENT = [html.P("The notification has no document.", className="muted")]


def drawn_documents(
    story: Story, notification: Mapping[str, Any], number: int | None
) -> list[Component]:
    """Return the documents of a notification as trees; nodes say which filters' paths they meet."""
    made: list[Component] = []
    for attribute, document in documents_of(notification).items():
        nodes = document_nodes(story, attribute, document)
        made.append(html.H3(attribute))
        made.append(html.Div(_branches(nodes, number), className="document-tree"))
        if len(nodes) < len(document):
            more = f"and {len(document) - len(nodes):,} nodes more"
            made.append(html.P(more, className="muted"))
    if not made:
        return _NO_DOCUMENT
    about = "Filled nodes are those to which the path of the chosen filter was mapped."
    if number is None:
        about = "Beside a node stand the filters whose paths were mapped to it."
    return [*made, html.P(about, className="muted")]


def _branches(nodes: Sequence[DocumentNode], number: int | None) -> Component:
    """Return nodes, each after its parent, as lists in lists."""
    outermost = html.Ul([])
    # The list that takes the nodes of each depth.
    lists = [outermost]
    for node in nodes:
        del lists[node.depth :]
        inner = html.Ul([])
        lists[-1].children.append(html.Li([_document_node(node, number), inner]))
        lists.append(inner)
    return outermost


def _document_node(node: DocumentNode, number: int | None) -> Component:
    is_met = number in node.filters if number is not None else bool(node.filters)
    content: list[Component] = [html.Strong(node.name)]
    content += [
        html.Span(f" {name if name != '.' else 'text'}: {value}", className="muted")
        for name, value in node.record
    ]
    if is_met:
        told = [number] if number is not None else list(node.filters[:_SHOWN_FILTERS])
        words = ", ".join(f"#{each}" for each in told)
        more = len(node.filters) - len(told) if number is None else 0
        content.append(html.Span(f" ✓ {words}{f' and {more} more' if more else ''}"))
    return html.Span(content, className="document-node met" if is_met else "document-node")


_SHOWN_FILTERS = 6


def reasons(
    story: Story,
    chosen: Sequence[str],
    step: int,
    notification: Mapping[str, Any],
    bound: int | None,
    number: int | None,
) -> list[Component]:
    """Return why a filter does or does not match, and was or was not tested, by structure."""
    if number is None or number not in story.filters:
        return [html.P("Click a filter to see why it does or does not match.", className="muted")]
    made: list[Component] = [parts.told_filter(number, str(story.filters[number]))]
    for structure, frame in frames_of(story, chosen, step).items():
        found = match(story, frame, notification, bound)
        sentences = why(story, frame.graph, found, notification, number)
        made.append(html.H3(parts.title(story, structure)))
        made.append(html.Ul([html.Li(sentence) for sentence in sentences]))
    return made

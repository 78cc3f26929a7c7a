"""Pieces that several pages are made of, as functions from data to components."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dash_cytoscape as cyto  # type: ignore[import-untyped]
from dash import dcc, html

from browser import ids
from browser.checking import MEANINGS, Fault, Verdict
from browser.elements import MARKS
from browser.exports import EXPORTS, FORMATS
from browser.finding import HELP, MODES
from browser.pages.attributes import aria, data
from browser.story import FILE, QUICK, Story
from browser.words import WORDS, about_structure

__all__ = [
    "badge",
    "card",
    "chosen",
    "chosen_step",
    "graph_area",
    "graph_panel",
    "grid",
    "grid_class",
    "head",
    "hue",
    "inspector",
    "labelled",
    "legend",
    "long_list",
    "one_of",
    "pick_button",
    "picks",
    "save_menu",
    "script_card",
    "search_box",
    "signs",
    "stores",
    "structure_choice",
    "structures_at_a_step",
    "title",
    "told_filter",
    "transport",
    "verdict_card",
    "where_box",
]

Component = Any
HUES = 8


def hue(place: int) -> str:
    """Return the class of an interface's colour."""
    return f"swatch hue-{place % HUES}"


def legend(story: Story, limit: int = 24) -> list[Component]:
    """Return the colour of each interface beside its name."""
    shown = story.interfaces[:limit]
    parts: list[Component] = [
        html.Span([html.Span(className=hue(story.palette[name])), name]) for name in shown
    ]
    if len(story.interfaces) > limit:
        parts.append(html.Span(f"and {len(story.interfaces) - limit:,} more"))
    if len(story.interfaces) > HUES:
        parts.append(html.Span("Colours repeat: the names tell them apart.", className="muted"))
    return parts


def signs(marks: Iterable[str]) -> Component:
    """Return a card that says what signs and lines mean."""
    rows: list[Component] = []
    for mark in marks:
        sign, words = MARKS[mark]
        rows += [html.Dt(html.Span(sign, className=f"chip {mark}")), html.Dd(words)]
    for look, words in _LINES.items():
        rows += [html.Dt(html.Span("#1", className=f"sample {look}")), html.Dd(words)]
    return card("Signs", html.Dl(rows, className="signs"), class_name="card signs-card")


#: How a filter is drawn besides its signs.
_LINES = {
    "root": "a thick line: a root",
    "folded": "a double line and ▸: what is below is folded",
    "holder": "a coloured side or border: the interface",
}


def head(title: str, about: str) -> Component:
    """Return the heading of a page, with a sentence about it."""
    return html.Div([html.H1(title), html.Span(about, className="muted")], className="page-head")


def title(story: Story, structure: str) -> str:
    """Return what a structure is called above its graph."""
    return story.title(structure)


def long_list(page: str, part: str, class_name: str = "scroll") -> Component:
    """Return the place of a long list, and the store of its data."""
    return html.Div(
        [
            html.Div(id=ids.at(page, part), className=class_name),
            dcc.Store(id=ids.at(page, ids.data_of(part))),
        ]
    )


def stores(page: str, recipe: Mapping[str, str], view: Mapping[str, str]) -> list[Component]:
    """Return the stores that every page has."""
    number = view.get(ids.NODE, "")
    node = int(number) if number.isascii() and number.isdigit() and len(number) < 9 else None
    return [
        dcc.Store(id=ids.at(page, ids.HERE), data=dict(recipe)),
        dcc.Store(id=ids.at(page, ids.NODE), data=node),
        dcc.Store(id=ids.at(page, ids.FOLDS), data=view.get(ids.FOLDS, "")),
        *(dcc.Store(id=ids.at(page, each)) for each in (ids.FOLD_REQUEST, ids.DRAWINGS, ids.ROOM)),
    ]


#: What the line of sizes says, on hover.
_SIZES = "\n".join(
    f"{word}: {WORDS[word]}" for word in ("filter", "edge", "root", "level", "covering test")
)


def _button(panel: str, title: str, what: str, text: str, label: str) -> Component:
    return html.Button(
        text,
        className="small",
        title=label,
        **aria(label=f"{label}: {title}"),
        **data(graph=f"{what} {panel}"),
    )


def save_menu(panel: str, title: str, told: str, links: Sequence[Component] = ()) -> Component:
    """Return the menu that saves a picture as SVG and PNG, with links to further files."""
    return html.Details(
        [
            html.Summary("Save", title=told),
            html.Div(
                [
                    _button(panel, title, "svg", "SVG", "Save as a picture that scales"),
                    _button(panel, title, "png", "PNG", "Save as a picture of dots"),
                    *links,
                ],
                id=f"save-{panel}",
                className="menu-items",
            ),
        ],
        className="menu",
    )


def graph_panel(panel: str, title: str, *, fold: bool = True) -> Component:
    """Return an empty frame for a graph, with its buttons; the script draws in it."""
    buttons = [
        _button(panel, title, "out", "−", "Zoom out"),
        _button(panel, title, "in", "+", "Zoom in"),
        _button(panel, title, "fit", "Fit", "Fit the whole graph"),
        _button(panel, title, "full", "Full", "Full screen, or back"),
    ]
    if fold:
        told = "Fold or unfold what is below the chosen filter"
        buttons.insert(0, _button(panel, title, "fold", "Fold", told))
    links = [
        html.A(
            each.title,
            hidden=True,
            download="",
            className="button small",
            **data(format=f"{EXPORTS}/{name}"),
        )
        for name, each in FORMATS.items()
    ]
    told = "Save the graph as a picture, or the table as a file"
    buttons.append(save_menu(panel, title, told, links))
    return html.Section(
        [
            html.Header([html.H2(title), html.Div(buttons, className="row graph-buttons")]),
            html.Div(id=f"stats-{panel}", className="stats", title=_SIZES),
            html.Div(id=f"chips-{panel}", className="chips"),
            html.Div(id=f"note-{panel}", className="note", role="status"),
            html.Div(
                cyto.Cytoscape(
                    id=ids.cytoscape(panel),
                    className="cy",
                    elements=[],
                    layout={"name": "preset"},
                    minZoom=0.005,
                    maxZoom=6,
                    # The script draws and fits: neither a new size nor new elements need a layout.
                    responsive=False,
                    autoRefreshLayout=False,
                    style={},
                    stylesheet=[],
                ),
                id=f"graph-{panel}",
                className="graph",
                tabIndex=0,
                role="application",
                **aria(label=title),
            ),
        ],
        className="panel",
        key=panel,
        **aria(label=title),
    )


def grid(page: str, panels: Mapping[str, str]) -> list[Component]:
    """Return the frames of several graphs, by short name and title."""
    if not panels:
        return [html.Div("Choose at least one structure above.", className="panel empty")]
    return [graph_panel(ids.panel(page, name), title) for name, title in panels.items()]


def grid_class(count: int) -> str:
    """Return the class of a grid of so many graphs."""
    return {0: "grid", 1: "grid one", 2: "grid"}.get(count, "grid four")


def transport(
    page: str, length: int, step: int, label: str = "How many operations are in"
) -> Component:
    """Return the slider over the steps, with the buttons that move it; a label for its meaning."""

    def button(id_: str, text: str, label: str) -> Component:
        return html.Button(text, id=id_, title=label, **aria(label=label))

    return html.Div(
        [
            html.Div(
                [
                    html.Button(
                        "|◀",
                        id=ids.at(page, ids.FIRST),
                        title="To the start",
                        **aria(label="Rewind"),
                    ),
                    button(ids.at(page, ids.BACK), "◀", "One step back"),
                    html.Button(
                        "▶ Play", id=ids.at(page, ids.PLAY), title="Play the steps, or pause"
                    ),
                    button(ids.at(page, ids.FORWARD), "▶", "One step forward"),
                    button(ids.at(page, ids.LAST), "▶|", "To the end"),
                    html.Div(
                        dcc.Slider(
                            id=ids.at(page, ids.STEP),
                            min=0,
                            max=length,
                            step=1,
                            value=step,
                            marks=None,
                            updatemode="mouseup",
                            tooltip={"placement": "bottom", "always_visible": False},
                        ),
                        className="slider",
                        **data(label=label),
                    ),
                ],
                className="transport grow",
            ),
            html.Div(id=ids.at(page, ids.STEP_TEXT), className="step-text", role="status"),
            html.Div(id=ids.at(page, ids.CAPTION), className="caption", role="status"),
            dcc.Interval(id=ids.at(page, ids.TICK), interval=700, disabled=True),
        ],
        className="toolbar",
    )


def structure_choice(page: str, story: Story, chosen: Sequence[str]) -> Component:
    """Return the boxes to tick for the structures shown."""
    return html.Div(
        dcc.Checklist(
            id=ids.at(page, ids.SHOW),
            options=[
                {
                    "label": f"{name.upper() if name != FILE else ''} {title}".strip(),
                    "value": name,
                    "title": about_structure(name),
                }
                for name, title in story.structures.items()
            ],
            value=list(chosen),
            inline=True,
        ),
        className="choices",
        role="group",
        **aria(label="Structures to show"),
    )


def search_box(page: str, value: str = "") -> Component:
    """Return the box that finds filters by their text."""
    return html.Div(
        [
            html.Label(
                [
                    html.Span("Find filters", className="visually-hidden"),
                    dcc.Input(
                        id=ids.at(page, ids.SEARCH),
                        type="search",
                        value=value,
                        placeholder="Find text or #number",
                        debounce=0.25,
                    ),
                ],
                className="grow",
                title="Finds filters by text, number or interface",
            ),
            html.Span(id=ids.at(page, ids.FOUND), className="muted", role="status"),
        ],
        className="row grow",
    )


def where_box(page: str, view: Mapping[str, str]) -> Component:
    """Return the box of an expression over filters, what is done with it, and help beside it."""
    known = [
        x for words, means in HELP.items() for x in (html.Dt(html.Code(words)), html.Dd(means))
    ]
    return html.Div(
        [
            html.Label(
                [
                    html.Span("Expression over filters", className="visually-hidden"),
                    dcc.Input(
                        id=ids.at(page, ids.WHERE),
                        type="text",
                        value=view.get(ids.WHERE, ""),
                        placeholder="Where: depth < 3 and not interface = I1",
                        debounce=True,
                        maxLength=2_000,
                    ),
                ],
                className="grow",
                title="An expression over filters; Enter applies it",
            ),
            one_of(
                ids.at(page, ids.WHERE_MODE),
                MODES,
                view.get(ids.WHERE_MODE, ""),
                "What to do with what meets the expression",
            ),
            html.Details(
                [
                    html.Summary("Words", title="What an expression can be made of"),
                    html.Dl(known, className="menu-items stacked help"),
                ],
                className="menu",
            ),
            html.Span(id=ids.at(page, ids.WHERE_TOLD), className="wrong", role="alert"),
        ],
        className="row grow where",
    )


def pick_button(page: str, number: int) -> Component:
    """Return the button that chooses a filter.

    The script listens to it: a Dash component with an id costs a hundred times as much to mount.
    """
    return html.Button(
        f"#{number}",
        className="link",
        **aria(label=f"Choose filter {number}"),
        **data(pick=f"{page} {number}"),
    )


def picks(page: str, numbers: Sequence[int], limit: int = 12) -> list[Component]:
    """Return buttons for several filters, and how many more there are."""
    if not numbers:
        return [html.Span("none", className="muted")]
    parts: list[Component] = [pick_button(page, number) for number in numbers[:limit]]
    if len(numbers) > limit:
        parts.append(html.Span(f" and {len(numbers) - limit:,} more", className="muted"))
    return parts


def labelled(text: str, component: Component, class_name: str = "") -> Component:
    """Return a control with its name above it."""
    return html.Label([text, component], className=class_name or None)


def one_of(id_: str, options: Mapping[str, str], value: str, label: str) -> Component:
    """Return buttons of which one is pressed: values with their words."""
    return html.Div(
        dcc.RadioItems(
            id=id_,
            options=[{"label": word, "value": each} for each, word in options.items()],
            value=value if value in options else next(iter(options)),
            inline=True,
        ),
        className="choices",
        role="radiogroup",
        **aria(label=label),
    )


def structures_at_a_step(
    page: str,
    story: Story,
    recipe: Mapping[str, str],
    view: Mapping[str, str],
    *cards: Component,
    controls: Sequence[Component] = (),
    noted: bool = False,
) -> list[Component]:
    """Return what a page has that shows structures at a step: controls, graphs, cards, stores.

    Boxes that are ``noted`` have a line more than the filter, and get more room.
    """
    shown = chosen(view, story, story.first_shown)
    search = search_box(page, view.get(ids.SEARCH, ""))
    asked = [structure_choice(page, story, shown), *controls, search, where_box(page, view)]
    return [
        html.Div(asked, className="toolbar"),
        transport(page, len(story), chosen_step(view, story)),
        graph_area(page, story, shown, *cards, noted=noted),
        *stores(page, recipe, view),
    ]


def graph_area(
    page: str, story: Story, shown: Sequence[str], *cards: Component, noted: bool = False
) -> Component:
    """Return the graphs of structures, with the cards beside them, and the store of which."""
    return html.Div(
        [
            html.Div(
                grid(page, {each: title(story, each) for each in shown}),
                id=ids.at(page, ids.GRID),
                className=grid_class(len(shown)),
            ),
            inspector(*cards),
            dcc.Store(id=ids.at(page, ids.MOUNTED), data=list(shown)),
        ],
        className="work noted" if noted else "work",
    )


def card(heading: str, *content: Component, class_name: str = "card") -> Component:
    """Return a card with a heading."""
    return html.Section([html.H2(heading), *content], className=class_name)


def badge(verdict: Verdict) -> Component:
    """Return in a word whether a file is what it promises."""
    if verdict.ok is None:
        return html.Span("? not checked", className="badge na")
    if verdict.ok:
        return html.Span("✓ check() holds", className="badge holds")
    return html.Span(f"✗ {verdict.invariant} violated", className="badge violated")


def verdict_card(page: str, story: Story, verdict: Verdict) -> Component:
    """Return what check() says of an uploaded file, with witnesses that open in the graph."""
    said: list[Component] = [html.Div(badge(verdict), className="row")]
    if verdict.ok is None:
        said.append(
            html.P(
                f"Every two of {len(story.filters):,} filters may have to be compared, which takes "
                "a while.",
                className="muted",
            )
        )
        said.append(html.Button("Check it now", id=ids.at(page, ids.CHECK)))
    elif verdict.ok:
        said.append(
            html.P(
                "The file keeps every promise of its structure. A forest's shape depends on the "
                "order of its updates: the twin, rebuilt from the same pairs, may be another.",
                className="muted",
            )
        )
    else:
        said.append(html.P(MEANINGS.get(verdict.invariant, "")))
        if verdict.total > len(verdict.faults):
            said.append(html.P(f"{len(verdict.faults)} of {verdict.total:,} violations shown."))
        said += [_fault(page, place, fault) for place, fault in enumerate(verdict.faults, 1)]
    return card("Check of the file", *said)


def _fault(page: str, place: int, fault: Fault) -> Component:
    words = [html.Div(fault.what, className="filter")]
    words += [html.Div(sentence, className="muted") for sentence in fault.why]
    return html.Div(
        [
            html.Button(
                "Open",
                className="small",
                **aria(label=f"Open witness {place} in the graph"),
                **data(show=" ".join([page, *map(str, fault.numbers)])),
            ),
            html.Div(words),
        ],
        className="witness",
    )


def script_card(
    page: str,
    text: str,
    *,
    words: tuple[str, str, str],
    examples: Iterable[tuple[dict[str, str], str]],
    lines: Iterable[tuple[str, str]],
    limits: str,
) -> Component:
    """Return the card of a page that has a text of its own in the place of the source.

    ``words`` are its heading, the name of the text, and what the button says; ``examples`` the ids
    of their buttons with titles; ``lines`` what a line can be, each with what it does.
    """
    heading, label, button = words
    shown = [html.Li(html.Button(title, id=id_, className="link")) for id_, title in examples]
    known = [each for line, means in lines for each in (html.Dt(html.Code(line)), html.Dd(means))]
    return card(
        heading,
        html.Label(
            [
                html.Span(label, className="visually-hidden"),
                dcc.Textarea(id=ids.at(page, ids.SCRIPT), value=text, spellCheck=False),
            ]
        ),
        html.Div(
            html.Button(button, id=ids.at(page, ids.USE_SCRIPT), className="primary"),
            className="row spaced",
        ),
        html.Details([html.Summary("Examples"), html.Ul(shown, className="plain")], open=True),
        html.Details(
            [
                html.Summary("What a line can be"),
                html.Dl(known, className="stacked"),
                html.P(limits, className="muted"),
            ]
        ),
        class_name="card the-run",
    )


def told_filter(number: int, text: str) -> Component:
    """Return a filter by its number and text."""
    return html.P([html.Strong(f"#{number} "), html.Span(text, className="filter")])


def inspector(*cards: Component) -> Component:
    """Return the column beside the graphs."""
    return html.Div(list(cards), className="inspector")


def chosen(view: Mapping[str, str], story: Story, default: Sequence[str]) -> list[str]:
    """Return the structures that a view names, of those that there are."""
    named = [each for each in view.get(ids.SHOW, "").split(",") if each in story.structures]
    return named or [each for each in default if each in story.structures]


def chosen_step(view: Mapping[str, str], story: Story) -> int:
    """Return the step that a view names; without one, the last that is still quick."""
    text = view.get(ids.STEP, "")
    if text.isascii() and text.isdigit() and len(text) < 10:
        return min(int(text), len(story))
    return min(len(story), QUICK)

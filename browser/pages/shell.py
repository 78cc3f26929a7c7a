"""What every page has around it: the bar, the source of the filters, the message, the stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dash import Dash, Input, Output, State, dcc, html
from dash.exceptions import PreventUpdate

from browser import ids
from browser.pages import source_panel
from browser.pages.attributes import aria, clientside, data
from browser.pages.registry import PAGES
from browser.sources import SourceError
from browser.state import Library, from_query, recipe_of
from browser.story import STRUCTURES
from browser.words import GUIDE, KEYS, WORDS, about_structure

__all__ = ["layout", "register", "window_title"]

Component = Any


def window_title(page: str | None) -> str:
    """Return what the window is called while a page is open.

    >>> window_title("Match"), window_title(None)
    ('Match · posetlib browser', 'posetlib browser')
    """
    return f"{page} · {_NAME}" if page else _NAME


_NAME = "posetlib browser"


def layout(app: Dash, library: Library) -> Component:
    """Return the frame of all pages."""
    return html.Div(
        [
            dcc.Location(id=ids.URL, refresh=False),
            *(dcc.Store(id=each) for each in (ids.RECIPE, ids.VIEW, ids.BOOTED, ids.SINK)),
            html.A("Skip to the page", href="#main", className="skip"),
            html.Header(
                [
                    html.Div(_NAME, className="brand"),
                    html.Nav(
                        [dcc.Link(page.title, href=_address(app, page.path)) for page in PAGES],
                        className="nav",
                        **aria(label="Pages"),
                    ),
                    html.Button("Guide", id="guide-open", title="Five steps for a first visit"),
                    html.Button(
                        "?",
                        id="help-open",
                        title="Keys and words (press ?)",
                        **aria(label="Keys and words"),
                    ),
                    html.Button(
                        "Present",
                        id="present",
                        title="Graphs and steps alone, on the whole screen (press P)",
                    ),
                    html.Button(
                        "☰ Source",
                        id=ids.TOGGLE_SOURCES,
                        title="Show or hide where the filters come from",
                        **aria(expanded="true", controls="sources"),
                    ),
                    html.Button(
                        "◐ Dark",
                        id=ids.THEME,
                        title="Dark or light",
                        **aria(pressed="false"),
                    ),
                ],
                className="bar",
            ),
            html.Div(
                [
                    source_panel.layout(library),
                    html.Main(
                        [
                            html.Div(id=ids.MESSAGE, className="message", role="alert"),
                            html.Div(id=ids.PAGE),
                        ],
                        id="main",
                        tabIndex=-1,
                    ),
                ],
                className="body",
            ),
            html.Button("End", id="present-end", title="Leave the presentation (Escape)"),
            _help(),
            _guide(),
        ]
    )


def _help() -> Component:
    """Return the dialog with the keys, and a sentence for each word."""
    rows: list[tuple[Component, str]] = [(html.Kbd(key), words) for key, words in KEYS.items()]
    rows += [(word, sentence) for word, sentence in WORDS.items()]
    rows += [(name.upper(), about_structure(name)) for name in STRUCTURES]
    cells = [each for name, words in rows for each in (html.Dt(name), html.Dd(words))]
    return html.Dialog(
        [
            # First, since it has the focus: the dialog opens where that is.
            html.Div(
                [
                    html.H2("Keys and words"),
                    html.Button("Close", id="help-close", className="primary"),
                ],
                className="dialog-head",
            ),
            html.Dl(cells),
        ],
        id="help",
        **aria(label="Keys and words"),
    )


def _guide() -> Component:
    stops = [
        html.Div(
            [html.H2(f"{place} of {len(GUIDE)}: {stop.heading}"), html.P(stop.words)],
            className="stop",
            hidden=place > 1,
            **data(about=stop.about),
        )
        for place, stop in enumerate(GUIDE, 1)
    ]
    buttons = [
        html.Button("Back", id="guide-back"),
        html.Button("Next", id="guide-next", className="primary"),
        html.Button("Close", id="guide-close"),
    ]
    return html.Dialog(
        [*stops, html.Div(buttons, className="row")], id="guide", **aria(label="Guide")
    )


def _first_story(
    library: Library, sources: Sequence[Callable[[], dict[str, str]]]
) -> tuple[dict[str, str], list[str]]:
    """Return the first recipe of which there is a story, and what was wrong with those before."""
    faults: list[str] = []
    for source in sources:
        try:
            recipe = source()
            library.story(recipe)
        except SourceError as error:
            faults.append(str(error))
        else:
            return recipe, faults
    raise AssertionError(faults)  # the last of them is generated, which cannot fail


def _address(app: Dash, path: str) -> str:
    """Return the path of a page where the app is mounted."""
    return str(app.get_relative_path(path))  # type: ignore[no-untyped-call]


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the frame."""
    source_panel.register(app, library)

    def start() -> dict[str, str]:
        if library.config.broker:
            return library.ask_broker()
        return {"from": "workload"} if library.config.workload else {"from": "generate"}

    @app.callback(
        Output(ids.RECIPE, "data"),
        Output(ids.VIEW, "data"),
        Output(ids.BOOTED, "data"),
        Output(ids.MESSAGE, "children"),
        Input(ids.URL, "search"),
        State(ids.BOOTED, "data"),
    )
    def boot(search: str | None, booted: bool | None) -> Any:
        # Only what a person opens counts: the page's own changes of the address are its own.
        if booted:
            raise PreventUpdate
        view = from_query(search or "")
        asked = recipe_of(view)
        sources: list[Callable[[], dict[str, str]]] = [start, lambda: {"from": "generate"}]
        if asked:
            sources.insert(0, lambda: asked)
        recipe, faults = _first_story(library, sources)
        if faults and asked:
            # What belongs to one page alone has nothing to do with the source.
            view = {name: value for name, value in view.items() if ids.is_apart(name)}
        message = " – ".join(faults)
        shown = {name: value for name, value in view.items() if name not in recipe}
        return recipe, shown, True, message

    @app.callback(
        Output(ids.PAGE, "children"),
        Input(ids.URL, "pathname"),
        Input(ids.RECIPE, "data"),
        State(ids.BOOTED, "data"),
        State(ids.VIEW, "data"),
    )
    def show_page(pathname: str | None, recipe: Any, booted: bool | None, view: Any) -> Any:
        if not booted:
            raise PreventUpdate
        path = "/" + (app.strip_relative_path(pathname or "/") or "")
        for page in PAGES:
            if page.path == path:
                return page.layout(library, recipe, view or {})
        return html.Div(
            [html.H1("No such page"), html.P("The bar above leads to those that there are.")]
        )

    clientside(
        app,
        "address",
        Output(ids.SINK, "data"),
        Input(ids.RECIPE, "data"),
        Input(ids.VIEW, "data"),
        Input(ids.URL, "pathname"),
    )
    clientside(
        app,
        "nav",
        Output(ids.SINK, "data", allow_duplicate=True),
        Input(ids.URL, "pathname"),
        Input(ids.PAGE, "children"),
    )

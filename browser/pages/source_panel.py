"""The panel with the source of the filters: generate, type, upload, open."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from browser import ids
from browser.checking import check_file
from browser.config import Limits
from browser.directories import snapshots
from browser.elements import counted
from browser.examples import EXAMPLES
from browser.generating import FIELDS, KINDS, Field
from browser.pages import parts
from browser.pages.attributes import aria, data
from browser.sources import SourceError
from browser.state import TEXT_CHARS, Library
from browser.story import FILE

__all__ = ["decoded", "layout", "register", "upload"]

Component = Any
_OFFERED = 30
#: What of a view stays when the source changes.
_KEPT = frozenset({ids.SHOW, ids.SIDEWAYS, ids.MODE, ids.LOOK, ids.REACH})
_TYPED = """\
# interface: filter
I1: x in [0, 50]
I2: x in [10, 40]
I3: x in [20, 30] and y > 5
"""


def layout(library: Library) -> Component:
    """Return the panel."""
    fields = [
        html.Label(["Kind", dcc.Dropdown(list(KINDS), KINDS[0], id=ids.KIND, clearable=False)]),
        *(_field(field) for field in FIELDS if not field.advanced),
    ]
    advanced = [_field(field) for field in FIELDS if field.advanced]
    limits = library.config.limits
    workload = library.config.workload
    return html.Aside(
        [
            html.H2("Source", className="visually-hidden"),
            html.Div(id=ids.SOURCE_TITLE),
            html.Div(id=ids.LEGEND, className="legend", role="note", **aria(label="Interfaces")),
            html.Div(
                html.Button(
                    "⟳ Refresh",
                    id=ids.OPEN_BROKER,
                    title="Ask the running broker for its table, as it is now",
                ),
                className="row spaced",
                hidden=library.config.broker is None,
            ),
            html.Br(),
            html.Details(
                [
                    html.Summary("Generate"),
                    html.Div(fields, className="fields"),
                    html.Details(
                        [html.Summary("More parameters"), html.Div(advanced, className="fields")]
                    ),
                    html.Button("Generate", id=ids.GENERATE, className="primary"),
                ],
                open=True,
            ),
            html.Details(
                [
                    html.Summary("Type"),
                    html.P(
                        [
                            "One operation per line: ",
                            html.Code("I1: x > 3"),
                            " adds, ",
                            html.Code("- I1: x > 3"),
                            " removes, ",
                            html.Code("drop I1"),
                            " drops an interface.",
                        ],
                        className="muted",
                    ),
                    html.Label(
                        [
                            html.Span("Filters, one per line", className="visually-hidden"),
                            dcc.Textarea(id=ids.TYPED, value=_TYPED, spellCheck=False),
                        ]
                    ),
                    html.Button("Use these", id=ids.USE_TYPED, className="primary"),
                ]
            ),
            html.Details([html.Summary("Upload"), upload(ids.UPLOAD, limits, multiple=True)]),
            html.Details(
                [
                    html.Summary("Open"),
                    html.Button(
                        f"Workload {workload.name}" if workload else "No workload was given",
                        id=ids.OPEN_WORKLOAD,
                        className="link" if workload else "",
                        disabled=workload is None,
                        title="python -m browser --workload DIRECTORY",
                    ),
                    *_tables(library),
                    html.H3("Examples"),
                    html.Ul(
                        [
                            html.Li(html.Button(each.title, id=ids.example(name), className="link"))
                            for name, each in EXAMPLES.items()
                        ],
                        className="plain",
                    ),
                ]
            ),
        ],
        id="sources",
        className="sources",
        **aria(label="Where the filters come from"),
    )


def _tables(library: Library) -> list[Component]:
    """Return a button for each table that the jobs have built, and around what to open it."""
    found = snapshots(library.config)[:_OFFERED]
    return [
        html.Div(
            [
                html.H3("Tables of the jobs"),
                html.Ul(
                    [
                        html.Li(html.Button(name, id=ids.table(name), className="link"))
                        for name, _ in found
                    ],
                    className="plain",
                ),
                html.Label(
                    [
                        "Of a large one, around id or filter",
                        dcc.Input(id=ids.AROUND, type="text", value="", placeholder="0"),
                    ]
                ),
            ],
            hidden=not found,
        )
    ]


def _field(field: Field) -> Component:
    return html.Label(
        [
            field.label,
            dcc.Input(
                id=ids.field(field.name),
                type="number",
                value=field.default,
                min=field.low,
                max=field.high,
                step=1 if field.whole else "any",
            ),
        ]
    )


def upload(id_: str, limits: Limits, *, multiple: bool = False, what: str = "") -> Component:
    """Return the place to drop a file."""
    what = what or (
        "Snapshot or trace (JSON), GraphML, node-link JSON, a workload (Parquet parts, JSON lines, "
        "a JSON list, CSV with or without a column operation), or text with one operation per line"
    )
    return html.Div(
        [
            dcc.Upload(
                # A button, since keys do not reach the place itself.
                [html.Button("Choose a file"), " or drop it here"],
                id=id_,
                className="upload",
                multiple=multiple,
            ),
            html.P(f"{what}; up to {limits.upload_bytes >> 20} MB.", className="muted"),
        ],
        **data(max_bytes=str(limits.upload_bytes)),
    )


def decoded(contents: str, limits: Limits) -> bytes:
    """Return the bytes of a file as the page sends it: a data URL in base 64."""
    _, _, encoded = contents.partition(",")
    if len(encoded) > limits.upload_bytes * 4 // 3 + 8:
        raise SourceError(f"an upload may have up to {limits.upload_bytes:,} bytes")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise SourceError("the upload was damaged on its way") from None


def register(app: Dash, library: Library) -> None:  # noqa: PLR0915 - callbacks, one by one
    """Add the callbacks of the panel."""
    limits = library.config.limits

    @app.callback(
        Output(ids.RECIPE, "data", allow_duplicate=True),
        Output(ids.VIEW, "data", allow_duplicate=True),
        Output(ids.MESSAGE, "children", allow_duplicate=True),
        Input(ids.GENERATE, "n_clicks"),
        Input(ids.USE_TYPED, "n_clicks"),
        Input(ids.UPLOAD, "contents"),
        Input(ids.OPEN_WORKLOAD, "n_clicks"),
        Input(ids.OPEN_BROKER, "n_clicks"),
        Input({"type": "example", "name": ALL}, "n_clicks"),
        Input({"type": "table", "name": ALL}, "n_clicks"),
        State(ids.AROUND, "value"),
        State(ids.KIND, "value"),
        State(ids.TYPED, "value"),
        State(ids.UPLOAD, "filename"),
        State(ids.VIEW, "data"),
        *(State(ids.field(field.name), "value") for field in FIELDS),
        prevent_initial_call=True,
    )
    def choose_source(
        _generate: Any,
        _typed: Any,
        contents: list[str] | None,
        _workload: Any,
        _broker: Any,
        _examples: Any,
        _tables: Any,
        around: str | None,
        kind: str,
        text: str | None,
        names: list[str] | None,
        view: dict[str, str] | None,
        *values: Any,
    ) -> Any:
        by = ctx.triggered_id
        if not ctx.triggered or ctx.triggered[0]["value"] in (None, []):
            raise PreventUpdate
        try:
            if by == ids.GENERATE:
                recipe = {"from": "generate", "kind": kind}
                for field, value in zip(FIELDS, values, strict=True):
                    if value is None:
                        low, high = f"{field.low:,}", f"{field.high:,}"
                        raise SourceError(f"{field.label} is a number between {low} and {high}")
                    recipe[field.name] = str(value)
            elif by == ids.USE_TYPED:
                recipe = {"from": "text", "text": text or ""}
                if len(text or "") > TEXT_CHARS:
                    key = library.keep([("typed.txt", (text or "").encode())])
                    recipe = {"from": "document", "doc": key}
            elif by == ids.UPLOAD:
                # The page hands files over in the order in which it happened to read them. By
                # name, the same upload is the same document, and parts follow one another.
                files = sorted(
                    (name, decoded(content, limits))
                    for name, content in zip(names or [], contents or [], strict=False)
                )
                recipe = {"from": "document", "doc": library.keep(files)}
            elif by == ids.OPEN_WORKLOAD:
                recipe = {"from": "workload"}
            elif by == ids.OPEN_BROKER:
                recipe = library.ask_broker()
            elif by["type"] == "table":
                recipe = {"from": "table", "table": by["name"], "around": around or ""}
            else:
                recipe = {"from": "example", "example": by["name"]}
            holds_table = library.story(recipe).source.snapshot is not None
        except SourceError as error:
            return no_update, no_update, str(error)
        # The same structures and page, from the start of something new; but a table that was
        # brought along is what is shown, whatever was chosen before.
        had_table = FILE in (view or {}).get(ids.SHOW, "").split(",")
        kept = _KEPT - {ids.SHOW} if holds_table or had_table else _KEPT
        view = {
            name: value
            for name, value in (view or {}).items()
            # What belongs to one page alone has nothing to do with the source.
            if name in kept or ids.is_apart(name)
        }
        if recipe["from"] == "example":
            view[ids.STEP] = "0"  # to be gone through, with a caption for each step
        return recipe, view, ""

    @app.callback(
        Output(ids.SOURCE_TITLE, "children"),
        Output(ids.LEGEND, "children"),
        Input(ids.RECIPE, "data"),
        prevent_initial_call=True,
    )
    def tell_source(recipe: Any) -> Any:
        story = library.story(recipe)
        count = len(story)
        title: list[Component] = [
            html.Strong(story.source.title),
            html.Div(
                f"{counted(count, 'operation')}, {counted(len(story.number), 'filter')}, "
                f"{counted(len(story.interfaces), 'interface')}",
                className="muted",
            ),
        ]
        verdict = check_file(story)
        if verdict is not None:
            title.append(html.Div(parts.badge(verdict), className="row"))
        if story.source.note:
            title.append(html.Div(story.source.note, className="note"))
        return title, parts.legend(story)

    @app.callback(
        Output(ids.TYPED, "value"),
        Output(ids.KIND, "value"),
        *(Output(ids.field(field.name), "value") for field in FIELDS),
        Input(ids.RECIPE, "data"),
        prevent_initial_call=True,
    )
    def repeat(recipe: Any) -> Any:
        """Let the fields show what is open, also when it comes from an address."""
        kept = [no_update] * (1 + len(FIELDS))
        if recipe["from"] == "text":
            return recipe.get("text", ""), *kept
        if recipe["from"] == "example":
            return EXAMPLES[recipe["example"]].text, *kept
        if recipe["from"] != "generate":
            return no_update, *kept
        values = [float(recipe.get(field.name) or field.default) for field in FIELDS]
        fields = [int(value) if value == int(value) else value for value in values]
        return no_update, recipe.get("kind", KINDS[0]), *fields

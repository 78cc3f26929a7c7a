"""Network: brokers and clients, a message on its way step by step, algorithms side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

import posetlib as pl
from browser import ids
from browser.config import Limits
from browser.elements import counted
from browser.listing import Cell, listing, pick_named
from browser.network.comparing import MEASURES, Counts, bars, comparison
from browser.network.drawing import network_drawing, numbers_of
from browser.network.examples import RUNS
from browser.network.moving import subscriptions_in
from browser.network.player import AS_WRITTEN, TABLES, Settings, settings_from
from browser.network.run import Held, Moment, Run
from browser.pages import parts
from browser.pages.stepping import (
    register_graphs,
    register_list,
    register_memory,
    register_transport,
)
from browser.shortening import short
from browser.sources import SourceError
from browser.state import TEXT_CHARS, Library, to_query
from posetlib.simulation import NETWORK_ALGORITHMS, PROTOCOLS, SAFE_PROTOCOLS

__all__ = ["layout", "register"]

Component = Any
NAME = "network"
_PANEL = ids.panel(NAME, "map")
_START = f"example:{next(iter(RUNS))}"
#: Deliveries that are told of an operation that is followed; a large tree has more.
_TOLD = 60
#: The choice of no subscription, whose links would be marked.
_NO_LINKS = "none"
_HELP = (
    ("link B1 B2", "joins two brokers; they are a tree"),
    ("client ann B1", "attaches a client"),
    ("ann subscribe x > 3", "likewise unsubscribe, advertise, unadvertise"),
    ("ann replace x > 3 => x > 5", "one subscription for another"),
    ('ann publish {"x": 5}', "publishes a notification"),
    ("ann move B3", "a client moves; ann move B3 by linger says the protocol"),
    ("ann leave", "she goes, and her broker queues; ann leave B3 tells it where to"),
    ("ann arrive B3", "she comes to a broker"),
    ("ann detach", "a client goes for good, with all that it asked for"),
    ("run", "delivers all that is under way"),
    ("step", "delivers one message; step 3, step B1 B2 on one link, step B1 B3 direct beside them"),
    ("break B1 B2", "breaks a link, and heal mends it"),
    ("master B1", "makes a hierarchy, with B1 at its top"),
    ("rendezvous B1 x > 0", "an event type meets at a broker; needs advertisements"),
    ("# a comment", "is the caption of the line below it"),
)


def _at(part: str) -> str:
    return ids.at(NAME, part)


# -- the page --------------------------------------------------------------------------------------


def layout(library: Library, _recipe: dict[str, str], view: dict[str, str]) -> Component:
    """Return the page as a view asks for it; what cannot be run is told, and an example shown."""
    problem = ""
    source = view.get(_at(ids.RUN), _START)
    try:
        settings = _settings_of(source, view)
        run = library.run(source, settings)
    except SourceError as error:
        problem, source, view = f"The run of this address cannot be shown: {error}", _START, {}
        settings = _settings_of(source, view)
        run = library.run(source, settings)
    step = view.get(_at(ids.STEP), "")
    number = int(step) if step.isascii() and step.isdigit() and len(step) < 9 else len(run)
    limits = library.config.limits
    return html.Div(
        [
            parts.head(
                "Network",
                "Brokers, what they tell one another, and the way of every message.",
            ),
            html.Div(problem, id=_at(ids.PROBLEM), className="message", role="alert"),
            _choices(
                settings, run, view.get(_at(ids.FOLLOW), ""), view.get(_at(ids.SUBSCRIPTION), "")
            ),
            html.Div(
                [
                    _the_run(library.run_text(source), limits),
                    html.Div(
                        [
                            parts.transport(
                                NAME, len(run), run.clamp(number), "How many steps are done"
                            ),
                            html.Div(_notes(run), id=_at(ids.NOTES)),
                            html.Div(
                                [
                                    html.Div(
                                        parts.graph_panel(_PANEL, "Network", fold=False),
                                        className="grid one",
                                    ),
                                    _beside(),
                                ],
                                className="work tall",
                            ),
                        ],
                        className="run-shown",
                    ),
                ],
                className="with-run",
            ),
            _side_by_side(),
            dcc.Store(id=_at(ids.RUN), data=source),
            *parts.stores(NAME, _here(source, settings), {ids.NODE: view.get(_at(ids.NODE), "")}),
        ],
        className="own-source",
    )


def _settings_of(source: str, view: Mapping[str, str]) -> Settings:
    """Return the settings of a view; what it leaves open is as an example has it."""
    example = RUNS.get(source.removeprefix("example:"))
    default = example.settings if example else Settings()
    stated = any(view.get(_at(each)) for each in (ids.ALGORITHM, ids.TABLE))
    return settings_from(
        view.get(_at(ids.ALGORITHM), default.algorithm),
        # An empty choice is left out of the address: beside a stated one, it is a choice.
        view.get(_at(ids.ADVERTISEMENTS), "" if stated else default.advertisements),
        view.get(_at(ids.TABLE), default.table),
        view.get(_at(ids.SEED), default.seed),
        view.get(_at(ids.PROTOCOL), default.protocol),
    )


def _here(source: str, settings: Settings) -> dict[str, Any]:
    return {"source": source, **asdict(settings)}


def _run_here(library: Library, here: Mapping[str, Any]) -> Run:
    return library.run(here["source"], _settings_here(here))


def _settings_here(here: Mapping[str, Any]) -> Settings:
    names = ("algorithm", "advertisements", "table", "seed", "protocol")
    return settings_from(*(here[each] for each in names))


def _choices(settings: Settings, run: Run, follow: str, subscription: str) -> Component:
    followable = follow_options(run)
    dropdowns = (
        ("Algorithm", ids.ALGORITHM, NETWORK_ALGORITHMS, settings.algorithm, "choose wide"),
        ("Table", ids.TABLE, TABLES, settings.table, "choose"),
        ("Moves by", ids.PROTOCOL, _protocols(), settings.protocol, "choose wide"),
    )
    return html.Div(
        [
            *(
                parts.labelled(
                    label,
                    dcc.Dropdown(_offered(options), value, id=_at(part), clearable=False),
                    class_name,
                )
                for label, part, options, value, class_name in dropdowns
            ),
            parts.labelled(
                "Seed",
                dcc.Input(
                    id=_at(ids.SEED),
                    type="number",
                    value=settings.seed,
                    min=0,
                    max=999_999,
                    step=1,
                    debounce=True,
                ),
                "choose",
            ),
            html.Div(
                dcc.Checklist(
                    id=_at(ids.ADVERTISEMENTS),
                    options=[{"label": "Advertisements", "value": "yes"}],
                    value=["yes"] if settings.advertisements else [],
                ),
                className="choice",
            ),
            parts.labelled(
                "Links for",
                dcc.Dropdown(
                    subscription_options(run),
                    chosen_subscription(run, subscription),
                    id=_at(ids.SUBSCRIPTION),
                    clearable=False,
                ),
                "choose wide",
            ),
            parts.labelled(
                "Follow",
                dcc.Dropdown(
                    followable,
                    follow if any(each["value"] == follow for each in followable) else None,
                    id=_at(ids.FOLLOW),
                    placeholder="an operation, through all brokers",
                ),
                "grow",
            ),
        ],
        className="toolbar end",
    )


def _offered(options: Mapping[str, str] | Sequence[str]) -> list[dict[str, str]]:
    """Return values with their words, as a dropdown takes them."""
    words = options if isinstance(options, Mapping) else {each: each for each in options}
    return [{"label": word, "value": each} for each, word in words.items()]


def _protocols() -> dict[str, str]:
    """Return the protocols of moves with their words."""
    unsafe = {each: f"{each} (unsafe)" for each in PROTOCOLS if each not in SAFE_PROTOCOLS}
    return {AS_WRITTEN: AS_WRITTEN, **{each: each for each in SAFE_PROTOCOLS}, **unsafe}


def subscription_options(run: Run) -> list[dict[str, str]]:
    """Return the subscriptions whose links can be marked, by their lines."""
    found = [
        {"label": short(f"{client}: {item}", 50), "value": str(line)}
        for line, (client, item) in subscriptions_in(run.script).items()
    ]
    return [{"label": "no subscription", "value": _NO_LINKS}, *found]


def chosen_subscription(run: Run, asked: Any) -> str:
    """Return the subscription that is asked for; else the first one of a client that moves."""
    found = subscriptions_in(run.script)
    if asked == _NO_LINKS or str(asked) in map(str, found):
        return str(asked)
    movers = run.script.movers
    lines = [line for line, (client, _) in found.items() if client in movers]
    if movers and not lines:  # the one that moves publishes
        lines = list(found)
    return str(lines[0]) if lines else _NO_LINKS


def follow_options(run: Run) -> list[dict[str, str]]:
    """Return the operations that can be followed, by their lines."""
    return [
        {"label": f"line {each.line}: {short(each.text, 70)}", "value": str(each.line)}
        for each in run.origins()
    ]


def _the_run(text: str, limits: Limits) -> Component:
    return parts.script_card(
        NAME,
        text,
        words=("The run", "One operation a line", "Run this"),
        examples=[(ids.run_example(name), each.title) for name, each in RUNS.items()],
        lines=_HELP,
        limits=f"Up to {limits.brokers:,} brokers, {limits.clients:,} clients, "
        f"{limits.operations:,} operations and {limits.deliveries:,} messages. At the end all that "
        "is under way is delivered.",
    )


def _beside() -> Component:
    return parts.inspector(
        parts.card("This step", html.Div(id=_at(ids.MOMENT), role="status")),
        parts.card("Due and delivered", html.Div(id=_at(ids.AUDIT))),
        parts.card("Chosen broker or client", html.Div(id=_at(ids.DETAIL))),
        parts.card("Followed", html.Div(id=_at(ids.FOLLOWED), className="scroll")),
        parts.card("All brokers", parts.long_list(NAME, ids.ROWS), class_name="card list"),
    )


def _side_by_side() -> Component:
    return parts.card(
        "The whole run by every algorithm",
        html.Div(
            html.Button("Count for all algorithms", id=_at(ids.COMPARE)), className="row spaced"
        ),
        parts.long_list(NAME, ids.COMPARISON),
        html.Div(id=_at(ids.BARS), className="bar-charts"),
        class_name="card spaced",
    )


# -- what is told ----------------------------------------------------------------------------------


def _notes(run: Run) -> list[Component]:
    return [html.Div(each, className="note") for each in run.notes]


def step_text(run: Run, number: int) -> str:
    """Return what happened at a moment, in one line."""
    moment = run.moments[number]
    line = f" (line {moment.line})" if moment.line else ""
    return f"Step {number:,} of {len(run):,}{line}: {short(moment.text, 160)}"


def reasons_list(moment: Moment) -> Component:
    """Return why a broker did what it did at a moment."""
    return html.Ul([html.Li(each) for each in moment.reasons])


def moment_card(moment: Moment) -> list[Component]:
    """Return what happened at a moment, and why."""
    if not moment.number:
        return [html.P("Nothing has happened yet: step or play.", className="muted")]
    told: list[Component] = [html.P(moment.text, className="filter")]
    if moment.clients:
        told.append(
            html.P(
                html.Span(f"✓ delivered to {', '.join(moment.clients)}", className="chip matched")
            )
        )
    return [*told, reasons_list(moment)]


def audit_card(audit: pl.Audit, queued: int = 0) -> list[Component]:
    """Return what was due up to a moment, what waits in queues, and what came of it."""
    faults = audit.faults
    sign, look = (
        ("✓ no fault", "holds") if not faults else (f"✗ {counted(faults, 'fault')}", "violated")
    )
    names = "due delivered missed unwanted duplicates out_of_order excused unfinished".split()
    counts = {each: getattr(audit, each) for each in names}
    counts = {"due": counts.pop("due"), "queued": queued, **counts}
    return [
        html.P(html.Span(sign, className=f"badge {look}")),
        html.Dl(
            [
                each
                for name, count in counts.items()
                for each in (
                    html.Dt(name.replace("_", " ")),
                    html.Dd(
                        html.Strong(f"✗ {count:,}") if name == "missed" and count else f"{count:,}"
                    ),
                )
            ],
            className="counts",
        ),
        html.Ul([html.Li(each) for each in audit.witnesses[:_TOLD]]),
    ]


def followed_card(run: Run, line: int | None, number: int) -> list[Component]:
    """Return the way of an operation through the brokers up to a moment, with reasons."""
    if line is None:
        return [
            html.P(
                "Choose an operation above: a publication, or what a client asked for. Its way is "
                "marked in the network, and told here.",
                className="muted",
            )
        ]
    all_of_it = run.followed(line)
    done = [each for each in all_of_it if each.number <= number]
    told: list[Component] = []
    for moment in done[:_TOLD]:
        told.append(html.H3(f"Step {moment.number:,}: {moment.text}"))
        told.append(reasons_list(moment))
    if len(done) > _TOLD:
        told.append(html.P(f"And {len(done) - _TOLD:,} more steps.", className="muted"))
    left = len(all_of_it) - len(done)
    if left and done:
        told.append(html.P(f"{counted(left, 'step')} of it still to come.", className="muted"))
    return told or [html.P("It has not begun yet.", className="muted")]


def broker_list(run: Run, number: int, chosen: Any) -> dict[str, Any]:
    """Return all brokers with their sizes at a moment, each with a button that chooses it."""
    sizes = run.sizes(number)
    at: dict[str, list[str]] = {}
    for client, broker in run.clients(number).items():
        at.setdefault(broker, []).append(client)
    for stay in run.stays(number):
        if not stay.is_last:
            at.setdefault(stay.broker, []).append(f"({stay.client})")
    numbers = numbers_of(run.script)
    rows: list[list[Cell]] = [
        [
            pick_named(NAME, numbers[broker], "broker", broker),
            f"{sizes[broker]:,}",
            ", ".join(at.get(broker, ())),
        ]
        for broker in run.script.brokers
    ]
    classes = ["picked" if numbers[each] == chosen else "" for each in run.script.brokers]
    return listing(["Broker", "Filters", "Clients"], rows, classes=classes)


def held_table(rows: Sequence[Held], limit: int) -> Component:
    """Return what a broker holds: from whom, and to whom it was sent."""
    if not rows:
        return html.P("none", className="muted")
    head = html.Tr([html.Th(each) for each in ("Filter", "From", "Sent to")])
    body = [
        html.Tr(
            [
                html.Td(html.Span(str(each.filter), className="filter")),
                html.Td(", ".join(each.sources) or "a merger"),
                html.Td(", ".join(each.sent_to) or "–"),
            ]
        )
        for each in rows[:limit]
    ]
    more = [html.P(f"The first {limit} of {len(rows):,}.", className="muted")]
    return html.Div(
        [
            html.Div(html.Table([html.Thead(head), html.Tbody(body)]), className="scroll"),
            *(more if len(rows) > limit else ()),
        ]
    )


def broker_card(run: Run, broker: str, number: int, limit: int, address: str) -> list[Component]:
    """Return what a broker holds after a moment, with a link to its table on the first page."""
    rows = run.held(broker, number)
    told: list[Component] = [
        html.H3(broker),
        html.P("Subscriptions", className="label"),
        held_table(rows, limit),
    ]
    if run.settings.advertisements:
        told += [
            html.P("Advertisements", className="label"),
            held_table(run.held(broker, number, "advertise"), limit),
        ]
    if address:
        told.append(html.P(html.A("Open this table on the Tables page", href=address)))
    return told


def table_text(rows: Sequence[Held], types: str = "") -> str:
    r"""Return the table of a broker as operations that the Tables page reads.

    >>> table_text([Held(pl.parse_filter("x > 3"), ("B1", "ann"), ())])
    'B1: x > 3\nann: x > 3'
    """
    lines = [f"{source}: {each.filter}" for each in rows for source in each.sources]
    return "\n".join([f"types: {types}", *lines] if types and lines else lines)


def client_card(run: Run, client: str, number: int, limit: int) -> list[Component]:
    """Return what a client asked for and got, up to a moment."""
    broker = run.clients(number).get(client)
    if broker is None:
        return [html.H3(client), html.P("It is not there at this step.", className="muted")]
    with run.network_at(number) as network:
        told = {
            "Subscribes to": [str(each) for each in network.subscriptions(client)],
            "Advertises": [str(each) for each in network.advertisements(client)],
            "Was delivered": [str(each) for each in network.deliveries(client)],
        }
    told["Sessions"] = [str(each) for each in run.stays(number) if each.client == client]
    made: list[Component] = [html.H3(f"{client} at {broker}")]
    for heading, lines in told.items():
        if lines:
            made.append(html.P(heading, className="label"))
            made.append(html.Ul([html.Li(each, className="filter") for each in lines[-limit:]]))
    return made


def bar_charts(found: Sequence[Counts]) -> list[Component]:
    """Return a chart of bars for each measure; numbers are written beside the bars."""
    return [
        html.Figure(
            [
                html.Figcaption(words),
                *(
                    html.Div(
                        [
                            html.Span(name, className="bar-name"),
                            html.Span(
                                html.Span(className="fill", style={"width": f"{share:.1%}"}),
                                className="bar-room",
                            ),
                            html.Span(f"{value:,}", className="bar-value"),
                        ],
                        className="bar-row",
                    )
                    for name, value, share in bars(found, measure)
                ),
            ],
            className="bar-chart",
        )
        for measure, words in MEASURES.items()
    ]


# -- callbacks -------------------------------------------------------------------------------------


def register(app: Dash, library: Library) -> None:
    """Add the callbacks of the page."""
    limits = library.config.limits
    settings_ids = (ids.ALGORITHM, ids.ADVERTISEMENTS, ids.TABLE, ids.SEED, ids.PROTOCOL)
    register_transport(app, NAME)
    register_graphs(app, NAME)
    for each in (ids.ROWS, ids.COMPARISON):
        register_list(app, NAME, each)
    register_memory(
        app,
        NAME,
        (ids.RUN, "data"),
        *((each, "value") for each in (*settings_ids, ids.STEP, ids.FOLLOW, ids.SUBSCRIPTION)),
        apart=True,
    )
    _register_choosing(app, library, settings_ids)

    @app.callback(
        Output(_at(ids.DRAWINGS), "data"),
        Output(_at(ids.STEP_TEXT), "children"),
        Output(_at(ids.MOMENT), "children"),
        Output(_at(ids.AUDIT), "children"),
        Output(_at(ids.FOLLOWED), "children"),
        Output(_at(ids.CAPTION), "children"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.STEP), "value"),
        Input(_at(ids.FOLLOW), "value"),
        Input(_at(ids.SUBSCRIPTION), "value"),
    )
    def show(here: Any, step: Any, follow: Any, subscription: Any) -> Any:
        run = _run_here(library, here)
        number = run.clamp(step or 0)
        line = int(follow) if follow else None
        moment = run.moments[number]
        marked = None if subscription in (None, _NO_LINKS) else int(subscription)
        return (
            # The page asks whether what is drawn is what the slider says.
            {_PANEL: {**network_drawing(run, number, line, marked), "step": step or 0}},
            step_text(run, number),
            moment_card(moment),
            audit_card(moment.audit, moment.queued),
            followed_card(run, line, number),
            moment.caption,
        )

    @app.callback(
        Output(_at(ids.DETAIL), "children"),
        Output(_at(ids.data_of(ids.ROWS)), "data"),
        Input(_at(ids.NODE), "data"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.STEP), "value"),
    )
    def tell(chosen: Any, here: Any, step: Any) -> Any:
        run = _run_here(library, here)
        number = run.clamp(step or 0)
        names = {each: name for name, each in numbers_of(run.script).items()}
        name = names.get(chosen)
        rows = broker_list(run, number, chosen)
        if name is None:
            hint = "Click a broker for its tables, or a client for what it asked for and got."
            return html.P(hint, className="muted"), rows
        if name in run.script.clients:
            return client_card(run, name, number, limits.rows), rows
        path = str(app.get_relative_path("/"))  # type: ignore[no-untyped-call]
        address = table_address(run, run.held(name, number))
        return broker_card(
            run, name, number, limits.rows, f"{path}{address}" if address else ""
        ), rows

    @app.callback(
        Output(_at(ids.data_of(ids.COMPARISON)), "data"),
        Output(_at(ids.BARS), "children"),
        Output(_at(ids.COMPARE), "hidden"),
        Input(_at(ids.HERE), "data"),
        Input(_at(ids.COMPARE), "n_clicks"),
    )
    def compare(here: Any, _clicks: Any) -> Any:
        run = _run_here(library, here)
        asked = ctx.triggered_id == _at(ids.COMPARE)
        work = len(run.script.brokers) * len(run.script.actions)
        if work > limits.counted_unasked and not asked:
            return listing((), (), note="This run is long: counting may take a while."), [], False
        found = library.counts(here["source"], _settings_here(here))
        return comparison(found, run.settings.algorithm), bar_charts(found), True


def table_address(run: Run, rows: Sequence[Held]) -> str:
    """Return the query that opens the table of a broker on the Tables page, "" if it is long."""
    text = table_text(rows, run.script.types)
    if not text or len(text) > TEXT_CHARS:
        return ""
    return to_query({"from": "text", "text": text, ids.SHOW: run.settings.table})


def _register_choosing(app: Dash, library: Library, settings_ids: Sequence[str]) -> None:
    """Let text, examples and settings choose the run that is shown."""

    @app.callback(
        Output(_at(ids.RUN), "data"),
        Output(_at(ids.SCRIPT), "value"),
        *(Output(_at(each), "value") for each in settings_ids),
        Output(_at(ids.PROBLEM), "children"),
        Input(_at(ids.USE_SCRIPT), "n_clicks"),
        Input({"type": "run-example", "name": ALL}, "n_clicks"),
        State(_at(ids.SCRIPT), "value"),
        *(State(_at(each), "value") for each in settings_ids),
        prevent_initial_call=True,
    )
    def choose(_use: Any, _examples: Any, text: Any, *values: Any) -> Any:
        if not ctx.triggered or not ctx.triggered[0]["value"]:
            raise PreventUpdate
        kept = [no_update] * (1 + len(values))
        try:
            if ctx.triggered_id == _at(ids.USE_SCRIPT):
                source = library.keep_run(text or "")
                library.run(source, settings_from(*values))
                return source, *kept, ""
            name = ctx.triggered_id["name"]
            if name not in RUNS:
                raise SourceError(f"there is no example {name!r}")
        except SourceError as error:
            return no_update, *kept, str(error)
        example = RUNS[name]
        wanted = example.settings
        return (
            f"example:{name}",
            example.text,
            wanted.algorithm,
            ["yes"] if wanted.advertisements else [],
            wanted.table,
            wanted.seed,
            wanted.protocol,
            "",
        )

    @app.callback(
        Output(_at(ids.HERE), "data"),
        Output(_at(ids.STEP), "max"),
        Output(_at(ids.STEP), "value", allow_duplicate=True),
        Output(_at(ids.FOLLOW), "options"),
        Output(_at(ids.FOLLOW), "value"),
        Output(_at(ids.SUBSCRIPTION), "options"),
        Output(_at(ids.SUBSCRIPTION), "value"),
        Output(_at(ids.NOTES), "children"),
        Output(_at(ids.PROBLEM), "children", allow_duplicate=True),
        Input(_at(ids.RUN), "data"),
        *(Input(_at(each), "value") for each in settings_ids),
        State(_at(ids.STEP), "value"),
        State(_at(ids.STEP), "max"),
        State(_at(ids.FOLLOW), "value"),
        State(_at(ids.SUBSCRIPTION), "value"),
        State(_at(ids.HERE), "data"),
        prevent_initial_call=True,
    )
    def prepare(source: Any, *values: Any) -> Any:
        *chosen, step, length, follow, subscription, before = values
        try:
            settings = settings_from(*chosen)
            run = library.run(source, settings)
        except SourceError as error:
            return (*[no_update] * 8, str(error))
        here = _here(source, settings)
        if here == before:
            raise PreventUpdate
        # At the end stays at the end: another algorithm has other steps.
        ended = step == length or source != before["source"]
        options = follow_options(run)
        known = source == before["source"] and any(each["value"] == follow for each in options)
        return (
            here,
            len(run),
            len(run) if ended else run.clamp(step or 0),
            options,
            follow if known else None,
            subscription_options(run),
            chosen_subscription(run, subscription if source == before["source"] else ""),
            _notes(run),
            "",
        )

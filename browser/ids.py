"""The ids of the components, in one place: a callback and a test name the same thing.

What is on a page has the page's name in its id. Dash complains when a callback has components on
the page and others that are not; so no callback mixes those of two pages.
"""

from __future__ import annotations

from typing import Final

# -- around all pages ------------------------------------------------------------------------------

URL: Final = "url"
#: Stores. The recipe says which operations there are, the view how they are shown.
RECIPE: Final = "recipe"
VIEW: Final = "view"
BOOTED: Final = "booted"
#: Where clientside callbacks that only act put nothing.
SINK: Final = "sink"
MESSAGE: Final = "message"
PAGE: Final = "page"
THEME: Final = "theme"
TOGGLE_SOURCES: Final = "toggle-sources"
SOURCE_TITLE: Final = "source-title"
LEGEND: Final = "legend"
GENERATE: Final = "generate"
KIND: Final = "generate-kind"
TYPED: Final = "typed"
USE_TYPED: Final = "use-typed"
UPLOAD: Final = "upload"
OPEN_WORKLOAD: Final = "open-workload"
OPEN_BROKER: Final = "open-broker"


def field(name: str) -> str:
    """The id of a field of the generator."""
    return f"generate-{name}"


#: Around which filter a large table is opened.
AROUND: Final = "open-around"


def table(name: str) -> dict[str, str]:
    """The id of the button that opens a table of the jobs."""
    return {"type": "table", "name": name}


def example(name: str) -> dict[str, str]:
    """The id of the button that opens an example."""
    return {"type": "example", "name": name}


# -- on several pages: at(page, …) ----------------------------------------------------------------

#: Stores: the page's recipe, the filter chosen, what is folded, what is drawn.
HERE: Final = "here"
NODE: Final = "node"
FOLDS: Final = "folds"
FOLD_REQUEST: Final = "fold_request"
DRAWINGS: Final = "drawings"
#: How much wider than high the room for a graph is, as the page has measured it.
ROOM: Final = "room"
#: The whole graph or what is near one filter, how many levels of it, and which filter that is.
LOOK: Final = "look"
REACH: Final = "reach"
CENTRE: Final = "centre"
SHOW: Final = "show"
SIDEWAYS: Final = "sideways"
INDEX: Final = "index"
SEARCH: Final = "search"
FOUND: Final = "found"
#: An expression over filters, what is done with what it finds, and what is wrong with it.
WHERE: Final = "where"
WHERE_MODE: Final = "where_mode"
WHERE_TOLD: Final = "where_told"
STEP: Final = "step"
STEP_TEXT: Final = "step_text"
CAPTION: Final = "caption"
FIRST: Final = "first"
BACK: Final = "back"
PLAY: Final = "play"
FORWARD: Final = "forward"
LAST: Final = "last"
TICK: Final = "tick"
GRID: Final = "grid"
MOUNTED: Final = "mounted"
DETAIL: Final = "detail"
#: What check() says of an uploaded file, and the button that asks it.
VERDICT: Final = "verdict"
CHECK: Final = "check"
ROWS: Final = "rows"
#: The first row of a long list that is asked for.
ROWS_FIRST: Final = "rows_first"
#: The link that opens a large table around the chosen filter.
RECENTRE: Final = "recentre"


def at(page: str, part: str) -> str:
    """The id of a part of a page.

    >>> at("tables", STEP)
    'tables-step'
    """
    return f"{page}-{part}"


def data_of(part: str) -> str:
    """The store with what a list shows."""
    return f"{part}_data"


def panel(page: str, name: str) -> str:
    """The name of a graph, from which the ids of its parts are made."""
    return f"{page}-{name}"


def cytoscape(panel_: str) -> str:
    """The id of the drawing in a panel."""
    return f"cy-{panel_}"


def is_apart(name: str) -> bool:
    """Return whether a name in the view belongs to one page alone: it is an id then.

    >>> is_apart("network-step"), is_apart("step")
    (True, False)
    """
    return "-" in name


# -- on one page -----------------------------------------------------------------------------------

HAND_INTERFACE: Final = "hand_interface"
HAND_FILTER: Final = "hand_filter"
HAND_ADD: Final = "hand_add"
HAND_REMOVE: Final = "hand_remove"
HAND_UNDO: Final = "hand_undo"

NOTIFICATION: Final = "notification"
MATCH: Final = "match"
RANDOM: Final = "random"
MAX_TESTS: Final = "max_tests"
ANSWER: Final = "answer"
DOCUMENT: Final = "document"

MODE: Final = "mode"
COUNTS: Final = "counts"
CHANGES: Final = "changes"
EXPORT: Final = "export"
DOWNLOAD: Final = "download"

#: Of the Plane page: which structure, the attributes of its axes, and whether mergers are drawn.
STRUCTURE: Final = "structure"
AXIS_X: Final = "axis_x"
AXIS_Y: Final = "axis_y"
MERGERS: Final = "mergers"
PLANE: Final = "plane"
PLANE_NOTE: Final = "plane_note"

#: Of the Statistics page: figures as data, the plots they become, and growth on demand.
FIGURES: Final = "figures"
MEASURED: Final = "measured"
HISTOGRAMS: Final = "histograms"
GROW: Final = "grow"
GROWTH: Final = "growth"
GROWTH_DATA: Final = "growth_data"

NEIGHBOURS: Final = "neighbours"
#: Neighbours of whom there are hundreds, by name; and what is wrong with the names.
NAMED: Final = "named"
NAMED_TOLD: Final = "named_told"
SUMMARY: Final = "summary"
MECHANISMS: Final = "mechanisms"
STEP_MESSAGES: Final = "step_messages"
OPERATION: Final = "operation"
SOURCE: Final = "source"
MECHANISM: Final = "mechanism"
FILTER: Final = "filter"
SEND: Final = "send"
MESSAGES: Final = "messages"

REPORTS: Final = "reports"
HISTORY: Final = "history"
EXPERIMENTS: Final = "experiments"
REPORT: Final = "report"
#: Which witness is open, the graph and the words about it, and what is there without one.
WITNESS: Final = "witness"
WITNESS_GRAPH: Final = "witness_graph"
WITNESS_TEXT: Final = "witness_text"
WITNESS_NONE: Final = "witness_none"

#: Of the Network page. The run in a store: where its text is.
RUN: Final = "run"
SCRIPT: Final = "script"
USE_SCRIPT: Final = "use_script"
ALGORITHM: Final = "algorithm"
ADVERTISEMENTS: Final = "advertisements"
TABLE: Final = "table"
SEED: Final = "seed"
FOLLOW: Final = "follow"
PROTOCOL: Final = "protocol"
SUBSCRIPTION: Final = "subscription"
NOTES: Final = "notes"
PROBLEM: Final = "problem"
MOMENT: Final = "moment"
FOLLOWED: Final = "followed"
AUDIT: Final = "audit"
COMPARE: Final = "compare"
COMPARISON: Final = "comparison"
BARS: Final = "bars"

#: Of the Merging page: perfect or not, the largest loss, whether to subsume, plane or graph.
MERGING: Final = "merging"
LOSS: Final = "loss"
SUBSUME: Final = "subsume"
DRAWN_AS: Final = "drawn_as"

#: Of the Context page: cover or overlap; whether the mappings are right; a change by hand.
SEMANTICS: Final = "semantics"
AGREEMENT: Final = "agreement"
COLLECTIONS: Final = "collections"
HAND_KIND: Final = "hand_kind"
HAND_NAME: Final = "hand_name"

#: Of the Expressions page: the event in words, all expressions with their candidates, the order of
#: prunings, whether curves are drawn, and what is said of them. Which expression is chosen is kept
#: where a page of this name would keep its filter.
ENTRY_PAGE: Final = "expressions-entry"
ENTRY: Final = "entry-node"
RATING: Final = "rating"
EVENT: Final = "event"
REACHED: Final = "reached"
CURVES: Final = "curves"
CURVES_TOLD: Final = "curves_told"


def run_example(name: str) -> dict[str, str]:
    """The id of the button that opens an example of a run."""
    return {"type": "run-example", "name": name}


def context_example(name: str) -> dict[str, str]:
    """The id of the button that opens an example of profiles and queries."""
    return {"type": "context-example", "name": name}


def expression_example(name: str) -> dict[str, str]:
    """The id of the button that opens an example of expressions."""
    return {"type": "expression-example", "name": name}


def side(name: str, part: str) -> str:
    """A part of one side of a diff, a or b: where it comes from, structure, step, upload."""
    return f"{name}_{part}"

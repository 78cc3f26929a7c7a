"""The text of profiles and queries that come and go, one a line, read without any trust."""

from __future__ import annotations

import random
import re
from typing import Final, NamedTuple

import posetlib as pl
from browser.config import Limits
from browser.sources import SourceError, read_filter, read_types_text

__all__ = [
    "CONTEXTS",
    "PROFILES",
    "QUERIES",
    "Change",
    "ContextExample",
    "read_changes",
    "with_line",
]

#: The two forests.
PROFILES: Final = "profiles"
QUERIES: Final = "queries"
_SIDES: Final = {"profile": PROFILES, "query": QUERIES}
_LINE: Final = re.compile(r"(-?)\s*(profile|query)\s+([^\s:]{1,40})\s*:(.*)")
_GONE: Final = re.compile(r"(forget|close)\s+([^\s:]{1,40})\s*")


class Change(NamedTuple):
    """What one line does: add or remove a filter, or all filters of an object or collection."""

    line: int
    #: "add" or "remove", "forget" for an object, "close" for a collection.
    name: str
    side: str
    #: The object that has the profile, or the collection that has the query.
    who: str
    item: pl.Filter | None
    text: str


def read_changes(text: str, limits: Limits) -> tuple[Change, ...]:
    r"""Read profiles and queries; SourceError names the line of what is wrong.

    ``profile photo.jpg: x = 3`` lets an object have a profile, ``query trip: x < 5`` a collection a
    query; ``- profile …`` and ``- query …`` take them away; ``forget photo.jpg`` and ``close trip``
    all of them. ``#`` begins a comment, ``types: {"B": ["A"]}`` gives the hierarchy for ``isa``.

    >>> [(each.name, each.who) for each in read_changes("query trip: x < 5\nclose trip", Limits())]
    [('add', 'trip'), ('close', 'trip')]
    """
    if len(text) > limits.script_chars:
        raise SourceError(
            f"a text of {len(text):,} characters is longer than the {limits.script_chars:,} that "
            "the page takes"
        )
    found: list[Change] = []
    types: pl.TypeHierarchy | None = None
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith("types:"):
            types = read_types_text(stripped.removeprefix("types:"), number, limits)
            continue
        if len(found) >= limits.operations:
            raise SourceError(f"line {number}: more than {limits.operations:,} changes")
        found.append(_read(number, line, limits, types))
    if not found:
        raise SourceError("there is no line with a profile or a query")
    return tuple(found)


def _read(number: int, line: str, limits: Limits, types: pl.TypeHierarchy | None) -> Change:
    stripped = line.strip()
    gone = _GONE.fullmatch(stripped)
    if gone:
        side = PROFILES if gone[1] == "forget" else QUERIES
        return Change(number, gone[1], side, gone[2], None, stripped)
    match = _LINE.fullmatch(stripped)
    if match is None:
        raise SourceError(
            f"line {number}: a line is «profile NAME: FILTER» or «query NAME: FILTER», with a - in "
            "front to take it away, «forget NAME» or «close NAME»"
        )
    sign, kind, who, rest = match.groups()
    item = read_filter(rest, limits, types, f"line {number}", line.index(":") + 1)
    return Change(number, "remove" if sign else "add", _SIDES[kind], who, item, stripped)


def with_line(text: str, after: int, line: str) -> str:
    r"""Return a text with one more line, after a line of it.

    >>> with_line("a\nb", 1, "new")
    'a\nnew\nb\n'
    """
    lines = text.splitlines()
    return "\n".join([*lines[:after], line, *lines[after:]]) + "\n"


class ContextExample(NamedTuple):
    """A text with a title."""

    title: str
    text: str


def _ranges(count: int, seed: int) -> str:
    """Return as many queries as profiles on ranges of two attributes, then some that go."""
    draw = random.Random(seed)

    def box(low: int, high: int) -> str:
        width, height = (draw.randint(low, high) for _ in "xy")
        x, y = draw.randint(0, 100 - width), draw.randint(0, 100 - height)
        return f"x in [{x}, {x + width}] and y in [{y}, {y + height}]"

    queries = [f"query c{i % 3 + 1}: {box(12, 90)}" for i in range(count)]
    profiles = [f"profile o{i + 1}: {box(2, 25)}" for i in range(count)]
    gone = [f"- {each}" for each in draw.sample(profiles, count // 4)]
    return "\n".join([*queries, *profiles, *gone]) + "\n"


CONTEXTS: Final = {
    "photos": ContextExample(
        "A photo library (Tarkoma's thesis, 9.4)",
        """\
# Amy follows concerts in Helsinki, and all of Turku.
query concerts: type = "photo" and place = "Helsinki" and about contains "concert"
query turku: type = "photo" and place = "Turku"
query all: type = "photo"
profile stage.jpg: type = "photo" and place = "Helsinki" and about = "rock concert"
profile harbour.jpg: type = "photo" and place = "Helsinki" and about = "ferries"
profile crowd.jpg: type = "photo" and place = "Turku" and about = "concert crowd"
# The place of a photo is corrected.
profile crowd.jpg: type = "photo" and place = "Helsinki" and about = "concert crowd"
- profile crowd.jpg: type = "photo" and place = "Turku" and about = "concert crowd"
# A second query, which finds no photo that is new to the collection.
query concerts: type = "photo" and place = "Helsinki" and about prefix "rock"
forget stage.jpg
close turku
""",
    ),
    "places": ContextExample(
        "Places on a map",
        """\
query centre: x in [20, 60] and y in [20, 60]
query centre: x in [30, 50] and y in [30, 50]
query west: x in [0, 40] and y in [0, 100]
query city: x in [0, 100] and y in [0, 100]
profile tram-4: x in [25, 35] and y in [40, 55]
profile tram-9: x in [10, 55] and y in [45, 50]
profile cafe: x = 33 and y = 47
profile museum: x = 45 and y = 35
profile ferry: x in [70, 110] and y in [5, 20]
profile cafe: x = 80 and y = 15
- profile cafe: x = 33 and y = 47
- query west: x in [0, 40] and y in [0, 100]
""",
    ),
    "ranges": ContextExample("16 queries and 16 profiles", _ranges(16, 6)),
    "many": ContextExample("100 queries and 100 profiles", _ranges(100, 7)),
}

"""How a notification finds its way through a structure, as marks and sentences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import posetlib as pl
from browser.graph import Graph
from browser.sources import SourceError
from browser.story import Frame, Story
from posetlib.models.notifications import DOCUMENT

__all__ = [
    "Match",
    "example_of",
    "json_value",
    "match",
    "random_notification",
    "read_notification",
    "why",
]

_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Match:
    """One notification in one structure."""

    #: For each filter: tested and matched, failed, skipped, pruned below, assumed, or unvisited.
    marks: Mapping[int, Sequence[str]]
    interfaces: tuple[str, ...]
    visited: int
    tested: int
    #: The filters in the order in which the walk came to them.
    order: tuple[int, ...] = ()


def read_notification(
    text: str, line: str = "", column: int = 0, document: str = DOCUMENT
) -> dict[str, Any]:
    """Read a notification: JSON, XML or a tuple; SourceError names the place of what is wrong.

    ``line`` is the one of a longer text on which it stands, from ``column`` on. A document in XML
    becomes the value of the attribute ``document``.

    >>> read_notification('{"x": 3}')
    {'x': 3}
    """
    where = f"{line}: " if line else ""
    if len(text) > _CHARS:
        raise SourceError(f"{where}a notification of {len(text):,} characters is too long")
    try:
        return pl.read_notification(text, document=document)
    except json.JSONDecodeError as error:
        place = f"{line or f'line {error.lineno}'}, column {column + error.colno}"
        raise SourceError(f"the notification is no JSON: {place}: {error.msg}") from None
    except ValueError as error:
        raise SourceError(f"{where}the notification cannot be read: {error}") from None


def random_notification(story: Story, draw: int) -> str:
    """Return a notification as JSON: one of the source's own, or one that some filter matches."""
    own = story.source.notifications
    if own:
        return own[draw % len(own)]
    random = np.random.default_rng(draw)
    item = story.filters[int(random.integers(1, len(story.filters) + 1))]
    return json.dumps(example_of(item))


def example_of(item: pl.Filter) -> dict[str, Any]:
    """Return a notification that a filter matches, as JSON has it; where it can be said, that is.

    >>> example_of(pl.parse_filter("x in [3, 8]"))
    {'x': 3}
    """
    values = {name: constraint.example() for name, constraint in item.constraints.items()}
    kept = {name: json_value(value) for name, value in values.items()}
    return {name: value for name, value in kept.items() if value is not None}


def json_value(value: object) -> Any:
    """Return a value as JSON has it, None if it has none such."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, frozenset | set | tuple | list):
        return sorted(value, key=str)
    if isinstance(value, Mapping):
        return dict(value)
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def match(
    story: Story, frame: Frame, notification: Mapping[str, Any], max_tests: int | None = None
) -> Match:
    """Match a notification, and return where the walk went."""
    account = _account(frame, notification, max_tests)
    number = story.number
    matched = set(account.matched)
    marks: dict[int, list[str]] = {}

    def mark(items: Sequence[pl.Filter], name: str) -> None:
        for item in items:
            marks.setdefault(number[item], []).append(name)

    mark(account.matched, "matched")
    mark([item for item in account.tested if item not in matched], "failed")
    mark(account.skipped, "skipped")
    mark(account.pruned, "pruned")
    mark(account.assumed, "assumed")
    for each in frame.graph.nodes:
        marks.setdefault(each, ["unvisited"])
    found = sorted(map(str, account.interfaces), key=lambda name: story.palette.get(name, -1))
    order = tuple(number[item] for item in account.visited)
    return Match(marks, tuple(found), len(account.visited), account.tests, order)


def _account(
    frame: Frame, notification: Mapping[str, Any], max_tests: int | None
) -> pl.MatchAccount[Any]:
    try:
        return frame.table().match_account(notification, max_tests)
    except (TypeError, ValueError, OverflowError) as error:
        raise SourceError(f"the notification cannot be matched: {error}") from None


def why(
    story: Story, graph: Graph, found: Match, notification: Mapping[str, Any], number: int
) -> list[str]:
    """Say whether a filter matches, why not, and why the walk did or did not come to it."""
    item = story.filters[number]
    explanation = item.explain(notification)
    if explanation:
        sentences = ["It matches: the notification satisfies every constraint."]
    else:
        sentences = [f"It does not match: {failure.reason}." for failure in explanation.failures]
    marks = found.marks.get(number)
    if marks is None:
        return [*sentences, "It is not in this table."]
    if "skipped" in marks:
        sentences.append("It was not tested: all its interfaces were in the answer already.")
    if "pruned" in marks:
        sentences.append(
            "The walk went no further: all interfaces of what is below are in the answer."
        )
    if "assumed" in marks:
        sentences.append("The bound on tests was reached before it: it counts as matched.")
    if "unvisited" in marks:
        sentences.append(_why_unvisited(graph, found, number))
    return sentences


def _why_unvisited(graph: Graph, found: Match, number: int) -> str:
    seen = {number}
    queue = [number]
    for node in queue:
        for parent in graph.parents[node]:
            marks = found.marks.get(parent, ())
            if "failed" in marks:
                return f"It was not visited: #{parent} above it does not match, so it cannot."
            if "pruned" in marks:
                return (
                    f"It was not visited: below #{parent} there is no interface that was not in "
                    "the answer."
                )
            if parent not in seen:
                seen.add(parent)
                queue.append(parent)
    return "It was not visited: every interface was in the answer before, or its type is another."

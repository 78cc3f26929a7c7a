"""The text of expressions and events, one a line, read without any trust."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import posetlib as pl
from browser.config import Limits
from browser.matching import read_notification
from browser.sources import LINE, NAME_CHARS, SourceError, read_expression, read_types_text
from posetlib.expressions import Leaf
from posetlib.expressions.selectivity import LeafShare, seen_shares
from posetlib.generating.auction import (
    LAWS,
    AuctionParameters,
    generated_events,
    generated_subscriptions,
)

__all__ = ["EXPRESSION_SETS", "Entry", "ExpressionExample", "ExpressionSet", "read_set"]

#: What a text may hold: conditions of one expression and of all, and events.
MOST_CONDITIONS: Final = 100
MOST_CONDITIONS_IN_ALL: Final = 2_500
MOST_EVENTS: Final = 1_000
_AUCTION: Final = re.compile(r"auction:\s+(.*)")
#: What a line of the auction may name, with what is taken where it does not.
_AUCTION_VALUES: Final[dict[str, int | float | str]] = {
    "subscriptions": 12,
    "events": 200,
    "seed": 1,
    "interfaces": 4,
    "books": 2_000.0,
    "law": LAWS[0],
}


class Entry(NamedTuple):
    """An expression that an interface has asked for."""

    interface: str
    expression: pl.Expression


@dataclass(frozen=True)
class ExpressionSet:
    """Entries in the order of their lines, numbered from 1, and events."""

    entries: tuple[Entry, ...]
    events: tuple[Mapping[str, Any], ...]

    @cached_property
    def share(self) -> LeafShare:
        """How many of the events satisfy a condition; one half where there are no events."""
        return seen_shares(self.events)

    @cached_property
    def _occurrences(self) -> dict[Leaf, int]:
        found: dict[Leaf, int] = {}
        for entry in self.entries:
            for leaf in entry.expression.leaves():
                plain = leaf._replace(negated=False)
                found[plain] = found.get(plain, 0) + 1
        return found

    def occurrences(self, leaf: Leaf) -> int:
        """Return how many conditions of all entries have the constraint of this one."""
        return self._occurrences.get(leaf._replace(negated=False), 0)

    @cached_property
    def matcher(self) -> pl.ExpressionMatcher:
        """A matcher that holds all entries."""
        return pl.ExpressionMatcher((each.expression, each.interface) for each in self.entries)

    @property
    def interfaces(self) -> tuple[str, ...]:
        """The interfaces, in the order in which they come."""
        return tuple(dict.fromkeys(each.interface for each in self.entries))


def read_set(text: str, limits: Limits) -> ExpressionSet:
    r"""Read expressions and events; SourceError names the line of what is wrong.

    ``I1: x > 3 or not (y = 1)`` is an expression of an interface, which may be left out;
    ``{"x": 3}`` an event; ``auction: subscriptions=12 events=200`` generates both. ``#`` begins a
    comment, ``types: {"B": ["A"]}`` gives the hierarchy for ``isa``.

    >>> made = read_set('x > 3 or not (y = 1)\n{"x": 5}', Limits())
    >>> len(made.entries), made.events, made.interfaces
    (1, ({'x': 5},), ('I1',))
    """
    if len(text) > limits.script_chars:
        raise SourceError(
            f"a text of {len(text):,} characters is longer than the {limits.script_chars:,} that "
            "the page takes"
        )
    entries: list[Entry] = []
    events: list[Mapping[str, Any]] = []
    types: pl.TypeHierarchy | None = None
    conditions = 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        auction = _AUCTION.fullmatch(stripped)
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith("types:"):
            types = read_types_text(stripped.removeprefix("types:"), number, limits)
        elif stripped.startswith("{"):
            indent = len(line) - len(line.lstrip())
            events.append(read_notification(stripped, f"line {number}", indent))
        elif auction:
            more = _auction(auction[1], f"line {number}")
            entries += more.entries
            events += more.events
            conditions += sum(len(each.expression.leaves()) for each in more.entries)
        else:
            entry = _entry(line, number, limits, types, len(entries) + 1)
            entries.append(entry)
            conditions += len(entry.expression.leaves())
        if conditions > MOST_CONDITIONS_IN_ALL:
            raise SourceError(
                f"line {number}: more than {MOST_CONDITIONS_IN_ALL:,} conditions in all"
            )
        if len(events) > MOST_EVENTS:
            raise SourceError(f"line {number}: more than {MOST_EVENTS:,} events")
    if not entries:
        raise SourceError("there is no line with an expression")
    return ExpressionSet(tuple(entries), tuple(events))


def _entry(
    line: str, number: int, limits: Limits, types: pl.TypeHierarchy | None, unnamed: int
) -> Entry:
    found = LINE.match(line, len(line) - len(line.lstrip()))
    assert found is not None  # the last group takes anything
    if found["sign"]:
        raise SourceError(f"line {number}: a line is an expression or an event, without a sign")
    interface = found["interface"] or f"I{unnamed}"
    if len(interface) > NAME_CHARS:
        raise SourceError(f"line {number}: the name of an interface is too long")
    start = found.start("filter")
    expression = read_expression(found["filter"], limits, types, f"line {number}", column=start)
    count = len(expression.leaves())
    if count > MOST_CONDITIONS:
        raise SourceError(
            f"line {number}: an expression of {count:,} conditions; the page takes up to "
            f"{MOST_CONDITIONS}"
        )
    return Entry(interface, expression)


def _auction(text: str, where: str) -> ExpressionSet:
    """Return subscriptions and events of the auction workload, as a line asks for them."""
    values = dict(_AUCTION_VALUES)
    for word in text.split():
        name, equals, value = word.partition("=")
        if name not in values or not equals:
            known = ", ".join(values)
            raise SourceError(
                f"{where}: an auction has NAME=VALUE, with {known}, not «{word[:40]}»"
            )
        kind = type(_AUCTION_VALUES[name])
        try:
            values[name] = kind(value)
        except ValueError:
            raise SourceError(f"{where}: {name} is a number, not «{value[:40]}»") from None
    # Before anything is drawn: a line must not ask for millions.
    for name, most in (("subscriptions", MOST_CONDITIONS_IN_ALL // 6), ("events", MOST_EVENTS)):
        if not 0 <= values[name] <= most:  # type: ignore[operator]
            raise SourceError(f"{where}: {name} is a number from 0 to {most:,}")
    try:
        parameters = AuctionParameters(**values)  # type: ignore[arg-type]
    except ValueError as error:
        raise SourceError(f"{where}: {error}") from None
    made = generated_subscriptions(parameters, range(parameters.subscriptions))
    events = generated_events(parameters, range(parameters.events)).notifications()
    entries = zip(made.interfaces.tolist(), made.expressions(), strict=True)
    return ExpressionSet(
        tuple(Entry(f"I{interface + 1}", expression) for interface, expression in entries),
        tuple(events),
    )


class ExpressionExample(NamedTuple):
    """A text with a title."""

    title: str
    text: str


EXPRESSION_SETS: Final = {
    "books": ExpressionExample(
        "Three subscriptions for books",
        """\
# The three classes of the auction workload, then events of it.
I1: title = 7 and ending < 1440 and \
(condition = "new" and price < 8 or condition = "used" and price < 4)
I2: title = 7 and ending < 1440 and \
(format = "hard" and (condition = "new" and price < 15 or condition = "used" and price < 10) or \
format = "soft" and (condition = "new" and price < 12 or condition = "used" and price < 7))
I3: (category = 3 or author = 5) and \
(ending < 60 and (bids = 0 or special = "signed") or buy_it_now = true and special = "signed")
{"title": 7, "ending": 900, "condition": "new", "price": 6, "format": "soft", "bids": 2}
{"title": 7, "ending": 900, "condition": "used", "price": 9, "format": "hard", "bids": 0}
{"title": 8, "ending": 30, "condition": "used", "price": 9, "category": 3, "bids": 0}
{"title": 9, "ending": 5000, "author": 5, "special": "signed", "buy_it_now": true, "bids": 3}
{"title": 9, "ending": 40, "category": 4, "condition": "new", "price": 20, "bids": 1}
{"title": 7, "ending": 3000, "condition": "new", "price": 6, "format": "soft", "bids": 0}
""",
    ),
    "not": ExpressionExample(
        "NOT is the complement",
        """\
# Both refuse x = 5, but only the second one refuses what has no x.
weak: not (x > 3)
strong: x <= 3
both: not (x > 3) and (exists y or z = 1)
{"x": 2}
{"x": 5, "y": 1}
{"y": 1}
{"x": "two", "z": 1}
""",
    ),
    "auction": ExpressionExample(
        "The auction workload, small",
        "# Subscriptions and events of the auction workload.\n"
        "auction: subscriptions=90 events=300 seed=1 interfaces=6 books=2000 law=zipf\n",
    ),
}

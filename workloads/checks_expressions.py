"""The invariants of expressions on some rows and events, by brute force; with counterexamples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from posetlib.errors import FilterError
from posetlib.expressions import (
    Expression,
    ExpressionMatcher,
    OverlapIndex,
    prunings,
    seen_shares,
    selectivity,
)
from posetlib.expressions.explaining import leaf_holds
from posetlib.expressions.measures import encoded_size, p_min
from posetlib.models import notification_text
from posetlib.values import lookup

__all__ = ["EXPRESSION_INVARIANTS", "Finding", "Row", "findings"]

Notification = dict[str, Any]
#: The invariants in the order of a report.
EXPRESSION_INVARIANTS: Final = (
    "matcher-agrees",
    "hits-reach-p-min",
    "selectivity-bounds",
    "pruning-covers",
    "pruning-shrinks",
    "pruned-covers",
    "overlap-found",
    "overlap-symmetric",
)
#: A share may be off by what floats round.
_ROUNDING: Final = 1e-9
#: Disjunctive forms of more clauses give no examples.
_CLAUSES: Final = 64


class Row(NamedTuple):
    """An expression by its id, and what it is said to have been pruned to."""

    id: int
    expression: Expression
    pruned: Expression | None = None


class Finding(NamedTuple):
    """One thing that was checked; with a witness, it is violated."""

    invariant: str
    witness: Mapping[str, Any] | None = None


def findings(
    rows: Sequence[Row], events: Sequence[Notification], advertisements: Sequence[Row]
) -> Iterator[Finding]:
    """Yield whatever is checked of some rows, each with a witness if it is violated."""
    matched = [
        [at for at, event in enumerate(events) if row.expression.matches(event)] for row in rows
    ]
    yield from _matcher(rows, events, matched)
    share = seen_shares(events)
    for row, found in zip(rows, matched, strict=True):
        yield _hits(row, [events[at] for at in found])
        if events:
            low, _, high = selectivity(row.expression.root, share)
            true = len(found) / len(events)
            fine = low - _ROUNDING <= true <= high + _ROUNDING
            why = f"{true:.6g} of the events match, and the bounds are {low:.6g} and {high:.6g}"
            yield Finding("selectivity-bounds", None if fine else _told(row, why))
        # What is pruned must match what the expression does: the events, and one for each clause.
        wanted = [*(events[at] for at in found), *_examples(row.expression)]
        yield from _prunings(row, wanted)
        if row.pruned is not None:
            lost = _first_lost(row.pruned, wanted)
            yield Finding("pruned-covers", None if lost is None else _lost(row, row.pruned, lost))
    yield from _overlaps(rows, events, matched, advertisements)


def _told(row: Row, why: str, **more: Any) -> dict[str, Any]:
    return {"filter": str(row.expression), **more, "why": why, "ids": [row.id]}


def _lost(row: Row, pruned: Expression, notification: Notification) -> dict[str, Any]:
    return _told(
        row,
        "it matches, and what it is pruned to does not",
        pruned=str(pruned),
        notification=notification_text(notification),
    )


def _first_lost(pruned: Expression, wanted: Sequence[Notification]) -> Notification | None:
    return next((each for each in wanted if not pruned.matches(each)), None)


def _matcher(
    rows: Sequence[Row], events: Sequence[Notification], matched: Sequence[Sequence[int]]
) -> Iterator[Finding]:
    """Hold the matcher against brute force: one finding for each event."""
    matcher = ExpressionMatcher((row.expression, at) for at, row in enumerate(rows))
    expected: list[set[Any]] = [set() for _ in events]
    for at, found in enumerate(matched):
        for place in found:
            expected[place].add(at)
    answers: Any = matcher.match_many(list(events))
    for event, answer, wanted in zip(events, answers, expected, strict=True):
        wrong = sorted(set(answer) ^ wanted)
        if not wrong:
            yield Finding("matcher-agrees")
            continue
        why = "the matcher does not find it" if wrong[0] in wanted else "the matcher finds it"
        told = _told(rows[wrong[0]], why, notification=notification_text(event))
        yield Finding("matcher-agrees", told)


def _hits(row: Row, matching: Sequence[Notification]) -> Finding:
    """Whoever matches has as many hits as p_min says."""
    leaves = [leaf for leaf in row.expression.leaves() if not leaf.negated]
    least = p_min(row.expression.root)
    for event in matching:
        hits = sum(leaf_holds(leaf, lookup(event, leaf.attribute), event) for leaf in leaves)
        if hits < least:
            why = f"it matches with {hits} hits, and p_min is {least}"
            told = _told(row, why, notification=notification_text(event))
            return Finding("hits-reach-p-min", told)
    return Finding("hits-reach-p-min")


def _examples(expression: Expression) -> list[Notification]:
    """Return notifications that an expression matches: one for each clause, where one is known."""
    try:
        clauses = expression.dnf(_CLAUSES)
    except FilterError:
        return []
    made = []
    for clause in clauses:
        values = {name: each.example() for name, each in clause.constraints.items()}
        simple = {
            name: value
            for name, value in values.items()
            if isinstance(value, bool | int | float | str)
        }
        if len(simple) == len(values) and expression.matches(simple):
            made.append(simple)
    return made


def _prunings(row: Row, wanted: Sequence[Notification]) -> Iterator[Finding]:
    """Every legal pruning covers the expression, is smaller, and needs no more hits."""
    before = encoded_size(row.expression.root), p_min(row.expression.root)
    for each in prunings(row.expression):
        left = each.expression
        lost = _first_lost(left, wanted)
        yield Finding("pruning-covers", None if lost is None else _lost(row, left, lost))
        size, least = encoded_size(left.root), p_min(left.root)
        fine = size < before[0] and least <= before[1] and bool(left.leaves())
        why = f"bytes {before[0]} become {size}, p_min {before[1]} becomes {least}"
        yield Finding("pruning-shrinks", None if fine else _told(row, why, pruned=str(left)))


def _overlaps(
    rows: Sequence[Row],
    events: Sequence[Notification],
    matched: Sequence[Sequence[int]],
    advertisements: Sequence[Row],
) -> Iterator[Finding]:
    """Where an event matches both, the overlap is found, by every way there is to ask."""
    if not advertisements:
        return
    index = OverlapIndex()
    for at, row in enumerate(rows):
        index.add(at, row.expression)
    sent = [set(found) for found in matched]
    for other in advertisements:
        found = set(index.overlapping(other.expression))
        here = {at for at, event in enumerate(events) if other.expression.matches(event)}
        for at, row in enumerate(rows):
            both = sent[at] & here
            if both:
                ways = {
                    "the index": at in found,
                    "the subscription": row.expression.overlaps(other.expression),
                    "the advertisement": other.expression.overlaps(row.expression),
                }
                wrong = [name for name, says in ways.items() if not says]
                why = f"an event matches both, and {', '.join(wrong)} says that they do not overlap"
                told = _told(
                    row,
                    why,
                    advertisement=str(other.expression),
                    notification=notification_text(events[min(both)]),
                )
                yield Finding("overlap-found", told if wrong else None)
            one, two = (
                row.expression.overlaps(other.expression),
                other.expression.overlaps(row.expression),
            )
            why = "one of the two overlaps the other, and not the other way round"
            told = _told(row, why, advertisement=str(other.expression))
            yield Finding("overlap-symmetric", None if one == two else told)

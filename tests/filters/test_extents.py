"""Where constraints say that their values lie: every index derives from this one reading."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

import posetlib as pl
from posetlib.constraints import (
    EXISTS,
    Answer,
    Constraint,
    Extent,
    Isa,
    MultiValues,
    Numbers,
    Piece,
    Strings,
)
from posetlib.constraints.extents import ANYWHERE, EVERYWHERE
from posetlib.values import exact
from tests.matching.worlds import VALUES, Backwards, random_filter

SEED = 20
LAWFUL = [value for value in VALUES if not isinstance(value, Backwards)]


def some_constraints() -> list[Constraint]:
    random = Random(SEED)
    found = {c: None for _ in range(600) for c in random_filter(random).terms}
    return list(found)


CONSTRAINTS = some_constraints()


def answer_of(extent: Extent, value: Any) -> Answer:
    """What an extent says of a value, by its definition."""
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return extent.booleans[bool(value)]
    if isinstance(value, str):
        return on_line(extent.strings, str(value), str(value) + "\0")
    number = exact(value)
    if number is None or number != number:
        return extent.others
    return on_line(extent.numbers, (number, 0), (number, 1))


def on_line(pieces: tuple[Piece, ...], low: Any, high: Any) -> Answer:
    around = [piece for piece in pieces if piece.low <= low and high <= piece.high]
    if not around:
        return Answer.NO
    return Answer.YES if any(piece.sure for piece in around) else Answer.MAYBE


def test_an_extent_never_denies_a_value_and_is_sure_of_none_that_fails() -> None:
    seen = dict.fromkeys(Answer, 0)
    for constraint, value in product(CONSTRAINTS, LAWFUL):
        answer = answer_of(constraint.extent(), value)
        seen[answer] += 1
        if constraint.references():
            continue  # alone, without a notification, nothing satisfies it
        if constraint.matches(value):
            assert answer is not Answer.NO, (constraint, value, f"seed {SEED}")
        else:
            assert answer is not Answer.YES, (constraint, value, f"seed {SEED}")
    assert min(seen.values()) > 100


def hull(pieces: tuple[Piece, ...]) -> tuple[Any, Any]:
    return min(piece.low for piece in pieces), max(piece.high for piece in pieces)


def test_tight_extents_contain_those_of_whatever_is_covered() -> None:
    """Boxes rely on it: a hull that is too wide would hide a covering."""
    tight = [c for c in CONSTRAINTS if c.extent().tight]
    covered = 0
    for one, other in product(tight, repeat=2):
        if not one.covers(other):
            continue
        covered += one != other
        outer, inner = one.extent(), other.extent()
        assert outer.domain == inner.domain, (one, other)
        for name in ("numbers", "strings"):
            if getattr(inner, name):
                low, high = hull(getattr(inner, name))
                least, most = hull(getattr(outer, name))
                assert least <= low, (one, other, f"seed {SEED}")
                assert high <= most, (one, other, f"seed {SEED}")
    assert covered > 300


def test_comparable_extents_that_are_sure_tell_covering() -> None:
    """Exact boxes rely on it: two closed ranges cover as their ends say."""
    exact_ones = [
        c
        for c in CONSTRAINTS
        if c.extent().comparable and len(c.extent().numbers) == 1 and c.extent().is_sure
    ]
    assert len(exact_ones) > 20
    for one, other in product(exact_ones, repeat=2):
        (outer,), (inner,) = one.extent().numbers, other.extent().numbers
        contains = outer.low <= inner.low and inner.high <= outer.high
        assert contains == one.covers(other), (one, other)


@pytest.mark.parametrize(
    ("constraint", "tight", "comparable", "domain"),
    [
        (Numbers.interval(1, 2), True, True, "number"),
        (Numbers.integers(0, 1000), True, True, "number"),
        (Strings.prefix("a"), True, True, "string"),
        (Strings.suffix("a"), False, False, "string"),
        (Isa.of("a"), True, False, "string"),
        (MultiValues.superset([1]), True, False, "other"),
        (EXISTS, False, False, None),
    ],
)
def test_what_kinds_say(
    constraint: Constraint, tight: bool, comparable: bool, domain: str | None
) -> None:
    extent = constraint.extent()
    assert (extent.tight, extent.comparable, extent.domain) == (tight, comparable, domain)


def test_what_is_known_of_everything_and_of_nothing() -> None:
    assert EXISTS.extent() is EVERYWHERE
    assert EVERYWHERE.is_sure
    assert not ANYWHERE.is_sure

    class Own(Constraint):
        def matches(self, value: Any) -> bool:
            return True

        def clauses(self, name: str) -> tuple[str, ...]:
            return (f"{name} own",)

    assert Own().extent() is ANYWHERE


def test_a_single_value_is_one_string() -> None:
    assert Strings.points(["a"]).single_value() == "a"
    for text in ('x in {"a", "b"}', 'x prefix "a"', 'x = "a" or x suffix "b"', "x = 3", "exists x"):
        (constraint,) = pl.parse_filter(text).terms
        assert not isinstance(constraint.single_value(), str), text

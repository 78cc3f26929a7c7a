"""Templates: filters over tuples, exact because they are filters over records."""

from __future__ import annotations

import itertools
import random

import pytest

import posetlib as pl
from tests.filters.lawbook import check_laws

FIELDS = ("*", "0", "1", ">= 1", "in {0, 2}", "!= 1", "is number", '"a"', 'prefix "a"')
VALUES = (0, 1, 2, "a", "b")


def all_tuples(longest: int) -> list[tuple[object, ...]]:
    return [t for n in range(longest + 1) for t in itertools.product(VALUES, repeat=n)]


def random_template(draw: random.Random) -> pl.Filter:
    fields = [draw.choice(FIELDS) for _ in range(draw.randint(0, 3))]
    if draw.random() < 0.3:
        fields.append("...")
    return pl.parse_template(f"({', '.join(fields)})")


@pytest.mark.parametrize("seed", range(2))
def test_covering_overlap_and_merging_against_enumeration(seed: int) -> None:
    draw = random.Random(seed)
    templates = list(dict.fromkeys(random_template(draw) for _ in range(60)))
    records = [pl.tuple_record(each) for each in all_tuples(4)]
    # 7 and "aa" stand for all values that no field names.
    records += [pl.tuple_record(each) for each in itertools.product((7, "aa", 1, 0.5), repeat=2)]
    matched = {f: frozenset(i for i, r in enumerate(records) if f.matches(r)) for f in templates}
    for f, g in itertools.product(templates, repeat=2):
        if f.covers(g):
            assert matched[f] >= matched[g], (seed, str(f), str(g))
        merged = pl.merge(f, g)
        if merged is not None:
            assert {i for i, r in enumerate(records) if merged.matches(r)} == matched[f] | matched[
                g
            ]
        if not f.overlaps(g):
            assert not matched[f] & matched[g]
    check_laws(templates[:40])


@pytest.mark.parametrize(
    "text",
    [
        "()",
        "(...)",
        "(*)",
        "(*, ...)",
        '("StockQuote", "Foo Inc", *, >= 3)',
        '(in [1, 5], prefix "a, (b", in {1, 2}, is number, true)',
        "(1/3, -2.5, 1e+300)",
        "(has 3, overlaps {1, 2}, ...)",
    ],
)
def test_round_trips(text: str) -> None:
    template = pl.parse_template(text)
    assert pl.parse_template(pl.template_text(template)) == template
    assert pl.template_text(template) == text
    assert pl.parse_filter(str(template)) == template


def test_the_length_is_never_left_out() -> None:
    assert str(pl.parse_template("(*, *)")) == "_len = 2"
    assert pl.parse_template("(0, ...)").covers(pl.parse_template("(0)"))
    assert not pl.parse_template("(0, ...)").covers(pl.parse_filter("_0 = 0"))
    assert pl.parse_template("(*, *, ...)").matches(pl.tuple_record((1, 2, 3)))
    assert not pl.parse_template("(*, *, ...)").matches(pl.tuple_record((1,)))
    assert not pl.parse_template("(*, *)").matches(pl.tuple_record((1, 2, 3)))


def test_a_list_inside_a_tuple_is_a_multi_value() -> None:
    assert pl.parse_template("(has 3)").matches(pl.tuple_record(([1, 3],)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a template is a list of fields in parentheses"),
        ("(1, 2", "a template is a list of fields in parentheses"),
        ("(1,, 2)", "a field is \\*, a value or a condition, not empty"),
        ("(..., 1)", "... is the last field"),
        ("(1, > 3 and _0 < 5)", "a condition is about its own field alone"),
        ("(1, nonsense)", "field 1"),
        ("(x > 3)", "field 0"),
        ("(> 3 and < 2)", "field 0"),
        ("(exists)", "field 0: \\* stands for any value"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(pl.FilterError, match=message):
        pl.parse_template(text)


def test_what_is_no_template_has_no_template_text() -> None:
    for text in (
        "_0 = 1",
        "_len = 2 and x = 3",
        "_len = 1 and _3 = 5",
        "_len >= 1.5",
        "_len = 2.5",
    ):
        with pytest.raises(pl.FilterError, match="not a template"):
            pl.template_text(pl.parse_filter(text))
    for wrong in ("abc", b"abc", 5, {1}):
        with pytest.raises(TypeError, match="a tuple is a sequence of values"):
            pl.tuple_record(wrong)  # type: ignore[arg-type]

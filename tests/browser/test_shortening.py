"""Texts in narrow places: nothing is cut without a mark, and no number is shown as another."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

import posetlib as pl
from browser.elements import drawing
from browser.graph import Graph, Node, Shown
from browser.shortening import CUT, clauses, number_places, short, shortened, visible

NUMBERS = st.one_of(
    st.integers(-30, 30),
    st.floats(-30, 30, allow_nan=False).map(lambda x: round(x, 5)),
    st.integers(0, 40).map(lambda n: 0.5 + n / 10_000),
    st.integers(-5, 5).map(lambda n: n * 1e-7),
)
#: Ranges, half-lines, points and negated ranges of one attribute, as texts.
CLAUSES = st.one_of(
    st.tuples(NUMBERS, NUMBERS, st.sampled_from("[("), st.sampled_from("])")).map(
        lambda t: f"x in {t[2]}{min(t[:2])!r}, {max(t[:2])!r}{t[3]}" if t[0] != t[1] else "x < 3"
    ),
    st.tuples(st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), NUMBERS).map(
        lambda t: f"x {t[0]} {t[1]!r}"
    ),
    st.tuples(NUMBERS, NUMBERS).map(lambda t: f"x not in [{min(t)!r}, {max(t)!r}]"),
    st.lists(NUMBERS, min_size=1, max_size=3).map(
        lambda values: f"x in {{{', '.join(map(repr, values))}}}"
    ),
)


def shown(texts: list[str]) -> list[str]:
    places = number_places(texts)
    return [" and ".join(shortened(each, places) for each in clauses(text)) for text in texts]


@given(st.lists(CLAUSES, min_size=1, max_size=8))
@example(["x in [0.001, 0.004]", "x in [0.002, 0.003]"])
@example(["x in [0, 0.1234]", "x in [0.1236, 1]"])
@example(["x < -0.125", "x > -0.12500001", "x <= 0"])
def test_what_is_shown_is_in_the_same_order_as_what_is_meant(texts: list[str]) -> None:
    filters = [pl.parse_filter(each) for each in texts]
    drawn = [pl.parse_filter(each.replace(CUT, "")) for each in shown([str(f) for f in filters])]
    for f, seen, text in zip(filters, drawn, shown([str(f) for f in filters]), strict=True):
        assert seen.covers(f), "rounded inwards"
        assert (CUT in text) == (seen != f), "cut without a mark, or marked without a cut"
    for f, seen_f in zip(filters, drawn, strict=True):
        for g, seen_g in zip(filters, drawn, strict=True):
            assert seen_f.covers(seen_g) == f.covers(g)
            assert seen_f.overlaps(seen_g) == f.overlaps(g)


def test_two_ranges_that_were_both_drawn_as_zero() -> None:
    texts = ["x in [0.001, 0.004]", "x in [0.002, 0.003]"]
    graph = Graph({i: Node(i, text, ("I1",)) for i, text in enumerate(texts, 1)}, ((1, 2),))
    made = drawing(graph, Shown((1, 2)), palette={"I1": 0})
    labels = [each["data"]["label"].split("\n")[1] for each in made["elements"][:2]]
    assert labels == texts


def test_a_string_is_never_shortened_as_a_number() -> None:
    text = 's = "0.123456 and 1.98765" and x >= 2.71828'
    assert shown([text]) == ['s = "0.123456 and 1.98765" and x >= ≈2.71']
    assert clauses(text) == ['s = "0.123456 and 1.98765"', "x >= 2.71828"]
    assert clauses('`a and b` = "\\" and \\\\" and y < 1') == [
        '`a and b` = "\\" and \\\\"',
        "y < 1",
    ]
    assert short('s = "a  b"') == 's = "a  b"'


@given(st.text(), st.integers(1, 40))
def test_a_cut_text_ends_in_its_mark(text: str, chars: int) -> None:
    seen = short(text, chars)
    assert len(seen) <= chars
    assert seen.endswith("…") or seen == visible(text.replace("\n", " "))


def test_what_turns_the_text_around_it_is_seen() -> None:
    assert visible('s = "\u202eabc\u200b"') == 's = "⟨U+202E⟩abc⟨U+200B⟩"'
    graph = Graph({1: Node(1, 's = "\u202eabc"', ("I1",))}, ())
    made = drawing(graph, Shown((1,)), palette={"I1": 0})
    assert "\u202e" not in str(made)

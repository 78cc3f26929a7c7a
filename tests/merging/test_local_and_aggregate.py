"""Merging inside a table, and of outgoing filters, against the same without merging."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl
from posetlib.merging.aggregate_merging import AggregateMerger
from posetlib.merging.local_merging import LocalMerger

from .worlds import NOTIFICATIONS, filters, matched

INTERFACES = ("I1", "I2", "I3")
#: A filter and an interface to add, or a number: the entry to remove.
steps = st.lists(
    st.one_of(
        st.tuples(filters(), st.sampled_from(INTERFACES)),
        st.tuples(filters(("x", "y")), st.sampled_from(INTERFACES)),
        st.integers(0, 50),
    ),
    max_size=25,
)
SOME = NOTIFICATIONS[::7]


@settings(max_examples=40)
@given(steps, st.sampled_from(["nrf", "fp", "linear"]), st.booleans())
def test_a_table_with_mergers_matches_as_one_without(
    todo: list[Any], structure: str, perfect: bool
) -> None:
    merger = LocalMerger(structure, perfect)
    plain = pl.make_table(structure)
    for step in todo:
        if isinstance(step, int):
            entries = plain.entries()
            if not entries:
                continue
            if step == 0:
                plain.drop_interface("I1")
                merger.drop_interface("I1")
            else:
                entry = entries[step % len(entries)]
                plain.remove(*entry)
                merger.remove(*entry)
        else:
            plain.add(*step)
            merger.add(*step)
        merger.check()
        assert set(merger.asked.entries()) == set(plain.entries())
    for each in SOME:
        if perfect:
            assert merger.match(each) == plain.match(each)
        else:
            assert merger.match(each) >= plain.match(each)


def test_a_merger_has_one_interface() -> None:
    """[T, Def. 8.1]: what two interfaces hold is merged for each of them alone."""
    merger = LocalMerger()
    merger.add(pl.parse_filter("x in [0, 1]"), "I1")
    merger.add(pl.parse_filter("x in [1, 2]"), "I2")
    assert len(merger.table) == 2
    merger.add(pl.parse_filter("x in [1, 3]"), "I1")
    assert {(str(one), i) for one, i in merger.table.entries()} == {
        ("x in [0, 3]", "I1"),
        ("x in [1, 2]", "I2"),
    }
    whole = pl.parse_filter("x in [0, 3]")
    assert len(merger.components(whole, "I1")) == 2
    with pytest.raises(pl.UnknownEntryError):
        merger.components(whole, "I9")
    with pytest.raises(pl.UnknownEntryError):
        merger.remove(whole, "I1")  # nobody asked for the merger itself
    merger.discard(whole, "I1")
    merger.check()


@settings(max_examples=40)
@given(steps, st.sampled_from(["nrf", "fp"]), st.booleans())
def test_every_neighbour_is_sent_what_it_is_due(
    todo: list[Any], structure: str, perfect: bool
) -> None:
    table = pl.make_table(structure)
    merger = AggregateMerger(perfect)
    neighbours = [*INTERFACES, "I4"]
    for number, step in enumerate(todo):
        if isinstance(step, int):
            entries = table.entries()
            if entries:
                table.remove(*entries[step % len(entries)])
        else:
            table.add(*step)
        forwards = pl.forwards_sets(table, neighbours)
        merger.update(forwards)
        if number % 3 and number < len(todo) - 1:
            continue
        entries = merger.entries()
        assert len(entries) <= len(forwards)
        for neighbour in neighbours:
            due = matched(one for one, to in forwards.items() if neighbour in to)
            sent = matched(one for one, to in entries.items() if neighbour in to)
            assert sent == due if perfect else sent | due == sent


def test_filters_with_other_forwards_sets_are_not_merged() -> None:
    merger = AggregateMerger()
    one, other = pl.parse_filter("x in [0, 1]"), pl.parse_filter("x in [1, 2]")
    merger.update({one: frozenset({"I1"}), other: frozenset({"I2"})})
    assert len(merger.entries()) == 2
    merger.update({one: frozenset({"I2"}), other: frozenset({"I2"})})
    (sent,) = merger.entries()
    assert merger.components(sent) == {frozenset({"I2"}): frozenset({one, other})}


def test_what_a_merger_covers_is_not_sent_where_it_goes() -> None:
    """[T, Eq. 8.1]"""
    merger = AggregateMerger()
    halves = [pl.parse_filter("x in [0, 5]"), pl.parse_filter("x in [5, 9]")]
    within = pl.parse_filter("x in [4, 6]")
    merger.update({**dict.fromkeys(halves, frozenset("AB")), within: frozenset("BC")})
    assert {str(one): set(to) for one, to in merger.entries().items()} == {
        "x in [0, 9]": {"A", "B"},
        "x in [4, 6]": {"C"},
    }


def test_bad_options_are_refused_before_the_first_filter() -> None:
    for make in (LocalMerger, AggregateMerger):
        with pytest.raises(ValueError, match="choice is"):
            make(choice="any")


def test_of_two_mergers_that_cover_each_other_one_is_sent() -> None:
    """Two hierarchies make filters that are equivalent and not equal: neither replaces both."""
    down = pl.TypeHierarchy({"B": ["A"], "C": ["B"]})
    up = pl.TypeHierarchy({"C": ["A"], "B": ["C"]})
    aggregate = AggregateMerger()
    aggregate.update(
        {
            pl.parse_filter(f"type isa {name} and x in [{low}, {low + 1}]", types=types): to
            for name, types, to in (("B", down, {"N1", "N2"}), ("C", up, {"N2", "N3"}))
            for low in (0, 1)
        }
    )
    assert {str(one): set(to) for one, to in aggregate.entries().items()} == {
        "type isa B and x in [0, 2]": {"N1", "N2"},
        "type isa C and x in [0, 2]": {"N3"},
    }

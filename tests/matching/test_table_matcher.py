"""The matcher inside a table answers what the table's walk answers, through all changes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import posetlib as pl
from posetlib.matching import BitmapMatcher, TableMatcher

from .worlds import VALUES, Backwards, random_filter, random_notification, ranges

TABLES: dict[str, Any] = {
    "fp": pl.FiltersPoset,
    "pf": pl.PosetForest,
    "bf": pl.BalancedForest,
    "nrf": pl.NonRedundantForest,
    "linear": pl.LinearTable,
    "pf-local": lambda: pl.PosetForest(local=True),
}

# Covering says nothing about strings that do not compare as strings do.
LAWFUL = [value for value in VALUES if not isinstance(value, Backwards)]


def attached(table: Any) -> TableMatcher:
    """A matcher that follows a table, whatever the table's own relation has."""
    matcher = TableMatcher(table, BitmapMatcher)
    table._links.attach(matcher)
    return matcher


def _walk(table: Any, notifications: list[Any]) -> list[frozenset[Any]]:
    return [frozenset(table.match_account(each).interfaces) for each in notifications]


@pytest.mark.parametrize("name", TABLES)
def test_it_follows_every_change(name: str) -> None:
    random = Random(f"following-{name}")
    table = TABLES[name]()
    matcher = attached(table)
    notifications = [random_notification(random, LAWFUL) for _ in range(15)]
    for step in range(120):
        filter, interface = random_filter(random), random.choice("abcd")
        chance = random.random()
        if chance < 0.7:
            table.add(filter, interface)
        elif chance < 0.9 and len(table):
            table.remove(*random.choice(table.entries()))
        elif chance < 0.97:
            table.remove_covered(filter, interface)
        else:
            table.drop_interface(interface)
        if step % 7 == 0:
            assert matcher.match_many(notifications) == _walk(table, notifications)
            assert isinstance(matcher._matcher, BitmapMatcher)
            assert set(matcher._matcher.entries()) == set(table.entries())


def test_an_operation_that_is_undone_is_undone_here() -> None:
    table = pl.NonRedundantForest()
    matcher = attached(table)
    table.add(pl.parse_filter("x > 3"), "I1")
    assert matcher.match_many([{"x": 5}]) == [{"I1"}]

    def refuse(_: pl.Change) -> None:
        raise RuntimeError("no")

    table.listen(refuse)
    with pytest.raises(RuntimeError):
        table.add(pl.parse_filter("x > 1"), "I2")
    assert matcher.match_many([{"x": 5}]) == [{"I1"}] == _walk(table, [{"x": 5}])


@pytest.mark.parametrize("name", TABLES)
def test_single_matches_are_served_once_walks_have_visited_as_many_as_there_are(name: str) -> None:
    for kind in ("narrow", "uniform"):
        table = TABLES[name]()
        for i, filter in enumerate(ranges(1, 300, kind)):
            table.add(filter, i)
        table = table.restored(table.snapshot(), index=True, local=table.local)
        probe = {"x": 50.0, "y": 50.0}
        each = len(table.match_account(probe).visited)
        expected = table.match(probe)
        walks = 1
        while table._matcher._matcher is None:
            assert table._matcher._visits == walks * each
            assert table._matcher._visits - each < len(table), "it should be built by now"
            assert table.match(probe) == expected
            walks += 1
        # The last match was the first to be asked of the matcher: the walks before were enough.
        assert len(table) <= (walks - 1) * each < len(table) + each
        assert table.match(probe) == expected


def test_long_walks_are_followed_by_fewer_than_short_ones() -> None:
    walks = {}
    for text in ("x = %", "x in [0, %]"):  # all incomparable, and a chain of which none matches
        table = pl.NonRedundantForest()
        for i in range(1, 201):
            table.add(pl.parse_filter(text.replace("%", str(i))), i)
        walks[text] = 0
        while table._matcher is None or table._matcher._matcher is None:
            assert table.match({"x": -1}) == frozenset()
            walks[text] += 1
    # A walk of 200 visits is enough; of the chain it takes 200, since the root does not match.
    assert walks == {"x = %": 2, "x in [0, %]": 201}


def test_a_walk_with_a_bound_or_an_account_is_not_counted() -> None:
    table = pl.NonRedundantForest()
    for i in range(100):
        table.add(pl.parse_filter(f"x = {i}"), i)
    for _ in range(10):
        table.match({"x": 1}, max_tests=1_000)
        table.match_account({"x": 1})
    assert table._matcher is None


def test_a_large_batch_is_worth_it_at_once_and_a_small_one_walks() -> None:
    table = pl.NonRedundantForest()
    for i in range(320):
        table.add(pl.parse_filter(f"x = {i}"), i)
    nine = [{"x": i} for i in range(9)]
    assert table.match_many(nine[:1]) == [{0}]
    assert table._matcher is not None
    assert table._matcher._matcher is None
    assert table.match_many(nine) == [{i} for i in range(9)]
    assert table._matcher._matcher is not None, "the walk before was enough"
    again = table.copy()
    assert again.match_many(nine + nine) == [{i} for i in range(9)] * 2
    assert again._matcher is not None
    assert again._matcher._matcher is not None
    assert again._matcher._visits == 0


def test_small_tables_walk() -> None:
    table = pl.LinearTable()
    matcher = attached(table)
    table.add(pl.parse_filter("x > 3"), "I1")
    assert [matcher.match({"x": 5}) for _ in range(100)] == [None] * 100
    assert matcher.match_many([{"x": 5}]) == [{"I1"}]
    assert matcher.match({"x": 5}) is None


def test_tables_of_other_things_walk() -> None:
    table = pl.LinearTable(covers=frozenset.issuperset, matches=lambda item, n: n in item)
    matcher = attached(table)
    table.add(frozenset("ab"), "I1")
    assert matcher.match_many(["a"]) is None
    assert matcher.match_many(["a"]) is None
    assert matcher._matcher is None


def test_the_first_foreign_item_ends_it() -> None:
    table = pl.LinearTable(
        covers=lambda one, other: one == other, matches=lambda item, n: item.matches(n)
    )
    matcher = attached(table)
    table.add(pl.parse_filter("x > 3"), "I1")
    assert matcher.match_many([{"x": 5}]) == [{"I1"}]
    table.add(frozenset("ab"), "I1")
    assert matcher.match_many([{"x": 5}]) is None
    table.remove(frozenset("ab"), "I1")
    assert matcher.match_many([{"x": 5}]) is None, "it is not built again and again"


def test_filters_that_are_asked_are_counted_by_the_table() -> None:
    table = pl.LinearTable()
    table.add(pl.parse_filter("x has 3"), "I1")
    assert attached(table).match_many([{"x": [3]}, {"y": 1}]) == [{"I1"}, set()]
    assert table.counters.match_tests == 1

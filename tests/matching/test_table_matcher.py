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


def test_single_matches_are_served_when_an_index_is_worth_it() -> None:
    table = pl.NonRedundantForest()
    matcher = attached(table)
    for i, filter in enumerate(ranges(1, 300, "narrow")):
        table.add(filter, i % 3)
    held, probe = len(table), {"x": 50.0, "y": 50.0}
    answers = [matcher.match(probe) for _ in range(30)]
    assert answers[0] is None, "one match is not worth it"
    assert held >= 64
    assert answers[-1] == table.match(probe)


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

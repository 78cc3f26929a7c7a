"""The matcher inside a table answers what the table's walk answers, through all changes."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest

import posetlib as pl
from posetlib.matching import BitmapMatcher, TableMatcher, columns, table_matcher
from posetlib.matching.columns import RangeColumns

from .worlds import (
    VALUES,
    Backwards,
    points,
    random_filter,
    random_notification,
    ranges,
    scan,
)

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
    matcher = TableMatcher(table, table._links, BitmapMatcher)
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


@pytest.fixture
def no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a table walk until its matcher is built."""
    monkeypatch.setattr(table_matcher, "_FILTERS_PER_VISIT", 0)
    monkeypatch.setattr(table_matcher, "_FILTERS_PER_ROOT", 0)


@pytest.mark.usefixtures("no_columns")
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


@pytest.mark.usefixtures("no_columns")
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


@pytest.mark.usefixtures("no_columns")
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


# -- columns ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["uniform", "narrow"])
@pytest.mark.parametrize("interfaces", [3, 2_000])
@pytest.mark.parametrize("name", TABLES)
def test_columns_serve_until_the_matcher_does(name: str, interfaces: int, kind: str) -> None:
    table = TABLES[name]()
    table.update((filter, i % interfaces) for i, filter in enumerate(ranges(2, 300, kind)))
    table = table.restored(table.snapshot(), index=True, local=table.local)
    served = set()
    for probe in points(4, 150) * 4:
        assert table.match(probe) == frozenset(table.match_account(probe).interfaces)
        served.add((table._matcher._columns is not None, table._matcher._matcher is not None))
    assert (True, False) in served, "columns had their time"
    assert (False, True) in served, "the matcher is built in the end"
    assert (True, True) not in served, "columns go when the matcher comes"


def test_a_table_with_many_roots_does_not_walk_at_all() -> None:
    table = pl.PosetForest()
    table.update((filter, i) for i, filter in enumerate(ranges(1, 300, "narrow")))
    table.match({"x": 50.0, "y": 50.0})
    assert table.counters.match_tests == 0


def test_columns_end_with_the_first_change() -> None:
    table = pl.PosetForest()
    table.update((filter, i) for i, filter in enumerate(ranges(1, 300, "narrow")))
    probe = {"x": 50.0, "y": 50.0}
    before = table.match(probe)
    assert table._matcher is not None
    assert table._matcher._columns is not None
    table.add(pl.parse_filter("x in [50, 50] and y in [50, 50]"), "new")
    assert table.match(probe) == before | {"new"}
    assert table._matcher._columns is None, "they are not made again and again"
    table.remove(pl.parse_filter("x in [50, 50] and y in [50, 50]"), "new")
    assert table.match(probe) == before
    assert table._matcher._columns is None


def test_columns_know_which_interface_holds_which_filter() -> None:
    """Also where a filter has several: none of them may slip to the next filter."""
    filters = ranges(5, 200, "narrow")
    table = pl.PosetForest(local=True)
    table.update((filter, j) for i, filter in enumerate(filters) for j in range(i, i + 1 + i % 3))
    random = Random("several interfaces")
    for _ in range(40):
        probe = {"x": random.uniform(0, 100), "y": random.uniform(0, 100)}
        assert [table.match(probe)] == scan(table.entries(), [probe])
    assert table._matcher is not None
    assert table._matcher._columns is not None


@pytest.mark.parametrize("seed", range(6))
def test_columns_match_as_a_scan_does(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any filters and values; columns may decline to answer, but never answer wrongly."""
    monkeypatch.setattr(columns, "_PAIRS_PER_OTHER", 0)
    monkeypatch.setattr(columns, "_FEW_INTERFACES", 2 if seed % 2 else 1024)
    random = Random(f"columns-{seed}")
    pairs: list[Any] = [(random_filter(random), random.choice("abcd")) for _ in range(60)]
    pairs += [(filter, i % 5) for i, filter in enumerate(ranges(seed, 40))]
    for name, high in (("x", 2**53), ("y", 2**53 + 1)):
        texts = (f"{name} in [0, {high}]", f"{name} in [0, {high}] and pos.x in [0, 100]")
        pairs += [(pl.parse_filter(text), high) for text in texts]
    made = RangeColumns.made(*zip(*pairs, strict=True))
    assert made is not None
    answered = 0
    for _ in range(150):
        values = LAWFUL if random.random() < 0.3 else (0, 1, 2.0, 50.5, 100, 2**53, 2**53 + 1)
        probe = random_notification(random, values)
        found = made.match(probe)
        if found is not None:
            answered += 1
            assert [found] == scan(pairs, [probe]), probe
    assert answered > 20


def test_columns_decline_what_they_cannot_hold() -> None:
    text = "x in [1, 3] and y in [0, 9]"
    assert RangeColumns.made([pl.parse_filter(text)], [1]) is not None
    assert RangeColumns.made([pl.parse_filter("x != 3")], [1]) is None
    assert RangeColumns.made([frozenset("a")], [1]) is None
    assert (
        RangeColumns.made([pl.parse_filter(f"x{i} in [1, 3]") for i in range(17)], [1] * 17) is None
    )
    made = RangeColumns.made([pl.parse_filter(text)], [1])
    assert made is not None
    assert made.match({"x": "a", "y": 1}) is None
    assert made.match({"x": 2**60, "y": 1}) is None
    assert made.match(3) is None  # type: ignore[arg-type]
    assert made.match({"y": 1}) == frozenset()


@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize("names", [("x",), ("x", "y"), ("x", "y", "z")])
def test_columns_match_at_the_very_ends(
    names: tuple[str, ...], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values that are ends of ranges, of single points too, and values beyond all of them."""
    monkeypatch.setattr(columns, "_FEW_HITS", few)
    random = Random(f"ends-{names}-{few}")

    def some_range(name: str) -> str:
        low = random.randrange(6)
        return f"{name} in [{low}, {low + random.choice((0, 1, 3, 9))}]"

    pairs: list[Any] = [
        (pl.parse_filter(" and ".join(map(some_range, names))), random.randrange(50))
        for _ in range(120)
    ]
    made = RangeColumns.made(*zip(*pairs, strict=True))
    assert made is not None
    ends = (-1, 0, 1, 2.5, 3, 5.0, 8, 14, 15, math.inf, -math.inf, math.nan)
    for _ in range(100):
        probe = {name: random.choice(ends) for name in names}
        assert [made.match(probe)] == scan(pairs, [probe]), probe

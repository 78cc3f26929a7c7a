"""The walk: what it may skip, what it must not, and what types spare it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from posetlib.filters.parsing import parse_filter
from posetlib.tables import Table, make_table
from posetlib.tables.filter_relation import ByAttribute
from tests.tables.kinds import KINDS, SETS

ALL = frozenset("abcd")


def make(kind: str, **options: Any) -> Table:
    cls, more = KINDS[kind]
    return cls(**options, **more)


class TestWalk:
    def test_goes_below_what_it_does_not_test(self) -> None:
        """A filter whose interfaces are in the answer is not tested, but its children are."""
        for structure in ("fp", "pf"):
            table = make_table(structure)
            top, side, below = map(parse_filter, ("x > 0", "y > 0", "x > 0 and z > 0"))
            table.add(side, "I1")
            table.add(top, "I1")
            table.add(below, "I2")
            account = table.match_account({"x": 1, "y": 1, "z": 1})
            assert account.skipped == (top,)
            assert account.matched == (side, below)
            assert account.interfaces == {"I1", "I2"}

    def test_stops_when_everyone_is_in(self) -> None:
        for structure in ("fp", "pf", "bf", "nrf"):
            table = make_table(structure, covers=lambda a, b: a == b, matches=lambda a, n: True)
            for i in range(100):
                table.add(i, "I1" if i % 2 else "I2")
            assert table.match_account("anything").tests == 2

    def test_fails_early(self) -> None:
        for kind in ("fp", "pf", "bf", "nrf"):
            table = SETS.make(kind)
            for i, item in enumerate(SETS.items):
                table.add(item, i)
            assert table.match_account("x").tests == 1

    @pytest.mark.parametrize("structure", ["bf", "nrf"])
    def test_the_index_prunes_only_what_is_known(self, structure: str) -> None:
        table = make_table(structure)
        a = parse_filter("a > 0")
        table.add(a, "I1")
        table.add(parse_filter("b > 0"), "I2")
        for i in range(10):
            table.add(parse_filter(f"a > 0 and c = {i}"), "I2")
        table.add(parse_filter("d > 0"), "I3")
        account = table.match_account({"a": 1, "b": 1, "c": 3})
        assert account.interfaces == {"I1", "I2"}
        assert account.pruned == ()  # I2 was not in yet when its turn came

    @pytest.mark.parametrize("structure", ["bf", "nrf"])
    def test_pruning_saves_visits(self, structure: str) -> None:
        table = make_table(structure)
        first, second = parse_filter("b > 0"), parse_filter("a > 0")
        table.add(first, "I2")
        table.add(second, "I1")
        for i in range(10):
            table.add(parse_filter(f"a > 0 and c = {i}"), "I2")
        table.add(parse_filter("z > 0"), "I3")
        account = table.match_account({"a": 1, "b": 1, "c": 3})
        assert account.interfaces == {"I1", "I2"}
        assert account.pruned == (second,)
        assert len(account.visited) == 3

    def test_a_poset_waits_for_all_parents(self) -> None:
        table = make_table("fp")
        one, other, both = map(parse_filter, ("a > 0", "b > 0", "a > 0 and b > 0"))
        for i, each in enumerate((one, other, both)):
            table.add(each, i)
        account = table.match_account({"a": 1})
        assert both not in account.visited
        assert table.matching({"a": 1}) == {one}
        assert table.match({"a": 1, "b": 1}) == {0, 1, 2}

    def test_a_bound_gives_all_that_may_match(self) -> None:
        for kind in KINDS:
            table = SETS.make(kind)
            for i, item in enumerate(SETS.items):
                table.add(item, i)
            for bound in range(len(SETS.items) + 1):
                account = table.match_account("a", max_tests=bound)
                assert account.tests <= bound
                assert account.interfaces >= table.match("a")
                assert not set(account.assumed) & set(account.tested)
                assert account.interfaces == table.match("a", max_tests=bound)


class TestTypes:
    TEXTS = (
        "true",
        "exists type",
        "x > 0",
        'type = "A"',
        'type = "A" and x > 0',
        'type = "A" and x > 5',
        'type = "B"',
        'type = "B" and x > 5',
        'type in {"A", "B"}',
        'type in {"A", "B"} and x > 1',
        'type prefix "A"',
        "type = 3",
        "type isa A",
        "type isa A and x > 7",
        'type >= "A" and type <= "A" and y = 1',
    )

    def test_kinds(self) -> None:
        kinds = [ByAttribute().of(parse_filter(text)) for text in self.TEXTS]
        assert kinds == [None] * 3 + ["A"] * 3 + ["B"] * 2 + [None] * 6 + ["A"]
        assert ByAttribute("k").of(parse_filter('k = "v"')) == "v"

    @pytest.mark.parametrize("kind", KINDS)
    def test_do_not_change_any_answer(self, kind: str) -> None:
        rng = random.Random(kind)
        filters = [parse_filter(text) for text in self.TEXTS]
        notifications = [
            {**({} if t is None else {"type": t}), "x": x, "y": 1}
            for t in (None, "A", "B", "AB", "C", 3, ["A"], True)
            for x in (0, 2, 6, 9)
        ]
        saved = 0
        for _ in range(30):
            typed = make(kind)
            plain = make(kind, covers=_covers, matches=_matches)
            for _ in range(25):
                item, interface = rng.choice(filters), rng.choice("abc")
                if rng.random() < 0.7:
                    assert set(typed.add(item, interface).pairs_added) == set(
                        plain.add(item, interface).pairs_added
                    )
                else:
                    typed.discard(item, interface)
                    plain.discard(item, interface)
                typed.check()
                assert typed.entries() == plain.entries() or kind in ("pf", "bf")
                assert typed.roots() == plain.roots() or kind in ("pf", "bf")
            assert typed.match_many(notifications) == [
                frozenset(i for f, i in typed.entries() if f.matches(n)) for n in notifications
            ]
            saved += plain.counters.covering_tests - typed.counters.covering_tests
            for item in filters:
                assert set(typed.covering(item)) == {
                    each for each in typed if each.covers(item) and not item.covers(each)
                }
        assert saved > 0

    def test_cost_nothing_to_the_others(self) -> None:
        for structure in ("fp", "pf", "bf", "nrf"):
            table = make_table(structure)
            table.add(parse_filter("x > 90"), "untyped")
            for i in range(100):
                table.add(parse_filter(f'type = "T{i}" and x > 1'), i)
            table.counters.reset()
            table.add(parse_filter('type = "T7" and x > 5'), "I1")
            # Against the untyped root and the one of its type, and what hangs from these.
            assert table.counters.covering_tests <= 6
            account = table.match_account({"type": "T7", "x": 6})
            assert account.tests == 3
            assert account.interfaces == {7, "I1"}
            assert table.match_account({"type": "T200", "x": 6}).tests == 1
            assert table.match_account({"x": 6}).tests == 1


def _covers(one: Any, other: Any) -> bool:
    return bool(one.covers(other))


def _matches(one: Any, notification: Any) -> bool:
    return bool(one.matches(notification))

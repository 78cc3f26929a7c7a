"""The same classes for any items and any preorder: sets, networks, prefixes, numbers."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, ip_address, ip_network
from typing import Any

import pytest

from posetlib.errors import UnknownEntryError
from posetlib.filters.parsing import parse_filter
from posetlib.tables import PosetForest, Table, make_table
from tests.tables.kinds import KINDS, WORDS


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(kind: str, **options: Any) -> Table:
    cls, more = KINDS[kind]
    return cls(**options, **more)


def supernet(one: IPv4Network, other: IPv4Network) -> bool:
    return other.subnet_of(one)


def holds(network: IPv4Network, address: IPv4Address) -> bool:
    return address in network


def test_networks(kind: str) -> None:
    table = make(kind, covers=supernet, matches=holds)
    networks = [
        ip_network(text)
        for text in ("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.2.0.0/16", "192.168.0.0/16")
    ]
    for i, network in enumerate(networks):
        table.add(network, f"eth{i}")
    table.check()
    assert table.roots() == (networks[0], networks[4])
    assert table.children(networks[0]) == (networks[1], networks[3])
    assert table.match(ip_address("10.1.2.3")) == {"eth0", "eth1", "eth2"}
    table.remove(networks[1], "eth1")
    assert table.parents(networks[2]) == (networks[0],)


def test_prefixes(kind: str) -> None:
    table = make(
        kind,
        covers=lambda one, other: other.startswith(one),
        matches=lambda prefix, word: word.startswith(prefix),
    )
    for word in ("ab", "abc", "b", "a", ""):
        table.add(word, f"I-{word}")
    table.check()
    assert table.roots() == ("",)
    assert table.children("") == ("b", "a")
    assert table.covering("abcd") == ("ab", "abc", "a", "")
    assert table.matching("abx") == {"ab", "a", ""}


def test_sets(kind: str) -> None:
    table = make(kind, covers=frozenset.issuperset, matches=frozenset.__contains__)
    for i, letters in enumerate(("xyz", "xy", "y", "z")):
        table.add(frozenset(letters), i)
    assert table.roots() == (frozenset("xyz"),)
    assert table.match("y") == {0, 1, 2}


class TestEquivalentItems:
    """Words that have the same letters are equivalent, and not equal."""

    def test_share_a_node(self, kind: str) -> None:
        table = WORDS.make(kind)
        table.add("ab", "I1")
        change = table.add("BA", "I2")
        assert change.pairs_added == (("ab", "I2"),)
        assert not change.added
        assert list(table) == ["ab"]
        assert table.entries() == (("ab", "I1"), ("ab", "I2"))
        assert table.interfaces("BA") == table.interfaces("Ab") == {"I1", "I2"}
        assert "bA" in table
        table.check()

    def test_are_removed_by_any_of_them(self, kind: str) -> None:
        for removed_by in ("ab", "BA", "aB"):
            table = WORDS.make(kind)
            table.add("ab", "I1")
            table.add("BA", "I2")
            assert table.remove(removed_by, "I2").pairs_removed == (("ab", "I2"),)
            with pytest.raises(UnknownEntryError):
                table.remove("BA", "I2")
            assert table.remove("BA", "I1").removed == ("ab",)
            assert "ab" not in table

    def test_the_first_one_stands_for_all_as_long_as_the_node_lives(self, kind: str) -> None:
        table = WORDS.make(kind)
        table.add("ab", "I1")
        table.add("BA", "I2")
        table.remove("ab", "I1")
        assert list(table) == ["ab"]
        table.remove("BA", "I2")
        table.add("BA", "I3")
        assert list(table) == ["BA"]

    def test_from_one_interface_count_once(self, kind: str) -> None:
        table = WORDS.make(kind)
        table.add("ab", "I1")
        assert not table.add("ba", "I1")
        assert table.remove("ba", "I1").removed == ("ab",)

    def test_are_found_again_without_a_test(self, kind: str) -> None:
        table = WORDS.make(kind)
        for word in ("a", "ab", "c", "abc"):
            table.add(word, word)
        table.add("BA", "I2")
        table.counters.reset()
        table.remove("BA", "I2")
        assert table.counters.covering_tests == 0
        other = table.copy()
        assert "BA" in other
        assert other.counters.covering_tests == 0

    def test_are_forgotten_with_their_node(self, kind: str) -> None:
        table = WORDS.make(kind)
        for _ in range(3):
            table.add("ab", "I1")
            table.add("BA", "I2")
            table.drop_interface("I1")
            table.drop_interface("I2")
        assert not table._links.aliases
        assert not table._links.nodes


class TestDefaults:
    def test_filters_that_are_equivalent_and_not_equal(self, kind: str) -> None:
        one = parse_filter('s >= "a" and s not contains "a"')
        other = parse_filter('s >= "b" and s not contains "a"')
        assert one != other
        assert one.covers(other)
        assert other.covers(one)
        for first, second in ((one, other), (other, one)):
            table = make(kind)
            table.add(parse_filter("true"), "I0")
            table.add(parse_filter("s is string"), "I9")
            table.add(first, "I1")
            table.add(second, "I2")
            assert len(table) == 3
            assert table.interfaces(second) == {"I1", "I2"}
            table.check()

    def test_tables_of_filters(self, kind: str) -> None:
        table = make(kind)
        general, special = parse_filter("x > 1"), parse_filter("x > 2")
        table.add(special, "I1")
        table.add(general, "I2")
        assert table.parents(special) == (general,)
        assert table.match({"x": 1.5}) == {"I2"}
        assert table.match({"x": 3}) == {"I1", "I2"}

    def test_something_else_is_refused_at_once(self, kind: str) -> None:
        table = make(kind)
        with pytest.raises(TypeError, match="covers="):
            table.add("x > 1", "I1")
        assert len(table) == 0

    def test_canonical_items_need_fewer_tests(self) -> None:
        plain, told = (
            PosetForest(covers=frozenset.issuperset, canonical=canonical)
            for canonical in (False, True)
        )
        for table in (plain, told):
            for i in range(40):
                table.add(frozenset({i % 7, i % 5, i % 3}), i)
                table.add(frozenset({i % 7, i % 5}), -i)
            table.check()
        assert plain == told
        assert told.counters.covering_tests < plain.counters.covering_tests

    def test_a_function_may_say_which_items_are_canonical(self, kind: str) -> None:
        table = make(kind, covers=WORDS.covers, canonical=str.islower)
        table.add("a", "I1")
        assert "A" in table
        # A canonical item may be equivalent to one that is not, and is in the table already.
        table.add("B", "I1")
        table.add("b", "I2")
        assert list(table) == ["a", "B"]
        assert "b" in table
        table.remove("b", "I2")
        table.remove("b", "I1")
        table.counters.reset()
        assert "b" not in table  # only canonical items are left: nothing to search for
        assert table.counters.covering_tests == 0
        assert make_table("fp", canonical=True)._relation.is_canonical("whatever")

"""What the thesis proves of posets and forests, and what the peers got wrong."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posetlib.filters.parsing import parse_filter
from posetlib.tables import PosetForest, Table, make_table
from posetlib.tables.forwards import forwards_sets
from tests.tables.kinds import BOXES, KINDS, SETS, WORDS, World, box_covers
from tests.tables.lockstep import minimal_cover, picture

worlds = st.sampled_from([SETS, BOXES])


@st.composite
def loads(draw: st.DrawFn) -> tuple[World, list[tuple[Any, str]]]:
    world = draw(worlds)
    pair = st.tuples(st.sampled_from(list(world.items)), st.sampled_from("abc"))
    return world, draw(st.lists(pair, min_size=1, max_size=14))


def depth(table: Table) -> int:
    deepest = 0
    level = set(table.roots())
    while level:
        deepest += 1
        level = {child for item in level for child in table.children(item)}
    return deepest


@given(loads())
def test_theorem_3_3_no_path_is_longer_than_there_are_interfaces(load: Any) -> None:
    world, pairs = load
    for kind in ("fp", "pf", "bf", "nrf"):
        table = world.build(kind, pairs)
        assert depth(table) <= len({interface for _, interface in table.entries()})


def test_theorem_3_3_is_tight() -> None:
    for structure in ("fp", "pf", "bf", "nrf"):
        table = make_table(structure)
        for i, bound in enumerate((0, 5, 10, 12)):
            table.add(parse_filter(f"x > {bound}"), f"i{i}")
        assert depth(table) == 4


@given(loads(), st.randoms(use_true_random=False))
def test_theorem_3_7_roots_are_the_minimal_cover_wherever_the_rest_hangs(
    load: Any, rng: random.Random
) -> None:
    world, pairs = load
    assert world.covers is not None
    items = list(dict.fromkeys(item for item, _ in pairs))
    expected = set(minimal_cover(items, world.covers))
    for kind in KINDS:
        rng.shuffle(items)
        table = world.build(kind, [(item, i) for i, item in enumerate(items)])
        assert set(table.roots()) == expected


def test_theorem_3_9_the_overlap_with_a_set_is_that_with_its_roots() -> None:
    rng = random.Random(9)

    def boxes(count: int) -> list[Any]:
        bounds = [
            [*sorted(rng.sample(range(20), 2)), *sorted(rng.sample(range(20), 2))]
            for _ in range(count)
        ]
        return [parse_filter(f"x in [{a}, {b}] and y in [{c}, {d}]") for a, b, c, d in bounds]

    for _ in range(20):
        filters, others = boxes(15), boxes(15)
        for kind, (cls, options) in KINDS.items():
            table = cls.build([(f, i) for i, f in enumerate(filters)], **options)
            for other in others:
                whole = any(f.overlaps(other) for f in filters)
                assert any(f.overlaps(other) for f in table.roots()) == whole, kind


class TestPlacementIndependence:
    @given(loads(), st.randoms(use_true_random=False))
    def test_any_order_gives_the_same(self, load: Any, rng: random.Random) -> None:
        world, pairs = load
        shuffled = list(pairs)
        rng.shuffle(shuffled)
        for kind in ("fp", "linear", "linear-local"):
            assert world.build(kind, pairs) == world.build(kind, shuffled)
        neighbours = ["a", "b", "c", "d"]
        one, other = world.build("nrf", pairs), world.build("nrf", shuffled)
        assert set(one.entries()) == set(other.entries())
        assert set(one.entries()) == set(world.build("fp", pairs).entries())
        assert forwards_sets(one, neighbours) == forwards_sets(other, neighbours)
        for kind in KINDS:
            one, other = world.build(kind, pairs), world.build(kind, shuffled)
            assert set(one.roots()) == set(other.roots())
            assert one.match_many(world.notifications) == other.match_many(world.notifications)

    def test_every_order_of_a_small_poset(self) -> None:
        letters = ("abc", "ab", "bc", "b", "ac")
        pairs = [(frozenset(each), f"I{i % 3}") for i, each in enumerate(letters)]
        tables = [SETS.build("fp", order) for order in permutations(pairs)]
        assert all(table == tables[0] for table in tables)


class TestFaultsOfPeers:
    """PEERS: each was found by running another implementation."""

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("seed", range(3))
    def test_after_adding_many_and_removing_half(self, kind: str, seed: int) -> None:
        rng = random.Random(seed)
        table = make_table(
            KINDS[kind][0].structure,
            covers=BOXES.covers,
            matches=BOXES.matches,
            canonical=True,
            **KINDS[kind][1],
        )
        boxes = []
        while len(boxes) < 120:
            box = tuple(tuple(sorted(rng.sample(range(30), 2))) for _ in range(2))
            if box not in boxes:
                boxes.append(box)
        for i, box in enumerate(boxes):
            table.add(box, i)
        table.check()  # no redundant edge; a new root evicts the roots it covers
        gone = rng.sample(range(len(boxes)), 60)
        for i in gone:
            table.remove(boxes[i], i)
        table.check()  # nothing unreachable, no ghost root
        left = [box for i, box in enumerate(boxes) if i not in gone]
        assert list(table) == left
        assert set(table.roots()) == set(minimal_cover(left, box_covers))
        for _ in range(50):
            point = (rng.randrange(30), rng.randrange(30))
            expected = {
                i for i, box in enumerate(boxes) if box in left and BOXES.matches(box, point)
            }  # type: ignore[misc]
            assert table.match(point) == expected

    @pytest.mark.parametrize("kind", KINDS)
    def test_removed_filters_match_no_more(self, kind: str) -> None:
        table = SETS.make(kind)
        for item in SETS.items:
            table.add(item, "I1")
            table.remove(item, "I1")
        assert table.match("a") == frozenset()
        assert picture(table) == ((), (), {})


@given(st.permutations(list(WORDS.items)))
def test_equivalent_items_share_a_node_whichever_comes_first(words: list[str]) -> None:
    for kind in KINDS:
        table = WORDS.make(kind)
        for i, word in enumerate(words):
            table.add(word, i)
        table.check()
        firsts = list({frozenset(word.lower()): word for word in reversed(words)}.values())
        assert set(table) == set(firsts)
        for i, word in enumerate(words):
            assert word in table
            assert i in table.interfaces(word)
        for i, word in enumerate(words):
            table.remove(word, i)
        assert len(table) == 0


@pytest.mark.parametrize("kind", ["pf", "bf", "nrf"])
def test_orphans_of_two_nodes_that_meet_below_a_third(kind: str) -> None:
    """One that lands among the siblings of another's orphan may be covered by that orphan."""
    table = SETS.make(kind)
    for letters, interface in (
        ("abcdef", "I0"),
        ("abf", "gone"),
        ("abcde", "I1"),
        ("abcd", "gone"),
        ("ab", "I2"),
        ("abc", "I3"),
    ):
        table.add(frozenset(letters), interface)
    assert table.parents(frozenset("ab")) == (frozenset("abf"),)
    table.drop_interface("gone")
    table.check()
    assert table.parents(frozenset("ab")) == (frozenset("abc"),)


def test_nrf_refuses_what_its_interface_covers_in_another_tree() -> None:
    """The branch that an add prefers may lead to its interface, and miss the covering filter."""
    table: Table = make_table("nrf", covers=frozenset.issuperset)
    for letters, interface in (("ab", "I2"), ("b", "I1"), ("ac", "I1")):
        table.add(frozenset(letters), interface)
    assert not table.add(frozenset("a"), "I1")
    assert frozenset("a") not in table
    table.check()


def test_pairs_removed_are_named_in_the_order_in_which_their_interfaces_came() -> None:
    # The two interfaces of b are met on two levels of its new branch, the later one first.
    table: PosetForest[frozenset[str]] = PosetForest(covers=frozenset.issuperset)
    for pair in ("abc I2", "bcd I2", "abd I3", "bd I4", "b I4", "b I3"):
        letters, interface = pair.split()
        table.add(frozenset(letters), interface)
    before = table.entries()
    change = table.add(frozenset("abcd"), "I2")
    assert change.pairs_removed == tuple(p for p in before if p not in table.entries())
    b = frozenset("b")
    assert [pair for pair in change.pairs_removed if pair[0] == b] == [(b, "I4"), (b, "I3")]

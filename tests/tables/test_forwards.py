"""Forwards sets: the worked examples in every order, and the mechanisms against one another."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posetlib.filters.parsing import parse_filter
from posetlib.tables import Table, make_table
from posetlib.tables.forwards import forwards_excess, forwards_sets
from posetlib.tables.snapshot import Snapshot, SnapshotNode
from tests.tables.kinds import KINDS, SETS

A, B, C, D, E = (
    parse_filter(f"x in [{low}, {high}]")
    for low, high in ((0, 50), (60, 100), (10, 40), (70, 90), (20, 30))
)
FIRST = ((A, "I1"), (B, "I1"), (C, "I2"), (D, "I2"), (E, "I3"))
NEIGHBOURS = ("I1", "I2", "I3")


def sets(table: Table, neighbours: Any = NEIGHBOURS) -> dict[Any, set[Any]]:
    """The forwards sets by the table's own mechanism, which must be those of the naive one."""
    own = forwards_sets(table, neighbours)
    assert own == forwards_sets(table, neighbours, "naive")
    for mechanism in (None, "naive"):
        for item in (node.item for node in table.snapshot().nodes):
            alone = forwards_sets(table, neighbours, mechanism, of=[item])
            assert alone == ({item: own[item]} if item in own else {})
    return {item: set(found) for item, found in own.items()}


@pytest.mark.parametrize("structure", ["fp", "nrf", "linear"])
class TestWorkedExamples:
    def test_the_first_in_every_order(self, structure: str) -> None:
        for order in permutations(FIRST):
            table = make_table(structure)
            for item, interface in order:
                table.add(item, interface)
            table.check()
            rest = {B: {"I2", "I3"}, D: {"I1"}}
            assert sets(table) == {A: {"I2", "I3"}, C: {"I1"}, **rest}
            table.remove(A, "I1")
            assert sets(table) == {C: {"I1", "I3"}, E: {"I2"}, **rest}

    def test_the_second_in_every_order(self, structure: str) -> None:
        for order in permutations(SECOND):
            table = make_table(structure)
            for item, interface in order:
                table.add(item, interface)
            see_the_second(table)


F1, F2, F3, F4 = (
    parse_filter(text)
    for text in ("x in [0, 60]", "x in [40, 100]", "x in [45, 55]", "x in [48, 52]")
)
SECOND = ((F1, "c"), (F2, "c"), (F3, "a"), (F4, "b"))


def see_the_second(table: Table) -> None:
    """[T, Ex. 3.2]: the removal of F3 must send F4 to c."""
    neighbours = ["a", "b", "c"]
    roots = {F1: {"a", "b"}, F2: {"a", "b"}}
    assert sets(table, neighbours) == {**roots, F3: {"c"}}
    table.remove(F3, "a")
    table.check()
    assert sets(table, neighbours) == {**roots, F4: {"c"}}


class TestPlacements:
    @pytest.mark.parametrize(("third", "fourth"), [(F1, F3), (F2, F3), (F1, F2), (F2, F1)], ids=str)
    def test_every_placement_in_a_forest(self, third: Any, fourth: Any) -> None:
        items = [F1, F2, F3, F4]
        nodes = tuple(SnapshotNode(i, item, (each,)) for i, (item, each) in enumerate(SECOND))
        edges = ((items.index(third), 2), (items.index(fourth), 3))
        table = Snapshot("nrf", nodes, edges).restore()
        table.check()
        assert table.parents(F4) == (fourth,)
        see_the_second(table)

    def test_hung_under_the_other_root_by_adding(self) -> None:
        table = make_table("nrf")
        for item, interface in (SECOND[1], SECOND[3], SECOND[0]):
            table.add(item, interface)
        # Where its interface lives already, a filter is tried first.
        helper = parse_filter("x in [1, 2]")
        table.add(helper, "a")
        table.add(F3, "a")
        table.remove(helper, "a")
        assert table.parents(F3) == (F1,)
        assert table.parents(F4) == (F2,)
        see_the_second(table)


class TestSemantics:
    def test_the_set_depends_on_who_holds_the_filter(self) -> None:
        table = make_table("fp")
        table.add(A, "I1")
        assert sets(table) == {A: {"I2", "I3"}}
        table.add(A, "I2")
        assert sets(table) == {A: {"I1", "I2", "I3"}}
        table.remove(A, "I1")
        assert sets(table) == {A: {"I1", "I3"}}

    def test_local_clients_are_no_neighbour(self) -> None:
        table = make_table("nrf")
        table.add(A, "local")
        table.add(C, "I1")
        assert sets(table) == {A: {"I1", "I2", "I3"}}

    def test_no_neighbours(self) -> None:
        table = make_table("fp")
        table.add(A, "I1")
        assert sets(table, []) == {}
        assert sets(table, ["I1"]) == {}

    def test_what_does_not_fit_is_refused(self) -> None:
        fits = {"fp": {"poset"}, "nrf": {"forest", "approximate"}}
        for kind in KINDS:
            table = SETS.make(kind)
            for mechanism in ("naive", "poset", "forest", "approximate"):
                if mechanism == "naive" or mechanism in fits.get(kind, ()):
                    assert forwards_sets(table, NEIGHBOURS, mechanism) == {}
                else:
                    with pytest.raises(ValueError, match="does not fit"):
                        forwards_sets(table, NEIGHBOURS, mechanism)
            with pytest.raises(ValueError, match="unknown mechanism"):
                forwards_sets(table, NEIGHBOURS, "magic")
        with pytest.raises(TypeError):
            forwards_sets(make_table("fp"), "I1")

    def test_tests_are_counted(self) -> None:
        fp, nrf = make_table("fp"), make_table("nrf")
        for item, interface in FIRST:
            fp.add(item, interface)
            nrf.add(item, interface)
        for table, mechanism, none in (
            (fp, "poset", True),
            (nrf, "approximate", True),
            (nrf, "forest", False),
            (fp, "naive", False),
        ):
            table.counters.reset()
            forwards_sets(table, NEIGHBOURS, mechanism)
            assert (table.counters.covering_tests == 0) == none

    def test_the_excess_of_the_approximate_mechanism(self) -> None:
        # [T, Fig. 3.5]: hung under the wrong one of two roots, a filter seems to be new to a
        # neighbour that has the other root.
        table = make_table("nrf")
        one, other, both = (parse_filter(f"x in [{a}, {b}]") for a, b in ((0, 6), (4, 9), (5, 6)))
        table.add(one, "I1")
        table.add(other, "I2")
        table.add(both, "I3")
        exact = forwards_sets(table, NEIGHBOURS)
        more = forwards_sets(table, NEIGHBOURS, "approximate")
        assert both not in exact
        assert more[both] == {"I1"}
        assert forwards_excess(table, NEIGHBOURS) == {both: {"I1"}}


pairs = st.lists(
    st.tuples(st.sampled_from(SETS.items), st.sampled_from("abcd")), min_size=1, max_size=20
)


class TestMechanisms:
    @given(pairs, st.sets(st.sampled_from("abcde")))
    def test_all_agree(self, given_pairs: Any, neighbours: set[str]) -> None:
        found = []
        for kind in ("fp", "nrf", "linear"):
            table = SETS.build(kind, given_pairs)
            found.append(forwards_sets(table, neighbours, "naive"))
            found.append(forwards_sets(table, neighbours))
        assert all(each == found[0] for each in found)
        more = forwards_sets(table := SETS.build("nrf", given_pairs), neighbours, "approximate")
        assert all(more[item] >= sent for item, sent in found[0].items())
        excess = forwards_excess(table, neighbours)
        none: frozenset[str] = frozenset()
        assert more == {item: found[0].get(item, none) | excess.get(item, none) for item in more}

    @given(
        pairs,
        st.dictionaries(st.sampled_from(SETS.items), st.sets(st.sampled_from("abcde")), min_size=8),
    )
    def test_all_agree_for_any_function_of_the_filter(
        self, given_pairs: Any, given_sets: dict[Any, set[str]]
    ) -> None:
        # Not even monotone: then Theorem 3.4 fails, and all levels count.
        def neighbours(item: Any) -> set[str]:
            return given_sets.get(item, {"a", "b"})

        found = []
        for kind in ("fp", "nrf", "linear"):
            table = SETS.build(kind, given_pairs)
            found.append(forwards_sets(table, neighbours, "naive"))
            found.append(forwards_sets(table, neighbours))
        assert all(each == found[0] for each in found)
        table = SETS.build("nrf", given_pairs)
        more = forwards_sets(table, neighbours, "approximate")
        assert all(more[item] >= sent for item, sent in found[0].items())

    @given(pairs, st.sets(st.sampled_from("abcde")))
    def test_equation_3_1_as_it_is_written(self, given_pairs: Any, neighbours: set[str]) -> None:
        table = SETS.build("linear", given_pairs)
        known: dict[Any, frozenset[str]] = {}
        for item in sorted(table, key=len, reverse=True):
            holders = table.interfaces(item)
            sent = neighbours - (holders if len(holders) == 1 else frozenset())
            for other in table.covering(item):
                sent -= known[other]
            known[item] = frozenset(sent)
        expected = {item: sent for item, sent in known.items() if sent}
        assert forwards_sets(SETS.build("fp", given_pairs), neighbours) == expected
        assert forwards_sets(SETS.build("nrf", given_pairs), neighbours) == expected

    @given(pairs)
    def test_theorem_3_4(self, given_pairs: Any) -> None:
        """Only roots and their direct successors have a non-empty set."""
        for kind in ("fp", "nrf"):
            table = SETS.build(kind, given_pairs)
            roots = set(table.roots())
            for item in forwards_sets(table, list("abcd"), "naive"):
                assert item in roots or roots.intersection(table.parents(item))

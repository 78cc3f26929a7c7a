"""The contract of a table: every structure runs through all of it."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import pytest

from posetlib.errors import UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.graph.change import Change
from posetlib.tables import Table, make_table
from tests.tables.kinds import (
    KINDS,
    LETTERS_IN_MODELS,
    RANGES,
    SETS,
    index_short_lists,
    without_index,
)

A, B, AB, BC, ABC, NONE = (frozenset(letters) for letters in ("a", "b", "ab", "bc", "abc", ""))
WORLD = SETS


@pytest.fixture(
    params=[SETS, RANGES, without_index(RANGES), *LETTERS_IN_MODELS], ids=lambda world: world.name
)
def _world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the letters are: sets with an order of their own, or filters of each data model."""
    if request.param is not SETS:
        module = sys.modules[__name__]
        monkeypatch.setattr(module, "WORLD", request.param)
        for name in ("A", "B", "AB", "BC", "ABC", "NONE"):
            monkeypatch.setattr(module, name, request.param.of_letters(globals()[name]))
        index_short_lists(monkeypatch)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, _world: None) -> str:
    return str(request.param)


@pytest.fixture
def table(kind: str) -> Table:
    return WORLD.make(kind)


def filled(kind: str) -> Table:
    table = WORLD.make(kind)
    for item, interface in ((AB, "I1"), (BC, "I2"), (B, "I3"), (A, "I2")):
        table.add(item, interface)
    return table


class TestUpdates:
    def test_an_empty_table(self, table: Table) -> None:
        assert len(table) == 0
        assert table.roots() == ()
        assert table.entries() == ()
        assert list(table) == []
        assert table.match("a") == frozenset()
        assert not table
        table.check()

    def test_the_first_add(self, table: Table) -> None:
        change = table.add(AB, "I1")
        assert change == Change(added=(AB,), roots_added=(AB,), pairs_added=((AB, "I1"),))
        assert change
        assert AB in table
        assert len(table) == 1
        assert table.interfaces(AB) == frozenset({"I1"})
        assert table.parents(AB) == table.children(AB) == ()

    def test_adding_twice_says_nothing_new(self, table: Table) -> None:
        table.add(AB, "I1")
        assert table.add(AB, "I1") == Change()
        assert not table.add(AB, "I1")
        assert table.entries() == ((AB, "I1"),)

    def test_a_new_root_above(self, table: Table) -> None:
        table.add(A, "I1")
        change = table.add(AB, "I2")
        assert change.added == (AB,)
        assert change.moved == (A,)
        assert change.roots_added == (AB,)
        assert change.roots_removed == (A,)
        assert table.parents(A) == (AB,)
        assert table.children(AB) == (A,)
        table.check()

    def test_removing_the_root(self, table: Table) -> None:
        table.add(A, "I1")
        table.add(AB, "I2")
        change = table.remove(AB, "I2")
        assert change == Change(
            removed=(AB,),
            moved=(A,),
            roots_added=(A,),
            roots_removed=(AB,),
            pairs_removed=((AB, "I2"),),
        )
        assert table.roots() == (A,)

    def test_a_second_interface(self, table: Table) -> None:
        table.add(AB, "I1")
        assert table.add(AB, "I2") == Change(pairs_added=((AB, "I2"),))
        assert table.remove(AB, "I1") == Change(pairs_removed=((AB, "I1"),))
        assert table.interfaces(AB) == {"I2"}

    def test_elimination_by_interface(self, kind: str, table: Table) -> None:
        table.add(A, "I1")
        change = table.add(AB, "I1")
        if table.local:
            assert set(table.entries()) == {(A, "I1"), (AB, "I1")}
            assert not change.removed
        else:
            assert table.entries() == ((AB, "I1"),)
            assert change.removed == (A,)
            assert change.pairs_removed == ((A, "I1"),)
            assert not table.add(A, "I1")

    @pytest.mark.parametrize("letters", ["A", "ABC"], ids=["known", "unknown"])
    def test_removing_what_is_not_there(self, table: Table, letters: str) -> None:
        item = globals()[letters]
        table.add(A, "I1")
        with pytest.raises(UnknownEntryError, match="I2"):
            table.remove(item, "I2")
        with pytest.raises(KeyError):
            table.remove(item, "I2")
        assert table.discard(item, "I2") == Change()
        assert table.entries() == ((A, "I1"),)

    def test_discard(self, table: Table) -> None:
        table.add(A, "I1")
        assert table.discard(A, "I1").removed == (A,)

    def test_drop_interface(self, kind: str) -> None:
        table = filled(kind)
        change = table.drop_interface("I2")
        assert set(change.pairs_removed) == {(BC, "I2"), (A, "I2")}
        assert set(table.entries()) == {(AB, "I1"), (B, "I3")}
        assert table.drop_interface("I2") == Change()
        assert table.drop_interface("nobody") == Change()
        table.check()

    def test_remove_covered(self, kind: str) -> None:
        table = filled(kind)
        change = table.remove_covered(ABC, "I2")
        assert set(change.pairs_removed) == {(BC, "I2"), (A, "I2")}
        assert table.remove_covered(ABC, "I2") == Change()
        # The filter itself is one that it covers, and other interfaces keep theirs.
        assert table.remove_covered(AB, "I1").removed == (AB,)
        assert table.entries() == ((B, "I3"),)
        table.check()

    def test_unhashable_items_are_refused(self, table: Table) -> None:
        with pytest.raises(TypeError):
            table.add({"a"}, "I1")
        with pytest.raises(TypeError):
            table.add(A, ["I1"])
        assert len(table) == 0
        table.check()


class TestReading:
    def test_unknown_items(self, kind: str) -> None:
        table = filled(kind)
        for ask in (table.parents, table.children, table.interfaces):
            with pytest.raises(UnknownEntryError, match="not in the table"):
                ask(ABC)
        assert ABC not in table

    def test_order_of_insertion(self, kind: str) -> None:
        table = filled(kind)
        assert list(table) == [AB, BC, B, A]
        assert table.roots() == (AB, BC)
        assert table.children(AB) == (B, A)
        assert table.entries() == ((AB, "I1"), (BC, "I2"), (B, "I3"), (A, "I2"))

    def test_covering_and_covered(self, kind: str) -> None:
        table = filled(kind)
        assert table.covering(B) == (AB, BC)
        assert table.covering(NONE) == (AB, BC, B, A)
        assert table.covering(ABC) == ()
        assert table.covered(ABC) == (AB, BC, B, A)
        assert table.covered(AB) == (B, A)
        assert table.covered(NONE) == ()

    def test_matching(self, kind: str) -> None:
        table = filled(kind)
        assert table.match("a") == {"I1", "I2"}
        assert table.match("c") == {"I2"}
        assert table.matching("b") == {AB, BC, B}
        assert table.match("d") == frozenset()
        assert table.match_many("abcd") == [table.match(letter) for letter in "abcd"]

    def test_bounded_matching_errs_by_more_only(self, kind: str) -> None:
        table = filled(kind)
        for letter in "abcd":
            exact = table.match(letter)
            for bound in range(6):
                before = table.counters.match_tests
                assert table.match(letter, max_tests=bound) >= exact
                assert table.counters.match_tests - before <= bound
            assert table.match(letter, max_tests=100) == exact
        assert table.match("d", max_tests=0) == {"I1", "I2", "I3"}
        with pytest.raises(ValueError, match="negative"):
            table.match("a", max_tests=-1)

    def test_the_account_of_a_match(self, kind: str) -> None:
        table = filled(kind)
        for letter in "abcd":
            before = table.counters.match_tests
            account = table.match_account(letter)
            assert account.tests == table.counters.match_tests - before
            assert account.interfaces == table.match(letter)
            assert set(account.visited) == set(account.tested) | set(account.skipped)
            assert len(account.visited) == len(account.tested) + len(account.skipped)
            assert set(account.matched) <= set(account.tested)
            assert set(account.matched) <= table.matching(letter)
            assert account.assumed == ()
        assert set(table.match_account("a", max_tests=0).assumed) == set(table)

    def test_no_matching_without_matches(self, kind: str) -> None:
        cls, options = KINDS[kind]
        table = cls(covers=WORLD.covers or Filter.covers, **options)
        table.add(A, "I1")
        for ask in (table.match, table.matching, table.match_account):
            with pytest.raises(TypeError, match="matches="):
                ask("a")

    def test_counters(self, kind: str) -> None:
        calls = []

        def covers(one: Any, other: Any) -> bool:
            calls.append((one, other))
            return bool(one >= other)

        cls, options = KINDS[kind]
        table = cls(covers=covers, **options)
        for i, item in enumerate(SETS.items):
            table.add(item, i % 3)
        for i, item in enumerate(SETS.items):
            table.discard(item, i % 3)
            table.covering(item)
            table.covered(item)
            assert table.counters.covering_tests == len(calls)
        table.counters.reset()
        assert table.counters.covering_tests == 0
        before = len(calls)
        table.check()
        table.snapshot()
        assert table.counters.covering_tests == 0
        assert len(calls) >= before


class TestContainer:
    def test_iteration_sees_changes(self, kind: str) -> None:
        table = filled(kind)
        iterator = iter(table)
        next(iterator)
        table.add(AB, "I9")  # no new filter, but not the same table
        with pytest.raises(RuntimeError, match="changed"):
            next(iterator)

    def test_iteration_does_not_mind_what_changes_nothing(self, kind: str) -> None:
        table = filled(kind)
        for item in table:
            table.discard(item, "nobody")
            table.add(AB, "I1")

    @pytest.mark.parametrize(
        "copied",
        [Table.copy, copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))],
        ids=["copy", "copy.copy", "deepcopy", "pickle"],
    )
    def test_copies(self, kind: str, copied: Any) -> None:
        table = filled(kind)
        told: list[Change] = []
        table.listen(told.append)
        other = copied(table)
        assert type(other) is type(table)
        assert other == table
        assert other.local == table.local
        assert list(other) == list(table)
        assert other.entries() == table.entries()
        assert other.roots() == table.roots()
        other.check()
        assert other.add(ABC, "I9") == table.add(ABC, "I9")
        assert other == table
        other.remove(ABC, "I9")
        assert other != table
        assert len(told) == 1
        assert other.match("a") == {"I1", "I2"}

    def test_equality(self, kind: str) -> None:
        table = filled(kind)
        assert table == filled(kind)
        assert table != WORLD.make(kind)
        assert table != "something else"
        with pytest.raises(TypeError):
            hash(table)
        for other in KINDS:
            if other != kind:
                assert filled(other) != table

    def test_repr(self, kind: str) -> None:
        assert "4 filters, 2 roots, 3 interfaces" in repr(filled(kind))
        assert type(filled(kind)).__name__ in repr(filled(kind))

    def test_make_table(self, kind: str) -> None:
        cls, options = KINDS[kind]
        made = make_table(cls.structure, covers=frozenset.issuperset, **options)
        assert type(made) is cls
        assert made.local == options.get("local", False)
        with pytest.raises(ValueError, match="unknown structure 'tree'"):
            make_table("tree")

    @pytest.mark.parametrize("structure", ["fp", "bf", "nrf"])
    def test_local_is_for_plain_forests_and_lists(self, structure: str) -> None:
        with pytest.raises(TypeError):
            make_table(structure, local=True)

    def test_build(self, kind: str) -> None:
        pairs = filled(kind).entries()
        assert WORLD.build(kind, iter(pairs)) == filled(kind)


class TestListeners:
    def test_told_of_every_change_and_nothing_else(self, table: Table) -> None:
        told: list[Change] = []
        stop = table.listen(told.append)
        changes = [table.add(A, "I1"), table.add(AB, "I2")]
        table.add(A, "I1")
        table.discard(B, "I1")
        assert told == changes
        stop()
        stop()
        table.add(BC, "I1")
        assert told == changes

    def test_told_when_it_is_done(self, table: Table) -> None:
        seen = []
        table.listen(lambda change: seen.append((change.added, len(table), table.roots())))
        table.add(A, "I1")
        table.add(AB, "I2")
        assert seen == [((A,), 1, (A,)), ((AB,), 2, (AB,))]

    def test_one_that_raises_undoes_the_operation(self, kind: str) -> None:
        table = filled(kind)
        before = table.copy()
        told: list[Change] = []

        def refuse(_change: Change) -> None:
            raise ValueError("no")

        table.listen(told.append)
        stop = table.listen(refuse)
        for operation in (
            lambda: table.add(ABC, "I2"),
            lambda: table.remove(AB, "I1"),
            lambda: table.drop_interface("I2"),
            lambda: table.remove_covered(ABC, "I3"),
        ):
            told.clear()
            with pytest.raises(ValueError, match="no"):
                operation()
            assert table == before
            assert list(table) == list(before)
            assert table.entries() == before.entries()
            table.check()
            done, undone = told
            assert undone == done.inverse()
        stop()
        assert table.add(ABC, "I2") == before.add(ABC, "I2")

    def test_none_may_change_the_table(self, table: Table) -> None:
        table.listen(lambda change: table.add(BC, "I9"))
        with pytest.raises(RuntimeError, match="listener"):
            table.add(A, "I1")
        assert len(table) == 0

"""Chains and fans of 50,000: nothing recurses, and nothing is quadratic that need not be."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from posetlib.filters.parsing import parse_filter
from posetlib.tables import Table, make_table
from posetlib.tables.diff import diff
from posetlib.tables.forwards import forwards_sets
from posetlib.tables.snapshot import Snapshot, SnapshotNode

N = 50_000


def larger(one: int, other: int) -> bool:
    return one >= other


def at_most(item: int, number: int) -> bool:
    return number <= item


def chain(structure: str, **options: Any) -> Table:
    table = make_table(structure, covers=larger, matches=at_most, canonical=True, **options)
    for i in range(N):
        table.add(i, "I" if table.local else i)
    return table


def hub_and_rim(structure: str) -> Table:
    """One node above all others, made without asking who covers whom."""
    nodes = (SnapshotNode(0, 0, ("hub",)), *(SnapshotNode(i, i, (i,)) for i in range(1, N)))
    edges = tuple((0, i) for i in range(1, N))
    table: Table = Snapshot(structure, nodes, edges).restore(
        covers=_hub_covers, matches=_hub_matches, canonical=True
    )
    return table


def _hub_covers(one: int, other: int) -> bool:
    return one in (0, other)


def _hub_matches(item: int, number: int) -> bool:
    return item in (0, number)


@pytest.mark.parametrize(
    ("structure", "options"),
    [("fp", {}), ("pf", {}), ("bf", {}), ("nrf", {}), ("pf", {"local": True})],
    ids=["fp", "pf", "bf", "nrf", "pf-local"],
)
class TestChain:
    def test_life_of_a_chain(self, structure: str, options: dict[str, bool]) -> None:
        table = chain(structure, **options)
        assert len(table) == N
        assert table.roots() == (N - 1,)
        # The most special came first: each new root is held against one other, twice.
        assert table.counters.covering_tests <= 3 * N
        assert len(table.match(N - 1)) == 1
        assert len(table.match(0)) == (1 if table.local else N)
        table.check()
        before = pickle.loads(pickle.dumps(table))
        assert before == table
        if structure in ("fp", "nrf"):
            assert list(forwards_sets(table, range(N))) == [N - 2, N - 1]

        middle = table.remove(N // 2, "I" if table.local else N // 2)
        assert middle.moved == (N // 2 - 1,)
        top = table.remove(N - 1, "I" if table.local else N - 1)
        assert top.roots_added == (N - 2,)
        assert table.drop_interface("I" if table.local else 0).removed
        assert len(diff(before, table).nodes_removed) == (N if table.local else 3)


def test_other_forms_of_a_chain() -> None:
    table = chain("pf")
    snapshot = table.snapshot()
    assert snapshot.restore(covers=larger, matches=at_most, canonical=True) == table
    assert snapshot.to_networkx().number_of_edges() == N - 1
    assert snapshot.to_dot().count("->") == N - 1
    assert copy.deepcopy(table) == table.copy()


@pytest.mark.parametrize("structure", ["fp", "pf", "bf", "nrf"])
class TestFan:
    def test_life_of_a_fan(self, structure: str) -> None:
        table = hub_and_rim(structure)
        assert len(table.children(0)) == N - 1
        assert table.match(7) == {"hub", 7}
        assert table.remove(7, 7).removed == (7,)
        table.counters.reset()
        change = table.remove(0, "hub")
        assert len(change.roots_added) == N - 2
        # The children were siblings: none is held against another one.
        assert table.counters.covering_tests == 0
        assert len(table.roots()) == N - 2
        assert table.match(9) == {9}
        again = table.drop_interface(9)
        assert again.roots_removed == (9,)

    def test_a_fan_of_types(self, structure: str) -> None:
        """As many event types: a filter is held against those of its own type and no others."""
        table = make_table(structure)
        kinds = 1_000
        filters = [
            parse_filter(f'type = "T{i % kinds}" and x in [{i // kinds}, 100]')
            for i in range(4 * kinds)
        ]
        for i, each in enumerate(filters):
            table.add(each, i)
        assert len(table.roots()) == kinds
        assert table.counters.covering_tests <= 12 * len(filters)
        table.counters.reset()
        assert table.match({"type": "T7", "x": 2}) == {7, kinds + 7, 2 * kinds + 7}
        assert table.counters.match_tests <= 4
        assert table.match({"type": "?", "x": 1}) == table.match({"x": 1}) == frozenset()

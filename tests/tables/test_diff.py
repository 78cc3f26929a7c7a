"""Diffs of tables and snapshots."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from posetlib.filters.parsing import parse_filter
from posetlib.tables import make_table
from posetlib.tables.diff import Diff, diff
from posetlib.tables.forwards import forwards_sets
from tests.tables.kinds import KINDS, SETS

A, B, C = (parse_filter(text) for text in ("x in [0, 50]", "x in [10, 40]", "x in [20, 30]"))


def test_the_parts() -> None:
    table = make_table("fp")
    table.add(A, "I1")
    table.add(C, "I2")
    before = table.snapshot()
    table.add(B, "I3")
    table.add(C, "I4")
    found = diff(before, table, neighbours=["I1", "I2", "I3", "I4"])
    assert found == Diff(
        nodes_added=(B,),
        edges_added=((A, B), (B, C)),
        edges_removed=((A, C),),
        moved=(C,),
        interfaces_gained=((C, "I4"),),
        forwards_changed=(
            (C, frozenset({"I1"}), frozenset()),
            (B, frozenset(), frozenset({"I1"})),
        ),
    )
    assert found
    back = diff(table, before)
    assert back.nodes_removed == (B,)
    assert back.interfaces_lost == ((C, "I4"),)
    assert back.edges_added == ((A, C),)
    assert not back.forwards_changed


def test_no_difference() -> None:
    table = make_table("nrf")
    table.add(A, "I1")
    assert not diff(table, table.copy())
    assert str(diff(table, table)) == "no difference"


def test_roots_and_text() -> None:
    one, other = make_table("fp"), make_table("pf")
    one.add(B, "I1")
    other.add(B, "I2")
    other.add(A, "I1")
    found = diff(one, other, neighbours=["I1", "I2"])
    assert found.roots_added == (A,)
    assert found.roots_removed == (B,)
    assert str(found).splitlines() == [
        "nodes added: x in [0, 50]",
        "edges added: x in [0, 50] → x in [10, 40]",
        "moved: x in [10, 40]",
        "interfaces gained: x in [10, 40], I2",
        "interfaces lost: x in [10, 40], I1",
        "roots added: x in [0, 50]",
        "roots removed: x in [10, 40]",
        "forwards changed: x in [10, 40]: {I2} → {I1}",
        "forwards changed: x in [0, 50]: {} → {I2}",
    ]
    assert json.loads(json.dumps(found.to_dict()))["forwards_changed"] == [
        ["x in [10, 40]", ["I2"], ["I1"]],
        ["x in [0, 50]", [], ["I2"]],
    ]


def test_snapshots_of_other_items() -> None:
    table = SETS.make("fp")
    table.add(frozenset("a"), "I1")
    before = table.snapshot()
    table.add(frozenset("ab"), "I2")
    found = diff(before, table.snapshot(), neighbours=["I1", "I2"], covers=frozenset.issuperset)
    assert len(found.forwards_changed) == 1


pairs = st.lists(st.tuples(st.sampled_from(SETS.items), st.sampled_from("abc")), max_size=12)


@given(st.sampled_from(list(KINDS)), st.sampled_from(list(KINDS)), pairs, pairs)
def test_a_diff_leads_from_one_to_the_other(kind: str, other: str, old: Any, new: Any) -> None:
    a, b = SETS.build(kind, old), SETS.build(other, new)
    found = diff(a, b, neighbours=["a", "b", "c"])
    nodes = (set(a) - set(found.nodes_removed)) | set(found.nodes_added)
    assert nodes == set(b)
    assert (set(a.roots()) - set(found.roots_removed)) | set(found.roots_added) == set(b.roots())
    edges = {(p, c) for c in a for p in a.parents(c)}
    edges = (edges - set(found.edges_removed)) | set(found.edges_added)
    assert edges == {(p, c) for c in b for p in b.parents(c)}
    both = set(a) & set(b)
    assert set(found.moved) == {i for i in both if set(a.parents(i)) != set(b.parents(i))}
    held = {pair for pair in a.entries() if pair[0] in both}
    held = (held - set(found.interfaces_lost)) | set(found.interfaces_gained)
    assert held == {pair for pair in b.entries() if pair[0] in both}
    sets = forwards_sets(a, ["a", "b", "c"])
    for item, before, after in found.forwards_changed:
        assert sets.pop(item, frozenset()) == before
        if after:
            sets[item] = after
    assert sets == forwards_sets(b, ["a", "b", "c"])
    assert bool(found) == (a._content() != b._content() or bool(found.forwards_changed))

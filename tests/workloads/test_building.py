"""Tables from columns are those that adding makes, wherever these are determined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posetlib import Filter, parse_filter
from posetlib.arrays.building import (
    BuiltTable,
    build_forest,
    build_order,
    interfaces_below,
    replayed,
)
from posetlib.arrays.positions import Vocabulary
from posetlib.arrays.ranges import encode_filters
from posetlib.generating import Parameters, generated_filters
from posetlib.tables import Shape, Table, make_table, structure_named
from posetlib.tables.snapshot import Snapshot, SnapshotNode

CASES: list[tuple[str, dict[str, Any], int]] = [
    ("fp", {}, 4),
    ("linear", {}, 4),
    ("linear", {"local": True}, 4),
    ("nrf", {}, 4),
    ("pf", {"local": True}, 4),
    ("pf", {}, 10_000),
    ("bf", {}, 10_000),
]


def restored_from(
    made: BuiltTable, filters: list[Filter], structure: str, *, local: bool = False
) -> Table[Filter]:
    """The table that arrays describe."""
    holders: dict[int, list[int]] = {}
    for node, interface in zip(
        made.pair_nodes.tolist(), made.pair_interfaces.tolist(), strict=True
    ):
        holders.setdefault(node, []).append(interface)
    nodes = tuple(
        SnapshotNode(place, filters[row], tuple(holders[place]))
        for place, row in enumerate(made.rows.tolist())
    )
    edges = tuple(zip(made.parents.tolist(), made.children.tolist(), strict=True))
    return Snapshot(structure, nodes, edges, local=local).restore()


def held_against_adding(
    structure: str, options: dict[str, Any], texts: list[str], interfaces: np.ndarray[Any, Any]
) -> None:
    filters = [parse_filter(text) for text in texts]
    columns = encode_filters(filters, Vocabulary())
    local = bool(options)
    forest = structure_named(structure).promises.shape is Shape.FOREST
    make = build_forest if forest else build_order
    made = make(columns, interfaces, local=local)
    table = make_table(structure, **options)
    for one, interface in zip(filters, interfaces.tolist(), strict=True):
        table.add(one, interface)
    # As a poset forest, since those of others carry an index.
    restored = restored_from(made, filters, "pf" if forest else structure, local=local)
    restored.check()
    assert set(restored.entries()) == set(table.entries())
    assert set(restored.roots()) == set(table.roots())
    if structure in ("fp", "linear"):
        for one in table:
            assert set(restored.parents(one)) == set(table.parents(one))


@pytest.mark.parametrize(("structure", "options", "interfaces"), CASES)
@pytest.mark.parametrize("kind", ["uniform", "narrow", "variable"])
def test_tables_of_generated_loads(
    structure: str, options: dict[str, Any], interfaces: int, kind: str
) -> None:
    p = Parameters(filters=400, kind=kind, seed=8, decimals=0, schemas=2, interfaces=interfaces)
    made = generated_filters(p, np.arange(400))
    texts = made.texts()
    if interfaces > 400:
        # Every filter once: twice the same one would be held by two, and that is another case.
        first = {text: at for at, text in reversed(list(enumerate(texts)))}
        rows = np.array(sorted(first.values()))
        texts = [texts[at] for at in rows]
        held_against_adding(structure, options, texts, made.interfaces[rows])
    else:
        held_against_adding(structure, options, texts, made.interfaces)


RANGES = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(
    lambda ends: f"x in [{min(ends)}, {max(ends)}]"
)


@settings(max_examples=60)
@given(st.lists(st.tuples(RANGES, st.integers(0, 2)), max_size=25), st.sampled_from(CASES[:5]))
def test_tables_of_any_ranges(
    pairs: list[tuple[str, int]], case: tuple[str, dict[str, Any], int]
) -> None:
    interfaces = np.array([interface for _, interface in pairs], np.int64)
    held_against_adding(case[0], case[1], [text for text, _ in pairs], interfaces)


NOTIFICATIONS = [{"x": x} for x in range(7)]


@settings(max_examples=60)
@given(st.lists(st.tuples(RANGES, st.integers(0, 2)), max_size=25))
def test_a_forest_is_settled_along_its_branches(pairs: list[tuple[str, int]]) -> None:
    filters = [parse_filter(text) for text, _ in pairs]
    interfaces = np.array([interface for _, interface in pairs], np.int64)
    made = build_forest(encode_filters(filters, Vocabulary()), interfaces, along_paths=True)
    table = make_table("pf")
    for one, interface in zip(filters, interfaces.tolist(), strict=True):
        table.add(one, interface)
    restored = restored_from(made, filters, "pf")
    restored.check()
    assert set(restored.roots()) == set(table.roots())
    assert set(restored.entries()) <= set(zip(filters, interfaces.tolist(), strict=True))
    assert restored.match_many(NOTIFICATIONS) == table.match_many(NOTIFICATIONS)
    below = interfaces_below(made, np.arange(len(made.rows)))
    found: dict[int, set[int]] = {}
    for node, interface in zip(*(each.tolist() for each in below), strict=True):
        assert interface not in found.setdefault(node, set())
        found[node].add(interface)
    for node, row in enumerate(made.rows.tolist()):
        under = descendants(restored, filters[row])
        held = {each for one in under for each in restored.interfaces(one)}
        assert found.get(node, set()) == held


def descendants(table: Table[Filter], one: Filter) -> set[Filter]:
    found: set[Filter] = set()
    waiting = list(table.children(one))
    while waiting:
        each = waiting.pop()
        found.add(each)
        waiting += table.children(each)
    return found


OPERATIONS = st.lists(st.tuples(st.booleans(), RANGES), max_size=20)


@pytest.mark.parametrize("options", [{}, {"local": True}])
@given(operations=OPERATIONS)
def test_what_an_interface_holds_after_operations(
    options: dict[str, Any], operations: list[tuple[bool, str]]
) -> None:
    filters = [parse_filter(text) for _, text in operations]
    adds = np.array([is_add for is_add, _ in operations], np.bool_)
    columns = encode_filters(filters, Vocabulary())
    rows, clean = replayed(columns, adds, eliminates=not options)
    table = make_table("linear", **options)
    met = False
    for is_add, one in zip(adds.tolist(), filters, strict=True):
        if is_add:
            met = met or any(
                (one.covers(each) or each.covers(one)) and one != each for each in table
            )
            table.add(one, "I1")
        else:
            table.discard(one, "I1")
    assert {filters[row] for row in rows.tolist()} == set(table)
    assert adds[rows].all()
    if not options:
        assert clean == (not met)

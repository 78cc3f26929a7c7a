"""Tables from columns are those that adding makes, wherever these are determined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posetlib import parse_filter
from posetlib.arrays.positions import Vocabulary
from posetlib.arrays.ranges import encode_filters
from posetlib.generating import Parameters, generated_filters
from posetlib.tables import make_table, structure_named
from posetlib.tables.snapshot import Snapshot, SnapshotNode
from workloads.build import built_table, is_determined

CASES: list[tuple[str, dict[str, Any], int]] = [
    ("fp", {}, 4),
    ("linear", {}, 4),
    ("linear", {"local": True}, 4),
    ("nrf", {}, 4),
    ("pf", {"local": True}, 4),
    ("pf", {}, 10_000),
    ("bf", {}, 10_000),
]


def held_against_adding(
    structure: str, options: dict[str, Any], texts: list[str], interfaces: np.ndarray[Any, Any]
) -> None:
    filters = [parse_filter(text) for text in texts]
    columns = encode_filters(filters, Vocabulary())
    local = bool(options)
    promises = structure_named(structure).promises
    assert is_determined(promises, columns, interfaces, local=local)
    made = built_table(promises, columns, interfaces, local=local)
    table = make_table(structure, **options)
    for one, interface in zip(filters, interfaces.tolist(), strict=True):
        table.add(one, interface)
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
    # As a poset forest, since those of others carry an index.
    shape = "pf" if structure in ("bf", "nrf") else structure
    restored = Snapshot(shape, nodes, edges, local=local).restore()
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


def test_what_is_not_determined_is_not_made() -> None:
    words = Vocabulary()
    plain = encode_filters([parse_filter("x > 3"), parse_filter("x > 4")], words)
    both = np.array([0, 0])
    forest, poset = (structure_named(name).promises for name in ("pf", "fp"))
    assert not is_determined(forest, plain, both, local=False)
    assert is_determined(forest, plain, both, local=True)
    other = encode_filters([parse_filter("x != 3")], words)
    assert not is_determined(poset, other, both, local=False)

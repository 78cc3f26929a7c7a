"""check() itself: whatever an invariant forbids is found, and named, with a witness."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posetlib.errors import InvariantError
from posetlib.filters import Filter
from posetlib.filters.parsing import parse_filter
from posetlib.graph.nodes import insert, remove
from posetlib.tables import FiltersPoset, Table, make_table
from posetlib.tables.snapshot import Snapshot

STRUCTURES = ("fp", "pf", "bf", "nrf", "linear")
FORESTS = ("pf", "bf", "nrf")
#: a covers b and c, b covers d; e stands alone.
TEXTS = {
    "a": "x in [0, 100]",
    "b": "x in [0, 50]",
    "c": "x in [60, 90]",
    "d": "x in [10, 20]",
    "e": "y = 1",
}
FILTERS = {name: parse_filter(text) for name, text in TEXTS.items()}


def sound(structure: str, **options: Any) -> Table:
    table = make_table(structure, **options)
    for i, item in enumerate(FILTERS.values()):
        table.add(item, f"I{i}")
    table.check()
    return table


def names(table: Table) -> dict[str, int]:
    """The ids of the filters by their letters."""
    ids = {node.item: node.id for node in table.snapshot().nodes}
    return {name: ids[item] for name, item in FILTERS.items()}


def broken(table: Table, change: Callable[[dict[str, Any], dict[str, int]], None]) -> Table:
    """A table restored from a snapshot after something was done to its text."""
    data = json.loads(table.snapshot().to_json())
    change(data, names(table))
    restored: Table = Snapshot.from_json(json.dumps(data)).restore()
    return restored


def expect(table: Table, invariant: str, *witnesses: str) -> InvariantError:
    with pytest.raises(InvariantError) as caught:
        table.check()
    assert caught.value.invariant == invariant
    for name in witnesses:
        assert FILTERS[name] in _flat(caught.value.witness), caught.value.witness
    assert invariant in str(caught.value)
    with pytest.raises(AssertionError):
        table.check()
    return caught.value


def _flat(witness: Any) -> list[Any]:
    if isinstance(witness, tuple):
        return [each for part in witness for each in _flat(part)]
    return [witness]


def node(data: dict[str, Any], id_: int) -> dict[str, Any]:
    return next(each for each in data["nodes"] if each["id"] == id_)


@pytest.mark.parametrize("structure", STRUCTURES)
class TestEveryStructure:
    def test_a_sound_table_passes(self, structure: str) -> None:
        table = sound(structure)
        assert table.check() is None
        broken(table, lambda data, ids: None).check()

    def test_an_edge_that_does_not_cover(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].append([ids["c"], ids["e"]])

        expect(broken(sound(structure), change), "edge-covers", "c", "e")

    def test_an_edge_upside_down(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].remove([ids["b"], ids["d"]])
            data["edges"].remove([ids["a"], ids["b"]])
            data["edges"] += [[ids["a"], ids["d"]], [ids["d"], ids["b"]]]

        expect(broken(sound(structure), change), "edge-covers", "d", "b")

    def test_an_edge_between_equivalents(self, structure: str) -> None:
        table = make_table(structure, covers=lambda one, other: one > other)
        table.add(2, "I1")
        table.add(1, "I2")
        text = table.snapshot().to_json()
        restored = Snapshot.from_json(text, int).restore(covers=lambda one, other: True)
        with pytest.raises(InvariantError) as caught:
            restored.check()
        assert caught.value.invariant == "edge-covers"
        assert caught.value.witness == (2, 1)

    def test_a_covered_root(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].remove([ids["a"], ids["c"]])

        expect(broken(sound(structure), change), "roots-minimal-cover", "a", "c")

    def test_a_root_covered_from_deep_below(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].remove([ids["b"], ids["d"]])

        expect(broken(sound(structure), change), "roots-minimal-cover", "d")

    def test_a_ghost_root(self, structure: str) -> None:
        table = sound(structure)
        links = table._links
        ghost = links.nodes[FILTERS["d"]]
        links.top.children = insert(links.top.children, ghost)
        ghost.parents = insert(ghost.parents, links.top)
        if structure in FORESTS:
            expect(table, "single-parent", "d")
        else:
            expect(table, "roots-minimal-cover", "d")

    def test_a_cycle(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].append([ids["d"], ids["a"]])

        error = expect(broken(sound(structure), change), "reachable-acyclic", "a", "b", "d")
        assert "cycle" in str(error)

    def test_a_loop(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].append([ids["e"], ids["e"]])

        expect(broken(sound(structure), change), "reachable-acyclic", "e")

    def test_a_node_that_hangs_from_nothing(self, structure: str) -> None:
        table = sound(structure)
        lost = table._links.nodes[FILTERS["e"]]
        top = table._links.top
        top.children = remove(top.children, lost)
        lost.parents = ()
        expect(table, "reachable-acyclic", "e")

    def test_a_subtree_that_hangs_from_nothing(self, structure: str) -> None:
        table = sound(structure)
        lost = table._links.nodes[FILTERS["b"]]
        for parent in lost.parents:
            parent.children = remove(parent.children, lost)
        lost.parents = ()
        expect(table, "reachable-acyclic", "b")

    @pytest.mark.parametrize("side", ["parents", "children"])
    def test_a_link_known_on_one_side_only(self, structure: str, side: str) -> None:
        table = sound(structure)
        a, b = (table._links.nodes[FILTERS[name]] for name in "ab")
        if side == "parents":
            b.parents = remove(b.parents, a)
        else:
            a.children = remove(a.children, b)
        expect(table, "reachable-acyclic", "a", "b")

    def test_a_child_that_left_the_table(self, structure: str) -> None:
        table = sound(structure)
        del table._links.nodes[FILTERS["d"]]
        expect(table, "reachable-acyclic", "b", "d")

    def test_a_node_that_nobody_holds(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            for each in data["nodes"]:
                if "index" in each:
                    each["index"] = [name for name in each["index"] if name != "I3"]
            node(data, ids["d"])["interfaces"] = []

        expect(broken(sound(structure), change), "interfaces-nonempty", "d")

    def test_a_relation_that_has_changed(self, structure: str) -> None:
        larger = [True]
        table = make_table(structure, covers=lambda a, b: (a >= b) if larger[0] else (a <= b))
        for number in (2, 3, 1):
            table.add(number, f"I{number}")
        table.check()
        larger[0] = False
        with pytest.raises(InvariantError, match="edge-covers"):
            table.check()


@pytest.mark.parametrize("structure", FORESTS)
class TestForests:
    def test_two_parents(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].append([ids["a"], ids["d"]])

        expect(broken(sound(structure), change), "single-parent", "d", "a", "b")

    def test_siblings_that_cover_one_another(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].remove([ids["b"], ids["d"]])
            data["edges"].append([ids["a"], ids["d"]])

        expect(broken(sound(structure), change), "sibling-pure", "b", "d")

    def test_an_interface_twice_on_a_path(self, structure: str) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            node(data, ids["d"])["interfaces"].append("I0")
            for name in "ab":
                if "index" in node(data, ids[name]):
                    node(data, ids[name])["index"].append("I0")

        expect(broken(sound(structure), change), "minimum-interface", "a", "d")

    def test_but_local_clients_may(self, structure: str) -> None:
        if structure == "pf":
            table = sound("pf", local=True)
            table.add(FILTERS["d"], "I0")
            table.check()


class TestPoset:
    def test_a_redundant_edge(self) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].append([ids["a"], ids["d"]])

        for structure in ("fp", "linear"):
            expect(broken(sound(structure), change), "sibling-pure", "a", "b", "d")

    def test_a_missing_edge(self) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            data["edges"].remove([ids["b"], ids["d"]])
            data["edges"].append([ids["a"], ids["d"]])

        expect(broken(sound("fp"), change), "complete-order", "b", "d")

    def test_a_missing_edge_across(self) -> None:
        table = FiltersPoset()
        one, other, below = map(parse_filter, ("x in [0, 5]", "x in [3, 9]", "x = 4"))
        for i, item in enumerate((one, other, below)):
            table.add(item, f"I{i}")
        data = json.loads(table.snapshot().to_json())
        data["edges"].remove([1, 2])
        restored = Snapshot.from_json(json.dumps(data)).restore()
        with pytest.raises(InvariantError) as caught:
            restored.check()
        assert caught.value.invariant == "complete-order"
        assert caught.value.witness == (other, below)

    def test_an_interface_twice_on_a_path(self) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            node(data, ids["d"])["interfaces"].append("I0")

        expect(broken(sound("fp"), change), "minimum-interface", "a", "d")


class TestInterfaces:
    def test_a_redundant_pair_across_trees(self) -> None:
        table = make_table("nrf")
        one, other, below = map(parse_filter, ("x in [0, 5]", "x in [3, 9]", "x = 4"))
        for i, item in enumerate((one, other, below)):
            table.add(item, f"I{i}")
        data = json.loads(table.snapshot().to_json())
        assert data["edges"] == [[0, 2]]
        data["nodes"][2]["interfaces"] = ["I1"]
        data["nodes"][0]["index"] = ["I1"]
        restored = Snapshot.from_json(json.dumps(data)).restore()
        with pytest.raises(InvariantError) as caught:
            restored.check()
        assert caught.value.invariant == "no-redundant-pair"
        assert caught.value.witness == (other, below, "I1")
        # The same is no fault in a balanced forest, which eliminates along branches only.
        data["structure"] = "bf"
        Snapshot.from_json(json.dumps(data)).restore().check()

    @pytest.mark.parametrize("structure", ["bf", "nrf"])
    @pytest.mark.parametrize("index", [[], ["I2", "I3", "I4"], ["I2"], ["I1", "I2", "I3", "?"]])
    def test_an_index_that_is_not_what_is_below(self, structure: str, index: list[str]) -> None:
        def change(data: dict[str, Any], ids: dict[str, int]) -> None:
            assert sorted(node(data, ids["a"])["index"]) == ["I1", "I2", "I3"]
            node(data, ids["a"])["index"] = index

        error = expect(broken(sound(structure), change), "interface-index", "a")
        assert frozenset(index) in error.witness
        assert frozenset({"I1", "I2", "I3"}) in error.witness

    def test_forwards_sets_that_differ(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # Given the other invariants the mechanisms agree: only one of them gone wrong tells.
        from posetlib.tables import forwards

        def wrong(nodes: Any, _top: Any, _wanted: Any) -> Any:
            return ((each, frozenset({"I0"})) for each in nodes)

        tables = {structure: sound(structure) for structure in STRUCTURES}
        monkeypatch.setattr(forwards, "_poset", wrong)
        for structure in ("fp", "nrf"):
            expect(tables[structure], "forwards-agree", "a")
        for structure in ("pf", "bf", "linear"):
            tables[structure].check()


# -- against the pairs that were added -------------------------------------------------------------

RANGES = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted)
PAIRS = st.lists(st.tuples(RANGES, st.sampled_from(["I1", "I2", "I3"])), min_size=1, max_size=12)
KINDS = [(each, {}) for each in STRUCTURES] + [("pf", {"local": True}), ("linear", {"local": True})]


def ranged(ends: list[int]) -> Filter:
    return parse_filter(f"x in [{ends[0]}, {ends[1]}]")


@pytest.mark.parametrize(("structure", "options"), KINDS)
@given(pairs=PAIRS, at=st.integers(0, 11))
def test_a_table_holds_what_the_added_pairs_leave_and_no_others(
    structure: str, options: dict[str, Any], pairs: list[tuple[list[int], str]], at: int
) -> None:
    added = [(ranged(ends), interface) for ends, interface in pairs]
    table = make_table(structure, **options)
    for pair in added:
        table.add(*pair)
    table.check(against=added)
    # A pair that nobody added to the table, and that no other one of its interface covers.
    lost = (parse_filter("x in [0, 9]"), added[at % len(added)][1])
    with pytest.raises(InvariantError) as caught:
        table.check(against=[*added, lost])
    assert caught.value.invariant == "entries-served"
    # A pair of the table that nobody asked for.
    extra = table.entries()[at % len(table.entries())]
    with pytest.raises(InvariantError) as caught:
        table.check(against=[pair for pair in added if pair != extra])
    assert caught.value.invariant == "entries-asked"
    assert caught.value.witness == extra


def test_elimination_is_by_interface() -> None:
    pairs = [(FILTERS["c"], "I1"), (FILTERS["b"], "I1")]
    table = make_table("nrf")
    for pair in pairs:
        table.add(*pair)
    table.check(against=pairs)
    # What covers both of them is held by somebody else: then it takes nothing from them.
    table.add(FILTERS["a"], "I2")
    table.check(against=[*pairs, (FILTERS["a"], "I2")])
    with pytest.raises(InvariantError) as caught:
        table.check(against=[*pairs, (FILTERS["a"], "I1"), (FILTERS["a"], "I2")])
    assert caught.value.invariant == "entries-served"


def test_a_pair_that_elimination_should_have_taken_is_told() -> None:
    def same_interface(data: dict[str, Any], ids: dict[str, int]) -> None:
        next(each for each in data["nodes"] if each["id"] == ids["b"])["interfaces"] = ["I0"]

    table = broken(sound("linear"), same_interface)
    with pytest.raises(InvariantError, match="elimination does not leave it") as caught:
        table.check(against=table.entries())
    assert caught.value.invariant == "entries-served"
    assert caught.value.witness == (FILTERS["b"], "I0")


@pytest.mark.parametrize("structure", ["pf", "linear"])
def test_a_local_table_has_every_pair_also_a_covered_one(structure: str) -> None:
    pairs = [(FILTERS["a"], "I1"), (FILTERS["b"], "I1")]
    table = make_table(structure, local=True)
    table.add(*pairs[0])
    with pytest.raises(InvariantError) as caught:
        table.check(against=pairs)
    assert (caught.value.invariant, caught.value.witness) == ("entries-served", pairs[1])
    table.add(*pairs[1])
    table.check(against=pairs)

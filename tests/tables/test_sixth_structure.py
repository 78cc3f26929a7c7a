"""A structure from outside the package is registered, checked, written, compared and replayed."""

from __future__ import annotations

import copy
import json
import pickle
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import posetlib as pl
from posetlib.tables import structures as registry
from tests.sixth import LeanForest, lean_forest, structures_as_before

OWN = ("fp", "pf", "bf", "nrf", "linear")
#: a covers b and c, which both cover d; e stands alone.
TEXTS = {
    "a": "x in [0, 100]",
    "b": "x in [0, 50]",
    "c": "x in [10, 90]",
    "d": "x in [20, 30]",
    "e": "y = 1",
}
FILTERS = {name: pl.parse_filter(text) for name, text in TEXTS.items()}


@pytest.fixture(autouse=True)
def lean() -> Iterator[type[LeanForest]]:
    with lean_forest() as made:
        yield made


def filled(structure: str = "lean", **options: Any) -> pl.Table[Any]:
    table = pl.make_table(structure, **options)
    for i, item in enumerate(FILTERS.values()):
        table.add(item, f"I{i}")
    return table


def random_operations(seed: int, count: int = 200) -> pl.Trace[Any]:
    draw = random.Random(seed)
    trace: pl.Trace[Any] = pl.Trace()
    for _ in range(count):
        low, width = draw.randrange(30), draw.randrange(1, 15)
        item = pl.parse_filter(f"x in [{low}, {low + width}]")
        interface = f"I{draw.randrange(4)}"
        if draw.random() < 0.05:
            trace.drop_interface(interface)
        else:
            (trace.add if draw.random() < 0.7 else trace.remove)(item, interface)
    return trace


class TestRegistering:
    def test_it_is_found_by_its_name_after_those_of_the_library(self) -> None:
        assert pl.structure_names() == (*OWN, "lean")
        assert pl.structure_named("lean") is LeanForest
        assert isinstance(pl.make_table("lean"), LeanForest)

    def test_it_is_forgotten_when_its_tests_are_done(self) -> None:
        with structures_as_before():
            del registry._STRUCTURES["lean"]
            before = pl.structure_names()
            with lean_forest():
                assert "lean" in pl.structure_names()
            assert pl.structure_names() == before == OWN
            with pytest.raises(ValueError, match="unknown structure 'lean'; known are fp, pf"):
                pl.structure_named("lean")

    def test_a_name_that_is_taken_is_refused(self) -> None:
        class Lean(LeanForest):
            pass

        class Poset(LeanForest):
            structure = "fp"

        with pytest.raises(ValueError, match=r"'lean' is tests\.sixth\.LeanForest already"):
            pl.register_structure(Lean)
        with pytest.raises(ValueError, match=r"'fp' is .*FiltersPoset already"):
            pl.register_structure(Poset)
        assert pl.structure_named("lean") is LeanForest
        assert pl.structure_named("fp") is pl.FiltersPoset

    def test_a_class_of_the_same_name_in_another_module_is_another_one(self) -> None:
        other = type("LeanForest", (LeanForest,), {"__module__": "elsewhere"})
        with pytest.raises(ValueError, match="already"):
            pl.register_structure(other)
        assert pl.register_structure(LeanForest) is LeanForest

    @pytest.mark.parametrize("name", ["", "lean forest", "lean_forest", "*", "fôret"])
    def test_a_name_is_letters_and_digits(self, name: str) -> None:
        named = type("Named", (LeanForest,), {"structure": name})
        with pytest.raises(ValueError, match="letters and digits"):
            pl.register_structure(named)
        assert name not in pl.structure_names()

    def test_it_is_never_local_because_it_does_not_promise_it(self) -> None:
        with pytest.raises(TypeError, match="never local"):
            pl.make_table("lean", local=True)
        text = json.dumps(json.loads(filled().snapshot().to_json()) | {"local": True})
        with pytest.raises(pl.SnapshotError, match="'lean' is never local"):
            pl.Snapshot.from_json(text)


ANNOUNCED = """
import posetlib as pl
from posetlib.tables import Forest

@pl.register_structure
class Twig(Forest):
    structure = "twig"
    promises = pl.Promises("Twig forest", pl.Shape.FOREST, pl.Elimination.ALONG_PATHS)
"""


@pytest.fixture
def announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package on the path that announces a structure, as an installed one does."""
    (tmp_path / "twigs_of_a_test.py").write_text(ANNOUNCED, encoding="utf-8")
    folder = tmp_path / "twigs-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: twigs\nVersion: 1.0\n")
    lines = ["[posetlib.structures]", "twig = twigs_of_a_test:Twig", "bough = twigs_of_a_test:Twig"]
    (folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("twigs_of_a_test", None)


@pytest.mark.usefixtures("announced")
class TestEntryPoints:
    def test_an_announced_structure_is_listed_before_it_is_loaded(self) -> None:
        assert pl.structure_names() == (*OWN, "lean", "twig", "bough")
        assert "twigs_of_a_test" not in sys.modules

    def test_it_is_loaded_by_its_name(self) -> None:
        found = pl.structure_named("twig")
        assert found.promises.title == "Twig forest"
        assert pl.structure_named("twig") is found
        assert pl.structure_names().count("twig") == 1

    def test_a_file_may_name_it_first(self) -> None:
        text = filled("pf").snapshot().to_json().replace('"pf"', '"twig"')
        assert "twigs_of_a_test" not in sys.modules
        table = pl.Snapshot.from_json(text).restore()
        table.check()
        assert table.promises.title == "Twig forest"

    def test_an_entry_point_of_another_name_than_its_structure_is_refused(self) -> None:
        with pytest.raises(ValueError, match="'bough' names the structure 'twig'"):
            pl.structure_named("bough")


class TestChecking:
    def test_its_promises_say_which_invariants_it_keeps(self) -> None:
        kept = LeanForest.promises.invariants()
        assert {"single-parent", "minimum-interface", "no-redundant-pair"} <= kept
        assert kept.isdisjoint({"complete-order", "interface-index", "forwards-agree"})

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("index", [False, True])
    def test_it_keeps_them_and_holds_the_pairs_of_the_filters_poset(
        self, seed: int, index: bool
    ) -> None:
        trace = random_operations(seed)
        lean, poset = pl.make_table("lean", index=index), pl.FiltersPoset[Any]()
        for mine, other in zip(trace.player(lean), trace.player(poset), strict=True):
            assert (mine.pairs_added, mine.pairs_removed, mine.roots_added) == (
                other.pairs_added,
                other.pairs_removed,
                other.roots_added,
            ), f"seed {seed}"
            lean.check()
        assert len(lean) > 3
        for x in range(0, 45, 3):
            assert lean.match({"x": x}) == poset.match({"x": x}), f"seed {seed}, x = {x}"

    def broken(self, structure: str, **changes: Any) -> pl.Table[Any]:
        """A table of another structure's name, with other edges or interfaces."""
        data = json.loads(filled("lean").snapshot(index=False).to_json())
        for i, names in changes.pop("interfaces", {}).items():
            data["nodes"][i]["interfaces"] = names
        text = json.dumps(data | {"structure": structure} | changes)
        restored: pl.Table[Any] = pl.Snapshot.from_json(text).restore()
        return restored

    def test_a_second_parent_breaks_what_it_promises(self) -> None:
        two_parents = [[0, 1], [0, 2], [1, 3], [2, 3]]
        with pytest.raises(pl.InvariantError) as caught:
            self.broken("lean", edges=two_parents).check()
        assert caught.value.invariant == "single-parent"
        self.broken("fp", edges=two_parents).check()

    def test_a_forgotten_path_breaks_nothing_that_it_promises(self) -> None:
        one_parent = [[0, 1], [0, 2], [1, 3]]
        self.broken("lean", edges=one_parent).check()
        with pytest.raises(pl.InvariantError) as caught:
            self.broken("fp", edges=one_parent).check()
        assert caught.value.invariant == "complete-order"

    def test_a_redundant_pair_in_another_branch(self) -> None:
        # c and d of one interface: c covers d, which hangs from b.
        both = {"interfaces": {2: ["I2"], 3: ["I2"]}, "edges": [[0, 1], [0, 2], [1, 3]]}
        with pytest.raises(pl.InvariantError) as caught:
            self.broken("lean", **both).check()
        assert caught.value.invariant == "no-redundant-pair"
        self.broken("pf", **both).check()

    def test_a_wrong_interface_index_is_no_matter(self) -> None:
        data = json.loads(filled("nrf").snapshot().to_json())
        data["nodes"][0]["index"] = ["I9"]
        with pytest.raises(pl.InvariantError, match="interface-index"):
            pl.Snapshot.from_json(json.dumps(data)).restore().check()
        pl.Snapshot.from_json(json.dumps(data | {"structure": "lean"})).restore().check()


class TestReadingAndWriting:
    def test_a_snapshot(self) -> None:
        table = filled()
        text = table.snapshot().to_json()
        assert json.loads(text)["structure"] == "lean"
        assert "index" not in json.loads(text)["nodes"][0]
        restored = pl.Snapshot.from_json(text).restore()
        assert type(restored) is LeanForest
        assert restored == table
        assert restored.counters.covering_tests == 0
        assert table.snapshot().to_dot().startswith("digraph lean {")
        assert set(table.snapshot().to_networkx().edges) == set(table.snapshot().edges)

    def test_copies(self) -> None:
        table = filled(index=False)
        for other in (table.copy(), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
            assert type(other) is LeanForest
            assert other == table
            other.check()

    def test_a_snapshot_is_refused_where_the_structure_is_not_known(self) -> None:
        text = filled().snapshot().to_json()
        del registry._STRUCTURES["lean"]
        with pytest.raises(pl.SnapshotError, match="unknown structure 'lean'"):
            pl.Snapshot.from_json(text)

    def test_a_diff(self) -> None:
        table, order = filled(), filled("fp")
        found = pl.diff(table, order)
        assert found.edges_added == ((FILTERS["c"], FILTERS["d"]),)
        assert found.moved == (FILTERS["d"],)
        assert not found.nodes_added
        before = table.snapshot()
        table.remove(FILTERS["a"], "I0")
        assert pl.diff(before, table).roots_added == (FILTERS["b"], FILTERS["c"])
        near = ["I1", "I2", "I9"]
        changed = {item for item, _, _ in pl.diff(before, table, near).forwards_changed}
        assert changed == {FILTERS[each] for each in "abc"}

    def test_forwards_sets_by_the_definition_alone(self) -> None:
        near = [f"I{i}" for i in range(6)]
        assert pl.forwards_sets(filled(), near) == pl.forwards_sets(filled("fp"), near)
        with pytest.raises(ValueError, match=r"'forest' does not fit .* 'lean'"):
            pl.forwards_sets(filled(), near, "forest")

    def test_a_trace(self) -> None:
        table = pl.make_table("lean")
        trace, stop = pl.Trace.follow(table)
        random_operations(7, 60).replay(table)
        stop()
        other = pl.make_table("lean")
        player = pl.Trace.from_json(trace.to_json()).player(other)
        list(player)
        assert other == table
        while player.position:
            player.back()
            other.check()
        assert len(other) == 0

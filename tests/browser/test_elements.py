"""Graphs, folding and elements as data: what is drawn, without a browser."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.config import Config, Limits
from browser.elements import MARKS, drawing
from browser.folds import Folds, folded, read_folds
from browser.graph import Graph, Node, Shown, fold
from browser.picture import change_marks, frame_drawing, sizes
from browser.shortening import short
from browser.state import Library
from browser.story import COUNTED, FILE, STRUCTURES

from .files import snapshot_json


def graph(count: int, edges: list[tuple[int, int]]) -> Graph:
    return Graph({i: Node(i, f"x = {i}", ("I1",)) for i in range(count)}, tuple(edges))


TREE = graph(7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (5, 6)])
ALL = {"max_nodes": 100, "max_edges": 100}


class TestFolding:
    def test_everything_is_shown_when_there_is_room(self) -> None:
        shown = fold(TREE, **ALL)
        assert set(shown.numbers) == set(range(7))
        assert shown.folded == {}
        assert shown.note == ""

    def test_what_is_below_a_folded_node_is_hidden_and_counted(self) -> None:
        shown = fold(TREE, Folds(closed=(2,)), **ALL)
        assert set(shown.numbers) == {0, 1, 2, 3, 4}
        assert shown.folded == {2: 2}

    def test_a_node_with_another_way_up_stays(self) -> None:
        diamond = graph(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
        assert set(fold(diamond, Folds(closed=(1,)), **ALL).numbers) == {0, 1, 2, 3}
        assert set(fold(diamond, Folds(closed=(1, 2)), **ALL).numbers) == {0, 1, 2}

    def test_a_cycle_is_shown_too(self) -> None:
        assert set(fold(graph(3, [(0, 1), (1, 0)]), **ALL).numbers) == {0, 1, 2}

    def test_past_the_limit_it_says_so(self) -> None:
        shown = fold(TREE, max_nodes=5, max_edges=100)
        assert len(shown.numbers) <= 5
        assert "7 filters with 6 edges are too many to draw" in shown.note
        assert shown.folded

    def test_what_is_opened_by_hand_comes_beyond_the_share(self) -> None:
        star = graph(11, [(0, i) for i in range(1, 10)] + [(1, 10)])
        few = fold(star, max_nodes=10, max_edges=9)
        assert set(few.numbers) == {0, 1, 2, 3, 4, 5, 6}
        assert few.folded == {0: 4, 1: 1}
        assert len(fold(star, Folds(opened=(0,)), max_nodes=10, max_edges=9).numbers) == 10

    def test_of_more_children_than_can_be_drawn_the_first(self) -> None:
        star = graph(5_000, [(0, i) for i in range(1, 5_000)])
        shown = fold(star, max_nodes=300, max_edges=400)
        assert len(shown.numbers) == 200
        assert shown.folded == {0: 4_800}
        assert len(fold(star, Folds(opened=(0,)), max_nodes=300, max_edges=400).numbers) == 300

    def test_more_roots_than_can_be_drawn(self) -> None:
        assert len(fold(graph(50, []), max_nodes=20, max_edges=9).numbers) == 20

    @given(st.integers(1, 40), st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 60))
    def test_the_limits_hold_for_every_graph(
        self, count: int, seed: int, max_nodes: int, max_edges: int
    ) -> None:
        drawn = random.Random(seed)
        edges = {
            (a, b)
            for a, b in (sorted(drawn.choices(range(count), k=2)) for _ in range(60))
            if a != b
        }
        made = graph(count, sorted(edges))
        shown = fold(made, max_nodes=max_nodes, max_edges=max_edges)
        kept = set(shown.numbers)
        inside = [edge for edge in made.edges if set(edge) <= kept]
        assert len(kept) <= max_nodes
        assert len(inside) <= max_edges
        assert bool(shown.note) == (count > max_nodes or len(edges) > max_edges)

    def test_what_is_revealed_comes_with_a_path_from_above(self) -> None:
        folds = Folds(closed=(0,), revealed=(6, 99))
        shown = fold(TREE, folds, **ALL)
        assert set(shown.numbers) == {0, 2, 5, 6}
        assert shown.folded == {0: 3}
        small = fold(TREE, Folds(revealed=(6,)), max_nodes=2, max_edges=9)
        assert len(small.numbers) <= 2

    def test_a_cycle_that_is_revealed(self) -> None:
        looped = graph(4, [(0, 1), (2, 3), (3, 2)])
        assert set(fold(looped, Folds(closed=(0,), revealed=(1,)), **ALL).numbers) == {0, 1, 2, 3}


class TestFoldsInTheAddress:
    @pytest.mark.parametrize(
        "text",
        [
            None,
            "",
            "*",
            "fp",
            "fp_",
            "fp_x",
            "_1",
            "fp_1_2_3_4",
            "fp_-1.²",
            "<b>_1",
            "fp_" + "9" * 99,
        ],
    )
    def test_what_was_written_by_hand_folds_nothing(self, text: str | None) -> None:
        assert all(each == Folds() for each in read_folds(text).values())

    def test_no_more_numbers_than_an_address_has_room_for(self) -> None:
        text = ""
        for number in range(1_000):
            text = folded(text, {"names": ["fp"], "number": number, "act": "fold"})
        assert len(read_folds(text)["fp"].closed) == 200
        assert len(text) < 1_000

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["fp", "nrf"]),
                st.integers(0, 30),
                st.sampled_from(["fold", "unfold", "reveal"]),
            ),
            max_size=30,
        )
    )
    def test_the_last_request_about_a_filter_counts(
        self, requests: list[tuple[str, int, str]]
    ) -> None:
        text = ""
        last: dict[tuple[str, int], str] = {}
        for name, number, act in requests:
            text = folded(text, {"names": [name], "number": number, "act": act})
            last[name, number] = act
        fields = dict(zip(("fold", "unfold", "reveal"), Folds._fields, strict=True))
        found = {
            (name, number): act
            for name, each in read_folds(text).items()
            for act, field in fields.items()
            for number in getattr(each, field)
        }
        assert found == last


class TestElements:
    def test_nodes_and_edges(self) -> None:
        made = drawing(TREE, fold(TREE, Folds(closed=(2,)), **ALL), palette={"I1": 3})
        assert (made["nodes"], made["edges"], made["text"]) == (5, 4, True)
        root, *_ = made["elements"]
        assert root["data"]["label"] == "#0 · I1\nx = 0"
        assert root["data"]["hues"] == [3]
        assert "root" in root["classes"]
        folded = made["elements"][2]
        assert folded["data"]["label"].startswith("#2 · I1 ▸2")
        assert "folded" in folded["classes"]
        json.dumps(made)

    def test_no_mark_is_told_by_colour_alone(self) -> None:
        signs = [sign for sign, _ in MARKS.values()]
        assert len(set(signs)) == len(signs)
        for mark, (sign, words) in MARKS.items():
            made = drawing(TREE, Shown((0,)), palette={}, marks={0: [mark]})
            assert made["elements"][0]["data"]["label"].startswith(f"{sign} #0")
            assert made["elements"][0]["data"]["marks"] == [words]
            assert mark in made["elements"][0]["classes"].split()

    def test_many_nodes_are_small_and_have_their_numbers(self) -> None:
        made = drawing(TREE, fold(TREE, **ALL), palette={}, labelled=3)
        assert not made["text"]
        assert made["elements"][0]["data"]["label"] == "#0\nI1"
        assert made["elements"][0]["data"]["head"] == "#0"
        assert made["elements"][0]["data"]["filter"] == "x = 0"

    def test_an_edge_bears_a_mark(self) -> None:
        made = drawing(TREE, fold(TREE, **ALL), palette={}, edge_marks={(0, 1): "added"})
        marked = [each for each in made["elements"] if each.get("classes") == "added"]
        assert [each["data"]["id"] for each in marked] == ["0>1"]

    def test_thousands_of_edges_are_lines_by_mark(self) -> None:
        dense = graph(120, [(i, j) for i in range(40) for j in range(40, 80)])
        made = drawing(
            dense,
            fold(dense, max_nodes=200, max_edges=2_000),
            palette={},
            edge_marks={(3, 41): "added", (0, 40): "removed"},
        )
        assert len(made["elements"]) == 120
        assert made["edges"] == 1_600
        numbers = [int(each["data"]["id"]) for each in made["elements"]]
        found = {
            mark: {(numbers[a], numbers[b]) for a, b in zip(ends[::2], ends[1::2], strict=True)}
            for mark, ends in made["lines"].items()
        }
        assert found["added"] == {(3, 41)}
        assert found["removed"] == {(0, 40)}
        assert found[""] | found["added"] | found["removed"] == set(dense.edges)
        few = drawing(TREE, fold(TREE, **ALL), palette={})
        assert "lines" not in few

    @pytest.mark.parametrize("hidden", [False, True])
    def test_a_drawing_says_whether_it_is_whole(self, hidden: bool) -> None:
        folds = Folds(closed=(0,)) if hidden else Folds()
        assert drawing(TREE, fold(TREE, folds, **ALL), palette={})["whole"] is not hidden

    @given(st.text(max_size=200), st.integers(2, 60))
    def test_a_short_text_is_short(self, text: str, chars: int) -> None:
        assert len(short(text, chars)) <= max(chars, 1)
        assert "\n" not in short(text, chars)


class TestStory:
    @pytest.fixture
    def library(self) -> Library:
        return Library(Config())

    @pytest.mark.parametrize("structure", STRUCTURES)
    def test_a_frame_is_the_table_after_so_many_operations(
        self, library: Library, structure: str
    ) -> None:
        import posetlib as pl

        story = library.story({"filters": "25", "operations": "8", "seed": "3"})
        order = [41, 0, 7, 41, 20, 21, 40, 3]
        for step in order:
            table = pl.make_table(structure, index=False)
            tests = 0
            for operation in list(story.trace)[:step]:
                (table.add if operation.name == "add" else table.discard)(
                    operation.item, operation.interface
                )
                tests = table.counters.covering_tests
            frame = story.frame(structure, step)
            assert frame.snapshot.restore() == table
            assert frame.covering_tests == tests
            assert frame.table() == table

    def test_tests_are_those_of_the_literature_as_long_as_that_is_quick(
        self, library: Library
    ) -> None:
        for count in (COUNTED, COUNTED + 1):
            story = library.story({"filters": str(count), "interfaces": str(count)})
            frame = story.frame("nrf", count)
            assert frame.indexed is (count > COUNTED)
            assert ("an index of boxes answers the rest" in sizes(frame)) is (count > COUNTED)
            assert frame.indexed or (frame.covering_tests or 0) > count

    def test_what_a_step_did_is_marked(self, library: Library) -> None:
        story = library.story({"from": "example", "example": "forwards"})
        assert change_marks(story, story.frame("fp", 5)) == {5: ["added"]}
        last = story.frame("fp", 6)
        assert change_marks(story, last) == {1: ["removed"], 3: ["moved"]}
        made = frame_drawing(story, last, Limits())
        assert made["nodes"] == 5
        assert made["chips"] == [("removed", "− removed 1"), ("moved", "↷ re-parented 1")]
        assert made["stats"].startswith("4 filters · 2 edges · 2 roots · 2 levels · ")
        assert " covering test" in made["stats"]

    def test_a_filter_that_went_is_where_it_was_with_its_edges(self, library: Library) -> None:
        story = library.story({"from": "example", "example": "forwards"})
        made = frame_drawing(story, story.frame("nrf", 6), Limits())
        parts = {each["data"]["id"]: each for each in made["elements"]}
        assert parts["1>3"]["classes"] == "removed"
        # Both are in the band of the roots: one was a root, the other is one now.
        band = made["bands"][0]
        assert band["name"] == "roots"
        for each in ("1", "3"):
            assert band["from"] < parts[each]["position"]["y"] < band["to"]
        assert parts["1"]["position"] != parts["3"]["position"]
        assert "root" in parts["3"]["classes"].split()
        assert "classes" not in parts["3>5"]

    def test_numbers_stay_when_a_step_is_put_in(self, library: Library) -> None:
        recipe = {"from": "example", "example": "forwards", "edits": '[[2, "I9: y = 1"]]'}
        story = library.story(recipe)
        assert len(story) == 7
        assert str(story.trace[2]) == "add y = 1 (I9)"
        assert str(story.filters[6]) == "y = 1"
        assert str(story.filters[3]) == "x in [10, 40]"

    def test_a_snapshot_is_shown_as_it_is(self, library: Library) -> None:
        key = library.keep([("table.json", snapshot_json("bf").encode())])
        story = library.story({"from": "document", "doc": key})
        assert next(iter(story.structures)) == FILE
        assert story.frame(FILE, 0).snapshot.structure == "bf"
        assert len(story.frame("fp", 5).graph.nodes) == 5

    def test_interfaces_are_in_natural_order(self, library: Library) -> None:
        story = library.story({"from": "text", "text": "I10: x = 1\nI2: x = 2\na: x = 3"})
        assert story.interfaces == ["I2", "I10", "a"]

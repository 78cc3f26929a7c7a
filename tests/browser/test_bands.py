"""Drawings that can be read: a band for each level, places that stay, and what is near a filter."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.config import Config, Limits
from browser.elements import drawing, overview
from browser.graph import Graph, Node, Shown
from browser.layout import Cell, Stay, arranged, layers, settled, with_guests
from browser.nearby import Around, near, ranked, ways_up
from browser.picture import READABLE, frame_drawing, zoom_in
from browser.state import Library
from browser.story import STRUCTURES, Story

from .moving import bounds, moved_share, places_of, shares_of
from .test_layout import HEIGHT, WIDTH, acyclic, graphs, overlapping

LIMITS = Limits()
CELL = Cell.of(WIDTH, HEIGHT, 1.3)
STRUCTURE_NAMES = tuple(STRUCTURES)


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(Config())


def generated(library: Library, filters: int, **more: str) -> Story:
    recipe = {"from": "generate", "filters": str(filters), "interfaces": str(filters), **more}
    return library.story(recipe)


def bands_of(made: dict[str, Any]) -> dict[str, str]:
    """Return the name of the band that each filter is in, by what is on the screen."""
    found = {}
    for number, (x, y) in places_of(made).items():
        at = x if made["sideways"] else y
        (found[number],) = (
            band["name"] for band in made["bands"] if band["from"] < at < band["to"]
        )
    return found


class TestBands:
    @pytest.mark.parametrize("sideways", [False, True])
    @pytest.mark.parametrize("structure", STRUCTURE_NAMES)
    @pytest.mark.parametrize("filters", [24, 60, 140])
    def test_the_last_step_has_each_filter_in_the_band_of_its_level(
        self, library: Library, structure: str, filters: int, sideways: bool
    ) -> None:
        story = generated(library, filters)
        frame = story.frame(structure, len(story))
        made = frame_drawing(story, frame, LIMITS, sideways=sideways)
        levels = frame.graph.level_of
        wanted = {str(n): f"level {levels[n]}" if levels[n] else "roots" for n in levels}
        assert bands_of(made) == wanted
        counts = {band["name"]: band["count"] for band in made["bands"]}
        assert counts["roots"] == len(frame.graph.roots)
        assert sum(counts.values()) == len(frame.graph.nodes)

    @pytest.mark.parametrize("structure", STRUCTURE_NAMES)
    def test_at_every_step_all_roots_and_nobody_else_are_in_the_root_band(
        self, library: Library, structure: str
    ) -> None:
        story = generated(library, 120, interfaces="6", operations="40")
        for step in range(0, len(story) + 1, 3):
            frame = story.frame(structure, step)
            made = frame_drawing(story, frame, LIMITS)
            gone = {str(story.number[item]) for item in frame.change.removed}
            in_band = {n for n, name in bands_of(made).items() if name == "roots"} - gone
            assert in_band == {str(each) for each in frame.graph.roots}
            places = places_of(made)
            for parent, child in frame.graph.edges:
                assert places[str(parent)][1] < places[str(child)][1]

    @pytest.mark.parametrize("limits", [LIMITS, Limits(element_nodes=9)], ids=["boxes", "canvas"])
    def test_what_a_step_removed_is_drawn_and_not_counted(
        self, library: Library, limits: Limits
    ) -> None:
        story = generated(library, 30, operations="10")
        removals = [i + 1 for i in range(len(story)) if story.trace[i].name == "remove"]
        gone = 0
        for step in removals:
            frame = story.frame("fp", step)
            gone += len(frame.change.removed)
            bands = frame_drawing(story, frame, limits)["bands"]
            assert sum(band["count"] for band in bands) == len(frame.graph.nodes)
            assert bands[0]["count"] == len(frame.graph.roots)
        assert gone > 5

    @pytest.mark.parametrize("sideways", [False, True])
    def test_a_canvas_has_each_filter_in_the_band_of_its_level(
        self, library: Library, sideways: bool
    ) -> None:
        story = generated(library, 150)
        frame = story.frame("fp", 150)
        made = frame_drawing(story, frame, Limits(element_nodes=100), sideways=sideways)
        wide, levels = made["wide"], frame.graph.level_of
        for number, at in zip(wide["numbers"], wide["x" if sideways else "y"], strict=True):
            (name,) = (band["name"] for band in made["bands"] if band["from"] < at < band["to"])
            assert name == (f"level {levels[number]}" if levels[number] else "roots")

    def test_a_diff_of_two_tables_in_one_graph_has_no_levels(self) -> None:
        made = drawing(Graph({1: Node(1, "x > 1", ())}, ()), Shown((1,)), palette={})
        assert "bands" not in made


class TestSettled:
    @given(graphs(), st.data())
    def test_no_two_boxes_overlap_in_a_part_of_a_plan(
        self, graph: tuple[int, list[tuple[int, int]]], data: st.DataObject
    ) -> None:
        count, edges = graph
        plan = arranged(count, edges, CELL)
        numbers = data.draw(
            st.lists(st.integers(0, count + 10), unique=True, min_size=1, max_size=30)
        )
        index = {number: i for i, number in enumerate(numbers)}
        more = data.draw(st.lists(st.tuples(st.sampled_from(numbers), st.sampled_from(numbers))))
        links = [(index[a], index[b]) for a, b in [*edges, *more] if a in index and b in index]
        placed = settled(numbers, links, plan, {i: i for i in range(count)})
        assert overlapping(placed.points()) == []

    @given(acyclic())
    def test_the_whole_of_a_plan_is_where_it_is_planned(
        self, graph: tuple[int, list[tuple[int, int]]]
    ) -> None:
        count, edges = graph
        plan = arranged(count, edges, CELL)
        placed = settled(range(count), edges, plan, {i: i for i in range(count)})
        assert (placed.points() == plan.points()).all()

    @given(acyclic(), st.data())
    def test_roots_are_in_the_first_band_and_children_below_parents(
        self, graph: tuple[int, list[tuple[int, int]]], data: st.DataObject
    ) -> None:
        count, edges = graph
        plan = arranged(count, edges, CELL)
        kept = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=1)))
        index = {number: i for i, number in enumerate(kept)}
        links = [(index[a], index[b]) for a, b in edges if a in index and b in index]
        placed = settled(kept, links, plan, {i: i for i in range(count)})
        covered = {child for _, child in links}
        assert {i for i, level in enumerate(placed.level) if not level} == {
            i for i in range(len(kept)) if i not in covered
        }
        assert all(placed.level[a] < placed.level[b] for a, b in links)

    def test_one_that_is_not_planned_goes_beside_its_neighbours(self) -> None:
        plan = arranged(5, [(0, 1), (0, 2), (0, 3), (0, 4)], CELL)
        planned = {i: i for i in range(5)}
        placed = settled([0, 1, 2, 4, 9], [(0, 1), (0, 2), (0, 3), (0, 4)], plan, planned)
        # The only place of the band that nobody has is that of 3.
        assert placed.points()[4].tolist() == plan.points()[3].tolist()

    def test_levels_of_a_cycle_are_finite(self) -> None:
        plan = arranged(3, [(0, 1), (1, 2), (2, 1)], CELL)
        placed = settled(range(3), [(0, 1), (1, 2), (2, 1)], plan, {i: i for i in range(3)})
        assert overlapping(placed.points()) == []
        assert layers([[1], [2], [1]], [[], [0, 2], [1]])[0] == 0

    @given(graphs(), graphs())
    def test_a_plan_that_grows_has_a_place_for_each_and_keeps_the_others(
        self, first: tuple[int, list[tuple[int, int]]], second: tuple[int, list[tuple[int, int]]]
    ) -> None:
        plan = arranged(*first, CELL)
        # Half of the second graph is what the first one had.
        numbers = [i if i % 2 else 100 + i for i in range(second[0])]
        grown = settled(numbers, second[1], plan, {i: i for i in range(first[0])}, grows=True)
        assert overlapping(grown.points()) == []
        assert (grown.level >= 0).all()
        for place, (x, level, row) in enumerate(zip(plan.x, plan.level, plan.row, strict=True)):
            there = (grown.x == x) & (grown.level == level) & (grown.row == row)
            assert there.sum() == 1, place


class TestGuests:
    @given(acyclic(), st.data())
    def test_each_has_a_place_in_the_root_band_while_it_is_a_root(
        self, graph: tuple[int, list[tuple[int, int]]], data: st.DataObject
    ) -> None:
        count, edges = graph
        plan = arranged(count, edges, CELL)
        spans = data.draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=count))
        stays = {i: Stay(min(span), max(span), i) for i, span in enumerate(spans)}
        wider, guests = with_guests(plan, stays)
        assert guests.keys() == {i for i in stays if plan.level[i]}
        assert overlapping(wider.points()) == []
        assert (wider.x[:count] == plan.x).all()
        for step in range(10):
            there = [i for i, stay in stays.items() if stay.first <= step <= stay.last]
            taken = [guests.get(i, i) for i in there]
            assert len(set(taken)) == len(taken)
            assert all(wider.level[place] == 0 for place in taken)


class TestStability:
    """One add at 100 to 300 filters moves at most a tenth of the others by more than a box."""

    @pytest.mark.parametrize("kind", ["uniform", "narrow"])
    @pytest.mark.parametrize("structure", STRUCTURE_NAMES)
    def test_adds(self, library: Library, structure: str, kind: str) -> None:
        story = generated(library, 300, kind=kind)
        shares = shares_of(story, structure, range(100, 301))
        assert len(shares) > 150
        assert max(shares.values()) <= 0.1
        assert sum(shares.values()) / len(shares) <= 0.01

    @pytest.mark.parametrize("structure", STRUCTURE_NAMES)
    def test_replacements(self, library: Library, structure: str) -> None:
        story = generated(library, 160, operations="60", seed="3")
        shares = shares_of(story, structure, range(130, len(story) + 1))
        adds = [share for step, share in shares.items() if story.trace[step - 1].name == "add"]
        assert len(adds) > 60
        assert max(adds) <= 0.1
        # A root that goes leaves its children as roots: these go up, however many they are.
        assert max(shares.values()) <= 0.2

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(1, 9))
    @pytest.mark.parametrize("interfaces", ["300", "10"])
    @pytest.mark.parametrize("structure", STRUCTURE_NAMES)
    def test_many_seeds(self, library: Library, structure: str, interfaces: str, seed: int) -> None:
        story = generated(library, 300, interfaces=interfaces, seed=str(seed))
        shares = shares_of(story, structure, range(100, 301)).values()
        assert max(shares) <= 0.1

    def test_roots_for_a_while_do_not_close_up(self, library: Library) -> None:
        """Roots that had no place of their own once moved when another came: 17 % in a step."""
        story = generated(library, 230, interfaces="10", seed="8")
        before = frame_drawing(story, story.frame("fp", 140), LIMITS)
        roots = set(story.frame("fp", 140).graph.roots)
        left = 0
        for step in range(141, 231):
            frame = story.frame("fp", step)
            made = frame_drawing(story, frame, LIMITS)
            was, now = places_of(before), places_of(made)
            moved = {int(each) for each in was.keys() & now.keys() if was[each] != now[each]}
            assert moved <= roots - set(frame.graph.roots), step
            left += len(moved)
            before, roots = made, set(frame.graph.roots)
        assert left > 20

    @pytest.mark.parametrize("structure", STRUCTURE_NAMES)
    def test_places_stay_when_hundreds_have_come_and_gone(
        self, library: Library, structure: str
    ) -> None:
        """A new plan for the next 400 filters once moved all that the two have in common."""
        story = generated(library, 150, operations="500", seed="4")
        assert story.plan(structure, 650) is not story.plan(structure, 651)
        shares = shares_of(story, structure, range(648, 654))
        assert max(shares.values()) <= 0.2

    @pytest.mark.parametrize("structure", STRUCTURE_NAMES)
    def test_a_filter_by_hand_above_most_roots_has_a_band_above_them(
        self, library: Library, structure: str
    ) -> None:
        """Far more than a tenth are roots no longer; they stay, and the few other roots go up."""
        recipe = {"from": "generate", "filters": "150", "interfaces": "150"}
        edits = json.dumps([[150, "hand: x in [0, 2000]"]])
        before, after = library.story(recipe), library.story({**recipe, "edits": edits})
        was, now = before.frame(structure, 150).graph, after.frame(structure, 151).graph
        made = [
            frame_drawing(before, before.frame(structure, 150), LIMITS),
            frame_drawing(after, after.frame(structure, 151), LIMITS),
        ]
        lost, kept = set(was.roots) - set(now.roots), set(was.roots) & set(now.roots)
        assert len(lost) > 0.2 * len(was.nodes) > len(kept)
        # Those that stay roots move up into the new band; what the filter covers stays.
        assert moved_share(*made) <= max(0.1, len(kept) / len(was.nodes))
        in_band = {int(n) for n, name in bands_of(made[1]).items() if name == "roots"}
        assert in_band == set(now.roots)
        places = places_of(made[1])
        assert all(places[str(a)][1] < places[str(b)][1] for a, b in now.edges)

    def test_the_view_stays_too(self, library: Library) -> None:
        """All is fitted to the room of the plan: without it, levels that come shrink the rest."""
        story = generated(library, 200)
        boxes = [frame_drawing(story, story.frame("fp", n), LIMITS)["box"] for n in (90, 130, 200)]
        assert boxes[0] == boxes[1] == boxes[2]
        made = frame_drawing(story, story.frame("fp", 90), LIMITS)
        assert list(bounds(made)) == made["box"]
        assert made["box"][1] < made["bands"][0]["from"]

    def test_an_add_by_hand(self, library: Library) -> None:
        recipe = {"from": "generate", "filters": "150", "interfaces": "150"}
        before = library.story(recipe)
        edits = json.dumps([[150, "hand: x in [11, 12] and y in [30, 31]"]])
        after = library.story({**recipe, "edits": edits})
        for structure in STRUCTURES:
            made = [
                frame_drawing(story, story.frame(structure, step), LIMITS)
                for story, step in ((before, 150), (after, 151))
            ]
            assert made[1]["nodes"] == made[0]["nodes"] + 1
            assert moved_share(*made) <= 0.1

    def test_a_measure_that_can_fail(self, library: Library) -> None:
        """The same steps, each laid out by itself, move far more than a tenth."""
        story = generated(library, 130)
        made = []
        for step in (120, 121):
            graph = story.frame("fp", step).graph
            made.append(drawing(graph, Shown(tuple(graph.nodes)), palette={}, bands=True))
        assert moved_share(*made) > 0.1

    def test_small_tables_stay_too_for_most_of_their_steps(self, library: Library) -> None:
        story = generated(library, 60)
        shares = shares_of(story, "fp", range(1, 61), least=6)
        assert sum(share > 0.25 for share in shares.values()) <= len(shares) // 4


class TestReadable:
    @pytest.mark.parametrize("room", [(421, 380), (560, 330)], ids=["1600 × 900", "1280 × 720"])
    @pytest.mark.parametrize("structure", STRUCTURE_NAMES)
    def test_the_default_filters(
        self, library: Library, structure: str, room: tuple[float, float]
    ) -> None:
        story = library.story({"from": "generate"})
        ratio = round(room[0] / room[1], 1)
        for step in range(1, len(story) + 1):
            made = frame_drawing(story, story.frame(structure, step), LIMITS, ratio=ratio)
            assert made["text"]
            assert zoom_in(made, room) >= READABLE, step

    def test_a_measure_that_can_fail(self, library: Library) -> None:
        story = generated(library, 100)
        made = frame_drawing(story, story.frame("fp", 100), LIMITS)
        assert zoom_in(made, (421, 380)) < READABLE


def chain(*edges: tuple[int, int]) -> Graph:
    numbers = sorted({each for edge in edges for each in edge})
    return Graph({i: Node(i, f"x = {i}", ("I1",)) for i in numbers}, edges)


def beside_a_map(made: dict[str, Any], room: tuple[float, float]) -> float:
    """Return how large a drawing is seen beside a map of 138 × 92 pixels, or above it."""
    width, height = room
    return max(zoom_in(made, (max(width - 138, 50), height)), zoom_in(made, (width, height - 92)))


class TestNear:
    DEEP = chain((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (9, 4), (0, 8))

    def test_some_levels_above_and_below_and_the_way_up(self) -> None:
        shown, ways = near(self.DEEP, 4, 1, 40)
        assert set(shown.numbers) == {0, 1, 2, 3, 4, 5, 9}
        assert shown.folded == {0: 1, 5: 1}
        assert ways == {(0, 1), (1, 2), (2, 3), (3, 4), (9, 4)}
        assert set(near(self.DEEP, 4, 2, 40)[0].numbers) == {0, 1, 2, 3, 4, 5, 6, 9}

    def test_of_many_the_nearest_and_how_many_are_left(self) -> None:
        wide = chain(*((0, i) for i in range(1, 60)), *((i, 100 + i) for i in range(1, 60)))
        shown, _ = near(wide, 0, 2, 20)
        assert shown.numbers == tuple(range(20))
        assert "99 more are as near" in shown.note

    def test_of_many_ways_up_a_shortest(self) -> None:
        edges = [(i, 99) for i in range(50)] + [(99, 100), (100, 101)]
        assert ways_up(chain(*edges), 101) == ([100, 99, 0], [])

    def test_a_cycle_above_has_no_root(self) -> None:
        assert ways_up(chain((1, 2), (2, 1), (2, 3)), 3) == ([], [2, 1])

    def test_what_a_step_changed_is_shown_besides(self) -> None:
        shown, _ = near(self.DEEP, 8, 1, 40, also=[6])
        assert {8, 0, 6, 5} <= set(shown.numbers)

    def test_where_there_is_little_room_what_matters_most_is_left(self) -> None:
        ladder = chain((0, 1), (1, 2), (2, 3), (9, 3), (8, 9), (3, 4), (3, 5), (4, 6), (7, 70))
        assert ranked(ladder, 3, 2, also=[70]).numbers == (3, 70, 9, 8, 2, 4, 5, 1, 6, 0, 7)
        shown, steps = near(ladder, 3, 2, 4, also=[70])
        assert set(shown.numbers) == {3, 70, 9, 8}
        assert shown.folded == {3: 2}
        assert shown.note.startswith("6 more are as near or above it:")
        assert steps == {(8, 9), (9, 3)}
        assert near(ladder, 3, 2, 10, also=[70])[0].note == ""

    @pytest.mark.parametrize("structure", STRUCTURE_NAMES)
    def test_the_drawing_has_text_true_levels_and_a_map_of_all(
        self, library: Library, structure: str
    ) -> None:
        story = generated(library, 200, interfaces="20")
        frame = story.frame(structure, 150)
        graph, room = frame.graph, (421.0, 330.0)
        for centre in list(graph.nodes)[::29]:
            around = Around(centre, 2, room)
            made = frame_drawing(story, frame, LIMITS, around=around)
            shown = {int(each) for each in places_of(made)}
            assert made["around"] == centre
            assert made["text"]
            assert centre in shown
            assert story.number[story.trace[149].item] in shown
            assert len(shown) <= LIMITS.near_nodes
            assert set(made["map"]["ids"]) == set(frame.with_removed.nodes)
            assert len(made["map"]["at"]) == 2 * len(made["map"]["ids"])
            levels = {each: graph.level_of[each] for each in shown}
            named = {each: f"level {level}" if level else "roots" for each, level in levels.items()}
            assert {int(each): name for each, name in bands_of(made).items()} == named
            roots = [band for band in made["bands"] if band["name"] == "roots"]
            assert [band["of"] for band in roots] == [len(graph.roots)]
            assert beside_a_map(made, room) >= READABLE

    @pytest.mark.parametrize("sideways", [False, True])
    @pytest.mark.parametrize(
        "room", [(422, 449), (422, 285), (562, 315), (260, 300), (900, 150), (200, 160)], ids=str
    )
    def test_whatever_the_room_what_is_drawn_in_it_is_read(
        self, library: Library, room: tuple[float, float], sideways: bool
    ) -> None:
        story = generated(library, 300, interfaces="4", decimals="3")
        around = Around(None, 2, room)
        counts = []
        for structure in STRUCTURE_NAMES:
            for step in (300, 180, 90):
                frame = story.frame(structure, step)
                made = frame_drawing(story, frame, LIMITS, around=around, sideways=sideways)
                counts.append(made["nodes"])
                assert beside_a_map(made, room) >= READABLE
        assert min(counts) >= 1
        if room[0] * room[1] > 150_000 and not sideways:
            assert max(counts) >= 12

    def test_a_long_way_up_ends_where_the_room_does(self, library: Library) -> None:
        text = "\n".join(f"I{i}: x in [{i}, {500 - i}]" for i in range(100))
        story = library.story({"from": "text", "text": text})
        frame = story.frame("fp", 100)
        made = frame_drawing(story, frame, LIMITS, around=Around(60, 2, (420.0, 450.0)))
        assert beside_a_map(made, (420, 450)) >= READABLE
        assert {"60", "100"} <= set(places_of(made))
        assert "more are as near or above it" in made["note"]

    def test_without_a_choice_it_is_around_the_filter_of_the_step(self, library: Library) -> None:
        story = generated(library, 100)
        made = frame_drawing(story, story.frame("fp", 90), LIMITS, around=Around(None, 2))
        assert made["around"] == 90
        made = frame_drawing(story, story.frame("fp", 90), LIMITS, around=Around(95, 2))
        assert made["around"] == 90
        assert made["note"].startswith("#95 is not in this table: this is around #90.")
        empty = frame_drawing(story, story.frame("fp", 0), LIMITS, around=Around(None, 2))
        assert empty["nodes"] == 0

    def test_a_map_has_the_places_of_the_whole_drawing(self, library: Library) -> None:
        story = generated(library, 200)
        frame = story.frame("pf", 200)
        made = frame_drawing(story, frame, LIMITS, ratio=1.5)
        assert not made["text"]
        found = overview(frame.graph, story.plan("pf", 200), ratio=1.5)
        pairs = zip(found["at"][::2], found["at"][1::2], strict=True)
        assert dict(zip(map(str, found["ids"]), pairs, strict=True)) == places_of(made)

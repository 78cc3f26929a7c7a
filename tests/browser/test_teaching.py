"""What teaches: captions, words, the guide, the walk; undo and keys, in Chromium."""

from __future__ import annotations

import json

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser.config import Config
from browser.examples import EXAMPLES
from browser.matching import match, random_notification, read_notification
from browser.state import Library, edits_of, without_edit
from browser.story import STRUCTURES
from browser.words import GUIDE, WORDS, about_structure

from .driving import Visitor

EXAMPLE = "?from=example&example=forwards"


class TestWords:
    @pytest.mark.parametrize("name", EXAMPLES)
    def test_every_step_of_an_example_has_a_caption(self, name: str) -> None:
        story = Library(Config()).story({"from": "example", "example": name})
        assert len(story.captions) == len(story) + 1
        assert all(each.endswith(".") for each in story.captions)
        assert "[T" not in EXAMPLES[name].title

    def test_a_trace_that_was_edited_has_none(self) -> None:
        recipe = {"from": "example", "example": "forwards", "edits": '[[2, "I9: y = 1"]]'}
        assert Library(Config()).story(recipe).captions == ()

    def test_every_structure_and_word_has_a_sentence(self) -> None:
        sentences = [about_structure(each) for each in STRUCTURES]
        assert len(set(sentences)) == len(sentences)
        assert all(each.endswith(".") for each in (*sentences, *WORDS.values()))
        assert len(GUIDE) == 5

    def test_the_walk_is_told_in_its_order(self) -> None:
        told = Library(Config()).story({"filters": "60", "seed": "5"})
        for structure in STRUCTURES:
            frame = told.frame(structure, 60)
            for draw in range(8):
                found = match(told, frame, read_notification(random_notification(told, draw)))
                place = {number: i for i, number in enumerate(found.order)}
                assert len(place) == len(found.order) == found.visited
                for number in found.order:
                    above = frame.graph.parents[number]
                    assert not above or any(
                        place.get(each, 10**9) < place[number] for each in above
                    )


class TestEdits:
    def test_undo_takes_back_the_last_edit_only(self) -> None:
        library = Library(Config())
        recipe = {"from": "example", "example": "forwards"}
        one = library.edited(recipe, 2, "I9: y = 1")
        two = library.edited(one, 3, "I9: y = 2")
        assert library.undone(two) == one
        assert library.undone(one) == recipe == without_edit(one)
        assert library.undone(recipe) == recipe

    def test_long_edits_fit_into_an_address(self) -> None:
        library = Library(Config())
        recipe = {"from": "example", "example": "forwards"}
        lines = [f"I9: y = {i} and s = {json.dumps('long ' * 20)}" for i in range(200)]
        for at, line in enumerate(lines):
            recipe = library.edited(recipe, at, line)
        assert len(recipe["edits"]) < 100
        assert len(library.story(recipe)) == 206
        assert edits_of(library.resolved(recipe)) == list(enumerate(lines))
        for _ in lines:
            recipe = library.undone(recipe)
        assert "edits" not in recipe


@pytest.mark.needs("chromium")
class TestPages:
    def test_an_example_begins_at_the_start_with_its_caption(
        self, visitor: Visitor, address: str
    ) -> None:
        visitor.open(address)
        visitor.draws("tables-fp", 5)
        visitor.open_section("Open")
        visitor.choose(".sources button.link", "Forwards sets")
        visitor.sees("#tables-step_text", "Step 0 of 6")
        visitor.sees("#tables-caption", "an empty table")
        visitor.click("#tables-forward")
        visitor.sees("#tables-caption", "I1 asks for x in [0, 50]")
        # Another source is undone by the browser's own button.
        visitor.driver.back()
        visitor.sees("#source-title", "Workload")
        visitor.draws("tables-fp", 5)

    def test_an_edit_is_undone(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5")
        visitor.draws("tables-fp", 5)
        visitor.settled("tables-fp")
        assert visitor.one("#tables-hand_undo").get_attribute("disabled")
        visitor.write("#tables-hand_filter", "y = 7")
        visitor.click("#tables-hand_add")
        visitor.draws("tables-fp", 6)
        visitor.sees("#tables-step_text", "Step 6 of 7")
        visitor.click("#tables-hand_undo")
        visitor.sees("#tables-step_text", "of 6:")

    def test_long_edits_survive_a_refresh_and_are_undone_one_by_one(
        self, visitor: Visitor, address: str
    ) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5&show=fp")
        visitor.draws("tables-fp", 5)
        visitor.settled("tables-fp")
        long = "word " * 120
        for count in range(1, 4):
            visitor.write("#tables-hand_filter", f'y = {count} and s = "{long}"')
            visitor.click("#tables-hand_add")
            visitor.draws("tables-fp", 5 + count)
        visitor.until(lambda: "edits=" in visitor.driver.current_url, "the edits in the address")
        assert len(visitor.driver.current_url) < 600
        visitor.driver.refresh()
        visitor.draws("tables-fp", 8)
        visitor.sees("#tables-step_text", "Step 8 of 9")
        visitor.click("#tables-hand_undo")
        visitor.draws("tables-fp", 7)
        visitor.sees("#tables-step_text", "of 8:")
        # The browser's own button takes the undoing back.
        visitor.driver.back()
        visitor.draws("tables-fp", 8)

    def test_keys_lead_through_graph_list_search_and_help(
        self, visitor: Visitor, address: str
    ) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5&node=3&show=fp")
        visitor.draws("tables-fp", 5)
        visitor.settled("tables-fp")
        picked = "picked"
        visitor.until(lambda: picked in visitor.classes("tables-fp", 3), "the chosen filter")
        for key, number in ((Keys.UP, 1), (Keys.RIGHT, 2), (Keys.LEFT, 1), (Keys.DOWN, 3)):
            visitor.press("#graph-tables-fp", key)
            visitor.until(lambda n=number: picked in visitor.classes("tables-fp", n), f"#{number}")
        visitor.keys("?")
        visitor.until(lambda: visitor.one("#help").get_attribute("open"), "the dialog")
        visitor.sees("#help", "go to the search")
        assert visitor.one("#help").get_property("scrollTop") == 0
        visitor.keys(Keys.ESCAPE)
        visitor.until(lambda: not visitor.one("#help").get_attribute("open"), "it closed")
        visitor.keys("/")
        focus = visitor.driver.switch_to
        visitor.until(lambda: focus.active_element.get_attribute("type") == "search", "the search")
        visitor.one("#tables-rows button[data-pick]")
        visitor.press("#tables-rows button[data-pick]", Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        assert focus.active_element.text == "#3"
        stops = visitor.driver.find_elements(
            By.CSS_SELECTOR, "#tables-rows button[data-pick][tabindex='0']"
        )
        assert [each.text for each in stops] == ["#3"]

    def test_the_guide_has_five_steps(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5")
        visitor.draws("tables-fp", 5)
        visitor.settled("tables-fp")
        visitor.click("#guide-open")
        for place, stop in enumerate(GUIDE, 1):
            visitor.sees("#guide", f"{place} of 5: {stop.heading}")
            visitor.one(f"{stop.about}.pointed")
            visitor.click("#guide-next")
        visitor.until(lambda: not visitor.one("#guide").get_attribute("open"), "it closed")
        assert visitor.driver.find_elements(By.CSS_SELECTOR, ".pointed") == []

    def test_the_walk_is_played(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/match{EXAMPLE}&step=5")
        visitor.draws("match-fp", 5)
        visitor.settled("match-fp")
        visitor.write("#match-notification", '{"x": 75}', submit=True)
        visitor.until(lambda: "visit 1" in visitor.label("match-fp", 1), "the order")
        # The answer may be replaced while it is read.
        visitor.until(lambda: "Tested" in visitor.text("#match-answer table"), "the table")
        visitor.until(lambda: "NRF" in visitor.text("#match-answer table"), "the structures")
        visitor.click("[data-walk]")
        # The first filter of the walk is marked at once, and stays marked until its end.
        visitor.until(
            lambda: visitor.classes("match-fp", 1) & {"walking", "walked"}, "the first filter"
        )
        visitor.until(
            lambda: not visitor.classes("match-fp", 1) & {"walking", "walked"}, "the end of it"
        )

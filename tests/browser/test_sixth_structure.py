"""The browser offers, draws and explains a structure that was registered from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import posetlib as pl
from browser import ids
from browser.config import Config, Limits
from browser.detail import detail
from browser.diffing import compare
from browser.folds import Folds, folded, read_folds
from browser.forwards import MECHANISMS, mechanisms, structure_for
from browser.matching import match
from browser.pages import diff, parts, tables
from browser.picture import frame_drawing
from browser.sources import SourceError
from browser.state import Library
from browser.story import FILE, STRUCTURES, Story, default_pair
from tests.sixth import LeanForest, lean_forest, structures_as_before

from .files import snapshot_json

OFFERED = {
    "fp": "Filters poset",
    "pf": "Poset-derived forest",
    "bf": "Balanced forest",
    "nrf": "Non-redundant forest",
}
#: The last one is covered by two that do not cover each other.
TEXT = "I1: x in [0, 50]\nI2: x in [10, 90]\nI1: y = 1\nI3: x in [20, 30]"


@pytest.fixture
def library() -> Library:
    return Library(Config())


@pytest.fixture
def story(library: Library) -> Story:
    return library.story({"from": "text", "text": TEXT})


@pytest.fixture
def lean(story: Story) -> Iterator[type[LeanForest]]:  # noqa: ARG001 - the story comes first
    with lean_forest() as made:
        yield made


def within(component: Any, name: str) -> list[Any]:
    """Return the values of a property, of a component and all that is in it."""
    found = [getattr(component, name)] if getattr(component, name, None) is not None else []
    return found + [getattr(c, name) for c in component._traverse() if getattr(c, name, None)]


class TestWithoutIt:
    def test_the_structures_of_the_library_are_offered_but_for_the_plain_list(
        self, story: Story
    ) -> None:
        assert dict(STRUCTURES) == dict(story.structures) == OFFERED
        assert list(STRUCTURES) == list(OFFERED)
        assert len(STRUCTURES) == 4
        assert "linear" not in STRUCTURES
        assert "lean" not in STRUCTURES
        for name in ("linear", "lean"):
            with pytest.raises(SourceError, match=f"no structure '{name}'"):
                story.frame(name, 1)

    def test_what_is_shown_unasked(self) -> None:
        assert default_pair() == ("fp", "nrf")
        assert {each: structure_for(each) for each in MECHANISMS} == {
            "naive": "fp",
            "poset": "fp",
            "forest": "nrf",
            "approximate": "nrf",
        }


@pytest.mark.usefixtures("lean")
class TestWithIt:
    def test_a_story_that_was_there_before_offers_it_too(self, story: Story) -> None:
        assert dict(story.structures) == OFFERED | {"lean": "Lean forest"}
        assert parts.title(story, "lean") == "LEAN · Lean forest"
        assert parts.title(story, "fp") == "FP · Filters poset"

    def test_its_graph_is_drawn(self, story: Story) -> None:
        frame = story.frame("lean", 4)
        assert frame.graph.edges == ((1, 4),)
        assert frame.graph.roots == [1, 2, 3]
        assert type(frame.table()) is LeanForest
        made = frame_drawing(story, frame, Limits())
        assert made["title"] == "Lean forest"
        assert {each["data"]["id"] for each in made["elements"]} == {"1", "2", "3", "4", "1>4"}
        assert made["stats"].startswith("4 filters · 1 edge · 3 roots · 2 levels · ")

    def test_a_filter_is_explained_as_in_a_forest(self, story: Story) -> None:
        told = " ".join(detail(story, story.frame("lean", 4), 4, ["I1", "I2", "I3"]).why)
        assert "It is below #1, which covers it" in told
        assert "#2 covers it as well, in another branch" in told
        assert "least general" in " ".join(detail(story, story.frame("fp", 4), 4, []).why)

    def test_it_is_matched_and_compared(self, story: Story) -> None:
        frame = story.frame("lean", 4)
        assert set(match(story, frame, {"x": 25}).interfaces) == {"I1", "I2", "I3"}
        found = compare(frame.snapshot, story.frame("fp", 4).snapshot, story.number)
        assert found.counts["edges added"] == 1

    def test_the_pages_offer_it_and_show_it_when_asked(
        self, library: Library, story: Story
    ) -> None:
        choice = parts.structure_choice("tables", story, ["lean"])
        options = [each for found in within(choice, "options") for each in found]
        assert (options[-1]["label"], options[-1]["value"]) == ("LEAN Lean forest", "lean")
        assert options[-1]["title"].startswith("A forest")
        assert parts.chosen({ids.SHOW: "lean,nrf,linear"}, story, ("fp",)) == ["lean", "nrf"]
        page = tables.layout(library, {"from": "text", "text": TEXT}, {ids.SHOW: "lean"})
        assert ids.cytoscape(ids.panel("tables", "lean")) in within(page, "id")
        sides = diff.layout(library, {"from": "text", "text": TEXT}, {"b_structure": "lean"})
        offered = [each for each in within(sides, "options") if each[-1].get("value") == "lean"]
        assert [each["label"] for each in offered[0]] == [
            *(f"{name.upper()} · {title}" for name, title in OFFERED.items()),
            "LEAN · Lean forest",
        ]
        assert "lean" in within(sides, "value")
        assert "fp" in within(sides, "value")

    def test_its_folds_stand_in_the_address(self) -> None:
        text = folded("", {"names": ["lean"], "number": 3, "act": "fold"})
        assert read_folds(text) == {"lean": Folds(closed=(3,))}

    def test_a_snapshot_of_it_is_uploaded(self, library: Library) -> None:
        key = library.keep([("table.json", snapshot_json("lean").encode())])
        uploaded = library.story({"from": "document", "doc": key})
        assert list(uploaded.structures) == [FILE, *OFFERED, "lean"]
        assert uploaded.structures[FILE] == "The file (lean)"
        assert type(uploaded.frame(FILE, 0).table()) is LeanForest
        assert json.loads(snapshot_json("lean"))["structure"] == "lean"

    def test_what_is_shown_unasked_stays(self, story: Story) -> None:
        assert default_pair() == ("fp", "nrf")
        assert structure_for("forest") == "nrf"
        rows = mechanisms(story, 4, ["I1", "I2", "I3"]).rows
        assert all(set(row.sets) == set(MECHANISMS) for row in rows)


def test_a_list_from_elsewhere_is_not_offered() -> None:
    class Roll(LeanForest):
        structure = "roll"
        promises = pl.Promises("Roll", pl.Shape.LIST, pl.Elimination.EVERYWHERE)

    with structures_as_before():
        pl.register_structure(Roll)
        assert "roll" not in STRUCTURES
        assert dict(STRUCTURES) == OFFERED

"""The Merging page: root sets before and after as data, without a browser, and then in one."""

from __future__ import annotations

from itertools import product
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from selenium.webdriver.common.keys import Keys

import posetlib as pl
from browser import merging_plane as plane
from browser.config import Config, Limits
from browser.merging import (
    Follower,
    Merged,
    Merging,
    before_and_after,
    domains_of,
    marks_for,
    merging_from,
    unwanted,
)
from browser.merging_plane import Plane, plane_of
from browser.pages import merging as page
from browser.sources import SourceError
from browser.state import Library
from browser.story import Story
from posetlib.merging import merge_violations

from .driving import Visitor

LIMITS = Limits()
LIBRARY = Library(Config())
EXAMPLE = {"from": "example", "example": "merging"}
ROUGH = Merging(perfect=False, max_loss=0.3)


def generated(**recipe: Any) -> Story:
    return LIBRARY.story({"from": "generate", **{name: str(v) for name, v in recipe.items()}})


def example(step: int, settings: Merging = ROUGH) -> Merged:
    return Follower(LIBRARY.story(EXAMPLE), settings).at(step)


def texts(component: Any) -> str:
    """All text of a component, in order."""
    if component is None:
        return ""
    if isinstance(component, str):
        return component
    if isinstance(component, (list, tuple)):
        return " ".join(texts(each) for each in component)
    return texts(getattr(component, "children", None))


class TestTheSettings:
    def test_what_the_controls_say(self) -> None:
        assert merging_from("perfect", 40, ["yes"]) == Merging(True, 0.0, True)
        assert merging_from("imperfect", None, []) == Merging(False, 0.3, False)
        assert merging_from("imperfect", 0, []) == Merging(False, 0.0, False)

    @pytest.mark.parametrize(
        ("kind", "loss", "words"),
        [
            ("rough", 3, "perfect or imperfect"),
            ("imperfect", "much", "is a number"),
            ("imperfect", 101, "between 0 and 100"),
            ("imperfect", "nan", "between 0 and 100"),
        ],
    )
    def test_what_is_wrong_is_told(self, kind: str, loss: Any, words: str) -> None:
        with pytest.raises(SourceError, match=words):
            merging_from(kind, loss, [])

    def test_domains_leave_out_what_has_no_bounds(self) -> None:
        some = [pl.parse_filter(each) for each in ("x > 3 and exists y", 'x < 7 and z = "a"')]
        assert domains_of(some) == {"x": (3.0, 7.0)}


class TestTheFollower:
    @pytest.mark.parametrize("settings", [Merging(), ROUGH, Merging(subsume=True)])
    def test_every_root_is_in_one_group_and_covered_by_it(self, settings: Merging) -> None:
        story = generated(kind="narrow", filters=40, width=30, operations=20, seed=3)
        follower = Follower(story, settings)
        merged_any = False
        for step in range(0, len(story) + 1, 5):
            merged = follower.at(step)
            roots = story.frame("fp", step).table().roots()
            assert merged.roots == tuple(sorted(story.number[each] for each in roots))
            members = [each for group in merged.groups for each in group.components + group.covered]
            assert sorted(members) == list(merged.roots)
            for group in merged.groups:
                for member in group.components + group.covered:
                    assert group.filter.covers(merged.filters[member])
            sent = [each.filter for each in merged.sent]
            assert list(merge_violations(roots, sent, perfect=settings.perfect)) == []
            merged_any = merged_any or any(each.is_merger for each in merged.groups)
        assert merged_any or settings.perfect

    def test_the_answer_does_not_depend_on_who_asked_before(self) -> None:
        story = generated(filters=30, operations=10, seed=5)
        straight, zigzag = Follower(story, ROUGH), Follower(story, ROUGH)
        wanted = [straight.at(step) for step in range(len(story) + 1)]
        for step in (50, 3, 20, 19, 50, 30, 29, 15, 14, 0, 33):
            found = zigzag.at(step)
            assert found.groups == wanted[step].groups
            assert (found.added, found.gone) == (wanted[step].added, wanted[step].gone)

    def test_what_a_step_adds_and_takes_away_is_the_difference(self) -> None:
        story = LIBRARY.story(EXAMPLE)
        follower = Follower(story, Merging())
        before: set[int] = set()
        for step in range(len(story) + 1):
            merged = follower.at(step)
            sent = {each.number for each in merged.sent}
            assert (set(merged.added), set(merged.gone)) == (sent - before, before - sent)
            before = sent

    def test_a_removal_dissolves_the_merger_of_the_example(self) -> None:
        def first(step: int) -> tuple[str, tuple[int, ...]]:
            group = example(step, Merging()).group_of(1)
            assert group is not None
            return str(group.filter), group.components

        assert first(10) == ("x in [0, 60] and y in [0, 30]", (1, 2, 3))
        assert first(11) == ("(x in [0, 20] or x in [45, 60]) and y in [0, 30]", (1, 3))

    def test_losses(self) -> None:
        merged = example(10)
        losses = {each.components: each.loss for each in merged.groups}
        assert losses[(1, 2, 3)] == 0
        # Two of 20 and 15 by 15 in one of 45 by 15.
        assert losses[(6, 7)] == pytest.approx(10 / 45)
        assert merged.worst_loss == losses[(6, 7)]
        assert example(10, Merging()).worst_loss == 0

    def test_an_unwanted_notification_shows_a_loss(self) -> None:
        merged = example(10)
        group = merged.group_of(6)
        assert group is not None
        found = unwanted(merged, group)
        assert found is not None
        assert group.filter.matches(found)
        assert not any(merged.filters[each].matches(found) for each in merged.roots)
        exact = merged.group_of(1)
        assert exact is not None
        assert unwanted(merged, exact) is None

    def test_what_others_cover_together_is_left_out_with_its_supporters(self) -> None:
        story = LIBRARY.story(
            {
                "from": "text",
                "text": "a: x in [0, 6] and y in [0, 9]\nb: x in [5, 9] and y in [0, 8]\n"
                "c: x in [2, 8] and y in [3, 7]",
            }
        )
        merged = Follower(story, Merging(subsume=True)).at(3)
        assert [each.number for each in merged.sent] == [1, 2]
        left = merged.group_of(3)
        assert left is not None
        assert left.supporters == (1, 2)
        assert len(Follower(story, Merging()).at(3).sent) == 3


class TestMarks:
    def test_of_a_merger_and_of_each_of_its_roots(self) -> None:
        merged = example(10)
        group = merged.group_of(6)
        assert group is not None
        wanted = {
            group.number: ["merger"],
            6: ["component"],
            7: ["component"],
            10: ["covered"],
        }
        for chosen in (group.number, 6, 7, 10):
            assert marks_for(merged, chosen) == wanted

    def test_of_what_is_not_merged_or_not_there(self) -> None:
        merged = example(10)
        assert marks_for(merged, 9) == {}
        assert marks_for(merged, 8) == {}  # another filter covers it: it is no root
        assert marks_for(merged, 999) == marks_for(merged, None) == {}


class TestThePlane:
    @pytest.mark.parametrize(
        "text",
        [
            "x in [1, 3] and y in [2, 4]",
            "(x in [0, 1] or x in [3, 4]) and (y = 2 or y > 4)",
            "x > 2 and y <= 3",
            "y >= 1",
            "x:int in [1, 3] and y = 0",
        ],
    )
    def test_a_point_is_in_a_rectangle_if_it_matches(self, text: str) -> None:
        item = pl.parse_filter(text)
        found = Plane("x", "y", (0, 5), (0, 5)).rectangles(item)
        assert found
        for x, y in product(range(-1, 7), repeat=2):
            inside = any(
                each.left <= x <= each.right and each.low <= y <= each.high for each in found
            )
            # Rectangles are closed: an open end has one point too many, on its line.
            on_an_edge = any(x in each[:2] or y in each[2:] for each in found)
            assert inside == item.matches({"x": x, "y": y}) or on_an_edge

    @pytest.mark.parametrize("text", ["z = 1", "x > 1 and z = 1", 'x = "a"', "x != 3 and exists y"])
    def test_other_filters_have_none(self, text: str) -> None:
        assert Plane("x", "y", (0, 5), (0, 5)).rectangles(pl.parse_filter(text)) == []

    def test_too_many_pieces_are_none(self) -> None:
        text = " or ".join(f"x = {2 * each}" for each in range(70))
        item = pl.parse_filter(f"({text}) and y in [0, 1]")
        assert Plane("x", "y", (0, 5), (0, 5)).rectangles(item) == []

    def test_places_in_the_drawing(self) -> None:
        shown = Plane("x", "y", (0, 10), (0, 10))
        (rectangle,) = shown.rectangles(pl.parse_filter("x in [0, 5] and y in [5, 10]"))
        wide, high = plane.WIDTH, plane.HEIGHT
        assert shown.box(rectangle) == (wide / 4, high / 4, wide / 2, high / 2)
        (point,) = shown.rectangles(pl.parse_filter("x = 5 and y = 5"))
        assert shown.box(point) == (wide / 2, high / 2, 7, 7)
        (endless,) = shown.rectangles(pl.parse_filter("x >= 0"))
        x, _, width, height = shown.box(endless)
        assert x + width / 2 > wide
        assert height > high

    def test_which_attributes(self) -> None:
        some = ["a > 1", "x in [0, 5] and z in [0, 5]", "y in [1, 2] and x in [3, 9]"]
        some += ["x in [0, 1] and y in [0, 3]"]
        assert plane_of(map(pl.parse_filter, some)) == Plane("x", "y", (0.0, 9.0), (0.0, 3.0))
        assert (
            plane_of(map(pl.parse_filter, ['x > 1 and y = "a"', "x > 1 and y > 1 and z > 1"]))
            is None
        )
        assert plane_of([]) is None

    def test_before_and_after(self) -> None:
        merged = example(10)
        shown = plane_of(merged.filters.values())
        assert shown is not None
        before, after = plane.before_and_after(shown, merged, 6)
        assert (before["nodes"], after["nodes"]) == (9, 4)
        assert before["stats"] == "9 roots"
        assert after["stats"] == "4 filters · 3 mergers · largest loss 22 %"
        by_id = {each["data"]["id"]: each for each in after["elements"]}
        group = merged.group_of(6)
        assert group is not None
        mine = by_id[str(group.number)]
        assert mine["data"]["label"] == f"◆ #{group.number} · 22 %"
        assert mine["classes"] == "rect merger-box merger"
        # The roots within it are drawn below it, and are not its own elements.
        inner = by_id["in 6"]
        assert (inner["classes"], inner["data"]["label"]) == ("rect inside", "")
        assert inner["data"]["z"] < mine["data"]["z"]
        assert "6" not in by_id
        roots = {each["data"]["id"]: each for each in before["elements"]}
        assert "component" in roots["6"]["classes"]
        assert "covered" in roots["10"]["classes"]
        # The smaller lies above the larger.
        assert roots["10"]["data"]["z"] > roots["2"]["data"]["z"]

    def test_a_filter_of_two_rectangles_has_one_number(self) -> None:
        merged = example(11, Merging())
        shown = plane_of(merged.filters.values())
        assert shown is not None
        after = plane.before_and_after(shown, merged, None)[1]
        group = merged.group_of(1)
        assert group is not None
        parts = [
            each["data"]["id"]
            for each in after["elements"]
            if each["data"].get("number") == group.number
        ]
        assert parts == [f"{group.number}", f"{group.number} part 1"]
        assert after["nodes"] == len(merged.sent)

    def test_what_is_not_drawn_is_told(self) -> None:
        story = LIBRARY.story({"from": "text", "text": "a: x > 1 and y > 1\nb: z = 3\nc: z = 4"})
        merged = Follower(story, Merging()).at(3)
        shown = plane_of(story.number)
        assert shown is not None
        before, _ = plane.before_and_after(shown, merged, None)
        assert before["nodes"] == 1
        assert before["note"].startswith("2 filters not drawn: not about ranges of x and y alone")


class TestTheCards:
    def test_graphs_where_there_is_no_plane(self) -> None:
        story = LIBRARY.story(EXAMPLE)
        merged = example(10)
        before, after = before_and_after(story, merged, 6, LIMITS)
        assert (before["nodes"], before["edges"]) == (9, 0)
        assert (after["nodes"], after["edges"]) == (12, 8)
        assert after["step"] == 10

    def test_a_merger_a_component_and_a_filter_below(self) -> None:
        story = LIBRARY.story(EXAMPLE)
        merged = example(10)
        group = merged.group_of(6)
        assert group is not None
        told = texts(page.detail_card(story, merged, group.number, 9))
        assert "Estimated loss" in told
        assert "22 %" in told
        assert "2 components" in told
        assert "Covers besides: 1 root" in told
        assert f"#{group.number}" in texts(page.detail_card(story, merged, 6, 9))
        assert "which covers it" in texts(page.detail_card(story, merged, 10, 9))
        assert "sent as it is" in texts(page.detail_card(story, merged, 9, 9))
        assert "another filter covers it" in texts(page.detail_card(story, merged, 8, 9))
        assert "not there now" in texts(page.detail_card(story, example(11), 2, 9))
        assert "Click" in texts(page.detail_card(story, merged, 999, 9))

    def test_where_nothing_merges_an_example_is_named(self) -> None:
        apart = generated(filters=24, seed=7)
        nothing = Follower(apart, Merging()).at(24)
        assert "No two of these roots merge" in texts(page.detail_card(apart, nothing, None, 9))
        first = Follower(apart, Merging()).at(1)
        for merged in (first, example(10)):
            assert "No two" not in texts(page.detail_card(apart, merged, None, 9))

    def test_lists(self) -> None:
        merged = example(10)
        rows = page.sent_list(merged, 6, 2)
        assert [row[2] for row in rows["rows"]] == ["3", "3"]
        assert rows["classes"].count("picked") == 1
        assert rows["note"] == "The first 2 of 4."
        sizes = page.size_list({"Perfect": example(10, Merging()), "Imperfect": merged})
        assert sizes["rows"] == [
            ["Roots", "9", ""],
            ["Perfect", "6", "0 %"],
            ["Imperfect", "4", "22 %"],
        ]


@pytest.mark.needs("chromium")
class TestInTheBrowser:
    QUERY = "?from=example&example=merging&step=10"

    def test_a_click_on_a_merger_shows_its_components(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/merging{self.QUERY}&merging=imperfect&loss=25")
        visitor.draws("merging-before", 9)
        visitor.draws("merging-after", 4)
        group = example(10).group_of(6)
        assert group is not None
        visitor.tap("merging-after", group.number)
        visitor.sees("#merging-detail", "2 components")
        visitor.until(lambda: "component" in visitor.classes("merging-before", 6), "a component")
        assert "covered" in visitor.classes("merging-before", 10)
        assert "picked" in visitor.classes("merging-after", group.number)
        query = parse_qs(urlsplit(visitor.driver.current_url).query)
        assert query["node"] == [str(group.number)]
        assert query["loss"] == ["25"]
        # The address opens the same view.
        visitor.driver.refresh()
        visitor.sees("#merging-detail", "Estimated loss 22 %")

    def test_each_rectangle_of_a_filter_leads_to_it(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/merging?from=example&example=merging&step=11")
        group = example(11, Merging()).group_of(1)
        assert group is not None
        visitor.tap("merging-after", f"{group.number} part 1")
        visitor.sees("#merging-detail", "2 components")
        for each in (f"{group.number}", f"{group.number} part 1"):
            assert "picked" in visitor.classes("merging-after", each)

    def test_perfect_imperfect_and_the_bound(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/merging{self.QUERY}")
        visitor.draws("merging-after", 6)
        visitor.sees("#merging-counts", "Imperfect 4 22 %")
        visitor.choose("#merging-merging label", "Imperfect")
        visitor.draws("merging-after", 4)
        less = len(example(10, Merging(perfect=False, max_loss=0.05)).sent)
        assert less > 4
        visitor.write("#merging-loss", "5", submit=True)
        visitor.draws("merging-after", less)
        visitor.click("#merging-forward")
        visitor.sees("#merging-step_text", "Step 11 of 11")
        visitor.sees("#chips-merging-after", "−")

    def test_as_a_graph_and_without_a_plane(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/merging{self.QUERY}&merging=imperfect&drawn_as=graph")
        visitor.draws("merging-after", 12, 8)
        visitor.choose("#merging-drawn_as label", "Plane")
        visitor.draws("merging-after", 4, 0)
        visitor.open(f"{address}/merging?from=text&text=a:+x+in+[0,+5]%0Ab:+x+in+[5,+9]")
        visitor.draws("merging-after", 3, 2)
        visitor.press("#merging-rows button", Keys.ENTER)
        visitor.sees("#merging-detail", "loses nothing")

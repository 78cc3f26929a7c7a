"""Plane and Statistics: rectangles and curves, as data and in Chromium."""

from __future__ import annotations

import pytest
from selenium import webdriver

import posetlib as pl
from browser.config import Config
from browser.pages.statistics import figures_of
from browser.plane import attributes_of, plane, point_of
from browser.state import Library
from browser.statistics import MEASURES, growth, histograms, series, steps_shown
from browser.story import STRUCTURES, Story

from .driving import Visitor

RECIPE = {"filters": "60", "operations": "40", "seed": "5"}


def story(text: str = "") -> Story:
    return Library(Config()).story({"from": "text", "text": text} if text else RECIPE)


class TestPlane:
    def test_rectangles_are_what_filters_allow(self) -> None:
        told = story()
        frame = told.frame("fp", 100)
        made = plane(told, frame, "x", "y")
        assert {each["number"] for each in made["rectangles"]} == set(frame.graph.nodes)
        for each in made["rectangles"]:
            (x1, x2), (y1, y2) = each["x"], each["y"]
            item = told.filters[each["number"]]
            for x in (x1, x2, (x1 + x2) / 2, x1 - 1, x2 + 1):
                for y in (y1, y2, (y1 + y2) / 2, y1 - 1, y2 + 1):
                    inside = x1 <= x <= x2 and y1 <= y <= y2
                    assert item.matches({"x": x, "y": y}) is inside

    def test_a_covered_filter_lies_inside(self) -> None:
        told = story()
        frame = told.frame("fp", 100)
        at = {each["number"]: each for each in plane(told, frame, "x", "y")["rectangles"]}
        assert frame.graph.edges
        for parent, child in frame.graph.edges:
            for axis in ("x", "y"):
                assert at[parent][axis][0] <= at[child][axis][0]
                assert at[parent][axis][1] >= at[child][axis][1]

    def test_what_is_open_absent_or_no_number(self) -> None:
        told = story('I1: x > 3\nI2: x in [1, 2] or x > 9\nI3: x prefix "a"\nI4: y = 4')
        made = plane(told, told.frame("fp", 4), "x", "y")
        spans = [(each["number"], each["x"], each["y"]) for each in made["rectangles"]]
        anything = (None, None)
        assert spans == [
            (1, (3.0, None), anything),
            (2, (1.0, 2.0), anything),
            (2, (9.0, None), anything),
            (4, anything, (4.0, 4.0)),
        ]
        assert made["note"].startswith("1 filters are not drawn")
        assert attributes_of(told) == ["x", "y"]

    def test_mergers_are_exact(self) -> None:
        told = story("I1: x in [0, 5] and y in [0, 1]\nI2: x in [5, 9] and y in [0, 1]\nI3: x = 20")
        (merger,) = plane(told, told.frame("fp", 3), "x", "y", with_mergers=True)["mergers"]
        assert (merger["x"], merger["y"]) == ((0.0, 9.0), (0.0, 1.0))
        assert merger["text"].startswith("#1 and #2 together")

    @pytest.mark.parametrize("value", [True, "3", None, [1], float("inf"), 10**400])
    def test_what_is_no_place_is_no_point(self, value: object) -> None:
        assert point_of({"x": value, "y": 1}, "x", "y") is None


class TestStatistics:
    def test_curves_are_the_tables(self) -> None:
        told = story()
        for each in series(told):
            assert each.steps[0] == 0
            assert each.steps[-1] == len(told)
            for place in (0, 7, len(each.steps) - 1):
                frame = told.frame(each.structure, each.steps[place])
                since = each.steps[place] - each.steps[place - 1] if place else 1
                made = frame.covering_tests - (each.values["tests"][place - 1] if place else 0)
                found = {name: values[place] for name, values in each.values.items()}
                assert found == {
                    "filters": len(frame.graph.nodes),
                    "roots": len(frame.graph.roots),
                    "edges": len(frame.graph.edges),
                    "levels": frame.graph.levels,
                    "tests": frame.covering_tests,
                    "tests_of_step": round(made / since, 2),
                }

    def test_every_step_of_a_short_trace_has_its_own_tests(self) -> None:
        told = Library(Config()).story({"filters": "40", "operations": "5"})
        for each in series(told):
            assert len(each.steps) == len(told) + 1
            costs = [told.frame(each.structure, step).last_tests for step in each.steps]
            assert list(each.values["tests_of_step"]) == costs

    def test_long_traces_are_sampled_to_both_ends(self) -> None:
        for length in (0, 1, 59, 60, 61, 5_000):
            steps = steps_shown(length)
            assert steps[0] == 0
            assert steps[-1] == length
            assert list(steps) == sorted(set(steps))
            assert len(steps) <= 60

    def test_figures_have_a_curve_for_each_structure_and_the_step(self) -> None:
        figures = figures_of(series(story()), 12)
        assert len(figures) == len(MEASURES)
        for each in figures:
            assert [trace["name"] for trace in each["data"]] == [n.upper() for n in STRUCTURES]
            assert each["step"] == 12

    def test_histograms_count_every_filter(self) -> None:
        told = story()
        for structure in STRUCTURES:
            frame = told.frame(structure, 100)
            found = histograms(frame)
            count = len(frame.graph.nodes)
            assert sum(found["depth"].values()) == sum(found["fan-out"].values()) == count
            assert found["depth"]["0"] == len(frame.graph.roots)
            assert sum(found["interface"].values()) == len(frame.snapshot.entries())

    def test_growth_is_the_cost_of_adding(self) -> None:
        told = story()
        adds = [each for each in told.trace if each.name == "add"]
        for each in growth(told):
            table = pl.make_table(each.structure, index=False)
            for operation in adds[: each.sizes[0]]:
                table.add(operation.item, operation.interface)
            assert each.tests[0] == round(table.counters.covering_tests / each.sizes[0], 2)
            assert each.sizes[-1] == len(adds)
            assert list(each.sizes) == sorted(set(each.sizes))


@pytest.mark.needs("chromium")
class TestPages:
    def test_the_plane_and_the_graph_follow_each_other(
        self, visitor: Visitor, address: str
    ) -> None:
        text = "I1: x in [0, 90] and y in [0, 90]%0AI2: x in [10, 20] and y in [10, 20]"
        text += "%0AI3: x in [60, 80] and y in [60, 80]"
        visitor.open(f"{address}/plane?from=text&text={text}")
        visitor.draws("plane-graph", 3, 2)
        visitor.settled("plane-graph")
        visitor.until(
            lambda: visitor.one("#plane-plane").get_attribute("data-drawn") == "3", "the plane"
        )
        visitor.click("#plane-plane [data-pick='plane 3']")
        visitor.until(lambda: "picked" in visitor.classes("plane-graph", 3), "it in the graph")
        visitor.tap("plane-graph", 2)
        visitor.one("#plane-plane .picked[data-pick='plane 2']")
        visitor.one("#plane-plane .near[data-pick='plane 1']")
        visitor.write("#plane-notification", '{"x": 15, "y": 15}', submit=True)
        visitor.one("#plane-plane .notification")
        visitor.write("#plane-notification", '{"x": }', submit=True)
        visitor.sees("#plane-plane_note", "no JSON")
        # Drag around the third.
        box = visitor.driver.execute_script(
            "const b = document.querySelector(\"[data-pick='plane 3']\").getBoundingClientRect();"
            "return [b.left - 8, b.top - 8, b.right + 8, b.bottom + 8].map(Math.round);"
        )
        pointer = webdriver.ActionChains(visitor.driver)
        action = pointer.w3c_actions.pointer_action
        action.move_to_location(box[0], box[1])
        action.pointer_down()
        action.move_to_location(box[2], box[3])
        action.pointer_up()
        pointer.perform()
        visitor.until(lambda: "dim" in visitor.classes("plane-graph", 2), "the others dimmed")
        assert "found" in visitor.classes("plane-graph", 3)

    def test_curves_are_drawn_and_lead_to_a_step(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/statistics?from=example&example=forwards")
        visitor.one("#statistics-filters .main-svg .scatterlayer .trace")
        visitor.one("#statistics-depth .main-svg .barlayer .point")
        # What is not measured yet says so, and shows no empty axes.
        visitor.driver.execute_script(
            "window.dash_clientside.set_props('statistics-edges_data', {data: null})"
        )
        visitor.sees("#statistics-edges .annotation-text", "Working …")
        visitor.driver.execute_script(
            "window.dash_clientside.set_props('statistics-filters',"
            " {clickData: {points: [{x: 3}]}})"
        )
        visitor.sees("#statistics-step_text", "Step 3 of 6")
        visitor.click("#statistics-grow")
        visitor.one("#statistics-growth_tests .main-svg .scatterlayer .trace")

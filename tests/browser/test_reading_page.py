"""Drawings that can be read, in Chromium: label sizes in pixels, bands, and the neighbourhood."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from .driving import Visitor

pytestmark = pytest.mark.needs("chromium")

#: What is written on each filter of a graph, how large it is on the screen, and how wide.
_LABELS = """
const cy = document.getElementById("cy-" + arguments[0])._cyreg.cy, zoom = cy.zoom();
return cy.nodes().map((node) => ({
  id: node.id(), label: node.style("label"), classes: node.classes(),
  pixels: parseFloat(node.style("font-size")) * zoom, box: node.width() * zoom,
  wide: Math.max(...node.style("label").split("\\n").map((line) => {
    const context = document.createElement("canvas").getContext("2d");
    context.font = node.style("font-size") + " " + node.style("font-family");
    return context.measureText(line).width * zoom;
  })),
}));
"""


@contextlib.contextmanager
def screen(visitor: Visitor, width: int, height: int) -> Iterator[None]:
    """Have a window of just this size, as on a projector."""
    command = visitor.driver.execute_cdp_cmd
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    command("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        command("Emulation.clearDeviceMetricsOverride", {})


def labels(visitor: Visitor, panel: str) -> list[dict[str, Any]]:
    visitor.settled(panel)
    return list(visitor.driver.execute_script(_LABELS, panel))


def around(visitor: Visitor, panel: str) -> str:
    """Return what is said above a graph about the neighbourhood that it shows."""
    return visitor.text(f"#note-{panel}")


PANELS = {
    "": ("tables-fp", "tables-nrf"),
    "match": ("match-fp", "match-nrf"),
    "forwards": ("forwards-fp",),
    "plane": ("plane-graph",),
    "diff": ("diff-both",),
}


@pytest.mark.parametrize("path", PANELS)
@pytest.mark.parametrize(("width", "height"), [(1600, 900), (1280, 720)])
def test_the_text_of_the_default_filters_is_read(
    visitor: Visitor, address: str, width: int, height: int, path: str
) -> None:
    with screen(visitor, width, height):
        visitor.open(f"{address}/{path}?from=generate")
        for panel in PANELS[path]:
            found = labels(visitor, panel)
            assert len(found) == 22
            assert [each for each in found if each["pixels"] < 9] == []
            assert [each for each in found if " in [" not in each["label"]] == []
            assert [each for each in found if each["wide"] > each["box"]] == []


@pytest.mark.parametrize(
    ("query", "panels"),
    [
        ("context?", ("queries", "profiles")),
        ("context?context-run=example:photos&context-step=6", ("queries", "profiles")),
        ("context?context-run=example:places&context-step=8", ("queries", "profiles")),
        ('?from=text&text=I1: s = "WWWWWWWWWWWWWWWWW"\nI1: mm > 5 and MM = "@%23@"', ("fp",)),
        ("?from=text&text=a,long%2Bname: x = 1\nI1: y = 1234567890123", ("fp",)),
        ("?from=text&text=I1: x > 1\nI2: x > 2\nI3: x > 3\nI4: x > 3&folds=fp_1", ("fp",)),
    ],
)
def test_every_line_is_in_its_box(
    visitor: Visitor, address: str, query: str, panels: tuple[str, ...]
) -> None:
    """With as many letters as another, a line of wide ones was wider than its box."""
    page = query.partition("?")[0] or "tables"
    with screen(visitor, 1280, 720):
        visitor.open(f"{address}/{query}")
        for panel in panels:
            found = labels(visitor, f"{page}-{panel}")
            assert found
            assert [each for each in found if each["pixels"] < 9 or "\n" not in each["label"]] == []
            assert [each for each in found if each["wide"] > each["box"] - 4] == []


@pytest.mark.parametrize("path", ["", "match", "diff", "forwards", "plane"])
@pytest.mark.parametrize(("width", "height"), [(1600, 900), (1280, 720)])
def test_there_is_room_for_what_is_typed(
    visitor: Visitor, address: str, width: int, height: int, path: str
) -> None:
    """Beside other controls the field of expressions was once a hundred pixels wide."""
    with screen(visitor, width, height):
        visitor.open(f"{address}/{path}?from=generate")
        field = visitor.one(f"#{path or 'tables'}-where")
        visitor.until(lambda: field.rect["width"] >= 170, "a field that is wide enough")


def test_a_report_is_seen_in_full_on_a_projector(visitor: Visitor, address: str) -> None:
    with screen(visitor, 1280, 720):
        visitor.open(f"{address}/runs?from=workload&report=bad.json")
        head = visitor.one(".sides.runs th:last-child")
        card = visitor.one(".sides.runs .card:has(table)")
        right = head.rect["x"] + head.rect["width"]
        assert right <= card.rect["x"] + card.rect["width"]


@pytest.mark.parametrize(
    "path", [*PANELS, "statistics", "merging", "context", "expressions", "network", "runs"]
)
def test_the_bar_is_one_line_on_a_projector(visitor: Visitor, address: str, path: str) -> None:
    with screen(visitor, 1280, 720):
        visitor.open(f"{address}/{path}?from=generate")
        visitor.one("#page h1")
        places = visitor.driver.execute_script(
            "return [...document.querySelectorAll('.bar > *')].filter((each) => each.offsetHeight)"
            ".map((each) => each.getBoundingClientRect())"
            ".map((box) => [box.top + box.height / 2, box.right])"
        )
        assert len(places) >= 6
        assert max(middle for middle, _ in places) - min(middle for middle, _ in places) < 10
        assert max(right for _, right in places) <= 1280


def test_what_a_step_changed_is_read_from_afar(visitor: Visitor, address: str) -> None:
    for query in ("filters=70&interfaces=70", "filters=200&interfaces=200"):
        visitor.open(f"{address}/?from=generate&{query}&look=whole&show=fp,nrf")
        found = {each["id"]: each for each in labels(visitor, "tables-fp")}
        changed = [each for each in found.values() if "added" in each["classes"]]
        assert len(changed) == 1
        assert changed[0]["pixels"] > 10
        assert " in [" in changed[0]["label"]
        # A few that it moved are written out as well; all others have their numbers alone.
        others = [each for each in found.values() if "called" not in each["classes"]]
        assert len(others) > 60
        assert not any(" in [" in each["label"] for each in others)
    # So is the one that is chosen, and all that is not near it is dim.
    visitor.tap("tables-fp", 3)
    visitor.until(lambda: "called" in visitor.classes("tables-fp", 3), "#3 called out")
    found = {each["id"]: each["classes"] for each in labels(visitor, "tables-fp")}
    bright = [each for each, classes in found.items() if "dim" not in classes]
    assert "3" in bright
    assert 1 < len(bright) < 100
    assert [each for each, classes in found.items() if "near" in classes and "dim" in classes] == []


def test_bands_have_names_and_move_with_the_graph(visitor: Visitor, address: str) -> None:
    visitor.open(f"{address}/?from=generate")
    visitor.settled("tables-fp")
    names = "#graph-tables-fp .band span"
    assert visitor.text(names) == "roots · 14"
    tops = (
        "return Array.from(document.querySelectorAll('#graph-tables-fp .band'))"
        ".map((each) => Math.round(each.getBoundingClientRect().top))"
    )
    before = visitor.driver.execute_script(tops)
    assert len(before) == 2
    visitor.press("#graph-tables-fp", Keys.SHIFT + Keys.ARROW_UP + Keys.NULL)
    visitor.until(
        lambda: visitor.driver.execute_script(tops) == [each + 60 for each in before],
        "bands 60 pixels lower",
    )
    visitor.click("#tables-sideways input")
    visitor.until(
        lambda: visitor.driver.find_elements("css selector", "#graph-tables-fp .bands.sideways"),
        "bands beside each other",
    )


class TestNeighbourhood:
    QUERY = "?from=generate&filters=120&interfaces=120&show=fp"

    def test_it_is_the_default_of_large_tables(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{self.QUERY}")
        visitor.sees("#note-tables-fp", "of 120: #120, 2 levels above and below")
        found = labels(visitor, "tables-fp")
        assert len(found) < 60
        assert [each for each in found if each["pixels"] < 9] == []
        assert [each for each in found if " in [" not in each["label"]] == []
        assert visitor.one("#graph-tables-fp .minimap").is_displayed()
        visitor.open(f"{address}/{self.QUERY}&look=whole")
        visitor.draws("tables-fp", 120)
        assert around(visitor, "tables-fp") == ""

    @pytest.mark.parametrize(
        "query", ["", "&sideways=yes", "&show=fp,pf,nrf", "&index=yes&step=250"]
    )
    @pytest.mark.parametrize(("width", "height"), [(1600, 900), (1280, 720)])
    def test_its_text_is_read_beside_the_panel_of_sources(
        self, visitor: Visitor, address: str, width: int, height: int, query: str
    ) -> None:
        """What `make run` opens: fifteen boxes of FP once had their numbers alone."""
        source = "?from=generate&filters=300&interfaces=4&seed=7&decimals=3"
        with screen(visitor, width, height):
            visitor.open(f"{address}/{source}{query}")
            visitor.sees("#note-tables-fp", "levels above and below")
            assert visitor.one("#sources").is_displayed()
            for panel in ("tables-fp", "tables-nrf"):
                found = self.all_read(visitor, panel)
                assert len(found) >= (10 if not query else 1)
            if not query:
                # In a window that is made smaller there is less, and it can be read.
                with screen(visitor, width - 240, height):
                    self.all_read(visitor, "tables-fp")

    def all_read(self, visitor: Visitor, panel: str) -> list[dict[str, Any]]:
        """Wait until every box has its text in it, as large as can be read; return the boxes."""

        def read() -> list[dict[str, Any]]:
            found = labels(visitor, panel)
            good = (
                each["pixels"] >= 9 and each["wide"] <= each["box"] and " in [" in each["label"]
                for each in found
            )
            return found if all(good) else []

        return visitor.until(read, f"text in all boxes of {panel}")

    def test_what_is_chosen_is_its_centre(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{self.QUERY}&node=22&reach=1")
        visitor.sees("#note-tables-fp", "#22, 1 level above")
        other = next(
            each["id"] for each in labels(visitor, "tables-fp") if each["id"] not in ("22", "120")
        )
        visitor.tap("tables-fp", other)
        visitor.sees("#note-tables-fp", f"#{other}, 1 level above")
        visitor.until(lambda: f"node={other}" in visitor.driver.current_url, "the address")
        assert "picked" in visitor.classes("tables-fp", other)
        visitor.write("#tables-reach", "3", submit=True)
        visitor.sees("#note-tables-fp", f"#{other}, 3 levels above")
        visitor.until(lambda: "reach=3" in visitor.driver.current_url, "the levels in the address")

    def test_the_map_and_the_search_lead_to_others(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{self.QUERY}&node=22")
        visitor.sees("#note-tables-fp", "#22, 2 levels")
        visitor.settled("tables-fp")
        visitor.click("#graph-tables-fp .minimap")
        visitor.until(lambda: "#22," not in around(visitor, "tables-fp"), "another centre")
        visitor.write("#tables-search", "#77", submit=True)
        visitor.sees("#note-tables-fp", "#77, 2 levels")
        assert (
            visitor.view("tables-fp")[0] <= 1_150
        )  # thousandths: not larger than text is made for

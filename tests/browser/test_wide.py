"""Large graphs: columns of data that say the same as elements do, and a canvas that can be used."""

from __future__ import annotations

import json
import random
from itertools import accumulate
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from browser.config import Config, Limits
from browser.elements import drawing
from browser.graph import Graph, Node, Shown, fold
from browser.picture import frame_drawing
from browser.state import Library
from browser.wide import wide_drawing

from .driving import Visitor


def some_graph(seed: int, count: int = 60) -> Graph:
    draw = random.Random(seed)
    nodes = {
        number: Node(
            number, f"x > {number}", tuple(draw.sample(["I1", "I2", "I3"], draw.randint(0, 3)))
        )
        for number in draw.sample(range(-5, 500), count)
    }
    order = list(nodes)
    edges = {tuple(sorted(draw.sample(range(count), 2))) for _ in range(2 * count)}
    return Graph(nodes, tuple((order[parent], order[child]) for parent, child in edges))


def edges_of(made: dict[str, Any]) -> dict[str, set[tuple[int, int]]]:
    """The edges of a drawing by mark, read as the page's script reads them."""
    numbers, found = made["wide"]["numbers"], {}
    for mark, ends in made["lines"].items():
        parents, children = (accumulate(ends[i::2]) for i in (0, 1))
        found[mark] = {(numbers[p], numbers[c]) for p, c in zip(parents, children, strict=True)}
    return found


class TestColumns:
    @pytest.mark.parametrize("seed", range(6))
    def test_they_say_what_elements_say(self, seed: int) -> None:
        graph = some_graph(seed)
        shown = fold(graph, max_nodes=45, max_edges=200)
        draw = random.Random(seed)
        marks = {
            number: draw.sample(["added", "moved", "changed"], 2)
            for number in list(graph.nodes)[:9]
        }
        edge_marks = {edge: draw.choice(["added", "removed"]) for edge in graph.edges[:20]}
        options: dict[str, Any] = {
            "palette": {"I1": 0, "I2": 1, "I3": 2},
            "marks": marks,
            "edge_marks": edge_marks,
            "ratio": 50.0,  # so wide that nothing is stretched
        }
        plain = drawing(graph, shown, labelled=0, **options)
        made = wide_drawing(graph, shown, **options)
        wide = made["wide"]
        assert json.loads(json.dumps(made)) == made
        for name in ("nodes", "edges", "whole", "note", "text", "width", "height"):
            assert made[name] == plain[name], name
        nodes = [each for each in plain["elements"] if "position" in each]
        assert [str(each) for each in wide["numbers"]] == [each["data"]["id"] for each in nodes]
        assert [(x, y) for x, y in zip(wide["x"], wide["y"], strict=True)] == [
            (each["position"]["x"], each["position"]["y"]) for each in nodes
        ]
        for place, each in enumerate(nodes):
            data, classes = each["data"], each["classes"].split()
            held = wide["holders"][place]
            names = [wide["names"][i] for i in (held if isinstance(held, list) else [held])]
            assert names == data["interfaces"]
            assert wide["texts"][place] == data["filter"]
            assert (place in wide["roots"]) == ("root" in classes)
            assert wide["folded"].get(str(place), 0) == data.get("hidden", 0)
            found = {mark for mark, places in wide["marks"].items() if place in places}
            assert found == set(classes) & set(wide["signs"])
        expected: dict[str, set[tuple[int, int]]] = {}
        for each in plain["elements"]:
            if "position" not in each:
                ends = (int(each["data"]["source"]), int(each["data"]["target"]))
                expected.setdefault(each.get("classes", ""), set()).add(ends)
        assert edges_of(made) == expected

    def test_only_large_graphs_come_as_columns(self) -> None:
        story = Library(Config()).story({"filters": "30", "interfaces": "30"})
        frame = story.frame("fp", 30)
        assert "wide" in frame_drawing(story, frame, Limits(element_nodes=29))
        assert "wide" not in frame_drawing(story, frame, Limits(element_nodes=30))

    def test_notes_are_told_at_their_places(self) -> None:
        graph = Graph({7: Node(7, "x > 1", ("I1",)), 9: Node(9, "x > 2", ())}, ((7, 9),))
        made = wide_drawing(graph, Shown((7, 9)), palette={}, notes={9: "below: I1", 11: "absent"})
        assert made["wide"]["notes"] == {"1": "below: I1"}

    def test_ten_thousand_filters_are_drawn_whole(self) -> None:
        recipe = {
            "filters": "10000",
            "interfaces": "10000",
            "kind": "narrow",
            "width": "5",
            "decimals": "3",
        }
        story = Library(Config()).story(recipe)
        frame = story.frame("fp", len(story))
        made = frame_drawing(story, frame, Limits())
        assert made["whole"]
        assert made["nodes"] == 10_000
        assert made["edges"] == len(frame.graph.edges) >= 40_000
        assert edges_of(made)[""] | edges_of(made).get("added", set()) == set(frame.graph.edges)


LARGE = (
    "from=generate&filters=2500&interfaces=2500&kind=narrow&width=9&decimals=3&show=fp&look=whole"
)
#: How many points of the painting have a colour of the page.
PAINTED = """
const view = posetlib.wide.view("tables-fp");
const shown = arguments[1] === "over" ? view.over : view.front;
if (shown.style.display === "none") return 0;
const style = getComputedStyle(document.documentElement);
const wanted = style.getPropertyValue("--" + arguments[0]).trim();
const rgb = [1, 3, 5].map((i) => parseInt(wanted.slice(i, i + 2), 16));
// A copy is read, since Chromium warns of reading the canvas of a page again and again.
const copy = document.createElement("canvas");
copy.width = shown.width;
copy.height = shown.height;
const pen = copy.getContext("2d", {willReadFrequently: true});
pen.drawImage(shown, 0, 0);
const data = pen.getImageData(0, 0, copy.width, copy.height).data;
let count = 0;
for (let i = 0; i < data.length; i += 4)
  if (data[i + 3] > 200 && rgb.every((v, k) => Math.abs(v - data[i + k]) < 12)) count += 1;
return count;
"""


@pytest.mark.needs("chromium")
class TestTheCanvas:
    @pytest.fixture(autouse=True)
    def opened(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/?{LARGE}")
        assert visitor.drawn("tables-fp")[0] == 2_500
        visitor.settled("tables-fp")

    def painted(self, visitor: Visitor, colour: str, canvas: str = "front") -> int:
        return int(visitor.driver.execute_script(PAINTED, colour, canvas))

    def chosen(self, visitor: Visitor) -> Any:
        return visitor.driver.execute_script(
            "const view = posetlib.wide.view('tables-fp');"
            "return view.picked === null ? null : view.data.numbers[view.picked]"
        )

    def nearest(self, visitor: Visitor, number: int) -> None:
        """Come so near to a filter that no other lies beside it."""
        visitor.driver.execute_script(
            "const view = posetlib.wide.view('tables-fp'); view.lookAt([arguments[0]]);"
            "view.zoomBy(1.5 / view.zoom); view.picked = view.place.get(arguments[0]);"
            "view.bringIntoView(); view.picked = null;",
            number,
        )
        visitor.settled("tables-fp")

    def test_a_filter_is_hovered_chosen_and_walked_from(self, visitor: Visitor) -> None:
        assert self.painted(visitor, "accent", "over") == 0
        self.nearest(visitor, 9)
        visitor.hover("tables-fp", 9)
        visitor.sees("#tooltip", "#9 x in")
        assert "Interfaces: I9" in visitor.text("#tooltip")
        visitor.tap("tables-fp", 9)
        visitor.sees("#tables-detail", "#9 x in")
        assert self.chosen(visitor) == 9
        visitor.until(
            lambda: self.painted(visitor, "accent", "over") > 50, "the chosen filter marked"
        )
        parents = visitor.driver.execute_script(
            "return posetlib.wide.view('tables-fp').linked(9, 'parents')"
        )
        assert parents
        visitor.press("#graph-tables-fp", "\ue013")  # the arrow up
        visitor.sees("#tables-detail", f"#{parents[0]} ")
        assert self.chosen(visitor) == parents[0]

    def test_what_is_found_stands_out(self, visitor: Visitor) -> None:
        visitor.write("#tables-search", "I77", submit=True)
        found = visitor.sees("#tables-found", "found")
        numbers = [each for each in range(1, 2_501) if "i77" in f"i{each}"]
        assert found == f"{len(numbers)} found"
        # From afar each is a square of seven pixels, in a colour that nothing else has.
        visitor.until(lambda: self.painted(visitor, "focus") > 30 * len(numbers), "what is found")
        visitor.write("#tables-search", "no such text", submit=True)
        visitor.sees("#tables-found", "0 found")

    def test_it_moves_and_fits(self, visitor: Visitor) -> None:
        whole = visitor.view("tables-fp")
        visitor.press("#graph-tables-fp", "+", "+")
        assert visitor.settled("tables-fp")[0] > 1.5 * whole[0]
        visitor.click("[data-graph='fit tables-fp']")
        assert visitor.settled("tables-fp") == whole
        # A painting has what is seen, and more, wherever the view has moved to.
        visitor.driver.execute_script("posetlib.wide.view('tables-fp').panBy({ x: 1500, y: -900 })")
        visitor.until(
            lambda: visitor.driver.execute_script(
                "const view = posetlib.wide.view('tables-fp');"
                "return !view.job && view.painted.x - view.painted.marginX === view.x0"
            ),
            "a painting of what is seen now",
        )

    def test_folding_and_stepping_draw_anew(self, visitor: Visitor) -> None:
        number = visitor.driver.execute_script(
            "const view = posetlib.wide.view('tables-fp');"
            "return view.rootNumbers().find((each) => view.linked(each, 'children')"
            ".some((child) => view.linked(child, 'parents').length === 1))"
        )
        visitor.driver.execute_script(
            "dash_clientside.set_props('tables-node', { data: arguments[0] })", number
        )
        visitor.sees("#tables-detail", f"#{number} ")
        visitor.press("#graph-tables-fp", "\n")
        visitor.until(lambda: visitor.drawn("tables-fp")[0] < 2_500, "a fold")
        visitor.until(
            lambda: visitor.driver.execute_script(
                "const view = posetlib.wide.view('tables-fp');"
                "return view.data.folded[view.place.get(arguments[0])] > 0",
                number,
            ),
            "a sign of the fold",
        )
        visitor.click("#tables-first")
        visitor.draws("tables-fp", 0, 0)
        assert visitor.driver.execute_script("return posetlib.wide.view('tables-fp')") is None

    def test_it_is_saved_as_a_picture(self, visitor: Visitor) -> None:
        visitor.click("#graph-tables-fp")  # so that no menu is open
        visitor.driver.execute_script("posetlib.graphs.save('svg', 'tables-fp')")
        tree = ET.fromstring(visitor.downloaded(".svg"))
        names = {each.get("class") for each in tree.iter()}
        assert {"node", "edges", "legend"} <= names
        assert sum(each.get("class") == "node" for each in tree.iter()) == 2_500

    def test_the_dark_theme_paints_it_anew(self, visitor: Visitor) -> None:
        before = visitor.driver.execute_script("return posetlib.wide.view('tables-fp').look.ground")
        visitor.click("#theme")
        visitor.until(
            lambda: visitor.driver.execute_script(
                "const view = posetlib.wide.view('tables-fp');"
                "return view.look.ground !== arguments[0] && !view.job",
                before,
            ),
            "other colours",
        )
        visitor.click("#theme")

"""The web app: from a click to the drawn graph, a step of the slider, a diff of two tables."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from bench.harness import Bench
from browser.config import Config, Limits
from browser.diffing import compare
from browser.layout import positions
from browser.picture import frame_drawing
from browser.state import Library
from browser.story import Frame, Story

_SIZES = (100, 500, 2_000)
#: Clicks a button, and answers when the graph has been painted after it, in milliseconds.
_CLICK = """
const [id, panel, done] = arguments;
const frame = document.getElementById("graph-" + panel);
const before = frame ? frame.dataset.serial : undefined;
const start = performance.now();
document.getElementById(id).click();
(function look() {
  const now = document.getElementById("graph-" + panel);
  if (now && now.dataset.serial && (now !== frame || now.dataset.serial !== before))
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0));
  else setTimeout(look, 4);
})();
"""
#: What is generated: a name, the structure, and the parameters.
_LOADS = (
    ("100", "pf", {"filters": 100, "interfaces": 100}),
    ("500", "pf", {"filters": 500, "interfaces": 500}),
    ("2,000", "pf", {"filters": 2_000, "interfaces": 2_000}),
)
#: A table of 2,000 filters with some 10,000 edges.
_DENSE = "kind=narrow&width=16&filters=2000&interfaces=2000&decimals=3&show=fp"


def run(bench: Bench) -> None:
    """Time what a person waits for, and the parts of it that the server does."""
    _server(bench)
    if not bench.quick:  # that the page works is what the tests are for
        _page(bench)


def _story(filters: int) -> Story:
    recipe = {"filters": str(filters), "interfaces": str(filters), "decimals": "3"}
    return Library(Config()).story(recipe)


def _frame(filters: int, structure: str = "pf") -> tuple[Story, Frame]:
    story = _story(filters)
    return story, story.frame(structure, filters)


def _server(bench: Bench) -> None:
    limits = Limits()
    sizes = [bench.size(each, 20) for each in _SIZES]
    frames = [_frame(each) for each in sizes]
    with bench.comparison("A drawing as data, positions included") as timed:
        for size, (story, frame) in zip(sizes, frames, strict=True):
            timed.case(f"PF, {size:,} filters", _drawing_of(story, frame, limits))

    dense = _dense(bench.size(2_000, 20), bench.size(10_000, 40))
    with bench.comparison("Positions by themselves, for 2,000 nodes and 10,000 edges") as timed:
        timed.case("layers of a graph", lambda: positions(bench.size(2_000, 20), dense))

    story, frame = frames[-1]
    count = len(story)
    there = [count - 1, count]

    def step() -> Any:
        there.reverse()
        return frame_drawing(story, story.frame("pf", there[0]), limits)

    with bench.comparison("A step of the slider, at the end of 2,000 filters") as timed:
        timed.case("the callback: one step, and the drawing", step)

    other = story.frame("nrf", count).snapshot
    with bench.comparison("A diff of two tables of 2,000 filters") as timed:
        timed.case("PF and NRF", lambda: compare(frame.snapshot, other, story.number).listed())


def _drawing_of(story: Story, frame: Frame, limits: Limits) -> Any:
    return lambda: frame_drawing(story, frame, limits)


def _dense(nodes: int, edges: int) -> Sequence[tuple[int, int]]:
    """Return edges that lead a few nodes ahead, in a fixed pattern."""
    return [(i % (nodes - 12), i % (nodes - 12) + 1 + i * 7 % 11) for i in range(edges)]


def _page(bench: Bench) -> None:
    from tests.browser.driving import chromium_reason, serving, visiting  # noqa: PLC0415

    reason = chromium_reason()
    if reason is not None:
        print(f"Click to drawn graph: not timed, {reason}\n")
        return
    rows: list[tuple[Any, ...]] = []
    with serving() as address, visiting() as visitor:

        def click(id_: str, panel: str) -> float:
            return float(visitor.driver.execute_async_script(_CLICK, id_, panel)) / 1000

        def steps(panel: str) -> float:
            found = []
            for _ in range(5):
                time.sleep(0.4)
                found.append(click("tables-back", panel))
            return sorted(found)[2]

        for name, structure, parameters in _LOADS:
            panel = f"tables-{structure}"
            visitor.open(f"{address}/?from=generate&filters=20&decimals=3&show={structure}")
            visitor.settled(panel)
            for field, value in parameters.items():
                visitor.write(f"#generate-{field}", str(value))
            first = click("generate", panel)
            nodes, edges = visitor.drawn(panel)
            rows.append((f"{name} filters, {structure}", nodes, edges, first, steps(panel)))
        visitor.open(f"{address}/?from=generate&{_DENSE}")
        visitor.settled("tables-fp")
        nodes, edges = visitor.drawn("tables-fp")
        visitor.choose("#tables-sideways label", "Left to right")
        rows.append(("2,000 filters, fp, laid out anew", nodes, edges, None, steps("tables-fp")))
    bench.table(
        "From a click to the drawn graph, in Chromium",
        ("case", "nodes", "edges", "seconds, generate", "seconds, one step"),
        rows,
        "Generate: filters, table, layout, transfer and painting. One step: the same without the "
        "filters.",
    )
    bench.promise("2,000 nodes from click to drawn graph, seconds", rows[2][3], at_most=3)
    bench.promise("2,000 nodes and their edges after a step, seconds", rows[3][4], at_most=3)

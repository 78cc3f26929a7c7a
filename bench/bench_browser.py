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
#: Clicks the button, and answers when the graph has been painted, in milliseconds.
_CLICK = """
const done = arguments[0];
const frame = document.getElementById("graph-tables-pf");
const before = frame ? frame.dataset.serial : undefined;
const start = performance.now();
document.getElementById(arguments[1] || "generate").click();
(function look() {
  const now = document.getElementById("graph-tables-pf");
  if (now && now.dataset.serial && (now !== frame || now.dataset.serial !== before))
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0));
  else setTimeout(look, 4);
})();
"""


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
    with bench.comparison("A drawing, positions included: 1 / 500 / 2,000 filters") as timed:
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
    rows = []
    with serving() as address, visiting() as visitor:
        for size in _SIZES:
            visitor.open(f"{address}/?from=generate&filters=20&show=pf")
            visitor.drawn("tables-pf")
            for name, value in (("filters", size), ("interfaces", size), ("seed", 1)):
                visitor.write(f"#generate-{name}", str(value))
            first = visitor.driver.execute_async_script(
                _CLICK.replace("arguments[0]", "arguments[arguments.length - 1]")
            )
            steps = []
            for _ in range(5):
                time.sleep(0.5)
                steps.append(
                    visitor.driver.execute_async_script(
                        _CLICK.replace("arguments[0]", "arguments[arguments.length - 1]").replace(
                            'arguments[1] || "generate"', '"tables-back"'
                        )
                    )
                )
            nodes, edges = visitor.drawn("tables-pf")
            rows.append((f"{size:,} filters", nodes, edges, first / 1000, sorted(steps)[2] / 1000))
    bench.table(
        "From a click to the drawn graph, in Chromium",
        ("PF", "nodes", "edges", "seconds, generate", "seconds, one step back"),
        rows,
        "Generating, building the table, laying it out, sending and painting it.",
    )
    bench.promise("2,000 nodes from click to drawn graph, seconds", float(rows[-1][3]), at_most=3)

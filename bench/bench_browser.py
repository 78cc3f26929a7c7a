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
#: Moves a graph by a little thirty times, a frame each; answers with the mean and the longest.
_PAN = """
const [panel, done] = arguments;
const cy = document.getElementById("cy-" + panel)._cyreg.cy, times = [];
let last = performance.now();
(function move() {
  cy.panBy({ x: times.length % 2 ? 40 : -37, y: 3 });
  requestAnimationFrame(() => setTimeout(() => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    if (times.length < 30) move();
    else done([times.reduce((sum, each) => sum + each, 0) / times.length, Math.max(...times)]);
  }, 0));
})();
"""
#: What is generated: a name, the structure, the kind of filters, and how many; an interface each.
_LOADS = (
    ("100 filters", "pf", "kind=uniform", 100),
    ("500 filters", "pf", "kind=uniform", 500),
    ("2,000 filters", "pf", "kind=uniform", 2_000),
    ("2,000 filters, dense", "fp", "kind=narrow&width=16", 2_000),
)


def run(bench: Bench) -> None:
    """Time what a person waits for, and the parts of it that the server does."""
    _server(bench)
    _bytes(bench)
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


def _bytes(bench: Bench) -> None:
    """Count what is sent: the first load with all its scripts, and a step of a large table."""
    from browser.app import create_app  # noqa: PLC0415
    from tests.browser.weighing import Asking, draw, first_load  # noqa: PLC0415

    client = Asking(create_app().server.test_client())
    count = bench.size(2_000, 20)
    rows: list[tuple[Any, ...]] = []
    start = time.perf_counter()
    first = first_load(client)
    rows.append(("the first load", first, time.perf_counter() - start))
    recipe = {"filters": str(count), "interfaces": str(count), "decimals": "3"}
    steps = []
    for structure, kind in (("pf", {}), ("fp", {"kind": "narrow", "width": "16"})):
        draw(client, {"from": "generate", **recipe, **kind}, count, structure)
        start = time.perf_counter()
        answer = draw(client, {"from": "generate", **recipe, **kind}, count - 1, structure)
        seconds = time.perf_counter() - start
        steps.append(len(answer.data))
        rows.append(
            (f"a step at {count:,} filters, {structure.upper()}", len(answer.data), seconds)
        )
    bench.table(
        "What the server sends, compressed",
        ("what", "bytes", "seconds"),
        rows,
        "Seconds are those of the server alone, with compression.",
    )
    bench.promise("the first load, bytes", first, at_most=700_000)
    bench.promise("a step at 2,000 filters, bytes", max(steps), at_most=120_000)


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

        for name, structure, kind, count in _LOADS:
            panel = f"tables-{structure}"
            visitor.open(f"{address}/?from=generate&filters=20&decimals=3&{kind}&show={structure}")
            visitor.settled(panel)
            for field in ("filters", "interfaces"):
                visitor.write(f"#generate-{field}", str(count))
            first = click("generate", panel)
            nodes, edges = visitor.drawn(panel)
            time.sleep(1)
            mean, worst = visitor.driver.execute_async_script(_PAN, panel)
            shown = f"{name}, {structure.upper()}"
            rows.append((shown, nodes, edges, first, steps(panel), mean / 1000, worst / 1000))
    bench.table(
        "From a click to the drawn graph, in Chromium, in seconds",
        ("case", "nodes", "edges", "generate", "one step", "a frame of panning", "the longest"),
        rows,
        "Generate: filters, table, layout, transfer and painting. One step: the same without the "
        "filters.",
    )
    bench.promise("2,000 nodes from click to drawn graph, seconds", rows[2][3], at_most=3)
    bench.promise(
        "2,000 nodes and 10,000 edges from click to drawn, seconds", rows[3][3], at_most=3
    )
    bench.promise("2,000 nodes and 10,000 edges after a step, seconds", rows[3][4], at_most=1.5)
    bench.promise("2,000 nodes and 10,000 edges, a frame of panning", rows[3][5], at_most=0.1)

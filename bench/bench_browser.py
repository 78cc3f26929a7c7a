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
#: Drags a graph to the right and back, 120 frames, so far that what lies beyond the painting comes
#: into sight; answers with the mean, the 95th of a hundred, and the longest.
_PAN = """
const [panel, done] = arguments;
const view = posetlib.graphs.instance(panel), times = [];
let last = performance.now();
(function move() {
  const x = times.length < 60 ? 15 : -15, y = times.length % 40 < 20 ? 3 : -3;
  posetlib.graphs.pan(view, { x, y });
  requestAnimationFrame(() => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    if (times.length < 120) return move();
    times.sort((one, other) => one - other);
    const mean = times.reduce((sum, each) => sum + each, 0) / times.length;
    return done([mean, times[Math.floor(times.length * .95)], times[times.length - 1]]);
  });
})();
"""
#: Scrolls the list of filters by a row and a half 200 times; answers with the mean frame, how many
#: frames had no row in the middle, and how many rows are in the document.
_SCROLL = """
const done = arguments[0], place = document.getElementById("tables-rows"), times = [];
let last = performance.now(), blank = 0;
(function scroll() {
  place.scrollTop += 120;
  requestAnimationFrame(() => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    const box = place.getBoundingClientRect();
    const there = document.elementFromPoint(box.left + 30, box.top + box.height / 2);
    if (!there || !there.closest("tr") || there.closest("tr.spacer")) blank += 1;
    if (times.length < 200) return scroll();
    const mean = times.reduce((sum, each) => sum + each, 0) / times.length;
    return done([mean, blank, place.querySelectorAll("tr").length]);
  });
})();
"""
#: What is generated: a name, the structure, the kind of filters, and how many; an interface each.
_LOADS = (
    ("100 filters", "pf", "kind=uniform", 100),
    ("500 filters", "pf", "kind=uniform", 500),
    ("2,000 filters", "pf", "kind=uniform", 2_000),
    ("2,000 filters, dense", "fp", "kind=narrow&width=16", 2_000),
    ("10,000 filters, wide", "fp", "kind=narrow&width=5.5", 10_000),
)


def run(bench: Bench) -> None:
    """Time what a person waits for, and the parts of it that the server does."""
    _server(bench)
    _bytes(bench)
    _stability(bench)
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


def _stability(bench: Bench) -> None:
    """Count how many filters each add moves by more than a box, at 100 to 300 filters."""
    from browser.story import STRUCTURES  # noqa: PLC0415
    from tests.browser.moving import shares_of  # noqa: PLC0415

    rows: list[tuple[Any, ...]] = []
    worst = 0.0
    last = bench.size(300, 110)
    for kind in ("uniform", "narrow"):
        for operations in (0, last // 3):
            recipe = {"filters": str(last), "interfaces": str(last), "kind": kind}
            story = Library(Config()).story({**recipe, "operations": str(operations)})
            for structure in STRUCTURES:
                steps = range(100, len(story) + 1)
                shares = shares_of(story, structure, steps)
                adds = [shares[each] for each in shares if story.trace[each - 1].name == "add"]
                worst = max(worst, *adds)
                what = f"{structure.upper()}, {kind}, {operations} replaced"
                mean = sum(adds) / len(adds)
                rows.append((what, len(adds), mean, max(adds), max(shares.values())))
    bench.table(
        "Layout stability: the part of the other filters that one step moves by more than a box",
        ("case", "adds", "mean", "most", "most of removals, too"),
        rows,
        "A root that is removed leaves its children as roots, which go up.",
    )
    bench.promise("an add at 100 to 300 filters moves at most", worst, at_most=0.1)


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
            visitor.open(
                f"{address}/?from=generate&filters=20&decimals=3&{kind}&show={structure}&look=whole"
            )
            visitor.settled(panel)
            for field in ("filters", "interfaces"):
                visitor.write(f"#generate-{field}", str(count))
            first = click("generate", panel)
            nodes, edges = visitor.drawn(panel)
            time.sleep(1)
            frames = [each / 1000 for each in visitor.driver.execute_async_script(_PAN, panel)]
            shown = f"{name}, {structure.upper()}"
            rows.append((shown, nodes, edges, first, steps(panel), *frames))
        listed = _scrolled(visitor, address)
    bench.table(
        "From a click to the drawn graph, in Chromium, in seconds",
        (
            *("case", "nodes", "edges", "generate", "one step"),
            *("a frame of panning", "95 of 100 below", "the longest"),
        ),
        rows,
        "Generate: filters, table, layout, transfer and painting. One step: the same without the "
        "filters.",
    )
    bench.table(
        "A list of filters that is scrolled, in Chromium",
        ("rows", "in the document", "seconds a frame", "frames of 200 without a row"),
        [listed],
        "Rows that are not here are asked for in windows.",
    )
    bench.promise("10,000 nodes, 40,000 edges from click to drawn, seconds", rows[4][3], at_most=5)
    bench.promise("10,000 nodes, a frame of panning, seconds", rows[4][5], at_most=1 / 30)
    bench.promise("100,000 rows, a frame of scrolling, seconds", listed[2], at_most=1 / 30)
    bench.promise("2,000 nodes from click to drawn graph, seconds", rows[2][3], at_most=3)
    bench.promise(
        "2,000 nodes and 10,000 edges from click to drawn, seconds", rows[3][3], at_most=3
    )
    bench.promise("2,000 nodes and 10,000 edges after a step, seconds", rows[3][4], at_most=1.5)
    bench.promise("2,000 nodes and 10,000 edges, a frame of panning", rows[3][5], at_most=0.1)


def _scrolled(visitor: Any, address: str) -> tuple[Any, ...]:
    """Return how a list of 100,000 filters scrolls: its rows, those in the document, and frames."""
    count = 100_000
    kind = f"filters={count}&interfaces={count}&kind=narrow&width=1&decimals=4"
    visitor.open(f"{address}/?from=generate&{kind}&show=nrf&step={count}&look=whole")
    visitor.sees("#tables-rows", f"{count:,} filters")
    visitor.settled("tables-nrf")
    mean, blank, rows = visitor.driver.execute_async_script(_SCROLL)
    return count, rows, mean / 1000, blank

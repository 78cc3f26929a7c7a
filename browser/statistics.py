"""Tables in numbers: how they grow from step to step, and how they are made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import posetlib as pl
from browser.layout import layers
from browser.story import COUNTED, STRUCTURES, Frame, Story
from posetlib.tables import Player

__all__ = ["MEASURES", "Growth", "Series", "growth", "histograms", "series", "steps_shown"]

#: What is measured at a step, by name.
MEASURES: Final = {
    "filters": "Filters",
    "roots": "Roots",
    "edges": "Edges",
    "levels": "Levels (depth)",
    "tests": "Covering tests so far",
    "tests_of_step": "Covering tests per step",
}
#: Steps that are measured of a long trace; each is a look at the whole table.
_POINTS: Final = 60
#: Operations up to which all of these are measured.
QUICKLY: Final = 3_000
_SIZES: Final = (25, 50, 100, 200, 400)


@dataclass(frozen=True, slots=True)
class Series:
    """One structure along the steps: for each measure, a value for each of the steps."""

    structure: str
    steps: tuple[int, ...]
    values: dict[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Growth:
    """One structure against the number of filters added."""

    structure: str
    sizes: tuple[int, ...]
    #: Covering tests per add, and edges, at each size.
    tests: tuple[float, ...]
    edges: tuple[int, ...]


def steps_shown(length: int, points: int = _POINTS) -> tuple[int, ...]:
    """Return the steps that are measured: all of a short trace, else evenly spaced.

    >>> steps_shown(3), steps_shown(1000, points=5)
    ((0, 1, 2, 3), (0, 250, 500, 750, 1000))
    """
    if length < points:
        return tuple(range(length + 1))
    return tuple(dict.fromkeys(round(i * length / (points - 1)) for i in range(points)))


def series(story: Story, structures: Sequence[str] | None = None) -> list[Series]:
    """Return every structure along the steps; O(operations), and a look at each step shown."""
    # A look at a large table takes a while: of a long trace, fewer.
    steps = steps_shown(len(story), _POINTS if len(story) <= QUICKLY else _POINTS // 3)
    return [_one(story, each, steps) for each in structures or STRUCTURES]


def _one(story: Story, structure: str, steps: Sequence[int]) -> Series:
    table = pl.make_table(structure, index=len(story) > COUNTED)
    player = Player(story.trace, table)
    values: dict[str, list[float]] = {name: [] for name in MEASURES}
    last, before = 0, 0
    for step in steps:
        while player.position < step:
            player.forward()
        tests = table.counters.covering_tests
        # Of steps that are passed over, the mean.
        each = (tests - before) / max(1, step - last)
        measured = {**_sizes(table), "tests": tests, "tests_of_step": round(each, 2)}
        last, before = step, tests
        for name, value in measured.items():
            values[name].append(value)
    return Series(structure, tuple(steps), {name: tuple(each) for name, each in values.items()})


def _sizes(table: pl.Table[Any]) -> dict[str, int]:
    """Return the numbers of filters, roots, edges and levels of a table."""
    snapshot = table.snapshot(index=False)
    place = {node.id: i for i, node in enumerate(snapshot.nodes)}
    children: list[list[int]] = [[] for _ in place]
    parents: list[list[int]] = [[] for _ in place]
    for parent, child in snapshot.edges:
        children[place[parent]].append(place[child])
        parents[place[child]].append(place[parent])
    return {
        "filters": len(place),
        "roots": sum(not each for each in parents),
        "edges": len(snapshot.edges),
        "levels": max(layers(children, parents), default=-1) + 1,
    }


def histograms(frame: Frame) -> dict[str, dict[str, int]]:
    """Return how many filters there are by depth and by fan-out, and how many each interface holds.

    >>> from browser.config import Config
    >>> from browser.state import Library
    >>> story = Library(Config()).story({"from": "text", "text": "I1: x > 1"})
    >>> histograms(story.frame("fp", 1))
    {'depth': {'0': 1}, 'fan-out': {'0': 1}, 'interface': {'I1': 1}}
    """
    graph = frame.graph
    depths = Counter(graph.depths.values())
    fans = Counter(len(children) for children in graph.children.values())
    held = Counter(name for node in graph.nodes.values() for name in node.interfaces)
    return {
        "depth": {str(each): depths[each] for each in sorted(depths)},
        "fan-out": {str(each): fans[each] for each in sorted(fans)},
        "interface": dict(held.most_common(40)),
    }


def growth(story: Story) -> list[Growth]:
    """Return what the adds of a story cost and make, after more and more of them; no index."""
    adds = [each for each in story.trace if each.name == "add"]
    last = min(len(adds), 2 * _SIZES[-1])
    sizes = (*(each for each in _SIZES if each < last), last)
    found = []
    for structure in STRUCTURES:
        table = pl.make_table(structure, index=False)
        tests, edges, done = [], [], 0
        for size in sizes:
            for each in adds[done:size]:
                table.add(each.item, each.interface)
            done = size
            tests.append(round(table.counters.covering_tests / size, 2))
            edges.append(len(table.snapshot(index=False).edges))
        found.append(Growth(structure, sizes, tuple(tests), tuple(edges)))
    return found

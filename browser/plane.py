"""Filters as rectangles: what they allow of two attributes, where both are numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any, Final

import posetlib as pl
from browser.shortening import visible
from browser.story import Frame, Story

__all__ = ["attributes_of", "mergers", "plane", "point_of"]

#: Rectangles of one filter, and roots of which every two are merged.
_PIECES: Final = 16
_MERGED: Final = 60
_RECTANGLES: Final = 2_000
Span = tuple[float | None, float | None]


def attributes_of(story: Story) -> list[str]:
    """Return the attributes in which some filter asks for numbers, the most common first."""
    found: Counter[str] = Counter()
    for item in story.filters.values():
        for name, constraint in item.constraints.items():
            if constraint.extent().numbers:
                found[name] += 1
    return [name for name, _ in sorted(found.items(), key=lambda each: (-each[1], each[0]))]


def _spans(item: pl.Filter, name: str) -> list[Span]:
    """Return what a filter allows of an attribute, as ranges; None is an end without a limit."""
    constraint = item.constraints.get(name)
    if constraint is None:
        return [(None, None)]  # which asks for nothing
    pieces = constraint.extent().numbers
    if len(pieces) > _PIECES:
        pieces = (pieces[0]._replace(high=pieces[-1].high),)
    return [(_finite(each.low[0]), _finite(each.high[0])) for each in pieces]


def _finite(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def plane(
    story: Story, frame: Frame, x: str, y: str, *, with_mergers: bool = False
) -> dict[str, Any]:
    """Return the filters of a frame as rectangles, the box around them, and what is left out.

    >>> from browser.config import Config
    >>> from browser.state import Library
    >>> story = Library(Config()).story({"from": "text", "text": "I1: x in [0, 5] and y > 2"})
    >>> plane(story, story.frame("fp", 1), "x", "y")["rectangles"][0]["y"]
    (2.0, None)
    """
    made: list[dict[str, Any]] = []
    left_out = 0
    for number, node in frame.graph.nodes.items():
        item = story.filters[number]
        parts = list(product(_spans(item, x), _spans(item, y)))[:_PIECES]
        if not parts or len(made) + len(parts) > _RECTANGLES:
            left_out += 1
            continue
        for across, up in parts:
            made.append(
                {
                    "number": number,
                    "x": across,
                    "y": up,
                    "hue": story.palette.get(node.interfaces[0], 0) if node.interfaces else 0,
                    "root": not frame.graph.parents[number],
                    "text": f"#{number} {visible(node.text)}",
                }
            )
    note = ""
    if left_out:
        note = f"{left_out:,} filters are not drawn: they allow no number of {x} or {y}."
    return {
        "rectangles": made,
        "box": _box(made),
        "names": [x, y],
        "note": note,
        "mergers": mergers(story, frame, x, y) if with_mergers else [],
    }


def _box(rectangles: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the ends of what is drawn, with room for what goes on beyond: x1, y1, x2, y2."""
    ends = []
    for axis in ("x", "y"):
        values = [end for each in rectangles for end in each[axis] if end is not None]
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        room = (high - low) * 0.06 or 1.0
        ends.append((low - room, high + room))
    return [ends[0][0], ends[1][0], ends[0][1], ends[1][1]]


def mergers(story: Story, frame: Frame, x: str, y: str) -> list[dict[str, Any]]:
    """Return what every two roots are together, where that is one filter exactly."""
    roots = frame.graph.roots[:_MERGED]
    found = []
    for one, other in combinations(roots, 2):
        merged = pl.merge(story.filters[one], story.filters[other])
        if merged is None:
            continue
        for across, up in list(product(_spans(merged, x), _spans(merged, y)))[:_PIECES]:
            text = f"#{one} and #{other} together: {visible(str(merged))}"
            found.append({"x": across, "y": up, "text": text})
    return found


def point_of(notification: Mapping[str, Any], x: str, y: str) -> list[float] | None:
    """Return where a notification lies; None if it has no number there.

    >>> point_of({"x": 3, "y": 4.5}, "x", "y"), point_of({"x": "a"}, "x", "y")
    ([3.0, 4.5], None)
    """
    values = [notification.get(name) for name in (x, y)]
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in values):
        return None
    try:
        found = [float(each) for each in values]  # type: ignore[arg-type]  # numbers, as seen
    except OverflowError:
        return None
    return found if all(map(math.isfinite, found)) else None

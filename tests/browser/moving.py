"""How much of a drawing stays where it is from one step to the next."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from browser.config import Limits
from browser.picture import frame_drawing
from browser.story import Story

Places = dict[str, tuple[float, float]]


def places_of(made: dict[str, Any]) -> Places:
    """Return where each filter of a drawing is."""
    return {
        each["data"]["id"]: (each["position"]["x"], each["position"]["y"])
        for each in made["elements"]
        if "position" in each
    }


def bounds(made: dict[str, Any]) -> tuple[float, float, float, float]:
    """Return what the page fits into its room, as its script finds it."""
    places = places_of(made).values()
    x1, y1, x2, y2 = made.get("box", (math.inf, math.inf, -math.inf, -math.inf))
    across, down = made["width"] / 2, made["height"] / 2
    bands = [each[end] for each in made.get("bands", ()) for end in ("from", "to")]
    side, upright = (bands, []) if made.get("sideways") else ([], bands)
    return (
        min(x1, *(x - across for x, _ in places), *side),
        min(y1, *(y - down for _, y in places), *upright),
        max(x2, *(x + across for x, _ in places), *side),
        max(y2, *(y + down for _, y in places), *upright),
    )


def on_screen(made: dict[str, Any], room: tuple[float, float]) -> tuple[Places, float]:
    """Return where each filter is in a room that all is fitted into, in pixels, and the zoom."""
    x1, y1, x2, y2 = bounds(made)
    zoom = min(1.15, (room[0] - 24) / (x2 - x1), (room[1] - 24) / (y2 - y1))
    left, top = room[0] / 2 - zoom * (x1 + x2) / 2, room[1] / 2 - zoom * (y1 + y2) / 2
    return {n: (left + zoom * x, top + zoom * y) for n, (x, y) in places_of(made).items()}, zoom


def moved_share(before: dict[str, Any], after: dict[str, Any]) -> float:
    """Return which part of the filters of both drawings moved by more than a box, either way.

    By their places in the drawing, or on the screen, where all is fitted anew at each step:
    whichever is more.
    """
    was, now = places_of(before), places_of(after)
    found = [_far(was, now, after, 1.0)]
    for room in ((421, 380), (560, 330)):
        (was, _), (now, zoom) = on_screen(before, room), on_screen(after, room)
        found.append(_far(was, now, after, zoom))
    return max(found) / max(1, len(was.keys() & now.keys()))


def _far(was: Places, now: Places, made: dict[str, Any], zoom: float) -> int:
    """Return how many filters moved by more than a box of a drawing at a zoom."""
    return sum(
        abs(was[each][0] - now[each][0]) > zoom * made["width"]
        or abs(was[each][1] - now[each][1]) > zoom * made["height"]
        for each in was.keys() & now.keys()
    )


def shares_of(
    story: Story, structure: str, steps: Iterable[int], *, least: int = 100, ratio: float = 1.1
) -> dict[int, float]:
    """Return the part that each step moved, of the steps that leave at least so many filters."""
    limits = Limits()
    found = {}
    before: tuple[int, dict[str, Any]] | None = None
    for step in steps:
        made = frame_drawing(story, story.frame(structure, step), limits, ratio=ratio)
        if before is not None and before[0] == step - 1 and before[1]["nodes"] >= least:
            found[step] = moved_share(before[1], made)
        before = step, made
    return found

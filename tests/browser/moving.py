"""How much of a drawing stays where it is from one step to the next."""

from __future__ import annotations

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


def moved_share(before: dict[str, Any], after: dict[str, Any]) -> float:
    """Return which part of the filters of both drawings moved by more than a box, either way."""
    was, now = places_of(before), places_of(after)
    both = was.keys() & now.keys()
    far = [
        each
        for each in both
        if abs(was[each][0] - now[each][0]) > after["width"]
        or abs(was[each][1] - now[each][1]) > after["height"]
    ]
    return len(far) / max(1, len(both))


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

"""The list of all filters beside the graphs: which there are, and a window of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from browser import ids
from browser.elements import counted
from browser.finding import Where
from browser.listing import Cell, Window, chip, code, listing, muted, pick
from browser.shortening import visible
from browser.story import Frame, Story

__all__ = ["Listed", "narrowed", "numbers_listed", "rows_of"]


class Listed(NamedTuple):
    """The numbers of a list of filters, and how many of them are absent."""

    numbers: list[int]
    absent: int


def numbers_listed(story: Story, frames: Mapping[str, Frame], query: str = "") -> Listed:
    """Return the filters of the list: those in any of the frames, then those that are in none."""
    present = {number for frame in frames.values() for number in frame.graph.nodes}
    step = max((frame.step for frame in frames.values()), default=0)
    asked = {story.number[each.item] for each in list(story.trace)[:step] if each.item is not None}
    numbers = [*sorted(present), *sorted(asked - present)]
    wanted = query.strip().lower()
    if wanted:
        numbers = [each for each in numbers if wanted in _searched(story, frames, each)]
    return Listed(numbers, sum(number not in present for number in numbers))


def narrowed(listed: Listed, frames: Mapping[str, Frame], where: Where | None) -> Listed:
    """Return a list without what an expression hides in every graph; what it marks stays."""
    if where is None or where.mode == "mark":
        return listed
    left: set[int] = set()
    for frame in frames.values():
        left.update(where.narrowed(frame.graph, where.found(frame.graph)).nodes)
    there = len(listed.numbers) - listed.absent
    numbers = [each for each in listed.numbers[:there] if each in left]
    # A filter that is in no graph meets no expression.
    absent = listed.numbers[there:] if where.mode == "hide" else []
    return Listed([*numbers, *absent], len(absent))


def rows_of(
    page: str,
    story: Story,
    frames: Mapping[str, Frame],
    listed: Listed,
    *,
    first: int = 0,
    size: int = 100,
    picked: int | None = None,
    top: bool = False,
) -> dict[str, Any]:
    """Return the list of filters: all of it if it is short, else a window from a row on."""
    numbers, absent = listed
    if not numbers:
        return listing((), (), note="No filter.")
    first = max(0, min(first, len(numbers) - size))
    shown = numbers[first : first + size]
    rows: list[list[Cell]] = []
    for number in shown:
        text = code(visible(story.texts.get(number) or str(story.filters[number])))
        if any(number in frame.graph.nodes for frame in frames.values()):
            rows.append([pick(page, number), [text, muted(_places(frames, number))]])
        else:
            why = muted("pruned, removed or not taken in: choose it to see why")
            rows.append([pick(page, number), [text, chip("absent", "absent"), why]])
    whole = len(shown) == len(numbers)
    window = Window(ids.at(page, ids.ROWS_FIRST), first, len(numbers), size, top)
    return listing(
        ["No.", "Filter, interfaces, parents"],
        rows,
        caption=counted(len(numbers), "filter")
        + (f", {absent:,} of them absent" if absent else ""),
        classes=["picked" if number == picked else "" for number in shown],
        window=None if whole else window,
    )


def _searched(story: Story, frames: Mapping[str, Frame], number: int) -> str:
    return f"#{number} {story.filters[number]} {_holders(frames, number)}".lower()


def _holders(frames: Mapping[str, Frame], number: int) -> str:
    names: dict[str, None] = {}
    for frame in frames.values():
        node = frame.graph.nodes.get(number)
        if node is not None:
            names.update(dict.fromkeys(node.interfaces))
    return ", ".join(names)


def _places(frames: Mapping[str, Frame], number: int) -> str:
    parents = (f"{name.upper()}: {_parents(frame, number)}" for name, frame in frames.items())
    return " · ".join((_holders(frames, number), *parents))


def _parents(frame: Frame, number: int) -> str:
    if number not in frame.graph.nodes:
        return "absent"
    parents: Sequence[int] = frame.graph.parents[number]
    if not parents:
        return "root"
    more = f" +{len(parents) - 4}" if len(parents) > 4 else ""
    return ", ".join(f"#{each}" for each in parents[:4]) + more

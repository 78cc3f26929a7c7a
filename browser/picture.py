"""A frame as a drawing, with what the last step did to it marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from browser.config import Limits
from browser.elements import drawing
from browser.graph import fold
from browser.story import Frame, Story

__all__ = ["change_marks", "frame_drawing", "sizes"]

Folds = Mapping[str, Sequence[Sequence[int]]]


def change_marks(story: Story, frame: Frame) -> dict[int, list[str]]:
    """Return what the last step did, by filter: added, removed, moved, changed."""
    number = story.number
    marks: dict[int, list[str]] = {}
    change = frame.change
    for name, items in (
        ("added", change.added),
        ("removed", change.removed),
        ("moved", change.moved),
    ):
        for item in items:
            marks.setdefault(number[item], []).append(name)
    for item, _interface in (*change.pairs_added, *change.pairs_removed):
        marks.setdefault(number[item], []).append("changed")
    # That an added filter has new interfaces goes without saying.
    return {
        each: list(dict.fromkeys(m for m in found if m != "changed" or not _said(found)))
        for each, found in marks.items()
    }


def _said(found: Sequence[str]) -> bool:
    return "added" in found or "removed" in found


def sizes(frame: Frame) -> str:
    """Return the sizes of a structure, and what it cost so far, in one line."""
    graph = frame.graph
    parts = [
        f"{len(graph.nodes):,} filters",
        f"{len(graph.edges):,} edges",
        f"{len(graph.roots):,} roots",
        f"{graph.levels:,} levels",
    ]
    if frame.covering_tests is not None:
        parts.append(f"{frame.covering_tests:,} covering tests (last step {frame.last_tests:,})")
    return " · ".join(parts)


def chips(marks: Mapping[int, Sequence[str]], words: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return how many filters bear each mark, for those that any bears."""
    counts: dict[str, int] = {}
    for found in marks.values():
        for mark in found:
            counts[mark] = counts.get(mark, 0) + 1
    return [(mark, f"{words[mark]} {counts[mark]:,}") for mark in words if mark in counts]


_WORDS = {
    "added": "+ added",
    "removed": "− removed",
    "moved": "↷ moved",
    "changed": "≠ interfaces changed",
}


def frame_drawing(
    story: Story,
    frame: Frame,
    limits: Limits,
    *,
    folds: Folds | None = None,
    sideways: bool = False,
    ratio: float = 1.5,
    marks: Mapping[int, Sequence[str]] | None = None,
    notes: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    """Return a structure at a step as a drawing, with its sizes; marks are those of the step."""
    closed, opened = (folds or {}).get(frame.structure, ((), ()))
    own = marks is None
    shown_marks = change_marks(story, frame) if marks is None else marks
    graph = frame.with_removed if own else frame.graph
    shown = fold(
        graph,
        closed=set(closed),
        opened=set(opened),
        max_nodes=limits.drawn_nodes,
        max_edges=limits.drawn_edges,
    )
    made = drawing(
        graph,
        shown,
        palette=story.palette,
        marks=shown_marks,
        labelled=limits.labelled_nodes,
        sideways=sideways,
        ratio=ratio,
        notes=notes,
    )
    made["title"] = story.structures.get(frame.structure, frame.structure)
    made["stats"] = sizes(frame)
    made["step"] = frame.step
    if own:
        made["chips"] = chips(shown_marks, _WORDS)
    return made

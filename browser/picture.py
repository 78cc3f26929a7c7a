"""A graph as a drawing of what is not folded, and a frame with what its last step did marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from browser.checking import check_file, fault_marks
from browser.config import Limits
from browser.elements import all_but, counted, drawing
from browser.folds import Folds
from browser.graph import NO_FOLDS, Graph, fold
from browser.story import FILE, Frame, Story, promises_of

__all__ = [
    "change_marks",
    "chips",
    "file_drawing",
    "frame_drawing",
    "graph_drawing",
    "index_notes",
    "sizes",
]


def change_marks(story: Story, frame: Frame) -> dict[int, list[str]]:
    """Return what the last step did, by filter: added, removed, moved, relinked, changed."""
    number = story.number
    marks: dict[int, list[str]] = {}
    change = frame.change
    for name, items in (
        ("added", change.added),
        ("removed", change.removed),
        ("moved", change.moved),
    ):
        for item in items:
            kept = name == "moved" and number[item] in frame.relinked
            marks.setdefault(number[item], []).append("relinked" if kept else name)
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
        counted(len(graph.nodes), "filter"),
        counted(len(graph.edges), "edge"),
        counted(len(graph.roots), "root"),
        counted(graph.levels, "level"),
    ]
    if frame.covering_tests is not None:
        tests = counted(frame.covering_tests, "covering test")
        beside = " (an index of boxes answers the rest without a test)" if frame.indexed else ""
        parts.append(f"{tests}{beside}, {frame.last_tests:,} in the last step")
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
    "moved": "↷ re-parented",
    "relinked": "⇵ other parents",
    "changed": "≠ interfaces changed",
}


def graph_drawing(graph: Graph, limits: Limits, folds: Folds, **options: Any) -> dict[str, Any]:
    """Return what is not folded of a graph as a drawing; options are those of ``drawing``."""
    shown = fold(graph, folds, max_nodes=limits.drawn_nodes, max_edges=limits.drawn_edges)
    return drawing(graph, shown, labelled=limits.labelled_nodes, **options)


def index_notes(story: Story, frame: Frame) -> dict[int, str]:
    """Return what the interface index says at each filter; of a file, what the file says.

    Nothing for a structure without one.
    """
    snapshot = frame.snapshot
    if not promises_of(snapshot.structure).interface_index:
        return {}
    if frame.structure != FILE:
        snapshot = snapshot.restore().snapshot()
    found = {}
    for node in snapshot.nodes:
        names = sorted(map(str, node.index or ()), key=lambda name: story.palette.get(name, -1))
        if names:
            found[story.number[node.item]] = f"below: {all_but(names, story.interfaces)}"
    return found


def file_drawing(story: Story, frame: Frame, limits: Limits, **options: Any) -> dict[str, Any]:
    """Return an uploaded table as it is, with what check() found marked."""
    verdict = check_file(story)
    marks, edge_marks = fault_marks(verdict)
    made = frame_drawing(story, frame, limits, marks=marks, edge_marks=edge_marks, **options)
    made["chips"] = chips(marks, {"witness": "! witness"})
    if verdict is not None and verdict.ok is False:
        told = f"✗ {verdict.invariant} is violated: {verdict.faults[0].what}."
        made["note"] = " ".join(each for each in (told, made["note"]) if each)
    return made


def frame_drawing(
    story: Story,
    frame: Frame,
    limits: Limits,
    *,
    folds: Mapping[str, Folds] | None = None,
    marks: Mapping[int, Sequence[str]] | None = None,
    edge_marks: Mapping[tuple[int, int], str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return a structure at a step as a drawing, with its sizes; marks are those of the step."""
    own = marks is None
    shown_marks = change_marks(story, frame) if marks is None else marks
    if own:
        edge_marks = dict.fromkeys(frame.added_edges, "added")
        edge_marks.update(dict.fromkeys(frame.removed_edges, "removed"))
    made = graph_drawing(
        frame.with_removed if own else frame.graph,
        limits,
        (folds or {}).get(frame.structure, NO_FOLDS),
        palette=story.palette,
        marks=shown_marks,
        edge_marks=edge_marks,
        **options,
    )
    made["title"] = story.structures.get(frame.structure, frame.structure)
    made["stats"] = sizes(frame)
    made["step"] = frame.step
    if own:
        made["chips"] = chips(shown_marks, _WORDS)
    return made

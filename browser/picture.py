"""A graph as a drawing of what is not folded, and a frame with what its last step did marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from browser.checking import check_file, fault_marks
from browser.config import Limits
from browser.elements import all_but, counted, drawing, level_name, overview
from browser.finding import Found, Where
from browser.folds import Folds
from browser.graph import NO_FOLDS, Graph, Shown, fold
from browser.layout import ratio_of
from browser.nearby import Around, ranked
from browser.story import FILE, Frame, Story, promises_of
from browser.wide import wide_drawing

__all__ = [
    "READABLE",
    "change_marks",
    "chips",
    "file_drawing",
    "frame_drawing",
    "graph_drawing",
    "index_notes",
    "rooms_of",
    "sizes",
    "zoom_in",
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


def graph_drawing(
    graph: Graph, limits: Limits, folds: Folds, *, where: Where | None = None, **options: Any
) -> dict[str, Any]:
    """Return what is not folded of a graph as a drawing; options are those of ``drawing``.

    With ``where``, what an expression finds is marked, or drawn alone, or hidden.
    """
    if where is not None:
        found = where.found(graph)
        made = graph_drawing(where.narrowed(graph, found), limits, folds, **options)
        return _with_found(made, where, found, graph)
    shown = fold(graph, folds, max_nodes=limits.drawn_nodes, max_edges=limits.drawn_edges)
    if len(shown.numbers) > limits.element_nodes:
        return wide_drawing(graph, shown, **options)
    return drawing(graph, shown, labelled=limits.labelled_nodes, **options)


def _with_found(made: dict[str, Any], where: Where, found: Found, graph: Graph) -> dict[str, Any]:
    """Return a drawing with what an expression has found in the whole graph."""
    if where.mode == "mark":
        made["found"] = sorted(found)
    hidden = {"mark": "", "only": ", the others are hidden", "hide": ", and are hidden"}
    count = f"{len(found):,} of {counted(len(graph.nodes), 'filter')}"
    made["met"] = f"{count} {'meets' if len(found) == 1 else 'meet'} the expression"
    made["met"] += hidden[where.mode]
    return made


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
    around: Around | None = None,
    where: Where | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return a structure at a step as a drawing, with its sizes; marks are those of the step.

    With ``around`` it is what is near one filter, and all the rest is in a small map. With
    ``where``, what an expression finds is marked, or drawn alone, or hidden.
    """
    own = marks is None
    shown_marks = change_marks(story, frame) if marks is None else marks
    if own:
        edge_marks = dict.fromkeys(frame.added_edges, "added")
        edge_marks.update(dict.fromkeys(frame.removed_edges, "removed"))
    whole = graph = frame.with_removed if own else frame.graph
    found: Found = frozenset()
    if where is not None:
        found = where.found(whole)
        graph = where.narrowed(whole, found)
    options = {
        **options,
        "palette": story.palette,
        "marks": shown_marks,
        "edge_marks": edge_marks or {},
        "plan": story.plan(frame.structure, frame.step),
        "bands": True,
    }
    centre = None if around is None else _centre(story, frame, graph, around.centre)
    if around is not None and centre is not None:
        levels = dict(frame.graph.level_of)
        for gone in graph.nodes.keys() - levels.keys():
            levels[gone] = max((levels.get(each, 0) + 1 for each in graph.parents[gone]), default=0)
        options["levels"] = levels
        made = _near_drawing(graph, centre, around, limits, options)
        if around.centre is not None and around.centre != centre:
            absent = f"#{around.centre} is not in this table: this is around #{centre}."
            made["note"] = f"{absent} {made['note']}".strip()
    else:
        mine = (folds or {}).get(frame.structure, NO_FOLDS)
        made = graph_drawing(graph, limits, mine, **options)
    if where is not None:
        made = _with_found(made, where, found, whole)
    made["title"] = story.structures.get(frame.structure, frame.structure)
    made["stats"] = " · ".join(each for each in (sizes(frame), made.get("met")) if each)
    made["step"] = frame.step
    if own:
        made["chips"] = chips(shown_marks, _WORDS)
    return made


def _centre(story: Story, frame: Frame, graph: Graph, asked: int | None) -> int | None:
    """Return the filter to look at: the one asked for, that of the step, or a root."""
    last = story.trace[frame.step - 1].item if 0 < frame.step <= len(story) else None
    for number in (asked, story.number[last] if last is not None else None):
        if number in graph.nodes:
            return number
    return max(graph.roots or graph.nodes, key=lambda each: len(graph.children[each]), default=None)


#: What a step has changed is shown besides, wherever it is; moved filters are too many for that.
_SHOWN_BESIDES = ("added", "removed", "changed")


def _near_drawing(
    graph: Graph, centre: int, around: Around, limits: Limits, options: dict[str, Any]
) -> dict[str, Any]:
    """Return as much of what is near a filter as can be read in the room that there is."""
    changed = [
        number
        for number, found in options["marks"].items()
        if number in graph.nodes and any(mark in _SHOWN_BESIDES for mark in found)
    ]
    order = ranked(graph, centre, around.reach, changed[:_BESIDES])
    most = limits.near_nodes
    while True:
        shown, ways = order.first(graph, most)
        marked = {**dict.fromkeys(ways, "upward"), **options["edge_marks"]}
        made, zoom = _seen_largest(
            graph,
            shown,
            around,
            {**options, "edge_marks": marked, "labelled": limits.labelled_nodes},
        )
        if zoom >= READABLE or len(shown.numbers) == 1:
            break
        most = min(len(shown.numbers), most) * 7 // 8
    gone = {number for number, found in options["marks"].items() if "removed" in found}
    whole = Counter(level_name(options["levels"][each]) for each in graph.nodes.keys() - gone)
    for band in made["bands"]:
        band["of"] = whole[band["name"]]
    made["around"] = centre
    made["map"] = overview(graph, options["plan"], ratio=_MAP[0] / _MAP[1])
    levels = "1 level" if around.reach == 1 else f"{around.reach} levels"
    told = (
        f"{len(shown.numbers):,} of {len(graph.nodes):,}: #{centre}, {levels} above and below, and "
        "its ways up."
    )
    made["note"] = f"{told} {made['note']}".strip()
    return made


def _seen_largest(
    graph: Graph, shown: Shown, around: Around, options: dict[str, Any]
) -> tuple[dict[str, Any], float]:
    """Return a drawing made for the room in which it is seen larger, and how large that is."""
    tried = []
    for room in rooms_of(around):
        made = drawing(graph, shown, **{**options, "ratio": ratio_of(*room)})
        tried.append((made, zoom_in(made, room)))
    return max(tried, key=itemgetter(1))


def rooms_of(around: Around) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the width and height left for a drawing with its small map beside it, and below it."""
    width, height = around.room
    return (
        (max(width - _MAP[0], _LEAST_ROOM), height),
        (width, max(height - _MAP[1], _LEAST_ROOM)),
    )


def zoom_in(made: Mapping[str, Any], room: tuple[float, float]) -> float:
    """Return how large a drawing is when all of it, bands included, is fitted into a room."""
    ends: list[float] = []
    for axis, side, along in (("x", "width", True), ("y", "height", False)):
        places = [each["position"][axis] for each in made["elements"] if "position" in each]
        low, high = min(places) - made[side] / 2, max(places) + made[side] / 2
        if made["sideways"] is along:
            low = min(low, made["bands"][0]["from"])
            high = max(high, made["bands"][-1]["to"])
        ends.append(high - low)
    return min(room[0] / ends[0], room[1] / ends[1])


#: The least zoom at which text is readable: 9.2 pixels of 14.
READABLE: Final = 0.66
#: Pixels that are left of a room, however small it is.
_LEAST_ROOM: Final = 50.0
#: Changed filters that are shown besides, and the size of the small map in pixels.
_BESIDES = 4
_MAP = (138, 92)

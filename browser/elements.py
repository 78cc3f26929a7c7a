"""A graph as the elements of a drawing: plain data that the page's script hands to Cytoscape.

What happened to a node is a *mark*. It shows as a sign in the label, a shape of border and a class,
so that nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from browser.graph import Graph, Node, Shown
from browser.layout import positions
from browser.shortening import clauses, number_places, short, shortened, visible

__all__ = ["MARKS", "all_but", "counted", "drawing"]

#: For each mark: the sign in front of a label, and the words of the legend.
MARKS: Final[dict[str, tuple[str, str]]] = {
    "added": ("+", "added"),
    "removed": ("−", "removed"),
    "moved": ("↷", "re-parented: none of its parents is kept"),
    "relinked": ("⇵", "other parents: some are kept"),
    "changed": ("≠", "interfaces changed"),
    "matched": ("✓", "tested, matches"),
    "failed": ("✗", "tested, does not match"),
    "skipped": ("»", "skipped: its interfaces are in the answer"),
    "pruned": ("⊘", "nothing below can add an interface"),
    "assumed": ("?", "left when the bound was reached, counts as matched"),
    "unvisited": ("·", "not visited"),
    "witness": ("!", "witness"),
    "merger": ("◆", "the merger that is meant"),
    "component": ("●", "a component of the merger"),
    "mapped": ("⇄", "mapped to the chosen filter"),
    "covered": ("○", "covered by the merger, no component"),
}
# Of a box with text, in pixels at zoom 1: its least and greatest width, a character, a line.
_WIDTHS: Final = (110, 230)
_CHAR: Final = 8
_LINE: Final = 19
_PADDING: Final = 30
_SMALL_SIZE: Final = (58, 34)
#: Edges up to which each is an element of its own, with an arrow; more are lines on one canvas.
_ARROWS: Final = 1_500
_LINES: Final = 3


def counted(count: int, word: str) -> str:
    """Return how many there are of something.

    >>> counted(1, "root"), counted(2_000, "filter")
    ('1 root', '2,000 filters')
    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def all_but(names: Sequence[str], everybody: Sequence[str]) -> str:
    """Return names in one line; of many that lack few, those that are lacking.

    >>> all_but(["I1", "I2"], ["I1", "I2", "I3"]), all_but([], ["I1"])
    ('I1, I2', '')
    >>> all_but([f"I{i}" for i in range(60) if i != 6], [f"I{i}" for i in range(60)])
    'all but I6'
    """
    there = set(names)
    lacking = [each for each in everybody if each not in there]
    if len(names) <= _NAMED or len(lacking) > len(names) // 4 or not there <= set(everybody):
        return ", ".join(names)
    return f"all but {', '.join(lacking)}" if lacking else f"all {len(names):,}"


#: Names up to which each is named.
_NAMED: Final = 6


def _lines(text: str, places: Mapping[str, int]) -> list[str]:
    found = clauses(text)
    lines = [short(shortened(clause, places)) for clause in found[:_LINES]]
    if len(found) > _LINES:
        lines[-1] = f"… and {len(found) - _LINES + 1} more"
    return lines


def drawing(
    graph: Graph,
    shown: Shown,
    *,
    palette: Mapping[str, int],
    marks: Mapping[int, Sequence[str]] | None = None,
    edge_marks: Mapping[tuple[int, int], str] | None = None,
    labelled: int = 150,
    sideways: bool = False,
    ratio: float = 1.5,
    notes: Mapping[int, str] | None = None,
) -> dict[str, Any]:
    r"""Return the drawing of the shown part of a graph, positions included; JSON-able.

    ``palette`` maps an interface to the number of its colour; ``notes`` are further lines of text.
    Many edges come as ``lines``: places of parent and child among the nodes, in turns, by mark.

    >>> graph = Graph({1: Node(1, "x > 1", ("I1",))}, ())
    >>> made = drawing(graph, Shown((1,)), palette={"I1": 0})
    >>> made["elements"][0]["data"]["label"], made["nodes"], made["edges"]
    ('#1 · I1\nx > 1', 1, 0)
    """
    marks = marks or {}
    edge_marks = edge_marks or {}
    index = {number: i for i, number in enumerate(shown.numbers)}
    edges = [edge for edge in graph.edges if edge[0] in index and edge[1] in index]
    with_text = len(index) <= labelled
    if with_text:
        places_of = number_places(graph.nodes[number].text for number in index)
        texts = {number: _lines(graph.nodes[number].text, places_of) for number in index}
        for number, note in (notes or {}).items():
            if number in texts:
                texts[number].append(short(note))
        lines = max((len(each) for each in texts.values()), default=1)
        chars = max((len(line) for each in texts.values() for line in each), default=0)
        width = min(_WIDTHS[1], max(_WIDTHS[0], _CHAR * chars + _PADDING))
        height = _LINE * (lines + 1) + _PADDING // 2
    else:
        texts = {}
        width, height = _SMALL_SIZE
    places = positions(
        len(index),
        [(index[parent], index[child]) for parent, child in edges],
        width=width,
        height=height,
        sideways=sideways,
        ratio=ratio,
    ).round(1 if with_text else 0)
    elements: list[dict[str, Any]] = [
        _node(
            graph.nodes[number],
            (float(places[i, 0]), float(places[i, 1])),
            texts.get(number),
            tuple(marks.get(number, ())),
            shown.folded.get(number, 0),
            palette,
            # What hangs from a filter that is gone, and from nothing else, is a root now.
            is_root=all(
                edge_marks.get((each, number)) == "removed" for each in graph.parents[number]
            ),
            has_children=bool(graph.children[number]),
        )
        for number, i in index.items()
    ]
    made: dict[str, Any] = {
        "elements": elements,
        "width": width,
        "height": height,
        "text": with_text,
        "nodes": len(index),
        "edges": len(edges),
        "whole": len(index) == len(graph.nodes),
        "note": shown.note,
    }
    if len(edges) > _ARROWS:
        by_mark: dict[str, list[int]] = {}
        for edge in edges:
            ends = by_mark.setdefault(edge_marks.get(edge, ""), [])
            ends += (index[edge[0]], index[edge[1]])
        made["lines"] = by_mark
    else:
        elements += (_edge(each, edge_marks.get(each)) for each in edges)
    return made


def _plain(value: float) -> float:
    """Return a whole number without a decimal point: thousands of them are sent."""
    return int(value) if value == int(value) else value


def _edge(edge: tuple[int, int], mark: str | None) -> dict[str, Any]:
    parent, child = edge
    element: dict[str, Any] = {
        "data": {"id": f"{parent}>{child}", "source": str(parent), "target": str(child)}
    }
    return {**element, "classes": mark} if mark else element


def _node(
    node: Node,
    place: tuple[float, float],
    lines: list[str] | None,
    marks: tuple[str, ...],
    hidden: int,
    palette: Mapping[str, int],
    *,
    is_root: bool,
    has_children: bool,
) -> dict[str, Any]:
    signs = "".join(MARKS[mark][0] for mark in marks if mark in MARKS)
    # Numbers below zero are ids on disk, of filters that the source has not.
    name = f"#{node.number}" if node.number >= 0 else f"id {-1 - node.number}"
    head = f"{signs} {name}" if signs else name
    holders = ", ".join(node.interfaces)
    if lines is None:
        label = "\n".join((f"{head} ▸" if hidden else head, short(holders, 8)))
    else:
        parts = [f"{head} · {short(holders, 15)}" if holders else head, *lines]
        if hidden:
            parts[0] = short(f"{parts[0]} ▸{hidden}")
        label = "\n".join(parts)
    classes = [*marks]
    if is_root:
        classes.append("root")
    if hidden:
        classes.append("folded")
    elif has_children:
        classes.append("parent")
    data: dict[str, Any] = {
        "id": str(node.number),
        "label": label,
        "head": f"{head}▸" if hidden else head,
        "filter": visible(node.text),
        "interfaces": list(node.interfaces),
        "hues": [palette.get(each, 0) for each in node.interfaces[:6]],
    }
    if node.number < 0:
        data["name"] = name
    if marks:
        data["marks"] = [MARKS[mark][1] for mark in marks if mark in MARKS]
    if hidden:
        data["hidden"] = hidden
    return {
        "data": data,
        "position": {"x": _plain(place[0]), "y": _plain(place[1])},
        "classes": " ".join(classes),
    }

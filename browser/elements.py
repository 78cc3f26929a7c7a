"""A graph as the elements of a drawing: plain data that the page's script hands to Cytoscape.

What happened to a node is a *mark*. It shows as a sign in the label, a shape of border and a class,
so that nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from browser.graph import Graph, Node, Shown
from browser.layout import Cell, Placed, arranged
from browser.plan import Plan
from browser.shortening import clauses, number_places, short, shortened, visible

__all__ = [
    "MARKS",
    "all_but",
    "counted",
    "drawing",
    "holding",
    "level_name",
    "named_bands",
    "overview",
    "placed_nodes",
]

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
# Of a box with text, in pixels at zoom 1: its least and greatest width, a line.
_WIDTHS: Final = (84, 230)
_LINE: Final = 17
_PADDING: Final = (12, 6)
_SMALL_SIZE: Final = (58, 34)
#: Edges up to which each is an element of its own, with an arrow; more are lines on one canvas.
_ARROWS: Final = 1_500
_LINES: Final = 3
#: How wide letters of 14 pixels are in DejaVu Sans, which is wider than most; and all others.
_LETTERS: Final = {
    letter: width
    for letters, width in (
        ("'ijlIJ", 4.0),
        (" ,./:;\\f|·", 4.6),
        ("!()-[]rt", 5.6),
        ('"*?_`cszL▸', 7.4),
        ("BVXZACRUHNDGOQ&", 10.2),
        ("#%+<=>@MW^mw~…≈−↷⇵≠✓✗»⊘", 12.4),
    )
    for letter in letters
}
_LETTER: Final = 8.8


def text_width(text: str) -> float:
    """Return about how many pixels a line of a box is wide, at zoom 1.

    >>> text_width("x in [1, 2]") < text_width("x in [1, 23]") < text_width("WWWWWWWWW")
    True
    """
    return sum(_LETTERS.get(each, _LETTER) for each in text)


def fitted(text: str) -> str:
    """Return a line cut, with a mark, so that it is in the widest box.

    >>> fitted("W" * 25)
    'WWWWWWWWWWWWWWWW…'
    """
    room = _WIDTHS[1] - _PADDING[0]
    chars = len(text)
    while text_width(text) > room:
        chars -= 1
        text = short(text, chars)
    return text


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
    lines = [fitted(short(shortened(clause, places))) for clause in found[:_LINES]]
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
    plan: Plan | None = None,
    levels: Mapping[int, int] | None = None,
    bands: bool = False,
) -> dict[str, Any]:
    r"""Return the drawing of the shown part of a graph, positions included; JSON-able.

    ``palette`` maps an interface to the number of its colour; ``notes`` are further lines of text.
    Many edges come as ``lines``: places of parent and child among the nodes, in turns, by mark.
    With a ``plan``, nodes are where they are in it, as far as possible; with ``levels``, those of
    the whole graph, they are by themselves, in its order. ``bands`` names the levels.

    >>> graph = Graph({1: Node(1, "x > 1", ("I1",))}, ())
    >>> made = drawing(graph, Shown((1,)), palette={"I1": 0})
    >>> made["elements"][0]["data"]["label"], made["nodes"], made["edges"]
    ('#1 · I1\nx > 1', 1, 0)
    """
    marks = marks or {}
    edge_marks = edge_marks or {}
    index = {number: i for i, number in enumerate(shown.numbers)}
    edges = [edge for edge in graph.edges if edge[0] in index and edge[1] in index]
    keeps = plan if plan is not None and not levels and plan.suits(len(index)) else None
    # Boxes are as large as those of the plan need to be, so that a step changes no size.
    sized = dict(keeps.graph.nodes) if keeps is not None else {}
    sized.update((number, graph.nodes[number]) for number in index)
    with_text = (len(index) if keeps is None else keeps.most) <= labelled
    texts: dict[int, list[str]] = {}
    width, height = _SMALL_SIZE
    if with_text:
        texts, (width, height) = _boxes(sized, notes or {}, shown.folded)
    cell = Cell.of(width, height, ratio, sideways=sideways)
    between = holding(edges, marks, edge_marks)
    pairs = [(index[parent], index[child]) for parent, child in between]
    placed = placed_nodes(index, pairs, cell, plan, keeps is not None, levels)
    places = placed.points().round(1 if with_text else 0)
    if sideways:
        places = places[:, ::-1]
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
    if bands:
        gone = {i for n, i in index.items() if "removed" in marks.get(n, ())}
        made["bands"] = named_bands(placed, gone)
        made["sideways"] = sideways
    if keeps is not None and keeps.is_large:
        # What the view is fitted to, so that it stays as it is from step to step.
        left, top, right, bottom = keeps.box(cell)
        box = (top, left, bottom, right) if sideways else (left, top, right, bottom)
        made["box"] = [_plain(round(each, 1)) for each in box]
    if len(edges) > _ARROWS:
        by_mark: dict[str, list[int]] = {}
        for edge in edges:
            ends = by_mark.setdefault(edge_marks.get(edge, ""), [])
            ends += (index[edge[0]], index[edge[1]])
        made["lines"] = by_mark
    else:
        elements += (_edge(each, edge_marks.get(each)) for each in edges)
    return made


def _boxes(
    nodes: Mapping[int, Node], notes: Mapping[int, str], folded: Mapping[int, int]
) -> tuple[dict[int, list[str]], tuple[int, int]]:
    """Return the lines of each box, and the size that all boxes have."""
    places_of = number_places(node.text for node in nodes.values())
    texts = {number: _lines(node.text, places_of) for number, node in nodes.items()}
    for number, note in notes.items():
        if number in texts:
            texts[number].append(fitted(short(note)))
    lines = max((len(each) for each in texts.values()), default=1)
    widths = [text_width(line) for each in texts.values() for line in each]
    # A step can put a sign before the number of any filter.
    widths += [text_width(_heading(node, _SIGN, folded.get(n, 0))) for n, node in nodes.items()]
    width = min(_WIDTHS[1], max(_WIDTHS[0], round(max(widths, default=0)) + _PADDING[0]))
    return texts, (width, _LINE * (lines + 1) + _PADDING[1])


def holding(
    edges: Sequence[tuple[int, int]],
    marks: Mapping[int, Sequence[str]],
    edge_marks: Mapping[tuple[int, int], str],
) -> list[tuple[int, int]]:
    """Return the edges that places depend on.

    An edge that is gone holds up who is gone with it, and nobody else.
    """
    return [
        edge
        for edge in edges
        if edge_marks.get(edge) != "removed" or "removed" in marks.get(edge[1], ())
    ]


def placed_nodes(
    index: Mapping[int, int],
    edges: Sequence[tuple[int, int]],
    cell: Cell,
    plan: Plan | None,
    keeps: bool,
    levels: Mapping[int, int] | None,
) -> Placed:
    """Return where nodes are: in the places of a plan, or by themselves in its order."""
    if plan is not None and keeps:
        placed = plan.settled(list(index), edges, cell)
        if plan.is_large:
            return placed
    by_themselves = arranged(
        len(index),
        edges,
        cell,
        levels=None if levels is None else [levels[number] for number in index],
        before=None if plan is None else plan.across(index, cell),
    )
    few = len(index) <= _FEW
    if plan is None or not keeps or placed.size() > _LARGER[not few] * by_themselves.size():
        return by_themselves
    # Of few filters, each is in the band of its own level: two bands of one name would mislead.
    return by_themselves if few and (placed.level != placed.depth).any() else placed


#: How much larger a drawing may be for the sake of places that stay: with few nodes, whose text is
#: to be read on any screen, and with more.
_LARGER: Final = (1.06, 1.5)
_FEW: Final = 27


def overview(graph: Graph, plan: Plan | None, *, ratio: float) -> dict[str, Any]:
    """Return where all nodes of a graph are, for a small map: numbers, and places x, y in turns.

    >>> overview(Graph({7: Node(7, "x > 1", ())}, ()), None, ratio=1.5)
    {'ids': [7], 'at': [0, 0], 'width': 58, 'height': 34}
    """
    index = {number: i for i, number in enumerate(graph.nodes)}
    edges = [(index[parent], index[child]) for parent, child in graph.edges]
    width, height = _SMALL_SIZE
    cell = Cell.of(width, height, ratio)
    if plan is not None and plan.suits(len(index)):
        placed = plan.settled(list(index), edges, cell)
    else:
        placed = arranged(len(index), edges, cell)
    at = placed.points().round().astype(int).ravel().tolist()
    return {"ids": list(index), "at": at, "width": width, "height": height}


def named_bands(
    placed: Placed, gone: Collection[int] = (), scale: float = 1.0
) -> list[dict[str, Any]]:
    """Return the bands that hold something: a name, how many nodes, and where they are.

    The name tells the levels that the nodes have, not those that their places are kept for. Nodes
    that are ``gone`` are drawn, and not counted.
    """
    inside: dict[int, list[int]] = {}
    lost: dict[int, int] = {}
    depths = zip(placed.level.tolist(), placed.depth.tolist(), strict=True)
    for node, (level, depth) in enumerate(depths):
        inside.setdefault(level, []).append(depth)
        lost[level] = lost.get(level, 0) + (node in gone)
    found = []
    for band in placed.bands():
        if band.level in inside:
            start, end = placed.edges_of(band)
            found.append(
                {
                    "name": level_name(min(inside[band.level]), max(inside[band.level])),
                    "count": len(inside[band.level]) - lost[band.level],
                    "from": _plain(round(start * scale, 1)),
                    "to": _plain(round(end * scale, 1)),
                }
            )
    return found


def level_name(least: int, most: int | None = None) -> str:
    """Return the name of a band with nodes of a level, or of several.

    >>> level_name(0), level_name(2), level_name(1, 3)
    ('roots', 'level 2', 'levels 1–3')
    """
    most = least if most is None else most
    if not most:
        return "roots"
    return f"level {most}" if least == most else f"levels {least}–{most}"


def _plain(value: float) -> float:
    """Return a whole number without a decimal point: thousands of them are sent."""
    return int(value) if value == int(value) else value


def _edge(edge: tuple[int, int], mark: str | None) -> dict[str, Any]:
    parent, child = edge
    element: dict[str, Any] = {
        "data": {"id": f"{parent}>{child}", "source": str(parent), "target": str(child)}
    }
    return {**element, "classes": mark} if mark else element


#: As wide as any sign of a mark.
_SIGN: Final = "+"


def _heading(node: Node, signs: str, hidden: int) -> str:
    """Return the first line of a box: signs of marks, its number, who holds it, what is folded."""
    holders = short(", ".join(node.interfaces), 15)
    head = f"{signs} {_name(node)}" if signs else _name(node)
    head = f"{head} · {holders}" if holders else head
    return fitted(short(f"{head} ▸{hidden}") if hidden else head)


def _name(node: Node) -> str:
    # Numbers below zero are ids on disk, of filters that the source has not.
    return f"#{node.number}" if node.number >= 0 else f"id {-1 - node.number}"


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
    head = f"{signs} {_name(node)}" if signs else _name(node)
    if lines is None:
        holders = short(", ".join(node.interfaces), 8)
        label = "\n".join((f"{head} ▸" if hidden else head, holders))
    else:
        label = "\n".join((_heading(node, signs, hidden), *lines))
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
        data["name"] = _name(node)
    if marks:
        data["marks"] = [MARKS[mark][1] for mark in marks if mark in MARKS]
    if hidden:
        data["hidden"] = hidden
    return {
        "data": data,
        "position": {"x": _plain(place[0]), "y": _plain(place[1])},
        "classes": " ".join(classes),
    }

"""A graph of thousands of nodes as columns of plain data, which the page's script paints itself.

As elements, each with its own names and texts, ten thousand nodes take megabytes to send and
seconds to make. Here each property is one list for all nodes, and edges are differences of places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from browser.elements import MARKS, holding, named_bands, placed_nodes
from browser.graph import Graph, Shown
from browser.layout import Cell
from browser.plan import Plan
from browser.shortening import visible

__all__ = ["wide_drawing"]

#: The size of a box, in pixels at zoom 1.
_WIDTH: Final = 58
_HEIGHT: Final = 34


def wide_drawing(
    graph: Graph,
    shown: Shown,
    *,
    palette: Mapping[str, int],
    marks: Mapping[int, Sequence[str]] | None = None,
    edge_marks: Mapping[tuple[int, int], str] | None = None,
    sideways: bool = False,
    ratio: float = 1.5,
    notes: Mapping[int, str] | None = None,
    plan: Plan | None = None,
    levels: Mapping[int, int] | None = None,
    bands: bool = False,
) -> dict[str, Any]:
    """Return the drawing of the shown part of a graph, positions included; JSON-able.

    The options are those of ``elements.drawing``. A node is known by its place in the lists of
    ``wide``; ``lines`` has places of parent and child in turns, by mark, each as the difference to
    the place two before it.

    >>> from browser.graph import Node
    >>> graph = Graph({n: Node(n, f"x > {n}", ("I1",)) for n in (1, 2, 3)}, ((1, 2), (1, 3)))
    >>> made = wide_drawing(graph, Shown((1, 2, 3)), palette={"I1": 0})
    >>> made["wide"]["numbers"], made["wide"]["roots"], made["lines"]
    ([1, 2, 3], [0], {'': [0, 1, 0, 1]})
    """
    edge_marks = edge_marks or {}
    index = {number: i for i, number in enumerate(shown.numbers)}
    edges = [edge for edge in graph.edges if edge[0] in index and edge[1] in index]
    pairs = [(index[parent], index[child]) for parent, child in edges]
    held = [(index[a], index[b]) for a, b in holding(edges, marks or {}, edge_marks)]
    keeps = plan is not None and not levels and plan.suits(len(index))
    cell = Cell.of(_WIDTH, _HEIGHT, ratio, sideways=sideways)
    placed = placed_nodes(index, held, cell, plan, keeps, levels)
    at = placed.points()
    at = at[:, ::-1] if sideways else at
    higher = _stretch(at, ratio)
    at = (at * (1.0, higher)).round()
    nodes = [graph.nodes[number] for number in index]
    names = {
        name: i for i, name in enumerate(dict.fromkeys(n for x in nodes for n in x.interfaces))
    }
    by_mark: dict[str, list[tuple[int, int]]] = {}
    for edge, pair in zip(edges, pairs, strict=True):
        by_mark.setdefault(edge_marks.get(edge, ""), []).append(pair)
    marked: dict[str, list[int]] = {}
    for number, found in (marks or {}).items():
        for mark in found if number in index else ():
            marked.setdefault(mark, []).append(index[number])
    made: dict[str, Any] = {
        "wide": {
            "numbers": list(index),
            "x": at[:, 0].astype(int).tolist(),
            "y": at[:, 1].astype(int).tolist(),
            "texts": [visible(node.text) for node in nodes],
            "names": [visible(each) for each in names],
            "hues": [palette.get(each, 0) for each in names],
            # One interface to a filter is the usual case, and needs no list.
            "holders": [_plain([names[each] for each in node.interfaces]) for node in nodes],
            "roots": [i for n, i in index.items() if _is_root(graph, n, edge_marks)],
            "folded": {str(index[n]): count for n, count in shown.folded.items() if n in index},
            "marks": marked,
            "signs": {mark: list(MARKS[mark]) for mark in marked if mark in MARKS},
            "notes": {str(index[n]): each for n, each in (notes or {}).items() if n in index},
        },
        "lines": {mark: _differences(found) for mark, found in by_mark.items()},
        "elements": [],
        "width": _WIDTH,
        "height": _HEIGHT,
        "text": False,
        "nodes": len(index),
        "edges": len(edges),
        "whole": len(index) == len(graph.nodes),
        "note": shown.note,
    }
    if bands:
        gone = {i for n, i in index.items() if "removed" in (marks or {}).get(n, ())}
        made["bands"] = named_bands(placed, gone, 1.0 if sideways else higher)
        made["sideways"] = sideways
    return made


def _stretch(at: NDArray[np.float64], ratio: float) -> float:
    """Return how much farther apart rows are drawn, so that a strip of thousands fills a screen.

    >>> _stretch(np.array([[0.0, 0.0], [900.0, 100.0]]), 1.5)
    4.0
    """
    if not len(at):
        return 1.0
    wide, high = np.maximum(np.ptp(at, axis=0), 1.0)
    return float(min(_MOST_STRETCHED, max(1.0, wide / high / ratio)))


#: How many times farther apart layers are drawn than elsewhere, at most.
_MOST_STRETCHED: Final = 4.0


def _plain(places: list[int]) -> int | list[int]:
    return places[0] if len(places) == 1 else places


def _is_root(graph: Graph, number: int, edge_marks: Mapping[tuple[int, int], str]) -> bool:
    """Return whether nothing is above a node but what the last step took away."""
    return all(edge_marks.get((each, number)) == "removed" for each in graph.parents[number])


def _differences(pairs: list[tuple[int, int]]) -> list[int]:
    """Return pairs one after the other, sorted, each as the difference to the one before.

    >>> _differences([(3, 9), (3, 7)])
    [3, 7, 0, 2]
    """
    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    found: list[int] = np.diff(ends, axis=0, prepend=[[0, 0]]).ravel().tolist()
    return found

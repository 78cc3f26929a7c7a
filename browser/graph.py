"""A table as nodes with numbers and texts: what drawing needs to know of it, and no more."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import posetlib as pl
from browser.folds import Folds
from browser.layout import layers

__all__ = ["Graph", "Node", "Shown", "fold", "graph_of"]


@dataclass(frozen=True, slots=True)
class Node:
    """A filter by its number, which is the same in every structure and at every step."""

    number: int
    text: str
    interfaces: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """Nodes by number, in order of insertion, and edges as (parent, child)."""

    nodes: Mapping[int, Node]
    edges: tuple[tuple[int, int], ...]

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of each node."""
        found: dict[int, list[int]] = {number: [] for number in self.nodes}
        for parent, child in self.edges:
            found[parent].append(child)
        return found

    @cached_property
    def parents(self) -> dict[int, list[int]]:
        """The parents of each node."""
        found: dict[int, list[int]] = {number: [] for number in self.nodes}
        for parent, child in self.edges:
            found[child].append(parent)
        return found

    @cached_property
    def roots(self) -> list[int]:
        """The nodes without a parent."""
        return [number for number, parents in self.parents.items() if not parents]

    @cached_property
    def depths(self) -> dict[int, int]:
        """The shortest path from a root to each node; what no root reaches is missing."""
        depth = dict.fromkeys(self.roots, 0)
        queue = deque(self.roots)
        while queue:
            node = queue.popleft()
            for child in self.children[node]:
                if child not in depth:
                    depth[child] = depth[node] + 1
                    queue.append(child)
        return depth

    @cached_property
    def level_of(self) -> dict[int, int]:
        """How many nodes there are above each, on the longest path from a root."""
        index = {number: i for i, number in enumerate(self.nodes)}
        children, parents = (
            [[index[other] for other in near[number]] for number in self.nodes]
            for near in (self.children, self.parents)
        )
        return dict(zip(self.nodes, layers(children, parents), strict=True))

    @cached_property
    def levels(self) -> int:
        """How many nodes there are on the longest path."""
        return max(self.level_of.values(), default=-1) + 1

    def below(self, number: int, apart_from: Collection[int] = ()) -> int:
        """Return how many nodes are below one, apart from some."""
        seen = {number}
        queue = [number]
        while queue:
            for child in self.children[queue.pop()]:
                if child not in seen:
                    seen.add(child)
                    queue.append(child)
        return sum(each not in apart_from for each in seen - {number})


def graph_of(
    snapshot: pl.Snapshot,
    number: Mapping[pl.Filter, int],
    texts: dict[int, str] | None = None,
) -> Graph:
    """Return a snapshot as a graph, its filters numbered from outside; O(nodes + edges).

    Texts that are known by number need not be written again; those that are not are added.

    >>> t = pl.FiltersPoset()
    >>> wide, narrow = pl.parse_filter("x > 1"), pl.parse_filter("x > 5")
    >>> _ = t.add(narrow, "I1"), t.add(wide, "I2")
    >>> graph_of(t.snapshot(), {narrow: 1, wide: 2}).edges
    ((2, 1),)
    """
    of = {node.id: number[node.item] for node in snapshot.nodes}
    texts = {} if texts is None else texts
    nodes = {}
    for node in snapshot.nodes:
        each = of[node.id]
        text = texts.get(each)
        if text is None:
            text = texts[each] = str(node.item)
        nodes[each] = Node(each, text, tuple(map(str, node.interfaces)))
    return Graph(nodes, tuple((of[parent], of[child]) for parent, child in snapshot.edges))


NO_FOLDS = Folds()


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a graph that is drawn."""

    numbers: tuple[int, ...]
    #: For each drawn node with folded children, how many nodes this hides below it.
    folded: Mapping[int, int] = field(default_factory=dict)
    #: What to tell about nodes that are not drawn because there are too many.
    note: str = ""


def fold(graph: Graph, folds: Folds = NO_FOLDS, *, max_nodes: int, max_edges: int) -> Shown:
    """Return what to draw: what is reached from the roots without passing a folded node.

    When the whole is too large, it is unfolded from the top as far as two thirds of the limits
    allow; the rest is for what is unfolded or revealed by hand. O(nodes + edges).
    """
    closed, opened = set(folds.closed), set(folds.opened)
    whole = len(graph.nodes) <= max_nodes and len(graph.edges) <= max_edges
    depth = graph.depths
    # What no root reaches is on a cycle, in a table that is not as it should be: show it as well.
    starts = [*graph.roots, *(number for number in graph.nodes if number not in depth)]
    starts = starts[:max_nodes]
    drawn = dict.fromkeys(starts)
    edges = 0
    queue = deque(starts)
    while queue:
        node = queue.popleft()
        if node in closed:
            continue
        share = 1.0 if node in opened else 2 / 3
        for child in graph.children[node]:
            if child in drawn:
                continue
            if not whole:
                more = _edges_of(graph, child, drawn)
                if len(drawn) >= max_nodes * share or edges + more > max_edges * share:
                    break  # as many as there is room for
                edges += more
            drawn[child] = None
            queue.append(child)
    for number in folds.revealed:
        path = _path(graph, number, drawn)
        if len(drawn) + len(path) <= max_nodes:
            drawn.update(dict.fromkeys(path))
    hiding = [each for each in drawn if any(c not in drawn for c in graph.children[each])]
    folded = {number: graph.below(number, drawn) for number in hiding[:_COUNTED]}
    folded.update((number, len(graph.children[number])) for number in hiding[_COUNTED:])
    note = ""
    if not whole:
        note = (
            f"{len(graph.nodes):,} filters with {len(graph.edges):,} edges are too many to draw. "
            f"{len(drawn):,} are shown, and what is below them is folded (▸): choose one and "
            "unfold it. The list has all of them."
        )
    return Shown(tuple(drawn), folded, note)


def _path(graph: Graph, number: int, drawn: Collection[int]) -> list[int]:
    """Return a node that is not drawn with what is above it, up to something that is."""
    path: dict[int, None] = {}
    while number in graph.nodes and number not in drawn and number not in path:
        path[number] = None
        number = next(iter(graph.parents[number]), number)
    return list(path)


#: Folded nodes for which all that is below is counted; that is a walk for each.
_COUNTED = 200


def _edges_of(graph: Graph, number: int, drawn: Collection[int]) -> int:
    """Return how many edges come into the drawing with a new node."""
    near = (*graph.parents[number], *graph.children[number])
    return sum(each in drawn for each in near)

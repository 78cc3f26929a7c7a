"""Patterns of paths: their normal form, and which of two covers the other.

A path such as ``//item[./cpu[clock >= 700]]/board`` is a tree of nodes that a document must have:
each has a name or any, a condition on its record, and edges to nodes below it. No node is special:
a document matches or it does not.

In the normal form a bare ``*`` with one edge is no node but a part of the edge: an edge leads to a
node exactly ``gap`` levels below, or at least that far below. So ``/a/*//b`` and ``/a//*/b`` are
the same. A bare ``*`` without an edge says that something is that deep. A branch that another
branch of the same node implies is dropped, and branches are sorted by their text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from posetlib.filters.filter import Filter
from posetlib.models.path_conditions import condition_text, step_name_text

__all__ = ["Edge", "PatternNode", "Step", "covers", "edge_of", "root_of"]


class Step(NamedTuple):
    """A step as it is written: its axis, its name (None: any), its condition, what follows."""

    is_child: bool
    name: str | None
    condition: Filter | None
    branches: tuple[Step, ...] = ()


class Edge(NamedTuple):
    """An edge to a node, exactly or at least ``gap`` levels below; None: something is that deep."""

    gap: int
    exact: bool
    node: PatternNode | None

    @property
    def text(self) -> str:
        """The edge, and all below it, as a path is written."""
        if self.node is None:
            return "/*" * self.gap
        if self.exact:
            return "/*" * (self.gap - 1) + "/" + self.node.text
        return "//" + "*/" * (self.gap - 1) + self.node.text

    @property
    def height(self) -> int:
        """How many levels a document must have below the start of the edge."""
        return self.gap + (0 if self.node is None else self.node.height)


#: A node that can be reached: the node, the levels between, whether these are exact.
_Reach: TypeAlias = tuple["PatternNode", int, bool]


class PatternNode:
    """A node that a document must have; immutable, with what is asked often worked out once."""

    __slots__ = ("below", "condition", "edges", "height", "leaves", "name", "names", "text")

    def __init__(self, name: str | None, condition: Filter | None, edges: Iterable[Edge]) -> None:
        self.name: Final = name
        #: The condition on the record, None for none.
        self.condition: Final = condition
        self.edges: Final = _without_implied(edges)
        self.height: Final = max((edge.height for edge in self.edges), default=0)
        #: All nodes below, with their distance.
        self.below: Final = tuple(_reached(self.edges))
        #: The nodes below that have a condition and no node below them.
        self.leaves: Final = tuple(
            node for node, _, _ in self.below if node.condition is not None and not node.edges
        )
        #: The names of all nodes below.
        self.names: Final = frozenset(node.name for node, _, _ in self.below) - {None}
        self.text: Final = self._make_text()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, PatternNode) and self.text == other.text)

    def __hash__(self) -> int:
        return hash(self.text)

    def _make_text(self) -> str:
        text = step_name_text(self.name)
        if self.condition is not None:
            text += f"[{condition_text(self.condition)}]"
        for edge in self.edges[:-1]:
            text += f"[.{edge.text}]"
        return text + (self.edges[-1].text if self.edges else "")


def edge_of(step: Step) -> Edge:
    """Return the edge to a step, in the normal form."""
    edges = [edge_of(branch) for branch in step.branches]
    return normal_edge(1, step.is_child, step.name, step.condition, edges)


def normal_edge(
    gap: int, exact: bool, name: str | None, condition: Filter | None, edges: Iterable[Edge]
) -> Edge:
    """Return an edge to a node with these edges; a bare node may become a part of the edge."""
    left = _without_implied(edges)
    if name is None and condition is None:
        if not left:
            return Edge(gap, True, None)
        if len(left) == 1:
            (only,) = left
            return Edge(gap + only.gap, only.node is None or (exact and only.exact), only.node)
    return Edge(gap, exact, PatternNode(name, condition, left))


def root_of(edge: Edge) -> PatternNode:
    """Return the virtual root above an edge."""
    return PatternNode(None, None, (edge,))


def _reached(edges: Iterable[Edge]) -> Iterable[_Reach]:
    for edge in edges:
        if edge.node is not None:
            yield edge.node, edge.gap, edge.exact
            for node, gap, exact in edge.node.below:
                yield node, edge.gap + gap, edge.exact and exact


def _without_implied(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Return the edges in the order of their texts, without those that others imply."""
    left = sorted(set(edges), key=_text)
    if len(left) > 1:
        for edge in list(left):
            others = [other for other in left if other is not edge]
            if any(_edge_maps(edge, _reached((other,)), other.height, {}) for other in others):
                left.remove(edge)
    return tuple(left)


def _text(edge: Edge) -> str:
    return edge.text


# -- covering --------------------------------------------------------------------------------------


def covers(one: PatternNode, other: PatternNode) -> bool:
    """Return whether a pattern matches every document that another one matches.

    By a homomorphism: each node of the first is mapped to a written node of the second that asks
    for no less, and distances are kept. The answer True is always right, and the relation is
    reflexive and transitive; docs/models.md says where the answer False is right as well. Each pair
    of nodes is looked at once.
    """
    if not one.names <= other.names:
        return False
    memo: _Memo = {}
    # What a last step asks for is most often the quickest way to a No.
    for leaf in one.leaves:
        name = leaf.name
        for node, _, _ in reversed(other.below):
            if (name is None or name == node.name) and _maps(leaf, node, memo):
                break
        else:
            return False
    return _maps(one, other, memo)


# By the identities of the two nodes: their hashes would take longer than the rest.
_Memo: TypeAlias = dict[tuple[int, int], bool]


def _maps(one: PatternNode, other: PatternNode, memo: _Memo) -> bool:
    """Return whether a node and all below it can be mapped to another node and what is below it."""
    key = (id(one), id(other))
    found = memo.get(key)
    if found is None:
        found = memo[key] = _asks_less(one, other) and all(
            _edge_maps(edge, other.below, other.height, memo) for edge in one.edges
        )
    return found


def _asks_less(one: PatternNode, other: PatternNode) -> bool:
    if one.name is not None and one.name != other.name:
        return False
    if one.condition is None:
        return True
    return other.condition is not None and one.condition.covers(other.condition)


def _edge_maps(edge: Edge, below: Iterable[_Reach], height: int, memo: _Memo) -> bool:
    """Return whether an edge can be mapped below a node: what is there, and how deep it goes."""
    gap, exact, node = edge
    if node is None:
        return height >= gap
    name = node.name
    for other, distance, is_exact in below:
        if (
            (distance == gap and is_exact if exact else distance >= gap)
            and (name is None or name == other.name)
            and _maps(node, other, memo)
        ):
            return True
    return False

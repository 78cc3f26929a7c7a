"""What lies above and below a node, by the links alone: no covering test is made.

All walks are loops: no depth is too deep for Python's stack.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from posetlib.graph.change import Item
from posetlib.graph.nodes import Node

__all__ = [
    "add_closure",
    "ancestors",
    "descendants",
    "hangs_below",
    "highest_of",
    "in_order",
    "leads_up_to",
    "lowest_of",
    "parents_first",
]

_SERIAL: Final = attrgetter("serial")
_ITEM: Final = attrgetter("item")


def in_order(nodes: Iterable[Node]) -> tuple[Item, ...]:
    """Return the items of nodes in order of insertion."""
    return tuple(map(_ITEM, sorted(nodes, key=_SERIAL)))


def lowest_of(above: list[Node]) -> list[Node]:
    """Return the nodes of an up-set that are parents of no other one."""
    inner: set[Node] = set()
    for node in above:
        inner.update(node.parents)
    return [node for node in above if node not in inner]


def highest_of(below: list[Node]) -> list[Node]:
    """Return the nodes of a down-set that are children of no other one."""
    inner: set[Node] = set(below)
    return [node for node in below if inner.isdisjoint(node.parents)]


def ancestors(node: Node, top: Node) -> dict[Node, None]:
    """Return every node above a node, but not the top; O(nodes and edges above)."""
    seen = {top: None}
    stack = [node]
    while stack:
        for parent in stack.pop().parents:
            if parent not in seen:
                seen[parent] = None
                stack.append(parent)
    del seen[top]
    return seen


def descendants(node: Node) -> dict[Node, None]:
    """Return every node below a node; O(nodes and edges below)."""
    seen: dict[Node, None] = {}
    add_closure(seen, node)
    del seen[node]
    return seen


def add_closure(found: dict[Node, None], node: Node) -> None:
    """Add a node and all below it to the nodes found; those found before are not entered again."""
    found[node] = None
    stack = [node]
    while stack:
        for child in stack.pop().children:
            if child not in found:
                found[child] = None
                stack.append(child)


def hangs_below(node: Node, other: Node) -> bool:
    """Return whether a node of a forest is below another one; O(depth)."""
    while node.parents:
        node = node.parents[0]
        if node is other:
            return True
    return False


def leads_up_to(node: Node, targets: dict[Node, None], barren: set[Node]) -> bool:
    """Return whether one of some targets is above a node.

    ``barren`` are nodes that are known to have no target above them; the walk adds to them.
    """
    stack = [node]
    seen: set[Node] = set()
    while stack:
        for parent in stack.pop().parents:
            if parent in targets:
                return True
            if parent not in barren and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    barren |= seen
    return False


def parents_first(top: Node) -> list[Node]:
    """Return the top of a forest and all nodes below it, each after its parent."""
    order = [top]
    seen = {top}
    for node in order:
        for child in node.children:
            if child not in seen:
                seen.add(child)
                order.append(child)
    return order

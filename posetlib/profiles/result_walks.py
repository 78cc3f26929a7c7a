"""Which nodes of a forest are in the result of an item, between a lower and an upper bound.

A result is *closed upwards* when the parent of each of its nodes is in it: the queries that cover
a profile, and whatever overlaps an item. It is *closed downwards* when the children are: the
profiles that a query covers. A bound is a set of nodes that is closed in the same direction; None
as the upper bound means that nothing is known. Nodes are tested along the links, so that one test
often speaks for a whole subtree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from posetlib.graph.nodes import Node
from posetlib.graph.paths import descendants

__all__ = ["closed_downwards", "closed_upwards"]

_Test = Callable[[Node], bool]
_Children = Callable[[Node], Iterable[Node]]


def closed_upwards(
    top: Node,
    children: _Children,
    test: _Test,
    lower: AbstractSet[Node],
    upper: AbstractSet[Node] | None,
) -> set[Node]:
    """Return the result, in which the parent of every node is, too.

    A node is tested only if its parent is in the result, and it lies between the bounds. That
    never takes more tests than without bounds.
    """
    found = set(lower)
    if upper is None:
        stack = [top]
        while stack:
            for child in children(stack.pop()):
                if child in lower:
                    stack.append(child)
                elif test(child):
                    found.add(child)
                    stack.append(child)
        return found
    refused: set[Node] = set()
    for candidate in upper - lower:
        parent = candidate.parents[0]
        if parent is top or parent in found:
            # Mostly so: no path has to be kept.
            if candidate not in found and candidate not in refused:
                (found if test(candidate) else refused).add(candidate)
            continue
        path, node = [], candidate
        while node is not top and node not in found and node not in refused:
            path.append(node)
            node = node.parents[0]
        good = node not in refused
        while path:
            node = path.pop()
            good = good and test(node)
            (found if good else refused).add(node)
    return found


def closed_downwards(
    top: Node,
    children: _Children,
    test: _Test,
    lower: AbstractSet[Node],
    upper: AbstractSet[Node] | None,
) -> set[Node]:
    """Return the result, in which the children of every node are, too.

    A node is tested only if no node above it is in the result, and it lies between the bounds.
    That never takes more tests than without bounds.
    """
    found = set(lower)
    if upper is None:
        stack = [top]
        while stack:
            for child in children(stack.pop()):
                if child in found:
                    continue
                if test(child):
                    found.add(child)
                    found.update(descendants(child))
                else:
                    stack.append(child)
        return found
    candidates = upper - lower
    refused: set[Node] = set()
    for candidate in candidates:
        path, node = [], candidate
        while node in candidates and node not in found and node not in refused:
            path.append(node)
            node = node.parents[0]
        if node in found:
            found.update(path)
            continue
        while path:
            node = path.pop()
            if test(node):
                found.add(node)
                found.update(path)
                break
            refused.add(node)
    return found

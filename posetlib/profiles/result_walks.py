"""Which nodes of a forest are in the result of an item, between a lower and an upper bound.

A result is *closed upwards* when the parent of each of its nodes is in it: the queries that cover
a profile, and whatever overlaps an item. It is *closed downwards* when the children are: the
profiles that a query covers. A bound is a set of nodes that is closed in the same direction; None
as the upper bound means that nothing is known. Nodes are tested along the links, so that one test
often speaks for a whole subtree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest

from posetlib.graph.nodes import Node
from posetlib.graph.paths import descendants

__all__ = ["closed_downwards", "closed_upwards"]

_Test = Callable[[Node], bool]
_Children = Callable[[Node], Sequence[Node]]


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

    Of each subtree between the bounds a leaf comes first: if it is not in the result, nothing above
    it is, which is so for most. Otherwise its path is tested from above, up to the first node that
    is in the result. The leaf depends on the forest alone, so that bounds never make for more tests
    than there are without them.
    """
    found = set(lower)
    if upper is None:
        stack = list(children(top))
    else:
        stack = [node for node in upper - lower if node.parents[0] not in upper]
    while stack:
        node = stack.pop()
        path = []
        while node not in found:
            path.append(node)
            below = children(node)
            if not below:
                break
            node = next(iter(below))
        if not path:
            continue
        if node in found or test(node):
            for each in path:
                if each is node or test(each):
                    found.add(each)
                    found.update(descendants(each))
                    break
        # What hangs beside the path is decided by itself.
        for each, on_path in zip_longest(path, path[1:]):
            if each in found:
                break
            stack.extend(child for child in children(each) if child is not on_path)
    return found

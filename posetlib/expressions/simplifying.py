"""Leave out of a tree what makes no difference, as far as comparisons tell."""

from __future__ import annotations

from typing import Final

from posetlib.expressions.comparing import bounds_of, covers, overlaps
from posetlib.expressions.tree import (
    FALSE,
    Junction,
    Leaf,
    Negation,
    Node,
    fold,
    joined,
    normalised,
)

__all__ = ["simplified"]

# The most children of a node of which each is compared with the others.
_MAX_CHILDREN: Final = 64


def simplified(root: Node) -> Node:
    """Return a tree for the same notifications, with as many leaves or fewer."""

    def of_junction(node: Junction, parts: list[Node]) -> Node:
        if node.conjunctive:
            return _and(parts)
        # An OR is simplified as the complement of an AND.
        return _negated(_and([_negated(part) for part in parts]))

    return fold(root, _of_leaf, of_junction)


def _of_leaf(leaf: Leaf) -> Node:
    return leaf


def _negated(node: Node) -> Node:
    return normalised(Negation(node))


def _and(parts: list[Node]) -> Node:
    """Return the AND of some trees, without the parts that the others imply or exclude."""
    whole = joined(True, parts)
    if isinstance(whole, Leaf) or not whole.conjunctive or len(whole.children) > _MAX_CHILDREN:
        return whole
    if not bounds_of(whole).inside:
        return FALSE
    children = list(whole.children)
    index = 0
    while index < len(children):
        child = children[index]
        rest = bounds_of(joined(True, children[:index] + children[index + 1 :]))
        if covers(bounds_of(child), rest):
            del children[index]
            continue
        if isinstance(child, Junction):
            # Alternatives that the other children exclude.
            possible = [each for each in child.children if overlaps(bounds_of(each), rest)]
            if len(possible) < len(child.children):
                children[index] = joined(False, possible)
        index += 1
    return joined(True, children)

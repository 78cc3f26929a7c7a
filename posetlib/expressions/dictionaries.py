"""The dictionary form of expressions: written from a tree, and read from data without trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from posetlib.constraints.base import constraint_from_dict
from posetlib.errors import FilterError
from posetlib.expressions.tree import Junction, Leaf, Negation, Node, RawJunction, RawNode, fold
from posetlib.names import check_name
from posetlib.values import describe, shortened

__all__ = ["tree_from_dict", "tree_to_dict"]

# The most parts of a dictionary; a part that occurs twice counts twice.
_MAX_PARTS: Final = 100_000
# How a message begins that says where something is wrong.
_PLACE: Final = "attribute "


def tree_to_dict(root: Node) -> dict[str, Any]:
    """Return a tree as a dictionary of JSON values."""
    return fold(root, _leaf_to_dict, _junction_to_dict)


def _leaf_to_dict(leaf: Leaf) -> dict[str, Any]:
    written = {"attribute": leaf.attribute, "constraint": leaf.constraint.to_dict()}
    return {"not": written} if leaf.negated else written


def _junction_to_dict(node: Junction, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"and" if node.conjunctive else "or": parts}


def tree_from_dict(data: object) -> RawNode:
    """Return the tree that a dictionary describes, or raise FilterError.

    A node is made before its parts, with an empty list that is filled when their turn comes. So
    no nesting is too deep, and a dictionary that contains itself is found by the way to it.
    """
    top: list[RawNode] = []
    # What to read next, with the list that its node goes to; or None and what is complete.
    waiting: list[tuple[object, list[RawNode] | None]] = [(data, top)]
    around: set[int] = set()  # the dictionaries that are not complete yet, by their id
    count = 0
    while waiting:
        part, siblings = waiting.pop()
        if siblings is None:
            around.remove(id(part))
            continue
        count += 1
        if count > _MAX_PARTS:
            raise FilterError(f"too large: an expression's dictionary of over {_MAX_PARTS:,} parts")
        if not isinstance(part, Mapping):
            raise FilterError(f"an expression's dictionary is a mapping, not {describe(part)}")
        if id(part) in around:
            raise FilterError("an expression's dictionary contains itself")
        keys = set(part)
        if keys == {"attribute", "constraint"}:
            siblings.append(_leaf_from_dict(part))
            continue
        children: list[RawNode] = []
        if keys == {"not"}:
            parts = [part["not"]]
            siblings.append(Negation(RawJunction(True, children)))
        elif keys in ({"and"}, {"or"}):
            (word,) = keys
            parts = part[word]
            if not isinstance(parts, list | tuple):
                raise FilterError(f'"{word}" has a list of expressions, not {describe(parts)}')
            siblings.append(RawJunction(word == "and", children))
        else:
            raise FilterError(
                'an expression\'s dictionary has "and", "or" or "not", or it has "attribute" and '
                f'"constraint", not {shortened(sorted(map(str, keys)))}'
            )
        around.add(id(part))
        waiting.append((part, None))
        waiting += [(each, children) for each in reversed(parts)]
    return top[0]


def _leaf_from_dict(part: Mapping[str, Any]) -> Leaf:
    name = part["attribute"]
    try:
        return Leaf(check_name(name), constraint_from_dict(part["constraint"]))
    except FilterError as error:
        if str(error).startswith(_PLACE):  # of an expression within the constraint
            raise
        raise FilterError(f"{_PLACE}{shortened(name)}: {error}") from error

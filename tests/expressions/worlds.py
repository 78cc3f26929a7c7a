"""Random expressions over small domains, and a world of notifications in which they are decided.

The world has a value in every part of the line between the numbers of the conditions, some strings,
booleans, sets, a value of no domain, and absence. So two expressions of these conditions that
differ at all differ on a notification of the world.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import product
from random import Random
from typing import Any

from posetlib import parse_filter
from posetlib.expressions import Expression
from posetlib.expressions.tree import Leaf, Negation, RawJunction, RawNode
from posetlib.values import MISSING, lookup

#: Conditions on attribute x; each is the text of a filter.
NUMBERS = [
    "x = 0", "x = 1", "x = 2", "x < 1", "x <= 1", "x > 1", "x >= 2", "x in [0, 2]", "x in (0, 1)",
    "x != 1", "x in {0, 2}", "x:int > 0", "x is number",
]  # fmt: skip
OTHERS = ["exists x", 'x = "a"', 'x prefix "a"', "x = true", "x is bool", "x is string", "x has 1"]
#: Values that tell all conditions on x apart, NaN as one of no domain.
X_VALUES: list[Any] = [
    -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, "a", "ab", "b", True, False, {1}, set(), None, MISSING,
]  # fmt: skip
Y_VALUES: list[Any] = [-1, 0, 0.5, 1, 2, None, MISSING]
Z_VALUES: list[Any] = ["", "a", "ab", "aab", "abc", "Ab", "Abc", "b", "bc", "c", None, MISSING]
CONDITIONS = {
    "x": NUMBERS + OTHERS,
    "y": ["y = 0", "y = 1", "y < 1", "y > 0", "exists y"],
    "z": ['z = "ab"', 'z prefix "a"', 'z suffix "b"', 'z contains "b"', 'z < "b"', "exists z"],
}


@cache
def world() -> tuple[dict[str, Any], ...]:
    """Every notification."""
    return tuple(
        {name: value for name, value in zip("xyz", values, strict=True) if value is not MISSING}
        for values in product(X_VALUES, Y_VALUES, Z_VALUES)
    )


@cache
def leaf(text: str) -> Leaf:
    """The leaf for a condition."""
    filter = parse_filter(text)
    return Leaf(filter.attributes[0], filter.terms[0])


def random_tree(random: Random, leaves: int, names: str = "xyz") -> RawNode:
    """Return a random tree of some leaves, with negations at any node."""
    if leaves == 1:
        node: RawNode = leaf(random.choice(CONDITIONS[random.choice(names)]))
    else:
        parts = []
        while leaves:
            share = random.randint(1, max(1, min(leaves, (leaves + 1) // 2)))
            parts.append(random_tree(random, share, names))
            leaves -= share
        node = RawJunction(random.random() < 0.5, parts)
    return Negation(node) if random.random() < 0.25 else node


def holds(node: RawNode, notification: Mapping[str, Any]) -> bool:
    """Return whether a tree holds: the meaning itself, as plainly as it can be written."""
    if isinstance(node, Negation):
        return not holds(node.child, notification)
    if isinstance(node, Leaf):
        value = lookup(notification, node.attribute)
        return (
            value is not MISSING and node.constraint.matches_in(value, notification)
        ) is not node.negated
    return (all if node.conjunctive else any)(holds(child, notification) for child in node.children)


def meaning(node: RawNode) -> frozenset[int]:
    """Return the numbers of the notifications of the world that satisfy a tree."""
    return frozenset(i for i, each in enumerate(world()) if holds(node, each))


def random_expression(random: Random, leaves: int | None = None, names: str = "xyz") -> Expression:
    """Return a random expression of up to seven conditions."""
    return Expression(random_tree(random, leaves or random.randint(1, 7), names))

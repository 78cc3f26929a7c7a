"""Estimates of how many notifications satisfy a tree, from those that satisfy its leaves.

The estimate has a lower bound, an average as if leaves were independent, and an upper bound: the
true share lies between the bounds whatever depends on what.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from posetlib.expressions.explaining import leaf_holds
from posetlib.expressions.matcher import ExpressionMatcher
from posetlib.expressions.tree import Junction, Leaf, Node, fold
from posetlib.values import lookup

__all__ = [
    "LeafShare",
    "Selectivity",
    "joined_selectivity",
    "learned",
    "seen_shares",
    "selectivity",
]

#: The share of notifications, from 0 to 1, that satisfy a leaf's constraint (not its complement).
LeafShare: TypeAlias = Callable[[Leaf], float]


class Selectivity(NamedTuple):
    """The share of notifications that satisfy a tree: at least, on average, at most."""

    least: float
    average: float
    most: float


def selectivity(root: Node, share: LeafShare) -> Selectivity:
    """Return the estimate for a tree.

    >>> from posetlib import parse_expression
    >>> tree = parse_expression("a = 1 and b = 1").root
    >>> selectivity(tree, lambda leaf: {"a": 0.5, "b": 0.75}[leaf.attribute])
    Selectivity(least=0.25, average=0.375, most=0.5)
    """

    def of_leaf(leaf: Leaf) -> Selectivity:
        found = share(leaf)
        if leaf.negated:
            found = 1 - found
        return Selectivity(found, found, found)

    def of_junction(node: Junction, parts: list[Selectivity]) -> Selectivity:
        return joined_selectivity(node.conjunctive, parts)

    return fold(root, of_leaf, of_junction)


def joined_selectivity(conjunctive: bool, parts: list[Selectivity]) -> Selectivity:
    """Return the estimate for an AND or OR, from those of its children."""
    if conjunctive:
        return Selectivity(
            max(0.0, sum([part.least for part in parts]) - (len(parts) - 1)),
            math.prod([part.average for part in parts]),
            min([part.most for part in parts], default=1.0),
        )
    return Selectivity(
        max([part.least for part in parts], default=0.0),
        1 - math.prod([1 - part.average for part in parts]),
        min(1.0, sum([part.most for part in parts])),
    )


def learned(matcher: ExpressionMatcher) -> LeafShare:
    """Return the shares that a matcher has seen; 1/2 for what it has not seen."""

    def share(leaf: Leaf) -> float:
        satisfied, seen = matcher.selectivity(leaf)
        return satisfied / seen if seen else 0.5

    return share


def seen_shares(notifications: Iterable[Mapping[str, Any]]) -> LeafShare:
    """Return the shares among some notifications; each constraint is asked once.

    >>> from posetlib import parse_expression
    >>> (leaf,) = parse_expression("x > 1").leaves()
    >>> seen_shares([{"x": 1}, {"x": 2}, {"x": 3}, {}])(leaf)
    0.5
    """
    seen = list(notifications)
    known: dict[Leaf, float] = {}

    def share(leaf: Leaf) -> float:
        plain = leaf._replace(negated=False)
        found = known.get(plain)
        if found is None:
            held = sum(leaf_holds(plain, lookup(each, leaf.attribute), each) for each in seen)
            found = known[plain] = held / len(seen) if seen else 0.5
        return found

    return share

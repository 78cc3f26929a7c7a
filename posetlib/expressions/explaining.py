"""Explain why an expression matches a notification or not: the leaves that decide it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from posetlib.expressions.tree import Junction, Leaf, fold, leaf_text
from posetlib.names import name_text
from posetlib.values import MISSING, describe, lookup

if TYPE_CHECKING:
    from posetlib.expressions.expression import Expression

__all__ = ["ExpressionExplanation", "LeafOutcome", "explanation", "leaf_holds"]


class LeafOutcome(NamedTuple):
    """A leaf, and whether it holds for a notification."""

    leaf: Leaf
    #: The value of its attribute in the notification, MISSING if it has none.
    value: Any
    holds: bool

    def __str__(self) -> str:
        name = name_text(self.leaf.attribute)
        found = (
            f"{name} is absent" if self.value is MISSING else f"{name} is {describe(self.value)}"
        )
        wanted = leaf_text(self.leaf)
        return f"{found}, " + (
            f"so {wanted}" if self.holds else f"but the expression wants {wanted}"
        )


class ExpressionExplanation(NamedTuple):
    """Why an expression matches a notification or not; as a boolean, whether it matches."""

    expression: Expression
    matches: bool
    #: Leaves that decide: with these alone as they are, the answer is the same.
    deciding: tuple[LeafOutcome, ...]
    #: All leaves from left to right.
    leaves: tuple[LeafOutcome, ...]

    def __bool__(self) -> bool:
        return self.matches

    def __str__(self) -> str:
        if not self.deciding:
            return f"{'matches' if self.matches else 'does not match'} {self.expression}"
        return "; ".join(map(str, self.deciding))


def leaf_holds(leaf: Leaf, value: Any, notification: Mapping[str, Any]) -> bool:
    """Return whether a leaf holds for a value, MISSING included."""
    holds = value is not MISSING and leaf.constraint.matches_in(value, notification)
    return holds is not leaf.negated


def explanation(expression: Expression, notification: Mapping[str, Any]) -> ExpressionExplanation:
    """Return which leaves decide whether a notification matches.

    Of an AND that holds, and of an OR that fails, all children count; of the others the one child
    that takes the fewest leaves.
    """
    outcomes: list[LeafOutcome] = []

    def of_leaf(leaf: Leaf) -> tuple[bool, tuple[LeafOutcome, ...]]:
        value = lookup(notification, leaf.attribute)
        outcome = LeafOutcome(leaf, value, leaf_holds(leaf, value, notification))
        outcomes.append(outcome)
        return outcome.holds, (outcome,)

    def of_junction(
        node: Junction, parts: list[tuple[bool, tuple[LeafOutcome, ...]]]
    ) -> tuple[bool, tuple[LeafOutcome, ...]]:
        deciding = [leaves for holds, leaves in parts if holds is not node.conjunctive]
        if deciding:  # one child is enough: a false one of an AND, a true one of an OR
            return not node.conjunctive, min(deciding, key=len)
        return node.conjunctive, tuple(each for _, leaves in parts for each in leaves)

    matches, deciding = fold(expression.root, of_leaf, of_junction)
    return ExpressionExplanation(expression, matches, deciding, tuple(outcomes))

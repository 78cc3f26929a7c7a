"""Covering and overlap of expressions, by disjunctive forms of bounded size.

Each expression e is compared by two bounds, which depend on e alone: an upper one that covers it,
and a lower one that it covers. Where the forms of e and of its complement are small, both are e
itself. e covers f if the lower bound of e covers the upper bound of f, which is decided clause by
clause. This is transitive whatever the bounds are: each step goes from a lower bound through the
expression to an upper bound.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from posetlib.expressions.clauses import Clause, Conditions, conditions_of, forms_within, meet
from posetlib.expressions.tree import Junction, Negation, Node, joined, normalised

__all__ = ["MAX_CLAUSES", "Bounds", "bounds_of", "covers", "form_of", "overlaps"]

#: The largest disjunctive form that is compared as it is. Two forms take up to its square of tests.
MAX_CLAUSES: Final = 64


class Bounds(NamedTuple):
    """What an expression is compared by."""

    #: The clauses of the upper bound.
    inside: tuple[Conditions, ...]
    #: The clauses of the complement of the lower bound.
    outside: tuple[Conditions, ...]
    #: Whether both bounds are the expression itself.
    exact: bool


def bounds_of(root: Node) -> Bounds:
    """Return the bounds of a tree."""
    inside, inside_exact = form_of(root)
    outside, outside_exact = form_of(normalised(Negation(root)))
    return Bounds(
        tuple(map(conditions_of, inside)),
        tuple(map(conditions_of, outside)),
        inside_exact and outside_exact,
    )


def form_of(root: Node) -> tuple[tuple[Clause, ...], bool]:
    """Return the clauses of a tree, or of a tree that covers it; and whether it is the tree itself.

    If the form of an AND is too large, some of its children are left out.
    """
    found = forms_within(root, MAX_CLAUSES)
    if found is not None:
        return found, True
    kept: list[Node] = []
    found = (frozenset(),)
    if isinstance(root, Junction) and root.conjunctive:
        for child in root.children:
            form = forms_within(joined(True, [*kept, child]), MAX_CLAUSES)
            if form is not None:
                kept.append(child)
                found = form
    return found, False


def covers(one: Bounds, other: Bounds) -> bool:
    """Return whether nothing lies both within the second and outside of the first."""
    return not any(meet(a, b) for a in other.inside for b in one.outside)


def overlaps(one: Bounds, other: Bounds) -> bool:
    """Return whether something may lie within both."""
    return any(meet(a, b) for a in one.inside for b in other.inside)

"""The disjunctive form of a tree: an OR of clauses, each an AND of leaves.

Clauses that nothing satisfies are left out, where that is decided (see ``satisfiable``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final, TypeAlias

from posetlib.constraints.base import Constraint
from posetlib.constraints.complements import complement_of
from posetlib.constraints.mixtures import conjunction
from posetlib.errors import EmptyConstraintError
from posetlib.expressions.satisfiable import possible
from posetlib.expressions.tree import Junction, Leaf, Node, fold
from posetlib.filters.filter import Filter

__all__ = [
    "Clause",
    "Conditions",
    "conditions_of",
    "filters_of",
    "forms_within",
    "meet",
]

#: The leaves of one conjunction.
Clause: TypeAlias = frozenset[Leaf]
#: The same by attribute: the constraints that must hold, and those that must not.
Conditions: TypeAlias = Mapping[str, tuple[tuple[Constraint, ...], tuple[Constraint, ...]]]

# The most pairs of clauses that are put together for one form, and the most clauses among which
# superfluous ones are looked for. Both bound the time.
_MAX_PAIRS: Final = 200_000
_MAX_COMPARED: Final = 512
_MAX_FILTERS_COMPARED: Final = 64


# -- the form --------------------------------------------------------------------------------------


def forms_within(root: Node, limit: int) -> tuple[Clause, ...] | None:
    """Return the clauses of a tree, None if there are more than ``limit`` at any stage."""

    def of_leaf(leaf: Leaf) -> list[Clause] | None:
        return [frozenset((leaf,))]

    def of_junction(node: Junction, parts: list[list[Clause] | None]) -> list[Clause] | None:
        if any(part is None for part in parts):
            return None
        forms = [part for part in parts if part is not None]
        if node.conjunctive:
            if _least_product(forms) > min(limit, _MAX_PAIRS):
                return None
            found: list[Clause] = [frozenset()]
            # Short forms first, so that a contradiction is met early.
            for form in sorted(forms, key=len):
                multiplied = _product(found, form, limit)
                if multiplied is None:
                    return None
                found = multiplied
            return found
        clauses = _without_superfluous(dict.fromkeys(clause for form in forms for clause in form))
        return clauses if len(clauses) <= limit else None

    found = fold(root, of_leaf, of_junction)
    return None if found is None else tuple(found)


def _least_product(forms: list[list[Clause]]) -> int:
    """Return how many clauses an AND of some forms has at least.

    If each is on attributes of its own, all their clauses go together.
    """
    names = [{leaf.attribute for clause in form for leaf in clause} for form in forms]
    apart = sum(map(len, names)) == len(set().union(*names))
    return math.prod(map(len, forms)) if apart else 0


def _product(one: list[Clause], other: list[Clause], limit: int) -> list[Clause] | None:
    """Return the clauses of both at once that something satisfies; None if there are too many."""
    if len(one) * len(other) > _MAX_PAIRS:
        return None
    if one == [frozenset()]:
        return other
    found: dict[Clause, None] = {}
    left = [(clause, conditions_of(clause)) for clause in one]
    right = [(clause, conditions_of(clause)) for clause in other]
    for a, conditions in left:
        for b, others in right:
            if meet(conditions, others):
                found[a | b] = None
                if len(found) > limit:
                    return None
    return _without_superfluous(found)


def _without_superfluous(clauses: Iterable[Clause]) -> list[Clause]:
    """Return the clauses without those that have all leaves of another one, and more."""
    found = list(clauses)
    if len(found) > _MAX_COMPARED:
        return found
    by_size = sorted(found, key=len)
    kept: list[Clause] = []
    for clause in by_size:
        if not any(other <= clause for other in kept):
            kept.append(clause)
    wanted = set(kept)
    return [clause for clause in found if clause in wanted]


# -- what is possible ------------------------------------------------------------------------------


def conditions_of(clause: Clause) -> Conditions:
    """Return the leaves of a clause by attribute."""
    found: dict[str, tuple[list[Constraint], list[Constraint]]] = {}
    for name, constraint, negative in clause:
        found.setdefault(name, ([], []))[negative].append(constraint)
    return {name: (tuple(held), tuple(avoided)) for name, (held, avoided) in found.items()}


def meet(one: Conditions, other: Conditions) -> bool:
    """Return whether something satisfies both clauses, each of which something satisfies."""
    if len(other) < len(one):
        one, other = other, one
    for name, (held, avoided) in one.items():
        theirs = other.get(name)
        if theirs is not None and not possible(held + theirs[0], avoided + theirs[1]):
            return False
    return True


# -- filters ---------------------------------------------------------------------------------------


def filters_of(clauses: Iterable[Clause]) -> tuple[Filter, ...]:
    """Return a filter for each clause; FilterError for one whose constraints are too complex.

    Of a few, those that another one covers are left out.
    """
    found: dict[Filter, None] = {}
    for clause in clauses:
        with suppress(EmptyConstraintError):  # nothing satisfies it
            found[_filter_of(clause)] = None
    if len(found) > _MAX_FILTERS_COMPARED:
        return tuple(found)
    kept: list[Filter] = []
    for filter in found:
        if not any(other.covers(filter) for other in kept):
            kept = [other for other in kept if not filter.covers(other)] + [filter]
    return tuple(kept)


def _filter_of(clause: Clause) -> Filter:
    constraints = {
        name: conjunction([*held, *map(complement_of, avoided)])
        for name, (held, avoided) in conditions_of(clause).items()
    }
    return Filter(constraints)

"""The disjunctive form of a tree: an OR of clauses, each an AND of leaves.

Here is also decided which clauses nothing satisfies. That is exact for numbers, booleans, strings,
types and sets. Other kinds are compared two at a time. A doubt counts as satisfied, so that an
answer "nothing satisfies it" is always right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from posetlib.constraints.base import EXISTS, Constraint, Exists
from posetlib.constraints.booleans import Booleans
from posetlib.constraints.complements import complement_of
from posetlib.constraints.mixtures import conjunction, disjunction
from posetlib.constraints.multivalues import MultiValues
from posetlib.constraints.numbers import Numbers
from posetlib.constraints.strings import Strings
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.expressions.tree import Junction, Leaf, Node, fold
from posetlib.filters.filter import Filter

__all__ = [
    "Clause",
    "Conditions",
    "conditions_of",
    "filters_of",
    "forms_within",
    "meet",
    "possible",
]

#: The leaves of one conjunction.
Clause: TypeAlias = frozenset[Leaf]
#: The same by attribute: the constraints that must hold, and those that must not.
Conditions: TypeAlias = Mapping[str, tuple[tuple[Constraint, ...], tuple[Constraint, ...]]]

# The kinds whose values are compared exactly, several constraints at once.
_EXACT: Final = (Numbers, Strings, Booleans, MultiValues)
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


def possible(held: Sequence[Constraint], avoided: Sequence[Constraint]) -> bool:
    """Return whether an attribute can satisfy all of some constraints and none of others.

    It can also be absent, if nothing is held. True if that is not decided.

    >>> from posetlib.constraints import Numbers
    >>> low, high = Numbers.interval(0, 5), Numbers.interval(5, 9)
    >>> (
    ...     possible([low], [high]),
    ...     possible([Numbers.interval(1, 8)], [low, high]),
    ...     possible([], [low]),
    ... )
    (True, False, True)
    """
    if not held:
        return True
    wanted = [_plain(each) for each in held if not isinstance(each, Exists)]
    if not wanted:
        # NaN exists, and satisfies no other constraint.
        return not any(each.covers(EXISTS) for each in avoided)
    if any(isinstance(each, Exists) for each in avoided):
        return False
    domains = {each.domain for each in wanted if each.domain is not None}
    if len(domains) > 1:
        return False
    unwanted = [
        _plain(each)
        for each in avoided
        if not domains or each.domain is None or each.domain in domains
    ]
    exact = [each for each in wanted if isinstance(each, _EXACT)]
    others = [each for each in wanted if not isinstance(each, _EXACT)]
    if others:
        for index, one in enumerate(others):
            if not all(one.overlaps(other) for other in others[index + 1 :]):
                return False
        # Constraints of other kinds are compared with one another and with whole domains alone:
        # to compare them with some numbers, and not with all, would not be transitive.
        for each in unwanted:
            if domains and each.domain in domains and each.is_whole_domain():
                return False
            if not isinstance(each, _EXACT) and any(map(each.covers, others)):
                return False
    return not exact or _remains(exact, [each for each in unwanted if isinstance(each, _EXACT)])


def _plain(constraint: Constraint) -> Constraint:
    """Return a constraint on the names of types as one on strings, which compares with others."""
    names = constraint.finite_strings()
    return constraint if names is None else Strings.points(names)


def _remains(held: Sequence[Constraint], avoided: Sequence[Constraint]) -> bool:
    """Return whether some value satisfies constraints of one exact kind, and none of others."""
    try:
        inner = held[0] if len(held) == 1 else conjunction(held)
    except EmptyConstraintError:
        return False
    except FilterError:
        return True  # too complex
    if not avoided:
        return True
    if any(each.covers(inner) for each in avoided):
        return False
    try:
        return len(avoided) == 1 or not disjunction(avoided).covers(inner)
    except FilterError:
        return True  # too complex


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

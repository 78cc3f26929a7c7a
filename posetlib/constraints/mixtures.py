"""Join many constraints on one attribute into a single constraint.

`conjunction` joins by "and", `disjunction` by "or". Constraints of one kind become one constraint
of that kind. If no single kind can express the result, it becomes a `Mixture`.

A *term* is a set of constraints, its *atoms*, that all must hold. A mixture is a list of terms, of
which one must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, Final, TypeAlias, final

from posetlib.constraints.base import (
    EXISTS,
    Constraint,
    Exists,
    Term,
    constraint_from_dict,
    register_kind,
    text_of,
)
from posetlib.constraints.extents import ANYWHERE, ANYWHERE_OR_ABSENT, Extent
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.values import MISSING

__all__ = ["Mixture", "conjunction", "disjunction"]

# The most terms of a mixture, and the most constraints that are joined one by one. It bounds the
# time of a comparison, which compares every term of one mixture with every term of the other.
_MAX_ALTERNATIVES: Final = 64

# A class method `union` or `intersection` that joins many constraints of one kind in one call. A
# kind has it if thousands of its constraints may be joined: two at a time would be slow.
_JoinMany: TypeAlias = Callable[[list[Constraint]], Constraint]


@final
class Mixture(Constraint):
    """Constraints of several kinds on one attribute, joined by "and" and "or".

    A value satisfies a mixture if it satisfies all constraints of at least one term. `conjunction`
    and `disjunction` make a mixture only if no single constraint has the same meaning. `covers`
    compares term by term, and in a term constraint by constraint [T, Thm A.1]. Its answer True is
    always right; its answer False may be wrong. It is reflexive and transitive.

    >>> from posetlib.constraints import Placeholder, Strings
    >>> conjunction([Strings.prefix("a"), Placeholder("b", "!=")])
    <Mixture: _ != $b and _ prefix "a">
    """

    __slots__ = ("_hash", "terms")
    kind = "mixture"

    terms: tuple[Term, ...]

    def __init__(self, terms: Iterable[Iterable[Constraint]]) -> None:
        ordered = sorted(map(frozenset, terms), key=_term_text)
        self.terms = tuple(ordered)
        self._hash = hash((Mixture, self.terms))

    def matches(self, value: Any) -> bool:
        return self.matches_in(value, {})

    def matches_in(self, value: Any, notification: Mapping[str, Any]) -> bool:
        return any(
            all(atom.matches_in(value, notification) for atom in term) for term in self.terms
        )

    def matches_absence(self) -> bool:
        return any(all(atom.matches_absence() for atom in term) for term in self.terms)

    def extent(self) -> Extent:
        return ANYWHERE_OR_ABSENT if self.matches_absence() else ANYWHERE

    def covers(self, other: Constraint) -> bool:
        return all(any(_term_covers(a, b) for a in self.terms) for b in _terms(other))

    def overlaps(self, other: Constraint) -> bool:
        return any(
            all(x.overlaps(y) for x in a for y in b) for a in self.terms for b in _terms(other)
        )

    def merge(self, other: Constraint) -> Constraint | None:
        try:
            return disjunction([self, other])
        except FilterError:  # the constraints are of two domains, or there are too many terms
            return None

    def intersect(self, other: Constraint) -> Constraint | None:
        return conjunction([self, other])

    def alternatives(self) -> tuple[Term, ...]:
        return self.terms

    def subtypes(self) -> Iterator[tuple[str, frozenset[str]]]:
        for atom in self._atoms():
            yield from atom.subtypes()

    def references(self) -> tuple[str, ...]:
        return tuple(name for atom in self._atoms() for name in atom.references())

    def contradicts_itself(self, name: str) -> bool:
        return all(any(atom.contradicts_itself(name) for atom in term) for term in self.terms)

    def _atoms(self) -> Iterator[Constraint]:
        for term in self.terms:
            yield from term

    def clauses(self, name: str) -> tuple[str, ...]:
        return tuple(_term_text(term, name) for term in self.terms)

    def example(self) -> Any:
        for term in self.terms:
            for atom in sorted(term, key=lambda atom: text_of(atom, "x")):
                value = atom.example()
                if value is not MISSING and self.matches(value):
                    return value
        return MISSING

    def to_dict(self) -> dict[str, Any]:
        members = [
            [atom.to_dict() for atom in sorted(term, key=lambda atom: text_of(atom, "x"))]
            for term in self.terms
        ]
        return {"kind": self.kind, "any": members}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mixture) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Mixture, (self.terms,))


def _term_text(term: Iterable[Constraint], name: str = "x") -> str:
    """Return the text of a term; it also serves as a sorting key that does not depend on hashes."""
    parts = []
    for atom in term:
        clauses = atom.clauses(name)
        parts.append(clauses[0] if len(clauses) == 1 else f"({' or '.join(clauses)})")
    return " and ".join(sorted(parts))


def _terms(constraint: Constraint) -> tuple[Term, ...]:
    """Return the terms of a mixture; a constraint of one kind is a single term."""
    return constraint.alternatives() or (frozenset((constraint,)),)


def _term_covers(a: Term, b: Term) -> bool:
    """Return whether each constraint of a covers one constraint of b, so that a covers b."""
    return all(any(x.covers(y) for y in b) for x in a)


def conjunction(constraints: Iterable[Constraint]) -> Constraint:
    """Return one constraint for the values that satisfy all constraints.

    Raises EmptyConstraintError if no value satisfies all, FilterError if there are too many.

    >>> from posetlib.constraints import Numbers
    >>> conjunction([Numbers.interval(0, 5), Numbers.interval(3, 9)])
    <Numbers: _ in [3, 5]>
    """
    groups: dict[type[Constraint], list[Constraint]] = {}
    for constraint in constraints:
        groups.setdefault(type(constraint), []).append(constraint)
    joined = []
    for kind, members in groups.items():
        intersect_many: _JoinMany | None = getattr(kind, "intersection", None)
        joined += members if intersect_many is None else [intersect_many(members)]
    if len(joined) > _MAX_ALTERNATIVES:
        raise FilterError(f"at most {_MAX_ALTERNATIVES} conditions of several kinds together")
    return reduce(_both, joined)


def _both(a: Constraint, b: Constraint) -> Constraint:
    """Return the conjunction of two constraints."""
    if not isinstance(a, Mixture) and not isinstance(b, Mixture):
        single = a.intersect(b)
        if single is not None:
            return single
    if len(_terms(a)) * len(_terms(b)) > _MAX_ALTERNATIVES:
        raise FilterError(f"at most {_MAX_ALTERNATIVES} alternatives of several kinds")
    joined = [_simplified_term(x | y) for x in _terms(a) for y in _terms(b)]
    terms = [term for term in joined if term is not None]
    if not terms:
        raise EmptyConstraintError("no value satisfies both")
    return _from_terms(terms)


def _simplified_term(atoms: Iterable[Constraint]) -> Term | None:
    """Return the atoms as a term, two atoms replaced by their intersection where it is one atom.

    None if no value satisfies all atoms.
    """
    simplified: list[Constraint] = []
    for atom in sorted(atoms, key=lambda atom: text_of(atom, "x")):
        for index, present in enumerate(simplified):
            try:
                single = present.intersect(atom)
            except EmptyConstraintError:
                return None
            if single is not None:
                simplified[index] = single
                break
        else:
            simplified.append(atom)
    return frozenset(simplified)


def disjunction(constraints: Iterable[Constraint]) -> Constraint:
    """Return one constraint for the values that satisfy at least one constraint.

    Raises FilterError if two constraints are of different domains, or if there are too many.

    >>> from posetlib.constraints import Numbers
    >>> disjunction([Numbers.interval(0, 5), Numbers.interval(3, 9)])
    <Numbers: _ in [0, 9]>
    """
    groups: dict[type[Constraint], list[Constraint]] = {}
    for constraint in constraints:
        groups.setdefault(type(constraint), []).append(constraint)
    if Exists in groups and not any(
        each.matches_absence() for members in groups.values() for each in members
    ):
        return EXISTS
    unions = [_union(kind, members) for kind, members in groups.items()]
    joined = [constraint for union in unions for constraint in union]
    for index, first in enumerate(joined):
        for second in joined[index + 1 :]:
            if first.domain and second.domain and first.domain != second.domain:
                raise FilterError(
                    f"mixed types: a {first.domain} and a {second.domain} constraint on one "
                    "attribute cannot be alternatives"
                )
    return _from_terms([term for constraint in joined for term in _terms(constraint)])


def _union(kind: type[Constraint], members: list[Constraint]) -> list[Constraint]:
    """Return the union of constraints of one kind, as few constraints as `merge` can make."""
    unite_many: _JoinMany | None = getattr(kind, "union", None)
    if unite_many is not None:
        return [unite_many(members)]
    if kind is Mixture:
        return members
    if len(members) > _MAX_ALTERNATIVES:
        members = list(dict.fromkeys(members))
        if len(members) > _MAX_ALTERNATIVES:
            raise FilterError(f"at most {_MAX_ALTERNATIVES} alternatives of one kind")
    return _merged(members)


def _merged(constraints: Iterable[Constraint]) -> list[Constraint]:
    """Return the constraints, each merged into an earlier one if they have an exact union."""
    merged: list[Constraint] = []
    for constraint in constraints:
        for index, present in enumerate(merged):
            single = present.merge(constraint)
            if single is not None:
                merged[index] = single
                break
        else:
            merged.append(constraint)
    return merged


def _from_terms(terms: list[Term]) -> Constraint:
    """Return the terms as one constraint, without terms that another term covers."""
    if len(terms) > _MAX_ALTERNATIVES:
        raise FilterError(f"at most {_MAX_ALTERNATIVES} alternatives of several kinds")
    one_atom_terms = [term for term in terms if len(term) == 1]
    if len(one_atom_terms) > 1:
        atoms = [next(iter(term)) for term in one_atom_terms]
        merged = _merged(sorted(atoms, key=lambda atom: text_of(atom, "x")))
        terms = [frozenset((atom,)) for atom in merged] + [t for t in terms if len(t) > 1]
    widest: list[Term] = []
    for term in sorted(set(terms), key=_term_text):
        if not any(_term_covers(other, term) for other in widest):
            widest = [other for other in widest if not _term_covers(term, other)] + [term]
    if len(widest) == 1 and len(widest[0]) == 1:
        return next(iter(widest[0]))
    return Mixture(widest)


def _read_mixture(data: dict[str, Any]) -> Constraint:
    terms = [list(members) for members in data["any"]]
    if any(member.get("kind") == Mixture.kind for members in terms for member in members):
        raise FilterError("a mixture does not nest in another")
    return disjunction([conjunction(map(constraint_from_dict, members)) for members in terms])


register_kind(Mixture.kind, _read_mixture)

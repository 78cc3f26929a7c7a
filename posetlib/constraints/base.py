"""What a constraint on one attribute is, and the two that know no domain: existence and mixtures.

A constraint stands for a set of values. A new kind is a subclass of Constraint with `matches`,
`covers`, `overlaps` and `merge`; nothing else in the library needs to know of it. For an `other` of
a kind that it does not know it calls the method of this base class, which answers soundly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar, Final, TypeAlias, final

from posetlib.errors import FilterError
from posetlib.values import MISSING, describe, shortened, value_text

__all__ = [
    "EXISTS",
    "Constraint",
    "EmptyConstraintError",
    "Exists",
    "Mixture",
    "conjunction",
    "constraint_from_dict",
    "disjunction",
    "register_kind",
    "text_of",
]

_MAX_ALTERNATIVES: Final = 64


class EmptyConstraintError(FilterError):
    """No value satisfies the constraint, so that its filter would match nothing."""


class Constraint(ABC):
    """A set of values of one attribute, never empty; immutable, hashable, canonical when built."""

    __slots__ = ()

    #: The domain of the values that can satisfy it: "number", "string", "bool", "set", or None
    #: where that is not known.
    domain: ClassVar[str | None] = None
    #: The name of the kind in dictionaries, for kinds that are registered to be read from them.
    kind: ClassVar[str] = ""

    @abstractmethod
    def matches(self, value: Any) -> bool:
        """Return whether the value is in the set; a value of another domain is not."""

    def matches_in(self, value: Any, notification: Mapping[str, Any]) -> bool:
        """Return whether the value is in the set that the notification's other values define."""
        return self.matches(value)

    @abstractmethod
    def clauses(self, name: str) -> tuple[str, ...]:
        """Return the text of the constraint on attribute `name`: alternatives to join by "or"."""

    # -- comparing: the base answers for every pair of kinds that nobody knows more about ----------

    def covers(self, other: Constraint) -> bool:
        """Return whether every value of `other` is one of ours; False where that is not known."""
        if isinstance(other, Mixture):
            return all(any(self.covers(atom) for atom in term) for term in other.terms)
        return self == other or (self.is_whole_domain() and self.domain == other.domain)

    def overlaps(self, other: Constraint) -> bool:
        """Return whether some value is in both sets; True where that is not known."""
        if isinstance(other, Mixture):
            return any(all(self.overlaps(atom) for atom in term) for term in other.terms)
        return self.domain == other.domain or self.domain is None or other.domain is None

    def merge(self, other: Constraint) -> Constraint | None:
        """Return exactly the union of both sets as one constraint, or None."""
        if self.covers(other):
            return self
        return other if other.covers(self) else None

    def intersect(self, other: Constraint) -> Constraint | None:
        """Return exactly what both sets share as one constraint, or None if it takes two.

        EmptyConstraintError when they share nothing.
        """
        if not self.overlaps(other) or not other.overlaps(self):
            raise EmptyConstraintError("no value satisfies both")
        if self.covers(other):
            return other
        return self if other.covers(self) else None

    def hull(self, other: Constraint) -> Constraint | None:
        """Return a simple constraint that covers both, for imperfect merging, or None."""
        return self.merge(other)

    def is_canonical(self) -> bool:
        """Return whether no unequal constraint means the same, so that equality tells equivalence.

        Tables then look for an equal filter only, and save the search for an equivalent one.
        """
        return False

    # -- what makes answers friendlier; a kind may leave these as they are -------------------------

    def is_whole_domain(self) -> bool:
        """Return whether every value of the domain satisfies the constraint."""
        return False

    def example(self) -> Any:
        """Return a value that satisfies the constraint, or MISSING if none is known."""
        return MISSING

    def example_outside(self, other: Constraint) -> Any:
        """Return a value of ours that is not one of `other`, or MISSING if none is known."""
        value = self.example()
        return MISSING if value is MISSING or other.matches(value) else value

    def share(self, domain: Any) -> Fraction | None:
        """Return the share of a domain's values that satisfy the constraint, or None if unknown.

        A domain is a collection of values, each as likely as the others; some kinds know more.
        """
        values = _collection(domain)
        return Fraction(sum(map(self.matches, values)), len(values)) if values else None

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able form with the `kind` that reads it back; see register_constraint."""
        raise FilterError(f"constraints of {type(self).__name__} have no dictionary form")

    def key(self) -> Any:
        """Return what equals the key of another constraint just when the constraints are equal."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {text_of(self, '_')}>"


def _collection(domain: Any) -> list[Any]:
    if isinstance(domain, str | bytes) or not isinstance(domain, Iterable):
        raise FilterError(f"a domain is a pair (low, high) or a collection, not {describe(domain)}")
    return list(domain)


def text_of(constraint: Constraint, name: str) -> str:
    """Return a constraint as it is written in a filter."""
    return " or ".join(constraint.clauses(name))


@final
class Exists(Constraint):
    """The attribute is there, whatever its value; covers every constraint on it."""

    __slots__ = ()
    kind = "exists"

    def matches(self, value: Any) -> bool:
        return True

    def covers(self, other: Constraint) -> bool:
        return True

    def overlaps(self, other: Constraint) -> bool:
        return True

    def is_canonical(self) -> bool:
        return True

    def clauses(self, name: str) -> tuple[str, ...]:
        return (f"exists {name}",)

    def example(self) -> Any:
        return 0

    def example_outside(self, other: Constraint) -> Any:
        # A value of another domain than the one that `other` is about.
        trials: tuple[Any, ...] = (0, "", True, [], None)
        for value in trials:
            if not other.matches(value):
                return value
        return MISSING

    def share(self, domain: Any) -> Fraction | None:
        return Fraction(1)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exists)

    def __hash__(self) -> int:
        return hash(Exists)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Exists, ())


EXISTS: Final = Exists()

Term: TypeAlias = frozenset[Constraint]
# Kinds that may come in thousands fold many members at once: `union` and `intersection`.
_Batch: TypeAlias = Callable[[list[Constraint]], Constraint]


@final
class Mixture(Constraint):
    """Constraints of several kinds on one attribute: alternatives, each a few that all must hold.

    Made only where no single constraint says the same. Compared alternative by alternative, each
    by single members [T, Thm A.1]: sound, reflexive and transitive, but not complete.
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

    def covers(self, other: Constraint) -> bool:
        return all(any(_term_covers(a, b) for a in self.terms) for b in _terms(other))

    def overlaps(self, other: Constraint) -> bool:
        return any(
            all(x.overlaps(y) for x in a for y in b) for a in self.terms for b in _terms(other)
        )

    def merge(self, other: Constraint) -> Constraint | None:
        try:
            return disjunction([self, other])
        except FilterError:  # of two domains, or too many alternatives
            return None

    def intersect(self, other: Constraint) -> Constraint | None:
        return conjunction([self, other])

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
    parts = []
    for atom in term:
        clauses = atom.clauses(name)
        parts.append(clauses[0] if len(clauses) == 1 else f"({' or '.join(clauses)})")
    return " and ".join(sorted(parts))


def _terms(constraint: Constraint) -> tuple[Term, ...]:
    if isinstance(constraint, Mixture):
        return constraint.terms
    return (frozenset((constraint,)),)


def _term_covers(a: Term, b: Term) -> bool:
    return all(any(x.covers(y) for y in b) for x in a)


def conjunction(constraints: Iterable[Constraint]) -> Constraint:
    """Return one constraint for the values that satisfy all of them.

    EmptyConstraintError if there are none.
    """
    groups: dict[type[Constraint], list[Constraint]] = {}
    for constraint in constraints:
        groups.setdefault(type(constraint), []).append(constraint)
    folded = []
    for kind, members in groups.items():
        batch: _Batch | None = getattr(kind, "intersection", None)
        folded += members if batch is None else [batch(members)]
    if len(folded) > _MAX_ALTERNATIVES:
        raise FilterError(f"at most {_MAX_ALTERNATIVES} conditions of several kinds together")
    return reduce(_both, folded)


def _both(a: Constraint, b: Constraint) -> Constraint:
    if not isinstance(a, Mixture) and not isinstance(b, Mixture):
        single = a.intersect(b)
        if single is not None:
            return single
    if len(_terms(a)) * len(_terms(b)) > _MAX_ALTERNATIVES:
        raise FilterError(f"at most {_MAX_ALTERNATIVES} alternatives of several kinds")
    folded = [_fold(x | y) for x in _terms(a) for y in _terms(b)]
    terms = [term for term in folded if term is not None]
    if not terms:
        raise EmptyConstraintError("no value satisfies both")
    return _from_terms(terms)


def _fold(atoms: Iterable[Constraint]) -> Term | None:
    """Return the atoms with every pair that can be one constraint made one; None if empty."""
    folded: list[Constraint] = []
    for atom in sorted(atoms, key=lambda atom: text_of(atom, "x")):
        for index, present in enumerate(folded):
            try:
                single = present.intersect(atom)
            except EmptyConstraintError:
                return None
            if single is not None:
                folded[index] = single
                break
        else:
            folded.append(atom)
    return frozenset(folded)


def disjunction(constraints: Iterable[Constraint]) -> Constraint:
    """Return one constraint for the values that satisfy any of them.

    FilterError for constraints of two domains: they do not mix in one attribute.
    """
    groups: dict[type[Constraint], list[Constraint]] = {}
    for constraint in constraints:
        groups.setdefault(type(constraint), []).append(constraint)
    if Exists in groups:
        return EXISTS
    merged = [_union(kind, members) for kind, members in groups.items()]
    flat = [constraint for group in merged for constraint in group]
    for index, first in enumerate(flat):
        for second in flat[index + 1 :]:
            if first.domain and second.domain and first.domain != second.domain:
                raise FilterError(
                    f"mixed types: a {first.domain} and a {second.domain} constraint on one "
                    "attribute cannot be alternatives"
                )
    return _from_terms([term for constraint in flat for term in _terms(constraint)])


def _union(kind: type[Constraint], members: list[Constraint]) -> list[Constraint]:
    """Return the members of one kind, as few as `merge` makes them."""
    batch: _Batch | None = getattr(kind, "union", None)
    if batch is not None:
        return [batch(members)]
    if kind is Mixture:
        return members
    if len(members) > _MAX_ALTERNATIVES:
        members = list(dict.fromkeys(members))
        if len(members) > _MAX_ALTERNATIVES:
            raise FilterError(f"at most {_MAX_ALTERNATIVES} alternatives of one kind")
    return _merge_each(members)


def _merge_each(constraints: Iterable[Constraint]) -> list[Constraint]:
    """Return the constraints with each merged into an earlier one where that is exact."""
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
    """Return the alternatives as one constraint: those that another covers are left out."""
    if len(terms) > _MAX_ALTERNATIVES:
        raise FilterError(f"at most {_MAX_ALTERNATIVES} alternatives of several kinds")
    singles = [term for term in terms if len(term) == 1]
    if len(singles) > 1:
        atoms = [next(iter(term)) for term in singles]
        merged = _merge_each(sorted(atoms, key=lambda atom: text_of(atom, "x")))
        terms = [frozenset((one,)) for one in merged] + [t for t in terms if len(t) > 1]
    kept: list[Term] = []
    for term in sorted(set(terms), key=_term_text):
        if not any(_term_covers(other, term) for other in kept):
            kept = [other for other in kept if not _term_covers(term, other)] + [term]
    if len(kept) == 1 and len(kept[0]) == 1:
        return next(iter(kept[0]))
    return Mixture(kept)


_READERS: dict[str, Callable[[dict[str, Any]], Constraint]] = {}


def register_kind(kind: str, read: Callable[[dict[str, Any]], Constraint]) -> None:
    """Let dictionaries with this `kind` be read by `read`."""
    _READERS[kind] = read


def constraint_from_dict(data: Any) -> Constraint:
    """Return the constraint that a dictionary describes, or raise FilterError."""
    if not isinstance(data, Mapping) or not isinstance(data.get("kind"), str):
        raise FilterError(f"a constraint is a dictionary with a 'kind', not {shortened(data)}")
    read = _READERS.get(data["kind"])
    if read is None:
        raise FilterError(
            f"unknown kind of constraint {value_text(data['kind'])}; known are "
            + ", ".join(sorted(_READERS))
        )
    try:
        return read(dict(data))
    except FilterError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise FilterError(f"malformed {data['kind']} constraint: {error!r}") from error


def _read_mixture(data: dict[str, Any]) -> Constraint:
    terms = [list(members) for members in data["any"]]
    if any(member.get("kind") == Mixture.kind for members in terms for member in members):
        raise FilterError("a mixture does not nest in another")
    return disjunction([conjunction(map(constraint_from_dict, members)) for members in terms])


register_kind(Exists.kind, lambda _: EXISTS)
register_kind(Mixture.kind, _read_mixture)

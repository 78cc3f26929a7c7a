"""Complements: whatever does not satisfy a constraint, a notification without the attribute too.

``absent x`` is the complement of ``exists x``, and ``not (x > 3)`` that of ``x > 3``: strings
satisfy it, and notifications without x. So ``x <= 3``, which wants a number, is narrower.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, Final, final

from posetlib.constraints import intervals
from posetlib.constraints.base import (
    EXISTS,
    Constraint,
    Exists,
    constraint_from_dict,
    register_kind,
    text_of,
)
from posetlib.constraints.extents import (
    ANYWHERE_OR_ABSENT,
    LINES,
    Answer,
    Extent,
    Piece,
)
from posetlib.constraints.mixtures import conjunction, disjunction
from posetlib.constraints.multivalues import MultiValues
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.values import MISSING

__all__ = ["ABSENT", "Complement", "complement_of"]


@final
class Complement(Constraint):
    """All values that do not satisfy a constraint, and the absence of the attribute.

    Covering and overlap follow from those of the constraint that is denied: ``not a`` covers
    ``not b`` if b covers a, and covers b if a and b do not overlap. So these answers are as exact
    as those of the denied constraints.

    >>> from posetlib.constraints import Numbers
    >>> small = complement_of(Numbers.interval(4, None))
    >>> small.matches(3), small.matches("a"), small.matches_absence()
    (True, True, True)
    >>> small.covers(Numbers.interval(0, 2)), small.covers(ABSENT)
    (True, True)
    """

    __slots__ = ("_denied",)
    kind = "not"

    _denied: Constraint

    def __init__(self, denied: Constraint) -> None:
        if denied.denied() is not None or denied.alternatives() is not None:
            raise FilterError("the complement of such a constraint is made by complement_of")
        self._denied = denied

    def denied(self) -> Constraint:
        return self._denied

    # -- meaning -----------------------------------------------------------------------------------

    def matches(self, value: Any) -> bool:
        return not self._denied.matches(value)

    def matches_in(self, value: Any, notification: Mapping[str, Any]) -> bool:
        return not self._denied.matches_in(value, notification)

    def matches_absence(self) -> bool:
        return True

    def covers(self, other: Constraint) -> bool:
        theirs = other.denied()
        if theirs is not None:
            return theirs.covers(self._denied)
        if other.alternatives() is not None:
            return Constraint.covers(self, other)
        return not self._denied.overlaps(other)

    def overlaps(self, other: Constraint) -> bool:
        if other.matches_absence():
            return True
        if other.alternatives() is not None:
            return Constraint.overlaps(self, other)
        return not self._denied.covers(other)

    def merge(self, other: Constraint) -> Constraint | None:
        if other.alternatives() is not None:
            return other.merge(self)
        if self.covers(other):
            return self
        if other.covers(self):
            return other
        theirs = other.denied()
        try:
            if theirs is None:
                left = self._denied.intersect(Complement(other))
            else:
                left = self._denied.intersect(theirs)
        except EmptyConstraintError:
            return None  # everything satisfies one of the two; no constraint says that
        return None if left is None else complement_of(left)

    def intersect(self, other: Constraint) -> Constraint | None:
        if other.alternatives() is not None:
            return conjunction([self, other])
        if not self.overlaps(other):
            raise EmptyConstraintError("no value satisfies both")
        if self.covers(other):
            return other
        if other.covers(self):
            return self
        theirs = other.denied()
        if theirs is not None:
            both = self._denied.merge(theirs)
            return None if both is None else complement_of(both)
        return _without(other, self._denied)

    # -- facts for indexes and examples ------------------------------------------------------------

    def extent(self) -> Extent:
        extent = self._denied.extent()
        if not extent.is_sure:
            return ANYWHERE_OR_ABSENT
        numbers, strings = (
            tuple(
                Piece(low, high, True)
                for low, high in intervals.complement(
                    intervals.normal((piece.low, piece.high) for piece in pieces), *line
                )
            )
            for pieces, line in zip((extent.numbers, extent.strings), LINES, strict=True)
        )
        for_false, for_true = map(_opposite, extent.booleans)
        return Extent(numbers, strings, (for_false, for_true), _opposite(extent.others), Answer.YES)

    def references(self) -> tuple[str, ...]:
        return self._denied.references()

    def subtypes(self) -> Iterable[tuple[str, frozenset[str]]]:
        return self._denied.subtypes()

    def example(self) -> Any:
        return MISSING  # a notification without the attribute

    def example_outside(self, other: Constraint) -> Any:
        theirs = other.denied()
        return MISSING if theirs is None else theirs.example_outside(self._denied)

    # -- text and dictionaries ---------------------------------------------------------------------

    def clauses(self, name: str) -> tuple[str, ...]:
        if isinstance(self._denied, Exists):
            return (f"absent {name}",)
        return (f"not ({text_of(self._denied, name)})",)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "denied": self._denied.to_dict()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Complement) and self._denied == other._denied

    def __hash__(self) -> int:
        return hash((Complement, self._denied))

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Complement, (self._denied,))


def _opposite(answer: Answer) -> Answer:
    return Answer(Answer.YES - answer)


def _without(constraint: Constraint, denied: Constraint) -> Constraint | None:
    """Return the values of a constraint without those of another one, None if none says that."""
    if isinstance(constraint, MultiValues) and isinstance(denied, MultiValues):
        return constraint.without(denied)
    complement = getattr(denied, "complement", None)
    if complement is None or type(constraint) is not type(denied):
        return None
    try:
        rest: Constraint = complement()
    except EmptyConstraintError:
        raise
    except FilterError:  # too complex
        return None
    return constraint.intersect(rest)


def complement_of(constraint: Constraint) -> Constraint:
    """Return all that does not satisfy a constraint, absence of the attribute included.

    Raises FilterError if the constraint is a mixture whose complement has too many alternatives.

    >>> complement_of(EXISTS)
    <Complement: absent _>
    >>> complement_of(complement_of(EXISTS))
    <Exists: exists _>
    """
    denied = constraint.denied()
    if denied is not None:
        return denied
    alternatives = constraint.alternatives()
    if alternatives is None:
        return Complement(constraint)
    # De Morgan: an atom of each term fails.
    failing = [_some_fails(term) for term in alternatives]
    return reduce(lambda one, other: conjunction([one, other]), failing)


def _some_fails(term: Iterable[Constraint]) -> Constraint:
    atoms = sorted(term, key=lambda atom: text_of(atom, "x"))
    return disjunction([complement_of(atom) for atom in atoms])


register_kind(Complement.kind, lambda data: complement_of(constraint_from_dict(data["denied"])))

#: Satisfied by notifications without the attribute, and by no value.
ABSENT: Final = Complement(EXISTS)

"""Constraints that compare an attribute with another one of the same notification [T, A.1].

How two simple values of one domain relate is one of four things: less, equal, greater or, where
the domain has no order, different. A placeholder constraint is a set of these for one named
attribute; two of them compare only when they name the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from posetlib.constraints.base import Constraint, EmptyConstraintError, register_kind
from posetlib.errors import FilterError
from posetlib.names import check_name, name_text
from posetlib.values import MISSING, domain_of, exact, lookup

__all__ = ["Placeholder", "relation_between"]

_MEANINGS: Final[dict[str, frozenset[str]]] = {
    "=": frozenset({"="}),
    "!=": frozenset({"<", ">", "#"}),
    "<": frozenset({"<"}),
    "<=": frozenset({"<", "="}),
    ">": frozenset({">"}),
    ">=": frozenset({">", "="}),
}
# Larger meanings first, so that a set is written with as few operators as it takes.
_SPELLING: Final = ("!=", "<=", ">=", "=", "<", ">")


def relation_between(value: Any, reference: Any) -> str | None:
    """Return "<", "=", ">" or "#" (different, without an order), or None if they do not compare.

    >>> relation_between(1, 2.5), relation_between("b", "a"), relation_between(True, False)
    ('<', '>', '#')
    """
    domain = domain_of(value)
    if domain is None or domain == "set" or domain != domain_of(reference):
        return None
    if domain == "bool":
        return "=" if bool(value) == bool(reference) else "#"
    if domain == "number":
        value, reference = exact(value), exact(reference)
    if value == reference:
        return "="
    return "<" if value < reference else ">"


@final
class Placeholder(Constraint):
    """The value relates in one of some ways to that of another attribute.

    >>> below = Placeholder("limit", "<")
    >>> below.matches_in(3, {"limit": 5}), Placeholder("limit", "<=").covers(below)
    (True, True)
    """

    __slots__ = ("attribute", "relations")
    kind = "placeholder"

    attribute: str
    relations: frozenset[str]

    def __init__(self, attribute: str, *operators: str) -> None:
        unknown = set(operators) - set(_MEANINGS)
        if unknown or not operators:
            raise FilterError(
                f"a placeholder compares with one of {', '.join(_MEANINGS)}, "
                f"not {', '.join(sorted(unknown)) or 'nothing'}"
            )
        self.attribute = check_name(attribute)
        self.relations = frozenset().union(*(_MEANINGS[operator] for operator in operators))

    @classmethod
    def _of(cls, attribute: str, relations: frozenset[str]) -> Placeholder:
        if not relations:
            raise EmptyConstraintError(f"nothing relates to {attribute} in both ways")
        made = cls.__new__(cls)
        made.attribute = attribute
        made.relations = relations
        return made

    def matches(self, value: Any) -> bool:
        return False  # alone, without the notification, there is nothing to compare with

    def matches_in(self, value: Any, notification: Mapping[str, Any]) -> bool:
        reference = lookup(notification, self.attribute)
        if reference is MISSING:
            return False
        return relation_between(value, reference) in self.relations

    def _same(self, other: Constraint) -> Placeholder | None:
        if isinstance(other, Placeholder) and other.attribute == self.attribute:
            return other
        return None

    def covers(self, other: Constraint) -> bool:
        same = self._same(other)
        if same is not None:
            return self.relations >= same.relations
        return Constraint.covers(self, other)

    def overlaps(self, other: Constraint) -> bool:
        same = self._same(other)
        if same is not None:
            return not self.relations.isdisjoint(same.relations)
        return Constraint.overlaps(self, other)

    def merge(self, other: Constraint) -> Constraint | None:
        same = self._same(other)
        if same is not None:
            return Placeholder._of(self.attribute, self.relations | same.relations)
        return Constraint.merge(self, other)

    def intersect(self, other: Constraint) -> Constraint | None:
        same = self._same(other)
        if same is not None:
            return Placeholder._of(self.attribute, self.relations & same.relations)
        return Constraint.intersect(self, other)

    def operators(self) -> tuple[str, ...]:
        """Return the operators whose alternatives say the same."""
        left = set(self.relations)
        result = []
        for operator in _SPELLING:
            meaning = _MEANINGS[operator]
            if meaning <= self.relations and not left.isdisjoint(meaning):
                result.append(operator)
                left -= meaning
        return tuple(result)

    def clauses(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name} {op} ${name_text(self.attribute)}" for op in self.operators())

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "attribute": self.attribute,
            "operators": list(self.operators()),
        }

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Placeholder)
            and self.attribute == other.attribute
            and self.relations == other.relations
        )

    def __hash__(self) -> int:
        return hash((self.attribute, self.relations))

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Placeholder, (self.attribute, *self.operators()))


register_kind(Placeholder.kind, lambda data: Placeholder(data["attribute"], *data["operators"]))

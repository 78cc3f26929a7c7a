"""Constraints that compare an attribute with another attribute of the notification [T, A.1].

Two simple values of one domain have one of four relations: less "<", equal "=", greater ">", or
different "#" if the domain has no order (booleans). A placeholder constraint names the other
attribute and a set of allowed relations. Two placeholder constraints are compared by their
relations if they name the same attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from posetlib.constraints.base import Constraint, register_kind
from posetlib.constraints.tokens import Tokens
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.names import check_name, name_text
from posetlib.values import MISSING, domain_of, exact, lookup

__all__ = ["Placeholder", "relation_between"]

# For each operator, the relations that satisfy it.
_MEANINGS: Final[dict[str, frozenset[str]]] = {
    "=": frozenset({"="}),
    "!=": frozenset({"<", ">", "#"}),
    "<": frozenset({"<"}),
    "<=": frozenset({"<", "="}),
    ">": frozenset({">"}),
    ">=": frozenset({">", "="}),
}
# The order in which operators are tried to write a set of relations: those with more relations
# first, so that few operators are needed.
_WRITING_ORDER: Final = ("!=", "<=", ">=", "=", "<", ">")


def relation_between(value: Any, reference: Any) -> str | None:
    """Return the relation "<", "=", ">" or "#" of two values, None if they are not comparable.

    "#" means different values of a domain without an order.

    >>> relation_between(1, 2.5), relation_between("b", "a"), relation_between(True, False)
    ('<', '>', '#')
    """
    domain = domain_of(value)
    if domain in {None, "set", "document"} or domain != domain_of(reference):
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
    """The value has one of some relations to the value of another attribute.

    >>> below = Placeholder("limit", "<")
    >>> below.matches_in(3, {"limit": 5}), Placeholder("limit", "<=").covers(below)
    (True, True)
    """

    __slots__ = ("attribute", "relations")
    kind = "placeholder"

    #: The name of the other attribute.
    attribute: str
    #: The allowed relations of our value to its value.
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
    def _from_relations(cls, attribute: str, relations: frozenset[str]) -> Placeholder:
        """Return the constraint for a set of relations instead of operators."""
        if not relations:
            raise EmptyConstraintError(f"nothing relates to {attribute} in both ways")
        made = cls.__new__(cls)
        made.attribute = attribute
        made.relations = relations
        return made

    def matches(self, value: Any) -> bool:
        return False  # the value of the other attribute is not known here; see matches_in

    def matches_in(self, value: Any, notification: Mapping[str, Any]) -> bool:
        reference = lookup(notification, self.attribute)
        if reference is MISSING:
            return False
        return relation_between(value, reference) in self.relations

    def _on_same_attribute(self, other: Constraint) -> Placeholder | None:
        """Return `other` if it is a placeholder for the same attribute, else None."""
        if isinstance(other, Placeholder) and other.attribute == self.attribute:
            return other
        return None

    def covers(self, other: Constraint) -> bool:
        same = self._on_same_attribute(other)
        if same is not None:
            return self.relations >= same.relations
        return Constraint.covers(self, other)

    def overlaps(self, other: Constraint) -> bool:
        same = self._on_same_attribute(other)
        if same is not None:
            return not self.relations.isdisjoint(same.relations)
        return Constraint.overlaps(self, other)

    def merge(self, other: Constraint) -> Constraint | None:
        same = self._on_same_attribute(other)
        if same is not None:
            return Placeholder._from_relations(self.attribute, self.relations | same.relations)
        return Constraint.merge(self, other)

    def intersect(self, other: Constraint) -> Constraint | None:
        same = self._on_same_attribute(other)
        if same is not None:
            return Placeholder._from_relations(self.attribute, self.relations & same.relations)
        return Constraint.intersect(self, other)

    def references(self) -> tuple[str, ...]:
        return (self.attribute,)

    def tokens(self) -> tuple[Tokens, ...]:
        named: frozenset[Any] = frozenset({self.attribute})
        return (Tokens("named", False, named, named),)

    def contradicts_itself(self, name: str) -> bool:
        return self.attribute == name and "=" not in self.relations

    def operators(self) -> tuple[str, ...]:
        """Return operators that, joined by "or", allow exactly the relations of this constraint.

        >>> Placeholder("limit", "<", "=").operators()
        ('<=',)
        """
        unwritten = set(self.relations)
        result = []
        for operator in _WRITING_ORDER:
            meaning = _MEANINGS[operator]
            if meaning <= self.relations and not unwritten.isdisjoint(meaning):
                result.append(operator)
                unwritten -= meaning
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

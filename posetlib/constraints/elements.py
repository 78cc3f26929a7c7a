"""The constraint that an element of a set satisfies a constraint: ``t some > 3``.

It says of lists and sets in notifications what ``overlaps`` says, with any simple constraint in the
place of a few listed elements. ``t some not (> 3)`` wants an element that is anything else.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final, final

from posetlib.constraints.addresses import Addresses
from posetlib.constraints.base import Constraint, constraint_from_dict, register_kind
from posetlib.constraints.booleans import Booleans
from posetlib.constraints.extents import Answer, Extent
from posetlib.constraints.multivalues import MultiValues
from posetlib.constraints.nulls import Null
from posetlib.constraints.numbers import Numbers
from posetlib.constraints.strings import Strings
from posetlib.errors import FilterError
from posetlib.values import MISSING, domain_of, element_value

__all__ = ["Some"]

# The kinds of constraints on elements, and those that may be denied of an element.
_ELEMENT_KINDS: Final = (Numbers, Strings, Booleans, Addresses, Null)
# Up to this many elements are compared one by one. No condition names more elements than these, so
# that beyond it there is always an element that satisfies the constraint and is not named.
_MAX_LISTED: Final = 20_000


@final
class Some(Constraint):
    """At least one element satisfies a constraint on simple values, or does not.

    Exact against its own kind, and against conditions that name elements: ``t some > 3`` covers
    ``t has 5``. The other way round, a condition that names elements covers this one only if the
    elements that satisfy it are finitely many, or the condition holds for every set.

    >>> large = Some(Numbers.interval(3))
    >>> large.matches([1, 5]), large.matches([1]), large.matches(5)
    (True, False, False)
    >>> large.covers(MultiValues.superset([1, 7])), large.covers(MultiValues.superset([1]))
    (True, False)
    """

    __slots__ = ("element",)
    domain = "set"
    kind = "some"
    knows_domain = True

    #: What one element satisfies.
    element: Constraint

    def __init__(self, element: Constraint) -> None:
        plain = element.denied() or element
        if not isinstance(plain, _ELEMENT_KINDS):
            raise FilterError("some element is a number, a string, a boolean or null")
        if isinstance(plain, Strings) and not plain.is_written_apart:
            raise FilterError("some element meets a single condition, not several joined by and")
        self.element = element

    def matches(self, value: Any) -> bool:
        if not isinstance(value, list | tuple | Set):
            return False
        if self.element.denied() is None:
            return any(map(self.element.matches, value))
        # A list or a record among the elements is no simple value.
        simple = (each for each in value if domain_of(each) not in ("set", "document"))
        return any(map(self.element.matches, simple))

    def covers(self, other: Constraint) -> bool:
        if isinstance(other, Some):
            return self.element.covers(other.element)
        if isinstance(other, MultiValues):
            # No set of the other one may lack all its named elements that satisfy the constraint:
            # an element that it does not name can always be one that does not.
            return not other.overlaps(MultiValues.disjoint(self._satisfying(other)))
        return Constraint.covers(self, other)

    def covered_by(self, other: Constraint) -> bool:
        if isinstance(other, MultiValues):
            listed = self._elements()
            if listed is not None:
                return other.covers(MultiValues.overlapping(listed))
        return Constraint.covered_by(self, other)

    def overlaps(self, other: Constraint) -> bool:
        if isinstance(other, Some):
            return True  # one element for each
        if isinstance(other, MultiValues):
            listed = self._elements()
            if listed is not None:
                return other.overlaps(MultiValues.overlapping(listed))
            named = [element_value(key) for key in other.named]
            if not MultiValues.subset(named).covers(other):
                return True  # one of the elements that are not named is such an element
            found = self._satisfying(other)
            return bool(found) and other.overlaps(MultiValues.overlapping(found))
        return Constraint.overlaps(self, other)

    def merge(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Some):
            both = self.element.merge(other.element)
            try:
                return None if both is None else Some(both)
            except FilterError:
                return None
        return Constraint.merge(self, other)

    def hull(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Some):
            both = self.element.hull(other.element)
            try:
                return None if both is None else Some(both)
            except FilterError:
                return None
        return Constraint.hull(self, other)

    def _satisfying(self, other: MultiValues) -> list[Any]:
        """Return the named elements of a condition that satisfy the constraint."""
        return list(filter(self.element.matches, map(element_value, other.named)))

    def _elements(self) -> list[Any] | None:
        """Return the elements that satisfy the constraint, None if they are not finitely many."""
        element = self.element
        if isinstance(element, Booleans):
            return sorted(element.values)
        if isinstance(element, Strings):
            return element.listed(_MAX_LISTED)
        return element.listed(_MAX_LISTED) if isinstance(element, Numbers) else None

    def extent(self) -> Extent:
        return Extent(others=Answer.MAYBE, tight=True)

    def example(self) -> Any:
        value = self.element.example()
        if value is not MISSING:
            return [value]
        # Of an element that is anything but something, one of another domain will do.
        return next(([other] for other in (0, "") if self.element.matches(other)), MISSING)

    def example_outside(self, other: Constraint) -> Any:
        if isinstance(other, Some):
            value = self.element.example_outside(other.element)
            return MISSING if value is MISSING else [value]
        return Constraint.example_outside(self, other)

    def clauses(self, name: str) -> tuple[str, ...]:
        denied = self.element.denied()
        if denied is None:
            return self.element.clauses(f"{name} some")
        return (f"{name} some not ({' or '.join(map(str.strip, denied.clauses('')))})",)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "element": self.element.to_dict()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Some) and self.element == other.element

    def __hash__(self) -> int:
        return hash((Some, self.element))

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Some, (self.element,))


def _read(data: dict[str, Any]) -> Constraint:
    return Some(constraint_from_dict(data["element"]))


register_kind(Some.kind, _read)

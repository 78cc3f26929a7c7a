"""Constraints on booleans: true, false, or either."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, final

import numpy as np

from posetlib.constraints.base import Constraint, register_kind
from posetlib.constraints.extents import Answer, Extent
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.values import MISSING

__all__ = ["ALL_BOOLEANS", "Booleans"]


@final
class Booleans(Constraint):
    """A set of booleans: true, false or both. The number 1 is not a boolean.

    >>> Booleans([True]).matches(1), Booleans([True]).matches(True)
    (False, True)
    """

    __slots__ = ("values",)
    domain = "bool"
    kind = "bool"

    values: frozenset[bool]

    def __init__(self, values: Iterable[bool]) -> None:
        self.values = frozenset(values)
        if not self.values:
            raise EmptyConstraintError("no boolean satisfies the constraint")
        if not all(isinstance(value, bool) for value in self.values):
            raise FilterError("a boolean is true or false")

    @classmethod
    def union(cls, members: Iterable[Booleans]) -> Booleans:
        """Return the booleans that satisfy at least one member."""
        return cls(value for member in members for value in member.values)

    def complement(self) -> Booleans:
        """Return the booleans that do not satisfy this constraint.

        >>> Booleans([True]).complement() == Booleans([False])
        True
        """
        return Booleans({True, False} - self.values)

    def matches(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_) and bool(value) in self.values

    def covers(self, other: Constraint) -> bool:
        if isinstance(other, Booleans):
            return self.values >= other.values
        return Constraint.covers(self, other)

    def overlaps(self, other: Constraint) -> bool:
        if isinstance(other, Booleans):
            return not self.values.isdisjoint(other.values)
        return Constraint.overlaps(self, other)

    def merge(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Booleans):
            return Booleans.union((self, other))
        return Constraint.merge(self, other)

    def intersect(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Booleans):
            return Booleans(self.values & other.values)
        return Constraint.intersect(self, other)

    def is_canonical(self) -> bool:
        return True

    @property
    def is_interval(self) -> bool:
        return True

    def extent(self) -> Extent:
        for_false, for_true = (
            Answer.YES if value in self.values else Answer.NO for value in (False, True)
        )
        return Extent(booleans=(for_false, for_true), tight=True, comparable=True)

    def is_whole_domain(self) -> bool:
        return len(self.values) == 2

    def example(self) -> Any:
        return max(self.values)

    def example_outside(self, other: Constraint) -> Any:
        outside = [value for value in self.values if not other.matches(value)]
        return max(outside) if outside else MISSING

    def clauses(self, name: str) -> tuple[str, ...]:
        if self.is_whole_domain():
            return (f"{name} is bool",)
        return (f"{name} = {'true' if True in self.values else 'false'}",)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": sorted(self.values)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Booleans) and self.values == other.values

    def __hash__(self) -> int:
        return hash((Booleans, self.values))

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Booleans, (sorted(self.values),))


register_kind(Booleans.kind, lambda data: Booleans(data["values"]))

#: Satisfied by true and by false.
ALL_BOOLEANS: Final = Booleans((True, False))

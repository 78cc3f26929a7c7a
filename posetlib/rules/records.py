"""The constraint that a nested record, or one in a list of them, satisfies an expression.

``staff holds "age > 30 and manager = true"`` wants one element that meets both conditions, where
dotted names would read single mappings only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, final

from posetlib.constraints.base import Constraint
from posetlib.errors import FilterError
from posetlib.expressions.expression import Expression
from posetlib.expressions.parsing import parse_expression
from posetlib.filters.parsing import register_constraint
from posetlib.values import value_text

__all__ = ["Holds"]

# How deep lists in lists are looked into.
_MAX_DEPTH: Final = 64


@final
class Holds(Constraint):
    """The value is a record that satisfies an expression, or a list with such a record in it.

    Records in lists of lists count, too. Covering and overlap are those of the expressions, except
    that two of these always overlap: a list may have a record for each.

    >>> anna = Holds('name = "Anna" and age > 30')
    >>> anna.matches([{"name": "Anna", "age": 20}, {"name": "Bo", "age": 40}])
    False
    >>> anna.matches([{"name": "Anna", "age": 40}]), anna.matches({"name": "Anna", "age": 40})
    (True, True)
    """

    __slots__ = ("expression",)
    kind = "holds"

    #: What the record satisfies.
    expression: Expression

    def __init__(self, expression: Expression | str) -> None:
        if isinstance(expression, str):
            expression = parse_expression(expression)
        if not isinstance(expression, Expression):
            raise FilterError(f"holds needs an expression in quotes, not {expression!r}")
        self.expression = expression

    def matches(self, value: Any) -> bool:
        return any(map(self.expression.matches, _records(value)))

    def covers(self, other: Constraint) -> bool:
        if isinstance(other, Holds):
            return self.expression.covers(other.expression)
        return Constraint.covers(self, other)

    def merge(self, other: Constraint) -> Constraint | None:
        merged = Constraint.merge(self, other)
        if merged is not None or not isinstance(other, Holds):
            return merged
        try:  # a record satisfies one of the two exactly if it satisfies either
            return Holds(self.expression | other.expression)
        except FilterError:
            return None

    def clauses(self, name: str) -> tuple[str, ...]:
        return (f"{name} {self.kind} {value_text(str(self.expression))}",)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "expression": self.expression.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Holds:
        """Return the constraint that ``to_dict`` wrote."""
        return cls(Expression.from_dict(data["expression"]))

    def subtypes(self) -> Iterator[tuple[str, frozenset[str]]]:
        for leaf in self.expression.leaves():
            yield from leaf.constraint.subtypes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Holds) and self.expression == other.expression

    def __hash__(self) -> int:
        return hash((Holds, self.expression))

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Holds, (self.expression,))


def _records(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a record, or all records in a list."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        lists: list[Any] = []
        for each in level:
            if isinstance(each, Mapping):
                yield each
            elif isinstance(each, list | tuple):
                lists += each
        if not lists:
            return
        level = lists


register_constraint(Holds.kind, Holds)

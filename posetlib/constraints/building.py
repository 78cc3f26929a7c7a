"""The constraint that a comparison with plain values means, chosen by the type of the values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from posetlib.constraints.base import Constraint, EmptyConstraintError
from posetlib.constraints.booleans import Booleans
from posetlib.constraints.numbers import ALL_NUMBERS, Numbers
from posetlib.constraints.strings import ALL_STRINGS, Strings
from posetlib.errors import FilterError
from posetlib.values import describe, domain_of

__all__ = ["between", "compared", "negated", "not_between", "one_of"]


def one_of(values: Iterable[Any]) -> Numbers | Strings | Booleans:
    """Return the constraint to be one of some simple values of one type.

    >>> one_of(["a", "b"]).matches("b")
    True
    """
    kept = list(values)
    if not kept:
        raise EmptyConstraintError("no value is in the empty set")
    domain = _common_domain(kept)
    if domain == "string":
        return Strings.points(kept)
    if domain == "bool":
        return Booleans(map(bool, kept))
    return Numbers.points(kept)


def between(
    low: Any, high: Any, *, low_open: bool = False, high_open: bool = False
) -> Numbers | Strings:
    """Return the constraint to lie between two numbers or two strings; None is without limit."""
    domain = _common_domain([end for end in (low, high) if end is not None])
    if domain == "bool":
        raise FilterError("booleans have no order: a range is of numbers or strings")
    kind = Strings if domain == "string" else Numbers
    return kind.interval(low, high, low_open=low_open, high_open=high_open)


def not_between(
    low: Any, high: Any, *, low_open: bool = False, high_open: bool = False
) -> Constraint:
    """Return the constraint to lie outside a range; all values do if the range is empty."""
    try:
        return negated(between(low, high, low_open=low_open, high_open=high_open))
    except EmptyConstraintError:
        if low < high:
            raise
        return ALL_STRINGS if _common_domain([low, high]) == "string" else ALL_NUMBERS


def compared(operator: str, value: Any) -> Constraint:
    """Return the constraint for one of = != < <= > >= and a simple value."""
    if operator in ("=", "!="):
        equal = one_of([value])
        return equal if operator == "=" else equal.complement()
    if operator[0] == "<":
        return between(None, value, high_open=operator == "<")
    return between(value, None, low_open=operator == ">")


def negated(constraint: Constraint) -> Constraint:
    """Return the other values of the same domain."""
    if isinstance(constraint, Numbers | Strings | Booleans):
        return constraint.complement()
    raise FilterError("this kind of constraint cannot be negated")


def _common_domain(values: Sequence[Any]) -> str:
    first = _simple_domain(values[0])
    for value in values:
        if _simple_domain(value) != first:
            raise FilterError(
                f"mixed types: {describe(values[0])} and {describe(value)} in one constraint"
            )
    return first


def _simple_domain(value: Any) -> str:
    if value.__class__ is str:
        return "string"
    if value.__class__ is float or value.__class__ is int:
        return "number"  # NaN is left to be refused with its own message
    domain = domain_of(value)
    if domain is None and isinstance(value, float) and value != value:
        return "number"
    if domain is None or domain == "set":
        raise FilterError(f"{describe(value)} is not a simple value: bool, number or string")
    return domain

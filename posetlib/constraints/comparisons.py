"""Make the constraint for a comparison such as ``= 5`` or ``in [2, 8]``.

The type of the compared values (number, string or boolean) decides the kind of constraint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from posetlib.constraints.base import Constraint
from posetlib.constraints.booleans import Booleans
from posetlib.constraints.numbers import ALL_NUMBERS, Numbers
from posetlib.constraints.strings import ALL_STRINGS, Strings
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.values import describe, domain_of

__all__ = ["between", "compared", "negated", "not_between", "one_of"]


def one_of(values: Iterable[Any]) -> Numbers | Strings | Booleans:
    """Return the constraint that a value equals one of `values`, which are all of one type.

    >>> one_of(["a", "b"]).matches("b")
    True
    """
    allowed = list(values)
    if not allowed:
        raise EmptyConstraintError("no value is in the empty set")
    domain = _common_domain(allowed)
    if domain == "string":
        return Strings.points(allowed)
    if domain == "bool":
        return Booleans(map(bool, allowed))
    return Numbers.points(allowed)


def between(
    low: Any, high: Any, *, low_open: bool = False, high_open: bool = False
) -> Numbers | Strings:
    """Return the constraint that a value lies between two numbers or two strings.

    An end of None means no limit on that side; at least one end must be given.

    >>> between(2, 5, high_open=True).matches(5)
    False
    """
    domain = _common_domain([end for end in (low, high) if end is not None])
    if domain == "bool":
        raise FilterError("booleans have no order: a range is of numbers or strings")
    kind = Strings if domain == "string" else Numbers
    return kind.interval(low, high, low_open=low_open, high_open=high_open)


def not_between(
    low: Any, high: Any, *, low_open: bool = False, high_open: bool = False
) -> Constraint:
    """Return the constraint that a value lies outside a range, but in the same domain.

    If the range is empty, all values of the domain lie outside.

    >>> not_between(2, 5).matches(6), not_between(5, 2).matches(3)
    (True, True)
    """
    try:
        return negated(between(low, high, low_open=low_open, high_open=high_open))
    except EmptyConstraintError:
        if low < high:  # the range is not empty: it is the complement that has no value
            raise
        return ALL_STRINGS if _common_domain([low, high]) == "string" else ALL_NUMBERS


def compared(operator: str, value: Any) -> Constraint:
    """Return the constraint for an operator (= != < <= > >=) and a simple value.

    >>> compared("<=", 5).matches(5)
    True
    """
    if operator in ("=", "!="):
        equal = one_of([value])
        return equal if operator == "=" else equal.complement()
    if operator[0] == "<":
        return between(None, value, high_open=operator == "<")
    return between(value, None, low_open=operator == ">")


def negated(constraint: Constraint) -> Constraint:
    """Return the constraint for all other values of the same domain, or raise FilterError."""
    if isinstance(constraint, Numbers | Strings | Booleans):
        return constraint.complement()
    raise FilterError("this kind of constraint cannot be negated")


def _common_domain(values: Sequence[Any]) -> str:
    """Return the domain that all values share, or raise FilterError."""
    first = _simple_domain(values[0])
    for value in values:
        if _simple_domain(value) != first:
            raise FilterError(
                f"mixed types: {describe(values[0])} and {describe(value)} in one constraint"
            )
    return first


def _simple_domain(value: Any) -> str:
    """Return "bool", "number" or "string", or raise FilterError for another value."""
    if value.__class__ is str:
        return "string"
    if value.__class__ is float or value.__class__ is int:
        return "number"  # NaN too: Numbers refuses NaN with a clearer message
    domain = domain_of(value)
    if domain is None and isinstance(value, float) and value != value:
        return "number"
    if domain in {None, "set", "document"}:
        raise FilterError(f"{describe(value)} is not a simple value: bool, number or string")
    return domain

"""What a notification may hold: domains of values, exact numbers, and how values are written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Set
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Final, TypeAlias

import numpy as np

from posetlib.errors import FilterError

__all__ = [
    "MISSING",
    "Number",
    "check_number",
    "check_string",
    "describe",
    "domain_of",
    "element_key",
    "element_value",
    "exact",
    "integral",
    "is_text",
    "lookup",
    "number_text",
    "shortened",
    "value_text",
]

Number: TypeAlias = int | float | Fraction

# Python refuses to print integers of more than 4,300 digits; a filter stays well below that.
_MAX_BITS: Final = 4096
_MAX_EXPONENT: Final = 5000
_EXACT_FLOAT_INTEGERS: Final = 2**53
_SHORT: Final = 80
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class _Missing:
    """The value of an attribute that is not there."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


def lookup(notification: Mapping[str, Any], name: str) -> Any:
    """Return the value of `name`, or MISSING; a dotted name also reads nested mappings.

    >>> lookup({"pos": {"x": 3}}, "pos.x"), lookup({"pos.x": 4}, "pos.x")
    (3, 4)
    """
    value = notification.get(name, MISSING)
    while value is MISSING and "." in name:
        head, _, name = name.partition(".")
        inner: Any = notification.get(head)
        if not isinstance(inner, Mapping):
            return MISSING
        notification = inner
        value = notification.get(name, MISSING)
    return value


def exact(value: object) -> Number | None:
    """Return `value` as a number that compares exactly with any other, or None for no number.

    Booleans are no numbers. NaN comes back as NaN: it compares false with everything.

    >>> exact(np.int64(3)), exact(Decimal("0.1")), exact(True), exact("3")
    (3, Fraction(1, 10), None, None)
    """
    kind = type(value)
    if kind is float or kind is int:
        return value  # type: ignore[return-value]
    if isinstance(value, bool | np.bool_ | str):
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Decimal):
        return _exact_decimal(value)
    if isinstance(value, Rational):
        return _simplest(Fraction(value))
    if isinstance(value, np.longdouble):
        return float(value) if not np.isfinite(value) else _simplest(_ratio(value))
    if isinstance(value, float | np.floating):
        return float(value)
    return float(value) if isinstance(value, Real) else None


def _ratio(value: np.longdouble) -> Fraction:
    return Fraction(*value.as_integer_ratio())


def _simplest(value: Fraction) -> Number:
    if value.denominator == 1:
        return value.numerator
    try:
        rounded = float(value)
    except OverflowError:
        return value
    return rounded if rounded == value else value


def _exact_decimal(value: Decimal) -> Number:
    if value.is_nan():
        return math.nan
    if value.is_infinite():
        return math.inf if value > 0 else -math.inf
    if abs(value.adjusted()) > _MAX_EXPONENT and value:
        # Such a number lies beyond, or nearer to zero than, every number of a filter; spelled out
        # it would fill the memory.
        size: Number = 10**_MAX_EXPONENT
        if value.adjusted() < 0:
            size = Fraction(1, 10**_MAX_EXPONENT)
        return size if value > 0 else -size
    return _simplest(Fraction(value))


def integral(value: Number) -> bool:
    """Return whether a number is an integer: 1.0 is, 4.5 and infinity are not."""
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def check_number(value: object) -> Number:
    """Return a number that a filter may hold, or raise FilterError."""
    number = exact(value)
    if number is None:
        raise FilterError(f"{describe(value)} is not a number")
    if number != number:
        raise FilterError("NaN cannot stand in a filter: it compares with nothing")
    if number in (math.inf, -math.inf):
        raise FilterError("infinity cannot stand in a filter: leave that side open instead")
    if isinstance(number, float):
        return int(number) if number.is_integer() else number
    parts = (number,) if isinstance(number, int) else (number.numerator, number.denominator)
    if max(part.bit_length() for part in parts) > _MAX_BITS:
        raise FilterError(f"a number of a filter has at most {_MAX_BITS} bits")
    return number


def is_text(value: str) -> bool:
    """Return whether a string is valid Unicode; one with half a surrogate pair only exists."""
    return value.isascii() or not _SURROGATE.search(value)


def check_string(value: str) -> str:
    """Return a string that a filter may hold, or raise FilterError."""
    if not is_text(value):
        raise FilterError("a string of a filter is valid Unicode: half a surrogate pair was given")
    return str(value)


def domain_of(value: object) -> str | None:
    """Return "bool", "number", "string" or "set", or None for a value that only exists.

    >>> [domain_of(v) for v in (True, 2.5, "a", {1, 2}, None)]
    ['bool', 'number', 'string', 'set', None]
    """
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, str):
        return "string" if is_text(value) else None
    if isinstance(value, list | tuple | Set):
        return "set"
    number = exact(value)
    return "number" if number is not None and number == number else None


# An element of a multi-value is compared by a key, since to Python True == 1. Keys sort: booleans,
# numbers, strings.
ElementKey: TypeAlias = tuple[int, Any]


def element_key(value: object) -> ElementKey:
    """Return the key of an element of a multi-value; what is no simple value equals only itself.

    >>> element_key(1) == element_key(1.0), element_key(1) == element_key(True)
    (True, False)
    """
    if isinstance(value, str):
        return (2, str(value)) if is_text(value) else (3, object())
    if isinstance(value, bool | np.bool_):
        return (0, bool(value))
    number = exact(value)
    if number is None or number != number:
        return (3, object())
    return (1, number)


def element_value(key: ElementKey) -> Any:
    """Return the value behind a key."""
    value = key[1]
    return _plain_number(value) if key[0] == 1 else value


def _plain_number(value: Number) -> Number:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def number_text(value: Number) -> str:
    """Return the one way to write a number, exact to read back.

    >>> number_text(2.0), number_text(-0.0), number_text(Fraction(1, 3)), number_text(10**22)
    ('2', '0', '1/3', '1e+22')
    """
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, float) and not value.is_integer():
        return repr(value)
    number = int(value)
    if abs(number) > _EXACT_FLOAT_INTEGERS:
        try:
            rounded = float(number)
        except OverflowError:
            return str(number)
        if rounded == number and "e" in repr(rounded):
            return repr(rounded)
    return str(number)


def value_text(value: object) -> str:
    r"""Return a simple value as it is written in a filter.

    >>> value_text(True), value_text('say "a"'), value_text(2.50)
    ('true', '"say \\"a\\""', '2.5')
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    number = exact(value)
    if number is None:
        raise FilterError(f"{describe(value)} is not a simple value")
    return number_text(number)


def describe(value: object) -> str:
    """Return a value in a person's words, cut where it is long."""
    kind = domain_of(value)
    if kind == "set":
        return f"the set {shortened(value)}"
    if kind == "string":
        text = value_text(value)
        return f"the string {text if len(text) <= _SHORT else text[: _SHORT - 3] + '...'}"
    text = shortened(value)
    return text.lower() if kind == "bool" else text


def shortened(value: object) -> str:
    """Return the repr of a value, cut where it is long; of numbers, their text."""
    try:
        text = str(value) if isinstance(value, Number | Decimal) else repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return f"a {type(value).__name__} too long to print"
    return text if len(text) <= _SHORT else text[: _SHORT - 3] + "..."

"""The values of notifications and filters: their domains, exact numbers, and their text.

A value belongs to one of five domains: "bool", "number", "string", "set" or "document". A value of
none of them, such as None or NaN, has no domain: it satisfies only the constraint that its
attribute exists.
"""

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
    "DocumentValue",
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

# The longest number in a filter, in bits (for a fraction: of numerator and of denominator). 4,096
# bits are 1,234 decimal digits; Python refuses to print integers of more than 4,300 digits.
_MAX_BITS: Final = 4096
# The largest power of ten of a Decimal that is converted exactly. A filter's numbers lie between
# 10**-1234 and 10**1234, so a Decimal outside 10**-5000 to 10**5000 compares the same when clamped.
_MAX_EXPONENT: Final = 5000
# Up to this size a float holds every integer exactly.
_EXACT_FLOAT_INTEGERS: Final = 2**53
# The longest value that a message shows in full, in characters; longer ones end in "...".
_MAX_SHOWN: Final = 80
# Half of a surrogate pair: such a string cannot be encoded, so it is not valid Unicode.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class _Missing:
    """The type of MISSING, which stands for the value of an attribute that is absent."""

    def __repr__(self) -> str:
        return "MISSING"


#: Stands for the value of an attribute that a notification does not have. None is a value.
MISSING: Final = _Missing()


class DocumentValue:
    """The base of values that are documents; nested mappings are documents, too."""

    __slots__ = ()


def lookup(notification: Mapping[str, Any], name: str) -> Any:
    """Return the value of attribute `name`, or MISSING; a dotted name also reads nested mappings.

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
    """Return `value` as a number that compares exactly with other numbers, None if not a number.

    A boolean is not a number here. NaN is returned as NaN: every comparison with it is false.

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
    """Return an equal int or float if there is one, since these compare faster than a Fraction."""
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
        # This number is larger than every number of a filter, or nearer to zero. Its exact fraction
        # could fill the memory, so it is clamped; comparisons with filters stay the same.
        size: Number = 10**_MAX_EXPONENT
        if value.adjusted() < 0:
            size = Fraction(1, 10**_MAX_EXPONENT)
        return size if value > 0 else -size
    return _simplest(Fraction(value))


def integral(value: Number) -> bool:
    """Return whether a number is an integer: 1.0 is one, 4.5 and infinity are not.

    >>> integral(1.0), integral(4.5), integral(math.inf)
    (True, False, False)
    """
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def check_number(value: object) -> Number:
    """Return `value` as an exact number for a filter, or raise FilterError if it cannot be one."""
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
    """Return whether a string is valid Unicode, that is without half a surrogate pair."""
    return value.isascii() or not _SURROGATE.search(value)


def check_string(value: str) -> str:
    """Return `value` as a plain str for a filter, or raise FilterError if not valid Unicode."""
    if not is_text(value):
        raise FilterError("a string of a filter is valid Unicode: half a surrogate pair was given")
    return str(value)


def domain_of(value: object) -> str | None:
    """Return the domain of a value, or None if it has none.

    >>> [domain_of(v) for v in (True, 2.5, "a", {1, 2}, {"a": 1}, None)]
    ['bool', 'number', 'string', 'set', 'document', None]
    """
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, str):
        return "string" if is_text(value) else None
    if isinstance(value, list | tuple | Set):
        return "set"
    if isinstance(value, Mapping | DocumentValue):
        return "document"
    number = exact(value)
    return "number" if number is not None and number == number else None


# The elements of sets are compared by keys (domain, value), because in Python True == 1. The domain
# is 0 for a boolean, 1 for a number, 2 for a string and 3 for any other object; keys sort by it.
ElementKey: TypeAlias = tuple[int, Any]


def element_key(value: object) -> ElementKey:
    """Return the key by which an element of a set is compared.

    An element that is not a boolean, number or string gets a key that equals no other key.

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
    """Return the value of an element from its key.

    >>> element_value(element_key(2.0))
    2
    """
    value = key[1]
    return _int_if_whole(value) if key[0] == 1 else value


def _int_if_whole(value: Number) -> Number:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def number_text(value: Number) -> str:
    """Return the text of a number. Equal numbers have one text, and it is read back exactly.

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
    r"""Return a boolean, number or string as the text of a filter writes it.

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
    """Return a value as an error message shows it, shortened if it is long.

    >>> describe("a"), describe({1}), describe(True)
    ('the string "a"', 'the set {1}', 'true')
    """
    kind = domain_of(value)
    if kind == "set":
        return f"the set {shortened(value)}"
    if kind == "string":
        text = value_text(value)
        return f"the string {text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + '...'}"
    text = shortened(value)
    return text.lower() if kind == "bool" else text


def shortened(value: object) -> str:
    """Return the repr of a value (for a number, its str), shortened to 80 characters."""
    try:
        text = str(value) if isinstance(value, Number | Decimal) else repr(value)
    except ValueError:  # an integer with more digits than Python prints
        return f"a {type(value).__name__} too long to print"
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."

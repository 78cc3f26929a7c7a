"""The text of simple filters, read without a parser: fifty times faster than `parse_filter`."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final, TypeAlias

from posetlib.constraints import TypeHierarchy
from posetlib.filters import Filter, parse_filter
from posetlib.names import KEYWORDS

__all__ = ["RANGE_CLAUSE", "STRING_CLAUSE", "Simple", "read_filter", "simple_ranges"]

_NUMBER: Final = r"-?\d{1,15}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?"
_NAME: Final = r"(?P<name>[A-Za-z]\w*)"
#: A clause as Python and Arrow read it alike: a range of numbers, and a single string.
RANGE_CLAUSE: Final = (
    rf"{_NAME} in (?P<left>[\[(])(?P<low>{_NUMBER}), (?P<high>{_NUMBER})(?P<right>[\])])"
)
STRING_CLAUSE: Final = rf'{_NAME} = "(?P<word>[^"\\\x00-\x1f]*)"'
_RANGE: Final = re.compile(RANGE_CLAUSE, re.ASCII)
_STRING: Final = re.compile(STRING_CLAUSE, re.ASCII)
_COMPARISON: Final = re.compile(rf"{_NAME} (<=|>=|<|>|=) ({_NUMBER})", re.ASCII)


#: The ends of a range and which are open, as in the column ``open_x``; or the one string asked for.
Simple: TypeAlias = tuple[float, float, int] | str


def simple_ranges(text: str) -> dict[str, Simple] | None:
    """Return (low, high, open ends), or a string, by attribute; None for more than a conjunction.

    Reads only what `parse_filter` reads in the same way, some fifty times faster.

    >>> simple_ranges("x in [2, 5) and y > 3")
    {'x': (2.0, 5.0, 2), 'y': (3.0, inf, 1)}
    >>> simple_ranges('x in [2.9e-05, 5] and type = "T6"')
    {'x': (2.9e-05, 5.0, 0), 'type': 'T6'}
    """
    found: dict[str, Simple] = {}
    for clause in text.split(" and "):
        made = _RANGE.fullmatch(clause)
        if made is not None:
            name, left, first, last, right = made.groups()
            low, high = float(first), float(last)
            ends = (left == "(") + 2 * (right == ")")
            if low > high or (ends and low == high):
                return None
        elif (made := _STRING.fullmatch(clause)) is not None:
            name, value = made.groups()
            if name in found or name.lower() in KEYWORDS:
                return None
            found[name] = value
            continue
        else:
            made = _COMPARISON.fullmatch(clause)
            if made is None:
                return None
            name, operator, operand = made.groups()
            low = high = float(operand)
            if operator[0] == "<":
                low = -math.inf
            elif operator[0] == ">":
                high = math.inf
            ends = {"<": 2, ">": 1}.get(operator, 0)
        if name in found or name.lower() in KEYWORDS:
            return None
        found[name] = (low, high, ends)
    return found


@lru_cache(maxsize=100_000)
def read_filter(text: str, types: TypeHierarchy | None = None) -> Filter:
    """Parse a filter; what was parsed lately is remembered."""
    return parse_filter(text, types=types)

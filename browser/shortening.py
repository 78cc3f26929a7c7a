"""Texts of filters for narrow places: what is cut is marked, and no number is shown as another.

Only decimals outside quotes are ever shortened, only as far as every two numbers of the drawing
stay apart and in order, and outwards: what is shown covers what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Final

__all__ = ["CUT", "clauses", "number_places", "short", "shortened", "visible"]

#: Stands in front of a number that was rounded outwards.
CUT: Final = "≈"
#: Decimals that are kept at least, and characters of a line in a box.
_DECIMALS: Final = 2
_CHARS: Final = 25
# What stands in quotes, or in backticks, is a string or a name, and is left as it is.
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"|`[^`]*`'
_NUMBER: Final = r"(?<![\w.])-?\d+\.\d+(?![\w./])"
#: Numbers that are never cut: whole ones, and those with an exponent.
_OTHER: Final = re.compile(r"(?<![\w.])-?(?:\d{1,40}(?![\w./])|\d+(?:\.\d+)?e[+-]?\d{1,3}(?!\w))")
_TOKEN: Final = re.compile(f"(?P<quoted>{_QUOTED})|(?P<number>{_NUMBER})")
_AND: Final = re.compile(rf"{_QUOTED}| and ")
#: What stands before a number that is a lower end, and an upper one.
_LOW: Final = re.compile(r"(?:(?<!not )in [\[(]|>=? )\Z")
_HIGH: Final = re.compile(r"(?:(?<!not )in [\[(][^\[({})\]]*, |<=? )\Z")
#: Characters that turn the direction of what follows, or have no width of their own.
_HIDDEN: Final = re.compile(
    "[\u0000-\u001f\u007f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


def visible(text: str) -> str:
    r"""Return a text with a sign for each character that hides, or turns the text around it.

    >>> visible("a\u202eb")
    'a⟨U+202E⟩b'
    """
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def short(text: str, chars: int = _CHARS) -> str:
    """Return a text of at most so many characters; one that is cut ends in "…".

    >>> short("x in [0.123456, 7]"), short("abcdefgh", 5)
    ('x in [0.123456, 7]', 'abcd…')
    """
    text = visible(text.replace("\n", " "))
    return text if len(text) <= chars else text[: max(chars - 1, 0)] + "…"


def clauses(text: str) -> list[str]:
    """Return the clauses of a filter's text: cut at each ``and`` that is no part of a string.

    >>> clauses('s = "rock and roll" and x > 3')
    ['s = "rock and roll"', 'x > 3']
    """
    found, start = [], 0
    for each in _AND.finditer(text):
        if each[0] == " and ":
            found.append(text[start : each.start()])
            start = each.end()
    return [*found, text[start:]]


def number_places(texts: Iterable[str]) -> dict[str, int]:
    """Return how many decimals each decimal number of these texts needs, by its text.

    Numbers that are rounded to so many, some down and some up, are in the same order as before, and
    no two of them meet. A number that is a lower end here and an upper one or a point there is left
    out: it would be two numbers afterwards. O(n log n) for n numbers.

    >>> number_places(["x in [0.001, 0.004]", "x in [0.002, 0.003]", "x > 7.123456"])
    {'0.001': 3, '0.002': 3, '0.003': 3, '0.004': 3, '7.123456': 2}
    """
    roles: dict[str, set[str]] = {}
    whole: set[Decimal] = set()
    for text in texts:
        for token in _TOKEN.finditer(text):
            if token["number"]:
                roles.setdefault(token[0], set()).add(_role(text[: token.start()]))
        whole.update(Decimal(each) for each in _OTHER.findall(_TOKEN.sub(" ", text)))
    values = {Decimal(each): each for each, found in roles.items() if found in _ONE_WAY}
    whole.update(Decimal(each) for each in roles if Decimal(each) not in values)
    places = dict.fromkeys(values, _DECIMALS)
    ordered = sorted({*values, *whole})
    for one, other in pairwise(ordered):
        while _up(one, places.get(one)) >= _down(other, places.get(other)):
            # Digits are added where the cut is larger; a number with all of them is not cut.
            loose = max(
                (each for each in (one, other) if each in places),
                key=lambda each: _up(each, places[each]) - _down(each, places[each]),
            )
            places[loose] += 1
    return {values[each]: places[each] for each in ordered if each in values}


#: Roles of numbers that may be rounded: all of them the same way.
_ONE_WAY: Final = ({"low"}, {"high"})


def _role(before: str) -> str:
    """Return what a number is by the text before it: a low or high end, or a point."""
    return "low" if _LOW.search(before) else "high" if _HIGH.search(before) else "point"


def _down(value: Decimal, places: int | None) -> Decimal:
    return value if places is None else _rounded(value, places, ROUND_FLOOR)


def _up(value: Decimal, places: int | None) -> Decimal:
    return value if places is None else _rounded(value, places, ROUND_CEILING)


def _rounded(value: Decimal, places: int, way: str) -> Decimal:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # no infinity is written in a filter
    if -exponent <= places:
        return value
    return (value.scaleb(places).to_integral_value(way)).scaleb(-places)


def shortened(clause: str, places: Mapping[str, int]) -> str:
    """Return a clause with the ends of its ranges rounded outwards, each with a mark.

    Numbers in sets, after = and != and in negated ranges have no outside, and stay whole.

    >>> places = number_places(["x in [0.123456, 0.98765]"])
    >>> shortened("x in [0.123456, 0.98765]", places)
    'x in [≈0.12, ≈0.99]'
    >>> shortened('s = "0.123456"', {}), shortened("x = 0.123456", {"0.123456": 2})
    ('s = "0.123456"', 'x = 0.123456')
    >>> shortened("x > 0.123", number_places(["x > 0.123"]))
    'x > 0.123'
    """
    parts, start = [], 0
    for token in _TOKEN.finditer(clause):
        parts.append(clause[start : token.start()])
        parts.append(_number(clause, token, places) if token["number"] else token[0])
        start = token.end()
    return "".join([*parts, clause[start:]])


def _number(clause: str, token: re.Match[str], places: Mapping[str, int]) -> str:
    text = token[0]
    if text not in places:
        return text
    role = _role(clause[: token.start()])
    if role == "point":
        return text
    rounded = (_down if role == "low" else _up)(Decimal(text), places[text])
    cut = f"{CUT}{rounded:f}"
    # A digit less and a mark more would be no shorter.
    return text if rounded == Decimal(text) or len(text) <= len(cut) else cut

"""Tokens: what all values of a constraint have in common, or which few values it has, for indexes.

A constraint that covers another one asks something of it. `t has 1` covers only constraints whose
sets all have 1; `s contains "abc"` only such whose strings all contain "abc". The tokens of a
constraint say what it asks and what it can show, so that an index finds the constraints that may
cover one another in dictionaries, and asks only these. Extents say where values lie; tokens say
what extents cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, NamedTuple, TypeAlias

__all__ = ["MANY", "Held", "Tokens", "endings", "grams", "of_texts", "wanted_of"]

#: Stands for more values than any constraint lists.
MANY: Final = ("many values", object)
# The longest part of a text that is a token.
_GRAM: Final = 3
# The lengths of endings that are tokens. A longer ending asks for the longest of these.
_ENDINGS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
# Of a longer text it is not said which tokens it holds: there would be thousands.
_LONGEST: Final = 64

#: Tokens that are held, or a function that finds them; None if they are not known.
Held: TypeAlias = "frozenset[Hashable] | Callable[[], frozenset[Hashable] | None] | None"


class Tokens(NamedTuple):
    """What one constraint asks of others, and shows to others, in one kind of tokens.

    If a constraint covers another one, the other holds all tokens that the first one asks for; or,
    with ``upward``, the first one holds all that the other one asks for. ``asked`` may leave some
    out, but ``held`` may not: it is None if not all are known.

    >>> from posetlib.constraints import MultiValues
    >>> [token for token in MultiValues.superset([5]).tokens() if token.kind == "has"]
    [Tokens(kind='has', upward=False, asked=frozenset({(1, 5)}), held=frozenset({(1, 5)}))]
    """

    kind: str
    upward: bool
    asked: frozenset[Hashable]
    held: Held


def grams(text: str) -> set[Hashable]:
    """Return the parts of a text, of up to three characters.

    >>> sorted(grams("abc"))
    ['a', 'ab', 'abc', 'b', 'bc', 'c']
    """
    return {
        text[start : start + length]
        for length in range(1, _GRAM + 1)
        for start in range(len(text) - length + 1)
    }


def endings(text: str) -> set[Hashable]:
    """Return the tokens for the endings of a text.

    >>> sorted(endings("abc"))
    [('ends', 'abc'), ('ends', 'bc'), ('ends', 'c')]
    """
    return {("ends", text[-length:]) for length in _ENDINGS if length <= len(text)}


def wanted_of(text: str, *, at_end: bool) -> frozenset[Hashable]:
    """Return the tokens that a constraint asks for whose strings contain a text, or end with it.

    >>> sorted(wanted_of("abcd", at_end=False)), wanted_of("abcde", at_end=True)
    (['abc', 'bcd'], frozenset({('ends', 'bcde')}))
    """
    if at_end:
        longest = max((length for length in _ENDINGS if length <= len(text)), default=0)
        return frozenset({("ends", text[-longest:])}) if longest else frozenset()
    if len(text) <= _GRAM:
        return frozenset({text}) if text else frozenset()
    # Of a long text, some parts are enough.
    last = min(len(text), _LONGEST) - _GRAM
    return frozenset(text[start : start + _GRAM] for start in range(last + 1))


def of_texts(whole: list[str], *, at_end: bool) -> frozenset[Hashable] | None:
    """Return the tokens that all of some texts hold; ``at_end``: with those of their endings."""
    found: set[Hashable] | None = None
    for text in whole:
        if len(text) > _LONGEST:
            return None
        tokens = grams(text) | endings(text) if at_end else grams(text)
        found = tokens if found is None else found & tokens
    return frozenset(found or ())

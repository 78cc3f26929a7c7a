"""Which values can satisfy a constraint, as pieces of the ordered domains: what indexes read.

Numbers and strings are each one ordered line. A constraint's *footprint* says on which pieces of
the lines its values lie, and for each piece whether *all* of it satisfies the constraint or only
some of it may. It never says less than the constraint matches, so that an index may leave out what
lies outside, take what is sure, and ask the constraint itself about the rest.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, Final, NamedTuple

from posetlib.constraints.base import Constraint, Exists
from posetlib.constraints.booleans import Booleans
from posetlib.constraints.multivalues import MultiValues
from posetlib.constraints.numbers import Numbers
from posetlib.constraints.patterns import TOP
from posetlib.constraints.strings import Strings
from posetlib.constraints.types import Isa
from posetlib.intervals import normal

__all__ = [
    "LINES",
    "NUMBER_LINE",
    "STRING_LINE",
    "Answer",
    "Footprint",
    "Line",
    "Piece",
    "footprint",
    "is_point",
]

# Longer runs of integers are kept as what they lie between.
_MAX_POINTS: Final = 64


class Answer(IntEnum):
    """Whether values of some kind satisfy a constraint."""

    NO = 0
    MAYBE = 1
    YES = 2


class Line(NamedTuple):
    """The ends of an ordered domain, as cuts (see ``posetlib.intervals``)."""

    lowest: Any
    highest: Any


#: Numbers, cut just before them (n, 0) or just after them (n, 1).
NUMBER_LINE: Final = Line((-math.inf, 0), (math.inf, 1))
#: Strings, cut just before them.
STRING_LINE: Final = Line("", TOP)
LINES: Final = (NUMBER_LINE, STRING_LINE)


class Piece(NamedTuple):
    """The values from one cut to another: all satisfy the constraint if sure, else some may."""

    low: Any
    high: Any
    sure: bool


class Footprint(NamedTuple):
    """What is known of a constraint's values without asking it."""

    #: Disjoint, unless they are not sure.
    numbers: tuple[Piece, ...] = ()
    strings: tuple[Piece, ...] = ()
    #: For false and for true.
    booleans: tuple[Answer, Answer] = (Answer.NO, Answer.NO)
    #: For what lies on no line: multi-values, None, NaN and the like.
    others: Answer = Answer.NO


def _everywhere(answer: Answer) -> Footprint:
    number, string = (Piece(*line, answer is Answer.YES) for line in LINES)
    return Footprint((number,), (string,), (answer, answer), answer)


_ALWAYS: Final = _everywhere(Answer.YES)
_UNKNOWN: Final = _everywhere(Answer.MAYBE)


def footprint(constraint: Constraint) -> Footprint:
    """Return where the values of a constraint lie; kinds that are not known may lie anywhere.

    >>> footprint(Numbers.interval(2, 5)).numbers
    (Piece(low=(2, 0), high=(5, 1), sure=True),)
    >>> footprint(Strings.prefix("a")).strings
    (Piece(low='a', high='b', sure=True),)
    >>> footprint(MultiValues.superset([1])).others
    <Answer.MAYBE: 1>
    """
    kind = type(constraint)
    if kind is Numbers:
        return Footprint(numbers=_number_pieces(constraint))  # type: ignore[arg-type]
    if kind is Strings:
        return Footprint(strings=_string_pieces(constraint))  # type: ignore[arg-type]
    if kind is Isa:
        names: frozenset[str] = constraint.names  # type: ignore[attr-defined]
        return Footprint(strings=tuple(Piece(name, name + "\0", True) for name in sorted(names)))
    if kind is Booleans:
        values: frozenset[bool] = constraint.values  # type: ignore[attr-defined]
        no, yes = (Answer.YES if value in values else Answer.NO for value in (False, True))
        return Footprint(booleans=(no, yes))
    if kind is MultiValues:
        return Footprint(others=Answer.MAYBE)
    return _ALWAYS if kind is Exists else _UNKNOWN


def is_point(piece: Piece) -> bool:
    """Return whether a piece is a single number or string."""
    low, high = piece.low, piece.high
    if isinstance(low, str):
        return isinstance(high, str) and high == low + "\0"
    return bool(low[0] == high[0])


def _number_pieces(constraint: Numbers) -> tuple[Piece, ...]:
    if constraint.is_closed_interval:
        return (Piece((constraint.low, 0), (constraint.high, 1), True),)
    pieces = [Piece(low, high, True) for low, high in constraint.intervals]
    left = _MAX_POINTS
    for low, high in constraint.runs:
        left -= high - low
        if left >= 0:
            pieces += [Piece((n, 0), (n, 1), True) for n in range(low, high)]
        else:
            last = NUMBER_LINE.highest if high == math.inf else (high - 1, 1)
            pieces.append(Piece((low, 0), last, False))
    return tuple(pieces)


def _string_pieces(constraint: Strings) -> tuple[Piece, ...]:
    if len(constraint.terms) == 1:
        (term,) = constraint.terms
        sure = not term.having and not term.lacking
        return tuple(Piece(low, high, sure) for low, high in term.pairs)
    hull = normal(pair for term in constraint.terms for pair in term.pairs)
    return tuple(Piece(low, high, False) for low, high in hull)

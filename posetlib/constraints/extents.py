"""Extents: where the values of a constraint lie. Indexes read extents instead of constraints.

Numbers and strings are two ordered *lines*. An ``Extent`` lists the pieces of these lines in which
the values of a constraint lie. A piece is *sure* if all its values satisfy the constraint; if not
sure, some of its values may. Every number or string that satisfies the constraint lies in a piece.
So an index can skip a value outside all pieces, accept a value in a sure piece, and must ask the
constraint only about a value in a piece that is not sure. Booleans and the values of other domains
have an ``Answer`` instead of pieces.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, Final, NamedTuple

from posetlib.constraints.intervals import TOP

__all__ = [
    "ANYWHERE",
    "ANYWHERE_OR_ABSENT",
    "EVERYWHERE",
    "LINES",
    "NUMBER_LINE",
    "STRING_LINE",
    "Answer",
    "Extent",
    "Line",
    "Piece",
]


class Answer(IntEnum):
    """Whether a group of values satisfies a constraint: none of it, possibly some, or all of it."""

    NO = 0
    MAYBE = 1
    YES = 2


class Line(NamedTuple):
    """The lowest and highest cut of an ordered domain (see ``posetlib.constraints.intervals``)."""

    lowest: Any
    highest: Any


#: All numbers. The cut (n, 0) is just before the number n, the cut (n, 1) just after it.
NUMBER_LINE: Final = Line((-math.inf, 0), (math.inf, 1))
#: All strings. A cut is a string and lies just before it; TOP lies after all strings.
STRING_LINE: Final = Line("", TOP)
#: Both lines, in the order of the fields of an Extent.
LINES: Final = (NUMBER_LINE, STRING_LINE)


class Piece(NamedTuple):
    """The values between two cuts. If ``sure``, all of them satisfy the constraint, else some may.

    >>> Piece((3, 0), (3, 1), True).is_point, Piece("a", "b", True).is_point
    (True, False)
    """

    low: Any
    high: Any
    sure: bool

    @property
    def is_point(self) -> bool:
        """Whether the piece is a single number or a single string."""
        low, high = self.low, self.high
        if isinstance(low, str):
            return isinstance(high, str) and high == low + "\0"
        return bool(low[0] == high[0])


class Extent(NamedTuple):
    """The pieces in which the values of a constraint lie, with answers for other domains.

    >>> from posetlib.constraints import MultiValues, Numbers, Strings
    >>> Numbers.interval(2, 5).extent().numbers
    (Piece(low=(2, 0), high=(5, 1), sure=True),)
    >>> Strings.prefix("a").extent().strings
    (Piece(low='a', high='b', sure=True),)
    >>> MultiValues.superset([1]).extent().others
    <Answer.MAYBE: 1>
    """

    #: The pieces on each line, in ascending order; sure pieces do not overlap.
    numbers: tuple[Piece, ...] = ()
    strings: tuple[Piece, ...] = ()
    #: The answer for the value false, and for the value true.
    booleans: tuple[Answer, Answer] = (Answer.NO, Answer.NO)
    #: The answer for all other values: sets, None, NaN and unknown objects.
    others: Answer = Answer.NO
    #: The answer for notifications without the attribute.
    absence: Answer = Answer.NO
    #: Whether the constraint has values at, or arbitrarily near, both ends of each piece, and at
    #: least one value in every domain for which this extent has a piece or an answer but NO. Then
    #: the hull of the constraint contains the hull of every constraint that it covers, so indexes
    #: may compare hulls (as boxes).
    tight: bool = False
    #: Whether, between two constraints with `comparable` extents, `covers` is exactly containment
    #: of their values. A user-defined kind that `Numbers` and `Strings` do not know leaves this
    #: False.
    comparable: bool = False

    @property
    def domain(self) -> str | None:
        """The domain of all values: "number", "string", "bool" or "other"; None if several.

        >>> ANYWHERE.domain is None, Extent(others=Answer.MAYBE).domain
        (True, 'other')
        """
        found = None
        for name, has_values in (
            ("number", self.numbers),
            ("string", self.strings),
            ("bool", self.booleans[0] or self.booleans[1]),
            ("other", self.others),
        ):
            if has_values:
                if found is not None:
                    return None
                found = name
        return found

    @property
    def is_sure(self) -> bool:
        """Whether the extent alone decides, for every value, if it satisfies the constraint."""
        return (
            self.others is not Answer.MAYBE
            and self.absence is not Answer.MAYBE
            and Answer.MAYBE not in self.booleans
            and all(piece.sure for piece in self.numbers + self.strings)
        )


def _same_for_all_values(answer: Answer) -> Extent:
    """Return the extent that gives one answer, YES or MAYBE, for every value."""
    number, string = (Piece(*line, answer is Answer.YES) for line in LINES)
    return Extent((number,), (string,), (answer, answer), answer)


#: The extent of a constraint that every value satisfies.
EVERYWHERE: Final = _same_for_all_values(Answer.YES)
#: The extent of a constraint about which nothing is known: any value may satisfy it.
ANYWHERE: Final = _same_for_all_values(Answer.MAYBE)
#: The same for a constraint that a notification without the attribute satisfies.
ANYWHERE_OR_ABSENT: Final = ANYWHERE._replace(absence=Answer.YES)

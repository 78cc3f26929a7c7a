"""Constraints on numbers: any union of intervals, single numbers and runs of integers; exact.

A set of numbers has two canonical parts: a union of real intervals, and the integers outside these
intervals. The integers are stored as runs of consecutive integers, each as long as possible. A
single closed interval is by far the most common constraint, so it stores only its two ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, final

from posetlib.constraints import intervals
from posetlib.constraints.base import Constraint, register_kind
from posetlib.constraints.extents import Extent, Piece
from posetlib.constraints.intervals import Pairs
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.values import MISSING, Number, check_number, exact, integral, number_text

__all__ = ["ALL_INTEGERS", "ALL_NUMBERS", "Numbers", "closed_ends"]

_INF: Final = math.inf
# The cuts below and above all numbers (see `intervals`).
_LOWEST: Final = (-_INF, 0)
_HIGHEST: Final = (_INF, 1)
# The most integers that a complement may leave out. Each becomes a gap between two intervals.
_MAX_HOLES: Final = 100_000
# The most integers that an extent lists one by one as sure pieces. When they are used up, a run of
# integers is one piece that is not sure, because it also holds the numbers between the integers.
_MAX_POINTS: Final = 64


@final
class Numbers(Constraint):
    """A set of numbers. 1 and 1.0 are the same number; infinity is a number, NaN is not.

    >>> Numbers.interval(2, 5).covers(Numbers.points([3, 4.5]))
    True
    >>> Numbers.integers(2, 4) == Numbers.points([2, 3, 4])
    True
    """

    __slots__ = ("_parts", "high", "low")
    domain = "number"
    kind = "number"

    #: The lower and upper bound of the set. The set need not contain them, nor all numbers between.
    low: Number
    high: Number
    # (intervals, runs of integers), both canonical; None for the closed interval [low, high].
    _parts: tuple[Pairs, Pairs] | None

    def __init__(self, low: Number, high: Number, parts: tuple[Pairs, Pairs] | None) -> None:
        self.low = low
        self.high = high
        self._parts = parts

    # -- making ------------------------------------------------------------------------------------

    @classmethod
    def interval(
        cls,
        low: Any = None,
        high: Any = None,
        *,
        low_open: bool = False,
        high_open: bool = False,
    ) -> Numbers:
        """Return the numbers between two ends; an end of None means no limit on that side.

        >>> Numbers.interval(2, None, low_open=True).matches(2)
        False
        """
        left = _LOWEST if low is None else (check_number(low), int(low_open))
        right = _HIGHEST if high is None else (check_number(high), int(not high_open))
        if not left < right:
            raise EmptyConstraintError(
                f"no number lies between {number_text(left[0])} and {number_text(right[0])}"
            )
        return _canonical([(left, right)], ())

    @classmethod
    def points(cls, values: Iterable[Any]) -> Numbers:
        """Return the constraint that a value equals one of the numbers: O(n log n).

        >>> Numbers.points([1, 2.5]).matches(2.5)
        True
        """
        return _canonical([((v, 0), (v, 1)) for v in map(check_number, values)], ())

    @classmethod
    def integers(cls, low: Any = None, high: Any = None) -> Numbers:
        """Return the integers from low to high, both included; None means no limit on that side.

        >>> Numbers.integers(2, 8).matches(4), Numbers.integers(2, 8).matches(4.5)
        (True, False)
        """
        left = -_INF if low is None else math.ceil(check_number(low))
        right = _INF if high is None else math.floor(check_number(high)) + 1
        if not left < right:
            raise EmptyConstraintError("no integer lies in the range")
        return _canonical((), [(left, right)])

    @classmethod
    def union(cls, members: Iterable[Numbers]) -> Numbers:
        """Return the union of all members: O(n log n) for n intervals and runs.

        >>> Numbers.union([Numbers.interval(0, 5), Numbers.interval(3, 9)])
        <Numbers: _ in [0, 9]>
        """
        reals: list[tuple[Any, Any]] = []
        runs: list[tuple[Any, Any]] = []
        for member in members:
            reals += member.intervals
            runs += member.runs
        return _canonical(reals, runs)

    @classmethod
    def intersection(cls, members: Iterable[Numbers]) -> Numbers:
        """Return the numbers that all members share: O(n log n) if all are intervals.

        Raises EmptyConstraintError if they share no number.
        """
        all_members = list(members)
        plain = [member.intervals for member in all_members if not member.runs]
        shared: Numbers | None = None
        if plain:
            shared = _canonical(intervals.common(plain, _LOWEST, _HIGHEST), ())
        for member in all_members:
            if member.runs:
                shared = member if shared is None else _shared(shared, member)
                if shared is None:
                    raise EmptyConstraintError("no number satisfies all of it")
        assert shared is not None, "there is a member"
        return shared

    def complement(self) -> Numbers:
        """Return all other numbers; FilterError if that leaves out more than 100,000 integers.

        >>> Numbers.interval(2, 5).complement()
        <Numbers: _ < 2 or _ > 5>
        """
        if sum(high - low for low, high in self.runs) > _MAX_HOLES:
            raise FilterError(f"the complement of more than {_MAX_HOLES} integers is too complex")
        holes = [((n, 0), (n, 1)) for low, high in self.runs for n in range(low, high)]
        outside = intervals.complement(
            intervals.normal([*self.intervals, *holes]), _LOWEST, _HIGHEST
        )
        if not outside:
            raise EmptyConstraintError("no number is left")
        return _canonical(outside, ())

    # -- the parts ---------------------------------------------------------------------------------

    @property
    def intervals(self) -> Pairs:
        """The real intervals, as pairs of cuts: (n, 0) is just before n, (n, 1) just after n."""
        if self._parts is not None:
            return self._parts[0]
        if self.low == self.high and integral(self.low):
            return ()
        return (((self.low, 0), (self.high, 1)),)

    @property
    def runs(self) -> Pairs:
        """The integers outside the intervals, as half-open runs (first, last + 1)."""
        if self._parts is not None:
            return self._parts[1]
        if self.low == self.high and integral(self.low):
            point = int(self.low)
            return ((point, point + 1),)
        return ()

    def listed(self, at_most: int) -> list[Number] | None:
        """Return the numbers one by one, None if they are more than `at_most`.

        >>> Numbers.points([1, 2.5]).listed(2), Numbers.interval(1, 2).listed(9)
        ([2.5, 1], None)
        """
        if any(low[0] != high[0] for low, high in self.intervals):
            return None
        if sum(end - first for first, end in self.runs) + len(self.intervals) > at_most:
            return None
        integers = [n for first, end in self.runs for n in range(first, end)]
        return [low[0] for low, _ in self.intervals] + integers

    @property
    def is_number_range(self) -> bool:
        return self._parts is None

    @property
    def is_interval(self) -> bool:
        parts = self._parts
        return parts is None or (len(parts[0]) == 1 and not parts[1])

    def is_integral(self) -> bool:
        return not self.intervals

    def extent(self) -> Extent:
        if self._parts is None:
            return Extent(
                (Piece((self.low, 0), (self.high, 1), True),), tight=True, comparable=True
            )
        pieces = [Piece(low, high, True) for low, high in self._parts[0]]
        points_left = _MAX_POINTS
        for first, end in self._parts[1]:
            points_left -= end - first
            if points_left >= 0:
                pieces += [Piece((n, 0), (n, 1), True) for n in range(first, end)]
            else:
                last = _HIGHEST if end == _INF else (end - 1, 1)
                pieces.append(Piece((first, 0), last, False))
        if self._parts[1]:
            pieces.sort(key=_low_cut)
        return Extent(tuple(pieces), tight=True, comparable=True)

    # -- meaning -----------------------------------------------------------------------------------

    def matches(self, value: Any) -> bool:
        kind = value.__class__
        if kind is not float and kind is not int:
            value = exact(value)
            if value is None:
                return False
        if not self.low <= value <= self.high:
            return False
        if self._parts is None:
            return True
        reals, runs = self._parts
        if intervals.contains(reals, (value, 0)):
            return True
        return integral(value) and intervals.contains(runs, int(value))

    def covers(self, other: Constraint) -> bool:
        if other.__class__ is not Numbers:
            return Constraint.covers(self, other)
        if not (self.low <= other.low and other.high <= self.high):
            return False
        if self._parts is None:
            return True
        reals, runs = self._parts
        if not intervals.covers(reals, other.intervals):
            return False
        theirs = other.runs
        if not theirs:
            return True
        if reals:
            # Often the intervals alone contain the runs of `other`. If not, compare with all our
            # integers: those in the intervals and those in the runs.
            if intervals.covers(reals, [((low, 0), (high - 1, 1)) for low, high in theirs]):
                return True
            runs = intervals.normal([*_integers_in(reals), *runs])
        return intervals.covers(runs, theirs)

    def overlaps(self, other: Constraint) -> bool:
        if other.__class__ is not Numbers:
            return Constraint.overlaps(self, other)
        if not (self.low <= other.high and other.low <= self.high):
            return False
        if self._parts is None and other._parts is None:
            return True
        return bool(_shared(self, other))

    def merge(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Numbers):
            return Numbers.union((self, other))
        return Constraint.merge(self, other)

    def intersect(self, other: Constraint) -> Constraint | None:
        if not isinstance(other, Numbers):
            return Constraint.intersect(self, other)
        return Numbers.intersection((self, other))

    def hull(self, other: Constraint) -> Constraint | None:
        if not isinstance(other, Numbers):
            return Constraint.hull(self, other)
        reals = [*self.intervals, *other.intervals]
        runs = [*self.runs, *other.runs]
        if not reals:
            return _canonical((), [(min(low for low, _ in runs), max(high for _, high in runs))])
        reals += [((low, 0), (high if high == _INF else high - 1, 1)) for low, high in runs]
        return _canonical([(min(low for low, _ in reals), max(high for _, high in reals))], ())

    def is_canonical(self) -> bool:
        return True

    def is_whole_domain(self) -> bool:
        return self._parts is None and self.low == -_INF and self.high == _INF

    # -- examples and shares -----------------------------------------------------------------------

    def example(self) -> Any:
        return next(filter(self.matches, _landmarks(self)))

    def example_outside(self, other: Constraint) -> Any:
        candidates = _landmarks(self, other) if isinstance(other, Numbers) else _landmarks(self)
        inside = filter(self.matches, candidates)
        return next((value for value in inside if not other.matches(value)), MISSING)

    def share(self, domain: Any) -> Fraction | None:
        """Return the share of a domain that satisfies the constraint.

        The domain is a pair (low, high), measured by length, a range, or a collection of values.

        >>> Numbers.interval(0, 25).share((0, 100))
        Fraction(1, 4)
        """
        if isinstance(domain, range) and domain.step == 1 and domain:
            inside = intervals.intersection(
                intervals.normal([*_integers_in(self.intervals), *self.runs]),
                ((domain.start, domain.stop),),
            )
            return Fraction(sum(high - low for low, high in inside), len(domain))
        if not isinstance(domain, tuple) or len(domain) != 2:
            return Constraint.share(self, domain)
        low, high = map(check_number, domain)
        if not low < high:
            raise FilterError("a domain (low, high) has its low end below its high end")
        inside = intervals.intersection(self.intervals, (((low, 0), (high, 1)),))
        lengths = (Fraction(b[0]) - Fraction(a[0]) for a, b in inside)
        return sum(lengths, Fraction(0)) / (Fraction(high) - Fraction(low))

    # -- text and dictionaries ---------------------------------------------------------------------

    def clauses(self, name: str) -> tuple[str, ...]:
        if self.is_whole_domain():
            return (f"{name} is number",)
        reals, runs = self.intervals, self.runs
        if not reals and runs[0][0] == -_INF and runs[-1][1] == _INF:
            gaps = intervals.complement(runs, -_INF, _INF)
            if not gaps:
                return (f"{name}:int is number",)
            if all(high - low <= 2 for low, high in gaps):
                missing = [n for low, high in gaps for n in range(low, high)]
                return (_all_but(f"{name}:int", missing),)
        outside = intervals.complement(reals, _LOWEST, _HIGHEST) if not runs else ()
        if outside and all(low[0] == high[0] for low, high in outside):
            return (_all_but(name, [low[0] for low, _ in outside]),)
        result = [_interval_text(name, *pair) for pair in reals if pair[0][0] != pair[1][0]]
        single = [low[0] for low, high in reals if low[0] == high[0]]
        for low, high in runs:
            if high - low <= 2:  # one or two integers are listed, a longer run is a range
                single += range(low, high)
            elif low == -_INF and high == _INF:
                result.append(f"{name}:int is number")
            else:
                last = _HIGHEST if high == _INF else (high - 1, 1)
                result.append(_interval_text(f"{name}:int", (low, 0), last))
        if single:
            result.append(_one_of(name, sorted(single)))
        return tuple(result)

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {"kind": self.kind}
        if self.intervals:
            data["intervals"] = [
                [_to_json(low[0]), "(" if low[1] else "[", "]" if high[1] else ")",
                 _to_json(high[0])]
                for low, high in self.intervals
            ]  # fmt: skip
        if self.runs:
            data["integers"] = [
                [_to_json(low), _to_json(high if high == _INF else high - 1)]
                for low, high in self.runs
            ]
        return data

    def key(self) -> Any:
        return (Numbers, self.low, self.high, self._parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbers) and bool(self.key() == other.key())

    def __hash__(self) -> int:
        return hash((self.low, self.high, self._parts))

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Numbers, (self.low, self.high, self._parts))


def closed_ends(constraints: Sequence[Constraint]) -> tuple[list[Number], list[Number]] | None:
    """Return the low and the high ends of many constraints, None if one is no closed range.

    >>> closed_ends([Numbers.interval(2, 5), Numbers.interval(0, 7)])
    ([2, 0], [5, 7])
    """
    if set(map(type, constraints)) == {Numbers}:
        # One loop for each slot takes a fifth of the time of asking each for ``is_number_range``.
        parts = [each._parts for each in constraints]  # type: ignore[attr-defined]
        if parts.count(None) < len(parts):
            return None
    elif not all(each.is_number_range for each in constraints):
        return None
    return [each.low for each in constraints], [each.high for each in constraints]


def _canonical(reals: Iterable[tuple[Any, Any]], runs: Iterable[tuple[Any, Any]]) -> Numbers:
    """Return the canonical Numbers for a union of intervals and runs of integers.

    Raises EmptyConstraintError if the union is empty.
    """
    pieces = intervals.normal(reals)
    # An interval that is a single integer becomes a run.
    points = [(low[0], low[0] + 1) for low, high in pieces if _is_integer_point(low, high)]
    integers = intervals.normal([*runs, *points])
    if integers:
        pieces = tuple(pair for pair in pieces if not _is_integer_point(*pair))
        # An integer at the open end of an interval closes this end.
        ends = {cut[0] for pair in pieces for cut in pair}
        filled = [
            ((end, 0), (end, 1))
            for end in ends
            if integral(end) and intervals.contains(integers, int(end))
        ]
        pieces = intervals.normal([*pieces, *filled])
        # Integers inside the intervals are not stored a second time.
        inside = _integers_in(pieces)
        integers = intervals.intersection(integers, intervals.complement(inside, -_INF, _INF))
    if not pieces and not integers:
        raise EmptyConstraintError("no number satisfies the constraint")
    # A single closed interval, or a single number, stores only its ends.
    if not integers and len(pieces) == 1:
        (low, below), (high, above) = pieces[0]
        if below == 0 and above == 1:
            return Numbers(low, high, None)
    if not pieces and len(integers) == 1 and integers[0][1] - integers[0][0] == 1:
        return Numbers(integers[0][0], integers[0][0], None)
    lows = [pieces[0][0][0]] if pieces else []
    highs = [pieces[-1][1][0]] if pieces else []
    if integers:
        lows.append(integers[0][0])
        highs.append(integers[-1][1] if integers[-1][1] == _INF else integers[-1][1] - 1)
    return Numbers(min(lows), max(highs), (pieces, integers))


def _low_cut(piece: Piece) -> tuple[Number, int]:
    return piece.low  # type: ignore[no-any-return]


def _is_integer_point(low: tuple[Number, int], high: tuple[Number, int]) -> bool:
    return low[0] == high[0] and integral(low[0])


def _integers_in(reals: Pairs) -> Pairs:
    """Return the integers that lie in the intervals, as half-open runs (first, last + 1)."""
    return intervals.normal((_next_integer(low), _next_integer(high)) for low, high in reals)


def _next_integer(cut: tuple[Number, int]) -> Number:
    """Return the first integer after the cut."""
    number, after = cut
    if number in (_INF, -_INF):
        return number
    return math.floor(number) + 1 if after else math.ceil(number)


def _shared(a: Numbers, b: Numbers) -> Numbers | None:
    """Return the numbers that are in both sets, None if there are none."""
    reals = intervals.intersection(a.intervals, b.intervals)
    runs = [
        *intervals.intersection(_integers_in(a.intervals), b.runs),
        *intervals.intersection(_integers_in(b.intervals), a.runs),
        *intervals.intersection(a.runs, b.runs),
    ]
    return _canonical(reals, runs) if reals or runs else None


def _landmarks(*sets: Numbers) -> Iterator[Number]:
    """Yield test numbers: enough to find an example in the sets, or in one set but not another.

    Between two neighbouring ends of the sets, a set contains all integers or none, and all other
    numbers or none. So it is enough to try the ends, and one number of each sort between them.
    """
    ends = {
        end[0] if isinstance(end, tuple) else end
        for numbers in sets
        for pairs in (numbers.intervals, numbers.runs)
        for pair in pairs
        for end in pair
    }
    ends |= {end - 1 for numbers in sets for _, end in numbers.runs}
    finite = sorted(end for end in ends if abs(end) != _INF)
    yield from finite
    if not finite:
        yield from (0, 0.5)
    else:
        bottom, top = math.floor(finite[0]), math.ceil(finite[-1])
        yield from (top + 1, bottom - 1, Fraction(2 * top + 1, 2), Fraction(2 * bottom - 1, 2))
    for low, high in pairwise(finite):
        gap = Fraction(high) - Fraction(low)
        middle = (Fraction(low) + Fraction(high)) / 2
        for value in (
            math.floor(middle),
            math.ceil(middle),
            middle,
            low + gap / 3,
            low + gap / 5,
        ):
            if low < value < high:
                yield exact(value)  # type: ignore[misc]
    yield from (_INF, -_INF)


def _interval_text(name: str, low: tuple[Number, int], high: tuple[Number, int]) -> str:
    if low[0] == -_INF:
        return f"{name} {'<=' if high[1] else '<'} {number_text(high[0])}"
    if high[0] == _INF:
        return f"{name} {'>' if low[1] else '>='} {number_text(low[0])}"
    left, right = "(" if low[1] else "[", "]" if high[1] else ")"
    return f"{name} in {left}{number_text(low[0])}, {number_text(high[0])}{right}"


def _one_of(name: str, values: list[Number]) -> str:
    if len(values) == 1:
        return f"{name} = {number_text(values[0])}"
    return f"{name} in {{{', '.join(map(number_text, values))}}}"


def _all_but(name: str, values: list[Any]) -> str:
    if len(values) == 1:
        return f"{name} != {number_text(values[0])}"
    return f"{name} not in {{{', '.join(map(number_text, values))}}}"


def _to_json(value: Number) -> int | float | str | None:
    """Return a number for JSON: None for an infinite end, a string such as "1/3" for a fraction."""
    if value in (_INF, -_INF):
        return None
    if isinstance(value, Fraction):
        return number_text(value)
    return int(value) if integral(value) else value


def _from_json(value: object) -> Number | None:
    """Return the number that `_to_json` wrote; None means that the end has no limit."""
    if value is None:
        return None
    if isinstance(value, str):
        numerator, _, denominator = value.partition("/")
        if len(value) > 5000:  # characters; two integers of 4,096 bits have 2,468 digits
            raise FilterError("a number is too long")
        try:
            return check_number(Fraction(int(numerator), int(denominator)))
        except (ValueError, ZeroDivisionError):
            raise FilterError(f"{value!r} is no fraction") from None
    if isinstance(value, bool):
        raise FilterError("a boolean is no number")
    return check_number(value)


def _read(data: dict[str, Any]) -> Constraint:
    members = []
    for low, left, right, high in data.get("intervals", ()):
        if left not in ("[", "(") or right not in ("]", ")"):
            raise FilterError("an interval is [low, '[' or '(', ']' or ')', high]")
        members.append(
            Numbers.interval(
                _from_json(low), _from_json(high), low_open=left == "(", high_open=right == ")"
            )
        )
    members += [
        Numbers.integers(_from_json(low), _from_json(high))
        for low, high in data.get("integers", ())
    ]
    return Numbers.union(members)


register_kind(Numbers.kind, _read)

#: The constraint that every number satisfies.
ALL_NUMBERS: Final = Numbers(-_INF, _INF, None)
#: The constraint that every integer satisfies.
ALL_INTEGERS: Final = Numbers.integers()

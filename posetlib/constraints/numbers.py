"""Constraints on numbers: any mixture of intervals and runs of integers, exactly.

A set of numbers is kept as two canonical parts: a union of real intervals, and the integers that
lie in none of them, as maximal runs. A single closed interval, by far the most common constraint,
is just its two ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, final

from posetlib import intervals
from posetlib.constraints.base import (
    Constraint,
    EmptyConstraintError,
    register_kind,
)
from posetlib.errors import FilterError
from posetlib.intervals import Pairs
from posetlib.values import MISSING, Number, check_number, exact, integral, number_text

__all__ = ["ALL_INTEGERS", "ALL_NUMBERS", "Numbers"]

_INF: Final = math.inf
_LOWEST: Final = (-_INF, 0)
_HIGHEST: Final = (_INF, 1)
_MAX_HOLES: Final = 100_000


@final
class Numbers(Constraint):
    """A set of numbers; 1 and 1.0 are one number, infinities are numbers, NaN is none.

    >>> Numbers.interval(2, 5).covers(Numbers.points([3, 4.5]))
    True
    >>> Numbers.integers(2, 4) == Numbers.points([2, 3, 4])
    True
    """

    __slots__ = ("_parts", "high", "low")
    domain = "number"
    kind = "number"

    #: The ends of the set; it may lack them, or not be all that is between.
    low: Number
    high: Number
    # (intervals, integers) as canonical pairs; None for the closed interval [low, high].
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
        """Return the numbers between two ends; an end of None is open without limit.

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
        """Return the given numbers."""
        return _canonical([((v, 0), (v, 1)) for v in map(check_number, values)], ())

    @classmethod
    def integers(cls, low: Any = None, high: Any = None) -> Numbers:
        """Return the integers from low to high, both included; None is without limit."""
        left = -_INF if low is None else math.ceil(check_number(low))
        right = _INF if high is None else math.floor(check_number(high)) + 1
        if not left < right:
            raise EmptyConstraintError("no integer lies in the range")
        return _canonical((), [(left, right)])

    @classmethod
    def union(cls, members: Iterable[Numbers]) -> Numbers:
        """Return the union of many: O(n log n)."""
        reals: list[tuple[Any, Any]] = []
        runs: list[tuple[Any, Any]] = []
        for member in members:
            reals += member.intervals
            runs += member.runs
        return _canonical(reals, runs)

    @classmethod
    def intersection(cls, members: Iterable[Numbers]) -> Numbers:
        """Return what many share: O(n log n) in all for intervals."""
        kept = list(members)
        plain = [member.intervals for member in kept if not member.runs]
        shared: Numbers | None = None
        if plain:
            shared = _canonical(intervals.common(plain, _LOWEST, _HIGHEST), ())
        for member in kept:
            if member.runs:
                shared = member if shared is None else _shared(shared, member)
                if shared is None:
                    raise EmptyConstraintError("no number satisfies all of it")
        assert shared is not None, "there is a member"
        return shared

    def complement(self) -> Numbers:
        """Return all other numbers. FilterError where too many single points would be left out."""
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
        """The real intervals, as pairs of cuts (number, 0 before it or 1 after it)."""
        if self._parts is not None:
            return self._parts[0]
        if self.low == self.high and integral(self.low):
            return ()
        return (((self.low, 0), (self.high, 1)),)

    @property
    def runs(self) -> Pairs:
        """The integers outside the intervals, as half-open runs."""
        if self._parts is not None:
            return self._parts[1]
        if self.low == self.high and integral(self.low):
            point = int(self.low)
            return ((point, point + 1),)
        return ()

    @property
    def is_closed_interval(self) -> bool:
        """Whether the set is exactly the numbers from `low` to `high`, both included."""
        return self._parts is None

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
            # Mostly the intervals have them all; only if not, the integers of both parts count.
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
        marks = _landmarks(self, other) if isinstance(other, Numbers) else _landmarks(self)
        inside = filter(self.matches, marks)
        return next((value for value in inside if not other.matches(value)), MISSING)

    def share(self, domain: Any) -> Fraction | None:
        """Return the share of a pair (low, high), by length, of a range, or of a collection."""
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
                lacking = [n for low, high in gaps for n in range(low, high)]
                return (_all_but(f"{name}:int", lacking),)
        outside = intervals.complement(reals, _LOWEST, _HIGHEST) if not runs else ()
        if outside and all(low[0] == high[0] for low, high in outside):
            return (_all_but(name, [low[0] for low, _ in outside]),)
        result = [_interval_text(name, *pair) for pair in reals if pair[0][0] != pair[1][0]]
        single = [low[0] for low, high in reals if low[0] == high[0]]
        for low, high in runs:
            if high - low <= 2:
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


def _canonical(reals: Iterable[tuple[Any, Any]], runs: Iterable[tuple[Any, Any]]) -> Numbers:
    """Return the one Numbers for a union of intervals and integers, or raise if it is empty."""
    pieces = intervals.normal(reals)
    whole = [(low[0], low[0] + 1) for low, high in pieces if _is_integer_point(low, high)]
    loose = intervals.normal([*runs, *whole])
    if loose:
        pieces = tuple(pair for pair in pieces if not _is_integer_point(*pair))
        # An integer at the open end of an interval belongs to the interval.
        ends = {cut[0] for pair in pieces for cut in pair}
        filled = [
            ((end, 0), (end, 1))
            for end in ends
            if integral(end) and intervals.contains(loose, int(end))
        ]
        pieces = intervals.normal([*pieces, *filled])
        taken = _integers_in(pieces)
        loose = intervals.intersection(loose, intervals.complement(taken, -_INF, _INF))
    if not pieces and not loose:
        raise EmptyConstraintError("no number satisfies the constraint")
    if not loose and len(pieces) == 1:
        (low, below), (high, above) = pieces[0]
        if below == 0 and above == 1:
            return Numbers(low, high, None)
    if not pieces and len(loose) == 1 and loose[0][1] - loose[0][0] == 1:
        return Numbers(loose[0][0], loose[0][0], None)
    lows = [pieces[0][0][0]] if pieces else []
    highs = [pieces[-1][1][0]] if pieces else []
    if loose:
        lows.append(loose[0][0])
        highs.append(loose[-1][1] if loose[-1][1] == _INF else loose[-1][1] - 1)
    return Numbers(min(lows), max(highs), (pieces, loose))


def _is_integer_point(low: tuple[Number, int], high: tuple[Number, int]) -> bool:
    return low[0] == high[0] and integral(low[0])


def _integers_in(reals: Pairs) -> Pairs:
    """Return the integers that lie in the intervals, as half-open runs."""
    return intervals.normal((_next_integer(low), _next_integer(high)) for low, high in reals)


def _next_integer(cut: tuple[Number, int]) -> Number:
    """Return the first integer after the cut."""
    number, after = cut
    if number in (_INF, -_INF):
        return number
    return math.floor(number) + 1 if after else math.ceil(number)


def _shared(a: Numbers, b: Numbers) -> Numbers | None:
    reals = intervals.intersection(a.intervals, b.intervals)
    runs = [
        *intervals.intersection(_integers_in(a.intervals), b.runs),
        *intervals.intersection(_integers_in(b.intervals), a.runs),
        *intervals.intersection(a.runs, b.runs),
    ]
    return _canonical(reals, runs) if reals or runs else None


def _landmarks(*sets: Numbers) -> Iterator[Number]:
    """Yield numbers such that every set made from the same ends holds one of them, if any.

    Between two neighbouring ends all integers are alike, and so are all other numbers.
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
        step = Fraction(high) - Fraction(low)
        middle = (Fraction(low) + Fraction(high)) / 2
        for value in (
            math.floor(middle),
            math.ceil(middle),
            middle,
            low + step / 3,
            low + step / 5,
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
    if value in (_INF, -_INF):
        return None
    if isinstance(value, Fraction):
        return number_text(value)
    return int(value) if integral(value) else value


def _from_json(value: object) -> Number | None:
    if value is None:
        return None
    if isinstance(value, str):
        numerator, _, denominator = value.partition("/")
        if len(value) > 5000:
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

#: Every number, and every integer.
ALL_NUMBERS: Final = Numbers(-_INF, _INF, None)
ALL_INTEGERS: Final = Numbers.integers()

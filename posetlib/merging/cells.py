"""The cells into which constraints divide the values of one attribute.

A cell is a group of values that all the constraints of some filters treat alike. So it is enough to
ask about one value of each cell. Which filters accept a cell is a set of bits, one for each filter.

Cells are exact for numbers, for strings without patterns (order, sets, prefixes), for booleans, for
type names and for conditions on sets. Any other constraint counts as accepting all values or none:
all if it covers the constraint whose values are divided. That errs on one side only: a filter may
accept more than its bit says, never less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias

from posetlib.constraints import Booleans, MultiValues, Numbers, Strings
from posetlib.constraints.base import Constraint, Exists
from posetlib.constraints.extents import NUMBER_LINE, STRING_LINE
from posetlib.errors import TooComplexError
from posetlib.values import exact, integral

__all__ = ["Cell", "Cells", "cells_of"]

#: The bit of a filter, and its constraint on the attribute.
Constrained: TypeAlias = tuple[int, Constraint]
# The most cells of conditions on sets: each constraint may split every cell in two.
_MAX_SET_CELLS: Final = 4_096


class Cell(NamedTuple):
    """Some values that all constraints treat alike."""

    #: The filters that accept the values, as bits.
    accepting: int
    #: Returns one of the values; MISSING if none is known.
    example: Callable[[], Any]


class Cells(NamedTuple):
    """The cells of one attribute that matter.

    A cell is left out if a cell is kept that fewer filters accept: whatever covers the kept cell
    covers the other one too.
    """

    kept: list[Cell]
    #: Whether the division stopped because there were too many cells. Then nothing is known.
    exhausted: bool = False


def cells_of(own: Constraint, others: Sequence[Constrained], unconstrained: int) -> Cells:
    """Divide the values of a constraint by other constraints; the last bits accept everything.

    >>> from posetlib.constraints import Numbers
    >>> left, right = Numbers.interval(0, 4), Numbers.interval(6, 9)
    >>> found = cells_of(Numbers.interval(0, 9), [(1, left), (2, right)], 0)
    >>> [(cell.accepting, cell.example()) for cell in found.kept]
    [(0, 5)]
    """
    if own.__class__ is Numbers:  # by far the most common
        return _of_one_domain(own, others, unconstrained)
    if isinstance(own, Exists):
        return _of_all_domains(own, others, unconstrained)
    names = own.finite_strings()
    if names is not None:
        return Cells(_of_values(sorted(names), own, others, unconstrained))
    return _of_one_domain(own, others, unconstrained)


def _of_one_domain(own: Constraint, others: Sequence[Constrained], always: int) -> Cells:
    """Divide the values of a constraint on numbers, strings, booleans or sets."""
    inside = 1 << _bits_needed(others, always)
    if own.__class__ is Numbers:
        return Cells(_of_numbers(own, others, always, inside))
    if isinstance(own, Booleans):
        return Cells(_of_values(sorted(own.values), own, others, always))
    if isinstance(own, MultiValues):
        return _of_sets(own, others, always)
    pairs = _string_pairs(own)
    if pairs is None:
        return Cells([Cell(always | _covering(own, others), own.example)])
    cuts = [(cut, inside) for pair in pairs for cut in pair]
    for bit, constraint in others:
        theirs = _string_pairs(constraint)
        if theirs is not None:
            cuts += [(cut, bit) for pair in theirs for cut in pair]
        elif constraint.covers(own):
            always |= bit
    return Cells(_swept_strings(cuts, inside, always))


def _of_all_domains(own: Exists, others: Sequence[Constrained], always: int) -> Cells:
    """Divide all values: the numbers, the strings, the booleans, the sets, and what is none."""
    kept: list[Cell] = []
    always |= _covering(own, others)
    rest = [(bit, constraint) for bit, constraint in others if not bit & always]
    for whole in (Numbers.interval(), Strings.interval(), Booleans((False, True)), _ALL_SETS):
        found = _of_one_domain(whole, rest, always)
        if found.exhausted:
            return found
        kept += found.kept
    # NaN and None satisfy `exists` and no other constraint.
    kept.append(Cell(always, lambda: None))
    return Cells(kept)


_ALL_SETS: Final = MultiValues.superset([])


def _covering(own: Constraint, others: Iterable[Constrained]) -> int:
    """Return the bits of the constraints that accept every value of a constraint."""
    found = 0
    for bit, constraint in others:
        if constraint.covers(own):
            found |= bit
    return found


def _bits_needed(others: Iterable[Constrained], always: int) -> int:
    return max(always.bit_length(), max((bit.bit_length() for bit, _ in others), default=0))


def _string_pairs(constraint: Constraint) -> Any:
    """Return a constraint as intervals of strings; None if it is no union of intervals."""
    if isinstance(constraint, Strings):
        return constraint.pairs
    names = constraint.finite_strings()
    return None if names is None else tuple((name, name + "\0") for name in sorted(names))


# -- values one by one -----------------------------------------------------------------------------


def _of_values(
    values: Iterable[Any], own: Constraint, others: Sequence[Constrained], always: int
) -> list[Cell]:
    """Return a cell for each of a few values."""
    # A constraint that compares with another attribute has no answer for a value alone.
    fixed = [(bit, each) for bit, each in others if not each.references()]
    always |= _covering(own, ((bit, each) for bit, each in others if each.references()))
    return [
        Cell(always | sum(bit for bit, each in fixed if each.matches(value)), lambda v=value: v)  # type: ignore[misc]
        for value in values
    ]


# -- lines -----------------------------------------------------------------------------------------


def _of_numbers(
    own: Numbers, others: Sequence[Constrained], always: int, inside: int
) -> list[Cell]:
    """Return the cells of a constraint on numbers."""
    reals: list[tuple[Any, int]] = []
    runs: list[tuple[Any, int]] = []
    for bit, constraint in (*others, (inside, own)):
        if constraint.__class__ is not Numbers:
            if constraint.covers(own):
                always |= bit
        elif constraint.is_number_range:
            reals += (((constraint.low, 0), bit), ((constraint.high, 1), bit))
        else:
            reals += [(cut, bit) for pair in constraint.intervals for cut in pair]
            runs += [(cut, bit) for pair in constraint.runs for cut in _cuts_around(*pair)]
    return _swept_numbers(reals, runs, inside, always)


def _swept_strings(cuts: list[tuple[Any, int]], inside: int, always: int) -> list[Cell]:
    """Go along the line of strings, from cut to cut."""
    cuts.sort(key=lambda each: (each[0] is STRING_LINE.highest, each[0]))
    found = []
    accepting = 0
    for i, (cut, bit) in enumerate(cuts):
        accepting ^= bit
        if accepting & inside and cut != cuts[i + 1][0]:
            found.append((accepting, cut))
    return [
        Cell(accepting ^ inside | always, lambda text=text: text)  # type: ignore[misc]
        for accepting, text in _lowest(found)
    ]


def _swept_numbers(
    reals: list[tuple[Any, int]], runs: list[tuple[Any, int]], inside: int, always: int
) -> list[Cell]:
    """Go along the line of numbers, from cut to cut.

    Where some constraints accept integers only, the other numbers are a cell of their own. Filters
    that accept these accept the integers as well, so where both are wanted the integers are left
    out.
    """
    flips: dict[Any, list[int]] = {}
    for at, cuts in enumerate((reals, runs)):
        for cut, bit in cuts:
            flips.setdefault(cut, [0, 0])[at] ^= bit
    order = sorted(flips)
    found: list[tuple[int, tuple[Any, Any, bool | None]]] = []
    real = run = 0
    for i, cut in enumerate(order):
        real_flip, run_flip = flips[cut]
        real ^= real_flip
        run ^= run_flip
        if not (real | run) & inside:
            continue
        end = order[i + 1]
        if cut[0] == end[0]:
            if integral(cut[0]):
                found.append((real | run, (cut, end, None)))
            elif real & inside:
                found.append((real, (cut, end, None)))
        elif real & inside:
            found.append((real, (cut, end, False if run else None)))
        elif _has_integer(cut, end):
            found.append((real | run, (cut, end, True)))
    return [
        Cell(accepting & ~inside | always, lambda where=where: _number_between(*where))  # type: ignore[misc]
        for accepting, where in _lowest(found)
    ]


def _lowest(found: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Return the cells that have no neighbour that fewer filters accept."""
    kept: list[tuple[int, Any]] = []
    for each in found:
        accepting = each[0]
        while kept and kept[-1][0] & accepting == accepting:
            kept.pop()  # all filters that accept this one accept the one before it
        if not kept or kept[-1][0] & accepting != kept[-1][0]:
            kept.append(each)
    return kept


def _cuts_around(first: Any, end: Any) -> tuple[Any, Any]:
    """Return the cuts before and after a run of integers (first, last + 1)."""
    low = NUMBER_LINE.lowest if first == -math.inf else (first, 0)
    return low, NUMBER_LINE.highest if end == math.inf else (end - 1, 1)


def _has_integer(low: Any, high: Any) -> bool:
    return bool(
        low[0] == -math.inf or high[0] == math.inf or _integer_after(low) < _integer_after(high)
    )


def _integer_after(cut: Any) -> int:
    """Return the first integer that is not before a cut."""
    return int(math.floor(cut[0]) + 1 if cut[1] else math.ceil(cut[0]))


def _number_between(low: Any, high: Any, whole: bool | None) -> Any:
    """Return a number between two cuts: an integer, no integer, or if None, whichever is simple."""
    if low[0] == high[0]:
        return low[0]
    if whole is not False:
        if low[0] == -math.inf:
            return 0 if high[0] == math.inf else math.floor(high[0]) - 1
        if _has_integer(low, high):
            first = _integer_after(low)
            if high[0] == math.inf:
                return first
            middle = math.floor(_middle(low[0], high[0]))
            return max(first, min(middle, _integer_after(high) - 1))
    if low[0] == -math.inf:
        return Fraction(1, 2) if high[0] == math.inf else math.floor(high[0]) - Fraction(1, 2)
    if high[0] == math.inf:
        return math.floor(low[0]) + Fraction(3, 2)
    middle = _middle(low[0], high[0])
    if integral(middle):  # less than one below an integer there is no other
        middle -= min(Fraction(1, 2), (middle - Fraction(low[0])) / 2)
    return exact(middle)


def _middle(low: Any, high: Any) -> Any:
    """Return a number strictly between two numbers: the middle one, as exactly as it takes."""
    if low.__class__ is float and high.__class__ is float:
        middle = low / 2 + high / 2
        if low < middle < high:
            return middle
    return exact((Fraction(low) + Fraction(high)) / 2)


# -- sets ------------------------------------------------------------------------------------------


def _of_sets(own: MultiValues, others: Sequence[Constrained], always: int) -> Cells:
    """Split the sets that satisfy a constraint by one condition after the other."""
    always |= _covering(own, others)
    parts: list[tuple[int, MultiValues]] = [(always, own)]
    for bit, constraint in others:
        if bit & always or not isinstance(constraint, MultiValues):
            continue
        split: list[tuple[int, MultiValues]] = []
        try:
            for accepting, part in parts:
                inside, outside = part.split(constraint)
                if inside is not None:
                    split.append((accepting | bit, inside))
                if outside is not None:
                    split.append((accepting, outside))
        except TooComplexError:
            return Cells([], exhausted=True)
        if len(split) > _MAX_SET_CELLS:
            return Cells([], exhausted=True)
        parts = split
    return Cells([Cell(accepting, part.example) for accepting, part in parts])

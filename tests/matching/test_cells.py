"""The row of a value never says more than is true: sure is sure, and impossible impossible."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posetlib as pl
from posetlib.constraints.numbers import Numbers
from posetlib.matching.attribute_bitmaps import WORD, AttributeBitmaps
from posetlib.matching.cells import ABSENT, UNKNOWN, Cells, as_floats, float_after
from posetlib.matching.grids import Grids
from posetlib.matching.slots import Slots

from .worlds import VALUES, random_filter

LIMITS = (1, 2, 5, 1000)


def _constraints(seed: int, size: int = 40) -> list[pl.Constraint]:
    random = Random(f"cells-{seed}")
    made: list[pl.Constraint] = []
    while len(made) < size:
        made += random_filter(random).constraints.values()
    return made


def _inside(row: int, ranges: Any) -> bool:
    return any(start <= row < stop for start, stop in ranges)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("seed", range(6))
def test_rows_are_sound(limit: int, seed: int) -> None:
    constraints = _constraints(seed)
    cells = Cells(constraints[::2], limit=limit)
    rows = cells.read(list(VALUES)).rows.tolist()
    assert rows == [cells.row(value) for value in VALUES]
    notification = {"y": 2, "pos": {"x": "a"}}
    for constraint in constraints:
        reach = cells.reach(constraint)
        assert reach.possible[0] == (UNKNOWN, UNKNOWN + 1)
        assert _inside(ABSENT, reach.possible) is constraint.matches_absence()
        assert not _inside(UNKNOWN, reach.sure)
        assert reach.sure == sorted(reach.sure)
        doubted = reach.doubted()
        for value, row in zip(VALUES, rows, strict=True):
            if constraint.matches_in(value, notification):
                assert _inside(row, reach.possible)
            elif row != UNKNOWN:
                assert not _inside(row, reach.sure)
        for row in range(1, cells.size):
            possible, sure = _inside(row, reach.possible), _inside(row, reach.sure)
            assert _inside(row, doubted) == (possible and not sure)


def test_with_a_cut_at_each_end_nothing_on_the_lines_is_in_doubt() -> None:
    made = [c for c in _constraints(1) if all(p.sure for p in sum(c.extent()[:2], ()))]
    cells = Cells(made, limit=1000)
    exact = [cells.reach(c).exact for c in made if c.extent().others.name != "MAYBE"]
    assert len(exact) > 10
    assert all(exact)


NEAR = [0.0, -0.0, 1.0, 5e-324, 1.5, float(2**53), 1e308, -1e308, math.nextafter(1.0, 2)]
HELD = [0, 1, 2, 2**53, -(2**53)]
ends = st.sampled_from([*NEAR, *(math.nextafter(v, math.inf) for v in NEAR), *HELD])
cuts = st.one_of(ends, st.sampled_from([2**53 + 1, Fraction(1, 3), 10**400, -(10**400), 1, 0]))


@given(
    st.lists(st.tuples(cuts, cuts, st.booleans(), st.booleans()), max_size=12),
    st.lists(st.tuples(ends, ends), min_size=1, max_size=8),
    st.sampled_from(LIMITS),
)
def test_the_three_ways_to_find_the_rows_of_an_interval_agree(
    others: Any, intervals: Any, limit: int
) -> None:
    constraints: list[pl.Constraint] = []
    for low, high, low_open, high_open in others:
        if low < high:
            constraints.append(Numbers.interval(low, high, low_open=low_open, high_open=high_open))
    pairs = [(min(pair), max(pair)) for pair in intervals]
    pairs += [(-math.inf, 1.0), (1.0, math.inf)]
    constraints += [Numbers(*pair, None) for pair in pairs[::2]]
    cells = Cells(constraints, limit=limit)
    columns = cells.reach_intervals(*np.array(pairs).T)
    for i, (low, high) in enumerate(pairs):
        reach = cells.reach(Numbers(low, high, None))
        ((first, last),) = reach.possible[1:]
        for fast in (
            cells.reach_interval(low, high),
            None if columns is None else tuple(int(column[i]) for column in columns),
        ):
            if fast is not None:
                assert (fast[0], fast[3]) == (first, last)
                assert ([fast[1:3]] if fast[1] < fast[2] else []) == reach.sure


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 10**400, Fraction(1, 2)])
def test_numbers_that_floats_may_not_hold_are_left_to_the_exact_way(number: Any) -> None:
    cells = Cells([Numbers.interval(0, 5)], limit=100)
    assert cells.reach_interval(number, math.inf) is None
    assert cells.reach_interval(-math.inf, number) is None


def test_a_cut_that_only_floats_cannot_tell_from_an_end_is_another_cut() -> None:
    """Between 1.0 and the next float there are numbers, and an interval from there has none."""
    low = math.nextafter(1.0, 2)
    cells = Cells([Numbers(0.0, 1.0, None), Numbers(5.0, 9.0, None)], limit=100)
    between = Fraction(1) + Fraction(1, 2**60)
    assert cells.row(between) == cells.row(low)
    columns = cells.reach_intervals(np.array([low]), np.array([9.0]))
    assert columns is not None
    wanted = cells.reach(Numbers(low, 9.0, None))
    assert not _inside(cells.row(between), wanted.sure)
    assert _inside(cells.row(low), wanted.possible)
    for fast in (cells.reach_interval(low, 9.0), tuple(int(column[0]) for column in columns)):
        assert fast is not None
        assert [(fast[0], fast[3])] == wanted.possible[1:]
        assert [fast[1:3]] == wanted.sure


@given(cuts, st.integers(0, 1), ends)
def test_the_first_float_after_a_cut_tells_floats_apart(
    number: Any, after: int, value: Any
) -> None:
    beyond = value > number if after else value >= number
    assert (value >= float_after((number, after))) == beyond


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("usual", [True, False])
def test_bits_written_one_by_one_are_those_filled_in_at_once(limit: int, usual: bool) -> None:
    constraints = _constraints(7, size=200)
    constraints += [Numbers(float(i), i + 0.5, None) for i in range(40)]
    size, words = len(constraints), 8
    listed = list(enumerate(constraints))
    filled = AttributeBitmaps(words, listed, size if usual else 10 * size, limit)
    assert filled.usual == usual
    table = filled.table.copy()
    # Out, in other places, and in again: nothing stays behind.
    for slot in range(size):
        filled.erase([slot])
        filled.write([(slot, constraints[(slot * 7) % size])])
    filled.erase(range(size))
    if usual:
        assert (filled.table[1:, : size // WORD] == 2**64 - 1).all()
    else:
        assert not filled.table.any()
    odd = filled.write(listed)
    assert (filled.table == table).all()
    assert set(odd) == set(filled.odd)


def test_places_are_taken_once_and_given_back() -> None:
    slots = Slots([*["I1"] * 100, *["I2"] * 40, "I3"])
    assert slots.groups == ["I1", "I2"]
    taken = [slots.reserve(interface) for interface in ["I1"] * 100 + ["I2"] * 40 + ["I3"]]
    assert None not in taken
    assert len(set(taken)) == len(taken)
    assert slots.loose == 1
    slots.free(taken[-1])  # type: ignore[arg-type]
    assert slots.loose == 0
    while slots.reserve("I1") is not None:
        pass
    assert slots.reserve("I2") is not None, "a group is not there for others"
    slots.free(taken[0])  # type: ignore[arg-type]
    assert slots.reserve("I1") == taken[0]


_ANY_FLOAT = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(
        st.lists(st.one_of(st.integers(-9, 9).map(float), _ANY_FLOAT), max_size=12),
        min_size=1,
        max_size=4,
    ),
    st.data(),
)
def test_grids_find_the_rows_that_a_search_finds(
    ends: list[list[float]], data: st.DataObject
) -> None:
    """At each threshold and next to it, for thresholds that lie close together or far apart."""
    cells = [Cells.of_floats(np.array(some), limit=data.draw(st.integers(1, 20))) for some in ends]
    offsets = np.cumsum([0, *(each.size for each in cells)])[:-1].tolist()
    grids = Grids(cells, offsets)
    near = [math.inf, -math.inf, math.nan, 0.0, -0.0]
    for each in {end for some in ends for end in some}:
        near += (each, math.nextafter(each, math.inf), math.nextafter(each, -math.inf))
    near += data.draw(st.lists(_ANY_FLOAT, max_size=5))
    found = grids.lines_of(np.array([near] * len(cells)))
    for each, offset, lines in zip(cells, offsets, found.tolist(), strict=True):
        assert lines == [each.row(value) + offset for value in near]


@pytest.mark.parametrize(
    ("thresholds", "serve"), [([0.0, 0.5, 1.0], True), ([*np.arange(1, 1.01, 1e-4)], False)]
)
def test_grids_are_not_used_where_thresholds_crowd(thresholds: list[float], serve: bool) -> None:
    cells = Cells.of_floats(np.array([*thresholds, 1e9]), limit=1_000)
    grids = Grids([cells], [0])
    assert grids.serve is serve
    values = np.random.default_rng(5).uniform(-1, 3, 500)
    assert grids.lines_of(values[np.newaxis]).tolist() == [cells.rows_of_floats(values).tolist()]


@pytest.mark.parametrize("size", [0, 1, 5])
def test_floats_are_read_as_they_are(size: int) -> None:
    values = [1.5, -0.0, math.inf, 5e-324, math.nan][:size]
    floats = as_floats(values, {float})
    assert floats is not None
    assert list(map(repr, floats.tolist())) == list(map(repr, values))
    floats[:] = 0  # an array of its own, which may be changed

"""Positions mean what filters mean: covering and matching by columns are those of the objects."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posetlib import FilterError, parse_filter
from posetlib.arrays.batch_matching import Audience, interfaces_of
from posetlib.arrays.covering import covering_pairs, covers_rowwise, minimal
from posetlib.arrays.positions import (
    ABSENT,
    Vocabulary,
    encode_notifications,
    encode_ranges,
    positions,
    value_position,
)
from posetlib.arrays.ranges import encode_filters
from posetlib.generating import KINDS, Parameters, generated_filters, generated_notifications
from workloads.texts import simple_ranges

DOUBLES = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda v: v == 0 or 2.0**-255 <= abs(v) <= 2.0**255
)
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False),
    st.fractions(),
    st.sampled_from([0, -0.0, 5e-324, -5e-324, 1e300, -1e300, math.inf, -math.inf, 2**53 + 1]),
)

#: Texts of every kind, close enough to one another that many cover one another.
TEXTS = [
    "true", "exists x", "x is number", "x in [0, 10]", "x in (0, 10)", "x in [0, 10)", "x > 0",
    "x >= 0", "x < 10", "x <= 10", "x = 5", "x != 5", "x in {1, 5}", "x:int > 3", "x:int in [1, 5]",
    "x not in [2, 3]", "x = 9007199254740993", "x in [9007199254740992, 9007199254740994]",
    "x <= 1/3", "x in [1/3, 1/2]", "x = 1e300", "x > 1e300", "x in [1e-300, 1]",
    'x = "a"', 'x = "b"', 'x prefix "a"', 'x != "a"', "x is string", "x = true", "x is bool",
    "x subset {1, 5}", "x has 5", "x < $y", "x in [0, 10] and y in [0, 10]", "y > 3",
    'type = "A"', 'type = "A" and x in [0, 5]', 'type = "B" and x in [0, 5]', 'type isa A',
    "exists x and y = 3", "x < 3 or x > 7",
]  # fmt: skip
VALUES = [
    0, 5, 5.0, 10, 3, 4.5, 2**53 + 1, Fraction(1, 3), 0.1, 1e300, 10**400, math.inf, -math.inf,
    math.nan, "a", "b", "zz", True, None, [1, 5], {"z": 1}, 5e-324, -3,
]  # fmt: skip


@given(DOUBLES, DOUBLES)
def test_positions_keep_the_order_of_doubles(one: float, other: float) -> None:
    (a, b), known = positions(np.array([one, other]))
    assert known.all()
    assert (a < b) == (one < other)
    assert (a == b) == (one == other)


@given(NUMBERS, NUMBERS)
def test_positions_of_values_keep_the_order_of_numbers(one: object, other: object) -> None:
    a, b = value_position(one), value_position(other)
    if one < other:  # type: ignore[operator]
        assert a <= b
        if float_or_none(one) == one and float_or_none(other) == other:
            assert a < b
    if one == other:
        assert a == b


def float_or_none(value: object) -> object:
    """The double that a number is, if it is one that has a position of its own."""
    try:
        near = float(value)  # type: ignore[arg-type]
    except OverflowError:
        return None
    sized = near == 0 or 2.0**-255 <= abs(near) <= 2.0**255 or math.isinf(near)
    return near if sized else None


def test_what_covers_what_is_as_the_filters_say() -> None:
    filters = [parse_filter(text) for text in TEXTS]
    columns = encode_filters(filters, Vocabulary())
    ids = np.arange(len(filters))
    found = {
        (f, g)
        for ones, others in covering_pairs(columns, columns, ids, ids)
        for f, g in zip(ones.tolist(), others.tolist(), strict=True)
    }
    expected = {
        (f, g)
        for f, one in enumerate(filters)
        for g, other in enumerate(filters)
        if f != g and one.covers(other)
    }
    assert found == expected
    assert len(expected) > 100


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_row_by_row_is_pair_by_pair(texts: list[str], random: object) -> None:
    filters = [parse_filter(text) for text in texts]
    others = list(filters)
    random.shuffle(others)  # type: ignore[attr-defined]
    words = Vocabulary()
    found = covers_rowwise(encode_filters(filters, words), encode_filters(others, words))
    assert found.tolist() == [f.covers(g) for f, g in zip(filters, others, strict=True)]


@given(st.lists(st.sampled_from(TEXTS), max_size=20))
def test_the_minimal_cover_is_that_of_the_definition(texts: list[str]) -> None:
    filters = [parse_filter(text) for text in texts]
    found = minimal(encode_filters(filters, Vocabulary()), np.arange(len(filters)))
    expected = [
        i
        for i, f in enumerate(filters)
        if not any(
            g.covers(f) and (j < i or not f.covers(g)) for j, g in enumerate(filters) if j != i
        )
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize("kind", KINDS)
def test_the_minimal_cover_of_every_kind_of_load(kind: str) -> None:
    p = Parameters(filters=400, kind=kind, seed=3, schemas=2, decimals=0)
    filters = [parse_filter(text) for text in generated_filters(p, np.arange(400)).texts()]
    found = minimal(encode_filters(filters, Vocabulary()), np.arange(400))
    expected = [
        i
        for i, f in enumerate(filters)
        if not any(
            g.covers(f) and (j < i or not f.covers(g)) for j, g in enumerate(filters) if j != i
        )
    ]
    assert found.tolist() == expected


def test_matching_is_as_the_filters_say() -> None:
    filters = [parse_filter(text) for text in TEXTS]
    notifications = [{}] + [{"x": value} for value in VALUES]
    notifications += [{"x": x, "y": y, "type": "A"} for x in (1, 6, "a") for y in (0, 3, 9)]
    columns = encode_filters(filters, Vocabulary())
    points = encode_notifications(notifications, list(columns.lows), columns.vocabulary)
    bits = Audience(points).matched(columns)
    flags = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little", count=len(notifications))
    for f, one in enumerate(filters):
        for n, notification in enumerate(notifications):
            assert bool(flags[f, n]) == one.matches(notification), (TEXTS[f], notification)


def test_interfaces_are_told_once_each() -> None:
    p = Parameters(filters=500, notifications=130, seed=2, interfaces=7)
    made = generated_filters(p, np.arange(500))
    filters = [parse_filter(text) for text in made.texts()]
    notifications = generated_notifications(p, np.arange(130)).mappings
    columns = encode_filters(filters, Vocabulary())
    audience = Audience(encode_notifications(notifications, ["x", "y"], columns.vocabulary))
    # In portions that cut through interfaces.
    which, told = interfaces_of(audience, columns, made.interfaces, size=64)
    found = set(zip(which.tolist(), told.tolist(), strict=True))
    assert len(found) == len(which)
    assert found == {
        (n, int(interface))
        for n, notification in enumerate(notifications)
        for one, interface in zip(filters, made.interfaces, strict=True)
        if one.matches(notification)
    }


def test_an_absent_value_is_beyond_all_others() -> None:
    points = encode_notifications([{"x": math.inf}, {}], ["x"], Vocabulary())
    assert points.at["x"].tolist() == [value_position(math.inf), ABSENT]


@given(st.sampled_from([*TEXTS, "x in [1, 2] and x > 1", "x in [3, 1]", "in = 3", "x in (1, 1)"]))
def test_what_is_read_quickly_is_read_rightly(text: str) -> None:
    quick = simple_ranges(text)
    if quick is None:
        return
    words = Vocabulary()
    slow = encode_filters([parse_filter(text)], words)
    assert slow.plain.all()
    assert set(quick) == set(slow.lows)
    for name, each in quick.items():
        if isinstance(each, str):
            assert slow.strings(name) == [each]
            continue
        low, high, ends = each
        lows, highs, known = encode_ranges(np.array([low]), np.array([high]), np.array([ends]))
        assert known.all()
        assert (lows[0], highs[0]) == (slow.lows[name][0], slow.highs[name][0])


def test_what_cannot_be_is_left_to_the_parser() -> None:
    for text in ("x in [3, 1]", "x in (1, 1)", "in = 3", "x in [1, 2] and x > 1", "x > 1 or x < 0"):
        assert simple_ranges(text) is None
    with pytest.raises(FilterError):
        parse_filter("x in [3, 1]")


def test_a_filter_comes_back_from_its_positions() -> None:
    filters = [parse_filter(text) for text in TEXTS]
    columns = encode_filters(filters, Vocabulary())
    columns.filters.clear()
    for row in np.flatnonzero(columns.plain).tolist():
        assert columns.filter(row) == filters[row], TEXTS[row]

"""Values and names in every clothing: numpy, Decimal, Fraction, collections, dots and backticks."""

from __future__ import annotations

import collections
import enum
import math
import types
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posetlib as pl
from posetlib import names

NUMPY_INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
NUMPY_FLOATS = [np.float16, np.float32, np.float64, np.longdouble]


@pytest.mark.parametrize("make", [*NUMPY_INTEGERS, *NUMPY_FLOATS, int, float, Decimal, Fraction])
def test_numbers_of_every_type(make: Any) -> None:
    """One number is one number, whatever holds it."""
    value = make(5)
    for text in ("x = 5", "x in [4, 6]", "x:int = 5", "x in {5}", "x is number", "x:int is number"):
        assert pl.parse_filter(text).matches({"x": value}), text
    for text in ("x != 5", "x < 5", "x = true", 'x = "5"', "x has 5", "x is bool", "x is string"):
        assert not pl.parse_filter(text).matches({"x": value}), text
    assert pl.parse_filter("t has 5").matches({"t": [value]})
    assert pl.parse_filter("t subset {5}").matches({"t": {value}})
    assert pl.parse_filter("x <= $y").matches({"x": value, "y": 5})
    assert pl.parse_filter("x <= $y").matches({"x": 5, "y": value})


@pytest.mark.parametrize("make", [*NUMPY_FLOATS, float, Decimal, Fraction])
def test_fractions_of_every_type(make: Any) -> None:
    value = make("0.5") if make in (Decimal, Fraction) else make(0.5)
    assert pl.parse_filter("x = 0.5").matches({"x": value})
    assert pl.parse_filter("x = 1/2").matches({"x": value})
    assert not pl.parse_filter("x:int > 0").matches({"x": value})
    assert pl.parse_filter("x > 0").matches({"x": value})


@pytest.mark.parametrize("make", [*NUMPY_FLOATS, float, Decimal])
def test_infinities_and_nan_of_every_type(make: Any) -> None:
    for sign, text in ((1, "x > 5"), (-1, "x < 5")):
        value = make("inf") * sign
        assert pl.parse_filter(text).matches({"x": value})
        assert pl.parse_filter("x is number").matches({"x": value})
        assert pl.parse_filter("x != 5").matches({"x": value})
        assert pl.parse_filter("x not in [0, 1]").matches({"x": value})
        assert not pl.parse_filter("x:int is number").matches({"x": value})
        assert not pl.parse_filter("x:int > 3").matches({"x": value})
        assert not pl.parse_filter("x:int < 3").matches({"x": value})
        assert not pl.parse_filter("x = 5").matches({"x": value})
        assert not pl.parse_filter("x in [0, 1]").matches({"x": value})
    nan = make("nan")
    assert pl.parse_filter("exists x").matches({"x": nan})
    for text in ("x is number", "x != 5", "x = 5", "x < 5", "x >= 5", "x:int != 5", "x not in {1}"):
        assert not pl.parse_filter(text).matches({"x": nan}), text


@pytest.mark.parametrize("value", [True, np.bool_(True)])
def test_booleans_are_not_numbers(value: Any) -> None:
    assert pl.parse_filter("x = true").matches({"x": value})
    assert pl.parse_filter("x is bool").matches({"x": value})
    assert pl.parse_filter("x != false").matches({"x": value})
    for text in ("x = 1", "x is number", "x > 0", "x:int = 1", "x in {1}", "x != 5"):
        assert not pl.parse_filter(text).matches({"x": value}), text
    assert not pl.parse_filter("x = true").matches({"x": 1})
    assert not pl.parse_filter("x = true").matches({"x": np.int64(1)})
    assert pl.parse_filter("t has true").matches({"t": [value]})
    assert not pl.parse_filter("t has 1").matches({"t": [value]})
    assert not pl.parse_filter("t has true").matches({"t": [1]})
    assert pl.parse_filter("t superset {true, 1}").matches({"t": [value, 1]})
    assert not pl.parse_filter("t superset {true, 1}").matches({"t": [value]})


def test_exact_comparison_with_decimal_and_fraction() -> None:
    """Nothing is rounded on the way: a Decimal is what it says, a float is what it holds."""
    third = pl.parse_filter("x = 1/3")
    assert third.matches({"x": Fraction(1, 3)})
    assert not third.matches({"x": 1 / 3})
    assert not third.matches({"x": Decimal(1) / Decimal(3)})
    assert pl.parse_filter("x > 1/3").matches({"x": Decimal("0.33333333333333333333333333333334")})
    assert pl.parse_filter("x < 1/3").matches({"x": 1 / 3})
    assert pl.parse_filter("x = 0.25").matches({"x": Decimal("0.25")})
    assert pl.parse_filter("x = 0.1").matches({"x": 0.1})
    assert pl.parse_filter("x < 9007199254740993").matches({"x": 2.0**53})
    assert not pl.parse_filter("x <= 9007199254740992").matches({"x": Decimal(2**53 + 1)})
    assert pl.parse_filter("x:int > 0").matches({"x": Decimal("3.0")})
    assert pl.parse_filter("x:int > 0").matches({"x": 1e300})
    assert not pl.parse_filter("x > 18446744073709551615").matches({"x": np.uint64(2**64 - 1)})
    assert pl.parse_filter("x >= 18446744073709551615").matches({"x": np.uint64(2**64 - 1)})
    assert not pl.parse_filter("x = 9223372036854775807").matches({"x": np.float64(2**63)})


@given(
    constant=st.one_of(st.integers(-(2**70), 2**70), st.fractions(max_denominator=50)),
    value=st.one_of(
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.fractions(max_denominator=50),
        st.decimals(allow_nan=False),
    ),
)
def test_order_is_exact(constant: Any, value: Any) -> None:
    """Every comparison agrees with exact arithmetic."""
    if isinstance(value, (float, Decimal)) and not math.isfinite(value):
        return
    if isinstance(value, Decimal) and abs(value.adjusted()) > 400:
        return
    left, right = Fraction(value), Fraction(constant)
    truths = {"=": left == right, "!=": left != right, "<": left < right, ">": left > right}
    for op, truth in truths.items():
        assert pl.parse_filter(f"x {op} {constant}").matches({"x": value}) is truth
    whole = left.denominator == 1
    assert pl.parse_filter(f"x:int >= {constant}").matches({"x": value}) is (
        whole and left >= right
    )


class Colour(str, enum.Enum):  # noqa: UP042  (a plain mix-in, as much code has it)
    RED = "red"


class Size(enum.IntEnum):
    BIG = 5


class Name(str):
    __slots__ = ()


def test_subclasses_of_simple_types() -> None:
    assert pl.parse_filter("x = 5").matches({"x": Size.BIG})
    assert pl.parse_filter('x = "red"').matches({"x": Colour.RED})
    assert pl.parse_filter('x prefix "a"').matches({"x": Name("abc")})
    assert pl.parse_filter('x = "a"').matches({"x": np.str_("a")})
    assert pl.parse_filter('t has "a"').matches({"t": [Name("a")]})


@pytest.mark.parametrize("make", [list, tuple, set, frozenset])
def test_collections_are_multi_values(make: Any) -> None:
    value = make([3, "a"])
    for text in ("t has 3", 't has "a"', "t is set", 't subset {3, "a", 4}', "t lacks 5"):
        assert pl.parse_filter(text).matches({"t": value}), text
    assert pl.parse_filter("t subset {}").matches({"t": make([])})
    assert not pl.parse_filter("t = 3").matches({"t": make([3])})
    assert not pl.parse_filter("t != 4").matches({"t": make([3])})
    assert not pl.parse_filter("t in {3}").matches({"t": make([3])})
    assert not pl.parse_filter('t contains "a"').matches({"t": make(["a"])})
    assert not pl.parse_filter("t has 3").matches({"t": 3})
    assert not pl.parse_filter('t has "a"').matches({"t": "a"})
    assert not pl.parse_filter("t is set").matches({"t": "abc"})


def test_repetition_and_order_do_not_matter() -> None:
    f = pl.parse_filter("t subset {1, 2} and t has 1")
    assert f.matches({"t": [1, 1, 1.0, 2]})
    assert f.matches({"t": (2, 1)})
    assert not f.matches({"t": [1, 3]})


# --- names -------------------------------------------------------------------------------------


def test_dotted_names() -> None:
    """A key of that name first, or else the nested mapping."""
    f = pl.parse_filter("pos.x = 1")
    assert f.matches({"pos.x": 1})
    assert f.matches({"pos": {"x": 1}})
    assert f.matches({"pos.x": 1, "pos": {"x": 2}})
    assert not f.matches({"pos.x": 2, "pos": {"x": 1}})
    assert not f.matches({"x": 1})
    assert not f.matches({"pos": 1})
    assert f.matches({"pos": types.MappingProxyType({"x": 1})})
    assert f.matches(collections.ChainMap({}, {"pos": {"x": 1}}))
    deep = pl.parse_filter("a.b.c.d = 1")
    assert deep.matches({"a": {"b": {"c": {"d": 1}}}})
    assert pl.parse_filter("exists pos.x").matches({"pos": {"x": None}})
    assert list(f.constraints) == ["pos.x"]


def test_a_nested_mapping_is_no_value() -> None:
    f = pl.parse_filter("exists pos")
    assert f.matches({"pos": 1})
    for text in ("pos is set", "pos is number", "pos has 1", 'pos = "x"'):
        assert not pl.parse_filter(text).matches({"pos": {"x": 1}})


KEYWORDS = [
    *("and", "or", "not", "in", "is", "isa", "exists", "true", "false", "prefix", "suffix"),
    *("contains", "subset", "superset", "overlaps", "disjoint", "has", "lacks"),
]


@pytest.mark.parametrize("word", KEYWORDS)
def test_keywords_in_backticks_are_names(word: str) -> None:
    for name in (word, word.upper(), word.title()):
        f = pl.parse_filter(f"`{name}` = 1 and exists `{name}`")
        assert f.matches({name: 1})
        assert list(f.constraints) == [name]
        assert pl.parse_filter(str(f)) == f
        g = pl.parse_filter(f"x < $`{name}`")
        assert g.matches({"x": 1, name: 2})
        assert pl.parse_filter(str(g)) == g


def test_names_are_case_sensitive() -> None:
    assert pl.parse_filter("X = 1") != pl.parse_filter("x = 1")
    assert not pl.parse_filter("X = 1").matches({"x": 1})


def test_names_that_begin_like_keywords() -> None:
    for name in (
        "android",
        "order",
        "notes",
        "inside",
        "island",
        "isabel",
        "truest",
        "hash",
        "prefixes",
    ):
        f = pl.parse_filter(f"{name} = 1 and ({name} < 3 or {name} > 7)")
        assert f.matches({name: 1})
        assert pl.parse_filter(str(f)) == f


def test_keywords_in_any_case() -> None:
    lower = pl.parse_filter('exists a and b not in {1} and c is number and d prefix "x" or true')
    upper = pl.parse_filter('EXISTS a AND b NOT IN {1} AND c IS NUMBER AND d PREFIX "x" OR TRUE')
    assert lower == upper
    for text in ("t SUBSET {1}", "t Has 1", "x:INT > 3", "x = TRUE", "n ISA T", "NOT_A = 1"):
        assert pl.parse_filter(text) == pl.parse_filter(
            text if text.startswith("NOT") else text.lower().replace("isa t", "isa T")
        )


def test_and_binds_tighter() -> None:
    f = pl.parse_filter("x < 1 or x > 3 and x > 5")
    assert f == pl.parse_filter("x < 1 or (x > 3 and x > 5)")
    assert f != pl.parse_filter("(x < 1 or x > 3) and x > 5")
    assert f.matches({"x": 0})
    assert not f.matches({"x": 4})


# --- columns -------------------------------------------------------------------------------------


def test_filters_from_columns() -> None:
    """Closed ranges, one filter per row, equal to the parsed ones."""
    lows, highs = [0, 1, 2.5], [10, 1, 7]
    built = pl.filters_from_columns({"x": (lows, highs), "y": (np.array(lows), np.array(highs))})
    expected = [
        pl.parse_filter(f"x in [{low}, {high}] and y in [{low}, {high}]")
        for low, high in zip(lows, highs, strict=True)
    ]
    assert built == expected
    assert [hash(f) for f in built] == [hash(f) for f in expected]
    assert [str(f) for f in built] == [str(f) for f in expected]
    assert pl.filters_from_columns({"x": ([], [])}) == []
    assert built[0].matches({"x": 5, "y": 5})


@pytest.mark.parametrize(
    ("lows", "highs"),
    [([1], [0]), ([0, 1], [1]), (["a"], [1]), ([True], [1]), ([0], ["b"])],
)
def test_bad_columns(lows: list[Any], highs: list[Any]) -> None:
    with pytest.raises((pl.FilterError, ValueError)):
        pl.filters_from_columns({"x": (lows, highs)})


@given(
    st.lists(st.tuples(st.integers(-(2**60), 2**60), st.integers(0, 2**60)), min_size=1, max_size=5)
)
def test_integer_columns_stay_exact(rows: list[tuple[int, int]]) -> None:
    lows = [low for low, _ in rows]
    highs = [low + width for low, width in rows]
    expected = [
        pl.parse_filter(f"x in [{low}, {high}]") for low, high in zip(lows, highs, strict=True)
    ]
    assert pl.filters_from_columns({"x": (lows, highs)}) == expected
    as_array = {"x": (np.array(lows, dtype=np.int64), np.array(highs, dtype=np.int64))}
    assert pl.filters_from_columns(as_array) == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [(".5", 0.5), ("-.5", -0.5), ("+.25e1", 2.5), ("1.", 1), ("1.e2", 100), ("-2.", -2)],
)
def test_decimals_may_leave_out_the_digits_on_one_side_of_the_point(
    text: str, number: float
) -> None:
    assert pl.parse_filter(f"x = {text}") == pl.parse_filter(f"x = {number!r}")
    assert pl.parse_filter(f"x in [{text}, 200]").matches({"x": number})


@pytest.mark.parametrize("text", [".", "-.", "1..5", ".e3", "1/.5", "1./2"])
def test_a_point_without_digits_is_no_number(text: str) -> None:
    with pytest.raises(pl.FilterSyntaxError):
        pl.parse_filter(f"x = {text}")


EVERY_DOMAIN = (
    "x is number",
    "x is string",
    "x is bool",
    "x is set",
    "x != 0",
    'x != "a"',
    "x lacks 1",
    "x = $x",
)


@pytest.mark.parametrize(
    "value",
    [
        None,
        datetime(2024, 1, 31, 12, 30, tzinfo=UTC),
        date(2024, 1, 31),
        timedelta(1),
        b"abc",
        bytearray(b"abc"),
        {"a": 1},
        object(),
        math.nan,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_no_domain_satisfy_exists_alone(value: object) -> None:
    assert pl.parse_filter("exists x").matches({"x": value})
    for text in EVERY_DOMAIN:
        assert not pl.parse_filter(text).matches({"x": value}), text


def test_a_decimal_in_a_notification_is_not_the_float_of_the_same_digits() -> None:
    f = pl.parse_filter("price <= 19.99")
    assert f.matches({"price": 19.99})
    assert not f.matches({"price": Decimal("19.99")})  # the float 19.99 is a little less
    exact = pl.parse_filter("price <= 1999/100")
    assert exact.matches({"price": Decimal("19.99")})
    assert exact.matches({"price": 19.99})


def test_the_language_page_lists_the_keywords() -> None:
    page = (Path(__file__).parents[2] / "docs" / "language.md").read_text()
    listed = page.partition("Keywords are read in any case: ")[2].partition(". ")[0]
    assert {word.strip("` \n") for word in listed.split(",")} == names.KEYWORDS

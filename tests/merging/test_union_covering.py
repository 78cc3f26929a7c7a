"""Covering by several filters together, against enumeration over small domains."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl
from posetlib.constraints import Constraint, Numbers
from posetlib.merging import cells, meeting
from tests.filters import oracle
from tests.filters.lawbook import build
from tests.filters.strategies import (
    BOOL,
    EXISTS,
    ISA,
    MULTI,
    NUMBER,
    ORDERED_STRING,
    STRING,
    Kind,
)

EXACT = (NUMBER, BOOL, ORDERED_STRING, MULTI, ISA, EXISTS)
Meaning = Mapping[str, oracle.Expr]


def union_covers(filters: Sequence[Meaning], f: Meaning) -> bool:
    """Enumerate: whatever value each attribute takes, some filter accepts all of them."""
    mine = oracle.masks(f)
    helpful = [m for m in map(oracle.masks, filters) if m.keys() <= mine.keys()]
    return _boxes_covered(list(mine), mine, helpful)


def _boxes_covered(names: list[str], mine: Mapping[str, int], alive: list[dict[str, int]]) -> bool:
    if not names:
        return bool(alive)
    name, rest = names[0], names[1:]
    accepted = [m.get(name, oracle.EVERYTHING) for m in alive]
    seen = set()
    for i in range(len(oracle.UNIVERSE)):
        if mine[name] >> i & 1:
            chosen = tuple(j for j, bits in enumerate(accepted) if bits >> i & 1)
            if chosen not in seen:
                seen.add(chosen)
                if not _boxes_covered(rest, mine, [alive[j] for j in chosen]):
                    return False
    return True


@st.composite
def questions(draw: Any, kinds: Sequence[Kind]) -> tuple[list[Meaning], Meaning]:
    """Some filters, and one that is often covered by them together: it is made of their pieces."""
    names = draw(st.sampled_from([("x",), ("x", "y"), ("x", "y", "z")]))
    kind = {name: draw(st.sampled_from(kinds)) for name in names}
    f = {name: draw(kind[name].atoms) for name in names}
    filters: list[Meaning] = []
    # A division of f by atoms and their opposites, some of it missing, and some filters at random.
    filters += [
        {name: draw(kind[name].exprs) for name in names if draw(st.integers(0, 3))}
        for _ in range(draw(st.integers(0, 4)))
    ]
    name = draw(st.sampled_from(names))
    first, second = draw(kind[name].atoms), draw(kind[name].atoms)
    filters.append({**f, name: ("or", first, second)})
    filters.append({**f, name: draw(kind[name].exprs)})
    return filters, f


def check(filters: list[Meaning], f: Meaning, *, is_exact: bool) -> None:
    """Hold the answer against enumeration, and the witness against the filters."""
    made = [(meaning, build(meaning)) for meaning in filters]
    known = [(meaning, one) for meaning, one in made if one is not None]
    target = build(f)
    if target is None:
        return
    some = [one for _, one in known]
    answer = pl.union_covers(some, target)
    with pytest.MonkeyPatch.context() as patch:
        # As a long list, which is read, remembered, and then asked by its columns.
        patch.setattr(meeting, "_LONG", 0)
        for _ in range(3):
            assert pl.union_covers(some, target) == answer
    wanted = union_covers([meaning for meaning, _ in known], f)
    if answer:
        assert wanted, "never wrongly True"
        assert pl.union_covers(answer.coverers, target)
        assert set(answer.coverers) <= set(some)
    elif is_exact:
        assert not wanted
        assert not answer.exhausted
        assert answer.witness is not None
    if answer.witness is not None:
        assert not wanted
        assert target.matches(answer.witness)
        assert not any(one.matches(answer.witness) for one in some)


@settings(max_examples=400)
@given(questions(EXACT))
def test_exact_over_small_domains(question: tuple[list[Meaning], Meaning]) -> None:
    check(*question, is_exact=True)


@settings(max_examples=150)
@given(questions((STRING, *EXACT)))
def test_never_wrongly_true_with_patterns(question: tuple[list[Meaning], Meaning]) -> None:
    check(*question, is_exact=False)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(*(st.integers(0, 6) for _ in range(4))), max_size=9),
    st.sampled_from(["[]", "()", "[)", "(]"]),
    st.booleans(),
)
def test_boxes_against_points(
    corners: list[tuple[int, int, int, int]], ends: str, whole: bool
) -> None:
    """Two-dimensional boxes against all points at whole and half coordinates."""
    made = []
    for a, b, c, d in corners:
        sides = zip("xy", (sorted((a, b)), sorted((c, d))), strict=True)
        integers = ":int" if whole and a % 2 else ""
        try:
            made.append(
                pl.parse_filter(
                    " and ".join(
                        f"{name}{integers} in {ends[0]}{low}, {high}{ends[1]}"
                        for name, (low, high) in sides
                    )
                )
            )
        except pl.EmptyConstraintError:
            continue
    target = pl.parse_filter("x in [1, 4] and y in [1, 4]")
    points = [i / 2 for i in range(2, 9)]
    missed = [
        {"x": x, "y": y}
        for x, y in itertools.product(points, points)
        if not any(one.matches({"x": x, "y": y}) for one in made)
    ]
    answer = pl.union_covers(made, target)
    assert bool(answer) is not bool(missed)
    assert answer or answer.witness is not None


def test_nothing_covers_nothing_but_everything_does() -> None:
    f = pl.parse_filter("x > 3")
    assert pl.union_covers([], f).witness == {"x": 4}
    assert pl.union_covers([pl.parse_filter("true")], f)
    assert pl.union_covers([pl.parse_filter("true")], pl.parse_filter("true"))
    nothing = pl.union_covers([f], pl.parse_filter("true"))
    assert not nothing
    assert nothing.witness == {}


def test_an_attribute_that_may_be_absent_is_no_help() -> None:
    """The union covers every x and y, but a notification may have no y at all."""
    sides = [pl.parse_filter("x > 0 and y <= 5"), pl.parse_filter("x > 0 and y > 5")]
    answer = pl.union_covers(sides, pl.parse_filter("x > 1"))
    assert not answer
    assert answer.witness == {"x": 2}


def test_integers_do_not_fill_the_line() -> None:
    parts = [pl.parse_filter("x:int in [0, 5]"), pl.parse_filter("x in (5, 9]")]
    assert pl.union_covers(parts, pl.parse_filter("x in [3, 7]")).witness == {"x": 3.5}
    assert pl.union_covers(parts, pl.parse_filter("x:int in [3, 7]"))


def test_infinity_and_the_values_of_no_domain_are_not_forgotten() -> None:
    domains = [pl.parse_filter(f"x is {name}") for name in ("number", "string", "bool", "set")]
    assert not pl.union_covers(domains, pl.parse_filter("exists x"))
    halves = [pl.parse_filter("x <= 5"), pl.parse_filter("x > 5")]
    assert pl.union_covers(halves, pl.parse_filter("x is number"))
    open_halves = [pl.parse_filter("x < 5"), pl.parse_filter("x > 5")]
    assert pl.union_covers(open_halves, pl.parse_filter("x is number")).witness == {"x": 5}


def test_the_limit_on_the_work_is_told() -> None:
    sides = [
        pl.parse_filter(f"x in [{i}, {i + 1}] and y in [{j}, {j + 1}]")
        for i in range(6)
        for j in range(6)
    ]
    whole = pl.parse_filter("x in [0, 6] and y in [0, 6]")
    assert pl.union_covers(sides, whole)
    short = pl.union_covers(sides, whole, limit=5)
    assert not short
    assert short.exhausted
    assert short.witness is None
    with pytest.raises(ValueError, match="limit is at least 1"):
        pl.union_covers(sides, whole, limit=0)


def test_too_many_cells_of_sets_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "_MAX_SET_CELLS", 8)
    some = [pl.parse_filter(f"t has {i}") for i in range(9)]
    answer = pl.union_covers(some, pl.parse_filter("t is set"))
    assert answer.exhausted


def test_a_kind_of_ones_own_counts_as_a_whole() -> None:
    class Odd(Constraint):
        def matches(self, value: Any) -> bool:
            return isinstance(value, int) and value % 2 == 1

        def clauses(self, name: str) -> tuple[str, ...]:
            return (f"{name} is odd",)

        def covers(self, other: Constraint) -> bool:
            return isinstance(other, Odd)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Odd)

        def __hash__(self) -> int:
            return 1

    odd = pl.Filter({"x": Odd()})
    wide = pl.Filter({"x": Odd(), "y": pl.parse_filter("y > 3").terms[0]})
    rest = pl.Filter({"x": Odd(), "y": pl.parse_filter("y <= 3").terms[0]})
    y = pl.parse_filter("y is number").terms[0]
    assert pl.union_covers([wide, rest], pl.Filter({"x": Odd(), "y": y}))
    assert not pl.union_covers([odd], pl.parse_filter("x > 3"))


def test_placeholders_are_compared_by_name() -> None:
    sides = [pl.parse_filter("x < $z and y > 3"), pl.parse_filter("x < $z and y <= 3")]
    assert pl.union_covers(sides, pl.parse_filter("x < $z and y is number"))
    assert not pl.union_covers(sides, pl.parse_filter("x < $w and y is number"))


def test_a_table_is_asked_by_its_roots() -> None:
    table = pl.NonRedundantForest.build(
        [(pl.parse_filter(f"x in [{i}, {i + 2}] and y > {i % 3}"), i) for i in range(200)]
    )
    for text in ("x in [5, 90] and y > 3", "x in [5, 90] and y > 1", "x in [5, 90.5] and z > 3"):
        f = pl.parse_filter(text)
        assert bool(pl.union_covers(table, f)) == bool(pl.union_covers(list(table), f))


def test_what_is_no_filter_is_refused() -> None:
    with pytest.raises(TypeError, match="covered by filters"):
        pl.union_covers([], "x > 3")  # type: ignore[arg-type]
    for some in (["x > 3"], ["x > 3"] * 300, iter(["x > 3"])):
        with pytest.raises(TypeError, match="covered by filters, not str"):
            pl.union_covers(some, pl.parse_filter("x > 4"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a list of filters, or a table"):
        pl.union_covers(pl.parse_filter("x > 3"), pl.parse_filter("x > 4"))  # type: ignore[arg-type]


def long_list() -> list[pl.Filter]:
    """Return 300 intervals with gaps between them, and some filters that are no help."""
    made = [pl.parse_filter(f"x in [{2 * i}, {2 * i + 1}]") for i in range(300)]
    return [*made, pl.parse_filter('x = "a"'), pl.parse_filter("x in [0, 900] and y > 0")]


def test_a_long_list_is_asked_by_columns_like_a_short_one() -> None:
    some = long_list()
    asked = [f"x in [{a}, {b}]" for a, b in ((4, 5), (4, 6), (4.5, 4.75), (-1, 0), (5.25, 5.75))]
    asked += ["x > 598", 'x = "a"', "exists x", "x in {4, 5, 6}", "x:int in [4, 8]", "true"]
    for text in asked:
        f = pl.parse_filter(text)
        plain = pl.union_covers(iter(some), f)
        assert [pl.union_covers(some, f) for _ in range(3)] == [plain] * 3
        assert pl.union_covers(tuple(some), f) == plain
    assert pl.union_covers(some, pl.parse_filter("x:int in [4, 8]"))
    assert pl.union_covers(some, pl.parse_filter("x in [4, 6]")).witness == {"x": 5.5}


def test_a_long_list_that_changes_is_read_again() -> None:
    some = long_list()
    f = pl.parse_filter("x in [4, 7]")
    assert [bool(pl.union_covers(some, f)) for _ in range(3)] == [False] * 3
    some[0] = pl.parse_filter("x in [5, 6]")
    assert [bool(pl.union_covers(some, f)) for _ in range(3)] == [True] * 3
    some.pop(2)
    assert [bool(pl.union_covers(some, f)) for _ in range(3)] == [False] * 3


def test_a_long_list_with_ends_that_no_float_holds() -> None:
    """Fractions, long integers, and one that is beyond all floats."""
    big, huge = 2**53 + 1, 10**400
    some = [*long_list(), pl.parse_filter(f"x in [{big}, {huge}]")]
    for text in (f"x in [{2**53}, {big}]", f"x = {big}", f"x in [{huge - 1}, {huge}]"):
        f = pl.parse_filter(text)
        plain = pl.union_covers(iter(some), f)
        assert [pl.union_covers(some, f) for _ in range(3)] == [plain] * 3
    third = pl.Filter({"x": Numbers.interval(Fraction(1, 3), Fraction(2, 3))})
    tenth = pl.Filter({"x": Numbers.interval(Fraction(2, 3), Fraction(2, 3))})
    assert [bool(pl.union_covers([*some, third], tenth)) for _ in range(3)] == [True] * 3


def test_more_attributes_than_python_has_frames() -> None:
    names = [f"a{i}" for i in range(1200)]
    whole, low = (
        pl.Filter({name: Numbers.interval(0, high) for name in names}) for high in (10, 5)
    )
    high = [pl.Filter({name: Numbers.interval(5, 10)}) for name in names]
    assert len(pl.union_covers([*high, low], whole).coverers) == len(names) + 1
    without = pl.union_covers([*high[:-1], low], whole)
    assert not without
    assert without.witness is not None
    assert whole.matches(without.witness)

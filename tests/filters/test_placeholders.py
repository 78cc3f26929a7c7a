"""`x < $y` compares with the notification's own y: sound always, exact for one name."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import posetlib as pl

from .lawbook import check_laws
from .oracle import domain, exact, relation
from .strategies import COMPARISONS

VALUES = (0, 1, 2.5, math.inf, -math.inf, "", "a", "ab", True, False, math.nan, (1,), (1, 2))
ORDERED = ("number", "string")


@pytest.mark.parametrize("op", COMPARISONS)
def test_matches(op: str) -> None:
    f = pl.parse_filter(f"x {op} $y")
    for x, y in itertools.product(VALUES, repeat=2):
        if domain(x) == domain(y) and domain(x) in ORDERED:
            expected = relation(op, exact(x), exact(y))
            assert f.matches({"x": x, "y": y}) is expected, (op, x, y)
        elif domain(x) == domain(y) == "bool" and op in ("=", "!="):
            assert f.matches({"x": x, "y": y}) is (x == y if op == "=" else x != y)
        elif domain(x) is None or domain(y) is None:
            assert f.matches({"x": x, "y": y}) is False, "NaN satisfies only exists"
        elif domain(x) != domain(y) and op != "!=":
            assert f.matches({"x": x, "y": y}) is False
    assert not f.matches({"x": 1})
    assert not f.matches({"y": 1})
    assert not f.matches({})
    assert f.matches({"x": 1, "y": 1}) is (op in ("=", "<=", ">="))
    assert f.matches({"x": 2**53, "y": 2**53 + 1}) is (op in ("<", "<=", "!="))


IMPLIED = {  # op -> the ops that it covers, for one name
    "<": {"<"},
    "<=": {"<", "<=", "="},
    "=": {"="},
    ">=": {">", ">=", "="},
    ">": {">"},
    "!=": {"<", ">", "!="},
}


def test_same_name_is_exact() -> None:
    """[T, A.1]: two placeholders compare when they name the same attribute."""
    for first, second in itertools.product(COMPARISONS, repeat=2):
        f, g = pl.parse_filter(f"x {first} $y"), pl.parse_filter(f"x {second} $y")
        assert f.covers(g) is (second in IMPLIED[first]), (first, second)
        other = pl.parse_filter(f"x {second} $z")
        assert not f.covers(other)
        assert not other.covers(f)
        assert f.overlaps(other), "undecided: yes"
        assert (f == g) is (first == second)
    assert not pl.parse_filter("x < $y").overlaps(pl.parse_filter("x > $y"))
    assert not pl.parse_filter("x < $y").overlaps(pl.parse_filter("x >= $y"))
    assert not pl.parse_filter("x = $y").overlaps(pl.parse_filter("x != $y"))
    assert pl.parse_filter("x <= $y").overlaps(pl.parse_filter("x >= $y"))


def test_combinations_of_one_name() -> None:
    assert pl.parse_filter("x <= $y and x >= $y") == pl.parse_filter("x = $y")
    assert pl.parse_filter("x <= $y and x != $y") == pl.parse_filter("x < $y")
    assert pl.parse_filter("x < $y or x = $y") == pl.parse_filter("x <= $y")
    with pytest.raises(pl.FilterError):
        pl.parse_filter("x < $y and x > $y")
    with pytest.raises(pl.FilterError):
        pl.parse_filter("x = $y and x != $y")


def test_against_the_rest() -> None:
    f = pl.parse_filter("x < $y")
    assert pl.parse_filter("exists x").covers(f)
    assert pl.parse_filter("true").covers(f)
    assert not f.covers(pl.parse_filter("x < 3"))
    assert not pl.parse_filter("x is number").covers(f), "strings have an order too"
    assert f.covers(pl.parse_filter("x < $y and x > 3"))
    assert f.covers(pl.parse_filter("x < $y and y > 3"))
    assert f.overlaps(pl.parse_filter("x < 3"))
    assert f.overlaps(pl.parse_filter('x = "a"'))
    assert f.overlaps(pl.parse_filter("y > 3"))
    assert str(pl.parse_filter(str(f))) == str(f)
    assert pl.Filter.from_dict(f.to_dict()) == f


def test_placeholder_of_itself() -> None:
    """`x = $x` says that x equals itself; whatever the library makes of it is consistent."""
    f = pl.parse_filter("x = $x")
    assert f.matches({"x": 1})
    assert not f.matches({"x": math.nan})
    assert not f.matches({})


def test_what_is_never_true_of_itself_is_left_out_of_a_disjunction() -> None:
    assert pl.parse_filter("x < $x or x > 5") == pl.parse_filter("x > 5")
    assert pl.parse_filter("(x <= $x and x != $x) or x > 5") == pl.parse_filter("x > 5")
    assert pl.parse_filter("x < $x or x = $x") == pl.parse_filter("x = $x")
    assert pl.parse_filter("x < $y").matches({"x": 1, "y": 2})


@pytest.mark.parametrize("operator", ["<", ">", "!="])
def test_what_is_never_true_of_itself_is_refused_however_it_is_made(operator: str) -> None:
    constraint = pl.parse_filter(f"y {operator} $x").constraints["y"]
    with pytest.raises(pl.FilterError, match=f"x {operator} .x"):
        pl.Filter({"x": constraint})
    with pytest.raises(pl.FilterError, match=f"x {operator} .x"):
        pl.Filter.from_dict({"x": constraint.to_dict()})


def test_dotted_and_quoted_placeholders() -> None:
    f = pl.parse_filter("bid.price <= $limit.price")
    assert f.matches({"bid": {"price": 3}, "limit": {"price": 4}})
    assert f.matches({"bid.price": 3, "limit.price": 4})
    assert not f.matches({"bid": {"price": 5}, "limit": {"price": 4}})
    assert pl.parse_filter(str(f)) == f


atoms = st.builds(
    "x {} {}".format,
    st.sampled_from(COMPARISONS),
    st.sampled_from(["$y", "$y", "$z", "0", "1", "2.5"]),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Placeholders and numbers under and, or; sometimes with a constraint on y as well."""
    text = draw(atoms)
    for _ in range(draw(st.integers(0, 3))):
        text = f"({text}) {draw(st.sampled_from(['and', 'or']))} ({draw(atoms)})"
    more = draw(st.sampled_from(["", "", "y > 0", "y is number", "exists z"]))
    return f"({text}) and {more}" if more else text


def parsed(text: str) -> pl.Filter | None:
    try:
        return pl.parse_filter(text)
    except pl.FilterError:
        return None


NOTIFICATIONS = [
    {"x": x, "y": y, **({} if z is None else {"z": z})}
    for x, y in itertools.product(VALUES[:11], repeat=2)
    for z in (None, 0, 1.5, "a", True)
]


def meant(text: str, notification: dict[str, object]) -> bool:
    """The truth of an `x op …` text, read with Python's own grammar."""

    class Value:
        def __init__(self, value: object) -> None:
            self.value = value

        def compare(self, op: str, other: object) -> bool:
            other = other.value if isinstance(other, Value) else other
            same = domain(self.value) == domain(other) and domain(self.value) in ORDERED
            return same and relation(op, exact(self.value), exact(other))

        def __lt__(self, other: object) -> bool:
            return self.compare("<", other)

        def __le__(self, other: object) -> bool:
            return self.compare("<=", other)

        def __gt__(self, other: object) -> bool:
            return self.compare(">", other)

        def __ge__(self, other: object) -> bool:
            return self.compare(">=", other)

        def __eq__(self, other: object) -> bool:
            return self.compare("=", other)

        def __ne__(self, other: object) -> bool:
            return self.compare("!=", other)

        __hash__ = None  # type: ignore[assignment]

    names = {name: Value(notification.get(name, math.nan)) for name in "xyz"}
    python = text.replace("$", "").replace("=", "==")
    python = python.replace("<==", "<=").replace(">==", ">=").replace("!==", "!=")
    python = python.replace("exists z", repr("z" in notification))
    python = python.replace("y is number", repr(domain(notification.get("y")) == "number"))
    return bool(eval(python, {"__builtins__": {}}, names))


@given(text=texts())
def test_combinations_match_what_they_say(text: str) -> None:
    """Numbers and strings only: of the others the text leaves != open."""
    f = parsed(text)
    for notification in NOTIFICATIONS:
        if any(domain(value) not in ORDERED for value in notification.values()):
            continue
        if "z" in notification and len({domain(v) for v in notification.values()}) > 1:
            continue
        if domain(notification["x"]) != domain(notification["y"]):
            continue
        expected = meant(text, notification)
        if f is None:
            assert not expected, notification
        else:
            assert f.matches(notification) is expected, notification


@given(first=texts(), second=texts(), third=texts())
def test_soundness(first: str, second: str, third: str) -> None:
    """Covers implies inclusion, no overlap implies disjoint, mergers hold both; and the laws."""
    built = [f for f in map(parsed, (first, second, third)) if f is not None]
    check_laws([*built, pl.parse_filter("exists x"), pl.parse_filter("true")], antisymmetric=False)
    matched = [[f.matches(n) for n in NOTIFICATIONS] for f in built]
    for (f, in_f), (g, in_g) in itertools.product(zip(built, matched, strict=True), repeat=2):
        if f.covers(g):
            assert all(mine or not other for mine, other in zip(in_f, in_g, strict=True))
        else:
            why = f.why_not_covers(g)
            assert why is not None
            if why.witness is not None:
                assert g.matches(why.witness)
                assert not f.matches(why.witness)
        if not f.overlaps(g):
            assert not any(mine and other for mine, other in zip(in_f, in_g, strict=True))
        merged = pl.merge(f, g)
        if merged is not None:
            assert merged.covers(f)
            assert merged.covers(g)
            for notification, mine, other in zip(NOTIFICATIONS, in_f, in_g, strict=True):
                assert merged.matches(notification) is (mine or other)
        loose = pl.merge(f, g, perfect=False)
        if loose is not None:
            assert loose.covers(f)
            assert loose.covers(g)
    for f in built:
        assert pl.parse_filter(str(f)) == f
        assert pl.Filter.from_dict(f.to_dict()) == f

"""A filter survives text, dict, JSON, pickle and copy; many spellings are one filter."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl

from . import oracle
from .lawbook import TYPES, build
from .strategies import PLAIN_KINDS, Kind, filters, seeds


def check_round_trips(f: pl.Filter) -> None:
    """Everything that can bring a filter back brings back an equal one."""
    again = pl.parse_filter(str(f), types=TYPES)
    assert again == f
    assert hash(again) == hash(f)
    assert str(again) == str(f), "the text is canonical"
    data = f.to_dict()
    through_json = json.loads(json.dumps(data, allow_nan=False))
    for returned in (
        pl.Filter.from_dict(data),
        pl.Filter.from_dict(through_json),
        pickle.loads(pickle.dumps(f)),
        copy.copy(f),
        copy.deepcopy(f),
        pl.Filter(f.constraints),
    ):
        assert returned == f
        assert hash(returned) == hash(f)
        assert str(returned) == str(f)
        assert f.covers(returned)
        assert returned.covers(f)
    assert pl.Filter.from_dict(data).to_dict() == data


@pytest.mark.parametrize("kind", PLAIN_KINDS, ids=str)
@given(data=st.data(), seed=seeds)
def test_one_constraint(kind: Kind, data: st.DataObject, seed: int) -> None:
    f = build({"x": data.draw(kind.exprs)}, seed)
    if f is not None:
        check_round_trips(f)


@given(meaning=filters(names=("x", "a.b", "and", "Ünïcode", "x y", "in")))
def test_whole_filters(meaning: dict[str, oracle.Expr]) -> None:
    """Names that are keywords, or no identifiers at all, go in backticks."""
    quoted = {(name if name in ("x", "a.b") else f"`{name}`"): e for name, e in meaning.items()}
    text = oracle.spell(quoted).replace("``", "`")
    if oracle.means_nothing(meaning):
        return
    f = pl.parse_filter(text, types=TYPES)
    assert set(f.constraints) == set(meaning)
    check_round_trips(f)


@given(meaning=filters(), some=st.lists(seeds, min_size=2, max_size=5))
def test_spellings_are_one_filter(meaning: dict[str, oracle.Expr], some: list[int]) -> None:
    """Order, parentheses, case, white space and repetition do not matter."""
    built = [build(meaning, seed) for seed in [0, *some]]
    if built[0] is None:
        return
    assert len(set(built)) == 1
    assert len({str(f) for f in built}) == 1


@given(value=st.text(), other=st.text(max_size=5))
def test_any_string_constant(value: str, other: str) -> None:
    """Quotes, backslashes, control and astral characters survive the text."""
    constant = json.dumps(value)
    for text in (
        f"s = {constant}",
        f"s in {{{constant}, {json.dumps(other)}}}",
        f"s >= {constant}",
    ):
        f = pl.parse_filter(text)
        assert f.matches({"s": value})
        check_round_trips(f)
    raw = pl.parse_filter(f"s prefix {json.dumps(value, ensure_ascii=False)}")
    assert raw.matches({"s": value + other})
    check_round_trips(raw)
    if value:
        assert not raw.matches({"s": value[:-1]})
    for op in ("suffix", "contains"):
        inner = pl.parse_filter(f"s {op} {constant}")
        assert inner.matches({"s": other + value})
        check_round_trips(inner)


@given(
    value=st.one_of(
        st.integers(), st.integers(-(10**60), 10**60), st.floats(allow_nan=False), st.fractions()
    )
)
def test_any_number_constant(value: object) -> None:
    """An integer, float or fraction comes back exactly, from text and from dict."""
    if value in (float("inf"), float("-inf")):
        with pytest.raises(pl.FilterError):
            pl.parse_filter(f"x = {value}")
        return
    f = pl.parse_filter(f"x = {value}")
    assert f.matches({"x": value}), str(f)
    check_round_trips(f)
    for op in ("<=", ">=", "<", ">", "!="):
        g = pl.parse_filter(f"x {op} {value}")
        assert g.matches({"x": value}) == (op in ("<=", ">="))
        check_round_trips(g)


@given(name=st.text(min_size=1, max_size=8))
def test_any_name_in_backticks(name: str) -> None:
    """A name is any text; the canonical text quotes it when it must."""
    if "`" in name or not name.isprintable() or name.strip(".") != name or ".." in name:
        return
    try:
        f = pl.parse_filter(f"`{name}` = 1")
    except pl.FilterError:
        assert "\\" in name or not name.isprintable()
        return
    assert set(f.constraints) == {name}
    assert f.matches({name: 1})
    check_round_trips(f)


def test_constraints_are_read_only() -> None:
    f = pl.parse_filter("x = 1 and y = 2")
    assert list(f.constraints) == ["x", "y"]
    with pytest.raises(TypeError):
        f.constraints["x"] = f.constraints["y"]  # type: ignore[index]
    before = hash(f)
    data = f.to_dict()
    data.clear()
    assert hash(f) == before
    assert f.matches({"x": 1, "y": 2})


def test_a_filter_does_not_compare_with_other_things() -> None:
    f = pl.parse_filter("x = 1")
    assert f != "x = 1"
    assert f != 1
    assert f is not None
    assert (f == object()) is False
    assert len({f, pl.parse_filter("x in {1}")}) == 1
    with pytest.raises((TypeError, AttributeError)):
        f.covers("x = 1")  # type: ignore[arg-type]


UNSETTLED = [
    '(x in {"ab", "bb"} or x contains "aa") and x suffix "bb"',
    '(x in {"a", "ab", "bb"} or x not contains "b") and x not contains "a"',
    '(s contains "bba" or s in {"bb", "b", "aaa"}) and s not suffix "aa"',
    '(s isa a or s contains "aa") and (s suffix "bb" or s prefix "aa")',
]


@pytest.mark.parametrize("text", UNSETTLED)
def test_canonical_form_is_a_fixed_point(text: str) -> None:
    """Points beside patterns: what is left of a set may make a pattern needless."""
    check_round_trips(pl.parse_filter(text, types=TYPES))


short = st.text(alphabet="ab", max_size=3).map(json.dumps)
string_atoms = st.one_of(
    st.builds("s {} {}".format, st.sampled_from(["=", "!=", "<", ">="]), short),
    st.builds(
        "s {} {}".format,
        st.sampled_from(["prefix", "suffix", "contains", "not suffix", "not contains"]),
        short,
    ),
    st.lists(short, min_size=1, max_size=5).map(lambda words: f"s in {{{', '.join(words)}}}"),
)


@settings(max_examples=max(200, settings().max_examples))
@given(
    st.recursive(
        string_atoms,
        lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner),
        max_leaves=7,
    )
)
def test_canonical_form_of_string_mixtures(text: str) -> None:
    """Longer constants and sets than the universe holds: only the form is looked at."""
    try:
        f = pl.parse_filter(text)
    except pl.FilterError:
        return
    check_round_trips(f)


FACTS = [
    "x:int is number or x = 0.5",
    "x in {0, 0.5} or x:int != 0",
    "x:int is number or x in (0, 1)",
    "x:int is number or x < 1/3",
    "x:int <= 3 or x = 0.5",
    "x:int >= 3 or x in (0, 0.5] or x:int < 0",
    "x:int not in {1, 2, 5} or x in [1.5, 1.75]",
    "x:int not in [0, 10] or x in [3, 4)",
    "x not in {1, 2} or x:int = 1",
    "x:int not in {0, 1000000}",
    "x != 0 and x != 1/3",
    "x < 0 or x in {1, 1.5, 2, 3, 4} or x > 9.5",
    "x in {9007199254740992, 9007199254740993, 0.1, 1/10}",
    "x not in [0, 1] and x not in (2, 3)",
    's < "a" or s in {"b", "c"} or s prefix "d" or s > "z"',
    's not prefix "a" and s != "b"',
    's not in {"a", "b"} and s suffix "c"',
    's in {"a", "\\u0000", "\\ud7ff", "\\ue000", "\\udbff\\udfff"}',
    's prefix "\\udbff\\udfff" or s prefix "\\ud7ff"',
    't subset {1, "a", true} or t has false',
    "t subset {} or t superset {1, 2, 3}",
    "t lacks 1 or t lacks 2 and t has 3",
    "x < $y or x = $z",
    "x < $y and x in [0, 5] or x > 100",
    "x:int < $y",
    "x = true and y is bool and exists z and w:int is number",
    "type isa a or type isa ba",
    "type isa a and type isa b",
]


@pytest.mark.parametrize("text", FACTS)
def test_facts_survive_the_text(text: str) -> None:
    check_round_trips(pl.parse_filter(text, types=TYPES))

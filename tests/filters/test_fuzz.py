"""Whatever text or dict comes in, a filter or a FilterError comes out."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import posetlib as pl

from . import oracle
from .lawbook import TYPES
from .strategies import filters, seeds

TOKENS = [
    *("x", "y", "a.b", "`x y`", "type", "_", "é", "in", "not", "and", "or", "true", "false"),
    *("exists", "is", "isa", "number", "string", "bool", "set", "int", ":int", ":", "$y", "$"),
    *("prefix", "suffix", "contains", "subset", "superset", "has", "lacks", "overlaps"),
    *("disjoint", "=", "!=", "<", "<=", ">", ">=", "(", ")", "[", "]", "{", "}", ",", "-", "/"),
    *("0", "1", "-1", "2.5", "1e3", "1/3", "1e400", "nan", "inf", '"a"', '"ab"', '""', '"\\u00e9"'),
    *("IN", "Not", "AND", "OR", "Exists", ".", "..", '"', "`", "\\", "#", "\n", "\t", "\x00"),
]
ATOMS = [
    *("x = 1", "x != 1", "x < 2", "x in [0, 1)", "x in {1, 2}", "x not in (0, 1)", "x:int > 0"),
    *('s = "a"', 's prefix "a"', 's not contains "ab"', 's suffix ""', 's in {"a", "b"}'),
    *("t has 1", "t lacks true", "t subset {}", "t overlaps {1, 2}", "exists x", "x is number"),
    *("type isa a", "x < $y", "true", "x = true", "y = 1", "x is string", 's < "b"'),
]


def only_filter_errors(text: str) -> pl.Filter | None:
    """The filter, if it is one; then it must also come back from its own text."""
    refusal: pl.FilterError | None = None
    try:
        f = pl.parse_filter(text, types=TYPES)
    except pl.FilterError as error:
        refusal = error
    if isinstance(refusal, pl.FilterSyntaxError):
        assert 1 <= refusal.line <= text.count("\n") + text.count("\r") + 1
        assert refusal.column >= 1
    if refusal is not None:
        assert str(refusal)
        return None
    assert pl.parse_filter(str(f), types=TYPES) == f
    assert pl.Filter.from_dict(json.loads(json.dumps(f.to_dict()))) == f
    assert f.covers(f)
    return f


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    only_filter_errors(text)


@given(st.text(alphabet="xy=<>!()[]{},.0123456789eE+-/\"'`$:andorintus \n\\", max_size=60))
def test_text_of_likely_characters(text: str) -> None:
    only_filter_errors(text)


@given(st.lists(st.sampled_from(TOKENS), max_size=15), st.sampled_from([" ", ""]))
def test_sequences_of_tokens(tokens: list[str], separator: str) -> None:
    only_filter_errors(separator.join(tokens))


@given(
    st.lists(
        st.one_of(st.sampled_from(ATOMS), st.sampled_from(["and", "or", "(", ")", "not"])),
        max_size=12,
    )
)
def test_sequences_of_atoms(parts: list[str]) -> None:
    only_filter_errors(" ".join(parts))


@given(
    st.recursive(
        st.sampled_from(ATOMS),
        lambda inner: st.builds(
            lambda word, parts: "(" + f" {word} ".join(parts) + ")",
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=2, max_size=3),
        ),
        max_leaves=8,
    )
)
def test_lawful_nests(text: str) -> None:
    """Well written and mixed at will: many mean nothing, or mix domains, and none may escape."""
    only_filter_errors(text)


@given(meaning=filters(), seed=seeds, edits=st.integers(1, 3))
def test_mutated_filters(meaning: dict[str, oracle.Expr], seed: int, edits: int) -> None:
    """A character deleted, doubled, swapped or replaced."""
    random = Random(seed)
    text = oracle.spell(meaning, seed)
    for _ in range(edits):
        at = random.randrange(len(text) + 1)
        how = random.randrange(4)
        if how == 0:
            text = text[:at] + text[at + 1 :]
        elif how == 1:
            text = text[:at] + random.choice('x=<>!()[]{},.019"`$: \n\\-/e') + text[at:]
        elif how == 2:
            text = text[:at] + text[at : at + 5] * 2 + text[at + 5 :]
        else:
            text = text[:at] + random.choice(TOKENS) + text[at + 1 :]
    only_filter_errors(text)


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 5),
        st.floats(),
        st.sampled_from(["", "x", "=", "number", "range", "in", "set", "nan", "1/3", "1/0", "inf"]),
        st.text(max_size=3),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["x", "kind", "op", "value", "values", "constraints", "type", "low"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)


@given(json_values)
def test_any_json_as_a_dict(data: Any) -> None:
    try:
        f = pl.Filter.from_dict(data)
    except pl.FilterError:
        return
    assert pl.Filter.from_dict(f.to_dict()) == f


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place within a JSON value."""
    found = [path]
    if isinstance(data, dict):
        for name, value in data.items():
            found += places(value, (*path, name))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            found += places(value, (*path, index))
    return found


@given(meaning=filters(min_size=1), data=st.data(), replacement=json_values)
def test_mutated_dicts(
    meaning: dict[str, oracle.Expr], data: st.DataObject, replacement: Any
) -> None:
    """One value of a lawful dict replaced by another, or taken out."""
    if oracle.means_nothing(meaning):
        return
    f = pl.parse_filter(oracle.spell(meaning), types=TYPES)
    lawful = json.loads(json.dumps(f.to_dict()))
    mutated = copy.deepcopy(lawful)
    path = data.draw(st.sampled_from(places(lawful)[1:]))
    target = mutated
    for step in path[:-1]:
        target = target[step]
    if data.draw(st.booleans()):
        target[path[-1]] = replacement
    else:
        del target[path[-1]]
    try:
        g = pl.Filter.from_dict(mutated)
    except pl.FilterError:
        return
    assert pl.parse_filter(str(g), types=TYPES) is not None
    assert pl.Filter.from_dict(g.to_dict()) == g
    assert g.covers(g)
    for value in oracle.UNIVERSE[:70]:
        g.matches({"x": value, "y": value, "pos.x": value})

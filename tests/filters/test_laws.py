"""Covering is an order and overlap goes with it, for every kind and for mixtures of all kinds."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import posetlib as pl

from . import oracle
from .lawbook import TYPES, build, check_laws, domains, one
from .strategies import (
    BOOL,
    COMPARISONS,
    EXISTS,
    ISA,
    MULTI,
    NUMBER,
    ORDERED_STRING,
    PLAIN_KINDS,
    STRING,
    Kind,
    any_expr,
    filters,
    inner_string_pool,
    multi_pool,
    number_pool,
    ordered_string_pool,
    seeds,
)


def all_of(exprs: list[oracle.Expr]) -> list[pl.Filter]:
    """The filters of those expressions that mean something."""
    return [f for f in map(one, exprs) if f is not None]


@pytest.mark.parametrize("kind", PLAIN_KINDS, ids=str)
@given(data=st.data(), seed=seeds)
def test_laws_of_one_kind(kind: Kind, data: st.DataObject, seed: int) -> None:
    """Combined expressions: each drawn one also tightened and loosened by its neighbour."""
    drawn = data.draw(st.lists(kind.exprs, min_size=2, max_size=4))
    exprs = [
        *drawn,
        *(("and", a, b) for a, b in itertools.pairwise(drawn)),
        *(("or", a, b) for a, b in itertools.pairwise(drawn)),
        ("exists",),
    ]
    if kind is not ISA and kind is not NUMBER:
        exprs.append(("is", False, {"bool": "bool", "multi": "set"}.get(kind.name, "string")))
    if kind is NUMBER:
        exprs += [("is", False, "number"), ("is", True, "number")]
    built = [f for f in (one(expr, seed) for expr in exprs) if f is not None]
    check_laws(built, antisymmetric=kind.canonical)


@given(drawn=st.lists(any_expr, min_size=3, max_size=8), seed=seeds)
def test_laws_of_mixtures(drawn: list[oracle.Expr], seed: int) -> None:
    """Constraints of different kinds on one attribute."""
    built = [f for f in (one(expr, seed) for expr in [*drawn, ("exists",)]) if f is not None]
    check_laws([*built, pl.parse_filter("true")], antisymmetric=False)


@given(drawn=st.lists(filters(), min_size=3, max_size=6), seed=seeds)
def test_laws_of_whole_filters(drawn: list[dict[str, oracle.Expr]], seed: int) -> None:
    built = [f for f in (build(meaning, seed) for meaning in drawn) if f is not None]
    joint = []
    for a, b in itertools.pairwise(drawn):
        shared = {name: ("and", a[name], b[name]) for name in a.keys() & b.keys()}
        if all(_one_kind(expr) for expr in shared.values()):
            joint.append(build({**a, **b, **shared}, seed))
    check_laws([*built, *(f for f in joint if f is not None)], antisymmetric=False)


def _one_kind(expr: oracle.Expr) -> bool:
    return len(domains(expr) - {"any"}) == 1


EVERY_ATOM = {
    "number": lambda: number_pool((0, 1, 2)),
    "bool": lambda: list(BOOL.pool),
    "ordered-string": lambda: list(ORDERED_STRING.pool),
    "inner-string": lambda: inner_string_pool() + ordered_string_pool(("", "a", "b", "ab", "ba")),
    "multi": lambda: multi_pool((1, "a", True)),
    "isa": lambda: list(ISA.pool),
}


@pytest.mark.parametrize("name", EVERY_ATOM)
def test_laws_of_every_atom(name: str) -> None:
    """All triples of the atoms of a kind."""
    check_laws(all_of([*EVERY_ATOM[name](), ("exists",)]), antisymmetric=name != "inner-string")


def test_laws_across_everything() -> None:
    """One big pool: all kinds, placeholders, combinations and several attributes, all triples."""
    random = Random(7)
    exprs: list[oracle.Expr] = [EXISTS.pool[0]]
    for kind in (NUMBER, BOOL, ORDERED_STRING, STRING, MULTI, ISA):
        exprs += random.sample(kind.pool, min(25, len(kind.pool)))
        exprs += [(random.choice(["and", "or"]), *random.sample(kind.pool, 2)) for _ in range(12)]
    built = all_of(exprs)
    texts = [f"x {op} ${name}" for op in COMPARISONS for name in ("y", "z")]
    texts += ["x < $y or x > $y", "x <= $y and x >= $y", "x <= $y and x != $y"]
    texts += ["x < $y and x > 3", "x < $y and x > 5", "x <= $y and x > 3", "x = $y or x = 2"]
    texts += ["x < $y and y > 3", "x <= $y and y > 3", "x > 3 and y > 3", "y > 3", "exists y"]
    texts += ['x < $y and x prefix "a"', "x < $y and exists x", "x < $y or exists x"]
    built += [pl.parse_filter(text, types=TYPES) for text in texts]
    check_laws([*built, pl.parse_filter("true")], antisymmetric=False)


@given(
    first=st.lists(filters(), max_size=4),
    second=st.lists(filters(), max_size=4),
    more=st.booleans(),
)
def test_set_covers(
    first: list[dict[str, oracle.Expr]], second: list[dict[str, oracle.Expr]], more: bool
) -> None:
    """A set covers another when each of the other is covered by one of it [T, A.2]."""
    f = [x for x in map(build, first) if x is not None]
    g = [x for x in map(build, second) if x is not None]
    if more:
        f += g
    expected = all(any(x.covers(y) for x in f) for y in g)
    assert pl.set_covers(f, g) is expected
    assert pl.set_covers(f, f) is True
    assert pl.set_covers(f, []) is True
    assert pl.set_covers([], g) is (not g)
    assert pl.set_covers(iter(f), iter(g)) is expected


def test_set_covers_looks_for_one_coverer() -> None:
    """[0, 10] is within the union of the two halves but within neither [T, A.2]."""
    halves = [pl.parse_filter("x in [0, 5]"), pl.parse_filter("x in (5, 10]")]
    assert not pl.set_covers(halves, [pl.parse_filter("x in [0, 10]")])
    assert pl.set_covers(halves, [pl.parse_filter("x in [1, 2]"), pl.parse_filter("x = 6")])


WIDE = 10
AT_THE_LIMITS = {
    "strings": (
        '(s contains "a" and s contains "c") or (s contains "b" and s not contains "c")',
        's contains "a" and s contains "b"',
        's contains "' + "ab" * 10_500 + '"',
    ),
    "short strings": (
        '(s contains "a" and s contains "c") or (s contains "b" and s not contains "c")',
        's contains "a" and s contains "b"',
        " and ".join(f's contains "{"ab" * n}{"d" * n}"' for n in range(10, 60, 7)),
    ),
    "sets": (
        " and ".join(f"t overlaps {{{2 * i}, {2 * (i + WIDE)}}}" for i in range(WIDE)),
        " and ".join(f"t has {2 * (i + WIDE)}" for i in range(WIDE)),
        " and ".join(
            f"t has {2 * (i + WIDE)} and t overlaps {{{2 * i + 1}, {2 * (i + WIDE) + 1}}}"
            for i in range(WIDE)
        ),
    ),
}


@pytest.mark.parametrize("name", AT_THE_LIMITS)
def test_transitive_at_the_limits(name: str) -> None:
    """A chain of three: what is too large to compare is refused when made, not misjudged later."""
    built = []
    for text in AT_THE_LIMITS[name]:
        try:
            built.append(pl.parse_filter(text))
        except pl.FilterError:
            continue
    check_laws(built, antisymmetric=False)
    for wider, narrower in itertools.combinations(built, 2):
        assert wider.covers(narrower)

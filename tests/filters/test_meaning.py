"""Matching, covering, overlap, equality, perfect merging and witnesses against enumeration."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import posetlib as pl

from . import oracle
from .lawbook import TYPES, build, covers_exactly, one
from .strategies import (
    BOOL,
    EXISTS,
    ISA,
    MULTI,
    NUMBER,
    ORDERED_STRING,
    PLAIN_KINDS,
    STRING,
    Kind,
    filters,
    multi_pool,
    number_pool,
    related,
    related_filters,
    seeds,
)

kinds = pytest.mark.parametrize("kind", PLAIN_KINDS, ids=str)


def some_values(seed: int, strings: int = 60) -> list[object]:
    """Everything that is not a string, and a sample of the strings."""
    return [
        *oracle.NUMBERS,
        *oracle.BOOLS,
        float("nan"),
        *oracle.SETS,
        *oracle.STRINGS[:21],
        *Random(seed).sample(oracle.STRINGS, strings),
    ]


@kinds
@given(data=st.data(), seed=seeds)
def test_matches_what_the_definition_says(kind: Kind, data: st.DataObject, seed: int) -> None:
    expr = data.draw(kind.exprs)
    f = one(expr, seed)
    if f is None:
        return
    for value in some_values(seed):
        assert f.matches({"x": value}) == oracle.holds(expr, value), (str(f), value)
    assert not f.matches({})
    assert not f.matches({"y": 1})


def compare(
    meant_f: dict[str, oracle.Expr],
    meant_g: dict[str, oracle.Expr],
    f: pl.Filter,
    g: pl.Filter,
) -> None:
    """Everything that two filters say of each other."""
    expected = covers_exactly(meant_f, meant_g)
    if expected is not None:
        assert f.covers(g) == expected, (str(f), str(g))
    assert f.overlaps(g) == oracle.overlaps(meant_f, meant_g), (str(f), str(g))
    same = oracle.covers(meant_f, meant_g) and oracle.covers(meant_g, meant_f)
    if f == g:
        assert same, (str(f), str(g))
        assert hash(f) == hash(g)
        assert str(f) == str(g)
    else:
        assert f != g
        assert str(f) != str(g)
    why = f.why_not_covers(g)
    if f.covers(g):
        assert why is None
        return
    assert why is not None
    assert why.attribute in f.constraints
    assert why.reason
    if expected is False:
        witness = why.witness
        assert witness is not None, (str(f), str(g))
        assert g.matches(witness), (str(f), str(g), witness)
        assert not f.matches(witness), (str(f), str(g), witness)
        assert oracle.matches(meant_g, flat(witness))
        assert not oracle.matches(meant_f, flat(witness))


def flat(notification: object, prefix: str = "") -> dict[str, object]:
    """A notification with nested mappings as dotted names."""
    assert isinstance(notification, dict)
    result: dict[str, object] = {}
    for name, value in notification.items():
        if isinstance(value, dict):
            result |= flat(value, f"{prefix}{name}.")
        else:
            result[prefix + name] = value
    return result


@kinds
@given(data=st.data(), first=seeds, second=seeds)
def test_pairs_of_one_kind(kind: Kind, data: st.DataObject, first: int, second: int) -> None:
    """Covering and overlap are exact both ways; equality is equality of meaning where claimed."""
    a, b = data.draw(related(kind))
    f, g = one(a, first), one(b, second)
    if f is None or g is None:
        return
    compare({"x": a}, {"x": b}, f, g)
    compare({"x": b}, {"x": a}, g, f)
    if kind.canonical:
        assert (f == g) == (oracle.mask(a) == oracle.mask(b)), (str(f), str(g))


@kinds
@given(data=st.data(), first=seeds, second=seeds)
def test_perfect_merger_of_one_kind(
    kind: Kind, data: st.DataObject, first: int, second: int
) -> None:
    """Within one domain the union always exists, and means exactly the union."""
    a, b = data.draw(related(kind))
    f, g = one(a, first), one(b, second)
    if f is None or g is None:
        return
    merged = pl.merge(f, g)
    if merged is None:
        # Types may be left apart: a union of down-sets need not be one type.
        assert kind in (STRING, ISA), (str(f), str(g))
        assert not f.covers(g)
        assert not g.covers(f)
        return
    union = ("or", a, b)
    assert merged.covers(f)
    assert merged.covers(g)
    for value in some_values(first):
        assert merged.matches({"x": value}) == oracle.holds(union, value), (str(merged), value)
    if kind.canonical:
        assert merged == one(union)
        assert pl.merge(g, f) == merged


@given(pair=related_filters(), first=seeds, second=seeds)
def test_pairs_of_filters(
    pair: tuple[dict[str, oracle.Expr], dict[str, oracle.Expr]], first: int, second: int
) -> None:
    """Several attributes of any kinds, absent ones among them."""
    a, b = pair
    f, g = build(a, first), build(b, second)
    if f is None or g is None:
        return
    compare(a, b, f, g)
    compare(b, a, g, f)
    merged = pl.merge(f, g)
    if merged is not None:
        assert merged.covers(f)
        assert merged.covers(g)
    if oracle.covers(a, b) or oracle.covers(b, a):
        coverers = [m for m, n, o in ((f, a, b), (g, b, a)) if oracle.covers(n, o)]
        assert merged in coverers
    else:
        differing = [
            name
            for name in a.keys() | b.keys()
            if name not in a or name not in b or oracle.mask(a[name]) != oracle.mask(b[name])
        ]
        if len(differing) > 1 or a.keys() != b.keys():
            assert merged is None, (str(f), str(g), str(merged))
        elif merged is not None:
            name = differing[0]
            exact = build({**a, name: ("or", a[name], b[name])})
            assert exact is not None
            assert merged.covers(exact)
            assert exact.covers(merged)


@given(a=filters(), b=filters(), first=seeds, second=seeds)
def test_unrelated_filters(
    a: dict[str, oracle.Expr], b: dict[str, oracle.Expr], first: int, second: int
) -> None:
    """Any kind against any other: what two domains share is nothing."""
    f, g = build(a, first), build(b, second)
    if f is None or g is None:
        return
    compare(a, b, f, g)
    compare(b, a, g, f)


@given(meaning=filters(), seed=seeds, data=st.data())
def test_matches_whole_notifications(
    meaning: dict[str, oracle.Expr], seed: int, data: st.DataObject
) -> None:
    """Flat and nested notifications with absent attributes; the explanation tells the failures."""
    f = build(meaning, seed)
    if f is None:
        return
    value = st.sampled_from(oracle.UNIVERSE)
    names = st.sampled_from(["x", "y", "pos.x", "other"])
    for _ in range(5):
        notification = data.draw(st.dictionaries(names, value, max_size=4))
        expected = oracle.matches(meaning, notification)
        nested = {k: v for k, v in notification.items() if k != "pos.x"}
        if "pos.x" in notification:
            nested["pos"] = {"x": notification["pos.x"]}
        for form in (notification, nested):
            assert f.matches(form) is expected
            explanation = f.explain(form)
            assert bool(explanation) is expected
            assert str(explanation)
            failed = {
                name
                for name, expr in meaning.items()
                if name not in notification or not oracle.holds(expr, notification[name])
            }
            assert {failure.attribute for failure in explanation.failures} == failed
            assert all(failure.reason for failure in explanation.failures)


# --- every pair of atoms, without chance ---------------------------------------------------------

SMALL_POOLS = {
    "number": number_pool((0, 1, 2)),
    "bool": list(BOOL.pool),
    "ordered-string": list(ORDERED_STRING.pool),
    "string": sorted(set(STRING.pool), key=repr),
    "multi": multi_pool((1, "a", True)),
    "isa": list(ISA.pool),
}


@pytest.mark.parametrize("name", SMALL_POOLS)
def test_every_pair_of_atoms(name: str) -> None:
    """Covers, overlaps, and (where it is claimed) equality, cell by cell."""
    exprs = [expr for expr in SMALL_POOLS[name] if oracle.mask(expr)]
    exprs.append(("exists",))
    bits = [oracle.mask(expr) for expr in exprs]
    built = [one(expr) for expr in exprs]
    for f, of in zip(built, bits, strict=True):
        assert f is not None
        for g, og in zip(built, bits, strict=True):
            assert g is not None
            assert f.covers(g) == (og & ~of == 0), (str(f), str(g))
            assert f.overlaps(g) == bool(of & og), (str(f), str(g))
            if name != "string":
                assert (f == g) == (of == og), (str(f), str(g))


@pytest.mark.parametrize("name", SMALL_POOLS)
def test_atoms_that_mean_nothing_are_refused(name: str) -> None:
    """``one`` asserts the refusal; the pools hold some of these in every kind that has any."""
    refused = [expr for expr in SMALL_POOLS[name] if one(expr) is None]
    has_empty = {
        "number": True,
        "bool": True,
        "ordered-string": True,
        "string": True,
        "multi": True,
    }
    assert bool(refused) == has_empty.get(name, False)


def test_kinds_of_two_domains_never_meet() -> None:
    """A constraint of one domain neither covers, overlaps nor merges with one of another."""
    samples = {
        kind.name: [
            f for f in map(one, kind.pool[:: max(1, len(kind.pool) // 15)]) if f is not None
        ]
        for kind in (NUMBER, BOOL, ORDERED_STRING, MULTI)
    }
    exists = one(EXISTS.pool[0])
    assert exists is not None
    for name, these in samples.items():
        for other, those in samples.items():
            if name == other:
                continue
            for f in these:
                assert exists.covers(f)
                assert not f.covers(exists)
                for g in those:
                    assert not f.covers(g)
                    assert not f.overlaps(g)
                    assert pl.merge(f, g) is None
                    assert pl.merge(f, g, perfect=False) is None


# --- equality of meaning, by name -----------------------------------------------------------------

SAME = [
    ("x in {1, 2, 3}", "x:int in [1, 3]"),
    ("x:int > 3", "x:int >= 4"),
    ("x:int > 3.5", "x:int >= 4"),
    ("x:int in (0, 4)", "x in {1, 2, 3}"),
    ("x:int in [20, 25]", "x in {20, 21, 22, 23, 24, 25}"),
    ("x = 1", "x = 1.0"),
    ("x = 1", "x in [1, 1]"),
    ("x = 0.0", "x = -0.0"),
    ("x < 3 or x >= 3", "x is number"),
    ("x != 5 or x = 5", "x is number"),
    ("x:int != 5 or x = 5", "x:int is number"),
    ("x:int is number and x > 3", "x:int >= 4"),
    ("x:int < 3 or x:int >= 3", "x:int is number"),
    ("x in [0, 5] or x in (5, 10]", "x in [0, 10]"),
    ("x not in [4, 7]", "x < 4 or x > 7"),
    ("x not in {5}", "x != 5"),
    ("x != 4 and x != 5", "x not in {4, 5}"),
    ("x = true or x = false", "x is bool"),
    ("x != true", "x = false"),
    ("x not in {true}", "x = false"),
    ("exists x and x > 3", "x > 3"),
    ("exists x or x > 3", "exists x"),
    ("x is number and x > 3", "x > 3"),
    ("x is number or x > 3", "x is number"),
    ("true and x = 1", "x = 1"),
    ("true or x < 3", "true"),
    ('s prefix "a"', 's >= "a" and s < "b"'),
    ('s > "a"', 's >= "a\\u0000"'),
    ('s = "a"', 's >= "a" and s < "a\\u0000"'),
    ('s >= ""', "s is string"),
    ('s prefix ""', "s is string"),
    ('s contains ""', "s is string"),
    ('s suffix ""', "s is string"),
    ('s = ""', 's <= ""'),
    ('s prefix "a" and s prefix "ab"', 's prefix "ab"'),
    ('s prefix "a" or s not prefix "a"', "s is string"),
    ('s prefix "ab" and s = "abc"', 's = "abc"'),
    ('s in {"a", "b"}', 's = "b" or s = "a"'),
    ("t superset {}", "t is set"),
    ("t disjoint {}", "t is set"),
    ("t has 3", "t superset {3}"),
    ("t has 3", "t overlaps {3}"),
    ("t has 1 and t has 2", "t superset {1, 2}"),
    ("t has 1 or t has 2", "t overlaps {1, 2}"),
    ("t lacks 1 and t lacks 2", "t disjoint {1, 2}"),
    ("t has 1 or t lacks 1", "t is set"),
    ("t has 1", "t has 1.0"),
    ("t subset {1, 2} and t disjoint {2}", "t subset {1}"),
    ("t subset {1} and t lacks 1", "t subset {}"),
    ("t subset {1, 2} and t superset {1, 2}", "t subset {2, 1} and t has 1 and t has 2"),
    ("t disjoint {1} or t disjoint {2}", "t lacks 1 or t lacks 2"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_the_same_meaning_is_the_same_filter(left: str, right: str) -> None:
    f, g = pl.parse_filter(left), pl.parse_filter(right)
    assert f == g
    assert hash(f) == hash(g)
    assert str(f) == str(g)
    assert f.covers(g)
    assert g.covers(f)


DIFFERENT = [
    ("x = 1", "x = true"),
    ("x is number", "exists x"),
    ("x is number", "x:int is number"),
    ("exists x", "true"),
    ("t has 1", "t has true"),
    ("x = 1", 'x = "1"'),
    ("t subset {1}", "t superset {1}"),
    ("t subset {}", "t is set"),
    ("x = 9007199254740992", "x = 9007199254740993"),
    ("`x.y` = 1", "`x` = 1"),
    ('s prefix "a"', 's prefix "A"'),
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_another_meaning_is_another_filter(left: str, right: str) -> None:
    f, g = pl.parse_filter(left), pl.parse_filter(right)
    assert f != g
    assert str(f) != str(g)
    assert not (f.covers(g) and g.covers(f))


def test_the_filter_without_constraints() -> None:
    everything = pl.parse_filter("true")
    assert everything.matches({})
    assert everything.matches({"x": 1})
    assert dict(everything.constraints) == {}
    assert everything.covers(pl.parse_filter("x = 1"))
    assert not pl.parse_filter("exists x").covers(everything)
    assert everything == pl.Filter({})


def test_dots_and_types() -> None:
    """``types`` is only needed where ``isa`` is used, and harmless elsewhere."""
    assert pl.parse_filter("x = 1", types=TYPES) == pl.parse_filter("x = 1")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('(x contains "a" or x in {"b", "ab"}) and (x in {"a", "ab"} or x >= "b")', "ab"),
        ('(x contains "a" or x isa b) and (x isa a or x >= "b")', "ab"),
    ],
)
def test_nothing_falls_out_of_a_mixture(text: str, value: str) -> None:
    """Two alternatives that share a string must not both leave it to the other."""
    assert pl.parse_filter(text, types=TYPES).matches({"x": value})


WORDS = ("a", "b", "ab", "ba", "bb", "aa")


@settings(max_examples=max(200, settings().max_examples))
@given(data=st.data(), first=seeds)
def test_sets_beside_patterns(data: st.DataObject, first: int) -> None:
    """Sets of strings under patterns, where single points and intervals share alternatives."""
    chosen = st.lists(st.sampled_from(WORDS), min_size=2, max_size=4, unique=True)
    sets = chosen.map(lambda words: ("in", False, False, tuple(words)))
    pair = st.builds(lambda a, b: ("or", a, b), sets, st.sampled_from(STRING.pool))
    expr = data.draw(st.builds(lambda a, b: ("and", a, b), pair, pair))
    f = one(expr, first)
    if f is not None:
        for value in some_values(first, strings=30):
            assert f.matches({"x": value}) == oracle.holds(expr, value), (str(f), value)


@st.composite
def deny_lists(draw: st.DrawFn) -> pl.Filter:
    """Many patterns to lack, alone or beside a prefix, a suffix or a substring to have."""
    texts = st.text("ab", min_size=2, max_size=3)
    denied = draw(st.lists(st.tuples(st.sampled_from(["suffix", "contains"]), texts), min_size=9))
    wanted = draw(st.sampled_from(["", 'x prefix "ab" and ', 'x suffix "b" and ']))
    text = wanted + " and ".join(f'x not {kind} "{each}"' for kind, each in denied)
    try:
        return pl.parse_filter(text)
    except pl.FilterError:  # no string is left
        reject()


@given(f=deny_lists(), g=deny_lists())
def test_deny_lists_compare_as_the_strings_that_they_leave(f: pl.Filter, g: pl.Filter) -> None:
    """A prefix of two letters, and a pattern of three between two others: seven letters."""
    strings = ["".join(letters) for n in range(8) for letters in product("abc", repeat=n)]
    left, right = ({string for string in strings if each.matches({"x": string})} for each in (f, g))
    assert f.covers(g) == (left >= right)
    assert f.overlaps(g) == (not left.isdisjoint(right))


@pytest.mark.parametrize("beside", ["", 's prefix "http" and ', 's suffix ".html" and '])
def test_deny_lists_of_dozens(beside: str) -> None:
    kinds_of_site = ("shop", "play", "news", "free", "spam", "best", "huge", "mail")
    names = ["".join(parts) for parts in product(kinds_of_site, ("net", "web", "hub", "zone", "x"))]
    clauses = [
        f's not {"suffix" if i % 2 else "contains"} "{name}"' for i, name in enumerate(names)
    ]
    f = pl.parse_filter(beside + " and ".join(clauses))
    for i, name in enumerate(names):
        assert not f.matches({"s": f"http://{name}"})
        assert f.matches({"s": f"http://{name}.html"}) == (i % 2 == 1)
    assert f.matches({"s": "http://shop/index.html"})
    assert pl.parse_filter(str(f)) == f
    shorter = pl.parse_filter(beside + " and ".join(clauses[1:]))
    assert shorter.covers(f)
    assert not f.covers(shorter)
    assert f.overlaps(shorter)


def test_a_deny_list_with_too_many_states_is_refused() -> None:
    clauses = [f's not contains "{i:02}{chr(97 + i % 26) * 30}"' for i in range(60)]
    with pytest.raises(pl.FilterError, match="more than 1024 states"):
        pl.parse_filter(" and ".join(clauses))
    assert pl.parse_filter(" and ".join(clauses[:30])).matches({"s": "a"})

"""`isa` over hierarchies with multiple inheritance, against sets of names."""

from __future__ import annotations

import itertools
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import posetlib as pl

from .lawbook import check_laws

NAMES = ("A", "B", "C", "D", "E", "F")


@st.composite
def hierarchies(draw: st.DrawFn) -> dict[str, list[str]]:
    """A random DAG: each type may have any of the earlier names as supertypes."""
    supertypes: dict[str, list[str]] = {}
    size = draw(st.integers(1, len(NAMES)))
    for index in range(size):
        earlier = list(NAMES[:index])
        chosen = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        supertypes[NAMES[index]] = chosen
    return dict(draw(st.permutations(list(supertypes.items()))))


def below(supertypes: dict[str, list[str]]) -> dict[str, set[str]]:
    """Every type with itself and all its subtypes, by closing the relation."""
    down = {name: {name} for name in supertypes}
    for _ in supertypes:
        for name, parents in supertypes.items():
            for parent in parents:
                down[parent] |= down[name]
    return down


@given(supertypes=hierarchies())
def test_every_pair_of_types(supertypes: dict[str, list[str]]) -> None:
    """Covering is being a supertype; overlap is having a common subtype [C, 4.3.6]."""
    types = pl.TypeHierarchy(supertypes)
    down = below(supertypes)
    built = {name: pl.parse_filter(f"type isa {name}", types=types) for name in supertypes}
    for first, second in itertools.product(supertypes, repeat=2):
        f, g = built[first], built[second]
        assert f.covers(g) is (down[first] >= down[second])
        assert f.overlaps(g) is bool(down[first] & down[second])
        assert (f == g) is (first == second)
        assert f.matches({"type": second}) is (second in down[first])
        why = f.why_not_covers(g)
        if why is not None:
            assert g.matches(why.witness)
            assert not f.matches(why.witness)
        both = f"type isa {first} and type isa {second}"
        common = down[first] & down[second]
        if not common:
            with pytest.raises(pl.FilterError):
                pl.parse_filter(both, types=types)
        else:
            joint = pl.parse_filter(both, types=types)
            assert {n for n in NAMES if joint.matches({"type": n})} == common
            assert f.covers(joint)
            assert g.covers(joint)
        either = pl.parse_filter(f"type isa {first} or type isa {second}", types=types)
        assert {n for n in NAMES if either.matches({"type": n})} == down[first] | down[second]
        assert either.covers(f)
        if down[first] >= down[second]:
            assert either == f
        merged = pl.merge(f, g)
        if merged is not None:
            assert {n for n in NAMES if merged.matches({"type": n})} == down[first] | down[second]
        else:
            assert not f.covers(g)
            assert not g.covers(f)
    for f in built.values():
        assert not f.matches({"type": "unknown"})
        assert not f.matches({"type": 3})
        assert not f.matches({})
        assert pl.parse_filter(str(f), types=types) == f
        assert pickle.loads(pickle.dumps(f)) == f
        returned = pl.Filter.from_dict(json.loads(json.dumps(f.to_dict())))
        assert returned == f
        assert returned.covers(f)


@given(supertypes=hierarchies(), data=st.data())
def test_types_and_strings(supertypes: dict[str, list[str]], data: st.DataObject) -> None:
    """A type covers its own name; a string covers a type only with a name to spare."""
    types = pl.TypeHierarchy(supertypes)
    down = below(supertypes)
    texts = [f"type isa {name}" for name in supertypes]
    sets = data.draw(st.lists(st.sets(st.sampled_from(NAMES), min_size=1), max_size=6))
    texts += [f"type in {{{', '.join(json.dumps(n) for n in sorted(chosen))}}}" for chosen in sets]
    texts += ['type >= "A"', 'type < "C"', 'type prefix "A"', "type is string", "exists type"]
    texts += ['type != "B"', 'type contains "A"', 'type not contains "Z"']
    built = [pl.parse_filter(text, types=types) for text in texts]
    check_laws(built)
    everything = [*NAMES, "AA", "Z", "", "zz"]
    for f, g in itertools.product(built, repeat=2):
        mine = {n for n in everything if f.matches({"type": n})}
        other = {n for n in everything if g.matches({"type": n})}
        if f.covers(g):
            assert mine >= other
        assert f.overlaps(g) is bool(mine & other), (str(f), str(g))
    for name in supertypes:
        f = pl.parse_filter(f"type isa {name}", types=types)
        for other in supertypes:
            g = pl.parse_filter(f'type = "{other}"')
            assert f.covers(g) is (other in down[name])
            assert not g.covers(f)


def test_the_hierarchy_of_the_contract() -> None:
    types = pl.TypeHierarchy({"StockQuote": ["Quote", "Tradable"], "Quote": []})
    quote = pl.parse_filter("type isa Quote", types=types)
    tradable = pl.parse_filter("type isa Tradable", types=types)
    stock = pl.parse_filter("type isa StockQuote", types=types)
    assert quote.covers(stock)
    assert tradable.covers(stock)
    assert quote.overlaps(tradable)
    assert not quote.covers(tradable)
    assert pl.parse_filter("type isa Quote and type isa Tradable", types=types).covers(stock)
    assert quote.matches({"type": "StockQuote"})
    with pytest.raises(pl.FilterError):
        pl.parse_filter("type isa Unknown", types=types)


def test_without_a_hierarchy_a_type_is_itself() -> None:
    f = pl.parse_filter("type isa StockQuote")
    assert f.matches({"type": "StockQuote"})
    assert not f.matches({"type": "Quote"})
    assert not f.overlaps(pl.parse_filter("type isa Quote"))
    with pytest.raises(pl.FilterError):
        pl.parse_filter("type isa A and type isa B")
    g = pl.parse_filter('type isa StockQuote and name prefix "Fo" and price in [20, 30]')
    assert g.matches({"type": "StockQuote", "name": "Foo Inc.", "price": 25})


@pytest.mark.parametrize(
    "bad",
    [
        {"A": ["A"]},
        {"A": ["B"], "B": ["A"]},
        {"A": ["B"], "B": ["C"], "C": ["A"]},
    ],
)
def test_a_cycle_of_types_is_refused(bad: dict[str, list[str]]) -> None:
    with pytest.raises(ValueError, match=r"(?i)cycle|circle"):
        pl.TypeHierarchy(bad)


def test_a_deep_hierarchy() -> None:
    """A chain of thousands of types needs no recursion."""
    size = 3000
    types = pl.TypeHierarchy({f"T{i}": [f"T{i - 1}"] for i in range(size, 0, -1)})
    top = pl.parse_filter("type isa T0", types=types)
    bottom = pl.parse_filter(f"type isa T{size}", types=types)
    assert top.covers(bottom)
    assert not bottom.covers(top)
    assert top.matches({"type": f"T{size}"})

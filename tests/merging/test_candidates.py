"""Candidates for covering and merging: by counting and by index, against all pairs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl
from posetlib.filters.merging import merge_again
from posetlib.merging import candidates
from posetlib.merging.candidates import (
    ByAttributes,
    ByEqualConstraints,
    ByNearness,
    OverlapIndex,
)
from posetlib.merging.counting import ConstraintCounts
from tests.filters.lawbook import build
from tests.filters.strategies import PLAIN_KINDS
from tests.filters.strategies import filters as meanings

from .worlds import DOMAINS, RANGES, filters

ODD = ("x < $y", "x < $y and y > 3", "x != $b and y > 3", "true")


@st.composite
def some_filter(draw: Any) -> pl.Filter:
    """A filter of any kind."""
    which = draw(st.integers(0, 4))
    if which == 0:
        return pl.parse_filter(draw(st.sampled_from(ODD)))
    if which < 3:
        found: pl.Filter = draw(filters())
        return found
    atoms = st.one_of(*(kind.atoms for kind in PLAIN_KINDS))
    made = build(draw(meanings(("x", "y", "b"), atoms)))
    return pl.parse_filter("true") if made is None else made


any_filters = some_filter()


@settings(max_examples=150)
@given(st.lists(any_filters, max_size=25, unique=True), any_filters, st.data())
def test_counting_finds_what_all_pairs_find(
    some: list[pl.Filter], f: pl.Filter, data: st.DataObject
) -> None:
    counts = ConstraintCounts()
    for one in some:
        counts.add(one)
        counts.add(one)
    for one in data.draw(st.lists(st.sampled_from(some), unique=True)) if some else ():
        counts.remove(one)
        some.remove(one)
    assert len(counts) == len(some)
    assert counts.covering(f) == [one for one in some if one.covers(f)]
    assert counts.covered(f) == [one for one in some if f.covers(one)]
    assert counts.merging(f) == [
        one
        for one in some
        if one.attributes == f.attributes
        and sum(a != b for a, b in zip(one.terms, f.terms, strict=True)) == 1
    ]


@settings(max_examples=100)
@given(st.lists(any_filters, max_size=20, unique=True), any_filters)
def test_equal_constraints_are_found_by_key_and_by_counting_alike(
    some: list[pl.Filter], f: pl.Filter
) -> None:
    index, counts = ByEqualConstraints(), ConstraintCounts()
    for one in some:
        index.add(one)
        counts.add(one)
    assert set(index.of(f)) == set(counts.merging(f))


@pytest.mark.parametrize("few", [0, 40])
@settings(max_examples=150)
@given(
    st.lists(filters(), max_size=20, unique=True),
    filters(),
    st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.9]),
    st.sampled_from([DOMAINS, RANGES]),
)
def test_whatever_merges_is_a_candidate(
    few: int, some: list[pl.Filter], f: pl.Filter, max_loss: float, domains: dict[str, Any]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "_FEW", few)  # with the sieve, and without
        for perfect, index in (
            (True, ByEqualConstraints()),
            (False, ByNearness(max_loss, domains)),
            (False, ByAttributes()),
        ):
            bounds: dict[str, Any] = {"perfect": perfect, "domains": domains, "max_loss": None}
            if isinstance(index, ByNearness):
                bounds["max_loss"] = max_loss
            for one in some:
                index.add(one)
            for one in some[::3]:
                index.remove(one)
            left = [one for i, one in enumerate(some) if i % 3]
            found = list(index.of(f))
            assert f not in found
            assert set(found) <= set(left)
            merging = [
                one
                for one in left
                if not one.covers(f) and not f.covers(one) and merge_again(one, f, **bounds)
            ]
            assert set(merging) <= set(found)


@settings(max_examples=60)
@given(st.lists(filters(("x", "y")), max_size=60, unique=True), filters(("x", "y")))
def test_the_overlap_index_leaves_out_nobody(some: list[pl.Filter], f: pl.Filter) -> None:
    index = OverlapIndex()
    for i, one in enumerate(some):
        index.add(one, one)
        if i % 20 == 19:
            index.meeting(f)  # the sieve is made here, and follows from now on
    found = index.meeting(f)
    assert set(found) >= {one for one in some if one.overlaps(f)}
    assert found == [one for one in some if one in set(found)], "in the order of adding"


def test_nearness_leaves_out_the_far() -> None:
    index = ByNearness(0.1, {"x": (0, 1000)})
    for i in range(200):
        index.add(pl.parse_filter(f"x in [{5 * i}, {5 * i + 4}]"))
    found = index.of(pl.parse_filter("x in [500, 504.5]"))
    assert 0 < len(found) <= 2

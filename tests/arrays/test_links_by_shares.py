"""Links and covers that are found by shares and by groups are those of the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posetlib import parse_filter
from posetlib.arrays import building
from posetlib.arrays.building import forest_parents, order_parents
from posetlib.arrays.covering import (
    beaten_rows,
    covered_rows,
    covers_rowwise,
    strength,
    weakest_first,
)
from posetlib.arrays.meeting import meetings
from posetlib.arrays.positions import Vocabulary
from posetlib.arrays.ranges import FilterRanges, Ranges, encode_filters
from posetlib.generating import Parameters, generated_filters
from tests.arrays.test_ranges import TEXTS

ENDS = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(
    lambda ends: f"in [{min(ends)}, {max(ends)}]"
)
#: Boxes on one or two axes, of which many cover one another; and a type at times.
BOXES = st.tuples(ENDS, st.none() | ENDS, st.sampled_from([None, "A", "B"])).map(
    lambda each: " and ".join(
        [f"x {each[0]}"]
        + ([] if each[1] is None else [f"y {each[1]}"])
        + ([] if each[2] is None else [f'type = "{each[2]}"'])
    )
)

#: What different types ask for is not comparable, and strings have positions as they come.
UNTYPED = BOXES.filter(lambda text: "type" not in text)


def encoded(texts: list[str]) -> FilterRanges:
    return encode_filters([parse_filter(text) for text in texts], Vocabulary())


def strictly_above(texts: list[str]) -> list[list[int]]:
    """For each filter those that cover it and are not equivalent to it, by the objects."""
    filters = [parse_filter(text) for text in texts]
    return [[j for j, f in enumerate(filters) if f.covers(g) and not g.covers(f)] for g in filters]


def immediate(above: list[list[int]], row: int) -> set[int]:
    return {f for f in above[row] if not any(f in above[g] for g in above[row])}


@pytest.mark.parametrize("size", [1, 3, 1000])
@given(data=st.data())
def test_what_covers_something_of_a_group_is_left_for_it(size: int, data: st.DataObject) -> None:
    covered = encoded(data.draw(st.lists(st.sampled_from(TEXTS) | BOXES, max_size=12)))
    coverers = encoded(data.draw(st.lists(st.sampled_from(TEXTS) | BOXES, max_size=12)))
    # One vocabulary for both, as everywhere.
    words = Vocabulary()
    one, other = (
        encode_filters([each.filter(row) for row in range(len(each))], words)
        for each in (covered, coverers)
    )
    left = {}
    for rows, some in meetings(one, other, size):
        assert len(rows) <= size
        assert (np.diff(some) > 0).all()
        for row in rows.tolist():
            assert row not in left
            left[row] = set(some.tolist())
    expected = [
        {j for j in range(len(other)) if other.filter(j).covers(one.filter(i))}
        for i in range(len(one))
    ]
    assert all(them <= left.get(row, set()) for row, them in enumerate(expected))
    assert covered_rows(other, one).tolist() == [bool(them) for them in expected]


@given(st.lists(BOXES, max_size=25, unique=True), st.integers(1, 4))
def test_shares_of_children_find_the_parents_of_one_forest(texts: list[str], shares: int) -> None:
    filters = encoded(texts)
    above = strictly_above(texts)
    order = weakest_first(filters).tolist()
    for share in range(shares):
        rows = np.arange(share, len(texts), shares)
        for row, parent in zip(rows.tolist(), forest_parents(filters, rows).tolist(), strict=True):
            if parent < 0:
                assert above[row] == []
            else:
                assert parent == min(above[row], key=order.index)


@given(st.lists(UNTYPED, max_size=15, unique=True), st.lists(BOXES, max_size=15, unique=True))
def test_the_order_of_two_filters_does_not_depend_on_others(
    texts: list[str], others: list[str]
) -> None:
    def ordered(some: list[str]) -> list[str]:
        return [some[row] for row in weakest_first(encoded(some)).tolist()]

    alone = ordered(texts)
    both = list(dict.fromkeys([*others, *texts]))
    assert [text for text in ordered(both) if text in texts] == alone
    filters = [parse_filter(text) for text in alone]
    for at, one in enumerate(filters):
        assert not any(one.covers(other) for other in filters[at + 1 :])


@pytest.mark.parametrize("by_bits", [True, False])
@given(texts=st.lists(BOXES, max_size=25, unique=True), shares=st.integers(1, 4))
def test_shares_of_children_find_the_edges_of_one_order(
    by_bits: bool, texts: list[str], shares: int
) -> None:
    filters = encoded(texts)
    above = strictly_above(texts)
    with pytest.MonkeyPatch.context() as patch:
        if not by_bits:
            patch.setattr(building, "_MAX_IN_ORDER", 0)
        for share in range(shares):
            rows = np.arange(share, len(texts), shares)
            parents, children = order_parents(filters, rows)
            found = sorted(zip(children.tolist(), parents.tolist(), strict=True))
            expected = [(row, each) for row in rows.tolist() for each in immediate(above, row)]
            assert found == sorted(expected)


def test_groups_are_divided_where_many_may_cover_them() -> None:
    # All nested: what covers one of a group is most of them, down to the least groups.
    texts = [f"x in [{-at}, {at}]" for at in range(300)]
    chain = encoded(texts)
    sizes = [len(rows) for rows, _ in meetings(chain, chain, 200, most=10, least=20)]
    assert max(sizes) <= 20
    assert sum(sizes) == 300
    parents, children = order_parents(chain, np.arange(300))
    assert dict(zip(children.tolist(), parents.tolist(), strict=True)) == {
        row: row + 1 for row in range(299)
    }


@given(st.lists(st.sampled_from(TEXTS), max_size=14), st.integers(1, 3), st.randoms())
def test_what_nothing_beats_is_the_minimal_cover(
    texts: list[str], slices: int, random: Any
) -> None:
    filters = encoded(texts)
    ids = list(range(len(texts)))
    random.shuffle(ids)
    numbers = np.array(ids, np.int64)
    beaten = np.zeros(len(texts), np.bool_)
    for start in range(slices):
        rows = np.arange(start, len(texts), slices)
        beaten |= beaten_rows(filters, numbers, filters.take(rows), numbers[rows])
    objects = [parse_filter(text) for text in texts]
    assert beaten.tolist() == [
        any(
            f.covers(g) and (ids[j] < ids[i] or not g.covers(f))
            for j, f in enumerate(objects)
            if j != i
        )
        for i, g in enumerate(objects)
    ]


@pytest.mark.parametrize("kind", ["uniform", "narrow", "variable"])
def test_links_of_some_thousand_filters(kind: str) -> None:
    p = Parameters(filters=3000, kind=kind, seed=5, schemas=2, decimals=1)
    texts = list(dict.fromkeys(generated_filters(p, np.arange(3000)).texts()))
    filters = encoded(texts)
    parents, children = order_parents(filters, np.arange(len(texts)))
    assert covers_rowwise(filters.take(parents), filters.take(children)).all()
    # Every coverer is reached by the edges, and no edge is implied by two others.
    above = [0] * len(texts)
    order = np.argsort(-strength(filters), kind="stable")
    direct: dict[int, list[int]] = {}
    for parent, child in zip(parents.tolist(), children.tolist(), strict=True):
        direct.setdefault(child, []).append(parent)
    for row in order.tolist():
        for parent in direct.get(row, []):
            assert not any(above[other] >> parent & 1 for other in direct[row])
        for parent in direct.get(row, []):
            above[row] |= above[parent] | 1 << parent
    count = sum(each.bit_count() for each in above)
    every = np.arange(len(texts))
    total = 0
    for row in range(len(texts)):
        one = filters.take(np.full(len(texts), row))
        total += int(covers_rowwise(filters.take(every), one).sum()) - 1
    assert count == total
    # The forest has an edge of the order for every filter that is covered at all.
    found = forest_parents(filters, every)
    edges = set(zip(parents.tolist(), children.tolist(), strict=True))
    assert all((int(found[row]), row) in edges for row in direct)
    assert (found[[row for row in range(len(texts)) if row not in direct]] < 0).all()


def test_arrays_of_floats_are_compared_like_whole_numbers() -> None:
    ends = np.array([0.0, 1.0, -np.inf, 2.0])
    boxes = Ranges({0: ends}, {0: np.array([9.0, 5.0, np.inf, 3.0])}, 4)
    assert forest_parents(boxes, np.arange(4)).tolist() == [2, 0, -1, 1]

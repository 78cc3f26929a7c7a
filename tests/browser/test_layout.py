"""Positions: layers, no two boxes in one place, whatever the graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.layout import positions

WIDTH, HEIGHT = 100, 40


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """Any graph, with cycles and loops too."""
    count = draw(st.integers(1, 25))
    node = st.integers(0, count - 1)
    edges = draw(st.lists(st.tuples(node, node), unique=True, max_size=60))
    return count, edges


@st.composite
def acyclic(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count, edges = draw(graphs())
    return count, [(a, b) for a, b in edges if a < b]


@st.composite
def forests(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    parents = draw(st.lists(st.integers(-1, 40), min_size=1, max_size=40))
    edges = [(p, i) for i, p in enumerate(parents) if 0 <= p < i]
    return len(parents), edges


def overlapping(places: np.ndarray) -> list[tuple[int, int]]:
    return [
        (i, j)
        for i in range(len(places))
        for j in range(i)
        if abs(places[i, 0] - places[j, 0]) < WIDTH and abs(places[i, 1] - places[j, 1]) < HEIGHT
    ]


@given(st.one_of(graphs(), forests()), st.floats(0.5, 3), st.booleans())
def test_no_two_boxes_overlap(
    graph: tuple[int, list[tuple[int, int]]], ratio: float, sideways: bool
) -> None:
    count, edges = graph
    places = positions(count, edges, width=WIDTH, height=HEIGHT, ratio=ratio, sideways=sideways)
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()
    assert overlapping(places) == []


@given(st.one_of(acyclic(), forests()), st.booleans())
def test_a_parent_is_above_its_child(
    graph: tuple[int, list[tuple[int, int]]], sideways: bool
) -> None:
    count, edges = graph
    places = positions(count, edges, width=WIDTH, height=HEIGHT, sideways=sideways)
    axis = 0 if sideways else 1
    for parent, child in edges:
        assert places[parent, axis] < places[child, axis]


@given(acyclic())
def test_the_same_graph_has_the_same_positions(graph: tuple[int, list[tuple[int, int]]]) -> None:
    assert (positions(*graph) == positions(*graph)).all()


def test_nothing_has_no_positions() -> None:
    assert positions(0, []).shape == (0, 2)


@pytest.mark.parametrize(
    ("count", "edges"),
    [
        (3_000, [(i, i + 1) for i in range(2_999)]),
        (3_000, [(0, i) for i in range(1, 3_000)]),
        (3_000, []),
    ],
    ids=["chain", "star", "nothing in common"],
)
def test_extremes_are_laid_out(count: int, edges: list[tuple[int, int]]) -> None:
    places = positions(count, edges, width=WIDTH, height=HEIGHT)
    assert len(np.unique(places, axis=0)) == count


def test_many_roots_fill_the_screen_and_not_a_line() -> None:
    width, height = np.ptp(positions(600, [], width=WIDTH, height=HEIGHT, ratio=1.5), axis=0)
    assert 0.7 < width / height < 3

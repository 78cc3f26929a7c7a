"""Labels that repeat on a path: against a walk of every path, and how much work that is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posetlib.arrays.edges import Outline
from posetlib.arrays.nesting import repeated_on_paths


def below(edges: set[tuple[int, int]], start: int) -> set[int]:
    found: set[int] = set()
    stack = [start]
    while stack:
        node = stack.pop()
        for parent, child in edges:
            if parent == node and child not in found:
                found.add(child)
                stack.append(child)
    return found


def expected(edges: set[tuple[int, int]], pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [
        (node, label)
        for node, label in pairs
        if any(
            other == label and above != node and node in below(edges, above)
            for above, other in pairs
        )
    ]


def outline_of(count: int, edges: set[tuple[int, int]]) -> Outline:
    ends = np.array(sorted(edges), np.int64).reshape(-1, 2)
    return Outline.of(np.arange(count), ends[:, 0], ends[:, 1])


NODES = 9


@given(
    st.lists(st.integers(-1, NODES - 1), min_size=NODES, max_size=NODES),
    st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=3),
    st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, 3)), max_size=14),
)
def test_repeated_labels_are_those_that_walks_find(
    parents: list[int], extra: set[tuple[int, int]], held: set[tuple[int, int]]
) -> None:
    # A forest, or one with cycles, and some edges too many.
    edges = {(parent, child) for child, parent in enumerate(parents) if parent >= 0} | extra
    pairs = sorted(held)
    nodes, labels = (np.array([pair[at] for pair in pairs], np.int64) for at in (0, 1))
    found = repeated_on_paths(outline_of(NODES, edges), nodes, labels)
    assert [pairs[each] for each in found.tolist()] == expected(edges, pairs)


@given(
    st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=14),
    st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=2),
    st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, 3)), max_size=14),
)
def test_edges_known_to_be_harmless_change_nothing(
    good: set[tuple[int, int]], bad: set[tuple[int, int]], held: set[tuple[int, int]]
) -> None:
    good = {(min(edge), max(edge)) for edge in good if edge[0] != edge[1]} - bad
    # Labels that the good edges alone would repeat are not held.
    pairs: list[tuple[int, int]] = []
    for pair in sorted(held):
        if not expected(good, [*pairs, pair]):
            pairs.append(pair)
    edges = good | bad
    outline = outline_of(NODES, edges)
    nodes, labels = (np.array([pair[at] for pair in pairs], np.int64) for at in (0, 1))
    harmless = np.array([edge not in bad for edge in sorted(edges)], np.bool_)
    found = repeated_on_paths(outline, nodes, labels, harmless=harmless)
    assert [pairs[each] for each in found.tolist()] == expected(edges, pairs)


def work_for(count: int, spoil: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many words of sets travel along edges, in a forest where each node has a label.

    Every label is held twice, so that none can be passed over for being alone.
    """
    children = np.arange(1, count)
    parents = (children - 1) // 3
    ends: list[tuple[int, int]] = []
    if spoil == "leaf to root":
        ends = [(count - 1, 0)]
    elif spoil == "a second parent":
        ends = [(count // 2, count - 1)]
    extra = np.array(ends, np.int64).reshape(-1, 2)
    outline = Outline.of(
        np.arange(count),
        np.concatenate([parents, extra[:, 0]]),
        np.concatenate([children, extra[:, 1]]),
    )
    nodes = np.arange(count)
    labels = nodes % (count // 2)
    work = 0

    def counted(real: object) -> object:
        def gathered(self: Outline, own: np.ndarray) -> object:
            nonlocal work
            work += len(self.parents) * own.shape[1]
            return real(self, own)  # type: ignore[operator]

        return gathered

    with monkeypatch.context() as patch:
        for name in ("gathered_above", "gathered_below"):
            patch.setattr(Outline, name, counted(getattr(Outline, name)))
        repeated_on_paths(outline, nodes, labels)
    return work


@pytest.mark.parametrize("spoil", ["nothing", "leaf to root", "a second parent"])
def test_work_grows_with_the_nodes_and_not_with_their_square(
    spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = (work_for(count, spoil, monkeypatch) for count in (3_000, 48_000))
    assert large <= 2 * 16 * max(small, 3_000)

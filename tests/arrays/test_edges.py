"""What travels along the links is what a plain walk finds."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posetlib.arrays.edges import Outline

EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20, unique=True)


def outline(edges: list[tuple[int, int]]) -> tuple[Outline, nx.DiGraph[int]]:
    graph: nx.DiGraph[int] = nx.DiGraph(edges)
    graph.add_nodes_from(range(10))
    parents = np.array([parent for parent, _ in edges], np.int64)
    children = np.array([child for _, child in edges], np.int64)
    return Outline.of(np.arange(10), parents, children), graph


def above(graph: nx.DiGraph[int], node: int) -> set[int]:
    """The nodes from which a path of one edge or more leads to a node."""
    return {
        each
        for parent in graph.predecessors(node)
        for each in (parent, *nx.ancestors(graph, parent))
    }


@given(EDGES)
def test_bits_travel_both_ways(edges: list[tuple[int, int]]) -> None:
    made, graph = outline(edges)
    own = (np.uint64(1) << np.arange(10).astype(np.uint64))[:, None]
    ups = made.gathered_above(own)[:, 0]
    downs = made.gathered_below(own)[:, 0]
    for node in range(10):
        assert ups[node] == sum(1 << each for each in above(graph, node))
        below = {each for each in range(10) if node in above(graph, each)}
        assert downs[node] == sum(1 << each for each in below)


@given(EDGES)
def test_cycles_are_found_where_they_are(edges: list[tuple[int, int]]) -> None:
    made, graph = outline(edges)
    acyclic = nx.is_directed_acyclic_graph(graph)
    assert made.cyclic().any() == (not acyclic)
    cycle = made.cycle()
    assert bool(cycle) == (not acyclic)
    for parent, child in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert graph.has_edge(parent, child)


@given(EDGES, st.sets(st.integers(0, 9)))
def test_a_walk_goes_through_what_is_allowed(edges: list[tuple[int, int]], open_: set[int]) -> None:
    made, graph = outline(edges)
    allowed = np.array([[each in open_] for each in range(10)]).astype(np.uint64)
    found = set(np.flatnonzero(made.reached(allowed)[:, 0]).tolist())
    reached: set[int] = set()
    stack = [each for each in open_ if graph.in_degree(each) == 0]
    while stack:
        node = stack.pop()
        if node not in reached:
            reached.add(node)
            stack += [each for each in graph.successors(node) if each in open_]
    assert found == reached


@given(st.lists(st.integers(-1, 9), min_size=10, max_size=10))
def test_intervals_of_a_forest_nest_as_its_nodes_do(parents: list[int]) -> None:
    # A parent with a smaller number, or none: no cycle, and no second parent.
    edges = [(parent, child) for child, parent in enumerate(parents) if 0 <= parent < child]
    made, graph = outline(edges)
    assert made.is_forest()
    enter, leave = made.intervals()
    for one in range(10):
        inside = {
            other for other in range(10) if other != one and enter[one] <= enter[other] < leave[one]
        }
        assert inside == nx.descendants(graph, one)


def test_a_deep_chain_takes_no_recursion() -> None:
    count = 20_000
    made = Outline.of(np.arange(count), np.arange(count - 1), np.arange(1, count))
    assert not made.cyclic().any()
    enter, leave = made.intervals()
    assert enter.tolist() == list(range(count))
    assert set(leave.tolist()) == {count}
    own = np.zeros((count, 1), np.uint64)
    own[-1] = 1
    assert made.gathered_below(own)[:-1].all()


@given(EDGES)
def test_a_node_on_a_cycle_does_not_meet_itself(edges: list[tuple[int, int]]) -> None:
    made, graph = outline(edges)
    own = (np.uint64(1) << np.arange(10).astype(np.uint64))[:, None]
    ups = made.without_self(made.gathered_above(own), own, above=True)[:, 0]
    downs = made.without_self(made.gathered_below(own), own, above=False)[:, 0]
    for node in range(10):
        assert ups[node] == sum(1 << each for each in above(graph, node) - {node})
        below = {each for each in range(10) if node in above(graph, each)} - {node}
        assert downs[node] == sum(1 << each for each in below)


def test_one_edge_from_a_leaf_to_the_root_costs_no_square() -> None:
    # Walking from each node on or below the cycle took half a minute here.
    count = 60_000
    parents, children = (np.arange(1, count) - 1) // 2, np.arange(1, count)
    made = Outline.of(np.arange(count), np.append(parents, count - 1), np.append(children, 0))
    own = np.zeros((count, 1), np.uint64)
    own[count - 1] = 1
    above_all = made.without_self(made.gathered_above(own), own, above=True)
    assert above_all[:-1].all()
    assert not above_all[-1]
    assert not made.reached(np.ones((count, 1), np.uint64)).any()

"""Trees of brokers with delays, as in the experiments with moving clients [T 5.8]."""

from __future__ import annotations

import math
import random
from typing import Final

import networkx as nx

__all__ = ["LONGEST_DELAY", "PROCESSING", "waxman_tree"]

#: Seconds between the two brokers that are farthest apart in the tree, and for a message at each
#: broker [T 5.8].
LONGEST_DELAY: Final = 0.0257
PROCESSING: Final = 0.002
# How soon the chance of a link falls with distance, and links of a new broker to earlier ones.
_NEARNESS: Final = 0.2
_LINKS: Final = 2


def waxman_tree(brokers: int, seed: object) -> nx.Graph[int]:
    """Return the breadth-first tree of a graph in which near brokers are joined more often.

    Brokers are points of a square. The attribute "delay" of an edge follows its length, in such a
    measure that no two brokers are more than ``LONGEST_DELAY`` apart.

    >>> tree = waxman_tree(20, seed=1)
    >>> nx.is_tree(tree), len(tree)
    (True, 20)
    >>> ways = dict(nx.all_pairs_dijkstra_path_length(tree, weight="delay"))
    >>> round(max(max(each.values()) for each in ways.values()), 6)
    0.0257
    """
    rng = random.Random(f"tree {brokers} {seed}")
    places = [(rng.random(), rng.random()) for _ in range(brokers)]
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(brokers))
    for i in range(1, brokers):
        weights = [math.exp(-math.dist(places[i], places[j]) / _NEARNESS) for j in range(i)]
        for j in rng.choices(range(i), weights, k=_LINKS):
            graph.add_edge(i, j)
    tree = nx.Graph(nx.bfs_tree(graph, rng.randrange(brokers)))
    for one, other in tree.edges:
        tree.edges[one, other]["delay"] = math.dist(places[one], places[other])
    # The longest way of a tree begins at the broker that is farthest from any other.
    _, end = _farthest(tree, 0)
    longest, _ = _farthest(tree, end)
    for each in tree.edges:
        tree.edges[each]["delay"] *= LONGEST_DELAY / longest
    return tree


def _farthest(tree: nx.Graph[int], broker: int) -> tuple[float, int]:
    """Return how far the farthest broker is from this one, and which it is."""
    ways = nx.single_source_dijkstra_path_length(tree, broker, weight="delay")
    return max((way, each) for each, way in ways.items())

"""The tree of a network: its brokers, who is next to whom, and the way between two of them."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Tree", "delays_of"]

Broker = Hashable


class Tree:
    """A tree of brokers, in the order of the graph's nodes.

    >>> import networkx as nx
    >>> tree = Tree(nx.path_graph(["B1", "B2", "B3"]))
    >>> tree.path("B3", "B1")
    ('B3', 'B2', 'B1')
    >>> tree.next_hop("B3", "B1")
    'B2'
    """

    def __init__(self, graph: Any) -> None:
        import networkx as nx  # noqa: PLC0415 - a tenth of a second that most callers never need

        if not isinstance(graph, nx.Graph) or graph.is_directed() or graph.is_multigraph():
            raise ValueError(
                "the brokers of a network are an undirected networkx graph without parallel "
                f"edges, not {type(graph).__name__}"
            )
        if not graph or not nx.is_tree(graph):
            raise ValueError(
                f"the brokers of a network are a tree, and {len(graph)} brokers with "
                f"{graph.number_of_edges()} links are none: every two brokers need exactly one "
                "way between them"
            )
        self.brokers: Final[tuple[Broker, ...]] = tuple(graph)
        #: The place of each broker in that order.
        self.number: Final[dict[Broker, int]] = {each: i for i, each in enumerate(self.brokers)}
        self.neighbours: Final[dict[Broker, tuple[Broker, ...]]] = {
            each: tuple(sorted(graph.adj[each], key=self.number.__getitem__))
            for each in self.brokers
        }
        self._parent: dict[Broker, Broker] = {}
        self._depth: dict[Broker, int] = {self.brokers[0]: 0}
        for parent, child in nx.bfs_edges(graph, self.brokers[0]):
            self._parent[child] = parent
            self._depth[child] = self._depth[parent] + 1
        self._paths: dict[tuple[Broker, Broker], tuple[Broker, ...]] = {}

    @property
    def edges(self) -> tuple[tuple[Broker, Broker], ...]:
        """Every edge once, from the broker that comes first."""
        number = self.number
        return tuple(
            (one, other)
            for one in self.brokers
            for other in self.neighbours[one]
            if number[one] < number[other]
        )

    def graph(self) -> nx.Graph[Any]:
        """Return the tree as a new graph."""
        import networkx as nx  # noqa: PLC0415 - a tenth of a second that most callers never need

        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(self.brokers)
        graph.add_edges_from(self.edges)
        return graph

    def path(self, one: Broker, other: Broker) -> tuple[Broker, ...]:
        """Return the brokers on the way from one to another, both included."""
        found = self._paths.get((one, other))
        if found is None:
            found = self._paths[one, other] = self._climb(one, other)
        return found

    def _climb(self, one: Broker, other: Broker) -> tuple[Broker, ...]:
        ahead, behind = [one], [other]
        while one != other:
            if self._depth[one] >= self._depth[other]:
                one = self._parent[one]
                ahead.append(one)
            else:
                other = self._parent[other]
                behind.append(other)
        return (*ahead, *reversed(behind[:-1]))

    def next_hop(self, one: Broker, other: Broker) -> Broker:
        """Return the neighbour of one broker in the direction of another."""
        return self.path(one, other)[1]

    def crosses(
        self, one: Broker, other: Broker, link: tuple[Broker, Broker]
    ) -> tuple[Broker, Broker] | None:
        """Return a link in the direction in which the way between two brokers takes it, or None."""
        for step in pairwise(self.path(one, other)):
            if step in (link, link[::-1]):
                return step
        return None


def delays_of(graph: Any, attribute: str) -> dict[tuple[Broker, Broker], float]:
    """Return the seconds that a message takes on each edge, in both directions.

    ValueError for an edge without such an attribute, or with one that is no time.
    """
    found = {}
    for one, other, delay in graph.edges(data=attribute):
        if not isinstance(delay, int | float) or not 0 <= delay < float("inf"):
            raise ValueError(
                f"the edge between {one!r} and {other!r} has no {attribute!r} in seconds: {delay!r}"
            )
        found[one, other] = found[other, one] = float(delay)
    return found

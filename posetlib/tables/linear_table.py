"""The plain list: no cleverness, so that the other tables can be held against it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from posetlib.graph.links import LinksObserver
from posetlib.graph.nodes import Node
from posetlib.graph.paths import ancestors
from posetlib.search.match_walk import Trail, scan
from posetlib.search.probe import Probe
from posetlib.search.relation import Relation
from posetlib.tables.item_type import ItemT
from posetlib.tables.promises import Elimination, Promises, Shape
from posetlib.tables.structures import register_structure
from posetlib.tables.table import Table

__all__ = ["LinearTable"]


@dataclass(slots=True)
class _Rows:
    """All nodes that strictly cover a node, and all that it strictly covers."""

    above: set[Node] = field(default_factory=set)
    below: set[Node] = field(default_factory=set)


class _RowKeeper(LinksObserver):
    """Keeps the rows of all nodes when one of them comes or goes.

    Those of a node that goes are kept with it, for an undo that brings it back.
    """

    __slots__ = ("_top",)

    def __init__(self, top: Node) -> None:
        self._top = top

    def entered(self, node: Node) -> None:
        """Let the rows of the others know a node."""
        if node.extra is None:
            node.extra = _Rows()
        for other in node.extra.above:
            other.extra.below.add(node)
        for other in node.extra.below:
            other.extra.above.add(node)

    def left(self, node: Node) -> None:
        """Let the rows of the others forget a node."""
        for other in node.extra.above:
            other.extra.below.discard(node)
        for other in node.extra.below:
            other.extra.above.discard(node)

    def loaded(self, nodes: list[Node]) -> None:
        """Read the rows of a whole table from its links."""
        for node in nodes:
            node.extra = _Rows(above=set(ancestors(node, self._top)))
        for node in nodes:
            for other in node.extra.above:
                other.extra.below.add(node)


@register_structure
class LinearTable(Table[ItemT]):
    """A list of filters, each of which knows all that it covers and all that cover it.

    The executable specification: a new filter is compared with every other one in both directions,
    2n covering tests; a match tests every filter. Eliminates by interface as the filters poset
    does; with ``local=True`` it keeps every pair. Parents and children are the nearest in the
    order, worked out from the definition. An index, which it has only if asked to, serves nothing
    but ``covering``, ``covered`` and matching.

    >>> t = LinearTable(covers=frozenset.issuperset, matches=lambda item, n: n in item)
    >>> _ = t.add(frozenset("ab"), "I1"), t.add(frozenset("a"), "I2")
    >>> t.parents(frozenset("a")) == (frozenset("ab"),)
    True
    >>> sorted(t.match("a"))
    ['I1', 'I2']
    """

    structure = "linear"
    promises = Promises("Linear table", Shape.LIST, Elimination.EVERYWHERE, may_be_local=True)
    _index_by_default = False

    def _reset(self, relation: Relation[Any], local: bool, uses_index: bool) -> None:
        super()._reset(relation, local, uses_index)
        self._row_keeper = _RowKeeper(self._links.top)
        self._links.attach(self._row_keeper)

    def _add(self, item: ItemT, interface: Hashable) -> None:
        links = self._links
        node = links.find(item)
        if node is None:
            probe = self._probe(item)
            others = list(links.nodes.values())
            above = [other for other in others if probe.above(other)]
            below = [other for other in others if probe.below(other)]
            same = set(above).intersection(below)
            if not self.local and any(interface in other.interfaces for other in above):
                return
            if same:
                (node,) = same
                links.alias(node, item)
            else:
                node = self._enter(probe, above, below)
        elif not self.local and any(interface in each.interfaces for each in node.extra.above):
            return
        if interface in node.interfaces:
            return
        links.hold(node, interface)
        if not self.local:
            lost = [other for other in node.extra.below if interface in other.interfaces]
            self._withdraw(sorted(lost, key=lambda each: each.serial), interface)

    def _enter(self, probe: Probe, above: list[Node], below: list[Node]) -> Node:
        node = self._links.enter(probe.item, probe.traits)
        node.extra = _Rows(set(above), set(below))
        self._row_keeper.entered(node)
        self._relink([node, *below])
        return node

    def _dissolve(self, empty: list[Node]) -> None:
        links = self._links
        touched: dict[Node, None] = {}
        for node in empty:
            touched.update(dict.fromkeys(sorted(node.extra.below, key=lambda each: each.serial)))
            for parent in list(node.parents):
                links.unlink(parent, node)
            for child in list(node.children):
                links.unlink(node, child)
            links.leave(node)
        self._relink([node for node in touched if node.item in links.nodes])

    def _relink(self, nodes: list[Node]) -> None:
        """Link each node to the nearest above it, and to nothing else."""
        links = self._links
        for node in nodes:
            above = node.extra.above
            nearest = above.difference(*(other.extra.above for other in above)) or {links.top}
            for parent in [each for each in node.parents if each not in nearest]:
                links.unlink(parent, node)
            for parent in sorted(nearest.difference(node.parents), key=lambda each: each.serial):
                links.link(parent, node)

    def _match(
        self, notification: Any, max_tests: int | None, trail: Trail | None
    ) -> tuple[set[Hashable], int]:
        if max_tests is not None and max_tests < 0:
            raise ValueError(f"max_tests must not be negative, is {max_tests}")
        matches, _ = self._matches(notification)
        return scan(self._links.nodes.values(), matches, max_tests, trail)

    def matching(self, notification: Any) -> frozenset[ItemT]:
        """Return the filters that match."""
        matches, _ = self._matches(notification)
        return frozenset(node.item for node in self._links.nodes.values() if matches(node))

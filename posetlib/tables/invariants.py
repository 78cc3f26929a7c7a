"""Whether a table is what it promises, worked out anew from the relation and the links.

Nothing here is shared with the code that changes tables. A path implies covering by transitivity,
so only pairs that no path joins are compared, up to two tests each; sets of nodes are the bits of
integers. Checks come in an order in which each may rely on the ones before it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NoReturn

from posetlib.bits import places_in
from posetlib.errors import InvariantError
from posetlib.graph.change import Item
from posetlib.graph.interface_index import InterfaceIndex
from posetlib.graph.links import Links
from posetlib.graph.nodes import Node
from posetlib.tables.forwards import disagreement
from posetlib.tables.promises import Elimination, Promises, Shape

__all__ = ["check_entries", "check_table"]

Covers = Callable[[Item, Item], bool]


def check_table(
    promises: Promises, local: bool, links: Links, index: InterfaceIndex | None, covers: Covers
) -> None:
    """Raise InvariantError for the first invariant that a table breaks, with a witness."""
    kept = promises.invariants(local=local)
    picture = _Picture(links, covers)
    picture.check_reachable_acyclic()
    if "single-parent" in kept:
        picture.check_single_parent()
    picture.check_interfaces_nonempty()
    picture.check_edge_covers()
    picture.check_roots_minimal_cover()
    if promises.shape is Shape.FOREST:
        picture.check_siblings_pure()
    else:
        picture.check_no_redundant_edge()
    if "complete-order" in kept:
        picture.check_complete_order()
    if "minimum-interface" in kept:
        picture.check_minimum_interface()
    if "no-redundant-pair" in kept:
        picture.check_no_redundant_pair()
    if index is not None:
        picture.check_interface_index(index)
    if promises.forwards is not None:
        picture.check_forwards_agree(promises.forwards)


def check_entries(
    promises: Promises,
    local: bool,
    links: Links,
    covers: Covers,
    against: Iterable[tuple[Item, Hashable]],
) -> None:
    """Raise InvariantError unless a table holds what some pairs leave, when they are all added.

    entries-served: each of the pairs is in the table, or one of the same interface covers it there;
    where elimination reaches the whole table, the table has no pair more than it leaves; a local
    table has every pair. entries-asked: each pair of the table is one of these. Up to two tests for
    every two filters of one interface.
    """
    asked: dict[Hashable, list[Item]] = {}
    for item, interface in against:
        asked.setdefault(interface, []).append(item)
    held: dict[Hashable, list[Item]] = {}
    for node in links.nodes.values():
        for interface in node.interfaces:
            held.setdefault(interface, []).append(node.item)

    def same(one: Item, other: Item) -> bool:
        return one == other or (covers(one, other) and covers(other, one))

    for interface, items in held.items():
        known = set(asked.get(interface, ()))
        for item in items:
            if item not in known and not any(same(item, other) for other in known):
                _violated("entries-asked", (item, interface), "nobody asked for it")
    for interface, wanted in asked.items():
        items = held.get(interface, [])
        serves = same if local else covers
        for item in wanted:
            if not any(serves(other, item) for other in items):
                _violated("entries-served", (item, interface), "the table does not serve it")
        if promises.elimination is Elimination.EVERYWHERE and not local:
            for item in items:
                if any(covers(other, item) and not covers(item, other) for other in wanted):
                    _violated("entries-served", (item, interface), "elimination does not leave it")


def _violated(invariant: str, witness: object, message: str) -> NoReturn:
    raise InvariantError(invariant, witness, message)


class _Picture:
    """The nodes of a table by number, children before parents, with sets of nodes as bits."""

    def __init__(self, links: Links, covers: Covers) -> None:
        self.links = links
        self.top = links.top
        self.covers = covers
        self.nodes: list[Node] = []
        self.number: dict[Node, int] = {}
        #: For each node, all those below it by the links.
        self.below: list[int] = []
        #: For each interface, the nodes that hold it.
        self.holders: dict[Hashable, int] = {}

    # -- the links alone ---------------------------------------------------------------------------

    def check_reachable_acyclic(self) -> None:
        """Every node is reached from a root, and no path comes back."""
        name = "reachable-acyclic"
        members = [self.top, *self.links.nodes.values()]
        down = {(node, child) for node in members for child in node.children}
        up = {(parent, node) for node in members for parent in node.parents}
        if down != up:
            known = set(members)
            for node in members:
                for child in node.children:
                    if child not in known:
                        _violated(name, (node.item, child.item), "a child is not in the table")
                    if (node, child) not in up:
                        _violated(name, (node.item, child.item), "a child does not know its parent")
                for parent in node.parents:
                    if (parent, node) not in down:
                        _violated(name, (parent.item, node.item), "a parent forgot its child")
        waiting = {node: len(node.parents) for node in members}
        order = [self.top]
        for node in order:
            for child in node.children:
                waiting[child] -= 1
                if not waiting[child]:
                    order.append(child)
        left = [node for node in self.links.nodes.values() if waiting[node] or not node.parents]
        if left:
            self._explain_unreached(left)
        # Children get smaller numbers than their parents: then the sets of descendants are short.
        self._number(order[:0:-1])

    def _explain_unreached(self, left: list[Node]) -> NoReturn:
        """Go up from an unreached node: to one that hangs from nothing, or round a cycle."""
        unreached = set(left)
        node = left[0]
        path = {node: None}
        while above := [parent for parent in node.parents if parent in unreached]:
            node = above[0]
            if node in path:
                visited = list(path)
                cycle = visited[visited.index(node) :]
                items = tuple(each.item for each in reversed(cycle))
                _violated("reachable-acyclic", items, "a cycle")
            path[node] = None
        items = tuple(each.item for each in reversed(path))
        _violated("reachable-acyclic", items, "not reached from a root")

    def _number(self, order: list[Node]) -> None:
        self.nodes = order
        self.number = {node: i for i, node in enumerate(order)}
        self.below = [0] * len(order)
        for i in range(len(order)):
            bits = 0
            for child in order[i].children:
                bits |= self.below[self.number[child]] | 1 << self.number[child]
            self.below[i] = bits
        for i, node in enumerate(order):
            for interface in node.interfaces:
                self.holders[interface] = self.holders.get(interface, 0) | 1 << i

    def check_single_parent(self) -> None:
        """At most one parent."""
        for node in self.nodes:
            if len(node.parents) > 1:
                above = tuple(parent.item for parent in node.parents)
                _violated("single-parent", (node.item, above), "more than one parent")

    def check_interfaces_nonempty(self) -> None:
        """Every node has an interface."""
        for node in self.nodes:
            if not node.interfaces:
                _violated("interfaces-nonempty", node.item, "no interface holds it")

    # -- the relation ------------------------------------------------------------------------------

    def check_edge_covers(self) -> None:
        """Every parent strictly covers its child."""
        for node in self.nodes:
            for child in node.children:
                pair = (node.item, child.item)
                if not self.covers(*pair):
                    _violated("edge-covers", pair, "a parent does not cover its child")
                if self.covers(child.item, node.item):
                    _violated("edge-covers", pair, "a child covers its parent")

    def check_roots_minimal_cover(self) -> None:
        """The roots are exactly the filters that no other filter covers."""
        name = "roots-minimal-cover"
        roots = self.top.children
        for root in roots:
            if len(root.parents) > 1:
                _violated(name, root.item, "a root has a parent")
        # A filter that is covered by another one is covered by that one's root.
        pair = self._comparable(roots)
        if pair is not None:
            _violated(name, pair, "a root is covered by another filter")

    def check_siblings_pure(self) -> None:
        """No child of a node covers another child of it."""
        for node in self.nodes:
            pair = self._comparable(node.children)
            if pair is not None:
                _violated("sibling-pure", pair, f"both are children of {node.item}")

    def _comparable(self, nodes: Sequence[Node]) -> tuple[Item, Item] | None:
        """Return a pair of nodes of which the first covers the second."""
        for one, other in combinations(nodes, 2):
            if self.covers(one.item, other.item):
                return one.item, other.item
            if self.covers(other.item, one.item):
                return other.item, one.item
        return None

    def check_no_redundant_edge(self) -> None:
        """No edge is implied by two others."""
        for node in self.nodes:
            children = [self.number[child] for child in node.children]
            further = direct = 0
            for i in children:
                further |= self.below[i]
                direct |= 1 << i
            for i in places_in(further & direct):
                between = next(j for j in children if self.below[j] >> i & 1)
                items = (node.item, self.nodes[between].item, self.nodes[i].item)
                _violated("sibling-pure", items, "an edge is implied by a path")

    def check_complete_order(self) -> None:
        """One strictly covers another exactly if a path leads from it to the other."""
        for one, other in self._unjoined():
            if self.covers(one.item, other.item):
                _violated("complete-order", (one.item, other.item), "covered without a path")

    def _unjoined(self) -> Iterator[tuple[Node, Node]]:
        """Yield every two nodes that no path joins, both ways round."""
        for i, node in enumerate(self.nodes):
            # Descendants have smaller numbers.
            for j in places_in(((1 << i) - 1) & ~self.below[i]):
                yield node, self.nodes[j]
                yield self.nodes[j], node

    # -- interfaces --------------------------------------------------------------------------------

    def check_minimum_interface(self) -> None:
        """No interface twice on a path."""
        for interface, holders in self.holders.items():
            for i in places_in(holders):
                twice = holders & self.below[i]
                if twice:
                    items = (self.nodes[i].item, self.nodes[next(places_in(twice))].item, interface)
                    _violated("minimum-interface", items, "an interface twice on a path")

    def check_no_redundant_pair(self) -> None:
        """No interface holds two filters of which one covers the other."""
        for interface, holders in self.holders.items():
            pair = self._comparable([self.nodes[i] for i in places_in(holders)])
            if pair is not None:
                _violated("no-redundant-pair", (*pair, interface), "one interface holds both")

    def check_interface_index(self, index: InterfaceIndex) -> None:
        """The index equals the interfaces of the descendants."""
        for node in self.nodes:
            # If the index is right at each child, this makes it right at the parent.
            if not index.is_right(node):
                below = frozenset(
                    interface
                    for i in places_in(self.below[self.number[node]])
                    for interface in self.nodes[i].interfaces
                )
                witness = (node.item, index.below(node), below)
                _violated("interface-index", witness, "the index is not what is below")

    def check_forwards_agree(self, mechanism: str) -> None:
        """The mechanisms agree, with every interface taken as a neighbour."""
        # Parents first: then a filter soon meets two that cover it, and no more need be asked.
        found = disagreement(self.nodes[::-1], self.top, self.covers, mechanism)
        if found is not None:
            _violated("forwards-agree", found, "mechanisms differ")

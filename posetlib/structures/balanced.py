"""The forests with an interface index: balanced, and without redundancy [T 3.3.2, 3.3.3]."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from posetlib.change import Item
from posetlib.interface_index import IndexedLinks
from posetlib.nodes import Node
from posetlib.relation import Probe
from posetlib.structures.forest import Forest

__all__ = ["BalancedForest", "NonRedundantForest"]


class BalancedForest(Forest):
    """A forest in which each node knows the interfaces found among its descendants.

    An add tries the children first under which its interface lives already, so that filters of one
    interface gather, and matching skips subtrees whose interfaces are all in the answer.

    >>> t = BalancedForest(covers=frozenset.issuperset)
    >>> for letters, interface in (("abc", "I1"), ("bcd", "I2"), ("cd", "I3"), ("c", "I3")):
    ...     _ = t.add(frozenset(letters), interface)
    >>> sorted(t.index(frozenset("bcd")))
    ['I3']
    """

    structure = "bf"
    _links: IndexedLinks

    def _new_links(self) -> IndexedLinks:
        return IndexedLinks()

    def index(self, item: Item) -> frozenset[Hashable]:
        """Return the interfaces found among the descendants of a filter [T, Def. 3.11]."""
        return self._links.index_of(self._node(item))

    def _ordered(self, siblings: Sequence[Node], interface: Hashable) -> Sequence[Node]:
        links = self._links
        if interface not in links.holders:
            return siblings
        home: list[Node] = []
        rest: list[Node] = []
        for node in siblings:
            (home if links.lives_in(node, interface) else rest).append(node)
        return home + rest


class NonRedundantForest(BalancedForest):
    """A balanced forest in which no interface holds two comparable filters, in any two trees.

    After the same updates it holds the same pairs as the filters poset. For this an add is held
    against the filters of its own interface in the whole forest, of which the index leaves few.

    >>> t = NonRedundantForest(covers=frozenset.issuperset)
    >>> _ = t.add(frozenset("ab"), "I1")
    >>> bool(t.add(frozenset("a"), "I1"))
    False
    """

    structure = "nrf"

    def _is_redundant(self, probe: Probe, node: Node, interface: Hashable) -> bool:
        return self._is_covered(probe, interface)

    def _descend(self, probe: Probe, interface: Hashable) -> tuple[Node | None, Sequence[Node]]:
        if self._is_covered(probe, interface):
            return None, ()
        return super()._descend(probe, interface)

    def _is_covered(self, probe: Probe, interface: Hashable) -> bool:
        """Return whether an interface holds a filter that covers the item, anywhere."""
        links = self._links
        if interface not in links.holders:
            return False
        stack = [links.top]
        while stack:
            for node in self._search.below(stack.pop(), probe.kind):
                if links.lives_in(node, interface) and probe.above(node):
                    if interface in node.interfaces:
                        return True
                    stack.append(node)
        return False

    def _made_redundant(self, probe: Probe, node: Node, interface: Hashable) -> list[Node]:
        return [
            each
            for each in self._links.holding(interface)
            if each is not node and (self._is_below(each, node) or probe.below(each))
        ]

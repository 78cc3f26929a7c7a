"""The forests with an interface index: balanced, and without redundancy [T 3.3.2, 3.3.3]."""

from __future__ import annotations

from collections.abc import Callable, Hashable

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

    def _preference(self, interface: Hashable) -> Callable[[Node], bool] | None:
        links = self._links
        return links.leads_to(interface) if interface in links.holders else None


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
        return self._search.is_held_above(probe, interface)

    def _descend(self, probe: Probe, interface: Hashable) -> tuple[Node, list[Node]] | None:
        if interface in self._links.holders and self._search.is_held_above(probe, interface):
            return None
        return super()._descend(probe, interface)

    def _made_redundant(self, probe: Probe, node: Node, interface: Hashable) -> list[Node]:
        if len(self._links.holders[interface]) == 1:
            return []
        return self._search.held_below(probe, interface, node)

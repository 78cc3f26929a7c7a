"""The non-redundant forest: the pairs of the filters poset in a forest [T 3.3.3]."""

from __future__ import annotations

from collections.abc import Hashable

from posetlib.graph.nodes import Node
from posetlib.search.probe import Probe
from posetlib.tables.balanced_forest import BalancedForest
from posetlib.tables.item_type import ItemT
from posetlib.tables.promises import Elimination, Promises, Shape
from posetlib.tables.structures import register_structure

__all__ = ["NonRedundantForest"]


@register_structure
class NonRedundantForest(BalancedForest[ItemT]):
    """A balanced forest in which no interface holds two comparable filters, in any two trees.

    After the same updates it holds the same pairs as the filters poset. For this an add is held
    against the filters of its own interface in the whole forest, of which the index leaves few.

    >>> t = NonRedundantForest(covers=frozenset.issuperset)
    >>> _ = t.add(frozenset("ab"), "I1")
    >>> bool(t.add(frozenset("a"), "I1"))
    False
    """

    structure = "nrf"
    promises = Promises(
        "Non-redundant forest",
        Shape.FOREST,
        Elimination.EVERYWHERE,
        interface_index=True,
        forwards="forest",
    )

    def _is_redundant(self, probe: Probe, node: Node | None, interface: Hashable) -> bool:
        return self._search.is_held_above(probe, interface)

    def _made_redundant(self, probe: Probe, node: Node, interface: Hashable) -> list[Node]:
        return self._search.held_below(probe, interface, node)

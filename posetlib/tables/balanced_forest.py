"""The balanced forest: each node knows the interfaces below it [T 3.3.2, Def. 3.11]."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from posetlib.graph.interface_index import InterfaceIndex
from posetlib.graph.nodes import Node
from posetlib.tables.forest import Forest
from posetlib.tables.item_type import ItemT
from posetlib.tables.promises import Elimination, Promises, Shape
from posetlib.tables.structures import register_structure

__all__ = ["BalancedForest"]


@register_structure
class BalancedForest(Forest[ItemT]):
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
    promises = Promises(
        "Balanced forest", Shape.FOREST, Elimination.ALONG_PATHS, interface_index=True
    )
    _interface_index: InterfaceIndex

    def index(self, item: ItemT) -> frozenset[Hashable]:
        """Return the interfaces found among the descendants of a filter [T, Def. 3.11].

        O(1) for each; O(filters below) for interfaces that hold a single filter.
        UnknownEntryError if the filter is not in the table.
        """
        return self._interface_index.below(self._node(item))

    def _preference(self, interface: Hashable) -> Callable[[Node], bool] | None:
        return self._interface_index.leads_to(interface)

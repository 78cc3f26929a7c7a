"""The node of a table: an item, the interfaces that hold it, its parents and its children."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable
from operator import attrgetter
from typing import Any, Final, TypeAlias

from posetlib.graph.change import Item

__all__ = ["Node", "Nodes", "Traits", "insert", "ordered", "remove"]

_SERIAL: Final = attrgetter("serial")

#: What is known of an item before it is compared with another one (see ``search.relation``): the
#: part of the partition that it belongs to, None if it belongs to no single part; whether it is
#: canonical, so that canonical items that are equivalent to it are equal to it; and its box, None
#: if it has none.
Traits: TypeAlias = tuple[Hashable, bool, Any]
#: Nodes in order of their serials. Up to one node is kept in a tuple, which takes less memory than
#: a list: most nodes of a forest have one parent and no children.
Nodes: TypeAlias = "list[Node] | tuple[Node, ...]"

_NO_TRAITS: Final[Traits] = (None, False, None)


class Node:
    """One item of a table; plain data, changed by ``Links`` alone.

    Parents and children are sorted by serial, the order in which the nodes came. So what a table
    does next depends only on what can be seen of it: a copy, a restored snapshot and a table after
    an undone operation all continue alike.
    """

    __slots__ = (
        "aliases",
        "box",
        "canonical",
        "children",
        "extra",
        "interfaces",
        "item",
        "lone_below",
        "mask_below",
        "parents",
        "part",
        "serial",
    )

    def __init__(self, item: Item, serial: int, traits: Traits = _NO_TRAITS) -> None:
        self.item = item
        self.serial = serial
        self.part, self.canonical, self.box = traits
        #: Interface -> the moment at which it came to the node; so in order of coming.
        self.interfaces: dict[Hashable, int] = {}
        self.parents: Nodes = ()
        self.children: Nodes = ()
        #: The interfaces of the descendants: as bits, and how many of them hold a single node.
        #: Kept by ``InterfaceIndex`` where a structure has one.
        self.mask_below = 0
        self.lone_below = 0
        #: Items that were added, are equivalent to this one and not equal to it.
        self.aliases: tuple[Item, ...] = ()
        #: Room for what a structure knows of the node; kept when the node leaves, for an undo.
        self.extra: Any = None

    @property
    def traits(self) -> Traits:
        """What is known of the item by itself."""
        return self.part, self.canonical, self.box

    def __repr__(self) -> str:
        return f"<Node {self.serial}: {self.item} {list(self.interfaces)}>"


def ordered(nodes: list[Node]) -> Nodes:
    """Return nodes in order of their serials; sorts the list in place."""
    nodes.sort(key=_SERIAL)
    return nodes if len(nodes) > 1 else tuple(nodes)


def insert(nodes: Nodes, node: Node) -> Nodes:
    """Return nodes with one more in its place, which is mostly the end."""
    if not nodes:
        return (node,)
    if isinstance(nodes, tuple):
        nodes = [*nodes]
    if nodes[-1].serial < node.serial:
        nodes.append(node)
    else:
        insort(nodes, node, key=_SERIAL)
    return nodes


def remove(nodes: Nodes, node: Node) -> Nodes:
    """Return nodes without one; found by its serial in O(log n)."""
    if isinstance(nodes, tuple) or len(nodes) == 1:
        return ()
    del nodes[bisect_left(nodes, node.serial, key=_SERIAL)]
    return nodes

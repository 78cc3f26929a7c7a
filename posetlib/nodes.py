"""The node of a table: an item, who holds it, and what it hangs from and carries."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable
from operator import attrgetter
from typing import Any, Final, TypeAlias

from posetlib.change import Item

__all__ = ["Node", "Nodes", "Traits", "insert", "ordered", "remove"]

_SERIAL = attrgetter("serial")


#: What is known of an item without holding it against another one (see ``relation``): its kind, the
#: part of a partition that it is in, None when in none; whether it is canonical, equal to every
#: canonical item that is equivalent to it; and its box, for an index, None where there is none.
Traits: TypeAlias = tuple[Hashable, bool, Any]
#: Nodes in order of their serials. None, or the first one, are in a tuple, which takes little room:
#: most nodes of a forest have one parent and no children.
Nodes: TypeAlias = "list[Node] | tuple[Node, ...]"

_NO_TRAITS: Final[Traits] = (None, False, None)


class Node:
    """One item of a table; plain data, changed by ``Links`` alone.

    Parents and children are sorted by serial, the order in which the nodes came. So what a
    table does next depends on what can be seen of it, and not on how it came about: a copy, a
    restored snapshot and an undone operation all go on alike.
    """

    __slots__ = (
        "aliases",
        "box",
        "canonical",
        "children",
        "extra",
        "interfaces",
        "item",
        "kind",
        "lone",
        "mask",
        "parents",
        "serial",
    )

    def __init__(self, item: Item, serial: int, traits: Traits = _NO_TRAITS) -> None:
        self.item = item
        self.serial = serial
        self.kind, self.canonical, self.box = traits
        #: Interface -> the moment at which it came to the node; so in order of coming.
        self.interfaces: dict[Hashable, int] = {}
        self.parents: Nodes = ()
        self.children: Nodes = ()
        #: The interfaces found among the descendants, as bits and as a number (see
        #: ``interface_index``); kept in forests with an index.
        self.mask = 0
        self.lone = 0
        #: Items that are equivalent to this one, not equal to it, and were added.
        self.aliases: tuple[Item, ...] = ()
        #: Room for what a table knows of the node; goes and comes back with it.
        self.extra: Any = None

    @property
    def traits(self) -> Traits:
        """What is known of the item by itself."""
        return self.kind, self.canonical, self.box

    def __repr__(self) -> str:
        return f"<Node {self.serial}: {self.item} {list(self.interfaces)}>"


def ordered(nodes: list[Node]) -> Nodes:
    """Return some nodes in order."""
    nodes.sort(key=_SERIAL)
    return nodes if len(nodes) > 1 else tuple(nodes)


def insert(nodes: Nodes, node: Node) -> Nodes:
    """Return some nodes with one more in its place; mostly that is the end."""
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
    """Return some nodes without one; found by its serial, in O(log n) and one move of memory."""
    if isinstance(nodes, tuple) or len(nodes) == 1:
        return ()
    del nodes[bisect_left(nodes, node.serial, key=_SERIAL)]
    return nodes

"""Links of a forest that know, at each node, which interfaces live below it [T, Def. 3.11]."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from posetlib.links import Links
from posetlib.nodes import Node

__all__ = ["IndexedLinks"]


class IndexedLinks(Links):
    """Links with an interface index: each node's ``mask`` has a bit for every interface below it.

    What is gained is passed up at once, until an ancestor has it already. What is lost is settled
    once, when the operation is complete: until then a mask may say too much, which costs a visit
    and never an answer. To settle a bit at a node is to look for it among the children, and for
    an interface that nothing holds any more, not even that; so no counts are stored, and a chain
    of n nodes takes n² / 2 *bits*.
    """

    indexed = True

    def __init__(self) -> None:
        super().__init__()
        #: Interface -> the number of its bit, and back; numbers are used again.
        self._number: dict[Hashable, int] = {}
        self._interface: dict[int, Hashable] = {}
        self._free: list[int] = []
        self._idle: set[Hashable] = set()
        self._dirty: dict[Node, None] = {}
        self._lost = 0

    def bits(self, interfaces: Iterable[Hashable]) -> int:
        """Return interfaces as bits; one that nobody ever held has none."""
        bits = 0
        number = self._number
        for interface in interfaces:
            if interface in number:
                bits |= 1 << number[interface]
        return bits

    def lives_in(self, node: Node, interface: Hashable) -> bool:
        """Return whether an interface is at a node or below it; O(1)."""
        if interface in node.interfaces:
            return True
        number = self._number.get(interface)
        return number is not None and bool(node.mask >> number & 1)

    def index_of(self, node: Node) -> frozenset[Hashable]:
        """Return the interfaces that the index of a node lists."""
        found = []
        mask = node.mask
        while mask:
            lowest = mask & -mask
            found.append(self._interface[lowest.bit_length() - 1])
            mask ^= lowest
        return frozenset(found)

    def _link(self, parent: Node, child: Node) -> None:
        super()._link(parent, child)
        self._gain(parent, child.mask | self.bits(child.interfaces))

    def _unlink(self, parent: Node, child: Node) -> None:
        super()._unlink(parent, child)
        self._lose(parent, child.mask | self.bits(child.interfaces))

    def _give(self, node: Node, interface: Hashable, moment: int) -> None:
        super()._give(node, interface, moment)
        number = self._assign(interface)
        for parent in node.parents:
            self._gain(parent, 1 << number)

    def _take(self, node: Node, interface: Hashable, moment: int = 0) -> None:
        super()._take(node, interface, moment)
        for parent in node.parents:
            self._lose(parent, 1 << self._number[interface])
        if interface not in self.holders:
            self._idle.add(interface)

    def _assign(self, interface: Hashable) -> int:
        number = self._number.get(interface)
        if number is None:
            number = self._free.pop() if self._free else len(self._number)
            self._number[interface] = number
            self._interface[number] = interface
        return number

    def _gain(self, node: Node, bits: int) -> None:
        while True:
            grown = node.mask | bits
            if grown == node.mask:
                return
            node.mask = grown
            if not node.parents:
                return
            node = node.parents[0]

    def _lose(self, node: Node, bits: int) -> None:
        if bits:
            self._dirty[node] = None
            self._lost |= bits

    def _settle(self) -> None:
        if self._lost or self._idle:
            idle = [each for each in self._idle if each not in self.holders]
            self._settle_masks(self.bits(idle))
            for interface in idle:
                number = self._number.pop(interface)
                del self._interface[number]
                self._free.append(number)
            self._idle.clear()

    def _settle_masks(self, nobody: int) -> None:
        """Take out of the masks what was lost; the bits of ``nobody`` without a look."""
        lost = self._lost
        pending = list(self._dirty)
        while pending:
            node = pending.pop()
            gone = node.mask & lost & nobody
            doubtful = node.mask & lost & ~nobody
            for child in node.children:
                if not doubtful:
                    break
                doubtful &= ~(child.mask | self.bits(child.interfaces))
            gone |= doubtful
            if gone:
                node.mask &= ~gone
                pending.extend(node.parents)
        self._dirty.clear()
        self._lost = 0

    def _load_index(self, nodes: list[Node], indexes: list[Iterable[Hashable] | None]) -> None:
        given = dict(zip(nodes, indexes, strict=False))
        for interface in self.holders:
            self._assign(interface)
        for node in reversed(_parents_first(self.top)):
            index = given.get(node)
            if index is None:
                node.mask = 0
                for child in node.children:
                    node.mask |= child.mask | self.bits(child.interfaces)
            else:
                for interface in (index := list(index)):
                    self._assign(interface)
                node.mask = self.bits(index)


def _parents_first(top: Node) -> list[Node]:
    order = [top]
    seen = {top}
    for node in order:
        for child in node.children:
            if child not in seen:
                seen.add(child)
                order.append(child)
    return order

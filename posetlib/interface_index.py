"""Links of a forest that know, at each node, which interfaces live below it [T, Def. 3.11]."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from posetlib.links import Links
from posetlib.nodes import Node
from posetlib.search import ancestors, descendants

__all__ = ["IndexedLinks"]


class IndexedLinks(Links):
    """Links with an interface index.

    An interface that holds several nodes has a number, and is a bit in the ``mask`` of each node
    above one of them. What is gained is passed up at once, until an ancestor has it already. What
    is lost is settled once, when the operation is complete: until then a mask may say too much,
    which costs a visit and never an answer. To settle a bit at a node is to look for it among the
    children, and for an interface that holds a single node or none, not even that.

    An interface that holds one node is *lone* and has no number: it lives above that node and
    nowhere else, which the links tell. So nodes just count the lone interfaces below them, and as
    many interfaces as there are filters take no more room than a few.
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
        #: What a snapshot said of a node, where that is not so; for ``check`` to find.
        self._claims: dict[Node, frozenset[Hashable]] = {}

    # -- asking ------------------------------------------------------------------------------------

    def bits(self, interfaces: Iterable[Hashable]) -> int:
        """Return interfaces as bits; a lone one has none."""
        bits = 0
        number = self._number
        for interface in interfaces:
            if interface in number:
                bits |= 1 << number[interface]
        return bits

    def leads_to(self, interface: Hashable) -> Callable[[Node], bool]:
        """Return what tells whether an interface is at a node or below it; O(depth), then O(1)."""
        number = self._number.get(interface)
        if number is not None:
            bit = 1 << number
            return lambda node: interface in node.interfaces or bool(node.mask & bit)
        path: set[Node] = set()
        for node in self.holders.get(interface, ()):
            path.add(node)
            path.update(ancestors(node, self.top))
        return path.__contains__

    def adds_nothing(self, node: Node, bits: int) -> bool:
        """Return whether all interfaces below a node are among those of some bits.

        The bits are of interfaces that were found elsewhere, so no lone one below is among them.
        """
        return not node.lone and not node.mask & ~bits

    def index_of(self, node: Node) -> frozenset[Hashable]:
        """Return the interfaces below a node; O(1) for each, O(nodes below) if some are lone."""
        if node in self._claims:
            return self._claims[node]
        found = []
        mask = node.mask
        while mask:
            lowest = mask & -mask
            found.append(self._interface[lowest.bit_length() - 1])
            mask ^= lowest
        if node.lone:
            for below in descendants(node):
                found += [each for each in below.interfaces if each not in self._number]
        return frozenset(found)

    def claims(self) -> dict[Node, frozenset[Hashable]]:
        """Return what was said of nodes when the table was restored, and is not so."""
        return self._claims

    def is_indexed(self, node: Node) -> bool:
        """Return whether the index of a node is what lives at its children and below them."""
        bits = lone = 0
        for child in node.children:
            some, more = self._content(child)
            bits |= some
            lone += more
        return (node.mask, node.lone) == (bits, lone) and node not in self._claims

    # -- the steps ---------------------------------------------------------------------------------

    def _link(self, parent: Node, child: Node) -> None:
        super()._link(parent, child)
        # A node that just came has nothing to pass up.
        if child.interfaces or child.children:
            bits, lone = self._content(child)
            self._gain(child, bits)
            self._count(child, lone)

    def _unlink(self, parent: Node, child: Node) -> None:
        bits, lone = self._content(child)
        self._lose(child, bits)
        self._count(child, -lone)
        super()._unlink(parent, child)

    def _content(self, node: Node) -> tuple[int, int]:
        """Return what lives at a node and below it: bits, and the number of lone interfaces."""
        bits, lone = node.mask, node.lone
        for interface in node.interfaces:
            number = self._number.get(interface)
            if number is None:
                lone += 1
            else:
                bits |= 1 << number
        return bits, lone

    def _give(self, node: Node, interface: Hashable, moment: int) -> None:
        super()._give(node, interface, moment)
        if interface not in self._number:
            holders = self.holders[interface]
            if len(holders) == 1:
                self._count(node, 1)
                return
            bit = 1 << self._assign(interface)
            for other in holders:
                if other is not node:
                    self._count(other, -1)
                    self._gain(other, bit)
        self._gain(node, 1 << self._number[interface])

    def _take(self, node: Node, interface: Hashable) -> None:
        super()._take(node, interface)
        number = self._number.get(interface)
        if number is None:
            self._count(node, -1)
            return
        self._lose(node, 1 << number)
        if len(self.holders.get(interface, ())) <= 1:
            self._idle.add(interface)

    def _assign(self, interface: Hashable) -> int:
        number = self._number.get(interface)
        if number is None:
            number = self._free.pop() if self._free else len(self._number)
            self._number[interface] = number
            self._interface[number] = interface
        return number

    def _count(self, node: Node, lone: int) -> None:
        """Add to the number of lone interfaces below the ancestors of a node."""
        if lone:
            while node.parents:
                node = node.parents[0]
                node.lone += lone

    def _gain(self, node: Node, bits: int) -> None:
        """Add bits to the masks of the ancestors of a node, up to one that has them."""
        while node.parents:
            node = node.parents[0]
            grown = node.mask | bits
            if grown == node.mask:
                return
            node.mask = grown

    def _lose(self, node: Node, bits: int) -> None:
        if bits and node.parents:
            self._dirty[node.parents[0]] = None
            self._lost |= bits

    def _settle(self) -> None:
        if not self._lost and not self._idle:
            return
        last: dict[Hashable, Iterable[Node]] = {}
        for interface in self._idle:
            holders = self.holders.get(interface, ())
            if len(holders) <= 1:
                last[interface] = holders
                for node in holders:
                    self._lose(node, 1 << self._number[interface])
        self._settle_masks(self.bits(last))
        for interface, remaining in last.items():
            number = self._number.pop(interface)
            del self._interface[number]
            self._free.append(number)
            for node in remaining:
                self._count(node, 1)
        self._idle.clear()

    def _settle_masks(self, nobody: int) -> None:
        """Take out of the masks what was lost; the bits of ``nobody`` without a look."""
        lost = self._lost
        pending = list(self._dirty)
        while pending:
            node = pending.pop()
            gone = node.mask & lost & nobody
            doubtful = node.mask & lost & ~nobody
            # What was lost here has mostly gone to a child that came last.
            for child in reversed(node.children):
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
        for interface, holders in self.holders.items():
            if len(holders) > 1:
                self._assign(interface)
        for node in reversed(_parents_first(self.top)):
            node.mask = node.lone = 0
            for child in node.children:
                bits, lone = self._content(child)
                node.mask |= bits
                node.lone += lone
        for node, index in zip(nodes, indexes, strict=False):
            if index is not None and frozenset(index) != self.index_of(node):
                self._claims[node] = frozenset(index)


def _parents_first(top: Node) -> list[Node]:
    order = [top]
    seen = {top}
    for node in order:
        for child in node.children:
            if child not in seen:
                seen.add(child)
                order.append(child)
    return order

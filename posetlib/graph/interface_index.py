"""Which interfaces hold something below each node of a forest [T, Def. 3.11]."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from posetlib.graph.links import Links, LinksObserver
from posetlib.graph.nodes import Node
from posetlib.graph.paths import ancestors, descendants, parents_first

__all__ = ["InterfaceIndex"]


class InterfaceIndex(LinksObserver):
    """Keeps ``mask_below`` and ``lone_below`` of every node of a forest.

    An interface that holds several nodes has a number, and is a bit in the mask of each node above
    one of them. A bit that is gained is passed up at once, until an ancestor has it already. A bit
    that is lost is cleared once, when the operation is complete: until then a mask may have too
    many bits, which costs a visit and never an answer. To clear a bit at a node, its children are
    searched for another holder; if the interface holds no other node, not even that.

    An interface that holds one node is *lone* and has no number: it lives above that node and
    nowhere else, which the links tell. So a node just counts the lone interfaces below it, and a
    table with as many interfaces as filters takes no more memory than one with few.
    """

    __slots__ = ("_claims", "_dirty", "_free", "_interface", "_links", "_lost", "_number", "_thin")

    def __init__(self, links: Links) -> None:
        self._links = links
        #: Interface -> the number of its bit, and back; the numbers that are free are used again.
        self._number: dict[Hashable, int] = {}
        self._interface: dict[int, Hashable] = {}
        self._free: list[int] = []
        #: Interfaces with a number that now hold one node or none.
        self._thin: set[Hashable] = set()
        #: The bits that were lost somewhere in this operation, and the nodes just above.
        self._lost = 0
        self._dirty: dict[Node, None] = {}
        #: What a snapshot said of a node, where that is wrong; for ``check`` to find.
        self._claims: dict[Node, frozenset[Hashable]] = {}
        links.attach(self)

    # -- asking ------------------------------------------------------------------------------------

    def bits(self, interfaces: Iterable[Hashable]) -> int:
        """Return interfaces as the bits that stand for them in masks; a lone one has none."""
        bits = 0
        number = self._number
        for interface in interfaces:
            if interface in number:
                bits |= 1 << number[interface]
        return bits

    def leads_to(self, interface: Hashable) -> Callable[[Node], bool]:
        """Return a test of whether an interface is at a node or below it; O(depth), then O(1)."""
        number = self._number.get(interface)
        if number is not None:
            bit = 1 << number
            return lambda node: interface in node.interfaces or bool(node.mask_below & bit)
        path: set[Node] = set()
        for node in self._links.holders.get(interface, ()):
            path.add(node)
            path.update(ancestors(node, self._links.top))
        return path.__contains__

    def adds_nothing(self, node: Node, bits: int) -> bool:
        """Return whether all interfaces below a node are among those of some bits.

        The bits are of interfaces that were found elsewhere, so no lone one below is among them.
        """
        return not node.lone_below and not node.mask_below & ~bits

    def below(self, node: Node) -> frozenset[Hashable]:
        """Return the interfaces below a node; O(1) for each, O(nodes below) if some are lone."""
        if node in self._claims:
            return self._claims[node]
        found = []
        mask = node.mask_below
        while mask:
            lowest = mask & -mask
            found.append(self._interface[lowest.bit_length() - 1])
            mask ^= lowest
        if node.lone_below:
            for each in descendants(node):
                found += [one for one in each.interfaces if one not in self._number]
        return frozenset(found)

    def is_right(self, node: Node) -> bool:
        """Return whether the index of a node is what lives at its children and below them."""
        bits = lone = 0
        for child in node.children:
            some, more = self._content(child)
            bits |= some
            lone += more
        return (node.mask_below, node.lone_below) == (bits, lone) and node not in self._claims

    # -- what a snapshot says ----------------------------------------------------------------------

    def claims(self) -> dict[Node, frozenset[Hashable]]:
        """Return what was said of nodes when the table was restored, where it is wrong."""
        return self._claims

    def claim(self, nodes: list[Node], indexes: Iterable[Iterable[Hashable] | None]) -> None:
        """Note what a snapshot says of the index of some nodes, where it is wrong."""
        for node, index in zip(nodes, indexes, strict=False):
            if index is not None and frozenset(index) != self.below(node):
                self._claims[node] = frozenset(index)

    # -- following the links -----------------------------------------------------------------------

    def linked(self, parent: Node, child: Node) -> None:
        """Pass the interfaces of a subtree up; a node that just came has none."""
        if child.interfaces or child.children:
            bits, lone = self._content(child)
            self._gain(child, bits)
            self._count(child, lone)

    def unlinked(self, parent: Node, child: Node) -> None:
        """Note that the interfaces of a subtree are lost above it."""
        bits, lone = self._content(child)
        if bits:
            self._dirty[parent] = None
            self._lost |= bits
        if lone:
            parent.lone_below -= lone
            self._count(parent, -lone)

    def held(self, node: Node, interface: Hashable) -> None:
        """Pass an interface up; one that was lone until now gets a number."""
        if interface not in self._number:
            holders = self._links.holders[interface]
            if len(holders) == 1:
                self._count(node, 1)
                return
            bit = 1 << self._assign(interface)
            for other in holders:
                if other is not node:
                    self._count(other, -1)
                    self._gain(other, bit)
        self._gain(node, 1 << self._number[interface])

    def released(self, node: Node, interface: Hashable) -> None:
        """Note that an interface is lost above a node."""
        number = self._number.get(interface)
        if number is None:
            self._count(node, -1)
            return
        self._lose(node, 1 << number)
        if len(self._links.holders.get(interface, ())) <= 1:
            self._thin.add(interface)

    def settle(self) -> None:
        """Clear the bits that were lost, and take numbers from interfaces that are lone now."""
        if not self._lost and not self._thin:
            return
        last: dict[Hashable, Iterable[Node]] = {}
        for interface in self._thin:
            holders = self._links.holders.get(interface, ())
            if len(holders) <= 1:
                last[interface] = holders
                for node in holders:
                    self._lose(node, 1 << self._number[interface])
        self._clear_lost(self.bits(last))
        for interface, remaining in last.items():
            number = self._number.pop(interface)
            del self._interface[number]
            self._free.append(number)
            for node in remaining:
                self._count(node, 1)
        self._thin.clear()

    def loaded(self, nodes: list[Node]) -> None:
        """Compute the index of a whole table."""
        for interface, holders in self._links.holders.items():
            if len(holders) > 1:
                self._assign(interface)
        for node in reversed(parents_first(self._links.top)):
            node.mask_below = node.lone_below = 0
            for child in node.children:
                bits, lone = self._content(child)
                node.mask_below |= bits
                node.lone_below += lone

    # -- masks and counts --------------------------------------------------------------------------

    def _content(self, node: Node) -> tuple[int, int]:
        """Return what lives at a node and below it: bits, and the number of lone interfaces."""
        bits, lone = node.mask_below, node.lone_below
        for interface in node.interfaces:
            number = self._number.get(interface)
            if number is None:
                lone += 1
            else:
                bits |= 1 << number
        return bits, lone

    def _assign(self, interface: Hashable) -> int:
        """Return the number of an interface, a new one if it has none."""
        number = self._number.get(interface)
        if number is None:
            number = self._free.pop() if self._free else len(self._number)
            self._number[interface] = number
            self._interface[number] = interface
        return number

    def _count(self, node: Node, lone: int) -> None:
        """Add to the number of lone interfaces below each ancestor of a node."""
        if lone:
            while node.parents:
                node = node.parents[0]
                node.lone_below += lone

    def _gain(self, node: Node, bits: int) -> None:
        """Add bits to the masks of the ancestors of a node, up to one that has them."""
        while node.parents:
            node = node.parents[0]
            grown = node.mask_below | bits
            if grown == node.mask_below:
                return
            node.mask_below = grown

    def _lose(self, node: Node, bits: int) -> None:
        """Note that bits are lost at the parent of a node."""
        if bits and node.parents:
            self._dirty[node.parents[0]] = None
            self._lost |= bits

    def _clear_lost(self, unheld: int) -> None:
        """Clear the bits that were lost; those of ``unheld`` interfaces without a search."""
        lost = self._lost
        pending = list(self._dirty)
        while pending:
            node = pending.pop()
            gone = node.mask_below & lost & unheld
            doubtful = node.mask_below & lost & ~unheld
            # A bit that was lost here has mostly gone to the child that came last.
            for child in reversed(node.children):
                if not doubtful:
                    break
                doubtful &= ~(child.mask_below | self.bits(child.interfaces))
            gone |= doubtful
            if gone:
                node.mask_below &= ~gone
                pending.extend(node.parents)
        self._dirty.clear()
        self._lost = 0

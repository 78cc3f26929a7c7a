"""The mechanism that all forests share: adding from the top down, and placing orphans again.

The algorithms are those of [T 3.3.1, Alg. 3].
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Final

from posetlib.graph.nodes import Node
from posetlib.search.probe import Probe
from posetlib.tables.item_type import ItemT
from posetlib.tables.table import Table

__all__ = ["Forest"]


@dataclass(slots=True)
class _Group:
    """Subtrees, taken off their parent, that are to be placed again from ``start`` down.

    They were siblings, so none of them covers another one, and no two of them are compared.
    ``may_fall`` are the children of ``start`` that one of them may cover; None means all children.
    ``inherited`` are interfaces of ancestors that are new to them.
    """

    start: Node
    members: list[Node]
    may_fall: list[Node] | None = None
    inherited: frozenset[Hashable] = frozenset()
    left: Iterator[Node] = field(init=False)
    siblings: frozenset[Node] = field(init=False)

    def __post_init__(self) -> None:
        self.left = iter(self.members)
        self.siblings = frozenset(self.members)


# From this depth on, an add asks once whether the rest of its way down is known.
_DEEP: Final = 64


def _is_met(interface: Hashable, node: Node) -> bool:
    """Return whether an interface holds a node of a forest, or one above it; O(depth)."""
    while node.parents:
        if interface in node.interfaces:
            return True
        node = node.parents[0]
    return False


class Forest(Table[ItemT]):
    """At most one parent per node, which covers it, and siblings that do not cover one another."""

    # -- adding ------------------------------------------------------------------------------------

    def _add(self, item: ItemT, interface: Hashable) -> None:
        links = self._links
        node = links.find(item)
        probe = self._probe(item)
        if node is None:
            node = self._twin(probe)
            if node is not None:
                links.alias(node, item)
        # What an interface holds already may make the new pair redundant, or old pairs.
        holds_some = interface in links.holders
        if node is not None:
            if interface in node.interfaces:
                return
            if holds_some and self._is_redundant(probe, node, interface):
                return
        else:
            if holds_some and self._is_redundant(probe, None, interface):
                return
            found = self._descend(probe, interface, holds_some)
            if found is None:
                return
            parent, fall = found
            node = links.enter(item, probe.traits)
            for child in fall:
                links.unlink(parent, child)
                links.link(node, child)
            links.link(parent, node)
        links.hold(node, interface)
        if holds_some:
            redundant = self._made_redundant(probe, node, interface)
            if redundant:
                self._withdraw(redundant, interface)

    def _descend(
        self, probe: Probe, interface: Hashable, holds_some: bool
    ) -> tuple[Node, list[Node]] | None:
        """Return the parent for a new item and its children; None if its branch has the interface.

        ``holds_some``: whether the interface holds any node.
        """
        search = self._search
        parent = self._links.top
        prefers = self._preference(interface) if holds_some else None
        may_be_met = holds_some and not self.local
        depth = 0
        while True:
            child, fall = search.next_down(probe, parent, prefers=prefers)
            if child is None:
                return parent, fall
            if may_be_met and interface in child.interfaces:
                return None
            parent = child
            depth += 1
            if depth == _DEEP:
                parent = search.only_branch(probe) or parent
                if may_be_met and _is_met(interface, parent):
                    return None

    # -- what the forests differ in ----------------------------------------------------------------

    # Each is asked only about an interface that held a node before the add.

    def _preference(self, interface: Hashable) -> Callable[[Node], bool] | None:
        """Return a test for the children that an add of an interface should try first, if any."""
        return None

    def _is_redundant(self, probe: Probe, node: Node | None, interface: Hashable) -> bool:
        """Return whether an interface need not hold an item, because of what it holds already.

        ``node`` is the item's own, None if it has none yet: then its branch is looked at on the way
        down.
        """
        if self.local or node is None:
            return False
        while node.parents:
            node = node.parents[0]
            if interface in node.interfaces:
                return True
        return False

    def _made_redundant(self, probe: Probe, node: Node, interface: Hashable) -> list[Node]:
        """Return the nodes that an interface need not hold, now that it holds this one."""
        if self.local or not node.children:
            return []
        return self._search.held_in_tree(probe, interface, node)

    # -- removing ----------------------------------------------------------------------------------

    def _dissolve(self, empty: list[Node]) -> None:
        """Take empty nodes out, and place their children again, subtrees and all.

        On the way down a subtree may meet interfaces of its own again, and lose them there; nodes
        that this leaves empty go in turn, until none is left.
        """
        while empty:
            emptied: list[Node] = []
            landed: dict[Node, list[Node]] = {}
            for start, members in self._take_out(empty):
                # The removed node was a sibling of the other children of ``start``, so its own
                # children cover none of them. They may cover only nodes that landed there since.
                newcomers = [each for each in landed.get(start, ()) if each.parents[0] is start]
                self._place([_Group(start, members, newcomers)], landed, emptied)
            empty = sorted(emptied, key=lambda node: node.serial)

    def _take_out(self, empty: list[Node]) -> list[tuple[Node, list[Node]]]:
        """Unlink empty nodes; return the children of each, with the node to place them from."""
        links = self._links
        going = set(empty)
        anchor: dict[Node, Node] = {}
        for node in empty:
            path = [node]
            while (above := path[-1].parents[0]) in going and above not in anchor:
                path.append(above)
            start = anchor.get(above, above)
            for each in path:
                anchor[each] = start
        orphans = []
        for node in empty:
            links.unlink(node.parents[0], node)
        for node in empty:
            members = list(node.children)
            for child in members:
                links.unlink(node, child)
            links.leave(node)
            if members:
                orphans.append((anchor[node], members))
        return orphans

    def _place(
        self, stack: list[_Group], landed: dict[Node, list[Node]], emptied: list[Node]
    ) -> None:
        """Place groups of subtrees, the last one first.

        ``landed`` notes each under its new parent; ``emptied`` collects the nodes that are left
        without an interface.
        """
        while stack:
            group = stack[-1]
            node = next(group.left, None)
            if node is None:
                stack.pop()
            else:
                below = self._place_one(node, group, emptied)
                landed.setdefault(node.parents[0], []).append(node)
                if below is not None:
                    stack.append(below)

    def _place_one(self, node: Node, group: _Group, emptied: list[Node]) -> _Group | None:
        """Place one subtree; return the siblings that it covers, to be placed below it."""
        links, search = self._links, self._search
        probe = Probe(self._relation, self.counters, node.item, node.traits)
        parent, fall = group.start, []
        met = set(group.inherited)
        eliminates = not self.local
        child = search.first_above(probe, parent, skip=group.siblings)
        if child is None:
            fall = search.all_below(probe, parent, among=group.may_fall, skip=group.siblings)
            if group.may_fall is not None:
                group.may_fall = [each for each in group.may_fall if each not in fall]
        while child is not None:
            parent = child
            if eliminates:
                met.update(child.interfaces)
            child, fall = search.next_down(probe, parent)
        for each in fall:
            links.unlink(parent, each)
        links.link(parent, node)
        if met and eliminates:
            emptied.extend(self._strip(node, met))
        return _Group(node, fall, None, frozenset(node.interfaces)) if fall else None

    def _strip(self, node: Node, interfaces: set[Hashable]) -> list[Node]:
        """Release a subtree from interfaces; return the nodes that are left without one."""
        links = self._links
        index = self._interface_index
        bits = 0 if index is None else index.bits(interfaces)
        empty = []
        stack = [node]
        while stack:
            each = stack.pop()
            lost = [interface for interface in each.interfaces if interface in interfaces]
            for interface in lost:
                links.release(each, interface)
            if lost and not each.interfaces:
                empty.append(each)
            if index is None or each.mask_below & bits:
                stack.extend(each.children)
        return empty

"""The poset-derived forest, and the mechanism that all forests share [T 3.3.1, Alg. 3]."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from posetlib.change import Item
from posetlib.nodes import Node
from posetlib.relation import Partition, Probe
from posetlib.structures.base import Table

__all__ = ["Forest", "PosetForest"]


@dataclass(slots=True)
class _Group:
    """Subtrees, taken off their parent, that are to be placed again from ``start`` down.

    They were siblings, so none of them covers another one, and none is held against another.
    ``may_fall`` are those children of ``start`` that one of them may cover, None for all others.
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


class Forest(Table):
    """At most one parent per node, which covers it, and siblings that do not cover one another."""

    # -- adding ------------------------------------------------------------------------------------

    def _add(self, item: Item, interface: Hashable) -> None:
        links = self._links
        node = links.find(item)
        probe = self._probe(item)
        if node is None:
            node = self._twin(probe)
            if node is not None:
                links.alias(node, item)
        if node is None:
            found = self._descend(probe, interface)
            if found is None:
                return
            parent, fall = found
            node = links.enter(item, probe.traits)
            for child in fall:
                links.unlink(parent, child)
                links.link(node, child)
            links.link(parent, node)
        elif interface in node.interfaces or self._is_redundant(probe, node, interface):
            return
        links.give(node, interface)
        redundant = self._made_redundant(probe, node, interface)
        if redundant:
            self._withdraw(redundant, interface)

    def _descend(self, probe: Probe, interface: Hashable) -> tuple[Node, list[Node]] | None:
        """Return the parent for a new item and its children; None if the pair is redundant."""
        parent = self._links.top
        prefers = self._preference(interface)
        may_be_met = not self.local and interface in self._links.holders
        while True:
            child, fall = self._search.next_down(probe, parent, prefers=prefers)
            if child is None:
                return parent, fall
            if may_be_met and interface in child.interfaces:
                return None
            parent = child

    # -- what the forests differ in ----------------------------------------------------------------

    def _preference(self, interface: Hashable) -> Callable[[Node], bool] | None:
        """Return which children an add of an interface should try first, if any."""
        return None

    def _is_redundant(self, probe: Probe, node: Node, interface: Hashable) -> bool:
        """Return whether an interface need not hold a node, because of what it holds already."""
        return not self.local and self._held_above(node, interface)

    def _made_redundant(self, probe: Probe, node: Node, interface: Hashable) -> list[Node]:
        """Return the nodes that an interface need not hold, now that it holds this one."""
        if self.local or not node.children or len(self._links.holders[interface]) == 1:
            return []
        return self._search.held_in_tree(probe, interface, node)

    def _held_above(self, node: Node, interface: Hashable) -> bool:
        if interface not in self._links.holders:
            return False
        while node.parents:
            node = node.parents[0]
            if interface in node.interfaces:
                return True
        return False

    # -- removing ----------------------------------------------------------------------------------

    def _dissolve(self, empty: list[Node]) -> None:
        """Take empty nodes out, and place their children again, subtrees and all.

        On the way down a subtree may meet interfaces of its own again, and lose them there; nodes
        that this leaves empty go in turn, until none is left.
        """
        while empty:
            fallen: list[Node] = []
            landed: dict[Node, list[Node]] = {}
            for start, members in self._take_out(empty):
                # The removed node was a sibling of the others: what it covered covers none of
                # them. Only what came to them from elsewhere may be covered.
                newcomers = [each for each in landed.get(start, ()) if each.parents[0] is start]
                self._place([_Group(start, members, newcomers)], landed, fallen)
            empty = sorted((node for node in fallen), key=lambda node: node.serial)

    def _take_out(self, empty: list[Node]) -> list[tuple[Node, list[Node]]]:
        """Unlink empty nodes; return the children of each, with the node they come to first."""
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
        self, stack: list[_Group], landed: dict[Node, list[Node]], fallen: list[Node]
    ) -> None:
        """Place groups of subtrees, the last one first.

        Each is noted under the parent on which it landed. Nodes left without interface are fallen.
        """
        while stack:
            group = stack[-1]
            node = next(group.left, None)
            if node is None:
                stack.pop()
            else:
                below = self._place_one(node, group, fallen)
                landed.setdefault(node.parents[0], []).append(node)
                if below is not None:
                    stack.append(below)

    def _place_one(self, node: Node, group: _Group, fallen: list[Node]) -> _Group | None:
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
            fallen.extend(self._strip(node, met))
        return _Group(node, fall, None, frozenset(node.interfaces)) if fall else None

    def _strip(self, node: Node, interfaces: set[Hashable]) -> list[Node]:
        """Take interfaces from a subtree; return the nodes that are left without one."""
        links = self._links
        bits = links.bits(interfaces) if links.indexed else 0
        empty = []
        stack = [node]
        while stack:
            each = stack.pop()
            lost = [interface for interface in each.interfaces if interface in interfaces]
            for interface in lost:
                links.take(each, interface)
            if lost and not each.interfaces:
                empty.append(each)
            if not links.indexed or each.mask & bits:
                stack.extend(each.children)
        return empty


class PosetForest(Forest):
    """The plain forest: filters of one interface may cover one another along different branches.

    Along one branch an interface appears once [T, Def. 3.10]; with ``local=True`` there is no
    elimination at all, so that every pair that was added is there to be removed. An add costs about
    one covering test for each sibling on the way down to its place, and as many again where it
    stays.

    >>> t = PosetForest(covers=frozenset.issuperset)
    >>> for letters in ("ab", "bc", "abcd", "b"):
    ...     _ = t.add(frozenset(letters), "I1" if letters == "b" else "I2")
    >>> ["".join(sorted(root)) for root in t.roots()]
    ['abcd']
    """

    structure = "pf"

    def __init__(
        self,
        *,
        local: bool = False,
        covers: Callable[[Any, Any], bool] | None = None,
        matches: Callable[[Any, Any], bool] | None = None,
        canonical: Callable[[Any], bool] | bool | None = None,
        partition: Partition | None = None,
        index: bool = True,
    ) -> None:
        self.local = local
        super().__init__(
            covers=covers, matches=matches, canonical=canonical, partition=partition, index=index
        )

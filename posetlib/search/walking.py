"""Where an item belongs in a table, found by walking along the links.

Tables ask these questions and then link; so a faster search, with an index under it, takes the
place of this one without touching the links (see ``search.indexed``). All walks are loops: no depth
is too deep for Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import NamedTuple

from posetlib.graph.change import Item
from posetlib.graph.interface_index import InterfaceIndex
from posetlib.graph.links import Links
from posetlib.graph.nodes import Node
from posetlib.graph.paths import (
    add_closure,
    ancestors,
    descendants,
    hangs_below,
    in_order,
    leads_up_to,
    lowest_of,
)
from posetlib.search.probe import Probe

__all__ = ["Place", "WalkingSearch", "equivalent_among"]


class Place(NamedTuple):
    """The place of an item in the order: its node, or the nodes next to it above and below.

    When there is an ``equivalent`` node, it is the place, and the others are empty.
    """

    equivalent: Node | None
    parents: list[Node]
    children: list[Node]
    #: All nodes that cover the item, the equivalent one included.
    above: Sequence[Node]


class WalkingSearch:
    """Finds places by walking from the roots, into nodes that cover the item and no others."""

    __slots__ = ("_interface_index", "_links")

    def __init__(self, links: Links, interface_index: InterfaceIndex | None) -> None:
        self._links = links
        self._interface_index = interface_index

    # -- any structure -----------------------------------------------------------------------------

    def below(self, node: Node, part: Hashable) -> Sequence[Node]:
        """Return the children of a node that may be comparable with items of a part."""
        links = self._links
        if part is None:
            return node.children
        if node is links.top:
            of_no_part = links.roots_by_part.get(None, ())
            own_part = links.roots_by_part.get(part, ())
            return [*of_no_part, *own_part] if of_no_part and own_part else of_no_part or own_part
        return [child for child in node.children if child.part is None or child.part == part]

    def satisfying(self, holds: Callable[[Node], bool], part: Hashable) -> list[Node]:
        """Return the nodes for which a condition holds that never holds without all parents.

        To cover an item, and to match a notification, are such conditions. A node is tested only
        when the condition holds for every parent; parents come before children.
        """
        found: list[Node] = []
        waiting: dict[Node, int] = {}
        stack = [self._links.top]
        while stack:
            for child in self.below(stack.pop(), part):
                parents = len(child.parents)
                if parents > 1:
                    waiting[child] = left = waiting.get(child, parents) - 1
                    if left:
                        continue
                if holds(child):
                    found.append(child)
                    stack.append(child)
        return found

    def above(self, probe: Probe) -> list[Node]:
        """Return every node that covers the item."""
        return self.satisfying(probe.above, probe.part)

    def covered(self, probe: Probe) -> list[Node]:
        """Return every node that the item covers."""
        found: dict[Node, None] = {}
        asked: set[Node] = set()
        stack = [self._links.top]
        while stack:
            for child in self.below(stack.pop(), probe.part):
                if child in asked or child in found:
                    continue
                if probe.below(child):
                    add_closure(found, child)
                else:
                    asked.add(child)
                    stack.append(child)
        return list(found)

    def overlapping(self, probe: Probe) -> list[Node] | None:
        """Return every node that overlaps the item, None: the order alone does not tell."""
        return None

    def covering_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return the items that cover the item, but that of its own node, in order of insertion."""
        return in_order(node for node in self.above(probe) if node is not own)

    def covered_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return the items that it covers, but that of its own node, in order of insertion."""
        return in_order(node for node in self.covered(probe) if node is not own)

    def equivalent(self, probe: Probe) -> Node | None:
        """Return the node that the item covers and that covers the item."""
        return equivalent_among(probe, lowest_of(self.above(probe)))

    # -- the full order ----------------------------------------------------------------------------

    def place(self, probe: Probe, *, may_have_twin: bool = True) -> Place:
        """Return the place of an item that has no node by its own name.

        ``may_have_twin``: it may have an equivalent one; otherwise none is looked for.
        """
        above = self.above(probe)
        parents = lowest_of(above)
        if may_have_twin and len(parents) == 1:
            same = equivalent_among(probe, parents)
            if same is not None:
                return Place(same, [], [], above)
        return Place(None, parents, self._highest_below(probe, parents), above)

    def _highest_below(self, probe: Probe, parents: list[Node]) -> list[Node]:
        """Return the nodes that the item covers and that no other such node covers."""
        # Whatever the item covers lies below each of its parents: one of them is enough to start.
        start = min(parents, key=lambda node: len(node.children)) if parents else self._links.top
        asked: set[Node] = set()
        hits: dict[Node, None] = {}
        stack = [start]
        while stack:
            for child in self.below(stack.pop(), probe.part):
                if child in asked:
                    continue
                asked.add(child)
                if probe.below(child):
                    hits[child] = None
                else:
                    stack.append(child)
        if len(hits) < 2:
            return list(hits)
        barren = asked.difference(hits)
        barren.update((self._links.top, start))
        return [node for node in hits if not leads_up_to(node, hits, barren)]

    def strictly_above(self, node: Node) -> Iterable[Node]:
        """Return every node above a node of a full order; no test."""
        return ancestors(node, self._links.top)

    def strictly_below(self, node: Node) -> Iterable[Node]:
        """Return every node below a node of a full order; no test."""
        return descendants(node)

    def to_be_joined(self, parents: list[Node], children: list[Node]) -> list[tuple[Node, Node]]:
        """Return the pairs of a parent and a child that no path joins, of a node that is cut out.

        All are of a full order, and every child is below every parent; no test.
        """
        return [
            (parent, child)
            for child in children
            for reached in (self._reached_above(child, parents),)
            for parent in parents
            if parent not in reached
        ]

    def _reached_above(self, node: Node, targets: list[Node]) -> set[Node]:
        """Return those of some targets that are above a node, by the links alone."""
        if targets[0] is self._links.top:
            return {self._links.top} if node.parents else set()
        left = set(targets)
        seen: set[Node] = set()
        stack = [node]
        while stack and left:
            for parent in stack.pop().parents:
                if parent not in seen:
                    seen.add(parent)
                    left.discard(parent)
                    stack.append(parent)
        return set(targets) - left

    # -- siblings, as in forests -------------------------------------------------------------------

    def first_above(
        self,
        probe: Probe,
        parent: Node,
        *,
        prefers: Callable[[Node], bool] | None = None,
        skip: Collection[Node] = (),
    ) -> Node | None:
        """Return the first child of a node that covers the item, a preferred one if there is one.

        ``skip``: children that are known not to cover it.
        """
        siblings = self.below(parent, probe.part)
        if skip:
            siblings = [node for node in siblings if node not in skip]
        if prefers is not None:
            siblings = sorted(siblings, key=prefers, reverse=True)
        return next(filter(probe.above, siblings), None)

    def all_above(self, probe: Probe, parent: Node) -> list[Node]:
        """Return the children of a node that cover the item, in order."""
        return [node for node in self.below(parent, probe.part) if probe.above(node)]

    def meeting(self, probe: Probe, parent: Node) -> Iterable[Node]:
        """Return the children of a node that may overlap the item, in order; no test."""
        return self.below(parent, probe.part)

    def all_below(
        self,
        probe: Probe,
        parent: Node,
        *,
        among: Iterable[Node] | None = None,
        skip: Collection[Node] = (),
    ) -> list[Node]:
        """Return the children of a node that the item covers, in order.

        ``among``: the children that may be covered; ``skip``: children known not to be covered.
        """
        siblings = self.below(parent, probe.part) if among is None else among
        return [node for node in siblings if node not in skip and probe.below(node)]

    def next_down(
        self, probe: Probe, parent: Node, *, prefers: Callable[[Node], bool] | None = None
    ) -> tuple[Node | None, list[Node]]:
        """Return the first child of a node that covers the item, or else all that the item covers.

        Siblings do not cover one another, so there is nothing in the other list.
        """
        child = self.first_above(probe, parent, prefers=prefers)
        return child, [] if child is not None else self.all_below(probe, parent)

    # -- what an interface holds -------------------------------------------------------------------

    def is_held_above(self, probe: Probe, interface: Hashable) -> bool:
        """Return whether an interface holds a node that covers the item.

        Where there is an interface index, only nodes are asked about that lead to the interface.
        """
        links = self._links
        if interface not in links.holders:
            return False
        index = self._interface_index
        leads_there = None if index is None else index.leads_to(interface)
        stack = [links.top]
        while stack:
            for node in self.below(stack.pop(), probe.part):
                if (leads_there is None or leads_there(node)) and probe.above(node):
                    if interface in node.interfaces:
                        return True
                    stack.append(node)
        return False

    def held_meeting(self, probe: Probe, interface: Hashable) -> Iterable[Node]:
        """Return the nodes of an interface that may overlap the item; no test."""
        return self._links.holders.get(interface, ())

    def held_below(self, probe: Probe, interface: Hashable, own: Node | None = None) -> list[Node]:
        """Return the nodes that an interface holds and the item covers, in order.

        ``own``: the item's node, left out; what hangs below it is covered without a test.
        """
        return [
            node
            for node in self._links.holding(interface)
            if node is not own and ((own and hangs_below(node, own)) or probe.below(node))
        ]

    def held_in_tree(self, probe: Probe, interface: Hashable, own: Node) -> list[Node]:
        """Return the nodes that an interface holds and that hang below the item's own, in order."""
        return [
            node
            for node in self._links.holding(interface)
            if node is not own and hangs_below(node, own)
        ]


def equivalent_among(probe: Probe, lowest: list[Node]) -> Node | None:
    """Return the node that is equivalent to an item, of the lowest nodes that cover it.

    Whatever covers the item covers its equivalent. So if that is in the table, it is lowest; in a
    forest it may be one of several.
    """
    return next((node for node in lowest if probe.below(node)), None)

"""Where an item belongs in a table: questions that are answered by reading the links.

Tables ask these and then link; so a faster search, with an index under it, takes the place of
``Search`` without touching the links (``indexed_search``). All walks are loops: no depth is too
deep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from posetlib.change import Item
from posetlib.links import Links
from posetlib.nodes import Node
from posetlib.relation import Probe

__all__ = [
    "Place",
    "Search",
    "ancestors",
    "descendants",
    "hangs_below",
    "highest_of",
    "in_order",
    "lowest_of",
]

_SERIAL: Final = attrgetter("serial")
_ITEM: Final = attrgetter("item")


class Place(NamedTuple):
    """The place of an item in the order: its node, or the nodes next to it above and below.

    When there is an ``equivalent`` node, it is the place, and the others are empty.
    """

    equivalent: Node | None
    parents: list[Node]
    children: list[Node]
    #: All nodes that cover the item, the equivalent one included.
    above: Sequence[Node]


class Search:
    """Finds places by walking from the roots, into nodes that cover the item and no others."""

    __slots__ = ("_links",)

    def __init__(self, links: Links) -> None:
        self._links = links

    # -- any structure -----------------------------------------------------------------------------

    def below(self, node: Node, kind: Hashable) -> Sequence[Node]:
        """Return the children of a node that may be comparable with items of a kind."""
        links = self._links
        if kind is None:
            return node.children
        if node is links.top:
            untyped = links.roots_by_kind.get(None, ())
            own = links.roots_by_kind.get(kind, ())
            return [*untyped, *own] if untyped and own else untyped or own
        return [child for child in node.children if child.kind is None or child.kind == kind]

    def satisfying(self, holds: Callable[[Node], bool], kind: Hashable) -> list[Node]:
        """Return the nodes for which something holds that, if it holds, holds of all parents.

        Covering an item and matching a notification are such. A node is asked about only when it
        holds of every parent; parents come before children.
        """
        found: list[Node] = []
        waiting: dict[Node, int] = {}
        stack = [self._links.top]
        while stack:
            for child in self.below(stack.pop(), kind):
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
        return self.satisfying(probe.above, probe.kind)

    def covered(self, probe: Probe) -> list[Node]:
        """Return every node that the item covers."""
        found: dict[Node, None] = {}
        asked: set[Node] = set()
        stack = [self._links.top]
        while stack:
            for child in self.below(stack.pop(), probe.kind):
                if child in asked or child in found:
                    continue
                if probe.below(child):
                    _add_closure(found, child)
                else:
                    asked.add(child)
                    stack.append(child)
        return list(found)

    def covering_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return what covers the item, but its own node, in order of insertion."""
        return in_order(node for node in self.above(probe) if node is not own)

    def covered_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return what the item covers, but its own node, in order of insertion."""
        return in_order(node for node in self.covered(probe) if node is not own)

    def equivalent(self, probe: Probe) -> Node | None:
        """Return the node that the item covers and that covers the item."""
        above = self.above(probe)
        return self._equivalent(probe, lowest_of(above))

    def _equivalent(self, probe: Probe, lowest: list[Node]) -> Node | None:
        # Whatever covers the item covers its equivalent: if that is there, it is lowest, in a
        # forest perhaps one of several.
        return next((node for node in lowest if probe.below(node)), None)

    # -- the full order ----------------------------------------------------------------------------

    def place(self, probe: Probe, *, may_have_twin: bool = True) -> Place:
        """Return the place of an item that has no node by its own name.

        ``may_have_twin``: it may have an equivalent one; otherwise none is looked for.
        """
        above = self.above(probe)
        parents = lowest_of(above)
        if may_have_twin and len(parents) == 1:
            same = self._equivalent(probe, parents)
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
            for child in self.below(stack.pop(), probe.kind):
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
        return [node for node in hits if not _leads_up_to(node, hits, barren)]

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
        siblings = self.below(parent, probe.kind)
        if skip:
            siblings = [node for node in siblings if node not in skip]
        if prefers is not None:
            siblings = sorted(siblings, key=prefers, reverse=True)
        return next(filter(probe.above, siblings), None)

    def all_below(
        self,
        probe: Probe,
        parent: Node,
        *,
        among: Iterable[Node] | None = None,
        skip: Collection[Node] = (),
    ) -> list[Node]:
        """Return the children of a node that the item covers, in order.

        ``among``: the children that may be covered; ``skip``: those that are known not to be.
        """
        siblings = self.below(parent, probe.kind) if among is None else among
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
        leads_there = links.leads_to(interface)
        stack = [links.top]
        while stack:
            for node in self.below(stack.pop(), probe.kind):
                if leads_there(node) and probe.above(node):
                    if interface in node.interfaces:
                        return True
                    stack.append(node)
        return False

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


def in_order(nodes: Iterable[Node]) -> tuple[Item, ...]:
    """Return the items of nodes in order of insertion."""
    return tuple(map(_ITEM, sorted(nodes, key=_SERIAL)))


def lowest_of(above: list[Node]) -> list[Node]:
    """Return the nodes of an up-set that are parents of no other one."""
    inner: set[Node] = set()
    for node in above:
        inner.update(node.parents)
    return [node for node in above if node not in inner]


def highest_of(below: list[Node]) -> list[Node]:
    """Return the nodes of a down-set that are children of no other one."""
    inner: set[Node] = set(below)
    return [node for node in below if inner.isdisjoint(node.parents)]


def _leads_up_to(node: Node, hits: dict[Node, None], barren: set[Node]) -> bool:
    """Return whether another hit is above a node; what is found to have none above is barren."""
    stack = [node]
    seen: set[Node] = set()
    while stack:
        for parent in stack.pop().parents:
            if parent in hits:
                return True
            if parent not in barren and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    barren |= seen
    return False


def ancestors(node: Node, top: Node) -> dict[Node, None]:
    """Return every node above a node, by the links alone."""
    seen = {top: None}
    stack = [node]
    while stack:
        for parent in stack.pop().parents:
            if parent not in seen:
                seen[parent] = None
                stack.append(parent)
    del seen[top]
    return seen


def hangs_below(node: Node, other: Node) -> bool:
    """Return whether a node of a forest is below another one, by the links alone."""
    while node.parents:
        node = node.parents[0]
        if node is other:
            return True
    return False


def descendants(node: Node) -> dict[Node, None]:
    """Return every node below a node, by the links alone."""
    seen: dict[Node, None] = {}
    _add_closure(seen, node)
    del seen[node]
    return seen


def _add_closure(found: dict[Node, None], node: Node) -> None:
    """Add a node and all below it to what is found; what was found already is not entered."""
    found[node] = None
    stack = [node]
    while stack:
        for child in stack.pop().children:
            if child not in found:
                found[child] = None
                stack.append(child)

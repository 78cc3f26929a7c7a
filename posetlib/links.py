"""The nodes of a table and the links between them: the only code that changes either."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from posetlib.change import Item
from posetlib.journal import ALIAS, ENTER, GIVE, LEAVE, LINK, TAKE, UNLINK, Journal
from posetlib.nodes import Node, Nodes, Traits, insert, ordered, remove

__all__ = ["Links"]


class Links:
    """Nodes by item, edges by node, holders by interface; every step is written to a journal.

    The imaginary root of [T 3.3.1] is a node, ``top``: its children are the roots. Nothing here
    compares items. ``begin`` opens a journal, ``finish`` closes it, ``undo`` takes one back.
    """

    #: Whether the nodes' masks are kept (see ``interface_index``).
    indexed = False

    def __init__(self) -> None:
        self.top = Node(None, -1)
        self.nodes: dict[Item, Node] = {}
        self.aliases: dict[Item, Node] = {}
        #: Interface -> the nodes that hold it; one alone in a tuple, which takes little room.
        self.holders: dict[Hashable, tuple[Node] | dict[Node, None]] = {}
        #: Kind -> the roots of that kind.
        self.roots_by_kind: dict[Hashable, Nodes] = {}
        #: How many nodes have an item that is not canonical.
        self.irregular = 0
        #: Told of every step when it is done, or undone: an index keeps itself by these.
        self.on_enter: list[Callable[[Node], None]] = []
        self.on_leave: list[Callable[[Node], None]] = []
        self.on_link: list[Callable[[Node, Node], None]] = []
        self.on_unlink: list[Callable[[Node, Node], None]] = []
        self.on_give: list[Callable[[Node, Hashable], None]] = []
        self.on_take: list[Callable[[Node, Hashable], None]] = []
        #: Whether what was loaded runs in a circle somewhere: walks must not follow it.
        self.cyclic = False
        self.clock = 0
        self._journal = Journal()

    # -- journals ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """Open the journal of an operation."""
        self._journal = journal = Journal()
        journal.clock = self.clock

    def finish(self) -> Journal:
        """Close the journal: the operation is complete."""
        self._settle()
        return self._journal

    def abandon(self) -> None:
        """Undo what was done since ``begin``."""
        self.undo(self._journal)

    def undo(self, journal: Journal) -> None:
        """Take an operation back: the last one, or the last that was not taken back yet."""
        returned = False
        for code, *about in reversed(journal):
            back: Any = about
            if code == LINK:
                self._unlink(*back)
            elif code == UNLINK:
                self._link(*back)
            elif code == GIVE:
                self._take(*back)
            elif code == TAKE:
                self._give(*back)
            elif code == ENTER:
                self._leave(*back)
            elif code == LEAVE:
                self._enter(*back)
                returned = True
            else:
                node, item = back
                node.aliases = tuple(each for each in node.aliases if each is not item)
                del self.aliases[item]
        if returned:
            # A node that comes back goes to the end of the dictionary: restore the order of coming.
            order = sorted(self.nodes.items(), key=lambda entry: entry[1].serial)
            self.nodes.clear()
            self.nodes.update(order)
        self.clock = journal.clock
        self._settle()

    # -- the steps ---------------------------------------------------------------------------------

    def enter(self, item: Item, traits: Traits) -> Node:
        """Make a node for an item that has none."""
        node = Node(item, self.clock, traits)
        self.clock += 1
        self._journal.append((ENTER, node))
        self._enter(node)
        return node

    def leave(self, node: Node) -> None:
        """Forget a node that has neither links nor interfaces any more."""
        self._journal.append((LEAVE, node))
        self._leave(node)

    def link(self, parent: Node, child: Node) -> None:
        """Hang a node from another one, or from the top."""
        self._journal.append((LINK, parent, child))
        self._link(parent, child)

    def unlink(self, parent: Node, child: Node) -> None:
        """Take a node off another one, or off the top."""
        self._journal.append((UNLINK, parent, child))
        self._unlink(parent, child)

    def give(self, node: Node, interface: Hashable) -> None:
        """Let an interface hold a node that it does not hold."""
        self._journal.append((GIVE, node, interface))
        if node.interfaces:
            self._give(node, interface, self.clock)
            self.clock += 1
        else:
            # The first comes with the node, at its moment.
            self._give(node, interface, node.serial)

    def take(self, node: Node, interface: Hashable) -> None:
        """Let go an interface that holds the node."""
        self._journal.append((TAKE, node, interface, node.interfaces[interface]))
        self._take(node, interface)

    def alias(self, node: Node, item: Item) -> None:
        """Let a node be found by an item that is equivalent to its own, as long as it lives."""
        self._journal.append((ALIAS, node, item))
        node.aliases += (item,)
        self.aliases[item] = node

    # -- the same, unwritten: a subclass keeps its index here --------------------------------------

    def _enter(self, node: Node) -> None:
        self.nodes[node.item] = node
        self.irregular += not node.canonical
        for item in node.aliases:
            self.aliases[item] = node
        for told in self.on_enter:
            told(node)

    def _leave(self, node: Node) -> None:
        del self.nodes[node.item]
        self.irregular -= not node.canonical
        for item in node.aliases:
            del self.aliases[item]
        for told in self.on_leave:
            told(node)

    def _link(self, parent: Node, child: Node) -> None:
        first = parent.children[0] if parent.children else child
        parent.children = insert(parent.children, child)
        if not child.parents and len(first.parents) == 1 and isinstance(first.parents, tuple):
            # Siblings that have no other parent share one tuple.
            child.parents = first.parents
        else:
            child.parents = insert(child.parents, parent)
        if parent is self.top:
            roots = self.roots_by_kind
            roots[child.kind] = insert(roots.get(child.kind, ()), child)
        for told in self.on_link:
            told(parent, child)

    def _unlink(self, parent: Node, child: Node) -> None:
        parent.children = remove(parent.children, child)
        child.parents = remove(child.parents, parent)
        if parent is self.top:
            roots = self.roots_by_kind
            roots[child.kind] = remove(roots[child.kind], child)
            if not roots[child.kind]:
                del roots[child.kind]
        for told in self.on_unlink:
            told(parent, child)

    def _give(self, node: Node, interface: Hashable, moment: int) -> None:
        interfaces = node.interfaces
        late = bool(interfaces) and next(reversed(interfaces.values())) > moment
        interfaces[interface] = moment
        if late:
            # Only when an operation is undone: the interface returns to where it was.
            order = sorted(interfaces.items(), key=lambda entry: entry[1])
            interfaces.clear()
            interfaces.update(order)
        holders = self.holders.get(interface)
        if holders is None:
            self.holders[interface] = (node,)
        elif isinstance(holders, dict):
            holders[node] = None
        else:
            self.holders[interface] = dict.fromkeys((*holders, node))
        for told in self.on_give:
            told(node, interface)

    def _take(self, node: Node, interface: Hashable) -> None:
        del node.interfaces[interface]
        holders = self.holders[interface]
        if isinstance(holders, dict):
            del holders[node]
            if len(holders) == 1:
                (last,) = holders
                self.holders[interface] = (last,)
        else:
            del self.holders[interface]
        for told in self.on_take:
            told(node, interface)

    def _settle(self) -> None:
        """Bring up to date what was left for the end of an operation."""

    # -- reading -----------------------------------------------------------------------------------

    def find(self, item: Item) -> Node | None:
        """Return the node of an item, or of one that was added as its equivalent; O(1)."""
        node = self.nodes.get(item)
        if node is None and self.aliases:
            node = self.aliases.get(item)
        return node

    def holding(self, interface: Hashable) -> list[Node]:
        """Return the nodes that an interface holds, in order; O(k log k)."""
        return sorted(self.holders.get(interface, ()), key=lambda node: node.serial)

    def is_root(self, node: Node) -> bool:
        """Return whether nothing but the top is above a node."""
        return bool(node.parents) and node.parents[0] is self.top

    def bits(self, interfaces: Iterable[Hashable]) -> int:
        """Return interfaces as the bits that stand for them in masks; none where there are none."""
        return 0

    def leads_to(self, interface: Hashable) -> Callable[[Node], bool]:
        """Return what tells whether an interface may be at a node or below; only an index knows."""
        return lambda node: True

    def adds_nothing(self, node: Node, bits: int) -> bool:
        """Return whether nothing below a node has another interface; only an index knows."""
        return False

    def is_indexed(self, node: Node) -> bool:
        """Return whether the interface index of a node is right."""
        return True

    def index_of(self, node: Node) -> frozenset[Hashable] | None:
        """Return the interface index of a node, None where there is no index."""
        return None

    def claims(self) -> dict[Node, frozenset[Hashable]]:
        """Return what the interface index of nodes was said to be, where that is not so."""
        return {}

    # -- as a whole --------------------------------------------------------------------------------

    def load(
        self,
        rows: Iterable[tuple[Item, Traits, Iterable[Hashable]]],
        edges: Iterable[tuple[int, int]],
        indexes: Iterable[Iterable[Hashable] | None] = (),
    ) -> list[Node]:
        """Fill an empty table with (item, traits, interfaces) rows and edges between their numbers.

        Nothing is compared and nothing repaired: the shape is the one that is given.
        """
        rows = list(rows)
        nodes = [self.enter(item, traits) for item, traits, _ in rows]
        below: list[list[Node]] = [[] for _ in nodes]
        above: list[list[Node]] = [[] for _ in nodes]
        for parent, child in edges:
            below[parent].append(nodes[child])
            above[child].append(nodes[parent])
        for node, children, parents in zip(nodes, below, above, strict=True):
            node.children, node.parents = ordered(children), ordered(parents)
            if not parents:
                Links._link(self, self.top, node)
        for node, (_, _, interfaces) in zip(nodes, rows, strict=True):
            for moment, interface in enumerate(interfaces, self.clock):
                Links._give(self, node, interface, moment)
                self.clock = moment + 1
        self._load_index(nodes, list(indexes))
        self.cyclic = self._has_cycle()
        self._journal = Journal()
        return nodes

    def _load_index(self, nodes: list[Node], indexes: list[Iterable[Hashable] | None]) -> None:
        """Take over the interface index of each node, or compute it where none is given."""

    def _has_cycle(self) -> bool:
        waiting = {node: len(node.parents) for node in self.nodes.values()}
        free = [self.top]
        for node in free:
            for child in node.children:
                waiting[child] -= 1
                if not waiting[child]:
                    free.append(child)
        return any(waiting.values())

    def edges(self) -> Iterator[tuple[Node, Node]]:
        """Yield every edge, parents and then children in order."""
        for node in self.nodes.values():
            for child in node.children:
                yield node, child

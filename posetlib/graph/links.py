"""The nodes of a table and the links between them: the only code that changes either."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from posetlib.graph.change import Item
from posetlib.graph.journal import ALIAS, ENTER, HOLD, LEAVE, LINK, RELEASE, UNLINK, Journal
from posetlib.graph.nodes import Node, Nodes, Traits, insert, ordered, remove

__all__ = ["Links", "LinksObserver"]


class LinksObserver:
    """Derived state that follows the links, such as an index: told of every step when it is done.

    A step that is undone is told as its opposite. A subclass overrides the methods that it needs;
    ``Links`` calls no others, so that an observer costs only the steps that it is told of.
    """

    __slots__ = ()

    def entered(self, node: Node) -> None:
        """Be told that a node came."""

    def left(self, node: Node) -> None:
        """Be told that a node went."""

    def linked(self, parent: Node, child: Node) -> None:
        """Be told that a child hangs from a parent now."""

    def unlinked(self, parent: Node, child: Node) -> None:
        """Be told that a child does not hang from a parent any more."""

    def held(self, node: Node, interface: Hashable) -> None:
        """Be told that an interface holds a node now."""

    def released(self, node: Node, interface: Hashable) -> None:
        """Be told that an interface does not hold a node any more."""

    def settle(self) -> None:
        """Be told that an operation is complete, or undone: finish what was put off until now."""

    def loaded(self, nodes: list[Node]) -> None:
        """Be told that an empty table was filled as a whole; no single step of that is told."""


_EVENTS = ("entered", "left", "linked", "unlinked", "held", "released", "settle", "loaded")


class Links:
    """Nodes by item, edges by node, holders by interface; every step is written to a journal.

    The imaginary root of [T 3.3.1] is a node, ``top``: its children are the roots. Nothing here
    compares items. ``begin`` opens a journal, ``finish`` closes it, ``undo`` takes one back.
    """

    def __init__(self) -> None:
        self.top = Node(None, -1)
        self.nodes: dict[Item, Node] = {}
        self.aliases: dict[Item, Node] = {}
        #: Interface -> the nodes that it holds; a single one in a tuple, which takes less memory.
        self.holders: dict[Hashable, tuple[Node] | dict[Node, None]] = {}
        #: Part of the partition -> the roots that belong to it.
        self.roots_by_part: dict[Hashable, Nodes] = {}
        #: How many nodes have an item that is not canonical.
        self.irregular = 0
        #: Whether a loaded table has a cycle: walks must not follow it.
        self.cyclic = False
        #: The number of the next node, and the moment of the next interface that comes.
        self.clock = 0
        self._journal = Journal()
        # One list of calls for each event, so that an event without observers costs one look.
        self._on_entered: list[Callable[[Node], None]] = []
        self._on_left: list[Callable[[Node], None]] = []
        self._on_linked: list[Callable[[Node, Node], None]] = []
        self._on_unlinked: list[Callable[[Node, Node], None]] = []
        self._on_held: list[Callable[[Node, Hashable], None]] = []
        self._on_released: list[Callable[[Node, Hashable], None]] = []
        self._on_settle: list[Callable[[], None]] = []
        self._on_loaded: list[Callable[[list[Node]], None]] = []

    def attach(self, observer: LinksObserver) -> None:
        """Tell an observer of every step from now on, for as long as the table lives."""
        for event in _EVENTS:
            if getattr(type(observer), event) is not getattr(LinksObserver, event):
                getattr(self, f"_on_{event}").append(getattr(observer, event))

    # -- journals ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """Open the journal of an operation."""
        self._journal = journal = Journal()
        journal.clock = self.clock

    def finish(self) -> Journal:
        """Close the journal: the operation is complete."""
        for settle in self._on_settle:
            settle()
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
            elif code == HOLD:
                self._release(*back)
            elif code == RELEASE:
                self._hold(*back)
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
            # A node that comes back is at the end of the dictionary: restore the order of coming.
            order = sorted(self.nodes.items(), key=lambda entry: entry[1].serial)
            self.nodes.clear()
            self.nodes.update(order)
        self.clock = journal.clock
        for settle in self._on_settle:
            settle()

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

    def hold(self, node: Node, interface: Hashable) -> None:
        """Let an interface hold a node that it does not hold yet."""
        self._journal.append((HOLD, node, interface))
        if node.interfaces:
            self._hold(node, interface, self.clock)
            self.clock += 1
        else:
            # The first interface comes with the node, at the node's moment.
            self._hold(node, interface, node.serial)

    def release(self, node: Node, interface: Hashable) -> None:
        """Let an interface release a node that it holds."""
        self._journal.append((RELEASE, node, interface, node.interfaces[interface]))
        self._release(node, interface)

    def alias(self, node: Node, item: Item) -> None:
        """Let a node be found by an item that is equivalent to its own, as long as it lives."""
        self._journal.append((ALIAS, node, item))
        node.aliases += (item,)
        self.aliases[item] = node

    # -- a step without its line in the journal, for ``undo`` --------------------------------------

    def _enter(self, node: Node) -> None:
        self.nodes[node.item] = node
        self.irregular += not node.canonical
        for item in node.aliases:
            self.aliases[item] = node
        for tell in self._on_entered:
            tell(node)

    def _leave(self, node: Node) -> None:
        del self.nodes[node.item]
        self.irregular -= not node.canonical
        for item in node.aliases:
            del self.aliases[item]
        for tell in self._on_left:
            tell(node)

    def _link(self, parent: Node, child: Node) -> None:
        first = parent.children[0] if parent.children else child
        parent.children = insert(parent.children, child)
        if not child.parents and len(first.parents) == 1 and isinstance(first.parents, tuple):
            # Siblings that have no other parent share one tuple, to save memory.
            child.parents = first.parents
        else:
            child.parents = insert(child.parents, parent)
        if parent is self.top:
            roots = self.roots_by_part
            roots[child.part] = insert(roots.get(child.part, ()), child)
        for tell in self._on_linked:
            tell(parent, child)

    def _unlink(self, parent: Node, child: Node) -> None:
        parent.children = remove(parent.children, child)
        child.parents = remove(child.parents, parent)
        if parent is self.top:
            roots = self.roots_by_part
            roots[child.part] = remove(roots[child.part], child)
            if not roots[child.part]:
                del roots[child.part]
        for tell in self._on_unlinked:
            tell(parent, child)

    def _hold(self, node: Node, interface: Hashable, moment: int) -> None:
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
        for tell in self._on_held:
            tell(node, interface)

    def _release(self, node: Node, interface: Hashable) -> None:
        del node.interfaces[interface]
        holders = self.holders[interface]
        if isinstance(holders, dict):
            del holders[node]
            if len(holders) == 1:
                (last,) = holders
                self.holders[interface] = (last,)
        else:
            del self.holders[interface]
        for tell in self._on_released:
            tell(node, interface)

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

    def edges(self) -> Iterator[tuple[Node, Node]]:
        """Yield every edge, parents and then children in order."""
        for node in self.nodes.values():
            for child in node.children:
                yield node, child

    # -- as a whole --------------------------------------------------------------------------------

    def load(
        self,
        rows: Iterable[tuple[Item, Traits, Iterable[Hashable]]],
        edges: Iterable[tuple[int, int]],
    ) -> list[Node]:
        """Fill an empty table with (item, traits, interfaces) rows and edges between their numbers.

        Nothing is compared and nothing repaired: the shape is the one that is given. Observers are
        told once, at the end.
        """
        nodes: list[Node] = []
        for item, traits, interfaces in rows:
            node = Node(item, self.clock, traits)
            self.clock += 1
            self.nodes[item] = node
            self.irregular += not node.canonical
            node.interfaces = dict.fromkeys(interfaces, 0)
            nodes.append(node)
        holders: dict[Hashable, list[Node]] = {}
        for node in nodes:
            for interface in node.interfaces:
                node.interfaces[interface] = self.clock
                self.clock += 1
                holders.setdefault(interface, []).append(node)
        for interface, some in holders.items():
            self.holders[interface] = (some[0],) if len(some) == 1 else dict.fromkeys(some)
        self._load_edges(nodes, edges)
        self.cyclic = self._has_cycle()
        self._journal = Journal()
        for tell in self._on_loaded:
            tell(nodes)
        return nodes

    def _load_edges(self, nodes: list[Node], edges: Iterable[tuple[int, int]]) -> None:
        below: list[list[Node]] = [[] for _ in nodes]
        above: list[list[Node]] = [[] for _ in nodes]
        for parent, child in edges:
            below[parent].append(nodes[child])
            above[child].append(nodes[parent])
        roots: list[Node] = []
        under_top = (self.top,)
        for node, children, parents in zip(nodes, below, above, strict=True):
            node.children, node.parents = ordered(children), ordered(parents)
            if not parents:
                node.parents = under_top
                roots.append(node)
                self.roots_by_part[node.part] = insert(self.roots_by_part.get(node.part, ()), node)
        self.top.children = ordered(roots)

    def _has_cycle(self) -> bool:
        waiting = {node: len(node.parents) for node in self.nodes.values()}
        free = [self.top]
        for node in free:
            for child in node.children:
                waiting[child] -= 1
                if not waiting[child]:
                    free.append(child)
        return any(waiting.values())

"""Forwards sets that follow a table: an update costs what it changes, not what there is.

The definition is that of ``posetlib.tables.forwards``. A filter is *wanted* at the neighbours that
it may reach, without the one that alone holds it; it is sent to a neighbour if it is wanted there
and no filter that strictly covers it is. By Theorem 3.4 only roots and their children are sent
anywhere, and a child at most to one neighbour: the one that alone holds each of its parents.

So the set of a node depends on its own holders, on its parents' holders, and on whether its parents
are roots. In a forest, which forgets orders, a node in another tree may cover a child as well. Such
a *blocker* is remembered, and looked for again only when it is wanted no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import Any, Final, NamedTuple

from posetlib.filters.filter import Filter
from posetlib.graph.change import Item
from posetlib.graph.links import LinksObserver
from posetlib.graph.nodes import Node
from posetlib.routing.reach import Reach
from posetlib.search.indexed import Shortlist
from posetlib.search.probe import Probe
from posetlib.tables.promises import Shape
from posetlib.tables.table import Table

__all__ = ["CountedForwarding", "Delta", "Deltas", "Follower", "Forwarding"]

Interfaces = frozenset[Hashable]
_NOWHERE: Final[Interfaces] = frozenset()
_SERIAL: Final = attrgetter("serial")
#: Stands for "several holders", or none, where the only holder is asked for.
_SEVERAL: Final = object()


class Delta(NamedTuple):
    """What changed for one neighbour: filters that it is sent now, and filters to take back."""

    added: list[Filter]
    #: Those that left the set and that no filter of the new set covers.
    withdrawn: list[Filter]
    #: Those that left the set, covered or not.
    left: list[Filter]
    #: Those of the set that the receiver dropped when it held a withdrawn one that covers them.
    again: list[Filter]


#: By neighbour; neighbours for which nothing changed are not there.
Deltas = dict[Hashable, Delta]


class _Seen(NamedTuple):
    """What the sets of a node's children depend on."""

    is_root: bool
    only_holder: object


class Follower(LinksObserver):
    """Collects the nodes of a table whose forwards sets may have changed."""

    def __init__(self, table: Table[Any], reach: Reach) -> None:
        self._table = table
        self._links = table._links
        self._search = table._search
        self._top = table._links.top
        self.reach = reach
        #: Nodes whose holders or links changed; whether they are still in the table.
        self._touched: dict[Node, bool] = {}
        self._links.attach(self)

    def entered(self, node: Node) -> None:
        """Note a node that came."""
        self._touched[node] = True

    def left(self, node: Node) -> None:
        """Note a node that went."""
        self._touched[node] = False

    def linked(self, parent: Node, child: Node) -> None:
        """Note a child with a new parent."""
        self._touched[child] = True

    unlinked = linked

    def held(self, node: Node, interface: Hashable) -> None:
        """Note a node with a new holder."""
        self._touched[node] = True

    released = held

    def set_reach(self, reach: Reach) -> None:
        """Let filters reach other neighbours than before; costs as much as there is to send."""
        self.reach = reach
        for root in self._top.children:
            self._touched[root] = True
            self._touched.update(dict.fromkeys(root.children, True))

    def touch_overlapping(self, item: Filter, neighbour: Hashable) -> None:
        """Look again at the filters that overlap an advertisement of a neighbour."""
        table = self._table
        _, canonical, box = table._traits(item)
        # Parts divide what may be comparable; items of two parts may still overlap.
        probe = Probe(table._relation, table.counters, item, (None, canonical, box))
        for root in self._search.meeting(probe, self._top):
            if root.item.overlaps(item):
                self._touched[root] = True
                if _only_holder(root) == neighbour:
                    # Only then a child may be sent to the neighbour.
                    self._touched.update(
                        (child, True) for child in self._search.meeting(probe, root)
                    )


class CountedForwarding(Follower):
    """What simple routing sends: every subscription by itself, as often as it is held elsewhere.

    ``count(item, interface)`` says how often an interface holds a filter.
    """

    def __init__(
        self, table: Table[Any], reach: Reach, count: Callable[[Item, Hashable], int]
    ) -> None:
        super().__init__(table, reach)
        self._count = count
        #: Filter -> neighbour -> how often it was sent there.
        self._sent: dict[Item, dict[Hashable, int]] = {}

    def touch(self, item: Item) -> None:
        """Note a filter that an interface holds more often, or less, than before."""
        node = self._links.find(item)
        if node is not None:
            self._touched[node] = True

    def sets(self) -> dict[Item, Interfaces]:
        """Return where each filter was sent."""
        return {item: frozenset(sent) for item, sent in self._sent.items()}

    def flush(self) -> Deltas:
        """Return how much more, or less, of each filter a neighbour is sent."""
        touched, self._touched = self._touched, {}
        deltas: Deltas = {}
        for node in sorted(touched, key=_SERIAL):
            item = node.item
            if not touched[node] and item in self._links.nodes:
                continue  # it came back as another node
            before = self._sent.pop(item, {})
            after: dict[Hashable, int] = {}
            if touched[node]:
                counts = {each: self._count(item, each) for each in node.interfaces}
                total = sum(counts.values())
                due = {each: total - counts.get(each, 0) for each in self.reach.of(item)}
                after = {each: count for each, count in due.items() if count}
            if after:
                self._sent[item] = after
            for neighbour in sorted({*before, *after}, key=str):
                more = after.get(neighbour, 0) - before.get(neighbour, 0)
                if more:
                    delta = deltas.setdefault(neighbour, Delta([], [], [], []))
                    (delta.added if more > 0 else delta.withdrawn).extend([item] * abs(more))
        return deltas


class Forwarding(Follower):
    """The forwards sets of one table, brought up to date by ``flush``.

    ``exact=False`` leaves out the look at other trees of a forest: more may be sent than needed,
    and never less.
    """

    def __init__(self, table: Table[Any], reach: Reach, *, exact: bool = True) -> None:
        super().__init__(table, reach)
        is_forest = table.promises.shape is Shape.FOREST
        #: Whether a node may be covered by one in another tree.
        self._looks_across = exact and is_forest
        #: Whether a filter that is sent may be covered by another one that is.
        self._sends_covered = is_forest and not exact
        #: The sets that are not empty, as they were last flushed.
        self._sets: dict[Node, Interfaces] = {}
        self._seen: dict[Node, _Seen] = {}
        #: Children that are sent to a neighbour, and those that are not because of a blocker.
        self._sent_children = Shortlist()
        self._blocker: dict[Node, Node] = {}
        self._blocked: dict[Node, dict[Node, None]] = {}
        #: With one reach for all filters: holder -> the set of a filter that it alone holds.
        self._known: dict[object, Interfaces] = {}

    def set_reach(self, reach: Reach) -> None:
        """Let filters reach other neighbours than before; costs as much as there is to send."""
        super().set_reach(reach)
        self._known.clear()

    # -- what is sent ------------------------------------------------------------------------------

    def sets(self) -> dict[Item, Interfaces]:
        """Return the forwards sets that are not empty, in order of insertion."""
        nodes = sorted(self._sets, key=_SERIAL)
        return {node.item: self._sets[node] for node in nodes}

    def flush(self) -> Deltas:
        """Bring the sets up to date; return what that means for each neighbour."""
        touched, self._touched = self._touched, {}
        if not touched:
            return {}
        for node, there in touched.items():
            if not there and node in self._sets and node.item in self._links.nodes:
                # It went and came back as another node: what was sent stays sent.
                self._sets[self._links.nodes[node.item]] = self._sets.pop(node)
        new = {node: self._by_links(node) for node in self._affected(touched)}
        new.update(dict.fromkeys((node for node, there in touched.items() if not there), _NOWHERE))
        if self._looks_across:
            self._block(new)
        elif self._sends_covered:
            self._list_children(new)
        gained: dict[Hashable, list[Node]] = {}
        lost: dict[Hashable, list[Node]] = {}
        sets = self._sets
        for node in sorted(new, key=_SERIAL):
            before, after = sets.get(node, _NOWHERE), new[node]
            if before == after:
                continue
            for neighbour in after - before:
                gained.setdefault(neighbour, []).append(node)
            for neighbour in before - after:
                lost.setdefault(neighbour, []).append(node)
            if after:
                sets[node] = after
            else:
                del sets[node]
        return self._deltas(gained, lost, touched)

    def _affected(self, touched: dict[Node, bool]) -> list[Node]:
        """Return the nodes of the table whose sets may have changed."""
        affected: dict[Node, None] = {}
        for node, there in touched.items():
            if not there:
                self._seen.pop(node, None)
                continue
            affected[node] = None
            now = _Seen(node.parents[0] is self._top, _only_holder(node))
            if self._seen.get(node) != now:
                self._seen[node] = now
                affected.update(dict.fromkeys(node.children))
        return list(affected)

    def _by_links(self, node: Node) -> Interfaces:
        """Return the forwards set of a node, as far as its own tree tells."""
        parents = node.parents
        if parents[0] is self._top:
            return self._wanted(node)
        neighbour = _only_holder(parents[0])
        for parent in parents:
            if parent.parents[0] is not self._top or _only_holder(parent) != neighbour:
                return _NOWHERE
        return frozenset((neighbour,)) if self._is_wanted(node, neighbour) else _NOWHERE

    def _wanted(self, node: Node) -> Interfaces:
        """Return the neighbours at which a filter is wanted."""
        of_all = self.reach.of_all
        holder = _only_holder(node)
        if of_all is None:
            return self.reach.of(node.item) - {holder}
        found = self._known.get(holder)
        if found is None:
            # One set for each holder, not one for each filter.
            found = self._known[holder] = of_all - {holder}
        return found

    def _is_wanted(self, node: Node, neighbour: Hashable) -> bool:
        return _only_holder(node) != neighbour and self.reach.reaches(node.item, neighbour)

    # -- nodes in other trees ----------------------------------------------------------------------

    def _block(self, new: dict[Node, Interfaces]) -> None:
        """Take children out of the new sets that a node in another tree covers.

        Nodes join the new sets that are sent again, since their blocker is not wanted any more, or
        that are no longer sent, since a new set has one that covers them.
        """
        sets, blocked = self._sets, self._blocked
        for node in list(new):
            for other in list(blocked.get(node, ())):
                if other not in new:
                    new[other] = self._by_links(other)
        for node in new:
            self._unblock(node)
        for node in list(new):
            # Only what is sent to more neighbours than before can newly cover what is sent there.
            if len(self._sent_children) and new[node] - sets.get(node, _NOWHERE):
                wanted = new[node]
                for other in self._sent_children.below(self._probe(node)):
                    if other not in new and sets[other] <= wanted and other is not node:
                        new[other] = _NOWHERE
                        self._set_blocker(other, node)
        for node, found in new.items():
            if found and node.parents[0] is not self._top:
                (neighbour,) = found
                blocker = self._covering(self._probe(node), neighbour, node.parents[0])
                if blocker is not None:
                    new[node] = _NOWHERE
                    self._set_blocker(node, blocker)
        self._list_children(new)

    def _list_children(self, new: dict[Node, Interfaces]) -> None:
        """Keep the list of the children that are sent somewhere."""
        listed = self._sent_children
        for node, found in new.items():
            is_sent_child = bool(found) and node.parents[0] is not self._top
            if is_sent_child != (node in listed):
                if is_sent_child:
                    listed.add(node)
                else:
                    listed.remove(node)

    def _set_blocker(self, node: Node, blocker: Node) -> None:
        self._blocker[node] = blocker
        self._blocked.setdefault(blocker, {})[node] = None

    def _unblock(self, node: Node) -> None:
        blocker = self._blocker.pop(node, None)
        if blocker is not None:
            others = self._blocked[blocker]
            del others[node]
            if not others:
                del self._blocked[blocker]

    # -- coverers ----------------------------------------------------------------------------------

    def _probe(self, node: Node) -> Probe:
        return Probe(self._table._relation, self._table.counters, node.item, node.traits)

    def _covering(
        self, probe: Probe, neighbour: Hashable, besides: Node | None = None
    ) -> Node | None:
        """Return a node that covers an item and is wanted at a neighbour, None if there is none.

        If there is one, a root is one, or a child of a root that the neighbour alone holds; the
        children of node ``besides``, the item's siblings, are known not to cover it.
        """
        for root in self._search.all_above(probe, self._top):
            if self._is_wanted(root, neighbour):
                return root
            if root is not besides and _only_holder(root) == neighbour:
                for child in self._search.all_above(probe, root):
                    if self._is_wanted(child, neighbour):
                        return child
        return None

    def _sent_below(self, probe: Probe, neighbour: Hashable) -> list[Node]:
        """Return the children that are sent to a neighbour and that an item covers."""
        return [
            node
            for node in self._sent_children.below(probe)
            if neighbour in self._sets.get(node, _NOWHERE)
        ]

    def _deltas(
        self,
        gained: dict[Hashable, list[Node]],
        lost: dict[Hashable, list[Node]],
        touched: dict[Node, bool],
    ) -> Deltas:
        deltas: Deltas = {}
        probes: dict[Node, Probe] = {}
        for neighbour in dict.fromkeys([*gained, *lost]):
            withdrawn = []
            again: dict[Node, None] = {}
            left = lost.get(neighbour, [])
            for node in left:
                if touched.get(node, True) and self._is_wanted(node, neighbour):
                    # It is wanted and not sent: a filter that is sent covers it.
                    continue
                probe = probes.get(node)
                if probe is None:
                    probe = probes[node] = self._probe(node)
                if self._covering(probe, neighbour) is None:
                    withdrawn.append(node.item)
                    if self._sends_covered:
                        again.update(dict.fromkeys(self._sent_below(probe, neighbour)))
            new = gained.get(neighbour, [])
            deltas[neighbour] = Delta(
                [node.item for node in new],
                withdrawn,
                [node.item for node in left],
                [node.item for node in again if node not in new],
            )
        return deltas


def _only_holder(node: Node) -> object:
    """Return the interface that alone holds a node; a stand-in if several do."""
    interfaces = node.interfaces
    if len(interfaces) == 1:
        (interface,) = interfaces
        return interface
    return _SEVERAL

"""The search with an index under it: which columns serve which question, and when objects do.

Short lists of nodes are scanned as objects, by their boxes; long ones as columns, which are made
when a list is first asked about and follow it from then on. There are columns for the children of
a node, for the roots of a kind, for what an interface holds, and for all nodes; a table has those
that its questions need. An item without a box is held against nodes as without an index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from operator import attrgetter, le
from typing import Final

from posetlib.change import Item
from posetlib.columns import Columns
from posetlib.links import Links
from posetlib.nodes import Node, Nodes
from posetlib.relation import Probe
from posetlib.search import Place, Search, hangs_below, highest_of, lowest_of

__all__ = ["IndexedSearch"]

# From so many nodes on, a sweep over columns is faster than a look at each: at each box, if all are
# of one shape, or else at each filter that may be comparable.
_LONG: Final = 256
_LONG_IF_MIXED: Final = 64
# Columns are kept until a list is as short as this, so that they do not come and go.
_SHORT: Final = 32

_SERIAL: Final = attrgetter("serial")


class _Lists:
    """The columns of lists that are long and were asked about, by who owns the list."""

    __slots__ = ("_columns",)

    def __init__(self) -> None:
        self._columns: dict[Hashable, Columns] = {}

    def of(self, owner: Hashable, nodes: Iterable[Node]) -> Columns:
        """Return the columns of a list, made now if there are none."""
        columns = self._columns.get(owner)
        if columns is None:
            columns = self._columns[owner] = Columns(nodes)
        return columns

    def add(self, owner: Hashable, node: Node) -> None:
        """Be told that a node came to a list."""
        columns = self._columns.get(owner)
        if columns is not None:
            columns.add(node)

    def remove(self, owner: Hashable, node: Node) -> None:
        """Be told that a node went from a list; the columns go when it has become short."""
        columns = self._columns.get(owner)
        if columns is not None:
            columns.remove(node)
            if len(columns) < _SHORT:
                del self._columns[owner]


class IndexedSearch(Search):
    """Finds places from boxes where there are any, and by walking where there are none."""

    __slots__ = ("_all", "_children", "_held", "_roots")

    def __init__(self, links: Links) -> None:
        super().__init__(links)
        self._all: Columns | None = None
        self._children = _Lists()
        self._roots = _Lists()
        self._held: _Lists | None = None
        links.on_link.append(self._linked)
        links.on_unlink.append(self._unlinked)

    # -- following the links -----------------------------------------------------------------------

    def _linked(self, parent: Node, child: Node) -> None:
        self._children.add(parent, child)
        if parent is self._links.top:
            self._roots.add(child.kind, child)

    def _unlinked(self, parent: Node, child: Node) -> None:
        self._children.remove(parent, child)
        if parent is self._links.top:
            self._roots.remove(child.kind, child)

    def _everything(self) -> Columns:
        """Return the columns of all nodes, made and followed when they are first asked for."""
        if self._all is None:
            self._all = Columns(self._links.nodes.values())
            self._links.on_enter.append(self._all.add)
            self._links.on_leave.append(self._all.remove)
        return self._all

    def _held_by(self, interface: Hashable) -> Columns:
        """Return the columns of what an interface holds; followed like those of all nodes."""
        if self._held is None:
            held = self._held = _Lists()
            self._links.on_give.append(lambda node, interface: held.add(interface, node))
            self._links.on_take.append(lambda node, interface: held.remove(interface, node))
        return self._held.of(interface, self._links.holders[interface])

    # -- any structure -----------------------------------------------------------------------------

    def above(self, probe: Probe) -> list[Node]:
        """Return every node that covers the item; O(n) in one sweep."""
        columns = self._swept(probe)
        return super().above(probe) if columns is None else columns.above(probe)

    def covered(self, probe: Probe) -> list[Node]:
        """Return every node that the item covers; O(n) in one sweep."""
        columns = self._swept(probe)
        return super().covered(probe) if columns is None else columns.below(probe)

    def _swept(self, one: Node | Probe) -> Columns | None:
        """Return the columns of all nodes, unless a walk has fewer of them to ask."""
        if one.box is None or len(self._links.nodes) < _LONG_IF_MIXED:
            return None
        columns = self._everything()
        return columns if columns.aside <= _SHORT else None

    def covering_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return what covers the item, but its own node, in order of insertion."""
        columns = self._full_order(probe)
        if columns is None:
            return super().covering_items(probe, own)
        return columns.covering_items(probe, own)

    def covered_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return what the item covers, but its own node, in order of insertion."""
        columns = self._full_order(probe)
        if columns is None:
            return super().covered_items(probe, own)
        return columns.covered_items(probe, own)

    # -- the full order ----------------------------------------------------------------------------

    def _full_order(self, one: Node | Probe) -> Columns | None:
        """Return the columns of all nodes, if they say all of how one is related to them."""
        columns = self._swept(one)
        return columns if columns is not None and columns.says_all(one.box) else None

    def place(self, probe: Probe, *, may_have_twin: bool = True) -> Place:
        """Return the place of an item that has no node by its own name.

        One sweep for all that covers it and one for all that it covers; then the nearest of each.
        """
        columns = self._swept(probe)
        if columns is None:
            return super().place(probe, may_have_twin=may_have_twin)
        if columns.says_all(probe.box):
            # A twin would be equal, and found by its name.
            return Place(None, *columns.neighbours(probe))
        nodes = columns.above(probe)
        parents = lowest_of(nodes)
        if may_have_twin and len(parents) == 1:
            same = self._equivalent(probe, parents)
            if same is not None:
                return Place(same, [], [], nodes)
        return Place(None, parents, highest_of(columns.below(probe)), nodes)

    def strictly_above(self, node: Node) -> Iterable[Node]:
        """Return every node above a node of a full order: from boxes if they say all."""
        columns = self._full_order(node)
        return super().strictly_above(node) if columns is None else columns.strictly_above(node)

    def strictly_below(self, node: Node) -> Iterable[Node]:
        """Return every node below a node of a full order: from boxes if they say all."""
        columns = self._full_order(node)
        return super().strictly_below(node) if columns is None else columns.strictly_below(node)

    def to_be_joined(self, parents: list[Node], children: list[Node]) -> list[tuple[Node, Node]]:
        """Return the pairs that no path joins: boxes tell whether a parent covers another one."""
        columns = self._full_order(children[0]) if children else None
        others = [other for child in children for other in child.parents]
        if columns is None or parents[0] is self._links.top or not others:
            return super().to_be_joined(parents, children)
        # What leads from a child up to a parent leads over another parent of the child.
        over = columns.contains(parents, others)
        joined = []
        start = 0
        for child in children:
            stop = start + len(child.parents)
            reached: list[bool] = over[:, start:stop].any(axis=1).tolist()  # type: ignore[assignment]
            joined += [(parents[i], child) for i, yes in enumerate(reached) if not yes]
            start = stop
        return joined

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

        One look at each box, or one sweep over them all.
        """
        if probe.box is None:
            return super().first_above(probe, parent, prefers=prefers, skip=skip)
        if prefers is not None:
            good = list(self._children_above(probe, parent))
            return next(filter(prefers, good), good[0] if good else None)
        if probe.kind is not None and parent is self._links.top:
            return next(self._children_above(probe, parent), None)
        children = parent.children
        if not _is_long(children, probe):
            return next(_covering(probe, children), None)
        return self._children.of(parent, children).first_above(probe)

    def all_below(
        self,
        probe: Probe,
        parent: Node,
        *,
        among: Iterable[Node] | None = None,
        skip: Collection[Node] = (),
    ) -> list[Node]:
        """Return the children of a node that the item covers, in order."""
        if probe.box is None or among is not None:
            return super().all_below(probe, parent, among=among, skip=skip)
        found: list[Node] = []
        for siblings, columns in self._lists(parent, probe):
            if columns is None:
                found += _covered(probe, siblings)
            else:
                found += sorted(columns.below(probe), key=_SERIAL)
        return found

    def _children_above(self, probe: Probe, parent: Node) -> Iterator[Node]:
        """Yield the children of a node that cover the item, in the order of a walk."""
        for siblings, columns in self._lists(parent, probe):
            if columns is None:
                yield from _covering(probe, siblings)
            else:
                yield from sorted(columns.above(probe), key=_SERIAL)

    def _lists(self, parent: Node, probe: Probe) -> Iterator[tuple[Iterable[Node], Columns | None]]:
        """Yield the children of a node that may be comparable with an item, by columns if many."""
        kind = probe.kind
        if kind is None or parent is not self._links.top:
            children = parent.children
            long = _is_long(children, probe)
            yield children, self._children.of(parent, children) if long else None
            return
        for each in (None, kind):
            roots = self._links.roots_by_kind.get(each, ())
            yield roots, self._roots.of(each, roots) if _is_long(roots, probe) else None

    # -- what an interface holds -------------------------------------------------------------------

    def is_held_above(self, probe: Probe, interface: Hashable) -> bool:
        """Return whether an interface holds a node that covers the item."""
        if probe.box is None:
            return super().is_held_above(probe, interface)
        holders = self._links.holders.get(interface, ())
        if len(holders) >= _LONG:
            return bool(self._held_by(interface).above(probe))
        return any(True for _ in _covering(probe, holders))

    def held_below(self, probe: Probe, interface: Hashable, own: Node | None = None) -> list[Node]:
        """Return the nodes that an interface holds and the item covers, in order."""
        if probe.box is None:
            return super().held_below(probe, interface, own)
        holders = self._links.holders.get(interface, ())
        if len(holders) >= _LONG:
            found = self._held_by(interface).below(probe)
        else:
            found = list(_covered(probe, holders))
        return sorted((node for node in found if node is not own), key=_SERIAL)

    def held_in_tree(self, probe: Probe, interface: Hashable, own: Node) -> list[Node]:
        """Return the nodes that an interface holds and that hang below the item's own, in order."""
        if probe.box is None:
            return super().held_in_tree(probe, interface, own)
        # Whatever hangs below is covered, and boxes leave few of all that the interface holds.
        found = self.held_below(probe, interface, own)
        return [node for node in found if hangs_below(node, own)]


def _is_long(nodes: Nodes, probe: Probe) -> bool:
    """Return whether a list had better be swept."""
    if len(nodes) < _LONG_IF_MIXED:
        return False
    if len(nodes) >= _LONG:
        return True
    # Lists that begin and end with the shape of the item are probably of that shape.
    first, last, shape = nodes[0].box, nodes[-1].box, probe.box[5]
    return first is None or last is None or first[5] is not shape or last[5] is not shape


def _covering(probe: Probe, nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes that cover an item, by their boxes as far as these tell."""
    low, high, low2, high2, rest, shape, gaps = probe.box
    exact = shape.exact
    for node in nodes:
        box = node.box
        if box is None:
            good = probe.above(node)
        elif box[5] is shape:
            good = (
                box[0] <= low
                and box[1] <= high
                and box[2] <= low2
                and box[3] <= high2
                and (not rest or all(map(le, box[4], rest)))
                and (exact or (box[6] | gaps == gaps and probe.above(node)))
            )
        else:
            good = shape.may_lie_in(box[5]) and box[6] | gaps == gaps and probe.above(node)
        if good:
            yield node


def _covered(probe: Probe, nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes that an item covers, by their boxes as far as these tell."""
    low, high, low2, high2, rest, shape, gaps = probe.box
    exact = shape.exact
    for node in nodes:
        box = node.box
        if box is None:
            good = probe.below(node)
        elif box[5] is shape:
            good = (
                low <= box[0]
                and high <= box[1]
                and low2 <= box[2]
                and high2 <= box[3]
                and (not rest or all(map(le, rest, box[4])))
                and (exact or (box[6] | gaps == box[6] and probe.below(node)))
            )
        else:
            good = box[5].may_lie_in(shape) and box[6] | gaps == box[6] and probe.below(node)
        if good:
            yield node

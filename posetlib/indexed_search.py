"""The search with an index under it: which index serves which question.

Lists of nodes are scanned as objects, by their boxes; of a long list a sieve leaves few to scan.
There are sieves for the children of a node, for the roots of a kind, for what an interface holds
and for all nodes; each is made when its list is first asked about, and follows it from then on. As
long as all nodes have exact boxes, questions about all are answered by a sweep over columns, and
nothing is left to scan. An item without a box is held against nodes as without an index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import chain
from operator import attrgetter, le
from threading import Lock
from typing import Final, TypeAlias

from posetlib.boxes import Box
from posetlib.change import Item
from posetlib.columns import Columns
from posetlib.links import Links
from posetlib.nodes import Node
from posetlib.relation import Probe
from posetlib.search import Place, Search, hangs_below, highest_of, lowest_of
from posetlib.sieve import Sieve

__all__ = ["IndexedSearch"]

# From so many nodes on, a sieve is faster than a look at each.
_LONG: Final = 40
# It is kept until a list is as short as this, so that sieves do not come and go.
_SHORT: Final = 20
# Tables of fewer nodes are walked, and those of which a sieve has to let more through unseen.
_FEW: Final = 64
_BOXLESS: Final = 32

_SERIAL: Final = attrgetter("serial")
#: What a sieve leaves of a list for a box: ``Sieve.above`` or ``Sieve.below``.
_Sift: TypeAlias = Callable[[Sieve, Box], Iterable[Node]]


class _Sieves(dict[Hashable, Sieve]):
    """The sieves of lists that are long and were asked about, by who owns the list."""

    __slots__ = ()

    def sifted(
        self, sift: _Sift, probe: Probe, owner: Hashable, nodes: Collection[Node]
    ) -> Iterable[Node]:
        """Return those of a list that may be comparable with an item: all, if it is short."""
        if len(nodes) < _LONG:
            return nodes
        sieve = self.get(owner)
        if sieve is None:
            sieve = self[owner] = Sieve(nodes)
        return sift(sieve, probe.box)

    def came(self, owner: Hashable, node: Node) -> None:
        """Be told that a node came to a list."""
        if owner in self:
            self[owner].add(node)

    def went(self, owner: Hashable, node: Node) -> None:
        """Be told that a node went from a list; its sieve goes when it has become short."""
        if owner in self:
            self[owner].remove(node)
            if len(self[owner]) < _SHORT:
                del self[owner]


class IndexedSearch(Search):
    """Finds places from boxes where there are any, and by walking where there are none."""

    __slots__ = ("_all", "_children", "_columns", "_held", "_making", "_roots")

    def __init__(self, links: Links) -> None:
        super().__init__(links)
        self._all: Sieve | None = None
        self._columns: Columns | None = None
        self._children = _Sieves()
        self._roots = _Sieves()
        self._held: _Sieves | None = None
        # Several may read a table at once: what is followed must be made once.
        self._making = Lock()
        links.on_link.append(self._linked)
        links.on_unlink.append(self._unlinked)

    # -- following the links -----------------------------------------------------------------------

    def _linked(self, parent: Node, child: Node) -> None:
        self._children.came(parent, child)
        if self._roots and parent is self._links.top:
            self._roots.came(child.kind, child)

    def _unlinked(self, parent: Node, child: Node) -> None:
        self._children.went(parent, child)
        if self._roots and parent is self._links.top:
            self._roots.went(child.kind, child)

    # -- any structure -----------------------------------------------------------------------------

    def above(self, probe: Probe) -> list[Node]:
        """Return every node that covers the item; O(n) in one sweep, or sifted."""
        if self._is_walked(probe):
            return super().above(probe)
        columns = self._full_order(probe)
        if columns is not None:
            return columns.above(probe)
        return list(_covering(probe, self._everything().above(probe.box)))

    def covered(self, probe: Probe) -> list[Node]:
        """Return every node that the item covers; O(n) in one sweep, or sifted."""
        if self._is_walked(probe):
            return super().covered(probe)
        columns = self._full_order(probe)
        if columns is not None:
            return columns.below(probe)
        return list(_covered(probe, self._everything().below(probe.box)))

    def _is_walked(self, probe: Probe) -> bool:
        """Return whether a walk has fewer nodes to ask."""
        if probe.box is None or len(self._links.nodes) < _FEW:
            return True
        return self._full_order(probe) is None and self._everything().boxless > _BOXLESS

    def _everything(self) -> Sieve:
        """Return the sieve of all nodes, made and followed when it is first asked for."""
        with self._making:
            if self._all is None:
                sieve = Sieve(self._links.nodes.values())
                self._links.on_enter.append(sieve.add)
                self._links.on_leave.append(sieve.remove)
                self._all = sieve
        return self._all

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
        """Return the columns of all nodes, if they say all of how one is related to them.

        Made and followed when they are first asked for.
        """
        if one.box is None or not one.box[5].exact or len(self._links.nodes) < _FEW:
            return None
        columns = self._columns
        if columns is None:
            with self._making:
                columns = self._columns or Columns(self._links.nodes.values())
                if self._columns is None:
                    self._links.on_enter.append(columns.add)
                    self._links.on_leave.append(columns.remove)
                    self._columns = columns
        return columns if columns.say_all() else None

    def place(self, probe: Probe, *, may_have_twin: bool = True) -> Place:
        """Return the place of an item that has no node by its own name.

        One sweep for all that covers it and one for all that it covers; then the nearest of each.
        """
        columns = self._full_order(probe)
        if columns is not None:
            # A twin would be equal, and found by its name.
            return Place(None, *columns.neighbours(probe))
        if self._is_walked(probe):
            return super().place(probe, may_have_twin=may_have_twin)
        nodes = self.above(probe)
        parents = lowest_of(nodes)
        if may_have_twin and len(parents) == 1:
            same = self._equivalent(probe, parents)
            if same is not None:
                return Place(same, [], [], nodes)
        return Place(None, parents, highest_of(self.covered(probe)), nodes)

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

        One look at each box, or at each that a sieve leaves.
        """
        if probe.box is None:
            return super().first_above(probe, parent, prefers=prefers, skip=skip)
        if not parent.children:
            return None
        first = None
        for node in _covering(probe, self._sifted(Sieve.above, probe, parent)):
            if prefers is None or prefers(node):
                return node
            first = first or node
        return first

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
        if not parent.children:
            return []
        return list(_covered(probe, self._sifted(Sieve.below, probe, parent)))

    def next_down(
        self, probe: Probe, parent: Node, *, prefers: Callable[[Node], bool] | None = None
    ) -> tuple[Node | None, list[Node]]:
        """Return the first child that covers the item, or else all that the item covers.

        In a short list, one look at each box tells both.
        """
        children = parent.children
        if not children:
            return None, []
        box = probe.box
        plain = box is not None and box[5].exact and not box[4]
        if plain and prefers is None and probe.kind is None:
            above = self._children.sifted(Sieve.above, probe, parent, children)
            compared = _compared(box, above)
            if compared is not None:
                if compared[0] is None and above is not children:
                    return None, self.all_below(probe, parent)
                return compared
        return super().next_down(probe, parent, prefers=prefers)

    def _sifted(self, sift: _Sift, probe: Probe, parent: Node) -> Iterable[Node]:
        """Return the children of a node that may be comparable, in the order of a walk."""
        kind = probe.kind
        if kind is None or parent is not self._links.top:
            return self._children.sifted(sift, probe, parent, parent.children)
        roots = self._links.roots_by_kind
        return chain.from_iterable(
            self._roots.sifted(sift, probe, each, roots.get(each, ())) for each in (None, kind)
        )

    # -- what an interface holds -------------------------------------------------------------------

    def _held_by(self, sift: _Sift, probe: Probe, interface: Hashable) -> Iterable[Node]:
        """Return the nodes of an interface that may be comparable with the item."""
        if self._held is None:
            held = self._held = _Sieves()
            self._links.on_give.append(lambda node, interface: held.came(interface, node))
            self._links.on_take.append(lambda node, interface: held.went(interface, node))
        return self._held.sifted(sift, probe, interface, self._links.holders.get(interface, ()))

    def is_held_above(self, probe: Probe, interface: Hashable) -> bool:
        """Return whether an interface holds a node that covers the item."""
        if probe.box is None:
            return super().is_held_above(probe, interface)
        return any(True for _ in _covering(probe, self._held_by(Sieve.above, probe, interface)))

    def held_below(self, probe: Probe, interface: Hashable, own: Node | None = None) -> list[Node]:
        """Return the nodes that an interface holds and the item covers, in order."""
        if probe.box is None:
            return super().held_below(probe, interface, own)
        found = _covered(probe, self._held_by(Sieve.below, probe, interface))
        return sorted((node for node in found if node is not own), key=_SERIAL)

    def held_in_tree(self, probe: Probe, interface: Hashable, own: Node) -> list[Node]:
        """Return the nodes that an interface holds and that hang below the item's own, in order."""
        if probe.box is None:
            return super().held_in_tree(probe, interface, own)
        # Whatever hangs below is covered, and boxes leave few of all that the interface holds.
        found = self.held_below(probe, interface, own)
        return [node for node in found if hangs_below(node, own)]


# The loops below look at the high ends first: these were made together with their box, and lie
# together in memory. The low ones are those of the constraints; most boxes need no look at them.


def _compared(box: Box, nodes: Iterable[Node]) -> tuple[Node | None, list[Node]] | None:
    """Return the first node around a box, or else all nodes in it; None if shapes differ.

    The box is exact, and of no more than two lines.
    """
    low, high, low2, high2, _, shape, _ = box
    inside = []
    for node in nodes:
        other = node.box
        if other is None or other[5] is not shape:
            return None
        if other[1] <= high:
            if other[3] <= high2 and other[0] <= low and other[2] <= low2:
                return node, []
            if other[1] < high:
                continue
        if high2 <= other[3] and low <= other[0] and low2 <= other[2]:
            inside.append(node)
    return None, inside


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
                (exact or box[6] | gaps == gaps)
                and box[1] <= high
                and box[3] <= high2
                and box[0] <= low
                and box[2] <= low2
                and (not rest or all(map(le, box[4], rest)))
                and (exact or probe.above(node))
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
                (exact or box[6] | gaps == box[6])
                and high <= box[1]
                and high2 <= box[3]
                and low <= box[0]
                and low2 <= box[2]
                and (not rest or all(map(le, rest, box[4])))
                and (exact or probe.below(node))
            )
        else:
            good = box[5].may_lie_in(shape) and box[6] | gaps == box[6] and probe.below(node)
        if good:
            yield node

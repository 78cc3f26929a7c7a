"""Where an item belongs in a table, found from boxes: which index serves which question.

A short list of nodes is scanned box by box. Of a long list a sieve leaves few nodes to scan. There
are sieves for the children of a node, for the roots of a part, for the nodes of an interface and
for all nodes; each is made when its list is first asked about, and follows it from then on. As long
as all nodes have exact boxes, questions about all nodes are answered from a matrix of their ends,
and nothing is left to scan. An item without a box is compared with nodes as in a walk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, le
from threading import Lock
from typing import Final, TypeAlias

from posetlib.graph.change import Item
from posetlib.graph.interface_index import InterfaceIndex
from posetlib.graph.links import Links, LinksObserver
from posetlib.graph.nodes import Node
from posetlib.graph.paths import hangs_below, highest_of, in_order, lowest_of
from posetlib.search.box_matrix import BoxMatrix
from posetlib.search.boxes import Box, contains, tokens_allow
from posetlib.search.candidates import Among, covered_among, covering_among
from posetlib.search.probe import Probe
from posetlib.search.sieve import Sieve
from posetlib.search.walking import Place, WalkingSearch, equivalent_among

__all__ = ["IndexedSearch", "Search", "Shortlist"]

# A list of at least this many nodes gets a sieve: it is faster than a look at each.
_LONG: Final = 40
# The same for an item whose box is still to be made.
_LONG_FOR_LATE: Final = 96
# So many of a longer list are asked first: in a forest where much is covered, one of them is found.
_ASKED_FIRST: Final = 48
# Where that fails more often than not, so many items are sifted at once before it is tried again.
_UNTIL_TRIED_AGAIN: Final = 64
# Of how many successes in a row it is remembered that they were more than the failures.
_MOST_LUCK: Final = 4
# A sieve is dropped when its list is shorter than this, so that sieves do not come and go.
_SHORT: Final = 20
# Lists of which it is remembered what did not help. When there are more, all are forgotten.
_MAX_IDLE: Final = 1024
# Tables of fewer nodes are walked.
_FEW: Final = 64
# Of more nodes than this that a sieve leaves, most answers are had from others.
_FEW_LEFT: Final = 24
# A wide matrix takes longer than a look at this many nodes, and longer than a look at one node for
# every so many of its ends.
_FEWER_THAN_A_MATRIX: Final = 192
_ENDS_PER_LOOK: Final = 2048
# With more nodes than this that have no box, the whole table is walked.
_MAX_BOXLESS: Final = 32

_SERIAL: Final = attrgetter("serial")
#: What a sieve leaves of a list for a box: ``Sieve.above``, ``Sieve.below`` or ``Sieve.meeting``.
_Sift: TypeAlias = Callable[[Sieve, Box], Iterable[Node]]


class _Sieves(dict[Hashable, Sieve]):
    """The sieves of lists that are long and were asked about, by the owner of the list.

    A sieve that holds back little is dropped, until its list is twice as long.
    """

    __slots__ = ("_idle", "_luck")

    def __init__(self) -> None:
        super().__init__()
        #: Owner -> the length from which on its list gets a sieve again.
        self._idle: dict[Hashable, int] = {}
        #: Owner -> by how much more often than not one of the first of its list covered an item;
        #: below zero, how many items are still sifted at once.
        self._luck: dict[Hashable, int] = {}

    def sifted(
        self, sift: _Sift, probe: Probe, owner: Hashable, nodes: Collection[Node]
    ) -> Iterable[Node]:
        """Return those of a list that may be what is asked for: the list itself, if it is short."""
        if len(nodes) < _LONG:
            return nodes
        sieve = self.get(owner)
        if sieve is None:
            if self._idle and len(nodes) < self._idle.get(owner, 0):
                return nodes
            sieve = self[owner] = Sieve(nodes)
        elif len(nodes) < sieve.useless_below:
            del self[owner]
            _remember(self._idle, owner, 2 * len(nodes))
            return nodes
        return sift(sieve, probe.box)

    def first_covering(self, probe: Probe, owner: Hashable, nodes: Sequence[Node]) -> Node | None:
        """Return one of the first of a list that covers the item, before the item's box is made.

        Nobody is asked while that is likely to be in vain, and the box made all the same.
        """
        luck = self._luck.get(owner, 0)
        if luck < 0:
            self._luck[owner] = luck + 1
            return None
        found = next(filter(probe.above, nodes[:_ASKED_FIRST]), None)
        if found is not None:
            luck = min(luck + 1, _MOST_LUCK)
        else:
            luck = luck - 1 if luck else -_UNTIL_TRIED_AGAIN
        _remember(self._luck, owner, luck)
        return found

    def is_short(self, owner: Hashable, nodes: Collection[Node]) -> bool:
        """Return whether to scan a list is faster than to make a box, and to sift by it."""
        return len(nodes) < _LONG_FOR_LATE or len(nodes) < self._idle.get(owner, 0)

    def remove(self, owner: Hashable, node: Node) -> None:
        """Take a node out of a list that has a sieve; it goes when the list has become short."""
        self[owner].remove(node)
        if len(self[owner]) < _SHORT:
            del self[owner]


def _remember(known: dict[Hashable, int], owner: Hashable, value: int) -> None:
    """Note a number for an owner; when there are too many of them, all are forgotten."""
    if len(known) >= _MAX_IDLE and owner not in known:
        known.clear()
    known[owner] = value


class _AllNodes(LinksObserver):
    """Lets a sieve or a matrix of all nodes follow the links."""

    __slots__ = ("index",)

    def __init__(self, links: Links, index: Sieve | BoxMatrix) -> None:
        self.index = index
        links.attach(self)

    def entered(self, node: Node) -> None:
        self.index.add(node)

    def left(self, node: Node) -> None:
        self.index.remove(node)


class _HeldNodes(LinksObserver):
    """Lets the sieves of what each interface holds follow the links."""

    __slots__ = ("sieves",)

    def __init__(self, links: Links) -> None:
        self.sieves = _Sieves()
        links.attach(self)

    def held(self, node: Node, interface: Hashable) -> None:
        if interface in self.sieves:
            self.sieves[interface].add(node)

    def released(self, node: Node, interface: Hashable) -> None:
        if interface in self.sieves:
            self.sieves.remove(interface, node)


class IndexedSearch(LinksObserver):
    """Finds places from boxes where there are any, and by walking where there are none.

    Answers the questions of ``WalkingSearch``, with the same answers in the same order.
    """

    __slots__ = (
        "_children", "_everything", "_held", "_links", "_making", "_matrix", "_roots", "_walking",
    )  # fmt: skip

    def __init__(self, links: Links, interface_index: InterfaceIndex | None) -> None:
        self._links = links
        self._walking = WalkingSearch(links, interface_index)
        self._everything: Sieve | None = None
        self._matrix: BoxMatrix | None = None
        self._children = _Sieves()
        self._roots = _Sieves()
        self._held: _HeldNodes | None = None
        # Several threads may read a table at once: an index that follows the links is made once.
        self._making = Lock()
        links.attach(self)

    # -- following the links -----------------------------------------------------------------------

    def linked(self, parent: Node, child: Node) -> None:
        """Keep the sieves of the parent's children."""
        if parent in self._children:
            self._children[parent].add(child)
        if child.part in self._roots and parent is self._links.top:
            self._roots[child.part].add(child)

    def unlinked(self, parent: Node, child: Node) -> None:
        """Keep the sieves of the parent's children."""
        if parent in self._children:
            self._children.remove(parent, child)
        if child.part in self._roots and parent is self._links.top:
            self._roots.remove(child.part, child)

    # -- any structure -----------------------------------------------------------------------------

    def below(self, node: Node, part: Hashable) -> Sequence[Node]:
        """Return the children of a node that may be comparable with items of a part."""
        return self._walking.below(node, part)

    def satisfying(self, holds: Callable[[Node], bool], part: Hashable) -> list[Node]:
        """Return the nodes for which a condition holds that never holds without all parents."""
        return self._walking.satisfying(holds, part)

    def above(self, probe: Probe) -> list[Node]:
        """Return every node that covers the item; O(n) in one sweep, or sifted."""
        if self._is_walked(probe):
            return self._walking.above(probe)
        matrix = self._full_order(probe)
        if matrix is not None:
            return matrix.above(probe)
        return self._sifted_above(probe).nodes

    def covered(self, probe: Probe) -> list[Node]:
        """Return every node that the item covers; O(n) in one sweep, or sifted."""
        if self._is_walked(probe):
            return self._walking.covered(probe)
        matrix = self._full_order(probe)
        if matrix is not None:
            return matrix.below(probe)
        return self._sifted_below(probe).nodes

    def _sifted_above(self, probe: Probe) -> Among:
        """Return the nodes that cover the item, of those that a sieve leaves."""
        left = list(self._all_nodes().above(probe.box))
        if len(left) > _FEW_LEFT:
            return covering_among(probe, left)
        found = list(_covering(probe, left))
        return Among(found, lowest_of(found))

    def _sifted_below(self, probe: Probe) -> Among:
        """Return the nodes that the item covers, of those that a sieve leaves."""
        left = list(self._all_nodes().below(probe.box))
        if len(left) > _FEW_LEFT:
            return covered_among(probe, left)
        found = list(_covered(probe, left))
        return Among(found, highest_of(found))

    def overlapping(self, probe: Probe) -> list[Node] | None:
        """Return every node that overlaps the item, None if boxes do not tell; O(n), one sweep."""
        matrix = self._full_order(probe)
        return None if matrix is None else matrix.meeting(probe)

    def _is_walked(self, probe: Probe) -> bool:
        """Return whether a walk has fewer nodes to ask."""
        if probe.box is None or len(self._links.nodes) < _FEW:
            return True
        return self._full_order(probe) is None and self._all_nodes().boxless > _MAX_BOXLESS

    def _all_nodes(self) -> Sieve:
        """Return the sieve of all nodes, made when it is first asked for."""
        with self._making:
            if self._everything is None:
                sieve = Sieve(self._links.nodes.values())
                _AllNodes(self._links, sieve)
                self._everything = sieve
        return self._everything

    def covering_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return the items that cover the item, but that of its own node, in order of insertion."""
        matrix = self._full_order(probe)
        if matrix is not None:
            return matrix.covering_items(probe, own)
        return in_order(node for node in self.above(probe) if node is not own)

    def covered_items(self, probe: Probe, own: Node | None) -> tuple[Item, ...]:
        """Return the items that it covers, but that of its own node, in order of insertion."""
        matrix = self._full_order(probe)
        if matrix is not None:
            return matrix.covered_items(probe, own)
        return in_order(node for node in self.covered(probe) if node is not own)

    def equivalent(self, probe: Probe) -> Node | None:
        """Return the node that the item covers and that covers the item."""
        if self._is_walked(probe):
            return self._walking.equivalent(probe)
        if self._full_order(probe) is not None:
            return equivalent_among(probe, lowest_of(self.above(probe)))
        left = self._all_nodes().around_and_inside(probe.box)
        return next((node for node in left if probe.above(node) and probe.below(node)), None)

    # -- the full order ----------------------------------------------------------------------------

    def _full_order(self, one: Node | Probe) -> BoxMatrix | None:
        """Return the matrix of all nodes, if it alone tells how one is related to them.

        Made when it is first asked for.
        """
        if one.box is None or not one.box.shape.exact or len(self._links.nodes) < _FEW:
            return None
        matrix = self._matrix
        if matrix is None:
            with self._making:
                matrix = self._matrix or BoxMatrix(self._links.nodes.values())
                if self._matrix is None:
                    _AllNodes(self._links, matrix)
                    self._matrix = matrix
        return matrix if matrix.all_exact else None

    def place(self, probe: Probe, *, may_have_twin: bool = True) -> Place:
        """Return the place of an item that has no node by its own name.

        One sweep for all that covers it and one for all that it covers; then the nearest of each.
        """
        matrix = self._full_order(probe)
        if matrix is not None and not (
            matrix.is_wide and self._few_are_left(probe, matrix.number_of_ends)
        ):
            # A twin would have an equal box, so it would be equal, and found by its hash.
            return Place(None, *matrix.neighbours(probe))
        if self._is_walked(probe):
            return self._walking.place(probe, may_have_twin=may_have_twin)
        above, parents = self._sifted_above(probe)
        if may_have_twin and len(parents) == 1:
            same = equivalent_among(probe, parents)
            if same is not None:
                return Place(same, [], [], above)
        return Place(None, parents, self._sifted_below(probe).nearest, above)

    def _few_are_left(self, probe: Probe, ends: int) -> bool:
        """Return whether a sieve leaves so few nodes that they are faster than a wide matrix."""
        sieve = self._all_nodes()
        above, below = sieve.bits_above(probe.box), sieve.bits_below(probe.box)
        few = max(_FEWER_THAN_A_MATRIX, ends // _ENDS_PER_LOOK)
        return above.bit_count() + below.bit_count() <= few

    def strictly_above(self, node: Node) -> Iterable[Node]:
        """Return every node above a node of a full order: from the matrix, or by the links."""
        matrix = self._full_order(node)
        if matrix is not None:
            return matrix.strictly_above(node)
        return self._walking.strictly_above(node)

    def strictly_below(self, node: Node) -> Iterable[Node]:
        """Return every node below a node of a full order: from the matrix, or by the links."""
        matrix = self._full_order(node)
        if matrix is not None:
            return matrix.strictly_below(node)
        return self._walking.strictly_below(node)

    def to_be_joined(self, parents: list[Node], children: list[Node]) -> list[tuple[Node, Node]]:
        """Return the pairs of a parent and a child that no path joins, of a node that is cut out.

        The matrix tells whether a parent covers another parent of the child.
        """
        matrix = self._full_order(children[0]) if children else None
        others = [other for child in children for other in child.parents]
        if matrix is None or parents[0] is self._links.top or not others:
            return self._walking.to_be_joined(parents, children)
        # A path from a child up to a parent leads over another parent of the child.
        over = matrix.contains(parents, others)
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

        One look at each box, or at each that a sieve leaves. Boxes make ``skip`` superfluous:
        children that do not cover the item are not returned.
        """
        children = parent.children
        box = probe.box
        if box is None or (box.is_late and self._children.is_short(parent, children)):
            return self._walking.first_above(probe, parent, prefers=prefers, skip=skip)
        if not children:
            return None
        if box.is_late and prefers is None and probe.part is None and not skip:
            found = self._children.first_covering(probe, parent, children)
            if found is not None:
                return found
        left = self._sifted(Sieve.above, probe, parent)
        if left is children and not box.shape.decides:
            # Their boxes tell little more than a test does.
            return self._walking.first_above(probe, parent, prefers=prefers, skip=skip)
        first = None
        for node in _covering(probe, left):
            if prefers is None or prefers(node):
                return node
            first = first or node
        return first

    def all_above(self, probe: Probe, parent: Node) -> list[Node]:
        """Return the children of a node that cover the item, in order."""
        if probe.box is None:
            return self._walking.all_above(probe, parent)
        return list(_covering(probe, self._sifted(Sieve.above, probe, parent)))

    def meeting(self, probe: Probe, parent: Node) -> Iterable[Node]:
        """Return the children of a node that may overlap the item, in order; no test."""
        if probe.box is None:
            return self._walking.meeting(probe, parent)
        return self._sifted(Sieve.meeting, probe, parent)

    def all_below(
        self,
        probe: Probe,
        parent: Node,
        *,
        among: Iterable[Node] | None = None,
        skip: Collection[Node] = (),
    ) -> list[Node]:
        """Return the children of a node that the item covers, in order."""
        children = parent.children
        box = probe.box
        if box is None or among is not None or (box.is_late and len(children) < _LONG):
            return self._walking.all_below(probe, parent, among=among, skip=skip)
        if not children:
            return []
        left = self._sifted(Sieve.below, probe, parent)
        if left is children and not box.shape.decides:
            return self._walking.all_below(probe, parent, skip=skip)
        return list(_covered(probe, left))

    def next_down(
        self, probe: Probe, parent: Node, *, prefers: Callable[[Node], bool] | None = None
    ) -> tuple[Node | None, list[Node]]:
        """Return the first child that covers the item, or else all that the item covers.

        In a short list of exact boxes, one look at each tells both.
        """
        children = parent.children
        if not children:
            return None, []
        box = probe.box
        if box is None or box.is_late:
            if box is not None and not self._children.is_short(parent, children):
                return self._next_down_sifted(probe, parent, prefers)
            if prefers is not None or probe.part is not None:
                return self._walking.next_down(probe, parent, prefers=prefers)
            # The same without its calls: on a way down through short lists, these are much of it.
            child = next(filter(probe.above, children), None)
            return child, [] if child is not None else list(filter(probe.below, children))
        if prefers is None and probe.part is None and box.shape.exact and not box.more_ends:
            left = self._children.sifted(Sieve.above, probe, parent, children)
            compared = _compared(box, left)
            if compared is not None:
                if compared[0] is None and left is not children:
                    # The sieve left those that may cover the item, not those that it may cover.
                    return None, self.all_below(probe, parent)
                return compared
        return self._next_down_sifted(probe, parent, prefers)

    def _next_down_sifted(
        self, probe: Probe, parent: Node, prefers: Callable[[Node], bool] | None
    ) -> tuple[Node | None, list[Node]]:
        """Return what ``next_down`` does, from what sieves leave: first above, and then below."""
        child = self.first_above(probe, parent, prefers=prefers)
        return child, [] if child is not None else self.all_below(probe, parent)

    def only_branch(self, probe: Probe) -> Node | None:
        """Return the lowest node that covers the item, if all that cover it are above that one.

        None if there is no such node, or if this is not known without a test.
        """
        if probe.box is None or probe.box.is_late:
            return None
        matrix = self._full_order(probe)
        if matrix is not None and not matrix.is_wide:
            lowest, count = matrix.chain_above(probe)
        elif not self._is_walked(probe) and probe.box.shape.decides:
            above = self._sifted_above(probe)
            lowest, count = above.nearest, len(above.nodes)
        else:
            return None
        if len(lowest) != 1:
            return None
        # A covering node has covering ancestors only.
        node = lowest[0]
        while node.parents:
            node = node.parents[0]
            count -= 1
        return None if count else lowest[0]

    def _sifted(self, sift: _Sift, probe: Probe, parent: Node) -> Iterable[Node]:
        """Return the children of a node that may be comparable, in the order of a walk."""
        part = probe.part
        if part is None or parent is not self._links.top:
            return self._children.sifted(sift, probe, parent, parent.children)
        roots = self._links.roots_by_part
        return chain.from_iterable(
            self._roots.sifted(sift, probe, each, roots.get(each, ())) for each in (None, part)
        )

    # -- what an interface holds -------------------------------------------------------------------

    def _held_by(self, sift: _Sift, probe: Probe, interface: Hashable) -> Iterable[Node]:
        """Return the nodes of an interface that may be comparable with the item."""
        if self._held is None:
            self._held = _HeldNodes(self._links)
        nodes = self._links.holders.get(interface, ())
        return self._held.sieves.sifted(sift, probe, interface, nodes)

    def is_held_above(self, probe: Probe, interface: Hashable) -> bool:
        """Return whether an interface holds a node that covers the item."""
        if probe.box is None:
            return self._walking.is_held_above(probe, interface)
        return any(True for _ in _covering(probe, self._held_by(Sieve.above, probe, interface)))

    def held_meeting(self, probe: Probe, interface: Hashable) -> Iterable[Node]:
        """Return the nodes of an interface that may overlap the item; no test."""
        if probe.box is None:
            return self._walking.held_meeting(probe, interface)
        return self._held_by(Sieve.meeting, probe, interface)

    def held_below(self, probe: Probe, interface: Hashable, own: Node | None = None) -> list[Node]:
        """Return the nodes that an interface holds and the item covers, in order."""
        if probe.box is None:
            return self._walking.held_below(probe, interface, own)
        found = _covered(probe, self._held_by(Sieve.below, probe, interface))
        return sorted((node for node in found if node is not own), key=_SERIAL)

    def held_in_tree(self, probe: Probe, interface: Hashable, own: Node) -> list[Node]:
        """Return the nodes that an interface holds and that hang below the item's own, in order."""
        if probe.box is None:
            return self._walking.held_in_tree(probe, interface, own)
        # Whatever hangs below is covered, and boxes leave few of all that the interface holds.
        found = self.held_below(probe, interface, own)
        return [node for node in found if hangs_below(node, own)]


#: The search of a table: both answer the same questions alike.
Search: TypeAlias = WalkingSearch | IndexedSearch


class Shortlist:
    """Some nodes of a table that its user chooses, asked which of them an item covers."""

    __slots__ = ("_nodes", "_sieves")

    def __init__(self) -> None:
        self._nodes: dict[Node, None] = {}
        self._sieves = _Sieves()

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, node: Node) -> bool:
        return node in self._nodes

    def add(self, node: Node) -> None:
        """Put a node on the list that is not there."""
        self._nodes[node] = None
        if self in self._sieves:
            self._sieves[self].add(node)

    def remove(self, node: Node) -> None:
        """Take a node off the list."""
        del self._nodes[node]
        if self in self._sieves:
            self._sieves.remove(self, node)

    def below(self, probe: Probe) -> list[Node]:
        """Return the nodes of the list that the item covers; sifted if the list is long."""
        if probe.box is None:
            return [node for node in self._nodes if probe.below(node)]
        return list(_covered(probe, self._sieves.sifted(Sieve.below, probe, self, self._nodes)))


# The loops below compare high ends first: they were made together with their box, and lie together
# in memory. Low ends are the objects of the constraints; most boxes need no look at them.


def _compared(box: Box, nodes: Iterable[Node]) -> tuple[Node | None, list[Node]] | None:
    """Return the first node around a box, or else all nodes in it; None if shapes differ.

    The box is exact, and has no more than two axes.
    """
    low, minus_high, low2, minus_high2 = box.low, box.minus_high, box.low2, box.minus_high2
    shape = box.shape
    inside = []
    for node in nodes:
        other = node.box
        if other is None or other.shape is not shape:
            return None
        if other.minus_high <= minus_high:
            if other.minus_high2 <= minus_high2 and other.low <= low and other.low2 <= low2:
                return node, []
            if other.minus_high < minus_high:
                continue
        if minus_high2 <= other.minus_high2 and low <= other.low and low2 <= other.low2:
            inside.append(node)
    return None, inside


def _covering(probe: Probe, nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes that cover an item: by their boxes, and by tests where these do not tell."""
    mine = probe.box
    low, minus_high, low2, minus_high2 = mine.low, mine.minus_high, mine.low2, mine.minus_high2
    more_ends, shape = mine.more_ends, mine.shape
    exact, decides, loose = shape.exact, shape.decides, shape.loose
    for node in nodes:
        box = node.box
        if box is None:
            good = probe.above(node)
        elif box.shape is shape and not loose:
            good = (
                box.minus_high <= minus_high
                and box.minus_high2 <= minus_high2
                and box.low <= low
                and box.low2 <= low2
                and (not more_ends or all(map(le, box.more_ends, more_ends)))
                and (
                    exact
                    or (decides and contains(box, mine))
                    or (not decides and tokens_allow(box, mine) and probe.above(node))
                )
            )
        elif decides and box.shape.decides:
            good = contains(box, mine)
        else:
            good = shape.may_lie_in(box.shape) and tokens_allow(box, mine) and probe.above(node)
        if good:
            yield node


def _covered(probe: Probe, nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes that an item covers: by their boxes, and by tests where these do not tell."""
    mine = probe.box
    low, minus_high, low2, minus_high2 = mine.low, mine.minus_high, mine.low2, mine.minus_high2
    more_ends, shape = mine.more_ends, mine.shape
    exact, decides, loose = shape.exact, shape.decides, shape.loose
    for node in nodes:
        box = node.box
        if box is None:
            good = probe.below(node)
        elif box.shape is shape and not loose:
            good = (
                minus_high <= box.minus_high
                and minus_high2 <= box.minus_high2
                and low <= box.low
                and low2 <= box.low2
                and (not more_ends or all(map(le, more_ends, box.more_ends)))
                and (
                    exact
                    or (decides and contains(mine, box))
                    or (not decides and tokens_allow(mine, box) and probe.below(node))
                )
            )
        elif decides and box.shape.decides:
            good = contains(mine, box)
        else:
            good = box.shape.may_lie_in(shape) and tokens_allow(mine, box) and probe.below(node)
        if good:
            yield node

"""The filters poset: the full order, as its Hasse diagram [T 3.2, Alg. 1]."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final, Self

from posetlib.arrays.building import surviving_pairs, whole_order
from posetlib.arrays.ranges import Ranges
from posetlib.graph.nodes import Node
from posetlib.graph.paths import in_order
from posetlib.search.box_matrix import upright
from posetlib.search.boxes import Axis, Box
from posetlib.tables.item_type import ItemT
from posetlib.tables.promises import Elimination, Promises, Shape
from posetlib.tables.structures import register_structure
from posetlib.tables.table import Table

__all__ = ["FiltersPoset"]

# A whole poset is built from arrays of its boxes up to this many filters: the order takes a bit for
# each pair of them, an eighth of a gigabyte.
_MAX_AT_ONCE: Final = 32_768
# Boxes on more axes than these are not put into one array: most of it would say nothing.
_MAX_AXES: Final = 64


@register_structure
class FiltersPoset(Table[ItemT]):
    """Every immediate predecessor and successor, and no edge that two others imply.

    No interface holds two comparable filters: an add that is covered by its own interface changes
    nothing, and any other takes the interface from all that the new filter covers. An add costs a
    covering test for each filter that has only coverers of the new one above it, and for each that
    lies below one of its new parents; a remove costs none.

    >>> t = FiltersPoset(covers=frozenset.issuperset)
    >>> big, small = frozenset("abc"), frozenset("a")
    >>> t.add(small, "I1").roots_added == (small,)
    True
    >>> t.add(big, "I2").moved == (small,)
    True
    >>> t.remove(big, "I2").roots_added == (small,)
    True
    """

    structure = "fp"
    promises = Promises("Filters poset", Shape.ORDER, Elimination.EVERYWHERE, forwards="poset")

    @classmethod
    def build(cls, pairs: Iterable[tuple[ItemT, Hashable]], **options: Any) -> Self:
        """Return a table of many pairs; the same as adding them in order.

        With an index, filters of closed ranges are compared all at once: n² / 2 pairs of them, 64
        at a time, and no covering test.
        """
        table = cls._made(options)
        known = list(pairs)
        if not table._load_at_once(known):
            for item, interface in known:
                table.add(item, interface)
        return table

    def _load_at_once(self, pairs: list[tuple[ItemT, Hashable]]) -> bool:
        """Load an empty table, if all filters have exact boxes; return whether it did."""
        numbers: dict[ItemT, int] = {}
        boxes: list[Box] = []
        axes: dict[Axis, None] = {}
        if self._box_reader is None:
            return False
        for item, _ in pairs:
            if item not in numbers:
                box = self._box_reader.read(item)
                if box is None or not box.shape.exact or len(boxes) == _MAX_AT_ONCE:
                    return False
                if box.shape.open_ends:
                    # The arrays have closed ranges only.
                    return False
                axes.update(dict.fromkeys(box.shape.axes))
                if len(axes) > _MAX_AXES:
                    return False
                numbers[item] = len(boxes)
                boxes.append(box)
        rows = {axis: 2 * i for i, axis in enumerate(axes)}
        ends = upright(boxes, rows)
        ranges = Ranges(
            {axis: ends[row] for axis, row in rows.items()},
            {axis: -ends[row + 1] for axis, row in rows.items()},
            len(boxes),
        )
        held = surviving_pairs(ranges, [(numbers[item], interface) for item, interface in pairs])
        items = list(numbers)
        parents, children = whole_order(ranges.take([number for number, _ in held]))
        self._load(
            [(items[number], interfaces) for number, interfaces in held],
            zip(parents.tolist(), children.tolist(), strict=True),
        )
        return True

    def _add(self, item: ItemT, interface: Hashable) -> None:
        links = self._links
        node = links.find(item)
        if node is not None:
            if self._held_above(node, interface):
                return
        else:
            probe = self._probe(item)
            if (
                self._uses_index
                and interface in links.holders
                and self._search.is_held_above(probe, interface)
            ):
                # With a sieve of the interface's filters, this is faster than to find the place.
                return
            place = self._search.place(probe, may_have_twin=self._may_have_twin(probe))
            if interface in links.holders and any(
                interface in above.interfaces for above in place.above
            ):
                return
            node = place.equivalent
            if node is None:
                node = links.enter(item, probe.traits)
                self._insert(node, place.parents, place.children)
            else:
                links.alias(node, item)
        links.hold(node, interface)
        self._withdraw(self._holding_below(node, interface), interface)

    def covering(self, item: ItemT) -> tuple[ItemT, ...]:
        """Return every filter of the table that strictly covers a filter, in order of insertion.

        Without an index, no test for a filter that is in the table.
        """
        node = self._links.find(item)
        if node is None or self._uses_index:
            return super().covering(item)
        return in_order(self._search.strictly_above(node))

    def covered(self, item: ItemT) -> tuple[ItemT, ...]:
        """Return every filter of the table that a filter strictly covers, in order of insertion.

        Without an index, no test for a filter that is in the table.
        """
        node = self._links.find(item)
        if node is None or self._uses_index:
            return super().covered(item)
        return in_order(self._search.strictly_below(node))

    def _held_above(self, node: Node, interface: Hashable) -> bool:
        """Return whether an interface holds a node or one above it, by the links alone."""
        holders = self._links.holders.get(interface)
        if holders is None:
            return False
        return node in holders or any(each in holders for each in self._search.strictly_above(node))

    def _holding_below(self, node: Node, interface: Hashable) -> list[Node]:
        """Return the nodes strictly below one that an interface holds, by the links alone."""
        holders = self._links.holders[interface]
        if len(holders) == 1:
            return []
        found = [each for each in self._search.strictly_below(node) if each in holders]
        return sorted(found, key=lambda each: each.serial)

    def _insert(self, node: Node, parents: list[Node], children: list[Node]) -> None:
        """Put a node between its immediate predecessors and successors."""
        links = self._links
        above = set(parents) or {links.top}
        for child in children:
            if not above.isdisjoint(child.parents):
                for parent in [each for each in child.parents if each in above]:
                    links.unlink(parent, child)
        for parent in sorted(above, key=lambda each: each.serial):
            links.link(parent, node)
        for child in children:
            links.link(node, child)

    def _dissolve(self, empty: list[Node]) -> None:
        for node in empty:
            self._cut_out(node)

    def _cut_out(self, node: Node) -> None:
        """Unlink a node; a predecessor and a successor are joined if no other path joins them."""
        links = self._links
        parents, children = list(node.parents), list(node.children)
        for parent in parents:
            links.unlink(parent, node)
        for child in children:
            links.unlink(node, child)
        for parent, child in self._search.to_be_joined(parents, children):
            links.link(parent, child)
        links.leave(node)

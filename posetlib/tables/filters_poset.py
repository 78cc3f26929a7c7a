"""The filters poset: the full order, as its Hasse diagram [T 3.2, Alg. 1]."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final, Self

from posetlib.arrays.building import surviving_pairs, whole_order
from posetlib.graph.nodes import Node
from posetlib.graph.paths import in_order
from posetlib.tables.item_type import ItemT
from posetlib.tables.promises import Elimination, Promises, Shape
from posetlib.tables.structures import register_structure
from posetlib.tables.table import Table
from posetlib.tables.updating import Pairs, exact_ranges

__all__ = ["FiltersPoset"]

# A whole poset is built from arrays of its boxes up to this many filters: the order takes a bit for
# each pair of them, an eighth of a gigabyte.
_MAX_AT_ONCE: Final = 32_768
# Fewer pairs than this are added one by one.
_FEW: Final = 64


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
        arranged = self._arranged(pairs)
        if arranged is None:
            return False
        held, parents, children = arranged
        self._load(held, zip(parents, children, strict=True))
        return True

    def _arranged(
        self, pairs: list[tuple[ItemT, Hashable]]
    ) -> tuple[list[tuple[ItemT, list[Hashable]]], list[int], list[int]] | None:
        """Return the filters that pairs leave, with interfaces, and the numbers of linked ones.

        From arrays; None if the filters are too many, or not all boxes are exact and closed.
        """
        items = dict.fromkeys(item for item, _ in pairs)
        known = exact_ranges(self._box_reader, items) if len(items) <= _MAX_AT_ONCE else None
        if known is None:
            return None
        numbers, ranges = known
        held = surviving_pairs(ranges, [(numbers[item], interface) for item, interface in pairs])
        listed = list(numbers)
        parents, children = whole_order(ranges.take([number for number, _ in held]))
        rows = [(listed[number], interfaces) for number, interfaces in held]
        return rows, parents.tolist(), children.tolist()

    def _update(self, pairs: Pairs) -> None:
        """Bring many pairs in: as arrays, if they are at least as many as the filters here."""
        if len(pairs) < max(len(self._links.nodes), _FEW) or self._links.aliases:
            arranged = None
        else:
            arranged = self._arranged([*self.entries(), *pairs])
        if arranged is None:
            super()._update(pairs)
        else:
            self._become(*arranged)

    def _become(
        self, held: list[tuple[ItemT, list[Hashable]]], parents: list[int], children: list[int]
    ) -> None:
        """Change nodes, interfaces and links to those given, one step for each difference."""
        links = self._links
        stay: dict[Node, None] = {}
        for item, _ in held:
            node = links.nodes.get(item)
            if node is None or (stay and node.serial < next(reversed(stay)).serial):
                # From here on all come in this order, also one that was here and came again.
                break
            stay[node] = None
        for node in [each for each in links.nodes.values() if each not in stay]:
            self._take_out(node)
        nodes = list(stay)
        nodes += [links.enter(item, self._traits(item)) for item, _ in held[len(nodes) :]]
        above: list[set[Node]] = [set() for _ in nodes]
        for parent, child in zip(parents, children, strict=True):
            above[child].add(nodes[parent])
        for node, (_, interfaces), nearest in zip(nodes, held, above, strict=True):
            for interface in [each for each in interfaces if each not in node.interfaces]:
                links.hold(node, interface)
            for interface in [each for each in node.interfaces if each not in interfaces]:
                links.release(node, interface)
            wanted = nearest or {links.top}
            for other in [each for each in node.parents if each not in wanted]:
                links.unlink(other, node)
            for other in sorted(wanted.difference(node.parents), key=lambda each: each.serial):
                links.link(other, node)

    def _take_out(self, node: Node) -> None:
        """Unlink and forget a node, without joining what it held together."""
        links = self._links
        for parent in list(node.parents):
            links.unlink(parent, node)
        for child in list(node.children):
            links.unlink(node, child)
        for interface in list(node.interfaces):
            links.release(node, interface)
        links.leave(node)

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

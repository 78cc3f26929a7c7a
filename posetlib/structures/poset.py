"""The filters poset: the full order, as its Hasse diagram [T 3.2, Alg. 1]."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

from posetlib import bulk
from posetlib.boxes import Box
from posetlib.change import Item, Pair
from posetlib.nodes import Node
from posetlib.search import in_order
from posetlib.structures.base import Table

__all__ = ["FiltersPoset"]


class FiltersPoset(Table):
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

    @classmethod
    def build(cls, pairs: Iterable[Pair], **options: Any) -> Self:
        """Return a table of many pairs; the same as adding them in order.

        With an index, closed ranges are compared in one sweep: n² / 2 pairs, and no tests.
        """
        table = cls(**options)
        known = list(pairs)
        if not table._load_at_once(known):
            for item, interface in known:
                table.add(item, interface)
        return table

    def _load_at_once(self, pairs: list[Pair]) -> bool:
        """Load an empty table, if all filters have boxes that say all; return whether it did."""
        if self._reader is None:
            return False
        numbers: dict[Item, int] = {}
        boxes: list[Box] = []
        for item, _ in pairs:
            if item not in numbers:
                box = self._reader.read(item)
                if box is None or not box[5].exact or len(boxes) == bulk.MOST:
                    return False
                numbers[item] = len(boxes)
                boxes.append(box)
        ends = bulk.ends_of(boxes)
        if ends is None:
            return False
        held = bulk.survivors(ends, [(numbers[item], interface) for item, interface in pairs])
        items = list(numbers)
        self._load(
            [(items[number], interfaces) for number, interfaces in held],
            bulk.edges_of(ends[:, [number for number, _ in held]]),
        )
        return True

    def _add(self, item: Item, interface: Hashable) -> None:
        links = self._links
        node = links.find(item)
        if node is not None:
            if self._held_above(node, interface):
                return
        else:
            probe = self._probe(item)
            if (
                self._indexed
                and interface in links.holders
                and self._search.is_held_above(probe, interface)
            ):
                # With a sieve of what the interface holds, that is known sooner than the place.
                return
            place = self._search.place(probe, may_have_twin=not self._is_surely_new(probe))
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
        links.give(node, interface)
        self._withdraw(self._holding_below(node, interface), interface)

    def covering(self, item: Item) -> tuple[Item, ...]:
        """Return every filter of the table that strictly covers a filter, in order of insertion.

        Without an index, no test for a filter that is in the table.
        """
        node = self._links.find(item)
        if node is None or self._indexed:
            return super().covering(item)
        return in_order(self._search.strictly_above(node))

    def covered(self, item: Item) -> tuple[Item, ...]:
        """Return every filter of the table that a filter strictly covers, in order of insertion.

        Without an index, no test for a filter that is in the table.
        """
        node = self._links.find(item)
        if node is None or self._indexed:
            return super().covered(item)
        return in_order(self._search.strictly_below(node))

    def _held_above(self, node: Node, interface: Hashable) -> bool:
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

"""Two ways to keep a forest that the thesis proposes, to see whether they pay.

Elimination inside the removal [T 4.4]: an add looks for nothing of its own interface, and a removal
takes all that its filter covers from the interface. That is a local forest, and `remove_covered`.

Siblings by size [T 3.4]: an add tries the children with the smallest subtrees first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from posetlib.generating.thesis_loads import Scenario
from posetlib.graph.links import Links, LinksObserver
from posetlib.graph.nodes import Node
from posetlib.search.probe import Probe
from posetlib.tables import PosetForest, Table, make_table

__all__ = ["WAYS", "eliminating_in", "size_ordered"]


class SubtreeSizes(LinksObserver):
    """How many nodes hang from each node, itself included; kept up to the root at every step."""

    def __init__(self, links: Links) -> None:
        self.of: dict[Node, int] = {links.top: 1}
        #: Nodes whose size was changed: what it costs to keep them.
        self.steps = 0
        links.attach(self)

    def entered(self, node: Node) -> None:
        self.of[node] = 1

    def left(self, node: Node) -> None:
        del self.of[node]

    def linked(self, parent: Node, child: Node) -> None:
        self._change(parent, self.of[child])

    def unlinked(self, parent: Node, child: Node) -> None:
        self._change(parent, -self.of[child])

    def _change(self, node: Node, by: int) -> None:
        while True:
            self.of[node] += by
            self.steps += 1
            if not node.parents:
                return
            node = node.parents[0]


class SizeOrderedForest(PosetForest):
    """A forest whose adds try the children in order of the size of their subtrees."""

    structure = "sizes"
    #: 1 to try the smallest subtree first, as the thesis proposes; -1 for the largest.
    sign = 1

    def _reset(self, *about: Any) -> None:
        super()._reset(*about)
        self.sizes = SubtreeSizes(self._links)

    def _descend(
        self, probe: Probe, interface: Hashable, holds_some: bool
    ) -> tuple[Node, list[Node]] | None:
        of, sign = self.sizes.of, self.sign
        parent = self._links.top
        while True:
            child, fall = self._search.next_down(
                probe,
                parent,
                prefers=lambda node: -sign * of[node],  # type: ignore[arg-type, return-value]
            )
            if child is None:
                return parent, fall
            parent = child


class LargestFirstForest(SizeOrderedForest):
    """The same with the largest subtree first."""

    structure = "largest"
    sign = -1


def size_ordered() -> dict[str, Table]:
    """Return local forests that differ in the order of siblings, by name; they walk."""
    return {
        "in order of insertion": PosetForest(local=True, index=False),
        "smallest first": SizeOrderedForest(local=True, index=False),
        "largest first": LargestFirstForest(local=True, index=False),
    }


#: Where an interface's redundant filters go: when one is added that covers them, or removed.
WAYS = ("on add (nrf)", "on removal")


def eliminating_in(way: str, load: Scenario) -> tuple[float, float, int]:
    """Return the covering tests of an add, of a replacement, and the most filters held."""
    on_add = way == WAYS[0]
    table: Table = (
        make_table("nrf", index=False) if on_add else make_table("pf", local=True, index=False)
    )
    remove: Callable[..., object] = table.discard if on_add else table.remove_covered
    for item, interface in load.added:
        table.add(item, interface)
    largest = len(table)
    tests = table.counters.covering_tests
    for old, interface, new in load.replaced:
        remove(old, interface)
        table.add(new, interface)
        largest = max(largest, len(table))
    return (
        tests / len(load.added),
        (table.counters.covering_tests - tests) / max(len(load.replaced), 1),
        largest,
    )

"""One item held against the nodes of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posetlib.graph.change import Item
from posetlib.graph.counters import Counters
from posetlib.graph.nodes import Node, Traits
from posetlib.search.relation import Relation

__all__ = ["Probe"]


class Probe:
    """An item that asks nodes whether they cover it: each question is put to the relation once.

    ``above(node)``: does the node cover the item? ``below(node)``: does the item cover the node?
    Every call of the relation is counted, and none is made for items of two parts.
    """

    __slots__ = (
        "_above", "_below", "_column", "_counters", "_covers", "box", "canonical", "item", "part",
        "traits",
    )  # fmt: skip

    def __init__(
        self, relation: Relation[Any], counters: Counters, item: Item, traits: Traits
    ) -> None:
        self.item = item
        self.traits = traits
        self.part, self.canonical, self.box = traits
        self._column: NDArray[np.float64] | None = None
        self._covers = relation.covers
        self._counters = counters
        self._above: dict[Node, bool] = {}
        self._below: dict[Node, bool] = {}

    @property
    def column(self) -> NDArray[np.float64]:
        """The ends of the box as a column, to be compared with the columns of a matrix."""
        if self._column is None:
            self._column = np.array(self.box.ends())[:, None]
        return self._column

    def above(self, node: Node) -> bool:
        """Return whether the node covers the item."""
        known = self._above.get(node)
        if known is None:
            if self.part is not None and node.part is not None and node.part != self.part:
                return False
            self._counters.covering_tests += 1
            known = self._above[node] = bool(self._covers(node.item, self.item))
        return known

    def below(self, node: Node) -> bool:
        """Return whether the item covers the node."""
        known = self._below.get(node)
        if known is None:
            if self.part is not None and node.part is not None and node.part != self.part:
                return False
            self._counters.covering_tests += 1
            known = self._below[node] = bool(self._covers(self.item, node.item))
        return known

"""Whether a document has what a path asks for: one pass over its nodes, from the leaves up."""

from __future__ import annotations

from typing import Any, Final

from posetlib.bits import places_in
from posetlib.filters.filter import Filter
from posetlib.models.documents import Document
from posetlib.models.path_patterns import Edge, PatternNode

__all__ = ["PathMatcher"]


class PathMatcher:
    """A path as bits, one for each step: O(nodes of a document × steps), whatever the path.

    A step *holds* at a node if the node has its name and meets its condition, and if the steps that
    follow hold at its children, or anywhere below it. Trying one place after the other would take
    exponential time for paths such as ``//a//a//a//b``.
    """

    __slots__ = (
        "_any_name",
        "_by_name",
        "_conditions",
        "_guards",
        "_in_child",
        "_in_descendant",
        "_wanted",
    )

    def __init__(self, root: PatternNode) -> None:
        self._conditions: Final[list[Filter | None]] = []
        #: For each step, the steps that must hold at a child, and those anywhere below.
        self._in_child: Final[list[int]] = []
        self._in_descendant: Final[list[int]] = []
        #: The steps that nodes of any name may meet, and those for each name together with these.
        self._any_name = 0
        self._by_name: Final[dict[str, int]] = {}
        #: The names and conditions of the steps that others follow.
        self._guards: Final = [
            (node.name, node.condition)
            for node, _, _ in root.below
            if node.condition is not None and node.edges
        ]
        names: list[str | None] = []
        in_child, in_descendant = self._enter_all(root, names)
        #: What must hold below the root of a document.
        self._wanted: Final = (in_child, in_descendant)
        for number, name in enumerate(names):
            if name is None:
                self._any_name |= 1 << number
        for number, name in enumerate(names):
            if name is not None:
                self._by_name[name] = self._by_name.get(name, self._any_name) | 1 << number

    def _enter_all(self, node: PatternNode, names: list[str | None]) -> tuple[int, int]:
        """Enter all that lies below a node; return its steps at children, and anywhere below."""
        in_child = in_descendant = 0
        for edge in node.edges:
            bit = self._enter(edge, names)
            if edge.exact:
                in_child |= bit
            else:
                in_descendant |= bit
        return in_child, in_descendant

    def _enter(self, edge: Edge, names: list[str | None]) -> int:
        """Enter the steps of an edge, one for each level; return the bit of the first."""
        below = (0, 0)
        bit = 0
        if edge.node is not None:
            below = self._enter_all(edge.node, names)
            bit = self._new_step(edge.node.name, edge.node.condition, below, names)
            below = (bit, 0)
        for _ in range(edge.gap - (edge.node is not None)):
            bit = self._new_step(None, None, below, names)
            below = (bit, 0)
        return bit

    def _new_step(
        self,
        name: str | None,
        condition: Filter | None,
        below: tuple[int, int],
        names: list[str | None],
    ) -> int:
        names.append(name)
        self._conditions.append(condition)
        self._in_child.append(below[0])
        self._in_descendant.append(below[1])
        return 1 << (len(names) - 1)

    def matches(self, document: Document) -> bool:
        """Return whether the document has what the path asks for."""
        names, parents, records = document.names, document.parents, document.records
        # For each node, the steps that hold at a child of it, and anywhere below it. The last place
        # is that of the root, whose number is -1.
        at_child = [0] * (len(names) + 1)
        at_descendant = [0] * (len(names) + 1)
        by_name, any_name = self._by_name, self._any_name
        for node in range(len(names) - 1, -1, -1):
            possible = by_name.get(names[node], any_name)
            descendants = at_descendant[node]
            here = 0
            if possible:
                here = self._holding(possible, at_child[node], descendants, records[node])
            parent = parents[node]
            at_child[parent] |= here
            at_descendant[parent] |= here | descendants
        return self._is_met(at_child[-1], at_descendant[-1])

    def mapped(self, document: Document) -> list[int]:
        """Return the nodes to which the path can be mapped, none if the document does not match.

        A node is among them if a step holds there, and all steps before it hold on the way there.
        """
        count = len(document)
        here = [0] * count
        at_child, at_descendant = [0] * (count + 1), [0] * (count + 1)
        parents = document.parents
        for node in range(count - 1, -1, -1):
            possible = self._by_name.get(document.names[node], self._any_name)
            here[node] = self._holding(
                possible, at_child[node], at_descendant[node], document.records[node]
            )
            at_child[parents[node]] |= here[node]
            at_descendant[parents[node]] |= here[node] | at_descendant[node]
        if not self._is_met(at_child[-1], at_descendant[-1]):
            return []
        # From the root down: the steps that are wanted of children, and of all nodes below. The
        # last place is that of the root.
        of_child, of_descendant = [0] * (count + 1), [0] * (count + 1)
        of_child[-1], of_descendant[-1] = self._wanted
        found = []
        for node, parent in enumerate(parents):
            used = here[node] & (of_child[parent] | of_descendant[parent])
            of_descendant[node] = of_descendant[parent]
            if used:
                found.append(node)
            for step in places_in(used):
                of_child[node] |= self._in_child[step]
                of_descendant[node] |= self._in_descendant[step]
        return found

    def matches_above(self, document: Document, node: int) -> bool:
        """Return whether a node and the nodes above it alone have what the path asks for."""
        names, parents, records = document.names, document.parents, document.records
        # Most often a condition holds nowhere above, which takes less time to find out.
        for name, condition in self._guards:
            above = parents[node]
            while above >= 0:
                if (name is None or names[above] == name) and condition.matches(records[above]):
                    break
                above = parents[above]
            else:
                return False
        at_child = at_descendant = 0
        while node >= 0:
            possible = self._by_name.get(names[node], self._any_name)
            here = 0
            if possible:
                here = self._holding(possible, at_child, at_descendant, records[node])
            at_child = here
            at_descendant |= here
            node = parents[node]
        return self._is_met(at_child, at_descendant)

    def _holding(
        self, possible: int, at_child: int, at_descendant: int, record: dict[str, Any]
    ) -> int:
        """Return which of some steps hold at a node, from what holds below it."""
        in_child, in_descendant, conditions = self._in_child, self._in_descendant, self._conditions
        holding = 0
        while possible:
            bit = possible & -possible
            possible ^= bit
            step = bit.bit_length() - 1
            if in_child[step] & ~at_child or in_descendant[step] & ~at_descendant:
                continue
            condition = conditions[step]
            if condition is None or condition.matches(record):
                holding |= bit
        return holding

    def _is_met(self, at_child: int, at_descendant: int) -> bool:
        """Return whether what must hold below the root of a document holds there."""
        wanted_child, wanted_descendant = self._wanted
        return not (wanted_child & ~at_child or wanted_descendant & ~at_descendant)

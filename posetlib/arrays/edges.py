"""The links of a table as arrays: levels, cycles, forests, and sets passed along the links.

Nodes are numbered by the order of their ids. A set of each node, a row of bits, is passed to its
parents or to its children, for all edges of a level at once. A table must not have a cycle, but
these functions also work with one: the edges of cycles are repeated until no set changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posetlib.array_types import BoolArray, IntArray, Words

__all__ = ["Outline"]


@dataclass
class Outline:
    """The nodes of a table, and its edges as pairs of node numbers: ``parents`` and ``children``.

    The number of a node is its index in ``ids``.
    """

    #: In ascending order.
    ids: IntArray
    parents: IntArray
    children: IntArray

    @classmethod
    def of(cls, ids: IntArray, parents: IntArray, children: IntArray) -> Outline:
        """Return the outline of some ids, with edges from parents to children among these ids."""
        ordered = np.sort(ids)
        return cls(ordered, np.searchsorted(ordered, parents), np.searchsorted(ordered, children))

    @property
    def count(self) -> int:
        """The number of nodes."""
        return len(self.ids)

    def is_root(self) -> BoolArray:
        """Return which nodes have no parent."""
        return np.asarray(np.bincount(self.children, minlength=self.count) == 0)

    # -- levels ------------------------------------------------------------------------------------

    def _levels(self, above: IntArray, below: IntArray) -> tuple[list[IntArray], IntArray]:
        """Return the edges in portions: all edges into a node come before those out of it.

        Edges lead from ``above`` to ``below``. The second value has the edges that are in no
        portion: those within cycles, and those below a cycle. O(nodes + edges), with a sort.
        """
        order = np.argsort(above, kind="stable")
        starts = np.searchsorted(above[order], np.arange(self.count + 1))
        # For each node, how many edges into it are not in a portion yet.
        waiting = np.bincount(below, minlength=self.count)
        frontier = np.flatnonzero(waiting == 0)
        portions = []
        done = np.zeros(len(above), np.bool_)
        while len(frontier):
            # All edges out of the frontier: `order` has those of one node next to each other.
            lengths = starts[frontier + 1] - starts[frontier]
            total = int(lengths.sum())
            if not total:
                break
            offsets = np.repeat(starts[frontier] - np.cumsum(lengths) + lengths, lengths)
            edges = order[offsets + np.arange(total)]
            portions.append(edges)
            done[edges] = True
            reached, met = np.unique(below[edges], return_counts=True)
            waiting[reached] -= met
            frontier = reached[waiting[reached] == 0]
        return portions, np.flatnonzero(~done)

    @cached_property
    def _down(self) -> tuple[list[IntArray], IntArray]:
        return self._levels(self.parents, self.children)

    @cached_property
    def _up(self) -> tuple[list[IntArray], IntArray]:
        return self._levels(self.children, self.parents)

    def cyclic(self) -> BoolArray:
        """Return which nodes lie on a cycle or below one.

        >>> Outline.of(np.arange(4), np.array([0, 2, 3]), np.array([1, 3, 2])).cyclic().tolist()
        [False, False, True, True]
        """
        left = self._down[1]
        found = np.zeros(self.count, np.bool_)
        found[self.children[left]] = True
        return found

    def cycle(self) -> list[int]:
        """Return the numbers of the nodes of one cycle, from parent to child; empty if none.

        >>> Outline.of(np.arange(4), np.array([0, 2, 3]), np.array([1, 3, 2])).cycle()
        [2, 3]
        """
        suspects = self.cyclic()
        if not suspects.any():
            return []
        inner = suspects[self.parents] & suspects[self.children]
        above = dict(zip(self.children[inner].tolist(), self.parents[inner].tolist(), strict=True))
        # Every suspect has a parent that is a suspect, so the way up must come to a node twice.
        node = int(np.flatnonzero(suspects)[0])
        seen: dict[int, int] = {}
        while node not in seen:
            seen[node] = len(seen)
            node = above[node]
        path = list(seen)[seen[node] :]
        path.reverse()
        start = path.index(min(path))
        return path[start:] + path[:start]

    # -- forests -----------------------------------------------------------------------------------

    def is_forest(self) -> bool:
        """Return whether no node has two parents, and there is no cycle."""
        several = np.bincount(self.children, minlength=self.count) > 1
        return not several.any() and not self.cyclic().any()

    def intervals(self) -> tuple[IntArray, IntArray]:
        """Return the numbers at which a walk through a forest enters and leaves each node.

        A node is below another one exactly if the walk enters it after it enters the other, and
        before it leaves the other. O(n log n).

        >>> enter, leave = Outline.of(np.arange(4), np.array([2, 2]), np.array([0, 3])).intervals()
        >>> enter.tolist(), leave.tolist()
        ([2, 0, 1, 3], [3, 1, 4, 4])
        """
        sizes = np.ones(self.count, np.int64)
        for edges in self._up[0]:
            np.add.at(sizes, self.parents[edges], sizes[self.children[edges]])
        enter = np.zeros(self.count, np.int64)
        roots = np.flatnonzero(self.is_root())
        enter[roots] = np.cumsum(sizes[roots]) - sizes[roots]
        for edges in self._down[0]:
            # The children of a node follow it, one whole subtree after the other.
            order = edges[np.argsort(self.parents[edges], kind="stable")]
            parents, children = self.parents[order], self.children[order]
            before = np.cumsum(sizes[children]) - sizes[children]
            _, starts, which = np.unique(parents, return_index=True, return_inverse=True)
            enter[children] = enter[parents] + 1 + before - before[starts][which]
        return enter, enter + sizes

    # -- sets passed along the links ---------------------------------------------------------------

    def gathered_below(self, own: Words) -> Words:
        """Return, for each node, the union of the sets of all nodes below it: O(edges) rows.

        >>> tree = Outline.of(np.arange(3), np.array([0, 1]), np.array([1, 2]))
        >>> tree.gathered_below(np.array([[1], [2], [4]], np.uint64)).tolist()
        [[6], [4], [0]]
        """
        return self._gathered(self.children, self.parents, self._up, own)

    def gathered_above(self, own: Words) -> Words:
        """Return, for each node, the union of the sets of all nodes above it: O(edges) rows."""
        return self._gathered(self.parents, self.children, self._down, own)

    def _gathered(
        self,
        source: IntArray,
        target: IntArray,
        levels: tuple[list[IntArray], IntArray],
        own: Words,
    ) -> Words:
        """Return, for each node, the union of the sets of all nodes from which edges lead to it."""
        result = np.zeros_like(own)
        portions, left = levels
        for edges in portions:
            _pass_on(source[edges], target[edges], own, result)
        while len(left):
            before = result[target[left]].copy()
            _pass_on(source[left], target[left], own, result)
            if np.array_equal(before, result[target[left]]):
                break
        return result

    def reached(self, allowed: Words) -> Words:
        """Return, for each node, the bits that reach it from a root: O(edges) rows.

        Every node on the path, both ends included, must have the bit in its row of ``allowed``.

        >>> tree = Outline.of(np.arange(3), np.array([0, 1]), np.array([1, 2]))
        >>> tree.reached(np.array([[7], [3], [6]], np.uint64)).tolist()
        [[7], [3], [2]]
        """
        result = np.where(self.is_root()[:, None], allowed, np.uint64(0))
        portions, left = self._down
        for edges in [*portions, *([left] if len(left) else [])]:
            # A level is done in one step. Only the edges of cycles are repeated until none changes.
            again = True
            while again:
                before = result[self.children[edges]].copy()
                _arrive(self.parents[edges], self.children[edges], allowed, result)
                again = edges is left and not np.array_equal(before, result[self.children[edges]])
        return result

    def ancestors(self, node: int) -> Iterator[int]:
        """Yield the nodes above a node, the nearest first; never the node itself."""
        return self._walk(node, self.children, self.parents)

    def descendants(self, node: int) -> Iterator[int]:
        """Yield the nodes below a node, the nearest first; never the node itself."""
        return self._walk(node, self.parents, self.children)

    def _walk(self, node: int, start: IntArray, end: IntArray) -> Iterator[int]:
        """Yield the nodes that paths lead to, level by level; edges lead from start to end."""
        order = np.argsort(start, kind="stable")
        begins = np.searchsorted(start[order], np.arange(self.count + 1))
        seen = {node}
        queue = [node]
        for each in queue:
            for edge in order[begins[each] : begins[each + 1]]:
                met = int(end[edge])
                if met not in seen:
                    seen.add(met)
                    queue.append(met)
                    yield met

    def without_self(self, gathered: Words, own: Words, *, above: bool) -> Words:
        """Return gathered sets from which a node's own set is removed if it came round a cycle.

        ``gathered`` is changed: it is the result of ``gathered_above`` or of ``gathered_below``.
        """
        walk = self.ancestors if above else self.descendants
        for node in np.flatnonzero(self.cyclic()).tolist():
            others = list(walk(node))
            gathered[node] = np.bitwise_or.reduce(own[others], axis=0) if others else 0
        return gathered


def _grouped(target: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return an order of edges by target, the distinct targets, and the first edge of each."""
    order = np.argsort(target, kind="stable")
    groups, starts = np.unique(target[order], return_index=True)
    return order, groups, starts


def _pass_on(source: IntArray, target: IntArray, own: Words, result: Words) -> None:
    """Add to the result of each target the own sets of its sources, and their results."""
    order, groups, starts = _grouped(target)
    rows = own[source[order]] | result[source[order]]
    result[groups] |= np.bitwise_or.reduceat(rows, starts, axis=0)


def _arrive(source: IntArray, target: IntArray, allowed: Words, result: Words) -> None:
    """Add to the result of each target the results of its sources, as far as it allows them."""
    order, groups, starts = _grouped(target)
    came = np.bitwise_or.reduceat(result[source[order]], starts, axis=0)
    result[groups] |= came & allowed[groups]

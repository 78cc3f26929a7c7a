"""The links of a table as arrays: who is above whom, and what travels along the paths.

Nodes are numbered by the order of their ids. What travels are rows of bits, one for each node, for
all edges of a level at once; a cycle, which a table must not have, is gone round until nothing new
comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workloads.columns import Booleans, Integers
from workloads.covering import Words

__all__ = ["Outline"]


@dataclass
class Outline:
    """Nodes by id, and edges as pairs of their numbers."""

    ids: Integers
    parents: Integers
    children: Integers

    @classmethod
    def of(cls, ids: Integers, parents: Integers, children: Integers) -> Outline:
        """Return the outline of edges between ids, all of which are there."""
        ordered = np.sort(ids)
        return cls(ordered, np.searchsorted(ordered, parents), np.searchsorted(ordered, children))

    @property
    def count(self) -> int:
        """The number of nodes."""
        return len(self.ids)

    def is_root(self) -> Booleans:
        """Return which nodes have no parent."""
        return np.asarray(np.bincount(self.children, minlength=self.count) == 0)

    # -- levels ------------------------------------------------------------------------------------

    def _levels(self, above: Integers, below: Integers) -> tuple[list[Integers], Integers]:
        """Return the edges in portions such that all edges into a node come before those out of it.

        ``above`` is the end that edges come from. The second value has the edges that are left:
        those of cycles, and of what can only be reached through one.
        """
        order = np.argsort(above, kind="stable")
        starts = np.searchsorted(above[order], np.arange(self.count + 1))
        waiting = np.bincount(below, minlength=self.count)
        frontier = np.flatnonzero(waiting == 0)
        portions = []
        taken = np.zeros(len(above), np.bool_)
        while len(frontier):
            lengths = starts[frontier + 1] - starts[frontier]
            total = int(lengths.sum())
            if not total:
                break
            offsets = np.repeat(starts[frontier] - np.cumsum(lengths) + lengths, lengths)
            edges = order[offsets + np.arange(total)]
            portions.append(edges)
            taken[edges] = True
            reached, met = np.unique(below[edges], return_counts=True)
            waiting[reached] -= met
            frontier = reached[waiting[reached] == 0]
        return portions, np.flatnonzero(~taken)

    @cached_property
    def _down(self) -> tuple[list[Integers], Integers]:
        return self._levels(self.parents, self.children)

    @cached_property
    def _up(self) -> tuple[list[Integers], Integers]:
        return self._levels(self.children, self.parents)

    def cyclic(self) -> Booleans:
        """Return the nodes that no path from a root reaches, or that lie below a cycle.

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
        # Who lies below a cycle has a suspect above it as well: up and up, one comes round.
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
        """Return whether no node has two parents, and none is on a cycle."""
        several = np.bincount(self.children, minlength=self.count) > 1
        return not several.any() and not self.cyclic().any()

    def intervals(self) -> tuple[Integers, Integers]:
        """Return where a walk through a forest enters and leaves each node.

        A node is below another exactly if it is entered after that one, and before it is left.

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

    # -- what travels ------------------------------------------------------------------------------

    def gathered_below(self, own: Words) -> Words:
        """Return for each node the bits of all that is below it: O(edges) rows.

        >>> tree = Outline.of(np.arange(3), np.array([0, 1]), np.array([1, 2]))
        >>> tree.gathered_below(np.array([[1], [2], [4]], np.uint64)).tolist()
        [[6], [4], [0]]
        """
        return self._gathered(self.children, self.parents, self._up, own)

    def gathered_above(self, own: Words) -> Words:
        """Return for each node the bits of all that is above it."""
        return self._gathered(self.parents, self.children, self._down, own)

    def _gathered(
        self,
        source: Integers,
        target: Integers,
        levels: tuple[list[Integers], Integers],
        own: Words,
    ) -> Words:
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
        """Return the bits that come down from the roots through nodes which allow them."""
        result = np.where(self.is_root()[:, None], allowed, np.uint64(0))
        portions, left = self._down
        for edges in [*portions, *([left] if len(left) else [])]:
            again = True
            while again:
                before = result[self.children[edges]].copy()
                _arrive(self.parents[edges], self.children[edges], allowed, result)
                again = edges is left and not np.array_equal(before, result[self.children[edges]])
        return result

    def ancestors(self, node: int) -> Iterator[int]:
        """Yield what is above a node, the nearest first; not the node itself, cycle or not."""
        return self._walk(node, self.children, self.parents)

    def descendants(self, node: int) -> Iterator[int]:
        """Yield what is below a node, the nearest first; not the node itself, cycle or not."""
        return self._walk(node, self.parents, self.children)

    def _walk(self, node: int, start: Integers, end: Integers) -> Iterator[int]:
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
        """Return what was gathered, without what came back to a node from itself round a cycle."""
        walk = self.ancestors if above else self.descendants
        for node in np.flatnonzero(self.cyclic()).tolist():
            others = list(walk(node))
            gathered[node] = np.bitwise_or.reduce(own[others], axis=0) if others else 0
        return gathered


def _grouped(target: Integers) -> tuple[Integers, Integers, Integers]:
    order = np.argsort(target, kind="stable")
    groups, starts = np.unique(target[order], return_index=True)
    return order, groups, starts


def _pass_on(source: Integers, target: Integers, own: Words, result: Words) -> None:
    """Add to each target what its sources have and hold."""
    order, groups, starts = _grouped(target)
    rows = own[source[order]] | result[source[order]]
    result[groups] |= np.bitwise_or.reduceat(rows, starts, axis=0)


def _arrive(source: Integers, target: Integers, allowed: Words, result: Words) -> None:
    order, groups, starts = _grouped(target)
    came = np.bitwise_or.reduceat(result[source[order]], starts, axis=0)
    result[groups] |= came & allowed[groups]

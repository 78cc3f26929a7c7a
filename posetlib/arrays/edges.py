"""The links of a table as arrays: levels, cycles, forests, and sets passed along the links.

Nodes are numbered by the order of their ids. A set of each node, a row of bits, is passed to its
parents or to its children, for all edges of a level at once. A table must not have a cycle, but
these functions also work with one, in about the same time: all nodes that lie on cycles with one
another are taken as one node, and what is left has no cycle.
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

    def has_cycle(self) -> bool:
        """Return whether a path leads back to where it began."""
        return bool(len(self._down[1]))

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
        if len(levels[1]):
            return self._gathered_round_cycles(own, above=target is self.children)
        result = np.zeros_like(own)
        for edges in levels[0]:
            _pass_on(source[edges], target[edges], own, result)
        return result

    def _gathered_round_cycles(self, own: Words, *, above: bool) -> Words:
        """Return what ``_gathered`` does where there are cycles: a node on one meets itself."""
        labels, _, on_cycle = self.components()
        united, outer = self._gathered_outside(own, above=above)
        result = outer[labels]
        result[on_cycle] |= united[labels[on_cycle]]
        return result

    def _gathered_outside(self, own: Words, *, above: bool) -> tuple[Words, Words]:
        """Return, for each component, the union of its own sets, and what comes from outside."""
        labels, inner, _ = self.components()
        united = np.zeros((inner.count, own.shape[1]), np.uint64)
        np.bitwise_or.at(united, labels, own)
        return united, inner.gathered_above(united) if above else inner.gathered_below(united)

    def reached(self, allowed: Words) -> Words:
        """Return, for each node, the bits that reach it from a root: O(edges) rows.

        Every node on the path, both ends included, must have the bit in its row of ``allowed``.

        >>> tree = Outline.of(np.arange(3), np.array([0, 1]), np.array([1, 2]))
        >>> tree.reached(np.array([[7], [3], [6]], np.uint64)).tolist()
        [[7], [3], [2]]
        """
        result = np.where(self.is_root()[:, None], allowed, np.uint64(0))
        portions, left = self._down
        for edges in portions:
            _arrive(self.parents[edges], self.children[edges], allowed, result)
        # The edges of cycles, and those below: again for the children of nodes that gained a bit.
        while len(left):
            children = np.unique(self.children[left])
            before = result[children].copy()
            _arrive(self.parents[left], self.children[left], allowed, result)
            gained = children[(before != result[children]).any(axis=1)]
            left = self._edges_from(gained)
        return result

    def _edges_from(self, nodes: IntArray) -> IntArray:
        """Return the edges from some nodes to their children."""
        order, starts = self._by_parent
        lengths = starts[nodes + 1] - starts[nodes]
        offsets = np.repeat(starts[nodes] - np.cumsum(lengths) + lengths, lengths)
        return np.asarray(order[offsets + np.arange(int(lengths.sum()))])

    @cached_property
    def _by_parent(self) -> tuple[IntArray, IntArray]:
        """The edges in order of their parents, and where those of each parent begin."""
        order = np.argsort(self.parents, kind="stable")
        return order, np.searchsorted(self.parents[order], np.arange(self.count + 1))

    @cached_property
    def _by_child(self) -> tuple[IntArray, IntArray]:
        """The edges in order of their children, and where those of each child begin."""
        order = np.argsort(self.children, kind="stable")
        return order, np.searchsorted(self.children[order], np.arange(self.count + 1))

    def ancestors(self, node: int) -> Iterator[int]:
        """Yield the nodes above a node, the nearest first; never the node itself."""
        return self._walk(node, self.children, self.parents)

    def descendants(self, node: int) -> Iterator[int]:
        """Yield the nodes below a node, the nearest first; never the node itself."""
        return self._walk(node, self.parents, self.children)

    def _walk(self, node: int, start: IntArray, end: IntArray) -> Iterator[int]:
        """Yield the nodes that paths lead to, level by level; edges lead from start to end."""
        order, begins = self._by_child if start is self.children else self._by_parent
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
        if not len(self._down[1]):
            return gathered
        labels, _, on_cycle = self.components()
        _, outer = self._gathered_outside(own, above=above)
        nodes = np.flatnonzero(on_cycle)
        gathered[nodes] = outer[labels[nodes]]
        order = nodes[np.argsort(labels[nodes], kind="stable")]
        starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
        for first, last in zip(starts, [*starts[1:], len(order)], strict=True):
            # The sets of all members before each one, and of all after it.
            members = order[first:last]
            sets = own[members]
            gathered[members[1:]] |= np.bitwise_or.accumulate(sets, axis=0)[:-1]
            gathered[members[:-1]] |= np.bitwise_or.accumulate(sets[::-1], axis=0)[::-1][1:]
        return gathered

    # -- components --------------------------------------------------------------------------------

    def components(self) -> tuple[IntArray, Outline, BoolArray]:
        """Return the graph with the nodes of cycles put together: it has no cycle.

        First the component of each node, then the links among components, then which nodes lie on a
        cycle. O(nodes + edges) once, in Python for the nodes between cycles.
        """
        return self._components

    @cached_property
    def _components(self) -> tuple[IntArray, Outline, BoolArray]:
        # What is below a cycle and above one: only such nodes can lie on one.
        suspects = np.zeros(self.count, np.bool_)
        suspects[self.parents[self._up[1]]] = True
        suspects &= self.cyclic()
        inside = suspects[self.parents] & suspects[self.children]
        leaders = np.arange(self.count)
        _join_cycles(self.parents[inside], self.children[inside], leaders)
        first, labels = np.unique(leaders, return_inverse=True)
        above, below = labels[self.parents], labels[self.children]
        apart = above != below
        on_cycle = np.bincount(labels, minlength=len(first))[labels] > 1
        on_cycle[self.parents[self.parents == self.children]] = True
        return labels, Outline(np.arange(len(first)), above[apart], below[apart]), on_cycle


def _join_cycles(above: IntArray, below: IntArray, leaders: IntArray) -> None:
    """Give all nodes that lie on cycles with one another the same leader: Tarjan's algorithm."""
    children: dict[int, list[int]] = {}
    for parent, child in zip(above.tolist(), below.tolist(), strict=True):
        children.setdefault(parent, []).append(child)
    index: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    for start, first in children.items():
        if start in index:
            continue
        path = [(start, iter(first))]
        index[start] = lowest[start] = len(index)
        open_nodes.append(start)
        is_open.add(start)
        while path:
            node, rest = path[-1]
            for child in rest:
                if child not in index:
                    index[child] = lowest[child] = len(index)
                    open_nodes.append(child)
                    is_open.add(child)
                    path.append((child, iter(children.get(child, ()))))
                    break
                if child in is_open:
                    lowest[node] = min(lowest[node], index[child])
            else:
                path.pop()
                if path:
                    over = path[-1][0]
                    lowest[over] = min(lowest[over], lowest[node])
                if lowest[node] == index[node]:
                    member = -1
                    while member != node:
                        member = open_nodes.pop()
                        is_open.discard(member)
                        leaders[member] = node


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

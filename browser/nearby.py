"""A filter with what is near it: some levels above and below, and its ways up to the roots."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from browser.graph import Graph, Shown

__all__ = ["Around", "Ranked", "near", "ranked", "ways_up"]

#: Filters above one up to which all of them belong to what is near; of more, one way up.
_WAYS: Final = 24


class Around(NamedTuple):
    """What is looked at: some levels above and below a filter; None lets the step choose it."""

    centre: int | None
    reach: int
    #: The width and height of the room in pixels, in which text must be readable.
    room: tuple[float, float] = (520.0, 420.0)


def near(
    graph: Graph, centre: int, reach: int, most: int, also: Collection[int] = ()
) -> tuple[Shown, frozenset[tuple[int, int]]]:
    """Return what is near a filter, and the edges of its ways up to the roots.

    Up to ``most`` filters, the first of those that ``ranked`` returns. O(nodes + edges).
    """
    return ranked(graph, centre, reach, also).first(graph, most)


class Ranked(NamedTuple):
    """What is near a filter, what matters most first."""

    numbers: tuple[int, ...]
    #: The filter, and those on its ways up.
    up: frozenset[int]
    #: All that is within reach, and on the ways up: what is said to be left out.
    wanted: frozenset[int]

    def first(self, graph: Graph, most: int) -> tuple[Shown, frozenset[tuple[int, int]]]:
        """Return the first of these filters, and the edges of the ways up among them."""
        kept = frozenset(self.numbers[:most])
        shown = tuple(number for number in graph.nodes if number in kept)
        hidden = {number: sum(c not in kept for c in graph.children[number]) for number in shown}
        left = self.wanted - kept
        above = " or above it" if left & self.up else ""
        note = f"{len(left):,} more are as near{above}: choose one of them to see it."
        up = self.up & kept
        steps = ((parent, child) for child in up for parent in graph.parents[child])
        folded = {number: count for number, count in hidden.items() if count}
        return (
            Shown(shown, folded, note if left else ""),
            frozenset((parent, child) for parent, child in steps if parent in up),
        )


def ranked(graph: Graph, centre: int, reach: int, also: Collection[int] = ()) -> Ranked:
    """Return what is near a filter: it, a way up to a root, and others from the nearest on.

    ``also`` are further ones that come before the way up, such as those that a step has changed;
    last come the other ways up, and parents of the further ones. O(nodes + edges).
    """
    way, others = ways_up(graph, centre)
    found = dict.fromkeys([centre, *also, *way])
    rings = (_rings(graph.parents, centre, reach), _rings(graph.children, centre, reach))
    for distance in range(1, reach + 1):
        for ring in rings:
            found.update(dict.fromkeys(ring.get(distance, ())))
    wanted = frozenset(
        [centre, *way, *others, *(n for ring in rings for n in chain(*ring.values()))]
    )
    found.update(dict.fromkeys(others))
    for number in also:
        found.update(dict.fromkeys(graph.parents[number][:_PARENTS]))
    return Ranked(tuple(found), frozenset([centre, *way, *others]), wanted)


#: Parents that come with a further filter.
_PARENTS: Final = 3


def _rings(links: Mapping[int, Sequence[int]], centre: int, reach: int) -> dict[int, list[int]]:
    """Return what is reached by links in 1, 2, … reach steps and no fewer."""
    rings, seen, ring = {}, {centre}, [centre]
    for distance in range(1, reach + 1):
        ring = [each for number in ring for each in links[number] if each not in seen]
        ring = list(dict.fromkeys(ring))
        seen.update(ring)
        rings[distance] = ring
    return rings


def ways_up(graph: Graph, number: int) -> tuple[list[int], list[int]]:
    """Return those on a shortest way to a root, from below; and all others above, if they are few.

    >>> from browser.graph import Node
    >>> nodes = {i: Node(i, "", ()) for i in range(4)}
    >>> ways_up(Graph(nodes, ((0, 1), (1, 2), (3, 2))), 2)
    ([3], [1, 0])
    """
    below: dict[int, int] = {number: number}
    queue = deque([number])
    root: int | None = None
    while queue:
        each = queue.popleft()
        if root is None and not graph.parents[each]:
            root = each
        for parent in graph.parents[each]:
            if parent not in below:
                below[parent] = each
                queue.append(parent)
    way = []
    each = number if root is None else root  # above some filters there are only cycles
    while each != number:
        way.append(each)
        each = below[each]
    way.reverse()
    there = {number, *way}
    others = [each for each in below if each not in there]
    return way, others if len(way) + len(others) <= _WAYS else []

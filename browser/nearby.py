"""A filter with what is near it: some levels above and below, and its ways up to the roots."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from browser.graph import Graph, Shown

__all__ = ["Around", "near", "ways_up"]

#: Filters above one up to which all of them are shown, whatever their level; of more, one way up.
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

    Up to ``most`` filters: those on the ways up, then others from the nearest on. ``also`` are
    further ones, such as those that a step has changed, each with its parents. O(nodes + edges).
    """
    ways = ways_up(graph, centre)
    kept = dict.fromkeys([centre, *ways])
    for number in also:
        kept.update(dict.fromkeys([number, *graph.parents[number][:_PARENTS]]))
    rings = (_rings(graph.parents, centre, reach), _rings(graph.children, centre, reach))
    for distance in range(1, reach + 1):
        for ring in rings:
            for number in ring.get(distance, ()):
                if len(kept) < most:
                    kept.setdefault(number)
    found = sum(len(each) for ring in rings for each in ring.values())
    shown = [number for number in graph.nodes if number in kept]
    hidden = {number: sum(c not in kept for c in graph.children[number]) for number in shown}
    left = max(0, found + 1 - len(kept))
    note = f"{left:,} more are as near: choose one of them to see it." if left else ""
    up = {centre, *ways}
    steps = frozenset(edge for edge in graph.edges if edge[0] in up and edge[1] in up)
    return Shown(tuple(shown), {n: count for n, count in hidden.items() if count}, note), steps


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


def ways_up(graph: Graph, number: int) -> list[int]:
    """Return all filters above one, if they are few; else those on a shortest way to a root.

    >>> from browser.graph import Node
    >>> nodes = {i: Node(i, "", ()) for i in range(4)}
    >>> ways_up(Graph(nodes, ((0, 1), (1, 2), (3, 2))), 2)
    [1, 3, 0]
    """
    below: dict[int, int] = {number: number}
    queue = deque([number])
    root: int | None = None
    while queue:
        each = queue.popleft()
        if root is None and each != number and not graph.parents[each]:
            root = each
        for parent in graph.parents[each]:
            if parent not in below:
                below[parent] = each
                queue.append(parent)
    above = [each for each in below if each != number]
    if len(above) <= _WAYS or root is None:
        return above[:_WAYS]
    way = [root]
    while below[way[-1]] != number:
        way.append(below[way[-1]])
    return way[::-1]

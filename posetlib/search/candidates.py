"""Which of some candidates cover an item, or are covered by it, with few questions.

What covers a node covers all below it, and what a node does not cover, no node below it covers. So
each answer about a node may settle others, along the links, without a question. Candidates are
asked in scattered order: in a chain each answer then settles about half of what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd
from operator import attrgetter
from typing import Final, NamedTuple

from posetlib.graph.nodes import Node, Nodes
from posetlib.search.boxes import contains, tokens_allow
from posetlib.search.probe import Probe

__all__ = ["Among", "covered_among", "covering_among"]

_SERIAL: Final = attrgetter("serial")
_PARENTS: Final = attrgetter("parents")
_CHILDREN: Final = attrgetter("children")
# After a "no", links are followed only from nodes with at most this number of them.
_MAX_LINKS: Final = 64


class Among(NamedTuple):
    """Some nodes, all of which cover an item, or all of which it covers."""

    #: All of them, in order.
    nodes: list[Node]
    #: Those nearest to the item, in order.
    nearest: list[Node]


def covering_among(probe: Probe, candidates: list[Node]) -> Among:
    """Return the candidates that cover an item; all nodes that cover it are candidates."""
    return _settled(candidates, lambda node: _covers(probe, node), _PARENTS, _CHILDREN)


def covered_among(probe: Probe, candidates: list[Node]) -> Among:
    """Return the candidates that an item covers; all nodes that it covers are candidates."""
    return _settled(candidates, lambda node: _is_covered(probe, node), _CHILDREN, _PARENTS)


def _settled(
    candidates: list[Node],
    holds: Callable[[Node], bool],
    settles_if_so: Callable[[Node], Nodes],
    settles_if_not: Callable[[Node], Nodes],
) -> Among:
    """Return the candidates for which something holds; a yes and a no spread along the links."""
    waiting = set(candidates)
    found: list[Node] = []
    # The nodes with a yes of their own to which no other one has spread.
    nearest: dict[Node, None] = {}
    for node in _scattered(candidates):
        if node not in waiting:
            continue
        waiting.discard(node)
        stack = [node]
        if holds(node):
            found.append(node)
            nearest[node] = None
            while stack:
                for other in settles_if_so(stack.pop()):
                    if other in waiting:
                        waiting.discard(other)
                        found.append(other)
                        stack.append(other)
                    elif other in nearest:
                        del nearest[other]
        else:
            while stack:
                others = settles_if_not(stack.pop())
                if len(others) <= _MAX_LINKS:
                    for other in others:
                        if other in waiting:
                            waiting.discard(other)
                            stack.append(other)
    found.sort(key=_SERIAL)
    return Among(found, sorted(nearest, key=_SERIAL))


def _scattered(nodes: list[Node]) -> Iterator[Node]:
    """Yield all nodes, each far from the one before it."""
    count = len(nodes)
    step = max(1, int(count * 0.618))
    while gcd(step, count) > 1:
        step += 1
    return (nodes[i * step % count] for i in range(count))


def _covers(probe: Probe, node: Node) -> bool:
    box, mine = node.box, probe.box
    if box is None:
        return probe.above(node)
    if box.shape.decides and mine.shape.decides:
        return contains(box, mine)
    return mine.shape.may_lie_in(box.shape) and tokens_allow(box, mine) and probe.above(node)


def _is_covered(probe: Probe, node: Node) -> bool:
    box, mine = node.box, probe.box
    if box is None:
        return probe.below(node)
    if box.shape.decides and mine.shape.decides:
        return contains(mine, box)
    return box.shape.may_lie_in(mine.shape) and tokens_allow(mine, box) and probe.below(node)

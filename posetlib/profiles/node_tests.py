"""Tests of nodes against one item: by exact boxes where both have them, otherwise counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from posetlib.graph.counters import Counters
from posetlib.graph.nodes import Node, Traits
from posetlib.search.boxes import Box, contains
from posetlib.search.probe import Probe
from posetlib.search.relation import Relation

__all__ = ["GuardedProbe", "Guards", "covered_by", "covering", "overlapping"]


class Guards(NamedTuple):
    """What results say of a new item and a node of its own forest, before these are compared."""

    #: Whether the node may cover the item.
    above: Callable[[Node], bool]
    #: Whether the item may cover the node; also whether the node's parent is known to cover it.
    below: Callable[[Node, bool], bool]


class GuardedProbe(Probe):
    """A probe that asks only where its guards do not rule the covering out."""

    __slots__ = ("_guards",)

    def __init__(
        self,
        relation: Relation[Any],
        counters: Counters,
        item: Any,
        traits: Traits,
        guards: Guards,
    ) -> None:
        super().__init__(relation, counters, item, traits)
        self._guards = guards

    def above(self, node: Node) -> bool:
        """Return whether the node covers the item."""
        return self._guards.above(node) and super().above(node)

    def below(self, node: Node) -> bool:
        """Return whether the item covers the node."""
        has_parent = self._above.get(node.parents[0], False)
        return self._guards.below(node, has_parent) and super().below(node)


def covering(probe: Probe) -> Callable[[Node], bool]:
    """Return a test of whether a node covers an item."""
    return _by_boxes(probe, probe.above, contains)


def covered_by(probe: Probe) -> Callable[[Node], bool]:
    """Return a test of whether an item covers a node."""
    return _by_boxes(probe, probe.below, lambda outer, inner: contains(inner, outer))


def _by_boxes(
    probe: Probe, ask: Callable[[Node], bool], compare: Callable[[Box, Box], bool]
) -> Callable[[Node], bool]:
    """Return a test that compares the boxes of node and item if both are exact, and asks if not."""
    box = probe.box
    if box is None or not box.shape.exact:
        return ask

    def test(node: Node) -> bool:
        other = node.box
        if other is None or not other.shape.exact:
            return ask(node)
        return compare(other, box)

    return test


def overlapping(
    probe: Probe, overlaps: Callable[[Any, Any], bool], counters: Counters, *, by_boxes: bool
) -> Callable[[Node], bool]:
    """Return a test of whether a node overlaps an item; ``by_boxes`` where these tell it.

    Boxes of one exact shape without open ends tell it: where neither interval ends before the other
    begins, the greater of the two low ends is in both. Boxes of two shapes do not tell, since an
    attribute may be a number for one and a string for the other.
    """
    box, item = probe.box, probe.item
    shape = box.shape if by_boxes and box is not None and _is_closed(box) else None

    def test(node: Node) -> bool:
        other = node.box
        if shape is not None and other is not None and other.shape is shape:
            return _meet(box, other)
        if probe.part is not None and node.part is not None and node.part != probe.part:
            return False
        counters.covering_tests += 1
        return bool(overlaps(node.item, item))

    return test


def _is_closed(box: Box) -> bool:
    return box.shape.exact and not box.shape.open_ends


def _meet(one: Box, other: Box) -> bool:
    """Return whether two boxes of one closed shape have a point in common."""
    if (
        one.low > -other.minus_high
        or other.low > -one.minus_high
        or one.low2 > -other.minus_high2
        or other.low2 > -one.minus_high2
    ):
        return False
    mine, its = one.more_ends, other.more_ends
    return not mine or all(
        mine[i] <= -its[i + 1] and its[i] <= -mine[i + 1] for i in range(0, len(mine), 2)
    )

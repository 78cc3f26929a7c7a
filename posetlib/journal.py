"""What an operation did, step by step: enough to undo it, and to say what changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import IntEnum
from functools import partial
from typing import NamedTuple

from posetlib.change import NO_CHANGE, Change, Item, Pair
from posetlib.nodes import Node

__all__ = ["Journal", "Step", "change_of"]


class Step(IntEnum):
    """The six ways in which a table is changed, and its memory of equivalent items."""

    ENTER = 0  # a node comes: (node,)
    LEAVE = 1  # a node goes: (node,)
    LINK = 2  # (parent, child)
    UNLINK = 3  # (parent, child)
    GIVE = 4  # a node gains an interface: (node, interface)
    TAKE = 5  # a node loses an interface: (node, interface, the moment at which it had come)
    ALIAS = 6  # a node is found by one more item: (node, item)


class Journal(NamedTuple):
    """The steps of one operation in order, and the clock when it began."""

    clock: int
    steps: list[tuple[object, ...]]


def change_of(journal: Journal, top: Node) -> Change:
    """Return the net effect of a journal's steps: O(1) now, O(k log k) for k steps when looked at.

    What was done and undone within the operation does not show: only what differs does.
    """
    return Change.late(partial(_net_effect, journal, top)) if journal.steps else NO_CHANGE


def _net_effect(journal: Journal, top: Node) -> Change:
    entered: dict[Node, None] = {}
    left: dict[Node, None] = {}
    links: dict[tuple[Node, Node], int] = {}
    pairs: dict[tuple[Node, Hashable], int] = {}
    for step in journal.steps:
        code = step[0]
        if code == Step.LINK or code == Step.UNLINK:  # noqa: PLR1714 - twice as fast
            edge = (step[1], step[2])
            links[edge] = links.get(edge, 0) + (1 if code == Step.LINK else -1)  # type: ignore[index, arg-type]
        elif code == Step.GIVE or code == Step.TAKE:  # noqa: PLR1714
            pair = (step[1], step[2])
            pairs[pair] = pairs.get(pair, 0) + (1 if code == Step.GIVE else -1)  # type: ignore[index, arg-type]
        elif code == Step.ENTER:
            entered[step[1]] = None  # type: ignore[index]
        elif code == Step.LEAVE:
            left[step[1]] = None  # type: ignore[index]
    moved = {
        child: None
        for (_, child), net in links.items()
        if net and child not in entered and child not in left
    }
    return Change(
        added=_items(node for node in entered if node not in left),
        removed=_items(node for node in left if node not in entered),
        moved=_items(moved),
        roots_added=_items(
            child for (parent, child), n in links.items() if parent is top and n > 0
        ),
        roots_removed=_items(
            child for (parent, child), n in links.items() if parent is top and n < 0
        ),
        pairs_added=_pairs(pair for pair, net in pairs.items() if net > 0),
        pairs_removed=_pairs(pair for pair, net in pairs.items() if net < 0),
    )


def _items(nodes: Iterable[Node]) -> tuple[Item, ...]:
    return tuple(node.item for node in sorted(nodes, key=lambda node: node.serial))


def _pairs(pairs: Iterable[tuple[Node, Hashable]]) -> tuple[Pair, ...]:
    # The sort is stable: the interfaces of one node stay in the order of the steps.
    return tuple(
        (node.item, interface) for node, interface in sorted(pairs, key=lambda pair: pair[0].serial)
    )

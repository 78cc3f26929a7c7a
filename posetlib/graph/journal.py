"""What an operation did, step by step: enough to undo it, and to say what changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from posetlib.graph.change import Change, Item, Pair
from posetlib.graph.nodes import Node

__all__ = [
    "ALIAS",
    "ENTER",
    "HOLD",
    "LEAVE",
    "LINK",
    "RELEASE",
    "UNLINK",
    "Journal",
    "net_effect",
]

# The seven kinds of step. A step is a tuple that begins with one of these numbers; plain integers,
# since they are compared several times in every update.
ENTER: Final = 0  # a node comes: (ENTER, node)
LEAVE: Final = 1  # a node goes: (LEAVE, node)
LINK: Final = 2  # (LINK, parent, child)
UNLINK: Final = 3  # (UNLINK, parent, child)
HOLD: Final = 4  # an interface comes to a node: (HOLD, node, interface)
RELEASE: Final = 5  # an interface goes: (RELEASE, node, interface, the moment at which it had come)
ALIAS: Final = 6  # a node is found by one more item: (ALIAS, node, item)

_EDGE_STEPS: Final = (LINK, UNLINK)


class Journal(list[tuple[object, ...]]):
    """The steps of one operation in order, and the clock when it began."""

    __slots__ = ("clock",)

    clock: int


def net_effect(journal: Journal, top: Node) -> Change[Any]:
    """Return the net effect of a journal's steps: O(k log k) for k steps.

    What was done and undone within the operation does not show.
    """
    entered: dict[Node, None] = {}
    left: dict[Node, None] = {}
    links: dict[tuple[Node, Node], int] = {}
    # In order of the last time that an interface came to the node.
    pairs: dict[tuple[Node, Hashable], int] = {}
    # The moment at which a pair had come that was there before the operation.
    came: dict[tuple[Node, Hashable], int] = {}
    for step in journal:
        code = step[0]
        if code in _EDGE_STEPS:
            edge = (step[1], step[2])
            links[edge] = links.get(edge, 0) + (1 if code == LINK else -1)  # type: ignore[index, arg-type]
        elif code == HOLD:
            pair = (step[1], step[2])
            pairs[pair] = pairs.pop(pair, 0) + 1  # type: ignore[index, arg-type]
        elif code == RELEASE:
            pair = (step[1], step[2])
            pairs[pair] = pairs.get(pair, 0) - 1  # type: ignore[index, arg-type]
            came.setdefault(pair, step[3])  # type: ignore[arg-type]
        elif code == ENTER:
            entered[step[1]] = None  # type: ignore[index]
        elif code == LEAVE:
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
        # A forest takes interfaces from a node in any order: they are named as they had come.
        pairs_removed=_pairs(
            sorted((pair for pair, net in pairs.items() if net < 0), key=came.__getitem__)
        ),
    )


def _items(nodes: Iterable[Node]) -> tuple[Item, ...]:
    return tuple(node.item for node in sorted(nodes, key=lambda node: node.serial))


def _pairs(pairs: Iterable[tuple[Node, Hashable]]) -> tuple[Pair, ...]:
    # The sort is stable: the interfaces of one node stay in the order that they come in.
    return tuple(
        (node.item, interface) for node, interface in sorted(pairs, key=lambda pair: pair[0].serial)
    )

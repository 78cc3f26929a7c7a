"""Matching a notification against a table: the walk from the roots, and an account of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic

from posetlib.graph.change import Item, ItemT
from posetlib.graph.interface_index import InterfaceIndex
from posetlib.graph.links import Links
from posetlib.graph.nodes import Node
from posetlib.search.indexed import Search

__all__ = ["MatchAccount", "Trail", "scan", "walk"]


@dataclass(frozen=True, slots=True)
class MatchAccount(Generic[ItemT]):
    """How one notification was matched: filters in the order in which the walk visited them.

    Every visited filter is tested or skipped: ``skipped`` when all its interfaces were in the
    answer, so that the walk went on below it without a test. Below ``pruned`` filters the interface
    index lists no interface that is not in the answer. ``assumed`` filters were left when the bound
    on tests was reached, and count as matched. Filters that appear nowhere cost nothing.
    """

    visited: tuple[ItemT, ...]
    tested: tuple[ItemT, ...]
    skipped: tuple[ItemT, ...]
    matched: tuple[ItemT, ...]
    pruned: tuple[ItemT, ...]
    assumed: tuple[ItemT, ...]
    interfaces: frozenset[Hashable]

    @property
    def tests(self) -> int:
        """The number of match tests."""
        return len(self.tested)


@dataclass(slots=True)
class Trail:
    """Where a walk has been; becomes a ``MatchAccount``."""

    visited: list[Node] = field(default_factory=list)
    tested: list[Node] = field(default_factory=list)
    skipped: list[Node] = field(default_factory=list)
    matched: list[Node] = field(default_factory=list)
    pruned: list[Node] = field(default_factory=list)
    assumed: list[Node] = field(default_factory=list)

    def account(self, answer: Iterable[Hashable]) -> MatchAccount[Any]:
        """Return the account of a walk with its answer."""
        return MatchAccount(
            visited=_items(self.visited),
            tested=_items(self.tested),
            skipped=_items(self.skipped),
            matched=_items(self.matched),
            pruned=_items(self.pruned),
            assumed=_items(self.assumed),
            interfaces=frozenset(answer),
        )


def _items(nodes: list[Node]) -> tuple[Item, ...]:
    return tuple(node.item for node in nodes)


def walk(
    links: Links,
    search: Search,
    index: InterfaceIndex | None,
    matches: Callable[[Node], bool],
    part: Hashable,
    max_tests: int | None = None,
    trail: Trail | None = None,
) -> tuple[set[Hashable], int]:
    """Return the interfaces with a matching node: breadth first, into matching nodes only.

    Also returns how many nodes were visited, tested or not: the work of the walk.

    [T, Alg. 6] with both its improvements: no test for a node whose interfaces are all in the
    answer, and with an interface index, no visit to subtrees that can add nothing to it. A node of
    several parents waits until none of them failed. Stops when every interface is in.
    """
    answer: set[Hashable] = set()
    bits = 0
    all_interfaces = len(links.holders)
    queue = deque(search.below(links.top, part))
    waiting: dict[Node, int] = {}
    tests = visits = 0
    while queue and len(answer) < all_interfaces:
        node = queue.popleft()
        visits += 1
        if node.interfaces.keys() <= answer:
            if trail is not None:
                trail.visited.append(node)
                trail.skipped.append(node)
        else:
            if tests == max_tests:
                _assume(search, [node, *queue], part, answer, trail)
                break
            tests += 1
            good = matches(node)
            if trail is not None:
                trail.visited.append(node)
                trail.tested.append(node)
                if good:
                    trail.matched.append(node)
            if not good:
                continue
            answer.update(node.interfaces)
            if index is not None:
                bits |= index.bits(node.interfaces)
        if index is not None and index.adds_nothing(node, bits):
            if trail is not None and node.children:
                trail.pruned.append(node)
            continue
        for child in search.below(node, part):
            parents = len(child.parents)
            if parents > 1:
                waiting[child] = left = waiting.get(child, parents) - 1
                if left:
                    continue
            queue.append(child)
    return answer, visits


def _assume(
    search: Search,
    left: list[Node],
    part: Hashable,
    answer: set[Hashable],
    trail: Trail | None,
) -> None:
    """Count the nodes that were not visited as matched."""
    seen = dict.fromkeys(left)
    stack = list(reversed(left))
    while stack:
        node = stack.pop()
        answer.update(node.interfaces)
        if trail is not None:
            trail.assumed.append(node)
        for child in reversed(search.below(node, part)):
            if child not in seen:
                seen[child] = None
                stack.append(child)


def scan(
    nodes: Iterable[Node],
    matches: Callable[[Node], bool],
    max_tests: int | None = None,
    trail: Trail | None = None,
) -> tuple[set[Hashable], int]:
    """Return the interfaces with a matching node by testing every node: what a walk must equal.

    Also returns how many nodes were tested.
    """
    answer: set[Hashable] = set()
    tests = 0
    for node in nodes:
        if tests == max_tests:
            answer.update(node.interfaces)
            if trail is not None:
                trail.assumed.append(node)
            continue
        tests += 1
        good = matches(node)
        if good:
            answer.update(node.interfaces)
        if trail is not None:
            trail.visited.append(node)
            trail.tested.append(node)
            if good:
                trail.matched.append(node)
    return answer, tests

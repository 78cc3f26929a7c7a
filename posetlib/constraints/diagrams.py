"""Reduced ordered decision diagrams: Boolean functions of which elements a set has.

A diagram is a tuple of nodes (key, low, high), children before parents: `low` where the set lacks
the element of that key, `high` where it has it. 0 and 1 are the constants, node i is the number
i + 2. Reduced and numbered in one fixed way, so that equal functions are equal tuples.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Final, TypeAlias

__all__ = [
    "FALSE",
    "TRUE",
    "Diagram",
    "Key",
    "TooLargeError",
    "both",
    "common_path",
    "difference_path",
    "either",
    "evaluate",
    "every_of",
    "forced",
    "is_clause",
    "is_cube",
    "keys",
    "paths",
    "prime_clauses",
    "restrict",
    "some_of",
    "width",
]

Key: TypeAlias = tuple[int, Any]
Node: TypeAlias = tuple[Key, int, int]
#: The nodes; an empty tuple needs to say which constant it is, so the last entry is the root.
Diagram: TypeAlias = tuple[tuple[Node, ...], int]

FALSE: Final[Diagram] = ((), 0)
TRUE: Final[Diagram] = ((), 1)
_MAX_STEPS: Final = 400_000
_MAX_PAIRS: Final = 4_000_000
# Joining two diagrams may cost this much beside a multiple of their size.
_MIN_STEPS: Final = 10_000
_GROWTH: Final = 70


class TooLargeError(Exception):
    """The operation was given up: the diagram, or the search, grows too large."""


class _Builder:
    """Collects nodes, each function once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.numbers: dict[Node, int] = {}

    def make(self, key: Key, low: int, high: int) -> int:
        if low == high:
            return low
        node = (key, low, high)
        number = self.numbers.get(node)
        if number is None:
            number = len(self.nodes) + 2
            if number > _MAX_STEPS:
                raise TooLargeError
            self.nodes.append(node)
            self.numbers[node] = number
        return number

    def finish(self, root: int) -> Diagram:
        """Return what is reached from the root, numbered by depth first, low before high."""
        if root < 2:
            return ((), root)
        numbers = {0: 0, 1: 1}
        nodes: list[Node] = []
        stack = [root]
        while stack:
            key, low, high = self.nodes[stack[-1] - 2]
            missing = [child for child in (high, low) if child not in numbers]
            if missing:
                stack += missing
                continue
            number = stack.pop()
            if number not in numbers:
                nodes.append((key, numbers[low], numbers[high]))
                numbers[number] = len(nodes) + 1
        return (tuple(nodes), numbers[root])


def every_of(having: Iterable[Key], lacking: Iterable[Key] = ()) -> Diagram:
    """Return the sets that have all of some elements and lack all of others."""
    wanted = {**dict.fromkeys(having, True), **dict.fromkeys(lacking, False)}
    builder = _Builder()
    root = 1
    for key in sorted(wanted, reverse=True):
        root = builder.make(key, 0, root) if wanted[key] else builder.make(key, root, 0)
    return builder.finish(root)


def some_of(elements: Iterable[Key]) -> Diagram:
    """Return the sets that have at least one of the elements."""
    builder = _Builder()
    root = 0
    for key in sorted(set(elements), reverse=True):
        root = builder.make(key, root, 1)
    return builder.finish(root)


def is_clause(a: Diagram) -> bool:
    """Return whether the function is to have at least one of its elements."""
    nodes, root = a
    return root > 1 and all(high == 1 for _, _, high in nodes) and nodes[0][1] == 0


def is_cube(a: Diagram) -> bool:
    """Return whether the function is to have some elements and lack others."""
    nodes, root = a
    return (
        root > 1
        and len({key for key, _, _ in nodes}) == len(nodes)
        and all(low == 0 or high == 0 for _, low, high in nodes)
    )


def both(a: Diagram, b: Diagram) -> Diagram:
    """Return the sets of both."""
    return _combined(a, b, 0)


def either(a: Diagram, b: Diagram) -> Diagram:
    """Return the sets of any of the two."""
    return _combined(a, b, 1)


def _combined(a: Diagram, b: Diagram, decisive: int) -> Diagram:
    """Join two functions by "and" (0 decides) or "or" (1 decides)."""
    if a == b:
        return a
    (nodes_a, root_a), (nodes_b, root_b) = a, b
    builder = _Builder()
    limit = _MIN_STEPS + _GROWTH * (len(nodes_a) + len(nodes_b))
    done: dict[tuple[int, int], int] = {}
    stack = [(root_a, root_b)]
    while stack:
        pair = stack[-1]
        if pair in done:
            stack.pop()
            continue
        i, j = pair
        if decisive in pair or (i < 2 and j < 2):
            # Neither is decisive only where both are the other constant.
            done[pair] = decisive if decisive in pair else 1 - decisive
            continue
        key, lows, highs = _children(nodes_a, i, nodes_b, j)
        missing = [child for child in (highs, lows) if child not in done]
        if missing:
            stack += missing
        else:
            done[pair] = builder.make(key, done[lows], done[highs])
        if len(done) > limit:
            raise TooLargeError
    return builder.finish(done[root_a, root_b])


def _children(
    nodes_a: tuple[Node, ...], i: int, nodes_b: tuple[Node, ...], j: int
) -> tuple[Key, tuple[int, int], tuple[int, int]]:
    """Return the first key that either of two nodes tests, and the pairs it leads to."""
    node_a = nodes_a[i - 2] if i > 1 else None
    node_b = nodes_b[j - 2] if j > 1 else None
    if node_b is None or (node_a is not None and node_a[0] < node_b[0]):
        assert node_a is not None
        return node_a[0], (node_a[1], j), (node_a[2], j)
    if node_a is None or node_b[0] < node_a[0]:
        return node_b[0], (i, node_b[1]), (i, node_b[2])
    return node_a[0], (node_a[1], node_b[1]), (node_a[2], node_b[2])


def difference_path(a: Diagram, b: Diagram) -> dict[Key, bool] | None:
    """Return elements to have and to lack so that a set is one of a and none of b, or None.

    None says that b covers a.
    """
    return _path(a, b, 0)


def common_path(a: Diagram, b: Diagram) -> dict[Key, bool] | None:
    """Return elements to have and to lack so that a set is one of both, or None."""
    return _path(a, b, 1)


def _path(a: Diagram, b: Diagram, wanted: int) -> dict[Key, bool] | None:
    """Return a way to 1 in the first diagram that comes to `wanted` in the second, or None."""
    (nodes_a, root_a), (nodes_b, root_b) = a, b
    seen = set()
    stack: list[tuple[int, int, tuple[Any, ...] | None]] = [(root_a, root_b, None)]
    while stack:
        i, j, path = stack.pop()
        if i == 0 or j == 1 - wanted or (i, j) in seen:
            continue
        if i == 1 and j == wanted:
            result = {}
            while path is not None:
                key, has, path = path
                result[key] = has
            return result
        seen.add((i, j))
        if len(seen) > _MAX_PAIRS:
            raise TooLargeError
        key, (low_a, low_b), (high_a, high_b) = _children(nodes_a, i, nodes_b, j)
        stack.append((high_a, high_b, (key, True, path)))
        stack.append((low_a, low_b, (key, False, path)))
    return None


def width(a: Diagram) -> int:
    """Return how many nodes at most wait below one element: what a comparison keeps apart."""
    order = keys(a)
    position = {key: index for index, key in enumerate(order)}
    first: dict[int, int] = {a[1]: -1}  # how high up each node is first pointed at
    for number in range(len(a[0]) + 1, 1, -1):
        key, low, high = a[0][number - 2]
        for child in (low, high):
            first[child] = min(first.get(child, len(order)), position[key])
    opened = [0] * (len(order) + 1)
    for number, start in first.items():
        if number > 1:
            opened[start + 1] += 1
            opened[position[a[0][number - 2][0]] + 1] -= 1
    return max(accumulate(opened))


def restrict(a: Diagram, decided: Mapping[Key, bool]) -> Diagram:
    """Return the function with some elements decided: O(nodes)."""
    nodes, root = a
    builder = _Builder()
    numbers = [0, 1]
    for key, low, high in nodes:
        has = decided.get(key)
        if has is None:
            numbers.append(builder.make(key, numbers[low], numbers[high]))
        else:
            numbers.append(numbers[high if has else low])
    return builder.finish(numbers[root])


def keys(a: Diagram) -> list[Key]:
    """Return the elements that matter, in order."""
    return sorted({key for key, _, _ in a[0]})


def forced(a: Diagram, has: bool) -> list[Key]:
    """Return the elements that every set of the function has (or lacks): O(nodes)."""
    nodes, root = a
    order = keys(a)
    position = {key: index for index, key in enumerate(order)}
    level = [len(order), len(order)] + [position[key] for key, _, _ in nodes]
    free = [0] * (len(order) + 1)  # differences: how many edges to 1 pass over a level undecided
    for start, child in _edges(a):
        if child != 0:
            free[start + 1] += 1
            free[level[child]] -= 1
    loose = set()
    passing = 0
    for index in range(len(order)):
        passing += free[index]
        if passing:
            loose.add(order[index])
    for key, low, high in nodes:
        if (low if has else high) != 0:
            loose.add(key)
    return [key for key in order if key not in loose] if root != 0 else []


def _edges(a: Diagram) -> Iterator[tuple[int, int]]:
    """Yield (level of the parent, child) for each edge, the one into the root at level -1."""
    nodes, root = a
    position = {key: index for index, key in enumerate(keys(a))}
    yield -1, root
    for key, low, high in nodes:
        yield position[key], low
        yield position[key], high


def prime_clauses(a: Diagram, at_most: int) -> list[list[Key]] | None:
    """Return the sets of elements of which each must be met, if the function is just that.

    None for a function that is not monotone, or that takes more clauses.
    """
    nodes, root = a
    # Clauses are linked lists (key, rest), shared between nodes.
    clauses: list[list[tuple[Any, ...] | None]] = [[None], []]
    work = 0
    for key, low, high in nodes:
        upper = clauses[high]
        bounds = [set(_linked(clause)) for clause in upper]
        work += sum(map(len, bounds)) * (1 + len(clauses[low]))
        lower = [
            clause
            for clause in clauses[low]
            if not bounds or not any(bound <= set(_linked(clause)) for bound in bounds)
        ]
        made: list[tuple[Any, ...] | None] = [*upper, *((key, clause) for clause in lower)]
        if len(made) > at_most or work > _MAX_STEPS:
            return None
        clauses.append(made)
    found = [sorted(_linked(clause)) for clause in clauses[root]]
    rebuilt = TRUE
    for clause in found:
        rebuilt = both(rebuilt, some_of(clause))
    return sorted(found) if rebuilt == a else None


def _linked(clause: tuple[Any, ...] | None) -> Iterator[Key]:
    while clause is not None:
        yield clause[0]
        clause = clause[1]


def paths(a: Diagram, at_most: int) -> list[tuple[list[Key], list[Key]]]:
    """Return disjoint alternatives: elements to have and to lack. TooLargeError past a number."""
    nodes, root = a
    result: list[tuple[list[Key], list[Key]]] = []
    stack: list[tuple[int, tuple[Any, ...] | None]] = [(root, None)]
    while stack:
        number, path = stack.pop()
        if number == 0:
            continue
        if number == 1:
            if len(result) == at_most:
                raise TooLargeError
            having: list[Key] = []
            lacking: list[Key] = []
            while path is not None:
                key, has, path = path
                (having if has else lacking).append(key)
            result.append((having[::-1], lacking[::-1]))
            continue
        key, low, high = nodes[number - 2]
        stack.append((low, (key, False, path)))
        stack.append((high, (key, True, path)))
    return result


def evaluate(a: Diagram, present: Collection[Key]) -> bool:
    """Return whether a set with these elements is one of the function: O(depth)."""
    nodes, number = a
    while number > 1:
        key, low, high = nodes[number - 2]
        number = high if key in present else low
    return number == 1

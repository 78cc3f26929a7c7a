"""Reduced ordered binary decision diagrams, for conditions on the elements of a set.

A diagram is a Boolean function: it accepts or refuses a set, depending on which elements the set
has. It is a tuple of nodes (key, low, high), children before parents, and the number of the root.
A set without the element `key` goes on to the child `low`, a set with the element to the child
`high`. The numbers 0 and 1 stand for the results "refuse" and "accept"; nodes[i] has the number
i + 2. Diagrams are reduced, and numbered in one fixed way, so equal functions are equal tuples.

A *clause* asks for at least one of some elements. A *cube* asks for all of some elements and none
of some others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Final, TypeAlias

from posetlib.errors import TooComplexError

__all__ = [
    "FALSE",
    "TRUE",
    "Diagram",
    "Key",
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
    "negated",
    "paths",
    "prime_clauses",
    "restrict",
    "some_of",
    "width",
]

#: The key of an element, see `posetlib.values.element_key`. Keys are ordered.
Key: TypeAlias = tuple[int, Any]
#: (key, number of the child without the element, number of the child with the element).
Node: TypeAlias = tuple[Key, int, int]
#: (nodes, number of the root). Without nodes the root is 0 or 1.
Diagram: TypeAlias = tuple[tuple[Node, ...], int]

#: Accepts no set.
FALSE: Final[Diagram] = ((), 0)
#: Accepts every set.
TRUE: Final[Diagram] = ((), 1)
# The most nodes of one diagram, and the most steps of `prime_clauses`; bounds time and memory.
_MAX_STEPS: Final = 400_000
# The most pairs of nodes that a comparison of two diagrams visits.
_MAX_PAIRS: Final = 4_000_000
# Joining two diagrams visits at most _MIN_STEPS + _GROWTH * (number of their nodes) pairs of nodes.
# So two large diagrams may be joined if the result stays of similar size, and the cost of a small
# join is bounded too.
_MIN_STEPS: Final = 10_000
_GROWTH: Final = 70


class _Builder:
    """Collects the nodes of a new diagram, with one node for each distinct function."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.numbers: dict[Node, int] = {}

    def make(self, key: Key, low: int, high: int) -> int:
        """Return the number of the node (key, low, high), which is added if it is new."""
        if low == high:
            return low
        node = (key, low, high)
        number = self.numbers.get(node)
        if number is None:
            number = len(self.nodes) + 2
            if number > _MAX_STEPS:
                raise TooComplexError
            self.nodes.append(node)
            self.numbers[node] = number
        return number

    def finish(self, root: int) -> Diagram:
        """Return the diagram below the root, numbered depth first, `low` before `high`."""
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
    """Return the cube: sets that have all elements of `having` and none of `lacking`."""
    wanted = {**dict.fromkeys(having, True), **dict.fromkeys(lacking, False)}
    builder = _Builder()
    root = 1
    for key in sorted(wanted, reverse=True):
        root = builder.make(key, 0, root) if wanted[key] else builder.make(key, root, 0)
    return builder.finish(root)


def some_of(elements: Iterable[Key]) -> Diagram:
    """Return the clause: sets that have at least one of the elements."""
    builder = _Builder()
    root = 0
    for key in sorted(set(elements), reverse=True):
        root = builder.make(key, root, 1)
    return builder.finish(root)


def is_clause(a: Diagram) -> bool:
    """Return whether the function is a clause: at least one of its elements."""
    nodes, root = a
    return root > 1 and all(high == 1 for _, _, high in nodes) and nodes[0][1] == 0


def is_cube(a: Diagram) -> bool:
    """Return whether the function is a cube: all of some elements and none of others."""
    nodes, root = a
    return (
        root > 1
        and len({key for key, _, _ in nodes}) == len(nodes)
        and all(low == 0 or high == 0 for _, low, high in nodes)
    )


def both(a: Diagram, b: Diagram) -> Diagram:
    """Return the function that accepts a set if both functions accept it."""
    return _combined(a, b, 0)


def either(a: Diagram, b: Diagram) -> Diagram:
    """Return the function that accepts a set if at least one of the two accepts it."""
    return _combined(a, b, 1)


def negated(a: Diagram) -> Diagram:
    """Return the function that accepts a set if the function does not accept it.

    >>> negated(every_of(["a"])) == every_of([], ["a"])
    True
    """
    nodes, root = a
    swapped = (1, 0)
    return (
        tuple(
            (key, swapped[low] if low < 2 else low, swapped[high] if high < 2 else high)
            for key, low, high in nodes
        ),
        swapped[root] if root < 2 else root,
    )


def _combined(a: Diagram, b: Diagram, decisive: int) -> Diagram:
    """Join two functions by "and" (decisive = 0) or by "or" (decisive = 1).

    If one function gives the decisive result, the joined function gives it too.
    """
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
            # If neither result is decisive, both are constants and equal to the other result.
            done[pair] = decisive if decisive in pair else 1 - decisive
            continue
        key, lows, highs = _children(nodes_a, i, nodes_b, j)
        missing = [child for child in (highs, lows) if child not in done]
        if missing:
            stack += missing
        else:
            done[pair] = builder.make(key, done[lows], done[highs])
        if len(done) > limit:
            raise TooComplexError
    return builder.finish(done[root_a, root_b])


def _children(
    nodes_a: tuple[Node, ...], i: int, nodes_b: tuple[Node, ...], j: int
) -> tuple[Key, tuple[int, int], tuple[int, int]]:
    """Return the smaller key of two nodes, and the two pairs of children without and with it."""
    node_a = nodes_a[i - 2] if i > 1 else None
    node_b = nodes_b[j - 2] if j > 1 else None
    if node_b is None or (node_a is not None and node_a[0] < node_b[0]):
        assert node_a is not None
        return node_a[0], (node_a[1], j), (node_a[2], j)
    if node_a is None or node_b[0] < node_a[0]:
        return node_b[0], (i, node_b[1]), (i, node_b[2])
    return node_a[0], (node_a[1], node_b[1]), (node_a[2], node_b[2])


def difference_path(a: Diagram, b: Diagram) -> dict[Key, bool] | None:
    """Return a choice of elements that `a` accepts and `b` refuses; None if `b` covers `a`.

    The choice says for some elements whether the set has them; the other elements are free.
    """
    return _path(a, b, 0)


def common_path(a: Diagram, b: Diagram) -> dict[Key, bool] | None:
    """Return a choice of elements that both accept, as `difference_path` does, or None."""
    return _path(a, b, 1)


def _path(a: Diagram, b: Diagram, wanted: int) -> dict[Key, bool] | None:
    """Return a path to 1 in the first diagram that leads to `wanted` in the second, or None."""
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
            raise TooComplexError
        key, (low_a, low_b), (high_a, high_b) = _children(nodes_a, i, nodes_b, j)
        stack.append((high_a, high_b, (key, True, path)))
        stack.append((low_a, low_b, (key, False, path)))
    return None


def width(a: Diagram) -> int:
    """Return the width: the most distinct nodes to which the edges that cross one level lead.

    A comparison visits about (nodes of one diagram) * (width of the other) pairs of nodes.
    """
    order = keys(a)
    position = {key: index for index, key in enumerate(order)}
    # For each node, the highest level from which an edge leads to it; -1 for the root.
    first: dict[int, int] = {a[1]: -1}
    for number in range(len(a[0]) + 1, 1, -1):
        key, low, high = a[0][number - 2]
        for child in (low, high):
            first[child] = min(first.get(child, len(order)), position[key])
    opened = [0] * (len(order) + 1)  # changes of the number of open nodes, level by level
    for number, start in first.items():
        if number > 1:
            opened[start + 1] += 1
            opened[position[a[0][number - 2][0]] + 1] -= 1
    return max(accumulate(opened))


def restrict(a: Diagram, decided: Mapping[Key, bool]) -> Diagram:
    """Return the function for sets in which the presence of some elements is decided: O(nodes)."""
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
    """Return the elements on which the function depends, in order."""
    return sorted({key for key, _, _ in a[0]})


def forced(a: Diagram, has: bool) -> list[Key]:
    """Return the elements that all accepted sets have (or, if not `has`, lack): O(nodes)."""
    nodes, root = a
    order = keys(a)
    position = {key: index for index, key in enumerate(order)}
    level = [len(order), len(order)] + [position[key] for key, _, _ in nodes]
    # Changes, level by level, of the number of edges that skip a level on the way to 1. The element
    # of a skipped level is free: sets with it and sets without it are accepted.
    free = [0] * (len(order) + 1)
    for start, child in _edges(a):
        if child != 0:
            free[start + 1] += 1
            free[level[child]] -= 1
    not_forced = set()
    passing = 0
    for index in range(len(order)):
        passing += free[index]
        if passing:
            not_forced.add(order[index])
    for key, low, high in nodes:
        if (low if has else high) != 0:
            not_forced.add(key)
    return [key for key in order if key not in not_forced] if root != 0 else []


def _edges(a: Diagram) -> Iterator[tuple[int, int]]:
    """Yield (level of the parent, number of the child) per edge; the root's parent is at -1."""
    nodes, root = a
    position = {key: index for index, key in enumerate(keys(a))}
    yield -1, root
    for key, low, high in nodes:
        yield position[key], low
        yield position[key], high


def prime_clauses(a: Diagram, at_most: int) -> list[list[Key]] | None:
    """Return the clauses whose conjunction is the function, each a sorted list of elements.

    None if the function is no conjunction of clauses, or has more than `at_most` clauses.
    """
    nodes, root = a
    # For each node number, its clauses. A clause is a linked list (key, rest), so that nodes can
    # share the ends of clauses. The function 0 has one clause without elements, 1 has no clause.
    clauses: list[list[tuple[Any, ...] | None]] = [[None], []]
    work = 0
    for key, low, high in nodes:
        upper = clauses[high]
        upper_sets = [set(_linked(clause)) for clause in upper]
        work += sum(map(len, upper_sets)) * (1 + len(clauses[low]))
        lower = [
            clause
            for clause in clauses[low]
            if not upper_sets
            or not any(elements <= set(_linked(clause)) for elements in upper_sets)
        ]
        node_clauses: list[tuple[Any, ...] | None] = [*upper, *((key, clause) for clause in lower)]
        if len(node_clauses) > at_most or work > _MAX_STEPS:
            return None
        clauses.append(node_clauses)
    found = [sorted(_linked(clause)) for clause in clauses[root]]
    rebuilt = TRUE
    for clause in found:
        rebuilt = both(rebuilt, some_of(clause))
    return sorted(found) if rebuilt == a else None


def _linked(clause: tuple[Any, ...] | None) -> Iterator[Key]:
    """Yield the keys of a clause that is a linked list."""
    while clause is not None:
        yield clause[0]
        clause = clause[1]


def paths(a: Diagram, at_most: int) -> list[tuple[list[Key], list[Key]]]:
    """Return the paths to 1 as disjoint cubes: (elements to have, elements to lack).

    Raises TooComplexError if there are more than `at_most` paths.
    """
    nodes, root = a
    result: list[tuple[list[Key], list[Key]]] = []
    stack: list[tuple[int, tuple[Any, ...] | None]] = [(root, None)]
    while stack:
        number, path = stack.pop()
        if number == 0:
            continue
        if number == 1:
            if len(result) == at_most:
                raise TooComplexError
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
    """Return whether the function accepts the set with the elements `present`: O(depth)."""
    nodes, number = a
    while number > 1:
        key, low, high = nodes[number - 2]
        number = high if key in present else low
    return number == 1

"""What paths mean, said as plainly as possible; and random paths and documents to try it with."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import posetlib as pl
from posetlib.filters.filter import Filter
from posetlib.models.path_patterns import Step
from posetlib.models.path_text import read_path


def holds(text: str, document: pl.Document) -> bool:
    """Return whether a document has what a path asks for, by trying every place."""
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(document.parents):
        below.setdefault(parent, []).append(node)

    def descendants(node: int) -> Iterator[int]:
        for child in below.get(node, ()):
            yield child
            yield from descendants(child)

    def found(step: Step, start: int) -> bool:
        places = below.get(start, ()) if step.is_child else descendants(start)
        return any(meets(step, place) for place in places)

    def meets(step: Step, node: int) -> bool:
        if step.name is not None and step.name != document.names[node]:
            return False
        if step.condition is not None and not step.condition.matches(document.records[node]):
            return False
        return all(found(branch, node) for branch in step.branches)

    return found(read_path(text), -1)


# -- random paths ----------------------------------------------------------------------------------

CONDITIONS = ("", "", "", "[x = 1]", "[x <= 1]", "[x >= 1]", "[x in [0, 2]]", "[exists x]")


def random_path(
    draw: random.Random,
    *,
    steps: int = 4,
    names: str = "ab",
    stars: bool = True,
    branches: float = 0.0,
    conditions: bool = False,
) -> str:
    """Return the text of a path with at most ``steps`` steps on its way down."""

    def one(left: int) -> str:
        axis = draw.choice(("/", "//"))
        name = draw.choice([*names, *("*" if stars else "")])
        text = axis + name + (draw.choice(CONDITIONS) if conditions else "")
        while left > 1 and draw.random() < branches:
            text += f"[.{one(min(left - 1, draw.randint(1, 2)))}]"
        return text + (one(left - 1) if left > 1 else "")

    return one(draw.randint(1, steps))


# -- documents -------------------------------------------------------------------------------------


def random_document(
    draw: random.Random,
    *,
    nodes: int = 6,
    names: str = "abz",
    values: tuple[Any, ...] = (None, 0, 1, 2),
) -> pl.Document:
    """Return a random forest, its records with x or without."""
    count = draw.randint(0, nodes)
    chosen, parents, records = [], [], []
    for node in range(count):
        chosen.append(draw.choice(names))
        parents.append(draw.randint(-1, node - 1))
        value = draw.choice(values)
        records.append({} if value is None else {"x": value, "#x": value})
    return pl.Document(chosen, parents, records)


def forests(nodes: int, names: str, values: tuple[Any, ...] = (None,)) -> Iterator[pl.Document]:
    """Yield every forest of up to a number of nodes, each node after its parent."""
    for count in range(nodes + 1):
        for parents in itertools.product(*(range(-1, node) for node in range(count))):
            for chosen in itertools.product(names, repeat=count):
                for found in itertools.product(values, repeat=count):
                    yield pl.Document(
                        list(chosen),
                        list(parents),
                        [{} if v is None else {"x": v, "#x": v} for v in found],
                    )


# -- canonical documents: covering decided exactly -------------------------------------------------


def canonical_documents(path: pl.DocumentPath, longest_gap: int) -> Iterator[pl.Document]:
    """Yield the documents that decide whether another path covers this one.

    Each distance that may be longer is stretched by 0 to ``longest_gap + 1`` nodes of a name that
    no path has; ``longest_gap`` is that of the other path. Where steps have conditions, the record
    takes every value that may make a difference.
    """
    edges: list[Any] = []

    def count(node: Any) -> None:
        for edge in node.edges:
            edges.append(edge)
            if edge.node is not None:
                count(edge.node)

    count(path.root)
    stretches = [
        range(1) if edge.exact or edge.node is None else range(longest_gap + 2) for edge in edges
    ]
    for chosen in itertools.product(*stretches):
        stretch = dict(zip(map(id, edges), chosen, strict=True))
        yield from _stretched(path, stretch)


def _stretched(path: pl.DocumentPath, stretch: dict[int, int]) -> Iterator[pl.Document]:
    names: list[str] = []
    parents: list[int] = []
    conditions: list[Filter | None] = []

    def add(name: str, parent: int, condition: Filter | None) -> int:
        names.append(name)
        parents.append(parent)
        conditions.append(condition)
        return len(names) - 1

    def build(node: Any, at: int) -> None:
        for edge in node.edges:
            parent = at
            for _ in range(edge.gap - 1 + stretch[id(edge)] + (edge.node is None)):
                parent = add("z", parent, None)
            if edge.node is not None:
                build(edge.node, add(edge.node.name or "z", parent, edge.node.condition))

    build(path.root, -1)
    values = [
        [{}]
        if each is None
        else [
            record for v in (-1, 0, 0.5, 1, 1.5, 2, 3) if each.matches(record := {"x": v, "#x": v})
        ]
        for each in conditions
    ]
    for records in itertools.product(*values):
        yield pl.Document(names[:], parents[:], [dict(each) for each in records])


def longest_gap(path: pl.DocumentPath) -> int:
    """Return the longest distance of an edge of a path."""
    gaps = [
        edge.gap for node in (path.root, *(n for n, _, _ in path.root.below)) for edge in node.edges
    ]
    return max(gaps)


def covers_exactly(one: pl.DocumentPath, other: pl.DocumentPath) -> bool:
    """Return whether one path matches every document that another matches; exponential."""
    wide = longest_gap(one)
    return all(one.matches(each) for each in canonical_documents(other, wide))

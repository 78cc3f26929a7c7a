"""The documents of a notification as trees, with the filters whose paths map to each node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import posetlib as pl
from browser.story import Story

__all__ = ["DocumentNode", "document_attribute", "document_nodes", "documents_of"]

#: The most nodes of a document that are shown, and the most filters that are held against them.
MOST_NODES: Final = 400
MOST_FILTERS: Final = 200


@dataclass(frozen=True, slots=True)
class DocumentNode:
    """A node of a document: how deep it lies, its text, and the filters with a step there."""

    depth: int
    name: str
    record: tuple[tuple[str, str], ...]
    filters: tuple[int, ...]


def document_attribute(story: Story) -> str:
    """Return the attribute that has documents in the filters of a story; `doc` if none has."""
    for item in story.filters.values():
        for name, constraint in item.constraints.items():
            if any(True for _ in _paths(constraint)):
                return name
    return "doc"


def documents_of(notification: Mapping[str, Any]) -> dict[str, pl.Document]:
    """Return the documents of a notification by attribute, nested objects among them."""
    found = {}
    for name, value in notification.items():
        if isinstance(value, pl.Document | Mapping):
            try:
                found[name] = pl.Document.of(value)
            except pl.DocumentError:  # too large to be matched, and that is said elsewhere
                continue
    return found


def document_nodes(story: Story, attribute: str, document: pl.Document) -> list[DocumentNode]:
    """Return the first nodes of a document, each with the filters whose paths map to it."""
    mapped: dict[int, list[int]] = {}
    for number, item in list(story.filters.items())[:MOST_FILTERS]:
        constraint = item.constraints.get(attribute)
        if constraint is not None and constraint.matches(document):
            nodes = {node for path in _paths(constraint) for node in path.mapped(document)}
            for node in nodes:
                mapped.setdefault(node, []).append(number)
    depths = document.depths()
    return [
        DocumentNode(
            depths[node],
            document.names[node],
            tuple((key, str(value)) for key, value in document.shown(node).items()),
            tuple(mapped.get(node, ())),
        )
        for node in range(min(len(document), MOST_NODES))
    ]


def _paths(constraint: pl.Constraint) -> Iterator[pl.DocumentPath]:
    """Yield the paths of a constraint, which may be several that are joined."""
    terms = constraint.alternatives()
    for each in [constraint] if terms is None else [atom for term in terms for atom in term]:
        if isinstance(each, pl.DocumentPath):
            yield each

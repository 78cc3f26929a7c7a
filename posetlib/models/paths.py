"""The constraint ``path``: a document has the nodes that a path asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, final

from posetlib.constraints.base import Constraint
from posetlib.constraints.extents import Answer, Extent
from posetlib.constraints.tokens import Tokens
from posetlib.filters.filter import Filter
from posetlib.filters.merging import merge
from posetlib.filters.parsing import register_constraint
from posetlib.models.documents import MAX_DEPTH, NUMBER_MARK, Document, name_of
from posetlib.models.path_matching import PathMatcher
from posetlib.models.path_patterns import Edge, PatternNode, covers, edge_of, normal_edge, root_of
from posetlib.models.path_text import read_path
from posetlib.values import MISSING

__all__ = ["DocumentPath"]

# No number, string or boolean is a document.
_EXTENT: Final = Extent(others=Answer.MAYBE, tight=True)
# The most documents that are tried when a witness is looked for.
_MAX_TRIALS: Final = 64


@final
class DocumentPath(Constraint):
    """Documents that have what a path asks for.

    >>> path = DocumentPath("//item[./cpu[@clock >= 700]]/board")
    >>> path.matches({"item": {"cpu": {"clock": 800}, "board": {}}})
    True
    >>> DocumentPath("//cpu").covers(path)
    True
    """

    __slots__ = ("_matcher", "root", "text")
    domain = "document"
    kind = "path"

    root: PatternNode
    text: str
    _matcher: PathMatcher | None

    def __init__(self, text: str) -> None:
        self._assign(edge_of(read_path(text)))

    @classmethod
    def of_edge(cls, edge: Edge) -> DocumentPath:
        """Return the path that begins with an edge below the root."""
        made = cls.__new__(cls)
        made._assign(edge)
        return made

    def _assign(self, edge: Edge) -> None:
        self.root = root_of(edge)
        self.text = edge.text
        self._matcher = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DocumentPath:
        """Return the path that ``to_dict`` wrote."""
        return cls(data["path"])

    @property
    def matcher(self) -> PathMatcher:
        """The path made ready to be held against documents; made when it is first asked for."""
        if self._matcher is None:
            self._matcher = PathMatcher(self.root)
        return self._matcher

    def matches(self, value: Any) -> bool:
        if isinstance(value, Document | Mapping):
            return self.matcher.matches(Document.of(value))
        return False

    def mapped(self, value: Mapping[str, Any] | Document) -> list[int]:
        """Return the numbers of the nodes of a document to which steps can be mapped.

        >>> DocumentPath("//b").mapped({"a": {"b": {}, "c": {}}})
        [1]
        """
        return self.matcher.mapped(Document.of(value))

    def covers(self, other: Constraint) -> bool:
        if isinstance(other, DocumentPath):
            return covers(self.root, other.root)
        return Constraint.covers(self, other)

    def overlaps(self, other: Constraint) -> bool:
        if isinstance(other, DocumentPath):
            # Put what both ask for side by side below the root: a document that has both.
            return True
        return Constraint.overlaps(self, other)

    def extent(self) -> Extent:
        return _EXTENT

    def tokens(self) -> tuple[Tokens, ...]:
        # Each step is laid onto one of its name, with a condition on the same attributes at least.
        nodes = [node for node, _, _ in self.root.below]
        names = {node.name for node in nodes if node.name is not None}
        asked = {(attribute,) for node in nodes for attribute in _attributes(node)}
        tokens = frozenset(names | asked)
        return (Tokens(self.kind, upward=False, asked=tokens, held=tokens),)

    def merge(self, other: Constraint) -> Constraint | None:
        if isinstance(other, DocumentPath) and not self.covers(other) and not other.covers(self):
            return _joined(self, other, _united)
        return Constraint.merge(self, other)

    def hull(self, other: Constraint) -> Constraint | None:
        if isinstance(other, DocumentPath) and not self.covers(other) and not other.covers(self):
            return _joined(self, other, _widened)
        return Constraint.merge(self, other)

    def example(self) -> Any:
        document = _document_of(self.root.edges, {}, 0)
        # Attributes and children of one name are told apart in XML, and not in a mapping.
        return document if self.matches(document) else MISSING

    def example_outside(self, other: Constraint) -> Any:
        for document in _examples(self, other):
            if self.matches(document) and not other.matches(document):
                return document
        return MISSING

    def clauses(self, name: str) -> tuple[str, ...]:
        return (f"{name} {self.kind} {json.dumps(self.text, ensure_ascii=False)}",)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "path": self.text}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DocumentPath) and self.text == other.text

    def __hash__(self) -> int:
        return hash((DocumentPath, self.text))

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (DocumentPath, (self.text,))


def _attributes(node: PatternNode) -> tuple[str, ...]:
    return () if node.condition is None else node.condition.attributes


# -- merging ---------------------------------------------------------------------------------------


def _joined(one: DocumentPath, other: DocumentPath, join: Any) -> DocumentPath | None:
    """Return the path whose pattern two patterns join to, None if they do not."""
    edge = join(one.root.edges[0], other.root.edges[0])
    return None if edge is None else DocumentPath.of_edge(edge)


def _united(one: Edge, other: Edge) -> Edge | None:
    """Return an edge for exactly both: they differ in the condition of one step alone.

    "There is a node that meets C or D" says the same as "there is one that meets C, or one that
    meets D".
    """
    if one[:2] != other[:2] or one.node is None or other.node is None:
        return None
    mine, theirs = one.node, other.node
    if mine.name != theirs.name:
        return None
    condition = mine.condition
    if condition == theirs.condition:
        only_mine = [each for each in mine.edges if each not in theirs.edges]
        only_theirs = [each for each in theirs.edges if each not in mine.edges]
        if len(only_mine) != 1 or len(only_theirs) != 1:
            return None
        inner = _united(only_mine[0], only_theirs[0])
        if inner is None:
            return None
        edges = (inner, *(each for each in mine.edges if each in theirs.edges))
        return normal_edge(one.gap, one.exact, mine.name, condition, edges)
    if mine.edges != theirs.edges or condition is None or theirs.condition is None:
        return None
    union = merge(condition, theirs.condition)
    if union is None:
        return None
    return normal_edge(one.gap, one.exact, mine.name, Filter(union.constraints), mine.edges)


def _widened(one: Edge, other: Edge) -> Edge | None:
    """Return an edge that covers both, of the same shape: names and conditions that differ go."""
    if one[:2] != other[:2] or (one.node is None) != (other.node is None):
        return None
    if one.node is None or other.node is None:
        return one
    mine, theirs = one.node, other.node
    if len(mine.edges) != len(theirs.edges):
        return None
    edges = [each for each in mine.edges if each in theirs.edges]
    left = [each for each in theirs.edges if each not in edges]
    for each in mine.edges:
        if each not in edges:
            inner = _widened(each, left.pop(0))
            if inner is None:
                return None
            edges.append(inner)
    condition = None
    if mine.condition is not None and theirs.condition is not None:
        found = merge(mine.condition, theirs.condition, perfect=False)
        condition = None if found is None or not found.constraints else Filter(found.constraints)
    name = mine.name if mine.name == theirs.name else None
    return normal_edge(one.gap, one.exact, name, condition, edges)


# -- examples --------------------------------------------------------------------------------------


def _examples(path: DocumentPath, other: Constraint) -> Iterator[Any]:
    """Yield documents that the path matches and that other constraints may not match.

    Distances that may be longer are stretched past those of the other path, and values are taken
    where the conditions of the other path do not hold.
    """
    conditions: list[Filter | None] = [None]
    longest = 0
    if isinstance(other, DocumentPath):
        nodes = [other.root, *(node for node, _, _ in other.root.below)]
        found = dict.fromkeys(node.condition for node in nodes)
        conditions += [each for each in found if each is not None]
        longest = max(edge.gap for node in nodes for edge in node.edges)
    # A distance that is longer than any of the other path need not be longer still.
    stretches = dict.fromkeys((longest + 1, 0, 1, 2))
    trials = ((stretch, condition) for stretch in stretches for condition in conditions)
    for stretch, condition in islice(trials, _MAX_TRIALS):
        if path.root.height * (1 + stretch) < MAX_DEPTH:
            outside = {} if condition is None else dict(condition.constraints)
            yield _document_of(path.root.edges, outside, stretch)


def _document_of(
    edges: tuple[Edge, ...], outside: Mapping[str, Constraint], stretch: int
) -> dict[str, Any]:
    """Return a nested mapping with the nodes of some edges, each edge apart from the others."""
    result: dict[str, Any] = {}
    for edge in edges:
        inner: dict[str, Any] = {}
        name = None
        if edge.node is not None:
            name = edge.node.name
            inner = _document_of(edge.node.edges, outside, stretch)
            for key, value in _record_of(edge.node.condition, outside).items():
                _put(inner, key, value)
        levels = edge.gap + (0 if edge.exact else stretch)
        for _ in range(levels - 1):
            inner = {_written(name): inner}
            name = None
        _put(result, _written(name), inner)
    return result


def _written(name: str | None) -> str:
    # No path has a name with a space by accident: a step of any name alone finds it.
    return "any name" if name is None else name


def _put(mapping: dict[str, Any], name: str, value: Any) -> None:
    """Put a value under a name, beside what is there already."""
    before = mapping.get(name, {})
    if before == {}:  # a node that only has to be there: any value under its name is one
        mapping[name] = value
    elif value != {}:
        mapping[name] = [*before, value] if isinstance(before, list) else [before, value]


def _record_of(condition: Filter | None, outside: Mapping[str, Constraint]) -> dict[str, Any]:
    """Return values that meet a condition; where it can be, values that miss other constraints."""
    record: dict[str, Any] = {}
    for name, constraint in ({} if condition is None else condition.constraints).items():
        value: Any = MISSING
        if name in outside:
            value = constraint.example_outside(outside[name])
        if value is MISSING:
            value = constraint.example()
        plain = name_of(name)
        if value is not MISSING and (name.startswith(NUMBER_MARK) or plain not in record):
            # A number comes first in the order of names, and says what the value is.
            record[plain] = list(value) if isinstance(value, set | frozenset) else value
    return record


register_constraint(DocumentPath.kind, DocumentPath)

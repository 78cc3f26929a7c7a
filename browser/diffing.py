"""Two tables against each other: what differs, marked in drawings and told in a list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import posetlib as pl
from browser.graph import Graph, Node, graph_of
from browser.shortening import short

__all__ = ["Comparison", "Listed", "compare", "numbered"]

#: What can happen to a filter between two tables, in the order of the list.
KINDS: Final = ("added", "removed", "moved", "relinked", "changed")


class Listed(NamedTuple):
    """One line of the list of changes."""

    kind: str
    number: int
    text: str


def numbered(
    *snapshots: pl.Snapshot[Any], known: Mapping[pl.Filter, int] | None = None
) -> dict[pl.Filter, int]:
    """Return a number for each filter: the known one, or the next that is free."""
    number = dict(known or {})
    following = max(number.values(), default=0) + 1
    for snapshot in snapshots:
        for node in snapshot.nodes:
            if node.item not in number:
                number[node.item] = following
                following += 1
    return number


@dataclass(frozen=True)
class Comparison:
    """Two tables, by filters and by numbers."""

    diff: pl.Diff[Any]
    number: Mapping[pl.Filter, int]
    before: Graph
    after: Graph

    @cached_property
    def marks(self) -> dict[int, list[str]]:
        """What happened to each filter that anything happened to."""
        number = self.number
        marks: dict[int, list[str]] = {}
        for kind, items in (
            ("added", self.diff.nodes_added),
            ("removed", self.diff.nodes_removed),
        ):
            for item in items:
                marks.setdefault(number[item], []).append(kind)
        for item in self.diff.moved:
            each = number[item]
            # To have lost one parent of many is not to be somewhere else.
            kept = set(self.before.parents[each]) & set(self.after.parents[each])
            marks.setdefault(each, []).append("relinked" if kept else "moved")
        for item, _ in (*self.diff.interfaces_gained, *self.diff.interfaces_lost):
            found = marks.setdefault(number[item], [])
            if "changed" not in found:
                found.append("changed")
        return marks

    @cached_property
    def edge_marks(self) -> dict[tuple[int, int], str]:
        """The edges that only one of the tables has."""
        number = self.number
        marks = {}
        for kind, edges in (
            ("added", self.diff.edges_added),
            ("removed", self.diff.edges_removed),
        ):
            for parent, child in edges:
                marks[number[parent], number[child]] = kind
        return marks

    @property
    def counts(self) -> dict[str, int]:
        """How many filters are added, removed, moved, relinked, changed; and how many edges."""
        marks = self.marks.values()
        counts = {kind: sum(kind in found for found in marks) for kind in KINDS}
        counts["edges added"] = len(self.diff.edges_added)
        counts["edges removed"] = len(self.diff.edges_removed)
        return counts

    @cached_property
    def overlay(self) -> Graph:
        """Both tables in one graph."""
        nodes: dict[int, Node] = dict(self.before.nodes)
        nodes.update(self.after.nodes)
        edges = dict.fromkeys((*self.after.edges, *self.before.edges))
        return Graph(nodes, tuple(edges))

    @cached_property
    def changes(self) -> Graph:
        """What differs, and nothing else: changed filters, and both ends of changed edges."""
        kept = {*self.marks, *(end for edge in self.edge_marks for end in edge)}
        nodes = {each: node for each, node in self.overlay.nodes.items() if each in kept}
        edges = (edge for edge in self.overlay.edges if edge[0] in kept and edge[1] in kept)
        return Graph(nodes, tuple(edges))

    def listed(self) -> list[Listed]:
        """Return the changes one by one, by kind, in the order of the tables."""
        number = self.number
        lost: dict[int, list[str]] = {}
        gained: dict[int, list[str]] = {}
        for item, interface in self.diff.interfaces_lost:
            lost.setdefault(number[item], []).append(str(interface))
        for item, interface in self.diff.interfaces_gained:
            gained.setdefault(number[item], []).append(str(interface))
        result = []
        for kind in KINDS:
            for each in self.overlay.nodes:
                if kind not in self.marks.get(each, ()):
                    continue
                text = short(self.overlay.nodes[each].text, 90)
                if kind in ("moved", "relinked"):
                    text += f": {_named(self.before, each)} → {_named(self.after, each)}"
                elif kind == "changed":
                    parts = [f"+{name}" for name in gained.get(each, ())]
                    parts += [f"−{name}" for name in lost.get(each, ())]
                    text += f": {', '.join(parts)}"
                result.append(Listed(kind, each, text))
        return result

    def to_json(self, a: str, b: str) -> str:
        """Return the difference as a document, with the names of both sides."""
        document: dict[str, Any] = {
            "format": "posetlib-diff",
            "version": 1,
            "a": a,
            "b": b,
            "counts": self.counts,
            "diff": self.diff.to_dict(),
        }
        return json.dumps(document, indent=1, ensure_ascii=False)


def _named(graph: Graph, number: int) -> str:
    parents = graph.parents[number]
    if not parents:
        return "root"
    more = f" +{len(parents) - 3}" if len(parents) > 3 else ""
    return ", ".join(f"#{each}" for each in parents[:3]) + more


def compare(
    before: pl.Snapshot[Any], after: pl.Snapshot[Any], known: Mapping[pl.Filter, int] | None = None
) -> Comparison:
    """Return what is different in the second of two tables; O(nodes + edges of both).

    >>> t = pl.PosetForest()
    >>> _ = t.add(pl.parse_filter("x > 5"), "I1")
    >>> one = t.snapshot()
    >>> _ = t.add(pl.parse_filter("x > 1"), "I2")
    >>> compare(one, t.snapshot()).marks
    {2: ['added'], 1: ['moved']}
    """
    number = numbered(before, after, known=known)
    return Comparison(
        pl.diff(before, after), number, graph_of(before, number), graph_of(after, number)
    )

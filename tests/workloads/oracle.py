"""What is wrong with a table, by the definitions alone: every filter against every other one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from typing import Any

from posetlib import Filter, parse_filter

Rows = list[dict[str, Any]]

_FORESTS = ("pf", "bf", "nrf")


def violations(
    header: dict[str, Any],
    nodes: Rows,
    edges: Rows,
    pairs: Sequence[tuple[str, str]] | None = None,
    notifications: Sequence[dict[str, Any]] = (),
) -> dict[str, int]:
    """Return the number of violations of each invariant that applies, but for forwards-agree.

    Typed columns are none of the rows'.
    """
    return _Table(header, nodes, edges).violations(pairs, notifications)


class _Table:
    def __init__(self, header: dict[str, Any], nodes: Rows, edges: Rows) -> None:
        self.structure = header["structure"]
        self.local = header.get("local", False)
        self.nodes = nodes
        self.ids = [node["id"] for node in nodes]
        self.filter = {node["id"]: parse_filter(node["filter"]) for node in nodes}
        self.held = {node["id"]: set(node["interfaces"] or ()) for node in nodes}
        self.edges = [(edge["parent"], edge["child"]) for edge in edges]
        self.roots = [each for each in self.ids if each not in {child for _, child in self.edges}]
        self.below = {each: self._reach(each) for each in self.ids}
        self.over = {
            (one, other): self.filter[one].covers(self.filter[other])
            for one in self.ids
            for other in self.ids
        }

    def _reach(self, start: int) -> set[int]:
        """Return what paths of one edge or more lead to."""
        found: set[int] = set()
        stack = [start]
        while stack:
            above = stack.pop()
            for parent, child in self.edges:
                if parent == above and child not in found:
                    found.add(child)
                    stack.append(child)
        return found

    def strictly(self, one: int, other: int) -> bool:
        return self.over[one, other] and not self.over[other, one]

    def violations(
        self, pairs: Sequence[tuple[str, str]] | None, notifications: Sequence[dict[str, Any]]
    ) -> dict[str, int]:
        found = {
            "edge-covers": sum(not self.strictly(*edge) for edge in self.edges),
            "sibling-pure": self.siblings(),
            "roots-minimal-cover": sum(
                (each in self.roots) == any(self.over[o, each] for o in self.ids if o != each)
                for each in self.ids
            ),
            "reachable-acyclic": len(self.astray()),
            "interfaces-nonempty": sum(not self.held[each] for each in self.ids),
            "match-agrees": sum(self.missed(each) for each in notifications),
            "distinct-filters": sum(
                any(self.over[o, each] and self.over[each, o] for o in self.ids[:at])
                for at, each in enumerate(self.ids)
            ),
        }
        if self.structure in _FORESTS:
            parents = Counter(child for _, child in self.edges)
            found["single-parent"] = sum(count > 1 for count in parents.values())
        if self.structure == "fp":
            found["complete-order"] = sum(
                (other in self.below[one]) != (one != other and self.strictly(one, other))
                for one in self.ids
                for other in self.ids
            )
        if self.structure != "linear" and not self.local:
            found["minimum-interface"] = sum(
                len(
                    self.held[each]
                    & {i for o in self.ids if o != each and each in self.below[o]
                       for i in self.held[o]}
                )
                for each in self.ids
            )  # fmt: skip
        if self.structure in ("fp", "nrf"):
            found["no-redundant-pair"] = sum(
                len(self.held[one] & self.held[other])
                for one, other in permutations(self.ids, 2)
                if self.over[one, other]
            )
        if self.structure in ("bf", "nrf") and any(n["index"] is not None for n in self.nodes):
            found["interface-index"] = sum(
                len(set(node["index"]) ^ self.held_below(node["id"]))
                for node in self.nodes
                if node["index"] is not None
            )
        if pairs is not None:
            found |= self.against([(parse_filter(text), interface) for text, interface in pairs])
        return found

    def astray(self) -> set[int]:
        """Return what lies on a cycle, or below one."""
        cycles = {each for each in self.ids if each in self.below[each]}
        return cycles.union(*(self.below[each] for each in cycles))

    def siblings(self) -> int:
        families = [self.roots] + [
            [child for parent, child in self.edges if parent == each] for each in self.ids
        ]
        return sum(self.over[pair] for family in families for pair in permutations(family, 2))

    def held_below(self, node: int) -> set[str]:
        return {i for each in self.below[node] - {node} for i in self.held[each]}

    def missed(self, notification: dict[str, Any]) -> bool:
        matching = {each for each in self.ids if self.filter[each].matches(notification)}
        stack = [each for each in self.roots if each in matching]
        walked: set[int] = set()
        while stack:
            node = stack.pop()
            if node not in walked:
                walked.add(node)
                stack += [c for p, c in self.edges if p == node and c in matching]
        scanned = {i for each in matching for i in self.held[each]}
        return scanned != {i for each in walked for i in self.held[each]}

    def against(self, pairs: list[tuple[Filter, str]]) -> dict[str, int]:
        own = [(each, i) for each in self.ids for i in sorted(self.held[each])]

        def same(one: Filter, other: Filter) -> bool:
            return one.covers(other) and other.covers(one)

        def serves(node: int, f: Filter) -> bool:
            mine = self.filter[node]
            return same(mine, f) if self.local else mine.covers(f)

        unserved = sum(
            not any(i == interface and serves(node, f) for node, i in own) for f, interface in pairs
        )
        if self.structure in ("fp", "nrf", "linear") and not self.local:
            # Elimination leaves none that another pair of the table makes redundant.
            unserved += sum(
                any(i == j and node != o and self.over[o, node] for o, j in own) for node, i in own
            )
        top = [
            f
            for at, (f, _) in enumerate(pairs)
            if not any(
                g.covers(f) and (not f.covers(g) or before < at)
                for before, (g, _) in enumerate(pairs)
                if before != at
            )
        ]
        roots = [self.filter[each] for each in self.roots]
        return {
            "entries-served": unserved,
            "entries-asked": sum(
                not any(i == interface and same(self.filter[node], f) for f, interface in pairs)
                for node, i in own
            ),
            "same-roots": sum(not any(same(f, g) for g in top) for f in roots)
            + sum(not any(same(f, g) for g in roots) for f in top),
        }

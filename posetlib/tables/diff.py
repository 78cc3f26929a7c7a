"""The difference between two tables, or between two snapshots of one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Generic

from posetlib.graph.change import Item, Pair
from posetlib.tables.forwards import forwards_sets
from posetlib.tables.item_type import ItemT
from posetlib.tables.snapshot import Snapshot

__all__ = ["Diff", "diff"]


@dataclass(frozen=True, slots=True)
class Diff(Generic[ItemT]):
    """The difference between two tables, as filters; false when there is none.

    Interfaces are compared for filters that both have, and a filter has *moved* when both have it,
    with other parents. Each part is in the order of the table that it is about.
    """

    nodes_added: tuple[ItemT, ...] = ()
    nodes_removed: tuple[ItemT, ...] = ()
    #: (parent, child) pairs, those of added and removed filters included.
    edges_added: tuple[tuple[ItemT, ItemT], ...] = ()
    edges_removed: tuple[tuple[ItemT, ItemT], ...] = ()
    moved: tuple[ItemT, ...] = ()
    #: (filter, interface) pairs.
    interfaces_gained: tuple[tuple[ItemT, Hashable], ...] = ()
    interfaces_lost: tuple[tuple[ItemT, Hashable], ...] = ()
    roots_added: tuple[ItemT, ...] = ()
    roots_removed: tuple[ItemT, ...] = ()
    #: (filter, set before, set after); only when neighbours were given.
    forwards_changed: tuple[tuple[ItemT, frozenset[Hashable], frozenset[Hashable]], ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def to_dict(self, encode: Callable[[ItemT], str] = str) -> dict[str, list[Any]]:
        """Return the difference as a JSON-able value; sets of interfaces become sorted lists."""

        def encoded(part: Any) -> Any:
            if not isinstance(part, tuple):
                return encode(part)
            item, *rest = part
            return [encode(item), *(sorted(map(str, each)) for each in rest)]

        result: dict[str, list[Any]] = {}
        for field in fields(self):
            part = getattr(self, field.name)
            if field.name.startswith("edges"):
                result[field.name] = [[encode(one), encode(other)] for one, other in part]
            elif field.name.startswith("interfaces"):
                result[field.name] = [[encode(item), str(each)] for item, each in part]
            elif field.name == "forwards_changed":
                result[field.name] = [encoded(each) for each in part]
            else:
                result[field.name] = [encode(item) for item in part]
        return result

    def __str__(self) -> str:
        lines: list[str] = []
        for name, part in self.to_dict().items():
            lines.extend(f"{name.replace('_', ' ')}: {_line(name, each)}" for each in part)
        return "\n".join(lines) or "no difference"


def _line(name: str, part: Any) -> str:
    if name.startswith("edges"):
        return f"{part[0]} → {part[1]}"
    if name.startswith("interfaces"):
        return f"{part[0]}, {part[1]}"
    if name == "forwards_changed":
        before, after = ("{" + ", ".join(each) + "}" for each in part[1:])
        return f"{part[0]}: {before} → {after}"
    return str(part)


def diff(
    a: Any,
    b: Any,
    neighbours: Collection[Hashable] | Callable[[Item], Collection[Hashable]] | None = None,
    **options: Any,
) -> Diff[Any]:
    """Return what b has and a has not, and the reverse; each is a table or a snapshot.

    With ``neighbours`` the forwards sets are compared, too; for snapshots of other items than
    filters the options are then those of the table, such as ``covers``.

    >>> from posetlib import FiltersPoset
    >>> t = FiltersPoset(covers=lambda a, b: b.startswith(a))
    >>> _ = t.add("ab", "I1")
    >>> before = t.snapshot()
    >>> _ = t.add("a", "I2")
    >>> print(diff(before, t))
    nodes added: a
    edges added: a → ab
    moved: ab
    roots added: a
    roots removed: ab
    """
    old, new = _Side(_snapshot(a)), _Side(_snapshot(b))
    forwards: tuple[tuple[Item, frozenset[Hashable], frozenset[Hashable]], ...] = ()
    if neighbours is not None:
        before = forwards_sets(_table(a, options), neighbours)
        after = forwards_sets(_table(b, options), neighbours)
        none: frozenset[Hashable] = frozenset()
        forwards = tuple(
            (item, before.get(item, none), after.get(item, none))
            for item in dict.fromkeys([*before, *after])
            if before.get(item) != after.get(item)
        )
    return Diff(
        nodes_added=_missing(new.interfaces, old.interfaces),
        nodes_removed=_missing(old.interfaces, new.interfaces),
        edges_added=_missing(new.edges, old.edges),
        edges_removed=_missing(old.edges, new.edges),
        moved=tuple(
            item
            for item, parents in new.parents.items()
            if item in old.parents and old.parents[item] != parents
        ),
        interfaces_gained=_gained(old, new),
        interfaces_lost=_gained(new, old),
        roots_added=_missing(new.roots, old.roots),
        roots_removed=_missing(old.roots, new.roots),
        forwards_changed=forwards,
    )


class _Side:
    """One of the two, by filters instead of ids."""

    def __init__(self, snapshot: Snapshot[Any]) -> None:
        item = {node.id: node.item for node in snapshot.nodes}
        self.interfaces = {node.item: node.interfaces for node in snapshot.nodes}
        self.parents: dict[Item, set[Item]] = {each: set() for each in self.interfaces}
        self.edges: dict[tuple[Item, Item], None] = {}
        for parent, child in snapshot.edges:
            self.edges[item[parent], item[child]] = None
            self.parents[item[child]].add(item[parent])
        self.roots = dict.fromkeys(each for each, parents in self.parents.items() if not parents)


def _missing(these: Iterable[Any], those: Collection[Any]) -> tuple[Any, ...]:
    return tuple(each for each in these if each not in those)


def _gained(old: _Side, new: _Side) -> tuple[Pair, ...]:
    return tuple(
        (item, interface)
        for item, interfaces in new.interfaces.items()
        if item in old.interfaces
        for interface in interfaces
        if interface not in old.interfaces[item]
    )


def _snapshot(side: Any) -> Snapshot[Any]:
    # The index is no part of the difference, and in a deep forest it is long.
    return side if isinstance(side, Snapshot) else side.snapshot(index=False)


def _table(side: Any, options: dict[str, Any]) -> Any:
    return side.restore(**options) if isinstance(side, Snapshot) else side

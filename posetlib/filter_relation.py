"""The relation of tables of filters: the only place where tables touch the filter language."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from posetlib.boxes import BoxReader
from posetlib.change import Item
from posetlib.constraints.base import Constraint, Exists, Mixture
from posetlib.constraints.booleans import Booleans
from posetlib.constraints.multivalues import MultiValues
from posetlib.constraints.numbers import Numbers
from posetlib.constraints.strings import Strings
from posetlib.constraints.types import Isa, TypeHierarchy
from posetlib.errors import FilterError
from posetlib.filters import Filter
from posetlib.matching import Following
from posetlib.relation import NO_KIND, Partition, Relation

__all__ = [
    "ByAttribute",
    "filter_canonical",
    "filter_covers",
    "filter_matches",
    "hierarchy_of",
    "relation_of",
]


def filter_covers(one: Any, other: Any) -> bool:
    """The covering relation of filters."""
    return one.covers(other)  # type: ignore[no-any-return]


def filter_matches(one: Any, notification: Mapping[str, Any]) -> bool:
    """The matching of filters."""
    return one.matches(notification)  # type: ignore[no-any-return]


def filter_canonical(one: Any) -> bool:
    """Whether a filter is one of those of which no two are equivalent and not equal.

    Suffixes and substrings, types of two hierarchies, and kinds of constraint that others bring,
    may be written in two ways that cover each other.
    """
    return all(map(_is_canonical, one.terms))


def _is_canonical(constraint: Constraint) -> bool:
    if isinstance(constraint, Strings):
        return not any(term.having or term.lacking for term in constraint.terms)
    return isinstance(constraint, Numbers | Booleans | MultiValues | Exists)


@dataclass(frozen=True, slots=True)
class ByAttribute:
    """The kinds of filters that ask for one string in an attribute, such as an event type.

    Filters with ``type = "A"`` and ``type = "B"`` are incomparable, and a notification is matched
    by filters of its own type and by those that ask for no single type.
    """

    name: str = "type"

    def of(self, item: Item) -> Hashable:
        """Return the one string that a filter asks for, None if it asks for no single one."""
        constraint = item.get(self.name)
        if constraint is None or not isinstance(constraint, Strings):
            return None
        value = constraint.example()
        return value if constraint == Strings.points((value,)) else None

    def of_notification(self, notification: Mapping[str, Any]) -> Hashable:
        """Return the string in the attribute."""
        value = notification.get(self.name)
        return str(value) if isinstance(value, str) else NO_KIND


def relation_of(
    covers: Callable[[Any, Any], bool] | None,
    matches: Callable[[Any, Any], bool] | None,
    canonical: Callable[[Any], bool] | bool | None,
    partition: Partition | None,
) -> Relation:
    """Return the relation that a table was asked for: without ``covers`` that of filters."""
    if covers is None:
        return Relation(
            filter_covers,
            filter_matches if matches is None else matches,
            filter_canonical if canonical is None else canonical,
            ByAttribute() if partition is None else partition,
            BoxReader,
            Following if matches is None else None,
            expects="filters",
        )
    return Relation(covers, matches, bool(canonical) if canonical is None else canonical, partition)


def hierarchy_of(items: Iterable[Item]) -> TypeHierarchy | None:
    """Return the hierarchy that reads `isa` in filters as they mean it, None if none says `isa`.

    FilterError when two filters see one type differently.
    """
    seen: dict[str, frozenset[str]] = {}
    for item in items:
        if not isinstance(item, Filter):
            continue
        for constraint in item.constraints.values():
            for isa in _isas(constraint):
                for name, below in isa.to_dict()["types"].items():
                    subtypes = frozenset(below)
                    if seen.setdefault(name, subtypes) != subtypes:
                        raise FilterError(f"the subtypes of {name} are not the same in all filters")
    if not any(seen.values()):
        # Without a hierarchy a type is only itself, which is all that these filters say.
        return None
    supertypes: dict[str, list[str]] = {name: [] for name in seen}
    for name, subtypes in seen.items():
        for subtype in sorted(subtypes):
            supertypes[subtype].append(name)
    return TypeHierarchy(supertypes)


def _isas(constraint: Constraint) -> Iterator[Isa]:
    if isinstance(constraint, Isa):
        yield constraint
    elif isinstance(constraint, Mixture):
        for term in constraint.terms:
            for atom in term:
                yield from _isas(atom)

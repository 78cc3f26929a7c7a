"""The relation of tables of filters: where the tables meet the filter language."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from posetlib.constraints.base import Constraint
from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import FilterError, SnapshotError
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter
from posetlib.matching.bitmap import BitmapMatcher
from posetlib.search.relation import NO_PART, Partition, Relation
from posetlib.tables.filter_boxes import FilterBoxes
from posetlib.values import MISSING

__all__ = [
    "FILTERS",
    "ByAttribute",
    "filter_relation",
    "hierarchy_in",
    "hierarchy_of",
    "read_types",
]


@dataclass(frozen=True, slots=True)
class ByAttribute:
    """Divides filters by the one string that they ask of an attribute, such as an event type.

    Filters with ``type = "A"`` and ``type = "B"`` are incomparable, and a notification is matched
    by filters of its own type and by filters that ask for no single type.

    >>> ByAttribute().of(parse_filter('type = "A" and x > 3'))
    'A'
    """

    name: str = "type"

    def of(self, item: Any) -> Hashable:
        """Return the one string that a filter asks for, None if it asks for no single one."""
        constraint = item.get(self.name)
        if constraint is None:
            return None
        value = constraint.single_value()
        return None if value is MISSING else value

    def of_notification(self, notification: Mapping[str, Any]) -> Hashable:
        """Return the string in the attribute."""
        value = notification.get(self.name)
        return str(value) if isinstance(value, str) else NO_PART


def _covers(one: Any, other: Any) -> bool:
    return one.covers(other)  # type: ignore[no-any-return]


def _matches(one: Any, notification: Mapping[str, Any]) -> bool:
    return one.matches(notification)  # type: ignore[no-any-return]


def _is_canonical(one: Any) -> bool:
    """Return whether equality tells equivalence for each constraint of a filter."""
    return all(constraint.is_canonical() for constraint in one.terms)


def _check(item: object) -> None:
    if not callable(getattr(item, "covers", None)):
        raise TypeError(
            f"the table holds filters, not {type(item).__name__}; "
            "for items of another kind, give it covers= (and matches=), or relation="
        )


def _context(items: Iterable[Any]) -> dict[str, Any]:
    try:
        types = hierarchy_of(items)
    except FilterError as error:
        raise SnapshotError(f"filters of two hierarchies: {error}") from None
    return {} if types is None else {"types": types.to_dict()}


def _reader(context: Mapping[str, Any]) -> Callable[[str], Filter]:
    types = read_types(context)
    return lambda text: parse_filter(text, types=types)


def read_types(context: Mapping[str, Any]) -> TypeHierarchy | None:
    """Return the hierarchy of types that a file of filters names, None if it names none.

    SnapshotError for anything that is no hierarchy.
    """
    data = context.get("types")
    if data is None:
        return None
    if not isinstance(data, Mapping):
        raise SnapshotError(
            f'"types" maps a type to its supertypes, as a hierarchy, not {type(data).__name__}'
        )
    try:
        return TypeHierarchy(data)
    except (FilterError, TypeError) as error:
        raise SnapshotError(f'"types" is no hierarchy: {error}') from None


#: Filters as they are: divided by `type`, with boxes, and a bitmap matcher.
FILTERS: Final[Relation[Filter]] = Relation(
    covers=_covers,
    matches=_matches,
    canonical=_is_canonical,
    partition=ByAttribute(),
    boxes=FilterBoxes,
    matcher=BitmapMatcher,
    context=_context,
    reader=_reader,
    check=_check,
)


def filter_relation(
    matches: Callable[[Any, Any], bool] | None = None,
    canonical: Callable[[Any], bool] | bool | None = None,
    partition: Partition | None = None,
) -> Relation[Filter]:
    """Return the relation of filters with some of its parts replaced."""
    relation = FILTERS
    if matches is not None:
        # A matcher would match as the filters do.
        relation = replace(relation, matches=matches, matcher=None)
    if canonical is not None:
        relation = replace(relation, canonical=canonical)
    return relation if partition is None else replace(relation, partition=partition)


def hierarchy_of(items: Iterable[Any]) -> TypeHierarchy | None:
    """Return the hierarchy that reads `isa` in filters as they mean it, None if none says `isa`.

    FilterError when two filters see one type differently.
    """
    return hierarchy_in(
        constraint for item in items if isinstance(item, Filter) for constraint in item.terms
    )


def hierarchy_in(constraints: Iterable[Constraint]) -> TypeHierarchy | None:
    """Return the hierarchy that reads `isa` in constraints as they mean it; as ``hierarchy_of``."""
    seen: dict[str, frozenset[str]] = {}
    for constraint in constraints:
        for name, subtypes in constraint.subtypes():
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

"""The languages of routers: what subscriptions and advertisements are written in."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from operator import eq
from typing import Any, Final

from posetlib.expressions import EXPRESSIONS, Expression
from posetlib.filters.filter import Filter
from posetlib.search.relation import Relation
from posetlib.tables import FILTERS

__all__ = ["FILTER_LANGUAGE", "LANGUAGES", "Language"]


class _EachForItself:
    """Puts every item into a part of its own."""

    def of(self, item: Any) -> Hashable:
        return item  # type: ignore[no-any-return]

    def of_notification(self, notification: Any) -> Hashable:
        return None


@dataclass(frozen=True, slots=True)
class Language:
    """What the items of a router are, and how they compare."""

    name: str
    item: type
    relation: Relation[Any]

    def same_only(self) -> Relation[Any]:
        """Return the relation without any order: each item covers itself alone.

        Routing by identity is routing by covering in this order.
        """
        return replace(
            self.relation, covers=eq, canonical=True, partition=_EachForItself(), boxes=None
        )

    def check(self, item: object) -> None:
        """Raise TypeError for an item of another language."""
        if not isinstance(item, self.item):
            raise TypeError(f"a router holds {self.name}, not {type(item).__name__}")


FILTER_LANGUAGE: Final = Language("filters", Filter, FILTERS)
#: Languages by their names. Filters merge; expressions do not.
LANGUAGES: Final = {
    each.name: each for each in (FILTER_LANGUAGE, Language("expressions", Expression, EXPRESSIONS))
}

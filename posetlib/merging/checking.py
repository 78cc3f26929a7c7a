"""Whether a merged set stands for the filters it was made of: ``merge-covers``, ``merge-perfect``.

Worked out anew from the filters alone, by covering, by two sets and by several filters together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from posetlib.errors import InvariantError
from posetlib.filters.filter import Filter
from posetlib.merging.union_covering import union_covers
from posetlib.tables.poset_forest import PosetForest
from posetlib.tables.table import Table

__all__ = [
    "MERGE_COVERS",
    "MERGE_PERFECT",
    "MergeViolation",
    "check_merged",
    "merge_violations",
]

#: The merged set covers the set it was made of.
MERGE_COVERS = "merge-covers"
#: The merged set matches nothing that the set does not match.
MERGE_PERFECT = "merge-perfect"


@dataclass(frozen=True, slots=True)
class MergeViolation:
    """A filter that breaks an invariant of merged sets, and a notification that shows it."""

    invariant: str
    #: A filter of the set that is not covered, or a merged filter that matches too much.
    filter: Filter
    witness: dict[str, Any] | None

    def __str__(self) -> str:
        shown = "" if self.witness is None else f", as {self.witness} shows"
        if self.invariant == MERGE_COVERS:
            return f"the merged set does not cover {self.filter}{shown}"
        return f"{self.filter} matches more than the filters it stands for{shown}"


def merge_violations(
    filters: Collection[Filter], merged: Collection[Filter], *, perfect: bool
) -> Iterator[MergeViolation]:
    """Yield what is wrong with a merged set; a ``union_covers`` for each filter of both sets.

    Where covering is not decided, as for patterns of strings, a filter is reported as not covered
    if no merged filter covers it alone; a merged filter is reported only with a witness.

    >>> from posetlib.filters import parse_filter
    >>> some = [parse_filter("x in [0, 5]"), parse_filter("x in [7, 9]")]
    >>> [each.witness for each in merge_violations(some, [parse_filter("x < 9")], perfect=False)]
    [{'x': 9}]
    """
    sent = _indexed(merged)
    for item in filters:
        found = union_covers(sent, item)
        if not found:
            yield MergeViolation(MERGE_COVERS, item, found.witness)
    if perfect:
        wanted = _indexed(filters)
        for item in merged:
            found = union_covers(wanted, item)
            if not found and (found.witness is not None or found.exhausted):
                yield MergeViolation(MERGE_PERFECT, item, found.witness)


def check_merged(filters: Collection[Filter], merged: Collection[Filter], *, perfect: bool) -> None:
    """Raise InvariantError if a merged set does not stand for a set of filters."""
    for violation in merge_violations(filters, merged, perfect=perfect):
        raise InvariantError(violation.invariant, violation.witness, str(violation))


def _indexed(filters: Collection[Filter]) -> Table[Filter]:
    return PosetForest.build((item, None) for item in filters)

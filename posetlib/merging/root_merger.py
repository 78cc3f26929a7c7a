"""Merging of root sets: of a table that changes, and of filters in one go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

from posetlib.arrays import Vocabulary, encode_filters, minimal
from posetlib.errors import InvariantError
from posetlib.filters.filter import Filter
from posetlib.graph.change import Change
from posetlib.merging.checking import check_merged
from posetlib.merging.merged_file import merged_data
from posetlib.merging.merged_set import Group, MergedSet
from posetlib.merging.subsumption import Subsumption
from posetlib.merging.union_covering import union_covers
from posetlib.tables.table import Table

__all__ = ["RootMerger", "merge_all"]

#: Told of every change of a merged set: the filters that came, and those that went.
MergedListener = Callable[[list[Filter], list[Filter]], object]
# From this many filters on, those that are covered are left out by arrays before merging begins.
_MANY: Final = 64


class RootMerger:
    """Follows the root set of a table, and keeps fewer filters that stand for it.

    ``merged()`` are the filters to send instead of the roots. With ``perfect=True`` they match
    exactly what the roots match; otherwise they may match more, bounded by ``domains`` and
    ``max_loss`` as in ``pl.merge``. ``choice`` is how a partner is chosen: "best", the one with the
    widest merger, or "first". ``subsume=True`` leaves out filters that others cover together.
    With ``lazy=n``, a merger stays as it is when a component goes, until ``note`` has counted n
    notifications that nobody wants.

    An update that does not change the root set costs nothing; one that does costs a few updates of
    a small forest, and dissolving a merger one for each of its roots.

    >>> from posetlib import NonRedundantForest, parse_filter
    >>> table = NonRedundantForest()
    >>> merger = RootMerger(table)
    >>> for i in range(3):
    ...     _ = table.add(parse_filter(f"x in [{i}, {i + 1}] and y > 3"), f"I{i}")
    >>> merger.merged()
    (Filter('x in [0, 3] and y > 3'),)
    >>> _ = table.drop_interface("I1")
    >>> merger.merged()
    (Filter('(x in [0, 1] or x in [2, 3]) and y > 3'),)
    """

    def __init__(
        self,
        table: Table[Filter],
        perfect: bool = True,
        *,
        domains: Mapping[str, Any] | None = None,
        max_loss: float | None = None,
        choice: str = "best",
        subsume: bool = False,
        lazy: int | None = None,
    ) -> None:
        if not isinstance(table, Table):
            raise TypeError(f"a merger follows a table, not {type(table).__name__}")
        self._table = table
        self._set = MergedSet(
            perfect=perfect, domains=domains, max_loss=max_loss, choice=choice, lazy=lazy
        )
        self._subsumption = Subsumption() if subsume else None
        self._listeners: dict[object, MergedListener] = {}
        self._update(table.roots(), ())
        self._stop = table.listen(self._follow)

    def close(self) -> None:
        """Stop following the table; the merged set stays as it is."""
        self._stop()

    def listen(self, listener: MergedListener) -> Callable[[], None]:
        """Call a function after every change of the merged set; returns a function to stop it."""
        key = object()
        self._listeners[key] = listener
        return lambda: self._listeners.pop(key, None)  # type: ignore[return-value]

    def _follow(self, change: Change[Filter]) -> None:
        # A root that a new filter covers leaves the root set, and its group, like one removed.
        joined, left = change.roots_added, change.roots_removed
        if joined or left:
            self._update(joined, left)

    def _update(self, joined: Iterable[Filter], left: Iterable[Filter]) -> None:
        for item in joined:
            if not isinstance(item, Filter):
                raise TypeError(f"filters are merged, not {type(item).__name__}")
        self._pass_on(*self._set.update(joined, left))

    def _pass_on(self, added: list[Filter], gone: list[Filter]) -> None:
        if self._subsumption is not None:
            added, gone = self._subsumption.update(added, gone)
        if added or gone:
            for listener in tuple(self._listeners.values()):
                listener(added, gone)

    # -- reading -----------------------------------------------------------------------------------

    def merged(self) -> tuple[Filter, ...]:
        """Return the filters that stand for the roots; O(1) for each."""
        return self._set.merged() if self._subsumption is None else self._subsumption.kept()

    def components(self, sent: Filter) -> frozenset[Filter]:
        """Return the roots that a filter of the merged set is made of; itself, if it is alone.

        UnknownEntryError for a filter that is neither sent nor left out by ``subsume``.
        """
        return frozenset(self._set.group(sent).components)

    def covered(self, sent: Filter) -> frozenset[Filter]:
        """Return the other roots that a filter of the merged set stands for: it covers them."""
        return frozenset(self._set.group(sent).covered)

    def loss(self, sent: Filter) -> float | None:
        """Return the share of what a filter matches that no component does; None if unknown."""
        return self._set.group(sent).loss

    def merger_of(self, root: Filter) -> Filter:
        """Return the filter that a root is part of, or covered by; UnknownEntryError if none is."""
        return self._set.group_of(root).filter

    def left_out(self) -> dict[Filter, tuple[Filter, ...]]:
        """Return what ``subsume`` leaves out, each with filters that together cover it."""
        return {} if self._subsumption is None else self._subsumption.left_out()

    def note(self, notification: Mapping[str, Any]) -> bool:
        """Count a notification that came in; return whether it is one that no root matches.

        With ``lazy``, this is what ends the life of a merger that has lost a component. A test for
        each merged filter, and for the roots of those that match.
        """
        false_positive, added, gone = self._set.update_noted(notification)
        self._pass_on(added, gone)
        return false_positive

    def to_dict(self) -> dict[str, Any]:
        """Return the merged set as JSON-able data: see ``posetlib.merging.merged_file``."""
        return merged_data(self._set.groups(), perfect=self._set.perfect, left_out=self.left_out())

    # -- checking ----------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise InvariantError if the merged set is not what it should be, worked out anew.

        ``merge-covers`` and ``merge-perfect`` as the job ``validate`` has them; ``merge-members``:
        every root is in one group, as component or covered, and nothing else is;
        ``merge-antichain``: no merged filter covers another one; ``merge-subsumed``: what is left
        out is covered by filters that are kept.
        """
        roots = self._table.roots()
        groups = self._set.groups()
        members = [member for group in groups for member in group.members()]
        if len(members) != len(roots) or set(members) != set(roots):
            odd = set(members) ^ set(roots)
            raise InvariantError("merge-members", odd, "groups and roots are not the same filters")
        for group in groups:
            for member in group.members():
                if not group.filter.covers(member):
                    raise InvariantError(
                        "merge-covers", member, f"{group.filter} does not cover it"
                    )
                if self._set.group_of(member) is not group:
                    raise InvariantError("merge-members", member, "it is in two groups")
            self._check_perfect(group)
        sent = self._set.merged()
        for one in sent:
            for other in sent:
                if one is not other and one.covers(other):
                    raise InvariantError("merge-antichain", (one, other), "one covers the other")
        self._check_subsumed()
        check_merged(roots, self.merged(), perfect=self._set.perfect and not self._is_stale())

    def _check_perfect(self, group: Group) -> None:
        if group.components.keys() == {group.filter} or not self._set.perfect or group.gone:
            return
        found = union_covers(group.components, group.filter)
        if found.witness is not None:
            raise InvariantError(
                "merge-perfect", found.witness, f"no component of {group.filter} matches it"
            )

    def _check_subsumed(self) -> None:
        kept, left_out = set(self.merged()), self.left_out()
        if kept | left_out.keys() != set(self._set.merged()) or kept & left_out.keys():
            raise InvariantError("merge-subsumed", kept, "what is kept and left out is not all")
        for item, supporters in left_out.items():
            if not kept.issuperset(supporters) or not union_covers(supporters, item):
                raise InvariantError("merge-subsumed", item, "its supporters do not cover it")

    def _is_stale(self) -> bool:
        return any(group.gone for group in self._set.groups())

    def __repr__(self) -> str:
        how = "perfect" if self._set.perfect else "imperfect"
        return f"<RootMerger, {how}: {len(self._set)} roots, {len(self.merged())} merged>"


def merge_all(
    filters: Iterable[Filter],
    perfect: bool = True,
    *,
    domains: Mapping[str, Any] | None = None,
    max_loss: float | None = None,
    choice: str = "best",
    subsume: bool = False,
) -> tuple[Filter, ...]:
    """Return fewer filters that stand for all of the given ones; the options are RootMerger's.

    Filters that others cover are left out first, by arrays; the rest costs what adding them to a
    small forest costs.

    >>> from posetlib import parse_filter
    >>> merge_all([parse_filter(f"x in [{i}, {i + 1}]") for i in range(9)])
    (Filter('x in [0, 9]'),)
    """
    distinct = list(dict.fromkeys(filters))
    for item in distinct:
        if not isinstance(item, Filter):
            raise TypeError(f"filters are merged, not {type(item).__name__}")
    merged = MergedSet(perfect=perfect, domains=domains, max_loss=max_loss, choice=choice)
    if len(distinct) >= _MANY:
        rows = minimal(encode_filters(distinct, Vocabulary()), np.arange(len(distinct)))
        distinct = [distinct[row] for row in rows.tolist()]
    merged.update(distinct, ())
    if not subsume:
        return merged.merged()
    subsumption = Subsumption()
    subsumption.update(merged.merged(), ())
    return subsumption.kept()

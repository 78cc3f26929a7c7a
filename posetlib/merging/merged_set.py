"""A set of filters as fewer filters, kept while filters join and leave [T 8.5, Alg. 14–16].

Each filter of the set, a *member*, is in exactly one *group*. A group is what is sent instead: one
filter, alone or a merger, with its *components* (CO in the thesis) and with the members that it
covers without being made of them (CV). When a component leaves, its group is dissolved, and the
members that are left find groups again. So nothing that is still there is ever left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from posetlib.constraints import Numbers
from posetlib.constraints.base import Constraint
from posetlib.errors import UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.filters.merging import Merger, check_max_loss, merge_again
from posetlib.merging.candidates import as_float, candidates_for
from posetlib.tables.poset_forest import PosetForest

__all__ = ["CHOICES", "Group", "MergedSet"]

#: How a partner is chosen: the first that is found, or that with the simplest merger [T A.5].
CHOICES: Final = ("best", "first")
# What holds the filters in the order of the groups; there is only one.
_HELD: Final = "sent"


class Group:
    """One filter that stands for some members."""

    __slots__ = ("components", "covered", "false_positives", "filter", "gone", "loss")

    def __init__(self, filter: Filter, components: Iterable[Filter], loss: float | None) -> None:
        self.filter = filter
        #: The members that the filter is made of.
        self.components: dict[Filter, None] = dict.fromkeys(components)
        #: The members that the filter covers besides.
        self.covered: dict[Filter, None] = {}
        #: Components that have left, while the filter stays as it is (lazy deletion).
        self.gone: dict[Filter, None] = {}
        #: Notifications that only components matched that are gone, since the first one left.
        self.false_positives = 0
        #: The share of what the filter matches that no component does; None if unknown.
        self.loss = loss

    def members(self) -> tuple[Filter, ...]:
        """Return all members of the group."""
        return (*self.components, *self.covered)

    def __repr__(self) -> str:
        return f"<Group {self.filter}: {len(self.components)} + {len(self.covered)}>"


class MergedSet:
    """Members that join and leave, and the filters that stand for them.

    ``perfect``, ``domains`` and ``max_loss`` are those of ``pl.merge``; the loss of a merger of
    mergers counts what all its components do not want. ``choice`` is "best" or "first". With
    ``lazy``, a merger stays as it is when a component leaves, until ``note`` has counted so many
    notifications that nobody wants.

    >>> from posetlib.filters import parse_filter
    >>> merged = MergedSet()
    >>> low, high = parse_filter("x in [0, 5]"), parse_filter("x in [5, 9]")
    >>> merged.update([low, high], [])
    ([Filter('x in [0, 9]')], [])
    >>> merged.update([], [low])
    ([Filter('x in [5, 9]')], [Filter('x in [0, 9]')])
    """

    def __init__(
        self,
        *,
        perfect: bool = True,
        domains: Mapping[str, Any] | None = None,
        max_loss: float | None = None,
        choice: str = "best",
        lazy: int | None = None,
    ) -> None:
        check_max_loss(max_loss)
        if perfect and (domains or max_loss is not None):
            raise ValueError("domains= and max_loss= bound imperfect merging, and nothing else")
        if choice not in CHOICES:
            raise ValueError(f"choice is {' or '.join(map(repr, CHOICES))}, not {choice!r}")
        if lazy is not None and lazy < 1:
            raise ValueError(f"lazy is a number of false positives, at least 1, not {lazy!r}")
        self.perfect = perfect
        self.lazy = lazy
        self._domains = dict(domains or {})
        self._max_loss = max_loss
        self._choice = choice
        #: What is sent -> its group.
        self._groups: dict[Filter, Group] = {}
        self._group_of: dict[Filter, Group] = {}
        # The filters that are sent, none of which covers another one. All are held by the same
        # interface, so an add removes what the new filter covers, and is refused if it is covered.
        self._order: PosetForest[Filter] = PosetForest()
        self._candidates = candidates_for(perfect=perfect, domains=domains, max_loss=max_loss)
        #: Groups with components that are gone.
        self._stale: dict[Filter, Group] = {}
        #: What was sent before the update that is under way, or not, of all that it touched.
        self._was_sent: dict[Filter, bool] = {}

    # -- reading -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._group_of)

    def __contains__(self, item: object) -> bool:
        return item in self._group_of

    def members(self) -> tuple[Filter, ...]:
        """Return the members; O(members)."""
        return tuple(self._group_of)

    def merged(self) -> tuple[Filter, ...]:
        """Return the filters that stand for the members; O(groups)."""
        return tuple(self._groups)

    def groups(self) -> tuple[Group, ...]:
        """Return the groups, in the order of ``merged``."""
        return tuple(self._groups.values())

    def group(self, sent: Filter) -> Group:
        """Return the group of a filter that is sent; UnknownEntryError if it is not."""
        try:
            return self._groups[sent]
        except KeyError:
            raise UnknownEntryError(f"{sent} is not in the merged set") from None

    def group_of(self, member: Filter) -> Group:
        """Return the group that a member is in; UnknownEntryError if it is no member."""
        try:
            return self._group_of[member]
        except KeyError:
            raise UnknownEntryError(f"{member} is not in the set") from None

    def is_covered(self, item: Filter) -> bool:
        """Return whether one of the filters that are sent covers an item."""
        return item in self._order or bool(self._order.covering(item))

    # -- changing ----------------------------------------------------------------------------------

    def update(
        self, joined: Iterable[Filter], left: Iterable[Filter]
    ) -> tuple[list[Filter], list[Filter]]:
        """Let members leave, and others join; return what is sent now, and what is not any more.

        A member that joins twice counts once, and one that leaves and is not there is ignored. Each
        costs an add to a forest of the groups; dissolving a group costs one for each of its
        members.
        """
        self._was_sent = {}
        again: dict[Filter, None] = {}
        for item in left:
            again.pop(item, None)
            group = self._group_of.pop(item, None)
            if group is not None:
                again.update(dict.fromkeys(self._leave(item, group)))
        for item in (*again, *joined):
            if item not in self._group_of:
                self._join(item)
        return self._net_effect()

    def note(self, notification: Mapping[str, Any]) -> bool:
        """Count a notification that came in; return whether no member matches it.

        With ``lazy``, a group that stayed as it was has its false positives counted, and is
        dissolved when there are as many. ``update_noted`` says what changed by it. One test for
        each filter that is sent, and for the members of those that match.
        """
        return self.update_noted(notification)[0]

    def update_noted(
        self, notification: Mapping[str, Any]
    ) -> tuple[bool, list[Filter], list[Filter]]:
        """Do what ``note`` does; return what ``note`` and ``update`` return."""
        self._was_sent = {}
        matching = [group for group in self._groups.values() if group.filter.matches(notification)]
        if not matching or any(
            member.matches(notification) for group in matching for member in group.members()
        ):
            return False, [], []
        for group in matching:
            # A group may have been merged with one that was dissolved just before.
            if group.gone and self._groups.get(group.filter) is group:
                group.false_positives += 1
                if self.lazy is not None and group.false_positives >= self.lazy:
                    for item in self._dissolve(group):
                        self._join(item)
        return True, *self._net_effect()

    def _net_effect(self) -> tuple[list[Filter], list[Filter]]:
        touched, groups = self._was_sent, self._groups
        added = [item for item, was in touched.items() if not was and item in groups]
        gone = [item for item, was in touched.items() if was and item not in groups]
        return added, gone

    # -- leaving -----------------------------------------------------------------------------------

    def _leave(self, item: Filter, group: Group) -> Iterable[Filter]:
        """Take a member out of its group; return the members that are without a group by it."""
        if item in group.covered:
            del group.covered[item]
            return ()
        if self.lazy is not None and len(group.components) > 1:
            del group.components[item]
            group.gone[item] = None
            self._stale[group.filter] = group
            return ()
        del group.components[item]
        return self._dissolve(group)

    def _dissolve(self, group: Group) -> tuple[Filter, ...]:
        """Take a group apart; return its members, which have no group now."""
        self._withdraw(group.filter)
        self._order.remove(group.filter, _HELD)
        members = group.members()
        for member in members:
            del self._group_of[member]
        return members

    def _withdraw(self, sent: Filter) -> None:
        """Forget what is sent, but for its place in the order."""
        del self._groups[sent]
        self._stale.pop(sent, None)
        self._candidates.remove(sent)
        self._was_sent.setdefault(sent, True)

    # -- joining -----------------------------------------------------------------------------------

    def _join(self, item: Filter) -> None:
        """Find a group for a member that has none."""
        group = Group(item, (item,), 0.0)
        while True:
            change = self._order.add(group.filter, _HELD)
            if not change:
                self._give_to(self._covering(group.filter), group)
                return
            for sent in change.removed:
                self._absorb(group, self._groups[sent])
            found = self._best_merger(group)
            if found is None:
                break
            partner, merger = found
            self._order.remove(group.filter, _HELD)
            self._order.remove(partner.filter, _HELD)
            self._withdraw(partner.filter)
            group = merger
        self._groups[group.filter] = group
        self._candidates.add(group.filter)
        self._was_sent.setdefault(group.filter, False)
        if group.gone:
            self._stale[group.filter] = group
        for member in group.members():
            self._group_of[member] = group

    def _covering(self, item: Filter) -> Group:
        """Return the first group whose filter covers an item that the order refused."""
        covering = self._order.covering(item)
        if covering:
            return self._groups[covering[0]]
        node = self._order._find(item)  # it has an equivalent of another form
        assert node is not None, "what is refused is covered"
        return self._groups[node.item]

    def _give_to(self, group: Group, other: Group) -> None:
        """Let a group cover the members of another one, which is not sent."""
        for member in other.members():
            if member in group.gone:
                del group.gone[member]
                group.components[member] = None
                if not group.gone:
                    self._stale.pop(group.filter, None)
                    group.false_positives = 0
            else:
                group.covered[member] = None
            self._group_of[member] = group

    def _absorb(self, group: Group, other: Group) -> None:
        """Let a new group take over one that it covers, and that is sent until now."""
        self._withdraw(other.filter)
        group.covered |= dict.fromkeys(other.members())

    def _best_merger(self, group: Group) -> tuple[Group, Group] | None:
        """Return a group to merge with, and the group that comes of it; None if none merges."""
        best: tuple[Any, Merger, Group] | None = None
        takes_first = self._choice == "first" or self._candidates.is_ranked
        for sent in dict.fromkeys(self._candidates.of(group.filter)):
            other = self._groups[sent]
            merger = merge_again(
                sent,
                group.filter,
                perfect=self.perfect,
                domains=self._domains,
                max_loss=self._max_loss,
                losses=(other.loss, group.loss),
            )
            if merger is None:
                continue
            rating = () if takes_first else _rating(merger)
            if best is None or rating < best[0]:
                best = rating, merger, other
            if takes_first:
                break
        if best is None:
            return None
        _, merger, other = best
        made = Group(
            Filter.of_checked(merger._schema, merger.terms),
            (*other.components, *group.components),
            merger.loss,
        )
        made.covered = {**other.covered, **group.covered}
        made.gone = {**other.gone, **group.gone}
        made.false_positives = max(other.false_positives, group.false_positives)
        return other, made

    # -- state -------------------------------------------------------------------------------------

    def restore(
        self,
        rows: Iterable[tuple[Filter, Iterable[Filter], Iterable[Filter], float | None]],
    ) -> None:
        """Take over groups as they were: what is sent, its components, what it covers, its loss.

        The set must be empty. ValueError for rows that no merged set has; the set is of no use
        then.
        """
        for sent, components, covered, loss in rows:
            if loss is not None and not 0 <= loss <= 1:
                raise ValueError(f"a loss is a share between 0 and 1, not {loss!r}")
            group = Group(sent, components, loss)
            group.covered = dict.fromkeys(covered)
            if not group.components:
                raise ValueError(f"{sent} is made of nothing")
            for member in group.members():
                if not sent.covers(member) or member in self._group_of:
                    raise ValueError(f"{member} is in two groups, or not covered by {sent}")
                self._group_of[member] = group
            change = self._order.add(sent, _HELD)
            if not change or change.removed:
                raise ValueError(f"{sent} covers another filter of the set, or is covered")
            self._groups[sent] = group
            self._candidates.add(sent)


def _rating(merger: Merger) -> tuple[float, int, float]:
    """Return how good a merger is, less for better: small loss, few alternatives, wide ranges."""
    pieces = sum(map(_pieces, merger.terms))
    return (1.0 if merger.loss is None else merger.loss), pieces, -sum(map(_width, merger.terms))


def _pieces(constraint: Constraint) -> int:
    """Return how many alternatives a constraint consists of."""
    if isinstance(constraint, Numbers):
        return 1 if constraint.is_number_range else len(constraint.intervals) + len(constraint.runs)
    return len(constraint.clauses("x"))


def _width(constraint: Constraint) -> float:
    """Return how wide a constraint is: whole domains are wider than all ranges of numbers."""
    if constraint.is_whole_domain():
        return float("inf")
    return as_float(constraint.high - constraint.low) if isinstance(constraint, Numbers) else 0.0

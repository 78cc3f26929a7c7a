"""Faults that were planted, and for each the test that finds it.

The first three are what happens when the pseudocode of [T 8.5] is taken at its word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

import posetlib as pl
from posetlib.merging import candidates, cells, meeting, merged_set, root_merger, subsumption
from posetlib.merging.local_merging import LocalMerger

from . import test_local_and_aggregate, test_root_merger, test_union_covering

Patch = Callable[[pytest.MonkeyPatch], None]
MergedSet = merged_set.MergedSet


def the_inner_loop_reuses_x(patch: pytest.MonkeyPatch) -> None:
    """The merger that is covered last is taken for the one that was merged with."""
    absorb = MergedSet._absorb

    def absorbing(self: Any, group: Any, other: Any) -> None:
        absorb(self, group, other)
        group.components = dict(other.components)

    patch.setattr(MergedSet, "_absorb", absorbing)


def a_merger_is_its_own_component(patch: pytest.MonkeyPatch) -> None:
    best = MergedSet._best_merger

    def found(self: Any, group: Any) -> Any:
        result = best(self, group)
        if result is not None:
            result[1].components[result[0].filter] = None
        return result

    patch.setattr(MergedSet, "_best_merger", found)


def a_covered_root_stays_in_its_merger(patch: pytest.MonkeyPatch) -> None:
    def follow(self: Any, change: pl.Change[pl.Filter]) -> None:
        gone = [root for root in change.roots_removed if root in change.removed]
        self._update(change.roots_added, gone)

    patch.setattr(root_merger.RootMerger, "_follow", follow)


def what_a_merger_covered_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    dissolve = MergedSet._dissolve

    def dissolving(self: Any, group: Any) -> Any:
        members = dissolve(self, group)
        return [member for member in members if member in group.components]

    patch.setattr(MergedSet, "_dissolve", dissolving)


def the_rest_of_a_merger_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    dissolve = MergedSet._dissolve

    def dissolving(self: Any, group: Any) -> Any:
        members = dissolve(self, group)
        return [member for member in members if member in group.covered]

    patch.setattr(MergedSet, "_dissolve", dissolving)


def losses_do_not_add_up(patch: pytest.MonkeyPatch) -> None:
    merge = merged_set.merge_again

    def merging(*filters: Any, **options: Any) -> Any:
        return merge(*filters, **{**options, "losses": (0.0, 0.0)})

    patch.setattr(merged_set, "merge_again", merging)


def false_positives_are_not_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MergedSet, "update_noted", lambda self, notification: (bool(self._stale), [], []))


def a_merger_of_nothing_stays(patch: pytest.MonkeyPatch) -> None:
    def leave(_self: Any, item: pl.Filter, group: Any) -> Iterable[pl.Filter]:
        group.components.pop(item, None)
        group.covered.pop(item, None)
        return ()

    patch.setattr(MergedSet, "_leave", leave)


def supporters_may_go(patch: pytest.MonkeyPatch) -> None:
    release = subsumption.Subsumption._release

    def releasing(self: Any, item: pl.Filter) -> dict[pl.Filter, None]:
        release(self, item)
        return {}

    patch.setattr(subsumption.Subsumption, "_release", releasing)


def absent_attributes_help(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meeting, "_may_help", lambda one, f: one.overlaps(f))


def columns_forget_what_a_list_is(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meeting, "_is_same", lambda kept, filters: len(kept) == len(filters))


def integers_fill_the_line(patch: pytest.MonkeyPatch) -> None:
    sweep = cells._swept_numbers

    def sweeping(reals: Any, runs: Any, inside: int, always: int) -> Any:
        return sweep([*reals, *runs], [], inside, always)

    patch.setattr(cells, "_swept_numbers", sweeping)


def mergers_of_two_interfaces(patch: pytest.MonkeyPatch) -> None:
    follow = LocalMerger._follow

    def following(self: Any, change: pl.Change[pl.Filter]) -> None:
        added = tuple((item, "I1") for item, _ in change.pairs_added)
        removed = tuple((item, "I1") for item, _ in change.pairs_removed)
        follow(self, pl.Change(pairs_added=added, pairs_removed=removed))

    patch.setattr(LocalMerger, "_follow", following)


def mergers_are_sent_where_one_component_goes(patch: pytest.MonkeyPatch) -> None:
    def widened(self: Any, f: pl.Filter) -> Iterable[pl.Filter]:
        return (one for some in self._filters.values() for one in some if one != f)

    patch.setattr(candidates.ByEqualConstraints, "of", widened)
    merge = merged_set.merge_again

    def hull(*filters: Any, **options: Any) -> Any:
        return merge(*filters, **{**options, "perfect": False})

    patch.setattr(merged_set, "merge_again", hull)


MUTANTS: list[tuple[Patch, Callable[[], None]]] = [
    (
        the_inner_loop_reuses_x,
        test_root_merger.test_a_merger_that_covers_other_mergers_takes_their_roots_over,
    ),
    (
        a_merger_is_its_own_component,
        test_root_merger.test_components_of_a_merger_of_mergers_are_roots,
    ),
    (
        a_covered_root_stays_in_its_merger,
        test_root_merger.test_a_root_that_a_new_filter_covers_leaves_its_merger,
    ),
    (
        what_a_merger_covered_is_forgotten,
        test_root_merger.test_a_covered_root_comes_back_when_its_merger_is_dissolved,
    ),
    (
        the_rest_of_a_merger_is_forgotten,
        test_root_merger.test_a_root_that_a_new_filter_covers_leaves_its_merger,
    ),
    (losses_do_not_add_up, test_root_merger.test_the_losses_of_mergers_add_up),
    (
        false_positives_are_not_counted,
        test_root_merger.test_lazy_deletion_waits_for_false_positives,
    ),
    (
        a_merger_of_nothing_stays,
        test_root_merger.test_a_merger_without_a_component_left_goes_at_once,
    ),
    (supporters_may_go, test_root_merger.test_subsumption_leaves_out_what_pairs_cannot_see),
    (
        absent_attributes_help,
        test_union_covering.test_an_attribute_that_may_be_absent_is_no_help,
    ),
    (
        columns_forget_what_a_list_is,
        test_union_covering.test_a_long_list_that_changes_is_read_again,
    ),
    (integers_fill_the_line, test_union_covering.test_integers_do_not_fill_the_line),
    (mergers_of_two_interfaces, test_local_and_aggregate.test_a_merger_has_one_interface),
    (
        mergers_are_sent_where_one_component_goes,
        test_root_merger.test_filters_that_differ_in_two_attributes_do_not_merge,
    ),
]


@pytest.mark.parametrize(
    ("fault", "killer"), [pytest.param(*each, id=each[0].__name__) for each in MUTANTS]
)
def test_a_planted_fault_is_found(
    fault: Patch, killer: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    killer()
    fault(monkeypatch)
    with pytest.raises((AssertionError, KeyError)):
        killer()

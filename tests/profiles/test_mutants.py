"""Planted faults of DoubleForest and CollectionService, each killed by the test named beside it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import posetlib as pl
from posetlib.profiles import double_forest, node_tests, result_walks
from posetlib.profiles.collection_service import CollectionService
from posetlib.profiles.sides import Side
from tests.planting import found, kills
from tests.profiles import test_collection_service, test_double_forest
from tests.profiles.worlds import WORLDS

Service = test_collection_service.Service


def it_equals_the_set_based_computation() -> None:
    worlds = [test_double_forest.no_twins(world) for world in WORLDS]
    for world, semantics, preloaded in product(worlds, ("cover", "overlap"), (0, 0.5)):
        for seed in range(3):
            options = {"lower": True, "upper": True, "results": bool(seed)}
            test_double_forest.drive(world, semantics, options, preloaded, seed, 30)


def every_view_is_the_true_result() -> None:
    run_state_machine_as_test(
        Service,
        settings=settings(
            max_examples=60,
            stateful_step_count=25,
            derandomize=True,
            database=None,
            # A fault has only to be found, not to be made small.
            phases=[Phase.generate],
        ),
    )


def ranges_alone_are_swept() -> None:
    for semantics in ("cover", "overlap"):
        test_double_forest.test_ranges_alone_are_swept_and_placed_when_somebody_asks(semantics)


def bounds_save_tests() -> None:
    test_double_forest.test_bounds_never_take_more_tests()
    test_double_forest.test_the_intersection_of_the_childrens_results_bounds_a_profile()


#: What is wrong, the function, its source, the fault, and the test that kills it.
FAULTS: dict[str, tuple[object, str, str, Callable[[], None]]] = {
    "a query is bounded from below by its parent": (
        pl.DoubleForest._result_of,
        "lower = frozenset().union(*below)",
        "lower = above or frozenset()",
        it_equals_the_set_based_computation,
    ),
    "overlap takes the bounds of cover": (
        pl.DoubleForest._result_of,
        "own is self._profiles and self._semantics == COVER",
        "own is self._profiles",
        it_equals_the_set_based_computation,
    ),
    "the union of the children's results bounds a profile, as in the thesis": (
        pl.DoubleForest._result_of,
        "frozenset.intersection(frozenset(below[0]), *below[1:])",
        "frozenset().union(*below)",
        bounds_save_tests,
    ),
    "a removed filter stays in the other mapping": (
        Side._dismiss,
        "self.other.member(each).numbers().discard(number)",
        "pass",
        it_equals_the_set_based_computation,
    ),
    "a new filter is not entered into the other mapping": (
        Side.spread,
        "member(each).numbers().add(number)",
        "pass",
        it_equals_the_set_based_computation,
    ),
    "of many new matches those of the first filter go to its neighbour": (
        Side.spread,
        "theirs[1:] != theirs[:-1]",
        "theirs[1:] > theirs[:-1] + 1",
        ranges_alone_are_swept,
    ),
    "the column of a removed filter stays": (
        Side._dismiss,
        "self.ends[:, number] = np.nan",
        "pass",
        ranges_alone_are_swept,
    ),
    "new numbers are not told to the other side": (
        Side._renumber,
        "member.known = {numbers[each] for each in member.numbers()}",
        "pass",
        ranges_alone_are_swept,
    ),
    "a sweep of queries looks for those that the profile covers": (
        pl.DoubleForest._swept,
        "good = theirs <= ends[:, None]",
        "good = theirs >= ends[:, None]",
        it_equals_the_set_based_computation,
    ),
    "a profile with fewer queries is taken for one that covers": (
        double_forest._Result.guards,
        "lambda node: self._own.matched(node.extra) <= self._numbers",
        "lambda node: self._own.matched(node.extra) >= self._numbers",
        it_equals_the_set_based_computation,
    ),
    "placeholders are seen": (
        Side.active_items,
        "if m.is_active",
        "if m",
        it_equals_the_set_based_computation,
    ),
    "what lies below a match is lost": (
        result_walks.closed_downwards,
        "found.update(descendants(each))",
        "pass",
        it_equals_the_set_based_computation,
    ),
    "ranges that touch do not overlap": (
        node_tests._meet,
        "one.low > -other.minus_high",
        "one.low >= -other.minus_high",
        it_equals_the_set_based_computation,
    ),
    "what is in a collection already is sent again": (
        CollectionService._note_net_effect,
        "if bool(count) is not bool(before[name, uri]):",
        "if count:",
        every_view_is_the_true_result,
    ),
    "an object leaves a collection with the first of its matches": (
        CollectionService._apply,
        "count + (1 if step.adds else -1)",
        "1 if step.adds else 0",
        every_view_is_the_true_result,
    ),
    "a rule is taken back and its queries stay": (
        CollectionService.forbid,
        "self._apply(steps)",
        "pass",
        test_collection_service.test_a_rule_that_is_taken_back_takes_its_queries_with_it,
    ),
    "everybody may change every object": (
        CollectionService._must_own,
        "known.owner != owner",
        "False",
        every_view_is_the_true_result,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, FAULTS[name], AttributeError, KeyError)


@pytest.mark.parametrize("kill", kills(FAULTS), ids=lambda kill: kill.__name__)
def test_without_a_fault_nothing_is_found(kill: Callable[[], None]) -> None:
    kill()

"""Covering of paths against oracles that are made in other ways, in both directions; mutants."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

import posetlib as pl
from posetlib.models import (
    path_index,
    path_matching,
    path_patterns,
    step_conditions,
    step_trees,
)
from tests.models import test_path_index, test_paths
from tests.models.automata import covers_as_automata
from tests.models.oracle import covers_exactly, forests, random_document, random_path
from tests.models.test_paths import all_texts

path = pl.DocumentPath


def against_automata(steps: int, some: int | None = None) -> int:
    texts = all_texts(steps)
    pairs: Any = itertools.product(texts, repeat=2)
    if some is not None:
        draw = random.Random(1)
        pairs = [(draw.choice(texts), draw.choice(texts)) for _ in range(some)]
    paths = {text: path(text) for text in texts}
    covered = 0
    for one, other in pairs:
        found = paths[one].covers(paths[other])
        covered += found
        assert found == covers_as_automata(one, other), (one, other)
    return covered


def test_single_paths_against_automata() -> None:
    assert against_automata(2) > 200
    assert against_automata(3, 4_000) > 300


@pytest.mark.slow
def test_all_single_paths_of_three_steps_against_automata() -> None:
    assert against_automata(3) > 10_000


def test_long_paths_against_automata() -> None:
    draw = random.Random(3)
    for _ in range(1_500):
        one, other = (random_path(draw, steps=7) for _ in range(2))
        assert path(one).covers(path(other)) == covers_as_automata(one, other), (one, other)


def test_automata_against_canonical_documents() -> None:
    draw = random.Random(4)
    for _ in range(400):
        one, other = (random_path(draw, steps=3) for _ in range(2))
        assert covers_as_automata(one, other) == covers_exactly(path(one), path(other))


def test_sound_on_all_small_forests() -> None:
    """Every forest of three nodes with x absent, 0 or 1: no answer True is wrong."""
    draw = random.Random(5)
    paths = [path(random_path(draw, steps=3, branches=0.4, conditions=True)) for _ in range(40)]
    documents = list(forests(3, "abz", (None, 0, 1)))
    matched = [[each.matches(document) for document in documents] for each in paths]
    for (i, one), (j, other) in itertools.product(enumerate(paths), repeat=2):
        if one.covers(other):
            assert not any(b and not a for a, b in zip(matched[i], matched[j], strict=True))


@pytest.mark.parametrize("seed", range(2))
def test_covering_is_transitive(seed: int) -> None:
    draw = random.Random(seed)
    paths = [path(random_path(draw, steps=3, branches=0.4, conditions=True)) for _ in range(70)]
    above = [[one.covers(other) for other in paths] for one in paths]
    for i, j, k in itertools.product(range(len(paths)), repeat=3):
        assert not (above[i][j] and above[j][k]) or above[i][k], (i, j, k)


def test_mapped_nodes_are_what_a_match_can_use() -> None:
    """A node is mapped iff some choice of nodes for all steps has it."""
    draw = random.Random(8)
    for _ in range(400):
        each = path(random_path(draw, steps=3, branches=0.3, conditions=True))
        document = random_document(draw, nodes=7)
        found = each.mapped(document)
        assert bool(found) == each.matches(document)
        # The mapped nodes alone, with what lies above them, are enough.
        kept = set(found)
        for node in found:
            while node >= 0:
                kept.add(node)
                node = document.parents[node]  # noqa: PLW2901
        order = sorted(kept)
        place = {node: at for at, node in enumerate(order)} | {-1: -1}
        smaller = pl.Document(
            [document.names[node] for node in order],
            [place[document.parents[node]] for node in order],
            [dict(document.records[node]) for node in order],
        )
        assert each.matches(smaller) == each.matches(document)


# -- faults that were planted, each with the test that finds it ------------------------------------


def gaps_are_ignored(patch: pytest.MonkeyPatch) -> None:
    """An edge is mapped to any node below, however far."""

    def maps(edge: Any, below: Any, height: int, memo: Any) -> bool:
        if edge.node is None:
            return height >= edge.gap
        return any(path_patterns._maps(edge.node, other, memo) for other, _, _ in below)

    patch.setattr(path_patterns, "_edge_maps", maps)


def a_gap_takes_the_place_of_a_child(patch: pytest.MonkeyPatch) -> None:
    edge_maps = path_patterns._edge_maps

    def maps(edge: Any, below: Any, height: int, memo: Any) -> bool:
        return edge_maps(edge, [(n, d, True) for n, d, _ in below], height, memo)

    patch.setattr(path_patterns, "_edge_maps", maps)


def conditions_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(path_patterns, "_asks_less", lambda one, other: one.name in (None, other.name))


def a_star_covers_nothing_but_stars(patch: pytest.MonkeyPatch) -> None:
    asks_less = path_patterns._asks_less
    patch.setattr(
        path_patterns,
        "_asks_less",
        lambda one, other: one.name == other.name and asks_less(one, other),
    )


def only_the_first_branch_counts(patch: pytest.MonkeyPatch) -> None:
    def maps(one: Any, other: Any, memo: Any) -> bool:
        return path_patterns._asks_less(one, other) and all(
            path_patterns._edge_maps(edge, other.below, other.height, memo)
            for edge in one.edges[:1]
        )

    patch.setattr(path_patterns, "_maps", maps)


def children_are_descendants(patch: pytest.MonkeyPatch) -> None:
    """Matching takes a node anywhere below for a child."""
    holding = path_matching.PathMatcher._holding

    def held(self: Any, possible: int, at_child: int, at_descendant: int, record: Any) -> int:
        return holding(self, possible, at_child | at_descendant, at_descendant, record)

    patch.setattr(path_matching.PathMatcher, "_holding", held)


def a_node_is_below_itself(patch: pytest.MonkeyPatch) -> None:
    holding = path_matching.PathMatcher._holding

    def held(self: Any, possible: int, at_child: int, at_descendant: int, record: Any) -> int:
        here = holding(self, possible, at_child, at_descendant, record)
        return holding(self, possible, at_child, at_descendant | here, record)

    patch.setattr(path_matching.PathMatcher, "_holding", held)


def guards_are_not_asked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(path_matching.PathMatcher, "matches_above", lambda *_: True)


def branches_are_not_asked(patch: pytest.MonkeyPatch) -> None:
    trunk = path_index._trunk
    patch.setattr(path_index, "_trunk", lambda each: (*trunk(each)[:3], False))


def a_condition_above_is_asked_at_the_end(patch: pytest.MonkeyPatch) -> None:
    trunk = path_index._trunk

    def found(each: Any) -> Any:
        steps, condition, asked, branched = trunk(each)
        return steps, condition, asked._replace(above=0), branched

    patch.setattr(path_index, "_trunk", found)


def states_are_not_forgotten(patch: pytest.MonkeyPatch) -> None:
    forget = path_index.PathIndex._forget_states

    def keep(self: Any) -> None:
        if not hasattr(self, "_states"):
            forget(self)

    patch.setattr(path_index.PathIndex, "_forget_states", keep)


def cells_are_taken_for_sure(patch: pytest.MonkeyPatch) -> None:
    """Answers are kept by cells that do not decide: one cell for all values."""

    class OneCell:
        exact = True

        def __init__(self, *_: object, **__: object) -> None:
            pass

        def row(self, _: object) -> int:
            return 7

        def reach(self, _: object) -> Any:
            return self

    patch.setattr(step_conditions, "Cells", OneCell)


def arrays_take_descendants_for_children(patch: pytest.MonkeyPatch) -> None:
    grouped = step_trees._grouped

    def found(first: Any) -> Any:
        steps, groups = grouped(first)
        mixed: dict[Any, Any] = {}
        for (name, _), group in groups.items():
            mixed.setdefault((name, False), []).extend(group)
        return steps, mixed

    patch.setattr(step_trees, "_grouped", found)


def arrays_take_a_node_for_the_one_above(patch: pytest.MonkeyPatch) -> None:
    make = step_trees.StepArrays.__init__

    def made(self: Any, first: Any) -> None:
        make(self, first)
        if 1 in self._asked:
            self._asked[0] = self._asked.pop(1)

    patch.setattr(step_trees.StepArrays, "__init__", made)


def a_path_that_was_tried_often_is_refused(patch: pytest.MonkeyPatch) -> None:
    settled = path_index._GuardedPaths._is_settled

    def is_settled(self: Any, number: int, node: int) -> bool:
        return self._tried.get(number, 0) > 0 or settled(self, number, node)

    patch.setattr(path_index._GuardedPaths, "_is_settled", is_settled)


def a_condition_that_left_is_still_asked(patch: pytest.MonkeyPatch) -> None:
    """Its number goes to another condition."""
    left = step_conditions.StepConditions.leave

    def leave(self: Any, condition: Any) -> int:
        number = left(self, condition)
        if not self._uses[number]:
            self._matcher.add(condition, number)
        return number

    patch.setattr(step_conditions.StepConditions, "leave", leave)


COVERING: list[Callable[[pytest.MonkeyPatch], None]] = [
    gaps_are_ignored,
    a_gap_takes_the_place_of_a_child,
]
CONDITIONS = [conditions_are_not_compared, a_star_covers_nothing_but_stars]
BRANCHES = [only_the_first_branch_counts]
MATCHING = [children_are_descendants, a_node_is_below_itself]
INDEX = [
    guards_are_not_asked,
    branches_are_not_asked,
    a_condition_above_is_asked_at_the_end,
    states_are_not_forgotten,
    cells_are_taken_for_sure,
    arrays_take_descendants_for_children,
    arrays_take_a_node_for_the_one_above,
    a_path_that_was_tried_often_is_refused,
    a_condition_that_left_is_still_asked,
]


def killed_by_an_index_of_paths(patch: pytest.MonkeyPatch) -> None:
    for seed in range(3):
        for most_states in (4_096, 0):
            test_path_index.test_as_asking_each(seed, most_states, patch)


KILLERS: list[tuple[list[Any], Callable[[Any], object]]] = [
    (COVERING, lambda _: against_automata(2)),
    (CONDITIONS, lambda _: test_paths.TestCovering().test_exact_with_one_condition_in_each()),
    (
        BRANCHES,
        lambda _: test_paths.TestCovering().test_exact(
            0, {"steps": 4, "branches": 0.4, "stars": False}
        ),
    ),
    (
        MATCHING,
        lambda _: test_paths.TestMatching().test_one_pass_agrees_with_trying_every_place(0),
    ),
    (INDEX, killed_by_an_index_of_paths),
]


@pytest.mark.parametrize(
    ("mutant", "kill"),
    [(mutant, kill) for mutants, kill in KILLERS for mutant in mutants],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_planted_faults_are_found(
    mutant: Callable[[pytest.MonkeyPatch], None],
    kill: Callable[[Any], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutant(monkeypatch)
    with pytest.raises(AssertionError):
        kill(monkeypatch)

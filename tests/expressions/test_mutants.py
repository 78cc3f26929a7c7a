"""Faults that were planted, and for each the test that finds it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import posetlib as pl
from posetlib.expressions import (
    attribute_predicates,
    clauses,
    comparing,
    expression,
    matcher,
    measures,
    overlapping,
    pruning,
    removals,
    satisfiable,
    shape_rows,
    simplifying,
    tree,
)
from posetlib.expressions.selectivity import joined_selectivity
from posetlib.simulation import pruned_network
from tests.planting import plant

from . import (
    test_all_kinds,
    test_bad_input,
    test_matcher,
    test_meaning,
    test_pruned_network,
    test_pruning,
)

meaning, matching, prunes = test_meaning, test_matcher, test_pruning
all_kinds = test_all_kinds


def agree(common: int = 2) -> None:
    with pytest.MonkeyPatch.context() as inner:
        matching.test_all_matchers_agree_under_adds_and_removals(1, common, inner)


def short_cut() -> None:
    with pytest.MonkeyPatch.context() as inner:
        matching.test_the_short_cut_leaves_the_answer_as_it_is(0, inner)


def transitive() -> None:
    with pytest.MonkeyPatch.context() as inner:
        meaning.test_covering_is_transitive_with_bounds_of_large_expressions_among_them(0, inner)


def at(test: Callable[..., object], *arguments: Any) -> Callable[[], object]:
    return partial(test, *arguments)


def _twice_the_same_leaf() -> None:
    text = "(a = 1 or b = 1) and (a = 1 or c = 1)"
    held = pl.ExpressionMatcher([(pl.parse_expression(text), 1)])
    assert held.match({"a": 1}) == {1}


MATCHES = at(meaning.test_an_expression_matches_what_its_tree_means, 1)
COVERS = at(meaning.test_covering_and_overlap_are_those_of_the_world, 1)
ROUND_TRIP = at(meaning.test_text_and_dictionary_are_read_back_as_the_same_expression, 1)
SIMPLE = at(meaning.test_simplifying_keeps_the_meaning_and_adds_no_leaf, 1)
ROWS = at(matching.test_rows_of_one_shape_follow_adds_and_removals, 1)
OVERLAPS = at(prunes.test_every_overlap_is_found_both_ways_round, 1)

# What is changed, from what to what, and the test that must fail.
FAULTS: dict[str, tuple[object, str, str, Callable[[], object]]] = {
    "De Morgan forgets the operator": (
        tree.normalised, "node.conjunctive is not negated", "node.conjunctive", MATCHES,
    ),
    "a double negation stays": (
        tree.normalised, "negated = node.child, not negated", "negated = node.child, True", MATCHES,
    ),
    "negated leaves are joined as if they were not": (
        tree.joined, "both=conjunctive is not negated", "both=conjunctive",
        at(meaning.test_these_are_one_expression, "not (x = 1) and not (x = 2)",
           "not (x in {1, 2})"),
    ),
    "what excludes each other makes nothing true": (
        tree.joined, "return TRUE if negated else FALSE", "return FALSE",
        at(meaning.test_these_are_one_expression, "not (x < 3) or not (x > 5)", "true"),
    ),
    "an OR within an AND has no parentheses": (
        tree.text_of_tree, 'return " or ".join(text for text, _ in parts), True',
        'return " or ".join(text for text, _ in parts), False', ROUND_TRIP,
    ),
    "depth is not bounded": (
        tree.normalised, "> MAX_DEPTH + 1", "> 10**9",
        at(test_bad_input.test_deep_alternation_is_refused,
           "x = 1 and (y = 1 or " * 300 + "z = 1" + ")" * 300),
    ),
    "the evaluation goes on where it should stop": (
        expression._code_of, "(child, after, if_not)", "(child, after, after)", MATCHES,
    ),
    "absence does not satisfy a negated condition": (
        satisfiable.possible, "if not held:\n        return True",
        "if not held:\n        return False",
        COVERS,
    ),
    "existence is not told from absence": (
        satisfiable.possible, "if any(isinstance(each, Exists) for each in avoided):",
        "if False:", COVERS,
    ),
    "several avoided constraints are not joined": (
        satisfiable._remains, "len(avoided) == 1 or", "True or", COVERS,
    ),
    "strings are not compared with a network": (
        satisfiable._text_remains, "return any(", "return True or any(",
        at(all_kinds.test_coverings_across_kinds, 'x in "10.0.0.0/8"', 'x in {"10.0.0.1"}'),
    ),
    "an element that is not named is forgotten": (
        satisfiable._set_remains, "left.split(others)[1]", "left.split(others)[0]",
        at(all_kinds.test_every_kind_agrees_with_the_world, 0),
    ),
    "elements are avoided one by one": (
        satisfiable._set_remains, "any(e.matches(each) for e in no_elements)", "False",
        at(all_kinds.test_coverings_across_kinds, "x some > 0", "x has 1"),
    ),
    "whole domains are not seen behind other kinds": (
        satisfiable.possible, "exact = exact or [", "exact = exact or [][:0] and [",
        at(all_kinds.test_another_kind_is_compared_with_its_like_and_with_whole_domains),
    ),
    "what an advertisement excludes is not weighed": (
        overlapping.OverlapIndex.weight, "math.sqrt(satisfied(leaves.leaf(row)) + 1)", "1",
        at(prunes.test_the_weight_of_a_leaf_is_the_share_of_the_table_that_it_excludes),
    ),
    "covering looks at some clauses only": (
        comparing.covers, "for b in one.outside", "for b in one.outside[:1]", COVERS,
    ),
    "overlap looks at one clause only": (
        comparing.overlaps, "for b in other.inside", "for b in other.inside[:1]", COVERS,
    ),
    "a bound that is too small": (
        comparing.form_of, "found = (frozenset(),)", "found = ()", transitive,
    ),
    "clauses beyond the limit are dropped": (
        clauses._product, "return None\n    return _without", "break\n    return _without",
        at(test_bad_input.test_a_disjunctive_form_that_shares_an_attribute_is_refused),
    ),
    "a part is left out that makes a difference": (
        simplifying._and, "if covers(bounds_of(child), rest):",
        "if overlaps(bounds_of(child), rest):", SIMPLE,
    ),
    "p_min takes the most of an OR": (
        measures.p_min, "min(counts, default=0)", "max(counts, default=0)",
        at(agree, 10_000),
    ),
    "p_min counts negated leaves": (
        measures.p_min, "0 if leaf.negated else 1", "1",
        at(agree, 10_000),
    ),
    "hits are not counted as often as a leaf occurs": (
        matcher.ExpressionMatcher._enter_rare, "posted.get(place, 0) + (not leaf.negated)",
        "1 * (not leaf.negated)", _twice_the_same_leaf,
    ),
    "rows do not follow a removal": (
        shape_rows.Places.remove_from, "self._rows[moved] = row", "pass", ROWS,
    ),
    "a removed row's interface stays": (
        shape_rows.ShapeRows.remove, "self._interfaces[row] = self._interfaces[end]", "pass", agree,
    ),
    "columns are not negated": (
        shape_rows._Block.evaluate, "found ^ self._all if plan.negated else found", "found", agree,
    ),
    "rows that are left are evaluated as if they were the first": (
        shape_rows._Block.evaluate, "left if rows is None else rows[left]", "left", ROWS,
    ),
    "a range ends one value early": (
        attribute_predicates.AttributePredicates._sweep, '"right")', '"left")', agree,
    ),
    "the short cut leaves out rows that are open": (
        shape_rows.ShapeRows.match, "!= all_bits", "== 0", short_cut,
    ),
    "a pruning removes a child of an OR": (
        removals.Annotated.options, "and around.node.conjunctive", "",
        at(prunes.test_a_pruning_covers_and_shrinks, 1),
    ),
    "ratings are against the present tree": (
        pruning.PrunedEntries._best, "entry.first", "_first_of(entry.current, self._share)",
        at(prunes.test_entries_are_pruned_in_the_order_of_their_rating, "accuracy"),
    ),
    "AND takes the lower bound of its parts": (
        joined_selectivity,
        "max(0.0, sum([part.least for part in parts]) - (len(parts) - 1))",
        "min([part.least for part in parts], default=1.0)",
        at(prunes.test_selectivities_lie_between_their_bounds, 1),
    ),
    "what clauses exclude is added up": (
        overlapping.OverlapIndex._possible, "&= ~np.uint64(1 << at)", "&= np.uint64(0)", OVERLAPS,
    ),
    "ranges that touch overlap": (
        overlapping._Leaves.excluded, "(after_low >= after_last)", "(after_low > after_last)",
        at(prunes.test_ends_that_touch_overlap_only_if_both_have_the_number),
    ),
    "an entry is pruned at its own broker": (
        pruned_network.PrunedNetwork.entry, "if broker == home:", "if False:",
        at(test_pruned_network.test_pruning_changes_what_is_sent_and_not_what_is_delivered,
           "post", "accuracy"),
    ),
    "a forwarder keeps what it pruned to itself": (
        pruned_network.PrunedNetwork._sent_changed, "waiting += self._links_from(receiver, sender)",
        "pass", at(test_pruned_network.test_a_forwarder_that_prunes_sends_what_it_pruned_on),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, right, wrong, test = FAULTS[fault]
    plant(monkeypatch, function, right, wrong)
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - any failure will do
        test()
    assert not isinstance(caught.value, KeyboardInterrupt | SystemExit)


def test_a_leaf_that_occurs_twice_has_two_hits() -> None:
    _twice_the_same_leaf()

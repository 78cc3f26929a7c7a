"""Expressions of every kind of constraint on one attribute, against every value of a world."""

from functools import cache
from itertools import product
from random import Random
from typing import Any

import pytest

import posetlib as pl
from posetlib.expressions import Expression, Leaf, prunings
from posetlib.expressions.satisfiable import possible
from posetlib.expressions.tree import Negation, RawJunction, RawNode
from posetlib.values import MISSING, lookup

TEXTS = [
    "x = 0", "x = 1", "x < 1", "x != 1", "x:int > 0", "x is number", "exists x", "absent x",
    "x is null", "x = true", 'x = "a"', 'x prefix "a"', 'x contains "b"', 'x < "b"', "x is string",
    'x like "a*b"', 'x like "a?b"', 'x like "A*" ignoring case', 'x not like "a*"',
    'x prefix "10."', 'x = "10.0.0.1"', 'x in {"10.0.0.1", "a"}', 'x >= "10.0.0.2"',
    'x in "10.0.0.0/30"', 'x in "10.0.0.0/8"', 'x not in "10.0.0.0/8"', 'x in "10.0.0.1"',
    'x in "::1"', 'x in "::/0"', "x has 1", "x lacks 1", "x subset {1, 2}", "x overlaps {1, 3}",
    "x superset {1, 2}", "x disjoint {1, 2}", "x is set", "x some > 1", "x some = 1",
    'x some prefix "a"', "x some not (= 1)", "x some is null", 'x some in "10.0.0.0/8"',
    "x < $y", "x = $y", "y = 1", "y < 1", "exists y",
]  # fmt: skip
VALUES: list[Any] = [
    -1, 0, 0.5, 1, 1.5, 2, 3, True, False, None, float("nan"), MISSING, b"bytes", {},
    "", "a", "ab", "acb", "b", "AB", "A", "c", "10.", "10.x",
    "10.0.0.1", "10.0.0.2", "10.9.9.9", "11.0.0.1", "::1", "0::1", "::2",
    [], [1], [2], [1, 2], [1, 3], [3], [0], ["a"], ["A"], [None], [1, "a"], [True], [-5],
    ["10.1.1.1"], [{}], [[1]], [[1], 5], [{}, 1],
]  # fmt: skip


@cache
def world() -> tuple[dict[str, Any], ...]:
    pairs = product(VALUES, [0, 1, 2, "a", MISSING])
    return tuple(
        {name: value for name, value in zip("xy", values, strict=True) if value is not MISSING}
        for values in pairs
    )


@cache
def meaning_of_leaf(leaf: Leaf) -> int:
    """Return the notifications of the world that satisfy a constraint, as bits."""
    found = 0
    for at, notification in enumerate(world()):
        value = lookup(notification, leaf.attribute)
        if value is MISSING:
            holds = leaf.constraint.matches_absence()
        else:
            holds = leaf.constraint.matches_in(value, notification)
        found |= holds << at
    return found


def meaning(node: RawNode) -> int:
    everything = (1 << len(world())) - 1
    if isinstance(node, Negation):
        return everything ^ meaning(node.child)
    if isinstance(node, Leaf):
        found = meaning_of_leaf(node._replace(negated=False))
        return everything ^ found if node.negated else found
    found = everything if node.conjunctive else 0
    for child in node.children:
        found = found & meaning(child) if node.conjunctive else found | meaning(child)
    return found


def random_tree(random: Random, leaves: int) -> RawNode:
    if leaves == 1:
        filter = pl.parse_filter(random.choice(TEXTS))
        node: RawNode = Leaf(filter.attributes[0], filter.terms[0])
    else:
        cut = random.randint(1, leaves - 1)
        parts = [random_tree(random, cut), random_tree(random, leaves - cut)]
        node = RawJunction(random.random() < 0.5, parts)
    return Negation(node) if random.random() < 0.3 else node


@pytest.mark.parametrize("seed", range(5))
def test_every_kind_agrees_with_the_world(seed):
    random = Random(seed)
    trees = [random_tree(random, random.choice([1, 1, 2, 3, 5])) for _ in range(24)]
    drawn = [Expression(tree) for tree in trees]
    means = [meaning(tree) for tree in trees]
    coverings = missed = 0
    for expression, points in zip(drawn, means, strict=True):
        for at, notification in enumerate(world()):
            assert expression.matches(notification) is bool(points >> at & 1), (
                expression, notification,
            )  # fmt: skip
        assert pl.parse_expression(str(expression)) == expression
        assert Expression.from_dict(expression.to_dict()) == expression
        simple = expression.simplify()
        assert meaning(simple.root) == points
        assert simple.covers(expression)
        assert expression.covers(simple)
        for pruning in prunings(expression):
            assert pruning.expression.covers(expression)
        _check_filters(expression, points)
    covers = [[one.covers(other) for other in drawn] for one in drawn]
    overlaps = [[one.overlaps(other) for other in drawn] for one in drawn]
    index = pl.OverlapIndex(enumerate(drawn))
    everything = range(len(drawn))
    for a in everything:
        found = index.overlapping(drawn[a])
        for b in everything:
            within = not means[b] & ~means[a]
            coverings += within
            missed += within and not covers[a][b]
            assert within or not covers[a][b], (drawn[a], drawn[b])
            assert overlaps[a][b] == overlaps[b][a]
            if means[a] & means[b]:
                assert overlaps[a][b], (drawn[a], drawn[b])
                assert b in found
            if covers[a][b]:
                for c in everything:
                    triple = (drawn[a], drawn[b], drawn[c])
                    assert covers[a][c] or not covers[b][c], triple
                    assert overlaps[a][c] or not overlaps[b][c], triple
    print(f"coverings missed, as far as the world tells: {missed} of {coverings}")
    matcher = pl.ExpressionMatcher((each, at) for at, each in enumerate(drawn))
    asked = random.sample(range(len(world())), 70)
    for at, answer in zip(asked, matcher.match_many([world()[at] for at in asked]), strict=True):
        assert answer == {each for each in everything if means[each] >> at & 1}


def _check_filters(expression: Expression, points: int) -> None:
    """The filters of the disjunctive form match the same, and so do those read from their texts."""
    filters = expression.dnf()
    for filter in filters:
        assert pl.parse_filter(str(filter)) == filter
        assert pl.Filter.from_dict(filter.to_dict()) == filter
    for at, notification in enumerate(world()):
        assert any(each.matches(notification) for each in filters) is bool(points >> at & 1)


def test_what_filters_decide_of_one_condition_expressions_decide_as_well():
    filters = list(map(pl.parse_filter, TEXTS))
    for one in filters:
        for other in filters:
            pair = (one, other)
            if one.covers(other):
                assert Expression.of(one).covers(Expression.of(other)), pair
            if not one.overlaps(other):
                assert not Expression.of(one).overlaps(Expression.of(other)), pair


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ('x in "10.0.0.0/8"', 'x in "10.0.0.1"'),
        ('x in "10.0.0.0/8"', 'x in {"10.0.0.1", "10.2.3.4"}'),
        ('x in "10.0.0.0/9" or x in "10.128.0.0/9" and y = 1', 'x in "10.0.0.0/8" and y = 1'),
        ('x in "10.0.0.0/8" or x = "a"', 'x in {"10.0.0.1", "a"}'),
        ('not (x in "::1")', 'x in "10.0.0.0/30"'),
        ("x some > 0", "x has 1"),
        ("x has 1", "x some = 1"),
        ("x overlaps {1, 2}", "x some in [1, 2] and x some not (> 1 or < 1) and x subset {1, 2}"),
        ("x some > 0 or x some < 0", "x some != 0"),
        ("x has 3", "x some > 2 and x subset {1, 2, 3}"),
        ("not (x subset {1})", "x some > 5"),
        ("x some not (= 1)", "x has 2"),
        ("x is null or x is number", "x:int > 3"),
    ],
)
def test_coverings_across_kinds(wide, narrow):
    wide, narrow = pl.parse_expression(wide), pl.parse_expression(narrow)
    assert wide.covers(narrow)
    assert not narrow.covers(wide) or wide.covers(narrow)
    assert not narrow.overlaps(~wide)


def test_a_complement_that_together_covers_a_domain_keeps_the_relation_transitive():
    # What is a set and does not lack 1 has 1; the third is compared by the whole domain of sets.
    wide = pl.parse_expression('x overlaps {1, 3} or x suffix "b"')
    middle = pl.parse_expression("x is set and not (x lacks 1)")
    narrow = pl.parse_expression('x some = 1 and not (x lacks 1) and (x = $y or x like "a*")')
    assert wide.covers(middle)
    assert middle.covers(narrow)
    assert wide.covers(narrow)


class Multiple(pl.Constraint):
    """Whole multiples of a number: a kind of somebody's own."""

    domain = "number"
    kind = "test-multiple"

    def __init__(self, of: int) -> None:
        self.of = of

    def matches(self, value: Any) -> bool:
        return isinstance(value, int) and value % self.of == 0

    def covers(self, other: pl.Constraint) -> bool:
        return other.of % self.of == 0 if isinstance(other, Multiple) else super().covers(other)

    def clauses(self, name: str) -> tuple[str, ...]:
        return (f"{name} multiple {self.of}",)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Multiple) and other.of == self.of

    def __hash__(self) -> int:
        return hash((Multiple, self.of))


def test_another_kind_is_compared_with_its_like_and_with_whole_domains():
    six, three = Multiple(6), Multiple(3)
    low, high = (pl.parse_filter(text).terms[0] for text in ("x < 5", "x >= 5"))
    number, text, there = (
        pl.parse_filter(text).terms[0] for text in ("x is number", "x is string", "exists x")
    )
    assert not possible([six], [three])
    assert possible([three], [six])
    assert not possible([six], [low, high])  # together they are all numbers
    assert not possible([six], [number])
    assert not possible([six], [there])
    assert not possible([six, text], [])
    # That a part of the numbers has none is not decided.
    assert possible([six], [low])
    assert possible([six, low], [])

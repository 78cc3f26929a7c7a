"""What expressions mean, and what is said of two of them, against every notification of a world."""

from random import Random

import pytest

import posetlib as pl
from posetlib.expressions import Expression, Leaf
from tests.expressions.worlds import meaning, random_expression, random_tree, world


def matched(expression: pl.Expression) -> frozenset[int]:
    return frozenset(i for i, each in enumerate(world()) if expression.matches(each))


@pytest.mark.parametrize("seed", range(8))
def test_an_expression_matches_what_its_tree_means(seed):
    random = Random(seed)
    for _ in range(15):
        tree = random_tree(random, random.randint(1, 9))
        expression = Expression(tree)
        assert matched(expression) == meaning(tree), expression
        assert matched(~expression) == frozenset(range(len(world()))) - meaning(tree)
        assert ~~expression == expression


@pytest.mark.parametrize("seed", range(8))
def test_text_and_dictionary_are_read_back_as_the_same_expression(seed):
    random = Random(seed)
    for _ in range(60):
        expression = random_expression(random, random.randint(1, 12))
        assert pl.parse_expression(str(expression)) == expression
        assert str(pl.parse_expression(str(expression))) == str(expression)
        assert Expression.from_dict(expression.to_dict()) == expression
        assert hash(Expression.from_dict(expression.to_dict())) == hash(expression)


@pytest.mark.parametrize("seed", range(6))
def test_simplifying_keeps_the_meaning_and_adds_no_leaf(seed):
    random = Random(seed)
    for _ in range(20):
        expression = random_expression(random)
        simple = expression.simplify()
        assert matched(simple) == matched(expression), (expression, simple)
        assert len(simple.leaves()) <= len(expression.leaves())


@pytest.mark.parametrize("seed", range(6))
def test_filters_of_the_disjunctive_form_match_the_same(seed):
    random = Random(seed)
    made = 0
    for _ in range(60):
        expression = random_expression(random)
        try:
            filters = expression.dnf()
        except pl.FilterError:
            # Only a negated condition is beyond filters.
            assert any(leaf.negated for clause in expression.clauses() for leaf in clause)
            continue
        made += 1
        together = frozenset(
            i for i, each in enumerate(world()) if any(f.matches(each) for f in filters)
        )
        assert together == matched(expression), (expression, filters)
    assert made >= 10


@pytest.mark.parametrize("seed", range(4))
def test_covering_and_overlap_are_those_of_the_world(seed):
    # The conditions of the world are of kinds that are compared exactly, and its forms are small.
    # So nothing may be missed, and nothing may be claimed.
    random = Random(seed)
    drawn = [random_expression(random, names="xy" if i % 2 else "yz") for i in range(40)]
    means = [matched(each) for each in drawn]
    coverings = missed = overlapping = 0
    for one, points in zip(drawn, means, strict=True):
        for other, others in zip(drawn, means, strict=True):
            claimed = one.covers(other)
            assert not claimed or points >= others, (one, other)
            coverings += points >= others
            missed += points >= others and not claimed
            overlap = one.overlaps(other)
            assert overlap == other.overlaps(one)
            assert overlap or not points & others, (one, other)
            overlapping += overlap and not points & others
    print(f"coverings missed: {missed} of {coverings}; overlaps claimed too many: {overlapping}")
    assert coverings > 100
    assert missed == overlapping == 0


@pytest.mark.parametrize("seed", range(3))
def test_covering_is_transitive_with_bounds_of_large_expressions_among_them(seed, monkeypatch):
    # With forms of up to three clauses, many expressions are compared by their bounds.
    monkeypatch.setattr("posetlib.expressions.comparing.MAX_CLAUSES", 3)
    random = Random(seed)
    drawn = [random_expression(random, names="xy") for _ in range(30)]
    drawn += [pl.parse_expression("true"), pl.parse_expression("false")]
    assert {each._limits().exact for each in drawn} == {True, False}
    covers = [[a.covers(b) for b in drawn] for a in drawn]
    means = [matched(each) for each in drawn]
    everything = range(len(drawn))
    for a in everything:
        assert covers[a][a]
        for b in everything:
            if covers[a][b]:
                assert means[a] >= means[b], (drawn[a], drawn[b])
                assert all(covers[a][c] for c in everything if covers[b][c]), (drawn[a], drawn[b])
                for c in everything:  # overlap is monotone
                    assert not drawn[b].overlaps(drawn[c]) or drawn[a].overlaps(drawn[c])


def test_not_is_the_complement_and_holds_where_an_attribute_is_absent():
    weak, strong = pl.parse_expression("not (x > 3)"), pl.parse_expression("x <= 3")
    for notification, by_complement, by_comparison in [
        ({"x": 2}, True, True),
        ({"x": 5}, False, False),
        ({}, True, False),
        ({"x": "five"}, True, False),
        ({"x": None}, True, False),
        ({"x": [5]}, True, False),
    ]:
        assert weak.matches(notification) is by_complement
        assert strong.matches(notification) is by_comparison
    assert weak.covers(strong)
    assert not strong.covers(weak)
    assert not weak.overlaps(pl.parse_expression("x > 3"))


@pytest.mark.parametrize(
    "text",
    [
        "true",
        'type = "a" and price in [20, 30] and name prefix "Fo"',
        "(x < 3 or x > 7) and y != 2",
        'a < $b and (c suffix "x" or c contains "yz" and c not contains "q")',
        "t subset {1, 2} and u:int > 3 and exists v",
        "t has 1 and t lacks 2 or t overlaps {3, 4}",
    ],
)
def test_the_text_of_a_filter_is_that_of_an_expression_that_matches_the_same(text):
    filter, expression = pl.parse_filter(text), pl.parse_expression(text)
    assert expression == Expression.of(filter)
    assert pl.parse_expression(str(filter)) == expression
    assert expression.dnf() == (filter,) or len(expression.dnf()) > 1
    notifications = [
        {"type": "a", "price": 25, "name": "Foo", "x": 8, "y": 1, "a": 1, "b": 2, "c": "ayzx"},
        {"t": {1}, "u": 4, "v": None, "x": 5, "y": 2, "a": 3, "b": 2, "c": "yzq"},
        {"t": [3], "u": 4.5, "price": 31},
        {},
    ]
    for notification in notifications:
        assert expression.matches(notification) is filter.matches(notification)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1 and (b = 1 and c = 1)", "c = 1 and b = 1 and a = 1 and a = 1"),
        ("not (a = 1 and b = 1)", "not (b = 1) or not (a = 1)"),
        ("not not (a = 1)", "a = 1"),
        ("x > 3 and x < 5", "x in (3, 5)"),
        ("x = 1 or x = 2", "x in {1, 2}"),
        ("not (x = 1) and not (x = 2)", "not (x in {1, 2})"),
        ("x < 3 and x > 5", "false"),
        ("not (x < 3) or not (x > 5)", "true"),
        ("a = 1 or true", "true"),
        ("a = 1 and false", "false"),
        ("x in (5, 2) or a = 1", "a = 1"),
    ],
)
def test_these_are_one_expression(one, other):
    assert pl.parse_expression(one) == pl.parse_expression(other)
    assert str(pl.parse_expression(one)) == str(pl.parse_expression(other))


def test_types_are_read_with_their_hierarchy():
    types = pl.TypeHierarchy({"StockQuote": ["Quote"], "BondQuote": ["Quote"]})
    wide = pl.parse_expression("not (type isa Quote)", types=types)
    assert wide.matches({"type": "Trade"})
    assert wide.matches({})
    assert not wide.matches({"type": "BondQuote"})
    quotes = pl.parse_expression("type isa Quote", types=types)
    assert quotes.covers(pl.parse_expression('type in {"BondQuote", "StockQuote"} and x = 1'))
    assert Expression.from_dict(quotes.to_dict()) == quotes


def test_placeholders_are_compared_with_one_another():
    below = pl.parse_expression("a < $b and c = 1")
    assert pl.parse_expression("a <= $b or d = 1").covers(below)
    assert not pl.parse_expression("a < $c").covers(below)
    assert not below.overlaps(pl.parse_expression("a > $b"))
    assert pl.parse_expression("exists a").covers(below)
    assert pl.parse_expression("a < $a or b = 1") == pl.parse_expression("b = 1")


def test_explanations_name_the_leaves_that_decide():
    expression = pl.parse_expression("a = 1 and (b = 1 or not (c > 3))")
    found = expression.explain({"a": 1, "b": 2, "c": 5})
    assert not found
    assert str(found) == (
        "b is 2, but the expression wants b = 1; c is 5, but the expression wants not (c > 3)"
    )
    assert [outcome.holds for outcome in found.leaves] == [True, False, False]
    found = expression.explain({"a": 1})
    assert found
    assert found.matches
    assert str(found) == "a is 1, so a = 1; c is absent, so not (c > 3)"
    assert str(pl.parse_expression("true").explain({})) == "matches true"


@pytest.mark.parametrize("seed", range(4))
def test_the_deciding_leaves_decide(seed):
    # Whatever the other leaves were, the tree would come to the same.
    random = Random(seed)
    for _ in range(10):
        expression = random_expression(random)
        for notification in random.sample(world(), 20):
            found = expression.explain(notification)
            assert bool(found) is expression.matches(notification)
            fixed = {outcome.leaf: outcome.holds for outcome in found.deciding}
            assert worth(expression.root, fixed, not found.matches) is found.matches


def worth(node, fixed, others):
    """Return what a tree comes to if some leaves are as given, and all others alike."""
    if isinstance(node, Leaf):
        return fixed.get(node, others)
    return (all if node.conjunctive else any)(worth(c, fixed, others) for c in node.children)

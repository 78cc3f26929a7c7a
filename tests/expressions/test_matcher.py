"""The matcher of expressions: the same answers as by disjunctive forms, and as one by one."""

import math
from decimal import Decimal
from fractions import Fraction
from random import Random
from threading import Thread

import numpy as np
import pytest

import posetlib as pl
from posetlib.expressions import matcher as matcher_module
from posetlib.expressions.attribute_predicates import float_after
from posetlib.expressions.baselines import BruteForceMatcher, DisjunctiveMatcher
from posetlib.expressions.measures import p_min
from posetlib.generating.auction import AuctionParameters, generated_events, generated_subscriptions
from tests.expressions.worlds import random_expression, world

INTERFACES = "ABCDEFG"


def lockstep(random: Random, steps: int, pool: list[pl.Expression]):
    """Add and remove at random in all matchers at once; yield them now and then."""
    matchers = [
        pl.ExpressionMatcher(),
        DisjunctiveMatcher(pl.CountingMatcher),
        DisjunctiveMatcher(pl.BitmapMatcher),
        BruteForceMatcher(),
    ]
    held: dict[tuple[pl.Expression, str], None] = {}
    for step in range(steps):
        if held and random.random() < 0.4:
            pair = random.choice(list(held))
            del held[pair]
            for each in matchers:
                each.remove(*pair)
        else:
            pair = (random.choice(pool), random.choice(INTERFACES))
            held[pair] = None
            for each in matchers:
                each.add(*pair)
        if step % 20 == 19:
            yield matchers, held
    for pair in list(held):
        matchers[0].remove(*pair)
    yield matchers[:1], {}


# With shapes that are common from two pairs on, everything goes in columns; else nothing does.
@pytest.mark.parametrize("common", [2, 5, 10_000])
@pytest.mark.parametrize("seed", range(4))
def test_all_matchers_agree_under_adds_and_removals(seed, common, monkeypatch):
    monkeypatch.setattr(matcher_module, "_COMMON", common)
    random = Random(seed)
    pool = [random_expression(random) for _ in range(40)]
    for matchers, held in lockstep(random, 120, pool):
        notifications = random.sample(world(), 70)  # more than a block
        expected = [frozenset(i for e, i in held if e.matches(each)) for each in notifications]
        for each in matchers:
            assert each.match_many(notifications) == expected, each
        assert [matchers[0].match(each) for each in notifications[:5]] == expected[:5]
        assert set(matchers[0].entries()) == set(held)


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_one_shape_follow_adds_and_removals(seed):
    # Deep enough for rows to be left out within rows that were left out already.
    random = Random(seed)
    form = "x = {} and (y = {} or not (z = {}) and (v = {} or w < {} and (u = {} or not (t > {}))))"
    matcher = pl.ExpressionMatcher()
    held = []
    for _ in range(400):
        if held and random.random() < 0.45:
            matcher.remove(*held.pop(random.randrange(len(held))))
        else:
            made = pl.parse_expression(form.format(*(random.randint(0, 3) for _ in range(7))))
            pair = (made, random.randint(0, 50))
            if pair not in held:
                matcher.add(*pair)
                held.append(pair)
    assert len(held) > 24  # common enough for columns
    notifications = [
        {name: random.randint(0, 3) for name in "xyzvwut" if random.random() < 0.9}
        for _ in range(150)
    ]
    for notification, found in zip(notifications, matcher.match_many(notifications), strict=True):
        assert found == {i for e, i in held if e.matches(notification)}
        assert matcher.match(notification) == found


def test_a_matcher_that_gave_everything_back_holds_nothing():
    random = Random(5)
    pool = [random_expression(random) for _ in range(30)]
    *_, (matchers, _) = lockstep(random, 100, pool)
    (matcher,) = matchers
    assert not matcher._numbers
    assert not matcher._attributes
    assert not matcher._shapes
    assert not matcher._postings
    assert not matcher._unhit
    assert not matcher._interfaces
    assert sorted(matcher._free) == list(range(len(matcher._uses)))
    # Numbers of predicates are used again.
    before = len(matcher._uses)
    matcher.add(pool[0], "A")
    assert len(matcher._uses) == before


@pytest.mark.parametrize("law", ["uniform", "zipf"])
def test_the_auction_mix_is_matched_as_by_disjunctive_forms(law):
    parameters = AuctionParameters(seed=11, law=law, interfaces=7)
    made = generated_subscriptions(parameters, range(1_500))
    events = generated_events(parameters, range(150)).notifications()
    matchers = [
        pl.ExpressionMatcher(), DisjunctiveMatcher(pl.BitmapMatcher), BruteForceMatcher()
    ]  # fmt: skip
    for expression, interface in zip(made.expressions(), made.interfaces.tolist(), strict=True):
        for each in matchers:
            each.add(expression, interface)
    answers = [each.match_many(events) for each in matchers]
    assert answers[0] == answers[1] == answers[2]
    assert 0 < sum(map(len, answers[0])) < 7 * 150


def test_values_of_all_kinds_are_matched_in_columns(monkeypatch):
    monkeypatch.setattr(matcher_module, "_COMMON", 1)
    texts = [
        "x = 1", "x > 1", "x >= 1", "x < 1", f"x > {2**53}", f"x = {2**53 + 1}", "x in (1/3, 1)",
        "x != 1", "x:int > 0", "x in {1, 2, 5}", 'x = "1"', 'x < "b"', 'x suffix "1"', "x = true",
        "x is bool", "x has 1", "x subset {1}", "exists x", "x < $y", "x = $y", "x is number",
        "x in [0.1, 0.3]",
    ]  # fmt: skip
    values = [
        1, 1.0, True, False, 2**53, 2**53 + 1, 2**53 + 2, Fraction(1, 3), Decimal("0.1"), 0.1,
        np.int64(1), np.float32(0.1), np.bool_(True), float("inf"), float("nan"), None, "1", "b",
        np.str_("1"), {1}, [1, 2], (), 10**400, -(10**400), Fraction(10**400, 7), Decimal("0.3"),
    ]  # fmt: skip
    matcher = pl.ExpressionMatcher()
    expressions = {}
    for text in texts:
        for form in (text, f"not ({text})"):
            expressions[form] = pl.parse_expression(form)
            matcher.add(expressions[form], form)
    notifications = [{"x": value, "y": 1} for value in values] + [{"y": 1}, {"x": {"y": 1}}]
    found = matcher.match_many(notifications)
    for notification, answer in zip(notifications, found, strict=True):
        assert answer == {t for t, e in expressions.items() if e.matches(notification)}, (
            notification
        )
        assert matcher.match(notification) == answer


@pytest.mark.parametrize(
    "number",
    [0, 1, -1, 3.5, 2**53 + 1, 10**400, -(10**400), Fraction(1, 3), Fraction(-1, 3), 5e-324],
)
def test_floats_compare_with_an_end_as_with_its_cut(number):
    for after in (0, 1):
        end = float_after((number, after))
        near = [end, math.nextafter(end, math.inf), math.nextafter(end, -math.inf), 0.0, 1e308]
        for value in near:
            behind = value > number if after else value >= number
            assert (value >= end) is behind, (number, after, value)


def test_nested_and_dotted_names_are_looked_up():
    matcher = pl.ExpressionMatcher([(pl.parse_expression("pos.x > 1 and not (exists pos.y)"), 1)])
    assert matcher.match({"pos": {"x": 2}}) == {1}
    assert matcher.match({"pos.x": 2}) == {1}
    assert matcher.match({"pos": {"x": 2, "y": 0}}) == frozenset()


def test_errors_leave_the_matcher_as_it_was():
    matcher = pl.ExpressionMatcher()
    expression = pl.parse_expression("x = 1")
    matcher.add(expression, "A")
    with pytest.raises(TypeError, match="holds expressions"):
        matcher.add(pl.parse_filter("x = 1"), "A")
    with pytest.raises(TypeError):
        matcher.add(expression, ["unhashable"])
    with pytest.raises(pl.UnknownEntryError):
        matcher.remove(expression, "B")
    with pytest.raises(TypeError, match="mapping"):
        matcher.match_many([{"x": 1}, None])

    class Broken(pl.Constraint):
        def matches(self, value):
            return True

        def clauses(self, name):
            return (f"{name} broken",)

        def extent(self):
            raise RuntimeError("no extent")

        def __hash__(self):
            return 1

        def __eq__(self, other):
            return self is other

    from posetlib.expressions.tree import Leaf, RawJunction

    broken = pl.Expression(
        RawJunction(True, [Leaf("x", expression.leaves()[0].constraint), Leaf("y", Broken())])
    )
    with pytest.raises(RuntimeError):
        matcher.add(broken, "B")
    assert matcher.entries() == ((expression, "A"),)
    assert broken not in matcher
    assert matcher.match({"x": 1, "y": 1}) == {"A"}
    matcher.remove(expression, "A")
    assert not matcher._numbers
    assert not matcher._interfaces


def test_copies_and_pickles_match_the_same():
    import pickle

    random = Random(3)
    matcher = pl.ExpressionMatcher((random_expression(random), i) for i in range(40))
    notifications = random.sample(world(), 30)
    expected = matcher.match_many(notifications)
    assert matcher.copy().match_many(notifications) == expected
    assert pickle.loads(pickle.dumps(matcher)).match_many(notifications) == expected


def test_match_implies_as_many_hits_as_p_min():  # I3, and I7: a conjunction matches with all hits
    random = Random(9)
    for _ in range(60):
        expression = random_expression(random)
        matcher = pl.ExpressionMatcher([(expression, 1)])
        for notification in random.sample(world(), 40):
            counts = matcher.account(notification)
            assert counts.matches == expression.matches(notification)
            assert counts.matches <= counts.candidates <= 1
            conjunctive = getattr(expression.root, "conjunctive", True)
            leaves = expression.leaves()
            if conjunctive and not any(leaf.negated for leaf in leaves) and expression.depth < 2:
                assert counts.candidates == counts.matches
                assert p_min(expression.root) == len(leaves)


@pytest.mark.parametrize("seed", range(3))
def test_the_short_cut_leaves_the_answer_as_it_is(seed, monkeypatch):  # I12
    random = Random(seed)
    texts = [f"x = {i} and y = {j}" for i in range(12) for j in range(12)]
    pairs = [(pl.parse_expression(text), random.choice("AB")) for text in texts]
    notifications = [{"x": i % 13, "y": i % 11} for i in range(150)]
    monkeypatch.setattr(matcher_module, "_COMMON", 2)
    answers, tests = [], []
    for many in (1, 10**9):  # with the short cut, and without
        monkeypatch.setattr(matcher_module, "_MANY_PAIRS", many)
        monkeypatch.setattr("posetlib.expressions.shape_rows._SHORTCUT_ROWS", 4)
        matcher = pl.ExpressionMatcher(pairs)
        answers.append([matcher.match(each) for each in notifications])
        tests.append(matcher.counters.match_tests)
        assert matcher.match_many(notifications) == answers[-1]
    assert answers[0] == answers[1]
    assert tests[0] < tests[1]


def test_threads_that_match_and_change_see_whole_states():
    random = Random(1)
    always = [(random_expression(random), "kept") for _ in range(60)]
    others = [(random_expression(random), "other") for _ in range(60)]
    matcher = pl.ExpressionMatcher(always)
    notifications = random.sample(world(), 64)
    kept = [frozenset(i for e, i in always if e.matches(n)) for n in notifications]
    faults = []

    def change():
        for pair in others:
            matcher.add(*pair)
        for pair in others:
            matcher.discard(*pair)

    def match():
        for _ in range(10):
            for answer, expected in zip(matcher.match_many(notifications), kept, strict=True):
                if answer - {"other"} != expected:
                    faults.append(answer)

    threads = [Thread(target=change), *(Thread(target=match) for _ in range(3))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not faults
    assert matcher.match_many(notifications) == kept


def test_selectivities_are_learned_from_the_notifications_seen():
    expression = pl.parse_expression("x > 5 and y = 1")
    matcher = pl.ExpressionMatcher([(expression, 1)])
    x, y = expression.leaves()
    assert matcher.selectivity(x) == (0, 0)
    matcher.match_many([{"x": i, "y": i % 2} for i in range(10)])
    assert matcher.selectivity(x) == (4, 10)
    assert matcher.selectivity(y) == (5, 10)
    other = pl.parse_expression("x > 5 or z = 1")
    matcher.add(other, 2)
    matcher.match({"x": 9, "z": 1})
    assert matcher.selectivity(x) == (5, 11)
    assert matcher.selectivity(other.leaves()[1]) == (1, 1)
    assert matcher.occurrences(x) == 2
    assert matcher.selectivity(pl.parse_expression("q = 1").leaves()[0]) == (0, 0)

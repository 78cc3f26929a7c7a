"""What every matcher promises: the calls of a table, its errors, and the facts of the language."""

from __future__ import annotations

import copy
import math
import pickle
from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor, wait
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import posetlib as pl
from posetlib.matching import BitmapMatcher

from .worlds import MATCHERS, Backwards, Even, Make

X = pl.parse_filter("x in [0, 5]")
Y = pl.parse_filter('y prefix "a"')
ALL = pl.parse_filter("true")


@pytest.fixture(params=MATCHERS)
def make(request: pytest.FixtureRequest) -> Make:
    return MATCHERS[request.param]


class TestPairs:
    def test_a_pair_counts_once(self, make: Make) -> None:
        matcher = make()
        assert matcher.add(X, "I1").pairs_added == ((X, "I1"),)
        assert not matcher.add(X, "I1")
        assert matcher.add(X, "I2").added == ()
        assert matcher.entries() == ((X, "I1"), (X, "I2"))
        assert (len(matcher), list(matcher), X in matcher, Y in matcher) == (1, [X], True, False)
        assert matcher.interfaces(X) == {"I1", "I2"}

    def test_what_goes_is_told(self, make: Make) -> None:
        matcher = make([(X, "I1"), (X, "I2")])
        assert matcher.remove(X, "I1").removed == ()
        assert matcher.remove(X, "I2").removed == (X,)
        assert not matcher.discard(X, "I2")
        assert matcher.entries() == ()

    @pytest.mark.parametrize("pair", [(X, "I2"), (Y, "I1")])
    def test_an_unknown_pair_is_an_error(self, make: Make, pair: Any) -> None:
        matcher = make([(X, "I1")])
        with pytest.raises(pl.UnknownEntryError):
            matcher.remove(*pair)
        assert matcher.entries() == ((X, "I1"),)
        assert matcher.match({"x": 1}) == {"I1"}
        with pytest.raises(pl.UnknownEntryError):
            matcher.interfaces(Y)

    @pytest.mark.parametrize("filter", ["x > 3", frozenset("ab"), None])
    def test_only_filters_are_held(self, make: Make, filter: Any) -> None:
        matcher = make()
        with pytest.raises(TypeError):
            matcher.add(filter, "I1")
        assert len(matcher) == 0

    def test_a_filter_that_matches_in_its_own_way_is_refused(self, make: Make) -> None:
        class Never(pl.Filter):
            __slots__ = ()

            def matches(self, notification: Any) -> bool:
                return False

        with pytest.raises(TypeError):
            make().add(Never(), "I1")

    def test_an_interface_that_cannot_be_held_is_refused_before_anything_is_done(
        self, make: Make
    ) -> None:
        matcher = make()
        with pytest.raises(TypeError):
            matcher.add(X, ["I1"])
        assert len(matcher) == 0
        assert matcher.match({"x": 1}) == frozenset()

    def test_equal_filters_are_one(self, make: Make) -> None:
        matcher = make([(pl.parse_filter("x >= 0 and x <= 5"), "I1")])
        matcher.remove(X, "I1")
        assert matcher.match({"x": 1}) == frozenset()

    def test_clear(self, make: Make) -> None:
        matcher = make([(X, "I1"), (Y, "I1"), (ALL, "I2")])
        assert matcher.match({"x": 1}) == {"I1", "I2"}
        matcher.clear()
        assert matcher.match({"x": 1}) == frozenset()
        assert matcher.entries() == ()

    @pytest.mark.parametrize(
        "again", [copy.copy, copy.deepcopy, lambda matcher: pickle.loads(pickle.dumps(matcher))]
    )
    def test_a_copy_is_one_of_its_own(self, make: Make, again: Any) -> None:
        matcher = make([(X, "I1"), (Y, "I2")])
        matcher.match({"x": 1})
        other = again(matcher)
        matcher.remove(X, "I1")
        assert other.match({"x": 1}) == {"I1"}
        assert type(other) is type(matcher)
        assert other.entries() == ((X, "I1"), (Y, "I2"))

    def test_interfaces_may_be_anything_hashable(self, make: Make) -> None:
        kept: list[Any] = [(1, 2), None, frozenset("a"), 1.5, "I1", ("a",)]
        matcher = make((X, interface) for interface in kept)
        assert matcher.match({"x": 1}) == set(kept)
        assert matcher.match_many([{"x": 1}, {}]) == [set(kept), set()]


class TestMatching:
    def test_nothing_is_held(self, make: Make) -> None:
        assert make().match({"x": 1}) == frozenset()
        assert make().match_many([{"x": 1}, {}]) == [frozenset(), frozenset()]

    def test_no_notifications(self, make: Make) -> None:
        assert make([(X, "I1")]).match_many([]) == []
        assert make([(X, "I1")]).match_many(iter([])) == []

    def test_any_iterable_will_do(self, make: Make) -> None:
        matcher = make([(X, "I1")])
        assert matcher.match_many({"x": i} for i in (1, 9)) == [{"I1"}, set()]

    def test_answers_are_frozen(self, make: Make) -> None:
        matcher = make([(X, "I1"), (Y, "I2")])
        assert type(matcher.match({"x": 1})) is frozenset
        assert all(type(each) is frozenset for each in matcher.match_many([{"x": 1}, {"y": "a"}]))

    @pytest.mark.parametrize("wrong", [None, 3, "x", [("x", 1)]])
    @pytest.mark.parametrize("held", [[(X, "I1")], [(ALL, "I1")]])
    def test_what_is_no_notification_is_refused(self, make: Make, held: Any, wrong: Any) -> None:
        matcher = make(held)
        with pytest.raises(TypeError, match="notification"):
            matcher.match(wrong)
        with pytest.raises(TypeError, match="notification"):
            matcher.match_many([{"x": 1}, wrong])
        assert matcher.match({"x": 1}) == {"I1"}

    def test_a_mapping_that_makes_up_values_is_left_as_it_is(self, make: Make) -> None:
        notification: defaultdict[str, int] = defaultdict(int)
        matcher = make([(X, "I1")])
        assert matcher.match(notification) == frozenset()
        assert matcher.match_many([notification]) == [frozenset()]
        assert not notification

    def test_no_constraint_matches_all(self, make: Make) -> None:
        assert make([(ALL, "I1")]).match_many([{}, {"x": 1}]) == [{"I1"}, {"I1"}]

    def test_an_error_of_a_constraint_goes_to_the_caller(self, make: Make) -> None:
        class Broken(Even):
            def matches(self, value: Any) -> bool:
                raise RuntimeError("broken")

            __hash__ = Even.__hash__

        matcher = make([(pl.Filter({"x": Broken()}), "I1")])
        with pytest.raises(RuntimeError, match="broken"):
            matcher.match({"x": 1})
        assert matcher.match({"y": 1}) == frozenset()


# (filter, value of x, whether it matches): one by one, so that a fault is named by its test.
BIG = 2**53
FACTS: list[tuple[str, Any, bool]] = [
    ("x = 9007199254740993", BIG + 1, True),
    ("x = 9007199254740993", BIG, False),
    ("x = 9007199254740993", float(BIG), False),
    ("x = 9007199254740992", BIG + 1, False),
    ("x = 9007199254740992", float(BIG), True),
    ("x > 9007199254740992", BIG + 1, True),
    ("x > 9007199254740992", BIG, False),
    ("x < 9007199254740993", BIG, True),
    ("x < 9007199254740993", float(BIG), True),
    ("x in [9007199254740993, 9007199254740995]", float(BIG), False),
    ("x in [9007199254740993, 9007199254740995]", float(BIG + 2), True),
    ("x = 1/3", 1 / 3, False),
    ("x = 1/3", Fraction(1, 3), True),
    ("x < 1/3", 1 / 3, True),
    ("x = 0.1", 0.1, True),
    ("x = 0.1", Fraction(1, 10), False),
    ("x = 1/10", Decimal("0.1"), True),
    ("x = 1/10", 0.1, False),
    ("x > 0", 5e-324, True),
    ("x > 0", -0.0, False),
    ("x >= 0", -0.0, True),
    ("x = 0", -0.0, True),
    ("x is number", math.nan, False),
    ("exists x", math.nan, True),
    ("x != 3", math.nan, False),
    ("x >= 3", math.inf, True),
    ("x >= 3", -math.inf, False),
    ("x < 3", -math.inf, True),
    ("x in [0, 5]", math.inf, False),
    ("x:int > 3", 4.0, True),
    ("x:int > 3", 4.5, False),
    ("x:int > 3", math.inf, False),
    ("x = 1", True, False),
    ("x = true", 1, False),
    ("x = true", np.bool_(True), True),
    ("x != true", False, True),
    ("x = 3", np.int64(3), True),
    ("x = 3", {3}, False),
    ("x = 3", [3], False),
    ("x has 3", [3.0], True),
    ("x has 1", [True], False),
    ('x = "3"', 3, False),
    ('x = "a"', np.str_("a"), True),
    ('x = "a"', Backwards("a"), False),
    ('x prefix "a"', "a", True),
    ('x prefix "a"', "b", False),
    ('x < "b"', "a\U0010ffff", True),
    ('x suffix "b"', "ab", True),
    ('x != "a"', "a\0", True),
    ('x != "a"', 3, False),
    ("exists x", None, True),
    ("x is set", (), True),
    ("x subset {}", [], True),
    ("x < 100", -(10**400), True),
    ("x < 100", 10**400, False),
    ("x > 1e300", 10**400, True),
]


@pytest.mark.parametrize(("text", "value", "matches"), FACTS)
def test_it_matches_as_the_language_says(make: Make, text: str, value: Any, matches: bool) -> None:
    filter = pl.parse_filter(text)
    # Among others that bound the cells closely, so that the value's own is a narrow one.
    near = [pl.parse_filter(t) for t in ("x in [0, 7]", "x > 9007199254740991", 'x >= "a"')]
    matcher = make([(filter, "this"), *((each, "near") for each in near)])
    wanted = {"this"} if matches else set()
    assert filter.matches({"x": value}) == matches
    assert matcher.match({"x": value}) - {"near"} == wanted
    assert matcher.match_many([{"x": value}])[0] - {"near"} == wanted
    assert matcher.match_many([{"x": "q"}, {"x": value}])[1] - {"near"} == wanted


def test_placeholders_look_at_the_other_attribute(make: Make) -> None:
    matcher = make([(pl.parse_filter("x < $y"), "I1"), (pl.parse_filter("x = $pos.x"), "I2")])
    answers = matcher.match_many([{"x": 1, "y": 2}, {"x": 2, "y": 2, "pos": {"x": 2}}, {"x": 1}])
    assert answers == [{"I1"}, {"I2"}, set()]


def test_dotted_names_read_both_forms(make: Make) -> None:
    matcher = make([(pl.parse_filter("pos.x > 1"), "I1")])
    notifications = [{"pos": {"x": 2}}, {"pos.x": 2}, {"pos": 2}, {"pos": {"x": 0}}]
    assert matcher.match_many(notifications) == [{"I1"}, {"I1"}, set(), set()]
    assert [matcher.match(each) for each in notifications] == [{"I1"}, {"I1"}, set(), set()]


def test_counters_count_the_filters_that_were_asked() -> None:
    matcher = BitmapMatcher([(pl.parse_filter("x in [0, 5]"), "I1")])
    assert matcher.match({"x": 3}) == {"I1"}
    assert matcher.counters.match_tests == 0  # its own ends are cuts
    matcher.add(pl.parse_filter("x has 3"), "I2")
    assert matcher.match({"x": [3]}) == {"I2"}
    assert matcher.counters.match_tests == 1


@pytest.mark.parametrize("cells", [0, -1])
def test_there_is_at_least_one_cell(cells: int) -> None:
    with pytest.raises(ValueError, match="cell"):
        BitmapMatcher(cells=cells)


def test_nobody_reads_bitmaps_that_are_being_built_anew() -> None:
    """Once what had changed was forgotten too early, and who asked meanwhile read half of it."""
    filters = [pl.parse_filter(f"x in [{i}, {i + 0.5}]") for i in range(100)]
    matcher = BitmapMatcher((filter, i % 3) for i, filter in enumerate(filters[:99]))
    assert matcher.match({"x": 0.2}) == {0}
    matcher.add(filters[99], "new")
    asked: list[Future[frozenset[Any]]] = []

    class TooMany(int):
        def __add__(self, other: int) -> TooMany:
            return self

        def __radd__(self, other: int) -> int:
            asked.append(pool.submit(matcher.match, {"x": 99.2}))
            assert not wait(asked, timeout=0.1).done
            return 10_000

    (bitmaps,) = matcher._attributes.values()
    bitmaps.strays = TooMany()
    with ThreadPoolExecutor(1) as pool:
        assert matcher.match({"x": 99.2}) == {"new"}
    assert [future.result() for future in asked] == [{"new"}]

"""A matcher answers what a scan of its entries answers, whatever came and went before."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl
from posetlib.matching import BitmapMatcher
from tests.filters import strategies
from tests.filters.oracle import UNIVERSE, spell

from .worlds import (
    FLOATS,
    MATCHERS,
    PLAIN,
    TEXTS,
    VALUES,
    points,
    random_filter,
    random_notification,
    ranges,
    scan,
)

TYPES = pl.TypeHierarchy(strategies.SUPERTYPES)


@pytest.fixture(params=MATCHERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _drive(name: str, seed: int, steps: int) -> None:
    random = Random(f"matching-{seed}")
    matcher, model = MATCHERS[name](), dict[tuple[pl.Filter, Any], None]()
    interfaces = [("I", i) for i in range(random.choice((1, 3, 200)))]
    growth = random.choice((5, 40, 250))
    for step in range(steps):
        for _ in range(random.choice((0, 1, growth))):
            pair = random_filter(random), random.choice(interfaces)
            assert bool(matcher.add(*pair)) == (pair not in model)
            model[pair] = None
        for pair in random.sample(list(model), min(len(model), random.choice((0, 1, growth // 2)))):
            matcher.remove(*pair)
            del model[pair]
        values = (VALUES, FLOATS, PLAIN, TEXTS)[step % 4]
        batch = [random_notification(random, values) for _ in range(12)]
        wanted = scan(model, batch)
        # Whichever comes first brings the index up to date.
        if step % 2:
            assert matcher.match_many(batch) == wanted
        assert [matcher.match(notification) for notification in batch] == wanted
        assert [frozenset(matcher.match_pairs(notification)) for notification in batch] == wanted
        assert matcher.match_many(batch) == wanted
        assert set(matcher.entries()) == set(model)


@pytest.mark.parametrize("seed", range(8))
def test_after_any_updates_all_kinds_and_values(name: str, seed: int) -> None:
    _drive(name, seed, steps=10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_after_many_updates_all_kinds_and_values(name: str, seed: int) -> None:
    _drive(name, seed, steps=25)


@given(
    st.lists(st.tuples(strategies.filters(), st.integers(0, 2)), max_size=12),
    st.lists(
        st.dictionaries(
            st.sampled_from(("x", "y", "pos.x")), st.sampled_from([*UNIVERSE, *VALUES])
        ),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.integers(0, 11), max_size=6),
)
@settings(max_examples=100)
def test_on_any_filters(pairs: Any, notifications: Any, gone: list[int]) -> None:
    made = []
    for expr, interface in pairs:
        try:
            made.append((pl.parse_filter(spell(expr), types=TYPES), interface))
        except pl.FilterError:  # it matches nothing, or mixes what does not mix
            continue
    for name, make in MATCHERS.items():
        matcher = make(made)
        model = dict.fromkeys(made)
        assert matcher.match_many(notifications) == scan(model, notifications), name
        for number in gone:
            if number < len(made):
                matcher.discard(*made[number])
                model.pop(made[number], None)
        wanted = scan(model, notifications)
        assert matcher.match_many(notifications) == wanted, name
        assert [matcher.match(each) for each in notifications] == wanted, name


@pytest.mark.parametrize("kind", ["uniform", "narrow"])
@pytest.mark.parametrize("interfaces", [3, 1000])
@pytest.mark.parametrize("name", ["bitmap", "bitmap-5", "counting"])
def test_ranges_by_the_thousand(name: str, kind: str, interfaces: int) -> None:
    """Enough of them that cells are coarser than ranges, and groups many words wide."""
    model = {filter: i % interfaces for i, filter in enumerate(ranges(1, 1_500, kind))}
    matcher = MATCHERS[name](model.items())
    batch = points(3, 40)
    assert matcher.match_many(batch) == scan(model.items(), batch)
    fresh = iter(ranges(2, 300, kind))
    for _ in range(3):
        for filter, interface in list(model.items())[:100]:
            matcher.remove(filter, model.pop(filter))
            new = next(fresh)
            model[new] = interface
            matcher.add(new, interface)
        wanted = scan(model.items(), batch)
        assert matcher.match_many(batch) == wanted
        assert [matcher.match(each) for each in batch[:10]] == wanted[:10]


# With ends that floats hold and ends that they do not, of other kinds, and on other names.
OTHERS = [
    pl.parse_filter(text)
    for text in (
        "x in [20, 30] and y in [0, 60]", "x in [9007199254740991, 9007199254740993] and y > 3",
        "x >= 40", "y < 50.5", "x > 10 and x < 90 and y >= 0", "x in {1, 2, 50} and y in [1, 99]",
        "x in [1/3, 200/3] and y in [1/7, 99]", "x = 0 and y in [0.0, 100.0]", "x is number",
        "exists x and exists y", "true", "z = 1", 'x prefix "a"', "x has 3", "x < $y", "x != 50",
    )
]  # fmt: skip


@pytest.mark.parametrize("kind", ["uniform", "narrow"])
@pytest.mark.parametrize("interfaces", [4, 500])
@pytest.mark.parametrize("name", ["bitmap", "bitmap-5"])
def test_batches_of_updates(name: str, kind: str, interfaces: int) -> None:
    """Pairs come, go and come again before the next match, often to places just left."""
    random = Random(f"batches-{name}-{kind}-{interfaces}")
    model: dict[tuple[pl.Filter, Any], None] = {
        (filter, i % interfaces): None for i, filter in enumerate(ranges(5, 600, kind))
    }
    matcher = MATCHERS[name](model)
    fresh = iter(ranges(6, 2_000, kind))

    def add(pair: tuple[pl.Filter, Any]) -> None:
        assert bool(matcher.add(*pair)) == (pair not in model)
        model[pair] = None

    def remove(pair: tuple[pl.Filter, Any]) -> None:
        assert matcher.discard(*pair).pairs_removed == (pair,)
        del model[pair]

    for step in range(12):
        for _ in range(random.choice((1, 10, 30))):
            gone = random.choice(list(model))
            pairs = [
                (next(fresh) if random.random() < 0.7 else random.choice(OTHERS), gone[1])
                for _ in range(random.choice((0, 1, 1, 1, 3)))
            ]
            remove(gone)
            for pair in pairs:
                add(pair)
                if random.random() < 0.5:  # and another takes its place
                    remove(pair)
                    add((next(fresh), gone[1]))
            if random.random() < 0.3:
                add(gone)
        batch: list[dict[str, Any]] = [*points(step, 20)]
        batch += [{**point, "x": random.choice(VALUES)} for point in points(step + 100, 20)]
        wanted = scan(model, batch)
        # Whichever comes first folds in what has changed.
        if step % 2:
            assert matcher.match_many(batch[:20]) == wanted[:20]
        assert [matcher.match(each) for each in batch] == wanted
        assert matcher.match_many(batch) == wanted
        assert set(matcher.entries()) == set(model)


def test_threads_that_match_together_see_all_that_has_changed() -> None:
    old, new = ranges(7, 1_000, "narrow"), iter(ranges(8, 1_000, "narrow"))
    matcher = BitmapMatcher((filter, i % 3) for i, filter in enumerate(old))
    batch = points(9, 30)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(10):
                for filter, interface in matcher.entries()[:60]:
                    matcher.remove(filter, interface)
                    matcher.add(next(new), interface)
                wanted = scan(matcher.entries(), batch)
                asked = [pool.submit(matcher.match_many, batch) for _ in range(8)]
                assert all(each.result() == wanted for each in asked)
    finally:
        sys.setswitchinterval(interval)


def test_what_is_removed_never_comes_back(name: str) -> None:
    """Places are used again, by filters that are wider, narrower, and about something else."""
    matcher = MATCHERS[name]()
    everything = [pl.parse_filter(f"x in [{i}, {i + 50}] and y > {i}") for i in range(100)]
    for filter in everything:
        matcher.add(filter, "I1")
    probe = {"x": 60, "y": 200, "z": 1, "s": "a"}
    assert matcher.match(probe) == {"I1"}
    for filter in everything:
        matcher.remove(filter, "I1")
    assert matcher.match(probe) == frozenset()
    for i in range(100):
        matcher.add(pl.parse_filter(f"x in [{i}, {i + 1}] and z = 2"), "I1")
    assert matcher.match_many([probe]) == [frozenset()]
    for i in range(100):
        matcher.add(pl.parse_filter(f's = "b{i}"'), "I1")
    assert matcher.match_many([probe, {**probe, "s": "b7"}]) == [frozenset(), frozenset({"I1"})]


def test_what_was_there_before_is_no_part_of_what_is_there_now(name: str) -> None:
    """Ranges make room for filters that do not constrain one of their attributes, or by points."""
    model = {filter: i for i, filter in enumerate(ranges(4, 1_200, "narrow"))}
    matcher = MATCHERS[name](model.items())
    batch = [{"x": 3.0, "y": i / 2 + 0.65} for i in range(0, 200, 5)]
    matcher.match_many(batch)
    for number, filter in enumerate(list(model)[:200]):
        interface = model.pop(filter)
        matcher.remove(filter, interface)
        text = f"y in [{number / 2 + 0.1}, {number / 2 + 0.7}]"
        new = pl.parse_filter(text if number % 2 else f"{text} and x in {{3, 4}}")
        model[new] = interface
        matcher.add(new, interface)
    assert matcher.match_many(batch) == scan(model.items(), batch)

"""Wide filters: blocks of bits that only exclude, and ends that settle the rest."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl
from posetlib.constraints import Numbers
from posetlib.matching import BitmapMatcher, wide
from posetlib.matching.wide import WideFilters, WideRanges

from .worlds import VALUES, scan

NAMES = ("a", "b", "c.d", "e", "f")
#: Ends that float32 holds, that it does not, and some that it rounds to the same.
ENDS: tuple[float, ...] = (
    0, 1, 2, 3, 0.5, 0.1, math.nextafter(0.1, 1), math.nextafter(0.1, 0), 1 / 3, 2**24, 2**24 + 1,
    2**53, -5, -0.1, 1e300, -1e300, 5e-324, 1e-46, math.inf, -math.inf,
)  # fmt: skip
CLOSE: tuple[Any, ...] = (
    *ENDS, Fraction(1, 10), 2**53 + 1, -(2**60) - 1, 10**400, math.nan, 16777217.0, 16777216.5,
)  # fmt: skip
_EXTRAS = ("{} != 1", '{} = "x"', "{} > 0.1", "exists {}", "{} in {{1, 2, 3}}", "{} < $g")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few filters be many, and blocks of a word be full."""
    for name, value in {
        "_MIN_RANGES": 2, "_MIN_FILTERS": 4, "_MAX_SHARE": 1.0, "_BLOCK_BYTES": 1,
        "_MAX_CHUNK": 7, "_FEW_EVENTS": 3, "_MAX_WORDS": 5, "_MIN_CELLS": 2, "_FILTER_BYTES": 1,
        "_MAX_ATTRIBUTES": 4, "_PAIRS_PER_SPARE": 3,
    }.items():  # fmt: skip
        monkeypatch.setattr(wide, name, value)


def random_filter(random: Random) -> pl.Filter:
    """Some ranges, and at times constraints that are none."""
    made: dict[str, pl.Constraint] = {}
    for name in random.sample(NAMES, random.randint(1, 5)):
        low, high = sorted(random.choices(ENDS, k=2))
        if random.random() < 0.85 and (low < high or math.isfinite(low)):
            made[name] = Numbers(low, high, None)
        else:
            text = random.choice(_EXTRAS).format(name)
            made.update(pl.parse_filter(text).constraints)
    return pl.Filter(made)


def random_notification(random: Random) -> dict[str, Any]:
    """Values close to the ends, and now and then any others."""
    values = VALUES if random.random() < 0.2 else CLOSE
    made = {name: random.choice(values) for name in NAMES if random.random() < 0.95}
    if random.random() < 0.3:
        made["c"] = {"d": made.pop("c.d", 1)}
    return made


def _drive(seed: int, steps: int) -> None:
    random = Random(f"wide-{seed}")
    matcher, model = BitmapMatcher(), dict[tuple[pl.Filter, Any], None]()
    growth = random.choice((5, 60, 300))
    for step in range(steps):
        for _ in range(random.choice((1, 3, growth))):
            pair = random_filter(random), random.choice((1, 2, 3, "x", frozenset("y")))
            matcher.add(*pair)
            model[pair] = None
        for pair in random.sample(list(model), min(len(model), random.choice((0, 1, growth // 2)))):
            matcher.remove(*pair)
            del model[pair]
        batch = [random_notification(random) for _ in range(20)]
        wanted = scan(model, batch)
        if step % 2:
            assert [matcher.match(each) for each in batch] == wanted, f"seed {seed}, step {step}"
        assert matcher.match_many(batch) == wanted, f"seed {seed}, step {step}"
    assert matcher._wide is not None, "there are enough wide filters"


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(12))
def test_after_any_updates(seed: int) -> None:
    _drive(seed, steps=8)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(100, 180))
def test_after_many_updates(seed: int) -> None:
    _drive(seed, steps=30)


@pytest.mark.usefixtures("small")
@given(st.lists(st.tuples(*[st.sampled_from(ENDS)] * 4), min_size=4, max_size=9), st.data())
@settings(max_examples=150)
def test_ends_that_round_alike(rows: list[tuple[float, ...]], data: st.DataObject) -> None:
    """A float32 does not tell 0.1 from its neighbours; the answer does."""
    filters = [
        pl.Filter({"a": Numbers(*sorted(row[:2]), None), "b": Numbers(*sorted(row[2:]), None)})
        for row in rows
    ]
    pairs = [(filter, i) for i, filter in enumerate(filters)]
    value = st.sampled_from(CLOSE)
    batch = data.draw(st.lists(st.fixed_dictionaries({"a": value, "b": value}), max_size=9))
    matcher = BitmapMatcher(pairs)
    assert matcher.match_many(batch) == scan(pairs, batch)


def _wide_load(size: int, seed: int) -> tuple[list[pl.Filter], list[dict[str, float]]]:
    random = np.random.default_rng(seed)
    columns = {}
    for i in range(8):
        low = random.uniform(0, 0.6, size)
        low[random.random(size) < 0.3] = np.nan
        columns[f"a{i}"] = (low, low + 0.4)
    events = random.random((50, 8)).tolist()
    return pl.filters_from_columns(columns), [
        {f"a{i}": value for i, value in enumerate(event)} for event in events
    ]


def test_without_small_thresholds() -> None:
    """As it is used: enough filters of five ranges and more, updates in between."""
    filters, events = _wide_load(4_000, 1)
    model = {(filter, f"I{i}"): None for i, filter in enumerate(filters[:3_000])}
    matcher = BitmapMatcher(model)
    assert matcher.match_many(events) == scan(model, events)
    assert matcher._wide is not None
    for start in range(0, 1_000, 250):
        for pair in list(model)[:250]:
            matcher.remove(*pair)
            del model[pair]
        for i, filter in enumerate(filters[3_000 + start : 3_250 + start]):
            model[filter, f"J{start + i}"] = None
            matcher.add(filter, f"J{start + i}")
        wanted = scan(model, events)
        assert matcher.match_many(events) == wanted
        assert [matcher.match(event) for event in events[:5]] == wanted[:5]


def test_filters_that_match_often_are_not_kept_as_wide() -> None:
    size = 2_000
    columns = {name: (np.zeros(size), np.linspace(0.9, 1, size)) for name in "abcdef"}
    pairs = [(filter, i % 3) for i, filter in enumerate(pl.filters_from_columns(columns))]
    matcher = BitmapMatcher(pairs)
    batch = [dict.fromkeys("abcdef", value) for value in (0.1, 0.95, 1.1)]
    assert matcher.match_many(batch) == scan(pairs, batch)
    assert matcher._wide is None


def test_memory_follows_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the bytes for a filter are more cells; the bits and ends stay within them."""
    filters, _ = _wide_load(3_000, 2)
    made = []
    for budget in (96, 128, 256):
        monkeypatch.setattr(wide, "_FILTER_BYTES", budget)
        ranges = WideRanges(filters)
        kept = [filter for filter, good in zip(filters, ranges.is_wide, strict=True) if good]
        built = WideFilters([(filter, 1) for filter in kept], ranges)
        bits = sum(block.table.nbytes for block in built._blocks)
        # The last word of a block may be half empty.
        assert bits + 8 * len(ranges.names) * len(kept) <= 1.1 * budget * len(kept)
        made.append(bits)
    assert made[0] < made[1] < made[2]


@pytest.mark.usefixtures("small")
def test_what_is_no_notification_is_refused() -> None:
    filters, _ = _wide_load(20, 3)
    matcher = BitmapMatcher((filter, 1) for filter in filters)
    for wrong in (3, None, "a", [1]):
        with pytest.raises(TypeError, match="a notification is a mapping"):
            matcher.match(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="a notification is a mapping"):
            matcher.match_many([{"a0": 1.0}, wrong])  # type: ignore[list-item]


@pytest.mark.usefixtures("small")
def test_a_notification_that_makes_values_is_not_changed() -> None:
    """A ``defaultdict`` would grow if its values were read by index."""
    filters, _ = _wide_load(20, 3)
    matcher = BitmapMatcher((filter, 1) for filter in filters)
    notification: defaultdict[str, float] = defaultdict(float, a0=0.5)
    assert matcher.match(notification) == frozenset()
    assert dict(notification) == {"a0": 0.5}

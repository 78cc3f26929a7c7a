"""Many pairs in one update: the table is as if they had been added in order, or as it was."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl
from posetlib.tables import Table, filters_poset
from posetlib.tables.operation import Operation
from tests.tables.kinds import KINDS
from tests.tables.test_failures import anatomy
from tests.tables.test_index import WORLDS

Pair = tuple[pl.Filter, Any]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few pairs be enough for arrays."""
    monkeypatch.setattr(filters_poset, "_FEW", 3)


def make(kind: str, **more: Any) -> Table:
    cls, options = KINDS[kind]
    return cls(**options, **more)


def _agree(updated: Table, added: Table, notifications: list[dict[str, Any]]) -> None:
    updated.check()
    assert updated == added
    assert updated.roots() == added.roots()
    assert updated.entries() == added.entries()
    assert [updated.match(each) for each in notifications] == [
        added.match(each) for each in notifications
    ]


NOTIFICATIONS = [{"x": x, "y": y} for x in (0, 20, 50.5, 99) for y in (1, 40, 80)]


def _drive(kind: str, world: str, seed: int, steps: int) -> None:
    random = Random(f"update-{kind}-{world}-{seed}")
    filters = WORLDS[world](seed)
    interfaces = random.choice((1, 3, 1000))
    updated, added = make(kind), make(kind)
    changes: list[Any] = []
    updated.listen(changes.append)
    for step in range(steps):
        size = random.choice((0, 1, 5, 60, 150))
        pairs = [(random.choice(filters), random.randrange(interfaces)) for _ in range(size)]
        before = set(updated.entries())
        if updated._matcher is None and step == 2:
            updated.match_many(NOTIFICATIONS)
        changes.clear()
        change = updated.update(iter(pairs))
        assert changes == ([change] if change else [])
        for pair in pairs:
            added.add(*pair)
        _agree(updated, added, NOTIFICATIONS)
        after = set(updated.entries())
        assert set(change.pairs_added) - set(change.pairs_removed) == after - before
        assert set(change.pairs_removed) - set(change.pairs_added) == before - after
        for pair in random.sample(sorted(after, key=str), min(len(after), size // 3)):
            updated.discard(*pair)
            added.discard(*pair)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", KINDS)
def test_as_added_in_order(kind: str, world: str) -> None:
    for seed in range(2):
        _drive(kind, world, seed, steps=5)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("seed", range(10, 40))
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", KINDS)
def test_as_added_in_order_for_long(kind: str, world: str, seed: int) -> None:
    _drive(kind, world, seed, steps=10)


@pytest.mark.parametrize("kind", KINDS)
def test_as_added_in_order_without_index(kind: str) -> None:
    filters = WORLDS["uniform"](3)
    pairs = [(filter, i % 4) for i, filter in enumerate(filters[:60])]
    updated, added = make(kind, index=False), make(kind, index=False)
    updated.update(pairs[:20])
    updated.update(pairs[20:])
    for pair in pairs:
        added.add(*pair)
    assert updated == added
    assert updated.entries() == added.entries()


SMALL = [pl.parse_filter(f"x in [{low}, {high}]") for low in range(4) for high in range(low, 4)] + [
    pl.parse_filter(text) for text in ("y = 1", "x in [0, 2] and y = 1", "x > 1", "true")
]
_PAIRS = st.lists(st.tuples(st.sampled_from(SMALL), st.integers(0, 2)), max_size=14)


@pytest.mark.usefixtures("few")
@given(_PAIRS, _PAIRS)
@settings(max_examples=80)
def test_any_two_updates(first: list[Pair], second: list[Pair]) -> None:
    notifications = [{"x": x, "y": y} for x in range(5) for y in (0, 1)]
    for kind in KINDS:
        updated, added = make(kind), make(kind)
        for pairs in (first, second):
            updated.update(pairs)
            for pair in pairs:
                added.add(*pair)
            _agree(updated, added, notifications)


# -- all or nothing --------------------------------------------------------------------------------


class _Impostor:
    """No filter, though it can be hashed."""


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("size", [3, 120])
@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_item_in_the_middle_leaves_the_table_as_it_was(kind: str, size: int) -> None:
    filters = WORLDS["uniform"](5)
    table = make(kind)
    for i, filter in enumerate(filters[:30]):
        table.add(filter, i % 3)
    table.match_many(NOTIFICATIONS * 3)
    before = anatomy(table)
    answers = table.match_many(NOTIFICATIONS)
    pairs: list[Any] = [(filter, i % 3) for i, filter in enumerate(filters[30 : 30 + size])]
    pairs.insert(size // 2, (_Impostor(), 1))
    with pytest.raises((TypeError, AttributeError)):
        table.update(pairs)
    assert anatomy(table) == before
    assert table.match_many(NOTIFICATIONS) == answers
    table.check()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((SMALL[0],), "pair 1 is not an .item, interface. pair"),
        (SMALL[0], "pair 1 is not an .item, interface. pair"),
        ((SMALL[0], ["I1"]), "pair 1: .*unhashable"),
    ],
)
def test_what_is_no_pair_is_refused_by_number(wrong: Any, message: str) -> None:
    table = pl.FiltersPoset()
    with pytest.raises(TypeError, match=message):
        table.update([(SMALL[0], "I1"), wrong])
    assert len(table) == 0


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", KINDS)
def test_a_listener_that_raises_undoes_all_of_it(kind: str) -> None:
    filters = WORLDS["narrow"](6)
    table = make(kind)
    table.update((filter, i % 3) for i, filter in enumerate(filters[:40]))
    before = anatomy(table)

    def refuse(_change: Any) -> None:
        raise ZeroDivisionError

    table.listen(refuse)
    with pytest.raises(ZeroDivisionError):
        table.update((filter, i % 3) for i, filter in enumerate(filters[40:140]))
    # The version after the parts compared has counted the update and its undoing.
    assert anatomy(table)[:11] == before[:11]
    table.check()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_records_one_add_for_each_pair(kind: str) -> None:
    filters = WORLDS["uniform"](8)
    pairs = [(filter, f"I{i % 3}") for i, filter in enumerate(filters[:50])]
    table, other = make(kind), make(kind)
    trace, stop = pl.Trace.follow(table)
    table.update(pairs)
    stop()
    assert trace.operations == [Operation("add", *pair) for pair in pairs]
    pl.Trace.from_json(trace.to_json()).replay(other)
    assert other == table


def test_an_update_from_a_listener_is_refused() -> None:
    table = pl.PosetForest()
    table.listen(lambda _change: table.update([(SMALL[1], "I1")]))
    with pytest.raises(RuntimeError, match="within its own operation"):
        table.add(SMALL[0], "I1")
    assert len(table) == 0

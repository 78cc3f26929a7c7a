"""The router against the router by its definition, message by message, and against itself anew."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posetlib import (
    BitmapMatcher,
    Filter,
    Router,
    UnknownEntryError,
    Update,
    forwards_sets,
    parse_filter,
)
from posetlib.routing import updates_between
from tests.models import worlds as models
from tests.routing.plain_router import PlainRouter, by_part
from tests.tables.kinds import index_short_lists

NEIGHBOURS = ("I1", "I2", "I3")
SOURCES = (*NEIGHBOURS, "alice", "bob")
_ENDS = [(low, high) for low in range(5) for high in range(low, 5)]
RANGES = [parse_filter(f"x in [{low}, {high}]") for low, high in _ENDS]
BOXES = [
    parse_filter(f"x in [{a}, {b}] and y in [{c}, {d}]")
    for a, b in _ENDS
    for c, d in _ENDS
    if b - a != 2 and d - c != 3
]
MIXED = [
    parse_filter(text)
    for text in (
        "true", "exists x", "x is number", "x > 1", "x >= 3", "x != 2", "x in {1, 3}", "x < 2",
        'x prefix "a"', 'x prefix "ab"', 'x suffix "b"', 'x = "ab"', 'type = "A"',
        'type = "A" and x in [0, 2]', 'type = "B" and x in [0, 2]', 'type in {"A", "B"}',
        "y overlaps {1, 2}", "y has 1", "x:int in [0, 3]",
    )
]  # fmt: skip
NOTIFICATIONS: list[Any] = [
    {"x": x, "y": y, "type": kind} for x in (0, 1, 2.5, 3, 4, "ab") for y in (0, 3) for kind in "AB"
]
NOTIFICATIONS += models.TUPLE_NOTIFICATIONS[::3]
NOTIFICATIONS += models.PATH_NOTIFICATIONS[::2]
NOTIFICATIONS += models.OBJECT_NOTIFICATIONS[::3]
POOLS = (RANGES, BOXES, MIXED, models.TEMPLATES, models.PATHS, models.PROPERTIES)


@dataclass(frozen=True)
class Step:
    """One operation on a router, the same for the plain one."""

    name: str
    source: str
    first: Filter
    second: Filter

    def update(self) -> Update:
        parts: dict[str, Any] = {
            "subscribe": {"subscribe": (self.first,)},
            "unsubscribe": {"unsubscribe": (self.first,)},
            "advertise": {"advertise": (self.first,)},
            "unadvertise": {"unadvertise": (self.first,)},
            "replace": {"unsubscribe": (self.first,), "subscribe": (self.second,)},
            "batch": {
                "unsubscribe": (self.first, self.second),
                "subscribe": (self.second, self.first),
            },
        }[self.name]
        return Update("here", **parts)


CHANGES = ("subscribe", "subscribe", "subscribe", "unsubscribe", "unsubscribe", "replace", "batch")
WITH_ADVERTISEMENTS = (*CHANGES, "advertise", "advertise", "unadvertise")
WITH_PINS = (*WITH_ADVERTISEMENTS, "pin", "pin", "pin", "unpin", "unpin")
#: A journey's pins are released together; two may have pinned the same.
KEYS = ("a journey", ("bob", 2))


@st.composite
def runs(draw: st.DrawFn, names: tuple[str, ...]) -> list[Step]:
    pool = draw(st.sampled_from(POOLS))
    few = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=14))
    return draw(
        st.lists(
            st.builds(
                Step,
                st.sampled_from((*names, "drop", "return")),
                st.sampled_from(SOURCES),
                st.sampled_from(few),
                st.sampled_from(few),
            ),
            max_size=40,
        )
    )


def known(router: Router, step: Step, update: Update) -> Update:
    """The update without withdrawals of what a client does not hold, which it is refused."""
    if step.source in router.neighbours:
        return update
    held = set(router.subscriptions(step.source))
    return Update(
        update.to,
        subscribe=update.subscribe,
        unsubscribe=tuple(dict.fromkeys(f for f in update.unsubscribe if f in held)),
        advertise=update.advertise,
        unadvertise=tuple(f for f in update.unadvertise if f in router.advertisements(step.source)),
    )


def do(router: Router, plain: PlainRouter, step: Step) -> None:
    """One step on both, with equal messages."""
    if step.name == "drop":
        if step.source == plain.master:
            return
        if step.source not in router.neighbours:
            assert by_part(router.drop_client(step.source)) == plain.drop(step.source)
        else:
            assert by_part(router.drop_neighbour(step.source)) == plain.drop(step.source)
    elif step.name == "return":
        if step.source in NEIGHBOURS and step.source not in router.neighbours:
            if step.source in router.clients:
                with pytest.raises(ValueError, match="is a local client"):
                    router.add_neighbour(step.source)
                return
            assert by_part(router.add_neighbour(step.source)) == plain.add_neighbour(step.source)
    elif step.name == "pin":
        if step.source in router.neighbours:
            for key in KEYS[: 1 + step.first.covers(step.second)]:
                assert by_part(router.pin(step.first, step.source, key)) == plain.pin(
                    step.first, step.source, key
                )
    elif step.name == "unpin":
        key = KEYS[SOURCES.index(step.source) % 2]
        assert by_part(router.unpin(key)) == plain.unpin(key)
    else:
        update = known(router, step, step.update())
        assert by_part(router.receive(update, step.source)) == plain.apply(update, step.source)


@given(steps=runs(CHANGES), table=st.sampled_from(("fp", "nrf")))
def test_the_message_rule_on_whole_sets_says_the_same(steps: list[Step], table: str) -> None:
    router = Router(NEIGHBOURS, table)
    for step in steps:
        if step.name in {"drop", "return"}:
            continue
        before = router.forwards_sets()
        updates = router.receive(known(router, step, step.update()), step.source)
        after = router.forwards_sets()
        assert after == forwards_sets(router.table, NEIGHBOURS, "naive")
        assert by_part(updates) == by_part(updates_between(before, after, NEIGHBOURS))


def see_all(router: Router, plain: PlainRouter) -> None:
    router.check()
    for source in ("I1", "alice"):
        expected = [plain.route(each, source) for each in NOTIFICATIONS]
        assert [set(each) for each in router.route_many(NOTIFICATIONS, source)] == expected
        assert set(router.route(NOTIFICATIONS[0], source)) == expected[0]
    for each in router.neighbours:
        sent = router.sent(each)
        assert (set(sent.subscribe), set(sent.advertise)) == plain.sent[each]


@pytest.mark.parametrize("index", ["as it is", "tiny"])
@pytest.mark.parametrize("table", ["fp", "nrf"])
class TestAgainstTheDefinition:
    @pytest.fixture(autouse=True)
    def _thresholds(self, index: str, monkeypatch: pytest.MonkeyPatch) -> None:
        if index == "tiny":
            index_short_lists(monkeypatch)

    @given(steps=runs(CHANGES), master=st.sampled_from((None, None, "I2")), matcher=st.booleans())
    def test_subscription_semantics(
        self, table: str, steps: list[Step], master: str | None, matcher: bool
    ) -> None:
        router = Router(
            NEIGHBOURS, table, master=master, matcher=BitmapMatcher if matcher else None
        )
        plain = PlainRouter(NEIGHBOURS, advertisements=False, master=master)
        for step in steps:
            do(router, plain, step)
            see_all(router, plain)

    @given(steps=runs(WITH_ADVERTISEMENTS))
    def test_advertisement_semantics(self, table: str, steps: list[Step]) -> None:
        router = Router(NEIGHBOURS, table, advertisements=True)
        plain = PlainRouter(NEIGHBOURS, advertisements=True)
        for step in steps:
            do(router, plain, step)
            see_all(router, plain)

    @given(steps=runs(WITH_PINS), saved=st.integers(0, 40))
    def test_pins(self, table: str, steps: list[Step], saved: int) -> None:
        router = Router(NEIGHBOURS, table, advertisements=True)
        plain = PlainRouter(NEIGHBOURS, advertisements=True)
        for number, step in enumerate(steps):
            if number == saved:
                router = Router.from_json(router.to_json())
            do(router, plain, step)
            see_all(router, plain)
            assert set(router.pins) == plain.pins


def random_steps(random: Random, length: int, names: tuple[str, ...]) -> Iterator[Step]:
    """Long runs in which most withdrawals are of something that is held."""
    pool = random.choice((*POOLS, BOXES))
    held: list[Step] = []
    for _ in range(length):
        name = random.choice(names)
        source, first, second = random.choice(SOURCES), random.choice(pool), random.choice(pool)
        if name in {"unsubscribe", "unadvertise", "replace", "batch"} and held:
            before = held.pop(random.randrange(len(held)))
            source, first = before.source, before.first
            if name.startswith("un"):
                name = f"un{before.name}"
        step = Step(name, source, first, second)
        if name in {"subscribe", "advertise"}:
            held.append(step)
        yield step


@pytest.mark.parametrize("table", ["fp", "nrf"])
@pytest.mark.parametrize("names", [CHANGES, WITH_ADVERTISEMENTS, WITH_PINS])
@pytest.mark.parametrize("index", ["as it is", "tiny"])
def test_long_runs(
    table: str, names: tuple[str, ...], index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if index == "tiny":
        index_short_lists(monkeypatch)
    advertisements = names is not CHANGES
    for seed in range(20):
        random = Random(f"{table} {advertisements} {seed}")
        router = Router(NEIGHBOURS, table, advertisements)
        plain = PlainRouter(NEIGHBOURS, advertisements)
        for number, step in enumerate(random_steps(random, 60, names)):
            try:
                do(router, plain, step)
                router.check()
            except AssertionError as error:
                error.add_note(f"{table=} {names=} {index=} {seed=}, step {number}: {step}")
                raise
        see_all(router, plain)


@settings(max_examples=60)
@given(steps=runs(WITH_ADVERTISEMENTS), advertisements=st.booleans())
def test_the_approximate_sends_no_less(steps: list[Step], advertisements: bool) -> None:
    exact = Router(NEIGHBOURS, "nrf", advertisements=advertisements)
    approximate = Router(NEIGHBOURS, "nrf", advertisements=advertisements, forwards="approximate")
    for step in steps:
        if step.name in {"advertise", "unadvertise"} and not advertisements:
            continue
        for router in (exact, approximate):
            if step.name == "drop" and step.source in router.neighbours:
                router.drop_neighbour(step.source)
            elif step.name == "return" and step.source in NEIGHBOURS:
                if step.source not in (*router.neighbours, *router.clients):
                    router.add_neighbour(step.source)
            elif step.name not in {"drop", "return"}:
                with contextlib.suppress(UnknownEntryError):
                    router.receive(step.update(), step.source)
            router.check()
        for each in exact.neighbours:
            assert set(exact.sent(each).subscribe) <= set(approximate.sent(each).subscribe)
            assert set(exact.sent(each).advertise) <= set(approximate.sent(each).advertise)


@settings(max_examples=60)
@given(
    steps=runs(WITH_ADVERTISEMENTS),
    table=st.sampled_from(("fp", "nrf")),
    advertisements=st.booleans(),
)
def test_merging_covers_what_is_due_and_perfect_merging_matches_no_more(
    steps: list[Step], table: str, advertisements: bool
) -> None:
    routers = {
        merging: Router(NEIGHBOURS, table, advertisements=advertisements, merging=merging)
        for merging in (None, "perfect", "imperfect")
    }
    held: dict[Any, dict[Any, set[Filter]]] = {
        merging: {each: set() for each in NEIGHBOURS} for merging in routers
    }
    for step in steps:
        if step.name in {"drop", "return", "advertise", "unadvertise"}:
            continue
        for merging, router in routers.items():
            try:
                updates = router.receive(step.update(), step.source)
            except UnknownEntryError:
                updates = []
            router.check()
            for update in updates:
                receive(held[merging][update.to], update)
        for each in NEIGHBOURS:
            due = held[None][each]
            assert all(any(g.covers(f) for g in held["perfect"][each]) for f in due)
            assert all(any(g.covers(f) for g in held["imperfect"][each]) for f in due)
            for notification in NOTIFICATIONS:
                wanted = any(f.matches(notification) for f in due)
                perfect = any(f.matches(notification) for f in held["perfect"][each])
                assert wanted == perfect


def receive(held: set[Filter], update: Update) -> None:
    """What a receiver that drops by covering holds after an update."""
    held.difference_update(update.unsubscribe)
    for f in update.subscribe:
        if not any(g.covers(f) for g in held):
            held.difference_update([g for g in held if f.covers(g)])
            held.add(f)

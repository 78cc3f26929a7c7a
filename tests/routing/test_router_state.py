"""A saved router: restored at any moment, it goes on as the one that was saved."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

import posetlib as pl
from posetlib import Router, SnapshotError, parse_filter
from tests.routing.test_incremental import NEIGHBOURS, WITH_ADVERTISEMENTS, random_steps
from tests.routing.test_router import Clock

CONFIGURATIONS: list[dict[str, Any]] = [
    {"table": "fp"},
    {"table": "nrf", "forwards": "approximate"},
    {"table": "nrf", "advertisements": True},
    {"table": "fp", "merging": "perfect"},
    {"table": "nrf", "merging": "imperfect", "advertisements": True},
    {"merging": "imperfect", "domains": {"x": (0, 9), "s": ["a", "b"]}, "max_loss": 0.5},
    {"algorithm": "identity"},
    {"algorithm": "simple", "advertisements": True},
    {"algorithm": "flooding"},
    {"master": "I2"},
    {
        "advertisements": True,
        "rendezvous": {"I1": parse_filter('type = "A"'), None: parse_filter('type = "B"')},
    },
]


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
def test_it_goes_on_as_the_one_that_was_saved(options: dict[str, Any]) -> None:
    for seed in range(6):
        random = Random(seed)
        one = Router(NEIGHBOURS, **options)
        two = one
        for number, step in enumerate(random_steps(random, 50, WITH_ADVERTISEMENTS)):
            if step.name.endswith("advertise") and not options.get("advertisements"):
                continue
            if random.random() < 0.2:
                two = Router.from_json(two.to_json())
                two.check()
                assert json.loads(two.to_json()) == json.loads(one.to_json())
            answers = []
            for router in (one, two) if two is not one else (one,):
                try:
                    answers.append(router.receive(step.update(), step.source))
                except pl.UnknownEntryError as error:
                    answers.append(str(error))
            assert answers[0] == answers[-1], f"{seed=}, step {number}: {step}"
        assert two is not one


def test_leases_keep_the_time_that_is_left() -> None:
    clock, later = Clock(), Clock()
    router = Router(NEIGHBOURS, clock=clock)
    router.subscribe(parse_filter("x > 3"), "alice", ttl=10)
    clock.now += 4
    later.now = 7.0
    restored = Router.from_json(router.to_json(), clock=later)
    assert restored.leases.next_end() == 6
    later.now += 6
    assert len(restored.expire()) == 3


def test_types_come_along() -> None:
    types = pl.TypeHierarchy({"Stock": ["Quote"]})
    router = Router(NEIGHBOURS)
    item = parse_filter("type isa Quote", types=types)
    router.subscribe(item, "alice")
    restored = Router.from_json(router.to_json())
    assert restored.route({"type": "Stock"}, "I1") == {"alice"}
    assert restored.subscriptions("alice") == (item,)


def test_types_of_a_leased_filter_that_another_one_covers_come_along() -> None:
    """Its type was left out of the file, which could not be read then."""
    types = pl.TypeHierarchy({"Stock": ["Quote"]})
    router = Router(NEIGHBOURS, clock=Clock())
    router.subscribe(parse_filter("exists type"), "I1")
    router.subscribe(parse_filter("type isa Quote", types=types), "I1", ttl=5)
    restored = Router.from_json(router.to_json(), clock=Clock())
    assert restored.leases.next_end() == 5


def spoiled(**changes: Any) -> str:
    router = Router(NEIGHBOURS)
    router.subscribe(parse_filter("x > 3"), "I1")
    return json.dumps({**json.loads(router.to_json()), **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a router"),
        (spoiled(format="posetlib-snapshot"), "not a router"),
        (spoiled(version=2), "the version is 2"),
        (spoiled(options=[]), '"options" is missing'),
        (spoiled(options={"table": "pf", "rendezvous": []}), "table is 'fp' or 'nrf'"),
        (spoiled(options={"nonsense": 1, "rendezvous": []}), "do not make a router"),
        (spoiled(options={"rendezvous": [["I1"]]}), "no \\[name, list of filters\\]"),
        (spoiled(neighbours=["I2"]), "filters of 'I1', which is not a neighbour"),
        (spoiled(neighbours=None), '"neighbours" is missing'),
        (spoiled(exchanges={}), "malformed"),
        (spoiled(exchanges={"subscribe": {"local": {}}}), "format"),
        (spoiled(leases=[["subscribe"]]), "malformed"),
        (spoiled(pins=[["x > 3"]]), "malformed"),
        (spoiled(pins=[["x >", "I1", 1]]), "cannot read the filter"),
        (spoiled(leases=[["subscribe", "x >", "alice", 3]]), "cannot read the filter"),
    ],
)
def test_anything_else_is_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(SnapshotError, match=message):
        Router.from_json(text)


def test_names_must_be_strings() -> None:
    with pytest.raises(SnapshotError, match=r"names in a file are strings, not 7 \(int\)"):
        Router([7]).to_json()
    router = Router(["I1"])
    router.subscribe(parse_filter("x > 3"), 7)
    with pytest.raises(SnapshotError, match="interfaces in a file are strings"):
        router.to_json()

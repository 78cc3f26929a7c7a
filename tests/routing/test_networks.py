"""Networks against the oracle: whatever was drawn, clients get exactly what they are due."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posetlib import Network, Update
from tests.routing import soak
from tests.routing.worlds import (
    ALGORITHMS,
    BREAKS,
    NAMES,
    Operation,
    Setup,
    World,
    is_defined,
)

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATIONS = [
    Setup((), algorithm, advertisements, table, forwards, master, points)
    for algorithm in ALGORITHMS
    for advertisements in (False, True)
    for table, forwards in (("fp", "exact"), ("nrf", "exact"), ("nrf", "approximate"))
    for master, points in ((None, ()), (0, ()), (None, ((0, 5), (1, 9))))
]
DEFINED = [each for each in CONFIGURATIONS if is_defined(each)]


def name_of(setup: Setup) -> str:
    words = [setup.algorithm, setup.table, setup.forwards]
    words += ["advertisements"] * setup.advertisements
    words += ["hierarchical"] * (setup.master is not None)
    words += ["rendezvous"] * bool(setup.rendezvous)
    return "-".join(words)


def operations(names: tuple[str, ...], most: int = 25) -> st.SearchStrategy[list[Operation]]:
    return st.lists(
        st.tuples(
            st.sampled_from(names), st.integers(0, 4), st.integers(0, 999), st.integers(0, 8)
        ),
        max_size=most,
    )


publications = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 29), st.integers(0, 3)), min_size=1, max_size=12
)
rounds = st.lists(st.tuples(operations(BREAKS), publications), min_size=1, max_size=3)
trees = st.lists(st.integers(0, 99), min_size=1, max_size=6).map(
    lambda draws: tuple(each % (i + 1) for i, each in enumerate(draws))
)


def placed(setup: Setup, parents: tuple[int, ...], seed: int) -> Setup:
    """The setup on a tree; its points and its master are among the brokers that there are."""
    points = tuple((broker % (len(parents) + 1), number) for broker, number in setup.rendezvous)
    return replace(setup, parents=parents, rendezvous=points, seed=seed)


def hold(setup: Setup, rounds: list[Any]) -> None:
    world = World(setup)
    for churn, publishing in rounds:
        for each in churn:
            world.do(each)
        world.settle(publishing)


@pytest.mark.parametrize("setup", DEFINED, ids=name_of)
@given(parents=trees, seed=st.integers(0, 999), rounds=rounds)
@settings(max_examples=15)
def test_clients_get_exactly_what_they_are_due(
    setup: Setup, parents: tuple[int, ...], seed: int, rounds: list[Any]
) -> None:
    hold(placed(setup, parents, seed), rounds)


@pytest.mark.parametrize("model", ["tuples", "documents", "objects"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("table", ["fp", "nrf"])
@given(parents=trees, seed=st.integers(0, 999), rounds=rounds, advertisements=st.booleans())
@settings(max_examples=8)
def test_clients_get_what_they_are_due_in_every_data_model(
    model: str,
    algorithm: str,
    table: str,
    parents: tuple[int, ...],
    seed: int,
    rounds: list[Any],
    advertisements: bool,
) -> None:
    told = advertisements and algorithm != "flooding"
    hold(Setup(parents, algorithm, told, table, seed=seed, model=model), rounds)


@pytest.mark.slow
@pytest.mark.parametrize("setup", DEFINED, ids=name_of)
@given(parents=trees, seed=st.integers(0, 999), rounds=rounds)
@settings(max_examples=300)
def test_clients_get_exactly_what_they_are_due_many_times_over(
    setup: Setup, parents: tuple[int, ...], seed: int, rounds: list[Any]
) -> None:
    hold(placed(setup, parents, seed), rounds)


def as_sets(update: Update) -> tuple[frozenset[Any], ...]:
    parts = (update.unsubscribe, update.subscribe, update.unadvertise, update.advertise)
    return tuple(map(frozenset, parts))


def flights(network: Network) -> list[Any]:
    return [
        (
            each.source,
            each.target,
            as_sets(each.message) if isinstance(each.message, Update) else each.message,
            each.clients,
        )
        for each in network.events
    ]


@pytest.mark.parametrize("advertisements", [False, True])
@given(parents=trees, seed=st.integers(0, 999), churn=operations(BREAKS, 40))
@settings(max_examples=30)
def test_both_tables_send_the_same_messages(
    advertisements: bool, parents: tuple[int, ...], seed: int, churn: list[Operation]
) -> None:
    ran = []
    for table in ("fp", "nrf"):
        setup = Setup(parents, "covering", advertisements, table, seed=seed)
        world = World(setup, setup.network())
        for each in churn:
            world.do(each)
        world.run()
        ran.append(flights(world.network))
    assert ran[0] == ran[1]


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [
        *((algorithm, "records") for algorithm in ALGORITHMS),
        *(("covering", model) for model in ("tuples", "documents", "objects")),
    ],
)
@given(parents=trees, seed=st.integers(0, 999), churn=operations(BREAKS, 30))
@settings(max_examples=15)
def test_a_run_is_replayed_from_its_record(
    algorithm: str, model: str, parents: tuple[int, ...], seed: int, churn: list[Operation]
) -> None:
    setup = Setup(parents, algorithm, algorithm != "flooding", seed=seed, model=model)
    world = World(setup, setup.network())
    for each in churn:
        world.do(each)
    network = world.network
    again = Network.replay(json.loads(json.dumps(network.record())))
    assert again.events == network.events
    assert again.in_flight == network.in_flight
    assert again.audit() == network.audit()
    assert again.record() == network.record()
    again.run()
    world.run()
    assert again.events == network.events


@pytest.mark.parametrize("seed", range(3))
@given(churn=operations(NAMES, 40))
@settings(max_examples=10)
def test_merging_changes_traffic_and_not_what_clients_see(
    seed: int, churn: list[Operation]
) -> None:
    """Operations at rest, so that the same is due whatever is sent in between."""
    parents = (0, 0, 1, 1, 2)
    seen = []
    for algorithm in ("covering", "merging", "imperfect-merging", "flooding"):
        world = World(Setup(parents, algorithm, seed=seed))
        for name, who, what, _ in churn:
            world.do((name, who, what, 0))
            world.run()
        seen.append({name: world.network.delivered(name) for name in world.clients})
    assert seen[0] == seen[1] == seen[2] == seen[3]


@pytest.mark.parametrize("breaks", [False, True])
def test_the_soak_for_a_moment(breaks: bool) -> None:
    for seed in range(2):
        try:
            soak.episode(seed, breaks=breaks)
        except BaseException:
            print(f"repeat it with: {soak.repeating(seed, breaks=breaks)}")
            raise


def test_the_soak_says_how_to_repeat_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(World, "audience", lambda *_: {"nobody"})
    assert soak.main(["--deliveries", "1", "--seed", "3", "--breaks"]) == 1
    line = "python -m tests.routing.soak --seed 3 --deliveries 1 --breaks"
    assert capsys.readouterr().out.splitlines()[-1] == f"repeat it with: {line}"


def test_a_seed_means_the_same_under_every_hash_seed() -> None:
    def digests(hash_seed: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tests.routing.soak", "--digest", "--deliveries", "6000"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    first = digests("1")
    assert first == digests("2")
    assert len(first.splitlines()) > 1

"""Runs of moving clients before a second judge, which shares nothing with the simulator's audit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from posetlib.routing.mobility import protocol_named
from posetlib.simulation import SAFE_PROTOCOLS
from posetlib.simulation.recipes import RECIPES, Recipe
from tests.routing.journeys import HARD, Kind, Run, kind_for
from tests.routing.plain_audit import judge
from tests.routing.test_mobility import played


def acquit(kind: Kind, seed: int) -> None:
    """Raise AssertionError unless the judge finds nothing wrong with a run."""
    run = Run(kind, seed)
    found = judge(run.net.record())
    keeps_order = protocol_named(kind.protocol).keeps_order and not kind.incomplete
    faults = [each for each in found.faults if keeps_order or each[0] != "out_of_order"]
    assert not faults, f"seed {seed} of {kind}: {faults}"
    assert found.delivered == run.net.audit().delivered


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("protocol", SAFE_PROTOCOLS)
def test_safe_protocols_are_acquitted(protocol: str, name: str) -> None:
    acquit(kind_for(name, protocol), 50)


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("protocol", SAFE_PROTOCOLS)
def test_safe_protocols_are_acquitted_of_many_runs(protocol: str, name: str) -> None:
    for seed in range(20_000, 20_060):
        acquit(kind_for(name, protocol), seed)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: each.name)
def test_the_judge_sees_what_a_recipe_loses(recipe: Recipe) -> None:
    for protocol, missed in ((recipe.protocol, 1), ("update", 0)):
        found = judge(played(recipe, protocol).record())
        assert (found.due, found.count("missed"), len(found.faults)) == (1, missed, missed)


@pytest.mark.parametrize(
    "kind",
    [
        Kind("cover"),
        Kind("transfer"),
        Kind("junction"),
        Kind("resubscribe", roles="publisher"),
        Kind("update-ready-direct", roles="publisher"),
        Kind("update-without-epochs", fast=True),
    ],
    ids=str,
)
def test_the_judge_convicts_unsafe_protocols(kind: Kind) -> None:
    assert any(judge(Run(kind, seed).net.record()).count("missed") for seed in range(12))


def test_judge_and_audit_agree_after_a_complete_start() -> None:
    """Without churn both know exactly what is due, whoever loses it."""
    for protocol in ("update", "cover", "transfer", "path-update", "resubscribe"):
        for seed in range(4):
            run = Run(replace(HARD["complete"], protocol=protocol), seed)
            found, audit = judge(run.net.record()), run.net.audit()
            assert (found.due, found.count("missed")) == (audit.due, audit.missed)
            assert found.count("duplicates") == audit.duplicates
            assert found.count("out_of_order") == audit.out_of_order

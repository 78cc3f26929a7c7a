"""All tables through the same operations, beside plain models: what must agree, agrees.

For more than `make test` has time for: `python -m tests.tables.stress --steps 1000000 --seed 1`.
"""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.tables import stress
from tests.tables.kinds import (
    BOXES,
    DOCUMENTS,
    FILTERS,
    OBJECTS,
    RANGES,
    SETS,
    TUPLES,
    WORDS,
    WORLDS,
    World,
    index_short_lists,
    without_index,
)
from tests.tables.lockstep import Lockstep

interfaces = st.sampled_from(stress.INTERFACES)


def machine(world: World) -> Any:
    items = st.sampled_from(list(world.items))

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.lockstep = Lockstep(world)

        @rule(item=items, interface=interfaces)
        def add(self, item: Any, interface: str) -> None:
            self.lockstep.add(item, interface)

        @rule(pairs=st.lists(st.tuples(items, interfaces), min_size=2, max_size=6))
        def add_some(self, pairs: list[tuple[Any, str]]) -> None:
            for item, interface in pairs:
                self.lockstep.add(item, interface)

        @rule(data=st.data())
        def remove_held(self, data: st.DataObject) -> None:
            held = self.lockstep.local.entries()
            if held:
                self.lockstep.remove(*data.draw(st.sampled_from(held)))

        @rule(item=items, interface=interfaces)
        def remove(self, item: Any, interface: str) -> None:
            self.lockstep.remove(item, interface)

        @rule(item=items, interface=interfaces)
        def discard(self, item: Any, interface: str) -> None:
            self.lockstep.discard(item, interface)

        @rule(interface=interfaces)
        def drop_interface(self, interface: str) -> None:
            self.lockstep.drop_interface(interface)

        @rule(item=items, interface=interfaces)
        def remove_covered(self, item: Any, interface: str) -> None:
            self.lockstep.remove_covered(item, interface)

        @rule()
        def restore(self) -> None:
            self.lockstep.replace(self.lockstep.through_json)

        @rule()
        def copy(self) -> None:
            self.lockstep.replace(self.lockstep.through_pickle)

        @rule()
        def build(self) -> None:
            self.lockstep.rebuild()

        @rule(item=items)
        def compare(self, item: Any) -> None:
            self.lockstep.compare(item)

        @rule(neighbours=st.sets(interfaces))
        def forwards(self, neighbours: set[str]) -> None:
            self.lockstep.forwards(neighbours)

        @rule(notification=st.sampled_from(list(world.notifications)), bound=st.integers(0, 6))
        def match(self, notification: Any, bound: int) -> None:
            self.lockstep.match(notification, bound)

        @invariant()
        def agree(self) -> None:
            self.lockstep.check()

    profile = settings()
    if (
        profile.max_examples == 100
    ):  # the default one: nine machines, a thousand steps each and more
        profile = settings(max_examples=40, stateful_step_count=40)
    Machine.TestCase.settings = profile
    return Machine.TestCase


TestSets = machine(SETS)
TestBoxes = machine(BOXES)
TestWords = machine(WORDS)
TestFilters = machine(FILTERS)
TestFiltersWithoutIndex = machine(without_index(FILTERS))
TestRanges = machine(RANGES)
TestTuples = machine(TUPLES)
TestDocuments = machine(DOCUMENTS)
TestObjects = machine(OBJECTS)


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    # All other tests of tables have lists so short that an index scans them as objects.
    index_short_lists(monkeypatch)


@pytest.mark.parametrize("world", WORLDS)
def test_seeded_steps(world: str) -> None:
    assert stress.run(world, 1_000, seed=0) == 1_000


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("seed", range(10))
def test_many_seeded_steps(world: str, seed: int) -> None:
    assert stress.run(world, 10_000, seed) == 10_000


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert stress.main(["--steps", "20", "--seed", "3", "--world", "sets"]) == 0
    assert "sets: 20 steps, seed 3: all tables agree" in capsys.readouterr().out


def test_the_command_names_the_seed_and_the_step_of_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checks = 0

    def check(_lockstep: Lockstep) -> None:
        nonlocal checks
        checks += 1
        assert checks < 7, "the seventh step"

    monkeypatch.setattr(Lockstep, "check", check)
    with pytest.raises(AssertionError, match="the seventh step") as failed:
        stress.main(["--steps", "20", "--seed", "3", "--world", "sets"])
    (note,) = failed.value.__notes__
    assert "seed 3, step 7 in sets" in note
    # The command in the note takes the same steps, and fails at the last of them.
    command = shlex.split(note.partition("tests.tables.stress ")[2])
    for steps, fails in (("6", False), ("7", True)):
        checks = 0
        command[command.index("--steps") + 1] = steps
        with pytest.raises(AssertionError) if fails else nullcontext():
            stress.main(command)

"""Traces: recorded, written, replayed into any table, forwards and backwards."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from posetlib.errors import SnapshotError, UnknownEntryError
from posetlib.filters.parsing import parse_filter
from posetlib.graph.change import Change
from posetlib.tables import make_table
from posetlib.tables.trace import Operation, Trace
from tests.tables.kinds import BOXES, DOCUMENTS, KINDS, OBJECTS, SETS, TUPLES, WORDS, World
from tests.tables.test_failures import anatomy

A, B = parse_filter("x in [0, 9]"), parse_filter("x = 3")


def random_trace(world: World, seed: int, length: int = 60) -> Trace:
    rng = random.Random(seed)
    trace = Trace()
    for _ in range(length):
        item, interface = rng.choice(list(world.items)), rng.choice(("I1", "I2", "I3"))
        chance = rng.random()
        if chance < 0.6:
            trace.add(item, interface)
        elif chance < 0.8:
            trace.remove(item, interface)
        elif chance < 0.85:
            trace.discard(item, interface)
        elif chance < 0.95:
            trace.remove_covered(item, interface)
        else:
            trace.drop_interface(interface)
    return trace


@pytest.mark.parametrize(
    "world", [SETS, BOXES, WORDS, TUPLES, DOCUMENTS, OBJECTS], ids=lambda world: world.name
)
@pytest.mark.parametrize("kind", KINDS)
class TestReplay:
    def test_forwards_and_backwards(self, kind: str, world: World) -> None:
        for seed in range(3):
            trace = random_trace(world, seed)
            player = trace.player(world.make(kind))
            states, changes = [anatomy(player.table)[:-2]], []
            for change in player:
                changes.append(change)
                states.append(anatomy(player.table)[:-2])
            assert player.position == len(trace)
            assert trace.replay(world.make(kind)) == changes
            tests = player.table.counters.covering_tests
            for position in reversed(range(len(trace))):
                assert player.change(position) == changes[position]
                assert player.back() == changes[position].inverse()
                assert anatomy(player.table)[:-2] == states[position]
                player.table.check()
            assert player.table.counters.covering_tests == tests
            with pytest.raises(IndexError):
                player.back()
            rng = random.Random(seed)
            for _ in range(20):
                position = rng.randint(0, len(trace))
                player.seek(position)
                assert anatomy(player.table)[:-2] == states[position]
            player.seek(len(trace))
            with pytest.raises(IndexError):
                player.forward()

    def test_what_was_followed_replays_the_same(self, kind: str, world: World) -> None:
        table = world.make(kind)
        trace, stop = Trace.follow(table)
        for operation in random_trace(world, 7):
            if operation.name == "drop_interface":
                table.drop_interface(operation.interface)
            else:
                name = "discard" if operation.name == "remove" else operation.name
                getattr(table, name)(operation.item, operation.interface)
        again = world.make(kind)
        trace.replay(again)
        assert again == table
        assert again.entries() == table.entries()
        stop()
        table.drop_interface("I1")
        assert len(trace) == 60


class TestFollowing:
    def test_only_what_succeeded(self) -> None:
        table = make_table("fp")
        trace, _ = Trace.follow(table)
        table.add(A, "I1")
        with pytest.raises(UnknownEntryError):
            table.remove(B, "I1")
        table.add(A, "I1")  # changed nothing here, but may elsewhere
        assert trace.operations == [Operation("add", A, "I1"), Operation("add", A, "I1")]

    def test_what_was_undone_is_not_in_it(self) -> None:
        table = make_table("fp")
        trace, _ = Trace.follow(table)
        table.add(A, "I1")

        def refuse(_change: Change) -> None:
            raise ValueError("no")

        stop = table.listen(refuse)
        with pytest.raises(ValueError, match="no"):
            table.add(B, "I2")
        stop()
        assert len(trace) == 1

    def test_a_player_and_its_listeners(self) -> None:
        table = make_table("fp")
        told: list[Change] = []
        table.listen(told.append)
        player = Trace([Operation("add", A, "I1")]).player(table)
        done = player.forward()
        undone = player.back()
        assert told == [done, undone]
        assert "0 of 1 operations" in repr(player)

    def test_nobody_else_may_change_the_table(self) -> None:
        table = make_table("fp")
        player = Trace([Operation("add", A, "I1"), Operation("add", B, "I2")]).player(table)
        player.forward()
        table.add(B, "I3")
        with pytest.raises(RuntimeError, match="someone else"):
            player.forward()
        with pytest.raises(RuntimeError, match="someone else"):
            player.back()

    def test_positions(self) -> None:
        player = Trace().player(make_table("fp"))
        for position in (-1, 1):
            with pytest.raises(IndexError):
                player.seek(position)


class TestText:
    def test_there_and_back(self) -> None:
        trace = Trace()
        trace.add(A, "I1")
        trace.remove_covered(B, "I2")
        trace.remove(A, "I1")
        trace.discard(A, "I1")
        trace.drop_interface("I2")
        text = trace.to_json()
        assert json.loads(text) == {
            "format": "posetlib-trace",
            "version": 1,
            "steps": [
                {"operation": "add", "filter": "x in [0, 9]", "interface": "I1"},
                {"operation": "remove_covered", "filter": "x = 3", "interface": "I2"},
                {"operation": "remove", "filter": "x in [0, 9]", "interface": "I1"},
                {"operation": "discard", "filter": "x in [0, 9]", "interface": "I1"},
                {"operation": "drop_interface", "interface": "I2"},
            ],
        }
        assert Trace.from_json(text) == trace
        assert str(trace[1]) == "remove covered x = 3 (I2)"
        assert str(trace[4]) == "drop interface I2"
        assert len(trace) == 5
        assert next(iter(trace)).name == "add"

    def test_other_items(self) -> None:
        trace = random_trace(SETS, 1)
        text = trace.to_json(lambda item: "".join(sorted(item)))
        assert Trace.from_json(text, frozenset) == trace

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "not JSON"),
            ("[]", "no trace"),
            ('{"format": "posetlib-snapshot"}', "no trace"),
            ('{"format": "posetlib-trace", "version": 2}', "version is 2"),
            ('{"format": "posetlib-trace", "version": true}', "version is True"),
            ('{"format": "posetlib-trace", "version": 1}', "steps"),
            ('{"format": "posetlib-trace", "version": 1, "steps": [], "types": 3}', "hierarchy"),
            *(
                (json.dumps({"format": "posetlib-trace", "version": 1, "steps": [step]}), message)
                for step, message in (
                    (3, "step 0 is no object"),
                    ({"operation": "delete"}, "step 0: unknown operation 'delete'"),
                    ({"operation": ["add"]}, "step 0: unknown operation"),
                    ({"operation": "add", "filter": "true"}, "step 0: the interface"),
                    ({"operation": "add", "interface": "I1"}, "step 0: the filter is text"),
                    (
                        {"operation": "add", "filter": "x >", "interface": "I1"},
                        "step 0: cannot read the filter 'x >'",
                    ),
                )
            ),
        ],
    )
    def test_what_is_wrong_is_named(self, text: str, message: str) -> None:
        with pytest.raises(SnapshotError, match=message):
            Trace.from_json(text)

    def test_interfaces_are_strings(self) -> None:
        trace = Trace()
        trace.add(A, 1)
        with pytest.raises(SnapshotError, match="strings"):
            trace.to_json()


def test_a_trace_is_no_key() -> None:
    with pytest.raises(TypeError):
        hash(Trace())
    assert Trace() != "trace"
    assert repr(Trace()) == "<Trace: 0 operations>"
    any_trace: Any = Trace()
    assert any_trace == Trace()

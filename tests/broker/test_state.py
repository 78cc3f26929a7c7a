"""The state file: what named clients hold outlasts a restart; what is not ours is left alone."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from posetlib.broker.protocol import RefusedError
from posetlib.broker.sessions import Session, Sessions
from posetlib.broker.settings import Limits, RouterOptions
from posetlib.broker.state import Row, State
from posetlib.errors import StateFileError
from posetlib.filters.parsing import parse_filter
from posetlib.routing import Router
from tests.routing.worlds import TWO_FORMS

from .running import Wire, run, serving


def test_what_named_clients_hold_outlasts_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    router = RouterOptions(advertisements=True)

    async def first() -> None:
        async with serving(state=path, router=router) as broker:
            wire = await Wire.open(broker.port)
            await wire.ask({"op": "hello", "client": "alice"})
            for message in (
                {"op": "subscribe", "filter": "x > 3"},
                {"op": "subscribe", "filter": "x > 4", "ttl": 1_000},
                {"op": "subscribe", "filter": "x > 5", "ttl": 0.000_1},
                {"op": "subscribe", "filter": "x > 6"},
                {"op": "unsubscribe", "filter": "x > 6"},
                {"op": "subscribe", "filter": "x > 7"},
                {"op": "replace", "old": "x > 7", "filter": "x > 8"},
                {"op": "advertise", "filter": "y = 1"},
            ):
                assert (await wire.ask({**message, "id": 1}) or {})["op"] == "ok"
            unnamed = await Wire.open(broker.port)
            await unnamed.ask({"op": "subscribe", "filter": "z = 1", "id": 1})

    async def second() -> None:
        async with serving(state=path, router=router) as broker:
            wire = await Wire.open(broker.port)
            assert (await wire.ask({"op": "hello", "client": "alice"}) or {})["held"] == 4
            answer = await wire.ask({"op": "list", "id": 1})
            assert answer is not None
            assert sorted(answer["subscriptions"]) == ["x > 3", "x > 4", "x > 8"]
            assert answer["advertisements"] == ["y = 1"]
            remaining = broker.router.leases.remaining()
            ((entry, left),) = remaining.items()
            assert str(entry[1]) == "x > 4"
            assert 0 < left <= 1_000
            assert len(broker.router.local_table) == 3
            await wire.ask({"op": "forget", "id": 2})

    async def third() -> None:
        async with serving(state=path, router=router) as broker:
            assert len(broker.sessions) == 0

    run(first())
    run(second())
    run(third())


def test_a_filter_is_released_by_its_equivalent_also_after_a_restart(tmp_path: Path) -> None:
    """The session knew only the form that the client had sent, and the router another."""
    path = tmp_path / "state.db"
    one, other = TWO_FORMS
    assert parse_filter(one) != parse_filter(other)

    async def first() -> None:
        async with serving(state=path) as broker:
            for name, text in (("bob", other), ("alice", one)):
                wire = await Wire.open(broker.port)
                await wire.ask({"op": "hello", "client": name})
                assert (await wire.ask({"op": "subscribe", "filter": text, "id": 1}))["op"] == "ok"

    async def second() -> None:
        async with serving(state=path) as broker:
            for name, text in (("alice", other), ("bob", one)):
                wire = await Wire.open(broker.port)
                assert (await wire.ask({"op": "hello", "client": name}))["held"] == 1
                answer = await wire.ask({"op": "unsubscribe", "filter": text, "id": 1})
                assert answer["op"] == "ok", answer
                assert (await wire.ask({"op": "list", "id": 2}))["subscriptions"] == []

    async def third() -> None:
        async with serving(state=path) as broker:
            assert len(broker.sessions) == 0

    run(first())
    run(second())
    run(third())


def other_database(path: Path) -> None:
    with sqlite3.connect(path) as rows:
        rows.execute("CREATE TABLE precious (x)")
    rows.close()


def later_version(path: Path) -> None:
    State(path).close()
    with sqlite3.connect(path) as rows:
        rows.execute("PRAGMA user_version = 99")
    rows.close()


def no_filter(path: Path) -> None:
    state = State(path)
    state.change(added=[Row("alice", "subscribe", "x >")])
    state.close()


def damaged(path: Path) -> None:
    state = State(path)
    state.change(added=[Row(f"client {i}", "subscribe", f"x > {i}") for i in range(5_000)])
    state.close()
    data = bytearray(path.read_bytes())
    for i in range(4_096 * 3, len(data), 4_096):
        data[i : i + 64] = b"\xff" * 64
    path.write_bytes(data)


def text(path: Path) -> None:
    path.write_text("this is no database at all\n" * 100, "utf-8")


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (other_database, "a database of something else"),
        (later_version, "has version 99"),
        (no_filter, "'alice' holds 'x >'"),
        (damaged, "damaged|cannot be used"),
        (text, "not a database"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_and_left_as_it_was(
    make: Any, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    make(path)
    before = path.read_bytes()

    async def main() -> None:
        with pytest.raises(StateFileError, match=what):
            async with serving(state=path):
                pass

    run(main())
    assert path.read_bytes() == before


def test_advertisements_need_a_router_that_takes_them(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = State(path)
    state.change(added=[Row("alice", "advertise", "x > 3")])
    state.close()

    async def main() -> None:
        with pytest.raises(StateFileError, match="advertisements"):
            async with serving(state=path):
                pass

    run(main())


def test_two_brokers_do_not_share_a_file(tmp_path: Path) -> None:
    state = State(tmp_path / "state.db")
    try:
        with pytest.raises(StateFileError, match="locked"):
            State(tmp_path / "state.db", patience=0.05)
    finally:
        state.close()


def test_what_cannot_be_written_holds_and_is_told(tmp_path: Path) -> None:
    state = State(tmp_path / "state.db")
    router = Router()
    sessions = Sessions(router, lambda _: None, Limits(), state)
    session = Session("alice")
    state._rows.execute("PRAGMA query_only = ON")
    with pytest.raises(RefusedError, match="will not outlast a restart"):
        sessions.hold(session, "subscribe", parse_filter("x > 3"))
    assert router.subscriptions(session) == (parse_filter("x > 3"),)
    state.close()

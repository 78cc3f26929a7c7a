"""Clients that move between running brokers: nothing missed, nothing twice, in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from posetlib.broker.client import AsyncClient, connect, connect_async
from posetlib.broker.server import Broker
from posetlib.broker.settings import Limits, RouterOptions, Settings
from posetlib.errors import BrokerError, StateFileError

from .running import (
    PATIENCE,
    BrokerProcess,
    Proxy,
    Wire,
    hello_of_a_broker,
    run,
    serving,
    until,
)
from .walking import Walk, walk


def address_of(broker: Broker | BrokerProcess) -> str:
    return f"127.0.0.1:{broker.port}"


@contextlib.asynccontextmanager
async def line_of_brokers(**settings: Any) -> AsyncIterator[list[Broker]]:
    """Serve three brokers in a line: a, m, b."""
    async with serving(name="m", moves=True, **settings) as m:
        near = {"neighbours": {"m": ("127.0.0.1", m.port)}, "moves": True, **settings}
        async with serving(name="a", **near) as a, serving(name="b", **near) as b:
            brokers = [a, m, b]
            await until(lambda: all(each.moves.addresses.known for each in brokers), "links")
            await until(lambda: a.moves.addresses.next_hop("b"), "a knows the way to b")
            await until(lambda: b.moves.addresses.next_hop("a"), "b knows the way to a")
            yield brokers


async def publish_at_a_rate(client: AsyncClient, who: str, published: list[int]) -> None:
    for i in range(1_000_000):
        await client.publish({"who": who, "i": i})
        published.append(i)
        await asyncio.sleep(0.001)


async def read_into(client: AsyncClient, found: list[dict[str, Any]]) -> None:
    async for notification in client:
        found.append(notification)  # noqa: PERF401 - the test looks at it meanwhile


@pytest.mark.parametrize("advertisements", [False, True])
def test_a_client_walks_and_misses_nothing(advertisements: bool) -> None:
    async def main() -> None:
        options = RouterOptions(advertisements=advertisements)
        async with line_of_brokers(router=options) as brokers:
            draw = random.Random(1)
            publishers = [
                await connect_async(address_of(each)) for each in (brokers[0], brokers[2])
            ]
            walker = await connect_async(address_of(brokers[0]), session="walker")
            await walker.subscribe("exists i")
            if advertisements:
                for each in publishers:
                    await each.advertise("exists i")
            got: list[dict[str, Any]] = []
            # What is published once the subscription is known everywhere is due.
            known = [each.router for each in brokers]
            await until(lambda: all(len(each.table) for each in known[1:]), "it is known")
            reading = asyncio.create_task(read_into(walker, got))
            published: dict[str, list[int]] = {"p": [], "q": []}
            loads = [
                asyncio.create_task(publish_at_a_rate(each, who, published[who]))
                for each, who in zip(publishers, published, strict=True)
            ]
            at = 0
            for turn in range(12):
                at = draw.choice([each for each in range(3) if each != at])
                await walker.move(address_of(brokers[at]))
                if turn % 3:  # or it moves on before its last broker has handed over
                    await walker.wait_settled(PATIENCE)
                    await asyncio.sleep(0.03)
            await walker.wait_settled(PATIENCE)
            for each in loads:
                each.cancel()
            await asyncio.wait(loads)
            due = sum(map(len, published.values()))
            await until(lambda: len(got) >= due, "all of it")
            await asyncio.sleep(0.05)
            for who, numbers in published.items():
                assert [each["i"] for each in got if each["who"] == who] == numbers
            assert due > 100
            # One session is left, and no pins.
            await until(lambda: sum(each.moves.count for each in brokers) == 1, "one session")
            assert not any(len(each.router.pins) for each in brokers)
            reading.cancel()
            for each in (walker, *publishers):
                await each.close()

    run(main())


def check_walk(walked: Walk) -> None:
    assert walked.missed == []
    assert walked.got == sorted(set(walked.got)), "twice, or out of order"
    assert walked.queued > 0, "nothing was under way when the client moved"
    assert walked.published - walked.excused > 50


def test_a_walk_through_processes_of_which_one_is_killed(tmp_path: Path) -> None:
    check_walk(walk(tmp_path, moves=4, kill_after=frozenset({2}), seed=3))


@pytest.mark.slow
def test_twenty_moves_with_brokers_killed_between(tmp_path: Path) -> None:
    walked = walk(tmp_path, moves=20, kill_after=frozenset({4, 8, 12, 16}), seed=4)
    print(
        f"published {walked.published}, excused {walked.excused}, queued {walked.queued}, "
        f"missed {len(walked.missed)}"
    )
    check_walk(walked)


# -- what a client may not say ---------------------------------------------------------------------


async def refused(broker: Broker, **hello: Any) -> tuple[str, str]:
    """Return code and text of the refusal of a hello; the connection ends with it."""
    wire = await Wire.open(broker.port)
    wire.send({"op": "hello", **hello})
    (answer,) = await wire.rest()
    assert answer["op"] == "error", answer
    return answer["code"], answer["text"]


def test_a_hello_that_cannot_be_so_is_refused_and_nothing_is_lost() -> None:
    async def main() -> None:
        async with line_of_brokers() as (a, m, b):
            walker = await connect_async(address_of(a), session="walker")
            await walker.subscribe("exists i")
            epoch = walker._talk.moving().epoch
            assert epoch is not None
            hello = {"session": "walker", "last": "a", "subscriptions": ["exists i"]}
            for broker, said, code in (
                (a, {"session": "walker"}, "held"),
                (a, {"session": "walker", "epoch": epoch + 1}, "epoch"),
                (a, {"session": "walker", "epoch": -1}, "field"),
                (a, {"session": "walker", "client": "x"}, "field"),
                (a, {"session": 5}, "field"),
                (b, {"session": "walker", "last": "a"}, "field"),
                (b, {**hello, "epoch": True}, "field"),
                (b, {**hello, "epoch": epoch, "subscriptions": "x > 3"}, "field"),
                (b, {**hello, "epoch": epoch, "subscriptions": ["x >"]}, "filter"),
                (b, {**hello, "epoch": epoch, "advertisements": ["x > 3"]}, "option"),
                (b, {**hello, "epoch": epoch, "last": "nowhere"}, "unknown-broker"),
                (b, {**hello, "epoch": epoch, "last": "b"}, "epoch"),
            ):
                assert (await refused(broker, **said))[0] == code, said
            # A stay that never was: b asks a, which has none, and says so.
            wire = await Wire.open(b.port)
            wire.send({"op": "hello", **hello, "epoch": epoch - 5})
            answers = await wire.rest()
            assert [each["op"] for each in answers] == ["welcome", "error"]
            assert answers[1]["code"] == "epoch"
            assert "a has no stay" in answers[1]["text"]
            await until(lambda: b.moves.count == 0, "b has nothing of it")
            assert not any(len(each.router.pins) for each in (a, m, b))
            # The session is as it was.
            async with await connect_async(address_of(b)) as publisher:
                await publisher.publish({"i": 1})
            assert await anext(aiter(walker)) == {"i": 1}
            await walker.move(address_of(b))
            await walker.wait_settled(PATIENCE)
            # The stay that a handed over is out of date, wherever somebody says it.
            wire = await Wire.open(m.port)
            wire.send({"op": "hello", **hello, "epoch": epoch})
            assert [each["op"] for each in await wire.rest()] == ["welcome", "error"]
            async with await connect_async(address_of(a)) as publisher:
                await publisher.publish({"i": 2})
            assert await anext(aiter(walker)) == {"i": 2}
            await walker.close()

    run(main())


def test_without_moves_no_session_is_opened() -> None:
    async def main() -> None:
        async with serving() as broker:
            assert (await refused(broker, session="x"))[0] == "option"
        async with serving(name="a", moves=True) as broker:
            wire = await Wire.open(broker.port)
            answers = await wire.ask(hello_of_a_broker()), await wire.read()
            assert answers[0]["code"] == "options", answers
            assert "--moves" in answers[0]["text"]

    run(main())
    with pytest.raises(ValueError, match="--moves needs --name"):
        Settings(moves=True).check()


def test_the_last_broker_is_down_and_the_client_goes_on_without_it() -> None:
    """What waited there comes late, if that broker is linked again."""

    async def main() -> None:
        async with serving(name="m", moves=True, handover=0.3) as m:
            proxy = Proxy(lambda: m.port)
            try:
                near = {"m": ("127.0.0.1", proxy.port)}
                async with serving(name="a", moves=True, neighbours=near) as a:
                    await until(lambda: m.moves.addresses.next_hop("a"), "linked")
                    walker = await connect_async(address_of(a), session="walker")
                    await walker.subscribe("exists i")
                    await until(lambda: len(m.router.table), "it is known")
                    await walker._leave()
                    async with await connect_async(address_of(a)) as publisher:
                        await publisher.publish({"i": 1})
                    proxy.hang()
                    proxy.cut()
                    await until(lambda: not len(m.links), "the link is gone")
                    await walker.move(address_of(m))
                    settled = await walker.wait_settled(PATIENCE)
                    assert settled == {"missed": 0, "without": "a"}
                    async with await connect_async(address_of(m)) as publisher:
                        await publisher.publish({"i": 2})
                    found = aiter(walker)
                    assert await anext(found) == {"i": 2}
                    proxy.heal()
                    assert await anext(found) == {"i": 1}
                    await until(lambda: a.moves.count == 0, "a has handed over")
                    await walker.close()
            finally:
                proxy.close()

    run(main())


def test_what_a_mover_publishes_waits_until_it_is_settled() -> None:
    """Also if it is settled just when it has said good bye: that lost what waited."""

    async def main() -> None:
        options = RouterOptions(advertisements=True)
        async with (
            line_of_brokers(router=options) as (a, m, b),
            await connect_async(address_of(m)) as reader,
        ):
            await reader.subscribe("exists i")
            mover = await connect_async(address_of(a), session="mover")
            await mover.advertise("exists i")
            await until(lambda: len(a.router.table), "the subscription has come to a")
            numbers = iter(range(1_000))
            for broker in (b, a, m, b):
                await mover.publish(*({"i": next(numbers)} for _ in range(5)))
                await mover.move(address_of(broker))
                await mover.publish(*({"i": next(numbers)} for _ in range(5)))
            await mover.wait_settled(PATIENCE)
            found = aiter(reader)
            assert [(await anext(found))["i"] for _ in range(40)] == list(range(40))
            await mover.close()

    run(main())


def test_a_session_waits_and_has_room_for_so_much() -> None:
    async def main() -> None:
        limits = Limits(queue=2_000)
        async with line_of_brokers(limits=limits) as (a, _, b):
            walker = await connect_async(address_of(a), session="walker")
            await walker.subscribe("exists i")
            await walker._leave()
            async with await connect_async(address_of(a)) as publisher:
                await publisher.publish(*({"i": i} for i in range(100)))
            queued = a.metrics.queued
            assert 5 < queued < 40
            await walker.move(address_of(b))
            assert await walker.wait_settled(PATIENCE) == {"missed": 100 - queued, "without": None}
            found = aiter(walker)
            assert [(await anext(found))["i"] for _ in range(queued)] == list(range(queued))
            await walker.close()

    run(main())


def test_a_session_that_is_forgotten_ends_and_its_name_is_free() -> None:
    async def main() -> None:
        async with serving(name="a", moves=True) as a:
            walker = await connect_async(address_of(a), session="walker")
            await walker.subscribe("exists i")
            with pytest.raises(BrokerError, match="ttl"):
                await walker.subscribe("exists j", ttl=5)
            await walker.close()
            assert a.moves.count == 1
            walker = await connect_async(address_of(a), session="walker")
            assert (await walker.ask("list"))["subscriptions"] == ["exists i"]
            await walker.ask("forget")
            await walker.close()
            await until(lambda: a.moves.count == 0, "it is forgotten")
            assert not len(a.router.local_table)

    run(main())


def test_a_stay_outlasts_a_restart(tmp_path: Path) -> None:
    async def main() -> None:
        settings = {"name": "a", "moves": True, "state": tmp_path / "a.db"}
        async with serving(**settings) as a:
            walker = await connect_async(address_of(a), session="walker")
            await walker.subscribe("exists i")
            epoch = walker._talk.moving().epoch
        with pytest.raises(StateFileError, match="start the broker with --moves"):
            async with serving(state=tmp_path / "a.db"):
                pass
        async with serving(**settings) as a:
            async with await connect_async(address_of(a)) as publisher:
                await publisher.publish({"i": 1})
            await walker.move(address_of(a))
            assert await anext(aiter(walker)) == {"i": 1}
            assert walker._talk.moving().epoch == epoch
            await walker.ask("forget")
            await walker.close()
        async with serving(state=tmp_path / "a.db"):
            pass

    run(main())


@contextlib.contextmanager
def broker_in_a_thread() -> Iterator[list[str]]:
    """Serve a line of brokers beside a test that waits; yields the addresses of a and b."""
    found: list[str] = []
    ready, over = threading.Event(), threading.Event()

    async def main() -> None:
        async with line_of_brokers() as (a, _, b):
            found.extend(map(address_of, (a, b)))
            ready.set()
            await until(over.is_set, "the end of the test")

    thread = threading.Thread(target=run, args=(main(),))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield found
    finally:
        over.set()
        thread.join(PATIENCE)


def test_the_client_with_threads_moves_and_stays_usable_when_refused() -> None:
    with broker_in_a_thread() as (a, b):
        with pytest.raises(ValueError, match="a name or a session"):
            connect(a, "name", session="walker")
        with connect(a) as still, pytest.raises(ValueError, match="session"):
            still.move(b)
        with connect(a, session="walker", timeout=PATIENCE) as walker, connect(b) as publisher:
            walker.subscribe("exists i")
            walker.replace("exists i", "exists j")
            with pytest.raises(BrokerError, match="no broker answers"):
                walker.move("127.0.0.1:1")
            with pytest.raises(BrokerError):
                walker.get(PATIENCE)
            walker.move(b)
            walker.wait_settled(PATIENCE)
            publisher.publish({"i": 1}, {"j": 2})
            assert walker.get(PATIENCE) == {"j": 2}


def test_a_client_that_moves_drops_what_it_has_seen() -> None:
    """The broker before may have delivered what the next one is handed."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = json.loads(await reader.readline())
        welcome = {"op": "welcome", "id": hello["id"], "epoch": 1, "broker": "fake"}
        lines = [welcome, {"op": "settled", "epoch": 1}]
        lines += [{"op": "publish", "n": {"i": i}, "mark": f"mark {i}"} for i in (1, 2, 1, 2, 3)]
        writer.writelines(json.dumps(each).encode() + b"\n" for each in lines)
        await reader.readline()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        walker = await connect_async(f"127.0.0.1:{port}", session="walker")
        found = aiter(walker)
        assert [(await anext(found))["i"] for _ in range(3)] == [1, 2, 3]
        await walker.close()
        server.close()

    run(main())

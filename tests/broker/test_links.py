"""Neighbours: one link each, all that is known exchanged, dropped and healed; in one process."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from posetlib.broker.links import lines_of
from posetlib.broker.server import Broker
from posetlib.broker.settings import Limits, RouterOptions
from posetlib.filters.parsing import parse_filter
from posetlib.routing import Update

from .running import Proxy, Wire, hello_of_a_broker, run, serving, until


def known(broker: Broker) -> set[str]:
    """What the neighbours of a broker hold there."""
    return {
        str(each) for name in broker.router.neighbours for each in broker.router.subscriptions(name)
    }


def address(broker: Broker) -> tuple[str, int]:
    return ("127.0.0.1", broker.port)


async def client_with(broker: Broker, *filters: str, name: str | None = None) -> Wire:
    wire = await Wire.open(broker.port)
    await wire.ask({"op": "hello", "client": name})
    for each in filters:
        assert await wire.ask({"op": "subscribe", "filter": each, "id": 1}) == {"op": "ok", "id": 1}
    return wire


@pytest.mark.parametrize("table", ["fp", "nrf"])
@pytest.mark.parametrize("algorithm", ["covering", "identity", "simple"])
def test_only_one_end_calls_and_both_know_all(table: str, algorithm: str) -> None:
    async def main() -> None:
        router = RouterOptions(table=table, algorithm=algorithm)
        async with serving(name="A", router=router) as a:
            await client_with(a, "x > 3", "x > 5")
            async with serving(name="B", router=router, neighbours={"up": address(a)}) as b:
                bob = await client_with(b, "y = 1")
                wide = {"x > 3"} if algorithm == "covering" else {"x > 3", "x > 5"}
                await until(lambda: known(b) == wide and known(a) == {"y = 1"}, "both know")
                assert (a.router.neighbours, b.router.neighbours) == (("B",), ("up",))
                await bob.ask({"op": "unsubscribe", "filter": "y = 1", "id": 1})
                await until(lambda: known(a) == set(), "it is taken back")
            await until(lambda: a.router.neighbours == (), "the link is gone")
            a.router.check()

    run(main())


@pytest.mark.parametrize("named", [True, False])
def test_both_call_each_other_and_there_is_one_link(named: bool) -> None:
    async def main() -> None:
        # Both ports have to be known before either starts: proxies stand for them.
        ports: dict[str, int] = {}
        to_a, to_b = Proxy(lambda: ports.get("A")), Proxy(lambda: ports.get("B"))
        try:
            async with (
                serving(
                    name="A" if named else None, neighbours={"B": ("127.0.0.1", to_b.port)}
                ) as a,
                serving(
                    name="B" if named else None, neighbours={"A": ("127.0.0.1", to_a.port)}
                ) as b,
            ):
                alice = await client_with(a, "x > 3")
                await client_with(b, "y = 1")
                ports.update(A=a.port, B=b.port)

                def settled() -> bool:
                    return known(a) == {"y = 1"} and known(b) == {"x > 3"}

                for _ in range(4):
                    await until(settled, "both know")
                    # Calls that crossed are sorted out: two connections at most are left, those of
                    # the clients, and one link.
                    await until(
                        lambda: (
                            len(a.links) == len(b.links) == 1
                            and len(a.connections) == len(b.connections) == 2
                        ),
                        "one link is left",
                    )
                    assert settled()
                    publisher = await Wire.open(b.port)
                    publisher.send({"op": "publish", "n": {"x": 5}}, {"op": "bye"})
                    await publisher.rest()
                    assert await alice.read() == {"op": "publish", "n": {"x": 5}}
                    # A second copy would come before this answer.
                    assert (await alice.ask({"op": "list", "id": 2}) or {})["id"] == 2
                    broken = [*a.links, *b.links]
                    to_a.cut()
                    to_b.cut()
                    for link in broken:
                        await link.ended.wait()
        finally:
            to_a.close()
            to_b.close()

    run(main())


@pytest.mark.parametrize(("identity", "kept"), [("a", "their call"), ("z", "our call")])
def test_of_calls_that_cross_the_one_of_the_smaller_identity_is_kept(
    identity: str, kept: str
) -> None:
    async def main() -> None:
        answering: list[Wire] = []

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            wire = Wire(reader, writer, 0)
            answering.append(wire)
            await wire.read()
            wire.send({**hello_of_a_broker("N", identity), "op": "welcome"})

        fake = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = fake.sockets[0].getsockname()[1]
        async with serving(neighbours={"N": ("127.0.0.1", port)}, retry_first=60.0) as broker:
            broker.links.identity = "m"
            await until(lambda: len(broker.links) == 1, "our call is answered")
            theirs = await Wire.open(broker.port)
            welcome = await theirs.ask(hello_of_a_broker("N", identity))
            # Either way the caller learns who is there.
            assert welcome is not None
            assert welcome["identity"] == "m"
            ended, code = (theirs, "linked") if kept == "our call" else (answering[0], "replaced")
            assert (await ended.rest())[-1]["code"] == code
            (link,) = broker.links
            assert link.called == (kept == "our call")
            for wire in answering:
                wire.close()
        fake.close()

    run(main())


def test_a_second_call_of_the_same_broker_replaces_the_first() -> None:
    async def main() -> None:
        async with serving() as broker:
            first, second = await Wire.open(broker.port), await Wire.open(broker.port)
            update = {"op": "update", "subscribe": ["x > 3"]}
            assert (await first.ask(hello_of_a_broker()) or {})["op"] == "welcome"
            first.send(update)
            await until(lambda: known(broker) == {"x > 3"}, "it is known")
            second.send(hello_of_a_broker())
            assert [each["code"] for each in await first.rest()] == ["replaced"]
            assert known(broker) == set()
            second.send({"op": "update", "subscribe": ["y = 1"]})
            await until(lambda: known(broker) == {"y = 1"}, "it is known")
            assert len(broker.links) == 1

    run(main())


@pytest.mark.parametrize(
    ("hello", "code"),
    [
        (hello_of_a_broker(algorithm="simple"), "options"),
        (hello_of_a_broker(advertisements=True), "options"),
        (hello_of_a_broker(version=2), "version"),
        (hello_of_a_broker(identity=None), "field"),
        (hello_of_a_broker(name="two\nlines"), "field"),
    ],
)
def test_a_neighbour_that_works_otherwise_is_refused(hello: dict[str, Any], code: str) -> None:
    async def main() -> None:
        async with serving() as broker:
            wire = await Wire.open(broker.port)
            wire.send(hello)
            assert [each.get("code") for each in await wire.rest()][-1] == code
            assert len(broker.links) == 0

    run(main())


def test_a_broker_is_not_its_own_neighbour() -> None:
    async def main() -> None:
        port: list[int] = []
        proxy = Proxy(lambda: port[0] if port else None)
        try:
            async with serving(neighbours={"me": ("127.0.0.1", proxy.port)}) as broker:
                port.append(broker.port)
                await until(lambda: broker.links.attempts >= 3, "it tried")
                assert len(broker.links) == 0
        finally:
            proxy.close()

    run(main())


@pytest.mark.parametrize(
    "wrong",
    [
        b"nonsense",
        {"op": "update", "subscribe": ["x >"]},
        {"op": "update", "subscribe": "x > 3"},
        {"op": "update", "love": ["x > 3"]},
        {"op": "update", "advertise": ["x > 3"]},
        {"op": "subscribe", "filter": "x > 3"},
        {"op": "publish", "n": 3},
    ],
)
def test_a_line_that_makes_no_sense_ends_a_link_with_all_that_it_brought(
    wrong: dict[str, Any] | bytes,
) -> None:
    async def main() -> None:
        async with serving() as broker:
            wire = await Wire.open(broker.port)
            wire.send(hello_of_a_broker(), {"op": "update", "subscribe": ["y = 1"]})
            await until(lambda: known(broker) == {"y = 1"}, "it is known")
            wire.send(wrong)
            rest = await wire.rest()
            assert rest[-1]["op"] == "error"
            assert broker.router.neighbours == ()
            assert len(broker.router.table) == 0

    run(main())


def test_an_update_of_several_lines_is_applied_as_a_whole() -> None:
    filters = tuple(parse_filter(f'name = "{i:05}" and x > {i}') for i in range(3_000))
    update = Update("N", subscribe=filters[1:], unsubscribe=filters[:1])
    lines = list(lines_of(update))
    assert len(lines) >= 3

    async def main() -> None:
        async with serving(limits=Limits(line=100_000)) as broker:
            wire = await Wire.open(broker.port)
            assert (await wire.ask(hello_of_a_broker()) or {})["op"] == "welcome"
            wire.send({"op": "update", "subscribe": [str(filters[0])]}, *lines[:-1])
            assert await wire.ask({"op": "ping"}) == {"op": "pong"}
            assert known(broker) == {str(filters[0])}
            wire.send(lines[-1])
            await until(lambda: len(broker.router.table) == 2_999, "all are there")
            assert known(broker) == {str(each) for each in filters[1:]}

    run(main())


def test_the_master_gets_everything_and_alone_is_told() -> None:
    async def main() -> None:
        router = RouterOptions(master="M")
        async with serving(router=router) as broker:
            master, slave = await Wire.open(broker.port), await Wire.open(broker.port)
            assert (await master.ask(hello_of_a_broker("M", "m")) or {})["op"] == "welcome"
            assert (await slave.ask(hello_of_a_broker("S", "s")) or {})["op"] == "welcome"
            client = await client_with(broker, "x > 3")
            assert await master.read() == {"op": "update", "subscribe": ["x > 3"]}
            client.send({"op": "publish", "n": {"z": 1}})
            assert await master.read() == {"op": "publish", "n": {"z": 1}}
            assert await slave.ask({"op": "ping"}) == {"op": "pong"}
            # Without its master a router is a peer; with it again, as before.
            master.close()
            assert await slave.read() == {"op": "update", "subscribe": ["x > 3"]}
            master = await Wire.open(broker.port)
            assert (await master.ask(hello_of_a_broker("M", "m2")) or {})["op"] == "welcome"
            assert await slave.read() == {"op": "update", "unsubscribe": ["x > 3"]}
            assert await master.read() == {"op": "update", "subscribe": ["x > 3"]}

    run(main())


def test_a_half_open_link_is_noticed_and_healed() -> None:
    async def main() -> None:
        async with serving(name="A", keepalive=0.4) as a:
            proxy = Proxy(lambda: a.port)
            try:
                # With a name, since it answers no pings, and will be thought dead, too.
                await client_with(a, "x > 3", name="alice")
                settings = {"keepalive": 0.4, "neighbours": {"A": ("127.0.0.1", proxy.port)}}
                async with serving(name="B", **settings) as b:
                    await until(lambda: known(b) == {"x > 3"}, "it is known")
                    proxy.hang()
                    await until(lambda: not a.links and not b.links, "both ends notice")
                    assert len(b.router.table) == 0
                    proxy.heal()
                    await until(lambda: known(b) == {"x > 3"}, "it is known again")
            finally:
                proxy.close()

    run(main())


def test_who_writes_to_a_neighbour_that_is_behind_is_held_back_and_loses_nothing() -> None:
    async def main() -> None:
        limits = Limits(high_water=50_000)
        padding = "p" * 2_000
        async with serving(limits=limits) as broker:
            slow, publisher = await Wire.open(broker.port), await Wire.open(broker.port)
            slow.send(hello_of_a_broker(), {"op": "update", "subscribe": ["exists i"]})
            assert (await slow.read() or {})["op"] == "welcome"
            await until(lambda: known(broker) == {"exists i"}, "it is known")
            enough = asyncio.Event()

            async def flood() -> int:
                i = 0
                while not enough.is_set():
                    publisher.send({"op": "publish", "n": {"i": i, "p": padding}})
                    await publisher.writer.drain()
                    i += 1
                return i

            transport = slow.writer.transport
            transport.pause_reading()  # type: ignore[attr-defined]
            flooding = asyncio.create_task(flood())
            (link,) = broker.links
            (client,) = (each for each in broker.connections if each is not link.connection)
            await until(lambda: client.held_back, "the publisher is held back")
            assert not link.connection.held_back
            most = 0
            for _ in range(50):
                await asyncio.sleep(0.002)
                most = max(most, link.connection.waiting)
            # What one read brought may come on top, and no more.
            assert 50_000 < most < 50_000 + 2 * 262_144
            enough.set()
            transport.resume_reading()  # type: ignore[attr-defined]
            found = [(await slow.read() or {})["n"]["i"]]
            count = None
            while count is None or len(found) < count:
                found.append((await slow.read() or {})["n"]["i"])
                if flooding.done():
                    count = flooding.result()
            assert found == list(range(count))

    run(main())


def test_a_broker_with_a_name_that_means_something_to_a_router_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It ended in a traceback, and so did the end of its connection."""

    async def main() -> None:
        async with serving() as broker:
            for name in ("(top)", "(local clients)"):
                wire = await Wire.open(broker.port)
                answer = await wire.ask(hello_of_a_broker(name))
                assert answer is not None
                assert answer["text"] == f"no broker can be called {name!r}"
                assert await wire.read() is None

    run(main())
    assert "Traceback" not in caplog.text

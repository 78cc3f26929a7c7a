"""Clients that move between running brokers: nothing missed, nothing twice, in order."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from posetlib.broker.client import AsyncClient, Client, connect, connect_async
from posetlib.broker.server import Broker
from posetlib.errors import BrokerError

from .running import (
    PATIENCE,
    BrokerProcess,
    Wire,
    hello_of_a_broker,
    processes,
    run,
    serving,
    until,
    wait_until,
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
        found.append(notification)


@pytest.mark.parametrize("advertisements", [False, True])
def test_a_client_walks_and_misses_nothing(advertisements: bool) -> None:
    async def main() -> None:
        from posetlib.broker.settings import RouterOptions  # noqa: PLC0415

        options = RouterOptions(advertisements=advertisements)
        async with line_of_brokers(router=options) as brokers:
            draw = random.Random(1)
            publishers = [await connect_async(address_of(each)) for each in (brokers[0], brokers[2])]
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

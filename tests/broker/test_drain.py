"""The end of a broker: what it had accepted is sent; who does not read does not stop it."""

from __future__ import annotations

import asyncio

from posetlib.broker.server import Broker
from posetlib.broker.settings import Limits, Settings

from .running import Wire, hello_of_a_broker, run, until


async def start(**settings: object) -> Broker:
    broker = Broker(Settings(port=0, **settings))  # type: ignore[arg-type]
    await broker.start()
    return broker


def test_all_that_was_accepted_is_sent_before_the_end() -> None:
    async def main() -> None:
        broker = await start(drain=30.0, limits=Limits(queue=1 << 26))
        count, padding = 8_000, "p" * 3_000
        subscriber, publisher = await Wire.open(broker.port), await Wire.open(broker.port)
        neighbour = await Wire.open(broker.port)
        neighbour.send(hello_of_a_broker(), {"op": "update", "subscribe": ["exists i"]})
        await until(lambda: len(broker.router.table) == 1, "the neighbour is known")
        await subscriber.ask({"op": "subscribe", "filter": "exists i", "id": 1})
        subscriber.writer.transport.pause_reading()  # type: ignore[attr-defined]
        for i in range(count):
            publisher.send({"op": "publish", "n": {"i": i, "p": padding}})
            await publisher.writer.drain()
        # All that the publisher sent has left it, and some of it is still in the kernel.
        stopping = asyncio.create_task(broker.stop())
        from_link = asyncio.create_task(neighbour.rest())
        await until(lambda: broker.draining, "it drains")
        assert broker.waiting
        subscriber.writer.transport.resume_reading()  # type: ignore[attr-defined]
        found = await subscriber.rest()
        assert [each["n"]["i"] for each in found[:-1]] == list(range(count))
        assert found[-1]["code"] == "draining"
        sent = [each for each in await from_link if each["op"] == "publish"]
        assert [each["n"]["i"] for each in sent] == list(range(count))
        publisher.close()
        assert await stopping == 0

    run(main())


def test_one_that_does_not_read_does_not_hold_up_the_end() -> None:
    async def main() -> None:
        broker = await start(drain=0.3, limits=Limits(queue=1 << 26))
        subscriber, publisher = await Wire.open(broker.port), await Wire.open(broker.port)
        await subscriber.ask({"op": "subscribe", "filter": "exists i", "id": 1})
        subscriber.writer.transport.pause_reading()  # type: ignore[attr-defined]
        for i in range(3_000):
            publisher.send({"op": "publish", "n": {"i": i, "p": "p" * 5_000}})
            await publisher.writer.drain()
        await publisher.ask({"op": "list", "id": 1})
        assert await broker.stop() > 0
        assert not broker.connections

    run(main())


def test_nobody_is_accepted_while_it_drains() -> None:
    async def main() -> None:
        broker = await start(drain=5.0)
        port = broker.port
        stopping = asyncio.create_task(broker.stop())
        await until(lambda: broker.draining, "it drains")
        await asyncio.sleep(0)
        refused = False
        try:
            wire = await Wire.open(port)
            refused = await wire.read() is None
        except OSError:
            refused = True
        assert refused
        await stopping

    run(main())

"""A client that does not read is cut off, and nobody else notices."""

from __future__ import annotations

import asyncio

import pytest

from posetlib.broker.settings import Limits

from .running import Wire, run, serving, until


def test_a_client_that_does_not_read_is_cut_off_and_nobody_else_notices(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with serving(limits=Limits(queue=200_000)) as broker:
            slow, good = await Wire.open(broker.port), await Wire.open(broker.port)
            publisher = await Wire.open(broker.port)
            for wire in (slow, good):
                await wire.ask({"op": "subscribe", "filter": "exists i", "id": 1})
            transport = slow.writer.transport
            transport.pause_reading()  # type: ignore[attr-defined]
            sent = 0
            most = 0

            async def read_all() -> list[int]:
                found = []
                while (message := await good.read()) and "end" not in message["n"]:
                    found.append(message["n"]["i"])
                return found

            reading = asyncio.create_task(read_all())
            while not broker.metrics.slow:
                for _ in range(20):
                    publisher.send({"op": "publish", "n": {"i": sent, "p": "p" * 4_000}})
                    sent += 1
                await publisher.writer.drain()
                most = max(most, broker.waiting)
                await asyncio.sleep(0)
            transport.resume_reading()  # type: ignore[attr-defined]
            got = await slow.rest()
            assert got[-1]["code"] == "slow"
            assert "200000 may wait" in got[-1]["text"]
            # What came before it is a start of what was sent: nothing missing, nothing twice.
            numbers = [each["n"]["i"] for each in got[:-1]]
            assert numbers == list(range(len(numbers)))
            await until(lambda: len(broker.connections) == 2, "the slow one is gone")
            publisher.send({"op": "publish", "n": {"i": -1, "end": 1}})
            assert await reading == list(range(sent))
            # What waited, what one read brought on top, and no more.
            assert most < 200_000 + 2 * 262_144

    run(main())
    assert "is cut off: it does not read" in caplog.text

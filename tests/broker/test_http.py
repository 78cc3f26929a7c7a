"""The pages for whoever watches."""

from __future__ import annotations

import asyncio
import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from posetlib.broker.server import Broker
from posetlib.tables import Snapshot

from .running import Wire, hello_of_a_broker, run, serving, until


async def ask(broker: Broker, request: bytes) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", broker.http_port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def get(path: str, host: str = "127.0.0.1", method: str = "GET") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def test_health_metrics_and_table() -> None:
    async def main() -> None:
        async with serving(http=0, name="A", neighbours={"far": ("127.0.0.1", 1)}) as broker:
            neighbour, client = await Wire.open(broker.port), await Wire.open(broker.port)
            neighbour.send(hello_of_a_broker("N"), {"op": "update", "subscribe": ["x > 3"]})
            await until(lambda: len(broker.router.table) == 1, "it is known")
            await client.ask({"op": "subscribe", "filter": "x > 5", "id": 1})
            client.send({"op": "publish", "n": {"x": 4}}, b"bad", {"op": "publish", "n": {"x": 7}})
            await until(lambda: broker.metrics.received == 2, "it is routed")

            status, body = await ask(broker, get("/healthz"))
            assert (status, json.loads(body)) == (
                200,
                {"status": "ok", "broker": "A", "neighbours": {"far": False, "N": True}},
            )
            status, body = await ask(broker, get("/table?now=1", "localhost:99"))
            snapshot = Snapshot.from_json(body.decode())
            assert status == 200
            assert {str(node.item): node.interfaces for node in snapshot.nodes} == {
                "x > 3": ("N",),
                "x > 5": ("(local clients)",),
            }
            status, body = await ask(broker, get("/metrics", "[::1]:80"))
            found = {
                sample.name.removeprefix("posetlib_broker_"): sample.value
                for family in text_string_to_metric_families(body.decode())
                for sample in family.samples
            }
            assert status == 200
            assert found["notifications_received_total"] == 2
            assert found["notifications_sent_total"] == 3
            assert found["refusals_total"] == 1
            assert found["neighbours"] == 1
            assert found["table_filters"] == 2
            assert (await ask(broker, get("/healthz", method="HEAD")))[1] == b""
            broker.draining = True
            assert (await ask(broker, get("/healthz")))[0] == 503

    run(main())


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get("/"), 404),
        (get("/table/"), 404),
        (get("/table", "broker.example"), 403),
        (get("/table", "127.0.0.1.example"), 403),
        (b"GET /table HTTP/1.1\r\n\r\n", 403),
        (b"GET /table HTTP/1.1\r\nHost: localhost\r\nHost: broker.example\r\n\r\n", 403),
        (get("/table", method="POST"), 405),
        (b"nonsense\r\n\r\n", 400),
        (b"\xff\xfe a b\r\n\r\n", 400),
        (b"GET /" + b"x" * 20_000, 431),
    ],
)
def test_what_is_not_answered(request_: bytes, status: int) -> None:
    async def main() -> None:
        async with serving(http=0) as broker:
            assert (await ask(broker, request_))[0] == status

    run(main())

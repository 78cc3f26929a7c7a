"""Three pages over HTTP, for whoever watches a broker; on loopback alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from prometheus_client import CONTENT_TYPE_LATEST

from posetlib.broker.lines import encode
from posetlib.broker.settings import is_loopback

if TYPE_CHECKING:
    from posetlib.broker.server import Broker

__all__ = ["serve"]

_HEAD_BYTES: Final = 8_192
_SECONDS: Final = 10.0
_JSON: Final = "application/json; charset=utf-8"
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


class _Answer(NamedTuple):
    status: int
    body: bytes
    kind: str = "text/plain; charset=utf-8"


async def serve(broker: Broker, port: int) -> asyncio.Server:
    """Serve ``/healthz``, ``/metrics`` and ``/table`` on a port of 127.0.0.1."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                writer.write(await _respond(broker, reader))
                await writer.drain()
        except (OSError, EOFError, TimeoutError):
            pass  # whoever asked is gone, or never came to the end of the question
        finally:
            writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", port, limit=_HEAD_BYTES)


async def _respond(broker: Broker, reader: asyncio.StreamReader) -> bytes:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.LimitOverrunError:
        return _written(_Answer(431, b"the request is too long\n"))
    request, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    words = request.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return _written(_Answer(400, b"this is no HTTP request\n"))
    method, target, _ = words
    hosts = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:")]
    if len(hosts) != 1 or not is_loopback(_without_port(hosts[0])):
        # A page of some site, whose name was made to point here, must not read it.
        return _written(_Answer(403, b"ask for 127.0.0.1 or localhost\n"))
    if method not in {"GET", "HEAD"}:
        return _written(_Answer(405, b"only GET and HEAD\n"))
    return _written(_page(broker, target.partition("?")[0]), head_only=method == "HEAD")


def _page(broker: Broker, path: str) -> _Answer:
    if path == "/healthz":
        health = {
            "status": "draining" if broker.draining else "ok",
            "broker": broker.name,
            "neighbours": {
                name: broker.links.connection_to(name) is not None
                for name in dict.fromkeys([*broker.settings.neighbours, *broker.router.neighbours])
            },
        }
        return _Answer(503 if broker.draining else 200, encode(health) + b"\n", _JSON)
    if path == "/metrics":
        return _Answer(200, broker.metrics.text(), CONTENT_TYPE_LATEST)
    if path == "/table":
        return _Answer(200, broker.router.table.snapshot().to_json().encode(), _JSON)
    return _Answer(404, b"there are /healthz, /metrics and /table\n")


def _without_port(host: str) -> str:
    """Return the host of a Host header.

    >>> _without_port("127.0.0.1:80"), _without_port("[::1]:80"), _without_port("localhost")
    ('127.0.0.1', '::1', 'localhost')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _written(answer: _Answer, *, head_only: bool = False) -> bytes:
    head = (
        f"HTTP/1.1 {answer.status} {_REASONS[answer.status]}\r\n"
        f"Content-Type: {answer.kind}\r\nContent-Length: {len(answer.body)}\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode("latin-1") + (b"" if head_only else answer.body)

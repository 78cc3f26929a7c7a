"""Clients of a broker, for programs with threads and for programs with asyncio.

>>> from posetlib.broker.client import connect
>>> with connect("127.0.0.1:7420", name="alice") as client:  # doctest: +SKIP
...     client.subscribe("x > 3")
...     for notification in client:
...         print(notification)
"""

from __future__ import annotations

import asyncio
import json
import queue
import socket
import ssl
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from typing import Any, Final

from posetlib.errors import BrokerError
from posetlib.filters.filter import Filter

__all__ = ["AsyncClient", "Client", "connect", "connect_async", "read_address"]

#: Seconds that a broker has to answer, if nothing else is said.
_TIMEOUT: Final = 30.0
#: What a broker says of a line without an id, which is a publication; the connection goes on.
_OF_A_LINE: Final = frozenset({"line", "too-long", "op", "field"})


def read_address(text: str) -> tuple[str, int]:
    """Return host and port; ValueError if it is no address.

    >>> read_address("127.0.0.1:7420"), read_address("[::1]:7420")
    (('127.0.0.1', 7420), ('::1', 7420))
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise ValueError(f"an address is HOST:PORT, not {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


class _Talk:
    """The talk with a broker, without a socket: lines to send, and what lines that came mean.

    Both clients are this with their own way to wait.
    """

    def __init__(self) -> None:
        self._ids = 0
        self._asked: dict[int, Future[dict[str, Any]]] = {}
        #: Why the talk is over, None while it is not.
        self.over: BrokerError | None = None
        #: What the broker said of a publication that it refused, until somebody is told.
        self._refused: BrokerError | None = None

    def request(self, op: str, **fields: Any) -> tuple[bytes, Future[dict[str, Any]]]:
        """Return the line that asks for something, and what will have the answer."""
        self._ids += 1
        answer: Future[dict[str, Any]] = Future()
        self._asked[self._ids] = answer
        return _line(op, id=self._ids, **fields), answer

    def take(self, line: bytes) -> tuple[dict[str, Any] | None, bytes]:
        """Return the notification that a line brings, and what is to be sent for it."""
        data = json.loads(line)
        op = data["op"]
        if op == "publish":
            return data["n"], b""
        if op == "ping":
            return None, _line("pong")
        answer = self._asked.pop(data.get("id", -1), None)
        if op == "error":
            error = BrokerError(data["text"], data["code"])
            if answer is not None:
                answer.set_exception(error)
            elif error.code in _OF_A_LINE:
                self._refused = self._refused or error
            else:
                self.over = error
        elif answer is not None:
            answer.set_result(data)
        return None, b""

    def tell_refused(self) -> None:
        """Raise BrokerError, once, if a publication was refused."""
        refused, self._refused = self._refused, None
        if refused is not None:
            raise refused

    def why(self, reason: str) -> BrokerError:
        """Return why the talk is over: what the broker said, or else this reason."""
        return self.over or BrokerError(reason)

    def end(self, reason: str) -> None:
        """Let all who wait know that the connection is gone; what the broker said comes first."""
        self.over = self.why(reason)
        for answer in list(self._asked.values()):
            if not answer.done():
                answer.set_exception(self.over)
        self._asked.clear()


def _line(op: str, **fields: Any) -> bytes:
    named = {name: value for name, value in fields.items() if value is not None}
    text = json.dumps({"op": op, **named}, separators=(",", ":"), allow_nan=False, default=_as_list)
    return text.encode() + b"\n"


def _as_list(value: object) -> list[Any]:
    if isinstance(value, set | frozenset):
        return list(value)
    raise TypeError(f"{value!r} cannot be published: JSON has no {type(value).__name__}")


def _published(notifications: Iterable[Mapping[str, Any]]) -> bytes:
    try:
        return b"".join([_line("publish", n=dict(each)) for each in notifications])
    except ValueError as error:
        # NaN, an infinity, or a value that holds itself.
        raise ValueError(f"a notification cannot be written as JSON: {error}") from None


class Client:
    """A connection to a broker; made by ``connect``. One thread may iterate, others may call.

    A call that the broker refuses raises BrokerError. The notifications end when the client is
    closed, and with a BrokerError when the connection breaks.
    """

    def __init__(self, stream: socket.socket, timeout: float = _TIMEOUT) -> None:
        self._stream = stream
        self._timeout = timeout
        self._talk = _Talk()
        self._sending = threading.Lock()
        self._arrived: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._closing = False
        self._reader = threading.Thread(target=self._read, name="posetlib-client", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            with self._stream.makefile("rb") as lines:
                for line in lines:
                    notification, answer = self._talk.take(line)
                    if notification is not None:
                        self._arrived.put(notification)
                    if answer:
                        self._send(answer)
            self._talk.end("the broker closed the connection")
        except (OSError, ValueError) as error:
            self._talk.end(f"the connection broke: {error}")
        self._hang_up()
        self._arrived.put(None)

    def _hang_up(self) -> None:
        with suppress(OSError):  # it is gone already
            self._stream.shutdown(socket.SHUT_RDWR)

    def _send(self, data: bytes) -> None:
        try:
            with self._sending:
                self._stream.sendall(data)
        except OSError as error:
            raise self._talk.why(f"the connection broke: {error}") from None

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Send a request and return the answer."""
        line, answer = self._talk.request(op, **fields)
        if self._talk.over is not None:
            raise self._talk.over
        self._send(line)
        try:
            return answer.result(self._timeout)
        except TimeoutError:
            raise self._talk.why("the broker does not answer") from None

    def subscribe(self, filter: str | Filter, ttl: float | None = None) -> None:
        """Ask for the notifications that a filter matches, for some seconds or for good."""
        self.ask("subscribe", filter=str(filter), ttl=ttl)

    def unsubscribe(self, filter: str | Filter) -> None:
        """Ask for them no longer."""
        self.ask("unsubscribe", filter=str(filter))

    def replace(self, old: str | Filter, new: str | Filter, ttl: float | None = None) -> None:
        """Hold one subscription instead of another, without a moment in between."""
        self.ask("replace", old=str(old), filter=str(new), ttl=ttl)

    def advertise(self, filter: str | Filter, ttl: float | None = None) -> None:
        """Announce what will be published."""
        self.ask("advertise", filter=str(filter), ttl=ttl)

    def unadvertise(self, filter: str | Filter) -> None:
        """Take an announcement back."""
        self.ask("unadvertise", filter=str(filter))

    def publish(self, *notifications: Mapping[str, Any]) -> None:
        """Publish notifications, and do not wait.

        BrokerError if the broker refused an earlier one; ValueError for NaN and infinities, which
        JSON does not have.
        """
        self._talk.tell_refused()
        self._send(_published(notifications))

    def get(self, timeout: float | None = None) -> dict[str, Any] | None:
        """Return the next notification, None if none came in time; BrokerError at the end."""
        try:
            found = self._arrived.get(timeout=timeout)
        except queue.Empty:
            return None
        if found is None:
            self._arrived.put(None)  # for the next call, too
            raise self._talk.why("the client was closed")
        return found

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            found = self._arrived.get()
            if found is None:
                self._arrived.put(None)
                if self._closing or self._talk.over is None:
                    return
                raise self._talk.over
            yield found

    def close(self) -> None:
        """Say good bye and wait until the broker has taken all that was published.

        BrokerError if it refused some of that.
        """
        self._closing = True
        with suppress(BrokerError):  # it is gone already
            if self._talk.over is None:
                self._send(_line("bye"))
                self._reader.join(self._timeout)
        self._hang_up()
        self._reader.join(self._timeout)
        self._stream.close()
        self._talk.tell_refused()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # Another error that is on its way out says more.
        with suppress(BrokerError) if kind is not None else nullcontext():
            self.close()


def connect(
    address: str,
    name: str | None = None,
    token: str | None = None,
    tls: ssl.SSLContext | None = None,
    timeout: float = _TIMEOUT,
) -> Client:
    """Return a client; with a name the broker remembers what it holds while it is away.

    ``timeout``: the seconds that the broker has for an answer.
    """
    host, port = read_address(address)
    try:
        stream = socket.create_connection((host, port), timeout)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            stream = tls.wrap_socket(stream, server_hostname=host)
    except OSError as error:
        raise BrokerError(f"no broker answers at {address}: {error}") from None
    stream.settimeout(None)
    client = Client(stream, timeout)
    try:
        client.ask("hello", client=name, token=token, version=1)
    except BaseException:
        client.close()
        raise
    return client


class AsyncClient:
    """The same for asyncio; made by ``connect_async``."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        timeout: float = _TIMEOUT,
    ) -> None:
        self._writer = writer
        self._timeout = timeout
        self._talk = _Talk()
        self._arrived: deque[dict[str, Any]] = deque()
        self._news = asyncio.Event()
        self._closing = False
        self._reading = asyncio.create_task(self._read(reader))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        reason = "the broker closed the connection"
        try:
            while line := await reader.readline():
                notification, answer = self._talk.take(line)
                if notification is not None:
                    self._arrived.append(notification)
                    self._news.set()
                if answer:
                    self._writer.write(answer)
        except (OSError, ValueError) as error:
            reason = f"the connection broke: {error}"
        finally:
            self._talk.end(reason)
            self._writer.close()
            self._news.set()

    async def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Send a request and return the answer."""
        line, answer = self._talk.request(op, **fields)
        if self._talk.over is not None:
            raise self._talk.over
        self._writer.write(line)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), self._timeout)
        except TimeoutError:
            raise self._talk.why("the broker does not answer") from None

    async def subscribe(self, filter: str | Filter, ttl: float | None = None) -> None:
        """Ask for the notifications that a filter matches, for some seconds or for good."""
        await self.ask("subscribe", filter=str(filter), ttl=ttl)

    async def unsubscribe(self, filter: str | Filter) -> None:
        """Ask for them no longer."""
        await self.ask("unsubscribe", filter=str(filter))

    async def replace(self, old: str | Filter, new: str | Filter, ttl: float | None = None) -> None:
        """Hold one subscription instead of another, without a moment in between."""
        await self.ask("replace", old=str(old), filter=str(new), ttl=ttl)

    async def advertise(self, filter: str | Filter, ttl: float | None = None) -> None:
        """Announce what will be published."""
        await self.ask("advertise", filter=str(filter), ttl=ttl)

    async def unadvertise(self, filter: str | Filter) -> None:
        """Take an announcement back."""
        await self.ask("unadvertise", filter=str(filter))

    async def publish(self, *notifications: Mapping[str, Any]) -> None:
        """Publish notifications; waits only while too much is waiting to be sent.

        It raises what ``Client.publish`` raises.
        """
        self._talk.tell_refused()
        if self._talk.over is not None:
            raise self._talk.over
        self._writer.write(_published(notifications))
        await self._writer.drain()

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        while True:
            while self._arrived:
                yield self._arrived.popleft()
            if self._talk.over is not None:
                if self._closing:
                    return
                raise self._talk.over
            self._news.clear()
            await self._news.wait()

    async def close(self) -> None:
        """Say good bye and wait until the broker has taken all that was published.

        BrokerError if it refused some of that.
        """
        self._closing = True
        if self._talk.over is None:
            self._writer.write(_line("bye"))
            await asyncio.wait([self._reading], timeout=self._timeout)
        self._reading.cancel()
        self._writer.close()
        await asyncio.wait([self._reading])
        self._talk.tell_refused()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        with suppress(BrokerError) if kind is not None else nullcontext():
            await self.close()


async def connect_async(
    address: str,
    name: str | None = None,
    token: str | None = None,
    tls: ssl.SSLContext | None = None,
    timeout: float = _TIMEOUT,
) -> AsyncClient:
    """Return a client for asyncio; as ``connect``."""
    host, port = read_address(address)
    try:
        streams = await asyncio.open_connection(host, port, ssl=tls, limit=1 << 22)
    except OSError as error:
        raise BrokerError(f"no broker answers at {address}: {error}") from None
    client = AsyncClient(*streams, timeout)
    try:
        await client.ask("hello", client=name, token=token, version=1)
    except BaseException:
        await client.close()
        raise
    return client

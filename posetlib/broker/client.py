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

from posetlib.broker.travelling import Travel
from posetlib.errors import BrokerError
from posetlib.filters.filter import Filter
from posetlib.models import Document, xml_value

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

    def __init__(self, travel: Travel | None = None) -> None:
        #: What the client carries from broker to broker, None if it does not move.
        self.travel = travel
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
            is_new = self.travel is None or self.travel.accept(data.get("mark"))
            return (data["n"] if is_new else None), b""
        if self.travel is not None and op == "settled":
            self.travel.settle(data)
            return None, self.travel.drain()
        if self.travel is not None and op == "welcome":
            self.travel.welcomed(data)
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

    def drain(self) -> bytes:
        """Return what was published meanwhile and may be sent now."""
        return b"" if self.travel is None else self.travel.drain()

    def published(self, notifications: Iterable[Mapping[str, Any]]) -> bytes:
        """Return what is to be sent for notifications now."""
        data = _published(notifications)
        return data if self.travel is None else self.travel.outgoing(data)

    def granted(self, op: str, fields: dict[str, Any]) -> None:
        """Note that the broker did what it was asked for."""
        if self.travel is not None:
            self.travel.hold(op, fields)

    def hello(self, name: str | None, token: str | None) -> dict[str, Any]:
        """Return the fields of the first line."""
        who = {"client": name} if self.travel is None else self.travel.hello()
        return {**who, "token": token, "version": 1}

    def moving(self) -> Travel:
        """Return what the client carries; ValueError if it does not move."""
        if self.travel is None:
            raise ValueError("only a client with a session moves: connect(address, session=NAME)")
        return self.travel

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
        if self.travel is not None:
            self.travel.broken(self.over)
        for answer in list(self._asked.values()):
            if not answer.done():
                answer.set_exception(self.over)
        self._asked.clear()


def _line(op: str, **fields: Any) -> bytes:
    named = {name: value for name, value in fields.items() if value is not None}
    text = json.dumps({"op": op, **named}, separators=(",", ":"), allow_nan=False, default=_plain)
    return text.encode() + b"\n"


def _plain(value: object) -> Any:
    """Return a value that JSON does not have as one that it has."""
    if isinstance(value, set | frozenset):
        return list(value)
    if isinstance(value, Document):
        return xml_value(value)
    if isinstance(value, Mapping):
        return dict(value)
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

    def __init__(
        self,
        stream: socket.socket,
        timeout: float = _TIMEOUT,
        travel: Travel | None = None,
        secrets: tuple[str | None, ssl.SSLContext | None] = (None, None),
    ) -> None:
        self._timeout = timeout
        self._secrets = secrets
        self._sending = threading.Lock()
        #: Notifications, and each talk that is over.
        self._arrived: queue.SimpleQueue[dict[str, Any] | _Talk] = queue.SimpleQueue()
        self._closing = self._moving = False
        self._begin(stream, travel)

    def _begin(self, stream: socket.socket, travel: Travel | None) -> None:
        self._stream = stream
        self._talk = _Talk(travel)
        self._reader = threading.Thread(target=self._read, name="posetlib-client", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        talk = self._talk
        try:
            with self._stream.makefile("rb") as lines:
                for line in lines:
                    notification, answer = talk.take(line)
                    if notification is not None:
                        self._arrived.put(notification)
                    while answer:
                        self._send(answer)
                        answer = talk.drain()
            talk.end("the broker closed the connection")
        except (OSError, ValueError, BrokerError) as error:
            talk.end(f"the connection broke: {error}")
        self._hang_up()
        if not self._moving:
            self._arrived.put(talk)

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
            found = answer.result(self._timeout)
        except TimeoutError:
            raise self._talk.why("the broker does not answer") from None
        self._talk.granted(op, fields)
        return found

    def move(self, address: str) -> None:
        """Leave the broker and go on at another one, or at the same one again.

        The client needs a ``session``. It takes along what it holds; what was published meanwhile
        comes after it. BrokerError if the other one cannot be reached, or refuses: the session
        waits where it was, and the client may move again. Nobody else may call meanwhile.
        """
        travel = self._talk.moving()
        self._moving, self._closing = True, False
        try:
            travel.leave()
            self._leave()
            travel.leave()  # once more: the end of the talk is not that of the travel
            token, tls = self._secrets
            self._begin(_stream_to(address, tls, self._timeout), travel)
            self.ask("hello", **self._talk.hello(None, token))
        except BaseException:
            self._hang_up()
            self._reader.join(self._timeout)
            self._talk.end("the client is at no broker")
            self._arrived.put(self._talk)
            raise
        finally:
            self._moving = False
        if not self._reader.is_alive():
            self._arrived.put(self._talk)  # it ended, and took this for a move

    def wait_settled(self, timeout: float | None = None) -> dict[str, Any]:
        """Wait until the last broker has handed over.

        Returns how many notifications were ``missed`` because a queue was full, and ``without``:
        the broker that did not hand over in time, if it was so. TimeoutError.
        """
        return self._talk.moving().settled.result(timeout)

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
        self._send(self._talk.published(notifications))

    def get(self, timeout: float | None = None) -> dict[str, Any] | None:
        """Return the next notification, None if none came in time; BrokerError at the end."""
        try:
            found = self._arrived.get(timeout=timeout)
            while isinstance(found, _Talk) and self._went_on(found):
                found = self._arrived.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(found, _Talk):
            self._arrived.put(found)  # for the next call, too
            raise self._talk.why("the client was closed")
        return found

    def _went_on(self, talk: _Talk) -> bool:
        """Return whether the client moved since a talk was over."""
        return talk is not self._talk

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            found = self._arrived.get()
            if isinstance(found, _Talk):
                if self._went_on(found):
                    continue
                self._arrived.put(found)
                if self._closing or self._talk.over is None:
                    return
                raise self._talk.over
            yield found

    def close(self) -> None:
        """Say good bye and wait until the broker has taken all that was published.

        BrokerError if it refused some of that.
        """
        self._closing = True
        self._leave()
        self._talk.tell_refused()

    def _leave(self) -> None:
        with suppress(BrokerError):  # it is gone already
            if self._talk.over is None:
                self._send(_line("bye"))
                self._reader.join(self._timeout)
        self._hang_up()
        self._reader.join(self._timeout)
        self._stream.close()

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
    session: str | None = None,
) -> Client:
    """Return a client; with a name the broker remembers what it holds while it is away.

    With the name of a ``session`` instead, it may ``move`` to another broker, and what is published
    while it is away waits. ``timeout``: the seconds that the broker has for an answer.
    """
    travel = _travel(name, session)
    client = Client(_stream_to(address, tls, timeout), timeout, travel, (token, tls))
    try:
        client.ask("hello", **client._talk.hello(name, token))
    except BaseException:
        client.close()
        raise
    return client


def _travel(name: str | None, session: str | None) -> Travel | None:
    if name is not None and session is not None:
        raise ValueError("a client has a name or a session, not both")
    return None if session is None else Travel(session)


def _stream_to(address: str, tls: ssl.SSLContext | None, timeout: float) -> socket.socket:
    host, port = read_address(address)
    try:
        stream = socket.create_connection((host, port), timeout)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            stream = tls.wrap_socket(stream, server_hostname=host)
    except OSError as error:
        raise BrokerError(f"no broker answers at {address}: {error}") from None
    stream.settimeout(None)
    return stream


class AsyncClient:
    """The same for asyncio; made by ``connect_async``."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        timeout: float = _TIMEOUT,
        travel: Travel | None = None,
        secrets: tuple[str | None, ssl.SSLContext | None] = (None, None),
    ) -> None:
        self._timeout = timeout
        self._secrets = secrets
        self._arrived: deque[dict[str, Any]] = deque()
        self._news = asyncio.Event()
        self._closing = self._moving = False
        self._begin(reader, writer, travel)

    def _begin(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, travel: Travel | None
    ) -> None:
        self._writer = writer
        self._talk = _Talk(travel)
        self._reading = asyncio.create_task(self._read(reader))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        reason = "the broker closed the connection"
        try:
            while line := await reader.readline():
                notification, answer = self._talk.take(line)
                if notification is not None:
                    self._arrived.append(notification)
                    self._news.set()
                while answer:
                    self._writer.write(answer)
                    answer = self._talk.drain()
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
            found = await asyncio.wait_for(asyncio.wrap_future(answer), self._timeout)
        except TimeoutError:
            raise self._talk.why("the broker does not answer") from None
        self._talk.granted(op, fields)
        return found

    async def move(self, address: str) -> None:
        """Leave the broker and go on at another one; as ``Client.move``."""
        travel = self._talk.moving()
        self._moving, self._closing = True, False
        try:
            travel.leave()
            await self._leave()
            travel.leave()  # once more: the end of the talk is not that of the travel
            token, tls = self._secrets
            self._begin(*await _streams_to(address, tls), travel)
            await self.ask("hello", **self._talk.hello(None, token))
        except BaseException:
            self._reading.cancel()
            self._talk.end("the client is at no broker")
            raise
        finally:
            self._moving = False
            self._news.set()

    async def wait_settled(self, timeout: float | None = None) -> dict[str, Any]:
        """Wait until the last broker has handed over; as ``Client.wait_settled``."""
        settled = asyncio.wrap_future(self._talk.moving().settled)
        return await asyncio.wait_for(asyncio.shield(settled), timeout)

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
        self._writer.write(self._talk.published(notifications))
        await self._writer.drain()

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        while True:
            while self._arrived:
                yield self._arrived.popleft()
            if self._talk.over is not None and not self._moving:
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
        await self._leave()
        self._talk.tell_refused()

    async def _leave(self) -> None:
        if self._talk.over is None:
            self._writer.write(_line("bye"))
            await asyncio.wait([self._reading], timeout=self._timeout)
        self._reading.cancel()
        self._writer.close()
        await asyncio.wait([self._reading])

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
    session: str | None = None,
) -> AsyncClient:
    """Return a client for asyncio; as ``connect``."""
    travel = _travel(name, session)
    client = AsyncClient(*await _streams_to(address, tls), timeout, travel, (token, tls))
    try:
        await client.ask("hello", **client._talk.hello(name, token))
    except BaseException:
        await client.close()
        raise
    return client


async def _streams_to(
    address: str, tls: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = read_address(address)
    try:
        return await asyncio.open_connection(host, port, ssl=tls, limit=1 << 22)
    except OSError as error:
        raise BrokerError(f"no broker answers at {address}: {error}") from None

"""The broker: one router, its connections, and the time that passes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable
from typing import Any, Final

from posetlib.broker import http
from posetlib.broker.clients import Newcomer
from posetlib.broker.connection import Connection
from posetlib.broker.links import Link, Links
from posetlib.broker.metrics import Metrics
from posetlib.broker.moves import Inbox, Moves
from posetlib.broker.sessions import Session, Sessions
from posetlib.broker.settings import Settings
from posetlib.broker.state import State
from posetlib.errors import StateFileError
from posetlib.routing import Update

__all__ = ["Broker"]

_log: Final = logging.getLogger(__name__)


class Broker:
    """Serves one router over TCP.

    All that one read brings is decoded, routed and written before the next read. Lines that are to
    be sent are posted, and written when the read is done with: one write for each connection.
    """

    def __init__(self, settings: Settings) -> None:
        settings.check()
        self.settings = settings
        self.router = settings.router.make()
        self.loop = asyncio.get_running_loop()
        self.name = settings.name_at(settings.port)
        self.links = Links(self)
        self._state = None if settings.state is None else State(settings.state)
        try:
            self.sessions = Sessions(self.router, self.post_updates, settings.limits, self._state)
            if self.sessions.restored and not settings.moves:
                raise StateFileError(
                    f"the state file {settings.state} has clients that move: start the broker "
                    "with --moves, or with another file"
                )
            #: Clients that move, None if none may.
            self.moves = Moves(self, self._state) if settings.moves else None
        except BaseException:
            self._close_state()
            raise
        self.metrics = Metrics(self)
        self.connections: dict[Connection, None] = {}
        self.draining = False
        #: Whether nothing is read any more, since the broker ends.
        self._reading_is_over = False
        self._outgoing: dict[Connection, list[bytes]] = {}
        #: Links with much to write: nothing is read that might be meant for them.
        self._behind: set[Connection] = set()
        #: Grows with every read.
        self._reads = 0
        self._server: asyncio.Server | None = None
        self._http: asyncio.Server | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._last_tick = self.loop.time()

    # -- starting and ending -----------------------------------------------------------------------

    async def start(self) -> None:
        """Listen, and call the neighbours; OSError if the address is taken."""
        settings = self.settings
        try:
            self._server = await self.loop.create_server(
                lambda: Connection(self, Newcomer(self)),
                settings.host,
                settings.port,
                ssl=settings.tls.for_listening(),
                backlog=1024,
            )
            self.name = settings.name_at(self.port)
            if settings.http is not None:
                self._http = await http.serve(self, settings.http)
        except BaseException:
            await self._stop_listening()
            self._close_state()
            raise
        self.links.start()
        self.watch_leases()
        self._tick()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return _port_of(self._server)

    @property
    def http_port(self) -> int:
        """The port of the pages."""
        return _port_of(self._http)

    async def stop(self) -> int:
        """Send all that was accepted, within the time that the settings give, and end.

        Returns the bytes that nobody read in time.
        """
        self.draining = True
        until = self.loop.time() + self.settings.drain
        if self._server is not None:
            self._server.close()
        await self.links.stop()
        await self._read_what_has_arrived(until)
        self._reading_is_over = True
        self._hold_back()
        while self.waiting and self.loop.time() < until:
            await asyncio.sleep(0.01)
        lost = self.waiting
        for connection in list(self.connections):
            connection.end("draining", "the broker ends")
        until = max(until, self.loop.time() + 0.5)
        while self.connections and self.loop.time() < until:
            await asyncio.sleep(0.01)
        for connection in list(self.connections):
            connection.abort()
        for timer in self._timers.values():
            timer.cancel()
        # Connections that were aborted are told so in the next round of the loop.
        await asyncio.sleep(0)
        await self._stop_listening()
        self._close_state()
        return lost

    async def _read_what_has_arrived(self, until: float) -> None:
        """Wait until nothing more was there to be read, but not until the very end."""
        quiet_until = self.loop.time() + self.settings.drain / 2
        while self.loop.time() < min(until, quiet_until):
            before = self._reads
            await asyncio.sleep(0.05)
            if self._reads == before and not self._behind:
                return

    async def _stop_listening(self) -> None:
        for server in (self._server, self._http):
            if server is not None:
                server.close()

    def _close_state(self) -> None:
        if self._state is not None:
            self._state.close()

    # -- connections -------------------------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        """Be told of a new connection."""
        self.metrics.accepted += 1
        self.connections[connection] = None
        if self._behind:
            connection.hold_back(True)
        most = self.settings.limits.connections
        if len(self.connections) > most and isinstance(connection.role, Newcomer):
            connection.end("limit", f"there are {most} connections, and no more may come")

    def closed(self, connection: Connection) -> None:
        """Be told that a connection is gone."""
        self.connections.pop(connection, None)
        self._outgoing.pop(connection, None)
        self.relieved(connection)
        self.flush()

    def received(self, connection: Connection, lines: list[bytes], *, flat: bool) -> None:
        """Act upon what one read brought, and send what follows from it."""
        self._reads += 1
        try:
            connection.role.lines(connection, lines, flat=flat)
        except Exception:  # noqa: BLE001 - a fault of ours ends one connection, not the broker
            _log.exception("a fault in the broker; the connection to %s ends", connection.peer)
            connection.end("internal", "a fault in the broker; its log says more")
        finally:
            self.flush()

    @property
    def waiting(self) -> int:
        """The bytes that wait to be written, to all connections."""
        return sum(connection.waiting for connection in self.connections)

    def congested(self, connection: Connection) -> None:
        """Read nothing but from a link that is behind, until it is not.

        In a tree nobody waits for itself: a link waits for one that leads further away.
        """
        if isinstance(connection.role, Link):
            self._behind.add(connection)
            self._hold_back()

    def relieved(self, connection: Connection) -> None:
        """Read again, if that was the last link that was behind."""
        if connection in self._behind:
            self._behind.discard(connection)
            self._hold_back()

    def _hold_back(self) -> None:
        for connection in self.connections:
            connection.hold_back(self._reading_is_over or bool(self._behind - {connection}))

    # -- sending -----------------------------------------------------------------------------------

    def post(self, connection: Connection, line: bytes) -> None:
        """Let a line be sent when all that was read is done with."""
        self._outgoing.setdefault(connection, []).append(line)

    def post_updates(self, updates: list[Update]) -> None:
        """Let neighbours be told."""
        for update in updates:
            self.links.post(update)

    def flush(self) -> None:
        """Write what was posted, once for each connection."""
        # A connection that is cut off for not reading may leave something to tell the others.
        while self._outgoing:
            outgoing, self._outgoing = self._outgoing, {}
            for connection, lines in outgoing.items():
                lines.append(b"")
                connection.write(b"\n".join(lines))

    def publish(
        self, source: Hashable, lines: list[bytes], notifications: list[dict[str, Any]]
    ) -> None:
        """Route notifications of one source; ``lines`` are what is sent for each."""
        found = self.router.route_many(notifications, source)
        if self.moves is not None and isinstance(source, Session):
            lines = self.moves.marked(lines)
        metrics = self.metrics
        metrics.received += len(lines)
        metrics.batches += 1
        metrics.sent += sum(map(len, found))
        absent: list[bytes] = []
        # Few different sets of destinations for many notifications.
        known: dict[frozenset[Hashable], list[Callable[[bytes], None]]] = {}
        for line, destinations in zip(lines, found, strict=True):
            adders = known.get(destinations)
            if adders is None:
                adders = known[destinations] = [
                    self._queue_of(each, absent).append for each in destinations
                ]
            for add in adders:
                add(line)
        metrics.sent -= len(absent)
        metrics.absent += len(absent)

    def _queue_of(self, destination: Hashable, absent: list[bytes]) -> list[bytes] | Inbox:
        """Return where the lines for a destination are posted."""
        if self.moves is not None and isinstance(destination, Session):
            inbox = None if destination.epoch is None else self.moves.inbox(destination)
            if inbox is not None:
                return inbox
        connection = (
            destination.connection
            if isinstance(destination, Session)
            else self.links.connection_to(destination)
        )
        return absent if connection is None else self._outgoing.setdefault(connection, [])

    # -- time --------------------------------------------------------------------------------------

    def _after(self, seconds: float, name: str, call: Callable[[], None]) -> None:
        timer = self._timers.get(name)
        if timer is not None:
            timer.cancel()
        self._timers[name] = self.loop.call_later(seconds, call)

    def watch_leases(self) -> None:
        """Wake up when the next subscription ends by itself."""
        seconds = self.router.leases.next_end()
        if seconds is not None:
            # A timer may be a little early by the other clock.
            self._after(min(seconds + 0.001, 3_600.0), "leases", self._expire)

    def _expire(self) -> None:
        self.sessions.expire()
        self.flush()
        self.watch_leases()

    def _tick(self) -> None:
        """Look after connections that are silent, and clients that stay away."""
        now, keepalive = self.loop.time(), self.settings.keepalive
        # A broker that was busy for long has not yet read what was said meanwhile.
        was_busy = now - self._last_tick > keepalive
        self._last_tick = now
        for connection in list(self.connections):
            if connection.ended:
                continue
            silence = 0.0 if was_busy or connection.held_back else now - connection.heard
            if silence > 2 * keepalive:
                connection.end("silent", f"nothing was heard for {silence:.1f} seconds")
                continue
            if now - connection.asked >= keepalive:
                line = connection.role.silent(connection, silence)
                if line is not None and not connection.ended:
                    connection.asked = now
                    self.post(connection, line)
        self.sessions.forget_long_absent(self.settings.keep)
        if self.moves is not None:
            self.moves.tick()
        self.flush()
        self._after(min(keepalive / 4, self.settings.handover / 4, 5.0), "tick", self._tick)


def _port_of(server: asyncio.Server | None) -> int:
    if server is None or not server.sockets:
        raise ValueError("the broker does not listen")
    port: int = server.sockets[0].getsockname()[1]
    return port

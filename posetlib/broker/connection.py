"""One connection: bytes in and lines out, with its limits; who is at the other end is not known."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final, Protocol, cast

from posetlib.broker.lines import LineReader
from posetlib.broker.protocol import error

if TYPE_CHECKING:
    from posetlib.broker.server import Broker

__all__ = ["Connection", "Role"]

_log: Final = logging.getLogger(__name__)
# Seconds that the other end has to read its last line and to hang up.
_LAST_WORDS = 3.0


class Role(Protocol):
    """Who is at the other end: what its lines mean, and what it means that it is gone."""

    def lines(self, connection: Connection, lines: list[bytes], *, flat: bool) -> None:
        """Act upon lines; ``flat`` as in ``LineReader``."""

    def gone(self, connection: Connection) -> None:
        """Forget the connection; called once."""

    def silent(self, connection: Connection, seconds: float) -> bytes | None:
        """Return a line to send to a connection that was silent for so long."""


class Connection(asyncio.Protocol):
    """Reads lines for its role, and writes what the broker posts.

    ``end`` says a last word. After it lines are read and thrown away until the other end hangs up:
    to close with bytes unread would reset the connection, and lose what is still on its way there.
    """

    def __init__(self, broker: Broker, role: Role) -> None:
        self._broker = broker
        self._loop = broker.loop
        self.role = role
        self.queue_limit = broker.settings.limits.queue
        self.reader = LineReader(broker.settings.limits.line)
        #: Lines in a row that made no sense.
        self.bad_lines = 0
        #: When the last bytes arrived, by the clock of the loop.
        self.heard = self._loop.time()
        #: The last time that it was asked whether it is there.
        self.asked = self.heard
        self.ended = False
        #: Whether nothing is read because a neighbour is behind.
        self.held_back = False
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle | None = None

    # -- called by asyncio -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to read."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=self._broker.settings.limits.high_water)
        self._broker.opened(self)

    def data_received(self, data: bytes) -> None:
        """Hand complete lines to the role."""
        self.heard = self._loop.time()
        if self.ended:
            return
        lines = self.reader.feed(data)
        if lines:
            self._broker.received(self, lines, flat=self.reader.flat)

    def pause_writing(self) -> None:
        """Be told that much waits to be written."""
        self._broker.congested(self)

    def resume_writing(self) -> None:
        """Be told that little waits to be written."""
        self._broker.relieved(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Be told that the connection is gone."""
        if self._timer is not None:
            self._timer.cancel()
        self._leave()
        self._broker.closed(self)

    # -- called by the broker ----------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes; a connection that lets too many wait is cut off."""
        if self.ended:
            return
        self._transport.write(data)
        waiting = self._transport.get_write_buffer_size()
        if waiting > self.queue_limit:
            self._broker.metrics.slow += 1
            # It may never read the last word, and whoever runs it asks why it hears nothing.
            _log.warning("%s is cut off: it does not read, %s bytes wait", self.peer, waiting)
            self.end(
                "slow",
                f"cut off: {waiting} bytes waited to be read, and {self.queue_limit} may wait",
            )

    @property
    def waiting(self) -> int:
        """The bytes that wait to be written."""
        return self._transport.get_write_buffer_size()

    @property
    def peer(self) -> str:
        """The address of the other end, for people."""
        address = self._transport.get_extra_info("peername")
        return f"{address[0]}:{address[1]}" if isinstance(address, tuple) else "a closed socket"

    def hold_back(self, held: bool) -> None:
        """Read nothing, or read again."""
        if held == self.held_back:
            return
        self.held_back = held
        # What was not read was not silence.
        self.heard = self._loop.time()
        if held and not self.ended:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def end(self, code: str | None = None, text: str = "") -> None:
        """Hang up after a last error line, if there is a code; the role is told at once."""
        if self.ended:
            return
        if code is not None:
            self._transport.write(error(code, text) + b"\n")
        self.ended = True
        if self.held_back:
            self.hold_back(False)
        try:
            if self._transport.can_write_eof():
                self._transport.write_eof()
            else:
                self._transport.close()
        except OSError:
            self._transport.abort()  # the other end was gone, and nobody had noticed yet
        self._timer = self._loop.call_later(_LAST_WORDS, self._transport.abort)
        self._leave()

    def abort(self) -> None:
        """Hang up at once."""
        self.ended = True
        self._transport.abort()

    def _leave(self) -> None:
        self.ended = True
        role, self.role = self.role, _NOBODY
        role.gone(self)


class _Nobody:
    """The role of a connection that ended."""

    def lines(self, connection: Connection, lines: list[bytes], *, flat: bool) -> None:
        """Ignore them."""

    def gone(self, connection: Connection) -> None:
        """Do nothing."""

    def silent(self, connection: Connection, seconds: float) -> bytes | None:
        """Send nothing."""
        return None


_NOBODY = _Nobody()

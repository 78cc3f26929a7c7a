"""What the lines of a connection mean: what every role shares, and the start of each connection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

from posetlib.broker.lines import TOO_LONG, decode, decode_notifications, encode
from posetlib.broker.protocol import PING, PONG, VERSION, RefusedError, error, read_notification
from posetlib.errors import DocumentError, MessageError

if TYPE_CHECKING:
    from posetlib.broker.connection import Connection
    from posetlib.broker.server import Broker

__all__ = ["Talk", "check_version", "id_of"]

# Refusals of lines that make no sense, as opposed to requests that cannot be met.
_SENSELESS: Final = frozenset({"line", "too-long", "op", "field"})


def id_of(data: dict[str, Any] | None) -> str | int | None:
    """Return the id of a request, None if it wants no answer."""
    found = None if data is None else data.get("id")
    return found if isinstance(found, (str, int)) and not isinstance(found, bool) else None


def check_version(data: dict[str, Any]) -> None:
    """Raise RefusedError if the other end speaks another version of the protocol."""
    if data.get("version", VERSION) != VERSION:
        raise RefusedError(
            "version",
            f"version {data['version']!r} of the protocol is not spoken here: it is {VERSION}",
            fatal=True,
        )


class Talk(ABC):
    """A role that reads lines, routes the notifications among them, and hands on the others.

    A batch of nothing but notifications, which is nearly every one, is decoded, matched and sent on
    at once, as the bytes that came.
    """

    #: What the router knows the other end by.
    source: Hashable
    #: Whether notifications are welcome; else every line is for ``act``.
    may_publish = True
    #: Whether its notifications have marks: those of neighbours, where clients may move.
    marked = False

    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    @abstractmethod
    def act(self, connection: Connection, op: object, data: dict[str, Any]) -> None:
        """Act upon a message that is neither a notification nor a sign of life."""

    @abstractmethod
    def gone(self, connection: Connection) -> None:
        """Forget the connection."""

    def silent(self, connection: Connection, seconds: float) -> bytes | None:
        """Ask an end that has been silent whether it is there."""
        return PING if seconds >= self.broker.settings.keepalive else None

    def lines(self, connection: Connection, lines: list[bytes], *, flat: bool) -> None:
        """Act upon lines, in their order."""
        if flat and self.may_publish:
            notifications = decode_notifications(lines, marked=self.marked)
            if notifications is not None:
                connection.bad_lines = 0
                self._route(connection, lines, notifications)
                return
        self._one_by_one(connection, lines)

    def _one_by_one(self, connection: Connection, lines: list[bytes]) -> None:
        # Notifications in a row are routed together.
        run: list[bytes] = []
        notifications: list[dict[str, Any]] = []
        for i, line in enumerate(lines):
            data = None
            try:
                data = self._decode(line)
                op = data.get("op")
                if op == "publish" and data.get("id") is None and self.may_publish:
                    notifications.append(read_notification(data))
                    # Only what is a notification and nothing else travels as it came.
                    run.append(self.line_of(line, data))
                    connection.bad_lines = 0
                    continue
                self._route_run(connection, run, notifications)
                if op == "ping":
                    self.broker.post(connection, PONG)
                elif op != "pong":
                    self.act(connection, op, data)
                connection.bad_lines = 0
            except RefusedError as refusal:
                self._route_run(connection, run, notifications)
                self.refuse(connection, refusal, data)
            if connection.ended:
                return
            if connection.role is not self:
                # It was the line that said who is at the other end.
                connection.role.lines(connection, lines[i + 1 :], flat=False)
                return
        self._route_run(connection, run, notifications)

    def line_of(self, line: bytes, data: dict[str, Any]) -> bytes:
        """Return what is sent on for a publication: the line if it has nothing else in it."""
        return line if len(data) == 2 else encode({"op": "publish", "n": data["n"]})

    def _decode(self, line: bytes) -> dict[str, Any]:
        limits = self.broker.settings.limits
        if line is TOO_LONG:
            raise RefusedError("too-long", f"a line has at most {limits.line} bytes")
        try:
            return decode(line, limits.depth)
        except MessageError as wrong:
            raise RefusedError("line", f"{wrong}: {_start(line)}") from None

    def _route_run(
        self, connection: Connection, run: list[bytes], notifications: list[dict[str, Any]]
    ) -> None:
        if run:
            self._route(connection, run[:], notifications[:])
            run.clear()
            notifications.clear()

    def _route(
        self, connection: Connection, lines: list[bytes], notifications: list[dict[str, Any]]
    ) -> None:
        try:
            self.broker.publish(self.source, lines, notifications)
        except DocumentError:
            # Each by itself, so that only those are refused whose documents cannot be read.
            for line, notification in zip(lines, notifications, strict=True):
                try:
                    self.broker.publish(self.source, [line], [notification])
                except DocumentError as error:
                    self.refuse_document(connection, RefusedError("document", str(error)))

    def refuse_document(self, connection: Connection, refusal: RefusedError) -> None:
        """Be told of a notification that was not routed: a document in it cannot be read."""
        self.refuse(connection, refusal, None)

    def refuse(
        self, connection: Connection, refusal: RefusedError, data: dict[str, Any] | None
    ) -> None:
        """Answer with what was wrong; the connection ends if it was too much."""
        self.broker.metrics.refused += 1
        if refusal.fatal:
            self.broker.flush()
            connection.end(refusal.code, refusal.text)
            return
        self.broker.post(connection, error(refusal.code, refusal.text, id_of(data)))
        if refusal.code in _SENSELESS:
            connection.bad_lines += 1
            most = self.broker.settings.limits.bad_lines
            if connection.bad_lines >= most:
                self.broker.flush()
                connection.end("bad-lines", f"closed after {most} lines that made no sense")


def _start(line: bytes) -> str:
    """Return the start of a line, so that its sender knows which one is meant."""
    shown = line[:60].decode("utf-8", "replace")
    return shown + ("…" if len(line) > 60 else "")

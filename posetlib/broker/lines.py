"""Lines of JSON: split from a stream of bytes, decoded and bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from posetlib.errors import MessageError

__all__ = [
    "TOO_LONG",
    "LineReader",
    "decode",
    "decode_marked",
    "decode_notifications",
    "depth_of",
    "encode",
    "with_mark",
]

#: Stands for a line that was longer than allowed; known by identity, whatever its bytes are.
TOO_LONG: Final = b"\x00 a line that was too long"


class LineReader:
    r"""Splits what arrives into lines, and skips lines that are too long.

    >>> reader = LineReader(limit=100)
    >>> reader.feed(b'{"op":"pi')
    []
    >>> reader.feed(b'ng"}\n\n{"op":')
    [b'{"op":"ping"}']
    """

    def __init__(self, limit: int) -> None:
        #: The bytes that a line may have, its end not counted.
        self.limit = limit
        self._tail = bytearray()
        self._skipping = False
        #: Whether no line of the last ``feed`` can be nested deeper than a notification of scalars,
        #: if each of them holds a notification.
        self.flat = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that are complete now, empty ones left out."""
        end = data.rfind(b"\n")
        if end < 0:
            self._keep(data)
            return []
        block = data[:end]
        if self._tail:
            self._tail += block
            block = bytes(self._tail)
            self._tail.clear()
        lines = block.split(b"\n")
        if self._skipping:
            # The end of the line whose start was thrown away.
            lines[0] = TOO_LONG
            self._skipping = False
        if len(block) > self.limit:
            lines = [line if len(line) <= self.limit else TOO_LONG for line in lines]
        if b"" in lines:
            lines = [line for line in lines if line]
        # A line with a notification has two braces at least: twice as many as lines are two each.
        self.flat = block.count(b"{") <= 2 * len(lines) and b"[" not in block
        self._keep(data[end + 1 :])
        return lines

    def _keep(self, data: bytes) -> None:
        if self._skipping:
            return
        self._tail += data
        if len(self._tail) > self.limit:
            self._tail.clear()
            self._skipping = True


class _Notification(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    # Not a tag of the struct: msgspec takes objects without their tag.
    op: Literal["publish"]
    n: dict[str, Any]


class _MarkedNotification(_Notification, forbid_unknown_fields=True, gc=False):
    mark: str


_decode_any: Final = msgspec.json.Decoder().decode
_decode_notification: Final = msgspec.json.Decoder(_Notification).decode
_decode_marked: Final = msgspec.json.Decoder(_MarkedNotification).decode


def decode_notifications(
    lines: list[bytes], *, marked: bool = False
) -> list[dict[str, Any]] | None:
    """Return the notifications of lines that have one each, and nothing else but a mark.

    ``marked``: whether each has a mark, or none has. None if one of them is anything else:
    ``decode`` says what. The depth is not looked at.

    >>> decode_notifications([b'{"op": "publish", "n": {"x": 5}}'])
    [{'x': 5}]
    """
    decode_one = _decode_marked if marked else _decode_notification
    try:
        return [decode_one(line).n for line in lines]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def with_mark(line: bytes, mark: str) -> bytes:
    """Return the line of a notification with a mark, by which it is known everywhere.

    >>> with_mark(b'{"op": "publish", "n": {"x": 5}}', "f00 1")
    b'{"op": "publish", "n": {"x": 5},"mark":"f00 1"}'
    """
    return b'%b,"mark":"%b"}' % (line.rstrip()[:-1], mark.encode())


def decode_marked(line: bytes) -> tuple[str, dict[str, Any]]:
    """Return mark and notification of a line that ``with_mark`` wrote; MessageError if not so."""
    try:
        found = _decode_marked(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MessageError(f"no notification with a mark: {error}") from None
    return found.mark, found.n


def decode(line: bytes, depth: int) -> dict[str, Any]:
    """Return the message of a line; MessageError says what is wrong with it, and where.

    >>> decode(b'{"op": "ping"}', depth=4)
    {'op': 'ping'}
    >>> decode(b'{"op": ping}', depth=4)
    Traceback (most recent call last):
    posetlib.errors.MessageError: no JSON: invalid character (byte 7)
    """
    try:
        message = _decode_any(line)
    except RecursionError:
        raise MessageError(f"nested deeper than {depth} levels") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        what = str(error).removeprefix("JSON is malformed: ")
        raise MessageError(f"no JSON: {what[:1].lower()}{what[1:]}") from None
    if not isinstance(message, dict):
        raise MessageError(f"a line is a JSON object, not {_kind(message)}")
    # Counting bytes is quick, and nearly always enough.
    if line.count(b"{") + line.count(b"[") > depth and depth_of(message) > depth:
        raise MessageError(f"nested deeper than {depth} levels")
    return message


def _kind(value: object) -> str:
    names = {list: "a list", str: "a string", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else "a boolean")


def depth_of(value: object) -> int:
    """Return how deeply objects and lists are nested in a value.

    >>> depth_of({"op": "publish", "n": {"t": [1, 2]}})
    3
    """
    deepest = 0
    todo = [(value, 1)]
    while todo:
        each, depth = todo.pop()
        if isinstance(each, dict):
            todo += [(inner, depth + 1) for inner in each.values()]
        elif isinstance(each, list):
            todo += [(inner, depth + 1) for inner in each]
        else:
            continue
        deepest = max(deepest, depth)
    return deepest


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line, without its end.

    >>> encode({"op": "ok", "id": 1})
    b'{"op":"ok","id":1}'
    """
    return msgspec.json.encode(message)

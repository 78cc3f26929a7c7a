"""The messages: their names, how their fields are read, and how answers are written.

docs/broker.md has them as a table.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from typing import Any, Final

from posetlib.broker.lines import encode
from posetlib.broker.settings import A_NAME, is_name
from posetlib.errors import DocumentError
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter
from posetlib.models import read_documents

__all__ = [
    "PING",
    "PONG",
    "VERSION",
    "RefusedError",
    "error",
    "filter_of",
    "message",
    "ok",
    "read_filter",
    "read_name",
    "read_notification",
    "read_ttl",
    "same_token",
]

#: The version of the protocol; both ends must speak the same.
VERSION: Final = 1
#: The filters that are remembered as they were read: clients that connect again, and neighbours
#: that exchange all they have, send the same texts again.
_REMEMBERED: Final = 4_096


class RefusedError(Exception):
    """A message that is answered with an error line; ``code`` is for programs, the text for people.

    With ``fatal`` the connection ends after the answer.
    """

    def __init__(self, code: str, text: str, *, fatal: bool = False) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.fatal = fatal


def message(op: str, **fields: Any) -> bytes:
    """Return a message as a line; fields that are None are left out.

    >>> message("hello", client="alice", token=None)
    b'{"op":"hello","client":"alice"}'
    """
    return encode({"op": op, **{name: each for name, each in fields.items() if each is not None}})


PING: Final = message("ping")
PONG: Final = message("pong")


def error(code: str, text: str, request: object = None) -> bytes:
    """Return the line that says what was wrong; ``request`` is the id of what it answers."""
    return message("error", code=code, text=text, id=request)


def ok(request: object, **fields: Any) -> bytes:
    """Return the line that confirms a request."""
    return message("ok", id=request, **fields)


def read_name(data: Mapping[str, Any], field: str) -> str | None:
    """Return a name, None if there is none; RefusedError if it is no name."""
    name = data.get(field)
    if name is None:
        return None
    if not isinstance(name, str) or not is_name(name):
        raise RefusedError("field", f"{field!r} is {A_NAME}")
    return name


class _FilterReader:
    """Reads filters, and remembers them by their text."""

    def __init__(self, parse: Callable[[str], Filter]) -> None:
        self._parse = parse
        self._known: dict[str, Filter] = {}

    def __call__(self, text: str) -> Filter:
        found = self._known.get(text)
        if found is None:
            found = self._parse(text)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[text] = found
        return found


#: Reads the text of a filter; ValueError if it is none.
filter_of: Final = _FilterReader(parse_filter)


def read_filter(data: Mapping[str, Any], field: str = "filter") -> Filter:
    """Return a filter of a message; RefusedError says where its text is wrong."""
    text = data.get(field)
    if not isinstance(text, str):
        raise RefusedError("field", f"{data.get('op')} needs {field!r}, the text of a filter")
    try:
        return filter_of(text)
    except (ValueError, RecursionError) as wrong:
        raise RefusedError("filter", f"{field!r} is no filter: {wrong}") from None


def read_notification(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notification of a message that publishes one, with its documents read."""
    found = data.get("n")
    if not isinstance(found, dict):
        raise RefusedError("field", "publish needs 'n', the notification as an object")
    try:
        return read_documents(found)
    except DocumentError as wrong:
        raise RefusedError("document", str(wrong)) from None


def read_ttl(data: Mapping[str, Any]) -> float | None:
    """Return the seconds that a subscription is to last, None for no end."""
    ttl = data.get("ttl")
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)) or not 0 < ttl <= 1e9:
        raise RefusedError("field", "'ttl' is a positive number of seconds, of at most 1e9")
    return float(ttl)


def same_token(given: object, wanted: str) -> bool:
    """Return whether a token is the right one, in a time that does not tell how much of it is."""
    text = given if isinstance(given, str) else ""
    return hmac.compare_digest(
        text.encode("utf-8", "surrogatepass"), wanted.encode("utf-8", "surrogatepass")
    )

"""Where the members of a list stand in a JSON text, so that a message can name the line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

__all__ = ["places"]

_SPACE = " \t\r\n"


def places(text: str, key: str) -> Iterator[tuple[str, Any]]:
    r"""Yield "line 3, column 5" and the value of each member of a list in an object.

    The text must be JSON that was read before. O(length of the text).

    >>> list(places('{"a": 1,\n "nodes": [7,\n {"id": 8}]}', "nodes"))
    [('line 2, column 12', 7), ('line 3, column 2', {'id': 8})]
    """
    decode = json.JSONDecoder().raw_decode
    at = _after_space(text, 0) + 1
    while (at := _after_space(text, at)) < len(text) and text[at] == '"':
        name, at = scanstring(text, at + 1)
        at = _after_space(text, _after_space(text, at) + 1)
        if name == key and text[at] == "[":
            yield from _members(text, at + 1, decode)
            return
        _, at = decode(text, at)
        at = _after_space(text, at) + 1


def _members(text: str, at: int, decode: Any) -> Iterator[tuple[str, Any]]:
    line, start = 1, 0  # of the last place, and the offset where its line begins
    passed = 0
    while (at := _after_space(text, at)) < len(text) and text[at] != "]":
        breaks = text.count("\n", passed, at)
        if breaks:
            line += breaks
            start = text.rindex("\n", passed, at) + 1
        passed = at
        place = f"line {line}, column {at - start + 1}"
        value, at = decode(text, at)
        yield place, value
        at = _after_space(text, at)
        if at < len(text) and text[at] == ",":
            at += 1


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at

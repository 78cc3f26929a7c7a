"""Framing: the same lines, however the bytes arrive; limits of length and depth."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posetlib.broker.lines import (
    TOO_LONG,
    LineReader,
    decode,
    decode_notifications,
    depth_of,
    encode,
)
from posetlib.errors import MessageError

LINES = st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"\n", b" ")), max_size=8)


@given(LINES, st.lists(st.integers(0, 120)), st.integers(1, 10))
def test_the_lines_do_not_depend_on_how_the_bytes_arrive(
    lines: list[bytes], cuts: list[int], limit: int
) -> None:
    data = b"".join(line + b"\n" for line in lines)
    reader = LineReader(limit)
    found: list[bytes] = []
    for start, end in pairwise(sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})):
        found += reader.feed(data[start:end])
    expected = [line if len(line) <= limit else TOO_LONG for line in lines if line]
    assert found == expected
    assert [line is TOO_LONG for line in found] == [len(line) > limit for line in lines if line]


def test_what_is_too_long_is_not_kept() -> None:
    reader = LineReader(1_000)
    for _ in range(100):
        assert reader.feed(b"x" * 500) == []
        assert len(reader._tail) <= 1_000
    assert reader.feed(b"\nnext\n") == [TOO_LONG, b"next"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=3), min_size=1, max_size=4))
def test_lines_that_are_said_to_be_flat_are_no_deeper_than_two(
    notifications: list[dict[str, Any]],
) -> None:
    lines = [encode({"op": "publish", "n": each}) for each in notifications]
    reader = LineReader(100_000)
    assert reader.feed(b"\n".join(lines) + b"\n") == lines
    assert decode_notifications(lines) == notifications
    if reader.flat:
        assert all(depth_of(decode(line, 2)) <= 2 for line in lines)


@given(JSON, st.integers(1, 8))
def test_the_depth_is_bounded(value: Any, depth: int) -> None:
    message = {"op": "x", "value": value}
    if depth_of(message) <= depth:
        assert decode(encode(message), depth) == message
    else:
        with pytest.raises(MessageError, match=f"deeper than {depth} levels"):
            decode(encode(message), depth)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"nonsense", r"no JSON: .*byte \d"),
        (b"[1, 2]", "a JSON object, not a list"),
        (b"3", "not a number"),
        (b"null", "not null"),
        (b'{"a": 1} {"b": 2}', "trailing characters"),
        (b'{"a": "\xff"}', "no JSON"),
        (b'{"a": NaN}', "invalid character"),
        (b"[" * 100_000, "deeper than 8"),
        (b'{"a":' * 100_000, "deeper than 8"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(line: bytes, what: str) -> None:
    with pytest.raises(MessageError, match=what):
        decode(line, 8)
    assert decode_notifications([line]) is None


def test_only_plain_notifications_take_the_short_way() -> None:
    plain = b'{"op":"publish","n":{"x":1}}'
    for other in (
        b'{"op":"publish","n":{"x":1},"id":1}',
        b'{"op":"publish","n":[1]}',
        b'{"op":"subscribe","n":{}}',
        b'{"n":{}}',
        TOO_LONG,
    ):
        assert decode_notifications([plain, other]) is None
    assert decode_notifications([plain, plain]) == [{"x": 1}, {"x": 1}]

"""Strings that stand for all strings that begin with them: "ab" covers "abc".

A string is cut into chunks of six bytes, with an axis for each. A prefix is a single number in its
full chunks, an interval in the last one, and everything behind it. Up to eight chunks the boxes are
exact; the box of a longer prefix is that of its first 48 bytes, and what it leaves is asked.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from posetlib.orders.lookups import LookupMatcher
from posetlib.search.boxes import AxisInterval, Box, Shapes
from posetlib.search.relation import Relation

__all__ = ["STRING_PREFIXES", "PrefixBoxes", "PrefixMatcher"]

# Six bytes are a number that a float64 holds.
_CHUNK: Final = 6
# Every axis that a table has makes its comparisons longer.
_MAX_CHUNKS: Final = 8


def _covers(one: str, other: str) -> bool:
    return other.startswith(one)


def _check(item: object) -> None:
    if not isinstance(item, str):
        raise TypeError(f"the table holds prefixes, which are strings, not {type(item).__name__}")


class PrefixBoxes:
    """Makes the boxes of prefixes.

    In UTF-8 one string begins with another just if its bytes begin with the other's.

    >>> boxes = PrefixBoxes()
    >>> boxes.read("abc").shape.axes, boxes.read("abcdefg").shape.axes
    ((0,), (0, 1))
    """

    __slots__ = ("_shapes",)

    def __init__(self) -> None:
        self._shapes = Shapes()

    def read(self, item: object) -> Box | None:
        """Return the box of a prefix, None for anything but a string; O(length)."""
        if not isinstance(item, str):
            return None
        text = item.encode("utf-8", "surrogatepass")
        exact = len(text) <= _CHUNK * _MAX_CHUNKS
        starts = range(0, min(len(text), _CHUNK * _MAX_CHUNKS), _CHUNK)
        intervals = [_interval(i, text[at : at + _CHUNK]) for i, at in enumerate(starts)]
        return self._shapes.box(intervals, exact=exact)


def _interval(number: int, chunk: bytes) -> AxisInterval:
    low = int.from_bytes(chunk.ljust(_CHUNK, b"\0"), "big")
    high = int.from_bytes(chunk.ljust(_CHUNK, b"\xff"), "big")
    return AxisInterval(number, float(low), float(high))


class PrefixMatcher(LookupMatcher):
    """Finds the prefixes of a string: one look for each length that there is.

    >>> PrefixMatcher([("ab", "I1"), ("b", "I2")]).match("abc")
    frozenset({'I1'})
    """

    def _place(self, item: str) -> tuple[Hashable, Hashable]:
        return len(item), item

    def _key(self, notification: str, group: Any) -> Hashable:
        # A shorter string is cut to itself, which no item of this length is equal to.
        return notification[:group]


def _matches(prefix: str, text: str) -> bool:
    return text.startswith(prefix)


#: Prefixes, and strings as notifications.
STRING_PREFIXES: Final[Relation[str]] = Relation(
    covers=_covers,
    matches=_matches,
    canonical=True,
    boxes=PrefixBoxes,
    matcher=PrefixMatcher,
    read=str,
    check=_check,
)

"""Many pairs for a table at once: checked, and as arrays."""

from __future__ import annotations

import gc
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from posetlib.arrays.ranges import Ranges
from posetlib.graph.change import Item
from posetlib.search.box_matrix import upright
from posetlib.search.boxes import Axis, Box, BoxReader

__all__ = ["Pairs", "checked", "exact_ranges", "without_collection"]

#: Items and the interfaces that are to hold them.
Pairs = list[tuple[Item, Hashable]]

# Boxes on more axes than these are not put into one array: most of it would say nothing.
_MAX_AXES: Final = 64


def checked(pairs: Iterable[tuple[Any, Hashable]]) -> Pairs:
    """Return pairs as a list; TypeError with the number of the first that is none.

    >>> checked([("a", "I1"), "b"])
    Traceback (most recent call last):
    TypeError: pair 1 is not an (item, interface) pair but 'b'
    """
    listed: Pairs = []
    for number, pair in enumerate(pairs):
        try:
            item, interface = pair
        except (TypeError, ValueError):
            raise TypeError(
                f"pair {number} is not an (item, interface) pair but {pair!r}"
            ) from None
        try:
            hash(interface)
        except TypeError as error:
            raise TypeError(f"pair {number}: {error}") from None
        listed.append((item, interface))
    return listed


def exact_ranges(
    reader: BoxReader | None, items: Iterable[Item]
) -> tuple[dict[Item, int], Ranges] | None:
    """Return distinct items with their numbers, and their boxes as arrays of closed ranges.

    None if a box does not say all of its item, or has open ends.
    """
    if reader is None:
        return None
    numbers: dict[Item, int] = {}
    boxes: list[Box] = []
    axes: dict[Axis, None] = {}
    for item in items:
        if item in numbers:
            continue
        box = reader.read(item)
        if box is None or not box.shape.exact or box.shape.open_ends:
            return None
        axes.update(dict.fromkeys(box.shape.axes))
        if len(axes) > _MAX_AXES:
            return None
        numbers[item] = len(boxes)
        boxes.append(box)
    rows = {axis: 2 * i for i, axis in enumerate(axes)}
    ends = upright(boxes, rows)
    lows = {axis: ends[row] for axis, row in rows.items()}
    highs = {axis: -ends[row + 1] for axis, row in rows.items()}
    return numbers, Ranges(lows, highs, len(boxes))


@contextmanager
def without_collection() -> Iterator[None]:
    """Let Python collect no garbage for a while.

    The steps of a large update are all kept until it is complete. The collector would go through
    them again and again, and find nothing: it takes a fifth of the time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()

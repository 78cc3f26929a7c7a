"""Many pairs for a table at once: checked, thinned out, and as arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from posetlib.arrays.building import surviving_pairs
from posetlib.arrays.ranges import Ranges
from posetlib.graph.change import Item
from posetlib.search.box_matrix import upright
from posetlib.search.boxes import Axis, Box, BoxReader

__all__ = ["Pairs", "checked", "exact_ranges", "thinned"]

#: Items and the interfaces that are to hold them.
Pairs = list[tuple[Item, Hashable]]

# Boxes on more axes than these are not put into one array: most of it would say nothing.
_MAX_AXES: Final = 64
# Pairs that an interface must bring before they are compared with one another as arrays.
_MIN_PAIRS: Final = 16
# Pairs that are thinned out together: those of one interface are all compared with one another.
_SLICE: Final = 4096


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


def thinned(reader: BoxReader | None, pairs: Pairs) -> Pairs:
    """Return pairs without those that another one makes redundant, as far as arrays tell.

    A pair is redundant if another pair of the same interface has an item that covers its own. For
    tables that eliminate such pairs everywhere, whatever the order in which they come.
    """
    kept: Pairs = []
    for start in range(0, len(pairs), _SLICE):
        kept += _thinned(reader, pairs[start : start + _SLICE])
    return kept


def _thinned(reader: BoxReader | None, pairs: Pairs) -> Pairs:
    interfaces = len({interface for _, interface in pairs})
    if len(pairs) < _MIN_PAIRS * interfaces:
        return pairs
    known = exact_ranges(reader, (item for item, _ in pairs))
    if known is None:
        return pairs
    numbers, ranges = known
    numbered = [(numbers[item], interface) for item, interface in pairs]
    items = list(numbers)
    # In the order in which items come to stay, as if all pairs had been added in turn.
    return [
        (items[number], interface)
        for number, holders in surviving_pairs(ranges, numbered)
        for interface in holders
    ]

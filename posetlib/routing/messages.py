"""The message between two routers: one batch of changes, applied as a whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from posetlib.errors import MessageError
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter

__all__ = ["PARTS", "Update", "updates_between"]

#: The parts of an update, in the order in which they are written.
PARTS: Final = ("unsubscribe", "subscribe", "unadvertise", "advertise")


@dataclass(frozen=True, slots=True)
class Update:
    """What one neighbour is told: removals first, then additions, applied atomically.

    >>> from posetlib import parse_filter
    >>> update = Update("I2", subscribe=(parse_filter("x > 3"),))
    >>> print(update)
    to I2: subscribe x > 3
    >>> Update.from_dict(update.to_dict(), to="I2") == update
    True
    """

    to: Hashable
    subscribe: tuple[Filter, ...] = ()
    unsubscribe: tuple[Filter, ...] = ()
    advertise: tuple[Filter, ...] = ()
    unadvertise: tuple[Filter, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.subscribe or self.unsubscribe or self.advertise or self.unadvertise)

    def __len__(self) -> int:
        """The number of filters in it."""
        return sum(len(getattr(self, part)) for part in PARTS)

    def __str__(self) -> str:
        parts = [
            f"{part} {', '.join(map(str, getattr(self, part)))}"
            for part in PARTS
            if getattr(self, part)
        ]
        return f"to {self.to}: {'; '.join(parts) or 'nothing'}"

    def to_dict(self) -> dict[str, list[str]]:
        """Return the filters as text, by part; parts that are empty are left out."""
        return {
            part: [str(each) for each in getattr(self, part)]
            for part in PARTS
            if getattr(self, part)
        }

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        to: Hashable = None,
        *,
        read: Callable[[str], Filter] = parse_filter,
    ) -> Update:
        """Return the update that ``to_dict`` wrote; ``read`` reads a filter's text.

        MessageError, which names the part and its place, for anything else.
        """
        unknown = sorted(set(map(str, data)).difference(PARTS))
        if unknown:
            raise MessageError(f"an update has no {unknown[0]!r}; it has {', '.join(PARTS)}")
        return cls(to, **{part: _read_part(part, data[part], read) for part in data})


def _read_part(
    part: str, texts: Iterable[Any], read: Callable[[str], Filter]
) -> tuple[Filter, ...]:
    if not isinstance(texts, (list, tuple)):
        raise MessageError(f"{part!r} is a list of filters, not {type(texts).__name__}")
    found = []
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise MessageError(f"{part}[{i}]: a filter is a text, not {type(text).__name__}")
        try:
            found.append(read(text))
        except ValueError as error:
            raise MessageError(f"{part}[{i}]: {error}") from error
    return tuple(found)


def updates_between(
    before: Mapping[Filter, Collection[Hashable]],
    after: Mapping[Filter, Collection[Hashable]],
    neighbours: Iterable[Hashable],
) -> list[Update]:
    """Return what each neighbour is sent when the forwards sets change: the message rule.

    New members of a neighbour's set are subscribed. Of those that left it, the ones that nothing in
    the new set covers are unsubscribed: the receiver drops the others by covering. Neighbours that
    get nothing are left out. A router does the same without a look at all sets.

    >>> from posetlib import parse_filter
    >>> wide, narrow = parse_filter("x > 3"), parse_filter("x > 5")
    >>> for update in updates_between({wide: {"I2"}}, {narrow: {"I2"}}, ["I1", "I2"]):
    ...     print(update)
    to I2: unsubscribe x > 3; subscribe x > 5
    """
    updates = []
    for neighbour in neighbours:
        old = [item for item, to in before.items() if neighbour in to]
        new = [item for item, to in after.items() if neighbour in to]
        known, kept = set(old), set(new)
        update = Update(
            neighbour,
            subscribe=tuple(item for item in new if item not in known),
            unsubscribe=tuple(
                item
                for item in old
                if item not in kept and not any(each.covers(item) for each in new)
            ),
        )
        if update:
            updates.append(update)
    return updates

"""What a language offers to a table: the order of its items, and all that can be known early.

Tables take a ``Relation`` and know nothing else about the language of their items. Only ``covers``
is needed. ``matches`` lets a table match notifications. The other parts are hints that are meant to
save work and never change an answer, or say how items are written in files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol

from posetlib.graph.change import ItemT, Pair
from posetlib.search.boxes import BoxReader

__all__ = ["NO_PART", "Matcher", "Partition", "Relation"]

#: The part of a notification that only items of no single part can match.
NO_PART: Final = ("no part", object)


class Partition(Protocol):
    """Divides items, and notifications, into parts that have nothing to do with one another.

    Items of two different parts are incomparable, and no notification of one part is matched by an
    item of another one.
    """

    def of(self, item: Any) -> Hashable:
        """Return the part of an item, None if it may be comparable with items of any part."""

    def of_notification(self, notification: Any) -> Hashable:
        """Return the part of the items that may match, ``NO_PART`` if only those of none may."""


class Matcher(Protocol):
    """Matches notifications for a table, which tells it of every pair that comes or goes.

    The table also sets its ``counters`` to its own.
    """

    def add(self, item: Any, interface: Hashable, /) -> object:
        """Be told that an interface holds an item now; TypeError for an item it cannot read."""

    def discard(self, item: Any, interface: Hashable, /) -> object:
        """Be told that an interface does not hold an item any more."""

    def match(self, notification: Any, /) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching item."""

    def match_many(self, notifications: Collection[Any], /) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each of many."""


@dataclass(frozen=True, slots=True)
class Relation(Generic[ItemT]):
    """The order that a table keeps, and what else its language offers; a table has one for life.

    Functions must be at module level for a table to be pickled.

    >>> words = Relation(covers=lambda one, other: other.startswith(one), read=str)
    >>> words.covers("a", "ab"), words.is_canonical("a")
    (True, False)
    """

    #: Whether every notification that the second item matches is matched by the first. A preorder:
    #: reflexive and transitive.
    covers: Callable[[ItemT, ItemT], bool]
    #: Whether an item matches a notification.
    matches: Callable[[ItemT, Any], bool] | None = None
    #: Whether an item is one of those of which no two are equivalent and not equal. As long as a
    #: table holds only such, it finds an item by its hash, or there is none.
    canonical: Callable[[ItemT], bool] | bool = False
    partition: Partition | None = None
    #: Makes the reader of a new table's boxes, for an index (see ``posetlib.search.boxes``).
    boxes: Callable[[], BoxReader] | None = None
    #: Makes a matcher that holds some (item, interface) pairs.
    matcher: Callable[[Iterable[Pair]], Matcher] | None = None
    #: How an item is written as text, and read again.
    write: Callable[[ItemT], str] = str
    read: Callable[[str], ItemT] | None = None
    #: What a file must say once for its items to be read, such as a hierarchy of types; and the
    #: function that reads items when a file says this. Instead of ``read``.
    context: Callable[[Iterable[ItemT]], dict[str, Any]] | None = None
    reader: Callable[[Mapping[str, Any]], Callable[[str], ItemT]] | None = None
    #: Raises TypeError for an object that is no item, before the relation fails on it.
    check: Callable[[object], object] | None = None

    def is_canonical(self, item: ItemT) -> bool:
        """Return whether the item is equal to every canonical item that is equivalent to it."""
        return self.canonical if isinstance(self.canonical, bool) else self.canonical(item)

    def part_of_notification(self, notification: Any) -> Hashable:
        """Return the part of the items that may match; None if any may."""
        return None if self.partition is None else self.partition.of_notification(notification)

    def context_of(self, items: Iterable[ItemT]) -> dict[str, Any]:
        """Return what a file of these items says once."""
        return {} if self.context is None else self.context(items)

    def reader_for(self, context: Mapping[str, Any]) -> Callable[[str], ItemT]:
        """Return the function that reads items from a file; TypeError if there is none."""
        if self.reader is not None:
            return self.reader(context)
        if self.read is None:
            raise TypeError(
                "the relation does not say how items are read from text: give it read=, "
                "or give decode= here"
            )
        return self.read

"""A matcher that follows a table: what a table asks when many notifications come at once.

The matcher is built from the table's entries when it is first worth it, and has to be told of
every pair that comes or goes from then on. It reads filters, so it serves tables of filters only.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Final

from posetlib.change import Change, Item
from posetlib.matching.base import Notification, readable
from posetlib.matching.bitmap import BitmapMatcher
from posetlib.relation import Followed

__all__ = ["Following"]

# A match of a single notification is worth so many pairs of building: building takes some
# microseconds for each pair, and a walk some microseconds for each filter that it tests.
_WORTH: Final = 32
# Below so many filters, a walk is as quick as the matcher.
_FEW: Final = 64


class Following:
    """The matcher of one table, built when it is first asked for, and told of changes then.

    ``match`` and ``match_many`` answer None where the table had better walk: it holds other things
    than filters, or is too small, or was not asked often enough to be worth an index. A table tells
    its changes by ``give`` and ``take`` as it makes them, or whole ones by ``follow``.

    >>> from posetlib.parsing import parse_filter
    >>> from posetlib.structures import NonRedundantForest
    >>> table = NonRedundantForest()
    >>> following = Following(table)
    >>> stop = table.listen(following.follow)
    >>> _ = table.add(parse_filter("x > 3"), "I1")
    >>> following.match_many([{"x": 5}, {"x": 1}])
    [frozenset({'I1'}), frozenset()]
    >>> _ = table.add(parse_filter("x < 3"), "I2")
    >>> following.match_many([{"x": 5}, {"x": 1}])
    [frozenset({'I1'}), frozenset({'I2'})]
    """

    __slots__ = ("_asked", "_foreign", "_table", "matcher")

    #: None as long as it is not built.
    matcher: BitmapMatcher | None

    def __init__(self, table: Followed) -> None:
        self.matcher = None
        self._table = table
        self._asked = 0
        # Whether the table was seen to hold what no matcher reads.
        self._foreign = False

    # -- changes -----------------------------------------------------------------------------------

    def give(self, item: Item, interface: Hashable) -> None:
        """Be told that an interface holds an item now; O(1)."""
        if self.matcher is None:
            return
        if readable(item):
            self.matcher.give(item, interface)
        else:
            self._foreign = True
            self.matcher = None

    def take(self, item: Item, interface: Hashable) -> None:
        """Be told that an interface does not hold an item any more; O(1)."""
        if self.matcher is not None:
            self.matcher.take(item, interface)

    def follow(self, change: Change) -> None:
        """Be told of a change, as a listener; a listener that came earlier is told before us."""
        for item, interface in change.pairs_removed:
            self.take(item, interface)
        for item, interface in change.pairs_added:
            self.give(item, interface)

    def forget(self) -> None:
        """Drop the matcher; it is built anew when it is worth it."""
        self.matcher = None
        self._asked = 0
        self._foreign = False

    # -- matching ----------------------------------------------------------------------------------

    def match_many(
        self, notifications: Collection[Notification]
    ) -> list[frozenset[Hashable]] | None:
        """Return the interfaces of each notification, or None if walking is better.

        O(n) when the matcher is first built.
        """
        matcher = self._worth(len(notifications))
        return None if matcher is None else matcher.match_many(notifications)

    def match(self, notification: Notification) -> frozenset[Hashable] | None:
        """Return the interfaces of a notification, or None if walking is better."""
        matcher = self._worth(1)
        if matcher is None or len(matcher) < _FEW:
            return None
        return matcher.match(notification)

    def _worth(self, notifications: int) -> BitmapMatcher | None:
        """Return the matcher; it is built when so much was asked that building is no more work."""
        if self.matcher is None:
            self._asked += notifications
            if self._asked * _WORTH >= len(self._table):
                return self._build()
        return self.matcher

    def _build(self) -> BitmapMatcher | None:
        if self._foreign:
            return None
        entries = self._table.entries()
        if all(readable(item) for item, _ in entries):
            self.matcher = BitmapMatcher(entries)
            self.matcher.counters = self._table.counters
        else:
            self._foreign = True
        return self.matcher

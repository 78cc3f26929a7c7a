"""A session: one stay of a client at a broker, and what it asked for there."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from posetlib.filters.filter import Filter
from posetlib.tables import FILTERS

__all__ = ["Holding", "Session"]


class Holding:
    """A set of filters in order; each is found by any filter that is equivalent to it."""

    __slots__ = ("_filters", "_several_forms")

    def __init__(self) -> None:
        self._filters: dict[Filter, None] = {}
        #: Those that may be equivalent to a filter without being equal to it.
        self._several_forms: dict[Filter, None] = {}

    def __iter__(self) -> Iterator[Filter]:
        return iter(self._filters)

    def __len__(self) -> int:
        return len(self._filters)

    def find(self, filter: Filter) -> Filter | None:
        """Return the filter of the set that is equivalent to this one, None if there is none."""
        if filter in self._filters:
            return filter
        others = self._several_forms if FILTERS.is_canonical(filter) else self._filters
        return next((each for each in others if each.covers(filter) and filter.covers(each)), None)

    def add(self, filter: Filter) -> None:
        """Add a filter, unless an equivalent one is there."""
        if self.find(filter) is None:
            self._filters[filter] = None
            if not FILTERS.is_canonical(filter):
                self._several_forms[filter] = None

    def remove(self, filter: Filter) -> None:
        """Remove a filter that ``find`` returned."""
        del self._filters[filter]
        self._several_forms.pop(filter, None)

    def match(self, notification: Mapping[str, Any]) -> bool:
        """Return whether one of the filters matches a notification."""
        return any(each.matches(notification) for each in self._filters)


class Session:
    """A client at its broker, with the filters as the client knows them.

    This is what the routers are held to, so nothing here is read from a router. Sessions are told
    apart by identity: a client that leaves and comes back has another one.
    """

    __slots__ = ("advertisements", "broker", "client", "subscriptions")

    def __init__(self, client: Hashable, broker: Hashable) -> None:
        self.client = client
        self.broker = broker
        self.subscriptions = Holding()
        self.advertisements = Holding()

    def __str__(self) -> str:
        return f"{self.client} at {self.broker}"

"""A client of a network: where it is, and what it asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from posetlib.filters.filter import Filter
from posetlib.routing.mobility import Traveller
from posetlib.tables import FILTERS

__all__ = ["Client", "Holding"]


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
        others = self._several_forms if _has_one_form(filter) else self._filters
        return next((each for each in others if each.covers(filter) and filter.covers(each)), None)

    def add(self, filter: Filter) -> None:
        """Add a filter, unless an equivalent one is there."""
        if self.find(filter) is None:
            self._filters[filter] = None
            if not _has_one_form(filter):
                self._several_forms[filter] = None

    def remove(self, filter: Filter) -> None:
        """Remove a filter that ``find`` returned."""
        del self._filters[filter]
        self._several_forms.pop(filter, None)

    def match(self, notification: Mapping[str, Any]) -> bool:
        """Return whether one of the filters matches a notification."""
        return any(each.matches(notification) for each in self._filters)


def _has_one_form(item: object) -> bool:
    """Return whether equality tells equivalence; of an expression it does not."""
    return isinstance(item, Filter) and FILTERS.is_canonical(item)


class Client(Traveller):
    """A client from ``attach`` to ``detach``, with the filters as the client knows them.

    This is what the routers are held to, so nothing here is read from a router. Clients are told
    apart by identity: one that leaves for good and comes back is another one.
    """

    def __init__(self, name: Hashable, broker: Hashable, epoch: int = 0) -> None:
        super().__init__(name, broker, epoch)
        self.subscriptions = Holding()
        self.advertisements = Holding()
        #: Its sessions have this epoch, or a later one; older ones belong to an earlier visit.
        self.first_epoch = epoch
        self.has_moved = False
        #: Whether a link broke that a handover of it had to take, and that is not over.
        self.is_disturbed = False
        #: The brokers that may have a session of it.
        self.places: dict[Hashable, None] = {broker: None}

    def __str__(self) -> str:
        return f"{self.name} at {self.broker}"

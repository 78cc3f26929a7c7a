"""An exchange: all filters of one kind, who holds them, and who is sent them.

A router has one for subscriptions, and with advertisements another one for these. Local clients
have a table of their own, and only its root set reaches the external table [T, Fig. 4.13].
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from posetlib.errors import UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.graph.change import Change
from posetlib.graph.journal import Journal
from posetlib.routing.forwarding import CountedForwarding, Forwarding
from posetlib.routing.outgoing_merging import MakeMergedSet, OutgoingMerger
from posetlib.routing.reach import Reach
from posetlib.search.relation import Matcher, Relation
from posetlib.tables import FILTERS, Operation, PosetForest, Table, make_table

__all__ = ["LOCAL", "Exchange", "Rules", "SimpleExchange"]

#: The interface of all local clients together in the external table.
LOCAL: Final = "(local clients)"


@dataclass(frozen=True, slots=True)
class Rules:
    """How the exchanges of a router work; alike for subscriptions and advertisements."""

    structure: str = "fp"
    #: Whether forwards sets are exact, or may be greater than needed.
    exact: bool = True
    #: The order of the filters: covering, or equality alone.
    relation: Relation[Filter] = FILTERS
    #: None if filters are sent as they are.
    merging: MakeMergedSet | None = None


class Exchange:
    """Filters of one kind: changed by several calls, then ``flush`` says what to send.

    ``undo`` takes back all calls since the last ``flush``.
    """

    def __init__(
        self,
        rules: Rules,
        reach: Reach,
        matcher: Callable[[], Matcher] | None = None,
        tables: tuple[Table[Filter], Table[Filter]] | None = None,
    ) -> None:
        #: What local clients hold, every pair as they asked for it.
        self.local: Table[Filter]
        #: What neighbours hold, and the root set of the local clients under one interface.
        self.table: Table[Filter]
        if tables is None:
            self.local = PosetForest(local=True, relation=rules.relation)
            self.table = make_table(rules.structure, relation=rules.relation)
        else:
            self.local, self.table = tables
        self._matcher = None if matcher is None else matcher()
        if self._matcher is not None:
            for item, client in self.local.entries():
                self._matcher.add(item, client)
        self.forwarding = self._make_forwarding(rules, reach)
        self.forwarding.set_reach(reach)
        self._make_merged_set = rules.merging
        self.mergers: dict[Hashable, OutgoingMerger] = {}
        self._done: list[tuple[Table[Filter], Operation, Change[Filter], Journal]] = []

    def _make_forwarding(self, rules: Rules, reach: Reach) -> Forwarding | CountedForwarding:
        return Forwarding(self.table, reach, exact=rules.exact)

    # -- changing ----------------------------------------------------------------------------------

    def add_local(self, item: Filter, client: Hashable) -> None:
        """Let a client hold a filter."""
        change = self._run(self.local, "add", item, client)
        # A new root takes the interface from the roots that it covers.
        for root in change.roots_added:
            self._run(self.table, "add", root, LOCAL)

    def remove_local(self, item: Filter, client: Hashable) -> None:
        """Let a client release a filter; UnknownEntryError if it does not hold it."""
        try:
            change = self._run(self.local, "remove", item, client)
        except UnknownEntryError:
            raise UnknownEntryError(f"the client {client!r} does not hold {item}") from None
        self._follow(change)

    def discard_local(self, item: Filter, client: Hashable) -> None:
        """Let a client release a filter, if it holds it."""
        if item in self.local and client in self.local.interfaces(item):
            self.remove_local(item, client)

    def drop_local(self, client: Hashable) -> None:
        """Let a client release all that it holds."""
        self._follow(self._run(self.local, "drop_interface", None, client))

    def _follow(self, change: Change[Filter]) -> None:
        """Let the external table follow the root set of the local clients."""
        for root in change.roots_removed:
            self._run(self.table, "discard", root, LOCAL)
        for root in change.roots_added:
            self._run(self.table, "add", root, LOCAL)

    def add(self, item: Filter, neighbour: Hashable) -> None:
        """Let a neighbour hold a filter."""
        self._run(self.table, "add", item, neighbour)

    def remove(self, item: Filter, neighbour: Hashable) -> None:
        """Let a neighbour release a filter, if it holds it."""
        self._run(self.table, "discard", item, neighbour)

    def drop(self, neighbour: Hashable) -> None:
        """Let a neighbour release all that it holds."""
        self._run(self.table, "drop_interface", None, neighbour)

    def _run(
        self, table: Table[Filter], name: str, item: Filter | None, interface: Hashable
    ) -> Change[Filter]:
        operation = Operation(name, item, interface)
        change, journal = table._run(operation)
        self._done.append((table, operation, change, journal))
        return change

    # -- what it means for the neighbours ----------------------------------------------------------

    def flush(self) -> dict[Hashable, tuple[list[Filter], list[Filter]]]:
        """Return for each neighbour what to send it, and what to take back from it."""
        for table, _, change, _ in self._done:
            if table is self.local and self._matcher is not None:
                for item, client in change.pairs_removed:
                    self._matcher.discard(item, client)
                for item, client in change.pairs_added:
                    self._matcher.add(item, client)
        self._done.clear()
        deltas = self.forwarding.flush()
        if self._make_merged_set is None:
            return {
                each: (delta.added + delta.again, delta.withdrawn) for each, delta in deltas.items()
            }
        found = {}
        for neighbour, delta in deltas.items():
            found[neighbour] = self.merger(neighbour).update(delta.added, delta.left)
        return found

    def merger(self, neighbour: Hashable) -> OutgoingMerger:
        """Return the merger of what a neighbour is sent, made when it is first asked for."""
        found = self.mergers.get(neighbour)
        if found is None:
            if self._make_merged_set is None:
                raise ValueError("the exchange does not merge")
            found = self.mergers[neighbour] = OutgoingMerger(self._make_merged_set())
        return found

    def settle(self) -> None:
        """Take the tables as they are for what the neighbours know already."""
        self.forwarding.flush()

    def undo(self) -> None:
        """Take back all that was done since the last flush."""
        while self._done:
            table, operation, change, journal = self._done.pop()
            if journal:
                table._undo(operation, change, journal)

    def sent(self, neighbour: Hashable) -> tuple[Filter, ...]:
        """Return what a neighbour holds of this router."""
        if self._make_merged_set is not None:
            merger = self.mergers.get(neighbour)
            return () if merger is None else merger.merged()
        sets = self.forwarding.sets()
        return tuple(item for item, each in sets.items() if neighbour in each)

    def would_send(self, item: Filter, neighbour: Hashable) -> bool:
        """Return whether a new filter of a client would go to a neighbour: nothing sent covers it.

        O(filters that were sent).
        """
        return self.forwarding.reach.reaches(item, neighbour) and not any(
            each.covers(item) for each in self.sent(neighbour)
        )

    def forget(self, neighbour: Hashable) -> None:
        """Forget what a neighbour was sent: it is gone."""
        self.mergers.pop(neighbour, None)

    # -- local clients -----------------------------------------------------------------------------

    def clients_of(self, notifications: list[Any]) -> list[frozenset[Hashable]]:
        """Return for each notification the clients that it is for."""
        table = self.local if self._matcher is None else self._matcher
        if len(notifications) == 1:
            return [table.match(notifications[0])]
        return table.match_many(notifications)

    def as_held(self, item: Filter, *, local: bool) -> Filter:
        """Return a filter in the form in which its table holds it, itself if it does not."""
        node = (self.local if local else self.table)._find(item)
        return item if node is None else node.item

    def held_by(self, source: Hashable, *, local: bool) -> tuple[Filter, ...]:
        """Return what a client or a neighbour holds, in order of insertion."""
        table = self.local if local else self.table
        return tuple(node.item for node in table._links.holding(source))


class SimpleExchange(Exchange):
    """Every subscription travels by itself; a neighbour may hold a filter several times.

    Two clients that ask for the same are two subscriptions, and the first withdrawal must leave the
    other one. So filters are counted by neighbour, instead of being a set.
    """

    _counts: dict[tuple[Filter, Hashable], int]

    def _make_forwarding(self, rules: Rules, reach: Reach) -> Forwarding | CountedForwarding:
        self._counts = {}
        #: The counts of this batch as they were before it.
        self._before: dict[tuple[Filter, Hashable], int] = {}
        self._counted = CountedForwarding(self.table, reach, self._count)
        return self._counted

    def _count(self, item: Filter, interface: Hashable) -> int:
        if interface == LOCAL:
            return len(self.local.interfaces(item))
        return self._counts.get((item, interface), 0)

    def restore_counts(self, counts: Iterable[tuple[Filter, Hashable, int]]) -> None:
        """Take over what ``counts`` returned once."""
        self._counts = {(item, neighbour): count for item, neighbour, count in counts}

    def counts(self) -> list[tuple[Filter, Hashable, int]]:
        """Return how often each neighbour holds each filter."""
        return [(item, neighbour, count) for (item, neighbour), count in self._counts.items()]

    def add_local(self, item: Filter, client: Hashable) -> None:
        """Let a client hold a filter."""
        super().add_local(item, client)
        self._counted.touch(item)

    def remove_local(self, item: Filter, client: Hashable) -> None:
        """Let a client release a filter; UnknownEntryError if it does not hold it."""
        super().remove_local(item, client)
        self._counted.touch(item)

    def drop_local(self, client: Hashable) -> None:
        """Let a client release all that it holds."""
        items = self.held_by(client, local=True)
        super().drop_local(client)
        for item in items:
            self._counted.touch(item)

    def add(self, item: Filter, neighbour: Hashable) -> None:
        """Let a neighbour hold a filter once more."""
        self._set_count(item, neighbour, self._count(item, neighbour) + 1)
        super().add(item, neighbour)

    def remove(self, item: Filter, neighbour: Hashable) -> None:
        """Let a neighbour hold a filter once less, if it holds it."""
        left = self._count(item, neighbour) - 1
        if left < 0:
            return
        self._set_count(item, neighbour, left)
        if not left:
            super().remove(item, neighbour)

    def drop(self, neighbour: Hashable) -> None:
        """Let a neighbour release all that it holds."""
        for item in self.held_by(neighbour, local=False):
            self._set_count(item, neighbour, 0)
        super().drop(neighbour)

    def _set_count(self, item: Filter, neighbour: Hashable, count: int) -> None:
        key = (item, neighbour)
        self._before.setdefault(key, self._counts.get(key, 0))
        self._write_count(key, count)

    def _write_count(self, key: tuple[Filter, Hashable], count: int) -> None:
        if count:
            self._counts[key] = count
        else:
            self._counts.pop(key, None)
        self._counted.touch(key[0])

    def flush(self) -> dict[Hashable, tuple[list[Filter], list[Filter]]]:
        """Return for each neighbour what to send it, and what to take back from it."""
        self._before.clear()
        return super().flush()

    def undo(self) -> None:
        """Take back all that was done since the last flush."""
        super().undo()
        for key, count in self._before.items():
            self._write_count(key, count)
        self._before.clear()

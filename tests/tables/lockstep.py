"""All tables, driven through the same operations, beside models too plain to be wrong."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from posetlib.errors import UnknownEntryError
from posetlib.graph.change import Change
from posetlib.tables import Table
from posetlib.tables.forwards import forwards_sets
from posetlib.tables.snapshot import Snapshot
from tests.tables.kinds import EXACT, KINDS, World

Pairs = tuple[tuple[Any, Any], ...]


class Model:
    """Pairs in a list: a filter that is covered by its own interface is redundant, and goes."""

    def __init__(self, covers: Callable[[Any, Any], bool], *, local: bool) -> None:
        self.covers = covers
        self.local = local
        #: Each class of equivalent items by its first one, with its interfaces in order.
        self.rows: list[tuple[Any, list[Any]]] = []

    def row(self, item: Any) -> tuple[Any, list[Any]] | None:
        for row in self.rows:
            if self.covers(row[0], item) and self.covers(item, row[0]):
                return row
        return None

    def holds(self, item: Any, interface: Any) -> bool:
        row = self.row(item)
        return row is not None and interface in row[1]

    def add(self, item: Any, interface: Any) -> None:
        if self.holds(item, interface):
            return
        if not self.local:
            for other, interfaces in self.rows:
                if interface in interfaces and self.covers(other, item):
                    return
            self.remove_covered(item, interface, keep=self.row(item))
        row = self.row(item)
        if row is None:
            self.rows.append((item, [interface]))
        else:
            row[1].append(interface)

    def discard(self, item: Any, interface: Any) -> None:
        row = self.row(item)
        if row is not None and interface in row[1]:
            row[1].remove(interface)
        self._forget()

    def drop_interface(self, interface: Any) -> None:
        for _, interfaces in self.rows:
            if interface in interfaces:
                interfaces.remove(interface)
        self._forget()

    def remove_covered(self, item: Any, interface: Any, keep: Any = None) -> None:
        for row in self.rows:
            if row is not keep and interface in row[1] and self.covers(item, row[0]):
                row[1].remove(interface)
        self._forget(keep)

    def _forget(self, keep: Any = None) -> None:
        self.rows = [row for row in self.rows if row[1] or row is keep]

    def entries(self) -> Pairs:
        return tuple((item, each) for item, interfaces in self.rows for each in interfaces)


def minimal_cover(items: list[Any], covers: Callable[[Any, Any], bool]) -> tuple[Any, ...]:
    return tuple(
        item
        for item in items
        if not any(other is not item and covers(other, item) for other in items)
    )


def picture(table: Table) -> tuple[Pairs, tuple[Any, ...], dict[Any, tuple[Any, ...]]]:
    """What a table shows of itself, without asking for anything that needs a test."""
    snapshot = table.snapshot()
    item = {node.id: node.item for node in snapshot.nodes}
    parents: dict[Any, tuple[Any, ...]] = dict.fromkeys(item.values(), ())
    for parent, child in snapshot.edges:
        parents[item[child]] += (item[parent],)
    return table.entries(), table.roots(), parents


def difference(before: Any, after: Any) -> Change:
    """The change between two pictures, worked out from both."""
    (pairs_0, roots_0, parents_0), (pairs_1, roots_1, parents_1) = before, after

    def gone(old: Any, new: Any) -> tuple[Any, ...]:
        return tuple(each for each in old if each not in new)

    return Change(
        added=gone(parents_1, parents_0),
        removed=gone(parents_0, parents_1),
        moved=tuple(
            item
            for item, above in parents_1.items()
            if item in parents_0 and set(parents_0[item]) != set(above)
        ),
        roots_added=gone(roots_1, roots_0),
        roots_removed=gone(roots_0, roots_1),
        pairs_added=gone(pairs_1, pairs_0),
        pairs_removed=gone(pairs_0, pairs_1),
    )


class Lockstep:
    """Every kind of table in one world; whatever must agree is compared after every step."""

    def __init__(self, world: World, kinds: tuple[str, ...] = tuple(KINDS)) -> None:
        self.world = world
        self.tables = {kind: world.make(kind) for kind in kinds}
        self.covers = world.covers or (lambda one, other: one.covers(other))
        self.matches = world.matches or (lambda one, notification: one.matches(notification))
        self.model = Model(self.covers, local=False)
        self.local = Model(self.covers, local=True)
        self.removed_anything = False

    # -- operations --------------------------------------------------------------------------------

    def add(self, item: Any, interface: Any) -> None:
        self.model.add(item, interface)
        self.local.add(item, interface)
        self._each("add", item, interface)

    def remove(self, item: Any, interface: Any) -> None:
        """Remove where it is, and see that it is refused where it is not."""
        for kind, table in self.tables.items():
            row = Model(self.covers, local=True)
            row.rows = _rows(table)
            if row.holds(item, interface):
                self._one(kind, "remove", item, interface)
            else:
                with pytest.raises(UnknownEntryError):
                    table.remove(item, interface)
        self.discard_from_models(item, interface)

    def discard(self, item: Any, interface: Any) -> None:
        self._each("discard", item, interface)
        self.discard_from_models(item, interface)

    def discard_from_models(self, item: Any, interface: Any) -> None:
        self.model.discard(item, interface)
        self.local.discard(item, interface)
        self.removed_anything = True

    def drop_interface(self, interface: Any) -> None:
        self.model.drop_interface(interface)
        self.local.drop_interface(interface)
        self._each("drop_interface", interface)
        self.removed_anything = True

    def remove_covered(self, item: Any, interface: Any) -> None:
        self.model.remove_covered(item, interface)
        self.local.remove_covered(item, interface)
        self._each("remove_covered", item, interface)
        self.removed_anything = True

    def _each(self, operation: str, *arguments: Any) -> None:
        for kind in self.tables:
            self._one(kind, operation, *arguments)

    def _one(self, kind: str, operation: str, *arguments: Any) -> None:
        table = self.tables[kind]
        before = picture(table)
        tests = table.counters.covering_tests
        change = getattr(table, operation)(*arguments)
        after = picture(table)
        assert change == difference(before, after), (kind, operation, arguments)
        assert bool(change) == (before != after)
        assert table.counters.covering_tests >= tests
        self._nothing_is_lost(kind, operation, arguments, change)

    def _nothing_is_lost(
        self, kind: str, operation: str, arguments: tuple[Any, ...], change: Change
    ) -> None:
        """What an operation takes that it was not asked to take is covered by what is left."""
        covers, interface = self.covers, arguments[-1]
        for item, each in change.pairs_removed:
            asked = each == interface and (
                operation == "drop_interface" or (operation != "add" and covers(arguments[0], item))
            )
            kept = any(
                other_interface == each and covers(other, item)
                for other, other_interface in self.tables[kind].entries()
            )
            assert asked or kept, (kind, operation, arguments, item, each)
            assert not (asked and kept and operation == "remove" and kind == "fp")

    # -- other ways to get the same table ----------------------------------------------------------

    def replace(self, how: Callable[[Table], Table]) -> None:
        """Go on with copies, which must do as the originals would."""
        for kind, table in self.tables.items():
            other = how(table)
            assert other == table
            assert picture(other) == picture(table)
            self.tables[kind] = other

    def through_json(self, table: Table) -> Table:
        text = table.snapshot().to_json(_text)
        if self.world.covers is None:
            read = Snapshot.from_json(text)
        else:
            read = Snapshot.from_json(text, {_text(i): i for i in self.world.items}.__getitem__)
        snapshot = table.snapshot()
        assert (read.nodes, read.edges) == (snapshot.nodes, snapshot.edges)
        assert read.to_json(_text) == text
        options = dict(self.world.options, covers=self.world.covers, matches=self.world.matches)
        restored: Table = read.restore(**options)
        return restored

    @staticmethod
    def through_pickle(table: Table) -> Table:
        copied: Table = pickle.loads(pickle.dumps(table))
        return copied

    def rebuild(self) -> None:
        """Build each table from its entries: the same roots and matches, or the same table."""
        for kind, table in self.tables.items():
            built = self.world.build(kind, table.entries())
            built.check()
            assert built.roots() == table.roots()
            assert built.match_many(self.world.notifications) == table.match_many(
                self.world.notifications
            )
            if kind in EXACT or table.local:
                assert built.entries() == table.entries()
            if kind in ("fp", "linear", "linear-local"):
                assert built == table

    # -- what must hold ----------------------------------------------------------------------------

    def check(self) -> None:
        for kind, table in self.tables.items():
            tests = table.counters.covering_tests
            table.check()
            assert table.counters.covering_tests == tests
            model = self.local if table.local else self.model
            if kind in EXACT or table.local:
                assert table.entries() == model.entries(), kind
            assert table.roots() == minimal_cover(list(table), self.covers), kind
        exact = [self.tables[kind] for kind in EXACT if kind in self.tables]
        assert len({table.roots() for table in exact}) <= 1
        if "fp" in self.tables and "linear" in self.tables:
            assert picture(self.tables["fp"]) == picture(self.tables["linear"])
        if not self.removed_anything:
            roots = minimal_cover([item for item, _ in self.model.rows], self.covers)
            for kind, table in self.tables.items():
                assert table.roots() == roots, kind

    def match(self, notification: Any, bound: int = 2) -> None:
        for kind, table in self.tables.items():
            pairs = table.entries()
            good = [pair for pair in pairs if self.matches(pair[0], notification)]
            expected = frozenset(interface for _, interface in good)
            assert table.match(notification) == expected, kind
            assert table.matching(notification) == {item for item, _ in good}, kind
            assert table.match_account(notification).interfaces == expected
            before = table.counters.match_tests
            bounded = table.match(notification, max_tests=bound)
            assert bounded >= expected
            assert table.counters.match_tests - before <= bound
        exact = {self.tables[kind].match(notification) for kind in EXACT if kind in self.tables}
        assert len(exact) <= 1
        if not self.removed_anything:
            assert len({table.match(notification) for table in self.tables.values()}) == 1

    def compare(self, item: Any) -> None:
        for kind, table in self.tables.items():
            above = tuple(
                each for each in table if self.covers(each, item) and not self.covers(item, each)
            )
            below = tuple(
                each for each in table if self.covers(item, each) and not self.covers(each, item)
            )
            assert table.covering(item) == above, kind
            assert table.covered(item) == below, kind
            row = Model(self.covers, local=True)
            row.rows = _rows(table)
            found = row.row(item)
            assert (item in table) == (found is not None)
            if found is not None:
                assert table.interfaces(item) == frozenset(found[1])

    def forwards(self, neighbours: Any) -> None:
        expected = None
        for kind in EXACT:
            if kind in self.tables:
                table = self.tables[kind]
                naive = forwards_sets(table, neighbours, "naive")
                assert forwards_sets(table, neighbours) == naive, kind
                assert expected is None or naive == expected
                expected = naive
        if "nrf" in self.tables and expected is not None:
            more = forwards_sets(self.tables["nrf"], neighbours, "approximate")
            assert all(more.get(item, frozenset()) >= sent for item, sent in expected.items())


def _text(item: Any) -> str:
    # The text of a set depends on how it came about.
    return "".join(sorted(item)) if isinstance(item, frozenset) else str(item)


def _rows(table: Table) -> list[tuple[Any, list[Any]]]:
    rows: dict[Any, list[Any]] = {}
    for item, interface in table.entries():
        rows.setdefault(item, []).append(interface)
    return list(rows.items())

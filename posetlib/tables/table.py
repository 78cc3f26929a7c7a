"""What all tables have in common: the container around nodes and links."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from functools import partial
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self

from posetlib.errors import InvariantError, UnknownEntryError
from posetlib.graph.change import NO_CHANGE, Change
from posetlib.graph.counters import Counters
from posetlib.graph.interface_index import InterfaceIndex
from posetlib.graph.journal import Journal, net_effect
from posetlib.graph.links import Links
from posetlib.graph.nodes import Node, Nodes, Traits, insert
from posetlib.matching.table_matcher import TableMatcher
from posetlib.search.indexed import IndexedSearch, Search
from posetlib.search.match_walk import MatchAccount, Trail, walk
from posetlib.search.probe import Probe
from posetlib.search.relation import Partition, Relation
from posetlib.search.walking import WalkingSearch
from posetlib.tables.filter_relation import filter_relation
from posetlib.tables.invariants import check_entries, check_table
from posetlib.tables.item_type import ItemT
from posetlib.tables.operation import Operation
from posetlib.tables.promises import Promises
from posetlib.tables.snapshot import Snapshot, SnapshotNode
from posetlib.tables.updating import Pairs, checked, without_collection

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Observer", "Table"]

#: Told of every operation that succeeds, and of one that is undone: the operation, whether it was
#: undone, and what it changed.
Observer = Callable[[Operation, bool, Change[Any]], object]

# Pairs of a build that come in one update.
_AT_ONCE: Final = 4096


class Table(Collection[ItemT], Generic[ItemT]):
    """A routing table: filters, the interfaces that hold them, and which of them cover which.

    ``relation`` brings another language than that of filters; ``covers``, ``matches``,
    ``canonical`` and ``partition`` are its parts, given one by one. ``local=True``, for structures
    that may be local, keeps every pair as it was added. With ``index=False`` the table finds its
    way by covering tests alone, filter by filter, as the literature counts them; the answers are
    the same.
    """

    #: The short name, as in snapshots.
    structure: ClassVar[str]
    promises: ClassVar[Promises]
    #: Whether every pair stays as it was added, without elimination by interface.
    local: bool
    _index_by_default: ClassVar[bool] = True

    def __init__(
        self,
        *,
        covers: Callable[[ItemT, ItemT], bool] | None = None,
        matches: Callable[[ItemT, Any], bool] | None = None,
        canonical: Callable[[ItemT], bool] | bool | None = None,
        partition: Partition | None = None,
        relation: Relation[ItemT] | None = None,
        local: bool = False,
        index: bool | None = None,
    ) -> None:
        if local and not self.promises.may_be_local:
            raise TypeError(f"a {type(self).__name__} is never local: local=True does not fit it")
        chosen: Relation[Any]
        parts = (covers, matches, canonical, partition)
        if relation is not None:
            if parts != (None, None, None, None):
                raise TypeError("relation= comes with all its parts: give it alone")
            chosen = relation
        elif covers is None:
            chosen = filter_relation(matches, canonical, partition)
        else:
            chosen = Relation(covers, matches, canonical or False, partition)
        self._reset(chosen, local, self._index_by_default if index is None else index)

    def _reset(self, relation: Relation[Any], local: bool, uses_index: bool) -> None:
        """Set up an empty table."""
        self.local = local
        self.counters = Counters()
        self._relation = relation
        self._uses_index = uses_index
        self._links = links = Links()
        self._interface_index = InterfaceIndex(links) if self.promises.interface_index else None
        self._box_reader = None
        self._search: Search
        if uses_index and relation.boxes is not None:
            self._box_reader = relation.boxes()
            self._search = IndexedSearch(links, self._interface_index)
        else:
            self._search = WalkingSearch(links, self._interface_index)
        self._matcher: TableMatcher | None = None
        # Several threads may match at once: the matcher is made once.
        self._making = Lock()
        self._observers: dict[object, Observer] = {}
        self._version = 0
        self._busy = False

    @classmethod
    def build(cls, pairs: Iterable[tuple[ItemT, Hashable]], **options: Any) -> Self:
        """Return a table of many pairs; the options are those of the class.

        The same roots and matches as adding them in order, and the same entries where a table
        eliminates by interface everywhere.

        >>> from posetlib import PosetForest, parse_filter
        >>> wide, narrow = parse_filter("x in [0, 9]"), parse_filter("x in [2, 3]")
        >>> PosetForest.build([(narrow, "I1"), (wide, "I2")]).roots()
        (Filter('x in [0, 9]'),)
        """
        table = cls._made(options)
        remaining = iter(pairs)
        # Not all in one step, since the steps of an update are kept until it is complete.
        while some := list(islice(remaining, _AT_ONCE)):
            table.update(some)
        return table

    @classmethod
    def _made(cls, options: dict[str, Any]) -> Self:
        """Return an empty table; the type of its items cannot be told from a mapping."""
        make: Any = cls
        made: Self = make(**options)
        return made

    # -- changing ----------------------------------------------------------------------------------

    def add(self, item: ItemT, interface: Hashable) -> Change[ItemT]:
        """Let an interface hold an item; the change is empty if the table does not change by it.

        The cost is the structure's: see its class.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> print(FiltersPoset().add(parse_filter("x > 3"), "I1"))
        added: x > 3; roots added: x > 3; pairs added: (x > 3, I1)
        """
        return self._run(Operation("add", item, interface))[0]

    def update(self, pairs: Iterable[tuple[ItemT, Hashable]]) -> Change[ItemT]:
        """Let interfaces hold many items: all of them, or none if one is refused.

        One change for all; the table is the one that adds in order make. A little faster than
        these; a filters poset that at least doubles is worked out at once, from arrays.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> table = FiltersPoset()
        >>> pairs = [(parse_filter(text), "I1") for text in ("x > 5", "y = 1", "x > 3")]
        >>> table.update(pairs).added
        (Filter('y = 1'), Filter('x > 3'))
        """
        listed = checked(pairs)
        with without_collection():
            return self._run(Operation("update", listed, None))[0]

    def remove(self, item: ItemT, interface: Hashable) -> Change[ItemT]:
        """Let an interface release an item; UnknownEntryError if it does not hold it.

        In a forest the children of a node that goes are placed again; in the filters poset nothing
        is compared.
        """
        return self._run(Operation("remove", item, interface))[0]

    def discard(self, item: ItemT, interface: Hashable) -> Change[ItemT]:
        """Let an interface release an item if it holds it; costs what ``remove`` costs."""
        return self._run(Operation("discard", item, interface))[0]

    def drop_interface(self, interface: Hashable) -> Change[ItemT]:
        """Let an interface release all that it holds; costs a ``remove`` for each filter.

        >>> from posetlib import NonRedundantForest, parse_filter
        >>> table = NonRedundantForest()
        >>> _ = table.add(parse_filter("x > 3"), "I1"), table.add(parse_filter("y > 3"), "I1")
        >>> table.drop_interface("I1").removed
        (Filter('x > 3'), Filter('y > 3'))
        """
        return self._run(Operation("drop_interface", None, interface))[0]

    def remove_covered(self, item: ItemT, interface: Hashable) -> Change[ItemT]:
        """Let an interface release all that the item covers: Siena's unsubscribe [T 3.2].

        One covering test for each filter that the interface holds. The item itself need not be
        there.
        """
        return self._run(Operation("remove_covered", item, interface))[0]

    def listen(self, listener: Callable[[Change[ItemT]], object]) -> Callable[[], None]:
        """Call a function with every change, after it is complete; returns a function to stop it.

        A listener may read the table and not change it. If it raises, the operation is undone, the
        listeners that were told are told the inverse, and the error goes to the caller.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> table, seen = FiltersPoset(), []
        >>> stop = table.listen(lambda change: seen.append(change.added))
        >>> _ = table.add(parse_filter("x > 3"), "I1")
        >>> stop()
        >>> _ = table.add(parse_filter("x > 2"), "I1")
        >>> seen
        [(Filter('x > 3'),)]
        """

        def observer(_operation: Operation, _undone: bool, change: Change[Any]) -> None:
            if change:
                listener(change)

        return self._observe(observer)

    def _observe(self, observer: Observer) -> Callable[[], None]:
        """Call a function with every operation that succeeds, those that change nothing too."""
        key = object()
        self._observers[key] = observer

        def stop() -> None:
            self._observers.pop(key, None)

        return stop

    def _run(self, operation: Operation) -> tuple[Change[Any], Journal]:
        """Do all of an operation or nothing."""
        if self._busy:
            raise RuntimeError(
                "a table cannot be changed from within its own operation or listener"
            )
        links = self._links
        if links.cyclic:
            raise InvariantError(
                "reachable-acyclic", self, "a cycle was restored: check() shows it"
            )
        name, item, interface = operation
        hash(interface)  # an interface that cannot be hashed is refused before anything is done
        self._busy = True
        links.begin()
        try:
            if name == "add":
                self._add(item, interface)
            elif name == "drop_interface":
                self._withdraw(links.holding(interface), interface)
            elif name == "update":
                self._update(item)
            else:
                getattr(self, f"_{name}")(item, interface)
            journal = links.finish()
        except BaseException:
            links.abandon()
            raise
        finally:
            self._busy = False
        change = NO_CHANGE
        if journal:
            change = Change.late(partial(net_effect, journal, links.top))
            self._version += 1
        if self._observers:
            self._tell(operation, change, journal)
        return change, journal

    def _tell(self, operation: Operation, change: Change[Any], journal: Journal) -> None:
        told: list[Observer] = []
        self._busy = True
        try:
            for observer in tuple(self._observers.values()):
                observer(operation, False, change)
                told.append(observer)
        except BaseException as error:
            self._links.undo(journal)
            for observer in reversed(told):
                try:
                    observer(operation, True, change.inverse())
                except Exception as second:  # noqa: BLE001 - the first error is the one to raise
                    error.add_note(f"while the operation was undone, a listener raised {second!r}")
            raise
        finally:
            self._busy = False

    def _undo(self, operation: Operation, change: Change[Any], journal: Journal) -> Change[Any]:
        """Take the last operation back; listeners are told the inverse."""
        self._links.undo(journal)
        self._version += 1
        inverse = change.inverse()
        for observer in tuple(self._observers.values()):
            observer(operation, True, inverse)
        return inverse

    # -- what the structures differ in -------------------------------------------------------------

    @abstractmethod
    def _add(self, item: ItemT, interface: Hashable) -> None:
        """Bring a pair in."""

    def _update(self, pairs: Pairs) -> None:
        """Bring many pairs in; one that is refused is named in the error."""
        for item, interface in pairs:
            try:
                self._add(item, interface)
            except Exception as error:
                error.add_note(f"in an update, at the pair of {interface!r} and {item!s:.200}")
                raise

    @abstractmethod
    def _dissolve(self, empty: list[Node]) -> None:
        """Take nodes without interfaces out, and link again what they held together."""

    def _remove(self, item: ItemT, interface: Hashable) -> None:
        node = self._find(item)
        if node is None or interface not in node.interfaces:
            raise UnknownEntryError(f"{interface!r} does not hold {item}")
        self._withdraw([node], interface)

    def _discard(self, item: ItemT, interface: Hashable) -> None:
        node = self._find(item) if interface in self._links.holders else None
        if node is not None and interface in node.interfaces:
            self._withdraw([node], interface)

    def _remove_covered(self, item: ItemT, interface: Hashable) -> None:
        probe = self._probe(item)
        same = self._links.find(item)
        held: Nodes = self._search.held_below(probe, interface, same)
        if same is not None and interface in same.interfaces:
            held = insert(held, same)
        self._withdraw(held, interface)

    def _withdraw(self, nodes: Nodes, interface: Hashable) -> None:
        """Let an interface release nodes that it holds; nodes left without interface go."""
        for node in nodes:
            self._links.release(node, interface)
        empty = [node for node in nodes if not node.interfaces]
        if empty:
            self._dissolve(empty)

    # -- finding -----------------------------------------------------------------------------------

    def _probe(self, item: ItemT) -> Probe:
        return Probe(self._relation, self.counters, item, self._traits(item))

    def _traits(self, item: ItemT) -> Traits:
        relation = self._relation
        box = None if self._box_reader is None else self._box_reader.read(item)
        if box is None and relation.check is not None:
            relation.check(item)
        part = None if relation.partition is None else relation.partition.of(item)
        # Items with equal exact boxes are equal, so these are canonical.
        is_exact = box is not None and not box.is_late and box.shape.exact
        canonical = is_exact or relation.is_canonical(item)
        return part, canonical, box

    def _counted_covers(self, one: ItemT, other: ItemT) -> bool:
        self.counters.covering_tests += 1
        return bool(self._relation.covers(one, other))

    def _find(self, item: Any) -> Node | None:
        """Return the node of an item or of its equivalent: by hash, and if need be by search."""
        node = self._links.find(item)
        if node is None:
            node = self._twin(self._probe(item))
        return node

    def _twin(self, probe: Probe) -> Node | None:
        """Return the node that is equivalent to an item that has none by hash."""
        return self._search.equivalent(probe) if self._may_have_twin(probe) else None

    def _may_have_twin(self, probe: Probe) -> bool:
        """Return whether an item that has no node by hash may have an equivalent one.

        Not if all items are canonical: then an equivalent one is equal, and found by its hash.
        """
        links = self._links
        return bool(links.nodes) and (not probe.canonical or links.irregular > 0)

    def _node(self, item: ItemT) -> Node:
        node = self._find(item)
        if node is None:
            raise UnknownEntryError(f"{item} is not in the table")
        return node

    # -- reading -----------------------------------------------------------------------------------

    def roots(self) -> tuple[ItemT, ...]:
        """Return the filters that no other one covers, in order of insertion; O(roots)."""
        return tuple(node.item for node in self._links.top.children)

    def parents(self, item: ItemT) -> tuple[ItemT, ...]:
        """Return what a filter hangs from, in order of insertion; O(1) for each.

        UnknownEntryError if the filter is not in the table.
        """
        top = self._links.top
        return tuple(node.item for node in self._node(item).parents if node is not top)

    def children(self, item: ItemT) -> tuple[ItemT, ...]:
        """Return what hangs from a filter, in order of insertion; O(1) for each.

        UnknownEntryError if the filter is not in the table.
        """
        return tuple(node.item for node in self._node(item).children)

    def interfaces(self, item: ItemT) -> frozenset[Hashable]:
        """Return the interfaces that hold a filter; O(1) for each.

        UnknownEntryError if the filter is not in the table.
        """
        return frozenset(self._node(item).interfaces)

    def covering(self, item: ItemT) -> tuple[ItemT, ...]:
        """Return every filter of the table that strictly covers a filter, in order of insertion.

        The filter need not be in the table. A sweep over all boxes, or a walk with a covering test
        for each child of a node that covers it.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> table = FiltersPoset.build(
        ...     [(parse_filter("x > 3"), "I1"), (parse_filter("x > 5"), "I2")]
        ... )
        >>> table.covering(parse_filter("x > 4"))
        (Filter('x > 3'),)
        """
        probe = self._probe(item)
        return self._search.covering_items(probe, self._links.find(item) or self._twin(probe))

    def covered(self, item: ItemT) -> tuple[ItemT, ...]:
        """Return every filter of the table that a filter strictly covers, in order of insertion.

        The filter need not be in the table. A sweep over all boxes, or a walk with a covering test
        for each node that it does not cover.
        """
        probe = self._probe(item)
        return self._search.covered_items(probe, self._links.find(item) or self._twin(probe))

    def entries(self) -> tuple[tuple[ItemT, Hashable], ...]:
        """Return all (filter, interface) pairs, in order of insertion; O(pairs)."""
        nodes = self._links.nodes.values()
        # Through a list, which is faster than to let a tuple grow.
        return tuple([(node.item, each) for node in nodes for each in node.interfaces])

    def __len__(self) -> int:
        return len(self._links.nodes)

    def __iter__(self) -> Iterator[ItemT]:
        version = self._version
        for item in self._links.nodes:
            yield item
            if self._version != version:
                raise RuntimeError("the table was changed during iteration")

    def __contains__(self, item: object) -> bool:
        """Whether the table holds an item or its equivalent; O(1) for canonical items."""
        return self._find(item) is not None

    # -- matching ----------------------------------------------------------------------------------

    def match(self, notification: Any, max_tests: int | None = None) -> frozenset[Hashable]:
        """Return the interfaces that hold a matching filter.

        A walk from the roots into matching filters, with one test for each child of these. A table
        with an index that has walked far enough answers from a matcher instead. ``max_tests``
        bounds the tests; filters that are left untested then count as matched.

        >>> from posetlib import NonRedundantForest, parse_filter
        >>> table = NonRedundantForest.build([(parse_filter("x > 3"), "I1")])
        >>> table.match({"x": 5}), table.match({"x": 1}), table.match({"x": 1}, max_tests=0)
        (frozenset({'I1'}), frozenset(), frozenset({'I1'}))
        """
        matcher = self._table_matcher() if max_tests is None else None
        found = None if matcher is None else matcher.match(notification)
        if found is not None:
            return found
        answer, visits = self._match(notification, max_tests, None)
        if matcher is not None:
            matcher.walked(visits)
        return frozenset(answer)

    def matching(self, notification: Any) -> frozenset[ItemT]:
        """Return the filters that match; one test for each child of a matching filter."""
        matches, part = self._matches(notification)
        return frozenset(node.item for node in self._search.satisfying(matches, part))

    def match_many(
        self, notifications: Iterable[Any], max_tests: int | None = None
    ) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each of many; with an index, all at once.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> table = FiltersPoset.build([(parse_filter("x > 3"), "I1")])
        >>> table.match_many([{"x": 5}, {"x": 1}])
        [frozenset({'I1'}), frozenset()]
        """
        notifications = list(notifications)
        matcher = self._table_matcher() if max_tests is None else None
        found = None if matcher is None else matcher.match_many(notifications)
        if found is None:
            found = [self.match(each, max_tests) for each in notifications]
        return found

    def _table_matcher(self) -> TableMatcher | None:
        """Return the matcher that follows the table from now on, where there is one."""
        if self._matcher is None and self._uses_index and self._relation.matcher is not None:
            with self._making:
                if self._matcher is None:
                    self._matcher = TableMatcher(self, self._links, self._relation.matcher)
                    self._links.attach(self._matcher)
        return self._matcher

    def match_account(self, notification: Any, max_tests: int | None = None) -> MatchAccount[ItemT]:
        """Match by a walk, and return where it went: visited, tested, skipped, matched, and more.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> table = FiltersPoset.build(
        ...     [(parse_filter("x > 3"), "I1"), (parse_filter("x > 5"), "I2")]
        ... )
        >>> account = table.match_account({"x": 1})
        >>> account.tested, account.matched
        ((Filter('x > 3'),), ())
        """
        trail = Trail()
        return trail.account(self._match(notification, max_tests, trail)[0])

    def _match(
        self, notification: Any, max_tests: int | None, trail: Trail | None
    ) -> tuple[set[Hashable], int]:
        """Return the interfaces that a walk finds, and how many nodes it visited."""
        if max_tests is not None and max_tests < 0:
            raise ValueError(f"max_tests must not be negative, is {max_tests}")
        matches, part = self._matches(notification)
        return walk(
            self._links, self._search, self._interface_index, matches, part, max_tests, trail
        )

    def _matches(self, notification: Any) -> tuple[Callable[[Node], bool], Hashable]:
        """Return a counted test of nodes, and the part that the notification belongs to."""
        matches = self._relation.matches
        if matches is None:
            raise TypeError("the table was given covers= without matches=, so it cannot match")
        counters = self.counters
        ask = matches

        def test(node: Node) -> bool:
            counters.match_tests += 1
            return bool(ask(node.item, notification))

        return test, self._relation.part_of_notification(notification)

    # -- as a whole --------------------------------------------------------------------------------

    def check(self, against: Iterable[tuple[ItemT, Hashable]] | None = None) -> None:
        """Raise InvariantError, with ``.invariant`` and ``.witness``, unless all is as promised.

        Compares by the relation anew, without counting: up to two tests for every pair of filters
        that no path joins. With ``against``, the (filter, interface) pairs that were added, the
        table must also hold what they leave: ``entries-served`` and ``entries-asked``.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> table = FiltersPoset()
        >>> pairs = [(parse_filter("x > 3"), "I1"), (parse_filter("x > 5"), "I1")]
        >>> for pair in pairs:
        ...     _ = table.add(*pair)
        >>> table.check(against=pairs)
        """
        covers = self._relation.covers
        check_table(self.promises, self.local, self._links, self._interface_index, covers)
        if against is not None:
            check_entries(self.promises, self.local, self._links, covers, against)

    def snapshot(self, *, index: bool = True) -> Snapshot[ItemT]:
        """Return a picture of the table that stays as it is; O(nodes + edges).

        With ``index=False`` the interface index is left out of it; in a deep forest of many
        interfaces that is nearly all there is to write.
        """
        links = self._links
        listed = self._interface_index if index else None
        number = {node: i for i, node in enumerate(links.nodes.values())}
        nodes = tuple(
            SnapshotNode(
                i, node.item, tuple(node.interfaces), None if listed is None else listed.below(node)
            )
            for node, i in number.items()
        )
        edges = tuple((number[parent], number[child]) for parent, child in links.edges())
        return Snapshot(self.structure, nodes, edges, local=self.local, relation=self._relation)

    # Each is the same of ``snapshot()``, where it is described.

    def to_json(self) -> str:
        """Return the table as JSON; ``Snapshot.from_json`` reads it."""
        return self.snapshot().to_json()

    def to_graphml(self) -> str:
        """Return the table as GraphML, for networkx, Gephi, yEd and others."""
        return self.snapshot().to_graphml()

    def to_node_link(self) -> dict[str, Any]:
        """Return the table as node-link data of networkx; JSON-able."""
        return self.snapshot().to_node_link()

    def to_csv(self) -> str:
        """Return a row for each pair of a filter and an interface, with the ids of its parents."""
        return self.snapshot(index=False).to_csv()

    def to_dot(self) -> str:
        """Return the table as a drawing for Graphviz."""
        return self.snapshot(index=False).to_dot()

    def to_networkx(self) -> nx.DiGraph[int]:
        """Return a DiGraph over node ids, with filter, interfaces and index as attributes."""
        return self.snapshot().to_networkx()

    @classmethod
    def restored(cls, snapshot: Snapshot[ItemT], **options: Any) -> Self:
        """Return a table of exactly the shape of a snapshot: O(nodes + edges), and no test.

        The options are those of the class; nothing is repaired.
        """
        if snapshot.local:
            options = {"local": True, **options}
        table = cls._made(options)
        number = {node.id: i for i, node in enumerate(snapshot.nodes)}
        table._load(
            ((node.item, node.interfaces) for node in snapshot.nodes),
            ((number[parent], number[child]) for parent, child in snapshot.edges),
            [node.index for node in snapshot.nodes],
        )
        return table

    def _load(
        self,
        rows: Iterable[tuple[ItemT, Iterable[Hashable]]],
        edges: Iterable[tuple[int, int]],
        indexes: Iterable[Iterable[Hashable] | None] = (),
    ) -> list[Node]:
        known = ((item, self._traits(item), interfaces) for item, interfaces in rows)
        nodes = self._links.load(known, edges)
        if self._interface_index is not None:
            self._interface_index.claim(nodes, indexes)
        return nodes

    def copy(self) -> Self:
        """Return a table of the same shape, without listeners and with counters at zero.

        O(nodes + edges), and no test.
        """
        return self._from_state(*self._state())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        relation, local, uses_index, *content = self._state()
        return self._from_state(relation, local, uses_index, *copy.deepcopy(content, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        # Flat, so that no depth of the table is too deep for the pickle.
        return (_from_state, (type(self), *self._state()))

    def _state(self) -> tuple[Any, ...]:
        links, index = self._links, self._interface_index
        number = {node: i for i, node in enumerate(links.nodes.values())}
        rows = [(node.item, tuple(node.interfaces)) for node in number]
        edges = [(number[parent], number[child]) for parent, child in links.edges()]
        aliases = [(number[node], item) for item, node in links.aliases.items()]
        claims = {} if index is None else {number[node]: c for node, c in index.claims().items()}
        return self._relation, self.local, self._uses_index, rows, edges, aliases, claims

    @classmethod
    def _from_state(
        cls,
        relation: Relation[ItemT],
        local: bool,
        uses_index: bool,
        rows: list[tuple[ItemT, tuple[Hashable, ...]]],
        edges: list[tuple[int, int]],
        aliases: list[tuple[int, ItemT]],
        claims: dict[int, frozenset[Hashable]],
    ) -> Self:
        table = cls.__new__(cls)
        table._reset(relation, local, uses_index)
        nodes = table._load(rows, edges, [claims.get(i) for i in range(len(rows))])
        for number, item in aliases:
            nodes[number].aliases += (item,)
            table._links.aliases[item] = nodes[number]
        return table

    def __eq__(self, other: object) -> bool:
        """Whether both are of one structure and have the same filters, interfaces and edges."""
        if not isinstance(other, Table):
            return NotImplemented
        return (self.structure, self.local) == (
            other.structure,
            other.local,
        ) and self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]  # tables change

    def _content(self) -> dict[ItemT, tuple[frozenset[Hashable], frozenset[ItemT]]]:
        return {
            node.item: (
                frozenset(node.interfaces),
                frozenset(child.item for child in node.children),
            )
            for node in self._links.nodes.values()
        }

    def __repr__(self) -> str:
        links = self._links
        local = ", local" if self.local else ""
        return (
            f"<{type(self).__name__}{local}: {len(links.nodes)} filters, "
            f"{len(links.top.children)} roots, {len(links.holders)} interfaces>"
        )


def _from_state(cls: type[Table[Any]], *state: Any) -> Table[Any]:
    return cls._from_state(*state)

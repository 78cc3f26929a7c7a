"""What all tables have in common: the container around nodes and links."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from threading import Lock
from typing import Any, ClassVar, Self

from posetlib.change import Change, Item, Pair
from posetlib.counters import Counters
from posetlib.errors import InvariantError, UnknownEntryError
from posetlib.filter_relation import relation_of
from posetlib.indexed_search import IndexedSearch
from posetlib.invariants import check_table
from posetlib.journal import Journal, change_of
from posetlib.links import Links
from posetlib.nodes import Node, Nodes, Traits, insert
from posetlib.relation import Follower, Partition, Probe, Relation
from posetlib.search import Search
from posetlib.snapshot import Snapshot, SnapshotNode
from posetlib.walk import MatchAccount, Trail, walk

__all__ = ["Observer", "Operation", "Table"]

#: The name of an operation and its arguments.
Operation = tuple[str, tuple[Any, ...]]
Observer = Callable[[Operation, Change], object]


class Table(Collection[Item]):
    """A routing table: filters, the interfaces that hold them, and who covers whom.

    ``covers`` takes any preorder instead of that of filters, ``matches`` says then what matches.
    ``canonical`` and ``partition`` are hints that save tests (see ``posetlib.relation``). With
    ``index=False`` the table finds its way by covering tests alone, filter by filter, as the
    literature counts them; the answers are the same.
    """

    #: The short name, as in snapshots.
    structure: ClassVar[str]
    #: Whether every pair stays as it was added, without elimination by interface.
    local: bool = False

    def __init__(
        self,
        *,
        covers: Callable[[Any, Any], bool] | None = None,
        matches: Callable[[Any, Any], bool] | None = None,
        canonical: Callable[[Any], bool] | bool | None = None,
        partition: Partition | None = None,
        index: bool = True,
    ) -> None:
        self._relation = relation_of(covers, matches, canonical, partition)
        self._indexed = index
        self._start()

    def _start(self) -> None:
        """Be empty."""
        self.counters = Counters()
        self._links = self._new_links()
        boxes = self._relation.boxes if self._indexed else None
        self._reader = None if boxes is None else boxes()
        self._search = Search(self._links) if boxes is None else IndexedSearch(self._links)
        self._follower: Follower | None = None
        # Several may match at once: the matcher that follows must be made once.
        self._making = Lock()
        self._observers: dict[object, Observer] = {}
        self._version = 0
        self._busy = False

    def _new_links(self) -> Links:
        return Links()

    @classmethod
    def build(cls, pairs: Iterable[Pair], **options: Any) -> Self:
        """Return a table of many pairs; the options are those of the class.

        The same roots and matches as adding them in order, and the same entries where a table
        eliminates by interface everywhere.
        """
        table = cls(**options)
        for item, interface in pairs:
            table.add(item, interface)
        return table

    # -- changing ----------------------------------------------------------------------------------

    def add(self, item: Item, interface: Hashable) -> Change:
        """Let an interface hold an item; empty if that says nothing new."""
        return self._run(("add", (item, interface)))[0]

    def remove(self, item: Item, interface: Hashable) -> Change:
        """Let go of a pair; UnknownEntryError if it is not there."""
        return self._operate("remove", item, interface)

    def discard(self, item: Item, interface: Hashable) -> Change:
        """Let go of a pair if it is there."""
        return self._operate("discard", item, interface)

    def drop_interface(self, interface: Hashable) -> Change:
        """Let go of all that an interface holds."""
        return self._operate("drop_interface", interface)

    def remove_covered(self, item: Item, interface: Hashable) -> Change:
        """Let go of all that an interface holds and the item covers: Siena's unsubscribe [T 3.2].

        One covering test for each filter that the interface holds. The item itself need not be
        there.
        """
        return self._operate("remove_covered", item, interface)

    def listen(self, listener: Callable[[Change], object]) -> Callable[[], None]:
        """Call a function with every change, after it is complete; returns what stops it.

        A listener may read the table and not change it. If it raises, the operation is undone, the
        listeners that were told are told the inverse, and the error goes to the caller.
        """

        def observer(_operation: Operation, change: Change) -> None:
            if change:
                listener(change)

        return self._observe(observer)

    def _observe(self, observer: Observer) -> Callable[[], None]:
        """Call a function with every operation that succeeds and its change, empty ones too."""
        key = object()
        self._observers[key] = observer

        def stop() -> None:
            self._observers.pop(key, None)

        return stop

    def _operate(self, name: str, *arguments: Any) -> Change:
        return self._run((name, arguments))[0]

    def _run(self, operation: Operation) -> tuple[Change, Journal]:
        """Do all of an operation or nothing."""
        if self._busy:
            raise RuntimeError(
                "a table cannot be changed from within its own operation or listener"
            )
        if self._links.cyclic:
            raise InvariantError(
                "reachable-acyclic", self, "a cycle was restored: check() shows it"
            )
        name, arguments = operation
        hash(arguments)  # what cannot be hashed cannot be held: say so before anything is done
        links = self._links
        self._busy = True
        links.begin()
        try:
            getattr(self, f"_{name}")(*arguments)
            journal = links.finish()
        except BaseException:
            links.abandon()
            raise
        finally:
            self._busy = False
        change = change_of(journal, links.top)
        self._version += bool(journal)
        if self._observers:
            self._tell(operation, change, journal)
        return change, journal

    def _tell(self, operation: Operation, change: Change, journal: Journal) -> None:
        told: list[Observer] = []
        self._busy = True
        try:
            for observer in tuple(self._observers.values()):
                observer(operation, change)
                told.append(observer)
        except BaseException as error:
            self._links.undo(journal)
            for observer in reversed(told):
                try:
                    observer(("undo", ()), change.inverse())
                except Exception as second:  # noqa: BLE001 - the first error is the one to raise
                    error.add_note(f"while the operation was undone, a listener raised {second!r}")
            raise
        finally:
            self._busy = False

    def _undo(self, operation: Operation, change: Change, journal: Journal) -> Change:
        """Take the last operation back; listeners are told the inverse."""
        self._links.undo(journal)
        self._version += 1
        inverse = change.inverse()
        for observer in tuple(self._observers.values()):
            observer(("undo", operation), inverse)
        return inverse

    # -- what the structures differ in -------------------------------------------------------------

    @abstractmethod
    def _add(self, item: Item, interface: Hashable) -> None:
        """Bring a pair in."""

    @abstractmethod
    def _dissolve(self, empty: list[Node]) -> None:
        """Take nodes without interfaces out, and link again what they held together."""

    def _remove(self, item: Item, interface: Hashable) -> None:
        node = self._find(item)
        if node is None or interface not in node.interfaces:
            raise UnknownEntryError(f"{interface!r} does not hold {item}")
        self._withdraw([node], interface)

    def _discard(self, item: Item, interface: Hashable) -> None:
        node = self._find(item) if interface in self._links.holders else None
        if node is not None and interface in node.interfaces:
            self._withdraw([node], interface)

    def _drop_interface(self, interface: Hashable) -> None:
        self._withdraw(self._links.holding(interface), interface)

    def _remove_covered(self, item: Item, interface: Hashable) -> None:
        probe = self._probe(item)
        same = self._links.find(item)
        held: Nodes = self._search.held_below(probe, interface, same)
        if same is not None and interface in same.interfaces:
            held = insert(held, same)
        self._withdraw(held, interface)

    def _withdraw(self, nodes: Nodes, interface: Hashable) -> None:
        """Take an interface from nodes that hold it; nodes left without one go."""
        for node in nodes:
            self._links.take(node, interface)
        empty = [node for node in nodes if not node.interfaces]
        if empty:
            self._dissolve(empty)

    # -- finding -----------------------------------------------------------------------------------

    def _probe(self, item: Item) -> Probe:
        return Probe(self._relation, self.counters, item, self._traits(item))

    def _traits(self, item: Item) -> Traits:
        box = None if self._reader is None else self._reader.read(item)
        if box is None:
            self._accept(item)
        return self._relation.traits(item, box)

    def _counted_covers(self, one: Item, other: Item) -> bool:
        self.counters.covering_tests += 1
        return bool(self._relation.covers(one, other))

    def _is_surely_new(self, probe: Probe) -> bool:
        """Return whether an item that has no node by hash can have no equivalent one either."""
        links = self._links
        return (probe.canonical and not links.irregular) or not links.nodes

    def _find(self, item: Item) -> Node | None:
        """Return the node of an item or of its equivalent: by hash, and if need be by search."""
        node = self._links.find(item)
        if node is None:
            node = self._twin(self._probe(item))
        return node

    def _twin(self, probe: Probe) -> Node | None:
        """Return the node that is equivalent to an item that has none by hash."""
        return None if self._is_surely_new(probe) else self._search.equivalent(probe)

    def _accept(self, item: Item) -> None:
        """Refuse what cannot be compared, before the relation stumbles over it."""
        if self._relation.expects and not callable(getattr(item, "covers", None)):
            raise TypeError(
                f"the table holds {self._relation.expects}, not {type(item).__name__}; "
                "for items of another kind, give it covers= (and matches=)"
            )

    def _node(self, item: Item) -> Node:
        node = self._find(item)
        if node is None:
            raise UnknownEntryError(f"{item} is not in the table")
        return node

    # -- reading -----------------------------------------------------------------------------------

    def roots(self) -> tuple[Item, ...]:
        """Return the filters that no other one covers, in order of insertion."""
        return tuple(node.item for node in self._links.top.children)

    def parents(self, item: Item) -> tuple[Item, ...]:
        """Return what a filter hangs from, in order of insertion; UnknownEntryError if absent."""
        top = self._links.top
        return tuple(node.item for node in self._node(item).parents if node is not top)

    def children(self, item: Item) -> tuple[Item, ...]:
        """Return what hangs from a filter, in order of insertion; UnknownEntryError if absent."""
        return tuple(node.item for node in self._node(item).children)

    def interfaces(self, item: Item) -> frozenset[Hashable]:
        """Return the interfaces that hold a filter; UnknownEntryError if it is not there."""
        return frozenset(self._node(item).interfaces)

    def covering(self, item: Item) -> tuple[Item, ...]:
        """Return every filter of the table that strictly covers a filter, in order of insertion."""
        probe = self._probe(item)
        return self._search.covering_items(probe, self._links.find(item) or self._twin(probe))

    def covered(self, item: Item) -> tuple[Item, ...]:
        """Return every filter of the table that a filter strictly covers, in order of insertion."""
        probe = self._probe(item)
        return self._search.covered_items(probe, self._links.find(item) or self._twin(probe))

    def entries(self) -> tuple[Pair, ...]:
        """Return all (filter, interface) pairs, in order of insertion."""
        return tuple(
            (node.item, interface)
            for node in self._links.nodes.values()
            for interface in node.interfaces
        )

    def __len__(self) -> int:
        return len(self._links.nodes)

    def __iter__(self) -> Iterator[Item]:
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

        With ``max_tests``, what is left when so many filters were tested counts as matched. With an
        index, a matcher answers that is built when the table was asked often enough.
        """
        follower = self._following() if max_tests is None else None
        found = None if follower is None else follower.match(notification)
        if found is not None:
            return found
        return frozenset(self._match(notification, max_tests, None))

    def matching(self, notification: Any) -> frozenset[Item]:
        """Return the filters that match."""
        matches, kind = self._matches(notification)
        return frozenset(node.item for node in self._search.satisfying(matches, kind))

    def match_many(
        self, notifications: Iterable[Any], max_tests: int | None = None
    ) -> list[frozenset[Hashable]]:
        """Return what ``match`` returns, for each of many; with an index, all at once."""
        notifications = list(notifications)
        follower = self._following() if max_tests is None else None
        found = None if follower is None else follower.match_many(notifications)
        if found is None:
            found = [frozenset(self._match(each, max_tests, None)) for each in notifications]
        return found

    def _following(self) -> Follower | None:
        """Return the matcher that follows the table from now on, where there is one."""
        if self._follower is None and self._indexed and self._relation.follow is not None:
            with self._making:
                if self._follower is None:
                    follower = self._relation.follow(self)
                    self._links.on_give.append(lambda node, each: follower.give(node.item, each))
                    self._links.on_take.append(lambda node, each: follower.take(node.item, each))
                    self._follower = follower
        return self._follower

    def match_account(self, notification: Any, max_tests: int | None = None) -> MatchAccount:
        """Match, and return where the walk went: visited, tested, skipped, matched, and more."""
        trail = Trail()
        return trail.account(self._match(notification, max_tests, trail))

    def _match(
        self, notification: Any, max_tests: int | None, trail: Trail | None
    ) -> set[Hashable]:
        if max_tests is not None and max_tests < 0:
            raise ValueError(f"max_tests must not be negative, is {max_tests}")
        matches, kind = self._matches(notification)
        return walk(self._links, self._search, matches, kind, max_tests, trail)

    def _matches(self, notification: Any) -> tuple[Callable[[Node], bool], Hashable]:
        matches = self._relation.matches
        if matches is None:
            raise TypeError("the table was given covers= without matches=, so it cannot match")
        counters = self.counters
        ask = matches

        def test(node: Node) -> bool:
            counters.match_tests += 1
            return bool(ask(node.item, notification))

        return test, self._relation.kind_of_notification(notification)

    # -- as a whole --------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise InvariantError, with ``.invariant`` and ``.witness``, unless all is as promised.

        Compares by the relation anew, without counting: up to two tests for every pair of filters
        that no path joins.
        """
        check_table(self.structure, self.local, self._links, self._relation.covers)

    def snapshot(self, *, index: bool = True) -> Snapshot:
        """Return a picture of the table that stays as it is; O(nodes + edges).

        With ``index=False`` the interface index is left out of it; in a deep forest of many
        interfaces that is nearly all there is to write.
        """
        links = self._links
        number = {node: i for i, node in enumerate(links.nodes.values())}
        nodes = []
        for node, i in number.items():
            listed = links.index_of(node) if index else None
            nodes.append(SnapshotNode(i, node.item, tuple(node.interfaces), listed))
        edges = tuple((number[parent], number[child]) for parent, child in links.edges())
        return Snapshot(self.structure, tuple(nodes), edges, local=self.local)

    @classmethod
    def _restored(cls, snapshot: Snapshot, options: dict[str, Any]) -> Self:
        if snapshot.local:
            options = {"local": True, **options}
        table = cls(**options)
        table._load(
            ((node.item, node.interfaces) for node in snapshot.nodes),
            snapshot.edges,
            (node.index for node in snapshot.nodes),
        )
        return table

    def _load(
        self,
        rows: Iterable[tuple[Item, Iterable[Hashable]]],
        edges: Iterable[tuple[int, int]],
        indexes: Iterable[Iterable[Hashable] | None] = (),
    ) -> list[Node]:
        known = ((item, self._traits(item), interfaces) for item, interfaces in rows)
        return self._links.load(known, edges, indexes)

    def copy(self) -> Self:
        """Return a table of the same shape, without listeners and with counters at zero."""
        return self._from_state(*self._state())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        relation, local, indexed, *content = self._state()
        return self._from_state(relation, local, indexed, *copy.deepcopy(content, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        # Flat, so that no depth of the table is too deep for the pickle.
        return (_from_state, (type(self), *self._state()))

    def _state(self) -> tuple[Any, ...]:
        links = self._links
        number = {node: i for i, node in enumerate(links.nodes.values())}
        rows = [(node.item, tuple(node.interfaces)) for node in number]
        edges = [(number[parent], number[child]) for parent, child in links.edges()]
        aliases = [(number[node], item) for item, node in links.aliases.items()]
        claims = {number[node]: index for node, index in links.claims().items()}
        return self._relation, self.local, self._indexed, rows, edges, aliases, claims

    @classmethod
    def _from_state(
        cls,
        relation: Relation,
        local: bool,
        indexed: bool,
        rows: list[tuple[Item, tuple[Hashable, ...]]],
        edges: list[tuple[int, int]],
        aliases: list[tuple[int, Item]],
        claims: dict[int, frozenset[Hashable]],
    ) -> Self:
        table = cls.__new__(cls)
        table._relation = relation
        table.local = local
        table._indexed = indexed
        table._start()
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

    def _content(self) -> dict[Item, tuple[frozenset[Hashable], frozenset[Item]]]:
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


def _from_state(cls: type[Table], *state: Any) -> Table:
    return cls._from_state(*state)

"""The router: told of a message and its source, it returns the messages to send; no I/O."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Self, TypeAlias

from posetlib.errors import InvariantError, SnapshotError, UnknownNeighbourError
from posetlib.filters.filter import Filter
from posetlib.merging.merged_set import MergedSet
from posetlib.routing.exchange import LOCAL, Exchange, Rules, SimpleExchange
from posetlib.routing.languages import LANGUAGES, Language
from posetlib.routing.leases import Entry, Leases
from posetlib.routing.messages import PARTS, Update
from posetlib.routing.options import ALGORITHMS, TOP, check_options, types_by_direction
from posetlib.routing.reach import Advertised, Everywhere, Pins, Reach, TowardsRendezvous
from posetlib.routing.state import RouterState, read_state, write_state
from posetlib.search.relation import Matcher, Relation
from posetlib.tables import Table, forwards_sets, structure_named

__all__ = ["ALGORITHMS", "TOP", "Router"]

Interfaces = frozenset[Hashable]
#: What an update changes of one kind: the kind, its exchange, what goes and what comes.
_Part: TypeAlias = tuple[str, Exchange, tuple[Filter, ...], tuple[Filter, ...]]


class Router:
    """The core of a content-based router, without any I/O.

    A source that is not a neighbour is a local client. ``table`` is the structure of the external
    table, "fp" or "nrf"; ``forwards`` is "exact", or "approximate" for "nrf"; ``merging`` is None,
    "perfect" or "imperfect", with the ``domains`` and the ``max_loss`` of ``pl.merge``. With
    ``advertisements`` subscriptions go only where an overlapping advertisement came from. With a
    ``master`` subscriptions go only to that neighbour, and so does every notification; the
    ``master`` of the router at the top is ``posetlib.routing.TOP``, and it sends none. A
    ``matcher``, such as ``pl.BitmapMatcher``, takes over the delivery to local clients.
    ``rendezvous`` has event types, as filters, by the neighbour in whose direction they meet; None
    is this router. ``language`` is "filters" or
    "expressions", of ``pl.parse_expression``. ``clock`` is what leases are measured by.

    >>> from posetlib import parse_filter
    >>> router = Router(["I1", "I2"])
    >>> wide, narrow = parse_filter("x in [0, 9]"), parse_filter("x in [2, 3]")
    >>> for update in router.subscribe(wide, "I1"):
    ...     print(update)
    to I2: subscribe x in [0, 9]
    >>> for update in router.subscribe(narrow, "alice"):
    ...     print(update)
    to I1: subscribe x in [2, 3]
    >>> sorted(router.route({"x": 2}, "bob"))
    ['I1', 'alice']
    """

    def __init__(
        self,
        neighbours: Iterable[Hashable] = (),
        table: str = "fp",
        advertisements: bool = False,
        merging: str | None = None,
        forwards: str = "exact",
        master: Hashable | None = None,
        *,
        algorithm: str = "covering",
        matcher: Callable[[], Matcher] | None = None,
        rendezvous: Mapping[Hashable, Filter | Iterable[Filter]] | None = None,
        domains: Mapping[str, Any] | None = None,
        max_loss: float | None = None,
        language: str = "filters",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if isinstance(neighbours, str):
            raise TypeError("neighbours is a collection of interfaces, not one string")
        #: What the router was made with, but for neighbours, matcher and clock.
        self.options: Final[dict[str, Any]] = {
            "table": table,
            "advertisements": advertisements,
            "merging": merging,
            "forwards": forwards,
            "master": master,
            "algorithm": algorithm,
            "rendezvous": types_by_direction(rendezvous),
            "domains": domains,
            "max_loss": max_loss,
            "language": language,
        }
        self._neighbours: dict[Hashable, None] = {}
        for each in neighbours:
            self._check_new_neighbour(each)
            self._neighbours[each] = None
        check_options(self.options, self._neighbours)
        self._clock = clock
        self._matcher = matcher
        self.leases = Leases(clock)
        #: Publications of clients that lay outside their own advertisements.
        self.dropped = 0
        #: Filters that go to a neighbour whatever it advertises, to be read: ``pin`` adds to them.
        self.pins = Pins()
        self._is_collecting = False
        self._set_up(None)

    def _check_new_neighbour(self, neighbour: Hashable) -> None:
        if neighbour in self._neighbours:
            raise ValueError(f"{neighbour!r} is a neighbour already")
        if neighbour is None or neighbour in {LOCAL, TOP}:
            raise ValueError(f"{neighbour!r} cannot be the name of a neighbour")

    def _set_up(self, tables: Mapping[str, tuple[Table[Filter], Table[Filter]]] | None) -> None:
        """Make the exchanges, empty or around restored tables."""
        tables = tables or {}
        options = self.options
        rules = Rules(
            structure=options["table"],
            exact=self._is_exact(),
            relation=self._relation(),
            merging=None
            if options["merging"] is None
            else partial(
                MergedSet,
                perfect=options["merging"] == "perfect",
                domains=options["domains"],
                max_loss=options["max_loss"],
            ),
        )
        make = SimpleExchange if options["algorithm"] == "simple" else Exchange
        self._advertisements: Exchange | None = None
        self._advertised: Advertised | None = None
        if options["advertisements"]:
            self._advertisements = make(
                rules, self._reach_of_advertisements(), tables=tables.get("advertise")
            )
            self._advertised = Advertised(
                self._neighbours,
                self._advertisements.table,
                options["rendezvous"],
                self.pins,
                rules.relation.covers,
            )
        self._subscriptions = make(
            rules, self._reach_of_subscriptions(), self._matcher, tables.get("subscribe")
        )

    def _is_exact(self) -> bool:
        # Without trees there is nothing to leave out: the poset is always exact.
        promises = structure_named(self.options["table"]).promises
        return self.options["forwards"] == "exact" or promises.forwards == "poset"

    def _relation(self) -> Relation[Filter]:
        language = self.language
        return (
            language.relation if self.options["algorithm"] == "covering" else language.same_only()
        )

    @property
    def language(self) -> Language:
        """What subscriptions and advertisements are written in."""
        return LANGUAGES[self.options["language"]]

    def _reach_of_advertisements(self) -> Reach:
        if self.options["rendezvous"]:
            return TowardsRendezvous(self._neighbours, self.options["rendezvous"])
        return Everywhere(self._neighbours)

    def _reach_of_subscriptions(self) -> Reach:
        if self._advertised is not None:
            return self._advertised
        if self.options["algorithm"] == "flooding":
            return Everywhere(())
        master = self.options["master"]
        if master is None:
            return Everywhere(self._neighbours)
        return Everywhere(() if master == TOP else (master,))

    # -- updates -----------------------------------------------------------------------------------

    def subscribe(
        self, filter: Filter, source: Hashable, *, ttl: float | None = None
    ) -> list[Update]:
        """Let a client or a neighbour hold a subscription; returns what to send.

        One update at most for each neighbour. With ``ttl``, it ends after that number of seconds
        unless its source subscribes again before.
        """
        return self.receive(Update(None, subscribe=(filter,)), source, ttl=ttl)

    def unsubscribe(self, filter: Filter, source: Hashable) -> list[Update]:
        """Let a source release a subscription.

        UnknownEntryError for a client that does not hold it; a neighbour's is ignored then.
        """
        return self.receive(Update(None, unsubscribe=(filter,)), source)

    def advertise(
        self, filter: Filter, source: Hashable, *, ttl: float | None = None
    ) -> list[Update]:
        """Let a source announce what it will publish; as ``subscribe``."""
        return self.receive(Update(None, advertise=(filter,)), source, ttl=ttl)

    def unadvertise(self, filter: Filter, source: Hashable) -> list[Update]:
        """Let a source withdraw an announcement; as ``unsubscribe``."""
        return self.receive(Update(None, unadvertise=(filter,)), source)

    def replace(
        self, old: Filter, new: Filter, source: Hashable, *, ttl: float | None = None
    ) -> list[Update]:
        """Let a source hold one subscription instead of another one, without a gap between them.

        >>> from posetlib import parse_filter
        >>> router = Router(["I1"])
        >>> old, new = parse_filter("x > 3"), parse_filter("x > 5")
        >>> _ = router.subscribe(old, "alice")
        >>> for update in router.replace(old, new, "alice"):
        ...     print(update)
        to I1: unsubscribe x > 3; subscribe x > 5
        """
        return self.receive(Update(None, (new,), (old,)), source, ttl=ttl)

    def receive(
        self, update: Update, source: Hashable, *, ttl: float | None = None
    ) -> list[Update]:
        """Apply all of an update, or nothing if it raises; removals first, then additions.

        The answers are one update at most for each neighbour. A local client may send several
        changes at once in this way, too.
        """
        if ttl is not None and not ttl > 0:
            raise ValueError(f"a time to live is a positive number of seconds, not {ttl!r}")
        self._check_source(source)
        parts = self._parts_of(update)
        is_local = source not in self._neighbours
        released = self._leased_entries(parts, source)
        with self._all_or_nothing():
            for _, exchange, removed, added in parts:
                remove = exchange.remove_local if is_local else exchange.remove
                add = exchange.add_local if is_local else exchange.add
                for item in removed:
                    remove(item, source)
                for item in added:
                    add(item, source)
        for entry in released:
            self.leases.forget(entry)
        if ttl is not None or len(self.leases):
            for kind, _, _, added in parts:
                for item in added:
                    self.leases.grant((kind, self.as_held(item, source, kind), source), ttl)
        return self._flush()

    def _check_source(self, source: Hashable) -> None:
        hash(source)
        if source is None or source == LOCAL:
            raise ValueError(f"{source!r} cannot be the name of a client")

    def _parts_of(self, update: Update) -> list[_Part]:
        """Return what an update changes: kind, exchange, removals, additions."""
        for part in PARTS:
            for item in getattr(update, part):
                self.language.check(item)
        parts = [("subscribe", self._subscriptions, update.unsubscribe, update.subscribe)]
        if update.advertise or update.unadvertise:
            exchange = self._asked_advertisements()
            parts.append(("advertise", exchange, update.unadvertise, update.advertise))
        return parts

    def _leased_entries(self, parts: list[_Part], source: Hashable) -> list[Entry]:
        """Return the leases that removals end; found before these, while their filters are held."""
        if not len(self.leases):
            return []
        return [
            (kind, self.as_held(item, source, kind), source)
            for kind, _, removed, _ in parts
            for item in removed
        ]

    def as_held(self, filter: Filter, source: Hashable, kind: str = "subscribe") -> Filter:
        """Return a filter in the form in which it is held: its own, or that of an equivalent.

        Equivalent filters that are not equal share an entry, in the form that came first. As long
        as a source holds it, the form stays. ``kind`` is "subscribe" or "advertise".
        """
        exchange = self._subscriptions if kind == "subscribe" else self._asked_advertisements()
        return exchange.as_held(filter, local=source not in self._neighbours)

    def expire(self) -> list[Update]:
        """Release every subscription and advertisement whose time to live is over.

        ``leases.next_end()`` says in how many seconds it is worth calling.
        """
        return self.release(self.leases.expired())

    def release(self, entries: Iterable[Entry]) -> list[Update]:
        """Release entries (kind, filter, source) at once, as those that ``leases.expired`` returns.

        What a source does not hold any more is ignored.
        """
        with self._all_or_nothing():
            for kind, item, source in entries:
                exchange = self._by_name()[kind]
                if source in self._neighbours:
                    exchange.remove(item, source)
                else:
                    exchange.discard_local(item, source)
        return self._flush()

    def pin(self, filter: Filter, neighbour: Hashable, key: Hashable) -> list[Update]:
        """Let a filter go to a neighbour whatever that one advertises, until ``unpin(key)``.

        A pin only opens the way for what is held: the filter itself, or whatever covers it. Without
        advertisements filters go their way anyhow, and nothing is sent.

        >>> from posetlib import parse_filter
        >>> router = Router(["I1", "I2"], advertisements=True)
        >>> wide, narrow = parse_filter("x > 3"), parse_filter("x > 5")
        >>> router.subscribe(wide, "alice")
        []
        >>> print(*router.pin(narrow, "I2", "a journey"))
        to I2: subscribe x > 3
        >>> print(*router.unpin("a journey"))
        to I2: unsubscribe x > 3
        """
        if neighbour not in self._neighbours:
            raise UnknownNeighbourError(f"{neighbour!r} is not a neighbour")
        self.language.check(filter)
        hash(key)
        if self.pins.add(filter, neighbour, key) and self._advertised is not None:
            self._subscriptions.forwarding.touch_overlapping(filter, neighbour)
        return self._flush()

    def unpin(self, key: Hashable) -> list[Update]:
        """Release all that a key has pinned, if it has pinned anything."""
        for item, neighbour in self.pins.remove(key):
            if self._advertised is not None:
                self._subscriptions.forwarding.touch_overlapping(item, neighbour)
        return self._flush()

    @contextmanager
    def together(self) -> Iterator[list[Update]]:
        """Collect the updates of several calls as one batch: at most one for each neighbour.

        The calls inside return nothing; the list has it all at the end. If one of them raises, no
        change of the batch is left but for pins.

        >>> from posetlib import parse_filter
        >>> router = Router(["I1"])
        >>> with router.together() as updates:
        ...     _ = router.subscribe(parse_filter("x > 3"), "alice")
        ...     _ = router.subscribe(parse_filter("y > 3"), "bob")
        >>> print(*updates)
        to I1: subscribe x > 3, y > 3
        """
        if self._is_collecting:
            raise RuntimeError("together() does not nest")
        updates: list[Update] = []
        self._is_collecting = True
        try:
            yield updates
        finally:
            self._is_collecting = False
            updates += self._flush()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            for exchange in self._exchanges():
                exchange.undo()
            self._flush()
            raise

    def _exchanges(self) -> Iterator[Exchange]:
        yield self._subscriptions
        if self._advertisements is not None:
            yield self._advertisements

    def _flush(self) -> list[Update]:
        """Return what all that was done means for the neighbours, in their order."""
        if self._is_collecting:
            return []
        advertised: dict[Hashable, tuple[list[Filter], list[Filter]]] = {}
        if self._advertised is not None and self._advertisements is not None:
            for item, neighbour in self._advertised.changes():
                self._subscriptions.forwarding.touch_overlapping(item, neighbour)
            advertised = self._advertisements.flush()
        subscribed = self._subscriptions.flush()
        if not subscribed and not advertised:
            return []
        none: tuple[list[Filter], list[Filter]] = ([], [])
        updates = []
        for neighbour in self._neighbours:
            if neighbour in subscribed or neighbour in advertised:
                added, gone = subscribed.get(neighbour, none)
                announced, withdrawn = advertised.get(neighbour, none)
                if added or gone or announced or withdrawn:
                    updates.append(
                        Update(
                            neighbour, tuple(added), tuple(gone), tuple(announced), tuple(withdrawn)
                        )
                    )
        return updates

    # -- neighbours and clients --------------------------------------------------------------------

    @property
    def neighbours(self) -> tuple[Hashable, ...]:
        """The neighbours, in the order in which they came."""
        return tuple(self._neighbours)

    @property
    def clients(self) -> tuple[Hashable, ...]:
        """The local clients that hold a subscription or an advertisement."""
        return tuple(
            dict.fromkeys(
                client for each in self._exchanges() for client in each.local._links.holders
            )
        )

    def add_neighbour(
        self, neighbour: Hashable, *, rendezvous: Iterable[Filter] = ()
    ) -> list[Update]:
        """Add a neighbour; the update for it has all that it must know.

        ``rendezvous``: event types that meet in its direction from now on.
        """
        self._check_new_neighbour(neighbour)
        if neighbour in self.clients:
            raise ValueError(f"{neighbour!r} is a local client")
        types = tuple(rendezvous)
        if types:
            if self._advertised is None:
                raise ValueError("rendezvous= needs a router with advertisements=True")
            self.options["rendezvous"][neighbour] = types
        self._neighbours[neighbour] = None
        self._reach_again()
        return self._flush()

    def drop_neighbour(self, neighbour: Hashable) -> list[Update]:
        """Let a neighbour go, with everything it sent; UnknownNeighbourError if it is none."""
        if neighbour not in self._neighbours:
            raise UnknownNeighbourError(f"{neighbour!r} is not a neighbour")
        if neighbour == self.options["master"]:
            raise ValueError(f"{neighbour!r} is the master: choose another one with set_master()")
        with self._all_or_nothing():
            for exchange in self._exchanges():
                exchange.drop(neighbour)
        del self._neighbours[neighbour]
        self.options["rendezvous"].pop(neighbour, None)
        self.pins.drop(neighbour)
        self.leases.forget_source(neighbour)
        self._reach_again()
        updates = self._flush()
        for exchange in self._exchanges():
            exchange.forget(neighbour)
        return updates

    def set_master(self, neighbour: Hashable | None) -> list[Update]:
        """Let another neighbour be the master, or none; returns what to send.

        A router without a master sends subscriptions to all neighbours; with ``TOP``, to none.
        """
        if neighbour not in {None, TOP} and neighbour not in self._neighbours:
            raise UnknownNeighbourError(f"{neighbour!r} is not a neighbour")
        if neighbour is not None and self._advertised is not None:
            raise ValueError("a router with advertisements has no master")
        self.options["master"] = neighbour
        self._reach_again()
        return self._flush()

    def drop_client(self, client: Hashable) -> list[Update]:
        """Let a local client go, with all its subscriptions and advertisements."""
        if client in self._neighbours:
            raise ValueError(f"{client!r} is a neighbour: drop_neighbour() lets it go")
        with self._all_or_nothing():
            for exchange in self._exchanges():
                exchange.drop_local(client)
        self.leases.forget_source(client)
        return self._flush()

    def _reach_again(self) -> None:
        """Let the forwards sets know that the neighbours changed."""
        if self._advertised is not None and self._advertisements is not None:
            self._advertised.set_neighbours(self._neighbours)
            self._advertisements.forwarding.set_reach(self._reach_of_advertisements())
        self._subscriptions.forwarding.set_reach(self._reach_of_subscriptions())

    # -- notifications -----------------------------------------------------------------------------

    def route(self, notification: Mapping[str, Any], source: Hashable) -> Interfaces:
        """Return where a notification goes: neighbours other than its source, and local clients.

        A client that publishes gets its own notification if it subscribes to it. With
        advertisements, what a client publishes outside its own advertisements goes nowhere, and is
        counted in ``dropped``.
        """
        return self.route_many([notification], source)[0]

    def route_many(
        self, notifications: Iterable[Mapping[str, Any]], source: Hashable
    ) -> list[Interfaces]:
        """Return what ``route`` returns, for each of many from one source; all at once."""
        batch = list(notifications)
        allowed = self._allowed(batch, source)
        if allowed is not None:
            found = iter(self._destinations([batch[i] for i in allowed], source))
            kept = set(allowed)
            return [next(found) if i in kept else frozenset() for i in range(len(batch))]
        return self._destinations(batch, source)

    def _allowed(self, batch: list[Mapping[str, Any]], source: Hashable) -> list[int] | None:
        """Return which notifications a client may publish, None for all; counts the others."""
        if self._advertisements is None or source in self._neighbours:
            return None
        advertisers = self._advertisements.clients_of(batch)
        allowed = [i for i, clients in enumerate(advertisers) if source in clients]
        self.dropped += len(batch) - len(allowed)
        return None if len(allowed) == len(batch) else allowed

    def _destinations(self, batch: list[Mapping[str, Any]], source: Hashable) -> list[Interfaces]:
        if not batch:
            return []
        table = self._subscriptions.table
        found = table.match_many(batch) if len(batch) > 1 else [table.match(batch[0])]
        # Many notifications have the same interfaces: what is left of them is worked out once.
        left: dict[Interfaces, Interfaces] = {}
        always = self.always() - {source}
        for interfaces in set(found):
            left[interfaces] = (interfaces | always) - {source, LOCAL}
        local = [i for i, interfaces in enumerate(found) if LOCAL in interfaces]
        result = [left[interfaces] for interfaces in found]
        if local:
            clients = self._subscriptions.clients_of([batch[i] for i in local])
            for i, some in zip(local, clients, strict=True):
                result[i] |= some
        return result

    def always(self) -> Interfaces:
        """Return the neighbours that get every notification: all with flooding, or the master."""
        if self.options["algorithm"] == "flooding":
            return frozenset(self._neighbours)
        master = self.options["master"]
        return frozenset() if master in {None, TOP} else frozenset((master,))

    def explain(
        self,
        notification: Mapping[str, Any],
        source: Hashable,
        destinations: Interfaces | None = None,
    ) -> dict[Hashable, tuple[Filter, ...]]:
        """Return for each destination of a notification the subscriptions that asked for it.

        None at all, for a neighbour that gets everything: by flooding, or as the master.
        ``destinations`` are those that ``route`` returned, if they are known already.

        >>> from posetlib import parse_filter
        >>> router = Router(["I1", "I2"])
        >>> _ = router.subscribe(parse_filter("x > 3"), "I1")
        >>> router.explain({"x": 5}, "bob")
        {'I1': (Filter('x > 3'),)}
        """
        if destinations is None:
            before = self.dropped
            destinations = self.route(notification, source)
            self.dropped = before
        neighbours = [each for each in self._neighbours if each in destinations]
        exchange = self._subscriptions
        reasons: dict[Hashable, tuple[Filter, ...]] = {}
        tables: list[tuple[Table[Filter], Hashable]] = []
        if neighbours:
            tables.append((exchange.table, LOCAL))
        if len(neighbours) < len(destinations):
            tables.append((exchange.local, None))
        for table, excluded in tables:
            for item in _in_order(table, table.matching(notification)):
                for interface in table.interfaces(item):
                    if interface in destinations and interface != excluded:
                        reasons[interface] = (*reasons.get(interface, ()), item)
        clients = self.clients if len(neighbours) < len(destinations) else ()
        everyone = [*neighbours, *(each for each in clients if each in destinations)]
        return {each: reasons.get(each, ()) for each in everyone}

    # -- state -------------------------------------------------------------------------------------

    @property
    def table(self) -> Table[Filter]:
        """The external table: subscriptions of neighbours, and the root set of local clients.

        To be read, not changed.
        """
        return self._subscriptions.table

    @property
    def local_table(self) -> Table[Filter]:
        """The subscriptions of local clients, to be read."""
        return self._subscriptions.local

    @property
    def advertisement_table(self) -> Table[Filter]:
        """The external table of advertisements, to be read; ValueError without advertisements."""
        return self._asked_advertisements().table

    @property
    def local_advertisement_table(self) -> Table[Filter]:
        """The advertisements of local clients, to be read; ValueError without advertisements."""
        return self._asked_advertisements().local

    def _asked_advertisements(self) -> Exchange:
        if self._advertisements is None:
            raise ValueError("the router was made without advertisements=True")
        return self._advertisements

    def subscriptions(self, source: Hashable) -> tuple[Filter, ...]:
        """Return what a client or a neighbour subscribes to, in order."""
        return self._subscriptions.held_by(source, local=source not in self._neighbours)

    def advertisements(self, source: Hashable) -> tuple[Filter, ...]:
        """Return what a client or a neighbour advertises, in order."""
        return self._asked_advertisements().held_by(source, local=source not in self._neighbours)

    def sent(self, neighbour: Hashable) -> Update:
        """Return all that a neighbour was told and still holds, as one update."""
        if neighbour not in self._neighbours:
            raise UnknownNeighbourError(f"{neighbour!r} is not a neighbour")
        advertised = () if self._advertisements is None else self._advertisements.sent(neighbour)
        return Update(
            neighbour, subscribe=self._subscriptions.sent(neighbour), advertise=advertised
        )

    def would_send(self, filter: Filter, neighbour: Hashable, kind: str = "subscribe") -> bool:
        """Return whether a filter of a new client would go to a neighbour."""
        return self._by_name()[kind].would_send(filter, neighbour)

    def forwards_sets(self) -> dict[Filter, Interfaces]:
        """Return the neighbours that each subscription is sent to, before merging."""
        return self._subscriptions.forwarding.sets()

    def check(self) -> None:
        """Raise InvariantError unless tables, root sets and forwards sets are what they must be.

        The forwards sets are computed anew and compared.
        """
        for exchange in self._exchanges():
            exchange.local.check()
            exchange.table.check()
            # The table may hold a root in an equivalent form, which a neighbour sent first.
            held, roots = exchange.held_by(LOCAL, local=False), exchange.local.roots()
            table = exchange.table
            wrong = [
                each for each in roots if each not in table or LOCAL not in table.interfaces(each)
            ]
            if wrong or len(held) != len(roots):
                raise InvariantError("local-roots", set(held) ^ set(roots))
            if isinstance(exchange, SimpleExchange):
                continue
            own = exchange.forwarding.sets()
            mechanism = None if self._is_exact() else "approximate"
            anew = forwards_sets(exchange.table, exchange.forwarding.reach.of, mechanism)
            if own != anew:
                raise InvariantError("forwards-agree", (own, anew))

    def to_json(self) -> str:
        """Return all that the router knows; names must be strings. O(filters).

        >>> router = Router(["I1"])
        >>> Router.from_json(router.to_json())
        <Router: 1 neighbours, 0 clients, 0 filters>
        """
        return write_state(self, self._by_name())

    @classmethod
    def from_json(
        cls,
        text: str | bytes,
        *,
        matcher: Callable[[], Matcher] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Return the router that was saved, which goes on exactly as it would have.

        ``matcher`` and ``clock`` are functions, and not in the file. Leases have as much time left
        as they had. SnapshotError for a text that ``to_json`` did not write.
        """
        state = read_state(text)
        try:
            router = cls(state.neighbours, **state.options, matcher=matcher, clock=clock)
        except (TypeError, ValueError) as error:
            raise SnapshotError(f"the options do not make a router: {error}") from error
        try:
            router._take_over(state)
        except SnapshotError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise SnapshotError(f"the state is malformed: {error!r}") from error
        return router

    def _take_over(self, state: RouterState) -> None:
        for pinned in state.pins():
            self.pins.add(*pinned)
        self._set_up(state.tables(self._relation()))
        for name, exchange in self._by_name().items():
            state.fill(name, exchange)
            exchange.settle()
        self.dropped = state.dropped
        for kind, item, source, left in state.leases():
            self.leases.grant((kind, item, source), left)

    def _by_name(self) -> dict[str, Exchange]:
        named = {"subscribe": self._subscriptions}
        if self._advertisements is not None:
            named["advertise"] = self._advertisements
        return named

    def __repr__(self) -> str:
        return (
            f"<Router: {len(self._neighbours)} neighbours, {len(self.clients)} clients, "
            f"{len(self.table)} filters>"
        )


def _in_order(table: Table[Filter], items: Iterable[Filter]) -> list[Filter]:
    nodes = table._links.nodes
    return sorted(items, key=lambda item: nodes[item].serial)

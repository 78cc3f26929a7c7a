"""A network of brokers in one process: routers at the nodes of a tree, links, and clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Final, NamedTuple, Self

from posetlib.errors import SnapshotError, UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter
from posetlib.routing import TOP, Router, Update
from posetlib.routing.exchange import LOCAL
from posetlib.routing.messages import PARTS
from posetlib.simulation.audit import Audit, Ledger, is_settled
from posetlib.simulation.events import Event, Hop, Message, Publication
from posetlib.simulation.links import Link, Links
from posetlib.simulation.record import Recorder, operations_of, options_of
from posetlib.simulation.sessions import Holding, Session
from posetlib.simulation.topology import Tree
from posetlib.simulation.validity import check_network

__all__ = ["NETWORK_ALGORITHMS", "Network", "TableSizes"]

#: What each algorithm is for a router: its ``algorithm`` and its ``merging``.
_FOR_ROUTERS: Final[dict[str, tuple[str, str | None]]] = {
    "flooding": ("flooding", None),
    "simple": ("simple", None),
    "identity": ("identity", None),
    "covering": ("covering", None),
    "merging": ("covering", "perfect"),
    "imperfect-merging": ("covering", "imperfect"),
}
NETWORK_ALGORITHMS: Final = tuple(_FOR_ROUTERS)


class TableSizes(NamedTuple):
    """How many (filter, interface) pairs a broker holds: of neighbours, and of its clients.

    The root set of the clients counts as one neighbour more, since it is in the same table.
    """

    subscriptions: int
    local_subscriptions: int
    advertisements: int = 0
    local_advertisements: int = 0


class Network:
    """Brokers at the nodes of a tree, FIFO links between them, and clients; one process, no clock.

    Brokers act at once when a client asks or a message arrives; what they send to one another lies
    on the links until ``step`` delivers it, and the seed says from which link the next one comes.
    ``algorithm`` is one of ``NETWORK_ALGORITHMS``; ``table`` and ``forwards`` are those of
    ``Router``, and so are ``domains`` and ``max_loss`` for "imperfect-merging". ``master`` is the
    broker at the top of a hierarchy. ``rendezvous`` has the event types that meet at a broker, as
    filters. Filters may be given as text. ``tracing=False`` keeps no events and no reasons, and
    ``auditing=False`` no account of what is due: for long runs.

    >>> import networkx as nx
    >>> net = Network(nx.path_graph(["B1", "B2", "B3"]))
    >>> net.attach("alice", "B1")
    >>> net.attach("bob", "B3")
    >>> net.subscribe("alice", "x > 3")
    >>> print(net.step())
    step 1: B1 to B2: subscribe x > 3; goes on to B3
    >>> net.run()
    1
    >>> publication = net.publish("bob", {"x": 5})
    >>> net.run()
    2
    >>> net.delivered("alice")
    ({'x': 5},)
    >>> net.messages
    Counter({'subscribe': 2, 'notify': 2})
    >>> net.check()
    """

    def __init__(
        self,
        graph: Any,
        algorithm: str = "covering",
        advertisements: bool = False,
        seed: int = 0,
        *,
        table: str = "fp",
        forwards: str = "exact",
        master: Hashable | None = None,
        rendezvous: Mapping[Any, Filter | str | Iterable[Filter | str]] | None = None,
        domains: Mapping[str, Any] | None = None,
        max_loss: float | None = None,
        tracing: bool = True,
        auditing: bool = True,
    ) -> None:
        if algorithm not in _FOR_ROUTERS:
            raise ValueError(
                f"algorithm is one of {', '.join(NETWORK_ALGORITHMS)}, not {algorithm!r}"
            )
        self._tree = Tree(graph)
        #: What the network was made with, but for the graph.
        self.options: Final[dict[str, Any]] = {
            "algorithm": algorithm,
            "advertisements": advertisements,
            "seed": seed,
            "table": table,
            "forwards": forwards,
            "master": master,
            "rendezvous": self._read_rendezvous(rendezvous),
            "domains": domains,
            "max_loss": max_loss,
        }
        if master is not None:
            self._check_broker(master)
        #: The router of each broker, to be read.
        self.routers: Final[dict[Hashable, Router]] = {
            each: self._make_router(each) for each in self._tree.brokers
        }
        #: What was sent over links between brokers: filters by what is done with them, and
        #: notifications as "notify".
        self.messages: Final[Counter[str]] = Counter()
        self._links = Links(seed)
        for one, other in self._tree.edges:
            self._links.add(one, other)
        self._sessions: dict[Hashable, Session] = {}
        self._delivered: dict[Hashable, list[Publication]] = {}
        #: The order of brokers and clients, by which destinations are served.
        self._rank: dict[Hashable, int] = dict(self._tree.number)
        self._steps = 0
        self._publications = 0
        self._record = Recorder()
        self._events: list[Event] | None = [] if tracing else None
        self._hops: dict[int, list[Hop]] = {}
        self._ledger = Ledger(self._tree) if auditing else None

    def _make_router(self, broker: Hashable) -> Router:
        options = self.options
        algorithm, merging = _FOR_ROUTERS[options["algorithm"]]
        master = options["master"]
        if master is not None:
            master = TOP if master == broker else self._tree.next_hop(broker, master)
        return Router(
            self._tree.neighbours[broker],
            options["table"],
            options["advertisements"],
            merging,
            options["forwards"],
            master,
            algorithm=algorithm,
            rendezvous=self._types_by_direction(broker),
            domains=options["domains"],
            max_loss=options["max_loss"],
        )

    def _read_rendezvous(
        self, rendezvous: Mapping[Any, Filter | str | Iterable[Filter | str]] | None
    ) -> dict[Hashable, tuple[Filter, ...]]:
        found = {}
        for broker, types in (rendezvous or {}).items():
            self._check_broker(broker)
            some = (types,) if isinstance(types, Filter | str) else types
            found[broker] = tuple(map(_as_filter, some))
        return found

    def _types_by_direction(self, broker: Hashable) -> dict[Hashable, tuple[Filter, ...]]:
        """Return the event types that meet in the direction of each neighbour; None is here."""
        found: dict[Hashable, tuple[Filter, ...]] = {}
        for point, types in self.options["rendezvous"].items():
            to = None if point == broker else self._tree.next_hop(broker, point)
            found[to] = (*found.get(to, ()), *types)
        return found

    # -- what there is -----------------------------------------------------------------------------

    @property
    def brokers(self) -> tuple[Hashable, ...]:
        """The brokers, in the order of the graph."""
        return self._tree.brokers

    @property
    def links(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """The links that are whole, each once."""
        return tuple(each for each in self._tree.edges if each in self._links)

    @property
    def clients(self) -> dict[Hashable, Hashable]:
        """The broker of each client that is attached."""
        return {client: session.broker for client, session in self._sessions.items()}

    @property
    def steps(self) -> int:
        """How many messages were delivered over links."""
        return self._steps

    @property
    def publications(self) -> int:
        """How many notifications were published."""
        return self._publications

    @property
    def in_flight(self) -> dict[tuple[Hashable, Hashable], tuple[Message, ...]]:
        """What lies on each link, the next one first; links without anything are left out."""
        return {(link.source, link.target): tuple(link.queue) for link in self._links.busy()}

    @property
    def events(self) -> tuple[Event, ...]:
        """All deliveries over links up to now; ValueError without tracing."""
        return tuple(self._traced())

    def table_sizes(self) -> dict[Hashable, TableSizes]:
        """Return for each broker how much its tables hold."""
        found = {}
        for broker, router in self.routers.items():
            sizes = [_pairs(router.table), _pairs(router.local_table)]
            if self.options["advertisements"]:
                sizes += [
                    _pairs(router.advertisement_table),
                    _pairs(router.local_advertisement_table),
                ]
            found[broker] = TableSizes(*sizes)
        return found

    def subscriptions(self, client: Hashable) -> tuple[Filter, ...]:
        """Return what a client subscribes to, in order."""
        return tuple(self._session(client).subscriptions)

    def advertisements(self, client: Hashable) -> tuple[Filter, ...]:
        """Return what a client advertises, in order."""
        return tuple(self._session(client).advertisements)

    def delivered(self, client: Hashable) -> tuple[Mapping[str, Any], ...]:
        """Return the notifications that a client got, in order, also of earlier stays."""
        return tuple(each.notification for each in self.deliveries(client))

    def deliveries(self, client: Hashable, since: int = 0) -> tuple[Publication, ...]:
        """Return what a client got as publications, which tell equal notifications apart.

        ``since`` leaves out so many at the beginning.
        """
        if client not in self._delivered:
            raise UnknownEntryError(f"there never was a client {client!r}")
        return tuple(self._delivered[client][since:])

    # -- clients -----------------------------------------------------------------------------------

    def attach(self, client: Hashable, broker: Hashable) -> None:
        """Let a client come to a broker; ValueError if it is at one already."""
        self._check_broker(broker)
        if client in self._sessions:
            raise ValueError(
                f"{client!r} is at {self._sessions[client].broker!r} already: detach() it first"
            )
        if client in self.routers:
            raise ValueError(f"{client!r} is a broker: a client needs a name of its own")
        if client is None or client in {LOCAL, TOP}:
            raise ValueError(f"{client!r} cannot be the name of a client")
        self._sessions[client] = Session(client, broker)
        self._delivered.setdefault(client, [])
        self._rank.setdefault(client, len(self._rank))
        self._record.add("attach", client, broker)

    def detach(self, client: Hashable) -> None:
        """Let a client go, with all that it asked for; what is under way to it is lost to it."""
        session = self._session(client)
        updates = self.routers[session.broker].drop_client(client)
        del self._sessions[client]
        if self._ledger is not None:
            self._ledger.left(session)
        self._send_updates(session.broker, updates)
        self._record.add("detach", client)

    def subscribe(self, client: Hashable, filter: Filter | str) -> None:
        """Let a client subscribe; once for the same filter."""
        session, new = self._session(client), _as_filter(filter)
        updates = self.routers[session.broker].subscribe(_known(session.subscriptions, new), client)
        session.subscriptions.add(new)
        self._send_updates(session.broker, updates)
        self._record.add("subscribe", client, new)

    def unsubscribe(self, client: Hashable, filter: Filter | str) -> None:
        """Let a client end a subscription; UnknownEntryError if it does not have it."""
        session, old = self._session(client), _as_filter(filter)
        held = _known(session.subscriptions, old)
        updates = self.routers[session.broker].unsubscribe(held, client)
        session.subscriptions.remove(held)
        self._stopped(session)
        self._send_updates(session.broker, updates)
        self._record.add("unsubscribe", client, old)

    def replace(self, client: Hashable, old: Filter | str, new: Filter | str) -> None:
        """Let a client have one subscription instead of another, without a gap between them."""
        session, gone, come = self._session(client), _as_filter(old), _as_filter(new)
        held, known = _known(session.subscriptions, gone), _known(session.subscriptions, come)
        # An equivalent filter that stays is held in its own form; the one that goes is not.
        updates = self.routers[session.broker].replace(
            held, come if known == held else known, client
        )
        session.subscriptions.remove(held)
        session.subscriptions.add(come)
        self._stopped(session)
        self._send_updates(session.broker, updates)
        self._record.add("replace", client, gone, come)

    def advertise(self, client: Hashable, filter: Filter | str) -> None:
        """Let a client announce what it will publish; ValueError without advertisements."""
        session, new = self._session(client), _as_filter(filter)
        router = self.routers[session.broker]
        updates = router.advertise(_known(session.advertisements, new), client)
        session.advertisements.add(new)
        self._send_updates(session.broker, updates)
        self._record.add("advertise", client, new)

    def unadvertise(self, client: Hashable, filter: Filter | str) -> None:
        """Let a client withdraw an announcement; UnknownEntryError if it did not make it."""
        session, old = self._session(client), _as_filter(filter)
        held = _known(session.advertisements, old)
        updates = self.routers[session.broker].unadvertise(held, client)
        session.advertisements.remove(held)
        self._send_updates(session.broker, updates)
        self._record.add("unadvertise", client, old)

    def publish(self, client: Hashable, notification: Mapping[str, Any]) -> Publication:
        """Let a client publish; clients at its own broker have it at once.

        With advertisements, what it did not announce goes nowhere.
        """
        session = self._session(client)
        publication = Publication(
            self._publications + 1, client, session.broker, dict(notification), self._steps
        )
        self._publications += 1
        self._record.add("publish", client, publication.notification)
        if self._ledger is not None:
            announced = self._is_announced(session, publication.notification)
            due = self._due(session.broker, publication.notification) if announced else ()
            self._ledger.published(publication, session, announced, due)
        self._handle(publication, session.broker, client)
        return publication

    def _is_announced(self, session: Session, notification: Mapping[str, Any]) -> bool:
        return not self.options["advertisements"] or session.advertisements.match(notification)

    def _due(self, broker: Hashable, notification: Mapping[str, Any]) -> list[Session]:
        """Return the clients that a notification published at a broker must reach."""
        return [
            session
            for session in self._sessions.values()
            if session.subscriptions.match(notification)
            and self._must_reach(session.broker, broker, notification)
        ]

    def _must_reach(
        self, client_at: Hashable, publisher_at: Hashable, notification: Mapping[str, Any]
    ) -> bool:
        path = self._tree.path(client_at, publisher_at)
        if not self._links.updates_under_way:
            # At rest, with all that the clients asked for known where it must be.
            return all(ends in self._links for ends in pairwise(path))
        return is_settled(notification, path, self.routers, self._links)

    def settled(
        self, publisher: Hashable, client: Hashable, notification: Mapping[str, Any]
    ) -> bool:
        """Return whether a client is sure to get a notification if it is published now."""
        sender, receiver = self._session(publisher), self._session(client)
        return (
            receiver.subscriptions.match(notification)
            and self._is_announced(sender, notification)
            and is_settled(
                notification,
                self._tree.path(receiver.broker, sender.broker),
                self.routers,
                self._links,
            )
        )

    def _session(self, client: Hashable) -> Session:
        session = self._sessions.get(client)
        if session is None:
            raise UnknownEntryError(f"there is no client {client!r}: attach() it to a broker")
        return session

    def _check_broker(self, broker: Hashable) -> None:
        if broker not in self._tree.number:
            raise UnknownEntryError(f"there is no broker {broker!r} in the graph")

    def _stopped(self, session: Session) -> None:
        if self._ledger is not None:
            self._ledger.stopped(session)

    # -- links -------------------------------------------------------------------------------------

    def break_link(self, one: Hashable, other: Hashable) -> None:
        """Break a link: what is under way on it is lost, and both ends forget each other."""
        self._check_edge(one, other)
        if (one, other) not in self._links:
            raise ValueError(f"the link between {one!r} and {other!r} is broken already")
        lost = self._links.remove(one, other)
        if self._ledger is not None:
            self._ledger.broke(
                (one, other), [each for each in lost if isinstance(each, Publication)]
            )
        for broker, gone in ((one, other), (other, one)):
            router = self.routers[broker]
            if router.options["master"] == gone:
                # What is left below the broken link is a hierarchy of its own. What the old master
                # would be told is lost.
                router.set_master(TOP)
            self._send_updates(broker, router.drop_neighbour(gone))
        self._record.add("break_link", one, other)

    def heal_link(self, one: Hashable, other: Hashable) -> None:
        """Mend a broken link: each end tells the other all that it must know."""
        self._check_edge(one, other)
        if (one, other) in self._links:
            raise ValueError(f"the link between {one!r} and {other!r} is not broken")
        self._links.add(one, other)
        top = self.options["master"]
        for broker, back in ((one, other), (other, one)):
            router = self.routers[broker]
            types = self._types_by_direction(broker).get(back, ())
            self._send_updates(broker, router.add_neighbour(back, rendezvous=types))
            if top not in {None, broker} and self._tree.next_hop(broker, top) == back:
                self._send_updates(broker, router.set_master(back))
        self._record.add("heal_link", one, other)

    def _check_edge(self, one: Hashable, other: Hashable) -> None:
        self._check_broker(one)
        if other not in self._tree.neighbours[one]:
            raise UnknownEntryError(f"there is no link between {one!r} and {other!r} in the graph")

    # -- deliveries --------------------------------------------------------------------------------

    def step(self, link: tuple[Hashable, Hashable] | None = None) -> Event | None:
        """Deliver one message: the first on a link that the seed chooses, or on this one.

        Returns what happened, None if nothing is under way (on that link).
        """
        if link is None:
            if self._links.are_empty:
                return None
            chosen = self._links.choose()
            self._record.step()
        else:
            self._check_edge(*link)
            if link not in self._links or not self._links[link].queue:
                return None
            chosen = self._links[link]
            self._record.add("deliver", *link)
        return self._deliver(chosen)

    def _deliver(self, link: Link) -> Event:
        message = self._links.take(link)
        self._steps += 1
        broker, source = link.target, link.source
        sent: Iterable[tuple[Hashable, Message]]
        clients: tuple[Hashable, ...] = ()
        if isinstance(message, Update):
            updates = self.routers[broker].receive(message, source)
            self._send_updates(broker, updates)
            sent = ((each.to, each) for each in updates)
        else:
            brokers, clients = self._handle(message, broker, source)
            sent = ((each, message) for each in brokers)
        event = Event(self._steps, source, broker, message, tuple(sent), clients)
        if self._events is not None:
            self._events.append(event)
        return event

    def run(self, limit: int | None = None) -> int:
        """Deliver until nothing is under way, or so many messages; returns how many it were."""
        done = 0
        while (limit is None or done < limit) and self.step() is not None:
            done += 1
        return done

    def _handle(
        self, publication: Publication, broker: Hashable, source: Hashable
    ) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
        """Let a broker route a notification; returns the brokers and the clients it went to."""
        router = self.routers[broker]
        if self._events is not None:
            self._note_hop(publication, router, broker, source)
        brokers, clients = [], []
        for to in self._in_order(router.route(publication.notification, source)):
            session = self._sessions.get(to)
            if (broker, to) in self._links:
                self._send(broker, to, publication)
                brokers.append(to)
            elif session is not None and session.broker == broker:
                self._notify(session, publication)
                clients.append(to)
            elif self._ledger is not None:
                self._ledger.strayed(publication, broker, to)
        if self._ledger is not None:
            self._ledger.handled(publication, broker)
        return tuple(brokers), tuple(clients)

    def _in_order(self, destinations: Iterable[Hashable]) -> list[Hashable]:
        return sorted(destinations, key=lambda each: self._rank.get(each, -1))

    def _notify(self, session: Session, publication: Publication) -> None:
        self._delivered[session.client].append(publication)
        if self._ledger is not None:
            self._ledger.delivered(publication, session)

    def _send_updates(self, broker: Hashable, updates: Iterable[Update]) -> None:
        for update in updates:
            self._send(broker, update.to, update)

    def _send(self, broker: Hashable, to: Hashable, message: Message) -> None:
        if isinstance(message, Update):
            for part in PARTS:
                filters = getattr(message, part)
                if filters:
                    self.messages[part] += len(filters)
        else:
            self.messages["notify"] += 1
            if self._ledger is not None:
                self._ledger.sent(message)
        self._links.send(broker, to, message)

    # -- looking back ------------------------------------------------------------------------------

    def _note_hop(
        self, publication: Publication, router: Router, broker: Hashable, source: Hashable
    ) -> None:
        explained = router.explain(publication.notification, source)
        reasons = {to: explained[to] for to in self._in_order(explained)}
        hops = self._hops.setdefault(publication.number, [])
        hops.append(Hop(self._steps, broker, source, reasons))

    def _traced(self) -> list[Event]:
        if self._events is None:
            raise ValueError("the network was made with tracing=False: it keeps no events")
        return self._events

    def trace(self, publication: Publication) -> tuple[Hop, ...]:
        """Return the way of a publication up to now, hop by hop, with the reasons at each.

        >>> import networkx as nx
        >>> net = Network(nx.path_graph(["B1", "B2"]))
        >>> net.attach("alice", "B1")
        >>> net.attach("bob", "B2")
        >>> net.subscribe("alice", "x > 3")
        >>> net.run()
        1
        >>> publication = net.publish("bob", {"x": 5})
        >>> net.run()
        1
        >>> for hop in net.trace(publication):
        ...     print(hop)
        step 1: at B2 from bob: to B1 for x > 3
        step 2: at B1 from B2: to alice for x > 3
        """
        self._traced()
        return tuple(self._hops.get(publication.number, ()))

    def record(self) -> dict[str, Any]:
        """Return all that was done, as plain data for JSON; ``replay`` does it again.

        Names must be strings or integers; ValueError otherwise.
        """
        return self._record.as_data(self._tree, self.options)

    @classmethod
    def replay(cls, record: Mapping[str, Any], *, tracing: bool = True) -> Self:
        """Return a network in which all that a record says was done again, in the same order.

        SnapshotError for what ``record`` did not write.

        >>> import networkx as nx
        >>> net = Network(nx.path_graph(["B1", "B2"]), seed=7)
        >>> net.attach("alice", "B1")
        >>> net.subscribe("alice", "x > 3")
        >>> net.run()
        1
        >>> Network.replay(net.record()).events == net.events
        True
        """
        graph, options = options_of(record)
        try:
            network = cls(graph, **options, tracing=tracing)
        except (KeyError, TypeError, ValueError) as error:
            raise SnapshotError(f"the record does not make a network: {error}") from error
        for i, (name, arguments) in enumerate(operations_of(record)):
            try:
                network._do(name, arguments)
            except (KeyError, TypeError, ValueError) as error:
                raise SnapshotError(f"operations[{i}]: {error}") from error
        return network

    def _do(self, name: str, arguments: list[Any]) -> None:
        """Do what a record says."""
        if name == "steps":
            self.run(arguments[0])
        elif name == "deliver":
            self.step((arguments[0], arguments[1]))
        else:
            getattr(self, name)(*arguments)

    # -- is it right? ------------------------------------------------------------------------------

    def audit(self) -> Audit:
        """Return what was due, what came of it, and every fault, at any time.

        >>> import networkx as nx
        >>> net = Network(nx.path_graph(["B1", "B2"]))
        >>> net.attach("alice", "B1")
        >>> net.subscribe("alice", "x > 3")
        >>> net.attach("bob", "B1")
        >>> publication = net.publish("bob", {"x": 5})
        >>> print(net.audit())
        due 1, delivered 1, missed 0, unwanted 0, duplicates 0, out of order 0
        """
        if self._ledger is None:
            raise ValueError("the network was made with auditing=False: it keeps no account")
        return self._ledger.audit()

    def check(self) -> None:
        """Raise InvariantError unless the routers hold what they must, at rest.

        Local validity: a broker holds for each client what the client asked for. Remote validity:
        what a broker holds from elsewhere than a neighbour, that neighbour holds from it, as such
        or covered; with advertisements, where it overlaps one of that neighbour's. Besides, no
        neighbour holds what it was not sent, and every router passes its own ``check``.
        RuntimeError while something is under way: the brokers cannot agree yet.
        """
        if not self._links.are_empty:
            count = sum(map(len, self.in_flight.values()))
            raise RuntimeError(
                f"{count} messages are under way; run() delivers them, and check() is for a "
                "network at rest"
            )
        check_network(self.routers, self.links, self._sessions)

    def __repr__(self) -> str:
        return (
            f"<Network: {len(self.brokers)} brokers, {len(self._sessions)} clients, "
            f"{self.options['algorithm']}, {self._steps} steps>"
        )


def _as_filter(filter: Filter | str) -> Filter:
    return parse_filter(filter) if isinstance(filter, str) else filter


def _known(held: Holding, filter: Filter) -> Filter:
    """Return the filter as the client holds it, or as it is."""
    return held.find(filter) or filter


def _pairs(table: Any) -> int:
    return len(table.entries())

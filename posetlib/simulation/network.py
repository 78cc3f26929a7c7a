"""A network of brokers in one process: routers at the nodes of a tree, links, and clients."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Self

from posetlib.errors import InvariantError, SnapshotError, UnknownEntryError
from posetlib.filters.filter import Filter
from posetlib.routing import TOP, Router
from posetlib.routing.languages import LANGUAGES
from posetlib.routing.mobility import DirectMessage
from posetlib.simulation.audit import Audit
from posetlib.simulation.events import Event, Hop, Message, Publication
from posetlib.simulation.handovers import Handover
from posetlib.simulation.members import Members, as_item
from posetlib.simulation.record import operations_of, options_of
from posetlib.simulation.topology import Tree, delays_of
from posetlib.simulation.validity import check_network, check_sessions, residue_between

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


class Network(Members):
    """Brokers at the nodes of a tree, FIFO links between them, and clients that may move.

    Brokers act at once when a client asks or a message arrives; what they send to one another lies
    on the links until ``step`` delivers it, and the seed says from which link the next one comes.
    ``algorithm`` is one of ``NETWORK_ALGORITHMS``; ``table`` and ``forwards`` are those of
    ``Router``, and so are ``domains`` and ``max_loss`` for "imperfect-merging". ``master`` is the
    broker at the top of a hierarchy. ``rendezvous`` has the event types that meet at a broker, as
    filters. ``delays`` is an attribute of the graph's edges, in seconds: then messages come by time
    instead of by the seed, and each broker takes ``processing`` seconds for one. Filters may be
    given as text; with ``language="expressions"`` they are expressions. ``tracing=False`` keeps no
    events and no reasons, ``auditing=False`` no account of what is due: for long runs.

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
        language: str = "filters",
        delays: str | None = None,
        processing: float = 0.0,
        tracing: bool = True,
        auditing: bool = True,
    ) -> None:
        if algorithm not in _FOR_ROUTERS:
            raise ValueError(
                f"algorithm is one of {', '.join(NETWORK_ALGORITHMS)}, not {algorithm!r}"
            )
        if language not in LANGUAGES:
            raise ValueError(f"language is one of {[*LANGUAGES]}, not {language!r}")
        self._tree = Tree(graph)
        options = {
            "algorithm": algorithm,
            "advertisements": advertisements,
            "seed": seed,
            "table": table,
            "forwards": forwards,
            "master": master,
            "rendezvous": self._read_rendezvous(rendezvous, language),
            "domains": domains,
            "max_loss": max_loss,
            "language": language,
            "delays": delays,
            "processing": processing,
        }
        if master is not None:
            self._check_broker(master)
        routers = {each: self._make_router(each, options) for each in self._tree.brokers}
        super().__init__(
            self._tree,
            routers,
            options,
            delays=None if delays is None else delays_of(graph, delays),
            tracing=tracing,
            auditing=auditing,
        )

    def _make_router(self, broker: Hashable, options: Mapping[str, Any]) -> Router:
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
            rendezvous=self._types_by_direction(broker, options),
            domains=options["domains"],
            max_loss=options["max_loss"],
            language=options["language"],
        )

    def _read_rendezvous(
        self, rendezvous: Mapping[Any, Filter | str | Iterable[Filter | str]] | None, language: str
    ) -> dict[Hashable, tuple[Filter, ...]]:
        found = {}
        for broker, types in (rendezvous or {}).items():
            self._check_broker(broker)
            several = isinstance(types, Iterable) and not isinstance(types, str)
            some: Any = types if several else (types,)
            found[broker] = tuple(as_item(each, language) for each in some)
        return found

    def _types_by_direction(
        self, broker: Hashable, options: Mapping[str, Any]
    ) -> dict[Hashable, tuple[Filter, ...]]:
        """Return the event types that meet in the direction of each neighbour; None is here."""
        found: dict[Hashable, tuple[Filter, ...]] = {}
        for point, types in options["rendezvous"].items():
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
        """The broker of each client that is attached, the last one of those on their way."""
        return {name: client.broker for name, client in self._clients.items()}

    @property
    def handovers(self) -> tuple[Handover, ...]:
        """All moves of clients up to now, in order."""
        return tuple(self._handovers.all)

    @property
    def steps(self) -> int:
        """How many messages were delivered over links."""
        return self._steps

    @property
    def in_flight(self) -> dict[tuple[Hashable, ...], tuple[Message | DirectMessage, ...]]:
        """What lies on each link, the next one first; links without anything are left out.

        Direct messages are there under (source, target, "direct").
        """
        found: dict[tuple[Hashable, ...], tuple[Message | DirectMessage, ...]] = {
            (link.source, link.target): tuple(link.queue) for link in self._links.busy()
        }
        for post in self._links.direct():
            key = (post.source, post.target, "direct")
            found[key] = (*found.get(key, ()), post.message)
        return found

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
        return tuple(self._client(client).subscriptions)

    def advertisements(self, client: Hashable) -> tuple[Filter, ...]:
        """Return what a client advertises, in order."""
        return tuple(self._client(client).advertisements)

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
        self._standing.broke((one, other))
        self._disturb((one, other))
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
            types = self._types_by_direction(broker, self.options).get(back, ())
            self._send_updates(broker, router.add_neighbour(back, rendezvous=types))
            if top not in {None, broker} and self._tree.next_hop(broker, top) == back:
                self._send_updates(broker, router.set_master(back))
        # Messages of handovers may have been lost: whoever waits for an answer asks again.
        for broker, station in self.stations.items():
            self._act(broker, station.retry())
        self._progress += 1
        self._record.add("heal_link", one, other)

    # -- looking back ------------------------------------------------------------------------------

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
        delays = None if self._clock is None else self._clock.delays
        return self._record.as_data(self._tree, self.options, delays)

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
        elif name == "deliver_direct":
            self.step((arguments[0], arguments[1], "direct"))
        elif name == "wait":
            self._wait(arguments[0])
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
        return self._ledger.audit(map(str, self._handovers.open()))

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
        check_network(self.routers, self.links, self._clients, self.stations)
        if len(self.links) == len(self._tree.edges):
            check_sessions(self.stations, self._clients)
        if self._handovers.all:
            left = self.residue()
            if left:
                raise InvariantError("residue", left, "moves have left something behind")

    def residue(self) -> list[str]:
        """Return how the routers differ from those of a network in which nobody ever moved.

        That is a fresh one with the same clients where they are now. With merging, what is sent
        depends on the order of the subscriptions: then nothing is compared, and it is [].
        """
        if "merging" in self.options["algorithm"]:
            return []
        return residue_between(self.routers, self._fresh().routers)

    def _fresh(self) -> Network:
        options = {**self.options, "delays": None}
        fresh = Network(self._tree.graph(), **options, tracing=False, auditing=False)
        for one, other in self._tree.edges:
            if (one, other) not in self._links:
                fresh.break_link(one, other)
        for name, client in self._clients.items():
            fresh.attach(name, client.broker)
            for each in client.advertisements:
                fresh.advertise(name, each)
            for each in client.subscriptions:
                fresh.subscribe(name, each)
        for broker, station in self.stations.items():
            # Those who wait for a client that is on its way; others are found by their sessions.
            router = self.routers[broker]
            for proxy in station.proxies:
                fresh.attach(proxy, broker)
                for each in router.advertisements(proxy) if self.options["advertisements"] else ():
                    fresh.advertise(proxy, each)
                for each in router.subscriptions(proxy):
                    fresh.subscribe(proxy, each)
        fresh.run()
        return fresh

    def __repr__(self) -> str:
        return (
            f"<Network: {len(self.brokers)} brokers, {len(self._clients)} clients, "
            f"{self.options['algorithm']}, {self._steps} steps>"
        )


def _pairs(table: Any) -> int:
    return len(table.entries())

"""Networks beside an oracle that knows everything: what the tests and the soak of them share.

The oracle is plain: sets of values for filters, a walk over whole links, no table and no router.
An operation is a tuple of small integers behind its name, so that Hypothesis and a seeded generator
draw the same things, and every run is repeated from its numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import networkx as nx

from posetlib import Filter, Network
from tests.models.worlds import MODELS

Spec = dict[str, frozenset[Any]]
#: Conditions by attribute, each with ``{}`` for its name; and the values that meet them.
Written = tuple[dict[str, str], Spec]
Operation = tuple[str, int, int, int]


#: Two filters that match the same, and are not equal.
TWO_FORMS = (
    'name >= "a" and name not contains "a"',
    'name >= "b" and name not contains "a"',
)


def _ranges(name: str, top: int) -> list[Written]:
    return [
        ({name: f"{{}} in [{low}, {high}]"}, {name: frozenset(range(low, high + 1))})
        for low in range(top + 1)
        for high in range(low, top + 1)
    ]


def _filters() -> list[Written]:
    xs, ys = _ranges("x", 4), _ranges("y", 1)
    names: list[Written] = [
        ({"name": f'{{}} prefix "{text}"'}, {"name": _with_prefix(text)})
        for text in ("a", "ab", "b")
    ]
    names += [
        ({"name": text.replace("name", "{}")}, {"name": frozenset({"b"})}) for text in TWO_FORMS
    ]
    pairs = [*product(xs, ys), *product(xs[::4], names)]
    both = [({**one, **other}, {**some, **more}) for (one, some), (other, more) in pairs]
    return [*xs, *ys, *names, *both]


def _with_prefix(text: str) -> frozenset[str]:
    return frozenset(each for each in ("a", "ab", "b") if each.startswith(text))


SPECS: list[Spec] = [spec for _, spec in _filters()]
#: The same filters in every data model.
FILTERS_IN = {
    name: [model.filter(conditions, ("x", "y", "name")) for conditions, _ in _filters()]
    for name, model in MODELS.items()
}
FILTERS: list[Filter] = FILTERS_IN["records"]
#: The number of the first filter that means the same; a client holds both forms as one.
MEANING = [
    next(i for i, each in enumerate(FILTERS) if each.covers(filter) and filter.covers(each))
    for filter in FILTERS
]
NOTIFICATIONS: list[dict[str, Any]] = [
    {"x": x, "y": y, "name": name} for x in range(5) for y in range(2) for name in ("a", "ab", "b")
]
NOTIFICATIONS_IN = {
    name: [model.notification(each) for each in NOTIFICATIONS] for name, model in MODELS.items()
}
CLIENTS = ("ann", "ben", "cat", "dan", "eve")
ALGORITHMS = ("flooding", "simple", "identity", "covering", "merging", "imperfect-merging")


def matches(spec: int, notification: dict[str, Any]) -> bool:
    return all(notification[name] in values for name, values in SPECS[spec].items())


@dataclass(frozen=True)
class Setup:
    """A network to be made: broker i + 1 of the tree hangs under broker ``parents[i]``."""

    parents: tuple[int, ...]
    algorithm: str = "covering"
    advertisements: bool = False
    table: str = "fp"
    forwards: str = "exact"
    master: int | None = None
    #: A broker and the number of a filter, for each rendezvous point.
    rendezvous: tuple[tuple[int, int], ...] = ()
    seed: int = 0
    #: The data model of filters and notifications.
    model: str = "records"

    @property
    def filters(self) -> list[Filter]:
        return FILTERS_IN[self.model]

    @property
    def brokers(self) -> list[str]:
        return [f"B{i}" for i in range(len(self.parents) + 1)]

    @property
    def edges(self) -> list[tuple[str, str]]:
        return [(f"B{parent}", f"B{i + 1}") for i, parent in enumerate(self.parents)]

    def network(self, **options: Any) -> Network:
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(self.brokers)
        graph.add_edges_from(self.edges)
        points: dict[str, list[Filter]] = {}
        for broker, number in self.rendezvous:
            points.setdefault(f"B{broker}", []).append(self.filters[number])
        return Network(
            graph,
            self.algorithm,
            self.advertisements,
            self.seed,
            table=self.table,
            forwards=self.forwards,
            master=None if self.master is None else f"B{self.master}",
            rendezvous=points,
            **options,
        )


@dataclass
class OracleClient:
    broker: str
    subscriptions: set[int] = field(default_factory=set)
    advertisements: set[int] = field(default_factory=set)
    #: Numbers of the publications that it got, and the last one of each publisher.
    got: set[int] = field(default_factory=set)
    last: dict[int, int] = field(default_factory=dict)

    def wants(self, notification: dict[str, Any]) -> bool:
        return any(matches(each, notification) for each in self.subscriptions)


class World:
    """A network and the oracle beside it; every delivery is held against the oracle at once."""

    def __init__(self, setup: Setup, network: Network | None = None) -> None:
        self.setup = setup
        self.filters = setup.filters
        self.network = setup.network(tracing=False) if network is None else network
        self.brokers = setup.brokers
        self.links = dict.fromkeys(setup.edges, True)
        self.clients: dict[str, OracleClient] = {}
        #: For each publication its publisher's stay, whether it was announced, and the record.
        self._published: dict[int, tuple[int, bool, dict[str, Any]]] = {}
        self._seen = Counter[str]()
        self.deliveries = 0
        for i, name in enumerate(CLIENTS):
            self._attach(name, i % len(self.brokers))

    # -- operations --------------------------------------------------------------------------------

    def do(self, operation: Operation) -> None:
        """One operation by a client or on a link, and some deliveries after it."""
        name, who, what, more = operation
        client = CLIENTS[who % len(CLIENTS)]
        getattr(self, f"_{name}")(client, what, more)

    def run(self, steps: int | None = None) -> None:
        """So many deliveries, or all."""
        while steps is None or steps > 0:
            event = self.network.step()
            if event is None:
                return
            for client in event.clients:
                self._see(client)
            if steps is not None:
                steps -= 1

    def _subscribe(self, client: str, what: int, more: int) -> None:
        self.network.subscribe(client, self.filters[what % len(FILTERS)])
        self.clients[client].subscriptions.add(MEANING[what % len(FILTERS)])
        self.run(more)

    def _unsubscribe(self, client: str, what: int, more: int) -> None:
        number = _nth(self.clients[client].subscriptions, what)
        if number is not None:
            self.network.unsubscribe(client, self.filters[number])
            self.clients[client].subscriptions.remove(number)
        self.run(more)

    def _replace(self, client: str, what: int, more: int) -> None:
        number, new = _nth(self.clients[client].subscriptions, more), what % len(FILTERS)
        if number is not None:
            self.network.replace(client, self.filters[number], self.filters[new])
            self.clients[client].subscriptions.remove(number)
            self.clients[client].subscriptions.add(MEANING[new])

    def _advertise(self, client: str, what: int, more: int) -> None:
        if self.setup.advertisements:
            self.network.advertise(client, self.filters[what % len(FILTERS)])
            self.clients[client].advertisements.add(MEANING[what % len(FILTERS)])
        self.run(more)

    def _unadvertise(self, client: str, what: int, more: int) -> None:
        number = _nth(self.clients[client].advertisements, what)
        if number is not None:
            self.network.unadvertise(client, self.filters[number])
            self.clients[client].advertisements.remove(number)
        self.run(more)

    def _attach(self, client: str, what: int) -> None:
        broker = self.brokers[what % len(self.brokers)]
        self.network.attach(client, broker)
        self.clients[client] = OracleClient(broker)

    def _move(self, client: str, what: int, more: int) -> None:
        """The client leaves with all it asked for, and comes back elsewhere with nothing."""
        self.network.detach(client)
        self._attach(client, what)
        self.run(more)

    def _cut(self, client: str, what: int, more: int) -> None:
        link = _nth([each for each, whole in self.links.items() if whole], what)
        if link is not None:
            self.network.break_link(*link)
            self.links[link] = False
        self.run(more)

    def _heal(self, client: str, what: int, more: int) -> None:
        link = _nth([each for each, whole in self.links.items() if not whole], what)
        if link is not None:
            self.network.heal_link(*link)
            self.links[link] = True
        self.run(more)

    def _publish(self, client: str, what: int, more: int) -> int:
        notification = NOTIFICATIONS[what % len(NOTIFICATIONS)]
        sender = self.clients[client]
        announced = self._is_announced(client, notification)
        self._published[self.network.publications + 1] = id(sender), announced, notification
        sent = NOTIFICATIONS_IN[self.setup.model][what % len(NOTIFICATIONS)]
        publication = self.network.publish(client, sent)
        for name, each in self.clients.items():
            if each.broker == sender.broker:
                self._see(name)
        self.run(more)
        return publication.number

    # -- what must hold ----------------------------------------------------------------------------

    def _is_announced(self, client: str, notification: dict[str, Any]) -> bool:
        if not self.setup.advertisements:
            return True
        return any(matches(each, notification) for each in self.clients[client].advertisements)

    def _see(self, name: str) -> None:
        """Safety, at the moment of delivery: asked for, announced, at most once, in order."""
        client = self.clients[name]
        for each in self.network.deliveries(name, self._seen[name]):
            self._seen[name] += 1
            self.deliveries += 1
            publisher, announced, record = self._published[each.number]
            assert announced, f"{name} got {each}, which was not announced"
            assert client.wants(record), f"{name} got {each} without asking for it"
            assert each.number not in client.got, f"{name} got {each} twice"
            assert client.last.get(publisher, 0) < each.number, f"{name} got {each} too late"
            client.got.add(each.number)
            client.last[publisher] = each.number

    def audience(self, client: str, notification: dict[str, Any]) -> set[str]:
        """Everybody who must get it, once all that they asked for is known everywhere."""
        if not self._is_announced(client, notification):
            return set()
        reached = {self.clients[client].broker}
        todo = list(reached)
        while todo:
            here = todo.pop()
            for link, whole in self.links.items():
                if whole and here in link:
                    there = link[1] if link[0] == here else link[0]
                    if there not in reached:
                        reached.add(there)
                        todo.append(there)
        return {
            name
            for name, each in self.clients.items()
            if each.broker in reached and each.wants(notification)
        }

    def settle(self, publications: Iterable[tuple[int, int, int]], *, check: bool = True) -> None:
        """Run until quiet; then every publication reaches exactly its audience.

        Publications overlap: after each come only so many deliveries. At the end the audit has
        nothing to say, and with ``check`` neither has the network's own ``check``.
        """
        self.run()
        expected = {}
        for who, what, more in publications:
            client = CLIENTS[who % len(CLIENTS)]
            audience = self.audience(client, NOTIFICATIONS[what % len(NOTIFICATIONS)])
            expected[self._publish(client, what, more)] = audience
        self.run()
        for number, audience in expected.items():
            got = {name for name, each in self.clients.items() if number in each.got}
            assert got == audience, f"publication {number} reached {got}, due were {audience}"
        audit = self.network.audit()
        assert not audit.faults, str(audit)
        assert audit.delivered == self.deliveries
        if check:
            self.network.check()


def _nth(some: Iterable[Any], number: int) -> Any:
    ordered = sorted(some)
    return ordered[number % len(ordered)] if ordered else None


def is_defined(setup: Setup) -> bool:
    """Whether a router can be made of these options."""
    if setup.algorithm == "flooding" and setup.advertisements:
        return False
    if setup.master is not None and (setup.advertisements or setup.algorithm == "flooding"):
        return False
    return not setup.rendezvous or setup.advertisements


def draw_setup(integer: Callable[[int, int], int], seed: int) -> Setup:
    """A setup from a source of integers, which is given their lowest and highest value."""
    parents = tuple(integer(0, i) for i in range(integer(0, 9)))
    algorithm = ALGORITHMS[integer(0, len(ALGORITHMS) - 1)]
    advertisements = algorithm != "flooding" and bool(integer(0, 1))
    table = ("fp", "nrf")[integer(0, 1)]
    forwards = ("exact", "approximate")[integer(0, 1)] if table == "nrf" else "exact"
    brokers = len(parents)
    master, points = None, ()
    if not advertisements and algorithm != "flooding" and not integer(0, 2):
        master = integer(0, brokers)
    if advertisements and not integer(0, 2):
        points = tuple(
            (integer(0, brokers), integer(0, len(FILTERS) - 1)) for _ in range(integer(1, 2))
        )
    return Setup(parents, algorithm, advertisements, table, forwards, master, points, seed)


#: How often each operation is drawn, of a hundred.
WEIGHTS = {
    "subscribe": 26, "unsubscribe": 12, "replace": 6, "advertise": 12, "unadvertise": 5,
    "move": 3, "publish": 36,
}  # fmt: skip
NAMES = tuple(name for name, weight in WEIGHTS.items() for _ in range(weight))
BREAKS = (*NAMES, *("cut",) * 4, *("heal",) * 6)


def draw_operation(integer: Callable[[int, int], int], names: tuple[str, ...]) -> Operation:
    """An operation from a source of integers."""
    return (names[integer(0, len(names) - 1)], integer(0, 4), integer(0, 999), integer(0, 8))

"""Random runs of networks with clients that move: what the tests and the counts of them share.

A run is drawn from its seed alone: the tree, who wants and announces what, how fast each link is,
and what happens in which order. In the end everything is delivered, and the network is at rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import networkx as nx

from posetlib import Filter, Network, parse_filter

#: Notifications have one of four values, so that filters are all sets of values.
VALUES = range(4)
FILTERS: list[Filter] = [
    parse_filter(f"x in {{{', '.join(str(v) for v in VALUES if bits >> v & 1)}}}")
    for bits in range(1, 2 ** len(VALUES))
]


@dataclass(frozen=True)
class Kind:
    """What kind of run: who moves, and what else happens."""

    protocol: str = "update"
    algorithm: str = "covering"
    advertisements: bool = True
    table: str = "fp"
    #: Whether subscriptions and advertisements are still under way when the moves begin.
    incomplete: bool = False
    #: Whether others, and the movers while they are connected, ask and withdraw all the time.
    churn: bool = False
    #: Whether a client may move on before its last handover is over.
    fast: bool = False
    #: "subscriber", "publisher" or "both" for the roles of the clients that move.
    roles: str = "subscriber"
    movers: int = 1
    #: How many rendezvous points there are, up to 4: for each of two types, for a type above both,
    #: and for everything, the signals of ping/pong too.
    points: int = 0
    breaks: bool = False
    master: bool = False

    def __str__(self) -> str:
        said = [self.protocol, self.algorithm, "advertised" if self.advertisements else "plain"]
        said += [name for name in ("incomplete", "churn", "fast", "breaks") if getattr(self, name)]
        return " ".join([*said, self.roles, f"{self.movers} movers", f"{self.points} points"])


class Run:
    """One run, with what a plain reckoning says that each client wants to get."""

    def __init__(self, kind: Kind, seed: int, *, length: int = 60) -> None:
        self.kind, self.seed = kind, seed
        self.random = Random(f"{kind} {seed}")
        self.net = self._network()
        brokers = self.net.brokers
        self.movers = [f"m{i}" for i in range(kind.movers)]
        self.publishers = [f"p{i}" for i in range(self.random.randint(1, 3))]
        self.others = [f"o{i}" for i in range(self.random.randint(0, 5))]
        for name in (*self.movers, *self.publishers, *self.others):
            self.net.attach(name, self.random.choice(brokers))
        self.speeds: dict[Any, float] = {}
        self._begin()
        for _ in range(length):
            self._event()
        self._end()

    def _network(self) -> Network:
        kind, random = self.kind, self.random
        size = random.randint(4, 8)
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(f"B{i}" for i in range(size))
        graph.add_edges_from((f"B{i}", f"B{random.randrange(i)}") for i in range(1, size))
        points: dict[str, list[Filter]] = {}
        types = ["x in {0, 1}", "x in {2, 3}", "x in {0, 1, 2, 3}", "true"]
        for number in range(kind.points):
            where = random.choice(list(graph))
            points.setdefault(where, []).append(parse_filter(types[number]))
        return Network(
            graph,
            kind.algorithm,
            kind.advertisements,
            random.randrange(2**32),
            table=kind.table,
            rendezvous=points,
            master=random.choice(list(graph)) if kind.master else None,
            tracing=False,
        )

    @property
    def moving_publishers(self) -> list[str]:
        return [] if self.kind.roles == "subscriber" else self.movers

    def _begin(self) -> None:
        random, net, kind = self.random, self.net, self.kind
        for name in (*self.publishers, *self.moving_publishers):
            if kind.advertisements:
                for _ in range(random.randint(1, 2)):
                    net.advertise(name, random.choice(FILTERS))
            if kind.incomplete:
                self._deliver(random.randint(0, 6))
        wanting = self.others if kind.roles == "publisher" else [*self.movers, *self.others]
        for name in wanting:
            for _ in range(random.randint(1, 2)):
                net.subscribe(name, random.choice(FILTERS))
            if kind.incomplete:
                self._deliver(random.randint(0, 6))
        if not kind.incomplete:
            net.run()

    # -- what happens ------------------------------------------------------------------------------

    def _deliver(self, count: int) -> None:
        """Deliver so many messages, each from a link drawn by its speed."""
        for _ in range(count):
            links = list(self.net.in_flight)
            if not links:
                return
            weights = [
                self.speeds.setdefault(each, 2.0 ** -self.random.randint(0, 7)) for each in links
            ]
            (link,) = self.random.choices(links, weights)
            assert self.net.step(link) is not None

    def _event(self) -> None:
        random = self.random
        happenings = [self._publish] * 4 + [self._move] * 3
        if self.kind.churn:
            happenings += [self._churn] * 2
        if self.kind.breaks:
            happenings += [self._break]
        random.choice(happenings)()
        self._deliver(random.choice((0, 0, 1, 2, 4, 8)))

    def _publish(self) -> None:
        name = self.random.choice([*self.publishers, *self.moving_publishers * 2])
        self.net.publish(name, {"x": self.random.choice(VALUES)})

    def _move(self) -> None:
        net, name = self.net, self.random.choice(self.movers)
        client = net._clients[name]
        target = self.random.choice(net.brokers)
        if not client.connected:
            net.arrive(name, target if self.random.random() < 0.5 else self.goal(name))
        elif self.kind.fast or not net.audit().unfinished:
            if target == client.broker:
                return
            self.goals = {**getattr(self, "goals", {}), name: target}
            if self.random.random() < 0.5:
                net.move(name, target, self.kind.protocol)
            else:
                net.leave(name, self.kind.protocol, target)

    def goal(self, name: str) -> Any:
        """Return where a client said that it would go."""
        return self.goals[name]

    def _churn(self) -> None:
        random, net = self.random, self.net
        name = random.choice([*self.others, *self.publishers, *self.movers])
        if not net._clients[name].connected:
            return
        if name in self.movers and self.kind.protocol.startswith("path-update"):
            return  # a client that waits for its filters cannot withdraw any
        item = random.choice(FILTERS)
        if name in self.publishers or (name in self.moving_publishers and random.random() < 0.5):
            if not self.kind.advertisements:
                return
            held = net.advertisements(name)
            if held and random.random() < 0.5:
                net.unadvertise(name, random.choice(held))
            else:
                net.advertise(name, item)
        elif self.kind.roles != "publisher" or name not in self.movers:
            held = net.subscriptions(name)
            draw = random.random()
            if held and draw < 0.4:
                net.unsubscribe(name, random.choice(held))
            elif held and draw < 0.5:
                net.replace(name, random.choice(held), item)
            else:
                net.subscribe(name, item)

    def _break(self) -> None:
        net = self.net
        broken = [each for each in net._tree.edges if each not in net.links]
        if broken and self.random.random() < 0.7:
            net.heal_link(*self.random.choice(broken))
        elif net.links:
            net.break_link(*self.random.choice(net.links))

    def _end(self) -> None:
        net = self.net
        for each in net._tree.edges:
            if each not in net.links:
                net.heal_link(*each)
        for name in self.movers:
            if not net._clients[name].connected:
                net.arrive(name, self.goal(name))
        self._deliver(10**6)
        net.run()  # pings that nobody has answered are sent again

    # -- what came of it ---------------------------------------------------------------------------

    def expected(self) -> dict[str, list[int]]:
        """What each client must get after a complete start and without churn: all that it wants."""
        net, found = self.net, {}
        for name in (*self.movers, *self.others):
            found[name] = [
                number
                for number, (publisher, notification) in self._published().items()
                if any(each.matches(notification) for each in net.subscriptions(name))
                and self._announced(publisher, notification)
            ]
        return found

    def _published(self) -> dict[int, tuple[str, dict[str, Any]]]:
        operations = self.net.record()["operations"]
        made = [(each[1], each[2]) for each in operations if each[0] == "publish"]
        return dict(enumerate(made, 1))

    def _announced(self, publisher: str, notification: dict[str, Any]) -> bool:
        return not self.kind.advertisements or any(
            each.matches(notification) for each in self.net.advertisements(publisher)
        )

    def lost(self) -> bool:
        """Whether something due did not come, also if it waits for a handover that is stuck."""
        stations = self.net.stations.values()
        waits = any(each.queue for station in stations for each in station.sessions.values())
        return self.net.audit().missed > 0 or waits

    def got(self, name: str) -> list[int]:
        return [each.number for each in self.net.deliveries(name)]


def check(run: Run) -> None:
    """Raise AssertionError unless a run of a safe protocol is without any fault."""
    from posetlib.routing.mobility import protocol_named

    audit = run.net.audit()
    where = f"seed {run.seed} of {run.kind}"
    assert not audit.missed, f"{where}: {audit}"
    assert not audit.unwanted, f"{where}: {audit}"
    assert not audit.duplicates, f"{where}: {audit}"
    assert not audit.unfinished, f"{where}: {audit}"
    is_complete = not (run.kind.incomplete or run.kind.churn or run.kind.breaks)
    if is_complete:
        if protocol_named(run.kind.protocol).keeps_order:
            assert not audit.out_of_order, f"{where}: {audit}"
        for name, numbers in run.expected().items():
            assert sorted(run.got(name)) == numbers, f"{where}: {name}"
    try:
        run.net.check()
    except AssertionError as error:
        raise AssertionError(f"{where}: {error}") from error


#: The kinds of runs that every safe protocol is put through, by name.
HARD = {
    "complete": Kind(),
    "incomplete": Kind(incomplete=True),
    "churn": Kind(incomplete=True, churn=True),
    "fast": Kind(incomplete=True, churn=True, fast=True, movers=2),
    "merging": Kind(algorithm="merging", incomplete=True, churn=True, fast=True, movers=3),
    "nrf": Kind(table="nrf", incomplete=True, churn=True, fast=True, movers=2),
    "plain": Kind(advertisements=False, incomplete=True, churn=True, fast=True, movers=2),
    "publisher": Kind(roles="publisher", incomplete=True, churn=True, fast=True),
    "both": Kind(roles="both", incomplete=True, churn=True, fast=True, movers=3),
    "plain both": Kind(
        advertisements=False, roles="both", incomplete=True, churn=True, fast=True, movers=2
    ),
    "points": Kind(points=2, incomplete=True, churn=True, fast=True, roles="both", movers=2),
    "4 points": Kind(points=4, incomplete=True, churn=True, fast=True, roles="both", movers=2),
}


def kind_for(name: str, protocol: str) -> Kind:
    """The kind of run of this name, for one protocol."""
    return replace(HARD[name], protocol=protocol)

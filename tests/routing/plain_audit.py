"""A second judge of moving clients, which knows nothing of the audit of the simulator.

It takes the record of a run, does everything again in a network that keeps no account, and looks
at that network after every single delivery. Notifications have one of four values, so a filter is
a set of values, kept as bits; what a broker holds is read from its router, and what is under way
from the links. From the definition alone:

A value is *settled* between a publisher and a client when, for a session of each, the broker nearer
the publisher has an entry for it on every edge of the way, now and after each update under way
there, and with advertisements the other broker knows that it will come. Once settled it stays so,
whatever moves, until the client no longer wants the value or the publisher no longer announces it.
What is published while it is settled is due; what is due and never comes is missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import networkx as nx

from posetlib import Filter, Network, parse_filter

VALUES = range(4)


@cache
def bits(item: Filter) -> int:
    """The values that a filter matches, as bits."""
    return sum(1 << value for value in VALUES if item.matches({"x": value}))


def union(items: Iterable[Filter]) -> int:
    found = 0
    for each in items:
        found |= bits(each)
    return found


@dataclass
class Person:
    """A client as the record knows it: what it asked for, and since when it may claim anything."""

    wants: list[Filter] = field(default_factory=list)
    announces: list[Filter] = field(default_factory=list)
    #: Value -> the stay in which the client last gave it up: sessions before do not count for it.
    gave_up: dict[int, int] = field(default_factory=dict)
    took_back: dict[int, int] = field(default_factory=dict)


@dataclass
class Judgement:
    """What was wrong with a run, in words, by kind of fault."""

    due: int = 0
    delivered: int = 0
    faults: list[tuple[str, str]] = field(default_factory=list)

    def count(self, kind: str) -> int:
        return sum(name == kind for name, _ in self.faults)


class Judge:
    """Does what a record says, operation by operation and delivery by delivery."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.advertised = record["options"]["advertisements"]
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(record["brokers"])
        graph.add_edges_from(record["links"])
        options = record["options"]
        points = {
            point: [parse_filter(each) for each in some] for point, some in options["rendezvous"]
        }
        self.net = Network(
            graph,
            options["algorithm"],
            self.advertised,
            options["seed"],
            table=options["table"],
            rendezvous=points,
            tracing=False,
            auditing=False,
        )
        self.ways = {
            (one, other): list(pairwise(path))
            for one, paths in nx.all_pairs_shortest_path(graph)
            for other, path in paths.items()
        }
        #: (near, far) -> values that meet at a rendezvous point behind far.
        self.points: Counter[tuple[Any, Any]] = Counter()
        for point, types in points.items():
            for broker in graph:
                if broker != point:
                    edge = self.ways[broker, point][0]
                    self.points[edge] |= union(types)
        self.edges = [each for pair in graph.edges for each in (pair, pair[::-1])]
        self.people: dict[str, Person] = {}
        #: (publisher, client) -> the values that are settled.
        self.settled: dict[tuple[str, str], int] = {}
        #: Publication -> its publisher, its value, whether it was announced, and whom it is due to.
        self.open: dict[int, tuple[str, int, bool, set[str]]] = {}
        #: What each client has got, and how many deliveries of it were looked at.
        self.got: dict[str, set[int]] = {}
        self.counted: Counter[str] = Counter()
        self.last: dict[tuple[str, str], int] = {}
        self.found = Judgement()
        self.number = 0
        for name, *arguments in record["operations"]:
            self._do(name, arguments)
        for number, (publisher, value, _, due) in self.open.items():
            for client in sorted(due - {who for who, seen in self.got.items() if number in seen}):
                self._accuse("missed", f"{client} missed {number} (x = {value}) of {publisher}")

    def _accuse(self, kind: str, text: str) -> None:
        self.found.faults.append((kind, text))

    # -- the record --------------------------------------------------------------------------------

    def _do(self, name: str, arguments: list[Any]) -> None:
        net = self.net
        if name == "steps":
            for _ in range(arguments[0]):
                net.step()
                self._look()
            return
        if name in {"deliver", "deliver_direct"}:
            kind = ("direct",) if name == "deliver_direct" else ()
            net.step((*arguments, *kind))
        elif name == "publish":
            self._publish(*arguments)
        else:
            self._note(name, *arguments)
            getattr(net, name)(*arguments)
        self._look()

    def _note(self, name: str, client: Any, *arguments: Any) -> None:
        if name == "attach":
            self.people[client] = Person()
            self.got[client] = set()
            return
        who = self.people[client]
        if name == "subscribe":
            self._add(who.wants, arguments[0])
        elif name == "unsubscribe":
            self._drop(client, arguments[0])
        elif name == "replace":
            who.wants.append(parse_filter(arguments[1]))
            self._drop(client, arguments[0])
            who.wants = list(dict.fromkeys(who.wants))
        elif name == "advertise":
            self._add(who.announces, arguments[0])
        elif name == "unadvertise":
            self._take_back(client, arguments[0])
        elif name not in {"leave", "arrive"}:
            raise AssertionError(f"the judge knows nothing of {name}")

    @staticmethod
    def _add(some: list[Filter], text: str) -> None:
        item = parse_filter(text)
        if item not in some:
            some.append(item)

    def _drop(self, client: str, text: str) -> None:
        """Excuse what a client gives up, wherever that is under way."""
        who, item = self.people[client], parse_filter(text)
        who.wants.remove(item)
        gone = bits(item) & ~union(who.wants)
        for value in VALUES:
            if gone >> value & 1:
                who.gave_up[value] = self._stay(client)
        for pair in self.settled:
            if pair[1] == client:
                self.settled[pair] &= ~gone
        under_way = self._under_way()
        for number, (_, value, _, due) in self.open.items():
            if gone >> value & 1 and client in due and number not in self.got[client]:
                due.discard(client)
                if number not in under_way:
                    self._accuse("missed", f"{client} missed {number} (x = {value}), then gave up")

    def _take_back(self, client: str, text: str) -> None:
        """Forget what is settled, and excuse what the publisher has not sent out yet."""
        who, item = self.people[client], parse_filter(text)
        who.announces.remove(item)
        gone = bits(item) & ~union(who.announces)
        for value in VALUES:
            if gone >> value & 1:
                who.took_back[value] = self._stay(client)
        for pair in self.settled:
            if pair[0] == client:
                self.settled[pair] &= ~gone
        waiting = {each.number for each in self.net._clients[client].outbox}
        for number, (_, value, _, due) in self.open.items():
            if number in waiting and gone >> value & 1:
                due.clear()

    def _under_way(self) -> set[int]:
        """The publications that are on a link, in a queue or in an outbox."""
        found = {each.number for who in self.net._clients.values() for each in who.outbox}
        for messages in self.net.in_flight.values():
            for each in messages:
                found.update(note.id for note in getattr(each, "notes", ()))
                found.update([each.note.id] if hasattr(each, "note") else [])
                found.update([each.number] if hasattr(each, "number") else [])
        for station in self.net.stations.values():
            for session in station.sessions.values():
                found.update(session.queue)
        return found

    def _stay(self, client: str) -> int:
        return self.net._clients[client].epoch

    def _publish(self, client: str, notification: Mapping[str, Any]) -> None:
        self.number += 1
        value = notification["x"]
        announced = not self.advertised or bool(union(self.people[client].announces) >> value & 1)
        due = {
            who
            for (publisher, who), settled in self.settled.items()
            if publisher == client and settled >> value & 1
        }
        self.found.due += len(due)
        self.open[self.number] = (client, value, announced, due)
        self.net.publish(client, notification)

    # -- what there is now -------------------------------------------------------------------------

    def _look(self) -> None:
        self._look_at_deliveries()
        self._look_at_tables()

    def _look_at_deliveries(self) -> None:
        for client, seen in self.got.items():
            for each in self.net.deliveries(client, self.counted[client]):
                publisher, value, announced, _ = self.open[each.number]
                self.found.delivered += 1
                self.counted[client] += 1
                if each.number in seen:
                    self._accuse("duplicates", f"{client} got {each.number} again")
                if not union(self.people[client].wants) >> value & 1 or not announced:
                    self._accuse("unwanted", f"{client} got {each.number}, x = {value}")
                if self.last.get((publisher, client), 0) > each.number:
                    self._accuse("out_of_order", f"{client} got {each.number} late")
                else:
                    self.last[publisher, client] = each.number
                seen.add(each.number)

    def _look_at_tables(self) -> None:
        """Note every value that is settled now and was not before."""
        carried = self._carried()
        sessions: dict[str, list[tuple[Any, int, int, int]]] = {}
        for broker, station in self.net.stations.items():
            router = self.net.routers[broker]
            for name, session in station.sessions.items():
                wants = union(router.subscriptions(name))
                announces = union(router.advertisements(name)) if self.advertised else 15
                made = (broker, session.epoch, wants, announces)
                sessions.setdefault(session.client, []).append(made)
        ends = {
            name: (
                [
                    (broker, wants & self._still(who.wants, who.gave_up, epoch))
                    for broker, epoch, wants, _ in sessions.get(name, ())
                ],
                [
                    (
                        broker,
                        announces & self._still(who.announces, who.took_back, epoch)
                        if self.advertised
                        else 15,
                    )
                    for broker, epoch, _, announces in sessions.get(name, ())
                ],
            )
            for name, who in self.people.items()
        }
        for client, (receivers, _) in ends.items():
            for publisher, (_, senders) in ends.items():
                found = self.settled.get((publisher, client), 0)
                for here, wants in receivers:
                    for there, announces in senders:
                        values = wants & announces & ~found
                        if values:
                            for edge in self.ways[here, there]:
                                values &= carried[edge]
                            found |= values
                self.settled[publisher, client] = found

    @staticmethod
    def _still(asked: Iterable[Filter], gone: Mapping[int, int], epoch: int) -> int:
        """The values that are asked for, but for those given up in a later stay than this one."""
        found = union(asked)
        for value, when in gone.items():
            if when > epoch:
                found &= ~(1 << value)
        return found

    def _carried(self) -> dict[tuple[Any, Any], int]:
        """For each edge, near before far, the values that far will send to near, come what may."""
        routers, under_way = self.net.routers, self.net.in_flight
        found = {}
        for near, far in self.edges:
            values = 15
            if near not in routers[far].always():
                values = self._lasting(
                    routers[far].subscriptions(near), under_way.get((near, far), ()), "subscribe"
                )
            if self.advertised:
                known = self._lasting(
                    routers[near].advertisements(far), under_way.get((far, near), ()), "advertise"
                )
                values &= known | self.points[near, far]
            found[near, far] = values
        return found

    @staticmethod
    def _lasting(held: Iterable[Filter], under_way: Iterable[Any], kind: str) -> int:
        """The values that are held now, and after each update in turn."""
        now = {bits(each) for each in held}
        values = _any(now)
        for message in under_way:
            update = message if hasattr(message, kind) else getattr(message, "update", None)
            if update is not None:
                now -= {bits(each) for each in getattr(update, f"un{kind}")}
                now |= {bits(each) for each in getattr(update, kind)}
                values &= _any(now)
        return values


def _any(sets: Iterable[int]) -> int:
    found = 0
    for each in sets:
        found |= each
    return found


def judge(record: Mapping[str, Any]) -> Judgement:
    """Judge the run of a record."""
    return Judge(record).found

"""Hypothesis drives moving clients: every operation and every single delivery, in any order."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from posetlib import Network
from posetlib.routing.mobility import protocol_named
from posetlib.simulation import NETWORK_ALGORITHMS, SAFE_PROTOCOLS
from tests.routing.journeys import FILTERS, VALUES

CLIENTS = ("ann", "ben", "cat")
clients = st.sampled_from(CLIENTS)
filters = st.sampled_from(FILTERS)
places = st.integers(0, 5)


class Movers(RuleBasedStateMachine):
    """Three clients in both roles on a small tree; drained, nothing may be wrong."""

    protocol = "update"
    algorithm = "covering"
    advertisements = True

    @initialize(parents=st.lists(places, min_size=2, max_size=4), seed=st.integers(0, 99))
    def start(self, parents: list[int], seed: int) -> None:
        graph: nx.Graph[str] = nx.Graph()
        graph.add_node("B0")
        for i, parent in enumerate(parents):
            graph.add_edge(f"B{parent % (i + 1)}", f"B{i + 1}")
        points = {"B0": "x in {0, 1}"} if self.advertisements and seed % 2 else None
        self.net = Network(
            graph, self.algorithm, self.advertisements, seed, rendezvous=points, tracing=False
        )
        for i, name in enumerate(CLIENTS):
            self.net.attach(name, self.broker(seed + i))

    def broker(self, number: int) -> Any:
        return self.net.brokers[number % len(self.net.brokers)]

    def is_here(self, name: str) -> bool:
        return self.net._clients[name].connected

    @rule(name=clients, item=filters)
    def subscribe(self, name: str, item: Any) -> None:
        if self.is_here(name):
            self.net.subscribe(name, item)

    @rule(name=clients, number=places)
    def unsubscribe(self, name: str, number: int) -> None:
        held = self.net.subscriptions(name)
        if held and self.is_here(name):
            self.net.unsubscribe(name, held[number % len(held)])

    @rule(name=clients, number=places, item=filters)
    def replace(self, name: str, number: int, item: Any) -> None:
        held = self.net.subscriptions(name)
        if held and self.is_here(name):
            self.net.replace(name, held[number % len(held)], item)

    @precondition(lambda self: self.advertisements)
    @rule(name=clients, item=filters)
    def advertise(self, name: str, item: Any) -> None:
        if self.is_here(name):
            self.net.advertise(name, item)

    @precondition(lambda self: self.advertisements)
    @rule(name=clients, number=places)
    def unadvertise(self, name: str, number: int) -> None:
        held = self.net.advertisements(name)
        if held and self.is_here(name):
            self.net.unadvertise(name, held[number % len(held)])

    @rule(name=clients, value=st.sampled_from(VALUES))
    def publish(self, name: str, value: int) -> None:
        self.net.publish(name, {"x": value})

    @rule(name=clients, place=places)
    def leave(self, name: str, place: int) -> None:
        if self.is_here(name):
            self.net.leave(name, self.protocol, self.broker(place))

    @rule(name=clients, place=places)
    def arrive(self, name: str, place: int) -> None:
        if not self.is_here(name):
            self.net.arrive(name, self.broker(place))

    @rule(name=clients, place=places)
    def move(self, name: str, place: int) -> None:
        if self.is_here(name):
            self.net.move(name, self.broker(place), self.protocol)

    @rule(name=clients, place=places)
    def go_for_good_and_come_again(self, name: str, place: int) -> None:
        self.net.detach(name)
        self.net.attach(name, self.broker(place))

    @rule(numbers=st.lists(st.integers(0, 9), min_size=1, max_size=6))
    def deliver(self, numbers: list[int]) -> None:
        for number in numbers:
            links = list(self.net.in_flight)
            if links:
                self.net.step(links[number % len(links)])

    @rule()
    def rest(self) -> None:
        self.net.run()
        self.check()

    def check(self) -> None:
        audit = self.net.audit()
        faults = audit.missed + audit.unwanted + audit.duplicates + audit.unfinished
        assert faults == 0, audit
        if all(map(self.is_here, CLIENTS)):
            self.net.check()

    def teardown(self) -> None:
        if hasattr(self, "net"):
            for name in CLIENTS:
                if not self.is_here(name):
                    self.net.arrive(name, self.net.clients[name])
            self.net.run()
            self.check()
            for session in (
                each for station in self.net.stations.values() for each in station.sessions.values()
            ):
                assert session.is_finished
                assert not session.queue


class InOrder(Movers):
    """Filters change only when all is at rest: then each publisher's notifications keep order."""

    def at_rest(self) -> bool:
        """Let all that is under way arrive; returns whether everybody is somewhere."""
        self.net.run()
        return all(map(self.is_here, CLIENTS))

    def subscribe(self, name: str, item: Any) -> None:
        if self.at_rest():
            self.net.subscribe(name, item)
            self.net.run()

    def unsubscribe(self, name: str, number: int) -> None:
        if self.at_rest():
            super().unsubscribe(name, number)
            self.net.run()

    def replace(self, name: str, number: int, item: Any) -> None:
        if self.at_rest():
            super().replace(name, number, item)
            self.net.run()

    def advertise(self, name: str, item: Any) -> None:
        if self.at_rest():
            self.net.advertise(name, item)
            self.net.run()

    def unadvertise(self, name: str, number: int) -> None:
        if self.at_rest():
            super().unadvertise(name, number)
            self.net.run()

    def go_for_good_and_come_again(self, name: str, place: int) -> None:
        if self.at_rest():
            super().go_for_good_and_come_again(name, place)
            self.net.run()

    def check(self) -> None:
        assert self.net.audit().out_of_order == 0, self.net.audit()
        super().check()


@pytest.mark.parametrize("advertisements", [False, True], ids=["plain", "advertised"])
@pytest.mark.parametrize(
    "protocol", [each for each in SAFE_PROTOCOLS if protocol_named(each).keeps_order]
)
def test_order_is_kept_where_it_is_promised(protocol: str, advertisements: bool) -> None:
    machine = type("Machine", (InOrder,), {"protocol": protocol, "advertisements": advertisements})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=max(8, settings().max_examples // 20), stateful_step_count=40
        ),
    )


@pytest.mark.parametrize("advertisements", [False, True], ids=["plain", "advertised"])
@pytest.mark.parametrize("algorithm", NETWORK_ALGORITHMS)
@pytest.mark.parametrize("protocol", SAFE_PROTOCOLS)
def test_safe_protocols_are_without_fault_whatever_happens(
    protocol: str, algorithm: str, advertisements: bool
) -> None:
    if advertisements and algorithm == "flooding":
        pytest.skip("flooding has no use for advertisements")
    machine = type(
        "Machine",
        (Movers,),
        {"protocol": protocol, "algorithm": algorithm, "advertisements": advertisements},
    )
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=max(4, settings().max_examples // 20), stateful_step_count=30
        ),
    )

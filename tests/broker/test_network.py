"""Three brokers in three processes against a plain scan; killed, cut, half-open, flooded."""

from __future__ import annotations

import itertools
import random
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from posetlib.broker.client import Client
from posetlib.errors import BrokerError
from posetlib.filters.filter import Filter
from posetlib.filters.parsing import parse_filter

from .running import PATIENCE, BrokerProcess, Proxy, processes, wait_until

MB = 1 << 20


class Subscriber:
    """A client with a name, which comes back when its connection breaks; keeps all it hears."""

    def __init__(self, name: str, broker: BrokerProcess) -> None:
        self.name = name
        self.broker = broker
        self.filters: list[Filter] = []
        self.heard: list[dict[str, Any]] = []
        self.held = 0
        self._client = self._connected()

    def _connected(self) -> Client:
        client = self.broker.connect(self.name)
        self.held = len(client.ask("list")["subscriptions"])
        threading.Thread(target=self._hear, args=(client,), daemon=True).start()
        return client

    def _hear(self, client: Client) -> None:
        try:
            for notification in client:
                self.heard.append(notification)
        except BrokerError:
            pass

    def subscribe(self, text: str) -> None:
        self._client.subscribe(text)
        self.filters.append(parse_filter(text))

    def unsubscribe(self, item: Filter) -> None:
        self._client.unsubscribe(item)
        self.filters.remove(item)

    def come_back(self) -> None:
        self._client.close()
        self._client = self._connected()

    def close(self) -> None:
        self._client.close()

    def numbers(self) -> list[int]:
        return [each["number"] for each in self.heard if "number" in each]


class World:
    """A chain of three brokers, subscribers at each, and what they should hear."""

    def __init__(self, folder: Path, start: Any, seed: int) -> None:
        self.draw = random.Random(seed)
        quick = ("--keepalive", "1", "--max-queue", str(4 * MB))
        self.b = start("B", *quick, "--state", str(folder / "b.db"))
        # What links B to its neighbours goes through here.
        self.proxy = Proxy(lambda: self.b.port)
        near = ("--neighbour", f"B=127.0.0.1:{self.proxy.port}")
        self.a = start("A", *quick, *near, "--table", "nrf")
        self.c = start("C", *quick, *near, "--merging", "perfect")
        self.brokers = [self.a, self.b, self.c]
        self.subscribers = [
            Subscriber(f"{broker.name}-{i}", broker) for broker in self.brokers for i in range(2)
        ]
        self._numbers = itertools.count()
        self._probes = itertools.count()

    def filter(self) -> str:
        low = {name: self.draw.randrange(40) for name in "xy"}
        parts = [f"{name} in [{low[name]}, {low[name] + self.draw.randrange(15)}]" for name in "xy"]
        return self.draw.choice([" and ".join(parts), parts[0], parts[1]])

    def notification(self) -> dict[str, Any]:
        return {
            "x": self.draw.randrange(50),
            "y": self.draw.randrange(50),
            "number": next(self._numbers),
        }

    def churn(self, count: int) -> None:
        """Subscribe and unsubscribe here and there."""
        for _ in range(count):
            who = self.draw.choice(self.subscribers)
            if len(who.filters) > 4 and self.draw.random() < 0.4:
                who.unsubscribe(self.draw.choice(who.filters))
            else:
                text = self.filter()
                if parse_filter(text) not in who.filters:
                    who.subscribe(text)

    def settle(self) -> None:
        """Wait until everybody hears a probe from every broker, that it asked for last."""
        wait_until(
            lambda: (
                len(self.b.health()["neighbours"]) == 2
                and all(all(each.health()["neighbours"].values()) for each in self.brokers)
            ),
            "all are linked",
        )
        probe = f"probe {next(self._probes)}"
        for who in self.subscribers:
            who._client.subscribe(f'probe = "{probe}"')
        for broker in self.brokers:
            mark = {"probe": probe, "from": broker.name}
            with broker.connect() as publisher:

                def all_heard(publisher: Client = publisher, mark: Any = mark) -> bool:
                    publisher.publish(mark)
                    return all(mark in who.heard for who in self.subscribers)

                wait_until(all_heard, f"all hear {mark}")
        for who in self.subscribers:
            who._client.unsubscribe(f'probe = "{probe}"')

    def publish_and_check(self, count: int) -> None:
        """Publish everywhere; everybody hears what a plain scan says, once, in order."""
        before = {who: len(who.numbers()) for who in self.subscribers}
        sent: dict[str, list[dict[str, Any]]] = {}
        for broker in self.brokers:
            sent[broker.name] = [self.notification() for _ in range(count)]
            with broker.connect() as publisher:
                publisher.publish(*sent[broker.name])
        for who in self.subscribers:
            due = [
                [n["number"] for n in each if any(f.matches(n) for f in who.filters)]
                for each in sent.values()
            ]
            total = sum(map(len, due))
            wait_until(
                lambda who=who, total=total: len(who.numbers()) - before[who] >= total,
                f"{who.name} hears {total}",
            )
        self.settle()  # behind all that is still on its way
        for who in self.subscribers:
            heard = who.numbers()[before[who] :]
            due = [
                [n["number"] for n in each if any(f.matches(n) for f in who.filters)]
                for each in sent.values()
            ]
            assert sorted(heard) == sorted(itertools.chain(*due)), who.name
            # The numbers of one publisher grow.
            for numbers in due:
                wanted = set(numbers)
                assert [number for number in heard if number in wanted] == numbers

    def check_nothing_twice(self) -> None:
        for who in self.subscribers:
            numbers = who.numbers()
            assert len(numbers) == len(set(numbers)), who.name
        for broker in self.brokers:
            assert "Traceback" not in broker.said()

    def close(self) -> None:
        for who in self.subscribers:
            who.close()
        self.proxy.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with processes(tmp_path) as start:
        world = World(tmp_path, start, seed=11)
        try:
            yield world
        finally:
            world.close()


def test_three_brokers_deliver_what_a_plain_scan_says(world: World) -> None:
    for _ in range(3):
        world.churn(25)
        world.settle()
        world.publish_and_check(150)
    world.check_nothing_twice()


def test_one_that_is_killed_and_started_again_serves_all_as_before(world: World) -> None:
    world.churn(30)
    world.settle()
    with world.a.connect() as publisher:
        publisher.publish(*(world.notification() for _ in range(300)))
    world.b.kill()
    wait_until(lambda: not any(world.a.health()["neighbours"].values()), "A notices")
    world.b.start()
    for who in world.subscribers:
        if who.broker is world.b:
            who.come_back()
            # It holds what it held, and did not have to ask for it.
            assert who.held == len(who.filters)
    world.settle()
    world.publish_and_check(150)
    world.check_nothing_twice()


def test_links_that_are_cut_and_half_open_heal(world: World) -> None:
    world.churn(30)
    world.settle()
    for disturb in (world.proxy.cut, world.proxy.hang):
        with world.c.connect() as publisher:
            publisher.publish(*(world.notification() for _ in range(300)))
        disturb()
        # Meanwhile others come and go, on both sides of what is broken.
        world.churn(10)
        if disturb == world.proxy.hang:
            wait_until(
                lambda: (
                    not any(any(each.health()["neighbours"].values()) for each in world.brokers)
                ),
                "all notice",
            )
            world.proxy.heal()
        world.settle()
        world.publish_and_check(100)
    world.check_nothing_twice()


def test_a_flood_and_one_that_stops_reading_do_no_harm(world: World) -> None:
    world.churn(30)
    world.settle()
    before = [each.resident() for each in world.brokers]
    # At the far end, one that asks for all of it and reads nothing.
    deaf = socket.create_connection(("127.0.0.1", world.c.port), PATIENCE)
    deaf.sendall(b'{"op":"subscribe","filter":"exists flood","id":1}\n')
    assert deaf.recv(100).startswith(b'{"op":"ok"')
    line = b'{"op":"publish","n":{"flood":1,"x":-1,"padding":"' + b"p" * 900 + b'"}}\n'
    most = [0, 0, 0]
    with socket.create_connection(("127.0.0.1", world.a.port), PATIENCE) as flooder:
        wait_until(lambda: b"flood" in world.a.get("/table"), "A knows who wants it")
        for _ in range(60):
            flooder.sendall(line * 1_000)
            most = [max(m, each.resident()) for m, each in zip(most, world.brokers, strict=True)]
        flooder.shutdown(socket.SHUT_WR)
        while flooder.recv(1 << 16):
            pass
    wait_until(lambda: b"slow_connections_total 1.0" in world.c.get("/metrics"), "it is cut off")
    deaf.close()
    # 54 MB went through; what waits is bounded by the queues.
    grown = [m - b for m, b in zip(most, before, strict=True)]
    assert max(grown) < 30 * MB, grown
    world.settle()
    world.publish_and_check(100)
    world.check_nothing_twice()

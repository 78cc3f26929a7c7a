"""Clients that move: messages and simulated latency of each protocol, and the simulator's speed.

Trees of a hundred brokers: points on a plane, joined more often the nearer they are, and of that
the breadth-first tree from a random broker, as in [T 5.8]. Delays follow distance, with 25.7 ms
for the longest way through the tree, and a broker takes 2 ms for a message. Fifty subscribers with
one filter, one publisher; clients move one at a time, to a leaf (*edge*) or to any broker (*all*).
Messages and latencies are counts of the simulation, the same on every machine.
"""

from __future__ import annotations

import random
import time
from statistics import fmean
from typing import NamedTuple

import networkx as nx

import posetlib as pl
from bench.harness import Bench
from posetlib.generating.topologies import PROCESSING, waxman_tree
from posetlib.routing.mobility import protocol_named
from posetlib.simulation import PROTOCOLS

BROKERS, SUBSCRIBERS = 100, 50
#: Deliveries of messages in a second of processor time; less is a broken promise.
SPEED_BAR = 20_000
#: Each figure is the mean over this number of trees.
TREES = 3
#: Those whose growth is shown: all that are safe.
GROWING = ("update", "linger", "prepared", "rendezvous", "ping-pong")


class Cost(NamedTuple):
    """What one move costs on average: messages on links, direct ones, milliseconds."""

    messages: float
    direct: float
    latency: float


def network(tree: nx.Graph[int], protocol: str, goals: list[int], subscribers: int) -> pl.Network:
    """Return a network at rest with one publisher and some subscribers, all at one of the goals."""
    rng = random.Random("clients")
    inner = [each for each in tree if tree.degree[each] > 1] or list(tree)
    points = {rng.choice(inner): "x > 0"} if protocol.startswith("rendezvous") else None
    net = pl.Network(
        tree,
        advertisements=True,
        delays="delay",
        processing=PROCESSING,
        rendezvous=points,
        tracing=False,
        auditing=False,
    )
    net.attach("publisher", rng.choice(goals))
    net.advertise("publisher", "x > 0")
    for i in range(subscribers):
        net.attach(f"s{i}", rng.choice(goals))
        net.subscribe(f"s{i}", "x > 0")
    net.run()
    return net


def measure(
    protocol: str, brokers: int, *, edge: bool, moves: int, subscribers: int = SUBSCRIBERS
) -> Cost:
    """Let subscribers move one after the other; the mean of what that takes, over three trees."""
    messages, direct = 0, 0
    latencies: list[float] = []
    for seed in range(TREES):
        tree = waxman_tree(brokers, seed)
        goals = [each for each in tree if not edge or tree.degree[each] == 1]
        net = network(tree, protocol, goals, subscribers)
        rng = random.Random(f"moves {seed}")
        before = net.messages.copy()
        for i in range(moves):
            mover = f"s{i % subscribers}"
            target = rng.choice([each for each in goals if each != net.clients[mover]])
            net.leave(mover, protocol, target)
            net.run(until=net.time + 1)
            net.arrive(mover, target, protocol)
            net.run()
        sent = net.messages - before
        direct += sent.pop("direct", 0)
        messages += sum(sent.values())
        latencies += [each.latency for each in net.handovers if each.latency is not None]
    made = TREES * moves
    return Cost(messages / made, direct / made, 1e3 * fmean(latencies))


def protocols(bench: Bench) -> None:
    """Show what a move costs by every protocol, to leaves and to all brokers."""
    brokers, moves = bench.size(BROKERS, 12), bench.size(60, 2)
    subscribers = bench.size(SUBSCRIBERS, 3)
    rows = []
    costs = {}
    for protocol in PROTOCOLS:
        edge, everywhere = (
            measure(protocol, brokers, edge=each, moves=moves, subscribers=subscribers)
            for each in (True, False)
        )
        costs[protocol] = edge
        rows.append(
            (
                protocol,
                "safe" if protocol_named(protocol).is_safe else "unsafe",
                edge.messages,
                everywhere.messages,
                edge.direct,
                edge.latency,
                everywhere.latency,
            )
        )
    bench.table(
        f"One move, {brokers} brokers, {subscribers} subscribers, {TREES} trees of {moves} moves",
        (
            "protocol",
            "",
            "messages, edge",
            "messages, all",
            "direct, edge",
            "ms, edge",
            "ms, all",
        ),
        rows,
        "Messages count hops, and filters one by one; milliseconds are simulated, from the arrival "
        "of the client until its session is ready.",
    )
    bench.promise(
        "messages of ping-pong, times those of update, edge",
        costs["ping-pong"].messages / costs["update"].messages,
        at_least=1,
    )


def growth(bench: Bench) -> None:
    """Show how the cost of a move grows with brokers, and with subscribers."""
    moves = bench.size(20, 2)
    sizes = (20, 50, 100, 200, 500) if not bench.quick else (6, 10)
    crowds = (1, 20, 50, 120) if not bench.quick else (1, 3)
    of_brokers = {
        size: [measure(each, size, edge=True, moves=moves, subscribers=10) for each in GROWING]
        for size in sizes
    }
    bench.table(
        "Messages of a move (and milliseconds) to a leaf by brokers, 10 subscribers",
        ("brokers", *GROWING),
        [
            (size, *(f"{each.messages:.1f} ({each.latency:.0f})" for each in costs))
            for size, costs in of_brokers.items()
        ],
    )
    brokers = bench.size(BROKERS, 8)
    shown = (*GROWING, "cover", "flood")
    bench.table(
        f"Messages of a move (and milliseconds) to a leaf by subscribers, {brokers} brokers",
        ("subscribers", *shown),
        [
            (
                crowd,
                *(
                    f"{cost.messages:.1f} ({cost.latency:.0f})"
                    for cost in (
                        measure(each, brokers, edge=True, moves=moves, subscribers=crowd)
                        for each in shown
                    )
                ),
            )
            for crowd in crowds
        ],
    )


def speed(bench: Bench) -> None:
    """Time the simulator: deliveries in a second of processor time, while clients move."""
    brokers, rounds = bench.size(BROKERS, 12), bench.size(40, 2)
    tree = waxman_tree(brokers, 0)
    rows = []
    for name, timed, watched in (
        ("by the seed", False, False),
        ("by simulated time", True, False),
        ("by the seed, traced and audited", False, True),
    ):
        rng = random.Random("speed")
        net = pl.Network(
            tree,
            advertisements=True,
            delays="delay" if timed else None,
            processing=PROCESSING,
            tracing=watched,
            auditing=watched,
        )
        net.attach("publisher", 0)
        net.advertise("publisher", "x > 0")
        for i in range(SUBSCRIBERS):
            net.attach(i + brokers, rng.randrange(brokers))
            net.subscribe(i + brokers, "x > 0")
        net.run()
        best, by_wall = 0.0, 0.0
        for _ in range(bench.size(3, 1)):
            steps, started, began = net.steps, time.process_time(), time.perf_counter()
            for i in range(rounds):
                for value in range(10):
                    net.publish("publisher", {"x": 1 + value})
                net.move(brokers + i % SUBSCRIBERS, rng.randrange(brokers))
                net.run()
            made = net.steps - steps
            best = max(best, made / (time.process_time() - started))
            by_wall = max(by_wall, made / (time.perf_counter() - began))
        rows.append((name, best, 1e6 / best, 1e6 / by_wall))
        if not watched:
            bench.promise(
                f"deliveries a second of processor time, {brokers} brokers, {name}",
                best,
                at_least=SPEED_BAR,
            )
    bench.table(
        f"The simulator on a tree of {brokers} brokers: ten publications to {SUBSCRIBERS} "
        "subscribers for each move",
        ("messages come", "deliveries a second", "µs each", "µs each, by the clock"),
        rows,
    )


def run(bench: Bench) -> None:
    """Show all of it."""
    protocols(bench)
    growth(bench)
    speed(bench)

"""Networks: what each algorithm sends over the links of a tree of 20 brokers, and what it keeps.

One load for all: clients subscribe, some of them withdraw half of it, then clients publish. The
figures are counts, the same on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import networkx as nx

import posetlib as pl
from bench.harness import Bench
from posetlib.simulation import NETWORK_ALGORITHMS

SEED = 7
BROKERS, CLIENTS = 20, 60
#: Values of x and y are integers up to this one, so that some filters are equal.
TOP = 12


class Load(NamedTuple):
    """What is done in every network: by client, in this order."""

    subscriptions: list[tuple[str, pl.Filter]]
    withdrawn: list[tuple[str, pl.Filter]]
    publications: list[tuple[str, dict[str, int]]]


def _range(rng: random.Random) -> tuple[int, int]:
    low = rng.randint(0, TOP)
    return low, min(TOP, low + rng.randint(0, 6))


def load_of(subscriptions: int, publications: int) -> Load:
    """Return a load from the seed."""
    rng = random.Random(SEED)
    clients = [f"client {i}" for i in range(CLIENTS)]
    held: dict[tuple[str, pl.Filter], None] = {}
    while len(held) < subscriptions:
        x, y = _range(rng), _range(rng)
        filter = pl.parse_filter(f"x in [{x[0]}, {x[1]}] and y in [{y[0]}, {y[1]}]")
        held[rng.choice(clients), filter] = None
    pairs = list(held)
    return Load(
        pairs,
        rng.sample(pairs, len(pairs) // 2),
        [
            (rng.choice(clients), {"x": rng.randint(0, TOP), "y": rng.randint(0, TOP)})
            for _ in range(publications)
        ],
    )


def modes() -> Iterator[tuple[str, dict[str, object]]]:
    """Yield every algorithm, with advertisements where that is defined, and a hierarchy."""
    for algorithm in NETWORK_ALGORITHMS:
        yield algorithm, {"algorithm": algorithm}
        if algorithm != "flooding":
            yield (
                f"{algorithm}, advertisements",
                {"algorithm": algorithm, "advertisements": True},
            )
    yield "covering, hierarchical", {"algorithm": "covering", "master": 0}


def network(options: dict[str, object]) -> pl.Network:
    """Return the tree with its clients; every fourth of them advertises some values of x."""
    tree = nx.random_labeled_tree(BROKERS, seed=SEED)
    net = pl.Network(tree, seed=SEED, tracing=False, auditing=False, **options)  # type: ignore[arg-type]
    for i in range(CLIENTS):
        net.attach(f"client {i}", i % BROKERS)
        if options.get("advertisements") and i % 4 == 0:
            part = i % (TOP - 2)
            net.advertise(f"client {i}", f"x in [{part}, {part + 3}] and exists y")
    net.run()
    return net


def networks(bench: Bench) -> None:
    """Run the load through every algorithm, and show what it took."""
    load = load_of(bench.size(600, 60), bench.size(2_000, 50))
    rows = []
    subscribed: dict[str, int] = {}
    for name, options in modes():
        net = network(options)
        for client, filter in load.subscriptions:
            net.subscribe(client, filter)
            net.run(20)
        net.run()
        subscribed[name] = net.messages["subscribe"]
        for client, filter in load.withdrawn:
            net.unsubscribe(client, filter)
            net.run(20)
        net.run()
        sizes = [size.subscriptions + size.advertisements for size in net.table_sizes().values()]
        for client, notification in load.publications:
            net.publish(client, notification)
        net.run()
        sent = net.messages
        rows.append(
            (
                name,
                subscribed[name],
                sent["subscribe"] + sent["unsubscribe"],
                sent["advertise"] + sent["unadvertise"],
                sum(sizes) / len(sizes),
                max(sizes),
                sent["notify"],
                sum(len(net.delivered(client)) for client in net.clients),
            )
        )
    bench.table(
        f"{BROKERS} brokers, {len(load.subscriptions):,} subscriptions, half of them withdrawn, "
        f"{len(load.publications):,} publications",
        (
            "algorithm",
            "filters, subscribing alone",
            "filters, all",
            "advertisements",
            "entries, mean",
            "entries, most",
            "notifications on links",
            "delivered",
        ),
        rows,
    )
    for less, more in (("covering", "identity"), ("identity", "simple")):
        bench.promise(
            f"filters sent while clients only subscribe: {less}, of {more}",
            subscribed[less] / subscribed[more],
            at_most=1,
        )


def run(bench: Bench) -> None:
    """Show what every algorithm sends and keeps."""
    networks(bench)

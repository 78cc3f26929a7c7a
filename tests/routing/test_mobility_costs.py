"""What handovers cost: the tables of the thesis, and exact counts, against the simulator."""

from __future__ import annotations

from collections import Counter
from random import Random

import networkx as nx
import pytest

from posetlib import Network
from posetlib.routing.mobility.costs import (
    GENERIC_PHASES,
    LATENCIES,
    OPTIMISATIONS,
    complete_bounds,
    generic_cost,
    incomplete_bounds,
    ping_pong_messages,
    update_messages,
)

SIGNALLING = ("relocate", "done", "ready", "direct")


def random_tree(random: Random, size: int) -> nx.Graph[str]:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(f"B{i}" for i in range(size))
    graph.add_edges_from((f"B{i}", f"B{random.randrange(i)}") for i in range(1, size))
    return graph


def moved(
    seed: int, protocol: str, *, advertisements: bool = True, publisher: bool = False
) -> tuple[Counter[str], int, int, Network]:
    """One move on a random tree; what was sent for it, its distance, the number of brokers."""
    random = Random(f"cost {seed}")
    size = random.randint(2, 14)
    graph = random_tree(random, size)
    net = Network(graph, advertisements=advertisements, seed=seed)
    source, target = random.sample(list(graph), 2)
    net.attach("mover", source)
    net.attach("other", random.choice(list(graph)))
    if advertisements:
        net.advertise("mover" if publisher else "other", "x > 0")
    net.subscribe("other" if publisher else "mover", "x > 3")
    net.run()
    before = net.messages.copy()
    net.move("mover", target, protocol)
    net.run()
    net.check()
    distance = nx.shortest_path_length(graph, source, target)
    return net.messages - before, distance, size, net


@pytest.mark.parametrize("publisher", [False, True])
@pytest.mark.parametrize("advertisements", [False, True])
def test_update_sends_a_hop_for_each_edge_there_and_back(
    advertisements: bool, publisher: bool
) -> None:
    for seed in range(30):
        sent, distance, _, _ = moved(
            seed, "update", advertisements=advertisements, publisher=publisher
        )
        exact = update_messages(distance, publisher=publisher)
        assert {name: sent[name] for name in SIGNALLING if sent[name]} == exact, seed


def test_linger_costs_one_direct_message_more() -> None:
    for seed in range(20):
        sent, distance, _, _ = moved(seed, "linger")
        exact = update_messages(distance) + Counter(direct=1)
        assert {name: sent[name] for name in SIGNALLING if sent[name]} == exact


@pytest.mark.parametrize("advertisements", [False, True])
def test_ping_pong_floods_the_network_whatever_the_distance(advertisements: bool) -> None:
    """Exact once the filters of the client, which travel as well, are left out."""
    for seed in range(30):
        sent, distance, size, net = moved(seed, "ping-pong", advertisements=advertisements)
        exact = ping_pong_messages(size, distance, advertisements=advertisements)
        # A network in which the client has no filters: what is left is for the signals alone.
        bare = Network(net._tree.graph(), advertisements=advertisements, seed=seed)
        handover = net.handovers[0]
        bare.attach("mover", handover.source)
        bare.leave("mover", "ping-pong")
        bare.run()
        bare.arrive("mover", handover.target, "ping-pong")
        bare.run()
        bare.check()
        repeated = bare.messages["notify"] - exact["notify"]
        assert bare.messages - Counter(notify=repeated) == exact, seed
        assert repeated >= 0
        assert sent["advertise"] == exact["advertise"]


def test_the_first_ping_arrives_if_the_way_was_made_in_advance_on_both_sides() -> None:
    graph = nx.path_graph(["B1", "B2", "B3"])
    net = Network(graph)
    net.attach("mover", "B1")
    net.leave("mover", "ping-pong")
    net.run()
    net.arrive("mover", "B3", "ping-pong")
    net.run()
    assert net.messages == ping_pong_messages(3, 2, advertisements=False)


@pytest.mark.parametrize("publisher", [False, True])
def test_what_update_sends_lies_between_the_bounds_of_the_table(publisher: bool) -> None:
    """Table 5.3 counts brokers strictly between, and no way back for a subscriber."""
    for seed in range(20):
        sent, distance, size, _ = moved(seed, "update", publisher=publisher)
        bounds = incomplete_bounds("acyclic", size, distance - 1, publisher=publisher)
        hops = sent["relocate"] + (sent["ready"] if publisher else 0)
        ways = 2 if publisher else 1
        assert bounds.lower <= hops - ways <= bounds.upper


#: What the tables count: they leave out withdrawals, queues and direct messages.
COUNTED = ("advertise", "subscribe", "notify", "relocate")


def moved_with_point(seed: int, protocol: str) -> tuple[Counter[str], int, int, int]:
    """One move on a random tree with a rendezvous point for everything.

    Returns what was sent for it, its distance, the number of brokers, the longest way to the point.
    """
    random = Random(f"point {seed}")
    graph = random_tree(random, random.randint(3, 14))
    source, target, point = random.sample(list(graph), 3)
    net = Network(graph, advertisements=True, seed=seed, rendezvous={point: "true"})
    net.attach("mover", source)
    net.attach("other", random.choice(list(graph)))
    net.advertise("other", "x > 0")
    net.subscribe("mover", "x > 3")
    net.run()
    before = net.messages.copy()
    net.leave("mover", protocol, target)
    net.run()
    net.arrive("mover", target, protocol)
    net.run()
    net.check()
    assert not net.audit().faults
    lengths = nx.single_source_shortest_path_length(graph, point)
    distance = nx.shortest_path_length(graph, source, target)
    return net.messages - before, distance, len(graph), max(lengths.values())


class TestBounds:
    """Tables 5.2 and 5.3 against counts; k is the brokers between, and each way has k + 1 hops."""

    def test_generic(self) -> None:
        for seed in range(20):
            sent, distance, size, _ = moved(seed, "ping-pong")
            # Its hops end at a broker of the table, or at source or target: two for each phase.
            hops = sum(sent[name] for name in ("advertise", "notify"))
            pings = max(0, sent["notify"] - 2 * distance)
            bounds = complete_bounds("generic", size, distance - 1, pings=pings)
            assert incomplete_bounds("generic", size, distance - 1, pings=pings) == bounds
            assert hops <= bounds.upper + 6
            assert hops + 2 * distance + 2 >= bounds.lower

    def test_generic_with_a_rendezvous_point_does_not_flood(self) -> None:
        for seed in range(20):
            sent, distance, size, reach = moved_with_point(seed, "ping-pong")
            pings = max(0, sent["notify"] - 2 * distance)
            bounds = complete_bounds("generic RP", size, distance - 1, reach=reach, pings=pings)
            assert sent["advertise"] <= 2 * reach
            assert sum(sent[name] for name in COUNTED) <= bounds.upper + 8

    @pytest.mark.parametrize("publisher", [False, True])
    def test_covering_sends_nothing_or_an_update(self, publisher: bool) -> None:
        lowest = set()
        for seed in range(30):
            sent, distance, size, _ = moved(seed, "cover", publisher=publisher)
            bounds = complete_bounds("acyclic", size, distance - 1, publisher=publisher)
            ways = 2 if publisher else 1
            hops = sent["relocate"] + (sent["ready"] if publisher else 0)
            assert max(0, hops - ways) <= bounds.upper
            lowest.add(hops == bounds.lower)
        # Nobody else announces what a publisher does, so that is never covered here.
        assert (True in lowest) is not publisher

    def test_flooding_meets_a_broker_once(self) -> None:
        for seed in range(20):
            sent, distance, size, _ = moved(seed, "flood")
            bounds = incomplete_bounds("acyclic", size, distance - 1)
            assert bounds.lower <= sent["relocate"] - 1 <= bounds.upper

    def test_a_rendezvous_point_leaves_out_the_way_to_the_source(self) -> None:
        """The table counts b to RP; safe is only to go on to a, hop by hop, as much again."""
        is_above = False
        for seed in range(30):
            sent, distance, size, reach = moved_with_point(seed, "rendezvous")
            complete = complete_bounds("acyclic RP", size, distance - 1, reach=reach)
            incomplete = incomplete_bounds("cyclic RP", size, distance - 1, reach=reach)
            assert distance <= sent["relocate"] <= incomplete.upper
            is_above = is_above or sent["relocate"] - 1 > complete.upper
        assert is_above

    def test_5_4_and_5_5_rank_latency_and_cost(self) -> None:
        assert LATENCIES["ping-pong"][0] > LATENCIES["incomplete acyclic"][0]
        assert LATENCIES["incomplete acyclic"][0] > LATENCIES["complete acyclic"][0]
        assert list(OPTIMISATIONS) == ["none", "overlay addresses", "rendezvous points", "covering"]
        none, addresses, covering = (
            sum(moved(seed, protocol)[0]["relocate"] for seed in range(30))
            for protocol in ("flood", "update", "cover")
        )
        assert none >= addresses > covering


class TestTables:
    def test_5_1(self) -> None:
        assert generic_cost(50, 5, advertisements=False) == 4 * 50 + 2 * 5
        assert generic_cost(50, 5, advertisements=False, pings=3) == 4 * 50 + 5 * 5
        assert generic_cost(50, 5, advertisements=True, filters=50) == 5 * 50 + 2 * 5
        assert len(GENERIC_PHASES) == 8
        with pytest.raises(ValueError, match="between"):
            generic_cost(5, 6, advertisements=True)

    def test_5_1_leaves_out_the_subscriptions_under_advertisements(self) -> None:
        """Two floods of advertisements, two of withdrawals; the subscriptions along the way are
        counted only as they are withdrawn.
        """
        exact = ping_pong_messages(50, 4, advertisements=True)
        signals = sum(exact.values()) - exact["direct"] - exact["notify"]
        # Hops against brokers: N - 1 for N, d for n.
        assert signals - exact["subscribe"] == generic_cost(49, 4, advertisements=True)

    @pytest.mark.parametrize("bounds", [complete_bounds, incomplete_bounds])
    def test_upper_is_above_lower(self, bounds: object) -> None:
        assert callable(bounds)
        for name in ("generic", "generic RP", "acyclic", "cyclic RP", "acyclic RP"):
            for publisher in (False, True):
                made = bounds(name, 100, 6, publisher=publisher, reach=9, points=2, pings=1)
                assert made.upper >= made.lower >= 0

    def test_5_2_and_5_3(self) -> None:
        assert complete_bounds("generic", 10, 3, pings=2) == (4 * 8 + 4 * 8, 16 + 12)
        assert complete_bounds("generic RP", 10, 3, reach=4) == (8 + 32, 8 + 12)
        assert complete_bounds("acyclic", 10, 3) == (8, 0)
        assert complete_bounds("acyclic", 10, 3, publisher=True) == (16, 0)
        assert complete_bounds("cyclic RP", 10, 3, reach=4, points=3) == (12, 0)
        assert complete_bounds("acyclic RP", 10, 3, reach=4, points=3) == (8, 0)
        assert incomplete_bounds("acyclic", 10, 3, pings=1) == (16, 3)
        assert incomplete_bounds("acyclic", 10, 3, publisher=True) == (16, 6)
        assert incomplete_bounds("cyclic RP", 10, 3, reach=4, points=3) == (24, 0)
        assert incomplete_bounds("acyclic RP", 10, 3, reach=4, publisher=True) == (12, 0)
        with pytest.raises(ValueError, match="not 'magic'"):
            complete_bounds("magic", 10, 3)

    def test_a_rendezvous_point_can_be_dearer_than_the_tree(self) -> None:
        """The thesis says that its bound cannot be greater; for an incomplete path it is."""
        tree = incomplete_bounds("acyclic", 10, 3).upper
        assert incomplete_bounds("acyclic RP", 10, 3, reach=9, points=2).upper == 2 * tree

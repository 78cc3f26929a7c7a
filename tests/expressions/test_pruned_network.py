"""Networks that prune: the same deliveries as without, whatever is pruned where."""

from random import Random

import networkx as nx
import pytest

import posetlib as pl
from posetlib.expressions import RATINGS
from posetlib.simulation.pruned_network import VARIANTS, PrunedNetwork
from tests.expressions.worlds import random_expression, world


def made(variant: str, rating: str, seed: int):
    random = Random(seed)
    network = PrunedNetwork(nx.balanced_tree(2, 2), variant, rating)
    subscriptions = {
        f"s{i}": (random_expression(random, names="xy"), random.randrange(7)) for i in range(25)
    }
    for name, (expression, broker) in subscriptions.items():
        network.subscribe(name, expression, broker)
    return network, subscriptions, random


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rating", RATINGS)
def test_pruning_changes_what_is_sent_and_not_what_is_delivered(variant, rating):  # I2
    network, subscriptions, random = made(variant, rating, 3)
    notifications = [(random.choice(world()), random.randrange(7)) for _ in range(60)]
    before = [network.route(*each) for each in notifications]
    for (notification, _), routed in zip(notifications, before, strict=True):
        due = {n for n, (e, _) in subscriptions.items() if e.matches(notification)}
        assert routed.delivered == due
    first = associations = network.associations
    while network.prune(3):
        assert network.associations <= associations
        associations = network.associations
        for name, (expression, home) in subscriptions.items():
            assert network.entry(name, home) == expression  # never altered at its own broker
            for broker in range(7):
                assert network.entry(name, broker).covers(expression)
    assert associations < 0.8 * first
    after = [network.route(*each) for each in notifications]
    for one, other in zip(before, after, strict=True):
        assert one.delivered == other.delivered
        assert one.reached <= other.reached
    # Everything is taken back by name alone.
    for name in subscriptions:
        network.unsubscribe(name)
    assert network.associations == 0
    assert all(not len(each) for each in network._matchers.values())
    assert all(not each.reached for each in [network.route(n, 0) for n, _ in notifications])


def test_a_forwarder_that_prunes_sends_what_it_pruned_on():
    network = PrunedNetwork(nx.path_graph(["A", "B", "C"]), "pre", "memory")
    network.subscribe("s", pl.parse_expression("x = 1 and y = 1 and z = 1"), "A")
    network._sent["A", "B"].prune(1)
    pruned = network.entry("s", "B")
    assert len(pruned.leaves()) == 2
    assert network.entry("s", "C") == pruned
    network._sent["B", "C"].prune(1)
    assert network.entry("s", "B") == pruned
    assert len(network.entry("s", "C").leaves()) == 1


def test_bad_calls():
    with pytest.raises(ValueError, match="variant"):
        PrunedNetwork(nx.path_graph(3), "sometimes")
    network = PrunedNetwork(nx.path_graph(3))
    network.subscribe("s", pl.parse_expression("x = 1"), 0)
    with pytest.raises(ValueError, match="already"):
        network.subscribe("s", pl.parse_expression("x = 1"), 1)
    with pytest.raises(pl.UnknownEntryError):
        network.unsubscribe("t")

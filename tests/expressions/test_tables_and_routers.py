"""Tables, routers and networks of expressions: exact at the edge, whatever is known of covering."""

from random import Random

import networkx as nx
import pytest

import posetlib as pl
from tests.expressions.worlds import random_expression, world

STRUCTURES = ["fp", "pf", "bf", "nrf", "linear"]


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", range(2))
def test_all_structures_hold_expressions(structure, seed):
    random = Random(seed)
    table = pl.make_table(structure, relation=pl.EXPRESSIONS)
    held: list[tuple[pl.Expression, str]] = []
    for step in range(60):
        if held and random.random() < 0.3:
            pair = held.pop(random.randrange(len(held)))
            table.discard(*pair)
        else:
            pair = (random_expression(random, names="xy"), random.choice("ABC"))
            table.add(*pair)
            held.append(pair)
        if step % 20 == 19:
            table.check()
            for notification in random.sample(world(), 30):
                wanted = {i for e, i in table.entries() if e.matches(notification)}
                assert table.match(notification) == wanted
    notifications = random.sample(world(), 130)
    wanted = [frozenset(i for e, i in table.entries() if e.matches(each)) for each in notifications]
    assert table.match_many(notifications) == wanted
    copy = pl.Snapshot.from_json(table.snapshot().to_json(), relation=pl.EXPRESSIONS).restore()
    assert not pl.diff(table, copy)
    assert copy.match_many(notifications) == wanted


def test_structures_that_agree_on_filters_agree_on_expressions():
    random = Random(4)
    pairs = [(random_expression(random, names="xy"), random.choice("ABC")) for _ in range(80)]
    tables = [pl.make_table(each, relation=pl.EXPRESSIONS) for each in ("fp", "nrf", "linear")]
    for table in tables:
        for pair in pairs:
            table.add(*pair)
    entries = [set(table.entries()) for table in tables]
    assert entries[0] == entries[1] == entries[2]
    assert set(tables[0].roots()) == set(tables[1].roots()) == set(tables[2].roots())
    built = pl.FiltersPoset.build(pairs, relation=pl.EXPRESSIONS)
    assert set(built.entries()) == entries[0]


def test_snapshots_keep_the_hierarchy_of_types():
    types = pl.TypeHierarchy({"StockQuote": ["Quote"]})
    table = pl.FiltersPoset(relation=pl.EXPRESSIONS)
    table.add(pl.parse_expression("type isa Quote or x = 1", types=types), "A")
    copy = pl.Snapshot.from_json(table.snapshot().to_json(), relation=pl.EXPRESSIONS).restore()
    assert copy.match({"type": "StockQuote"}) == {"A"}


def test_a_table_of_expressions_refuses_filters():
    with pytest.raises(TypeError, match="expressions"):
        pl.FiltersPoset(relation=pl.EXPRESSIONS).add(pl.parse_filter("x = 1"), "A")


@pytest.mark.parametrize("algorithm", ["covering", "identity", "simple"])
@pytest.mark.parametrize("table", ["fp", "nrf"])
def test_routers_of_expressions_forward_what_they_must_and_deliver_exactly(algorithm, table):
    random = Random(7)
    network = pl.Network(
        nx.path_graph(["B1", "B2", "B3", "B4"]), algorithm, table=table, language="expressions"
    )
    clients = {f"c{i}": f"B{i % 4 + 1}" for i in range(6)}
    for client, broker in clients.items():
        network.attach(client, broker)
    held: dict[str, list[pl.Expression]] = {client: [] for client in clients}
    for _ in range(40):
        client = random.choice(list(clients))
        if held[client] and random.random() < 0.35:
            network.unsubscribe(client, held[client].pop())
        else:
            expression = random_expression(random, 4, names="xy")
            # Equivalent subscriptions of a client are one.
            if not any(e.covers(expression) and expression.covers(e) for e in held[client]):
                network.subscribe(client, expression)
                held[client].append(expression)
    network.run()
    network.check()
    for notification in random.sample(world(), 40):
        before = {client: len(network.delivered(client)) for client in clients}
        network.publish("c0", notification)
        network.run()
        for client in clients:
            due = any(each.matches(notification) for each in held[client])
            assert len(network.delivered(client)) - before[client] == due, (client, notification)
    audit = network.audit()
    assert not audit.missed
    assert not audit.unwanted


def test_advertisements_of_expressions_pull_what_overlaps():
    router = pl.Router(["I1", "I2"], advertisements=True, language="expressions")
    read = pl.parse_expression
    router.advertise(read("x > 3 or y = 1"), "I1")
    assert [u.to for u in router.subscribe(read("x > 5 and not (z = 1)"), "alice")] == ["I1"]
    assert router.subscribe(read("x < 2 and not (exists y)"), "bob") == []
    # An advertisement comes that overlaps the second one.
    pulled = [u for u in router.advertise(read("not (x > 3)"), "I2") if u.to == "I2"]
    assert any(read("x < 2 and not (exists y)") in update.subscribe for update in pulled)


def test_the_state_of_a_router_of_expressions_is_read_back():
    router = pl.Router(["I1", "I2"], language="expressions")
    router.subscribe(pl.parse_expression("x > 3 or not (exists y)"), "I1")
    router.subscribe(pl.parse_expression("x > 5 and y = 1"), "alice")
    again = pl.Router.from_json(router.to_json())
    assert again.options == router.options
    for notification in world()[::7]:
        assert again.route(notification, "bob") == router.route(notification, "bob")


def test_languages_are_checked():
    with pytest.raises(ValueError, match="language is one of"):
        pl.Router(["I1"], language="prose")
    with pytest.raises(ValueError, match="language is one of"):
        pl.Network(nx.path_graph(["A"]), language="prose")
    with pytest.raises(ValueError, match="pruned, not merged"):
        pl.Router(["I1"], merging="perfect", language="expressions")
    with pytest.raises(TypeError, match="expressions"):
        pl.Router(["I1"], language="expressions").subscribe(pl.parse_filter("x = 1"), "alice")
    with pytest.raises(TypeError, match="holds filters"):
        pl.Router(["I1"]).subscribe(pl.parse_expression("x = 1"), "alice")


def test_a_recorded_network_of_expressions_is_replayed():
    network = pl.Network(nx.path_graph(["A", "B"]), language="expressions")
    network.attach("alice", "A")
    network.attach("bob", "B")
    network.subscribe("alice", "x > 3 or not (exists x)")
    network.run()
    network.publish("bob", {"y": 1})
    network.run()
    assert network.delivered("alice") == ({"y": 1},)
    again = pl.Network.replay(network.record())
    assert again.delivered("alice") == ({"y": 1},)

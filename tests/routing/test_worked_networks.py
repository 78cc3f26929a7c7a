"""The worked examples as messages on links: forwards sets on a star, and identity-based routing."""

from __future__ import annotations

import networkx as nx
import pytest

from posetlib import Network, Update, parse_filter


def star(centre: str, *leaves: str, **options: str) -> Network:
    """A star with a client at every leaf, called as its leaf with "client of" before it."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from((centre, *leaves))
    graph.add_edges_from((centre, leaf) for leaf in leaves)
    net = Network(graph, **options)  # type: ignore[arg-type]
    for leaf in leaves:
        net.attach(f"client of {leaf}", leaf)
    return net


def messages(net: Network) -> set[tuple[str, str]]:
    """Run until quiet; every update that was delivered, as its link and its text."""
    before = len(net.events)
    net.run()
    found = [
        (f"{each.source}→{each.target}", str(each.message).partition(": ")[2])
        for each in net.events[before:]
        if isinstance(each.message, Update)
    ]
    assert len(set(found)) == len(found)
    return set(found)


@pytest.mark.parametrize("table", ["fp", "nrf"])
class TestForwardsSets:
    def test_ranges_of_three_neighbours(self, table: str) -> None:
        net = star("R", "I1", "I2", "I3", table=table)
        ranges = {
            "I1": ("[0, 50]", "[60, 100]"),
            "I2": ("[10, 40]", "[70, 90]"),
            "I3": ("[20, 30]",),
        }
        sent: list[set[tuple[str, str]]] = []
        for leaf, texts in ranges.items():
            for text in texts:
                net.subscribe(f"client of {leaf}", f"x in {text}")
                sent.append(messages(net))
        assert sent == [
            {(link, "subscribe x in [0, 50]") for link in ("I1→R", "R→I2", "R→I3")},
            {(link, "subscribe x in [60, 100]") for link in ("I1→R", "R→I2", "R→I3")},
            {("I2→R", "subscribe x in [10, 40]"), ("R→I1", "subscribe x in [10, 40]")},
            {("I2→R", "subscribe x in [70, 90]"), ("R→I1", "subscribe x in [70, 90]")},
            {("I3→R", "subscribe x in [20, 30]")},
        ]
        net.unsubscribe("client of I1", "x in [0, 50]")
        assert messages(net) == {
            ("I1→R", "unsubscribe x in [0, 50]"),
            ("R→I2", "unsubscribe x in [0, 50]; subscribe x in [20, 30]"),
            ("R→I3", "unsubscribe x in [0, 50]; subscribe x in [10, 40]"),
        }
        net.check()

    def test_a_filter_below_the_removed_one_is_sent(self, table: str) -> None:
        """[T, Ex. 3.2]: F1 and F2 of c cover F3 of a, which covers F4 of b."""
        f1, f2 = "x in [0, 6] and y in [0, 9]", "x in [0, 9] and y in [0, 6]"
        f3, f4 = "x in [0, 5] and y in [0, 5]", "x in [1, 2] and y in [1, 2]"
        net = star("R", "a", "b", "c", table=table)
        for leaf, text in (("c", f1), ("c", f2)):
            net.subscribe(f"client of {leaf}", text)
            net.run()
        net.subscribe("client of a", f3)
        assert messages(net) == {("a→R", f"subscribe {f3}"), ("R→c", f"subscribe {f3}")}
        net.subscribe("client of b", f4)
        assert messages(net) == {("b→R", f"subscribe {f4}")}
        net.unsubscribe("client of a", f3)
        assert messages(net) == {
            ("a→R", f"unsubscribe {f3}"),
            ("R→c", f"unsubscribe {f3}; subscribe {f4}"),
        }
        net.check()


class TestIdentityBasedRouting:
    """[C 3.4]: F goes to H unless another destination than H holds the same."""

    def test_a_new_subscription_stops_where_others_hold_the_same(self) -> None:
        net = star("M", "B1", "B2", "B3", algorithm="identity")
        # The same values, written in two ways [C 4.3.3].
        one, other = "price:int in [20, 25]", "price in {20, 21, 22, 23, 24, 25}"
        assert parse_filter(one) == parse_filter(other)
        text = str(parse_filter(one))
        net.subscribe("client of B1", one)
        assert messages(net) == {(link, f"subscribe {text}") for link in ("B1→M", "M→B2", "M→B3")}
        # D(F) is looked up without the sender's own entry: B1 alone held it, so B1 must hear.
        net.subscribe("client of B2", other)
        assert messages(net) == {(link, f"subscribe {text}") for link in ("B2→M", "M→B1")}
        net.subscribe("client of B3", one)
        assert messages(net) == {("B3→M", f"subscribe {text}")}

        net.unsubscribe("client of B3", other)
        assert messages(net) == {("B3→M", f"unsubscribe {text}")}
        net.unsubscribe("client of B1", one)
        assert messages(net) == {(link, f"unsubscribe {text}") for link in ("B1→M", "M→B2")}
        net.unsubscribe("client of B2", one)
        assert messages(net) == {(link, f"unsubscribe {text}") for link in ("B2→M", "M→B1", "M→B3")}
        assert net.check() is None
        assert all(not sum(each) for each in net.table_sizes().values())

    def test_covering_is_not_looked_at(self) -> None:
        net = star("M", "B1", "B2", algorithm="identity")
        net.subscribe("client of B1", "x > 3")
        net.run()
        net.subscribe("client of B1", "x > 5")
        assert messages(net) == {(link, "subscribe x > 5") for link in ("B1→M", "M→B2")}

    def test_simple_routing_tells_of_every_subscription(self) -> None:
        net = star("M", "B1", "B2", "B3", algorithm="simple")
        for leaf in ("B1", "B2", "B3"):
            net.subscribe(f"client of {leaf}", "x > 3")
            expected = {f"{leaf}→M", *(f"M→{to}" for to in ("B1", "B2", "B3") if to != leaf)}
            assert messages(net) == {(link, "subscribe x > 3") for link in expected}

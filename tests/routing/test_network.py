"""The network as its user meets it: clients, links, single deliveries, traces, records, checks."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl
from posetlib.errors import SnapshotError
from posetlib.simulation import NETWORK_ALGORITHMS
from tests.routing.test_networks import operations, trees
from tests.routing.worlds import TWO_FORMS, Operation, Setup, World


@pytest.fixture
def net() -> pl.Network:
    """Brokers B1 – B2 – B3 – B4, ann at the first and zoe at the last."""
    made = pl.Network(nx.path_graph(["B1", "B2", "B3", "B4"]))
    made.attach("ann", "B1")
    made.attach("zoe", "B4")
    return made


class TestMaking:
    @pytest.mark.parametrize(
        "graph",
        [nx.cycle_graph(3), nx.Graph(), nx.empty_graph(2), nx.DiGraph([(0, 1)]), nx.MultiGraph()],
    )
    def test_only_a_tree_will_do(self, graph: Any) -> None:
        with pytest.raises(ValueError, match="the brokers of a network are"):
            pl.Network(graph)

    def test_something_that_is_no_graph_is_refused(self) -> None:
        with pytest.raises(ValueError, match="not list"):
            pl.Network([("B1", "B2")])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"algorithm": "gossip"}, "algorithm is one of flooding, simple, identity"),
            ({"algorithm": "flooding", "advertisements": True}, "no use for advertisements"),
            ({"master": "B1", "advertisements": True}, "no use for advertisements"),
            ({"rendezvous": {"B1": "x > 3"}}, "needs advertisements=True"),
            ({"table": "pf"}, "'fp' or 'nrf'"),
            ({"forwards": "rough"}, "'exact' or 'approximate'"),
        ],
    )
    def test_options_that_do_not_fit(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            pl.Network(nx.path_graph(["B1", "B2"]), **options)

    @pytest.mark.parametrize("options", [{"master": "B9"}, {"rendezvous": {"B9": "x > 3"}}])
    def test_brokers_that_are_not_there(self, options: dict[str, Any]) -> None:
        with pytest.raises(pl.UnknownEntryError, match="no broker 'B9'"):
            pl.Network(nx.path_graph(["B1", "B2"]), **options)

    @pytest.mark.parametrize("algorithm", NETWORK_ALGORITHMS)
    def test_one_broker_is_a_network(self, algorithm: str) -> None:
        net = pl.Network(nx.empty_graph(1), algorithm)
        net.attach("ann", 0)
        net.subscribe("ann", "x > 3")
        net.publish("ann", {"x": 5})
        assert net.step() is None
        assert net.delivered("ann") == ({"x": 5},)
        net.check()


class TestClients:
    def test_names(self, net: pl.Network) -> None:
        with pytest.raises(ValueError, match="'ann' is at 'B1' already"):
            net.attach("ann", "B2")
        with pytest.raises(ValueError, match="'B2' is a broker"):
            net.attach("B2", "B1")
        with pytest.raises(ValueError, match="cannot be the name of a client"):
            net.attach(None, "B1")
        with pytest.raises(pl.UnknownEntryError, match="no broker 'B9'"):
            net.attach("bob", "B9")
        for call in (net.detach, net.subscriptions, net.advertisements):
            with pytest.raises(pl.UnknownEntryError, match="no client 'bob'"):
                call("bob")
        with pytest.raises(pl.UnknownEntryError, match="never was a client 'bob'"):
            net.delivered("bob")

    def test_what_it_does_not_hold_it_cannot_withdraw(self, net: pl.Network) -> None:
        record = net.record()
        with pytest.raises(pl.UnknownEntryError, match="'ann' does not hold x > 3"):
            net.unsubscribe("ann", "x > 3")
        with pytest.raises(pl.UnknownEntryError, match="'ann' does not hold x > 3"):
            net.replace("ann", "x > 3", "x > 4")
        with pytest.raises(ValueError, match="without advertisements=True"):
            net.advertise("ann", "x > 3")
        with pytest.raises(pl.FilterSyntaxError):
            net.subscribe("ann", "x >")
        assert not net.subscriptions("ann")
        assert not net.in_flight
        assert net.record() == record

    def test_the_same_subscription_twice_counts_once(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        net.subscribe("ann", "x > 3")
        net.run()
        assert net.messages["subscribe"] == 3
        net.unsubscribe("ann", "x > 3")
        net.run()
        net.check()
        assert all(not sum(sizes) for sizes in net.table_sizes().values())

    @pytest.mark.parametrize("table", ["fp", "nrf"])
    @pytest.mark.parametrize("algorithm", NETWORK_ALGORITHMS)
    def test_a_filter_is_withdrawn_by_one_that_means_the_same(
        self, algorithm: str, table: str
    ) -> None:
        one, other = map(pl.parse_filter, TWO_FORMS)
        assert one != other
        assert one.covers(other)
        assert other.covers(one)
        net = pl.Network(nx.path_graph(["B1", "B2", "B3"]), algorithm, table=table)
        for client, broker in (("ann", "B1"), ("amy", "B1"), ("zoe", "B3")):
            net.attach(client, broker)
        net.subscribe("ann", one)
        net.subscribe("ann", other)
        assert net.subscriptions("ann") == (one,)
        net.subscribe("amy", other)
        net.subscribe("zoe", other)
        net.run()
        net.check()
        net.unsubscribe("ann", other)
        assert net.subscriptions("ann") == ()
        net.run()
        net.check()
        net.publish("zoe", {"name": "bb"})
        net.run()
        assert [len(net.delivered(each)) for each in ("ann", "amy", "zoe")] == [0, 1, 1]
        assert net.audit() == pl.Audit(due=2, delivered=2)
        for client in ("amy", "zoe"):
            net.unsubscribe(client, one)
        net.run()
        net.check()
        assert all(not sum(sizes) for sizes in net.table_sizes().values())

    @pytest.mark.parametrize("algorithm", NETWORK_ALGORITHMS)
    def test_a_filter_is_replaced_by_one_that_means_the_same(self, algorithm: str) -> None:
        one, other = map(pl.parse_filter, TWO_FORMS)
        net = pl.Network(nx.path_graph(["B1", "B2"]), algorithm)
        net.attach("ann", "B1")
        for each in (one, "x > 3"):
            net.subscribe("ann", each)
        # Equivalent to what stays, and then to what goes.
        net.replace("ann", "x > 3", other)
        assert net.subscriptions("ann") == (one,)
        net.run()
        net.check()
        net.replace("ann", one, other)
        assert net.subscriptions("ann") == (other,)
        net.run()
        net.check()
        net.unsubscribe("ann", one)
        net.run()
        net.check()
        assert all(not sum(sizes) for sizes in net.table_sizes().values())

    def test_filters_with_types_are_recorded(self) -> None:
        types = pl.TypeHierarchy({"cat": ["animal"], "animal": []})
        net = pl.Network(nx.path_graph(["B1", "B2"]))
        net.attach("ann", "B1")
        net.attach("zoe", "B2")
        net.subscribe("ann", pl.parse_filter("kind isa animal", types))
        net.run()
        net.publish("zoe", {"kind": "cat"})
        net.run()
        again = pl.Network.replay(net.record())
        assert again.events == net.events
        assert again.delivered("ann") == ({"kind": "cat"},)

    def test_replacing_leaves_no_gap(self, net: pl.Network) -> None:
        net.subscribe("ann", "x in [0, 5]")
        net.run()
        net.publish("zoe", {"x": 3})
        net.replace("ann", "x in [0, 5]", "x in [3, 9]")
        net.run()
        assert net.delivered("ann") == ({"x": 3},)
        assert net.subscriptions("ann") == (pl.parse_filter("x in [3, 9]"),)
        assert net.audit().due == 1
        net.check()

    def test_who_leaves_takes_all_along_and_may_come_back(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        net.run()
        net.publish("zoe", {"x": 5})
        net.detach("ann")
        assert net.clients == {"zoe": "B4"}
        net.attach("ann", "B2")
        net.run()
        assert net.delivered("ann") == ()
        assert (net.audit().due, net.audit().excused) == (0, 1)
        net.check()
        net.subscribe("ann", "x > 3")
        net.run()
        net.publish("zoe", {"x": 6})
        net.run()
        assert net.delivered("ann") == ({"x": 6},)

    def test_clients_of_one_broker_need_no_link(self, net: pl.Network) -> None:
        net.attach("amy", "B1")
        net.subscribe("amy", "x > 3")
        net.publish("ann", {"x": 5})
        assert net.delivered("amy") == ({"x": 5},)
        assert net.messages["notify"] == 0

    def test_what_was_not_announced_goes_nowhere(self) -> None:
        net = pl.Network(nx.path_graph(["B1", "B2"]), advertisements=True)
        net.attach("ann", "B1")
        net.attach("zoe", "B2")
        net.subscribe("ann", "x > 3")
        net.advertise("zoe", "x in [0, 9]")
        net.run()
        for x in (5, 20):
            net.publish("zoe", {"x": x})
        net.run()
        assert net.delivered("ann") == ({"x": 5},)
        assert net.routers["B2"].dropped == 1
        assert net.advertisements("zoe") == (pl.parse_filter("x in [0, 9]"),)
        assert net.audit() == pl.Audit(due=1, delivered=1)


class TestDeliveries:
    def test_links_are_fifo_and_one_is_delivered_at_a_time(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        net.subscribe("ann", "y > 3")
        first, second = net.in_flight["B1", "B2"]
        event = net.step()
        assert event is not None
        assert (event.source, event.target, event.message) == ("B1", "B2", first)
        assert net.in_flight["B1", "B2"] == (second,)
        assert net.steps == 1

    def test_a_link_may_be_chosen(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        net.subscribe("zoe", "x > 3")
        assert net.step(("B2", "B3")) is None
        event = net.step(("B4", "B3"))
        assert event is not None
        assert event.source == "B4"
        with pytest.raises(pl.UnknownEntryError, match="no link between 'B1' and 'B4'"):
            net.step(("B1", "B4"))
        again = pl.Network.replay(net.record())
        assert again.events == net.events

    def test_a_run_can_be_cut_short(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        assert net.run(2) == 2
        assert net.in_flight
        assert net.run() == 1
        assert net.run() == 0

    def test_the_seed_decides_which_link_is_next(self) -> None:
        def orders(seed: int) -> list[tuple[Any, Any]]:
            net = pl.Network(nx.star_graph(5), seed=seed)
            for leaf in range(1, 6):
                net.attach(f"c{leaf}", leaf)
                net.subscribe(f"c{leaf}", f"x = {leaf}")
            net.run()
            return [(event.source, event.target) for event in net.events]

        assert orders(1) == orders(1)
        assert orders(1) != orders(2)

    def test_the_way_of_a_notification_with_reasons(self, net: pl.Network) -> None:
        net.attach("bob", "B2")
        net.subscribe("ann", "x > 3")
        net.subscribe("bob", "x > 4")
        net.run()
        publication = net.publish("zoe", {"x": 5})
        (start,) = net.trace(publication)
        assert (start.broker, start.source, start.destinations) == ("B4", "zoe", ("B3",))
        net.run()
        hops = net.trace(publication)
        assert [(hop.step, hop.broker, hop.source) for hop in hops] == [
            (net.steps - 3, "B4", "zoe"),
            (net.steps - 2, "B3", "B4"),
            (net.steps - 1, "B2", "B3"),
            (net.steps, "B1", "B2"),
        ]
        wide, narrow = pl.parse_filter("x > 3"), pl.parse_filter("x > 4")
        assert hops[2].reasons == {"B1": (wide,), "bob": (narrow,)}
        assert hops[2].destinations == ("B1", "bob")
        assert hops[3].reasons == {"ann": (wide,)}
        assert str(hops[2]).endswith("at B2 from B3: to B1 for x > 3; to bob for x > 4")
        assert "goes on to B2" in str(net.events[-3])
        assert str(net.events[-1]).endswith("notify {x: 5}; delivered to ann")

    def test_floods_and_ends_say_why(self) -> None:
        net = pl.Network(nx.path_graph(["B1", "B2"]), "flooding")
        net.attach("ann", "B1")
        publication = net.publish("ann", {"x": 5})
        net.run()
        assert [str(hop).partition(": ")[2] for hop in net.trace(publication)] == [
            "at B1 from ann: to B2 for everything goes there",
            "at B2 from B1: nowhere: nobody else asked for it",
        ]

    def test_without_tracing_there_is_no_trace(self) -> None:
        net = pl.Network(nx.path_graph(["B1", "B2"]), tracing=False, auditing=False)
        net.attach("ann", "B1")
        publication = net.publish("ann", {"x": 5})
        for look in (lambda: net.trace(publication), lambda: net.events):
            with pytest.raises(ValueError, match="tracing=False"):
                look()
        with pytest.raises(ValueError, match="auditing=False"):
            net.audit()


class TestLinks:
    def test_what_is_under_way_is_lost_and_not_due(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        net.run()
        net.publish("zoe", {"x": 5})
        net.step()
        net.break_link("B3", "B2")
        net.run()
        assert net.links == (("B1", "B2"), ("B3", "B4"))
        assert net.delivered("ann") == ()
        assert net.audit() == pl.Audit(excused=1)
        net.publish("zoe", {"x": 6})
        net.run()
        assert net.audit() == pl.Audit(excused=1)
        assert net.table_sizes()["B4"] == (0, 0, 0, 0)
        net.check()

    def test_what_has_passed_the_link_stays_due(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        net.run()
        net.publish("zoe", {"x": 5})
        net.run(2)
        net.break_link("B2", "B3")
        net.run()
        assert net.audit() == pl.Audit(due=1, delivered=1)

    def test_healing_tells_both_ends_everything(self, net: pl.Network) -> None:
        net.break_link("B2", "B3")
        net.subscribe("ann", "x > 3")
        net.subscribe("zoe", "y > 3")
        net.run()
        net.heal_link("B2", "B3")
        net.run()
        net.check()
        net.publish("zoe", {"x": 5})
        net.publish("ann", {"y": 5})
        net.run()
        assert net.delivered("ann") == ({"x": 5},)
        assert net.delivered("zoe") == ({"y": 5},)
        assert net.audit() == pl.Audit(due=2, delivered=2)

    def test_a_hierarchy_in_two_parts_works_in_both(self) -> None:
        net = pl.Network(nx.path_graph(["top", "B2", "B3", "B4"]), master="top")
        for client, broker in (("tom", "top"), ("ann", "B3"), ("zoe", "B4")):
            net.attach(client, broker)
            net.subscribe(client, "x > 3")
        net.run()
        # Subscriptions go up alone, and where the same went up already they stop.
        assert net.messages["subscribe"] == 3
        net.break_link("B2", "B3")
        net.publish("zoe", {"x": 5})
        net.publish("tom", {"x": 6})
        net.run()
        assert [net.delivered(each) for each in ("tom", "ann", "zoe")] == [
            ({"x": 6},),
            ({"x": 5},),
            ({"x": 5},),
        ]
        net.check()
        net.heal_link("B3", "B2")
        net.run()
        net.check()
        net.publish("tom", {"x": 7})
        net.run()
        assert net.delivered("zoe")[-1] == {"x": 7}
        assert net.audit().faults == 0

    def test_wrong_calls(self, net: pl.Network) -> None:
        with pytest.raises(pl.UnknownEntryError, match="no link between 'B1' and 'B3'"):
            net.break_link("B1", "B3")
        with pytest.raises(ValueError, match="is not broken"):
            net.heal_link("B1", "B2")
        net.break_link("B1", "B2")
        with pytest.raises(ValueError, match="is broken already"):
            net.break_link("B2", "B1")


class TestAudit:
    def test_a_subscription_under_way_is_not_due(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        assert not net.settled("zoe", "ann", {"x": 5})
        net.publish("zoe", {"x": 5})
        net.run()
        assert net.audit() == pl.Audit()
        assert net.settled("zoe", "ann", {"x": 5})
        assert not net.settled("zoe", "ann", {"x": 2})

    def test_a_settled_one_stays_due_while_others_change(self, net: pl.Network) -> None:
        net.subscribe("ann", "x in [0, 9]")
        net.subscribe("ann", "x in [2, 3]")
        net.run()
        net.unsubscribe("ann", "x in [0, 9]")
        assert net.settled("zoe", "ann", {"x": 2})
        net.publish("zoe", {"x": 2})
        net.publish("zoe", {"x": 7})
        net.run()
        assert net.audit() == pl.Audit(due=1, delivered=1)

    def test_an_advertisement_under_way_is_not_settled(self) -> None:
        net = pl.Network(nx.path_graph(["B1", "B2", "B3"]), advertisements=True)
        net.attach("ann", "B1")
        net.attach("zoe", "B3")
        net.subscribe("ann", "x > 3")
        net.advertise("zoe", "x > 0")
        net.run(2)
        assert not net.settled("zoe", "ann", {"x": 5})
        net.run()
        assert net.settled("zoe", "ann", {"x": 5})
        net.unadvertise("zoe", "x > 0")
        assert not net.settled("zoe", "ann", {"x": 5})

    def test_what_is_under_way_when_a_client_unsubscribes_is_excused(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        net.run()
        net.publish("zoe", {"x": 5})
        assert net.audit() == pl.Audit(due=1)
        net.unsubscribe("ann", "x > 3")
        net.run()
        assert net.audit() == pl.Audit(excused=1)
        assert net.delivered("ann") == ()

    def test_witnesses_are_sentences(
        self, net: pl.Network, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        net.subscribe("ann", "x > 3")
        net.run()
        monkeypatch.setattr(pl.Router, "route", lambda *_: frozenset())
        net.publish("zoe", {"x": 5})
        monkeypatch.setattr(pl.Router, "route", lambda *_: frozenset({"zoe", "ghost"}))
        net.publish("zoe", {"x": 1})
        missed, strayed, unwanted = net.audit().witnesses
        assert missed == (
            "ann at B1 missed publication 1 of zoe: {x: 5}, due since it was published at B4 "
            "after step 3"
        )
        assert strayed == "B4 sent publication 2 of zoe: {x: 1} to 'ghost', which is not there"
        assert unwanted == (
            "zoe at B4 got publication 2 of zoe: {x: 1}, and no subscription of it matches"
        )
        assert (net.audit().missed, net.audit().unwanted) == (1, 2)
        assert str(net.audit()).splitlines()[0] == (
            "due 1, delivered 1, missed 1, unwanted 2, duplicates 0, out of order 0"
        )


class TestChecking:
    def test_it_is_for_a_network_at_rest(self, net: pl.Network) -> None:
        net.subscribe("ann", "x > 3")
        net.subscribe("zoe", "x > 3")
        with pytest.raises(RuntimeError, match="2 messages are under way"):
            net.check()
        net.run()
        net.check()

    @pytest.mark.parametrize(
        ("broker", "source", "invariant"),
        [("B1", "ann", "local-validity"), ("B2", "B1", "remote-validity")],
    )
    def test_a_lost_entry_is_found(
        self, net: pl.Network, broker: str, source: str, invariant: str
    ) -> None:
        net.subscribe("ann", "x > 3")
        net.run()
        net.routers[broker].unsubscribe(pl.parse_filter("x > 3"), source)
        with pytest.raises(pl.InvariantError, match=invariant):
            net.check()

    def test_an_entry_too_many_is_found(self, net: pl.Network) -> None:
        net.routers["B2"].subscribe(pl.parse_filter("x > 3"), "B1")
        with pytest.raises(pl.InvariantError, match="B2 holds what B1 has taken back"):
            net.check()

    def test_filters_of_a_client_who_is_not_there_are_found(self, net: pl.Network) -> None:
        net.routers["B2"].subscribe(pl.parse_filter("x > 3"), "bob")
        with pytest.raises(pl.InvariantError, match="B2 has filters of bob, who is not there"):
            net.check()

    def test_a_lost_advertisement_is_found(self) -> None:
        net = pl.Network(nx.path_graph(["B1", "B2"]), advertisements=True)
        net.attach("ann", "B1")
        net.advertise("ann", "x > 3")
        net.run()
        net.routers["B2"].unadvertise(pl.parse_filter("x > 3"), "B1")
        with pytest.raises(pl.InvariantError, match="remote-validity"):
            net.check()


class TestRecords:
    def test_names_and_values_that_json_has_not(self, net: pl.Network) -> None:
        net.attach(("a", "pair"), "B1")
        with pytest.raises(ValueError, match="must be strings or integers"):
            net.record()

    def test_sets_are_written_as_lists(self, net: pl.Network) -> None:
        net.subscribe("ann", "tags has 1")
        net.run()
        net.publish("zoe", {"tags": {3, 1}, "pos": {"x": 1}})
        net.run()
        record = net.record()
        assert ["publish", "zoe", {"tags": [1, 3], "pos": {"x": 1}}] in record["operations"]
        assert len(pl.Network.replay(record).delivered("ann")) == 1
        net.publish("zoe", {"x": object()})
        with pytest.raises(ValueError, match="JSON has no such value"):
            net.record()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"format": "x"}, "not a run"),
            ({"version": 9}, "the version is 9"),
            ({"options": {}}, "which network"),
            ({"operations": None}, "is missing, or is not a list"),
            ({"operations": [["explode"]]}, "is no operation of a network"),
            ({"operations": [["attach", "ann"]]}, "is no operation of a network"),
            ({"operations": [["attach", "ann", "B1"], ["subscribe", "ann", "x >"]]}, r"\[1\]"),
            ({"operations": [["subscribe", "ann", "x > 3"]]}, r"operations\[0\].*no client"),
            ({"links": [["B1", "B2"], ["B2", "B1"]]}, "are a tree"),
        ],
    )
    def test_a_record_that_is_none(
        self, net: pl.Network, change: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(SnapshotError, match=message):
            pl.Network.replay({**net.record(), **change})

    def test_rendezvous_points_and_domains_are_kept(self) -> None:
        net = pl.Network(
            nx.path_graph(["B1", "B2", "B3"]),
            "imperfect-merging",
            advertisements=True,
            rendezvous={"B2": ["x > 3", "y > 3"]},
            domains={"x": (0, 100), "y": {1, 2}},
            max_loss=0.5,
        )
        assert pl.Network.replay(net.record()).options == net.options


@given(parents=trees, seed=st.integers(0, 999), churn=operations(("subscribe",), 40))
@settings(max_examples=40)
def test_covering_sends_no_more_than_identity_and_that_no_more_than_simple(
    parents: tuple[int, ...], seed: int, churn: list[Operation]
) -> None:
    sent = {}
    for algorithm in NETWORK_ALGORITHMS:
        world = World(Setup(parents, algorithm, seed=seed))
        for each in churn:
            world.do(each)
        world.run()
        sent[algorithm] = world.network.messages["subscribe"]
    assert sent["flooding"] == 0
    assert sent["covering"] <= sent["identity"] <= sent["simple"]


def test_imperfect_merging_sends_fewer_filters_and_more_notifications() -> None:
    counts = {}
    for algorithm in ("covering", "merging", "imperfect-merging"):
        net = pl.Network(nx.path_graph(["B1", "B2", "B3"]), algorithm)
        net.attach("ann", "B1")
        net.attach("zoe", "B3")
        for text in ("x in [0, 3]", "x in [3, 5]", "x in [8, 9]"):
            net.subscribe("ann", text)
            net.run()
        for x in range(10):
            net.publish("zoe", {"x": x})
        net.run()
        assert [each["x"] for each in net.delivered("ann")] == [0, 1, 2, 3, 4, 5, 8, 9]
        held = net.table_sizes()["B3"].subscriptions
        counts[algorithm] = (held, net.messages["notify"])
    assert counts == {"covering": (3, 16), "merging": (1, 16), "imperfect-merging": (1, 20)}

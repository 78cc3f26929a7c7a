"""Clients that move: recipes, random runs, and what the network says of a handover."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import networkx as nx
import pytest

from posetlib import InvariantError, Network, TypeHierarchy, UnknownEntryError, parse_filter
from posetlib.routing.mobility import protocol_named
from posetlib.simulation import PROTOCOLS, SAFE_PROTOCOLS
from posetlib.simulation.recipes import RECIPES, Recipe, play, recipe_named
from tests.routing.journeys import HARD, Kind, Run, check, kind_for
from tests.routing.mobility_counts import ROWS, count

UNSAFE = tuple(each for each in PROTOCOLS if each not in SAFE_PROTOCOLS)


def test_which_protocols_claim_to_be_safe() -> None:
    assert set(SAFE_PROTOCOLS) == {"update", "linger", "prepared", "rendezvous", "ping-pong"}
    assert {"resubscribe", "transfer", "cover", "flood", "path-update"} <= set(UNSAFE)
    assert all(protocol_named(each).summary for each in PROTOCOLS)


# -- recipes ---------------------------------------------------------------------------------------


def played(recipe: Recipe, protocol: str | None = None) -> Network:
    net = recipe.network()
    for _ in play(recipe, net, protocol):
        pass
    net.run()
    return net


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: each.name)
class TestRecipes:
    def test_the_unsafe_protocol_loses_what_was_due(self, recipe: Recipe) -> None:
        audit = played(recipe).audit()
        assert (audit.due, audit.delivered, audit.missed) == (1, 0, 1)
        assert "missed publication 1 of pat" in audit.witnesses[0]

    @pytest.mark.parametrize("protocol", SAFE_PROTOCOLS)
    def test_a_safe_one_does_not(self, recipe: Recipe, protocol: str) -> None:
        net = played(recipe, protocol)
        audit = net.audit()
        assert (audit.due, audit.delivered, audit.faults, audit.unfinished) == (1, 1, 0, 0)
        net.check()

    def test_it_is_the_same_every_time_and_its_record_repeats_it(self, recipe: Recipe) -> None:
        net, again = played(recipe), played(recipe)
        assert net.events == again.events
        replayed = Network.replay(json.loads(json.dumps(net.record())))
        assert replayed.events == net.events
        assert replayed.audit() == net.audit()


def test_recipes_by_name() -> None:
    assert len({each.name for each in RECIPES}) == len(RECIPES) == 6
    with pytest.raises(ValueError, match="no recipe 'magic'"):
        recipe_named("magic")


def star(**options: Any) -> Network:
    return Network(nx.Graph([("M", "P"), ("M", "a"), ("M", "b")]), **options)


def drain(net: Network, *links: tuple[str, ...]) -> None:
    """Deliver all that lies on each of some links in turn."""
    for link in links:
        while net.step(link) is not None:
            pass


def test_a_rendezvous_point_that_tells_the_old_broker_directly_loses_as_well() -> None:
    lost = {}
    for protocol in ("rendezvous-direct", "rendezvous"):
        net = star(advertisements=True, rendezvous={"M": "exists x"})
        net.attach("pat", "P")
        net.attach("sue", "a")
        net.advertise("pat", "x > 0")
        net.subscribe("sue", "x > 0")
        net.run()
        net.publish("pat", {"x": 1})
        net.step(("P", "M"))
        net.move("sue", "b", protocol)
        net.step(("b", "M"))
        net.step(("M", "a", "direct"))
        net.run()
        lost[protocol] = net.audit().missed
    assert lost == {"rendezvous-direct": 1, "rendezvous": 0}


# The unsafe protocols that no recipe is about, each by a few deliveries; `update` does the same and
# loses nothing.


def after_a_complete_start(net: Network) -> Network:
    net.attach("pat", "P")
    net.attach("sue", "a")
    net.advertise("pat", "x > 0")
    net.subscribe("sue", "x > 0")
    net.run()
    return net


@pytest.mark.parametrize(("protocol", "missed"), [("resubscribe", 1), ("update", 0)])
def test_resubscribing_loses_what_is_under_way(protocol: str, missed: int) -> None:
    net = after_a_complete_start(star(advertisements=True))
    net.publish("pat", {"x": 1})
    net.step(("P", "M"))
    net.move("sue", "b", protocol)
    net.run()
    assert net.audit().missed == missed


@pytest.mark.parametrize(("protocol", "missed"), [("transfer", 1), ("update", 0)])
def test_a_transfer_closes_before_the_subscription_is_there(protocol: str, missed: int) -> None:
    net = after_a_complete_start(star(advertisements=True))
    net.move("sue", "b", protocol)
    drain(net, ("b", "a", "direct"), ("a", "M"), ("M", "P"))
    net.publish("pat", {"x": 1})
    net.run()
    assert net.audit().missed == missed


@pytest.mark.parametrize(("protocol", "lost"), [("flood", True), ("update", False)])
def test_flooding_never_ends_where_nothing_overlaps(protocol: str, lost: bool) -> None:
    """b knows of nobody who announces or wants x > 0: its message goes nowhere."""
    net = star(advertisements=True)
    net.attach("sue", "a")
    net.subscribe("sue", "x > 0")
    net.attach("pat", "a")
    net.advertise("pat", "x > 0")
    net.leave("sue", protocol, "b")
    net.publish("pat", {"x": 1})
    net.arrive("sue", "b")
    drain(net, ("b", "M"))
    net.unadvertise("pat", "x > 0")
    net.run()
    assert (net.audit().unfinished, net.delivered("sue")) == (lost, () if lost else ({"x": 1},))


@pytest.mark.parametrize(("protocol", "missed"), [("cover-flood", 1), ("update", 0)])
def test_covering_loses_the_same_without_addresses(protocol: str, missed: int) -> None:
    assert played(recipe_named("cover"), protocol).audit().missed == missed


def test_each_unsafe_protocol_has_a_run_that_breaks_it() -> None:
    broken = {each.protocol for each in RECIPES}
    broken |= {"rendezvous-direct", "resubscribe", "transfer", "flood", "cover-flood"}
    assert broken | {"path-update-answered"} == set(UNSAFE)


@pytest.mark.parametrize(
    ("protocol", "text", "missed"),
    [
        ("ping-pong", 'x > 0 and mobility.pong = "none"', 1),
        ("ping-pong", "x > 0", 0),
        ("update", 'x > 0 and mobility.pong = "none"', 0),
        ("linger", 'x > 0 and mobility.pong = "none"', 0),
    ],
)
def test_an_advertisement_during_a_ping_pong_is_its_one_hole(
    protocol: str, text: str, missed: int
) -> None:
    """It settles at the old broker, and has not come to the new one when the old one closes.

    Filters that overlap the announcement of the pong follow that to the old broker, and are there.
    """
    net = star(advertisements=True)
    net.attach("pat", "P")
    net.attach("sue", "a")
    net.subscribe("sue", text)
    net.run()
    net.move("sue", "b", protocol)
    if protocol == "ping-pong":
        while ("b", "a", "direct") not in net.in_flight:
            assert net.step() is not None
        while len(net.in_flight) > 1:
            net.step(next(each for each in net.in_flight if "direct" not in each))
    net.advertise("pat", "x > 0")
    drain(net, ("P", "M"), ("M", "a"), ("a", "M"), ("M", "P"))
    if protocol == "ping-pong":
        assert net.settled("pat", "sue", {"x": 1, "mobility.pong": "none"})
        net.step(("b", "a", "direct"))
        drain(net, ("a", "M"), ("M", "P"))
    net.publish("pat", {"x": 1, "mobility.pong": "none"})
    net.run()
    assert net.audit().missed == missed


# -- random runs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("protocol", SAFE_PROTOCOLS)
def test_random_runs_of_safe_protocols_are_without_fault(protocol: str, name: str) -> None:
    for seed in range(2 if protocol == "ping-pong" else 4):
        check(Run(kind_for(name, protocol), seed))


#: The kinds in which the start is incomplete, and others ask and withdraw meanwhile.
CHURNING = [name for name, kind in HARD.items() if kind.incomplete and kind.churn]
DEEP_RUNS = 210


def test_the_deep_runs_with_churn_and_incomplete_starts_are_2000_for_each_protocol() -> None:
    assert len(CHURNING) * DEEP_RUNS >= 2000


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("protocol", SAFE_PROTOCOLS)
def test_many_random_runs_of_each_safe_protocol(protocol: str, name: str) -> None:
    for seed in range(1000, 1000 + DEEP_RUNS):
        check(Run(kind_for(name, protocol), seed))


ALGORITHMS = ("flooding", "simple", "identity", "covering", "merging", "imperfect-merging")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("advertisements", [False, True], ids=["plain", "advertised"])
@pytest.mark.parametrize("protocol", SAFE_PROTOCOLS)
def test_every_algorithm(protocol: str, algorithm: str, advertisements: bool) -> None:
    if algorithm == "flooding" and advertisements:
        pytest.skip("flooding has no use for advertisements")
    kind = Kind(
        protocol,
        algorithm,
        advertisements,
        fast=True,
        churn=True,
        incomplete=True,
        roles="both",
        movers=2,
    )
    for seed in range(3):
        check(Run(kind, seed, length=40))


def test_a_hierarchy_with_a_master() -> None:
    for seed in range(10):
        kind = Kind(advertisements=False, master=True, fast=True, churn=True, movers=2)
        check(Run(kind, seed))


@pytest.mark.parametrize("protocol", ["update", "linger", "prepared", "rendezvous"])
def test_links_that_break_during_handovers_lose_nothing_that_is_not_excused(protocol: str) -> None:
    """Whoever waits asks again once links are whole; queues pass beside the tree."""
    for seed in range(6):
        kind = Kind(protocol, breaks=True, churn=True, incomplete=True, fast=True, movers=2)
        check(Run(kind, seed))
        check(Run(replace(kind, advertisements=False, roles="both"), seed))


@pytest.mark.parametrize(
    "label",
    [
        "resubscribe",
        "transfer",
        "junction",
        "path-update",
        "flood, incomplete",
        "update-without-epochs, fast",
        "resubscribe, publisher",
        "transfer, publisher",
        "rendezvous-direct",
    ],
)
def test_random_runs_find_the_faults_of_unsafe_protocols(label: str) -> None:
    (row,) = (each for each in ROWS if each.label == label)
    assert count(row, 40).bad


def test_safe_protocols_deliver_the_same_after_a_complete_start() -> None:
    for seed in range(6):
        got = {}
        for protocol in SAFE_PROTOCOLS:
            run = Run(replace(HARD["complete"], protocol=protocol), seed)
            got[protocol] = {name: sorted(each) for name, each in run.expected().items()}
            assert got[protocol] == {name: sorted(run.got(name)) for name in got[protocol]}


# -- what the network says -------------------------------------------------------------------------


@pytest.fixture
def net() -> Network:
    net = Network(nx.path_graph(["B1", "B2", "B3", "B4"]), advertisements=True)
    net.attach("pat", "B1")
    net.attach("sue", "B2")
    net.advertise("pat", "x > 0")
    net.subscribe("sue", "x > 3")
    net.run()
    return net


class TestMove:
    def test_it_is_leave_and_arrive(self, net: Network) -> None:
        other = Network.replay(net.record())
        net.move("sue", "B4", "linger")
        other.leave("sue", "linger", "B4")
        other.arrive("sue", "B4", "linger")
        net.run()
        other.run()
        assert net.events == other.events
        assert net.clients["sue"] == other.clients["sue"] == "B4"

    def test_to_the_same_broker_nothing_is_sent(self, net: Network) -> None:
        for protocol in PROTOCOLS:
            before = net.messages.copy()
            net.leave("sue", protocol, "B2")
            net.publish("pat", {"x": 5})
            net.run()
            net.arrive("sue", "B2")
            net.run()
            net.check()
            assert not net.audit().faults
            sent = net.messages - before
            assert set(sent) == {"notify"}, protocol
        assert len(net.delivered("sue")) == len(PROTOCOLS)
        assert net.handovers == ()

    def test_a_client_that_is_away_has_a_queue_and_an_outbox(self, net: Network) -> None:
        net.leave("sue")
        with pytest.raises(ValueError, match="'sue' is on its way already"):
            net.leave("sue")
        for call in (net.subscribe, net.unsubscribe, net.advertise):
            with pytest.raises(ValueError, match="'sue' is on its way: let it arrive"):
                call("sue", "x > 3")
        with pytest.raises(ValueError, match="'sue' is on its way"):
            net.replace("sue", "x > 3", "x > 4")
        net.publish("pat", {"x": 5})
        net.run()
        net.check()
        assert net.delivered("sue") == ()
        assert net.audit().missed == 0
        net.arrive("sue", "B3")
        with pytest.raises(ValueError, match="is at 'B3': let it leave"):
            net.arrive("sue", "B4")
        net.run()
        assert net.delivered("sue") == ({"x": 5},)

    def test_what_is_wrong_changes_nothing(self, net: Network) -> None:
        for wrong in (
            lambda: net.move("sue", "B3", "magic"),
            lambda: net.leave("sue", "magic"),
            lambda: net.leave("sue", "path-update"),
        ):
            with pytest.raises(
                ValueError, match=r"the protocol is one of|needs to know the target"
            ):
                wrong()
        for broker in ("B9", None):
            with pytest.raises(UnknownEntryError, match="no broker"):
                net.move("sue", broker)
        with pytest.raises(UnknownEntryError, match="no client 'bob'"):
            net.move("bob", "B3")
        net.leave("sue", "linger", "B4")
        with pytest.raises(ValueError, match="left by linger, and cannot arrive by update"):
            net.arrive("sue", "B4", "update")
        net.arrive("sue", "B4")
        net.run()
        net.check()

    def test_another_place_than_announced(self, net: Network) -> None:
        net.leave("sue", "prepared", "B4")
        net.publish("pat", {"x": 5})
        net.run()
        assert net.clients["sue"] == "B4"
        net.arrive("sue", "B1")
        net.publish("pat", {"x": 6})
        net.run()
        net.check()
        assert net.delivered("sue") == ({"x": 5}, {"x": 6})
        assert [(each.source, each.target) for each in net.handovers] == [
            ("B2", "B4"),
            ("B4", "B1"),
        ]

    @pytest.mark.parametrize("protocol", PROTOCOLS)
    @pytest.mark.parametrize("steps", range(0, 12, 3))
    def test_a_client_that_is_gone_for_good_leaves_nothing(
        self, net: Network, protocol: str, steps: int
    ) -> None:
        net.leave("sue", protocol, "B4")
        net.run(steps // 2)
        if steps % 2:
            net.arrive("sue", "B4")
            net.run(steps - steps // 2)
        net.publish("pat", {"x": 5})
        net.detach("sue")
        net.attach("sue", "B3")
        net.run()
        net.check()
        assert net.audit().missed == 0 or protocol in UNSAFE
        assert net.subscriptions("sue") == ()
        assert net.audit().unfinished == 0

    def test_a_publisher_waits_until_subscriptions_are_there(self, net: Network) -> None:
        net.move("pat", "B4")
        net.publish("pat", {"x": 5})
        net.publish("pat", {"x": -1})
        assert net.messages["notify"] == 0
        assert net.run() > 0
        assert net.delivered("sue") == ({"x": 5},)
        assert net.messages["ready"] == 3
        assert net.messages["done"] == 0
        assert net.routers["B4"].dropped == 1

    def test_a_publication_that_its_publisher_takes_back_is_not_due(self, net: Network) -> None:
        net.move("pat", "B4")
        net.publish("pat", {"x": 5})
        assert net.audit().due == 1
        net.unadvertise("pat", "x > 0")
        assert (net.audit().due, net.audit().excused) == (0, 1)
        net.run()
        assert net.delivered("sue") == ()
        net.check()

    def test_what_a_client_no_longer_wants_is_dropped_on_delivery(self, net: Network) -> None:
        net.leave("sue")
        net.publish("pat", {"x": 5})
        net.publish("pat", {"x": 9})
        net.run()
        net.arrive("sue", "B4")
        net.replace("sue", "x > 3", "x > 7")
        net.run()
        assert net.delivered("sue") == ({"x": 9},)
        assert net.audit().faults == 0


class TestHandovers:
    def test_how_far_they_are(self, net: Network) -> None:
        net.move("sue", "B4")
        (handover,) = net.handovers
        assert (handover.client, handover.source, handover.target) == ("sue", "B2", "B4")
        assert (handover.protocol, handover.begun, handover.epoch) == ("update", net.steps, 1)
        assert not handover.is_over
        assert net.audit().unfinished == 1
        assert "sue moves from B2 to B4 by update" in str(net.audit())
        net.step(("B4", "B3"))
        net.step(("B3", "B2"))
        assert handover.ready is None
        net.step(("B2", "B4", "direct"))
        assert (handover.ready, handover.finished) == (net.steps, None)
        net.run()
        assert handover.is_over
        assert net.audit().unfinished == 0

    def test_direct_messages_are_in_flight_beside_the_links(self, net: Network) -> None:
        net.move("sue", "B4", "linger")
        assert set(net.in_flight) == {("B4", "B3"), ("B4", "B2", "direct")}
        event = net.step(("B4", "B2", "direct"))
        assert event is not None
        assert event.kind == "direct"
        assert str(event).endswith("directly, request sue (stay 1); goes on to B4")
        assert net.step(("B4", "B2", "direct")) is None
        with pytest.raises(ValueError, match="neither a link nor"):
            net.step(("B4", "B2", "indirect"))
        with pytest.raises(UnknownEntryError):
            net.step(("B4", "B9", "direct"))
        kinds = []
        while (event := net.step()) is not None:
            kinds.append(event.kind)
        assert kinds.count("relocate") == kinds.count("done") == 2

    def test_counts_are_exact(self, net: Network) -> None:
        before = net.messages.copy()
        net.move("sue", "B4")
        net.run()
        sent = net.messages - before
        assert sent == {"relocate": 2, "done": 2, "direct": 1, "subscribe": 2}

    def test_check_finds_a_session_left_behind(self, net: Network) -> None:
        net.stations["B3"].attach("sue", 7)
        with pytest.raises(InvariantError) as caught:
            net.check()
        assert caught.value.invariant == "one-session"

    def test_check_finds_a_session_of_somebody_gone_and_one_that_is_missing(
        self, net: Network
    ) -> None:
        net.stations["B3"].attach("nobody", 0)
        with pytest.raises(InvariantError, match="B3 still has a session of somebody gone"):
            net.check()
        net.stations["B3"].detach("nobody", 0)
        net.check()
        net.stations["B2"].find("sue", 0).legs_open = 1  # type: ignore[union-attr]
        with pytest.raises(InvariantError, match="the session at B2 was never handed over"):
            net.check()

    @pytest.mark.parametrize("algorithm", ["covering", "merging"])
    def test_check_finds_a_proxy_left_behind(self, algorithm: str) -> None:
        """By name also where residue is not compared, as with merging."""
        net = star(advertisements=True, algorithm=algorithm)
        net.attach("sue", "a")
        net.subscribe("sue", "x > 0")
        net.move("sue", "b", "ping-pong")
        net.run()
        net.leave("sue", "ping-pong")
        net.run()
        net.check()
        session = net.stations["b"].find("sue", 1)
        assert session is not None
        assert set(net.stations["b"].proxies.values()) == {session}
        session.connected = True
        with pytest.raises(InvariantError) as caught:
            net.check()
        assert caught.value.invariant == "no-proxies"

    def test_check_finds_pins_and_residue(self, net: Network) -> None:
        net.move("sue", "B4")
        net.run()
        net.check()
        net.routers["B3"].pin(parse_filter("x > 3"), "B4", "nobody")
        with pytest.raises(InvariantError) as caught:
            net.check()
        assert caught.value.invariant == "no-pins"
        net.routers["B3"].unpin("nobody")
        assert net.residue() == []
        net.routers["B3"].subscribe(parse_filter("x = 99"), "B2")
        assert net.residue() == ["B3 from B2, subscription too much: x = 99"]


class TestComplete:
    def test_a_subscription(self) -> None:
        net = star(advertisements=True)
        net.attach("pat", "P")
        net.attach("sue", "a")
        net.advertise("pat", "x > 0")
        net.subscribe("sue", "x > 3")
        assert not net.complete("pat", "x > 0")
        assert not net.complete("sue", "x > 3")
        net.run()
        assert net.complete("pat", "x > 0")
        assert net.complete("sue", "x > 3")
        net.move("sue", "b")
        assert not net.complete("sue", "x > 3")
        net.run()
        assert net.complete("sue", "x > 3")
        with pytest.raises(UnknownEntryError, match="neither subscribes to x > 4 nor advertises"):
            net.complete("sue", "x > 4")

    def test_what_others_cover_counts_as_known(self) -> None:
        net = Network(nx.path_graph(["B1", "B2", "B3"]))
        for name, text in (("ann", "x < 3"), ("ben", "x >= 3")):
            net.attach(name, "B1")
            net.subscribe(name, text)
        net.run()
        net.subscribe("ann", "x in [1, 5]")
        assert net.complete("ann", "x in [1, 5]")
        net.subscribe("ann", "y = 1")
        assert not net.complete("ann", "y = 1")

    def test_only_what_both_match_must_be_known(self) -> None:
        net = Network(nx.path_graph(["B1", "B2"]), advertisements=True)
        net.attach("pat", "B2")
        net.attach("sue", "B1")
        net.advertise("pat", "x > 5")
        net.run()
        net.subscribe("sue", "x > 3")
        assert not net.complete("sue", "x > 3")
        net.routers["B2"].subscribe(parse_filter("x > 5"), "B1")
        assert net.complete("sue", "x > 3")


class TestSettled:
    def test_it_outlasts_a_rest_without_a_session(self) -> None:
        """Who went by resubscribing still wants what it wanted, though nobody queues for it."""
        net = after_a_complete_start(star(advertisements=True))
        net.leave("sue", "resubscribe")
        net.run()
        net.publish("pat", {"x": 1})
        net.run()
        net.arrive("sue", "b")
        net.publish("pat", {"x": 2})
        net.run()
        assert (net.audit().due, net.audit().missed) == (2, 2)
        net.publish("pat", {"x": 3})
        net.run()
        assert net.delivered("sue") == ({"x": 3},)
        assert (net.audit().due, net.audit().missed) == (3, 2)

    def test_giving_up_a_subscription_excuses_nothing_that_was_lost_before(self) -> None:
        net = after_a_complete_start(star(advertisements=True))
        net.publish("pat", {"x": 1})
        net.step(("P", "M"))
        net.move("sue", "b", "resubscribe")
        net.run()
        net.publish("pat", {"x": 2})
        net.unsubscribe("sue", "x > 0")
        net.run()
        audit = net.audit()
        assert (audit.due, audit.missed, audit.excused) == (1, 1, 1)

    def test_who_comes_while_nobody_has_a_session_owes_nothing(self) -> None:
        net = after_a_complete_start(star(advertisements=True))
        net.leave("sue", "resubscribe")
        net.run()
        net.attach("new", "b")
        net.advertise("new", "x > 0")
        net.run()
        net.publish("new", {"x": 1})
        net.run()
        assert net.audit().due == 0

    def test_it_outlasts_the_session(self) -> None:
        """Once settled, it stays so while the client moves, by whatever protocol."""
        for protocol in PROTOCOLS:
            net = star(advertisements=True)
            net.attach("pat", "P")
            net.attach("sue", "a")
            net.advertise("pat", "x > 0")
            net.subscribe("sue", "x > 3")
            assert not net.settled("pat", "sue", {"x": 5})
            net.run()
            net.move("sue", "b", protocol)
            while net.in_flight:
                assert net.settled("pat", "sue", {"x": 5}), protocol
                assert not net.settled("pat", "sue", {"x": 2})
                net.step()

    def test_it_ends_with_the_subscription_though_that_comes_again(self, net: Network) -> None:
        net.move("sue", "B4", "transfer")
        net.step(("B4", "B2", "direct"))
        assert net.settled("pat", "sue", {"x": 5})
        net.unsubscribe("sue", "x > 3")
        net.subscribe("sue", "x > 3")
        assert not net.settled("pat", "sue", {"x": 5})
        net.run()
        assert net.settled("pat", "sue", {"x": 5})


# -- rendezvous points -----------------------------------------------------------------------------

TYPES = TypeHierarchy({"Alarm": ["Event"], "Fire": ["Alarm"], "News": ["Event"]})


def typed(text: str) -> Any:
    return parse_filter(text, types=TYPES)


@pytest.mark.parametrize(
    ("points", "legs"),
    [
        ({"M": "type isa Alarm"}, 1),
        ({"M": "type isa Alarm", "P": "type isa Alarm"}, 2),
        ({"M": "type isa Alarm", "P": "type isa Event"}, 2),
        ({"M": "type isa News"}, 1),
        ({"M": "type isa News", "P": "type isa Event", "a": "type isa Fire"}, 2),
    ],
    ids=["one", "two of a type", "a supertype", "none of it", "a hierarchy"],
)
def test_a_message_for_each_rendezvous_point(points: dict[str, str], legs: int) -> None:
    read = {broker: [typed(each)] for broker, each in points.items()}
    net = star(advertisements=True, rendezvous=read)
    net.attach("pat", "P")
    net.attach("sue", "a")
    net.advertise("pat", typed("type isa Event"))
    net.subscribe("sue", typed("type isa Fire"))
    net.run()
    for count_, target in enumerate(("b", "P", "M", "a"), 1):
        net.publish("pat", {"type": "Fire"})
        net.publish("pat", {"type": "News"})
        net.move("sue", target, "rendezvous")
        relocates = [each for each in sum(net.in_flight.values(), ()) if hasattr(each, "legs")]
        assert all(each.legs == legs for each in relocates)
        net.run()
        net.check()
        assert len(net.delivered("sue")) == count_
    assert not net.audit().faults


# -- time ------------------------------------------------------------------------------------------


class TestTime:
    def line(self, **options: Any) -> Network:
        graph: nx.Graph[str] = nx.path_graph(["B1", "B2", "B3"])
        graph.edges["B1", "B2"]["delay"] = 0.010
        graph.edges["B2", "B3"]["delay"] = 0.025
        net = Network(graph, delays="delay", processing=0.002, **options)
        net.attach("sue", "B1")
        net.subscribe("sue", "x > 0")
        net.run()
        return net

    def test_a_message_takes_the_time_of_its_link_and_its_broker(self) -> None:
        net = self.line()
        assert net.time == pytest.approx(0.012 + 0.027)
        assert [each.time for each in net.events] == pytest.approx([0.012, 0.039])

    def test_latency_of_a_handover(self) -> None:
        net = self.line()
        net.run(until=1.0)
        assert net.time == 1.0
        net.move("sue", "B3")
        net.run()
        (handover,) = net.handovers
        # There hop by hop, each broker taking its time, and back directly.
        assert handover.ready_at == pytest.approx(1.0 + 0.027 + 0.012 + 0.035 + 0.002)
        assert handover.finished_at == pytest.approx(1.0 + 2 * 0.039)

    def test_links_stay_fifo_and_runs_repeat(self) -> None:
        net = self.line()
        net.attach("pat", "B3")
        for number in range(5):
            net.publish("pat", {"x": number})
            net.step()
        net.move("sue", "B2", "ping-pong")
        net.run(until=7.5)
        net.run()
        net.check()
        assert net.delivered("sue") == tuple({"x": each} for each in range(1, 5))
        again = Network.replay(json.loads(json.dumps(net.record())))
        assert again.events == net.events
        assert again.time == net.time

    def test_a_delivery_by_hand_and_a_broken_link(self) -> None:
        net = self.line()
        net.attach("pat", "B3")
        net.publish("pat", {"x": 1})
        net.publish("pat", {"x": 2})
        net.step(("B3", "B2"))
        net.break_link("B1", "B2")
        net.run()
        net.heal_link("B1", "B2")
        net.run()
        net.publish("pat", {"x": 3})
        net.run()
        assert net.delivered("sue") == ({"x": 3},)
        assert not net.audit().faults

    @pytest.mark.parametrize("delay", [None, -1, float("inf"), "long"])
    def test_every_edge_needs_a_delay(self, delay: Any) -> None:
        graph: nx.Graph[str] = nx.path_graph(["B1", "B2"])
        graph.edges["B1", "B2"]["delay"] = delay
        with pytest.raises(ValueError, match="has no 'delay' in seconds"):
            Network(graph, delays="delay")


def test_signals_of_clients_with_awkward_names() -> None:
    for names in itertools.permutations(('a"b', "a\\", "a/1")):
        net = star()
        for name in names:
            net.attach(name, "a")
            net.subscribe(name, "true")
        net.attach("pat", "P")
        net.run()
        net.publish("pat", {"x": 1})
        for name in names:
            net.move(name, "b", "ping-pong")
        net.run()
        net.check()
        assert all(net.delivered(name) == ({"x": 1},) for name in names)
        assert not net.audit().faults

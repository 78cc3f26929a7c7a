"""Planted faults of handovers: each is killed by the check named beside it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import networkx as nx
import pytest

from posetlib import InvariantError, Network
from posetlib.routing import reach
from posetlib.routing.mobility import (
    ping_pong,
    prepared,
    protocol,
    sessions,
    station,
    traveller,
    update,
)
from posetlib.simulation import engine, settling
from posetlib.simulation.recipes import play, recipe_named
from tests.planting import plant
from tests.routing.journeys import Kind, Run
from tests.routing.mobility_counts import splitting

Scenario = Callable[[], Network]


def star(**options: Any) -> Network:
    net = Network(nx.Graph([("M", "P"), ("M", "a"), ("M", "b")]), **options)
    net.attach("pat", "P")
    net.attach("sue", "a")
    return net


def recipe(name: str, by: str = "update") -> Scenario:
    def scenario() -> Network:
        made = recipe_named(name)
        net = made.network()
        for _ in play(made, net, by):
            pass
        return net

    return scenario


def run(seed: int, **kind: Any) -> Scenario:
    return lambda: Run(Kind(**kind), seed).net


def a_wider_filter_at_the_new_broker() -> Network:
    """As the recipe of the pins, and ben at b holds a filter that hides sue's."""
    net = star(advertisements=True)
    net.attach("ben", "b")
    net.subscribe("ben", "x > -1")
    net.advertise("pat", "x > 0")
    net.step(("P", "M"))
    net.step(("M", "a"))
    net.subscribe("sue", "x > 0")
    net.step(("a", "M"))
    net.step(("M", "P"))
    net.move("sue", "b")
    for link in (("b", "M"), ("M", "a"), ("a", "M"), ("M", "P")):
        net.step(link)
    net.publish("pat", {"x": 1})
    return net


def a_filter_that_was_covered() -> Network:
    """ann at a is served by sue's wider filter; as sue goes, ann's own must take its place."""
    net = star()
    net.attach("ann", "a")
    net.subscribe("sue", "x > 0")
    net.subscribe("ann", "x > 3")
    net.run()
    net.publish("pat", {"x": 5})
    net.move("sue", "b")
    while net.step(("b", "M")) or net.step(("M", "a")):
        pass
    net.step(("a", "M"))
    net.step(("P", "M"))
    return net


def a_queue_that_comes_later() -> Network:
    net = star()
    net.subscribe("sue", "x > 0")
    net.run()
    net.leave("sue")
    net.publish("pat", {"x": 1})
    net.run()
    net.arrive("sue", "b")
    net.step(("b", "M"))
    net.publish("pat", {"x": 2})
    net.step(("P", "M"))
    net.step(("M", "b"))
    return net


def a_filter_dropped_while_notifications_wait() -> Network:
    net = star()
    net.subscribe("sue", "x > 0")
    net.run()
    net.leave("sue")
    net.publish("pat", {"x": 1})
    net.run()
    net.arrive("sue", "b")
    net.unsubscribe("sue", "x > 0")
    return net


def a_chain_faster_than_the_queue() -> Network:
    net = star()
    net.subscribe("sue", "x > 0")
    net.run()
    net.leave("sue")
    net.publish("pat", {"x": 1})
    net.run()
    net.arrive("sue", "b")
    while net.step(("b", "M")) or net.step(("M", "a")):
        pass
    net.move("sue", "P")
    while any("direct" not in each for each in net.in_flight):
        net.step(next(each for each in net.in_flight if "direct" not in each))
    return net


def delivered_before_and_on_its_way() -> Network:
    """sue has had it at a; at b, which wanted it for ben as well, it comes again."""
    net = star()
    net.attach("ben", "b")
    net.subscribe("ben", "x > 0")
    net.subscribe("sue", "x > 0")
    net.run()
    net.publish("pat", {"x": 1})
    net.step(("P", "M"))
    net.step(("M", "a"))
    net.move("sue", "b")
    return net


def two_rendezvous_points() -> Network:
    net = star(advertisements=True, rendezvous={"M": "x > 0", "P": "x > 0"})
    net.advertise("pat", "x > 0")
    net.subscribe("sue", "x > 0")
    net.run()
    net.move("sue", "b", "rendezvous")
    return net


def a_link_that_breaks() -> Network:
    net = star()
    net.subscribe("sue", "x > 0")
    net.run()
    net.leave("sue")
    net.publish("pat", {"x": 1})
    net.run()
    net.arrive("sue", "b")
    net.step(("b", "M"))
    net.break_link("M", "a")
    net.run()
    net.heal_link("M", "a")
    return net


def announced_twice() -> Network:
    """Of two announcements at b the later one comes first."""
    net = star()
    net.subscribe("sue", "x > 0")
    net.run()
    net.leave("sue", "prepared", "b")
    net.arrive("sue", "P")
    net.leave("sue", "prepared", "b")
    net.step(("P", "b", "direct"))
    net.arrive("sue", "b")
    return net


def back_before_the_ping() -> Network:
    net = star(advertisements=True)
    net.subscribe("sue", "x > 0")
    net.move("sue", "b", "ping-pong")
    net.run()
    net.leave("sue", "ping-pong", "a")
    net.arrive("sue", "b")
    return net


def verdict(net: Network) -> set[str]:
    """What is wrong with a network, by the names of the checks that say so."""
    net.run(2000)
    audit = net.audit()
    names = ("missed", "unwanted", "duplicates", "out_of_order", "unfinished")
    found = {name for name in names if getattr(audit, name)}
    if net.in_flight:
        return found | {"does not end"}
    try:
        net.check()
    except InvariantError as error:
        found.add(error.invariant)
    return found


#: Name -> the function, the piece of it, what stands there instead; scenario; who kills it.
PLANTED: dict[str, tuple[Any, str, str, Scenario, str]] = {
    "no epochs": (
        update.UpdateProtocol.wanted,
        "return station.find(message.client, message.epoch - 1)",
        "return station.of_client(message.client)[-1]",
        recipe("epochs"),
        "unfinished",
    ),
    "no pins": (
        update.UpdateProtocol.pin,
        "station.pin(message.subscriptions, hop, pin_key(message))",
        "pass",
        recipe("pins"),
        "missed",
    ),
    "pins by equality": (
        reach.Advertised.reaches,
        "self._covers(item, each)",
        "item == each",
        a_wider_filter_at_the_new_broker,
        "missed",
    ),
    "live delivery": (
        station.Station.take,
        "session.connected and session.ready",
        "session.connected",
        a_queue_that_comes_later,
        "out_of_order",
    ),
    "the queue behind its own": (
        sessions.Session.take_over,
        "{each.id: each for each in notes} | self.queue",
        "self.queue | {each.id: each for each in notes}",
        a_queue_that_comes_later,
        "out_of_order",
    ),
    "no recheck": (
        station.Station.flush,
        "if self.is_wanted(session, note):",
        "if True:",
        a_filter_dropped_while_notifications_wait,
        "unwanted",
    ),
    "close before ready": (
        update.UpdateProtocol.serve,
        "not session.is_finished or ",
        "",
        a_chain_faster_than_the_queue,
        "missed",
    ),
    "no elimination at the client": (
        traveller.Traveller.accept,
        "if number in self._seen:",
        "if False:",
        delivered_before_and_on_its_way,
        "duplicates",
    ),
    "pins that stay": (
        update.UpdateProtocol.done_came,
        "station.router.unpin(pin_key(message))",
        "pass",
        recipe("pins"),
        "no-pins",
    ),
    "a Done for the first leg only": (
        update.UpdateProtocol.serve,
        "for message in messages:",
        "for message in messages[:1]:",
        two_rendezvous_points,
        "unfinished",
    ),
    "released by the queue": (
        protocol.Protocol.transfer_came,
        "session.ready = True",
        "session.ready = True; station.release(session)",
        recipe("ready"),
        "missed",
    ),
    "late ones are not waited for": (
        sessions.Session.has_all_late,
        "self.late_got >= self.late_to_come",
        "True",
        run(1, protocol="linger", fast=True, movers=2),
        "missed",
    ),
    "no second try": (
        station.Station.retry,
        "if not session.ready or session.legs_open:",
        "if False:",
        a_link_that_breaks,
        "unfinished",
    ),
    "an earlier announcement is taken for old": (
        station.Station.has_seen,
        "epoch in self._seen.get(client, ())",
        "epoch <= max(self._seen.get(client, (-1,)))",
        announced_twice,
        "unfinished",
    ),
    "a proxy that stays": (
        ping_pong.PingPong.came_back,
        "if name in station.proxies:",
        "if False:",
        back_before_the_ping,
        "no-proxies",
    ),
    "an outbox that loses its order": (
        engine.Engine._empty_outbox,
        "client.outbox.pop(0)",
        "client.outbox.pop()",
        run(3, roles="publisher"),
        "out_of_order",
    ),
    "an announcement without filters": (
        prepared.Prepared.leaving,
        "station.subscriptions(session)",
        "()",
        run(2, protocol="prepared"),
        "missed",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, right, wrong, scenario, killer = PLANTED[name]
    # ``linger`` promises no order; otherwise the scenario is without fault by itself.
    assert verdict(scenario()) - {"out_of_order"} == set()
    assert killer not in verdict(scenario())
    plant(monkeypatch, function, right, wrong)
    assert killer in verdict(scenario())


@pytest.mark.parametrize("splits", [False, True])
def test_updates_split_in_two_are_found(splits: bool) -> None:
    with splitting() if splits else nullcontext():
        assert ("missed" in verdict(a_filter_that_was_covered())) == splits


def test_an_audit_that_forgets_closed_sessions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes count what had settled once; without the claims the loss would go unseen."""
    assert "missed" in verdict(recipe("pins", "update-without-pins")())
    monkeypatch.setattr(settling.Standing, "hold", lambda *_: False)
    assert "missed" not in verdict(recipe("pins", "update-without-pins")())

"""Planted faults: each is killed by the check named beside it, and the scenario passes without it.

A fault is a patch of the router, its exchanges or its links; a scenario is a small run that needs
what the patch breaks. The verdict of a run is what the audit counts and what ``check`` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest

from posetlib import InvariantError, Network, Update
from posetlib.routing import exchange, forwarding, outgoing_merging, reach, router
from posetlib.simulation import links, network

Patch = Callable[[pytest.MonkeyPatch], None]
Scenario = Callable[[], Network]


def line(*brokers: str, **options: Any) -> Network:
    net = Network(nx.path_graph(brokers), **options)
    net.attach("ann", brokers[0])
    net.attach("zoe", brokers[-1])
    return net


def star(**options: Any) -> Network:
    graph: nx.Graph[str] = nx.Graph([("M", "P"), ("M", "a"), ("M", "b")])
    net = Network(graph, **options)
    for client, broker in (("pat", "P"), ("ann", "a"), ("ben", "b"), ("mia", "M")):
        net.attach(client, broker)
    return net


def verdict(net: Network) -> set[str]:
    """What is wrong with a network, by the names of the checks that say so."""
    net.run(500)
    audit = net.audit()
    found = {
        name
        for name in ("missed", "unwanted", "duplicates", "out_of_order")
        if getattr(audit, name)
    }
    assert len(audit.witnesses) == audit.faults or audit.faults > 100
    if net.in_flight:
        return found | {"does not end"}
    try:
        net.check()
    except InvariantError as error:
        found.add(error.invariant)
    return found


# -- scenarios -------------------------------------------------------------------------------------


def subscribe_and_stop() -> Network:
    net = line("B1", "B2", "B3")
    net.subscribe("ann", "x > 3")
    net.run()
    net.unsubscribe("ann", "x > 3")
    return net


def publish_across() -> Network:
    net = line("B1", "B2", "B3")
    net.subscribe("ann", "x > 3")
    net.run()
    for x in (4, 5, 6):
        net.publish("zoe", {"x": x})
    return net


def both_sides_subscribe() -> Network:
    """A notification comes from a neighbour that wants it as well."""
    net = line("B1", "B2")
    net.subscribe("ann", "x > 3")
    net.subscribe("zoe", "x > 3")
    net.run()
    net.publish("zoe", {"x": 5})
    return net


def narrow_under_wide() -> Network:
    """ann's wide filter goes while a notification is on its way that her narrow one wants."""
    net = line("a", "M", "P")
    net.subscribe("ann", "x in [0, 9]")
    net.subscribe("ann", "x in [2, 3]")
    net.run()
    net.publish("zoe", {"x": 2})
    net.unsubscribe("ann", "x in [0, 9]")
    while net.step(("a", "M")):
        # What zoe published lies on its link until M has heard all of this, or half of it.
        net.step(("P", "M"))
    return net


def narrow_elsewhere() -> Network:
    """Two neighbours of M want the same, one of them more than the other."""
    net = star()
    net.subscribe("ben", "x in [2, 3]")
    net.run()
    net.subscribe("ann", "x in [0, 9]")
    net.run()
    net.publish("pat", {"x": 2})
    return net


def second_level() -> Network:
    """M must send ben's narrow filter to a, although it holds a's wide one."""
    net = star()
    net.subscribe("ann", "x in [0, 9]")
    net.run()
    net.subscribe("ben", "x in [2, 3]")
    net.run()
    net.publish("ann", {"x": 2})
    return net


def coverer_goes() -> Network:
    """In a forest of M, mia's filter hangs under a's filter and is blocked by one of b."""
    net = star(table="nrf")
    net.subscribe("ann", "x in [0, 5]")
    net.run()
    net.subscribe("mia", "x in [2, 3]")
    net.run()
    net.subscribe("ben", "x in [2, 9]")
    net.run()
    net.unsubscribe("ben", "x in [2, 9]")
    net.run()
    net.publish("ann", {"x": 2})
    return net


def approximate_coverer_goes() -> Network:
    net = star(table="nrf", forwards="approximate")
    net.subscribe("ann", "x = 4 and y in [1, 2]")
    net.run()
    net.subscribe("mia", "x = 4 and y = 1")
    net.run()
    net.subscribe("ben", "x in [3, 4] and y = 1")
    net.run()
    net.unsubscribe("ben", "x in [3, 4] and y = 1")
    net.run()
    net.publish("ann", {"x": 4, "y": 1})
    return net


def local_root_goes() -> Network:
    net = line("B1", "B2")
    net.subscribe("ann", "x in [0, 9]")
    net.subscribe("ann", "x in [2, 3]")
    net.run()
    net.unsubscribe("ann", "x in [0, 9]")
    net.run()
    net.publish("zoe", {"x": 2})
    return net


def advertisement_goes() -> Network:
    net = line("B1", "B2", "B3", advertisements=True)
    net.advertise("zoe", "x in [0, 9]")
    net.subscribe("ann", "x in [2, 3]")
    net.run()
    net.unadvertise("zoe", "x in [0, 9]")
    return net


def advertisement_comes() -> Network:
    net = line("B1", "B2", "B3", advertisements=True)
    net.subscribe("ann", "x in [2, 3]")
    net.run()
    net.advertise("zoe", "x in [0, 9]")
    net.run()
    net.publish("zoe", {"x": 2})
    return net


def publish_unannounced() -> Network:
    net = line("B1", "B2", advertisements=True)
    net.advertise("zoe", "x in [0, 9]")
    net.subscribe("ann", "x in [2, 30]")
    net.run()
    net.publish("zoe", {"x": 20})
    return net


def part_of_a_merger_goes() -> Network:
    net = line("B1", "B2", "B3", algorithm="merging")
    net.subscribe("ann", "x in [0, 4]")
    net.subscribe("ann", "x in [4, 9]")
    net.run()
    net.unsubscribe("ann", "x in [0, 4]")
    net.run()
    net.publish("zoe", {"x": 7})
    return net


def one_of_two_equal_goes() -> Network:
    net = star(algorithm="simple")
    net.subscribe("ann", "x > 3")
    net.subscribe("ben", "x > 3")
    net.run()
    net.unsubscribe("ben", "x > 3")
    net.run()
    net.publish("pat", {"x": 5})
    return net


def up_and_down() -> Network:
    net = star(master="M")
    net.subscribe("ann", "x > 3")
    net.run()
    net.publish("pat", {"x": 5})
    return net


def meet_at_a_point() -> Network:
    net = star(advertisements=True, rendezvous={"b": "x >= 0"})
    net.advertise("pat", "x in [0, 9]")
    net.subscribe("ann", "x > 3")
    net.run()
    net.publish("pat", {"x": 5})
    return net


def break_and_heal() -> Network:
    net = line("B1", "B2", "B3")
    net.subscribe("ann", "x > 3")
    net.run()
    net.break_link("B1", "B2")
    net.run()
    net.heal_link("B1", "B2")
    net.run()
    net.publish("zoe", {"x": 5})
    return net


def break_and_change() -> Network:
    net = line("B1", "B2", "B3")
    net.subscribe("ann", "x > 3")
    net.run()
    net.break_link("B1", "B2")
    net.run()
    net.publish("zoe", {"x": 5})
    return net


# -- faults ----------------------------------------------------------------------------------------


def no_unsubscription(patch: pytest.MonkeyPatch) -> None:
    flush = exchange.Exchange.flush
    patch.setattr(
        exchange.Exchange,
        "flush",
        lambda self: {to: (added, []) for to, (added, _) in flush(self).items()},
    )


def nst_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(forwarding, "_only_holder", lambda _: forwarding._SEVERAL)


def batches_split(patch: pytest.MonkeyPatch) -> None:
    send = network.Network._send_updates

    def split(self: Any, broker: Any, updates: Any) -> None:
        for each in updates:
            gone = Update(each.to, unsubscribe=each.unsubscribe, unadvertise=each.unadvertise)
            come = Update(each.to, subscribe=each.subscribe, advertise=each.advertise)
            send(self, broker, [half for half in (gone, come) if half])

    patch.setattr(network.Network, "_send_updates", split)


def wrong_interface_eliminated(patch: pytest.MonkeyPatch) -> None:
    add = exchange.Exchange.add

    def eliminating(self: Any, item: Any, neighbour: Any) -> None:
        add(self, item, neighbour)
        for other in [each for each in self.table if item.covers(each) and each != item]:
            for interface in self.table.interfaces(other):
                self._run(self.table, "discard", other, interface)

    patch.setattr(exchange.Exchange, "add", eliminating)


def local_roots_not_followed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(exchange.Exchange, "_follow", lambda *_: None)


def new_local_roots_not_followed(patch: pytest.MonkeyPatch) -> None:
    def follow(self: Any, change: Any) -> None:
        for root in change.roots_removed:
            self._run(self.table, "discard", root, exchange.LOCAL)

    patch.setattr(exchange.Exchange, "_follow", follow)


def advertisement_changes_not_seen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reach.Advertised, "changes", lambda _: [])


def withdrawn_advertisements_not_seen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reach.Advertised, "released", lambda *_: None)


def blocker_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(forwarding.Forwarding, "_set_blocker", lambda *_: None)


def second_level_forgotten(patch: pytest.MonkeyPatch) -> None:
    by_links = forwarding.Forwarding._by_links

    def roots_only(self: Any, node: Any) -> Any:
        return by_links(self, node) if node.parents[0] is self._top else frozenset()

    patch.setattr(forwarding.Forwarding, "_by_links", roots_only)


def covered_not_sent_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(forwarding.Forwarding, "_sent_below", lambda *_: [])


def removed_after_added(patch: pytest.MonkeyPatch) -> None:
    whole = router.Router.receive

    def receive(self: Any, update: Update, source: Any, **options: Any) -> list[Update]:
        if source not in self._neighbours:
            return whole(self, update, source, **options)
        for item in update.subscribe:
            self._subscriptions.add(item, source)
        for item in update.unsubscribe:
            self._subscriptions.remove(item, source)
        return self._flush()  # type: ignore[no-any-return]

    patch.setattr(router.Router, "receive", receive)


def source_not_excluded(patch: pytest.MonkeyPatch) -> None:
    destinations = router.Router._destinations
    patch.setattr(
        router.Router, "_destinations", lambda self, batch, _: destinations(self, batch, object())
    )


def sent_twice(patch: pytest.MonkeyPatch) -> None:
    send = network.Network._send

    def twice(self: Any, broker: Any, to: Any, message: Any) -> None:
        send(self, broker, to, message)
        send(self, broker, to, message)

    patch.setattr(network.Network, "_send", twice)


def last_in_first_out(patch: pytest.MonkeyPatch) -> None:
    take = links.Links.take

    def taking(self: Any, link: Any) -> Any:
        link.queue.reverse()
        message = take(self, link)
        link.queue.reverse()
        return message

    patch.setattr(links.Links, "take", taking)


def unannounced_allowed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(router.Router, "_allowed", lambda *_: None)


def rest_of_a_merger_lost(patch: pytest.MonkeyPatch) -> None:
    update = outgoing_merging.OutgoingMerger.update

    def losing(self: Any, joined: Any, left: Any) -> Any:
        parts = {
            part
            for each in left
            if each in self._set
            for part in self._set.group_of(each).components
        }
        return update(self, joined, [*left, *sorted(parts - set(left), key=str)])

    patch.setattr(outgoing_merging.OutgoingMerger, "update", losing)


def counted_once(patch: pytest.MonkeyPatch) -> None:
    def remove(self: Any, item: Any, neighbour: Any) -> None:
        self._set_count(item, neighbour, 0)
        exchange.Exchange.remove(self, item, neighbour)

    patch.setattr(exchange.SimpleExchange, "remove", remove)


def master_left_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(router.Router, "always", lambda _: frozenset())


def rendezvous_unknown(patch: pytest.MonkeyPatch) -> None:
    reaches = reach.Advertised.reaches

    def without_points(self: Any, item: Any, neighbour: Any) -> bool:
        self._rendezvous = {}
        return reaches(self, item, neighbour)

    patch.setattr(reach.Advertised, "reaches", without_points)


def new_neighbour_not_told(patch: pytest.MonkeyPatch) -> None:
    add = router.Router.add_neighbour

    def silent(self: Any, neighbour: Any, **types: Any) -> list[Update]:
        return [each for each in add(self, neighbour, **types) if each.to != neighbour]

    patch.setattr(router.Router, "add_neighbour", silent)


def entries_of_the_lost_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(exchange.Exchange, "drop", lambda *_: None)


def client_kept_after_unsubscribing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(exchange.Exchange, "remove_local", lambda *_: None)


def unsubscribe_then_publish() -> Network:
    net = line("B1", "B2")
    net.subscribe("ann", "x > 3")
    net.run()
    net.unsubscribe("ann", "x > 3")
    net.run()
    net.publish("zoe", {"x": 5})
    return net


KILLED: list[tuple[Patch, Scenario, str]] = [
    (no_unsubscription, subscribe_and_stop, "nothing-left-behind"),
    (nst_forgotten, subscribe_and_stop, "forwards-agree"),
    (batches_split, narrow_under_wide, "missed"),
    (wrong_interface_eliminated, narrow_elsewhere, "missed"),
    (local_roots_not_followed, subscribe_and_stop, "local-roots"),
    (new_local_roots_not_followed, local_root_goes, "missed"),
    (advertisement_changes_not_seen, advertisement_comes, "missed"),
    (withdrawn_advertisements_not_seen, advertisement_goes, "forwards-agree"),
    (blocker_forgotten, coverer_goes, "missed"),
    (second_level_forgotten, second_level, "missed"),
    (covered_not_sent_again, approximate_coverer_goes, "missed"),
    (removed_after_added, local_root_goes, "missed"),
    (source_not_excluded, both_sides_subscribe, "duplicates"),
    (sent_twice, publish_across, "duplicates"),
    (last_in_first_out, publish_across, "out_of_order"),
    (unannounced_allowed, publish_unannounced, "unwanted"),
    (rest_of_a_merger_lost, part_of_a_merger_goes, "missed"),
    (counted_once, one_of_two_equal_goes, "missed"),
    (master_left_out, up_and_down, "missed"),
    (rendezvous_unknown, meet_at_a_point, "remote-validity"),
    (new_neighbour_not_told, break_and_heal, "remote-validity"),
    (entries_of_the_lost_kept, break_and_change, "unwanted"),
    (client_kept_after_unsubscribing, unsubscribe_then_publish, "unwanted"),
]


@pytest.mark.parametrize(
    ("fault", "scenario", "check"), KILLED, ids=[fault.__name__ for fault, _, _ in KILLED]
)
def test_a_planted_fault_is_found(
    fault: Patch, scenario: Scenario, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verdict(scenario()) == set()
    fault(monkeypatch)
    assert check in verdict(scenario())

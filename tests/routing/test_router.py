"""The router's rules one by one: the worked examples, atomicity, leases, configurations, errors."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

import posetlib as pl
from posetlib import (
    Filter,
    Router,
    SnapshotError,
    UnknownEntryError,
    UnknownNeighbourError,
    Update,
    parse_filter,
)
from posetlib.routing.exchange import LOCAL
from posetlib.routing.forwarding import Forwarding
from tests.routing.worlds import TWO_FORMS

NEIGHBOURS = ("I1", "I2", "I3")


def f(text: str) -> Filter:
    return parse_filter(text)


def told(updates: list[Update]) -> list[str]:
    """Updates as lines that can be read."""
    return [str(update) for update in updates]


@pytest.fixture(params=["fp", "nrf"])
def table(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestWorkedExamples:
    """[SEMANTICS 3], as messages; the poset and the forest send the same."""

    def test_the_first(self, table: str) -> None:
        router = Router(NEIGHBOURS, table)
        a, b, c, d, e = (
            f(f"x in [{low}, {high}]")
            for low, high in ((0, 50), (60, 100), (10, 40), (70, 90), (20, 30))
        )
        assert told(router.subscribe(a, "I1")) == [
            "to I2: subscribe x in [0, 50]",
            "to I3: subscribe x in [0, 50]",
        ]
        assert told(router.subscribe(b, "I1")) == [
            "to I2: subscribe x in [60, 100]",
            "to I3: subscribe x in [60, 100]",
        ]
        assert told(router.subscribe(c, "I2")) == ["to I1: subscribe x in [10, 40]"]
        assert told(router.subscribe(d, "I2")) == ["to I1: subscribe x in [70, 90]"]
        assert told(router.subscribe(e, "I3")) == []
        assert router.forwards_sets() == {
            a: {"I2", "I3"},
            b: {"I2", "I3"},
            c: {"I1"},
            d: {"I1"},
        }
        assert told(router.unsubscribe(a, "I1")) == [
            "to I2: unsubscribe x in [0, 50]; subscribe x in [20, 30]",
            "to I3: unsubscribe x in [0, 50]; subscribe x in [10, 40]",
        ]
        router.check()

    def test_the_second(self, table: str) -> None:
        router = Router(["a", "b", "c"], table)
        f1, f2, f3, f4 = (
            f(text) for text in ("x in [0, 60]", "x in [40, 100]", "x in [45, 55]", "x in [48, 52]")
        )
        for item, source in ((f1, "c"), (f2, "c"), (f3, "a"), (f4, "b")):
            router.subscribe(item, source)
        assert router.forwards_sets()[f3] == {"c"}
        assert f4 not in router.forwards_sets()
        assert told(router.unsubscribe(f3, "a")) == [
            "to c: unsubscribe x in [45, 55]; subscribe x in [48, 52]"
        ]


class TestAtomicity:
    def test_an_update_that_fails_changes_nothing(self, table: str) -> None:
        router = Router(NEIGHBOURS, table, advertisements=True)
        router.advertise(f("x > 0"), "I2")
        router.subscribe(f("x in [0, 5]"), "alice")
        router.subscribe(f("x in [0, 9]"), "I1")
        before = router.to_json()
        bad = Update(
            "here",
            unsubscribe=(f("x in [0, 5]"),),
            subscribe=(f("x in [0, 99]"),),
            advertise=(f("x > 7"),),
            unadvertise=(f("y > 7"),),  # which alice does not advertise
        )
        with pytest.raises(pl.UnknownEntryError, match="the client 'alice' does not hold y > 7"):
            router.receive(bad, "alice")
        assert router.to_json() == before
        router.check()
        assert router.expire() == []

    def test_so_does_one_in_the_simple_algorithm(self) -> None:
        router = Router(NEIGHBOURS, algorithm="simple")
        router.subscribe(f("x > 3"), "alice")
        router.receive(Update("here", subscribe=(f("x > 3"), f("x > 3"))), "I1")
        before = router.to_json()
        with pytest.raises(pl.UnknownEntryError):
            router.receive(
                Update("here", subscribe=(f("x > 4"),), unsubscribe=(f("x > 3"), f("x > 9"))),
                "alice",
            )
        assert router.to_json() == before

    def test_removals_come_first(self, table: str) -> None:
        router = Router(NEIGHBOURS, table)
        router.subscribe(f("x > 3"), "I1")
        both = Update("here", subscribe=(f("x > 3"),), unsubscribe=(f("x > 3"),))
        assert router.receive(both, "I1") == []
        assert router.subscriptions("I1") == (f("x > 3"),)

    def test_one_update_for_each_neighbour(self, table: str) -> None:
        router = Router(NEIGHBOURS, table)
        updates = router.receive(
            Update("here", subscribe=tuple(f(f"x = {i}") for i in range(5))), "I1"
        )
        assert [(update.to, len(update)) for update in updates] == [("I2", 5), ("I3", 5)]

    def test_a_replaced_subscription_leaves_no_gap(self, table: str) -> None:
        router = Router(NEIGHBOURS, table)
        router.subscribe(f("x in [0, 5]"), "alice")
        wider = router.replace(f("x in [0, 5]"), f("x in [0, 9]"), "alice")
        # The wider one covers the other, which every receiver drops by itself.
        assert told(wider)[0] == "to I1: subscribe x in [0, 9]"
        narrower = router.replace(f("x in [0, 9]"), f("x in [0, 2]"), "alice")
        assert told(narrower)[0] == "to I1: unsubscribe x in [0, 9]; subscribe x in [0, 2]"
        with pytest.raises(pl.UnknownEntryError):
            router.replace(f("x = 77"), f("x = 78"), "alice")
        assert router.subscriptions("alice") == (f("x in [0, 2]"),)


class TestSources:
    def test_a_neighbours_unknown_withdrawal_is_ignored(self, table: str) -> None:
        assert Router(NEIGHBOURS, table).unsubscribe(f("x > 3"), "I1") == []

    def test_a_clients_is_an_error(self, table: str) -> None:
        with pytest.raises(pl.UnknownEntryError, match="the client 'alice' does not hold x > 3"):
            Router(NEIGHBOURS, table).unsubscribe(f("x > 3"), "alice")

    @pytest.mark.parametrize("algorithm", ["covering", "identity", "simple"])
    def test_the_same_filter_twice_counts_once(self, algorithm: str) -> None:
        router = Router(NEIGHBOURS, algorithm=algorithm)
        assert len(router.subscribe(f("x > 3"), "alice")) == 3
        assert router.subscribe(f("x > 3"), "alice") == []
        assert len(router.unsubscribe(f("x > 3"), "alice")) == 3
        assert router.route({"x": 5}, "bob") == frozenset()

    def test_only_the_root_set_of_clients_reaches_the_external_table(self, table: str) -> None:
        router = Router(NEIGHBOURS, table)
        for i in range(9):
            router.subscribe(f(f"x in [0, {i}]"), f"client {i % 3}")
        assert router.table.entries() == ((f("x in [0, 8]"), LOCAL),)
        assert len(router.local_table) == 9
        router.drop_client("client 2")
        assert router.table.entries() == ((f("x in [0, 7]"), LOCAL),)

    def test_a_neighbour_goes_with_everything_it_sent(self, table: str) -> None:
        router = Router(NEIGHBOURS, table)
        router.subscribe(f("x in [0, 9]"), "I1")
        router.subscribe(f("x in [2, 3]"), "I2")
        assert told(router.drop_neighbour("I1")) == [
            "to I2: unsubscribe x in [0, 9]",
            "to I3: unsubscribe x in [0, 9]; subscribe x in [2, 3]",
        ]
        assert router.neighbours == ("I2", "I3")
        with pytest.raises(pl.UnknownNeighbourError, match="'I1' is not a neighbour"):
            router.drop_neighbour("I1")
        assert told(router.add_neighbour("I1")) == ["to I1: subscribe x in [2, 3]"]

    def test_a_new_neighbour_is_told_all(self, table: str) -> None:
        router = Router(["I1"], table, advertisements=True)
        router.advertise(f("x > 0"), "alice")
        router.advertise(f("y > 0"), "I1")
        (update,) = router.add_neighbour("I2")
        assert set(update.advertise) == {f("x > 0"), f("y > 0")}
        router.subscribe(f("z > 0"), "alice")
        (pulled,) = router.advertise(f("z > 5"), "I2")[:1]
        assert pulled == Update("I1", advertise=(f("z > 5"),))

    @pytest.mark.parametrize("name", [None, LOCAL])
    def test_names_that_are_taken(self, name: Any) -> None:
        with pytest.raises(ValueError, match="cannot be the name of a neighbour"):
            Router([name])
        with pytest.raises(ValueError, match="cannot be the name of a client"):
            Router().subscribe(f("x > 3"), name)

    def test_a_client_cannot_become_a_neighbour(self) -> None:
        router = Router()
        router.subscribe(f("x > 3"), "alice")
        with pytest.raises(ValueError, match="'alice' is a local client"):
            router.add_neighbour("alice")
        with pytest.raises(ValueError, match="is a neighbour already"):
            Router(["I1", "I1"])
        with pytest.raises(ValueError, match="drop_neighbour"):
            Router(["I1"]).drop_client("I1")


class TestAdvertisements:
    def test_subscriptions_follow_advertisements(self, table: str) -> None:
        router = Router(NEIGHBOURS, table, advertisements=True)
        assert router.subscribe(f("x in [0, 5]"), "alice") == []
        assert told(router.advertise(f("x > 3"), "I1")) == [
            "to I1: subscribe x in [0, 5]",
            "to I2: advertise x > 3",
            "to I3: advertise x > 3",
        ]
        # A second one that overlaps pulls nothing.
        assert [u.to for u in router.advertise(f("x < 1"), "I1")] == ["I2", "I3"]
        assert told(router.unadvertise(f("x > 3"), "I1"))[0].startswith("to I2: unadvertise")
        assert told(router.unadvertise(f("x < 1"), "I1"))[0] == "to I1: unsubscribe x in [0, 5]"

    def test_what_a_client_did_not_advertise_is_dropped_and_counted(self, table: str) -> None:
        router = Router(NEIGHBOURS, table, advertisements=True)
        router.subscribe(f("x > 0"), "alice")
        router.advertise(f("x > 3"), "bob")
        assert router.route({"x": 5}, "bob") == {"alice"}
        assert router.route({"x": 2}, "bob") == frozenset()
        assert router.route_many([{"x": 2}, {"x": 5}, {"x": 1}], "bob") == [
            frozenset(), {"alice"}, frozenset(),
        ]  # fmt: skip
        assert router.route({"x": 5}, "carol") == frozenset()
        assert router.dropped == 4
        assert router.route({"x": 2}, "I1") == {"alice"}

    def test_a_new_advertisement_looks_only_at_what_it_overlaps(
        self, table: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Through the index: the tests do not grow with the subscriptions."""
        asked: list[Filter] = []
        overlaps = Filter.overlaps
        monkeypatch.setattr(
            Filter, "overlaps", lambda one, other: asked.append(one) or overlaps(one, other)
        )
        counts = []
        for size in (100, 1_000):
            router = Router(NEIGHBOURS, table, advertisements=True)
            for i in range(size):
                router.subscribe(f(f"x in [{10 * i}, {10 * i + 5}]"), "I2")
            asked.clear()
            (pulled, *_) = router.advertise(f("x in [51, 53]"), "I1")
            assert pulled == Update("I1", subscribe=(f("x in [50, 55]"),))
            counts.append(len(asked))
        assert max(counts) < 30

    def test_rendezvous_points(self, table: str) -> None:
        stock, news = f('type = "stock"'), f('type = "news"')
        router = Router(
            NEIGHBOURS, table, advertisements=True, rendezvous={"I1": stock, None: [news]}
        )
        # Advertisements of a type go towards its point; subscriptions, too, as if it advertised.
        assert told(router.advertise(f('type = "stock" and x > 3'), "I2")) == [
            'to I1: advertise type = "stock" and x > 3'
        ]
        assert told(router.subscribe(f('type = "stock" and x > 5'), "alice")) == [
            'to I1: subscribe type = "stock" and x > 5',
            'to I2: subscribe type = "stock" and x > 5',
        ]
        # This router is the point of the news.
        assert router.advertise(f('type = "news" and x > 3'), "I2") == []
        assert told(router.subscribe(f('type = "news"'), "alice")) == [
            'to I2: subscribe type = "news"'
        ]
        # A type without a point is flooded.
        assert [u.to for u in router.advertise(f('type = "other"'), "I2")] == ["I1", "I3"]
        router.check()


class TestModes:
    def test_hierarchical(self, table: str) -> None:
        router = Router(NEIGHBOURS, table, master="I1")
        assert told(router.subscribe(f("x > 3"), "I2")) == ["to I1: subscribe x > 3"]
        assert router.subscribe(f("x > 3"), "I1") == []
        assert router.route({"x": 1}, "I2") == {"I1"}
        assert router.route({"x": 5}, "I3") == {"I1", "I2"}
        assert router.route({"x": 5}, "I1") == {"I2"}
        with pytest.raises(ValueError, match="is the master"):
            router.drop_neighbour("I1")
        assert told(router.set_master("I3")) == [
            "to I1: unsubscribe x > 3",
            "to I3: subscribe x > 3",
        ]
        router.drop_neighbour("I1")
        router.check()

    def test_flooding(self) -> None:
        router = Router(NEIGHBOURS, algorithm="flooding")
        assert router.subscribe(f("x > 3"), "alice") == []
        assert router.route({"x": 1}, "I2") == {"I1", "I3"}
        assert router.route({"x": 5}, "bob") == {*NEIGHBOURS, "alice"}
        assert router.explain({"x": 5}, "I1") == {"I2": (), "I3": (), "alice": (f("x > 3"),)}

    def test_identity_sends_equal_filters_once(self) -> None:
        router = Router(NEIGHBOURS, algorithm="identity")
        assert len(router.subscribe(f("x in [0, 9]"), "I1")) == 2
        assert (
            told(router.subscribe(f("x in [2, 3]"), "I1")) != []
        )  # covered, and sent all the same
        assert told(router.subscribe(f("x in [0, 9]"), "I2")) == ["to I1: subscribe x in [0, 9]"]
        assert router.subscribe(f("x in [0, 9]"), "I3") == []
        assert router.unsubscribe(f("x in [0, 9]"), "I3") == []
        assert told(router.unsubscribe(f("x in [0, 9]"), "I2")) == [
            "to I1: unsubscribe x in [0, 9]"
        ]

    def test_simple_sends_every_subscription(self) -> None:
        router = Router(NEIGHBOURS, algorithm="simple")
        for client in ("alice", "bob"):
            assert len(router.subscribe(f("x > 3"), client)) == 3
        # The first withdrawal leaves the other one.
        assert told(router.unsubscribe(f("x > 3"), "alice")) == [
            f"to {each}: unsubscribe x > 3" for each in NEIGHBOURS
        ]
        assert router.route({"x": 5}, "I1") == {"bob"}
        router.receive(Update("here", subscribe=(f("x > 4"), f("x > 4"))), "I1")
        router.receive(Update("here", unsubscribe=(f("x > 4"),)), "I1")
        assert router.route({"x": 5}, "I2") == {"I1", "bob"}
        router.receive(Update("here", unsubscribe=(f("x > 4"),) * 2), "I1")
        assert router.route({"x": 5}, "I2") == {"bob"}

    def test_merging_sends_the_union(self, table: str) -> None:
        router = Router(NEIGHBOURS, table, merging="perfect")
        router.subscribe(f("x in [0, 5]"), "alice")
        assert told(router.subscribe(f("x in [5, 9]"), "bob"))[0] == (
            "to I1: subscribe x in [0, 9]"
        )
        assert told(router.unsubscribe(f("x in [0, 5]"), "alice"))[0] == (
            "to I1: unsubscribe x in [0, 9]; subscribe x in [5, 9]"
        )

    def test_imperfect_merging_is_bounded(self) -> None:
        free = Router(NEIGHBOURS, merging="imperfect")
        bound = Router(NEIGHBOURS, merging="imperfect", domains={"x": (0, 100)}, max_loss=0.1)
        for router in (free, bound):
            router.subscribe(f("x in [0, 5]"), "alice")
            router.subscribe(f("x in [90, 99]"), "bob")
        assert free.sent("I1").subscribe == (f("x in [0, 99]"),)
        assert set(bound.sent("I1").subscribe) == {f("x in [0, 5]"), f("x in [90, 99]")}

    @pytest.mark.parametrize("matcher", [None, pl.BitmapMatcher, pl.CountingMatcher])
    def test_local_delivery_by_a_matcher(self, matcher: Any) -> None:
        router = Router(NEIGHBOURS, matcher=matcher)
        for i in range(20):
            router.subscribe(f(f"x in [{i}, {i + 4}]"), f"client {i % 4}")
        router.unsubscribe(f("x in [3, 7]"), "client 3")
        router.drop_client("client 1")
        with pytest.raises(pl.UnknownEntryError):
            router.receive(
                Update("here", subscribe=(f("x = 7"),), unsubscribe=(f("x = 3"),)), "client 9"
            )
        assert router.route({"x": 7}, "I1") == {"client 0", "client 2", "client 3"}
        assert router.route({"x": 7}, "client 0") == {"client 0", "client 2", "client 3"}


class TestExplaining:
    def test_every_destination_has_its_subscriptions(self, table: str) -> None:
        router = Router(NEIGHBOURS, table)
        router.subscribe(f("x in [0, 9]"), "I1")
        router.subscribe(f("y > 0"), "I1")
        router.subscribe(f("x in [2, 3]"), "I2")
        router.subscribe(f("x = 2"), "alice")
        router.subscribe(f("x in [0, 2]"), "alice")
        notification = {"x": 2, "y": 1}
        reasons = router.explain(notification, "I2")
        assert reasons == {
            "I1": (f("x in [0, 9]"), f("y > 0")),
            "alice": (f("x = 2"), f("x in [0, 2]")),
        }
        assert set(reasons) == router.route(notification, "I2")

    def test_asking_does_not_count_as_publishing(self) -> None:
        router = Router(NEIGHBOURS, advertisements=True)
        assert router.explain({"x": 1}, "alice") == {}
        assert router.dropped == 0


class Clock:
    """A clock that stands until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class TestLeases:
    def test_what_is_not_renewed_ends(self, table: str) -> None:
        clock = Clock()
        router = Router(NEIGHBOURS, table, advertisements=True, clock=clock)
        router.advertise(f("x > 0"), "I1", ttl=30)
        router.subscribe(f("x > 3"), "alice", ttl=10)
        router.subscribe(f("x > 5"), "alice")
        assert router.leases.next_end() == 10
        clock.now += 9
        assert router.expire() == []
        router.subscribe(f("x > 3"), "alice", ttl=10)  # renewed
        clock.now += 9
        assert router.expire() == []
        clock.now += 1
        assert told(router.expire()) == ["to I1: unsubscribe x > 3; subscribe x > 5"]
        clock.now += 11
        assert told(router.expire())[0] == "to I1: unsubscribe x > 5"
        assert router.leases.next_end() is None
        assert router.subscriptions("alice") == (f("x > 5"),)

    def test_a_subscription_without_end_stays(self) -> None:
        clock = Clock()
        router = Router(NEIGHBOURS, clock=clock)
        router.subscribe(f("x > 3"), "alice", ttl=10)
        router.subscribe(f("x > 3"), "alice")
        router.subscribe(f("x > 4"), "bob", ttl=10)
        router.unsubscribe(f("x > 4"), "bob")
        router.subscribe(f("x > 5"), "carol", ttl=10)
        router.drop_client("carol")
        clock.now += 99
        assert router.expire() == []
        assert len(router.leases) == 0

    def test_a_lease_of_what_an_equivalent_filter_withdrew(self) -> None:
        clock = Clock()
        # Two hierarchies in which the same two types are one below the other.
        quotes = parse_filter("type isa Q", types=pl.TypeHierarchy({"S": ["Q"]}))
        same = parse_filter("type isa S", types=pl.TypeHierarchy({"Q": ["S"]}))
        assert quotes != same
        assert quotes.covers(same)
        assert same.covers(quotes)
        router = Router(NEIGHBOURS, clock=clock)
        router.subscribe(quotes, "alice", ttl=5)
        assert len(router.unsubscribe(same, "alice")) == 3
        clock.now += 9
        assert router.expire() == []

    def test_an_equivalent_filter_renews_a_lease(self) -> None:
        clock = Clock()
        router = Router(NEIGHBOURS, clock=clock)
        one, other = map(parse_filter, TWO_FORMS)
        assert one != other
        router.subscribe(one, "alice", ttl=5)
        router.subscribe(other, "alice", ttl=50)
        clock.now += 9
        assert router.expire() == []
        assert router.as_held(other, "alice") == one
        router.subscribe(other, "alice")  # without an end
        clock.now += 99
        assert router.expire() == []
        assert router.route({"name": "b"}, "I1") == {"alice"}

    def test_a_client_that_goes_costs_no_look_at_the_leases_of_others(self) -> None:
        clock = Clock()
        router = Router(NEIGHBOURS, clock=clock)
        for i in range(50):
            router.subscribe(f(f"x = {i}"), f"client {i % 5}", ttl=10 + i)
        router.drop_client("client 3")
        assert len(router.leases) == 40
        assert set(router.leases._of_source) == {f"client {i}" for i in (0, 1, 2, 4)}
        clock.now += 999
        assert len(router.expire()[0].unsubscribe) == 40
        assert not router.leases._of_source

    def test_a_lease_of_a_neighbour(self, table: str) -> None:
        clock = Clock()
        router = Router(NEIGHBOURS, table, clock=clock)
        router.receive(Update("here", subscribe=(f("x > 3"), f("x > 2"))), "I1", ttl=5)
        clock.now += 5
        assert told(router.expire()) == [
            "to I2: unsubscribe x > 2",
            "to I3: unsubscribe x > 2",
        ]

    @pytest.mark.parametrize("ttl", [0, -1, float("nan")])
    def test_a_time_that_is_none(self, ttl: float) -> None:
        with pytest.raises(ValueError, match="positive number of seconds"):
            Router().subscribe(f("x > 3"), "alice", ttl=ttl)

    def test_renewals_do_not_pile_up(self) -> None:
        clock = Clock()
        router = Router(clock=clock)
        for _ in range(10_000):
            router.subscribe(f("x > 3"), "alice", ttl=10)
        assert len(router.leases._queue) < 200


class TestCost:
    @pytest.mark.parametrize("kind", ["narrow", "wide"])
    def test_an_update_looks_at_what_it_changes(
        self, table: str, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The nodes that an update looks at do not grow with the table."""
        looked = []
        by_links = Forwarding._by_links
        monkeypatch.setattr(
            Forwarding, "_by_links", lambda self, node: looked.append(node) or by_links(self, node)
        )
        random = Random(7)
        router = Router([f"I{i}" for i in range(8)], table)
        counts = []
        for i in range(1_500):
            low, width = random.uniform(0, 1000), random.expovariate(1 / 5) + (kind == "wide") * 2
            item = f(f"x in [{low}, {low + width}] and y in [{low / 2}, {low / 2 + width}]")
            looked.clear()
            router.subscribe(item, f"I{random.randrange(8)}")
            counts.append(len(looked))
            if i % 3 == 2:
                router.unsubscribe(random.choice(router.table.roots()), f"I{random.randrange(8)}")
        assert len(router.table) > 300
        early, late = sum(counts[100:300]) / 200, sum(counts[-200:]) / 200
        assert late < 2 * early + 3
        assert late < len(router.table) / 20


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"table": "pf"}, "table is 'fp' or 'nrf'"),
            ({"table": "nonsense"}, "unknown structure"),
            ({"merging": "yes"}, "merging is None"),
            ({"forwards": "some"}, "forwards is 'exact'"),
            ({"algorithm": "magic"}, "algorithm is one of"),
            ({"algorithm": "identity", "merging": "perfect"}, "does not merge"),
            ({"algorithm": "flooding", "advertisements": True}, "no use for advertisements"),
            ({"master": "I9"}, "not one of the neighbours"),
            ({"master": "I1", "advertisements": True}, "no use for advertisements"),
            ({"rendezvous": {"I1": f("x > 3")}}, "needs advertisements=True"),
            ({"rendezvous": {"I9": f("x > 3")}, "advertisements": True}, "is not a neighbour"),
            ({"max_loss": 0.1}, "bound imperfect merging"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Router(NEIGHBOURS, **options)

    def test_what_is_no_filter_is_refused(self) -> None:
        with pytest.raises(TypeError, match="holds filters, not str"):
            Router().subscribe("x > 3", "alice")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="not one string"):
            Router("I1")
        with pytest.raises(ValueError, match="without advertisements"):
            Router().advertise(f("x > 3"), "alice")
        with pytest.raises(ValueError, match="without advertisements"):
            Router().advertisement_table  # noqa: B018


class TestMessages:
    def test_round_trip(self) -> None:
        update = Update("I1", (f("x > 3"),), (f("x > 4"),), (f("y > 3"),), (f("y > 4"),))
        assert Update.from_dict(json.loads(json.dumps(update.to_dict())), "I1") == update
        assert len(update) == 4

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            ({"subscribe": "x > 3"}, "is a list of filters, not str"),
            ({"subscribe": [3]}, r"subscribe\[0\]: a filter is a text, not int"),
            ({"subscribe": ["x > 3", "x >"]}, r"subscribe\[1\]: line 1, column"),
            ({"subscrib": []}, "an update has no 'subscrib'"),
        ],
    )
    def test_nonsense_is_named(self, data: Any, message: str) -> None:
        with pytest.raises(pl.MessageError, match=message):
            Update.from_dict(data)


class TestPins:
    def test_a_pin_needs_a_neighbour_and_a_filter(self) -> None:
        router = Router(["I1"], advertisements=True)
        with pytest.raises(UnknownNeighbourError):
            router.pin(parse_filter("x > 3"), "I2", "key")
        with pytest.raises(TypeError, match="holds filters"):
            router.pin("x > 3", "I1", "key")  # type: ignore[arg-type]
        assert not len(router.pins)

    @pytest.mark.parametrize("options", [{}, {"algorithm": "flooding"}, {"master": "I1"}])
    def test_without_advertisements_a_pin_sends_nothing(self, options: dict[str, str]) -> None:
        router = Router(["I1", "I2"], **options)  # type: ignore[arg-type]
        router.subscribe(parse_filter("x > 3"), "alice")
        before = router.sent("I2")
        assert router.pin(parse_filter("x > 3"), "I2", "key") == []
        assert router.sent("I2") == before
        assert router.unpin("key") == []

    def test_a_neighbour_that_goes_takes_its_pins_along(self) -> None:
        router = Router(["I1", "I2"], advertisements=True)
        router.subscribe(parse_filter("x > 3"), "alice")
        router.pin(parse_filter("x > 3"), "I2", "key")
        router.drop_neighbour("I2")
        assert router.add_neighbour("I2") == []
        assert router.unpin("key") == []

    def test_a_file_with_a_pin_for_a_stranger_is_refused(self) -> None:
        router = Router(["I1"], advertisements=True)
        router.pin(parse_filter("x > 3"), "I1", ("bob", 2, "leg"))
        text = router.to_json()
        assert list(Router.from_json(text).pins) == list(router.pins)
        with pytest.raises(SnapshotError, match="pinned for 'I9'"):
            Router.from_json(text.replace('"x > 3", "I1"', '"x > 3", "I9"'))
        router.pin(parse_filter("x > 3"), "I1", 2.5)
        with pytest.raises(SnapshotError, match="key of a pin"):
            router.to_json()

    def test_a_batch_sends_each_neighbour_one_update_or_leaves_nothing(self) -> None:
        router = Router(["I1"], advertisements=True)
        wide, narrow = parse_filter("x > 3"), parse_filter("x > 5")
        with router.together() as updates:
            assert router.pin(narrow, "I1", "key") == []
            assert router.subscribe(wide, "alice") == []
            with pytest.raises(RuntimeError, match="does not nest"), router.together():
                pass
        assert updates == [Update("I1", subscribe=(wide,))]
        with router.together():
            router.subscribe(parse_filter("y > 5"), "bob")
            with pytest.raises(UnknownEntryError):
                router.unsubscribe(narrow, "alice")
        assert router.clients == ("alice",)
        router.check()

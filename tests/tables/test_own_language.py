"""A language from outside the package: IP networks, with boxes, a matcher and text of their own."""

from __future__ import annotations

import copy
import ipaddress
import pickle
import random
from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, ClassVar

import pytest

import posetlib as pl
from posetlib.search import NO_PART
from posetlib.search.boxes import AxisInterval, Box, Shapes

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address
STRUCTURES = ("fp", "pf", "bf", "nrf")
SEEDS = range(3)


# -- the language ----------------------------------------------------------------------------------


def supernet(one: Network, other: Network) -> bool:
    return one.version == other.version and other.subnet_of(one)  # type: ignore[arg-type]


def holds(network: Network, address: Address) -> bool:
    return address in network


class NetworkBoxes:
    """A network as the numbers of its first and last address, on an axis for its version.

    Numbers of 32 bits are exact as floats; those of 128 bits are rounded, which keeps their order.
    """

    def __init__(self) -> None:
        self._shapes = Shapes()

    def read(self, item: Network) -> Box:
        low, high = int(item.network_address), int(item.broadcast_address)
        interval = AxisInterval(item.version, float(low), float(high))
        return self._shapes.box([interval], exact=item.version == 4)


class PrefixMatcher:
    """The holders of each network; an address asks for the networks of all lengths around it."""

    #: Of all matchers together.
    calls: ClassVar[Counter[str]] = Counter()

    def __init__(self, pairs: Iterable[tuple[Network, Hashable]]) -> None:
        self.calls["made"] += 1
        self.held: dict[Network, set[Hashable]] = {}
        for item, interface in pairs:
            self.held.setdefault(item, set()).add(interface)

    def add(self, item: Network, interface: Hashable) -> None:
        self.calls["add"] += 1
        self.held.setdefault(item, set()).add(interface)

    def discard(self, item: Network, interface: Hashable) -> None:
        self.calls["discard"] += 1
        self.held[item].remove(interface)

    def match(self, notification: Address) -> frozenset[Hashable]:
        self.calls["match"] += 1
        return self._around(notification)

    def match_many(self, notifications: Collection[Address]) -> list[frozenset[Hashable]]:
        self.calls["match_many"] += 1
        return [self._around(each) for each in notifications]

    def _around(self, address: Address) -> frozenset[Hashable]:
        narrow = ipaddress.ip_network(address)
        around = (narrow.supernet(length) for length in range(narrow.max_prefixlen + 1))
        return frozenset().union(*(self.held.get(each, ()) for each in around))


NETWORKS: pl.Relation[Network] = pl.Relation(
    covers=supernet,
    matches=holds,
    canonical=True,
    boxes=NetworkBoxes,
    matcher=PrefixMatcher,
    write=str,
    read=ipaddress.ip_network,
)


class ByVersion:
    """IPv4 and IPv6 have nothing to do with one another."""

    def of(self, item: Network) -> int:
        return item.version

    def of_notification(self, notification: object) -> Hashable:
        return notification.version if isinstance(notification, Address) else NO_PART


BOTH_VERSIONS = replace(NETWORKS, partition=ByVersion())


# -- random tables ---------------------------------------------------------------------------------


def random_network(draw: random.Random) -> IPv4Network:
    """A network of 10.0.0.0/13: some of these cover one another."""
    address = IPv4Address("10.0.0.0") + draw.randrange(1 << 19)
    return IPv4Network((address, draw.randrange(14, 29)), strict=False)


def random_pairs(draw: random.Random, count: int = 250) -> list[tuple[Network, str]]:
    return [(random_network(draw), f"eth{draw.randrange(60)}") for _ in range(count)]


def random_address(draw: random.Random) -> IPv4Address:
    return IPv4Address("10.0.0.0") + draw.randrange(1 << 19)


def random_operations(draw: random.Random, count: int = 300) -> pl.Trace[Network]:
    """Adds, and now and then the removal of something that was added."""
    trace: pl.Trace[Network] = pl.Trace(relation=NETWORKS)
    added: list[tuple[Network, str]] = []
    for _ in range(count):
        chance = draw.random()
        if not added or chance < 0.7:
            added += random_pairs(draw, 1)
            trace.add(*added[-1])
        elif chance < 0.95:
            trace.remove(*draw.choice(added))
        elif chance < 0.98:
            trace.remove_covered(*draw.choice(added))
        else:
            trace.drop_interface(draw.choice(added)[1])
    return trace


@pytest.fixture(params=SEEDS)
def seed(request: pytest.FixtureRequest) -> int:
    print(f"seed {request.param}")  # shown with a failure
    return int(request.param)


@pytest.fixture
def draw(seed: int) -> random.Random:
    return random.Random(seed)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the calls of all matchers that are made."""
    counted: Counter[str] = Counter()
    monkeypatch.setattr(PrefixMatcher, "calls", counted)
    return counted


@pytest.fixture(params=STRUCTURES)
def structure(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(structure: str, **options: Any) -> pl.Table[Any]:
    return pl.make_table(structure, relation=NETWORKS, **options)


def build(structure: str, pairs: Iterable[tuple[Network, str]], **options: Any) -> pl.Table[Any]:
    return pl.structure_named(structure).build(pairs, relation=NETWORKS, **options)


# -- with and without an index ---------------------------------------------------------------------


def test_the_index_changes_no_answer(structure: str, draw: random.Random) -> None:
    trace = random_operations(draw)
    indexed, walked, linear = make(structure), make(structure, index=False), make("linear")
    steps = zip(*(trace.player(each) for each in (indexed, walked, linear)), strict=True)
    for step, (change, same, plain) in enumerate(steps):
        assert change == same, step
        assert (change.roots_added, change.roots_removed) == (
            plain.roots_added,
            plain.roots_removed,
        ), step
    assert len(indexed) > 100
    assert indexed == walked
    assert indexed.roots() == walked.roots() == linear.roots()
    if structure in ("fp", "nrf"):
        assert indexed.entries() == linear.entries()
    for table in (indexed, walked, linear):
        table.check()
    for _ in range(20):
        item = random_network(draw)
        assert indexed.covering(item) == walked.covering(item)
        assert indexed.covered(item) == walked.covered(item)
        assert (item in indexed) == (item in walked)
    for _ in range(20):
        address = random_address(draw)
        assert indexed.match(address) == walked.match(address) == linear.match(address)
        assert indexed.matching(address) == walked.matching(address)


def test_exact_boxes_leave_nothing_to_test(structure: str, draw: random.Random) -> None:
    pairs = random_pairs(draw, 400)
    indexed, walked = build(structure, pairs), build(structure, pairs, index=False)
    assert len(indexed) > 100
    for table in (indexed, walked):
        table.counters.reset()
    for item, interface in random_pairs(draw, 60):
        assert indexed.add(item, interface) == walked.add(item, interface)
    for item, interface in draw.sample(indexed.entries(), 30):
        assert indexed.discard(item, interface) == walked.discard(item, interface)
    item = random_network(draw)
    assert indexed.covering(item) == walked.covering(item)
    assert indexed.covered(item) == walked.covered(item)
    assert len(indexed) > 100
    assert indexed.counters.covering_tests == 0
    assert walked.counters.covering_tests > 300
    indexed.check()


def test_a_table_that_is_built_is_the_one_that_was_added_to(draw: random.Random) -> None:
    pairs = random_pairs(draw)
    built = build("fp", pairs)
    assert built.counters.covering_tests == 0
    added = make("fp")
    for item, interface in pairs:
        added.add(item, interface)
    assert len(built) > 100
    assert built == added == build("fp", pairs, index=False)
    assert built.entries() == added.entries()
    assert list(built) == list(added)
    for item, interface in random_pairs(draw, 30):
        assert built.add(item, interface) == added.add(item, interface)
    assert built == added


# -- a matcher of its own --------------------------------------------------------------------------


def test_its_own_matcher_answers(structure: str, draw: random.Random, calls: Counter[str]) -> None:
    table = build(structure, random_pairs(draw))
    plain = build(structure, table.entries(), index=False)
    addresses = [random_address(draw) for _ in range(40)]
    assert table.match_many(addresses) == plain.match_many(addresses)
    assert (calls["made"], calls["match_many"]) == (1, 1)
    assert table.counters.match_tests == 0
    assert [table.match(each) for each in addresses] == plain.match_many(addresses)
    assert (calls["made"], calls["match"]) == (1, 40)


def test_its_own_matcher_follows_every_change(
    structure: str, draw: random.Random, calls: Counter[str]
) -> None:
    table, plain = make(structure), make(structure, index=False)
    trace = random_operations(draw, 200)
    addresses = [random_address(draw) for _ in range(30)]
    player, other = trace.player(table), trace.player(plain)
    for step in range(len(trace)):
        player.forward()
        other.forward()
        if step % 20 == 0:
            assert table.match_many(addresses) == plain.match_many(addresses), step
    assert calls["made"] == 1
    assert calls["add"] > 50
    assert calls["discard"] > 10
    while player.position:
        player.back()
        other.back()
        if player.position % 20 == 0:
            assert table.match_many(addresses) == plain.match_many(addresses), player.position
    assert table.match_many(addresses) == [frozenset()] * 30
    assert calls["made"] == 1


def test_its_own_matcher_follows_what_a_listener_refuses(
    structure: str, draw: random.Random, calls: Counter[str]
) -> None:
    table = build(structure, random_pairs(draw))
    addresses = [random_address(draw) for _ in range(30)]
    before = table.match_many(addresses)

    def refuse(_change: pl.Change[Any]) -> None:
        raise RuntimeError("no")

    table.listen(refuse)
    everything = IPv4Network("0.0.0.0/0")
    held = table.entries()[0]
    for act, pair in ((table.add, (everything, "eth0")), (table.remove, held)):
        told = calls["add"] + calls["discard"]
        with pytest.raises(RuntimeError, match="no"):
            act(*pair)
        assert calls["add"] + calls["discard"] > told
        assert table.match_many(addresses) == before
    with pytest.raises(RuntimeError, match="no"):
        table.drop_interface("eth3")
    assert table.match_many(addresses) == before
    assert calls["made"] == 1


def test_without_an_index_the_table_walks(draw: random.Random, calls: Counter[str]) -> None:
    table = build("fp", random_pairs(draw), index=False)
    table.match_many([random_address(draw) for _ in range(40)])
    assert not calls
    assert table.counters.match_tests > 0


# -- text ------------------------------------------------------------------------------------------


def test_a_snapshot_needs_no_encoding(structure: str, draw: random.Random) -> None:
    table = build(structure, random_pairs(draw))
    text = table.snapshot().to_json()
    found = pl.Snapshot.from_json(text, relation=NETWORKS)
    assert found.nodes == table.snapshot().nodes
    restored = found.restore()
    assert restored == table
    assert restored.counters.covering_tests == 0
    restored.check()
    assert restored.match(IPv4Address("10.0.0.1")) == table.match(IPv4Address("10.0.0.1"))
    # The relation came with the snapshot, its boxes included.
    for item, interface in random_pairs(draw, 20):
        assert restored.add(item, interface) == table.add(item, interface)
    assert restored.counters.covering_tests == 0
    assert restored.snapshot().to_json() == table.snapshot().to_json()


def test_a_trace_is_recorded_and_replayed_into_another_structure(draw: random.Random) -> None:
    table = make("fp")
    trace, stop = pl.Trace.follow(table)
    random_operations(draw).replay(table)
    stop()
    found = pl.Trace.from_json(trace.to_json(), relation=NETWORKS)
    assert found == trace
    other = make("nrf")
    found.replay(other)
    assert len(other) > 100
    assert other.entries() == table.entries()
    assert found.to_json() == trace.to_json()


def test_bad_text_is_refused_where_it_stands() -> None:
    text = build("fp", [(IPv4Network("10.0.0.0/8"), "eth0")]).snapshot().to_json()
    with pytest.raises(pl.SnapshotError, match=r"node 0: cannot read the filter '10\.0\.0\.1/8'"):
        pl.Snapshot.from_json(text.replace("10.0.0.0/8", "10.0.0.1/8"), relation=NETWORKS)
    with pytest.raises(pl.SnapshotError, match="cannot read the filter"):
        pl.Snapshot.from_json(text)  # as filters


def test_a_relation_that_does_not_read_says_what_to_do() -> None:
    mute = replace(NETWORKS, read=None)
    table = pl.FiltersPoset.build([(IPv4Network("10.0.0.0/8"), "eth0")], relation=mute)
    text = table.snapshot().to_json()
    with pytest.raises(TypeError, match="give it read=, or give decode= here"):
        pl.Snapshot.from_json(text, relation=mute)
    found = pl.Snapshot.from_json(text, ipaddress.ip_network, relation=mute)
    assert found.restore() == table
    trace: pl.Trace[Network] = pl.Trace(relation=mute)
    trace.add(IPv4Network("10.0.0.0/8"), "eth0")
    with pytest.raises(TypeError, match="give it read="):
        pl.Trace.from_json(trace.to_json(), relation=mute)
    assert pl.Trace.from_json(trace.to_json(), ipaddress.ip_network, relation=mute) == trace


# -- as a whole ------------------------------------------------------------------------------------


def copies(table: pl.Table[Any]) -> list[pl.Table[Any]]:
    return [
        table.copy(),
        copy.copy(table),
        copy.deepcopy(table),
        pickle.loads(pickle.dumps(table)),
    ]


@pytest.mark.parametrize("index", [True, False])
def test_copies_keep_the_language_and_the_index(
    structure: str, draw: random.Random, index: bool, calls: Counter[str]
) -> None:
    table = build(structure, random_pairs(draw), index=index)
    more = random_pairs(draw, 20)
    addresses = [random_address(draw) for _ in range(30)]
    made = copies(table)
    for other in made:
        assert other == table
        assert other.counters.covering_tests == 0
    changes = [table.add(*pair) for pair in more]
    found = table.match_many(addresses)
    for other in made:
        assert [other.add(*pair) for pair in more] == changes
        assert (other.counters.covering_tests == 0) == index
        assert other.match_many(addresses) == found
        assert (other.counters.match_tests == 0) == index
        other.check()
        assert other.snapshot().to_json() == table.snapshot().to_json()
    assert calls["made"] == (len(made) + 1 if index else 0)


@pytest.mark.parametrize(
    "part",
    [
        {"covers": supernet},
        {"matches": holds},
        {"canonical": True},
        {"canonical": False},
        {"partition": ByVersion()},
    ],
)
def test_a_relation_comes_alone(structure: str, part: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="relation= comes with all its parts"):
        make(structure, **part)


# -- a language in parts ---------------------------------------------------------------------------


def wide(address: int) -> IPv6Address:
    """An address of the other version; all of these are one number when rounded to a float."""
    return IPv6Address(int(IPv6Address("2001:db8::")) | address << 4)


def wide_network(item: Network) -> IPv6Network:
    return IPv6Network((wide(int(item.network_address)), item.prefixlen + 92))


def test_a_language_in_parts(structure: str, draw: random.Random) -> None:
    pairs = [
        (wide_network(item) if draw.random() < 0.5 else item, interface)
        for item, interface in random_pairs(draw, 300)
    ]
    cls = pl.structure_named(structure)
    relations = {
        "in parts": BOTH_VERSIONS,
        "in parts, no boxes": replace(BOTH_VERSIONS, boxes=None),
        "in one": replace(NETWORKS, boxes=None),
    }
    tables = {name: cls.build(pairs, relation=each) for name, each in relations.items()}
    made = tables["in parts"]
    assert {item.version for item in made.roots()} == {4, 6}
    assert len(made) > 100
    addresses: list[Address] = [random_address(draw) for _ in range(20)]
    addresses += [wide(int(each)) for each in addresses]
    for name, table in tables.items():
        table.check()
        assert table == made, name
        assert table.match_many(addresses) == made.match_many(addresses), name
        assert [table.match_account(each).interfaces for each in addresses] == [
            made.match_account(each).interfaces for each in addresses
        ], name
    counted = {name: table.counters.covering_tests for name, table in tables.items()}
    assert counted["in parts, no boxes"] < counted["in one"]
    for item, interface in draw.sample(made.entries(), 60):
        changes = [table.remove(item, interface) for table in tables.values()]
        assert changes[0] == changes[1] == changes[2]
    made.check()


def test_what_belongs_to_no_part_is_matched_by_nothing(structure: str) -> None:
    table = pl.make_table(structure, relation=BOTH_VERSIONS)
    table.add(IPv4Network("0.0.0.0/0"), "eth0")
    table.add(IPv6Network("::/0"), "eth1")
    assert table.match(IPv4Address("1.2.3.4")) == {"eth0"}
    assert table.match(IPv6Address("::1")) == {"eth1"}
    assert table.match("1.2.3.4") == frozenset()
    assert table.counters.match_tests == 2

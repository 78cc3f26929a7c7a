"""The orders of the package, with their boxes and matchers, against a table that walks."""

from __future__ import annotations

import pickle
import random
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posetlib.orders import IP_NETWORKS, STRING_PREFIXES
from posetlib.search.boxes import Box
from posetlib.search.relation import Relation
from posetlib.tables import Snapshot, Table, make_table
from tests.tables.kinds import KINDS, index_short_lists
from tests.tables.lockstep import picture

Network = IPv4Network | IPv6Network


def _network(kind: type, bits: int, number: int, length: int) -> Network:
    kept = number >> bits - length << bits - length
    made: Network = kind((kept, length))
    return made


def networks_of(version: int) -> st.SearchStrategy[Network]:
    """Networks that often lie in one another: with bits around the borders of the words."""
    bits, kind = (32, IPv4Network) if version == 4 else (128, IPv6Network)
    edges = [0, 1, bits // 2, 51, 52, 53, 103, 104, 105, bits - 1, bits]
    lengths = st.sampled_from([each for each in edges if each <= bits]) | st.integers(0, bits)
    few = st.sets(st.sampled_from([0, 51, 52, 53, 75, 76, 77, bits - 1, bits - 2]), max_size=3)
    numbers = few.map(lambda places: sum(1 << place for place in places if place < bits))
    return st.builds(_network, st.just(kind), st.just(bits), numbers, lengths)


networks = networks_of(4) | networks_of(6)
#: NUL, which pads a chunk; 0xff bytes do not occur; characters of one to four bytes; surrogates.
letters = st.sampled_from(["a", "b", "\0", "\x7f", "é", "€", "\U0010ffff", "\ud800", "\udfff"])
prefixes = st.lists(letters, max_size=8).map("".join) | st.builds(
    lambda start, rest: "x" * start + rest,
    st.integers(4, 50),
    st.lists(letters, max_size=3).map("".join),
)
ITEMS: dict[str, tuple[Relation[Any], st.SearchStrategy[Any]]] = {
    "networks": (IP_NETWORKS, networks),
    "prefixes": (STRING_PREFIXES, prefixes),
}
orders = pytest.mark.parametrize("order", ITEMS)


def contains(outer: Box, inner: Box) -> bool:
    if not inner.shape.may_lie_in(outer.shape):
        return False
    ends = dict(zip(inner.shape.axes, zip(*[iter(inner.ends())] * 2, strict=True), strict=True))
    of_outer = zip(*[iter(outer.ends())] * 2, strict=True)
    return all(
        low <= ends[axis][0] and minus_high <= ends[axis][1]
        for axis, (low, minus_high) in zip(outer.shape.axes, of_outer, strict=True)
    )


@orders
@given(data=st.data())
def test_boxes_contain_as_items_cover(order: str, data: st.DataObject) -> None:
    relation, items = ITEMS[order]
    assert relation.boxes is not None
    reader = relation.boxes()
    some = data.draw(st.lists(items, min_size=2, max_size=6))
    for one, other in product(some, repeat=2):
        a, b = reader.read(one), reader.read(other)
        assert a is not None
        assert b is not None
        if a.shape.exact and b.shape.exact:
            assert contains(a, b) == relation.covers(one, other)
            assert (a.ends() == b.ends() and a.shape is b.shape) == (one == other)
        else:
            assert contains(a, b) or not relation.covers(one, other)


def world(order: str, rng: random.Random, count: int) -> tuple[list[Any], list[Any]]:
    """Items of which many cover one another, and notifications that some of them match."""
    if order == "prefixes":
        items = [
            "".join(rng.choice("ab\0é") for _ in range(rng.choice([0, 2, 4, 4, 6, 7, 9])))
            + "x" * rng.choice([0, 0, 0, 40, 50])
            for _ in range(count)
        ]
        return items, [item + rng.choice(["", "a", "z"]) for item in items[:20]]
    networks = []
    for _ in range(count):
        if rng.random() < 0.5:
            network = _network(
                IPv4Network,
                32,
                rng.choice([0x0A000000, 0, 2**32 - 1]) ^ rng.randrange(8) << rng.randrange(30),
                rng.randrange(33),
            )
        else:
            network = _network(
                IPv6Network,
                128,
                rng.choice([0x20010DB8 << 96, 0]) ^ rng.randrange(8) << rng.randrange(126),
                rng.randrange(129),
            )
        networks.append(network)
    return networks, [each[rng.randrange(min(each.num_addresses, 9))] for each in networks[:20]]


@orders
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("short_lists", [True, False])
def test_with_the_index_the_table_is_the_same_step_by_step(
    order: str, kind: str, short_lists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same change, same order, same shape, same matches; undone operations in between."""
    if short_lists:
        index_short_lists(monkeypatch)
    rng = random.Random(f"{order} {kind}")
    relation = ITEMS[order][0]
    cls, options = KINDS[kind]
    indexed: Table[Any] = cls(relation=relation, index=True, **options)
    walking: Table[Any] = cls(relation=relation, index=False, **options)
    items, notifications = world(order, rng, 120)
    for step in range(240):
        item, interface = rng.choice(items), f"I{rng.randrange(8)}"
        name = rng.choice(["add", "add", "add", "discard", "remove_covered"])
        if step % 7 == 0:
            _fail(indexed, name, item, interface)
        changes = [getattr(table, name)(item, interface) for table in (indexed, walking)]
        assert changes[0] == changes[1]
        if step % 12 == 0:
            assert picture(indexed) == picture(walking)
            other = rng.choice(items)
            assert indexed.covering(other) == walking.covering(other)
            assert indexed.covered(other) == walking.covered(other)
            assert indexed.match_many(notifications) == walking.match_many(notifications)
    indexed.check()
    assert len(indexed) > 10
    if "linear" not in kind:  # a list makes all tests of an add, with an index too
        assert indexed.counters.covering_tests < walking.counters.covering_tests


def _fail(table: Table[Any], name: str, item: Any, interface: str) -> None:
    """Let a listener refuse an operation, which is then undone."""

    def refuse(_change: object) -> None:
        raise OSError

    stop = table.listen(refuse)
    try:
        getattr(table, name)(item, interface)
    except OSError:
        pass
    finally:
        stop()


@pytest.mark.parametrize("kind", ["fp", "nrf", "pf"])
def test_networks_need_no_covering_test(kind: str) -> None:
    table: Table[Network] = make_table(kind, relation=IP_NETWORKS)
    rng = random.Random(3)
    for number in range(300):
        length = rng.randrange(8, 33)
        table.add(_network(IPv4Network, 32, rng.getrandbits(32), length), number)
        table.add(_network(IPv6Network, 128, rng.getrandbits(128), 4 * length), number)
    # A poset of fewer than 64 filters is walked.
    assert table.counters.covering_tests <= (64 * 64 if kind == "fp" else 0)
    table.check()


@orders
def test_a_matcher_follows_the_table(order: str) -> None:
    rng = random.Random(5)
    items, notifications = world(order, rng, 200)
    table: Table[Any] = make_table("nrf", relation=ITEMS[order][0])
    walking: Table[Any] = make_table("nrf", relation=ITEMS[order][0], index=False)
    for step, item in enumerate(items):
        for each in (table, walking):
            each.add(item, f"I{step % 9}")
            if step % 3 == 2:
                each.discard(items[step // 2], f"I{step // 2 % 9}")
        before = table.counters.match_tests
        assert table.match_many(notifications) == walking.match_many(notifications)
    assert table.counters.match_tests - before < len(notifications) * 40
    for interface in range(9):
        table.drop_interface(f"I{interface}")
    assert table.match_many(notifications) == [frozenset()] * len(notifications)


@orders
def test_tables_are_pickled_and_written(order: str) -> None:
    relation = ITEMS[order][0]
    items, _ = world(order, random.Random(1), 30)
    table: Table[Any] = make_table("fp", relation=relation)
    for number, item in enumerate(items):
        table.add(item, f"I{number % 4}")
    assert pickle.loads(pickle.dumps(table)) == table
    assert Snapshot.from_json(table.snapshot().to_json(), relation=relation).restore() == table


@pytest.mark.parametrize(
    ("relation", "item"),
    [
        (IP_NETWORKS, "10.0.0.0/8"),
        (IP_NETWORKS, IPv4Address("10.0.0.1")),
        (IP_NETWORKS, ip_network("fe80::%eth0/64")),
        (STRING_PREFIXES, b"ab"),
    ],
)
def test_what_is_no_item_is_refused(relation: Relation[Any], item: Any) -> None:
    table: Table[Any] = make_table("nrf", relation=relation)
    with pytest.raises(TypeError, match="the table holds"):
        table.add(item, "I1")
    assert len(table) == 0


def test_versions_do_not_meet() -> None:
    table: Table[Network] = make_table("fp", relation=IP_NETWORKS)
    for text in ("0.0.0.0/0", "::/0", "10.0.0.0/8", "2001:db8::/32", "2001:db8::/128"):
        table.add(ip_network(text), text)
    assert table.roots() == (ip_network("0.0.0.0/0"), ip_network("::/0"))
    assert table.match(ip_address("10.0.0.1")) == {"0.0.0.0/0", "10.0.0.0/8"}
    assert table.match(IPv6Address("2001:db8::")) == {"::/0", "2001:db8::/32", "2001:db8::/128"}

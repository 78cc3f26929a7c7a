"""The sieve of a long list: what it holds back is never comparable, and it holds back most."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from itertools import count
from random import Random

import numpy as np
import pytest

import posetlib as pl
from posetlib.graph.nodes import Node
from posetlib.search.boxes import Box
from posetlib.search.indexed import Shortlist
from posetlib.search.probe import Probe
from posetlib.search.sieve import Sieve
from posetlib.tables.filter_boxes import FilterBoxes
from tests.matching.worlds import random_filter, ranges
from tests.tables.kinds import index_short_lists


def mixed(seed: int, size: int) -> list[pl.Filter]:
    random = Random(seed)
    return [random_filter(random) for _ in range(size)]


WORLDS = {
    "uniform": lambda seed: ranges(seed, 150),
    "narrow": lambda seed: ranges(seed, 150, "narrow"),
    "every kind": lambda seed: mixed(seed, 150),
    "all at once": lambda seed: ranges(seed, 50) + mixed(seed, 100),
    "many attributes": lambda seed: [
        pl.parse_filter(f"a{i} > {i % 7} and a{i + 1 + i % 3} < 9 and b in [{i % 5}, {i % 5 + 2}]")
        for i in range(seed, seed + 90)
    ],
}


def nodes_of(filters: list[pl.Filter], reader: FilterBoxes) -> list[Node]:
    return [
        Node(each, serial, (None, False, reader.read(each))) for serial, each in enumerate(filters)
    ]


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("world", WORLDS)
def test_nothing_comparable_is_held_back(
    world: str, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes come, go and come back; what is let through is there, in order, and all that counts."""
    if small:
        index_short_lists(monkeypatch)
    reader = FilterBoxes()
    nodes = nodes_of(WORLDS[world](3), reader)
    asked: list[tuple[pl.Filter, Box]] = [
        (each, box) for each in WORLDS[world](4) if (box := reader.read(each)) is not None
    ]
    random = Random(5)
    here = set(random.sample(nodes, 20))
    sieve = Sieve(here)
    for step in range(400):
        if random.random() < (0.75 if step < 200 else 0.3) and len(here) < len(nodes):
            node = random.choice([each for each in nodes if each not in here])
            sieve.add(node)
            here.add(node)
        elif here:
            node = random.choice(sorted(here, key=lambda each: each.serial))
            sieve.remove(node)
            here.remove(node)
        assert len(sieve) == len(here)
        if step % 8:
            continue
        assert sieve.boxless == sum(node.box is None for node in here)
        item, box = random.choice(asked)
        for left, comparable in (
            (list(sieve.above(box)), {each for each in here if each.item.covers(item)}),
            (list(sieve.below(box)), {each for each in here if item.covers(each.item)}),
            (list(sieve.meeting(box)), {each for each in here if item.overlaps(each.item)}),
        ):
            assert left == sorted(left, key=lambda each: each.serial)
            assert comparable <= set(left) <= here


def one_attribute_each(seed: int, size: int) -> list[pl.Filter]:
    return [
        pl.parse_filter(f"a{(seed + i) % 25} in [{i % 40}, {i % 40 + 20}]") for i in range(size)
    ]


@pytest.mark.parametrize(
    "some",
    [
        ranges,
        lambda seed, size: ranges(seed, size, "narrow"),
        one_attribute_each,
    ],
    ids=["uniform", "narrow", "one attribute each"],
)
def test_most_is_held_back(some: Callable[[int, int], list[pl.Filter]]) -> None:
    """A sieve that lets everything through would pass the other test, and be of no use."""
    reader = FilterBoxes()
    sieve = Sieve(nodes_of(some(1, 1000), reader))
    asked = [(each, reader.read(each)) for each in some(2, 100)]
    above = below = good = meeting = overlapping = 0
    for item, box in asked:
        assert box is not None
        found = list(sieve.above(box)), list(sieve.below(box))
        met = list(sieve.meeting(box))
        meeting += len(met)
        overlapping += sum(item.overlaps(each.item) for each in met)
        above, below = above + len(found[0]), below + len(found[1])
        good += sum(each.item.covers(item) for each in found[0])
        good += sum(item.covers(each.item) for each in found[1])
    assert good <= above + below < good + 0.04 * 1000 * len(asked)
    assert overlapping <= meeting < overlapping + 0.1 * 1000 * len(asked)


def test_an_empty_sieve_fills() -> None:
    reader = FilterBoxes()
    sieve = Sieve(())
    (item,) = ranges(1, 1)
    box = reader.read(item)
    assert box is not None
    assert list(sieve.above(box)) == list(sieve.below(box)) == []
    serials = count()
    node = Node(item, next(serials), (None, True, box))
    sieve.add(node)
    assert list(sieve.above(box)) == list(sieve.below(box)) == [node]


def test_a_node_that_comes_back_is_found_on_a_line_that_is_new() -> None:
    """While it was away, another node brought an attribute, which it lacks."""
    reader = FilterBoxes()
    wide, narrow, other = (
        pl.parse_filter(text) for text in ("x in [0, 9]", "x in [2, 3] and y in [4, 5]", "y > 3")
    )
    first, second = nodes_of([wide, other], reader)
    sieve = Sieve([first])
    sieve.remove(first)
    sieve.add(second)
    sieve.add(first)
    box = reader.read(narrow)
    assert box is not None
    assert list(sieve.above(box)) == [first, second]


def test_many_nodes_take_memory_in_proportion() -> None:
    """Once each node had a number of its own, as long as there were nodes before it."""
    reader = FilterBoxes()
    nodes = nodes_of(ranges(1, 20_000, "narrow"), reader)
    tracemalloc.start()
    try:
        sieve = Sieve(nodes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(sieve) == 20_000
    assert peak < 8_000_000


@pytest.mark.parametrize("kind", ["ranges", "points"])
@pytest.mark.parametrize("order", ["ascending", "descending", "from the middle"])
def test_most_is_held_back_of_what_comes_in_order(kind: str, order: str) -> None:
    """Once all that lay beyond the first hundreds was in one cell, and was let through."""
    size = 2_000
    values = (
        sorted(range(size), key=lambda i: abs(i - size // 2)) if order[0] == "f" else range(size)
    )
    if order == "descending":
        values = values[::-1]
    width = 0.5 if kind == "ranges" else 0.0
    lows = np.array(values, dtype=float)
    filters = pl.filters_from_columns({"time": (lows, lows + width)})
    reader = FilterBoxes()
    nodes = nodes_of(filters, reader)
    sieve = Sieve(nodes[:40])
    left = 0
    for node in nodes[40:]:
        left += len(list(sieve.above(node.box))) + len(list(sieve.below(node.box)))
        sieve.add(node)
    assert left < 60 * size


def test_nodes_that_have_gone_are_let_go() -> None:
    reader = FilterBoxes()
    nodes = nodes_of(ranges(1, 500), reader)
    sieve = Sieve(nodes)
    # Other tests leave nodes behind: those of this one are known by their items.
    items = [node.item for node in nodes]
    own = set(map(id, items))
    for node in nodes[10:]:
        sieve.remove(node)
    assert len(sieve) == 10
    del nodes[10:], node
    gc.collect()
    left = [each for each in gc.get_objects() if type(each) is Node and id(each.item) in own]
    assert len(left) < 100


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("world", WORLDS)
def test_a_shortlist_finds_what_an_item_covers(
    world: str, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small:
        index_short_lists(monkeypatch)
    reader, random = FilterBoxes(), Random(6)
    nodes = nodes_of(WORLDS[world](3), reader)
    shortlist, here = Shortlist(), set()
    for step in range(300):
        node = random.choice(nodes)
        if node in here:
            shortlist.remove(node)
        else:
            shortlist.add(node)
        here ^= {node}
        assert len(shortlist) == len(here)
        assert all((each in shortlist) == (each in here) for each in nodes[:5])
        if step % 10 == 0:
            item = random.choice(nodes).item
            probe = Probe(pl.tables.FILTERS, pl.Counters(), item, (None, False, reader.read(item)))
            assert set(shortlist.below(probe)) == {n for n in here if item.covers(n.item)}

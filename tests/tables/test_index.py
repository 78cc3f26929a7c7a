"""The index under the search: the same tables, answers and changes as without one."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from random import Random
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl
from bench.shapes import SHAPES
from posetlib.constraints.strings import Strings
from posetlib.graph.nodes import Node
from posetlib.search import indexed as indexed_search
from posetlib.search.boxes import contains, tokens_allow
from posetlib.search.sieve import Sieve
from posetlib.tables import make_table
from posetlib.tables.filter_boxes import FilterBoxes
from tests.matching.worlds import VALUES, Backwards, random_filter, random_notification, ranges
from tests.tables.kinds import index_short_lists
from tests.tables.test_shapes import ALL_SHAPES, some_of

STRUCTURES = ("fp", "pf", "bf", "nrf")


@pytest.fixture(params=["objects", "indexed"])
def _threshold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """From how many nodes on there are sieves and columns: as it is, or nearly always."""
    if request.param == "indexed":
        index_short_lists(monkeypatch)


def grid_ranges(size: int = 5) -> list[pl.Filter]:
    """Boxes on a small grid: many share an end, and many cover one another."""
    sides = [(low, high) for low in range(size) for high in range(low, size)]
    lows, highs = np.array([*zip(*product(sides, repeat=2), strict=True)]).transpose(2, 0, 1)
    return pl.filters_from_columns({"x": (lows[0], highs[0]), "y": (lows[1], highs[1])})


def every_kind(seed: int, size: int = 120) -> list[pl.Filter]:
    random = Random(seed)
    return [random_filter(random) for _ in range(size)]


WORLDS = {
    "uniform": lambda seed: ranges(seed, 200),
    "narrow": lambda seed: ranges(seed, 200, "narrow"),
    "grid": lambda seed: Random(seed).sample(grid_ranges(), 150),
    "every kind": every_kind,
    "typed": lambda seed: [
        pl.parse_filter(f'type = "T{i % 3}" and {filter}' if i % 4 else str(filter))
        for i, filter in enumerate(ranges(seed, 60))
    ],
}


def random_values(random: Random) -> dict[str, Any]:
    # What compares as it likes makes nonsense of any order.
    return random_notification(random, [each for each in VALUES if type(each) is not Backwards])


def random_point(random: Random) -> dict[str, Any]:
    size = random.choice((5, 100))
    return {"x": random.uniform(0, size), "y": random.uniform(0, size), "type": "T1"}


class RefusalError(Exception):
    pass


def steps(filters: Sequence[pl.Filter], interfaces: int, seed: int, count: int) -> Iterator[Any]:
    """Operations; more comes than goes at first, and less later."""
    random = Random(seed)
    held: list[tuple[pl.Filter, str]] = []
    for i in range(count):
        interface = f"I{random.randrange(interfaces)}"
        draw = random.random()
        if draw < 0.02:
            yield "drop_interface", (interface,)
        elif draw < 0.04:
            yield "remove_covered", (random.choice(filters), interface)
        elif held and draw < (0.3 if i < count / 2 else 0.65):
            yield "discard", held.pop(random.randrange(len(held)))
        else:
            held.append((random.choice(filters), interface))
            yield "add", held[-1]


def refuse(_change: pl.Change) -> None:
    raise RefusalError


@pytest.mark.usefixtures("_threshold")
@pytest.mark.parametrize("interfaces", [1, 4, 1000])
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_index_and_walk_agree(structure: str, world: str, interfaces: int) -> None:
    """Step by step the same change, and now and then the same everything."""
    filters = WORLDS[world](5)
    indexed, walking = make_table(structure), make_table(structure, index=False)
    random = Random(7)
    notification = random_values if world == "every kind" else random_point
    for number, (name, arguments) in enumerate(steps(filters, interfaces, 3, 250)):
        if random.random() < 0.1:
            # An operation that is undone leaves the index as it was.
            stop = indexed.listen(refuse)
            with suppress(RefusalError):
                getattr(indexed, name)(*arguments)
            stop()
        change = getattr(indexed, name)(*arguments)
        assert change == getattr(walking, name)(*arguments), (number, name)
        if number % 25 == 0:
            assert indexed == walking
            assert [*indexed.entries()] == [*walking.entries()]
            for item in random.sample(filters, 10):
                assert indexed.covering(item) == walking.covering(item)
                assert indexed.covered(item) == walking.covered(item)
                assert (item in indexed) == (item in walking)
            batch = [notification(random) for _ in range(5)]
            assert indexed.match_many(batch) == walking.match_many(batch)
            assert [*map(indexed.match, batch)] == [*map(walking.match, batch)]
        if number % 60 == 0:
            indexed.check()
            indexed = random.choice((indexed, indexed.copy(), pickle.loads(pickle.dumps(indexed))))
    assert indexed.snapshot().to_json() == walking.snapshot().to_json()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_long_lists_agree(structure: str) -> None:
    """Sieves and columns as they are, long enough to be made, to grow, to have holes, and to go."""
    filters = ranges(11, 900, "narrow")
    indexed, walking = make_table(structure), make_table(structure, index=False)
    for i, filter in enumerate(filters):
        assert indexed.add(filter, i % 400) == walking.add(filter, i % 400)
    for filter in filters[:50]:
        assert indexed.covering(filter) == walking.covering(filter)
        assert indexed.covered(filter) == walking.covered(filter)
    order = Random(1).sample(range(900), 880)
    for count, i in enumerate(order):
        assert indexed.discard(filters[i], i % 400) == walking.discard(filters[i], i % 400)
        if count % 200 == 0:
            indexed.check()
    assert indexed == walking


@pytest.mark.parametrize("interfaces", [1, 3, 30, 1000])
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_bulk_loading_is_adding_in_order(structure: str, world: str, interfaces: int) -> None:
    random = Random(interfaces)
    filters = WORLDS[world](9)
    pairs = [(random.choice(filters), random.randrange(interfaces)) for _ in range(250)]
    built, added = type(make_table(structure)).build(iter(pairs)), make_table(structure)
    for filter, interface in pairs:
        added.add(filter, interface)
    built.check()
    assert built.roots() == added.roots()
    if structure in ("fp", "nrf"):
        assert built.entries() == added.entries()
    if structure == "fp":
        assert built.snapshot() == added.snapshot()
    # It is a table like any other from then on.
    for filter in filters[:20]:
        assert built.add(filter, "last") == added.add(filter, "last")
    built.check()


def test_bulk_loading_compares_no_filters() -> None:
    table = pl.FiltersPoset.build((filter, i) for i, filter in enumerate(ranges(4, 300)))
    assert len(table) == 300
    assert table.counters.covering_tests == 0


def test_bulk_loading_of_nothing_and_of_everything() -> None:
    assert len(pl.FiltersPoset.build([])) == 0
    everything = pl.parse_filter("true")
    table = pl.FiltersPoset.build([(everything, 1), (everything, 2), (everything, 1)])
    assert table.entries() == ((everything, 1), (everything, 2))
    some = pl.parse_filter("x in [0, 1]")
    assert pl.FiltersPoset.build([(some, 1), (everything, 2)]).children(everything) == (some,)
    with pytest.raises(TypeError, match="unhashable"):
        pl.FiltersPoset.build([(some, [])])
    with pytest.raises(TypeError, match="holds filters"):
        pl.FiltersPoset.build([("x", 1)])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("structure", STRUCTURES)
def test_ends_without_limit_add_up_to_no_warning(structure: str) -> None:
    random = Random(3)
    indexed, walking = make_table(structure), make_table(structure, index=False)
    for i in range(150):
        x, y = random.randrange(20), random.randrange(20)
        filter = pl.parse_filter(f"x >= {x} and y {random.choice(('>=', '<='))} {y}")
        assert indexed.add(filter, i) == walking.add(filter, i)
    assert indexed == walking


def test_exact_boxes_ask_no_filter() -> None:
    for structure in STRUCTURES:
        table = make_table(structure)
        for i, filter in enumerate(ranges(2, 300)):
            table.add(filter, i)
        if structure != "fp":
            assert table.counters.covering_tests == 0
        table.counters.reset()
        table.covering(ranges(3, 1)[0])
        assert table.counters.covering_tests == 0


def test_without_an_index_every_comparison_counts() -> None:
    table = pl.PosetForest(index=False)
    filters = ranges(2, 50)
    for i, filter in enumerate(filters):
        table.add(filter, i)
    assert table.counters.covering_tests > 0
    assert table.copy()._uses_index is False
    assert pickle.loads(pickle.dumps(table))._uses_index is False


def is_denied(reader: FilterBoxes, one: pl.Filter, other: pl.Filter) -> bool:
    """Whether anything that the index looks at says that one filter does not cover another one."""
    outer, inner = reader.read(one), reader.read(other)
    if outer is None or inner is None:
        return False
    above, below = (
        Node(each, 0, (None, False, box)) for each, box in ((one, outer), (other, inner))
    )
    return (
        not inner.shape.may_lie_in(outer.shape)
        or not tokens_allow(outer, inner)
        or (outer.shape.decides and inner.shape.decides and not contains(outer, inner))
        or not list(Sieve([above]).above(inner))
        or not list(Sieve([below]).below(outer))
    )


class TestBoxes:
    """A box never says that a filter does not cover what it covers."""

    def test_what_is_denied_is_not_covered(self) -> None:
        random = Random(4)
        filters = [*every_kind(4, 130), *Random(2).sample(grid_ranges(), 20)]
        random.shuffle(filters)
        reader = FilterBoxes()
        seen = {True: 0, False: 0}
        for one, other in product(filters, repeat=2):
            denied = is_denied(reader, one, other)
            covers = one.covers(other)
            assert not (denied and covers), (str(one), str(other))
            outer, inner = reader.read(one), reader.read(other)
            if outer is not None and inner is not None:
                if outer.shape.decides and inner.shape.decides:
                    assert contains(outer, inner) == covers, (str(one), str(other))
                seen[denied] += 1
        assert min(seen.values()) > 500

    @settings(max_examples=400, deadline=None)
    @given(st.data())
    def test_no_pair_of_kinds_is_denied_a_covering(self, data: st.DataObject) -> None:
        shapes = list(ALL_SHAPES)
        one, other = (
            data.draw(st.sampled_from(some_of(data.draw(st.sampled_from(shapes))))) for _ in "ab"
        )
        assert not (one.covers(other) and is_denied(FilterBoxes(), one, other))

    @pytest.mark.parametrize("hard", [shape for shape in ALL_SHAPES if shape not in SHAPES])
    def test_no_hard_pair_is_denied_a_covering(self, hard: str) -> None:
        """Every two of the filters that are hard to tell from each other."""
        reader = FilterBoxes()
        covered = 0
        for one, other in product(some_of(hard), repeat=2):
            if one.covers(other):
                covered += one != other
                assert not is_denied(reader, one, other), (str(one), str(other))
        assert covered

    @pytest.mark.parametrize(
        ("text", "exact"),
        [
            ("x in [1, 2]", True),
            ("x in [1, 2] and y <= 0.1", True),
            ("x = 9007199254740992", True),
            ("x = 9007199254740993", False),
            ("x in [0, 18014398509481985]", False),
            ("x > 1", True),
            ("x in (1, 2)", True),
            ("x > 18014398509481985", False),
            ("x in {1, 3}", False),
            ("x != 1", False),
            ('s prefix "a"', True),
            ('s = "abcdef"', True),
            ('s = "abcdefg"', False),
            ('s > "ab" and x > 3', True),
            ('s = "a\\u0000"', False),
            ('s suffix "a" and x > 3', False),
            ("exists x and y > 2", True),
            ("x < $y", False),
            ("x >= 1", True),
            ("x >= 1.7976931348623157e308", False),
            ("b = true", True),
            ("true", True),
        ],
    )
    def test_what_is_exact(self, text: str, exact: bool | None) -> None:
        box = FilterBoxes().read(pl.parse_filter(text))
        assert (None if box is None else box.shape.exact) is exact

    def test_no_precision_is_lost_to_float64(self) -> None:
        """2**53 + 1 is not 2**53, and no sweep may take one for the other."""
        big = 2**53
        table = pl.NonRedundantForest()
        filters = [
            pl.parse_filter(f"x in [{big + low}, {big + high}]")
            for low in range(14)
            for high in range(low, 14)
        ]
        walking = pl.NonRedundantForest(index=False)
        for i, filter in enumerate(filters):
            assert table.add(filter, i) == walking.add(filter, i)
        for filter in filters:
            assert table.covering(filter) == walking.covering(filter)
        assert table.match_many([{"x": big + 1}]) == walking.match_many([{"x": big + 1}])

    @pytest.mark.parametrize(
        ("text", "decides"),
        [
            ('s = "abcdefg"', True),
            ('s > "abcdefg" and x in (1, 2)', True),
            ('s in {"abcdefg", "b"}', False),
            ('s contains "a"', False),
            ("x:int > 3", False),
            ("x = 9007199254740993", False),
        ],
    )
    def test_what_is_decided_by_keys(self, text: str, decides: bool) -> None:
        box = FilterBoxes().read(pl.parse_filter(text))
        assert box is not None
        assert box.shape.decides is decides

    def test_others_have_no_box(self) -> None:
        class Wider(pl.Filter):
            def covers(self, other: pl.Filter) -> bool:
                return True

        reader = FilterBoxes()
        assert reader.read("x") is None
        assert reader.read(Wider({})) is None
        merger = pl.merge(pl.parse_filter("x in [1, 2]"), pl.parse_filter("x in [2, 3]"))
        read, plain = reader.read(merger), reader.read(pl.parse_filter("x in [1, 3]"))
        assert read is not None
        assert plain is not None
        assert read.ends() == plain.ends()
        assert read.shape is plain.shape


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_thousand_attributes_take_little_memory(structure: str) -> None:
    """Once the columns of a build, and a memory of comparisons, grew with filters × attributes."""
    filters = [pl.parse_filter(f"a{i} in [0, 9] and b{i % 7} in [0, 3]") for i in range(800)]
    pairs = [(filter, i % 5) for i, filter in enumerate(filters)]
    # What is made once for all tables is not counted.
    type(make_table(structure)).build(pairs)
    tracemalloc.start()
    try:
        table = type(make_table(structure)).build(pairs)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000
    assert table == type(table).build(pairs, index=False)


@pytest.mark.parametrize("text", ["x in [{}, 1000]", "x > {}"], ids=["columns", "sieve"])
def test_two_that_ask_first_make_one_index(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once two readers could register one index twice, and a filter that had gone was found."""
    table = pl.PosetForest()
    filters = [pl.parse_filter(text.format(i)) for i in range(100)]
    for number, filter in enumerate(filters):
        table.add(filter, number)
    asked = pl.parse_filter(text.format(99.5))
    meeting = Barrier(2, timeout=0.2)

    def met(nodes: Any, made: Any) -> Any:
        # The second one waits until the first one has made it, and then finds it.
        with suppress(BrokenBarrierError):
            meeting.wait()
        return made(nodes)

    for name in ("Sieve", "BoxMatrix"):
        made = getattr(indexed_search, name)
        monkeypatch.setattr(indexed_search, name, lambda nodes, made=made: met(nodes, made))
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(table.covering, [asked, asked]))
    monkeypatch.undo()
    assert answers == [tuple(filters)] * 2
    assert len(table._links._on_entered) == len(table._links._on_left) == 1
    table.remove(filters[0], 0)
    assert table.covering(asked) == tuple(filters[1:])


def test_a_type_and_the_same_with_a_nul() -> None:
    """Neighbours among strings are one piece of a set, and are two values all the same."""
    types = pl.TypeHierarchy({"a": ["top"], "a\0": ["top"]})
    above = pl.parse_filter("u isa top", types=types)
    below = pl.Filter({"u": Strings.points(["a", "a\0"])})
    assert above.covers(below)
    for index in (True, False):
        table = pl.PosetForest(index=index)
        table.add(below, 1)
        table.add(above, 2)
        assert table.roots() == (above,)


@pytest.mark.parametrize("attributes", ["x", "xy"])
@pytest.mark.parametrize("structure", ["fp", "nrf"])
def test_open_and_closed_ends_on_one_attribute(
    structure: str, attributes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A matrix that had rows for inner ends took a closed box for one that has all its rows."""
    index_short_lists(monkeypatch)
    random = Random(3)
    texts = ["{} > {}", "{} >= {}", "{} < {}", "{} in [{}, 5]", "{} in ({}, 5)", "{} in ({}, 5]"]
    table, walking = make_table(structure), make_table(structure, index=False)
    held = []
    for step in range(300):
        if held and random.random() < 0.3:
            pair = held.pop(random.randrange(len(held)))
            assert table.discard(*pair) == walking.discard(*pair)
        else:
            item = pl.parse_filter(
                " and ".join(
                    random.choice(texts).format(name, random.randint(0, 4)) for name in attributes
                )
            )
            held.append((item, random.randint(0, 4)))
            assert table.add(*held[-1]) == walking.add(*held[-1]), step
        assert table == walking, step
        asked = pl.parse_filter(random.choice(texts).format("x", random.randint(0, 4)))
        assert table.covering(asked) == walking.covering(asked)
        assert table.covered(asked) == walking.covered(asked)


def test_columns_that_grew_lie_row_by_row() -> None:
    """A sweep goes along rows: column by column, it took fifteen times as long."""
    table = pl.FiltersPoset()
    filters = [pl.parse_filter(f"id = {i} and x in [{i}, {i + 5}]") for i in range(400)]
    for number, filter in enumerate(filters):
        table.add(filter, number)
    matrix = table._search._matrix  # type: ignore[union-attr]
    assert matrix is not None
    assert matrix._ends.flags.c_contiguous
    for number, filter in enumerate(filters):
        table.remove(filter, number)
    assert matrix._ends.flags.c_contiguous
    for number, filter in enumerate(filters):
        table.add(filter, number)
    assert table.covering(filters[7]) == ()
    assert table._search._matrix._ends.flags.c_contiguous  # type: ignore[union-attr]


def test_columns_of_many_boxes_are_those_of_each() -> None:
    """The boxes of a long table are read in blocks, those of a third attribute too."""
    random = Random(3)
    texts = " and ".join(f"{name} in [{{}}, {{}}]" for name in "xyz")
    filters = [
        pl.parse_filter(texts.format(*(end for _ in "xyz" for end in (low, low + width))))
        for low, width in sorted(
            {(random.randrange(900), random.randrange(1, 60)) for _ in range(1_300)}
        )
    ]
    made = pl.PosetForest.build([(filter, number) for number, filter in enumerate(filters)])
    table = made.copy()
    for filter in random.sample(filters, 60):
        above = tuple(each for each in table if each != filter and each.covers(filter))
        below = tuple(each for each in table if each != filter and filter.covers(each))
        assert table.covering(filter) == above
        assert table.covered(filter) == below
    assert table._search._matrix is not None  # type: ignore[union-attr]

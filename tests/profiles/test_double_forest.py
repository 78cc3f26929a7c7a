"""DoubleForest against the set-based computation, with and without each optimisation."""

from __future__ import annotations

import copy
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posetlib as pl
from posetlib.filters import Filter, parse_filter
from posetlib.profiles import double_forest, sides
from posetlib.profiles.mapping_data import read_mapping_data
from posetlib.search import indexed
from posetlib.search.relation import Relation
from posetlib.tables import FILTERS
from tests.profiles.worlds import LETTERS, MIXED, RANGES, WORLDS, SetBased, World, holds_for

BOUNDS = [
    {"lower": lower, "upper": upper, "results": False}
    for lower, upper in product((False, True), (False, True))
] + [
    {"lower": True, "upper": True, "results": True},
    {"lower": False, "upper": False, "results": True},
]
SEMANTICS = ("cover", "overlap")


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sweeps, sieves and walks take turns on small forests."""
    monkeypatch.setattr(indexed, "_FEW", 4)
    monkeypatch.setattr(indexed, "_LONG", 3)
    monkeypatch.setattr(indexed, "_SHORT", 2)
    monkeypatch.setattr(double_forest, "_FEW", 2)
    monkeypatch.setattr(sides, "_MANY", 4)
    monkeypatch.setattr(sides, "_ROOM", 2)


def agree(d: pl.DoubleForest[Any], model: SetBased) -> None:
    assert set(d.profiles()) == set(model.profiles)
    assert set(d.queries()) == set(model.queries)
    for profile, ids in model.profiles.items():
        assert d.queries_of(profile) == model.queries_of(profile)
        assert d.profile_ids(profile) == ids
    for query, ids in model.queries.items():
        assert d.profiles_of(query) == model.profiles_of(query)
        assert d.query_ids(query) == ids


def drive(
    world: World, semantics: str, options: dict[str, bool], preloaded: float, seed: int, steps: int
) -> None:
    """Random adds and removals, compared with the set-based computation after every step."""
    rng = random.Random(f"{world.name}-{semantics}-{preloaded}-{seed}")
    items = rng.sample(list(world.items), min(len(world.items), 24))
    profiles, queries = items[::2], items[1::2] + items[:4]
    d: pl.DoubleForest[Any] = pl.DoubleForest(semantics, **options, **world.options)
    d.preload(
        rng.sample(profiles, round(len(profiles) * preloaded)),
        rng.sample(queries, round(len(queries) * preloaded)),
    )
    model = SetBased(holds_for(world, semantics))
    sides = (
        (profiles, model.profiles, model.queries_of, d.add_profile, d.remove_profile),
        (queries, model.queries, model.profiles_of, d.add_query, d.remove_query),
    )
    d.counters.reset()
    for step in range(steps):
        some, kept, matched, add, remove = rng.choice(sides)
        item, name = rng.choice(some), rng.choice("ij")
        adding = rng.random() < 0.6
        if adding:
            kept.setdefault(item, set()).add(name)
            assert add(item, name) == matched(item), f"step {step}"
        elif name in kept.get(item, ()):
            assert remove(item, name) == matched(item), f"step {step}"
            kept[item].remove(name)
            if not kept[item]:
                del kept[item]
        else:
            with pytest.raises(pl.UnknownEntryError):
                remove(item, name)
        agree(d, model)
        if step % 10 == 9:
            d.check()
    if preloaded == 1:
        assert d.counters.covering_tests == 0
    for item in items:
        assert d.find_queries(item) == model.queries_of(item)
        assert d.find_profiles(item) == model.profiles_of(item)


def no_twins(world: World) -> World:
    """Leave out items that are equivalent to another one: the first of them stands for all."""
    kept: list[Any] = []
    for item in world.items:
        if not any(world.covers(item, each) and world.covers(each, item) for each in kept):
            kept.append(item)
    return World(world.name, kept, world.covers, world.overlaps, world.options)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("preloaded", [0, 0.5, 1])
@pytest.mark.parametrize("options", BOUNDS, ids=lambda o: "-".join(k for k, v in o.items() if v))
@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize(
    "world", [no_twins(world) for world in WORLDS], ids=lambda world: world.name
)
def test_it_equals_the_set_based_computation(
    world: World, semantics: str, options: dict[str, bool], preloaded: float
) -> None:
    for seed in range(2):
        drive(world, semantics, options, preloaded, seed, 30)


@pytest.mark.slow
@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize(
    "world", [no_twins(world) for world in WORLDS], ids=lambda world: world.name
)
def test_it_equals_the_set_based_computation_for_long(world: World, semantics: str) -> None:
    for seed, options, preloaded in product(range(10), BOUNDS, (0, 0.5, 1)):
        drive(world, semantics, options, preloaded, 100 + seed, 120)


ranges = st.tuples(st.integers(0, 8), st.integers(1, 6), st.integers(0, 8), st.integers(1, 6)).map(
    lambda r: parse_filter(f"x in [{r[0]}, {r[0] + r[1]}] and y in [{r[2]}, {r[2] + r[3]}]")
)


@settings(max_examples=60)
@given(
    steps=st.lists(st.tuples(st.booleans(), ranges), max_size=30),
    semantics=st.sampled_from(SEMANTICS),
)
def test_bounds_never_take_more_tests(steps: list[tuple[bool, Filter]], semantics: str) -> None:
    off = {"lower": False, "upper": False, "results": False, "index": False}
    plain = pl.DoubleForest(semantics, **off)
    all_ways = [
        pl.DoubleForest(semantics, **{**off, **dict.fromkeys(ways, True)})
        for ways in (["lower"], ["upper"], ["results"], ["lower", "upper"], list(off)[:3])
    ]
    for is_profile, item in steps:
        for d in (plain, *all_ways):
            (d.add_profile if is_profile else d.add_query)(item, "i")
        for d in all_ways:
            assert d.counters.covering_tests <= plain.counters.covering_tests


def test_the_intersection_of_the_childrens_results_bounds_a_profile() -> None:
    """The union in the thesis' Table 6.1 would leave two queries to be tested; both are out."""
    d = pl.DoubleForest(index=False, results=False)
    low, high = parse_filter("x in [0, 1]"), parse_filter("x in [8, 9]")
    d.add_profile(low, "p")
    d.add_profile(high, "p")
    d.add_query(parse_filter("x in [0, 5]"), "q")
    d.add_query(parse_filter("x in [5, 9]"), "q")
    before = d.counters.covering_tests
    assert d.add_profile(parse_filter("x in [0, 9]"), "p") == frozenset()
    # Two tests whether a root covers it, two whether it covers a root; no query is tested.
    assert d.counters.covering_tests - before == 4


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_what_was_preloaded_is_not_seen_until_it_is_added(semantics: str) -> None:
    wide, narrow = parse_filter("x in [0, 9]"), parse_filter("x in [2, 3]")
    d = pl.DoubleForest(semantics, index=False)
    d.preload(profiles=[narrow], queries=[wide])
    d.counters.reset()
    assert d.profiles() == d.queries() == ()
    with pytest.raises(pl.UnknownEntryError, match="nobody has the query"):
        d.profiles_of(wide)
    with pytest.raises(pl.UnknownEntryError):
        d.remove_profile(narrow, "p")
    assert d.add_query(wide, "q") == frozenset()
    assert d.add_profile(narrow, "p") == {wide}
    assert d.remove_query(wide, "q") == {narrow}
    assert d.queries_of(narrow) == frozenset()
    assert d.counters.covering_tests == 0
    d.unload(profiles=[narrow], queries=[wide])
    assert len(d.to_dict()["queries"]["nodes"]) == 0
    assert d.profiles() == (narrow,)
    d.check()


def test_equivalent_filters_share_a_node() -> None:
    relation = Relation(covers=lambda one, other: one.lower() in other.lower())
    d: pl.DoubleForest[str] = pl.DoubleForest(relation=relation)
    assert d.add_query("a", "q") == frozenset()
    assert d.add_profile("ab", "p") == {"a"}
    assert d.add_query("A", "r") == {"ab"}
    assert d.queries_of("AB") == {"a"}
    d.remove_query("A", "q")
    assert d.queries_of("ab") == {"a"}
    d.remove_query("a", "r")
    assert d.queries_of("ab") == frozenset()
    d.check()


@pytest.mark.parametrize("fails_at", range(12))
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_an_add_that_raises_leaves_all_as_it_was(semantics: str, fails_at: int) -> None:
    left = [10**9]

    def counted(answer: bool) -> bool:
        left[0] -= 1
        if left[0] < 0:
            raise ZeroDivisionError
        return answer

    d: pl.DoubleForest[frozenset[str]] = pl.DoubleForest(
        semantics,
        relation=Relation(covers=lambda a, b: counted(a >= b)),
        overlaps=lambda a, b: counted(bool(a & b)),
    )
    for letters in ("abcd", "ab", "cd"):
        d.add_query(frozenset(letters), "q")
        d.add_profile(frozenset(letters[:2]), "p")
    before = d.to_dict()
    left[0] = fails_at
    try:
        d.add_profile(frozenset("abc"), "p")
    except ZeroDivisionError:
        assert d.to_dict() == before
    left[0] = 10**9
    d.check()
    with pytest.raises(TypeError):
        d.add_query(frozenset("a"), [])  # type: ignore[arg-type]
    d.check()


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match='"cover" or "overlap", not \'touch\''):
        pl.DoubleForest("touch")
    with pytest.raises(TypeError, match="overlaps="):
        pl.DoubleForest("overlap", relation=LETTERS)


class TestTheCheck:
    def damaged(self, semantics: str = "cover") -> pl.DoubleForest[Filter]:
        d = pl.DoubleForest(semantics)
        for low in (0, 2, 4):
            d.add_query(parse_filter(f"x in [{low}, 9]"), "q")
            d.add_profile(parse_filter(f"x in [{low + 1}, {low + 2}]"), "p")
        d.check()
        return d

    @pytest.mark.parametrize("semantics", SEMANTICS)
    @pytest.mark.parametrize("side", ["_profiles", "_queries"])
    def test_it_finds_a_match_that_was_lost(self, semantics: str, side: str) -> None:
        d = self.damaged(semantics)
        member = next(iter(getattr(d, side).members.values()))
        member.numbers().pop()
        with pytest.raises(pl.InvariantError) as raised:
            d.check()
        assert raised.value.invariant == "double-forest-agrees"
        assert len(raised.value.witness) == 2  # type: ignore[arg-type]

    def test_it_finds_a_match_that_is_none(self) -> None:
        d = self.damaged()
        profile = next(iter(d._profiles.members.values()))
        profile.numbers().update(each.number for each in d._queries.members.values())
        with pytest.raises(pl.InvariantError, match="does not match"):
            d.check()

    def test_it_finds_a_match_with_what_is_gone(self) -> None:
        d = self.damaged()
        gone = d._queries.find(parse_filter("x in [0, 9]"))
        assert gone is not None
        d.remove_query(parse_filter("x in [0, 9]"), "q")
        d._queries._objects[gone.number] = gone
        next(iter(d._profiles.members.values())).numbers().add(gone.number)
        with pytest.raises(pl.InvariantError, match="what is not there"):
            d.check()


def test_the_plain_data_has_both_forests_and_the_mapping() -> None:
    d = pl.DoubleForest()
    d.add_query(parse_filter("x in [0, 9]"), "amy")
    d.add_query(parse_filter("x in [0, 5]"), 7)
    d.add_profile(parse_filter("x in [1, 2]"), "photo")
    d.preload(profiles=[parse_filter("x in [6, 7]")])
    data = d.to_dict()
    assert data["semantics"] == "cover"
    assert data["queries"]["edges"] == [[0, 1]]
    assert [node["ids"] for node in data["queries"]["nodes"]] == [["amy"], ["7"]]
    assert [node["preloaded"] for node in data["profiles"]["nodes"]] == [False, True]
    assert data["queries_of"] == data["profiles_of"] == [[0, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda d: d.update(format="x"), "the format is 'x'"),
        (lambda d: d.update(version=2), "the version is 2"),
        (lambda d: d.update(semantics="touch"), "'touch'"),
        (lambda d: d["queries"].pop("nodes"), '"queries" has a list of nodes'),
        (lambda d: d["queries"]["nodes"].append({"id": 0}), "an id of its own"),
        (lambda d: d["queries"]["nodes"][0].pop("filter"), "node 0 has no filter"),
        (lambda d: d["queries"]["nodes"][0].update(filter="x >"), "node 0 has no filter: line 1"),
        (lambda d: d["queries_of"].append([0, 7]), r"this is none: \[0, 7\]"),
        (lambda d: d.pop("profiles_of"), '"profiles_of" is a list'),
    ],
)
def test_data_that_is_spoilt_is_refused(spoil: Any, words: str) -> None:
    d = pl.DoubleForest()
    d.add_query(parse_filter("x in [0, 9]"), "amy")
    d.add_profile(parse_filter("x in [1, 2]"), "photo")
    data = d.to_dict()
    read_mapping_data(data)
    spoil(data)
    with pytest.raises(pl.SnapshotError, match=words):
        read_mapping_data(data)


def test_the_plain_data_says_the_types_of_its_filters() -> None:
    types = pl.TypeHierarchy({"Photo": [], "Portrait": ["Photo"]})
    d = pl.DoubleForest()
    d.add_query(parse_filter("type isa Photo", types=types), "amy")
    d.add_profile(parse_filter("type isa Portrait", types=types), "photo")
    data = d.to_dict()
    assert list(read_mapping_data(data).faults()) == []
    data["queries_of"] = []
    assert [fault.mapping for fault in read_mapping_data(data).faults()] == ["queries_of"]


def test_boxes_of_two_domains_do_not_tell_that_filters_overlap() -> None:
    d = pl.DoubleForest("overlap")
    d.add_query(parse_filter("x in [1, 5]"), "q")
    assert d.add_profile(parse_filter('x in ["a", "c"]'), "p") == frozenset()
    d.check()


def test_an_overlap_of_the_callers_own_is_asked_and_not_the_boxes() -> None:
    def near(one: Filter, other: Filter) -> bool:
        a, b = one.constraints["x"], other.constraints["x"]
        return bool(a.low <= b.high + 10 and b.low <= a.high + 10)

    d = pl.DoubleForest("overlap", relation=FILTERS, overlaps=near)
    for low in range(0, 400, 4):
        d.add_query(parse_filter(f"x in [{low}, {low + 1}]"), "q")
    found = d.add_profile(parse_filter("x in [200, 201]"), "p")
    assert {each.constraints["x"].low for each in found} == {192, 196, 200, 204, 208}
    d.check()


def test_many_boxes_at_once_tell_what_overlaps() -> None:
    """A forest that is large enough to be swept, with ranges that touch, and removals."""
    rng = random.Random(2)
    d, walked = pl.DoubleForest("overlap"), pl.DoubleForest("overlap", index=False)

    def drawn() -> Filter:
        ends = [sorted(rng.sample(range(12), 2)) for _ in "xy"]
        return parse_filter("x in [{}, {}] and y in [{}, {}]".format(*ends[0], *ends[1]))

    items = [drawn() for _ in range(160)]
    for each in (d, walked):
        for item in items:
            each.add_query(item, "q")
        for item in set(items[::5]):
            each.remove_query(item, "q")
    for item in [drawn() for _ in range(40)]:
        assert d.add_profile(item, "p") == walked.add_profile(item, "p")
    assert d.counters.covering_tests < walked.counters.covering_tests / 10
    d.check()
    # With an open end, or a string, boxes do not tell any more, and filters are asked.
    for text in ("x in (0, 5) and y in [0, 9]", 'x = "a"', "x in [2, 3]", "z in [2, 3]"):
        item = parse_filter(text)
        assert d.find_queries(item) == walked.find_queries(item)
        assert d.add_query(item, "q") == walked.add_query(item, "q")
        assert d.add_profile(item, "p") == walked.add_profile(item, "p")
    d.check()


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_ranges_alone_are_swept_and_placed_when_somebody_asks(semantics: str) -> None:
    """Ranges of one shape need no forest; a filter of another kind does, and so does a reader."""
    rng = random.Random(7)
    d, walked = pl.DoubleForest(semantics), pl.DoubleForest(semantics, index=False)

    def drawn() -> Filter:
        ends = [sorted(rng.sample(range(30), 2)) for _ in "xy"]
        return parse_filter("x in [{}, {}] and y in [{}, {}]".format(*ends[0], *ends[1]))

    def both(name: str, item: Filter) -> None:
        assert getattr(d, name)(item, "i") == getattr(walked, name)(item, "i")

    for round_ in range(3):
        items = list(dict.fromkeys(drawn() for _ in range(300)))
        for item in items:
            both(rng.choice(["add_profile", "add_query"]), item)
        assert not d._profiles.forest
        assert not d._queries.forest
        assert d.counters.covering_tests == 0
        # Nearly all go, so that numbers are given anew; some before they had a place.
        for kind in ("profile", "query"):
            here = d.profiles() if kind == "profile" else d.queries()
            for item in here[:-4]:
                both(f"remove_{kind}", item)
            for item in items[:9]:
                both("add_profile" if kind == "query" else "add_query", item)
        d.check()
        assert len(d._profiles.forest) == len(d.profiles())
        both("add_profile", parse_filter(f"x > {round_}"))
        both("add_query", parse_filter(f"x > {round_ - 1}"))
        assert d._profiles.shape is None
        for item in items[:20]:
            both("add_query", item)
            both("add_profile", item)
        d.check()
        for item in d.profiles():
            both("remove_profile", item)
        for item in d.queries():
            both("remove_query", item)
        assert len(d) == 0
        assert d.to_dict() == walked.to_dict()
        d.counters.reset()


def test_threads_may_read_what_adds_have_put_off() -> None:
    d = pl.DoubleForest("overlap")
    items = [parse_filter(f"x in [{low}, {low + 9}]") for low in range(300)]
    for item in items:
        d.add_profile(item, "p")
        d.add_query(item, "q")
    with ThreadPoolExecutor(8) as pool:
        sizes = list(pool.map(lambda item: len(d.queries_of(item)), items * 3))
        parts = list(pool.map(lambda _: len(d.to_dict()["queries"]["nodes"]), range(4)))
    assert sizes == [len([j for j in range(300) if abs(i - j) <= 9]) for i in range(300)] * 3
    assert parts == [300] * 4
    d.check()


def test_an_identifier_that_cannot_be_hashed_changes_nothing() -> None:
    d = pl.DoubleForest()
    for text in ("x in [0, 9]", "x > 3"):
        with pytest.raises(TypeError):
            d.add_query(parse_filter(text), [])  # type: ignore[arg-type]
        assert len(d) == 0
        d.check()
    d.add_query(parse_filter("x in [0, 9]"), "q")
    with pytest.raises(TypeError):
        d.add_query(parse_filter("x in [0, 9]"), [])  # type: ignore[arg-type]
    d.check()


@pytest.mark.parametrize(
    "again", [pl.DoubleForest.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))]
)
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_a_copy_goes_on_by_itself(semantics: str, again: Any) -> None:
    rng = random.Random(4)
    items = [parse_filter(text) for text in (*RANGES, *MIXED)]
    d = pl.DoubleForest(semantics, upper=False)
    d.preload(profiles=items[:6])
    for item in rng.sample(items, 40):
        d.add_profile(item, "p")
        d.add_query(rng.choice(items), "q")
    other = again(d)
    assert other.to_dict() == d.to_dict()
    assert other.counters.covering_tests == 0
    before = d.to_dict()
    for item in rng.sample(items, 20):
        other.add_query(item, "r")
    for item in other.queries()[::3]:
        other.remove_query(item, next(iter(other.query_ids(item))))
    other.check()
    assert d.to_dict() == before
    d.check()

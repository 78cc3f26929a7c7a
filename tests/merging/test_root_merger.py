"""Root sets that are merged while their table changes, against enumeration and against covering."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import posetlib as pl
from posetlib.merging.merged_set import MergedSet

from .worlds import DOMAINS, NOTIFICATIONS, RANGES, filters, matched

#: Options of mergers that follow the same table side by side.
MERGERS: dict[str, dict[str, Any]] = {
    "perfect": {},
    "first": {"choice": "first"},
    "subsumed": {"subsume": True},
    "imperfect": {"perfect": False},
    "bounded": {"perfect": False, "domains": DOMAINS, "max_loss": 0.3},
    "ranges": {"perfect": False, "domains": RANGES, "max_loss": 0.3},
    "lazy": {"lazy": 3},
    "lazy-subsumed": {"lazy": 2, "subsume": True},
}
INTERFACES = st.sampled_from(["I1", "I2", "I3"])


def share_lost(sent: pl.Filter, components: frozenset[pl.Filter]) -> float:
    """The share of a merger's notifications, with values for its attributes only, nobody wants."""
    own = [each for each in NOTIFICATIONS if set(each) == set(sent.attributes)]
    inside = [each for each in own if sent.matches(each)]
    wanted = [each for each in inside if any(one.matches(each) for one in components)]
    return 1 - len(wanted) / len(inside)


class Following(RuleBasedStateMachine):
    """A table, and mergers of every sort that follow it."""

    @initialize(structure=st.sampled_from(["nrf", "fp", "pf", "bf"]), early=st.booleans())
    def make(self, structure: str, early: bool) -> None:
        self.table = pl.make_table(structure)
        self.mergers: dict[str, pl.RootMerger] = {}
        self.mirrors: dict[str, set[pl.Filter]] = {}
        if early:
            self.follow()

    def follow(self) -> None:
        for name, options in MERGERS.items():
            merger = self.mergers[name] = pl.RootMerger(self.table, **options)
            mirror = self.mirrors[name] = set(merger.merged())

            def listener(
                added: list[pl.Filter], gone: list[pl.Filter], mirror: set[pl.Filter] = mirror
            ) -> None:
                assert mirror.isdisjoint(added)
                assert mirror.issuperset(gone)
                mirror.difference_update(gone)
                mirror.update(added)

            merger.listen(listener)

    @rule(item=filters(), interface=INTERFACES)
    def add(self, item: pl.Filter, interface: str) -> None:
        self.table.add(item, interface)

    @rule(some=st.lists(filters(("x", "y")), min_size=2, max_size=6), interface=INTERFACES)
    def add_many(self, some: list[pl.Filter], interface: str) -> None:
        for item in some:
            self.table.add(item, interface)

    @rule()
    def follow_late(self) -> None:
        if not self.mergers:
            self.follow()

    @rule(number=st.integers(0, 1000))
    def remove(self, number: int) -> None:
        entries = self.table.entries()
        if entries:
            self.table.remove(*entries[number % len(entries)])

    @rule(number=st.integers(0, 1000))
    def remove_root(self, number: int) -> None:
        roots = self.table.roots()
        if roots:
            root = roots[number % len(roots)]
            for interface in self.table.interfaces(root):
                self.table.remove(root, interface)

    @rule(interface=INTERFACES)
    def drop(self, interface: str) -> None:
        self.table.drop_interface(interface)

    @rule(number=st.integers(0, len(NOTIFICATIONS) - 1))
    def note(self, number: int) -> None:
        each = NOTIFICATIONS[number]
        wanted = any(root.matches(each) for root in self.table.roots())
        for merger in self.mergers.values():
            sent = any(one.matches(each) for one in merger.merged())
            assert merger.note(each) is (sent and not wanted)

    @invariant()
    def merged_sets_stand_for_the_roots(self) -> None:
        if not getattr(self, "mergers", None):
            return
        roots = self.table.roots()
        wanted = matched(roots)
        for name, merger in self.mergers.items():
            merger.check()
            sent = merger.merged()
            assert self.mirrors[name] == set(sent), name
            found = matched(sent)
            assert found | wanted == found, name
            if name in ("perfect", "first", "subsumed"):
                assert found == wanted, name
            if "subsumed" not in name:
                assert pl.set_covers(sent, roots)
                assert pl.set_covers(sent, self.table), "all that is subscribed is covered"
            self.check_components(name, merger, sent, roots)

    def check_components(
        self,
        name: str,
        merger: pl.RootMerger,
        sent: tuple[pl.Filter, ...],
        roots: tuple[pl.Filter, ...],
    ) -> None:
        every: list[pl.Filter] = []
        for one in (*sent, *merger.left_out()):
            components = merger.components(one)
            every += [*components, *merger.covered(one)]
            assert components, "a filter that is made of nothing would be sent for nobody"
            assert all(merger.merger_of(each) == one for each in components)
            if name in ("perfect", "first", "subsumed"):
                assert matched(components) == matched([one])
            if name in ("bounded", "ranges"):
                loss = merger.loss(one)
                assert loss is not None
                assert loss <= 0.3
                assert share_lost(one, components) <= loss + 1e-9
        assert sorted(map(str, every)) == sorted(map(str, roots)), "each root in one group"


Following.TestCase.settings = settings(max_examples=40, stateful_step_count=20)
TestFollowing = Following.TestCase


@pytest.mark.slow
class TestFollowingLong(Following.TestCase):  # type: ignore[misc, name-defined]
    settings = settings(max_examples=400, stateful_step_count=50)


@settings(max_examples=100)
@given(st.lists(filters(), max_size=12), st.sampled_from(["best", "first"]), st.booleans())
def test_one_shot_merging_is_equivalent(some: list[pl.Filter], choice: str, subsume: bool) -> None:
    merged = pl.merge_all(some, choice=choice, subsume=subsume)
    assert matched(merged) == matched(some)
    assert len(merged) <= len(set(some))
    loose = pl.merge_all(some, perfect=False, choice=choice, subsume=subsume)
    assert matched(loose) | matched(some) == matched(loose)


def test_one_shot_merging_of_many_is_that_of_few() -> None:
    """From 64 filters on, arrays leave out what is covered; nothing else changes."""
    some = [
        pl.parse_filter(f"x in [{i % 17}, {i % 17 + i % 5}] and y in [{i % 7}, {i % 11 + 7}]")
        for i in range(300)
    ]
    merged = pl.merge_all(some)
    few = MergedSet()
    few.update(some, [])
    assert pl.set_covers(few.merged(), some)
    assert pl.set_covers(merged, some)
    for one in merged:
        assert pl.union_covers(some, one)


# -- the traps of the pseudocode ------------------------------------------------------------------


def table_of(*texts: str) -> tuple[pl.NonRedundantForest[pl.Filter], pl.RootMerger]:
    table = pl.NonRedundantForest()
    merger = pl.RootMerger(table)
    for number, text in enumerate(texts):
        table.add(pl.parse_filter(text), f"I{number}")
    return table, merger


def texts_of(some: Any) -> set[str]:
    return set(map(str, some))


def test_components_of_a_merger_of_mergers_are_roots() -> None:
    """CO(x) and the new one, never x itself, which nobody has subscribed to."""
    _, merger = table_of("x in [0, 1]", "x in [1, 2]", "x in [2, 3]")
    (sent,) = merger.merged()
    assert texts_of(merger.components(sent)) == {"x in [0, 1]", "x in [1, 2]", "x in [2, 3]"}


def test_a_merger_that_covers_other_mergers_takes_their_roots_over() -> None:
    """The loop over covered mergers does not lose the partner that was merged with."""
    table, merger = table_of(
        "x in [4, 6] and y = 1",
        "x in [4, 6] and y = 2",
        "x in [0, 5] and y in [0, 3]",
        "x in [5, 9] and y in [0, 3]",
    )
    (sent,) = merger.merged()
    assert str(sent) == "x in [0, 9] and y in [0, 3]"
    assert len(merger.components(sent)) == len(merger.covered(sent)) == 2
    merger.check()
    table.drop_interface("I3")
    merger.check()
    assert texts_of(merger.merged()) == {
        "x in [0, 5] and y in [0, 3]",
        "x in [4, 6] and y in {1, 2}",
    }


def test_a_covered_root_comes_back_when_its_merger_is_dissolved() -> None:
    table, merger = table_of(
        "x in [0, 4] and y in [0, 9]", "x in [4, 8] and y in [0, 9]", "x in [3, 5] and y in [2, 3]"
    )
    (sent,) = merger.merged()
    assert texts_of(merger.covered(sent)) == {"x in [3, 5] and y in [2, 3]"}
    table.drop_interface("I0")
    merger.check()
    assert texts_of(merger.merged()) == {
        "x in [4, 8] and y in [0, 9]",
        "x in [3, 5] and y in [2, 3]",
    }


def test_a_root_that_a_new_filter_covers_leaves_its_merger() -> None:
    table, merger = table_of("x in [0, 1] and y = 1", "x in [1, 2] and y = 1")
    assert len(merger.merged()) == 1
    table.add(pl.parse_filter("x in [0, 1]"), "I9")
    merger.check()
    assert texts_of(merger.merged()) == {"x in [0, 1]", "x in [1, 2] and y = 1"}
    table.drop_interface("I9")
    merger.check()
    assert texts_of(merger.merged()) == {"x in [0, 2] and y = 1"}


def test_the_losses_of_mergers_add_up() -> None:
    """Ten steps of ten per cent are not ten per cent."""
    some = [pl.parse_filter(f"x in [{12 * i}, {12 * i + 10}]") for i in range(8)]
    options: dict[str, Any] = {"perfect": False, "domains": {"x": (0, 100)}}
    assert len(pl.merge_all(some, **options)) == 1
    merged = pl.merge_all(some, **options, max_loss=0.1)
    assert len(merged) > 1
    for one in merged:
        inside = [each for each in some if one.covers(each)]
        low, high = one.terms[0].low, one.terms[0].high
        assert 1 - 10 * len(inside) / (high - low) <= 0.1


def test_filters_that_differ_in_two_attributes_do_not_merge() -> None:
    some = [pl.parse_filter("x in [0, 1] and y = 1"), pl.parse_filter("x in [1, 2] and y = 2")]
    assert pl.merge_all(some) == tuple(some)


# -- the better choice ----------------------------------------------------------------------------


def test_the_best_partner_has_the_simplest_merger() -> None:
    """[T A.5]: with the neighbour, not with the one that leaves a gap."""
    texts = (
        "x in [8, 9] and y in [0, 1]",
        "x in [0, 1] and y in [1, 2]",
        "x in [0, 1] and y in [0, 1]",
    )
    assert texts_of(pl.merge_all(map(pl.parse_filter, texts))) == {
        "x in [0, 1] and y in [0, 2]",
        "x in [8, 9] and y in [0, 1]",
    }
    first = pl.merge_all(map(pl.parse_filter, texts), choice="first")
    assert "(x in [0, 1] or x in [8, 9]) and y in [0, 1]" in texts_of(first)


# -- lazy deletion --------------------------------------------------------------------------------


def test_lazy_deletion_waits_for_false_positives() -> None:
    table = pl.NonRedundantForest.build(
        [(pl.parse_filter(f"x in [{i}, {i + 1}]"), i) for i in range(3)]
    )
    merger = pl.RootMerger(table, lazy=2)
    told: list[tuple[list[pl.Filter], list[pl.Filter]]] = []
    merger.listen(lambda added, gone: told.append((added, gone)))
    table.drop_interface(1)
    assert texts_of(merger.merged()) == {"x in [0, 3]"}
    assert merger.to_dict()["merged"][0]["gone"] == ["x in [1, 2]"]
    assert not merger.note({"x": 1}), "somebody wants it"
    assert not merger.note({"x": 7}), "nobody is sent it"
    assert merger.note({"x": 1.5})
    assert told == []
    assert merger.note({"x": 1.5})
    assert texts_of(merger.merged()) == {"x in [0, 1] or x in [2, 3]"}
    assert [texts_of(some) for some in told[0]] == [
        {"x in [0, 1] or x in [2, 3]"},
        {"x in [0, 3]"},
    ]
    assert not merger.note({"x": 1.5})


def test_a_component_that_comes_back_in_time_costs_nothing() -> None:
    table = pl.NonRedundantForest.build(
        [(pl.parse_filter(f"x in [{i}, {i + 1}]"), i) for i in range(3)]
    )
    merger = pl.RootMerger(table, lazy=2)
    table.drop_interface(1)
    table.add(pl.parse_filter("x in [1, 2]"), 1)
    assert "gone" not in merger.to_dict()["merged"][0]
    assert len(merger.components(merger.merged()[0])) == 3
    merger.check()


def test_a_merger_without_a_component_left_goes_at_once() -> None:
    table = pl.NonRedundantForest.build(
        [(pl.parse_filter(f"x in [{i}, {i + 1}]"), i) for i in (0, 1)]
    )
    merger = pl.RootMerger(table, lazy=100)
    table.drop_interface(0)
    table.drop_interface(1)
    assert merger.merged() == ()


# -- the rest -------------------------------------------------------------------------------------


def test_subsumption_leaves_out_what_pairs_cannot_see() -> None:
    table, _ = table_of(
        "x in [0, 6] and y in [0, 9]", "x in [4, 9] and y in [0, 8]", "x in [3, 8] and y in [1, 7]"
    )
    merger = pl.RootMerger(table, subsume=True)
    assert len(table.roots()) == 3
    assert len(merger.merged()) == 2
    (left_out,) = merger.left_out()
    assert str(left_out) == "x in [3, 8] and y in [1, 7]"
    table.drop_interface("I0")
    assert left_out in merger.merged()
    merger.check()


def test_a_merger_that_is_closed_follows_no_more() -> None:
    table, merger = table_of("x > 3")
    merger.close()
    table.add(pl.parse_filter("y > 3"), "I5")
    assert texts_of(merger.merged()) == {"x > 3"}
    with pytest.raises(pl.InvariantError) as error:
        merger.check()
    assert error.value.invariant == "merge-members"


def test_an_update_that_is_undone_is_undone_in_the_merger() -> None:
    """A listener after the merger raises: the table and the merger are as they were."""
    table, merger = table_of("x in [0, 1]", "x in [1, 2]")

    def refuse(_change: pl.Change[pl.Filter]) -> None:
        raise RuntimeError("no")

    stop = table.listen(refuse)
    with pytest.raises(RuntimeError, match="no"):
        table.add(pl.parse_filter("x in [2, 3]"), "I7")
    stop()
    merger.check()
    assert texts_of(merger.merged()) == {"x in [0, 2]"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"choice": "any"}, "choice is 'best' or 'first'"),
        ({"max_loss": 0.1}, "bound imperfect merging"),
        ({"perfect": False, "max_loss": 1.5}, "a share between 0 and 1"),
        ({"lazy": 0}, "at least 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pl.RootMerger(pl.NonRedundantForest(), **options)


def test_what_is_not_there_is_not_asked_about() -> None:
    _, merger = table_of("x > 3")
    with pytest.raises(pl.UnknownEntryError, match="not in the merged set"):
        merger.components(pl.parse_filter("x > 4"))
    with pytest.raises(pl.UnknownEntryError, match="not in the set"):
        merger.merger_of(pl.parse_filter("x > 4"))
    with pytest.raises(TypeError, match="filters are merged, not str"):
        pl.merge_all(["x > 3"])  # type: ignore[list-item]


def test_what_is_no_table_of_filters_is_refused_and_the_table_stays() -> None:
    with pytest.raises(TypeError, match="follows a table, not list"):
        pl.RootMerger([pl.parse_filter("x > 3")])  # type: ignore[arg-type]
    table: Any = pl.FiltersPoset(relation=pl.EXPRESSIONS)
    pl.RootMerger(table)
    with pytest.raises(TypeError, match="filters are merged, not Expression"):
        table.add(pl.parse_expression("x = 1 or y = 2"), "I1")
    assert len(table) == 0

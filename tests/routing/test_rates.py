"""RateControl against a plain simulation of each filter by itself."""

from __future__ import annotations

import random
from ipaddress import ip_address, ip_network
from itertools import product
from typing import Any

import pytest

import posetlib as pl
from posetlib.filters import Filter, merge, parse_filter
from posetlib.orders.ip_networks import IP_NETWORKS
from posetlib.routing import rates, split_limit
from posetlib.routing.window_counts import WindowCounts
from tests.planting import plant
from tests.tables.kinds import KINDS

LIMITS = ["", " and rate <= 0", " and rate <= 1", " and rate <= 2", " and rate <= 5"]
RANGES = [
    "x in [0, 9]",
    "x in [0, 5]",
    "x in [4, 9]",
    "x in [2, 4]",
    "x in [6, 8]",
    "x = 3",
    "true",
]
FILTERS = [
    parse_filter((one + limit).replace("true and ", "")) for one in RANGES for limit in LIMITS
] + [parse_filter('type = "A" and x > 2' + limit) for limit in LIMITS]


class Simulation:
    """Each filter counts what it matches, in windows, and asks nobody else."""

    def __init__(self, window: float, history: int) -> None:
        self.window = window
        self.history = history
        self.counts: dict[Filter, dict[int, int]] = {}
        self.born: dict[Filter, int] = {}

    def follow(self, table: Any, now: float) -> None:
        for item in list(self.counts):
            if item not in set(table):
                del self.counts[item], self.born[item]
        for item in table:
            if item not in self.counts:
                self.counts[item] = {}
                self.born[item] = int(now // self.window)

    def match(self, table: Any, notification: Any, now: float) -> frozenset[Any]:
        answer: set[Any] = set()
        number = int(now // self.window)
        for item, counts in self.counts.items():
            plain, limit = split_limit(item)
            if plain.matches(notification):
                counts[number] = counts.get(number, 0) + 1
                if limit is None or counts[number] <= limit:
                    answer |= table.interfaces(item)
        return frozenset(answer)

    def rate(self, item: Filter, now: float) -> tuple[int, tuple[int, ...]]:
        number = int(now // self.window)
        counts = self.counts[item]
        first = max(self.born[item], number - self.history)
        return counts.get(number, 0), tuple(counts.get(i, 0) for i in range(first, number))


@pytest.mark.parametrize("measure", ["limited", "roots", "all"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_equals_a_simulation_of_each_filter(kind: str, measure: str) -> None:
    for seed, visits in product(range(4), (0, 3, 10**9)):
        with pytest.MonkeyPatch.context() as patch:
            # By a matcher from the first notification on, from a later one on, and by walks alone.
            patch.setattr(rates, "_VISITS_PER_FILTER", visits)
            simulate(kind, measure, seed)


def simulate(kind: str, measure: str, seed: int) -> None:
    rng = random.Random(f"{kind}-{measure}-{seed}")
    cls, options = KINDS[kind]
    table: Any = cls(index=bool(seed % 2), **options)
    now = [rng.uniform(0, 3)]
    control = pl.RateControl(table, window=0.5, history=3, measure=measure, clock=lambda: now[0])
    simulation = Simulation(0.5, 3)
    for step in range(120):
        roll = rng.random()
        interface = rng.choice("abc")
        if roll < 0.25:
            table.add(rng.choice(FILTERS), interface)
        elif roll < 0.35:
            table.discard(rng.choice(FILTERS), interface)
        elif roll < 0.37:
            table.drop_interface(interface)
        elif roll < 0.5:
            now[0] += rng.choice([0.1, 0.3, 0.5, 1.7, 5])
        else:
            notification = {"x": rng.randrange(10), "type": rng.choice("AB")}
            expected = simulation.match(table, notification, now[0])
            assert control.match(notification) == expected, f"seed {seed}, step {step}"
        simulation.follow(table, now[0])
    for item in table:
        rate = control.rate(item)
        if measure == "all" or rate.limit is not None:
            assert (rate.count, rate.history) == simulation.rate(item, now[0])
    assert list(control.rates()) == list(table)
    if control._matcher is not None:
        assert sum(map(len, control._matcher._pairs.values())) == len(table)


def test_items_that_a_matcher_does_not_take_are_walked() -> None:
    class Odd(Filter):
        def matches(self, notification: Any) -> bool:
            return bool(super().matches(notification) and notification["x"] % 2)

    table: Any = pl.PosetForest()
    control: Any = pl.RateControl(table, clock=lambda: 0.0)
    table.add(parse_filter("x > 0 and rate <= 3"), "I1")
    for _ in range(30):
        control.match({"x": 1})
    assert control._matcher is not None
    table.add(Odd(parse_filter("x > 5").constraints), "I2")
    assert [sorted(control.match({"x": x})) for x in (6, 7)] == [[], ["I2"]]
    late: Any = pl.RateControl(table, clock=lambda: 0.0)
    assert [sorted(late.match({"x": 7})) for _ in range(30)][3:] == [["I2"]] * 27


def made(*texts: str, **options: Any) -> tuple[Any, Any, list[float]]:
    now = [0.0]
    table: Any = pl.PosetForest()
    for i, text in enumerate(texts, 1):
        table.add(parse_filter(text), f"I{i}")
    return table, pl.RateControl(table, clock=lambda: now[0], **options), now


def test_a_child_goes_on_when_its_parent_has_spent_its_rate() -> None:
    """The thesis stops at the parent: but what spent its rate, the child never matched."""
    _, control, _ = made("x in [0, 9] and rate <= 2", "x in [0, 1] and rate <= 1")
    assert [sorted(control.match({"x": x})) for x in (5, 6, 7, 0)] == [["I1"], ["I1"], [], ["I2"]]


def test_without_a_limit_the_table_answers_until_one_comes_and_when_it_is_gone() -> None:
    table, control, _ = made("x > 0", "x > 5")
    limited = parse_filter("x > 3 and rate <= 1")
    assert control.match({"x": 9}) == {"I1", "I2"}
    table.add(limited, "I3")
    assert [sorted(control.match({"x": 4})) for _ in range(2)] == [["I1", "I3"], ["I1"]]
    table.remove(limited, "I3")
    assert control.match({"x": 4}) == {"I1"}
    # Items whose limit lies elsewhere match as ``split`` says, with or without one.
    split = pl.RateControl(table, split=lambda item: (parse_filter("x > 7"), None))
    assert [sorted(split.match({"x": x})) for x in (6, 9)] == [[], ["I1", "I2"]]


def test_a_filter_that_comes_again_begins_at_zero() -> None:
    table, control, _ = made("x > 0")
    limited = parse_filter("x > 3 and rate <= 2")
    numbers = len(control._counts)
    for _ in range(5 * numbers):
        table.add(limited, "I2")
        found = [sorted(control.match({"x": 4})) for _ in range(3)]
        assert found == [["I1", "I2"], ["I1", "I2"], ["I1"]]
        table.remove(limited, "I2")
    assert len(control._counts) == numbers, "numbers are used again"
    others = [parse_filter(f"x > {i} and rate <= 1") for i in range(3, 3 + 2 * numbers)]
    for i, each in enumerate(others):
        table.add(each, f"J{i}")
    assert len(control.match({"x": 10**6})) == 1 + len(others)
    assert control.match({"x": 10**6}) == {"I1"}


def test_history_and_average_have_the_empty_windows() -> None:
    _, control, now = made("x > 0 and rate <= 9", history=4)
    limited = parse_filter("x > 0 and rate <= 9")
    for moment in (0, 0.5, 1.5, 4.2, 4.3, 4.4):
        now[0] = moment
        control.match({"x": 1})
    rate = control.rate(limited)
    assert (rate.count, rate.history, rate.average) == (3, (2, 1, 0, 0), 0.75)
    now[0] = 100
    assert control.rate(limited).history == (0, 0, 0, 0)
    assert control.rate(limited).average == 0
    # A clock that goes back stays in its window.
    control.match({"x": 1})
    now[0] = 50
    control.match({"x": 1})
    assert control.rate(limited).count == 2


def test_what_is_held_back_is_counted() -> None:
    _, control, _ = made("x > 0 and rate <= 1")
    for _ in range(3):
        control.match({"x": 1})
    assert control.rate(parse_filter("x > 0 and rate <= 1")).held_back == 2


def test_an_undone_change_leaves_the_counters_as_they_were() -> None:
    table, control, _ = made("x > 0 and rate <= 1")
    limited = parse_filter("x > 0 and rate <= 1")
    control.match({"x": 1})

    def refuse(_change: object) -> None:
        raise ZeroDivisionError

    stop = table.listen(refuse)
    with pytest.raises(ZeroDivisionError):
        table.remove(limited, "I1")
    stop()
    assert control.rate(limited).count == 1
    assert control.match({"x": 1}) == frozenset()


@pytest.mark.parametrize(
    "text", ["rate >= 3", "rate in [0, 5]", "rate = 5", "rate <= -1", "exists rate", 'rate <= "a"']
)
def test_a_constraint_that_is_no_limit_is_refused_and_changes_nothing(text: str) -> None:
    table, control, _ = made("x > 0 and rate <= 1")
    with pytest.raises(pl.FilterError, match="rate <= 20"):
        table.add(parse_filter(f"x > 0 and {text}"), "I9")
    assert len(table) == 1
    table.check()
    assert control.match({"x": 1}) == {"I1"}


@pytest.mark.parametrize(
    ("text", "limit"),
    [("rate <= 20", 20), ("rate < 20", 19), ("rate < 2.5", 2), ("rate <= 2.5", 2)],
)
def test_limits_are_whole_counts(text: str, limit: int) -> None:
    assert split_limit(parse_filter(text)) == (parse_filter("true"), limit)


def test_limits_are_covered_and_merged_as_constraints() -> None:
    unlimited, wide, narrow = (
        parse_filter("x > 0" + limit) for limit in ("", " and rate <= 20", " and rate <= 10")
    )
    assert unlimited.covers(wide)
    assert wide.covers(narrow)
    assert not narrow.covers(wide)
    assert not wide.covers(unlimited)
    assert merge(wide, narrow) == wide
    low, high = (parse_filter(f"x in {r} and rate <= 5") for r in ("[0, 3]", "[3, 9]"))
    assert merge(low, high) == parse_filter("x in [0, 9] and rate <= 5")
    other = parse_filter("x in [3, 9] and rate <= 8")
    assert merge(low, other) is None
    assert merge(low, other, perfect=False) == parse_filter("x in [0, 9] and rate <= 8")


def test_other_items_bring_their_limits() -> None:
    table: Any = pl.LinearTable(
        covers=lambda a, b: a[0] >= b[0] and a[1] >= b[1], matches=lambda item, n: n in item[0]
    )
    table.add((frozenset("ab"), 1), "I1")
    control = pl.RateControl(table, clock=lambda: 0.0, split=lambda item: (item, item[1]))
    assert control.match_many(["a", "b"]) == [{"I1"}, frozenset()]
    control.close()
    table.add((frozenset("c"), 1), "I2")


def test_a_matcher_has_to_do_no_more_than_tables_ask() -> None:
    """That of IP networks has neither ``remove`` nor ``match_pairs``."""
    table: Any = pl.PosetForest(relation=IP_NETWORKS)
    wide, narrow = ip_network("10.0.0.0/8"), ip_network("10.1.0.0/16")
    control: Any = pl.RateControl(table, split=lambda item: (item, 25), clock=lambda: 0.0)
    table.add(wide, "I1")
    for _ in range(24):
        assert control.match(ip_address("10.1.2.3")) == {"I1"}
    assert control._matcher is not None
    table.add(narrow, "I2")
    found = [sorted(control.match(ip_address("10.1.2.3"))) for _ in range(2)]
    assert found == [["I1", "I2"], ["I2"]]
    table.remove(narrow, "I2")
    assert control.match(ip_address("10.1.2.3")) == frozenset()


def test_wrong_options_are_refused() -> None:
    table = pl.PosetForest()
    for options, words in (
        ({"window": 0}, "some seconds"),
        ({"history": 0}, "at least one window"),
        ({"measure": "some"}, "limited, roots, all"),
    ):
        with pytest.raises(ValueError, match=words):
            pl.RateControl(table, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="without matches="):
        pl.RateControl(pl.PosetForest(covers=frozenset.issuperset))
    with pytest.raises(pl.UnknownEntryError):
        pl.RateControl(table).rate(parse_filter("x > 3"))


#: What is wrong, the function, its source, the fault, and the test that kills it.
FAULTS: dict[str, tuple[object, str, str, Any]] = {
    "the walk ends at a filter over its limit, as in the thesis": (
        pl.RateControl._walk,
        "if limit is None or count <= limit:",
        "if limit is not None and count > limit: continue\n            if True:",
        test_a_child_goes_on_when_its_parent_has_spent_its_rate,
    ),
    "a filter whose interfaces are in the answer is not counted": (
        pl.RateControl._walk,
        "if not measured and node.interfaces.keys() <= answer:",
        "if node.interfaces.keys() <= answer:",
        lambda: test_it_equals_a_simulation_of_each_filter("pf", "limited"),
    ),
    "what lies below a skipped filter is forgotten": (
        pl.RateControl._walk,
        "if node not in leading and (",
        "if (",
        lambda: test_it_equals_a_simulation_of_each_filter("pf-local", "limited"),
    ),
    "a matcher lets everything through": (
        pl.RateControl._admitted,
        "<= self._limits[numbers]",
        "<= _NO_LIMIT",
        lambda: test_it_equals_a_simulation_of_each_filter("pf", "limited"),
    ),
    "the matcher is not told of what leaves": (
        pl.RateControl._follow,
        "self._matcher.discard(meter.item, meter.number)",
        "pass",
        lambda: test_it_equals_a_simulation_of_each_filter("pf", "limited"),
    ),
    "a limit that comes is not noticed": (
        pl.RateControl._enter,
        "self._changed += meter.changes",
        "pass",
        lambda: test_it_equals_a_simulation_of_each_filter("nrf", "limited"),
    ),
    "a window never ends": (
        WindowCounts.turn,
        "if window > self.window:",
        "if False:",
        lambda: test_it_equals_a_simulation_of_each_filter("fp", "all"),
    ),
    "a new filter goes on with the counts of one that is gone": (
        WindowCounts.new,
        "self._counts[:, number] = 0",
        "pass",
        test_a_filter_that_comes_again_begins_at_zero,
    ),
    "empty windows are not in the history": (
        WindowCounts.turn,
        "range(max(self.window + 1, window - rows + 1), window + 1)",
        "(window,)",
        test_history_and_average_have_the_empty_windows,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, right, wrong, kill = FAULTS[name]
    plant(monkeypatch, function, right, wrong)
    with pytest.raises(AssertionError):
        kill()

"""Matching: one notification, many at once, many between updates, and constraints of every kind.

From dictionaries to sets of interfaces, both conversions included, for everybody. The loads are
*uniform*, both ends of two ranges uniform in [0, 100], and *narrow*, a uniform centre and a width
that is exponential with mean 5; 10 interfaces unless said.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np

import posetlib as pl
from bench.harness import Bench
from posetlib.matching import BitmapMatcher, CountingMatcher

Event = dict[str, Any]
Answers = list[frozenset[Hashable]]
Columns = dict[str, tuple[np.ndarray, np.ndarray]]
Pairs = list[tuple[pl.Filter, Hashable]]

INTERFACES = 10
BARS = {
    # Of the time that the scan takes: one event, many, many between updates.
    "uniform": (1 / 3, 1 / 15, 1 / 3),
    "narrow": (1, 1 / 5, 1 / 3),
}
# Of the time that shapely's tree takes for many, where that is promised.
TREE_BAR = {"narrow": 1 / 1.2}
MIXED_BAR = 1 / 10


def load(kind: str, size: int, seed: int) -> Columns:
    """Return ranges of x and y."""
    random = np.random.default_rng(seed)
    columns = {}
    for name in "xy":
        if kind == "uniform":
            low, high = np.sort(random.uniform(0, 100, (2, size)), axis=0)
        else:
            centre, width = random.uniform(0, 100, size), random.exponential(5, size)
            low, high = np.clip((centre - width / 2, centre + width / 2), 0, 100)
        columns[name] = (low, high)
    return columns


def events(size: int, seed: int) -> list[Event]:
    """Return notifications for these."""
    pairs = np.random.default_rng(seed).uniform(0, 100, (size, 2)).tolist()
    return [{"x": x, "y": y} for x, y in pairs]


class Scan:
    """The baseline: columns of numpy, one event at a time, and its ids turned into interfaces."""

    def __init__(self, columns: Columns, interfaces: np.ndarray) -> None:
        self.x_low, self.x_high = (column.copy() for column in columns["x"])
        self.y_low, self.y_high = (column.copy() for column in columns["y"])
        self.codes = interfaces
        self.names = np.array([f"I{i}" for i in range(INTERFACES)], dtype=object)

    def match(self, event: Event) -> frozenset[Hashable]:
        """Return the interfaces of one event."""
        x, y = event["x"], event["y"]
        inside = (self.x_low <= x) & (x <= self.x_high) & (self.y_low <= y) & (y <= self.y_high)
        found = np.bincount(self.codes[inside], minlength=INTERFACES) > 0
        return frozenset(self.names[found].tolist())

    def match_many(self, batch: Iterable[Event]) -> Answers:
        """Return the interfaces of each event."""
        return [self.match(event) for event in batch]

    def replace(self, row: int, columns: Columns, source: int) -> None:
        """Put another filter into a row."""
        for ends, name in (((self.x_low, self.x_high), "x"), ((self.y_low, self.y_high), "y")):
            for end, column in zip(ends, columns[name], strict=True):
                end[row] = column[source]


def tree_matcher(columns: Columns, codes: np.ndarray) -> Callable[[list[Event]], Answers]:
    """Return shapely's tree: all events in one query, and its ids turned into interfaces."""
    import shapely  # noqa: PLC0415 - only the benchmarks' extra brings it

    (x_low, x_high), (y_low, y_high) = columns["x"], columns["y"]
    tree = shapely.STRtree(shapely.box(x_low, y_low, x_high, y_high))
    names = np.array([f"I{i}" for i in range(INTERFACES)], dtype=object)
    known: dict[bytes, frozenset[Hashable]] = {}

    def match_many(batch: list[Event]) -> Answers:
        x = np.array([event["x"] for event in batch])
        y = np.array([event["y"] for event in batch])
        # A box and a point intersect when their envelopes do: no predicate is needed.
        which, ids = tree.query(shapely.points(x, y))
        found = np.zeros((len(batch), INTERFACES), dtype=bool)
        found[which, codes[ids]] = True
        answers = []
        for row in found:
            key = row.tobytes()
            answer = known.get(key)
            if answer is None:
                answer = known[key] = frozenset(names[row].tolist())
            answers.append(answer)
        return answers

    return match_many


def walking(kind: type[pl.Table], pairs: Iterable[tuple[pl.Filter, Hashable]]) -> pl.Table:
    """Return a table that walks, and has no index to do better."""
    options = {"index": False} if "index" in inspect.signature(kind).parameters else {}
    return kind.build(pairs, **options)


def run(bench: Bench) -> None:
    """Hold the matchers against columns, trees, and tables that walk."""
    for kind in BARS:
        _run_ranges(bench, kind)
    _run_mixed(bench)


def _run_ranges(bench: Bench, kind: str) -> None:
    size = bench.size(10_000, 100)
    columns = load(kind, size, seed=1)
    filters = pl.filters_from_columns(columns)
    codes = np.random.default_rng(2).integers(0, INTERFACES, size)
    pairs: Pairs = [(filter, f"I{code}") for filter, code in zip(filters, codes, strict=True)]
    batch = events(bench.size(2_000, 20), seed=3)
    one_bar, many_bar, updates_bar = BARS[kind]

    scan, bitmap, counting = Scan(columns, codes), BitmapMatcher(pairs), CountingMatcher(pairs)
    tree = tree_matcher(columns, codes)
    forest = walking(pl.NonRedundantForest, pairs)
    answers = scan.match_many(batch)
    assert bitmap.match_many(batch) == tree(batch) == answers
    assert [bitmap.match(event) for event in batch[:200]] == answers[:200]
    assert counting.match_many(batch[:20]) == forest.match_many(batch[:20]) == answers[:20]

    few = batch[:20]
    title = f"{kind}, n = {size:,}, {INTERFACES} interfaces"

    def each(match: Callable[[Event], object], some: Sequence[Event]) -> Callable[[], object]:
        return lambda: [match(event) for event in some]

    def every_filter(event: Event) -> frozenset[Hashable]:
        return frozenset(interface for filter, interface in pairs if filter.matches(event))

    several = batch[:200]
    with bench.comparison(f"match, one at a time: {title}") as timed:
        timed.case("numpy scan", each(scan.match, several), operations=len(several))
        timed.case(
            "BitmapMatcher", each(bitmap.match, several), operations=len(several), at_most=one_bar
        )
        timed.case("CountingMatcher", each(counting.match, few), operations=len(few))
        timed.case("NRF, walking", each(forest.match, few), operations=len(few))
        timed.case("every filter, as LinearTable", each(every_filter, few[:2]), operations=2)

    with bench.comparison(f"match_many: {title}") as timed:
        timed.case("numpy scan", lambda: scan.match_many(several), operations=len(several))
        timed.case(
            "BitmapMatcher",
            lambda: bitmap.match_many(batch),
            operations=len(batch),
            at_most=many_bar,
        )
        timed.case("STRtree, bulk", lambda: tree(batch), operations=len(batch))
        timed.case("CountingMatcher", lambda: counting.match_many(few), operations=len(few))
        timed.case("NRF, walking", lambda: forest.match_many(few), operations=len(few))

    with bench.comparison(f"match_many against shapely: {title}") as timed:
        timed.case("STRtree, bulk", lambda: tree(batch), operations=len(batch))
        timed.case(
            "BitmapMatcher",
            lambda: bitmap.match_many(batch),
            operations=len(batch),
            at_most=TREE_BAR.get(kind),
        )

    _run_updates(bench, kind, title, columns, codes, pairs, batch, updates_bar)


def _run_updates(
    bench: Bench,
    kind: str,
    title: str,
    columns: Columns,
    codes: np.ndarray,
    pairs: Pairs,
    batch: list[Event],
    bar: float,
) -> None:
    churn = Churn(kind, columns, codes, pairs, batch)
    with bench.comparison(
        f"match_many with 10 adds and 10 removals before each 100: {title}",
        note="Microseconds for each event, updates included.",
    ) as timed:
        timed.case("numpy scan", churn.scanning(), operations=churn.operations)
        timed.case(
            "BitmapMatcher",
            churn.matching(BitmapMatcher(pairs)),
            operations=churn.operations,
            at_most=bar,
        )


class Churn:
    """Ten removals and ten adds before each batch of a hundred, for as long as it takes."""

    _ROUNDS = 10

    def __init__(
        self, kind: str, columns: Columns, codes: np.ndarray, pairs: Pairs, batch: list[Event]
    ) -> None:
        self._columns, self._codes, self._pairs = columns, codes, pairs
        self._fresh = load(kind, 4 * len(pairs), seed=4)
        self._others = pl.filters_from_columns(self._fresh)
        self._hundreds = [batch[i : i + 100] for i in range(0, len(batch), 100)]
        #: How many events there are in a call.
        self.operations = self._ROUNDS * len(self._hundreds[0])

    def scanning(self) -> Callable[[], None]:
        """Return what goes on for the scan."""
        scan = Scan(self._columns, self._codes)
        batches, rows = cycle(self._hundreds), cycle(range(len(self._pairs)))
        sources = cycle(range(len(self._others)))

        def go() -> None:
            for some in islice(batches, self._ROUNDS):
                for row in islice(rows, 10):
                    scan.replace(row, self._fresh, next(sources))
                scan.match_many(some)

        return go

    def matching(self, matcher: Any) -> Callable[[], None]:
        """Return what goes on for a matcher, or a table, that holds the pairs."""
        matcher.match_many(self._hundreds[0])
        batches, rows = cycle(self._hundreds), cycle(range(len(self._pairs)))
        held, new = list(self._pairs), cycle(self._others)

        def go() -> None:
            for some in islice(batches, self._ROUNDS):
                for row in islice(rows, 10):
                    # A table may have eliminated the pair.
                    matcher.discard(*held[row])
                    held[row] = (next(new), held[row][1])
                    matcher.add(*held[row])
                matcher.match_many(some)

        return go


# -- constraints of every kind --------------------------------------------------------------------

_VALUES = 100
_ATTRIBUTES = 10


def mixed_filter(random: np.random.Generator) -> pl.Filter:
    """Return constraints on 1 to 3 of 10 attributes, of which half are strings."""
    parts = []
    for attribute in random.choice(_ATTRIBUTES, random.integers(1, 4), replace=False):
        form = random.integers(0, 4)
        values = random.choice(_VALUES, 3, replace=False)
        if attribute % 2:
            texts = [f'"v{value:02}"' for value in values]
            texts[1] = texts[0][:3] + '"'
            parts.append(
                (f"= {texts[0]}", f"prefix {texts[1]}", f"in {{{texts[0]}, {texts[2]}}}",
                 f"!= {texts[0]}")[form]
            )  # fmt: skip
        else:
            low = random.uniform(0, 95)
            parts.append(
                (f"= {values[0]}", f"in [{low}, {low + 5}]",
                 f"in {{{', '.join(map(str, values))}}}", f"!= {values[0]}")[form]
            )  # fmt: skip
        parts[-1] = f"a{attribute} {parts[-1]}"
    return pl.parse_filter(" and ".join(parts))


def mixed_events(size: int, random: np.random.Generator) -> list[Event]:
    """Return notifications with all attributes; every other number is one that equality finds."""
    made = []
    for number in range(size):
        values = random.integers(0, _VALUES, _ATTRIBUTES).tolist()
        made.append(
            {
                f"a{i}": f"v{value:02}" if i % 2 else value + 0.5 * (number % 2)
                for i, value in enumerate(values)
            }
        )
    return made


def _run_mixed(bench: Bench) -> None:
    size = bench.size(10_000, 100)
    random = np.random.default_rng(5)
    pairs = [(mixed_filter(random), number) for number in range(size)]
    batch = mixed_events(bench.size(400, 20), random)
    bitmap, counting = BitmapMatcher(pairs), CountingMatcher(pairs)
    forest = walking(pl.PosetForest, pairs)
    few = batch[:10]
    assert bitmap.match_many(few) == counting.match_many(few) == forest.match_many(few)
    matched = sum(map(len, bitmap.match_many(batch))) / len(batch)
    with bench.comparison(
        f"match_many: 1 to 3 of 10 attributes, mixed kinds, n = {size:,}, as many interfaces",
        note=f"{matched:,.0f} interfaces in an answer.",
    ) as timed:
        timed.case("PF, walking", lambda: forest.match_many(few), operations=len(few))
        timed.case(
            "BitmapMatcher",
            lambda: bitmap.match_many(batch),
            operations=len(batch),
            at_most=MIXED_BAR,
        )
        timed.case("CountingMatcher", lambda: counting.match_many(few), operations=len(few))

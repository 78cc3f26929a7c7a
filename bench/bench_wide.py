"""Wide filters: ten ranges of width 0.4 on ten of twenty attributes, an interface for each filter.

The baseline is a scan of float32 columns, from dictionaries to sets of interfaces as everybody. Of
100,000 filters about ten match a notification. Memory is what Python and numpy were asked for.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import posetlib as pl
from bench.bench_matching import Event, Pairs
from bench.harness import Bench
from posetlib.matching import BitmapMatcher

ATTRIBUTES, RANGES, WIDTH = 20, 10, 0.4
NAMES = tuple(f"a{i:02}" for i in range(ATTRIBUTES))
SCAN_BAR = 1 / 40
BYTES_BAR = 700
BUILD_BAR = 60_000
MILLION_BAR = 3.0
ONE_ATTRIBUTE_BAR = 3e-6

Ends = NDArray[np.float64]


def load(size: int, seed: int) -> tuple[Ends, Ends]:
    """Return low and high ends, a row for each attribute; NaN where there is no range."""
    random = np.random.default_rng(seed)
    lows = np.full((ATTRIBUTES, size), np.nan)
    chosen = np.argsort(random.random((size, ATTRIBUTES)), axis=1)[:, :RANGES]
    lows[chosen, np.arange(size)[:, None]] = random.uniform(0, 1 - WIDTH, (size, RANGES))
    return lows, lows + WIDTH


def filters_of(lows: Ends, highs: Ends) -> list[pl.Filter]:
    """Return the filters of a load."""
    ends = zip(lows, highs, strict=True)
    return pl.filters_from_columns(dict(zip(NAMES, ends, strict=True)))


def events(size: int, seed: int) -> list[Event]:
    """Return notifications with all attributes."""
    rows = np.random.default_rng(seed).random((size, ATTRIBUTES)).tolist()
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


class Scan:
    """The baseline: float32 columns, two comparisons for each attribute and event."""

    def __init__(self, lows: Ends, highs: Ends) -> None:
        self._lows = np.nan_to_num(lows, nan=-np.inf, neginf=-np.inf).astype(np.float32)
        self._highs = np.nan_to_num(highs, nan=np.inf, posinf=np.inf).astype(np.float32)
        self._names = np.arange(lows.shape[1]).astype(object)

    def match(self, event: Event) -> frozenset[Hashable]:
        """Return the interfaces of one event."""
        inside = np.ones(len(self._names), dtype=np.bool_)
        for name, low, high in zip(NAMES, self._lows, self._highs, strict=True):
            value = np.float32(event[name])
            inside &= low <= value
            inside &= value <= high
        return frozenset(self._names[inside].tolist())


def run(bench: Bench) -> None:
    """Match, build and weigh; then a million; then one attribute."""
    size = bench.size(100_000, 1_500)
    lows, highs = load(size, seed=1)
    filters = filters_of(lows, highs)
    pairs: Pairs = [(filter, number) for number, filter in enumerate(filters)]
    batch = events(bench.size(2_000, 30), seed=7)
    scan, matcher = Scan(lows, highs), BitmapMatcher(pairs)
    answers = matcher.match_many(batch)
    few = batch[: bench.size(40, 3)]
    # A float32 may put a value on the other side of an end: hardly ever, so it is not counted here.
    assert [scan.match(event) for event in few] == answers[: len(few)]
    assert [matcher.match(event) for event in few] == answers[: len(few)]
    matched = sum(map(len, answers)) / len(answers)
    several = batch[: bench.size(100, 10)]
    title = f"{RANGES} ranges of {ATTRIBUTES} attributes, n = {size:,}, as many interfaces"
    with bench.comparison(f"match_many: {title}", f"{matched:.1f} in an answer.") as timed:
        timed.case("float32 scan", lambda: list(map(scan.match, few)), operations=len(few))
        timed.case(
            "BitmapMatcher",
            lambda: matcher.match_many(batch),
            operations=len(batch),
            at_most=SCAN_BAR,
        )
    with bench.comparison(f"match_many against match: {title}") as timed:
        timed.case(
            "match", lambda: [matcher.match(event) for event in several], operations=len(several)
        )
        for count in (1, 10, 100):
            some = batch[:count]
            timed.case(
                f"match_many of {count}",
                lambda some=some: matcher.match_many(some),  # type: ignore[misc]
                operations=len(some),
                at_most=1.1 if count == 1 else 1,
            )
    _run_building(bench, title, pairs, batch[0])
    _run_repeats(bench, size)
    _run_million(bench, size)
    _run_one_attribute(bench)


def _built(pairs: Pairs, event: Event) -> BitmapMatcher:
    """Return a matcher that is ready to answer."""
    matcher = BitmapMatcher(pairs)
    matcher.match(event)
    return matcher


def _run_building(bench: Bench, title: str, pairs: Pairs, event: Event) -> None:
    taken = []
    for _ in range(bench.size(3, 1)):
        gc.collect()
        start = time.perf_counter()
        _built(pairs, event)
        taken.append(time.perf_counter() - start)
    rate = len(pairs) / min(taken)
    weight = traced(lambda: _built(pairs, event)) / len(pairs)
    bench.promise(f"{title}: filters built a second", rate, at_least=BUILD_BAR)
    bench.promise(f"{title}: bytes of the matcher for a filter", weight, at_most=BYTES_BAR)
    bench.table(
        f"The matcher: {title}",
        ("filters a second", "bytes a filter, beside the filters"),
        [(rate, weight)],
    )


def traced(make: Callable[[], object]) -> int:
    """Return how many bytes something takes."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = make()
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
        del kept
    finally:
        tracemalloc.stop()
    return taken


def _run_repeats(bench: Bench, size: int) -> None:
    count = min(size, 20_000)
    lows, highs = load(count, seed=2)
    rounded = np.round(lows, 1)
    rows = [
        (name, traced(lambda ends=ends: filters_of(*ends)) / count)  # type: ignore[misc]
        for name, ends in (
            ("all ranges differ", (lows, highs)),
            ("seven ranges for each attribute", (rounded, rounded + WIDTH)),
        )
    ]
    bench.table(f"The filters themselves, n = {count:,}", ("load", "bytes a filter"), rows)


# -- a million, each size in a process of its own --------------------------------------------------


def _run_million(bench: Bench, size: int) -> None:
    sizes = (size, bench.size(1_000_000, 3_000))
    rows = []
    for each in sizes:
        command = [sys.executable, "-m", "bench.bench_wide", str(each)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append((each, *map(float, done.stdout.split())))
    bench.promise(f"n = {sizes[1]:,}: gigabytes in all", rows[1][3], at_most=MILLION_BAR)
    growth = ("growth", *(many / one for one, many in zip(rows[0][1:], rows[1][1:], strict=True)))
    bench.table(
        "From columns to answers, in a process of its own",
        ("filters", "s to make the filters", "s to build", "GB at the most", "µs an event"),
        [*((f"{row[0]:,}", *row[1:]) for row in rows), growth],
    )


def measure(size: int) -> None:
    """Print what it takes to make filters, to build a matcher and to match, at one size."""
    start = time.perf_counter()
    pairs: Pairs = [(filter, i) for i, filter in enumerate(filters_of(*load(size, seed=1)))]
    made = time.perf_counter()
    batch = events(1_000, seed=7)
    matcher = _built(pairs, batch[0])
    built = time.perf_counter()
    taken = []
    for _ in range(3):
        start_match = time.perf_counter()
        matcher.match_many(batch)
        taken.append(time.perf_counter() - start_match)
    print(made - start, built - made, peak(), min(taken) / len(batch) * 1e6)


def peak() -> float:
    """Return the most memory that this process has had, in gigabytes; 0 where that is not told."""
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


# -- one attribute ---------------------------------------------------------------------------------


def _run_one_attribute(bench: Bench) -> None:
    size = bench.size(10_000, 200)
    random = np.random.default_rng(3)
    low = random.uniform(0, 100, size)
    columns: dict[str, Any] = {"x": (low, low + random.exponential(0.05, size))}
    pairs: Pairs = [(f, i % 10) for i, f in enumerate(pl.filters_from_columns(columns))]
    batch = [{"x": x} for x in random.uniform(0, 100, bench.size(2_000, 20)).tolist()]
    matcher = _built(pairs, batch[0])
    with bench.comparison(f"match_many: one attribute with {size:,} ranges") as timed:
        timed.case(
            "BitmapMatcher",
            lambda: matcher.match_many(batch),
            operations=len(batch),
            at_least=1 / ONE_ATTRIBUTE_BAR,
        )


if __name__ == "__main__":
    measure(int(sys.argv[1]))

"""Questions to a table that was just built: single matches, and what covers and is covered.

The loads are those of the index benchmark. A table cannot know how many notifications will come;
it is held against whoever knows that it is five hundred, and builds a matcher at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import posetlib as pl
from bench.baselines import CoverScan, boxes_of
from bench.bench_matching import Event, Scan, events
from bench.harness import Bench
from bench.index_parts import LOADS, NAMES, Load, class_of
from bench.turns import Step, take_turns
from posetlib.matching import BitmapMatcher

AGAINST_MATCHER = 1.5
AGAINST_SCAN = 2


def run(bench: Bench) -> None:
    """Ask tables from cold, for both loads."""
    for kind in LOADS:
        _run_matches(bench, kind)
        _run_covering(bench, kind)


def _run_matches(bench: Bench, kind: str) -> None:
    size = bench.size(10_000, 200)
    some = Load.make(kind, size, seed=1)
    codes, pairs = some.distributed()
    several = events(bench.size(500, 20), seed=3)
    scan = Scan(some.columns, codes)
    rows = []
    for short, name in (("pf", "PF, local"), *NAMES.items()):
        options = {"local": True} if "local" in name else {}
        table = class_of(short).build(pairs, **options)
        entries = table.entries()
        entrants: dict[str, Callable[[], list[Step]]] = {
            "scan": lambda: [partial(_each, scan.match, several)],
            "matcher": lambda entries=entries: [  # type: ignore[misc]
                lambda: _each(BitmapMatcher(entries).match, several)
            ],
            # A copy has no matcher, as a table that was just built.
            "table": lambda table=table: [  # type: ignore[misc]
                partial(_each, table.copy().match, several)
            ],
        }
        taken = {
            entrant: float(seconds.sum()) * 1e3
            for entrant, seconds in take_turns(entrants, bench.size(5, 1)).items()
        }
        to_matcher = taken["table"] / taken["matcher"]
        to_scan = taken["table"] / taken["scan"]
        what = f"{name}, {len(several)} matches from cold, n = {size:,}, {kind}"
        bench.promise(f"{what}: time of building and asking", to_matcher, at_most=AGAINST_MATCHER)
        bench.promise(f"{what}: time of the numpy scan", to_scan, at_most=AGAINST_SCAN)
        rows.append(
            (name, len(table), taken["table"], taken["matcher"], to_matcher, taken["scan"], to_scan)
        )
    bench.table(
        f"{len(several)} single matches from cold: {kind}, n = {size:,}",
        (
            "structure",
            "filters",
            "ms",
            "ms to build a matcher and ask it",
            "ratio",
            "ms of the numpy scan",
            "ratio",
        ),
        rows,
    )


def _run_covering(bench: Bench, kind: str) -> None:
    size = bench.size(10_000, 200)
    some = Load.make(kind, size, seed=1)
    asked = Load.make(kind, bench.size(200, 10), seed=9)
    boxes = boxes_of(asked.columns)
    scan = CoverScan(some.columns)
    rows = []
    for short, name in NAMES.items():
        table = class_of(short).build(some.pairs())
        entrants: dict[str, Callable[[], list[Step]]] = {
            "scan": lambda: [lambda: [scan.both(box) for box in boxes]],
            # The same table asked again has its columns: the difference is what these cost to make.
            "table": lambda table=table: [partial(_both, table.copy(), asked.filters)] * 2,  # type: ignore[misc]
        }
        taken = take_turns(entrants, bench.size(5, 1))
        cold, warm = (taken["table"] * 1e3).tolist()
        scanned = float(taken["scan"].sum()) * 1e3
        what = f"{name}, {len(boxes)} covering and covered from cold, n = {size:,}, {kind}"
        bench.promise(f"{what}: time of the numpy scan", cold / scanned, at_most=AGAINST_SCAN)
        rows.append((name, cold, warm, scanned, cold / scanned))
    bench.table(
        f"{len(boxes)} times covering and covered from cold: {kind}, n = {size:,}",
        ("structure", "ms", "ms when asked again", "ms of the numpy scan", "ratio"),
        rows,
    )


def _both(table: pl.Table, filters: list[pl.Filter]) -> None:
    for filter in filters:
        table.covering(filter)
        table.covered(filter)


def _each(match: Callable[[Event], object], some: list[Event]) -> list[object]:
    return [match(event) for event in some]

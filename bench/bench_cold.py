"""Questions to a table that was just built: single matches, and what covers and is covered.

The loads are those of the index benchmark. A table cannot know how many questions will come; it is
held against whoever knows that they are many, and builds a matcher, or columns, at once. The numpy
scan that it is held against besides has its columns already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

import posetlib as pl
from bench.baselines import CoverScan, boxes_of
from bench.bench_matching import Columns, Scan, events
from bench.harness import Bench
from bench.index_parts import LOADS, NAMES, Load, class_of
from bench.turns import Step, take_turns
from posetlib.constraints.numbers import closed_ends
from posetlib.filters.filter import contents_of
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
            "scan": lambda: [lambda: _each(scan.both, boxes)],
            "columns": lambda: [lambda: _each(CoverScan(_columns_of(some.filters)).both, boxes)],
            # The same table asked again has its columns: the difference is what these cost to make.
            "table": lambda table=table: [partial(_both, table.copy(), asked.filters)] * 2,  # type: ignore[misc]
        }
        taken = take_turns(entrants, bench.size(5, 1))
        cold, warm = (taken["table"] * 1e3).tolist()
        scanned, made = (float(taken[each].sum()) * 1e3 for each in ("scan", "columns"))
        what = f"{name}, {len(boxes)} covering and covered from cold, n = {size:,}, {kind}"
        to_columns = cold / made
        what_built = f"{what}: time of building columns and asking them"
        bench.promise(what_built, to_columns, at_most=AGAINST_MATCHER)
        bench.promise(f"{what}: time of the numpy scan", cold / scanned, at_most=AGAINST_SCAN)
        rows.append((name, cold, warm, made, to_columns, scanned, cold / scanned))
    bench.table(
        f"{len(boxes)} times covering and covered from cold: {kind}, n = {size:,}",
        (
            "structure",
            "ms",
            "ms when asked again",
            "ms to build columns and ask them",
            "ratio",
            "ms of the numpy scan",
            "ratio",
        ),
        rows,
    )


def _columns_of(filters: list[pl.Filter]) -> Columns:
    """Return the ends of filters of the same two ranges."""
    ends = [closed_ends(constraints) for constraints in zip(*contents_of(filters)[1], strict=True)]
    assert None not in ends, "the loads have closed ranges alone"
    arrays = [tuple(map(np.array, each)) for each in ends if each is not None]
    return {name: (low, high) for name, (low, high) in zip(("x", "y"), arrays, strict=True)}


def _both(table: pl.Table, filters: list[pl.Filter]) -> None:
    for filter in filters:
        table.covering(filter)
        table.covered(filter)


def _each(ask: Callable[[Any], object], questions: Iterable[Any]) -> list[object]:
    return [ask(question) for question in questions]

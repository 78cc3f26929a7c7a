"""Pruning of the auction subscriptions: load, time and memory along the way; and covering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

import posetlib as pl
from bench.harness import Bench
from posetlib.arrays import Vocabulary, encode_filters, minimal
from posetlib.expressions import RATINGS, PrunedEntries, learned
from posetlib.expressions.selectivity import LeafShare
from posetlib.generating.auction import (
    AuctionParameters,
    generated_events,
    generated_subscriptions,
)
from posetlib.simulation.pruned_network import PrunedNetwork

_BROKERS = 5
# Every subscription has five prunings on average: 15 for each three of the classes.
_PRUNINGS = 5
_STAGES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0)
# The cut-off is the last stage before the load has grown by more than this share of all brokers.
_MORE_LOAD = 0.1

Events = Sequence[dict[str, Any]]


class _Stage(NamedTuple):
    """What a share of all prunings comes to."""

    share: float
    #: Associations of predicates with entries of neighbours that are removed: M.
    removed: float
    #: The share of the other brokers that a notification is sent to: N.
    load: float
    #: Microseconds of a broker for a notification; 0 if it was not measured.
    micros: float
    #: Bytes for an entry, by the model.
    size: float


def run(bench: Bench, size: int) -> None:
    """Prune by every rating, and hold covering against pruning."""
    parameters = AuctionParameters(seed=3, swap_labels=True)
    made = generated_subscriptions(parameters, range(size)).expressions()
    events = generated_events(parameters, range(bench.size(1_024, 64))).notifications()
    share = _shares(bench, parameters, made)
    stages = _pruned(bench, "accuracy+occurrence", made, events, share, timed=True)
    bench.table(
        f"Pruning {size:,} subscriptions by accuracy+occurrence, {_BROKERS} brokers in a line",
        ("share of prunings", "M", "N", "µs for a notification", "bytes for an entry (5.3)"),
        stages,
        note="M: associations removed; N: share of the other brokers that a notification is sent "
        "to. One order of prunings for all brokers; the time is that of the first one.",
    )
    unpruned, last = stages[0], stages[-1]
    at_65, at_75 = (_nearest(stages, removed) for removed in (0.65, 0.75))
    cut = _cut_off(stages)
    bench.table(
        "Verdict beside the thesis",
        ("what", "ours", "thesis"),
        [
            ("M, last with a load of at most 0.1 more", cut.removed, "0.65-0.75 (8.3.1-8.3.3)"),
            ("N unpruned", unpruned.load, "0.08"),
            (f"N at M = {at_65.removed:.2f}", at_65.load, "up to 0.1 more at 0.65"),
            (f"N at M = {at_75.removed:.2f}", at_75.load, "0.17 at 0.75"),
            ("M after all prunings", last.removed, "0.84"),
            ("N after all prunings", last.load, "-"),
            (f"time at M = {at_65.removed:.2f}, of unpruned", at_65.micros / unpruned.micros, "-"),
            (
                f"time at M = {at_75.removed:.2f}, of unpruned",
                at_75.micros / unpruned.micros,
                "0.47",
            ),
            ("bytes unpruned", unpruned.size, "95"),
            (f"bytes at M = {at_65.removed:.2f}", at_65.size, "39-54 (8.4.1)"),
        ],
    )
    few = bench.size(10_000, 150)
    _ratings(bench, made[:few], events, share)
    _network(bench, made[: bench.size(1_000, 60)], events, share)
    _crossover(bench, at_65.share)


def _shares(
    bench: Bench, parameters: AuctionParameters, made: Sequence[pl.Expression]
) -> LeafShare:
    """Learn how selective conditions are.

    From too few events, most titles look as if nobody offered them, and their subscriptions are
    pruned to the title alone.
    """
    learner = pl.ExpressionMatcher(dict.fromkeys((each, "learner") for each in made))
    rows = range(10_000, 10_000 + bench.size(40_000, 500))
    learner.match_many(generated_events(parameters, rows).notifications())
    return learned(learner)


def _pruned(
    bench: Bench,
    rating: str,
    made: Sequence[pl.Expression],
    events: Events,
    share: LeafShare,
    *,
    timed: bool = False,
) -> list[_Stage]:
    """Prune step by step."""
    size = len(made)
    homes = [i % _BROKERS for i in range(size)]
    entries = PrunedEntries(rating, share)
    for i, each in enumerate(made):
        entries.add(i, each)
    first = entries.associations
    stages, done = [], 0
    for part in _STAGES:
        done += entries.prune(round(_PRUNINGS * size * part) - done)
        pruned = [entries.current(i) for i in range(size)]
        stages.append(
            _Stage(
                part,
                1 - entries.associations / first,
                _load(pruned, homes, events),
                _time_of_broker(bench, made, pruned, homes, events) if timed else 0.0,
                pl.MemoryModel.of(pruned[:3_000]).bytes_boolean(),
            )
        )
    return stages


def _cut_off(stages: Sequence[_Stage]) -> _Stage:
    fine = [stage for stage in stages if stage.load <= stages[0].load + _MORE_LOAD]
    return max(fine, key=lambda stage: stage.removed)


def _nearest(stages: Sequence[_Stage], removed: float) -> _Stage:
    return min(stages, key=lambda stage: abs(stage.removed - removed))


def _load(pruned: Sequence[pl.Expression], homes: Sequence[int], events: Events) -> float:
    """Return the share of the other brokers that a notification is sent to, from any broker."""
    matcher = pl.ExpressionMatcher(dict.fromkeys(zip(pruned, homes, strict=True)))
    sent = 0
    for i, found in enumerate(matcher.match_many(events)):
        at = i % _BROKERS
        wanted = [home for home in found if isinstance(home, int)]
        sent += max([home - at for home in wanted if home > at], default=0)
        sent += max([at - home for home in wanted if home < at], default=0)
    return sent / len(events) / (_BROKERS - 1)


def _time_of_broker(
    bench: Bench,
    made: Sequence[pl.Expression],
    pruned: Sequence[pl.Expression],
    homes: Sequence[int],
    events: Events,
) -> float:
    """Return the time that the first broker takes for a notification: clients and neighbours."""
    pairs: dict[Any, None] = {}
    for i, home in enumerate(homes):
        pairs[(made[i], i) if home == 0 else (pruned[i], "neighbour")] = None
    matcher = pl.ExpressionMatcher(pairs)
    matcher.match_many(events[:64])
    best = min(_timed(bench, matcher, events) for _ in range(bench.size(5, 1)))
    return best / len(events) * 1e6


def _timed(bench: Bench, matcher: pl.ExpressionMatcher, events: Events) -> float:
    start = bench._clock()
    matcher.match_many(events)
    return bench._clock() - start


def _ratings(bench: Bench, made: Sequence[pl.Expression], events: Events, share: LeafShare) -> None:
    published = {
        "accuracy": (0.66, 0.75), "efficiency": (0.34, 0.5), "memory": (0.07, 0.05),
        "accuracy+occurrence": (0.75, 0.85),
    }  # fmt: skip
    rows = []
    for rating in RATINGS:
        stages = _pruned(bench, rating, made, events, share)
        cut = _cut_off(stages)
        rows.append((rating, cut.removed, cut.share, *published[rating], cut.load))
    bench.table(
        f"Where the load begins to grow, {len(made):,} subscriptions",
        ("rating", "M", "share of prunings", "M, thesis (8.3.1)", "share, thesis", "N"),
        rows,
        note=f"The cut-off is the last stage with a load of at most {_MORE_LOAD} more; the thesis "
        "reads it off its plots.",
    )


def _network(bench: Bench, made: Sequence[pl.Expression], events: Events, share: LeafShare) -> None:
    """See that brokers with tables and queues of their own do what the one order says."""
    homes = [i % _BROKERS for i in range(len(made))]
    network = PrunedNetwork(nx.path_graph(_BROKERS), "post", "accuracy+occurrence", share)
    entries = PrunedEntries("accuracy+occurrence", share)
    for i, each in enumerate(made):
        network.subscribe(i, each, homes[i])
        entries.add(i, each)
    first, alone = network.associations, entries.associations
    rows, done = [], 0
    for part in _STAGES[::3]:
        steps = round(_PRUNINGS * len(made) * part) - done
        done += entries.prune(steps)
        # Each broker holds what the clients of all others ask for.
        network.prune(round(steps * (_BROKERS - 1) / _BROKERS))
        routed = [network.route(event, i % _BROKERS) for i, event in enumerate(events)]
        sent = sum(len(each.reached) for each in routed) / len(events) / (_BROKERS - 1)
        load = _load([entries.current(i) for i in range(len(made))], homes, events)
        removed = 1 - network.associations / first
        rows.append((part, removed, 1 - entries.associations / alone, sent, load))
    bench.table(
        f"{len(made):,} subscriptions: {_BROKERS} brokers that prune each their own table",
        ("share of prunings", "M", "M, one order", "N", "N, one order"),
        rows,
    )


def _crossover(bench: Bench, share_of_prunings: float) -> None:
    """Find from which share of covered conjunctions on covering saves more than pruning (8.4.1)."""
    size, pruned_size = bench.size(10_000, 300), bench.size(2_000, 60)
    rows: list[tuple[float, ...]] = []
    for books in (0.1, 1.0, 10.0, 30.0, 100.0, 1_000.0, 10_000.0):
        parameters = AuctionParameters(seed=4, books=books, swap_labels=True)
        expressions = generated_subscriptions(parameters, range(size)).expressions()
        filters = [each for expression in expressions for each in expression.dnf()]
        ranges = encode_filters(filters, Vocabulary())
        covered = 1 - len(minimal(ranges, np.arange(len(filters)))) / len(filters)
        left = pl.MemoryModel.of(expressions).bytes_counting() * (1 - covered)
        entries = PrunedEntries("accuracy+occurrence", _shares(bench, parameters, expressions))
        for i, each in enumerate(expressions[:pruned_size]):
            entries.add(i, each)
        pruned = []
        for part in (share_of_prunings, 1.0):
            entries.prune(round(_PRUNINGS * pruned_size * part))
            pruned.append(pl.MemoryModel.of(map(entries.current, entries)).bytes_boolean())
        rows.append((books, covered, left, *pruned))
    rows.sort(key=lambda row: row[1])
    # What covering leaves falls as more is covered: where it meets what pruning leaves.
    some, all_of_it = (
        float(np.interp(0.0, [row[at] - row[2] for row in rows], [row[1] for row in rows]))
        for at in (3, 4)
    )
    bench.table(
        f"Covering of conjunctions against pruning, {size:,} subscriptions",
        (
            "auctions for a book",
            "share covered",
            "bytes left by covering (5.1)",
            f"by {share_of_prunings:.0%} of prunings (5.3)",
            "by all prunings",
        ),
        rows,
        note=f"Covering saves more from a covered share of {some:.2f} on, and than all prunings "
        f"from {all_of_it:.2f}; the thesis has 0.65.",
    )

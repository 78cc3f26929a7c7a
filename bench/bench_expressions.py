"""Expressions: matching, memory, pruning and overlap, on the auction workload."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import posetlib as pl
from bench import expression_pruning
from bench.harness import Bench
from posetlib.expressions.attribute_predicates import AttributePredicates
from posetlib.expressions.baselines import BruteForceMatcher, DisjunctiveMatcher
from posetlib.generating.auction import (
    AuctionParameters,
    generated_advertisements,
    generated_events,
    generated_subscriptions,
)


def run(bench: Bench) -> None:
    """Hold the matcher against disjunctive forms, and pruning and overlap against the thesis."""
    size = bench.size(100_000, 600)
    parameters = AuctionParameters(seed=1)
    expressions = generated_subscriptions(parameters, range(size)).expressions()
    events = generated_events(parameters, range(bench.size(1_024, 64))).notifications()
    _matching(bench, expressions, events)
    _memory(bench, expressions)
    _overlap(bench, size)
    expression_pruning.run(bench, size)


def _matching(
    bench: Bench, expressions: Sequence[pl.Expression], events: Sequence[dict[str, Any]]
) -> None:
    matcher = pl.ExpressionMatcher((each, i) for i, each in enumerate(expressions))
    baselines = {
        name: DisjunctiveMatcher(engine, ((each, i) for i, each in enumerate(expressions)))
        for name, engine in (
            ("disjunctive form + BitmapMatcher", pl.BitmapMatcher),
            ("disjunctive form + CountingMatcher", pl.CountingMatcher),
        )
    }
    brute = BruteForceMatcher((each, i) for i, each in enumerate(expressions))
    expected = matcher.match_many(events)
    few = events[: bench.size(16, 4)]
    one = events[:1]
    for name, each in baselines.items():
        assert each.match_many(few) == expected[: len(few)], name
    assert brute.match_many(one) == expected[:1]
    title = f"match_many, {len(expressions):,} expressions of the auction mix, an interface each"
    with bench.comparison(title) as timed:
        timed.case("ExpressionMatcher", lambda: matcher.match_many(events), operations=len(events))
        bitmap, counting = baselines.values()
        timed.case(
            "disjunctive form + BitmapMatcher", lambda: bitmap.match_many(events),
            operations=len(events),
        )  # fmt: skip
        timed.case(
            "disjunctive form + CountingMatcher", lambda: counting.match_many(few),
            operations=len(few),
        )  # fmt: skip
        timed.case("ExpressionMatcher, one at a time", lambda: [matcher.match(e) for e in few],
                   operations=len(few))  # fmt: skip
        timed.case("brute force", lambda: brute.match_many(one))
    times = {row[0]: float(str(row[1])) for row in bench.tables[-1].rows}
    own = times["ExpressionMatcher"]
    better = min(times[name] for name in baselines)
    bench.promise("the better disjunctive form, times ours", better / own, at_least=3)
    bench.promise("brute force, times ours", times["brute force"] / own, at_least=50)


def _memory(bench: Bench, expressions: Sequence[pl.Expression]) -> None:
    model = pl.MemoryModel.of(expressions)
    pairs = [(each, i) for i, each in enumerate(expressions)]
    taken, matcher = _allocated(lambda: pl.ExpressionMatcher(pairs))
    # What any matcher in Python takes, and the model leaves out: a dictionary of the pairs, as in
    # the matcher that asks one by one; one of interfaces; and the index of predicates.
    shares = {
        "the pairs": _allocated(lambda: BruteForceMatcher(pairs))[0],
        "the interfaces": _allocated(lambda: _numbered(i for _, i in pairs))[0],
        "the index of predicates": _allocated(lambda: _predicate_index(expressions))[0],
    }
    count = len(expressions)
    left = taken - sum(shares.values())
    bench.table(
        f"Memory of the matcher, {count:,} expressions, bytes for each",
        ("what", "bytes"),
        [
            ("model, Boolean (5.3)", model.bytes_boolean()),
            ("model, counting (5.1)", model.bytes_counting()),
            ("model, cluster (5.2)", model.bytes_cluster()),
            ("all that was allocated, without the expressions", taken / count),
            *((f"Python's share: {name}", each / count) for name, each in shares.items()),
            ("what is left, which the model is about", left / count),
            ("of this, columns in use", matcher.nbytes / count),
        ],
    )
    bench.promise(
        "what is left of the memory, times the model (5.3)",
        left / count / model.bytes_boolean(),
        at_most=1.5,
    )


def _allocated(make: Callable[[], Any]) -> tuple[int, Any]:
    """Return how many bytes are allocated for something, and that."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return taken, made


def _numbered(names: Iterable[Hashable]) -> tuple[dict[Hashable, int], list[Hashable], list[int]]:
    """Number names, with the way back, and a count for each."""
    # Numbers of their own, as a matcher has them.
    numbers = {name: int(str(at)) for at, name in enumerate(names)}
    return numbers, list(numbers), [1] * len(numbers)


def _predicate_index(expressions: Sequence[pl.Expression]) -> object:
    numbers: dict[tuple[str, Any], int] = {}
    attributes: dict[str, AttributePredicates] = {}
    for expression in expressions:
        for leaf in expression.leaves():
            key = (leaf.attribute, leaf.constraint)
            if key not in numbers:
                numbers[key] = len(numbers)
                attribute = attributes.setdefault(leaf.attribute, AttributePredicates())
                attribute.add(leaf.constraint, numbers[key])
    return numbers, attributes


def _overlap(bench: Bench, size: int) -> None:
    parameters = AuctionParameters(seed=2)
    advertisements = generated_advertisements(parameters, range(size)).expressions()
    asked = generated_subscriptions(parameters, range(bench.size(30, 6))).expressions()
    index = pl.OverlapIndex(enumerate(advertisements))
    with bench.comparison(f"Overlap of a subscription with {size:,} advertisements") as timed:
        timed.case(
            "all of them (function)", lambda: [index.overlapping(each) for each in asked],
            operations=len(asked),
        )  # fmt: skip
        timed.case(
            "any of them (decision)", lambda: [index.overlaps_any(each) for each in asked],
            operations=len(asked),
        )  # fmt: skip
    ratio = bench.tables[-1].rows[1][3]
    bench.table(
        "Decision against function",
        ("", "ratio"),
        [("ours", ratio), ("the thesis (8.5)", 0.2)],
        note="The thesis has the decision at about a fifth of the function's time.",
    )

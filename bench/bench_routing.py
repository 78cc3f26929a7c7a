"""Routers: updates, growth and routing beside the bare table; networks; the broker over TCP.

Ten neighbours; the loads are *uniform* and *narrow*, as for matching. A router holds the same
entries as the bare table beside it; both take the same updates in turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import posetlib as pl
from bench import routing_broker, routing_network
from bench.bench_matching import events, load
from bench.harness import Bench
from bench.turns import Step, steps, take_turns

NEIGHBOURS = [f"I{i}" for i in range(10)]
LOADS = ("uniform", "narrow")
TABLES = ("fp", "nrf")
#: Multiples of the bare table's add and remove; of the update at 1,000; of ``match_many``'s rate.
SUBSCRIBE_BAR, UNSUBSCRIBE_BAR, GROWTH_BAR, ROUTE_BAR = 4, 6, 4, 0.7

Pairs = list[tuple[pl.Filter, str]]


def pairs(kind: str, size: int, seed: int) -> Pairs:
    """Return filters, each with one of the neighbours.

    *Apart* are squares of one size, of which none covers another: nothing is eliminated.
    """
    if kind == "apart":
        low = np.random.default_rng(seed).uniform(0, 95, (2, size))
        made = pl.filters_from_columns({"x": (low[0], low[0] + 5), "y": (low[1], low[1] + 5)})
    else:
        made = pl.filters_from_columns(load(kind, size, seed))
    sources = np.random.default_rng(seed + 1).integers(len(NEIGHBOURS), size=size).tolist()
    return [(item, NEIGHBOURS[i]) for item, i in zip(made, sources, strict=True)]


def updates(bench: Bench) -> None:
    """Compare subscribe with add, and unsubscribe with remove."""
    size, more = bench.size(10_000, 200), bench.size(1_000, 50)
    rows = []
    for kind in LOADS:
        loaded = pairs(kind, size + more, seed=1)
        first, last = loaded[:size], loaded[size:]
        for structure in TABLES:
            gone = _held(structure, first, more)
            entrants = {
                "add": partial(_table_steps, structure, first, last, gone),
                "subscribe": partial(_router_steps, structure, first, last, gone),
            }
            taken = take_turns(entrants, bench.size(5, 1))
            half = len(taken["add"]) - len(_cut(gone))
            added = [float(taken[name][:half].sum()) / len(last) for name in entrants]
            removed = [float(taken[name][half:].sum()) / max(1, len(gone)) for name in entrants]
            ratios = (added[1] / added[0], removed[1] / removed[0])
            micros = [1e6 * each for each in (*added, *removed)]
            rows.append((f"{structure}, {kind}", *micros, *ratios))
            what = f"{size:,} subscriptions of ten neighbours, {structure}, {kind}"
            bench.promise(f"{what}: subscribe, times add", rows[-1][-2], at_most=SUBSCRIBE_BAR)
            bench.promise(
                f"{what}: unsubscribe, times remove", rows[-1][-1], at_most=UNSUBSCRIBE_BAR
            )
    bench.table(
        "An update of a router and of its bare table",
        ("load", "add µs", "subscribe µs", "remove µs", "unsubscribe µs", "ratio", "ratio"),
        rows,
    )


def _cut(rows: Sequence[Any]) -> list[Any]:
    return list(range(0, len(rows), 100))


def _held(structure: str, first: Pairs, count: int) -> Pairs:
    """Return some of the entries that elimination leaves, in an order of their own."""
    entries = pl.make_table(structure)
    for item, source in first:
        entries.add(item, source)
    held = list(entries.entries())
    order = np.random.default_rng(5).permutation(len(held))[:count]
    return [held[i] for i in order.tolist()]  # type: ignore[misc]


def _table_steps(structure: str, first: Pairs, last: Pairs, gone: Pairs) -> list[Step]:
    table = pl.make_table(structure)
    for item, source in first:
        table.add(item, source)
    return steps(table.add, last, 100) + steps(table.discard, gone, 100)


def _router_steps(structure: str, first: Pairs, last: Pairs, gone: Pairs) -> list[Step]:
    router = filled(structure, first)
    return steps(router.subscribe, last, 100) + steps(router.unsubscribe, gone, 100)


def filled(structure: str, loaded: Pairs, **options: Any) -> pl.Router:
    """Return a router that was sent some subscriptions."""
    router = pl.Router(NEIGHBOURS, structure, **options)
    for item, source in loaded:
        router.subscribe(item, source)
    return router


def growth(bench: Bench) -> None:
    """Time updates of a small router and of one with a hundred times as many subscriptions."""
    small, large, count = bench.size(1_000, 50), bench.size(100_000, 400), bench.size(500, 20)
    rows = []
    for kind in (*LOADS, "apart"):
        loaded = pairs(kind, large + count, seed=2)
        seconds = {}
        for size in (small, large):
            rounds = []
            router = filled("nrf", loaded[:size])
            fresh = loaded[size : size + count] if size == large else loaded[-count:]
            for _ in range(bench.size(5, 1)):
                taken = take_turns(
                    {"on": partial(steps, router.subscribe, fresh, 100),
                     "off": partial(steps, router.unsubscribe, fresh, 100)},
                    1,
                )  # fmt: skip
                rounds.append(sum(float(each.sum()) for each in taken.values()))
            seconds[size] = min(rounds) / (2 * count)
        ratio = seconds[large] / seconds[small]
        rows.append((kind, len(router.table), *(1e6 * each for each in seconds.values()), ratio))
        bench.promise(
            f"an update at {large:,} subscriptions, nrf, {kind}, times that at {small:,}",
            ratio,
            at_most=GROWTH_BAR,
        )
    bench.table(
        "Growth of an update, subscribe and unsubscribe in turns",
        ("load", "filters at last", f"µs at {small:,}", f"µs at {large:,}", "ratio"),
        rows,
    )


def routing(bench: Bench) -> None:
    """Compare routing in batches with the bare table's ``match_many``."""
    size, count = bench.size(10_000, 200), bench.size(2_000, 100)
    batch = events(count, seed=3)
    for kind in LOADS:
        loaded = pairs(kind, size, seed=4)
        for structure in TABLES:
            router = filled(structure, loaded)
            table = pl.make_table(structure)
            for item, source in loaded:
                table.add(item, source)
            clients = filled(structure, loaded[: size // 2])
            for i, (item, _) in enumerate(loaded[size // 2 :]):
                clients.subscribe(item, f"client {i % 100}")
            with bench.comparison(f"{count:,} notifications at once, {structure}, {kind}") as race:
                race.case("match_many", _many(table.match_many, batch), operations=count)
                race.case(
                    "route_many",
                    _many(partial(router.route_many, source="I0"), batch),
                    operations=count,
                    at_most=1 / ROUTE_BAR,
                )
                race.case(
                    "route_many, half of it local, 100 clients",
                    _many(partial(clients.route_many, source="I0"), batch),
                    operations=count,
                )


def _many(do: Callable[[Any], object], batch: list[dict[str, Any]]) -> Callable[[], object]:
    return lambda: do(batch)


def run(bench: Bench) -> None:
    """Measure updates, growth and routing, then networks, then the broker over TCP."""
    updates(bench)
    growth(bench)
    routing(bench)
    routing_network.run(bench)
    routing_broker.run(bench)

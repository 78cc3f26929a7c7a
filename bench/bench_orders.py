"""The orders of the package, IP networks and prefixes: with their index, and without.

Networks are of the lengths that routing tables have, at random places; prefixes are topics of up to
four words. One interface for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from ipaddress import IPv4Network, IPv6Network
from typing import Any

import numpy as np

from bench.harness import Bench
from bench.turns import Step, each_row, steps, take_turns
from posetlib.orders import IP_NETWORKS, STRING_PREFIXES
from posetlib.search.relation import Relation
from posetlib.tables import Table, make_table

_LENGTHS = (8, 12, 16, 16, 20, 22, 24, 24, 24, 28, 32)
_WORDS = ("alarm", "door", "floor", "heat", "lamp", "pump", "room", "state", "temp", "valve")
STRUCTURES = ("fp", "nrf")


def run(bench: Bench) -> None:
    """Fill tables of each order, and ask them for what matches."""
    size = bench.size(4_000, 150)
    rng = np.random.default_rng(1)
    four = _distinct(size, lambda: _network(rng, IPv4Network, 32))
    six = _distinct(size, lambda: _network(rng, IPv6Network, 128))
    topics = _distinct(size, lambda: "/".join(map(str, _topic(rng))))
    _run_order(bench, "IPv4 networks", IP_NETWORKS, four, [each[-1] for each in four], at_least=20)
    _run_order(bench, "IPv6 networks", IP_NETWORKS, six, [each[-1] for each in six])
    texts = [f"{each}/on" for each in topics]
    _run_order(bench, "prefixes of topics", STRING_PREFIXES, topics, texts)


def _network(rng: np.random.Generator, kind: type, bits: int) -> Any:
    # A length of IPv4 stands for one of IPv6 that is twice as long: most are from /32 to /64.
    length = int(rng.choice(_LENGTHS)) * (1 if bits == 32 else 2)
    return kind((int(rng.integers(1 << min(length, 62))) << bits - min(length, 62), length))


def _topic(rng: np.random.Generator) -> Sequence[str]:
    return [*rng.choice(_WORDS, int(rng.integers(1, 4))).tolist(), str(rng.integers(1_000))]


def _distinct(size: int, draw: Any) -> list[Any]:
    found: dict[Any, None] = {}
    while len(found) < size:
        found[draw()] = None
    return list(found)


def _run_order(
    bench: Bench,
    name: str,
    relation: Relation[Any],
    items: list[Any],
    notifications: list[Any],
    at_least: float | None = None,
) -> None:
    """Add all, then match all, with the index and without it in turns."""
    pairs = list(zip(items, range(len(items)), strict=True))
    rows = []
    for structure in STRUCTURES:
        tables: dict[str, Table[Any]] = {}

        def entrant(index: bool, structure: str = structure, tables: Any = tables) -> list[Step]:
            table = tables[str(index)] = make_table(structure, relation=relation, index=index)
            some = notifications[: len(notifications) // 8]
            return [
                *steps(table.add, pairs, len(pairs) // 10),
                partial(each_row, table.match, [(each,) for each in some]),
            ]

        taken = take_turns(
            {"index": partial(entrant, True), "walk": partial(entrant, False)}, bench.size(2, 1)
        )
        adding = {case: float(seconds[:-1].sum()) for case, seconds in taken.items()}
        matching = {case: float(seconds[-1]) for case, seconds in taken.items()}
        faster = adding["walk"] / adding["index"]
        rows.append(
            (
                structure,
                adding["index"],
                adding["walk"],
                faster,
                tables["True"].counters.covering_tests,
                tables["False"].counters.covering_tests,
                matching["walk"] / matching["index"],
            )
        )
        if at_least is not None:
            what = f"{structure.upper()} add, {len(items):,} {name}: times as fast as without index"
            bench.promise(what, faster, at_least=at_least)
    bench.table(
        f"{len(items):,} {name}: add all, then match one at a time",
        (
            "structure",
            "s with index",
            "s without",
            "times as fast",
            "tests with",
            "tests without",
            "match, times as fast",
        ),
        rows,
    )

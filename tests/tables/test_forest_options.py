"""What the benchmark `double` tries out is right: only then do its figures mean anything."""

from __future__ import annotations

import random

import pytest

from bench.forest_options import LargestFirstForest, SizeOrderedForest
from posetlib.filters import parse_filter
from posetlib.graph.paths import descendants
from posetlib.tables import NonRedundantForest, PosetForest

ENDS = [(low, high) for low in range(6) for high in range(low + 1, 7)]
FILTERS = [parse_filter(f"x in [{a}, {b}] and y in [{c}, {d}]") for a, b in ENDS for c, d in ENDS]
POINTS = [{"x": x + 0.5, "y": y + 0.5} for x in range(6) for y in range(6)]


@pytest.mark.parametrize("seed", range(4))
def test_elimination_inside_the_removal_keeps_roots_and_matches(seed: int) -> None:
    """A local forest from which removals take all that they cover [T 4.4]."""
    rng = random.Random(seed)
    on_add, on_removal = NonRedundantForest(), PosetForest(local=True)
    for _ in range(150):
        item, interface = rng.choice(FILTERS), rng.choice("abc")
        held = [pair for pair in on_removal.entries() if pair[1] == interface]
        if rng.random() < 0.6 or not held:
            on_add.add(item, interface)
            on_removal.add(item, interface)
        else:
            item, _ = rng.choice(held)
            on_add.discard(item, interface)
            on_removal.remove_covered(item, interface)
        assert set(on_removal.roots()) == set(on_add.roots())
        assert on_removal.match_many(POINTS) == on_add.match_many(POINTS)
        assert set(on_removal.entries()) >= set(on_add.entries())


@pytest.mark.parametrize("forest", [SizeOrderedForest, LargestFirstForest])
def test_forests_with_siblings_by_size_keep_their_promises(forest: type[SizeOrderedForest]) -> None:
    rng = random.Random(3)
    table, plain = forest(local=True, index=False), PosetForest(local=True)
    for _ in range(150):
        item = rng.choice(FILTERS)
        if rng.random() < 0.7:
            table.add(item, "a")
            plain.add(item, "a")
        else:
            table.discard(item, "a")
            plain.discard(item, "a")
        table.check()
        assert set(table.roots()) == set(plain.roots())
        for node in table._links.nodes.values():
            assert table.sizes.of[node] == len(descendants(node)) + 1

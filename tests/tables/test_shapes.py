"""The shapes that people subscribe with: the same tables with an index, by fewer tests."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from random import Random

import pytest

import posetlib as pl
from bench.shapes import SHAPES, SHARP, TYPES, filters_of
from posetlib.tables import make_table
from tests.tables.kinds import index_short_lists

#: Few values, so that much is equal, or covers something else; and values that are hard to tell.
_BIG = 2**53
_HARD: dict[str, Callable[[Random], str]] = {
    "big integers": lambda r: f"x {r.choice(('<', '>', '=', '!=', '>='))} {_BIG + r.randrange(4)}",
    "sets of big integers": lambda r: (
        f"x in {{{', '.join(str(_BIG + r.randrange(5)) for _ in range(r.randrange(1, 4)))}}}"
    ),
    "runs and ranges": lambda r: r.choice(
        (
            "x:int in [{0}, {1}]",
            "x in [{0}, {1}]",
            "x in ({0}, {2})",
            "x not in [{0}, {1}]",
            "x < {0} or x > {1}",
            "x in {{{0}, {1}, {2}}}",
            "x:int != {0}",
            "x != {0} and x > {1}",
            "x != {0} and x != {1}",
        )
    ).format(low := r.randrange(8), low + r.randrange(5), low + 5 + r.randrange(3)),
    "equal first bytes": lambda r: r.choice(
        (
            's = "commonprefix{0}"',
            's prefix "commonpre{0}"',
            's > "commonprefix{0}"',
            's in {{"commonprefix{0}", "commonprefix{1}"}}',
            's != "commonprefix{0}"',
            's suffix "fix{0}"',
            's contains "pre{0}"',
            's contains "common"',
            's not contains "x{0}"',
            "exists s",
            "s is string",
        )
    ).format(r.choice("ab"), r.choice("abc")),
    "ends of Unicode": lambda r: 's {} "{}"'.format(
        r.choice(("=", "prefix", "<", ">=", "suffix", "contains", "!=")),
        "".join(r.choice("a\ud7ff\ue000\U0010fffe\U0010ffff") for _ in range(r.randrange(1, 4))),
    ),
    "sets": lambda r: r.choice(
        (
            "t has {0}",
            "t lacks {0}",
            "t superset {{{0}, {1}}}",
            "t overlaps {{{0}, {1}, {2}}}",
            "t disjoint {{{0}, {1}}}",
            "t subset {{{0}, {1}, {2}}}",
            "t has {0} and t lacks {1}",
            "t has {0} or t lacks {1}",
            "t is set",
            "exists t",
        )
    ).format(r.randrange(3), r.randrange(3, 6), r.randrange(6)),
    "parts and wholes": lambda r: r.choice(
        (
            "exists x",
            "x is number",
            "x is string",
            "x = true",
            "x > {0}",
            "x < $y",
            "x <= $y",
            "x > {0} and x != $y",
            "x isa T{0}",
            "exists x and exists y",
            "y > {0} and exists x",
            "true",
        )
    ).format(r.randrange(4)),
}
ALL_SHAPES = {**SHAPES, **_HARD}
_DIFFERENT = 70


@cache
def some_of(shape: str) -> list[pl.Filter]:
    """Filters of a shape, of few different ones if there are few."""
    if shape in SHAPES:
        return filters_of(shape, _DIFFERENT)
    random = Random(shape)
    found: dict[pl.Filter, None] = {}
    for _ in range(4 * _DIFFERENT):
        with suppress(pl.FilterError):
            found[pl.parse_filter(ALL_SHAPES[shape](random), types=TYPES)] = None
    return list(found)[:_DIFFERENT]


class RefusalError(Exception):
    pass


def refuse(_change: pl.Change) -> None:
    raise RefusalError


def steps(filters: list[pl.Filter], seed: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    random = Random(seed)
    held: list[tuple[pl.Filter, str]] = []
    for i in range(130):
        if held and random.random() < (0.15 if i < 90 else 0.6):
            yield "discard", held.pop(random.randrange(len(held)))
        else:
            held.append((random.choice(filters), f"I{random.randrange(40)}"))
            yield "add", held[-1]


@pytest.mark.parametrize("structure", ["fp", "nrf", "bf"])
@pytest.mark.parametrize("shape", ALL_SHAPES)
def test_index_and_walk_agree(shape: str, structure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Step by step the same change, with operations that are undone; in the end the same table."""
    index_short_lists(monkeypatch)
    filters = some_of(shape)
    random = Random(f"{shape} {structure}")
    indexed, walking = make_table(structure), make_table(structure, index=False)
    for number, (name, arguments) in enumerate(steps(filters, f"{shape} {structure}")):
        if random.random() < 0.15:
            stop = indexed.listen(refuse)
            with suppress(RefusalError):
                getattr(indexed, name)(*arguments)
            stop()
        change = getattr(indexed, name)(*arguments)
        assert change == getattr(walking, name)(*arguments), (number, name, arguments)
        if number % 20 == 0:
            assert indexed == walking, number
            for item in random.sample(filters, 5):
                assert indexed.covering(item) == walking.covering(item), (number, str(item))
                assert indexed.covered(item) == walking.covered(item), (number, str(item))
        if number == 60:
            indexed.check()
            indexed = pickle.loads(pickle.dumps(indexed))
    indexed.check()
    assert indexed.entries() == walking.entries()
    assert indexed.snapshot() == walking.snapshot()
    batch = [dict.fromkeys("xst", value) for value in (1, 2.5, "commonprefixa", [1, 4], True)]
    assert indexed.match_many(batch) == walking.match_many(batch)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("structure", ["fp", "pf", "nrf"])
def test_mixtures_agree(structure: str, seed: int) -> None:
    """All shapes in one table, with thresholds as they are."""
    random = Random(seed)
    filters = [random.choice(some_of(random.choice(list(ALL_SHAPES)))) for _ in range(260)]
    indexed, walking = make_table(structure), make_table(structure, index=False)
    for i, filter in enumerate(filters):
        assert indexed.add(filter, i % 97) == walking.add(filter, i % 97), (i, str(filter))
    for i in random.sample(range(len(filters)), 120):
        interface = i % 97
        assert indexed.discard(filters[i], interface) == walking.discard(filters[i], interface)
    indexed.check()
    assert indexed.snapshot() == walking.snapshot()


def count_tests(structure: str, filters: list[pl.Filter]) -> tuple[int, int]:
    """Return the covering tests of the last fifth of some adds: with an index, and without."""
    indexed = make_table(structure)
    last = len(filters) // 5
    for i, filter in enumerate(filters[:-last]):
        indexed.add(filter, i)
    walking = indexed.snapshot().restore(index=False)
    counts = []
    for table in (indexed, walking):
        table.counters.reset()
        for i, filter in enumerate(filters[-last:]):
            table.add(filter, -i - 1)
        counts.append(table.counters.covering_tests)
    return counts[0], counts[1]


@pytest.mark.parametrize("structure", ["fp", "nrf"])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_index_makes_fewer_tests(shape: str, structure: str) -> None:
    """Never more than a walk; at most a tenth for the shapes of which this is promised."""
    indexed, walking = count_tests(structure, filters_of(shape, 400))
    assert indexed <= walking
    if shape in SHARP:
        assert 10 * indexed <= walking


@pytest.mark.parametrize(
    "shape",
    [
        "closed ranges",
        "half-lines",
        "two half-lines",
        "open ranges",
        "half-open ranges",
        "exists and half-lines",
    ],
)
def test_one_interval_for_each_attribute_needs_no_test_in_a_forest(shape: str) -> None:
    """Short lists too: boxes tell all of it, also those of `exists`."""
    indexed, walking = count_tests("nrf", filters_of(shape, 200))
    assert indexed == 0 < walking


def test_the_first_siblings_are_not_asked_in_vain() -> None:
    """Where none of them covers what comes, a list is sifted: it took 48 tests for each add."""
    filters = filters_of("not equal", 600)
    table = make_table("nrf")
    for number, filter in enumerate(filters):
        if number == 400:
            table.counters.reset()
        table.add(filter, number)
    assert table.counters.covering_tests < 5 * 200


@pytest.mark.parametrize(
    "shapes", [*SHAPES, ("open ranges", "half-lines", "exists and half-lines")]
)
def test_columns_made_at_once_answer_as_those_that_grew(
    shapes: str | tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy makes its columns from all nodes, the table itself made them node by node."""
    index_short_lists(monkeypatch)
    mixed = (shapes,) if isinstance(shapes, str) else shapes
    filters = [filter for shape in mixed for filter in some_of(shape)[: 60 // len(mixed)]]
    Random("columns").shuffle(filters)
    grown = make_table("fp")
    for number, filter in enumerate(filters):
        grown.add(filter, number)
    copied, walking = grown.copy(), make_table("fp", index=False)
    for number, filter in enumerate(filters):
        walking.add(filter, number)
    for filter in [*filters, *some_of("all of these")]:
        covering, covered = walking.covering(filter), walking.covered(filter)
        assert grown.covering(filter) == copied.covering(filter) == covering
        assert grown.covered(filter) == copied.covered(filter) == covered
    for number, filter in enumerate(filters):
        if number % 3 == 0:
            assert copied.remove(filter, number) == walking.remove(filter, number)
            assert copied.add(filter, "back") == walking.add(filter, "back")
    assert copied.entries() == walking.entries()

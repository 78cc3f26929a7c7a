"""Covering tests and time to add, and to add and remove, as in chapter 4 of the thesis."""

from __future__ import annotations

import time

from bench.harness import Bench
from posetlib.generating.thesis_loads import RANGE_SCHEMAS as SCHEMAS
from posetlib.generating.thesis_loads import Scenario, distributed, scenario
from posetlib.tables import Table, make_table

#: With one interface per filter nothing is eliminated: the local clients of [T 4.3].
UNIQUE = (("fp", {}), ("pf", {}), ("pf", {"local": True}), ("bf", {}), ("nrf", {}))
FEW = (("fp", {}), ("pf", {}), ("bf", {}), ("nrf", {}))
#: The share of the poset's covering tests that an add to a forest may need. With three attributes
#: most filters are incomparable, and a long list of siblings costs a forest as much as a poset.
AT_MOST = {"2-D": 0.5, "3-D": 0.75, "1–3 attributes": 0.4}
COLUMNS = (
    "structure",
    "filters",
    "tests/add",
    "µs/add",
    "tests/replace",
    "µs/replace",
)


def measure(table: Table, load: Scenario) -> tuple[float, float, float, float]:
    """Return tests and microseconds per add, and per removal with the add in its stead."""
    start = time.perf_counter()
    for item, interface in load.added:
        table.add(item, interface)
    middle = time.perf_counter()
    tests = table.counters.covering_tests
    for old, interface, new in load.replaced:
        table.discard(old, interface)
        table.add(new, interface)
    end = time.perf_counter()
    adds, replacements = len(load.added), max(len(load.replaced), 1)
    return (
        tests / adds,
        (middle - start) / adds * 1e6,
        (table.counters.covering_tests - tests) / replacements,
        (end - middle) / replacements * 1e6,
    )


def rows(
    structures: tuple[tuple[str, dict[str, bool]], ...], load: Scenario
) -> dict[str, tuple[int, float, float, float, float]]:
    """Return a row for each structure, by its name."""
    result = {}
    for structure, options in structures:
        # Walking, since covering tests are what is counted.
        table = make_table(structure, index=False, **options)
        figures = measure(table, load)
        name = structure + ("-local" if options else "")
        result[name] = (len(table), *figures)
    return result


def run(bench: Bench) -> None:
    """Fill and churn each structure with each load."""
    for schema in SCHEMAS:
        for count in (500, 1_000):
            load = scenario(schema, bench.size(count, 20), None)
            found = rows(UNIQUE, load)
            bench.table(
                f"{schema}, {count:,} filters, one interface each",
                COLUMNS,
                [(name, *figures) for name, figures in found.items()],
            )
            if not bench.quick:
                for name in ("pf", "nrf"):
                    bench.promise(
                        f"{schema}, {count:,} filters: covering tests per add, {name} to fp",
                        found[name][1] / found["fp"][1],
                        at_most=AT_MOST[schema],
                    )
    for schema in ("2-D", "3-D"):
        for interfaces in (3, 6, 9, 15):
            load = distributed(scenario(schema, bench.size(1_000, 20), interfaces))
            bench.table(
                f"{schema}, 1,000 filters offered, {interfaces} interfaces, "
                f"{len(load.added)} adds that a neighbour would send",
                COLUMNS,
                [(name, *figures) for name, figures in rows(FEW, load).items()],
            )

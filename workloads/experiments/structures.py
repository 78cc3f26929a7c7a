"""Chapter 4: covering tests and time of the structures, against filters and interfaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from posetlib.generating.thesis_loads import Scenario, distributed, scenario
from posetlib.tables import Table, make_table
from workloads.experiments.experiment import (
    Experiment,
    Figure,
    Lines,
    Point,
    Row,
    Verdict,
    stopped,
)

__all__ = ["EXPERIMENT"]

_STRUCTURES: Final = ("fp", "pf", "bf", "nrf")
_COUNTS: Final = (100, 200, 300, 400, 500)
_INTERFACES: Final = (1, 5, 20, 100, 500)
_NEIGHBOURS: Final = (3, 6, 9, 12, 15)
#: What is plotted of each figure: suffix, what it is, and its axis.
_PARTS: Final = (
    ("add", "adds", "covering tests of an add"),
    ("replace", "a removal and an add in its stead", "covering tests of both"),
    ("time", "adds", "µs of an add, processor time"),
)


def points(scale: float) -> list[Point]:
    """Return a point for each structure and load."""
    made: list[Point] = []
    for structure in _STRUCTURES:
        common = {"structure": structure, "distributed": False}
        for figure, schema in (("4.2", "2-D"), ("4.3", "3-D")):
            for count in _COUNTS:
                size = max(round(count * scale), 8)
                made.append(
                    common
                    | {"figure": figure, "schema": schema, "filters": size, "interfaces": None}
                    | {"x": size}
                )
        for interfaces in _INTERFACES:
            size = max(round(500 * scale), 8)
            some = max(round(interfaces * scale), 1)
            made.append(
                common
                | {"figure": "4.4", "schema": "2-D", "filters": size, "interfaces": some, "x": some}
            )
        for figure, schema in (("4.5", "2-D"), ("4.6", "3-D")):
            for interfaces in _NEIGHBOURS:
                size = max(round(1_000 * scale), 8)
                made.append(
                    {"structure": structure, "distributed": True, "figure": figure}
                    | {"schema": schema, "filters": size, "interfaces": interfaces, "x": interfaces}
                )
    return made


def measure(point: Point, seed: str) -> Iterator[Row]:
    """Fill a table, then replace every filter of it by another one."""
    load = scenario(point["schema"], point["filters"], point["interfaces"], seed)
    if point["distributed"]:
        load = distributed(load)
    # Walking, since covering tests are what is counted.
    table = make_table(point["structure"], index=False)
    with stopped() as watch:
        for item, interface in load.added:
            table.add(item, interface)
    tests = table.counters.covering_tests
    adds, replacements = len(load.added), max(len(load.replaced), 1)
    _replace(table, load)
    after = table.counters.covering_tests - tests
    for part, y in (
        ("add", tests / adds),
        ("replace", after / replacements),
        ("time", watch.seconds / adds * 1e6),
    ):
        yield Row(f"{point['figure']}-{part}", point["structure"], point["x"], y)


def _replace(table: Table[Any], load: Scenario) -> None:
    for old, interface, new in load.replaced:
        table.discard(old, interface)
        table.add(new, interface)


def _poset_is_slowest(lines: Lines) -> Verdict:
    ends = {name: line[-1].y for name, line in lines.items()}
    worst = max(ends[name] for name in ends if name != "fp")
    ratio = worst / max(ends["fp"], 1e-9)
    return Verdict(ratio < 1, f"at the end the dearest forest takes {ratio:.2f} of the poset")


def _nrf_beats_poset(lines: Lines) -> Verdict:
    ratios = [mine.y / max(its.y, 1e-9) for mine, its in zip(lines["nrf"], lines["fp"])]  # noqa: B905 - the same points
    low, high = min(ratios), max(ratios)
    return Verdict(high < 1, f"the NRF takes {low:.2f} to {high:.2f} of the poset")


def _forests_are_flat(lines: Lines) -> Verdict:
    ratios = {
        name: max(each.y for each in line) / max(min(each.y for each in line), 1e-9)
        for name, line in lines.items()
    }
    forests = max(ratio for name, ratio in ratios.items() if name in ("pf", "bf"))
    says = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    return Verdict(forests < 2 and ratios["fp"] > forests, f"highest to lowest: {says}")


def _figures() -> Iterator[Figure]:
    about = {
        "4.2": ("2-D ranges, an interface each", "filters", _poset_is_slowest),
        "4.3": ("3-D ranges, an interface each", "filters", _poset_is_slowest),
        "4.4": ("500 filters of 2-D ranges", "interfaces", _forests_are_flat),
        "4.5": ("1,000 filters of 2-D ranges, from neighbours", "interfaces", _nrf_beats_poset),
        "4.6": ("1,000 filters of 3-D ranges, from neighbours", "interfaces", _nrf_beats_poset),
    }
    slow = "the poset is considerably slower than the forests"
    statements = {
        "4.2": slow,
        "4.3": slow,
        "4.4": "tests and times of the forests are about constant; the poset grows",
        "4.5": "the non-redundant forest is better than the poset, in both scenarios",
        "4.6": "the non-redundant forest is better than the poset, in both scenarios",
    }
    for key, (title, x, judge) in about.items():
        for part, what, y in _PARTS:
            yield Figure(
                f"{key}-{part}", f"Figure {key}: {title}; {what}", x, y, statements[key], judge,
                is_time=part == "time",
            )  # fmt: skip


EXPERIMENT: Final = Experiment(
    "structures",
    "Chapter 4: the structures, against the number of filters and of interfaces",
    points,
    measure,
    tuple(_figures()),
    replications=3,
)

"""Section 8.6: the minimal covers of interfaces, merged in one go and not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import posetlib as pl
from posetlib.generating.thesis_loads import predicate_filters
from workloads.experiments.experiment import (
    Experiment,
    Figure,
    Lines,
    Point,
    Row,
    Verdict,
    growth,
    random_of,
    stopped,
)

__all__ = ["EXPERIMENT"]

_COUNTS: Final = (100, 200, 300, 400, 500)
_INTERFACES: Final = (1, 3, 6, 9, 15, 25)
_NOTIFICATIONS: Final = 200


def points(scale: float) -> list[Point]:
    """Return a point for each number of filters, and for each number of interfaces."""
    sizes = [max(round(count * scale), 6) for count in _COUNTS]
    return [
        *({"figure": "8.4", "filters": size, "interfaces": 3, "x": size} for size in sizes),
        *(
            {"figure": "8.5", "filters": sizes[-1], "interfaces": some, "x": some}
            for some in _INTERFACES
        ),
    ]


def measure(point: Point, seed: str) -> Iterator[Row]:
    """Merge what each interface sends; add it to tables, and match."""
    filters = predicate_filters("1–3 attributes", point["filters"], seed, typed=True)
    sent: dict[str, list[pl.Filter]] = {}
    for i, one in enumerate(filters):
        sent.setdefault(f"I{i % point['interfaces']}", []).append(one)
    # What neighbours send: the minimal cover of each interface, or that merged.
    covers = {
        interface: list(pl.FiltersPoset.build((one, 0) for one in some).roots())
        for interface, some in sent.items()
    }
    with stopped() as watch:
        merged = {interface: list(pl.merge_all(some)) for interface, some in covers.items()}
    key, x = point["figure"], point["x"]
    yield Row(f"{key}-add", "merging itself", x, watch.seconds * 1e3)
    rng = random_of("notifications", seed)
    notifications: list[dict[str, Any]] = [
        {"type": "T", **{name: rng.randint(0, 100) for name in "xyz"}}
        for _ in range(_NOTIFICATIONS)
    ]
    for name, sets in (("", covers), (", merged", merged)):
        for structure in ("nrf", "fp"):
            table = pl.make_table(structure)
            with stopped() as watch:
                for interface, some in sets.items():
                    for one in some:
                        table.add(one, interface)
            yield Row(f"{key}-add", f"{structure}{name}", x, watch.seconds * 1e3)
            if structure == "nrf":
                yield Row(f"{key}-roots", "merged" if name else "roots", x, len(table.roots()))
                with stopped() as watch:
                    for each in notifications:
                        table.match_account(each)  # by a walk, as in the thesis
                micro = watch.seconds / _NOTIFICATIONS * 1e6
                yield Row(f"{key}-match", f"{structure}{name}", x, micro)
    with stopped() as watch:
        for each in notifications:
            for one in filters:
                one.matches(each)
    yield Row(f"{key}-match", "every filter", x, watch.seconds / _NOTIFICATIONS * 1e6)


def _stays_small(lines: Lines) -> Verdict:
    merged, roots = lines["merged"], lines["roots"]
    share = merged[-1].y / max(roots[-1].y, 1e-9)
    says = (
        f"merged from {merged[0].y:.1f} to {merged[-1].y:.1f}, "
        f"unmerged from {roots[0].y:.1f} to {roots[-1].y:.1f}"
    )
    return Verdict(share < 0.5 and growth(merged) <= growth(roots), says)


def _small_everywhere(lines: Lines) -> Verdict:
    shares = [
        mine.y / max(its.y, 1e-9) for mine, its in zip(lines["merged"], lines["roots"], strict=True)
    ]
    return Verdict(max(shares) < 0.5, f"{min(shares):.2f} to {max(shares):.2f} of the roots")


def _merged_is_faster(lines: Lines) -> Verdict:
    plain = [name for name in ("nrf", "fp") if name in lines]
    ratios = {name: lines[f"{name}, merged"][-1].y / max(lines[name][-1].y, 1e-9) for name in plain}
    says = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    return Verdict(max(ratios.values()) < 1, f"merged to unmerged, at the end: {says}")


def _figures() -> Iterator[Figure]:
    for key, title, x in (
        ("8.4", "3 interfaces", "filters"),
        ("8.5", "500 filters", "interfaces"),
    ):
        small = "root sizes of the merged sets are very small, and the others are large"
        yield Figure(
            f"{key}-roots", f"Figure {key}: {title}; root set", x, "roots", small,
            _stays_small if key == "8.4" else _small_everywhere,
        )  # fmt: skip
        faster = "insertion and matching of merged sets take significantly less time"
        yield Figure(
            f"{key}-add", f"Figure {key}: {title}; adding all", x, "ms, processor time", faster,
            _merged_is_faster, is_time=True,
        )  # fmt: skip
        yield Figure(
            f"{key}-match", f"Figure {key}: {title}; matching", x, "µs, processor time", faster,
            _merged_is_faster, is_time=True,
        )  # fmt: skip


EXPERIMENT: Final = Experiment(
    "one-shot-merging",
    "Section 8.6: one-shot merging of what each interface sends",
    points,
    measure,
    tuple(_figures()),
)

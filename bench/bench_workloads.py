"""The Spark jobs, against numpy and against one CPU."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from bench.harness import Bench
from bench.workload_jobs import results
from posetlib.arrays.covering import BLOCK, Block
from posetlib.arrays.positions import Vocabulary, encode_ranges
from posetlib.arrays.ranges import FilterRanges

Job = dict[str, Any]
_LOCAL = "local[2]"
_SPREAD = "validate past the limit"
_MANY = "match, many interfaces"
#: Workers that are processes of their own, so that the driver is seen apart.
_CLUSTER = "local-cluster[2,1,1024]"


def run(bench: Bench) -> None:
    """Run the jobs on two CPUs, some again on one, and numpy on the same columns."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        bench.table("The Spark jobs", ("case", "seconds"), [("not run: no Java", None)])
        return
    with tempfile.TemporaryDirectory(prefix="bench-workloads-") as folder:
        _run(bench, Path(folder))


def _run(bench: Bench, folder: Path) -> None:
    filters = bench.size(10_000_000, 20_000)
    matched = bench.size(200_000, 2_000)
    told = bench.size(100_000, 200)
    sizes = {"pf": 1_000_000, "nrf": 100_000, "fp": 20_000}
    if bench.quick:
        sizes = {"nrf": 1_000}
    make, again = _jobs(filters, matched, told, sizes)
    large_make, large = _large_jobs(quick=bench.quick)
    make, again = make + large_make, again + large
    two = _timed(folder, _LOCAL, 2, make + again, brief=bench.quick)
    seconds = {name: each["seconds"] for name, each in two.items()}
    # Another session tells nothing new about whether the benchmark runs.
    one = {} if bench.quick else _timed(folder, _LOCAL, 1, again)
    cluster = {} if bench.quick else _timed(folder, _CLUSTER, 2, again[:1])
    rows = [
        ("generate", filters, seconds["generate"], filters / seconds["generate"]),
        ("cover", filters, seconds["cover"], filters / seconds["cover"]),
        ("match, pairs", matched * told, seconds["match"], matched * told / seconds["match"]),
    ]
    for name, count in sizes.items():
        took = seconds[f"validate {name}"]
        rows.append((f"validate {name}, nodes", count, took, count / took))
    bench.table(
        "Jobs on two CPUs, after Spark has started", ("job", "size", "s", "per second"), rows
    )
    bars = _Bars(bench)
    bars.at_least("generate, filters per second", filters / seconds["generate"], 200_000)
    numpy, size = _cover_by_numpy(folder, bench.size(10, 1))
    what = f"cover ({size:,} filters), seconds; numpy in one process"
    bars.at_most(what, seconds["cover"], 1.0, numpy)
    if cluster:
        memory = cluster["cover"]["bytes"] / 1e9
        bars.at_most("cover, the driver's memory on a local cluster, GB", memory, 1.0)
    for name, count in sizes.items():
        took = seconds[f"validate {name}"]
        bars.at_most(f"validate, {count:,} nodes of {name}, seconds", took, 120)
    first = next(iter(sizes))
    bars.at_most(
        f"validate {first} past the limit, seconds; with columns sent to every worker",
        seconds[_SPREAD],
        3.0,
        seconds[f"validate {first}"],
    )
    if "fp" in sizes:
        pairs = two["validate fp"]["found"]["complete-order"]
        bars.at_least("validate fp, pairs checked by complete-order", pairs, 20_000 * 19_999)
    scanned = _match_by_numpy(folder, bench.size(500, 20))
    per_core = matched * told / seconds["match"] / 2
    what = "match, pairs per second and core; numpy column scan"
    bars.at_least(what, per_core, 1.0, scanned)
    # In a session of its own: what other jobs left in the heap of Java is not the match's.
    alone = two if bench.quick else _timed(folder, _LOCAL, 2, [_named(large, _MANY)])
    memory = alone[_MANY]["all bytes"] / 1e9
    bars.at_most("match, 200,000 interfaces, all processes, GB", memory, 2.0)
    antichain = seconds["cover of an antichain"]
    before = _antichain_at_once(folder)
    bars.at_least(
        "cover of an antichain, seconds of a merge in one go; in shares", before, 5.0, antichain
    )
    for name, each in one.items():
        what = f"{name}, seconds pinned to one CPU; on two"
        bar = 1.5 if name.startswith("build") else 1.4
        bars.at_least(what, each["seconds"], bar, seconds[name])
    bars.show()


class _Bars:
    """Figures, what they are held against, and the bars that were set."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._rows: list[tuple[str, float, float | None, float | None, str]] = []

    def at_least(self, what: str, figure: float, bar: float, base: float | None = None) -> None:
        """Promise a figure, or where there is a baseline so many times that."""
        self._promise(what, figure, base, at_least=bar)

    def at_most(self, what: str, figure: float, bar: float, base: float | None = None) -> None:
        """Promise that a figure, or what it is of its baseline, is no more."""
        self._promise(what, figure, base, at_most=bar)

    def _promise(self, what: str, figure: float, base: float | None, **bar: float) -> None:
        times = None if base is None else figure / base
        self._bench.promise(what, figure if times is None else times, **bar)
        ((word, bound),) = bar.items()
        shown = (
            f"{'≥' if word == 'at_least' else '≤'} {bound:,g}{'' if times is None else ' times'}"
        )
        self._rows.append((what, figure, base, times, shown))

    def show(self) -> None:
        """Show them all in one table."""
        self._bench.table(
            "The bars, each with its baseline in this run",
            ("what", "measured", "baseline", "times", "bar"),
            self._rows,
            "All but generate are the better of two runs. For the cover, numpy holds a tenth of "
            "the filters in memory against the final cover, times ten.",
        )


def _jobs(
    filters: int, matched: int, told: int, sizes: dict[str, int]
) -> tuple[list[Job], list[Job]]:
    make: list[Job] = [
        {"name": "generate", "job": "generate", "out": "large",
         "parameters": {"filters": filters, "seed": 1, "decimals": 6}},
        {"name": "generate for match", "job": "generate", "out": "told",
         "parameters": {"filters": matched, "notifications": told, "kind": "narrow", "seed": 2}},
    ]  # fmt: skip
    for structure, count in sizes.items():
        # The forest of a million in ten types, so that it is built side by side.
        parameters = {
            "filters": count, "interfaces": count, "seed": 3, "notifications": 1000, "decimals": 6,
            "schemas": 10 if structure == "pf" else 1,
        }  # fmt: skip
        make += [
            {"name": f"generate {structure}", "job": "generate", "out": f"of-{structure}",
             "parameters": parameters},
            {"name": f"build {structure}", "job": "build", "structure": structure,
             "from": f"of-{structure}", "out": structure},
        ]  # fmt: skip
    again: list[Job] = [
        {"name": "cover", "job": "cover", "from": "large", "out": "covered"},
        {"name": "match", "job": "match", "from": "told", "out": "matched"},
    ]
    again += [
        {"name": f"validate {each}", "job": "validate", "snapshot": each, "from": f"of-{each}"}
        for each in sizes
    ]
    first = next(iter(sizes))
    again.append(
        {"name": _SPREAD, "job": "validate", "snapshot": first, "from": f"of-{first}",
         "broadcast_limit": 0}
    )  # fmt: skip
    # A second time: what is compared must not depend on one disturbance.
    return make, again + again


def _large_jobs(*, quick: bool) -> tuple[list[Job], list[Job]]:
    """Return one table of one type for each structure, an antichain, and many interfaces."""
    counts = {"pf": 1_000_000, "nrf": 1_000_000, "fp": 100_000}
    antichain, told, filters, interfaces = 400_000, 200_000, 1_000_000, 200_000
    if quick:
        counts = dict.fromkeys(counts, 500)
        antichain, told, filters, interfaces = 2_000, 100, 2_000, 1_000
    make: list[Job] = [
        {"name": "an antichain", "job": "antichain", "out": "antichain", "filters": antichain},
        {"name": "generate many interfaces", "job": "generate", "out": "many",
         "parameters": {"filters": filters, "notifications": told, "interfaces": interfaces,
                        "kind": "narrow", "width": 0.5, "seed": 4}},
    ]  # fmt: skip
    again: list[Job] = [
        {"name": "cover of an antichain", "job": "cover", "from": "antichain", "out": "widest"},
        {"name": _MANY, "job": "match", "from": "many", "out": "many-told"},
    ]
    for structure, count in counts.items():
        # A thousand interfaces: the index of a forest lists those below each node.
        parameters = {"filters": count, "interfaces": 1000, "seed": 5, "decimals": 6}
        make.append({"name": f"generate one {structure}", "job": "generate",
                     "out": f"one-{structure}", "parameters": parameters})  # fmt: skip
        again.append({"name": f"build {structure}, one type", "job": "build",
                      "structure": structure, "from": f"one-{structure}",
                      "out": f"one-{structure}-table"})  # fmt: skip
    return make, again


def _named(jobs: list[Job], name: str) -> Job:
    return next(job for job in jobs if job["name"] == name)


def _antichain_at_once(folder: Path) -> float:
    """Return how long it takes to hold blocks of an antichain against all, as one merge did."""
    lo_x, hi_x, lo_y, hi_y = _ends(folder, "antichain", ("lo_x", "hi_x", "lo_y", "hi_y"))
    plain = np.ones(len(lo_x), np.bool_)
    nothing = np.zeros(len(lo_x), np.int64)
    low_x, high_x, _ = encode_ranges(lo_x, hi_x, nothing)
    low_y, high_y, _ = encode_ranges(lo_y, hi_y, nothing)
    filters = FilterRanges(
        {"x": low_x, "y": low_y}, {"x": high_x, "y": high_y}, plain, plain, Vocabulary()
    )
    # One block in sixteen: each is held against those before it, half of them on average.
    start = time.perf_counter()
    for begin in range(0, len(plain), 16 * BLOCK):
        block = Block(filters.take(np.arange(begin, min(begin + BLOCK, len(plain)))))
        for chunk in range(0, begin, 1024):
            block.covered(filters, np.arange(chunk, min(chunk + 1024, begin)))
    return 16 * (time.perf_counter() - start)


def _timed(
    folder: Path, master: str, cpus: int, jobs: list[Job], *, brief: bool = False
) -> dict[str, Any]:
    options = [str(folder), master, str(cpus), json.dumps(jobs), "brief" if brief else "well"]
    done = subprocess.run(
        [sys.executable, "-m", "bench.workload_jobs", *options],
        capture_output=True, text=True, check=False,
        cwd=Path(__file__).resolve().parent.parent,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the jobs failed:\n{done.stderr}")
    best: dict[str, Any] = {}
    for line in results(done.stdout.splitlines()):
        known = best.setdefault(line["name"], line)
        if line["seconds"] < known["seconds"]:
            best[line["name"]] = line
    return best


# -- the baselines ---------------------------------------------------------------------------------


def _ends(folder: Path, name: str, columns: tuple[str, ...]) -> list[np.ndarray[Any, Any]]:
    table = pq.read_table(folder / name / "filters", columns=list(columns))
    return [table.column(each).to_numpy() for each in columns]


def _cover_by_numpy(folder: Path, share: int) -> tuple[float, int]:
    """Return how long numpy takes to hold all filters against the cover, and its size."""
    names = ("id", "lo_x", "hi_x", "lo_y", "hi_y")
    ids, *columns = _ends(folder, "large", names)
    cover = pq.read_table(folder / "covered", columns=["id"]).column("id").to_numpy()
    chosen = [column[np.isin(ids, cover)] for column in columns]
    lo_x, hi_x, lo_y, hi_y = (column[: len(ids) // share].copy() for column in columns)
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        covered = np.zeros(len(lo_x), np.bool_)
        for a, b, c, d in zip(*chosen, strict=True):
            covered |= (lo_x >= a) & (hi_x <= b) & (lo_y >= c) & (hi_y <= d)
        seconds.append(time.perf_counter() - start)
        assert covered.all()
    return min(seconds) * share, len(cover)


def _match_by_numpy(folder: Path, count: int) -> float:
    """Return the pairs a second of a scan over columns, one notification at a time."""
    names = ("lo_x", "hi_x", "lo_y", "hi_y")
    lo_x, hi_x, lo_y, hi_y = _ends(folder, "told", names)
    holders = pq.read_table(folder / "told" / "filters", columns=["interface"])
    codes = holders.column("interface").combine_chunks().dictionary_encode()
    interfaces = codes.indices.to_numpy()
    table = pq.read_table(folder / "told" / "notifications")
    rows = [json.loads(text) for text in table.column("notification").to_pylist()[:count]]
    start = time.perf_counter()
    for row in rows:
        x, y = row["x"], row["y"]
        hit = (lo_x <= x) & (hi_x >= x) & (lo_y <= y) & (hi_y >= y)
        np.unique(interfaces[hit])
    return len(rows) * len(lo_x) / (time.perf_counter() - start)

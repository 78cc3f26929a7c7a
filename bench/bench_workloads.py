"""The Spark jobs: generate, cover, match and validate, against numpy and against one CPU."""

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

Job = dict[str, Any]


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
    sizes = {
        "pf": bench.size(1_000_000, 2_000),
        "nrf": bench.size(100_000, 1_000),
        "fp": bench.size(20_000, 500),
    }
    if bench.quick:
        sizes = {"nrf": sizes["nrf"]}
    make, again = _jobs(filters, matched, told, sizes)
    two = _timed(folder, 2, make + again)
    seconds = {name: each["seconds"] for name, each in two.items()}
    rows: list[tuple[str | float | None, ...]] = []

    rate = filters / seconds["generate"]
    rows.append(("generate", filters, seconds["generate"], rate))
    bench.promise("generate 2-D filters, per second", rate, at_least=200_000)
    rows.append(("cover", filters, seconds["cover"], filters / seconds["cover"]))
    rows.append(
        ("match, pairs", matched * told, seconds["match"], matched * told / seconds["match"])
    )
    for name, count in sizes.items():
        took = seconds[f"validate {name}"]
        rows.append((f"validate {name}, nodes", count, took, count / took))
        bench.promise(f"validate {count:,} nodes of {name}, seconds", took, at_most=120)
    bench.table(
        "Jobs on two CPUs, after Spark has started", ("job", "size", "s", "per second"), rows
    )

    cover_numpy, cover_size = _cover_by_numpy(folder, bench.size(10, 1))
    bench.table(
        f"The cover of {filters:,} uniform filters: {cover_size:,} filters",
        ("case", "seconds"),
        [("numpy, all columns against the cover", cover_numpy), ("the job", seconds["cover"])],
        "numpy compares a tenth of the filters, in memory; its time is ten times that.",
    )
    ratio = seconds["cover"] / cover_numpy
    bench.promise("cover, against numpy in memory", ratio, at_most=1.0)
    memory = two["cover"]["kilobytes"] / 1e6
    bench.promise("the driver's Python at most, GB (its JVM has 1)", memory, at_most=1.0)

    scanned = _match_by_numpy(folder, bench.size(500, 20))
    per_core = matched * told / seconds["match"] / 2
    bench.table(
        f"Matching {told:,} notifications with {matched:,} narrow filters",
        ("case", "pairs a second and core"),
        [("numpy column scan", scanned), ("the job", per_core)],
    )
    bench.promise("match, against the column scan", per_core / scanned, at_least=1)

    if bench.quick:  # another session would tell nothing new
        return
    one = _timed(folder, 1, again)
    pinned = [
        (name, each["seconds"], seconds[name], each["seconds"] / seconds[name])
        for name, each in one.items()
        if name in ("cover", "match", "validate pf")
    ]
    bench.table("The same job pinned to one CPU", ("job", "one, s", "two, s", "times"), pinned)
    for name, _, _, times in pinned:
        bench.promise(f"{name}: two CPUs against one", times, at_least=1.4)


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
    return make, again


def _timed(folder: Path, cpus: int, jobs: list[Job]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.workload_jobs", str(folder), str(cpus), json.dumps(jobs)],
        capture_output=True, text=True, check=False,
        cwd=Path(__file__).resolve().parent.parent,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the jobs failed:\n{done.stderr}")
    lines = map(json.loads, done.stdout.splitlines())
    return {line["name"]: line for line in lines}


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
    start = time.perf_counter()
    covered = np.zeros(len(lo_x), np.bool_)
    for a, b, c, d in zip(*chosen, strict=True):
        covered |= (lo_x >= a) & (hi_x <= b) & (lo_y >= c) & (hi_y <= d)
    seconds = time.perf_counter() - start
    assert covered.all()
    return seconds * share, len(cover)


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

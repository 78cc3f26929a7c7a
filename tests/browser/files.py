"""Files as the jobs write them, small enough to be written by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import posetlib as pl

PAIRS = [
    ("x in [0, 50]", "I1"),
    ("x in [60, 100]", "I1"),
    ("x in [10, 40]", "I2"),
    ("x in [70, 90]", "I2"),
    ("x in [20, 30]", "I3"),
]


def table(structure: str = "fp", pairs: Sequence[tuple[str, str]] = PAIRS) -> pl.Table:
    made = pl.make_table(structure)
    for text, interface in pairs:
        made.add(pl.parse_filter(text), interface)
    return made


def snapshot_json(structure: str = "fp", pairs: Sequence[tuple[str, str]] = PAIRS) -> str:
    return table(structure, pairs).snapshot().to_json()


def trace_json(pairs: Sequence[tuple[str, str]] = PAIRS) -> str:
    trace = pl.Trace()
    for text, interface in pairs:
        trace.add(pl.parse_filter(text), interface)
    trace.remove(pl.parse_filter(pairs[0][0]), pairs[0][1])
    return trace.to_json()


def write_rows(folder: Path, columns: dict[str, list[Any]], parts: int = 1) -> Path:
    """Write columns as the Parquet parts of a directory; rows go to the parts in turns."""
    folder.mkdir(parents=True)
    for part in range(parts):
        chosen = {name: values[part::parts] for name, values in columns.items()}
        pq.write_table(pa.table(chosen), folder / f"part-{part:05}.parquet")
    (folder / "_SUCCESS").touch()
    return folder


def write_workload(
    folder: Path, pairs: Sequence[tuple[str, str]] = PAIRS, *, first: int = 0, parts: int = 2
) -> Path:
    rows = range(first, first + len(pairs))
    columns = {
        "id": list(rows),
        "filter": [text for text, _ in pairs],
        "interface": [interface for _, interface in pairs],
    }
    write_rows(folder / "filters", columns, parts)
    write_rows(folder / "notifications", {"id": [0, 1], "notification": ['{"x": 25}', '{"x": 55}']})
    (folder / "workload.json").write_text(json.dumps({"format": "posetlib-workload"}))
    return folder


def write_snapshot(folder: Path, snapshot: pl.Snapshot) -> Path:
    nodes = snapshot.node_rows()
    edges = snapshot.edge_rows()
    write_rows(folder / "nodes", {name: [row[name] for row in nodes] for name in nodes[0]}, 2)
    write_rows(
        folder / "edges", {name: [row[name] for row in edges] for name in ("parent", "child")}
    )
    (folder / "snapshot.json").write_text(json.dumps(snapshot.header()))
    return folder


def report(*, nodes: int = 5, structure: str = "fp", broken: bool = True) -> dict[str, Any]:
    witness = {
        "parent": "x in [0, 50]",
        "child": "x in [10, 40]",
        "why": "does not cover <b>it</b>",
        "ids": [0, 2],
    }
    return {
        "ok": not broken,
        "structure": structure,
        "nodes": nodes,
        "edges": 3,
        "seconds": 0.5,
        "invariants": [
            {
                "name": "edge-covers",
                "verdict": "violated" if broken else "holds",
                "checked": 3,
                "violations": 1 if broken else 0,
                "witnesses": [witness] if broken else [],
            },
            {
                "name": "sibling-pure",
                "verdict": "holds",
                "checked": 4,
                "violations": 0,
                "witnesses": [],
            },
            {
                "name": "interface-index",
                "verdict": "not applicable",
                "checked": 0,
                "violations": 0,
                "witnesses": [],
            },
        ],
    }


def write_run(folder: Path) -> Path:
    """Write a workload, a table built of it, and two reports on that, all in one directory."""
    write_workload(folder / "workload")
    write_snapshot(folder / "fp", table("fp").snapshot())
    (folder / "bad.json").write_text(json.dumps(report()))
    (folder / "good.json").write_text(json.dumps(report(broken=False)))
    (folder / "other.json").write_text("[1, 2")
    return folder

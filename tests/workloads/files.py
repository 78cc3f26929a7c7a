"""Workloads and snapshots on disk for the tests, written without the jobs that are tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from posetlib import notification_text
from posetlib.tables.snapshot import Snapshot


def write_filters(folder: Path, pairs: list[tuple[str | None, str]], parts: int = 1) -> Path:
    """Write a workload that has nothing but text."""
    (folder / "filters").mkdir(parents=True)
    ids = list(range(len(pairs)))
    for part in range(parts):
        own = ids[part::parts]
        table = pa.table(
            {
                "id": pa.array(own, pa.int64()),
                "filter": pa.array([pairs[i][0] for i in own], pa.string()),
                "interface": pa.array([pairs[i][1] for i in own], pa.string()),
            }
        )
        pq.write_table(table, folder / "filters" / f"part-{part}.parquet")
    return folder


def write_notifications(folder: Path, notifications: list[Any]) -> None:
    (folder / "notifications").mkdir(parents=True)
    table = pa.table(
        {
            "id": pa.array(range(len(notifications)), pa.int64()),
            "notification": pa.array([_written(each) for each in notifications], pa.string()),
        }
    )
    pq.write_table(table, folder / "notifications" / "part-0.parquet")


def _written(notification: Any) -> str:
    if isinstance(notification, dict):
        return notification_text(notification)
    return json.dumps(notification)


def write_snapshot(folder: Path, snapshot: Snapshot) -> Path:
    write_rows(folder, snapshot.header(), snapshot.node_rows(), snapshot.edge_rows())
    return folder


def write_rows(
    folder: Path,
    header: dict[str, Any],
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
) -> Path:
    """Write a snapshot, as it is or as a test has spoilt it."""
    for name in ("nodes", "edges"):
        (folder / name).mkdir(parents=True)
    node_schema = pa.schema(
        [
            ("id", pa.int64()),
            ("filter", pa.string()),
            ("interfaces", pa.list_(pa.string())),
            ("index", pa.list_(pa.string())),
        ]
    )
    edge_schema = pa.schema([("parent", pa.int64()), ("child", pa.int64())])
    nodes_table = pa.Table.from_pylist(nodes, schema=node_schema)
    pq.write_table(nodes_table, folder / "nodes" / "part-0.parquet")
    edges_table = pa.Table.from_pylist(edges, schema=edge_schema)
    pq.write_table(edges_table, folder / "edges" / "part-0.parquet")
    (folder / "snapshot.json").write_text(json.dumps(header), encoding="utf-8")
    return folder


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a Parquet folder, in order of their ids."""
    rows = pq.read_table(folder).to_pylist()
    return sorted(rows, key=lambda row: row["id"])

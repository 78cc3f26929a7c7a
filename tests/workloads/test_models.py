"""The jobs on templates and paths: as exact as one process that asks every filter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from posetlib import DocumentPath, Snapshot, make_table, parse_filter, read_notification
from posetlib.generating import Parameters
from posetlib.models import path_index
from tests.models.worlds import PATHS, TEMPLATES
from tests.workloads.files import read_rows, write_filters, write_notifications, write_snapshot
from tests.workloads.test_jobs import expected_cover, expected_matches, generated, place
from tests.workloads.test_validate import report_on, violated
from workloads.build import build
from workloads.cover import cover
from workloads.errors import sentence_of
from workloads.generate import generate
from workloads.match import _read_filters, match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")

MODELS = ("tuples", "documents")


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("kind", MODELS)
def test_cover_and_match_of_a_workload(
    spark: SparkSession, tmp_path: Path, kind: str, parts: int
) -> None:
    p = Parameters(filters=300, notifications=60, kind=kind, seed=2, decimals=0, schemas=2)
    pairs, notifications = generated(p)
    generate(spark, p, place(tmp_path / "w"), partitions=parts)
    assert [(row["filter"], row["interface"]) for row in read_rows(tmp_path / "w/filters")] == pairs
    cover(spark, place(tmp_path / "w"), place(tmp_path / "c"))
    ids = expected_cover(pairs)
    assert [row["id"] for row in read_rows(tmp_path / "c")] == ids
    assert 0 < len(ids) < len(pairs)
    match(spark, place(tmp_path / "w"), place(tmp_path / "m"))
    found = read_rows(tmp_path / "m")
    assert found == expected_matches(pairs, notifications)
    assert any(row["interfaces"] for row in found)


@pytest.mark.parametrize(
    ("kind", "structure", "limits"),
    [
        # In one task, and divided.
        ("documents", "fp", (1 << 28, 0)),
        ("documents", "nrf", (1 << 28, 0)),
        ("tuples", "nrf", (1 << 28,)),
        pytest.param("tuples", "fp", (1 << 28, 0), marks=pytest.mark.slow),
        pytest.param("tuples", "bf", (1 << 28, 0), marks=pytest.mark.slow),
        pytest.param("documents", "bf", (1 << 28, 0), marks=pytest.mark.slow),
        pytest.param("documents", "pf", (1 << 28, 0), marks=pytest.mark.slow),
        pytest.param("documents", "linear", (1 << 28, 0), marks=pytest.mark.slow),
    ],
)
def test_tables_are_built_and_validated(
    spark: SparkSession, tmp_path: Path, kind: str, structure: str, limits: tuple[int, ...]
) -> None:
    p = Parameters(filters=90, notifications=20, kind=kind, seed=7, interfaces=5, decimals=0)
    pairs, _ = generated(p)
    generate(spark, p, place(tmp_path / "d"), partitions=2)
    build(spark, place(tmp_path / "d"), structure, place(tmp_path / "e"))
    expected = make_table(structure)
    for text, interface in pairs:
        expected.add(parse_filter(text), interface)
    rows = read_rows(tmp_path / "e/nodes")
    if structure in ("fp", "nrf", "linear"):  # the pairs of others depend on their shape
        found = {(row["filter"], i) for row in rows for i in row["interfaces"]}
        assert found == {(str(f), i) for f, i in expected.entries()}
    for limit in limits:
        report = report_on(spark, tmp_path / "e", tmp_path / "d", broadcast_limit=limit)
        assert violated(report) == set()


def test_a_spoilt_table_is_found_out(spark: SparkSession, tmp_path: Path) -> None:
    table = make_table("nrf")
    for i, each in enumerate(PATHS):
        table.add(each, f"I{i}")
    snapshot = table.snapshot()
    wide, narrow = parse_filter('d path "//a"'), parse_filter('d path "/a/b"')
    nodes = {node.item: node for node in snapshot.nodes}
    assert {wide, narrow} <= nodes.keys()
    edges = [e for e in snapshot.edges if e[1] != nodes[wide].id]
    upside_down = (*edges, (nodes[narrow].id, nodes[wide].id))
    spoilt = Snapshot.from_json(json.dumps({
        **json.loads(snapshot.to_json()), "edges": [list(e) for e in upside_down],
    }))  # fmt: skip
    report = report_on(spark, write_snapshot(tmp_path / "s", spoilt))
    assert {"edge-covers", "match-agrees"} <= violated(report)


def test_documents_in_xml_and_in_json_side_by_side(spark: SparkSession, tmp_path: Path) -> None:
    texts = [*(str(f) for f in PATHS), *(str(f) for f in TEMPLATES), "d.k.x = 5"]
    pairs = [(text, f"I{i % 5}") for i, text in enumerate(texts)]
    workload = write_filters(tmp_path / "w", pairs, 3)
    written = [
        {"d": {"$xml": "<a x='1'><b/></a>"}, "type": "T"},
        {"d": {"$xml": "<c><a x='2'/></c>"}},
        {"d": {"a": [{"x": 1}, {"b": {"x": 1}, "c": {}}]}},
        {"d": {"k": {"x": 5}}},
        {"d": "text"},
        {},
        [1, 1],
        ["ab", 1.5],
        [],
    ]
    write_notifications(workload, written)
    read = [read_notification(json.dumps(each)) for each in written]
    match(spark, place(workload), place(tmp_path / "m"))
    found = read_rows(tmp_path / "m")
    assert found == expected_matches(pairs, read)
    assert sum(map(bool, (row["interfaces"] for row in found))) > 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"d": {"$xml": "<a>"}}', "id 0 cannot be read: d: not well-formed XML"),
        ('{"d": {"$xml": "<!DOCTYPE a><a/>"}}', "DOCTYPE"),
        ("5", "a notification is a JSON object"),
        ("{", "id 0 cannot be read"),
    ],
)
def test_what_is_no_notification(
    spark: SparkSession, tmp_path: Path, text: str, message: str
) -> None:
    workload = write_filters(tmp_path / "w", [('d path "//a"', "I1")])
    (workload / "notifications").mkdir()
    rows = {"id": pa.array([0], pa.int64()), "notification": pa.array([text])}
    pq.write_table(pa.table(rows), workload / "notifications" / "part.parquet")
    with pytest.raises(Exception, match="InputError") as refused:
        match(spark, place(workload), place(tmp_path / "m"))
    assert message in (sentence_of(str(refused.value)) or "")


def test_paths_are_asked_through_their_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one task, without Spark: no path is asked by itself."""
    p = Parameters(filters=200, notifications=30, kind="documents", seed=3)
    pairs, notifications = generated(p)
    rows = pa.table(
        {"filter": [text for text, _ in pairs], "interface": [name for _, name in pairs]}
    )
    expected = [row["interfaces"] for row in expected_matches(pairs, notifications)]
    asked = 0
    satisfied = path_index.PathIndex.satisfied

    def count(*arguments: object) -> object:
        nonlocal asked
        asked += 1
        return satisfied(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(path_index.PathIndex, "satisfied", count)
    monkeypatch.setattr(DocumentPath, "matches", None)
    which, interfaces = _read_filters([rows], None).wanted(notifications)
    names = list(dict.fromkeys(rows.column("interface").to_pylist()))
    found = [sorted(names[i] for i in interfaces[which == n].tolist()) for n in range(30)]
    assert found == expected
    assert asked == len(notifications)
    assert np.all(np.diff(which) >= 0)

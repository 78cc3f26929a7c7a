"""The jobs build and validate a structure that was registered from outside, by its promises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import posetlib as pl
from posetlib.generating import Parameters
from tests.sixth import LeanForest, lean_forest
from tests.workloads.files import (
    read_rows,
    write_filters,
    write_notifications,
    write_rows,
    write_snapshot,
)
from workloads.build import build
from workloads.errors import InputError
from workloads.files import Place
from workloads.generate import generate
from workloads.validate import INVARIANTS, validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")

NOT_PROMISED = {
    "complete-order",
    "interface-index",
    "forwards-agree",
    "merge-covers",
    "merge-perfect",
}
NOTIFICATIONS = [{"x": value, "s": "ab"} for value in range(0, 100, 10)]
#: Filters that have no boxes in columns among them, so that the table is built by adding.
PAIRS = [
    ("x in [0, 50]", "I1"),
    ("x in [10, 90]", "I2"),
    ('x in [20, 30] and s contains "a"', "I3"),
    ('s contains "b"', "I1"),
    ("x in [20, 30]", "I3"),
    ("x in [15, 40]", "I1"),
]


@pytest.fixture(autouse=True)
def lean() -> Iterator[type[LeanForest]]:
    with lean_forest() as made:
        yield made


def place(path: Path) -> Place:
    return Place(str(path))


def filled(pairs: list[tuple[str, str]]) -> pl.Table[Any]:
    table = pl.make_table("lean")
    for text, interface in pairs:
        table.add(pl.parse_filter(text), interface)
    return table


def read(folder: Path) -> pl.Snapshot[Any]:
    header = json.loads((folder / "snapshot.json").read_text())
    edges = pq.read_table(folder / "edges").to_pylist()
    return pl.Snapshot.from_rows(header, read_rows(folder / "nodes"), edges)


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["verdict"] for each in report["invariants"]}


def expect_sound(report: dict[str, Any], *, typed_columns: bool = True) -> None:
    """All that is promised holds, and what is not promised is not asked."""
    assert report["ok"]
    assert report["structure"] == "lean"
    found = verdicts(report)
    not_asked = NOT_PROMISED if typed_columns else NOT_PROMISED | {"columns-agree"}
    assert {name for name, each in found.items() if each == "not applicable"} == not_asked
    assert {name for name, each in found.items() if each == "holds"} == {*INVARIANTS} - not_asked


def test_it_is_built_by_adding(spark: SparkSession, tmp_path: Path) -> None:
    workload = write_filters(tmp_path / "w", PAIRS, 2)
    write_notifications(workload, NOTIFICATIONS)
    build(spark, place(workload), "lean", place(tmp_path / "s"))
    table = read(tmp_path / "s").restore()
    assert type(table) is LeanForest
    table.check()
    assert table == filled(PAIRS)
    expect_sound(validate(spark, place(tmp_path / "s"), place(workload)), typed_columns=False)


def test_it_is_built_from_columns(spark: SparkSession, tmp_path: Path) -> None:
    p = Parameters(filters=120, seed=3, schemas=2, decimals=0, interfaces=4, notifications=30)
    generate(spark, p, place(tmp_path / "w"), partitions=2)
    build(spark, place(tmp_path / "w"), "lean", place(tmp_path / "s"))
    found = read(tmp_path / "s")
    assert all(node.index is None for node in found.nodes)
    rows = read_rows(tmp_path / "w" / "filters")
    table = filled([(row["filter"], row["interface"]) for row in rows])
    assert set(found.entries()) == set(table.entries())
    assert set(found.roots()) == set(table.roots())
    found.restore().check()
    expect_sound(validate(spark, place(tmp_path / "s"), place(tmp_path / "w")))


def test_it_is_built_from_operations(spark: SparkSession, tmp_path: Path) -> None:
    p = Parameters(
        filters=30, operations=40, seed=3, interfaces=3, scenario="distributed", decimals=0
    )
    generate(spark, p, place(tmp_path / "w"), partitions=2)
    # The class goes to the workers by its name, and is not registered there.
    build(spark, place(tmp_path / "w"), "lean", place(tmp_path / "s"), operations=True)
    table = pl.make_table("lean")
    for row in pq.read_table(tmp_path / "w" / "operations").sort_by("sequence").to_pylist():
        act = table.add if row["operation"] == "add" else table.discard
        act(pl.parse_filter(row["filter"]), row["interface"])
    found = read(tmp_path / "s").restore()
    found.check()
    assert set(found.entries()) == set(table.entries())


def test_spoilt_tables_break_what_is_promised_and_nothing_else(
    spark: SparkSession, tmp_path: Path
) -> None:
    pairs = [("x in [0, 50]", "I1"), ("x in [10, 90]", "I2"), ("x in [20, 30]", "I3")]
    snapshot = filled(pairs).snapshot()
    assert snapshot.edges == ((0, 2),)
    folder = write_snapshot(tmp_path / "sound", snapshot)
    report = validate(spark, place(folder))
    assert report["ok"]

    nodes, edges = snapshot.node_rows(), snapshot.edge_rows()
    edges.append({"parent": 1, "child": 2})
    folder = write_rows(tmp_path / "edges", snapshot.header(), nodes, edges)
    found = verdicts(validate(spark, place(folder)))
    assert [name for name, each in found.items() if each == "violated"] == ["single-parent"]

    nodes = snapshot.node_rows()
    nodes[2]["interfaces"] = ["I2"]
    nodes[0]["index"] = ["I9"]
    folder = write_rows(tmp_path / "pairs", snapshot.header(), nodes, snapshot.edge_rows())
    report = validate(spark, place(folder))
    assert not report["ok"]
    found = verdicts(report)
    assert [name for name, each in found.items() if each == "violated"] == ["no-redundant-pair"]
    assert found["interface-index"] == "not applicable"


def test_what_it_does_not_promise_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    workload = write_filters(tmp_path / "w", PAIRS)
    with pytest.raises(InputError, match="--local is for pf and linear, not for lean"):
        build(spark, place(workload), "lean", place(tmp_path / "s"), local=True)

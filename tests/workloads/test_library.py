"""The jobs as functions: DataFrames in and out, in the session of the caller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from posetlib import parse_filter
from posetlib.generating import Parameters, generated_notifications
from posetlib.tables import make_table
from posetlib.tables.snapshot import Snapshot
from workloads import BuiltRows, WorkloadRows, build, cover, generate, match, validate
from workloads.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")


def test_functions_from_and_to_data_frames(spark: SparkSession) -> None:
    before = dict(spark.conf.getAll)
    p = Parameters(filters=60, notifications=9, interfaces=4, seed=2, decimals=0)
    made = generate(spark, p)
    rows = made.filters.select("id", "filter", "interface")
    table = make_table("nrf")
    for row in rows.orderBy("id").collect():
        table.add(parse_filter(row["filter"]), row["interface"])
    found = build(rows, "nrf")
    header = {"format": "posetlib-snapshot", "version": 1, "structure": "nrf"}
    nodes = [row.asDict() for row in found.nodes.orderBy("id").collect()]
    snapshot = Snapshot.from_rows(header, nodes, [row.asDict() for row in found.edges.collect()])
    assert set(snapshot.restore().entries()) == set(table.entries())
    roots = {parse_filter(row["filter"]) for row in cover(made.filters).collect()}
    assert roots == set(table.roots())
    told = match(rows, made.notifications).orderBy("id").collect()
    sent = generated_notifications(p, np.arange(9)).mappings
    expected = [set(each) for each in table.match_many(sent)]
    assert [set(row["interfaces"]) for row in told] == expected
    assert dict(spark.conf.getAll) == before


def violated(report: dict[str, Any]) -> set[str]:
    return {each["name"] for each in report["invariants"] if each["verdict"] == "violated"}


def test_rows_are_validated_as_files_are(spark: SparkSession, tmp_path: Path) -> None:
    before = dict(spark.conf.getAll)
    p = Parameters(filters=60, notifications=9, interfaces=4, seed=2, decimals=0)
    made = generate(spark, p)
    table = build(made.filters, "nrf")
    report = validate(table, made)
    assert violated(report) == set()
    assert (report["snapshot"], report["structure"]) == (None, "nrf")
    checked = {each["name"]: each["checked"] for each in report["invariants"]}
    assert (checked["match-agrees"], checked["entries-served"]) == (9, 60)
    # The same from path to path, in the session that is active.
    generate(spark, p, str(tmp_path / "d"))
    build(str(tmp_path / "d"), "nrf", str(tmp_path / "e"))
    written = validate(str(tmp_path / "e"), str(tmp_path / "d"))
    assert written["snapshot"] == str(tmp_path / "e")
    for name in ("name", "verdict", "checked", "violations", "witnesses"):
        assert [e[name] for e in written["invariants"]] == [e[name] for e in report["invariants"]]
    # Rows that are not what they should be.
    broken = BuiltRows(table.nodes, table.edges.limit(0), "nrf")
    assert "interface-index" in violated(validate(broken, made.filters))
    assert "same-roots" in violated(validate(broken, against=table, only=["same-roots"]))
    with pytest.raises(InputError, match="the nodes lack the column interfaces"):
        validate(BuiltRows(table.nodes.drop("interfaces"), table.edges, "nrf"))
    with pytest.raises(InputError, match="unknown structure 'tree'"):
        validate(BuiltRows(table.nodes, table.edges, "tree"))
    assert dict(spark.conf.getAll) == before
    kept: Any = spark.sparkContext._jsc.getPersistentRDDs()
    assert len(kept) == 0


def test_what_operations_leave_as_rows(spark: SparkSession) -> None:
    p = Parameters(filters=40, operations=20, interfaces=3, seed=5, decimals=0)
    made = generate(spark, p)
    assert made.operations is not None
    table = build(made.operations, "nrf")
    assert table.operations
    only = ["entries-served", "entries-asked", "edge-covers"]
    assert violated(validate(table, made, only=only)) == set()
    kept: Any = spark.sparkContext._jsc.getPersistentRDDs()
    assert len(kept) == 0
    with pytest.raises(InputError, match="the workload has none"):
        validate(table, WorkloadRows(made.filters), only=only)


def test_a_path_needs_somewhere_to_write_to() -> None:
    with pytest.raises(TypeError, match="out="):
        build("somewhere", "nrf")  # type: ignore[call-overload]

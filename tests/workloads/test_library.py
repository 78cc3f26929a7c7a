"""The jobs as functions: DataFrames in and out, in the session of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from posetlib import parse_filter
from posetlib.generating import Parameters, generated_notifications
from posetlib.tables import make_table
from posetlib.tables.snapshot import Snapshot
from workloads import BuiltRows, GeneratedRows, build, cover, generate, match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")


def test_functions_from_and_to_data_frames(spark: SparkSession) -> None:
    before = dict(spark.conf.getAll)
    p = Parameters(filters=60, notifications=9, interfaces=4, seed=2, decimals=0)
    made = generate(spark, p)
    assert isinstance(made, GeneratedRows)
    rows = made.filters.select("id", "filter", "interface")
    table = make_table("nrf")
    for row in rows.orderBy("id").collect():
        table.add(parse_filter(row["filter"]), row["interface"])
    found = build(rows, "nrf")
    assert isinstance(found, BuiltRows)
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

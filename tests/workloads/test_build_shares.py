"""A table that many tasks build is that of one process, however rows and work are divided."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posetlib import parse_filter
from posetlib.arrays.building import BuiltTable, build_forest, build_order
from posetlib.arrays.positions import Vocabulary
from posetlib.generating import Parameters, generated_filters
from posetlib.tables import Shape, make_table, structure_named
from posetlib.tables.promises import Elimination
from posetlib.tables.snapshot import Snapshot
from tests.workloads.files import read_rows, write_filters
from workloads import build_shares
from workloads.build import build
from workloads.files import Place
from workloads.generate import generate
from workloads.rows import columns_of, filter_rows, parse_rows
from workloads.shares import Share, _hash, _Plan, task_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STRUCTURES = ["fp", "pf", "bf", "nrf", "linear"]


def rows_of(pairs: list[tuple[str, str]]) -> pa.Table:
    """Pairs as the rows that tasks are given."""
    texts = [text for text, _ in pairs]
    parsed = parse_rows(texts, None)
    return pa.table(
        {
            "id": pa.array(range(len(pairs)), pa.int64()),
            "filter": pa.nulls(len(pairs), pa.string()),
            "interface": pa.array([interface for _, interface in pairs], pa.string()),
            "plain": parsed.plain,
            "ranges": parsed.ranges,
        }
    )


def in_shares(rows: pa.Table, work: Callable[..., pa.Table], of: int, seed: int) -> pa.Table:
    """What tasks find that have the rows in any order."""
    order = list(range(rows.num_rows))
    found = []
    for number in range(of):
        random.Random(seed + number).shuffle(order)
        found.append(work(rows.take(pa.array(order, pa.int64())), Share(number, of)))
    return pa.concat_tables(found).combine_chunks()


def built_by_tasks(rows: pa.Table, structure: str, shares: int, seed: int) -> list[dict[str, Any]]:
    """The steps of ``built_in_shares`` without Spark."""
    promises = structure_named(structure).promises
    forest = promises.shape is Shape.FOREST
    along = forest and promises.elimination is Elimination.ALONG_PATHS
    settles = along or promises.interface_index
    if not along:
        rows = in_shares(rows, partial(build_shares._unbeaten, types=None), shares, seed)
    link = partial(build_shares._linked, forest=forest, settles=settles, types=None)
    rows = in_shares(rows, link, shares, seed + 1)
    if settles:
        indexed = promises.interface_index
        settle = partial(build_shares._settled, along=along, indexed=indexed, types=None)
        rows = in_shares(rows, settle, shares, seed + 2)
    return sorted(rows.to_pylist(), key=lambda row: row["id"])


def built_at_once(rows: pa.Table, structure: str) -> BuiltTable:
    """The table that arrays give in one go."""
    promises = structure_named(structure).promises
    columns = columns_of(rows, Vocabulary())
    codes = np.unique(rows.column("interface").to_pylist(), return_inverse=True)[1]
    if promises.shape is not Shape.FOREST:
        return build_order(columns, codes)
    along = promises.elimination is Elimination.ALONG_PATHS
    return build_forest(columns, codes, along_paths=along)


def links(rows: list[dict[str, Any]]) -> set[tuple[int, int]]:
    return {(parent, row["id"]) for row in rows for parent in row["parents"]}


ENDS = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(
    lambda ends: f"in [{min(ends)}, {max(ends)}]"
)
FILTERS = st.tuples(ENDS, st.none() | ENDS).map(
    lambda each: f"x {each[0]}" + ("" if each[1] is None else f" and y {each[1]}")
)
#: Few interfaces, and many.
INTERFACES = st.integers(1, 3) | st.integers(1, 1000)
PAIRS = st.lists(st.tuples(FILTERS, INTERFACES.map("I{}".format)), max_size=20)


@pytest.mark.parametrize("structure", STRUCTURES)
@settings(max_examples=40)
@given(pairs=PAIRS, shares=st.integers(1, 4), seed=st.integers(0, 99))
def test_shares_together_make_the_table_of_one(
    structure: str, pairs: list[tuple[str, str]], shares: int, seed: int
) -> None:
    rows = rows_of(pairs)
    found = built_by_tasks(rows, structure, shares, seed)
    once = built_at_once(rows, structure)
    assert [row["id"] for row in found] == once.rows.tolist()
    assert links(found) == set(
        zip(once.rows[once.parents].tolist(), once.rows[once.children].tolist(), strict=True)
    )
    table = make_table(structure)
    for text, interface in pairs:
        table.add(parse_filter(text), interface)
    made = snapshot_of(structure, [row | {"filter": pairs[row["id"]][0]} for row in found])
    restored = made.restore()
    restored.check()
    assert set(restored.roots()) == set(table.roots())
    told = [{"x": x, "y": y} for x in range(6) for y in range(6)]
    assert restored.match_many(told) == table.match_many(told)
    if structure in ("fp", "nrf", "linear"):
        assert set(restored.entries()) == set(table.entries())
    if structure == "fp":
        assert all(set(restored.parents(one)) == set(table.parents(one)) for one in table)


def snapshot_of(structure: str, rows: list[dict[str, Any]]) -> Snapshot:
    header = {"format": "posetlib-snapshot", "version": 1, "structure": structure}
    edges = [{"parent": parent, "child": child} for parent, child in sorted(links(rows))]
    return Snapshot.from_rows(header, rows, edges)


# -- on Spark --------------------------------------------------------------------------------------


@pytest.mark.needs("java")
def test_tasks_lie_in_partitions_of_their_own(spark: SparkSession) -> None:
    from pyspark.sql import functions as f

    numbers = [*range(50), 2**31 - 1]
    rows = spark.createDataFrame([(each,) for each in numbers], "n int")
    found = {row["n"]: row["h"] for row in rows.select("n", f.hash("n").alias("h")).collect()}
    assert found == {each: _hash(each) for each in numbers}
    names = task_names(13)
    tasks = spark.createDataFrame([(each,) for each in names], "n int").repartition(13, "n")
    assert tasks.select(f.spark_partition_id()).distinct().count() == 13


def test_a_key_with_many_rows_has_many_tasks() -> None:
    plan = _Plan.of(4, "kind", {"a": 90, "b": 5, "c": 5}, 100)
    assert len(plan.large["a"]) == 4
    assert [plan.shares[task] for task in plan.large["a"]] == [Share(at, 4) for at in range(4)]
    assert list(plan.large) == ["a"]
    assert plan.shares[plan.tasks("b")[0]] == Share(0, 1)
    assert not set(plan.tasks("b")) & set(plan.large["a"])
    assert sorted(row for at in range(3) for row in Share(at, 3).rows(10)) == list(range(10))


def built(spark: SparkSession, folder: Path, structure: str, **options: Any) -> Snapshot:
    out = folder / f"{structure}-{len(list(folder.iterdir()))}"
    build(spark, Place(str(folder / "w")), structure, Place(str(out)), **options)
    header = json.loads((out / "snapshot.json").read_text())
    edges = pq.read_table(out / "edges").to_pylist()
    return Snapshot.from_rows(header, read_rows(out / "nodes"), edges)


@pytest.mark.needs("java")
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize(("interfaces", "schemas", "parts"), [(3, 1, 1), (10_000, 3, 5)])
def test_a_job_builds_the_table_of_one_process(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    structure: str, interfaces: int, schemas: int, parts: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(import_module("workloads.build"), "parallelism", lambda _: parts)
    p = Parameters(filters=400, interfaces=interfaces, schemas=schemas, seed=6, decimals=0)
    generate(spark, p, Place(str(tmp_path / "w")), partitions=3)
    made = generated_filters(p, np.arange(400))
    rows = pa.table(filter_rows(made))
    once = built_at_once(rows, structure)
    found = built(spark, tmp_path, structure)
    assert [node.id for node in found.nodes] == once.rows.tolist()
    assert set(found.edges) == set(
        zip(once.rows[once.parents].tolist(), once.rows[once.children].tolist(), strict=True)
    )
    found.restore().check()


@pytest.mark.needs("java")
@pytest.mark.parametrize("interfaces", [3, 500])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_job_builds_what_operations_leave(
    spark: SparkSession, tmp_path: Path, structure: str, interfaces: int
) -> None:
    p = Parameters(filters=200, operations=150, seed=4, interfaces=interfaces, decimals=0)
    generate(spark, p, Place(str(tmp_path / "w")), partitions=2)
    table = make_table(structure)
    done = pq.read_table(tmp_path / "w" / "operations").sort_by("sequence").to_pylist()
    for row in done:
        act = table.add if row["operation"] == "add" else table.discard
        act(parse_filter(row["filter"]), row["interface"])
    made = built(spark, tmp_path, structure, operations=True).restore()
    made.check()
    assert set(made.entries()) == set(table.entries())
    assert set(made.roots()) == set(table.roots())
    if structure == "fp":
        assert all(set(made.parents(one)) == set(table.parents(one)) for one in table)


@pytest.mark.needs("java")
def test_filters_that_columns_do_not_describe_are_added(
    spark: SparkSession, tmp_path: Path
) -> None:
    pairs = [("x != 3", "I1"), ("x = 4", "I2"), ("x in [0, 9]", "I1"), ("x in [1, 2]", "I2")]
    write_filters(tmp_path / "w", pairs, 2)
    made = built(spark, tmp_path, "nrf").restore()
    table = make_table("nrf")
    for text, interface in pairs:
        table.add(parse_filter(text), interface)
    assert set(made.entries()) == set(table.entries())


@pytest.mark.slow
@pytest.mark.needs("java")
@pytest.mark.parametrize("interfaces", [10, 100_000])
@pytest.mark.parametrize("structure", ["fp", "pf", "nrf"])
def test_a_hundred_thousand_filters(
    spark: SparkSession, tmp_path: Path, structure: str, interfaces: int
) -> None:
    p = Parameters(filters=100_000, kind="narrow", interfaces=interfaces, seed=6, decimals=4)
    generate(spark, p, Place(str(tmp_path / "w")))
    out = tmp_path / "s"
    build(spark, Place(str(tmp_path / "w")), structure, Place(str(out)))
    rows = pa.table(filter_rows(generated_filters(p, np.arange(p.filters))))
    once = built_at_once(rows, structure)
    nodes = pq.read_table(out / "nodes", columns=["id", "interfaces"]).sort_by("id")
    assert nodes.column("id").to_pylist() == once.rows.tolist()
    assert sum(map(len, nodes.column("interfaces").to_pylist())) == len(once.pair_nodes)
    edges = pq.read_table(out / "edges")
    found = np.lexsort((edges.column("parent"), edges.column("child")))
    expected = np.lexsort((once.rows[once.parents], once.rows[once.children]))
    for name, mine in (("parent", once.parents), ("child", once.children)):
        assert np.array_equal(np.asarray(edges.column(name))[found], once.rows[mine][expected])

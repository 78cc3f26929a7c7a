"""validate can be believed: files as they are now, typed columns that tell the truth, any data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from posetlib.generating import KINDS, Parameters
from tests.workloads.files import write_filters, write_snapshot
from tests.workloads.test_validate import PAIRS, entry, report_on, table, violated
from workloads.build import build
from workloads.errors import InputError
from workloads.files import Place
from workloads.generate import generate
from workloads.match import match
from workloads.rows import columns_agree_with
from workloads.validate import validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")

P = Parameters(filters=60, seed=4, interfaces=4, decimals=0, notifications=10, schemas=2)


def place(path: Path) -> Place:
    return Place(str(path))


def change(folder: Path, column: str, at: int, value: Any) -> None:
    """Change one value of a Parquet file, as somebody with pyarrow would."""
    (part,) = folder.glob("*.parquet")
    rows = pq.read_table(part)
    values = rows.column(column).to_pylist()
    values[at] = value
    field = rows.schema.field(column)
    new = pa.array(values, field.type)
    part.with_name(f".{part.name}.crc").unlink(missing_ok=True)
    pq.write_table(rows.set_column(rows.schema.get_field_index(column), field, new), part)


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload and its forest, as the jobs make them, with typed columns."""
    folder = tmp_path_factory.mktemp("made")
    generate(spark, P, place(folder / "d"), partitions=1)
    build(spark, place(folder / "d"), "nrf", place(folder / "e"))
    return folder


def copied(made: Path, to: Path) -> Path:
    import shutil

    shutil.copytree(made, to)
    return to


# -- typed columns ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value"),
    [("lo_x", -1.0), ("hi_y", None), ("open_x", 1), ("type", "T99"), ("lo_y", float("nan"))],
)
def test_a_typed_column_that_lies_is_told_and_not_believed(
    spark: SparkSession, tmp_path: Path, made: Path, column: str, value: Any
) -> None:
    folder = copied(made, tmp_path / "c")
    change(folder / "e" / "nodes", column, 3, value)
    only = ["columns-agree", "edge-covers", "sibling-pure", "roots-minimal-cover", "entries-served"]
    report = validate(spark, place(folder / "e"), place(folder / "d"), only=only)
    found = entry(report, "columns-agree")
    assert violated_names(report) == {"columns-agree"}
    assert found["violations"] == 1
    (witness,) = found["witnesses"]
    rows = pq.read_table(folder / "e" / "nodes").to_pylist()
    assert witness["filter"] == rows[3]["filter"]
    assert witness["ids"] == [rows[3]["id"]]


def test_all_columns_that_lie_are_written_down(
    spark: SparkSession, tmp_path: Path, made: Path
) -> None:
    folder = copied(made, tmp_path / "c")
    for at in range(8):
        change(folder / "d" / "filters", "lo_x", at, -5.0)
    report = validate(
        spark, place(folder / "e"), place(folder / "d"), only=["columns-agree"],
        violations=place(tmp_path / "v"),
    )  # fmt: skip
    assert entry(report, "columns-agree")["violations"] == 8
    assert len(entry(report, "columns-agree")["witnesses"]) == 5
    assert pq.read_table(tmp_path / "v").num_rows == 8


def violated_names(report: dict[str, Any]) -> set[str]:
    return {each["name"] for each in report["invariants"] if each["verdict"] == "violated"}


def test_a_text_that_is_changed_is_seen_and_takes_effect(
    spark: SparkSession, tmp_path: Path, made: Path
) -> None:
    folder = copied(made, tmp_path / "c")
    change(folder / "e" / "nodes", "filter", 3, "y is number")
    change(folder / "d" / "filters", "lo_x", 7, -5.0)
    report = validate(spark, place(folder / "e"), place(folder / "d"))
    assert {"columns-agree", "entries-asked", "roots-minimal-cover"} <= violated_names(report)
    found = entry(report, "columns-agree")
    assert found["violations"] == 2
    assert [each.get("row") for each in found["witnesses"]] == [None, 7]
    assert found["checked"] == report["nodes"] + P.filters


@pytest.mark.parametrize(
    ("text", "agree"),
    [
        ('type = "T6" and x in [2.9e-05, 21.5]', True),
        ('type = "T6" and x in [0.000029, 21.5]', True),
        ('x in [2.9e-05, 21.5] and type in {"T6"}', True),
        ('type = "T6" and x in [2.9e-04, 21.5]', False),
        ('type = "T6" and x in [2.9e-05, 2.15E1]', True),
    ],
)
def test_columns_agree_however_numbers_are_written(text: str, agree: bool) -> None:
    columns = {"filter": [text], "lo_x": [2.9e-05], "hi_x": [21.5], "type": ["T6"]}
    agrees, errors = columns_agree_with(pa.RecordBatch.from_pydict(columns), pa.array([text]), None)
    assert (agrees.to_pylist(), errors.to_pylist()) == ([agree], [None])


# -- sessions that are used again ------------------------------------------------------------------


def test_a_table_broken_in_place_is_not_taken_for_the_one_before(
    spark: SparkSession, tmp_path: Path, made: Path
) -> None:
    folder = copied(made, tmp_path / "c")
    only = ["edge-covers", "sibling-pure", "distinct-filters"]
    options: dict[str, Any] = {"broadcast_limit": 0, "only": only}
    assert validate(spark, place(folder / "e"), **options)["ok"]
    change(folder / "e" / "nodes", "filter", 3, "true")
    assert not validate(spark, place(folder / "e"), **options)["ok"]
    kept: Any = spark.sparkContext._jsc.getPersistentRDDs()
    assert len(kept) == 0


# -- what operations leave -------------------------------------------------------------------------


@pytest.mark.parametrize("structure", ["fp", "pf", "nrf"])
def test_after_operations_the_final_state_counts(
    spark: SparkSession, tmp_path: Path, structure: str
) -> None:
    p = Parameters(filters=40, operations=60, seed=3, interfaces=3, decimals=0)
    generate(spark, p, place(tmp_path / "d"), partitions=2)
    build(spark, place(tmp_path / "d"), structure, place(tmp_path / "e"), operations=True)
    only = ["entries-served", "entries-asked"]
    for limit in (1 << 28, 0):
        report = validate(
            spark, place(tmp_path / "e"), place(tmp_path / "d"), only=only, broadcast_limit=limit
        )
        assert violated_names(report) == set(), report
        assert entry(report, "entries-served")["checked"] > 0
    # A pair that is taken away, and one that nobody asked for.
    nodes = pq.read_table(tmp_path / "e" / "nodes").to_pylist()
    at = next(i for i, node in enumerate(nodes) if len(node["interfaces"]) == 1)
    before = nodes[at]["interfaces"]
    change(tmp_path / "e" / "nodes", "interfaces", at, ["I9"])
    report = validate(spark, place(tmp_path / "e"), place(tmp_path / "d"), only=only)
    assert entry(report, "entries-asked")["witnesses"][0]["interface"] == "I9"
    if structure != "pf":
        assert entry(report, "entries-served")["witnesses"][0]["interface"] == before[0]
    empty = write_filters(tmp_path / "f", [(nodes[at]["filter"], "I1")])
    with pytest.raises(InputError, match="what operations left, and the workload"):
        validate(spark, place(tmp_path / "e"), place(empty))


def test_what_is_left_of_operations_is_what_a_list_holds() -> None:
    import random

    from posetlib import parse_filter
    from posetlib.tables import make_table
    from workloads.checks_entries import replayed

    rng = random.Random(11)
    for _ in range(60):
        texts = [f"x in [{low}, {low + rng.randint(0, 3)}]" for low in range(5)]
        steps = [(rng.choice(["add", "add", "remove"]), rng.choice(texts)) for _ in range(14)]
        rows = pa.table({"operation": [a for a, _ in steps], "filter": [t for _, t in steps]})
        tables = {
            "exactly": make_table("linear"),
            "all": make_table("linear", local=True),
            "surely": make_table("pf"),
        }
        for act, text in steps:
            for each in tables.values():
                f = parse_filter(text)
                each.add(f, "I") if act == "add" else each.discard(f, "I")
        for how, made_table in tables.items():
            left = replayed(rows, how, None).to_pylist()
            due = {row["filter"] for row in left if row["due"]}
            held = {str(f) for f in made_table}
            every = {row["filter"] for row in left}
            assert {str(parse_filter(text)) for text in every} >= held
            if how != "surely":
                assert {str(parse_filter(text)) for text in due} == held
            for text in due:
                assert any(f.covers(parse_filter(text)) for f in made_table)


# -- clean tables of every kind, past the limit ----------------------------------------------------


@pytest.mark.parametrize(("structure", "kind"), [("fp", "strings"), ("bf", "mixed")])
def test_clean_tables_pass_past_the_limit(
    spark: SparkSession, tmp_path: Path, structure: str, kind: str
) -> None:
    clean_past_the_limit(spark, tmp_path, structure, kind)


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["fp", "pf", "bf", "nrf", "linear"])
@pytest.mark.parametrize("kind", KINDS)
def test_clean_tables_of_every_kind_pass_on_every_path(
    spark: SparkSession, tmp_path: Path, structure: str, kind: str
) -> None:
    clean_past_the_limit(spark, tmp_path, structure, kind, (1 << 28, 0))


def clean_past_the_limit(
    spark: SparkSession, folder: Path, structure: str, kind: str, limits: tuple[int, ...] = (0,)
) -> None:
    p = Parameters(filters=80, kind=kind, seed=2, interfaces=4, decimals=0, notifications=5)
    generate(spark, p, place(folder / "d"), partitions=2)
    build(spark, place(folder / "d"), structure, place(folder / "e"))
    for limit in limits:
        report = report_on(spark, folder / "e", folder / "d", broadcast_limit=limit)
        assert violated(report) == set()


# -- foreign data ----------------------------------------------------------------------------------


def test_columns_that_are_somebody_elses_do_not_matter(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "d" / "filters").mkdir(parents=True)
    rows = {"id": [1, 2], "filter": ["x in [0, 9]", "x = 3"], "interface": ["I1", "I2"]}
    others = {"kind": [1, 2], "sequence": ["b", "a"], "user.id": [1, 2], "a`b": [0, 0],
              "type": [True, False], "plain": [1, 1], "lo_x": ["", ""], "hi_x": [1, 1],
              "ranges": [3, 4], "label": [1, 2], "due": [0, 1], "number": [7, 7]}  # fmt: skip
    pq.write_table(pa.table(rows | others), tmp_path / "d" / "filters" / "part.parquet")
    (tmp_path / "d" / "notifications").mkdir()
    pq.write_table(
        pa.table({"id": [1], "notification": ['{"x": 3}'], "points.x": [3]}),
        tmp_path / "d" / "notifications" / "part.parquet",
    )
    build(spark, place(tmp_path / "d"), "fp", place(tmp_path / "e"))
    (nodes,) = (tmp_path / "e" / "nodes").glob("*.parquet")
    spoilt = pq.read_table(nodes)
    for name, values in others.items():
        if name not in spoilt.schema.names:
            spoilt = spoilt.append_column(name, pa.array(values))
    nodes.with_name(f".{nodes.name}.crc").unlink()
    pq.write_table(spoilt, nodes)
    for limit in (1 << 28, 0):
        report = report_on(spark, tmp_path / "e", tmp_path / "d", broadcast_limit=limit)
        assert violated(report) == set()
    match(spark, place(tmp_path / "d"), place(tmp_path / "m"))


@pytest.mark.parametrize("kind", [pa.int16(), pa.uint8(), pa.uint64()])
def test_ids_of_every_width_do_and_so_does_an_empty_table_of_pandas(
    spark: SparkSession, tmp_path: Path, kind: pa.DataType
) -> None:
    snapshot = table("pf", PAIRS[:2])
    folder = write_snapshot(tmp_path / "s", snapshot)
    (part,) = (folder / "nodes").glob("*.parquet")
    rows = pq.read_table(part)
    pq.write_table(rows.set_column(0, "id", rows.column("id").cast(kind)), part)
    for edges in (
        pd.DataFrame(columns=["parent", "child"]),
        pd.DataFrame({"parent": [], "child": []}),
    ):
        edges.to_parquet(folder / "edges" / "part-0.parquet")
        report = validate(spark, place(folder), only=["edge-covers", "interfaces-nonempty"])
        assert violated_names(report) == set()
        assert report["nodes"] == 2


def test_an_id_that_is_too_great_is_told(spark: SparkSession, tmp_path: Path) -> None:
    folder = write_snapshot(tmp_path / "s", table("pf", PAIRS[:2]))
    (part,) = (folder / "nodes").glob("*.parquet")
    rows = pq.read_table(part)
    ids = pa.array([1, 2**63 + 5], pa.uint64())
    pq.write_table(rows.set_column(0, "id", ids), part)
    from workloads.errors import refusal_of

    with pytest.raises(Exception, match="9223372036854775813") as caught:
        validate(spark, place(folder), only=["edge-covers"])
    assert "is more than" in (refusal_of(caught.value) or "")


def test_duplicate_ids_are_counted_right(spark: SparkSession, tmp_path: Path) -> None:
    folder = write_snapshot(tmp_path / "s", table("pf", PAIRS))
    (part,) = (folder / "nodes").glob("*.parquet")
    rows = pq.read_table(part)
    ids = pa.array([4, 4, 4, 7, 7, 8], pa.int64())
    pq.write_table(rows.set_column(0, "id", ids), part)
    with pytest.raises(InputError, match="3 nodes have the id 4, and 1 more ids are there"):
        validate(spark, place(folder))


def test_a_neighbour_that_no_node_knows_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    folder = write_snapshot(tmp_path / "s", table("fp"))
    with pytest.raises(InputError, match="no node has the interface I99; there are I1, I2"):
        validate(spark, place(folder), neighbours=["I1", "I99"])


def test_all_violations_are_written_as_a_table(spark: SparkSession, tmp_path: Path) -> None:
    pairs = [(f"x in [{low}, {low + 1}]", "I1") for low in range(0, 40, 2)]
    snapshot = table("pf", pairs)
    nodes = [{**row, "interfaces": []} for row in snapshot.node_rows()]
    from tests.workloads.files import write_rows

    folder = write_rows(tmp_path / "s", snapshot.header(), nodes, snapshot.edge_rows())
    report = validate(spark, place(folder), violations=place(tmp_path / "v"))
    assert entry(report, "interfaces-nonempty")["violations"] == 20
    assert len(entry(report, "interfaces-nonempty")["witnesses"]) == 5
    rows = pq.read_table(tmp_path / "v").to_pylist()
    assert [row["number"] for row in rows if row["invariant"] == "interfaces-nonempty"] == list(
        range(20)
    )
    assert {json.loads(row["witness"])["filter"] for row in rows} == {text for text, _ in pairs}
    with pytest.raises(InputError, match="exists"):
        validate(spark, place(folder), violations=place(tmp_path / "v"))

"""The jobs give what one process gives, however the work is divided."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from posetlib import parse_filter
from posetlib.generating import (
    KINDS,
    Parameters,
    generated_filters,
    generated_notifications,
    interface_names,
)
from posetlib.generating.scenarios import operations_of
from posetlib.tables import make_table
from posetlib.tables.snapshot import Snapshot
from tests.workloads.files import read_rows, write_filters, write_notifications
from workloads.build import build
from workloads.cover import cover
from workloads.errors import InputError
from workloads.files import Place
from workloads.generate import generate
from workloads.match import match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")


def place(path: Path) -> Place:
    return Place(str(path))


def generated(p: Parameters) -> tuple[list[tuple[str, str]], list[dict[str, Any]]]:
    made = generated_filters(p, np.arange(p.filters))
    pairs = list(zip(made.texts(), interface_names(made.interfaces), strict=True))
    return pairs, generated_notifications(p, np.arange(p.notifications)).mappings


def expected_cover(pairs: list[tuple[str, str]]) -> list[int]:
    filters = [parse_filter(text) for text, _ in pairs]
    return [
        i
        for i, f in enumerate(filters)
        if not any(
            g.covers(f) and (j < i or not f.covers(g)) for j, g in enumerate(filters) if i != j
        )
    ]


def expected_matches(
    pairs: list[tuple[str, str]], notifications: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    filters = [(parse_filter(text), interface) for text, interface in pairs]
    return [
        {"id": n, "interfaces": sorted({i for f, i in filters if f.matches(notification)})}
        for n, notification in enumerate(notifications)
    ]


# -- generate --------------------------------------------------------------------------------------


def test_rows_do_not_depend_on_the_parts(spark: SparkSession, tmp_path: Path) -> None:
    p = Parameters(
        filters=500, notifications=70, kind="mixed", schemas=3, seed=5, operations=40,
        scenario="distributed",
    )  # fmt: skip
    pairs, notifications = generated(p)
    seen = []
    for parts in (1, 3, 8):
        out = tmp_path / str(parts)
        generate(spark, p, place(out), partitions=parts)
        rows = read_rows(out / "filters")
        assert [(row["filter"], row["interface"]) for row in rows] == pairs
        told = read_rows(out / "notifications")
        assert [json.loads(row["notification"]) for row in told] == notifications
        seen.append((rows, pq.read_table(out / "operations").sort_by("sequence").to_pylist()))
        header = json.loads((out / "workload.json").read_text())
        assert header["seed"] == 5
        assert Parameters.from_dict(header["parameters"]) == p
    assert seen[0] == seen[1] == seen[2]
    operations = sorted(
        (int(at), bool(add), int(row))
        for interface in range(p.interfaces)
        for at, add, row in zip(*operations_of(p, interface), strict=True)
    )
    assert operations == [
        (row["sequence"], row["operation"] == "add", row["id"]) for row in seen[0][1]
    ]


# -- cover and match -------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [1, 3, 8])
@pytest.mark.parametrize("kind", ["uniform", "mixed"])
def test_cover_and_match_of_a_workload(
    spark: SparkSession, tmp_path: Path, kind: str, parts: int
) -> None:
    p = Parameters(filters=600, notifications=50, kind=kind, seed=2, decimals=0, schemas=2)
    pairs, notifications = generated(p)
    generate(spark, p, place(tmp_path / "w"), partitions=parts)
    cover(spark, place(tmp_path / "w"), place(tmp_path / "c"))
    rows = read_rows(tmp_path / "c")
    ids = expected_cover(pairs)
    assert rows == [{"id": i, "filter": pairs[i][0], "interface": pairs[i][1]} for i in ids]
    match(spark, place(tmp_path / "w"), place(tmp_path / "m"))
    assert read_rows(tmp_path / "m") == expected_matches(pairs, notifications)


def test_a_workload_with_text_alone(spark: SparkSession, tmp_path: Path) -> None:
    pairs: list[tuple[str, str]] = []
    notifications: list[dict[str, Any]] = []
    for kind in KINDS:
        some, told = generated(Parameters(filters=60, notifications=9, kind=kind, seed=4))
        pairs += some
        notifications += told
    pairs += [
        ("x in [9007199254740993, 9007199254740995]", "I1"),
        ("x >= 9007199254740992", "I2"),
        ("x = 9007199254740993", "I3"),
        ("x in {1, 2} or x > 90", "I4"),
        ("pos.x = 3 and t has 5", "I5"),
        ('name = "a \\u00e9"', "I6"),
        # Numbers that columns have no place for, beside a string that they have.
        ('name = "few" and x in [1e-320, 5e-320]', "I8"),
        ("true", "I7"),
    ]
    notifications += [
        {"name": "other", "x": 2e-320},
        {"name": "few", "x": 2e-320},
        {"x": 9007199254740993},
        {"x": 2},
        {"pos": {"x": 3}, "t": [5, 6]},
        {"name": "a é"},
        {},
    ]
    workload = write_filters(tmp_path / "w", pairs, 3)
    write_notifications(workload, notifications)
    match(spark, place(workload), place(tmp_path / "m"))
    assert read_rows(tmp_path / "m") == expected_matches(pairs, notifications)
    # With `true` in it, the cover is that alone.
    cover(spark, place(workload), place(tmp_path / "c"))
    assert [row["filter"] for row in read_rows(tmp_path / "c")] == ["true"]
    without = write_filters(tmp_path / "v", pairs[:-1], 2)
    cover(spark, place(without), place(tmp_path / "d"))
    assert [row["id"] for row in read_rows(tmp_path / "d")] == expected_cover(pairs[:-1])


def test_bad_text_is_counted_shown_and_refused_or_left_out(
    spark: SparkSession, tmp_path: Path
) -> None:
    pairs = [("x in [0, 9]", "I1"), ("x in", "I1"), (None, "I1"), ("x > 5 and x < 3", "I2")]
    workload = write_filters(tmp_path / "w", pairs)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="3 rows have text that is no filter, the first with id 1"):
        cover(spark, place(workload), place(tmp_path / "c"))
    assert not (tmp_path / "c").exists()
    header = cover(spark, place(workload), place(tmp_path / "c"), skip_bad=True)
    assert header["bad_rows"]["count"] == 3
    assert [each["id"] for each in header["bad_rows"]["samples"]] == [1, 2, 3]
    assert [row["id"] for row in read_rows(tmp_path / "c")] == [0]


def test_a_text_that_is_changed_takes_effect(spark: SparkSession, tmp_path: Path) -> None:
    p = Parameters(filters=50, seed=2, schemas=2)
    generate(spark, p, place(tmp_path / "w"), partitions=1)
    (part,) = (tmp_path / "w" / "filters").glob("*.parquet")
    rows = pq.read_table(part)
    assert {"typed_for", "lo_x", "hi_x", "type"} <= set(rows.schema.names)
    texts = rows.column("filter").to_pylist()
    texts[7] = "y is number"
    column = rows.schema.get_field_index("filter")
    part.with_name(f".{part.name}.crc").unlink()
    pq.write_table(rows.set_column(column, "filter", [texts]), part)
    cover(spark, place(tmp_path / "w"), place(tmp_path / "c"))
    pairs = [(text, "") for text in texts]
    assert [row["id"] for row in read_rows(tmp_path / "c")] == expected_cover(pairs) == [7]


def test_typed_columns_that_say_nothing_are_refused() -> None:
    from posetlib.arrays.ranges import Vocabulary
    from workloads.rows import columns_of

    rows = {"filter": [None], "plain": [True], "lo_x": [5.0], "hi_x": [4.0]}
    with pytest.raises(InputError, match=r"a range from 5\.0 to 4\.0, which is empty"):
        columns_of(pa.table(rows), Vocabulary())


def test_notifications_that_share_an_id_share_an_answer(
    spark: SparkSession, tmp_path: Path
) -> None:
    workload = write_filters(tmp_path / "w", [("x < 5", "b"), ("x > 3", "a"), ("x = 4", "b")])
    told = spark.createDataFrame(
        [(-7, '{"x": 1}'), (-7, '{"x": 9}'), (1 << 62, '{"x": 4}'), (3, "{}")],
        "id long, notification string",
    )
    told.write.parquet(str(tmp_path / "w" / "notifications"))
    match(spark, place(workload), place(tmp_path / "m"))
    found = [(row["id"], row["interfaces"]) for row in read_rows(tmp_path / "m")]
    assert found == [(-7, ["a", "b"]), (3, []), (1 << 62, ["a", "b"])]


def test_nothing_at_all(spark: SparkSession, tmp_path: Path) -> None:
    p = Parameters(filters=0, notifications=3)
    generate(spark, p, place(tmp_path / "w"))
    cover(spark, place(tmp_path / "w"), place(tmp_path / "c"))
    assert read_rows(tmp_path / "c") == []
    match(spark, place(tmp_path / "w"), place(tmp_path / "m"))
    assert [row["interfaces"] for row in read_rows(tmp_path / "m")] == [[], [], []]
    build(spark, place(tmp_path / "w"), "nrf", place(tmp_path / "s"))
    assert read_rows(tmp_path / "s" / "nodes") == []


# -- build -----------------------------------------------------------------------------------------


def read_snapshot(folder: Path) -> Snapshot:
    header = json.loads((folder / "snapshot.json").read_text())
    nodes = read_rows(folder / "nodes")
    return Snapshot.from_rows(header, nodes, pq.read_table(folder / "edges").to_pylist())


@pytest.mark.parametrize(
    ("structure", "schemas", "options"),
    [
        ("fp", 1, {}),
        ("fp", 4, {}),
        ("nrf", 4, {}),
        ("pf", 4, {"local": True}),
        ("bf", 3, {}),
        ("linear", 1, {}),
    ],
)
def test_a_table_is_that_of_one_process(
    spark: SparkSession, tmp_path: Path, structure: str, schemas: int, options: dict[str, Any]
) -> None:
    p = Parameters(filters=150, seed=3, schemas=schemas, decimals=0, interfaces=4)
    pairs, _ = generated(p)
    generate(spark, p, place(tmp_path / "w"), partitions=3)
    build(spark, place(tmp_path / "w"), structure, place(tmp_path / "s"), **options)
    found = read_snapshot(tmp_path / "s")
    table = make_table(structure, **options)
    for text, interface in pairs:
        table.add(parse_filter(text), interface)
    made = found.restore()
    made.check()
    assert found.local == bool(options)
    assert set(made.roots()) == set(table.roots())
    if structure in ("fp", "nrf", "linear") or options:
        assert set(made.entries()) == set(table.entries())
    if structure == "fp":
        assert all(set(made.parents(f)) == set(table.parents(f)) for f in table)
    # A node's id is that of the first filter that it stands for.
    assert all(pairs[node.id][0] == str(node.item) for node in found.nodes)


def test_what_operations_leave(spark: SparkSession, tmp_path: Path) -> None:
    p = Parameters(
        filters=40, operations=60, seed=3, interfaces=3, scenario="distributed", decimals=0
    )
    generate(spark, p, place(tmp_path / "w"), partitions=2)
    build(spark, place(tmp_path / "w"), "nrf", place(tmp_path / "s"), operations=True)
    table = make_table("nrf")
    for row in pq.read_table(tmp_path / "w" / "operations").sort_by("sequence").to_pylist():
        act = table.add if row["operation"] == "add" else table.discard
        act(parse_filter(row["filter"]), row["interface"])
    made = read_snapshot(tmp_path / "s").restore()
    made.check()
    assert set(made.entries()) == set(table.entries())


# -- output ----------------------------------------------------------------------------------------


def test_a_job_that_dies_leaves_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("workloads.generate")

    def dies(*_: Any) -> None:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(module, "write_json", dies)
    with pytest.raises(RuntimeError, match="on fire"):
        generate(spark, Parameters(filters=10), place(tmp_path / "w"))
    assert list(tmp_path.iterdir()) == []


def test_output_is_overwritten_only_if_asked_and_ours(spark: SparkSession, tmp_path: Path) -> None:
    p = Parameters(filters=10, seed=1)
    generate(spark, p, place(tmp_path / "w"))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="exists; --overwrite replaces it"):
        generate(spark, p, place(tmp_path / "w"))
    assert sorted(tmp_path.rglob("*")) == before
    generate(spark, Parameters(filters=11, seed=1), place(tmp_path / "w"), overwrite=True)
    assert len(read_rows(tmp_path / "w" / "filters")) == 11
    assert [each.name for each in tmp_path.iterdir()] == ["w"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not the output of a job: it stays"):
        generate(spark, p, place(tmp_path / "mine"), overwrite=True)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
    (tmp_path / "empty").mkdir()
    generate(spark, p, place(tmp_path / "empty"))
    assert len(read_rows(tmp_path / "empty" / "filters")) == 10

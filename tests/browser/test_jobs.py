"""What the jobs really write, opened in the browser: a table that was spoilt, and its witnesses."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from browser.config import Config
from browser.directories import read_report, snapshot_of
from browser.pages.runs import openable, witness_drawing
from workloads.cli import main
from workloads.session import open_session

from .driving import Visitor, serving

pytestmark = [pytest.mark.needs("java"), pytest.mark.needs("chromium")]


def spoil(folder: Path) -> tuple[int, int]:
    """Turn one edge of a table around, and return it as it is then."""
    edges = ds.dataset(folder / "edges", format="parquet").to_table()
    rows = sorted(
        zip(*(edges.column(each).to_pylist() for each in ("parent", "child")), strict=True)
    )
    rows[0] = (rows[0][1], rows[0][0])
    shutil.rmtree(folder / "edges")
    (folder / "edges").mkdir()
    columns: dict[str, Any] = dict(zip(("parent", "child"), zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns, edges.schema), folder / "edges" / "part-00000.parquet")
    return rows[0]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload, its table, a copy of that with a fault, and the report on the copy."""
    folder = tmp_path_factory.mktemp("jobs")
    workload, table, broken = (str(folder / each) for each in ("workload", "fp", "spoilt"))
    made = "generate --filters 60 --interfaces 4 --notifications 10 --seed 7 --partitions 2 --out"
    with open_session("tests", "local[2]", 2) as session:  # which the commands use, too
        session.conf.set("spark.sql.codegen.wholeStage", "false")  # small rows, many plans
        assert main([*made.split(), workload]) == 0
        assert main(["build", "--workload", workload, "--structure", "fp", "--out", table]) == 0
        shutil.copytree(table, broken)
        spoil(Path(broken))
        arguments = ["--snapshot", broken, "--workload", workload]
        report = str(folder / "on-spoilt.json")
        assert main(["validate", *arguments, "--report", report]) == 1
    return folder


@pytest.fixture(scope="module")
def address(run: Path) -> Iterator[str]:
    with serving(run / "workload", run) as found:
        yield found


def test_every_witness_of_a_real_report_has_a_drawing(run: Path) -> None:
    config = Config(runs=run)
    report = read_report(config, "on-spoilt.json")
    table = snapshot_of(config, report)
    assert table == ("spoilt", run / "spoilt")
    there = openable(report)
    listed = [each for entry in report.content["invariants"] for each in entry["witnesses"]]
    assert len(there) == len(listed) > 3
    for invariant, witness in there.values():
        made = witness_drawing(table, invariant, witness, config.limits)
        assert made is not None, (invariant, witness)
        marked = [each for each in made["elements"] if "witness" in each.get("classes", "").split()]
        assert marked, (invariant, witness)


def test_a_witness_of_the_jobs_opens_in_the_graph(visitor: Visitor, address: str) -> None:
    visitor.open(f"{address}/runs?report=on-spoilt.json")
    visitor.sees("#runs-reports", "✗ violated")
    visitor.drawn("runs-witness")
    assert "edge-covers in spoilt" in visitor.text("#stats-runs-witness")
    visitor.sees("#runs-witness_text", "the parent does not cover its child")
    visitor.choose(".nav a", "Tables")
    visitor.drawn("tables-fp")
    visitor.sees("#source-title", "/workload")

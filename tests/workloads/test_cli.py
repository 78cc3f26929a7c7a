"""The command line: exit statuses, sentences, reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.workloads.files import write_filters
from workloads.cli import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("java"), pytest.mark.usefixtures("spark")]


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_whole_walk(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spark is not None
    d, e = tmp_path / "d", tmp_path / "e"
    report = tmp_path / "reports" / "r.json"
    status, out, _ = run(
        capsys, "generate", "--out", d, "--filters", 200, "--kind", "uniform", "--dims", 2,
        "--interfaces", 5, "--notifications", 20, "--seed", 3, "--partitions", 2,
    )  # fmt: skip
    assert (status, out) == (0, f"200 filters and 20 notifications in {d}\n")
    status, out, _ = run(capsys, "build", "--workload", d, "--structure", "nrf", "--out", e)
    assert status == 0
    assert "nodes of nrf" in out
    status, out, err = run(capsys, "validate", "--snapshot", e, "--workload", d, "--report", report)
    assert (status, err) == (0, "")
    assert "every invariant holds" in out
    made = json.loads(report.read_text())
    assert made["ok"] is True
    for each in made["invariants"]:
        assert {"name", "verdict", "checked", "violations", "witnesses", "seconds"} <= set(each)
    # One interface taken away, and the report says so.
    nodes = pq.read_table(e / "nodes").to_pylist()
    nodes[0]["interfaces"] = []
    for part in (e / "nodes").glob("*.parquet"):
        schema = pq.read_schema(part)
        part.unlink()
    pq.write_table(pa.Table.from_pylist(nodes, schema=schema), e / "nodes" / "part.parquet")
    status, out, _ = run(capsys, "validate", "--snapshot", e, "--workload", d, "--report", report)
    assert status == 1
    assert "VIOLATED        interfaces-nonempty" in out
    assert json.loads(report.read_text())["ok"] is False


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["generate", "--out", "{tmp}/w", "--filters", "-3"], "filters is between 0"),
        (["generate", "--out", "{tmp}/w", "--filters", "3", "--dims", "99"], "dims is between"),
        (["generate", "--out", "{tmp}/w", "--filters", "3", "--partitions", "0"], "--partitions"),
        (["cover", "--workload", "{tmp}/nowhere", "--out", "{tmp}/c"], "there is no workload at"),
        (["match", "--workload", "{tmp}/text", "--out", "{tmp}/m"], "has no notifications"),
        (["build", "--workload", "{tmp}/text", "--structure", "fp", "--local", "--out", "{tmp}/s"],
         "--local is for pf and linear"),
        (["build", "--workload", "{tmp}/text", "--structure", "fp", "--operations", "--out",
          "{tmp}/s"], "operations: there is no"),
        (["validate", "--snapshot", "{tmp}/nowhere"], "there is no snapshot at"),
        (["validate", "--snapshot", "{tmp}/text"], "the snapshot: there is no"),
        (["cover", "--workload", "{tmp}/lacks", "--out", "{tmp}/c"], "lack the column interface"),
        (["cover", "--workload", "{tmp}/wrong", "--out", "{tmp}/c"], "is bigint, not string"),
        (["cover", "--workload", "{tmp}/text", "--out", "{tmp}/file/c"], "nothing can be written"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    write_filters(tmp_path / "text", [("x = 1", "I1")])
    (tmp_path / "file").write_text("")
    for name, columns in (
        ("lacks", {"id": [1], "filter": ["x = 1"]}),
        ("wrong", {"id": [1], "filter": [3], "interface": ["I1"]}),
    ):  # fmt: skip
        (tmp_path / name / "filters").mkdir(parents=True)
        pq.write_table(pa.table(columns), tmp_path / name / "filters" / "part.parquet")
    before = sorted(tmp_path.iterdir())
    status, out, err = run(capsys, *(each.format(tmp=tmp_path) for each in arguments))
    assert status == 2
    assert sentence in err
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["generate"],
        ["generate", "--out", "w", "--filters", "many"],
        ["generate", "--out", "w", "--filters", "3", "--kind", "cubic"],
        ["build", "--workload", "w", "--structure", "tree", "--out", "s"],
        ["fly"],
    ],
)
def test_bad_options_are_status_2(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_help_needs_no_spark() -> None:
    code = (
        "import sys; from workloads.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print('pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")

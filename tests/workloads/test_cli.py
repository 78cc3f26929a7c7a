"""The command line: exit statuses, sentences, reports."""

from __future__ import annotations

import json
import re
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


#: Such a line comes every half minute, where there is no terminal.
_PROGRESS = re.compile(r"[a-z]+, \d+ s: ")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run a command here; what it says of its progress, on a busy machine, is left out."""
    status = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    told = [line for line in err.splitlines(keepends=True) if not _PROGRESS.match(line)]
    return status, out, "".join(told)


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
        (["cover", "--workload", "{tmp}/none", "--out", "{tmp}/c"], "filters: there is no"),
        (["cover", "--workload", "{tmp}/no-id", "--out", "{tmp}/c"], "filter x = 1 has no id"),
        (["build", "--workload", "{tmp}/no-one", "--structure", "pf", "--out", "{tmp}/s"],
         "filter x = 1 has no interface"),
        (["cover", "--workload", "{tmp}/twins", "--out", "{tmp}/c"], "2 rows share 1 id, and each"),
        (["build", "--workload", "{tmp}/twins", "--structure", "fp", "--out", "{tmp}/s"],
         "and each needs one of its own"),
        (["match", "--workload", "{tmp}/spoilt", "--out", "{tmp}/m"], "parquet cannot be read"),
        (["cover", "--workload", "{tmp}/junk", "--out", "{tmp}/c"], "has no Parquet to read"),
        (["cover", "--workload", "", "--out", "{tmp}/c"], "a path is needed"),
        (["cover", "--workload", "{tmp}/text", "--out", "{tmp}/text"], "is the input"),
        (["cover", "--workload", "{tmp}/text", "--out", "{tmp}/lacks"], "exists; --overwrite"),
        (["validate", "--snapshot", "{tmp}/text", "--report", "{tmp}"], "Is a directory"),
        (["validate", "--snapshot", "{tmp}/text", "--neighbours", "a,,b"], "none is empty"),
        (["validate", "--snapshot", "{tmp}/text", "--broadcast-limit", "-1"], "--broadcast-limit"),
        (["validate", "--snapshot", "{tmp}/text", "--notifications", "0"], "--notifications"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    write_filters(tmp_path / "text", [("x = 1", "I1")])
    (tmp_path / "file").write_text("")
    (tmp_path / "none").mkdir()
    fine = {"id": [1], "filter": ["x = 1"], "interface": ["I1"]}
    for name, columns in (
        ("lacks", {"id": [1], "filter": ["x = 1"]}),
        ("wrong", fine | {"filter": [3]}),
        ("no-id", fine | {"id": pa.array([None], pa.int64())}),
        ("no-one", fine | {"interface": pa.array([None], pa.string())}),
        ("twins", {"id": [1, 1], "filter": ["x = 1", "x = 2"], "interface": ["I1", "I2"]}),
        ("spoilt", fine),
        ("junk", fine),
    ):
        (tmp_path / name / "filters").mkdir(parents=True)
        pq.write_table(pa.table(columns), tmp_path / name / "filters" / "part.parquet")
    (tmp_path / "junk" / "filters" / "part.parquet").write_text("PAR0")
    (tmp_path / "spoilt" / "notifications").mkdir()
    told = tmp_path / "spoilt" / "notifications" / "part.parquet"
    pq.write_table(pa.table({"id": [1], "notification": ["{}"]}), told)
    rows = bytearray(told.read_bytes())
    rows[4:60] = bytes(56)
    told.write_bytes(rows)
    before = sorted(tmp_path.iterdir())
    status, out, err = run(capsys, *(each.format(tmp=tmp_path) for each in arguments))
    assert status == 2
    assert sentence in err
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_wrong_for_all_to_see_is_told_without_spark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("workloads.cli.open_session", started)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    for arguments in (
        ["cover", "--workload", tmp_path / "nowhere", "--out", tmp_path / "c"],
        ["validate", "--snapshot", tmp_path / "nowhere"],
        ["generate", "--filters", "-1", "--out", tmp_path / "w"],
        ["generate", "--filters", "1", "--out", tmp_path / "mine"],
        ["generate", "--filters", "1", "--out", tmp_path / "mine", "--overwrite"],
    ):
        assert run(capsys, *arguments)[0] == 2


def test_commands_in_one_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    d, e, r = tmp_path / "d", tmp_path / "e", tmp_path / "r.json"
    generate = ["generate", "--out", d, "--filters", 40, "--seed", 3]
    build = ["build", "--workload", d, "--structure", "pf", "--out", e]
    validate = ["validate", "--snapshot", e, "--workload", d, "--report", r]
    status, out, _ = run(capsys, *generate, "then", *build, "then", *validate)
    assert status == 0
    assert out.startswith("40 filters and 0 notifications in ")
    assert out.endswith(" s)\n")
    # The browser opens a witness of a report in the table that it names.
    report = json.loads(r.read_text())
    assert report["snapshot"] == str(e.resolve())
    assert report["workload"] == str(d.resolve())
    # A command that fails is the last one.
    status, out, err = run(capsys, *build, "--overwrite", "then", "cover", "--workload",
                           tmp_path / "x", "--out", tmp_path / "c", "then", *validate)  # fmt: skip
    assert (status, out.count("\n")) == (2, 1)
    assert "there is no workload at" in err


@pytest.mark.parametrize(("structure", "first"), [("fp", 3), ("nrf", -7)])
def test_short_ids_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], structure: str, first: int
) -> None:
    folder = tmp_path / "w" / "filters"
    folder.mkdir(parents=True)
    ids = pa.array([first, first + 1, first + 5], pa.int32())
    texts = ["x in [0, 9]", "x = 3", "x > 100"]
    rows = pa.table({"id": ids, "filter": texts, "interface": ["I1", "I2", "I3"]})
    pq.write_table(rows, folder / "part.parquet")
    build = ["build", "--workload", tmp_path / "w", "--structure", structure]
    validate = ["validate", "--snapshot", tmp_path / "s", "--workload", tmp_path / "w"]
    status, out, _ = run(capsys, *build, "--out", tmp_path / "s", "then", *validate)
    assert status == 0, out
    nodes = pq.read_table(tmp_path / "s" / "nodes").column("id").to_pylist()
    assert nodes == [first, first + 1, first + 5]


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

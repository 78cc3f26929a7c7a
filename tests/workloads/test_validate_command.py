"""The command validate: what it prints and writes, what it is asked for, and a watched folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest

import posetlib
from browser.config import Config
from browser.directories import history
from browser.pages.runs import history_card, history_figure
from tests.workloads.files import write_rows, write_snapshot
from tests.workloads.test_cli import run
from tests.workloads.test_validate import covered_root, spoilt, table, write_pairs
from workloads.cli import main
from workloads.reports import INVARIANT_NAMES

pytestmark = [pytest.mark.needs("java"), pytest.mark.usefixtures("spark")]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workload, its forest, and that forest with an edge taken out."""
    folder = tmp_path_factory.mktemp("tables")
    write_pairs(folder / "workload")
    write_snapshot(folder / "fine", table("pf"))
    write_rows(folder / "broken", *spoilt("pf", [covered_root]))
    (folder / "file").write_text("")
    return folder


def entries(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in report["invariants"]}


def test_one_run_tells_people_and_machines_the_same(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = {name: tmp_path / name for name in ("r.json", "r.xml", "v")}
    words = ["validate", "--snapshot", tables / "broken", "--workload", tables / "workload",
             "--format", "json", "--report", where["r.json"], "--junit", where["r.xml"],
             "--violations", where["v"]]  # fmt: skip
    status, out, err = run(capsys, *words)
    assert (status, err) == (1, "")
    report = json.loads(out)
    assert json.loads(where["r.json"].read_text()) == report
    assert (report["format"], report["version"]) == ("posetlib-report", 2)
    assert report["tool"] == f"posetlib {posetlib.__version__}"
    assert report["application"]
    assert report["started"] <= report["finished"]
    assert report["parameters"]["notifications"] == 1000
    assert report["command"].startswith("python -m workloads validate --snapshot")
    found = entries(report)
    assert list(found) == list(INVARIANT_NAMES)
    broken = {name for name, each in found.items() if each["verdict"] == "violated"}
    assert {"sibling-pure", "roots-minimal-cover", "same-roots"} <= broken
    suite = ET.fromstring(where["r.xml"].read_text())
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == broken
    assert suite.get("tests") == str(len(INVARIANT_NAMES))
    rows = pq.read_table(where["v"]).to_pylist()
    for name, each in found.items():
        assert sum(row["invariant"] == name for row in rows) == each["violations"]
    assert all(row["ids"] == json.loads(row["witness"]).get("ids", []) for row in rows)
    # What is there stays, unless it may be replaced.
    assert run(capsys, *words)[0] == 2
    assert run(capsys, *words, "--overwrite")[0] == 1


def test_some_invariants_for_a_workflow(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = "edge-covers,roots-minimal-cover,single-parent"
    status, out, _ = run(
        capsys, "validate", "--snapshot", tables / "broken", "--format", "github",
        "--only", names, "--skip", "edge-covers",
    )  # fmt: skip
    assert status == 1
    *witnesses, last = out.splitlines()
    assert all(each.startswith("::error title=validate roots-minimal") for each in witnesses)
    assert witnesses
    assert last.startswith("::error title=validate::violated: roots-minimal-cover; ")
    assert f"{len(INVARIANT_NAMES) - 2} of {len(INVARIANT_NAMES)} were not checked" in last
    status, out, _ = run(
        capsys, "validate", "--snapshot", tables / "fine", "--skip", names, "--format", "text"
    )
    assert status == 0
    assert "edge-covers" not in out
    assert "every invariant holds" not in out
    assert "3 of 19 were not checked" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "edge-cover"], "unknown invariant 'edge-cover'"),
        (["--skip", ",".join(INVARIANT_NAMES)], "no invariant is left to check"),
        (["--junit", "{tables}"], "Is a directory"),
        (["--junit", "{tables}/r", "--report", "{tables}/./r"], "one of them would be lost"),
        (["--violations", "{tables}/v", "--junit", "{tables}/v/r.xml"], "where the violations go"),
        (["--violations", "{tables}/file/v"], "nothing can be written at"),
        (["--interval", "-1"], "--interval is more than 0 seconds"),
        (["--interval", "nan"], "--interval is more than 0 seconds"),
        (["--violations", "{tables}/broken/v"], "lies in the input"),
        (["--neighbours", "I1,nobody"], "no node has the interface nobody; there are I1, I2, I3"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    tables: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    given = [each.format(tables=tables) for each in words]
    before = sorted(tables.rglob("*"))
    status, out, err = run(capsys, "validate", "--snapshot", tables / "broken", *given)
    assert (status, out) == (2, "")
    assert sentence in err
    assert sorted(tables.rglob("*")) == before


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"posetlib {posetlib.__version__}\n"


def test_a_watched_folder_has_a_history_that_the_browser_plots(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("fine", "broken"):
        shutil.copytree(tables / name, tmp_path / name)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "snapshot.json").write_text("{}")
    # The file of nodes is torn: whoever reads it finds out, and that is a worker.
    shutil.copytree(tables / "fine", tmp_path / "a-torn")
    (part,) = (tmp_path / "a-torn" / "nodes").glob("*.parquet")
    torn = bytearray(part.read_bytes())
    torn[4:60] = bytes(56)
    part.write_bytes(torn)
    words = ["validate", "--watch", f"file:{tmp_path}", "--once", "--only", "roots-minimal-cover"]
    status, out, err = run(capsys, *words)
    assert status == 2
    assert "the format is None" in err
    assert f"{tmp_path / 'fine'}:\n" in out
    found = {each["name"]: each for each in history(Config(runs=tmp_path))}
    outcomes = {name: each["ok"] for name, each in found.items()}
    assert outcomes == {"fine": True, "broken": False, "none": None, "a-torn": None}
    assert "cannot be read" in found["a-torn"]["error"]
    assert found["broken"]["violated"] == ["roots-minimal-cover"]
    report = json.loads((tmp_path / "validations" / found["broken"]["report"]).read_text())
    assert report["snapshot"] == str(tmp_path / "broken")
    assert f"validate --snapshot {tmp_path / 'broken'} --only roots" in report["command"]
    # Each once; one that is replaced once more.
    assert run(capsys, *words)[:2] == (0, "")
    shutil.rmtree(tmp_path / "broken")
    shutil.copytree(tables / "fine", tmp_path / "broken", copy_function=shutil.copy)
    assert run(capsys, *words)[0] == 0
    entries = history(Config(runs=tmp_path))
    assert [each["ok"] for each in entries if each["name"] == "broken"] == [False, True]
    traces = {trace["name"]: trace for trace in history_figure(entries)["data"]}
    assert len(traces["no violation"]["x"]) == 2
    assert len(traces["violated"]["x"]) == 1
    (card,) = history_card(entries)
    assert "broken" in str(card.to_plotly_json())

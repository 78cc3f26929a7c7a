"""Merged root sets on disk: written by build, checked by validate, spoilt by the tests."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from workloads import checks_merging
from workloads.build import build
from workloads.cli import main
from workloads.errors import InputError
from workloads.files import Place
from workloads.validate import validate

from .files import write_filters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")

PAIRS: list[tuple[str | None, str]] = [
    *((f"x in [{i}, {i + 1}] and y = 1", f"I{i % 3}") for i in range(6)),
    ("x in [20, 30]", "I1"),
    ("x in [40, 50]", "I2"),
    ('s prefix "a" and x > 3', "I2"),
]


@pytest.fixture(scope="module")
def built(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("merged")
    workload = write_filters(folder / "w", PAIRS, 2)
    build(spark, Place(str(workload)), "nrf", Place(str(folder / "s")), merging="perfect")
    return folder / "s"


@pytest.fixture
def snapshot(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "s"))


def verdicts(spark: SparkSession, snapshot: Path) -> dict[str, dict[str, Any]]:
    report = validate(spark, Place(str(snapshot)))
    found = {each["name"]: each for each in report["invariants"]}
    return {name: found[name] for name in ("merge-covers", "merge-perfect")}


def spoil(snapshot: Path, change: Any) -> None:
    data = json.loads((snapshot / "merged.json").read_text())
    change(data)
    (snapshot / "merged.json").write_text(json.dumps(data))


def test_a_merged_root_set_is_written_and_holds(
    spark: SparkSession, snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.loads((snapshot / "merged.json").read_text())
    assert {row["filter"] for row in data["merged"]} == {
        "x in [0, 6] and y = 1",
        "x in [20, 30] or x in [40, 50]",
        's prefix "a" and x > 3',
    }
    for tasks in (2_000, 1):
        monkeypatch.setattr(checks_merging, "_FILTERS_OF_A_TASK", tasks)
        found = verdicts(spark, snapshot)
        assert found["merge-covers"]["verdict"] == found["merge-perfect"]["verdict"] == "holds"
        assert found["merge-covers"]["checked"] == 9
        assert found["merge-perfect"]["checked"] == 3


def test_a_merger_that_is_missing_is_found(spark: SparkSession, snapshot: Path) -> None:
    def narrow(data: dict[str, Any]) -> None:
        rows = {row["filter"]: row for row in data["merged"]}
        rows["x in [0, 6] and y = 1"]["filter"] = "x in [0, 4.5] and y = 1"

    spoil(snapshot, narrow)
    found = verdicts(spark, snapshot)
    assert found["merge-covers"]["violations"] == 2
    assert found["merge-perfect"]["verdict"] == "holds"
    told = found["merge-covers"]["witnesses"][0]
    assert told["filter"] == "x in [4, 5] and y = 1"
    assert 4.5 < told["notification"]["x"] <= 5


def test_a_merger_that_is_too_wide_is_found(spark: SparkSession, snapshot: Path) -> None:
    def widen(data: dict[str, Any]) -> None:
        for row in data["merged"]:
            if row["filter"].startswith("x in [20"):
                row["filter"] = "x in [20, 50]"

    spoil(snapshot, widen)
    found = verdicts(spark, snapshot)
    assert found["merge-covers"]["verdict"] == "holds"
    assert found["merge-perfect"]["violations"] == 1
    told = found["merge-perfect"]["witnesses"][0]
    assert 30 < told["notification"]["x"] < 40

    def imperfect(data: dict[str, Any]) -> None:
        data["perfect"] = False

    spoil(snapshot, imperfect)
    assert verdicts(spark, snapshot)["merge-perfect"]["verdict"] == "not applicable"


def test_without_a_merged_set_nothing_is_said_of_one(spark: SparkSession, snapshot: Path) -> None:
    (snapshot / "merged.json").unlink()
    found = verdicts(spark, snapshot)
    assert {each["verdict"] for each in found.values()} == {"not applicable"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "the format is 'other'"),
        ({"perfect": "yes"}, '"perfect" is true or false'),
        ({"merged": {}}, '"merged" is a list'),
        ({"merged": [{"text": "x > 3"}]}, "number 0 has no"),
        ({"merged": [{"filter": "x >"}]}, "is no filter"),
    ],
)
def test_a_file_that_is_no_merged_set_is_refused(
    spark: SparkSession, snapshot: Path, change: dict[str, Any], message: str
) -> None:
    spoil(snapshot, lambda data: data.update(change))
    with pytest.raises(InputError, match=message):
        verdicts(spark, snapshot)


def test_the_command_takes_merging(spark: SparkSession, tmp_path: Path) -> None:  # noqa: ARG001
    workload = write_filters(tmp_path / "w", PAIRS)
    out = tmp_path / "s"
    command = ["build", "--workload", str(workload), "--structure", "fp", "--out", str(out)]
    assert main([*command, "--merging", "imperfect"]) == 0
    data = json.loads((out / "merged.json").read_text())
    assert data["perfect"] is False
    assert main(["validate", "--snapshot", str(out), "--report", str(tmp_path / "r.json")]) == 0

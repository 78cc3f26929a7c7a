"""validate holds the mappings of a DoubleForest against every pair of its filters."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from posetlib import DoubleForest, make_table, parse_filter
from tests.workloads.files import write_snapshot
from workloads import checks_double_forest
from workloads.checks_double_forest import double_forest_agrees
from workloads.errors import InputError
from workloads.files import Place
from workloads.validate import validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")


def made(semantics: str) -> dict[str, Any]:
    d = DoubleForest(semantics)
    for low in range(4):
        d.add_profile(parse_filter(f"x in [{2 * low}, {2 * low + 3}]"), "p")
        d.add_query(parse_filter(f"x in [{3 * low}, {3 * low + 5}]"), "q")
    return d.to_dict()


def written(folder: Path, data: dict[str, Any]) -> Place:
    target = folder / "double.json"
    target.write_text(json.dumps(data), encoding="utf-8")
    return Place(str(target))


@pytest.mark.parametrize("profiles_per_task", [2, 256])
@pytest.mark.parametrize("semantics", ["cover", "overlap"])
def test_a_clean_one_holds_and_a_spoilt_one_is_named(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    semantics: str,
    profiles_per_task: int,
) -> None:
    monkeypatch.setattr(checks_double_forest, "_PROFILES_PER_TASK", profiles_per_task)
    outcome = double_forest_agrees(spark, written(tmp_path, made(semantics)))
    assert (outcome.verdict, outcome.checked) == ("holds", 16)

    def lose(mapping: str) -> Callable[[dict[str, Any]], list[int]]:
        return lambda data: data[mapping].pop()  # type: ignore[no-any-return]

    def invent(mapping: str) -> Callable[[dict[str, Any]], list[int]]:
        def spoil(data: dict[str, Any]) -> list[int]:
            pair = next([p, q] for p in range(4) for q in range(4) if [p, q] not in data[mapping])
            data[mapping].append(pair)
            return pair

        return spoil

    for way, mapping in product((lose, invent), ("queries_of", "profiles_of")):
        data = made(semantics)
        pair = way(mapping)(data)
        outcome = double_forest_agrees(spark, written(tmp_path, data))
        assert (outcome.verdict, outcome.violations) == ("violated", 1)
        (witness,) = outcome.witnesses
        assert (witness["ids"], witness["mapping"]) == (pair, mapping)


def test_the_report_on_a_table_has_it_at_the_end(spark: SparkSession, tmp_path: Path) -> None:
    table = make_table("pf")
    table.add(parse_filter("x > 3"), "I1")
    snapshot = write_snapshot(tmp_path / "s", table.snapshot())
    data = made("cover")
    data["queries_of"].pop()
    place = written(tmp_path, data)
    report = validate(spark, Place(str(snapshot)), double_forest=place)
    entry = report["invariants"][-1]
    assert (entry["name"], entry["verdict"]) == ("double-forest-agrees", "violated")
    assert report["ok"] is False
    assert report["double_forest"] == place.path


def test_what_is_no_double_forest_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the format is None"):
        double_forest_agrees(spark, written(tmp_path, {}))

"""Reports for machines and people, and the history of a watched folder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from workloads.reports import (
    Outcome,
    entry_lines,
    github_lines,
    junit,
    not_applicable,
    not_asked,
    verdict_line,
)
from workloads.watch import History, watch


def report(*outcomes: tuple[str, Outcome]) -> dict[str, Any]:
    entries = [outcome.to_dict(name, 0.25) for name, outcome in outcomes]
    return {
        "ok": all(each["verdict"] != "violated" for each in entries),
        "snapshot": "/data/e",
        "structure": "nrf",
        "nodes": 3,
        "edges": 2,
        "started": "2026-01-01T00:00:00+00:00",
        "seconds": 1.5,
        "invariants": entries,
    }


FAULT = Outcome(3, 2, [{"child": 's = "\x01<%"', "why": "two\nlines"}])


def test_what_was_not_asked_for_is_not_said_to_hold() -> None:
    assert verdict_line(report(("a", Outcome(3)), ("b", not_applicable("no")))) == (
        "every invariant holds (1.5 s)"
    )
    some = report(("a", Outcome(3)), ("b", not_asked()))
    assert verdict_line(some) == (
        "1 invariant asked for: no violation; 1 of 2 were not checked (1.5 s)"
    )
    assert entry_lines(some["invariants"][1]) == []
    broken = report(("a", FAULT), ("b", not_asked()))
    assert verdict_line(broken) == "violated: a; 1 of 2 were not checked (1.5 s)"


def test_junit_has_a_test_for_each_invariant() -> None:
    text = junit(report(("a", FAULT), ("b", not_asked()), ("c", not_applicable("no")),
                        ("d", Outcome(1))))  # fmt: skip
    suite = ET.fromstring(text)
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4", "failures": "1", "errors": "0", "skipped": "2",
    }  # fmt: skip
    cases = {case.get("name"): case for case in suite}
    failure = cases["a"].find("failure")
    assert failure is not None
    assert failure.get("message") == "2 violations"
    assert "<%" in (failure.text or "")
    assert cases["c"].find("skipped") is not None
    assert list(cases["d"]) == []


def test_github_is_told_in_lines_that_it_reads() -> None:
    lines = github_lines(report(("edge-covers", FAULT)))
    assert all(re.fullmatch(r"::(error|notice) title=[^:]+::.*", line) for line in lines)
    assert lines[0].startswith("::error title=validate edge-covers::")
    assert "two%0Alines" in lines[0]
    assert "%25" in lines[0]
    assert github_lines(report(("a", Outcome(1))))[-1].startswith("::notice ")


# -- a folder that is watched ----------------------------------------------------------------------


def snapshot(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "snapshot.json").write_text("{}")


def test_each_snapshot_is_validated_once_and_again_when_it_is_replaced(tmp_path: Path) -> None:
    snapshot(tmp_path, "one")
    snapshot(tmp_path, ".two.partial-1")
    (tmp_path / "no-snapshot").mkdir()
    seen: list[str] = []

    def validate(place: Path, to: Path) -> tuple[int, dict[str, Any]]:
        seen.append(f"{place.name} {to.name}")
        if len(seen) == 1:
            # What comes while others are validated is not missed.
            snapshot(tmp_path, "two")
        return int(place.name == "two"), {"ok": place.name != "two"}

    assert watch(History(tmp_path), validate, once=True, interval=0) == 1
    assert seen == ["one one-1.json", "two two-1.json"]
    assert watch(History(tmp_path), validate, once=True, interval=0) == 0
    header = tmp_path / "one" / "snapshot.json"
    os.utime(header, (1, 1))
    assert watch(History(tmp_path), validate, once=True, interval=0) == 0
    assert seen[2:] == ["one one-2.json"]
    told = [(each["name"], each["ok"], each["report"]) for each in History(tmp_path).entries()]
    assert told == [
        ("one", True, "one-1.json"), ("two", False, "two-1.json"), ("one", True, "one-2.json"),
    ]  # fmt: skip


def test_a_snapshot_that_is_changed_in_place_is_validated_again(tmp_path: Path) -> None:
    snapshot(tmp_path, "one")
    rows = tmp_path / "one" / "nodes" / "part.parquet"
    rows.parent.mkdir()
    rows.write_text("rows")
    seen: list[str] = []

    def validate(_place: Path, to: Path) -> tuple[int, dict[str, Any]]:
        seen.append(to.name)
        return 0, {"ok": True}

    for _ in range(2):
        watch(History(tmp_path), validate, once=True, interval=0)
    assert seen == ["one-1.json"]
    later = rows.stat().st_mtime + 60
    os.utime(rows, (later, later))
    for _ in range(2):
        watch(History(tmp_path), validate, once=True, interval=0)
    assert seen == ["one-1.json", "one-2.json"]


def test_a_line_that_was_cut_off_costs_no_other_one(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add({"name": "one", "written": 1})
    with history.file.open("a", encoding="utf-8") as file:
        file.write('{"name": "tw')
    history = History(tmp_path)
    history.add({"name": "three", "written": 3})
    assert [each["name"] for each in History(tmp_path).entries()] == ["one", "three"]
    assert json.loads(history.file.read_text().splitlines()[-1])["written"] == 3


def test_a_folder_in_which_no_history_can_be_kept_is_refused(tmp_path: Path) -> None:
    from workloads.errors import InputError

    (tmp_path / "validations").write_text("")
    with pytest.raises(InputError, match="no history can be kept"):
        History(tmp_path)

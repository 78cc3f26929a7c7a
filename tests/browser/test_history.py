"""The history of a watched folder, as the page Runs reads and draws it: as data."""

from __future__ import annotations

import json
from pathlib import Path

from browser.config import Config
from browser.directories import history
from browser.pages.runs import history_card, history_figure

LINES = [
    {"name": "b", "finished": "2026-01-02T00:00:00+00:00", "ok": False, "nodes": 12,
     "seconds": 2.0, "violations": 3, "violated": ["edge-covers"], "report": "b-1.json"},
    {"name": "a<", "finished": "2026-01-01T00:00:00+00:00", "ok": True, "nodes": 10,
     "seconds": 1.0, "violations": 0, "violated": [], "report": "a-1.json"},
    {"name": "c", "finished": "2026-01-03T00:00:00+00:00", "ok": None, "error": "no snapshot"},
]  # fmt: skip


def write(folder: Path, *more: str) -> Config:
    (folder / "validations").mkdir()
    lines = [json.dumps(each) for each in LINES]
    text = "\n".join([*lines, *more])
    (folder / "validations" / "history.jsonl").write_text(text, encoding="utf-8")
    return Config(runs=folder)


def test_a_history_is_read_in_order_of_time_and_without_trust(tmp_path: Path) -> None:
    broken = ['{"name": 3}', "[]", "{", '{"name": "d", "finished": "x", "ok": true, "nodes": "1"}']
    found = history(write(tmp_path, *broken))
    assert [each["name"] for each in found] == ["a<", "b", "c"]


def test_a_history_is_plotted_by_outcome_with_the_size_of_the_table(tmp_path: Path) -> None:
    entries = history(write(tmp_path))
    traces = {trace["name"]: trace for trace in history_figure(entries)["data"]}
    assert set(traces) == {"no violation", "violated", "not validated", "nodes"}
    assert traces["violated"]["x"] == ["2026-01-02T00:00:00+00:00"]
    assert traces["violated"]["y"] == [3]
    assert "edge-covers" in traces["violated"]["text"][0]
    assert traces["nodes"]["y"] == [10, 12]
    # What a file says is text, and no markup.
    assert "<" not in traces["no violation"]["text"][0]
    (card,) = history_card(entries)
    assert "the last of c: not validated" in str(card.to_plotly_json())
    assert history_card([]) == []

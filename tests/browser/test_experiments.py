"""The experiments of the jobs, as the page Runs reads and plots them: as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from browser.config import Config
from browser.directories import experiments
from browser.pages.experiments import experiment_cards, figure_of

FIGURE: dict[str, Any] = {
    "key": "8.7-roots", "title": "Figure 8.7", "x": "filters", "y": "roots <b>", "is_time": False,
    "statement": "constant", "agrees": False, "says": "from 3 to 9",
    "lines": {"merged <": [[100, 3, 0.5], [200, 9, 1]], "roots": [[100, 12, 1], [200, 31, 2]]},
}  # fmt: skip
CONTENT: dict[str, Any] = {
    "format": "posetlib-experiment", "version": 1, "name": "dynamic-merging", "title": "Merging",
    "seed": 0, "replications": 5, "scale": 1.0, "figures": [FIGURE],
}  # fmt: skip


def write(folder: Path, content: object, name: str = "dm") -> Config:
    (folder / name).mkdir()
    (folder / name / "experiment.json").write_text(json.dumps(content), encoding="utf-8")
    return Config(runs=folder)


def test_an_experiment_is_plotted_with_its_verdict(tmp_path: Path) -> None:
    (found,) = experiments(write(tmp_path, CONTENT))
    assert found["folder"] == "dm"
    made = figure_of(found["figures"][0])
    assert [trace["name"] for trace in made["data"]] == ["merged &lt;", "roots"]
    assert made["data"][0]["x"] == [100, 200]
    assert made["data"][0]["y"] == [3, 9]
    assert made["data"][0]["error_y"]["array"] == [0.5, 1]
    assert "<" not in made["layout"]["yaxis"]["title"]["text"]
    (card,) = experiment_cards([found])
    text = str(card.to_plotly_json())
    assert "0 of 1 figure as the thesis says" in text
    assert "✗ differs" in text
    assert "from 3 to 9" in text
    assert experiment_cards([]) == []


@pytest.mark.parametrize(
    "spoilt",
    [
        [],
        {**CONTENT, "format": "other"},
        {**CONTENT, "version": 2},
        {**CONTENT, "figures": {}},
        {**CONTENT, "figures": [{**FIGURE, "lines": {"a": [[1, 2]]}}]},
        {**CONTENT, "figures": [{**FIGURE, "lines": {"a": [[1, "2", 3]]}}]},
        {**CONTENT, "figures": [{**FIGURE, "agrees": "yes"}]},
        {**CONTENT, "figures": [{**FIGURE, "title": None}]},
    ],
)
def test_what_is_no_experiment_is_passed_over(tmp_path: Path, spoilt: object) -> None:
    write(tmp_path, spoilt, "bad")
    found = experiments(write(tmp_path, CONTENT, "good"))
    assert [each["folder"] for each in found] == ["good"]

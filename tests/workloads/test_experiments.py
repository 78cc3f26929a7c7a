"""Experiments: what they measure against what it means, their files, and the command."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from workloads.cli import main
from workloads.experiments import MODULES, experiment_named
from workloads.experiments.drawing import line_chart, page
from workloads.experiments.experiment import Mean, Row, lines_of, rows_of

SMALL = 0.02


@pytest.mark.parametrize("name", MODULES)
def test_every_figure_has_its_lines_and_a_verdict(name: str) -> None:
    experiment = experiment_named(name)
    assert experiment.name == name
    lines = lines_of(rows_of(experiment, 3, 2, SMALL))
    assert set(lines) == {figure.key for figure in experiment.figures}
    for figure in experiment.figures:
        found = lines[figure.key]
        xs = {tuple(mean.x for mean in line) for line in found.values()}
        assert len(xs) == 1, "all lines of a figure have the same points"
        verdict = figure.judge(found)
        assert isinstance(verdict.agrees, bool)
        assert any(each.isdigit() for each in verdict.says)


@pytest.mark.parametrize("name", MODULES)
def test_counts_are_the_same_for_the_same_seed(name: str) -> None:
    experiment = experiment_named(name)
    timed = {figure.key for figure in experiment.figures if figure.is_time}
    counts = [
        [row for row in rows_of(experiment, seed, 1, SMALL) if row.figure not in timed]
        for seed in (1, 1, 2)
    ]
    assert counts[0] == counts[1]
    assert counts[0] != counts[2]


def test_the_set_based_line_is_the_number_of_pairs() -> None:
    lines = lines_of(rows_of(experiment_named("double-forest"), 0, 1, 0.05))
    assert lines["6.6-profiles-tests"]["set-based"] == [
        Mean(10 * i, 10 * i * 50, 0.0) for i in range(1, 6)
    ]
    assert lines["6.8-cover-tests"]["set-based"][-1].y == 50 * 50


def test_nothing_is_left_to_test_when_all_is_preloaded() -> None:
    lines = lines_of(rows_of(experiment_named("preloading"), 0, 1, SMALL))
    for semantics in ("cover", "overlap"):
        found = lines[f"7.2-{semantics}-tests"]
        assert all(line[-1].y == 0 for name, line in found.items() if name != "set-based")
        assert found["optimised"][0].y > 0


def test_verdicts_say_when_a_figure_differs() -> None:
    """A merged set that grows is not constant; one that stays is."""
    (figure,) = [
        each for each in experiment_named("dynamic-merging").figures if each.key == "8.7-roots"
    ]
    roots = [Row("f", "roots", x, x / 5) for x in (100, 500)]
    for high, agrees in ((4, True), (40, False)):
        merged = [Row("f", "merged", 100, 3), Row("f", "merged", 500, high)]
        assert figure.judge(lines_of([*roots, *merged])["f"]).agrees is agrees


def test_a_plot_has_a_line_for_each_series_and_text_is_no_markup() -> None:
    figure = {
        "title": "a <b>", "x": "filters", "y": "tests", "agrees": True, "says": "so & so",
        "statement": "it", "lines": {"one": [[0, 1, 0], [10, 5, 1]], "two <": [[0, 0, 0]]},
    }  # fmt: skip
    root = ET.fromstring(line_chart(figure))
    texts = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"one", "two <", "filters", "tests"} <= set(texts)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 3
    about = {"title": "t <", "seed": 1, "replications": 2, "scale": 0.5, "figures": [figure]}
    text = page(about)
    assert "a &lt;b&gt;" in text
    assert "<b>" not in text


@pytest.mark.needs("java")
def test_the_command_writes_rows_figures_and_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow.parquet as pq

    out = tmp_path / "out"
    words = ["experiment", "dynamic-merging", "--out", str(out), "--seed", "3"]
    words += ["--replications", "2", "--scale", str(SMALL)]
    assert main(words) == 0
    assert "figures in" in capsys.readouterr().out
    content: dict[str, Any] = json.loads((out / "experiment.json").read_text(encoding="utf-8"))
    rows = pq.read_table(out / "rows").to_pylist()
    assert len(rows) == content["rows"]
    experiment = experiment_named("dynamic-merging")
    timed = {figure.key for figure in experiment.figures if figure.is_time}
    found = [Row(r["figure"], r["series"], r["x"], r["y"]) for r in rows]
    wanted = rows_of(experiment, 3, 2, SMALL)
    assert [r for r in found if r.figure not in timed] == [
        r for r in wanted if r.figure not in timed
    ]
    for figure in content["figures"]:
        ET.parse(out / f"figure-{figure['key']}.svg")
        means = lines_of(found)[figure["key"]]
        assert figure["lines"] == {name: [list(m) for m in line] for name, line in means.items()}
    assert (out / "index.html").read_text(encoding="utf-8").count("<figure>") == 9
    assert main(words) == 2, "an output that is there is refused"
    assert main([*words[:-4], "--replications", "0", "--overwrite"]) == 2

"""The command ``posetlib``: its answers, and its exit status for scripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import posetlib as pl
from posetlib._cli import main

TYPES = '{"StockQuote": ["Quote"]}'


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["parse", "x:int > 3"], 0, "x:int >= 4"),
        (["match", "x > 3", '{"x": 4}'], 0, ""),
        (["match", "x > 3", '{"x": 3}'], 1, "x"),
        (["match", "x > 3", "{}"], 1, "x"),
        (["covers", "x in [0, 10]", "x in [2, 5]"], 0, "yes"),
        (["covers", 'x <= "ab"', 'x prefix "a"'], 1, "no: "),
        (["--types", TYPES, "covers", "t isa Quote", "t isa StockQuote"], 0, "yes"),
        (["covers", "t isa Quote", "t isa StockQuote"], 1, "no: "),
        (["overlaps", "x < 3", "x > 2"], 0, "yes"),
        (["overlaps", "x < 3", "x > 3"], 1, "no"),
        (["merge", "x in [0, 5]", "x in (5, 10]"], 0, "x in [0, 10]"),
        (["merge", "x = 1 and y = 1", "x = 2 and y = 2"], 1, "there is none"),
        (["merge", "--imperfect", "x = 1.5 and y = 1", "x = 2 and y = 1.5"], 0, "x in [1.5, 2]"),
    ],
)
def test_an_answer_and_its_status(
    arguments: list[str], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert says in captured.out
    assert captured.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["parse", "x >"],
        ["parse", "x > 3 and x < 2"],
        ["match", "x > 3", "{"],
        ["match", "x > 3", "[3]"],
        ["--types", "[]", "parse", "t isa Quote"],
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("posetlib: ")
    assert captured.err.count("\n") == 1


def test_the_dict_form_makes_the_same_filter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--json", "x > 3 and exists y"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert pl.Filter.from_dict(form) == pl.parse_filter("x > 3 and exists y")


@pytest.mark.parametrize("arguments", [[], ["demo"]])
def test_the_tour(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    tour = capsys.readouterr().out
    assert f"posetlib {pl.__version__}" in tour
    assert "x in [0, 5]  and  x in (5, 10]  make  x in [0, 10]" in tour
    # The worked example of forwards sets, as a tree.
    start = tour.index("  x in [0, 50] ")
    assert tour[start:].splitlines()[:6] == [
        "  x in [0, 50]   from I1, forwarded to I2, I3",
        "  └─ x in [10, 40]   from I2, forwarded to I1",
        "     └─ x in [20, 30]   from I3",
        "  x in [60, 100]   from I1, forwarded to I2, I3",
        "  └─ x in [70, 90]   from I2, forwarded to I1",
        "  x = 25 goes to I1, I2, I3",
    ]


def test_a_reader_who_stops_reading_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "posetlib", "demo"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def snapshot_file(folder: Path, name: str, pairs: list[tuple[str, str]]) -> str:
    table = pl.FiltersPoset()
    for text, interface in pairs:
        table.add(pl.parse_filter(text), interface)
    path = folder / name
    path.write_text(table.snapshot().to_json(), encoding="utf-8")
    return str(path)


def test_a_difference_that_is_not_read_to_its_end_is_one(tmp_path: Path) -> None:
    before = snapshot_file(tmp_path, "a", [])
    after = snapshot_file(tmp_path, "b", [("x = 1", "I1")])
    for options, status in ((["--fail-on", "entries"], 1), (["--fail-on", "forwards"], 0)):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, "-m", "posetlib", "diff", before, after, *options],
            stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        os.close(writing)
        assert (done.returncode, done.stderr) == (status, "")


def test_two_snapshots_are_compared_before_a_deployment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot_file(tmp_path, "a", [("x in [0, 9]", "I1"), ("x in [2, 3]", "I2")])
    same = snapshot_file(tmp_path, "b", [("x in [2, 3]", "I2"), ("x in [0, 9]", "I1")])
    # One more below: other entries, and the same roots.
    more = snapshot_file(tmp_path, "c", [("x in [0, 9]", "I1"), ("x in [2, 3]", "I2"),
                                         ("x in [5, 6]", "I1"), ("x = 2", "I2"),
                                         ("x in [7, 8]", "I2")])  # fmt: skip
    assert main(["diff", before, same]) == 0
    assert main(["diff", before, more]) == 1
    assert "nodes added: x in [7, 8]" in capsys.readouterr().out
    assert main(["diff", before, more, "--fail-on", "roots"]) == 0
    assert main(["diff", before, more, "--fail-on", "entries"]) == 1
    assert main(["diff", before, more, "--fail-on", "roots", "--fail-on", "forwards"]) == 1
    capsys.readouterr()
    assert main(["diff", before, more, "--fail-on", "roots", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes_added"] == ["x in [7, 8]"]
    assert main(["diff", before, str(tmp_path / "nowhere")]) == 2
    assert "cannot be read" in capsys.readouterr().err

"""The benchmarks' harness, with a clock that we wind; and every benchmark, quickly."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench import __main__ as runner
from bench import bench_scaling, bench_shapes
from bench.documents import with_promises
from bench.harness import Bench, Promise, Table
from bench.shapes import SHAPES


class Clock:
    """A clock that stands still but for what the timed work says it takes."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_ratio_is_what_one_operation_takes_against_the_first_case(clock: Clock) -> None:
    bench = Bench(show=lambda _: None, clock=clock)
    with bench.comparison("Work") as comparison:
        comparison.case("baseline", lambda: clock.work(0.002))
        comparison.case("ten at a time", lambda: clock.work(0.010), operations=10)
        comparison.case("slower", lambda: clock.work(0.005), at_most=3, at_least=100)
    (table,) = bench.tables
    ratios = {str(row[0]): row[table.columns.index("ratio")] for row in table.rows}
    assert ratios == pytest.approx({"baseline": 1, "ten at a time": 0.5, "slower": 2.5})
    rates = {str(row[0]): row[table.columns.index("per second")] for row in table.rows}
    assert rates == pytest.approx({"baseline": 500, "ten at a time": 1000, "slower": 200})
    assert [promise.kept for promise in bench.promises] == [True, True]


def test_the_least_disturbed_round_counts(clock: Clock) -> None:
    bench = Bench(show=lambda _: None, clock=clock)
    disturbances = iter([0, 5, 0, 9, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    with bench.comparison("Work") as comparison:
        comparison.case("baseline", lambda: clock.work(0.1))
        comparison.case("case", lambda: clock.work(0.3 + next(disturbances)))
    assert bench.tables[0].rows[1][3] == pytest.approx(3)


def test_a_setup_is_fresh_for_each_round_and_is_not_timed(clock: Clock) -> None:
    bench = Bench(show=lambda _: None, clock=clock)
    made: list[list[int]] = []

    def setup() -> list[int]:
        clock.work(100)
        made.append([])
        return made[-1]

    def fill(items: list[int]) -> None:
        assert items == []
        items.extend(range(10))
        clock.work(0.010)

    with bench.comparison("Filling") as comparison:
        comparison.case("fill", fill, operations=10, setup=setup)
    assert len(made) > 1
    assert bench.tables[0].rows[0][1] == pytest.approx(1_000)  # microseconds each


def test_a_broken_promise_is_told() -> None:
    assert not Promise("ratio", 6.1, at_most=6).kept
    assert Promise("ratio", 6.0, at_most=6).kept
    assert not Promise("rate", 2_999, at_least=3_000).kept
    text = str(Promise("parsing", 2_999, at_least=3_000))
    assert text == "BROKEN: parsing: 2,999, promised at least 3,000"


def test_figures_are_aligned_and_rounded() -> None:
    rows = (("a", 12345.678, 1), ("long name", 0.012345, None), ("c", 0.0, 20))
    assert Table("T", ("case", "figure", "n"), rows, "note").as_text().splitlines() == [
        "T",
        "  case       figure   n",
        "  a          12,346   1",
        "  long name  0.0123   -",
        "  c               0  20",
        "  note",
    ]


def test_every_benchmark_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "figures" / "bench.json"
    assert runner.main(["--quick", "--json", str(target)]) == 0
    report = json.loads(target.read_text(encoding="utf-8"))
    assert [entry["subject"] for entry in report["benchmarks"]] == runner.subjects()
    for entry in report["benchmarks"]:
        assert entry["tables"], f"{entry['subject']} shows nothing"
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{len(runner.subjects())} bench")


def test_a_run_is_drawn_and_put_into_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(show=lambda _: None)
    bench.promise("an add, narrow: times as fast as walking", 12.345, at_least=10)
    for title in bench_scaling.OPERATIONS.values():
        for kind in ("uniform", "narrow"):
            rows = [(100, 1.5, 20.0, 2.0), (1_000, 2.5, None, 3.0)]
            bench.table(f"{title}: {kind}, µs", ("n", "NRF", "NRF, walking", "rtree"), rows)
    monkeypatch.setattr(runner, "subjects", lambda: ["scaling"])
    monkeypatch.setattr(runner, "run", lambda _subject, *, quick: bench)
    page = tmp_path / "page.md"
    page.write_text(
        "Text.\n<!-- bench: scaling -->\nold\n<!-- end of bench -->\n", encoding="utf-8"
    )

    assert runner.main(["--plots", str(tmp_path / "images"), "--document", str(page)]) == 0

    written = page.read_text(encoding="utf-8")
    assert "| an add, narrow | times as fast as walking | 12.3 | at least 10 | |" in written
    assert "old" not in written
    drawn = sorted((tmp_path / "images").iterdir())
    assert len(drawn) == len(bench_scaling.OPERATIONS)
    for path in drawn:
        texts = "".join(ET.parse(path).getroot().itertext())
        for word in ("NRF", "NRF, walking", "rtree", "uniform", "narrow", "1,000"):
            assert word in texts, path


def test_the_shapes_go_on_where_they_were_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the file lacks is measured; the page gets a row for each shape, and what is broken."""
    measured: list[str] = []

    def measure(shape: str, _size: int) -> dict[str, bench_shapes.Figures]:
        measured.append(shape)
        slow = 2.0 if shape == "types" else 0.1
        return {short: bench_shapes.Figures(slow, 1.0, 0.0, 9.0) for short in ("fp", "nrf")}

    monkeypatch.setattr(bench_shapes, "measure", measure)
    kept, page = tmp_path / "kept.json", tmp_path / "page.md"
    kept.write_text('{"has": {"fp": [0.1, 1, 0, 9], "nrf": [0.1, 1, 0, 9]}}', encoding="utf-8")
    page.write_text("<!-- bench: shapes -->\nold\n<!-- end of bench -->\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["bench_shapes", str(kept), "--document", str(page)])

    bench_shapes.main()

    assert measured == [shape for shape in SHAPES if shape != "has"]
    assert list(json.loads(kept.read_text(encoding="utf-8"))) == ["has", *measured]
    written = page.read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ")[0].removeprefix("| ") for line in written if line.startswith("| ")]
    assert rows == ["shape", "---", *SHAPES]
    broken = [line for line in written if line.startswith("- ")]
    assert len(broken) == 2
    assert "- NRF add, types: time with an index to time without: 2, at most 1.05" in broken
    assert "BROKEN: FP add, types" in capsys.readouterr().out


def test_a_document_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for index"):
        with_promises("<!-- bench: other -->\n<!-- end of bench -->\n", "index", [], "")


def test_a_benchmark_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["no-such-subject"]) == 2
    assert "no-such-subject" in capsys.readouterr().err


def test_strict_is_about_broken_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(show=lambda _: None)
    bench.promise("ratio", 7, at_most=6)
    monkeypatch.setattr(runner, "subjects", lambda: ["one"])
    monkeypatch.setattr(runner, "run", lambda _subject, *, quick: bench)
    assert runner.main([]) == 0
    assert runner.main(["--strict"]) == 1

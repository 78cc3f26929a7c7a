"""validate --expressions: what is right passes, and every planted fault is found with a witness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import workloads.checks_expressions as checks
from posetlib import Expression, ExpressionMatcher, parse_expression, prunings
from posetlib.expressions import OverlapIndex, Pruning, Selectivity
from posetlib.generating.auction import (
    AuctionParameters,
    generated_advertisements,
    generated_events,
    generated_subscriptions,
)
from tests.workloads.files import read_rows, write_filters
from tests.workloads.test_cli import run
from tests.workloads.test_jobs import place
from workloads.auction import generate_auction
from workloads.checks_expressions import EXPRESSION_INVARIANTS, Row, findings
from workloads.errors import InputError
from workloads.match import match
from workloads.validate_expressions import validate_expressions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AUCTION = AuctionParameters(
    subscriptions=60, events=300, advertisements=16, seed=5, law="zipf", books=20_000
)


def some_rows() -> tuple[list[Row], list[dict[str, Any]], list[Row]]:
    made = generated_subscriptions(AUCTION, range(30)).expressions()
    # What some events match, so that faults have witnesses, and NOT.
    texts = [
        "price_cents > 0 and bids < 50",
        "not (bids > 3) and exists title",
        "bids = 0 or bids > 9",
    ]
    made += map(parse_expression, texts)
    rows = [Row(i, each, prunings(each)[0].expression) for i, each in enumerate(made[:-1])]
    rows.append(Row(len(rows), made[-1]))
    told = generated_advertisements(AUCTION, range(16)).expressions()
    others = [Row(i, each) for i, each in enumerate(told)]
    return rows, generated_events(AUCTION, range(80)).notifications(), others


def violated() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in EXPRESSION_INVARIANTS}
    for each in findings(*some_rows()):
        if each.witness is not None:
            found[each.invariant].append(each.witness)
    return {name: witnesses for name, witnesses in found.items() if witnesses}


class TestTheChecks:
    def test_all_are_checked_and_hold(self) -> None:
        assert violated() == {}
        assert {each.invariant for each in findings(*some_rows())} == set(EXPRESSION_INVARIANTS)

    def test_a_matcher_that_misses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        honest = ExpressionMatcher.match_many
        monkeypatch.setattr(
            ExpressionMatcher,
            "match_many",
            lambda self, told: [set(sorted(each)[1:]) for each in honest(self, told)],
        )
        (found,) = violated().items()
        assert found[0] == "matcher-agrees"
        witness = found[1][0]
        assert witness["why"] == "the matcher does not find it"
        told = json.loads(witness["notification"])
        assert parse_expression(witness["filter"]).matches(told)

    def test_p_min_that_is_too_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        honest = checks.p_min
        monkeypatch.setattr(checks, "p_min", lambda root: honest(root) + 1)
        assert set(violated()) == {"hits-reach-p-min"}

    def test_bounds_that_are_too_narrow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        honest = checks.selectivity

        def narrow(root: Any, share: Any) -> Selectivity:
            average = honest(root, share).average
            return Selectivity(average, average, average)

        monkeypatch.setattr(checks, "selectivity", narrow)
        assert set(violated()) == {"selectivity-bounds"}

    def test_a_pruning_that_narrows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def narrowed(expression: Expression) -> list[Pruning]:
            wrong = parse_expression("bids = 1000")
            return [each._replace(expression=wrong) for each in prunings(expression)]

        monkeypatch.setattr(checks, "prunings", narrowed)
        found = violated()
        assert set(found) == {"pruning-covers"}
        witness = found["pruning-covers"][0]
        assert parse_expression(witness["filter"]).matches(json.loads(witness["notification"]))

    def test_a_pruning_that_does_not_shrink(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def same(expression: Expression) -> list[Pruning]:
            return [each._replace(expression=expression) for each in prunings(expression)]

        monkeypatch.setattr(checks, "prunings", same)
        assert set(violated()) == {"pruning-shrinks"}

    def test_an_overlap_that_is_missed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(OverlapIndex, "overlapping", lambda *_: [])
        found = violated()
        assert set(found) == {"overlap-found"}
        witness = found["overlap-found"][0]
        told = json.loads(witness["notification"])
        assert parse_expression(witness["filter"]).matches(told)
        assert parse_expression(witness["advertisement"]).matches(told)

    def test_an_overlap_that_goes_one_way(self, monkeypatch: pytest.MonkeyPatch) -> None:
        honest = Expression.overlaps
        monkeypatch.setattr(
            Expression,
            "overlaps",
            lambda one, other: honest(one, other) and str(one) <= str(other),
        )
        assert "overlap-symmetric" in violated()

    @pytest.mark.parametrize("events", [[], [{}]])
    def test_a_loss_that_only_a_clause_shows(self, events: list[dict[str, Any]]) -> None:
        row = Row(7, parse_expression("a = 1 and b = 2 or c = 3"), parse_expression("c = 3"))
        (found,) = [each.witness for each in findings([row], events, []) if each.witness]
        assert json.loads(found["notification"]) == {"a": 1, "b": 2}
        assert found["ids"] == [7]

    def test_an_event_without_attributes_can_be_lost(self) -> None:
        row = Row(1, parse_expression("not (x = 1)"), parse_expression("exists x"))
        (found,) = [each.witness for each in findings([row], [{}], []) if each.witness]
        assert found["notification"] == "{}"


def write_pruned(folder: Path, rows: list[tuple[int, str]]) -> Path:
    folder.mkdir()
    ids, texts = zip(*rows, strict=True)
    pq.write_table(pa.table({"id": ids, "filter": texts}), folder / "part-0.parquet")
    return folder


@pytest.mark.needs("java")
class TestOnSpark:
    def test_claims_are_held_against_the_rows(
        self, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        w, m = tmp_path / "w", tmp_path / "m"
        generate_auction(spark, AUCTION, place(w), partitions=3)
        match(spark, place(w), place(m))
        rows = read_rows(w / "filters")
        fine = [
            (row["id"], str(prunings(parse_expression(row["filter"]))[0].expression))
            for row in rows
        ]
        p = write_pruned(tmp_path / "p", fine)
        report = tmp_path / "r.json"
        status, out, err = run(
            capsys, "validate", "--expressions", w, "--pruned", p, "--matches", m,
            "--report", report, "--junit", tmp_path / "r.xml",
        )  # fmt: skip
        assert (status, err) == (0, "")
        assert "every invariant holds" in out
        made = json.loads(report.read_text("utf-8"))
        verdicts = {each["name"]: each["verdict"] for each in made["invariants"]}
        assert verdicts == dict.fromkeys((*EXPRESSION_INVARIANTS, "matches-agree"), "holds")
        checked = {each["name"]: each["checked"] for each in made["invariants"]}
        assert checked["pruned-covers"] == checked["selectivity-bounds"] == 60
        assert checked["overlap-symmetric"] == 60 * 16
        # A row that is narrower than its expression, one too many, and answers that were changed.
        wrong = [*fine[:-1], (59, "bids = 1000"), (77, "true")]
        q = write_pruned(tmp_path / "q", wrong)
        answers = read_rows(m)
        told = next(each for each in answers if each["interfaces"])
        silent = next(each for each in answers if "I1" not in each["interfaces"])
        gone = told["interfaces"].pop()
        silent["interfaces"].append("I1")
        (tmp_path / "n").mkdir()
        pq.write_table(pa.Table.from_pylist(answers), tmp_path / "n/part-0.parquet")
        status, out, _ = run(
            capsys, "validate", "--expressions", w, "--pruned", q, "--matches", tmp_path / "n",
            "--report", report,
        )  # fmt: skip
        assert status == 1
        assert "violated: pruned-covers, matches-agree" in out
        entries = {each["name"]: each for each in json.loads(report.read_text())["invariants"]}
        pruned = entries["pruned-covers"]
        assert pruned["violations"] == 2
        assert [each["ids"] for each in pruned["witnesses"]] == [[59], [77]]
        lost = pruned["witnesses"][0]
        assert parse_expression(lost["filter"]).matches(json.loads(lost["notification"]))
        matches = entries["matches-agree"]
        assert matches["violations"] == 2
        assert {
            (each["notification"], each["interface"], each["why"]) for each in matches["witnesses"]
        } == {
            (told["id"], gone, "it is left out"),
            (silent["id"], "I1", "nothing of it matches"),
        }

    def test_the_answer_does_not_depend_on_the_parts(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        found = []
        for parts in (1, 4):
            generate_auction(spark, AUCTION, place(tmp_path / f"w{parts}"), partitions=parts)
            made = validate_expressions(spark, place(tmp_path / f"w{parts}"), notifications=50)
            # The matcher is asked once for each batch of rows and event.
            found.append(
                {
                    each["name"]: (each["verdict"], each["checked"])
                    for each in made["invariants"][1:]
                }
            )
        assert found[0] == found[1]
        assert found[0]["matches-agree"] == ("not applicable", 0)

    def test_what_is_refused(
        self, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        w = write_filters(tmp_path / "w", [("x = 1", "I1")], 1)
        with pytest.raises(InputError, match="no notifications"):
            validate_expressions(spark, place(w))
        for options, words in (
            (
                ["--expressions", w, "--only", "edge-covers"],
                "--only says nothing about expressions",
            ),
            (["--snapshot", w, "--pruned", w], "--pruned says nothing about a table"),
            (["--expressions", tmp_path / "none"], "there is no workload at"),
            (["--expressions", w, "--pruned", tmp_path / "none"], "there is no pruned at"),
        ):
            status, _, told = run(capsys, "validate", *options)
            assert status == 2
            assert words in told

"""The jobs on expressions: as exact as one process that asks every expression."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import workloads
from posetlib import parse_expression
from posetlib.generating import interface_names
from posetlib.generating.auction import (
    AuctionParameters,
    generated_advertisements,
    generated_events,
    generated_subscriptions,
)
from tests.workloads.files import read_rows, write_filters, write_notifications
from tests.workloads.test_cli import run
from tests.workloads.test_jobs import place
from workloads.auction import generate_auction
from workloads.build import build
from workloads.errors import InputError, sentence_of
from workloads.match import match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")

AUCTION = AuctionParameters(
    subscriptions=120, events=60, advertisements=16, seed=5, law="zipf", books=20_000, interfaces=7
)


def brute_force(
    pairs: list[tuple[str, str]], notifications: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    read = [(parse_expression(text), interface) for text, interface in pairs]
    return [
        {"id": i, "interfaces": sorted({name for each, name in read if each.matches(told)})}
        for i, told in enumerate(notifications)
    ]


@pytest.mark.parametrize("parts", [1, 5])
def test_rows_do_not_depend_on_the_parts(spark: SparkSession, tmp_path: Path, parts: int) -> None:
    generate_auction(spark, AUCTION, place(tmp_path / "w"), partitions=parts)
    made = generated_subscriptions(AUCTION, range(120))
    names = interface_names(made.interfaces)
    rows = read_rows(tmp_path / "w/filters")
    assert [row["filter"] for row in rows] == made.texts()
    assert [row["interface"] for row in rows] == names
    assert [row["id"] for row in rows] == list(range(120))
    events = generated_events(AUCTION, range(60)).texts()
    assert [row["notification"] for row in read_rows(tmp_path / "w/notifications")] == events
    told = generated_advertisements(AUCTION, range(16)).texts()
    assert [row["filter"] for row in read_rows(tmp_path / "w/advertisements")] == told
    header = json.loads((tmp_path / "w/workload.json").read_text("utf-8"))
    assert header["language"] == "expressions"
    assert AuctionParameters.from_dict(header["parameters"]) == AUCTION


@pytest.mark.parametrize("parts", [1, 3])
def test_match_is_brute_force(spark: SparkSession, tmp_path: Path, parts: int) -> None:
    generate_auction(spark, AUCTION, place(tmp_path / "w"), partitions=parts)
    match(spark, place(tmp_path / "w"), place(tmp_path / "m"))
    rows = read_rows(tmp_path / "w/filters")
    pairs = [(row["filter"], row["interface"]) for row in rows]
    events = generated_events(AUCTION, range(60)).notifications()
    expected = brute_force(pairs, events)
    assert read_rows(tmp_path / "m") == expected
    assert any(each["interfaces"] for each in expected)


TEXTS = [
    "x > 3 or not (y = 1)",
    "not (x > 3)",
    "x <= 3",
    'type isa "A" and not (exists y)',
    "true",
    "false",
    "x = 1",
]
TOLD: list[dict[str, Any]] = [{}, {"x": 2}, {"x": 5, "y": 1}, {"x": "two"}, {"x": 1, "y": 2}]


def test_expressions_by_hand(spark: SparkSession, tmp_path: Path) -> None:
    pairs = [(text, f"I{i % 4}") for i, text in enumerate(TEXTS) if "isa" not in text]
    workload = write_filters(tmp_path / "w", pairs, 3)
    write_notifications(workload, TOLD)
    match(spark, place(workload), place(tmp_path / "m"), expressions=True)
    assert read_rows(tmp_path / "m") == brute_force(pairs, TOLD)
    filters, notifications = (
        spark.read.parquet(str(workload / name)) for name in ("filters", "notifications")
    )
    found = workloads.match(filters, notifications, expressions=True).orderBy("id").collect()
    assert [row.asDict() for row in found] == brute_force(pairs, TOLD)


def test_bad_text_is_refused_or_left_out(spark: SparkSession, tmp_path: Path) -> None:
    workload = write_filters(
        tmp_path / "w", [("x >", "I1"), ("not (x = 1)", "I2"), (None, "I3")], 2
    )
    write_notifications(workload, [{"x": 2}])
    with pytest.raises(Exception, match="cannot be read") as refused:
        match(spark, place(workload), place(tmp_path / "m"), expressions=True)
    assert "the filter" in (sentence_of(str(refused.value)) or "")
    assert not (tmp_path / "m").exists()
    made = match(spark, place(workload), place(tmp_path / "m"), expressions=True, skip_bad=True)
    assert made["bad_rows"]["count"] == 2
    assert [each["id"] for each in made["bad_rows"]["samples"]] == [0, 2]
    assert read_rows(tmp_path / "m") == [{"id": 0, "interfaces": ["I2"]}]


def test_jobs_that_take_no_expressions_say_so(spark: SparkSession, tmp_path: Path) -> None:
    generate_auction(spark, AUCTION, place(tmp_path / "w"))
    with pytest.raises(InputError, match="has expressions, which this job does not take"):
        build(spark, place(tmp_path / "w"), "fp", place(tmp_path / "e"))
    header = tmp_path / "w/workload.json"
    told = json.loads(header.read_text("utf-8"))
    header.write_text(json.dumps({**told, "language": "riddles"}), "utf-8")
    with pytest.raises(InputError, match="is filters or expressions, not 'riddles'"):
        match(spark, place(tmp_path / "w"), place(tmp_path / "m"))


def test_the_command(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "w"
    status, out, _ = run(
        capsys, "generate", "--kind", "auction", "--filters", 120, "--notifications", 60,
        "--advertisements", 16, "--seed", 5, "--law", "zipf", "--books", 20_000,
        "--interfaces", 7, "--out", made,
    )  # fmt: skip
    assert (status, out) == (
        0,
        f"120 filters and 60 notifications, and 16 advertisements, in {made}\n",
    )
    generate_auction(spark, AUCTION, place(tmp_path / "same"))
    for name in ("filters", "notifications", "advertisements"):
        assert read_rows(made / name) == read_rows(tmp_path / "same" / name)
    assert run(capsys, "match", "--workload", made, "--out", tmp_path / "m")[0] == 0
    assert len(read_rows(tmp_path / "m")) == 60


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--kind", "auction", "--dims", "3"], "--dims says nothing about the kind auction"),
        (["--kind", "auction", "--operations", "3"], "--operations says nothing"),
        (["--books", "3"], "--books says nothing about the kind uniform"),
        (["--swap-labels"], "--swap-labels says nothing about the kind uniform"),
        (["--kind", "auction", "--law", "normal"], "law is one of"),
        (["--kind", "auction", "--books", "nan"], "books is between"),
        (["--kind", "auction", "--notifications", "-1"], "events is a whole number"),
    ],
)
def test_options_that_are_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    status, _, told = run(capsys, "generate", "--filters", 3, *options, "--out", tmp_path / "w")
    assert status == 2
    assert words in told
    assert not (tmp_path / "w").exists()

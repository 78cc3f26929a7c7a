"""validate --expressions: the invariants of expressions on a workload, each row by some task."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from posetlib.constraints.types import TypeHierarchy
from workloads.checks_expressions import EXPRESSION_INVARIANTS, Row, findings
from workloads.datasets import WorkloadFiles, read_claims, read_workload
from workloads.errors import InputError
from workloads.expression_rows import read_expression, readable_expressions
from workloads.files import Place
from workloads.match import read_notifications
from workloads.reports import (
    REPORT_FORMAT,
    REPORT_VERSION,
    WITNESSES,
    Outcome,
    not_applicable,
    tool_version,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["validate_expressions"]

_MATCHES: Final = "matches-agree"
_FOUND: Final = "invariant string, checked long, violations long, id long, witness string"
#: Advertisements that every expression is held against.
_ADVERTISEMENTS: Final = 200
#: Why an invariant says nothing, if nothing of it was checked.
_NOTHING: Final = {
    "pruned-covers": "needs --pruned",
    "overlap-found": "no event matches an expression and an advertisement",
    "overlap-symmetric": "the workload has no advertisements",
    _MATCHES: "needs --matches",
}

#: Told the name of each invariant, and its entry.
Told = Callable[[str, dict[str, Any] | None], None]


def validate_expressions(
    session: SparkSession,
    workload: Place,
    *,
    pruned: Place | None = None,
    matches: Place | None = None,
    notifications: int = 1000,
    skip_bad: bool = False,
    told: Told | None = None,
) -> dict[str, Any]:
    """Return the report on the expressions of a workload.

    ``pruned`` has an id and a text for each expression that was pruned, and ``matches`` what the
    job ``match`` wrote. The first ``notifications`` of the workload are the events.
    """
    started, start = datetime.now(UTC), time.perf_counter()
    read = read_workload(session, workload)
    assert isinstance(read, WorkloadFiles)
    if read.notifications is None:
        raise InputError(f"{read.told} has no notifications, by which expressions are checked")
    events = read.notifications.orderBy("id").limit(notifications).collect()
    ids = [row["id"] for row in events]
    known = read_notifications([row["notification"] for row in events], ids)
    rows, bad = readable_expressions(read.filters, read.types, skip_bad=skip_bad)
    others = []
    if read.advertisements is not None:
        some = read.advertisements.orderBy("id").limit(_ADVERTISEMENTS).collect()
        others = [Row(row["id"], read_expression(row["filter"], read.types)) for row in some]
    outcomes = _checked(session, rows, pruned, known, others, read.types)
    outcomes[_MATCHES] = (
        not_applicable(_NOTHING[_MATCHES])
        if matches is None
        else _matches(session, rows, matches, dict(zip(ids, known, strict=True)), read.types)
    )
    # All invariants of a row are checked together, so the time is that of all.
    seconds = time.perf_counter() - start
    entries = [outcome.to_dict(name, seconds) for name, outcome in outcomes.items()]
    for each in entries if told is not None else ():
        told(each["name"], each)  # type: ignore[misc]
    return {
        "format": REPORT_FORMAT,
        "version": REPORT_VERSION,
        "tool": tool_version(),
        "ok": all(each["verdict"] != "violated" for each in entries),
        "complete": True,
        "snapshot": read.path,
        "workload": read.path,
        "structure": "expressions",
        "nodes": rows.count(),
        "edges": 0,
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - start, 3),
        "parameters": {"notifications": notifications, "skip_bad": skip_bad},
        "bad_rows": bad.to_dict(),
        "invariants": entries,
    }


def _checked(
    session: SparkSession,
    rows: DataFrame,
    pruned: Place | None,
    events: list[dict[str, Any]],
    advertisements: list[Row],
    types: TypeHierarchy | None,
) -> dict[str, Outcome]:
    """Return the outcome of every invariant that is checked row by row."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    orphans: list[Any] = []
    together = rows.select("id", "filter").withColumn("pruned", f.lit(None).cast("string"))
    if pruned is not None:
        claims = read_claims(session, pruned, "the pruned expressions", matches=False)
        claims = claims.select("id", f.col("filter").alias("pruned"))
        together = rows.select("id", "filter").join(claims, "id", "left")
        orphans = claims.join(rows, "id", "left_anti").orderBy("id").collect()
    work = partial(_of_batches, events=events, advertisements=advertisements, types=types)
    found = together.mapInArrow(work, _FOUND).collect()
    checked, violations = Counter[str](), Counter[str]()
    witnesses: dict[str, list[tuple[int, str]]] = {}
    for row in found:
        checked[row["invariant"]] += row["checked"]
        violations[row["invariant"]] += row["violations"]
        if row["witness"] is not None:
            witnesses.setdefault(row["invariant"], []).append((row["id"], row["witness"]))
    for row in orphans:
        checked["pruned-covers"] += 1
        violations["pruned-covers"] += 1
        told = {"pruned": row["pruned"], "why": "no expression has its id", "ids": [row["id"]]}
        witnesses.setdefault("pruned-covers", []).append((row["id"], json.dumps(told)))
    outcomes = {}
    for name in EXPRESSION_INVARIANTS:
        shown = [json.loads(text) for _, text in sorted(witnesses.get(name, []))[:WITNESSES]]
        outcomes[name] = Outcome(checked[name], violations[name], shown)
        if not checked[name] and name in _NOTHING:
            outcomes[name] = not_applicable(_NOTHING[name])
    return outcomes


def _of_batches(
    batches: Iterator[pa.RecordBatch],
    events: list[dict[str, Any]],
    advertisements: list[Row],
    types: TypeHierarchy | None,
) -> Iterator[pa.RecordBatch]:
    """Check the rows of a task, and yield counts with the first witnesses of each batch."""
    for batch in batches:
        rows = _rows_of(batch, types)
        checked, violations = Counter[str](), Counter[str]()
        shown: list[tuple[str, int, int, int | None, str | None]] = []
        for finding in findings(rows, events, advertisements):
            checked[finding.invariant] += 1
            if finding.witness is not None:
                violations[finding.invariant] += 1
                if violations[finding.invariant] <= WITNESSES:
                    witness = json.dumps(finding.witness)
                    shown.append((finding.invariant, 0, 0, finding.witness["ids"][0], witness))
        shown += [(name, count, violations[name], None, None) for name, count in checked.items()]
        yield _record(shown)


def _record(rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    kinds = (pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.string())
    names = ["invariant", "checked", "violations", "id", "witness"]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(kinds)
    arrays = [pa.array(each, kind) for each, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names)


def _rows_of(batch: pa.RecordBatch, types: TypeHierarchy | None) -> list[Row]:
    return [
        Row(
            row["id"],
            read_expression(row["filter"], types),
            None if row["pruned"] is None else read_expression(row["pruned"], types),
        )
        for row in batch.to_pylist()
    ]


# -- what match wrote ------------------------------------------------------------------------------


def _matches(
    session: SparkSession,
    rows: DataFrame,
    place: Place,
    events: dict[int, dict[str, Any]],
    types: TypeHierarchy | None,
) -> Outcome:
    """Hold what ``match`` wrote against brute force: nobody is left out or told in vain."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    pairs = rows.select("filter", "interface").mapInArrow(
        partial(_pairs, events=events, types=types), "id long, interface string"
    )
    wanted = pairs.distinct()
    claims = read_claims(session, place, "the matches", matches=True)
    asked = f.col("id").isin(list(events))
    said = claims.where(asked).select("id", f.explode("interfaces").alias("interface")).distinct()
    both = wanted.withColumn("wanted", f.lit(True)).join(
        said.withColumn("said", f.lit(True)), ["id", "interface"], "full"
    )
    wrong = both.where(f.col("wanted").isNull() | f.col("said").isNull())
    count = wrong.count()
    witnesses = [
        {
            "notification": row["id"],
            "interface": row["interface"],
            "why": "it is left out" if row["said"] is None else "nothing of it matches",
        }
        for row in wrong.orderBy("id", "interface").limit(WITNESSES).collect()
    ]
    return Outcome(len(events), count, witnesses)


def _pairs(
    batches: Iterator[pa.RecordBatch],
    events: dict[int, dict[str, Any]],
    types: TypeHierarchy | None,
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        found: set[tuple[int, str]] = set()
        for row in batch.to_pylist():
            expression = read_expression(row["filter"], types)
            found |= {
                (id_, row["interface"])
                for id_, event in events.items()
                if expression.matches(event)
            }
        ids, names = zip(*sorted(found), strict=True) if found else ((), ())
        yield pa.RecordBatch.from_arrays(
            [pa.array(ids, pa.int64()), pa.array(names, pa.string())], ["id", "interface"]
        )

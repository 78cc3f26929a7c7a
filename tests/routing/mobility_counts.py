"""How often each protocol loses a notification: `python -m tests.routing.mobility_counts --help`.

Every row is one protocol under one kind of runs; a run is bad if a notification that was due did
not come, or waits for a handover that never ends. Safe protocols must have none. Runs are drawn
from seeds 0, 1, 2, …, so that every count can be made again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from posetlib import Update
from posetlib.routing.mobility import protocol_named
from posetlib.simulation.engine import Engine
from tests.routing.journeys import Kind, Run

_CHURN = {"incomplete": True, "churn": True}
_FAST = {**_CHURN, "fast": True}


@dataclass(frozen=True)
class Row:
    """One line of the table; ``reference`` is what the prototype of the study counted, of 400."""

    label: str
    kind: Kind
    reference: str = ""
    splits: bool = False


ROWS = (
    Row("update", Kind("update"), "0"),
    Row("update, incomplete, churn, fast", Kind("update", **_FAST, movers=2), "0"),
    Row("update, merging, churn, fast", Kind("update", "merging", **_FAST, movers=2), "0"),
    Row("update, plain, churn, fast", Kind("update", advertisements=False, **_FAST), "0"),
    Row("update, publisher", Kind("update", roles="publisher"), "0"),
    Row("update, publisher, churn, fast", Kind("update", roles="publisher", **_FAST), "0"),
    Row("update, both roles, churn, fast", Kind("update", roles="both", **_FAST, movers=2), "0"),
    Row("linger", Kind("linger"), "0"),
    Row("linger, churn, fast", Kind("linger", **_FAST, movers=2), "0"),
    Row("prepared", Kind("prepared"), "0"),
    Row("prepared, churn, fast", Kind("prepared", **_FAST, movers=2), "0"),
    Row("rendezvous", Kind("rendezvous", points=1), "0"),
    Row("rendezvous, 3 points, churn, fast", Kind("rendezvous", points=3, **_FAST, movers=2), "0"),
    Row("ping-pong", Kind("ping-pong"), "0"),
    Row("ping-pong, churn, fast", Kind("ping-pong", **_FAST, movers=2), "0"),
    Row("resubscribe", Kind("resubscribe"), "246"),
    Row("transfer", Kind("transfer"), "134"),
    Row("cover", Kind("cover"), "24"),
    Row("cover, churn", Kind("cover", **_CHURN), "42"),
    Row("junction", Kind("junction"), "41"),
    Row("flood", Kind("flood"), "0, 29 stuck"),
    Row("flood, fast", Kind("flood", fast=True), "52"),
    Row("flood, incomplete", Kind("flood", incomplete=True), "124"),
    Row("path-update", Kind("path-update"), "89"),
    Row("path-update-answered", Kind("path-update-answered"), "0"),
    Row("path-update-answered, churn", Kind("path-update-answered", **_CHURN), "7 of 1000"),
    Row("update-without-pins, incomplete", Kind("update-without-pins", incomplete=True), "28"),
    Row("update-without-epochs, fast", Kind("update-without-epochs", fast=True), "110"),
    Row("update, updates split in two", Kind("update", **_FAST), "109", splits=True),
    Row("rendezvous-direct", Kind("rendezvous-direct", points=1), "65"),
    Row("resubscribe, publisher", Kind("resubscribe", roles="publisher"), "161"),
    Row("transfer, publisher", Kind("transfer", roles="publisher"), "152"),
    Row("update-ready-direct, publisher", Kind("update-ready-direct", roles="publisher"), "65"),
    Row("cover, publisher", Kind("cover", roles="publisher"), "0"),
    Row("cover, publisher, churn", Kind("cover", roles="publisher", **_CHURN), "8"),
)


@contextmanager
def splitting() -> Iterator[None]:
    """Let every update travel as two messages: what is withdrawn, then what is new."""
    send = Engine._send

    def send_split(self: Engine, broker: Any, to: Any, message: Any) -> None:
        update = message if isinstance(message, Update) else getattr(message, "update", None)
        if update is None:
            send(self, broker, to, message)
            return
        send(self, broker, to, Update(to, (), update.unsubscribe, (), update.unadvertise))
        rest = Update(to, update.subscribe, (), update.advertise, ())
        send(self, broker, to, rest if message is update else replace(message, update=rest))

    Engine._send = send_split  # type: ignore[method-assign]
    try:
        yield
    finally:
        Engine._send = send  # type: ignore[method-assign]


@dataclass
class Count:
    """What came of the runs of one row."""

    runs: int = 0
    bad: int = 0
    stuck: int = 0
    inversions: int = 0
    #: Runs with a duplicate, an unwanted notification or something left behind.
    other: int = 0
    first: int | None = None

    def add(self, run: Run) -> None:
        audit = run.net.audit()
        self.runs += 1
        self.bad += run.lost()
        self.stuck += audit.unfinished > 0
        self.inversions += audit.out_of_order
        self.other += bool(audit.unwanted or audit.duplicates)
        if run.lost() and self.first is None:
            self.first = run.seed


def count(row: Row, runs: int, first: int = 0) -> Count:
    """Make the runs of a row."""
    found = Count()
    for seed in range(first, first + runs):
        if row.splits:
            with splitting():
                found.add(Run(row.kind, seed))
        else:
            found.add(Run(row.kind, seed))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a protocol that is safe lost something, or an unsafe one nothing."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.routing.mobility_counts", description=__doc__
    )
    parser.add_argument("--runs", type=int, default=400, help="of each row")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first run")
    parser.add_argument("--only", default="", help="rows whose name begins with this")
    options = parser.parse_args(arguments)
    print("| protocol, kind of runs | bad runs | stuck | out of order | prototype, of 400 |")
    print("| --- | --- | --- | --- | --- |")
    wrong = []
    for row in ROWS:
        if not row.label.startswith(options.only):
            continue
        made = count(row, options.runs, options.seed)
        print(
            f"| {row.label} | {made.bad}/{made.runs} | {made.stuck} | {made.inversions} | "
            f"{row.reference} |",
            flush=True,
        )
        is_safe = protocol_named(row.kind.protocol).is_safe and not row.splits
        if is_safe and (made.bad or made.stuck or made.other):
            wrong.append(f"{row.label}: first bad seed {made.first}")
    for each in wrong:
        print(each)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

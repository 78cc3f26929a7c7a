"""Many small tables in one snapshot, so that one run of the job judges all of them.

Each table has an event type, ids and interfaces of its own: no filter of one covers a filter of
another, no path joins them, and whatever is wrong belongs to one of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.workloads.files import write_filters, write_notifications, write_rows
from tests.workloads.oracle import Rows, violations

__all__ = ["Case", "expected", "found_by_case", "write_cases"]

#: Ids of one table lie within so many.
_IDS = 1000
_TYPE = re.compile(r"type\W+T(\d+)\b")


@dataclass
class Case:
    """A table, spoilt or not, with what it was made from and what is sent to it."""

    name: str
    nodes: Rows
    edges: Rows
    pairs: Sequence[tuple[str, str]]
    notifications: Sequence[dict[str, Any]] = field(default_factory=list)


def _text(number: int, text: str) -> str:
    return f'type = "T{number}" and ({text})'


def _names(number: int, names: Iterable[str] | None) -> list[str] | None:
    return None if names is None else [f"{name}-{number}" for name in names]


def _placed(number: int, case: Case) -> tuple[Rows, Rows]:
    nodes = [
        {
            "id": number * _IDS + node["id"],
            "filter": _text(number, node["filter"]),
            "interfaces": _names(number, node["interfaces"]),
            "index": _names(number, node["index"]),
        }
        for node in case.nodes
    ]
    edges = [{end: number * _IDS + each[end] for end in ("parent", "child")} for each in case.edges]
    return nodes, edges


def write_cases(folder: Path, header: dict[str, Any], cases: Sequence[Case]) -> tuple[Path, Path]:
    """Write all tables as one snapshot, and all that they were made from as one workload."""
    nodes: Rows = []
    edges: Rows = []
    pairs: list[tuple[str | None, str]] = []
    told: list[Any] = []
    for number, case in enumerate(cases):
        own_nodes, own_edges = _placed(number, case)
        nodes += own_nodes
        edges += own_edges
        pairs += [(_text(number, text), f"{name}-{number}") for text, name in case.pairs]
        told += [{**each, "type": f"T{number}"} for each in case.notifications]
    workload = write_filters(folder / "workload", pairs, 3)
    write_notifications(workload, told)
    return write_rows(folder / "snapshot", header, nodes, edges), workload


def expected(header: dict[str, Any], cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    """Return the violations of each invariant in each table, by the definitions alone."""
    found: dict[str, dict[str, int]] = {}
    for case in cases:
        counts = violations(header, case.nodes, case.edges, case.pairs, case.notifications)
        for name, count in counts.items():
            of_all = found.setdefault(name, {})
            if count:
                of_all[case.name] = count
    return found


def found_by_case(rows: Iterable[dict[str, Any]], cases: Sequence[Case]) -> dict[str, Counter[str]]:
    """Return the same from the rows of violations that the job wrote."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        (number,) = set(_TYPE.findall(row["witness"].replace("\\", "")))
        found.setdefault(row["invariant"], Counter())[cases[int(number)].name] += 1
    return found

"""What a validation found: one outcome for each invariant, as JSON and for people."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from workloads.errors import InputError

__all__ = ["Outcome", "counted", "left_out", "not_applicable", "summary", "write_report"]

#: So many witnesses are shown of each invariant.
WITNESSES: Final = 5


@dataclass
class Outcome:
    """How much was checked of an invariant, what breaks it, and the first witnesses."""

    checked: int
    violations: int = 0
    witnesses: list[dict[str, Any]] = field(default_factory=list)
    applies: bool = True
    note: str = ""

    @property
    def verdict(self) -> str:
        """The verdict, in the words of a report."""
        if not self.applies:
            return "not applicable"
        return "violated" if self.violations else "holds"

    def to_dict(self, name: str, seconds: float) -> dict[str, Any]:
        """Return the entry of a report."""
        entry = {
            "name": name,
            "verdict": self.verdict,
            "checked": self.checked,
            "violations": self.violations,
            "witnesses": self.witnesses[:WITNESSES],
            "seconds": round(seconds, 3),
        }
        return entry | ({"note": self.note} if self.note else {})


def not_applicable(note: str) -> Outcome:
    """Return the outcome of an invariant that says nothing about a table."""
    return Outcome(0, applies=False, note=note)


def counted(count: int, what: str) -> str:
    """Return how many there are of something.

    >>> counted(1, "node"), counted(2_000, "node")
    ('1 node', '2,000 nodes')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def left_out(bad: dict[str, Any]) -> list[str]:
    """Return lines about the rows that were left out, and the first of them."""
    was = "was left out, since its" if bad["count"] == 1 else "were left out, since their"
    lines = [f"{counted(bad['count'], 'row')} {was} text is no filter; for example:"]
    return lines + [f"  id {each['id']}: {each['filter']!r}: {each['error']}"
                    for each in bad["samples"]]  # fmt: skip


def summary(report: dict[str, Any]) -> str:
    """Return a report for people to read.

    >>> entry = Outcome(3, 1, [{"child": "x = 1", "why": "is covered"}]).to_dict("edge-covers", 0.5)
    >>> print(
    ...     summary(
    ...         {
    ...             "ok": False,
    ...             "structure": "pf",
    ...             "nodes": 4,
    ...             "edges": 3,
    ...             "invariants": [entry],
    ...             "seconds": 1.25,
    ...         }
    ...     )
    ... )
    pf: 4 nodes, 3 edges
      VIOLATED        edge-covers               3 checked,     0.5 s: 1 violation
                      child: x = 1; why: is covered
    violated: edge-covers (1.2 s)
    """
    size = f"{counted(report['nodes'], 'node')}, {counted(report['edges'], 'edge')}"
    lines = [f"{report['structure']}: {size}"]
    for each in report["invariants"]:
        verdict = each["verdict"]
        shown = "VIOLATED" if verdict == "violated" else verdict
        line = f"  {shown:<15} {each['name']:<20}"
        if verdict != "not applicable":
            line += f" {each['checked']:>10,} checked, {each['seconds']:>7,.1f} s"
        if each["violations"]:
            line += f": {counted(each['violations'], 'violation')}"
        elif each.get("note"):
            line += f" ({each['note']})"
        lines.append(line)
        lines += [" " * 18 + _witness(witness) for witness in each["witnesses"]]
    bad = report.get("bad_rows")
    if bad and bad["count"]:
        lines += left_out(bad)
    broken = [each["name"] for each in report["invariants"] if each["verdict"] == "violated"]
    verdict = f"violated: {', '.join(broken)}" if broken else "every invariant holds"
    lines.append(f"{verdict} ({report['seconds']:.1f} s)")
    return "\n".join(lines)


def _witness(witness: dict[str, Any]) -> str:
    parts = []
    for name, value in witness.items():
        if name != "ids":
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            parts.append(f"{name}: {text}")
    return "; ".join(parts)


def write_report(path: str, report: dict[str, Any]) -> None:
    """Write a report as JSON, complete or not at all."""
    place = Path(path)
    partial = place.with_name(f".{place.name}.partial")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(
            json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        partial.replace(place)
    except OSError as error:
        raise InputError(f"the report cannot be written to {path}: {error.strerror}") from None

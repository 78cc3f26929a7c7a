"""What a validation found: one outcome for each invariant, as JSON and for people."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from workloads.errors import InputError, cause_of
from workloads.files import Place, hidden_beside, is_local, write_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "INVARIANT_NAMES",
    "REPORT_FORMAT",
    "REPORT_VERSION",
    "Outcome",
    "Reserved",
    "counted",
    "entry_lines",
    "github_lines",
    "junit",
    "left_out",
    "not_applicable",
    "not_asked",
    "report_text",
    "require_several",
    "reserved",
    "title",
    "tool_version",
    "verdict_line",
    "write_report",
    "write_violations",
]

#: The invariants in the order of a report.
INVARIANT_NAMES: Final = (
    "edge-covers",
    "sibling-pure",
    "roots-minimal-cover",
    "reachable-acyclic",
    "single-parent",
    "complete-order",
    "interfaces-nonempty",
    "minimum-interface",
    "no-redundant-pair",
    "interface-index",
    "forwards-agree",
    "match-agrees",
    "same-roots",
    "entries-served",
    "entries-asked",
    "distinct-filters",
    "columns-agree",
    "merge-covers",
    "merge-perfect",
)
REPORT_FORMAT: Final = "posetlib-report"
#: The version of the report's layout; 1 had neither this nor the run's own data.
REPORT_VERSION: Final = 2

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
    asked: bool = True

    @property
    def verdict(self) -> str:
        """The verdict, in the words of a report."""
        if not self.asked:
            return "not asked"
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


def not_asked() -> Outcome:
    """Return the outcome of an invariant that was left out on purpose: nothing is known of it."""
    return Outcome(0, asked=False)


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


def title(report: Mapping[str, Any]) -> str:
    """Return what a report is about."""
    size = f"{counted(report['nodes'], 'node')}, {counted(report['edges'], 'edge')}"
    return f"{report['structure']}: {size}"


def entry_lines(each: Mapping[str, Any]) -> list[str]:
    r"""Return the lines about one invariant; none if it was not asked for.

    >>> entry = Outcome(3, 1, [{"child": "x = 1", "why": "is covered"}]).to_dict("edge-covers", 0.5)
    >>> print("\n".join(entry_lines(entry)))
      VIOLATED        edge-covers               3 checked,     0.5 s: 1 violation
                      child: x = 1; why: is covered
    """
    verdict = each["verdict"]
    if verdict == "not asked":
        return []
    shown = "VIOLATED" if verdict == "violated" else verdict
    line = f"  {shown:<15} {each['name']:<20}"
    if verdict != "not applicable":
        line += f" {each['checked']:>10,} checked, {each['seconds']:>7,.1f} s"
    if each["violations"]:
        line += f": {counted(each['violations'], 'violation')}"
    elif each.get("note"):
        line += f" ({each['note']})"
    return [line, *(" " * 18 + _witness(witness) for witness in each["witnesses"])]


def verdict_line(report: Mapping[str, Any]) -> str:
    """Return the last line: it says that all hold only if all were asked for."""
    verdicts = [each["verdict"] for each in report["invariants"]]
    broken = [each["name"] for each in report["invariants"] if each["verdict"] == "violated"]
    left = verdicts.count("not asked")
    verdict = f"violated: {', '.join(broken)}" if broken else "every invariant holds"
    if left:
        asked = counted(len(verdicts) - left, "invariant")
        others = f"{left} of {len(verdicts)} were not checked"
        verdict = f"{verdict}; {others}" if broken else f"{asked} asked for: no violation; {others}"
    return f"{verdict} ({report['seconds']:.1f} s)"


def _witness(witness: dict[str, Any]) -> str:
    parts = []
    for name, value in witness.items():
        if name != "ids":
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            parts.append(f"{name}: {text}")
    return "; ".join(parts)


# -- for machines ----------------------------------------------------------------------------------


def tool_version() -> str:
    """Return the name and version of what made a report."""
    return f"posetlib {importlib.import_module('posetlib').__version__}"


def github_lines(report: Mapping[str, Any]) -> list[str]:
    """Return a report as commands of a GitHub workflow: each witness is an error of its own."""
    lines = []
    for each in report["invariants"]:
        for witness in each["witnesses"]:
            told = _escaped(_witness(witness))
            lines.append(f"::error title=validate {each['name']}::{told}")
    level = "notice" if report["ok"] else "error"
    lines.append(f"::{level} title=validate::{_escaped(verdict_line(report))}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def junit(report: Mapping[str, Any]) -> str:
    """Return a report as JUnit's XML: an invariant is a test."""
    entries = report["invariants"]
    verdicts = [each["verdict"] for each in entries]
    suite = ET.Element(
        "testsuite",
        name=f"validate {report['snapshot']}",
        tests=str(len(entries)),
        failures=str(verdicts.count("violated")),
        errors="0",
        skipped=str(sum(each in ("not applicable", "not asked") for each in verdicts)),
        time=str(report["seconds"]),
        timestamp=str(report["started"]),
    )
    for each in entries:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"validate.{report['structure']}",
            name=each["name"],
            time=str(each["seconds"]),
        )
        if each["verdict"] == "violated":
            failure = ET.SubElement(
                case, "failure", message=counted(each["violations"], "violation")
            )
            failure.text = "\n".join(_printable(_witness(one)) for one in each["witnesses"])
        elif each["verdict"] != "holds":
            ET.SubElement(case, "skipped", message=each.get("note") or each["verdict"])
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """Return a text without the control characters that XML has no place for."""
    return "".join(each if each >= " " or each in "\t\n" else "\ufffd" for each in text)


def write_violations(session: SparkSession, place: Place, found: Mapping[str, Outcome]) -> None:
    """Write every violation as a row: its invariant, its number, what it is, why, and the nodes."""
    import pyarrow as pa  # noqa: PLC0415

    rows = [
        {
            "invariant": name,
            "number": number,
            "why": witness.get("why"),
            "ids": witness.get("ids", []),
            "witness": json.dumps(witness, ensure_ascii=False),
        }
        for name, outcome in found.items()
        for number, witness in enumerate(outcome.witnesses)
    ]
    schema = pa.schema(
        [
            ("invariant", pa.string()),
            ("number", pa.int64()),
            ("why", pa.string()),
            ("ids", pa.list_(pa.int64())),
            ("witness", pa.string()),
        ]
    )
    table = session.createDataFrame(pa.Table.from_pylist(rows, schema=schema))
    table.write.mode("append").parquet(place.path)
    counts = {
        name: {"violations": outcome.violations, "written": len(outcome.witnesses)}
        for name, outcome in found.items()
        if outcome.violations
    }
    write_json(place.child("_violations.json"), {"tool": tool_version(), "invariants": counts})


# -- files -----------------------------------------------------------------------------------------


class Reserved:
    """A file that can be written: this was tried before the work began.

    A device or a pipe, such as /dev/stdout, is written to as it is, and a link is followed.
    """

    def __init__(self, place: Place) -> None:
        self._place = place.target()
        self._partial: Place | None = None

    def open(self) -> None:
        """Try to write; InputError says what is in the way."""
        if self._place.is_stream():
            return
        try:
            if self._place.is_folder():
                raise IsADirectoryError(21, "Is a directory")
            self._place.make_parent()
            self._partial = hidden_beside(self._place, "partial")
            self._partial.write_text("")
        except InputError:
            raise
        except Exception as error:
            raise InputError(self._told(error)) from error

    def write(self, text: str) -> None:
        """Write the file, complete or not at all; OSError if that is no longer possible."""
        try:
            if self._partial is None:
                self._place.write_text(text)
                return
            self._partial.write_text(text)
            self._partial.replace(self._place)
        except Exception as error:
            raise OSError(self._told(error)) from error

    def close(self) -> None:
        """Leave nothing behind but the file."""
        if self._partial is not None and self._partial.exists():
            self._partial.delete()

    def _told(self, error: Exception) -> str:
        reason = getattr(error, "strerror", None) or cause_of(error)
        return f"the report cannot be written to {self._place.path}: {reason}"


def require_several(reports: Sequence[Place], violations: str | None) -> None:
    """Refuse two results of one command in one place: one of them would be lost."""
    if len({each.parts for each in reports}) < len(reports) and not reports[0].is_stream():
        raise InputError(f"two reports go to {reports[0].path}: one of them would be lost")
    if violations is not None and is_local(violations):
        folder = Place(violations)
        for each in reports:
            if each.parts[: len(folder.parts)] == folder.parts:
                raise InputError(f"{each.path} lies in {violations}, where the violations go")


@contextmanager
def reserved(place: Place | None) -> Iterator[Reserved | None]:
    """Give a file to write a report to, found writable now; None for none."""
    if place is None:
        yield None
        return
    file = Reserved(place)
    file.open()
    try:
        yield file
    finally:
        file.close()


def write_report(path: str | Place, report: Mapping[str, Any]) -> None:
    """Write a report as JSON, complete or not at all."""
    with reserved(Place(path) if isinstance(path, str) else path) as file:
        assert file is not None
        file.write(report_text(report))


def report_text(report: Mapping[str, Any]) -> str:
    """Return a report as JSON."""
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"

"""The file of a merged root set: what stands beside a snapshot for jobs and pages to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from posetlib.errors import SnapshotError
from posetlib.merging.merged_set import Group

__all__ = ["FORMAT", "VERSION", "MergedFile", "merged_data"]

FORMAT: Final = "posetlib-merged"
VERSION: Final = 1


def merged_data(
    groups: Iterable[Group], *, perfect: bool, left_out: Mapping[Any, tuple[Any, ...]]
) -> dict[str, Any]:
    """Return a merged set as JSON-able data: for each filter what it stands for, and its loss.

    Filters are texts. ``sent`` is false for a filter that is left out since others cover it
    together, its ``supporters``; ``gone`` lists components that lazy deletion has yet to take out.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "perfect": perfect,
        "merged": [_row(group, left_out.get(group.filter)) for group in groups],
    }


def _row(group: Group, supporters: tuple[Any, ...] | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "filter": str(group.filter),
        "components": [str(member) for member in group.components],
        "covered": [str(member) for member in group.covered],
        "loss": group.loss,
        "sent": supporters is None,
    }
    if group.gone:
        row["gone"] = [str(member) for member in group.gone]
    if supporters is not None:
        row["supporters"] = [str(each) for each in supporters]
    return row


@dataclass(frozen=True, slots=True)
class MergedFile:
    """The merged filters that a file names, as texts."""

    #: Whether they must match nothing more than the roots: not while components are gone.
    perfect: bool
    #: The filters that are sent.
    filters: tuple[str, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MergedFile:
        """Read what ``merged_data`` wrote, and trust none of it; SnapshotError says what is wrong.

        >>> MergedFile.from_dict({"format": "posetlib-merged", "version": 2})
        Traceback (most recent call last):
        posetlib.errors.SnapshotError: the version of a merged set is 2; version 1 can be read
        """
        if data.get("format") != FORMAT:
            raise SnapshotError(f"the format is {data.get('format')!r}, not {FORMAT!r}")
        version = data.get("version")
        if version != VERSION or isinstance(version, bool):
            raise SnapshotError(
                f"the version of a merged set is {version!r}; version {VERSION} can be read"
            )
        perfect, rows = data.get("perfect"), data.get("merged")
        if not isinstance(perfect, bool):
            raise SnapshotError(f'"perfect" is true or false, not {perfect!r}')
        if not isinstance(rows, list):
            raise SnapshotError('"merged" is a list of merged filters')
        sent = []
        for number, row in enumerate(rows):
            text = row.get("filter") if isinstance(row, dict) else None
            if not isinstance(text, str):
                raise SnapshotError(f'"merged": number {number} has no "filter" that is a text')
            perfect = perfect and not row.get("gone")
            if row.get("sent", True):
                sent.append(text)
        return cls(perfect, tuple(sent))

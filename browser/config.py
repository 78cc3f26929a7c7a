"""What one app is given when it is made: where its files are, and how much it takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Config", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much the app takes and shows before it says so instead of freezing."""

    #: Bytes of one upload, all its files together.
    upload_bytes: int = 8 << 20
    #: Operations of one trace: filters of a workload, nodes of a snapshot.
    steps: int = 5_000
    #: Filters read from a workload directory.
    workload_filters: int = 2_000
    #: Filters and edges in one drawing; past either, the lower levels are folded.
    drawn_nodes: int = 2_000
    drawn_edges: int = 12_000
    #: Filters up to which each is drawn with its text.
    labelled_nodes: int = 150
    #: Characters of one filter, and of all filters of a source: reading them takes seconds.
    filter_chars: int = 20_000
    text_chars: int = 2 << 20
    #: Names in one hierarchy of types, all of whose pairs are looked at.
    types: int = 500
    #: Bytes that the Parquet parts of one upload may unpack to.
    unpacked_bytes: int = 64 << 20
    #: Rows of one page of a list.
    rows: int = 100
    #: Bytes of documents, and number of traces, that are kept for all users together.
    document_bytes: int = 128 << 20
    stories: int = 16
    #: Bytes of one validation report.
    report_bytes: int = 16 << 20


@dataclass(frozen=True, slots=True)
class Config:
    """Where the files of the jobs are, and the limits."""

    workload: Path | None = None
    #: Where validation reports and built tables are looked for.
    runs: Path | None = None
    limits: Limits = field(default_factory=Limits)

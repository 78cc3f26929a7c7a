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
    steps: int = 120_000
    #: Filters read from a workload directory.
    workload_filters: int = 12_000
    #: Filters and edges in one drawing; past either, the lower levels are folded.
    drawn_nodes: int = 12_000
    drawn_edges: int = 50_000
    #: Filters up to which each is an element of Cytoscape; more are painted by the page's script.
    element_nodes: int = 600
    #: Filters up to which each is drawn with its text.
    labelled_nodes: int = 150
    #: Filters past which a table is shown around one filter unasked, and how many are near it.
    whole_nodes: int = 80
    near_nodes: int = 40
    #: Characters of one filter, and of all filters of a source: reading them takes seconds.
    filter_chars: int = 20_000
    text_chars: int = 6 << 20
    #: Names in one hierarchy of types, all of whose pairs are looked at.
    types: int = 500
    #: Bytes that the Parquet parts of one upload may unpack to.
    unpacked_bytes: int = 64 << 20
    #: Rows of one window of a list, and of a list that is sent whole.
    rows: int = 100
    listed: int = 2_000
    #: Bytes of documents, and number of traces, that are kept for all users together.
    document_bytes: int = 128 << 20
    stories: int = 16
    #: Operations of a trace that counts as one: a longer one takes the room of several.
    story_steps: int = 20_000
    #: Of the run of a network: characters, brokers, clients, operations, messages over links.
    script_chars: int = 100_000
    brokers: int = 60
    clients: int = 200
    operations: int = 400
    deliveries: int = 12_000
    #: Brokers times operations up to which all algorithms are counted unasked.
    counted_unasked: int = 1_500
    #: Runs of networks that are kept for all users together, each with all its steps.
    runs: int = 12
    #: Bytes of the table that a running broker may answer with, and the seconds that it has for it.
    broker_bytes: int = 8 << 20
    broker_seconds: float = 5.0
    #: Bytes of one validation report.
    report_bytes: int = 16 << 20


@dataclass(frozen=True, slots=True)
class Config:
    """Where the files of the jobs are, where a broker runs, and the limits."""

    workload: Path | None = None
    #: Where validation reports and built tables are looked for.
    runs: Path | None = None
    limits: Limits = field(default_factory=Limits)
    #: The host and port at which a running broker answers.
    broker: tuple[str, int] | None = None

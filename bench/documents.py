"""Put the promises of a run into a document, between two comments that stay where they are."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence

import numpy as np

from bench.harness import Promise, text_of

__all__ = ["environment", "with_lines", "with_promises"]


def environment() -> str:
    """Return in one sentence what figures depend on."""
    return f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores."


def with_promises(document: str, subject: str, promises: Sequence[Promise], note: str) -> str:
    r"""Return a Markdown document with the promises of a subject as a table, where it had one.

    A promise reads "subject: figure", and each subject has a row.

    >>> page = "Before.\n<!-- bench: fruit -->\nold\n<!-- end of bench -->\nAfter."
    >>> promises = [Promise("an apple: times a fig", 2.345, at_most=3)]
    >>> print(with_promises(page, "fruit", promises, "Weighed in the morning."))
    Before.
    <!-- bench: fruit -->
    Weighed in the morning.
    <BLANKLINE>
    | | figure | measured | promised | |
    | --- | --- | ---: | --- | --- |
    | an apple | times a fig | 2.35 | at most 3 | |
    <!-- end of bench -->
    After.
    """
    lines = [note, "", "| | figure | measured | promised | |", "| --- | --- | ---: | --- | --- |"]
    for promise in promises:
        what, _, figure = promise.what.rpartition(": ")
        verdict = "" if promise.kept else "**not kept** "
        cells = (what, figure, text_of(promise.measured), promise.bounds)
        lines.append(f"| {' | '.join(cells)} | {verdict}|")
    return with_lines(document, subject, lines)


def with_lines(document: str, subject: str, lines: Sequence[str]) -> str:
    """Return a document with these lines where it had those of a subject."""
    marked = re.compile(
        rf"(<!-- bench: {re.escape(subject)} -->\n).*?(<!-- end of bench -->)", re.S
    )
    made, count = marked.subn(lambda found: found[1] + "\n".join(lines) + "\n" + found[2], document)
    if not count:
        raise ValueError(f"the document has no place for {subject}: <!-- bench: {subject} -->")
    return made

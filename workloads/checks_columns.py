"""columns-agree: typed columns say what the filter's text says, in every row of every file."""

from __future__ import annotations

import numpy as np

from workloads.context import Context
from workloads.datasets import is_typed
from workloads.reports import Outcome, not_applicable

__all__ = ["columns_agree"]

_WHY = "the typed columns say something else than the text"


def columns_agree(context: Context) -> Outcome:
    """Typed columns say what the text says, in the nodes and in the workload's filters."""
    outcome = Outcome(0, applies=False)
    if is_typed(context.files.nodes):
        wrong = np.flatnonzero(~context.agrees)
        texts = context.texts(wrong[: context.shown].tolist())
        outcome = Outcome(context.node_count, len(wrong))
        outcome.witnesses = [
            {"filter": text, "why": _WHY, "ids": context.ids([each])}
            for each, text in texts.items()
        ]
    if context.workload is not None and is_typed(context.workload.filters):
        count, wrong_rows, some = context.workload_columns
        outcome.applies = True
        outcome.checked += count
        outcome.violations += wrong_rows
        outcome.witnesses += [
            {"filter": text, "why": f"{_WHY}, in the workload", "row": id_} for id_, text in some
        ]
    return outcome if outcome.applies else not_applicable("there are no typed columns")

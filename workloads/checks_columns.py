"""columns-agree: typed columns say what the filter's text says, in every row of every file."""

from __future__ import annotations

import numpy as np

from workloads.datasets import is_typed
from workloads.near import NearContext
from workloads.opening import Opened, by_place
from workloads.reports import Outcome, not_applicable
from workloads.spread import SpreadContext

__all__ = ["columns_agree"]

_WHY = "the typed columns say something else than the text"


def columns_agree(context: Opened) -> Outcome:
    """Typed columns say what the text says, in the nodes and in the workload's filters."""
    outcome = Outcome(0, applies=False)
    if is_typed(context.files.nodes):
        wrong, first = by_place(context, _near_wrong, _spread_wrong)
        texts = context.texts(first)
        outcome = Outcome(context.node_count, wrong)
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


def _near_wrong(context: NearContext) -> tuple[int, list[int]]:
    """Return how many nodes have columns that are wrong, and the first."""
    wrong = np.flatnonzero(~context.agrees)
    return len(wrong), wrong[: context.shown].tolist()


def _spread_wrong(context: SpreadContext) -> tuple[int, list[int]]:
    wrong = context.rows.where("not agrees").select("number")
    count = wrong.count()
    first = wrong.orderBy("number").limit(context.shown).collect() if count else []
    return count, [row["number"] for row in first]

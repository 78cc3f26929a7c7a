"""The auction workload as rows: subscriptions, advertisements and events, each by its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from posetlib.array_types import IntArray
from posetlib.generating import interface_names
from posetlib.generating.auction import (
    AuctionParameters,
    GeneratedExpressions,
    generated_advertisements,
    generated_events,
    generated_subscriptions,
)
from workloads.datasets import EXPRESSIONS, WORKLOAD_FORMAT
from workloads.files import Place, new_output, write_json
from workloads.generate import made_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["advertisements_of", "events_of", "generate_auction", "subscriptions_of"]


def generate_auction(
    session: SparkSession,
    parameters: AuctionParameters,
    out: Place,
    *,
    partitions: int | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write an auction workload; the same parameters give the same rows, however divided."""
    with new_output(out, overwrite=overwrite) as place:
        rows = {"filters": subscriptions_of(session, parameters, partitions)}
        if parameters.events:
            rows["notifications"] = events_of(session, parameters, partitions)
        if parameters.advertisements:
            rows["advertisements"] = advertisements_of(session, parameters, partitions)
        for name, each in rows.items():
            each.write.parquet(place.child(name).path)
        header = {
            "format": WORKLOAD_FORMAT,
            "version": 1,
            "language": EXPRESSIONS,
            "seed": parameters.seed,
            "parameters": {"kind": "auction", **parameters.to_dict()},
        }
        write_json(place.child("workload.json"), header)
    return header


def subscriptions_of(
    session: SparkSession, p: AuctionParameters, partitions: int | None
) -> DataFrame:
    """Return the subscriptions, as filters of a workload."""
    return made_rows(session, p, partitions, _subscriptions, p.subscriptions)


def advertisements_of(
    session: SparkSession, p: AuctionParameters, partitions: int | None
) -> DataFrame:
    """Return the advertisements, with the columns of subscriptions."""
    return made_rows(session, p, partitions, _advertisements, p.advertisements)


def events_of(session: SparkSession, p: AuctionParameters, partitions: int | None) -> DataFrame:
    """Return the events, as notifications of a workload."""
    return made_rows(session, p, partitions, _events, p.events)


def _subscriptions(parameters: AuctionParameters, rows: IntArray) -> pa.RecordBatch:
    return _expressions(generated_subscriptions(parameters, rows))


def _advertisements(parameters: AuctionParameters, rows: IntArray) -> pa.RecordBatch:
    return _expressions(generated_advertisements(parameters, rows))


def _expressions(made: GeneratedExpressions) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "id": pa.array(made.rows),
            "filter": pa.array(made.texts(), pa.string()),
            "interface": pa.array(interface_names(made.interfaces), pa.string()),
        }
    )


def _events(parameters: AuctionParameters, rows: IntArray) -> pa.RecordBatch:
    texts = generated_events(parameters, rows).texts()
    return pa.RecordBatch.from_pydict(
        {"id": pa.array(rows), "notification": pa.array(texts, pa.string())}
    )

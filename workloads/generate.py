"""generate: a workload of random filters, notifications and operations, as Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from posetlib.generating import (
    Integers,
    Parameters,
    filter_columns,
    interface_names,
    notification_columns,
)
from posetlib.scenarios import operations_of
from workloads.datasets import WORKLOAD_FORMAT, typed_for_text
from workloads.files import Place, new_output, write_json
from workloads.rows import filter_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["generate"]


def generate(
    session: SparkSession,
    parameters: Parameters,
    out: Place,
    *,
    partitions: int | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write a workload; the same parameters give the same rows, however they are divided."""
    parts = partitions or max(2, session.sparkContext.defaultParallelism)
    with new_output(out, overwrite=overwrite) as place:
        filters = typed_for_text(_made(session, _filters, parameters, parameters.filters, parts))
        filters.write.parquet(place.child("filters").path)
        if parameters.notifications:
            made = _made(session, _notifications, parameters, parameters.notifications, parts)
            made.write.parquet(place.child("notifications").path)
        if parameters.operations:
            made = _made(session, _operations, parameters, parameters.interfaces, parts)
            # As many ranges as parts, so that the files in their order are the sequence in its.
            made = made.repartitionByRange(parts, "sequence").sortWithinPartitions("sequence")
            made.write.parquet(place.child("operations").path)
        header = {
            "format": WORKLOAD_FORMAT,
            "version": 1,
            "seed": parameters.seed,
            "parameters": parameters.to_dict(),
        }
        write_json(place.child("workload.json"), header)
    return header


def _made(
    session: SparkSession, make: Any, parameters: Parameters, count: int, parts: int
) -> DataFrame:
    """Return the rows that a function makes of row numbers, one call for each batch of them."""
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415

    schema = from_arrow_schema(make(parameters, np.zeros(0, np.int64)).schema)
    numbers = session.range(0, count, 1, max(1, min(parts, count)))
    return numbers.mapInArrow(partial(_each, make=make, parameters=parameters), schema)


def _each(
    batches: Iterator[pa.RecordBatch], make: Any, parameters: Parameters
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield make(parameters, np.asarray(batch.column("id")))


def _filters(parameters: Parameters, rows: Integers) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(filter_rows(filter_columns(parameters, rows)))


def _notifications(parameters: Parameters, rows: Integers) -> pa.RecordBatch:
    made = notification_columns(parameters, rows)
    return pa.RecordBatch.from_pydict(
        {"id": pa.array(rows), "notification": pa.array(made.texts(), pa.string())}
    )


def _operations(parameters: Parameters, interfaces: Integers) -> pa.RecordBatch:
    """Return what some interfaces do."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("sequence", "operation", "id", "filter", "interface")
    }
    for interface in interfaces.tolist():
        made = operations_of(parameters, interface)
        columns["sequence"] += made.sequence.tolist()
        columns["operation"] += ["add" if each else "remove" for each in made.adds.tolist()]
        columns["id"] += made.rows.tolist()
        columns["filter"] += filter_columns(parameters, made.rows).texts()
        columns["interface"] += interface_names(np.array([interface])) * len(made.rows)
    kinds = (pa.int64(), pa.string(), pa.int64(), pa.string(), pa.string())
    return pa.RecordBatch.from_arrays(
        [pa.array(each, kind) for each, kind in zip(columns.values(), kinds, strict=True)],
        list(columns),
    )

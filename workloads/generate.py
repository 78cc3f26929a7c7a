"""generate: a workload of random filters, notifications and operations, as Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from posetlib.array_types import IntArray
from posetlib.generating import (
    Parameters,
    generated_filters,
    generated_notifications,
    interface_names,
)
from posetlib.generating.scenarios import operations_of
from workloads.datasets import WORKLOAD_FORMAT, typed_for_text
from workloads.files import Place, new_output, write_json
from workloads.rows import filter_rows
from workloads.shares import parallelism

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["filters_of", "generate", "made_rows", "notifications_of", "operations_rows"]

#: The rows of a part: at least, where there are idle cores; and at most, so that one sees progress.
_FEWEST: Final = 10_000
_MOST: Final = 1 << 20


def generate(
    session: SparkSession,
    parameters: Parameters,
    out: Place,
    *,
    partitions: int | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write a workload; the same parameters give the same rows, however they are divided."""
    with new_output(out, overwrite=overwrite) as place:
        filters = filters_of(session, parameters, partitions)
        filters.write.parquet(place.child("filters").path)
        if parameters.notifications:
            told = notifications_of(session, parameters, partitions)
            told.write.parquet(place.child("notifications").path)
        if parameters.operations:
            done = operations_rows(session, parameters, partitions)
            done.write.parquet(place.child("operations").path)
        header = {
            "format": WORKLOAD_FORMAT,
            "version": 1,
            "seed": parameters.seed,
            "parameters": parameters.to_dict(),
        }
        write_json(place.child("workload.json"), header)
    return header


def filters_of(session: SparkSession, p: Parameters, partitions: int | None) -> DataFrame:
    """Return the filters of a workload, with typed columns."""
    return typed_for_text(made_rows(session, p, partitions, _filters, p.filters))


def notifications_of(session: SparkSession, p: Parameters, partitions: int | None) -> DataFrame:
    """Return the notifications of a workload."""
    return made_rows(session, p, partitions, _notifications, p.notifications)


def operations_rows(session: SparkSession, p: Parameters, partitions: int | None) -> DataFrame:
    """Return the operations of a workload, in their order."""
    rows = p.filters + 2 * p.operations
    done = made_rows(session, p, partitions, _operations, p.interfaces, rows)
    # As many ranges as parts, so that the files in their order are the sequence in its.
    parts = partitions or _parts(session, rows)
    return done.repartitionByRange(parts, "sequence").sortWithinPartitions("sequence")


def made_rows(
    session: SparkSession,
    parameters: Any,
    partitions: int | None,
    make: Any,
    count: int,
    rows: int | None = None,
) -> DataFrame:
    """Return the rows that a function makes of numbers, one call for each batch of them.

    There are ``rows`` of them, if not one for each number.
    """
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415

    schema = from_arrow_schema(make(parameters, np.zeros(0, np.int64)).schema)
    parts = partitions or _parts(session, count if rows is None else rows)
    numbers = session.range(0, count, 1, max(1, min(parts, count)))
    return numbers.mapInArrow(partial(_each, make=make, parameters=parameters), schema)


def _parts(session: SparkSession, rows: int) -> int:
    """Return how many parts rows are worth: few are made before another worker has started."""
    busy = min(parallelism(session), rows // _FEWEST)
    return max(1, busy, -(-rows // _MOST))


def _each(
    batches: Iterator[pa.RecordBatch], make: Any, parameters: Any
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield make(parameters, np.asarray(batch.column("id")))


def _filters(parameters: Parameters, rows: IntArray) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(filter_rows(generated_filters(parameters, rows)))


def _notifications(parameters: Parameters, rows: IntArray) -> pa.RecordBatch:
    made = generated_notifications(parameters, rows)
    return pa.RecordBatch.from_pydict(
        {"id": pa.array(rows), "notification": pa.array(made.texts(), pa.string())}
    )


def _operations(parameters: Parameters, interfaces: IntArray) -> pa.RecordBatch:
    """Return what some interfaces do."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("sequence", "operation", "id", "filter", "interface")
    }
    for interface in interfaces.tolist():
        made = operations_of(parameters, interface)
        columns["sequence"] += made.sequence.tolist()
        columns["operation"] += ["add" if each else "remove" for each in made.adds.tolist()]
        columns["id"] += made.rows.tolist()
        columns["filter"] += generated_filters(parameters, made.rows).texts()
        columns["interface"] += interface_names(np.array([interface])) * len(made.rows)
    kinds = (pa.int64(), pa.string(), pa.int64(), pa.string(), pa.string())
    return pa.RecordBatch.from_arrays(
        [pa.array(each, kind) for each, kind in zip(columns.values(), kinds, strict=True)],
        list(columns),
    )

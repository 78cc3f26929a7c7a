"""What jobs on a workload share: rows to read, a place to write to, and a file beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from workloads.datasets import EXPRESSIONS, BadRows, Workload, parquet_at, read_workload, typed
from workloads.errors import InputError
from workloads.expression_rows import readable_expressions
from workloads.files import Place, new_output, require_apart, write_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Job", "Options", "job_on", "require_own_ids"]


@dataclass
class Job:
    """A job in progress: ``rows`` are the workload's filters with typed columns."""

    read: Workload
    source: DataFrame
    rows: DataFrame
    bad: BadRows
    place: Place
    #: Whether the texts are expressions; then there are no typed columns.
    expressions: bool = False

    def done(self, name: str, header: Mapping[str, Any]) -> dict[str, Any]:
        """Write the file that says what was made, and return what it says."""
        made = {**header, "bad_rows": self.bad.to_dict()}
        write_json(self.place.child(name), made)
        return made


class Options(TypedDict, total=False):
    """What every job on a workload may be told; False if it is not."""

    skip_bad: bool
    overwrite: bool


@contextmanager
def job_on(
    session: SparkSession,
    workload: Place,
    out: Place,
    *,
    operations: bool = False,
    expressions: bool | None = False,
    **options: Unpack[Options],
) -> Iterator[Job]:
    """Read a workload, and give what a job needs; what it writes becomes the output at the end.

    ``expressions`` is None if the job takes expressions where the workload says that it has them,
    True if it is to take all texts for expressions, and False if it cannot.
    """
    skip_bad = options.get("skip_bad", False)
    require_apart(out, [workload])
    with new_output(out, overwrite=options.get("overwrite", False)) as place:
        read = read_workload(session, workload)
        if expressions is False and read.language == EXPRESSIONS:
            raise InputError(
                f"{read.told} has expressions, which this job does not take; match does, and "
                "validate --expressions"
            )
        source = read.operations if operations else read.filters
        what = "the workload's operations" if operations else "the workload's filters"
        if expressions or read.language == EXPRESSIONS:
            rows, bad = readable_expressions(source, read.types, skip_bad=skip_bad)
            yield Job(read, source, rows, bad, place, expressions=True)
            return
        with typed(source, read.types, what, skip_bad=skip_bad) as (rows, bad):
            yield Job(read, source, rows, bad, place)


def require_own_ids(session: SparkSession, place: Place, count: int) -> None:
    """Refuse a workload of which rows were chosen by so many ids, if other rows came along."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    written = parquet_at(session, place)
    if written.count() == count:
        return
    several = written.groupBy("id").count().where(f.col("count") > 1)
    ids, rows = several.agg(f.count("id"), f.sum("count")).collect()[0]
    shared = "id" if ids == 1 else "ids"
    raise InputError(
        f"the workload's filters: {rows:,} rows share {ids:,} {shared}, "
        "and each needs one of its own"
    )

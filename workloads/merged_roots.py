"""The root set of a snapshot, merged and unmerged: read from its files, and written beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from posetlib.constraints.types import TypeHierarchy
from posetlib.filters import parse_filter
from posetlib.merging import MergedSet
from posetlib.merging.merged_file import merged_data
from workloads.files import Place, write_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["MERGED", "root_rows", "write_merged"]

#: The name of the file, in the folder of a snapshot.
MERGED: Final = "merged.json"


def root_rows(nodes: DataFrame, edges: DataFrame) -> DataFrame:
    """Return the ids and texts of the nodes without a parent."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    children = edges.select(f.col("child").alias("id")).distinct()
    return nodes.select("id", "filter").join(children, "id", "left_anti")


def write_merged(
    session: SparkSession, place: Place, types: TypeHierarchy | None, *, perfect: bool
) -> None:
    """Merge the root set of the snapshot in a folder, in the driver, and write it there."""
    nodes, edges = (session.read.parquet(place.child(name).path) for name in ("nodes", "edges"))
    rows = root_rows(nodes, edges).orderBy("id").collect()
    merged = MergedSet(perfect=perfect)
    merged.update([parse_filter(row["filter"], types=types) for row in rows], ())
    write_json(place.child(MERGED), merged_data(merged.groups(), perfect=perfect, left_out={}))

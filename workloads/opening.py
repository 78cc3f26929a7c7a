"""Opening a snapshot for its checks: near if it is small enough for the driver, else spread out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from workloads.blocks import typed_names
from workloads.datasets import typed
from workloads.near import NearContext, open_near
from workloads.session import is_remote
from workloads.spread import SpreadContext, open_spread

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from workloads.context import Asked
    from workloads.datasets import SnapshotFiles

__all__ = ["Opened", "by_place", "open_context"]

T = TypeVar("T")
#: A table that can be checked.
Opened: TypeAlias = NearContext | SpreadContext

#: A client of Spark Connect checks a table of no more nodes itself: only rows can be sent.
_FEW_NODES: Final = 1 << 16


def by_place(
    context: Opened, near: Callable[[NearContext], T], spread: Callable[[SpreadContext], T]
) -> T:
    """Return what one of two functions finds: of a near table, or of one that is spread out."""
    return near(context) if isinstance(context, NearContext) else spread(context)


@contextmanager
def open_context(session: SparkSession, files: SnapshotFiles, asked: Asked) -> Iterator[Opened]:
    """Give a snapshot ready to be checked; InputError if it is not well formed."""
    with typed(
        files.nodes, files.types, "the snapshot's nodes", skip_bad=asked.skip_bad, verify=True
    ) as (nodes, bad):
        context: Opened | None = None
        if _may_be_near(session, files, nodes, asked.limit):
            context = open_near(session, files, asked, nodes, bad)
        if context is None:
            context = open_spread(session, files, asked, nodes, bad)
        try:
            yield context
        finally:
            context.close()


def _may_be_near(session: SparkSession, files: SnapshotFiles, nodes: DataFrame, limit: int) -> bool:
    """Return whether columns and links are, by all that is known, no more bytes than the limit."""
    if not limit:
        return False
    count, edges = files.nodes.count(), files.edges.count()
    if is_remote(session) and count > _FEW_NODES:
        return False
    # Packed columns of numbers are about as large as this; texts as their files, unpacked.
    columns = count * 8 * (len(typed_names(nodes)) + 2)
    return min(columns, 4 * files.size) <= limit and 24 * (count + edges) <= limit

"""What all checks of a snapshot share, wherever its rows are: in the driver, or with the workers.

A table of which the columns of filters and the links are no more than ``--broadcast-limit`` is a
``near.NearContext``; any larger one is a ``spread.SpreadContext``, of which nothing that grows with
its nodes comes to the driver.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from posetlib.constraints.types import TypeHierarchy
from posetlib.tables import Promises, structure_named
from workloads.datasets import BadRows, SnapshotFiles, Workload, is_typed, typed
from workloads.errors import InputError
from workloads.reports import WITNESSES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Asked", "Context", "texts_by_id", "twice_told"]

#: The texts of a table of no more bytes are all collected at once.
_FEW_BYTES: Final = 1 << 20
#: So many names of interfaces are told to somebody who gave one that is unknown.
_SOME_NAMES: Final = 10


@dataclass(frozen=True)
class Asked:
    """What a validation is asked for, beside the table itself."""

    workload: Workload | None = None
    other: SnapshotFiles | None = None
    neighbours: list[str] | None = None
    #: How many notifications match-agrees takes.
    notifications: int = 1000
    skip_bad: bool = False
    #: What may be collected or sent to all workers, in bytes.
    limit: int = 1 << 28
    #: How many violations of an invariant are shown with what they are.
    shown: int = WITNESSES


@dataclass
class Context(ABC):
    """A snapshot that can be checked: every id is there once, and every edge has two ends.

    Nodes have numbers, which are in the order of their ids. Interfaces have numbers as well, in the
    order of their names.
    """

    session: SparkSession
    files: SnapshotFiles
    asked: Asked
    bad: BadRows
    #: The nodes with typed columns, where they are.
    nodes: DataFrame
    facts: dict[str, Any] = field(default_factory=dict)

    #: The number that stands for the parent of roots.
    nobody: int = -1

    @property
    def structure(self) -> str:
        """The short name of the structure."""
        return self.files.structure

    @property
    def promises(self) -> Promises:
        """What the structure promises."""
        return structure_named(self.structure).promises

    @cached_property
    def kept(self) -> frozenset[str]:
        """The names of the invariants that the table should keep."""
        return self.promises.invariants(local=self.files.local)

    @property
    def types(self) -> TypeHierarchy | None:
        """The hierarchy of the snapshot's filters."""
        return self.files.types

    @property
    def workload(self) -> Workload | None:
        """What the table was built from."""
        return self.asked.workload

    @property
    def shown(self) -> int:
        """How many violations of an invariant are shown with what they are."""
        return self.asked.shown

    @property
    @abstractmethod
    def node_count(self) -> int:
        """The number of nodes."""

    @property
    @abstractmethod
    def edge_count(self) -> int:
        """The number of edges."""

    @abstractmethod
    def ids(self, numbers: Iterable[int]) -> list[int]:
        """Return the ids of nodes by their numbers."""

    @abstractmethod
    def interface_names(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the names of some interfaces by their numbers."""

    @abstractmethod
    def unknown_names(self, names: Iterable[str], some: int) -> tuple[list[str], list[str]]:
        """Return those of some names that no interface has, and the first names that there are."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what was sent to the workers or kept there."""

    @contextmanager
    def workload_filters(self) -> Iterator[DataFrame]:
        """Give the workload's filters with typed columns, where these are what the texts say."""
        workload = self.workload
        assert workload is not None
        doubtful = is_typed(workload.filters) and self.workload_columns[1] > 0
        with self._workload_rows(verify=doubtful) as rows:
            yield rows

    @contextmanager
    def _workload_rows(self, *, verify: bool) -> Iterator[DataFrame]:
        workload = self.workload
        assert workload is not None
        with typed(
            workload.filters,
            workload.types,
            "the workload's filters",
            skip_bad=self.asked.skip_bad,
            verify=verify,
        ) as (rows, _):
            yield rows

    @cached_property
    def workload_columns(self) -> tuple[int, int, list[tuple[int, str]]]:
        """The number of the workload's rows, of those whose columns are wrong, and the first."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        with self._workload_rows(verify=True) as rows:
            differs = f.sum(f.when(f.col("agrees"), 0).otherwise(1))
            count, wrong = rows.agg(f.count("id"), differs).collect()[0]
            some = []
            if wrong:
                bad = rows.where(~f.col("agrees")).orderBy("id").limit(self.shown)
                some = [(row["id"], row["filter"]) for row in bad.collect()]
            return count, wrong or 0, some

    def require_known_neighbours(self) -> None:
        """Refuse a neighbour that no node knows: it is more likely misspelt than idle."""
        if not self.asked.neighbours:
            return
        unknown, known = self.unknown_names(self.asked.neighbours, _SOME_NAMES + 1)
        if unknown:
            more = ", …" if len(known) > _SOME_NAMES else ""
            raise InputError(
                f"--neighbours: no node has the interface {', '.join(unknown)}; "
                f"there are {', '.join(known[:_SOME_NAMES]) or 'none'}{more}"
            )

    @cached_property
    def _all_texts(self) -> dict[int, str]:
        """The texts of a small table: one job for all witnesses."""
        rows = self.files.nodes.select("id", "filter").collect()
        return {row["id"]: row["filter"] for row in rows}

    def texts(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the texts of some filters, by number."""
        wanted = sorted(set(numbers))
        ids = self.ids(wanted)
        if wanted and self.files.size <= _FEW_BYTES:
            found = self._all_texts
        else:
            found = texts_by_id(self.files.nodes, ids)
        return {each: found[id_] for each, id_ in zip(wanted, ids, strict=True)}


def texts_by_id(rows: DataFrame, ids: list[int]) -> dict[int, str]:
    """Return the texts of a few rows."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    if not ids:
        return {}
    found = rows.where(f.col("id").isin(ids)).select("id", "filter").collect()
    return {row["id"]: row["filter"] for row in found}


def twice_told(id_: int, count: int, others: int) -> str:
    """Return the sentence about ids that are there several times."""
    nodes = "two" if count == 2 else f"{count:,}"
    more = f", and {others:,} more ids are there more than once" if others else ""
    return f"{nodes} nodes have the id {id_}{more}"

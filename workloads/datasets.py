"""Workloads and snapshots on disk: their schemas, and reading them without trust."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import FilterError
from workloads.errors import InputError
from workloads.files import Place, read_json
from workloads.rows import TYPED, parse_rows, typed_attributes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["BadRows", "SnapshotFiles", "Workload", "read_snapshot", "read_workload", "typed"]

WORKLOAD_FORMAT: Final = "posetlib-workload"
SNAPSHOT_FORMAT: Final = "posetlib-snapshot"
STRUCTURES: Final = ("fp", "pf", "bf", "nrf", "linear")
_SAMPLES: Final = 5


@dataclass
class BadRows:
    """Rows whose text is no filter: how many, and the first of them."""

    count: int = 0
    samples: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return them as a report shows them."""
        return {"count": self.count, "samples": self.samples}


@dataclass
class Workload:
    """Filters with an interface each, notifications, and what the file beside them says."""

    header: dict[str, Any]
    filters: DataFrame
    notifications: DataFrame | None
    types: TypeHierarchy | None


@dataclass
class SnapshotFiles:
    """The nodes and edges of a table on disk."""

    structure: str
    local: bool
    after_operations: bool
    types: TypeHierarchy | None
    nodes: DataFrame
    edges: DataFrame


def read_workload(session: SparkSession, place: Place) -> Workload:
    """Read a workload; what else than filters there is, may be absent."""
    if not place.exists():
        raise InputError(f"there is no workload at {place.path}")
    header = (
        read_json(place.child("workload.json"), "the workload")
        if place.child("workload.json").exists()
        else {}
    )
    filters = _parquet(
        session,
        place.child("filters"),
        "the workload's filters",
        {"id": {"bigint", "int"}, "filter": {"string"}, "interface": {"string"}},
    )
    notifications = None
    if place.child("notifications").exists():
        notifications = _parquet(
            session,
            place.child("notifications"),
            "the workload's notifications",
            {"id": {"bigint", "int"}, "notification": {"string"}},
        )
    return Workload(header, filters, notifications, read_types(header, "workload.json"))


def read_snapshot(session: SparkSession, place: Place) -> SnapshotFiles:
    """Read a snapshot; a format or version that is not ours is refused."""
    if not place.exists():
        raise InputError(f"there is no snapshot at {place.path}")
    header = read_json(place.child("snapshot.json"), "the snapshot")
    if header.get("format") != SNAPSHOT_FORMAT:
        raise InputError(f"the format is {header.get('format')!r}, not {SNAPSHOT_FORMAT!r}")
    if header.get("version") != 1 or isinstance(header.get("version"), bool):
        raise InputError(f"the version is {header.get('version')!r}; version 1 can be read")
    structure = header.get("structure")
    if structure not in STRUCTURES:
        raise InputError(f"unknown structure {structure!r}; known are {', '.join(STRUCTURES)}")
    local = header.get("local", False)
    if not isinstance(local, bool):
        raise InputError(f'"local" in snapshot.json is true or false, not {local!r}')
    nodes = _parquet(
        session,
        place.child("nodes"),
        "the snapshot's nodes",
        {"id": {"bigint", "int"}, "filter": {"string"}, "interfaces": {"array<string>"}},
    )
    if "index" in nodes.columns:
        # A column without any value may be of any type: it says nothing.
        if dict(nodes.dtypes)["index"] == "void":
            nodes = nodes.drop("index")
        else:
            _require(nodes, "the snapshot's nodes", {"index": {"array<string>"}})
    edges = _parquet(
        session,
        place.child("edges"),
        "the snapshot's edges",
        {"parent": {"bigint", "int"}, "child": {"bigint", "int"}},
    )
    after = bool(header.get("operations", False))
    return SnapshotFiles(structure, local, after, read_types(header, "snapshot.json"), nodes, edges)


def read_types(header: Mapping[str, Any], where: str) -> TypeHierarchy | None:
    """Return the hierarchy that a header has under "types"."""
    data = header.get("types")
    if data is None:
        return None
    try:
        return TypeHierarchy(data)
    except (FilterError, TypeError, AttributeError) as error:
        raise InputError(f'"types" in {where} is no hierarchy: {error}') from None


def _parquet(
    session: SparkSession, place: Place, what: str, columns: Mapping[str, set[str]]
) -> DataFrame:
    from pyspark.errors import AnalysisException  # noqa: PLC0415

    if not place.exists():
        raise InputError(f"{what}: there is no {place.path}")
    try:
        found = session.read.parquet(place.path)
    except AnalysisException as error:
        raise InputError(f"{what}: {place.path} has no Parquet to read") from error
    _require(found, what, columns)
    return found


def _require(rows: DataFrame, what: str, columns: Mapping[str, set[str]]) -> None:
    kinds = dict(rows.dtypes)
    missing = [name for name in columns if name not in kinds]
    if missing:
        names = "columns" if len(missing) > 1 else "column"
        raise InputError(f"{what} lack the {names} {', '.join(missing)}")
    for name, allowed in columns.items():
        if kinds[name] not in allowed:
            wanted = " or ".join(sorted(allowed))
            raise InputError(f"{what}: the column {name} is {kinds[name]}, not {wanted}")


# -- typed columns ---------------------------------------------------------------------------------


def typed(
    rows: DataFrame, types: TypeHierarchy | None, what: str, *, skip_bad: bool
) -> tuple[DataFrame, BadRows]:
    """Return rows with typed columns and no text where these say all, and which could not be read.

    What has typed columns is left as it is; other text is parsed once, and the outcome kept.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    if is_typed(rows):
        # Typed columns hold for the text that they were made from, and for no other.
        same = f.col("typed_for").eqNullSafe(f.xxhash64("filter")) & f.col("filter").isNotNull()
        rows = rows.drop("plain", "ranges").withColumn("plain", same)
        bad = _bad_rows(rows.where(~f.col("plain")), types)
        _refuse(bad, what, skip_bad)
        if bad.count:
            rows = rows.mapInArrow(partial(_readable, types=types), rows.schema)
        text = f.when(~f.col("plain"), f.col("filter"))
        return rows.drop("typed_for").withColumn("filter", text), bad
    names = [name for name in rows.columns if name not in ("plain", "ranges", "error")]
    schema = ", ".join(f"`{name}` {kind}" for name, kind in rows.select(names).dtypes)
    parsed = rows.select(names).mapInArrow(
        partial(_parsed, types=types), f"{schema}, {TYPED}, error string"
    ).persist()  # fmt: skip
    wrong = parsed.where(f.col("error").isNotNull())
    count = wrong.count()
    bad = BadRows(count, _sampled(wrong) if count else [])
    _refuse(bad, what, skip_bad)
    good = parsed.where(f.col("error").isNull()).drop("error")
    return good.withColumn("filter", f.when(~f.col("plain"), f.col("filter"))), bad


def typed_for_text(rows: DataFrame) -> DataFrame:
    """Return plain rows as they go to a disk: marked by the hash of the text that they are for."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    mark = f.when(f.col("plain"), f.xxhash64("filter"))
    return rows.withColumn("plain", mark).withColumnRenamed("plain", "typed_for")


def is_typed(rows: DataFrame) -> bool:
    """Return whether rows have typed columns, of the types that they should have."""
    kinds = dict(rows.dtypes)
    return kinds.get("typed_for") == "bigint" and all(
        kinds[f"{side}_{name}"] == "double"
        for name in typed_attributes(rows.columns)
        for side in ("lo", "hi")
    )


def _refuse(bad: BadRows, what: str, skip_bad: bool) -> None:
    if bad.count and not skip_bad:
        first = bad.samples[0]
        rows = "row has" if bad.count == 1 else "rows have"
        raise InputError(
            f"{what}: {bad.count:,} {rows} text that is no filter, the first with id "
            f"{first['id']}: {first['filter']!r}: {first['error']} "
            "(--skip-bad leaves such rows out)"
        )


def _sampled(wrong: DataFrame) -> list[dict[str, Any]]:
    return [
        {"id": row["id"], "filter": row["filter"], "error": row["error"]}
        for row in wrong.select("id", "filter", "error").orderBy("id").limit(_SAMPLES).collect()
    ]


def _bad_rows(rows: DataFrame, types: TypeHierarchy | None) -> BadRows:
    from pyspark.sql import functions as f  # noqa: PLC0415

    schema = f"id long, filter string, {TYPED}, error string"
    found = rows.select("id", "filter").mapInArrow(partial(_parsed, types=types), schema)
    wrong = found.where(f.col("error").isNotNull()).persist()
    found_any = wrong.count()
    bad = BadRows(found_any, _sampled(wrong) if found_any else [])
    wrong.unpersist()
    return bad


def _readable(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    """Keep the rows whose text can be read, or need not be."""
    for batch in batches:
        texts = batch.column("filter").to_pylist()
        plain = batch.column("plain").to_pylist()
        doubtful = [text for text, known in zip(texts, plain, strict=True) if not known]
        errors = iter(parse_rows(doubtful, types).errors.to_pylist())
        keep = [bool(known) or next(errors) is None for known in plain]
        yield batch.filter(pa.array(keep, pa.bool_()))


def _parsed(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        found = parse_rows(batch.column("filter").to_pylist(), types)
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, found.plain, found.ranges, found.errors],
            [*batch.schema.names, "plain", "ranges", "error"],
        )


def read_operations(session: SparkSession, place: Place) -> DataFrame:
    """Read the operations of a workload."""
    return _parquet(
        session,
        place.child("operations"),
        "the workload's operations",
        {
            "sequence": {"bigint", "int"},
            "operation": {"string"},
            "id": {"bigint", "int"},
            "filter": {"string"},
            "interface": {"string"},
        },
    )

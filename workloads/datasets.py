"""Workloads and snapshots on disk: their schemas, and reading them without trust."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import FilterError, SnapshotError
from posetlib.merging.merged_file import MergedFile
from posetlib.tables import structure_names
from workloads.errors import MARK, InputError, cause_of, is_unreadable
from workloads.files import Place, read_json
from workloads.rows import TYPED, columns_agree_with, parse_rows, typed_attributes, unreadable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = [
    "EXPRESSIONS",
    "FILTERS",
    "BadRows",
    "SnapshotFiles",
    "Workload",
    "given_snapshot",
    "given_workload",
    "read_snapshot",
    "read_workload",
    "typed",
]

WORKLOAD_FORMAT: Final = "posetlib-workload"
#: What the filters of a workload may be, as its header says under "language".
FILTERS: Final = "filters"
EXPRESSIONS: Final = "expressions"
SNAPSHOT_FORMAT: Final = "posetlib-snapshot"
_SAMPLES: Final = 5


@dataclass
class BadRows:
    """Rows whose text is no filter: how many, and the first of them."""

    count: int = 0
    samples: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return them as a report shows them."""
        return {"count": self.count, "samples": self.samples}


#: The types that a column may have in a file, and the one that it has from there on.
_INTEGERS: Final = {"bigint": "bigint", "int": "bigint", "smallint": "bigint", "tinyint": "bigint",
                    "decimal(20,0)": "bigint"}  # fmt: skip
_STRINGS: Final = {"string": "string"}
_LISTS: Final = {"array<string>": "array<string>"}
_Kinds: TypeAlias = Mapping[str, str]


_FILTER_COLUMNS: Final[Mapping[str, _Kinds]] = {
    "id": _INTEGERS, "filter": _STRINGS, "interface": _STRINGS
}  # fmt: skip
_NOTIFICATION_COLUMNS: Final[Mapping[str, _Kinds]] = {"id": _INTEGERS, "notification": _STRINGS}
_OPERATION_COLUMNS: Final[Mapping[str, _Kinds]] = {
    "sequence": _INTEGERS, "operation": _STRINGS, **_FILTER_COLUMNS
}  # fmt: skip
_NODE_COLUMNS: Final[Mapping[str, _Kinds]] = {
    "id": _INTEGERS, "filter": _STRINGS, "interfaces": _LISTS
}  # fmt: skip
_EDGE_COLUMNS: Final[Mapping[str, _Kinds]] = {"parent": _INTEGERS, "child": _INTEGERS}
#: Rows that nobody has written are taken to have as many bytes each.
_BYTES_OF_A_ROW: Final = 100


class Workload(ABC):
    """Filters with an interface each, and what is said beside them; the rest if asked for."""

    #: Where it is, in a sentence, and in a report; None if it is in no file.
    told: str
    path: str | None
    header: dict[str, Any]
    filters: DataFrame
    types: TypeHierarchy | None

    @property
    def language(self) -> str:
        """What the texts of the filters are: filters, or expressions; InputError otherwise."""
        language = self.header.get("language", FILTERS)
        if language not in (FILTERS, EXPRESSIONS):
            raise InputError(
                f'"language" in workload.json is {FILTERS} or {EXPRESSIONS}, not {language!r}'
            )
        return str(language)

    @property
    @abstractmethod
    def notifications(self) -> DataFrame | None:
        """The notifications, if there are any."""

    @property
    @abstractmethod
    def has_operations(self) -> bool:
        """Whether there are operations."""

    @property
    @abstractmethod
    def operations(self) -> DataFrame:
        """The operations in sequence; InputError if there are none."""

    @abstractmethod
    def bytes_of(self, name: str) -> int:
        """Return how large the ``filters`` or ``operations`` are, about."""


class WorkloadFiles(Workload):
    """A workload on a disk."""

    def __init__(self, session: SparkSession, place: Place, header: dict[str, Any]) -> None:
        self._session = session
        self._place = place
        self.told = f"the workload at {place.path}"
        self.path = place.absolute
        self.header = header
        self.types = read_types(header, "workload.json")
        self.filters = self._rows("filters", _FILTER_COLUMNS)

    @cached_property
    def notifications(self) -> DataFrame | None:
        """The notifications, if there are any."""
        if not self._place.child("notifications").exists():
            return None
        return self._rows("notifications", _NOTIFICATION_COLUMNS)

    @cached_property
    def has_operations(self) -> bool:
        """Whether there are operations."""
        return self._place.child("operations").exists()

    @cached_property
    def operations(self) -> DataFrame:
        """The operations in sequence; InputError if there are none."""
        return self._rows("operations", _OPERATION_COLUMNS)

    @cached_property
    def advertisements(self) -> DataFrame | None:
        """The advertisements of a workload of expressions, if there are any."""
        if not self._place.child("advertisements").exists():
            return None
        return self._rows("advertisements", _FILTER_COLUMNS)

    def bytes_of(self, name: str) -> int:
        """Return the bytes of the files."""
        return self._place.child(name).size()

    def _rows(self, name: str, columns: Mapping[str, _Kinds]) -> DataFrame:
        return _parquet(self._session, self._place.child(name), f"the workload's {name}", columns)


class GivenWorkload(Workload):
    """A workload of rows that somebody has."""

    def __init__(
        self,
        filters: DataFrame,
        notifications: DataFrame | None,
        operations: DataFrame | None,
        types: TypeHierarchy | None,
    ) -> None:
        self.told = "the workload"
        self.path = None
        self.header = {}
        self.types = types
        self.filters = _chosen(filters, "the workload's filters", _FILTER_COLUMNS)
        self._notifications = notifications
        self._operations = operations

    @cached_property
    def notifications(self) -> DataFrame | None:
        """The notifications, if there are any."""
        if self._notifications is None or self._notifications.isEmpty():
            return None
        return _chosen(self._notifications, "the notifications", _NOTIFICATION_COLUMNS)

    @property
    def has_operations(self) -> bool:
        """Whether there are operations."""
        return self._operations is not None

    @cached_property
    def operations(self) -> DataFrame:
        """The operations in sequence; InputError if there are none."""
        if self._operations is None:
            raise InputError("the workload has no operations")
        return _chosen(self._operations, "the workload's operations", _OPERATION_COLUMNS)

    def bytes_of(self, name: str) -> int:
        """Return about how large the rows are."""
        rows = self.filters if name == "filters" else self.operations
        return rows.count() * _BYTES_OF_A_ROW


@dataclass
class SnapshotFiles:
    """The nodes and edges of a table on disk."""

    structure: str
    local: bool
    after_operations: bool
    types: TypeHierarchy | None
    nodes: DataFrame
    edges: DataFrame
    #: The bytes of the nodes, about.
    size: int
    #: Where it is, for a report; None if it is in no file.
    path: str | None = None
    #: The merged root set that lies beside the table, if there is one.
    merged: MergedFile | None = None


def read_workload(session: SparkSession, place: Place) -> Workload:
    """Read a workload; what else than filters there is, may be absent."""
    if not place.exists():
        raise InputError(f"there is no workload at {place.path}")
    header = (
        read_json(place.child("workload.json"), "the workload")
        if place.child("workload.json").exists()
        else {}
    )
    return WorkloadFiles(session, place, header)


def read_claims(session: SparkSession, place: Place, what: str, *, matches: bool) -> DataFrame:
    """Read what is said of expressions: id and filter, or id and interfaces of ``match``."""
    columns: Mapping[str, _Kinds] = {
        "id": _INTEGERS, **({"interfaces": _LISTS} if matches else {"filter": _STRINGS})
    }  # fmt: skip
    return _parquet(session, place, what, columns)


def given_workload(
    filters: DataFrame,
    notifications: DataFrame | None,
    operations: DataFrame | None,
    types: TypeHierarchy | None,
) -> Workload:
    """Return rows as a workload; InputError if they lack a column."""
    return GivenWorkload(filters, notifications, operations, types)


def given_snapshot(
    nodes: DataFrame,
    edges: DataFrame,
    structure: str,
    *,
    local: bool,
    types: TypeHierarchy | None,
    after_operations: bool,
) -> SnapshotFiles:
    """Return rows as a snapshot; InputError if they lack a column."""
    _known_structure(structure)
    nodes = _chosen(nodes, "the nodes", _NODE_COLUMNS, {"index": _LISTS})
    size = nodes.count() * _BYTES_OF_A_ROW
    edges = _chosen(edges, "the edges", _EDGE_COLUMNS)
    return SnapshotFiles(structure, local, after_operations, types, nodes, edges, size)


def read_snapshot(session: SparkSession, place: Place) -> SnapshotFiles:
    """Read a snapshot; a format or version that is not ours is refused."""
    if not place.exists():
        raise InputError(f"there is no snapshot at {place.path}")
    header = read_json(place.child("snapshot.json"), "the snapshot")
    if header.get("format") != SNAPSHOT_FORMAT:
        raise InputError(f"the format is {header.get('format')!r}, not {SNAPSHOT_FORMAT!r}")
    if header.get("version") != 1 or isinstance(header.get("version"), bool):
        raise InputError(f"the version is {header.get('version')!r}; version 1 can be read")
    structure = _known_structure(header.get("structure"))
    local = header.get("local", False)
    if not isinstance(local, bool):
        raise InputError(f'"local" in snapshot.json is true or false, not {local!r}')
    nodes = _parquet(
        session,
        place.child("nodes"),
        "the snapshot's nodes",
        _NODE_COLUMNS,
        {"index": _LISTS},
    )
    edges = _parquet(session, place.child("edges"), "the snapshot's edges", _EDGE_COLUMNS)
    after = bool(header.get("operations", False))
    types = read_types(header, "snapshot.json")
    size = place.child("nodes").size()
    merged = _read_merged(place.child("merged.json"))
    path = place.absolute
    return SnapshotFiles(structure, local, after, types, nodes, edges, size, path, merged)


def _known_structure(structure: object) -> str:
    if not isinstance(structure, str) or structure not in structure_names():
        known = ", ".join(structure_names())
        raise InputError(f"unknown structure {structure!r}; known are {known}")
    return structure


def _read_merged(place: Place) -> MergedFile | None:
    """Read the merged root set of a snapshot, None if there is none."""
    if not place.exists():
        return None
    try:
        return MergedFile.from_dict(read_json(place, "the merged set"))
    except SnapshotError as error:
        raise InputError(f"the merged set: {place.path}: {error}") from None


def read_types(header: Mapping[str, Any], where: str) -> TypeHierarchy | None:
    """Return the hierarchy that a header has under "types"."""
    data = header.get("types")
    if data is None:
        return None
    try:
        return TypeHierarchy(data)
    except (FilterError, TypeError, AttributeError) as error:
        raise InputError(f'"types" in {where} is no hierarchy: {error}') from None


def parquet_at(session: SparkSession, place: Place) -> DataFrame:
    """Return the rows of a folder of Parquet files."""
    # The option keeps Spark from taking a path for a pattern: `s[1]` is a name.
    return session.read.option("__globPaths__", "false").parquet(place.address)


def _parquet(
    session: SparkSession,
    place: Place,
    what: str,
    columns: Mapping[str, _Kinds],
    optional: Mapping[str, _Kinds] | None = None,
) -> DataFrame:
    """Return the rows of a folder, as ``_chosen`` does; InputError if there is none."""
    from pyspark.errors import PySparkException  # noqa: PLC0415

    if not place.exists():
        raise InputError(f"{what}: there is no {place.path}")
    try:
        found = parquet_at(session, place)
        # A client of Spark Connect comes to the files only now.
        _ = found.columns
    except InputError:
        raise
    except Exception as error:
        if not isinstance(error, PySparkException) and "py4j" not in type(error).__module__:
            raise
        reason = cause_of(error)
        raise InputError(f"{what}: {place.path} has no Parquet to read: {reason}") from error
    return _chosen(found, what, columns, optional)


def _chosen(
    found: DataFrame,
    what: str,
    columns: Mapping[str, _Kinds],
    optional: Mapping[str, _Kinds] | None = None,
) -> DataFrame:
    """Return the columns that are asked for, typed ones beside them, and none that is foreign."""
    there = {name: kinds for name, kinds in (optional or {}).items() if name in found.columns}
    # A column without any value may be of any type: it says nothing.
    there = {name: kinds for name, kinds in there.items() if dict(found.dtypes)[name] != "void"}
    wanted = {**columns, **there}
    _require(found, what, wanted)
    chosen = [_as_kind(found, name, kinds) for name, kinds in wanted.items()]
    beside = typed_columns(found) if "filter" in columns else []
    return found.select(*chosen, *(quoted(name) for name in beside if name not in wanted))


def typed_columns(rows: DataFrame) -> list[str]:
    """Return the names of the typed columns, if rows have them, of the types that they should have.

    Whatever else stands beside the text is somebody else's, and says nothing here.
    """
    kinds = dict(rows.dtypes)
    if kinds.get("typed_for") != "bigint":
        return []
    names = typed_attributes(rows.columns)
    if any(kinds[f"{side}_{name}"] != "double" for name in names for side in ("lo", "hi")):
        return []
    found = ["typed_for"]
    for name in names:
        found += [f"lo_{name}", f"hi_{name}"]
        if kinds.get(f"open_{name}") in ("tinyint", "smallint", "int", "bigint"):
            found.append(f"open_{name}")
    return found + (["type"] if kinds.get("type") == "string" else [])


def quoted(name: str) -> Column:
    """Return a column by its name, whatever is in it: a dot, a backtick."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    inner = name.replace("`", "``")
    return f.col(f"`{inner}`")


def _as_kind(rows: DataFrame, name: str, kinds: _Kinds) -> Column:
    """Return a column as the jobs take it; a number that is too great for it is told."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    kind = dict(rows.dtypes)[name]
    target = kinds.get(kind, next(iter(kinds.values())))
    column = quoted(name)
    if kind == target:
        return column
    if kind.startswith("decimal"):
        told = f.concat(f.lit(f"{MARK}the {name} "), column.cast("string"),
                        f.lit(" is more than 9223372036854775807"))  # fmt: skip
        fits = column.between(f.lit(-(1 << 63)), f.lit((1 << 63) - 1)) | column.isNull()
        column = f.when(fits, column).otherwise(f.raise_error(told))
    return column.cast(target).alias(name)


def _require(rows: DataFrame, what: str, columns: Mapping[str, _Kinds]) -> None:
    kinds = dict(rows.dtypes)
    missing = [name for name in columns if name not in kinds]
    if missing:
        names = "columns" if len(missing) > 1 else "column"
        raise InputError(f"{what} lack the {names} {', '.join(missing)}")
    for name, allowed in columns.items():
        if kinds[name] in allowed or kinds[name] == "void":
            continue
        # pandas writes the columns of a table without rows as numbers, or as nothing.
        if kinds[name] in ("double", "array<void>", "int") and rows.isEmpty():
            continue
        wanted = " or ".join(sorted({"bigint", "int"} if allowed is _INTEGERS else allowed))
        raise InputError(f"{what}: the column {name} is {kinds[name]}, not {wanted}")


# -- typed columns ---------------------------------------------------------------------------------


@contextmanager
def typed(
    rows: DataFrame,
    types: TypeHierarchy | None,
    what: str,
    *,
    skip_bad: bool,
    verify: bool = False,
) -> Iterator[tuple[DataFrame, BadRows]]:
    """Give rows with typed columns, text only where these do not say all, and the rows left out.

    Rows without typed columns are parsed as they are read. Text that is no filter is left out, if
    so asked, by a pass of its own. Otherwise whoever comes to such a text fails, and only then are
    these texts counted, to be refused in a sentence.

    With ``verify`` typed columns are held against the text of every row, and are not used where the
    two differ; the column ``agrees`` says where. Rows without typed columns have none.
    """
    doubtful = rows if verify else _unknown(rows)
    if skip_bad:
        bad = _bad_rows(doubtful, types)
        yield _shortened(_read(rows, types, skip_bad=bad.count > 0, verify=verify)), bad
        return
    try:
        yield _shortened(_read(rows, types, skip_bad=False, verify=verify)), BadRows()
    except Exception as error:
        if is_unreadable(error):
            _refuse(_bad_rows(doubtful, types), what)
        raise


def _read(
    rows: DataFrame, types: TypeHierarchy | None, *, skip_bad: bool, verify: bool
) -> DataFrame:
    """Return rows with typed columns; bad ones fail as they are parsed, or are left out."""
    for name in ("id", "interface"):
        if name in rows.columns:
            rows = rows.withColumn(name, _required(name))
    if is_typed(rows):
        rows = rows.drop("plain", "ranges")
        if verify:
            return _verified(rows, types, skip_bad=skip_bad)
        known = rows.withColumn("plain", _is_known()).drop("typed_for")
        return (
            known.mapInArrow(partial(_readable, types=types), known.schema) if skip_bad else known
        )
    rows, lists = _lists_as_text(rows.drop("plain", "ranges"))
    parse = partial(_parsed, types=types, skip_bad=skip_bad)
    return _lists_again(rows.mapInArrow(parse, f"{ddl(rows)}, {TYPED}"), lists)


#: The lists of nodes while they pass through Python, in one text.
_LISTS_TEXT: Final = "lists as text"


def _lists_as_text(rows: DataFrame) -> tuple[DataFrame, StructType]:
    """Return rows in which the lists of nodes are one text, and what that text is.

    Spark looks at the size of a batch after every row, and for a list that takes as many steps as
    the batch has rows: of a million nodes in large batches, nearly all time went there.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415
    from pyspark.sql.types import StructType  # noqa: PLC0415

    kinds = dict(rows.dtypes)
    names = [each for each in ("interfaces", "index") if kinds.get(each) == "array<string>"]
    lists = StructType([rows.schema[name] for name in names])
    if lists.names:
        text = f.to_json(f.struct(*lists.names)).alias(_LISTS_TEXT)
        rows = rows.select(text, "*").drop(*lists.names)
    return rows, lists


def _lists_again(rows: DataFrame, lists: StructType) -> DataFrame:
    """Return rows with the lists that ``_lists_as_text`` took out."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    if not lists.names:
        return rows
    read = rows.withColumn(_LISTS_TEXT, f.from_json(_LISTS_TEXT, lists))
    return read.withColumns({name: f.col(_LISTS_TEXT)[name] for name in lists.names}).drop(
        _LISTS_TEXT
    )


def _verified(rows: DataFrame, types: TypeHierarchy | None, *, skip_bad: bool) -> DataFrame:
    """Return rows whose typed columns count where they are made for the text, and say the same."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    marked = rows.withColumns({"plain": _is_known(), "claimed": f.col("typed_for").isNotNull()})
    marked, lists = _lists_as_text(marked.drop("typed_for"))
    compare = partial(_compared, types=types, skip_bad=skip_bad)
    made = marked.mapInArrow(compare, f"{ddl(marked.drop('claimed'))}, agrees boolean")
    return _lists_again(made, lists)


def _required(name: str) -> Column:
    """Return a column that must not be null: whoever comes to a row where it is, fails."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    where = f.when(f.col("filter").isNull(), "null").otherwise(f.col("filter"))
    told = f.concat(f.lit(f"{MARK}the row with the filter "), where, f.lit(f" has no {name}"))
    return f.coalesce(f.col(name), f.raise_error(told))


def _shortened(rows: DataFrame) -> DataFrame:
    """Return rows without the texts that nobody needs to look at."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    return rows.withColumn("filter", f.when(~f.col("plain"), f.col("filter")))


def _is_known() -> Column:
    """Typed columns hold for the text that they were made from, and for no other."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    return f.col("typed_for").eqNullSafe(f.xxhash64("filter")) & f.col("filter").isNotNull()


def _unknown(rows: DataFrame) -> DataFrame:
    """Return the rows whose text has to be parsed."""
    return rows.where(~_is_known()) if is_typed(rows) else rows


def ddl(rows: DataFrame) -> str:
    """Return the columns of rows as Spark takes them for the outcome of a function."""
    return ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in rows.dtypes)


def typed_for_text(rows: DataFrame) -> DataFrame:
    """Return plain rows as they go to a disk: marked by the hash of the text that they are for."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    mark = f.when(f.col("plain"), f.xxhash64("filter"))
    return rows.withColumn("plain", mark).withColumnRenamed("plain", "typed_for")


def is_typed(rows: DataFrame) -> bool:
    """Return whether rows have typed columns, of the types that they should have."""
    return bool(typed_columns(rows))


def _refuse(bad: BadRows, what: str) -> None:
    if bad.count:
        rows = "row has" if bad.count == 1 else "rows have"
        first = bad.samples[0]
        raise InputError(
            f"{what}: {bad.count:,} {rows} text that is no filter, the first with id "
            f"{first['id']}: {first['filter']!r}: {first['error']} "
            "(--skip-bad leaves such rows out)"
        )


def _bad_rows(rows: DataFrame, types: TypeHierarchy | None) -> BadRows:
    """Return how many rows have a text that is no filter, and those with the lowest ids."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    wrong = rows.select("id", "filter").mapInArrow(
        partial(_wrong, types=types), "id long, filter string, error string"
    )
    wrong = wrong.persist()
    try:
        count = wrong.count()
        first = wrong.orderBy(f.col("id")).limit(_SAMPLES).collect() if count else []
        return BadRows(count, [row.asDict() for row in first])
    finally:
        wrong.unpersist()


def _wrong(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None
) -> Iterator[pa.RecordBatch]:
    """Keep the rows whose text is no filter, and say what is wrong with it."""
    for batch in batches:
        errors = parse_rows(batch.column("filter").to_pylist(), types).errors
        told = pa.RecordBatch.from_arrays(
            [batch.column("id").cast(pa.int64()), batch.column("filter"), errors],
            ["id", "filter", "error"],
        )
        yield told.filter(errors.is_valid())


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


def _compared(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None, *, skip_bad: bool
) -> Iterator[pa.RecordBatch]:
    """Say of each row whether its typed columns, if they claim anything, are what its text says."""
    for batch in batches:
        texts = batch.column("filter")
        agrees, errors = columns_agree_with(batch, texts, types)
        if not skip_bad and errors.null_count < len(errors):
            at = errors.is_valid().index(True).as_py()
            raise unreadable(texts[at].as_py(), errors[at].as_py())
        told = pc.or_(pc.invert(batch.column("claimed")), agrees)
        names = [name for name in batch.schema.names if name not in ("claimed", "plain")]
        made = pa.RecordBatch.from_arrays(
            [*(batch.column(name) for name in names), pc.and_(batch.column("plain"), agrees), told],
            [*names, "plain", "agrees"],
        )
        yield made.filter(errors.is_null())


def _parsed(
    batches: Iterator[pa.RecordBatch], types: TypeHierarchy | None, *, skip_bad: bool
) -> Iterator[pa.RecordBatch]:
    """Add typed columns to rows of text; bad ones are left out, or else the first is told."""
    for batch in batches:
        texts = batch.column("filter").to_pylist()
        found = parse_rows(texts, types)
        if not skip_bad and found.errors.null_count < len(found.errors):
            at = found.errors.is_valid().index(True).as_py()
            raise unreadable(texts[at], found.errors[at].as_py())
        made = pa.RecordBatch.from_arrays(
            [*batch.columns, found.plain, found.ranges],
            [*batch.schema.names, "plain", "ranges"],
        )
        yield made.filter(found.errors.is_null())

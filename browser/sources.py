"""Where filters come from, read without any trust: typed text and uploads.

Whatever is wrong is a SourceError whose message names the place, for people to read. Nothing is
unpickled or evaluated, and nothing is read beyond the limits.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import posetlib as pl
from browser.config import Limits
from browser.json_places import places
from posetlib.tables import Operation, filter_relation, graph_files

__all__ = [
    "LINE",
    "NAME_CHARS",
    "Source",
    "SourceError",
    "read_expression",
    "read_files",
    "read_filter",
    "read_line",
    "read_row",
    "read_text",
    "read_types",
    "read_types_text",
]

Parsed = TypeVar("Parsed")


class SourceError(ValueError):
    """Something that cannot be read; the message says what and where."""


@dataclass(frozen=True, slots=True)
class Source:
    """Operations in order, and if they come from a snapshot, the snapshot."""

    title: str
    operations: tuple[Operation, ...]
    snapshot: pl.Snapshot[Any] | None = None
    #: What the reader should know, such as that not all was read.
    note: str = ""
    notifications: tuple[str, ...] = ()
    types: pl.TypeHierarchy | None = None
    #: Whether the snapshot is a part of a larger table, of which nothing can be checked.
    part: bool = False
    #: What there is to see after 0, 1, 2 … operations; empty where nobody has written it.
    captions: tuple[str, ...] = ()


#: A line: a sign, the name of an interface, and the rest, each of the first two where it is there.
LINE: Final = re.compile(r"(?P<sign>[+-]\s*)?(?:(?P<interface>[^\s:\"]+):\s+)?(?P<filter>.*)\Z")
#: The most characters of the name of an interface.
NAME_CHARS: Final = 100


# -- typed text ------------------------------------------------------------------------------------


def read_text(text: str, limits: Limits, title: str = "Typed filters") -> Source:
    r"""Read one operation per line.

    ``I1: x > 3`` adds, ``- I1: x > 3`` removes, ``drop I1`` drops an interface, ``#`` begins a
    comment. A filter without an interface gets one of its own. ``types: {"B": ["A"]}`` gives the
    hierarchy for ``isa``.

    >>> [str(each) for each in read_text("I1: x > 3\n- I1: x > 3", Limits()).operations]
    ['add x > 3 (I1)', 'remove x > 3 (I1)']
    """
    operations: list[Operation] = []
    types: pl.TypeHierarchy | None = None
    _check_total(len(text), limits)
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if len(operations) >= limits.steps:
            raise SourceError(f"line {number}: more than {limits.steps:,} operations")
        if stripped.startswith("types:"):
            types = read_types_text(stripped.removeprefix("types:"), number, limits)
            continue
        operation = read_line(line, limits, number, types=types, unnamed=len(operations) + 1)
        operations.append(operation)
    if not operations:
        raise SourceError("there is no filter in this text")
    return Source(title, tuple(operations), types=types)


def read_line(
    line: str,
    limits: Limits,
    number: int = 1,
    *,
    types: pl.TypeHierarchy | None = None,
    unnamed: int = 1,
) -> Operation:
    """Read the operation of one line; ``unnamed`` numbers the interface of a filter without one."""
    dropped = re.fullmatch(r"\s*drop\s+(\S+)\s*", line)
    if dropped:
        return Operation("drop_interface", None, _interface(dropped[1], f"line {number}"))
    indent = len(line) - len(line.lstrip())
    found = LINE.match(line, indent)
    assert found is not None  # the last group takes anything
    name = "remove" if (found["sign"] or "").startswith("-") else "add"
    interface = _interface(found["interface"] or f"I{unnamed}", f"line {number}")
    start = found.start("filter")
    filter_ = read_filter(found["filter"], limits, types, f"line {number}", column=start)
    return Operation(name, filter_, interface)


def read_types_text(text: str, number: int, limits: Limits) -> pl.TypeHierarchy:
    """Return the hierarchy of types that stands on a line, as JSON."""
    try:
        return read_types(json.loads(text), limits)
    except SourceError as error:
        raise SourceError(f"line {number}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise SourceError(f"line {number}: no hierarchy of types: {error}") from None


def read_types(data: object, limits: Limits) -> pl.TypeHierarchy:
    """Return the hierarchy of types that a JSON value is; a large one is not even tried."""
    if isinstance(data, dict):
        above = (len(each) if isinstance(each, list) else 0 for each in data.values())
        if len(data) > limits.types or sum(above) > 4 * limits.types:
            raise SourceError(f"a hierarchy of more than {limits.types:,} types is too large")
    try:
        return pl.TypeHierarchy(data)  # type: ignore[arg-type]  # which is checked there
    except (ValueError, TypeError, AttributeError) as error:
        raise SourceError(f"no hierarchy of types: {error}") from None


def _interface(name: str, where: str) -> str:
    if len(name) > NAME_CHARS:
        raise SourceError(f"{where}: the name of an interface has {len(name):,} characters")
    return name


def read_filter(
    text: str, limits: Limits, types: pl.TypeHierarchy | None, where: str, column: int | None = None
) -> pl.Filter:
    """Read a filter; ``where`` is told when it is bad, and ``column`` is where it begins there."""
    return _parsed(pl.parse_filter, text, limits, types, where, column)


def read_expression(
    text: str, limits: Limits, types: pl.TypeHierarchy | None, where: str, column: int | None = None
) -> pl.Expression:
    """Read an expression, as ``read_filter`` reads a filter."""
    return _parsed(pl.parse_expression, text, limits, types, where, column)


def _parsed(
    parse: Callable[..., Parsed],
    text: str,
    limits: Limits,
    types: pl.TypeHierarchy | None,
    where: str,
    column: int | None,
) -> Parsed:
    _check_length(text, limits, where)
    try:
        return parse(text, types=types)
    except pl.FilterSyntaxError as error:
        wanted = "; expected " + " or ".join(error.expected) if error.expected else ""
        if column is None:
            raise SourceError(f"{where}: {error.message}{wanted}: {_quoted(text)}") from None
        at = f"{where}, column {column + error.column}"
        raise SourceError(f"{at}: {error.message}{wanted}") from None
    except pl.FilterError as error:
        raise SourceError(f"{where}: {error}") from None
    except RecursionError:
        raise SourceError(f"{where}: it is nested too deeply") from None


def _quoted(text: str) -> str:
    return f"«{text[:80]}…»" if len(text) > 80 else f"«{text}»"


# -- uploads ---------------------------------------------------------------------------------------


def read_files(files: Sequence[tuple[str, bytes]], limits: Limits) -> Source:
    """Read an upload of one file, or of the Parquet parts of a workload.

    A snapshot or trace (JSON), a graph of another program (GraphML, node-link JSON), a workload
    (Parquet, JSON lines, a JSON list, CSV), or text with one operation per line.
    """
    if not files:
        raise SourceError("no file was sent")
    total = sum(len(content) for _, content in files)
    if total > limits.upload_bytes:
        raise SourceError(
            f"{_names(files)}: {total:,} bytes are more than the {limits.upload_bytes:,} that an "
            "upload may have; use --workload for a large workload"
        )
    try:
        if all(content.startswith(b"PAR1") for _, content in files):
            return _parquet(files, limits)
        if len(files) > 1:
            raise SourceError("several files at once can only be the Parquet parts of a workload")
        (name, content) = files[0]
        return _one_file(name, content, limits)
    except SourceError as error:
        raise SourceError(f"{_names(files)}: {error}") from error.__cause__
    except RecursionError:
        raise SourceError(f"{_names(files)}: nested too deeply to be read") from None


def _names(files: Sequence[tuple[str, bytes]]) -> str:
    first = files[0][0][:NAME_CHARS]
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"


def _one_file(name: str, content: bytes, limits: Limits) -> Source:
    if not content.strip():
        raise SourceError("the file is empty")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceError(f"line {line}: not UTF-8 text (byte {error.start:,})") from None
    ending = Path(name).suffix.lower()
    if ending in {".jsonl", ".ndjson"}:
        return _rows(_json_lines(text), name, limits)
    if ending == ".csv":
        return _rows(_csv_lines(text), name, limits)
    if ending == ".graphml" or text.lstrip()[:1] == "<":
        return _graphml(content, name, limits)
    if text.lstrip()[:1] in ("{", "["):
        return _json(text, name, limits)
    if ending == ".json":
        _loads(text)
    return read_text(text, limits, title=name)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(
            f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from None
    except ValueError as error:  # such as a number of a million digits
        raise SourceError(f"not JSON: {error}") from None


def _json(text: str, name: str, limits: Limits) -> Source:
    data = _loads(text)
    if isinstance(data, list):
        return _rows(_listed(data), name, limits)
    if _is_node_link(data):
        return _foreign(lambda: graph_files.read_node_link(data), name, limits)
    kind = data.get("format") if isinstance(data, dict) else None
    listed = {"posetlib-snapshot": "nodes", "posetlib-trace": "steps"}
    if kind not in listed:
        raise SourceError(
            'neither a snapshot nor a trace: "format" is '
            f"{'missing' if kind is None else _quoted(str(kind))}, and would be "
            '"posetlib-snapshot" or "posetlib-trace"'
        )
    members = data.get(listed[kind])
    if isinstance(members, list) and len(members) > limits.steps:
        raise SourceError(
            f"{len(members):,} {listed[kind]} are more than the {limits.steps:,} that the page "
            "takes; build large tables with the jobs and look at them by --workload"
        )
    if data.get("types") is not None:
        read_types(data["types"], limits)
    try:
        _check_members(members, listed[kind][:-1], limits)
    except SourceError as error:
        raise SourceError(f"{_place(text, str(error))}{error}") from None
    edges = data.get("edges")
    if isinstance(edges, list) and len(edges) > 100 * limits.steps:
        raise SourceError(f"{len(edges):,} edges are more than the page takes")
    try:
        if kind == "posetlib-trace":
            return Source(name, tuple(pl.Trace.from_json(text).operations))
        return _of_snapshot(pl.Snapshot.from_json(text), name, limits)
    except pl.SnapshotError as error:
        raise SourceError(f"{_place(text, str(error))}{error}") from None


# -- the files of other programs -------------------------------------------------------------------


def _graphml(content: bytes, name: str, limits: Limits) -> Source:
    return _foreign(lambda: graph_files.read_graphml(content), name, limits)


def _is_node_link(data: object) -> bool:
    """Return whether an object is node-link JSON as networkx writes it, or wrote it once."""
    return (
        isinstance(data, dict)
        and isinstance(data.get("nodes"), list)
        and (isinstance(data.get("links"), list) or "directed" in data)
    )


def _foreign(
    read: Callable[[], tuple[Mapping[str, Any], Sequence[Any], Sequence[Any]]],
    name: str,
    limits: Limits,
) -> Source:
    """Read a graph of another program, whose nodes have filters and interfaces."""
    try:
        header, nodes, edges = read()
        if len(nodes) > limits.steps:
            raise SourceError(f"{len(nodes):,} nodes are more than the {limits.steps:,} that fit")
        if len(edges) > 100 * limits.steps:
            raise SourceError(f"{len(edges):,} edges are more than the page takes")
        _check_members(nodes, "node", limits)
        if isinstance(header.get("types"), dict):
            read_types(header["types"], limits)  # which refuses what is too large
        return _of_snapshot(pl.Snapshot.from_rows(header, nodes, edges), name, limits)
    except pl.SnapshotError as error:
        raise SourceError(str(error)) from None


def _listed(data: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a JSON list: objects, pairs of a filter and an interface, or filters."""
    for number, row in enumerate(data, 1):
        where = f"entry {number}"
        if isinstance(row, str):
            yield where, {"filter": row, "interface": f"I{number}"}
        elif isinstance(row, list) and len(row) == 2:
            yield where, {"filter": row[0], "interface": row[1]}
        else:
            yield where, row


def _check_members(members: object, what: str, limits: Limits) -> None:
    """Refuse what is too long of nodes or steps, before anything is made of them."""
    total = 0
    for i, member in enumerate(members if isinstance(members, list) else ()):
        number = member.get("id", i) if isinstance(member, dict) else i
        total += _check_member(member, f"{what} {number}", limits)
        _check_total(total, limits)


def _check_member(member: object, where: str, limits: Limits) -> int:
    """Return how long the filter of a node or step is; what is too long is refused."""
    if not isinstance(member, dict):
        return 0  # which is told by who reads it
    names = member.get("interfaces")
    for name in (member.get("interface"), *(names if isinstance(names, list) else ())):
        if isinstance(name, str):
            _interface(name, where)
    text = member.get("filter")
    if not isinstance(text, str):
        return 0
    _check_length(text, limits, where)
    return len(text)


def _check_total(chars: int, limits: Limits) -> None:
    if chars > limits.text_chars:
        raise SourceError(
            f"filters of more than {limits.text_chars:,} characters together are more than the "
            "page takes"
        )


def _check_length(text: str, limits: Limits, where: str) -> None:
    if len(text) > limits.filter_chars:
        raise SourceError(f"{where}: a filter of {len(text):,} characters is too long")


def _of_snapshot(snapshot: pl.Snapshot[Any], name: str, limits: Limits) -> Source:
    operations = tuple(Operation("add", item, each) for item, each in snapshot.entries())
    if not operations:
        raise SourceError(
            "no interface holds a filter of it: every node has a filter and interfaces"
            if snapshot.nodes
            else "the snapshot holds no filter"
        )
    if len(operations) > limits.steps:
        raise SourceError(f"{len(operations):,} pairs of a filter and an interface are too many")
    types = filter_relation.read_types(snapshot.context)
    return Source(name, operations, snapshot=snapshot, types=types)


def _place(text: str, message: str) -> str:
    """Return where in a file the node, step or edge is that a message speaks of."""
    found = re.match(r"(node|step|edge) (\d+|\[.*?\])", message)
    if found is None:
        return ""
    what, which = found.groups()
    key = {"node": "nodes", "step": "steps", "edge": "edges"}[what]
    for i, (place, value) in enumerate(places(text, key)):
        if (
            (what == "node" and isinstance(value, dict) and value.get("id") == int(which))
            or (what == "step" and i == int(which))
            or (what == "edge" and str(value) == which)
        ):
            return f"{place}: "
    return ""


# -- workloads -------------------------------------------------------------------------------------


def _json_lines(text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except ValueError as error:
                raise SourceError(f"line {number}: not JSON: {error}") from None


def _csv_lines(text: str) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader(io.StringIO(text))
    try:
        for row in reader:
            yield f"line {reader.line_num}", row
    except csv.Error as error:
        raise SourceError(f"line {reader.line_num}: {error}") from None


def _rows(rows: Iterable[tuple[str, Any]], title: str, limits: Limits) -> Source:
    """Read rows with ``filter``, ``interface`` and maybe ``operation``, in their order."""
    operations: list[Operation] = []
    for where, row in rows:
        if len(operations) >= limits.steps:
            raise SourceError(f"{where}: more than {limits.steps:,} filters")
        if not isinstance(row, Mapping):
            raise SourceError(f"{where}: a row is an object with filter and interface")
        operations.append(_row(where, row, limits))
    if not operations:
        raise SourceError("there is no filter in it")
    return Source(title, tuple(operations))


#: What the column ``operation`` may say, and what it means.
_OPERATIONS: Final = {
    "": "add",
    "add": "add",
    "subscribe": "add",
    "+": "add",
    "remove": "remove",
    "unsubscribe": "remove",
    "-": "remove",
    "discard": "discard",
    "remove_covered": "remove_covered",
    "drop_interface": "drop_interface",
    "drop": "drop_interface",
}


def _row(where: str, row: Mapping[str, Any], limits: Limits) -> Operation:
    said = row.get("operation")
    name = _OPERATIONS.get(str(said or "").strip().lower())
    if name is None:
        known = ", ".join(dict.fromkeys(_OPERATIONS.values()))
        raise SourceError(f"{where}: there is no operation {str(said)[:40]!r}; known are {known}")
    interface = row.get("interface")
    if name != "drop_interface":
        return read_row(where, row.get("filter"), interface, limits, name=name)
    if not isinstance(interface, str) or not interface:
        raise SourceError(f'{where}: "interface" is missing or no text')
    return Operation(name, None, _interface(interface, where))


def read_row(
    where: str,
    text: object,
    interface: object,
    limits: Limits,
    *,
    types: pl.TypeHierarchy | None = None,
    name: str = "add",
) -> Operation:
    """Read a filter and an interface that stand in a row; ``where`` is told when they are bad."""
    if not isinstance(text, str):
        raise SourceError(f'{where}: "filter" is missing or no text')
    if not isinstance(interface, str) or not interface:
        raise SourceError(f'{where}: "interface" is missing or no text')
    filter_ = read_filter(text, limits, types, where)
    return Operation(name, filter_, _interface(interface, where))


def _parquet(files: Sequence[tuple[str, bytes]], limits: Limits) -> Source:
    import pyarrow as pa  # noqa: PLC0415 - heavy
    import pyarrow.parquet as pq  # noqa: PLC0415

    rows: list[tuple[int, str, str]] = []
    texts = ["filter", "interface"]
    unpacked = 0
    for name, content in files:
        try:
            _has_columns(pq.read_schema(io.BytesIO(content)).names)
            # A text that stands in a thousand rows is one text in the file, and stays one here.
            file = pq.ParquetFile(io.BytesIO(content), read_dictionary=texts)
            if file.metadata.num_rows + len(rows) > limits.steps:
                raise SourceError(f"more than {limits.steps:,} filters; use --workload for them")
            unpacked += _unpacked(file.metadata)
            if unpacked > limits.unpacked_bytes:
                raise SourceError(f"it unpacks to more than {limits.unpacked_bytes:,} bytes")
            for batch in file.iter_batches(columns=["id", *texts]):
                for column in map(batch.column, texts):
                    _check_texts(column, limits)
                rows.extend(_tuples(batch))
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, SourceError):
                raise
            raise SourceError(f"{name[:NAME_CHARS]}: no Parquet file: {error}") from None
    return _of_rows(rows, _names(files), limits)


def _unpacked(metadata: Any) -> int:
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    return sum(
        group.column(i).total_uncompressed_size
        for group in groups
        for i in range(group.num_columns)
    )


def _check_texts(column: Any, limits: Limits) -> None:
    """Refuse a column with a text that is too long, before it is copied to every row."""
    import pyarrow.compute as pc  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415

    values = getattr(column, "dictionary", column)
    if str(values.type) not in ("string", "large_string"):
        return  # no text, which is told row by row
    longest = pc.max(pc.binary_length(values)).as_py()  # None for no value
    if longest is not None and longest > 4 * limits.filter_chars:
        raise SourceError(f"a filter of {longest:,} bytes is too long")


def _has_columns(names: Sequence[str]) -> None:
    missing = [each for each in ("id", "filter", "interface") if each not in names]
    if missing:
        raise SourceError(f"the workload has no column {' and no column '.join(missing)}")


def _tuples(batch: Any) -> Iterator[tuple[int, str, str]]:
    columns = (batch.column(name).to_pylist() for name in ("id", "filter", "interface"))
    return zip(*columns, strict=True)


def _of_rows(rows: list[tuple[int, str, str]], title: str, limits: Limits) -> Source:
    try:
        rows.sort(key=lambda row: row[0])
    except TypeError:
        raise SourceError(
            "the ids of a workload are whole numbers, without gaps for some"
        ) from None
    operations = tuple(read_row(f"row {id_}", text, each, limits) for id_, text, each in rows)
    if not operations:
        raise SourceError("the workload holds no filter")
    return Source(title, operations)

"""What the jobs leave on disk, as the browser reads it: workloads, tables, reports.

Both meet in files and in nothing else. A directory may hold far more than a page can show, so only
the rows that are asked for are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import posetlib as pl
from browser.config import Config, Limits
from browser.edge_index import EdgeIndex, edge_index
from browser.graph import Graph, Node
from browser.sources import Source, SourceError, read_filter, read_row, read_types
from posetlib.tables import Operation

if TYPE_CHECKING:
    from browser.story import Story

__all__ = [
    "Report",
    "experiments",
    "history",
    "neighbourhood",
    "numbers_of",
    "read_report",
    "read_table",
    "read_workload",
    "renumbered",
    "reports",
    "snapshot_of",
    "snapshots",
]

_FILTERS: Final = ("id", "filter", "interface")
_OPERATIONS: Final = ("sequence", "operation", "filter", "interface")
_NOTIFICATIONS: Final = 200
#: How far below a directory reports and tables are looked for, and how many files are looked at.
_DEPTH: Final = 4
_LOOKED_AT: Final = 3_000


# -- workloads -------------------------------------------------------------------------------------


def read_workload(folder: Path, limits: Limits) -> Source:
    """Read the first operations of a workload directory, and a few of its notifications.

    These are its ``operations``, where it has any, and else its ``filters``.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy, and only some need it

    if not (folder / "filters").is_dir():
        raise SourceError(f"{folder} is no workload: it has no directory filters/")
    types = _types(folder / "workload.json", limits)
    limit = limits.workload_filters
    try:
        if (folder / "operations").is_dir():
            what = "operations"
            rows, total = _first(folder / "operations", _OPERATIONS, limit)
        else:
            what = "filters"
            rows, total = _first(folder / "filters", _FILTERS, limit)
            rows = [(id_, "add", text, interface) for id_, text, interface in rows]
        notifications = _notifications(folder / "notifications")
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{folder.name}: cannot be read: {error}") from None
    operations = []
    for id_, name, text, interface in rows:
        if name not in ("add", "remove"):
            raise SourceError(f"row {id_}: there is no operation {str(name)[:40]!r}")
        row = read_row(f"row {id_}", text, interface, limits, types=types, name=name)
        operations.append(row)
    if not operations:
        raise SourceError(f"{folder.name} holds no filter")
    note = ""
    if total > len(rows):
        note = f"The first {len(rows):,} of the workload's {total:,} {what}."
    return Source(
        f"Workload {folder.resolve().parent.name}/{folder.resolve().name}",
        tuple(operations),
        note=note,
        notifications=notifications,
        types=types,
    )


def _first(folder: Path, columns: Sequence[str], limit: int) -> tuple[list[tuple[Any, ...]], int]:
    """Return the first rows by the first column, and how many there are."""
    import pyarrow.dataset as ds  # noqa: PLC0415 - heavy, and only some need it

    data = ds.dataset(folder, format="parquet")
    missing = [each for each in columns if each not in data.schema.names]
    if missing:
        raise SourceError(f"{folder.name}/ has no column {' and no column '.join(missing)}")
    total = data.count_rows()
    key = columns[0]
    table = data.to_table(columns=list(columns), filter=ds.field(key) < limit)
    if table.num_rows < min(limit, total):  # ids that do not count from 0
        table = data.to_table(columns=list(columns))
    table = table.sort_by(key).slice(0, limit)
    return list(zip(*(table.column(each).to_pylist() for each in columns), strict=True)), total


def _types(path: Path, limits: Limits) -> pl.TypeHierarchy | None:
    if not path.is_file():
        return None
    data = _json(path, limits)
    types = data.get("types") if isinstance(data, dict) else None
    if types is None:
        return None
    try:
        return read_types(types, limits)
    except SourceError as error:
        raise SourceError(f"{path.name}: {error}") from None


def _notifications(folder: Path) -> tuple[str, ...]:
    import pyarrow.dataset as ds  # noqa: PLC0415

    if not folder.is_dir():
        return ()
    data = ds.dataset(folder, format="parquet")
    if "notification" not in data.schema.names:
        return ()
    head = data.head(_NOTIFICATIONS, columns=["notification"])
    return tuple(each for each in head.column("notification").to_pylist() if isinstance(each, str))


def _json(path: Path, limits: Limits) -> Any:
    """Return a JSON file; SourceError names the line."""
    try:
        if path.stat().st_size > limits.report_bytes:
            raise SourceError(f"{path.name} is larger than {limits.report_bytes:,} bytes")
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise SourceError(
            f"{path.name}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, SourceError):
            raise
        raise SourceError(f"{path.name}: cannot be read: {error}") from None


# -- reports ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Report:
    """A validation report, by the name that the page calls it."""

    name: str
    path: Path
    content: dict[str, Any]

    @property
    def ok(self) -> bool:
        """Whether every invariant holds."""
        return self.content["ok"] is True


def _roots(config: Config) -> list[tuple[Path, int]]:
    """Return where to look, and how deep."""
    if config.runs is not None:
        return [(config.runs, _DEPTH)]
    if config.workload is None:
        return []
    # Reports and tables usually lie beside their workload.
    return [(config.workload, 2), (config.workload.resolve().parent, 1)]


def _files(config: Config) -> Iterator[tuple[str, Path]]:
    """Yield what lies in the directories, with names relative to them, in order of names."""
    seen: set[Path] = set()
    looked = 0
    for root, depth in _roots(config):
        queue = [(root, depth)]
        for folder, left in queue:
            try:
                inside = sorted(folder.iterdir())
            except OSError:
                continue  # what cannot be listed has nothing to show
            for path in inside:
                looked += 1
                if looked > _LOOKED_AT:
                    return
                if path.is_dir():
                    if left and path.name not in _ROWS and not path.name.startswith("."):
                        queue.append((path, left - 1))
                elif path.suffix in (".json", ".jsonl") and path.resolve() not in seen:
                    seen.add(path.resolve())
                    yield str(path.relative_to(root)), path


#: Directories of rows, which hold nothing else.
_ROWS: Final = frozenset({"nodes", "edges", "filters", "notifications", "operations", "rows"})


def reports(config: Config) -> list[Report]:
    """Return the validation reports that there are; what is no report is passed over."""
    found = []
    for name, path in _files(config):
        try:
            content = _json(path, config.limits)
        except SourceError:
            continue
        if is_report(content):
            found.append(Report(name, path, content))
    return found


def history(config: Config) -> list[dict[str, Any]]:
    """Return what ``validate --watch`` wrote of its validations, in order of time.

    A line that is no such entry is passed over: the last one may be cut off.
    """
    found = []
    for _, path in _files(config):
        if path.name != "history.jsonl":
            continue
        try:
            if path.stat().st_size > config.limits.report_bytes:
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            continue
        for line in lines:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if is_validation(entry):
                found.append(entry)
    return sorted(found, key=lambda entry: entry["finished"])


def experiments(config: Config) -> list[dict[str, Any]]:
    """Return the experiments that the job of this name wrote, by the names of their folders."""
    found = []
    for name, path in _files(config):
        if path.name != "experiment.json":
            continue
        try:
            content = _json(path, config.limits)
        except SourceError:
            continue
        if is_experiment(content):
            found.append({**content, "folder": str(Path(name).parent)})
    return found


def is_experiment(content: object) -> bool:
    """Return whether a JSON value is an ``experiment.json`` that can be plotted."""
    if not isinstance(content, dict) or content.get("format") != "posetlib-experiment":
        return False
    texts, figures = (content.get("name"), content.get("title")), content.get("figures")
    return (
        content.get("version") == 1
        and all(isinstance(each, str) for each in texts)
        and isinstance(figures, list)
        and all(map(_is_figure, figures))
    )


def _is_figure(figure: object) -> bool:
    return (
        isinstance(figure, dict)
        and all(isinstance(figure.get(k), str) for k in ("title", "x", "y", "says", "statement"))
        and isinstance(figure.get("agrees"), bool)
        and isinstance(figure.get("lines"), dict)
        and all(
            isinstance(line, list)
            and all(
                isinstance(point, list)
                and len(point) == 3
                and all(isinstance(n, int | float) and not isinstance(n, bool) for n in point)
                for point in line
            )
            for line in figure["lines"].values()
        )
    )


def is_validation(entry: object) -> bool:
    """Return whether a JSON value is a line of a history."""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("finished"), str)
        and (entry.get("ok") is None or isinstance(entry["ok"], bool))
        and all(
            isinstance(entry.get(name, 0), int | float)
            for name in ("nodes", "seconds", "violations")
        )
    )


def read_report(config: Config, name: str) -> Report:
    """Return the report of a name that ``reports`` gave; nothing else is opened."""
    for each in reports(config):
        if each.name == name:
            return each
    raise SourceError(f"there is no report {name[:100]!r} here")


def is_report(content: object) -> bool:
    """Return whether a JSON value is a validation report."""
    return (
        isinstance(content, dict)
        and isinstance(content.get("ok"), bool)
        and isinstance(content.get("invariants"), list)
        and all(
            isinstance(each, dict)
            and isinstance(each.get("name"), str)
            and isinstance(each.get("verdict"), str)
            and isinstance(each.get("witnesses", []), list)
            for each in content["invariants"]
        )
    )


def snapshots(config: Config) -> list[tuple[str, Path]]:
    """Return the directories with built tables, by name."""
    return [
        (str(Path(name).parent) if Path(name).parent != Path() else path.parent.name, path.parent)
        for name, path in _files(config)
        if path.name == "snapshot.json"
        and (path.parent / "nodes").is_dir()
        and (path.parent / "edges").is_dir()
    ]


def snapshot_of(config: Config, report: Report) -> tuple[str, Path] | None:
    """Return the table that a report is about: the one it names, or one of the same size.

    A directory may have moved since, with all that is in it; so a name may do for a path.
    """
    there = snapshots(config)
    named = report.content.get("snapshot")
    if isinstance(named, str):
        wanted = {Path(named).resolve(), (report.path.parent / named).resolve()}
        for name, path in there:
            if path.resolve() in wanted:
                return name, path
    facts = ("structure", "nodes", "edges")
    fitting = [
        (name, path)
        for name, path in there
        if _facts(path, config.limits) == tuple(report.content.get(each) for each in facts)
    ]
    said = Path(named).name if isinstance(named, str) else report.path.stem
    # A report lies beside its table, and is often called after it.
    fitting.sort(
        key=lambda each: (
            -len(each[1].name) if each[1].name in said else 0,
            len(set(each[1].parts) ^ set(report.path.parent.parts)),
        )
    )
    return fitting[0] if fitting else None


def _facts(folder: Path, limits: Limits) -> tuple[object, ...] | None:
    """Return the structure of a table with the numbers of its nodes and edges, if readable."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, and only some need it
    import pyarrow.dataset as ds  # noqa: PLC0415

    try:
        header = _json(folder / "snapshot.json", limits)
        nodes, edges = (
            ds.dataset(folder / part, format="parquet").count_rows() for part in ("nodes", "edges")
        )
    except (SourceError, pa.ArrowException, OSError):
        return None
    return (header.get("structure") if isinstance(header, dict) else None, nodes, edges)


def numbers_of(folder: Path, texts: Sequence[str]) -> list[int]:
    """Return the nodes of a table on disk that hold filters of these texts, in their order."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, and only some need it
    import pyarrow.compute as pc  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415
    import pyarrow.dataset as ds  # noqa: PLC0415

    try:
        rows = ds.dataset(folder / "nodes", format="parquet").to_table(
            columns=["id", "filter"],
            filter=pc.field("filter").isin(pa.array(list(texts), pa.string())),
        )
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise SourceError(f"the table {folder.name} cannot be read: {error}") from None
    found = dict(zip(rows.column("filter").to_pylist(), rows.column("id").to_pylist(), strict=True))
    return [found[text] for text in texts if text in found]


def neighbourhood(
    folder: Path, numbers: Sequence[int], limits: Limits
) -> tuple[Graph, tuple[int, ...]]:
    """Return nodes of a table on disk with the parents and children of each, and those found.

    Reads no more than these rows, and the edges once, so that a table of millions will do.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy, and only some need it
    import pyarrow.compute as pc  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415
    import pyarrow.dataset as ds  # noqa: PLC0415

    most = limits.labelled_nodes
    try:
        index = edge_index(folder)
        kept = dict.fromkeys(numbers)
        for each in (*index.parents(numbers), *index.children(numbers)):
            if len(kept) < most:
                kept.setdefault(each)
        nodes = ds.dataset(folder / "nodes", format="parquet").to_table(
            columns=["id", "filter", "interfaces"],
            filter=pc.field("id").isin(pa.array(list(kept), pa.int64())),
        )
        pairs = index.among(list(kept))
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise SourceError(f"the table {folder.name} cannot be read: {error}") from None
    columns = (nodes.column(each).to_pylist() for each in ("id", "filter", "interfaces"))
    made = {
        id_: Node(id_, str(text), tuple(map(str, names or ())))
        for id_, text, names in sorted(zip(*columns, strict=True), key=lambda row: row[0])
    }
    links = tuple(pair for pair in pairs if pair[0] in made and pair[1] in made)
    return Graph(made, links), tuple(each for each in numbers if each in made)


#: Filters of a part of a large table, and how far it goes up and down.
_PART: Final = 300
_LEVELS: Final = 2


def read_table(config: Config, name: str, around: str) -> Source:
    """Return a table that the jobs have built: all of it, or of a large one a part.

    The part is a filter with what is above and below it. ``around`` is its id or its text.
    """
    folder = dict(snapshots(config)).get(name)
    if folder is None:
        raise SourceError(f"there is no table {name[:100]!r} here")
    limits = config.limits
    header = _json(folder / "snapshot.json", limits)
    if not isinstance(header, dict):
        raise SourceError(f"{name}: snapshot.json is no object")
    facts = _facts(folder, limits)
    count = facts[1] if facts is not None else None
    if not isinstance(count, int):
        raise SourceError(f"{name}: its nodes and edges cannot be read")
    whole = count <= limits.workload_filters
    outside = ""
    if whole:
        nodes, edges = _whole(folder)
    else:
        nodes, edges, outside = _part(folder, around, limits)
    try:
        snapshot = pl.Snapshot.from_rows(header, nodes, edges)
    except pl.SnapshotError as error:
        raise SourceError(f"{name}: {error}") from None
    pairs = snapshot.entries()
    if not pairs or len(pairs) > limits.steps:
        raise SourceError(f"{name}: {len(pairs):,} pairs of a filter and an interface do not fit")
    note = ""
    if not whole:
        note = f"A part of {count:,} filters: {len(nodes):,} around {around or 0}. {outside}"
    return Source(
        f"Table {name}",
        tuple(Operation("add", item, each) for item, each in pairs),
        snapshot=snapshot,
        note=note,
        types=read_types(header["types"], limits) if header.get("types") else None,
        part=not whole,
    )


def _whole(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    import pyarrow as pa  # noqa: PLC0415 - heavy, and only some need it
    import pyarrow.dataset as ds  # noqa: PLC0415

    try:
        nodes, edges = (ds.dataset(folder / each, format="parquet") for each in ("nodes", "edges"))
        columns = [each for each in _NODE if each in nodes.schema.names]
        rows = nodes.to_table(columns=columns).to_pylist()
        return rows, edges.to_table(columns=["parent", "child"]).to_pylist()
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise SourceError(f"the table {folder.name} cannot be read: {error}") from None


_NODE: Final = ("id", "filter", "interfaces", "index")


def _part(
    folder: Path, around: str, limits: Limits
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    """Return the rows of a filter and of some levels above and below it; no other is read.

    The third result says how many of them have parents or children that are not among them.
    """
    around = around.strip() or "0"
    if around.isascii() and around.isdigit() and len(around) < 19:
        first = [int(around)]
    else:
        first = numbers_of(folder, [str(read_filter(around, limits, None, "the filter"))])
        if not first:
            raise SourceError(f"the table {folder.name} has no filter {around[:80]!r}")
    kept = dict.fromkeys(first)
    for up in (True, False):
        frontier = list(first)
        for _ in range(_LEVELS):
            found = _next_to(folder, frontier, up=up)
            frontier = [each for each in found if each not in kept][: _PART - len(kept)]
            kept.update(dict.fromkeys(frontier))
    small = replace(limits, labelled_nodes=len(kept))
    graph, there = neighbourhood(folder, list(kept), small)
    if not there:
        raise SourceError(f"the table {folder.name} has no filter with the id {around[:80]}")
    nodes = [
        {"id": node.number, "filter": node.text, "interfaces": list(node.interfaces)}
        for node in graph.nodes.values()
    ]
    edges = [{"parent": parent, "child": child} for parent, child in graph.edges]
    return nodes, edges, _told_outside(edge_index(folder), list(graph.nodes))


def _told_outside(index: EdgeIndex, kept: Sequence[int]) -> str:
    """Return in a sentence what the edges of a part lead to outside of it.

    >>> import numpy as np
    >>> index = EdgeIndex(np.array([1, 2, 2]), np.array([2, 3, 4]))
    >>> _told_outside(index, [2, 3])
    'Not shown are parents of 1 and children of 1 of them: a root here may have parents there.'
    >>> _told_outside(index, [1, 2, 3, 4])
    ''
    """
    above, below = index.leaving(kept)
    if not above and not below:
        return ""
    told = f"Not shown are parents of {above:,} and children of {below:,} of them"
    return f"{told}: a root here may have parents there." if above else f"{told}."


def _next_to(folder: Path, numbers: Sequence[int], *, up: bool) -> list[int]:
    import pyarrow as pa  # noqa: PLC0415 - heavy, and only some need it

    try:
        index = edge_index(folder)
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        raise SourceError(f"the table {folder.name} cannot be read: {error}") from None
    return index.parents(numbers) if up else index.children(numbers)


def renumbered(graph: Graph, numbers: Sequence[int], story: Story) -> tuple[Graph, tuple[int, ...]]:
    """Return a part of a table on disk with the numbers that a story gives to its filters.

    A filter that the story has not keeps its id, as a number below zero: no story has these.
    """
    own: dict[int, int] = {}
    for id_, node in graph.nodes.items():
        try:
            item = pl.parse_filter(node.text, types=story.source.types)
        except (pl.FilterError, RecursionError):
            item = None
        own[id_] = story.number.get(item, -1 - id_) if item is not None else -1 - id_
    nodes = {
        own[id_]: Node(own[id_], node.text, node.interfaces) for id_, node in graph.nodes.items()
    }
    edges = tuple((own[parent], own[child]) for parent, child in graph.edges)
    return Graph(nodes, edges), tuple(own[each] for each in numbers)

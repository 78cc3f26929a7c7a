"""A picture of a table: as JSON, as rows, as a graph, and back as a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from posetlib.change import Item
from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import FilterError, SnapshotError
from posetlib.filter_relation import hierarchy_of
from posetlib.parsing import parse_filter

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Snapshot", "SnapshotNode", "register_structure"]

FORMAT: Final = "posetlib-snapshot"
VERSION: Final = 1
#: How to make a table of a snapshot, by the short name of the structure: the tables add themselves,
#: since they know snapshots and not the other way round.
_RESTORE: Final[dict[str, Callable[[Snapshot, dict[str, Any]], Any]]] = {}
_MAY_BE_LOCAL: Final[set[str]] = set()


def register_structure(
    name: str, restore: Callable[[Snapshot, dict[str, Any]], Any], *, may_be_local: bool
) -> None:
    """Let snapshots of a structure be read, and restored by a function."""
    _RESTORE[name] = restore
    if may_be_local:
        _MAY_BE_LOCAL.add(name)


@dataclass(frozen=True, slots=True)
class SnapshotNode:
    """A filter, the interfaces that hold it, and where there is one, its interface index."""

    id: int
    item: Item
    interfaces: tuple[Hashable, ...]
    index: frozenset[Hashable] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The nodes of a table in order of insertion, and its edges as pairs of node ids.

    A snapshot says what was seen, also of a table that is not as it should be; whether it is, says
    ``restore().check()``.
    """

    structure: str
    nodes: tuple[SnapshotNode, ...]
    edges: tuple[tuple[int, int], ...]
    local: bool = False
    types: TypeHierarchy | None = None

    def roots(self) -> tuple[Item, ...]:
        """Return the filters without a parent."""
        children = {child for _, child in self.edges}
        return tuple(node.item for node in self.nodes if node.id not in children)

    def entries(self) -> tuple[tuple[Item, Hashable], ...]:
        """Return all (filter, interface) pairs."""
        return tuple((node.item, each) for node in self.nodes for each in node.interfaces)

    def __len__(self) -> int:
        return len(self.nodes)

    # -- rows and text -----------------------------------------------------------------------------

    def node_rows(self, encode: Callable[[Item], str] = str) -> list[dict[str, Any]]:
        """Return the nodes as rows for a file: id, filter, interfaces, index (or None)."""
        return [
            {
                "id": node.id,
                "filter": encode(node.item),
                "interfaces": _texts(node.interfaces, node.id),
                "index": None if node.index is None else sorted(_texts(node.index, node.id)),
            }
            for node in self.nodes
        ]

    def edge_rows(self) -> list[dict[str, int]]:
        """Return the edges as rows for a file: parent, child."""
        return [{"parent": parent, "child": child} for parent, child in self.edges]

    def header(self) -> dict[str, Any]:
        """Return what is said once: format, version, structure; local and types if they apply."""
        header: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "structure": self.structure,
        }
        if self.local:
            header["local"] = True
        types = self.types
        if types is None:
            try:
                types = hierarchy_of(node.item for node in self.nodes)
            except FilterError as error:
                raise SnapshotError(f"filters of two hierarchies: {error}") from None
        if types is not None:
            header["types"] = types.to_dict()
        return header

    def to_json(self, encode: Callable[[Item], str] = str) -> str:
        """Return the snapshot as JSON; ``encode`` writes items that are not filters.

        Interfaces must be strings, as they are in every file.
        """
        nodes = self.node_rows(encode)
        for row in nodes:
            if row["index"] is None:
                del row["index"]
        edges = [list(edge) for edge in self.edges]
        return json.dumps(self.header() | {"nodes": nodes, "edges": edges}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes, decode: Callable[[str], Item] | None = None) -> Snapshot:
        """Read what ``to_json`` wrote; SnapshotError says what is wrong with anything else.

        ``decode`` reads items that are not filters. That the text is well formed is checked here,
        that the table is right by ``restore().check()``.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise SnapshotError(f"not JSON: {error}") from None
        if not isinstance(data, dict):
            raise SnapshotError(f"a snapshot is a JSON object, not {_name(data)}")
        return cls.from_rows(
            data, _list(data, "nodes"), map(_as_edge, _list(data, "edges")), decode=decode
        )

    @classmethod
    def from_rows(
        cls,
        header: Mapping[str, Any],
        nodes: Iterable[Mapping[str, Any]],
        edges: Iterable[Mapping[str, Any]],
        decode: Callable[[str], Item] | None = None,
    ) -> Snapshot:
        """Read what ``header``, ``node_rows`` and ``edge_rows`` wrote, in any order of rows."""
        structure = _check_header(header)
        local = header.get("local", False)
        if not isinstance(local, bool):
            raise SnapshotError(f'"local" is true or false, not {_name(local)}')
        if local and structure not in _MAY_BE_LOCAL:
            raise SnapshotError(f"a table of structure {structure!r} is never local")
        types = _read_types(header.get("types"))
        if decode is None:

            def decode(text: str) -> Item:
                return parse_filter(text, types=types)

        read = sorted((_read_node(row, decode) for row in nodes), key=lambda node: node.id)
        items: dict[Item, int] = {}
        for before, node in zip([None, *read], read, strict=False):
            if before is not None and before.id == node.id:
                raise SnapshotError(f"two nodes have the id {node.id}")
            if node.item in items:
                raise SnapshotError(f"nodes {items[node.item]} and {node.id} have the same filter")
            items[node.item] = node.id
        known = {node.id for node in read}
        return cls(
            structure, tuple(read), tuple(_read_edges(edges, known)), local=local, types=types
        )

    # -- other forms -------------------------------------------------------------------------------

    def restore(self, **options: Any) -> Any:
        """Return a table of exactly this shape; options are those of its class, such as covers=.

        No covering test is made, and nothing is repaired.
        """
        try:
            restore = _RESTORE[self.structure]
        except KeyError:
            raise SnapshotError(f"unknown structure {self.structure!r}") from None
        number = {node.id: i for i, node in enumerate(self.nodes)}
        if all(id_ == i for id_, i in number.items()):
            return restore(self, options)
        edges = tuple((number[parent], number[child]) for parent, child in self.edges)
        return restore(Snapshot(self.structure, self.nodes, edges, local=self.local), options)

    def to_networkx(self) -> nx.DiGraph[int]:
        """Return a DiGraph over node ids, with filter, interfaces and index as attributes."""
        import networkx as nx  # noqa: PLC0415 - half a second that most callers never need

        graph: nx.DiGraph[int] = nx.DiGraph(**self.header())
        for node in self.nodes:
            graph.add_node(node.id, filter=node.item, interfaces=node.interfaces, index=node.index)
        graph.add_edges_from(self.edges)
        return graph

    def to_dot(self, encode: Callable[[Item], str] = str) -> str:
        """Return the table as a drawing for Graphviz, the general above the special."""
        lines = [f"digraph {self.structure} {{", '  node [shape=box, fontname="sans-serif"];']
        for node in self.nodes:
            holders = ", ".join(map(str, node.interfaces))
            lines.append(f"  {node.id} [label={_quoted(encode(node.item), holders)}];")
        lines.extend(f"  {parent} -> {child};" for parent, child in self.edges)
        return "\n".join([*lines, "}", ""])


def _quoted(*lines: str) -> str:
    """Return lines as one string of Graphviz, where a backslash and a quote mean something."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(line.replace("\n", "\\n") for line in escaped) + '"'


def _texts(interfaces: Iterable[Hashable], node: int) -> list[str]:
    names = list(interfaces)
    for name in names:
        if not isinstance(name, str):
            raise SnapshotError(
                f"interfaces in a file are strings; node {node} has {name!r} ({_name(name)})"
            )
    return names  # type: ignore[return-value]


# -- reading, with no trust in what is read --------------------------------------------------------


def _name(value: object) -> str:
    return type(value).__name__


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    # A file of another format or version is refused for that, whatever else it lacks.
    _check_header(data)
    value = data.get(key)
    if not isinstance(value, list):
        raise SnapshotError(f'a snapshot has a list of "{key}", not {_name(value)}')
    return value


def _check_header(header: Mapping[str, Any]) -> str:
    if header.get("format") != FORMAT:
        raise SnapshotError(f"the format is {header.get('format')!r}, not {FORMAT!r}")
    version = header.get("version")
    if version != VERSION or isinstance(version, bool):
        raise SnapshotError(f"the version is {version!r}; this library reads version {VERSION}")
    structure = header.get("structure")
    if not isinstance(structure, str) or structure not in _RESTORE:
        raise SnapshotError(f"unknown structure {structure!r}; known are {', '.join(_RESTORE)}")
    return structure


def _read_types(data: object) -> TypeHierarchy | None:
    if data is None:
        return None
    if not isinstance(data, Mapping):
        raise SnapshotError(f'"types" maps a type to its supertypes, and is {_name(data)}')
    try:
        return TypeHierarchy(data)
    except (FilterError, TypeError) as error:
        raise SnapshotError(f'"types" is no hierarchy: {error}') from None


def _read_node(row: object, decode: Callable[[str], Item]) -> SnapshotNode:
    if not isinstance(row, Mapping):
        raise SnapshotError(f"a node is an object, not {_name(row)}")
    id_ = row.get("id")
    if not _is_id(id_):
        raise SnapshotError(f"the id of a node is a whole number, not {id_!r}")
    text = row.get("filter")
    if not isinstance(text, str):
        raise SnapshotError(f"node {id_}: the filter is text, not {_name(text)}")
    try:
        item = decode(text)
    except (FilterError, ValueError) as error:
        raise SnapshotError(f"node {id_}: cannot read the filter {text!r}: {error}") from error
    interfaces = _read_interfaces(row.get("interfaces"), id_, "interfaces")
    index = row.get("index")
    if index is None:
        return SnapshotNode(id_, item, interfaces)
    return SnapshotNode(id_, item, interfaces, frozenset(_read_interfaces(index, id_, "index")))


def _read_interfaces(names: object, id_: int, what: str) -> tuple[str, ...]:
    if isinstance(names, str | Mapping) or not isinstance(names, Iterable):
        raise SnapshotError(f'node {id_}: "{what}" is a list of names, not {_name(names)}')
    read = tuple(names)
    if not all(isinstance(name, str) for name in read):
        raise SnapshotError(f'node {id_}: "{what}" has a name that is no string')
    if len(set(read)) < len(read):
        raise SnapshotError(f'node {id_}: "{what}" names an interface twice')
    return read


def _as_edge(edge: object) -> Mapping[str, Any]:
    if not isinstance(edge, list) or len(edge) != 2:
        raise SnapshotError(f"an edge is a pair [parent, child], not {edge!r}")
    return {"parent": edge[0], "child": edge[1]}


def _read_edges(rows: Iterable[Mapping[str, Any]], known: set[int]) -> Iterable[tuple[int, int]]:
    seen: set[tuple[int, int]] = set()
    for row in rows:
        edge = (row.get("parent"), row.get("child"))
        for end in edge:
            if not _is_id(end) or end not in known:
                raise SnapshotError(f"edge {list(edge)} refers to node {end!r}, which is not there")
        if edge in seen:
            raise SnapshotError(f"edge {list(edge)} is there twice")
        seen.add(edge)  # type: ignore[arg-type]
        yield edge  # type: ignore[misc]


def _is_id(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)

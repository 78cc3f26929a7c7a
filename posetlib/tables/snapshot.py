"""Snapshots of tables: as JSON, as rows for files, as a graph, and back as a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeGuard

from posetlib.errors import SnapshotError
from posetlib.search.relation import Relation
from posetlib.tables import graph_files
from posetlib.tables.filter_relation import FILTERS
from posetlib.tables.item_type import ItemT
from posetlib.tables.structures import structure_named, structure_names

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Snapshot", "SnapshotNode"]

FORMAT: Final = "posetlib-snapshot"
VERSION: Final = 1
#: What a header says in every language; the rest is the relation's.
_COMMON: Final = frozenset({"format", "version", "structure", "local", "nodes", "edges"})


@dataclass(frozen=True, slots=True)
class SnapshotNode(Generic[ItemT]):
    """A filter, the interfaces that hold it, and where there is one, its interface index."""

    id: int
    item: ItemT
    interfaces: tuple[Hashable, ...]
    index: frozenset[Hashable] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[ItemT]):
    """The nodes of a table in order of insertion, and its edges as pairs of node ids.

    A snapshot shows a table as it is, also one that is wrong: ``restore().check()`` tells.

    >>> from posetlib import FiltersPoset, parse_filter
    >>> table = FiltersPoset.build([(parse_filter("x > 3"), "I1")])
    >>> Snapshot.from_json(table.snapshot().to_json()).restore() == table
    True
    """

    structure: str
    nodes: tuple[SnapshotNode[ItemT], ...]
    edges: tuple[tuple[int, int], ...]
    local: bool = False
    #: What the file said once, for its items to be read, such as the types of filters.
    context: Mapping[str, Any] = field(default_factory=dict)
    #: The language of the items.
    relation: Relation[ItemT] = field(default=FILTERS, compare=False, repr=False)  # type: ignore[arg-type]

    def roots(self) -> tuple[ItemT, ...]:
        """Return the filters without a parent."""
        children = {child for _, child in self.edges}
        return tuple(node.item for node in self.nodes if node.id not in children)

    def entries(self) -> tuple[tuple[ItemT, Hashable], ...]:
        """Return all (filter, interface) pairs."""
        return tuple((node.item, each) for node in self.nodes for each in node.interfaces)

    def __len__(self) -> int:
        return len(self.nodes)

    # -- rows and text -----------------------------------------------------------------------------

    def node_rows(self, encode: Callable[[ItemT], str] | None = None) -> list[dict[str, Any]]:
        """Return the nodes as rows for a file: id, filter, interfaces, index (or None)."""
        encode = encode or self.relation.write
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
        """Return what a file says once: format, version, structure; local, context if there."""
        header: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "structure": self.structure,
        }
        if self.local:
            header["local"] = True
        context = self.context or self.relation.context_of(node.item for node in self.nodes)
        return header | dict(context)

    def to_dict(self, encode: Callable[[ItemT], str] | None = None) -> dict[str, Any]:
        """Return the snapshot as an object for JSON; ``encode`` writes items its own way.

        Interfaces must be strings, as they are in every file.
        """
        nodes = self.node_rows(encode)
        for row in nodes:
            if row["index"] is None:
                del row["index"]
        return self.header() | {"nodes": nodes, "edges": [list(edge) for edge in self.edges]}

    def to_json(self, encode: Callable[[ItemT], str] | None = None) -> str:
        """Return the snapshot as JSON: what ``to_dict`` returns, as text."""
        return json.dumps(self.to_dict(encode), ensure_ascii=False)

    @classmethod
    def from_json(
        cls,
        text: str | bytes,
        decode: Callable[[str], Any] | None = None,
        *,
        relation: Relation[Any] = FILTERS,
    ) -> Snapshot[Any]:
        """Read what ``to_json`` wrote; SnapshotError says what is wrong with anything else.

        ``relation`` is the language of the items, ``decode`` reads them otherwise than it does.
        That the text is well formed is checked here, that the table is right by
        ``restore().check()``.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise SnapshotError(f"not JSON: {error}") from None
        return cls.from_dict(data, decode, relation=relation)

    @classmethod
    def from_dict(
        cls,
        data: object,
        decode: Callable[[str], Any] | None = None,
        *,
        relation: Relation[Any] = FILTERS,
    ) -> Snapshot[Any]:
        """Read what ``to_dict`` returned, as ``from_json`` does."""
        if not isinstance(data, dict):
            raise SnapshotError(f"a snapshot is a JSON object, not {_name(data)}")
        return cls.from_rows(
            data,
            _list(data, "nodes"),
            map(_as_edge, _list(data, "edges")),
            decode=decode,
            relation=relation,
        )

    @classmethod
    def from_rows(
        cls,
        header: Mapping[str, Any],
        nodes: Iterable[Mapping[str, Any]],
        edges: Iterable[Mapping[str, Any]],
        decode: Callable[[str], Any] | None = None,
        *,
        relation: Relation[Any] = FILTERS,
    ) -> Snapshot[Any]:
        """Read what ``header``, ``node_rows`` and ``edge_rows`` wrote, in any order of rows."""
        structure = _check_header(header)
        local = header.get("local", False)
        if not isinstance(local, bool):
            raise SnapshotError(f'"local" is true or false, not {_name(local)}')
        if local and not structure_named(structure).promises.may_be_local:
            raise SnapshotError(f"a table of structure {structure!r} is never local")
        context = {key: value for key, value in header.items() if key not in _COMMON}
        decode = decode or relation.reader_for(context)
        read = sorted((_read_node(row, decode) for row in nodes), key=lambda node: node.id)
        items: dict[Any, int] = {}
        for before, node in zip([None, *read], read, strict=False):
            if before is not None and before.id == node.id:
                raise SnapshotError(f"two nodes have the id {node.id}")
            if node.item in items:
                raise SnapshotError(f"nodes {items[node.item]} and {node.id} have the same filter")
            items[node.item] = node.id
        known = {node.id for node in read}
        return cls(
            structure,
            tuple(read),
            tuple(_read_edges(edges, known)),
            local=local,
            context=context,
            relation=relation,
        )

    # -- other forms -------------------------------------------------------------------------------

    def restore(self, **options: Any) -> Any:
        """Return a table of exactly this shape; options are those of its class, such as covers=.

        No covering test is made, and nothing is repaired.
        """
        if not options.keys() & {"relation", "covers", "matches", "canonical", "partition"}:
            options["relation"] = self.relation
        try:
            structure = structure_named(self.structure)
        except ValueError as error:
            raise SnapshotError(str(error)) from None
        return structure.restored(self, **options)

    def to_networkx(self) -> nx.DiGraph[int]:
        """Return a DiGraph over node ids, with filter, interfaces and index as attributes."""
        import networkx as nx  # noqa: PLC0415 - a tenth of a second that most callers never need

        graph: nx.DiGraph[int] = nx.DiGraph(**self.header())
        for node in self.nodes:
            graph.add_node(node.id, filter=node.item, interfaces=node.interfaces, index=node.index)
        graph.add_edges_from(self.edges)
        return graph

    def to_graphml(self, encode: Callable[[ItemT], str] | None = None) -> str:
        """Return the table as GraphML, for networkx, Gephi, yEd and others; lists are JSON texts.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> snapshot = FiltersPoset.build([(parse_filter("x > 3"), "I1")]).snapshot()
        >>> Snapshot.from_graphml(snapshot.to_graphml()) == snapshot
        True
        """
        return graph_files.graphml_text(
            self.header(),
            self.node_rows(encode),
            self.edge_rows(),
            json_strings=encode is None and self.relation is FILTERS,
        )

    @classmethod
    def from_graphml(
        cls,
        text: str | bytes,
        decode: Callable[[str], Any] | None = None,
        *,
        relation: Relation[Any] = FILTERS,
    ) -> Snapshot[Any]:
        """Read GraphML, what ``to_graphml`` wrote or another program did.

        Every node has a ``filter``, and ``interfaces``: a JSON list, or names with commas between
        them. The graph may name its ``structure``; without, it is taken for a filters poset.
        """
        rows = graph_files.read_graphml(text)
        return cls.from_rows(*rows, decode=decode, relation=relation)

    def to_node_link(self, encode: Callable[[ItemT], str] | None = None) -> dict[str, Any]:
        """Return the table for ``networkx.node_link_graph(data, edges="edges")``; JSON-able.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> snapshot = FiltersPoset.build([(parse_filter("x > 3"), "I1")]).snapshot()
        >>> Snapshot.from_node_link(snapshot.to_node_link()) == snapshot
        True
        """
        return graph_files.node_link(self.header(), self.node_rows(encode), self.edge_rows())

    @classmethod
    def from_node_link(
        cls,
        data: object,
        decode: Callable[[str], Any] | None = None,
        *,
        relation: Relation[Any] = FILTERS,
    ) -> Snapshot[Any]:
        """Read node-link data of networkx, with ``filter`` and ``interfaces`` as in GraphML."""
        rows = graph_files.read_node_link(data)
        return cls.from_rows(*rows, decode=decode, relation=relation)

    def to_csv(self, encode: Callable[[ItemT], str] | None = None) -> str:
        r"""Return a row for each pair of a filter and an interface, with the ids of its parents.

        >>> from posetlib import FiltersPoset, parse_filter
        >>> FiltersPoset.build([(parse_filter("x > 3"), "I1")]).snapshot().to_csv()
        'id,filter,interface,parents\r\n0,x > 3,I1,\r\n'
        """
        return graph_files.pairs_csv(self.node_rows(encode), self.edge_rows())

    def to_dot(self, encode: Callable[[ItemT], str] | None = None) -> str:
        """Return the table as a drawing for Graphviz, the general above the special."""
        encode = encode or self.relation.write
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
    if not isinstance(structure, str) or structure not in structure_names():
        known = ", ".join(structure_names())
        raise SnapshotError(f"unknown structure {structure!r}; known are {known}")
    return structure


def _read_node(row: object, decode: Callable[[str], Any]) -> SnapshotNode[Any]:
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
    except ValueError as error:
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

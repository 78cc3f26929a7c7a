"""Snapshots in the formats of other programs: GraphML, node-link JSON of networkx, CSV.

What is written is read back exactly. What others wrote is read as far as it says what is needed: a
text ``filter`` at every node, and ``interfaces`` (or ``interface``) as a list or with commas.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

from posetlib.errors import SnapshotError

__all__ = [
    "graphml_text",
    "node_link",
    "pairs_csv",
    "read_graphml",
    "read_node_link",
]

Row = Mapping[str, Any]
_NAMESPACE: Final = "http://graphml.graphdrawing.org/xmlns"
#: Characters that no XML file may have, not even by their number.
_NO_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DEFAULT_STRUCTURE: Final = "fp"


# -- writing ---------------------------------------------------------------------------------------


def graphml_text(
    header: Row, nodes: Sequence[Row], edges: Iterable[Row], *, json_strings: bool = False
) -> str:
    """Return a snapshot's header and rows as GraphML; lists, and what is no text, are JSON.

    ``json_strings``: a character that XML cannot have stands only in strings of JSON, in which it
    may as well be escaped. Where it may stand elsewhere, SnapshotError.
    """
    for row in nodes if not json_strings else ():
        if _NO_XML.search(row["filter"]):
            raise SnapshotError(f"node {row['id']} has a character that XML cannot have")
    indexed = any(row["index"] is not None for row in nodes)
    keys = [("filter", "node"), ("interfaces", "node")]
    keys += [("index", "node")] if indexed else []
    keys += [(name, "graph") for name in header]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<graphml xmlns="{_NAMESPACE}">']
    names = {}
    for i, (name, what) in enumerate(keys):
        names[what, name] = f"d{i}"
        lines.append(
            f'  <key id="d{i}" for="{what}" attr.name={quoteattr(name)} attr.type="string"/>'
        )
    lines.append('  <graph id="table" edgedefault="directed">')
    lines += [
        f'    <data key="{names["graph", name]}">{_xml(value)}</data>'
        for name, value in header.items()
    ]
    for row in nodes:
        lines.append(f'    <node id="{row["id"]}">')
        for name in ("filter", "interfaces", "index"):
            if row[name] is not None:
                lines.append(f'      <data key="{names["node", name]}">{_xml(row[name])}</data>')
        lines.append("    </node>")
    lines += [f'    <edge source="{row["parent"]}" target="{row["child"]}"/>' for row in edges]
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def _xml(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    # Such a character stands in a string of JSON, where its escape means the same.
    text = _NO_XML.sub(lambda found: json.dumps(found[0])[1:-1], text)
    return escape(text).replace("\r", "&#13;")


def node_link(header: Row, nodes: Iterable[Row], edges: Iterable[Row]) -> dict[str, Any]:
    """Return a snapshot's header and rows as ``networkx.node_link_graph`` reads them."""
    return {
        "directed": True,
        "multigraph": False,
        "graph": dict(header),
        "nodes": [
            {name: value for name, value in row.items() if value is not None} for row in nodes
        ],
        "edges": [{"source": row["parent"], "target": row["child"]} for row in edges],
    }


def pairs_csv(nodes: Iterable[Row], edges: Iterable[Row]) -> str:
    """Return a row for each pair of a filter and an interface: id, filter, interface, parents."""
    parents: dict[int, list[int]] = {}
    for row in edges:
        parents.setdefault(row["child"], []).append(row["parent"])
    out = io.StringIO()
    # Lines end as RFC 4180 says, and as only then a carriage return in a name is quoted.
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["id", "filter", "interface", "parents"])
    for row in nodes:
        above = " ".join(map(str, parents.get(row["id"], ())))
        for interface in row["interfaces"]:
            writer.writerow([row["id"], row["filter"], interface, above])
    return out.getvalue()


# -- reading, with no trust in what is read --------------------------------------------------------


def read_graphml(text: str | bytes) -> tuple[dict[str, Any], list[Row], list[Row]]:
    """Return the header, nodes and edges that GraphML holds, as ``Snapshot.from_rows`` takes them.

    SnapshotError for what is no GraphML, or declares entities, which could be of any size.
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise SnapshotError("GraphML with a document type is not read")
    try:
        root = ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError) as error:
        raise SnapshotError(f"no XML: {error}") from None
    if _tag(root) != "graphml":
        raise SnapshotError(f"no GraphML: the file is {_tag(root)!r}")
    names: dict[str, str] = {}
    for key in root.iter():
        if _tag(key) == "key":
            names[key.get("id", "")] = key.get("attr.name", key.get("id", ""))
    graph = next((each for each in root if _tag(each) == "graph"), None)
    if graph is None:
        raise SnapshotError("the GraphML holds no graph")
    header = _data(graph, names)
    nodes: list[tuple[str, dict[str, Any]]] = []
    ends: list[tuple[str, str]] = []
    for each in graph:
        if _tag(each) == "node":
            nodes.append((each.get("id", ""), _data(each, names)))
        elif _tag(each) == "edge":
            ends.append((each.get("source", ""), each.get("target", "")))
    return _rows(header, nodes, ends)


def read_node_link(data: object) -> tuple[dict[str, Any], list[Row], list[Row]]:
    """Return the header, nodes and edges of node-link JSON, as networkx writes it.

    Edges are in "edges" or, as it was before, in "links".
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("nodes"), list):
        raise SnapshotError('node-link JSON is an object with a list of "nodes"')
    graph = data.get("graph")
    links = data.get("edges") if isinstance(data.get("edges"), list) else data.get("links")
    if not isinstance(links, list):
        raise SnapshotError('node-link JSON has a list of "edges" or "links"')
    nodes = []
    for node in data["nodes"]:
        if not isinstance(node, Mapping) or not _is_name(node.get("id")):
            raise SnapshotError('a node is an object with an "id"')
        nodes.append((str(node["id"]), dict(node)))
    ends = []
    for link in links:
        if not isinstance(link, Mapping):
            raise SnapshotError("an edge is an object with source and target")
        ends.append((str(link.get("source")), str(link.get("target"))))
    return _rows(dict(graph) if isinstance(graph, Mapping) else {}, nodes, ends)


def _rows(
    header: Mapping[str, Any],
    nodes: Sequence[tuple[str, dict[str, Any]]],
    ends: Iterable[tuple[str, str]],
) -> tuple[dict[str, Any], list[Row], list[Row]]:
    own = header.get("format") == "posetlib-snapshot"
    numbers: dict[str, int] = {}
    rows: list[Row] = []
    for place, (name, values) in enumerate(nodes):
        if name in numbers:
            raise SnapshotError(f"two nodes have the id {name!r}")
        numbers[name] = int(name) if own and name.isascii() and name.isdigit() else place
        where = f"node {name!r}"
        row = {
            "id": numbers[name],
            "filter": values.get("filter", values.get("label")),
            "interfaces": _names(values.get("interfaces", values.get("interface")), where),
        }
        if values.get("index") is not None:
            row["index"] = _names(values["index"], where)
        rows.append(row)
    edges: list[Row] = []
    for source, target in ends:
        for end in (source, target):
            if end not in numbers:
                raise SnapshotError(f"an edge refers to node {end!r}, which is not there")
        edges.append({"parent": numbers[source], "child": numbers[target]})
    return _header(header), rows, edges


def _header(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file says of itself; what a foreign one does not say is assumed."""
    header: dict[str, Any] = {"format": "posetlib-snapshot", "version": 1}
    header["structure"] = found.get("structure", _DEFAULT_STRUCTURE)
    for name, value in found.items():
        if name in ("local", "types", "version") or (
            found.get("format") == "posetlib-snapshot" and name not in header
        ):
            header[name] = _json_or_text(value)
    return header


def _names(value: object, where: str) -> list[str]:
    """Return interfaces from a list, JSON, or text with commas; none is no interface."""
    if isinstance(value, str):
        text = value
        if text.lstrip().startswith("["):
            try:
                value = json.loads(text)
            except ValueError:
                raise SnapshotError(f"{where}: cannot read the interfaces {text[:80]!r}") from None
        else:
            value = [each.strip() for each in text.split(",") if each.strip()]
    if value is None:
        return []
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise SnapshotError(f"{where}: interfaces are a list of names, or text with commas")
    return list(value)


def _json_or_text(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _tag(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _data(element: ET.Element, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        names.get(each.get("key", ""), each.get("key", "")): each.text or ""
        for each in element
        if _tag(each) == "data"
    }

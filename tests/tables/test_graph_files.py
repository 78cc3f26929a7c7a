"""Snapshots in the formats of other programs: read back by those, and by ourselves."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posetlib as pl

#: Names and strings that files of text may trip over.
ODD = st.text(
    alphabet=st.one_of(
        st.sampled_from(list("<>&\"'\\,;\n\r\t \u202e\ufffe\x01]")), st.characters()
    ),
    min_size=1,
    max_size=6,
)
ITEMS = st.one_of(
    st.integers(0, 9).map(lambda n: pl.parse_filter(f"x > {n}")),
    ODD.map(lambda text: pl.parse_filter(f"s = {json.dumps(text)}")),
)
PAIRS = st.lists(st.tuples(ITEMS, ODD), min_size=1, max_size=8)


@given(PAIRS, st.sampled_from(["fp", "pf", "bf", "nrf"]))
def test_what_is_written_is_read_back(pairs: list[Any], structure: str) -> None:
    table = pl.make_table(structure)
    for item, interface in pairs:
        table.add(item, interface)
    snapshot = table.snapshot()
    assert pl.Snapshot.from_graphml(table.to_graphml()) == snapshot
    data = json.loads(json.dumps(table.to_node_link()))
    assert pl.Snapshot.from_node_link(data) == snapshot
    rows = list(csv.DictReader(io.StringIO(table.to_csv(), newline="")))
    found = [(pl.parse_filter(row["filter"]), row["interface"]) for row in rows]
    assert found == list(snapshot.entries())


def example(structure: str = "bf") -> pl.Table:
    table = pl.make_table(structure)
    for text, interface in (("x > 1", "I1"), ("x > 5", "I2"), ("x > 5 and y < 2", "a,b & <c>")):
        table.add(pl.parse_filter(text), interface)
    return table


@pytest.mark.parametrize("structure", ["fp", "bf"])
def test_networkx_reads_both(structure: str) -> None:
    table = example(structure)
    own = table.to_networkx()
    for graph in (
        nx.parse_graphml(table.to_graphml()),
        nx.node_link_graph(table.to_node_link(), edges="edges"),
    ):
        assert {(int(a), int(b)) for a, b in graph.edges} == set(own.edges)
        assert {str(data["filter"]) for _, data in graph.nodes(data=True)} == {
            str(data["filter"]) for _, data in own.nodes(data=True)
        }
        assert graph.graph["structure"] == structure
        assert isinstance(graph, nx.DiGraph)


def test_what_networkx_writes_is_read() -> None:
    table = example("fp")
    graph = nx.DiGraph()
    for node in table.snapshot().nodes:
        graph.add_node(f"n{node.id}", filter=str(node.item), interfaces="I1, I2")
    graph.add_edges_from((f"n{a}", f"n{b}") for a, b in table.snapshot().edges)
    text = "\n".join(nx.generate_graphml(graph))
    read = pl.Snapshot.from_graphml(text)
    assert read.structure == "fp"
    assert [str(node.item) for node in read.nodes] == [str(n.item) for n in table.snapshot().nodes]
    assert read.edges == table.snapshot().edges
    assert all(node.interfaces == ("I1", "I2") for node in read.nodes)
    for name in ("edges", "links"):
        data = nx.node_link_data(graph, edges=name)
        assert pl.Snapshot.from_node_link(data) == read


def test_an_xml_parser_finds_a_node_for_each_filter() -> None:
    root = ET.fromstring(example().to_graphml())
    names = [each.tag.rpartition("}")[2] for each in root.iter()]
    assert names.count("node") == 3
    assert names.count("edge") == 2


def test_types_come_along() -> None:
    types = pl.TypeHierarchy({"B": ["A"]})
    table = pl.FiltersPoset()
    table.add(pl.parse_filter("type isa B", types=types), "I1")
    table.add(pl.parse_filter("type isa A", types=types), "I2")
    for read in (
        pl.Snapshot.from_graphml(table.to_graphml()),
        pl.Snapshot.from_node_link(table.to_node_link()),
    ):
        assert read.restore() == table


GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'
NODE = '<graph><node id="a"><data key="filter">x &gt; 1</data></node>{}</graph>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no XML"),
        ("<a>", "no XML"),
        ("<svg/>", "no GraphML"),
        (GRAPHML.format(""), "no graph"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><graphml/>', "document type"),
        (GRAPHML.format('<graph><node id="a"/></graph>'), "the filter is text"),
        (GRAPHML.format(NODE.format('<node id="a"/>')), "two nodes have the id 'a'"),
        (GRAPHML.format(NODE.format('<edge source="a" target="b"/>')), "node 'b', which is not"),
        (
            GRAPHML.format(NODE.replace("x &gt; 1", "x &gt;").format("")),
            "cannot read the filter",
        ),
        (
            GRAPHML.format(NODE.format('<node id="b"><data key="interfaces">[1</data></node>')),
            "cannot read the interfaces",
        ),
    ],
)
def test_bad_graphml_is_told_in_words(text: str, words: str) -> None:
    with pytest.raises(pl.SnapshotError, match=words):
        pl.Snapshot.from_graphml(text)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "node-link JSON is an object"),
        ({"nodes": []}, "edges"),
        ({"nodes": [3], "links": []}, 'an object with an "id"'),
        ({"nodes": [], "links": [3]}, "source and target"),
        (
            {"nodes": [{"id": 1, "filter": "x > 1", "interfaces": [3]}], "links": []},
            "list of names",
        ),
    ],
)
def test_bad_node_link_is_told_in_words(data: Any, words: str) -> None:
    with pytest.raises(pl.SnapshotError, match=words):
        pl.Snapshot.from_node_link(data)


def test_operations_as_rows() -> None:
    trace = pl.Trace()
    trace.add(pl.parse_filter('s = "a,b"'), "I1")
    trace.drop_interface("I1")
    rows = list(csv.reader(io.StringIO(trace.to_csv())))
    assert rows == [
        ["operation", "filter", "interface"],
        ["add", 's = "a,b"', "I1"],
        ["drop_interface", "", "I1"],
    ]


def test_other_items_are_written_as_they_are_or_not_at_all() -> None:
    table = pl.FiltersPoset(covers=lambda a, b: b.startswith(a))
    for i, item in enumerate(("a\rb", "a", "<a & b>\n")):
        table.add(item, f"I{i}")
    snapshot = table.snapshot()
    read = pl.Snapshot.from_graphml(snapshot.to_graphml(encode=str), decode=str)
    assert [node.item for node in read.nodes] == [node.item for node in snapshot.nodes]
    table.add("a\x01", "I2")
    with pytest.raises(pl.SnapshotError, match="a character that XML cannot have"):
        table.snapshot().to_graphml(encode=str)

"""Snapshots: the format, the ways back, and no trust in what is read."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx
import pytest

from posetlib.constraints.types import TypeHierarchy
from posetlib.errors import InvariantError, SnapshotError
from posetlib.filters.parsing import parse_filter
from posetlib.tables import Table
from posetlib.tables.snapshot import Snapshot
from tests.tables.kinds import KINDS, SETS

TEXTS = (("x in [0, 10]", "I1"), ("x in [2, 8]", "I2"), ("x = 5", "I3"), ('s = "\\"\\\\"', "I1"))


def filled(kind: str) -> Table:
    cls, options = KINDS[kind]
    return cls.build([(parse_filter(text), interface) for text, interface in TEXTS], **options)


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest) -> Table:
    return filled(str(request.param))


class TestFormat:
    def test_the_whole_of_it(self) -> None:
        data = json.loads(filled("nrf").snapshot().to_json())
        assert data == {
            "format": "posetlib-snapshot",
            "version": 1,
            "structure": "nrf",
            "nodes": [
                {
                    "id": 0,
                    "filter": "x in [0, 10]",
                    "interfaces": ["I1"],
                    "index": ["I2", "I3"],
                },
                {"id": 1, "filter": "x in [2, 8]", "interfaces": ["I2"], "index": ["I3"]},
                {"id": 2, "filter": "x = 5", "interfaces": ["I3"], "index": []},
                {"id": 3, "filter": 's = "\\"\\\\"', "interfaces": ["I1"], "index": []},
            ],
            "edges": [[0, 1], [1, 2]],
        }

    def test_the_index_is_there_where_it_is_kept(self, table: Table) -> None:
        data = json.loads(table.snapshot().to_json())
        indexed = table.structure in ("bf", "nrf")
        assert all(("index" in node) == indexed for node in data["nodes"])
        assert data.get("local", False) == table.local
        assert "types" not in data
        assert all(
            "index" not in node
            for node in json.loads(table.snapshot(index=False).to_json())["nodes"]
        )

    def test_types(self) -> None:
        types = TypeHierarchy({"B": ["A"], "C": ["B"], "D": []})
        cls, options = KINDS["fp"]
        table = cls(**options)
        table.add(parse_filter("t isa A", types=types), "I1")
        table.add(parse_filter('t isa B or t contains "x"', types=types), "I2")
        text = table.snapshot().to_json()
        assert json.loads(text)["types"] == {"A": [], "B": ["A"], "C": ["A", "B"]}
        read = Snapshot.from_json(text)
        assert read.restore() == table
        assert read.to_json() == text

    def test_two_hierarchies_in_one_table(self) -> None:
        cls, _ = KINDS["fp"]
        table = cls()
        table.add(parse_filter("t isa A", types=TypeHierarchy({"B": ["A"]})), "I1")
        table.add(parse_filter("u isa A"), "I2")
        with pytest.raises(SnapshotError, match="subtypes of A"):
            table.snapshot().to_json()

    def test_interfaces_in_a_file_are_strings(self) -> None:
        table = SETS.make("fp")
        table.add(frozenset("a"), 7)
        with pytest.raises(SnapshotError, match="node 0 has 7"):
            table.snapshot().to_json()


class TestBack:
    def test_through_json(self, table: Table) -> None:
        snapshot = table.snapshot()
        read = Snapshot.from_json(snapshot.to_json())
        assert read == snapshot
        restored = read.restore()
        assert type(restored) is type(table)
        assert restored == table
        assert restored.snapshot() == snapshot
        assert restored.counters.covering_tests == 0
        restored.check()
        general = parse_filter("x in [0, 20]")
        assert restored.add(general, "I2") == table.add(general, "I2")

    def test_bytes(self, table: Table) -> None:
        snapshot = table.snapshot()
        assert Snapshot.from_json(snapshot.to_json().encode()) == snapshot

    def test_through_rows_in_any_order(self, table: Table) -> None:
        snapshot = table.snapshot()
        nodes, edges = snapshot.node_rows(), snapshot.edge_rows()
        assert all(set(row) == {"id", "filter", "interfaces", "index"} for row in nodes)
        assert all(set(row) == {"parent", "child"} for row in edges)
        read = Snapshot.from_rows(snapshot.header(), reversed(nodes), reversed(edges))
        assert read.nodes == snapshot.nodes
        assert read.restore() == table

    def test_ids_may_have_gaps(self, table: Table) -> None:
        data = json.loads(table.snapshot().to_json())
        for node in data["nodes"]:
            node["id"] = 10 * node["id"] + 7
        data["edges"] = [[10 * a + 7, 10 * b + 7] for a, b in data["edges"]]
        assert Snapshot.from_json(json.dumps(data)).restore() == table

    def test_other_items(self) -> None:
        for kind in KINDS:
            table = SETS.build(kind, [(item, f"I{len(item)}") for item in SETS.items])
            text = table.snapshot().to_json(lambda item: "".join(sorted(item)))
            read = Snapshot.from_json(text, frozenset)
            restored = read.restore(covers=frozenset.issuperset)
            assert restored == table
            restored.check()

    def test_a_picture_stays_as_it_is(self, table: Table) -> None:
        snapshot = table.snapshot()
        text = snapshot.to_json()
        table.drop_interface("I1")
        assert snapshot.to_json() == text
        assert len(snapshot) == 4
        assert snapshot.roots() == (parse_filter("x in [0, 10]"), parse_filter(TEXTS[3][0]))
        assert len(snapshot.entries()) == 4


class TestOtherForms:
    def test_networkx(self, table: Table) -> None:
        graph = table.snapshot().to_networkx()
        assert nx.is_directed_acyclic_graph(graph)
        assert set(graph.edges) == {(0, 1), (1, 2)}
        assert graph.nodes[1]["filter"] == parse_filter("x in [2, 8]")
        assert graph.nodes[1]["interfaces"] == ("I2",)
        assert graph.graph["structure"] == table.structure

    def test_dot(self, table: Table) -> None:
        dot = table.snapshot().to_dot()
        assert dot.startswith(f"digraph {table.structure} {{")
        assert '  0 [label="x in [0, 10]\\nI1"];' in dot
        assert "  1 -> 2;" in dot
        # The quote and the backslashes of the filter's own text are escaped once more.
        assert r'label="s = \"\\\"\\\\\"\nI1"' in dot


class TestCycles:
    """A restored cycle is for check() to find; nothing else may run round it for ever."""

    @staticmethod
    def cyclic(kind: str) -> Table:
        loaded = json.loads(filled(kind).snapshot().to_json())
        loaded["edges"] += [[2, 1], [2, 0]]
        restored: Table = Snapshot.from_json(json.dumps(loaded)).restore()
        return restored

    @pytest.mark.parametrize("kind", KINDS)
    def test_reading_ends(self, kind: str) -> None:
        table = self.cyclic(kind)
        for item in table:
            table.covering(item)
            table.covered(item)
        table.match({"x": 5})
        table.match_account({"x": 5}, max_tests=0)
        table.matching({"x": 5})
        assert table.copy().snapshot().to_json() == table.snapshot().to_json()
        with pytest.raises(InvariantError, match="reachable-acyclic"):
            table.check()

    @pytest.mark.parametrize("kind", KINDS)
    def test_updates_are_refused(self, kind: str) -> None:
        table = self.cyclic(kind)
        for again in (table, table.copy()):
            with pytest.raises(InvariantError, match="reachable-acyclic"):
                again.add(parse_filter("x in [4, 6]"), "I1")
            with pytest.raises(InvariantError, match="reachable-acyclic"):
                again.drop_interface("I1")


def data() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(filled("nrf").snapshot().to_json())
    return loaded


class TestRefused:
    @pytest.mark.parametrize(
        ("path", "value", "message"),
        [
            (("format",), "something", "the format is 'something'"),
            (("format",), None, "the format is None"),
            (("version",), 2, "the version is 2; this library reads version 1"),
            (("version",), "1", "the version is '1'"),
            (("version",), True, "the version is True"),
            (("structure",), "tree", "unknown structure 'tree'"),
            (("structure",), None, "unknown structure None"),
            (("structure",), ["nrf"], "unknown structure"),
            (("local",), "yes", '"local" is true or false'),
            (("types",), ["A"], '"types" maps'),
            (("types",), {"A": ["B"], "B": ["A"]}, '"types" is no hierarchy'),
            (("types",), {"A": 3}, '"types" is no hierarchy'),
            (("nodes",), None, 'a list of "nodes"'),
            (("nodes",), {}, 'a list of "nodes"'),
            (("edges",), None, 'a list of "edges"'),
            (("nodes", 1), 17, "a node is an object"),
            (("nodes", 1, "id"), 0, "two nodes have the id 0"),
            (("nodes", 1, "id"), "1", "the id of a node is a whole number, not '1'"),
            (("nodes", 1, "id"), True, "whole number"),
            (("nodes", 1, "id"), None, "whole number"),
            (("nodes", 1, "filter"), "x in [2,", "node 1: cannot read the filter 'x in \\[2,'"),
            (("nodes", 1, "filter"), "x > 3 and x < 2", "node 1: cannot read"),
            (("nodes", 1, "filter"), None, "node 1: the filter is text, not NoneType"),
            (("nodes", 1, "filter"), "x = 5", "nodes 1 and 2 have the same filter"),
            (("nodes", 1, "interfaces"), "I1", 'node 1: "interfaces" is a list'),
            (("nodes", 1, "interfaces"), None, 'node 1: "interfaces" is a list'),
            (("nodes", 1, "interfaces"), [1], "no string"),
            (("nodes", 1, "interfaces"), ["I1", "I1"], "twice"),
            (("nodes", 1, "index"), 4, 'node 1: "index" is a list'),
            (("edges", 0), [0, 9], "edge \\[0, 9\\] refers to node 9, which is not there"),
            (("edges", 0), [-1, 0], "refers to node -1"),
            (("edges", 0), [0, True], "refers to node True"),
            (("edges", 0), [0, [1]], "refers to node"),
            (("edges", 0), [1, 2], "edge \\[1, 2\\] is there twice"),
            (("edges", 0), [0], "an edge is a pair"),
            (("edges", 0), "01", "an edge is a pair"),
        ],
    )
    def test_what_is_wrong_is_named(self, path: tuple[Any, ...], value: Any, message: str) -> None:
        broken = data()
        place = broken
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        with pytest.raises(SnapshotError, match=message):
            Snapshot.from_json(json.dumps(broken))

    @pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '"posetlib"', b"\xff\xfe\xfa"])
    def test_what_is_no_snapshot(self, text: Any) -> None:
        with pytest.raises(SnapshotError):
            Snapshot.from_json(text)

    @pytest.mark.parametrize("key", ["format", "version", "structure", "nodes", "edges"])
    def test_what_is_missing(self, key: str) -> None:
        broken = data()
        del broken[key]
        with pytest.raises(SnapshotError):
            Snapshot.from_json(json.dumps(broken))

    def test_a_local_table_of_a_structure_that_has_none(self) -> None:
        broken = data()
        broken["local"] = True
        with pytest.raises(SnapshotError, match="'nrf' is never local"):
            Snapshot.from_json(json.dumps(broken))

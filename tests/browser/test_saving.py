"""Take it along, bring it in: what is saved is read back, here and by other programs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from PIL import Image

import posetlib as pl
from browser.app import create_app
from browser.checking import check_file
from browser.config import Config, Limits
from browser.exports import FORMATS, exported, save_query
from browser.sources import SourceError, read_files
from browser.state import Library, from_query
from browser.story import FILE

from .driving import Visitor
from .files import snapshot_json, table, write_run, write_snapshot

LIMITS = Limits()
EXAMPLE = {"from": "example", "example": "forwards"}


class TestExports:
    @pytest.mark.parametrize("structure", ["fp", "nrf"])
    def test_every_format_is_read_back(self, structure: str) -> None:
        library = Library(Config())
        story = library.story(EXAMPLE)
        frame = story.frame(structure, 5)
        query = from_query(save_query(EXAMPLE, structure, 5))
        for name in FORMATS:
            file, _, text = exported(library, name, query)
            if name == "dot":
                assert text.count(" -> ") == len(frame.graph.edges)
                continue
            source = read_files([(file, text.encode())], LIMITS)
            if name in ("trace", "operations"):
                assert source.operations == tuple(story.trace)[:5]
            elif name == "csv":
                pairs = [(each.item, each.interface) for each in source.operations]
                assert pairs == list(frame.snapshot.entries())
            else:
                assert source.snapshot is not None
                assert source.snapshot.restore() == frame.table()
                verdict = check_file(Library(Config()).story(EXAMPLE))
                assert verdict is None

    def test_other_programs_read_them(self) -> None:
        library = Library(Config())
        query = from_query(save_query(EXAMPLE, "fp", 5))
        graph = nx.parse_graphml(exported(library, "graphml", query)[2])
        assert len(graph) == 5
        assert len(graph.edges) == 3
        data = json.loads(exported(library, "nodelink", query)[2])
        assert nx.is_directed_acyclic_graph(nx.node_link_graph(data, edges="edges"))

    def test_a_file_is_at_its_address(self) -> None:
        client = create_app().server.test_client()
        query = save_query(EXAMPLE, "fp", 5)
        answer = client.get(f"/export/graphml{query}")
        assert answer.status_code == 200
        assert answer.headers["Content-Disposition"] == 'attachment; filename="fp-5.graphml"'
        assert ET.fromstring(answer.data).tag.endswith("graphml")
        for path in (f"/export/nothing{query}", "/export/dot?from=nowhere", "/export/dot?step=x"):
            refused = client.get(path)
            assert refused.status_code == 404
            assert refused.mimetype == "text/plain"

    def test_an_uploaded_file_is_saved_as_it_is(self) -> None:
        library = Library(Config())
        document = json.loads(snapshot_json("bf"))
        document["edges"].append([1, 4])
        document["nodes"][0]["index"] = ["I9"]
        key = library.keep([("t.json", json.dumps(document).encode())])
        query = {"from": "document", "doc": key, "structure": FILE}
        saved = json.loads(exported(library, "snapshot", query)[2])
        assert saved == document


class TestImports:
    def test_json_lists(self) -> None:
        rows: list[Any] = [
            {"filter": "x > 1", "interface": "I1"},
            {"operation": "remove", "filter": "x > 1", "interface": "I1"},
        ]
        for data in (rows, [["x > 1", "I1"]], ["x > 1"]):
            source = read_files([("list.json", json.dumps(data).encode())], LIMITS)
            assert str(source.operations[0]) == "add x > 1 (I1)"
            assert len(source.operations) == len(data)

    def test_csv_with_operations(self) -> None:
        text = "operation,interface,filter\nsubscribe,I1,x > 1\n+,I2,x > 2\n-,I2,x > 2\ndrop,I1,\n"
        source = read_files([("ops.csv", text.encode())], LIMITS)
        names = [each.name for each in source.operations]
        assert names == ["add", "add", "remove", "drop_interface"]
        with pytest.raises(SourceError, match="line 2: there is no operation 'jump'"):
            read_files([("ops.csv", b"operation,interface,filter\njump,I1,x > 1\n")], LIMITS)

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("a.graphml", b"<graphml", "a.graphml: no XML"),
            ("a.xml", b"<svg/>", "no GraphML"),
            ("a.graphml", b"<!DOCTYPE x><graphml/>", "document type"),
            ("a.json", b'{"nodes": [], "links": []}', "holds no filter"),
            ("a.json", b'{"nodes": [{"id": 1, "filter": "x>1"}], "links": []}', "no interface"),
            ("a.json", b'{"directed": true, "nodes": [{"id": 1}], "links": []}', "filter is text"),
        ],
    )
    def test_what_is_wrong_is_told(self, name: str, content: bytes, words: str) -> None:
        with pytest.raises(SourceError, match=words):
            read_files([(name, content)], LIMITS)

    def test_limits_hold_for_graphs_too(self) -> None:
        data = {"nodes": [{"id": i, "filter": "x > 1"} for i in range(9)], "links": []}
        with pytest.raises(SourceError, match="9 nodes are more than the 5"):
            read_files([("a.json", json.dumps(data).encode())], Limits(steps=5))


class TestTablesOfTheJobs:
    def test_a_table_is_opened_as_it_is(self, tmp_path: Path) -> None:
        library = Library(Config(write_run(tmp_path) / "workload"))
        story = library.story({"from": "table", "table": "fp"})
        assert story.frame(FILE, 0).table() == table("fp")
        verdict = check_file(story)
        assert verdict is not None
        assert verdict.ok
        with pytest.raises(SourceError, match="there is no table"):
            library.story({"from": "table", "table": "../fp"})

    def test_a_large_one_is_opened_around_a_filter(self, tmp_path: Path) -> None:
        pairs = [(f"x in [{i}, {1000 - i}]", f"I{i}") for i in range(60)]
        pairs += [(f"y = {i}", "J") for i in range(60)]
        write_snapshot(tmp_path / "big", table("pf", pairs).snapshot())
        library = Library(Config(runs=tmp_path, limits=Limits(workload_filters=50)))
        story = library.story({"from": "table", "table": "big", "around": "30"})
        texts = {str(item) for item in story.number}
        assert texts == {f"x in [{i}, {1000 - i}]" for i in range(28, 33)}
        assert "A part of 120 filters" in story.source.note
        assert check_file(story) is None, "of a part nothing can be said"
        by_text = library.story({"from": "table", "table": "big", "around": "x in [30,970]"})
        assert {str(item) for item in by_text.number} == texts
        for around in ("5000", "z = 1"):
            with pytest.raises(SourceError, match="has no filter"):
                library.story({"from": "table", "table": "big", "around": around})


@pytest.mark.needs("chromium")
class TestPictures:
    @pytest.mark.parametrize(
        ("page", "panel", "nodes"),
        [
            ("", "tables-fp", 5),
            ("match", "match-nrf", 5),
            ("diff", "diff-both", 4),
            ("forwards", "forwards-step", 4),
            ("network", "network-map", 0),
            ("runs", "runs-witness", 3),
        ],
    )
    def test_every_graph_is_saved_with_its_legend(
        self, visitor: Visitor, address: str, page: str, panel: str, nodes: int
    ) -> None:
        source = (
            "?from=workload&report=bad.json" if page == "runs" else "?from=example&example=forwards"
        )
        visitor.open(f"{address}/{page}{source}{'' if page in ('diff', 'runs') else '&step=5'}")
        panel = self.panel(visitor, panel)
        drawn, _ = visitor.drawn(panel)
        visitor.settled(panel)
        visitor.click(f"#graph-{panel}")  # so that an open menu is the only thing above it
        root, texts = self.saved(visitor, panel)
        groups = [each.get("class") for each in root.iter("{http://www.w3.org/2000/svg}g")]
        assert groups.count("node") >= (nodes or drawn)
        assert groups.count("legend") == 1
        assert any("An edge leads" in each for each in texts)

    def test_the_plane_is_saved_as_it_looks(self, visitor: Visitor, address: str) -> None:
        text = "I1: x in [0, 5] and y in [0, 4]\nI2: x in [0, 5] and y in [4, 9]\nI1: x in [1, 2]"
        visitor.open(f"{address}/plane?from=text&text={quote(text)}")
        visitor.click("#plane-mergers input")
        visitor.write("#plane-notification", '{"x": 3, "y": 4}', submit=True)
        visitor.one("#plane-plane .notification")
        root, texts = self.saved(visitor, "plane-chart")
        shapes = [each for each in root.iter() if each.get("class", "").startswith("rectangle")]
        assert len(shapes) == 3
        assert all(each.get("fill", "").startswith("rgb") for each in shapes)
        assert sorted(each.get("stroke-width", "") for each in shapes) == ["3px"] * 3
        assert [each.get("class") for each in root.iter()].count("merger") == 1
        for words in (": x and y", "A rectangle is what", "Dashed: two roots", "The dot is", "I2"):
            assert any(words in each for each in texts), words

    def saved(self, visitor: Visitor, panel: str) -> tuple[ET.Element, list[str]]:
        """Save a picture as SVG and PNG; return the first, and its texts."""
        visitor.click(f".menu:has(#save-{panel}) > summary")
        visitor.click(f"[data-graph='svg {panel}']")
        root = ET.fromstring(visitor.downloaded(".svg"))
        texts = [each.text or "" for each in root.iter() if each.tag.endswith(("text", "tspan"))]
        visitor.click(f"[data-graph='png {panel}']")
        image = Image.open(io.BytesIO(visitor.downloaded(".png")))
        assert image.format == "PNG"
        width, height = image.size
        box = [float(each) for each in str(root.get("viewBox")).split()]
        assert abs(width / height - box[2] / box[3]) < 0.02
        assert len(image.convert("RGB").getcolors(1 << 24) or ()) > 8, "a picture of something"
        return root, texts

    def panel(self, visitor: Visitor, panel: str) -> str:
        if not panel.startswith("network"):
            return panel
        found = visitor.until(
            lambda: visitor.driver.execute_script(
                "const g = document.querySelector('.graph[data-drawn]');"
                "return g && g.id.replace('graph-', '')"
            ),
            "the graph of the network",
        )
        return str(found)

    def test_a_link_saves_the_table(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/?from=example&example=forwards&step=5")
        visitor.drawn("tables-nrf")
        visitor.settled("tables-nrf")
        visitor.click(".menu:has(#save-tables-nrf) > summary")
        visitor.choose("#save-tables-nrf a", "GraphML")
        read = pl.Snapshot.from_graphml(visitor.downloaded(".graphml"))
        assert read.structure == "nrf"
        assert len(read) == 5

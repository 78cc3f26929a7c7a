"""Hostile files: none is taken, each is told in words, and the page works on."""

from __future__ import annotations

import base64
import io
import json
import pickle
import urllib.error
import urllib.request
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from browser.config import Limits
from browser.pages.source_panel import decoded
from browser.sources import SourceError, read_files, read_text

from .driving import Visitor
from .files import snapshot_json, trace_json

LIMITS = Limits(steps=5_000)
SCRIPT = '<script>window.hacked = true</script><img src=x onerror="window.hacked = true">'


def snapshot(**changes: object) -> bytes:
    data = json.loads(snapshot_json())
    data.update(changes)
    return json.dumps(data, indent=1).encode()


def nodes(count: int) -> list[dict[str, object]]:
    return [{"id": i, "filter": f"x = {i}", "interfaces": ["I1"]} for i in range(count)]


def parquet(**columns: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="zstd")
    return out.getvalue()


class _Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return (exec, ("raise SystemExit('unpickled')",))


BAD = {
    "empty.json": (b"", "the file is empty"),
    "truncated.json": (snapshot_json().encode()[:-30], "line 1, column"),
    "truncated-lines.json": (snapshot()[:-30], "line 49, column 4"),
    "deep.json": (b"[" * 200_000, "nested too deeply"),
    "deep-object.json": (
        b'{"format": "posetlib-snapshot", "x": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
        "nested too deeply",
    ),
    "version.json": (snapshot(version=99), "the version is 99"),
    "format.json": (b'{"format": "other"}', "neither a snapshot nor a trace"),
    "list.json": (b"[1, 2]", "entry 1: a row is an object with filter and interface"),
    "number.json": (b'{"format": ' + b"9" * 10_000 + b"}", "not JSON"),
    "structure.json": (snapshot(structure="btree"), "unknown structure 'btree'"),
    "reference.json": (snapshot(edges=[[0, 77]]), "refers to node 77, which is not there"),
    "million.json": (snapshot(nodes=nodes(60_000)), "60,000 nodes are more than the 5,000"),
    "huge.json": (b" " * (LIMITS.upload_bytes + 1), "bytes are more than the"),
    "bad-filter.json": (
        snapshot(nodes=[{"id": 0, "filter": "x >", "interfaces": ["I1"]}], edges=[]),
        "line 6, column 3: node 0: cannot read the filter 'x >'",
    ),
    "bad-step.json": (
        json.dumps(
            json.loads(trace_json())
            | {"steps": [{"operation": "eval", "filter": "x = 1", "interface": "I1"}]},
            indent=1,
        ).encode(),
        "line 5, column 3: step 0: unknown operation 'eval'",
    ),
    "nested-filter.json": (
        snapshot(
            nodes=[{"id": 0, "filter": "(" * 9_000 + "x = 1", "interfaces": ["I1"]}], edges=[]
        ),
        "node 0",
    ),
    "types.json": (
        snapshot(types={f"T{i}": [f"T{i + 1}"] for i in range(20_000)}),
        "a hierarchy of more than 500 types",
    ),
    "interface.json": (
        snapshot(nodes=[{"id": 0, "filter": "x = 1", "interfaces": ["I" * 500_000]}], edges=[]),
        "line 6, column 3: node 0: the name of an interface has 500,000 characters",
    ),
    "interfaces.json": (
        snapshot(
            nodes=[{"id": 0, "filter": "x = 1", "interfaces": [f"I{i}" for i in range(6_000)]}],
            edges=[],
        ),
        "6,000 pairs of a filter and an interface are too many",
    ),
    "long-filter.json": (
        snapshot(
            nodes=[{"id": 0, "filter": f"x in {{{'1, ' * 9_000}1}}", "interfaces": ["I1"]}],
            edges=[],
        ),
        "node 0: a filter of 27,008 characters is too long",
    ),
    "long-filters.json": (
        snapshot(
            nodes=[
                {"id": i, "filter": f"x in {{{'1, ' * 5_000}{i}}}", "interfaces": ["I1"]}
                for i in range(430)
            ],
            edges=[],
        ),
        "filters of more than 6,291,456 characters together",
    ),
    "unpacked.parquet": (
        parquet(id=[1], filter=["x" * (80 << 20)], interface=["I1"]),
        "it unpacks to more than 67,108,864 bytes",
    ),
    "repeated.parquet": (
        parquet(
            id=list(range(4_000)),
            # One text that every row means: written out it would be four gigabytes.
            filter=pa.DictionaryArray.from_arrays(pa.array([0] * 4_000), ["x" * (1 << 20)]),
            interface=["I1"] * 4_000,
        ),
        "a filter of 1,048,576 bytes is too long",
    ),
    "latin.json": (b'{"format":\n "caf\xe9"}', "line 2: not UTF-8"),
    "pickle.json": (pickle.dumps(_Evil()), "not UTF-8"),
    "table.parquet": (b"PAR1 and no more", "no Parquet file"),
    "columns.parquet": (parquet(id=[1], text=["x = 1"]), "has no column filter"),
    "types.parquet": (parquet(id=[1], filter=[3], interface=["I1"]), '"filter" is missing'),
    "rows.jsonl": (b'{"filter": "x = 1", "interface": "I1"}\n{"filter": 3}', "line 2"),
    "rows.csv": (b"id,filter,interface\n1,x = 1,I1\n2,x >,I2\n", "line 3: "),
    "lines.txt": (b"I1: x = 1\nI1: x = 1 and x = 2\n", "line 2: "),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_told_in_words(name: str) -> None:
    content, words = BAD[name]
    with pytest.raises(SourceError) as caught:
        read_files([(name, content)], LIMITS)
    assert words in str(caught.value)
    assert str(caught.value).startswith(name)
    assert len(str(caught.value)) < 25_000


def test_several_files_must_be_parts_of_one_workload() -> None:
    with pytest.raises(SourceError, match="several files"):
        read_files([("a.json", b"{}"), ("b.json", b"{}")], LIMITS)


def test_too_many_lines_are_refused_at_the_line() -> None:
    text = "I1: x = 1\n" * (LIMITS.steps + 1)
    with pytest.raises(SourceError, match=r"line 5001: more than 5,000"):
        read_text(text, LIMITS)


def test_a_damaged_upload_is_told() -> None:
    with pytest.raises(SourceError, match="damaged"):
        decoded("data:application/json;base64,?!", LIMITS)
    with pytest.raises(SourceError, match="up to"):
        decoded("data:," + "A" * (LIMITS.upload_bytes * 2), LIMITS)
    content = base64.b64encode(b"I1: x = 1").decode()
    assert decoded(f"data:text/plain;base64,{content}", LIMITS) == b"I1: x = 1"


@pytest.mark.needs("chromium")
class TestInTheBrowser:
    @pytest.mark.parametrize(
        "name",
        [
            "truncated.json",
            "deep.json",
            "version.json",
            "huge.json",
            "bad-filter.json",
            "table.parquet",
        ],
    )
    def test_a_bad_file_leaves_the_page_as_it_was(
        self, visitor: Visitor, address: str, tmp_path: Path, name: str
    ) -> None:
        content, words = BAD[name]
        path = tmp_path / name
        path.write_bytes(content)
        visitor.open(address)
        visitor.draws("tables-fp", 5, 3)
        visitor.upload("#upload", path)
        visitor.told(words)
        visitor.click("#tables-back")
        visitor.draws("tables-fp", 4, 2)

    def test_text_from_a_file_is_never_html(
        self, visitor: Visitor, address: str, tmp_path: Path
    ) -> None:
        import posetlib as pl

        table = pl.FiltersPoset()
        table.add(pl.parse_filter(f"s = {json.dumps(SCRIPT)}"), SCRIPT.replace(" ", "_"))
        table.add(pl.parse_filter(f"`{SCRIPT}` = 1"), "I2")
        path = tmp_path / "<img src=x onerror=window.hacked=1>.json"
        path.write_text(table.snapshot().to_json())
        visitor.open(address)
        visitor.draws("tables-fp", 5, 3)
        visitor.upload("#upload", path)
        visitor.draws("tables-fp", 2, 0)
        visitor.choose("#tables-rows button", "#1")
        visitor.sees("#tables-detail", "<script>")
        visitor.hover("tables-fp", 2)
        visitor.sees("#tooltip", "onerror")
        for page in ("Match", "Diff", "Forwards"):
            visitor.choose(".nav a", page)
            visitor.until(lambda: visitor.one(".graph").get_attribute("data-drawn"), page)
        assert visitor.driver.execute_script("return window.hacked") is None

    def test_a_request_that_is_too_large_is_refused_by_the_server(self, address: str) -> None:
        request = urllib.request.Request(
            f"{address}/_dash-update-component",
            data=b"x" * (LIMITS.upload_bytes * 2),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as answer:
                status = answer.status
        except urllib.error.HTTPError as error:
            status = error.code
        except urllib.error.URLError:
            status = 413  # it hung up before all was sent
        assert status == 413

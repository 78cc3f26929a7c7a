"""How much is compared in broken and in wide tables: counted, and growing with the nodes alone.

And lists, for which Spark takes time that grows with the square of a batch: they go as text.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from posetlib.arrays.covering import Block
from posetlib.arrays.edges import Outline
from tests.workloads.files import write_rows
from workloads.blocks import Filters
from workloads.checks_interfaces import minimum_interface
from workloads.checks_order import roots_minimal_cover, sibling_pure
from workloads.context import Asked
from workloads.datasets import read_snapshot, typed
from workloads.files import Place
from workloads.opening import open_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("java")


def side_by_side(count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return roots, each a range of its own."""
    return [
        {"id": at, "filter": f"x in [{at}.25, {at}.75]", "interfaces": [f"I{at}"], "index": None}
        for at in range(count)
    ], []


def broken(count: int, how: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a forest of nested ranges, in which every interface is held twice, and break it."""
    nodes, edges = [], []
    low, high = [0.0] * count, [0.0] * count
    high[0] = 1.0
    for node in range(count):
        if node:
            parent, place = (node - 1) // 4, (node - 1) % 4
            width = (high[parent] - low[parent]) / 5
            low[node] = low[parent] + place * width + width / 8
            high[node] = low[node] + width
            if how != "lost edges" or node % 3:
                edges.append({"parent": parent, "child": node})
        nodes.append({"id": node, "filter": f"x in [{low[node]!r}, {high[node]!r}]",
                      "interfaces": [f"I{node % (count // 2)}"], "index": None})  # fmt: skip
    if how == "leaf to root":
        edges.append({"parent": count - 1, "child": 0})
    return nodes, edges


def counted(
    spark: SparkSession, folder: Path, count: int, how: str, patch: pytest.MonkeyPatch
) -> dict[str, int]:
    """Return how many pairs of filters are compared, and how many words travel along edges."""
    header = {"format": "posetlib-snapshot", "version": 1, "structure": "pf"}
    write_rows(
        folder, header, *(side_by_side(count) if how == "many roots" else broken(count, how))
    )
    work = {"pairs": 0, "words": 0}
    covered, gathered = Block.covered, Outline.gathered_above

    def comparing(self: Block, others: Any, rows: Any) -> Any:
        work["pairs"] += self.count * len(rows)
        return covered(self, others, rows)

    def travelling(self: Outline, own: Any) -> Any:
        work["words"] += len(self.parents) * own.shape[1]
        return gathered(self, own)

    read = read_snapshot(spark, Place(str(folder)))
    with patch.context() as changed, open_context(spark, read, Asked()) as context:
        # All in this process, where it can be counted.
        changed.setattr(Filters, "is_here", lambda *_: True)
        changed.setattr(Block, "covered", comparing)
        changed.setattr(Outline, "gathered_above", travelling)
        if how == "many roots":
            assert sibling_pure(context).violations == 0
        found = roots_minimal_cover(context)
        minimum_interface(context)
    if how == "lost edges":
        assert found.violations == sum(1 for node in range(1, count) if node % 3 == 0)
    return work


@pytest.mark.parametrize("how", ["lost edges", "leaf to root", "many roots"])
def test_work_on_broken_and_wide_tables_grows_with_their_nodes(
    spark: SparkSession, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = 8_000, 64_000
    first = counted(spark, tmp_path / "s", small, how, monkeypatch)
    last = counted(spark, tmp_path / "l", large, how, monkeypatch)
    for name, work in last.items():
        # Eight times as many nodes: eight times the work, and some more; the square is 64 times.
        assert work <= 16 * max(first[name], small)


LISTS: list[list[str | None] | None] = [
    ["I1", "I2"], [], None, [None], ["I1", "I1"],
    ["a \"quoted\" \\ name", "two\nlines", "", "ä€😀"],
]  # fmt: skip


@pytest.mark.parametrize("verify", [True, False])
def test_lists_pass_through_python_as_they_are(spark: SparkSession, verify: bool) -> None:
    schema = "id long, filter string, interfaces array<string>, index array<string>"
    rows = [(at, f"x in [0, {at + 1}]", each, LISTS[-at]) for at, each in enumerate(LISTS)]
    made = spark.createDataFrame(rows, schema)
    # Rows of text, which are parsed, and rows with typed columns, which are held against it.
    with_columns = made.selectExpr(
        "*", "0D as lo_x", "id + 1D as hi_x", "xxhash64(filter) as typed_for"
    )
    for each in (made, with_columns):
        with typed(each, None, "the rows", skip_bad=False, verify=verify) as (read, _):
            found = [(row["interfaces"], row["index"]) for row in read.orderBy("id").collect()]
            handed = [kind for name, kind in read.dtypes if name in ("interfaces", "index")]
        assert found == [(own, index) for _, _, own, index in rows]
        assert handed == ["array<string>", "array<string>"]

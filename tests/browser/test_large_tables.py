"""Tables on disk that are too large to open whole: their neighbourhoods, against all edges."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser.config import Config, Limits
from browser.directories import read_table
from browser.edge_index import EdgeIndex, edge_index
from browser.pages.tables import _around
from browser.state import Library, from_query

from .files import table, write_snapshot


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_are_those_of_all_edges(seed: int) -> None:
    draw = random.Random(seed)
    edges = {(draw.randint(0, 30), draw.randint(0, 30)) for _ in range(draw.randint(0, 90))}
    shuffled = draw.sample(sorted(edges), len(edges))
    ends = np.array(shuffled, dtype=np.int64).reshape(-1, 2)
    index = EdgeIndex(ends[:, 0], ends[:, 1])
    assert len(index) == len(edges)
    for _ in range(10):
        some = [draw.randint(-2, 40) for _ in range(draw.randint(0, 8))]
        assert index.children(some) == sorted({c for p, c in edges if p in some})
        assert index.parents(some) == sorted({p for p, c in edges if c in some})
        assert sorted(index.among(some)) == sorted((p, c) for p, c in edges if {p, c} <= {*some})
        assert index.leaving(some) == (
            len({c for p, c in edges if c in some and p not in some}),
            len({p for p, c in edges if p in some and c not in some}),
        )


PAIRS = [(f"x in [{i}, {1000 - i}]", f"I{i}") for i in range(60)]


def test_edges_are_read_once_and_again_when_they_change(tmp_path: Path) -> None:
    folder = tmp_path / "big"
    write_snapshot(folder, table("pf", PAIRS).snapshot())
    first = edge_index(folder)
    assert edge_index(folder) is first
    (part,) = [each for each in (folder / "edges").iterdir() if each.suffix == ".parquet"]
    os.utime(part, ns=(0, 1))
    assert edge_index(folder) is not first


def test_a_chosen_filter_leads_to_its_own_surroundings(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "big", table("pf", PAIRS).snapshot())
    library = Library(Config(runs=tmp_path, limits=Limits(workload_filters=50)))
    recipe = {"from": "table", "table": "big", "around": "30"}
    story = library.story(recipe)
    number = next(n for n, item in story.filters.items() if str(item) == "x in [32, 968]")
    (link,) = _around(story, recipe, number, ["file"])
    asked: Any = from_query(link.children.href)
    assert asked == {"from": "table", "table": "big", "around": "32", "show": "file"}
    texts = {str(item) for item in library.story(asked).number}
    assert texts == {f"x in [{i}, {1000 - i}]" for i in range(30, 35)}
    whole = Library(Config(runs=tmp_path))
    assert _around(whole.story({**recipe, "around": ""}), recipe, 1, []) == []


def test_a_part_says_that_its_roots_may_have_parents(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "big", table("pf", PAIRS).snapshot())
    config = Config(runs=tmp_path, limits=Limits(workload_filters=50))
    told = (
        "A part of 60 filters: {} around {}. Not shown are parents of {} and children of 1 of them"
    )
    middle, top = (read_table(config, "big", each).note for each in ("30", "0"))
    assert middle == told.format(5, 30, 1) + ": a root here may have parents there."
    assert top == told.format(3, 0, 0) + "."


def test_a_table_without_edges_says_so(tmp_path: Path) -> None:
    write_snapshot(tmp_path / "big", table("pf", PAIRS).snapshot())
    for each in (tmp_path / "big" / "edges").iterdir():
        each.write_bytes(b"nothing")
    config = Config(runs=tmp_path, limits=Limits(workload_filters=50))
    with pytest.raises(ValueError, match="cannot be read"):
        read_table(config, "big", "3")

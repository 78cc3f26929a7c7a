"""Merged sets that are wrong, and what is said of them."""

from __future__ import annotations

import pytest

import posetlib as pl
from posetlib.merging import merge_violations
from posetlib.merging.checking import check_merged
from posetlib.merging.merged_file import MergedFile

f = pl.parse_filter
ROOTS = [f("x in [0, 5] and y = 1"), f("x in [5, 9] and y = 1"), f("z > 3")]


def test_sets_that_stand_for_the_roots() -> None:
    for merged in (ROOTS, [f("x in [0, 9] and y = 1"), f("z > 3")]):
        check_merged(ROOTS, merged, perfect=True)
    check_merged(ROOTS, [f("exists x"), f("z > 3")], perfect=False)
    halves = [f("z > 3 and x <= 1"), f("z > 3 and x > 1")]
    assert list(merge_violations(halves, [f("z > 3 and x is number")], perfect=True)) == []


def test_a_root_that_is_not_covered() -> None:
    with pytest.raises(pl.InvariantError, match="does not cover z > 3") as error:
        check_merged(ROOTS, [f("x in [0, 9] and y = 1"), f("z > 4")], perfect=False)
    assert error.value.invariant == "merge-covers"
    assert error.value.witness == {"z": 4}


def test_a_merger_that_matches_more() -> None:
    with pytest.raises(pl.InvariantError, match="matches more") as error:
        check_merged(ROOTS, [f("x in [0, 9] and y in [1, 2]"), f("z > 3")], perfect=True)
    assert error.value.invariant == "merge-perfect"
    assert f("x in [0, 9] and y in (1, 2]").matches(error.value.witness)


def test_the_data_of_a_merger_is_a_file() -> None:
    table = pl.FiltersPoset.build((root, "I1") for root in ROOTS)
    merger = pl.RootMerger(table)
    data = merger.to_dict()
    assert data["merged"][-1] == {
        "filter": "z > 3",
        "components": ["z > 3"],
        "covered": [],
        "loss": 0.0,
        "sent": True,
    }
    assert MergedFile.from_dict(data) == MergedFile(True, tuple(map(str, merger.merged())))

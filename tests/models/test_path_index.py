"""Many paths at once: the same as asking each, whatever comes and goes."""

from __future__ import annotations

import random

import pytest

import posetlib as pl
from posetlib.models import path_index
from tests.models.oracle import random_document, random_path


@pytest.mark.parametrize("most_states", [4_096, 5, 0])
@pytest.mark.parametrize("seed", range(3))
def test_as_asking_each(seed: int, most_states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_index, "_MAX_STATES", most_states)
    monkeypatch.setattr(path_index, "_MANY_CONDITIONS", 2)
    monkeypatch.setattr(path_index, "_OFTEN", 1)
    draw = random.Random(seed)
    index, paths = pl.PathIndex(), set()
    for step in range(120):
        if paths and draw.random() < 0.3:
            gone = draw.choice(sorted(paths, key=lambda each: each.text))
            paths.discard(gone)
            index.remove(gone)
        else:
            new = pl.DocumentPath(random_path(draw, branches=0.3, conditions=True))
            paths.add(new)
            index.add(new)
        assert len(index) == len(paths)
        for _ in range(3):
            document = random_document(draw, nodes=10)
            found = index.satisfied(document)
            assert len(found) == len(set(found))
            assert set(found) == {each for each in paths if each.matches(document)}, (seed, step)


def test_nothing_is_left_of_what_was_removed() -> None:
    draw = random.Random(9)
    paths = {pl.DocumentPath(random_path(draw, branches=0.3, conditions=True)) for _ in range(200)}
    index = pl.PathIndex(paths)
    for each in paths:
        index.remove(each)
    assert len(index) == 0
    assert not index._first.next_child
    assert not index._first.next_descendant
    assert not index._guarded | index._branched
    with pytest.raises(KeyError):
        index.remove(pl.DocumentPath("/a"))


def test_states_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_index, "_MAX_STATES", 20)
    draw = random.Random(2)
    index = pl.PathIndex(pl.DocumentPath(random_path(draw, names="abcd")) for _ in range(200))
    for _ in range(200):
        index.satisfied(random_document(draw, nodes=12, names="abcd"))
    assert len(index._states) == 20


def test_values_that_are_no_documents() -> None:
    index = pl.PathIndex([pl.DocumentPath("//*")])
    assert index.satisfied("<a/>") == []
    assert index.satisfied({"a": 1}) == [pl.DocumentPath("//*")]
    with pytest.raises(TypeError, match="a path index holds paths, not Exists"):
        index.add(pl.parse_filter("exists d").get("d"))  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [pl.CountingMatcher, pl.BitmapMatcher])
@pytest.mark.parametrize("seed", range(2))
def test_matchers_of_paths_and_records(make: type, seed: int) -> None:
    draw = random.Random(seed)
    matcher, plain = make(), pl.LinearTable(local=True)
    pairs: list[tuple[pl.Filter, str]] = []
    for _ in range(80):
        if pairs and draw.random() < 0.3:
            pair = pairs.pop(draw.randrange(len(pairs)))
            matcher.discard(*pair)
            plain.discard(*pair)
        else:
            texts = [
                f'd path "{random_path(draw, conditions=True)}"'
                for _ in range(draw.choice([1, 1, 2]))
            ]
            if draw.random() < 0.5:
                texts.append(f"k >= {draw.randrange(5)}")
            f = pl.parse_filter(" and ".join(texts))
            pair = (f, f"I{draw.randrange(5)}")
            if pair not in pairs:
                pairs.append(pair)
                matcher.add(*pair)
                plain.add(*pair)
        batch = [{"d": random_document(draw), "k": draw.randrange(6)} for _ in range(3)]
        batch += [{"k": 3}, {"d": "text", "k": 3}]
        assert matcher.match_many(batch) == plain.match_many(batch)
        assert [matcher.match(each) for each in batch] == plain.match_many(batch)

"""Many paths at once: the same as asking each, whatever comes and goes."""

from __future__ import annotations

import itertools
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import posetlib as pl
from posetlib.models import path_index, path_matching, step_conditions, step_trees
from tests.models.oracle import random_document, random_path


@pytest.mark.parametrize("most_states", [4_096, 5, 0])
@pytest.mark.parametrize("seed", range(3))
def test_as_asking_each(seed: int, most_states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_index, "_MAX_STATES", most_states)
    monkeypatch.setattr(path_index, "_MAX_ENDS", 1)
    # Without room for states, documents are held against arrays, from one state on.
    monkeypatch.setattr(path_index, "_PASSING_STATES", 1)
    monkeypatch.setattr(step_conditions, "_CELLS_FROM", 2)
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
    assert not index._branched
    assert not index._conditions
    with pytest.raises(KeyError):
        index.remove(pl.DocumentPath("/a"))


def test_states_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_index, "_MAX_STATES", 20)
    draw = random.Random(2)
    index = pl.PathIndex(pl.DocumentPath(random_path(draw, names="abcd")) for _ in range(200))
    for _ in range(200):
        index.satisfied(random_document(draw, nodes=12, names="abcd"))
    assert len(index._states) == 20


@pytest.mark.parametrize("places", [1 << 25, 0])
def test_documents_that_need_many_states(places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are held against arrays, and one by one where arrays would be too large."""
    monkeypatch.setattr(path_index, "_NEW_STATES", 2)
    monkeypatch.setattr(step_trees, "_MAX_PLACES", places)
    used = 0
    by_arrays = step_trees.StepArrays.found

    def counted(*arguments: Any) -> Any:
        nonlocal used
        used += 1
        return by_arrays(*arguments)

    monkeypatch.setattr(step_trees.StepArrays, "found", counted)
    draw = random.Random(12)
    paths = {pl.DocumentPath(random_path(draw, branches=0.2, conditions=True)) for _ in range(150)}
    index = pl.PathIndex(paths)
    for _ in range(60):
        document = random_document(draw, nodes=30)
        found = index.satisfied(document)
        assert set(found) == {each for each in paths if each.matches(document)}
    assert used > 10 if places else used == 0


def test_kept_answers_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_conditions, "_CELLS_FROM", 1)
    monkeypatch.setattr(step_conditions, "_MAX_ANSWERS", 100)
    paths = [pl.DocumentPath(f"/a[x >= {i}]") for i in range(20)]
    index = pl.PathIndex(paths)
    for value in range(20):
        assert len(index.satisfied({"a": {"x": value}})) == value + 1
    assert len(index._conditions._answers) == 5


def test_a_trunk_that_ends_at_many_nodes_is_asked_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Paths with two conditions were asked once for each of thousands of nodes."""
    asked = 0
    above = path_matching.PathMatcher.matches_above

    def counted(*arguments: Any) -> bool:
        nonlocal asked
        asked += 1
        return above(*arguments)

    monkeypatch.setattr(path_matching.PathMatcher, "matches_above", counted)
    document = pl.read_xml("<a x='5' y='1'>" * 9 + "<a x='7'/>" * 500 + "</a>" * 9)
    paths = [pl.DocumentPath(f"//a[x = {i}]//a[y >= 0]//a") for i in range(20)]
    paths.append(pl.DocumentPath("//a[y = 1]//a[x = 7]"))
    index = pl.PathIndex(paths)
    assert set(index.satisfied(document)) == {each for each in paths if each.matches(document)}
    assert 0 < asked < 12 * len(paths)


def test_values_that_are_no_documents() -> None:
    index = pl.PathIndex([pl.DocumentPath("//*")])
    assert index.satisfied("<a/>") == []
    assert index.satisfied({"a": 1}) == [pl.DocumentPath("//*")]
    with pytest.raises(TypeError, match="a path index holds paths, not Exists"):
        index.add(pl.parse_filter("exists d").get("d"))  # type: ignore[arg-type]


def random_filter(draw: random.Random) -> pl.Filter:
    """A filter of one path or several, all of them wanted or one of them, alone or beside x."""

    def some() -> str:
        return f'd path "{random_path(draw, conditions=True, branches=0.2)}"'

    text = draw.choice(("{0}", "{0}", "{0}", "{0} and {1}", "({0} or {1})", "{0} and exists d"))
    text = text.format(some(), some())
    if draw.random() < 0.5:
        text += draw.choice((" and k >= {}", " and k in [{}, 4]", " and k != {}"))
    return pl.parse_filter(text.format(draw.randrange(5)))


def random_notification(draw: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {"d": random_document(draw), "k": draw.choice((0, 1, 2.5, 3, 4, 5))}
    if draw.random() < 0.2:
        found["d"] = draw.choice(("text", 5, None, [1], {"a": {"x": 1, "b": 2}}, Text("text")))
    if draw.random() < 0.1:
        del found[draw.choice(("d", "k"))]
    return found


class Text(str):
    """A string that may compare as it likes: every filter is asked."""

    __slots__ = ()


MATCHERS = {
    "counting": pl.CountingMatcher,
    "bitmap": pl.BitmapMatcher,
    "bitmap of one cell": lambda: pl.BitmapMatcher(cells=1),
}


@pytest.mark.parametrize("make", MATCHERS.values(), ids=MATCHERS)
@pytest.mark.parametrize("seed", range(3))
def test_matchers_of_paths_and_records(make: Any, seed: int) -> None:
    draw = random.Random(seed)
    matcher = make()
    pairs: dict[tuple[pl.Filter, str], None] = {}
    for step in range(60):
        # Now and then many at once, so that bitmaps are built anew; else they are written to.
        for _ in range(40 if step % 20 == 0 else 1):
            if len(pairs) > 30 and draw.random() < 0.5:
                gone = draw.choice(list(pairs))
                del pairs[gone]
                matcher.remove(*gone)
            else:
                pair = (random_filter(draw), f"I{draw.randrange(12)}")
                pairs[pair] = None
                matcher.add(*pair)
        batch = [random_notification(draw) for _ in range(8)]
        wanted = [frozenset(i for f, i in pairs if f.matches(each)) for each in batch]
        if step % 2:
            assert matcher.match_many(batch) == wanted, (seed, step)
        assert [matcher.match(each) for each in batch] == wanted, (seed, step)
        assert matcher.match_many(batch) == wanted, (seed, step)
    matcher.clear()
    assert matcher.match_many(batch) == [frozenset()] * len(batch)


def test_the_bitmap_matcher_asks_no_path_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(4)
    pairs = [(random_filter(draw), f"I{i % 7}") for i in range(200)]
    batch = [{"d": random_document(draw), "k": 3} for _ in range(20)]
    wanted = [frozenset(i for f, i in pairs if f.matches(each)) for each in batch]
    matcher = pl.BitmapMatcher(pairs[:180])
    matcher.match({})
    for pair in pairs[180:]:
        matcher.add(*pair)

    def refuse(*_: object) -> bool:
        raise AssertionError("a path was asked by itself")

    monkeypatch.setattr(pl.DocumentPath, "matches", refuse)
    assert matcher.match_many(batch) == wanted
    assert [matcher.match(each) for each in batch] == wanted
    assert matcher.counters.match_tests == 0


@pytest.mark.parametrize("make", MATCHERS.values(), ids=MATCHERS)
def test_threads_that_match_together(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_index, "_NEW_STATES", 3)
    monkeypatch.setattr(step_conditions, "_CELLS_FROM", 20)
    draw = random.Random(8)
    matcher = make()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(6):
                for _ in range(40):
                    matcher.add(random_filter(draw), f"I{draw.randrange(7)}")
                for pair in draw.sample(matcher.entries(), 10):
                    matcher.remove(*pair)
                batch = [random_notification(draw) for _ in range(10)]
                wanted = [
                    frozenset(i for f, i in matcher.entries() if f.matches(each)) for each in batch
                ]
                asked = [pool.submit(matcher.match_many, batch) for _ in range(8)]
                assert all(each.result() == wanted for each in asked)
    finally:
        sys.setswitchinterval(interval)


def test_tokens_exclude_no_path_that_is_covered() -> None:
    draw = random.Random(6)
    paths = [
        pl.DocumentPath(random_path(draw, conditions=True, branches=0.3, steps=3))
        for _ in range(150)
    ]
    covering = 0
    for one, other in itertools.permutations(paths, 2):
        if one.covers(other):
            covering += 1
            (mine,), (theirs,) = one.tokens(), other.tokens()
            assert isinstance(theirs.held, frozenset)
            assert mine.asked <= theirs.held
    assert covering > 150
    (tokens,) = pl.DocumentPath("//a[x = 1]/*/b").tokens()
    assert {"a", "b"} < tokens.asked

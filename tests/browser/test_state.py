"""Recipes, addresses, and what the server keeps for all users."""

from __future__ import annotations

import pytest

from browser.cache import Cache
from browser.config import Config, Limits
from browser.generating import generate, parameters_from
from browser.sources import SourceError
from browser.state import Library, edits_of, from_query, recipe_of, with_edit
from posetlib.generating import Parameters, generated_filters


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"from": "nowhere"}, "there is no source"),
        ({"from": "workload"}, "no workload was given"),
        ({"from": "example", "example": "x"}, "there is no example"),
        ({"from": "document", "doc": "0" * 64}, "no longer held"),
        ({"from": "generate", "filters": "many"}, "Filters is a number"),
        ({"from": "generate", "filters": "2.5"}, "whole number"),
        ({"from": "generate", "filters": "1e9"}, "between 1 and 100,000"),
        ({"from": "generate", "filters": "nan"}, "between 1 and 100,000"),
        ({"from": "generate", "kind": "cubic"}, "kind is one of"),
        ({"from": "text", "text": ""}, "there is no filter"),
        ({"edits": "{"}, "edits in the address"),
        ({"edits": '[["a", "I1: x = 1"]]'}, "edits in the address"),
        ({"edits": '[[999, "I1: x = 1"]]'}, "no step 999"),
        ({"edits": '[[0, "I1: x >"]]'}, "line 1, column"),
    ],
)
def test_a_recipe_that_cannot_be_is_told(recipe: dict[str, str], words: str) -> None:
    with pytest.raises(SourceError, match=words):
        Library(Config()).story(recipe)


def test_an_address_is_read_with_care() -> None:
    assert from_query("") == {}
    assert from_query("?" + "a=1&" * 10_000) == {}
    assert from_query("?text=x%20%3E%203&from=text") == {"text": "x > 3", "from": "text"}
    assert recipe_of({"from": "text", "text": "x", "step": "3"}) == {"from": "text", "text": "x"}


def test_edits_come_one_after_the_other() -> None:
    recipe = with_edit(with_edit({"from": "generate"}, 3, "I1: x = 1"), 0, "- I1: x = 1")
    assert edits_of(recipe) == [(3, "I1: x = 1"), (0, "- I1: x = 1")]


def test_filters_are_those_of_the_jobs() -> None:
    for kind in ("uniform", "narrow", "zipf", "variable", "mixed", "strings"):
        source = generate(parameters_from({"filters": "40", "kind": kind, "decimals": "3"}))
        p = Parameters(filters=40, kind=kind, interfaces=4, seed=7)
        assert [str(each.item) for each in source.operations] == generated_filters(
            p, range(40)
        ).texts()


def test_replacements_remove_what_is_there() -> None:
    source = generate(parameters_from({"filters": "10", "operations": "30"}))
    held: list[tuple[object, object]] = []
    for name, item, interface in source.operations:
        if name == "add":
            held.append((item, interface))
        else:
            held.remove((item, interface))
    assert len(held) == 10


def test_content_is_shared_and_bounded() -> None:
    library = Library(Config(limits=Limits(document_bytes=100, stories=2)))
    first = library.keep([("a.txt", b"I1: x = 1" + b" " * 60)])
    assert library.keep([("a.txt", b"I1: x = 1" + b" " * 60)]) == first
    assert library.keep([("b.txt", b"I1: x = 1" + b" " * 60)]) != first
    with pytest.raises(SourceError, match="no longer held"):
        library.document(first)
    one = library.story({"filters": "5"})
    assert library.story({"filters": "5"}) is one
    for size in "678":
        library.story({"filters": size})
    assert library.story({"filters": "5"}) is not one


def test_a_value_too_large_for_the_cache_is_still_kept_alone() -> None:
    cache: Cache[str] = Cache(3, len)
    cache.put("a", "aa")
    cache.put("b", "bbbbbb")
    assert cache.get("a") is None
    assert cache.get("b") == "bbbbbb"
    cache.put("b", "b")
    cache.put("a", "aa")
    assert cache.get("b") == "b"

"""Notifications as XML, JSON or a tuple on the page Match, and documents drawn as trees."""

from __future__ import annotations

from typing import Any

import pytest

import posetlib as pl
from browser.document_tree import (
    MOST_NODES,
    document_attribute,
    document_nodes,
    documents_of,
)
from browser.matching import random_notification, read_notification
from browser.pages.match import drawn_documents

from .driving import Visitor
from .test_merging_page import texts
from .test_reading import story

PATHS = "\n".join(
    [
        'I1: order path "//item[./cpu[clock >= 700]]/board"',
        'I2: order path "//cpu"',
        'I3: order path "//disk" or order path "/list/item"',
        "I4: _len = 2",
    ]
)
XML = "<list><item><cpu clock='800'/><board/></item><item><cpu clock='5'>slow</cpu></item></list>"


def met(told: Any, text: str) -> list[tuple[str, tuple[int, ...]]]:
    notification = read_notification(text, document=document_attribute(told))
    ((name, document),) = documents_of(notification).items()
    assert name == "order"
    return [(node.name, node.filters) for node in document_nodes(told, name, document)]


def test_each_node_has_the_filters_whose_paths_are_mapped_to_it() -> None:
    told = story(PATHS)
    expected = [
        ("list", (3,)),
        ("item", (1, 3)),
        ("cpu", (1, 2)),
        ("board", (1,)),
        ("item", (3,)),
        ("cpu", (2,)),
    ]
    assert met(told, XML) == expected
    nested = (
        '{"order": {"list": {"item": [{"cpu": {"clock": 800}, "board": {}}, {"cpu": "slow"}]}}}'
    )
    found = met(told, nested)
    assert [each for each in found if each[0] != "clock"] == expected
    assert ("clock", ()) in found


def test_mapped_nodes_against_taking_nodes_away() -> None:
    """Where only mapped nodes are left, with those above them, the path still matches."""
    path = pl.DocumentPath("//a[./b]//c")
    document = pl.read_xml("<r><a><b/><z><c/></z></a><a><c/></a><c/></r>")
    kept = path.mapped(document)
    assert [document.names[node] for node in kept] == ["a", "b", "c"]
    assert path.mapped(pl.read_xml("<r><a><c/></a></r>")) == []


def test_the_attribute_of_documents() -> None:
    assert document_attribute(story(PATHS)) == "order"
    assert document_attribute(story("I1: x = 3")) == "doc"


def test_a_long_document_is_cut() -> None:
    told = story(PATHS)
    notification = read_notification("<a>" + "<b/>" * 900 + "</a>", document="order")
    made = texts(drawn_documents(told, notification, None))
    assert f"and {901 - MOST_NODES:,} nodes more" in made


def test_what_has_no_document() -> None:
    told = story(PATHS)
    for text in ('{"x": 3}', "(1, 2)", "[1]"):
        assert "has no document" in texts(drawn_documents(told, read_notification(text), None))


def test_an_example_of_a_path_is_a_notification_that_matches() -> None:
    told = story(PATHS.splitlines()[0])
    for draw in range(5):
        notification = read_notification(random_notification(told, draw))
        assert all(item.matches(notification) for item in told.filters.values())


@pytest.mark.parametrize("kind", ["tuples", "documents"])
def test_generated_models(kind: str) -> None:
    told = story(**{"from": "generate", "kind": kind, "filters": "40", "seed": "3"})
    matched = 0
    for draw in range(20):
        notification = read_notification(random_notification(told, draw))
        matched += any(item.matches(notification) for item in told.filters.values())
    assert matched > 10


@pytest.mark.needs("chromium")
class TestInTheBrowser:
    def test_xml_json_and_a_tuple(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/match")
        visitor.type_filters(PATHS)
        # The page asks its server first: until the answer is there it shows the source before.
        visitor.until(lambda: "from=text" in visitor.driver.current_url, "the typed source")
        visitor.write("#match-notification", XML, submit=True)
        visitor.sees("#match-document", "list ✓ #3")
        visitor.sees("#match-document", "cpu clock: 800 ✓ #1, #2")
        visitor.sees("#match-answer", "I1")
        visitor.tap("match-fp", 2)
        visitor.sees("#match-document", "cpu clock: 5 text: slow ✓ #2")
        assert "board ✓" not in visitor.text("#match-document")
        visitor.write("#match-notification", '("a", 5)', submit=True)
        visitor.sees("#match-document", "The notification has no document.")
        visitor.sees("#match-answer", "I4")
        visitor.write("#match-notification", '{"order": {"disk": {}}}', submit=True)
        visitor.sees("#match-document", "disk")
        visitor.sees("#match-answer", "I3")
        visitor.write("#match-notification", "<!DOCTYPE a><a/>", submit=True)
        visitor.sees("#match-answer", "DOCTYPE")
        assert visitor.console() == []

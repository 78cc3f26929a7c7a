"""The Context page: forests, mappings and collections as data, without a browser, then in one."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from selenium.webdriver.common.keys import Keys

import posetlib as pl
from browser.config import Config, Limits
from browser.context.run import ContextRun, drawings
from browser.context.script import CONTEXTS, PROFILES, QUERIES, read_changes
from browser.folds import Folds
from browser.pages import context as page
from browser.sources import SourceError
from browser.state import Library

from .driving import Visitor
from .test_merging_page import texts

LIMITS = Limits()


def run_of(text: str, semantics: str = "cover") -> ContextRun:
    return ContextRun(read_changes(text, LIMITS), semantics)


def example(name: str, semantics: str = "cover") -> ContextRun:
    return run_of(CONTEXTS[name].text, semantics)


class TestTheText:
    def test_all_that_a_line_can_be(self) -> None:
        found = read_changes(
            'types: {"B": ["A"]}\n# a comment\n\nquery trip: x isa A\n profile a/1.jpg : x = 3\n'
            "- profile a/1.jpg: x = 3\n-query trip: x isa A\nforget a/1.jpg\nclose trip",
            LIMITS,
        )
        assert [(each.line, each.name, each.side, each.who) for each in found] == [
            (4, "add", QUERIES, "trip"),
            (5, "add", PROFILES, "a/1.jpg"),
            (6, "remove", PROFILES, "a/1.jpg"),
            (7, "remove", QUERIES, "trip"),
            (8, "forget", PROFILES, "a/1.jpg"),
            (9, "close", QUERIES, "trip"),
        ]
        assert str(found[1].item) == "x = 3"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "there is no line"),
            ("x = 3", "line 1: a line is «profile NAME: FILTER»"),
            ("profile two words: x = 3", "line 1: a line is"),
            ("profile p: x = 3\nquery q: x >", "line 2, column 13"),
            ("profile p: x = 3\n- profile p: x = 4", "line 2: p does not have x = 4"),
            ("query q: x = 3\n- query r: x = 3", "line 2: r does not have x = 3"),
            ("query q: x = 3\nforget q", "line 2: there is no object q"),
            ("query q: x = 3\nclose q\nclose q", "line 3: there is no collection q"),
            ("types: [1]\nquery q: x = 3", "line 1: "),
        ],
    )
    def test_what_is_wrong_is_told_with_its_line(self, text: str, words: str) -> None:
        with pytest.raises(SourceError) as caught:
            run_of(text)
        assert words in str(caught.value)

    def test_limits(self) -> None:
        with pytest.raises(SourceError, match="line 2: more than 1 changes"):
            read_changes("query q: x = 3\nquery q: x = 4", Limits(operations=1))
        with pytest.raises(SourceError, match="longer than the 9"):
            read_changes("query q: x = 3", Limits(script_chars=9))
        with pytest.raises(SourceError, match="covers or overlaps"):
            run_of("query q: x = 3", "nearly")


class TestTheRun:
    @pytest.mark.parametrize("semantics", ["cover", "overlap"])
    @pytest.mark.parametrize("name", ["photos", "places", "ranges"])
    def test_mappings_and_collections_are_the_true_ones_at_every_step(
        self, name: str, semantics: str
    ) -> None:
        run = example(name, semantics)
        held: dict[str, set[tuple[str, pl.Filter]]] = {PROFILES: set(), QUERIES: set()}
        matched = 0
        for step, change in enumerate(run.changes, 1):
            mine = held[change.side]
            if change.item is None:
                held[change.side] = {each for each in mine if each[0] != change.who}
            elif change.name == "add":
                mine.add((change.who, change.item))
            else:
                mine.remove((change.who, change.item))

            def matches(query: pl.Filter, profile: pl.Filter) -> bool:
                found = query.covers if semantics == "cover" else query.overlaps
                return found(profile)

            moment = run.at(step)
            for side in (PROFILES, QUERIES):
                shown = {each.text for each in moment.graphs[side].nodes.values()}
                assert shown == {str(item) for _, item in held[side]}
            wanted = {
                (run.number[PROFILES, str(p)], run.number[QUERIES, str(q)])
                for _, p in held[PROFILES]
                for _, q in held[QUERIES]
                if matches(q, p)
            }
            assert moment.queries_of == moment.profiles_of == moment.expected == wanted
            assert moment.differences == 0
            for shelf in moment.shelves:
                assert set(shelf.members) == {
                    uri
                    for uri, p in held[PROFILES]
                    for who, q in held[QUERIES]
                    if who == shelf.name and matches(q, p)
                }
            matched += len(wanted)
        assert matched > 10

    def test_a_wrong_mapping_is_told(self) -> None:
        moment = example("places").at(8)
        assert moment.expected
        pair = min(moment.expected)
        broken = {**vars(moment), "queries_of": moment.queries_of - {pair}}
        wrong = type(moment)(**{k: v for k, v in broken.items() if k != "side_of"})
        assert wrong.differences == 1
        assert "✗ 1 pair wrong" in texts(page.agreement_card(wrong))
        assert "✓" in texts(page.agreement_card(moment))

    def test_what_a_step_does_to_collections(self) -> None:
        run = example("photos")
        news = {
            (each.name, each.added, each.removed)
            for each in run.at(8).shelves
            if each.added or each.removed
        }
        # The photo has left one place, after it came to the other one.
        assert news == {("turku", (), ("crowd.jpg",))}
        last = {each.name: each for each in run.at(11).shelves}
        assert not last["turku"].is_open
        assert last["turku"].members == ()
        assert last["concerts"].members == ("crowd.jpg",)
        # A query that finds nothing new sends nothing.
        before = {each.name: each.notes for each in run.at(8).shelves}
        assert {each.name: each.notes for each in run.at(9).shelves} == before

    def test_added_and_removed_filters(self) -> None:
        run = run_of("query q: x < 5\nprofile p: x = 3\nprofile r: x = 3\nforget p\nforget r")
        seen = [(run.at(step).added, run.at(step).removed) for step in range(6)]
        assert seen == [((), ()), ((1,), ()), ((2,), ()), ((), ()), ((), ()), ((), (2,))]

    def test_what_is_open_again_begins_anew(self) -> None:
        run = run_of("query q: x < 5\nprofile p: x = 3\nclose q\nquery q: x < 4")
        (closed,) = run.at(3).shelves
        assert (closed.members, closed.removed, closed.notes) == ((), ("p",), 2)
        assert not closed.is_open
        (shelf,) = run.at(4).shelves
        assert (shelf.members, shelf.notes, shelf.is_open) == (("p",), 1, True)


class TestDrawings:
    def test_what_is_mapped_to_the_chosen_filter_is_marked(self) -> None:
        run = example("photos")
        moment = run.at(6)
        assert moment.mapped(1) == (4,)
        assert moment.mapped(3) == (4, 5, 6)
        assert moment.mapped(4) == (1, 3)
        assert moment.mapped(99) == moment.mapped(None) == ()
        made = drawings(run, moment, 3, LIMITS)
        marked = {
            each["data"]["id"]: each["classes"]
            for each in made[PROFILES]["elements"]
            if "mapped" in each.get("classes", "")
        }
        assert sorted(marked) == ["4", "5", "6"]
        assert "added" in marked["6"]
        assert made[QUERIES]["stats"] == "3 filters · 1 root · 3 with a match"
        assert made[QUERIES]["edges"] == 2
        assert not any("mapped" in each.get("classes", "") for each in made[QUERIES]["elements"])

    def test_what_is_below_a_folded_query_is_not_drawn(self) -> None:
        run = example("photos")
        folds = {QUERIES: Folds(closed=(3,))}
        made = drawings(run, run.at(6), None, LIMITS, folds)
        assert (made[QUERIES]["nodes"], made[PROFILES]["nodes"]) == (1, 3)

    def test_cards(self) -> None:
        run = example("photos")
        moment = run.at(6)
        assert "A query of all. Profiles that match it: 3" in texts(
            page.detail_card(run, moment, 3)
        )
        assert "A profile of stage.jpg. Queries that match it: 2" in texts(
            page.detail_card(run, moment, 4)
        )
        assert "not there at this step" in texts(page.detail_card(run, moment, 7))
        assert "Click a filter" in texts(page.detail_card(run, moment, None))
        assert [row[0]["text"] for row in page.mapped_list(moment, 3, 9)["rows"]] == [
            "#4",
            "#5",
            "#6",
        ]
        everything = page.mapped_list(moment, None, 4)
        assert len(everything["rows"]) == 4
        assert everything["note"] == "The first 4 of 6."
        told = texts(page.shelves_card(moment.shelves))
        assert "all: 3 objects" in told
        assert "+ crowd.jpg" in told
        assert page.step_text(run, 6).startswith("Step 6 of 11 (line 7): profile crowd.jpg")

    def test_an_address_that_cannot_be_shown_shows_an_example(self) -> None:
        made: Any = page.layout(Library(Config()), {}, {"context-run": "text:nonsense"})
        assert "What this address asks for cannot be shown: line 1" in texts(made)
        library = Library(Config())
        with pytest.raises(SourceError, match="there is no example"):
            library.context("example:none", "cover")


@pytest.mark.needs("chromium")
class TestInTheBrowser:
    def test_mappings_are_marked_and_listed(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/context?context-step=6")
        visitor.draws("context-queries", 3, 2)
        visitor.draws("context-profiles", 3, 0)
        visitor.tap("context-queries", 2)
        visitor.sees("#context-detail", "A query of turku. Profiles that match it: 1")
        visitor.until(lambda: "mapped" in visitor.classes("context-profiles", 6), "a mapping")
        assert "mapped" not in visitor.classes("context-profiles", 4)
        visitor.press("#context-rows button", Keys.ENTER)
        visitor.sees("#context-detail", "A profile of crowd.jpg")
        query = parse_qs(urlsplit(visitor.driver.current_url).query)
        assert (query["context-node"], query["context-step"]) == (["6"], ["6"])
        visitor.driver.refresh()
        visitor.sees("#context-detail", "A profile of crowd.jpg. Queries that match it: 2")

    def test_a_query_folds_by_key(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/context?context-step=6&context-node=3")
        visitor.draws("context-queries", 3, 2)
        visitor.press("#graph-context-queries", Keys.ENTER)
        visitor.draws("context-queries", 1, 0)
        visitor.draws("context-profiles", 3, 0)

    def test_a_collection_changes_as_profiles_come_and_go(
        self, visitor: Visitor, address: str
    ) -> None:
        text = quote("text:query low: x < 5\nprofile a: x = 3\nprofile b: x = 9\n")
        visitor.open(f"{address}/context?context-run={text}")
        visitor.sees("#context-collections", "low: 1 object")
        visitor.write("#context-hand_name", "b")
        visitor.write("#context-hand_filter", "x = 4")
        visitor.click("#context-hand_add")
        visitor.sees("#context-collections", "low: 2 objects\n+ b")
        visitor.sees("#context-step_text", "Step 4 of 4")
        visitor.draws("context-profiles", 3)
        visitor.click("#context-hand_remove")
        visitor.sees("#context-collections", "low: 1 object\n− b")
        visitor.click("#context-hand_remove")
        visitor.sees("#context-problem", "line 6: b does not have x = 4")
        visitor.click("#context-back")
        visitor.sees("#context-collections", "low: 2 objects")
        assert "x = 4" in str(visitor.one("#context-script").get_property("value"))

    def test_examples_text_and_overlap(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/context")
        visitor.choose(".the-run button", "Places on a map")
        visitor.sees("#context-agreement", "✓ as comparing all pairs\n7 matches")
        visitor.choose("#context-semantics label", "They overlap")
        visitor.until(
            lambda: "7 matches" not in visitor.text("#context-agreement"), "more that match"
        )
        assert "context-semantics=overlap" in visitor.driver.current_url
        visitor.write("#context-script", "profile p x")
        visitor.click("#context-use_script")
        visitor.sees("#context-problem", "line 1: a line is")
        visitor.sees("#context-collections", "city")

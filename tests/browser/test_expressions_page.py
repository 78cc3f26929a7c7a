"""The Expressions page: trees, prunings and runs as data, without a browser, and then in one."""

from __future__ import annotations

import json
import random
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from selenium.webdriver.common.keys import Keys

import posetlib as pl
from browser.config import Config, Limits
from browser.expressions.pruning_run import Point, PruningRun, pruning_run
from browser.expressions.script import EXPRESSION_SETS, ExpressionSet, read_set
from browser.expressions.tree import Tree, ranked, reached, tree_drawing
from browser.pages import expressions as page
from browser.sources import SourceError
from browser.state import Library
from posetlib.expressions import RATINGS, Junction, selectivity

from .driving import Visitor
from .test_merging_page import texts

LIMITS = Limits()
LIBRARY = Library(Config())


def example(name: str) -> ExpressionSet:
    return LIBRARY.expressions(f"example:{name}")


def tree_of(text: str, number: int = 1, event: Any = None) -> Tree:
    among = read_set(text, LIMITS)
    return Tree(among.entries[number - 1], among, event)


class TestTheText:
    def test_expressions_events_and_comments(self) -> None:
        made = read_set('# c\na: x > 1 or not (y = 2)\nz = 3\n\n{"x": 2}\n{"z": 3}', LIMITS)
        assert [(each.interface, str(each.expression)) for each in made.entries] == [
            ("a", "x > 1 or not (y = 2)"),
            ("I2", "z = 3"),
        ]
        assert made.events == ({"x": 2}, {"z": 3})

    def test_the_hierarchy_of_types(self) -> None:
        made = read_set('types: {"B": ["A"]}\nt isa "A"', LIMITS)
        assert made.entries[0].expression.matches({"t": "B"})

    def test_an_auction_line_is_the_workload_of_its_parameters(self) -> None:
        made = read_set("auction: subscriptions=6 events=9 seed=3 interfaces=2 books=50", LIMITS)
        again = read_set("auction: subscriptions=9 events=4 seed=3 interfaces=2 books=50", LIMITS)
        assert (len(made.entries), len(made.events)) == (6, 9)
        assert made.entries == again.entries[:6]
        assert made.interfaces == ("I1", "I2")
        assert json.loads(json.dumps(made.events)) == list(made.events)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "no line with an expression"),
            ('{"x": 1}', "no line with an expression"),
            ("a: x >", "line 1, column 7"),
            ("x = 1\n{x}", "line 2, column 2"),
            ("- a: x = 1", "without a sign"),
            ("x = 1\nauction: subscriptions=9999999", "line 2: subscriptions is a number from 0"),
            ("auction: events=-3", "events is a number from 0 to 1,000"),
            ("auction: law=normal", "line 1: law is one of"),
            ("auction: books=many", "books is a number"),
            ("auction: books=nan", "books is between"),
            ("auction: size=3", "NAME=VALUE"),
            (" or ".join(f"a{i} = 1" for i in range(101)), "101 conditions; the page takes up to"),
            (
                "\n".join(" or ".join(f"a{i} = 1" for i in range(100)) for _ in range(26)),
                "line 26: more than 2,500 conditions",
            ),
            ("x = 1\n" + "{}\n" * 1_001, "line 1002: more than 1,000 events"),
            ("x" * 100_001, "longer than the 100,000"),
            (f"{'i' * 101}: x = 1", "name of an interface"),
        ],
    )
    def test_what_is_wrong_is_told_with_its_line(self, text: str, words: str) -> None:
        with pytest.raises(SourceError, match=words):
            read_set(text, LIMITS)


class TestTheTree:
    def test_class_three_of_the_thesis(self) -> None:
        among = example("books")
        tree = Tree(among.entries[2], among)
        assert (tree.root.p_min, tree.size) == (3, 47)
        cuts = [part for part in tree.parts.values() if part.cut is not None]
        assert len(cuts) == 6
        # Example 6.5: bytes that are left, and the one pruning that memory does not allow.
        assert sorted(part.cut.size for part in cuts if part.cut) == [12, 33, 33, 38, 40, 40]
        assert [
            part.cut.size for part, allowed in ranked(tree, "memory") if part.cut and not allowed
        ] == [12]
        # Example 6.4: p_min afterwards.
        assert sorted(part.cut.p_min for part in cuts if part.cut) == [1, 2, 2, 2, 2, 2]

    @pytest.mark.parametrize(("number", "p_min", "prunings"), [(1, 4, 7), (2, 5, 15), (3, 3, 6)])
    def test_the_classes(self, number: int, p_min: int, prunings: int) -> None:
        among = example("books")
        tree = Tree(among.entries[number - 1], among)
        assert tree.root.p_min == p_min
        assert len(ranked(tree, "accuracy")) == prunings

    @pytest.mark.parametrize("seed", range(20))
    def test_every_cut_removes_its_own_part_and_covers_the_tree(self, seed: int) -> None:
        draw = random.Random(seed)

        def some(depth: int) -> str:
            if not depth or draw.random() < 0.2:
                text = f"{draw.choice('abc')} = {draw.randint(0, 1)}"
                return f"not ({text})" if draw.random() < 0.3 else text
            word = draw.choice([" and ", " or "])
            return "(" + word.join(some(depth - 1) for _ in range(3)) + ")"

        events = [{"a": a, "b": b, "c": c} for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        lines = [some(3) + " and d = 1", *map(json.dumps, events)]
        lines += [json.dumps({**each, "d": 1}) for each in events]
        among = read_set("\n".join(lines), LIMITS)
        whole = among.entries[0].expression
        event = draw.choice(among.events)
        tree = Tree(among.entries[0], among, event)
        for part in tree.parts.values():
            assert part.holds == part.expression.matches(event)
            assert part.selectivity == selectivity(part.node, among.share)
            around = tree.parts[part.above].node if part.above else None
            can_go = isinstance(around, Junction) and around.conjunctive
            assert (part.cut is not None) == can_go
            if part.cut is None:
                continue
            left = part.cut.pruning.expression
            assert part.cut.pruning.removed.root == part.node
            assert all(left.matches(each) for each in among.events if whole.matches(each))
            more = [each for each in among.events if left.matches(each) and not whole.matches(each)]
            assert part.cut.let_in == len(more)

    @pytest.mark.parametrize("rating", RATINGS)
    def test_the_best_of_all_is_what_the_queue_does_first(self, rating: str) -> None:
        among = read_set("auction: subscriptions=12 events=80 seed=4 books=20000", LIMITS)
        queue = pl.PrunedEntries(rating, among.share)
        done: list[tuple[Any, pl.Expression]] = []
        queue.observers.append(lambda name, _, after: done.append((name, after)))
        best = []
        for place, entry in enumerate(among.entries):
            queue.add(place, entry.expression)
            part, allowed = ranked(Tree(entry, among), rating)[0]
            assert allowed
            assert part.cut is not None
            ratings = part.cut.pruning.ratings
            best.append((ratings.key(rating), place, part.cut.pruning.expression))
        queue.prune(1)
        assert done == [min(best)[1:]]

    def test_a_rating_that_there_is_not(self) -> None:
        tree = tree_of("x = 1 and y = 1")
        with pytest.raises(SourceError, match="a rating is one of"):
            ranked(tree, "speed")

    def test_the_drawing_has_no_crossing_lines(self) -> None:
        made = tree_drawing(tree_of("a = 1 and (b = 1 or c = 1 and d = 1)", event={"a": 1}), LIMITS)
        places = {e["data"]["id"]: e["position"] for e in made["elements"] if "position" in e}
        row = sorted(places, key=lambda each: places[each]["x"])
        assert row == ["2", "1", "4", "3", "6", "5", "7"]
        assert [places[each]["y"] for each in "1357"] == sorted(
            places[each]["y"] for each in "1357"
        )
        labels = {e["data"]["id"]: e["data"]["label"] for e in made["elements"] if "position" in e}
        assert labels["2"] == "✓ #2\na = 1\np_min 1 · 50 %"
        assert labels["1"].startswith("✗ #1\nAND\np_min 2")
        assert made["stats"] == "4 conditions · 3 operators · p_min 2 · 26 bytes"

    @pytest.mark.parametrize(("text", "words"), [("true", "true"), ("x < 1 and x > 2", "false")])
    def test_what_always_and_what_never_holds(self, text: str, words: str) -> None:
        tree = tree_of(text, event={})
        assert tree.root.text == words
        assert tree_drawing(tree, LIMITS)["nodes"] == 1
        assert page.pruning_list(tree, "accuracy", None)["note"].startswith("Nothing can be pruned")


class TestTheEvent:
    def test_candidates_and_matches_are_those_of_the_matcher(self) -> None:
        among = example("auction")
        distinct = len({each.expression for each in among.entries})
        for event in among.events[:40]:
            found = reached(among, event)
            counts = among.matcher.account(event)
            by_expression = {each.entry.expression: each for each in found}.values()
            assert counts.candidates == sum(each.is_candidate for each in by_expression)
            assert counts.matches == sum(each.matches for each in by_expression)
            assert counts.expressions == distinct
            assert all(each.is_candidate for each in found if each.matches)

    def test_not_is_the_complement(self) -> None:
        among = example("not")
        answers = [[each.matches for each in reached(among, event)] for event in among.events]
        assert [each[:2] for each in answers] == [
            [True, True],
            [False, False],
            [True, False],
            [True, False],
        ]


class TestARun:
    @pytest.mark.parametrize("rating", RATINGS)
    def test_what_goes_and_what_is_sent_only_grow(self, rating: str) -> None:
        among = read_set("auction: subscriptions=24 events=60 books=20000 seed=2", LIMITS)
        run = pruning_run(among, rating)
        assert run.lost == 0
        assert run.points[0].removed == 0
        # The first two classes end with one condition; the third with two, or one OR of two.
        assert run.points[-1].removed == pytest.approx(1 - 4 / 25, abs=0.03)
        loads = [each.load for each in run.points]
        assert loads == sorted(loads)
        removed = [each.removed for each in run.points]
        assert removed == sorted(removed)
        sent = [
            {e.interface for e in among.entries if e.expression.matches(event)}
            for event in among.events
        ]
        assert loads[0] == sum(map(len, sent)) / (len(sent) * len(among.interfaces))

    def test_what_is_lost_is_told(self) -> None:
        good = PruningRun("accuracy", (Point(0, 0.0, 0.1, 5.0, 0), Point(3, 0.5, 0.2, 4.0, 0)))
        assert "✓ no event is lost" in texts(page.told_run(good))
        assert "3 prunings: M 0.50, N 0.100 → 0.200" in texts(page.told_run(good))
        bad = PruningRun("accuracy", (Point(0, 0.0, 0.1, 5.0, 0), Point(3, 0.5, 0.2, 4.0, 2)))
        assert "✗ 2 lost" in texts(page.told_run(bad))

    def test_a_lost_event_is_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        among = read_set('a = 1 and b = 1\n{"a": 1, "b": 1}', LIMITS)

        def narrowed(entries: pl.PrunedEntries, _steps: int | None = None) -> int:
            entries.observers[0](0, entries.current(0), pl.parse_expression("a = 2"))
            return 1

        monkeypatch.setattr(pl.PrunedEntries, "prune", narrowed)
        assert pruning_run(among, "accuracy").lost == 1

    def test_no_events_and_no_such_rating(self) -> None:
        among = read_set("x = 1 and y = 1", LIMITS)
        with pytest.raises(SourceError, match="needs events"):
            pruning_run(among, "accuracy")
        with pytest.raises(SourceError, match="a rating is one of"):
            pruning_run(among, "speed")

    def test_nothing_to_prune(self) -> None:
        run = pruning_run(read_set('x = 1 or y = 1\n{"x": 1}', LIMITS), "memory")
        assert [(each.prunings, each.removed, each.load) for each in run.points] == [(0, 0.0, 1.0)]

    def test_figures(self) -> None:
        run = pruning_run(example("not"), "memory")
        load, removed, _ = page.curve_figures(run)
        assert load["data"][0]["y"] == [round(each.load, 5) for each in run.points]
        assert removed["data"][0]["x"] == [each.prunings for each in run.points]


class TestTheCards:
    def test_a_part_and_its_pruning(self) -> None:
        among = example("books")
        tree = Tree(among.entries[2], among, among.events[2])
        told = texts(page.part_card(tree, 11))
        assert '#11  bids = 0 or special = "signed"' in told
        assert "It holds for the event" in told
        assert "p_min 3 → 2, bytes 47 → 33" in told
        assert "Of 6 events" in told
        assert "The root is not pruned" in texts(page.part_card(tree, 1))
        assert "A child of an OR" in texts(page.part_card(tree, 4))
        assert "Click a part" in texts(page.part_card(tree, 99))

    def test_the_event_and_the_lists(self) -> None:
        among = example("books")
        event = among.events[0]
        tree = Tree(among.entries[2], among, event)
        found = reached(among, event)
        told = texts(page.event_card(tree, found, page.satisfied_text(among, event)))
        assert "✗ does not match" in told
        assert "author is absent, but the expression wants author = 5" in told
        assert "Of 3 expressions, 2 candidates: 2 of them match." in told
        rows = page.reached_list(found, 3, 2)
        assert [row[0]["pick"] for row in rows["rows"]] == [
            "expressions-entry 1",
            "expressions-entry 2",
        ]
        assert rows["note"] == "The first 2 of 3."
        prunings = page.pruning_list(tree, "memory", 3)
        assert [row[0] for row in prunings["rows"]] == ["1", "2", "3", "4", "5", "–"]
        assert prunings["classes"][-1] == "picked"

    def test_an_address_that_cannot_be_shown_shows_an_example(self) -> None:
        made: Any = page.layout(LIBRARY, {}, {"expressions-run": "text:x >"})
        assert "What this address asks for cannot be shown: line 1" in texts(made)
        with pytest.raises(SourceError, match="there is no example"):
            LIBRARY.expressions("example:none")

    def test_every_example_can_be_read(self) -> None:
        for name in EXPRESSION_SETS:
            assert example(name).events


@pytest.mark.needs("chromium")
class TestInTheBrowser:
    def test_a_walk(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/expressions?expressions-entry-node=3")
        visitor.draws("expressions-tree", 13, 12)
        visitor.tap("expressions-tree", 11)
        visitor.sees("#expressions-detail", "p_min 3 → 2, bytes 47 → 33")
        # By key: the first pruning of a rating, then an expression of the list.
        visitor.choose("#expressions-rating label", "Memory")
        visitor.sees("#expressions-rows", "memory prunes what is inside first")
        visitor.press("#expressions-rows button", Keys.ENTER)
        visitor.sees("#expressions-detail", "Without it")
        visitor.press("#expressions-reached button", Keys.ENTER)
        visitor.sees("#expressions-event", "✓ matches")
        visitor.draws("expressions-tree", 10, 9)
        visitor.click("#expressions-random")
        visitor.sees("#expressions-event", "✗ does not match")
        visitor.write("#expressions-notification", '{"title": 7', submit=True)
        visitor.told("the notification is no JSON")
        visitor.write("#expressions-notification", "{}", submit=True)
        visitor.sees("#expressions-event", "0 candidates")
        query = parse_qs(urlsplit(visitor.driver.current_url).query)
        assert query["expressions-entry-node"] == ["1"]
        assert query["expressions-rating"] == ["memory"]
        visitor.driver.refresh()
        visitor.sees("#expressions-event", "0 candidates")
        visitor.draws("expressions-tree", 10, 9)

    def test_text_and_curves(self, visitor: Visitor, address: str) -> None:
        text = quote('text:a: x = 1 and y = 1\n{"x": 1}\n{"x": 1, "y": 1}\n')
        visitor.open(f"{address}/expressions?expressions-run={text}&expressions-curves=yes")
        visitor.draws("expressions-tree", 3, 2)
        visitor.sees("#expressions-curves_told", "1 pruning: M 0.50")
        for each in ("load", "removed", "micros"):
            visitor.one(f"#expressions-{each} .main-svg .trace")
        visitor.write("#expressions-script", "x = 1 and")
        visitor.click("#expressions-use_script")
        visitor.sees("#expressions-problem", "line 1, column 10")
        visitor.draws("expressions-tree", 3, 2)
        visitor.write("#expressions-script", "not (x = 1 and y = 1)")
        visitor.click("#expressions-use_script")
        visitor.sees("#expressions-problem", "")
        visitor.sees("#expressions-event", "✓ matches")
        visitor.sees("#expressions-curves_told", "needs events")
        visitor.choose(".the-run button", "The auction workload, small")
        visitor.sees("#expressions-curves_told", "450 prunings: M 0.84")

"""Expressions over filters: against a brute force that asks node by node, and in the page."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

import posetlib as pl
from browser.config import Config, Limits
from browser.finding import HELP, FindError, Where, find, read, where_of
from browser.graph import NO_FOLDS, Graph, Node
from browser.picture import graph_drawing
from browser.state import Library

from .driving import Visitor

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
#: An expression, and whether a node meets it, by its own words.
Pair = tuple[str, Callable[[int], bool]]


class Brute:
    """Random expressions over one graph, each with a test that looks at one node at a time."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        recipe = {"filters": "30", "interfaces": "6", "seed": str(seed), "schemas": "1"}
        story = Library(Config()).story({**recipe, "interface_skew": "1"})
        self.graph = story.frame(self.draw.choice(["fp", "nrf"]), len(story)).graph
        self.filters = story.filters

    def paths(self, number: int, near: dict[int, list[int]], far: int) -> set[int]:
        """What a node reaches in up to so many steps, by walking all paths."""
        if not far:
            return set()
        found = set(near[number])
        for each in near[number]:
            found |= self.paths(each, near, far - 1)
        return found

    def depth(self, number: int) -> int:
        above = self.graph.parents[number]
        return 0 if not above else 1 + min(self.depth(each) for each in above)

    def one(self) -> Pair:
        graph, filters, draw = self.graph, self.filters, self.draw
        other = draw.choice([*filters])
        item = filters[other]
        where = draw.choice([f"#{other}", str(item)])
        compare = draw.choice([*COMPARE])
        name, count = f"I{draw.randint(1, 7)}", draw.randint(0, 4)
        values: dict[str, Callable[[int], int]] = {
            "depth": self.depth,
            "parents": lambda n: len(graph.parents[n]),
            "children": lambda n: len(graph.children[n]),
            "interfaces": lambda n: len(graph.nodes[n].interfaces),
            "number": lambda n: n,
        }
        field = draw.choice([*values])
        point = {"x": draw.randint(0, 100), "y": draw.randint(0, 100)}
        text = draw.choice(["x in", "I2", "#1", "9", "nowhere"])
        far = draw.randint(0, 3)
        within = self.paths
        pairs: list[Pair] = [
            (f"covers({where})", lambda n: filters[n].covers(item)),
            (f"covered_by({where})", lambda n: item.covers(filters[n])),
            (f"Overlaps( {where} )", lambda n: filters[n].overlaps(item)),
            (f"matches({json.dumps(point)})", lambda n: filters[n].matches(point)),
            (f"interface = {name}", lambda n: name in graph.nodes[n].interfaces),
            (f'interface != "{name}"', lambda n: name not in graph.nodes[n].interfaces),
            ("attribute = x", lambda n: "x" in filters[n].constraints),
            ("attribute != z", lambda n: "z" not in filters[n].constraints),
            (f"{field} {compare} {count}", lambda n: COMPARE[compare](values[field](n), count)),
            ("roots", lambda n: not graph.parents[n]),
            ("LEAVES", lambda n: not graph.children[n]),
            (f"#{other}", lambda n: n == other),
            (f"above(#{other})", lambda n: other in within(n, graph.children, 99)),
            (f"below({other})", lambda n: other in within(n, graph.parents, 99)),
            (
                f"near(#{other}, {far})",
                lambda n: (
                    n == other
                    or other in within(n, graph.children, far) | within(n, graph.parents, far)
                ),
            ),
            (
                f'"{text}"',
                lambda n: (
                    text.lower()
                    in f"#{n} {graph.nodes[n].text} {' '.join(graph.nodes[n].interfaces)}".lower()
                ),
            ),
        ]
        return draw.choice(pairs)

    def expression(self, size: int) -> Pair:
        if size <= 1:
            return self.one()
        kind = self.draw.choice(["and", "or", "not", "()"])
        if kind == "not":
            text, test = self.expression(size - 1)
            return f"not ({text})", lambda n: not test(n)
        if kind == "()":
            text, test = self.expression(size - 1)
            return f"( {text} )", test
        left = self.draw.randint(1, size - 1)
        (one, test_one), (other, test_other) = self.expression(left), self.expression(size - left)
        if kind == "or":
            return f"({one} or {other})", lambda n: test_one(n) or test_other(n)
        return f"({one}) and ({other})", lambda n: test_one(n) and test_other(n)


class TestAgainstBruteForce:
    @pytest.mark.parametrize("seed", range(25))
    def test_what_is_found_is_what_each_node_says(self, seed: int) -> None:
        brute = Brute(seed)
        for size in (1, 1, 1, 1, 2, 3, 5, 8):
            text, test = brute.expression(size)
            expected = {number for number in brute.graph.nodes if test(number)}
            assert find(text, brute.graph, brute.filters) == expected, text

    def test_not_binds_before_and_and_that_before_or(self) -> None:
        brute = Brute(3)
        loose = find("not roots and leaves or #1", brute.graph, brute.filters)
        assert loose == find("((not roots) and leaves) or #1", brute.graph, brute.filters)
        assert loose != find("not (roots and (leaves or #1))", brute.graph, brute.filters)

    def test_all_words_of_the_help_can_be_used(self) -> None:
        brute = Brute(1)
        for words in HELP:
            for each in words.split("), ") if ")," in words else [words]:
                if each.startswith(("and,", "parents,", "roots,")):
                    continue
                text = f"{each})" if each.count("(") > each.count(")") else each
                find(text, brute.graph, brute.filters)
        find("roots or leaves", brute.graph, brute.filters)

    def test_near_counts_edges(self) -> None:
        nodes = {n: Node(n, "x > 1", ("I1",)) for n in (1, 2, 3, 4)}
        chain = Graph(nodes, ((1, 2), (2, 3), (3, 4)))
        filters = dict.fromkeys(nodes, pl.parse_filter("x > 1"))
        found = {"#1": {1, 2}, "#1, 2": {1, 2, 3}, "#2, 1": {1, 2, 3}, "#4, 0": {4}}
        for asked, numbers in found.items():
            assert find(f"near({asked})", chain, filters) == numbers

    def test_a_cycle_ends(self) -> None:
        nodes = {n: Node(n, "x > 1", ("I1",)) for n in (1, 2, 3)}
        ring = Graph(nodes, ((1, 2), (2, 3), (3, 1)))
        filters = dict.fromkeys(nodes, pl.parse_filter("x > 1"))
        assert find("below(#1)", ring, filters) == {2, 3}
        assert find("depth >= 0", ring, filters) == set()  # no root leads there


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "nothing to find"),
            ("   ", "nothing to find"),
            ("root", "column 1: 'root' is no condition; text to find stands in quotation marks"),
            ("roots leaves", "column 7: 'leaves', where 'and', 'or' or the end was expected"),
            ("roots and", "column 10: the end, where a condition was expected"),
            ("or roots", "column 1: 'or', where a condition was expected"),
            ("(roots", "column 7: the end, where ')' was expected"),
            ("roots)", "column 6: ')', where"),
            ("depth", "column 6: the end, where = != < <= > or >= was expected"),
            ("depth < x", "column 9: 'x', where a whole number was expected"),
            ("depth < 1.5", "column 9: '1' begins nothing"),
            ("depth < -1", "column 9: '-' begins nothing"),
            ("interface < I1", "column 11: '<', where = or != was expected"),
            ("interface =", "column 12: the end, where the name of an interface"),
            ('"never', "column 1: the quotation mark is never closed"),
            ("covers(x > 1", "column 1: covers( is never closed"),
            ("covers()", "column 8"),
            ("roots and covers(x >)", "column 21"),
            ("covers(x = 1 and x = 2)", "column 8"),
            ("above(x)", "column 7: above( ) wants a number such as #3, not 'x'"),
            ("near(#1, many)", "near( ) wants a number of edges"),
            ("matches({)", "column 10"),
            ("matches(1)", "a notification is a JSON object, a tuple, or a document"),
            ("roots & leaves", "column 7: '&' begins nothing"),
            ("not " * 60 + "roots", "nested too deeply"),
            ("(" * 60 + "roots" + ")" * 60, "nested too deeply"),
            ("#" * 3_000, "up to 2,000 characters"),
            ("#12345678901", "where 'and', 'or' or the end was expected"),
            ("covers(" + "x" * 1_900 + ")", "column"),
        ],
    )
    def test_what_cannot_be_read_names_its_place(self, text: str, words: str) -> None:
        with pytest.raises(FindError) as caught:
            read(text)
        assert words in str(caught.value)

    def test_nonsense_is_never_another_error(self) -> None:
        draw = random.Random(5)
        alphabet = ['"', "\\", "covers(", "near(", "not ", "and ", *"()#x=<é1,"]
        for _ in range(3_000):
            text = "".join(draw.choices(alphabet, k=draw.randint(1, 12)))
            with contextlib.suppress(FindError):
                read(text)

    def test_a_bad_one_is_not_applied(self) -> None:
        assert where_of("roots and", "only", {}) is None
        assert where_of(" ", "only", {}) is None
        assert where_of(None, None, {}) is None
        found = where_of("roots", "nonsense", {})
        assert isinstance(found, Where)
        assert found.mode == "mark"


class TestDrawings:
    def drawn(self, mode: str, text: str = "roots") -> dict[str, Any]:
        story = Library(Config()).story({"from": "example", "example": "forwards"})
        frame = story.frame("fp", 5)
        where = where_of(text, mode, story.filters)
        assert where is not None
        return graph_drawing(frame.graph, Limits(), NO_FOLDS, palette={}, where=where)

    def test_marked_alone_or_hidden(self) -> None:
        story = Library(Config()).story({"from": "example", "example": "forwards"})
        roots = set(story.frame("fp", 5).graph.roots)
        everybody = set(story.frame("fp", 5).graph.nodes)

        def shown(made: dict[str, Any]) -> set[int]:
            return {int(each["data"]["id"]) for each in made["elements"] if "position" in each}

        marked = self.drawn("mark")
        assert set(marked["found"]) == roots
        assert shown(marked) == everybody
        assert shown(self.drawn("only")) == roots
        assert shown(self.drawn("hide")) == everybody - roots
        assert self.drawn("hide")["met"] == "2 of 5 filters meet the expression, and are hidden"
        assert self.drawn("only", "#77")["nodes"] == 0


@pytest.mark.needs("chromium")
class TestInThePage:
    def test_it_marks_hides_is_shared_and_says_what_is_wrong(
        self, visitor: Visitor, address: str
    ) -> None:
        visitor.open(f"{address}/?from=example&example=forwards&step=5&show=fp")
        visitor.draws("tables-fp", 5)
        visitor.write("#tables-where", "not roots", submit=True)
        visitor.sees("#stats-tables-fp", "3 of 5 filters meet the expression")
        visitor.until(lambda: "found" in visitor.classes("tables-fp", 3), "a filter marked")
        assert "dim" in visitor.classes("tables-fp", 1)
        visitor.sees("#tables-rows", "5 filters")
        visitor.click("#tables-where_mode label:nth-of-type(2)")
        visitor.draws("tables-fp", 3)
        visitor.sees("#tables-rows", "3 filters")
        assert "x in [0, 50]" not in visitor.text("#tables-rows")
        visitor.until(
            lambda: (
                "where=not+roots" in visitor.driver.current_url
                and "where_mode=only" in visitor.driver.current_url
            ),
            "the expression in the address",
        )
        visitor.open(visitor.driver.current_url)
        visitor.draws("tables-fp", 3)
        visitor.write("#tables-where", "not root", submit=True)
        visitor.sees("#tables-where_told", "Not applied: column 5: 'root' is no condition")
        visitor.draws("tables-fp", 5)
        visitor.write("#tables-where", "covers(x = 25)", submit=True)
        visitor.draws("tables-fp", 3)
        assert visitor.text("#tables-where_told") == ""

    @pytest.mark.parametrize(
        ("page", "panel"),
        [("match", "fp"), ("diff", "both"), ("plane", "graph"), ("forwards", "fp")],
    )
    def test_on_every_page_with_a_graph_of_filters(
        self, visitor: Visitor, address: str, page: str, panel: str
    ) -> None:
        query = "from=example&example=forwards&step=5&where=roots&where_mode=only"
        visitor.open(f"{address}/{page}?{query}&a_step=5&b_step=5")
        visitor.sees(f"#stats-{page}-{panel}", "meet the expression, the others are hidden")
        visitor.draws(f"{page}-{panel}", 2, 0)
        visitor.write(f"#{page}-where", "depth <", submit=True)
        visitor.sees(f"#{page}-where_told", "column 8: the end, where a whole number")

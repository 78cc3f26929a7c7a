"""Every page in a real browser: load it, act, and see what a person would see."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask, request
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from browser.config import Limits

from .driving import Visitor, serving, visiting
from .files import report, snapshot_json, trace_json, write_run

pytestmark = pytest.mark.needs("chromium")
EXAMPLE = "?from=example&example=forwards"


class TestTables:
    def test_the_workload_of_the_command_line_is_open(self, visitor: Visitor, address: str) -> None:
        visitor.open(address)
        visitor.draws("tables-fp", 5, 3)
        visitor.draws("tables-nrf", 5, 3)
        assert "/workload" in visitor.text("#source-title")
        assert "5 filters · 3 edges · 2 roots · 3 levels" in visitor.text("#stats-tables-fp")
        assert "covering tests" in visitor.text("#stats-tables-nrf")

    def test_generate(self, visitor: Visitor, address: str) -> None:
        visitor.open(address)
        visitor.drawn("tables-fp")
        visitor.write("#generate-filters", "30")
        visitor.write("#generate-interfaces", "30")
        visitor.click("#generate")
        visitor.draws("tables-fp", 30)
        visitor.sees("#tables-step_text", "Step 30 of 30")
        assert "filters=30" in visitor.driver.current_url

    def test_a_parameter_out_of_bounds_is_told(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/?from=generate&filters=0")
        visitor.told("Filters is between 1 and 100,000")
        visitor.open(f"{address}/?from=generate&kind=cubic")
        visitor.told("kind is one of")

    def test_typed_filters_and_an_error_with_its_line(self, visitor: Visitor, address: str) -> None:
        visitor.open(address)
        visitor.drawn("tables-fp")
        visitor.type_filters("I1: x > 1\nI2: x > 5\nI3: y = 3")
        visitor.draws("tables-fp", 3, 1)
        visitor.type_filters("I1: x > 1\n\nI2: x >")
        visitor.told("line 3, column 8")
        visitor.draws("tables-fp", 3, 1)
        visitor.type_filters("I1: x > 1")
        visitor.draws("tables-fp", 1, 0)
        assert visitor.text("#message") == ""

    def test_all_four_structures_side_by_side(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/?from=generate&filters=20&show=fp")
        visitor.drawn("tables-fp")
        for word in ("PF", "BF", "NRF"):
            visitor.choose("#tables-show label", word)
        for each in ("fp", "pf", "bf", "nrf"):
            nodes, _ = visitor.drawn(f"tables-{each}")
            assert nodes > 0
        visitor.until(lambda: "show=fp%2Cpf%2Cbf%2Cnrf" in visitor.driver.current_url, "the URL")

    def test_step_play_and_rewind(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}")
        visitor.sees("#tables-step_text", "Step 6 of 6: I1 removes #1: x in [0, 50]")
        visitor.draws("tables-fp", 5)  # four, and the one that was removed
        assert "removed" in visitor.classes("tables-fp", 1)
        assert "moved" in visitor.classes("tables-fp", 3)
        assert visitor.label("tables-fp", 1).startswith("− #1")
        assert "− removed 1" in visitor.sees("#chips-tables-fp", "↷ re-parented 1")
        visitor.click("#tables-back")
        visitor.sees("#tables-step_text", "Step 5 of 6")
        visitor.until(lambda: "added" in visitor.classes("tables-fp", 5), "the mark of step 5")
        visitor.click("#tables-first")
        visitor.sees("#tables-step_text", "the table is empty")
        visitor.draws("tables-fp", 0, 0)
        visitor.click("#tables-play")
        visitor.sees("#tables-play", "Pause")
        visitor.sees("#tables-step_text", "Step 6 of 6")
        visitor.sees("#tables-play", "Play")
        visitor.press("#tables-step [role=slider]", Keys.ARROW_LEFT)
        visitor.sees("#tables-step_text", "Step 5 of 6")
        visitor.until(lambda: "step=5" in visitor.driver.current_url, "the step in the URL")

    def test_choose_a_filter_in_the_graph_and_in_the_list(
        self, visitor: Visitor, address: str
    ) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5")
        visitor.draws("tables-fp", 5)
        visitor.tap("tables-fp", 3)
        detail = visitor.sees("#tables-detail", "#3 x in [10, 40]")
        assert "It is below #1: of all that cover it, these are the least general" in detail
        assert "Forwards to\nI1" in detail
        visitor.until(lambda: "picked" in visitor.classes("tables-nrf", 3), "the same elsewhere")
        visitor.until(lambda: "node=3" in visitor.driver.current_url, "the filter in the URL")
        visitor.choose("#tables-rows button", "#5")
        visitor.sees("#tables-detail", "#5 x in [20, 30]")
        visitor.choose("#tables-detail button", "#3")
        visitor.sees("#tables-detail", "#3 x in [10, 40]")

    def test_hover(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5")
        visitor.draws("tables-fp", 5)
        visitor.hover("tables-fp", 4)
        assert "Interfaces: I2" in visitor.sees("#tooltip", "#4 x in [70, 90]")

    def test_fold_and_unfold(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5")
        visitor.draws("tables-fp", 5)
        visitor.tap("tables-fp", 1, double=True)
        visitor.draws("tables-fp", 3, 1)
        assert "▸2" in visitor.label("tables-fp", 1)
        assert visitor.drawn("tables-nrf") == (5, 3)
        visitor.until(lambda: "folds=fp_1" in visitor.driver.current_url, "the fold in the URL")
        visitor.open(visitor.driver.current_url)
        visitor.draws("tables-fp", 3, 1)
        visitor.draws("tables-nrf", 5, 3)
        visitor.choose(".nav a", "Match")
        visitor.draws("match-fp", 3, 1)
        visitor.choose(".nav a", "Tables")
        visitor.draws("tables-fp", 3, 1)
        visitor.tap("tables-fp", 1)
        visitor.click('[data-graph="fold tables-fp"]')
        visitor.draws("tables-fp", 5, 3)

    def test_what_is_folded_away_shows_itself_when_chosen(
        self, visitor: Visitor, address: str
    ) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5&folds=fp_1.2*nrf_1")
        visitor.draws("tables-fp", 2, 0)
        visitor.draws("tables-nrf", 3, 1)
        visitor.choose("#tables-rows button", "#5")
        visitor.draws("tables-fp", 4, 2)
        visitor.draws("tables-nrf", 5, 3)
        visitor.until(lambda: "picked" in visitor.classes("tables-fp", 5), "the filter in focus")

    def test_search(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5")
        visitor.draws("tables-fp", 5)
        visitor.write("#tables-search", "[20, 30]")
        visitor.sees("#tables-found", "1 found")
        visitor.until(lambda: "found" in visitor.classes("tables-fp", 5), "the filter marked")
        assert "dim" in visitor.classes("tables-fp", 1)
        visitor.sees("#tables-rows", "1 filter")

    def test_zoom_pan_and_fit_by_button_and_key(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5")
        visitor.draws("tables-fp", 5)

        start = visitor.settled("tables-fp")
        visitor.click('[data-graph="in tables-fp"]')
        assert visitor.view("tables-fp")[0] > start[0]
        visitor.click('[data-graph="fit tables-fp"]')
        assert visitor.view("tables-fp") == start
        visitor.press("#graph-tables-fp", Keys.ARROW_LEFT, "-")
        assert visitor.view("tables-fp")[0] < start[0]
        visitor.press("#graph-tables-fp", "f")
        assert visitor.view("tables-fp") == start

    def test_add_and_remove_by_hand(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5")
        visitor.draws("tables-fp", 5)
        visitor.write("#tables-hand_interface", "I9")
        visitor.write("#tables-hand_filter", "x in [0, 100]")
        visitor.click("#tables-hand_add")
        visitor.sees("#tables-step_text", "Step 6 of 7: I9 adds #6: x in [0, 100]")
        visitor.draws("tables-fp", 6, 5)
        visitor.sees("#tables-detail", "#6 x in [0, 100]")
        visitor.tap("tables-fp", 5)
        visitor.until(
            lambda: visitor.one("#tables-hand_filter").get_attribute("value") == "x in [20, 30]",
            "the chosen filter filled in",
        )
        assert visitor.one("#tables-hand_interface").get_attribute("value") == "I3"
        visitor.write("#tables-hand_interface", "I9")
        visitor.write("#tables-hand_filter", "x in [0, 100]")
        visitor.click("#tables-hand_remove")
        visitor.sees("#tables-step_text", "Step 7 of 8: I9 removes #6")
        visitor.write("#tables-hand_filter", "x in [0, 77]")
        visitor.click("#tables-hand_remove")
        visitor.told("does not hold x in [0, 77] at step 7")
        visitor.write("#tables-hand_filter", "x in [9, 3]")
        visitor.click("#tables-hand_add")
        visitor.told("line 1")

    def test_a_view_can_be_shared(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=5&show=pf")
        visitor.draws("tables-pf", 5)
        visitor.tap("tables-pf", 4)
        visitor.sees("#tables-detail", "#4")
        visitor.until(lambda: "node=4" in visitor.driver.current_url, "the filter in the URL")
        shared = visitor.driver.current_url
        visitor.open(shared)
        visitor.draws("tables-pf", 5)
        visitor.sees("#tables-detail", "#4 x in [70, 90]")
        visitor.sees("#tables-step_text", "Step 5 of 6")

    def test_past_the_limit_it_folds_and_says_so(self, visitor: Visitor, address: str) -> None:
        visitor.open(
            f"{address}/?from=generate&filters=4000&interfaces=4000&show=fp&look=whole&step=4000&decimals=3"
        )
        visitor.sees("#note-tables-fp", "are too many to draw")
        nodes, edges = visitor.drawn("tables-fp")
        assert 100 < nodes < 4_000
        assert edges <= Limits().drawn_edges
        assert "4,000 filters" in visitor.text("#stats-tables-fp")
        assert "4,000 filters" in visitor.text("#tables-rows")

    def test_thousands_of_edges_are_painted_and_those_of_the_chosen_filter_stand_out(
        self, visitor: Visitor, address: str
    ) -> None:
        query = "kind=narrow&width=25&filters=600&interfaces=600&decimals=3&show=fp&look=whole"
        visitor.open(f"{address}/?from=generate&{query}")
        nodes, edges = visitor.drawn("tables-fp")
        assert nodes == 600
        assert edges > 1_500
        visitor.settled("tables-fp")

        def painted(colour: str) -> int:
            return int(
                visitor.driver.execute_script(
                    "const shown = document.querySelector('#cy-tables-fp canvas.edges');"
                    "const canvas = document.createElement('canvas');"
                    "canvas.width = shown.width; canvas.height = shown.height;"
                    "canvas.getContext('2d', {willReadFrequently: true}).drawImage(shown, 0, 0);"
                    "const wanted = getComputedStyle(document.documentElement)"
                    ".getPropertyValue('--' + arguments[0]).trim();"
                    "const rgb = [1, 3, 5].map((i) => parseInt(wanted.slice(i, i + 2), 16));"
                    "const data = canvas.getContext('2d')"
                    ".getImageData(0, 0, canvas.width, canvas.height).data;"
                    "let count = 0;"
                    "for (let i = 0; i < data.length; i += 4)"
                    " if (data[i + 3] > 60 && rgb.every((v, k) => Math.abs(v - data[i + k]) < 12))"
                    " count += 1;"
                    "return count;",
                    colour,
                )
            )

        assert painted("edge") > 2_000
        assert painted("accent") == 0
        visitor.choose("#tables-rows button", "#1")
        visitor.until(lambda: painted("accent") > 20, "the edges of the chosen filter")
        visitor.press("#graph-tables-fp", "-", "-")
        visitor.settled("tables-fp")
        visitor.until(lambda: painted("edge") > 0, "edges after zooming")
        visitor.click("#tables-first")
        visitor.draws("tables-fp", 0, 0)
        visitor.until(lambda: painted("edge") == 0, "a canvas without edges")

    def test_uploads_of_every_kind(
        self, visitor: Visitor, address: str, tmp_path: Path, run_folder: Path
    ) -> None:
        snapshot, trace = tmp_path / "table.json", tmp_path / "trace.json"
        snapshot.write_text(snapshot_json("nrf"))
        trace.write_text(trace_json())
        visitor.open(address)
        visitor.draws("tables-fp", 5)
        visitor.open_section("Upload")
        visitor.upload("#upload", snapshot)
        visitor.sees("#source-title", "table.json")
        visitor.draws("tables-file", 5, 3)
        visitor.sees("#source-title", "✓ check() holds")
        visitor.upload("#upload", trace)
        visitor.sees("#source-title", "trace.json")
        visitor.sees("#tables-step_text", "Step 6 of 6: I1 removes #1")
        parts = sorted((run_folder / "workload" / "filters").glob("*.parquet"))
        visitor.upload("#upload", *parts)
        visitor.sees("#source-title", "part-00000.parquet and 1 more")
        visitor.draws("tables-fp", 5, 3)


class TestMatch:
    def test_what_the_walk_did_is_marked(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/match{EXAMPLE}&step=5")
        visitor.draws("match-fp", 5)
        visitor.write("#match-notification", '{"x": 75}', submit=True)
        visitor.until(lambda: "matched" in visitor.classes("match-fp", 4), "a match")
        assert "matched" in visitor.classes("match-fp", 2)
        assert "failed" in visitor.classes("match-fp", 1)
        assert "unvisited" in visitor.classes("match-fp", 3)
        assert visitor.label("match-fp", 2).startswith("✓")
        assert visitor.label("match-fp", 1).startswith("✗")
        answer = visitor.text("#match-answer")
        assert "I1" in answer
        assert "I2" in answer
        assert "I3" not in answer
        assert "3 of 5 filters tested, 3 visited" in answer
        visitor.tap("match-fp", 5)
        visitor.sees(
            "#match-detail", "It does not match: x is 75, but the filter wants x in [20, 30]."
        )
        visitor.sees("#match-detail", "It was not visited: #1 above it does not match")
        visitor.write("#match-notification", '{"x": 35}', submit=True)
        visitor.until(lambda: "skipped" in visitor.classes("match-fp", 2), "a filter skipped")

    def test_a_bound_and_another_notification(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/match?from=workload")
        visitor.draws("match-fp", 5)
        before = visitor.one("#match-notification").get_attribute("value")
        visitor.write("#match-max_tests", "0")
        visitor.click("#match-match")
        visitor.until(lambda: "assumed" in visitor.classes("match-fp", 1), "the bound")
        visitor.click("#match-random")
        visitor.until(
            lambda: visitor.one("#match-notification").get_attribute("value") != before,
            "another notification",
        )

    def test_what_is_no_notification_is_told(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/match{EXAMPLE}")
        visitor.drawn("match-fp")
        visitor.write("#match-notification", '{"x": }', submit=True)
        visitor.told("the notification is no JSON: line 1, column 7")
        visitor.write("#match-notification", "1", submit=True)
        visitor.told("a notification is a JSON object, a tuple, or a document in XML")


class TestDiff:
    def test_two_structures(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/diff?from=generate&filters=24")
        visitor.drawn("diff-both")
        counts = visitor.sees("#diff-counts", "edges added")
        assert "+ added 0" in counts
        assert "↷ re-parented 0" in counts
        assert "⇵ other parents 5" in counts
        visitor.choose("#diff-changes button", "#5")
        visitor.until(lambda: "picked" in visitor.classes("diff-both", 5), "the filter in focus")
        visitor.choose("#diff-mode label", "Side by side")
        visitor.draws("diff-a", 22, 17)
        visitor.draws("diff-b", 22, 8)
        assert "relinked" in visitor.classes("diff-b", 5)

    def test_two_steps_and_the_export(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/diff{EXAMPLE}&a_structure=fp&b_structure=fp&a_step=5&b_step=6")
        visitor.draws("diff-both", 5)
        visitor.sees("#diff-counts", "− removed 1")
        assert "removed" in visitor.classes("diff-both", 1)
        visitor.click("#diff-export")
        content = visitor.downloaded()
        assert content["format"] == "posetlib-diff"
        assert content["counts"]["removed"] == 1
        assert content["diff"]["nodes_removed"] == ["x in [0, 50]"]

    def test_two_uploaded_snapshots(self, visitor: Visitor, address: str, tmp_path: Path) -> None:
        one, two, broken = (tmp_path / f"{name}.json" for name in ("one", "two", "broken"))
        one.write_text(snapshot_json("fp", [("x > 1", "I1"), ("x > 5", "I2")]))
        two.write_text(snapshot_json("pf", [("x > 5", "I3"), ("y > 2", "I1")]))
        broken.write_text('{"format": "posetlib-snapshot",\n "version": 2}')
        visitor.open(f"{address}/diff{EXAMPLE}")
        visitor.drawn("diff-both")
        visitor.upload("#diff-a_upload", one)
        visitor.upload("#diff-b_upload", two)
        text = visitor.sees("#diff-counts", "+ added 1")
        visitor.until(
            lambda: "≠ interfaces changed 1" in visitor.text("#diff-counts"), "both files"
        )
        assert "− removed 1" in visitor.text("#diff-counts"), text
        visitor.sees("#diff-changes", "x > 5: +I3, −I2")
        visitor.upload("#diff-b_upload", broken)
        visitor.told("broken.json: the version is 2")


class TestForwards:
    def test_the_figures_of_the_thesis(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/forwards{EXAMPLE}&step=5")
        visitor.draws("forwards-fp", 5)
        assert visitor.label("forwards-fp", 1).endswith("→ I2, I3")
        assert visitor.label("forwards-fp", 3).endswith("→ I1")
        assert "→" not in visitor.label("forwards-fp", 5)
        assert "Nothing is sent" in visitor.text("#forwards-step_messages")
        visitor.sees("#forwards-summary", "All mechanisms agree on 4 filters")
        visitor.click("#forwards-forward")
        visitor.sees("#forwards-step_messages", "To I3")
        assert visitor.text("#forwards-step_messages").split("\n") == [
            *("To I2", "− unsubscribe #1", "x in [0, 50]", "+ subscribe #5", "x in [20, 30]"),
            *("To I3", "− unsubscribe #1", "x in [0, 50]", "+ subscribe #3", "x in [10, 40]"),
        ]
        visitor.draws("forwards-step", 4, 3)

    def test_what_would_be_sent(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/forwards{EXAMPLE}&step=5")
        visitor.draws("forwards-fp", 5)
        visitor.click("#forwards-send")
        visitor.sees("#forwards-messages", "− unsubscribe #1")
        visitor.choose("#forwards-operation label", "Subscribe")
        visitor.write("#forwards-source", "I3")
        visitor.write("#forwards-filter", "y = 1")
        visitor.click("#forwards-send")
        visitor.sees("#forwards-messages", "To I1\n+ subscribe #6\ny = 1")
        visitor.choose("#forwards-operation label", "Unsubscribe")
        visitor.click("#forwards-send")
        visitor.told("does not hold y = 1 at step 5")

    def test_the_approximate_mechanism_sends_more(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/forwards?from=example&example=approximate")
        visitor.sees("#forwards-summary", "differ: the approximate mechanism sends more")

    def test_neighbours_are_chosen(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/forwards{EXAMPLE}&step=5")
        visitor.draws("forwards-fp", 5)
        visitor.choose("#forwards-neighbours label", "I3")
        visitor.until(lambda: visitor.label("forwards-fp", 1).endswith("→ I2"), "a set without I3")
        visitor.until(lambda: "neighbours=I1%2CI2" in visitor.driver.current_url, "the URL")


class TestRuns:
    def test_a_witness_opens_in_the_graph(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/runs")
        text = visitor.sees("#runs-reports", "Violated: edge-covers.")
        assert "✗ violated" in text
        assert "not applicable" in text
        assert "does not cover <b>it</b>" in text
        visitor.draws("runs-witness", 3, 2)
        assert "witness" in visitor.classes("runs-witness", 1)
        assert "witness" not in visitor.classes("runs-witness", 5)
        assert "does not cover <b>it</b>" in visitor.text("#runs-witness_text")
        visitor.until(lambda: "witness=edge-covers.1" in visitor.driver.current_url, "the URL")
        visitor.choose("#runs-report label", "good.json")
        visitor.sees("#runs-reports", "Every invariant that applies holds.")
        visitor.sees("#runs-witness_none", "there is no witness to show")
        assert not visitor.one("#graph-runs-witness").is_displayed()
        visitor.choose("#runs-report label", "bad.json")
        visitor.choose("#runs-reports a", "Open")
        # What was drawn before is still in the graph while that is hidden.
        visitor.until(lambda: visitor.one("#graph-runs-witness").is_displayed(), "the graph")
        visitor.draws("runs-witness", 3, 2)

    def test_without_a_report_the_page_says_how_to_get_one(
        self, visitor: Visitor, tmp_path: Path
    ) -> None:
        with serving(runs=tmp_path) as empty:
            visitor.open(f"{empty}/runs")
            visitor.sees("main", "There is no validation report in")
            visitor.sees("#runs-witness_none", "Where an invariant is violated")
            assert not visitor.one("#graph-runs-witness").is_displayed()


def late_server() -> Flask:
    """A server whose callbacks all answer late, but for the one with the list of witnesses."""
    server = Flask("late")

    @server.before_request
    def wait() -> None:
        if request.path.endswith("/_dash-update-component"):
            output = request.get_json()["output"]
            if "runs-" in output and "runs-reports.children" not in output:
                time.sleep(0.5)

    return server


@pytest.fixture(scope="module")
def late_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Three witnesses in one report, on a server that is late."""
    folder = write_run(tmp_path_factory.mktemp("witnesses"))
    content = report()
    content["invariants"][0]["witnesses"] = [
        {"child": "a filter", "why": f"reason {number}", "ids": [number]} for number in (0, 1, 4)
    ]
    (folder / "bad.json").write_text(json.dumps(content))
    with serving(folder / "workload", server=late_server()) as found:
        yield found


class TestOpeningAWitness:
    """A click on *Open* counts, however early it comes, and whatever is still on its way."""

    @staticmethod
    def shows(visitor: Visitor, place: int, number: int) -> None:
        """Wait for a witness, by its place in the report and the filter that it is about."""
        visitor.sees("#runs-witness_text", f"reason {number}")
        visitor.drawn("runs-witness")
        visitor.until(lambda: "witness" in visitor.classes("runs-witness", number + 1), "its mark")
        visitor.until(
            lambda: f"witness=edge-covers.{place}" in visitor.driver.current_url, "the URL"
        )

    def test_the_first_is_open_though_the_list_comes_before_it(
        self, visitor: Visitor, late_address: str
    ) -> None:
        visitor.open(f"{late_address}/runs")
        visitor.sees("#runs-reports", "✗ violated")
        self.shows(visitor, 1, 0)

    def test_a_click_as_soon_as_the_list_appears_is_not_lost(
        self, visitor: Visitor, late_address: str
    ) -> None:
        visitor.open(late_address)
        visitor.drawn("tables-fp")
        # No person and no driver is as quick as this: the click comes with the list itself.
        visitor.driver.execute_script(
            "new MutationObserver((changes, observer) => {"
            "  const found = [...document.querySelectorAll('#runs-reports .witness .small')];"
            "  if (!found.length) return;"
            "  observer.disconnect();"
            "  found[found.length - 1].click();"
            "}).observe(document.body, {childList: true, subtree: true});"
        )
        visitor.choose(".nav a", "Runs")
        self.shows(visitor, 3, 4)

    def test_a_click_while_another_is_on_its_way(self, visitor: Visitor, late_address: str) -> None:
        visitor.open(f"{late_address}/runs")
        visitor.click("#runs-reports tr:nth-of-type(3) .witness .small")
        visitor.click("#runs-reports tr:nth-of-type(4) .witness .small")
        self.shows(visitor, 3, 4)

    def test_open_is_a_link(self, visitor: Visitor, late_address: str) -> None:
        visitor.open(f"{late_address}/runs{EXAMPLE}&step=4")
        self.shows(visitor, 1, 0)
        visitor.driver.execute_script("window.same = true")
        visitor.press("#runs-reports tr:nth-of-type(3) a", Keys.ENTER)
        self.shows(visitor, 2, 1)
        assert visitor.driver.execute_script("return window.same")  # the page was not left
        here = visitor.driver.current_window_handle
        visitor.press("#runs-reports tr:nth-of-type(4) a")
        webdriver.ActionChains(visitor.driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(
            Keys.CONTROL
        ).perform()
        visitor.until(lambda: len(visitor.driver.window_handles) == 2, "a tab beside this one")
        self.shows(visitor, 2, 1)
        try:
            (other,) = (each for each in visitor.driver.window_handles if each != here)
            visitor.driver.switch_to.window(other)
            self.shows(visitor, 3, 4)
            assert "example=forwards" in visitor.driver.current_url
            assert "step=4" in visitor.driver.current_url
        finally:
            visitor.driver.close()
            visitor.driver.switch_to.window(here)


class TestTheFrame:
    def test_pages_by_the_bar_keep_the_view(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}&step=4")
        visitor.draws("tables-fp", 4)
        visitor.choose(".nav a", "Match")
        visitor.sees("#match-step_text", "Step 4 of 6")
        visitor.choose(".nav a", "Diff")
        visitor.drawn("diff-both")
        visitor.choose(".nav a", "Forwards")
        visitor.sees("#forwards-step_text", "Step 4 of 6")
        visitor.choose(".nav a", "Network")
        visitor.drawn("network-map")
        visitor.choose(".nav a", "Runs")
        visitor.sees("h1", "Runs")
        visitor.driver.back()
        visitor.sees("h1", "Network")
        visitor.choose(".nav a", "Tables")
        visitor.draws("tables-fp", 4)
        assert visitor.one(".nav a[aria-current=page]").text == "Tables"

    def test_dark_and_light(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}")
        visitor.drawn("tables-fp")

        def ground() -> str:
            return visitor.one("body").value_of_css_property("background-color")

        visitor.driver.execute_script("localStorage.clear()")
        first = ground()
        visitor.click("#theme")
        assert ground() != first
        visitor.driver.refresh()
        visitor.drawn("tables-fp")
        assert ground() != first
        visitor.click("#theme")
        assert ground() == first

    @pytest.mark.parametrize(
        "path",
        ["", "match", "diff", "forwards", "merging", "context", "expressions", "network", "runs"],
    )
    def test_nothing_overflows_at_1024_pixels(
        self, visitor: Visitor, address: str, path: str
    ) -> None:
        visitor.driver.set_window_size(1024, 768)
        try:
            visitor.open(f"{address}/{path}{EXAMPLE}")
            visitor.sees("h1", "")
            if path != "runs":
                visitor.until(lambda: visitor.one(".graph").get_attribute("data-drawn"), "a graph")
            width = visitor.driver.execute_script("return document.documentElement.scrollWidth")
            assert width <= visitor.driver.execute_script("return window.innerWidth")
        finally:
            visitor.driver.set_window_size(1600, 1000)

    def test_nothing_comes_from_elsewhere(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/{EXAMPLE}")
        visitor.drawn("tables-fp")
        names = visitor.driver.execute_script(
            "return performance.getEntriesByType('resource').map((each) => each.name)"
        )
        assert names
        assert [each for each in names if not each.startswith((address, "data:", "blob:"))] == []

    def test_an_unknown_page_says_so(self, visitor: Visitor, address: str) -> None:
        visitor.open(f"{address}/nowhere")
        visitor.sees("h1", "No such page")


def test_two_users_do_not_mix(visitor: Visitor, address: str) -> None:
    with visiting() as other:
        visitor.open(f"{address}/{EXAMPLE}&step=5")
        other.open(f"{address}/?from=text&text=A%3A+x+%3E+1%0AB%3A+x+%3E+2")
        other.draws("tables-fp", 2, 1)
        visitor.draws("tables-fp", 5, 3)
        other.click("#tables-back")
        other.draws("tables-fp", 1, 0)
        visitor.write("#tables-hand_interface", "I9")
        visitor.write("#tables-hand_filter", "z = 1")
        visitor.click("#tables-hand_add")
        visitor.draws("tables-fp", 6, 3)
        other.click("#tables-forward")
        other.draws("tables-fp", 2, 1)
        assert "z = 1" not in other.text("body")
        visitor.driver.refresh()
        visitor.draws("tables-fp", 6, 3)
        assert json.dumps(other.console()) == "[]"

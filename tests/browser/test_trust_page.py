"""In Chromium: failed requests are seen, bad notifications have no answer, broken files show."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from browser.app import create_app

from .driving import Visitor
from .files import snapshot_json

pytestmark = pytest.mark.needs("chromium")
EXAMPLE = "?from=example&example=forwards"


def test_a_failed_request_is_seen_and_the_controls_go_back(window: Visitor) -> None:
    server = make_server("127.0.0.1", 0, create_app().server, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        window.open(f"http://127.0.0.1:{server.server_port}/{EXAMPLE}&step=4")
        window.draws("tables-fp", 4)
        window.settled("tables-fp")
        window.sees("#tables-step_text", "Step 4 of 6")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    window.click("#tables-forward")
    window.sees("#banner", "The server did not answer (no connection)")

    def step() -> bool:
        slider = window.one("#tables-step [role=slider]")
        return slider.get_attribute("aria-valuenow") == "4"

    window.until(step, "the slider back at step 4")
    assert "Step 4 of 6" in window.text("#tables-step_text")
    assert window.drawn("tables-fp")[0] == 4
    window.console()  # which tells of the refused connection


def test_a_bad_notification_leaves_no_answer_standing(visitor: Visitor, address: str) -> None:
    visitor.open(f"{address}/match{EXAMPLE}&step=5")
    visitor.draws("match-fp", 5)
    visitor.write("#match-notification", '{"x": 25}', submit=True)
    visitor.sees("#match-answer", "filters tested")
    visitor.until(lambda: "matched" in visitor.classes("match-fp", 1), "a marked filter")
    visitor.write("#match-notification", '{"x": }', submit=True)
    text = visitor.sees("#match-answer", "No answer: the notification is no JSON")
    assert "tested" not in text
    visitor.until(lambda: "matched" not in visitor.classes("match-fp", 1), "no mark")
    visitor.write("#match-notification", '{"x": 25}', submit=True)
    visitor.sees("#match-answer", "filters tested")
    visitor.until(lambda: visitor.text("#message") == "", "no message")


def test_a_broken_file_is_shown_as_broken(visitor: Visitor, address: str, tmp_path: Path) -> None:
    document = json.loads(snapshot_json())
    document["edges"].append([1, 4])
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(document))
    visitor.open(f"{address}/{EXAMPLE}")
    visitor.drawn("tables-fp")
    visitor.open_section("Upload")
    visitor.upload("#upload", path)
    visitor.draws("tables-file", 5, 4)
    visitor.draws("tables-fp", 5, 3)
    visitor.sees("#source-title", "✗ edge-covers violated")
    card = visitor.sees("#tables-verdict", "#2, #5")
    assert "Attribute x" in card
    assert "matches the second and not the first" in card
    visitor.choose("#tables-verdict button", "Open")
    visitor.until(lambda: "picked" in visitor.classes("tables-file", 2), "the witness")
    assert "witness" in visitor.classes("tables-file", 5)
    visitor.choose(".nav a", "Diff")
    visitor.draws("diff-both", 5, 4)
    visitor.sees("#diff-counts", "1 removed")


def test_chips_show_their_filters_alone(visitor: Visitor, address: str) -> None:
    visitor.open(f"{address}/diff?from=generate&filters=60&operations=10&seed=4&decimals=2")
    nodes, _ = visitor.drawn("diff-both")
    visitor.sees("#diff-counts", "⇵ other parents")
    visitor.click("#diff-counts [data-chip=relinked]")

    def dimmed() -> bool:
        count = visitor.driver.execute_script(
            "return document.getElementById('cy-diff-both')._cyreg.cy.nodes('.dim').length"
        )
        return 0 < int(count) < nodes

    visitor.until(dimmed, "dimmed filters")
    hidden = visitor.driver.execute_script(
        "return [...document.querySelectorAll('#diff-changes tr')]"
        ".map((row) => [row.hidden, row.className])"
    )
    assert hidden
    assert all(each[0] == (each[1] != "kind-relinked") for each in hidden)
    visitor.click("#diff-counts [data-chip=relinked]")
    visitor.until(lambda: not dimmed(), "all again")
    visitor.choose("#diff-mode label", "Changes only")
    visitor.until(lambda: visitor.drawn("diff-both")[0] < nodes, "fewer filters")

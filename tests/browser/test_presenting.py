"""Room for the graphs: the panel of sources folds away, and a presentation shows little else."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from .driving import Visitor

pytestmark = pytest.mark.needs("chromium")
EXAMPLE = "from=example&example=forwards&step=5&show=fp"


def test_the_panel_of_sources_folds_away_after_use(visitor: Visitor, address: str) -> None:
    visitor.open(f"{address}/?{EXAMPLE}")
    visitor.draws("tables-fp", 5)
    assert visitor.one("#sources").is_displayed()
    visitor.type_filters("I1: x > 1\nI2: x > 2\nI3: x > 3")
    visitor.draws("tables-fp", 3)
    visitor.until(lambda: not visitor.one("#sources").is_displayed(), "a panel folded away")
    button = visitor.one("#toggle-sources")
    assert button.get_attribute("aria-expanded") == "false"
    # An edit by hand is not made in the panel: once it is open again, it stays so.
    visitor.click("#toggle-sources")
    assert visitor.one("#sources").is_displayed()
    visitor.write("#tables-hand_filter", "y > 9")
    visitor.click("#tables-hand_add")
    visitor.draws("tables-fp", 4)
    assert visitor.one("#sources").is_displayed()


def test_a_presentation_shows_graphs_and_steps_alone(visitor: Visitor, address: str) -> None:
    visitor.open(f"{address}/?{EXAMPLE}")
    visitor.draws("tables-fp", 5)
    visitor.click("#present")
    visitor.until(lambda: not visitor.one(".bar").is_displayed(), "a presentation")
    assert not visitor.one("#sources").is_displayed()
    assert visitor.one("#tables-play").is_displayed()
    # The whole screen may be smaller than the window was: the graph has nearly all of it.
    visitor.until(
        lambda: (
            visitor.one("#graph-tables-fp").size["width"]
            > 0.9 * visitor.driver.execute_script("return innerWidth")
        ),
        "a large graph",
    )
    visitor.click("#tables-back")
    visitor.draws("tables-fp", 4)
    visitor.click("#present-end")
    visitor.until(lambda: visitor.one(".bar").is_displayed(), "the page as it was")
    visitor.press("#main", "p")
    visitor.until(lambda: not visitor.one(".bar").is_displayed(), "a presentation by its key")
    visitor.keys(Keys.ESCAPE)
    visitor.until(lambda: visitor.one(".bar").is_displayed(), "the page again")

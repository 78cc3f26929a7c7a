"""Everybody can use the pages: the contrast of all that is seen, and every control by keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from .driving import Visitor

pytestmark = pytest.mark.needs("chromium")
PAGES = (
    *("", "plane", "match", "diff", "forwards", "merging", "context", "statistics", "network"),
    "expressions",
    "runs",
)
QUERY = "?from=generate&filters=40&operations=10&step=45&node=3"

#: Every text that is seen, on what it stands: its contrast, and its size in pixels. What is
#: disabled may be pale.
_CONTRAST = r"""
const out = {};
const rgb = (text) => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
const over = (a, b) => [0, 1, 2].map((i) => a[i] * (a[3] ?? 1) + b[i] * (1 - (a[3] ?? 1)));
const light = (c) => [.2126, .7152, .0722].reduce((sum, share, i) => {
  const v = c[i] / 255;
  return sum + share * (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
}, 0);
function ground(element) {
  const found = [];
  for (let each = element; each; each = each.parentElement) {
    const c = rgb(getComputedStyle(each).backgroundColor);
    found.unshift(c);
    if ((c[3] ?? 1) === 1) break;
  }
  return found.reduce((below, c) => over(c, below), [255, 255, 255]);
}
function check(element, style, what) {
  const below = ground(element), one = light(over(rgb(style.color), below)), other = light(below);
  const ratio = (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
  out[`${what} ${element.tagName}.${element.className} ${style.color} on ${below}`] =
    [ratio, parseFloat(style.fontSize)];
}
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const element = walk.currentNode.parentElement;
  const seen = walk.currentNode.textContent.trim() && element.checkVisibility();
  if (seen && !element.closest("script, style, :disabled"))
    check(element, getComputedStyle(element), "text");
}
document.querySelectorAll("input[placeholder], textarea").forEach((element) => {
  if (!element.checkVisibility() || element.disabled) return;
  check(element, getComputedStyle(element), "value");
  check(element, getComputedStyle(element, "::placeholder"), "placeholder");
});
return out;
"""

#: What has the focus, and whether that can be seen on it or on what it stands in.
_FOCUS = """
const at = document.activeElement;
let ring = false;
for (let each = at, i = 0; each && i < 3; each = each.parentElement, i += 1) {
  const style = getComputedStyle(each);
  ring = ring || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2);
}
return {ring, id: at.id, tag: at.tagName, role: at.getAttribute("role"),
        name: at.getAttribute("aria-label") || at.innerText || at.placeholder || at.className};
"""


def opened(visitor: Visitor, address: str, path: str, query: str = QUERY) -> None:
    visitor.open(f"{address}/{path}{query}")
    if path == "statistics":
        visitor.one("#statistics-filters .main-svg")
        return
    special = {
        "": "tables-fp",
        "plane": "plane-graph",
        "diff": "diff-both",
        "merging": "merging-after",
        "context": "context-queries",
        "expressions": "expressions-tree",
        "network": "network-map",
        "runs": "runs-witness",
    }
    visitor.drawn(special.get(path, f"{path}-fp"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_all_text_can_be_read(visitor: Visitor, address: str, path: str, theme: str) -> None:
    opened(visitor, address, path)
    run = visitor.driver.execute_script
    run("localStorage.setItem('posetlib-theme', arguments[0])", theme)
    try:
        opened(visitor, address, path)
        run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        said = "what is wrong"

        def shown() -> bool:
            # An answer that is still on its way takes the message down again.
            run("window.dash_clientside.set_props('message', {children: arguments[0]})", said)
            return said in visitor.text("#message")

        visitor.until(shown, f"the message {said!r}")
        found: dict[str, Any] = run(_CONTRAST)
    finally:
        run("localStorage.clear()")
    assert len(found) > 20
    assert {each: ratio for each, (ratio, _) in found.items() if ratio < 4.5} == {}
    assert {each: size for each, (_, size) in found.items() if size < 14} == {}


def tabbed(visitor: Visitor) -> list[dict[str, Any]]:
    """Go through a page by the tabulator, and return what had the focus on the way."""
    visitor.driver.execute_script(
        "document.querySelectorAll('details').forEach((each) => { each.open = true; });"
        "document.activeElement.blur(); window.scrollTo(0, 0);"
    )
    stops: list[dict[str, Any]] = []
    for _ in range(220):
        visitor.keys(Keys.TAB)
        stop = visitor.driver.execute_script(_FOCUS)
        if stop["tag"] == "BODY":
            break
        stops.append(stop)
    return stops


COMMON = ["theme"]
#: The panel with the source of the filters, which pages with a text of their own have no use for.
SOURCES = ["toggle-sources", "generate-filters", "generate", "typed", "use-typed"]
WANTED = {
    "": [
        "tables-search",
        "tables-play",
        "graph-tables-fp",
        "tables-hand_filter",
        "tables-hand_add",
    ],
    "plane": ["plane-axis_x", "plane-notification", "plane-search", "graph-plane-graph"],
    "statistics": ["statistics-play", "statistics-grow"],
    "match": ["match-notification", "match-match", "match-random", "match-search", "match-forward"],
    "diff": ["diff-a_step", "diff-b_step", "diff-search", "diff-export", "graph-diff-both"],
    "forwards": ["forwards-play", "forwards-source", "forwards-filter", "forwards-send"],
    "merging": ["merging-loss", "merging-play", "graph-merging-before", "graph-merging-after"],
    "context": [
        *("context-script", "context-use_script", "context-play", "context-hand_filter"),
        *("graph-context-queries", "graph-context-profiles"),
    ],
    "expressions": [
        *("expressions-script", "expressions-use_script", "expressions-notification"),
        *("expressions-random", "graph-expressions-tree"),
    ],
    "network": [
        *("network-seed", "network-script", "network-use_script", "network-play"),
        "graph-network-map",
    ],
    "runs": ["graph-runs-witness"],
}


@pytest.mark.parametrize("path", PAGES)
def test_every_control_is_reached_and_shows_it(visitor: Visitor, address: str, path: str) -> None:
    opened(visitor, address, path)
    stops = tabbed(visitor)
    reached = [each["id"] for each in stops]
    sources = SOURCES if path not in ("context", "expressions", "network") else []
    assert [each for each in COMMON + sources + WANTED[path] if each not in reached] == []
    names = [each["name"] for each in stops]
    for wanted in ("Tables", "Runs", *(["Choose a file"] if sources else []), "Match"):
        assert any(wanted in each for each in names), wanted
    if path in ("", "match", "forwards", "merging", "context", "network"):
        assert "slider" in [each["role"] for each in stops]
    assert [each for each in stops if not each["ring"]] == []


class TestByKeyAlone:
    def test_from_page_to_page(self, visitor: Visitor, address: str) -> None:
        opened(visitor, address, "")
        visitor.press(".nav a[href$='/match']", Keys.ENTER)
        visitor.sees("h1", "Match")
        visitor.press("#toggle-sources", Keys.ENTER)
        assert not visitor.one("#sources").is_displayed()
        visitor.press("#toggle-sources", Keys.SPACE)
        assert visitor.one("#sources").is_displayed()

    def test_structures_steps_and_folds(self, visitor: Visitor, address: str) -> None:
        opened(visitor, address, "", "?from=example&example=forwards&step=5")
        visitor.press("#tables-show input[value=pf], #tables-show label:nth-of-type(2) input", " ")
        visitor.draws("tables-pf", 5)
        visitor.press("#tables-rows button", Keys.ENTER)
        visitor.sees("#tables-detail", "#1 x in [0, 50]")
        visitor.press("#graph-tables-fp", Keys.ENTER)
        visitor.draws("tables-fp", 3)
        visitor.press("#graph-tables-fp", Keys.ENTER)
        visitor.draws("tables-fp", 5)
        visitor.press("#tables-step [role=slider]", Keys.HOME)
        visitor.sees("#tables-step_text", "Step 0 of 6")
        visitor.press("#tables-forward", Keys.ENTER)
        visitor.sees("#tables-step_text", "Step 1 of 6")

    def test_sources(self, visitor: Visitor, address: str) -> None:
        opened(visitor, address, "")
        visitor.press(".sources > details:nth-of-type(2) > summary", Keys.ENTER)
        visitor.press("#typed")
        visitor.driver.switch_to.active_element.send_keys(Keys.CONTROL, "a")
        visitor.keys("I1: x > 1\nI2: x > 2")
        visitor.press("#use-typed", Keys.ENTER)
        visitor.draws("tables-fp", 2, 1)
        # The dialog for files is the system's; that it is asked for is what a page can do.
        visitor.press(".sources > details:nth-of-type(3) > summary", Keys.ENTER)
        visitor.driver.execute_script(
            "HTMLInputElement.prototype.click = function () { window.asked = this.type; }"
        )
        visitor.press("#upload button", Keys.ENTER)
        visitor.until(
            lambda: visitor.driver.execute_script("return window.asked") == "file",
            "the dialog for a file",
        )

    def test_a_choice_from_a_list_and_a_radio_button(self, visitor: Visitor, address: str) -> None:
        opened(visitor, address, "diff", "?from=example&example=forwards")
        visitor.press("#diff-a_structure", Keys.ENTER)
        visitor.one(".dash-dropdown-options input[value=fp]:focus")
        # A key that comes while the list is drawn again is lost: the next one waits for the focus.
        visitor.until(lambda: self._moves_to(visitor, "pf"), "the focus on PF")
        visitor.keys(Keys.ENTER)
        visitor.until(lambda: "a_structure=pf" in visitor.driver.current_url, "PF chosen")
        visitor.press("#diff-mode input:checked", Keys.ARROW_RIGHT)
        visitor.drawn("diff-a")

    @staticmethod
    def _moves_to(visitor: Visitor, value: str) -> bool:
        focus = visitor.driver.execute_script("return document.activeElement.value")
        if focus == value:
            return True
        visitor.keys(Keys.ARROW_DOWN if focus == "fp" else Keys.ARROW_UP)
        return False

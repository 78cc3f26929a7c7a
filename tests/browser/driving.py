"""A server on a free port, and a person in front of a real browser."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from werkzeug.serving import make_server

from browser.app import create_app
from scripts.set_up import find_chromium

Found = TypeVar("Found")
#: How long to wait for what must come; a busy machine is slow, and a wait that succeeds ends early.
PATIENCE = 40
OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars "
    "--force-prefers-reduced-motion"
).split()
#: Where a filter of a graph is on the screen, in elements or on a canvas; none if it is not drawn.
_PLACE = """
const host = document.getElementById("graph-" + arguments[0]);
host.scrollIntoView({ block: "center" });
const view = posetlib.graphs.instance(arguments[0]), number = arguments[1];
if (view.wide) return view.pointOf(Number(number));
const node = view.$id(String(number));
if (!node.nonempty()) return null;
const at = node.renderedPosition(), box = host.getBoundingClientRect();
return [box.left + at.x, box.top + at.y];
"""
DRIVERS = ("chromedriver", "chromium.chromedriver")


def find_driver() -> str | None:
    """The program that drives Chromium; nothing is downloaded."""
    return next((path for path in map(shutil.which, DRIVERS) if path), None)


@contextlib.contextmanager
def serving(*arguments: Any, **options: Any) -> Iterator[str]:
    """Serve an app of its own in a thread, and yield its address."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = make_server("127.0.0.1", 0, create_app(*arguments, **options).server, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def visiting(width: int = 1600, height: int = 1000) -> Iterator[Visitor]:
    """Start a Chromium with a profile of its own; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="posetlib-chromium-") as folder:
        options = webdriver.ChromeOptions()
        options.binary_location = find_chromium() or ""
        for each in OPTIONS:
            options.add_argument(each)
        options.add_argument(f"--window-size={width},{height}")
        options.add_argument(f"--user-data-dir={folder}/profile")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        downloads = Path(folder, "downloads")
        downloads.mkdir()
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
        driver = webdriver.Chrome(options=options, service=Service(find_driver()))
        try:
            driver.set_script_timeout(PATIENCE)
            yield Visitor(driver, downloads)
        finally:
            driver.quit()


class Visitor:
    """What a person does on a page, and sees there."""

    def __init__(self, driver: Any, downloads: Path) -> None:
        self.driver = driver
        self.downloads = downloads

    # -- waiting -----------------------------------------------------------------------------------

    def until(self, condition: Callable[[], Found], what: str) -> Found:
        """Wait for a condition to be true; the error says what was on the page instead."""
        end = time.monotonic() + PATIENCE
        last: object = None
        while time.monotonic() < end:
            try:
                found = condition()
                if found:
                    return found
                last = found
            except (StaleElementReferenceException, WebDriverException) as error:
                last = error.msg
            time.sleep(0.05)
        body = self.driver.find_element(By.TAG_NAME, "body").text
        raise AssertionError(
            f"waited in vain for {what} (last: {last!r}) at {self.driver.current_url}\n"
            f"console: {self.console()}\n{body}"
        )

    # -- acting ------------------------------------------------------------------------------------

    def open(self, address: str) -> None:
        """Go to an address, as a new visitor of the page."""
        self.driver.get("about:blank")
        self.console()
        self.driver.get(address)

    def leave(self) -> None:
        """Leave the page before its server goes, so that no request of it finds nobody."""
        self.driver.get("about:blank")

    def one(self, css: str) -> WebElement:
        """Return the one element that is meant, once it is there."""
        return self.until(
            lambda: next(iter(self.driver.find_elements(By.CSS_SELECTOR, css)), None), css
        )

    def _at_hand(self, element: WebElement) -> None:
        """Bring back the panel of sources, if it has folded away and the element is in it."""
        self.driver.execute_script(
            "if (arguments[0].closest('#sources') && document.querySelector('.sources-hidden'))"
            " document.getElementById('toggle-sources').click()",
            element,
        )

    def click(self, css: str) -> None:
        """Click an element, wherever on the page it is."""

        def clicked() -> bool:
            element = self.one(css)
            self._at_hand(element)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            element.click()
            return True

        self.until(clicked, f"a click on {css}")

    def choose(self, css: str, word: str) -> None:
        """Click the button or link with a word on it."""

        def clicked() -> bool:
            for each in self.driver.find_elements(By.CSS_SELECTOR, css):
                self._at_hand(each)
                if word in each.text:
                    self.driver.execute_script(
                        "arguments[0].scrollIntoView({block: 'center'})", each
                    )
                    each.click()
                    return True
            return False

        self.until(clicked, f"{css} with {word!r}")

    def write(self, css: str, text: str, *, submit: bool = False) -> None:
        """Replace what is in a field."""

        def written() -> bool:
            field = self.one(css)
            self._at_hand(field)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", field)
            field.click()
            field.send_keys(Keys.CONTROL, "a")
            field.send_keys(text)
            # Dash puts the cursor back after each key, in a moment of its own: on a busy machine
            # the next key can come before that, and letters change places.
            return field.get_property("type") == "number" or field.get_property("value") == text

        self.until(written, f"{text!r} in {css}")
        self.one(css).send_keys(Keys.ENTER if submit else Keys.TAB)

    def open_section(self, word: str) -> None:
        """Open one of the sections of the source panel, if it is closed."""

        def opened() -> bool:
            # The panel may fold away between two looks at it.
            for each in self.driver.find_elements(By.CSS_SELECTOR, ".sources > details"):
                self._at_hand(each)
                if each.find_element(By.TAG_NAME, "summary").text == word:
                    if not each.get_attribute("open"):
                        each.find_element(By.TAG_NAME, "summary").click()
                    return True
            return False

        self.until(opened, f"the section {word!r}")

    def type_filters(self, text: str) -> None:
        """Use a text of filters as the source."""
        self.open_section("Type")
        field = self.one("#typed")
        field.clear()
        # Not key by key: thousands of lines would take minutes.
        self.driver.execute_script(
            "const field = arguments[0]; "
            "Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')"
            ".set.call(field, arguments[1]); "
            "field.dispatchEvent(new Event('input', {bubbles: true}));",
            field,
            text,
        )
        self.click("#use-typed")

    def upload(self, css: str, *paths: Path) -> None:
        """Choose files for an upload."""
        field = self.one(f"{css} input[type=file]")
        self._at_hand(field)
        # The driver adds files to those that were chosen before; a person replaces them.
        self.driver.execute_script("arguments[0].value = ''", field)
        field.send_keys("\n".join(map(str, paths)))

    def tap(self, panel: str, number: int | str, *, double: bool = False) -> None:
        """Click a filter in a graph, with the real pointer at its place on the screen."""
        self.settled(panel)
        place = self.driver.execute_script(_PLACE, panel, number)
        assert place, f"#{number} is not drawn in {panel}"
        actions = webdriver.ActionChains(self.driver)
        actions.w3c_actions.pointer_action.move_to_location(*map(round, place))
        actions.w3c_actions.pointer_action.click()
        if double:
            actions.w3c_actions.pointer_action.click()
        actions.perform()

    def view(self, panel: str) -> list[int]:
        """Return zoom and place of a graph, in thousandths."""
        return list(
            self.driver.execute_script(
                "const cy = posetlib.graphs.instance(arguments[0]);"
                "const at = cy.wide ? [cy.zoom, cy.x0, cy.y0]"
                " : [cy.zoom(), cy.pan().x, cy.pan().y];"
                "return at.map((v) => Math.round(v * 1e3));",
                panel,
            )
        )

    def settled(self, panel: str) -> list[int]:
        """Wait until a graph is drawn and rests, since what is around it may still grow."""
        self.drawn(panel)
        seen: list[list[int]] = []

        def rests() -> bool:
            seen.append(self.view(panel))
            return len(seen) > 6 and all(each == seen[-1] for each in seen[-6:])

        self.until(rests, f"a graph at rest in {panel}")
        return seen[-1]

    def hover(self, panel: str, number: int) -> None:
        """Rest with the pointer on a filter."""
        self.settled(panel)
        place = self.driver.execute_script(_PLACE, panel, number)
        actions = webdriver.ActionChains(self.driver)
        x, y = map(round, place)
        actions.w3c_actions.pointer_action.move_to_location(x + 3, y + 3)
        actions.w3c_actions.pointer_action.pause(0.1)
        actions.w3c_actions.pointer_action.move_to_location(x, y)
        actions.perform()

    def press(self, css: str, *keys: str) -> None:
        """Press keys on an element that has the focus."""
        element = self.one(css)
        self._at_hand(element)
        self.driver.execute_script("arguments[0].focus()", element)
        self.keys(*keys)

    def keys(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        for each in keys:
            webdriver.ActionChains(self.driver).send_keys(each).perform()

    # -- seeing ------------------------------------------------------------------------------------

    def text(self, css: str) -> str:
        """Return the text that is seen in an element."""
        element = self.one(css)
        self._at_hand(element)
        return element.text

    def sees(self, css: str, words: str) -> str:
        """Wait until an element shows some words, and return all of its text."""

        def shown() -> str:
            text = self.text(css)
            return text if words in text else ""

        return self.until(shown, f"{words!r} in {css}") if words else self.text(css)

    def told(self, words: str) -> str:
        """Wait for a message."""
        return self.sees("#message", words)

    def drawn(self, panel: str) -> tuple[int, int]:
        """Wait for a graph, and return how many filters and edges are drawn."""
        text = self.until(
            lambda: self.one(f"#graph-{panel}").get_attribute("data-drawn"), f"graph {panel}"
        )
        nodes, _, edges = str(text).partition("/")
        return int(nodes), int(edges)

    def draws(self, panel: str, nodes: int, edges: int | None = None) -> None:
        """Wait until a graph shows so many filters and edges."""

        def complete() -> bool:
            seen = self.drawn(panel)
            return seen[0] == nodes and edges in (None, seen[1])

        self.until(complete, f"{nodes} filters and {edges} edges in {panel}")

    def classes(self, panel: str, number: int | str) -> set[str]:
        """Return the marks of a filter in a graph."""
        found = self.driver.execute_script(
            "const cy = document.getElementById('cy-' + arguments[0])._cyreg.cy;"
            "return cy.$id(String(arguments[1])).classes();",
            panel,
            number,
        )
        return set(found)

    def label(self, panel: str, number: int) -> str:
        """Return what is written on a filter in a graph."""
        return str(
            self.driver.execute_script(
                "return document.getElementById('cy-' + arguments[0])._cyreg.cy"
                ".$id(String(arguments[1])).data('label')",
                panel,
                number,
            )
        )

    def downloaded(self, ending: str = ".json") -> Any:
        """Wait for a file, and return what is in it: of JSON the value, of any other the bytes."""

        def found() -> Path | None:
            # Chromium keeps the name with an empty file, until the download takes its place.
            there = (each for each in self.downloads.iterdir() if each.suffix == ending)
            return next((each for each in there if each.stat().st_size), None)

        path = self.until(found, f"a download of {ending}")
        content = path.read_bytes()
        path.unlink()
        return json.loads(content) if ending == ".json" else content

    def console(self) -> list[str]:
        """Return the errors and warnings in the browser's console since the last time."""
        return [
            each["message"]
            for each in self.driver.get_log("browser")
            if each["level"] in ("SEVERE", "WARNING")
        ]


def chromium_reason() -> str | None:
    """Why there can be no end-to-end test here, None if there can."""
    if find_chromium() is None:
        return "needs chromium, which is not installed (`make setup` says how)"
    if find_driver() is None:
        return f"needs {' or '.join(DRIVERS)} beside chromium"
    return None


REQUIRED = bool(os.environ.get("POSETLIB_REQUIRE_ALL"))

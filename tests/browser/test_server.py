"""The server itself: whom it answers, what it tells of itself, how many bytes it sends."""

from __future__ import annotations

import gzip
import json
import re
import threading
import urllib.request
from typing import Any

import pytest
from werkzeug.serving import make_server

from browser.app import create_app
from browser.pages.registry import PAGES
from browser.security import QuietHandler, host_is_allowed

from .weighing import PACKED, Asking, draw, first_load

#: Bytes of the first load and of one step, as they are sent.
FIRST_LOAD = 700_000
STEP = 120_000


@pytest.fixture(scope="module")
def client() -> Any:
    return Asking(create_app(hosts=["table.example"]).server.test_client())


class TestHosts:
    @pytest.mark.parametrize(
        ("host", "status"),
        [
            ("localhost", 200),
            ("127.0.0.1:8050", 200),
            ("[::1]:8050", 200),
            ("192.0.2.7", 200),
            ("Table.Example:80", 200),
            ("evil.example", 421),
            ("127.0.0.1.evil.example", 421),
            ("localhost.evil.example", 421),
        ],
    )
    def test_only_its_own_names_are_answered(self, client: Any, host: str, status: int) -> None:
        for path in ("/", "/_dash-layout", "/assets/style.css"):
            assert client.get(path, headers={"Host": host}).status_code == status

    @pytest.mark.parametrize("host", ["", "a b", "a@127.0.0.1", "127.0.0.1/x", "[::1", "[evil]"])
    def test_what_is_no_host_is_refused(self, host: str) -> None:
        assert not host_is_allowed(host)


class TestSilence:
    def test_no_version_is_told(self, client: Any) -> None:
        from importlib.metadata import version

        page = client.get("/")
        config = json.loads(re.search(r'_dash-config"[^>]*>(.*?)</script>', page.text)[1])
        assert not [name for name in config if name.endswith(("_version", "_version_url"))]
        told = page.text + str(page.headers)
        names = [version(each) for each in ("dash", "plotly", "werkzeug", "dash-cytoscape")]
        names += [each.replace(".", "_") for each in names]
        assert not [each for each in names if each in told]

    def test_the_header_names_no_program(self) -> None:
        server = make_server(
            "127.0.0.1", 0, create_app().server, threaded=True, request_handler=QuietHandler
        )
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/") as answer:
                assert answer.headers["Server"] == "posetlib"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    @pytest.mark.parametrize(
        "path",
        ["nonexistent/x.js", "dash/../x", "dash/nothing.js", "dash", "", "dash/dcc", "/x/y/z.js"],
    )
    def test_a_bad_component_path_is_not_found(self, client: Any, path: str) -> None:
        answer = client.get(f"/_dash-component-suites/{path}")
        assert answer.status_code == 404
        assert "registered" not in answer.text

    def test_every_page_has_a_language_and_a_title(self, client: Any) -> None:
        titles = set()
        for page in PAGES:
            text = client.get(page.path).text
            assert '<html lang="en">' in text
            titles.add(re.search("<title>(.*?)</title>", text)[1])
        assert titles == {f"{page.title} · posetlib browser" for page in PAGES}
        elsewhere = create_app(url_base_pathname="/sub/").server.test_client()
        assert "<title>Match ·" in elsewhere.get("/sub/match").text


class TestWeight:
    def test_the_first_load(self, client: Any) -> None:
        assert first_load(client) <= FIRST_LOAD

    @pytest.mark.parametrize(
        ("structure", "kind"),
        [("pf", {"kind": "uniform"}), ("fp", {"kind": "narrow", "width": "16"})],
    )
    def test_a_step_at_two_thousand_filters(
        self, client: Any, structure: str, kind: dict[str, str]
    ) -> None:
        recipe = {"from": "generate", "filters": "2000", "interfaces": "2000", "decimals": "3"}
        answer = draw(client, {**recipe, **kind}, 2_000, structure)
        plain = gzip.decompress(answer.data)
        (made,) = json.loads(plain)["response"]["tables-drawings"]["data"].values()
        assert made["nodes"] == 2_000
        assert len(answer.data) <= STEP

    def test_who_cannot_unpack_gets_it_as_it_is(self, client: Any) -> None:
        path = "/assets/graph.js"
        plain, packed = client.get(path), client.get(path, headers=PACKED)
        assert "Content-Encoding" not in plain.headers
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.data) == plain.data
        assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
        refused = client.get(path, headers={"Accept-Encoding": "gzip;q=0"})
        assert refused.data == plain.data

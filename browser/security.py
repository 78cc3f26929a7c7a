"""What the server refuses, and what it forbids the page to do."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from typing import Any, Final

from dash import Dash
from dash.exceptions import DependencyException
from flask import Response, abort, request
from werkzeug.serving import WSGIRequestHandler

from browser.config import Limits

__all__ = ["QuietHandler", "host_is_allowed", "protect", "without_versions"]

_COMPONENTS: Final = "_dash-component-suites"


class QuietHandler(WSGIRequestHandler):
    """Werkzeug's handler, without a word about what it is made of."""

    def version_string(self) -> str:
        """Return what the header Server says."""
        return "posetlib"


def host_is_allowed(host: str, names: Collection[str] = ()) -> bool:
    """Return whether a Host header names this machine by itself, or by one of some names.

    Whoever makes a name of theirs lead here (DNS rebinding) cannot make it one of these: a number,
    or localhost.

    >>> [
    ...     host_is_allowed(each)
    ...     for each in ("127.0.0.1:8050", "[::1]", "localhost:1", "evil.example")
    ... ]
    [True, True, True, False]
    """
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]/@\s]+)(?::\d{1,5})?", host)
    if found is None:
        return False
    name = found[1].lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    if name in {each.lower() for each in names}:
        return True
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def without_versions(name: str, text: str) -> str:
    """Return a part of Dash's page without the versions of what it is made with.

    >>> without_versions("config", '{"dash_version":"4.4.1","ui":false}')
    '{"ui":false}'
    >>> without_versions("scripts", 'src="/dash/dcc.v4_4_1m17949.js"')
    'src="/dash/dcc.v0m17949.js"'
    """
    if name == "config":
        text = re.sub(r'"[a-z]+_version(?:_url)?":(?:"(?:[^"\\]|\\.)*"|null),', "", text)
        return re.sub(r',"[a-z]+_version(?:_url)?":(?:"(?:[^"\\]|\\.)*"|null)', "", text)
    if name == "favicon":
        return re.sub(r"\?v=[\d.]+", "", text)
    return re.sub(r"\.v[\w-]+?m([0-9a-f]+)\.", r".v0m\1.", text)


def protect(app: Dash, limits: Limits, hosts: Collection[str] = ()) -> None:
    """Bound the size of requests, and let the page load and run nothing but what is the app's.

    ``hosts`` are the names, besides addresses and localhost, that the server goes by.
    """
    server: Any = app.server
    # Base 64 makes four bytes of three; what else a request holds is small beside a file.
    server.config["MAX_CONTENT_LENGTH"] = limits.upload_bytes * 4 // 3 + (4 << 20)
    policy: list[str] = []

    def check_request() -> Response | None:
        if not host_is_allowed(request.host, hosts):
            text = "This name is not one of the server's: --allow-host NAME adds it.\n"
            return Response(text, 421, mimetype="text/plain")
        # What is no file of a component would be taken for the name of a page.
        if f"/{_COMPONENTS}" in request.path and _COMPONENTS not in (request.endpoint or ""):
            abort(404)
        return None

    def no_such_component(error: DependencyException) -> tuple[str, int]:  # noqa: ARG001
        return "There is no such component.\n", 404

    def add_headers(response: Response) -> Response:
        if not policy:
            # Once all callbacks are there: Dash starts itself by scripts in the page.
            hashes = " ".join(f"'{each.strip(chr(39))}'" for each in app.csp_hashes())
            policy.append(
                f"default-src 'self'; script-src 'self' {hashes}; style-src 'self' "
                "'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; object-src "
                "'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
            )
        response.headers.setdefault("Content-Security-Policy", policy[0])
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "same-origin")
        return response

    server.before_request(check_request)
    server.register_error_handler(DependencyException, no_such_component)
    server.after_request(add_headers)

"""What the server refuses, and what it forbids the page to do."""

from __future__ import annotations

from typing import Any

from dash import Dash
from flask import Response

from browser.config import Limits

__all__ = ["protect"]


def protect(app: Dash, limits: Limits) -> None:
    """Bound the size of requests, and let the page load and run nothing but what is the app's."""
    server: Any = app.server
    # Base 64 makes four bytes of three; what else a request holds is small beside a file.
    server.config["MAX_CONTENT_LENGTH"] = limits.upload_bytes * 4 // 3 + (4 << 20)
    policy: list[str] = []

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

    server.after_request(add_headers)

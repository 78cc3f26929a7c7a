"""The app itself: pages in a frame, around one library of immutable content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dash import Dash
from flask import has_request_context, request

from browser.compression import compress_answers
from browser.config import Config, Limits
from browser.errors import show_error
from browser.exports import register_exports
from browser.pages import shell
from browser.pages.registry import PAGES
from browser.running_broker import read_address
from browser.security import protect, without_versions
from browser.state import Library

__all__ = ["create_app"]

_PAGE = """<!DOCTYPE html>
<html lang="en">
    <head>
        {%metas%}
        <title>{%title%}</title>
        {%favicon%}
        {%css%}
    </head>
    <body>
        {%app_entry%}
        <footer>
            {%config%}
            {%scripts%}
            {%renderer%}
        </footer>
    </body>
</html>
"""


class _App(Dash):
    """Dash, with a title for each page, and without its versions in the page."""

    def interpolate_index(self, **parts: Any) -> str:  # type: ignore[override]  # called by name
        """Return the page that Dash starts in."""
        if has_request_context():
            path = "/" + (self.strip_relative_path(request.path) or "")
            titles = {page.path: page.title for page in PAGES}
            parts["title"] = shell.window_title(titles.get(path))
        for name in ("config", "scripts", "favicon", "css"):
            parts[name] = without_versions(name, parts[name])
        return str(super().interpolate_index(**parts))  # type: ignore[no-untyped-call]


def create_app(
    workload: str | Path | None = None,
    runs: str | Path | None = None,
    *,
    broker: str | None = None,
    remote_broker: bool = False,
    limits: Limits | None = None,
    hosts: Sequence[str] = (),
    **options: Any,
) -> Dash:
    """Return the web app; ``.server`` is its WSGI application.

    ``workload`` is a directory that the jobs have generated, ``runs`` one with their reports and
    tables (by default, the workload's own and the one above it). ``broker`` is the HOST:PORT at
    which a running broker shows its table; on another machine only with ``remote_broker``.
    ``hosts`` are names that the server goes by, besides localhost and addresses; requests for any
    other are refused. Further options are those of ``dash.Dash``, such as ``url_base_pathname`` or
    ``server`` for embedding.
    """
    config = Config(
        Path(workload) if workload is not None else None,
        Path(runs) if runs is not None else None,
        limits or Limits(),
        read_address(broker, remote=remote_broker) if broker is not None else None,
    )
    library = Library(config)
    settings: dict[str, Any] = {
        "title": shell.window_title(None),
        "index_string": _PAGE,
        "update_title": None,
        "serve_locally": True,
        "suppress_callback_exceptions": True,
        "assets_folder": str(Path(__file__).parent / "assets"),
        "on_error": show_error,
    }
    app = _App("browser", **(settings | options))
    app.layout = shell.layout(app, library)
    shell.register(app, library)
    for page in PAGES:
        page.register(app, library)
    register_exports(app, library)
    protect(app, config.limits, hosts)
    compress_answers(app.server)
    return app

"""The app itself: pages in a frame, around one library of immutable content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dash import Dash

from browser.config import Config, Limits
from browser.errors import show_error
from browser.pages import shell
from browser.pages.registry import PAGES
from browser.running_broker import read_address
from browser.security import protect
from browser.state import Library

__all__ = ["create_app"]


def create_app(
    workload: str | Path | None = None,
    runs: str | Path | None = None,
    *,
    broker: str | None = None,
    remote_broker: bool = False,
    limits: Limits | None = None,
    **options: Any,
) -> Dash:
    """Return the web app; ``.server`` is its WSGI application.

    ``workload`` is a directory that the jobs have generated, ``runs`` one with their reports and
    tables (by default, the workload's own and the one above it). ``broker`` is the HOST:PORT at
    which a running broker shows its table; on another machine only with ``remote_broker``. Further
    options are those of ``dash.Dash``, such as ``url_base_pathname`` or ``server`` for embedding.
    """
    config = Config(
        Path(workload) if workload is not None else None,
        Path(runs) if runs is not None else None,
        limits or Limits(),
        read_address(broker, remote=remote_broker) if broker is not None else None,
    )
    library = Library(config)
    settings: dict[str, Any] = {
        "title": "posetlib browser",
        "update_title": None,
        "serve_locally": True,
        "suppress_callback_exceptions": True,
        "assets_folder": str(Path(__file__).parent / "assets"),
        "on_error": show_error,
    }
    app = Dash("browser", **(settings | options))
    app.layout = shell.layout(app, library)
    shell.register(app, library)
    for page in PAGES:
        page.register(app, library)
    protect(app, config.limits)
    return app

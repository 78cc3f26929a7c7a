"""What a person is told when a callback fails."""

from __future__ import annotations

import logging

from dash import set_props

from browser import ids
from browser.sources import SourceError

__all__ = ["show_error"]

_log = logging.getLogger("browser")


def show_error(error: Exception) -> None:
    """Say what is wrong with the input; of a fault of ours, that there is one, and log it."""
    if isinstance(error, SourceError):
        text = str(error)
    else:
        _log.error("a callback failed", exc_info=error)
        text = f"Something went wrong here ({type(error).__name__}); the server's log says more."
    set_props(ids.MESSAGE, {"children": text})

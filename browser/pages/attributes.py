"""Attributes whose names are no Python names, and callbacks that run in the page."""

from __future__ import annotations

from typing import Any

from dash import Dash
from dash.dependencies import ClientsideFunction

__all__ = ["aria", "clientside", "data"]


def aria(**values: str) -> dict[str, Any]:
    """Return attributes for those who do not see the page.

    >>> aria(label="Zoom in")
    {'aria-label': 'Zoom in'}
    """
    return {f"aria-{name}": value for name, value in values.items()}


def data(**values: str) -> dict[str, Any]:
    """Return attributes that the script reads; an underscore becomes a hyphen.

    >>> data(max_bytes="3")
    {'data-max-bytes': '3'}
    """
    return {f"data-{name.replace('_', '-')}": value for name, value in values.items()}


def clientside(app: Dash, function: str, *arguments: Any, initial: Any = True) -> None:
    """Let a function of the script be the callback of outputs, inputs and states."""
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("posets", function), *arguments, prevent_initial_call=initial
    )

"""The web app that draws routing tables and steps through what happens to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from browser.app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    # Dash takes a second to import, and who only asks for the package has no need of it.
    if name == "create_app":
        from browser.app import create_app  # noqa: PLC0415

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

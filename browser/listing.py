"""Long lists as data: the page's script makes rows of it, at a fraction of what components cost.

A cell is a text, or an object with the ``text`` and what it is: a ``pick`` (the number of a filter
to choose, with ``look`` to go there), a ``chip`` (its mark), or ``code``; or a list of such.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["Cell", "Window", "chip", "code", "listing", "muted", "pick", "pick_named"]

Cell = str | dict[str, Any] | list[Any]


class Window(NamedTuple):
    """Which rows of a long list are sent, and how others are asked for."""

    #: The store that the script writes the number of the first row into that it wants.
    ask: str
    first: int
    total: int
    #: How many rows a window has.
    size: int
    #: Whether the list is another one than before, and is seen from its top.
    top: bool = False


def pick(page: str, number: int, *, look: bool = False) -> dict[str, Any]:
    """Return a button that chooses a filter.

    >>> pick("tables", 3)
    {'text': '#3', 'pick': 'tables 3'}
    """
    made: dict[str, Any] = {"text": f"#{number}", "pick": f"{page} {number}"}
    return {**made, "look": True} if look else made


def pick_named(page: str, number: int, what: str, name: str) -> dict[str, Any]:
    """Return a button that chooses something that has a name, such as a broker.

    >>> pick_named("network", 3, "broker", "B3")
    {'text': 'B3', 'pick': 'network 3', 'what': 'broker'}
    """
    return {"text": name, "pick": f"{page} {number}", "what": what}


def chip(mark: str, text: str) -> dict[str, Any]:
    """Return a text with the look of a mark."""
    return {"text": text, "chip": mark}


def code(text: str) -> dict[str, Any]:
    """Return the text of a filter."""
    return {"text": text, "code": True}


def muted(text: str) -> dict[str, Any]:
    """Return a text in the second place, on a line of its own."""
    return {"text": text, "below": True}


def listing(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    caption: str = "",
    classes: Sequence[str] = (),
    note: str = "",
    window: Window | None = None,
) -> dict[str, Any]:
    """Return a list: its columns, its rows, and the class of each row where there is one.

    With a ``window`` the rows are a part of a longer list, and the script asks for others.
    """
    made: dict[str, Any] = {
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "classes": list(classes),
        "caption": caption,
        "note": note,
    }
    return made if window is None else {**made, **window._asdict()}

"""Long lists as data: the page's script makes rows of it, at a fraction of what components cost.

A cell is a text, or an object with the ``text`` and what it is: a ``pick`` (the number of a filter
to choose, with ``look`` to go there), a ``chip`` (its mark), or ``code``; or a list of such.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Cell", "chip", "code", "listing", "muted", "pick", "pick_named"]

Cell = str | dict[str, Any] | list[Any]


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
) -> dict[str, Any]:
    """Return a list: its columns, its rows, and the class of each row where there is one."""
    return {
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "classes": list(classes),
        "caption": caption,
        "note": note,
    }

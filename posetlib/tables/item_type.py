"""The type of the items of a table, for type checkers: filters, unless another one is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Defaults of type variables are newer than Python 3.11; type checkers know them from here.
    from typing_extensions import TypeVar

    from posetlib.filters.filter import Filter

    ItemT = TypeVar("ItemT", default=Filter)
else:
    from typing import TypeVar

    ItemT = TypeVar("ItemT")

__all__ = ["ItemT"]

"""One operation on a table, by name: what traces record and observers are told."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, NamedTuple

__all__ = ["OPERATIONS", "Operation"]

#: The names of all operations: methods of tables.
OPERATIONS: Final = ("add", "remove", "discard", "remove_covered", "drop_interface")


class Operation(NamedTuple):
    """The name of a method and its arguments; ``item`` is None for ``drop_interface``."""

    name: str
    item: Any
    interface: Hashable

    def __str__(self) -> str:
        if self.name == "drop_interface":
            return f"drop interface {self.interface}"
        return f"{self.name.replace('_', ' ')} {self.item} ({self.interface})"

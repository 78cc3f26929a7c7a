"""One operation on a table, by name: what traces record and observers are told."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, NamedTuple

__all__ = ["OPERATIONS", "Operation"]

#: The names of the operations on one item or interface: methods of tables.
OPERATIONS: Final = ("add", "remove", "discard", "remove_covered", "drop_interface")


class Operation(NamedTuple):
    """The name of a method and its arguments.

    ``item`` is None for ``drop_interface``. For ``update`` it is the list of pairs, and
    ``interface`` is None; a trace records one add for each of them.
    """

    name: str
    item: Any
    interface: Hashable

    def __str__(self) -> str:
        if self.name == "drop_interface":
            return f"drop interface {self.interface}"
        if self.name == "update":
            return f"update {len(self.item)} pairs"
        return f"{self.name.replace('_', ' ')} {self.item} ({self.interface})"

    def single(self) -> list[Operation]:
        """Return the operations on one item each that do the same one after the other."""
        if self.name != "update":
            return [self]
        return [Operation("add", item, interface) for item, interface in self.item]

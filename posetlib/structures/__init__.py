"""The routing tables: one interface, five structures."""

from __future__ import annotations

from typing import Any, Final

from posetlib.snapshot import register_structure
from posetlib.structures.balanced import BalancedForest, NonRedundantForest
from posetlib.structures.base import Table
from posetlib.structures.forest import PosetForest
from posetlib.structures.linear import LinearTable
from posetlib.structures.poset import FiltersPoset

__all__ = [
    "BalancedForest",
    "FiltersPoset",
    "LinearTable",
    "NonRedundantForest",
    "PosetForest",
    "Table",
    "make_table",
]

_STRUCTURES: Final[dict[str, type[Table]]] = {
    each.structure: each
    for each in (FiltersPoset, PosetForest, BalancedForest, NonRedundantForest, LinearTable)
}
for _name, _structure in _STRUCTURES.items():
    register_structure(
        _name, _structure._restored, may_be_local=_structure in (PosetForest, LinearTable)
    )


def make_table(structure: str, **options: Any) -> Table:
    """Return an empty table by the short name of its structure; the options are those of its class.

    >>> make_table("pf", local=True)
    <PosetForest, local: 0 filters, 0 roots, 0 interfaces>
    """
    try:
        made = _STRUCTURES[structure]
    except KeyError:
        known = ", ".join(_STRUCTURES)
        raise ValueError(f"unknown structure {structure!r}; known are {known}") from None
    return made(**options)

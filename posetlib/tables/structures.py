"""The structures by their short names, those of other packages included."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from posetlib.tables.table import Table

__all__ = ["make_table", "register_structure", "structure_named", "structure_names"]

#: Packages announce structures of their own under this group of entry points: name = module:class.
_GROUP: Final = "posetlib.structures"
_STRUCTURES: Final[dict[str, type[Table[Any]]]] = {}

TableT = TypeVar("TableT", bound="type[Table[Any]]")


def register_structure(table: TableT) -> TableT:
    """Let a class of tables be found by its short name; a decorator, which returns the class.

    A package whose structure should be known to the jobs and the browser also announces it as an
    entry point of the group ``posetlib.structures``. ValueError if the name is taken, or is not
    made of letters and digits: it stands in file names, addresses and drawings.
    """
    name = table.structure
    if not (name.isascii() and name.isalnum()):
        raise ValueError(f"the name of a structure is letters and digits, not {name!r}")
    known = _STRUCTURES.get(name, table)
    # A module that is loaded again may register its class again.
    if _place_of(known) != _place_of(table):
        raise ValueError(f"the structure {name!r} is {_place_of(known)} already")
    _STRUCTURES[name] = table
    return table


def _place_of(table: type[Table[Any]]) -> str:
    return f"{table.__module__}.{table.__qualname__}"


def structure_named(name: str) -> type[Table[Any]]:
    """Return the class of a structure; ValueError for a name that is not known.

    >>> structure_named("nrf").promises.title
    'Non-redundant forest'
    """
    found = _STRUCTURES.get(name)
    if found is None:
        for announced in entry_points(group=_GROUP, name=name):
            loaded: type[Table[Any]] = announced.load()
            if loaded.structure != name:
                raise ValueError(
                    f"the entry point {name!r} names the structure {loaded.structure!r}"
                )
            return register_structure(loaded)
        known = ", ".join(structure_names())
        raise ValueError(f"unknown structure {name!r}; known are {known}")
    return found


def structure_names() -> tuple[str, ...]:
    """Return the short names of all structures, those of the library first.

    >>> structure_names()[:5]
    ('fp', 'pf', 'bf', 'nrf', 'linear')
    """
    return tuple(dict.fromkeys([*_STRUCTURES, *_announced(tuple(sys.path))]))


@lru_cache(maxsize=8)
def _announced(_path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that packages announce; read once for each search path, since it is slow."""
    return tuple(each.name for each in entry_points(group=_GROUP))


def make_table(structure: str, **options: Any) -> Table[Any]:
    """Return an empty table by the short name of its structure; the options are those of its class.

    >>> make_table("pf", local=True)
    <PosetForest, local: 0 filters, 0 roots, 0 interfaces>
    """
    make: Any = structure_named(structure)
    made: Table[Any] = make(**options)
    return made

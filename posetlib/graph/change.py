"""What one operation did to a table: the value that every update returns."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from typing import Any, Final, Generic, Self, TypeAlias, TypeVar

__all__ = ["NO_CHANGE", "Change", "Item", "ItemT", "Pair"]

#: The type of what a table holds: filters, or any hashable things that its relation compares.
ItemT = TypeVar("ItemT")
#: An item where the code does not depend on its type.
Item: TypeAlias = Any
#: An item and an interface that holds it.
Pair: TypeAlias = tuple[Item, Hashable]


class _Late:
    """A change that is computed when it is first looked at: most updates are never asked for it."""

    __slots__ = ("_compute",)

    @classmethod
    def late(cls, compute: Callable[[], Self]) -> Self:
        """Return the change that a function will return; it is called once, or never."""
        made = object.__new__(cls)
        _set_compute(made, compute)
        return made

    def __getattr__(self, name: str) -> Any:
        # Python calls this for attributes that are not set: the parts of a change not computed yet.
        if name not in _PARTS:
            raise AttributeError(f"a change has no {name}")
        known = self._compute()
        for part in _PARTS:
            object.__setattr__(self, part, getattr(known, part))
        object.__delattr__(self, "_compute")
        return getattr(known, name)


# Sets the slot past the guard of a frozen dataclass; looked up once instead of in every update.
_set_compute: Final = _Late.__dict__["_compute"].__set__


@dataclass(frozen=True, slots=True)
class Change(_Late, Generic[ItemT]):
    """The exact difference between a table before and after an operation; false when empty.

    Each part is a tuple in the order in which the filters came into the table. A filter has
    *moved* when it was there before and is there after, with other parents.

    >>> change = Change(added=("f",), roots_added=("f",), pairs_added=(("f", "I1"),))
    >>> bool(change), bool(Change())
    (True, False)
    >>> change.inverse().removed
    ('f',)
    """

    added: tuple[ItemT, ...] = ()
    removed: tuple[ItemT, ...] = ()
    moved: tuple[ItemT, ...] = ()
    roots_added: tuple[ItemT, ...] = ()
    roots_removed: tuple[ItemT, ...] = ()
    pairs_added: tuple[tuple[ItemT, Hashable], ...] = ()
    pairs_removed: tuple[tuple[ItemT, Hashable], ...] = ()

    def __bool__(self) -> bool:
        # In a table every change changes a pair, but a Change may also be put together by hand.
        return any(getattr(self, part) for part in _PARTS)

    def inverse(self) -> Change[ItemT]:
        """Return the change that takes this one back."""
        return Change(
            added=self.removed,
            removed=self.added,
            moved=self.moved,
            roots_added=self.roots_removed,
            roots_removed=self.roots_added,
            pairs_added=self.pairs_removed,
            pairs_removed=self.pairs_added,
        )

    def __str__(self) -> str:
        parts = []
        for part in _PARTS:
            items = getattr(self, part)
            if items and part.startswith("pairs"):
                shown = ", ".join(f"({item}, {interface})" for item, interface in items)
                parts.append(f"{part.replace('_', ' ')}: {shown}")
            elif items:
                parts.append(f"{part.replace('_', ' ')}: {', '.join(map(str, items))}")
        return "; ".join(parts) or "no change"


_PARTS: Final = tuple(field.name for field in fields(Change))
NO_CHANGE: Final[Change[Any]] = Change()

"""What one operation did to a table: the value that every update returns."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from typing import Any, Final, Self

__all__ = ["NO_CHANGE", "Change", "Item", "Pair"]

#: What a table holds: a filter, or any hashable thing that the relation compares.
Item = Any
#: An item and an interface that holds it.
Pair = tuple[Item, Hashable]


class _Late:
    """What is worked out when it is first looked at: most updates are never asked what they did."""

    __slots__ = ("_work_out",)

    @classmethod
    def late(cls, work_out: Callable[[], Self]) -> Self:
        """Return the change that a function will return; it is called once, or never."""
        made = object.__new__(cls)
        _make_late(made, work_out)
        return made

    def __getattr__(self, name: str) -> Any:
        # Called for what is not there: the parts of a change that was not worked out yet.
        if name not in _PARTS:
            raise AttributeError(f"a change has no {name}")
        known = self._work_out()
        for part in _PARTS:
            object.__setattr__(self, part, getattr(known, part))
        object.__delattr__(self, "_work_out")
        return getattr(known, name)


# What sets the slot, past the guard of a frozen dataclass; found once, not in every update.
_make_late: Final = _Late.__dict__["_work_out"].__set__


@dataclass(frozen=True, slots=True)
class Change(_Late):
    """The exact difference between a table before and after an operation; false when empty.

    Each part is a tuple in the order in which the filters came into the table. A filter has
    *moved* when it was there before and is there after, with other parents.

    >>> change = Change(added=("f",), roots_added=("f",), pairs_added=(("f", "I1"),))
    >>> bool(change), bool(Change())
    (True, False)
    >>> change.inverse().removed
    ('f',)
    """

    added: tuple[Item, ...] = ()
    removed: tuple[Item, ...] = ()
    moved: tuple[Item, ...] = ()
    roots_added: tuple[Item, ...] = ()
    roots_removed: tuple[Item, ...] = ()
    pairs_added: tuple[Pair, ...] = ()
    pairs_removed: tuple[Pair, ...] = ()

    def __bool__(self) -> bool:
        # Whatever changes, a pair does; but a change may be put together by hand, too.
        return any(getattr(self, part) for part in _PARTS)

    def inverse(self) -> Change:
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
NO_CHANGE: Final = Change()

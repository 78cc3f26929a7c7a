"""What a collection service and its clients tell one another: plain values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = [
    "ADDED",
    "CHANGED",
    "REMOVED",
    "CollectionNote",
    "CollectionView",
    "Description",
    "SyncPlan",
]

ADDED: Final = "added"
CHANGED: Final = "changed"
REMOVED: Final = "removed"


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of an object, apart from the object itself: where it is, and more about it.

    >>> Description("photos/1.jpg", {"size": 480})
    Description(uri='photos/1.jpg', about={'size': 480})
    """

    #: Where the object is; tells the description from all others.
    uri: str
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.uri, str):
            raise TypeError(f"a URI is text, not {type(self.uri).__name__}")
        object.__setattr__(self, "about", dict(self.about))


@dataclass(frozen=True, slots=True)
class CollectionNote:
    """One change of a collection; the notes of a collection are numbered 1, 2, 3 and so on."""

    collection: Hashable
    number: int
    #: "added", "changed" or "removed".
    kind: str
    description: Description


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a synchroniser has to do for its copies to be those of a collection."""

    collection: Hashable
    create: tuple[Description, ...] = ()
    update: tuple[Description, ...] = ()
    remove: tuple[Description, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.create or self.update or self.remove)


class CollectionView:
    """A client's own picture of a collection, made from its notes alone.

    >>> view = CollectionView()
    >>> view.apply([CollectionNote("trip", 1, "added", Description("photos/1.jpg"))])
    >>> [description.uri for description in view]
    ['photos/1.jpg']
    """

    def __init__(self) -> None:
        #: The number of the last note that was applied.
        self.number = 0
        self._members: dict[str, Description] = {}

    def apply(self, notes: Iterable[CollectionNote]) -> None:
        """Apply notes in their order; ValueError for one that does not follow the last one.

        What came before a note that is refused stays applied.
        """
        for note in notes:
            if note.number != self.number + 1:
                raise ValueError(
                    f"note {note.number} does not follow note {self.number}: "
                    "apply each note once, in the order of the numbers"
                )
            uri = note.description.uri
            if (note.kind == ADDED) is (uri in self._members):
                raise ValueError(f"note {note.number}: {uri} cannot be {note.kind} now")
            if note.kind == REMOVED:
                del self._members[uri]
            else:
                self._members[uri] = note.description
            self.number = note.number

    def __iter__(self) -> Any:
        return iter(tuple(self._members.values()))

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, uri: object) -> bool:
        return uri in self._members

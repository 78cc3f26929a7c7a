"""Objects: which of their properties filters may ask for, and how each is read.

Only registered names are read: the text of a filter never chooses what code runs. Readers must be
pure, and the same at every broker, or covering means nothing. What cannot be read is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from posetlib.constraints import TypeHierarchy
from posetlib.errors import FilterError
from posetlib.names import check_name
from posetlib.values import MISSING

__all__ = ["ObjectView", "Readers"]

Reader = Callable[[Any], Any]


class Readers(Mapping[str, Reader]):
    """The names that filters may use for objects, each with the function that reads it.

    >>> readers = Readers({"quote.id": lambda q: q["id"], "quote.price": lambda q: q["price"]})
    >>> view = readers.view({"id": "IBM"})
    >>> view["quote.id"], view.get("quote.price")
    ('IBM', None)
    """

    def __init__(
        self,
        readers: Mapping[str, Reader],
        *,
        classes: Iterable[type] = (),
        type_name: str = "type",
    ) -> None:
        self._readers: Final = {check_name(name): read for name, read in readers.items()}
        for name, read in self._readers.items():
            if not callable(read):
                raise TypeError(f"the reader of {name} is a function, not {type(read).__name__}")
        self._classes: Final = _by_name(classes)
        #: The attribute that has the name of an object's class.
        self.type_name: Final = type_name
        if self._classes and type_name in self._readers:
            raise ValueError(f"{type_name} is the name of the class; give another type_name=")

    def __getitem__(self, name: str) -> Reader:
        return self._readers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def view(self, value: Any) -> ObjectView:
        """Return an object as a notification; each property is read when it is first asked for."""
        return ObjectView(self, value)

    def hierarchy(self) -> TypeHierarchy:
        """Return the classes as types for ``isa``: ``parse_filter(text, types=...)``.

        >>> class Quote:
        ...     pass
        >>> class Stock(Quote):
        ...     pass
        >>> sorted(Readers({}, classes=[Quote, Stock]).hierarchy().subtypes("Quote"))
        ['Quote', 'Stock']
        """
        known = set(self._classes.values())
        return TypeHierarchy(
            {
                name: [each.__name__ for each in _nearest(known - {kind}, kind)]
                for name, kind in self._classes.items()
            }
        )

    def type_of(self, value: Any) -> Any:
        """Return the name of an object's class, or of its nearest ancestor that is registered.

        MISSING if there is none. FilterError if two are equally near: neither says what it is.
        """
        kind = type(value)
        nearest = _nearest(set(self._classes.values()), kind)
        if len(nearest) > 1:
            names = " and ".join(each.__name__ for each in nearest)
            raise FilterError(f"{kind.__name__} is {names}: register it among the classes")
        return nearest[0].__name__ if nearest else MISSING


def _by_name(classes: Iterable[type]) -> dict[str, type]:
    found: dict[str, type] = {}
    for each in classes:
        if found.setdefault(each.__name__, each) is not each:
            raise ValueError(f"two classes are called {each.__name__}")
    return found


def _nearest(classes: set[type], kind: type) -> list[type]:
    """Return those of the classes that a class descends from and that no other of these does.

    By the order of its bases alone: isinstance would run what classes define for it.
    """
    above = [each for each in type.mro(kind) if each in classes]
    return [
        each
        for each in above
        if not any(each is not other and each in type.mro(other) for other in above)
    ]


class ObjectView(Mapping[str, Any]):
    """An object as a mapping of the registered names that can be read."""

    __slots__ = ("_found", "_functions", "_readers", "_value")

    def __init__(self, readers: Readers, value: Any) -> None:
        self._readers = readers
        self._functions = readers._readers
        self._value = value
        #: What was read so far; MISSING for what could not be read.
        self._found: dict[str, Any] = {}

    def get(self, name: str, default: Any = None) -> Any:
        """Return a property, or the default if it cannot be read."""
        if name in self._found:
            found = self._found[name]
        elif name in self._functions:
            try:
                found = self._functions[name](self._value)
            except Exception:  # noqa: BLE001 - whatever a reader raises, the property is absent
                found = MISSING
            self._found[name] = found
        elif name == self._readers.type_name and self._readers._classes:
            found = self._found[name] = self._readers.type_of(self._value)
        else:
            return default
        return default if found is MISSING else found

    def __getitem__(self, name: str) -> Any:
        found = self.get(name, MISSING)
        if found is MISSING:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name, MISSING) is not MISSING

    def __iter__(self) -> Iterator[str]:
        names = [*self._readers._readers]
        if self._readers._classes:
            names.append(self._readers.type_name)
        return (name for name in names if self.get(name, MISSING) is not MISSING)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<ObjectView of {type(self._value).__name__}: {', '.join(self._readers)}>"

"""Event types with multiple inheritance, and the constraint `isa`.

A type is known by its name. A hierarchy lists all types, so `isa T` stands for a finite set of
names: T and all its subtypes. An `isa` constraint compares with constraints on strings as this set
of names. There is one exception: a `Strings` of exactly these names does not cover the `isa`
constraint. Otherwise two constraints would cover each other without being equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, final

from posetlib.constraints import intervals
from posetlib.constraints.base import Constraint, register_kind
from posetlib.constraints.extents import Extent, Piece
from posetlib.constraints.strings import Strings
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.names import check_name, name_text
from posetlib.values import MISSING, value_text

__all__ = ["Isa", "TypeHierarchy"]


class TypeHierarchy:
    """The types and their supertypes; a type may have several supertypes. Immutable.

    >>> types = TypeHierarchy({"StockQuote": ["Quote", "Tradable"], "Bond": "Tradable"})
    >>> sorted(types.subtypes("Tradable"))
    ['Bond', 'StockQuote', 'Tradable']
    >>> types.is_subtype("StockQuote", "Quote")
    True
    """

    __slots__ = ("_below", "_parents")

    # The direct supertypes of each type.
    _parents: dict[str, tuple[str, ...]]
    # Each type with the names of itself and of all its subtypes.
    _below: dict[str, frozenset[str]]

    def __init__(self, supertypes: Mapping[str, str | Iterable[str]] = {}) -> None:
        parents: dict[str, tuple[str, ...]] = {}
        for name, given in supertypes.items():
            listed = (given,) if isinstance(given, str) else given
            parents[check_name(name)] = tuple(dict.fromkeys(map(check_name, listed)))
        for above in list(parents.values()):
            for name in above:
                parents.setdefault(name, ())
        try:
            order = list(TopologicalSorter(parents).static_order())
        except CycleError as error:
            cycle = " < ".join(error.args[1])
            raise FilterError(f"types inherit from one another in a circle: {cycle}") from None
        below: dict[str, set[str]] = {name: {name} for name in parents}
        for name in reversed(order):
            for above_name in parents[name]:
                below[above_name] |= below[name]
        self._parents = parents
        self._below = {name: frozenset(names) for name, names in below.items()}

    def subtypes(self, name: str) -> frozenset[str]:
        """Return the type and all its subtypes: O(1). FilterError if the type is not known."""
        try:
            return self._below[name]
        except KeyError:
            known = ", ".join(sorted(self._parents)[:10]) or "none"
            raise FilterError(f"unknown type {value_text(name)}; known are {known}") from None

    def is_subtype(self, name: str, of: str) -> bool:
        """Return whether type `name` is the type `of` or inherits from it: O(1)."""
        return name in self.subtypes(of)

    def supertypes(self, name: str) -> tuple[str, ...]:
        """Return the types from which a type inherits directly.

        >>> TypeHierarchy({"StockQuote": ["Quote", "Tradable"]}).supertypes("StockQuote")
        ('Quote', 'Tradable')
        """
        self.subtypes(name)  # raises FilterError if the type is not known
        return self._parents[name]

    def to_dict(self) -> dict[str, list[str]]:
        """Return the mapping from types to direct supertypes, from which TypeHierarchy is made."""
        return {name: list(above) for name, above in sorted(self._parents.items())}

    def __contains__(self, name: object) -> bool:
        return name in self._parents

    def __iter__(self) -> Any:
        return iter(sorted(self._parents))

    def __len__(self) -> int:
        return len(self._parents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeHierarchy) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(frozenset(self._below.items()))

    def __repr__(self) -> str:
        return f"TypeHierarchy({self.to_dict()!r})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (TypeHierarchy, (self.to_dict(),))


@final
class Isa(Constraint):
    """The value is the name of one of some types, or of a subtype of them.

    >>> types = TypeHierarchy({"StockQuote": ["Quote"], "BondQuote": ["Quote"]})
    >>> Isa.of("Quote", types).covers(Isa.of("BondQuote", types))
    True
    """

    __slots__ = ("_below", "_hash", "names", "tops")
    domain = "string"
    kind = "isa"

    #: All names that satisfy the constraint.
    names: frozenset[str]
    #: The names among them that are not a subtype of another; the text lists only these.
    tops: tuple[str, ...]
    # Each name with the names of itself and of all its subtypes.
    _below: dict[str, frozenset[str]]

    def __init__(self, below: Mapping[str, Iterable[str]]) -> None:
        self._below = {check_name(name): frozenset(low) | {name} for name, low in below.items()}
        self.names = frozenset(self._below)
        if not self.names:
            raise EmptyConstraintError("no type satisfies the constraint")
        if not all(low <= self.names for low in self._below.values()):
            raise FilterError("isa stands for whole types: a subtype is missing")
        subtypes = {name for top, low in self._below.items() for name in low if name != top}
        self.tops = tuple(sorted(self.names - subtypes)) or tuple(sorted(self.names))
        self._hash = hash((self.names, self.tops))

    @classmethod
    def of(cls, name: str, types: TypeHierarchy | None = None) -> Isa:
        """Return the constraint for one type; without a hierarchy the type has no subtypes.

        >>> Isa.of("Quote").matches("Quote"), Isa.of("Quote").matches("StockQuote")
        (True, False)
        """
        if types is None:
            return cls({name: {name}})
        return cls({subtype: types.subtypes(subtype) for subtype in types.subtypes(name)})

    @classmethod
    def union(cls, members: Iterable[Isa]) -> Isa:
        """Return the constraint that a value satisfies at least one member."""
        below: dict[str, frozenset[str]] = {}
        for member in members:
            for name, low in member._below.items():
                below[name] = below.get(name, frozenset()) | low
        return cls(below)

    def _as_strings(self) -> Strings:
        return Strings.points(self.names)

    def matches(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.names

    def covers(self, other: Constraint) -> bool:
        if isinstance(other, Isa):
            return self.names >= other.names
        if isinstance(other, Strings):
            return self._as_strings().covers(other)
        names = other.finite_strings()
        return Constraint.covers(self, other) if names is None else self.names >= names

    def overlaps(self, other: Constraint) -> bool:
        if isinstance(other, Isa):
            return not self.names.isdisjoint(other.names)
        if isinstance(other, Strings):
            return any(map(other.matches, self.names))
        return Constraint.overlaps(self, other)

    def merge(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Isa):
            return Isa.union((self, other))
        merged = Constraint.merge(self, other)
        if merged is None and isinstance(other, Strings):
            return self._as_strings().merge(other)
        return merged

    def intersect(self, other: Constraint) -> Constraint | None:
        if isinstance(other, Isa):
            return self._common(other)
        if isinstance(other, Strings):
            names = frozenset(filter(other.matches, self.names))
            return self if names == self.names else Strings.points(names)
        return Constraint.intersect(self, other)

    def _common(self, other: Isa) -> Isa:
        common = self.names & other.names
        if not common:
            raise EmptyConstraintError("no type is a subtype of both")
        return Isa({name: self._below[name] & other._below[name] for name in common})

    def is_canonical(self) -> bool:
        # Two hierarchies may order the same names in different ways. Then two constraints have the
        # same names, so they cover each other, but different `tops`, so they are not equal.
        return False

    def extent(self) -> Extent:
        named = intervals.normal((name, name + "\0") for name in self.names)
        return Extent(strings=tuple(Piece(low, high, True) for low, high in named), tight=True)

    def finite_strings(self) -> frozenset[str]:
        return self.names

    def subtypes(self) -> Iterator[tuple[str, frozenset[str]]]:
        for name in sorted(self._below):
            yield name, self._below[name] - {name}

    def example(self) -> Any:
        return self.tops[0]

    def example_outside(self, other: Constraint) -> Any:
        outside = sorted(name for name in self.names if not other.matches(name))
        return outside[0] if outside else MISSING

    def clauses(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name} isa {_type_text(top)}" for top in self.tops)

    def to_dict(self) -> dict[str, Any]:
        below = {name: sorted(self._below[name] - {name}) for name in sorted(self.names)}
        return {"kind": self.kind, "types": below}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Isa) and self.names == other.names and self.tops == other.tops

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Isa, ({name: sorted(low) for name, low in self._below.items()},))


def _type_text(name: str) -> str:
    """Return the name of a type as the text of a filter writes it: plain, or as a string."""
    plain = name_text(name)
    return plain if plain == name else value_text(name)


register_kind(Isa.kind, lambda data: Isa(data["types"]))

"""Constraints on multi-values, finite sets of simple values, exactly.

Whether a set satisfies a constraint depends on which of the elements named in it the set has, and
on whether it has any other: a Boolean function, kept as a decision diagram. Elements that make no
difference from any other are not named, so that equal meanings are equal diagrams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias, final

from posetlib.constraints import diagrams
from posetlib.constraints.base import Constraint, EmptyConstraintError, register_kind
from posetlib.constraints.diagrams import FALSE, TRUE, Diagram, Key, TooLargeError
from posetlib.errors import FilterError
from posetlib.values import (
    MISSING,
    check_number,
    check_string,
    describe,
    element_key,
    element_value,
    value_text,
)

__all__ = ["ALL_SETS", "MultiValues"]

#: The key of "has an element that is not named"; it sorts before every element.
_OTHERS: Final[Key] = (-1, 0)
_MAX_CLAUSES: Final = 64
# Two diagrams compare in steps of about the size of one times the width of the other: with these
# limits every two that exist can be compared.
_MAX_ELEMENTS: Final = 20_000
_MAX_WIDTH: Final = 64
_TOO_COMPLEX: Final = "too complex: this combination of conditions on a set"


@final
class MultiValues(Constraint):
    """A set of finite sets of simple values.

    >>> MultiValues.overlapping([1, 2]).covers(MultiValues.superset([2, 9]))
    True
    >>> MultiValues.disjoint([1]).merge(MultiValues.disjoint([2])).matches({1, 2})
    False
    """

    __slots__ = ("_hash", "_written", "diagram", "named")
    domain = "set"
    kind = "set"

    #: The elements that are told apart from any others.
    named: frozenset[Key]
    diagram: Diagram
    _written: list[_Alternative]

    def __init__(self, named: frozenset[Key], diagram: Diagram, *, canonical: bool = False) -> None:
        if diagram == FALSE:
            raise EmptyConstraintError("no set satisfies the constraint")
        self.named, self.diagram = (named, diagram) if canonical else _canonical(named, diagram)
        self._hash = hash((self.named, self.diagram))

    # -- making ------------------------------------------------------------------------------------

    @classmethod
    def superset(cls, elements: Iterable[Any]) -> MultiValues:
        """Return the sets that have all the elements."""
        named = _keys(elements)
        return cls(named, diagrams.every_of(named), canonical=True)

    @classmethod
    def disjoint(cls, elements: Iterable[Any]) -> MultiValues:
        """Return the sets that have none of the elements."""
        named = _keys(elements)
        return cls(named, diagrams.every_of((), named), canonical=True)

    @classmethod
    def overlapping(cls, elements: Iterable[Any]) -> MultiValues:
        """Return the sets that have some of the elements."""
        named = _keys(elements)
        return cls(named, diagrams.some_of(named), canonical=True)

    @classmethod
    def subset(cls, elements: Iterable[Any]) -> MultiValues:
        """Return the sets that have no other elements."""
        return cls(_keys(elements), diagrams.every_of((), (_OTHERS,)), canonical=True)

    @classmethod
    def union(cls, members: Iterable[MultiValues]) -> MultiValues:
        """Return the union of many."""
        kept = list(members)
        clauses = [member for member in kept if diagrams.is_clause(member.diagram)]
        rest = [_parts(member) for member in kept if not diagrams.is_clause(member.diagram)]
        if clauses:  # overlaps, by far the most common, in one go
            named = frozenset().union(*(member.named for member in clauses))
            rest.append((named, diagrams.some_of(named)))
        return _all_joined(rest, diagrams.either)

    @classmethod
    def intersection(cls, members: Iterable[MultiValues]) -> MultiValues:
        """Return what many share."""
        kept = [member for member in members if not member.is_whole_domain()]
        if len(kept) < 2:
            return kept[0] if kept else ALL_SETS
        cubes = [member for member in kept if _is_open_cube(member.diagram)]
        rest = [_parts(member) for member in kept if not _is_open_cube(member.diagram)]
        if cubes:  # supersets and disjoint sets in one go
            having = {key for member in cubes for key in diagrams.forced(member.diagram, True)}
            lacking = {key for member in cubes for key in diagrams.forced(member.diagram, False)}
            if having & lacking:
                raise EmptyConstraintError("no set has an element and lacks it")
            named = frozenset().union(*(member.named for member in cubes))
            rest.append((named, diagrams.every_of(having, lacking)))
        return _all_joined(rest, diagrams.both)

    # -- meaning -----------------------------------------------------------------------------------

    def matches(self, value: Any) -> bool:
        if not isinstance(value, list | tuple | Set):
            return False
        present = set(map(element_key, value))
        if not present <= self.named:
            present.add(_OTHERS)
        return diagrams.evaluate(self.diagram, present)

    def covers(self, other: Constraint) -> bool:
        if not isinstance(other, MultiValues):
            return Constraint.covers(self, other)
        try:
            return _outside(other, self) is None
        except TooLargeError:  # the limits of each constraint keep pairs within this one
            return self == other

    def overlaps(self, other: Constraint) -> bool:
        if not isinstance(other, MultiValues):
            return Constraint.overlaps(self, other)
        try:
            named = self.named | other.named
            a, b = _widened(_parts(self), named), _widened(_parts(other), named)
            return diagrams.common_path(a, b) is not None
        except TooLargeError:
            return True

    def merge(self, other: Constraint) -> Constraint | None:
        if not isinstance(other, MultiValues):
            return Constraint.merge(self, other)
        try:
            return MultiValues.union((self, other))
        except FilterError:
            return Constraint.merge(self, other)

    def intersect(self, other: Constraint) -> Constraint | None:
        if isinstance(other, MultiValues):
            return MultiValues.intersection((self, other))
        return Constraint.intersect(self, other)

    def is_canonical(self) -> bool:
        return True

    def is_whole_domain(self) -> bool:
        return self.diagram == TRUE

    def example(self) -> Any:
        path = diagrams.difference_path(self.diagram, FALSE)
        return MISSING if path is None else _set_of(path, self.named)

    def example_outside(self, other: Constraint) -> Any:
        if not isinstance(other, MultiValues):
            return Constraint.example_outside(self, other)
        try:
            path = _outside(self, other)
        except TooLargeError:
            return MISSING
        return MISSING if path is None else _set_of(path, self.named | other.named)

    # -- text and dictionaries ---------------------------------------------------------------------

    def clauses(self, name: str) -> tuple[str, ...]:
        if self.is_whole_domain():
            return (f"{name} is set",)
        return tuple(each.text(name) for each in self._alternatives)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "any": [each.to_dict() for each in self._alternatives]}

    @property
    def _alternatives(self) -> list[_Alternative]:
        """What the operators can say, worked out when first asked for."""
        try:
            return self._written
        except AttributeError:
            self._written = self._write()
            return self._written

    def _write(self) -> list[_Alternative]:
        bounded, unbounded = _halves(self.diagram)
        result = _alternatives(unbounded, None) if unbounded != FALSE else []
        if bounded != unbounded:
            result += _alternatives(bounded, sorted(self.named))
        return result

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MultiValues)
            and self._hash == other._hash
            and self.named == other.named
            and self.diagram == other.diagram
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (MultiValues, (self.named, self.diagram))


def _keys(elements: Iterable[Any]) -> frozenset[Key]:
    keys = set()
    for element in elements:
        if isinstance(element, str):
            check_string(element)
        key = element_key(element)
        if key[0] == 3:
            raise FilterError(f"{describe(element)} cannot be an element of a filter's set")
        if key[0] == 1:
            key = (1, check_number(element))
        keys.add(key)
    if len(keys) > _MAX_ELEMENTS:
        raise FilterError(f"a set of a filter has at most {_MAX_ELEMENTS} elements")
    return frozenset(keys)


def _minds_others(diagram: Diagram) -> bool:
    """Return whether elements that are not named make a difference, as in a subset."""
    return bool(diagram[0]) and diagram[0][-1][0] == _OTHERS  # the root, as it sorts first


def _is_open_cube(diagram: Diagram) -> bool:
    return diagrams.is_cube(diagram) and not _minds_others(diagram)


def _halves(diagram: Diagram) -> tuple[Diagram, Diagram]:
    """Return the function for sets of named elements only, and for sets that have others too."""
    return (
        diagrams.restrict(diagram, {_OTHERS: False}),
        diagrams.restrict(diagram, {_OTHERS: True}),
    )


def _canonical(named: frozenset[Key], diagram: Diagram) -> tuple[frozenset[Key], Diagram]:
    """Leave out the elements that make no difference from any element that is not named."""
    bounded, unbounded = _halves(diagram)
    if bounded == unbounded:
        return named & frozenset(diagrams.keys(diagram)), diagram
    if unbounded == FALSE:
        alike = named & frozenset(diagrams.forced(bounded, False))
        return named - alike, diagrams.restrict(diagram, dict.fromkeys(alike, False))
    candidates = named & frozenset(diagrams.keys(bounded))
    for key in sorted(candidates - frozenset(diagrams.keys(unbounded))):
        if diagrams.restrict(bounded, {key: True}) == unbounded:
            named -= {key}
            diagram = diagrams.restrict(diagram, {key: False})
            bounded = diagrams.restrict(bounded, {key: False})
    return named, diagram


# Before it is canonical, a constraint is the elements it names and a diagram over them.
_Parts: TypeAlias = tuple[frozenset[Key], Diagram]


def _parts(constraint: MultiValues) -> _Parts:
    return (constraint.named, constraint.diagram)


def _widened(parts: _Parts, named: frozenset[Key]) -> Diagram:
    """Return the diagram with more elements told apart from the others."""
    new = named - parts[0]
    diagram = parts[1]
    if not new or not _minds_others(diagram):
        return diagram
    bounded, unbounded = _halves(diagram)
    none = diagrams.both(bounded, diagrams.every_of((), {_OTHERS, *new}))
    some = diagrams.both(unbounded, diagrams.some_of({_OTHERS, *new}))
    return diagrams.either(none, some)


def _joined(a: _Parts, b: _Parts, join: Callable[[Diagram, Diagram], Diagram]) -> _Parts:
    try:
        named = a[0] | b[0]
        return named, join(_widened(a, named), _widened(b, named))
    except TooLargeError:
        raise FilterError(_TOO_COMPLEX) from None


def _writable(named: frozenset[Key], diagram: Diagram) -> MultiValues:
    """Return the constraint; one that cannot be written down is not a filter."""
    try:
        made = MultiValues(named, diagram)
        made.clauses("x")
        if diagrams.width(made.diagram) > _MAX_WIDTH:
            raise TooLargeError
    except TooLargeError:
        raise FilterError(_TOO_COMPLEX) from None
    return made


def _all_joined(waiting: list[_Parts], join: Callable[[Diagram, Diagram], Diagram]) -> MultiValues:
    if len(waiting) > _MAX_CLAUSES:
        raise FilterError(f"{_TOO_COMPLEX}: {len(waiting)} parts, at most {_MAX_CLAUSES}")
    if len(waiting) == 1:
        return MultiValues(*waiting[0], canonical=True)  # all members were of the one simple kind
    while len(waiting) > 1:  # in pairs, so that each step joins diagrams of about one size
        pairs = zip(waiting[::2], waiting[1::2], strict=False)
        joined = [_joined(a, b, join) for a, b in pairs]
        waiting = joined + waiting[len(waiting) - len(waiting) % 2 :]
    return _writable(*waiting[0])


def _outside(inner: MultiValues, outer: MultiValues) -> dict[Key, bool] | None:
    named = inner.named | outer.named
    return diagrams.difference_path(_widened(_parts(inner), named), _widened(_parts(outer), named))


def _set_of(path: dict[Key, bool], named: frozenset[Key]) -> list[Any]:
    """Return a multi-value with the elements of the path, and a fresh one where it wants others.

    A list, since a Python set takes True and 1 for one element.
    """
    result = [element_value(key) for key in sorted(path) if path[key] and key != _OTHERS]
    if path.get(_OTHERS):
        texts = {key[1] for key in named if key[0] == 2}
        fresh = "other"
        while fresh in texts:
            fresh += "'"
        result.append(fresh)
    return result


class _Alternative(NamedTuple):
    """Conditions that the six operators can say, all to hold."""

    having: list[Key]
    lacking: list[Key]
    overlapping: list[list[Key]]
    within: list[Key] | None

    def text(self, name: str) -> str:
        parts = []
        if self.within is not None:
            parts.append(f"{name} subset {_set_text(self.within)}")
        for keys, one, several in (
            (self.having, "has", "superset"),
            (self.lacking, "lacks", "disjoint"),
        ):
            if len(keys) == 1:
                parts.append(f"{name} {one} {value_text(keys[0][1])}")
            elif keys:
                parts.append(f"{name} {several} {_set_text(keys)}")
        parts += [f"{name} overlaps {_set_text(keys)}" for keys in self.overlapping]
        return " and ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {}
        if self.within is not None:
            data["subset"] = _to_json(self.within)
        if self.having:
            data["superset"] = _to_json(self.having)
        if self.lacking:
            data["disjoint"] = _to_json(self.lacking)
        if self.overlapping:
            data["overlaps"] = [_to_json(keys) for keys in self.overlapping]
        return data


def _alternatives(diagram: Diagram, within: list[Key] | None) -> list[_Alternative]:
    """Return what a diagram without others amounts to; TooLargeError if it is too much."""
    having, lacking = diagrams.forced(diagram, True), diagrams.forced(diagram, False)
    decided = {**dict.fromkeys(having, True), **dict.fromkeys(lacking, False)}
    rest = diagrams.restrict(diagram, decided)
    met = diagrams.prime_clauses(rest, _MAX_CLAUSES)
    if met is not None:
        return [_Alternative(having, lacking, met, within)]
    return [
        _Alternative(sorted(having + more), sorted(lacking + less), [], within)
        for more, less in diagrams.paths(rest, _MAX_CLAUSES)
    ]


def _set_text(keys: list[Key]) -> str:
    return "{" + ", ".join(value_text(key[1]) for key in keys) + "}"


def _to_json(keys: list[Key]) -> list[Any]:
    values = map(element_value, keys)
    return [{"number": value_text(v)} if isinstance(v, Fraction) else v for v in values]


def _from_json(elements: list[Any]) -> list[Any]:
    try:
        return [Fraction(e["number"]) if isinstance(e, dict) else e for e in elements]
    except (ValueError, ZeroDivisionError):
        raise FilterError("an element's number is no fraction") from None


def _read(data: dict[str, Any]) -> Constraint:
    alternatives = []
    for each in data["any"]:
        parts = [MultiValues.subset(_from_json(each["subset"]))] if "subset" in each else []
        parts.append(MultiValues.superset(_from_json(each.get("superset", []))))
        parts.append(MultiValues.disjoint(_from_json(each.get("disjoint", []))))
        parts += [MultiValues.overlapping(_from_json(e)) for e in each.get("overlaps", [])]
        alternatives.append(MultiValues.intersection(parts))
    if not alternatives:
        raise EmptyConstraintError("no set satisfies the constraint")
    return MultiValues.union(alternatives)


register_kind(MultiValues.kind, _read)

#: Every set.
ALL_SETS: Final = MultiValues(frozenset(), TRUE)

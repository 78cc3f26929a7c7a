"""Constraints on attributes whose values are finite sets of booleans, numbers and strings.

A constraint names some elements. Whether a set satisfies the constraint depends only on which of
the named elements the set has, and on whether it has any element that is not named (an *unnamed*
element). That is a Boolean function, stored as a decision diagram. An element is named only if the
constraint treats it differently from unnamed elements, so constraints with equal meaning are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from enum import Enum
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias, final

from posetlib.constraints import decision_diagrams as diagrams
from posetlib.constraints.base import Constraint, register_kind
from posetlib.constraints.decision_diagrams import FALSE, TRUE, Diagram, Key
from posetlib.constraints.extents import Answer, Extent
from posetlib.constraints.tokens import MANY, Tokens
from posetlib.errors import EmptyConstraintError, FilterError, TooComplexError
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

# The key that means "the set has an unnamed element". It sorts before the key of every element.
_UNNAMED: Final[Key] = (-1, 0)
# The most constraints that one union or intersection joins, and the most "overlaps" conditions or
# alternatives in the text of one constraint. It keeps the text readable and the diagrams small.
_MAX_CLAUSES: Final = 64
# A comparison of two diagrams takes about (nodes of one) * (width of the other) steps. The next two
# limits keep that number small enough: the most elements that one condition names, and the largest
# width of a diagram, in nodes (see `decision_diagrams.width`).
_MAX_ELEMENTS: Final = 20_000
_MAX_WIDTH: Final = 64
# Sets are not ordered on a line, so an index must ask the constraint itself about every set.
_EXTENT_OF_SETS: Final = Extent(others=Answer.MAYBE, tight=True)
# Accepts the sets without unnamed elements: the diagram of every "subset".
_ONLY_NAMED: Final = diagrams.every_of((), (_UNNAMED,))
# The most elements of which tokens are made (see `posetlib.constraints.tokens`).
_MAX_TOKENS: Final = 64
_NONE: Final[frozenset[Any]] = frozenset()
_MANY_ELEMENTS: Final[frozenset[Any]] = frozenset({MANY})
_TOO_COMPLEX: Final = "too complex: this combination of conditions on a set"


class _Form(Enum):
    """A single condition, which says the same of all named elements."""

    ALL = "any set"  # no element is named
    SUPERSET = "has all"  # at least one element
    OVERLAPS = "has some"  # at least two elements; one alone is a SUPERSET
    DISJOINT = "has none"  # at least one element
    SUBSET = "has no others"


@final
class MultiValues(Constraint):
    """A condition on finite sets of booleans, numbers and strings; exact.

    >>> MultiValues.overlapping([1, 2]).covers(MultiValues.superset([2, 9]))
    True
    >>> MultiValues.disjoint([1]).merge(MultiValues.disjoint([2])).matches({1, 2})
    False
    """

    __slots__ = ("_form", "_hash", "_written", "diagram", "named")
    domain = "set"
    kind = "set"

    #: The keys of the elements that the constraint treats differently from unnamed elements.
    named: frozenset[Key]
    #: Which sets satisfy the constraint, as a function of the named elements.
    diagram: Diagram
    # What it asks of the named elements, None if that is not the same for all of them.
    _form: _Form | None
    # The alternatives of the text; missing until they are first asked for.
    _written: list[_Alternative]

    def __init__(self, named: frozenset[Key], diagram: Diagram, *, canonical: bool = False) -> None:
        if diagram == FALSE:
            raise EmptyConstraintError("no set satisfies the constraint")
        self.named, self.diagram = (named, diagram) if canonical else _canonical(named, diagram)
        self._form = _form_of(self.diagram)
        self._hash = hash((self.named, self.diagram))

    # -- making ------------------------------------------------------------------------------------

    @classmethod
    def superset(cls, elements: Iterable[Any]) -> MultiValues:
        """Return the constraint that a set has all these elements.

        >>> MultiValues.superset(["a", "b"]).matches({"a", "b", "c"})
        True
        """
        named = _keys(elements)
        return cls(named, diagrams.every_of(named), canonical=True)

    @classmethod
    def disjoint(cls, elements: Iterable[Any]) -> MultiValues:
        """Return the constraint that a set has none of these elements."""
        named = _keys(elements)
        return cls(named, diagrams.every_of((), named), canonical=True)

    @classmethod
    def overlapping(cls, elements: Iterable[Any]) -> MultiValues:
        """Return the constraint that a set has at least one of these elements."""
        named = _keys(elements)
        return cls(named, diagrams.some_of(named), canonical=True)

    @classmethod
    def subset(cls, elements: Iterable[Any]) -> MultiValues:
        """Return the constraint that a set has no elements but these.

        >>> MultiValues.subset([1, 2]).matches([2]), MultiValues.subset([1, 2]).matches([3])
        (True, False)
        """
        return cls(_keys(elements), _ONLY_NAMED, canonical=True)

    @classmethod
    def union(cls, members: Iterable[MultiValues]) -> MultiValues:
        """Return the constraint that a set satisfies at least one member."""
        all_members = list(members)
        clauses = [member for member in all_members if diagrams.is_clause(member.diagram)]
        rest = [_parts(member) for member in all_members if not diagrams.is_clause(member.diagram)]
        if clauses:  # "overlaps" conditions, by far the most common, are joined in one step
            named = frozenset().union(*(member.named for member in clauses))
            rest.append((named, diagrams.some_of(named)))
        return _all_joined(rest, diagrams.either)

    @classmethod
    def intersection(cls, members: Iterable[MultiValues]) -> MultiValues:
        """Return the constraint that a set satisfies all members."""
        limiting = [member for member in members if not member.is_whole_domain()]
        if len(limiting) < 2:
            return limiting[0] if limiting else ALL_SETS
        cubes = [member for member in limiting if _is_open_cube(member.diagram)]
        rest = [_parts(member) for member in limiting if not _is_open_cube(member.diagram)]
        if cubes:  # "superset" and "disjoint" conditions are joined in one step
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
            present.add(_UNNAMED)
        return diagrams.evaluate(self.diagram, present)

    def covers(self, other: Constraint) -> bool:
        if not isinstance(other, MultiValues):
            return Constraint.covers(self, other)
        if self._form is not None and other._form is not None:
            rule = _COVERS.get((self._form, other._form))
            return rule is not None and rule(self.named, other.named)
        return _diagram_covers(self, other)

    def overlaps(self, other: Constraint) -> bool:
        if not isinstance(other, MultiValues):
            return Constraint.overlaps(self, other)
        if self._form is not None and other._form is not None:
            rule = _OVERLAPS.get((self._form, other._form))
            return rule is None or rule(self.named, other.named)
        return _diagrams_overlap(self, other)

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

    def split(self, other: MultiValues) -> tuple[MultiValues | None, MultiValues | None]:
        """Return the sets that satisfy `other` as well, and those that do not; None for no set.

        Raises TooComplexError where the diagrams grow too large.

        >>> [str(part) for part in MultiValues.subset([1]).split(MultiValues.superset([1]))]
        ['<MultiValues: _ subset {1} and _ has 1>', '<MultiValues: _ subset {}>']
        """
        named = self.named | other.named
        mine, theirs = _widened(_parts(self), named), _widened(_parts(other), named)
        halves = diagrams.both(mine, theirs), diagrams.both(mine, diagrams.negated(theirs))
        inside, outside = (None if half == FALSE else MultiValues(named, half) for half in halves)
        return inside, outside

    def without(self, other: MultiValues) -> MultiValues | None:
        """Return the sets that do not satisfy `other`; None if no constraint on sets says that.

        No condition asks for an element that it does not name, as the complement of "subset" does.

        >>> MultiValues.superset([1]).without(MultiValues.superset([2]))
        <MultiValues: _ has 1 and _ lacks 2>
        >>> MultiValues.superset([1]).without(MultiValues.subset([1, 2]))
        """
        try:
            rest = self.split(other)[1]
            if rest is None:
                raise EmptyConstraintError("no set satisfies the constraint")
            bounded, unbounded = _halves(rest.diagram)
            if diagrams.difference_path(unbounded, bounded) is not None:
                return None
            return _writable(rest.named, rest.diagram)
        except EmptyConstraintError:
            raise
        except (TooComplexError, FilterError):
            return None

    def is_canonical(self) -> bool:
        return True

    def extent(self) -> Extent:
        return _EXTENT_OF_SETS

    def tokens(self) -> tuple[Tokens, ...]:
        return _tokens_of(self.named, self._form, self.diagram)

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
        except TooComplexError:
            return MISSING
        return MISSING if path is None else _set_of(path, self.named | other.named)

    # -- text and dictionaries ---------------------------------------------------------------------

    def clauses(self, name: str) -> tuple[str, ...]:
        if self.is_whole_domain():
            return (f"{name} is set",)
        return tuple(alternative.text(name) for alternative in self._alternatives)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "any": [part.to_dict() for part in self._alternatives]}

    @property
    def _alternatives(self) -> list[_Alternative]:
        """The alternatives of the text, computed when first asked for."""
        try:
            return self._written
        except AttributeError:
            self._written = self._write()
            return self._written

    def _write(self) -> list[_Alternative]:
        # Sets of named elements only ("subset") are written apart if unnamed elements matter.
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
    """Return the keys of elements, or raise FilterError if a filter cannot hold one of them."""
    keys = set()
    for element in elements:
        if isinstance(element, str):
            check_string(element)
        key = element_key(element)
        if key[0] == 3:  # not a boolean, number or string
            raise FilterError(f"{describe(element)} cannot be an element of a filter's set")
        if key[0] == 1:
            key = (1, check_number(element))
        keys.add(key)
    if len(keys) > _MAX_ELEMENTS:
        raise FilterError(f"a set of a filter has at most {_MAX_ELEMENTS} elements")
    return frozenset(keys)


def _tests_unnamed(diagram: Diagram) -> bool:
    """Return whether unnamed elements make a difference, as in "subset"."""
    # The last node is the root, and _UNNAMED sorts first, so only the root can test it.
    return bool(diagram[0]) and diagram[0][-1][0] == _UNNAMED


def _is_open_cube(diagram: Diagram) -> bool:
    """Return whether the function is a cube, and unnamed elements make no difference."""
    return diagrams.is_cube(diagram) and not _tests_unnamed(diagram)


def _halves(diagram: Diagram) -> tuple[Diagram, Diagram]:
    """Return the function for sets of named elements only, and for sets with unnamed elements."""
    return (
        diagrams.restrict(diagram, {_UNNAMED: False}),
        diagrams.restrict(diagram, {_UNNAMED: True}),
    )


def _canonical(named: frozenset[Key], diagram: Diagram) -> tuple[frozenset[Key], Diagram]:
    """Return the parts without the elements that are treated like unnamed elements."""
    bounded, unbounded = _halves(diagram)
    if bounded == unbounded:
        return named & frozenset(diagrams.keys(diagram)), diagram
    if unbounded == FALSE:
        like_unnamed = named & frozenset(diagrams.forced(bounded, False))
        return named - like_unnamed, diagrams.restrict(diagram, dict.fromkeys(like_unnamed, False))
    candidates = named & frozenset(diagrams.keys(bounded))
    for key in sorted(candidates - frozenset(diagrams.keys(unbounded))):
        if diagrams.restrict(bounded, {key: True}) == unbounded:
            named -= {key}
            diagram = diagrams.restrict(diagram, {key: False})
            bounded = diagrams.restrict(bounded, {key: False})
    return named, diagram


# The parts of a constraint that may not be canonical yet: (named elements, diagram over them).
_Parts: TypeAlias = tuple[frozenset[Key], Diagram]


def _parts(constraint: MultiValues) -> _Parts:
    return (constraint.named, constraint.diagram)


def _widened(parts: _Parts, named: frozenset[Key]) -> Diagram:
    """Return the diagram of a constraint, rewritten as if it named all elements of `named`."""
    added = named - parts[0]
    diagram = parts[1]
    if not added or not _tests_unnamed(diagram):
        return diagram
    bounded, unbounded = _halves(diagram)
    # An added element was an unnamed one before.
    without_unnamed = diagrams.both(bounded, diagrams.every_of((), {_UNNAMED, *added}))
    with_unnamed = diagrams.both(unbounded, diagrams.some_of({_UNNAMED, *added}))
    return diagrams.either(without_unnamed, with_unnamed)


def _joined(a: _Parts, b: _Parts, join: Callable[[Diagram, Diagram], Diagram]) -> _Parts:
    """Return two constraints joined by `diagrams.both` or `diagrams.either`."""
    try:
        named = a[0] | b[0]
        return named, join(_widened(a, named), _widened(b, named))
    except TooComplexError:
        raise FilterError(_TOO_COMPLEX) from None


def _writable(named: frozenset[Key], diagram: Diagram) -> MultiValues:
    """Return the constraint, or raise FilterError if its text or its diagram is too large."""
    try:
        made = MultiValues(named, diagram)
        made.clauses("x")
        if diagrams.width(made.diagram) > _MAX_WIDTH:
            raise TooComplexError
    except TooComplexError:
        raise FilterError(_TOO_COMPLEX) from None
    return made


def _all_joined(waiting: list[_Parts], join: Callable[[Diagram, Diagram], Diagram]) -> MultiValues:
    """Return many constraints joined by `diagrams.both` or `diagrams.either`."""
    if len(waiting) > _MAX_CLAUSES:
        raise FilterError(f"{_TOO_COMPLEX}: {len(waiting)} parts, at most {_MAX_CLAUSES}")
    if len(waiting) == 1:
        # The one part is a clause or an open cube, which is canonical, or a member itself.
        return MultiValues(*waiting[0], canonical=True)
    while len(waiting) > 1:  # join in pairs, so that each step joins diagrams of similar size
        pairs = zip(waiting[::2], waiting[1::2], strict=False)
        joined = [_joined(a, b, join) for a, b in pairs]
        waiting = joined + waiting[len(waiting) - len(waiting) % 2 :]
    return _writable(*waiting[0])


def _outside(inner: MultiValues, outer: MultiValues) -> dict[Key, bool] | None:
    """Return a choice of elements that `inner` accepts and `outer` refuses, None if none exists."""
    named = inner.named | outer.named
    return diagrams.difference_path(_widened(_parts(inner), named), _widened(_parts(outer), named))


def _diagram_covers(one: MultiValues, other: MultiValues) -> bool:
    """Return whether a constraint covers another one of any form."""
    try:
        return _outside(other, one) is None
    except TooComplexError:  # the limits on each constraint are meant to prevent this
        return one == other


def _diagrams_overlap(one: MultiValues, other: MultiValues) -> bool:
    """Return whether some set satisfies two constraints of any form."""
    try:
        named = one.named | other.named
        a, b = _widened(_parts(one), named), _widened(_parts(other), named)
        return diagrams.common_path(a, b) is not None
    except TooComplexError:
        return True


# -- constraints of one condition ------------------------------------------------------------------


def _form_of(diagram: Diagram) -> _Form | None:
    """Return the form of a constraint with this canonical diagram, None if it has none."""
    if diagram == TRUE:
        return _Form.ALL
    if _tests_unnamed(diagram):
        return _Form.SUBSET if diagram == _ONLY_NAMED else None
    if all(low == 0 for _, low, _ in diagram[0]):
        return _Form.SUPERSET
    if all(high == 0 for _, _, high in diagram[0]):
        return _Form.DISJOINT
    return _Form.OVERLAPS if diagrams.is_clause(diagram) else None


def _meet(one: frozenset[Key], other: frozenset[Key]) -> bool:
    return not one.isdisjoint(other)


def _exceeds(one: frozenset[Key], other: frozenset[Key]) -> bool:
    return not one <= other


def _always(*_: frozenset[Key]) -> bool:
    return True


_SetRule: TypeAlias = Callable[[frozenset[Key], frozenset[Key]], bool]

# When the first form covers the second one, by the elements that they name; never if it is not
# listed. For example, the empty set is DISJOINT with any other and in any SUBSET, and neither a
# SUPERSET nor an OVERLAPS accepts it; a SUPERSET of a set may have any element besides.
_COVERS: Final[dict[tuple[_Form, _Form], _SetRule]] = {
    **{(_Form.ALL, form): _always for form in _Form},
    (_Form.SUPERSET, _Form.SUPERSET): frozenset.issubset,
    (_Form.OVERLAPS, _Form.OVERLAPS): frozenset.issuperset,
    (_Form.OVERLAPS, _Form.SUPERSET): _meet,
    (_Form.DISJOINT, _Form.DISJOINT): frozenset.issubset,
    (_Form.DISJOINT, _Form.SUBSET): frozenset.isdisjoint,
    (_Form.SUBSET, _Form.SUBSET): frozenset.issuperset,
}
# When two forms overlap; always if they are not listed.
_OVERLAPS: Final[dict[tuple[_Form, _Form], _SetRule]] = {
    (_Form.SUPERSET, _Form.DISJOINT): frozenset.isdisjoint,
    (_Form.DISJOINT, _Form.SUPERSET): frozenset.isdisjoint,
    (_Form.SUPERSET, _Form.SUBSET): frozenset.issubset,
    (_Form.SUBSET, _Form.SUPERSET): frozenset.issuperset,
    (_Form.OVERLAPS, _Form.DISJOINT): _exceeds,
    (_Form.DISJOINT, _Form.OVERLAPS): lambda one, other: _exceeds(other, one),
    (_Form.OVERLAPS, _Form.SUBSET): _meet,
    (_Form.SUBSET, _Form.OVERLAPS): _meet,
}


def _tokens_of(named: frozenset[Key], form: _Form | None, diagram: Diagram) -> tuple[Tokens, ...]:
    """Return the elements that all sets have, those that no set has, and the sets of one element.

    The last are asked of every constraint that covers this one.
    """
    lacked: frozenset[Key] | None = _NONE
    alone: frozenset[Any] | None
    if form is _Form.SUPERSET:
        had, alone = named, named if len(named) == 1 else _NONE
    elif form is _Form.DISJOINT or form is _Form.ALL:
        had, lacked, alone = _NONE, named, None
    elif form is _Form.OVERLAPS:
        had, alone = _NONE, named
    elif form is _Form.SUBSET:
        # No set has any other element.
        had, lacked, alone = _NONE, None, named
    elif _is_open_cube(diagram):
        had = frozenset(diagrams.forced(diagram, True))
        lacked = frozenset(diagrams.forced(diagram, False))
        alone = None if not had else had if len(had) == 1 else _NONE
    else:
        return ()
    asked_alone = _MANY_ELEMENTS if alone is None else alone
    return (
        Tokens("has", False, _some_of(had), had if len(had) <= _MAX_TOKENS else None),
        Tokens(
            "lacks",
            False,
            _some_of(lacked or _NONE),
            None if lacked is None or len(lacked) > _MAX_TOKENS else lacked,
        ),
        Tokens(
            "alone",
            True,
            _some_of(asked_alone),
            None if alone is None or len(alone) > _MAX_TOKENS else alone,
        ),
    )


def _some_of(elements: frozenset[Any]) -> frozenset[Any]:
    """Return all elements if they are few, otherwise some of them."""
    if len(elements) <= _MAX_TOKENS:
        return elements
    return frozenset(sorted(elements)[:_MAX_TOKENS])


def _set_of(path: dict[Key, bool], named: frozenset[Key]) -> list[Any]:
    """Return a set with the elements of the path, and a new element if the path asks for one.

    The set is a list, because in a Python set True and 1 are one element.
    """
    result = [element_value(key) for key in sorted(path) if path[key] and key != _UNNAMED]
    if path.get(_UNNAMED):
        texts = {key[1] for key in named if key[0] == 2}
        fresh = "other"
        while fresh in texts:
            fresh += "'"
        result.append(fresh)
    return result


class _Alternative(NamedTuple):
    """One alternative of a constraint's text: conditions joined by "and".

    The set must have the elements `having`, must not have the elements `lacking`, must have at
    least one element of each list in `overlapping`, and must have only elements of `within`
    (if not None).
    """

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
    """Return the alternatives of a diagram that does not test unnamed elements.

    Raises TooComplexError if there are more than _MAX_CLAUSES.
    """
    having, lacking = diagrams.forced(diagram, True), diagrams.forced(diagram, False)
    decided = {**dict.fromkeys(having, True), **dict.fromkeys(lacking, False)}
    rest = diagrams.restrict(diagram, decided)
    clauses = diagrams.prime_clauses(rest, _MAX_CLAUSES)
    if clauses is not None:
        return [_Alternative(having, lacking, clauses, within)]
    return [
        _Alternative(sorted(having + also_having), sorted(lacking + also_lacking), [], within)
        for also_having, also_lacking in diagrams.paths(rest, _MAX_CLAUSES)
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
    for fields in data["any"]:
        parts = [MultiValues.subset(_from_json(fields["subset"]))] if "subset" in fields else []
        parts.append(MultiValues.superset(_from_json(fields.get("superset", []))))
        parts.append(MultiValues.disjoint(_from_json(fields.get("disjoint", []))))
        parts += [MultiValues.overlapping(_from_json(e)) for e in fields.get("overlaps", [])]
        alternatives.append(MultiValues.intersection(parts))
    if not alternatives:
        raise EmptyConstraintError("no set satisfies the constraint")
    return MultiValues.union(alternatives)


register_kind(MultiValues.kind, _read)

#: The constraint that every set satisfies.
ALL_SETS: Final = MultiValues(frozenset(), TRUE)

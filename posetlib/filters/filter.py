"""The class Filter: a conjunction of constraints, at most one per attribute.

A filter f covers a filter g if f matches every notification that g matches. That is the case if g
constrains every attribute that f constrains, and f's constraint on each of these attributes covers
g's constraint [M, Cor. 1].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from posetlib.constraints.base import Constraint, constraint_from_dict, text_of
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.filters.explaining import Explanation, NotCovered, explanation, obstacle
from posetlib.names import check_name, name_text
from posetlib.values import MISSING, describe, lookup

__all__ = ["Filter", "Schema", "check_notification", "contents_of", "schema_of", "set_covers"]


# The `matches_in` of a constraint that does not look at the rest of the notification. For filters
# with only such constraints, `matches` is called instead, which is faster.
_IGNORES_NOTIFICATION = Constraint.matches_in


class Schema:
    """The sorted attribute names of filters, shared by all filters with the same names.

    Two filters with the same Schema object are compared without looking up names.
    """

    __slots__ = ("__weakref__", "names", "positions")

    #: The position of each name in `names`. Missing until it is first read: with many attributes
    #: there are nearly as many schemas as filters, and the positions are most of a schema.
    positions: dict[str, int]

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def __getattr__(self, name: str) -> dict[str, int]:
        # Called only for an attribute that is missing.
        if name != "positions":
            raise AttributeError(name)
        self.positions = positions = {each: i for i, each in enumerate(self.names)}
        return positions


@lru_cache(maxsize=1 << 14)
def schema_of(names: tuple[str, ...]) -> Schema:
    """Return the schema of sorted names; equal names share one object while it is in the cache."""
    return Schema(names)


class Filter:
    """A conjunction of constraints, at most one per attribute; immutable and hashable.

    Filters with the same meaning are equal if all their constraints are canonical.

    >>> from posetlib.constraints import Numbers, Strings
    >>> f = Filter({"price": Numbers.interval(20, 30), "name": Strings.prefix("Fo")})
    >>> f
    Filter('name prefix "Fo" and price in [20, 30]')
    >>> f.matches({"name": "Foo Inc.", "price": 25, "volume": 10})
    True
    >>> f.covers(Filter({"price": Numbers.points([22, 23]), "name": Strings.points(["Foo"])}))
    True
    """

    __slots__ = ("_constraints", "_contextual", "_hash", "_key", "_schema")

    _schema: Schema
    _constraints: tuple[Constraint, ...]
    _contextual: bool  # whether some constraint compares with other attributes
    _hash: int
    _key: tuple[Any, ...]  # missing until the filter is first compared for equality

    def __init__(self, constraints: Mapping[str, Constraint] = MappingProxyType({})) -> None:
        names = tuple(sorted(map(check_name, constraints)))
        values = tuple(constraints[name] for name in names)
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, Constraint):
                raise FilterError(f"attribute {name} needs a Constraint, not {describe(value)}")
        self._assign(schema_of(names), values)

    @classmethod
    def of_checked(cls, schema: Schema, constraints: tuple[Constraint, ...]) -> Filter:
        """Return a filter without checking it; the constraints are in the order of the names."""
        made = Filter.__new__(Filter)
        made._assign(schema, constraints)
        return made

    def _assign(self, schema: Schema, constraints: tuple[Constraint, ...]) -> None:
        self._schema = schema
        self._constraints = constraints
        self._contextual = any(
            c.__class__.matches_in is not _IGNORES_NOTIFICATION for c in constraints
        )
        if self._contextual:
            for name, constraint in zip(schema.names, constraints, strict=True):
                if constraint.contradicts_itself(name):
                    raise EmptyConstraintError(
                        f"no value satisfies {text_of(constraint, name_text(name))}"
                    )
        self._hash = hash((schema.names, constraints))

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """The constraints by attribute name, in the order of the names; read only."""
        return MappingProxyType(dict(zip(self._schema.names, self._constraints, strict=True)))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the constrained attributes, sorted."""
        return self._schema.names

    @property
    def terms(self) -> tuple[Constraint, ...]:
        """The constraints, in the order of the names."""
        return self._constraints

    def get(self, attribute: str) -> Constraint | None:
        """Return the constraint on an attribute, None if there is none: O(1)."""
        position = self._schema.positions.get(attribute)
        return None if position is None else self._constraints[position]

    # -- matching and comparing --------------------------------------------------------------------

    def matches(self, notification: Mapping[str, Any]) -> bool:
        """Return whether the notification satisfies every constraint.

        >>> from posetlib.constraints import Numbers
        >>> Filter({"x": Numbers.interval(0, 5)}).matches({"x": 3})
        True
        """
        contextual = self._contextual
        try:
            for name, constraint in zip(self._schema.names, self._constraints, strict=True):
                value = notification.get(name, MISSING)
                if value is MISSING:
                    value = lookup(notification, name)
                    if value is MISSING:
                        if not constraint.matches_absence():
                            return False
                        continue
                if contextual:
                    if not constraint.matches_in(value, notification):
                        return False
                elif not constraint.matches(value):
                    return False
        except AttributeError:
            check_notification(notification)
            raise
        if not self._constraints:
            check_notification(notification)
        return True

    def covers(self, other: Filter) -> bool:
        """Return whether this filter matches every notification that `other` matches.

        >>> from posetlib.constraints import Numbers
        >>> Filter({"x": Numbers.interval(0, 5)}).covers(Filter({"x": Numbers.interval(1, 2)}))
        True
        """
        try:
            same_schema = self._schema is other._schema
        except AttributeError:
            raise _not_a_filter_error(other) from None
        if same_schema:
            for mine, theirs in zip(self._constraints, other._constraints):  # noqa: B905 - hot, one schema
                if not mine.covers(theirs):
                    return False
            return True
        positions = other._schema.positions
        theirs_all = other._constraints
        for name, mine in zip(self._schema.names, self._constraints, strict=True):
            position = positions.get(name)
            if position is None or not mine.covers(theirs_all[position]):
                return False
        return True

    def overlaps(self, other: Filter) -> bool:
        """Return whether both filters match some notification; True if that is not decided.

        >>> from posetlib.constraints import Numbers
        >>> Filter({"x": Numbers.interval(0, 5)}).overlaps(Filter({"y": Numbers.interval(1, 2)}))
        True
        """
        if not isinstance(other, Filter):
            raise _not_a_filter_error(other)
        positions = other._schema.positions
        for name, mine in zip(self._schema.names, self._constraints, strict=True):
            position = positions.get(name)
            if position is not None and not mine.overlaps(other._constraints[position]):
                return False
        return True

    def __eq__(self, other: object) -> bool:
        try:  # the fast case: both keys exist, and unequal hashes decide first
            return self._hash == other._hash and self._key == other._key  # type: ignore[attr-defined, no-any-return]
        except AttributeError:
            if not isinstance(other, Filter):
                return NotImplemented
        for one in (self, other):  # a key is missing: one of them is compared for the first time
            one._key = (one._schema.names, *(c.key() for c in one._constraints))
        return self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    # -- explaining --------------------------------------------------------------------------------

    def explain(self, notification: Mapping[str, Any]) -> Explanation:
        """Return the constraints that the notification does not satisfy, with reasons.

        >>> from posetlib.constraints import Numbers
        >>> print(Filter({"price": Numbers.interval(20, 30)}).explain({"price": 45}))
        price is 45, but the filter wants price in [20, 30]
        """
        check_notification(notification)
        return explanation(self, notification)

    def why_not_covers(self, other: Filter) -> NotCovered | None:
        """Return why this filter does not cover `other`, if possible with a witness, or None.

        >>> from posetlib.constraints import Numbers
        >>> f = Filter({"x": Numbers.interval(0, 5)})
        >>> f.why_not_covers(Filter({"x": Numbers.interval(3, 8)})).witness
        {'x': 8}
        """
        if not isinstance(other, Filter):
            raise _not_a_filter_error(other)
        return obstacle(self, other)

    # -- text, dictionaries, pickles ---------------------------------------------------------------

    def __str__(self) -> str:
        if not self._constraints:
            return "true"
        parts = []
        for name, constraint in zip(self._schema.names, self._constraints, strict=True):
            clauses = constraint.clauses(name_text(name))
            text = " or ".join(clauses)
            parts.append(f"({text})" if len(clauses) > 1 and len(self._constraints) > 1 else text)
        return " and ".join(parts)

    def __repr__(self) -> str:
        return f"Filter({str(self)!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of JSON values: the constraints by attribute name.

        >>> from posetlib.constraints import Numbers
        >>> Filter({"x": Numbers.points([5])}).to_dict()
        {'x': {'kind': 'number', 'integers': [[5, 5]]}}
        """
        named = zip(self._schema.names, self._constraints, strict=True)
        return {name: constraint.to_dict() for name, constraint in named}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Filter:
        """Return the filter that `to_dict` wrote, or raise FilterError if `data` is not valid.

        >>> Filter.from_dict({"x": {"kind": "number", "integers": [[5, 5]]}})
        Filter('x = 5')
        """
        if not isinstance(data, Mapping):
            raise FilterError(f"a filter's dictionary is a mapping, not {describe(data)}")
        constraints = {}
        for name, constraint in data.items():
            try:
                constraints[check_name(name)] = constraint_from_dict(constraint)
            except FilterError as error:
                raise FilterError(f"attribute {name!r}: {error}") from error
        return cls(constraints)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (_rebuild, (self._schema.names, self._constraints))


def _rebuild(names: tuple[str, ...], constraints: tuple[Constraint, ...]) -> Filter:
    return Filter.of_checked(schema_of(names), constraints)


def _not_a_filter_error(other: object) -> TypeError:
    return TypeError(f"a filter compares with filters, not with {type(other).__name__}")


def contents_of(
    filters: Sequence[Filter],
) -> tuple[list[tuple[str, ...]], list[tuple[Constraint, ...]]]:
    """Return the attribute names and the constraints of each of many filters.

    The same as their `attributes` and `terms`, at a fifth of the time.

    >>> from posetlib.constraints import Numbers
    >>> contents_of([Filter({"x": Numbers.interval(0, 9)})])
    ([('x',)], [(<Numbers: _ in [0, 9]>,)])
    """
    schemas = [filter._schema for filter in filters]
    return [schema.names for schema in schemas], [filter._constraints for filter in filters]


def check_notification(notification: object) -> None:
    """Raise TypeError if the argument is not a notification, that is a mapping."""
    if not isinstance(notification, Mapping):
        raise TypeError(
            f"a notification is a mapping from names to values, not {type(notification).__name__}"
        )


def set_covers(filters: Iterable[Filter], others: Iterable[Filter]) -> bool:
    """Return whether each of `others` is covered by at least one of `filters` [T, A.2].

    Takes up to len(filters) * len(others) comparisons.

    >>> from posetlib.constraints import Numbers
    >>> f, g = Filter({"x": Numbers.interval(0, 9)}), Filter({"x": Numbers.interval(2, 3)})
    >>> set_covers([f], [g]), set_covers([g], [f])
    (True, False)
    """
    covering = list(filters)
    return all(any(filter.covers(other) for filter in covering) for other in others)

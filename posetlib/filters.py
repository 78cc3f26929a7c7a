"""Filters: conjunctions of constraints, at most one per attribute, and how two of them compare.

A filter f covers g when every notification that g matches is matched by f: every attribute that f
constrains is constrained by g, and there every value of g's constraint satisfies f's [M, Cor. 1].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from posetlib.constraints.base import (
    Constraint,
    Mixture,
    constraint_from_dict,
    text_of,
)
from posetlib.constraints.building import between, one_of
from posetlib.constraints.numbers import Numbers
from posetlib.constraints.placeholders import Placeholder
from posetlib.errors import FilterError
from posetlib.names import check_name, name_text
from posetlib.values import MISSING, describe, domain_of, lookup

__all__ = [
    "Explanation",
    "Failure",
    "Filter",
    "NotCovered",
    "filters_from_columns",
    "set_covers",
]


# How a constraint matches that looks at nothing but the value.
_ALONE = Constraint.matches_in


class Failure(NamedTuple):
    """One constraint that a notification does not satisfy."""

    attribute: str
    constraint: Constraint
    #: The notification's value, MISSING if it has none.
    value: Any
    reason: str


class Explanation(NamedTuple):
    """Why a filter matches a notification, or does not; true if it does."""

    filter: Filter
    failures: tuple[Failure, ...]

    @property
    def matches(self) -> bool:
        """Whether the filter matches."""
        return not self.failures

    def __bool__(self) -> bool:
        return not self.failures

    def __str__(self) -> str:
        if not self.failures:
            return f"matches {self.filter}"
        return "; ".join(failure.reason for failure in self.failures)


class NotCovered(NamedTuple):
    """Why a filter does not cover another one."""

    #: The attribute whose constraint is the obstacle.
    attribute: str
    reason: str
    #: A notification that the other filter matches and this one does not; None if none was found.
    witness: dict[str, Any] | None

    def __str__(self) -> str:
        if self.witness is None:
            return self.reason
        return f"{self.reason}; for example {self.witness!r}"


class _Schema:
    """The attribute names that many filters share, in order."""

    __slots__ = ("__weakref__", "names", "positions")

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.positions = {name: position for position, name in enumerate(names)}


@lru_cache(maxsize=1 << 14)
def _schema(names: tuple[str, ...]) -> _Schema:
    return _Schema(names)


class Filter:
    """A conjunction of constraints, at most one per attribute; immutable and hashable.

    Filters that mean the same are equal, as far as their constraints can tell.

    >>> from posetlib.constraints.strings import Strings
    >>> f = Filter({"price": Numbers.interval(20, 30), "name": Strings.prefix("Fo")})
    >>> f
    Filter('name prefix "Fo" and price in [20, 30]')
    >>> f.matches({"name": "Foo Inc.", "price": 25, "volume": 10})
    True
    >>> f.covers(Filter({"price": Numbers.points([22, 23]), "name": Strings.points(["Foo"])}))
    True
    """

    __slots__ = ("_constraints", "_contextual", "_hash", "_key", "_schema")

    _schema: _Schema
    _constraints: tuple[Constraint, ...]
    _contextual: bool
    _hash: int
    _key: tuple[Any, ...]  # made when first compared

    def __init__(self, constraints: Mapping[str, Constraint] = MappingProxyType({})) -> None:
        names = tuple(sorted(map(check_name, constraints)))
        values = tuple(constraints[name] for name in names)
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, Constraint):
                raise FilterError(f"attribute {name} needs a Constraint, not {describe(value)}")
        self._set(_schema(names), values)

    def _set(self, schema: _Schema, constraints: tuple[Constraint, ...]) -> None:
        self._schema = schema
        self._constraints = constraints
        self._contextual = any(c.__class__.matches_in is not _ALONE for c in constraints)
        self._hash = hash((schema.names, constraints))

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """The constraints by attribute, in the order of the names; read only."""
        return MappingProxyType(dict(zip(self._schema.names, self._constraints, strict=True)))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the constrained attributes, in order."""
        return self._schema.names

    @property
    def terms(self) -> tuple[Constraint, ...]:
        """The constraints, in the order of the names."""
        return self._constraints

    def get(self, attribute: str) -> Constraint | None:
        """Return the constraint on an attribute, None if there is none; O(1)."""
        position = self._schema.positions.get(attribute)
        return None if position is None else self._constraints[position]

    # -- matching and comparing --------------------------------------------------------------------

    def matches(self, notification: Mapping[str, Any]) -> bool:
        """Return whether the notification satisfies every constraint; an absent value does not.

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
                        return False
                if contextual:
                    if not constraint.matches_in(value, notification):
                        return False
                elif not constraint.matches(value):
                    return False
        except AttributeError:
            _check_notification(notification)
            raise
        if not self._constraints:
            _check_notification(notification)
        return True

    def covers(self, other: Filter) -> bool:
        """Return whether every notification that `other` matches is matched by this filter.

        >>> Filter({"x": Numbers.interval(0, 5)}).covers(Filter({"x": Numbers.interval(1, 2)}))
        True
        """
        try:
            same_schema = self._schema is other._schema
        except AttributeError:
            raise _no_filter(other) from None
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
        """Return whether some notification is matched by both; True where that is undecided.

        >>> Filter({"x": Numbers.interval(0, 5)}).overlaps(Filter({"y": Numbers.interval(1, 2)}))
        True
        """
        if not isinstance(other, Filter):
            raise _no_filter(other)
        positions = other._schema.positions
        for name, mine in zip(self._schema.names, self._constraints, strict=True):
            position = positions.get(name)
            if position is not None and not mine.overlaps(other._constraints[position]):
                return False
        return True

    def __eq__(self, other: object) -> bool:
        try:  # nothing is faster than comparing two numbers, and then two tuples
            return self._hash == other._hash and self._key == other._key  # type: ignore[attr-defined, no-any-return]
        except AttributeError:
            if not isinstance(other, Filter):
                return NotImplemented
        for each in (self, other):  # compared for the first time
            each._key = (each._schema.names, *(c.key() for c in each._constraints))
        return self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    # -- explaining --------------------------------------------------------------------------------

    def explain(self, notification: Mapping[str, Any]) -> Explanation:
        """Return which constraints the notification fails, and why.

        >>> print(Filter({"price": Numbers.interval(20, 30)}).explain({"price": 45}))
        price is 45, but the filter wants price in [20, 30]
        """
        _check_notification(notification)
        failures = []
        for name, constraint in zip(self._schema.names, self._constraints, strict=True):
            value = lookup(notification, name)
            if value is MISSING or not constraint.matches_in(value, notification):
                reason = _reason(name, constraint, value)
                failures.append(Failure(name, constraint, value, reason))
        return Explanation(self, tuple(failures))

    def why_not_covers(self, other: Filter) -> NotCovered | None:
        """Return the obstacle to covering `other`, with a witness where one is found; else None.

        >>> f = Filter({"x": Numbers.interval(0, 5)})
        >>> f.why_not_covers(Filter({"x": Numbers.interval(3, 8)})).witness
        {'x': 8}
        """
        if not isinstance(other, Filter):
            raise _no_filter(other)
        obstacle: NotCovered | None = None
        theirs_all = other.constraints
        for name, mine in zip(self._schema.names, self._constraints, strict=True):
            theirs = theirs_all.get(name)
            if theirs is not None and mine.covers(theirs):
                continue
            written = name_text(name)
            if theirs is None:
                reason = f"{written} is not constrained in the other filter"
                outside = MISSING
            else:
                reason = f"{text_of(mine, written)} does not cover {text_of(theirs, written)}"
                outside = theirs.example_outside(mine)
            witness = self._witness(other, name, outside)
            if witness is not None:
                return NotCovered(name, reason, witness)
            obstacle = obstacle or NotCovered(name, reason, None)
        return obstacle

    def _witness(self, other: Filter, name: str, value: Any) -> dict[str, Any] | None:
        """Return a notification that only `other` matches, with this value for the attribute."""
        for witness in _candidates(other, name, value):
            if other.matches(witness) and not self.matches(witness):
                return witness
        return None

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
        """Return a JSON-able form: the constraints by attribute.

        >>> Filter({"x": Numbers.points([5])}).to_dict()
        {'x': {'kind': 'number', 'integers': [[5, 5]]}}
        """
        pairs = zip(self._schema.names, self._constraints, strict=True)
        return {name: constraint.to_dict() for name, constraint in pairs}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Filter:
        """Return the filter that `to_dict` wrote; FilterError says what is wrong with others."""
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
    made = Filter.__new__(Filter)
    made._set(_schema(names), constraints)
    return made


def _no_filter(other: object) -> TypeError:
    return TypeError(f"a filter compares with filters, not with {type(other).__name__}")


def _check_notification(notification: object) -> None:
    if not isinstance(notification, Mapping):
        raise TypeError(
            f"a notification is a mapping from names to values, not {type(notification).__name__}"
        )


def _reason(name: str, constraint: Constraint, value: Any) -> str:
    written = name_text(name)
    wanted = text_of(constraint, written)
    if value is MISSING:
        return f"{written} is absent, but the filter wants {wanted}"
    domain = domain_of(value)
    if constraint.domain is not None and constraint.domain != domain:
        return (
            f"{written} is {describe(value)}, not a {constraint.domain}, "
            f"but the filter wants {wanted}"
        )
    return f"{written} is {describe(value)}, but the filter wants {wanted}"


def _candidates(filter: Filter, name: str, value: Any) -> Iterator[dict[str, Any]]:
    """Yield notifications that the filter may match, with a given value for one attribute."""
    base: dict[str, Any] = {}
    for each, constraint in filter.constraints.items():
        example = value if each == name and value is not MISSING else constraint.example()
        if example is not MISSING:
            base[each] = example
    yield base
    if not filter._contextual:
        return
    # Placeholders: try values around each other's, which settles the usual cases.
    referred = [
        (each, atom.attribute)
        for each, constraint in filter.constraints.items()
        for atom in _placeholders(constraint)
    ]
    for other_domain in ((0, 1, -1, 0.5), ("b", "a", "c"), (True, False)):
        for reference in other_domain:
            for chosen in other_domain:
                trial = dict(base)
                for each, attribute in referred:
                    trial.setdefault(attribute, reference)
                    trial.setdefault(each, chosen)
                yield trial
                for each, attribute in referred:
                    anchor = trial[attribute]
                    if domain_of(anchor) == "number":
                        for near in (anchor - 1, anchor, anchor + 1):
                            yield {**trial, each: near}
                    yield {**trial, each: anchor}


def _placeholders(constraint: Constraint) -> Iterator[Placeholder]:
    if isinstance(constraint, Placeholder):
        yield constraint
    elif isinstance(constraint, Mixture):
        for term in constraint.terms:
            for atom in term:
                if isinstance(atom, Placeholder):
                    yield atom


def set_covers(filters: Iterable[Filter], others: Iterable[Filter]) -> bool:
    """Return whether each of `others` is covered by one of `filters` [T, A.2].

    >>> f, g = Filter({"x": Numbers.interval(0, 9)}), Filter({"x": Numbers.interval(2, 3)})
    >>> set_covers([f], [g]), set_covers([g], [f])
    (True, False)
    """
    kept = list(filters)
    return all(any(filter.covers(other) for filter in kept) for other in others)


def filters_from_columns(
    columns: Mapping[str, tuple[Sequence[Any], Sequence[Any]] | Sequence[Any]],
) -> list[Filter]:
    """Return one filter per row of columns, without parsing any text.

    A column is a pair of sequences (or numpy arrays), the low and high ends of closed ranges, or
    one sequence of values to be equal to. None or NaN in a row leaves that attribute unconstrained
    there; None at one end of a range leaves that end open.

    >>> filters_from_columns({"x": ([0, 2], [5, 9]), "name": ["a", None]})
    [Filter('name = "a" and x in [0, 5]'), Filter('x in [2, 9]')]
    """
    names = sorted(map(check_name, columns))
    made = [_column(name, columns[name]) for name in names]
    if len({len(column) for column in made}) > 1:
        sizes = ", ".join(f"{n}: {len(c)}" for n, c in zip(names, made, strict=True))
        raise FilterError(f"columns of one length are needed, not {sizes}")
    full = _schema(tuple(names))
    result = []
    for row in zip(*made, strict=True):
        one = Filter.__new__(Filter)
        if None in row:
            present = [i for i, constraint in enumerate(row) if constraint is not None]
            schema = _schema(tuple(names[i] for i in present))
            one._set(schema, tuple(row[i] for i in present))
        else:
            one._set(full, row)
        result.append(one)
    return result


def _column(name: str, column: Any) -> list[Constraint | None]:
    """Return the constraints of one column, None where a row has none."""
    if not isinstance(column, tuple) or len(column) != 2:
        return [None if _absent(value) else one_of([value]) for value in _listed(column)]
    lows, highs = map(_listed, column)
    if len(lows) != len(highs):
        raise FilterError(f"column {name}: {len(lows)} low ends but {len(highs)} high ends")
    result: list[Constraint | None] = []
    for row, (low, high) in enumerate(zip(lows, highs, strict=True)):
        try:
            result.append(_range(low, high))
        except FilterError as error:
            raise FilterError(f"column {name}, row {row}: {error}") from None
    return result


def _listed(column: Any) -> list[Any]:
    # numpy's tolist makes Python numbers, which compare and hash fastest.
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _range(low: Any, high: Any) -> Constraint | None:
    if type(low) is float and type(high) is float and -1e308 < low <= high < 1e308:
        return Numbers(low, high, None)
    if _absent(low) and _absent(high):
        return None
    return between(low, high)  # one end of None is open, one of NaN is refused


def _absent(value: Any) -> bool:
    return value is None or value != value

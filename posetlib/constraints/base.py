"""The base class of all constraints, and the constraint that an attribute exists.

A constraint is a set of values of one attribute. A new kind of constraint is a subclass of
Constraint that defines `matches`, `clauses`, `covers`, `overlaps` and `merge`; no other module has
to change. When `other` is of a kind that the subclass does not know, the subclass calls the method
of this base class. The base class gives a safe answer: it never claims to cover what it does not
cover, and never denies an overlap that may exist.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol, TypeAlias, final

from posetlib.constraints.extents import ANYWHERE, EVERYWHERE, Extent
from posetlib.constraints.tokens import Tokens
from posetlib.errors import EmptyConstraintError, FilterError
from posetlib.values import MISSING, describe, shortened, value_text

__all__ = [
    "EXISTS",
    "Constraint",
    "ConstraintIndex",
    "Exists",
    "Term",
    "constraint_from_dict",
    "make_index",
    "register_index",
    "register_kind",
    "text_of",
]


class Constraint(ABC):
    """A set of values of one attribute; never empty, immutable and hashable.

    >>> from posetlib.constraints import Numbers
    >>> small, large = Numbers.interval(0, 5), Numbers.interval(2, 9)
    >>> large.matches(7), large.covers(small), large.overlaps(small)
    (True, False, True)
    >>> large.intersect(small) == Numbers.interval(2, 5)
    True
    """

    __slots__ = ()

    #: The domain of all values that satisfy the constraint (see ``values``), None if they may be of
    #: several domains.
    domain: ClassVar[str | None] = None
    #: The name of this kind of constraint in dictionaries; see `to_dict` and `register_kind`.
    kind: ClassVar[str] = ""
    #: Whether this kind compares itself with the other kinds of its domain, which do not know it.
    knows_domain: ClassVar[bool] = False
    #: The two ends, of a constraint that says ``is_number_range``; other kinds need not have them.
    low: Any
    high: Any

    @abstractmethod
    def matches(self, value: Any) -> bool:
        """Return whether the value satisfies the constraint; no value of another domain does."""

    def matches_in(self, value: Any, notification: Mapping[str, Any]) -> bool:
        """Return whether the value satisfies the constraint as part of this notification.

        Differs from `matches` only for constraints that refer to other attributes (`references`).
        """
        return self.matches(value)

    def matches_absence(self) -> bool:
        """Return whether a notification without the attribute satisfies the constraint."""
        return False

    @abstractmethod
    def clauses(self, name: str) -> tuple[str, ...]:
        """Return the text of the constraint on attribute `name`: clauses to be joined by "or"."""

    # -- comparing: these answers are safe for two constraints of any kinds ------------------------

    def covers(self, other: Constraint) -> bool:
        """Return whether every value of `other` satisfies this constraint; False if not known."""
        alternatives = other.alternatives()
        if alternatives is not None:
            return all(any(self.covers(atom) for atom in term) for term in alternatives)
        return self == other or other.covered_by(self)

    def covered_by(self, other: Constraint) -> bool:
        """Return whether a constraint of a kind that does not know this kind covers this one."""
        return other.is_whole_domain() and self.domain == other.domain

    def overlaps(self, other: Constraint) -> bool:
        """Return whether some value satisfies both constraints; True if not known."""
        alternatives = other.alternatives()
        if alternatives is not None:
            return any(all(self.overlaps(atom) for atom in term) for term in alternatives)
        denied = other.denied()
        if denied is not None:
            return not denied.covers(self)
        if self._is_known_to(other):
            return other.overlaps(self)
        return self.domain == other.domain or self.domain is None or other.domain is None

    def merge(self, other: Constraint) -> Constraint | None:
        """Return one constraint for exactly the union of both sets; None if there is none."""
        if self.covers(other):
            return self
        if other.covers(self):
            return other
        return None if other.denied() is None else other.merge(self)

    def intersect(self, other: Constraint) -> Constraint | None:
        """Return one constraint for exactly the values in both sets; None if there is none.

        Raises EmptyConstraintError if no value is in both sets.
        """
        if not self.overlaps(other) or not other.overlaps(self):
            raise EmptyConstraintError("no value satisfies both")
        if self.covers(other):
            return other
        if other.covers(self):
            return self
        if other.denied() is not None or self._is_known_to(other):
            return other.intersect(self)
        return None

    def _is_known_to(self, other: Constraint) -> bool:
        """Return whether the other one is of a later kind, which compares itself with this one."""
        return other.knows_domain and not self.knows_domain and self.domain == other.domain

    def denied(self) -> Constraint | None:
        """Return the constraint of which this one is the complement, None for every other kind."""
        return None

    def hull(self, other: Constraint) -> Constraint | None:
        """Return a simple constraint that covers both, for imperfect merging, or None."""
        return self.merge(other)

    def is_canonical(self) -> bool:
        """Return whether every constraint with the same values as this one is equal to it.

        If all filters of a table are canonical, the table finds an equivalent filter by its hash
        and needs no search.
        """
        return False

    # -- facts for indexes: these answers are right for every kind, but do not narrow a search -----

    def extent(self) -> Extent:
        """Return where the values lie among all numbers and strings (see ``extents``).

        All indexes are built from extents: the boxes of the tables, the cells of the bitmaps, the
        predicate index and the positions in arrays.
        """
        return ANYWHERE

    def tokens(self) -> tuple[Tokens, ...]:
        """Return what the constraint asks of those that it covers, or that cover it; O(size).

        Indexes compare tokens where extents say little (see ``tokens``). Without tokens, nothing
        is asked.
        """
        return ()

    @property
    def is_number_range(self) -> bool:
        """Whether the values are exactly the numbers from `low` to `high`, both included.

        Such ranges are by far the most common constraints. Indexes read the attributes `low` and
        `high` directly, which is faster than building an extent.
        """
        return False

    @property
    def is_interval(self) -> bool:
        """Whether the values are known, without much ado, to be one interval of an order."""
        return self.is_number_range

    def is_integral(self) -> bool:
        """Return whether all values are known to be integers."""
        return False

    def single_value(self) -> Any:
        """Return the only string that satisfies the constraint; MISSING if it is not one string."""
        return MISSING

    def finite_strings(self) -> frozenset[str] | None:
        """Return the type names that satisfy the constraint, None if it is not about type names."""
        return None

    def subtypes(self) -> Iterable[tuple[str, frozenset[str]]]:
        """Return pairs (type name, names of its proper subtypes) that the constraint relies on."""
        return ()

    def references(self) -> tuple[str, ...]:
        """Return the names of other attributes whose values the constraint compares with."""
        return ()

    def contradicts_itself(self, name: str) -> bool:
        """Return whether no notification satisfies the constraint on attribute `name`.

        Only a constraint that refers to its own attribute can depend on the name: `x < $x`.
        """
        return False

    def alternatives(self) -> tuple[Term, ...] | None:
        """Return the terms of a mixture of several kinds, None for a constraint of one kind.

        A value satisfies the mixture if it satisfies all constraints of at least one term.
        """
        return None

    # -- examples, shares and dictionaries: a new kind need not define these -----------------------

    def is_whole_domain(self) -> bool:
        """Return whether every value of the domain satisfies the constraint."""
        return False

    def example(self) -> Any:
        """Return a value that satisfies the constraint, or MISSING if none is known."""
        return MISSING

    def example_outside(self, other: Constraint) -> Any:
        """Return a value that satisfies this constraint but not `other`, or MISSING if unknown."""
        value = self.example()
        if value is not MISSING and not other.matches(value):
            return value
        denied = other.denied()
        if denied is None or not self.overlaps(denied):
            return MISSING
        shared = self.intersect(denied)
        return MISSING if shared is None else shared.example()

    def share(self, domain: Any) -> Fraction | None:
        """Return the share (0 to 1) of a domain's values that satisfy the constraint, or None.

        A domain is a collection of equally likely values. For Numbers it may also be a pair
        (low, high). None means that the share is not known.
        """
        values = _values_of(domain)
        return Fraction(sum(map(self.matches, values)), len(values)) if values else None

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of JSON values that `constraint_from_dict` reads back.

        Its entry "kind" names the kind of constraint; see register_constraint.
        """
        raise FilterError(f"constraints of {type(self).__name__} have no dictionary form")

    def key(self) -> Any:
        """Return an object that compares fast: keys are equal if and only if constraints are."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {text_of(self, '_')}>"


#: One alternative of a mixture: a value must satisfy all constraints of the term.
Term: TypeAlias = frozenset[Constraint]


def _values_of(domain: Any) -> list[Any]:
    """Return the values of a domain that is given as a collection."""
    if isinstance(domain, str | bytes) or not isinstance(domain, Iterable):
        raise FilterError(f"a domain is a pair (low, high) or a collection, not {describe(domain)}")
    return list(domain)


def text_of(constraint: Constraint, name: str) -> str:
    """Return the text of a constraint on attribute `name`, as the text of a filter writes it."""
    return " or ".join(constraint.clauses(name))


@final
class Exists(Constraint):
    """The attribute exists, with any value; covers all constraints that want the attribute.

    >>> EXISTS.matches(None), EXISTS.covers(EXISTS)
    (True, True)
    """

    __slots__ = ()
    kind = "exists"

    def matches(self, value: Any) -> bool:
        return True

    def covers(self, other: Constraint) -> bool:
        return not other.matches_absence()

    def overlaps(self, other: Constraint) -> bool:
        return Constraint.overlaps(self, other)

    @property
    def is_interval(self) -> bool:
        return True

    def is_canonical(self) -> bool:
        return True

    def extent(self) -> Extent:
        return EVERYWHERE

    def clauses(self, name: str) -> tuple[str, ...]:
        return (f"exists {name}",)

    def example(self) -> Any:
        return 0

    def example_outside(self, other: Constraint) -> Any:
        # One value of each domain, and None: `other` usually accepts one domain only.
        candidates: tuple[Any, ...] = (0, "", True, [], None)
        for value in candidates:
            if not other.matches(value):
                return value
        return MISSING

    def share(self, domain: Any) -> Fraction | None:
        return Fraction(1)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exists)

    def __hash__(self) -> int:
        return hash(Exists)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (Exists, ())


#: The only instance that is needed.
EXISTS: Final = Exists()


# For each kind, the function that makes a constraint from a dictionary.
_READERS: dict[str, Callable[[dict[str, Any]], Constraint]] = {}


def register_kind(kind: str, read: Callable[[dict[str, Any]], Constraint]) -> None:
    """Make `constraint_from_dict` call `read` for dictionaries with this "kind"."""
    _READERS[kind] = read


def constraint_from_dict(data: Any) -> Constraint:
    """Return the constraint that a dictionary describes, or raise FilterError.

    >>> constraint_from_dict({"kind": "exists"})
    <Exists: exists _>
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("kind"), str):
        raise FilterError(f"a constraint is a dictionary with a 'kind', not {shortened(data)}")
    read = _READERS.get(data["kind"])
    if read is None:
        raise FilterError(
            f"unknown kind of constraint {value_text(data['kind'])}; known are "
            + ", ".join(sorted(_READERS))
        )
    try:
        return read(dict(data))
    except FilterError:
        raise
    except RecursionError:
        raise FilterError("a constraint's dictionary nests too deep, or contains itself") from None
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise FilterError(f"malformed {data['kind']} constraint: {error!r}") from error


register_kind(Exists.kind, lambda _: EXISTS)


# -- indexes of one kind ---------------------------------------------------------------------------


class ConstraintIndex(Protocol):
    """Many constraints of one kind, and which of them a value satisfies, without asking each."""

    def add(self, constraint: Any) -> None:
        """Add a constraint; nothing changes if it is there."""

    def remove(self, constraint: Any) -> None:
        """Remove a constraint; KeyError if it is not there."""

    def satisfied(self, value: Any) -> Iterable[Constraint]:
        """Return the constraints that a value satisfies, each once."""


# For each kind that has one, the function that makes an empty index.
_INDEXES: dict[str, Callable[[], ConstraintIndex]] = {}


def register_index(kind: str, make: Callable[[], ConstraintIndex]) -> None:
    """Let matchers ask many constraints of a kind through an index that ``make`` returns."""
    _INDEXES[kind] = make


def make_index(kind: str) -> ConstraintIndex | None:
    """Return an empty index for constraints of a kind, None if it has none."""
    make = _INDEXES.get(kind)
    return None if make is None else make()
